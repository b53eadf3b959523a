//! `handover`, the plain form: strict turns between two workers.
//!
//! The caller sends number *n*, the answerer checks that *n* was due and returns a function of it, and the caller checks
//! that before it sends *n* + 1. A message that is lost, doubled, stale or damaged either breaks this (the figure is
//! refused) or stops both (the watchdog ends the run); nothing can be counted that was not handed over twice.
//!
//! Three passes share the time limit. After a warm-up, the **plain** pass reads the clock once in up to 64 turns and
//! gives `ns_per_op` (one operation is one round trip, there and back), the CPU time and the context switches. The
//! **sampled** pass reads it after every turn and gives `p999_ns` and `max_ns`. `ns_per_op` is the median of batches of
//! COUNT turns, except for the placement `hog`, where a median would hide that the workers stand still while the hogs
//! run: there it is the mean over the whole pass. The mean is `mean_ns_per_op` everywhere.

use std::marker::PhantomData;
use std::sync::{Arc, OnceLock, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::seats::{Seat, Seats};
use super::statistics::{median, percentile};
use super::usage::{Usage, metrics_between};
use super::{
    Conditions, End, Failure, Handover, Measure, Measurement, Message, Metric, Placement, Text,
    Turn, Variant,
};

/// The experiment's name.
pub(crate) const EXPERIMENT: &str = "handover";

/// How many turns make a batch in the listed variants: the article's number.
pub(crate) const COUNT: u64 = 1000;

/// The number that tells the answerer to stop.
const STOP: u64 = u64::MAX;

/// At most so many turns pass between two looks at the clock. Enough to make the look cheap beside the fastest turns
/// (25 ns to 64 times 100), and few enough that turns which suddenly cost a time slice each do not overrun the limit.
const LONGEST_CHUNK: u64 = 64;

/// A chunk this long is not made longer.
const CHUNK_TIME: Duration = Duration::from_micros(20);

/// How many turns the sampled pass remembers at most; it stops there.
const SAMPLES: usize = 1 << 20;

/// Strict turns of plain numbers in every placement: `1000/free`, `1000/1core`, `1000/2cores`, `1000/hog`.
pub fn measures<H: Handover<Turn>>(handover: H) -> Vec<Measure> {
    Placement::ALL
        .into_iter()
        .map(|placement| {
            Measure::new(
                EXPERIMENT,
                Variant::new(COUNT, placement),
                move |conditions| run::<Turn, H>(handover, conditions),
            )
        })
        .collect()
}

/// Strict turns with a string of one character beside the number: `1000/free/string`.
pub fn string<H: Handover<Text>>(handover: H) -> Measure {
    let variant = Variant::new(COUNT, Placement::Free).with_extra("string");
    Measure::new(EXPERIMENT, variant, move |conditions| {
        run::<Text, H>(handover, conditions)
    })
}

fn run<M: Message, H: Handover<M>>(
    handover: H,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    let seats = Seats::of(conditions.variant.placement)?;
    let hog = conditions.variant.placement == Placement::Hog;
    // Stalls are what the hogs cause, and they are rare: their pass gets half the time.
    let sampled_share = if hog { 0.5 } else { 0.25 };
    let warm_up = conditions.limit.mul_f64(0.05);
    let sampled = conditions.limit.mul_f64(sampled_share);
    let plain = conditions.limit.saturating_sub(warm_up + sampled);

    let mut caller = Caller::<M, _>::connect(handover, seats.far)?;
    seats.near.take()?;
    caller.turns(conditions.variant.count, warm_up)?;
    let before = Usage::of_process();
    let series = caller.turns(conditions.variant.count, plain)?;
    let after = Usage::of_process();
    let mut samples = caller.sampled_turns(sampled)?;
    caller.stop()?;

    let mean = series.mean_nanoseconds();
    let mut metrics = vec![
        Metric::new(
            "ns_per_op",
            "ns",
            if hog {
                mean
            } else {
                series.median_nanoseconds()
            },
        ),
        Metric::new("mean_ns_per_op", "ns", mean),
    ];
    metrics.extend(metrics_between(before, after, series.turns));
    if let (Some(p999), Some(longest)) = (percentile(&mut samples, 0.999), samples.iter().max()) {
        metrics.push(Metric::new("p999_ns", "ns", f64::from(p999)));
        metrics.push(Metric::new("max_ns", "ns", f64::from(*longest)));
    }
    Ok(Measurement {
        operations: series.turns,
        elapsed: series.elapsed,
        metrics,
        note: None,
    })
}

/// What the answerer returns for `number`: an odd factor gives every number an answer of its own.
fn answer_to(number: u64) -> u64 {
    number.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1)
}

