use ::async_channel::{Receiver, Sender};
use tamtam_cli::drive::{
    AsyncPost, AsyncQueue, AsyncRetrieve, Card, Contender, Measure, Post, Queue, Retrieve,
};

use crate::offer::{self, Kind};

/// Its bounded channel.
pub(crate) const BOUNDED: AsyncChannel = AsyncChannel(Kind::Bounded);
/// Its unbounded channel.
pub(crate) const UNBOUNDED: AsyncChannel = AsyncChannel(Kind::Unbounded);

/// The channel of the crate `async-channel`. Threads use its `send_blocking` and `recv_blocking`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AsyncChannel(Kind);

impl Contender for AsyncChannel {
    fn card(&self) -> Card {
        let (name, about) = match self.0 {
            Kind::Bounded => ("async-channel", "async-channel's bounded channel"),
            Kind::Unbounded => (
                "async-channel-unbounded",
                "async-channel's unbounded channel",
            ),
        };
        Card {
            name,
            version: env!("VERSION_OF_ASYNC_CHANNEL"),
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

impl<M: Send + 'static> Queue<M> for AsyncChannel {
    type Sender = Sending<M>;
    type Receiver = Receiving<M>;

    fn open(&self, capacity: usize) -> (Sending<M>, Receiving<M>) {
        let (sender, receiver) = match self.0 {
            Kind::Bounded => ::async_channel::bounded(capacity),
            Kind::Unbounded => ::async_channel::unbounded(),
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
        assert!(
            self.0.send_blocking(message).is_ok(),
            "the receiver is gone"
        );
    }

    fn try_send(&mut self, message: M) -> Result<(), M> {
        self.0
            .try_send(message)
            .map_err(::async_channel::TrySendError::into_inner)
    }
}

#[derive(Debug)]
pub(crate) struct Receiving<M>(Receiver<M>);

impl<M: Send + 'static> Retrieve<M> for Receiving<M> {
    fn receive(&mut self) -> M {
        self.0.recv_blocking().expect("the sender is there")
    }

    fn try_receive(&mut self) -> Option<M> {
        self.0.try_recv().ok()
    }
}

impl<M: Send + 'static> AsyncQueue<M> for AsyncChannel {
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
        let sent = self.0.send(message).await;
        assert!(sent.is_ok(), "the receiver is gone");
    }
}

impl<M: Send + 'static> AsyncRetrieve<M> for Receiving<M> {
    async fn receive_async(&mut self) -> M {
        self.0.recv().await.expect("the sender is there")
    }
}
