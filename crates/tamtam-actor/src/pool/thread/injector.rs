//! How tasks come in from outside, and who is woken for them.

use super::*;

impl Shared {
    #[inline]
    pub(super) fn enter(&self, ring: usize) -> Option<Task> {
        // What is in the inject slot came when there was no queue.
        let task = self.injector.inject_slot.take().or_else(|| {
            let has_queue = self.injector.length.load(Ordering::Relaxed) != 0;
            has_queue.then(|| self.enter_from_queue(ring)).flatten()
        });
        task.inspect(|_| self.desk(ring).pace.counts.entered.add_one())
    }

    /// Takes over this thread's share of the queue: one to return, the others into its ring.
    #[inline(never)]
    pub(super) fn enter_from_queue(&self, ring: usize) -> Option<Task> {
        let mut grown = VecDeque::new();
        let mut tasks = self.injector.tasks.lock();
        let share = tasks.len().div_ceil(self.threads).min(MOST_ENTERING);
        let task = tasks.pop_front();
        let mut has_more = false;
        for _ in 1..share {
            let Some(task) = tasks.pop_front() else { break };
            // SAFETY: this thread owns the desk.
            if let Err(task) = unsafe { self.desk(ring).ring.push(task) } {
                tasks.push_front(task);
                break;
            }
            has_more = true;
        }
        self.injector.length.store(tasks.len(), Ordering::Relaxed);
        if tasks.is_empty() && tasks.capacity() > MOST_KEPT {
            // The memory of a rush is given back, without the lock.
            core::mem::swap(&mut *tasks, &mut grown);
        }
        drop(tasks);
        drop(grown);
        if has_more {
            // As for the second task that a thread makes due. One that looks around itself does so afterwards.
            atomic::fence(Ordering::SeqCst);
            self.call_one();
        }
        task
    }

    /// Takes the first task of the queue, and no other one.
    pub(super) fn enter_alone(&self) -> Option<Task> {
        let mut tasks = self.injector.tasks.lock();
        let task = tasks.pop_front();
        self.injector.length.store(tasks.len(), Ordering::Relaxed);
        task
    }

    /// Brings a task to the injector.
    #[inline]
    pub(super) fn bring(&self, task: Task) {
        // No task is to overtake a queue.
        let has_queue = self.injector.length.load(Ordering::Relaxed) != 0;
        let task = if has_queue {
            Some(task)
        } else {
            self.injector.inject_slot.put(task).err()
        };
        match task {
            None => self.call_for_inject_slot(),
            Some(task) => self.queue_up(task),
        }
    }

    #[inline(never)]
    pub(super) fn queue_up(&self, task: Task) {
        {
            let mut tasks = self.injector.tasks.lock();
            if self.injector.closed.load(Ordering::Relaxed) {
                drop(tasks);
                task.abandon();
                return;
            }
            tasks.push_back(task);
            // Sequentially consistent: it is what those who register look at.
            self.injector.length.store(tasks.len(), Ordering::SeqCst);
        }
        self.call_one();
    }

    /// Brings a task to the injector, before all that are in its queue.
    pub(super) fn bring_first(&self, task: Option<Task>) {
        let Some(task) = task else { return };
        let mut queue = self.injector.tasks.lock();
        // It is not closed: that does the last thread when it ends, and this is one.
        queue.push_front(task);
        // Sequentially consistent: it is what those who register look at.
        self.injector.length.store(queue.len(), Ordering::SeqCst);
    }

    /// Wakes a thread for something that is due, unless one is awake and looking.
    #[inline]
    pub(super) fn call_one(&self) {
        seam::model_fence();
        if self.injector.watched.load(Ordering::SeqCst) != LOOKING {
            self.idle.notify_one();
        }
    }

    /// As `call_one`, for what was put into the inject slot: gives one who may be about to look for it a moment.
    #[inline]
    pub(super) fn call_for_inject_slot(&self) {
        seam::model_fence();
        match self.injector.watched.load(Ordering::SeqCst) {
            LOOKING => return,
            BACK_SOON => {
                for _ in 0..LOOKS_FOR_RETURN {
                    for _ in 0..PAUSES_A_LOOK {
                        seam::spin_loop();
                    }
                    if !self.injector.inject_slot.is_full() {
                        return;
                    }
                }
            }
            _ => {}
        }
        self.idle.notify_one();
    }
}
