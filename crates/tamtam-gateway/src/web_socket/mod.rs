//! WebSockets: calls by JSON-RPC in frames of text, subscriptions, and the values of these; and links of actors.

mod calls;
mod connection;
mod link;
mod paced;

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::ws::{WebSocket, WebSocketUpgrade};
use axum::extract::{FromRequestParts, Request};
use axum::http::header::{CONNECTION, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE};
use axum::http::{HeaderMap, StatusCode, Version, request};
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::gateway::Shared;
use crate::head::Head;
use crate::http::{Arrival, Envelope, Held, caller_of, plain, put};
use crate::lasting::Lasts;
use crate::{Caller, Protocol};
use connection::Connection;

/// Bytes that a connection has for reading, to begin with.
const READ_BYTES: usize = 4 << 10;

/// What a page that opens a link says that it speaks, and the server with it.
const LINK_PROTOCOL: &str = "tamtam-link.3";

/// What a page's token stands behind, which can send no header: in Base64 for URLs, without padding.
const BEARER_PREFIX: &str = "tamtam-bearer.";

/// Takes a request to become a WebSocket for calls and subscriptions.
pub(crate) async fn open(shared: Arc<Shared>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let caller = caller_of(
        &shared,
        &Envelope::of(&parts, &Head::of(&parts.headers)),
        Protocol::WebSocket,
    );
    let held = held(&parts);
    let serving = Arc::clone(&shared);
    upgrade(&shared, parts, None, move |socket, lasts| async move {
        let mut connection = Connection::new(serving, caller, socket, None, held, lasts);
        connection.be_lenient();
        connection.run().await;
    })
    .await
}

/// Takes a request to become a WebSocket that carries a link.
pub(crate) async fn open_link(shared: Arc<Shared>, name: String, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let mut caller = caller_of(
        &shared,
        &Envelope::of(&parts, &Head::of(&parts.headers)),
        Protocol::Link,
    );
    if caller.bearer.is_none() {
        caller.bearer = bearer_of(&parts.headers);
    }
    if !protocols(&parts.headers).any(|one| one == LINK_PROTOCOL) {
        let text = format!("a link is a WebSocket with the subprotocol {LINK_PROTOCOL}");
        return upgrade_required(parts.version, text);
    }
    let held = held(&parts);
    let serving = Arc::clone(&shared);
    let protocol = Some(LINK_PROTOCOL);
    upgrade(&shared, parts, protocol, move |socket, lasts| async move {
        let (link, refused) = link::open(&serving, &caller, &name);
        // What it calls in frames of text, it calls as over any WebSocket.
        let caller = Caller {
            protocol: Protocol::WebSocket,
            ..caller
        };
        let link = Some(link);
        let connection = Connection::new(Arc::clone(&serving), caller, socket, link, held, lasts);
        if let Some(end) = refused {
            return connection.close(end).await;
        }
        let open = serving.metrics.links(&name);
        open.inc();
        connection.run().await;
        open.dec();
    })
    .await
}

/// Takes a request to become a WebSocket, for as long as that is served.
async fn upgrade<F>(
    shared: &Shared,
    mut parts: request::Parts,
    protocol: Option<&'static str>,
    serve: impl FnOnce(WebSocket, Lasts) -> F + Send + 'static,
) -> Response
where
    F: Future<Output = ()> + Send,
{
    let held = held(&parts);
    let upgrade = match WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
        Ok(upgrade) => upgrade,
        Err(_) => {
            let reason = "this is a WebSocket: send the headers of its handshake";
            return upgrade_required(parts.version, reason);
        }
    };
    let limits = &shared.gateway.limits;
    let most = limits.push_bytes.min(limits.body_bytes);
    let lasts = shared.lasting.begin();
    upgrade
        .read_buffer_size(READ_BYTES)
        // Nothing is written but by a flush, and no frame is added before that is done.
        .write_buffer_size(limits.push_bytes)
        .max_write_buffer_size(limits.push_bytes.saturating_mul(2))
        .max_message_size(most)
        .max_frame_size(most)
        .protocols(protocol)
        .on_failed_upgrade(|error| tracing::debug!(%error, "a WebSocket could not be opened"))
        .on_upgrade(move |socket| async move {
            serve(socket, lasts).await;
            drop(held);
        })
}

/// The answer to a request that is none for a WebSocket: what it has to become.
fn upgrade_required(version: Version, reason: impl Into<Cow<'static, str>>) -> Response {
    let mut response = *plain(StatusCode::UPGRADE_REQUIRED, reason);
    put(&mut response, SEC_WEBSOCKET_VERSION, "13");
    // By HTTP/2 a connection is not upgraded.
    if version < Version::HTTP_2 {
        put(&mut response, UPGRADE, "websocket");
        put(&mut response, CONNECTION, "upgrade");
    }
    response
}

/// The connection by which a request came, if the server is ours.
fn held(parts: &request::Parts) -> Option<Held> {
    let arrival = Arrival::of(&parts.extensions);
    arrival.map(|arrival| arrival.held.clone())
}

/// The subprotocols that a client offers.
fn protocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let offered = headers.get_all(SEC_WEBSOCKET_PROTOCOL).into_iter();
    let offered = offered.filter_map(|value| value.to_str().ok());
    offered.flat_map(|value| value.split(',').map(str::trim))
}

/// The token that a page has put among the subprotocols.
fn bearer_of(headers: &HeaderMap) -> Option<String> {
    let encoded = protocols(headers).find_map(|one| one.strip_prefix(BEARER_PREFIX))?;
    let bytes = URL_SAFE_NO_PAD.decode(encoded).ok()?;
    String::from_utf8(bytes).ok()
}
