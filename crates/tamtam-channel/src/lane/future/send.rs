//! Sending into a lane as a task. The room of a lane is its one sender's, so nothing is ever claimed here that another task could
//! take.

use core::task::{Poll, Waker};
use std::time::{Duration, Instant};

use tamtam_wait::TaskWait;

use crate::error::{SendTimeoutError, TrySendError};
use crate::future::behind_a_look;
use crate::future::sending::{AwaitedSender, Sending, ended, take};
use crate::future::timeout::TimeoutFuture;
use crate::iter::sealed;
use crate::lane::LaneSender;
use crate::lane::sender::Unwritten;

impl<T, K> sealed::Sealed for LaneSender<T, K> {}

impl<T, K> AwaitedSender for LaneSender<T, K> {
    type Message = T;
    type Waiting = TaskWait;

    #[inline]
    fn poll_send(
        &self,
        message: &mut Option<T>,
        wait: &mut TaskWait,
        waker: &Waker,
        deadline: Option<Instant>,
    ) -> Poll<Result<(), SendTimeoutError<T>>> {
        if message.is_none() {
            ended();
        }
        if wait.is_free(self) && self.may_write().is_ok() {
            let sent = self.put(take(message));
            return Poll::Ready(sent.map_err(Into::into));
        }
        let polled = self.await_room(wait, waker, deadline);
        polled.map(|room| {
            let message = take(message);
            match room {
                Some(Ok(())) => self.put(message).map_err(Into::into),
                Some(Err(_)) => Err(SendTimeoutError::Disconnected(message)),
                None => Err(SendTimeoutError::Timeout(message)),
            }
        })
    }

    #[inline]
    fn is_under_way(wait: &TaskWait) -> bool {
        wait.is_listed()
    }

    fn cancel_send(&self, _message: &mut Option<T>, wait: &mut TaskWait) {
        wait.cancel(self);
    }

    fn send_at_once(&self, message: T) -> Result<(), TrySendError<T>> {
        self.try_send(message)
    }
}

/// What [`LaneSender::send_async`] returns: ready when the message is in the channel.
///
/// # Cancel safety
///
/// Dropping it before it is ready drops the message unsent; [`into_inner`](SendFuture::into_inner) gives
/// it back.
///
/// # Examples
///
/// ```
/// use std::task::{Context, Waker};
/// use tamtam_channel::spsc;
///
/// let (mut sender, receiver) = spsc::bounded(1);
/// sender.send("first").unwrap();
/// let mut sending = sender.send_async("second");
/// // There is no room, so it waits; giving up gives the message back.
/// let mut context = Context::from_waker(Waker::noop());
/// assert!(std::pin::Pin::new(&mut sending).poll(&mut context).is_pending());
/// assert_eq!(sending.into_inner(), Some("second"));
/// assert_eq!(receiver.recv(), Ok("first"));
/// ```
pub type SendFuture<'a, T, K> = Sending<&'a mut LaneSender<T, K>>;

/// What [`LaneSender::send_timeout_async`] and [`LaneSender::send_deadline_async`] return: ready when the
/// message is in the channel or the time is over.
///
/// # Cancel safety
///
/// As for [`SendFuture`].
pub type SendTimeoutFuture<'a, T, K> = TimeoutFuture<SendFuture<'a, T, K>>;

impl<T, K> LaneSender<T, K> {
    /// Ready when a message may be written, or when it is closed; none if the time is over. A task that is not listed has just looked in
    /// vain.
    #[inline(never)]
    fn await_room(
        &self,
        wait: &mut TaskWait,
        waker: &Waker,
        deadline: Option<Instant>,
    ) -> Poll<Option<Result<(), Unwritten>>> {
        // No other thread takes the room away.
        let attempt = behind_a_look(wait, deadline, |_| match self.may_write() {
            Err(Unwritten::Full) => None,
            decided => Some(decided),
        });
        wait.poll_attempting(self, waker, deadline, attempt)
    }

    /// Sends a message, awaiting room for it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is ready drops the message unsent.
    ///
    /// # Errors
    ///
    /// [`SendError`](crate::SendError) with the message if the channel is closed or the receiver is gone.
    #[inline]
    pub fn send_async(&mut self, message: T) -> SendFuture<'_, T, K> {
        Sending::new(self, message)
    }

    /// As [`send_async`](LaneSender::send_async), but waits at most `timeout` from now. No runtime's timer is
    /// needed.
    ///
    /// # Cancel safety
    ///
    /// As [`send_async`](LaneSender::send_async).
    ///
    /// # Errors
    ///
    /// [`SendTimeoutError::Timeout`] or [`SendTimeoutError::Disconnected`], with the message.
    pub fn send_timeout_async(
        &mut self,
        message: T,
        timeout: Duration,
    ) -> SendTimeoutFuture<'_, T, K> {
        TimeoutFuture::within(self.send_async(message), timeout)
    }

    /// As [`send_async`](LaneSender::send_async), but waits until `deadline` at the latest.
    ///
    /// # Cancel safety
    ///
    /// As [`send_async`](LaneSender::send_async).
    ///
    /// # Errors
    ///
    /// [`SendTimeoutError::Timeout`] or [`SendTimeoutError::Disconnected`], with the message.
    pub fn send_deadline_async(
        &mut self,
        message: T,
        deadline: Instant,
    ) -> SendTimeoutFuture<'_, T, K> {
        TimeoutFuture::until(self.send_async(message), deadline)
    }
}
