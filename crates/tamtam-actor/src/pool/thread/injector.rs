//! Where tasks come in from outside, and whether a thread looks there.

use std::collections::VecDeque;

use tamtam_wait::seam::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use tamtam_wait::seam::{self, Mutex};

use crate::pool::deque::Deque;
use crate::task::{InjectSlot, Task};

/// So many tasks a thread takes over at once, at most.
const MOST_ENTERING: usize = 128;
/// The queue keeps memory for so many tasks when it has become empty.
const MOST_KEPT: usize = 1_024;

/// No thread looks around.
const NOT_LOOKING: u32 = 0;
/// A thread does.
const LOOKING: u32 = 1;
/// The one who did has found something that came in from outside. If it is a short turn, it will look again in no time:
/// the thread that answers a question, and then gets the next one.
const BACK_SOON: u32 = 2;
/// So many looks whether it has come back, with so many pauses (of about 0.02 µs) between them: a wake-up that is for
/// nothing costs more than ten times that.
const LOOKS_FOR_RETURN: u32 = if cfg!(tamtam_loom) { 1 } else { 8 };
const PAUSES_A_LOOK: u32 = if cfg!(tamtam_loom) { 0 } else { 3 };

/// Where tasks come in from outside. What either side looks at with each task is on one cache line.
#[repr(C)]
pub(super) struct Injector {
    /// The way in for one that finds no others waiting.
    slot: InjectSlot<Task>,
    /// One of those that have nothing to do stays awake for a while, and the others sleep at once: as long as
    /// it looks no thread needs to be woken. `NOT_LOOKING`, `LOOKING`, or `BACK_SOON`.
    watched: AtomicU32,
    /// No thread is left. Changed under the lock.
    closed: AtomicBool,
    /// How many there are in the queue; for a look without the lock.
    length: AtomicUsize,
    queue: Mutex<VecDeque<Task>>,
}

impl Injector {
    pub(super) fn new() -> Self {
        Injector {
            slot: InjectSlot::new(),
            watched: AtomicU32::new(NOT_LOOKING),
            closed: AtomicBool::new(false),
            length: AtomicUsize::new(0),
            queue: Mutex::new(VecDeque::new()),
        }
    }

    /// How many tasks lie here, about.
    pub(super) fn len(&self) -> usize {
        usize::from(self.slot.is_full()) + self.length.load(Ordering::Relaxed)
    }

    /// Whether a task may lie here: it may have gone, or have come since.
    #[inline]
    pub(super) fn seems_due(&self) -> bool {
        self.has_queue() || self.slot.is_full()
    }

