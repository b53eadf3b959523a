//! A lane's receiving end as an iterator.

use super::Receiver;
use crate::iter::{DrainingIter, IteratedEnd, OwningIter, TryingIter, WaitingIter};

/// What [`Receiver::drain`] returns.
///
/// # Examples
///
/// ```
/// use tamtam_channel::spsc;
///
/// let (sender, receiver) = spsc::unbounded();
/// sender.send(1)?;
/// sender.send(2)?;
/// let drain = receiver.drain();
/// // Sent later: not one of those that were there.
/// sender.send(3)?;
/// assert_eq!(drain.collect::<Vec<_>>(), [1, 2]);
/// # Ok::<(), tamtam_channel::SendError<i32>>(())
/// ```
pub type Drain<'a, T> = DrainingIter<'a, Receiver<T>>;

/// What [`Receiver::iter`] returns.
///
/// # Examples
///
/// ```
/// use std::thread;
/// use tamtam_channel::spsc;
///
/// let (sender, receiver) = spsc::bounded(1);
/// let worker = thread::spawn(move || (1..=3).for_each(|number| sender.send(number).unwrap()));
/// // It ends when the sender is gone.
/// assert_eq!(receiver.iter().sum::<i32>(), 6);
/// worker.join().unwrap();
/// ```
pub type Iter<'a, T> = WaitingIter<'a, Receiver<T>>;

/// What [`Receiver::try_iter`] returns.
///
/// # Examples
///
/// ```
/// use tamtam_channel::spsc;
///
/// let (sender, receiver) = spsc::unbounded();
/// sender.send("now")?;
/// // Once in each frame: it takes what is there, and never waits.
/// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), ["now"]);
/// assert_eq!(receiver.try_iter().next(), None);
/// # Ok::<(), tamtam_channel::SendError<&str>>(())
/// ```
pub type TryIter<'a, T> = TryingIter<'a, Receiver<T>>;

/// What `into_iter` of a [`Receiver`] returns.
///
/// # Examples
///
/// ```
/// use tamtam_channel::mpsc;
///
/// let (sender, receiver) = mpsc::unbounded();
/// sender.send(1)?;
/// drop(sender);
/// for number in receiver {
///     assert_eq!(number, 1);
/// }
/// # Ok::<(), tamtam_channel::SendError<i32>>(())
/// ```
pub type IntoIter<T> = OwningIter<Receiver<T>>;

impl<T> Receiver<T> {
    /// An iterator over the messages that are there now; what comes later is not part of it. It never
    /// waits, and what it has not yielded stays in the channel.
    pub fn drain(&self) -> Drain<'_, T> {
        Drain {
            receiver: self,
            left: self.len(),
        }
    }

    /// An iterator that waits for each message and ends when the channel is empty and closed, or no
    /// sender is left.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { receiver: self }
    }

    /// An iterator over the messages that are there; never waits.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { receiver: self }
    }
}

impl<T> crate::iter::sealed::Sealed for Receiver<T> {}

impl<T> IteratedEnd for Receiver<T> {
    type Item = T;

    #[inline]
    fn next_awaited(&self) -> Option<T> {
        self.recv().ok()
    }

    #[inline]
    fn next_there(&self) -> Option<T> {
        self.take().ok()
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { receiver: self }
    }
}
