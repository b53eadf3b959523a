//! The receiving end of a channel of plain values.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use tamtam_channel::{RecvError, RecvTimeoutError, TryRecvError};
use tamtam_wait::Wait;

use super::plain::{attach, attach_at};
use super::shared::{ReceivingEnd, after};
use crate::arena::{Arena, ArenaPlace};
use crate::copy;
use crate::error::AttachError;
use crate::plain::Plain;
use crate::ring::Position;

/// The receiving end of a [`channel`](crate::channel()) between processes. There is one.
///
/// When it is dropped, or its process dies, sends fail; what is in the channel stays there for a receiver that
/// [attaches](Receiver::attach) later.
///
/// # Ordering
///
/// Messages come in the order in which sends began, over all senders.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_channel::TryRecvError;
/// use tamtam_ipc::{Receiver, channel};
///
/// let (sender, receiver) = channel::<u32>(2)?;
/// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
/// sender.send(1)?;
/// // The descriptor goes to another process, which receives from now on; here it stays in this one.
/// let receiver = Receiver::<u32>::attach(receiver.hand_over()?)?;
/// drop(sender);
/// assert_eq!(receiver.recv(), Ok(1));
/// assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct Receiver<T> {
    pub(crate) end: ReceivingEnd,
    messages: PhantomData<fn() -> T>,
}

impl<T: Plain> Receiver<T> {
    pub(super) fn new(end: ReceivingEnd) -> Self {
        Receiver {
            end,
            messages: PhantomData,
        }
    }

    /// The receiver of the channel in the memory that another process has made: after that was [handed over](Receiver::hand_over), given
    /// up, or its process has died. It goes on where the other has stopped; a message that the other was just receiving when it died comes
    /// once more, and so do up to 32 of a batch that it was receiving.
    ///
    /// # Errors
    ///
    /// [`AttachError::HasReceiver`] if another process receives, and others if that is no such channel or nothing can be done with it.
    pub fn attach(memory: OwnedFd) -> Result<Self, AttachError> {
        Ok(Receiver::new(ReceivingEnd::attach(attach::<T>(memory)?)?))
    }

    pub(crate) fn attach_at(arena: &Arena, place: ArenaPlace) -> Result<Self, AttachError> {
        Ok(Receiver::new(ReceivingEnd::attach(attach_at::<T>(
            arena, place,
        )?)?))
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

    /// Gives this end up for another process, which attaches to the memory. Until then sends do not fail: they wait when there is no room, for ever if
    /// no process attaches.
    ///
    /// # Errors
    ///
    /// If this process can have no more descriptors.
    pub fn hand_over(self) -> io::Result<OwnedFd> {
        self.end.hand_over()
    }

    /// The same end, waiting in another way while the channel is empty.
    #[must_use]
    pub fn with_wait(mut self, wait: Wait) -> Self {
        self.end.wait = wait;
        self
    }

    #[inline]
    fn read(&self, position: Position) -> T {
        let mut message = MaybeUninit::<T>::uninit();
        let from = self.end.shared().message(position).as_ptr();
        // SAFETY: a slot has room for a message of this type, as was seen when the memory was made or attached; the message is written as a
        // whole, and any bytes are a value of a plain type.
        unsafe {
            copy::out_of_shared_to(from, message.as_mut_ptr().cast(), size_of::<T>());
            message.assume_init()
        }
    }

    #[inline]
    fn finish(&self, position: Position) -> T {
        let message = self.read(position);
        self.end.free(position);
        message
    }

    /// Receives a message if one is there; never waits.
    ///
    /// # Errors
    ///
    /// [`TryRecvError::Empty`], or [`TryRecvError::Disconnected`] if moreover no process has a sender. A message behind one that a sender has
    /// just begun is not there yet, even if its own send has returned.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        Ok(self.finish(self.end.try_take()?))
    }

    /// Receives a message, after waiting for one.
    ///
    /// # Blocking
    ///
    /// While the channel is empty.
    ///
    /// # Errors
    ///
    /// [`RecvError`] if the channel is empty and no process has a sender, also if the last one dies while this waits; or if another process
    /// has written nonsense into the memory ([`is_corrupt`](Receiver::is_corrupt)).
    #[inline]
    pub fn recv(&self) -> Result<T, RecvError> {
        match self.end.take(None) {
            Ok(position) => Ok(self.finish(position)),
            Err(_) => Err(RecvError),
        }
    }

    /// As [`recv`](Receiver::recv), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError::Timeout`] or [`RecvTimeoutError::Disconnected`].
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_until(after(timeout))
    }

    /// As [`recv`](Receiver::recv), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError::Timeout`] or [`RecvTimeoutError::Disconnected`].
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_until(Some(deadline))
    }

    fn recv_until(&self, deadline: Option<Instant>) -> Result<T, RecvTimeoutError> {
        Ok(self.finish(self.end.take(deadline)?))
    }

    /// Receives what is there, up to `limit` messages, after waiting for one; appends to `buffer`. How many. Senders that wait for room are told
    /// once.
    ///
    /// # Blocking
    ///
    /// While the channel is empty, unless the limit is zero.
    ///
    /// # Errors
    ///
    /// [`RecvError`] if the channel is empty and no process has a sender.
    pub fn recv_many(&self, buffer: &mut Vec<T>, limit: usize) -> Result<usize, RecvError> {
        if limit == 0 {
            return Ok(0);
        }
        match self.end.take(None) {
            Ok(first) => Ok(self.finish_many(first, buffer, limit)),
            Err(_) => Err(RecvError),
        }
    }

    /// As [`recv_many`](Receiver::recv_many), but never waits.
    ///
    /// # Errors
    ///
    /// [`TryRecvError::Empty`] or [`TryRecvError::Disconnected`].
    pub fn try_recv_many(&self, buffer: &mut Vec<T>, limit: usize) -> Result<usize, TryRecvError> {
        if limit == 0 {
            return Ok(0);
        }
        Ok(self.finish_many(self.end.try_take()?, buffer, limit))
    }

    fn finish_many(&self, first: Position, buffer: &mut Vec<T>, limit: usize) -> usize {
        self.end.receive_several(first, limit, |position, several| {
            let message = self.read(position);
            several.is_read();
            buffer.push(message);
            true
        })
    }

    /// An iterator that waits for each message and ends when the channel is empty and no process has a sender.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(|| self.recv().ok())
    }

    /// An iterator over the messages that are there; never waits.
    pub fn try_iter(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(|| self.try_recv().ok())
    }

    /// How many messages the channel holds, those counted that are just being sent.
    #[must_use]
    pub fn len(&self) -> usize {
        self.end.len()
    }

    /// Whether the channel holds no message.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many messages the channel can hold.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.end.shared().capacity()
    }

    /// How often this end has met a message that its sender had begun and not finished when its process died. No part of it was received.
    #[must_use]
    pub fn abandoned(&self) -> u64 {
        self.end.abandoned()
    }

    /// Whether another process has written nonsense into the memory: this end believes nothing that comes from there any more, and receives no
    /// more.
    #[must_use]
    pub fn is_corrupt(&self) -> bool {
        self.end.shared().is_corrupt()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Receiver { .. }")
    }
}
