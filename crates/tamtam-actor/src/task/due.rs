//! What is due for a turn, and that it is run or abandoned once.

use core::cell::{Cell, RefCell};
use core::ptr::NonNull;
use std::collections::VecDeque;

use crate::time::elsewhere;

/// So many tasks that are abandoned one within the other.
const DEEPEST: u32 = 32;

/// What can be due for a turn.
///
/// It is reached by its address, not by a reference: it may be gone before the function is through that was
/// given the address, and a reference has to be good until then.
pub(crate) trait Due: Sized {
    /// What a task calls.
    const ACTS: &'static Acts = &Acts {
        // SAFETY: a task calls it with what it was made of, which lives and is run or abandoned once: see `Task::new`.
        run: |this| unsafe { Self::run(this.cast()) },
        // SAFETY: a task calls it with what it was made of, which lives and is run or abandoned once: see `Task::new`.
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

/// Something that is due for a turn. Its owner runs it, or abandons it, and it lives until then.
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
            // SAFETY: what is due lives by the promise that was made in `new`, and a task is abandoned once.
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
            // SAFETY: what is due lives by the promise that was made in `new`, and a task is abandoned once. No panic comes
            // from there.
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
