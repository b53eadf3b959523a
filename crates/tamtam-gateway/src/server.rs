//! The sockets of a gateway: HTTP/1.1 and 2 over TCP and Unix sockets, with limits, and an end that finishes what was accepted.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
#[cfg(unix)]
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::response::Response;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::net::UnixListener;
use tokio::task::JoinSet;

use crate::Gateway;
use crate::accept_failure::AcceptFailure;
use crate::admission::Ticket;
use crate::branch::Branch;
use crate::gateway::Shared;
use crate::head_timer::HeadTimer;
use crate::http::{Arrival, Held};
use crate::lasting::{Lasting, Lasts, Stage};
use crate::link_meter::{LinkMeter, Metered};
use crate::patient::{Leniency, Patient};
use crate::routes::{Routes, Unread};
use crate::under_way::{ConnectionEnd, Streams, UnderWay};

/// A gateway at a socket.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Fault, Gateway, Server, Service};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let clock = Service::new("Clock").blocking("hours", |_: ()| Ok::<u8, Fault>(12));
/// let server = Server::bind(Gateway::new().service(clock), "127.0.0.1:0".parse()?).await?;
/// println!("listening on {}", server.url());
/// let stop = async { /* until a signal comes */ };
/// server.serve(stop).await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Server {
    shared: Arc<Shared>,
    listener: Listener,
    #[cfg(feature = "tls")]
    tls: Option<tokio_rustls::TlsAcceptor>,
}

enum Listener {
    Tcp(TcpListener, SocketAddr),
    #[cfg(unix)]
    Unix(UnixListener, SocketFile),
}

/// A socket that could not be opened.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Gateway, Server};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let first = Server::bind(Gateway::new(), "127.0.0.1:0".parse()?).await?;
/// let second = Server::bind(Gateway::new(), first.address().unwrap()).await;
/// assert!(second.unwrap_err().to_string().contains("cannot listen on 127.0.0.1:"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Error)]
#[error("cannot listen on {at}: {source}; is another program there, or may this one not?")]
pub struct BindError {
    at: String,
    source: io::Error,
}

/// A socket that takes no more connections.
///
/// # Examples
///
/// ```
/// # fn served(result: Result<(), tamtam_gateway::ServeError>) -> Result<(), Box<dyn std::error::Error>> {
/// result?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Error)]
#[error("no more connections are taken: {0}")]
pub struct ServeError(io::Error);

