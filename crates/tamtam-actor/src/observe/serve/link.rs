//! One who asks.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use super::answer::{Before, answer, refusal};

/// No request is longer.
const LONGEST_REQUEST: usize = 256;

/// A connection. Nothing here waits, but a moment for processes of the program: a client that does not read keeps none but itself.
pub(super) struct Connection {
    pub(super) stream: UnixStream,
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
    /// So much of `outgoing` is sent.
    sent: usize,
    before: Before,
    /// Nothing more is read, and when all is sent this ends.
    is_closing: bool,
    /// When it began, and when it asked last.
    began: Instant,
    asked: Option<Instant>,
}

impl Connection {
    pub(super) fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Connection {
            stream,
            incoming: Vec::new(),
            outgoing: Vec::new(),
            sent: 0,
            before: Before::default(),
            is_closing: false,
            began: Instant::now(),
            asked: None,
        })
    }

    /// Says why there is no answer, and ends.
    pub(super) fn refuse(&mut self, why: &str) {
        self.is_closing = true;
        self.say(&refusal(why));
    }

    /// Whether it goes on when the other side reads, and not when it writes.
    pub(super) fn has_to_send(&self) -> bool {
        self.sent < self.outgoing.len() || self.incoming.contains(&b'\n')
    }

    /// When it was heard of last: those who have asked anything come after all who have not.
    pub(super) fn heard(&self) -> (bool, Instant) {
        (self.asked.is_some(), self.asked.unwrap_or(self.began))
    }

    /// Goes on as far as that is possible; `false` at the end.
    pub(super) fn go_on(&mut self) -> bool {
        self.step().is_ok()
    }

    fn step(&mut self) -> io::Result<()> {
        while self.send()? {
            if self.is_closing {
                return Err(ErrorKind::ConnectionAborted.into());
            }
            if self.answer_next() {
                // One request at a time: others have theirs.
                return match self.send()? && self.is_closing {
                    true => Err(ErrorKind::ConnectionAborted.into()),
                    false => Ok(()),
                };
            }
            if !self.receive()? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Sends what is to be sent; `false` if the other side has to read first.
    fn send(&mut self) -> io::Result<bool> {
        while self.sent < self.outgoing.len() {
            match self.stream.write(&self.outgoing[self.sent..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(more) => self.sent += more,
                Err(why) if why.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(why) => return Err(why),
            }
        }
        self.outgoing = Vec::new();
        self.sent = 0;
        Ok(true)
    }

    /// Answers a request that is there; `false` if there is none.
    fn answer_next(&mut self) -> bool {
        let Some(end) = self.incoming.iter().position(|byte| *byte == b'\n') else {
            if self.incoming.len() > LONGEST_REQUEST {
                self.incoming.clear();
                self.refuse("a request has at most 256 bytes");
                return true;
            }
            return false;
        };
        let line: Vec<u8> = self.incoming.drain(..=end).collect();
        match core::str::from_utf8(&line) {
            Ok(request) => {
                self.asked = Some(Instant::now());
                let answer = answer(request, &mut self.before);
                self.say(&answer);
            }
            Err(_) => self.refuse("a request is text"),
        }
        true
    }

    fn say(&mut self, line: &str) {
        self.outgoing.extend_from_slice(line.as_bytes());
        self.outgoing.push(b'\n');
    }

    /// Reads some; `false` if nothing is there.
    fn receive(&mut self) -> io::Result<bool> {
        let mut bytes = [0; LONGEST_REQUEST + 1];
        match self.stream.read(&mut bytes) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(more) => {
                self.incoming.extend_from_slice(&bytes[..more]);
                Ok(true)
            }
            Err(why) if why.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(why) if why.kind() == ErrorKind::Interrupted => Ok(true),
            Err(why) => Err(why),
        }
    }
}
