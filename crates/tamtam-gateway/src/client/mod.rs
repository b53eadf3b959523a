//! A client in Rust: calls by URL, whose tables come packed, and subscriptions over a WebSocket.

mod socket;
mod streamed;
#[cfg(feature = "tls")]
mod tls;
mod values;

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HOST};
use hyper::{HeaderMap, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use percent_encoding::percent_decode_str;
use serde::Serialize;
use tamtam_rows::{CompressionError, CompressionKind, Rows, decompress, packed};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

pub use socket::Socket;
pub use streamed::{RawStream, RowParts};
pub use values::{Pushed, Rest, Values};

use crate::limits::LONGEST_TIME;
use crate::protocol::rest::Form;
use crate::{Fault, Limits, Value, json};

/// A client of a gateway. Its tables come packed, all else in JSON.
///
/// Calls at the same time have connections of their own, which are kept for the next ones.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Client, Fault, Gateway, Server, Service, Value};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let sums = Service::new("Sums").blocking("double", |(number,): (i32,)| Ok::<_, Fault>(2 * i64::from(number)));
/// let server = Server::bind(Gateway::new().service(sums), "127.0.0.1:0".parse()?).await?;
/// let url = server.url();
/// tokio::spawn(server.serve(std::future::pending()));
///
/// let client = Client::connect(&url).await?;
/// assert_eq!(client.call("Sums.double", &(21,)).await?, Value::Int(42));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Client {
    at: At,
    host: String,
    /// What stands before `/rest`.
    base: String,
    /// Who calls, as the header `Authorization` says it.
    authorization: Option<String>,
    most_bytes: usize,
    patience: Duration,
    idle: Mutex<Vec<SendRequest<Full<Bytes>>>>,
    #[cfg(feature = "tls")]
    tls: Option<tls::Tls>,
}

enum At {
    Tcp {
        host: String,
        port: u16,
    },
    #[cfg(unix)]
    Unix(std::path::PathBuf),
}

/// A gateway that cannot be reached.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Client, ConnectError};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let error = Client::connect("ftp://tiles.example").await.unwrap_err();
/// assert!(matches!(error, ConnectError::Url { .. }));
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// It is no URL of a gateway.
    #[error("{url:?} is no URL of a gateway: write {}", HOW_TO_WRITE_IT)]
    Url {
        /// What was given, without a name and a password.
        url: String,
    },
    /// Nothing answers there.
    #[error("cannot connect to {at}: {source}; is the server running there?")]
    Connection {
        /// Where it was looked for.
        at: String,
        /// What the system said.
        source: io::Error,
    },
    /// Whatever answers there does not show by TLS that it is that server.
    #[error(
        "{at} is not trusted: {source}; is that its name, and does the system know who has signed for it?"
    )]
    Tls {
        /// Where it was looked for.
        at: String,
        /// What failed.
        source: io::Error,
    },
    /// The certificates are not there by which the system trusts.
    #[error("the certificates that this system trusts cannot be read: {0}")]
    Certificates(io::Error),
}

#[cfg(feature = "tls")]
const HOW_TO_WRITE_IT: &str = "http://HOST:PORT, https://HOST:PORT or unix:PATH";
#[cfg(not(feature = "tls"))]
const HOW_TO_WRITE_IT: &str =
    "http://HOST:PORT or unix:PATH; https needs the feature `tls` of tamtam-gateway";

/// A call that has no answer.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{CallError, Fault};
///
/// let error = CallError::Fault(Fault::new("Kit.Fault", "raised on purpose"));
/// assert_eq!(error.to_string(), "Kit.Fault: raised on purpose");
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CallError {
    /// What the server says of it.
    #[error("{0}")]
    Fault(Fault),
    /// The gateway cannot be reached.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The connection failed. Whether the method was called is not known.
    #[error("the connection failed: {0}")]
    Connection(String),
    /// There was no answer in time. Whether the method was called is not known.
    #[error("there was no answer within {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// The answer is larger than it may be.
    #[error("the answer has more than {0} bytes; allow more if the server is trusted")]
    TooLarge(usize),
    /// The arguments are nothing that JSON carries.
    #[error("the arguments cannot be sent: {0}")]
    Arguments(String),
    /// The answer is none of a gateway, or not of the type that was asked for.
    #[error("the answer cannot be read: {0}")]
    Malformed(String),
}

