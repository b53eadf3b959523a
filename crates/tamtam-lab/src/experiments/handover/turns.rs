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
//! run: there it is the mean over the whole pass. The mean is `mean_ns_per_op` everywhere, and
//! `first_ns_per_op` that of the first 10,000 turns of the fresh process: the warm-up is where these are.

use std::marker::PhantomData;
use std::sync::{Arc, OnceLock, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::measure::pace::{Pace, Series};
use crate::measure::passes::{Budgets, LONGEST_CHUNK, Passes, Samples};
use crate::measure::seats::{Seat, Seats};
use crate::measure::usage::Usage;
use crate::{
    Conditions, End, Failure, Handover, Measure, Measurement, Message, Placement, ServerProcess,
    Text, Turn, Variant,
};

/// The experiment's name.
pub(crate) const EXPERIMENT: &str = "handover";

/// How many turns make a batch in the listed variants: the article's number.
pub(crate) const COUNT: u64 = 1000;

/// The number that tells the answerer to stop.
pub(crate) const STOP: u64 = u64::MAX;

/// Strict turns of plain numbers in every placement: `1000/free`, `1000/1core`, `1000/2cores`, `1000/hog`.
pub fn measures<H: Handover<Turn>>(handover: H) -> Vec<Measure> {
    in_each_placement(move |conditions| run::<Turn, H>(handover, conditions))
}

/// Turns in batches of [`COUNT`], in every placement.
pub(crate) fn in_each_placement(
    run: impl Fn(&Conditions) -> Result<Measurement, Failure> + Copy + 'static,
) -> Vec<Measure> {
    Placement::ALL
        .into_iter()
        .map(|placement| Measure::new(EXPERIMENT, Variant::new(COUNT, placement), run))
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
    let caller = Caller::<M, _>::connect(handover, seats.far)?;
    seats.near.take()?;
    caller.passes(conditions)
}

/// What the answerer returns for `number`: an odd factor gives every number an answer of its own.
pub(crate) fn answer_to(number: u64) -> u64 {
    number.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1)
}

/// The main side of strict turns, with the thread or the process that answers it.
pub(crate) struct Caller<M, E> {
    end: E,
    next: u64,
    answerer: OtherSide,
    // Why the answerer gave up: written before it sends its last, wrong answer.
    objection: Arc<OnceLock<Failure>>,
    message: PhantomData<fn() -> M>,
}

enum OtherSide {
    /// It returns how many turns it has answered.
    Thread(JoinHandle<u64>),
    /// It sends that when it is told to stop.
    Process(ServerProcess),
}

impl<M: Message, E: End<M>> Caller<M, E> {
    /// One whose other end is in another process.
    pub(crate) fn answered_by_process(end: E, process: ServerProcess) -> Self {
        Caller {
            end,
            next: 0,
            answerer: OtherSide::Process(process),
            objection: Arc::new(OnceLock::new()),
            message: PhantomData,
        }
    }

    /// Starts the answering thread in its seat. The threads are detached on a failure: one that waits for a message
    /// that was lost could never be joined.
    pub(crate) fn connect<H: Handover<M, End = E>>(
        handover: H,
        far: Seat,
    ) -> Result<Self, Failure> {
        let (near_end, far_end) = handover.connect();
        Caller::answered_by(near_end, far, move |objection| {
            let mut far_end = far_end;
            answer::<M, E>(&mut far_end, &objection)
        })
    }

    /// The same with `answer` as the body of the answering thread: it is given the place for its objection and returns
    /// how many turns it answered.
    pub(crate) fn answered_by(
        end: E,
        far: Seat,
        answer: impl FnOnce(Arc<OnceLock<Failure>>) -> u64 + Send + 'static,
    ) -> Result<Self, Failure> {
        let objection = Arc::new(OnceLock::new());
        let (seated, ready) = mpsc::channel();
        let answerer = thread::spawn({
            let objection = Arc::clone(&objection);
            move || {
                let seat = far.take();
                let failed = seat.is_err();
                // The caller waits for this and drops its end only after it.
                let _ = seated.send(seat);
                if failed { 0 } else { answer(objection) }
            }
        });
        ready
            .recv()
            .expect("the answering thread tells where it sits")?;
        Ok(Caller {
            end,
            next: 0,
            answerer: OtherSide::Thread(answerer),
            objection,
            message: PhantomData,
        })
    }

    /// What both sides have used.
    fn usage(&mut self) -> Option<Usage> {
        match &mut self.answerer {
            OtherSide::Thread(_) => Usage::of_process(),
            OtherSide::Process(process) => process.usage_with_this(),
        }
    }

