//! Events of a server: the values of a topic or property as a stream that a page reads with `EventSource`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap};
use axum::http::{HeaderName, Method, Version};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::Notify;

use crate::gateway::Shared;
use crate::head::Head;
use crate::http::{Arrival, Cut, Envelope, Held, caller_of, plain_fault, put};
use crate::lasting::{Lasts, Stage};
use crate::patient::LongerWaits;
use crate::protocol::rest::arguments_of_query;
use crate::push::{LAG_PAUSE, PushForm, Subscription, Taken, Wish};
use crate::subscribing::{find, subscribe};
use crate::under_way::Lenient;
use crate::{Fault, Protocol};

/// Bytes of events that are written at a time, about.
const CHUNK_BYTES: usize = 16 << 10;

/// What a page sends when it comes back: the last `id`.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Answers with the values, as long as the client stays.
pub(crate) fn stream(shared: Arc<Shared>, name: &str, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let head = Head::of(&parts.headers);
    let caller = caller_of(&shared, &Envelope::of(&parts, &head), Protocol::Events);
    let connection = Arc::new(Notify::new());
    let wish = wish_of(parts.uri.query().unwrap_or_default(), &parts.headers);
    if parts.method == Method::HEAD {
        // Whether there are events, and for whom, is known without one.
        let found = wish.and_then(|wish| find(&shared, &caller, name, &wish).map(drop));
        return match found {
            Ok(()) => of_events(Body::empty()),
            Err(fault) => *plain_fault(&fault),
        };
    }
    let begun = wish.and_then(|wish| subscribe(&shared, &caller, name, wish, 1, &connection));
    let subscription = match begun {
        Ok(subscription) => subscription,
        Err(fault) => return *plain_fault(&fault),
    };
    let limits = &shared.gateway.limits;
    let held = Arrival::of(&parts.extensions).map(|arrival| &arrival.held);
    let may_close = subscription.may_close();
    let state = Arc::new(Mutex::new(Flow {
        subscription: Going::On(Box::new(subscription)),
        is_handed_over: false,
    }));
    if may_close {
        let cut = held.map(Held::cut);
        // The requests of HTTP/2 share their connection.
        let is_alone = parts.version < Version::HTTP_2;
        let patience = (!is_alone).then_some(shared.gateway.limits.patience);
        tokio::spawn(close_if_behind(Arc::downgrade(&state), cut, patience));
    }
    let events = Events {
        state,
        connection,
        lasts: shared.lasting.begin(),
        held: shared.metrics.held.clone(),
        pause: limits.patience / 2,
        _longer_waits: held.map(|held| held.be_lenient(limits.stalled)),
    };
    let body = Body::from_stream(stream::unfold(events, |mut events| async {
        let next = events.next().await?;
        Some((Ok::<Bytes, Fault>(next), events))
    }));
    let mut response = of_events(body);
    response.extensions_mut().insert(Lenient(limits.stalled));
    response
}

/// An answer whose body is events.
fn of_events(body: Body) -> Response {
    let mut response = Response::new(body);
    put(&mut response, CONTENT_TYPE, "text/event-stream");
    put(&mut response, CACHE_CONTROL, "no-store");
    response
}

/// What is wanted: by the query, and by the header of one that comes back.
fn wish_of(query: &str, headers: &HeaderMap) -> Result<Wish, Fault> {
    let mut wish: Wish = arguments_of_query(query).read()?;
    if wish.form == PushForm::Packed {
        return Err(Fault::arguments(
            "events are text: packed rows come over a WebSocket",
        ));
    }
    let last = headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok());
    let seen = last.and_then(|id| {
        let (run, number) = id.split_once('.')?;
        Some((run.to_owned(), number.parse().ok()?))
    });
    if let Some((run, number)) = seen {
        wish = wish.run(run).after(number);
    }
    Ok(wish)
}

/// Events on their way to one client.
struct Events {
    state: Arc<Mutex<Flow>>,
    connection: Arc<Notify>,
    lasts: Lasts,
    held: Gauge,
    /// After so long without an event there is a comment, so that who is between here and there knows that it lasts.
    pause: Duration,
    /// Its client may read nothing for as long as one with subscriptions may.
    _longer_waits: Option<LongerWaits>,
}

