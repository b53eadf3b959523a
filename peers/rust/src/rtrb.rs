use ::rtrb::{Consumer, Producer, PushError, RingBuffer};
use tamtam_lab::{Card, Contender, Measure, Post, Queue, Retrieve, grid};

use crate::insist::insist;
use tamtam_lab::offer::{self, Kind};

/// The ring buffer of the crate `rtrb`, for one sender and one receiver. It cannot wait; here it spins for a moment and
/// then yields, for as long as it takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rtrb;

impl Contender for Rtrb {
    fn card(&self) -> Card {
        Card {
            name: "rtrb",
            version: env!("VERSION_OF_RTRB"),
            ours: false,
            about: "rtrb's ring for one sender and one receiver; it cannot wait: spins 32 times, then yields for ever",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = offer::polled(*self, Kind::Bounded);
        measures.extend(grid::one_to_one(*self, Kind::Bounded));
        measures
    }
}

impl<M: Send + 'static> Queue<M> for Rtrb {
    type Sender = Sending<M>;
    type Receiver = Receiving<M>;

    fn open(&self, capacity: usize) -> (Sending<M>, Receiving<M>) {
        let (producer, consumer) = RingBuffer::new(capacity);
        (Sending(producer), Receiving(consumer))
    }
}

#[derive(Debug)]
pub(crate) struct Sending<M>(Producer<M>);

impl<M: Send + 'static> Post<M> for Sending<M> {
    fn send(&mut self, message: M) {
        let mut refused = Some(message);
        insist(|| {
            refused = self.try_send(refused.take()?).err();
            refused.is_none().then_some(())
        });
    }

    fn try_send(&mut self, message: M) -> Result<(), M> {
        self.0
            .push(message)
            .map_err(|PushError::Full(message)| message)
    }
}

#[derive(Debug)]
pub(crate) struct Receiving<M>(Consumer<M>);

impl<M: Send + 'static> Retrieve<M> for Receiving<M> {
    fn receive(&mut self) -> M {
        insist(|| self.0.pop().ok())
    }

    fn try_receive(&mut self) -> Option<M> {
        self.0.pop().ok()
    }
}
