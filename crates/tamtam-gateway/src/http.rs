//! What all requests have in common: who sends it, its body within the limits, and the answer on its way back.

use std::borrow::Cow;
use std::future::poll_fn;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use axum::body::{Body, HttpBody};
use axum::extract::ConnectInfo;
use axum::http::header::{
    CONTENT_ENCODING, CONTENT_TYPE, EXPECT, HeaderName, HeaderValue, RETRY_AFTER, VARY,
    WWW_AUTHENTICATE,
};
use axum::http::{Extensions, StatusCode, Version, request};
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hyper::body::Frame;
use tamtam_rows::{Compression, CompressionError, CompressionKind, decompress};
use tokio::task::AbortHandle;

use crate::admission::{Admission, Share, Ticket};
use crate::branch::HeldBack;
use crate::content_type::{ContentType, VARYING};
use crate::exchange::{self, Sent, Source, Step};
use crate::gateway::{Shared, admitted};
use crate::head::{Head, Listed, text};
use crate::heavy_work::{HEAVY_WORK, LARGE_BYTES, SHORT_WORK};
use crate::link_meter::LinkMeter;
use crate::patient::{Leniency, LongerWaits, in_time};
use crate::protocol::rest;
use crate::proxies::Proxies;
use crate::trace::Trace;
use crate::{Caller, Fault, FaultKind, Protocol};

/// So many bytes of a request are read even where there is too much to do, so that it is told so in its protocol's form.
const REFUSED_BODY_BYTES: usize = 64 << 10;

/// So many bytes are read of a body that says that it is larger than it may be, where its answer's place stands at its beginning.
const BEGIN_BYTES: usize = 4 << 10;

/// How a request has come to a server of ours.
#[derive(Debug)]
pub(crate) struct Arrival {
    /// The address of the client; nothing over a Unix socket.
    pub(crate) peer: Option<IpAddr>,
    /// The name under which its first request has found the server: mostly that of all others, too.
    pub(crate) known_host: OnceLock<Box<str>>,
    pub(crate) held: Held,
    pub(crate) meter: Arc<LinkMeter>,
    /// Among whose requests those of this connection count.
    share: OnceLock<Arc<Share>>,
}

impl Arrival {
    /// Of a client at this address.
    pub(crate) fn new(peer: Option<IpAddr>, held: Held, meter: Arc<LinkMeter>) -> Arrival {
        Arrival {
            peer,
            known_host: OnceLock::new(),
            held,
            meter,
            share: OnceLock::new(),
        }
    }

    /// Of a request with these extensions; nothing if a server of axum that is not ours has taken it in.
    pub(crate) fn of(extensions: &Extensions) -> Option<&Arrival> {
        extensions.get::<Arc<Arrival>>().map(|arrival| &**arrival)
    }
}

/// The connection by which a request came, for what outlives the request.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    /// It counts among the connections that are open.
    _place: Arc<Ticket>,
    leniency: Leniency,
    cut: Cut,
}

impl Held {
    pub(crate) fn new(place: Ticket, leniency: Leniency) -> Held {
        Held {
            _place: Arc::new(place),
            cut: Cut {
                task: Arc::default(),
                leniency: leniency.clone(),
            },
            leniency,
        }
    }

    /// The connection is carried by this task.
    pub(crate) fn carried_by(&self, task: AbortHandle) {
        // It is told once.
        let _ = self.cut.task.handle.set(task);
        if self.cut.task.is_cut.load(Ordering::SeqCst) {
            self.cut.cut();
        }
    }

    /// What ends the connection.
    pub(crate) fn cut(&self) -> Cut {
        self.cut.clone()
    }

    /// The client may read nothing for so long, until what this gives is dropped.
    pub(crate) fn be_lenient(&self, time: Duration) -> LongerWaits {
        self.leniency.wait(time)
    }
}

/// Ends a connection, whatever is on its way; it does not count as one.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    task: Arc<Carrying>,
    leniency: Leniency,
}

/// The task that carries a connection, which is told of when it runs already.
#[derive(Debug, Default)]
struct Carrying {
    handle: OnceLock<AbortHandle>,
    is_cut: AtomicBool,
}

impl Cut {
    pub(crate) fn cut(&self) {
        self.task.is_cut.store(true, Ordering::SeqCst);
        if let Some(handle) = self.task.handle.get() {
            handle.abort();
        }
    }

    /// Which wait for its client to read is going on, if one is.
    pub(crate) fn stall(&self) -> Option<u64> {
        self.leniency.stall()
    }
}

