//! What a channel of ours takes part in: the same for all of them.

use super::gate::EventGate;
use crate::{
    AsyncQueue, BatchQueue, Measure, Packet16, Packet64, Queue, QueuePair, Stamp, Text, Turn,
    async_turns, crowd, idle, post, sparse, stream, turns,
};

/// Messages there and back, between threads and between tasks.
pub(super) fn handover<Q>(queue: Q) -> Vec<Measure>
where
    Q: AsyncQueue<Turn> + Queue<Text> + Queue<Stamp>,
{
    let pair = QueuePair { queue, capacity: 1 };
    let mut measures = turns::measures(pair);
    measures.push(turns::string(pair));
    measures.push(async_turns::tokio(pair));
    measures.push(async_turns::small(pair));
    measures.extend(async_turns::mixed(pair));
    measures.extend(sparse::measures(pair));
    measures.push(crowd::measure(pair));
    measures.push(idle::measure(pair));
    measures
}

/// [`handover`], and many messages from one sender.
pub(super) fn single<Q>(queue: Q) -> Vec<Measure>
where
    Q: AsyncQueue<Turn> + Queue<Text> + Queue<Stamp> + Queue<Packet16> + Queue<Packet64>,
{
    let mut measures = handover(queue);
    measures.extend(post::measures::<_, EventGate>(queue));
    measures.extend(stream::measures(queue));
    measures
}

/// Many messages from one sender, received many at a time.
pub(super) fn batches<Q>(queue: Q) -> Vec<Measure>
where
    Q: BatchQueue<Packet16> + BatchQueue<Packet64>,
{
    let mut measures = post::batched::<_, EventGate>(queue);
    measures.extend(stream::batched(queue));
    measures
}
