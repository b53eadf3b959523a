//! What carries a link's bytes between a parent and its worker: shared memory, or the socket where there is none.
//!
//! A worker that has attached to the memory says so by the first byte that it writes to the socket, or that it has not; from then on all goes the
//! one way or the other. What is in shared memory costs no system call as long as both sides are awake.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{SendFlags, send};
use tamtam_ipc::{CarrierError, CarrierReader, CarrierWaker, CarrierWriter};

/// So much of each direction may lie in memory, in bytes.
pub(crate) const MEMORY: usize = 256 << 10;
/// A worker's first byte: the rest goes through memory.
pub(crate) const BY_MEMORY: u8 = b'm';
/// A worker's first byte: the rest goes over the socket.
pub(crate) const BY_SOCKET: u8 = b's';

/// Both ends of one process in shared memory.
pub(crate) type Memory = (CarrierWriter, CarrierReader);

/// Where bytes go.
#[derive(Debug)]
pub(crate) enum Outgoing {
    Socket(Arc<UnixStream>),
    Memory(Box<CarrierWriter>, Arc<Halt>),
}

/// Ends what a thread does at the memory from another one: a process may have spoiled what the memory says of its life, and then a thread that
/// waits there would wait for ever.
#[derive(Debug)]
pub(crate) struct Halt {
    is_halted: AtomicBool,
    waiting: CarrierWaker,
}

impl Halt {
    fn new(waiting: CarrierWaker) -> Self {
        Halt {
            is_halted: AtomicBool::new(false),
            waiting,
        }
    }

    fn is_halted(&self) -> bool {
        self.is_halted.load(Ordering::SeqCst)
    }

    fn halt(&self) {
        if !self.is_halted.swap(true, Ordering::SeqCst) {
            self.waiting.wake();
        }
    }
}

/// How to end the writing to one process.
#[derive(Debug)]
pub(crate) enum Halter {
    Socket(Arc<UnixStream>),
    Memory(Arc<Halt>),
}

impl Halter {
    /// A thread that writes is told.
    pub(crate) fn halt(&self) {
        match self {
            Halter::Socket(socket) => {
                let _ = socket.shutdown(std::net::Shutdown::Both);
            }
            Halter::Memory(halt) => halt.halt(),
        }
    }
}

impl Outgoing {
    pub(crate) fn by_memory(writer: CarrierWriter) -> Self {
        let halt = Halt::new(writer.waker());
        Outgoing::Memory(Box::new(writer), Arc::new(halt))
    }

    pub(crate) fn halter(&self) -> Halter {
        match self {
            Outgoing::Socket(socket) => Halter::Socket(Arc::clone(socket)),
            Outgoing::Memory(_, halt) => Halter::Memory(Arc::clone(halt)),
        }
    }

    /// Writes as many of these bytes as are taken at once.
    pub(crate) fn write_now(&mut self, bytes: &[u8]) -> usize {
        let mut written = 0;
        while written < bytes.len() {
            let rest = &bytes[written..];
            let count = match self {
                Outgoing::Socket(socket) => {
                    match send(socket, rest, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                        Err(rustix::io::Errno::INTR) => continue,
                        sent => sent.unwrap_or(0),
                    }
                }
                Outgoing::Memory(writer, _) => writer.write(rest).unwrap_or(0),
            };
            if count == 0 {
                // It is full; or it is broken, which is found by the one who reads.
                break;
            }
            written += count;
        }
        written
    }

    /// Writes all of them.
    pub(crate) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Outgoing::Socket(socket) => (&**socket).write_all(bytes),
            Outgoing::Memory(writer, halt) => {
                let mut rest = bytes;
                while !rest.is_empty() {
                    match writer.write(rest)? {
                        0 if halt.is_halted() => return Err(io::ErrorKind::BrokenPipe.into()),
                        0 => writer.wait(|| !halt.is_halted())?,
                        count => rest = &rest[count..],
                    }
                }
                Ok(())
            }
        }
    }

    /// Whether writing what is taken at once is so cheap that no other thread has to be woken for it.
    pub(crate) fn is_cheap(&self) -> bool {
        matches!(self, Outgoing::Memory(..))
    }
}

/// Where bytes come from.
#[derive(Debug)]
pub(crate) enum Incoming {
    Socket(UnixStream),
    Memory(Box<CarrierReader>, Arc<Beside>),
}

/// The socket beside the memory, which stays open: it says that the other side is gone also where that has spoiled what the memory says.
#[derive(Debug)]
pub(crate) struct Beside {
    socket: UnixStream,
    reader: Halt,
}

impl Beside {
    pub(crate) fn new(socket: UnixStream, reader: CarrierWaker) -> Arc<Self> {
        Arc::new(Beside {
            socket,
            reader: Halt::new(reader),
        })
    }

    fn is_gone(&self) -> bool {
        self.reader.is_halted()
    }

    /// Looks whether the other side is gone, for the one who waits at the memory.
    pub(crate) fn look(&self) {
        // Nothing comes over it but its end.
        let mut fds = [PollFd::new(&self.socket, PollFlags::IN)];
        let now = Duration::ZERO.try_into().ok();
        if matches!(poll(&mut fds, now.as_ref()), Ok(1)) {
            self.reader.halt();
        }
    }
}

impl Incoming {
    /// Reads what has come; waits for it until the deadline. `None` if that passes before; `Some(0)` if nothing will come any more.
    pub(crate) fn read(
        &mut self,
        bytes: &mut [u8],
        deadline: Option<Instant>,
    ) -> io::Result<Option<usize>> {
        loop {
            match self {
                Incoming::Socket(socket) => {
                    if let Some(deadline) = deadline {
                        let left = deadline.saturating_duration_since(Instant::now());
                        if left == Duration::ZERO {
                            return Ok(None);
                        }
                        let left = left.try_into().ok();
                        let mut fds = [PollFd::new(socket, PollFlags::IN)];
                        if !matches!(poll(&mut fds, left.as_ref()), Ok(1)) {
                            continue;
                        }
                    }
                    match socket.read(bytes) {
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        read => return read.map(Some),
                    }
                }
                Incoming::Memory(reader, beside) => {
                    match reader.read(bytes) {
                        Ok(0) if beside.is_gone() => return Ok(Some(0)),
                        Ok(0) => {}
                        Ok(count) => return Ok(Some(count)),
                        Err(CarrierError::Closed) => return Ok(Some(0)),
                        Err(error) => return Err(error.into()),
                    }
                    if !reader.wait(deadline, || !beside.is_gone())? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// What is beside the memory.
    pub(crate) fn beside(&self) -> Option<Arc<Beside>> {
        match self {
            Incoming::Socket(_) => None,
            Incoming::Memory(_, beside) => Some(Arc::clone(beside)),
        }
    }
}

/// The parent: hears which way the worker has taken. An error if it has died before, or talks nonsense.
pub(crate) fn agree(
    socket: UnixStream,
    memory: Option<Memory>,
) -> io::Result<(Outgoing, Incoming)> {
    let mut way = [0];
    (&socket).read_exact(&mut way)?;
    match (way[0], memory) {
        (BY_MEMORY, Some((writer, reader))) => {
            let beside = Beside::new(socket, reader.waker());
            Ok((
                Outgoing::by_memory(writer),
                Incoming::Memory(Box::new(reader), beside),
            ))
        }
        (BY_SOCKET, _) => Ok((
            Outgoing::Socket(Arc::new(socket.try_clone()?)),
            Incoming::Socket(socket),
        )),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "it has not said how it is to be talked to",
        )),
    }
}