/// What stands around the body of a request: its head, and how it has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Envelope<'r> {
    pub(crate) parts: &'r request::Parts,
    pub(crate) head: &'r Head<'r>,
    /// Nothing if a server of axum that is not ours has taken it in.
    pub(crate) arrival: Option<&'r Arrival>,
}

impl<'r> Envelope<'r> {
    /// Of a request among whose extensions is how it has come.
    pub(crate) fn of(parts: &'r request::Parts, head: &'r Head<'r>) -> Envelope<'r> {
        let arrival = Arrival::of(&parts.extensions);
        Envelope {
            parts,
            head,
            arrival,
        }
    }

    fn peer(&self) -> Option<IpAddr> {
        match self.arrival {
            Some(arrival) => arrival.peer,
            None => {
                let info = self.parts.extensions.get::<ConnectInfo<SocketAddr>>();
                info.map(|ConnectInfo(address)| address.ip())
            }
        }
    }

    /// From where the request comes.
    fn client(&self, proxies: &Proxies) -> Option<IpAddr> {
        proxies.client(self.peer(), self.head)
    }

    fn admit(&self, admission: &Arc<Admission>, proxies: &Proxies) -> Ticket {
        match self.arrival {
            Some(arrival) if !proxies.trusts(arrival.peer) => {
                let share = || admission.share(arrival.peer);
                arrival.share.get_or_init(share).admit()
            }
            // The requests of a proxy are those of many.
            _ => admission.admit(self.client(proxies)),
        }
    }
}

/// A body of a request, of whatever server.
pub(crate) trait Carried:
    HttpBody<Data = Bytes, Error: Into<axum::BoxError>> + Send + Unpin + 'static
{
}

impl<B: HttpBody<Data = Bytes, Error: Into<axum::BoxError>> + Send + Unpin + 'static> Carried
    for B
{
}

/// A request that has come in whole.
pub(crate) struct Received {
    pub(crate) caller: Caller,
    pub(crate) ticket: Ticket,
    pub(crate) body: Bytes,
}

/// Who sends a request, and whether it is worked on.
pub(crate) fn admit(
    shared: &Shared,
    envelope: &Envelope<'_>,
    protocol: Protocol,
) -> (Caller, Ticket) {
    let ticket = envelope.admit(&shared.admission, &shared.gateway.proxies);
    if matches!(ticket, Ticket::Refused) {
        shared.metrics.refused();
    }
    (caller_of(shared, envelope, protocol), ticket)
}

/// Who sends a request.
pub(crate) fn caller_of(shared: &Shared, envelope: &Envelope<'_>, protocol: Protocol) -> Caller {
    let client = envelope.client(&shared.gateway.proxies);
    let mut caller = Caller::new(protocol, client);
    let head = envelope.head;
    if head.request_id.is_some() || head.traceparent.is_some() {
        caller.trace = Trace::of(head.request_id, head.traceparent);
    }
    let Some(value) = text(envelope.head.authorization) else {
        return caller;
    };
    let (scheme, rest) = value.split_once(' ').unwrap_or((value, ""));
    if scheme.eq_ignore_ascii_case("bearer") {
        caller.bearer = Some(rest.trim().to_owned());
    } else if scheme.eq_ignore_ascii_case("basic") {
        let decoded = STANDARD.decode(rest.trim()).ok();
        let text = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
        caller.credentials = text.and_then(|text| {
            let (name, password) = text.split_once(':')?;
            Some((name.to_owned(), password.to_owned()))
        });
    }
    caller
}

/// Why a request by POST was not taken in.
pub(crate) enum Unreceived {
    /// It is of another type, too slow, or damaged: the answer for people.
    Answered(Box<Response>),
    /// Its body is larger than it may be, or than what is read where there is too much to do: its protocol has a form for that.
    Refused {
        fault: Fault,
        /// How the body begins, where its protocol needs to know that, and it is not compressed.
        begin: Bytes,
    },
}

impl From<Box<Response>> for Unreceived {
    fn from(answer: Box<Response>) -> Unreceived {
        Unreceived::Answered(answer)
    }
}

/// Takes in a request by POST, whose body has to be of one of these types.
///
/// # Errors
/// If it is of another type, too large, too slow, or damaged.
pub(crate) async fn receive(
    shared: &Shared,
    envelope: &Envelope<'_>,
    body: &mut Option<impl Carried>,
    protocol: Protocol,
    types: &[&str],
) -> Result<Received, Unreceived> {
    // A page of another origin can send what a form can send, without being asked: texts, forms, and what has no type.
    if !is_of(envelope.head, types) {
        let reason = format!("send the header `Content-Type: {}`", types[0]);
        return Err(plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason).into());
    }
    let (caller, ticket) = admit(shared, envelope, protocol);
    let most = most_body(shared, &ticket);
    let encoding = &envelope.head.content_encoding;
    // Where its answer goes stands in a packet of AMF alone.
    let wants_begin = protocol == Protocol::Amf && matches!(encoding, Listed::Absent);
    let body = collect(shared, &ticket, envelope.parts, body, wants_begin).await?;
    let body =
        decompressed(encoding, body, most)
            .await
            .map_err(|(status, reason)| match status {
                StatusCode::PAYLOAD_TOO_LARGE => too_large(shared, &ticket, Bytes::new()),
                _ => plain(status, reason).into(),
            })?;
    Ok(Received {
        caller,
        ticket,
        body,
    })
}

