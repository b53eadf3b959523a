//! Stands before another server: requests go there unchanged, answers come back unchanged, and both are kept.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use axum::body::Body as HttpBody;
use axum::extract::Request;
use axum::http::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, DATE,
    HOST, IF_MODIFIED_SINCE, IF_NONE_MATCH, SET_COOKIE, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, request, response};
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, Stream, StreamExt};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use super::held::Held;
use super::index::{Call, calls};
use super::journal::{Answer, AppendError, Body, Entry, Journal, RecordingError};
use super::replay::{TRUSTED, asked};
use crate::AmfClasses;
use crate::admission::Ticket;
use crate::gateway::{Front, Gateway, Shared};
use crate::head::{Head, Listed};
use crate::heavy_work::LARGE_BYTES;
use crate::http::{decompressed, plain, receive_whole};
use crate::protocol;
use crate::unsent::keeping;
use crate::value::to_iso;

/// Stands before another server, and keeps its calls with their answers in a file.
///
/// Bodies go both ways unchanged. An entry is on the disk before its answer goes to the client, so that a crash
/// loses no answer that a client has had; a last entry that it has torn is left out by the next reader. What was asked and
/// answered alike before is not written again.
///
/// The file holds what clients sent, passwords within bodies too, and is readable by its owner alone. Headers with
/// credentials and cookies pass, and are not written. Answers that say nothing of the call are not written: status
/// 401, 403, 407, 408, 421, 429 and 502 to 504.
///
/// The head of an answer has to come within [`Limits::time`](crate::Limits::time), and so has each further piece of it, but of events
/// (`text/event-stream`); all of it may take longer. One of which nothing more comes is cut off where its client has a part of it.
/// An answer is in memory until it is written and has gone to its client. Where all that are have more than
/// [`most_held_bytes`](Recorder::most_held_bytes), those that are on their way pass as they come, and are not recorded.
///
/// # Examples
///
/// ```no_run
/// use tamtam_gateway::{Gateway, Recorder, Server};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let recorder = Recorder::open("http://game.example/amfphp", "game.jsonl")?
///     .told(|loss| eprintln!("{loss}"));
/// let server = Server::bind(Gateway::new().recorder(recorder), "127.0.0.1:8787".parse()?).await?;
/// server.serve(std::future::pending()).await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Recorder {
    server: Server,
    kept: Arc<Mutex<Kept>>,
    classes: AmfClasses,
    most_answer_bytes: usize,
    held: Arc<Held>,
    /// What is large, or may be once it is decompressed, is taken apart and written one by one: it takes several times its bytes meanwhile.
    large: tokio::sync::Mutex<()>,
    told: Arc<dyn Fn(&RecordLoss) + Send + Sync>,
    torn_bytes: u64,
    other_server: Option<String>,
}

/// Where the server is.
struct Server {
    client: Client<Connector, Full<Bytes>>,
    scheme: String,
    authority: String,
    /// What stands before each path.
    base: String,
}

#[cfg(feature = "tls")]
type Connector = hyper_rustls::HttpsConnector<HttpConnector>;
#[cfg(not(feature = "tls"))]
type Connector = HttpConnector;

struct Kept {
    journal: Journal,
    known: Known,
}

/// Which answers are in the file: digests of calls, and of their latest answers.
#[derive(Default)]
struct Known {
    digests: HashMap<u64, u64>,
    hasher: RandomState,
}

/// An answer that went to its client and is not in the recording, or is there and may not be given again.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::RecordLoss;
///
/// fn say(loss: &RecordLoss) {
///     eprintln!("{loss}");
/// }
/// # let _ = say;
/// ```
#[derive(Debug, thiserror::Error)]
#[error("the answer to {request} is {}: {reason}", if *is_in_file { "recorded, and may not be given again" } else { "not recorded" })]
pub struct RecordLoss {
    /// Method and path.
    pub request: String,
    /// Whether it is in the file nevertheless: with the classes of its program ([`Replay::open_with_classes`](crate::Replay)) it
    /// may be given again.
    pub is_in_file: bool,
    /// Why.
    pub reason: String,
}