/// The main side of strict turns, with the thread that answers it.
pub(crate) struct Caller<M, E> {
    end: E,
    next: u64,
    answerer: JoinHandle<u64>,
    // Why the answerer gave up: written before it sends its last, wrong answer.
    objection: Arc<OnceLock<Failure>>,
    message: PhantomData<fn() -> M>,
}

impl<M: Message, E: End<M>> Caller<M, E> {
    /// Starts the answering thread in its seat. The threads are detached on a failure: one that waits for a message
    /// that was lost could never be joined.
    pub(crate) fn connect<H: Handover<M, End = E>>(
        handover: H,
        far: Seat,
    ) -> Result<Self, Failure> {
        let (near_end, far_end) = handover.connect();
        let objection = Arc::new(OnceLock::new());
        let (seated, ready) = mpsc::channel();
        let answerer = thread::spawn({
            let objection = Arc::clone(&objection);
            move || {
                let seat = far.take();
                let failed = seat.is_err();
                // The caller waits for this and drops its end only after it.
                let _ = seated.send(seat);
                if failed {
                    0
                } else {
                    answer::<M, E>(far_end, &objection)
                }
            }
        });
        ready
            .recv()
            .expect("the answering thread tells where it sits")?;
        Ok(Caller {
            end: near_end,
            next: 0,
            answerer,
            objection,
            message: PhantomData,
        })
    }

    /// One round trip.
    fn turn(&mut self) -> Result<(), Failure> {
        let number = self.next;
        self.end.send(M::new(number));
        let answer = self.end.receive().number();
        self.next += 1;
        if answer == Some(answer_to(number)) {
            Ok(())
        } else {
            Err(self.objection(number, answer))
        }
    }

    #[cold]
    fn objection(&self, number: u64, answer: Option<u64>) -> Failure {
        self.objection.get().cloned().unwrap_or_else(|| {
            Failure::Unverified(match answer {
                Some(answer) => {
                    format!("turn {number} was answered with {answer}, a stale or foreign message")
                }
                None => format!("turn {number} was answered with a damaged message"),
            })
        })
    }

    /// Turns until `budget` is used up, in batches of `batch`; at least one turn.
    pub(crate) fn turns(&mut self, batch: u64, budget: Duration) -> Result<Series, Failure> {
        let start = Instant::now();
        let mut series = Series::default();
        let (mut in_batch, mut batch_start) = (0, Duration::ZERO);
        let mut chunk = 1;
        loop {
            let turns = chunk.min(batch - in_batch);
            for _ in 0..turns {
                self.turn()?;
            }
            let now = start.elapsed();
            let chunk_time = now - series.elapsed;
            series.turns += turns;
            series.elapsed = now;
            in_batch += turns;
            if in_batch == batch {
                series
                    .batches
                    .push((now - batch_start).as_nanos() as f64 / batch as f64);
                (in_batch, batch_start) = (0, now);
            }
            if now >= budget {
                return Ok(series);
            }
            if chunk_time < CHUNK_TIME {
                chunk = (chunk * 2).min(LONGEST_CHUNK);
            } else if chunk_time > 100 * CHUNK_TIME {
                chunk = (chunk / 2).max(1);
            }
        }
    }

    /// Turns until `budget` is used up, with the time of each in nanoseconds.
    fn sampled_turns(&mut self, budget: Duration) -> Result<Vec<u32>, Failure> {
        // Written once beforehand, so that no turn pays for fresh memory.
        let mut samples = vec![u32::MAX; SAMPLES];
        samples.clear();
        let start = Instant::now();
        let mut last = Duration::ZERO;
        while last < budget && samples.len() < SAMPLES {
            self.turn()?;
            let now = start.elapsed();
            samples.push(u32::try_from((now - last).as_nanos()).unwrap_or(u32::MAX));
            last = now;
        }
        Ok(samples)
    }

    /// Ends the answerer, and compares how many turns each side counted.
    pub(crate) fn stop(mut self) -> Result<(), Failure> {
        self.end.send(M::new(STOP));
        let answered = self
            .answerer
            .join()
            .expect("the answering thread does not panic");
        if let Some(objection) = self.objection.get() {
            return Err(objection.clone());
        }
        if answered == self.next {
            Ok(())
        } else {
            Err(Failure::Unverified(format!(
                "{} turns were made and {answered} answered",
                self.next
            )))
        }
    }
}

/// The other side: answers until it is told to stop, and returns how many turns it answered.
fn answer<M: Message, E: End<M>>(mut end: E, objection: &OnceLock<Failure>) -> u64 {
    let mut due = 0;
    loop {
        let number = end.receive().number();
        if number == Some(due) {
            end.send(M::new(answer_to(due)));
            due += 1;
        } else if number == Some(STOP) {
            return due;
        } else {
            let reason = match number {
                Some(number) => format!("message {number} came where {due} was due"),
                None => format!("a damaged message came where {due} was due"),
            };
            // Nothing else writes it.
            let _ = objection.set(Failure::Unverified(reason));
            // Not the answer to what the caller has sent, so that it stops too.
            end.send(M::new(answer_to(due) ^ 1));
            return due;
        }
    }
}

