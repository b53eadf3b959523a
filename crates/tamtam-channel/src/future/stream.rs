use core::task::{Context, Poll};

use super::End;
use super::recv::Receiving;
use crate::receiver::Receiver;

/// What [`Receiver::stream`] and [`Receiver::into_stream`] return: the messages, one after the other,
/// until the channel is empty and closed or no sender is left.
///
/// With the feature `futures` it is a `Stream`; without it there is [`poll_next`](RecvStream::poll_next).
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
#[must_use = "a stream does nothing until it is polled"]
pub struct RecvStream<'a, T> {
    receiver: End<'a, Receiver<T>>,
    receiving: Receiving,
    /// Ended: it is not polled on.
    ended: bool,
}

impl<T> Receiver<T> {
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
        RecvStream::new(End::Borrowed(self))
    }

    /// The messages as a stream that owns this end.
    pub fn into_stream(self) -> RecvStream<'static, T> {
        RecvStream::new(End::Owned(self))
    }
}

impl<'a, T> RecvStream<'a, T> {
    fn new(receiver: End<'a, Receiver<T>>) -> Self {
        RecvStream {
            receiver,
            receiving: Receiving::default(),
            ended: false,
        }
    }

    /// The next message; `None` when there will be no more.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let polled = self.receiving.poll(&self.receiver, context, None);
        polled.map(|received| {
            self.ended = received.is_err();
            received.ok()
        })
    }

    /// The receiver whose messages these are.
    pub fn receiver(&self) -> &Receiver<T> {
        &self.receiver
    }
}

impl<T> Drop for RecvStream<'_, T> {
    fn drop(&mut self) {
        self.receiving.cancel(&self.receiver);
    }
}

#[cfg(feature = "futures")]
impl<T> futures_core::Stream for RecvStream<'_, T> {
    type Item = T;

    fn poll_next(
        self: core::pin::Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Self::Item>> {
        RecvStream::poll_next(self.get_mut(), context)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (if self.ended { 0 } else { self.receiver.len() }, None)
    }
}

#[cfg(feature = "futures")]
impl<T> futures_core::FusedStream for RecvStream<'_, T> {
    fn is_terminated(&self) -> bool {
        self.ended
    }
}

opaque!(RecvStream<'_, T>);
