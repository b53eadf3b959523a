//! A channel of messages that are bytes, of any length up to a largest one.

use std::fmt;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tamtam_channel::{
    RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
};
use tamtam_wait::Wait;

use super::error::{LoanError, SendBatchError};
use super::loan::{Bytes, LENGTH, Loan, Taken};
use super::shared::{Batch, ReceivingEnd, SendingEnd, Shared, after, ends};
use crate::arena::{Arena, ArenaPlace};
use crate::error::{AttachError, CreateError};
use crate::header::Shape;
use crate::ring::{Nothing, Position, Refusal};

/// What lies in the memory of such a channel: messages of any length, which the memory itself says the largest of.
fn shape(name: &str) -> Shape {
    Shape {
        size: 1,
        align: 1,
        capacity: 0,
        name: name.to_owned(),
    }
}

/// How messages that are nothing but bytes are called in an error.
const MESSAGES: &str = "bytes";

/// A new channel of bytes that mean what this name says.
pub(crate) fn named(
    arena: Option<&Arena>,
    name: &str,
    capacity: usize,
    largest: usize,
) -> Result<(BytesSender, BytesReceiver), CreateError> {
    let shared = Shared::create(arena, shape(name), capacity, LENGTH, largest)?;
    let (sender, receiver) = ends(shared);
    Ok((BytesSender { end: sender }, BytesReceiver { end: receiver }))
}

fn attach(name: &str, memory: OwnedFd) -> Result<Arc<Shared>, AttachError> {
    Shared::attach(memory, shape(name), LENGTH)
}

fn attach_at(name: &str, arena: &Arena, place: ArenaPlace) -> Result<Arc<Shared>, AttachError> {
    Shared::attach_at(arena, place, shape(name), LENGTH)
}

impl Arena {
    /// Makes a [`bytes_channel`] in the arena: with room for so many messages (one at least), each of up to `largest` bytes.
    ///
    /// # Errors
    ///
    /// [`CreateError::ArenaFull`] if there is no room for it, and [`CreateError::NotTheMaker`] if another process has made the arena.
    pub fn bytes_channel(
        &self,
        capacity: usize,
        largest: usize,
    ) -> Result<(BytesSender, BytesReceiver), CreateError> {
        named(Some(self), MESSAGES, capacity, largest)
    }

    /// One more sender of the channel at a place, which another process has [said](BytesSender::place).
    ///
    /// # Errors
    ///
    /// [`AttachError`] if there is no such channel, or none any more.
    pub fn bytes_sender(&self, place: ArenaPlace) -> Result<BytesSender, AttachError> {
        BytesSender::attach_named_at(MESSAGES, self, place)
    }

    /// The receiver of the channel at a place, which another process has [said](BytesReceiver::place) and given up.
    ///
    /// # Errors
    ///
    /// [`AttachError::HasReceiver`] if another process receives, and others if there is no such channel, or none any more.
    pub fn bytes_receiver(&self, place: ArenaPlace) -> Result<BytesReceiver, AttachError> {
        BytesReceiver::attach_named_at(MESSAGES, self, place)
    }
}

/// Makes a channel of messages that are bytes, in new shared memory: with room for so many messages (one at least), each of up to
/// `largest` bytes. Each takes as much memory as the largest, from the beginning.
///
/// Otherwise it is as a [`channel`](crate::channel()) of values: ends in several processes, full, empty, and at a death.
///
/// # Ordering
///
/// Messages come in the order in which loans and sends began, over all senders.
///
/// # Errors
///
/// [`CreateError`] if there is no such memory.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::bytes_channel;
///
/// let (sender, receiver) = bytes_channel(16, 64 << 10)?;
/// sender.send(b"a copy")?;
/// let mut loan = sender.loan(7)?;
/// loan.copy_from(b"a place");
/// loan.commit()?;
/// let mut bytes = Vec::new();
/// assert_eq!(receiver.recv_bytes(&mut bytes)?, 6);
/// assert_eq!(receiver.recv_with(|bytes| bytes.len())?, 7);
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub fn bytes_channel(
    capacity: usize,
    largest: usize,
) -> Result<(BytesSender, BytesReceiver), CreateError> {
    named(None, MESSAGES, capacity, largest)
}

