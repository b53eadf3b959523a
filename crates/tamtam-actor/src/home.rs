//! Where actors get their turns: on a pool, on a thread, in a frame loop.

use core::ptr::NonNull;

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

    pub(crate) fn abandon(self) {
        // SAFETY: as above.
        unsafe { self.0.as_ref().abandon() }
    }
}

/// A place where actors get their turns.
pub(crate) trait Home: Send + Sync {
    /// Lets a task have a turn soon; abandons it if this place has closed.
    fn schedule(&self, task: Task);

    /// Lets a task that has just had a turn have another one, behind the others.
    fn schedule_again(&self, task: Task);
}
