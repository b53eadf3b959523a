//! The seam's model side: loom, which runs every interleaving of a small program.

pub use loom::cell::UnsafeCell;
pub use loom::sync::Arc;
pub use loom::sync::MutexGuard;
pub use loom::sync::atomic;
pub use loom::thread;

use core::task::{Poll, Waker};
use std::task::Wake;
use std::time::Duration;

/// loom's mutex with the interface of the production one.
#[derive(Debug)]
#[doc(hidden)]
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

    /// Takes the lock if it is free.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock().ok()
    }
}

/// loom's condition variable with the interface of the production one.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct Condvar(loom::sync::Condvar);

impl Condvar {
    /// One that no thread waits for.
    pub fn new() -> Self {
        Self(loom::sync::Condvar::new())
    }

    /// Gives the lock up as long as `condition` holds, from one notification to the next.
    pub fn wait_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        while condition(&mut guard) {
            guard = self
                .0
                .wait(guard)
                .unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        guard
    }

    /// As `wait_while`: a model has no clock, and these waits are so long that their end means that nothing else comes. A model in
    /// which nothing else comes fails.
    pub fn wait_timeout_while<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        _longest: Duration,
        condition: impl FnMut(&mut T) -> bool,
    ) -> (MutexGuard<'a, T>, bool) {
        (self.wait_while(guard, condition), false)
    }

    /// Wakes one of the threads that wait.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes all threads that wait.
    pub fn notify_all(&self) {
        self.0.notify_all();
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

/// A task of a model: polled by a thread of it, which sleeps until the task is woken.
#[derive(Debug)]
#[doc(hidden)]
pub struct Task {
    bell: std::sync::Arc<Bell>,
    waker: Waker,
}

#[derive(Debug, Default)]
struct Bell {
    rung: loom::sync::Mutex<bool>,
    heard: loom::sync::Condvar,
}

impl Wake for Bell {
    fn wake(self: std::sync::Arc<Self>) {
        let mut rung = self.rung.lock().unwrap();
        *rung = true;
        self.heard.notify_one();
        drop(rung);
    }
}

impl Default for Task {
    fn default() -> Self {
        Self::new()
    }
}

impl Task {
    /// A task that was not woken.
    pub fn new() -> Self {
        let bell = std::sync::Arc::new(Bell::default());
        Task {
            waker: Waker::from(std::sync::Arc::clone(&bell)),
            bell,
        }
    }

    /// What wakes it.
    pub fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Polls until it is ready; between two polls it waits to be woken.
    pub fn run<R>(&self, mut poll: impl FnMut(&Waker) -> Poll<R>) -> R {
        loop {
            if let Poll::Ready(result) = poll(&self.waker) {
                return result;
            }
            self.wait();
        }
    }

    /// Waits to be woken.
    pub fn wait(&self) {
        let mut rung = self.bell.rung.lock().unwrap();
        while !core::mem::take(&mut *rung) {
            rung = self.bell.heard.wait(rung).unwrap();
        }
    }
}
