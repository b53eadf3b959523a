//! A Unix socket as a carrier: descriptors go with the frame that says their number.
//!
//! The kernel keeps the bytes that were sent together with descriptors apart from those behind them (unix(7)): what is received at once ends
//! with such bytes. So descriptors belong to the frame of the last byte that came with them, whatever went wrong before.

use std::io::{self, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use super::outlet::{Outlet, send_now};
use super::writing::{PIECE, Writing};
use crate::descriptors::{Attached, MOST_IN_MESSAGE};

/// The way out of a Unix socket, with descriptors.
pub(super) struct Rights(pub(super) Arc<UnixStream>);

impl Outlet for Rights {
    fn writer(&mut self) -> impl Write {
        &*self.0
    }

    fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        send_now(&*self.0, bytes)
    }

    fn write_all(
        &mut self,
        bytes: &[u8],
        attached: &mut Vec<Attached>,
        writing: &Writing,
    ) -> io::Result<()> {
        write_all_with(&self.0, bytes, attached, PIECE, || writing.note_piece())
    }
}

/// Sends bytes with descriptors, of which the first byte at least is taken; how many were.
///
/// # Errors
///
/// Those of `sendmsg(2)`; of the kind `WouldBlock` if the socket is full and `flags` say that this does not wait.
pub fn send_with(
    socket: &UnixStream,
    bytes: &[u8],
    attached: &Attached,
    flags: SendFlags,
) -> io::Result<usize> {
    let descriptors = attached.descriptors();
    loop {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_IN_MESSAGE))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
        let flags = flags | SendFlags::NOSIGNAL;
        match sendmsg(socket, &[IoSlice::new(bytes)], &mut control, flags) {
            Err(Errno::INTR) => {}
            sent => return Ok(sent?),
        }
    }
}

/// Receives bytes, and appends the descriptors that have come with the last of them: as many as a message may have, the others are closed.
///
/// # Errors
///
/// Those of `recvmsg(2)`.
pub fn receive_with(
    socket: &UnixStream,
    bytes: &mut [u8],
    descriptors: &mut Vec<OwnedFd>,
    flags: RecvFlags,
) -> io::Result<usize> {
    loop {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_IN_MESSAGE))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = flags | RecvFlags::CMSG_CLOEXEC;
        let mut to = [IoSliceMut::new(bytes)];
        let received = match recvmsg(socket, &mut to, &mut control, flags) {
            Err(Errno::INTR) => continue,
            received => received?,
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                descriptors.extend(rights);
            }
        }
        return Ok(received.bytes);
    }
}

/// Writes all of these bytes, each frame that has descriptors with those; says when as many as `piece` are written, or fewer.
///
/// # Errors
///
/// Those of writing.
pub fn write_all_with(
    socket: &UnixStream,
    bytes: &[u8],
    attached: &mut Vec<Attached>,
    piece: usize,
    mut note_piece: impl FnMut(),
) -> io::Result<()> {
    let mut write_all = |bytes: &[u8]| {
        bytes.chunks(piece).try_for_each(|bytes| {
            (&*socket).write_all(bytes)?;
            note_piece();
            Ok(())
        })
    };
    let mut written = 0;
    for attached in attached.drain(..) {
        write_all(&bytes[written..attached.frame.start])?;
        written = attached.frame.start;
        let frame = &bytes[attached.frame.clone()];
        match send_with(socket, frame, &attached, SendFlags::empty()) {
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Err(error),
            // The system takes none: the frame goes without, and the reader says so to the one who asks.
            Err(_) => {}
        }
    }
    write_all(&bytes[written..])
}
