//! Receiving from a channel as a task.

use core::task::{Context, Poll};
use std::time::{Duration, Instant};

use tamtam_wait::{Polled, Source, TaskWait, Token};

use super::behind_a_look;
use super::receiving::{AwaitedEnd, End, Receiving, ReceivingMany, Stream};
use super::timeout::TimeoutFuture;
use crate::error::{RecvTimeoutError, TryRecvError};
use crate::flavor::never::Never;
use crate::flavor::queue::Queue;
use crate::receiver::{Receiver, ReceiverFlavor, settle};

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
pub type RecvFuture<'a, T> = Receiving<&'a Receiver<T>>;

/// What [`Receiver::recv_timeout_async`] and [`Receiver::recv_deadline_async`] return: ready when a
/// message is there or the time is over.
///
/// # Cancel safety
///
/// As for [`RecvFuture`].
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
/// let (sender, receiver) = tamtam_channel::bounded(8);
/// (0..5).try_for_each(|number| sender.send(number))?;
/// let mut batch = Vec::new();
/// // At most three at a time.
/// assert_eq!(receiver.recv_many_async(&mut batch, 3).await, Ok(3));
/// assert_eq!(batch, [0, 1, 2]);
/// # Ok::<(), tamtam_channel::SendError<i32>>(())
/// # }).unwrap();
/// ```
pub type RecvManyFuture<'a, T> = ReceivingMany<'a, &'a Receiver<T>>;

/// What [`Receiver::recv_timeout_many_async`] returns.
///
/// # Cancel safety
///
/// As for [`RecvManyFuture`], and running out of time takes no message.
pub type RecvManyTimeoutFuture<'a, T> = TimeoutFuture<RecvManyFuture<'a, T>>;

/// What [`Receiver::stream`] and [`Receiver::into_stream`] return: the messages, one after the other,
/// until the channel is empty and closed or no sender is left.
///
/// With the feature `futures` it is a `Stream`; without it there is [`poll_next`](crate::receiving::Stream::poll_next).
///
/// # Cancel safety
///
/// Dropping the stream, or the future of its next message, takes no message. A stream that was polled
/// keeps its place among those who wait until it is polled again or dropped, and may be the one that is
/// woken for a message: one that is set aside for long should be dropped.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "futures")]
/// # futures::executor::block_on(async {
/// use futures::StreamExt;
///
/// let (sender, receiver) = tamtam_channel::unbounded();
/// sender.send(1)?;
/// sender.send(2)?;
/// drop(sender);
/// let doubled: Vec<_> = receiver.into_stream().map(|number| 2 * number).collect().await;
/// assert_eq!(doubled, [2, 4]);
/// # Ok::<(), tamtam_channel::SendError<i32>>(())
/// # }).unwrap();
/// ```
pub type RecvStream<'a, T> = Stream<End<&'a Receiver<T>, Receiver<T>>>;

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
        match self.flavor() {
            ReceiverFlavor::Bounded(ring) => {
                poll_queue(&***ring, wait, context, deadline, received, ended)
            }
            ReceiverFlavor::Unbounded(list) => {
                poll_queue(&***list, wait, context, deadline, received, ended)
            }
            _ => self
                .poll_other(wait, context, deadline)
                .map(|result| result.map_or_else(ended, received)),
        }
    }

    #[inline]
    fn cancel(&self, wait: &mut TaskWait) {
        match self.flavor() {
            ReceiverFlavor::Bounded(ring) => wait.cancel(&ring.receiving()),
            ReceiverFlavor::Unbounded(list) => wait.cancel(&list.receiving()),
            ReceiverFlavor::Rendezvous(rendezvous) => wait.cancel(&rendezvous.meeting()),
            ReceiverFlavor::At(at) => wait.cancel(&**at),
            ReceiverFlavor::Tick(tick) => wait.cancel(&**tick),
            ReceiverFlavor::Never => wait.cancel(&Never),
        }
    }

    fn receive_there(&self, buffer: &mut Vec<T>, limit: usize) -> Result<usize, TryRecvError> {
        self.try_recv_many(buffer, limit)
    }
}

/// Receives from a queue. The message is usually there, or is when the task has been woken; what waits is kept out of the way.
#[inline]
fn poll_queue<Q: Queue, R>(
    queue: &Q,
    wait: &mut TaskWait,
    context: &Context<'_>,
    deadline: Option<Instant>,
    received: impl FnOnce(Q::Message) -> R + Copy,
    ended: impl FnOnce(RecvTimeoutError) -> R,
) -> Poll<R> {
    let is_free = wait.is_free(&queue.receiving());
    let await_it = || {
        let look = || settle(|| queue.receive_or_tell());
        let source = queue.receiving();
        await_message(&source, look, wait, context, deadline, received, ended)
    };
    if !is_free {
        return await_it();
    }
    queue.receive_as(|message| Poll::Ready(received(message)), await_it)
}

