//! Sending and receiving as tasks, and ends of channels as sources of a wait.

use std::future::Future;

use tamtam_channel::{RecvError, Sealed, SendError, TryRecvError, TrySendError, Waitable};

use super::bytes::{BytesReceiver, BytesSender};
#[cfg(feature = "serde")]
use super::encoded::{EncodedReceiver, EncodedSender, encode};
use super::error::LoanError;
#[cfg(feature = "serde")]
use super::error::{EncodedRecvError, EncodedSendError};
use super::receiver::Receiver;
use super::sender::Sender;
use crate::future::{Attempts, source_is_its_end};
use crate::plain::Plain;

source_is_its_end!(Receiver<T: Plain>, end);
source_is_its_end!(Sender<T: Plain>, end);
source_is_its_end!(BytesReceiver, end);
source_is_its_end!(BytesSender, end);
#[cfg(feature = "serde")]
source_is_its_end!(EncodedReceiver<T>, bytes);
#[cfg(feature = "serde")]
source_is_its_end!(EncodedSender<T>, bytes);

// Ready when there is room, or no process receives. Another thread may be quicker, so a `try_send` comes after it.
impl<T: Plain> Sealed for Sender<T> {}
impl<T: Plain> Waitable for Sender<T> {}
impl Sealed for BytesSender {}
impl Waitable for BytesSender {}
#[cfg(feature = "serde")]
impl<T> Sealed for EncodedSender<T> {}
#[cfg(feature = "serde")]
impl<T> Waitable for EncodedSender<T> {}

impl<T: Plain> Receiver<T> {
    /// Receives a message as a task, after waiting for one.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future takes no message.
    ///
    /// # Errors
    ///
    /// As [`recv`](Receiver::recv).
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(target_os = "linux")] {
    /// # futures::executor::block_on(async {
    /// let (sender, mut receiver) = tamtam_ipc::channel::<u32>(1)?;
    /// sender.send(7)?;
    /// assert_eq!(receiver.recv_async().await, Ok(7));
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// # }).unwrap();
    /// # }
    /// ```
    pub fn recv_async(&mut self) -> impl Future<Output = Result<T, RecvError>> + Unpin + Send {
        Attempts::new(self, |receiver: &Receiver<T>| match receiver.try_recv() {
            Ok(message) => Some(Ok(message)),
            Err(TryRecvError::Disconnected) => Some(Err(RecvError)),
            Err(TryRecvError::Empty) => None,
        })
    }
}

impl BytesReceiver {
    /// Receives a message as a task, after waiting for one, in place of what the buffer holds. How many bytes.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future takes no message.
    ///
    /// # Errors
    ///
    /// As [`recv_bytes`](BytesReceiver::recv_bytes).
    pub fn recv_bytes_async<'a>(
        &'a mut self,
        buffer: &'a mut Vec<u8>,
    ) -> impl Future<Output = Result<usize, RecvError>> + Unpin + Send + 'a {
        Attempts::new(self, |receiver: &BytesReceiver| {
            match receiver.try_recv_bytes(buffer) {
                Ok(bytes) => Some(Ok(bytes)),
                Err(TryRecvError::Disconnected) => Some(Err(RecvError)),
                Err(TryRecvError::Empty) => None,
            }
        })
    }
}

impl<T: Plain> Sender<T> {
    /// Sends a message as a task, after waiting for room if there is none.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is ready sends nothing.
    ///
    /// # Errors
    ///
    /// As [`send`](Sender::send).
    pub fn send_async(
        &self,
        message: T,
    ) -> impl Future<Output = Result<(), SendError<T>>> + Unpin + Send + '_ {
        Attempts::new(self, move |sender: &Sender<T>| {
            match sender.try_send(message) {
                Ok(()) => Some(Ok(())),
                Err(TrySendError::Disconnected(message)) => Some(Err(SendError(message))),
                Err(TrySendError::Full(_)) => None,
            }
        })
    }
}

