//! The processes that have a segment, and whether they still live.
//!
//! Each has a place, a **party**. Its life is one word: the number of the process' keeper thread and how often the place was taken. The place is
//! **free**, **alive**, or **dead** (the kernel has marked it). Who meets a dead one makes it free, and counts it up in the same step: so what
//! the dead one has claimed (a message half written, a lock) is not taken for the next one's.
//!
//! ```text
//!   free --join--> alive --leave, by the process--> dead --bury--> free, counted up
//!                    \--the process ends, by the kernel--^
//! ```

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tamtam_wait::{Futex, Scope};

use crate::bell;
use crate::life::NodePage;

/// So many processes have a segment at the same time at most.
pub(crate) const PARTIES: usize = 64;
/// The places of all.
pub(crate) type Parties = [Party; PARTIES];

/// The kernel wakes a sleeper when it marks the word.
const HAS_WAITERS: u32 = 0x8000_0000;
/// The kernel's mark.
const IS_DEAD: u32 = 0x4000_0000;

/// One process' place. Another process may have written anything here.
#[repr(C, align(32))]
#[derive(Debug)]
pub(crate) struct Party {
    /// Low half: what the kernel knows; high half: how often the place was freed, which wraps: of 2^32 a claim would have to outlive all.
    life: AtomicU64,
    /// The process, for an error.
    pid: AtomicU32,
    /// When a process was found to have died here, by [`seconds`]; 0 if none has.
    died_at: AtomicU32,
}

/// So often a look at a dead place, or the leaving of one, begins again because another process has written there meanwhile. In order that happens once or twice: one that
/// writes there all the time has no stay.
const MOST_LOOKS: u32 = 64;

/// For so long threads of a process that has ended may still be found asleep.
const WARY_SECONDS: u32 = 3;

/// A clock that all processes have in common; never 0.
fn seconds() -> u32 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::MonotonicCoarse);
    (now.tv_sec as u32).max(1)
}

/// One stay of one process in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stay {
    pub(crate) place: u32,
    /// How often the place was freed before.
    pub(crate) count: u32,
}

// The kernel's half is the one at the word's own address.
const _: () = assert!(
    cfg!(target_endian = "little"),
    "segments are for little-endian systems"
);

fn halves(life: u64) -> (u32, u32) {
    (life as u32, (life >> 32) as u32)
}

fn joined(kernel: u32, count: u32) -> u64 {
    u64::from(count) << 32 | u64::from(kernel)
}

impl Party {
    /// What the kernel knows, to sleep on.
    pub(crate) fn word(&self) -> &Futex {
        // SAFETY: a futex is four bytes, and this is the half of the word at its address. It is read by the kernel, and by threads that look
        // whether they may sleep.
        unsafe { &*self.life.as_ptr().cast::<Futex>() }
    }

    /// Its life as it is now, with what the kernel knows of it; frees the place of one that is dead.
    #[inline]
    pub(crate) fn look(&self) -> Option<(u32, u32)> {
        let life = self.life.load(Ordering::SeqCst);
        let (kernel, count) = halves(life);
        if kernel & IS_DEAD != 0 {
            return self.look_at_dead(life);
        }
        (kernel != 0).then_some((kernel, count))
    }

    #[cold]
    fn look_at_dead(&self, mut life: u64) -> Option<(u32, u32)> {
        for _ in 0..MOST_LOOKS {
            let (kernel, count) = halves(life);
            if kernel & IS_DEAD == 0 {
                return (kernel != 0).then_some((kernel, count));
            }
            self.died_at.store(seconds(), Ordering::SeqCst);
            match self.bury(life) {
                Ok(()) => return None,
                Err(now) => life = now,
            }
        }
        None
    }

    /// Whether a process has died here some seconds ago.
    fn died_lately(&self) -> bool {
        let died_at = self.died_at.load(Ordering::SeqCst);
        died_at != 0 && seconds().wrapping_sub(died_at) <= WARY_SECONDS
    }

    /// Frees the place of a process that is dead, and wakes all who sleep until its end: the kernel wakes one of them only. They are woken first. So if this process
    /// is stopped or killed between the two, the next one that looks finds what there was, and does both.
    fn bury(&self, life: u64) -> Result<(), u64> {
        // No thread has come to sleep here since the word was marked.
        self.word().wake_all(Scope::Shared);
        let (_, count) = halves(life);
        let freed = joined(0, count.wrapping_add(1));
        // SYNC party-life
        self.life
            .compare_exchange(life, freed, Ordering::SeqCst, Ordering::SeqCst)?;
        Ok(())
    }

