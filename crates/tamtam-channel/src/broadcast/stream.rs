//! The messages of a broadcast as a stream.

use core::fmt;
use core::task::{Context, Poll};

use tamtam_wait::TaskWait;

use super::error::{Lost, RecvTimeoutError};
use super::future::poll_receive;
use super::receiver::Receiver;
use crate::future::receiving::End;

/// What [`Receiver::stream`] and [`Receiver::into_stream`] return: the messages, one after the other, and what was lost
/// between them, until the broadcast is closed or no sender is left.
///
/// With the feature `futures` it is a `Stream`; without it there is [`poll_next`](RecvStream::poll_next).
///
/// # Cancel safety
///
/// Dropping the stream, or the future of its next message, takes no message.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "futures")]
/// # futures::executor::block_on(async {
/// use futures::StreamExt;
///
/// let (sender, receiver) = tamtam_channel::broadcast::bounded(2);
/// sender.send(1)?;
/// sender.send(2)?;
/// drop(sender);
/// let all: Vec<_> = receiver.into_stream().collect().await;
/// assert_eq!(all, [Ok(1), Ok(2)]);
/// # Ok::<(), tamtam_channel::SendError<i32>>(())
/// # }).unwrap();
/// ```
#[must_use = "a stream does nothing until it is polled"]
pub struct RecvStream<'a, T> {
    receiver: End<&'a Receiver<T>, Receiver<T>>,
    wait: TaskWait,
    ended: bool,
}

impl<'a, T> RecvStream<'a, T> {
    pub(super) fn new(receiver: End<&'a Receiver<T>, Receiver<T>>) -> Self {
        RecvStream {
            receiver,
            wait: TaskWait::new(),
            ended: false,
        }
    }

    /// The receiver whose messages these are.
    pub fn receiver(&self) -> &Receiver<T> {
        &self.receiver
    }
}

impl<T: Clone> RecvStream<'_, T> {
    /// The next message, or what was lost before it; `None` when there will be no more.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<T, Lost>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let polled = poll_receive(&*self.receiver, &mut self.wait, context, None);
        polled.map(|received| match received {
            Ok(message) => Some(Ok(message)),
            Err(RecvTimeoutError::Lost(lost)) => Some(Err(lost)),
            Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout) => {
                self.ended = true;
                None
            }
        })
    }
}

impl<T> Drop for RecvStream<'_, T> {
    fn drop(&mut self) {
        self.wait.cancel(&*self.receiver);
    }
}

#[cfg(feature = "futures")]
impl<T: Clone> futures_core::Stream for RecvStream<'_, T> {
    type Item = Result<T, Lost>;

    fn poll_next(
        self: core::pin::Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Self::Item>> {
        RecvStream::poll_next(self.get_mut(), context)
    }
}

#[cfg(feature = "futures")]
impl<T: Clone> futures_core::FusedStream for RecvStream<'_, T> {
    fn is_terminated(&self) -> bool {
        self.ended
    }
}

impl<T> fmt::Debug for RecvStream<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("RecvStream { .. }")
    }
}
