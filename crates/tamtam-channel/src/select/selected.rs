//! An operation that was selected, and is to be completed.

use core::{fmt, mem};

use tamtam_wait::Token;

use super::Waitable;
use super::handles::{Direction, Handle, this_thread};
#[cfg(doc)]
use crate::Select;
use crate::error::{RecvError, SendError};
use crate::{Changed, Receiver, Sender, Slot};

/// An operation that a [`Select`] has chosen and reserved: it must be completed.
///
/// Until it is completed, it holds the room for its message, or its place in the slot, which others may have to
/// wait for; with capacity zero it holds a receiver, which sleeps. It has no place in the order yet. So complete it
/// soon, with the very end that was added to the select.
///
/// # Panics
///
/// Dropping it without completing it panics. What was reserved is given back, but a message that was
/// to be received is dropped.
///
/// # Examples
///
/// ```
/// use tamtam_channel::{Select, bounded};
///
/// let (one, ones) = bounded(1);
/// let (_other, others) = bounded::<u32>(1);
/// one.send(1)?;
/// let mut select = Select::new();
/// let (from_one, _) = (select.recv(&ones), select.recv(&others));
/// let operation = select.select();
/// assert_eq!(operation.index(), from_one);
/// assert_eq!(operation.recv(&ones), Ok(1)); // completed with the end that was added
/// # Ok::<(), tamtam_channel::SendError<u32>>(())
/// ```
#[must_use = "a selected operation must be completed"]
pub struct SelectedOperation<'a> {
    pub(super) token: Token,
    pub(super) handle: Handle<'a>,
}

impl SelectedOperation<'_> {
    /// The index that adding the operation returned.
    pub fn index(&self) -> usize {
        self.handle.index as usize
    }

    fn is<T>(&self, end: &T, direction: Direction) -> bool {
        core::ptr::from_ref(end).cast() == self.handle.end && direction == self.handle.direction
    }

    /// Completes sending.
    ///
    /// # Errors
    ///
    /// [`SendError`] with the message if all receivers are gone.
    ///
    /// # Panics
    ///
    /// If this is not the sender that was selected.
    pub fn send<T>(mut self, sender: &Sender<T>, message: T) -> Result<(), SendError<T>> {
        assert!(
            self.is(sender, Direction::In),
            "passed a sender that wasn't selected"
        );
        // SAFETY: this sender's source has filled the token, and it is used up here.
        let result = unsafe { sender.finish(&mut self.token, message) };
        mem::forget(self);
        result
    }

    /// Completes receiving.
    ///
    /// # Errors
    ///
    /// [`RecvError`] if the channel is empty and no sender is left.
    ///
    /// # Panics
    ///
    /// If this is not the receiver that was selected.
    pub fn recv<T>(mut self, receiver: &Receiver<T>) -> Result<T, RecvError> {
        assert!(
            self.is(receiver, Direction::Out),
            "passed a receiver that wasn't selected"
        );
        // SAFETY: this receiver's source has filled the token, and it is used up here.
        let result = unsafe { receiver.finish(&mut self.token) };
        mem::forget(self);
        result
    }

    /// Completes putting into a slot.
    ///
    /// # Panics
    ///
    /// If this is not the slot that was selected.
    pub fn put<T>(self, slot: &Slot<T>, value: T) {
        assert!(
            self.is(slot, Direction::In),
            "passed a slot that wasn't selected for putting"
        );
        slot.putting::<true>().finish(value);
        mem::forget(self);
    }

    /// Completes taking from a slot.
    ///
    /// # Panics
    ///
    /// If this is not the slot that was selected.
    pub fn take<T>(self, slot: &Slot<T>) -> T {
        assert!(
            self.is(slot, Direction::Out),
            "passed a slot that wasn't selected for taking"
        );
        mem::forget(self);
        slot.taking::<true>().finish()
    }

    /// Completes waiting for an event, a latch or a property's change.
    ///
    /// # Panics
    ///
    /// If this is not what was selected.
    pub fn wait<W: Waitable>(self, waitable: &W) {
        assert!(
            self.is(waitable, Direction::Out),
            "passed an event or a latch that wasn't selected"
        );
        mem::forget(self);
    }
}

impl SelectedOperation<'_> {
    /// Completes waiting for a property's change: the property's version now.
    ///
    /// # Panics
    ///
    /// If this is not what was selected.
    pub fn changed<T>(self, changed: &Changed<'_, T>) -> u64 {
        self.wait(changed);
        changed.version()
    }
}

impl Drop for SelectedOperation<'_> {
    fn drop(&mut self) {
        // A select may be sent to another thread, and what it takes out of a channel there may be of a type
        // that must stay on the thread of the channel's end.
        if self.handle.thread_or_mark == this_thread() as u64 {
            // SAFETY: this source has filled the token, and what completes the operation forgets it.
            unsafe { self.handle.source.abandon(&mut self.token) };
        } else {
            // SAFETY: this source has filled the token, and whatever completes the operation forgets it.
            unsafe { self.handle.source.abandon_elsewhere(&mut self.token) };
        }
        // A second panic while the first one unwinds would end the program without a word.
        if !std::thread::panicking() {
            panic!("dropped `SelectedOperation` without completing the operation");
        }
    }
}

impl fmt::Debug for SelectedOperation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("SelectedOperation { .. }")
    }
}