/// The sending end of a [`bytes_channel`] between processes.
///
/// # Ordering
///
/// Messages come in the order in which loans and sends began, over all senders.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{BytesSender, bytes_channel};
///
/// let (sender, receiver) = bytes_channel(16, 64 << 10)?;
/// // The descriptor goes to another process; here it stays in this one.
/// let other = BytesSender::attach(sender.memory().try_clone_to_owned()?)?;
/// other.send(b"news")?;
/// assert_eq!(receiver.recv_with(|bytes| bytes.len())?, 4);
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone)]
pub struct BytesSender {
    pub(crate) end: SendingEnd,
}

impl BytesSender {
    /// A sender for the channel in the memory that another process has made.
    ///
    /// # Errors
    ///
    /// [`AttachError`] if that is no such channel, or nothing can be done with it.
    pub fn attach(memory: OwnedFd) -> Result<Self, AttachError> {
        BytesSender::attach_named(MESSAGES, memory)
    }

    pub(crate) fn attach_named(name: &str, memory: OwnedFd) -> Result<Self, AttachError> {
        let end = SendingEnd::attach(attach(name, memory)?);
        Ok(BytesSender { end })
    }

    pub(crate) fn attach_named_at(
        name: &str,
        arena: &Arena,
        place: ArenaPlace,
    ) -> Result<Self, AttachError> {
        let end = SendingEnd::attach(attach_at(name, arena, place)?);
        Ok(BytesSender { end })
    }

    pub(crate) fn attach_at(arena: &Arena, place: ArenaPlace) -> Result<Self, AttachError> {
        BytesSender::attach_named_at(MESSAGES, arena, place)
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

    /// A loan, of a slot that is claimed when the length is allowed.
    #[inline]
    fn loan_by<Refused>(
        &self,
        len: usize,
        claim: impl FnOnce() -> Result<Position, Refusal>,
        refused: impl FnOnce(Refusal) -> Refused,
    ) -> Result<Loan<'_>, LoanError<Refused>> {
        let largest = self.largest();
        if len > largest {
            return Err(LoanError::TooLarge {
                bytes: len,
                largest,
            });
        }
        let position = claim().map_err(|refusal| LoanError::Refused(refused(refusal)))?;
        Ok(Loan::new(&self.end, position, len))
    }

