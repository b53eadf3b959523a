//! What comes before messages: a stack that is taken whole.
//!
//! Things come here seldom, so a word is all that a cell spends on it (Treiber's stack, 1986, emptied at once:
//! so nothing can come back to its top in between).

use core::ptr::{self, NonNull};

use tamtam_wait::seam;
use tamtam_wait::seam::atomic::{AtomicPtr, Ordering};

use tamtam_wait::contain;

/// Things that wait, the youngest on top.
pub(crate) struct Urgent<T> {
    top: AtomicPtr<Thing<T>>,
}

struct Thing<T> {
    what: T,
    below: *mut Thing<T>,
}

// SAFETY: things move through the stack from one thread to another.
unsafe impl<T: Send> Send for Urgent<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Urgent<T> {}

impl<T> Urgent<T> {
    pub(crate) fn new() -> Self {
        Urgent {
            top: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Adds something. Sequentially consistent.
    pub(crate) fn push(&self, what: T) {
        let thing = Box::into_raw(Box::new(Thing {
            what,
            below: ptr::null_mut(),
        }));
        let mut top = self.top.load(Ordering::Relaxed);
        loop {
            // SAFETY: the thing is ours until it is on the stack.
            unsafe { (*thing).below = top };
            // SYNC urgent
            match self
                .top
                .compare_exchange(top, thing, Ordering::SeqCst, Ordering::Relaxed)
            {
                Ok(_) => break,
                Err(now) => top = now,
            }
        }
        seam::model_fence();
    }

    /// Whether there is nothing. Sequentially consistent.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        seam::model_fence();
        self.top.load(Ordering::SeqCst).is_null()
    }

    /// Takes all that is there, the oldest first.
    pub(crate) fn take_all(&self) -> Things<T> {
        // SYNC urgent
        let mut thing = self.top.swap(ptr::null_mut(), Ordering::SeqCst);
        let mut first = ptr::null_mut();
        while let Some(this) = NonNull::new(thing) {
            // SAFETY: what was on the stack is ours now.
            unsafe {
                thing = (*this.as_ptr()).below;
                (*this.as_ptr()).below = first;
            }
            first = this.as_ptr();
        }
        Things { first }
    }
}

impl<T> Drop for Urgent<T> {
    fn drop(&mut self) {
        drop(self.take_all());
    }
}

/// Things in the order in which they came; those that are left are dropped, each by itself: a panic in the drop of
/// one does not keep the others.
pub(crate) struct Things<T> {
    first: *mut Thing<T>,
}

impl<T> Iterator for Things<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let first = NonNull::new(self.first)?;
        // SAFETY: it came from a box, and is ours.
        let thing = unsafe { Box::from_raw(first.as_ptr()) };
        self.first = thing.below;
        Some(thing.what)
    }
}

impl<T> Drop for Things<T> {
    fn drop(&mut self) {
        for thing in self {
            contain(move || drop(thing));
        }
    }
}
