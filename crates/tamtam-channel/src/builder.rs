//! The builder of channels: capacity, overflow, wait.

use tamtam_wait::Wait;
use tamtam_wait::seam::Arc;

use crate::ends::Ends;
use crate::flavor::block_list::BlockList;
use crate::flavor::rendezvous::Rendezvous;
use crate::flavor::ring::Ring;
use crate::overflow::Overflow;
use crate::receiver::{Receiver, ReceiverFlavor};
use crate::sender::{Sender, SenderFlavor};

/// Makes channels that are not as [`bounded`](crate::bounded) and [`unbounded`](crate::unbounded) make
/// them.
///
/// # Examples
///
/// ```
/// use tamtam_channel::{Builder, Overflow, Wait};
///
/// // The last eight temperatures, for a reader that comes now and then.
/// let (sender, receiver) = Builder::new()
///     .capacity(8)
///     .overflow(Overflow::DropOldest)
///     .wait(Wait::Park)
///     .build();
/// for degrees in 0..20 {
///     sender.send(degrees).unwrap(); // never waits
/// }
/// assert!(receiver.try_iter().eq(12..20));
/// assert_eq!(receiver.dropped(), 12);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    capacity: Option<usize>,
    overflow: Overflow,
    wait: Wait,
    exact_high_water: bool,
}

impl Builder {
    /// A channel without a bound, unless more is said.
    #[must_use]
    pub fn new() -> Self {
        Builder::default()
    }

    /// The channel holds at most so many messages; zero means that they change hands directly. As
    /// [`bounded`](crate::bounded).
    #[must_use]
    pub fn capacity(mut self, messages: usize) -> Self {
        self.capacity = Some(messages);
        self
    }

    /// What happens to a message for which there is no room.
    ///
    /// A channel that drops messages never lets a sender wait: [`send`](Sender::send) and its relatives
    /// return `Ok`, as does [`try_send`](Sender::try_send), and sending is always ready in a
    /// [`Select`](crate::Select). [`send_reporting`](Sender::send_reporting) gives back what was
    /// dropped, [`dropped`](Sender::dropped) counts all of it. It is an error only if the channel is
    /// closed or the receivers are gone.
    ///
    /// With capacity zero both ways of dropping mean: to a receiver that waits, a thread or a task, or to none.
    /// Without a bound nothing is ever dropped.
    /// [`Select::ready`](crate::Select::ready) never finds a sender on a dropping channel of capacity zero,
    /// since none waits.
    #[must_use]
    pub fn overflow(mut self, overflow: Overflow) -> Self {
        self.overflow = overflow;
        self
    }

    /// How both ends wait; see [`Sender::with_wait`].
    #[must_use]
    pub fn wait(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }

    /// Makes [`high_water`](Sender::high_water) exact, which slows the channel down: with a capacity each sender
    /// looks how many messages there are, under a short lock; without a bound each receiver does.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = tamtam_channel::Builder::new().exact_high_water().build();
    /// sender.send_many(0..10).unwrap();
    /// assert_eq!(receiver.try_iter().count(), 10);
    /// assert_eq!(receiver.high_water(), 10);
    /// ```
    #[must_use]
    pub fn exact_high_water(mut self) -> Self {
        self.exact_high_water = true;
        self
    }

    /// Makes a channel.
    ///
    /// # Panics
    ///
    /// If the memory for the messages cannot be had.
    #[must_use]
    pub fn build<T>(&self) -> (Sender<T>, Receiver<T>) {
        let (sender, receiver) = match self.capacity {
            None => {
                let channel = Arc::new(Ends::new(BlockList::new(self.exact_high_water)));
                (
                    SenderFlavor::Unbounded(Arc::clone(&channel)),
                    ReceiverFlavor::Unbounded(channel),
                )
            }
            Some(0) => {
                let channel = Arc::new(Ends::new(Rendezvous::new(self.overflow)));
                (
                    SenderFlavor::Rendezvous(Arc::clone(&channel)),
                    ReceiverFlavor::Rendezvous(channel),
                )
            }
            Some(capacity) => {
                let channel = Arc::new(Ends::new(Ring::new(
                    capacity,
                    self.overflow,
                    self.exact_high_water,
                )));
                (
                    SenderFlavor::Bounded(Arc::clone(&channel)),
                    ReceiverFlavor::Bounded(channel),
                )
            }
        };
        (
            Sender::new(sender).with_wait(self.wait),
            Receiver::new(receiver).with_wait(self.wait),
        )
    }
}
