//! What a channel that is not ours takes part in: the same for all of them, the standard library's and those of peers.

use crate::ask::{ByQueues, Origin, Request};
#[cfg(feature = "tokio")]
use crate::{AsyncQueue, async_turns};
use crate::{
    BatchQueue, Measure, Packet16, Packet64, Queue, QueuePair, Stamp, StdGate, Text, Turn, ask,
    crowd, idle, post, sparse, stream, turns,
};

/// Whether a channel holds a limited number of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// As many as it is opened for: 1 each way in turns, COUNT in `post`, 10,000 in streams.
    Bounded,
    /// Any number.
    Unbounded,
}

/// Everything that a channel whose ends wait and whose sender can be cloned takes part in.
pub fn channel<Q>(queue: Q, kind: Kind) -> Vec<Measure>
where
    Q: Queue<Turn> + Queue<Text> + Queue<Stamp>,
    Q: Queue<Packet16, Sender: Clone> + Queue<Packet64, Sender: Clone>,
{
    let mut measures = single(queue, kind);
    measures.extend(stream::fan_in(queue));
    measures
}

/// Everything that such a channel takes part in if tasks can use it, too.
#[cfg(feature = "tokio")]
pub fn channel_for_tasks<Q>(queue: Q, kind: Kind) -> Vec<Measure>
where
    Q: AsyncQueue<Turn> + Queue<Text> + Queue<Stamp>,
    Q: Queue<Packet16, Sender: Clone> + Queue<Packet64, Sender: Clone>,
{
    let mut measures = channel(queue, kind);
    measures.extend(tasks(queue));
    measures
}

/// Everything that a channel whose ends wait and that has one sender only takes part in.
pub fn single<Q>(queue: Q, kind: Kind) -> Vec<Measure>
where
    Q: Queue<Turn> + Queue<Text> + Queue<Stamp> + Queue<Packet16> + Queue<Packet64>,
{
    let mut measures = handover(queue);
    measures.extend(many(queue, kind));
    measures
}

/// Messages there and back between threads.
pub fn handover<Q>(queue: Q) -> Vec<Measure>
where
    Q: Queue<Turn> + Queue<Text> + Queue<Stamp>,
{
    let pair = QueuePair { queue, capacity: 1 };
    let mut measures = turns::measures(pair);
    measures.push(turns::string(pair));
    measures.extend(sparse::measures(pair));
    measures.push(crowd::measure(pair));
    measures.push(idle::measure(pair));
    measures
}

/// Everything that a queue that cannot wait, and so keeps its processor busy, takes part in from one sender.
pub fn polled<Q>(queue: Q, kind: Kind) -> Vec<Measure>
where
    Q: Queue<Turn> + Queue<Text> + Queue<Packet16> + Queue<Packet64>,
{
    let pair = QueuePair { queue, capacity: 1 };
    let mut measures = turns::measures(pair);
    measures.push(turns::string(pair));
    measures.extend(many(queue, kind));
    measures
}

/// What one sender and one receiver do with many messages.
fn many<Q>(queue: Q, kind: Kind) -> Vec<Measure>
where
    Q: Queue<Packet16> + Queue<Packet64>,
{
    let mut measures = post::measures::<_, StdGate>(queue);
    measures.extend(stream::measures(queue));
    if kind == Kind::Bounded {
        measures.push(post::limit::<_, StdGate>(queue));
    }
    measures
}

/// Everything that a way takes part in whose receiver takes many messages at a time and whose sender can be cloned.
pub fn batches<Q>(queue: Q) -> Vec<Measure>
where
    Q: BatchQueue<Packet16, Sender: Clone> + BatchQueue<Packet64, Sender: Clone>,
{
    let mut measures = post::batched::<_, StdGate>(queue);
    measures.extend(stream::batched(queue));
    measures.extend(stream::batched_fan_in(queue));
    measures
}

/// The turns in which tasks take part: two tasks, and a task with a thread that blocks.
#[cfg(feature = "tokio")]
pub fn tasks<Q: AsyncQueue<Turn>>(queue: Q) -> Vec<Measure> {
    let pair = QueuePair { queue, capacity: 1 };
    let mut measures = vec![async_turns::tokio(pair), async_turns::small(pair)];
    measures.extend(async_turns::mixed(pair));
    measures
}

/// Questions to a thread that takes them out of one queue and puts its answers into another.
pub fn asks<Q: Queue<Request> + Queue<u64>>(queue: Q) -> Vec<Measure> {
    ask::measures(ByQueues(queue), &[Origin::Thread])
}
