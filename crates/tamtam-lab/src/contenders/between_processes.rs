//! Turns and streams between two processes: in memory that they share, and over a Unix socket, bare.

mod memory_stream;
mod socket_stream;

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;

use tamtam_ipc::{Plain, Receiver, Sender, Slot, Wait, channel};

use super::shared_memory::{self, unavailable};
use super::{VERSION, standard};
use crate::post::processes::{self as streams, ProcessQueue};
use crate::processes::{self, ProcessHandover};
use crate::{
    Card, Contender, End, Failure, Measure, Packet, Post, PrivateFolder, Retrieve, RetrieveMany,
    ServerProcess, Serving, Turn,
};

pub(super) const ALL: &[&dyn Contender] = &[
    &SlotsApart,
    &ChannelsApart {
        wait: Wait::Adaptive,
    },
    &ChannelsApart { wait: Wait::Spin },
    &ChannelBatchesApart,
    &Socket,
    &SocketBatches,
];

/// How the receiver of a stream takes its messages.
#[derive(Debug, Clone, Copy)]
enum Taking {
    Singly,
    Many,
}

impl Taking {
    /// The server's side of a stream.
    fn receive_all<P: Packet>(
        self,
        packets: impl Retrieve<P> + RetrieveMany<P>,
        counts: impl Post<Turn>,
    ) {
        match self {
            Taking::Singly => streams::receive(packets, counts),
            Taking::Many => streams::receive_many(packets, counts),
        }
    }
}

/// Two slots in shared memory, one each way.
#[derive(Debug, Clone, Copy)]
struct SlotsApart;

const SLOT: &str = "ipc-slot";

impl Contender for SlotsApart {
    fn card(&self) -> Card {
        Card {
            name: SLOT,
            version: VERSION,
            ours: true,
            about: "a slot each way in memory that two processes share",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        processes::measures(*self)
    }

    fn serve(&self) -> Result<Serving, Failure> {
        let incoming = Slot::create().map_err(unavailable)?;
        let outgoing = Slot::create().map_err(unavailable)?;
        let address = shared_memory::address([incoming.memory(), outgoing.memory()]);
        let end = ApartSlotEnd { outgoing, incoming };
        thread::Builder::new().spawn(move || processes::answer(end))?;
        Ok(Serving::at(address, ()))
    }
}

impl ProcessHandover for SlotsApart {
    type End = ApartSlotEnd;

    fn open(&self) -> Result<(ServerProcess, ApartSlotEnd), Failure> {
        let process = ServerProcess::start(SLOT)?;
        let memory = |place| shared_memory::open(process.address(), place);
        let end = ApartSlotEnd {
            outgoing: Slot::attach(memory(0)?).map_err(unavailable)?,
            incoming: Slot::attach(memory(1)?).map_err(unavailable)?,
        };
        Ok((process, end))
    }
}

struct ApartSlotEnd {
    outgoing: Slot<u64>,
    incoming: Slot<u64>,
}

impl End<Turn> for ApartSlotEnd {
    fn send(&mut self, Turn(number): Turn) {
        self.outgoing.put(number);
    }

    fn receive(&mut self) -> Turn {
        Turn(self.incoming.take())
    }
}

/// Two channels in shared memory, one each way.
#[derive(Debug, Clone, Copy)]
struct ChannelsApart {
    wait: Wait,
}

/// How many messages a channel holds.
const CAPACITY: usize = 16;

impl ChannelsApart {
    fn name(self) -> &'static str {
        match self.wait {
            Wait::Spin => "ipc-channel-spin",
            _ => "ipc-channel",
        }
    }
}

impl Contender for ChannelsApart {
    fn card(&self) -> Card {
        Card {
            name: self.name(),
            version: VERSION,
            ours: true,
            about: match self.wait {
                Wait::Spin => {
                    "a channel each way in memory that two processes share, spinning: fast only on a core of its own"
                }
                _ => "a channel each way in memory that two processes share, with the default wait",
            },
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = processes::measures(*self);
        // One that spins is for answers that come soon.
        if self.wait != Wait::Spin {
            measures.extend(streams::measures(*self));
        }
        measures
    }

    fn serve_part(&self, part: &str) -> Result<Serving, Failure> {
        memory_stream::serve(part, Taking::Singly)
    }

    fn serve(&self) -> Result<Serving, Failure> {
        let (there, incoming) = channel(CAPACITY).map_err(unavailable)?;
        let (outgoing, back) = channel::<u64>(CAPACITY).map_err(unavailable)?;
        // The client takes its place.
        let back = back.hand_over()?;
        let address = shared_memory::address([there.memory(), std::os::fd::AsFd::as_fd(&back)]);
        let incoming = incoming.with_wait(self.wait);
        let end = ApartChannelEnd { outgoing, incoming };
        thread::Builder::new().spawn(move || processes::answer(end))?;
        // The channel to this process stays open until the client has a sender.
        Ok(Serving::at(address, (there, back)))
    }
}

impl ProcessHandover for ChannelsApart {
    type End = ApartChannelEnd;