/// An answer as it came: by this type, and decompressed.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{CallError, Client};
///
/// async fn as_text(client: &Client) -> Result<String, CallError> {
///     let answer = client.raw("Tiles.list", &("palette",), "text/csv").await?;
///     assert!(answer.content_type.starts_with("text/csv"));
///     Ok(String::from_utf8_lossy(&answer.body).into_owned())
/// }
/// # let _ = as_text;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawAnswer {
    /// What the header `Content-Type` says.
    pub content_type: String,
    /// The bytes.
    pub body: Bytes,
    /// How many bytes came over the wire.
    pub wire_bytes: usize,
}

impl Client {
    /// Bytes of an answer, at most, unless others are asked for.
    pub const USUAL_MOST_BYTES: usize = 256 << 20;
    /// How long an answer may take, unless another time is asked for.
    pub const USUAL_PATIENCE: Duration = Duration::from_secs(60);

    /// A client of the gateway at this URL, which has a connection: `http://HOST:PORT`, or `unix:PATH`. With the feature `tls`
    /// also `https://HOST:PORT`, of which the client trusts what the system does.
    ///
    /// A name and a password in it, `http://NAME:PASSWORD@HOST:PORT`, go with each call as `Authorization: Basic`: a check has them by
    /// [`Caller::credentials`](crate::Caller::credentials). A character that divides a URL is written by its number, `@` as `%40`.
    ///
    /// # Errors
    /// If it is no such URL, nothing answers there, or what does is not trusted.
    pub async fn connect(url: &str) -> Result<Client, ConnectError> {
        #[cfg(not(feature = "tls"))]
        let (client, _) = Client::at(url)?;
        #[cfg(feature = "tls")]
        let client = Client::trusting(Client::at(url)?, tls::of_the_system)?;
        client.connected().await
    }

    /// As [`connect`](Client::connect), to a server by `https` that is trusted as this configuration has it.
    ///
    /// # Errors
    /// As [`connect`](Client::connect).
    #[cfg(feature = "tls")]
    pub async fn connect_tls(
        url: &str,
        config: tokio_rustls::rustls::ClientConfig,
    ) -> Result<Client, ConnectError> {
        let client = Client::trusting(Client::at(url)?, || Ok(config))?;
        client.connected().await
    }

    /// One that has no connection yet, and whether it is to have TLS.
    fn at(url: &str) -> Result<(Client, bool), ConnectError> {
        let unknown = || Client::unknown(url);
        #[cfg(unix)]
        let unix = url.strip_prefix("unix:").map(|path| At::Unix(path.into()));
        #[cfg(not(unix))]
        let unix = None;
        let mut is_secure = false;
        let mut authorization = None;
        let (at, host, base) = match unix {
            Some(at) => (at, "localhost".to_owned(), String::new()),
            None => {
                let uri: Uri = url.parse().map_err(|_| unknown())?;
                is_secure = match uri.scheme_str() {
                    Some("http") => false,
                    Some("https") if cfg!(feature = "tls") => true,
                    _ => return Err(unknown()),
                };
                let authority = uri.authority().ok_or_else(unknown)?;
                if uri.query().is_some() {
                    return Err(unknown());
                }
                let usual = if is_secure { 443 } else { 80 };
                let at = At::Tcp {
                    host: authority.host().to_owned(),
                    port: authority.port_u16().unwrap_or(usual),
                };
                let base = uri.path().trim_end_matches('/').to_owned();
                // The header `Host` has nothing of who calls.
                let host = match authority.as_str().rsplit_once('@') {
                    None => authority.as_str(),
                    Some((user, host)) => {
                        authorization = Some(basic(user));
                        host
                    }
                };
                (at, host.to_owned(), base)
            }
        };
        let client = Client {
            at,
            host,
            base,
            authorization,
            most_bytes: Client::USUAL_MOST_BYTES,
            patience: Client::USUAL_PATIENCE,
            idle: Mutex::default(),
            #[cfg(feature = "tls")]
            tls: None,
        };
        Ok((client, is_secure))
    }

    fn unknown(url: &str) -> ConnectError {
        ConnectError::Url {
            url: without_user(url).chars().take(200).collect(),
        }
    }

    /// With what it trusts, if it is to have TLS.
    #[cfg(feature = "tls")]
    fn trusting(
        (mut client, is_secure): (Client, bool),
        config: impl FnOnce() -> io::Result<tokio_rustls::rustls::ClientConfig>,
    ) -> Result<Client, ConnectError> {
        if let At::Tcp { host, .. } = &client.at
            && is_secure
        {
            let config = config().map_err(ConnectError::Certificates)?;
            let tls = tls::Tls::new(config, host).ok_or_else(|| Client::unknown(host))?;
            client.tls = Some(tls);
        }
        Ok(client)
    }

    async fn connected(self) -> Result<Client, ConnectError> {
        let connection = self.open().await?;
        self.keep(connection);
        Ok(self)
    }

