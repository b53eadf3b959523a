//! How long a loop goes on before it looks at the clock.

use std::time::{Duration, Instant};

use crate::measure::statistics::median;

/// How many operations of a fresh process are told apart from the rest: those before caches are warm and waits have
/// learned.
pub(crate) const FIRST: u64 = 10_000;

/// A chunk this long is not made longer.
const CHUNK_TIME: Duration = Duration::from_micros(20);

/// The pace of a measured loop: how many operations to do before the next look at the clock, and when to stop.
///
/// Fast operations are done in chunks, so that the look is cheap beside them; a chunk grows while it is short and shrinks
/// again when its operations suddenly take long, so that the loop does not overrun its time.
#[derive(Debug)]
pub(crate) struct Pace {
    start: Instant,
    budget: Duration,
    batch: u64,
    longest_chunk: u64,
    chunk: u64,
    last: Duration,
    in_batch: u64,
    batch_time: Duration,
    series: Series,
}

impl Pace {
    /// Starts the clock for a loop of about `budget`, whose operations are grouped in batches of `batch` for the median,
    /// with at most `longest_chunk` operations between two looks at the clock.
    pub(crate) fn start(batch: u64, budget: Duration, longest_chunk: u64) -> Self {
        Pace {
            start: Instant::now(),
            budget,
            batch,
            longest_chunk,
            chunk: 1,
            last: Duration::ZERO,
            in_batch: 0,
            batch_time: Duration::ZERO,
            series: Series::default(),
        }
    }

    /// How many operations are to be done next; at least one.
    pub(crate) fn chunk(&self) -> u64 {
        self.chunk.min(self.batch - self.in_batch)
    }

    /// Looks at the clock when the operations of a [`chunk`](Pace::chunk) are done; says whether there is time for more.
    pub(crate) fn done(&mut self, operations: u64) -> bool {
        let chunk_time = self.look();
        self.series.operations += operations;
        self.series.elapsed += chunk_time;
        self.series.first.add(operations, chunk_time);
        self.in_batch += operations;
        self.batch_time += chunk_time;
        if self.in_batch == self.batch {
            self.series
                .batches
                .push(self.batch_time.as_nanos() as f64 / self.batch as f64);
            (self.in_batch, self.batch_time) = (0, Duration::ZERO);
        }
        self.last < self.budget
    }

    /// The same for a chunk that is to count for nothing.
    pub(crate) fn skip(&mut self) -> bool {
        self.look();
        self.last < self.budget
    }

    /// The time since the look before, which decides how long the next chunk is.
    fn look(&mut self) -> Duration {
        let now = self.start.elapsed();
        let chunk_time = now - self.last;
        self.last = now;
        if chunk_time < CHUNK_TIME {
            self.chunk = (self.chunk * 2).min(self.longest_chunk);
        } else if chunk_time > 100 * CHUNK_TIME {
            self.chunk = (self.chunk / 2).max(1);
        }
        chunk_time
    }

    /// How many operations have counted.
    pub(crate) fn operations(&self) -> u64 {
        self.series.operations
    }

    /// How long ago the loop was started, at the last look.
    pub(crate) fn elapsed(&self) -> Duration {
        self.last
    }

    /// What was done.
    pub(crate) fn finish(self) -> Series {
        self.series
    }
}

/// The figures of one measured loop.
#[derive(Debug, Default)]
pub(crate) struct Series {
    /// How many operations were done.
    pub(crate) operations: u64,
    /// How long they took together.
    pub(crate) elapsed: Duration,
    /// The first of them.
    pub(crate) first: First,
    // The nanoseconds an operation took in each complete batch.
    batches: Vec<f64>,
}

/// The first [`FIRST`] operations of a process, or as many as there were.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct First {
    operations: u64,
    elapsed: Duration,
}

impl First {
    /// Counts further operations, unless there were enough before.
    pub(crate) fn add(&mut self, operations: u64, time: Duration) {
        if self.operations < FIRST {
            self.operations += operations;
            self.elapsed += time;
        }
    }

    /// Goes on with the first operations of the next loop.
    pub(crate) fn and_then(mut self, next: First) -> Self {
        self.add(next.operations, next.elapsed);
        self
    }

    /// Nanoseconds of each; `None` if there was none.
    pub(crate) fn nanoseconds(self) -> Option<f64> {
        (self.operations > 0).then(|| self.elapsed.as_nanos() as f64 / self.operations as f64)
    }
}

impl Series {
    /// Adds what another loop did.
    pub(crate) fn join(&mut self, other: Series) {
        self.operations += other.operations;
        self.elapsed += other.elapsed;
        self.batches.extend(other.batches);
    }

    pub(crate) fn mean_nanoseconds(&self) -> f64 {
        self.elapsed.as_nanos() as f64 / self.operations as f64
    }

    /// Over the complete batches; the mean if time was too short for one.
    pub(crate) fn median_nanoseconds(&self) -> f64 {
        median(&mut self.batches.clone()).unwrap_or_else(|| self.mean_nanoseconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_grow_and_never_cross_the_end_of_a_batch() {
        let mut pace = Pace::start(10, Duration::from_secs(3600), 4);
        let mut chunks = Vec::new();
        for _ in 0..6 {
            chunks.push(pace.chunk());
            assert!(pace.done(pace.chunk()));
        }
        assert_eq!(chunks[0], 1);
        assert!(chunks.iter().all(|&chunk| (1..=4).contains(&chunk)));
        let series = pace.finish();
        assert_eq!(series.operations, chunks.iter().sum::<u64>());
        assert_eq!(series.batches.len() as u64, series.operations / 10);
        let mean = series.elapsed.as_nanos() as f64 / series.operations as f64;
        assert_eq!(series.mean_nanoseconds(), mean);
    }

    #[test]
    fn what_is_skipped_counts_for_nothing() {
        let mut pace = Pace::start(2, Duration::from_secs(3600), 1);
        assert!(pace.done(1));
        let first = pace.series.elapsed;
        while pace.elapsed() < first + Duration::from_millis(5) {
            assert!(pace.skip());
        }
        assert!(pace.done(1));
        let whole = pace.elapsed();
        assert_eq!(pace.operations(), 2);
        let series = pace.finish();
        assert!(series.elapsed + Duration::from_millis(5) <= whole);
        assert_eq!(series.batches, [series.elapsed.as_nanos() as f64 / 2.0]);
    }

    #[test]
    fn the_first_operations_stand_apart() {
        let mut first = First::default();
        assert_eq!(first.nanoseconds(), None);
        first.add(4_000, Duration::from_micros(8));
        let mut next = First::default();
        next.add(FIRST, Duration::from_micros(34));
        next.add(FIRST, Duration::from_secs(1));
        let first = first.and_then(next).and_then(next);
        assert_eq!(
            first.nanoseconds(),
            Some(3.0),
            "4,000 in 8 µs and 10,000 in 34 µs"
        );
    }

    #[test]
    fn loops_are_joined() {
        let mut all = Series::default();
        for _ in 0..2 {
            let mut pace = Pace::start(1, Duration::ZERO, 1);
            pace.done(1);
            all.join(pace.finish());
        }
        assert_eq!((all.operations, all.batches.len()), (2, 2));
        assert_eq!(
            all.elapsed.as_nanos() as f64,
            all.batches.iter().sum::<f64>()
        );
    }

    #[test]
    fn a_budget_that_is_used_up_ends_the_loop() {
        let mut pace = Pace::start(10, Duration::ZERO, 64);
        assert!(!pace.done(1));
        assert_eq!(pace.finish().operations, 1);
    }
}
