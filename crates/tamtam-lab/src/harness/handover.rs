//! Ways of handing messages back and forth between two threads.

use crate::{Post, Queue, Retrieve};

/// A way of handing messages back and forth between two workers.
pub trait Handover<M>: Copy + Send + Sync + 'static {
    /// What each of the two workers holds.
    type End: End<M>;

    /// A fresh connection.
    fn connect(&self) -> (Self::End, Self::End);
}

/// One worker's end of a [`Handover`].
pub trait End<M>: Send + 'static {
    /// Hands a message to the other end; may wait until that has taken the one before.
    fn send(&mut self, message: M);

    /// Waits for the next message of the other end.
    fn receive(&mut self) -> M;
}

/// The handover through two queues, one for each direction.
#[derive(Debug, Clone, Copy)]
pub struct QueuePair<Q> {
    /// The kind of queue.
    pub queue: Q,
    /// How many messages each of the two holds, if it is bounded.
    pub capacity: usize,
}

impl<M: Send + 'static, Q: Queue<M>> Handover<M> for QueuePair<Q> {
    type End = QueueEnd<Q::Sender, Q::Receiver>;

    fn connect(&self) -> (Self::End, Self::End) {
        let (to_far, from_near) = self.queue.open(self.capacity);
        let (to_near, from_far) = self.queue.open(self.capacity);
        (
            QueueEnd::new(to_far, from_far),
            QueueEnd::new(to_near, from_near),
        )
    }
}

/// The end of a [`QueuePair`].
#[derive(Debug)]
pub struct QueueEnd<S, R> {
    pub(crate) sender: S,
    pub(crate) receiver: R,
}

impl<S, R> QueueEnd<S, R> {
    pub(crate) fn new(sender: S, receiver: R) -> Self {
        QueueEnd { sender, receiver }
    }
}

impl<M, S: Post<M>, R: Retrieve<M>> End<M> for QueueEnd<S, R> {
    fn send(&mut self, message: M) {
        self.sender.send(message);
    }

    fn receive(&mut self) -> M {
        self.receiver.receive()
    }
}
