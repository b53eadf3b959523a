use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::time::{Duration, Instant};

use tamtam_wait::{Polled, TaskWait, Token};

use super::timeout::{PollUntil, TimeoutFuture};
use crate::error::{RecvError, RecvTimeoutError};
use crate::flavor::never::Never;
use crate::flavor::queue::Queue;
use crate::receiver::{Receiver, ReceiverFlavor};

/// Receiving as a task: the wait that a [`RecvFuture`], a deadline or a stream goes through.
#[derive(Default)]
pub(crate) struct Receiving {
    wait: TaskWait,
}

impl Receiving {
    #[inline]
    pub(crate) fn poll<T>(
        &mut self,
        receiver: &Receiver<T>,
        context: &Context<'_>,
        deadline: Option<Instant>,
    ) -> Poll<Result<T, RecvTimeoutError>> {
        let mut token = Token::default();
        let waker = context.waker();
        let polled = match receiver.flavor() {
            ReceiverFlavor::Bounded(ring) => {
                self.wait
                    .poll(&ring.receiving(), &mut token, waker, deadline)
            }
            ReceiverFlavor::Unbounded(list) => {
                self.wait
                    .poll(&list.receiving(), &mut token, waker, deadline)
            }
            ReceiverFlavor::Rendezvous(rendezvous) => {
                let polled = self
                    .wait
                    .poll(&rendezvous.meeting(), &mut token, waker, deadline);
                if polled == Poll::Ready(Polled::Begun) {
                    // SAFETY: this is what `Meeting` puts into a token.
                    let message = unsafe { token.take::<Option<T>>() };
                    return Poll::Ready(message.ok_or(RecvTimeoutError::Disconnected));
                }
                polled
            }
            ReceiverFlavor::At(at) => self.wait.poll(&**at, &mut token, waker, deadline),
            ReceiverFlavor::Tick(tick) => self.wait.poll(&**tick, &mut token, waker, deadline),
            ReceiverFlavor::Never => self.wait.poll(&Never, &mut token, waker, deadline),
        };
        match polled {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Polled::TimedOut) => Poll::Ready(Err(RecvTimeoutError::Timeout)),
            Poll::Ready(Polled::Begun) => {
                // SAFETY: this receiver's source has filled the token just now; those of a rendezvous have returned above.
                let received = unsafe { receiver.finish_at_once(&mut token) };
                Poll::Ready(received.map_err(RecvTimeoutError::from))
            }
        }
    }

    pub(crate) fn is_listed(&self) -> bool {
        self.wait.is_listed()
    }

    #[inline]
    pub(crate) fn cancel<T>(&mut self, receiver: &Receiver<T>) {
        if !self.wait.is_listed() {
            return;
        }
        match receiver.flavor() {
            ReceiverFlavor::Bounded(ring) => self.wait.cancel(&ring.receiving()),
            ReceiverFlavor::Unbounded(list) => self.wait.cancel(&list.receiving()),
            ReceiverFlavor::Rendezvous(rendezvous) => self.wait.cancel(&rendezvous.meeting()),
            ReceiverFlavor::At(at) => self.wait.cancel(&**at),
            ReceiverFlavor::Tick(tick) => self.wait.cancel(&**tick),
            ReceiverFlavor::Never => self.wait.cancel(&Never),
        }
    }
}

/// What [`Receiver::recv_async`] returns: ready when a message is there.
///
/// # Cancel safety
///
/// Dropping it takes no message out of the channel. If it was about to be woken for one, another
/// receiver is woken instead. Kept without being polled, it keeps its place among those who wait, and the
/// wake-up; polled after it was ready, it receives the next message.
///
/// # Examples
///
/// ```
/// use tamtam_channel::bounded;
///
/// async fn sum(receiver: &tamtam_channel::Receiver<u32>) -> u32 {
///     let mut sum = 0;
///     while let Ok(number) = receiver.recv_async().await {
///         sum += number;
///     }
///     sum
/// }
///
/// let (sender, receiver) = bounded(2);
/// sender.send(1)?;
/// sender.send(2)?;
/// drop(sender);
/// # use std::task::{Context, Poll, Waker};
/// # let polled = std::pin::pin!(sum(&receiver)).poll(&mut Context::from_waker(Waker::noop()));
/// # assert_eq!(polled, Poll::Ready(3));
/// # Ok::<(), tamtam_channel::SendError<u32>>(())
/// ```
#[must_use = "a future does nothing until it is awaited"]
pub struct RecvFuture<'a, T> {
    receiver: &'a Receiver<T>,
    receiving: Receiving,
}

/// What [`Receiver::recv_timeout_async`] and [`Receiver::recv_deadline_async`] return: ready when a
/// message is there or the time is over.
///
/// # Cancel safety
///
/// As for [`RecvFuture`].
pub type RecvTimeoutFuture<'a, T> = TimeoutFuture<RecvFuture<'a, T>>;

impl<T> Receiver<T> {
    /// Receives a message, awaiting one.
    ///
    /// Blocking and awaiting receivers may share a channel: they wait in one line. With capacity zero a sender
    /// that waits goes on when the awaiting task has been polled and has the message, not before. One that
    /// cannot wait ([`try_send`](crate::Sender::try_send), a selected operation, a channel that
    /// [drops](crate::Builder::overflow)) leaves the message for the task; if the task is cancelled, the next
    /// receiver gets it, whenever that comes.
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
    /// let (sender, receiver) = tamtam_channel::bounded(8);
    /// sender.send_async("hello").await?;
    /// assert_eq!(receiver.recv_async().await, Ok("hello"));
    /// # Ok::<(), tamtam_channel::SendError<&str>>(())
    /// # }).unwrap();
    /// ```
    #[inline]
    pub fn recv_async(&self) -> RecvFuture<'_, T> {
        RecvFuture {
            receiver: self,
            receiving: Receiving::default(),
        }
    }

    /// As [`recv_async`](Receiver::recv_async), but waits at most `timeout` from now.
    ///
    /// No runtime's timer is needed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future takes no message, and neither does its running out of time.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError::Timeout`] or [`RecvTimeoutError::Disconnected`].
    pub fn recv_timeout_async(&self, timeout: Duration) -> RecvTimeoutFuture<'_, T> {
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
    pub fn recv_deadline_async(&self, deadline: Instant) -> RecvTimeoutFuture<'_, T> {
        TimeoutFuture::until(self.recv_async(), deadline)
    }
}

impl<T> Future for RecvFuture<'_, T> {
    type Output = Result<T, RecvError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_until(context, None).map_err(|_| RecvError)
    }
}

impl<T> PollUntil for RecvFuture<'_, T> {
    type Timed = Result<T, RecvTimeoutError>;

    const TIMED: &'static str = "RecvTimeoutFuture { .. }";

    #[inline]
    fn poll_until(
        &mut self,
        context: &Context<'_>,
        deadline: Option<Instant>,
    ) -> Poll<Self::Timed> {
        self.receiving.poll(self.receiver, context, deadline)
    }
}

impl<T> Drop for RecvFuture<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.receiving.cancel(self.receiver);
    }
}

opaque!(RecvFuture<'_, T>);
