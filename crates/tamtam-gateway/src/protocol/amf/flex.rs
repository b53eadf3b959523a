//! The messages of Flex's RemoteObject: the ping before the first call, a login, calls, and what is said to them.

use std::time::{Instant, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tamtam_rows::Rows;
use uuid::Uuid;

use super::arguments_of;
use crate::admission::Ticket;
use crate::gateway::{Shared, admitted};
use crate::value::Members;
use crate::{Caller, Fault, FaultKind, Object, Value};

const PACKAGE: &str = "flex.messaging.messages.";

/// Operations of a `CommandMessage`.
const PING: i64 = 5;
const LOGIN: i64 = 8;
const LOGOUT: i64 = 9;

/// The header by which a client says which session it is in.
const SESSION: &str = "DSId";

/// The members of messages that are others in each call.
pub(super) const OF_ONE_CALL: [&str; 9] = [
    "messageId",
    "messageIdBytes",
    "clientId",
    "clientIdBytes",
    "correlationId",
    "correlationIdBytes",
    "timestamp",
    "timeToLive",
    "headers",
];

/// What goes back.
pub(super) enum Response {
    /// An `AcknowledgeMessage`.
    Result(Value),
    /// An `ErrorMessage`.
    Fault(Value),
}

impl Response {
    /// The method that it calls at the client, and the message.
    pub(super) fn into_parts(self) -> (&'static str, Value) {
        match self {
            Response::Result(message) => ("onResult", message),
            Response::Fault(message) => ("onStatus", message),
        }
    }

    /// The table that it carries.
    pub(super) fn table(&self) -> Option<&Rows> {
        let Response::Result(Value::Object(object)) = self else {
            return None;
        };
        let body = object.members.iter().find(|(name, _)| name == "body");
        match body {
            Some((_, Value::Rows(rows))) => Some(rows),
            _ => None,
        }
    }

    /// A fault without what only AMF may be unable to carry of it.
    pub(super) fn without_detail(&self) -> Option<Response> {
        let Response::Fault(Value::Object(object)) = self else {
            return None;
        };
        let mut object = object.clone();
        let members = object.members.iter_mut();
        for (_, value) in members.filter(|(name, _)| name == DETAIL) {
            *value = Value::Null;
        }
        Some(Response::Fault(Value::Object(object)))
    }
}

/// The member of an `ErrorMessage` that has a fault's detail.
const DETAIL: &str = "extendedData";

/// Whether the arguments of a call are a message of Flex.
pub(super) fn is_message(value: &Value) -> bool {
    message_in(value).is_some()
}

pub(super) fn message_in(value: &Value) -> Option<&Object> {
    let value = match value {
        Value::List(values) if values.len() == 1 => &values[0],
        other => other,
    };
    match value {
        Value::Object(object) if is_class(&object.class) => Some(object),
        _ => None,
    }
}

/// Whether objects of a class are messages of Flex.
pub(super) fn is_class(class: &str) -> bool {
    kind_of(class).is_some()
}

/// By which name a message is answered; that of a small message stands in bytes.
pub(super) fn message_id(message: &Value) -> Option<String> {
    Message(message_in(message)?).id()
}

/// The class without its package; that of a small message is the one that it stands for.
fn kind_of(class: &str) -> Option<&str> {
    match class {
        "DSC" => Some("CommandMessage"),
        "DSA" => Some("AsyncMessage"),
        "DSK" => Some("AcknowledgeMessage"),
        class => class.strip_prefix(PACKAGE),
    }
}

/// The answer to a message.
pub(super) async fn answer(
    shared: &Shared,
    ticket: &Ticket,
    caller: &Caller,
    value: &Value,
) -> Response {
    let Some(message) = message_in(value).map(Message) else {
        let fault = Fault::of(FaultKind::Malformed, "it is no message of Flex");
        return Message(&Object::default()).failed(&fault);
    };
    // The time of all calls of the packet, each of which has a caller of its own.
    caller.begun.get_or_init(Instant::now);
    let mut caller = caller.clone();
    if let Some(session) = message.header(SESSION) {
        caller.credentials = shared.sessions.find(session).or(caller.credentials);
    }
    if let Some(credentials) = message.header("DSRemoteCredentials") {
        caller.credentials = decoded(credentials).or(caller.credentials);
    }
    let result = match kind_of(&message.0.class) {
        Some("CommandMessage") => command(shared, ticket, &caller, &message),
        Some("RemotingMessage") => call(shared, ticket, &caller, &message).await,
        _ => Err(Fault::of(
            FaultKind::Malformed,
            "of Flex's messages CommandMessage and RemotingMessage are answered",
        )),
    };
    match result {
        Ok((body, session)) => message.acknowledged(body, session),
        Err(fault) => message.failed(&fault),
    }
}

/// The answer to a message that failed before it was read.
pub(super) fn failed(value: &Value, fault: &Fault) -> Response {
    match message_in(value) {
        Some(object) => Message(object).failed(fault),
        None => Message(&Object::default()).failed(fault),
    }
}

/// What a command gives, and the session that it began.
type Outcome = Result<(Value, Option<String>), Fault>;

/// A ping asks whether the server can be called now, and a login has the program's check at work: both count as any call.
fn command(shared: &Shared, ticket: &Ticket, caller: &Caller, message: &Message<'_>) -> Outcome {
    admitted(ticket)?;
    match message.number("operation") {
        Some(PING) => Ok((Value::Null, Some(message.session_or_new()))),
        Some(LOGIN) => {
            let credentials = match message.member("body") {
                Some(Value::Text(text)) => decoded(text),
                _ => None,
            };
            let credentials = credentials.ok_or_else(|| {
                Fault::arguments("a login has NAME:PASSWORD in Base64 as its body")
            })?;
            let caller = Caller {
                credentials: Some(credentials.clone()),
                ..caller.clone()
            };
            shared.may_log_in(&caller)?;
            // The one that it names: Flex keeps the first that it is told for as long as it runs, which is that of its ping.
            let session = message.session_or_new();
            if !shared.sessions.begin(&session, credentials) {
                return Err(Fault::arguments(
                    "a session keeps a name and a password of 1 KiB at most, together",
                ));
            }
            Ok((Value::from("success"), Some(session)))
        }
        Some(LOGOUT) => {
            if let Some(session) = message.header(SESSION) {
                shared.sessions.end(session);
            }
            Ok((Value::from("success"), None))
        }
        _ => Err(Fault::of(
            FaultKind::Malformed,
            "of the commands ping, login and logout are answered",
        )),
    }
}

async fn call(shared: &Shared, ticket: &Ticket, caller: &Caller, message: &Message<'_>) -> Outcome {
    let Some(method) = message.text("operation") else {
        return Err(Fault::of(
            FaultKind::Malformed,
            "a RemotingMessage has an operation",
        ));
    };
    // The destination is the service, or one for all whose source is the service.
    let destination = message.text("destination").unwrap_or_default();
    let is_service = |name: &&str| shared.gateway.services.contains_key(*name);
    let service = match message.text("source").filter(is_service) {
        Some(source) if !is_service(&destination) => source,
        _ => destination,
    };
    let sent = message.member("body").cloned().unwrap_or_default();
    let called = shared.call(ticket, caller, service, method, arguments_of(shared, sent));
    let classes = shared.gateway.amf_classes.names();
    let answer = called.await?.into_objects(classes).await?;
    Ok((answer, None))
}

/// Name and password. Flex writes lines of 76 letters, and ISO 8859-1 unless its program asks for UTF-8.
fn decoded(text: &str) -> Option<(String, String)> {
    let letters: String = text.split_ascii_whitespace().collect();
    let bytes = STANDARD.decode(letters).ok()?;
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| error.as_bytes().iter().copied().map(char::from).collect());
    let (name, password) = text.split_once(':')?;
    Some((name.to_owned(), password.to_owned()))
}

