//! A sender that does not keep its channel open.

use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};

use tamtam_wait::Wait;

use crate::Sender;
use crate::sender::SenderFlavor;

/// A sender that does not keep its channel open, made by [`Sender::downgrade`].
///
/// The receivers' end comes when the last [`Sender`] is dropped, however many weak ones there are. For
/// what sends now and then but is not what the channel is there for: a timer, a registry, the thread
/// that itself receives and puts something off until later.
///
/// It keeps the channel's memory, but no message.
///
/// # Examples
///
/// ```
/// let (sender, receiver) = tamtam_channel::bounded(10);
/// let weak = sender.downgrade();
/// let worker = std::thread::spawn(move || {
///     let mut sum = 0;
///     for number in &receiver {
///         sum += number;
///         // Half of it again, later; unless the others have ended this channel meanwhile.
///         if let Some(sender) = weak.upgrade()
///             && number > 1
///         {
///             let _ = sender.try_send(number / 2);
///         }
///     }
///     sum
/// });
/// sender.send(8_u32).unwrap();
/// drop(sender); // the worker ends, though it has a weak sender
/// assert!(worker.join().unwrap() >= 8);
/// ```
pub struct WeakSender<T> {
    flavor: SenderFlavor<T>,
    wait: Wait,
}

// As for `Sender`: no user code runs while a channel is half changed.
impl<T> UnwindSafe for WeakSender<T> {}
impl<T> RefUnwindSafe for WeakSender<T> {}

impl<T> WeakSender<T> {
    pub(crate) fn new(sender: &Sender<T>) -> Self {
        WeakSender {
            flavor: sender.flavor.share(),
            wait: sender.wait,
        }
    }

    /// A sender, if one still exists and the channel is open; else `None`, for ever.
    ///
    /// The channel may be closed right after this, as with any sender.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = tamtam_channel::unbounded::<i32>();
    /// let weak = sender.downgrade();
    /// assert!(weak.upgrade().is_some());
    /// receiver.close();
    /// assert!(weak.upgrade().is_none());
    /// ```
    pub fn upgrade(&self) -> Option<Sender<T>> {
        let lives = match &self.flavor {
            SenderFlavor::Bounded(ring) => ring.add_sender_if_any(),
            SenderFlavor::Unbounded(list) => list.add_sender_if_any(),
            SenderFlavor::Rendezvous(rendezvous) => rendezvous.add_sender_if_any(),
        };
        if !lives {
            return None;
        }
        let sender = Sender {
            flavor: self.flavor.share(),
            wait: self.wait,
        };
        (!sender.is_closed()).then_some(sender)
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        WeakSender {
            flavor: self.flavor.share(),
            wait: self.wait,
        }
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("WeakSender { .. }")
    }
}
