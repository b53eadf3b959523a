//! The sender of a broadcast, which also makes receivers.

use core::fmt;
use std::time::{Duration, Instant};

use tamtam_wait::Wait;
use tamtam_wait::seam::Arc;

use super::queue::BroadcastQueue;
use super::receiver::{Receiver, unwrap};
use super::{Lag, SendFuture, SendTimeoutFuture};
use crate::error::{SendError, SendTimeoutError, TrySendError};
use crate::flavor::Refusal;
use crate::future::timeout::TimeoutFuture;

/// The sending end of a [broadcast](super). Clone it for more senders.
///
/// When the last clone is dropped, each receiver gets what is left and then an error.
///
/// # Examples
///
/// ```
/// use std::thread;
/// use tamtam_channel::broadcast::{self, Lag};
///
/// let (sender, first) = broadcast::bounded(8);
/// let second = sender.subscribe(Lag::Wait);
/// let worker = thread::spawn(move || sender.send("level loaded"));
/// assert_eq!(first.recv(), Ok("level loaded"));
/// assert_eq!(second.recv(), Ok("level loaded"));
/// worker.join().unwrap()?;
/// # Ok::<(), tamtam_channel::SendError<&str>>(())
/// ```
pub struct Sender<T> {
    pub(super) queue: Arc<BroadcastQueue<T>>,
    wait: Wait,
}

impl<T> Sender<T> {
    pub(super) fn first(capacity: usize) -> Self {
        Sender {
            queue: Arc::new(BroadcastQueue::new(capacity)),
            wait: Wait::Adaptive,
        }
    }

    /// The same end, waiting in another way while there is no room. Clones inherit it.
    #[must_use]
    pub fn with_wait(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }

    /// One more receiver: it gets the messages that are sent from now on, and is slow in its own way.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::broadcast::{self, Lag};
    ///
    /// let (sender, first) = broadcast::bounded(8);
    /// sender.send(1).unwrap();
    /// let second = sender.subscribe(Lag::Lose);
    /// sender.send(2).unwrap();
    /// assert_eq!((first.len(), second.len()), (2, 1));
    /// ```
    pub fn subscribe(&self, lag: Lag) -> Receiver<T> {
        Receiver::at(Arc::clone(&self.queue), self.queue.subscribe(lag), lag)
    }

    /// Sends a message to all receivers, if that can be done without waiting.
    ///
    /// # Errors
    ///
    /// [`TrySendError::Full`] if a receiver that is waited for has not taken the oldest of `capacity` messages;
    /// [`TrySendError::Disconnected`] if there is no receiver or the broadcast is closed; with the message.
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let mut message = Some(Arc::new(message));
        self.queue.append(&mut message).map_err(|refusal| {
            let message = back(message);
            match refusal {
                Refusal::Full => TrySendError::Full(message),
                Refusal::Closed => TrySendError::Disconnected(message),
            }
        })
    }

    /// Sends a message to all receivers, after waiting for those that are to be waited for.
    ///
    /// # Blocking
    ///
    /// While a receiver with [`Lag::Wait`] has not taken the oldest of `capacity` messages. Never for others.
    ///
    /// # Errors
    ///
    /// [`SendError`] with the message if there is no receiver or the broadcast is closed, also if that happens while it
    /// waits. A receiver that [subscribes](Sender::subscribe) later makes sending possible again.
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.send_until(message, None)
            .map_err(|(message, _)| SendError(message))
    }

    /// As [`send`](Sender::send), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`SendTimeoutError::Timeout`] or [`SendTimeoutError::Disconnected`], with the message.
    pub fn send_timeout(&self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        // A timeout beyond the clock's range is none.
        self.send_until(message, Instant::now().checked_add(timeout))
            .map_err(late)
    }

    /// As [`send`](Sender::send), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// [`SendTimeoutError::Timeout`] or [`SendTimeoutError::Disconnected`], with the message.
    pub fn send_deadline(&self, message: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        self.send_until(message, Some(deadline)).map_err(late)
    }

    fn send_until(&self, message: T, deadline: Option<Instant>) -> Result<(), (T, Refusal)> {
        let mut message = Some(Arc::new(message));
        let sent = match self.queue.append(&mut message) {
            Err(Refusal::Full) => self
                .queue
                .senders
                .wait_until(
                    self.wait,
                    deadline,
                    |_| match self.queue.append(&mut message) {
                        Err(Refusal::Full) => None,
                        decided => Some(decided),
                    },
                    || self.queue.room().is_there(),
                )
                .unwrap_or(Err(Refusal::Full)),
            decided => decided,
        };
        sent.map_err(|refusal| (back(message), refusal))
    }

    /// Sends a message to all receivers, awaiting those that are to be waited for.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future has either sent the message or drops it; [`SendFuture::into_inner`] gives it back.
    ///
    /// # Errors
    ///
    /// As [`send`](Sender::send).
    pub fn send_async(&self, message: T) -> SendFuture<'_, T> {
        SendFuture::new(self, message)
    }

    /// As [`send_async`](Sender::send_async), but waits at most `timeout` from now. No runtime's timer is needed.
    ///
    /// # Errors
    ///
    /// As [`send_timeout`](Sender::send_timeout).
    pub fn send_timeout_async(&self, message: T, timeout: Duration) -> SendTimeoutFuture<'_, T> {
        TimeoutFuture::within(self.send_async(message), timeout)
    }

    /// Closes the broadcast for all senders: `true` if this call did it. Receivers get what is left.
    pub fn close(&self) -> bool {
        self.queue.close()
    }

    /// Whether the broadcast was closed.
    pub fn is_closed(&self) -> bool {
        self.queue.is_closed()
    }

    /// How many receivers there are.
    pub fn receiver_count(&self) -> usize {
        self.queue.receiver_count()
    }

    /// How many messages are kept, because some receiver has not taken them yet.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether all receivers have got all messages.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a sender would have to wait now.
    pub fn is_full(&self) -> bool {
        self.queue.is_full()
    }

    /// The most messages that are kept.
    pub fn capacity(&self) -> usize {
        self.queue.capacity()
    }

    /// Whether both ends belong to the same broadcast.
    pub fn same_channel(&self, other: &Sender<T>) -> bool {
        Arc::ptr_eq(&self.queue, &other.queue)
    }
}

/// The message of a send that was refused.
pub(super) fn back<T>(message: Option<Arc<T>>) -> T {
    let alone = message.map(|message| unwrap(message, |_| unreachable!("it was never shared")));
    match alone {
        Some(message) => message,
        None => unreachable!("a message that is refused is left"),
    }
}

pub(super) fn late<T>((message, refusal): (T, Refusal)) -> SendTimeoutError<T> {
    match refusal {
        Refusal::Full => SendTimeoutError::Timeout(message),
        Refusal::Closed => SendTimeoutError::Disconnected(message),
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.queue.add_sender();
        Sender {
            queue: Arc::clone(&self.queue),
            wait: self.wait,
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.queue.remove_sender();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Sender { .. }")
    }
}
