//! What one operation took in each of many batches.

use std::time::{Duration, Instant};

use crate::Failure;
use crate::measure::statistics::median;

/// A batch takes at least as long, so that the two looks at the clock cost less than one part in a hundred.
const BATCH: Duration = Duration::from_micros(20);

/// What takes as long alone is warm soon enough.
const WARM_AFTER: Duration = Duration::from_millis(100);

/// So many batches are timed, however long they take.
const FEWEST_BATCHES: usize = 3;

/// But two are enough if they take as long: there are forms that need seconds for a million rows.
const VERY_LONG: Duration = Duration::from_secs(1);

/// What one operation took, in each of many batches.
#[derive(Debug)]
pub(super) struct Samples {
    /// Nanoseconds an operation.
    batches: Vec<f64>,
    /// How many operations there were.
    pub(super) operations: u64,
    /// How long they took.
    pub(super) elapsed: Duration,
}

impl Samples {
    /// Times `operation` for about `budget`, and lets `check` look at what the last of each batch gave, outside the
    /// measured time. A batch that was made to find out how long one takes is not counted, unless it was very long.
    pub(super) fn take<T>(
        budget: Duration,
        mut operation: impl FnMut() -> Result<T, Failure>,
        mut check: impl FnMut(T) -> Result<(), Failure>,
    ) -> Result<Samples, Failure> {
        let mut timed = |batch| {
            let start = Instant::now();
            let last = repeat(batch, &mut operation)?;
            let time = start.elapsed();
            check(last)?;
            Ok::<_, Failure>(time)
        };
        let mut samples = Samples {
            batches: Vec::new(),
            operations: 0,
            elapsed: Duration::ZERO,
        };
        let mut batch = 1;
        loop {
            let time = timed(batch)?;
            if time >= WARM_AFTER {
                samples.add(batch, time);
            }
            if time >= BATCH {
                break;
            }
            batch *= 2;
        }
        let begin = Instant::now();
        let wants_more = |samples: &Samples| match samples.batches.len() {
            0 | 1 => true,
            batches if batches < FEWEST_BATCHES => samples.elapsed < VERY_LONG,
            _ => samples.elapsed < budget && begin.elapsed() < 3 * budget,
        };
        while wants_more(&samples) {
            let time = timed(batch)?;
            samples.add(batch, time);
        }
        Ok(samples)
    }

    fn add(&mut self, batch: u64, time: Duration) {
        self.batches.push(time.as_nanos() as f64 / batch as f64);
        self.operations += batch;
        self.elapsed += time;
    }

    pub(super) fn median_microseconds(&self) -> f64 {
        median(&mut self.batches.clone()).unwrap_or(f64::NAN) / 1e3
    }

    pub(super) fn mean_microseconds(&self) -> f64 {
        self.batches.iter().sum::<f64>() / self.batches.len() as f64 / 1e3
    }

    /// The standard deviation of the batches.
    pub(super) fn deviation_microseconds(&self) -> f64 {
        let mean = self.mean_microseconds() * 1e3;
        let squares: f64 = self
            .batches
            .iter()
            .map(|batch| (batch - mean).powi(2))
            .sum();
        (squares / (self.batches.len() - 1) as f64).sqrt() / 1e3
    }
}

/// Does it `times` times, at least once; each result is dropped before the next one is made, but for the last.
fn repeat<T>(times: u64, operation: &mut impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
    for _ in 1..times {
        operation()?;
    }
    operation()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_operations_are_timed_together_and_the_last_of_each_batch_is_looked_at() {
        let (mut done, mut checked) = (0_u64, 0);
        let samples = Samples::take(
            Duration::from_millis(2),
            || {
                done += 1;
                Ok(std::hint::black_box(done))
            },
            |_| {
                checked += 1;
                Ok(())
            },
        )
        .unwrap();
        assert!(samples.batches.len() >= FEWEST_BATCHES && checked > samples.batches.len());
        assert!(samples.operations > samples.batches.len() as u64);
        assert!(done > samples.operations);
        assert!(samples.median_microseconds() < 20.0);
    }

    #[test]
    fn slow_operations_are_timed_one_by_one_three_times() {
        let mut done = 0;
        let samples = Samples::take(
            Duration::ZERO,
            || {
                done += 1;
                std::thread::sleep(Duration::from_micros(50));
                Ok(())
            },
            |()| Ok(()),
        )
        .unwrap();
        assert_eq!((samples.operations, done), (3, 4));
        assert!(samples.mean_microseconds() >= 50.0);
    }

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        let samples = Samples {
            batches: vec![1000.0, 3000.0],
            operations: 2,
            elapsed: Duration::from_micros(4),
        };
        assert_eq!(samples.mean_microseconds(), 2.0);
        assert_eq!(samples.deviation_microseconds(), 2.0_f64.sqrt());
    }

    #[test]
    fn a_result_that_is_refused_ends_it() {
        let refused = Failure::Unverified("another table".to_owned());
        let outcome = Samples::take(
            Duration::from_secs(60),
            || Ok(()),
            |()| Err(refused.clone()),
        );
        assert_eq!(outcome.unwrap_err(), refused);
    }
}
