//! Waiting as a task at the ends of `spsc` and `mpsc` channels.
//!
//! The futures borrow their end exclusively: an end belongs to one owner, and so a future of it may be sent
//! to another thread although the end cannot be shared.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::time::{Duration, Instant};

use tamtam_wait::{Polled, TaskWait, Token};

use super::{LaneSender, Receiver};
use crate::error::{RecvError, RecvTimeoutError, SendError};

/// What [`Receiver::recv_async`] returns: ready when a message is there.
///
/// # Cancel safety
///
/// Dropping it takes no message.
#[must_use = "a future does nothing until it is awaited"]
pub struct RecvFuture<'a, T> {
    receiver: &'a mut Receiver<T>,
    wait: TaskWait,
}

/// What [`Receiver::recv_timeout_async`] returns.
///
/// # Cancel safety
///
/// Dropping it takes no message, and neither does its running out of time.
#[must_use = "a future does nothing until it is awaited"]
pub struct RecvTimeoutFuture<'a, T> {
    receiver: &'a mut Receiver<T>,
    wait: TaskWait,
    deadline: Option<Instant>,
}

/// What [`Receiver::into_stream`] returns: the messages, one after the other, until the channel is empty and
/// closed, or no sender is left.
///
/// With the feature `futures` it is a `Stream`; without it there is [`poll_next`](RecvStream::poll_next).
///
/// # Cancel safety
///
/// Dropping the future of its next message takes no message. Dropping the stream drops the receiver.
#[must_use = "a stream does nothing until it is polled"]
pub struct RecvStream<T> {
    receiver: Receiver<T>,
    wait: TaskWait,
    ended: bool,
}

/// What [`LaneSender::send_async`] returns: ready when the message is in the channel.
///
/// # Cancel safety
///
/// Dropping it before it is ready drops the message unsent; [`into_message`](SendFuture::into_message) gives
/// it back.
#[must_use = "a future does nothing until it is awaited"]
pub struct SendFuture<'a, T, K> {
    sender: &'a mut LaneSender<T, K>,
    message: Option<T>,
    wait: TaskWait,
}

#[inline]
fn poll_receive<T>(
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
    /// # Errors
    ///
    /// [`RecvTimeoutError::Timeout`] or [`RecvTimeoutError::Disconnected`].
    pub fn recv_timeout_async(&mut self, timeout: Duration) -> RecvTimeoutFuture<'_, T> {
        RecvTimeoutFuture {
            receiver: self,
            wait: TaskWait::new(),
            deadline: Instant::now().checked_add(timeout),
        }
    }

    /// The messages as a stream that owns this end.
    pub fn into_stream(self) -> RecvStream<T> {
        RecvStream {
            receiver: self,
            wait: TaskWait::new(),
            ended: false,
        }
    }
}

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
            message: Some(message),
            wait: TaskWait::new(),
        }
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

impl<T> Future for RecvTimeoutFuture<'_, T> {
    type Output = Result<T, RecvTimeoutError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        poll_receive(this.receiver, &mut this.wait, context, this.deadline)
    }
}

impl<T> Drop for RecvTimeoutFuture<'_, T> {
    fn drop(&mut self) {
        self.wait.cancel(&*self.receiver);
    }
}

impl<T> RecvStream<T> {
    /// The next message; `None` when there will be no more.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
        if self.ended {
            return Poll::Ready(None);
        }
        poll_receive(&self.receiver, &mut self.wait, context, None).map(|received| {
            self.ended = received.is_err();
            received.ok()
        })
    }

    /// The receiver whose messages these are.
    pub fn receiver(&self) -> &Receiver<T> {
        &self.receiver
    }
}

impl<T> Drop for RecvStream<T> {
    fn drop(&mut self) {
        self.wait.cancel(&self.receiver);
    }
}

// Messages are moved by value and never pinned.
impl<T> Unpin for RecvStream<T> {}

#[cfg(feature = "futures")]
impl<T> futures_core::Stream for RecvStream<T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        RecvStream::poll_next(self.get_mut(), context)
    }
}

#[cfg(feature = "futures")]
impl<T> futures_core::FusedStream for RecvStream<T> {
    fn is_terminated(&self) -> bool {
        self.ended
    }
}

impl<T, K> SendFuture<'_, T, K> {
    /// Gives the sending up; the message, unless it was sent.
    #[must_use = "the message is dropped with this"]
    pub fn into_message(mut self) -> Option<T> {
        self.message.take()
    }
}

// The message is moved by value and never pinned.
impl<T, K> Unpin for SendFuture<'_, T, K> {}

impl<T, K> Future for SendFuture<'_, T, K> {
    type Output = Result<(), SendError<T>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        assert!(
            this.message.is_some(),
            "a send was polled after it had ended"
        );
        let mut token = Token::default();
        let polled = this
            .wait
            .poll(&*this.sender, &mut token, context.waker(), None);
        if polled.is_pending() {
            return Poll::Pending;
        }
        let Some(message) = this.message.take() else {
            unreachable!("there was a message when the poll began")
        };
        // SAFETY: the sender has filled the token just now.
        Poll::Ready(unsafe { this.sender.finish(&mut token, message) })
    }
}

impl<T, K> Drop for SendFuture<'_, T, K> {
    #[inline]
    fn drop(&mut self) {
        self.wait.cancel(&*self.sender);
    }
}

impl<T> fmt::Debug for RecvFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("RecvFuture { .. }")
    }
}

impl<T> fmt::Debug for RecvTimeoutFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("RecvTimeoutFuture { .. }")
    }
}

impl<T> fmt::Debug for RecvStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("RecvStream { .. }")
    }
}

impl<T, K> fmt::Debug for SendFuture<'_, T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("SendFuture { .. }")
    }
}
