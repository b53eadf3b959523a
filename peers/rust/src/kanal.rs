use ::kanal::{Receiver, Sender};
use tamtam_cli::drive::{
    AsyncPost, AsyncQueue, AsyncRetrieve, Card, Contender, Measure, Post, Queue, Retrieve,
};

use crate::offer::{self, Kind};

/// Its bounded channel.
pub(crate) const BOUNDED: Kanal = Kanal(Kind::Bounded);
/// Its unbounded channel.
pub(crate) const UNBOUNDED: Kanal = Kanal(Kind::Unbounded);

/// The channel of the crate `kanal`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kanal(Kind);

impl Contender for Kanal {
    fn card(&self) -> Card {
        let (name, about) = match self.0 {
            Kind::Bounded => ("kanal", "kanal's bounded channel"),
            Kind::Unbounded => ("kanal-unbounded", "kanal's unbounded channel"),
        };
        Card {
            name,
            version: env!("VERSION_OF_KANAL"),
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

impl<M: Send + 'static> Queue<M> for Kanal {
    type Sender = Sending<M>;
    type Receiver = Receiving<M>;

    fn open(&self, capacity: usize) -> (Sending<M>, Receiving<M>) {
        let (sender, receiver) = match self.0 {
            Kind::Bounded => ::kanal::bounded(capacity),
            Kind::Unbounded => ::kanal::unbounded(),
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
        // The plain `try_send` drops a refused message; this one leaves it in its place.
        let mut place = Some(message);
        let sent = self
            .0
            .try_send_option(&mut place)
            .expect("the receiver is there");
        match place {
            Some(message) if !sent => Err(message),
            _ => Ok(()),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Receiving<M>(Receiver<M>);

impl<M: Send + 'static> Retrieve<M> for Receiving<M> {
    fn receive(&mut self) -> M {
        self.0.recv().expect("the sender is there")
    }

    fn try_receive(&mut self) -> Option<M> {
        self.0.try_recv().ok().flatten()
    }
}

impl<M: Send + 'static> AsyncQueue<M> for Kanal {
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
        let sent = self.0.as_async().send(message).await;
        assert!(sent.is_ok(), "the receiver is gone");
    }
}

impl<M: Send + 'static> AsyncRetrieve<M> for Receiving<M> {
    async fn receive_async(&mut self) -> M {
        self.0.as_async().recv().await.expect("the sender is there")
    }
}