/// A message that came.
struct Message<'m>(&'m Object);

impl Message<'_> {
    fn member(&self, name: &str) -> Option<&Value> {
        let found = self.0.members.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value)
    }

    fn text(&self, name: &str) -> Option<&str> {
        match self.member(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn number(&self, name: &str) -> Option<i64> {
        match self.member(name) {
            Some(Value::Int(number)) => Some(*number),
            Some(Value::Float(number)) if number.fract() == 0.0 => Some(*number as i64),
            _ => None,
        }
    }

    fn header(&self, name: &str) -> Option<&str> {
        match self.member("headers")?.get(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn id(&self) -> Option<String> {
        match (self.text("messageId"), self.member("messageIdBytes")) {
            (Some(id), _) => Some(id.to_owned()),
            (None, Some(Value::Bytes(bytes))) => Uuid::from_slice(bytes).ok().map(as_flex_writes),
            _ => None,
        }
    }

    /// The session that the client names, unless it has none yet.
    fn session_or_new(&self) -> String {
        match self.header(SESSION) {
            Some(session) if session != "nil" && Uuid::try_parse(session).is_ok() => {
                session.to_owned()
            }
            _ => new_id(),
        }
    }

    fn acknowledged(&self, body: Value, session: Option<String>) -> Response {
        let headers = session.map(|session| (SESSION.to_owned(), Value::Text(session)));
        let members = self.members(body, headers.into_iter().collect());
        Response::Result(message("AcknowledgeMessage", members))
    }

    fn failed(&self, fault: &Fault) -> Response {
        let mut members = self.members(Value::Null, Vec::new());
        let detail = fault.get_detail().cloned();
        members.extend([
            ("faultCode".to_owned(), Value::from(fault.code())),
            ("faultString".to_owned(), Value::from(fault.description())),
            // A text in Flex; what is more goes into the member for that.
            (
                "faultDetail".to_owned(),
                Value::from(detail.as_ref().map(Value::to_json).unwrap_or_default()),
            ),
            ("rootCause".to_owned(), Value::Null),
            (DETAIL.to_owned(), detail.unwrap_or_default()),
        ]);
        Response::Fault(message("ErrorMessage", members))
    }

    fn members(&self, body: Value, headers: Members) -> Members {
        let client = match self.text("clientId") {
            Some(client) if !client.is_empty() => client.to_owned(),
            _ => new_id(),
        };
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let milliseconds = now.map_or(0.0, |now| now.as_millis() as f64);
        vec![
            ("body".to_owned(), body),
            ("clientId".to_owned(), Value::Text(client)),
            (
                "destination".to_owned(),
                self.member("destination").cloned().unwrap_or_default(),
            ),
            ("headers".to_owned(), Value::Map(headers)),
            ("messageId".to_owned(), Value::Text(new_id())),
            ("timestamp".to_owned(), Value::Float(milliseconds)),
            ("timeToLive".to_owned(), Value::Float(0.0)),
            (
                "correlationId".to_owned(),
                self.id().map_or(Value::Null, Value::Text),
            ),
        ]
    }
}

fn message(class: &str, members: Members) -> Value {
    Value::from(Object {
        class: format!("{PACKAGE}{class}"),
        sealed: members.len(),
        is_external: false,
        members,
    })
}

fn new_id() -> String {
    as_flex_writes(Uuid::new_v4())
}

fn as_flex_writes(id: Uuid) -> String {
    id.hyphenated().to_string().to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_read_as_flex_writes_them() {
        let long = format!("ada:{}", "p".repeat(100));
        let written = STANDARD.encode(&long);
        let lines = format!("{}\n{}", &written[..76], &written[76..]);
        for (text, name, password) in [
            ("YWRhOnNlY3JldA==", "ada", "secret"),
            (" YWRhOmE6Yg==\n", "ada", "a:b"),
            (&lines, "ada", &long[4..]),
            // UTF-8, and ISO 8859-1.
            ("w6lkYTrDqQ==", "éda", "é"),
            ("6WRhOuk=", "éda", "é"),
        ] {
            let credentials = (name.to_owned(), password.to_owned());
            assert_eq!(decoded(text), Some(credentials), "{text}");
        }
        for text in ["", "YWRh", "ada:secret"] {
            assert_eq!(decoded(text), None, "{text}");
        }
    }
}