    /// Sends this token with each call, in place of a name and password in the URL.
    #[must_use]
    pub fn bearer(mut self, token: impl Into<String>) -> Client {
        self.authorization = Some(format!("Bearer {}", token.into()));
        self
    }

    /// Takes answers of so many bytes, also when they are decompressed.
    #[must_use]
    pub fn most_bytes(mut self, bytes: usize) -> Client {
        self.most_bytes = bytes;
        self
    }

    /// Waits so long for an answer; more than ten years are ten years.
    #[must_use]
    pub fn patience(mut self, time: Duration) -> Client {
        self.patience = time.min(LONGEST_TIME);
        self
    }

    /// Calls `SERVICE.METHOD` with a struct, whose fields are the arguments by their names, or a tuple: by their places.
    ///
    /// # Errors
    /// The server's fault, or why there is no answer.
    pub async fn call(
        &self,
        method: &str,
        arguments: &(impl Serialize + ?Sized),
    ) -> Result<Value, CallError> {
        let accept = "application/vnd.tamtam.rows, application/json;q=0.9";
        let answer = self.raw(method, arguments, accept).await?;
        if answer.content_type == Form::Packed.content_type().name() {
            let limits = tamtam_rows::Limits {
                bytes: self.most_bytes as u64,
                ..tamtam_rows::Limits::default()
            };
            let rows = packed::decode(&answer.body, &limits);
            return rows.map(Value::from).map_err(malformed);
        }
        json::read(&answer.body, &FROM_SERVER).map_err(malformed)
    }

    /// As [`call`](Client::call), for a method that gives a table.
    ///
    /// # Errors
    /// As [`call`](Client::call); and if the answer is no table.
    pub async fn rows(
        &self,
        method: &str,
        arguments: &(impl Serialize + ?Sized),
    ) -> Result<Rows, CallError> {
        match self.call(method, arguments).await? {
            Value::Rows(rows) => Ok(*rows),
            other => Err(CallError::Malformed(format!(
                "it is {}, and no table",
                other.noun()
            ))),
        }
    }

    /// As [`call`](Client::call), in the form that the header `Accept` asks for.
    ///
    /// # Errors
    /// As [`call`](Client::call).
    pub async fn raw(
        &self,
        method: &str,
        arguments: &(impl Serialize + ?Sized),
        accept: &str,
    ) -> Result<RawAnswer, CallError> {
        let calling = self.called(method, arguments, accept);
        match tokio::time::timeout(self.patience, calling).await {
            Ok(answer) => answer,
            Err(_) => Err(CallError::TimedOut(self.patience)),
        }
    }

    /// As [`rows`](Client::rows), part by part: the answer is taken while it comes, and may be of any length. A part may have as
    /// many bytes as an answer may ([`most_bytes`](Client::most_bytes)), and each piece has the client's patience.
    ///
    /// # Errors
    /// As [`call`](Client::call). A method that gives no table has the server's fault.
    pub async fn stream(
        &self,
        method: &str,
        arguments: &(impl Serialize + ?Sized),
    ) -> Result<RowParts, CallError> {
        let accept = Form::Packed.content_type().name();
        let answer = self.raw_stream(method, arguments, accept).await?;
        answer.into_rows().await
    }

    /// As [`raw`](Client::raw), piece by piece: the answer is taken while it comes, and may be of any length.
    ///
    /// # Errors
    /// As [`call`](Client::call).
    pub async fn raw_stream(
        &self,
        method: &str,
        arguments: &(impl Serialize + ?Sized),
        accept: &str,
    ) -> Result<RawStream, CallError> {
        let opening = async {
            let (request, body) = self.call_of(method, arguments, accept)?;
            let (connection, response) = self.send(request, body).await?;
            if response.status() != StatusCode::OK {
                return Err(self.refusal(connection, response).await);
            }
            let (parts, body) = response.into_parts();
            let kind = compression_of(&parts.headers)?;
            let content_type = content_type_of(&parts.headers);
            Ok(RawStream::new(
                content_type,
                kind,
                body,
                connection,
                self.patience,
                self.most_bytes,
            ))
        };
        match tokio::time::timeout(self.patience, opening).await {
            Ok(answer) => answer,
            Err(_) => Err(CallError::TimedOut(self.patience)),
        }
    }

    async fn called(
        &self,
        method: &str,
        arguments: &(impl Serialize + ?Sized),
        accept: &str,
    ) -> Result<RawAnswer, CallError> {
        let (request, body) = self.call_of(method, arguments, accept)?;
        self.exchange(request, body).await
    }

