//! Where actors get their turns: on a pool, on a thread, in a frame loop.

use core::cell::{Cell, RefCell};
use core::ptr::NonNull;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use crate::cell::Place;
use crate::observe::Ledger;

use crate::time::{Time, elsewhere};

/// So many tasks that are abandoned one within the other.
const DEEPEST: u32 = 32;

/// What can be due for a turn.
///
/// It is reached by its address, not by a reference: it may be gone before the function is through that was
/// given the address, and a reference has to be good until then.
pub(crate) trait Due: Sized {
    /// What a task calls.
    const ACTS: &'static Acts = &Acts {
        // SAFETY: for whoever calls them: see `Task::new`.
        run: |this| unsafe { Self::run(this.cast()) },
        // SAFETY: as above.
        abandon: |this| unsafe { Self::abandon(this.cast()) },
    };

    /// Gives it its turn. It schedules itself again if it has more to do.
    ///
    /// # Safety
    ///
    /// Called once for each time that it was scheduled, and not used afterwards: it may be gone.
    unsafe fn run(this: NonNull<Self>);

    /// There will be no turns any more.
    ///
    /// # Safety
    ///
    /// As for [`run`](Due::run), in its place.
    unsafe fn abandon(this: NonNull<Self>);
}

/// What can be done with something due, whatever its type is.
pub(crate) struct Acts {
    run: unsafe fn(NonNull<()>),
    abandon: unsafe fn(NonNull<()>),
}

/// Something that is due for a turn. Whoever has it runs it, or abandons it, and it lives until then.
pub(crate) struct Task {
    due: NonNull<()>,
    acts: &'static Acts,
}

// SAFETY: tasks are run where their home lets them.
unsafe impl Send for Task {}

impl Task {
    /// # Safety
    ///
    /// The acts are those of the type of what is due. That may be used on each thread on which its home runs or
    /// abandons tasks, and lives until it is run or abandoned.
    #[inline]
    pub(crate) unsafe fn new(due: NonNull<()>, acts: &'static Acts) -> Self {
        Task { due, acts }
    }

    #[inline]
    pub(crate) fn run(self) {
        // SAFETY: it lives by the promise that was made in `new`, and a task is run once.
        unsafe { (self.acts.run)(self.due) }
    }

    /// Where what is due lies; nothing else that is due lies there.
    pub(crate) fn location(&self) -> usize {
        self.due.addr().get()
    }

    /// Lets it know that there will be no turns any more.
    ///
    /// An actor that is abandoned may be the last one to know another one, which is abandoned in turn. So that a
    /// chain of many does not use up the stack, from some depth on they wait until those before them are through.
    pub(crate) fn abandon(self) {
        // With an actor goes what is the user's, so the clock's thread does not do it.
        elsewhere(self, Task::abandon_here);
    }

    fn abandon_here(self) {
        if cfg!(tamtam_loom) {
            // All threads of a model have the same thread-local values.
            // SAFETY: as above.
            return unsafe { (self.acts.abandon)(self.due) };
        }
        thread_local! {
            static DEPTH: Cell<u32> = const { Cell::new(0) };
            static LATER: RefCell<VecDeque<Task>> = const { RefCell::new(VecDeque::new()) };
        }
        let depth = DEPTH.try_with(Cell::get).unwrap_or(0);
        let mut task = Some(self);
        if depth >= DEEPEST {
            let _ = LATER.try_with(|later| later.borrow_mut().extend(task.take()));
        }
        while let Some(Task { due, acts }) = task {
            let _ = DEPTH.try_with(|deep| deep.set(depth + 1));
            // SAFETY: as above. No panic comes from there.
            unsafe { (acts.abandon)(due) };
            let _ = DEPTH.try_with(|deep| deep.set(depth));
            // The first one sees to those who wait.
            task = if depth == 0 {
                LATER
                    .try_with(|later| later.borrow_mut().pop_front())
                    .ok()
                    .flatten()
            } else {
                None
            };
        }
    }
}

/// How long a turn may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TurnLimits {
    /// So many messages an actor handles in one turn at most.
    pub(crate) messages: u32,
    /// When a message ends so many microseconds after the first one of the turn has, others get their turn.
    pub(crate) micros: u32,
}

impl TurnLimits {
    pub(crate) const USUAL: Self = TurnLimits {
        messages: 256,
        micros: 50,
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

    /// Whether each turn here has a thread of its own, so that a long one keeps nobody else.
    fn is_for_blocking(&self) -> bool {
        false
    }

    /// Lets a task have a turn soon; abandons it if this place has closed.
    fn schedule(&self, task: Task);

    /// As `schedule`, for a message of whoever is at work on this thread: it comes back if this place takes no more
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

    /// Lets a task that has just had a turn have another one, behind the others.
    fn schedule_again(&self, task: Task);

    /// Whether all actors that are not functions have a turn at their birth here, whether they need it or not: where one
    /// looks who is due, that is not to depend on which actors there were before.
    fn begins_all(&self) -> bool {
        false
    }

    /// Whether the actors here have their turns on this very thread, and nowhere else: who waits here for one of them
    /// waits for ever.
    fn is_on_this_thread(&self) -> bool {
        false
    }

    /// A thread is about to wait for one of the actors here, as long as it keeps what is returned. `None` if they would
    /// then have no thread left to have their turns on.
    fn begin_wait(&self) -> Option<ThreadWait> {
        (!self.is_on_this_thread()).then_some(ThreadWait::PLAIN)
    }

    /// The time by which its actors live.
    fn time(&self) -> &Time {
        Time::shared()
    }

    /// An actor of this place is watched, or keeps its messages back: it is to be called when this place has closed, so
    /// that it ends then even if nobody sends to it.
    fn remember(&self, place: Weak<dyn Place>) {
        let _ = place;
    }
}

/// A thread waits for an actor: see [`Home::begin_wait`].
pub(crate) struct ThreadWait {
    /// It is one of those that give actors their turns, and is counted.
    #[cfg(feature = "tokio")]
    blocked: Option<crate::pool::BlockedWorker>,
}

impl ThreadWait {
    /// Of a thread on which it is not counted.
    pub(crate) const PLAIN: Self = ThreadWait {
        #[cfg(feature = "tokio")]
        blocked: None,
    };

    #[cfg(feature = "tokio")]
    pub(crate) fn of(blocked: crate::pool::BlockedWorker) -> Self {
        ThreadWait {
            blocked: Some(blocked),
        }
    }

    /// The message is sent, and the thread waits from now on.
    #[inline(always)]
    pub(crate) fn has_sent(&self) {
        #[cfg(feature = "tokio")]
        if let Some(blocked) = &self.blocked {
            blocked.leave_work_to_others();
        }
    }
}
