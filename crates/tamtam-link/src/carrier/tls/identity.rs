//! Which program is at an end of a link: certificates, their keys, and the authorities that they come from.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{Connection, Error, RootCertStore};
use webpki::EndEntityCert;

use super::failure::{at, failure, invalid};

/// Which program this is: its certificate, with those that lead from it to the authority, and the certificate's key.
///
/// # Examples
///
/// ```
/// use tamtam_link::carrier::Identity;
///
/// let made = rcgen::generate_simple_self_signed(["resizer.example".to_owned()])?;
/// let identity = Identity::from_pem(made.cert.pem(), made.signing_key.serialize_pem())?;
/// // The key is shown nowhere.
/// assert_eq!(format!("{identity:?}"), "Identity { certificates: 1, .. }");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Identity {
    pub(super) chain: Vec<CertificateDer<'static>>,
    pub(super) key: PrivateKeyDer<'static>,
}

/// Those from whom the other side's certificate has to come: certificates of authorities.
///
/// Each program that has a certificate of one of them can be the other side of a link. So they are authorities of one's own, made
/// for these programs; with one that gives certificates to the public, the [peer's names](super::TlsConnection::peer) have to
/// decide.
///
/// # Examples
///
/// ```
/// use tamtam_link::carrier::Authorities;
///
/// let made = rcgen::generate_simple_self_signed(["authority.example".to_owned()])?;
/// let authorities = Authorities::from_pem(made.cert.pem())?;
/// # drop(authorities);
/// // None is a mistake, and not an authority that trusts all.
/// assert!(Authorities::from_pem("").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Authorities {
    pub(super) roots: Arc<RootCertStore>,
}

/// The certificate of a program at the other side: it comes from a trusted authority, is valid today, and that program has its key.
///
/// # Examples
///
/// ```
/// use tamtam_link::carrier::PeerCertificate;
///
/// fn is_of_our_shop(peer: &PeerCertificate) -> bool {
///     peer.is_named("shop.example") || peer.is_named("spiffe://example/shop")
/// }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct PeerCertificate {
    der: CertificateDer<'static>,
    names: Vec<String>,
}

impl Identity {
    /// From texts in PEM: the certificate, behind it those between it and the authority; and the key (PKCS 8, SEC 1 or PKCS 1).
    ///
    /// # Errors
    ///
    /// If one of them is not in it, or not as PEM has it.
    pub fn from_pem(chain: impl AsRef<[u8]>, key: impl AsRef<[u8]>) -> io::Result<Self> {
        let chain = certificates(chain.as_ref())?;
        let key = PrivateKeyDer::from_pem_slice(key.as_ref()).map_err(|error| {
            invalid(format!(
                "no private key can be read from the PEM ({error}): it has to be there, and not encrypted"
            ))
        })?;
        Ok(Self { chain, key })
    }

    /// From files in PEM, as [`from_pem`](Self::from_pem) has them. Both may be one file.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or what has to be in it is not.
    pub fn from_files(chain: impl AsRef<Path>, key: impl AsRef<Path>) -> io::Result<Self> {
        let (chain, key) = (chain.as_ref(), key.as_ref());
        let place = format!("{} and {}", chain.display(), key.display());
        Self::from_pem(contents(chain)?, contents(key)?).map_err(|error| at(&place, error))
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity")
            .field("certificates", &self.chain.len())
            .finish_non_exhaustive()
    }
}

impl Authorities {
    /// From a text in PEM, with one certificate or more.
    ///
    /// # Errors
    ///
    /// If there is none, or one that cannot be that of an authority.
    pub fn from_pem(pem: impl AsRef<[u8]>) -> io::Result<Self> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates(pem.as_ref())? {
            roots.add(certificate).map_err(|error| {
                invalid(format!(
                    "a certificate is not that of an authority: {error}"
                ))
            })?;
        }
        Ok(Self {
            roots: Arc::new(roots),
        })
    }

    /// From a file in PEM, as [`from_pem`](Self::from_pem) has it.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or what has to be in it is not.
    pub fn from_file(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let place = path.display().to_string();
        Self::from_pem(contents(path)?).map_err(|error| at(&place, error))
    }
}

impl fmt::Debug for Authorities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorities")
            .field("certificates", &self.roots.len())
            .finish()
    }
}

impl PeerCertificate {
    pub(super) fn of(connection: &Connection) -> io::Result<Self> {
        // There is one: both configurations demand it.
        let chain = connection.peer_certificates().unwrap_or_default();
        let Some(der) = chain.first() else {
            return Err(failure(&Error::NoCertificatesPresented));
        };
        let certificate =
            EndEntityCert::try_from(der).map_err(|error| invalid(error.to_string()))?;
        let hosts = certificate.valid_dns_names().map(str::to_lowercase);
        let uris = certificate.valid_uri_names().map(str::to_owned);
        Ok(Self {
            names: hosts.chain(uris).collect(),
            der: der.clone().into_owned(),
        })
    }

    /// The names of hosts, in small letters, and the URIs that the certificate is for. The common name is none of them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Whether the certificate is for exactly this name of a host, URI or IP address. One for all hosts of a domain (`*.example`) is
    /// for none of them by this.
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        if let Ok(address) = name.parse::<IpAddr>() {
            let address = ServerName::IpAddress(address.into());
            return EndEntityCert::try_from(&self.der).is_ok_and(|certificate| {
                certificate
                    .verify_is_valid_for_subject_name(&address)
                    .is_ok()
            });
        }
        // Names of hosts have no colon, URIs have one; only the former are the same in capitals.
        let is_host = !name.contains(':');
        self.names()
            .any(|own| own == name || is_host && own == name.to_lowercase())
    }

    /// The certificate itself, in DER.
    #[must_use]
    pub fn der(&self) -> &[u8] {
        &self.der
    }
}

impl fmt::Debug for PeerCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PeerCertificate")
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

fn certificates(pem: &[u8]) -> io::Result<Vec<CertificateDer<'static>>> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let all = all.map_err(|error| invalid(format!("what should be PEM is not: {error}")))?;
    if all.is_empty() {
        return Err(invalid("no certificate is in the PEM".to_owned()));
    }
    Ok(all)
}

fn contents(path: &Path) -> io::Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| at(&path.display().to_string(), error))
}
