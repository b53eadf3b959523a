//! A channel of sealed bytes: what is sent is read in place by who receives it, and can be changed by no process.
//!
//! Such a message is a descriptor, and descriptors go between processes by the kernel alone. So this channel is no memory but a Unix socket that keeps the
//! bounds of messages (`SOCK_SEQPACKET`), with one message for each descriptor.

use std::fmt;
use std::future::Future;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::sockopt::{socket_domain, socket_type};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use tamtam_channel::{
    RecvError, RecvTimeoutError, Sealed, SendError, SendTimeoutError, TryRecvError, TrySendError,
    Waitable,
};

use crate::error::AttachError;
use crate::future::{Attempts, source_is_its_end};
use crate::handover::{Came, what_came};
use crate::polled::{PAUSE, Polled, Side};
use crate::sealed::SealedBytes;

/// The byte with which a descriptor goes.
const WITH_SEALED: u8 = b's';
/// So many descriptors of one message are looked at. A process that keeps to the rules sends one.
const MOST_DESCRIPTORS: usize = 4;

/// Makes a channel of [`SealedBytes`]: each message is a descriptor that goes to another process, which reads the bytes in place. Several senders, in several
/// processes.
///
/// Another process gets an end by its [`socket`](SealedSender::socket), over another socket or by inheritance, or in a message to an actor.
/// Full, with some hundred messages (as the buffers of sockets are on this machine), it makes senders wait. Empty, it makes the receiver wait. When no
/// process has a sender, also by death, the receiver ends behind what was sent; when none has the receiver, sends give their messages back.
///
/// A message costs a system call on each side, whatever its length, beside what it costs to make [`SealedBytes`]. Below some hundred kilobytes a
/// [`bytes_channel`](crate::bytes_channel()) and its copies cost less.
///
/// # Ordering
///
/// Messages come in the order of the sends, over all senders.
///
/// # Errors
///
/// If this process can have no more descriptors.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{SealedBytes, sealed_channel};
///
/// let (sender, receiver) = sealed_channel()?;
/// sender.send(SealedBytes::copy_of(b"pixels")?)?;
/// drop(sender);
/// let picture = receiver.recv()?;
/// assert_eq!(&picture[..3], b"pix"); // no copy
/// assert!(receiver.recv().is_err());
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub fn sealed_channel() -> io::Result<(SealedSender, SealedReceiver)> {
    let (sends, receives) = socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )?;
    Ok((SealedSender::new(sends), SealedReceiver::new(receives)))
}

/// The sending end of a [`sealed_channel`]. Clones are the same descriptor.
///
/// In [`select!`](tamtam_channel::select) it is waited for as `wait(sender)`: ready when there is room, or no process receives. Another sender may be
/// quicker, so a [`try_send`](SealedSender::try_send) comes after it.
///
/// # Ordering
///
/// Messages come in the order of the sends, over all senders.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{SealedBytes, SealedSender, sealed_channel};
///
/// let (sender, receiver) = sealed_channel()?;
/// // The descriptor goes to another process; here it stays in this one.
/// let other = SealedSender::attach(sender.socket().try_clone_to_owned()?)?;
/// other.send(SealedBytes::copy_of(b"there")?)?;
/// assert_eq!(&*receiver.recv()?, b"there");
/// drop(receiver);
/// let error = other.send(SealedBytes::copy_of(b"late")?).unwrap_err();
/// assert_eq!(&*error.0, b"late"); // it comes back
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone)]
pub struct SealedSender {
    socket: Polled,
}

