use tamtam_lab::for_tasks;
use tamtam_lab::{AsyncPost, AsyncRetrieve, Card, Contender, Measure, Post, Queue, Retrieve, grid};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{
    Receiver, Sender, UnboundedReceiver, UnboundedSender, channel, unbounded_channel,
};

use tamtam_lab::offer::{self, Kind};

/// `channel`.
pub(crate) const BOUNDED: TokioMpsc = TokioMpsc(Kind::Bounded);
/// `unbounded_channel`.
pub(crate) const UNBOUNDED: TokioMpsc = TokioMpsc(Kind::Unbounded);

/// The channel `tokio::sync::mpsc`. Threads use its `blocking_send` and `blocking_recv`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TokioMpsc(Kind);

impl Contender for TokioMpsc {
    fn card(&self) -> Card {
        let (name, about) = match self.0 {
            Kind::Bounded => (
                "tokio-mpsc",
                "tokio's bounded channel, made for tasks; threads use its blocking calls",
            ),
            Kind::Unbounded => (
                "tokio-mpsc-unbounded",
                "tokio's unbounded channel, made for tasks; threads use its blocking calls",
            ),
        };
        Card {
            name,
            version: env!("VERSION_OF_TOKIO"),
            ours: false,
            about,
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = offer::channel_for_tasks(*self, self.0);
        measures.extend(grid::one_to_one(*self, self.0));
        measures.extend(grid::fan_in(*self, self.0));
        measures.extend(grid::tasks(*self, self.0));
        measures.extend(grid::tasks_fan_in(*self, self.0));
        measures
    }
}

impl<M: Send + 'static> Queue<M> for TokioMpsc {
    type Sender = Sending<M>;
    type Receiver = Receiving<M>;

    fn open(&self, capacity: usize) -> (Sending<M>, Receiving<M>) {
        match self.0 {
            Kind::Bounded => {
                let (sender, receiver) = channel(capacity);
                (Sending::Bounded(sender), Receiving::Bounded(receiver))
            }
            Kind::Unbounded => {
                let (sender, receiver) = unbounded_channel();
                (Sending::Unbounded(sender), Receiving::Unbounded(receiver))
            }
        }
    }
}

for_tasks!(TokioMpsc);

/// The two kinds have ends of two types.
#[derive(Debug)]
pub(crate) enum Sending<M> {
    Bounded(Sender<M>),
    Unbounded(UnboundedSender<M>),
}

impl<M> Clone for Sending<M> {
    fn clone(&self) -> Self {
        match self {
            Sending::Bounded(sender) => Sending::Bounded(sender.clone()),
            Sending::Unbounded(sender) => Sending::Unbounded(sender.clone()),
        }
    }
}

impl<M: Send + 'static> Post<M> for Sending<M> {
    fn send(&mut self, message: M) {
        let sent = match self {
            Sending::Bounded(sender) => sender.blocking_send(message),
            Sending::Unbounded(sender) => sender.send(message),
        };
        assert!(sent.is_ok(), "the receiver is gone");
    }

    fn try_send(&mut self, message: M) -> Result<(), M> {
        match self {
            Sending::Bounded(sender) => sender.try_send(message).map_err(|error| match error {
                TrySendError::Full(message) | TrySendError::Closed(message) => message,
            }),
            Sending::Unbounded(sender) => sender.send(message).map_err(|error| error.0),
        }
    }
}

impl<M: Send + 'static> AsyncPost<M> for Sending<M> {
    async fn send_async(&mut self, message: M) {
        let sent = match self {
            Sending::Bounded(sender) => sender.send(message).await,
            Sending::Unbounded(sender) => sender.send(message),
        };
        assert!(sent.is_ok(), "the receiver is gone");
    }
}

#[derive(Debug)]
pub(crate) enum Receiving<M> {
    Bounded(Receiver<M>),
    Unbounded(UnboundedReceiver<M>),
}

impl<M: Send + 'static> Retrieve<M> for Receiving<M> {
    fn receive(&mut self) -> M {
        let received = match self {
            Receiving::Bounded(receiver) => receiver.blocking_recv(),
            Receiving::Unbounded(receiver) => receiver.blocking_recv(),
        };
        received.expect("the sender is there")
    }

    fn try_receive(&mut self) -> Option<M> {
        let received = match self {
            Receiving::Bounded(receiver) => receiver.try_recv(),
            Receiving::Unbounded(receiver) => receiver.try_recv(),
        };
        received.ok()
    }
}

impl<M: Send + 'static> AsyncRetrieve<M> for Receiving<M> {
    async fn receive_async(&mut self) -> M {
        let received = match self {
            Receiving::Bounded(receiver) => receiver.recv().await,
            Receiving::Unbounded(receiver) => receiver.recv().await,
        };
        received.expect("the sender is there")
    }
}
