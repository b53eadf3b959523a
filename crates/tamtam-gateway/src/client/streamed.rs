//! An answer that is taken while it comes: its bytes, or the rows of its table, part by part.

use std::fmt;
use std::io::{self, BufRead, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use bytes::{Buf, Bytes};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use tamtam_rows::packed::Reader;
use tamtam_rows::{CompressionKind, Limits, Rows, Schema, decompressor};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use super::{CallError, malformed};

/// Pieces of an answer, or parts of its table, that are ready and not yet taken, at most.
const MOST_READY: usize = 1;

/// Bytes of an answer that are given at once, at most.
const PIECE_BYTES: usize = 64 << 10;

/// An answer that is taken while it comes, decompressed: however long it is, it takes the memory of some pieces, and no more is
/// asked of the server than is taken. Dropped, it ends the call: its connection is closed.
///
/// # Examples
///
/// ```
/// use std::io::Write;
/// use tamtam_gateway::{CallError, Client};
///
/// async fn write_csv(client: &Client, out: &mut dyn Write) -> Result<(), Box<dyn std::error::Error>> {
///     let mut answer = client.raw_stream("Tables.orders", &(), "text/csv").await?;
///     while let Some(piece) = answer.next().await? {
///         out.write_all(&piece)?;
///     }
///     Ok(())
/// }
/// # let _ = write_csv;
/// ```
pub struct RawStream {
    content_type: String,
    most_bytes: usize,
    source: Option<BodyReader>,
    pieces: Option<Made<Bytes>>,
    _pump: Pump,
}

/// The rows of a table, part by part as they come: however long it is, it takes the memory of some parts. Dropped, it ends the
/// call: its connection is closed, and the server tells the table's source.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{CallError, Client};
///
/// async fn count(client: &Client) -> Result<u64, CallError> {
///     let mut orders = client.stream("Tables.orders", &()).await?;
///     println!("{} columns", orders.schema().len());
///     let mut count = 0;
///     while let Some(part) = orders.next().await? {
///         count += part.len() as u64;
///     }
///     Ok(count)
/// }
/// # let _ = count;
/// ```
pub struct RowParts {
    schema: Schema,
    parts: Made<Rows>,
    _pump: Pump,
}

impl RawStream {
    /// Of the body of an answer that has begun, over this connection, which is of no other use before it ends.
    pub(super) fn new(
        content_type: String,
        kind: CompressionKind,
        body: Incoming,
        connection: SendRequest<Full<Bytes>>,
        patience: Duration,
        most_bytes: usize,
    ) -> RawStream {
        let (pieces, taken) = mpsc::channel(MOST_READY);
        let pumping = tokio::spawn(pump(body, connection, pieces, patience));
        RawStream {
            content_type,
            most_bytes,
            source: Some(BodyReader {
                pieces: taken,
                piece: Bytes::new(),
                kind,
                failure: Failure::default(),
            }),
            pieces: None,
            _pump: Pump(pumping.abort_handle()),
        }
    }

    /// What the header `Content-Type` says.
    pub fn content_type(&self) -> &str {
        &self.content_type
    }

    /// The next bytes; nothing behind the last ones.
    ///
    /// # Errors
    /// If the answer is cut off, damaged, or nothing of it comes within the client's patience. Nothing follows then.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    pub async fn next(&mut self) -> Result<Option<Bytes>, CallError> {
        let pieces = match (&mut self.pieces, self.source.take()) {
            (Some(pieces), _) => pieces,
            (none, Some(source)) => none.insert(Made::by(source, in_pieces)?),
            (None, None) => return Ok(None),
        };
        pieces.next().await
    }

    /// The rows of an answer whose [type](RawStream::content_type) is `application/vnd.tamtam.rows`, of which no bytes were
    /// taken.
    ///
    /// # Errors
    /// If it is none, or as [`next`](RawStream::next).
    pub async fn into_rows(mut self) -> Result<RowParts, CallError> {
        let Some(source) = self.source.take() else {
            return Err(malformed("its bytes were taken"));
        };
        let limits = Limits {
            // Of a part.
            bytes: self.most_bytes as u64,
            rows: u64::MAX,
            ..Limits::default()
        };
        let (begin, begun) = oneshot::channel();
        let parts = Made::by(source, move |bytes, out| {
            let mut reader = Reader::new(bytes, limits).map_err(malformed)?;
            // The task that waits for it may have gone.
            let _ = begin.send(reader.schema().clone());
            while let Some(part) = reader.next_chunk().map_err(malformed)? {
                if !out.give(part) {
                    break;
                }
            }
            Ok(())
        });
        let mut parts = parts?;
        let Ok(schema) = begun.await else {
            // It says why.
            parts.next().await?;
            return Err(malformed("it has no columns"));
        };
        Ok(RowParts {
            schema,
            parts,
            _pump: self._pump,
        })
    }
}

