//! What a client is told when a call fails.

use std::fmt;

use crate::Value;

/// What a client is told when a call fails: a code, a description, and perhaps a detail.
///
/// What a handler says in it is all that leaves the server: no trace, no text of another error. Each protocol has its own
/// form for it; see [`FaultKind`].
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Fault, FaultKind, Value};
///
/// let fault = Fault::new("Tiles.NoSuchSet", "there is no set 7").detail(Value::Int(7));
/// assert_eq!(fault.kind(), FaultKind::Application);
/// assert_eq!(fault.to_string(), "Tiles.NoSuchSet: there is no set 7");
/// ```
#[derive(Clone, PartialEq)]
pub struct Fault(Box<Parts>);

#[derive(Clone, PartialEq)]
struct Parts {
    kind: FaultKind,
    code: String,
    description: String,
    detail: Option<Value>,
    number: Option<i32>,
    status: Option<u16>,
}

/// Why a call failed, as far as protocols differ about it.
///
/// | kind | code | JSON-RPC | XML-RPC | HTTP |
/// |---|---|---|---|---|
/// | `Malformed` | `Client.Malformed` | −32700 or −32600 | −32700 or −32600 | 400 |
/// | `NoMethod` | `Client.NoMethod` | −32601 | −32601 | 404 |
/// | `Arguments` | `Client.Arguments` | −32602 | −32602 | 400 |
/// | `Unauthenticated` | `Client.Authentication` | −32001 | −32001 | 401 |
/// | `Forbidden` | `Client.Authorization` | −32002 | −32002 | 403 |
/// | `TooLarge` | `Client.TooLarge` | −32003 | −32003 | 413 |
/// | `NotCarried` | `Server.NotCarried` | −32004 | −32004 | 500 |
/// | `Busy` | `Server.Busy` | −32005 | −32005 | 503 |
/// | `TimedOut` | `Server.TimedOut` | −32006 | −32006 | 504 |
/// | `Unavailable` | `Server.Unavailable` | −32007 | −32007 | 503 |
/// | `Internal` | `Server.Internal` | −32603 | −32603 | 500 |
/// | `Application` | the handler's | −32000 | −32500 | 500 |
///
/// A fault that a [`Client`](crate::Client) is told has the kind that its code has here.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Fault, FaultKind};
///
/// let error = tamtam_gateway::Value::from("x").to::<u8>().unwrap_err();
/// assert_eq!(Fault::arguments(error.to_string()).kind(), FaultKind::Arguments);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// The request is none of the protocol.
    Malformed,
    /// There is no such service, or it has no such method.
    NoMethod,
    /// The arguments are not those of the method.
    Arguments,
    /// Who calls has not said who that is.
    Unauthenticated,
    /// Who calls may not.
    Forbidden,
    /// The request, or what it holds, exceeds a limit.
    TooLarge,
    /// The protocol cannot carry the answer.
    NotCarried,
    /// There are too many calls, or a mailbox is full; the call was not begun.
    Busy,
    /// There was no answer in time.
    TimedOut,
    /// What would answer has ended.
    Unavailable,
    /// The handler panicked, or the server failed.
    Internal,
    /// What a handler says.
    Application,
}

impl Fault {
    /// A fault with a code of the application.
    pub fn new(code: impl Into<String>, description: impl Into<String>) -> Fault {
        Fault(Box::new(Parts {
            kind: FaultKind::Application,
            code: code.into(),
            description: description.into(),
            detail: None,
            number: None,
            status: None,
        }))
    }

    /// The arguments are not those of the method.
    pub fn arguments(description: impl Into<String>) -> Fault {
        Fault::of(FaultKind::Arguments, description)
    }

    /// Who calls has to say who that is.
    pub fn unauthenticated(description: impl Into<String>) -> Fault {
        Fault::of(FaultKind::Unauthenticated, description)
    }

    /// Who calls may not.
    pub fn forbidden(description: impl Into<String>) -> Fault {
        Fault::of(FaultKind::Forbidden, description)
    }

    /// The call was not begun, since there is too much to do.
    pub fn busy(description: impl Into<String>) -> Fault {
        Fault::of(FaultKind::Busy, description)
    }

    /// The call was not begun, since the answers before it in its request have as many bytes as these may have.
    pub(crate) fn batch_is_full(most_bytes: usize) -> Fault {
        let reason = format!(
            "it was not begun: the answers before it have the {most_bytes} bytes that those of one request may have; \
             call it in another one"
        );
        Fault::of(FaultKind::TooLarge, reason)
    }

    /// The call was begun, and has taken as long as it may.
    pub(crate) fn timed_out() -> Fault {
        Fault::of(FaultKind::TimedOut, "there was no answer in time")
    }

    pub(crate) fn not_begun() -> Fault {
        let reason = "it was not begun: the time for the calls of this request was over";
        Fault::of(FaultKind::TimedOut, reason)
    }

    pub(crate) fn of(kind: FaultKind, description: impl Into<String>) -> Fault {
        let mut fault = Fault::new(kind.code(), description);
        fault.0.kind = kind;
        fault
    }

    /// One that a gateway has told, with the kind that its code is of.
    pub(crate) fn told(code: impl Into<String>, description: impl Into<String>) -> Fault {
        let mut fault = Fault::new(code, description);
        fault.0.kind = FaultKind::of_code(&fault.0.code);
        fault
    }

