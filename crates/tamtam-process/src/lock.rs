//! Locks under which nothing panics that could leave half a change.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks it, also if a thread has panicked that had it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
