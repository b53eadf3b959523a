//! A channel's sender as a sink of the `futures` crates, without a dependency on them.

use core::task::{Context, Poll};

use super::receiving::End;
use super::send::Sending;
use crate::error::{SendError, TrySendError};
use crate::sender::Sender;

/// What [`Sender::sink`] and [`Sender::into_sink`] return: takes messages while the channel has room.
///
/// With the feature `futures` it is a `Sink`; without it there are methods of the same names.
///
/// # Cancel safety
///
/// A message that was started while the channel was full is kept until it is flushed; dropping the sink
/// before that drops it unsent.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "futures")]
/// # futures::executor::block_on(async {
/// use futures::SinkExt;
///
/// let (sender, receiver) = tamtam_channel::bounded(2);
/// let mut sink = sender.into_sink();
/// sink.feed(1).await?;
/// sink.feed(2).await?;
/// sink.flush().await?;
/// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1, 2]);
/// # Ok::<(), tamtam_channel::SendError<i32>>(())
/// # }).unwrap();
/// ```
#[must_use = "a sink does nothing until it is polled"]
pub struct SendSink<'a, T> {
    sender: End<&'a Sender<T>, Sender<T>>,
    /// One message that found no room.
    unsent: Option<Sending<T>>,
}

impl<T> Sender<T> {
    /// This end as a sink; see [`SendSink`].
    pub fn sink(&self) -> SendSink<'_, T> {
        SendSink {
            sender: End::Borrowed(self),
            unsent: None,
        }
    }

    /// A sink that owns this end.
    pub fn into_sink(self) -> SendSink<'static, T> {
        SendSink {
            sender: End::Owned(self),
            unsent: None,
        }
    }
}

impl<T> SendSink<'_, T> {
    /// Ready when a message can be started: at once, unless one that was started is still unsent.
    ///
    /// # Errors
    ///
    /// [`SendError`] with the unsent message if the channel is closed or all receivers are gone.
    pub fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        self.poll_flush(context)
    }

    /// Sends a message if there is room, and keeps it to be flushed if there is none.
    ///
    /// # Panics
    ///
    /// If a message that was started before is still unsent: [`poll_ready`](SendSink::poll_ready) was
    /// not asked.
    ///
    /// # Errors
    ///
    /// [`SendError`] with the message if the channel is closed or all receivers are gone.
    pub fn start_send(&mut self, message: T) -> Result<(), SendError<T>> {
        assert!(
            self.unsent.is_none(),
            "a message was started in a sink that was not ready"
        );
        match self.sender.try_send(message) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(message)) => {
                self.unsent = Some(Sending::new(message));
                Ok(())
            }
            Err(TrySendError::Disconnected(message)) => Err(SendError(message)),
        }
    }

    /// Ready when every message that was started is in the channel.
    ///
    /// # Errors
    ///
    /// [`SendError`] with the unsent message if the channel is closed or all receivers are gone.
    pub fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        let Some(unsent) = &mut self.unsent else {
            return Poll::Ready(Ok(()));
        };
        let polled = unsent.poll(&self.sender, context.waker(), None);
        polled.map(|sent| {
            self.unsent = None;
            sent.map_err(|error| SendError(error.into_inner()))
        })
    }

    /// The sender into which this sends.
    pub fn sender(&self) -> &Sender<T> {
        &self.sender
    }
}

impl<T> Drop for SendSink<'_, T> {
    fn drop(&mut self) {
        if let Some(mut unsent) = self.unsent.take() {
            drop(unsent.cancel(&self.sender));
        }
    }
}

// A message is moved by value and never pinned.
impl<T> Unpin for SendSink<'_, T> {}

#[cfg(feature = "futures")]
impl<T> futures_sink::Sink<T> for SendSink<'_, T> {
    type Error = SendError<T>;

    fn poll_ready(
        self: core::pin::Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<T>>> {
        SendSink::poll_ready(self.get_mut(), context)
    }

    fn start_send(self: core::pin::Pin<&mut Self>, message: T) -> Result<(), SendError<T>> {
        SendSink::start_send(self.get_mut(), message)
    }

    fn poll_flush(
        self: core::pin::Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<T>>> {
        SendSink::poll_flush(self.get_mut(), context)
    }

    /// Flushes. The channel stays open: other senders may go on.
    fn poll_close(
        self: core::pin::Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<T>>> {
        SendSink::poll_flush(self.get_mut(), context)
    }
}

opaque!(SendSink<'_, T>);
