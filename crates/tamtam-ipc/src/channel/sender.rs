//! The sending end of a channel of plain values.

use std::fmt;
use std::marker::PhantomData;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use tamtam_channel::{SendError, SendManyError, SendTimeoutError, TrySendError};
use tamtam_wait::Wait;

use super::plain::{attach, attach_at};
use super::shared::{Batch, SendingEnd, after};
use crate::arena::{Arena, ArenaPlace};
use crate::copy;
use crate::error::AttachError;
use crate::plain::Plain;
use crate::ring::{MOST_AT_ONCE, Position, Refusal};

/// A batch gathers so many bytes of messages at most before it sends them, if that is more than one message.
const GATHERED_BYTES: usize = 64 << 10;

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

    /// Writes the message into its slot, which this call has claimed.
    #[inline]
    fn write(&self, position: Position, message: &T) {
        let to = self.end.shared().message(position).as_ptr();
        // SAFETY: a slot has room for a message of this type, as was seen when the memory was made or attached, and this one was claimed by
        // the calling thread, so no other thread of this process writes there.
        unsafe { copy::into_shared(message.as_bytes(), to) };
    }

    /// Writes the message into its slot and publishes it; gives it back if another process has spoiled the slot.
    #[inline]
    fn finish(&self, position: Position, message: T) -> Result<(), T> {
        self.write(position, &message);
        if !self.end.publish(position, true) {
            return Err(message);
        }
        self.end.ring();
        Ok(())
    }

    /// Sends messages, as many at once as there is room for. How many; those behind were not sent.
    fn send_each(&self, batch: &mut Batch<'_>, messages: &[T]) -> usize {
        let mut left = messages;
        while let Ok(run) = batch.claim_several(left.len() as u64) {
            let (sent, others) = left.split_at(run.len() as usize);
            for (position, message) in run.positions().zip(sent) {
                self.write(position, message);
            }
            if !self.end.publish_run(run, true) {
                break;
            }
            batch.sent(sent.len());
            left = others;
            if left.is_empty() {
                break;
            }
        }
        messages.len() - left.len()
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
    /// Up to 32 of them, or 64 KB, go at once, and the rest at the end of the iterator: one that waits in between keeps messages back.
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
    /// [`SendManyError`] if no process receives: says how many messages were sent, and holds those that were taken out of the iterator and
    /// not sent. The others are still in the iterator.
    pub fn send_many(
        &self,
        messages: impl IntoIterator<Item = T>,
    ) -> Result<usize, SendManyError<T>> {
        let mut messages = messages.into_iter();
        let mut gathered = Gathered::new(self);
        loop {
            // No slot is claimed while the iterator runs, which may do what it likes.
            let unsent = &mut gathered.unsent;
            unsent.extend(messages.by_ref().take(Gathered::<T>::MOST_MESSAGES));
            let is_last = unsent.len() < Gathered::<T>::MOST_MESSAGES;
            gathered.send();
            let Gathered { sent, unsent, .. } = &mut gathered;
            if !unsent.is_empty() {
                return Err(SendManyError {
                    sent: *sent,
                    unsent: std::mem::take(unsent),
                });
            }
            if is_last {
                return Ok(*sent);
            }
        }
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

/// Messages of a batch that an iterator has yielded. If it panics, they are sent.
struct Gathered<'a, T: Plain> {
    sender: &'a Sender<T>,
    batch: Batch<'a>,
    unsent: Vec<T>,
    sent: usize,
}

impl<'a, T: Plain> Gathered<'a, T> {
    /// So many at a time.
    const MOST_MESSAGES: usize = {
        let size = if size_of::<T>() == 0 {
            1
        } else {
            size_of::<T>()
        };
        let most = GATHERED_BYTES / size;
        match most {
            0 => 1,
            _ if most > MOST_AT_ONCE as usize => MOST_AT_ONCE as usize,
            _ => most,
        }
    };

    fn new(sender: &'a Sender<T>) -> Self {
        Gathered {
            sender,
            batch: sender.end.batch(),
            unsent: Vec::new(),
            sent: 0,
        }
    }

    /// Sends them; what is left was refused.
    fn send(&mut self) {
        if !self.unsent.is_empty() {
            let sent = self.sender.send_each(&mut self.batch, &self.unsent);
            self.unsent.drain(..sent);
            self.sent += sent;
        }
    }
}

impl<T: Plain> Drop for Gathered<'_, T> {
    fn drop(&mut self) {
        self.send();
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
