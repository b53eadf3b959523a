//! A channel of values that are plain bytes.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tamtam_channel::{
    RecvError, RecvTimeoutError, SendError, SendManyError, SendTimeoutError, TryRecvError,
    TrySendError,
};
use tamtam_wait::Wait;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::shared::{ReceivingEnd, SendingEnd, Shared, after, ends};
use crate::copy;
use crate::error::{AttachError, CreateError};
use crate::header::Shape;
use crate::ring::{Nothing, Position, Refusal};

/// After so many messages of a batch the receiver is told of them.
const MESSAGES_PER_RING: usize = 32;

/// Types that are plain bytes: any bytes are a value, each value is bytes without gaps, and neither holds a pointer. All types are that have the
/// traits below, by the derives of [zerocopy](https://docs.rs/zerocopy).
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};
///
/// #[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Debug, PartialEq)]
/// #[repr(C)]
/// struct Step {
///     position: [f32; 2],
///     id: u64,
/// }
///
/// let (sender, receiver) = tamtam_ipc::channel(16)?;
/// sender.send(Step { position: [1.0, 2.0], id: 7 })?;
/// assert_eq!(receiver.recv()?, Step { position: [1.0, 2.0], id: 7 });
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub trait Plain: FromBytes + IntoBytes + Immutable + KnownLayout + Send + 'static {}

impl<T: FromBytes + IntoBytes + Immutable + KnownLayout + Send + 'static> Plain for T {}

/// Makes a channel in new shared memory, with room for so many messages (one at least). Senders may be in several processes, the
/// receiver is in one.
///
/// Another process attaches with the descriptor that [`Sender::memory`] gives, by [`Sender::attach`], or takes the receiver over from
/// [`Receiver::hand_over`]. The descriptor goes over a Unix socket, or is inherited.
///
/// Full, it makes senders wait. Empty, it makes the receiver wait. When no process has a sender, the receiver ends behind what was sent; when
/// none has the receiver, sends give their messages back.
///
/// A process that dies, in whatever way, takes with it what it had not sent, and nothing else.
///
/// # Ordering
///
/// Messages come in the order in which sends began, over all senders.
///
/// # Errors
///
/// [`CreateError`] if there is no such memory.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{Sender, channel};
///
/// let (sender, receiver) = channel::<u64>(100)?;
/// // The descriptor goes to another process; here it stays in this one.
/// let other = Sender::<u64>::attach(sender.memory().try_clone_to_owned()?)?;
/// sender.send(1)?;
/// other.send(2)?;
/// drop((sender, other));
/// assert_eq!(receiver.iter().collect::<Vec<_>>(), [1, 2]);
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub fn channel<T: Plain>(capacity: usize) -> Result<(Sender<T>, Receiver<T>), CreateError> {
    let shared = Shared::create(Shape::of::<T>(0), capacity, 0, size_of::<T>())?;
    let (sender, receiver) = ends(shared);
    Ok((Sender::new(sender), Receiver::new(receiver)))
}

/// The memory of another process, which is to be a channel of these.
fn attach<T: Plain>(memory: OwnedFd) -> Result<Arc<Shared>, AttachError> {
    let shared = Shared::attach(memory, Shape::of::<T>(0), 0)?;
    // The maker may have lied about the one, or about the other.
    if shared.largest() != size_of::<T>() {
        return Err(AttachError::NotOurs);
    }
    Ok(shared)
}

/// The sending end of a [`channel`](channel()) between processes.
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
    end: SendingEnd,
    messages: PhantomData<fn(T)>,
}

/// Wakes the receiver for what of a batch it was not woken for yet, also if the batch's iterator panics.
struct Told<'a> {
    end: &'a SendingEnd,
    untold: usize,
}

impl Told<'_> {
    fn sent(&mut self) {
        self.untold += 1;
        if self.untold == MESSAGES_PER_RING {
            self.tell();
        }
    }

    fn tell(&mut self) {
        if std::mem::take(&mut self.untold) > 0 {
            self.end.ring();
        }
    }
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        self.tell();
    }
}

impl<T: Plain> Sender<T> {
    fn new(end: SendingEnd) -> Self {
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
        let mut told = Told {
            end: &self.end,
            untold: 0,
        };
        let mut sent = 0;
        for message in messages {
            let mut claim = self.end.try_claim();
            if claim == Err(Refusal::Full) {
                told.tell();
                claim = self.end.claim(None);
            }
            let unsent = match claim {
                Ok(position) => self.write(position, message).err(),
                Err(_) => Some(message),
            };
            if let Some(unsent) = unsent {
                let unsent = vec![unsent];
                return Err(SendManyError { sent, unsent });
            }
            told.sent();
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

/// The receiving end of a [`channel`](channel()) between processes. There is one.
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
    end: ReceivingEnd,
    messages: PhantomData<fn() -> T>,
}

impl<T: Plain> Receiver<T> {
    fn new(end: ReceivingEnd) -> Self {
        Receiver {
            end,
            messages: PhantomData,
        }
    }

    /// The receiver of the channel in the memory that another process has made: after that was [handed over](Receiver::hand_over), given
    /// up, or its process has died. It goes on where the other has stopped; a message that the other was just receiving when it died comes
    /// once more.
    ///
    /// # Errors
    ///
    /// [`AttachError::HasReceiver`] if another process receives, and others if that is no such channel or nothing can be done with it.
    pub fn attach(memory: OwnedFd) -> Result<Self, AttachError> {
        Ok(Receiver::new(ReceivingEnd::attach(attach::<T>(memory)?)?))
    }

    /// The memory, for another process.
    #[must_use]
    pub fn memory(&self) -> BorrowedFd<'_> {
        self.end.shared().memory()
    }

    /// Gives this end up for another process, which attaches to the memory. Until then sends do not fail: they wait when there is no room.
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
    /// [`TryRecvError::Empty`], or [`TryRecvError::Disconnected`] if moreover no process has a sender.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match self.end.try_take() {
            Ok(position) => Ok(self.finish(position)),
            Err(Nothing::Empty) => Err(TryRecvError::Empty),
            Err(_) => Err(TryRecvError::Disconnected),
        }
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
        match self.end.take(deadline) {
            Ok(position) => Ok(self.finish(position)),
            Err(Nothing::Empty) => Err(RecvTimeoutError::Timeout),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        }
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
        match self.end.try_take() {
            Ok(first) => Ok(self.finish_many(first, buffer, limit)),
            Err(Nothing::Empty) => Err(TryRecvError::Empty),
            Err(_) => Err(TryRecvError::Disconnected),
        }
    }

    fn finish_many(&self, first: Position, buffer: &mut Vec<T>, limit: usize) -> usize {
        let mut position = first;
        let mut count = 0;
        loop {
            buffer.push(self.read(position));
            self.end.free_one_of_several(position);
            count += 1;
            // A sender that is as quick would otherwise keep a batch of any limit going, and others waiting.
            if count == limit.min(self.capacity()) {
                break;
            }
            match self.end.take_there() {
                Ok(next) => position = next,
                Err(_) => break,
            }
        }
        self.end.freed_several();
        count
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
