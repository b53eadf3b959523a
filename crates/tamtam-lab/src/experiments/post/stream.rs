//! `post`, extras `stream-…` and `fanin-…`: one or four senders and one receiver, all running at once.
//!
//! The senders send 10,000,000 messages together, or fewer if the time limit comes first; the receiver checks every
//! sender's numbers and in the end every sender's total. `ns_per_op` is the time from the common start until the last
//! message was received, for each message; `ops_per_s` the same the other way round. A bounded queue holds 10,000
//! messages. 50,000 messages go through the same queue before the clock starts.
//!
//! A way that takes many messages at a time ([`batched`], [`batched_fan_in`]) runs the same variants in batches of up to
//! 256 and stands in the same tables.
//!
//! An unbounded queue whose senders are faster grows; `peak_rss_kib` shows how far.

use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::flow::{Draw, Feed, Flow, InBatches, OneByOne};
use crate::harness::packet::{END, Sequences};
use crate::measure::seats::Seats;
use crate::measure::usage::{Usage, metrics_between, peak_memory};
use crate::post::EXPERIMENT;
use crate::{
    BatchQueue, Conditions, Failure, Measure, Measurement, Metric, Packet, Packet16, Packet64,
    Placement, Queue, Variant,
};

pub(super) const COUNT: u64 = 10_000_000;

/// How many senders `fanin` has.
pub const FAN_IN: u64 = 4;

/// How many messages a bounded queue holds.
pub const CAPACITY: usize = 10_000;

/// How many messages all senders together send before the clock starts.
pub(super) const WARM_UP: u64 = 50_000;

/// After so many messages a sender looks at the clock.
const CHUNK: u64 = 256;

/// One sender: `10000000/2cores/stream-16B` and `stream-64B`.
pub fn measures<Q: Queue<Packet16> + Queue<Packet64>>(queue: Q) -> Vec<Measure> {
    of_one(OneByOne(queue))
}

/// Four senders: `10000000/free/fanin-16B` and `fanin-64B`.
pub fn fan_in<Q>(queue: Q) -> Vec<Measure>
where
    Q: Queue<Packet16, Sender: Clone> + Queue<Packet64, Sender: Clone>,
{
    of_four(OneByOne(queue))
}

/// One sender, through a way that takes many messages at a time, in batches of up to 256.
pub fn batched<Q: BatchQueue<Packet16> + BatchQueue<Packet64>>(queue: Q) -> Vec<Measure> {
    of_one(InBatches(queue))
}

/// Four senders, through a way that takes many messages at a time, in batches of up to 256.
pub fn batched_fan_in<Q>(queue: Q) -> Vec<Measure>
where
    Q: BatchQueue<Packet16, Sender: Clone> + BatchQueue<Packet64, Sender: Clone>,
{
    of_four(InBatches(queue))
}

fn of_one<F: Flow<Packet16> + Flow<Packet64>>(flow: F) -> Vec<Measure> {
    vec![stream::<Packet16, F>(flow), stream::<Packet64, F>(flow)]
}

fn of_four<F>(flow: F) -> Vec<Measure>
where
    F: Flow<Packet16, Feed: Clone> + Flow<Packet64, Feed: Clone>,
{
    vec![merged::<Packet16, F>(flow), merged::<Packet64, F>(flow)]
}

fn stream<P: Packet, F: Flow<P>>(flow: F) -> Measure {
    Measure::new(EXPERIMENT, variant::<P>(), move |conditions| {
        let (sender, receiver) = flow.open(CAPACITY);
        run::<P, F>(vec![sender], receiver, conditions)
    })
}

/// The variant of one sender.
pub(super) fn variant<P: Packet>() -> Variant {
    Variant::new(COUNT, Placement::TwoCores).with_extra(format!("stream-{}", P::SIZE))
}

fn merged<P: Packet, F: Flow<P, Feed: Clone>>(flow: F) -> Measure {
    let variant = Variant::new(COUNT, Placement::Free).with_extra(format!("fanin-{}", P::SIZE));
    Measure::new(EXPERIMENT, variant, move |conditions| {
        let (sender, receiver) = flow.open(CAPACITY);
        let mut senders = vec![sender.clone(); FAN_IN as usize - 1];
        senders.push(sender);
        run::<P, F>(senders, receiver, conditions)
    })
}

