//! The two halves of a connection, one for each thread of a link.
//!
//! The connection of rustls is one object. Under its lock one thread decrypts and one encrypts; neither holds the lock while it
//! waits for the socket. Only one thread writes to the socket, so that records stay in order: that of the handshake, and after it
//! the link's thread that writes. What decrypting leaves to be said (an answer to an update of keys, an alert) waits in the
//! connection for that thread's next write, or for the end: a side that reads never waits for its own writes.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustls::Connection;

use super::failure::{failure, in_words};

/// How much ciphertext is read at once.
const PORTION: usize = 64 << 10;
/// How long an end may take to be written.
pub(super) const LONGEST_END: Duration = Duration::from_secs(1);

/// A socket, and the connection of rustls over it.
pub(super) struct Line {
    pub(super) connection: Mutex<Connection>,
    pub(super) socket: TcpStream,
}

impl Line {
    pub(super) fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what the connection has for the socket, and not under its lock.
    pub(super) fn send(&self, mut connection: MutexGuard<'_, Connection>) -> io::Result<()> {
        let mut bytes = Vec::new();
        while connection.wants_write() {
            connection.write_tls(&mut bytes)?;
        }
        drop(connection);
        (&self.socket).write_all(&bytes)
    }
}

/// What was read from the socket and is not decrypted.
pub(super) struct Ciphertext {
    bytes: Vec<u8>,
    first: usize,
    pub(super) count: usize,
}

impl Ciphertext {
    pub(super) fn new() -> Self {
        Self {
            bytes: vec![0; PORTION],
            first: 0,
            count: 0,
        }
    }

    /// Reads from the socket, when all is given away; how much it was.
    pub(super) fn refill(&mut self, mut socket: &TcpStream) -> io::Result<usize> {
        self.first = 0;
        self.count = 0;
        loop {
            match socket.read(&mut self.bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(count) => {
                    self.count = count;
                    return Ok(count);
                }
            }
        }
    }

    /// Gives the connection as much as it takes.
    pub(super) fn feed(&mut self, connection: &mut Connection) -> io::Result<()> {
        let mut rest = &self.bytes[self.first..][..self.count];
        let taken = connection.read_tls(&mut rest)?;
        self.first += taken;
        // Behind the other side's end nothing counts.
        self.count = if taken == 0 { 0 } else { rest.len() };
        Ok(())
    }
}

/// The half of a connection from which a link reads.
pub(super) struct Decrypting {
    pub(super) line: Arc<Line>,
    pub(super) ciphertext: Ciphertext,
}

impl Read for Decrypting {
    fn read(&mut self, plaintext: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut connection = self.line.lock();
            let mut processed = connection.process_new_packets();
            loop {
                // What came before an error is read before it is told.
                match connection.reader().read(plaintext) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    read => return read,
                }
                processed.map_err(|error| failure(&error))?;
                if self.ciphertext.count == 0 {
                    break;
                }
                self.ciphertext.feed(&mut connection)?;
                processed = connection.process_new_packets();
            }
            drop(connection);
            if self.ciphertext.refill(&self.line.socket)? == 0 {
                return Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "it was cut off: the other side has not ended it, so the last of what it sent may be missing",
                ));
            }
        }
    }
}

/// The half of a connection to which a link writes. With it, the connection ends.
pub(super) struct Encrypting {
    pub(super) line: Arc<Line>,
    pub(super) _ending: Ending,
}

impl Write for Encrypting {
    fn write(&mut self, plaintext: &[u8]) -> io::Result<usize> {
        let mut connection = self.line.lock();
        let taken = connection.writer().write(plaintext).map_err(in_words)?;
        self.line.send(connection)?;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.line.send(self.line.lock())
    }
}

/// Ends the connection when it is dropped, so that the other side knows that nothing is missing.
pub(super) struct Ending(pub(super) Arc<Line>);

impl Drop for Ending {
    fn drop(&mut self) {
        let socket = &self.0.socket;
        let mut connection = self.0.lock();
        connection.send_close_notify();
        // Another side that does not read is not waited for.
        if socket.set_write_timeout(Some(LONGEST_END)).is_ok() {
            let _ = self.0.send(connection);
        }
        let _ = socket.shutdown(Shutdown::Both);
    }
}
