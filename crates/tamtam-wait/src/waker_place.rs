//! Where a waker is kept.

use core::ops::Deref;
use core::task::Waker;

use crate::contain::contain;
use crate::seam::UnsafeCell;

/// Where a waker is kept. What has it is dropped by code that knows of no waker, and may be in the middle of something: a panic of the waker's
/// drop, which is foreign code, ends here.
pub(crate) struct WakerPlace(UnsafeCell<Option<Waker>>);

impl WakerPlace {
    pub(crate) fn new() -> Self {
        WakerPlace(UnsafeCell::new(None))
    }
}

impl Deref for WakerPlace {
    type Target = UnsafeCell<Option<Waker>>;

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Drop for WakerPlace {
    #[inline]
    fn drop(&mut self) {
        /// What keeps wakers goes in a hundred places of a program, and mostly has none then.
        #[cold]
        #[inline(never)]
        fn drop_it(waker: Waker) {
            contain(|| drop(waker));
        }

        let waker = self.0.with_mut(|place| {
            // SAFETY: no other thread has this any more.
            unsafe { (*place).take() }
        });
        if let Some(waker) = waker {
            drop_it(waker);
        }
    }
}
