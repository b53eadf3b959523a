//! Which requests of a connection are under way, which answers wait for their client, and since when.

use std::collections::BTreeMap;
use std::future::pending;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use hyper::rt::Executor;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until};

use crate::reset_budget::ResetBudget;

/// Bytes of an answer that are handed to HTTP/2 at once: a frame of it. What is behind them stays here until the client has made room.
const MOST_PIECE_BYTES: usize = 16 << 10;

tokio::task_local! {
    /// The task that carries the stream of HTTP/2 whose request is answered; it is told of itself when it runs already.
    static STREAM: Arc<OnceLock<AbortHandle>>;
}

/// The requests of one connection that are under way: a method works for them, or their answer waits for what it is made of, or for its
/// client.
///
/// An answer that only its client keeps from going, by a window of HTTP/2 that it does not open, has to come forward within the client's
/// patience, whatever else goes over the connection: pings, and answers beside. Its stream is reset otherwise, and the connection goes on;
/// where all of the answer was handed to HTTP/2, which keeps it then, the connection is what ends.
///
/// A client that takes back more requests than [`ResetBudget`] allows loses the connection.
///
/// Those of HTTP/1 are not counted: its own timer, which begins when an answer has gone, bounds the time until the next one has come.
/// That timer does not run before the version is known; and HTTP/2 has none, but pings, which a client answers that asks for nothing.
#[derive(Clone, Debug)]
pub(crate) struct UnderWay(Arc<Seen>);

#[derive(Debug)]
struct Seen {
    is_http1: AtomicBool,
    /// How long an answer may wait for its client, unless it says otherwise.
    patience: Duration,
    requests: Mutex<Requests>,
    /// Told when more was taken back than may be.
    flooded: Notify,
}

/// The requests of HTTP/2.
#[derive(Debug)]
struct Requests {
    under_way: BTreeMap<u64, RequestState>,
    /// The number of the next one.
    next: u64,
    /// When the last one was no longer; before there was one, when the connection began.
    last_ended: Instant,
    resets: ResetBudget,
}

/// How far a request has come.
#[derive(Debug)]
struct RequestState {
    /// A method works, or the source of the answer.
    is_at_work: bool,
    /// Not all of it was handed over.
    has_more: bool,
    /// What was handed to HTTP/2 and has not gone.
    pieces: usize,
    /// When it last came forward.
    moved: Instant,
    patience: Duration,
    /// What carries it, until all of the answer was handed over.
    task: Option<Arc<OnceLock<AbortHandle>>>,
}

/// The answer may wait for its client so long, in place of what is usual: an extension of a response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lenient(pub(crate) Duration);

/// Why a connection is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionEnd {
    /// Nothing is asked for.
    Idle,
    /// An answer waits for its client, which does not let it come.
    Stalled,
    /// Too many requests were taken back.
    Flooded,
}

impl UnderWay {
    /// Of a connection that begins now, each of whose answers waits so long for its client.
    pub(crate) fn new(patience: Duration) -> UnderWay {
        let now = Instant::now();
        UnderWay(Arc::new(Seen {
            is_http1: AtomicBool::new(false),
            patience,
            requests: Mutex::new(Requests {
                under_way: BTreeMap::new(),
                next: 0,
                last_ended: now,
                resets: ResetBudget::new(now),
            }),
            flooded: Notify::new(),
        }))
    }

    /// A request of this version has come; one that is counted is under way until what this gives is dropped.
    pub(crate) fn came(&self, version: hyper::Version) -> Option<Request> {
        if version < hyper::Version::HTTP_2 {
            self.0.is_http1.store(true, Ordering::Relaxed);
            return None;
        }
        let mut requests = self.requests();
        let number = requests.next;
        requests.next += 1;
        let state = RequestState {
            is_at_work: true,
            has_more: true,
            pieces: 0,
            moved: Instant::now(),
            patience: self.0.patience,
            task: None,
        };
        requests.under_way.insert(number, state);
        drop(requests);
        let all = self.clone();
        Some(Request {
            all,
            number,
            is_done: false,
        })
    }

    /// Ready when no request has been under way for so long, from now on at the least, or when an answer waits for its client that
    /// cannot be given up alone. Never, if requests come by HTTP/1. Streams whose client does not take their answers are reset.
    pub(crate) async fn over(&self, time: Duration) -> ConnectionEnd {
        let mut look = Instant::now() + time;
        loop {
            tokio::select! {
                () = sleep_until(look) => {}
                () = self.0.flooded.notified() => return ConnectionEnd::Flooded,
            }
            if self.0.is_http1.load(Ordering::Relaxed) {
                return pending().await;
            }
            let now = Instant::now();
            look = match self.look(now, time) {
                Ok(next) => next,
                Err(end) => return end,
            };
        }
    }