impl Server {
    /// Opens a TCP socket: from then on connections are accepted, and wait for [`serve`](Server::serve).
    ///
    /// # Errors
    /// If the address is taken, or may not be.
    pub async fn bind(gateway: Gateway, address: SocketAddr) -> Result<Server, BindError> {
        let failed = |source| BindError {
            at: address.to_string(),
            source,
        };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Server::new(gateway, Listener::Tcp(listener, address)))
    }

    /// Opens a Unix socket. A file that is there from a server that has died is replaced; one at which a server answers is not.
    ///
    /// # Errors
    /// If the path is taken, or may not be.
    #[cfg(unix)]
    pub async fn bind_unix(gateway: Gateway, path: impl AsRef<Path>) -> Result<Server, BindError> {
        use std::os::unix::fs::FileTypeExt;

        let path = path.as_ref();
        let failed = |source| BindError {
            at: path.display().to_string(),
            source,
        };
        let _alone = alone_beside(path).await;
        let is_socket = path
            .symlink_metadata()
            .is_ok_and(|file| file.file_type().is_socket());
        if is_socket {
            let answered = tokio::net::UnixStream::connect(path).await;
            // Any other error, as that of a server whose queue is full, does not say that no server is there.
            if answered.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
                std::fs::remove_file(path).map_err(failed)?;
            }
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        let file = SocketFile::of(path);
        Ok(Server::new(gateway, Listener::Unix(listener, file)))
    }

    fn new(gateway: Gateway, listener: Listener) -> Server {
        Server {
            shared: Shared::new(gateway),
            listener,
            #[cfg(feature = "tls")]
            tls: None,
        }
    }

    /// With TLS. The names of HTTP/2 and HTTP/1.1 are added to the configuration if it has none.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn tls(mut self, mut config: tokio_rustls::rustls::ServerConfig) -> Server {
        if config.alpn_protocols.is_empty() {
            config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        }
        self.tls = Some(tokio_rustls::TlsAcceptor::from(Arc::new(config)));
        self
    }

    /// The address, with the port that was found; nothing of a Unix socket.
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.listener {
            Listener::Tcp(_, address) => Some(*address),
            #[cfg(unix)]
            Listener::Unix(..) => None,
        }
    }

    /// Where it is: `http://127.0.0.1:8787`, or `unix:` and the path.
    pub fn url(&self) -> String {
        match &self.listener {
            Listener::Tcp(_, address) => format!("{}://{address}", self.scheme()),
            #[cfg(unix)]
            Listener::Unix(_, file) => format!("unix:{}", file.path.display()),
        }
    }

    fn scheme(&self) -> &'static str {
        #[cfg(feature = "tls")]
        if self.tls.is_some() {
            return "https";
        }
        "http"
    }

    /// Serves until `stop` is ready. Then no connection is accepted, calls that have come are answered, and what has not ended
    /// when the limit for that is over is cut off.
    ///
    /// # Errors
    /// If the socket itself fails; no connection that does, and no lack of descriptors or memory, is that.
    pub async fn serve(self, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
        let limits = &self.shared.gateway.limits;
        let (patience, ending) = (limits.patience, limits.stop);
        let mut refusals = Refusals::default();
        let mut connections = Connections {
            tasks: JoinSet::new(),
            routes: Routes::of(Arc::clone(&self.shared)),
            lasting: &self.shared.lasting,
            patience,
            #[cfg(feature = "tls")]
            tls: self.tls.clone(),
        };
        let mut stop = pin!(stop);
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                // One that has ended is forgotten.
                Some(_) = connections.tasks.join_next() => continue,
                () = &mut stop => break,
            };
            match accepted {
                Ok((stream, peer)) => match self.shared.connect(peer) {
                    Ticket::Refused => {
                        self.shared.metrics.connection_refused();
                        refusals.tell(peer);
                        refuse(stream);
                    }
                    place @ Ticket::Admitted(_) => connections.begin(stream, peer, place),
                },
                Err(error) => match AcceptFailure::of(&error) {
                    AcceptFailure::OfOneConnection => {
                        tracing::debug!(%error, "a connection failed before it was accepted");
                    }
                    // Others may give their descriptors back.
                    AcceptFailure::Passing => {
                        tracing::warn!(%error, "a connection could not be accepted");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                    AcceptFailure::OfSocket => return Err(ServeError(error)),
                },
            }
        }
        drop(self.listener);
        let lasting = &self.shared.lasting;
        lasting.tell(Stage::Stopping);
        if tokio::time::timeout(ending, lasting.ended()).await.is_err() {
            // By the drop of what carries them.
            tracing::warn!("connections were cut off: they had not ended in time");
        }
        Ok(())
    }
}

/// So long a server waits for another one that looks for its place in the same folder.
#[cfg(unix)]
const LONGEST_LOOK: Duration = Duration::from_secs(5);

/// Keeps other servers from looking for a place in the folder of this path until what this gives is dropped: two that find the socket of one that has
/// died would each remove what they find, the other's. Nothing where the folder cannot be locked.
#[cfg(unix)]
async fn alone_beside(path: &Path) -> Option<std::fs::File> {
    use rustix::fs::{FlockOperation, flock};

    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = std::fs::File::open(folder.unwrap_or(Path::new("."))).ok()?;
    let begun = Instant::now();
    loop {
        match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Some(folder),
            Err(rustix::io::Errno::WOULDBLOCK) if begun.elapsed() < LONGEST_LOOK => {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            // Another program may keep it locked for something else.
            Err(_) => return None,
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({})", self.url())
    }
}

/// A connection of either kind.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> Stream for S {}

impl Listener {
    async fn accept(&self) -> io::Result<(Box<dyn Stream>, Option<IpAddr>)> {
        match self {
            Listener::Tcp(listener, _) => {
                let (stream, address) = listener.accept().await?;
                // An answer goes at once. It fails if the client has gone again, which is found out soon enough.
                let _ = stream.set_nodelay(true);
                Ok((Box::new(stream), Some(address.ip())))
            }
            #[cfg(unix)]
            Listener::Unix(listener, _) => {
                let (stream, _) = listener.accept().await?;
                Ok((Box::new(stream), None))
            }
        }
    }
}

#[cfg(unix)]
impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix(_, file) = self {
            file.remove();
        }
    }
}

