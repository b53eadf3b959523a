//! A channel of messages that serde encodes, with postcard.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::mem;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use postcard::ser_flavors::{ExtendFlavor, Flavor};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tamtam_channel::{
    RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
};
use tamtam_wait::Wait;
use tamtam_wait::nesting;

use super::bytes::{BytesReceiver, BytesSender, named};
use super::error::{EncodedRecvError, EncodedSendError, LoanError, SendBatchError};
use super::shared::after;
use crate::arena::Arena;
use crate::arena::ArenaPlace;
use crate::error::{AttachError, CreateError};
use crate::header::Shape;
use crate::ring::{Nothing, Position};

/// What the memory says that it holds.
fn name<T>() -> String {
    let Shape { name, .. } = Shape::of::<T>(0);
    format!("encoded {name}")
}

/// Makes a channel of messages that serde encodes, in new shared memory: with room for so many messages (one at least), each of up to `largest`
/// bytes when it is encoded (by [postcard](https://docs.rs/postcard), which writes no names). Each takes as much memory as the largest, from the
/// beginning. A message nested deeper than 128 levels is not sent, and not received from a program that sends it all the same.
///
/// Otherwise it is as a [`channel`](crate::channel()) of values: ends in several processes, full, empty, and at a death. Programs on both sides
/// have the same version of the type.
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
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, Debug, PartialEq)]
/// enum Order {
///     Draw { layers: Vec<String> },
///     Stop,
/// }
///
/// let (sender, receiver) = tamtam_ipc::encoded_channel(16, 4096)?;
/// sender.send(Order::Draw { layers: vec!["sky".to_owned()] })?;
/// sender.send(Order::Stop)?;
/// assert_eq!(receiver.recv()?, Order::Draw { layers: vec!["sky".to_owned()] });
/// assert_eq!(receiver.recv()?, Order::Stop);
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub fn encoded_channel<T: Serialize + DeserializeOwned>(
    capacity: usize,
    largest: usize,
) -> Result<(EncodedSender<T>, EncodedReceiver<T>), CreateError> {
    let (sender, receiver) = named(None, &name::<T>(), capacity, largest)?;
    Ok((EncodedSender::new(sender), EncodedReceiver::new(receiver)))
}

impl Arena {
    /// Makes an [`encoded_channel`] in the arena: with room for so many messages (one at least), each of up to `largest` bytes when it is encoded.
    ///
    /// # Errors
    ///
    /// [`CreateError::ArenaFull`] if there is no room for it, and [`CreateError::NotTheMaker`] if another process has made the arena.
    pub fn encoded_channel<T: Serialize + DeserializeOwned>(
        &self,
        capacity: usize,
        largest: usize,
    ) -> Result<(EncodedSender<T>, EncodedReceiver<T>), CreateError> {
        let (sender, receiver) = named(Some(self), &name::<T>(), capacity, largest)?;
        Ok((EncodedSender::new(sender), EncodedReceiver::new(receiver)))
    }
}

/// The sending end of an [`encoded_channel`] between processes.
///
/// # Ordering
///
/// Messages come in the order in which sends began, over all senders.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::encoded_channel;
///
/// let (sender, receiver) = encoded_channel::<Vec<String>>(16, 4096)?;
/// sender.send(vec!["any".to_owned(), "type".to_owned()])?;
/// assert_eq!(receiver.recv()?.len(), 2);
/// drop(receiver);
/// let error = sender.send(vec!["late".to_owned()]).unwrap_err();
/// assert_eq!(error.into_inner(), ["late"]); // it comes back
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct EncodedSender<T> {
    pub(crate) bytes: BytesSender,
    messages: PhantomData<fn(T)>,
}

impl<T: Serialize> EncodedSender<T> {
    fn new(bytes: BytesSender) -> Self {
        EncodedSender {
            bytes,
            messages: PhantomData,
        }
    }

