//! Receiving as a task, from an end of whatever kind: one message, several, or a stream of them.

use core::fmt;
use core::future::Future;
use core::ops::Deref;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::time::Instant;

use tamtam_wait::TaskWait;

use super::timeout::PollUntil;
use crate::error::{RecvError, RecvTimeoutError, TryRecvError};
use crate::iter::sealed;

/// A receiving end as its futures see it.
///
/// [`Receiver`](crate::Receiver) and those of [`spsc`](crate::spsc) and [`mpsc`](crate::mpsc) are; no other type can be.
///
/// # Examples
///
/// ```
/// use std::ops::Deref;
/// use tamtam_channel::receiving::{AwaitedEnd, Stream};
///
/// /// How many messages a stream has brought when it ends, of whatever end it is.
/// async fn count<R: Deref<Target: AwaitedEnd>>(mut stream: Stream<R>) -> usize {
///     let mut count = 0;
///     while std::future::poll_fn(|context| stream.poll_next(context)).await.is_some() {
///         count += 1;
///     }
///     count
/// }
///
/// # futures::executor::block_on(async {
/// let (sender, receiver) = tamtam_channel::mpsc::unbounded();
/// sender.send_many([1, 2]).unwrap();
/// drop(sender);
/// assert_eq!(count(receiver.into_stream()).await, 2);
/// # });
/// ```
pub trait AwaitedEnd: sealed::Sealed {
    /// What is sent.
    type Message;

    #[doc(hidden)]
    /// Receives, or enters the task among those who wait. The result is made of the message where that is taken out: a large one is
    /// copied once.
    fn poll_receive<R>(
        &self,
        wait: &mut TaskWait,
        context: &Context<'_>,
        deadline: Option<Instant>,
        received: impl FnOnce(Self::Message) -> R + Copy,
        ended: impl FnOnce(RecvTimeoutError) -> R,
    ) -> Poll<R>;

    #[doc(hidden)]
    /// Takes the task out from among those who wait.
    fn cancel(&self, wait: &mut TaskWait);

    #[doc(hidden)]
    /// What is there now, at most `limit`, put behind what is in the buffer.
    fn receive_there(
        &self,
        buffer: &mut Vec<Self::Message>,
        limit: usize,
    ) -> Result<usize, TryRecvError>;
}

/// An end that a stream or sink borrows, shared or for itself, or owns.
///
/// # Examples
///
/// ```
/// use tamtam_channel::receiving::End;
///
/// let text = String::from("an end");
/// let (borrowed, owned) = (End::<&String, String>::Borrowed(&text), End::<&String, String>::Owned(text.clone()));
/// assert_eq!((borrowed.len(), owned.len()), (6, 6));
/// ```
pub enum End<B, E> {
    /// A reference to it.
    Borrowed(B),
    /// The end itself.
    Owned(E),
}

impl<E, B: Deref<Target = E>> Deref for End<B, E> {
    type Target = E;

    #[inline]
    fn deref(&self) -> &E {
        match self {
            End::Borrowed(end) => end,
            End::Owned(end) => end,
        }
    }
}

impl<B, E> fmt::Debug for End<B, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            End::Borrowed(_) => "Borrowed(..)",
            End::Owned(_) => "Owned(..)",
        })
    }
}

/// Ready when a message is there. `R` is a reference to the receiving end.
///
/// # Examples
///
/// ```
/// use tamtam_channel::receiving::Receiving;
/// use tamtam_channel::{Receiver, bounded};
///
/// struct Login<'a> {
///     answer: Receiving<&'a Receiver<u32>>, // `RecvFuture<'a, u32>`
/// }
///
/// # futures::executor::block_on(async {
/// let (sender, receiver) = bounded(1);
/// let login = Login { answer: receiver.recv_async() };
/// sender.send(7).unwrap();
/// assert_eq!(login.answer.await, Ok(7));
/// # });
/// ```
#[must_use = "a future does nothing until it is awaited"]
pub struct Receiving<R: Deref<Target: AwaitedEnd>> {
    receiver: R,
    wait: TaskWait,
}

impl<R: Deref<Target: AwaitedEnd>> Receiving<R> {
    #[inline]
    pub(crate) fn new(receiver: R) -> Self {
        Receiving {
            receiver,
            wait: TaskWait::new(),
        }
    }
}

impl<R: Deref<Target: AwaitedEnd>> Future for Receiving<R> {
    type Output = Result<<R::Target as AwaitedEnd>::Message, RecvError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Receiving { receiver, wait } = &mut *self;
        receiver.poll_receive(wait, context, None, Ok, |_| Err(RecvError))
    }
}

impl<R: Deref<Target: AwaitedEnd>> PollUntil for Receiving<R> {
    type Timed = Result<<R::Target as AwaitedEnd>::Message, RecvTimeoutError>;

    const TIMED: &'static str = "RecvTimeoutFuture { .. }";

    #[inline]
    fn poll_until(
        &mut self,
        context: &Context<'_>,
        deadline: Option<Instant>,
    ) -> Poll<Self::Timed> {
        self.receiver
            .poll_receive(&mut self.wait, context, deadline, Ok, Err)
    }
}

impl<R: Deref<Target: AwaitedEnd>> Drop for Receiving<R> {
    #[inline]
    fn drop(&mut self) {
        if self.wait.is_listed() {
            self.receiver.cancel(&mut self.wait);
        }
    }
}

