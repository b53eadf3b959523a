//! The task that a thread takes up next: the one that it has made due last.
//!
//! Whom an actor has just sent something finds it in this core's cache. So the youngest task comes first, until
//! that has gone on for long enough. Others may take it away, since its thread may be kept by a long turn.

use core::mem::MaybeUninit;

use tamtam_wait::seam::UnsafeCell;
use tamtam_wait::seam::atomic::{AtomicU32, Ordering};

const EMPTY: u32 = 0;
const FULL: u32 = 1;
/// A thief reads what is in it.
const LEAVING: u32 = 2;

/// A place for one item, with an owner who puts and takes, and thieves who take.
pub(crate) struct Next<T> {
    state: AtomicU32,
    item: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: items move from one thread to another; the state says whose the place is.
unsafe impl<T: Send> Send for Next<T> {}
// SAFETY: as above; the owner's methods are called by one thread at a time, by its promise.
unsafe impl<T: Send> Sync for Next<T> {}

impl<T> Next<T> {
    pub(crate) fn new() -> Self {
        Next {
            state: AtomicU32::new(EMPTY),
            item: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Whether there may be an item, for anybody.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.state.load(Ordering::Relaxed) == FULL
    }

    /// Puts an item here; gives back the one that lay here before, or this one if there is no room now.
    ///
    /// # Safety
    ///
    /// The caller is the owner.
    #[inline]
    pub(crate) unsafe fn put(&self, item: T) -> Option<T> {
        // SYNC next-left: a thief is done with the place.
        let before = match self.state.load(Ordering::Acquire) {
            EMPTY => None,
            // SAFETY: the caller is the owner.
            FULL => unsafe { self.take() },
            _ => return Some(item),
        };
        if before.is_none() && self.state.load(Ordering::Acquire) == LEAVING {
            // A thief has just come.
            return Some(item);
        }
        self.item.with_mut(|place| {
            // SAFETY: empty, so nobody looks, and only the owner fills it.
            unsafe { (*place).write(item) };
        });
        // SYNC next-item
        self.state.store(FULL, Ordering::Release);
        before
    }

    /// Takes the item.
    ///
    /// # Safety
    ///
    /// The caller is the owner.
    #[inline]
    pub(crate) unsafe fn take(&self) -> Option<T> {
        if self.state.load(Ordering::Relaxed) != FULL {
            return None;
        }
        self.state
            .compare_exchange(FULL, EMPTY, Ordering::Acquire, Ordering::Relaxed)
            .ok()?;
        // SAFETY: it was full, so there is an item; only the owner, that is we, would write here again.
        Some(unsafe { self.read() })
    }

    /// Takes the item away.
    pub(crate) fn steal(&self) -> Option<T> {
        // SYNC next-item
        self.state
            .compare_exchange(FULL, LEAVING, Ordering::Acquire, Ordering::Relaxed)
            .ok()?;
        // SAFETY: it was full, so there is an item; and nobody touches the place while it is being left.
        let item = unsafe { self.read() };
        // SYNC next-left
        self.state.store(EMPTY, Ordering::Release);
        Some(item)
    }

    /// # Safety
    ///
    /// There is an item, and it is the caller's, who reads it once.
    unsafe fn read(&self) -> T {
        self.item
            // SAFETY: by the caller's promise.
            .with(|place| unsafe { (*place).assume_init_read() })
    }
}

impl<T> Drop for Next<T> {
    fn drop(&mut self) {
        drop(self.steal());
    }
}