/// What the events share with the task that closes them.
#[derive(Debug)]
struct Flow {
    subscription: Going,
    /// Events were handed over, and no more were asked for since then: the client has not read them.
    is_handed_over: bool,
}

/// Whether a subscription goes on.
#[derive(Debug)]
enum Going {
    On(Box<Subscription>),
    /// It was too far behind; the client is to be told, if it reads again, how many values it has missed.
    Closed {
        missed: u64,
    },
    Over,
}

impl Flow {
    fn of(shared: &Mutex<Flow>) -> MutexGuard<'_, Flow> {
        shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the subscription, if it is so far behind that it is to be closed: whether it was.
    fn close_if_behind(&mut self) -> bool {
        match &self.subscription {
            Going::On(subscription) if self.is_handed_over && subscription.is_behind() => {
                subscription.closed();
                let (missed, _) = subscription.rest();
                self.subscription = Going::Closed { missed };
                true
            }
            _ => false,
        }
    }

    /// What is due, as the text of events.
    fn take(&mut self, now: Instant, text: &mut String) -> Option<Taken> {
        self.is_handed_over = false;
        let missed = match &mut self.subscription {
            Going::Over => return None,
            Going::Closed { missed } => *missed,
            Going::On(subscription) => match subscription.events(now, CHUNK_BYTES, text) {
                Ok(taken) => {
                    self.is_handed_over = matches!(taken, Taken::Some { .. });
                    return Some(taken);
                }
                Err(_) => {
                    subscription.closed();
                    subscription.rest().0
                }
            },
        };
        self.subscription = Going::Over;
        *text = format!("event: closed\ndata: {missed}\n\n");
        Some(Taken::Some { is_cut: false })
    }
}

/// Ends the subscription of a client that does not read, if it asked for that, and its connection with it. One of HTTP/2 has
/// other requests: it goes on as long as its client reads any of these in this time, and the events end there when it reads them.
async fn close_if_behind(state: Weak<Mutex<Flow>>, cut: Option<Cut>, patience: Option<Duration>) {
    loop {
        tokio::time::sleep(LAG_PAUSE).await;
        let Some(state) = state.upgrade() else {
            return;
        };
        if Flow::of(&state).close_if_behind() {
            break;
        }
    }
    let Some(cut) = cut else {
        return;
    };
    while let Some(patience) = patience {
        // A full socket says nothing of the client, whose link may be slower than what it downloads; and what has room again in it is told only
        // when that is much of it.
        let before = cut.stall();
        tokio::time::sleep(patience).await;
        if state.strong_count() == 0 {
            return;
        }
        if before.is_some() && cut.stall() == before {
            break;
        }
    }
    cut.cut();
}

impl Events {
    /// The next events; nothing at the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.lasts.stage() > Stage::Serving {
                return None;
            }
            let mut text = String::new();
            let now = Instant::now();
            let mut deadline = now + self.pause;
            let mut is_comment_due = true;
            match Flow::of(&self.state).take(now, &mut text)? {
                Taken::Some { .. } => return Some(self.counted(text)),
                Taken::Nothing => {}
                Taken::NotBefore(time) => {
                    is_comment_due = time > deadline;
                    deadline = deadline.min(time);
                }
            }
            tokio::select! {
                () = self.connection.notified() => {}
                () = self.lasts.reached(Stage::Stopping) => {}
                () = tokio::time::sleep_until(deadline.into()) => {
                    if is_comment_due {
                        return Some(Bytes::from_static(b":\n\n"));
                    }
                }
            }
        }
    }

    /// The events, which count as held until they are written.
    fn counted(&self, text: String) -> Bytes {
        self.held.inc_by(text.len() as i64);
        Bytes::from_owner(Counted {
            text,
            held: self.held.clone(),
        })
    }
}

struct Counted {
    text: String,
    held: Gauge,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.held.dec_by(self.text.len() as i64);
    }
}
