//! Whether another thread ran while a thread gave way.
//!
//! A system does not say so. It shows in the time that it took, which differs: 0.2 µs on one machine where no thread wants the core, 0.6 to 0.8 µs
//! on another one. So that is learned, by the whole program.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

/// What took no longer was no switch to another thread and back, on any machine. In nanoseconds, as all times here.
const LEAST_SWITCH: u32 = 600;
/// What took longer was one.
const LONGEST_VAIN: u32 = 1_500;

/// The shortest time for which a thread of this program has given way, in nanoseconds. It stays that of a switch as long as a thread was waiting
/// each time.
static QUICKEST: AtomicU32 = AtomicU32::new(u32::MAX);

/// Whether another thread ran in the time for which a thread has given way.
pub(crate) fn switched(away: Duration) -> bool {
    let away = u32::try_from(away.as_nanos()).unwrap_or(u32::MAX);
    let mut quickest = QUICKEST.load(Relaxed);
    if away < quickest {
        quickest = away;
        QUICKEST.store(away, Relaxed);
    }
    away > longest_vain(quickest)
}

/// How long giving way takes at most where no thread takes the core, if the quickest took so long.
fn longest_vain(quickest: u32) -> u32 {
    quickest.saturating_mul(2).clamp(LEAST_SWITCH, LONGEST_VAIN)
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_took_much_longer_than_the_quickest_let_another_thread_run() {
        for (quickest, expected) in [
            (0, LEAST_SWITCH),
            (250, LEAST_SWITCH),
            (300, 600),
            (591, 1_182),
            (5_000, LONGEST_VAIN),
            (u32::MAX, LONGEST_VAIN),
        ] {
            assert_eq!(longest_vain(quickest), expected, "{quickest}");
        }
    }

    #[test]
    fn the_quickest_is_learned_and_a_long_time_is_a_switch_whatever_was_learned() {
        assert!(switched(Duration::from_secs(5)));
        assert!(!switched(Duration::from_nanos(100)));
        assert!(QUICKEST.load(Relaxed) <= 100);
        assert!(!switched(Duration::from_nanos(u64::from(LEAST_SWITCH))));
        assert!(switched(Duration::from_nanos(u64::from(LEAST_SWITCH) + 1)));
    }
}
