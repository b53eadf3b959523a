//! How many threads of a pool are busy, and how often one became so, in one word.

use tamtam_wait::seam::atomic::{AtomicU64, Ordering};

/// How many threads are busy, and how often one has become so, in one word.
///
/// Who sees the same word twice, with no thread busy, knows that none was in between. The number of times wraps after 2^40:
/// at ten million a second that is 30 hours, all of which would have to pass between two looks, to the very count.
pub(super) struct Busy(AtomicU64);

/// The lower bits count threads.
const THREADS: u64 = (1 << 24) - 1;
const BEGUN: u64 = THREADS + 1;

/// What was seen of a [`Busy`] at one time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Look(u64);

impl Look {
    pub(super) fn is_none(self) -> bool {
        self.0 & THREADS == 0
    }
}

impl Busy {
    pub(super) fn new(threads: usize) -> Self {
        Busy(AtomicU64::new(threads as u64))
    }

    pub(super) fn begin(&self) {
        self.0.fetch_add(BEGUN + 1, Ordering::SeqCst);
    }

    /// `true` if that was the last one.
    pub(super) fn end(&self) -> bool {
        self.0.fetch_sub(1, Ordering::SeqCst) & THREADS == 1
    }

    pub(super) fn count(&self) -> usize {
        // At most 24 bits.
        (self.0.load(Ordering::SeqCst) & THREADS) as usize
    }

    pub(super) fn look(&self) -> Look {
        Look(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_times_wraps_and_the_threads_stay() {
        let busy = Busy(AtomicU64::new(u64::MAX - THREADS + 1));
        assert_eq!(busy.count(), 1);
        let before = busy.look();
        busy.begin();
        assert_eq!(busy.count(), 2);
        assert!(before != busy.look() && !busy.end() && busy.end());
        assert!(busy.look().is_none());
    }
}
