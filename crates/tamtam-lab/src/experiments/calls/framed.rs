//! Requests and answers on streams of bytes: the length in four bytes, then what is sent.

use std::io::{self, BufReader, Read, Write};

use super::{Client, answer};
use crate::Failure;

/// A longer request or answer is refused before memory is taken for it.
const LENGTH_LIMIT: u32 = 16 << 20;
/// How much is read at once, if it is there: an answer, as a rule.
const PORTION: usize = 16 << 10;

/// A client at two streams, one for requests and one for answers.
#[derive(Debug)]
pub struct Framed<R, W> {
    answers: BufReader<R>,
    requests: W,
    frame: Vec<u8>,
}

impl<R: Read, W: Write> Framed<R, W> {
    /// One that reads its answers from `answers`, and writes its requests to `requests`.
    pub fn new(answers: R, requests: W) -> Self {
        Framed {
            answers: BufReader::with_capacity(PORTION, answers),
            requests,
            frame: Vec::new(),
        }
    }
}

impl<R: Read + Send, W: Write + Send> Client for Framed<R, W> {
    fn call(&mut self, request: Vec<u8>) -> Result<Vec<u8>, Failure> {
        write(&mut self.requests, &mut self.frame, &request)?;
        let mut answer = Vec::new();
        if !read(&mut self.answers, &mut answer)? {
            return Err(Failure::Unverified("the server has hung up".to_owned()));
        }
        Ok(answer)
    }
}

/// Answers all requests of one client, in the calling thread, until the client hangs up.
///
/// # Errors
/// A stream fails, or what comes is no request.
pub fn serve_frames(requests: impl Read, mut answers: impl Write) -> io::Result<()> {
    let mut requests = BufReader::with_capacity(PORTION, requests);
    let (mut request, mut frame) = (Vec::new(), Vec::new());
    while read(&mut requests, &mut request)? {
        write(&mut answers, &mut frame, &answer(&request))?;
    }
    Ok(())
}

/// Writes the length and what is sent at once: two writes would be two packets.
fn write(stream: &mut impl Write, frame: &mut Vec<u8>, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    frame.clear();
    frame.extend_from_slice(&length.to_le_bytes());
    frame.extend_from_slice(bytes);
    stream.write_all(frame)?;
    stream.flush()
}

/// Reads into `bytes`, which it empties before; false if the stream has ended.
fn read(stream: &mut BufReader<impl Read>, bytes: &mut Vec<u8>) -> io::Result<bool> {
    let mut length = [0; 4];
    match stream.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
        Err(error) => return Err(error),
    }
    let length = u32::from_le_bytes(length);
    if length > LENGTH_LIMIT {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{length} bytes are more than a call has"),
        ));
    }
    bytes.resize(length as usize, 0);
    stream.read_exact(bytes)?;
    Ok(true)
}
