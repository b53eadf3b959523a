//! Channels with many senders and one receiver, in which each sender has a lane of its own.
//!
//! Senders never meet: a message costs a plain store, however many of them there are. The price is the
//! order. **Messages of one sender arrive in the order sent; between senders there is none**: if one
//! thread sends, tells another one, and that one sends too, the second message may be received first. Where
//! that matters use [`unbounded`](crate::unbounded) or [`bounded`](crate::bounded).
//!
//! A receiver that finds nothing has looked into each lane, which takes some nanoseconds for each sender
//! there is: for a handful up to some dozens of senders this is the fastest way, for thousands it is not.
//!
//! The verbs are those of [`Sender`](crate::Sender) and [`Receiver`](crate::Receiver); those that await want
//! their end exclusively. There is no high-water mark, since no side sees all lanes at one moment, and nothing
//! that has to do with dropping messages, since no lane does.
//!
//! # Examples
//!
//! ```
//! use tamtam_channel::mpsc;
//!
//! let (sender, receiver) = mpsc::unbounded();
//! for worker in 0..4 {
//!     let sender = sender.clone();
//!     std::thread::spawn(move || (0..10).for_each(|number| sender.send((worker, number)).unwrap()));
//! }
//! drop(sender);
//! assert_eq!(receiver.iter().count(), 40);
//! ```

pub use crate::lane::{Drain, ExclusivePermit, IntoIter, Iter, LaneSender, Many, Permit, Receiver};
pub use crate::lane::{RecvFuture, RecvManyFuture, RecvManyTimeoutFuture, RecvStream};
pub use crate::lane::{RecvTimeoutFuture, ReserveFuture};
pub use crate::lane::{ReserveTimeoutFuture, Selectable, SendFuture, SendSink, SendTimeoutFuture};
pub use crate::lane::{TryIter, WeakSender};

/// The sending end: a [`LaneSender`] that can be cloned, which opens a lane.
pub type Sender<T> = LaneSender<T, Many>;

/// A channel in which each sender has room for `capacity` messages.
///
/// The bound is each sender's own: with four senders the channel holds at most four times as many. (One bound
/// over all would need a counter that all of them change; [`bounded`](crate::bounded) has it.)
///
/// # Panics
///
/// If `capacity` is zero: a rendezvous needs the ends of [`bounded`](crate::bounded).
#[must_use]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    assert!(
        capacity > 0,
        "each sender of an mpsc channel has room for one message at least; for a rendezvous use `bounded(0)`"
    );
    crate::lane::open(capacity)
}

/// A channel that holds any number of messages. Sending never waits.
#[must_use]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    crate::lane::open(usize::MAX)
}
