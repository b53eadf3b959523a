//! Receiving from lanes as a task.

use core::task::{Context, Poll};
use std::time::{Duration, Instant};

use tamtam_wait::TaskWait;

use crate::error::{RecvTimeoutError, TryRecvError};
use crate::flavor::Nothing;
use crate::future::await_message;
use crate::future::receiving::{AwaitedEnd, End, Receiving, ReceivingMany, Stream};
use crate::future::timeout::TimeoutFuture;
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
pub type RecvFuture<'a, T> = Receiving<&'a mut Receiver<T>>;

/// What [`Receiver::recv_timeout_async`] and [`Receiver::recv_deadline_async`] return: ready when a message is
/// there or the time is over.
///
/// # Cancel safety
///
/// Dropping it takes no message, and neither does its running out of time.
pub type RecvTimeoutFuture<'a, T> = TimeoutFuture<RecvFuture<'a, T>>;

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
pub type RecvManyFuture<'a, T> = ReceivingMany<'a, &'a mut Receiver<T>>;

/// What [`Receiver::recv_timeout_many_async`] returns.
///
/// # Cancel safety
///
/// As for [`RecvManyFuture`], and running out of time takes no message.
pub type RecvManyTimeoutFuture<'a, T> = TimeoutFuture<RecvManyFuture<'a, T>>;

/// What [`Receiver::stream`] and [`Receiver::into_stream`] return: the messages, one after the other, until
/// the channel is empty and closed, or no sender is left.
///
/// With the feature `futures` it is a `Stream`; without it there is [`poll_next`](crate::receiving::Stream::poll_next).
///
/// # Cancel safety
///
/// Dropping the stream, or the future of its next message, takes no message. One that owns its receiver drops
/// it, too.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "futures")]
/// # futures::executor::block_on(async {
/// use futures::StreamExt;
///
/// let (sender, receiver) = tamtam_channel::mpsc::unbounded();
/// sender.send(1)?;
/// sender.send(2)?;
/// drop(sender);
/// let doubled: Vec<_> = receiver.into_stream().map(|number| 2 * number).collect().await;
/// assert_eq!(doubled, [2, 4]);
/// # Ok::<(), tamtam_channel::SendError<i32>>(())
/// # }).unwrap();
/// ```
pub type RecvStream<'a, T> = Stream<End<&'a mut Receiver<T>, Receiver<T>>>;

impl<T> AwaitedEnd for Receiver<T> {
    type Message = T;

    #[inline]
    fn poll_receive<R>(
        &self,
        wait: &mut TaskWait,
        context: &Context<'_>,
        deadline: Option<Instant>,
        received: impl FnOnce(T) -> R + Copy,
        ended: impl FnOnce(RecvTimeoutError) -> R,
    ) -> Poll<R> {
        let is_free = wait.is_free(self);
        let await_it = |_| {
            let look = || self.try_recv();
            await_message(self, look, wait, context, deadline, received, ended)
        };
        if !is_free {
            return await_it(Nothing::Empty);
        }
        self.take_as(|message| Poll::Ready(received(message)), await_it)
    }

    #[inline]
    fn cancel(&self, wait: &mut TaskWait) {
        wait.cancel(self);
    }

    fn receive_there(&self, buffer: &mut Vec<T>, limit: usize) -> Result<usize, TryRecvError> {
        self.try_recv_many(buffer, limit)
    }
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
    /// [`RecvError`](crate::RecvError) if the channel is empty and closed, or no sender is left.
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
        Receiving::new(self)
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
    /// [`RecvError`](crate::RecvError) if the channel is empty, and no sender is left or it is closed, also if that happens while it
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
        ReceivingMany::new(self, buffer, limit)
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

    /// The messages as a stream; see [`RecvStream`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::future::poll_fn;
    /// # use std::task::{Context, Poll, Waker};
    /// # fn run<F: Future>(future: F) -> F::Output {
    /// #     let mut future = std::pin::pin!(future);
    /// #     match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
    /// #         Poll::Ready(output) => output,
    /// #         Poll::Pending => panic!("it was to be ready"),
    /// #     }
    /// # }
    ///
    /// let (sender, mut receiver) = tamtam_channel::mpsc::unbounded();
    /// sender.send_many([1, 2]).unwrap();
    /// drop(sender);
    /// # run(async {
    /// let mut stream = receiver.stream();
    /// let mut sum = 0;
    /// while let Some(number) = poll_fn(|context| stream.poll_next(context)).await {
    ///     sum += number;
    /// }
    /// assert_eq!(sum, 3);
    /// # });
    /// ```
    pub fn stream(&mut self) -> RecvStream<'_, T> {
        Stream::new(End::Borrowed(self))
    }

    /// The messages as a stream that owns this end.
    pub fn into_stream(self) -> RecvStream<'static, T> {
        Stream::new(End::Owned(self))
    }
}
