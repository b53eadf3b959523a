//! Where actors get their turns: on a pool, on a thread, in a frame loop.

use std::sync::{Arc, Weak};

#[cfg(feature = "tokio")]
use super::BlockedWorker;
use super::Task;
use crate::observe::Ledger;
use crate::time::Time;

/// How long a turn may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TurnLimits {
    /// So many messages an actor handles in one turn at most.
    pub(crate) messages: u32,
    /// When a message ends so many microseconds after the first one of the turn has, others get their turn.
    pub(crate) micros: u32,
    /// What comes before messages is held to both. Else a turn has all of it, and then messages.
    pub(crate) counts_answers: bool,
}

impl TurnLimits {
    pub(crate) const USUAL: Self = TurnLimits {
        messages: 256,
        // A model has to go the same way each time, however slow the machine is.
        micros: if cfg!(tamtam_loom) { u32::MAX } else { 50 },
        counts_answers: true,
    };
}

/// A place where actors get their turns.
pub(crate) trait Home: Send + Sync {
    /// How long turns may be here. Asked when an actor is born.
    fn turn_limits(&self) -> TurnLimits {
        TurnLimits::USUAL
    }

    /// Where what the actors here do is written down, if they are observed. Asked when an actor is born.
    fn ledger(&self) -> Option<&Arc<Ledger>> {
        None
    }

    /// Whether each turn here has a thread of its own, so that a long one keeps no other actor.
    fn is_for_blocking(&self) -> bool {
        false
    }

    /// Lets a task have a turn soon; abandons it if this place has closed.
    fn schedule(&self, task: Task);

    /// As `schedule`, for a message of the actor at work on this thread: it comes back if this place takes no more
    /// from there.
    fn schedule_or_refuse(&self, task: Task) -> Result<(), Task> {
        self.schedule(task);
        Ok(())
    }

    /// Whether there are no turns here any more.
    fn has_closed(&self) -> bool {
        false
    }

    /// Where actors of this place live whose handlers may block.
    fn blocking(self: Arc<Self>) -> Option<Arc<dyn Home>> {
        None
    }

    /// The same place, for tasks that have their turns in the place of those that lie at this location: what waits for these
    /// waits for them. `None` if that makes no difference here.
    fn standing_for(&self, location: usize) -> Option<Arc<dyn Home>> {
        let _ = location;
        None
    }

    /// The turn in which this thread is here; `None` if a thread of this place cannot be left behind.
    fn turn_here(&self) -> Option<ThreadTurn> {
        None
    }

    /// Leaves the thread behind that is in this turn: it counts as gone, and its end is not waited for.
    fn leave_behind(&self, turn: ThreadTurn) -> Left {
        let _ = turn;
        Left::Refused
    }

    /// Lets a task that has just had a turn have another one, behind the others.
    fn schedule_again(&self, task: Task);

    /// Whether all actors that are not functions have a turn at their birth here, whether they need it or not: where one
    /// looks who is due, that is not to depend on which actors there were before.
    fn begins_all(&self) -> bool {
        false
    }

    /// A thread is about to wait for one of the actors here, as long as it keeps what is returned. `None` if they would
    /// then have no thread left to have their turns on: the wait would last for ever.
    fn begin_wait(&self) -> Option<ThreadWait> {
        Some(ThreadWait::PLAIN)
    }

    /// The time by which its actors live.
    fn time(&self) -> &Time {
        Time::shared()
    }

    /// An actor here handles no more messages until there is room for what it has sent.
    fn note_muted(&self) {}

    /// It goes on, and has been scheduled.
    fn note_unmuted(&self) {}

    /// An actor of this place is watched, or keeps its messages back: it is to be called when this place has closed, so
    /// that it ends then even if nothing is sent to it.
    fn remember(&self, place: Weak<dyn AtClose>) {
        let _ = place;
    }
}

/// A turn of a thread: see [`Home::turn_here`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadTurn {
    /// The number of the thread.
    pub(crate) thread: usize,
    /// The number of its turn.
    pub(crate) turn: u64,
}

/// What became of the wish to leave a thread behind.
pub(crate) enum Left {
    /// It is. To be called under no lock: a thread may wait for that.
    Behind(Box<dyn FnOnce() + Send>),
    /// The turn is over.
    Over,
    /// As many threads as may be are left behind, or this place leaves none.
    Refused,
}

/// What is called when its home has closed.
pub(crate) trait AtClose: Send + Sync {
    /// There are no turns any more. Whether it ends by this, and loses messages.
    fn close(self: Arc<Self>) -> bool;
}

/// A thread waits for an actor: see [`Home::begin_wait`].
pub(crate) struct ThreadWait {
    /// It is one of those that give actors their turns, and is counted.
    #[cfg(feature = "tokio")]
    blocked: Option<BlockedWorker>,
}

impl ThreadWait {
    /// Of a thread on which it is not counted.
    pub(crate) const PLAIN: Self = ThreadWait {
        #[cfg(feature = "tokio")]
        blocked: None,
    };

    #[cfg(feature = "tokio")]
    pub(crate) fn of(blocked: BlockedWorker) -> Self {
        ThreadWait {
            blocked: Some(blocked),
        }
    }

    /// What the thread was to have is sent, and it sleeps from now on: what else it would do is for others.
    #[inline(always)]
    pub(crate) fn leave_work(&self) {
        #[cfg(feature = "tokio")]
        if let Some(blocked) = &self.blocked {
            blocked.leave_work_to_others();
        }
    }
}
