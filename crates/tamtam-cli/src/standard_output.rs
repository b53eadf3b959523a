//! The standard output. That its reader has gone, as `head` does, is no failure; a pipe or a socket to anything else that breaks is one.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind, StdoutLock, Write, stdout};

/// An output that marks the errors of a reader that has gone, so that they are told apart from those of other pipes.
#[derive(Debug)]
pub struct Marked<W>(W);

/// Locks the standard output, as [`Stdout::lock`](std::io::Stdout::lock) does.
#[must_use]
pub fn lock() -> Marked<StdoutLock<'static>> {
    Marked(stdout().lock())
}

/// Whether an error is that the reader of the standard output has gone: no reason to complain.
#[must_use]
pub fn reader_has_gone(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .filter_map(io::Error::get_ref)
        .any(|mark| mark.is::<ReaderHasGone>())
}

impl<W: Write> Write for Marked<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(marked)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(marked)
    }
}

fn marked(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::BrokenPipe => io::Error::new(ErrorKind::BrokenPipe, ReaderHasGone),
        _ => error,
    }
}

#[derive(Debug)]
struct ReaderHasGone;

impl fmt::Display for ReaderHasGone {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the reader of the output has gone")
    }
}

impl Error for ReaderHasGone {}

#[cfg(test)]
mod tests {
    use std::io::{self, ErrorKind, Write};

    use anyhow::Context;

    use super::{Marked, reader_has_gone};

    /// Fails whatever is written.
    struct Failing(ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(self.0.into())
        }
    }

    #[test]
    fn only_the_output_s_reader_is_one_that_has_gone() {
        let written = |kind| writeln!(Marked(Failing(kind)), "text").context("cannot be shown");
        assert!(reader_has_gone(
            &written(ErrorKind::BrokenPipe).unwrap_err()
        ));
        assert!(!reader_has_gone(
            &written(ErrorKind::StorageFull).unwrap_err()
        ));
        let flushed = Marked(Failing(ErrorKind::BrokenPipe)).flush();
        assert!(reader_has_gone(&flushed.unwrap_err().into()));
        // Such as a socket, to a database or a program that is looked at.
        let elsewhere = Failing(ErrorKind::BrokenPipe).write_all(b"select 1");
        let elsewhere = elsewhere.context("the query failed").unwrap_err();
        assert!(!reader_has_gone(&elsewhere));
    }
}
