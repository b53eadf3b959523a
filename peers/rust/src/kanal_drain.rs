use ::kanal::{Receiver, Sender};
use tamtam_lab::{BatchQueue, Card, Contender, Measure, PostMany, RetrieveMany, grid};

use tamtam_lab::offer::{self, Kind};

/// Its bounded channel.
pub(crate) const BOUNDED: KanalDrain = KanalDrain(Kind::Bounded);
/// Its unbounded channel.
pub(crate) const UNBOUNDED: KanalDrain = KanalDrain(Kind::Unbounded);

/// The channel of the crate `kanal`, whose receiver takes everything that is there with `drain_into`. That does not
/// wait: where nothing is there, it waits for one message with `recv`. Messages are sent one by one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KanalDrain(Kind);

impl Contender for KanalDrain {
    fn card(&self) -> Card {
        let (name, about) = match self.0 {
            Kind::Bounded => (
                "kanal-drain",
                "kanal's bounded channel, drained: everything that is there at once",
            ),
            Kind::Unbounded => (
                "kanal-drain-unbounded",
                "kanal's unbounded channel, drained: everything that is there at once",
            ),
        };
        Card {
            name,
            version: env!("VERSION_OF_KANAL"),
            ours: false,
            about,
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = offer::batches(*self);
        measures.extend(grid::batches(*self, self.0));
        measures.extend(grid::batched_fan_in(*self, self.0));
        measures
    }
}

impl<M: Send + 'static> BatchQueue<M> for KanalDrain {
    type Sender = Sending<M>;
    type Receiver = Draining<M>;

    fn open(&self, capacity: usize) -> (Sending<M>, Draining<M>) {
        let (sender, receiver) = match self.0 {
            Kind::Bounded => ::kanal::bounded(capacity),
            Kind::Unbounded => ::kanal::unbounded(),
        };
        (Sending(sender), Draining(receiver))
    }
}

#[derive(Debug)]
pub(crate) struct Sending<M>(Sender<M>);

impl<M> Clone for Sending<M> {
    fn clone(&self) -> Self {
        Sending(self.0.clone())
    }
}

impl<M: Send + 'static> PostMany<M> for Sending<M> {
    fn send_many(&mut self, messages: impl ExactSizeIterator<Item = M>) {
        for message in messages {
            assert!(self.0.send(message).is_ok(), "the receiver is gone");
        }
    }
}

#[derive(Debug)]
pub(crate) struct Draining<M>(Receiver<M>);

impl<M: Send + 'static> RetrieveMany<M> for Draining<M> {
    fn receive_many(&mut self, buffer: &mut Vec<M>, limit: usize) {
        self.try_receive_many(buffer, limit);
        if buffer.is_empty() {
            buffer.push(self.0.recv().expect("the sender is there"));
        }
    }

    fn try_receive_many(&mut self, buffer: &mut Vec<M>, _limit: usize) {
        self.0.drain_into(buffer).expect("the sender is there");
    }
}
