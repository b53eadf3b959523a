//! What a thread of a pool counts of itself.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What one thread of a pool counts, besides its turns. Only that thread changes it.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) steals: Count,
    pub(crate) sleeps: Count,
    pub(crate) entered: Count,
}

/// A count that one thread at a time changes, and all read. Not of the seam: it orders nothing.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    #[inline]
    pub(crate) fn add_one(&self) {
        self.0.store(self.0.load(Relaxed).wrapping_add(1), Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}