    /// A process gives the place up, by the kernel's mark: if it ends in the middle of it, its place is as that of any dead one.
    fn leave(&self, stay: Stay) {
        let mut life = self.life.load(Ordering::SeqCst);
        for _ in 0..MOST_LOOKS {
            let (kernel, count) = halves(life);
            if kernel == 0 || count != stay.count {
                // Another process has written something else there.
                return;
            }
            let left = joined(kernel | IS_DEAD, count);
            // SYNC party-life
            let marked = self
                .life
                .compare_exchange(life, left, Ordering::SeqCst, Ordering::SeqCst);
            life = match marked.map_or_else(Err, |_| self.bury(left)) {
                Ok(()) => return,
                Err(now) => now,
            };
        }
    }

    /// How often the place was freed, this look included.
    pub(crate) fn freed(&self) -> u32 {
        let _ = self.look();
        halves(self.life.load(Ordering::SeqCst)).1
    }

    /// Whether a process has ever had the place.
    pub(crate) fn was_taken(&self) -> bool {
        self.life.load(Ordering::SeqCst) != 0
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid.load(Ordering::Relaxed)
    }
}

/// The parties of a segment.
pub(crate) fn is_alive(parties: &[Party], stay: Stay) -> bool {
    let party = &parties[stay.place as usize % PARTIES];
    party.look().is_some_and(|(_, count)| count == stay.count)
}

/// A number that changes whenever a process ends or gives the segment up.
pub(crate) fn ends(parties: &[Party]) -> u32 {
    parties.iter().map(Party::freed).fold(0, u32::wrapping_add)
}

/// The words to sleep on for the end of any other party, with a word to the bell if one has ended lately: at most [`PARTIES`] of them.
pub(crate) fn lives(parties: &[Party], own: Stay) -> impl Iterator<Item = (&Futex, u32, Scope)> {
    // First the look, by which one that is dead is found.
    let died_lately = |party: &Party| {
        let _ = party.look();
        party.died_lately()
    };
    if parties.iter().any(died_lately) {
        bell::be_wary();
    }
    let others = parties.iter().enumerate();
    let others = others.filter(move |(place, _)| *place != own.place as usize);
    others.filter_map(|(_, party)| {
        let (kernel, _) = party.look()?;
        Some((party.word(), kernel, Scope::Shared))
    })
}

/// This process among the parties of a segment.
#[derive(Debug)]
pub(crate) struct Member {
    parties: NonNull<Parties>,
    nodes: NodePage,
    stay: Stay,
}

// SAFETY: the parties are atomic, and stay mapped as long as this is there.
unsafe impl Send for Member {}
// SAFETY: the parties are atomic, and stay mapped as long as this is there.
unsafe impl Sync for Member {}

impl Member {
    /// Takes a place; an error without a cause if there is none.
    ///
    /// # Safety
    ///
    /// The parties outlive the member, and the page that they lie in lies as far above that of the nodes as is agreed on.
    pub(crate) unsafe fn join(
        parties: NonNull<Parties>,
        nodes: NodePage,
    ) -> Result<Self, Option<io::Error>> {
        // SAFETY: they outlive this, says the caller, and are atomic.
        let there = unsafe { parties.as_ref() };
        for (place, party) in there.iter().enumerate() {
            // One that is dead is freed by this look.
            if party.look().is_some() {
                continue;
            }
            let offset = offset_in_page(party);
            // The kernel looks at the word before it says that this process has it: whenever the process ends, it is marked or still free.
            let thread = nodes.watch(offset).map_err(Some)?;
            let free = party.life.load(Ordering::SeqCst);
            let (kernel, count) = halves(free);
            let taken = joined(thread | HAS_WAITERS, count);
            // SYNC party-life
            let is_taken = kernel == 0
                && party
                    .life
                    .compare_exchange(free, taken, Ordering::SeqCst, Ordering::SeqCst)
                    .is_ok();
            if !is_taken {
                nodes.forget(offset);
                continue;
            }
            party.pid.store(std::process::id(), Ordering::Relaxed);
            let place = place as u32;
            let stay = Stay { place, count };
            return Ok(Member {
                parties,
                nodes,
                stay,
            });
        }
        Err(None)
    }

    pub(crate) fn parties(&self) -> &Parties {
        // SAFETY: they outlive this, said the one who has made it; and they are atomic.
        unsafe { self.parties.as_ref() }
    }

    pub(crate) fn stay(&self) -> Stay {
        self.stay
    }

    fn party(&self) -> &Party {
        &self.parties()[self.stay.place as usize]
    }
}

/// Where in its page it lies.
fn offset_in_page(party: &Party) -> usize {
    std::ptr::from_ref(party).addr() % 4096
}

impl Drop for Member {
    fn drop(&mut self) {
        let party = self.party();
        party.leave(self.stay);
        self.nodes.forget(offset_in_page(party));
    }
}
