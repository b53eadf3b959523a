//! A sender that does not keep its channel open.

use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};

use tamtam_wait::Wait;
use tamtam_wait::seam::Arc;

use super::line::Line;
use super::{LaneSender, Many};

/// A sender of an [`mpsc`](crate::mpsc) channel that has no lane and does not keep the channel open, made by
/// `downgrade`.
///
/// The receiver's end comes when the last sender is closed or dropped, however many weak ones there are. For
/// what sends now and then but is not what the channel is there for: a timer, a registry, the thread that
/// itself receives and puts something off until later. Unlike a sender it may be shared by several threads.
///
/// It keeps some of the channel's memory, but no message that the receiver could have had.
///
/// # Examples
///
/// ```
/// let (sender, receiver) = tamtam_channel::mpsc::bounded(10);
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
    line: Arc<Line<T>>,
    wait: Wait,
}

// No user code runs while a channel is half changed.
impl<T> UnwindSafe for WeakSender<T> {}
impl<T> RefUnwindSafe for WeakSender<T> {}

impl<T> LaneSender<T, Many> {
    /// A sender that does not keep the channel open.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = tamtam_channel::mpsc::unbounded::<i32>();
    /// let weak = sender.downgrade();
    /// drop(sender);
    /// assert!(receiver.recv().is_err());
    /// assert!(weak.upgrade().is_none());
    /// ```
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender {
            line: Arc::clone(&self.line),
            wait: self.wait,
        }
    }
}

impl<T> WeakSender<T> {
    /// A sender, with a lane of its own, if an open one still exists and the receiver has not closed the
    /// channel; else `None`, for ever.
    ///
    /// The channel may be closed right after this, as with any sender. Opening a lane takes an allocation and
    /// a lock for a moment: who sends many messages keeps the sender meanwhile.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = tamtam_channel::mpsc::unbounded::<i32>();
    /// let weak = sender.downgrade();
    /// weak.upgrade().unwrap().send(1).unwrap();
    /// assert_eq!(receiver.recv(), Ok(1));
    /// receiver.close();
    /// assert!(weak.upgrade().is_none());
    /// ```
    pub fn upgrade(&self) -> Option<LaneSender<T, Many>> {
        let lane = self.line.open_lane_if_open()?;
        let sender = LaneSender::new(Arc::clone(&self.line), lane, self.wait);
        (!sender.is_closed()).then_some(sender)
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        WeakSender {
            line: Arc::clone(&self.line),
            wait: self.wait,
        }
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("WeakSender { .. }")
    }
}
