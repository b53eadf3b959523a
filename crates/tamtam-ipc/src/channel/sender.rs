//! The sending end of a channel of plain values.

use std::fmt;
use std::marker::PhantomData;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use tamtam_channel::{SendError, SendManyError, SendTimeoutError, TrySendError};
use tamtam_wait::Wait;

use super::plain::{attach, attach_at};
use super::shared::{SendingEnd, after};
use crate::arena::{Arena, ArenaPlace};
use crate::copy;
use crate::error::AttachError;
use crate::plain::Plain;
use crate::ring::{Position, Refusal};

/// The sending end of a [`channel`](crate::channel()) between processes.
///
/// Clone it for more senders in this process; another process [attaches](Sender::attach).
///
/// # Ordering
///
/// Messages come in the order in which sends began, over all senders. A sender that is stopped in the middle of a send (by a debugger, or
/// `SIGSTOP`) holds up what is behind it; one that dies does not.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::channel;
///
/// let (sender, receiver) = channel::<[u8; 16]>(2)?;
/// sender.send([1; 16])?;
/// sender.send([2; 16])?;
/// assert!(sender.try_send([3; 16]).unwrap_err().is_full());
/// drop(receiver);
/// assert_eq!(sender.send([4; 16]).unwrap_err().into_inner(), [4; 16]); // it comes back
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct Sender<T> {
    pub(crate) end: SendingEnd,
    messages: PhantomData<fn(T)>,
}

impl<T: Plain> Sender<T> {
    pub(super) fn new(end: SendingEnd) -> Self {
        Sender {
            end,
            messages: PhantomData,
        }
    }

    /// A sender for the channel in the memory that another process has made.
    ///
    /// # Errors
    ///
    /// [`AttachError`] if that is no such channel, or nothing can be done with it.
    pub fn attach(memory: OwnedFd) -> Result<Self, AttachError> {
        Ok(Sender::new(SendingEnd::attach(attach::<T>(memory)?)))
    }

    pub(crate) fn attach_at(arena: &Arena, place: ArenaPlace) -> Result<Self, AttachError> {
        Ok(Sender::new(SendingEnd::attach(attach_at::<T>(
            arena, place,
        )?)))
    }

    /// Where the channel lies in its [`Arena`](crate::Arena); none if it has memory of its own.
    #[must_use]
    pub fn place(&self) -> Option<ArenaPlace> {
        self.end.shared().place()
    }

    /// The memory, for another process.
    #[must_use]
    pub fn memory(&self) -> BorrowedFd<'_> {
        self.end.shared().memory()
    }

    /// The same end, waiting in another way while the channel is full. Clones inherit it.
    #[must_use]
    pub fn with_wait(mut self, wait: Wait) -> Self {
        self.end.wait = wait;
        self
    }

    /// Writes the message into its slot and publishes it; gives it back if another process has spoiled the slot.
    #[inline]
    fn write(&self, position: Position, message: T) -> Result<(), T> {
        let to = self.end.shared().message(position).as_ptr();
        // SAFETY: a slot has room for a message of this type, as was seen when the memory was made or attached, and this one was claimed by
        // this call, so no other thread of this process writes there.
        unsafe { copy::into_shared(message.as_bytes(), to) };
        if self.end.publish(position, true) {
            Ok(())
        } else {
            Err(message)
        }
    }

    #[inline]
    fn finish(&self, position: Position, message: T) -> Result<(), T> {
        self.write(position, message)?;
        self.end.ring();
        Ok(())
    }

    /// Sends a message if there is room; never waits.
    ///
    /// # Errors
    ///
    /// With the message: [`TrySendError::Full`], or [`TrySendError::Disconnected`] if no process receives.
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match self.end.try_claim() {
            Ok(position) => self
                .finish(position, message)
                .map_err(TrySendError::Disconnected),
            Err(Refusal::Full) => Err(TrySendError::Full(message)),
            Err(_) => Err(TrySendError::Disconnected(message)),
        }
    }

    /// Sends a message, after waiting for room if there is none.
    ///
    /// # Blocking
    ///
    /// While the channel is full.
    ///
    /// # Errors
    ///
    /// [`SendError`] with the message if no process receives, also if its process dies while this waits; or if another process has
    /// written nonsense into the memory ([`is_corrupt`](Sender::is_corrupt)).
    #[inline]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        match self.end.claim(None) {
            Ok(position) => self.finish(position, message).map_err(SendError),
            Err(_) => Err(SendError(message)),
        }
    }

    /// As [`send`](Sender::send), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// With the message: [`SendTimeoutError::Timeout`] or [`SendTimeoutError::Disconnected`].
    pub fn send_timeout(&self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.send_until(message, after(timeout))
    }

    /// As [`send`](Sender::send), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// With the message: [`SendTimeoutError::Timeout`] or [`SendTimeoutError::Disconnected`].
    pub fn send_deadline(&self, message: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        self.send_until(message, Some(deadline))
    }

    fn send_until(&self, message: T, deadline: Option<Instant>) -> Result<(), SendTimeoutError<T>> {
        match self.end.claim(deadline) {
            Ok(position) => self
                .finish(position, message)
                .map_err(SendTimeoutError::Disconnected),
            Err(Refusal::Full) => Err(SendTimeoutError::Timeout(message)),
            Err(_) => Err(SendTimeoutError::Disconnected(message)),
        }
    }

    /// Sends many messages, after waiting for room whenever there is none. How many.
    ///
    /// A receiver that sleeps is told of up to 32 of them at once, and at the end of the iterator: one that waits in between keeps messages back.
    ///
    /// # Ordering
    ///
    /// The messages stay in order. Those of other senders may come in between.
    ///
    /// # Blocking
    ///
    /// While the channel is full.
    ///
    /// # Panics
    ///
    /// If the iterator does; what it has yielded by then is sent.
    ///
    /// # Errors
    ///
    /// [`SendManyError`] if no process receives: says how many messages were sent, and holds the one that was taken out of the iterator and
    /// not sent. The others are still in the iterator.
    pub fn send_many(
        &self,
        messages: impl IntoIterator<Item = T>,
    ) -> Result<usize, SendManyError<T>> {
        let mut batch = self.end.batch();
        let mut sent = 0;
        for message in messages {
            let unsent = match batch.claim() {
                Ok(position) => self.write(position, message).err(),
                Err(_) => Some(message),
            };
            if let Some(unsent) = unsent {
                let unsent = vec![unsent];
                return Err(SendManyError { sent, unsent });
            }
            batch.sent_one();
            sent += 1;
        }
        Ok(sent)
    }

    /// How many messages the channel can hold.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.end.shared().capacity()
    }

    /// Whether sends fail, since no process receives. Another one may take the receiver's place later.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        !self.end.is_open()
    }

    /// Whether another process has written nonsense into the memory: this end believes nothing that comes from there any more, and sends fail.
    #[must_use]
    pub fn is_corrupt(&self) -> bool {
        self.end.shared().is_corrupt()
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Sender {
            end: self.end.clone(),
            messages: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Sender { .. }")
    }
}
