//! Why a message of bytes, or one that is encoded, was not sent or received. What is refused as in any channel is refused by the errors of
//! `tamtam-channel`, which are inside of these.

use std::fmt;

use tamtam_channel::{RecvTimeoutError, TryRecvError};

use crate::ring::Nothing;

impl From<Nothing> for TryRecvError {
    fn from(nothing: Nothing) -> Self {
        match nothing {
            Nothing::Empty => TryRecvError::Empty,
            Nothing::Closed | Nothing::Corrupt => TryRecvError::Disconnected,
        }
    }
}

impl From<Nothing> for RecvTimeoutError {
    fn from(nothing: Nothing) -> Self {
        match nothing {
            Nothing::Empty => RecvTimeoutError::Timeout,
            Nothing::Closed | Nothing::Corrupt => RecvTimeoutError::Disconnected,
        }
    }
}

/// Why no place for a message was loaned, or bytes were not sent: by the call's own `Refused`, which is
/// [`SendError`](tamtam_channel::SendError), [`TrySendError`](tamtam_channel::TrySendError) or
/// [`SendTimeoutError`](tamtam_channel::SendTimeoutError), or for its length.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_channel::{SendError, TrySendError};
/// use tamtam_ipc::{LoanError, bytes_channel};
///
/// let (sender, receiver) = bytes_channel(1, 100)?;
/// let error = sender.send(&[0; 101]).unwrap_err();
/// assert_eq!(error, LoanError::TooLarge { bytes: 101, largest: 100 });
/// sender.send(&[0; 100]).unwrap();
/// let error = sender.try_send(&[0; 100]).unwrap_err();
/// assert_eq!(error, LoanError::Refused(TrySendError::Full(())));
/// drop(receiver);
/// let error = sender.send(&[0; 100]).unwrap_err();
/// assert_eq!(error, LoanError::Refused(SendError(())));
/// # }
/// # Ok::<(), tamtam_ipc::CreateError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoanError<Refused> {
    /// It is longer than the longest message of this channel.
    #[error("a message of {bytes} bytes, and the longest in this channel has {largest}")]
    TooLarge {
        /// Its length.
        bytes: usize,
        /// The longest.
        largest: usize,
    },
    /// As in any channel.
    #[error(transparent)]
    Refused(Refused),
}

/// Why a batch of bytes or of encoded messages has ended before its iterator: [`LoanError`] or [`EncodedSendError`], of one message, which is
/// here. Those that were sent before are received.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_channel::SendError;
/// use tamtam_ipc::{LoanError, bytes_channel};
///
/// let (sender, receiver) = bytes_channel(4, 5)?;
/// let mut texts = ["short", "too long"].into_iter();
/// let error = sender.send_many(texts.by_ref()).unwrap_err();
/// assert_eq!((error.sent, error.unsent), (1, "too long"));
/// assert_eq!(error.error, LoanError::TooLarge { bytes: 8, largest: 5 });
/// drop(receiver);
/// let error = sender.send_many(["late"]).unwrap_err();
/// assert_eq!((error.sent, error.unsent), (0, "late"));
/// assert_eq!(error.error, LoanError::Refused(SendError(())));
/// # }
/// # Ok::<(), tamtam_ipc::CreateError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SendBatchError<T, Cause> {
    /// How many messages were sent before.
    pub sent: usize,
    /// The one that was taken out of the iterator and not sent.
    pub unsent: T,
    /// Why it was not.
    pub error: Cause,
}

impl<T, Cause> SendBatchError<T, Cause> {
    pub(super) fn new(sent: usize, unsent: T, error: Cause) -> Self {
        SendBatchError {
            sent,
            unsent,
            error,
        }
    }
}

impl<T, Cause: fmt::Display> fmt::Display for SendBatchError<T, Cause> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, after {} of a batch", self.error, self.sent)
    }
}

impl<T, Cause: fmt::Debug> fmt::Debug for SendBatchError<T, Cause> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendBatchError")
            .field("sent", &self.sent)
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

impl<T, Cause: fmt::Display + fmt::Debug> std::error::Error for SendBatchError<T, Cause> {}

