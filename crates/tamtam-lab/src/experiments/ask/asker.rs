//! The side that asks, and checks each answer.

use std::time::{Duration, Instant};

use super::counter::answer;
use super::meter::Meter;
use crate::measure::pace::{First, Pace, Series};
use crate::measure::passes::LONGEST_CHUNK;
use crate::{Failure, Measurement, Metric};

/// So many questions are asked before the clock starts.
const WARM_UP: u64 = 1000;

/// The side that asks: it says what to ask next, checks each answer, and keeps the time.
///
/// A contender takes it to where the questions come from, and there does for as long as [`next`](Asker::next) gives one:
/// ask it, and [`accept`](Asker::accept) the answer.
#[derive(Debug)]
pub struct Asker {
    batch: u64,
    limit: Duration,
    number: u64,
    /// How many questions may be asked before the next look at the clock.
    left: u64,
    chunk: u64,
    /// When the first question was asked, and what those before the clock took.
    begin: Option<Instant>,
    first: First,
    pace: Option<Pace>,
    meter: Meter,
    outcome: Option<Result<Series, Failure>>,
}

impl Asker {
    pub(super) fn new(batch: u64, limit: Duration) -> Self {
        Asker {
            batch,
            limit,
            number: 0,
            left: WARM_UP,
            chunk: WARM_UP,
            begin: None,
            first: First::default(),
            pace: None,
            meter: Meter::default(),
            outcome: None,
        }
    }

    /// Has what the actor's process uses of the machine counted, too, which is to be said before the first question: the actor is in
    /// another process than this one.
    ///
    /// `used` says what that has used so far, in nanoseconds of processors, voluntary and involuntary switches; `None` where the system
    /// does not tell. It is called just before and after the questions that count, outside of what is timed, and dropped with this.
    pub fn count_process(
        &mut self,
        used: impl FnMut() -> Option<[u64; 3]> + Send + Sync + 'static,
    ) {
        self.meter.count_process(used);
    }

    /// The next question; `None` when enough was asked, or an answer was wrong.
    // It is no iterator: each question waits for the answer to the one before.
    #[allow(clippy::should_implement_trait)]
    #[inline]
    pub fn next(&mut self) -> Option<u64> {
        if self.left == 0 && !self.look() {
            return None;
        }
        if self.number == 0 {
            self.begin.get_or_insert_with(Instant::now);
        }
        self.left -= 1;
        Some(self.number)
    }

    /// Takes the answer to the last question.
    #[inline]
    pub fn accept(&mut self, found: u64) {
        if found == answer(self.number, 0) {
            self.number += 1;
        } else {
            self.refuse(found);
        }
    }

    /// Whether there is more to ask.
    #[cold]
    fn look(&mut self) -> bool {
        if self.outcome.is_some() {
            return false;
        }
        if let Some(pace) = &mut self.pace {
            if !pace.done(self.chunk) {
                let series = self.pace.take().expect("it was there").finish();
                self.meter.stop();
                self.outcome = Some(Ok(series));
                return false;
            }
        } else {
            let asked = self.begin.map_or(Duration::ZERO, |begin| begin.elapsed());
            self.first.add(WARM_UP, asked);
            self.meter.start();
            self.pace = Some(Pace::start(self.batch, self.limit, LONGEST_CHUNK));
        }
        self.chunk = self.pace.as_ref().map_or(1, Pace::chunk);
        self.left = self.chunk;
        true
    }

    #[cold]
    fn refuse(&mut self, found: u64) {
        self.left = 0;
        self.outcome = Some(Err(Failure::Unverified(format!(
            "the answer to question {} was {found} where {} was due",
            self.number,
            answer(self.number, 0)
        ))));
    }

    pub(super) fn measurement(self) -> Result<Measurement, Failure> {
        let series = self.outcome.unwrap_or_else(|| {
            Err(Failure::Unverified(format!(
                "nothing was asked after question {}",
                self.number
            )))
        })?;
        let mut metrics = vec![
            Metric::new("ns_per_op", "ns", series.median_nanoseconds()),
            Metric::new("mean_ns_per_op", "ns", series.mean_nanoseconds()),
        ];
        let first = self.first.and_then(series.first);
        metrics.extend(
            first
                .nanoseconds()
                .map(|first| Metric::new("first_ns_per_op", "ns", first)),
        );
        metrics.extend(self.meter.metrics(series.operations));
        Ok(Measurement {
            operations: series.operations,
            elapsed: series.elapsed,
            metrics,
            note: None,
        })
    }
}
