//! WebSockets: calls by JSON-RPC in frames of text, subscriptions, and the values of these.

mod calls;
mod connection;

use std::sync::Arc;

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use crate::Protocol;
use crate::gateway::Shared;
use crate::http::{Held, caller_of, plain};
use connection::Connection;

/// Bytes that a connection has for reading, to begin with.
const READ_BYTES: usize = 4 << 10;

/// Takes a request to become a WebSocket.
pub(crate) async fn open(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let caller = caller_of(&shared, &parts, Protocol::WebSocket);
    let held = parts.extensions.get::<Held>().cloned();
    let upgrade = match WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
        Ok(upgrade) => upgrade,
        Err(_) => {
            let reason = "this is a WebSocket: send the headers of its handshake";
            return *plain(StatusCode::UPGRADE_REQUIRED, reason);
        }
    };
    let limits = &shared.gateway.limits;
    let most = limits.push_bytes.min(limits.body_bytes);
    let lasts = shared.lasting.begin();
    if let Some(held) = &held {
        held.be_lenient(limits.stalled);
    }
    upgrade
        .read_buffer_size(READ_BYTES)
        // Nothing is written but by a flush, and no frame is added before that is done.
        .write_buffer_size(limits.push_bytes)
        .max_write_buffer_size(limits.push_bytes.saturating_mul(2))
        .max_message_size(most)
        .max_frame_size(most)
        .on_failed_upgrade(|error| tracing::debug!(%error, "a WebSocket could not be opened"))
        .on_upgrade(move |socket| async move {
            Connection::new(shared, caller, socket, lasts).run().await;
            drop(held);
        })
}
