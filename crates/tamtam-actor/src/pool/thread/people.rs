//! Who works in a pool: its threads and their stand-ins, counted.

use std::collections::BTreeSet;
use std::thread::JoinHandle;

#[derive(Default)]
pub(super) struct People {
    /// The pool's threads, to be joined.
    pub(super) handles: Vec<JoinHandle<()>>,
    /// Rings of stand-ins that no thread has. The lowest is taken first: so that few desks are to be looked at.
    pub(super) free_rings: BTreeSet<usize>,
    /// Threads that are blocked, and those that stand in.
    pub(super) blocked: usize,
    pub(super) stand_ins: usize,
    /// Stand-ins that take no task any more, and have not ended.
    pub(super) resigned: usize,
    /// How often a thread was blocked: the last one of all to be blocked knows by it that it still is the last one.
    pub(super) blocks: u64,
    /// Where the tasks of those actors are for which blocked threads wait, once for each of these.
    pub(super) awaited: Vec<usize>,
    /// Threads that have not ended.
    pub(super) alive: usize,
}

/// What a thread is there for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It is one of the pool's.
    Own,
    /// It stands in for one that waits.
    StandIn,
    /// As that, but for the last one that did not wait: see [`stand_in`](super::stand_in).
    Reserve,
}

impl People {
    /// So many threads may take a task now, or will when they are through with theirs.
    pub(super) fn at_large(&self) -> usize {
        self.alive.saturating_sub(self.resigned + self.blocked)
    }

    /// Whether no thread is left but those that are blocked, and the one that was the so manyth to be was so last.
    pub(super) fn is_last(&self, number: u64) -> bool {
        self.at_large() == 0 && self.blocks == number
    }

    /// A stand-in goes when those whom it stands in for are back, the reserve when another thread is: `true` if the one with this role does. It is
    /// not counted any more from then on, so that no two go in the place of one.
    pub(super) fn resigns(&mut self, role: Role) -> bool {
        let resigns = match role {
            Role::Own => false,
            Role::StandIn => self.stand_ins > self.blocked,
            Role::Reserve => self.at_large() > 1,
        };
        self.stand_ins -= usize::from(resigns);
        self.resigned += usize::from(resigns);
        resigns
    }

    /// Of so many rings, counted from the first one, how many are to be looked at: those behind the last one that a thread has are not.
    pub(super) fn rings_in_use(&self, used: usize) -> usize {
        let last = (0..used).rev().find(|ring| !self.free_rings.contains(ring));
        last.map_or(0, |ring| ring + 1)
    }

    /// What the system keeps of a thread, its stack above all, it keeps until that is joined, or will not be.
    pub(super) fn forget_ended(&mut self) {
        self.handles.retain(|handle| !handle.is_finished());
    }

    /// A thread with this role has ended at this ring; whether it was the last one.
    pub(super) fn leave(&mut self, ring: usize, role: Role, has_resigned: bool) -> bool {
        self.alive -= 1;
        self.resigned -= usize::from(has_resigned);
        if role != Role::Own {
            self.stand_ins -= usize::from(!has_resigned);
            self.free_rings.insert(ring);
        }
        if has_resigned {
            // Those that end with the pool are joined.
            self.forget_ended();
        }
        self.alive == 0
    }
}
