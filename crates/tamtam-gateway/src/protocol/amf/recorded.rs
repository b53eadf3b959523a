//! Packets of another server, taken apart into calls and answers, and answers put together for other calls.

use tamtam_amf::amf0;
use tamtam_amf::packet::{Decoder, Encoder, PacketDecodeError, Version};
use uuid::Uuid;

use super::read::NameBudget;
use super::{arguments, flex, packet_limits, read, wanted, write, write_fault, write_flex};
use crate::json::not_carried;
use crate::{Fault, FaultKind, Limits, Object, Value};

/// How deep an answer may be nested, and how many values it may have: what a server sends that was asked for it.
const MOST_VALUES_OF_ANSWER: usize = 20_000_000;

/// Bytes of the names that classes in such an answer repeat.
const MOST_NAME_BYTES_OF_ANSWER: usize = 256 << 20;

/// The calls of a packet.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) version: Version,
    pub(crate) calls: Vec<Asked>,
}

/// A call of a packet.
#[derive(Debug)]
pub(crate) struct Asked {
    /// What is called, as people write it.
    pub(crate) name: String,
    /// What the answer depends on: of a message of Flex all but what is new in each call.
    pub(crate) arguments: Value,
    /// Where the answer goes; nothing if none is wanted.
    pub(crate) response: Option<String>,
    /// A message of Flex as it came.
    message: Option<Value>,
}

/// An answer of a packet, before or after it is addressed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Answered {
    /// Which call it is for.
    pub(crate) to: String,
    /// `onResult` or `onStatus`.
    outcome: String,
    /// The bytes of the value.
    value: Vec<u8>,
}

/// The calls of a packet.
///
/// # Errors
/// If it is no packet, or exceeds the limits.
pub(crate) fn read_request(body: &[u8], limits: &Limits) -> Result<Request, Fault> {
    let mut decoder = Decoder::new(body, packet_limits(limits)).map_err(malformed)?;
    let version = decoder.version();
    while decoder.next_header().map_err(malformed)?.is_some() {
        decoder.value().map_err(malformed)?;
    }
    let mut names = NameBudget::new(limits.body_bytes);
    let mut calls = Vec::new();
    while let Some(message) = decoder.next_message().map_err(malformed)? {
        let (target, response) = (message.target, wanted(message.response)?);
        let value = read::of_amf0(decoder.value().map_err(malformed)?, &mut names)?;
        calls.push(asked(target, response, value));
    }
    decoder.finish().map_err(malformed)?;
    Ok(Request { version, calls })
}

fn asked(target: &str, response: Option<String>, value: Value) -> Asked {
    if !flex::is_message(&value) {
        return Asked {
            name: target.replace('/', "."),
            arguments: arguments(value).into_value(),
            response,
            message: None,
        };
    }
    let mut lasting = value.clone();
    let mut name = String::new();
    if let Some(object) = object_in(&mut lasting) {
        let text = |wanted: &str| {
            let found = object.members.iter().find(|(name, _)| name == wanted);
            match found.map(|(_, value)| value) {
                Some(Value::Text(text)) => text.clone(),
                Some(Value::Int(number)) => number.to_string(),
                _ => String::new(),
            }
        };
        name = format!("{}.{}", text("destination"), text("operation"));
        object
            .members
            .retain(|(name, _)| !flex::OF_ONE_CALL.contains(&&**name));
    }
    Asked {
        name,
        arguments: lasting,
        response,
        message: Some(value),
    }
}