    /// With more to tell, in whatever form the client knows.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<Value>) -> Fault {
        self.0.detail = Some(detail.into());
        self
    }

    /// With this number in JSON-RPC and XML-RPC, whose codes are numbers.
    #[must_use]
    pub fn number(mut self, number: i32) -> Fault {
        self.0.number = Some(number);
        self
    }

    /// With this status in HTTP where a call is a request of its own: 400 to 599.
    ///
    /// # Panics
    /// If it is another number.
    #[must_use]
    pub fn status(mut self, status: u16) -> Fault {
        assert!(
            (400..600).contains(&status),
            "{status} is no status of a failure"
        );
        self.0.status = Some(status);
        self
    }

    /// Why the call failed.
    pub fn kind(&self) -> FaultKind {
        self.0.kind
    }

    /// The code: `Kit.Fault`.
    pub fn code(&self) -> &str {
        &self.0.code
    }

    /// What is said of it, for people.
    pub fn description(&self) -> &str {
        &self.0.description
    }

    /// What more is told.
    pub fn get_detail(&self) -> Option<&Value> {
        self.0.detail.as_ref()
    }

    /// The code of JSON-RPC.
    pub(crate) fn json_rpc_code(&self) -> i32 {
        self.0.number.unwrap_or(match self.0.kind {
            FaultKind::Application => -32000,
            kind => kind.number(),
        })
    }

    /// The code of XML-RPC, by the convention on interoperable faults.
    pub(crate) fn xml_rpc_code(&self) -> i32 {
        self.0.number.unwrap_or(match self.0.kind {
            FaultKind::Application => -32500,
            kind => kind.number(),
        })
    }

    /// The status of HTTP.
    pub(crate) fn http_status(&self) -> u16 {
        self.0.status.unwrap_or(match self.0.kind {
            FaultKind::Malformed | FaultKind::Arguments => 400,
            FaultKind::Unauthenticated => 401,
            FaultKind::Forbidden => 403,
            FaultKind::NoMethod => 404,
            FaultKind::TooLarge => 413,
            FaultKind::Busy | FaultKind::Unavailable => 503,
            FaultKind::TimedOut => 504,
            FaultKind::NotCarried | FaultKind::Internal | FaultKind::Application => 500,
        })
    }
}

/// The protocol cannot carry what the method gave.
pub(crate) fn not_carried(error: impl fmt::Display) -> Fault {
    let reason = format!("the answer cannot be sent so: {error}");
    Fault::of(FaultKind::NotCarried, reason)
}

impl FaultKind {
    /// Those of which the gateway itself makes faults.
    const OF_GATEWAY: [FaultKind; 11] = [
        FaultKind::Malformed,
        FaultKind::NoMethod,
        FaultKind::Arguments,
        FaultKind::Unauthenticated,
        FaultKind::Forbidden,
        FaultKind::TooLarge,
        FaultKind::NotCarried,
        FaultKind::Busy,
        FaultKind::TimedOut,
        FaultKind::Unavailable,
        FaultKind::Internal,
    ];

    /// The kind of faults with this code: what is no code of the gateway is one of an application.
    fn of_code(code: &str) -> FaultKind {
        let mut kinds = FaultKind::OF_GATEWAY.into_iter();
        let found = kinds.find(|kind| kind.code() == code);
        found.unwrap_or(FaultKind::Application)
    }

    /// The code of faults of this kind that the gateway itself makes.
    pub(crate) fn code(self) -> &'static str {
        match self {
            FaultKind::Malformed => "Client.Malformed",
            FaultKind::NoMethod => "Client.NoMethod",
            FaultKind::Arguments => "Client.Arguments",
            FaultKind::Unauthenticated => "Client.Authentication",
            FaultKind::Forbidden => "Client.Authorization",
            FaultKind::TooLarge => "Client.TooLarge",
            FaultKind::NotCarried => "Server.NotCarried",
            FaultKind::Busy => "Server.Busy",
            FaultKind::TimedOut => "Server.TimedOut",
            FaultKind::Unavailable => "Server.Unavailable",
            FaultKind::Internal => "Server.Internal",
            FaultKind::Application => "Server.Application",
        }
    }

    fn number(self) -> i32 {
        match self {
            FaultKind::Malformed => -32600,
            FaultKind::NoMethod => -32601,
            FaultKind::Arguments => -32602,
            FaultKind::Internal => -32603,
            FaultKind::Unauthenticated => -32001,
            FaultKind::Forbidden => -32002,
            FaultKind::TooLarge => -32003,
            FaultKind::NotCarried => -32004,
            FaultKind::Busy => -32005,
            FaultKind::TimedOut => -32006,
            FaultKind::Unavailable => -32007,
            FaultKind::Application => -32000,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.code, self.0.description)
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fault({:?}, {self})", self.0.kind)
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_that_is_told_has_the_kind_of_its_code() {
        for kind in FaultKind::OF_GATEWAY {
            assert_eq!(Fault::told(kind.code(), "").kind(), kind);
        }
        for code in ["Tiles.NoSet", "Server.Application", "JSON-RPC", ""] {
            assert_eq!(Fault::told(code, "").kind(), FaultKind::Application);
        }
    }
}
