//! Sending into a channel as a task.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use tamtam_wait::{Polled, TaskWait, Token};

use super::timeout::{PollUntil, TimeoutFuture};
use crate::error::{SendError, SendTimeoutError};
use crate::flavor::Refusal;
use crate::flavor::rendezvous::{Offer, Rendezvous};
use crate::flavor::ring;
use crate::sender::{Sender, SenderFlavor};

/// Sending as a task: the wait that a [`SendFuture`], a deadline or a sink goes through, and the message
/// until it is sent.
pub(crate) struct Sending<T> {
    message: Option<T>,
    wait: TaskWait,
    /// With capacity zero: the message, while it is offered to the receivers.
    offer: Option<Offer<T>>,
}

impl<T> Sending<T> {
    pub(crate) fn new(message: T) -> Self {
        Sending {
            message: Some(message),
            wait: TaskWait::new(),
            offer: None,
        }
    }

    #[inline]
    pub(crate) fn poll(
        &mut self,
        sender: &Sender<T>,
        waker: &Waker,
        deadline: Option<Instant>,
    ) -> Poll<Result<(), SendTimeoutError<T>>> {
        // Before anything is begun: a position that was claimed and is never written would hold up all
        // receivers.
        if self.message.is_none() && self.offer.is_none() {
            ended();
        }
        if sender.drops() {
            // There is always room for it, or none is made.
            let sent = sender.send(self.take());
            return Poll::Ready(sent.map_err(SendTimeoutError::from));
        }
        // No user code runs between a claim and its message: what is claimed is written at once.
        let mut token = Token::default();
        let polled = match sender.flavor() {
            SenderFlavor::Bounded(ring) => {
                let polled = self.wait.poll(&ring.sending(), &mut token, waker, deadline);
                if polled == Poll::Ready(Polled::Begun) {
                    let message = self.take();
                    // SAFETY: this is what the ring's sending source has put into the token just now.
                    return Poll::Ready(
                        match unsafe { token.take::<Result<ring::Claim, Refusal>>() } {
                            Ok(claim) => {
                                ring.write(claim, message);
                                Ok(())
                            }
                            Err(_) => Err(SendTimeoutError::Disconnected(message)),
                        },
                    );
                }
                polled
            }
            // It has room always.
            SenderFlavor::Unbounded(_) => {
                let sent = sender.send(self.take());
                return Poll::Ready(sent.map_err(SendTimeoutError::from));
            }
            SenderFlavor::Rendezvous(rendezvous) => {
                return self.poll_offer(rendezvous, waker, deadline);
            }
        };
        match polled {
            Poll::Pending => Poll::Pending,
            Poll::Ready(_) => Poll::Ready(Err(SendTimeoutError::Timeout(self.take()))),
        }
    }

    fn poll_offer(
        &mut self,
        rendezvous: &Rendezvous<T>,
        waker: &Waker,
        deadline: Option<Instant>,
    ) -> Poll<Result<(), SendTimeoutError<T>>> {
        if self.offer.is_none() {
            return match rendezvous.offer(&mut self.message, waker, deadline) {
                Ok(None) => Poll::Ready(Ok(())),
                Ok(offer) => {
                    self.offer = offer;
                    Poll::Pending
                }
                Err(Refusal::Closed) => {
                    Poll::Ready(Err(SendTimeoutError::Disconnected(self.take())))
                }
                Err(Refusal::Full) => Poll::Ready(Err(SendTimeoutError::Timeout(self.take()))),
            };
        }
        let ended = self
            .offer
            .take_if(|offer| Rendezvous::poll_offer(offer, waker));
        let Some(offer) = ended else {
            return Poll::Pending;
        };
        Poll::Ready(match rendezvous.end_offer(offer) {
            Ok(()) => Ok(()),
            Err((message, Refusal::Closed)) => Err(SendTimeoutError::Disconnected(message)),
            Err((message, Refusal::Full)) => Err(SendTimeoutError::Timeout(message)),
        })
    }

    fn take(&mut self) -> T {
        match self.message.take() {
            Some(message) => message,
            None => ended(),
        }
    }

    /// Ends the wait; the message, if it was not sent.
    pub(crate) fn cancel(&mut self, sender: &Sender<T>) -> Option<T> {
        match sender.flavor() {
            SenderFlavor::Bounded(ring) => self.wait.cancel(&ring.sending()),
            SenderFlavor::Unbounded(_) => {}
            SenderFlavor::Rendezvous(rendezvous) => {
                if let Some(offer) = self.offer.take() {
                    self.message = rendezvous
                        .end_offer(offer)
                        .err()
                        .map(|(message, _)| message);
                }
            }
        }
        self.message.take()
    }
}

#[cold]
fn ended() -> ! {
    panic!("a send was polled after it had ended")
}

