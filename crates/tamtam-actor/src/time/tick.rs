//! Ticks: in what time is counted, from the beginning of a clock.

use std::time::{Duration, Instant};

/// The resolution of timers.
pub(crate) const TICK: Duration = Duration::from_millis(1);
/// A manual time is moved by no more than so many seconds, in bits: more milliseconds would not fit into 64 bits.
const MOST_SECONDS: u32 = 54;

/// The last moment to which a time that began then can be moved, from its beginning.
pub(super) fn farthest(began: Instant) -> Duration {
    (0..MOST_SECONDS).rev().fold(Duration::ZERO, |far, bit| {
        let farther = far + Duration::from_secs(1 << bit);
        match began.checked_add(farther) {
            Some(_) => farther,
            None => far,
        }
    })
}

/// The last tick that is not after that, from the beginning.
pub(super) fn tick_before(time: Duration) -> u64 {
    time.as_secs() * 1_000 + u64::from(time.subsec_millis())
}

/// The first tick that is not before that, from the beginning.
pub(super) fn tick_of(time: Duration) -> u64 {
    let within = time.subsec_nanos().div_ceil(TICK.subsec_nanos());
    time.as_secs()
        .saturating_mul(1_000)
        .saturating_add(u64::from(within))
}

/// When a tick is, from the beginning; `None` is never.
pub(super) fn time_of(tick: u64) -> Option<Duration> {
    (tick != u64::MAX).then(|| Duration::from_millis(tick))
}
