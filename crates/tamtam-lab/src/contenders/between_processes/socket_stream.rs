//! Streams of packets over a Unix socket, written by hand: the length in four bytes, then the words. The receiver reads what is there into a
//! buffer, from which it takes one frame after the other; the counts come back as eight bytes each.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;

use super::Taking;
use crate::post::processes::{GONE, nothing_more};
use crate::{
    Failure, Packet, Post, PostMany, PrivateFolder, Retrieve, RetrieveMany, ServerProcess, Serving,
    Turn,
};

/// How much is read at once, if it is there.
const PORTION: usize = 64 << 10;

/// How many bytes of a frame are its length.
const LENGTH: usize = 4;

/// The receiver of packets of the size that `part` is.
pub(super) fn serve(part: &str, taking: Taking) -> Result<Serving, Failure> {
    match part {
        <[u64; 2]>::SIZE => serve_words::<2>(taking),
        <[u64; 8]>::SIZE => serve_words::<8>(taking),
        _ => Err(Failure::Impossible(format!("no packet is {part:?}"))),
    }
}

fn serve_words<const N: usize>(taking: Taking) -> Result<Serving, Failure> {
    let (folder, path) = PrivateFolder::listening(move |socket| {
        // Without it the client finds that the other side has hung up.
        let Ok(counts) = socket.try_clone() else {
            return;
        };
        let frames = FrameReader::<N>(BufReader::with_capacity(PORTION, socket));
        thread::spawn(move || taking.receive_all(frames, Counts(counts)));
    })?;
    Ok(Serving::at(path.to_string_lossy(), folder))
}

/// What a client has: the server, the sender of packets, and the receiver of the counts.
pub(super) type SocketClient = (ServerProcess, FrameWriter, Counts);

/// Starts the server of the contender `name`.
pub(super) fn open<const N: usize>(name: &str) -> Result<SocketClient, Failure> {
    let process = ServerProcess::start_part(name, <[u64; N]>::SIZE)?;
    let socket = UnixStream::connect(process.address())?;
    let writer = FrameWriter {
        socket: socket.try_clone()?,
        frames: Vec::new(),
    };
    Ok((process, writer, Counts(socket)))
}

/// The sending end.
pub(super) struct FrameWriter {
    socket: UnixStream,
    /// What goes in one write.
    frames: Vec<u8>,
}

impl FrameWriter {
    fn add<const N: usize>(&mut self, words: [u64; N]) {
        let length = (N * size_of::<u64>()) as u32;
        self.frames.extend_from_slice(&length.to_le_bytes());
        for word in words {
            self.frames.extend_from_slice(&word.to_le_bytes());
        }
    }

    fn write(&mut self) {
        // Without a receiver no count comes, which is noticed.
        let _ = self.socket.write_all(&self.frames);
        self.frames.clear();
    }
}

impl<const N: usize> Post<[u64; N]> for FrameWriter {
    fn send(&mut self, message: [u64; N]) {
        self.add(message);
        self.write();
    }

    fn try_send(&mut self, message: [u64; N]) -> Result<(), [u64; N]> {
        // How much a socket takes is up to the system.
        self.send(message);
        Ok(())
    }
}

impl<const N: usize> PostMany<[u64; N]> for FrameWriter {
    fn send_many(&mut self, messages: impl ExactSizeIterator<Item = [u64; N]>) {
        for message in messages {
            self.add(message);
        }
        self.write();
    }
}

/// The receiving end.
struct FrameReader<const N: usize>(BufReader<UnixStream>);

impl<const N: usize> FrameReader<N> {
    /// Waits for the next frame; `None` if there is none, or one of another length.
    fn next(&mut self) -> Option<[u64; N]> {
        let mut length = [0; LENGTH];
        self.0.read_exact(&mut length).ok()?;
        if u32::from_le_bytes(length) as usize != N * size_of::<u64>() {
            return None;
        }
        let mut words = [0; N];
        for word in &mut words {
            let mut bytes = [0; size_of::<u64>()];
            self.0.read_exact(&mut bytes).ok()?;
            *word = u64::from_le_bytes(bytes);
        }
        Some(words)
    }

    /// Whether a whole frame lies in the buffer.
    fn has_next(&self) -> bool {
        self.0.buffer().len() >= LENGTH + N * size_of::<u64>()
    }

    /// Reads what lies in the socket, without waiting, if the buffer is empty.
    fn look(&mut self) -> bool {
        if !self.0.buffer().is_empty() {
            return true;
        }
        let socket = self.0.get_ref();
        if socket.set_nonblocking(true).is_err() {
            return false;
        }
        let has_more = self.0.fill_buf().is_ok_and(|bytes| !bytes.is_empty());
        let _ = self.0.get_ref().set_nonblocking(false);
        has_more
    }
}

impl<const N: usize> Retrieve<[u64; N]> for FrameReader<N> {
    fn receive(&mut self) -> [u64; N] {
        self.next().unwrap_or_else(nothing_more)
    }

    fn try_receive(&mut self) -> Option<[u64; N]> {
        if self.look() { self.next() } else { None }
    }
}

impl<const N: usize> RetrieveMany<[u64; N]> for FrameReader<N> {
    fn receive_many(&mut self, buffer: &mut Vec<[u64; N]>, limit: usize) {
        // That none has come is noticed.
        buffer.extend(self.next());
        while buffer.len() < limit && self.has_next() {
            buffer.extend(self.next());
        }
    }

    fn try_receive_many(&mut self, buffer: &mut Vec<[u64; N]>, limit: usize) {
        if self.look() {
            self.receive_many(buffer, limit);
        }
    }
}

/// One end of the way back.
pub(super) struct Counts(UnixStream);

impl Post<Turn> for Counts {
    fn send(&mut self, Turn(count): Turn) {
        // Without a client the measurement is over.
        let _ = self.0.write_all(&count.to_le_bytes());
    }

    fn try_send(&mut self, count: Turn) -> Result<(), Turn> {
        self.send(count);
        Ok(())
    }
}

impl Retrieve<Turn> for Counts {
    fn receive(&mut self) -> Turn {
        let mut bytes = [0; 8];
        match self.0.read_exact(&mut bytes) {
            Ok(()) => Turn(u64::from_le_bytes(bytes)),
            Err(_) => GONE,
        }
    }

    fn try_receive(&mut self) -> Option<Turn> {
        // A count is waited for, always.
        Some(self.receive())
    }
}
