use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::time::{Duration, Instant};

use tamtam_wait::TaskWait;

use super::recv::poll_receive;
use crate::error::{RecvError, RecvTimeoutError, TryRecvError};
use crate::future::timeout::{PollUntil, TimeoutFuture};
use crate::lane::Receiver;

/// What [`Receiver::recv_many_async`] returns: ready when messages are there, and have been put into the buffer.
///
/// # Cancel safety
///
/// Dropping it takes no message: until it is ready the buffer is as it was.
///
/// # Examples
///
/// ```
/// # futures::executor::block_on(async {
/// let (sender, mut receiver) = tamtam_channel::spsc::unbounded();
/// (0..5).try_for_each(|number| sender.send(number))?;
/// let mut batch = Vec::new();
/// // At most three at a time.
/// assert_eq!(receiver.recv_many_async(&mut batch, 3).await, Ok(3));
/// assert_eq!(batch, [0, 1, 2]);
/// # Ok::<(), tamtam_channel::SendError<i32>>(())
/// # }).unwrap();
/// ```
#[must_use = "a future does nothing until it is awaited"]
pub struct RecvManyFuture<'a, T> {
    receiver: &'a mut Receiver<T>,
    buffer: &'a mut Vec<T>,
    limit: usize,
    wait: TaskWait,
}

/// What [`Receiver::recv_timeout_many_async`] returns.
///
/// # Cancel safety
///
/// As for [`RecvManyFuture`], and running out of time takes no message.
pub type RecvManyTimeoutFuture<'a, T> = TimeoutFuture<RecvManyFuture<'a, T>>;

impl<T> Receiver<T> {
    /// As [`recv_many`](Receiver::recv_many), but awaits the first message: all that are there then, at most `limit`,
    /// are put behind what is in `buffer`; returns how many they are.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future takes no message.
    ///
    /// # Panics
    ///
    /// If the buffer cannot grow; then no message is lost.
    ///
    /// # Errors
    ///
    /// [`RecvError`] if the channel is empty, and no sender is left or it is closed, also if that happens while it
    /// waits.
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
    /// let (mut sender, mut receiver) = tamtam_channel::spsc::unbounded();
    /// sender.send_many(0..5).unwrap();
    /// let mut buffer = Vec::new();
    /// assert_eq!(receiver.recv_many_async(&mut buffer, 3).await, Ok(3));
    /// assert_eq!(receiver.recv_many_async(&mut buffer, 100).await, Ok(2));
    /// assert_eq!(buffer, [0, 1, 2, 3, 4]);
    /// # });
    /// ```
    pub fn recv_many_async<'a>(
        &'a mut self,
        buffer: &'a mut Vec<T>,
        limit: usize,
    ) -> RecvManyFuture<'a, T> {
        RecvManyFuture {
            receiver: self,
            buffer,
            limit,
            wait: TaskWait::new(),
        }
    }

    /// As [`recv_many_async`](Receiver::recv_many_async), but waits for the first message at most `timeout` from now. No
    /// runtime's timer is needed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future takes no message, and neither does its running out of time.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError::Timeout`] or [`RecvTimeoutError::Disconnected`].
    pub fn recv_timeout_many_async<'a>(
        &'a mut self,
        buffer: &'a mut Vec<T>,
        limit: usize,
        timeout: Duration,
    ) -> RecvManyTimeoutFuture<'a, T> {
        TimeoutFuture::within(self.recv_many_async(buffer, limit), timeout)
    }
}

impl<T> PollUntil for RecvManyFuture<'_, T> {
    type Timed = Result<usize, RecvTimeoutError>;

    const TIMED: &'static str = "RecvManyTimeoutFuture { .. }";

    fn poll_until(
        &mut self,
        context: &Context<'_>,
        deadline: Option<Instant>,
    ) -> Poll<Self::Timed> {
        if !self.wait.is_listed() {
            match self.receiver.try_recv_many(self.buffer, self.limit) {
                Err(TryRecvError::Empty) => {}
                decided => {
                    return Poll::Ready(decided.map_err(|_| RecvTimeoutError::Disconnected));
                }
            }
        }
        // Before a message is taken, which would be lost if this fails.
        self.buffer.reserve(1);
        poll_receive(self.receiver, &mut self.wait, context, deadline).map_ok(|first| {
            self.buffer.push(first);
            let more = self.receiver.try_recv_many(self.buffer, self.limit - 1);
            1 + more.unwrap_or(0)
        })
    }
}

impl<T> Future for RecvManyFuture<'_, T> {
    type Output = Result<usize, RecvError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_until(context, None).map_err(|_| RecvError)
    }
}

impl<T> Drop for RecvManyFuture<'_, T> {
    fn drop(&mut self) {
        self.wait.cancel(&*self.receiver);
    }
}

impl<T> fmt::Debug for RecvManyFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("RecvManyFuture { .. }")
    }
}
