//! `post`, extras `stream-…`, between two processes: one sender here and the receiver in the other one.
//!
//! The receiver is a server ([`Contender::serve_part`](crate::Contender::serve_part), the part is the packet's size) that runs [`receive`] or
//! [`receive_many`] and sits where the receiving thread would. It checks each message as that one does, and says at each mark of the end how many
//! have come: the clock runs until this process has read that, and it must be as many as were sent. What the server uses of the machine is counted, too.

use std::time::{Duration, Instant};

use super::flow::{BatchDraw, BatchFeed, Draw, Feed, Singly};
use super::stream::{self, Lane};
use crate::harness::packet::Sequences;
use crate::measure::seats::Seats;
use crate::measure::usage::Usage;
use crate::post::EXPERIMENT;
use crate::{
    Conditions, Failure, Measure, Measurement, Packet, Post, PostMany, Retrieve, RetrieveMany,
    ServerProcess, Turn,
};

/// A way of passing many messages from this process to another one.
pub trait ProcessQueue<P>: Copy + Send + Sync + 'static {
    /// What this process sends by.
    type Sender;
    /// By what it learns how many messages have come.
    type Counts: Retrieve<Turn>;

    /// Starts the server, and connects to it. A bounded queue holds [`stream::CAPACITY`] messages.
    ///
    /// # Errors
    /// There is no such server here.
    fn open(&self) -> Result<(ServerProcess, Self::Sender, Self::Counts), Failure>;
}

/// One sender: `10000000/2cores/stream-16B` and `stream-64B`.
pub fn measures<Q>(queue: Q) -> Vec<Measure>
where
    Q: ProcessQueue<[u64; 2], Sender: Post<[u64; 2]>>,
    Q: ProcessQueue<[u64; 8], Sender: Post<[u64; 8]>>,
{
    vec![
        stream::<[u64; 2], _, _>(queue, Singly),
        stream::<[u64; 8], _, _>(queue, Singly),
    ]
}

/// The same through a way that takes many messages at a time, in batches of up to 256.
pub fn batched<Q>(queue: Q) -> Vec<Measure>
where
    Q: ProcessQueue<[u64; 2], Sender: PostMany<[u64; 2]>>,
    Q: ProcessQueue<[u64; 8], Sender: PostMany<[u64; 8]>>,
{
    vec![
        stream::<[u64; 2], _, _>(queue, BatchFeed),
        stream::<[u64; 8], _, _>(queue, BatchFeed),
    ]
}

fn stream<P: Packet, Q: ProcessQueue<P>, F: Feed<P>>(
    queue: Q,
    feed: fn(Q::Sender) -> F,
) -> Measure {
    Measure::new(EXPERIMENT, stream::variant::<P>(), move |conditions| {
        let seats = Seats::of(conditions.variant.placement)?;
        // The server runs where the thread that starts it may.
        seats.far.take()?;
        let (mut process, sender, counts) = queue.open()?;
        seats.near.take()?;
        run::<P, F>(feed(sender), counts, conditions, || {
            process.usage_with_this()
        })
    })
}

fn run<P: Packet, F: Feed<P>>(
    sender: F,
    mut counts: impl Retrieve<Turn>,
    conditions: &Conditions,
    mut usage: impl FnMut() -> Option<Usage>,
) -> Result<Measurement, Failure> {
    let count = conditions.variant.count;
    let mut lane = Lane {
        sender,
        lane: 0,
        number: 0,
    };
    lane.send::<P>(stream::WARM_UP.min(count), Duration::MAX);
    agree(lane.number, counts.receive())?;
    let (warm_up, before) = (lane.number, usage());
    let begin = Instant::now();
    lane.send::<P>(count, conditions.limit);
    agree(lane.number, counts.receive())?;
    let elapsed = begin.elapsed();
    let after = usage();
    Ok(stream::measurement(
        lane.number - warm_up,
        elapsed,
        before,
        after,
    ))
}

/// What says, instead of how many messages have come, that the one after so many was refused.
const REFUSED: u64 = 1 << 63;

/// What a [`Retrieve`] gives if there will be no count: the other process is gone.
pub const GONE: Turn = Turn(u64::MAX);

