//! Iterators over the messages of a receiving end, of whatever kind of channel.

use core::fmt;
use core::iter::FusedIterator;

/// A receiving end as its iterators see it.
///
/// Public only as a bound: it cannot be named outside of this crate.
pub trait Iterated {
    /// What an iterator brings: a message, or what a broadcast says instead.
    type Item;

    /// Waits for the next; nothing if there will be no more.
    fn next_awaited(&self) -> Option<Self::Item>;

    /// The next if it is there.
    fn next_there(&self) -> Option<Self::Item>;
}

/// Waits for each message.
#[must_use = "an iterator does nothing until it is asked"]
pub struct WaitingIter<'a, R> {
    pub(crate) receiver: &'a R,
}

/// Ends when no message is there.
#[must_use = "an iterator does nothing until it is asked"]
pub struct TryingIter<'a, R> {
    pub(crate) receiver: &'a R,
}

/// Brings no more than was there when it was made.
#[must_use = "an iterator does nothing until it is asked"]
pub struct DrainingIter<'a, R> {
    pub(crate) receiver: &'a R,
    /// No more than this many messages.
    pub(crate) left: usize,
}

/// Waits for each message, and owns the receiver.
#[must_use = "an iterator does nothing until it is asked"]
pub struct OwningIter<R> {
    pub(crate) receiver: R,
}

impl<R: Iterated> Iterator for WaitingIter<'_, R> {
    type Item = R::Item;

    #[inline]
    fn next(&mut self) -> Option<R::Item> {
        self.receiver.next_awaited()
    }
}

impl<R: Iterated> Iterator for TryingIter<'_, R> {
    type Item = R::Item;

    #[inline]
    fn next(&mut self) -> Option<R::Item> {
        self.receiver.next_there()
    }
}

impl<R: Iterated> Iterator for DrainingIter<'_, R> {
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

impl<R: Iterated> Iterator for OwningIter<R> {
    type Item = R::Item;

    #[inline]
    fn next(&mut self) -> Option<R::Item> {
        self.receiver.next_awaited()
    }
}

// A channel that is disconnected stays so.
impl<R: Iterated> FusedIterator for WaitingIter<'_, R> {}
impl<R: Iterated> FusedIterator for DrainingIter<'_, R> {}
impl<R: Iterated> FusedIterator for OwningIter<R> {}

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
