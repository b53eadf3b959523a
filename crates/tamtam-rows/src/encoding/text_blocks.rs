//! Delimited text from a reader, in blocks of whole rows.

use std::io::Read;

use super::Text;
use super::text::Start;
use super::text_writer::MARK;
use crate::{DecodeError, Limits};

/// How much is read at once.
const BLOCK: usize = 1 << 20;

/// Where in a row the next byte stands.
#[derive(Clone, Copy)]
enum State {
    FieldStart,
    Plain,
    Quoted,
    /// Behind a quote inside quotes, which ends them unless another follows.
    Quote,
}

/// Divides a text behind the ends of rows.
pub(crate) struct Blocks<R> {
    source: R,
    form: Text,
    most: u64,
    buffer: Vec<u8>,
    /// What was given out last, at the beginning of the buffer.
    given: usize,
    /// Where the buffer begins in the text.
    start: Start,
    is_at_end: bool,
}

impl<R: Read> Blocks<R> {
    pub(crate) fn new(source: R, form: Text, limits: &Limits) -> Blocks<R> {
        Blocks {
            source,
            form,
            most: limits.bytes,
            buffer: Vec::new(),
            given: 0,
            start: Start::OF_ALL,
            is_at_end: false,
        }
    }

    /// The next rows, and where they begin in the text. `None` at its end.
    pub(crate) fn next(&mut self) -> Result<Option<(&[u8], Start)>, DecodeError> {
        // A part ends behind the end of a line.
        self.start = self.start.behind(&self.buffer[..self.given]);
        self.buffer.drain(..self.given);
        self.given = 0;
        let (mut scanned, mut whole, mut state) = (0, 0, State::FieldStart);
        let mut is_begun = self.start.offset > 0;
        loop {
            if !self.is_at_end {
                let wanted = BLOCK.saturating_sub(self.buffer.len()).max(BLOCK / 2);
                let mut limited = (&mut self.source).take(wanted as u64);
                let read = limited.read_to_end(&mut self.buffer)?;
                self.is_at_end = read < wanted;
            }
            if !std::mem::replace(&mut is_begun, true) && self.buffer.starts_with(MARK) {
                scanned = MARK.len();
            }
            let mut all = self.buffer.len();
            for (at, &byte) in self.buffer.iter().enumerate().skip(scanned) {
                state = match (state, byte) {
                    (State::Quoted, b'"') => State::Quote,
                    (State::Quoted, _) => State::Quoted,
                    (State::FieldStart, b'"') => State::Quoted,
                    (State::Quote, b'"') => State::Quoted,
                    (_, b'\n') => {
                        whole = at + 1;
                        State::FieldStart
                    }
                    // Alone it ends a row; which it is, is seen when the next byte is there.
                    (_, b'\r') => match self.buffer.get(at + 1) {
                        Some(b'\n') => State::FieldStart,
                        Some(_) => {
                            whole = at + 1;
                            State::FieldStart
                        }
                        None => {
                            all = at;
                            break;
                        }
                    },
                    (_, byte) if byte == self.form.delimiter => State::FieldStart,
                    _ => State::Plain,
                };
            }
            scanned = all;
            if self.is_at_end {
                whole = self.buffer.len();
            }
            if whole > 0 {
                self.given = whole;
                return Ok(Some((&self.buffer[..whole], self.start)));
            }
            if self.is_at_end {
                return Ok(None);
            }
            if self.buffer.len() as u64 > self.most {
                return Err(DecodeError::Limit {
                    form: super::Encoding::name(&self.form),
                    what: "bytes of one row",
                    declared: self.buffer.len() as u64,
                    limit: self.most,
                });
            }
        }
    }
}