/// What a [`Retrieve`] of the server gives if no message will come any more: a packet that is refused.
#[must_use]
pub fn nothing_more<P: Packet>() -> P {
    P::new(u64::from(u16::MAX), 0)
}

/// Compares how many messages were sent and have come.
fn agree(sent: u64, came: Turn) -> Result<(), Failure> {
    let reason = match came {
        Turn(came) if came == sent => return Ok(()),
        GONE => "the receiver's process is gone".to_owned(),
        Turn(came) if came & REFUSED != 0 => {
            let number = came & !REFUSED;
            format!("what came after {number} messages was lost, overtaken, doubled or damaged")
        }
        Turn(came) => format!("{sent} messages were sent and {came} came"),
    };
    Err(Failure::Unverified(reason))
}

/// The server's side: receives one message at a time and checks it, until one is refused.
pub fn receive<P: Packet>(receiver: impl Retrieve<P>, counts: impl Post<Turn>) {
    check_all::<P>(Singly(receiver), counts);
}

/// The same, many messages at a time.
pub fn receive_many<P: Packet>(receiver: impl RetrieveMany<P>, counts: impl Post<Turn>) {
    check_all::<P>(BatchDraw::new(receiver), counts);
}

fn check_all<P: Packet>(mut receiver: impl Draw<P>, mut counts: impl Post<Turn>) {
    let mut sequences = Sequences::new(1);
    loop {
        let is_sound = stream::receive_all(&mut receiver, &mut sequences).is_ok();
        let count = sequences.received(0);
        if !is_sound || receiver.has_more() {
            return counts.send(Turn(REFUSED | count));
        }
        counts.send(Turn(count));
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::harness::broken::{Fault, Faulty, Sound};
    use crate::{BatchQueue, Placement, Queue, Variant};

    /// For all messages: a sender does not wait for a receiver that has stopped.
    const ROOM: usize = 10_000;

    /// Between two threads, which the bodies do not see.
    fn measure<Q>(queue: Q, is_batched: bool) -> Result<Measurement, Failure>
    where
        Q: Queue<[u64; 2]> + BatchQueue<[u64; 2]>,
    {
        let conditions = Conditions {
            variant: Variant::new(2000, Placement::Free),
            limit: Duration::from_secs(60),
        };
        let (there, counts) = Queue::<Turn>::open(&Sound, 4);
        if is_batched {
            let (sender, receiver) = BatchQueue::<[u64; 2]>::open(&queue, ROOM);
            thread::spawn(|| receive_many(receiver, there));
            run::<[u64; 2], _>(BatchFeed(sender), counts, &conditions, || None)
        } else {
            let (sender, receiver) = Queue::<[u64; 2]>::open(&queue, ROOM);
            thread::spawn(|| receive(receiver, there));
            run::<[u64; 2], _>(Singly(sender), counts, &conditions, || None)
        }
    }

    #[test]
    fn all_messages_are_counted() {
        for is_batched in [false, true] {
            let measurement = measure(Sound, is_batched).unwrap();
            stream::check_counted(&measurement);
        }
    }

    #[test]
    fn lost_doubled_and_overtaken_messages_are_noticed() {
        for fault in Fault::OF_A_STREAM {
            for is_batched in [false, true] {
                let outcome = measure(Faulty(fault), is_batched);
                assert!(
                    matches!(outcome, Err(Failure::Unverified(_))),
                    "{fault:?}: {outcome:?}"
                );
            }
        }
    }

    #[test]
    fn a_receiver_that_is_gone_or_has_refused_is_told_of() {
        assert_eq!(agree(5, Turn(5)), Ok(()));
        for (came, words) in [
            (GONE, "gone"),
            (Turn(4), "5 messages were sent and 4 came"),
            (Turn(REFUSED | 3), "after 3 messages"),
        ] {
            let failure = agree(5, came).unwrap_err().to_string();
            assert!(failure.contains(words), "{failure}");
        }
        let mut sequences = Sequences::new(1);
        assert!(sequences.accept(&nothing_more::<[u64; 2]>()).is_err());
    }
}
