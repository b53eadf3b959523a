//! How much of a processor the advice may take.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Of one processor it takes at most one part in so many, over a while: a server that answers 50,000 calls a second would otherwise
/// look at 50 answers, each of which costs as much as dozens of calls.
const ONE_IN: u32 = 400;

/// So much of a processor it may take at once, of what it has not taken before.
const AT_ONCE: Duration = Duration::from_millis(50);

/// So many answers are looked at whatever they cost: of the first ones there is the most to be learned.
const FIRST: u64 = 32;

/// How much of a processor the advice has taken, and whether it may take more.
#[derive(Debug)]
pub(super) struct Share {
    begun: Instant,
    /// Nanoseconds from the beginning up to which its share has been taken; beyond now, that of the future.
    taken_until: AtomicU64,
    looks: AtomicU64,
}

impl Share {
    pub(super) fn new(now: Instant) -> Share {
        Share {
            begun: now,
            taken_until: AtomicU64::new(0),
            looks: AtomicU64::new(0),
        }
    }

    /// Whether there is something of its share left.
    pub(super) fn is_left(&self, now: Instant) -> bool {
        let ahead = nanoseconds(ONE_IN * AT_ONCE);
        self.looks.load(Ordering::Relaxed) < FIRST
            || self.taken_until.load(Ordering::Relaxed) < self.at(now) + ahead
    }

    /// A look has taken so much of a processor. Called by one thread alone.
    pub(super) fn take(&self, used: Duration, now: Instant) {
        let taken_until = self.taken_until.load(Ordering::Relaxed).max(self.at(now));
        let taken_until = taken_until.saturating_add(nanoseconds(ONE_IN * used));
        self.taken_until.store(taken_until, Ordering::Relaxed);
        self.looks.fetch_add(1, Ordering::Relaxed);
    }

    fn at(&self, now: Instant) -> u64 {
        nanoseconds(now.saturating_duration_since(self.begun))
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_a_part_of_a_processor_is_taken_over_a_while() {
        let begun = Instant::now();
        let share = Share::new(begun);
        let look = Duration::from_millis(1);
        let mut used = Duration::ZERO;
        // As often as there is something left, a thousand times a second for an hour.
        for milliseconds in 0..3_600_000 {
            let now = begun + Duration::from_millis(milliseconds);
            if share.is_left(now) {
                share.take(look, now);
                used += look;
            }
            // What it may take at once it may take at the beginning.
            if milliseconds == 40 {
                assert_eq!(used, Duration::from_millis(41));
            }
        }
        let share_of_an_hour = Duration::from_secs(3_600) / ONE_IN;
        let most = share_of_an_hour + AT_ONCE + look;
        assert!((share_of_an_hour..most).contains(&used), "{used:?}");
    }

    #[test]
    fn what_was_not_taken_is_not_kept_for_ever() {
        let begun = Instant::now();
        let share = Share::new(begun);
        for _ in 0..FIRST {
            share.take(Duration::ZERO, begun);
        }
        let later = begun + Duration::from_secs(1_000_000);
        share.take(AT_ONCE, later);
        assert!(!share.is_left(later));
        assert!(share.is_left(later + Duration::from_millis(1)));
        // One that takes long is paid for afterwards: what was taken is then within the share of the time that has passed.
        let look = Duration::from_secs(1);
        share.take(look, later);
        let paid = later + ONE_IN * look;
        assert!(!share.is_left(paid - Duration::from_millis(1)));
        assert!(share.is_left(paid + Duration::from_millis(1)));
    }

    #[test]
    fn the_first_ones_are_looked_at_whatever_they_cost() {
        let begun = Instant::now();
        let share = Share::new(begun);
        for _ in 0..FIRST {
            assert!(share.is_left(begun));
            share.take(Duration::from_secs(1), begun);
        }
        assert!(!share.is_left(begun));
    }
}
