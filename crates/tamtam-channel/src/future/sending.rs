//! Sending as a task, through an end of whatever kind: one message, many by a sink, or room that is kept for one.

use core::fmt;
use core::future::Future;
use core::ops::Deref;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::time::Instant;

use tamtam_wait::TaskWait;

use super::timeout::{PollUntil, TimeoutFuture};
use crate::error::{ReserveError, ReserveTimeoutError, SendError, SendTimeoutError, TrySendError};
use crate::iter::sealed;

/// A sending end as its futures and sinks see it.
///
/// [`Sender`](crate::Sender) and those of [`spsc`](crate::spsc) and [`mpsc`](crate::mpsc) are; no other type can be.
///
/// # Examples
///
/// ```
/// use std::future::poll_fn;
/// use std::ops::Deref;
/// use tamtam_channel::sending::{AwaitedSender, Sink};
/// use tamtam_channel::{SendError, spsc};
///
/// /// Sends twice what it is given, into an end of whatever kind.
/// async fn twice<S: Deref<Target: AwaitedSender<Message = u32>>>(
///     mut sink: Sink<S>,
///     number: u32,
/// ) -> Result<(), SendError<u32>> {
///     for _ in 0..2 {
///         poll_fn(|context| sink.poll_ready(context)).await?;
///         sink.start_send(number)?;
///     }
///     poll_fn(|context| sink.poll_flush(context)).await
/// }
///
/// # futures::executor::block_on(async {
/// let (sender, receiver) = spsc::bounded(2);
/// twice(sender.into_sink(), 7).await.unwrap();
/// assert_eq!(receiver.iter().collect::<Vec<_>>(), [7, 7]);
/// # });
/// ```
pub trait AwaitedSender: sealed::Sealed + Sized {
    /// What is sent.
    type Message;

    #[doc(hidden)]
    /// What a send that is under way has, beside its message.
    type Waiting: Default;

    #[doc(hidden)]
    /// Sends the message, or enters the task among those who wait. The message is there, unless `waiting` has it.
    fn poll_send(
        &self,
        message: &mut Option<Self::Message>,
        waiting: &mut Self::Waiting,
        waker: &Waker,
        deadline: Option<Instant>,
    ) -> Poll<Result<(), SendTimeoutError<Self::Message>>>;

    #[doc(hidden)]
    /// Whether there is something to [cancel](AwaitedSender::cancel_send).
    fn is_under_way(waiting: &Self::Waiting) -> bool;

    #[doc(hidden)]
    /// Takes the task out from among those who wait. The message is where it was, unless it was sent.
    fn cancel_send(&self, message: &mut Option<Self::Message>, waiting: &mut Self::Waiting);

    #[doc(hidden)]
    /// Sends if there is room.
    fn send_at_once(&self, message: Self::Message) -> Result<(), TrySendError<Self::Message>>;
}

#[cold]
pub(crate) fn ended() -> ! {
    panic!("a send was polled after it had ended")
}

/// The message of a send that has not ended.
#[inline]
pub(crate) fn take<T>(message: &mut Option<T>) -> T {
    match message.take() {
        Some(message) => message,
        None => ended(),
    }
}

/// A message until it is sent, and the wait for that.
struct Unsent<E: AwaitedSender> {
    message: Option<E::Message>,
    waiting: E::Waiting,
}

impl<E: AwaitedSender> Unsent<E> {
    #[inline]
    fn new(message: E::Message) -> Self {
        Unsent {
            message: Some(message),
            waiting: E::Waiting::default(),
        }
    }

    #[inline]
    fn poll(
        &mut self,
        sender: &E,
        waker: &Waker,
        deadline: Option<Instant>,
    ) -> Poll<Result<(), SendTimeoutError<E::Message>>> {
        sender.poll_send(&mut self.message, &mut self.waiting, waker, deadline)
    }

    /// Ends the wait. The message is there afterwards, if it was not sent.
    #[inline]
    fn cancel(&mut self, sender: &E) {
        if E::is_under_way(&self.waiting) {
            sender.cancel_send(&mut self.message, &mut self.waiting);
        }
    }
}

/// Ready when the message is in the channel. `S` is a reference to the sending end.
///
/// # Examples
///
/// ```
/// use tamtam_channel::sending::Sending;
/// use tamtam_channel::{Sender, bounded};
///
/// struct Login<'a> {
///     request: Sending<&'a Sender<u32>>, // `SendFuture<'a, u32>`
/// }
///
/// # futures::executor::block_on(async {
/// let (sender, receiver) = bounded(1);
/// let login = Login { request: sender.send_async(7) };
/// login.request.await.unwrap();
/// assert_eq!(receiver.recv(), Ok(7));
/// # });
/// ```
#[must_use = "a future does nothing until it is awaited"]
pub struct Sending<S: Deref<Target: AwaitedSender>> {
    sender: S,
    unsent: Unsent<S::Target>,
}

