//! Iterators over the messages of a channel.

use core::fmt;
use core::iter::FusedIterator;

use crate::Receiver;

/// Waits for each message and ends when the channel is empty and no sender is left; made by
/// [`Receiver::iter`].
pub struct Iter<'a, T> {
    pub(crate) receiver: &'a Receiver<T>,
}

/// Ends when no message is there; made by [`Receiver::try_iter`].
pub struct TryIter<'a, T> {
    pub(crate) receiver: &'a Receiver<T>,
}

/// Brings no more than was there when it was made; made by [`Receiver::drain`].
pub struct Drain<'a, T> {
    pub(crate) receiver: &'a Receiver<T>,
    /// No more than this many messages.
    pub(crate) left: usize,
}

/// As [`Iter`], and owns the receiver; made by [`Receiver::into_iter`].
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