impl BytesSender {
    /// Sends a copy of these bytes as a task, after waiting for room if there is none.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is ready sends nothing.
    ///
    /// # Errors
    ///
    /// As [`send`](BytesSender::send).
    pub fn send_async<'a>(
        &'a self,
        bytes: &'a [u8],
    ) -> impl Future<Output = Result<(), LoanError<SendError<()>>>> + Unpin + Send + 'a {
        Attempts::new(self, |sender: &BytesSender| match sender.try_send(bytes) {
            Ok(()) => Some(Ok(())),
            Err(LoanError::Refused(TrySendError::Full(()))) => None,
            Err(LoanError::Refused(TrySendError::Disconnected(()))) => {
                Some(Err(LoanError::Refused(SendError(()))))
            }
            Err(LoanError::TooLarge { bytes, largest }) => {
                Some(Err(LoanError::TooLarge { bytes, largest }))
            }
        })
    }
}

#[cfg(feature = "serde")]
impl<T: serde::de::DeserializeOwned> EncodedReceiver<T> {
    /// Receives a message as a task, after waiting for one.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future takes no message.
    ///
    /// # Errors
    ///
    /// As [`recv`](EncodedReceiver::recv).
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(target_os = "linux")] {
    /// # futures::executor::block_on(async {
    /// let (sender, mut receiver) = tamtam_ipc::encoded_channel::<Vec<String>>(1, 100)?;
    /// sender.send_async(vec!["any".to_owned(), "type".to_owned()]).await?;
    /// assert_eq!(receiver.recv_async().await?.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// # }).unwrap();
    /// # }
    /// ```
    pub fn recv_async(
        &mut self,
    ) -> impl Future<Output = Result<T, EncodedRecvError<RecvError>>> + Unpin + Send {
        Attempts::new(self, |receiver: &EncodedReceiver<T>| {
            match receiver.try_recv() {
                Ok(message) => Some(Ok(message)),
                Err(EncodedRecvError::Refused(TryRecvError::Empty)) => None,
                Err(EncodedRecvError::Refused(TryRecvError::Disconnected)) => {
                    Some(Err(EncodedRecvError::Refused(RecvError)))
                }
                Err(EncodedRecvError::NotDecodable { bytes, reason }) => {
                    Some(Err(EncodedRecvError::NotDecodable { bytes, reason }))
                }
            }
        })
    }
}

#[cfg(feature = "serde")]
impl<T: serde::Serialize + Send> EncodedSender<T> {
    /// Sends a message as a task, after waiting for room if there is none. It is encoded when this is called.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is ready sends nothing; the message is dropped with it.
    ///
    /// # Errors
    ///
    /// As [`send`](EncodedSender::send).
    pub fn send_async(
        &self,
        message: T,
    ) -> impl Future<Output = Result<(), EncodedSendError<T, SendError<T>>>> + Unpin + Send + '_
    {
        // What cannot be encoded comes back at the first attempt.
        let encoded = encode(&message, Vec::new());
        let mut unsent = Some((message, encoded));
        Attempts::new(self, move |sender: &EncodedSender<T>| {
            let (message, encoded) = unsent.take()?;
            let bytes = match encoded {
                Ok(bytes) => bytes,
                Err(reason) => {
                    return Some(Err(EncodedSendError::NotEncodable { message, reason }));
                }
            };
            match sender.bytes.try_send(&bytes) {
                Ok(()) => Some(Ok(())),
                Err(LoanError::Refused(TrySendError::Full(()))) => {
                    unsent = Some((message, Ok(bytes)));
                    None
                }
                Err(LoanError::Refused(TrySendError::Disconnected(()))) => {
                    Some(Err(EncodedSendError::Refused(SendError(message))))
                }
                Err(LoanError::TooLarge { bytes, largest }) => {
                    Some(Err(EncodedSendError::TooLarge {
                        message,
                        bytes,
                        largest,
                    }))
                }
            }
        })
    }
}