impl<M, S: Deref<Target: AwaitedSender<Message = M>>> Sending<S> {
    #[inline]
    pub(crate) fn new(sender: S, message: M) -> Self {
        Sending {
            sender,
            unsent: Unsent::new(message),
        }
    }

    /// Gives the sending up; the message, unless it was sent.
    #[must_use = "the message is dropped with this"]
    pub fn into_inner(mut self) -> Option<M> {
        self.unsent.cancel(&self.sender);
        self.unsent.message.take()
    }
}

impl<M, S: Deref<Target: AwaitedSender<Message = M>>> TimeoutFuture<Sending<S>> {
    /// Gives the sending up; the message, unless it was sent.
    #[must_use = "the message is dropped with this"]
    pub fn into_inner(self) -> Option<M> {
        self.future.into_inner()
    }
}

impl<M, S: Deref<Target: AwaitedSender<Message = M>>> Future for Sending<S> {
    type Output = Result<(), SendError<M>>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_until(context, None)
            .map_err(|error| SendError(error.into_inner()))
    }
}

impl<M, S: Deref<Target: AwaitedSender<Message = M>>> PollUntil for Sending<S> {
    type Timed = Result<(), SendTimeoutError<M>>;

    const TIMED: &'static str = "SendTimeoutFuture { .. }";

    #[inline]
    fn poll_until(
        &mut self,
        context: &Context<'_>,
        deadline: Option<Instant>,
    ) -> Poll<Self::Timed> {
        self.unsent.poll(&self.sender, context.waker(), deadline)
    }
}

impl<S: Deref<Target: AwaitedSender>> Drop for Sending<S> {
    #[inline]
    fn drop(&mut self) {
        self.unsent.cancel(&self.sender);
    }
}

// The message is moved by value and never pinned, and neither is the reference.
impl<S: Deref<Target: AwaitedSender>> Unpin for Sending<S> {}

impl<S: Deref<Target: AwaitedSender>> fmt::Debug for Sending<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("SendFuture { .. }")
    }
}

/// Takes messages while there is room for them.
///
/// # Examples
///
/// ```
/// use std::future::poll_fn;
///
/// # futures::executor::block_on(async {
/// let (sender, receiver) = tamtam_channel::bounded(2);
/// let mut sink = sender.sink();
/// poll_fn(|context| sink.poll_ready(context)).await.unwrap();
/// sink.start_send(1).unwrap();
/// poll_fn(|context| sink.poll_flush(context)).await.unwrap();
/// assert_eq!(receiver.recv(), Ok(1));
/// # });
/// ```
#[must_use = "a sink does nothing until it is polled"]
pub struct Sink<S: Deref<Target: AwaitedSender>> {
    sender: S,
    /// One message that found no room.
    unsent: Option<Unsent<S::Target>>,
}

impl<S: Deref<Target: AwaitedSender>> Sink<S> {
    pub(crate) fn new(sender: S) -> Self {
        Sink {
            sender,
            unsent: None,
        }
    }

    /// The sender into which this sends.
    pub fn sender(&self) -> &S::Target {
        &self.sender
    }
}

impl<M, S: Deref<Target: AwaitedSender<Message = M>>> Sink<S> {
    /// Ready when a message can be started: at once, unless one that was started is still unsent.
    ///
    /// # Errors
    ///
    /// [`SendError`] with the unsent message if the channel is closed or no receiver is left.
    pub fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), SendError<M>>> {
        self.poll_flush(context)
    }

    /// Sends a message if there is room, and keeps it to be flushed if there is none.
    ///
    /// # Panics
    ///
    /// If a message that was started before is still unsent: [`poll_ready`](Sink::poll_ready) was
    /// not asked.
    ///
    /// # Errors
    ///
    /// [`SendError`] with the message if the channel is closed or no receiver is left.
    pub fn start_send(&mut self, message: M) -> Result<(), SendError<M>> {
        assert!(
            self.unsent.is_none(),
            "a message was started in a sink that was not ready"
        );
        match self.sender.send_at_once(message) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(message)) => {
                self.unsent = Some(Unsent::new(message));
                Ok(())
            }
            Err(TrySendError::Disconnected(message)) => Err(SendError(message)),
        }
    }

    /// Ready when every message that was started is in the channel.
    ///
    /// # Errors
    ///
    /// [`SendError`] with the unsent message if the channel is closed or no receiver is left.
    pub fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), SendError<M>>> {
        let Some(unsent) = &mut self.unsent else {
            return Poll::Ready(Ok(()));
        };
        let polled = unsent.poll(&self.sender, context.waker(), None);
        polled.map(|sent| {
            self.unsent = None;
            sent.map_err(|error| SendError(error.into_inner()))
        })
    }
}

impl<S: Deref<Target: AwaitedSender>> Drop for Sink<S> {
    fn drop(&mut self) {
        if let Some(mut unsent) = self.unsent.take() {
            unsent.cancel(&self.sender);
        }
    }
}

