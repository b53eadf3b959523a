//! Another side over TLS, which reads nothing.

use std::any::Any;
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tamtam_link::carrier::{Authorities, Identity, Tls};
use tamtam_link::{Link, LinkBuilder};

use crate::unread::connected;

/// A program of this name, and of the one authority.
fn program(authority: &CertifiedIssuer<'static, KeyPair>, name: &str) -> Tls {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new([name.to_owned()]).unwrap();
    let certificate = params.signed_by(&key, authority).unwrap();
    let identity = Identity::from_pem(certificate.pem(), key.serialize_pem()).unwrap();
    Tls::new(identity, &Authorities::from_pem(authority.pem()).unwrap()).unwrap()
}

/// The link of the side that listens. The other one has let this program in, and reads nothing of its link.
pub(crate) fn unread(builder: LinkBuilder) -> (Link, Box<dyn Any + Send>, usize) {
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let here = program(&authority, "here.example");
    let there = program(&authority, "there.example");
    let (connecting, listening) = connected();
    thread::scope(|scope| {
        let connecting = scope.spawn(move || there.connect(connecting, "here.example").unwrap());
        let link = here.accept(listening).unwrap().link(builder).unwrap();
        (link, Box::new(connecting.join().unwrap()) as Box<_>, 1)
    })
}
