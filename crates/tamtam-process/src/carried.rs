//! What carries a link's bytes between a parent and its worker: shared memory, or the socket where there is none.
//!
//! A worker that has attached to the memory says so by the first byte that it writes to the socket, or that it has not; from then on all goes the
//! one way or the other. What is in shared memory costs no system call as long as both sides are awake. Descriptors go over the socket in either
//! case.

use std::any::Any;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{RecvFlags, SendFlags, send};
use tamtam_actor::link::Call;
use tamtam_ipc::{CarrierError, CarrierReader, CarrierWaker, CarrierWriter};
use tamtam_link::carrier::{has_closed, rights};
use tamtam_link::{Attached, DirectOutlet, Inbound, Link, Seats};

use crate::carrier::Carrier;
use crate::descriptors::{self, DescriptorReader};
use crate::timed::read_until;

/// So much of each direction may lie in memory, in bytes.
pub(crate) const MEMORY: usize = 256 << 10;
/// A worker's first byte: the rest goes through memory.
pub(crate) const BY_MEMORY: u8 = b'm';
/// A worker's first byte: the rest goes over the socket.
pub(crate) const BY_SOCKET: u8 = b's';
/// The same, of a worker that could not attach to the memory: 2 bytes follow, the lowest first, how long is what it says of that, and that.
const BY_SOCKET_SINCE: u8 = b'r';
/// So long it is at most, in bytes.
const LONGEST_REFUSAL: usize = 1 << 10;

/// Both ends of one process in shared memory.
pub(crate) type Memory = (CarrierWriter, CarrierReader);

/// Where bytes go.
#[derive(Debug)]
pub(crate) enum Outgoing {
    Socket(Arc<UnixStream>),
    Memory(Box<ToMemory>),
}

/// The memory that bytes go to, which is lent to the link while nothing is in the way: see [`DirectOutlet`].
#[derive(Debug)]
pub(crate) struct ToMemory {
    writer: CarrierWriter,
    halt: Arc<Halt>,
    /// Descriptors go over it.
    socket: Arc<UnixStream>,
}

impl DirectOutlet for ToMemory {
    fn put(&mut self, bytes: &[u8]) -> bool {
        // What is wrong with it is found by the one who reads.
        self.writer.put(bytes).unwrap_or(false)
    }

    fn show(&mut self, answered: Seats) -> Option<Call> {
        let sleeper = self.writer.show_to(answered)?;
        Some(Box::new(move || sleeper.wake()))
    }
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
    pub(crate) fn by_memory(writer: CarrierWriter, socket: Arc<UnixStream>) -> Self {
        let halt = Arc::new(Halt::new(writer.waker()));
        Outgoing::Memory(Box::new(ToMemory {
            writer,
            halt,
            socket,
        }))
    }

    /// Lends it to the link, if senders may write to it by themselves. It comes back if not.
    pub(crate) fn lend_to(self, link: &Link) -> Option<Self> {
        match self {
            Outgoing::Memory(memory) => {
                link.lend_direct(memory);
                None
            }
            Outgoing::Socket(_) => Some(self),
        }
    }

    /// Takes it back from the link.
    pub(crate) fn take_from(link: &Link) -> Option<Self> {
        let lent: Box<dyn Any> = link.take_direct()?;
        lent.downcast().ok().map(Outgoing::Memory)
    }

    pub(crate) fn halter(&self) -> Halter {
        match self {
            Outgoing::Socket(socket) => Halter::Socket(Arc::clone(socket)),
            Outgoing::Memory(memory) => Halter::Memory(Arc::clone(&memory.halt)),
        }
    }

    /// Sends descriptors where they go by themselves, before the bytes.
    fn send_ahead(&self, attached: &mut Vec<Attached>) {
        if let Outgoing::Memory(memory) = self {
            for attached in attached.drain(..) {
                descriptors::send(&memory.socket, &attached);
            }
        }
    }

