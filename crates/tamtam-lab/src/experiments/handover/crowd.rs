//! `handover`, extra `crowd`: eight pairs take strict turns at once, on two cores.
//!
//! Every caller runs on the first processor and every answerer on the second, so that each round trip crosses over and
//! sixteen threads compete for two cores. The first figure is the sum of all round trips a second (more is better);
//! `slowest_to_median` is the slowest pair's rate by the median pair's, and shows whether some pair starves.

use std::sync::{Arc, Barrier, mpsc};
use std::thread;

use crate::measure::pace::Series;
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
            let outcome = seat.and_then(|()| caller.turns(count, limit));
            // The main thread may have given up on the first failure.
            let _ = report.send(outcome.and_then(|series| caller.stop().map(|()| series)));
        });
    }
    drop(report);

    start.wait();
    let before = Usage::of_process();
    let series = reports
        .iter()
        .take(PAIRS)
        .collect::<Result<Vec<Series>, Failure>>()?;
    let after = Usage::of_process();
    if series.len() < PAIRS {
        return Err(Failure::Unverified(
            "a pair ended without a report".to_owned(),
        ));
    }

    let turns = series.iter().map(|pair| pair.operations).sum();
    let elapsed = series
        .iter()
        .map(|pair| pair.elapsed)
        .max()
        .unwrap_or_default();
    let mut rates: Vec<f64> = series
        .iter()
        .map(|pair| pair.operations as f64 / pair.elapsed.as_secs_f64())
        .collect();
    let total: f64 = rates.iter().sum();
    let slowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let middle = median(&mut rates).unwrap_or(f64::NAN);
    let mut metrics = vec![
        Metric::new("ops_per_s", "1/s", total),
        Metric::new("slowest_to_median", "ratio", slowest / middle),
        Metric::new("ns_per_op", "ns", 1e9 / total),
    ];
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
    use std::time::Duration;

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
