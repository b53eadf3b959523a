//! A WebSocket to which no more is handed than its client takes, and how it is closed.

use std::borrow::Cow;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use futures_util::{FutureExt, Sink, SinkExt, Stream, StreamExt};
use prometheus_client::metrics::gauge::Gauge;
use tokio::time::timeout;

/// How long a client has to take the last frame, and to answer it.
const LONGEST_CLOSE: Duration = Duration::from_secs(1);

/// Bytes of a reason, at most: what a frame of control has room for.
const LONGEST_REASON: usize = 123;

/// A WebSocket, and what it has that the client's system has not taken.
pub(super) struct PacedSocket {
    socket: WebSocket,
    held: HeldBytes,
    is_flushing: bool,
}

/// What happens on a socket.
pub(super) enum Moved {
    /// The client's system has all that the socket was handed.
    Flushed,
    Came(Message),
}

/// Why a connection ends.
#[derive(Debug)]
pub(super) struct End(Option<(u16, Cow<'static, str>)>);

impl End {
    /// There is no one to be told.
    pub(super) const GONE: End = End(None);

    pub(super) const fn because(code: u16, reason: &'static str) -> End {
        End(Some((code, Cow::Borrowed(reason))))
    }

    /// What the client is told, if there is one.
    pub(super) fn reason(&self) -> Option<&str> {
        self.0.as_ref().map(|(_, reason)| &**reason)
    }

    /// With words of which no more go than there is room for.
    pub(super) fn said(code: u16, reason: &str) -> End {
        let mut end = reason.len().min(LONGEST_REASON);
        while !reason.is_char_boundary(end) {
            end -= 1;
        }
        End(Some((code, reason[..end].to_owned().into())))
    }
}

impl PacedSocket {
    /// What it holds is added to this figure.
    pub(super) fn new(socket: WebSocket, all_held: Gauge) -> PacedSocket {
        PacedSocket {
            socket,
            held: HeldBytes {
                bytes: 0,
                all: all_held,
            },
            is_flushing: false,
        }
    }

    /// Bytes that it has and the client's system has not taken.
    pub(super) fn held(&self) -> usize {
        self.held.bytes
    }

    /// Whether it is being written: nothing is handed to it meanwhile.
    pub(super) fn is_flushing(&self) -> bool {
        self.is_flushing
    }

    /// Hands it a message of so many bytes, which goes with the next [`flush`](PacedSocket::flush).
    pub(super) fn hand_over(&mut self, message: Message, bytes: usize) -> Result<(), End> {
        self.held.add(bytes);
        // It is ready at once, since nothing is written before the flush.
        match self.socket.feed(message).now_or_never() {
            Some(Ok(())) => Ok(()),
            Some(Err(_)) | None => Err(End::GONE),
        }
    }

    /// Begins to write what it was handed, if that is anything.
    pub(super) fn flush(&mut self) {
        self.is_flushing = self.held.bytes > 0;
    }

    /// Asks the client whether it is there, and tells what is between here and there that the connection lasts; `false` while it has something else to
    /// take first.
    pub(super) fn ping(&mut self) -> Result<bool, End> {
        let is_free = !self.is_flushing;
        if is_free {
            self.hand_over(Message::Ping(Default::default()), 0)?;
            self.is_flushing = true;
        }
        Ok(is_free)
    }

    /// What happens next: whether what it has is written, and what it brings.
    pub(super) fn poll_moved(
        &mut self,
        may_read: bool,
        context: &mut Context<'_>,
    ) -> Poll<Result<Moved, End>> {
        if self.is_flushing
            && let Poll::Ready(flushed) = Pin::new(&mut self.socket).poll_flush(context)
        {
            self.is_flushing = false;
            self.held.none_left();
            return Poll::Ready(flushed.map(|()| Moved::Flushed).map_err(|_| End::GONE));
        }
        if may_read && let Poll::Ready(came) = Pin::new(&mut self.socket).poll_next(context) {
            return Poll::Ready(match came {
                None => Err(End::GONE),
                Some(Ok(message)) => Ok(Moved::Came(message)),
                Some(Err(error)) => {
                    tracing::debug!(%error, "a WebSocket failed");
                    Err(match close_code_of(&error) {
                        Some(code) => End::because(code, "the frame is too large or damaged"),
                        None => End::GONE,
                    })
                }
            });
        }
        Poll::Pending
    }

    /// Sends what is left to say, tells the client why the connection ends, and waits shortly until it has heard that.
    pub(super) async fn close(mut self, End(frame): End, rest: Vec<u8>) {
        let Some((code, reason)) = frame else {
            return;
        };
        let socket = &mut self.socket;
        let closing = async {
            if !rest.is_empty() {
                socket.feed(Message::binary(rest)).await?;
            }
            let frame = CloseFrame {
                code,
                reason: (&*reason).into(),
            };
            socket.send(Message::Close(Some(frame))).await?;
            // Until the client has answered, or has gone.
            while let Some(Ok(_)) = socket.next().await {}
            Ok::<(), axum::Error>(())
        };
        let _ = timeout(LONGEST_CLOSE, closing).await;
    }
}

/// What a client is told that has sent a frame which is none; nothing if there is no client any more.
fn close_code_of(error: &axum::Error) -> Option<u16> {
    use tokio_tungstenite::tungstenite::Error;
    use tokio_tungstenite::tungstenite::error::ProtocolError::ResetWithoutClosingHandshake;

    let source = std::error::Error::source(error);
    match source.and_then(|source| source.downcast_ref::<Error>()) {
        Some(Error::Capacity(_)) => Some(close_code::SIZE),
        Some(Error::Utf8(_)) => Some(close_code::INVALID),
        Some(Error::Io(_) | Error::ConnectionClosed | Error::AlreadyClosed) => None,
        Some(Error::Protocol(ResetWithoutClosingHandshake)) => None,
        _ => Some(close_code::PROTOCOL),
    }
}

/// Counts bytes that a connection holds for its client.
struct HeldBytes {
    bytes: usize,
    all: Gauge,
}

impl HeldBytes {
    fn add(&mut self, bytes: usize) {
        self.bytes += bytes;
        self.all.inc_by(bytes as i64);
    }

    fn none_left(&mut self) {
        self.all.dec_by(self.bytes as i64);
        self.bytes = 0;
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.none_left();
    }
}
