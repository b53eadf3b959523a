//! What one writes by hand in place of an actor: frames over a Unix socket, each a length and two numbers, and a sum that comes back.

use std::io::{BufReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

use crate::linux::Outcome;

/// The argument of the process that answers; behind it `batches` or nothing.
pub(crate) const ANSWERS: &str = "--framed-answers";
const BATCHES: &str = "batches";
const LENGTH: usize = 4;
/// The number of the question, and what it says.
const BODY: usize = 16;
const ROOM: usize = 64 << 10;

/// One end: frames are read as they come, and written one by one, or together when no other is at hand.
struct Frames {
    from: BufReader<UnixStream>,
    to: UnixStream,
    batches: bool,
    unsent: Vec<u8>,
}

impl Frames {
    fn new(socket: UnixStream, batches: bool) -> Outcome<Self> {
        Ok(Frames {
            from: BufReader::with_capacity(ROOM, socket.try_clone()?),
            to: socket,
            batches,
            unsent: Vec::with_capacity(ROOM),
        })
    }

    /// The next frame; none at the end.
    fn read(&mut self) -> Outcome<Option<[u64; 2]>> {
        if self.from.buffer().len() < LENGTH + BODY {
            self.send()?;
        }
        let mut length = [0; LENGTH];
        if let Err(error) = self.from.read_exact(&mut length) {
            return match error.kind() {
                std::io::ErrorKind::UnexpectedEof => Ok(None),
                _ => Err(error.into()),
            };
        }
        if u32::from_le_bytes(length) as usize != BODY {
            return Err("a frame of another length".into());
        }
        let mut body = [0; BODY];
        self.from.read_exact(&mut body)?;
        let (one, other) = body.split_at(8);
        Ok(Some([
            u64::from_le_bytes(one.try_into()?),
            u64::from_le_bytes(other.try_into()?),
        ]))
    }

    fn write(&mut self, [one, other]: [u64; 2]) -> Outcome {
        self.unsent.extend_from_slice(&(BODY as u32).to_le_bytes());
        self.unsent.extend_from_slice(&one.to_le_bytes());
        self.unsent.extend_from_slice(&other.to_le_bytes());
        if self.batches { Ok(()) } else { self.send() }
    }

    fn send(&mut self) -> Outcome {
        if !self.unsent.is_empty() {
            self.to.write_all(&self.unsent)?;
            self.unsent.clear();
        }
        Ok(())
    }
}

/// What the other process does: it adds up.
pub(crate) fn answer() -> Outcome {
    let socket: OwnedFd = std::io::stdin().as_fd().try_clone_to_owned()?;
    let batches = std::env::args().nth(2).as_deref() == Some(BATCHES);
    let mut frames = Frames::new(socket.into(), batches)?;
    let mut sum = 0_u64;
    while let Some([number, more]) = frames.read()? {
        sum = sum.wrapping_add(more);
        frames.write([number, sum])?;
    }
    Ok(())
}

/// The process that answers, and the way to it.
pub(crate) struct Asker {
    frames: Frames,
    sum: u64,
    child: Child,
}

impl Asker {
    pub(crate) fn start(batches: bool) -> Outcome<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        let child = Command::new(std::env::current_exe()?)
            .arg(ANSWERS)
            .args(batches.then_some(BATCHES))
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .spawn()?;
        Ok(Asker {
            frames: Frames::new(socket, batches)?,
            sum: 0,
            child,
        })
    }

    /// Asks so many questions, so many of them at once.
    pub(crate) fn ask(&mut self, asks: u64, at_once: u64) -> Outcome {
        for number in 0..at_once.min(asks) {
            self.frames.write([number, 1])?;
        }
        for number in 0..asks {
            self.sum += 1;
            assert_eq!(self.frames.read()?, Some([number, self.sum]));
            if number + at_once < asks {
                self.frames.write([number + at_once, 1])?;
            }
        }
        Ok(())
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        // It ends when there is nothing more to be read.
        let _ = self.frames.to.shutdown(std::net::Shutdown::Write);
        let _ = self.child.wait();
    }
}
