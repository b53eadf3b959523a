//! Certificates of programs, right and wrong, made at test time.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig, SupportedProtocolVersion};
use tamtam_link::carrier::{Authorities, Identity, Tls};

pub(super) const SERVER: &str = "images.example";
pub(super) const CLIENT: &str = "shop.example";

pub(super) type Authority = CertifiedIssuer<'static, KeyPair>;

/// The one that all trust.
pub(super) static AUTHORITY: LazyLock<Authority> = LazyLock::new(|| authority("ours"));
/// One that none trusts.
pub(super) static OTHER_AUTHORITY: LazyLock<Authority> = LazyLock::new(|| authority("another"));

static OUR_SERVER: LazyLock<Tls> = LazyLock::new(|| tls(&Program::new(SERVER)));
static OUR_CLIENT: LazyLock<Tls> = LazyLock::new(|| tls(&Program::new(CLIENT)));

/// The program that listens; its handshake ends by itself, or the test hangs.
pub(super) fn server() -> Tls {
    OUR_SERVER.clone()
}

/// The program that connects; its handshake ends by itself, or the test hangs.
pub(super) fn client() -> Tls {
    OUR_CLIENT.clone()
}

pub(super) fn tls(program: &Program) -> Tls {
    Tls::new(program.identity(), &authorities())
        .unwrap()
        .handshake_limit(Duration::from_secs(3600))
}

pub(super) fn authorities() -> Authorities {
    Authorities::from_pem(AUTHORITY.pem()).unwrap()
}

fn authority(name: &str) -> Authority {
    let mut params = CertificateParams::new([]).unwrap();
    let name_of = &mut params.distinguished_name;
    name_of.push(rcgen::DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A certificate, and its key.
pub(super) struct Program {
    pub(super) certificate: rcgen::Certificate,
    pub(super) key: KeyPair,
}

impl Program {
    /// As it should be.
    pub(super) fn new(name: &str) -> Self {
        Self::with(&AUTHORITY, name, |_| {})
    }

    pub(super) fn with(
        authority: &Authority,
        name: &str,
        change: impl FnOnce(&mut CertificateParams),
    ) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        change(&mut params);
        let certificate = params.signed_by(&key, authority).unwrap();
        Self { certificate, key }
    }

    pub(super) fn self_signed(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new([name.to_owned()]).unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Self { certificate, key }
    }

    pub(super) fn identity(&self) -> Identity {
        Identity::from_pem(self.certificate.pem(), self.key.serialize_pem()).unwrap()
    }

    fn parts(&self) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        let key = PrivateKeyDer::try_from(self.key.serialize_der()).unwrap();
        (vec![self.certificate.der().clone()], key)
    }
}

fn roots() -> Arc<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots.add(AUTHORITY.der().clone()).unwrap();
    Arc::new(roots)
}

/// A program that connects and is not ours: with or without a certificate, of this version of TLS, and with these protocols.
pub(super) fn foreign_client(
    program: Option<&Program>,
    version: &'static SupportedProtocolVersion,
    protocols: &[&[u8]],
) -> ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version])
        .unwrap()
        .with_root_certificates(roots());
    let mut config = match program.map(Program::parts) {
        Some((chain, key)) => builder.with_client_auth_cert(chain, key).unwrap(),
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    config
}

/// A program that listens and is not ours: it demands no certificate.
pub(super) fn foreign_server(
    version: &'static SupportedProtocolVersion,
    protocols: &[&[u8]],
) -> ServerConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let (chain, key) = Program::new(SERVER).parts();
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    config
}
