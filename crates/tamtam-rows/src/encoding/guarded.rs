//! Foreign readers that may panic on bad bytes, kept from ending the program.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::DecodeError;

/// Reads by a library that was not made for hostile bytes: where it panics, there is an error instead.
///
/// What can be checked before is checked before; this is for what is left. The panic's message is still printed by
/// the process's panic hook, and a process that aborts on panic aborts.
pub(super) fn guarded<T>(
    form: &'static str,
    at: u64,
    read: impl FnOnce() -> Result<T, DecodeError>,
) -> Result<T, DecodeError> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        Err(DecodeError::Malformed {
            form,
            at,
            reason: format!(
                "its library gave up ({})",
                message.unwrap_or("without a word")
            ),
        })
    })
}