    /// The three passes of the experiment.
    pub(crate) fn passes(mut self, conditions: &Conditions) -> Result<Measurement, Failure> {
        let count = conditions.variant.count;
        let budgets = Budgets::of(conditions);
        let warm_up = self.turns(count, budgets.warm_up)?;
        let before = self.usage();
        let series = self.turns(count, budgets.plain)?;
        let after = self.usage();
        let samples = self.sampled_turns(budgets.sampled)?;
        self.stop()?;
        let passes = Passes {
            warm_up,
            before,
            series,
            after,
            samples,
        };
        Ok(passes.measurement(conditions.variant.placement))
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
            Err(objection_to(number, answer, &self.objection))
        }
    }

    /// Turns until `budget` is used up, in batches of `batch`; at least one turn.
    pub(crate) fn turns(&mut self, batch: u64, budget: Duration) -> Result<Series, Failure> {
        let mut pace = Pace::start(batch, budget, LONGEST_CHUNK);
        loop {
            let turns = pace.chunk();
            for _ in 0..turns {
                self.turn()?;
            }
            if !pace.done(turns) {
                return Ok(pace.finish());
            }
        }
    }

    /// Turns until `budget` is used up, with the time of each in nanoseconds.
    fn sampled_turns(&mut self, budget: Duration) -> Result<Vec<u32>, Failure> {
        let mut samples = Samples::start(budget);
        while samples.wants_more() {
            self.turn()?;
            samples.done();
        }
        Ok(samples.finish())
    }

    /// Ends the answerer, and compares how many turns each side counted.
    pub(crate) fn stop(mut self) -> Result<(), Failure> {
        self.end.send(M::new(STOP));
        let answered = match self.answerer {
            OtherSide::Thread(thread) => {
                thread.join().expect("the answering thread does not panic")
            }
            OtherSide::Process(_) => self.end.receive().number().unwrap_or(0),
        };
        agree(self.next, answered, &self.objection)
    }
}

/// Why `answer` is not the answer to turn `number`: what the answerer objected to, if it did.
#[cold]
pub(crate) fn objection_to(
    number: u64,
    answer: Option<u64>,
    objection: &OnceLock<Failure>,
) -> Failure {
    objection.get().cloned().unwrap_or_else(|| {
        Failure::Unverified(match answer {
            Some(answer) => {
                format!("turn {number} was answered with {answer}, a stale or foreign message")
            }
            None => format!("turn {number} was answered with a damaged message"),
        })
    })
}

/// Compares in the end how many turns each side counted.
pub(crate) fn agree(
    made: u64,
    answered: u64,
    objection: &OnceLock<Failure>,
) -> Result<(), Failure> {
    if let Some(objection) = objection.get() {
        return Err(objection.clone());
    }
    if answered == made {
        Ok(())
    } else {
        Err(Failure::Unverified(format!(
            "{made} turns were made and {answered} answered"
        )))
    }
}

/// What the answerer does with a message.
pub(crate) enum Due {
    /// It was due: this is to be sent back.
    Answer(u64),
    /// All turns are made.
    Stop,
    /// It was not due, which is noted; this is to be sent back, and then nothing more.
    Object(u64),
}

impl Due {
    /// Judges the message with this number, where `due` was due.
    #[inline]
    pub(crate) fn of(number: Option<u64>, due: u64, objection: &OnceLock<Failure>) -> Self {
        if number == Some(due) {
            Due::Answer(answer_to(due))
        } else if number == Some(STOP) {
            Due::Stop
        } else {
            Due::object(number, due, objection)
        }
    }

    #[cold]
    fn object(number: Option<u64>, due: u64, objection: &OnceLock<Failure>) -> Self {
        let reason = match number {
            Some(number) => format!("message {number} came where {due} was due"),
            None => format!("a damaged message came where {due} was due"),
        };
        // Nothing else writes it.
        let _ = objection.set(Failure::Unverified(reason));
        // Not the answer to what the caller has sent, so that it stops too.
        Due::Object(answer_to(due) ^ 1)
    }
}

/// The other side: answers until it is told to stop, and returns how many turns it answered.
pub(crate) fn answer<M: Message, E: End<M>>(end: &mut E, objection: &OnceLock<Failure>) -> u64 {
    let mut due = 0;
    loop {
        match Due::of(end.receive().number(), due, objection) {
            Due::Answer(number) => {
                end.send(M::new(number));
                due += 1;
            }
            Due::Stop => return due,
            Due::Object(number) => {
                end.send(M::new(number));
                return due;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::QueuePair;
    use crate::harness::broken::{Fault, Faulty, Sound};

    fn conditions(placement: Placement) -> Conditions {
        Conditions {
            variant: Variant::new(10, placement),
            limit: Duration::from_millis(40),
        }
    }

    /// The last position that is reached however loaded the machine is: each of the three passes takes a turn.
    const LAST: u64 = 2;

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
            queue: Faulty(Fault::Stale(LAST)),
            capacity: 4,
        };
        let failure = run::<Turn, _>(pair, &conditions(Placement::Free)).unwrap_err();
        assert_eq!(
            failure,
            Failure::Unverified("message 1 came where 2 was due".to_owned())
        );
    }

    #[test]
    fn a_doubled_message_is_noticed() {
        let pair = QueuePair {
            queue: Faulty(Fault::Double(LAST)),
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