/// Bytes of a body, at most.
fn most_body(shared: &Shared, ticket: &Ticket) -> usize {
    match ticket {
        Ticket::Admitted(_) => shared.gateway.limits.body_bytes,
        Ticket::Refused => shared.gateway.limits.body_bytes.min(REFUSED_BODY_BYTES),
    }
}

/// What is told of a body that is larger than it may be, and begins so.
fn too_large(shared: &Shared, ticket: &Ticket, begin: Bytes) -> Unreceived {
    let fault = admitted(ticket).err().unwrap_or_else(|| {
        let most = most_body(shared, ticket);
        let reason = format!("the body of a request has at most {most} bytes");
        Fault::of(FaultKind::TooLarge, reason)
    });
    Unreceived::Refused { fault, begin }
}

/// A fault as an answer for people.
pub(crate) fn plain_fault(fault: &Fault) -> Box<Response> {
    let mut response = plain(StatusCode::OK, fault.description().to_owned());
    tell_status(&mut response, fault);
    response
}

/// Gives an answer that tells a fault the status of that, with the header that belongs to it.
pub(crate) fn tell_status(response: &mut Response, fault: &Fault) {
    let status = StatusCode::from_u16(fault.http_status());
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *response.status_mut() = status;
    match status {
        StatusCode::SERVICE_UNAVAILABLE => put(response, RETRY_AFTER, "1"),
        StatusCode::UNAUTHORIZED => put(response, WWW_AUTHENTICATE, "Bearer"),
        _ => {}
    }
}

/// Takes in a request whatever it is, its body as it came.
///
/// # Errors
/// The answer, if there is too much to do, or the body is too large, too slow, or damaged.
pub(crate) async fn receive_whole(
    shared: &Arc<Shared>,
    request: axum::extract::Request,
) -> Result<(request::Parts, Bytes, Ticket), Box<Response>> {
    let (parts, body) = request.into_parts();
    let head = Head::of(&parts.headers);
    let (_, ticket) = admit(shared, &Envelope::of(&parts, &head), Protocol::Rest);
    let collected = collect(shared, &ticket, &parts, &mut Some(body), false).await;
    let body = collected.map_err(|unreceived| match unreceived {
        Unreceived::Answered(answer) => answer,
        Unreceived::Refused { fault, .. } => plain_fault(&fault),
    })?;
    admitted(&ticket).map_err(|busy| plain_fault(&busy))?;
    Ok((parts, body, ticket))
}

/// The body of a request as it came.
///
/// # Errors
/// If it is too large, with how it begins if that is wanted; if it is too slow, or was cut off.
async fn collect(
    shared: &Shared,
    ticket: &Ticket,
    parts: &request::Parts,
    body: &mut Option<impl Carried>,
    wants_begin: bool,
) -> Result<Bytes, Unreceived> {
    let Some(body) = body else {
        return Ok(Bytes::new());
    };
    let most = most_body(shared, ticket);
    // What the header `Content-Length` says.
    let is_too_large = body.size_hint().lower() > most as u64;
    // Such a client sends its body only if it is asked to.
    if is_too_large && parts.headers.contains_key(EXPECT) {
        return Err(too_large(shared, ticket, Bytes::new()));
    }
    let most = match (is_too_large, wants_begin) {
        (false, _) => most,
        (true, true) => BEGIN_BYTES,
        (true, false) => 0,
    };
    let patience = shared.gateway.limits.patience;
    let begun = exchange::begin();
    let collecting = async {
        let collected = whole(body, parts.version, most).await;
        // By HTTP/2 an answer overtakes the body of its request.
        if matches!(collected, Err(Uncollected::TooLarge(_))) && parts.version < Version::HTTP_2 {
            let most = shared.gateway.limits.body_bytes.saturating_mul(2);
            let discarding = discard(body, parts.version, most);
            // The answer goes out in any case.
            let _ = tokio::time::timeout(patience / 2, discarding).await;
        }
        collected
    };
    let collected = in_time(|| Instant::now() + patience, collecting).await;
    exchange::end(Step::Receive, begun);
    match collected {
        Some(Ok(collected)) => Ok(collected),
        Some(Err(Uncollected::TooLarge(begin))) => Err(too_large(shared, ticket, begin)),
        Some(Err(Uncollected::CutOff)) => {
            Err(plain(StatusCode::BAD_REQUEST, "the body was cut off").into())
        }
        None => Err(plain(StatusCode::REQUEST_TIMEOUT, "the body came too slowly").into()),
    }
}