impl Recorder {
    /// Bytes of the file, at most, unless others are asked for.
    pub const USUAL_MOST_BYTES: u64 = 1 << 30;
    /// Bytes of an answer that is recorded, at most. A larger one passes.
    pub const USUAL_MOST_ANSWER_BYTES: usize = 64 << 20;
    /// Bytes of all answers that are in memory at a time, at most. What comes beyond passes.
    pub const USUAL_MOST_HELD_BYTES: usize = 256 << 20;

    /// Stands before the server at this URL, whose path is put before each path; the file is made, or continued.
    ///
    /// What only a class of the server's program knows how to read is kept as bytes: see
    /// [`open_with_classes`](Recorder::open_with_classes).
    ///
    /// # Errors
    /// If it is no such URL, or the file is something else, damaged, or cannot be written.
    pub fn open(url: &str, path: impl AsRef<Path>) -> Result<Recorder, RecordingError> {
        Recorder::open_with_classes(url, path, &AmfClasses::new())
    }

    /// As [`open`](Recorder::open), with the classes that the server's program has for what it says in AMF, as the replay is to
    /// have them: what can be given again, and what is known already, is told by them. The file is the same.
    ///
    /// # Errors
    /// As those of `open`.
    pub fn open_with_classes(
        url: &str,
        path: impl AsRef<Path>,
        classes: &AmfClasses,
    ) -> Result<Recorder, RecordingError> {
        let server = Server::at(url)?;
        let mut known = Known::default();
        let opened = Journal::open(path.as_ref(), url, Recorder::USUAL_MOST_BYTES, |entry| {
            known.add(&calls(entry, &TRUSTED, classes));
        });
        let (journal, contents) = opened?;
        let told = |loss: &RecordLoss| tracing::warn!(%loss, "a recording is incomplete");
        Ok(Recorder {
            server,
            kept: Arc::new(Mutex::new(Kept { journal, known })),
            classes: classes.clone(),
            most_answer_bytes: Recorder::USUAL_MOST_ANSWER_BYTES,
            held: Held::new(Recorder::USUAL_MOST_HELD_BYTES),
            large: tokio::sync::Mutex::default(),
            told: Arc::new(told),
            torn_bytes: contents.torn_bytes,
            other_server: Some(contents.server)
                .filter(|before| before.trim_end_matches('/') != url.trim_end_matches('/')),
        })
    }

    /// Calls this for each answer that is not recorded, since it is too large, alone or with those beside it, or the file is full or cannot be
    /// written; and for each that is recorded, and cannot be taken apart so that it is found again.
    #[must_use]
    pub fn told(mut self, hear: impl Fn(&RecordLoss) + Send + Sync + 'static) -> Recorder {
        self.told = Arc::new(hear);
        self
    }

    /// Lets the file have so many bytes.
    #[must_use]
    pub fn most_bytes(self, bytes: u64) -> Recorder {
        self.lock().journal.most_bytes = bytes;
        self
    }

    /// Records answers of so many bytes, also when they are decompressed.
    #[must_use]
    pub fn most_answer_bytes(mut self, bytes: usize) -> Recorder {
        self.most_answer_bytes = bytes;
        self
    }

    /// Holds so many bytes of all answers in memory at a time. An answer beside which there is no room for what comes of it passes, and is not
    /// recorded.
    #[must_use]
    pub fn most_held_bytes(mut self, bytes: usize) -> Recorder {
        self.held = Held::new(bytes);
        self
    }

    /// Bytes of a torn entry that were cut off the file when it was opened. 0 if there was none.
    pub fn torn_bytes(&self) -> u64 {
        self.torn_bytes
    }

