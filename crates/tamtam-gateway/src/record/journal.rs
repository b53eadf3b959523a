//! The file of a recording: a line of JSON for each call and its answer.
//!
//! The first line says what the file is. A line is written whole, and is on the disk before its call is answered; what a crash
//! leaves of the last one has no end of line, so that a reader knows it.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What the first line says that the file is.
const FORMAT: &str = "tamtam recording";
const VERSION: u32 = 1;

/// Bytes of a line, at most: of a request and an answer, as text.
const MOST_LINE_BYTES: u64 = 512 << 20;

/// A request and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// When it was answered, in UTC.
    pub(super) at: String,
    pub(super) request: Request,
    pub(super) answer: Answer,
}

/// A request, without what is secret in its headers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) method: String,
    /// With the query.
    pub(super) path: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) content_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) accept: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) range: Option<String>,
    /// Flash Player counts otherwise what references in AMF0 mean, and says who it is in headers that are not kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_from_flash_player: bool,
    #[serde(default, skip_serializing_if = "Body::is_empty")]
    pub(super) body: Body,
}

/// An answer; its body is not compressed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Body::is_empty")]
    pub(super) body: Body,
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| &**value)
    }
}

/// Bytes: as text where they are text, so that people can read them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub(super) struct Body(pub(super) Vec<u8>);

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Written {
    Text(String),
    Base64(String),
}

impl Body {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Body> for Written {
    fn from(body: Body) -> Written {
        match String::from_utf8(body.0) {
            Ok(text) => Written::Text(text),
            Err(error) => Written::Base64(STANDARD.encode(error.as_bytes())),
        }
    }
}

impl TryFrom<Written> for Body {
    type Error = base64::DecodeError;

    fn try_from(written: Written) -> Result<Body, base64::DecodeError> {
        match written {
            Written::Text(text) => Ok(Body(text.into_bytes())),
            Written::Base64(text) => STANDARD.decode(text).map(Body),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Head {
    format: String,
    version: u32,
    server: String,
}

/// A recording that cannot be read or continued.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{RecordingError, Replay};
///
/// let error = Replay::open("no-such-file.jsonl").unwrap_err();
/// assert!(matches!(error, RecordingError::File { .. }));
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file cannot be opened, read or written.
    #[error("the recording {} cannot be used: {source}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another recorder writes to the file.
    #[error("another recorder writes to {}: end that one, or name another file", .0.display())]
    InUse(PathBuf),
    /// The file is something else.
    #[error("{} is no recording: its first line does not say so; name another file", .0.display())]
    Format(PathBuf),
    /// It was written by a later version.
    #[error("{} is a recording of version {version}, and this program reads version {VERSION}", path.display())]
    Version {
        /// Which file.
        path: PathBuf,
        /// The version that it says.
        version: u32,
    },
    /// A line that is not the last is damaged.
    #[error("line {line} of {} is damaged: {reason}; delete the line to use the others", path.display())]
    Line {
        /// Which file.
        path: PathBuf,
        /// The line, from 1 on.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// The server whose calls are to be recorded has no such address.
    #[error(
        "{0:?} is no URL of a server: write http://HOST:PORT or https://HOST:PORT, and what all paths begin with behind it"
    )]
    Url(String),
    /// The certificates that this system trusts cannot be read.
    #[error("the certificates that this system trusts cannot be read: {0}")]
    Certificates(io::Error),
}

/// What a file has: which server, how many bytes of whole lines, and how many behind them that were torn.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) server: String,
    pub(super) whole_bytes: u64,
    pub(super) torn_bytes: u64,
}

/// Reads a recording, entry by entry.
pub(super) fn read(path: &Path, mut take: impl FnMut(Entry)) -> Result<Contents, RecordingError> {
    let failed = |source| RecordingError::File {
        path: path.to_owned(),
        source,
    };
    let mut source = BufReader::new(File::open(path).map_err(failed)?);
    let mut contents: Option<Contents> = None;
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = io::Read::take(&mut source, MOST_LINE_BYTES).read_until(b'\n', &mut line);
        let read = read.map_err(failed)? as u64;
        let is_whole = line.pop_if(|last| *last == b'\n').is_some();
        let damaged = |reason: String| RecordingError::Line {
            path: path.to_owned(),
            line: number,
            reason,
        };
        if read == MOST_LINE_BYTES && !is_whole {
            return Err(damaged(format!("it has more than {MOST_LINE_BYTES} bytes")));
        }
        match &mut contents {
            // The file was begun, and not a line of it was written: a crash, too.
            None if read > 0 && !is_whole && is_begin_of_head(&line) => {
                return Ok(Contents {
                    server: String::new(),
                    whole_bytes: 0,
                    torn_bytes: read,
                });
            }
            None => contents = Some(head(path, &line, read)?),
            Some(contents) if !is_whole => {
                contents.torn_bytes = read;
                break;
            }
            Some(contents) => {
                take(serde_json::from_slice(&line).map_err(|error| damaged(error.to_string()))?);
                contents.whole_bytes += read;
            }
        }
    }
    contents.ok_or_else(|| RecordingError::Format(path.to_owned()))
}

