//! A lane's sender as a sink of the `futures` crates, without a dependency on them.

use crate::future::receiving::End;
use crate::future::sending::Sink;
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
pub type SendSink<'a, T, K> = Sink<End<&'a mut LaneSender<T, K>, LaneSender<T, K>>>;

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
        Sink::new(End::Borrowed(self))
    }

    /// A sink that owns this end.
    pub fn into_sink(self) -> SendSink<'static, T, K> {
        Sink::new(End::Owned(self))
    }
}
