//! Waiting as a task for room, which a [`Permit`](crate::Permit) then keeps.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::time::{Duration, Instant};

use tamtam_wait::{Polled, TaskWait, Token};

use super::timeout::{PollUntil, TimeoutFuture};
use crate::error::{ReserveError, ReserveTimeoutError};
use crate::{Permit, Sender};

/// What [`Sender::reserve_async`] returns: ready when room is kept.
///
/// # Cancel safety
///
/// Dropping it keeps no room. If it was about to be woken for some, another sender is woken instead.
///
/// # Examples
///
/// ```
/// # futures::executor::block_on(async {
/// let (sender, receiver) = tamtam_channel::bounded(1);
/// let permit = sender.reserve_async().await?;
/// // What is made now is not made in vain.
/// permit.send("there is room").unwrap();
/// assert_eq!(receiver.recv(), Ok("there is room"));
/// # Ok::<(), tamtam_channel::ReserveError>(())
/// # }).unwrap();
/// ```
#[must_use = "a future does nothing until it is awaited"]
pub struct ReserveFuture<'a, T> {
    sender: &'a Sender<T>,
    wait: TaskWait,
}

/// What [`Sender::reserve_timeout_async`] returns: ready when room is kept or the time is over.
///
/// # Cancel safety
///
/// As for [`ReserveFuture`].
pub type ReserveTimeoutFuture<'a, T> = TimeoutFuture<ReserveFuture<'a, T>>;

impl<T> Sender<T> {
    /// Keeps room for one message, awaiting it: the way to send without ever losing the message to a
    /// cancellation, since it need not be made before there is room for it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future keeps no room, and there is no message yet that could be lost.
    ///
    /// # Errors
    ///
    /// As [`reserve`](Sender::reserve).
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::task::{Context, Poll, Waker};
    /// # fn run<F: Future>(future: F) -> F::Output {
    /// #     let mut future = std::pin::pin!(future);
    /// #     match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
    /// #         Poll::Ready(output) => output,
    /// #         Poll::Pending => panic!("it was to be ready"),
    /// #     }
    /// # }
    /// # run(async {
    /// let (sender, receiver) = tamtam_channel::bounded(1);
    /// let permit = sender.reserve_async().await?;
    /// permit.send("made when there was room for it").unwrap();
    /// assert_eq!(receiver.len(), 1);
    /// # Ok::<(), tamtam_channel::ReserveError>(())
    /// # }).unwrap();
    /// ```
    pub fn reserve_async(&self) -> ReserveFuture<'_, T> {
        ReserveFuture {
            sender: self,
            wait: TaskWait::new(),
        }
    }

    /// As [`reserve_async`](Sender::reserve_async), but waits at most `timeout` from now. No runtime's
    /// timer is needed.
    ///
    /// # Errors
    ///
    /// As [`reserve_timeout`](Sender::reserve_timeout).
    pub fn reserve_timeout_async(&self, timeout: Duration) -> ReserveTimeoutFuture<'_, T> {
        TimeoutFuture::within(self.reserve_async(), timeout)
    }
}

impl<'a, T> Future for ReserveFuture<'a, T> {
    type Output = Result<Permit<'a, T>, ReserveError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_until(context, None).map_err(|error| match error {
            ReserveTimeoutError::CapacityZero => ReserveError::CapacityZero,
            ReserveTimeoutError::Disconnected | ReserveTimeoutError::Timeout => {
                ReserveError::Disconnected
            }
        })
    }
}

impl<'a, T> PollUntil for ReserveFuture<'a, T> {
    type Timed = Result<Permit<'a, T>, ReserveTimeoutError>;

    const TIMED: &'static str = "ReserveTimeoutFuture { .. }";

    fn poll_until(
        &mut self,
        context: &Context<'_>,
        deadline: Option<Instant>,
    ) -> Poll<Self::Timed> {
        let reserving = self.sender.reserving();
        let mut token = Token::default();
        self.wait
            .poll(&reserving, &mut token, context.waker(), deadline)
            .map(|polled| match polled {
                // SAFETY: this source has filled the token just now.
                Polled::Begun => unsafe { reserving.finish(&mut token) }.map_err(Into::into),
                Polled::TimedOut => Err(ReserveTimeoutError::Timeout),
            })
    }
}

impl<T> Drop for ReserveFuture<'_, T> {
    fn drop(&mut self) {
        self.wait.cancel(&self.sender.reserving());
    }
}

opaque!(ReserveFuture<'_, T>);
