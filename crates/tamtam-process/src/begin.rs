//! What a worker is told before its link begins: which actor it is to be, of what, and within which limits. And what it is handed: the
//! memory in which it says how far it has got, and perhaps a socket for its reports.

use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::timed::write_until;

/// No configuration is longer, in bytes: what is longer belongs into a message or a file.
const LONGEST_CONFIGURATION: u32 = 64 << 20;

/// What a worker is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Begin {
    /// The actor's name in its program.
    pub(crate) remote: String,
    /// What it is called among actors.
    pub(crate) name: Option<String>,
    pub(crate) config: Vec<u8>,
    pub(crate) limits: Limits,
    /// What its actors do is counted, for `tamtam top`.
    pub(crate) observes: bool,
    /// So many messages are confirmed at once at most: see [`most_unconfirmed`].
    pub(crate) most_unconfirmed: u64,
}

/// So many messages a worker confirms at once at most: each time costs the parent as much as some messages. Of those for which there is
/// room a quarter, so that senders do not wait while there is something to do.
pub(crate) fn most_unconfirmed(limit: Option<usize>) -> u64 {
    const MOST_CONFIRMED_AT_ONCE: u64 = 512;
    let of_limit = |limit| (limit as u64 / 4).clamp(1, MOST_CONFIRMED_AT_ONCE);
    limit.map_or(MOST_CONFIRMED_AT_ONCE, of_limit)
}

impl Begin {
    /// As bytes, with their length.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, String> {
        let mut bytes = vec![0; 4];
        tamtam_actor::link::encode(self, &mut bytes)?;
        let length = u32::try_from(bytes.len() - 4).ok();
        let length = length
            .filter(|length| *length <= LONGEST_CONFIGURATION)
            .ok_or_else(|| {
                format!(
                    "it takes {} bytes, and {LONGEST_CONFIGURATION} are the most",
                    bytes.len() - 4
                )
            })?;
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        Ok(bytes)
    }
}

/// What a worker is handed.
pub(crate) struct Handed {
    pub(crate) progress: OwnedFd,
    /// The memory of the link's carrier, if there is any.
    pub(crate) carrier: Option<OwnedFd>,
    /// Where it reports, if that is of use to the parent.
    pub(crate) reports: Option<OwnedFd>,
    /// So many processes had its place before it, and have ended.
    pub(crate) predecessors: u64,
}

/// So many descriptors are handed over at most.
const MOST_HANDED: usize = 3;

/// Sends what [`Begin::to_bytes`] has made, and what this worker alone is told: how many had its place before it, and what it is handed, in the
/// order of [`Handed`].
///
/// # Errors
///
/// `TimedOut` if the worker has not read it by then.
pub(crate) fn send(
    socket: &UnixStream,
    begin: &[u8],
    predecessors: u64,
    handed: [Option<BorrowedFd<'_>>; MOST_HANDED],
    deadline: Instant,
) -> io::Result<()> {
    let which = handed.iter().enumerate();
    let which = which.fold(0, |which, (place, fd)| {
        which | u8::from(fd.is_some()) << place
    });
    let fds: Vec<_> = handed.into_iter().flatten().collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_HANDED))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&fds));
    sendmsg(
        socket,
        &[IoSlice::new(&[which])],
        &mut control,
        SendFlags::NOSIGNAL,
    )?;
    write_until(socket, &predecessors.to_le_bytes(), deadline)?;
    write_until(socket, begin, deadline)
}

/// Receives it.
pub(crate) fn receive(mut socket: &UnixStream) -> io::Result<(Begin, Handed)> {
    let mut which = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_HANDED))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(
        socket.as_fd(),
        &mut [IoSliceMut::new(&mut which)],
        &mut control,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    if received.bytes == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut handed = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(fds) = message {
            handed.extend(fds);
        }
    }
    let missing = || io::Error::new(io::ErrorKind::InvalidData, "no memory came with it");
    let mut fds = handed.into_iter();
    let mut next = |place: u8| {
        if which[0] & 1 << place == 0 {
            return None;
        }
        fds.next()
    };
    let mut predecessors = [0; 8];
    socket.read_exact(&mut predecessors)?;
    let handed = Handed {
        progress: next(0).ok_or_else(missing)?,
        carrier: next(1),
        reports: next(2),
        predecessors: u64::from_le_bytes(predecessors),
    };
    let mut length = [0; 4];
    socket.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > LONGEST_CONFIGURATION {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "it is too long to be a beginning",
        ));
    }
    let mut bytes = vec![0; length as usize];
    socket.read_exact(&mut bytes)?;
    let begin = tamtam_actor::link::decode(&bytes)
        .map_err(|said| io::Error::new(io::ErrorKind::InvalidData, said))?;
    Ok((begin, handed))
}