    fn open(&self) -> Result<(ServerProcess, ApartChannelEnd), Failure> {
        let process = ServerProcess::start(self.name())?;
        let memory = |place| shared_memory::open(process.address(), place);
        let incoming = Receiver::attach(memory(1)?).map_err(unavailable)?;
        let end = ApartChannelEnd {
            outgoing: Sender::attach(memory(0)?).map_err(unavailable)?,
            incoming: incoming.with_wait(self.wait),
        };
        Ok((process, end))
    }
}

struct ApartChannelEnd {
    outgoing: Sender<u64>,
    incoming: Receiver<u64>,
}

impl End<Turn> for ApartChannelEnd {
    fn send(&mut self, Turn(number): Turn) {
        // Without a receiver no answer comes, which is noticed.
        let _ = self.outgoing.send(number);
    }

    fn receive(&mut self) -> Turn {
        Turn(self.incoming.recv().unwrap_or(LOST))
    }
}

impl<const N: usize> ProcessQueue<[u64; N]> for ChannelsApart
where
    [u64; N]: Plain,
{
    type Sender = Sender<[u64; N]>;
    type Counts = Receiver<u64>;

    fn open(&self) -> Result<memory_stream::MemoryClient<N>, Failure> {
        memory_stream::open(self.name())
    }
}

/// A channel in shared memory, many messages at a time at both ends.
#[derive(Debug, Clone, Copy)]
struct ChannelBatchesApart;

const CHANNEL_BATCHES: &str = "ipc-channel-batches";

impl Contender for ChannelBatchesApart {
    fn card(&self) -> Card {
        Card {
            name: CHANNEL_BATCHES,
            version: VERSION,
            ours: true,
            about: "a channel in memory that two processes share: messages sent with send_many, received with recv_many",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        streams::batched(*self)
    }

    fn serve_part(&self, part: &str) -> Result<Serving, Failure> {
        memory_stream::serve(part, Taking::Many)
    }
}

impl<const N: usize> ProcessQueue<[u64; N]> for ChannelBatchesApart
where
    [u64; N]: Plain,
{
    type Sender = Sender<[u64; N]>;
    type Counts = Receiver<u64>;

    fn open(&self) -> Result<memory_stream::MemoryClient<N>, Failure> {
        memory_stream::open(CHANNEL_BATCHES)
    }
}

/// What stands for a message that will not come: the answer to no turn.
const LOST: u64 = u64::MAX - 1;

/// A Unix socket, eight bytes each way.
#[derive(Debug, Clone, Copy)]
struct Socket;

const SOCKET: &str = "unix-stream";

impl Contender for Socket {
    fn card(&self) -> Card {
        Card {
            name: SOCKET,
            version: standard::VERSION,
            ours: false,
            about: "a Unix socket between two processes: in turns eight bytes each way, in post frames, with a write for each",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = processes::measures(*self);
        measures.extend(streams::measures(*self));
        measures
    }

    fn serve_part(&self, part: &str) -> Result<Serving, Failure> {
        socket_stream::serve(part, Taking::Singly)
    }

    fn serve(&self) -> Result<Serving, Failure> {
        let (folder, path) = PrivateFolder::listening(|socket| {
            thread::spawn(move || processes::answer(ApartSocketEnd(socket)));
        })?;
        Ok(Serving::at(path.to_string_lossy(), folder))
    }
}

impl ProcessHandover for Socket {
    type End = ApartSocketEnd;

    fn open(&self) -> Result<(ServerProcess, ApartSocketEnd), Failure> {
        let process = ServerProcess::start(SOCKET)?;
        let socket = UnixStream::connect(process.address())?;
        Ok((process, ApartSocketEnd(socket)))
    }
}

struct ApartSocketEnd(UnixStream);

impl End<Turn> for ApartSocketEnd {
    fn send(&mut self, Turn(number): Turn) {
        // Without the other side no answer comes, which is noticed.
        let _ = self.0.write_all(&number.to_le_bytes());
    }

    fn receive(&mut self) -> Turn {
        let mut bytes = [0; 8];
        match self.0.read_exact(&mut bytes) {
            Ok(()) => Turn(u64::from_le_bytes(bytes)),
            Err(_) => Turn(LOST),
        }
    }
}

impl<const N: usize> ProcessQueue<[u64; N]> for Socket {
    type Sender = socket_stream::FrameWriter;
    type Counts = socket_stream::Counts;

    fn open(&self) -> Result<socket_stream::SocketClient, Failure> {
        socket_stream::open::<N>(SOCKET)
    }
}

/// A Unix socket, with a write for up to 256 messages.
#[derive(Debug, Clone, Copy)]
struct SocketBatches;

const SOCKET_BATCHES: &str = "unix-stream-batches";

impl Contender for SocketBatches {
    fn card(&self) -> Card {
        Card {
            name: SOCKET_BATCHES,
            version: standard::VERSION,
            ours: false,
            about: "a Unix socket between two processes: up to 256 frames in each write",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        streams::batched(*self)
    }

    fn serve_part(&self, part: &str) -> Result<Serving, Failure> {
        socket_stream::serve(part, Taking::Many)
    }
}

impl<const N: usize> ProcessQueue<[u64; N]> for SocketBatches {
    type Sender = socket_stream::FrameWriter;
    type Counts = socket_stream::Counts;

    fn open(&self) -> Result<socket_stream::SocketClient, Failure> {
        socket_stream::open::<N>(SOCKET_BATCHES)
    }
}
