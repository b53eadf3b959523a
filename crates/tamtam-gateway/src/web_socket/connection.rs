//! A WebSocket: what comes is answered, what is due goes out, and no more is held than the limit allows.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, Sink, SinkExt, Stream, StreamExt};
use prometheus_client::metrics::gauge::Gauge;
use tokio::time::{sleep_until, timeout};

use super::calls::{Answered, Client};
use crate::Caller;
use crate::gateway::Shared;
use crate::lasting::{Lasts, Stage};
use crate::push::{self, LAG_PAUSE, Taken, closed_message};

/// Calls of a connection at the same time; no frame is read while there are as many.
const MOST_CALLS: usize = 8;

/// Bytes of messages that go to the socket in one write, about.
const CHUNK_BYTES: usize = 16 << 10;

/// How long a client has to take the last frame, and to answer it.
const LONGEST_CLOSE: Duration = Duration::from_secs(1);

/// A WebSocket.
pub(super) struct Connection {
    client: Arc<Client>,
    socket: WebSocket,
    calls: FuturesUnordered<Pin<Box<dyn Future<Output = Answered> + Send>>>,
    /// Answers that have not been handed to the socket.
    answers: VecDeque<Vec<u8>>,
    /// What the socket has and the client's system has not taken.
    held: HeldBytes,
    is_flushing: bool,
    /// There is an answer in what the socket has.
    holds_answer: bool,
    /// The subscription that comes first the next time.
    turn: u64,
    lasts: Lasts,
}

