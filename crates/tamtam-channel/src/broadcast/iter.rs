use core::fmt;
use core::iter::FusedIterator;

use super::error::{Lost, RecvError, TryRecvError};
use super::receiver::Receiver;

/// Waits for each message, says what was lost, and ends with the broadcast; made by [`Receiver::iter`].
///
/// # Examples
///
/// ```
/// use tamtam_channel::broadcast;
///
/// let (sender, receiver) = broadcast::bounded(4);
/// sender.send(1)?;
/// sender.send(2)?;
/// drop(sender);
/// let sum: i32 = receiver.iter().map(|message| message.expect("it waits for us")).sum();
/// assert_eq!(sum, 3);
/// # Ok::<(), tamtam_channel::SendError<i32>>(())
/// ```
pub struct Iter<'a, T> {
    pub(super) receiver: &'a Receiver<T>,
}

/// Ends when no message is there; made by [`Receiver::try_iter`].
///
/// # Examples
///
/// ```
/// use tamtam_channel::broadcast;
///
/// let (sender, receiver) = broadcast::bounded(4);
/// sender.send(1)?;
/// assert_eq!(receiver.try_iter().collect::<Result<Vec<_>, _>>(), Ok(vec![1]));
/// assert_eq!(receiver.try_iter().count(), 0);
/// # Ok::<(), tamtam_channel::SendError<i32>>(())
/// ```
pub struct TryIter<'a, T> {
    pub(super) receiver: &'a Receiver<T>,
}

/// As [`Iter`], and owns the receiver; made by [`Receiver::into_iter`].
///
/// # Examples
///
/// ```
/// use tamtam_channel::broadcast;
///
/// let (sender, receiver) = broadcast::bounded(4);
/// sender.send("only one")?;
/// drop(sender);
/// for message in receiver {
///     assert_eq!(message, Ok("only one"));
/// }
/// # Ok::<(), tamtam_channel::SendError<&str>>(())
/// ```
pub struct IntoIter<T> {
    pub(super) receiver: Receiver<T>,
}

/// What an iterator brings: a message, or what was lost before it; nothing at the end.
pub(super) fn item<T>(received: Result<T, RecvError>) -> Option<Result<T, Lost>> {
    match received {
        Ok(message) => Some(Ok(message)),
        Err(RecvError::Lost(lost)) => Some(Err(lost)),
        Err(RecvError::Disconnected) => None,
    }
}

impl<T: Clone> Iterator for Iter<'_, T> {
    type Item = Result<T, Lost>;

    fn next(&mut self) -> Option<Self::Item> {
        item(self.receiver.recv())
    }
}

impl<T: Clone> Iterator for IntoIter<T> {
    type Item = Result<T, Lost>;

    fn next(&mut self) -> Option<Self::Item> {
        item(self.receiver.recv())
    }
}

impl<T: Clone> Iterator for TryIter<'_, T> {
    type Item = Result<T, Lost>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.receiver.try_recv() {
            Ok(message) => Some(Ok(message)),
            Err(TryRecvError::Lost(lost)) => Some(Err(lost)),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => None,
        }
    }
}

// Once closed, a broadcast stays so.
impl<T: Clone> FusedIterator for Iter<'_, T> {}
impl<T: Clone> FusedIterator for IntoIter<T> {}

impl<T> fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Iter { .. }")
    }
}

impl<T> fmt::Debug for TryIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("TryIter { .. }")
    }
}

impl<T> fmt::Debug for IntoIter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("IntoIter { .. }")
    }
}