    /// Whether a task lies here. Sequentially consistent.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.slot.is_full() || self.length.load(Ordering::SeqCst) != 0
    }

    /// Whether no task is on its way into the slot, or out of it. Sequentially consistent.
    #[inline]
    pub(super) fn is_slot_free(&self) -> bool {
        self.slot.is_free()
    }

    /// Whether the queue seems to have a task.
    #[inline]
    pub(super) fn has_queue(&self) -> bool {
        self.length.load(Ordering::Relaxed) != 0
    }

    /// Puts a task into the slot; gives it back if others wait before it.
    #[inline]
    pub(super) fn put(&self, task: Task) -> Result<(), Task> {
        // No task is to overtake a queue.
        if self.has_queue() {
            Err(task)
        } else {
            self.slot.put(task)
        }
    }

    /// Takes what is in the slot.
    #[inline]
    pub(super) fn take(&self) -> Option<Task> {
        self.slot.take()
    }

    /// Takes what is in the slot, after `before`, which is called if there is something. It came when there was no queue.
    #[inline]
    pub(super) fn take_after(&self, before: impl FnOnce()) -> Option<Task> {
        self.slot.take_after(before)
    }

    /// Puts a task into the queue; gives it back if no thread is left.
    pub(super) fn push(&self, task: Task) -> Result<(), Task> {
        let mut queue = self.queue.lock();
        if self.closed.load(Ordering::Relaxed) {
            return Err(task);
        }
        queue.push_back(task);
        // Sequentially consistent: it is what those who register look at.
        self.length.store(queue.len(), Ordering::SeqCst);
        Ok(())
    }

    /// Arranges what is in the queue anew, on a thread of the pool.
    pub(super) fn arrange<R>(&self, arrange: impl FnOnce(&mut VecDeque<Task>) -> R) -> R {
        let mut queue = self.queue.lock();
        // It is not closed: that does the last thread when it ends, and this is one.
        let result = arrange(&mut queue);
        // Sequentially consistent: it is what those who register look at.
        self.length.store(queue.len(), Ordering::SeqCst);
        result
    }

    /// Takes the first task of the queue, and no other one.
    pub(super) fn pop(&self) -> Option<Task> {
        let mut queue = self.queue.lock();
        let task = queue.pop_front();
        self.length.store(queue.len(), Ordering::Relaxed);
        task
    }

    /// Takes a thread's share of the queue, of so many threads: one to return, the others into its ring, and whether there are any.
    ///
    /// # Safety
    ///
    /// This thread owns the ring.
    pub(super) unsafe fn take_share(
        &self,
        threads: usize,
        ring: &Deque<Task>,
    ) -> (Option<Task>, bool) {
        let mut grown = VecDeque::new();
        let mut queue = self.queue.lock();
        let share = queue.len().div_ceil(threads).min(MOST_ENTERING);
        let task = queue.pop_front();
        let mut has_more = false;
        for _ in 1..share {
            let Some(task) = queue.pop_front() else { break };
            // SAFETY: this thread owns the ring.
            if let Err(task) = unsafe { ring.push(task) } {
                queue.push_front(task);
                break;
            }
            has_more = true;
        }
        self.length.store(queue.len(), Ordering::Relaxed);
        if queue.is_empty() && queue.capacity() > MOST_KEPT {
            // The memory of a rush is given back, without the lock.
            core::mem::swap(&mut *queue, &mut grown);
        }
        drop(queue);
        (task, has_more)
    }

    /// No thread is left: lets nothing in any more; what lies here.
    pub(super) fn close(&self) -> impl Iterator<Item = Task> {
        let left = {
            let mut queue = self.queue.lock();
            self.closed.store(true, Ordering::SeqCst);
            core::mem::take(&mut *queue)
        };
        // Who finds the slot closed tries the queue, and finds that closed, too.
        let last = self.slot.close();
        last.into_iter().chain(left)
    }

    /// Whether no thread is left.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// A thread without work looks from now on: `true` if no other one did.
    #[inline]
    pub(super) fn begin_look(&self) -> bool {
        self.watched.swap(LOOKING, Ordering::SeqCst) != LOOKING
    }

    /// The thread that looked has found a task, which may be a short one.
    #[inline]
    pub(super) fn end_look_with_task(&self) {
        self.watched.store(BACK_SOON, Ordering::SeqCst);
    }

    /// The thread that looked does so no more. A thread that still sees that it does has made something due before this, which is
    /// seen now.
    #[inline]
    pub(super) fn end_look(&self) {
        self.watched.store(NOT_LOOKING, Ordering::SeqCst);
    }

    /// Whether a thread looks, which will find what is due now.
    #[inline]
    pub(super) fn is_watched(&self) -> bool {
        seam::model_fence();
        self.watched.load(Ordering::SeqCst) == LOOKING
    }

    /// As [`is_watched`](Injector::is_watched), for what was put into the slot: gives a thread that may be about to look for it a moment.
    #[inline]
    pub(super) fn is_watched_soon(&self) -> bool {
        seam::model_fence();
        match self.watched.load(Ordering::SeqCst) {
            LOOKING => true,
            BACK_SOON => (0..LOOKS_FOR_RETURN).any(|_| {
                for _ in 0..PAUSES_A_LOOK {
                    seam::spin_loop();
                }
                !self.slot.is_full()
            }),
            _ => false,
        }
    }
}
