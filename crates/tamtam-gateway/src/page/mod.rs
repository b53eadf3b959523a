//! The service browser: a page on which people read what there is to call, call it, see what each form of the answer costs,
//! and subscribe to topics and properties.
//!
//! The page itself tells nothing: it asks `/services` for what it shows, as any client does, with the token that its reader types.
//! Its scripts are made of the TypeScript in `clients/web/page`, by `npm run service-page`; a test compares the two.

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, REFERRER_POLICY,
};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::json;
use tamtam_rows::CompressionKind;
use xxhash_rust::xxh3::xxh3_128;

use crate::content_type::ContentType;
use crate::exchange::{self, Source};
use crate::gateway::Shared;
use crate::heavy_work::HEAVY_WORK;
use crate::http::{Carried, Envelope, Unreceived, answer, put, receive, set};
use crate::protocol::rest;
use crate::rest_answer::of_fault;
use crate::table_form::TableForm;
use crate::unsent::keeping;
use crate::weigh::{self, Scale};
use crate::{Answer, Fault, FaultKind, Protocol, Value};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
pub(crate) const SCRIPT: &str = include_str!("page.js");
/// The readers of Arrow and Parquet, each with the library that it needs, which the page loads when they are first wanted.
pub(crate) const ARROW: &str = include_str!("arrow.js");
pub(crate) const PARQUET: &str = include_str!("parquet.js");

/// What a browser may load for the page: what is embedded here, and answers of this server; `connect-src 'self'` is its
/// WebSocket, too. `wasm-unsafe-eval` is for the decoder of packed rows, which has a part in WebAssembly.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; \
    img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page.
pub(crate) fn page(headers: &HeaderMap) -> Response {
    asset(headers, "text/html; charset=utf-8", PAGE)
}

/// How it looks.
pub(crate) fn style(headers: &HeaderMap) -> Response {
    asset(headers, "text/css; charset=utf-8", STYLE)
}

/// What it does, and what it does that with.
pub(crate) fn script(headers: &HeaderMap, script: &'static str) -> Response {
    asset(headers, "text/javascript; charset=utf-8", script)
}

fn asset(headers: &HeaderMap, kind: &'static str, text: &'static str) -> Response {
    let tag = format!("\"{:032x}\"", xxh3_128(text.as_bytes()));
    let is_known = headers
        .get(IF_NONE_MATCH)
        .is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let mut response = Response::new(Body::from(if is_known { "" } else { text }));
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    put(&mut response, CONTENT_TYPE, kind);
    put(&mut response, CONTENT_SECURITY_POLICY, POLICY);
    put(&mut response, REFERRER_POLICY, "no-referrer");
    put(&mut response, CACHE_CONTROL, "no-cache");
    set(&mut response, ETAG, &tag);
    response
}

/// Calls a method once, and tells how large its answer is in each form and what that takes.
pub(crate) async fn weighed(
    shared: &Shared,
    service: &str,
    method: &str,
    envelope: &Envelope<'_>,
    body: &mut Option<impl Carried>,
) -> Response {
    let head = envelope.head;
    let types = [ContentType::Json.name()];
    let received = match receive(shared, envelope, body, Protocol::Rest, &types).await {
        Ok(received) => received,
        Err(Unreceived::Answered(response)) => return *response,
        Err(Unreceived::Refused { fault, .. }) => return of_fault(shared, head, &fault).await,
    };
    let (ticket, caller) = (&received.ticket, &received.caller);
    let weighing = async {
        let arguments = rest::arguments_of_body(&received.body, &shared.gateway.limits)?;
        let called = shared.call(ticket, caller, service, method, arguments);
        let called = called.await?;
        exchange::differs();
        let classes = shared.gateway.amf_classes.clone();
        let source = match called {
            Answer::Rows(rows) => Source::Rows(rows),
            Answer::Stream(stream) => Source::Rows(stream.gather(TableForm::Columns).await?),
            other => match other.into_objects(classes.names()).await? {
                Value::Rows(rows) => Source::Rows(*rows),
                value => Source::Value(value),
            },
        };
        let kind = CompressionKind::Zstd;
        let weighing = HEAVY_WORK.done(move || {
            let scale = Scale::of(source)?;
            let mut told = weigh::to_json(&scale.weigh(kind, &classes), kind);
            told["rows"] = json!(scale.rows());
            told["is_table"] = json!(scale.is_table());
            Some(told)
        });
        let told = weighing.await.flatten();
        told.ok_or_else(|| Fault::of(FaultKind::Internal, "the answer could not be weighed"))
    };
    let answered = match weighing.await {
        Ok(told) => {
            let body = told.to_string().into_bytes();
            answer(shared, head, ContentType::Json, body).await.0
        }
        Err(fault) => of_fault(shared, head, &fault).await,
    };
    keeping(received.ticket, answered)
}
