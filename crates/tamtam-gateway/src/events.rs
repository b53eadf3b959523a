//! Events of a server: the values of a topic or property as a stream that a page reads with `EventSource`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderName, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::Notify;

use crate::gateway::Shared;
use crate::http::{Held, caller_of, plain, set};
use crate::lasting::{Lasts, Stage};
use crate::protocol::rest::arguments_of_query;
use crate::push::{PushForm, Subscription, Taken, Wish};
use crate::subscribing::subscribe;
use crate::{Fault, Protocol};

/// Bytes of events that are written at a time, about.
const CHUNK_BYTES: usize = 16 << 10;

/// What a page sends when it comes back: the last `id`.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Answers with the values, as long as the client stays.
pub(crate) async fn stream(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let caller = caller_of(&shared, &parts, Protocol::Events);
    let connection = Arc::new(Notify::new());
    let wish = wish_of(parts.uri.query().unwrap_or_default(), &parts.headers);
    let begun = wish.and_then(|wish| subscribe(&shared, &caller, &name, wish, 1, &connection));
    let subscription = match begun {
        Ok(subscription) => subscription,
        Err(fault) => return refused(&fault),
    };
    let limits = &shared.gateway.limits;
    if let Some(held) = parts.extensions.get::<Held>() {
        held.be_lenient(limits.stalled);
    }
    let events = Events {
        subscription,
        connection,
        lasts: shared.lasting.begin(),
        held: shared.metrics.held.clone(),
        pause: limits.patience / 2,
        is_over: false,
    };
    let body = Body::from_stream(stream::unfold(events, |mut events| async {
        let next = events.next().await?;
        Some((Ok::<Bytes, Fault>(next), events))
    }));
    let mut response = Response::new(body);
    set(&mut response, CONTENT_TYPE, "text/event-stream");
    set(&mut response, CACHE_CONTROL, "no-store");
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

fn refused(fault: &Fault) -> Response {
    let status =
        StatusCode::from_u16(fault.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = *plain(status, fault.description().to_owned());
    match status {
        StatusCode::SERVICE_UNAVAILABLE => set(&mut response, RETRY_AFTER, "1"),
        StatusCode::UNAUTHORIZED => set(&mut response, WWW_AUTHENTICATE, "Bearer"),
        _ => {}
    }
    response
}

/// Events on their way to one client.
struct Events {
    subscription: Subscription,
    connection: Arc<Notify>,
    lasts: Lasts,
    held: Gauge,
    /// After so long without an event there is a comment, so that who is between here and there knows that it lasts.
    pause: Duration,
    is_over: bool,
}

impl Events {
    /// The next events; nothing at the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.is_over || self.lasts.stage() > Stage::Serving {
                return None;
            }
            let mut text = String::new();
            let now = Instant::now();
            let mut deadline = now + self.pause;
            let mut is_comment_due = true;
            match self.subscription.events(now, CHUNK_BYTES, &mut text) {
                Ok(Taken::Some) => return Some(self.counted(text)),
                Ok(Taken::Nothing) => {}
                Ok(Taken::NotBefore(time)) => {
                    is_comment_due = time > deadline;
                    deadline = deadline.min(time);
                }
                Err(_) => {
                    self.subscription.closed();
                    self.is_over = true;
                    let missed = self.subscription.rest().0;
                    let said = format!("event: closed\ndata: {missed}\n\n");
                    return Some(self.counted(said));
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
