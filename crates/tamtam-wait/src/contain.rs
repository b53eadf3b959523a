#[cfg(not(tamtam_loom))]
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a part of somebody's waker. A panic in it ends here, after the panic hook has reported it.
///
/// A waker is run by whoever brings something for its task, in the middle of an operation that has
/// nothing to do with that task: a panic would take a message that was delivered for lost, or unwind a
/// thread whose message is offered on its stack.
#[inline]
pub(crate) fn contain(foreign: impl FnOnce()) {
    // A model's panic is how it fails.
    #[cfg(tamtam_loom)]
    foreign();
    #[cfg(not(tamtam_loom))]
    if let Err(payload) = catch_unwind(AssertUnwindSafe(foreign)) {
        // What it panicked with is foreign, too, and its drop may panic; enough is enough then.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            core::mem::forget(payload);
        }
    }
}
