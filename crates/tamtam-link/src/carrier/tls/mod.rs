//! A carrier between machines: TCP under TLS 1.3, in which each side proves by a certificate which program it is.

mod failure;
mod halves;
mod handshake;
mod identity;

use std::fmt;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::version::TLS13;
use rustls::{ClientConfig, ClientConnection, ServerConfig, ServerConnection};

use self::failure::{failure, invalid};
use self::halves::{Ciphertext, Decrypting, Encrypting, Ending, Line};
use self::handshake::Handshake;
pub use self::identity::{Authorities, Identity, PeerCertificate};
use crate::carrier::carry_bytes;
#[cfg(unix)]
use crate::carrier::has_closed;
use crate::carrier::outlet::Stream;
use crate::link::{Link, LinkBuilder};

/// What both sides say that they speak under TLS, so that a certificate for something else leads nowhere.
const PROTOCOL: &[u8] = b"tamtam-link";
/// How long a handshake may take, at most.
const LONGEST_HANDSHAKE: Duration = Duration::from_secs(3600);

/// Makes links between machines, over TCP under TLS 1.3. Both sides present a certificate, and there is no way to do without.
///
/// An old session is never resumed: each link looks at the certificates afresh. Revocation lists are not read, so certificates
/// should be short-lived; a `Tls` with new ones is made when they come.
///
/// # Examples
///
/// ```
/// use std::net::{TcpListener, TcpStream};
///
/// use tamtam_actor::{Address, Pool, Reply};
/// use tamtam_link::Link;
/// use tamtam_link::carrier::{Authorities, Identity, Tls};
///
/// # let mut authority = rcgen::CertificateParams::new([])?;
/// # authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
/// # let authority = rcgen::CertifiedIssuer::self_signed(authority, rcgen::KeyPair::generate()?)?;
/// # let authority_pem = authority.pem();
/// # let made = |name: &str| {
/// #     let key = rcgen::KeyPair::generate()?;
/// #     let params = rcgen::CertificateParams::new([name.to_owned()])?;
/// #     Ok::<_, rcgen::Error>((params.signed_by(&key, &authority)?.pem(), key.serialize_pem()))
/// # };
/// # let (server_pem, server_key) = made("images.example")?;
/// # let (client_pem, client_key) = made("shop.example")?;
/// # let authorities = Authorities::from_pem(&authority_pem)?;
/// # let listener = TcpListener::bind("127.0.0.1:0")?;
/// # let place = listener.local_addr()?;
/// // One machine offers an actor ..
/// let tls = Tls::new(Identity::from_pem(server_pem, server_key)?, &authorities)?;
/// let pool = Pool::new();
/// let doubler = pool.spawn_fn(|(n, reply): (u32, Reply<u32>), _| reply.send(2 * n));
/// let offering = std::thread::spawn(move || {
///     let connection = tls.accept(listener.accept()?.0)?;
///     // Which program it is decides what it may reach.
///     assert!(connection.peer().is_named("shop.example"));
///     connection.link(Link::builder().root(&doubler))
/// });
///
/// // .. and the other one asks it.
/// let tls = Tls::new(Identity::from_pem(client_pem, client_key)?, &authorities)?;
/// let connection = tls.connect(TcpStream::connect(place)?, "images.example")?;
/// let link = connection.link(Link::builder())?;
/// let far: Address<(u32, Reply<u32>)> = link.root();
/// assert_eq!(far.ask(|reply| (21, reply))?, 42);
/// # offering.join().unwrap()?;
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone)]
pub struct Tls {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
    limit: Duration,
}

/// A connection whose other side has proved which program it is, before there is a link. Dropped, it refuses that program.
///
/// # Examples
///
/// ```no_run
/// use tamtam_link::carrier::{Authorities, Identity, Tls};
/// use tamtam_link::{Link, LinkBuilder};
///
/// # fn builder_of_the_shop() -> LinkBuilder { Link::builder() }
/// # fn main() -> std::io::Result<()> {
/// let identity = Identity::from_files("images.pem", "images.key")?;
/// let tls = Tls::new(identity, &Authorities::from_file("authority.pem")?)?;
/// for socket in std::net::TcpListener::bind("0.0.0.0:7700")?.incoming() {
///     let (socket, tls) = (socket?, tls.clone());
///     // A handshake waits for the other machine, so it has a thread of its own.
///     std::thread::spawn(move || {
///         let connection = tls.accept(socket)?;
///         if connection.peer().is_named("shop.example") {
///             connection.link(builder_of_the_shop())?;
///         }
///         std::io::Result::Ok(())
///     });
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "dropped, it refuses the other side"]
pub struct TlsConnection {
    line: Arc<Line>,
    ciphertext: Ciphertext,
    peer: PeerCertificate,
    ending: Ending,
}

