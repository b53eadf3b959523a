//! What sends and receives of a broadcast return when they fail, and how many messages a receiver has lost.

use core::fmt;
use std::error::Error;

/// Messages that a receiver of a broadcast has lost, because it [does not let senders wait](super::Lag::Lose).
///
/// Messages are numbered from 0 as they are sent.
///
/// # Examples
///
/// ```
/// use tamtam_channel::broadcast::{self, Lag, Lost, RecvError};
///
/// let (sender, receiver) = broadcast::bounded(2);
/// let receiver = receiver.with_lag(Lag::Lose);
/// for number in 0..5 {
///     sender.send(number)?;
/// }
/// let Err(RecvError::Lost(Lost { first, count, .. })) = receiver.recv() else {
///     panic!("there was room for two of five");
/// };
/// assert_eq!((first, count), (0, 3));
/// assert_eq!(receiver.recv(), Ok(3));
/// # Ok::<(), tamtam_channel::SendError<i32>>(())
/// ```
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Lost {
    /// The number of the first one that was lost.
    pub first: u64,
    /// How many were lost, one after the other.
    pub count: u64,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Lost { first, count } = self;
        match count {
            1 => write!(
                f,
                "the receiver was too slow and lost the message number {first}"
            ),
            _ => write!(
                f,
                "the receiver was too slow and lost {count} messages, from number {first} on"
            ),
        }
    }
}

impl Error for Lost {}

/// The error of [`Receiver::recv`](super::Receiver::recv).
///
/// # Examples
///
/// ```
/// use tamtam_channel::broadcast::{self, Lag, RecvError};
///
/// let (sender, receiver) = broadcast::bounded(1);
/// let receiver = receiver.with_lag(Lag::Lose);
/// sender.send("old")?;
/// sender.send("new")?;
/// drop(sender);
/// let mut seen = Vec::new();
/// loop {
///     match receiver.recv() {
///         Ok(message) => seen.push(message.to_owned()),
///         Err(RecvError::Lost(lost)) => seen.push(format!("({} lost)", lost.count)),
///         Err(RecvError::Disconnected) => break,
///     }
/// }
/// assert_eq!(seen, ["(1 lost)", "new"]);
/// # Ok::<(), tamtam_channel::SendError<&str>>(())
/// ```
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub enum RecvError {
    /// Messages were lost. The next call goes on with the oldest one that is there.
    Lost(Lost),
    /// The receiver has got all messages, and all senders are gone or the broadcast is closed.
    Disconnected,
}

/// The error of [`Receiver::try_recv`](super::Receiver::try_recv).
///
/// # Examples
///
/// ```
/// use tamtam_channel::broadcast::{self, Lag, TryRecvError};
///
/// let (sender, receiver) = broadcast::bounded(1);
/// let receiver = receiver.with_lag(Lag::Lose);
/// sender.send("old")?;
/// sender.send("new")?;
/// drop(sender);
/// let mut seen = Vec::new();
/// loop {
///     match receiver.try_recv() {
///         Ok(message) => seen.push(message.to_owned()),
///         Err(TryRecvError::Lost(lost)) => seen.push(format!("({} lost)", lost.count)),
///         Err(TryRecvError::Disconnected) => break,
///         Err(TryRecvError::Empty) => unreachable!("the sender is gone"),
///     }
/// }
/// assert_eq!(seen, ["(1 lost)", "new"]);
/// # Ok::<(), tamtam_channel::SendError<&str>>(())
/// ```
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub enum TryRecvError {
    /// The receiver has got all messages so far.
    Empty,
    /// Messages were lost. The next call goes on with the oldest one that is there.
    Lost(Lost),
    /// The receiver has got all messages, and all senders are gone or the broadcast is closed.
    Disconnected,
}

/// The error of [`Receiver::recv_timeout`](super::Receiver::recv_timeout).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_channel::broadcast::{self, RecvTimeoutError};
///
/// let (sender, receiver) = broadcast::bounded::<u32>(1);
/// let short = Duration::from_millis(2);
/// assert_eq!(receiver.recv_timeout(short), Err(RecvTimeoutError::Timeout));
/// drop(sender);
/// assert_eq!(receiver.recv_timeout(short), Err(RecvTimeoutError::Disconnected));
/// ```
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub enum RecvTimeoutError {
    /// No message came until the time was over.
    Timeout,
    /// Messages were lost. The next call goes on with the oldest one that is there.
    Lost(Lost),
    /// The receiver has got all messages, and all senders are gone or the broadcast is closed.
    Disconnected,
}

const AT_THE_END: &str = "receiving on an empty and disconnected broadcast";

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecvError::Lost(lost) => lost.fmt(f),
            RecvError::Disconnected => f.pad(AT_THE_END),
        }
    }
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TryRecvError::Empty => f.pad("receiving on an empty broadcast"),
            TryRecvError::Lost(lost) => lost.fmt(f),
            TryRecvError::Disconnected => f.pad(AT_THE_END),
        }
    }
}

impl fmt::Display for RecvTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecvTimeoutError::Timeout => f.pad("timed out waiting for a message of a broadcast"),
            RecvTimeoutError::Lost(lost) => lost.fmt(f),
            RecvTimeoutError::Disconnected => f.pad(AT_THE_END),
        }
    }
}

impl Error for RecvError {}
impl Error for TryRecvError {}
impl Error for RecvTimeoutError {}

impl From<RecvError> for TryRecvError {
    fn from(error: RecvError) -> Self {
        match error {
            RecvError::Lost(lost) => TryRecvError::Lost(lost),
            RecvError::Disconnected => TryRecvError::Disconnected,
        }
    }
}

impl From<RecvError> for RecvTimeoutError {
    fn from(error: RecvError) -> Self {
        match error {
            RecvError::Lost(lost) => RecvTimeoutError::Lost(lost),
            RecvError::Disconnected => RecvTimeoutError::Disconnected,
        }
    }
}