/// What [`Sender::send_async`] returns: ready when the message is in the channel.
///
/// # Cancel safety
///
/// Dropping it either finds the message sent (with capacity zero, by a receiver that took it a moment
/// ago) or drops it unsent: never both, never neither. Who must keep it calls
/// [`into_inner`](SendFuture::into_inner), or reserves room first and makes the message afterwards.
///
/// # Examples
///
/// ```
/// use std::pin::pin;
/// use std::task::{Context, Waker};
/// use tamtam_channel::bounded;
///
/// let (sender, receiver) = bounded(1);
/// sender.send(1)?;
/// let mut second = sender.send_async(2);
/// let mut cx = Context::from_waker(Waker::noop());
/// assert!(pin!(&mut second).poll(&mut cx).is_pending()); // there is no room
/// assert_eq!(second.into_inner(), Some(2)); // given up: it was not sent
/// assert_eq!(receiver.len(), 1);
/// # Ok::<(), tamtam_channel::SendError<i32>>(())
/// ```
#[must_use = "a future does nothing until it is awaited"]
pub struct SendFuture<'a, T> {
    sender: &'a Sender<T>,
    sending: Sending<T>,
}

/// What [`Sender::send_timeout_async`] and [`Sender::send_deadline_async`] return: ready when the message
/// is in the channel or the time is over.
///
/// # Cancel safety
///
/// As for [`SendFuture`].
pub type SendTimeoutFuture<'a, T> = TimeoutFuture<SendFuture<'a, T>>;

impl<T> Sender<T> {
    /// Sends a message, awaiting room for it.
    ///
    /// Blocking and awaiting senders may share a channel: they wait in one line.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future has either sent the message or drops it; see [`SendFuture`].
    ///
    /// # Errors
    ///
    /// [`SendError`] with the message if the channel is closed or all receivers are gone.
    ///
    /// # Examples
    ///
    /// A future that is given up gives the message back:
    ///
    /// ```
    /// use std::pin::Pin;
    /// use std::task::{Context, Waker};
    /// use tamtam_channel::bounded;
    ///
    /// let (sender, receiver) = bounded(1);
    /// sender.send(1).unwrap();
    /// let mut full = sender.send_async(2);
    /// let mut context = Context::from_waker(Waker::noop());
    /// assert!(Pin::new(&mut full).poll(&mut context).is_pending());
    /// assert_eq!(full.into_inner(), Some(2));
    /// # drop(receiver);
    /// ```
    #[inline]
    pub fn send_async(&self, message: T) -> SendFuture<'_, T> {
        SendFuture {
            sender: self,
            sending: Sending::new(message),
        }
    }

    /// As [`send_async`](Sender::send_async), but waits at most `timeout` from now.
    ///
    /// No runtime's timer is needed.
    ///
    /// # Cancel safety
    ///
    /// As [`send_async`](Sender::send_async).
    ///
    /// # Errors
    ///
    /// [`SendTimeoutError::Timeout`] or [`SendTimeoutError::Disconnected`], with the message.
    pub fn send_timeout_async(&self, message: T, timeout: Duration) -> SendTimeoutFuture<'_, T> {
        TimeoutFuture::within(self.send_async(message), timeout)
    }

    /// As [`send_async`](Sender::send_async), but waits until `deadline` at the latest.
    ///
    /// # Cancel safety
    ///
    /// As [`send_async`](Sender::send_async).
    ///
    /// # Errors
    ///
    /// [`SendTimeoutError::Timeout`] or [`SendTimeoutError::Disconnected`], with the message.
    pub fn send_deadline_async(&self, message: T, deadline: Instant) -> SendTimeoutFuture<'_, T> {
        TimeoutFuture::until(self.send_async(message), deadline)
    }
}

impl<T> SendFuture<'_, T> {
    /// Gives the sending up; the message, unless it was sent.
    #[must_use = "the message is dropped with this"]
    pub fn into_inner(mut self) -> Option<T> {
        self.sending.cancel(self.sender)
    }
}

impl<T> SendTimeoutFuture<'_, T> {
    /// Gives the sending up; the message, unless it was sent.
    #[must_use = "the message is dropped with this"]
    pub fn into_inner(self) -> Option<T> {
        self.future.into_inner()
    }
}

// The message is moved out by value and never pinned.
impl<T> Unpin for SendFuture<'_, T> {}

impl<T> Future for SendFuture<'_, T> {
    type Output = Result<(), SendError<T>>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_until(context, None)
            .map_err(|error| SendError(error.into_inner()))
    }
}

impl<T> PollUntil for SendFuture<'_, T> {
    type Timed = Result<(), SendTimeoutError<T>>;

    const TIMED: &'static str = "SendTimeoutFuture { .. }";

    #[inline]
    fn poll_until(
        &mut self,
        context: &Context<'_>,
        deadline: Option<Instant>,
    ) -> Poll<Self::Timed> {
        self.sending.poll(self.sender, context.waker(), deadline)
    }
}

impl<T> Drop for SendFuture<'_, T> {
    #[inline]
    fn drop(&mut self) {
        drop(self.sending.cancel(self.sender));
    }
}

opaque!(SendFuture<'_, T>);
