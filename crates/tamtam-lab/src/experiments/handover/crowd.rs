//! `handover`, extra `crowd`: eight pairs take strict turns at once, on two cores.
//!
//! Every caller runs on the first processor and every answerer on the second, so that each round trip crosses over and
//! sixteen threads compete for two cores. The first figure is how many round trips all pairs make in a second (more is better), from
//! the beginning of the first pair to the end of the last, by one clock: a pair begins when its thread is let in, which may be when
//! others are done. `slowest_to_median` is the slowest pair's rate by the median pair's, each in its own time, and shows whether
//! some pair starves.

use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::measure::seats::Seats;
use crate::measure::statistics::median;
use crate::measure::usage::{Usage, metrics_between};
use crate::turns::{COUNT, Caller, EXPERIMENT};
use crate::{
    Conditions, Failure, Handover, Measure, Measurement, Metric, Placement, Turn, Variant,
};

const PAIRS: usize = 8;

/// Eight pairs at once: `1000/2cores/crowd`.
pub fn measure<H: Handover<Turn>>(handover: H) -> Measure {
    let variant = Variant::new(COUNT, Placement::TwoCores).with_extra("crowd");
    Measure::new(EXPERIMENT, variant, move |conditions| {
        run(handover, conditions)
    })
}

/// What one pair did.
#[derive(Debug, Clone, Copy)]
struct PairTurns {
    turns: u64,
    begin: Instant,
    end: Instant,
}

impl PairTurns {
    /// Its turns a second, in its own time.
    fn rate(&self) -> f64 {
        self.turns as f64 / (self.end - self.begin).as_secs_f64()
    }
}

/// What all pairs did together: how many turns, in what time, and the figures.
fn sum(pairs: &[PairTurns]) -> (u64, Duration, Vec<Metric>) {
    let turns: u64 = pairs.iter().map(|pair| pair.turns).sum();
    let begin = pairs.iter().map(|pair| pair.begin).min();
    let end = pairs.iter().map(|pair| pair.end).max();
    let elapsed = end
        .zip(begin)
        .map_or(Duration::ZERO, |(end, begin)| end - begin);
    let seconds = elapsed.as_secs_f64();
    let mut rates: Vec<f64> = pairs.iter().map(PairTurns::rate).collect();
    let slowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let middle = median(&mut rates).unwrap_or(f64::NAN);
    let metrics = vec![
        Metric::new("ops_per_s", "1/s", turns as f64 / seconds),
        Metric::new("slowest_to_median", "ratio", slowest / middle),
        Metric::new("ns_per_op", "ns", seconds * 1e9 / turns as f64),
    ];
    (turns, elapsed, metrics)
}

fn run<H: Handover<Turn>>(handover: H, conditions: &Conditions) -> Result<Measurement, Failure> {
    let seats = Seats::of(conditions.variant.placement)?;
    let start = Arc::new(Barrier::new(PAIRS + 1));
    let (report, reports) = mpsc::channel();
    for _ in 0..PAIRS {
        let caller = Caller::<Turn, _>::connect(handover, seats.far)?;
        let (start, report) = (Arc::clone(&start), report.clone());
        let (count, limit) = (conditions.variant.count, conditions.limit);
        thread::spawn(move || {
            let mut caller = caller;
            let seat = seats.near.take();
            // Also after a failure: the others wait for all.
            start.wait();
            let outcome = seat.and_then(|()| {
                let begin = Instant::now();
                let turns = caller.turns(count, limit)?.operations;
                let end = Instant::now();
                caller.stop()?;
                Ok(PairTurns { turns, begin, end })
            });
            // The main thread may have given up on the first failure.
            let _ = report.send(outcome);
        });
    }
    drop(report);

    // Before the pairs begin: this thread, too, may be let in when some are done.
    let before = Usage::of_process();
    start.wait();
    let pairs = reports
        .iter()
        .take(PAIRS)
        .collect::<Result<Vec<PairTurns>, Failure>>()?;
    let after = Usage::of_process();
    if pairs.len() < PAIRS {
        return Err(Failure::Unverified(
            "a pair ended without a report".to_owned(),
        ));
    }

    let (turns, elapsed, mut metrics) = sum(&pairs);
    metrics.extend(metrics_between(before, after, turns));
    Ok(Measurement {
        operations: turns,
        elapsed,
        metrics,
        note: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::QueuePair;
    use crate::harness::broken::{Fault, Faulty, Sound};

    fn conditions() -> Conditions {
        Conditions {
            variant: Variant::new(10, Placement::Free),
            limit: Duration::from_millis(40),
        }
    }

    #[test]
    fn all_pairs_are_counted() {
        let measurement = run(
            QueuePair {
                queue: Sound,
                capacity: 1,
            },
            &conditions(),
        )
        .unwrap();
        assert!(measurement.operations >= PAIRS as u64);
        let share = measurement.value("slowest_to_median").unwrap();
        assert!(share > 0.0 && share <= 1.0, "{share}");
        assert_eq!(measurement.metrics[0].metric, "ops_per_s");
    }

    #[test]
    fn pairs_that_run_one_after_the_other_are_not_taken_to_run_at_once() {
        let (begin, each) = (Instant::now(), Duration::from_millis(1));
        let pairs: Vec<PairTurns> = (0..PAIRS as u32)
            .map(|before| PairTurns {
                turns: 1000,
                begin: begin + before * each,
                end: begin + (before + 1) * each,
            })
            .collect();
        let (turns, elapsed, metrics) = sum(&pairs);
        assert_eq!((turns, elapsed), (8000, 8 * each));
        let values = metrics.iter().map(|metric| metric.value.round());
        assert!(values.eq([1e6, 1.0, 1000.0]), "{metrics:?}");
    }

    #[test]
    fn a_fault_in_the_pairs_is_noticed() {
        let pair = QueuePair {
            queue: Faulty(Fault::Stale(1)),
            capacity: 4,
        };
        assert!(matches!(
            run(pair, &conditions()),
            Err(Failure::Unverified(_))
        ));
    }
}
