//! The seam between the lock-free code and the world it runs in.
//!
//! Every atomic, cell, lock and thread operation of Tamtam's core comes through here, so that the
//! same source runs on `std` in production and on [loom](https://docs.rs/loom) in the models.
//! The switch is `--cfg tamtam_loom`: loom's own global `--cfg loom` would change other crates too.
//!
//! Not part of the public interface: anything here may change in a patch release.

#[cfg(not(tamtam_loom))]
mod production;
#[cfg(not(tamtam_loom))]
pub use production::{
    Arc, Condvar, Mutex, MutexGuard, UnsafeCell, atomic, spin_loop, thread, yield_now,
};

#[cfg(tamtam_loom)]
mod model;
#[cfg(tamtam_loom)]
pub use model::{
    Arc, Condvar, Mutex, MutexGuard, Task, UnsafeCell, atomic, spin_loop, thread, yield_now,
};

/// A full fence that only the models need.
///
/// The protocols here are proved with sequentially consistent operations, which are a total order
/// by definition. loom treats such operations as acquire and release ones and knows only fences as
/// sequentially consistent, so the models put a fence where production code relies on that order.
#[inline(always)]
pub fn model_fence() {
    #[cfg(tamtam_loom)]
    atomic::fence(atomic::Ordering::SeqCst);
}

/// A sequentially consistent load that the models take for a step of its own.
///
/// Of the accesses to an atomic loom keeps the last one, whichever thread's that was: behind the load of a thread that loads and then compares and swaps,
/// as nearly every claim here does, it has forgotten what another thread has loaded before, and does not try the swap ahead of that. Where what is looked
/// for is such a claim, and nothing else of the two threads meets, the models look by a swap that fails.
#[inline(always)]
pub fn load_of_its_own(atomic: &atomic::AtomicUsize) -> usize {
    use atomic::Ordering::SeqCst;
    if cfg!(tamtam_loom) {
        const NEVER: usize = usize::MAX;
        atomic
            .compare_exchange(NEVER, NEVER, SeqCst, SeqCst)
            .unwrap_or_else(|now| now)
    } else {
        atomic.load(SeqCst)
    }
}

/// What a counter begins with that may wrap and is only ever compared with others of its kind: zero, or in
/// a build that is to see the wrap (`--cfg tamtam_near_wrap`) a little less than that.
pub const ORIGIN: usize = if cfg!(tamtam_near_wrap) {
    usize::MAX - 2
} else {
    0
};

/// Keeps a value on cache lines of its own: 128 bytes, because x86 processors prefetch lines in
/// pairs and several Arm ones have lines of 128 bytes.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct CacheAligned<T>(pub T);

impl<T> core::ops::Deref for CacheAligned<T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> core::ops::DerefMut for CacheAligned<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