/// Reads at most so many bytes of a body, and keeps none. A client that sends first and reads then would otherwise learn that the
/// connection was closed, and not why.
async fn discard(body: &mut impl Carried, version: Version, most: usize) {
    let mut left = most;
    while let Some(Ok(frame)) = next_frame(body, version).await {
        let length = frame.data_ref().map_or(0, Bytes::len);
        match left.checked_sub(length) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}

/// Why a body was not taken in whole.
enum Uncollected {
    /// It begins so.
    TooLarge(Bytes),
    CutOff,
}

/// A body as one piece, which is not copied if it comes as one.
async fn whole(
    body: &mut impl Carried,
    version: Version,
    most: usize,
) -> Result<Bytes, Uncollected> {
    let (mut one, mut joined) = (Bytes::new(), Vec::new());
    while let Some(frame) = next_frame(body, version).await {
        let frame = frame.map_err(|_| Uncollected::CutOff)?;
        // What comes behind the body is not looked at.
        let Ok(piece) = frame.into_data() else {
            continue;
        };
        let is_too_large = one.len() + joined.len() + piece.len() > most;
        if one.is_empty() && joined.is_empty() {
            one = piece;
        } else {
            joined.extend_from_slice(&std::mem::take(&mut one));
            joined.extend_from_slice(&piece);
        }
        if is_too_large {
            let begin = if joined.is_empty() {
                one
            } else {
                joined.into()
            };
            return Err(Uncollected::TooLarge(begin));
        }
        if body.is_end_stream() {
            break;
        }
    }
    Ok(if joined.is_empty() {
        one
    } else {
        joined.into()
    })
}

/// The next piece of a body.
async fn next_frame<B: Carried>(
    body: &mut B,
    version: Version,
) -> Option<Result<Frame<Bytes>, B::Error>> {
    // A connection of HTTP/2 is woken to tell its client of the room that there is again.
    let is_alone = version < Version::HTTP_2;
    poll_fn(|context| {
        let held = is_alone.then(HeldBack::begin);
        let polled = Pin::new(&mut *body).poll_frame(context);
        // It was the last piece: the connection has nothing to read for it.
        if let Some(held) = held
            && polled.is_ready()
            && body.is_end_stream()
        {
            held.forget();
        }
        polled
    })
    .await
}

/// Whether a request says that its body is of one of these types.
fn is_of(head: &Head<'_>, types: &[&str]) -> bool {
    let Some(value) = head.content_type else {
        return false;
    };
    // Mostly it is written so.
    if types.iter().any(|known| value == *known) {
        return true;
    }
    let Ok(value) = value.to_str() else {
        return false;
    };
    let name = value.split(';').next().unwrap_or_default().trim();
    types.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// The body without its compression.
///
/// # Errors
/// The status and the reason, if it is too large, or compressed otherwise.
pub(crate) async fn decompressed(
    encoding: &Listed<'_>,
    body: Bytes,
    most: usize,
) -> Result<Bytes, (StatusCode, Cow<'static, str>)> {
    if matches!(encoding, Listed::Absent) {
        return Ok(body);
    }
    let name = encoding.text().map(|name| name.trim().to_ascii_lowercase());
    let kind = match name.as_deref() {
        Some("identity") => return Ok(body),
        Some("gzip" | "x-gzip") => CompressionKind::Gzip,
        Some("zstd") => CompressionKind::Zstd,
        Some("br") => CompressionKind::Brotli,
        _ => {
            let reason = "a body may be compressed by gzip, zstd or br";
            return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, reason.into()));
        }
    };
    let unpacked = SHORT_WORK.done(move || decompress(kind, &body, most));
    match unpacked.await {
        Some(Ok(body)) => Ok(body.into()),
        Some(Err(CompressionError::Limit { .. })) => {
            Err((StatusCode::PAYLOAD_TOO_LARGE, "".into()))
        }
        Some(Err(error)) => Err((StatusCode::BAD_REQUEST, error.to_string().into())),
        None => Err((
            StatusCode::INTERNAL_SERVER_ERROR,
            "the body cannot be read".into(),
        )),
    }
}

