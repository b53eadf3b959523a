//! Our channels, received from in batches.

use tamtam_channel::{Receiver, Sender, bounded, mpsc, spsc, unbounded};

use super::{VERSION, offer};
use crate::offer::Kind;
use crate::{BatchQueue, Card, Contender, Measure, PostMany, RetrieveMany, grid, stream};

/// The bounded channel, sent into one by one and received from with `recv_many`.
pub(super) const CHANNEL: ChannelBatches = ChannelBatches { bounded: true };
/// The unbounded channel, likewise.
pub(super) const CHANNEL_UNBOUNDED: ChannelBatches = ChannelBatches { bounded: false };

/// Our channel, received from in batches.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChannelBatches {
    bounded: bool,
}

/// `mpsc` without a bound, sent into one by one and received from with `recv_many`.
pub(super) const MPSC: MpscBatches = MpscBatches { senders: None };
/// `mpsc` with a bound, likewise.
pub(super) const MPSC_BOUNDED: MpscBatches = MpscBatches { senders: Some(1) };

/// `mpsc`, sent into one by one and received from with `recv_many`.
#[derive(Debug, Clone, Copy)]
pub(super) struct MpscBatches {
    /// How many senders share the room that the experiment gives to all; none if there is no bound.
    senders: Option<usize>,
}

/// `spsc`, with `send_many` and `recv_many`.
#[derive(Debug, Clone, Copy)]
pub(super) struct SpscBatches;

impl Contender for ChannelBatches {
    fn card(&self) -> Card {
        let (name, about) = if self.bounded {
            (
                "channel-recv-many",
                "bounded channel: messages sent one by one, received with recv_many",
            )
        } else {
            (
                "channel-unbounded-recv-many",
                "unbounded channel: messages sent one by one, received with recv_many",
            )
        };
        Card {
            name,
            version: VERSION,
            ours: true,
            about,
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = offer::batches(*self);
        measures.extend(stream::batched_fan_in(*self));
        let kind = kind_of(self.bounded);
        measures.extend(grid::batches(*self, kind));
        measures.extend(grid::batched_fan_in(*self, kind));
        measures
    }
}

impl Contender for MpscBatches {
    fn card(&self) -> Card {
        let (name, about) = match self.senders {
            None => (
                "mpsc-recv-many",
                "unbounded mpsc: messages sent one by one, received with recv_many",
            ),
            Some(_) => (
                "mpsc-bounded-recv-many",
                "bounded mpsc, a share of the room for each sender: sent one by one, received with recv_many",
            ),
        };
        Card {
            name,
            version: VERSION,
            ours: true,
            about,
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = offer::batches(*self);
        let all = stream::FAN_IN as usize;
        let shared = MpscBatches {
            senders: self.senders.map(|_| all),
        };
        measures.extend(stream::batched_fan_in(shared));
        let kind = kind_of(self.senders.is_some());
        measures.extend(grid::batches(*self, kind));
        measures.extend(grid::batched_fan_in(shared, kind));
        measures
    }
}

impl Contender for SpscBatches {
    fn card(&self) -> Card {
        Card {
            name: "spsc-batches",
            version: VERSION,
            ours: true,
            about: "spsc: messages sent with send_many, received with recv_many",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = offer::batches(*self);
        measures.extend(grid::batches(*self, Kind::Bounded));
        measures
    }
}

fn kind_of(bounded: bool) -> Kind {
    if bounded {
        Kind::Bounded
    } else {
        Kind::Unbounded
    }
}

impl<M: Send + 'static> BatchQueue<M> for ChannelBatches {
    type Sender = Sender<M>;
    type Receiver = Receiver<M>;

    fn open(&self, capacity: usize) -> (Sender<M>, Receiver<M>) {
        if self.bounded {
            bounded(capacity)
        } else {
            unbounded()
        }
    }
}

impl<M: Send + 'static> BatchQueue<M> for MpscBatches {
    type Sender = mpsc::Sender<M>;
    type Receiver = mpsc::Receiver<M>;

    fn open(&self, capacity: usize) -> (mpsc::Sender<M>, mpsc::Receiver<M>) {
        match self.senders {
            None => mpsc::unbounded(),
            Some(senders) => mpsc::bounded((capacity / senders).max(1)),
        }
    }
}

impl<M: Send + 'static> BatchQueue<M> for SpscBatches {
    type Sender = spsc::Sender<M>;
    type Receiver = spsc::Receiver<M>;

    fn open(&self, capacity: usize) -> (spsc::Sender<M>, spsc::Receiver<M>) {
        spsc::bounded(capacity)
    }
}

impl<M: Send + 'static> PostMany<M> for Sender<M> {
    fn send_many(&mut self, messages: impl ExactSizeIterator<Item = M>) {
        for message in messages {
            self.send(message).expect("the receiver is there");
        }
    }
}

impl<M: Send + 'static> PostMany<M> for mpsc::Sender<M> {
    fn send_many(&mut self, messages: impl ExactSizeIterator<Item = M>) {
        for message in messages {
            self.send(message).expect("the receiver is there");
        }
    }
}

impl<M: Send + 'static> PostMany<M> for spsc::Sender<M> {
    fn send_many(&mut self, messages: impl ExactSizeIterator<Item = M>) {
        spsc::Sender::send_many(self, messages).expect("the receiver is there");
    }
}

macro_rules! retrieve_many {
    ($receiver:ty) => {
        impl<M: Send + 'static> RetrieveMany<M> for $receiver {
            fn receive_many(&mut self, buffer: &mut Vec<M>, limit: usize) {
                self.recv_many(buffer, limit).expect("the sender is there");
            }

            fn try_receive_many(&mut self, buffer: &mut Vec<M>, limit: usize) {
                // That nothing is there is no error here.
                let _ = self.try_recv_many(buffer, limit);
            }
        }
    };
}

retrieve_many!(Receiver<M>);
retrieve_many!(mpsc::Receiver<M>);