/// The receiving end of a [`sealed_channel`].
///
/// In [`select!`](tamtam_channel::select) it is waited for as `wait(receiver)`: ready when a message is there, or no process has a sender. Another thread
/// that receives may be quicker, so a [`try_recv`](SealedReceiver::try_recv) comes after it.
///
/// # Ordering
///
/// Messages come in the order of the sends, over all senders.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use std::time::Duration;
/// use tamtam_ipc::{SealedBytes, sealed_channel};
///
/// let (sender, receiver) = sealed_channel()?;
/// assert!(receiver.recv_timeout(Duration::from_millis(1)).is_err());
/// for number in 0..3 {
///     sender.send(SealedBytes::copy_of(&[number; 10_000])?)?;
/// }
/// drop(sender);
/// let numbers: Vec<u8> = receiver.iter().flatten().map(|bytes| bytes[9_999]).collect();
/// assert_eq!(numbers, [0, 1, 2]);
///
/// let (sender, pictures) = sealed_channel()?;
/// let (_thread, of_threads) = tamtam_channel::unbounded::<u32>();
/// sender.send(SealedBytes::copy_of(b"pixels")?)?;
/// tamtam_channel::select! {
///     wait(pictures) => assert_eq!(&*pictures.try_recv()?, b"pixels"),
///     recv(of_threads) -> _ => panic!("no thread sends"),
/// }
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct SealedReceiver {
    socket: Polled,
}

/// Why no sealed bytes were received.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_channel::TryRecvError;
/// use tamtam_ipc::{SealedRecvError, sealed_channel};
///
/// let (_sender, receiver) = sealed_channel()?;
/// let error = receiver.try_recv().unwrap_err();
/// assert!(matches!(error, SealedRecvError::Refused(TryRecvError::Empty)));
/// # }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SealedRecvError<Refused> {
    /// As in any channel.
    #[error(transparent)]
    Refused(Refused),
    /// What has come was not sent by a sender of such a channel. It is gone; others may follow.
    #[error("what came is no message of sealed bytes: it has {descriptors} descriptors")]
    NotAMessage {
        /// So many came with it, or more.
        descriptors: usize,
    },
    /// What has come had no room here: this process has as many descriptors as it may have. It is gone; others may follow.
    #[error(
        "a message of sealed bytes had no room: this process has as many descriptors open as it may, so close some or raise RLIMIT_NOFILE"
    )]
    NoRoom,
    /// What has come could still be changed, or cannot be mapped. It is gone; others may follow.
    #[error("what came is of no use: {0}")]
    Attach(AttachError),
}

/// Why a call ends without what it was to do.
#[derive(Debug)]
enum Nothing {
    /// There is no room, or no message, now or until the deadline.
    Now,
    /// The other side is gone, or the socket of no use.
    Ever,
}

/// Calls until it is done, and waits in between, if at all.
fn until<R>(
    socket: &Polled,
    deadline: Option<Option<Instant>>,
    mut call: impl FnMut() -> Result<R, Errno>,
) -> Result<R, Nothing> {
    loop {
        let pause = match call() {
            Ok(done) => return Ok(done),
            Err(Errno::INTR) => continue,
            Err(Errno::AGAIN) => None,
            // Among these: as many descriptors of this user are on their way as may be.
            Err(Errno::TOOMANYREFS | Errno::NOBUFS | Errno::NOMEM) => Some(PAUSE),
            Err(_) => return Err(Nothing::Ever),
        };
        let Some(deadline) = deadline else {
            // One that never waits here, but perhaps as a source.
            if pause.is_some() {
                socket.hold_back();
            }
            return Err(Nothing::Now);
        };
        let left = match deadline {
            None => None,
            Some(deadline) => match deadline.checked_duration_since(Instant::now()) {
                Some(left) if !left.is_zero() => Some(left),
                _ => return Err(Nothing::Now),
            },
        };
        if let Some(pause) = pause {
            std::thread::sleep(left.map_or(pause, |left| left.min(pause)));
            continue;
        }
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        socket.wait(left.as_ref()).map_err(|_| Nothing::Ever)?;
    }
}

/// A socket of such a channel, which another process has sent.
fn checked(socket: OwnedFd) -> Result<OwnedFd, AttachError> {
    let is_it = socket_domain(&socket) == Ok(AddressFamily::UNIX)
        && socket_type(&socket) == Ok(SocketType::SEQPACKET);
    if is_it {
        Ok(socket)
    } else {
        Err(AttachError::NotOurs)
    }
}

