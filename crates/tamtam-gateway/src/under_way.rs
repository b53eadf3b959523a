//! Which requests of a connection are under way, and since when there is none.

use std::future::pending;
use std::mem::replace;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::{Instant, sleep_until};

use crate::patient::Leniency;

/// Who writes less than so many bytes while its patience passes sends no answer: that much are pings, and what is answered to those.
const SLIGHT_BYTES: u64 = 1 << 10;

/// The requests of one connection that are under way: a method works for them, or their answer waits for what it is made of.
///
/// An answer that only its client keeps from going, by a window of HTTP/2 that it does not open, is not: a client that answers pings would
/// hold the connection with it for good.
///
/// Those of HTTP/1 are not counted: its own timer, which begins when an answer has gone, bounds the time until the next one has come.
/// That timer does not run before the version is known; and HTTP/2 has none, but pings, which a client answers that asks for nothing.
#[derive(Clone, Debug)]
pub(crate) struct UnderWay(Arc<Seen>);

#[derive(Debug)]
struct Seen {
    is_http1: AtomicBool,
    requests: Mutex<Requests>,
    leniency: Leniency,
}

/// The requests of HTTP/2.
#[derive(Debug)]
struct Requests {
    under_way: usize,
    /// When the last one was no longer; before there was one, when the connection began.
    last_ended: Instant,
}

impl UnderWay {
    /// Of a connection that begins now, whose written bytes are counted there.
    pub(crate) fn new(leniency: Leniency) -> UnderWay {
        UnderWay(Arc::new(Seen {
            is_http1: AtomicBool::new(false),
            requests: Mutex::new(Requests {
                under_way: 0,
                last_ended: Instant::now(),
            }),
            leniency,
        }))
    }

    /// A request of this version has come; one that is counted is under way until what this gives is dropped.
    pub(crate) fn came(&self, version: hyper::Version) -> Option<Request> {
        if version < hyper::Version::HTTP_2 {
            self.0.is_http1.store(true, Ordering::Relaxed);
            return None;
        }
        Some(Request::new(self))
    }

    /// Ready when no request has been under way for so long, from now on at the least, and next to nothing was written meanwhile.
    /// Never, if requests come by HTTP/1.
    pub(crate) async fn none_for(&self, time: Duration) {
        let mut written = self.0.leniency.written();
        let mut look = Instant::now() + time;
        loop {
            sleep_until(look).await;
            if self.0.is_http1.load(Ordering::Relaxed) {
                return pending().await;
            }
            let before = replace(&mut written, self.0.leniency.written());
            // An answer that is under way no more may be on its way still.
            let is_writing = written - before >= SLIGHT_BYTES;
            let now = Instant::now();
            let earliest = {
                let requests = self.requests();
                if is_writing || requests.under_way > 0 {
                    now + time
                } else {
                    requests.last_ended + time
                }
            };
            if earliest <= now {
                return;
            }
            look = earliest;
        }
    }

    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.0
            .requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// One that is under way until this is dropped.
#[derive(Debug)]
pub(crate) struct Request(UnderWay);

impl Request {
    fn new(all: &UnderWay) -> Request {
        all.requests().under_way += 1;
        Request(all.clone())
    }

    /// The answer has been made, or begun: the request is under way again whenever more of the answer is waited for.
    pub(crate) fn answered(self, answer: Response) -> Response {
        let all = self.0.clone();
        answer.map(|body| {
            Body::new(Answer {
                body,
                all,
                awaited: None,
            })
        })
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        let mut requests = self.0.requests();
        requests.under_way -= 1;
        requests.last_ended = Instant::now();
    }
}

/// What is sent of an answer. It is asked for a part only when its client takes one.
#[derive(Debug)]
struct Answer {
    body: Body,
    all: UnderWay,
    /// There while the next part is waited for.
    awaited: Option<Request>,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let answer = self.get_mut();
        let polled = Pin::new(&mut answer.body).poll_frame(context);
        if polled.is_ready() {
            answer.awaited = None;
        } else if answer.awaited.is_none() {
            answer.awaited = Some(Request::new(&answer.all));
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
