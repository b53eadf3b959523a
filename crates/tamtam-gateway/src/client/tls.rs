//! TLS of the client, for calls and WebSockets alike.

use std::io;
use std::sync::Arc;

use hyper_rustls::ConfigBuilderExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::ServerName;

/// The other side, as it has to show itself.
pub(super) struct Tls {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl Tls {
    /// As this configuration trusts; nothing if the host is no name and no address.
    pub(super) fn new(mut config: ClientConfig, host: &str) -> Option<Tls> {
        if config.alpn_protocols.is_empty() {
            // HTTP/1.1, by which WebSockets begin, too.
            config.alpn_protocols = vec![b"http/1.1".to_vec()];
        }
        let host = host.trim_start_matches('[').trim_end_matches(']');
        Some(Tls {
            connector: TlsConnector::from(Arc::new(config)),
            name: ServerName::try_from(host.to_owned()).ok()?,
        })
    }

    pub(super) async fn connect(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        self.connector.connect(self.name.clone(), stream).await
    }
}

/// What trusts as the system does.
pub(super) fn of_the_system() -> io::Result<ClientConfig> {
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    Ok(builder.with_native_roots()?.with_no_client_auth())
}
