//! Waiting as a task for room, which a [`Permit`](crate::Permit) then keeps.

use core::task::{Poll, Waker};
use std::time::{Duration, Instant};

use tamtam_wait::{Polled, TaskWait, Token};

use super::sending::{Reserving, ReservingSender};
use super::timeout::TimeoutFuture;
use crate::error::ReserveTimeoutError;
use crate::iter::sealed;
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
pub type ReserveFuture<'a, T> = Reserving<&'a Sender<T>>;

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
    /// # Panics
    ///
    /// If the future is polled after it was ready.
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
        Reserving::new(self)
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

impl<T> sealed::Sealed for &Sender<T> {}

impl<'a, T> ReservingSender for &'a Sender<T> {
    type Permit = Permit<'a, T>;

    fn poll_room(
        &self,
        wait: &mut TaskWait,
        waker: &Waker,
        deadline: Option<Instant>,
    ) -> Poll<Result<(), ReserveTimeoutError>> {
        let room = self.room();
        let mut token = Token::default();
        wait.poll(&room, &mut token, waker, deadline)
            .map(|polled| match polled {
                // SAFETY: this source has filled the token just now.
                Polled::Begun => unsafe { room.decided(&mut token) }.map_err(Into::into),
                Polled::TimedOut => Err(ReserveTimeoutError::Timeout),
            })
    }

    fn granted(self) -> Permit<'a, T> {
        Permit::granted(self)
    }

    fn cancel_room(&self, wait: &mut TaskWait) {
        wait.cancel(&self.room());
    }
}
