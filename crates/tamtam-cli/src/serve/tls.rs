//! The certificate and key of HTTPS.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use tamtam_gateway::rustls::ServerConfig;
use tamtam_gateway::rustls::crypto::ring;
use tamtam_gateway::rustls::pki_types::pem::PemObject;
use tamtam_gateway::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// What these two files say.
///
/// # Errors
/// If one cannot be read, or they do not belong together.
pub(super) fn config(certificate: &Path, key: &Path) -> Result<ServerConfig> {
    let of = |path: &Path, what: &str| format!("{}: there is no {what} in PEM", path.display());
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .with_context(|| of(certificate, "certificate"))?;
    let secret = PrivateKeyDer::from_pem_file(key).with_context(|| of(key, "private key"))?;
    ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .with_context(|| {
            format!(
                "{} and {} do not belong together",
                certificate.display(),
                key.display()
            )
        })
}
