//! Pipes as a carrier: each read and each write waits for the pipe or for the link's end, whichever comes first.

use std::io::{self, PipeReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::outlet::Outlet;
use super::{carry_bytes, has_closed};
use crate::link::{Link, LinkBuilder};

/// A pipe that holds something less than this takes so many bytes at once without waiting (POSIX).
const ROOM: usize = rustix::pipe::PIPE_BUF;

/// A link over two pipes, such as a child's output and input, or this program's own input and output.
///
/// Unlike [`streams`](super::streams), a link that was closed gives both of them back, whatever the other side does: a pipe that it neither reads nor writes keeps
/// no thread. Where the other side takes nothing, that is after 2 seconds.
///
/// # Errors
///
/// If the system has no descriptor for a pipe, or no thread.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Address, Pool, Reply};
/// use tamtam_link::{Link, carrier};
///
/// let pool = Pool::new();
/// let doubler = pool.spawn_fn(|(n, reply): (u32, Reply<u32>), _| reply.send(2 * n));
///
/// // In two programs these would be a child's: `child.stdout` and `child.stdin`.
/// let (to_here, from_there) = std::io::pipe()?;
/// let (to_there, from_here) = std::io::pipe()?;
/// let there = carrier::pipes(Link::builder().root(&doubler), to_there, from_there)?;
/// let here = carrier::pipes(Link::builder(), to_here, from_here)?;
/// let far: Address<(u32, Reply<u32>)> = here.root();
/// assert_eq!(far.ask(|reply| (21, reply))?, 42);
/// here.close();
/// # drop(there);
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub fn pipes(
    builder: LinkBuilder,
    read: impl Into<OwnedFd>,
    write: impl Into<OwnedFd>,
) -> io::Result<Link> {
    // Its other end is dropped when the link has ended.
    let (ended, open) = io::pipe()?;
    let ended = Arc::new(ended);
    let pipe = Arc::new(std::fs::File::from(read.into()));
    let read = Ending {
        pipe: Arc::clone(&pipe),
        ended: Arc::clone(&ended),
    };
    let write = Ending {
        pipe: Arc::new(write.into().into()),
        ended,
    };
    let is_gone = move || has_closed(&pipe);
    carry_bytes(builder, read, is_gone, write, move || drop(open))
}

/// A pipe, and that which ends waiting for it.
struct Ending {
    pipe: Arc<std::fs::File>,
    ended: Arc<PipeReader>,
}

impl Ending {
    /// Waits until the pipe can be read or written; `false` if the link has ended.
    fn wait(&self, what: PollFlags) -> io::Result<bool> {
        loop {
            let (pipe, ended) = (self.pipe.as_fd(), self.ended.as_fd());
            let mut both = [PollFd::new(&pipe, what), PollFd::new(&ended, PollFlags::IN)];
            match poll(&mut both, None) {
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
                Ok(_) if !both[1].revents().is_empty() => return Ok(false),
                Ok(_) => return Ok(true),
            }
        }
    }

    /// Does this once the pipe is ready; again, if it was not: it may be one that does not wait. `None` if the link has ended.
    fn when_ready(
        &mut self,
        what: PollFlags,
        mut act: impl FnMut(&mut &std::fs::File) -> io::Result<usize>,
    ) -> io::Result<Option<usize>> {
        while self.wait(what)? {
            match act(&mut &*self.pipe) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done.map(Some),
            }
        }
        Ok(None)
    }
}

impl Read for Ending {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.when_ready(PollFlags::IN, |pipe| pipe.read(bytes))?;
        Ok(read.unwrap_or(0))
    }
}

impl Write for Ending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(ROOM)];
        let written = self.when_ready(PollFlags::OUT, |pipe| pipe.write(bytes))?;
        written.ok_or_else(|| io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Outlet for Ending {
    fn writer(&mut self) -> impl Write {
        self
    }

    fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(ROOM)];
        let mut pipe = [PollFd::new(&self.pipe, PollFlags::OUT)];
        poll(&mut pipe, Some(&Timespec::default()))?;
        if pipe[0].revents() != PollFlags::OUT {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        (&*self.pipe).write(bytes)
    }
}
