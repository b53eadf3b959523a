//! The handshake, within a limit: until each side knows which program the other one is.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustls::{Connection, Error, IoState};

use super::failure::{at, failure};
use super::halves::{Ciphertext, Ending, LONGEST_END, Line};
use super::identity::PeerCertificate;
use super::{PROTOCOL, TlsConnection};

/// A handshake that goes on.
pub(super) struct Handshake {
    line: Arc<Line>,
    ciphertext: Ciphertext,
    ending: Ending,
    other: SocketAddr,
    limit: Duration,
    start: Instant,
}

impl Handshake {
    pub(super) fn new(
        socket: TcpStream,
        connection: Connection,
        limit: Duration,
    ) -> io::Result<Self> {
        let other = socket.peer_addr()?;
        socket.set_nonblocking(false)?;
        // A question waits for its answer, not for more to send with it.
        socket.set_nodelay(true)?;
        let line = Arc::new(Line {
            connection: Mutex::new(connection),
            socket,
        });
        Ok(Self {
            ending: Ending(Arc::clone(&line)),
            line,
            ciphertext: Ciphertext::new(),
            other,
            limit,
            start: Instant::now(),
        })
    }

    /// Until both sides have a key.
    pub(super) fn run(&mut self) -> io::Result<()> {
        loop {
            self.send()?;
            if !self.line.lock().is_handshaking() {
                break;
            }
            self.receive()?;
        }
        if self.line.lock().alpn_protocol() == Some(PROTOCOL) {
            return Ok(());
        }
        Err(failure(&Error::NoApplicationProtocol))
    }

    /// Until the other side's link has said something. In TLS 1.3 the side that has connected is done before the other one has seen
    /// its certificate; but that begins a link, and so says hello, only if it has accepted it.
    pub(super) fn wait_for_link(&mut self) -> io::Result<()> {
        let mut state = self.processed(|_, _| Ok(()))?;
        while state.plaintext_bytes_to_read() == 0 {
            if state.peer_has_closed() {
                return Err(io::Error::new(
                    io::ErrorKind::PermissionDenied,
                    "it trusts this program's certificate, and does not let this program in",
                ));
            }
            state = self.receive()?;
        }
        Ok(())
    }

    /// Takes something from the other side.
    fn receive(&mut self) -> io::Result<IoState> {
        if self.ciphertext.count == 0 {
            let left = self.left()?;
            let socket = &self.line.socket;
            socket.set_read_timeout(Some(left))?;
            let count = self.ciphertext.refill(socket);
            if count.map_err(|error| self.timed(error))? == 0 {
                return Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "it has closed the connection",
                ));
            }
        }
        self.processed(Ciphertext::feed)
    }

    fn processed(
        &mut self,
        feed: impl FnOnce(&mut Ciphertext, &mut Connection) -> io::Result<()>,
    ) -> io::Result<IoState> {
        let mut connection = self.line.lock();
        feed(&mut self.ciphertext, &mut connection)?;
        let processed = connection.process_new_packets();
        drop(connection);
        processed.map_err(|error| {
            self.say_why();
            failure(&error)
        })
    }

    fn send(&self) -> io::Result<()> {
        self.line.socket.set_write_timeout(Some(self.left()?))?;
        let sent = self.line.send(self.line.lock());
        sent.map_err(|error| self.timed(error))
    }

    /// Sends the alert that an error has left. A socket that is closed with something unread in it takes back what it has sent; so
    /// what the other side had on its way is read, and not looked at.
    fn say_why(&mut self) {
        let socket = &self.line.socket;
        if self.send().is_err() || socket.shutdown(Shutdown::Write).is_err() {
            return;
        }
        let until = Instant::now() + LONGEST_END;
        while let Ok(left) = self.left() {
            let left = left.min(until.saturating_duration_since(Instant::now()));
            let is_set = !left.is_zero() && socket.set_read_timeout(Some(left)).is_ok();
            if !is_set || matches!(self.ciphertext.refill(socket), Ok(0) | Err(_)) {
                break;
            }
        }
        self.ciphertext.count = 0;
    }

    /// How long it may go on.
    fn left(&self) -> io::Result<Duration> {
        match self.limit.checked_sub(self.start.elapsed()) {
            Some(left) if !left.is_zero() => Ok(left),
            _ => Err(self.timed(io::ErrorKind::TimedOut.into())),
        }
    }

    /// The error in words, if it says that the time is over.
    fn timed(&self, error: io::Error) -> io::Error {
        // Systems tell it by different ones.
        if !matches!(
            error.kind(),
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock
        ) {
            return error;
        }
        let limit = self.limit;
        let text = if self.line.lock().is_handshaking() {
            format!("it has not completed the handshake within {limit:?}: is it an end of a link?")
        } else {
            format!("it has completed the handshake, and not begun its link within {limit:?}")
        };
        io::Error::new(io::ErrorKind::TimedOut, text)
    }

    pub(super) fn end(self, done: io::Result<()>) -> io::Result<TlsConnection> {
        let peer = done.and_then(|()| PeerCertificate::of(&self.line.lock()));
        let peer = peer.map_err(|error| at(&format!("no link with {}", self.other), error))?;
        Ok(TlsConnection {
            line: self.line,
            ciphertext: self.ciphertext,
            peer,
            ending: self.ending,
        })
    }
}
