//! The rows about timers: `timers-set`, `timers-cancel`, `timers-fire`.
//!
//! COUNT timers are set, an hour ahead, a millisecond apart from each other; then all are cancelled: the times of the two
//! are the figures of the first two rows. In `timers-fire` all are due at one moment, and the time is that from this
//! moment until the last has fired. Each that fires tells its number, and each number must come once, not before that moment; one
//! that was cancelled must not fire, which those of an hour ahead cannot show: once, behind the rounds, some are cancelled that are
//! due soon.

use std::time::{Duration, Instant};

use super::EXPERIMENT;
use super::rounds::{self, TimedRound};
use crate::measure::seats::Seats;
use crate::{Conditions, Failure, Measure, Measurement, Placement, Variant};

/// How many timers there are.
const COUNT: u64 = 100_000;

/// When the first timer is due that is cancelled.
const FAR: Duration = Duration::from_secs(3600);

/// How many timers are cancelled to see whether they fire, how soon they are due, and how much later one is that was not cancelled.
const SOON_COUNT: u64 = 1000;
const SOON: Duration = Duration::from_millis(100);
const BEHIND: Duration = Duration::from_millis(5);

/// What setting a timer may take, so that none is due before all are set: many times what it does.
const SETTING: Duration = Duration::from_micros(5);

/// A way of setting timers.
pub trait Timers: Copy + 'static {
    /// What keeps them.
    type Clockwork: Clockwork;

    /// Without timers.
    fn open(&self) -> Self::Clockwork;
}

/// What keeps timers.
pub trait Clockwork {
    /// Sets a timer for each number below `count`, after `delay`, which it is asked for each.
    fn set(&mut self, count: u64, delay: impl Fn(u64) -> Duration);

    /// Cancels all that were set; how many were so in time.
    fn cancel(&mut self) -> u64;

    /// Waits until all that were set have fired; their numbers, in any order.
    fn fired(&mut self) -> Vec<u64>;
}

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    Set,
    Cancel,
    Fire,
}

/// Timers set, cancelled and fired: `100000/2cores/timers-set`.
pub fn timers<T: Timers>(timers: T) -> Vec<Measure> {
    [
        (Deed::Set, "timers-set"),
        (Deed::Cancel, "timers-cancel"),
        (Deed::Fire, "timers-fire"),
    ]
    .into_iter()
    .map(|(deed, word)| {
        let variant = Variant::new(COUNT, Placement::TwoCores).with_extra(word);
        Measure::new(EXPERIMENT, variant, move |conditions| {
            run(timers, deed, conditions)
        })
    })
    .collect()
}

fn run<T: Timers>(timers: T, deed: Deed, conditions: &Conditions) -> Result<Measurement, Failure> {
    Seats::of(conditions.variant.placement)?.take_both()?;
    let mut clockwork = timers.open();
    let most = conditions.variant.count;
    let measurement = rounds::measure(most, conditions.limit, |count| {
        let time = match deed {
            Deed::Fire => fire(&mut clockwork, count)?,
            deed => set_and_cancel(&mut clockwork, count, deed)?,
        };
        Ok::<_, Failure>(TimedRound {
            operations: count,
            time,
        })
    })?;
    if deed != Deed::Fire {
        cancel_for_good(&mut clockwork, most.min(SOON_COUNT))?;
    }
    Ok(measurement)
}

fn set_and_cancel(
    clockwork: &mut impl Clockwork,
    count: u64,
    deed: Deed,
) -> Result<Duration, Failure> {
    let begin = Instant::now();
    clockwork.set(count, |number| FAR + Duration::from_millis(number));
    let all_set = Instant::now();
    let cancelled = clockwork.cancel();
    let setting = all_set - begin;
    let cancelling = all_set.elapsed();
    all_cancelled(cancelled, count)?;
    Ok(if deed == Deed::Set {
        setting
    } else {
        cancelling
    })
}

fn all_cancelled(cancelled: u64, count: u64) -> Result<(), Failure> {
    if cancelled == count {
        return Ok(());
    }
    Err(Failure::Unverified(format!(
        "{cancelled} of {count} timers were cancelled, before any was due"
    )))
}

/// How long it is until then.
fn until(due: Instant) -> Duration {
    due.saturating_duration_since(Instant::now())
}

