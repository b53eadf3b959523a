//! The line to a program.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};

use super::answer::{Answer, VERSION};
use super::arguments::By;

/// So much of a name is sent at most, in bytes: a request is short.
const LONGEST_NAME: usize = 60;
/// No answer is longer; a thousand actors take less than a mebibyte.
const LONGEST_ANSWER: u64 = 16 << 20;
/// A program that does not answer within this time is taken to be stuck, or stopped.
const LONGEST_SILENCE: Duration = Duration::from_secs(5);

/// A connection to a program that serves.
#[derive(Debug)]
pub(crate) struct Line {
    reader: BufReader<UnixStream>,
    path: PathBuf,
}

/// What a program is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) most: u16,
    pub(crate) by: By,
    /// Only actors in whose name or type this is.
    pub(crate) named: String,
}

/// Text as a word of a request: what is neither letter nor digit as `%20` and the like.
fn one_word(text: &str) -> String {
    let mut word = String::new();
    for byte in text.bytes().take(LONGEST_NAME) {
        if byte.is_ascii_alphanumeric() {
            word.push(char::from(byte));
        } else {
            word.push_str(&format!("%{byte:02x}"));
        }
    }
    word
}

/// Connects at once or not at all: a program that is stopped takes as many connections as may wait for it, and would have one wait that comes behind them.
fn connect(path: &Path) -> std::io::Result<UnixStream> {
    let address = SocketAddrUnix::new(path)?;
    let stream = socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    let stream = UnixStream::from(stream);
    stream.set_nonblocking(true)?;
    rustix::net::connect(&stream, &address)?;
    stream.set_nonblocking(false)?;
    Ok(stream)
}

impl Line {
    /// # Errors
    ///
    /// If no program serves there, or it is another user's.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let shown = path.display();
        let file = std::fs::metadata(path).with_context(|| {
            format!("there is no socket at {shown}: does the program run, and call tamtam::actor::observe::serve()?")
        })?;
        let user = rustix::process::geteuid().as_raw();
        ensure!(
            file.uid() == user,
            "{shown} belongs to another user, and only that user may look at the program: try sudo -u '#{}' tamtam top",
            file.uid()
        );
        let stream = connect(path).map_err(|error| {
            let what = match error.kind() {
                ErrorKind::ConnectionRefused => "the program that served there has ended",
                ErrorKind::PermissionDenied => "only the user who runs the program may look at it",
                ErrorKind::WouldBlock => {
                    "no answer: the program is stopped, or the machine is very busy"
                }
                _ => "nobody serves there",
            };
            anyhow::Error::new(error).context(format!("{shown}: {what}"))
        })?;
        stream.set_read_timeout(Some(LONGEST_SILENCE))?;
        stream.set_write_timeout(Some(LONGEST_SILENCE))?;
        Ok(Line {
            reader: BufReader::new(stream),
            path: path.to_owned(),
        })
    }

    /// Which program it is.
    pub(crate) fn hello(&mut self) -> Result<Answer> {
        Answer::read(&self.ask("hello\n")?)
    }

    /// What it does: the line, and what it says.
    pub(crate) fn look(&mut self, request: &Request) -> Result<(String, Answer)> {
        let Request { most, by, named } = request;
        let mut words = format!("look {VERSION} most={most} by={}", by.word());
        if !named.is_empty() {
            words.push_str(" named=");
            words.push_str(&one_word(named));
        }
        words.push('\n');
        let line = self.ask(&words)?;
        let answer = Answer::read(&line)?;
        Ok((line, answer))
    }

    fn ask(&mut self, request: &str) -> Result<String> {
        let line = self.exchange(request);
        let shown = self.path.display();
        let line = line.map_err(|error| match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => anyhow::anyhow!(
                "{shown}: no answer within {} s: the program is stopped, or the machine is very busy",
                LONGEST_SILENCE.as_secs()
            ),
            ErrorKind::InvalidData => anyhow::anyhow!("{shown}: the answer is no text"),
            _ => anyhow::Error::new(error).context(format!("{shown}: the program has gone")),
        })?;
        if !line.ends_with('\n') {
            ensure!(
                (line.len() as u64) < LONGEST_ANSWER,
                "{shown}: an answer of more than 16 MiB is no answer of a program with Tamtam"
            );
            bail!("{shown}: the program has gone");
        }
        Ok(line)
    }

    fn exchange(&mut self, request: &str) -> std::io::Result<String> {
        let mut stream = self.reader.get_ref();
        stream.write_all(request.as_bytes())?;
        let mut line = String::new();
        (&mut self.reader)
            .take(LONGEST_ANSWER)
            .read_line(&mut line)?;
        Ok(line)
    }
}