impl RowParts {
    /// The columns.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The next rows; nothing behind the last ones.
    ///
    /// # Errors
    /// If the answer is cut off, since its source failed or its server ended; if it is damaged, a part has more bytes than the
    /// client takes of an answer, or nothing of it comes within the client's patience. Nothing follows then; the rows before are
    /// those of the table.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    pub async fn next(&mut self) -> Result<Option<Rows>, CallError> {
        self.parts.next().await
    }
}

impl fmt::Debug for RawStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawStream({})", self.content_type)
    }
}

impl fmt::Debug for RowParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RowParts({} columns)", self.schema.len())
    }
}

/// What takes the body from its connection. Dropped, it closes both, whatever is waited for.
struct Pump(AbortHandle);

impl Drop for Pump {
    fn drop(&mut self) {
        self.0.abort();
    }
}

type BodyPiece = Result<Bytes, CallError>;

/// Takes a body from its connection, no faster than it is read.
async fn pump(
    mut body: Incoming,
    connection: SendRequest<Full<Bytes>>,
    pieces: mpsc::Sender<BodyPiece>,
    patience: Duration,
) {
    loop {
        let Ok(frame) = tokio::time::timeout(patience, body.frame()).await else {
            let _ = pieces.send(Err(CallError::TimedOut(patience))).await;
            break;
        };
        let piece = match frame {
            None => break,
            Some(Err(error)) => Err(CallError::Connection(error.to_string())),
            Some(Ok(frame)) => match frame.into_data() {
                Ok(bytes) => Ok(bytes),
                // What comes behind the body says nothing.
                Err(_) => continue,
            },
        };
        let is_last = piece.is_err();
        if pieces.send(piece).await.is_err() || is_last {
            break;
        }
    }
    drop(connection);
}

/// Why a body ended before it was whole: what reads it is told no more than that it failed.
type Failure = Arc<Mutex<Option<CallError>>>;

fn take(failure: &Failure) -> Option<CallError> {
    let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
    failure.take()
}

/// The body as a thread reads it.
struct BodyReader {
    pieces: mpsc::Receiver<BodyPiece>,
    piece: Bytes,
    kind: CompressionKind,
    failure: Failure,
}

impl BufRead for BodyReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.piece.is_empty() {
            match self.pieces.blocking_recv() {
                None => break,
                Some(Ok(piece)) => self.piece = piece,
                Some(Err(error)) => {
                    let words = error.to_string();
                    let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                    *failure = Some(error);
                    return Err(io::Error::other(words));
                }
            }
        }
        Ok(&self.piece)
    }

    fn consume(&mut self, count: usize) {
        self.piece.advance(count);
    }
}

impl Read for BodyReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let ready = self.fill_buf()?;
        let count = ready.len().min(into.len());
        into[..count].copy_from_slice(&ready[..count]);
        self.consume(count);
        Ok(count)
    }
}

/// What a thread makes of a body.
struct Made<T>(mpsc::Receiver<Result<T, CallError>>);

/// Where it goes.
struct Outlet<T>(mpsc::Sender<Result<T, CallError>>);

impl<T> Outlet<T> {
    /// Gives it away; says whether it is still wanted.
    fn give(&self, made: T) -> bool {
        self.0.blocking_send(Ok(made)).is_ok()
    }
}

impl<T: Send + 'static> Made<T> {
    /// By a thread of its own, since decompressing and decoding may take long, and waits for what is read.
    ///
    /// # Errors
    /// If the system has no thread.
    fn by(
        source: BodyReader,
        make: impl FnOnce(Box<dyn Read>, &Outlet<T>) -> Result<(), CallError> + Send + 'static,
    ) -> Result<Made<T>, CallError> {
        let (out, made) = mpsc::channel(MOST_READY);
        let failure = Arc::clone(&source.failure);
        let run = move || {
            let out = Outlet(out);
            let result = decompressor(source.kind, source).map_err(malformed);
            let result = result.and_then(|bytes| make(bytes, &out));
            if let Err(error) = result {
                let error = take(&failure).unwrap_or(error);
                // A receiver that has gone wants to know nothing more.
                let _ = out.0.blocking_send(Err(error));
            }
        };
        let spawned = thread::Builder::new().name("answer".into()).spawn(run);
        spawned.map_err(|error| CallError::Connection(error.to_string()))?;
        Ok(Made(made))
    }

    async fn next(&mut self) -> Result<Option<T>, CallError> {
        self.0.recv().await.transpose()
    }
}

fn in_pieces(mut bytes: Box<dyn Read>, out: &Outlet<Bytes>) -> Result<(), CallError> {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match bytes.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(count) => {
                if !out.give(Bytes::copy_from_slice(&piece[..count])) {
                    return Ok(());
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(malformed(error)),
        }
    }
}