    /// The URL that the file was begun with, if that is another one than it goes on with: of a server that has moved, or of one whose calls
    /// this one's will answer as well, for both are in one file now.
    pub fn other_server(&self) -> Option<&str> {
        self.other_server.as_deref()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gateway {
    /// Passes requests to another server, and records them, in place of services: those that the limits and the checks of host and origin let
    /// through.
    #[must_use]
    pub fn recorder(mut self, recorder: Recorder) -> Gateway {
        self.front = Some(Arc::new(recorder));
        self
    }
}

impl Server {
    fn at(url: &str) -> Result<Server, RecordingError> {
        let wrong = || RecordingError::Url(url.chars().take(200).collect());
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        let scheme = uri.scheme_str().unwrap_or_default().to_owned();
        let is_known = scheme == "http" || (cfg!(feature = "tls") && scheme == "https");
        if !is_known || uri.query().is_some() {
            return Err(wrong());
        }
        Ok(Server {
            client: Client::builder(TokioExecutor::new()).build(connector()?),
            authority: uri.authority().ok_or_else(wrong)?.to_string(),
            base: uri.path().trim_end_matches('/').to_owned(),
            scheme,
        })
    }

    /// The request as the server gets it.
    fn forwarded(
        &self,
        parts: &request::Parts,
        body: Bytes,
    ) -> Option<hyper::Request<Full<Bytes>>> {
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let uri = format!("{}://{}{}{path}", self.scheme, self.authority, self.base);
        let mut request = hyper::Request::builder()
            .method(parts.method.clone())
            .uri(uri)
            .body(Full::new(body))
            .ok()?;
        let headers = request.headers_mut();
        *headers = parts.headers.clone();
        remove_of_connection(headers);
        join_cookies(headers);
        // An answer is wanted, not the word that the client has it.
        for name in [HOST, IF_NONE_MATCH, IF_MODIFIED_SINCE] {
            headers.remove(name);
        }
        // What can be read again, to be recorded.
        let accepted = headers
            .get(ACCEPT_ENCODING)
            .and_then(|value| value.to_str().ok());
        let kind = protocol::rest::compression(accepted);
        let encoding = HeaderValue::from_static(match kind {
            tamtam_rows::CompressionKind::None => "identity",
            other => other.content_encoding(),
        });
        headers.insert(ACCEPT_ENCODING, encoding);
        Some(request)
    }
}

#[cfg(feature = "tls")]
fn connector() -> Result<Connector, RecordingError> {
    let connector = hyper_rustls::HttpsConnectorBuilder::new()
        .with_provider_and_native_roots(tokio_rustls::rustls::crypto::ring::default_provider())
        .map_err(RecordingError::Certificates)?;
    Ok(connector.https_or_http().enable_http1().build())
}

#[cfg(not(feature = "tls"))]
fn connector() -> Result<Connector, RecordingError> {
    Ok(HttpConnector::new())
}

/// Takes away what says something of one connection alone.
fn remove_of_connection(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let known = [
        CONNECTION,
        TE,
        TRAILER,
        TRANSFER_ENCODING,
        UPGRADE,
        CONTENT_LENGTH,
    ];
    for name in named.into_iter().chain(known) {
        headers.remove(name);
    }
    for name in [
        "keep-alive",
        "proxy-connection",
        "proxy-authenticate",
        "proxy-authorization",
    ] {
        headers.remove(name);
    }
}

/// Makes one line of cookies that have come in several, as those of HTTP/2 may: to a server of HTTP/1 they are one (RFC 9113, section 8.2.3).
fn join_cookies(headers: &mut HeaderMap) {
    let lines: Vec<&[u8]> = headers
        .get_all(COOKIE)
        .iter()
        .map(HeaderValue::as_bytes)
        .collect();
    if lines.len() < 2 {
        return;
    }
    // What is made of values is one.
    if let Ok(joined) = HeaderValue::from_bytes(&lines.join(&b"; "[..])) {
        headers.insert(COOKIE, joined);
    }
}

impl Known {
    /// Adds calls; says whether one of them, or its answer, was not known.
    fn add(&mut self, calls: &[Call]) -> bool {
        let mut is_new = false;
        for call in calls {
            let key = self.hasher.hash_one((&call.key, &call.form, &call.path));
            let answer = self.hasher.hash_one(&call.answer);
            is_new |= self.digests.insert(key, answer) != Some(answer);
        }
        is_new
    }
}

impl Front for Recorder {
    fn respond(
        self: Arc<Self>,
        shared: Arc<Shared>,
        request: Request,
    ) -> BoxFuture<'static, Response> {
        async move {
            let responded = self.forward(&shared, request).await;
            responded.unwrap_or_else(|response| *response)
        }
        .boxed()
    }
}

/// An answer as far as it was taken in, which is held until it has gone.
struct Taken {
    begin: Bytes,
    rest: Remainder,
}

/// What comes behind it.
enum Remainder {
    /// Nothing: it is all.
    Nothing,
    /// More than one answer may have, or what has no end.
    Endless(Incoming),
    /// More than all answers may have that are in memory.
    Beyond(Incoming),
}

/// Why an answer was not taken in.
enum Untaken {
    Failed(hyper::Error),
    /// Nothing more of it has come in time.
    Silent,
}

impl Recorder {
    async fn forward(
        self: &Arc<Self>,
        shared: &Arc<Shared>,
        request: Request,
    ) -> Result<Response, Box<Response>> {
        let (parts, body, mut ticket) = receive_whole(shared, request).await?;
        let bad = |reason: String| plain(StatusCode::BAD_GATEWAY, reason);
        let forwarded = self.server.forwarded(&parts, body.clone());
        let forwarded = forwarded.ok_or_else(|| bad("the request has no place there".into()))?;
        let limits = &shared.gateway.limits;
        let asking = async {
            // It names addresses, which are not the client's to know.
            let failed = |error: String| {
                let request = name_of(&parts);
                tracing::warn!(request, error, "the server that is recorded gave no answer");
                bad("the server that is recorded gave no answer".into())
            };
            let silent = || {
                let reason = "the server that is recorded has given no answer in time";
                plain(StatusCode::GATEWAY_TIMEOUT, reason)
            };
            let response = tokio::time::timeout(limits.time, self.server.client.request(forwarded));
            let response = response.await.map_err(|_| silent())?;
            let (head, body) = response.map_err(|error| failed(said(&error)))?.into_parts();
            // What never ends is not waited for.
            let taken = if is_of_events(&head.headers) {
                Taken {
                    begin: Bytes::new(),
                    rest: Remainder::Endless(body),
                }
            } else {
                let taking = self.take_in(body, limits.time);
                taking.await.map_err(|untaken| match untaken {
                    Untaken::Failed(error) => failed(said(&error)),
                    Untaken::Silent => silent(),
                })?
            };
            Ok::<_, Box<Response>>((head, taken))
        };
        let (mut head, taken) = asking.await?;
        let length = head.headers.get(CONTENT_LENGTH).cloned();
        remove_of_connection(&mut head.headers);
        // Without a body nothing else says how long that is.
        if let Some(length) = length.filter(|_| parts.method == Method::HEAD) {
            head.headers.insert(CONTENT_LENGTH, length);
        }
        let lose = |reason: String| self.tell(&parts, false, reason);
        let Taken { begin, rest } = taken;
        let passing = |head: response::Parts, begin, rest: Incoming| {
            // Between two events it may take as long as it does.
            let longest_silence = (!is_of_events(&head.headers)).then_some(limits.time);
            let rest = passed(rest, longest_silence, name_of(&parts));
            let begin = stream::once(std::future::ready(Ok(begin)));
            Response::from_parts(head, HttpBody::from_stream(begin.chain(rest)))
        };
        let answered = match rest {
            Remainder::Endless(rest) => {
                let most = self.most_answer_bytes;
                lose(format!("it has more than {most} bytes, or no end"));
                passing(head, begin, rest)
            }
            Remainder::Beyond(rest) => {
                let most = self.held.most();
                lose(format!(
                    "with it the answers that are in memory at the same time have more than {most} bytes"
                ));
                passing(head, begin, rest)
            }
            Remainder::Nothing => {
                let answer = begin;
                if says_something(head.status) {
                    let recorder = Arc::clone(self);
                    let (parts, head, answer) = (parts.clone(), head.clone(), answer.clone());
                    let most = limits.body_bytes;
                    // A stop waits for it.
                    let lasts = shared.lasting.begin();
                    // On a task of its own, which has the request's place: the client may go meanwhile, and the work would go on beside that for
                    // others.
                    let kept = tokio::spawn(async move {
                        let kept = recorder.keep(&parts, body, &head, answer, most).await;
                        let tell = |is_in_file, reason| recorder.tell(&parts, is_in_file, reason);
                        match kept {
                            Ok(doubts) => doubts.into_iter().for_each(|doubt| tell(true, doubt)),
                            Err(reason) => tell(false, reason),
                        }
                        drop(lasts);
                        ticket
                    });
                    ticket = kept.await.unwrap_or_else(|_| {
                        lose("it could not be recorded".into());
                        Ticket::Refused
                    });
                }
                Response::from_parts(head, HttpBody::from(answer))
            }
        };
        Ok(keeping(ticket, answered))
    }

