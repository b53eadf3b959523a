//! Streams of packets through a channel in memory that two processes share, with another one for the counts.

use std::os::fd::AsFd;
use std::thread;

use tamtam_ipc::{Plain, Receiver, Sender, channel};

use super::Taking;
use crate::contenders::shared_memory::{self, unavailable};
use crate::post::processes::{GONE, nothing_more};
use crate::{
    Failure, Packet, Post, PostMany, Retrieve, RetrieveMany, ServerProcess, Serving, Turn, stream,
};

/// The receiver of packets of the size that `part` is.
pub(super) fn serve(part: &str, taking: Taking) -> Result<Serving, Failure> {
    match part {
        <[u64; 2]>::SIZE => serve_words::<2>(taking),
        <[u64; 8]>::SIZE => serve_words::<8>(taking),
        _ => Err(Failure::Impossible(format!("no packet is {part:?}"))),
    }
}

fn serve_words<const N: usize>(taking: Taking) -> Result<Serving, Failure>
where
    [u64; N]: Plain,
{
    let (there, packets) = channel::<[u64; N]>(stream::CAPACITY).map_err(unavailable)?;
    let (counts, back) = channel::<u64>(1).map_err(unavailable)?;
    // The client takes its place.
    let back = back.hand_over()?;
    let address = shared_memory::address([there.memory(), back.as_fd()]);
    thread::Builder::new().spawn(move || taking.receive_all(packets, counts))?;
    // The channel stays open until the client has a sender.
    Ok(Serving::at(address, (there, back)))
}

/// What a client has: the server, the sender of packets, and the receiver of the counts.
pub(super) type MemoryClient<const N: usize> = (ServerProcess, Sender<[u64; N]>, Receiver<u64>);

/// Starts the server of the contender `name`.
pub(super) fn open<const N: usize>(name: &str) -> Result<MemoryClient<N>, Failure>
where
    [u64; N]: Plain,
{
    let process = ServerProcess::start_part(name, <[u64; N]>::SIZE)?;
    let memory = |place| shared_memory::open(process.address(), place);
    let sender = Sender::attach(memory(0)?).map_err(unavailable)?;
    let counts = Receiver::attach(memory(1)?).map_err(unavailable)?;
    Ok((process, sender, counts))
}

impl<const N: usize> Post<[u64; N]> for Sender<[u64; N]>
where
    [u64; N]: Plain,
{
    fn send(&mut self, message: [u64; N]) {
        // Without a receiver no count comes, which is noticed.
        let _ = Sender::send(self, message);
    }

    fn try_send(&mut self, message: [u64; N]) -> Result<(), [u64; N]> {
        Sender::try_send(self, message).map_err(tamtam_channel::TrySendError::into_inner)
    }
}

impl<const N: usize> PostMany<[u64; N]> for Sender<[u64; N]>
where
    [u64; N]: Plain,
{
    fn send_many(&mut self, messages: impl ExactSizeIterator<Item = [u64; N]>) {
        // Without a receiver no count comes, which is noticed.
        let _ = Sender::send_many(self, messages);
    }
}

impl<const N: usize> Retrieve<[u64; N]> for Receiver<[u64; N]>
where
    [u64; N]: Plain,
{
    fn receive(&mut self) -> [u64; N] {
        self.recv().unwrap_or_else(|_| nothing_more())
    }

    fn try_receive(&mut self) -> Option<[u64; N]> {
        self.try_recv().ok()
    }
}

impl<const N: usize> RetrieveMany<[u64; N]> for Receiver<[u64; N]>
where
    [u64; N]: Plain,
{
    fn receive_many(&mut self, buffer: &mut Vec<[u64; N]>, limit: usize) {
        // That nothing has come is noticed.
        let _ = self.recv_many(buffer, limit);
    }

    fn try_receive_many(&mut self, buffer: &mut Vec<[u64; N]>, limit: usize) {
        // That nothing is there is no error here.
        let _ = self.try_recv_many(buffer, limit);
    }
}

impl Post<Turn> for Sender<u64> {
    fn send(&mut self, Turn(count): Turn) {
        // Without a receiver the measurement is over.
        let _ = Sender::send(self, count);
    }

    fn try_send(&mut self, Turn(count): Turn) -> Result<(), Turn> {
        Sender::try_send(self, count).map_err(|error| Turn(error.into_inner()))
    }
}

impl Retrieve<Turn> for Receiver<u64> {
    fn receive(&mut self) -> Turn {
        self.recv().map_or(GONE, Turn)
    }

    fn try_receive(&mut self) -> Option<Turn> {
        self.try_recv().ok().map(Turn)
    }
}