/// The figures of one pass of turns.
#[derive(Debug, Default)]
pub(crate) struct Series {
    /// How many turns were made.
    pub(crate) turns: u64,
    /// How long they took together.
    pub(crate) elapsed: Duration,
    // The nanoseconds a turn took in each complete batch.
    batches: Vec<f64>,
}

impl Series {
    fn mean_nanoseconds(&self) -> f64 {
        self.elapsed.as_nanos() as f64 / self.turns as f64
    }

    /// Over the complete batches; the mean if time was too short for one.
    fn median_nanoseconds(&self) -> f64 {
        median(&mut self.batches.clone()).unwrap_or_else(|| self.mean_nanoseconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::QueuePair;
    use crate::drive::broken::{Fault, Faulty, Sound};

    fn conditions(placement: Placement) -> Conditions {
        Conditions {
            variant: Variant::new(10, placement),
            limit: Duration::from_millis(40),
        }
    }

    /// In a thread of its own, which stays pinned.
    fn run_apart(pair: QueuePair<Sound>, placement: Placement) -> Result<Measurement, Failure> {
        thread::spawn(move || run::<Turn, _>(pair, &conditions(placement)))
            .join()
            .unwrap()
    }

    #[test]
    fn sound_turns_are_measured_and_counted() {
        let pair = QueuePair {
            queue: Sound,
            capacity: 1,
        };
        for placement in [Placement::Free, Placement::OneCore, Placement::Hog] {
            let measurement = match run_apart(pair, placement) {
                Err(Failure::Impossible(_)) if cfg!(not(target_os = "linux")) => continue,
                other => other.unwrap(),
            };
            assert!(measurement.operations >= 1);
            assert_eq!(measurement.metrics[0].metric, "ns_per_op");
            let mean = measurement.elapsed.as_nanos() as f64 / measurement.operations as f64;
            assert_eq!(measurement.value("mean_ns_per_op"), Some(mean));
            assert!(measurement.value("max_ns") >= measurement.value("p999_ns"));
            assert!(measurement.value("p999_ns").is_some());
        }
        run::<Text, _>(pair, &conditions(Placement::Free)).unwrap();
    }

    #[test]
    fn a_stale_message_is_noticed_by_the_answerer() {
        let pair = QueuePair {
            queue: Faulty(Fault::Stale(20)),
            capacity: 4,
        };
        let failure = run::<Turn, _>(pair, &conditions(Placement::Free)).unwrap_err();
        assert_eq!(
            failure,
            Failure::Unverified("message 19 came where 20 was due".to_owned())
        );
    }

    #[test]
    fn a_doubled_message_is_noticed() {
        let pair = QueuePair {
            queue: Faulty(Fault::Double(20)),
            capacity: 4,
        };
        // Both directions double; which side notices first is open.
        let failure = run::<Turn, _>(pair, &conditions(Placement::Free));
        assert!(
            matches!(failure, Err(Failure::Unverified(_))),
            "{failure:?}"
        );
    }

    #[test]
    fn an_answer_that_does_not_belong_to_the_question_is_noticed() {
        #[derive(Clone, Copy)]
        struct Parrot;
        struct ParrotEnd(Option<Turn>, mpsc::Receiver<Turn>);
        // Returns what was sent: a place that was read before the other side had written to it.
        impl Handover<Turn> for Parrot {
            type End = ParrotEnd;
            fn connect(&self) -> (ParrotEnd, ParrotEnd) {
                let (sender, receiver) = mpsc::channel();
                sender.send(Turn(STOP)).unwrap();
                (
                    ParrotEnd(None, mpsc::channel().1),
                    ParrotEnd(None, receiver),
                )
            }
        }
        impl End<Turn> for ParrotEnd {
            fn send(&mut self, message: Turn) {
                self.0 = Some(message);
            }
            fn receive(&mut self) -> Turn {
                self.0.take().unwrap_or_else(|| self.1.recv().unwrap())
            }
        }
        let failure = run::<Turn, _>(Parrot, &conditions(Placement::Free)).unwrap_err();
        assert!(
            failure.to_string().contains("stale or foreign"),
            "{failure}"
        );
    }

    #[test]
    fn the_listed_variants_are_those_of_the_contract() {
        let pair = QueuePair {
            queue: Sound,
            capacity: 1,
        };
        let names: Vec<_> = measures(pair)
            .iter()
            .map(|measure| measure.variant().to_string())
            .collect();
        assert_eq!(
            names,
            ["1000/free", "1000/1core", "1000/2cores", "1000/hog"]
        );
        assert_eq!(string(pair).variant().to_string(), "1000/free/string");
    }
}
