//! Rounds of many messages: how many each has, and what comes of their times.

use std::time::{Duration, Instant};

use crate::measure::pace::FIRST;
use crate::measure::statistics::median;
use crate::measure::usage::{Usage, metrics_between, peak_memory};
use crate::{Measurement, Metric};

/// A run with less time than this, such as a test's, has a first round of a tenth of that.
const SHORTEST: Duration = Duration::from_millis(100);

/// Into how many rounds the time limit is divided, where they do not become too large.
const ROUNDS: u32 = 12;

/// So many rounds are made behind the first, however long they take.
const FEWEST_ROUNDS: usize = 2;

/// A round has at most so many times the messages of the one before.
const MOST_GROWTH: u64 = 8;

/// What one round did.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimedRound {
    /// How many operations.
    pub(super) operations: u64,
    /// From the first end that began to the last that was done.
    pub(super) time: Duration,
}

/// Makes rounds for as long as `limit` says, three at least; `round` is told how many operations it is to have: in the
/// first [`FIRST`], then as many as take a twelfth of the limit, and never more than `most`.
///
/// `ns_per_op` is the median of the rounds behind the first, `mean_ns_per_op` their mean, and `first_ns_per_op` the first
/// round of the fresh process. CPU time is that of all rounds but the first.
///
/// # Errors
/// The failure of the first round that has one.
pub(super) fn measure<E>(
    most: u64,
    limit: Duration,
    mut round: impl FnMut(u64) -> Result<TimedRound, E>,
) -> Result<Measurement, E> {
    let start = Instant::now();
    let first = if limit < SHORTEST { FIRST / 10 } else { FIRST };
    let first = round(first.min(most))?;
    let before = Usage::of_process();
    let mut rounds: Vec<TimedRound> = Vec::new();
    let mut last = first;
    while rounds.len() < FEWEST_ROUNDS || start.elapsed() < limit {
        last = round(next(last, most, limit / ROUNDS))?;
        rounds.push(last);
    }
    let after = Usage::of_process();

    let operations = rounds.iter().map(|round| round.operations).sum();
    let elapsed: Duration = rounds.iter().map(|round| round.time).sum();
    let mut each: Vec<f64> = rounds.iter().map(|round| round.each()).collect();
    let mut metrics = vec![
        Metric::new("ns_per_op", "ns", median(&mut each).unwrap_or(f64::NAN)),
        Metric::new(
            "mean_ns_per_op",
            "ns",
            elapsed.as_nanos() as f64 / operations as f64,
        ),
        Metric::new("first_ns_per_op", "ns", first.each()),
    ];
    metrics.extend(metrics_between(before, after, operations));
    metrics.extend(peak_memory());
    Ok(Measurement {
        operations,
        elapsed,
        metrics,
        note: None,
    })
}

impl TimedRound {
    /// The nanoseconds of one operation.
    fn each(self) -> f64 {
        self.time.as_nanos() as f64 / self.operations.max(1) as f64
    }
}

/// How many operations the round behind `last` is to have, to take about `time`.
fn next(last: TimedRound, most: u64, time: Duration) -> u64 {
    let fitting = (time.as_nanos() as f64 / last.each().max(0.1)) as u64;
    fitting
        .min(last.operations.saturating_mul(MOST_GROWTH))
        .clamp(1, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds in which an operation takes so many nanoseconds.
    fn rounds_of(each: &[u64], most: u64, limit: Duration) -> (Measurement, Vec<u64>) {
        let (mut counts, mut times) = (Vec::new(), each.iter().copied());
        let measurement = measure(most, limit, |operations| {
            counts.push(operations);
            let each = times.next().unwrap_or(1);
            Ok::<_, ()>(TimedRound {
                operations,
                time: Duration::from_nanos(each * operations),
            })
        });
        (measurement.unwrap(), counts)
    }

    #[test]
    fn median_mean_and_first_stand_side_by_side() {
        // Behind the first, rounds have as many operations as the limit has room for, and one at least.
        let (measurement, counts) = rounds_of(&[500, 100, 40], FIRST, Duration::ZERO);
        assert_eq!(counts, [FIRST / 10, 1, 1]);
        assert_eq!(measurement.value("ns_per_op"), Some(70.0));
        assert_eq!(measurement.value("mean_ns_per_op"), Some(70.0));
        assert_eq!(measurement.value("first_ns_per_op"), Some(500.0));
        assert_eq!(measurement.operations, 2);
    }

    #[test]
    fn a_round_takes_its_share_of_the_limit_grows_slowly_and_has_a_most() {
        let second = Duration::from_secs(1);
        let round = |operations, each| TimedRound {
            operations,
            time: Duration::from_nanos(operations * each),
        };
        assert_eq!(next(round(10_000, 1_000), 1_000_000, second / 12), 80_000);
        assert_eq!(next(round(10_000, 50_000), 1_000_000, second / 12), 1_666);
        assert_eq!(next(round(900_000, 10), 1_000_000, second / 12), 1_000_000);
        assert_eq!(next(round(10, 1 << 40), 100, second / 12), 1);
    }

    #[test]
    fn a_round_that_fails_ends_it() {
        let mut count = 0;
        let outcome = measure(1, Duration::from_secs(60), |_| {
            count += 1;
            Err::<TimedRound, _>("lost")
        });
        assert_eq!((outcome.unwrap_err(), count), ("lost", 1));
    }
}
