//! The side that tells many times, and then asks whether all came.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::counter::answer;
use super::meter::Meter;
use crate::measure::statistics::median;
use crate::{Failure, Measurement, Metric};

/// So many rounds are made however long they take: the first, and two to compare.
const ROUNDS: usize = 3;

/// The side that tells: it says what to tell and then to ask, checks the answers, and keeps the time.
///
/// A contender does for as long as [`next`](Teller::next) gives a round: tell all its numbers in turn, ask its question,
/// and [`accept`](Teller::accept) the answer.
#[derive(Debug)]
pub struct Teller {
    count: u64,
    limit: Duration,
    start: Instant,
    round: u64,
    round_start: Instant,
    meter: Meter,
    times: Vec<Duration>,
    failure: Option<Failure>,
}

/// What to tell, and then to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tells {
    /// To be told one after the other.
    pub numbers: Range<u64>,
    /// To be asked then.
    pub question: u64,
}

impl Teller {
    pub(super) fn new(count: u64, limit: Duration) -> Self {
        Teller {
            count,
            limit,
            start: Instant::now(),
            round: 0,
            round_start: Instant::now(),
            meter: Meter::default(),
            times: Vec::new(),
            failure: None,
        }
    }

    /// Has what the actor's process uses of the machine counted, too: see [`Asker::count_process`](super::Asker::count_process).
    pub fn count_process(
        &mut self,
        used: impl FnMut() -> Option<[u64; 3]> + Send + Sync + 'static,
    ) {
        self.meter.count_process(used);
    }

    /// The next round; `None` when there were enough, or an answer was wrong.
    // It is no iterator: each round waits for the answer to the one before.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Tells> {
        let enough = self.times.len() >= ROUNDS && self.start.elapsed() >= self.limit;
        if enough || self.failure.is_some() {
            self.meter.stop();
            return None;
        }
        if self.round == 0 {
            self.start = Instant::now();
        } else if self.round == 1 {
            self.meter.start();
        }
        let first = self.round * self.count;
        let tells = Tells {
            numbers: first..first + self.count,
            question: self.round,
        };
        self.round_start = Instant::now();
        Some(tells)
    }

    /// Takes the answer to the question of the last round.
    pub fn accept(&mut self, found: u64) {
        self.times.push(self.round_start.elapsed());
        let due = answer(self.round, (self.round + 1) * self.count);
        if found != due {
            self.failure = Some(Failure::Unverified(format!(
                "the answer behind {} messages was {found} where {due} was due",
                (self.round + 1) * self.count
            )));
        }
        self.round += 1;
    }

    pub(super) fn measurement(self) -> Result<Measurement, Failure> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let [first, rounds @ ..] = &self.times[..] else {
            return Err(Failure::Unverified("nothing was told".to_owned()));
        };
        let microseconds = |time: &Duration| time.as_nanos() as f64 / 1e3;
        let mut times: Vec<f64> = rounds.iter().map(microseconds).collect();
        let total = median(&mut times).unwrap_or(f64::NAN);
        let operations = self.count * rounds.len() as u64;
        let mut metrics = vec![
            Metric::new("ns_per_op", "ns", total * 1e3 / self.count as f64),
            Metric::new("total_us", "µs", total),
            Metric::new("first_us", "µs", microseconds(first)),
        ];
        metrics.extend(self.meter.metrics(operations));
        Ok(Measurement {
            operations,
            elapsed: rounds.iter().sum(),
            metrics,
            note: None,
        })
    }
}
