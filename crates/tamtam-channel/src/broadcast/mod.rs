//! Channels in which each receiver gets each message.
//!
//! A [channel](crate::bounded) gives each message to one of its receivers; a broadcast gives it to all that
//! were there when it was sent. What happens when a receiver is slow is that receiver's own choice, its [`Lag`]: the
//! senders wait for it, or it loses the oldest messages and is told which. Where only the newest value counts, take a
//! [`Property`](crate::Property).
//!
//! Messages are numbered, from 0, and lie in one queue for all receivers. Memory is taken as messages pile up, 40
//! bytes and the message for each (on a 64-bit system), never for more than the capacity, and given back: a message is dropped as soon as
//! the last receiver has it, and the queue's own memory when it is empty. Receivers may look at one message at the same
//! time to clone it, so to reach other threads a message has to be `Send` and `Sync`.
//!
//! # Ordering
//!
//! All receivers get the messages in one and the same order, which is that in which they were sent. What a thread did
//! before it sent is visible to each that received the message.
//!
//! # Technique
//!
//! One queue under a short lock, in which each message counts the receivers that have not taken it, as in
//! async-broadcast; the message itself is shared, so that no `Clone` runs under the lock, and the last receiver gets it
//! without one. tokio's `broadcast` keeps a ring of fixed size in which all receivers lose; bus a ring in which all are
//! waited for.
//!
//! # Examples
//!
//! ```
//! use tamtam_channel::broadcast::{self, Lag, RecvError};
//!
//! let (sender, journal) = broadcast::bounded(2);
//! let display = sender.subscribe(Lag::Lose);
//! sender.send("on")?;
//! sender.send("off")?;
//! // The journal waits to be read, so there is no room.
//! assert!(sender.try_send("on again").is_err());
//! assert_eq!(journal.recv(), Ok("on"));
//! sender.send("on again")?;
//! assert_eq!(journal.try_iter().map(Result::unwrap).collect::<Vec<_>>(), ["off", "on again"]);
//!
//! // The display has lost the message number 0, and goes on with the next.
//! match display.recv() {
//!     Err(RecvError::Lost(lost)) => assert_eq!((lost.first, lost.count), (0, 1)),
//!     other => panic!("{other:?}"),
//! }
//! assert_eq!(display.recv(), Ok("off"));
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```

mod error;
mod future;
mod iter;
mod queue;
mod receiver;
mod sender;
mod stream;

#[cfg(all(test, tamtam_loom))]
mod loom_tests;

pub use error::{Lost, RecvError, RecvTimeoutError, TryRecvError};
pub use future::{RecvFuture, RecvTimeoutFuture, SendFuture, SendTimeoutFuture};
pub use iter::{IntoIter, Iter, TryIter};
pub use receiver::Receiver;
pub use sender::Sender;
pub use stream::RecvStream;

/// What happens when a receiver of a broadcast is slower than the senders: each has its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Lag {
    /// The senders wait for it: it gets each message.
    #[default]
    Wait,
    /// The senders do not: it loses the oldest messages, and is told how many.
    Lose,
}

/// A broadcast that keeps at most `capacity` messages, and its first receiver, for which senders [wait](Lag::Wait).
///
/// More receivers come by [`Sender::subscribe`] and by cloning one. A message for which there is no room displaces the
/// oldest one, if only receivers that [lose](Lag::Lose) have not got that yet; else the sender waits.
///
/// # Panics
///
/// If `capacity` is zero: each receiver gets each message at a time of its own, so there has to be a place for it
/// meanwhile.
///
/// # Examples
///
/// ```
/// use std::thread;
/// use tamtam_channel::broadcast::{self, Lag};
///
/// let (sender, first) = broadcast::bounded(8);
/// let second = sender.subscribe(Lag::Wait);
/// let sums = [first, second].map(|receiver| {
///     thread::spawn(move || receiver.iter().map(Result::unwrap).sum::<u32>())
/// });
/// for number in 1..=100 {
///     sender.send(number).unwrap();
/// }
/// drop(sender);
/// assert_eq!(sums.map(|sum| sum.join().unwrap()), [5050, 5050]);
/// ```
#[must_use]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let sender = Sender::first(capacity);
    let receiver = sender.subscribe(Lag::Wait);
    (sender, receiver)
}