    /// Loans a place for a message of so many bytes, if there is room; never waits.
    ///
    /// # Errors
    ///
    /// [`LoanError::TooLarge`], [`TrySendError::Full`], or [`TrySendError::Disconnected`] if no process receives.
    pub fn try_loan(&self, len: usize) -> Result<Loan<'_>, LoanError<TrySendError<()>>> {
        let refused = |refusal| match refusal {
            Refusal::Full => TrySendError::Full(()),
            Refusal::Closed | Refusal::Corrupt => TrySendError::Disconnected(()),
        };
        self.loan_by(len, || self.end.try_claim(), refused)
    }

    /// Loans a place for a message of so many bytes, after waiting for room if there is none.
    ///
    /// # Blocking
    ///
    /// While the channel is full.
    ///
    /// # Errors
    ///
    /// [`LoanError::TooLarge`], or [`SendError`] if no process receives, also if its process dies while this waits; or if another process has
    /// written nonsense into the memory ([`is_corrupt`](BytesSender::is_corrupt)).
    #[inline]
    pub fn loan(&self, len: usize) -> Result<Loan<'_>, LoanError<SendError<()>>> {
        self.loan_by(len, || self.end.claim(None), |_| SendError(()))
    }

    /// As [`loan`](BytesSender::loan), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`LoanError::TooLarge`], [`SendTimeoutError::Timeout`] or [`SendTimeoutError::Disconnected`].
    pub fn loan_timeout(
        &self,
        len: usize,
        timeout: Duration,
    ) -> Result<Loan<'_>, LoanError<SendTimeoutError<()>>> {
        self.loan_until(len, after(timeout))
    }

    /// As [`loan`](BytesSender::loan), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// [`LoanError::TooLarge`], [`SendTimeoutError::Timeout`] or [`SendTimeoutError::Disconnected`].
    pub fn loan_deadline(
        &self,
        len: usize,
        deadline: Instant,
    ) -> Result<Loan<'_>, LoanError<SendTimeoutError<()>>> {
        self.loan_until(len, Some(deadline))
    }

    fn loan_until(
        &self,
        len: usize,
        deadline: Option<Instant>,
    ) -> Result<Loan<'_>, LoanError<SendTimeoutError<()>>> {
        let refused = |refusal| match refusal {
            Refusal::Full => SendTimeoutError::Timeout(()),
            Refusal::Closed | Refusal::Corrupt => SendTimeoutError::Disconnected(()),
        };
        self.loan_by(len, || self.end.claim(deadline), refused)
    }

    /// Sends a copy of these bytes if there is room; never waits.
    ///
    /// # Errors
    ///
    /// [`LoanError::TooLarge`], [`TrySendError::Full`], or [`TrySendError::Disconnected`] if no process receives.
    pub fn try_send(&self, bytes: &[u8]) -> Result<(), LoanError<TrySendError<()>>> {
        let mut loan = self.try_loan(bytes.len())?;
        loan.copy_from(bytes);
        loan.commit()
            .map_err(|_| LoanError::Refused(TrySendError::Disconnected(())))
    }

    /// Sends a copy of these bytes, after waiting for room if there is none.
    ///
    /// # Blocking
    ///
    /// While the channel is full.
    ///
    /// # Errors
    ///
    /// As [`loan`](BytesSender::loan).
    #[inline]
    pub fn send(&self, bytes: &[u8]) -> Result<(), LoanError<SendError<()>>> {
        let mut loan = self.loan(bytes.len())?;
        loan.copy_from(bytes);
        loan.commit().map_err(LoanError::Refused)
    }

    /// As [`send`](BytesSender::send), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// As [`loan_timeout`](BytesSender::loan_timeout).
    pub fn send_timeout(
        &self,
        bytes: &[u8],
        timeout: Duration,
    ) -> Result<(), LoanError<SendTimeoutError<()>>> {
        self.send_until(bytes, after(timeout))
    }

    /// As [`send`](BytesSender::send), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// As [`loan_deadline`](BytesSender::loan_deadline).
    pub fn send_deadline(
        &self,
        bytes: &[u8],
        deadline: Instant,
    ) -> Result<(), LoanError<SendTimeoutError<()>>> {
        self.send_until(bytes, Some(deadline))
    }

    fn send_until(
        &self,
        bytes: &[u8],
        deadline: Option<Instant>,
    ) -> Result<(), LoanError<SendTimeoutError<()>>> {
        let mut loan = self.loan_until(bytes.len(), deadline)?;
        loan.copy_from(bytes);
        loan.commit()
            .map_err(|_| LoanError::Refused(SendTimeoutError::Disconnected(())))
    }

    /// Sends copies of many messages, after waiting for room whenever there is none. How many.
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
    /// [`SendBatchError`] if a message is too large, or if no process receives, also if its process dies meanwhile: says how many messages were sent, and
    /// holds the one that was taken out of the iterator and not sent. The others are still in the iterator.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(target_os = "linux")] {
    /// let (sender, receiver) = tamtam_ipc::bytes_channel(16, 100)?;
    /// assert_eq!(sender.send_many(["some", "texts"])?, 2);
    /// let mut messages = Vec::new();
    /// assert_eq!(receiver.recv_many_bytes(&mut messages, 10)?, 2);
    /// assert_eq!(messages, [b"some".to_vec(), b"texts".to_vec()]);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    pub fn send_many<M: AsRef<[u8]>>(
        &self,
        messages: impl IntoIterator<Item = M>,
    ) -> Result<usize, SendBatchError<M, LoanError<SendError<()>>>> {
        let mut batch = self.batch();
        let mut sent = 0;
        for message in messages {
            if let Err(error) = batch.send(message.as_ref()) {
                return Err(SendBatchError::new(sent, message, error));
            }
            sent += 1;
        }
        Ok(sent)
    }

    /// As [`send_many`](BytesSender::send_many), but loans a place for each message, of as many bytes as `len` says, which `write` writes and may make
    /// shorter: no copy is needed.
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
    /// If the iterator, `len` or `write` does; the messages before are sent.
    ///
    /// # Errors
    ///
    /// As [`send_many`](BytesSender::send_many).
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(target_os = "linux")] {
    /// let (sender, receiver) = tamtam_ipc::bytes_channel(16, 1000)?;
    /// sender.send_many_with([10, 1000], |count| *count, |count, loan| {
    ///     for offset in 0..*count {
    ///         loan.write_at(offset, &[7]);
    ///     }
    /// })?;
    /// let mut sum = 0;
    /// assert_eq!(receiver.recv_many_with(10, |bytes| sum += bytes.len())?, 2);
    /// assert_eq!(sum, 1010);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    pub fn send_many_with<M>(
        &self,
        messages: impl IntoIterator<Item = M>,
        mut len: impl FnMut(&M) -> usize,
        mut write: impl FnMut(&M, &mut Loan<'_>),
    ) -> Result<usize, SendBatchError<M, LoanError<SendError<()>>>> {
        let mut batch = self.batch();
        let mut sent = 0;
        for message in messages {
            let len = len(&message);
            if let Err(error) = batch.send_with(len, |loan| write(&message, loan)) {
                return Err(SendBatchError::new(sent, message, error));
            }
            sent += 1;
        }
        Ok(sent)
    }

    /// Begins to send many, of which the receiver is told together.
    pub(super) fn batch(&self) -> BytesBatch<'_> {
        BytesBatch {
            sender: self,
            batch: self.end.batch(),
        }
    }

    /// How many bytes a message can have.
    #[must_use]
    pub fn largest(&self) -> usize {
        self.end.shared().largest()
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

/// Many messages of bytes, one after another.
pub(super) struct BytesBatch<'a> {
    sender: &'a BytesSender,
    batch: Batch<'a>,
}

