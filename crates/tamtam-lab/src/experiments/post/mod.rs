//! `post`: many messages for a worker that is blocked on something else, then all are retrieved.
//!
//! The worker waits at a gate. When it is blocked there, the main thread posts COUNT messages and opens the gate; the
//! worker then retrieves all of them, checks each number, and checks that nothing is left. `post_ns_per_op` and
//! `retrieve_ns_per_op` are the two parts and `ns_per_op` their sum; CPU time and context switches are those of the two
//! threads during the two parts. Extra `16B-first`, `64B-first`: the first round of a fresh process, once.
//! `16B-warm`, `64B-warm`: medians over the rounds that follow two unmeasured ones, through the same queue, until the
//! time limit. A bounded queue is given room for exactly COUNT messages.
//!
//! A way that takes many messages at a time ([`batched`]) goes through the same variants in batches of up to 256.
//!
//! [`stream`] has one or four senders beside a receiver, [`processes`] a sender and a receiver in two processes.
//!
//! Extra `limit`: a queue bounded to 10,000 takes 10,000 messages and refuses the next, and the error returns it.

pub(crate) mod flow;
pub mod processes;
pub mod stream;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use self::flow::{Draw, Feed, Flow, InBatches, OneByOne, Singly};
use crate::harness::packet::Sequences;
use crate::measure::seats::{Seat, Seats};
use crate::measure::statistics::median;
use crate::measure::usage::Usage;
use crate::{
    BatchQueue, Conditions, Failure, Gate, Measure, Measurement, Metric, Packet, Packet16,
    Packet64, Placement, Post, Queue, Variant,
};

/// The experiment's name.
pub(crate) const EXPERIMENT: &str = "post";

/// How many messages are posted: the article's number, and one that no cache holds.
const COUNTS: [u64; 2] = [5_000, 1_000_000];

/// The article's limit of unread messages.
const UNREAD_LIMIT: u64 = 10_000;

/// How many rounds of a warm variant come before the measured ones.
const WARM_UP: u64 = 2;

/// How long after its last sign of life the worker is taken to be blocked: longer than any wait spins.
const TO_BLOCK: Duration = Duration::from_micros(300);

/// Posts to a worker blocked on a `G`: 5,000 and 1,000,000 messages of 16 and 64 bytes, first round and warmed up.
pub fn measures<Q, G>(queue: Q) -> Vec<Measure>
where
    Q: Queue<Packet16> + Queue<Packet64>,
    G: Gate,
{
    all::<_, G>(OneByOne(queue))
}

/// The same posts through a way that takes many messages at a time, in batches of up to 256.
pub fn batched<Q, G>(queue: Q) -> Vec<Measure>
where
    Q: BatchQueue<Packet16> + BatchQueue<Packet64>,
    G: Gate,
{
    all::<_, G>(InBatches(queue))
}

/// Up to the limit and one more, through a bounded queue: `10000/free/limit`.
pub fn limit<Q: Queue<Packet16>, G: Gate>(queue: Q) -> Measure {
    let variant = Variant::new(UNREAD_LIMIT, Placement::Free).with_extra("limit");
    Measure::new(EXPERIMENT, variant, move |conditions| {
        run_limit::<Q, G>(queue, conditions)
    })
}

fn all<F, G>(flow: F) -> Vec<Measure>
where
    F: Flow<Packet16> + Flow<Packet64>,
    G: Gate,
{
    COUNTS
        .into_iter()
        .flat_map(|count| {
            sized::<Packet16, F, G>(flow, count)
                .into_iter()
                .chain(sized::<Packet64, F, G>(flow, count))
        })
        .collect()
}

fn sized<P: Packet, F: Flow<P>, G: Gate>(flow: F, count: u64) -> [Measure; 2] {
    let variant =
        |round| Variant::new(count, Placement::TwoCores).with_extra(format!("{}-{round}", P::SIZE));
    [
        Measure::new(EXPERIMENT, variant("first"), move |conditions| {
            run_post::<P, F, G>(flow, conditions, Rounds::First)
        }),
        Measure::new(EXPERIMENT, variant("warm"), move |conditions| {
            run_post::<P, F, G>(flow, conditions, Rounds::Warm)
        }),
    ]
}

/// Which rounds count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rounds {
    First,
    Warm,
}

fn run_post<P: Packet, F: Flow<P>, G: Gate>(
    flow: F,
    conditions: &Conditions,
    rounds: Rounds,
) -> Result<Measurement, Failure> {
    let count = conditions.variant.count;
    measure_rounds::<P, F, G>(flow, conditions, rounds, |sender, first| {
        sender.feed(0, first..first + count);
        Ok(())
    })
}

