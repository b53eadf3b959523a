use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::time::{Duration, Instant};

use tamtam_wait::{Polled, TaskWait, Token};

use crate::error::{RecvError, RecvTimeoutError};
use crate::future::timeout::{PollUntil, TimeoutFuture};
use crate::lane::Receiver;

/// What [`Receiver::recv_async`] returns: ready when a message is there.
///
/// # Cancel safety
///
/// Dropping it takes no message.
///
/// # Examples
///
/// ```
/// # futures::executor::block_on(async {
/// let (mut sender, mut receiver) = tamtam_channel::spsc::bounded(1);
/// sender.send_async("over here").await?;
/// assert_eq!(receiver.recv_async().await, Ok("over here"));
/// # Ok::<(), tamtam_channel::SendError<&str>>(())
/// # }).unwrap();
/// ```
#[must_use = "a future does nothing until it is awaited"]
pub struct RecvFuture<'a, T> {
    receiver: &'a mut Receiver<T>,
    wait: TaskWait,
}

/// What [`Receiver::recv_timeout_async`] and [`Receiver::recv_deadline_async`] return: ready when a message is
/// there or the time is over.
///
/// # Cancel safety
///
/// Dropping it takes no message, and neither does its running out of time.
pub type RecvTimeoutFuture<'a, T> = TimeoutFuture<RecvFuture<'a, T>>;

#[inline]
pub(super) fn poll_receive<T>(
    receiver: &Receiver<T>,
    wait: &mut TaskWait,
    context: &Context<'_>,
    deadline: Option<Instant>,
) -> Poll<Result<T, RecvTimeoutError>> {
    let mut token = Token::default();
    wait.poll(receiver, &mut token, context.waker(), deadline)
        .map(|polled| match polled {
            // SAFETY: the receiver has filled the token just now.
            Polled::Begun => unsafe { receiver.finish(&mut token) }.map_err(Into::into),
            Polled::TimedOut => Err(RecvTimeoutError::Timeout),
        })
}

impl<T> Receiver<T> {
    /// Receives a message, awaiting one.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future takes no message.
    ///
    /// # Errors
    ///
    /// [`RecvError`] if the channel is empty and closed, or no sender is left.
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
    /// let (mut sender, mut receiver) = tamtam_channel::spsc::bounded(8);
    /// sender.send_async("hello").await?;
    /// assert_eq!(receiver.recv_async().await, Ok("hello"));
    /// # Ok::<(), tamtam_channel::SendError<&str>>(())
    /// # }).unwrap();
    /// ```
    #[inline]
    pub fn recv_async(&mut self) -> RecvFuture<'_, T> {
        RecvFuture {
            receiver: self,
            wait: TaskWait::new(),
        }
    }

    /// As [`recv_async`](Receiver::recv_async), but waits at most `timeout` from now. No runtime's timer
    /// is needed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future takes no message, and neither does its running out of time.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError::Timeout`] or [`RecvTimeoutError::Disconnected`].
    pub fn recv_timeout_async(&mut self, timeout: Duration) -> RecvTimeoutFuture<'_, T> {
        TimeoutFuture::within(self.recv_async(), timeout)
    }

    /// As [`recv_async`](Receiver::recv_async), but waits until `deadline` at the latest.
    ///
    /// # Cancel safety
    ///
    /// As [`recv_timeout_async`](Receiver::recv_timeout_async).
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError::Timeout`] or [`RecvTimeoutError::Disconnected`].
    pub fn recv_deadline_async(&mut self, deadline: Instant) -> RecvTimeoutFuture<'_, T> {
        TimeoutFuture::until(self.recv_async(), deadline)
    }
}

impl<T> Future for RecvFuture<'_, T> {
    type Output = Result<T, RecvError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        poll_receive(this.receiver, &mut this.wait, context, None).map_err(|_| RecvError)
    }
}

impl<T> Drop for RecvFuture<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.wait.cancel(&*self.receiver);
    }
}

impl<T> PollUntil for RecvFuture<'_, T> {
    type Timed = Result<T, RecvTimeoutError>;

    const TIMED: &'static str = "RecvTimeoutFuture { .. }";

    fn poll_until(
        &mut self,
        context: &Context<'_>,
        deadline: Option<Instant>,
    ) -> Poll<Self::Timed> {
        poll_receive(self.receiver, &mut self.wait, context, deadline)
    }
}

impl<T> fmt::Debug for RecvFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("RecvFuture { .. }")
    }
}
