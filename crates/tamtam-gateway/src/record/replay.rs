//! A server that is gone, as it was recorded.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use axum::body::Body as HttpBody;
use axum::extract::Request;
use axum::http::header::{ACCEPT, CONTENT_TYPE, RANGE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::index::{Asked, Index, Reply, calls};
use super::journal::{self, Body, RecordingError};
use crate::content_type::ContentType;
use crate::gateway::{Front, Gateway, Shared};
use crate::head::Head;
use crate::http::{answer, answer_of, decompressed, made_ready, plain, receive_whole};
use crate::protocol::amf::is_flash_player;
use crate::unsent::keeping;
use crate::{AmfClasses, Fault, Limits, Value};

/// The recorded answers of a server that is gone.
///
/// A call gets the latest answer that was recorded for the same method and arguments, whatever names its request gave
/// itself: AMF's response target, Flex's message id, the id of JSON-RPC are those of the new request. What was never asked gets a
/// fault in its protocol, with the code `Replay.NeverAsked`.
///
/// # Examples
///
/// ```no_run
/// use tamtam_gateway::{Gateway, Replay, Server};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let replay = Replay::open("game.jsonl")?;
/// println!("{} calls have an answer", replay.call_count());
/// let server = Server::bind(Gateway::new().replay(replay), "127.0.0.1:8787".parse()?).await?;
/// server.serve(std::future::pending()).await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Replay {
    index: Index,
    classes: AmfClasses,
    server: String,
    torn_bytes: u64,
}

impl Replay {
    /// Reads a recording. A last entry that a crash has torn is left out: see [`torn_bytes`](Replay::torn_bytes).
    ///
    /// What only a class of the recorded program knows how to read is bytes here: see
    /// [`open_with_classes`](Replay::open_with_classes).
    ///
    /// # Errors
    /// If the file cannot be read, is no recording, or is damaged before its last line.
    pub fn open(path: impl AsRef<Path>) -> Result<Replay, RecordingError> {
        Replay::open_with_classes(path, &AmfClasses::new())
    }

    /// As [`open`](Replay::open), with the classes that the recorded program has for what it says in AMF. Objects that write
    /// themselves are read and compared by their members then, also those of a file that was recorded without.
    ///
    /// # Errors
    /// As those of `open`.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use tamtam_gateway::{AmfClasses, Replay};
    ///
    /// let classes = AmfClasses::new().externalizable(
    ///     "com.example.Score",
    ///     |input| {
    ///         let points = i32::from_be_bytes(input.array()?);
    ///         input.set("points", points.into())
    ///     },
    ///     |score, encoder| match score.get("points") {
    ///         Some(&tamtam_gateway::amf::amf3::Value::Integer(points)) => encoder.write_raw(&points.to_be_bytes()),
    ///         _ => Err(tamtam_gateway::amf::EncodeError::Refused("a Score has points".into())),
    ///     },
    /// );
    /// let replay = Replay::open_with_classes("game.jsonl", &classes)?;
    /// # Ok::<(), tamtam_gateway::RecordingError>(())
    /// ```
    pub fn open_with_classes(
        path: impl AsRef<Path>,
        classes: &AmfClasses,
    ) -> Result<Replay, RecordingError> {
        let mut index = Index::default();
        let contents = journal::read(path.as_ref(), |entry| {
            for call in calls(entry, &TRUSTED, classes) {
                index.add(call);
            }
        })?;
        Ok(Replay {
            index,
            classes: classes.clone(),
            server: contents.server,
            torn_bytes: contents.torn_bytes,
        })
    }

    /// How many different calls have an answer.
    pub fn call_count(&self) -> usize {
        self.index.len()
    }

    /// How many calls are in the file whose answers cannot be given to any request: the recorder has said why.
    pub fn not_given_count(&self) -> usize {
        self.index.not_given()
    }

    /// The URL of the server that was recorded.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Bytes of a torn entry at the end, which is left out. 0 if there is none.
    pub fn torn_bytes(&self) -> u64 {
        self.torn_bytes
    }
}

