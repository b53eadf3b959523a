//! How often a timer that repeats is due, and what becomes of times that were missed.

use std::time::{Duration, Instant};

use super::tick::TICK;

/// When a timer that repeats is due again.
///
/// It is due for the first time after one period or pause, unless [`starting_in`](Every::starting_in) says otherwise.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_actor::Every;
///
/// // At 20, 40, 60 ms, however long the handler takes.
/// let frames = Every::rate(Duration::from_millis(20));
/// // At once, and then 5 s after each end.
/// let polls = Every::delay(Duration::from_secs(5)).starting_in(Duration::ZERO);
/// # let _ = (frames, polls);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct Every {
    kind: EveryKind,
    first: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum EveryKind {
    Rate(Duration),
    Delay(Duration),
}

impl Every {
    /// At a fixed rate: once in each period, counted from the beginning, so that it does not drift.
    ///
    /// There are no bursts: if the actor comes too late for one or more periods, because it or its pool was busy,
    /// they are left out and [counted](crate::Timer::missed), and the next turn is at the next whole period. Periods
    /// of less than a millisecond, the resolution of timers, are missed in part; zero counts as a millisecond.
    pub const fn rate(period: Duration) -> Self {
        Every {
            kind: EveryKind::Rate(period),
            first: None,
        }
    }

    /// With a fixed pause from the end of the one turn to the beginning of the next.
    ///
    /// Nothing is ever missed; it drifts by what each turn takes and by how late it begins. Zero counts as a millisecond.
    pub const fn delay(pause: Duration) -> Self {
        Every {
            kind: EveryKind::Delay(pause),
            first: None,
        }
    }

    /// The first turn is after this delay.
    pub const fn starting_in(mut self, delay: Duration) -> Self {
        self.first = Some(delay);
        self
    }
}

/// The course of a timer that repeats.
pub(crate) struct Rhythm {
    kind: EveryKind,
    /// When it was to be last. None is never.
    planned: Option<Instant>,
}

impl Rhythm {
    pub(crate) fn new(every: Every, now: Instant) -> Self {
        let kind = match every.kind {
            EveryKind::Rate(Duration::ZERO) => EveryKind::Rate(TICK),
            EveryKind::Delay(Duration::ZERO) => EveryKind::Delay(TICK),
            kind => kind,
        };
        let (EveryKind::Rate(pause) | EveryKind::Delay(pause)) = kind;
        Rhythm {
            kind,
            planned: now.checked_add(every.first.unwrap_or(pause)),
        }
    }

    pub(crate) fn planned(&self) -> Option<Instant> {
        self.planned
    }

    /// Plans the next time, now that a turn has ended: how many were missed.
    pub(crate) fn plan(&mut self, now: Instant) -> u64 {
        match self.kind {
            EveryKind::Delay(pause) => {
                self.planned = now.checked_add(pause);
                0
            }
            EveryKind::Rate(period) => {
                let Some(planned) = self.planned else {
                    return 0;
                };
                let late = now.saturating_duration_since(planned);
                if late < period {
                    self.planned = planned.checked_add(period);
                    return 0;
                }
                let missed = late.as_nanos() / period.as_nanos();
                let rest = (late.as_nanos() % period.as_nanos()) as u64;
                // The last one missed was `rest` ago, which is less than a period.
                self.planned = now.checked_add(period - Duration::from_nanos(rest));
                missed as u64
            }
        }
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_rate_does_not_drift_and_leaves_out_what_was_missed() {
        let start = Instant::now();
        let mut rhythm = Rhythm::new(Every::rate(SECOND), start);
        assert_eq!(rhythm.planned(), Some(start + SECOND));
        assert_eq!(rhythm.plan(start + SECOND * 3 / 2), 0);
        assert_eq!(rhythm.planned(), Some(start + 2 * SECOND));
        // In time for none of the three that follow.
        assert_eq!(rhythm.plan(start + SECOND * 11 / 2), 3);
        assert_eq!(rhythm.planned(), Some(start + 6 * SECOND));
        // To the very moment: that one is over, too.
        assert_eq!(rhythm.plan(start + 7 * SECOND), 1);
        assert_eq!(rhythm.planned(), Some(start + 8 * SECOND));
    }

    #[test]
    fn a_delay_counts_from_the_end() {
        let start = Instant::now();
        let mut rhythm = Rhythm::new(Every::delay(SECOND).starting_in(Duration::ZERO), start);
        assert_eq!(rhythm.planned(), Some(start));
        assert_eq!(rhythm.plan(start + 10 * SECOND), 0);
        assert_eq!(rhythm.planned(), Some(start + 11 * SECOND));
    }

    #[test]
    fn no_length_of_time_is_too_long_and_none_too_short() {
        let start = Instant::now();
        let mut rhythm = Rhythm::new(Every::rate(Duration::MAX), start);
        assert_eq!((rhythm.planned(), rhythm.plan(start)), (None, 0));
        let mut rhythm = Rhythm::new(Every::delay(Duration::MAX).starting_in(SECOND), start);
        assert_eq!(rhythm.planned(), Some(start + SECOND));
        assert_eq!((rhythm.plan(start), rhythm.planned()), (0, None));
        let mut rhythm = Rhythm::new(Every::delay(Duration::ZERO), start);
        assert_eq!(
            (rhythm.planned(), rhythm.plan(start)),
            (Some(start + TICK), 0)
        );
        assert_eq!(rhythm.planned(), Some(start + TICK));
        let mut rhythm = Rhythm::new(Every::rate(Duration::ZERO), start);
        assert_eq!(rhythm.plan(start + 10 * TICK), 9);
        let mut rhythm = Rhythm::new(Every::rate(Duration::from_nanos(1)), start);
        assert_eq!(rhythm.plan(start + SECOND), 999_999_999);
    }
}
