//! Iterators over the messages of a channel.

use core::fmt;
use core::iter::FusedIterator;

use crate::Receiver;

/// Waits for each message and ends when the channel is empty and no sender is left; made by
/// [`Receiver::iter`].
///
/// # Examples
///
/// ```
/// use tamtam_channel::bounded;
///
/// let (sender, receiver) = bounded(2);
/// sender.send(1)?;
/// sender.send(2)?;
/// drop(sender); // or the loop would wait for more
/// let mut sum = 0;
/// for message in &receiver {
///     sum += message;
/// }
/// assert_eq!(sum, 3);
/// # Ok::<(), tamtam_channel::SendError<i32>>(())
/// ```
pub struct Iter<'a, T> {
    pub(crate) receiver: &'a Receiver<T>,
}

/// Ends when no message is there; made by [`Receiver::try_iter`].
///
/// # Examples
///
/// ```
/// use tamtam_channel::bounded;
///
/// let (sender, receiver) = bounded(2);
/// sender.send(1)?;
/// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1]); // and does not wait
/// # drop(sender);
/// # Ok::<(), tamtam_channel::SendError<i32>>(())
/// ```
pub struct TryIter<'a, T> {
    pub(crate) receiver: &'a Receiver<T>,
}

/// Brings no more than was there when it was made; made by [`Receiver::drain`].
///
/// # Examples
///
/// ```
/// use tamtam_channel::unbounded;
///
/// let (sender, receiver) = unbounded();
/// sender.send(1)?;
/// let mut handled = 0;
/// for message in receiver.drain() {
///     sender.send(message + 1)?; // not in this round: the loop ends
///     handled += 1;
/// }
/// assert_eq!((handled, receiver.len()), (1, 1));
/// # Ok::<(), tamtam_channel::SendError<i32>>(())
/// ```
pub struct Drain<'a, T> {
    pub(crate) receiver: &'a Receiver<T>,
    /// No more than this many messages.
    pub(crate) left: usize,
}

/// As [`Iter`], and owns the receiver; made by [`Receiver::into_iter`].
///
/// # Examples
///
/// ```
/// use std::thread;
/// use tamtam_channel::bounded;
///
/// let (sender, receiver) = bounded(2);
/// let summing = thread::spawn(move || receiver.into_iter().sum::<u32>());
/// sender.send(1)?;
/// sender.send(2)?;
/// drop(sender);
/// assert_eq!(summing.join().unwrap(), 3);
/// # Ok::<(), tamtam_channel::SendError<u32>>(())
/// ```
pub struct IntoIter<T> {
    pub(crate) receiver: Receiver<T>,
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.receiver.try_recv().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<T> Iterator for Drain<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        let message = self.receiver.try_recv().ok();
        if message.is_none() {
            self.left = 0;
        }
        message
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        // Other receivers may be faster.
        (0, Some(self.left))
    }
}

impl<T> FusedIterator for Drain<'_, T> {}

// A channel that is disconnected stays so.
impl<T> FusedIterator for Iter<'_, T> {}
impl<T> FusedIterator for IntoIter<T> {}

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

impl<T> fmt::Debug for Drain<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Drain { .. }")
    }
}

impl<T> fmt::Debug for IntoIter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("IntoIter { .. }")
    }
}
