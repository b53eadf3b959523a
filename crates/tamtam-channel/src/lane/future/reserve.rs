//! Waiting as a task for room in a lane.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::time::{Duration, Instant};

use tamtam_wait::{Polled, TaskWait, Token};

use crate::error::{ReserveError, ReserveTimeoutError};
use crate::future::timeout::{PollUntil, TimeoutFuture};
use crate::lane::{ExclusivePermit, LaneSender};

/// The wait of a sender for room. It has the sender until there is some.
struct Reserving<'a, T, K> {
    sender: Option<&'a mut LaneSender<T, K>>,
    wait: TaskWait,
}

impl<'a, T, K> Reserving<'a, T, K> {
    fn new(sender: &'a mut LaneSender<T, K>) -> Self {
        Reserving {
            sender: Some(sender),
            wait: TaskWait::new(),
        }
    }

    fn poll(
        &mut self,
        context: &Context<'_>,
        deadline: Option<Instant>,
    ) -> Poll<Result<ExclusivePermit<'a, T, K>, ReserveTimeoutError>> {
        let Some(sender) = self.sender.take() else {
            panic!("a reservation was polled after it had ended")
        };
        let mut token = Token::default();
        let polled = self
            .wait
            .poll(&*sender, &mut token, context.waker(), deadline);
        Poll::Ready(match polled {
            Poll::Pending => {
                self.sender = Some(sender);
                return Poll::Pending;
            }
            // What a sender puts into a token needs no finishing; a sender that finds room does not look whether
            // the channel is closed.
            Poll::Ready(Polled::Begun) if sender.is_closed() => {
                Err(ReserveTimeoutError::Disconnected)
            }
            Poll::Ready(Polled::Begun) => Ok(ExclusivePermit::granted(sender)),
            Poll::Ready(Polled::TimedOut) => Err(ReserveTimeoutError::Timeout),
        })
    }
}

impl<T, K> Drop for Reserving<'_, T, K> {
    fn drop(&mut self) {
        if let Some(sender) = &self.sender {
            self.wait.cancel(&**sender);
        }
    }
}

/// What [`LaneSender::reserve_async`] returns: ready when there is room.
///
/// # Cancel safety
///
/// Dropping it keeps no room.
///
/// # Examples
///
/// ```
/// # futures::executor::block_on(async {
/// let (mut sender, receiver) = tamtam_channel::spsc::bounded(1);
/// let permit = sender.reserve_async().await?;
/// permit.send("there was room").unwrap();
/// assert_eq!(receiver.recv(), Ok("there was room"));
/// # Ok::<(), tamtam_channel::ReserveError>(())
/// # }).unwrap();
/// ```
#[must_use = "a future does nothing until it is awaited"]
pub struct ReserveFuture<'a, T, K> {
    reserving: Reserving<'a, T, K>,
}

/// What [`LaneSender::reserve_timeout_async`] and [`LaneSender::reserve_deadline_async`] return: ready when
/// there is room or the time is over.
///
/// # Cancel safety
///
/// As for [`ReserveFuture`].
pub type ReserveTimeoutFuture<'a, T, K> = TimeoutFuture<ReserveFuture<'a, T, K>>;

impl<T, K> LaneSender<T, K> {
    /// Keeps room for one message, awaiting it: the way to send without ever losing the message to a
    /// cancellation, since it need not be made before there is room for it. At once where there is no bound.
    ///
    /// The [`ExclusivePermit`] has the sender to itself, and so may go to another thread with its task.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future keeps no room, and there is no message yet that could be lost.
    ///
    /// # Panics
    ///
    /// If the future is polled after it was ready.
    ///
    /// # Errors
    ///
    /// As [`reserve`](LaneSender::reserve).
    pub fn reserve_async(&mut self) -> ReserveFuture<'_, T, K> {
        ReserveFuture {
            reserving: Reserving::new(self),
        }
    }

    /// As [`reserve_async`](LaneSender::reserve_async), but waits at most `timeout` from now. No runtime's
    /// timer is needed.
    ///
    /// # Errors
    ///
    /// As [`reserve_timeout`](LaneSender::reserve_timeout).
    pub fn reserve_timeout_async(&mut self, timeout: Duration) -> ReserveTimeoutFuture<'_, T, K> {
        TimeoutFuture::within(self.reserve_async(), timeout)
    }

    /// As [`reserve_async`](LaneSender::reserve_async), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// As [`reserve_timeout`](LaneSender::reserve_timeout).
    pub fn reserve_deadline_async(&mut self, deadline: Instant) -> ReserveTimeoutFuture<'_, T, K> {
        TimeoutFuture::until(self.reserve_async(), deadline)
    }
}

impl<'a, T, K> Future for ReserveFuture<'a, T, K> {
    type Output = Result<ExclusivePermit<'a, T, K>, ReserveError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = self.get_mut().reserving.poll(context, None);
        polled.map_err(|_| ReserveError::Disconnected)
    }
}

impl<'a, T, K> PollUntil for ReserveFuture<'a, T, K> {
    type Timed = Result<ExclusivePermit<'a, T, K>, ReserveTimeoutError>;

    const TIMED: &'static str = "ReserveTimeoutFuture { .. }";

    fn poll_until(
        &mut self,
        context: &Context<'_>,
        deadline: Option<Instant>,
    ) -> Poll<Self::Timed> {
        self.reserving.poll(context, deadline)
    }
}

impl<T, K> fmt::Debug for ReserveFuture<'_, T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("ReserveFuture { .. }")
    }
}
