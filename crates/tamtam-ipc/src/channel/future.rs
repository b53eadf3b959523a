//! Sending and receiving as tasks, and ends of channels as sources of a wait.

use std::future::Future;

use tamtam_channel::{RecvError, Sealed, SendError, TryRecvError, TrySendError, Waitable};
use tamtam_wait::{Context, Operation, SharedWords, Source, Token};

use super::bytes::{BytesReceiver, BytesSender};
use super::error::LoanError;
use super::receiver::Receiver;
use super::sender::Sender;
use crate::future::Attempts;
use crate::plain::Plain;

/// An end is a source as what is in it.
macro_rules! source_is_its_end {
    ($end:ident $(<$parameter:ident>)?) => {
        impl $(<$parameter: Plain>)? Source for $end $(<$parameter>)? {
            fn try_begin(&self, token: &mut Token) -> bool {
                self.end.try_begin(token)
            }

            fn register(&self, operation: Operation, context: &Context) -> bool {
                self.end.register(operation, context)
            }

            fn unregister(&self, operation: Operation, context: &Context) {
                self.end.unregister(operation, context);
            }

            fn is_ready(&self) -> bool {
                self.end.is_ready()
            }

            fn watch(&self, operation: Operation, context: &Context) -> bool {
                self.end.watch(operation, context)
            }

            fn unwatch(&self, operation: Operation, context: &Context) {
                self.end.unwatch(operation, context);
            }

            fn sleep_at<'a>(&'a self, words: &mut SharedWords<'a>) -> Option<bool> {
                self.end.sleep_at(words)
            }

            fn woken_at(&self) {
                self.end.woken_at();
            }
        }
    };
}

source_is_its_end!(Receiver<T>);
source_is_its_end!(Sender<T>);
source_is_its_end!(BytesReceiver);
source_is_its_end!(BytesSender);

// Ready when there is room, or no process receives. Another thread may be quicker, so a `try_send` comes after it.
impl<T: Plain> Sealed for Sender<T> {}
impl<T: Plain> Waitable for Sender<T> {}
impl Sealed for BytesSender {}
impl Waitable for BytesSender {}

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