impl SealedSender {
    fn new(socket: OwnedFd) -> Self {
        SealedSender {
            socket: Polled::new(socket, Side::Sends),
        }
    }

    /// One more sender, by the socket of one of another process.
    ///
    /// # Errors
    ///
    /// [`AttachError::NotOurs`] if it is no such socket.
    pub fn attach(socket: OwnedFd) -> Result<Self, AttachError> {
        Ok(SealedSender::new(checked(socket)?))
    }

    /// The socket, for another process.
    #[must_use]
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn send_by(
        &self,
        message: &SealedBytes,
        deadline: Option<Option<Instant>>,
    ) -> Result<(), Nothing> {
        let fds = [message.memory()];
        until(&self.socket, deadline, || {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            control.push(SendAncillaryMessage::ScmRights(&fds));
            let byte = [IoSlice::new(&[WITH_SEALED])];
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            sendmsg(&self.socket, &byte, &mut control, flags).map(drop)
        })
    }

    /// Sends a message if there is room; never waits.
    ///
    /// # Errors
    ///
    /// With the message: [`TrySendError::Full`], or [`TrySendError::Disconnected`] if no process receives.
    pub fn try_send(&self, message: SealedBytes) -> Result<(), TrySendError<SealedBytes>> {
        self.send_by(&message, None)
            .map_err(|nothing| match nothing {
                Nothing::Now => TrySendError::Full(message),
                Nothing::Ever => TrySendError::Disconnected(message),
            })
    }

    /// Sends a message, after waiting for room if there is none.
    ///
    /// # Blocking
    ///
    /// While the channel is full, or as many descriptors of this user are on their way as may be.
    ///
    /// # Errors
    ///
    /// [`SendError`] with the message if no process receives.
    pub fn send(&self, message: SealedBytes) -> Result<(), SendError<SealedBytes>> {
        self.send_by(&message, Some(None))
            .map_err(|_| SendError(message))
    }

    /// As [`send`](SealedSender::send), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// With the message: [`SendTimeoutError::Timeout`] or [`SendTimeoutError::Disconnected`].
    pub fn send_timeout(
        &self,
        message: SealedBytes,
        timeout: Duration,
    ) -> Result<(), SendTimeoutError<SealedBytes>> {
        self.send_until(message, Instant::now().checked_add(timeout))
    }

    /// As [`send`](SealedSender::send), but waits at most until `deadline`.
    ///
    /// # Errors
    ///
    /// With the message: [`SendTimeoutError::Timeout`] or [`SendTimeoutError::Disconnected`].
    pub fn send_deadline(
        &self,
        message: SealedBytes,
        deadline: Instant,
    ) -> Result<(), SendTimeoutError<SealedBytes>> {
        self.send_until(message, Some(deadline))
    }

    fn send_until(
        &self,
        message: SealedBytes,
        deadline: Option<Instant>,
    ) -> Result<(), SendTimeoutError<SealedBytes>> {
        self.send_by(&message, Some(deadline))
            .map_err(|nothing| match nothing {
                Nothing::Now => SendTimeoutError::Timeout(message),
                Nothing::Ever => SendTimeoutError::Disconnected(message),
            })
    }

    /// Whether no process receives, now: what is sent comes back.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.socket.is_any(PollFlags::HUP | PollFlags::ERR)
    }

    /// Sends a message as a task, after waiting for room if there is none.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is ready sends nothing; the message is dropped with it.
    ///
    /// # Errors
    ///
    /// As [`send`](SealedSender::send).
    pub fn send_async(
        &self,
        message: SealedBytes,
    ) -> impl Future<Output = Result<(), SendError<SealedBytes>>> + Unpin + Send + '_ {
        let mut unsent = Some(message);
        Attempts::new(self, move |sender: &SealedSender| {
            match sender.try_send(unsent.take()?) {
                Ok(()) => Some(Ok(())),
                Err(TrySendError::Disconnected(message)) => Some(Err(SendError(message))),
                Err(TrySendError::Full(message)) => {
                    unsent = Some(message);
                    None
                }
            }
        })
    }
}