/// The file of a Unix socket.
#[cfg(unix)]
struct SocketFile {
    path: PathBuf,
    /// Its device and inode, if it could be looked at.
    identity: Option<(u64, u64)>,
}

#[cfg(unix)]
impl SocketFile {
    fn of(path: &Path) -> SocketFile {
        let identity = SocketFile::identity(path);
        let path = path.to_owned();
        SocketFile { path, identity }
    }

    fn identity(path: &Path) -> Option<(u64, u64)> {
        use std::os::unix::fs::MetadataExt;

        let file = path.symlink_metadata().ok()?;
        Some((file.dev(), file.ino()))
    }

    /// Removes the file, unless another server has put its own in the place. While the socket is open no other file has its inode.
    fn remove(&self) {
        if self.identity.is_some() && SocketFile::identity(&self.path) == self.identity {
            // The file may be gone meanwhile.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// What each connection begins with.
struct Connections<'a> {
    routes: Arc<Routes>,
    lasting: &'a Lasting,
    /// Each carries a connection; those that are left are cut off when this is dropped.
    tasks: JoinSet<()>,
    patience: Duration,
    #[cfg(feature = "tls")]
    tls: Option<tokio_rustls::TlsAcceptor>,
}

impl Drop for Connections<'_> {
    fn drop(&mut self) {
        // Sockets and links outlive the requests by which they came: also where the server ends by an error, or is dropped.
        self.lasting.tell(Stage::Cut);
    }
}

impl Connections<'_> {
    fn begin(&mut self, stream: Box<dyn Stream>, peer: Option<IpAddr>, place: Ticket) {
        let leniency = Leniency::default();
        let held = Held::new(place, leniency.clone());
        let meter = Arc::new(LinkMeter::default());
        let stream = Metered::new(stream, Arc::clone(&meter));
        let conversation = Conversation {
            routes: Arc::clone(&self.routes),
            arrival: Arc::new(Arrival::new(peer, held.clone(), meter)),
            leniency,
            lasts: self.lasting.begin(),
            patience: self.patience,
        };
        #[cfg(feature = "tls")]
        let tls = self.tls.clone();
        let task = self.tasks.spawn(async move {
            #[cfg(feature = "tls")]
            if let Some(tls) = tls {
                let mut conversation = conversation;
                let greeting = tokio::time::timeout(conversation.patience, tls.accept(stream));
                let greeted = tokio::select! {
                    greeted = greeting => greeted,
                    // No call has come.
                    () = conversation.lasts.reached(Stage::Stopping) => return,
                };
                match greeted {
                    Ok(Ok(stream)) => conversation.carry(stream).await,
                    Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
                    Err(_) => tracing::debug!("a TLS handshake took too long"),
                }
                return;
            }
            conversation.carry(stream).await;
        });
        held.carried_by(task);
    }
}

/// What answers the requests of one connection.
struct Answering {
    routes: Arc<Routes>,
    arrival: Arc<Arrival>,
}

/// One connection, whose stream is ready for the first request.
struct Conversation {
    routes: Arc<Routes>,
    arrival: Arc<Arrival>,
    leniency: Leniency,
    /// A stop waits for it.
    lasts: Lasts,
    patience: Duration,
}