impl BytesBatch<'_> {
    /// Sends the next one, of so many bytes at most, after waiting for room if there is none.
    fn send_with(
        &mut self,
        len: usize,
        write: impl FnOnce(&mut Loan<'_>),
    ) -> Result<(), LoanError<SendError<()>>> {
        let claim = || self.batch.claim();
        let mut loan = self.sender.loan_by(len, claim, |_| SendError(()))?;
        write(&mut loan);
        loan.commit_one_of_several().map_err(LoanError::Refused)?;
        self.batch.sent(1);
        Ok(())
    }

    /// Sends a copy of these bytes as the next one.
    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<(), LoanError<SendError<()>>> {
        self.send_with(bytes.len(), |loan| loan.copy_from(bytes))
    }
}

impl fmt::Debug for BytesSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("BytesSender { .. }")
    }
}

/// The receiving end of a [`bytes_channel`] between processes. There is one.
///
/// # Ordering
///
/// Messages come in the order in which loans and sends began, over all senders.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use std::time::Duration;
/// use tamtam_channel::RecvTimeoutError;
/// use tamtam_ipc::bytes_channel;
///
/// let (sender, receiver) = bytes_channel(16, 64 << 10)?;
/// let mut bytes = Vec::new();
/// let soon = Duration::from_millis(1);
/// assert_eq!(receiver.recv_timeout_bytes(&mut bytes, soon), Err(RecvTimeoutError::Timeout));
/// sender.send(b"news")?;
/// assert_eq!(receiver.recv_bytes(&mut bytes)?, 4);
/// drop(sender);
/// assert_eq!(receiver.recv_timeout_bytes(&mut bytes, soon), Err(RecvTimeoutError::Disconnected));
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct BytesReceiver {
    pub(crate) end: ReceivingEnd,
}

impl BytesReceiver {
    /// The receiver of the channel in the memory that another process has made: after that was [handed over](BytesReceiver::hand_over), given up, or
    /// its process has died. It goes on where the other has stopped; a message that the other was just receiving when it died comes once more.
    ///
    /// # Errors
    ///
    /// [`AttachError::HasReceiver`] if another process receives, and others if that is no such channel or nothing can be done with it.
    pub fn attach(memory: OwnedFd) -> Result<Self, AttachError> {
        BytesReceiver::attach_named(MESSAGES, memory)
    }

    pub(crate) fn attach_named(name: &str, memory: OwnedFd) -> Result<Self, AttachError> {
        let end = ReceivingEnd::attach(attach(name, memory)?)?;
        Ok(BytesReceiver { end })
    }

    pub(crate) fn attach_named_at(
        name: &str,
        arena: &Arena,
        place: ArenaPlace,
    ) -> Result<Self, AttachError> {
        let end = ReceivingEnd::attach(attach_at(name, arena, place)?)?;
        Ok(BytesReceiver { end })
    }

