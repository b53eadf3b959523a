//! Who calls.

use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use crate::Fault;
use crate::trace::Trace;

/// Who may call: an error is the fault that the caller gets.
pub(crate) type Authorize = Arc<dyn Fn(&Caller) -> Result<(), Fault> + Send + Sync>;

/// Who calls: from where, by which protocol, with which credentials.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Caller, Fault, Service};
///
/// let service = Service::new("Kit").blocking("erase", |_: ()| Ok::<_, Fault>(()));
/// let service = service.authorize(|caller: &Caller| match caller.bearer() {
///     Some("let me in") => Ok(()),
///     Some(_) => Err(Fault::forbidden("this token opens nothing")),
///     None => Err(Fault::unauthenticated("send a bearer token")),
/// });
/// # drop(service);
/// ```
#[derive(Clone)]
pub struct Caller {
    pub(crate) protocol: Protocol,
    pub(crate) peer: Option<IpAddr>,
    pub(crate) bearer: Option<String>,
    pub(crate) credentials: Option<(String, String)>,
    pub(crate) only_safe: bool,
    pub(crate) trace: Trace,
    /// When the first of the request's calls began: the time of all of them begins then.
    pub(crate) begun: OnceLock<Instant>,
}

/// By which protocol a call came.
///
/// # Examples
///
/// ```
/// assert_eq!(tamtam_gateway::Protocol::JsonRpc.name(), "json-rpc");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Protocol {
    /// JSON-RPC 2.0, at `/jsonrpc`.
    JsonRpc,
    /// XML-RPC, at `/xmlrpc`.
    XmlRpc,
    /// A URL for each method, at `/rest/SERVICE/METHOD`.
    Rest,
    /// AMF0 and AMF3, at `/amf`.
    Amf,
    /// JSON-RPC 2.0 over a WebSocket, at `/socket`.
    WebSocket,
    /// Events of a server, at `/events/NAME`.
    Events,
    /// A link of actors over a WebSocket, at `/link/NAME`.
    Link,
}

impl Protocol {
    /// How many there are; each one as a number is less.
    pub(crate) const COUNT: usize = Protocol::Link as usize + 1;

    /// Its name: `json-rpc`, `xml-rpc`, `rest`, `amf`, `web-socket`, `events`, `link`.
    pub const fn name(self) -> &'static str {
        match self {
            Protocol::JsonRpc => "json-rpc",
            Protocol::XmlRpc => "xml-rpc",
            Protocol::Rest => "rest",
            Protocol::Amf => "amf",
            Protocol::WebSocket => "web-socket",
            Protocol::Events => "events",
            Protocol::Link => "link",
        }
    }
}

impl Caller {
    pub(crate) fn new(protocol: Protocol, peer: Option<IpAddr>) -> Caller {
        Caller {
            protocol,
            peer,
            bearer: None,
            credentials: None,
            only_safe: false,
            trace: Trace::default(),
            begun: OnceLock::new(),
        }
    }

    /// By which protocol it calls.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// From where; nothing over a Unix socket. Behind a trusted proxy ([`Gateway::trusted_proxy`](crate::Gateway::trusted_proxy))
    /// from where that says.
    pub fn peer(&self) -> Option<IpAddr> {
        self.peer
    }

    /// The token of the header `Authorization: Bearer TOKEN`, or of the method `authenticate` on a WebSocket; of a
    /// link also of the subprotocol `tamtam-bearer.TOKEN`, the token in Base64 for URLs.
    pub fn bearer(&self) -> Option<&str> {
        self.bearer.as_deref()
    }

    /// Name and password: of the header `Authorization: Basic`, of AMF's header `Credentials`, or of a login of Flex.
    pub fn credentials(&self) -> Option<(&str, &str)> {
        let (name, password) = self.credentials.as_ref()?;
        Some((name, password))
    }
}

/// Without what is secret.
impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller")
            .field("protocol", &self.protocol)
            .field("peer", &self.peer)
            .field("has_token", &self.bearer.is_some())
            .field("has_credentials", &self.credentials.is_some())
            .finish()
    }
}

/// A check that lets those pass who send this token as `Authorization: Bearer TOKEN`; by AMF, whose clients in Flash can set no such
/// header, also as the password of whatever name.
///
/// How long it takes says nothing of where a wrong token differs. An empty token lets no caller pass: it is that of a variable that was not
/// set.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Gateway, bearer};
///
/// let gateway = Gateway::new().authorize(bearer("let me in"));
/// # drop(gateway);
/// ```
pub fn bearer(token: impl Into<String>) -> impl Fn(&Caller) -> Result<(), Fault> + Send + Sync {
    let token = token.into();
    if token.is_empty() {
        tracing::error!("the token that is asked for is empty: no caller may");
    }
    move |caller| {
        let is_amf = caller.protocol() == Protocol::Amf;
        let credentials = caller.credentials().filter(|_| is_amf);
        let password = credentials.map(|(_, password)| password);
        let sent = [caller.bearer(), password];
        let is_right = |sent: &str| is_equal(sent.as_bytes(), token.as_bytes());
        let reason = match sent.into_iter().flatten().map(is_right).max() {
            Some(_) if token.is_empty() => "no token is right here",
            Some(true) => return Ok(()),
            Some(false) => "the token is wrong",
            None if is_amf => {
                "send the token as `Authorization: Bearer TOKEN`, or as the password of a login"
            }
            None => "send the token as `Authorization: Bearer TOKEN`",
        };
        Err(Fault::unauthenticated(reason))
    }
}

/// Compares digests, whose bytes no sender can steer.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    use std::hash::BuildHasher;

    // A key that is drawn anew at each start.
    static KEY: std::sync::LazyLock<std::hash::RandomState> =
        std::sync::LazyLock::new(Default::default);
    KEY.hash_one(one) == KEY.hash_one(other) && one == other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_token_lets_no_caller_pass() {
        let mut caller = Caller::new(Protocol::Rest, None);
        for (token, sent, passes) in [
            ("t", "t", true),
            ("t", "u", false),
            ("", "", false),
            ("t", "", false),
        ] {
            caller.bearer = Some(sent.to_owned());
            assert_eq!(bearer(token)(&caller).is_ok(), passes, "{token:?} {sent:?}");
        }
    }
}
