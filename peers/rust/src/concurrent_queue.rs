use std::sync::Arc;

use ::concurrent_queue::{ConcurrentQueue, PushError};
use tamtam_lab::{Card, Contender, Measure, Post, Queue, Retrieve, stream};

use crate::insist::insist;
use tamtam_lab::offer::{self, Kind};

/// Its bounded queue.
pub(crate) const BOUNDED: Concurrent = Concurrent(Kind::Bounded);
/// Its unbounded queue.
pub(crate) const UNBOUNDED: Concurrent = Concurrent(Kind::Unbounded);

/// The queue of the crate `concurrent-queue`, which is what `async-channel` is made of. It cannot wait; here it spins for
/// a moment and then yields, for as long as it takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Concurrent(Kind);

impl Contender for Concurrent {
    fn card(&self) -> Card {
        let (name, about) = match self.0 {
            Kind::Bounded => (
                "concurrent-queue",
                "concurrent-queue's bounded queue; it cannot wait: spins 32 times, then yields for ever",
            ),
            Kind::Unbounded => (
                "concurrent-queue-unbounded",
                "concurrent-queue's unbounded queue; it cannot wait: spins 32 times, then yields for ever",
            ),
        };
        Card {
            name,
            version: env!("VERSION_OF_CONCURRENT_QUEUE"),
            ours: false,
            about,
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = offer::polled(*self, self.0);
        measures.extend(stream::fan_in(*self));
        measures
    }
}

impl<M: Send + 'static> Queue<M> for Concurrent {
    type Sender = Shared<M>;
    type Receiver = Shared<M>;

    fn open(&self, capacity: usize) -> (Shared<M>, Shared<M>) {
        let queue = Arc::new(match self.0 {
            Kind::Bounded => ConcurrentQueue::bounded(capacity),
            Kind::Unbounded => ConcurrentQueue::unbounded(),
        });
        (Shared(Arc::clone(&queue)), Shared(queue))
    }
}

/// The queue, which has no ends of its own.
#[derive(Debug)]
pub(crate) struct Shared<M>(Arc<ConcurrentQueue<M>>);

impl<M> Clone for Shared<M> {
    fn clone(&self) -> Self {
        Shared(Arc::clone(&self.0))
    }
}

impl<M: Send + 'static> Post<M> for Shared<M> {
    fn send(&mut self, message: M) {
        let mut refused = Some(message);
        insist(|| {
            refused = self.try_send(refused.take()?).err();
            refused.is_none().then_some(())
        });
    }

    fn try_send(&mut self, message: M) -> Result<(), M> {
        self.0.push(message).map_err(PushError::into_inner)
    }
}

impl<M: Send + 'static> Retrieve<M> for Shared<M> {
    fn receive(&mut self) -> M {
        insist(|| self.0.pop().ok())
    }

    fn try_receive(&mut self) -> Option<M> {
        self.0.pop().ok()
    }
}
