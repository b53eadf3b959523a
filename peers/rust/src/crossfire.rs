//! The channels of the crate `crossfire`: ends that block and ends that await are of different types.

use ::crossfire::{
    AsyncRx, AsyncRxTrait, AsyncTx, AsyncTxTrait, BlockingRxTrait, BlockingTxTrait, MAsyncRx,
    MAsyncTx, MRx, MTx, Rx, TrySendError, Tx, mpmc, mpsc, spsc,
};
use tamtam_lab::{
    AsyncPost, AsyncQueue, AsyncRetrieve, Card, Contender, Measure, Post, Queue, Retrieve, grid,
};

use tamtam_lab::offer::{self, Kind};

fn card(name: &'static str, about: &'static str) -> Card {
    Card {
        name,
        version: env!("VERSION_OF_CROSSFIRE"),
        ours: false,
        about,
    }
}

/// The ends of a bounded channel out of one of the crate's modules, which has two types of sender and two of receiver.
macro_rules! bounded_ends {
    ($contender:ident, $module:ident, $blocking:ident, $awaiting:ident, $taking:ident, $taking_async:ident) => {
        impl<M: Send + Unpin + 'static> Queue<M> for $contender {
            type Sender = Sending<$blocking<$module::Array<M>>>;
            type Receiver = Receiving<$taking<$module::Array<M>>>;

            fn open(&self, capacity: usize) -> (Self::Sender, Self::Receiver) {
                let (sender, receiver) = $module::bounded_blocking(capacity);
                (Sending(sender), Receiving(receiver))
            }
        }

        impl<M: Send + Unpin + 'static> AsyncQueue<M> for $contender {
            type AsyncSender = Awaiting<$awaiting<$module::Array<M>>>;
            type AsyncReceiver = Awaiting<$taking_async<$module::Array<M>>>;

            fn open_async(&self, capacity: usize) -> (Self::AsyncSender, Self::AsyncReceiver) {
                let (sender, receiver) = $module::bounded_async(capacity);
                (Awaiting(sender), Awaiting(receiver))
            }

            fn open_to_task(&self, capacity: usize) -> (Self::Sender, Self::AsyncReceiver) {
                let (sender, receiver) = $module::bounded_blocking_async(capacity);
                (Sending(sender), Awaiting(receiver))
            }

            fn open_from_task(&self, capacity: usize) -> (Self::AsyncSender, Self::Receiver) {
                let (sender, receiver) = $module::bounded_async_blocking(capacity);
                (Awaiting(sender), Receiving(receiver))
            }
        }
    };
}

/// Its bounded channel for many senders and one receiver.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounded;

impl Contender for Bounded {
    fn card(&self) -> Card {
        card(
            "crossfire",
            "crossfire's bounded channel for many senders and one receiver",
        )
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = offer::channel_for_tasks(*self, Kind::Bounded);
        measures.extend(grid::one_to_one(*self, Kind::Bounded));
        measures.extend(grid::fan_in(*self, Kind::Bounded));
        measures.extend(grid::tasks(*self, Kind::Bounded));
        measures.extend(grid::tasks_fan_in(*self, Kind::Bounded));
        measures
    }
}

bounded_ends!(Bounded, mpsc, MTx, MAsyncTx, Rx, AsyncRx);

/// Its unbounded channel for many senders and one receiver; sending never waits, so its sender has one type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unbounded;

impl Contender for Unbounded {
    fn card(&self) -> Card {
        card(
            "crossfire-unbounded",
            "crossfire's unbounded channel for many senders and one receiver",
        )
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = offer::channel_for_tasks(*self, Kind::Unbounded);
        measures.extend(grid::one_to_one(*self, Kind::Unbounded));
        measures.extend(grid::fan_in(*self, Kind::Unbounded));
        measures.extend(grid::tasks(*self, Kind::Unbounded));
        measures.extend(grid::tasks_fan_in(*self, Kind::Unbounded));
        measures
    }
}

impl<M: Send + Unpin + 'static> Queue<M> for Unbounded {
    type Sender = Sending<MTx<mpsc::List<M>>>;
    type Receiver = Receiving<Rx<mpsc::List<M>>>;

    fn open(&self, _capacity: usize) -> (Self::Sender, Self::Receiver) {
        let (sender, receiver) = mpsc::unbounded_blocking();
        (Sending(sender), Receiving(receiver))
    }
}