impl<R: Deref<Target: AwaitedEnd>> fmt::Debug for Receiving<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("RecvFuture { .. }")
    }
}

// Messages are moved by value and never pinned, and neither is the reference.
impl<R: Deref<Target: AwaitedEnd>> Unpin for Receiving<R> {}

/// Ready when messages are there, and have been put into the buffer.
///
/// # Examples
///
/// ```
/// # futures::executor::block_on(async {
/// let (sender, receiver) = tamtam_channel::unbounded();
/// sender.send_many(0..5).unwrap();
/// let mut buffer = Vec::new();
/// assert_eq!(receiver.recv_many_async(&mut buffer, 100).await, Ok(5));
/// # });
/// ```
#[must_use = "a future does nothing until it is awaited"]
pub struct ReceivingMany<'a, R: Deref<Target: AwaitedEnd>> {
    receiver: R,
    buffer: &'a mut Vec<<R::Target as AwaitedEnd>::Message>,
    limit: usize,
    wait: TaskWait,
}

impl<'a, R: Deref<Target: AwaitedEnd>> ReceivingMany<'a, R> {
    pub(crate) fn new(
        receiver: R,
        buffer: &'a mut Vec<<R::Target as AwaitedEnd>::Message>,
        limit: usize,
    ) -> Self {
        ReceivingMany {
            receiver,
            buffer,
            limit,
            wait: TaskWait::new(),
        }
    }
}

impl<R: Deref<Target: AwaitedEnd>> PollUntil for ReceivingMany<'_, R> {
    type Timed = Result<usize, RecvTimeoutError>;

    const TIMED: &'static str = "RecvManyTimeoutFuture { .. }";

    fn poll_until(
        &mut self,
        context: &Context<'_>,
        deadline: Option<Instant>,
    ) -> Poll<Self::Timed> {
        if !self.wait.is_listed() {
            match self.receiver.receive_there(self.buffer, self.limit) {
                Err(TryRecvError::Empty) => {}
                decided => {
                    return Poll::Ready(decided.map_err(|_| RecvTimeoutError::Disconnected));
                }
            }
        }
        // Before a message is taken, which would be lost if this fails.
        self.buffer.reserve(1);
        self.receiver
            .poll_receive(&mut self.wait, context, deadline, Ok, Err)
            .map_ok(|first| {
                self.buffer.push(first);
                let more = self.receiver.receive_there(self.buffer, self.limit - 1);
                1 + more.unwrap_or(0)
            })
    }
}

impl<R: Deref<Target: AwaitedEnd>> Future for ReceivingMany<'_, R> {
    type Output = Result<usize, RecvError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_until(context, None).map_err(|_| RecvError)
    }
}

impl<R: Deref<Target: AwaitedEnd>> Drop for ReceivingMany<'_, R> {
    fn drop(&mut self) {
        if self.wait.is_listed() {
            self.receiver.cancel(&mut self.wait);
        }
    }
}

impl<R: Deref<Target: AwaitedEnd>> fmt::Debug for ReceivingMany<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("RecvManyFuture { .. }")
    }
}

// As above: nothing of it is pinned.
impl<R: Deref<Target: AwaitedEnd>> Unpin for ReceivingMany<'_, R> {}

/// The messages, one after the other, until there will be no more.
///
/// # Examples
///
/// ```
/// # futures::executor::block_on(async {
/// let (sender, receiver) = tamtam_channel::bounded(2);
/// sender.send(1).unwrap();
/// let mut stream = receiver.stream();
/// let next = std::future::poll_fn(|context| stream.poll_next(context)).await;
/// assert_eq!((next, stream.receiver().len()), (Some(1), 0));
/// # });
/// ```
#[must_use = "a stream does nothing until it is polled"]
pub struct Stream<R: Deref<Target: AwaitedEnd>> {
    receiver: R,
    wait: TaskWait,
    /// It has ended, and is not polled on.
    ended: bool,
}

impl<R: Deref<Target: AwaitedEnd>> Stream<R> {
    pub(crate) fn new(receiver: R) -> Self {
        Stream {
            receiver,
            wait: TaskWait::new(),
            ended: false,
        }
    }

    /// The next message; `None` when there will be no more.
    pub fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<<R::Target as AwaitedEnd>::Message>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let ended = |_| {
            self.ended = true;
            None
        };
        self.receiver
            .poll_receive(&mut self.wait, context, None, Some, ended)
    }

    /// The receiver whose messages these are.
    pub fn receiver(&self) -> &R::Target {
        &self.receiver
    }
}

impl<R: Deref<Target: AwaitedEnd>> Drop for Stream<R> {
    fn drop(&mut self) {
        self.receiver.cancel(&mut self.wait);
    }
}

// Messages are moved by value and never pinned, and neither is the end.
impl<R: Deref<Target: AwaitedEnd>> Unpin for Stream<R> {}

#[cfg(feature = "futures")]
impl<R: Deref<Target: AwaitedEnd>> futures_core::Stream for Stream<R> {
    type Item = <R::Target as AwaitedEnd>::Message;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Stream::poll_next(self.get_mut(), context)
    }
}

#[cfg(feature = "futures")]
impl<R: Deref<Target: AwaitedEnd>> futures_core::FusedStream for Stream<R> {
    fn is_terminated(&self) -> bool {
        self.ended
    }
}

impl<R: Deref<Target: AwaitedEnd>> fmt::Debug for Stream<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("RecvStream { .. }")
    }
}
