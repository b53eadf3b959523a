//! The task that a thread takes up next: the one that it has made due last.
//!
//! Whom an actor has just sent something finds it in this core's cache. So the youngest task comes first, until
//! that has gone on for long enough. Others may take it away, since its thread may be kept by a long turn.
//!
//! The owner takes with each turn, a stealer now and then, after it has seen a long turn. So the owner pays for no
//! locked instruction, and the stealer for both: the owner says that it is taking, and looks whether there is a
//! stealer; a stealer says that it is there, makes all threads see that, and looks whether the owner is taking (Dekker's
//! two flags, with the asymmetric fences of `tamtam-wait`). A stealer that sees the owner taking gives up; an owner
//! that sees a stealer takes by a compare-and-swap, as the stealer does, and so neither ever waits for the other.

use core::mem::MaybeUninit;

use tamtam_wait::fence;
use tamtam_wait::seam::UnsafeCell;
use tamtam_wait::seam::atomic::{self, AtomicBool, AtomicU32, Ordering};

const EMPTY: u32 = 0;
const FULL: u32 = 1;
/// A stealer reads what is in it.
const LEAVING: u32 = 2;

/// A place for one item, with an owner who puts and takes, and stealers who take.
pub(crate) struct LifoSlot<T> {
    state: AtomicU32,
    /// The owner is taking what is in it, or about to look whether it may.
    taking: AtomicBool,
    /// Another thread is.
    stealer: AtomicBool,
    /// Whether stealers can make all threads see what they have stored.
    asymmetric: bool,
    item: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: items move from one thread to another; the state says whose the place is.
unsafe impl<T: Send> Send for LifoSlot<T> {}
// SAFETY: items move from one thread to another; the owner's methods ask their caller to be the only one, and others claim
// the item by an exchange before they read it.
unsafe impl<T: Send> Sync for LifoSlot<T> {}

impl<T> LifoSlot<T> {
    pub(crate) fn new() -> Self {
        LifoSlot {
            state: AtomicU32::new(EMPTY),
            taking: AtomicBool::new(false),
            stealer: AtomicBool::new(false),
            asymmetric: fence::can_be_asymmetric(),
            item: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Whether there may be an item, for any thread.
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
        // SYNC next-left: a stealer is done with the place.
        let before = match self.state.load(Ordering::Acquire) {
            EMPTY => None,
            // SAFETY: the caller is the owner.
            FULL => unsafe { self.take() },
            _ => return Some(item),
        };
        if before.is_none() && self.state.load(Ordering::Acquire) != EMPTY {
            // A stealer has just come.
            return Some(item);
        }
        self.item.with_mut(|place| {
            // SAFETY: empty, so no stealer looks, and only the owner fills it.
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
        self.taking.store(true, Ordering::Relaxed);
        if self.asymmetric {
            fence::light();
        } else {
            atomic::fence(Ordering::SeqCst);
        }
        // SYNC next-stealer: if one has been here, it is seen what it took.
        if self.stealer.load(Ordering::Acquire) {
            self.taking.store(false, Ordering::Relaxed);
            return self.contend();
        }
        // No stealer is here that did not see that the owner is taking, so no other thread changes the state.
        let item = (self.state.load(Ordering::Relaxed) == FULL).then(|| {
            // SAFETY: it is full, so there is an item, and it stays ours.
            let item = unsafe { self.read() };
            self.state.store(EMPTY, Ordering::Relaxed);
            item
        });
        // SYNC next-taking: the item is out.
        self.taking.store(false, Ordering::Release);
        item
    }

    /// Takes the item while there is a stealer.
    #[cold]
    fn contend(&self) -> Option<T> {
        self.state
            .compare_exchange(FULL, EMPTY, Ordering::Acquire, Ordering::Relaxed)
            .ok()?;
        // SAFETY: it was full, so there is an item; only the owner, that is we, would write here again.
        Some(unsafe { self.read() })
    }

    /// Takes the item away, unless the owner is taking it, or another stealer is here. Expensive.
    pub(crate) fn steal(&self) -> Option<T> {
        // SYNC next-stealer: one at a time.
        if self.stealer.swap(true, Ordering::Acquire) {
            return None;
        }
        if self.asymmetric {
            fence::heavy();
        } else {
            atomic::fence(Ordering::SeqCst);
        }
        // SYNC next-taking: if the owner has been at it, it is seen what it took.
        let item = if self.taking.load(Ordering::Acquire) {
            None
        } else {
            self.state
                // SYNC next-item
                .compare_exchange(FULL, LEAVING, Ordering::Acquire, Ordering::Relaxed)
                .ok()
                .map(|_| {
                    // SAFETY: it was full, so there is an item; and no other thread touches the place while it is being left.
                    let item = unsafe { self.read() };
                    // SYNC next-left
                    self.state.store(EMPTY, Ordering::Release);
                    item
                })
        };
        // SYNC next-stealer: the item is out.
        self.stealer.store(false, Ordering::Release);
        item
    }

    /// # Safety
    ///
    /// There is an item, and it is the caller's, who reads it once.
    unsafe fn read(&self) -> T {
        self.item
            // SAFETY: there is an item, and it is the caller's, who reads it once.
            .with(|place| unsafe { (*place).assume_init_read() })
    }
}

impl<T> Drop for LifoSlot<T> {
    fn drop(&mut self) {
        // SAFETY: the place is being dropped, so no other thread has it.
        drop(unsafe { self.take() });
    }
}