impl<M: Send + Unpin + 'static> AsyncQueue<M> for Unbounded {
    type AsyncSender = Sending<MTx<mpsc::List<M>>>;
    type AsyncReceiver = Awaiting<AsyncRx<mpsc::List<M>>>;

    fn open_async(&self, _capacity: usize) -> (Self::AsyncSender, Self::AsyncReceiver) {
        let (sender, receiver) = mpsc::unbounded_async();
        (Sending(sender), Awaiting(receiver))
    }

    fn open_to_task(&self, _capacity: usize) -> (Self::Sender, Self::AsyncReceiver) {
        let (sender, receiver) = mpsc::unbounded_async();
        (Sending(sender), Awaiting(receiver))
    }

    fn open_from_task(&self, _capacity: usize) -> (Self::AsyncSender, Self::Receiver) {
        let (sender, receiver) = mpsc::unbounded_blocking();
        (Sending(sender), Receiving(receiver))
    }
}

/// Its bounded channel for one sender and one receiver.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Single;

impl Contender for Single {
    fn card(&self) -> Card {
        card(
            "crossfire-spsc",
            "crossfire's bounded channel for one sender and one receiver",
        )
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = offer::single(*self, Kind::Bounded);
        measures.extend(offer::tasks(*self));
        measures.extend(grid::one_to_one(*self, Kind::Bounded));
        measures.extend(grid::tasks(*self, Kind::Bounded));
        measures
    }
}

bounded_ends!(Single, spsc, Tx, AsyncTx, Rx, AsyncRx);

/// Its bounded channel for many senders and many receivers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Many;

impl Contender for Many {
    fn card(&self) -> Card {
        card(
            "crossfire-mpmc",
            "crossfire's bounded channel for many senders and many receivers",
        )
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = grid::many_to_many(*self, Kind::Bounded);
        measures.extend(grid::tasks_many(*self, Kind::Bounded));
        measures
    }
}

bounded_ends!(Many, mpmc, MTx, MAsyncTx, MRx, MAsyncRx);

/// A sender that blocks, or never has to wait.
#[derive(Debug, Clone)]
pub(crate) struct Sending<S>(S);

impl<M: Send + 'static, S: BlockingTxTrait<M> + Send + 'static> Post<M> for Sending<S> {
    fn send(&mut self, message: M) {
        assert!(self.0.send(message).is_ok(), "the receiver is gone");
    }

    fn try_send(&mut self, message: M) -> Result<(), M> {
        self.0.try_send(message).map_err(|error| match error {
            TrySendError::Full(message) | TrySendError::Disconnected(message) => message,
        })
    }
}

impl<M: Send + 'static> AsyncPost<M> for Sending<MTx<mpsc::List<M>>> {
    async fn send_async(&mut self, message: M) {
        Post::send(self, message);
    }
}

/// A receiver that blocks.
#[derive(Debug, Clone)]
pub(crate) struct Receiving<R>(R);

impl<M: Send + 'static, R: BlockingRxTrait<M> + Send + 'static> Retrieve<M> for Receiving<R> {
    fn receive(&mut self) -> M {
        self.0.recv().expect("the sender is there")
    }

    fn try_receive(&mut self) -> Option<M> {
        self.0.try_recv().ok()
    }
}

/// An end that is awaited.
#[derive(Debug, Clone)]
pub(crate) struct Awaiting<E>(E);

impl<M, S> AsyncPost<M> for Awaiting<S>
where
    M: Send + Unpin + 'static,
    S: AsyncTxTrait<M> + Send + 'static,
{
    fn send_async(&mut self, message: M) -> impl Future<Output = ()> + Send {
        let sending = self.0.send(message);
        async { assert!(sending.await.is_ok(), "the receiver is gone") }
    }
}

impl<M, R> AsyncRetrieve<M> for Awaiting<R>
where
    M: Send + 'static,
    R: AsyncRxTrait<M> + Send + 'static,
{
    fn receive_async(&mut self) -> impl Future<Output = M> + Send {
        let receiving = self.0.recv();
        async { receiving.await.expect("the sender is there") }
    }
}