    /// The request that calls a method.
    fn call_of(
        &self,
        method: &str,
        arguments: &(impl Serialize + ?Sized),
        accept: &str,
    ) -> Result<(hyper::http::request::Builder, Bytes), CallError> {
        let mut body = serde_json::to_vec(arguments)
            .map_err(|error| CallError::Arguments(error.to_string()))?;
        if body == b"null" {
            // `()` is no argument at all.
            body = b"[]".to_vec();
        }
        let Some((service, name)) = method.rsplit_once('.') else {
            return Err(CallError::Arguments(format!(
                "{method:?} is no method: write it as SERVICE.METHOD"
            )));
        };
        let request = Request::post(format!("{}/rest/{service}/{name}", self.base))
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, accept);
        Ok((request, Bytes::from(body)))
    }

    /// What there is: in the member `services` the services, with their methods and the types of these in JSON Schema, in `links`
    /// the links. It is what `/services` says.
    ///
    /// # Errors
    /// As [`call`](Client::call).
    pub async fn services(&self) -> Result<Value, CallError> {
        let asking = self.exchange(
            Request::get(format!("{}/services", self.base)),
            Bytes::new(),
        );
        let answer = match tokio::time::timeout(self.patience, asking).await {
            Ok(answer) => answer?,
            Err(_) => return Err(CallError::TimedOut(self.patience)),
        };
        json::read(&answer.body, &FROM_SERVER).map_err(malformed)
    }

    /// Sends a request; its answer has begun.
    async fn send(
        &self,
        mut request: hyper::http::request::Builder,
        body: Bytes,
    ) -> Result<(SendRequest<Full<Bytes>>, Response<Incoming>), CallError> {
        request = request
            .header(HOST, &self.host)
            .header(ACCEPT_ENCODING, "zstd, gzip;q=0.5");
        if let Some(who) = &self.authorization {
            request = request.header(AUTHORIZATION, who);
        }
        let request = request
            .body(Full::new(body))
            .map_err(|error| CallError::Arguments(error.to_string()))?;
        let mut connection = self.ready().await?;
        let failed = |error: hyper::Error| CallError::Connection(error.to_string());
        let response = connection.send_request(request).await.map_err(failed)?;
        Ok((connection, response))
    }

    /// Sends a request, and takes in its answer.
    async fn exchange(
        &self,
        request: hyper::http::request::Builder,
        body: Bytes,
    ) -> Result<RawAnswer, CallError> {
        let (connection, response) = self.send(request, body).await?;
        let (status, answer) = self.whole(connection, response).await?;
        if status != StatusCode::OK {
            return Err(fault_in(status, &answer.body));
        }
        Ok(answer)
    }

    /// What an answer says that is none of a method.
    async fn refusal(
        &self,
        connection: SendRequest<Full<Bytes>>,
        response: Response<Incoming>,
    ) -> CallError {
        match self.whole(connection, response).await {
            Ok((status, answer)) => fault_in(status, &answer.body),
            Err(error) => error,
        }
    }

    /// All of an answer, whatever its status.
    async fn whole(
        &self,
        connection: SendRequest<Full<Bytes>>,
        response: Response<Incoming>,
    ) -> Result<(StatusCode, RawAnswer), CallError> {
        let (parts, body) = response.into_parts();
        let collected = Limited::new(body, self.most_bytes).collect().await;
        let body = collected
            .map(|collected| collected.to_bytes())
            .map_err(|error| {
                if error.is::<LengthLimitError>() {
                    CallError::TooLarge(self.most_bytes)
                } else {
                    CallError::Connection(error.to_string())
                }
            })?;
        self.keep(connection);
        let wire_bytes = body.len();
        let body = match compression_of(&parts.headers)? {
            CompressionKind::None => body,
            kind => decompress(kind, &body, self.most_bytes)
                .map_err(|error| match error {
                    CompressionError::Limit { .. } => CallError::TooLarge(self.most_bytes),
                    error => malformed(error),
                })?
                .into(),
        };
        let answer = RawAnswer {
            content_type: content_type_of(&parts.headers),
            body,
            wire_bytes,
        };
        Ok((parts.status, answer))
    }

    /// A connection that takes a request: one that was kept, if there is one that is still open.
    async fn ready(&self) -> Result<SendRequest<Full<Bytes>>, CallError> {
        loop {
            let kept = self
                .idle
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .pop();
            let Some(mut connection) = kept else {
                break;
            };
            if connection.ready().await.is_ok() {
                return Ok(connection);
            }
        }
        Ok(self.open().await?)
    }

    fn keep(&self, connection: SendRequest<Full<Bytes>>) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MOST_KEPT {
            idle.push(connection);
        }
    }

    async fn open(&self) -> Result<SendRequest<Full<Bytes>>, ConnectError> {
        let stream = self.dial().await?;
        converse(stream).await.map_err(|source| self.failed(source))
    }

    /// A connection on which nothing was said yet.
    async fn dial(&self) -> Result<Box<dyn Wire>, ConnectError> {
        let failed = |source| self.failed(source);
        match &self.at {
            At::Tcp { host, port } => {
                let stream = TcpStream::connect(format!("{host}:{port}"));
                let stream = stream.await.map_err(failed)?;
                stream.set_nodelay(true).map_err(failed)?;
                #[cfg(feature = "tls")]
                if let Some(tls) = &self.tls {
                    let stream = tls.connect(stream).await;
                    return Ok(Box::new(stream.map_err(|source| ConnectError::Tls {
                        at: self.at.to_string(),
                        source,
                    })?));
                }
                Ok(Box::new(stream))
            }
            #[cfg(unix)]
            At::Unix(path) => {
                let stream = tokio::net::UnixStream::connect(path).await;
                Ok(Box::new(stream.map_err(failed)?))
            }
        }
    }

    fn failed(&self, source: io::Error) -> ConnectError {
        ConnectError::Connection {
            at: self.at.to_string(),
            source,
        }
    }
}