    /// Tells that an answer is not in the recording, or may not be given again.
    fn tell(&self, parts: &request::Parts, is_in_file: bool, reason: String) {
        (self.told)(&RecordLoss {
            request: name_of(parts),
            is_in_file,
            reason,
        });
    }

    /// Takes an answer in, as far as it is recorded. It may take as long as it does, if only something comes.
    async fn take_in(
        &self,
        mut body: Incoming,
        longest_silence: Duration,
    ) -> Result<Taken, Untaken> {
        let mut taken = BytesMut::new();
        let mut holding = self.held.begin();
        let rest = loop {
            let next = tokio::time::timeout(longest_silence, body.frame()).await;
            let Some(frame) = next.map_err(|_| Untaken::Silent)? else {
                break Remainder::Nothing;
            };
            let Ok(data) = frame.map_err(Untaken::Failed)?.into_data() else {
                continue;
            };
            taken.extend_from_slice(&data);
            let has_room = holding.take(data.len());
            if taken.len() > self.most_answer_bytes {
                break Remainder::Endless(body);
            }
            if !has_room {
                break Remainder::Beyond(body);
            }
        };
        Ok(Taken {
            begin: holding.keeping(taken.freeze()),
            rest,
        })
    }

    /// Writes an entry, unless it says what is known; why it may not be given again.
    async fn keep(
        &self,
        parts: &request::Parts,
        body: Bytes,
        head: &response::Parts,
        answer: Bytes,
        most_body_bytes: usize,
    ) -> Result<Vec<String>, String> {
        let encodings = [&parts.headers, &head.headers];
        let [encoding_of_body, encoding] =
            encodings.map(|headers| Head::of(headers).content_encoding);
        let is_plain = |encoding: &Listed| matches!(encoding, Listed::Absent);
        let is_small = answer.len() <= LARGE_BYTES && body.len() <= LARGE_BYTES;
        let _alone = match is_small && is_plain(&encoding_of_body) && is_plain(&encoding) {
            true => None,
            false => Some(self.large.lock().await),
        };
        let body = decompressed(&encoding_of_body, body, most_body_bytes)
            .await
            .map_err(|(_, reason)| format!("its request cannot be read: {reason}"))?;
        let answer = decompressed(&encoding, answer, self.most_answer_bytes)
            .await
            .map_err(|(_, reason)| format!("it cannot be decompressed: {reason}"))?;
        let of_body = [CONTENT_LENGTH, CONTENT_ENCODING, DATE, SET_COOKIE];
        let is_of_body = |name: &HeaderName| {
            // That of a body which does not come is all that is known of it.
            of_body.contains(name) && !(parts.method == Method::HEAD && *name == CONTENT_LENGTH)
        };
        let headers = head.headers.iter().filter(|(name, _)| !is_of_body(name));
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let entry = Entry {
            at: to_iso(now.map_or(0.0, |now| now.as_millis() as f64)).unwrap_or_default(),
            request: asked(parts, body.into()),
            answer: Answer {
                status: head.status.as_u16(),
                headers: headers
                    .filter_map(|(name, value)| {
                        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
                    })
                    .collect(),
                body: Body(answer.into()),
            },
        };
        let kept = Arc::clone(&self.kept);
        let classes = self.classes.clone();
        let written = tokio::task::spawn_blocking(move || {
            let calls = calls(entry.clone(), &TRUSTED, &classes);
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            let Kept { journal, known } = &mut *kept;
            if !known.add(&calls) {
                return Ok(Vec::new());
            }
            let appended = journal.append(&entry);
            appended.inspect_err(|_| known.forget(&calls))?;
            let doubts = calls.into_iter().filter_map(|call| call.doubt);
            Ok(doubts.map(|doubt| doubt.reason).collect())
        });
        match written.await {
            Ok(written) => written.map_err(|error: AppendError| error.to_string()),
            Err(_) => Err("it could not be read".into()),
        }
    }
}

impl Known {
    /// Takes calls out that are not in the file.
    fn forget(&mut self, calls: &[Call]) {
        for call in calls {
            self.digests
                .remove(&self.hasher.hash_one((&call.key, &call.form, &call.path)));
        }
    }
}

/// What comes behind the beginning of an answer, as it comes; it is cut off where nothing does for so long.
fn passed(
    rest: Incoming,
    longest_silence: Option<Duration>,
    request: String,
) -> impl Stream<Item = Result<Bytes, axum::Error>> {
    let rest = Some(rest.into_data_stream());
    // Nothing is left of it behind an error.
    stream::unfold((rest, request), move |(rest, request)| async move {
        let mut rest = rest?;
        let next = match longest_silence {
            Some(time) => tokio::time::timeout(time, rest.next()).await,
            None => Ok(rest.next().await),
        };
        match next {
            Ok(part) => match part? {
                Ok(part) => Some((Ok(part), (Some(rest), request))),
                Err(error) => Some((Err(axum::Error::new(error)), (None, request))),
            },
            Err(late) => {
                tracing::warn!(
                    request,
                    "the server that is recorded gave nothing more of an answer, which was cut off"
                );
                Some((Err(axum::Error::new(late)), (None, request)))
            }
        }
    })
}

/// Whether an answer is of events, which never ends.
fn is_of_events(headers: &HeaderMap) -> bool {
    let media_type = text(headers, CONTENT_TYPE).split(';').next();
    media_type.is_some_and(|name| name.trim().eq_ignore_ascii_case("text/event-stream"))
}

/// A request as people read it.
fn name_of(parts: &request::Parts) -> String {
    format!("{} {}", parts.method, parts.uri.path())
}

/// Whether an answer with this status is one to the call, and not of who calls, or of a server that is overloaded.
fn says_something(status: StatusCode) -> bool {
    !matches!(
        status.as_u16(),
        100..200 | 304 | 401 | 403 | 407 | 408 | 421 | 429 | 502..=504
    )
}

/// An error with its causes.
fn said(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

fn text(headers: &HeaderMap, name: HeaderName) -> &str {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Recorder({}://{})",
            self.server.scheme, self.server.authority
        )
    }
}