fn run_limit<Q: Queue<Packet16>, G: Gate>(
    queue: Q,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    let count = conditions.variant.count;
    let mut measurement = measure_rounds::<Packet16, _, G>(
        OneByOne(queue),
        conditions,
        Rounds::Warm,
        |Singly(sender), first| {
            for number in first..first + count {
                if sender.try_send(Packet16::new(0, number)).is_err() {
                    let unread = number - first;
                    return Err(Failure::Unverified(format!(
                        "refused with {unread} of {count} unread messages"
                    )));
                }
            }
            let surplus = Packet16::new(1, first);
            match sender.try_send(surplus) {
                Err(returned) if returned == surplus => Ok(()),
                Err(_) => Err(Failure::Unverified(
                    "the refused message came back changed".to_owned(),
                )),
                Ok(()) => Err(Failure::Unverified(format!(
                    "{count} unread messages, and one more was taken"
                ))),
            }
        },
    )?;
    measurement.note = Some(format!(
        "each round message {} was refused and came back",
        count + 1
    ));
    Ok(measurement)
}

/// Rounds of filling the queue with `fill` (which is given the first number) and retrieving all.
fn measure_rounds<P: Packet, F: Flow<P>, G: Gate>(
    flow: F,
    conditions: &Conditions,
    rounds: Rounds,
    fill: impl Fn(&mut F::Feed, u64) -> Result<(), Failure>,
) -> Result<Measurement, Failure> {
    let count = conditions.variant.count;
    let seats = Seats::of(conditions.variant.placement)?;
    let (mut sender, receiver) = flow.open(usize::try_from(count).expect("a moderate count"));
    let worker = Worker::<G>::start(receiver, count, seats.far)?;
    seats.near.take()?;

    let warm_up = if rounds == Rounds::First { 0 } else { WARM_UP };
    let (mut posting, mut retrieving, mut both) = (Vec::new(), Vec::new(), Vec::new());
    let (mut used, mut known) = (Usage::default(), true);
    let mut elapsed = Duration::ZERO;
    let start = Instant::now();
    for round in 0.. {
        let first = round * count;
        worker.wait_until_blocked();
        let before = Usage::of_thread();
        let begin = Instant::now();
        fill(&mut sender, first)?;
        let post_time = begin.elapsed();
        let after = Usage::of_thread();
        worker.gate.open();
        let retrieved = worker
            .reports
            .recv()
            .expect("the worker reports every round")?;
        if round < warm_up {
            continue;
        }
        posting.push(post_time.as_nanos() as f64);
        retrieving.push(retrieved.time.as_nanos() as f64);
        both.push((post_time + retrieved.time).as_nanos() as f64);
        elapsed += post_time + retrieved.time;
        match (before, after, retrieved.used) {
            (Some(before), Some(after), Some(worker)) => used = used + (after - before) + worker,
            _ => known = false,
        }
        if rounds == Rounds::First || start.elapsed() >= conditions.limit {
            break;
        }
    }

    let operations = both.len() as u64 * count;
    let each = |rounds: &mut Vec<f64>| median(rounds).unwrap_or(f64::NAN) / count as f64;
    let mut metrics = vec![
        Metric::new("ns_per_op", "ns", each(&mut both)),
        Metric::new("post_ns_per_op", "ns", each(&mut posting)),
        Metric::new("retrieve_ns_per_op", "ns", each(&mut retrieving)),
    ];
    if known {
        metrics.extend(used.metrics(operations));
    }
    Ok(Measurement {
        operations,
        elapsed,
        metrics,
        note: None,
    })
}

/// The worker thread, as the main thread sees it.
struct Worker<G> {
    gate: Arc<G>,
    // Set just before it waits at the gate.
    at_gate: Arc<AtomicBool>,
    reports: mpsc::Receiver<Result<Retrieved, Failure>>,
}

/// What retrieving one round cost.
struct Retrieved {
    time: Duration,
    used: Option<Usage>,
}

impl<G: Gate> Worker<G> {
    /// Starts the worker, which retrieves `count` messages each time the gate is opened.
    fn start<P: Packet>(receiver: impl Draw<P>, count: u64, seat: Seat) -> Result<Self, Failure> {
        let gate = Arc::new(G::default());
        let at_gate = Arc::new(AtomicBool::new(false));
        let (seated, ready) = mpsc::channel();
        let (report, reports) = mpsc::channel();
        thread::spawn({
            let (gate, at_gate) = (Arc::clone(&gate), Arc::clone(&at_gate));
            move || {
                let mut receiver = receiver;
                let taken = seat.take();
                let failed = taken.is_err();
                let _ = seated.send(taken);
                if failed {
                    return;
                }
                let mut sequences = Sequences::new(1);
                loop {
                    // Release, though nothing is published by it: the main thread only asks whether it is set.
                    at_gate.store(true, Ordering::Release);
                    gate.pass();
                    let retrieved = retrieve(&mut receiver, &mut sequences, count);
                    let failed = retrieved.is_err();
                    // A closed channel: the main thread has all its rounds, and does not open the gate again.
                    if report.send(retrieved).is_err() || failed {
                        return;
                    }
                }
            }
        });
        ready.recv().expect("the worker tells where it sits")?;
        Ok(Worker {
            gate,
            at_gate,
            reports,
        })
    }

