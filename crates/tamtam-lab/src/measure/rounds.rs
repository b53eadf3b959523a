//! Rounds of actors that are made, do their work, and end.

use std::time::{Duration, Instant};

use crate::measure::statistics::median;
use crate::measure::usage::{Usage, metrics_between, peak_memory};
use crate::{Failure, Measurement, Metric};

/// So many rounds are made however long they take: the first, and two to compare.
const ROUNDS: usize = 3;

/// The times of one round of actors that are made, do their work, and end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round {
    /// How long it took to make the actors.
    pub(crate) build: Duration,
    /// How long it took from the first actor that was made to the last message that was handled.
    pub(crate) whole: Duration,
}

/// Makes rounds of `operations` each for as long as `limit` says, three at least.
///
/// `ns_per_op` and `total_us` are those of the steady state: the median of the later half of all rounds but the first,
/// which is `first_us` and, for each operation, `first_ns_per_op`; `mean_ns_per_op` is the mean of all but the first,
/// `best_us` is the best of the others, `build_us` the making of actors in the steady state.
///
/// # Errors
/// The failure of the first round that has one.
pub(crate) fn measure(
    operations: u64,
    limit: Duration,
    mut round: impl FnMut() -> Result<Round, Failure>,
) -> Result<Measurement, Failure> {
    let start = Instant::now();
    let first = round()?;
    let before = Usage::of_process();
    let mut rounds = Vec::new();
    while rounds.len() + 1 < ROUNDS || start.elapsed() < limit {
        rounds.push(round()?);
    }
    let after = Usage::of_process();

    let elapsed: Duration = rounds.iter().map(|round| round.whole).sum();
    let all = operations * rounds.len() as u64;
    let microseconds = |time: Duration| time.as_nanos() as f64 / 1e3;
    // A contender that compiles while it runs is compared by what it comes to.
    let steady = &rounds[rounds.len() / 2..];
    let middle = |time: fn(&Round) -> Duration| {
        let mut times: Vec<f64> = steady
            .iter()
            .map(|round| microseconds(time(round)))
            .collect();
        median(&mut times).unwrap_or(f64::NAN)
    };
    let total = middle(|round| round.whole);
    let best = rounds.iter().map(|round| round.whole).min();
    let mut metrics = vec![
        Metric::new("ns_per_op", "ns", total * 1e3 / operations as f64),
        Metric::new(
            "mean_ns_per_op",
            "ns",
            elapsed.as_nanos() as f64 / all as f64,
        ),
        Metric::new(
            "first_ns_per_op",
            "ns",
            first.whole.as_nanos() as f64 / operations as f64,
        ),
        Metric::new("total_us", "µs", total),
        Metric::new("first_us", "µs", microseconds(first.whole)),
        Metric::new("best_us", "µs", microseconds(best.unwrap_or_default())),
        Metric::new("build_us", "µs", middle(|round| round.build)),
    ];
    metrics.extend(metrics_between(before, after, all));
    metrics.extend(peak_memory());
    Ok(Measurement {
        operations: all,
        elapsed,
        metrics,
        note: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds_of(milliseconds: &[u64]) -> Measurement {
        let mut times = milliseconds.iter().copied();
        let round = || {
            let whole = Duration::from_millis(times.next().unwrap_or_default());
            Ok(Round {
                build: whole / 4,
                whole,
            })
        };
        measure(1000, Duration::ZERO, round).unwrap()
    }

    #[test]
    fn the_first_round_stands_apart() {
        let measurement = rounds_of(&[50, 8, 4]);
        let value = |metric| measurement.value(metric).unwrap();
        assert_eq!((value("first_us"), value("best_us")), (50e3, 4e3));
        assert_eq!((value("total_us"), value("build_us")), (4e3, 1e3));
        assert_eq!(value("ns_per_op"), 4e3);
        assert_eq!(
            (value("mean_ns_per_op"), value("first_ns_per_op")),
            (6e3, 50e3)
        );
        assert_eq!(measurement.operations, 2000);
        assert_eq!(measurement.elapsed, Duration::from_millis(12));
    }

    #[test]
    fn a_round_that_fails_ends_it() {
        let failure = Failure::Unverified("lost".to_owned());
        let mut count = 0;
        let outcome = measure(1, Duration::from_secs(60), || {
            count += 1;
            Err(failure.clone())
        });
        assert_eq!((outcome, count), (Err(failure), 1));
    }
}
