//! Waiting until a pool is idle: all of its threads sleep, and nothing is due.
//!
//! A thread counts itself as busy before it takes a task (out of the inject slot: before the inject slot is free), and until it has none;
//! the last one to become idle looks for waits that are registered. So what threads do while they are busy costs nothing more. A wait
//! registers and then looks itself, the last thread stops to be busy and then looks for waits: one of the two sees the other.
//!
//! A look is of three things, one after the other: threads, handlers that may block, queues. It counts if no thread was busy
//! in between: then no queue was emptied, and no handler has run on a thread of the pool. So at the time at which no handler was
//! blocking, the queues, which were empty later, were empty, too.

use std::sync::Arc;
use std::time::Instant;

use tamtam_channel::Slot;
use tamtam_wait::seam::atomic::{AtomicUsize, Ordering};
use tamtam_wait::seam::{self, Mutex};

use super::Shared;
use super::seat::ThreadSeat;
use crate::task::Task;

/// Who waits until a pool is idle. Each has a slot of its own.
pub(super) struct IdleWaiters {
    slots: Mutex<Vec<Arc<Slot<()>>>>,
    /// How many there are; for a look without the lock.
    count: AtomicUsize,
}

impl IdleWaiters {
    pub(super) fn new() -> Self {
        IdleWaiters {
            slots: Mutex::new(Vec::new()),
            count: AtomicUsize::new(0),
        }
    }

    fn add(&self, slot: &Arc<Slot<()>>) {
        let mut slots = self.slots.lock();
        slots.push(Arc::clone(slot));
        self.count.store(slots.len(), Ordering::SeqCst);
    }

    fn remove(&self, slot: &Arc<Slot<()>>) {
        let mut slots = self.slots.lock();
        slots.retain(|other| !Arc::ptr_eq(other, slot));
        self.count.store(slots.len(), Ordering::SeqCst);
    }

    /// Takes those who are registered, if `is_idle` holds. It is looked at under the lock: who registers after the look, and may
    /// have sent something in between, waits for another one.
    fn take_if(&self, is_idle: impl FnOnce() -> bool) -> Vec<Arc<Slot<()>>> {
        let mut slots = self.slots.lock();
        if !is_idle() {
            return Vec::new();
        }
        self.count.store(0, Ordering::SeqCst);
        core::mem::take(&mut *slots)
    }
}

impl Shared {
    /// Takes a task on a thread that is not busy: one that has a task is.
    pub(super) fn take_as_busy(&self, take: impl FnOnce() -> Option<Task>) -> Option<Task> {
        self.busy.begin();
        let task = take();
        if task.is_none() {
            self.rest();
        }
        task
    }

    /// A thread is not busy any more.
    pub(super) fn rest(&self) {
        if self.busy.end() {
            self.tell_if_idle();
        }
    }

    /// Tells those who wait for that if the pool is idle.
    #[inline]
    pub(super) fn tell_if_idle(&self) {
        seam::model_fence();
        if self.idle_waiters.count.load(Ordering::SeqCst) != 0 {
            let waiters = self.idle_waiters.take_if(|| self.is_idle());
            // A thread of this pool that comes here has looked at its own desk already: an actor that waits, and is due by
            // this, would lie there unseen while all threads sleep. So it comes in as from outside.
            ThreadSeat::away_from(|| {
                for slot in waiters {
                    // It is told once.
                    let _ = slot.try_put(());
                }
            });
        }
    }

    /// Whether no thread is busy, and nothing is due.
    fn is_idle(&self) -> bool {
        let look = self.busy.look();
        look.is_none()
            && self.blocking.is_idle()
            && !self.has_tasks_or_will()
            && self.busy.look() == look
    }
}

/// Waits until a pool is idle, from now on.
pub(crate) struct IdleWait {
    shared: Arc<Shared>,
    slot: Arc<Slot<()>>,
}

impl IdleWait {
    pub(crate) fn begin(shared: &Arc<Shared>) -> Self {
        let wait = IdleWait {
            shared: Arc::clone(shared),
            slot: Arc::new(Slot::new()),
        };
        shared.idle_waiters.add(&wait.slot);
        // It may be by now, and then no thread would tell.
        shared.tell_if_idle();
        wait
    }

    /// `true` if it is, or was, before the deadline.
    pub(crate) fn wait_until(&self, deadline: Option<Instant>) -> bool {
        match deadline {
            None => {
                let () = self.slot.take();
                true
            }
            Some(deadline) => self.slot.take_deadline(deadline).is_ok(),
        }
    }

    pub(crate) async fn awaited(self) {
        self.slot.take_async().await;
    }
}

impl Drop for IdleWait {
    fn drop(&mut self) {
        self.shared.idle_waiters.remove(&self.slot);
    }
}
