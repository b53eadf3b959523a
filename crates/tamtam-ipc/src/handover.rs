//! The descriptor of shared memory on its way to another process, over a Unix socket.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, RecvMsg, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// The byte with which a descriptor goes: a stream carries none without a byte.
const WITH_MEMORY: u8 = b'm';

/// Sends a descriptor, such as that of a [`Slot`](crate::Slot::memory), to the process at the other end of a Unix socket, which
/// [receives](receive_memory) it.
///
/// One byte goes with it. What is written to the socket before and after arrives before and after it, so several pieces of memory arrive in the
/// order in which they were sent. The memory belongs to both processes from then on; the one that has sent it may go.
///
/// # Blocking
///
/// While the socket is full.
///
/// # Errors
///
/// Those of `sendmsg(2)`: of the kind `BrokenPipe` if the other end is closed; no signal is raised.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use std::os::unix::net::UnixStream;
/// use tamtam_ipc::{Slot, receive_memory, send_memory};
///
/// // One end for a child process, as its standard input perhaps; both stay here.
/// let (here, there) = UnixStream::pair()?;
/// let slot = Slot::<u64>::create()?;
/// send_memory(&here, slot.memory())?;
///
/// let same = Slot::<u64>::attach(receive_memory(&there)?)?;
/// same.put(5);
/// assert_eq!(slot.take(), 5);
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub fn send_memory(socket: &UnixStream, memory: impl AsFd) -> io::Result<()> {
    let fds = [memory.as_fd()];
    loop {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&fds));
        let byte = [IoSlice::new(&[WITH_MEMORY])];
        match sendmsg(socket, &byte, &mut control, SendFlags::NOSIGNAL) {
            Err(Errno::INTR) => {}
            sent => return Ok(sent.map(drop)?),
        }
    }
}

/// Why no memory was received.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use std::os::unix::net::UnixStream;
/// use tamtam_ipc::{ReceiveMemoryError, receive_memory};
///
/// let (here, there) = UnixStream::pair()?;
/// drop(there);
/// assert!(matches!(receive_memory(&here), Err(ReceiveMemoryError::Closed)));
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiveMemoryError {
    /// The other end of the socket was closed, or its process is gone.
    #[error("the other end of the socket is closed, and has sent no memory before")]
    Closed,
    /// A byte came without a descriptor, or with several: the other end has written something else. The byte is gone.
    #[error("what came over the socket is no memory: a byte with {descriptors} descriptors")]
    NotMemory {
        /// So many came with it, or more.
        descriptors: usize,
    },
    /// It had no room here: this process has as many descriptors as it may have. It is gone; others may follow.
    #[error(
        "the descriptor of memory had no room: this process has as many open as it may, so close some or raise RLIMIT_NOFILE"
    )]
    NoRoom,
    /// The system has refused something.
    #[error("no memory could be received: {source}")]
    System {
        /// Why.
        source: io::Error,
    },
}

/// What came of descriptors with a message.
#[derive(Debug)]
pub(crate) enum Came {
    /// One alone.
    One(OwnedFd),
    /// So many as no message of ours has. Those that came are closed.
    Other(usize),
    /// There were some, and none had room in this process.
    NoRoom,
}

/// What came with a message, of which one descriptor at least has room in the buffer.
pub(crate) fn what_came(received: &RecvMsg, control: &mut RecvAncillaryBuffer<'_>) -> Came {
    let mut fds = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            fds.extend(rights);
        }
    }
    // There were more than came: the kernel closes those that have no room in the buffer, or among the descriptors of this process.
    let is_cut = received.flags.contains(ReturnFlags::CTRUNC);
    let descriptors = fds.len();
    match fds.pop() {
        Some(memory) if descriptors == 1 && !is_cut => Came::One(memory),
        None if is_cut => Came::NoRoom,
        _ => Came::Other(descriptors + usize::from(is_cut)),
    }
}

/// Receives the descriptor that [`send_memory`] has sent from the other end of a Unix socket. What it belongs to is seen when an end
/// [attaches](crate::Slot::attach) to it.
///
/// It is closed in programs that this process starts, unless it is handed to them.
///
/// # Blocking
///
/// Until it has come, or as long as the socket's [timeout](UnixStream::set_read_timeout) says.
///
/// # Errors
///
/// [`ReceiveMemoryError`] if the other end is closed, or has sent something else, or the time is over, or this process may have no more descriptors.
pub fn receive_memory(socket: &UnixStream) -> Result<OwnedFd, ReceiveMemoryError> {
    loop {
        let mut byte = [0];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut to = [IoSliceMut::new(&mut byte)];
        let received = match recvmsg(socket, &mut to, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Ok(received) => received,
            Err(Errno::INTR) => continue,
            Err(error) => {
                return Err(ReceiveMemoryError::System {
                    source: error.into(),
                });
            }
        };
        if received.bytes == 0 {
            return Err(ReceiveMemoryError::Closed);
        }
        return match what_came(&received, &mut control) {
            Came::One(memory) => Ok(memory),
            Came::Other(descriptors) => Err(ReceiveMemoryError::NotMemory { descriptors }),
            Came::NoRoom => Err(ReceiveMemoryError::NoRoom),
        };
    }
}