impl Conversation {
    /// Carries it until one of the two sides ends it.
    async fn carry(mut self, stream: impl Stream) {
        let patience = self.patience;
        let stream = Patient::new(stream, patience, self.leniency);
        let under_way = UnderWay::new(patience);
        let answering = Arc::new(Answering {
            routes: self.routes,
            arrival: self.arrival,
        });
        let coming = under_way.clone();
        // A function, whose future has its place in the connection: a box for each request would be too large to come cheaply.
        let answering = service_fn(move |request: hyper::Request<Incoming>| {
            let under_way = coming.came(request.version());
            let answering = Arc::clone(&answering);
            let mut request = Unread::of(request);
            async move {
                let Answering { routes, arrival } = &*answering;
                let answer = routes.respond(&mut request, Some(arrival)).await;
                Ok::<Response, Infallible>(match under_way {
                    Some(request) => request.answered(answer),
                    None => answer,
                })
            }
        });
        let mut builder = Builder::new(Streams);
        builder
            .http1()
            .timer(HeadTimer::new())
            .header_read_timeout(patience)
            .max_buf_size(MOST_HEADER_BYTES);
        builder
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(patience)
            .keep_alive_timeout(patience)
            .max_concurrent_streams(MOST_STREAMS)
            .max_header_list_size(MOST_HEADER_BYTES as u32);
        let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), answering);
        let mut connection = pin!(connection);
        let (carrying, resting) = (Branch::new(), Branch::new());
        let last_wait = {
            // It goes with this block: one that is polled no more would be told of a flood in place of the next one.
            let over = pin!(under_way.over(patience));
            tokio::select! {
                biased;
                ended = carrying.run(connection.as_mut()) => return tell_end(ended),
                () = self.lasts.reached(Stage::Stopping) => patience,
                end = resting.run(over) => match end {
                    ConnectionEnd::Idle => patience.min(LONGEST_GOODBYE),
                    ConnectionEnd::Stalled | ConnectionEnd::Flooded => return tell_cut(end),
                },
            }
        };
        // It takes no more requests, and ends when those that have come are answered.
        connection.as_mut().graceful_shutdown();
        tokio::select! {
            biased;
            ended = carrying.run(connection) => tell_end(ended),
            end = under_way.over(last_wait) => tell_cut(end),
        }
    }
}

fn tell_end(ended: Result<(), Box<dyn std::error::Error + Send + Sync>>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended");
    }
}

fn tell_cut(end: ConnectionEnd) {
    match end {
        ConnectionEnd::Idle => tracing::debug!("a connection was cut off: nothing is asked for"),
        ConnectionEnd::Stalled => {
            tracing::debug!("a connection was cut off: its client does not let an answer come");
        }
        ConnectionEnd::Flooded => {
            tracing::debug!("a connection was cut off: its client takes back too many requests");
        }
    }
}

/// How long a client that asks for nothing has to take the goodbye, and to answer it.
const LONGEST_GOODBYE: Duration = Duration::from_secs(1);

/// Bytes of the headers of a request, at most.
const MOST_HEADER_BYTES: usize = 64 << 10;

/// Requests at the same time in one connection of HTTP/2, at most.
const MOST_STREAMS: u32 = 100;

/// How long no connection is accepted where the system has no room for one.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Tells of connections that are refused, now and then: there may be thousands in a second.
#[derive(Debug, Default)]
struct Refusals {
    told: Option<Instant>,
    since_then: u64,
}

impl Refusals {
    /// So long it says nothing again.
    const PAUSE: Duration = Duration::from_secs(10);

    fn tell(&mut self, peer: Option<IpAddr>) {
        self.since_then += 1;
        if self
            .told
            .is_some_and(|told| told.elapsed() < Refusals::PAUSE)
        {
            return;
        }
        let refused = std::mem::take(&mut self.since_then);
        self.told = Some(Instant::now());
        tracing::warn!(
            refused,
            ?peer,
            "connections were refused: there are too many"
        );
    }
}

/// Says that there are too many connections, and closes this one.
fn refuse(mut stream: Box<dyn Stream>) {
    const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\n\
        content-type: text/plain\r\ncontent-length: 40\r\n\r\ntoo many connections; try again shortly\n";
    tokio::spawn(async move {
        let said = async {
            let _ = stream.write_all(BUSY).await;
            let _ = stream.shutdown().await;
        };
        let _ = tokio::time::timeout(Duration::from_secs(1), said).await;
    });
}
