//! What a worker and its parent say of the process beside the link, over a socket of its own: events, panics and figures up, wishes down.
//!
//! The link is for messages: what is written to it waits for those before, and dies with the process. A report goes to the system at
//! once, so that the one before a crash arrives.

use std::io;
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair, sockopt};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// No report is longer, in bytes, without its length.
pub(crate) const LONGEST_REPORT: usize = 64 << 10;
/// The bytes of a report's length, which come first, the lowest first.
const LENGTH: usize = 4;
/// So many bytes may lie in the system for the parent, as far as it allows.
const IN_SYSTEM: usize = 1 << 20;

/// What a worker says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Report {
    Event(EventReport),
    /// So many reports were dropped, because the parent does not read as fast.
    Dropped(u64),
    Panicked(PanicReport),
    Figures(Figures),
}

/// A part of the answer to [`Wish::Look`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figures {
    /// Which wish it answers.
    pub(crate) number: u64,
    pub(crate) part: String,
    pub(crate) is_last: bool,
}

/// A panic, as its thread saw it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PanicReport {
    pub(crate) thread: Option<String>,
    pub(crate) message: String,
    pub(crate) place: Option<String>,
    pub(crate) backtrace: Option<String>,
}

/// An event of `tracing`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct EventReport {
    /// 1 for an error, to 5 for a trace.
    pub(crate) level: u8,
    pub(crate) name: String,
    pub(crate) target: String,
    pub(crate) module: Option<String>,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u32>,
    pub(crate) fields: Vec<(String, FieldValue)>,
    /// The spans in which it happened with their fields, the outermost first.
    pub(crate) spans: String,
}

/// The value of a field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum FieldValue {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    Bool(bool),
    Text(String),
    /// What `Debug` or `Display` has said of it.
    Shown(String),
}

/// What the parent wishes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Wish {
    /// Events up to this level are of interest: 0 none, 1 errors, to 5 all.
    Level(u8),
    /// What the worker does: the number of the wish, and the words that `tamtam top` has said.
    Look(u64, String),
}

/// A socket for both sides, neither of which waits at it.
pub(crate) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (here, there) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    // If it may not be as much it is less.
    let _ = sockopt::set_socket_send_buffer_size(&there, IN_SYSTEM);
    Ok((here, there))
}

/// As bytes, with their length; `None` if they are too many.
pub(crate) fn to_bytes(said: &impl Serialize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; LENGTH];
    tamtam_actor::link::encode(said, &mut bytes).ok()?;
    let length = bytes.len() - LENGTH;
    if length > LONGEST_REPORT {
        return None;
    }
    bytes[..LENGTH].copy_from_slice(&(length as u32).to_le_bytes());
    Some(bytes)
}

/// What has come, cut anywhere.
#[derive(Debug, Default)]
pub(crate) struct Partial(Vec<u8>);

/// The other side says what is no report.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Garbled;

impl Partial {
    /// Takes what has come, and gives all that is complete, in order.
    pub(crate) fn take<T: DeserializeOwned>(&mut self, bytes: &[u8]) -> Result<Vec<T>, Garbled> {
        self.0.extend_from_slice(bytes);
        let mut all = Vec::new();
        let mut rest = &self.0[..];
        while let Some((length, behind)) = rest.split_first_chunk::<LENGTH>() {
            let length = u32::from_le_bytes(*length) as usize;
            if length > LONGEST_REPORT {
                return Err(Garbled);
            }
            let Some((said, behind)) = behind.split_at_checked(length) else {
                break;
            };
            all.push(tamtam_actor::link::decode(said).map_err(|_| Garbled)?);
            rest = behind;
        }
        let used = self.0.len() - rest.len();
        self.0.drain(..used);
        Ok(all)
    }
}

/// The first bytes of a text, as whole letters.
pub(crate) fn cut(mut text: String, most: usize) -> String {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_understood_however_it_is_cut() {
        let reports = [
            Report::Dropped(3),
            Report::Figures(Figures {
                number: 1,
                part: "x".repeat(1_000),
                is_last: true,
            }),
        ];
        let bytes: Vec<u8> = reports
            .iter()
            .flat_map(|it| to_bytes(it).unwrap())
            .collect();
        for portion in [1, 2, 7, bytes.len()] {
            let mut partial = Partial::default();
            let portions = bytes.chunks(portion);
            let heard = portions.flat_map(|bytes| partial.take::<Report>(bytes).unwrap());
            assert_eq!(heard.collect::<Vec<_>>(), reports);
            assert!(partial.0.is_empty());
        }
    }

    #[test]
    fn what_is_no_report_is_an_error_and_takes_no_memory() {
        let too_long = "x".repeat(LONGEST_REPORT + 1);
        assert_eq!(to_bytes(&Wish::Look(1, too_long)), None);
        let hostile: [&[u8]; 3] = [&[255; 4], &[1, 0, 0, 0, 99], &[2, 0, 0, 0, 3, 255]];
        for bytes in hostile {
            let mut partial = Partial::default();
            assert_eq!(partial.take::<Report>(bytes), Err(Garbled));
        }
    }

    #[test]
    fn a_text_is_cut_between_letters() {
        assert_eq!(cut("äöü".to_owned(), 3), "ä");
        assert_eq!(cut("ab".to_owned(), 3), "ab");
    }
}
