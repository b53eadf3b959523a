//! Where actors get their turns: on a pool, on a thread, in a frame loop.

use core::cell::{Cell, RefCell};
use core::ptr::NonNull;
use std::collections::VecDeque;

/// So many tasks that are abandoned one within the other.
const DEEPEST: u32 = 32;

/// What can be due for a turn.
pub(crate) trait Due {
    /// Gives it its turn. It schedules itself again if it has more to do.
    ///
    /// # Safety
    ///
    /// Called once for each time that it was scheduled, and not used afterwards: it may be gone.
    unsafe fn run(&self);

    /// There will be no turns any more.
    ///
    /// # Safety
    ///
    /// As for [`run`](Due::run), in its place.
    unsafe fn abandon(&self);
}

/// Something that is due for a turn. Whoever has it runs it, or abandons it, and it lives until then.
pub(crate) struct Task(NonNull<dyn Due>);

// SAFETY: tasks are run where their home lets them.
unsafe impl Send for Task {}

impl Task {
    /// # Safety
    ///
    /// What is due may be used on each thread on which its home runs or abandons tasks, and lives until it is
    /// run or abandoned.
    #[inline]
    pub(crate) unsafe fn new(due: NonNull<dyn Due>) -> Self {
        Task(due)
    }

    #[inline]
    pub(crate) fn run(self) {
        // SAFETY: it lives by the promise that was made in `new`, and a task is run once.
        unsafe { self.0.as_ref().run() }
    }

    /// Lets it know that there will be no turns any more.
    ///
    /// An actor that is abandoned may be the last one to know another one, which is abandoned in turn. So that a
    /// chain of many does not use up the stack, from some depth on they wait until those before them are through.
    pub(crate) fn abandon(self) {
        thread_local! {
            static DEPTH: Cell<u32> = const { Cell::new(0) };
            static LATER: RefCell<VecDeque<Task>> = const { RefCell::new(VecDeque::new()) };
        }
        let depth = DEPTH.try_with(Cell::get).unwrap_or(0);
        let mut task = Some(self);
        if depth >= DEEPEST {
            let _ = LATER.try_with(|later| later.borrow_mut().extend(task.take()));
        }
        while let Some(Task(due)) = task {
            let _ = DEPTH.try_with(|deep| deep.set(depth + 1));
            // SAFETY: as above. No panic comes from there.
            unsafe { due.as_ref().abandon() };
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

/// A place where actors get their turns.
pub(crate) trait Home: Send + Sync {
    /// Lets a task have a turn soon; abandons it if this place has closed.
    fn schedule(&self, task: Task);

    /// Lets a task that has just had a turn have another one, behind the others.
    fn schedule_again(&self, task: Task);
}