    /// A sender for the channel in the memory that another process has made.
    ///
    /// # Errors
    ///
    /// [`AttachError`] if that is no such channel, or nothing can be done with it.
    pub fn attach(memory: OwnedFd) -> Result<Self, AttachError> {
        let bytes = BytesSender::attach_named(&name::<T>(), memory)?;
        Ok(EncodedSender::new(bytes))
    }

    pub(crate) fn attach_at(arena: &Arena, place: ArenaPlace) -> Result<Self, AttachError> {
        let bytes = BytesSender::attach_named_at(&name::<T>(), arena, place)?;
        Ok(EncodedSender::new(bytes))
    }

    /// The memory, for another process.
    #[must_use]
    pub fn memory(&self) -> BorrowedFd<'_> {
        self.bytes.memory()
    }

    /// The same end, waiting in another way while the channel is full. Clones inherit it.
    #[must_use]
    pub fn with_wait(mut self, wait: Wait) -> Self {
        self.bytes = self.bytes.with_wait(wait);
        self
    }

    /// Encodes the message and sends the bytes; the message goes into the error.
    fn send_by<Empty, Refused>(
        &self,
        message: T,
        send: impl FnOnce(&[u8]) -> Result<(), LoanError<Empty>>,
        refused: impl FnOnce(Empty, T) -> Refused,
    ) -> Result<(), EncodedSendError<T, Refused>> {
        let bytes = match encode(&message, Vec::new()) {
            Ok(bytes) => bytes,
            Err(reason) => {
                return Err(EncodedSendError::NotEncodable { message, reason });
            }
        };
        send(&bytes).map_err(|error| match error {
            LoanError::TooLarge { bytes, largest } => EncodedSendError::TooLarge {
                message,
                bytes,
                largest,
            },
            LoanError::Refused(empty) => EncodedSendError::Refused(refused(empty, message)),
        })
    }

    /// Sends a message if there is room; never waits.
    ///
    /// # Errors
    ///
    /// With the message: [`TrySendError::Full`], [`TrySendError::Disconnected`] if no process receives, and what is wrong with the message.
    pub fn try_send(&self, message: T) -> Result<(), EncodedSendError<T, TrySendError<T>>> {
        let refused = |empty, message| match empty {
            TrySendError::Full(()) => TrySendError::Full(message),
            TrySendError::Disconnected(()) => TrySendError::Disconnected(message),
        };
        self.send_by(message, |bytes| self.bytes.try_send(bytes), refused)
    }

    /// Sends a message, after waiting for room if there is none.
    ///
    /// # Blocking
    ///
    /// While the channel is full.
    ///
    /// # Errors
    ///
    /// With the message: [`SendError`] if no process receives, also if its process dies while this waits, and what is wrong with the message.
    pub fn send(&self, message: T) -> Result<(), EncodedSendError<T, SendError<T>>> {
        let refused = |SendError(()), message| SendError(message);
        self.send_by(message, |bytes| self.bytes.send(bytes), refused)
    }

    /// As [`send`](EncodedSender::send), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// With the message: [`SendTimeoutError::Timeout`] or [`SendTimeoutError::Disconnected`], and what is wrong with the message.
    pub fn send_timeout(
        &self,
        message: T,
        timeout: Duration,
    ) -> Result<(), EncodedSendError<T, SendTimeoutError<T>>> {
        let send = |bytes: &[u8]| self.bytes.send_timeout(bytes, timeout);
        self.send_by(message, send, timed_out)
    }

    /// As [`send`](EncodedSender::send), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// With the message: [`SendTimeoutError::Timeout`] or [`SendTimeoutError::Disconnected`], and what is wrong with the message.
    pub fn send_deadline(
        &self,
        message: T,
        deadline: Instant,
    ) -> Result<(), EncodedSendError<T, SendTimeoutError<T>>> {
        let send = |bytes: &[u8]| self.bytes.send_deadline(bytes, deadline);
        self.send_by(message, send, timed_out)
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
    /// If the iterator or a message's `Serialize` does; the messages before are sent.
    ///
    /// # Errors
    ///
    /// [`SendBatchError`] if a message cannot be encoded or is too large, or if no process receives, also if its process dies meanwhile: says how many
    /// messages were sent, and holds the one that was taken out of the iterator and not sent. The others are still in the iterator.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(target_os = "linux")] {
    /// use tamtam_ipc::{EncodedSendError, encoded_channel};
    ///
    /// let (sender, receiver) = encoded_channel::<String>(16, 100)?;
    /// let mut texts = ["some".to_owned(), "long".repeat(100), "texts".to_owned()].into_iter();
    /// let error = sender.send_many(texts.by_ref()).unwrap_err();
    /// assert_eq!((error.sent, error.unsent), (1, "long".repeat(100)));
    /// assert!(matches!(error.error, EncodedSendError::TooLarge { largest: 100, .. }));
    /// assert_eq!(sender.send_many(texts)?, 1);
    ///
    /// let mut received = Vec::new();
    /// assert_eq!(receiver.recv_many(&mut received, 10)?, 2);
    /// assert_eq!(received, ["some", "texts"]);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    pub fn send_many(
        &self,
        messages: impl IntoIterator<Item = T>,
    ) -> Result<usize, SendBatchError<T, EncodedSendError<(), SendError<()>>>> {
        let mut batch = self.bytes.batch();
        let mut encoded = Vec::new();
        let mut sent = 0;
        for message in messages {
            encoded.clear();
            let error = match encode(&message, mem::take(&mut encoded)) {
                Err(reason) => EncodedSendError::NotEncodable {
                    message: (),
                    reason,
                },
                Ok(bytes) => match batch.send(&bytes) {
                    Ok(()) => {
                        encoded = bytes;
                        sent += 1;
                        continue;
                    }
                    Err(LoanError::Refused(refused)) => EncodedSendError::Refused(refused),
                    Err(LoanError::TooLarge { bytes, largest }) => EncodedSendError::TooLarge {
                        message: (),
                        bytes,
                        largest,
                    },
                },
            };
            return Err(SendBatchError::new(sent, message, error));
        }
        Ok(sent)
    }

    /// How many bytes a message can have when it is encoded.
    #[must_use]
    pub fn largest(&self) -> usize {
        self.bytes.largest()
    }

    /// How many messages the channel can hold.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Whether sends fail, since no process receives. Another one may take the receiver's place later.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.bytes.is_closed()
    }

    /// Whether another process has written nonsense into the memory: this end believes nothing that comes from there any more, and sends fail.
    #[must_use]
    pub fn is_corrupt(&self) -> bool {
        self.bytes.is_corrupt()
    }
}

