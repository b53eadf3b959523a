//! The seam's model side: loom, which runs every interleaving of a small program.

pub use loom::cell::UnsafeCell;
pub use loom::sync::Arc;
pub use loom::sync::MutexGuard;
pub use loom::sync::atomic;
pub use loom::thread;

/// loom's mutex with the interface of the production one.
#[derive(Debug)]
pub struct Mutex<T>(loom::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// Wraps `value`.
    pub fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    /// Waits for the lock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Takes the lock if nobody has it.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock().ok()
    }
}

/// A busy wait gives way: loom would otherwise run it for ever.
pub fn spin_loop() {
    loom::thread::yield_now();
}

/// Gives the processor to another thread of the model.
pub fn yield_now() {
    loom::thread::yield_now();
}
