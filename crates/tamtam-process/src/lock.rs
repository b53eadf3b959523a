//! Locks under which nothing panics that could leave half a change.

#[cfg(target_os = "linux")]
use std::sync::Condvar;
use std::sync::{Mutex, MutexGuard, PoisonError};
#[cfg(target_os = "linux")]
use std::time::Duration;

/// Locks it, also if a thread has panicked that had it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives it up until there is a change, for so long at most, and locks it again.
#[cfg(target_os = "linux")]
pub(crate) fn wait_for<'a, T>(
    changed: &Condvar,
    held: MutexGuard<'a, T>,
    most: Option<Duration>,
) -> MutexGuard<'a, T> {
    match most {
        None => changed.wait(held).unwrap_or_else(PoisonError::into_inner),
        Some(most) => {
            let waited = changed.wait_timeout(held, most);
            waited.unwrap_or_else(PoisonError::into_inner).0
        }
    }
}