impl Tls {
    /// Links of this program with those whose certificates come from these authorities.
    ///
    /// # Errors
    ///
    /// If the key is not that of the certificate, or of a kind that TLS 1.3 does not have.
    pub fn new(identity: Identity, authorities: &Authorities) -> io::Result<Self> {
        let Identity { chain, key } = identity;
        let wrong = |error: &dyn fmt::Display| {
            invalid(format!(
                "the certificate and its key cannot be used: {error}"
            ))
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let roots = Arc::clone(&authorities.roots);
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::clone(&roots), Arc::clone(&provider))
                .build()
                .map_err(|error| invalid(format!("the authorities cannot be used: {error}")))?;
        let mut server = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13])
            .map_err(|error| wrong(&error))?
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain.clone(), key.clone_key())
            .map_err(|error| wrong(&error))?;
        server.alpn_protocols = vec![PROTOCOL.to_vec()];
        server.session_storage = Arc::new(NoServerSessionStorage {});
        server.send_tls13_tickets = 0;
        let mut client = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .map_err(|error| wrong(&error))?
            .with_root_certificates(roots)
            .with_client_auth_cert(chain, key)
            .map_err(|error| wrong(&error))?;
        client.alpn_protocols = vec![PROTOCOL.to_vec()];
        client.resumption = Resumption::disabled();
        Ok(Self {
            client: Arc::new(client),
            server: Arc::new(server),
            limit: Duration::from_secs(10),
        })
    }

    /// How long a handshake may take as a whole, whatever the other side does: 10 seconds unless it is said, and an hour at most.
    #[must_use]
    pub fn handshake_limit(mut self, limit: Duration) -> Self {
        self.limit = limit.min(LONGEST_HANDSHAKE);
        self
    }

    /// The handshake of the side that has connected. `name` is that of the other side, as its certificate has it: of a host, or an
    /// address.
    ///
    /// It ends when the other side has accepted this program's certificate and [begun its link](TlsConnection::link).
    ///
    /// # Blocking
    ///
    /// Waits for the other side, as long as [`handshake_limit`](Self::handshake_limit) says.
    ///
    /// # Errors
    ///
    /// Those of the socket; and, in words that say what to do:
    ///
    /// - [`PermissionDenied`](io::ErrorKind::PermissionDenied): a side does not accept the other one's certificate;
    /// - [`InvalidData`](io::ErrorKind::InvalidData): the other side does not speak TLS 1.3, or is no link;
    /// - [`TimedOut`](io::ErrorKind::TimedOut): it took too long;
    /// - [`UnexpectedEof`](io::ErrorKind::UnexpectedEof): the other side has closed the connection;
    /// - [`InvalidInput`](io::ErrorKind::InvalidInput): `name` is none.
    pub fn connect(&self, socket: TcpStream, name: &str) -> io::Result<TlsConnection> {
        let server = ServerName::try_from(name.to_owned()).map_err(|_| {
            invalid(format!(
                "{name:?} is neither the name of a host nor an address"
            ))
        })?;
        let connection =
            ClientConnection::new(Arc::clone(&self.client), server).map_err(|e| failure(&e))?;
        let mut handshake = Handshake::new(socket, connection.into(), self.limit)?;
        let done = handshake.run().and_then(|()| handshake.wait_for_link());
        handshake.end(done)
    }

    /// The handshake of the side that listens: with a socket that was accepted.
    ///
    /// # Blocking
    ///
    /// Waits for the other side, as long as [`handshake_limit`](Self::handshake_limit) says: not on the thread that accepts others.
    ///
    /// # Errors
    ///
    /// As those of [`connect`](Self::connect).
    pub fn accept(&self, socket: TcpStream) -> io::Result<TlsConnection> {
        let connection =
            ServerConnection::new(Arc::clone(&self.server)).map_err(|e| failure(&e))?;
        let mut handshake = Handshake::new(socket, connection.into(), self.limit)?;
        let done = handshake.run();
        handshake.end(done)
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

impl TlsConnection {
    /// The certificate of the program at the other side.
    #[must_use]
    pub fn peer(&self) -> &PeerCertificate {
        &self.peer
    }

    /// A link over this connection.
    ///
    /// # Errors
    ///
    /// If the system has no thread, or the socket is gone.
    pub fn link(self, builder: LinkBuilder) -> io::Result<Link> {
        self.line.socket.set_read_timeout(None)?;
        self.line.socket.set_write_timeout(None)?;
        let read = Decrypting {
            line: Arc::clone(&self.line),
            ciphertext: self.ciphertext,
        };
        let cut = Arc::clone(&self.line);
        #[cfg(unix)]
        let is_gone = {
            let line = Arc::clone(&self.line);
            move || has_closed(&line.socket)
        };
        #[cfg(not(unix))]
        let is_gone = || false;
        let write = Encrypting {
            line: self.line,
            _ending: self.ending,
        };
        let close = move || {
            let _ = cut.socket.shutdown(Shutdown::Both);
        };
        carry_bytes(builder, read, is_gone, Stream(write), close)
    }
}

impl fmt::Debug for TlsConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsConnection")
            .field("socket", &self.line.socket)
            .field("peer", &self.peer)
            .finish_non_exhaustive()
    }
}
