//! A broadcast's receiving end as an iterator, which brings what was lost, too.

use super::error::{Lost, RecvError, TryRecvError};
use super::receiver::Receiver;
use crate::iter::{IteratedEnd, OwningIter, TryingIter, WaitingIter};

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
pub type Iter<'a, T> = WaitingIter<'a, Receiver<T>>;

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
pub type TryIter<'a, T> = TryingIter<'a, Receiver<T>>;

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
pub type IntoIter<T> = OwningIter<Receiver<T>>;

impl<T> crate::iter::sealed::Sealed for Receiver<T> {}

impl<T: Clone> IteratedEnd for Receiver<T> {
    type Item = Result<T, Lost>;

    fn next_awaited(&self) -> Option<Self::Item> {
        match self.recv() {
            Ok(message) => Some(Ok(message)),
            Err(RecvError::Lost(lost)) => Some(Err(lost)),
            Err(RecvError::Disconnected) => None,
        }
    }

    fn next_there(&self) -> Option<Self::Item> {
        match self.try_recv() {
            Ok(message) => Some(Ok(message)),
            Err(TryRecvError::Lost(lost)) => Some(Err(lost)),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => None,
        }
    }
}
