//! Sending into a lane as a task. The room of a lane is its one sender's, so nothing is ever claimed here that another task could
//! take.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use tamtam_wait::{Polled, TaskWait, Token};

use crate::error::{SendError, SendTimeoutError};
use crate::future::timeout::{PollUntil, TimeoutFuture};
use crate::lane::LaneSender;

/// Sending as a task: the wait that a [`SendFuture`], a deadline or a sink goes through, and the message until
/// it is sent.
pub(super) struct Sending<T> {
    message: Option<T>,
    wait: TaskWait,
}

impl<T> Sending<T> {
    pub(super) fn new(message: T) -> Self {
        Sending {
            message: Some(message),
            wait: TaskWait::new(),
        }
    }

    #[inline]
    pub(super) fn poll<K>(
        &mut self,
        sender: &LaneSender<T, K>,
        waker: &Waker,
        deadline: Option<Instant>,
    ) -> Poll<Result<(), SendTimeoutError<T>>> {
        if self.message.is_none() {
            ended();
        }
        let mut token = Token::default();
        let polled = match self.wait.poll(sender, &mut token, waker, deadline) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(polled) => polled,
        };
        let Some(message) = self.message.take() else {
            ended()
        };
        Poll::Ready(match polled {
            // SAFETY: the sender has filled the token just now.
            Polled::Begun => unsafe { sender.finish(&mut token, message) }.map_err(Into::into),
            Polled::TimedOut => Err(SendTimeoutError::Timeout(message)),
        })
    }

    /// Ends the wait; the message, if it was not sent.
    #[inline]
    pub(super) fn cancel<K>(&mut self, sender: &LaneSender<T, K>) -> Option<T> {
        self.wait.cancel(sender);
        self.message.take()
    }
}

#[cold]
fn ended() -> ! {
    panic!("a send was polled after it had ended")
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
#[must_use = "a future does nothing until it is awaited"]
pub struct SendFuture<'a, T, K> {
    sender: &'a mut LaneSender<T, K>,
    sending: Sending<T>,
}

/// What [`LaneSender::send_timeout_async`] and [`LaneSender::send_deadline_async`] return: ready when the
/// message is in the channel or the time is over.
///
/// # Cancel safety
///
/// As for [`SendFuture`].
pub type SendTimeoutFuture<'a, T, K> = TimeoutFuture<SendFuture<'a, T, K>>;

impl<T, K> LaneSender<T, K> {
    /// Sends a message, awaiting room for it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is ready drops the message unsent.
    ///
    /// # Errors
    ///
    /// [`SendError`] with the message if the channel is closed or the receiver is gone.
    #[inline]
    pub fn send_async(&mut self, message: T) -> SendFuture<'_, T, K> {
        SendFuture {
            sender: self,
            sending: Sending::new(message),
        }
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

impl<T, K> SendFuture<'_, T, K> {
    /// Gives the sending up; the message, unless it was sent.
    #[must_use = "the message is dropped with this"]
    pub fn into_inner(mut self) -> Option<T> {
        self.sending.cancel(self.sender)
    }
}

impl<T, K> SendTimeoutFuture<'_, T, K> {
    /// Gives the sending up; the message, unless it was sent.
    #[must_use = "the message is dropped with this"]
    pub fn into_inner(self) -> Option<T> {
        self.future.into_inner()
    }
}

// The message is moved by value and never pinned.
impl<T, K> Unpin for SendFuture<'_, T, K> {}

impl<T, K> Future for SendFuture<'_, T, K> {
    type Output = Result<(), SendError<T>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        this.sending
            .poll(this.sender, context.waker(), None)
            .map_err(|error| SendError(error.into_inner()))
    }
}

impl<T, K> Drop for SendFuture<'_, T, K> {
    #[inline]
    fn drop(&mut self) {
        drop(self.sending.cancel(self.sender));
    }
}

impl<T, K> PollUntil for SendFuture<'_, T, K> {
    type Timed = Result<(), SendTimeoutError<T>>;

    const TIMED: &'static str = "SendTimeoutFuture { .. }";

    fn poll_until(
        &mut self,
        context: &Context<'_>,
        deadline: Option<Instant>,
    ) -> Poll<Self::Timed> {
        self.sending.poll(self.sender, context.waker(), deadline)
    }
}

impl<T, K> fmt::Debug for SendFuture<'_, T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("SendFuture { .. }")
    }
}