fn run<P: Packet, F: Flow<P>>(
    senders: Vec<F::Feed>,
    mut receiver: F::Draw,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    let seats = Seats::of(conditions.variant.placement)?;
    let lanes = senders.len();
    let share = conditions.variant.count / lanes as u64;
    let warm_up = WARM_UP.min(conditions.variant.count) / lanes as u64;
    let limit = conditions.limit;
    let start = Arc::new(Barrier::new(lanes + 1));
    let (seated, ready) = mpsc::channel();
    let mut threads = Vec::new();
    for (lane, sender) in (0..).zip(senders) {
        let (start, seated) = (Arc::clone(&start), seated.clone());
        threads.push(thread::spawn(move || {
            let seat = seats.near.take();
            let failed = seat.is_err();
            // The main thread ends at the first failure.
            let _ = seated.send(seat);
            if failed {
                return (0, Instant::now());
            }
            let mut lane = Lane {
                sender,
                lane,
                number: 0,
            };
            lane.send::<P>(warm_up, Duration::MAX);
            start.wait();
            let begin = Instant::now();
            lane.send::<P>(share, limit);
            (lane.number, begin)
        }));
    }
    for _ in 0..lanes {
        ready.recv().expect("every sender tells where it sits")?;
    }
    seats.far.take()?;

    let mut sequences = Sequences::new(lanes);
    receive_all(&mut receiver, &mut sequences)?;
    // Behind the barrier the senders may have been at work for a while when this thread goes on.
    let before = Usage::of_process();
    start.wait();
    let mut begin = Instant::now();
    receive_all(&mut receiver, &mut sequences)?;
    let end = Instant::now();
    let after = Usage::of_process();

    let mut operations = 0;
    for (lane, thread) in threads.into_iter().enumerate() {
        let (sent, begun) = thread.join().expect("a sender does not panic");
        begin = begin.min(begun);
        let received = sequences.received(lane);
        if sent != received {
            return Err(Failure::Unverified(format!(
                "sender {lane} sent {sent} messages and {received} came"
            )));
        }
        operations += received - warm_up;
    }
    if receiver.has_more() {
        return Err(Failure::Unverified(
            "a message came after all senders' last".to_owned(),
        ));
    }

    let mut measurement = measurement(operations, end - begin, before, after);
    measurement.metrics.extend(peak_memory());
    Ok(measurement)
}

/// The figures of a stream.
pub(super) fn measurement(
    operations: u64,
    elapsed: Duration,
    before: Option<Usage>,
    after: Option<Usage>,
) -> Measurement {
    let mut metrics = vec![
        Metric::new(
            "ns_per_op",
            "ns",
            elapsed.as_nanos() as f64 / operations as f64,
        ),
        Metric::new(
            "ops_per_s",
            "1/s",
            operations as f64 / elapsed.as_secs_f64(),
        ),
    ];
    metrics.extend(metrics_between(before, after, operations));
    Measurement {
        operations,
        elapsed,
        metrics,
        note: None,
    }
}

/// One sender with its numbers.
pub(super) struct Lane<S> {
    pub(super) sender: S,
    pub(super) lane: u64,
    pub(super) number: u64,
}

impl<S> Lane<S> {
    /// Sends `count` messages, or fewer if `limit` passes, and then the mark of the end.
    pub(super) fn send<P: Packet>(&mut self, count: u64, limit: Duration)
    where
        S: Feed<P>,
    {
        let start = Instant::now();
        let end = self.number + count;
        while self.number < end && start.elapsed() < limit {
            let chunk = CHUNK.min(end - self.number);
            self.sender
                .feed(self.lane, self.number..self.number + chunk);
            self.number += chunk;
        }
        self.sender.feed(self.lane, END..END + 1);
    }
}

/// Receives until every sender has marked its end.
pub(super) fn receive_all<P: Packet>(
    receiver: &mut impl Draw<P>,
    sequences: &mut Sequences,
) -> Result<(), Failure> {
    let mut running = sequences.lanes();
    receiver.draw(|packet| {
        if sequences.accept(packet)? {
            running -= 1;
        }
        Ok(running > 0)
    })
}