/// Receives by `look`, or enters the task among those who wait at `source`. One that is not listed has just looked in vain.
#[inline]
pub(crate) fn await_message<S: Source, T, R>(
    source: &S,
    look: impl Fn() -> Result<T, TryRecvError>,
    wait: &mut TaskWait,
    context: &Context<'_>,
    deadline: Option<Instant>,
    received: impl FnOnce(T) -> R,
    ended: impl FnOnce(RecvTimeoutError) -> R,
) -> Poll<R> {
    let mut place = None;
    let polled = await_mail(source, look, wait, context, deadline, &mut place);
    polled.map(|found| match (found, place) {
        (Some(Mail::Message), Some(message)) => received(message),
        (Some(_), _) => ended(RecvTimeoutError::Disconnected),
        (None, _) => ended(RecvTimeoutError::Timeout),
    })
}

/// What a task finds that has waited for a message.
#[derive(Clone, Copy)]
enum Mail {
    /// One. It lies beside: results in results would be taken apart and put together again.
    Message,
    /// There will be none.
    Closed,
}

/// As [`await_message`], into `place`; none if the time is over.
#[inline(never)]
fn await_mail<S: Source, T>(
    source: &S,
    look: impl Fn() -> Result<T, TryRecvError>,
    wait: &mut TaskWait,
    context: &Context<'_>,
    deadline: Option<Instant>,
    place: &mut Option<T>,
) -> Poll<Option<Mail>> {
    let attempt = behind_a_look(wait, deadline, |_| match look() {
        Ok(message) => {
            *place = Some(message);
            Some(Mail::Message)
        }
        Err(TryRecvError::Empty) => None,
        Err(TryRecvError::Disconnected) => Some(Mail::Closed),
    });
    wait.poll_attempting(source, context.waker(), deadline, attempt)
}

impl<T> Receiver<T> {
    /// Receives from what is no queue: where sender and receiver meet, or from a clock.
    fn poll_other(
        &self,
        wait: &mut TaskWait,
        context: &Context<'_>,
        deadline: Option<Instant>,
    ) -> Poll<Result<T, RecvTimeoutError>> {
        let mut token = Token::default();
        let waker = context.waker();
        let polled = match self.flavor() {
            ReceiverFlavor::Bounded(_) | ReceiverFlavor::Unbounded(_) => {
                unreachable!("queues are polled without a token")
            }
            ReceiverFlavor::Rendezvous(rendezvous) => {
                let polled = wait.poll(&rendezvous.meeting(), &mut token, waker, deadline);
                if polled == Poll::Ready(Polled::Begun) {
                    // SAFETY: this is what `Meeting` puts into a token.
                    let message = unsafe { token.take::<Option<T>>() };
                    return Poll::Ready(message.ok_or(RecvTimeoutError::Disconnected));
                }
                polled
            }
            ReceiverFlavor::At(at) => wait.poll(&**at, &mut token, waker, deadline),
            ReceiverFlavor::Tick(tick) => wait.poll(&**tick, &mut token, waker, deadline),
            ReceiverFlavor::Never => wait.poll(&Never, &mut token, waker, deadline),
        };
        match polled {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Polled::TimedOut) => Poll::Ready(Err(RecvTimeoutError::Timeout)),
            Poll::Ready(Polled::Begun) => {
                // SAFETY: this receiver's source has filled the token just now; those of a rendezvous have returned above.
                let received = unsafe { self.finish_at_once(&mut token) };
                Poll::Ready(received.map_err(RecvTimeoutError::from))
            }
        }
    }

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
    /// let (sender, receiver) = tamtam_channel::bounded(8);
    /// sender.send_async("hello").await?;
    /// assert_eq!(receiver.recv_async().await, Ok("hello"));
    /// # Ok::<(), tamtam_channel::SendError<&str>>(())
    /// # }).unwrap();
    /// ```
    #[inline]
    pub fn recv_async(&self) -> RecvFuture<'_, T> {
        Receiving::new(self)
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
    /// let (sender, receiver) = tamtam_channel::unbounded();
    /// sender.send_many(0..5).unwrap();
    /// let mut buffer = Vec::new();
    /// assert_eq!(receiver.recv_many_async(&mut buffer, 3).await, Ok(3));
    /// assert_eq!(receiver.recv_many_async(&mut buffer, 100).await, Ok(2));
    /// assert_eq!(buffer, [0, 1, 2, 3, 4]);
    /// # });
    /// ```
    pub fn recv_many_async<'a>(
        &'a self,
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
        &'a self,
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
    /// let (sender, receiver) = tamtam_channel::unbounded();
    /// sender.send(1).unwrap();
    /// sender.send(2).unwrap();
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
    pub fn stream(&self) -> RecvStream<'_, T> {
        Stream::new(End::Borrowed(self))
    }

    /// The messages as a stream that owns this end.
    pub fn into_stream(self) -> RecvStream<'static, T> {
        Stream::new(End::Owned(self))
    }
}
