//! Waiting as a task for room in a lane.

use core::task::{Poll, Waker};
use std::time::{Duration, Instant};

use tamtam_wait::{Polled, TaskWait, Token};

use crate::error::ReserveTimeoutError;
use crate::future::sending::{Reserving, ReservingSender};
use crate::future::timeout::TimeoutFuture;
use crate::iter::sealed;
use crate::lane::{ExclusivePermit, LaneSender};

impl<T, K> sealed::Sealed for &mut LaneSender<T, K> {}

impl<'a, T, K> ReservingSender for &'a mut LaneSender<T, K> {
    type Permit = ExclusivePermit<'a, T, K>;

    fn poll_room(
        &self,
        wait: &mut TaskWait,
        waker: &Waker,
        deadline: Option<Instant>,
    ) -> Poll<Result<(), ReserveTimeoutError>> {
        let mut token = Token::default();
        let polled = wait.poll(&**self, &mut token, waker, deadline);
        polled.map(|polled| match polled {
            // What a sender puts into a token needs no finishing; a sender that finds room does not look whether
            // the channel is closed.
            Polled::Begun if self.is_closed() => Err(ReserveTimeoutError::Disconnected),
            Polled::Begun => Ok(()),
            Polled::TimedOut => Err(ReserveTimeoutError::Timeout),
        })
    }

    fn granted(self) -> ExclusivePermit<'a, T, K> {
        ExclusivePermit::granted(self)
    }

    fn cancel_room(&self, wait: &mut TaskWait) {
        wait.cancel(&**self);
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
pub type ReserveFuture<'a, T, K> = Reserving<&'a mut LaneSender<T, K>>;

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
        Reserving::new(self)
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
