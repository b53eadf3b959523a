//! Running foreign code, such as a waker or a drop, where a panic must not get out.

#[cfg(not(tamtam_loom))]
use std::any::Any;
#[cfg(not(tamtam_loom))]
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs foreign code: a waker, a drop, a handler. A panic in it ends here, after the panic hook has reported
/// it; then there is no result.
///
/// A waker is run by the thread that brings something for its task, and an actor by a thread that runs others, too:
/// in the middle of an operation that has nothing to do with it, which a panic would end. What it panicked
/// with is foreign as well: if its drop panics, it is leaked.
#[inline]
pub fn contain<R>(foreign: impl FnOnce() -> R) -> Option<R> {
    // A model's panic is how it fails.
    #[cfg(tamtam_loom)]
    {
        Some(foreign())
    }
    #[cfg(not(tamtam_loom))]
    match catch_unwind(AssertUnwindSafe(foreign)) {
        Ok(result) => Some(result),
        Err(payload) => {
            drop_contained(payload);
            None
        }
    }
}

/// Compiled once, and not for each kind of foreign code: of those a program has thousands.
#[cfg(not(tamtam_loom))]
#[cold]
fn drop_contained(payload: Box<dyn Any + Send>) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        core::mem::forget(payload);
    }
}

/// Runs foreign code in the middle of an operation: if it panics, `undo` puts right what was begun before the panic goes on.
#[inline]
pub fn or_undo<R>(foreign: impl FnOnce() -> R, undo: impl FnOnce()) -> R {
    struct Undo<F: FnOnce()>(Option<F>);

    impl<F: FnOnce()> Drop for Undo<F> {
        #[inline]
        fn drop(&mut self) {
            if let Some(undo) = self.0.take() {
                undo();
            }
        }
    }

    let mut undo = Undo(Some(undo));
    let result = foreign();
    undo.0 = None;
    result
}

/// Wakers of tests that panic when they are dropped.
#[cfg(all(test, not(tamtam_loom)))]
pub(crate) mod undroppable {
    use core::mem::ManuallyDrop;
    use core::ptr;
    use core::task::{RawWaker, RawWakerVTable, Waker};

    static TABLE: RawWakerVTable = RawWakerVTable::new(|_| raw(), |_| (), |_| (), |_| refuse());

    fn raw() -> RawWaker {
        RawWaker::new(ptr::null(), &TABLE)
    }

    fn refuse() {
        // No panic hook prints it.
        std::panic::resume_unwind(Box::new("this waker cannot be dropped"))
    }

    /// Its clones panic, too. It is not dropped itself.
    pub(crate) fn waker() -> ManuallyDrop<Waker> {
        // SAFETY: the functions of the table do nothing with the data.
        ManuallyDrop::new(unsafe { Waker::from_raw(raw()) })
    }
}

/// Wakers of tests that panic when they are cloned.
#[cfg(all(test, not(tamtam_loom)))]
pub(crate) mod uncloneable {
    use core::ptr;
    use core::task::{RawWaker, RawWakerVTable, Waker};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    static TABLE: RawWakerVTable = RawWakerVTable::new(|_| refuse(), |_| (), |_| (), |_| ());

    fn refuse() -> RawWaker {
        // No panic hook prints it.
        std::panic::resume_unwind(Box::new("this waker cannot be cloned"))
    }

    pub(crate) fn waker() -> Waker {
        // SAFETY: the functions of the table do nothing with the data.
        unsafe { Waker::from_raw(RawWaker::new(ptr::null(), &TABLE)) }
    }

    /// Whether what is done with such a waker panics.
    pub(crate) fn panics<R>(with: impl FnOnce(&Waker) -> R) -> bool {
        let waker = waker();
        catch_unwind(AssertUnwindSafe(|| with(&waker))).is_err()
    }
}

/// Wakers of tests that count how often they were woken.
#[cfg(all(test, not(tamtam_loom)))]
pub(crate) mod counted {
    use core::task::Waker;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    #[derive(Default)]
    pub(crate) struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    impl Count {
        pub(crate) fn wakes(&self) -> usize {
            self.0.load(Ordering::SeqCst)
        }
    }

    /// A waker, and its count.
    pub(crate) fn waker() -> (Arc<Count>, Waker) {
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        (count, waker)
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    /// What it panics with panics, too, when it is dropped. That is leaked, and takes no memory.
    struct Twice;

    impl Drop for Twice {
        fn drop(&mut self) {
            std::panic::resume_unwind(Box::new(()));
        }
    }

    #[test]
    fn what_was_begun_is_undone_if_foreign_code_panics_and_only_then() {
        let undone = core::cell::Cell::new(0);
        let undo = || undone.set(undone.get() + 1);
        assert_eq!((or_undo(|| 7, undo), undone.get()), (7, 0));
        let panics = || -> u8 { std::panic::resume_unwind(Box::new("foreign")) };
        let caught = catch_unwind(AssertUnwindSafe(|| or_undo(panics, undo)));
        assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"foreign"));
        assert_eq!(undone.get(), 1);
    }

    #[test]
    fn a_panic_of_foreign_code_ends_here() {
        assert_eq!(contain(|| 7), Some(7));
        let panics = || -> u8 { std::panic::resume_unwind(Box::new("foreign")) };
        assert_eq!(contain(panics), None);
        let panics = || -> u8 { std::panic::resume_unwind(Box::new(Twice)) };
        assert_eq!(contain(panics), None);
    }
}
