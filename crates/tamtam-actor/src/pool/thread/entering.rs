//! How tasks come in from outside, and who is woken for them.

use tamtam_wait::seam::atomic::{self, Ordering};

use super::Shared;
use crate::task::Task;

impl Shared {
    #[inline]
    pub(super) fn enter(&self, ring: usize) -> Option<Task> {
        let queued = || {
            let has_queue = self.injector.has_queue();
            has_queue.then(|| self.enter_from_queue(ring)).flatten()
        };
        let task = self.injector.take().or_else(queued);
        task.inspect(|_| self.desks.at(ring).pace.counts.entered.add_one())
    }

    /// As `enter`, for a thread that is not busy.
    #[inline]
    pub(super) fn enter_as_busy(&self, ring: usize) -> Option<Task> {
        // It counts itself as busy when it has claimed the item: the one that has brought it waits for no more than that.
        let task = self.injector.take_after(|| self.busy.begin());
        if task.is_some() {
            self.desks.at(ring).pace.counts.entered.add_one();
            return task;
        }
        let has_queue = self.injector.has_queue();
        has_queue
            .then(|| self.take_as_busy(|| self.enter(ring)))
            .flatten()
    }

    /// Takes over this thread's share of the queue: one to return, the others into its ring.
    #[inline(never)]
    pub(super) fn enter_from_queue(&self, ring: usize) -> Option<Task> {
        let own = &self.desks.at(ring).ring;
        // SAFETY: this thread owns the desk, and with it the desk's ring.
        let (task, has_more) = unsafe { self.injector.take_share(self.threads, own) };
        if has_more {
            // As for the second task that a thread makes due. One that looks around itself does so afterwards.
            atomic::fence(Ordering::SeqCst);
            self.call_one();
        }
        task
    }

    /// Brings a task to the injector.
    #[inline]
    pub(super) fn bring(&self, task: Task) {
        match self.injector.put(task) {
            Ok(()) if self.injector.is_watched_soon() => {}
            Ok(()) => self.idle.notify_one(),
            Err(task) => self.queue_up(task),
        }
    }

    #[inline(never)]
    fn queue_up(&self, task: Task) {
        match self.injector.push(task) {
            Ok(()) => self.call_one(),
            Err(task) => task.abandon(),
        }
    }

    /// Brings a task to the injector, before all that are in its queue.
    pub(super) fn bring_first(&self, task: Option<Task>) {
        if let Some(task) = task {
            self.injector.arrange(|queue| queue.push_front(task));
        }
    }

    /// Wakes a thread for something that is due, unless one is awake and looking.
    #[inline]
    pub(super) fn call_one(&self) {
        if !self.injector.is_watched() {
            self.idle.notify_one();
        }
    }
}