impl SealedReceiver {
    fn new(socket: OwnedFd) -> Self {
        SealedReceiver {
            socket: Polled::new(socket, Side::Receives),
        }
    }

    /// The receiver, by the socket that another process has given up. If both receive, each message comes to one of them.
    ///
    /// # Errors
    ///
    /// [`AttachError::NotOurs`] if it is no such socket.
    pub fn attach(socket: OwnedFd) -> Result<Self, AttachError> {
        Ok(SealedReceiver::new(checked(socket)?))
    }

    /// The socket, for another process.
    #[must_use]
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn recv_by<Refused>(
        &self,
        deadline: Option<Option<Instant>>,
        refused: impl Fn(Nothing) -> Refused,
    ) -> Result<SealedBytes, SealedRecvError<Refused>> {
        let received = until(&self.socket, deadline, || {
            let mut byte = [0];
            let mut space =
                [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
            let to = &mut [IoSliceMut::new(&mut byte)];
            let received = recvmsg(&self.socket, to, &mut control, flags)?;
            Ok((received.bytes, what_came(&received, &mut control)))
        });
        match received {
            Err(nothing) => Err(SealedRecvError::Refused(refused(nothing))),
            // The end, or what another program has sent without a byte.
            Ok((0, Came::Other(0))) if self.is_at_end() => {
                Err(SealedRecvError::Refused(refused(Nothing::Ever)))
            }
            Ok((_, Came::One(memory))) => {
                SealedBytes::attach(memory).map_err(SealedRecvError::Attach)
            }
            Ok((_, Came::Other(descriptors))) => Err(SealedRecvError::NotAMessage { descriptors }),
            Ok((_, Came::NoRoom)) => Err(SealedRecvError::NoRoom),
        }
    }

    /// Whether no process has a sender, and no byte is there.
    fn is_at_end(&self) -> bool {
        let over = PollFlags::HUP | PollFlags::RDHUP | PollFlags::ERR;
        self.socket.is_any(over) && self.is_empty()
    }

    /// Receives a message if one is there; never waits.
    ///
    /// # Errors
    ///
    /// [`TryRecvError::Empty`], [`TryRecvError::Disconnected`] if moreover no process has a sender, and what is wrong with what has come.
    pub fn try_recv(&self) -> Result<SealedBytes, SealedRecvError<TryRecvError>> {
        self.recv_by(None, |nothing| match nothing {
            Nothing::Now => TryRecvError::Empty,
            Nothing::Ever => TryRecvError::Disconnected,
        })
    }

    /// Receives a message, after waiting for one.
    ///
    /// # Blocking
    ///
    /// While the channel is empty.
    ///
    /// # Errors
    ///
    /// [`RecvError`] if the channel is empty and no process has a sender, also if the last one dies while this waits, and what is wrong with what has come.
    pub fn recv(&self) -> Result<SealedBytes, SealedRecvError<RecvError>> {
        self.recv_by(Some(None), |_| RecvError)
    }

    /// As [`recv`](SealedReceiver::recv), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError::Timeout`], [`RecvTimeoutError::Disconnected`], and what is wrong with what has come.
    pub fn recv_timeout(
        &self,
        timeout: Duration,
    ) -> Result<SealedBytes, SealedRecvError<RecvTimeoutError>> {
        self.recv_until(Instant::now().checked_add(timeout))
    }

    /// As [`recv`](SealedReceiver::recv), but waits at most until `deadline`.
    ///
    /// # Errors
    ///
    /// As [`recv_timeout`](SealedReceiver::recv_timeout).
    pub fn recv_deadline(
        &self,
        deadline: Instant,
    ) -> Result<SealedBytes, SealedRecvError<RecvTimeoutError>> {
        self.recv_until(Some(deadline))
    }

    fn recv_until(
        &self,
        deadline: Option<Instant>,
    ) -> Result<SealedBytes, SealedRecvError<RecvTimeoutError>> {
        self.recv_by(Some(deadline), |nothing| match nothing {
            Nothing::Now => RecvTimeoutError::Timeout,
            Nothing::Ever => RecvTimeoutError::Disconnected,
        })
    }

    /// Receives a message as a task, after waiting for one.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future takes no message.
    ///
    /// # Errors
    ///
    /// As [`recv`](SealedReceiver::recv).
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(target_os = "linux")] {
    /// # futures::executor::block_on(async {
    /// use tamtam_ipc::{SealedBytes, sealed_channel};
    ///
    /// let (sender, receiver) = sealed_channel()?;
    /// sender.send_async(SealedBytes::copy_of(b"pixels")?).await?;
    /// assert_eq!(&*receiver.recv_async().await?, b"pixels");
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// # }).unwrap();
    /// # }
    /// ```
    pub fn recv_async(
        &self,
    ) -> impl Future<Output = Result<SealedBytes, SealedRecvError<RecvError>>> + Unpin + Send + '_
    {
        Attempts::new(self, |receiver: &SealedReceiver| {
            receiver
                .recv_by(None, |nothing| nothing)
                .map_or_else(not_now, |it| Some(Ok(it)))
        })
    }

    /// How many messages the channel holds, by the byte that goes with each.
    #[must_use]
    pub fn len(&self) -> usize {
        // What cannot be asked holds none.
        rustix::io::ioctl_fionread(&self.socket).map_or(0, |bytes| bytes as usize)
    }

    /// Whether the channel holds no message.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An iterator that waits for each message and ends when the channel is empty and no process has a sender. What is no message is an item, too.
    pub fn iter(
        &self,
    ) -> impl Iterator<Item = Result<SealedBytes, SealedRecvError<RecvError>>> + '_ {
        std::iter::from_fn(|| match self.recv() {
            Err(SealedRecvError::Refused(RecvError)) => None,
            received => Some(received),
        })
    }

