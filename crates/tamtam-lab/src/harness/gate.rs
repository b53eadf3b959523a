//! What a worker is blocked on between two messages.

use std::sync::{Condvar, Mutex, PoisonError};

/// What the worker of the `post` experiment is blocked on: opened once, it lets one wait pass and is closed again.
pub trait Gate: Default + Send + Sync + 'static {
    /// Lets one wait pass, now or later.
    fn open(&self);

    /// Waits until the gate is opened, and closes it.
    fn pass(&self);
}

/// A gate made of the standard library's `Mutex` and `Condvar`.
#[derive(Debug, Default)]
pub struct StdGate {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate for StdGate {
    fn open(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.opened.notify_one();
    }

    fn pass(&self) {
        let closed = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let mut open = self
            .opened
            .wait_while(closed, |open| !*open)
            .unwrap_or_else(PoisonError::into_inner);
        *open = false;
    }
}
