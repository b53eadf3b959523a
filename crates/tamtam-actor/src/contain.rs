//! Where panics of user code end.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs user code. A panic in it ends here, after the panic hook has reported it; then there is no result.
///
/// What it panicked with is foreign, too: if its drop panics, it is leaked, since a panic that came from here would
/// end a thread of the pool.
#[inline]
pub(crate) fn contain<R>(foreign: impl FnOnce() -> R) -> Option<R> {
    if cfg!(tamtam_loom) {
        // In a model a panic is for the model to report.
        return Some(foreign());
    }
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
