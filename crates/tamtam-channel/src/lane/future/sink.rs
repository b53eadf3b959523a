//! A lane's sender as a sink of the `futures` crates, without a dependency on them.

use core::fmt;
use core::task::{Context, Poll};

use super::send::Sending;
use crate::error::{SendError, TrySendError};
use crate::future::receiving::End;
use crate::lane::LaneSender;

/// What [`LaneSender::sink`] and [`LaneSender::into_sink`] return: takes messages while the sender's lane has
/// room.
///
/// With the feature `futures` it is a `Sink`; without it there are methods of the same names.
///
/// # Cancel safety
///
/// A message that was started while the lane was full is kept until it is flushed; dropping the sink before
/// that drops it unsent.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "futures")]
/// # futures::executor::block_on(async {
/// use futures::SinkExt;
///
/// let (sender, receiver) = tamtam_channel::spsc::bounded(2);
/// let mut sink = sender.into_sink();
/// sink.feed(1).await?;
/// sink.feed(2).await?;
/// sink.flush().await?;
/// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1, 2]);
/// # Ok::<(), tamtam_channel::SendError<i32>>(())
/// # }).unwrap();
/// ```
#[must_use = "a sink does nothing until it is polled"]
pub struct SendSink<'a, T, K> {
    sender: End<&'a mut LaneSender<T, K>, LaneSender<T, K>>,
    /// One message that found no room.
    unsent: Option<Sending<T>>,
}

impl<T, K> LaneSender<T, K> {
    /// This end as a sink; see [`SendSink`].
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
    /// let (mut sender, receiver) = tamtam_channel::spsc::bounded(8);
    /// # run(async {
    /// let mut sink = sender.sink();
    /// for number in 0..3 {
    ///     poll_fn(|context| sink.poll_ready(context)).await?;
    ///     sink.start_send(number)?;
    /// }
    /// poll_fn(|context| sink.poll_flush(context)).await?;
    /// assert_eq!(receiver.len(), 3);
    /// # Ok::<(), tamtam_channel::SendError<i32>>(())
    /// # }).unwrap();
    /// ```
    pub fn sink(&mut self) -> SendSink<'_, T, K> {
        SendSink {
            sender: End::Borrowed(self),
            unsent: None,
        }
    }

    /// A sink that owns this end.
    pub fn into_sink(self) -> SendSink<'static, T, K> {
        SendSink {
            sender: End::Owned(self),
            unsent: None,
        }
    }
}

impl<T, K> SendSink<'_, T, K> {
    /// Ready when a message can be started: at once, unless one that was started is still unsent.
    ///
    /// # Errors
    ///
    /// [`SendError`] with the unsent message if the channel is closed or the receiver is gone.
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
    /// [`SendError`] with the message if the channel is closed or the receiver is gone.
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
    /// [`SendError`] with the unsent message if the channel is closed or the receiver is gone.
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
    pub fn sender(&self) -> &LaneSender<T, K> {
        &self.sender
    }
}

impl<T, K> Drop for SendSink<'_, T, K> {
    fn drop(&mut self) {
        if let Some(mut unsent) = self.unsent.take() {
            drop(unsent.cancel(&self.sender));
        }
    }
}

// A message is moved by value and never pinned.
impl<T, K> Unpin for SendSink<'_, T, K> {}

#[cfg(feature = "futures")]
impl<T, K> futures_sink::Sink<T> for SendSink<'_, T, K> {
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

    /// Flushes. The sender stays open; it is closed when the sink that owns it is dropped.
    fn poll_close(
        self: core::pin::Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<T>>> {
        SendSink::poll_flush(self.get_mut(), context)
    }
}

impl<T, K> fmt::Debug for SendSink<'_, T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("SendSink { .. }")
    }
}
