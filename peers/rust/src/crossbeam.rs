use ::crossbeam_channel::{Receiver, Sender};
use tamtam_cli::drive::{Card, Contender, Measure, Post, Queue, Retrieve};

use crate::offer::{self, Kind};

/// Its bounded channel.
pub(crate) const BOUNDED: Crossbeam = Crossbeam(Kind::Bounded);
/// Its unbounded channel.
pub(crate) const UNBOUNDED: Crossbeam = Crossbeam(Kind::Unbounded);

/// The channel of the crate `crossbeam-channel`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crossbeam(Kind);

impl Contender for Crossbeam {
    fn card(&self) -> Card {
        let (name, about) = match self.0 {
            Kind::Bounded => ("crossbeam-channel", "crossbeam-channel's bounded channel"),
            Kind::Unbounded => (
                "crossbeam-channel-unbounded",
                "crossbeam-channel's unbounded channel",
            ),
        };
        Card {
            name,
            version: env!("VERSION_OF_CROSSBEAM_CHANNEL"),
            ours: false,
            about,
        }
    }

    fn measures(&self) -> Vec<Measure> {
        offer::channel(*self, self.0)
    }
}

impl<M: Send + 'static> Queue<M> for Crossbeam {
    type Sender = Sending<M>;
    type Receiver = Receiving<M>;

    fn open(&self, capacity: usize) -> (Sending<M>, Receiving<M>) {
        let (sender, receiver) = match self.0 {
            Kind::Bounded => ::crossbeam_channel::bounded(capacity),
            Kind::Unbounded => ::crossbeam_channel::unbounded(),
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
            .map_err(::crossbeam_channel::TrySendError::into_inner)
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