/// Whether a line that has no end is the first one of a recording, as far as it goes.
fn is_begin_of_head(line: &[u8]) -> bool {
    let begin = format!("{{\"format\":\"{FORMAT}\"");
    let shared = line.len().min(begin.len());
    line[..shared] == begin.as_bytes()[..shared]
}

fn head(path: &Path, line: &[u8], bytes: u64) -> Result<Contents, RecordingError> {
    let head: Head = serde_json::from_slice(line)
        .ok()
        .filter(|head: &Head| head.format == FORMAT)
        .ok_or_else(|| RecordingError::Format(path.to_owned()))?;
    if head.version != VERSION {
        return Err(RecordingError::Version {
            path: path.to_owned(),
            version: head.version,
        });
    }
    Ok(Contents {
        server: head.server,
        whole_bytes: bytes,
        torn_bytes: 0,
    })
}

/// A recording that is continued, by one recorder at a time.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    bytes: u64,
    pub(super) most_bytes: u64,
}

/// An entry that is not in the file.
#[derive(Debug, Error)]
pub(super) enum AppendError {
    #[error("the recording has reached its {0} bytes")]
    Full(u64),
    #[error("the entry has more than {MOST_LINE_BYTES} bytes")]
    Large,
    #[error("{0}")]
    File(#[from] io::Error),
}

impl Journal {
    /// Opens a file, or makes it, with its entries up to a torn one, which is cut off.
    pub(super) fn open(
        path: &Path,
        server: &str,
        most_bytes: u64,
        take: impl FnMut(Entry),
    ) -> Result<(Journal, Contents), RecordingError> {
        let failed = |source| RecordingError::File {
            path: path.to_owned(),
            source,
        };
        let mut options = OpenOptions::new();
        // What is written goes to its end, wherever that is.
        options.read(true).append(true).create(true);
        // It holds what clients have sent, and is for its owner alone.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(failed)?;
        // It is held as long as the file is open, and ends with the process. Of two that write, one would cut off what the other has written.
        #[cfg(unix)]
        match rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                return Err(RecordingError::InUse(path.to_owned()));
            }
            Err(error) => return Err(failed(error.into())),
        }
        let is_new = file.metadata().map_err(failed)?.len() == 0;
        let contents = if is_new {
            Contents {
                server: server.to_owned(),
                whole_bytes: 0,
                torn_bytes: 0,
            }
        } else {
            read(path, take)?
        };
        if contents.torn_bytes > 0 {
            file.set_len(contents.whole_bytes).map_err(failed)?;
        }
        let mut journal = Journal {
            file,
            bytes: contents.whole_bytes,
            most_bytes,
        };
        if contents.whole_bytes == 0 {
            let head = Head {
                format: FORMAT.to_owned(),
                version: VERSION,
                server: server.to_owned(),
            };
            let line = serde_json::to_vec(&head).map_err(|error| failed(error.into()))?;
            journal.append_line(line).map_err(failed)?;
            // The name of a new file has to be on the disk, too.
            #[cfg(unix)]
            if let Some(folder) = path.parent() {
                let folder = if folder.as_os_str().is_empty() {
                    Path::new(".")
                } else {
                    folder
                };
                File::open(folder)
                    .and_then(|folder| folder.sync_all())
                    .map_err(failed)?;
            }
        }
        Ok((journal, contents))
    }

    /// Appends an entry, and has it on the disk before it returns.
    pub(super) fn append(&mut self, entry: &Entry) -> Result<(), AppendError> {
        let line = serde_json::to_vec(entry).map_err(io::Error::from)?;
        let bytes = line.len() as u64 + 1;
        if bytes > MOST_LINE_BYTES {
            return Err(AppendError::Large);
        }
        if self.bytes + bytes > self.most_bytes {
            return Err(AppendError::Full(self.most_bytes));
        }
        Ok(self.append_line(line)?)
    }

    fn append_line(&mut self, mut line: Vec<u8>) -> io::Result<()> {
        line.push(b'\n');
        let written = self
            .file
            .write_all(&line)
            .and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => {
                self.bytes += line.len() as u64;
                Ok(())
            }
            Err(error) => {
                // What was written of it must not stand before the next one.
                self.file.set_len(self.bytes)?;
                Err(error)
            }
        }
    }
}
