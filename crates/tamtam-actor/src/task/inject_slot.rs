//! A place in front of an injector or an inbox, for one task at a time.
//!
//! A thread that asks question after question brings one task after the other, each to threads that have nothing
//! else to do. Here that costs either side one locked instruction on one cache line; a lock and a queue take three of each.

use core::mem::MaybeUninit;

use tamtam_wait::Backoff;
use tamtam_wait::seam::UnsafeCell;
use tamtam_wait::seam::atomic::{AtomicU32, Ordering};

const EMPTY: u32 = 0;
/// A thread puts a task in.
const PUTTING: u32 = 1;
const FULL: u32 = 2;
/// A thread takes the task out.
const TAKING: u32 = 3;
/// For ever.
const CLOSED: u32 = 4;

/// A place for one item, for many who put and many who take.
pub(crate) struct InjectSlot<T> {
    state: AtomicU32,
    item: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: items move from one thread to another; the state says whose the place is.
unsafe impl<T: Send> Send for InjectSlot<T> {}
// SAFETY: items move from one thread to another; the state gives the place to one thread at a time.
unsafe impl<T: Send> Sync for InjectSlot<T> {}

impl<T> InjectSlot<T> {
    pub(crate) fn new() -> Self {
        InjectSlot {
            state: AtomicU32::new(EMPTY),
            item: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Puts an item in; gives it back if the place is not free. Sequentially consistent: only then is it full.
    #[inline]
    pub(crate) fn put(&self, item: T) -> Result<(), T> {
        if self.state.load(Ordering::Relaxed) != EMPTY {
            return Err(item);
        }
        // SYNC inject-left: who has taken the item before is done with the place.
        let claimed =
            self.state
                .compare_exchange(EMPTY, PUTTING, Ordering::Acquire, Ordering::Relaxed);
        if claimed.is_err() {
            return Err(item);
        }
        // SAFETY: the place is ours by the exchange, and empty.
        self.item.with_mut(|place| unsafe {
            (*place).write(item);
        });
        // SYNC inject-item. An item on its way is not seen by one who is about to sleep: it might have to look for long,
        // should the one who brings it be held up. So it is this step that comes before the look who sleeps.
        self.state.swap(FULL, Ordering::SeqCst);
        Ok(())
    }

    /// Takes the item out.
    #[inline]
    pub(crate) fn take(&self) -> Option<T> {
        self.take_after(|| {})
    }

    /// Takes the item out, after `before`, which is called if there is one. Until then the inject slot [is not free](InjectSlot::is_free), but
    /// is not full any more: the one that brought the item knows at once that it is seen to.
    #[inline]
    pub(crate) fn take_after(&self, before: impl FnOnce()) -> Option<T> {
        if self.state.load(Ordering::Relaxed) != FULL {
            return None;
        }
        self.take_and_leave(EMPTY, before)
    }

    #[inline]
    fn take_and_leave(&self, after: u32, before: impl FnOnce()) -> Option<T> {
        // SYNC inject-item
        self.state
            .compare_exchange(FULL, TAKING, Ordering::Acquire, Ordering::Relaxed)
            .ok()?;
        before();
        // SAFETY: it was full, so there is an item, and it is ours by the exchange.
        let item = self
            .item
            .with(|place| unsafe { (*place).assume_init_read() });
        // SYNC inject-left
        self.state.store(after, Ordering::Release);
        Some(item)
    }

    /// Whether no item is in it, on its way in, or on its way out. Sequentially consistent; and what the one that took the last item
    /// did before that is seen.
    #[inline]
    pub(crate) fn is_free(&self) -> bool {
        // SYNC inject-left
        matches!(self.state.load(Ordering::SeqCst), EMPTY | CLOSED)
    }

    /// Whether there is an item. Sequentially consistent.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.state.load(Ordering::SeqCst) == FULL
    }

    /// Lets nothing in any more; what is inside comes out.
    pub(crate) fn close(&self) -> Option<T> {
        let mut backoff = Backoff::new();
        loop {
            let closed =
                self.state
                    .compare_exchange(EMPTY, CLOSED, Ordering::Relaxed, Ordering::Relaxed);
            if let Ok(_) | Err(CLOSED) = closed {
                return None;
            }
            let item = self.take_and_leave(CLOSED, || {});
            if item.is_some() {
                return item;
            }
            // Another thread is between two steps.
            backoff.pause();
        }
    }
}

impl<T> Drop for InjectSlot<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}
