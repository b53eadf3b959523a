//! Whether a core that was given away was used by this program or by a stranger.
//!
//! A thread that yields and comes back milliseconds later cannot see who ran meanwhile, and what it
//! should do next depends on it: among threads of its own program that pass messages all the time it
//! should go on yielding, since waking costs more; beside a stranger's busy loop it should sleep, since a
//! woken thread pre-empts and a yielding one waits for the stranger's whole slice. So every wait that
//! begins, and every sixteenth message, counts itself in a word of the processor that it runs on, and the
//! one who comes back reads how many there were.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use crate::seam::CacheAligned;

/// Machines with more processors share words; a word too busy only makes a stranger look like one of us.
const PROCESSORS: usize = 64;

/// A word for each processor, written with plain stores by the thread that runs there: a lost count now and
/// then does no harm.
static WAITS: [CacheAligned<AtomicU32>; PROCESSORS] =
    [const { CacheAligned(AtomicU32::new(0)) }; PROCESSORS];

/// Our own threads are counted at least this often on a core that they keep busy with messages.
const BUSY: Duration = Duration::from_micros(20);

/// What a thread saw on its processor before it gave it away.
pub(crate) struct Activity {
    word: Option<(&'static AtomicU32, u32)>,
}

impl Activity {
    /// Counts a wait that begins, or some messages, on this processor.
    #[inline]
    pub(crate) fn note_on(processor: u32) {
        if let Some(word) = word(processor) {
            word.store(word.load(Relaxed).wrapping_add(1), Relaxed);
        }
    }

    /// The state of this processor.
    pub(crate) fn here() -> Self {
        Activity {
            word: word(processor()).map(|word| (word, word.load(Relaxed))),
        }
    }

    /// Whether threads of this program were what kept the processor busy for the time since.
    pub(crate) fn was_ours(&self, away: Duration) -> bool {
        self.word.is_some_and(|(word, before)| {
            let waits = word.load(Relaxed).wrapping_sub(before);
            BUSY.saturating_mul(waits) >= away
        })
    }
}

fn word(processor: u32) -> Option<&'static AtomicU32> {
    processor
        .checked_sub(1)
        .map(|processor| &*WAITS[processor as usize % PROCESSORS])
}

/// The processor that this thread runs on, plus one; zero where that is unknown: then the thread that takes a
/// core counts as a stranger, and where the peer is has to be learned.
#[cfg(all(target_os = "linux", not(tamtam_loom), not(miri)))]
#[inline]
pub(crate) fn processor() -> u32 {
    // SAFETY: has no preconditions and touches no memory of ours. With a C library that registers
    // restartable sequences (glibc since 2.35) it is one load; otherwise a call without a system call.
    let processor = unsafe { libc::sched_getcpu() };
    u32::try_from(processor).map_or(0, |processor| processor + 1)
}

#[cfg(not(all(target_os = "linux", not(tamtam_loom), not(miri))))]
#[inline]
pub(crate) fn processor() -> u32 {
    0
}

#[cfg(all(test, target_os = "linux", not(tamtam_loom), not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn waits_on_this_processor_make_it_ours() {
        // The thread may be moved between two calls; then try again.
        let seen = (0..1000).any(|_| {
            let here = Activity::here();
            let before = here.was_ours(Duration::from_micros(15));
            Activity::note_on(processor());
            !before && here.was_ours(Duration::from_micros(15))
        });
        assert!(seen);
        assert!(!Activity::here().was_ours(Duration::from_secs(3600)));
    }
}