    fn wait_until_blocked(&self) {
        while !self.at_gate.swap(false, Ordering::Acquire) {
            thread::yield_now();
        }
        // By looking at the clock, not asleep: the poster is to start warm.
        let start = Instant::now();
        while start.elapsed() < TO_BLOCK {
            thread::yield_now();
        }
    }
}

fn retrieve<P: Packet>(
    receiver: &mut impl Draw<P>,
    sequences: &mut Sequences,
    count: u64,
) -> Result<Retrieved, Failure> {
    let before = Usage::of_thread();
    let begin = Instant::now();
    let mut missing = count;
    receiver.draw(|packet| {
        sequences.accept(packet)?;
        missing -= 1;
        Ok(missing > 0)
    })?;
    let time = begin.elapsed();
    let after = Usage::of_thread();
    if receiver.has_more() {
        return Err(Failure::Unverified(format!(
            "more than the {count} messages that were posted came"
        )));
    }
    let used = before.zip(after).map(|(before, after)| after - before);
    Ok(Retrieved { time, used })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StdGate;
    use crate::harness::broken::{Fault, Faulty, Sound};

    fn conditions() -> Conditions {
        Conditions {
            variant: Variant::new(100, Placement::Free),
            limit: Duration::from_millis(20),
        }
    }

    #[test]
    fn first_and_warm_rounds_are_measured() {
        let first = run_post::<Packet16, _, StdGate>(OneByOne(Sound), &conditions(), Rounds::First)
            .unwrap();
        let batched =
            run_post::<Packet16, _, StdGate>(InBatches(Sound), &conditions(), Rounds::First)
                .unwrap();
        assert_eq!([first.operations, batched.operations], [100, 100]);
        let warm =
            run_post::<Packet64, _, StdGate>(OneByOne(Sound), &conditions(), Rounds::Warm).unwrap();
        assert!(warm.operations >= 100 && warm.operations.is_multiple_of(100));
        for measurement in [first, batched, warm] {
            assert!(measurement.value("post_ns_per_op").unwrap() > 0.0);
            assert!(measurement.value("retrieve_ns_per_op").unwrap() > 0.0);
            assert_eq!(measurement.metrics[0].metric, "ns_per_op");
        }
    }

    #[test]
    fn faults_are_noticed() {
        for fault in [Fault::Double(50), Fault::Stale(50), Fault::Swap(50)] {
            for outcome in [
                one_short(OneByOne(Faulty(fault))),
                one_short(InBatches(Faulty(fault))),
            ] {
                assert!(
                    matches!(outcome, Err(Failure::Unverified(_))),
                    "{fault:?}: {outcome:?}"
                );
            }
        }
    }

    /// One message less than there is room for, so that a doubled one does not block.
    fn one_short<F: Flow<Packet16>>(flow: F) -> Result<Measurement, Failure> {
        measure_rounds::<Packet16, F, StdGate>(
            flow,
            &conditions(),
            Rounds::First,
            |sender, first| {
                sender.feed(0, first..first + 99);
                Ok(())
            },
        )
    }

    #[test]
    fn the_message_over_the_limit_comes_back() {
        let measurement = run_limit::<_, StdGate>(Sound, &conditions()).unwrap();
        assert!(
            measurement
                .note
                .unwrap()
                .contains("message 101 was refused")
        );
        let failure = run_limit::<_, StdGate>(Faulty(Fault::TooRoomy), &conditions()).unwrap_err();
        assert!(
            failure.to_string().contains("one more was taken"),
            "{failure}"
        );
    }

    #[test]
    fn the_listed_variants_are_those_of_the_contract() {
        let names = |measures: Vec<Measure>| -> Vec<String> {
            measures
                .iter()
                .map(|measure| measure.variant().to_string())
                .collect()
        };
        assert_eq!(
            names(measures::<_, StdGate>(Sound)),
            names(batched::<_, StdGate>(Sound))
        );
        assert_eq!(
            names(measures::<_, StdGate>(Sound)),
            [
                "5000/2cores/16B-first",
                "5000/2cores/16B-warm",
                "5000/2cores/64B-first",
                "5000/2cores/64B-warm",
                "1000000/2cores/16B-first",
                "1000000/2cores/16B-warm",
                "1000000/2cores/64B-first",
                "1000000/2cores/64B-warm",
            ]
        );
    }
}
