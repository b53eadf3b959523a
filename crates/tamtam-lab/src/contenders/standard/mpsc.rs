//! The standard library's channels.

use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};

use super::VERSION;
use crate::offer::{self, Kind};
use crate::{Card, Contender, Measure, Post, Queue, Retrieve, grid};

/// `sync_channel`.
pub(super) const BOUNDED: StdMpsc = StdMpsc(Kind::Bounded);
/// `channel`.
pub(super) const UNBOUNDED: StdMpsc = StdMpsc(Kind::Unbounded);

/// The standard library's channel.
#[derive(Debug, Clone, Copy)]
pub(super) struct StdMpsc(Kind);

impl Contender for StdMpsc {
    fn card(&self) -> Card {
        let (name, about) = match self.0 {
            Kind::Bounded => ("std::sync::mpsc", "the standard library's sync_channel"),
            Kind::Unbounded => (
                "std::sync::mpsc-unbounded",
                "the standard library's channel",
            ),
        };
        Card {
            name,
            version: VERSION,
            ours: false,
            about,
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = offer::channel(*self, self.0);
        measures.extend(offer::asks(*self));
        measures.extend(grid::one_to_one(*self, self.0));
        measures.extend(grid::fan_in(*self, self.0));
        measures
    }
}

impl<M: Send + 'static> Queue<M> for StdMpsc {
    type Sender = Sending<M>;
    type Receiver = Receiving<M>;

    fn open(&self, capacity: usize) -> (Sending<M>, Receiving<M>) {
        match self.0 {
            Kind::Bounded => {
                let (sender, receiver) = sync_channel(capacity);
                (Sending::Bounded(sender), Receiving(receiver))
            }
            Kind::Unbounded => {
                let (sender, receiver) = channel();
                (Sending::Unbounded(sender), Receiving(receiver))
            }
        }
    }
}

/// The two kinds have senders of two types.
#[derive(Debug)]
pub(super) enum Sending<M> {
    Bounded(SyncSender<M>),
    Unbounded(Sender<M>),
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
            Sending::Bounded(sender) => sender.send(message),
            Sending::Unbounded(sender) => sender.send(message),
        };
        assert!(sent.is_ok(), "the receiver is gone");
    }

    fn try_send(&mut self, message: M) -> Result<(), M> {
        match self {
            Sending::Bounded(sender) => sender.try_send(message).map_err(|error| match error {
                TrySendError::Full(message) | TrySendError::Disconnected(message) => message,
            }),
            Sending::Unbounded(sender) => sender.send(message).map_err(|error| error.0),
        }
    }
}

#[derive(Debug)]
pub(super) struct Receiving<M>(Receiver<M>);

impl<M: Send + 'static> Retrieve<M> for Receiving<M> {
    fn receive(&mut self) -> M {
        self.0.recv().expect("the sender is there")
    }

    fn try_receive(&mut self) -> Option<M> {
        self.0.try_recv().ok()
    }
}
