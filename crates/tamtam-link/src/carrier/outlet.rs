//! What the bytes of a link go out by, and what has been taken for it and is not written yet.

use std::io::{self, Write};
#[cfg(unix)]
use std::sync::Arc;
use std::time::{Duration, Instant};

use tamtam_wait::seam::{self, Mutex};

use super::writing::{PIECE, Writing};
use crate::core::Core;
use crate::descriptors::Attached;
use crate::link::Link;

/// Messages of which the next one comes this soon are a stream, which is written in larger pieces.
const STREAM: Duration = Duration::from_micros(50);

/// What the bytes of a link go out by.
pub(super) trait Outlet: Send + 'static {
    /// What they are written to, however long the other side takes.
    fn writer(&mut self) -> impl Write;

    /// Writes as many of these bytes as go without waiting; how many, or an error if there are none.
    fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Writes all of these bytes, and notes each piece. There are no descriptors, unless the link carries them: then they go, too.
    fn write_all(
        &mut self,
        bytes: &[u8],
        _: &mut Vec<Attached>,
        writing: &Writing,
    ) -> io::Result<()> {
        let mut writer = self.writer();
        for piece in bytes.chunks(PIECE) {
            writer.write_all(piece)?;
            writing.note_piece();
        }
        writer.flush()
    }
}

/// What can be written to, and may wait.
pub(super) struct Stream<W>(pub(super) W);

impl<W: Write + Send + 'static> Outlet for Stream<W> {
    fn writer(&mut self) -> impl Write {
        &mut self.0
    }

    fn write_now(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::WouldBlock.into())
    }
}

/// A socket that carries bytes only.
#[cfg(unix)]
pub(super) struct Socket<S>(pub(super) Arc<S>);

#[cfg(unix)]
impl<S> Outlet for Socket<S>
where
    S: std::os::fd::AsFd + Send + Sync + 'static,
    for<'a> &'a S: Write,
{
    fn writer(&mut self) -> impl Write {
        &*self.0
    }

    fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        send_now(&*self.0, bytes)
    }
}

/// Sends what a socket takes without waiting.
#[cfg(unix)]
pub(super) fn send_now(socket: &impl std::os::fd::AsFd, bytes: &[u8]) -> io::Result<usize> {
    use rustix::net::{SendFlags, send};
    let flags = SendFlags::DONTWAIT;
    // On Apple's systems it is the socket that says so; the standard library has set that.
    #[cfg(not(target_vendor = "apple"))]
    let flags = flags | SendFlags::NOSIGNAL;
    Ok(send(socket, bytes, flags)?)
}

/// What became of an attempt to write without waiting.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Attempt {
    /// All that was outgoing is written.
    Written,
    /// The thread that writes, or another sender, is at work.
    Busy,
    /// Something is left to the thread that writes.
    Left,
}

/// Where a link's bytes go out, for the thread that writes, and for senders that write themselves.
pub(super) struct Outgoing<O>(Mutex<Unwritten<O>>);

struct Unwritten<O> {
    /// Dropped when all is written: what ends with it ends before the carrier is closed, however long the link is kept.
    outlet: Option<O>,
    /// Taken from the link, and to be written before all else.
    bytes: Vec<u8>,
    attached: Vec<Attached>,
}

impl<O: Outlet> Outgoing<O> {
    pub(super) fn new(outlet: O) -> Self {
        Outgoing(Mutex::new(Unwritten {
            outlet: Some(outlet),
            bytes: Vec::new(),
            attached: Vec::new(),
        }))
    }

    /// Writes what is outgoing, unless that would wait.
    pub(super) fn write_now(&self, core: &Core, writing: &Writing) -> Attempt {
        let Some(mut unwritten) = self.0.try_lock() else {
            return Attempt::Busy;
        };
        let Unwritten {
            outlet: Some(outlet),
            bytes,
            attached,
        } = &mut *unwritten
        else {
            return Attempt::Left;
        };
        if !bytes.is_empty() || !core.take_outgoing_now(bytes, attached) || !attached.is_empty() {
            return Attempt::Left;
        }
        if bytes.is_empty() {
            // Another sender has taken it along.
            return Attempt::Written;
        }
        // What is wrong with it is found, and said, by the thread that writes.
        let written = outlet.write_now(bytes).unwrap_or(0);
        if written > 0 {
            writing.note_piece();
        }
        bytes.drain(..written);
        if bytes.is_empty() {
            Attempt::Written
        } else {
            Attempt::Left
        }
    }

    /// Writes what is outgoing until the link has ended, and that, too.
    pub(super) fn write_all(&self, link: &Link, writing: &Writing) {
        loop {
            // Looked at before what is outgoing is: what an end says is outgoing then.
            let has_ended = link.ended().is_some();
            match self.write_some(link, writing) {
                Ok(true) => {}
                Ok(false) if has_ended => break,
                Ok(false) => {
                    let idle = Instant::now();
                    writing.wait();
                    // A model has no clock.
                    if !cfg!(tamtam_loom) && idle.elapsed() < STREAM {
                        // More is coming: the sender, if it shares the core, fills a larger piece first.
                        seam::yield_now();
                    }
                }
                Err(error) => {
                    // What the other side has said before it went, its goodbye above all, is read first.
                    writing.wait_for_end(link);
                    link.lose(&format!("the stream cannot be written: {error}"));
                    break;
                }
            }
        }
        self.0.lock().outlet = None;
    }

    /// Writes what there is; `false` if there is nothing.
    fn write_some(&self, link: &Link, writing: &Writing) -> io::Result<bool> {
        let mut unwritten = self.0.lock();
        let Unwritten {
            outlet: Some(outlet),
            bytes,
            attached,
        } = &mut *unwritten
        else {
            return Ok(false);
        };
        if bytes.is_empty() {
            link.take_outgoing_with(bytes, attached);
        }
        if bytes.is_empty() {
            return Ok(false);
        }
        outlet.write_all(bytes, attached, writing)?;
        bytes.clear();
        // What a burst has taken is given back.
        bytes.shrink_to(1 << 20);
        Ok(true)
    }
}
