//! What has failed, in words that say what to do.

use std::io;

use rustls::{AlertDescription, CertificateError, Error, PeerIncompatible};

/// An error in words, with that of rustls behind it where the words do not repeat it.
#[derive(Debug, thiserror::Error)]
#[error("{words}")]
struct Failure {
    words: String,
    source: Option<Error>,
}

/// What is wrong with what this program gave.
pub(super) fn invalid(words: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, words)
}

/// The error, and before it where it was.
pub(super) fn at(place: &str, error: io::Error) -> io::Error {
    let (kind, words) = (error.kind(), format!("{place}: {error}"));
    let failure = error
        .into_inner()
        .and_then(|inner| inner.downcast::<Failure>().ok());
    let source = failure.and_then(|failure| failure.source);
    io::Error::new(kind, Failure { words, source })
}

/// An error of writing, which may be one of rustls.
pub(super) fn in_words(error: io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    inner.map(failure).unwrap_or(error)
}

/// What has failed between this side and the other one, which is "it".
pub(super) fn failure(error: &Error) -> io::Error {
    let (kind, words) = match error {
        Error::InvalidCertificate(why) => (io::ErrorKind::PermissionDenied, of_certificate(why)),
        Error::NoCertificatesPresented => (
            io::ErrorKind::PermissionDenied,
            Some(
                "it has presented no certificate: both sides of a link need one, of an authority that the other one trusts"
                    .to_owned(),
            ),
        ),
        Error::AlertReceived(alert) => of_alert(*alert),
        Error::PeerIncompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13
            | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
            | PeerIncompatible::SupportedVersionsExtensionRequired
            | PeerIncompatible::Tls12NotOffered
            | PeerIncompatible::Tls12NotOfferedOrEnabled,
        ) => (io::ErrorKind::InvalidData, Some(OLD.to_owned())),
        Error::NoApplicationProtocol => (io::ErrorKind::InvalidData, Some(NO_LINK.to_owned())),
        Error::InvalidMessage(_)
        | Error::InappropriateMessage { .. }
        | Error::InappropriateHandshakeMessage { .. } => (
            io::ErrorKind::InvalidData,
            Some("what it sends is not TLS as it should be here: is it an end of a link, and over TLS?".to_owned()),
        ),
        Error::DecryptError => (
            io::ErrorKind::InvalidData,
            Some("what has come is not what the other side has sent: it was changed on its way".to_owned()),
        ),
        _ => (io::ErrorKind::InvalidData, None),
    };
    let failure = match words {
        Some(words) => Failure {
            words,
            source: Some(error.clone()),
        },
        None => Failure {
            words: format!("TLS has failed: {error}"),
            source: None,
        },
    };
    io::Error::new(kind, failure)
}

const OLD: &str = "it does not speak TLS 1.3, and a link speaks nothing older";
const NO_LINK: &str = "it speaks TLS, but is no end of a link: is it the right port, and does it name the protocol `tamtam-link` (ALPN)?";

/// Why this side does not accept the other one's certificate.
fn of_certificate(why: &CertificateError) -> Option<String> {
    let words = match why {
        CertificateError::UnknownIssuer => {
            "its certificate comes from no authority that this side trusts: it needs one of theirs, or its authority is to be added here"
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "its certificate has expired: it needs a new one, unless the clock of this machine is wrong"
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet: the clock of this machine, or of that which made it, is wrong"
        }
        CertificateError::NotValidForNameContext {
            expected,
            presented,
        } => {
            return Some(format!(
                "its certificate is not for {:?}, but for {}: it is another program, or the name to connect to is one of these",
                expected.to_str(),
                presented.join(", "),
            ));
        }
        CertificateError::NotValidForName => {
            "its certificate is not for the name that this side connects to: it is another program"
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "its certificate is for another purpose: one that names any (extended key usage) has to name `clientAuth` to connect, and `serverAuth` to accept"
        }
        _ => return None,
    };
    Some(words.to_owned())
}

/// What the other side has told before it broke off.
fn of_alert(alert: AlertDescription) -> (io::ErrorKind, Option<String>) {
    let refused = io::ErrorKind::PermissionDenied;
    let (kind, words) = match alert {
        AlertDescription::UnknownCA => (
            refused,
            "it does not trust the authority from which this program's certificate comes: add that authority there, or take a certificate of one that it trusts",
        ),
        AlertDescription::CertificateExpired => (
            refused,
            "it says that this program's certificate has expired, or is not valid yet: take a new one, unless the clock of that machine is wrong",
        ),
        AlertDescription::CertificateRequired => (
            refused,
            "it demands a certificate and has got none: this program's is of a kind that it does not know",
        ),
        AlertDescription::UnsupportedCertificate => (
            refused,
            "it says that this program's certificate is for another purpose: one that names any (extended key usage) has to name `clientAuth` to connect, and `serverAuth` to accept",
        ),
        AlertDescription::BadCertificate
        | AlertDescription::CertificateRevoked
        | AlertDescription::CertificateUnknown
        | AlertDescription::AccessDenied => {
            return (
                refused,
                Some(format!(
                    "it does not accept this program's certificate ({alert:?}): is it for the name that the other side connects to?"
                )),
            );
        }
        AlertDescription::ProtocolVersion => (io::ErrorKind::InvalidData, OLD),
        AlertDescription::NoApplicationProtocol => (io::ErrorKind::InvalidData, NO_LINK),
        _ => return (io::ErrorKind::InvalidData, None),
    };
    (kind, Some(words.to_owned()))
}