/// Why a message was not encoded and sent: by the call's own `Refused`, which is [`SendError`](tamtam_channel::SendError),
/// [`TrySendError`](tamtam_channel::TrySendError) or [`SendTimeoutError`](tamtam_channel::SendTimeoutError) and holds the message, or for what it
/// is.
///
/// # Examples
///
/// ```
/// # #[cfg(all(target_os = "linux", feature = "serde"))] {
/// use tamtam_ipc::{EncodedSendError, encoded_channel};
///
/// let (sender, _receiver) = encoded_channel::<String>(4, 100)?;
/// let error = sender.send("long".repeat(100)).unwrap_err();
/// assert!(matches!(error, EncodedSendError::TooLarge { largest: 100, .. }));
/// assert_eq!(error.into_inner(), "long".repeat(100)); // it comes back
/// # }
/// # Ok::<(), tamtam_ipc::CreateError>(())
/// ```
#[cfg(feature = "serde")]
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodedSendError<T, Refused> {
    /// Its `Serialize` has failed.
    NotEncodable {
        /// It comes back.
        message: T,
        /// What serde says.
        reason: String,
    },
    /// Encoded, it is longer than the longest message of this channel.
    TooLarge {
        /// It comes back.
        message: T,
        /// Its length when encoded.
        bytes: usize,
        /// The longest.
        largest: usize,
    },
    /// As in any channel; the message comes back in it.
    Refused(Refused),
}

#[cfg(feature = "serde")]
impl<T, Refused: fmt::Display> fmt::Display for EncodedSendError<T, Refused> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EncodedSendError::NotEncodable { reason, .. } => {
                write!(f, "the message cannot be encoded: {reason}")
            }
            EncodedSendError::TooLarge { bytes, largest, .. } => write!(
                f,
                "a message of {bytes} bytes when encoded, and the longest in this channel has {largest}"
            ),
            EncodedSendError::Refused(refused) => refused.fmt(f),
        }
    }
}

#[cfg(feature = "serde")]
impl<T, Refused: fmt::Debug> fmt::Debug for EncodedSendError<T, Refused> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EncodedSendError::NotEncodable { reason, .. } => {
                f.debug_tuple("NotEncodable").field(reason).finish()
            }
            EncodedSendError::TooLarge { bytes, largest, .. } => f
                .debug_struct("TooLarge")
                .field("bytes", bytes)
                .field("largest", largest)
                .finish_non_exhaustive(),
            EncodedSendError::Refused(refused) => f.debug_tuple("Refused").field(refused).finish(),
        }
    }
}

#[cfg(feature = "serde")]
impl<T, Refused: fmt::Display + fmt::Debug> std::error::Error for EncodedSendError<T, Refused> {}

#[cfg(feature = "serde")]
mod holding {
    //! Errors that hold a message, and give it back.

    use tamtam_channel::{SendError, SendTimeoutError, TrySendError};

    use super::EncodedSendError;

    macro_rules! gives_back {
        ($refused:ident) => {
            impl<T> EncodedSendError<T, $refused<T>> {
                /// The message that was not sent.
                pub fn into_inner(self) -> T {
                    match self {
                        EncodedSendError::NotEncodable { message, .. }
                        | EncodedSendError::TooLarge { message, .. } => message,
                        EncodedSendError::Refused(refused) => refused.into_inner(),
                    }
                }
            }
        };
    }
    gives_back!(SendError);
    gives_back!(TrySendError);
    gives_back!(SendTimeoutError);
}

/// Why no message was received and decoded: by the call's own `Refused`, which is [`RecvError`](tamtam_channel::RecvError),
/// [`TryRecvError`](tamtam_channel::TryRecvError) or [`RecvTimeoutError`](tamtam_channel::RecvTimeoutError), or for what came.
///
/// # Examples
///
/// ```
/// # #[cfg(all(target_os = "linux", feature = "serde"))] {
/// use tamtam_channel::RecvError;
/// use tamtam_ipc::{EncodedRecvError, encoded_channel};
///
/// let (sender, receiver) = encoded_channel::<String>(4, 100)?;
/// drop(sender);
/// assert_eq!(receiver.recv(), Err(EncodedRecvError::Refused(RecvError)));
/// # }
/// # Ok::<(), tamtam_ipc::CreateError>(())
/// ```
#[cfg(feature = "serde")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodedRecvError<Refused> {
    /// It is no such message: that of a program with another version of the type, or of one that has lied. The next one may be.
    #[error("the message of {bytes} bytes cannot be decoded: {reason}")]
    NotDecodable {
        /// Its length.
        bytes: usize,
        /// What serde says.
        reason: String,
    },
    /// As in any channel.
    #[error(transparent)]
    Refused(Refused),
}
