use ::flume::{Receiver, Sender};
use tamtam_cli::drive::{
    AsyncPost, AsyncQueue, AsyncRetrieve, Card, Contender, Measure, Post, Queue, Retrieve,
};

use crate::offer::{self, Kind};

/// Its bounded channel.
pub(crate) const BOUNDED: Flume = Flume(Kind::Bounded);
/// Its unbounded channel.
pub(crate) const UNBOUNDED: Flume = Flume(Kind::Unbounded);

/// The channel of the crate `flume`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flume(Kind);

impl Contender for Flume {
    fn card(&self) -> Card {
        let (name, about) = match self.0 {
            Kind::Bounded => ("flume", "flume's bounded channel"),
            Kind::Unbounded => ("flume-unbounded", "flume's unbounded channel"),
        };
        Card {
            name,
            version: env!("VERSION_OF_FLUME"),
            ours: false,
            about,
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = offer::channel(*self, self.0);
        measures.extend(offer::tasks(*self));
        measures
    }
}

impl<M: Send + 'static> Queue<M> for Flume {
    type Sender = Sending<M>;
    type Receiver = Receiving<M>;

    fn open(&self, capacity: usize) -> (Sending<M>, Receiving<M>) {
        let (sender, receiver) = match self.0 {
            Kind::Bounded => ::flume::bounded(capacity),
            Kind::Unbounded => ::flume::unbounded(),
        };
        (Sending(sender), Receiving(receiver))
    }
}

#[derive(Debug)]
pub(crate) struct Sending<M>(Sender<M>);

impl<M> Clone for Sending<M> {
    fn clone(&self) -> Self {
        Sending(self.0.clone())
    }
}

impl<M: Send + 'static> Post<M> for Sending<M> {
    fn send(&mut self, message: M) {
        assert!(self.0.send(message).is_ok(), "the receiver is gone");
    }

    fn try_send(&mut self, message: M) -> Result<(), M> {
        self.0
            .try_send(message)
            .map_err(::flume::TrySendError::into_inner)
    }
}

#[derive(Debug)]
pub(crate) struct Receiving<M>(Receiver<M>);

impl<M: Send + 'static> Retrieve<M> for Receiving<M> {
    fn receive(&mut self) -> M {
        self.0.recv().expect("the sender is there")
    }

    fn try_receive(&mut self) -> Option<M> {
        self.0.try_recv().ok()
    }
}

impl<M: Send + 'static> AsyncQueue<M> for Flume {
    type AsyncSender = Sending<M>;
    type AsyncReceiver = Receiving<M>;

    fn open_async(&self, capacity: usize) -> (Sending<M>, Receiving<M>) {
        self.open(capacity)
    }

    fn open_to_task(&self, capacity: usize) -> (Sending<M>, Receiving<M>) {
        self.open(capacity)
    }

    fn open_from_task(&self, capacity: usize) -> (Sending<M>, Receiving<M>) {
        self.open(capacity)
    }
}

impl<M: Send + 'static> AsyncPost<M> for Sending<M> {
    async fn send_async(&mut self, message: M) {
        let sent = self.0.send_async(message).await;
        assert!(sent.is_ok(), "the receiver is gone");
    }
}

impl<M: Send + 'static> AsyncRetrieve<M> for Receiving<M> {
    async fn receive_async(&mut self) -> M {
        self.0.recv_async().await.expect("the sender is there")
    }
}
