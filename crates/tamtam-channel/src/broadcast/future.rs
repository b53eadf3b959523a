//! Receiving from a broadcast as a task.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::time::Instant;

use tamtam_wait::seam::Arc;
use tamtam_wait::{Polled, TaskWait, Token};

use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::receiver::Receiver;
use super::sender::{Sender, back, late};
use crate::error::{SendError, SendTimeoutError};
use crate::flavor::Refusal;
use crate::future::timeout::{PollUntil, TimeoutFuture};

/// What [`Receiver::recv_async`] returns: ready when a message is there, or was lost.
///
/// # Cancel safety
///
/// Dropping it takes no message.
///
/// # Examples
///
/// ```
/// # futures::executor::block_on(async {
/// let (sender, receiver) = tamtam_channel::broadcast::bounded(1);
/// sender.send_async("to all").await?;
/// assert_eq!(receiver.recv_async().await, Ok("to all"));
/// # Ok::<(), tamtam_channel::SendError<&str>>(())
/// # }).unwrap();
/// ```
#[must_use = "a future does nothing until it is awaited"]
pub struct RecvFuture<'a, T> {
    receiver: &'a Receiver<T>,
    wait: TaskWait,
}

/// What [`Receiver::recv_timeout_async`] and [`Receiver::recv_deadline_async`] return.
pub type RecvTimeoutFuture<'a, T> = TimeoutFuture<RecvFuture<'a, T>>;

/// What [`Sender::send_async`] returns: ready when the message is sent.
///
/// # Cancel safety
///
/// Dropping it drops the message, which was not sent. [`into_inner`](SendFuture::into_inner) gives it back.
///
/// # Examples
///
/// ```
/// use std::task::{Context, Waker};
/// use tamtam_channel::broadcast;
///
/// let (sender, receiver) = broadcast::bounded(1);
/// sender.send("first").unwrap();
/// let mut sending = sender.send_async("second");
/// // The receiver has not taken the first one; giving up gives the message back.
/// let mut context = Context::from_waker(Waker::noop());
/// assert!(std::pin::Pin::new(&mut sending).poll(&mut context).is_pending());
/// assert_eq!(sending.into_inner(), Some("second"));
/// assert_eq!(receiver.recv(), Ok("first"));
/// ```
#[must_use = "a future does nothing until it is awaited"]
pub struct SendFuture<'a, T> {
    sender: &'a Sender<T>,
    message: Option<Arc<T>>,
    wait: TaskWait,
}

/// What [`Sender::send_timeout_async`] returns.
pub type SendTimeoutFuture<'a, T> = TimeoutFuture<SendFuture<'a, T>>;

/// Receives, or enters the task among those who wait.
pub(super) fn poll_receive<T: Clone>(
    receiver: &Receiver<T>,
    wait: &mut TaskWait,
    context: &Context<'_>,
    deadline: Option<Instant>,
) -> Poll<Result<T, RecvTimeoutError>> {
    let mut token = Token::default();
    loop {
        match wait.poll(receiver, &mut token, context.waker(), deadline) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Polled::TimedOut) => return Poll::Ready(Err(RecvTimeoutError::Timeout)),
            Poll::Ready(Polled::Begun) => {}
        }
        return Poll::Ready(match receiver.try_recv() {
            Ok(message) => Ok(message),
            // Shared by several, and another one was faster.
            Err(TryRecvError::Empty) => continue,
            Err(TryRecvError::Lost(lost)) => Err(RecvTimeoutError::Lost(lost)),
            Err(TryRecvError::Disconnected) => Err(RecvTimeoutError::Disconnected),
        });
    }
}

impl<'a, T> RecvFuture<'a, T> {
    pub(super) fn new(receiver: &'a Receiver<T>) -> Self {
        RecvFuture {
            receiver,
            wait: TaskWait::new(),
        }
    }
}

impl<T: Clone> PollUntil for RecvFuture<'_, T> {
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

impl<T: Clone> Future for RecvFuture<'_, T> {
    type Output = Result<T, RecvError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_until(context, None).map_err(|error| match error {
            RecvTimeoutError::Lost(lost) => RecvError::Lost(lost),
            RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout => RecvError::Disconnected,
        })
    }
}

impl<T> Drop for RecvFuture<'_, T> {
    fn drop(&mut self) {
        self.wait.cancel(self.receiver);
    }
}

impl<'a, T> SendFuture<'a, T> {
    pub(super) fn new(sender: &'a Sender<T>, message: T) -> Self {
        SendFuture {
            sender,
            message: Some(Arc::new(message)),
            wait: TaskWait::new(),
        }
    }

    /// Gives the sending up; the message, unless it was sent.
    #[must_use = "the message is dropped with this"]
    pub fn into_inner(mut self) -> Option<T> {
        self.message.take().map(|message| back(Some(message)))
    }
}

impl<T> PollUntil for SendFuture<'_, T> {
    type Timed = Result<(), SendTimeoutError<T>>;

    const TIMED: &'static str = "SendTimeoutFuture { .. }";

    fn poll_until(
        &mut self,
        context: &Context<'_>,
        deadline: Option<Instant>,
    ) -> Poll<Self::Timed> {
        assert!(
            self.message.is_some(),
            "a send was polled after it had ended"
        );
        let room = self.sender.queue.room();
        let mut token = Token::default();
        loop {
            let refusal = match self.wait.poll(&room, &mut token, context.waker(), deadline) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Polled::TimedOut) => Refusal::Full,
                Poll::Ready(Polled::Begun) => match self.sender.queue.append(&mut self.message) {
                    Ok(()) => return Poll::Ready(Ok(())),
                    // Another sender was faster.
                    Err(Refusal::Full) => continue,
                    Err(refusal) => refusal,
                },
            };
            return Poll::Ready(Err(late((back(self.message.take()), refusal))));
        }
    }
}

impl<T> Future for SendFuture<'_, T> {
    type Output = Result<(), SendError<T>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_until(context, None)
            .map_err(|error| SendError(error.into_inner()))
    }
}

// The message is on the heap and never pinned.
impl<T> Unpin for SendFuture<'_, T> {}

impl<T> Drop for SendFuture<'_, T> {
    fn drop(&mut self) {
        self.wait.cancel(&self.sender.queue.room());
    }
}

impl<T> fmt::Debug for RecvFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("RecvFuture { .. }")
    }
}

impl<T> fmt::Debug for SendFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("SendFuture { .. }")
    }
}