// A message is moved by value and never pinned, and neither is the end.
impl<S: Deref<Target: AwaitedSender>> Unpin for Sink<S> {}

#[cfg(feature = "futures")]
impl<M, S: Deref<Target: AwaitedSender<Message = M>>> futures_sink::Sink<M> for Sink<S> {
    type Error = SendError<M>;

    fn poll_ready(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<M>>> {
        Sink::poll_ready(self.get_mut(), context)
    }

    fn start_send(self: Pin<&mut Self>, message: M) -> Result<(), SendError<M>> {
        Sink::start_send(self.get_mut(), message)
    }

    fn poll_flush(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<M>>> {
        Sink::poll_flush(self.get_mut(), context)
    }

    /// Flushes. The channel stays open: other senders may go on. A sender that the sink owns goes when the sink is dropped.
    fn poll_close(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<M>>> {
        Sink::poll_flush(self.get_mut(), context)
    }
}

impl<S: Deref<Target: AwaitedSender>> fmt::Debug for Sink<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("SendSink { .. }")
    }
}

/// A reference to a sending end as the futures that wait for room see it.
///
/// Shared ones to a [`Sender`](crate::Sender) are, and exclusive ones to those of [`spsc`](crate::spsc) and
/// [`mpsc`](crate::mpsc); no other type can be.
///
/// # Examples
///
/// ```
/// use tamtam_channel::sending::{ReservingSender, Reserving};
///
/// /// Room, if there is some without a wait.
/// async fn room<S: ReservingSender>(reserving: Reserving<S>) -> Option<S::Permit> {
///     reserving.await.ok()
/// }
///
/// # futures::executor::block_on(async {
/// let (sender, receiver) = tamtam_channel::bounded(1);
/// room(sender.reserve_async()).await.unwrap().send("there was room").unwrap();
/// assert_eq!(receiver.recv(), Ok("there was room"));
/// # });
/// ```
pub trait ReservingSender: sealed::Sealed {
    /// What keeps the room.
    type Permit;

    #[doc(hidden)]
    /// Keeps room, or enters the task among those who wait.
    fn poll_room(
        &self,
        wait: &mut TaskWait,
        waker: &Waker,
        deadline: Option<Instant>,
    ) -> Poll<Result<(), ReserveTimeoutError>>;

    #[doc(hidden)]
    /// The permit for room that is kept since just now.
    fn granted(self) -> Self::Permit;

    #[doc(hidden)]
    /// Takes the task out from among those who wait.
    fn cancel_room(&self, wait: &mut TaskWait);
}

/// Ready when room for a message is kept. `S` is a reference to the sending end.
///
/// # Examples
///
/// ```
/// # futures::executor::block_on(async {
/// let (mut sender, receiver) = tamtam_channel::spsc::bounded(1);
/// let reserving = sender.reserve_async();
/// reserving.await.unwrap().send(1).unwrap();
/// assert_eq!(receiver.recv(), Ok(1));
/// # });
/// ```
#[must_use = "a future does nothing until it is awaited"]
pub struct Reserving<S: ReservingSender> {
    /// The permit has it in the end.
    sender: Option<S>,
    wait: TaskWait,
}

impl<S: ReservingSender> Reserving<S> {
    pub(crate) fn new(sender: S) -> Self {
        Reserving {
            sender: Some(sender),
            wait: TaskWait::new(),
        }
    }
}

impl<S: ReservingSender> PollUntil for Reserving<S> {
    type Timed = Result<S::Permit, ReserveTimeoutError>;

    const TIMED: &'static str = "ReserveTimeoutFuture { .. }";

    fn poll_until(
        &mut self,
        context: &Context<'_>,
        deadline: Option<Instant>,
    ) -> Poll<Self::Timed> {
        let Some(sender) = &self.sender else {
            reservation_ended()
        };
        let polled = sender.poll_room(&mut self.wait, context.waker(), deadline);
        polled.map(|kept| match self.sender.take() {
            Some(sender) => kept.map(|()| sender.granted()),
            None => reservation_ended(),
        })
    }
}

#[cold]
fn reservation_ended() -> ! {
    panic!("a reservation was polled after it had ended")
}

impl<S: ReservingSender> Future for Reserving<S> {
    type Output = Result<S::Permit, ReserveError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_until(context, None).map_err(|error| match error {
            ReserveTimeoutError::CapacityZero => ReserveError::CapacityZero,
            ReserveTimeoutError::Disconnected | ReserveTimeoutError::Timeout => {
                ReserveError::Disconnected
            }
        })
    }
}

impl<S: ReservingSender> Drop for Reserving<S> {
    fn drop(&mut self) {
        if let Some(sender) = &self.sender {
            sender.cancel_room(&mut self.wait);
        }
    }
}

// A reference is moved by value and never pinned.
impl<S: ReservingSender> Unpin for Reserving<S> {}

impl<S: ReservingSender> fmt::Debug for Reserving<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("ReserveFuture { .. }")
    }
}