fn timed_out<T>(empty: SendTimeoutError<()>, message: T) -> SendTimeoutError<T> {
    match empty {
        SendTimeoutError::Timeout(()) => SendTimeoutError::Timeout(message),
        SendTimeoutError::Disconnected(()) => SendTimeoutError::Disconnected(message),
    }
}

impl<T> Clone for EncodedSender<T> {
    fn clone(&self) -> Self {
        EncodedSender {
            bytes: self.bytes.clone(),
            messages: PhantomData,
        }
    }
}

impl<T> fmt::Debug for EncodedSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("EncodedSender { .. }")
    }
}

/// The receiving end of an [`encoded_channel`] between processes. There is one.
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
/// use tamtam_ipc::{EncodedRecvError, encoded_channel};
///
/// let (sender, receiver) = encoded_channel::<(u8, String)>(16, 4096)?;
/// assert_eq!(receiver.try_recv(), Err(EncodedRecvError::Refused(TryRecvError::Empty)));
/// sender.send((1, "one".to_owned()))?;
/// assert_eq!(receiver.try_recv()?, (1, "one".to_owned()));
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct EncodedReceiver<T> {
    pub(crate) bytes: BytesReceiver,
    messages: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> EncodedReceiver<T> {
    fn new(bytes: BytesReceiver) -> Self {
        EncodedReceiver {
            bytes,
            messages: PhantomData,
        }
    }

    /// The receiver of the channel in the memory that another process has made: after that was [handed over](EncodedReceiver::hand_over), given
    /// up, or its process has died. It goes on where the other has stopped; a message that the other was just receiving when it died comes once more.
    ///
    /// # Errors
    ///
    /// [`AttachError::HasReceiver`] if another process receives, and others if that is no such channel or nothing can be done with it.
    pub fn attach(memory: OwnedFd) -> Result<Self, AttachError> {
        let bytes = BytesReceiver::attach_named(&name::<T>(), memory)?;
        Ok(EncodedReceiver::new(bytes))
    }

    pub(crate) fn attach_at(arena: &Arena, place: ArenaPlace) -> Result<Self, AttachError> {
        let bytes = BytesReceiver::attach_named_at(&name::<T>(), arena, place)?;
        Ok(EncodedReceiver::new(bytes))
    }

    /// The memory, for another process.
    #[must_use]
    pub fn memory(&self) -> BorrowedFd<'_> {
        self.bytes.memory()
    }

    /// Gives this end up for another process, which attaches to the memory. Until then sends do not fail: they wait when there is no room, for ever if
    /// no process attaches.
    ///
    /// # Errors
    ///
    /// If this process can have no more descriptors.
    pub fn hand_over(self) -> io::Result<OwnedFd> {
        self.bytes.hand_over()
    }

    /// The same end, waiting in another way while the channel is empty.
    #[must_use]
    pub fn with_wait(mut self, wait: Wait) -> Self {
        self.bytes = self.bytes.with_wait(wait);
        self
    }

    /// Receives a message if one is there; never waits.
    ///
    /// # Errors
    ///
    /// [`TryRecvError::Empty`], [`TryRecvError::Disconnected`] if moreover no process has a sender, and
    /// [`NotDecodable`](EncodedRecvError::NotDecodable) if what came is no such message.
    pub fn try_recv(&self) -> Result<T, EncodedRecvError<TryRecvError>> {
        decoded(self.bytes.try_recv_with(|bytes| bytes.to_vec()))
    }

    /// Receives a message, after waiting for one.
    ///
    /// # Blocking
    ///
    /// While the channel is empty.
    ///
    /// # Errors
    ///
    /// [`RecvError`] if the channel is empty and no process has a sender, also if the last one dies while this waits, and
    /// [`NotDecodable`](EncodedRecvError::NotDecodable) if what came is no such message.
    pub fn recv(&self) -> Result<T, EncodedRecvError<RecvError>> {
        decoded(self.bytes.recv_with(|bytes| bytes.to_vec()))
    }

    /// As [`recv`](EncodedReceiver::recv), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError::Timeout`], [`RecvTimeoutError::Disconnected`], and [`NotDecodable`](EncodedRecvError::NotDecodable).
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, EncodedRecvError<RecvTimeoutError>> {
        decoded(
            self.bytes
                .recv_until_with(after(timeout), |bytes| bytes.to_vec()),
        )
    }

    /// As [`recv`](EncodedReceiver::recv), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError::Timeout`], [`RecvTimeoutError::Disconnected`], and [`NotDecodable`](EncodedRecvError::NotDecodable).
    pub fn recv_deadline(
        &self,
        deadline: Instant,
    ) -> Result<T, EncodedRecvError<RecvTimeoutError>> {
        decoded(
            self.bytes
                .recv_until_with(Some(deadline), |bytes| bytes.to_vec()),
        )
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
    /// [`RecvError`] if the channel is empty and no process has a sender, and [`NotDecodable`](EncodedRecvError::NotDecodable) if one that came is no such
    /// message: those before it are in the buffer.
    pub fn recv_many(
        &self,
        buffer: &mut Vec<T>,
        limit: usize,
    ) -> Result<usize, EncodedRecvError<RecvError>> {
        if limit == 0 {
            return Ok(0);
        }
        self.decode_many(self.bytes.end.take(None), buffer, limit, |_| RecvError)
    }

    /// As [`recv_many`](EncodedReceiver::recv_many), but never waits.
    ///
    /// # Errors
    ///
    /// [`TryRecvError::Empty`], [`TryRecvError::Disconnected`], and [`NotDecodable`](EncodedRecvError::NotDecodable).
    pub fn try_recv_many(
        &self,
        buffer: &mut Vec<T>,
        limit: usize,
    ) -> Result<usize, EncodedRecvError<TryRecvError>> {
        if limit == 0 {
            return Ok(0);
        }
        let taken = self.bytes.end.try_take();
        self.decode_many(taken, buffer, limit, TryRecvError::from)
    }

    fn decode_many<Refused>(
        &self,
        taken: Result<Position, Nothing>,
        buffer: &mut Vec<T>,
        limit: usize,
        refused: impl FnOnce(Nothing) -> Refused,
    ) -> Result<usize, EncodedRecvError<Refused>> {
        let mut encoded = Vec::new();
        let mut is_no_message = None;
        let received = self.bytes.use_many_taken(taken, limit, |bytes| {
            bytes.copy_to_vec(&mut encoded);
            match decode(&encoded) {
                Ok(message) => buffer.push(message),
                Err(error) => is_no_message = Some(error),
            }
            is_no_message.is_none()
        });
        match is_no_message {
            Some(error) => Err(error),
            None => received.map_err(|nothing| EncodedRecvError::Refused(refused(nothing))),
        }
    }

    /// An iterator that waits for each message and ends when the channel is empty and no process has a sender. A message that is none is an
    /// item, too.
    pub fn iter(&self) -> impl Iterator<Item = Result<T, EncodedRecvError<RecvError>>> + '_ {
        std::iter::from_fn(|| match self.recv() {
            Err(EncodedRecvError::Refused(RecvError)) => None,
            received => Some(received),
        })
    }

    /// How many bytes a message can have when it is encoded.
    #[must_use]
    pub fn largest(&self) -> usize {
        self.bytes.largest()
    }

    /// How many messages the channel holds, those counted that are just being sent.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether the channel holds no message.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// How many messages the channel can hold.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// How often this end has met a message that its sender had begun and not finished when its process died. No part of it was received.
    #[must_use]
    pub fn abandoned(&self) -> u64 {
        self.bytes.abandoned()
    }

    /// Whether another process has written nonsense into the memory: this end believes nothing that comes from there any more, and receives no
    /// more.
    #[must_use]
    pub fn is_corrupt(&self) -> bool {
        self.bytes.is_corrupt()
    }
}

fn decoded<T: DeserializeOwned, Refused>(
    received: Result<Vec<u8>, Refused>,
) -> Result<T, EncodedRecvError<Refused>> {
    decode(&received.map_err(EncodedRecvError::Refused)?)
}

/// The bytes as a message, once no other process can change them any more.
fn decode<T: DeserializeOwned, Refused>(bytes: &[u8]) -> Result<T, EncodedRecvError<Refused>> {
    let mut input = postcard::Deserializer::from_bytes(bytes);
    nesting::deserialize(&mut input).map_err(|error| EncodedRecvError::NotDecodable {
        bytes: bytes.len(),
        reason: error.to_string(),
    })
}

/// The message behind the bytes given; what goes wrong, in words.
pub(super) fn encode<T: Serialize>(message: &T, bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    let mut output = postcard::Serializer {
        output: ExtendFlavor::new(bytes),
    };
    nesting::serialize(message, &mut output).map_err(|error| error.to_string())?;
    output.output.finalize().map_err(|error| error.to_string())
}

impl<T> fmt::Debug for EncodedReceiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("EncodedReceiver { .. }")
    }
}