/// Why a connection ends.
struct End(Option<(u16, &'static str)>);

impl End {
    const GONE: End = End(None);

    fn because(code: u16, reason: &'static str) -> End {
        End(Some((code, reason)))
    }
}

/// What happens on a socket.
enum Happened {
    Flushed(Result<(), axum::Error>),
    Came(Option<Result<Message, axum::Error>>),
    Answered(Answered),
}

impl Connection {
    pub(super) fn new(
        shared: Arc<Shared>,
        caller: Caller,
        socket: WebSocket,
        lasts: Lasts,
    ) -> Connection {
        Connection {
            held: HeldBytes::none(shared.metrics.held.clone()),
            client: Client::new(shared, caller),
            socket,
            calls: FuturesUnordered::new(),
            answers: VecDeque::new(),
            is_flushing: false,
            holds_answer: false,
            turn: 0,
            lasts,
        }
    }

    /// Serves until the client goes or the server ends.
    pub(super) async fn run(mut self) {
        let End(frame) = match self.serve().await {
            Ok(never) => match never {},
            Err(end) => end,
        };
        let Some((code, reason)) = frame else {
            return;
        };
        let socket = &mut self.socket;
        let closing = async {
            let frame = CloseFrame {
                code,
                reason: reason.into(),
            };
            socket.send(Message::Close(Some(frame))).await?;
            // Until the client has answered, or has gone.
            while let Some(Ok(_)) = socket.next().await {}
            Ok::<(), axum::Error>(())
        };
        let _ = timeout(LONGEST_CLOSE, closing).await;
    }

    async fn serve(&mut self) -> Result<std::convert::Infallible, End> {
        let patience = self.client.shared.gateway.limits.patience;
        let more = Arc::clone(&self.client.more);
        let mut was_heard = true;
        let mut look_again = tokio::time::Instant::now() + patience;
        loop {
            let is_stopping = self.lasts.stage() > Stage::Serving;
            let not_before = if self.is_flushing {
                None
            } else {
                self.fill(is_stopping)?
            };
            let is_answered = self.calls.is_empty() && !(self.is_flushing && self.holds_answer);
            if is_stopping && is_answered {
                return Err(End::because(close_code::AWAY, "the server ends"));
            }
            let may_lag = self.is_flushing && self.may_close();
            let next_stage = if is_stopping {
                Stage::Cut
            } else {
                Stage::Stopping
            };
            let Connection {
                socket,
                calls,
                answers,
                is_flushing,
                lasts,
                ..
            } = self;
            let is_flushing = *is_flushing;
            let may_read = !is_stopping && answers.is_empty() && calls.len() < MOST_CALLS;
            let happens =
                poll_fn(|context| happened(socket, calls, is_flushing, may_read, context));
            tokio::select! {
                biased;
                () = lasts.reached(next_stage) => {
                    if next_stage == Stage::Cut {
                        return Err(End::GONE);
                    }
                }
                happened = happens => match happened {
                    Happened::Flushed(Ok(())) => {
                        self.is_flushing = false;
                        self.held.none_left();
                    }
                    Happened::Flushed(Err(_)) | Happened::Came(None) => return Err(End::GONE),
                    Happened::Came(Some(frame)) => {
                        was_heard = true;
                        self.take_in(frame)?;
                    }
                    Happened::Answered(answered) => self.answered(answered),
                },
                () = more.notified(), if !is_flushing => {}
                () = until(not_before), if not_before.is_some() => {}
                () = tokio::time::sleep(LAG_PAUSE), if may_lag => self.close_those_behind()?,
                () = sleep_until(look_again) => {
                    look_again += patience;
                    let is_idle = self.client.subscriptions().is_empty() && self.calls.is_empty();
                    if is_idle && !std::mem::take(&mut was_heard) {
                        return Err(End::because(close_code::NORMAL, "nothing is asked for"));
                    }
                    // Who is between here and there is to know that it lasts.
                    if !self.is_flushing {
                        self.hand_over(Message::Ping(Default::default()), 0)?;
                        self.is_flushing = true;
                    }
                }
            }
        }
    }

    /// Hands the socket what is due: answers first, then what the subscriptions have, by turns. Says until when there is
    /// nothing, if that is known.
    fn fill(&mut self, is_stopping: bool) -> Result<Option<Instant>, End> {
        self.holds_answer = !self.answers.is_empty();
        while let Some(answer) = self.answers.pop_front() {
            let bytes = answer.len();
            // It was written as text.
            let text = String::from_utf8(answer).unwrap_or_default();
            self.hand_over(Message::text(text), bytes)?;
        }
        let mut not_before: Option<Instant> = None;
        if !is_stopping {
            let client = Arc::clone(&self.client);
            let mut subscriptions = client.subscriptions();
            let now = Instant::now();
            let ids: Vec<u64> = {
                let behind = subscriptions.range(self.turn..).map(|(&id, _)| id);
                behind
                    .chain(subscriptions.range(..self.turn).map(|(&id, _)| id))
                    .collect()
            };
            for id in ids {
                let room = CHUNK_BYTES.saturating_sub(self.held.bytes);
                if room == 0 {
                    self.turn = id;
                    break;
                }
                let Some(subscription) = subscriptions.get_mut(&id) else {
                    continue;
                };
                let mut handed = Ok(());
                let taken = subscription.messages(now, room, |message| {
                    let (bytes, message) = match message {
                        push::Message::Text(text) => (text.len(), Message::text(text)),
                        push::Message::Binary(rows) => (rows.len(), Message::binary(rows)),
                    };
                    if handed.is_ok() {
                        handed = self.hand_over(message, bytes);
                    }
                });
                handed?;
                match taken {
                    Ok(Taken::Some | Taken::Nothing) => {}
                    Ok(Taken::NotBefore(time)) => {
                        not_before = Some(not_before.map_or(time, |earlier| earlier.min(time)));
                    }
                    Err(_) => {
                        subscription.closed();
                        let message = closed_message(id, subscription.rest().0);
                        let bytes = message.len();
                        self.hand_over(Message::text(message), bytes)?;
                        return Err(TOO_FAR_BEHIND);
                    }
                }
            }
        }
        self.is_flushing = self.held.bytes > 0;
        Ok(not_before)
    }

    fn hand_over(&mut self, message: Message, bytes: usize) -> Result<(), End> {
        self.held.add(bytes);
        // It is ready at once, since nothing is written before the flush.
        match self.socket.feed(message).now_or_never() {
            Some(Ok(())) => Ok(()),
            Some(Err(_)) | None => Err(End::GONE),
        }
    }

    fn take_in(&mut self, frame: Result<Message, axum::Error>) -> Result<(), End> {
        match frame {
            Ok(Message::Text(text)) => {
                let answering = Arc::clone(&self.client).answer(text.into());
                self.calls.push(Box::pin(answering));
                Ok(())
            }
            Ok(Message::Binary(_)) => Err(End::because(
                close_code::UNSUPPORTED,
                "calls are frames of text",
            )),
            Ok(Message::Ping(_) | Message::Pong(_)) => Ok(()),
            // It is answered by the reading that follows, which finds the end.
            Ok(Message::Close(_)) => Ok(()),
            Err(error) => {
                tracing::debug!(%error, "a WebSocket failed");
                let code = close_code_of(&error);
                Err(End::because(code, "the frame is too large or damaged"))
            }
        }
    }

    fn answered(&mut self, answered: Answered) {
        if let Some(mut body) = answered.body {
            let waiting: usize = self.answers.iter().map(Vec::len).sum();
            let most = self.client.shared.gateway.limits.push_bytes / 4;
            if waiting > 0 && waiting + body.len() > most {
                body = super::calls::refusal("more answers wait than there is room for");
            }
            self.answers.push_back(body);
        }
        let mut subscriptions = self.client.subscriptions();
        subscriptions.extend(answered.begun.into_iter().map(|begun| (begun.id, begun)));
    }

    /// Whether one of its subscriptions asked that it be closed when that is too far behind.
    fn may_close(&self) -> bool {
        let subscriptions = self.client.subscriptions();
        subscriptions.values().any(push::Subscription::may_close)
    }

    /// Ends the connection if one of its subscriptions asked for that.
    fn close_those_behind(&self) -> Result<(), End> {
        let subscriptions = self.client.subscriptions();
        let behind = subscriptions.values().find(|one| one.is_behind());
        match behind {
            Some(subscription) => {
                subscription.closed();
                Err(TOO_FAR_BEHIND)
            }
            None => Ok(()),
        }
    }
}

const TOO_FAR_BEHIND: End = End(Some((
    close_code::POLICY,
    "a subscription is too far behind",
)));

/// Looks at a socket: whether what it has is written, what it brings, and which calls have their answers.
fn happened(
    socket: &mut WebSocket,
    calls: &mut FuturesUnordered<Pin<Box<dyn Future<Output = Answered> + Send>>>,
    is_flushing: bool,
    may_read: bool,
    context: &mut Context<'_>,
) -> Poll<Happened> {
    if let Poll::Ready(Some(answered)) = calls.poll_next_unpin(context) {
        return Poll::Ready(Happened::Answered(answered));
    }
    if is_flushing && let Poll::Ready(flushed) = Pin::new(&mut *socket).poll_flush(context) {
        return Poll::Ready(Happened::Flushed(flushed));
    }
    if may_read && let Poll::Ready(came) = Pin::new(socket).poll_next(context) {
        return Poll::Ready(Happened::Came(came));
    }
    Poll::Pending
}

async fn until(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time.into()).await,
        None => std::future::pending().await,
    }
}

/// What a client is told that has sent a frame which is none.
fn close_code_of(error: &axum::Error) -> u16 {
    use tokio_tungstenite::tungstenite::Error;

    let source = std::error::Error::source(error);
    match source.and_then(|source| source.downcast_ref::<Error>()) {
        Some(Error::Capacity(_)) => close_code::SIZE,
        Some(Error::Utf8(_)) => close_code::INVALID,
        _ => close_code::PROTOCOL,
    }
}

/// Counts bytes that a connection holds for its client.
struct HeldBytes {
    bytes: usize,
    all: Gauge,
}

impl HeldBytes {
    fn none(all: Gauge) -> HeldBytes {
        HeldBytes { bytes: 0, all }
    }

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