    /// Writes as many of these bytes as are taken at once, with the descriptors that are to go with them, for threads that wait at these seats.
    pub(crate) fn write_now(
        &mut self,
        bytes: &[u8],
        attached: &mut Vec<Attached>,
        answered: Seats,
    ) -> usize {
        self.send_ahead(attached);
        // Those that go with the bytes are for the thread that may wait.
        let bytes = match attached.first() {
            Some(attached) => &bytes[..attached.frame.start],
            None => bytes,
        };
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
                Outgoing::Memory(memory) => memory.writer.write_to(rest, answered).unwrap_or(0),
            };
            if count == 0 {
                // It is full; or it is broken, which is found by the one who reads.
                break;
            }
            written += count;
        }
        for attached in attached {
            attached.frame = attached.frame.start - written..attached.frame.end - written;
        }
        written
    }

    /// Writes all of them.
    pub(crate) fn write_all(
        &mut self,
        bytes: &[u8],
        attached: &mut Vec<Attached>,
        answered: Seats,
    ) -> io::Result<()> {
        self.send_ahead(attached);
        match self {
            Outgoing::Socket(socket) => {
                rights::write_all_with(socket, bytes, attached, usize::MAX, || {})
            }
            Outgoing::Memory(memory) => {
                let ToMemory { writer, halt, .. } = &mut **memory;
                let mut rest = bytes;
                while !rest.is_empty() {
                    match writer.write_to(rest, answered)? {
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
    socket: Arc<UnixStream>,
    reader: Halt,
}

impl Beside {
    pub(crate) fn new(socket: Arc<UnixStream>, reader: CarrierWaker) -> Arc<Self> {
        Arc::new(Beside {
            socket,
            reader: Halt::new(reader),
        })
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.reader.is_halted()
    }

    /// Looks whether the other side is gone, for the one who waits at the memory.
    pub(crate) fn look(&self) {
        // Descriptors come over it, and its end.
        if has_closed(&self.socket) {
            self.reader.halt();
        }
    }
}

impl Incoming {
    /// Whether the other side is gone, as far as the socket says.
    pub(crate) fn is_gone(&self) -> bool {
        match self {
            Incoming::Socket(socket) => has_closed(socket),
            Incoming::Memory(_, beside) => has_closed(&beside.socket),
        }
    }

    /// Reads what has come, with the descriptors that have come with the last of it; waits for it until the deadline. `None` if that passes before;
    /// `Some(0)` if nothing will come any more.
    pub(crate) fn read(
        &mut self,
        bytes: &mut [u8],
        descriptors: &mut Vec<OwnedFd>,
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
                    let flags = RecvFlags::empty();
                    return rights::receive_with(socket, bytes, descriptors, flags).map(Some);
                }
                Incoming::Memory(reader, beside) => {
                    if let Some(count) = read_memory(reader, beside, bytes)? {
                        return Ok(Some(count));
                    }
                    if !reader.wait(deadline, || !beside.is_gone())? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Has what is received ask for descriptors where they do not come with the bytes.
    pub(crate) fn serve_descriptors(&self, inbound: &mut Inbound) {
        if let Incoming::Memory(_, beside) = self {
            let mut reader = DescriptorReader::new(Arc::clone(&beside.socket));
            inbound.fetch_descriptors(move |number| reader.fetch(number));
        }
    }
}

/// Reads what has come into memory, and does not wait; `None` if nothing has, `Some(0)` if nothing will come any more.
pub(crate) fn read_memory(
    reader: &mut CarrierReader,
    beside: &Beside,
    bytes: &mut [u8],
) -> io::Result<Option<usize>> {
    // Before the look: what the other side had written until then is there.
    let is_gone = beside.is_gone();
    match reader.read(bytes) {
        Ok(0) if !is_gone => Ok(None),
        Ok(count) => Ok(Some(count)),
        Err(CarrierError::Closed) => Ok(Some(0)),
        Err(error) => Err(error.into()),
    }
}

/// What a worker writes first where it could not attach to the memory.
pub(crate) fn refusal(why: &str) -> Vec<u8> {
    let mut end = why.len().min(LONGEST_REFUSAL);
    while !why.is_char_boundary(end) {
        end -= 1;
    }
    let length = end as u16;
    [
        &[BY_SOCKET_SINCE][..],
        &length.to_le_bytes(),
        &why.as_bytes()[..end],
    ]
    .concat()
}

/// Why the worker could not attach to the memory.
fn read_refusal(socket: &UnixStream, deadline: Instant) -> io::Result<Arc<str>> {
    let mut length = [0; 2];
    read_until(socket, &mut length, deadline)?;
    let length = usize::from(u16::from_le_bytes(length));
    if length > LONGEST_REFUSAL {
        return Err(not_understood());
    }
    let mut why = vec![0; length];
    read_until(socket, &mut why, deadline)?;
    let why = String::from_utf8_lossy(&why);
    Ok(format!("it could not attach to the shared memory: {why}").into())
}

fn not_understood() -> io::Error {
    let text = "it has not said how it is to be talked to";
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// The parent: hears which way the worker has taken, of the memory that it was offered, or why there was none.
///
/// # Errors
///
/// `TimedOut` if it has not said so by then, `InvalidData` if it talks nonsense; any other if it has died before.
pub(crate) fn agree(
    socket: UnixStream,
    memory: Result<Memory, Arc<str>>,
    deadline: Instant,
) -> io::Result<(Outgoing, Incoming, Carrier)> {
    let mut way = [0];
    read_until(&socket, &mut way, deadline)?;
    let refused = match (way[0], memory) {
        (BY_MEMORY, Ok((writer, reader))) => {
            let socket = Arc::new(socket);
            let beside = Beside::new(Arc::clone(&socket), reader.seats().waker());
            return Ok((
                Outgoing::by_memory(writer, socket),
                Incoming::Memory(Box::new(reader), beside),
                Carrier::SharedMemory,
            ));
        }
        (BY_SOCKET, memory) => memory.err(),
        (BY_SOCKET_SINCE, _) => Some(read_refusal(&socket, deadline)?),
        _ => return Err(not_understood()),
    };
    Ok((
        Outgoing::Socket(Arc::new(socket.try_clone()?)),
        Incoming::Socket(socket),
        Carrier::Socket { refused },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamtam_actor::{Address, Pool, Reply};
    use tamtam_ipc::Slot;

    type Question = (Vec<Slot<u64>>, Vec<u8>, Reply<u64>);

    /// Carries all that goes from one to the other, as a parent does.
    fn carry(from: &Link, mut outgoing: Outgoing, mut incoming: Incoming, mut inbound: Inbound) {
        incoming.serve_descriptors(&mut inbound);
        let from = from.clone();
        std::thread::spawn(move || {
            let (mut bytes, mut attached) = (Vec::new(), Vec::new());
            while from.ended().is_none() {
                let answered = from.take_outgoing_with(&mut bytes, &mut attached);
                // As much as is taken at once, and then the rest.
                let written = outgoing.write_now(&bytes, &mut attached, answered);
                let rest = &bytes[written..];
                if outgoing.write_all(rest, &mut attached, answered).is_err() {
                    return;
                }
                bytes.clear();
                std::thread::yield_now();
            }
        });
        std::thread::spawn(move || {
            let mut portion = vec![0; 4 << 10];
            loop {
                let mut descriptors = Vec::new();
                match incoming.read(&mut portion, &mut descriptors, None) {
                    Ok(Some(0)) | Err(_) => return,
                    Ok(None) => {}
                    Ok(Some(count)) => {
                        let received = inbound.receive_with(&portion[..count], descriptors);
                        if received.is_err() {
                            return;
                        }
                    }
                }
            }
        });
    }

    /// Descriptors come with their messages, among others and longer ones than are taken at once.
    fn ends_go(ways: [(Outgoing, Incoming); 2]) {
        let pool = Pool::with_threads(1);
        let actor = pool.spawn_fn(|(slots, bytes, reply): Question, _| {
            let sum = slots.iter().map(|slot| slot.try_take().unwrap());
            reply.send(sum.sum::<u64>() + bytes.len() as u64);
        });
        let builder = || Link::builder().carry_descriptors();
        let (here, to_here) = builder().build(|| {});
        let (there, to_there) = builder().root(&actor).build(|| {});
        let [(of_here, in_here), (of_there, in_there)] = ways;
        carry(&here, of_here, in_there, to_there);
        carry(&there, of_there, in_here, to_here);
        let far: Address<Question> = here.root();
        for number in 0..200_u64 {
            let slots = (0..number % 4).map(|place| {
                let slot = Slot::create().unwrap();
                slot.put(place * 1_000_000);
                slot
            });
            let slots: Vec<_> = slots.collect();
            let bytes = vec![7; (number * 7_919 % 400_000) as usize];
            let expected = (0..number % 4).sum::<u64>() * 1_000_000 + bytes.len() as u64;
            assert_eq!(far.ask(|reply| (slots, bytes, reply)), Ok(expected));
        }
        here.close();
        there.close();
    }

    #[test]
    fn descriptors_go_over_the_socket_with_the_bytes() {
        let (here, there) = UnixStream::pair().unwrap();
        let way = |socket: UnixStream| {
            (
                Outgoing::Socket(Arc::new(socket.try_clone().unwrap())),
                Incoming::Socket(socket),
            )
        };
        ends_go([way(here), way(there)]);
    }

    #[test]
    fn descriptors_go_over_the_socket_beside_the_memory() {
        let (here, there) = UnixStream::pair().unwrap();
        let one = tamtam_ipc::carrier(MEMORY).unwrap();
        let memory = one.1.memory().try_clone_to_owned().unwrap();
        let other = tamtam_ipc::attach(memory).unwrap();
        let way = |socket: UnixStream, (writer, reader): Memory| {
            let socket = Arc::new(socket);
            let beside = Beside::new(Arc::clone(&socket), reader.waker());
            (
                Outgoing::by_memory(writer, socket),
                Incoming::Memory(Box::new(reader), beside),
            )
        };
        ends_go([way(here, one), way(there, other)]);
    }
}
