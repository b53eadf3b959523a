//! Our channels with one receiver: one sender, or a lane for each.

use tamtam_channel::{TrySendError, mpsc, spsc};

use super::gate::EventGate;
use super::{VERSION, offer};
use crate::for_tasks;
use crate::offer::Kind;
use crate::{
    AsyncPost, AsyncRetrieve, Card, Contender, Measure, Post, Queue, Retrieve, grid, post, stream,
};

/// The channel for one sender and one receiver, with a bound.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spsc;

/// The channel for one sender and one receiver, without a bound.
#[derive(Debug, Clone, Copy)]
pub(super) struct SpscUnbounded;

/// The channel in which each sender has a lane of its own, without a bound.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mpsc;

/// The channel in which each sender has a lane of its own, with a bound.
///
/// The bound is each sender's own; where several senders take part, each has its share of the room that the
/// experiment gives to all.
#[derive(Debug, Clone, Copy)]
pub(super) struct MpscBounded {
    senders: usize,
}

/// It, from one sender.
pub(super) const MPSC_BOUNDED: MpscBounded = MpscBounded { senders: 1 };

impl Contender for MpscBounded {
    fn card(&self) -> Card {
        Card {
            name: "mpsc-bounded",
            version: VERSION,
            ours: true,
            about: "bounded channel for one receiver, with a lane and a share of the room for each sender",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = post::measures::<_, EventGate>(*self);
        measures.extend(stream::measures(*self));
        measures.extend(stream::fan_in(MpscBounded {
            senders: stream::FAN_IN as usize,
        }));
        measures.extend(grid::one_to_one(*self, Kind::Bounded));
        measures.extend(grid::fan_in(
            MpscBounded {
                senders: stream::FAN_IN as usize,
            },
            Kind::Bounded,
        ));
        measures
    }
}

impl<M: Send + 'static> Queue<M> for MpscBounded {
    type Sender = mpsc::Sender<M>;
    type Receiver = mpsc::Receiver<M>;

    fn open(&self, capacity: usize) -> (mpsc::Sender<M>, mpsc::Receiver<M>) {
        mpsc::bounded((capacity / self.senders).max(1))
    }
}

impl Contender for Spsc {
    fn card(&self) -> Card {
        Card {
            name: "spsc",
            version: VERSION,
            ours: true,
            about: "bounded channel for one sender and one receiver",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = offer::single(*self);
        measures.push(post::limit::<_, EventGate>(*self));
        measures.extend(grid::one_to_one(*self, Kind::Bounded));
        measures.extend(grid::tasks(*self, Kind::Bounded));
        measures
    }
}

impl Contender for SpscUnbounded {
    fn card(&self) -> Card {
        Card {
            name: "spsc-unbounded",
            version: VERSION,
            ours: true,
            about: "unbounded channel for one sender and one receiver",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = offer::single(*self);
        measures.extend(grid::one_to_one(*self, Kind::Unbounded));
        measures.extend(grid::tasks(*self, Kind::Unbounded));
        measures
    }
}

impl Contender for Mpsc {
    fn card(&self) -> Card {
        Card {
            name: "mpsc",
            version: VERSION,
            ours: true,
            about: "unbounded channel for one receiver, with a lane for each sender",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = offer::single(*self);
        measures.extend(stream::fan_in(*self));
        measures.extend(grid::one_to_one(*self, Kind::Unbounded));
        measures.extend(grid::fan_in(*self, Kind::Unbounded));
        measures.extend(grid::tasks(*self, Kind::Unbounded));
        measures.extend(grid::tasks_fan_in(*self, Kind::Unbounded));
        measures
    }
}

impl<M: Send + 'static> Queue<M> for Spsc {
    type Sender = spsc::Sender<M>;
    type Receiver = spsc::Receiver<M>;

    fn open(&self, capacity: usize) -> (spsc::Sender<M>, spsc::Receiver<M>) {
        spsc::bounded(capacity)
    }
}

impl<M: Send + 'static> Queue<M> for SpscUnbounded {
    type Sender = spsc::Sender<M>;
    type Receiver = spsc::Receiver<M>;

    fn open(&self, _capacity: usize) -> (spsc::Sender<M>, spsc::Receiver<M>) {
        spsc::unbounded()
    }
}

impl<M: Send + 'static> Queue<M> for Mpsc {
    type Sender = mpsc::Sender<M>;
    type Receiver = mpsc::Receiver<M>;

    fn open(&self, _capacity: usize) -> (mpsc::Sender<M>, mpsc::Receiver<M>) {
        mpsc::unbounded()
    }
}

for_tasks!(Spsc);
for_tasks!(SpscUnbounded);
for_tasks!(Mpsc);

macro_rules! sends {
    ($module:ident) => {
        impl<M: Send + 'static> Post<M> for $module::Sender<M> {
            fn send(&mut self, message: M) {
                $module::Sender::send(self, message).expect("the receiver is there");
            }

            fn try_send(&mut self, message: M) -> Result<(), M> {
                $module::Sender::try_send(self, message).map_err(TrySendError::into_inner)
            }
        }

        impl<M: Send + 'static> AsyncPost<M> for $module::Sender<M> {
            async fn send_async(&mut self, message: M) {
                let sent = $module::Sender::send_async(self, message).await;
                sent.expect("the receiver is there");
            }
        }
    };
}

sends!(spsc);
sends!(mpsc);

// Both have the same receiver.
impl<M: Send + 'static> Retrieve<M> for spsc::Receiver<M> {
    fn receive(&mut self) -> M {
        self.recv().expect("the sender is there")
    }

    fn try_receive(&mut self) -> Option<M> {
        self.try_recv().ok()
    }
}

impl<M: Send + 'static> AsyncRetrieve<M> for spsc::Receiver<M> {
    async fn receive_async(&mut self) -> M {
        self.recv_async().await.expect("the sender is there")
    }
}
