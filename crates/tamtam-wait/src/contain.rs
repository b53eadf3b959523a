#[cfg(not(tamtam_loom))]
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs foreign code: a waker, a drop, a handler. A panic in it ends here, after the panic hook has reported
/// it; then there is no result.
///
/// A waker is run by whoever brings something for its task, and an actor by a thread that runs others, too:
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
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
                core::mem::forget(payload);
            }
            None
        }
    }
}
