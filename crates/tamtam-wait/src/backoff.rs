use crate::seam;

/// Waiting for somebody who is in the middle of a few instructions.
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
        if self.round >= YIELD_ROUNDS {
            let doublings = ((self.round - YIELD_ROUNDS) / 8).min(5);
            std::thread::sleep(std::time::Duration::from_micros(20 << doublings));
            return;
        }
        seam::yield_now();
    }
}
