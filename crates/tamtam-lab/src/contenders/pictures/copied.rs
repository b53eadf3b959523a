//! Frames copied through a Unix socket.

use std::io::{self, BufReader, BufWriter, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread;

use crate::contenders::standard;
use crate::pictures::{self, Look, Pictures, ROW, ROWS, Sharpener, Slider, Window};
use crate::{Card, Contender, Failure, Measure, PrivateFolder, ServerProcess, Serving};

/// The moves of the slider one way through a Unix socket, and frames the other way.
#[derive(Debug, Clone, Copy)]
pub(super) struct ThroughSocket;

const NAME: &str = "socket-copy";

/// So many bytes of a frame are written, or read, at once.
const PORTION: usize = 256 << 10;

impl Contender for ThroughSocket {
    fn card(&self) -> Card {
        Card {
            name: NAME,
            version: standard::VERSION,
            ours: false,
            about: "a Unix socket: moves of the slider one way, of which the worker takes the latest, and frames the other",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        pictures::measures(*self)
    }

    fn serve(&self) -> Result<Serving, Failure> {
        let (folder, path) = PrivateFolder::listening(|socket| {
            // A connection that fails is the window's to tell.
            thread::spawn(move || {
                let _ = follow(&socket);
                let _ = socket.shutdown(Shutdown::Both);
            });
        })?;
        Ok(Serving::at(path.to_string_lossy(), folder))
    }
}

/// The worker: frames of the latest move that has come.
fn follow(socket: &UnixStream) -> io::Result<()> {
    let mut incoming = BufReader::new(socket.try_clone()?);
    let (moved, moves) = mpsc::channel();
    thread::Builder::new().spawn(move || {
        let mut number = [0; 8];
        while incoming.read_exact(&mut number).is_ok() {
            if moved.send(u64::from_le_bytes(number)).is_err() {
                return;
            }
        }
    })?;
    let mut sharpener = Sharpener::new();
    let mut frames = BufWriter::with_capacity(PORTION, socket);
    while let Ok(number) = moves.recv() {
        let latest = moves.try_iter().last().unwrap_or(number);
        sharpener.make(latest, |_, row| frames.write_all(row))?;
        frames.flush()?;
    }
    Ok(())
}

/// The slider's end.
#[derive(Debug)]
pub(super) struct SliderAtSocket(UnixStream);

impl Slider for SliderAtSocket {
    fn set(&mut self, number: u64) -> Result<(), Failure> {
        Ok(self.0.write_all(&number.to_le_bytes())?)
    }
}

/// The window's end.
#[derive(Debug)]
pub(super) struct WindowAtSocket {
    frames: BufReader<UnixStream>,
    process: ServerProcess,
}

impl Pictures for ThroughSocket {
    type Slider = SliderAtSocket;
    type Window = WindowAtSocket;

    fn open(&self) -> Result<(SliderAtSocket, WindowAtSocket), Failure> {
        let process = ServerProcess::start(NAME)?;
        let socket = UnixStream::connect(process.address())?;
        let frames = BufReader::with_capacity(PORTION, socket.try_clone()?);
        Ok((SliderAtSocket(socket), WindowAtSocket { frames, process }))
    }
}

impl Window for WindowAtSocket {
    fn show(&mut self, look: &mut Look) -> Result<(), Failure> {
        let mut row = [0; ROW];
        for _ in 0..ROWS {
            self.frames.read_exact(&mut row)?;
            look.row(&row);
        }
        Ok(())
    }

    fn process(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.process)
    }
}
