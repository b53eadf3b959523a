//! A Unix socket, bare: what a link over one is to be compared with.

use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;

use super::VERSION;
use crate::ask::{self, Ask, Asker, Counter, Origin, Teller, Tells};
use crate::{Card, Contender, Failure, Measure, PrivateFolder, ServerProcess, Serving};

/// Nine bytes a message, and eight an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct SocketBytes;

const NAME: &str = "socket-bytes";

/// How much is gathered before it is written, and read at once.
const PORTION: usize = 64 << 10;
/// The first byte of a message that wants no answer, and of one that wants one.
const TELL: u8 = 0;
const ASK: u8 = 1;

impl Contender for SocketBytes {
    fn card(&self) -> Card {
        Card {
            name: NAME,
            version: VERSION,
            ours: false,
            about: "a Unix socket to another process, bare: 9 bytes a message, 8 an answer; 64 KiB of messages that want none are written at once",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        ask::by_carrier(*self)
    }

    fn serve(&self) -> Result<Serving, Failure> {
        let (folder, path) = PrivateFolder::listening(|socket| {
            // A connection that fails is the client's to tell.
            thread::spawn(move || serve_bytes(&socket));
        })?;
        Ok(Serving::at(path.to_string_lossy(), folder))
    }
}

/// Takes messages and answers questions, until the client hangs up.
fn serve_bytes(socket: &UnixStream) -> io::Result<()> {
    let mut messages = BufReader::with_capacity(PORTION, socket);
    let mut answers = socket;
    let mut counter = Counter::default();
    let mut message = [0; 9];
    loop {
        messages.read_exact(&mut message)?;
        let [kind, number @ ..] = message;
        let number = u64::from_le_bytes(number);
        match kind {
            TELL => counter.tell(number),
            _ => answers.write_all(&counter.ask(number).to_le_bytes())?,
        }
    }
}

/// The client.
struct Connected {
    messages: BufWriter<UnixStream>,
    answers: UnixStream,
}

impl Connected {
    /// Starts its server, and connects to it.
    fn open() -> Result<(Self, ServerProcess), Failure> {
        let process = ServerProcess::start(NAME)?;
        let socket = UnixStream::connect(process.address())?;
        let connected = Connected {
            messages: BufWriter::with_capacity(PORTION, socket.try_clone()?),
            answers: socket,
        };
        Ok((connected, process))
    }

    fn write(&mut self, kind: u8, number: u64) -> io::Result<()> {
        let mut message = [kind; 9];
        message[1..].copy_from_slice(&number.to_le_bytes());
        self.messages.write_all(&message)
    }

    fn ask(&mut self, number: u64) -> io::Result<u64> {
        self.write(ASK, number)?;
        self.messages.flush()?;
        let mut answer = [0; 8];
        self.answers.read_exact(&mut answer)?;
        Ok(u64::from_le_bytes(answer))
    }
}

impl Ask for SocketBytes {
    fn ask(&self, _: Origin, _: usize, mut asker: Asker) -> Asker {
        let (mut server, mut process) = Connected::open().expect("a server behind a socket");
        asker.count_process(move || process.used());
        while let Some(number) = asker.next() {
            asker.accept(server.ask(number).expect("the server answers"));
        }
        asker
    }

    fn tell(&self, _: usize, teller: &mut Teller) {
        let (mut server, mut process) = Connected::open().expect("a server behind a socket");
        teller.count_process(move || process.used());
        while let Some(Tells { numbers, question }) = teller.next() {
            for number in numbers {
                server.write(TELL, number).expect("the server is there");
            }
            teller.accept(server.ask(question).expect("the server answers"));
        }
    }
}
