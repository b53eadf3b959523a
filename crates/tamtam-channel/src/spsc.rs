//! Channels with one sender and one receiver: the fastest.
//!
//! A message costs a plain store on either side; there is no locked instruction in a stream. Blocking and
//! awaiting work as on every channel. The ends can be moved to other threads, but neither shared nor cloned.
//!
//! The verbs are those of [`Sender`](crate::Sender) and [`Receiver`](crate::Receiver); those that await want
//! their end exclusively. There is no weak sender, which would be a second one as soon as it is of use; no
//! high-water mark, which would cost the receiver a look with each message; and nothing that has to do with
//! dropping messages.
//!
//! # Examples
//!
//! ```
//! use tamtam_channel::spsc;
//!
//! let (sender, receiver) = spsc::bounded(1024);
//! let worker = std::thread::spawn(move || {
//!     let mut sum = 0;
//!     let mut batch = Vec::new();
//!     while receiver.recv_many(&mut batch, 256).is_ok() {
//!         sum += batch.drain(..).sum::<u64>();
//!     }
//!     sum
//! });
//! sender.send_many(1..=1000)?;
//! drop(sender);
//! assert_eq!(worker.join().unwrap(), 500_500);
//! # Ok::<(), tamtam_channel::SendManyError<u64>>(())
//! ```

pub use crate::lane::{Drain, ExclusivePermit, IntoIter, Iter, LaneSender, Permit, Receiver};
pub use crate::lane::{RecvFuture, RecvManyFuture, RecvManyTimeoutFuture, RecvStream};
pub use crate::lane::{RecvTimeoutFuture, ReserveFuture};
pub use crate::lane::{ReserveTimeoutFuture, Selectable, SendFuture, SendSink, SendTimeoutFuture};
pub use crate::lane::{Single, TryIter};

/// The sending end: a [`LaneSender`] that is the only one of its channel.
pub type Sender<T> = LaneSender<T, Single>;

/// A channel that holds at most `capacity` messages.
///
/// A sender that finds it full waits. Memory is taken in blocks of about 2 KiB, or of eight larger messages, as messages
/// pile up, not all at once. A channel that was used keeps one block and up to 32 KiB of spare ones, one at least.
///
/// # Panics
///
/// If `capacity` is zero: a rendezvous needs the ends of [`bounded`](crate::bounded).
#[must_use]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    assert!(
        capacity > 0,
        "an spsc channel has room for one message at least; for a rendezvous use `bounded(0)`"
    );
    crate::lane::open(capacity)
}

/// A channel that holds any number of messages. Sending never waits.
#[must_use]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    crate::lane::open(usize::MAX)
}
