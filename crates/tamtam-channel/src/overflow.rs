//! What a full channel does with one more message.

/// What a channel with a bound does with a message for which there is no room; see [`Builder::overflow`](crate::Builder::overflow).
///
/// # Examples
///
/// ```
/// use tamtam_channel::{Builder, Overflow};
///
/// let (sender, receiver) = Builder::new().capacity(2).overflow(Overflow::DropOldest).build();
/// for number in 1..=3 {
///     sender.send(number)?; // never waits
/// }
/// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [2, 3]);
/// assert_eq!(receiver.dropped(), 1);
/// # Ok::<(), tamtam_channel::SendError<i32>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Overflow {
    /// The sender waits for room.
    #[default]
    Wait,
    /// The new message is dropped, and what is in the channel stays.
    DropNewest,
    /// The oldest message in the channel is dropped, and the new one takes its place.
    DropOldest,
}

impl Overflow {
    /// Whether a message is dropped, and no sender waits.
    pub(crate) fn drops(self) -> bool {
        match self {
            Overflow::Wait => false,
            Overflow::DropNewest | Overflow::DropOldest => true,
        }
    }
}
