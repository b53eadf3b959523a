//! A channel's sender as a sink of the `futures` crates, without a dependency on them.

use super::receiving::End;
use super::sending::Sink;
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
pub type SendSink<'a, T> = Sink<End<&'a Sender<T>, Sender<T>>>;

impl<T> Sender<T> {
    /// This end as a sink; see [`SendSink`].
    pub fn sink(&self) -> SendSink<'_, T> {
        Sink::new(End::Borrowed(self))
    }

    /// A sink that owns this end.
    pub fn into_sink(self) -> SendSink<'static, T> {
        Sink::new(End::Owned(self))
    }
}
