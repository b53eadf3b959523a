//! Waiting for something that gives no signal: spins, gives way, and then sleeps, longer each round.

#[cfg(not(tamtam_loom))]
use std::time::Duration;

use crate::seam;

/// Waiting for another thread that is in the middle of a few instructions.
///
/// For the short stretches inside lock-free code where another thread has begun a step and only it
/// can finish it: a slot that is claimed and not yet written, a block about to be linked. That
/// thread needs nanoseconds if it runs. If it was pre-empted, it needs our core or a while: so
/// after a few pauses this gives the core away, and later naps, so that a thread of higher priority
/// cannot keep the other from ever finishing.
///
/// To wait for a *message*, use [`Patience`](crate::Patience), which learns and can sleep.
///
/// # Examples
///
/// ```
/// let mut backoff = tamtam_wait::Backoff::new();
/// let done = std::sync::atomic::AtomicBool::new(true);
/// while !done.load(std::sync::atomic::Ordering::Acquire) {
///     backoff.pause();
/// }
/// ```
#[derive(Debug, Default)]
pub struct Backoff {
    round: u32,
}

const PAUSE_ROUNDS: u32 = 5;
#[cfg(not(tamtam_loom))]
const YIELD_ROUNDS: u32 = 64;

impl Backoff {
    /// Starts with the shortest pause.
    #[inline]
    pub const fn new() -> Self {
        Self { round: 0 }
    }

    /// Pauses a little longer than the last time.
    #[inline]
    pub fn pause(&mut self) {
        if cfg!(tamtam_loom) {
            seam::yield_now();
        } else if self.round < PAUSE_ROUNDS {
            for _ in 0..1 << self.round {
                seam::spin_loop();
            }
        } else {
            self.give_way();
        }
        self.round = self.round.saturating_add(1);
    }

    #[cold]
    fn give_way(&self) {
        #[cfg(not(tamtam_loom))]
        if let Some(nap) = nap(self.round) {
            #[cfg(test)]
            tests::NAPS.set(tests::NAPS.get() + 1);
            std::thread::sleep(nap);
            return;
        }
        seam::yield_now();
    }
}

/// How long to sleep in this round, if giving way has not helped so far: 20 µs, and up to 640.
#[cfg(not(tamtam_loom))]
fn nap(round: u32) -> Option<Duration> {
    let naps = round.checked_sub(YIELD_ROUNDS)?;
    Some(Duration::from_micros(20 << (naps / 8).min(5)))
}

#[cfg(all(test, not(tamtam_loom)))]
pub(crate) mod tests {
    use core::cell::Cell;

    use super::*;

    thread_local! {
        /// How often this thread has napped.
        pub(crate) static NAPS: Cell<u32> = const { Cell::new(0) };
    }

    #[test]
    fn naps_begin_late_and_grow_to_a_bound() {
        for round in 0..YIELD_ROUNDS {
            assert_eq!(nap(round), None);
        }
        for (naps, micros) in [(0, 20), (7, 20), (8, 40), (39, 320), (40, 640), (48, 640)] {
            let expected = Duration::from_micros(micros);
            assert_eq!(nap(YIELD_ROUNDS + naps), Some(expected), "{naps}");
        }
        assert_eq!(nap(u32::MAX), Some(Duration::from_micros(640)));
    }

    #[test]
    fn each_pause_is_a_round_and_the_last_one_stays() {
        let mut backoff = Backoff::new();
        for round in 1..=YIELD_ROUNDS + 1 {
            backoff.pause();
            assert_eq!(backoff.round, round);
        }
        backoff.round = u32::MAX;
        backoff.pause();
        assert_eq!(backoff.round, u32::MAX);
    }
}