/// The answers of a packet.
///
/// # Errors
/// If it is no packet.
pub(crate) fn read_answer(body: &[u8]) -> Result<Vec<Answered>, Fault> {
    let limits = Limits {
        body_bytes: body.len(),
        values: MOST_VALUES_OF_ANSWER,
        batch: u16::MAX.into(),
        depth: tamtam_amf::MAX_DEPTH,
        ..Limits::USUAL
    };
    let mut decoder = Decoder::new(body, packet_limits(&limits)).map_err(malformed)?;
    while decoder.next_header().map_err(malformed)?.is_some() {
        decoder.value().map_err(malformed)?;
    }
    let mut answers = Vec::new();
    while let Some(message) = decoder.next_message().map_err(malformed)? {
        let target = message.target;
        let begin = decoder.position();
        decoder.value().map_err(malformed)?;
        // References of a message are to what is in it: its bytes stand alone.
        let value = body.get(begin..decoder.position()).unwrap_or_default();
        if let Some((to, outcome)) = target.rsplit_once('/') {
            answers.push(Answered {
                to: to.to_owned(),
                outcome: outcome.to_owned(),
                value: value.to_vec(),
            });
        }
    }
    Ok(answers)
}

/// A packet with an answer to each call that wants one.
///
/// # Errors
/// If it has no room in a packet.
pub(crate) fn write_answers<'a>(
    version: Version,
    answers: impl IntoIterator<Item = (&'a Asked, Result<&'a Answered, Fault>)>,
) -> Result<Vec<u8>, Fault> {
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, version);
    for (asked, answer) in answers {
        let Some(to) = &asked.response else {
            continue;
        };
        match (answer, &asked.message) {
            (Ok(answer), message) => {
                let target = format!("{to}/{}", answer.outcome);
                let of_this_call = match message {
                    Some(message) => correlated(&answer.value, message, version)?,
                    None => None,
                };
                match of_this_call {
                    Some(value) => encoder
                        .write_message(&target, "null", &value)
                        .map_err(not_carried)?,
                    None => encoder
                        .message_bytes(&target, "null", |out| {
                            out.extend_from_slice(&answer.value);
                            Ok::<_, tamtam_amf::packet::PacketEncodeError>(())
                        })
                        .map_err(not_carried)?,
                }
            }
            (Err(fault), Some(message)) => {
                let response = flex::failed(message, &fault);
                write_flex(&mut encoder, to, message, response, version)?;
            }
            (Err(fault), None) => write_fault(&mut encoder, to, &fault, version)?,
        }
    }
    Ok(out)
}

/// An answer of Flex for another message than that which it answered; nothing if it is no message itself.
fn correlated(
    bytes: &[u8],
    message: &Value,
    version: Version,
) -> Result<Option<amf0::Value>, Fault> {
    let limits = tamtam_amf::Limits {
        bytes: bytes.len(),
        depth: tamtam_amf::MAX_DEPTH,
        values: MOST_VALUES_OF_ANSWER,
    };
    let decoded = amf0::decode(bytes, limits).map_err(not_carried)?;
    // What a packet of version 0 carries may still be AMF3.
    let version = match decoded {
        amf0::Value::Avmplus(_) => Version::Amf3,
        _ => version,
    };
    let mut names = NameBudget::new(MOST_NAME_BYTES_OF_ANSWER);
    let mut answer = read::of_amf0(decoded, &mut names)?;
    let Some(object) = object_in(&mut answer) else {
        return Ok(None);
    };
    let id = flex::message_id(message).unwrap_or_default();
    let as_bytes = Uuid::try_parse(&id).ok();
    for (name, value) in &mut object.members {
        match (&**name, as_bytes) {
            ("correlationId", _) if *value != Value::Null => *value = Value::Text(id.clone()),
            ("correlationIdBytes", Some(bytes)) if *value != Value::Null => {
                *value = Value::Bytes(bytes.as_bytes().to_vec());
            }
            _ => {}
        }
    }
    write::value(answer, version).map(Some)
}

/// The object that a value is, or that is alone in its list.
fn object_in(value: &mut Value) -> Option<&mut Object> {
    match value {
        Value::Object(object) => Some(object),
        Value::List(values) => match &mut values[..] {
            [Value::Object(object)] => Some(object),
            _ => None,
        },
        _ => None,
    }
}

fn malformed(error: PacketDecodeError) -> Fault {
    Fault::of(
        FaultKind::Malformed,
        format!("it is no packet of AMF: {error}"),
    )
}
