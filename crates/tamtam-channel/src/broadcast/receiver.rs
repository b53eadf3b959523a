//! The receiver of a broadcast: it has a place of its own in the ring, and each message from there on.

use core::fmt;
use std::time::{Duration, Instant};

use tamtam_wait::seam::Arc;
use tamtam_wait::{Context, Operation, Source, Token, Wait, WaitList};

use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::iter::{IntoIter, Iter, TryIter};
use super::queue::{BroadcastQueue, NoMessage, Position};
use super::stream::RecvStream;
use super::{Lag, RecvFuture, RecvTimeoutFuture};
use crate::future::receiving::End;
use crate::future::timeout::TimeoutFuture;
use crate::select::{Sealed, Waitable};

/// A receiving end of a [broadcast](super): it gets each message that is sent while it is there.
///
/// Cloning it makes another receiver that stands at the same place: it gets all that this one will get. Where several
/// threads or tasks are to share the messages between them, share one receiver by reference: each message goes to one of
/// them.
///
/// In [`select!`](crate::select) it is waited for like an event, by `wait(receiver)`, and is ready when
/// [`try_recv`](Receiver::try_recv) brings anything but [`Empty`](TryRecvError::Empty).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_channel::{after, broadcast, select};
///
/// let (sender, receiver) = broadcast::bounded(8);
/// std::thread::spawn(move || sender.send("hello"));
/// let timeout = after(Duration::from_secs(60));
/// select! {
///     wait(receiver) => assert_eq!(receiver.try_recv(), Ok("hello")),
///     recv(timeout) -> _ => panic!("nothing came"),
/// }
/// ```
pub struct Receiver<T> {
    pub(super) queue: Arc<BroadcastQueue<T>>,
    position: Position,
    lag: Lag,
    wait: Wait,
}

/// The message: moved out if no other receiver has it, else cloned.
pub(super) fn unwrap<T>(message: Arc<T>, clone: impl FnOnce(&T) -> T) -> T {
    Arc::try_unwrap(message).unwrap_or_else(|shared| clone(&shared))
}

impl<T> Receiver<T> {
    pub(super) fn at(queue: Arc<BroadcastQueue<T>>, position: Position, lag: Lag) -> Self {
        Receiver {
            queue,
            position,
            lag,
            wait: Wait::Adaptive,
        }
    }

    /// The same end, waiting in another way while there is no message. Clones inherit it.
    #[must_use]
    pub fn with_wait(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }

    /// The same end, slow in another way from now on. What it has not taken yet counts.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::broadcast::{self, Lag};
    ///
    /// let (sender, receiver) = broadcast::bounded(1);
    /// sender.send(1).unwrap();
    /// assert!(sender.try_send(2).is_err());
    /// let receiver = receiver.with_lag(Lag::Lose);
    /// sender.send(2).unwrap();
    /// assert_eq!(receiver.lost(), 1);
    /// ```
    #[must_use]
    pub fn with_lag(mut self, lag: Lag) -> Self {
        self.queue.change(&self.position, self.lag, lag);
        self.lag = lag;
        self
    }

    /// What happens when it is slow.
    pub fn lag(&self) -> Lag {
        self.lag
    }

    /// How many messages it has lost, ever, those counted of which it has not been told yet. A clone begins with the
    /// count of its original.
    pub fn lost(&self) -> u64 {
        self.queue.lost(&self.position)
    }

    /// How many messages there are for it.
    pub fn len(&self) -> usize {
        self.queue.len_for(&self.position)
    }

    /// Whether there is no message for it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether nothing more can be sent. Messages may be left.
    pub fn is_closed(&self) -> bool {
        self.queue.is_closed()
    }

    /// The most messages that are kept.
    pub fn capacity(&self) -> usize {
        self.queue.capacity()
    }

    /// Whether both ends belong to the same broadcast.
    pub fn same_channel(&self, other: &Receiver<T>) -> bool {
        Arc::ptr_eq(&self.queue, &other.queue)
    }

    fn take(&self) -> Result<Arc<T>, NoMessage> {
        self.queue.take(&self.position, self.lag)
    }
}

