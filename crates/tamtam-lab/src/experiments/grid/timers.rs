//! The rows about timers: `timers-set`, `timers-cancel`, `timers-fire`.
//!
//! COUNT timers are set, an hour ahead, a millisecond apart from each other; then all are cancelled: the times of the two
//! are the figures of the first two rows. In `timers-fire` all are due at one moment, and the time is that from this
//! moment until the last has fired. Each that fires tells its number, and each number must come once; one that was
//! cancelled must not have fired.

use std::time::{Duration, Instant};

use super::EXPERIMENT;
use super::rounds::{self, TimedRound};
use crate::measure::seats::Seats;
use crate::{Conditions, Failure, Measure, Measurement, Placement, Variant};

/// How many timers there are.
const COUNT: u64 = 100_000;

/// When the first timer is due that is cancelled.
const FAR: Duration = Duration::from_secs(3600);

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
    rounds::measure(conditions.variant.count, conditions.limit, |count| {
        let time = match deed {
            Deed::Fire => fire(&mut clockwork, count)?,
            deed => set_and_cancel(&mut clockwork, count, deed)?,
        };
        Ok(TimedRound {
            operations: count,
            time,
        })
    })
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
    if cancelled != count {
        return Err(Failure::Unverified(format!(
            "{cancelled} of {count} timers were cancelled, an hour before they were due"
        )));
    }
    Ok(if deed == Deed::Set {
        setting
    } else {
        cancelling
    })
}

fn fire(clockwork: &mut impl Clockwork, count: u64) -> Result<Duration, Failure> {
    let room = SETTING * u32::try_from(count).unwrap_or(u32::MAX) + Duration::from_millis(5);
    let due = Instant::now() + room;
    clockwork.set(count, |_| due.saturating_duration_since(Instant::now()));
    if Instant::now() >= due {
        return Err(Failure::Impossible(format!(
            "setting {count} timers took longer than {room:?}, so that some were due before all were set"
        )));
    }
    let mut numbers = clockwork.fired();
    let late = due.elapsed();
    numbers.sort_unstable();
    if !numbers.iter().copied().eq(0..count) {
        return Err(Failure::Unverified(format!(
            "{} timers of {count} have fired, or some twice",
            numbers.len()
        )));
    }
    Ok(late)
}
