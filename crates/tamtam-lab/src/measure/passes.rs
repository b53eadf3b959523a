//! The passes of an experiment of turns, and how they share the time.

use std::time::{Duration, Instant};

use crate::measure::pace::Series;
use crate::measure::statistics::percentile;
use crate::measure::usage::{Usage, metrics_between};
use crate::{Conditions, Measurement, Metric, Placement};

/// At most so many turns pass between two looks at the clock. Enough to make the look cheap beside the fastest turns
/// (25 ns to 64 times 100), and few enough that turns which suddenly cost a time slice each do not overrun the limit.
pub(crate) const LONGEST_CHUNK: u64 = 64;

/// How many turns the sampled pass remembers at most; it stops there.
const SAMPLES: usize = 1 << 20;

/// How the three passes of turns share the time limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budgets {
    pub(crate) warm_up: Duration,
    pub(crate) plain: Duration,
    pub(crate) sampled: Duration,
}

impl Budgets {
    pub(crate) fn of(conditions: &Conditions) -> Self {
        // Stalls are what the hogs cause, and they are rare: their pass gets half the time.
        let sampled_share = if conditions.variant.placement == Placement::Hog {
            0.5
        } else {
            0.25
        };
        let warm_up = conditions.limit.mul_f64(0.05);
        let sampled = conditions.limit.mul_f64(sampled_share);
        Budgets {
            warm_up,
            plain: conditions.limit.saturating_sub(warm_up + sampled),
            sampled,
        }
    }
}

/// What the passes of turns gave.
#[derive(Debug)]
pub(crate) struct Passes {
    /// What the process did first, before the plain pass.
    pub(crate) warm_up: Series,
    /// What was used before the plain pass.
    pub(crate) before: Option<Usage>,
    /// The plain pass.
    pub(crate) series: Series,
    /// What was used when it ended.
    pub(crate) after: Option<Usage>,
    /// The sampled pass: the nanoseconds of each turn.
    pub(crate) samples: Vec<u32>,
}

impl Passes {
    /// The figures, in the order of the experiment.
    pub(crate) fn measurement(mut self, placement: Placement) -> Measurement {
        let mean = self.series.mean_nanoseconds();
        let each = if placement == Placement::Hog {
            mean
        } else {
            self.series.median_nanoseconds()
        };
        let mut metrics = vec![
            Metric::new("ns_per_op", "ns", each),
            Metric::new("mean_ns_per_op", "ns", mean),
        ];
        let first = self.warm_up.first.and_then(self.series.first);
        metrics.extend(
            first
                .nanoseconds()
                .map(|first| Metric::new("first_ns_per_op", "ns", first)),
        );
        metrics.extend(metrics_between(
            self.before,
            self.after,
            self.series.operations,
        ));
        if let (Some(p999), Some(longest)) = (
            percentile(&mut self.samples, 0.999),
            self.samples.iter().max(),
        ) {
            metrics.push(Metric::new("p999_ns", "ns", f64::from(p999)));
            metrics.push(Metric::new("max_ns", "ns", f64::from(*longest)));
        }
        Measurement {
            operations: self.series.operations,
            elapsed: self.series.elapsed,
            metrics,
            note: None,
        }
    }
}

/// The sampled pass: the time of each turn.
#[derive(Debug)]
pub(crate) struct Samples {
    start: Instant,
    last: Duration,
    budget: Duration,
    nanoseconds: Vec<u32>,
}

impl Samples {
    /// Starts the clock.
    pub(crate) fn start(budget: Duration) -> Self {
        // Written once beforehand, so that no turn pays for fresh memory.
        let mut nanoseconds = vec![u32::MAX; SAMPLES];
        nanoseconds.clear();
        Samples {
            start: Instant::now(),
            last: Duration::ZERO,
            budget,
            nanoseconds,
        }
    }

    /// Whether there is time and room for another turn.
    pub(crate) fn wants_more(&self) -> bool {
        self.last < self.budget && self.nanoseconds.len() < SAMPLES
    }

    /// A turn is done.
    pub(crate) fn done(&mut self) {
        let now = self.start.elapsed();
        let time = (now - self.last).as_nanos();
        self.nanoseconds
            .push(u32::try_from(time).unwrap_or(u32::MAX));
        self.last = now;
    }

    /// The time of each turn.
    pub(crate) fn finish(self) -> Vec<u32> {
        self.nanoseconds
    }
}
