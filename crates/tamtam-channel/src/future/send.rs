//! Sending into a channel as a task.

use core::task::{Poll, Waker};
use std::time::{Duration, Instant};

use tamtam_wait::TaskWait;

use super::behind_a_look;
use super::sending::{AwaitedSender, Sending, ended, take};
use super::timeout::TimeoutFuture;
use crate::error::{SendTimeoutError, TrySendError};
use crate::flavor::Refusal;
use crate::flavor::rendezvous::{Offer, Rendezvous};
use crate::flavor::ring::Ring;
use crate::iter::sealed;
use crate::sender::{Sender, SenderFlavor};

/// A send under way: the wait for room, or the message in the hands of a rendezvous.
pub struct SendWait<T> {
    wait: TaskWait,
    /// With capacity zero: the message, while it is offered to the receivers.
    offer: Option<Offer<T>>,
}

impl<T> core::fmt::Debug for SendWait<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad("SendWait { .. }")
    }
}

impl<T> Default for SendWait<T> {
    fn default() -> Self {
        SendWait {
            wait: TaskWait::new(),
            offer: None,
        }
    }
}

impl<T> sealed::Sealed for Sender<T> {}

impl<T> AwaitedSender for Sender<T> {
    type Message = T;
    type Waiting = SendWait<T>;

    #[inline]
    fn poll_send(
        &self,
        message: &mut Option<T>,
        waiting: &mut SendWait<T>,
        waker: &Waker,
        deadline: Option<Instant>,
    ) -> Poll<Result<(), SendTimeoutError<T>>> {
        // Before anything is begun: a position that was claimed and is never written would hold up all
        // receivers.
        if message.is_none() && waiting.offer.is_none() {
            ended();
        }
        match self.flavor() {
            // No user code runs between a claim and its message: what is claimed is written at once.
            SenderFlavor::Bounded(ring) => {
                if waiting.wait.is_free(&ring.sending())
                    && let Ok(claim) = ring.claim()
                {
                    ring.write(claim, take(message));
                    return Poll::Ready(Ok(()));
                }
                self.await_room(ring, message, &mut waiting.wait, waker, deadline)
            }
            // It has room always.
            SenderFlavor::Unbounded(list) => Poll::Ready(match list.claim() {
                Some(claim) => {
                    list.write(claim, take(message));
                    Ok(())
                }
                None => Err(SendTimeoutError::Disconnected(take(message))),
            }),
            SenderFlavor::Rendezvous(rendezvous) => {
                if rendezvous.drops() {
                    let sent = self.send(take(message));
                    return Poll::Ready(sent.map_err(SendTimeoutError::from));
                }
                poll_offer(rendezvous, message, &mut waiting.offer, waker, deadline)
            }
        }
    }

    #[inline]
    fn is_under_way(waiting: &SendWait<T>) -> bool {
        waiting.wait.is_listed() || waiting.offer.is_some()
    }

    fn cancel_send(&self, message: &mut Option<T>, waiting: &mut SendWait<T>) {
        match self.flavor() {
            SenderFlavor::Bounded(ring) => waiting.wait.cancel(&ring.sending()),
            SenderFlavor::Unbounded(_) => {}
            SenderFlavor::Rendezvous(rendezvous) => {
                if let Some(offer) = waiting.offer.take() {
                    *message = rendezvous
                        .end_offer(offer)
                        .err()
                        .map(|(message, _)| message);
                }
            }
        }
    }

    fn send_at_once(&self, message: T) -> Result<(), TrySendError<T>> {
        self.try_send(message)
    }
}

impl<T> Sender<T> {
    /// Sends into a ring that had no room just now, or enters the task among those who wait for room.
    #[inline(never)]
    fn await_room(
        &self,
        ring: &Ring<T>,
        message: &mut Option<T>,
        wait: &mut TaskWait,
        waker: &Waker,
        deadline: Option<Instant>,
    ) -> Poll<Result<(), SendTimeoutError<T>>> {
        if ring.drops() {
            // There is always room for it, or none is made.
            let sent = self.send(take(message));
            return Poll::Ready(sent.map_err(SendTimeoutError::from));
        }
        // No user code runs between a claim and its message. Other tasks that are told of room, and what is dropped as the wait ends, are user code: so it is
        // the attempt that writes.
        let mut send = || match ring.send_from(message) {
            Err(Refusal::Full) => None,
            decided => Some(decided),
        };
        let attempt = behind_a_look(wait, deadline, |chosen| match chosen {
            Some(context) => ring.arrive(context, &mut send),
            None => send(),
        });
        let polled = wait.poll_attempting(&ring.sending(), waker, deadline, attempt);
        polled.map(|sent| match sent {
            Some(Ok(())) => Ok(()),
            Some(Err(_)) => Err(SendTimeoutError::Disconnected(take(message))),
            None => Err(SendTimeoutError::Timeout(take(message))),
        })
    }
}

fn poll_offer<T>(
    rendezvous: &Rendezvous<T>,
    message: &mut Option<T>,
    offered: &mut Option<Offer<T>>,
    waker: &Waker,
    deadline: Option<Instant>,
) -> Poll<Result<(), SendTimeoutError<T>>> {
    let end = |(message, refusal)| match refusal {
        Refusal::Closed => SendTimeoutError::Disconnected(message),
        Refusal::Full => SendTimeoutError::Timeout(message),
    };
    if offered.is_none() {
        return match rendezvous.offer(message, waker, deadline) {
            Ok(None) => Poll::Ready(Ok(())),
            Ok(offer) => {
                *offered = offer;
                Poll::Pending
            }
            Err(refusal) => Poll::Ready(Err(end((take(message), refusal)))),
        };
    }
    match offered.take_if(|offer| Rendezvous::poll_offer(offer, waker)) {
        Some(offer) => Poll::Ready(rendezvous.end_offer(offer).map_err(end)),
        None => Poll::Pending,
    }
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
pub type SendFuture<'a, T> = Sending<&'a Sender<T>>;

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
    /// [`SendError`](crate::SendError) with the message if the channel is closed or all receivers are gone.
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
        Sending::new(self, message)
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