/// That all of 2000 messages are counted, and that the two figures say the same.
#[cfg(test)]
pub(super) fn check_counted(measurement: &Measurement) {
    assert_eq!(measurement.operations, 2000);
    let (each, rate) = (
        measurement.value("ns_per_op").unwrap(),
        measurement.value("ops_per_s").unwrap(),
    );
    assert!((each * rate / 1e9 - 1.0).abs() < 1e-6, "{each} {rate}");
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::experiments::post::flow::Singly;
    use crate::harness::broken::{Fault, Faulty, Sound};
    use crate::{Post, Retrieve};

    fn conditions(count: u64) -> Conditions {
        Conditions {
            variant: Variant::new(count, Placement::Free),
            limit: Duration::from_secs(60),
        }
    }

    fn measure<F: Flow<Packet16, Feed: Clone>>(
        flow: F,
        lanes: usize,
        count: u64,
    ) -> Result<Measurement, Failure> {
        let (sender, receiver) = flow.open(64);
        run::<Packet16, F>(vec![sender; lanes], receiver, &conditions(count))
    }

    #[test]
    fn all_messages_of_all_senders_are_counted() {
        for lanes in [1, 4] {
            for measurement in [
                measure(OneByOne(Sound), lanes, 2000).unwrap(),
                measure(InBatches(Sound), lanes, 2000).unwrap(),
            ] {
                check_counted(&measurement);
            }
        }
    }

    #[test]
    fn lost_doubled_and_overtaken_messages_are_noticed() {
        for fault in Fault::OF_A_STREAM {
            for outcome in [
                measure(OneByOne(Faulty(fault)), 1, 2000),
                measure(InBatches(Faulty(fault)), 1, 2000),
            ] {
                assert!(
                    matches!(outcome, Err(Failure::Unverified(_))),
                    "{fault:?}: {outcome:?}"
                );
            }
        }
    }

    /// An end of a queue, and when each of its messages was at it.
    struct Noted<S> {
        inner: S,
        times: Arc<Mutex<Vec<Instant>>>,
    }

    impl<S: Post<Packet16>> Post<Packet16> for Noted<S> {
        fn send(&mut self, message: Packet16) {
            self.times.lock().unwrap().push(Instant::now());
            self.inner.send(message);
        }

        fn try_send(&mut self, message: Packet16) -> Result<(), Packet16> {
            self.inner.try_send(message)
        }
    }

    impl<S: Retrieve<Packet16>> Retrieve<Packet16> for Noted<S> {
        fn receive(&mut self) -> Packet16 {
            let message = self.inner.receive();
            self.times.lock().unwrap().push(Instant::now());
            message
        }

        fn try_receive(&mut self) -> Option<Packet16> {
            self.inner.try_receive()
        }
    }

    #[derive(Clone, Copy)]
    struct OfNoted;

    impl Flow<Packet16> for OfNoted {
        type Feed = Singly<Noted<<Sound as Queue<Packet16>>::Sender>>;
        type Draw = Singly<Noted<<Sound as Queue<Packet16>>::Receiver>>;

        fn open(&self, capacity: usize) -> (Self::Feed, Self::Draw) {
            fn noted<S>(inner: S) -> Singly<Noted<S>> {
                let times = Arc::default();
                Singly(Noted { inner, times })
            }
            let (sender, receiver) = Queue::<Packet16>::open(&Sound, capacity);
            (noted(sender), noted(receiver))
        }
    }

    /// It ran from the moment at which the receiver was on a processor again behind the barrier.
    #[test]
    fn the_clock_runs_from_before_the_first_message_is_sent() {
        for _ in 0..300 {
            let (sender, receiver) = OfNoted.open(64);
            let (sent, received) = (Arc::clone(&sender.0.times), Arc::clone(&receiver.0.times));
            let measurement =
                run::<Packet16, OfNoted>(vec![sender], receiver, &conditions(20)).unwrap();
            // Twenty messages and the mark of the end have warmed it up.
            let first = sent.lock().unwrap()[21];
            let last = *received.lock().unwrap().last().unwrap();
            assert!(measurement.elapsed >= last - first);
        }
    }

    #[test]
    fn the_time_limit_ends_it_early() {
        let (sender, receiver) = Flow::<Packet16>::open(&OneByOne(Sound), 64);
        let conditions = Conditions {
            limit: Duration::from_millis(10),
            ..conditions(u64::MAX >> 20)
        };
        let measurement =
            run::<Packet16, OneByOne<Sound>>(vec![sender], receiver, &conditions).unwrap();
        assert!(measurement.operations > 0);
        assert!(measurement.operations < conditions.variant.count);
    }
}