/// A connection of either kind.
trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Wire for S {}

/// What a server sends that was asked for it may be larger than what comes unasked; its bytes are limited.
const FROM_SERVER: Limits = Limits {
    values: usize::MAX,
    depth: 100,
    ..Limits::USUAL
};

/// How many connections are kept open, at most.
const MOST_KEPT: usize = 16;

async fn converse(stream: Box<dyn Wire>) -> io::Result<SendRequest<Full<Bytes>>> {
    let (sender, connection) = handshake(TokioIo::new(stream))
        .await
        .map_err(io::Error::other)?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection of a client ended");
        }
    });
    Ok(sender)
}

/// A name and a password, as they stand in a URL, for the header `Authorization`.
fn basic(user: &str) -> String {
    let named: Vec<u8> = percent_decode_str(user).collect();
    // A name alone has an empty password.
    let colon: &[u8] = if user.contains(':') { b"" } else { b":" };
    format!("Basic {}", STANDARD.encode([&named, colon].concat()))
}

/// A URL without the name and the password in it: errors are shown, and written down. One that is wrong may be so by them: it is without
/// all that is before the last `@`.
fn without_user(url: &str) -> Cow<'_, str> {
    match url.rfind('@') {
        Some(_) if url.starts_with("unix:") => url.into(),
        Some(at) => {
            let scheme = url.find("://").filter(|&end| end < at);
            let scheme = scheme.map_or("", |end| &url[..end + "://".len()]);
            format!("{scheme}{}", &url[at + 1..]).into()
        }
        None => url.into(),
    }
}

/// By what an answer is compressed.
///
/// # Errors
/// If it is what was not asked for.
fn compression_of(headers: &HeaderMap) -> Result<CompressionKind, CallError> {
    let name = headers.get(CONTENT_ENCODING);
    match name
        .map(|name| name.as_bytes().to_ascii_lowercase())
        .as_deref()
    {
        None => Ok(CompressionKind::None),
        Some(b"zstd") => Ok(CompressionKind::Zstd),
        Some(b"gzip") => Ok(CompressionKind::Gzip),
        Some(_) => Err(malformed("it is compressed by what was not asked for")),
    }
}

fn content_type_of(headers: &HeaderMap) -> String {
    let name = headers.get(CONTENT_TYPE);
    let name = name.and_then(|name| name.to_str().ok());
    name.unwrap_or_default().to_owned()
}

fn malformed(error: impl fmt::Display) -> CallError {
    CallError::Malformed(error.to_string())
}

/// What the server says of a failure; in its own form, or as what stands between has it.
fn fault_in(status: StatusCode, body: &[u8]) -> CallError {
    let fault = json::read(body, &Limits::default()).ok().and_then(|value| {
        let text = |name| match value.get(name) {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let fault = Fault::told(text("code")?, text("description")?);
        Some(match value.get("detail") {
            Some(detail) => fault.detail(detail.clone()),
            None => fault,
        })
    });
    CallError::Fault(fault.unwrap_or_else(|| {
        let said: String = String::from_utf8_lossy(body)
            .trim()
            .chars()
            .take(200)
            .collect();
        Fault::new(format!("HTTP.{}", status.as_u16()), said)
    }))
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            At::Tcp { host, port } => write!(f, "{host}:{port}"),
            #[cfg(unix)]
            At::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Client({})", self.at)
    }
}
