//! Iterators over the messages of a receiving end, of whatever kind of channel.

use core::fmt;
use core::iter::FusedIterator;

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// A receiving end as its iterators see it.
///
/// [`Receiver`](crate::Receiver), those of [`spsc`](crate::spsc) and [`mpsc`](crate::mpsc), and that of a
/// [broadcast](crate::broadcast) are; no other type can be.
///
/// # Examples
///
/// ```
/// use tamtam_channel::receiving::IteratedEnd;
/// use tamtam_channel::{bounded, spsc};
///
/// /// How many messages come until the channel ends, of whatever kind it is.
/// fn count<R: IteratedEnd + IntoIterator>(receiver: R) -> usize {
///     receiver.into_iter().count()
/// }
///
/// let (sender, receiver) = bounded(2);
/// sender.send("one").unwrap();
/// drop(sender);
/// assert_eq!(count(receiver), 1);
/// let (sender, receiver) = spsc::bounded::<u32>(2);
/// drop(sender);
/// assert_eq!(count(receiver), 0);
/// ```
pub trait IteratedEnd: sealed::Sealed {
    /// What an iterator brings: a message, or what a broadcast says instead.
    type Item;

    #[doc(hidden)]
    /// Waits for the next; nothing if there will be no more.
    fn next_awaited(&self) -> Option<Self::Item>;

    #[doc(hidden)]
    /// The next if it is there.
    fn next_there(&self) -> Option<Self::Item>;
}

/// Waits for each message.
///
/// # Examples
///
/// ```
/// let (sender, receiver) = tamtam_channel::bounded(2);
/// sender.send(1).unwrap();
/// drop(sender); // Otherwise it would wait for more.
/// let mut iter = receiver.iter();
/// assert_eq!((iter.next(), iter.next()), (Some(1), None));
/// ```
#[must_use = "an iterator does nothing until it is asked"]
pub struct WaitingIter<'a, R> {
    pub(crate) receiver: &'a R,
}

/// Ends when no message is there.
///
/// # Examples
///
/// ```
/// let (sender, receiver) = tamtam_channel::bounded(2);
/// sender.send(1).unwrap();
/// let mut iter = receiver.try_iter();
/// assert_eq!((iter.next(), iter.next()), (Some(1), None));
/// sender.send(2).unwrap();
/// // It is not over: there is something again.
/// assert_eq!(iter.next(), Some(2));
/// ```
#[must_use = "an iterator does nothing until it is asked"]
pub struct TryingIter<'a, R> {
    pub(crate) receiver: &'a R,
}

/// Brings no more than was there when it was made.
///
/// # Examples
///
/// ```
/// let (sender, receiver) = tamtam_channel::unbounded();
/// sender.send(1).unwrap();
/// let drain = receiver.drain();
/// assert_eq!(drain.size_hint(), (0, Some(1)));
/// sender.send(2).unwrap();
/// assert_eq!(drain.count(), 1);
/// ```
#[must_use = "an iterator does nothing until it is asked"]
pub struct DrainingIter<'a, R> {
    pub(crate) receiver: &'a R,
    /// No more than this many messages.
    pub(crate) left: usize,
}

/// Waits for each message, and owns the receiver.
///
/// # Examples
///
/// ```
/// let (sender, receiver) = tamtam_channel::bounded(2);
/// let summing = std::thread::spawn(move || receiver.into_iter().sum::<u32>());
/// sender.send(1).unwrap();
/// sender.send(2).unwrap();
/// drop(sender);
/// assert_eq!(summing.join().unwrap(), 3);
/// ```
#[must_use = "an iterator does nothing until it is asked"]
pub struct OwningIter<R> {
    pub(crate) receiver: R,
}

impl<R: IteratedEnd> Iterator for WaitingIter<'_, R> {
    type Item = R::Item;

    #[inline]
    fn next(&mut self) -> Option<R::Item> {
        self.receiver.next_awaited()
    }
}

impl<R: IteratedEnd> Iterator for TryingIter<'_, R> {
    type Item = R::Item;

    #[inline]
    fn next(&mut self) -> Option<R::Item> {
        self.receiver.next_there()
    }
}

impl<R: IteratedEnd> Iterator for DrainingIter<'_, R> {
    type Item = R::Item;

    #[inline]
    fn next(&mut self) -> Option<R::Item> {
        self.left = self.left.checked_sub(1)?;
        let message = self.receiver.next_there();
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

impl<R: IteratedEnd> Iterator for OwningIter<R> {
    type Item = R::Item;

    #[inline]
    fn next(&mut self) -> Option<R::Item> {
        self.receiver.next_awaited()
    }
}

// A channel that is disconnected stays so.
impl<R: IteratedEnd> FusedIterator for WaitingIter<'_, R> {}
impl<R: IteratedEnd> FusedIterator for DrainingIter<'_, R> {}
impl<R: IteratedEnd> FusedIterator for OwningIter<R> {}

macro_rules! debug_as {
    ($($name:ident $(<$life:lifetime>)? is $public:literal),+) => { $(
        impl<R> fmt::Debug for $name<$($life,)? R> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(concat!($public, " { .. }"))
            }
        }
    )+ };
}

debug_as!(
    WaitingIter<'_> is "Iter",
    TryingIter<'_> is "TryIter",
    DrainingIter<'_> is "Drain",
    OwningIter is "IntoIter"
);