/// An answer for people.
pub(crate) fn plain(status: StatusCode, text: impl Into<Cow<'static, str>>) -> Box<Response> {
    let mut text = text.into().into_owned();
    text.push('\n');
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    put(&mut response, CONTENT_TYPE, "text/plain; charset=utf-8");
    Box::new(response)
}

/// Says on what an answer depends.
pub(crate) fn vary(response: &mut Response) {
    let on = const { HeaderValue::from_static(VARYING) };
    response.headers_mut().insert(VARY, on);
}

/// Sets a header to what is known when this is compiled.
pub(crate) fn put(response: &mut Response, name: HeaderName, value: &'static str) {
    let value = HeaderValue::from_static(value);
    response.headers_mut().insert(name, value);
}

pub(crate) fn set(response: &mut Response, name: HeaderName, value: &str) {
    // What is no value of a header was never one of ours.
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

/// An answer with a body of this type, compressed if it is large and the client reads that.
pub(crate) async fn answer(
    shared: &Shared,
    head: &Head<'_>,
    content_type: ContentType,
    body: impl Into<Bytes>,
) -> (Response, CompressionKind) {
    let body = body.into();
    if content_type == ContentType::Json {
        exchange::known(|| Source::Json(body.to_vec()));
    }
    let ready = made_ready(shared, head, body).await;
    let kind = ready.kind;
    (answer_of(head, content_type, ready), kind)
}

/// A body as it goes to the client.
pub(crate) struct ReadyBody {
    pub(crate) body: Bytes,
    /// By what it is compressed.
    pub(crate) kind: CompressionKind,
    /// How many bytes it was before.
    pub(crate) plain_bytes: usize,
    /// How long it took to compress it.
    pub(crate) compress: Duration,
}

/// An answer with a body of this type.
pub(crate) fn answer_of(head: &Head<'_>, content_type: ContentType, ready: ReadyBody) -> Response {
    let ReadyBody {
        body,
        kind,
        plain_bytes,
        compress,
    } = ready;
    exchange::sending(|| Sent {
        content_type: content_type.name().to_owned(),
        plain_bytes,
        wire_bytes: body.len(),
        compression: kind,
        accepted: accepted_compression(head),
        compress,
    });
    let mut response = of_type(content_type, Body::from(body));
    if kind != CompressionKind::None {
        put(&mut response, CONTENT_ENCODING, kind.content_encoding());
    }
    response
}

/// An answer of this type.
pub(crate) fn of_type(content_type: ContentType, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.headers_mut() = content_type.head();
    response
}

/// By what this client would have an answer compressed.
pub(crate) fn accepted_compression(head: &Head<'_>) -> CompressionKind {
    rest::compression(head.accept_encoding.text())
}

/// By what a body of so many bytes is compressed for this client.
pub(crate) fn compression_for(shared: &Shared, head: &Head<'_>, bytes: usize) -> CompressionKind {
    if bytes > shared.gateway.compression.0 {
        accepted_compression(head)
    } else {
        CompressionKind::None
    }
}

/// A body for this client: compressed if it is large and the client reads that.
pub(crate) async fn made_ready(
    shared: &Shared,
    head: &Head<'_>,
    body: impl Into<Bytes>,
) -> ReadyBody {
    let body = body.into();
    let (plain_bytes, begun) = (body.len(), exchange::begin());
    let (kind, body) = compressed_for(shared, head, body).await;
    ReadyBody {
        kind,
        plain_bytes,
        compress: exchange::end(Step::Compress, begun),
        body,
    }
}

async fn compressed_for(shared: &Shared, head: &Head<'_>, body: Bytes) -> (CompressionKind, Bytes) {
    match compression_for(shared, head, body.len()) {
        CompressionKind::None => (CompressionKind::None, body),
        kind => {
            let compression = Compression {
                threshold_bytes: shared.gateway.compression.0,
                ..Compression::new(kind)
            };
            compressed(compression, body).await
        }
    }
}

async fn compressed(compression: Compression, body: Bytes) -> (CompressionKind, Bytes) {
    let is_large = body.len() > LARGE_BYTES;
    let work = move || {
        // A level that there is, on memory: it fails if there is no more of that. Then the body goes as it is.
        match compression.compress(body.to_vec()) {
            Ok(sent) => (sent.kind, sent.bytes.into()),
            Err(_) => (CompressionKind::None, body),
        }
    };
    if is_large {
        let nothing = (CompressionKind::None, Bytes::new());
        HEAVY_WORK.done(work).await.unwrap_or(nothing)
    } else {
        work()
    }
}