impl<T: Clone> Receiver<T> {
    /// Receives the next message, if it is there.
    ///
    /// # Errors
    ///
    /// [`TryRecvError`]: nothing new, messages that were lost, or the end.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match self.take() {
            Ok(message) => Ok(unwrap(message, T::clone)),
            Err(NoMessage::Empty) => Err(TryRecvError::Empty),
            Err(NoMessage::Closed) => Err(TryRecvError::Disconnected),
            Err(NoMessage::Lost(lost)) => Err(TryRecvError::Lost(lost)),
        }
    }

    /// Receives the next message, after waiting for it.
    ///
    /// # Blocking
    ///
    /// While nothing is sent.
    ///
    /// # Panics
    ///
    /// If cloning the message does: then this receiver has passed it.
    ///
    /// # Errors
    ///
    /// [`RecvError::Lost`] if messages were lost, once; [`RecvError::Disconnected`] after the last message.
    pub fn recv(&self) -> Result<T, RecvError> {
        self.recv_until(None).map_err(|error| match error {
            RecvTimeoutError::Lost(lost) => RecvError::Lost(lost),
            RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout => RecvError::Disconnected,
        })
    }

    /// As [`recv`](Receiver::recv), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError`].
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        // A timeout beyond the clock's range is none.
        self.recv_until(Instant::now().checked_add(timeout))
    }

    /// As [`recv`](Receiver::recv), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError`].
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_until(Some(deadline))
    }

    fn recv_until(&self, deadline: Option<Instant>) -> Result<T, RecvTimeoutError> {
        let taken = match self.take() {
            Err(NoMessage::Empty) => self
                .queue
                .receivers
                .wait_until(
                    self.wait,
                    deadline,
                    |_| match self.take() {
                        Err(NoMessage::Empty) => None,
                        decided => Some(decided),
                    },
                    || self.queue.has_news(&self.position),
                )
                .unwrap_or(Err(NoMessage::Empty)),
            decided => decided,
        };
        match taken {
            Ok(message) => Ok(unwrap(message, T::clone)),
            Err(NoMessage::Empty) => Err(RecvTimeoutError::Timeout),
            Err(NoMessage::Closed) => Err(RecvTimeoutError::Disconnected),
            Err(NoMessage::Lost(lost)) => Err(RecvTimeoutError::Lost(lost)),
        }
    }

    /// Receives the next message, awaiting it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future takes no message.
    ///
    /// # Errors
    ///
    /// As [`recv`](Receiver::recv).
    pub fn recv_async(&self) -> RecvFuture<'_, T> {
        RecvFuture::new(self)
    }

    /// As [`recv_async`](Receiver::recv_async), but waits at most `timeout` from now. No runtime's timer is needed.
    ///
    /// # Errors
    ///
    /// As [`recv_timeout`](Receiver::recv_timeout).
    pub fn recv_timeout_async(&self, timeout: Duration) -> RecvTimeoutFuture<'_, T> {
        TimeoutFuture::within(self.recv_async(), timeout)
    }

    /// As [`recv_async`](Receiver::recv_async), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// As [`recv_deadline`](Receiver::recv_deadline).
    pub fn recv_deadline_async(&self, deadline: Instant) -> RecvTimeoutFuture<'_, T> {
        TimeoutFuture::until(self.recv_async(), deadline)
    }

    /// An iterator that waits for each message, says what was lost, and ends with the broadcast.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { receiver: self }
    }

    /// An iterator over the messages that are there; never waits.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { receiver: self }
    }

    /// The messages as a stream; see [`RecvStream`].
    pub fn stream(&self) -> RecvStream<'_, T> {
        RecvStream::new(End::Borrowed(self))
    }

    /// The messages as a stream that owns this end.
    pub fn into_stream(self) -> RecvStream<'static, T> {
        RecvStream::new(End::Owned(self))
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        Receiver {
            queue: Arc::clone(&self.queue),
            position: self.queue.share(&self.position, self.lag),
            lag: self.lag,
            wait: self.wait,
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.queue.unsubscribe(&self.position, self.lag);
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("lag", &self.lag)
            .finish_non_exhaustive()
    }
}

impl<'a, T: Clone> IntoIterator for &'a Receiver<T> {
    type Item = <Iter<'a, T> as Iterator>::Item;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T: Clone> IntoIterator for Receiver<T> {
    type Item = <IntoIter<T> as Iterator>::Item;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { receiver: self }
    }
}

/// Ready when there is something for this receiver, also an error.
impl<T> Source for Receiver<T> {
    fn try_begin(&self, token: &mut Token) -> bool {
        self.queue.news(&self.position).try_begin(token)
    }

    fn register(&self, operation: Operation, context: &Context) -> bool {
        self.queue.news(&self.position).register(operation, context)
    }

    fn unregister(&self, operation: Operation, context: &Context) {
        self.queue
            .news(&self.position)
            .unregister(operation, context);
    }

    fn is_ready(&self) -> bool {
        self.queue.has_news(&self.position)
    }

    fn watch(&self, operation: Operation, context: &Context) -> bool {
        self.queue.news(&self.position).watch(operation, context)
    }

    fn unwatch(&self, operation: Operation, context: &Context) {
        self.queue.news(&self.position).unwatch(operation, context);
    }

    fn list(&self) -> Option<&WaitList> {
        Some(&self.queue.receivers)
    }

    fn looks_ready(&self) -> bool {
        self.queue.has_news(&self.position)
    }
}

impl<T> Sealed for Receiver<T> {}
impl<T> Waitable for Receiver<T> {}