/// Cancels timers that are due soon, and sees that of them and of one behind them that one alone fires.
fn cancel_for_good(clockwork: &mut impl Clockwork, count: u64) -> Result<(), Failure> {
    let due = Instant::now() + SOON;
    // The one behind has the number 0, so that of these is far: what fires tells no more than its number.
    clockwork.set(count, |number| if number == 0 { FAR } else { until(due) });
    let cancelled = clockwork.cancel();
    if Instant::now() >= due {
        return Err(Failure::Impossible(format!(
            "setting and cancelling {count} timers took longer than {SOON:?}, so that some were due before"
        )));
    }
    all_cancelled(cancelled, count)?;
    clockwork.set(1, |_| until(due + BEHIND));
    let numbers = clockwork.fired();
    if numbers != [0] {
        return Err(Failure::Unverified(format!(
            "{} timers have fired where {count} were cancelled, and one set behind them",
            numbers.len()
        )));
    }
    Ok(())
}

fn fire(clockwork: &mut impl Clockwork, count: u64) -> Result<Duration, Failure> {
    let room = SETTING * u32::try_from(count).unwrap_or(u32::MAX) + Duration::from_millis(5);
    let due = Instant::now() + room;
    clockwork.set(count, |_| until(due));
    if Instant::now() >= due {
        return Err(Failure::Impossible(format!(
            "setting {count} timers took longer than {room:?}, so that some were due before all were set"
        )));
    }
    let mut numbers = clockwork.fired();
    let end = Instant::now();
    let Some(late) = end.checked_duration_since(due) else {
        return Err(Failure::Unverified(format!(
            "{} timers have fired {:?} before they were due",
            numbers.len(),
            due - end
        )));
    };
    numbers.sort_unstable();
    if !numbers.iter().copied().eq(0..count) {
        return Err(Failure::Unverified(format!(
            "{} timers of {count} have fired, or some twice",
            numbers.len()
        )));
    }
    Ok(late)
}

#[cfg(test)]
mod tests {
    use std::mem;

    use super::*;

    /// Timers without a clock: when it is asked what has fired, a minute has gone by.
    #[derive(Debug, Clone, Copy)]
    struct Unpunctual {
        /// Those that are cancelled fire nevertheless.
        keeps: bool,
    }

    #[derive(Debug)]
    struct Timetable {
        keeps: bool,
        timers: Vec<(Instant, u64)>,
        /// How many were set last.
        count: u64,
    }

    impl Timers for Unpunctual {
        type Clockwork = Timetable;

        fn open(&self) -> Timetable {
            Timetable {
                keeps: self.keeps,
                timers: Vec::new(),
                count: 0,
            }
        }
    }

    impl Clockwork for Timetable {
        fn set(&mut self, count: u64, delay: impl Fn(u64) -> Duration) {
            self.count = count;
            let timer = |number| (Instant::now() + delay(number), number);
            self.timers.extend((0..count).map(timer));
        }

        fn cancel(&mut self) -> u64 {
            if !self.keeps {
                self.timers.clear();
            }
            self.count
        }

        fn fired(&mut self) -> Vec<u64> {
            let now = Instant::now() + Duration::from_secs(60);
            let timers = mem::take(&mut self.timers).into_iter();
            let (fired, others) = timers.partition(|(due, _)| *due <= now);
            self.timers = others;
            let fired: Vec<(Instant, u64)> = fired;
            fired.into_iter().map(|(_, number)| number).collect()
        }
    }

    /// What comes of it, where the machine does not hold up what has to be done in time.
    fn run_in_time(keeps: bool, deed: Deed) -> Result<Measurement, Failure> {
        let conditions = Conditions {
            variant: Variant::new(SOON_COUNT, Placement::Free),
            limit: Duration::ZERO,
        };
        loop {
            match run(Unpunctual { keeps }, deed, &conditions) {
                Err(Failure::Impossible(_)) => {}
                outcome => return outcome,
            }
        }
    }

    #[test]
    fn a_timer_that_fires_though_it_was_cancelled_is_noticed() {
        for deed in [Deed::Set, Deed::Cancel] {
            run_in_time(false, deed).unwrap();
            let outcome = run_in_time(true, deed);
            assert_eq!(
                outcome.unwrap_err(),
                Failure::Unverified(
                    "1000 timers have fired where 1000 were cancelled, and one set behind them"
                        .to_owned()
                )
            );
        }
    }

    #[test]
    fn timers_that_fire_before_they_are_due_are_noticed() {
        let failure = run_in_time(false, Deed::Fire).unwrap_err();
        assert!(
            failure.to_string().contains("before they were due"),
            "{failure}"
        );
    }
}