    /// An iterator over the messages that are there; it never waits. What is no message is an item, too.
    pub fn try_iter(
        &self,
    ) -> impl Iterator<Item = Result<SealedBytes, SealedRecvError<TryRecvError>>> + '_ {
        std::iter::from_fn(|| match self.try_recv() {
            Err(SealedRecvError::Refused(_)) => None,
            received => Some(received),
        })
    }
}

/// What a task is told of a receive that brought no message, unless it waits on.
fn not_now(
    error: SealedRecvError<Nothing>,
) -> Option<Result<SealedBytes, SealedRecvError<RecvError>>> {
    match error {
        SealedRecvError::Refused(Nothing::Now) => None,
        SealedRecvError::Refused(Nothing::Ever) => Some(Err(SealedRecvError::Refused(RecvError))),
        SealedRecvError::NotAMessage { descriptors } => {
            Some(Err(SealedRecvError::NotAMessage { descriptors }))
        }
        SealedRecvError::NoRoom => Some(Err(SealedRecvError::NoRoom)),
        SealedRecvError::Attach(error) => Some(Err(SealedRecvError::Attach(error))),
    }
}

source_is_its_end!(SealedSender, socket);
source_is_its_end!(SealedReceiver, socket);

impl Sealed for SealedSender {}
impl Waitable for SealedSender {}
impl Sealed for SealedReceiver {}
impl Waitable for SealedReceiver {}

/// The socket can be written when there is room, or no process receives: what an event loop waits for before [`try_send`](SealedSender::try_send).
impl AsFd for SealedSender {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket()
    }
}

/// As [`AsFd`], for event loops that ask for this.
impl AsRawFd for SealedSender {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

/// The socket can be read when a message is there, or no process has a sender: what an event loop waits for before
/// [`try_recv`](SealedReceiver::try_recv). With tokio that is an `AsyncFd`.
impl AsFd for SealedReceiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket()
    }
}

/// As [`AsFd`], for event loops that ask for this.
impl AsRawFd for SealedReceiver {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

impl fmt::Debug for SealedSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("SealedSender { .. }")
    }
}

impl fmt::Debug for SealedReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("SealedReceiver { .. }")
    }
}