    pub(crate) fn attach_at(arena: &Arena, place: ArenaPlace) -> Result<Self, AttachError> {
        BytesReceiver::attach_named_at(MESSAGES, arena, place)
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
    fn use_taken<R>(
        &self,
        taken: Result<Position, Nothing>,
        use_bytes: impl FnOnce(Bytes<'_>) -> R,
    ) -> Result<R, Nothing> {
        let taken = Taken::<false>::new(&self.end, taken?);
        let bytes = taken.bytes().ok_or(Nothing::Corrupt)?;
        Ok(use_bytes(bytes))
    }

    /// Receives a message if one is there, and shows it in its place; never waits.
    ///
    /// # Errors
    ///
    /// [`TryRecvError::Empty`], or [`TryRecvError::Disconnected`] if moreover no process has a sender.
    pub fn try_recv_with<R>(
        &self,
        use_bytes: impl FnOnce(Bytes<'_>) -> R,
    ) -> Result<R, TryRecvError> {
        self.use_taken(self.end.try_take(), use_bytes)
            .map_err(TryRecvError::from)
    }

    /// Receives a message, after waiting for one, and shows it in its place, which is free for the next one when `use_bytes` comes back, or panics.
    ///
    /// # Blocking
    ///
    /// While the channel is empty. `use_bytes` may receive further messages, but the slots of those in use are not free: one that waits in there while
    /// all of them are in use waits for itself, without end.
    ///
    /// # Errors
    ///
    /// [`RecvError`] if the channel is empty and no process has a sender, also if the last one dies while this waits; or if another process
    /// has written nonsense into the memory ([`is_corrupt`](BytesReceiver::is_corrupt)).
    #[inline]
    pub fn recv_with<R>(&self, use_bytes: impl FnOnce(Bytes<'_>) -> R) -> Result<R, RecvError> {
        self.use_taken(self.end.take(None), use_bytes)
            .map_err(|_| RecvError)
    }

    /// As [`recv_with`](BytesReceiver::recv_with), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError::Timeout`] or [`RecvTimeoutError::Disconnected`].
    pub fn recv_timeout_with<R>(
        &self,
        timeout: Duration,
        use_bytes: impl FnOnce(Bytes<'_>) -> R,
    ) -> Result<R, RecvTimeoutError> {
        self.recv_until_with(after(timeout), use_bytes)
    }

    /// As [`recv_with`](BytesReceiver::recv_with), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError::Timeout`] or [`RecvTimeoutError::Disconnected`].
    pub fn recv_deadline_with<R>(
        &self,
        deadline: Instant,
        use_bytes: impl FnOnce(Bytes<'_>) -> R,
    ) -> Result<R, RecvTimeoutError> {
        self.recv_until_with(Some(deadline), use_bytes)
    }

    pub(crate) fn recv_until_with<R>(
        &self,
        deadline: Option<Instant>,
        use_bytes: impl FnOnce(Bytes<'_>) -> R,
    ) -> Result<R, RecvTimeoutError> {
        self.use_taken(self.end.take(deadline), use_bytes)
            .map_err(RecvTimeoutError::from)
    }

    /// Receives a message if one is there, in place of what the buffer holds; never waits. How many bytes.
    ///
    /// # Errors
    ///
    /// [`TryRecvError::Empty`], or [`TryRecvError::Disconnected`] if moreover no process has a sender.
    pub fn try_recv_bytes(&self, buffer: &mut Vec<u8>) -> Result<usize, TryRecvError> {
        self.try_recv_with(|bytes| bytes.copy_to_vec(buffer))?;
        Ok(buffer.len())
    }

    /// Receives a message, after waiting for one, in place of what the buffer holds. How many bytes.
    ///
    /// # Blocking
    ///
    /// While the channel is empty.
    ///
    /// # Errors
    ///
    /// As [`recv_with`](BytesReceiver::recv_with).
    #[inline]
    pub fn recv_bytes(&self, buffer: &mut Vec<u8>) -> Result<usize, RecvError> {
        self.recv_with(|bytes| bytes.copy_to_vec(buffer))?;
        Ok(buffer.len())
    }

    /// As [`recv_bytes`](BytesReceiver::recv_bytes), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError::Timeout`] or [`RecvTimeoutError::Disconnected`].
    pub fn recv_timeout_bytes(
        &self,
        buffer: &mut Vec<u8>,
        timeout: Duration,
    ) -> Result<usize, RecvTimeoutError> {
        self.recv_timeout_with(timeout, |bytes| bytes.copy_to_vec(buffer))?;
        Ok(buffer.len())
    }

    /// As [`recv_bytes`](BytesReceiver::recv_bytes), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError::Timeout`] or [`RecvTimeoutError::Disconnected`].
    pub fn recv_deadline_bytes(
        &self,
        buffer: &mut Vec<u8>,
        deadline: Instant,
    ) -> Result<usize, RecvTimeoutError> {
        self.recv_deadline_with(deadline, |bytes| bytes.copy_to_vec(buffer))?;
        Ok(buffer.len())
    }

    /// Receives what is there, up to `limit` messages, from the taken one on; `use_bytes` may say that one is none, and ends this.
    pub(super) fn use_many_taken(
        &self,
        taken: Result<Position, Nothing>,
        limit: usize,
        mut use_bytes: impl FnMut(Bytes<'_>) -> bool,
    ) -> Result<usize, Nothing> {
        let count = self.end.receive_several(taken?, limit, |position, _| {
            let taken = Taken::<true>::new(&self.end, position);
            taken.bytes().is_some_and(&mut use_bytes)
        });
        if count == 0 && self.is_corrupt() {
            return Err(Nothing::Corrupt);
        }
        Ok(count)
    }

    /// The same where each is a message.
    fn use_each_taken(
        &self,
        taken: Result<Position, Nothing>,
        limit: usize,
        mut use_bytes: impl FnMut(Bytes<'_>),
    ) -> Result<usize, Nothing> {
        self.use_many_taken(taken, limit, |bytes| {
            use_bytes(bytes);
            true
        })
    }

    /// Receives what is there, up to `limit` messages, after waiting for one, and shows each in its place. How many. Senders that wait for room are told
    /// once, when `use_bytes` has come back for the last time, or panics.
    ///
    /// # Blocking
    ///
    /// While the channel is empty, unless the limit is zero.
    ///
    /// # Errors
    ///
    /// As [`recv_with`](BytesReceiver::recv_with).
    pub fn recv_many_with(
        &self,
        limit: usize,
        use_bytes: impl FnMut(Bytes<'_>),
    ) -> Result<usize, RecvError> {
        if limit == 0 {
            return Ok(0);
        }
        self.use_each_taken(self.end.take(None), limit, use_bytes)
            .map_err(|_| RecvError)
    }

    /// As [`recv_many_with`](BytesReceiver::recv_many_with), but never waits.
    ///
    /// # Errors
    ///
    /// [`TryRecvError::Empty`] or [`TryRecvError::Disconnected`].
    pub fn try_recv_many_with(
        &self,
        limit: usize,
        use_bytes: impl FnMut(Bytes<'_>),
    ) -> Result<usize, TryRecvError> {
        if limit == 0 {
            return Ok(0);
        }
        self.use_each_taken(self.end.try_take(), limit, use_bytes)
            .map_err(TryRecvError::from)
    }

    /// Receives what is there, up to `limit` messages, after waiting for one; appends each to `buffer`. How many.
    ///
    /// # Blocking
    ///
    /// While the channel is empty, unless the limit is zero.
    ///
    /// # Errors
    ///
    /// As [`recv_with`](BytesReceiver::recv_with).
    pub fn recv_many_bytes(
        &self,
        buffer: &mut Vec<Vec<u8>>,
        limit: usize,
    ) -> Result<usize, RecvError> {
        self.recv_many_with(limit, |bytes| buffer.push(bytes.to_vec()))
    }

    /// As [`recv_many_bytes`](BytesReceiver::recv_many_bytes), but never waits.
    ///
    /// # Errors
    ///
    /// [`TryRecvError::Empty`] or [`TryRecvError::Disconnected`].
    pub fn try_recv_many_bytes(
        &self,
        buffer: &mut Vec<Vec<u8>>,
        limit: usize,
    ) -> Result<usize, TryRecvError> {
        self.try_recv_many_with(limit, |bytes| buffer.push(bytes.to_vec()))
    }

    /// How many bytes a message can have.
    #[must_use]
    pub fn largest(&self) -> usize {
        self.end.shared().largest()
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

impl fmt::Debug for BytesReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("BytesReceiver { .. }")
    }
}