    /// Gives up what has waited for too long for its client; says when to look again.
    ///
    /// # Errors
    /// Why the connection is to end.
    fn look(&self, now: Instant, time: Duration) -> Result<Instant, ConnectionEnd> {
        let mut tasks = Vec::new();
        let mut next = now + time;
        let mut requests = self.requests();
        if requests.under_way.is_empty() {
            let over = requests.last_ended + time;
            return if over <= now {
                Err(ConnectionEnd::Idle)
            } else {
                Ok(over)
            };
        }
        for state in requests.under_way.values_mut() {
            if !state.waits_for_client() {
                continue;
            }
            if state.moved + state.patience > now {
                next = next.min(state.moved + state.patience);
                continue;
            }
            let task = state.task.as_ref().and_then(|task| task.get());
            // Its end is waited for as long again.
            state.moved = now;
            match task {
                Some(task) if !task.is_finished() => tasks.push(task.clone()),
                _ => return Err(ConnectionEnd::Stalled),
            }
        }
        drop(requests);
        for task in tasks {
            tracing::debug!("an answer was given up: its client does not let it come");
            task.abort();
        }
        Ok(next)
    }

    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.0
            .requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// A request was taken back before all of its answer had gone.
    fn taken_back(&self) {
        let is_allowed = self.requests().resets.spend(Instant::now());
        if !is_allowed {
            self.0.flooded.notify_one();
        }
    }

    /// Changes how far a request has come; one of which nothing is left is under way no more.
    fn change(&self, number: u64, change: impl FnOnce(&mut RequestState)) {
        let mut requests = self.requests();
        let Some(state) = requests.under_way.get_mut(&number) else {
            return;
        };
        change(state);
        if !state.has_more && state.pieces == 0 {
            let ended = requests.under_way.remove(&number);
            requests.last_ended = Instant::now();
            drop(requests);
            drop(ended);
        }
    }
}

impl RequestState {
    /// Whether nothing but its client keeps the answer.
    fn waits_for_client(&self) -> bool {
        !self.is_at_work || self.pieces > 0
    }
}

/// One that is under way until this is dropped, and all that was handed over of its answer has gone.
#[derive(Debug)]
pub(crate) struct Request {
    all: UnderWay,
    number: u64,
    /// All of its answer was handed over, or that has failed here.
    is_done: bool,
}

impl Request {
    /// The answer has been made, or begun: from now on it waits for its client, or for what it is made of.
    pub(crate) fn answered(self, mut answer: Response) -> Response {
        let lenient = answer.extensions_mut().remove::<Lenient>();
        let task = STREAM.try_with(Arc::clone).ok();
        self.change(|state| {
            state.is_at_work = false;
            state.moved = Instant::now();
            state.task = task;
            if let Some(Lenient(patience)) = lenient {
                state.patience = patience;
            }
        });
        answer.map(|body| {
            Body::new(Answer {
                body,
                rest: Bytes::new(),
                request: self,
            })
        })
    }

    fn change(&self, change: impl FnOnce(&mut RequestState)) {
        self.all.change(self.number, change);
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if !self.is_done {
            self.all.taken_back();
        }
        self.change(|state| state.has_more = false);
    }
}

/// What is sent of an answer. It is asked for a piece only when its client has made room for the one before.
#[derive(Debug)]
struct Answer {
    body: Body,
    /// What the body has given and is not handed over.
    rest: Bytes,
    request: Request,
}

impl Answer {
    /// The next piece of what is here.
    fn piece(&mut self) -> Frame<Bytes> {
        let length = self.rest.len().min(MOST_PIECE_BYTES);
        let bytes = self.rest.split_to(length);
        self.request.change(|state| {
            state.pieces += 1;
            state.is_at_work = false;
            state.moved = Instant::now();
        });
        Frame::data(Bytes::from_owner(Piece {
            bytes,
            all: self.request.all.clone(),
            number: self.request.number,
        }))
    }
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let answer = self.get_mut();
        if !answer.rest.is_empty() {
            return Poll::Ready(Some(Ok(answer.piece())));
        }
        let polled = Pin::new(&mut answer.body).poll_frame(context);
        match polled {
            Poll::Pending => {
                answer.request.change(|state| state.is_at_work = true);
                Poll::Pending
            }
            Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                Ok(bytes) if !bytes.is_empty() => {
                    answer.rest = bytes;
                    Poll::Ready(Some(Ok(answer.piece())))
                }
                Ok(empty) => Poll::Ready(Some(Ok(Frame::data(empty)))),
                Err(other) => Poll::Ready(Some(Ok(other))),
            },
            ended => {
                answer.request.is_done = true;
                ended
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = self.body.size_hint();
        let rest = self.rest.len() as u64;
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + rest);
        }
        hint.set_lower(hint.lower() + rest);
        hint
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        // One whose end is known is not asked for it.
        self.request.is_done |= self.is_end_stream();
    }
}

/// Bytes of an answer that HTTP/2 has, until they have gone.
struct Piece {
    bytes: Bytes,
    all: UnderWay,
    number: u64,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.all.change(self.number, |state| {
            state.pieces -= 1;
            state.moved = Instant::now();
        });
    }
}

/// Begins a task for each stream of HTTP/2, by which it can be given up alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Streams;

impl<F: Future<Output: Send> + Send + 'static> Executor<F> for Streams {
    fn execute(&self, stream: F) {
        let task = Arc::new(OnceLock::new());
        let spawned = tokio::spawn(STREAM.scope(Arc::clone(&task), stream));
        // It is told once.
        let _ = task.set(spawned.abort_handle());
    }
}