/// A recording was within the limits of the server that made it, which are not known.
pub(super) const TRUSTED: Limits = Limits {
    body_bytes: usize::MAX,
    values: usize::MAX,
    batch: u16::MAX as usize,
    ..Limits::USUAL
};

impl Gateway {
    /// Answers all requests from a recording, in place of services.
    #[must_use]
    pub fn replay(mut self, replay: Replay) -> Gateway {
        self.front = Some(Arc::new(replay));
        self
    }
}

impl Front for Replay {
    fn respond(
        self: Arc<Self>,
        shared: Arc<Shared>,
        request: Request,
    ) -> BoxFuture<'static, Response> {
        async move {
            let responded = self.answered(&shared, request).await;
            responded.unwrap_or_else(|response| *response)
        }
        .boxed()
    }
}

impl Replay {
    async fn answered(
        &self,
        shared: &Arc<Shared>,
        request: Request,
    ) -> Result<Response, Box<Response>> {
        let (parts, body, ticket) = receive_whole(shared, request).await?;
        let limits = &shared.gateway.limits;
        let head = &Head::of(&parts.headers);
        let body = decompressed(&head.content_encoding, body, limits.body_bytes)
            .await
            .map_err(|(status, reason)| plain(status, reason))?;
        let request = asked(&parts, body.into());
        let classes = &self.classes;
        let asked = Asked::of(&request, limits, classes);
        let reply = self.index.answer(&request, &asked, classes);
        let response = match reply {
            Reply::Amf(body) => answer(shared, head, ContentType::Amf, body).await.0,
            Reply::XmlRpc(body) => answer(shared, head, ContentType::Xml, body).await.0,
            Reply::JsonRpc(Some(body)) => answer(shared, head, ContentType::Json, body).await.0,
            Reply::JsonRpc(None) => {
                let mut response = Response::new(HttpBody::empty());
                *response.status_mut() = StatusCode::NO_CONTENT;
                response
            }
            Reply::Whole(recorded) => whole(shared, head, recorded).await,
            Reply::Fault(fault) => of_fault(shared, head, &fault).await,
        };
        Ok(keeping(ticket, response))
    }
}

/// A request as it is recorded.
pub(super) fn asked(parts: &axum::http::request::Parts, body: Vec<u8>) -> journal::Request {
    let text = |name: HeaderName| {
        let value = parts.headers.get(name)?.to_str().ok()?;
        Some(value.to_owned())
    };
    journal::Request {
        method: parts.method.to_string(),
        path: parts
            .uri
            .path_and_query()
            .map_or("/", |path| path.as_str())
            .to_owned(),
        content_type: text(CONTENT_TYPE).unwrap_or_default(),
        accept: text(ACCEPT),
        range: text(RANGE),
        is_from_flash_player: is_flash_player(&parts.headers),
        body: Body(body),
    }
}

/// An answer as it was, compressed as this client has it.
async fn whole(shared: &Shared, head: &Head<'_>, recorded: &journal::Answer) -> Response {
    let body = recorded.body.0.clone();
    // It may be of any type.
    let ready = made_ready(shared, head, body).await;
    let mut response = answer_of(head, ContentType::Json, ready);
    // Its own is among the headers that were recorded, if it had one.
    response.headers_mut().remove(CONTENT_TYPE);
    *response.status_mut() =
        StatusCode::from_u16(recorded.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let own: Vec<HeaderName> = response.headers().keys().cloned().collect();
    for (name, value) in &recorded.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value))
            && !own.contains(&name)
        {
            response.headers_mut().append(name, value);
        }
    }
    response
}

/// A fault where a call is a request of its own.
async fn of_fault(shared: &Shared, head: &Head<'_>, fault: &Fault) -> Response {
    let members = Value::Map(vec![
        ("code".to_owned(), Value::from(fault.code())),
        ("description".to_owned(), Value::from(fault.description())),
    ]);
    let body = members.to_json().into_bytes();
    let (mut response, _) = answer(shared, head, ContentType::Json, body).await;
    *response.status_mut() =
        StatusCode::from_u16(fault.http_status()).unwrap_or(StatusCode::NOT_FOUND);
    response
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Replay({} calls of {})", self.call_count(), self.server)
    }
}
