//! The seam's production side: `std`, at no cost.

use std::sync::{PoisonError, TryLockError};
use std::time::Duration;

pub use std::sync::Arc;
pub use std::sync::MutexGuard;
pub use std::sync::atomic;
pub use std::thread;

/// `std::cell::UnsafeCell` behind the access functions that loom needs in order to see each access.
///
/// # Examples
///
/// ```
/// use tamtam_wait::seam::UnsafeCell;
///
/// let cell = UnsafeCell::new(1);
/// // SAFETY: no other thread knows of the cell.
/// cell.with_mut(|number| unsafe { *number += 1 });
/// // SAFETY: no other thread knows of the cell, so nothing is written meanwhile.
/// assert_eq!(cell.with(|number| unsafe { *number }), 2);
/// assert_eq!(cell.into_inner(), 2);
/// ```
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct UnsafeCell<T: ?Sized>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// Wraps `value`.
    #[inline(always)]
    pub const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// Unwraps the value.
    #[inline(always)]
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Shared access: `look` may only read through the pointer.
    #[inline(always)]
    pub fn with<R>(&self, look: impl FnOnce(*const T) -> R) -> R {
        look(self.0.get())
    }

    /// Exclusive access: the caller makes sure that no other thread looks meanwhile.
    #[inline(always)]
    pub fn with_mut<R>(&self, change: impl FnOnce(*mut T) -> R) -> R {
        change(self.0.get())
    }
}

/// `std::sync::Mutex` without poisoning: no user code runs under the locks of this project, so a
/// panic cannot leave their contents half changed.
///
/// # Examples
///
/// ```
/// use tamtam_wait::seam::Mutex;
///
/// let count = Mutex::new(1);
/// *count.lock() += 1;
/// {
///     let _held = count.lock();
///     assert!(count.try_lock().is_none());
/// }
/// assert_eq!(count.try_lock().map(|count| *count), Some(2));
/// ```
#[derive(Debug, Default)]
pub struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// Wraps `value`.
    #[inline]
    pub const fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    /// Waits for the lock.
    ///
    /// A page's main thread may not sleep, not even for a moment, so under WebAssembly this looks again
    /// until the lock is free: it is held for a few steps only, and never while user code runs.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        #[cfg(target_family = "wasm")]
        loop {
            match self.0.try_lock() {
                Ok(guard) => return guard,
                Err(TryLockError::Poisoned(error)) => return error.into_inner(),
                Err(TryLockError::WouldBlock) => spin_loop(),
            }
        }
        #[cfg(not(target_family = "wasm"))]
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock if it is free.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// `std::sync::Condvar` for such a [`Mutex`].
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_wait::seam::{Condvar, Mutex};
///
/// let (is_open, opened) = (Mutex::new(false), Condvar::new());
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         *is_open.lock() = true;
///         opened.notify_one();
///     });
///     assert!(*opened.wait_while(is_open.lock(), |is_open| !*is_open));
/// });
/// let never = |_: &mut bool| true;
/// let (_guard, is_late) = opened.wait_timeout_while(is_open.lock(), Duration::from_millis(1), never);
/// assert!(is_late);
/// ```
#[derive(Debug, Default)]
pub struct Condvar(std::sync::Condvar);

impl Condvar {
    /// One that no thread waits for.
    #[inline]
    pub const fn new() -> Self {
        Self(std::sync::Condvar::new())
    }

    /// Gives the lock up as long as `condition` holds, from one notification to the next.
    #[inline]
    pub fn wait_while<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        condition: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        let waited = self.0.wait_while(guard, condition);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// As `wait_while`, for this long at most; whether `condition` held to the end.
    #[inline]
    pub fn wait_timeout_while<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        longest: Duration,
        condition: impl FnMut(&mut T) -> bool,
    ) -> (MutexGuard<'a, T>, bool) {
        let waited = self.0.wait_timeout_while(guard, longest, condition);
        let (guard, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        (guard, timeout.timed_out())
    }

    /// Wakes one of the threads that wait.
    #[inline]
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes all threads that wait.
    #[inline]
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}

/// One pause of a busy wait.
#[inline(always)]
pub fn spin_loop() {
    std::hint::spin_loop();
}

/// Gives the processor to another thread.
#[inline]
pub fn yield_now() {
    std::thread::yield_now();
}
