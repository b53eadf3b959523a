//! Reading from a socket and writing to it that end in time, whatever the other side does.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// How long there is until then, for a timeout of a socket.
///
/// # Errors
///
/// `TimedOut` if that is over.
fn left_until(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(left)
}

/// Writes all of it.
///
/// # Errors
///
/// `TimedOut` if the other side has not read it by then.
pub(crate) fn write_until(
    mut socket: &UnixStream,
    mut bytes: &[u8],
    deadline: Instant,
) -> io::Result<()> {
    while !bytes.is_empty() {
        socket.set_write_timeout(Some(left_until(deadline)?))?;
        match socket.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    socket.set_write_timeout(None)
}

/// Reads so much.
///
/// # Errors
///
/// `TimedOut` if the other side has not written it by then.
pub(crate) fn read_until(
    mut socket: &UnixStream,
    bytes: &mut [u8],
    deadline: Instant,
) -> io::Result<()> {
    let mut read = 0;
    while read < bytes.len() {
        socket.set_read_timeout(Some(left_until(deadline)?))?;
        match socket.read(&mut bytes[read..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => read += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    socket.set_read_timeout(None)
}
