//! Packets of another server, taken apart into calls and answers, and answers put together for other calls.

use std::borrow::Cow;

use tamtam_amf::packet::{Decoder, Encoder, PacketDecodeError, Version};
use tamtam_amf::{Cause, amf0, amf3};
use uuid::Uuid;

use super::partial::Partial;
use super::read::NameBudget;
use super::{arguments, flash, flex, packet_limits, read, wanted, write, write_fault, write_flex};
use crate::json::not_carried;
use crate::{AmfClasses, Fault, FaultKind, Limits, Object, Value};

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
    pub(crate) arguments: AskedValue,
    /// Where the answer goes; nothing if none is wanted.
    pub(crate) response: Option<String>,
    /// A message of Flex as it came, or what is known of it.
    message: Option<Value>,
}

/// What the answer to a call depends on: of a message of Flex all but what is new in each call.
#[derive(Debug)]
pub(crate) enum AskedValue {
    Read(Value),
    /// The target, and the bytes of a value that cannot be read.
    Unread(String, Vec<u8>),
}

impl Asked {
    /// Whether the same call is another one the next time: it has a name of its own that is not found in it.
    pub(crate) fn is_new_each_time(&self) -> bool {
        let is_unread = matches!(self.arguments, AskedValue::Unread(..));
        let message = self.message.as_ref().filter(|_| is_unread);
        message.is_some_and(|message| flex::message_id(message).is_none())
    }

    /// Takes note of which message of Flex an answer is for, if it cannot be read; whether it can be given to another one.
    pub(crate) fn note_in(&self, answer: &mut Answered) -> bool {
        let Some(message) = self.message.as_ref().filter(|_| answer.is_unread) else {
            return true;
        };
        let id = flex::message_id(message).unwrap_or_default();
        let is_there = readdressed(&answer.value, &id, &id).is_some();
        answer.message_id = id;
        is_there
    }
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
    /// Whether the value has a form that only a class of a program knows.
    is_unread: bool,
    /// The message of Flex that it answered, where it is not read.
    message_id: String,
}

/// The calls of a packet, whose references count as its sender does.
///
/// # Errors
/// If it is no packet, or exceeds the limits; if a value cannot be read, and nothing says where it ends.
pub(crate) fn read_request(
    body: &[u8],
    from_flash_player: bool,
    limits: &Limits,
    classes: &AmfClasses,
) -> Result<Request, Fault> {
    let numbering = flash::numbering(from_flash_player);
    let of_packet = packet_limits(limits);
    let decoder = Decoder::new(body, of_packet).map_err(malformed)?;
    let mut decoder = decoder
        .with_numbering(numbering)
        .with_classes(classes.external());
    let version = decoder.version();
    while decoder.next_header().map_err(malformed)?.is_some() {
        let _passed_over = value_or_bytes(&mut decoder)?;
    }
    let mut names = NameBudget::new(limits.body_bytes);
    let mut calls = Vec::new();
    while let Some(message) = decoder.next_message().map_err(malformed)? {
        let (target, response) = (message.target, wanted(message.response)?);
        calls.push(match value_or_bytes(&mut decoder)? {
            Ok(value) => asked(target, response, read::of_amf0(value, &mut names)?),
            Err(bytes) => {
                let classes = classes.external();
                let partial = Partial::read(bytes, numbering, of_packet.values, classes);
                unread(target, response, bytes, partial)
            }
        });
    }
    decoder.finish().map_err(malformed)?;
    Ok(Request { version, calls })
}

/// The value of the part that was read last, or its bytes if it cannot be read.
///
/// # Errors
/// If it exceeds the limits, or cannot be read and nothing says where it ends.
fn value_or_bytes<'p>(decoder: &mut Decoder<'p>) -> Result<Result<amf0::Value, &'p [u8]>, Fault> {
    let error = match decoder.value() {
        Ok(value) => return Ok(Ok(value)),
        Err(error) => error,
    };
    match (&error.error.cause, decoder.pass_value()) {
        (
            Cause::TooLarge { .. }
            | Cause::Repeated { .. }
            | Cause::TooDeep { .. }
            | Cause::TooMany { .. },
            _,
        ) => Err(malformed(error)),
        (_, Ok(bytes)) => Ok(Err(bytes)),
        (_, Err(unpassed)) => {
            let reason = format!("it is no packet of AMF: {error}; {}", unpassed.error.cause);
            Err(Fault::of(FaultKind::Malformed, reason))
        }
    }
}

fn asked(target: &str, response: Option<String>, value: Value) -> Asked {
    if !flex::is_message(&value) {
        return Asked {
            name: target.replace('/', "."),
            arguments: AskedValue::Read(arguments(value).into_value()),
            response,
            message: None,
        };
    }
    let mut lasting = value.clone();
    let mut name = String::new();
    if let Some(object) = object_in(&mut lasting) {
        name = name_of(object);
        object
            .members
            .retain(|(name, _)| !flex::OF_ONE_CALL.contains(&&**name));
    }
    Asked {
        name,
        arguments: AskedValue::Read(lasting),
        response,
        message: Some(value),
    }
}

/// A call whose value cannot be read.
fn unread(target: &str, response: Option<String>, bytes: &[u8], partial: Option<Partial>) -> Asked {
    let mut name = target.replace('/', ".");
    let mut lasting = bytes.to_vec();
    let message = partial.map(|partial| {
        // From the last one on, so that the places before it stay.
        for place in partial.of_one_call.iter().rev() {
            lasting.drain(place.clone());
        }
        let mut message = partial.into_message();
        if let Some(object) = object_in(&mut message) {
            name = name_of(object);
        }
        message
    });
    Asked {
        name,
        arguments: AskedValue::Unread(target.to_owned(), lasting),
        response,
        message,
    }
}

/// What a message of Flex calls.
fn name_of(message: &Object) -> String {
    let text = |wanted: &str| {
        let mut members = message.members.iter();
        let found = members.find(|(name, _)| name == wanted);
        match found.map(|(_, value)| value) {
            Some(Value::Text(text)) => text.clone(),
            Some(Value::Int(number)) => number.to_string(),
            _ => String::new(),
        }
    };
    format!("{}.{}", text("destination"), text("operation"))
}

/// The answers of a packet.
///
/// # Errors
/// If it is no packet; if a value cannot be read, and nothing says where it ends.
pub(crate) fn read_answer(body: &[u8], classes: &AmfClasses) -> Result<Vec<Answered>, Fault> {
    let limits = Limits {
        body_bytes: body.len(),
        values: MOST_VALUES_OF_ANSWER,
        batch: u16::MAX.into(),
        depth: tamtam_amf::MAX_DEPTH,
        ..Limits::USUAL
    };
    let decoder = Decoder::new(body, packet_limits(&limits)).map_err(malformed)?;
    let mut decoder = decoder.with_classes(classes.external());
    while decoder.next_header().map_err(malformed)?.is_some() {
        let _passed_over = value_or_bytes(&mut decoder)?;
    }
    let mut answers = Vec::new();
    while let Some(message) = decoder.next_message().map_err(malformed)? {
        let target = message.target;
        let begin = decoder.position();
        let is_unread = value_or_bytes(&mut decoder)?.is_err();
        // References of a message are to what is in it: its bytes stand alone.
        let value = body.get(begin..decoder.position()).unwrap_or_default();
        if let Some((to, outcome)) = target.rsplit_once('/') {
            answers.push(Answered {
                to: to.to_owned(),
                outcome: outcome.to_owned(),
                value: value.to_vec(),
                is_unread,
                message_id: String::new(),
            });
        }
    }
    // A length that is wrong cuts a value off that was not read.
    if answers.iter().any(|answer| answer.is_unread) {
        decoder.finish().map_err(malformed)?;
    }
    Ok(answers)
}

/// A packet with an answer to each call that wants one.
///
/// # Errors
/// If it has no room in a packet.
pub(crate) fn write_answers<'a>(
    version: Version,
    classes: &AmfClasses,
    answers: impl IntoIterator<Item = (&'a Asked, Result<&'a Answered, Fault>)>,
) -> Result<Vec<u8>, Fault> {
    let mut out = Vec::new();
    let classes = classes.external();
    let mut encoder = Encoder::new(&mut out, version).with_classes(classes);
    for (asked, answer) in answers {
        let Some(to) = &asked.response else {
            continue;
        };
        let answer = answer.and_then(|answer| {
            let found = match &asked.message {
                Some(message) => correlated(answer, message, version, classes)?,
                None => Found::Bytes(Cow::Borrowed(&answer.value)),
            };
            Ok((format!("{to}/{}", answer.outcome), found))
        });
        match (answer, &asked.message) {
            (Ok((target, Found::Value(value))), _) => encoder
                .write_message(&target, "null", &value)
                .map_err(not_carried)?,
            (Ok((target, Found::Bytes(bytes))), _) => encoder
                .message_bytes(&target, "null", |out| {
                    out.extend_from_slice(&bytes);
                    Ok::<_, tamtam_amf::packet::PacketEncodeError>(())
                })
                .map_err(not_carried)?,
            (Err(fault), Some(message)) => {
                let response = flex::failed(message, &fault);
                write_flex(&mut encoder, to, message, response, version)?;
            }
            (Err(fault), None) => write_fault(&mut encoder, to, &fault, version)?,
        }
    }
    Ok(out)
}

/// What goes to the one who asks.
enum Found<'a> {
    /// An answer of Flex with the id of the new message.
    Value(amf0::Value),
    /// All else, as it was; an answer of Flex that cannot be read with the id of the new message.
    Bytes(Cow<'a, [u8]>),
}

/// An answer of Flex for another message than that which it answered.
fn correlated<'a>(
    answer: &'a Answered,
    message: &Value,
    version: Version,
    classes: &amf3::Classes,
) -> Result<Found<'a>, Fault> {
    let as_it_was = Found::Bytes(Cow::Borrowed(&answer.value));
    let Some(id) = flex::message_id(message) else {
        return Ok(as_it_was);
    };
    let bytes = &answer.value[..];
    if answer.is_unread {
        let found = readdressed(bytes, &answer.message_id, &id);
        let found = found.map(|bytes| Found::Bytes(Cow::Owned(bytes)));
        return found.ok_or_else(|| {
            let reason = "the answer was recorded, and not in a form that can be read; the id of the message that it answered is \
                          not found in it, or has another length than this one's, so that it cannot be made the answer to this one";
            Fault::new(UNREAD, reason).status(502)
        });
    }
    let limits = tamtam_amf::Limits {
        bytes: bytes.len(),
        depth: tamtam_amf::MAX_DEPTH,
        values: MOST_VALUES_OF_ANSWER,
    };
    let mut decoder = amf0::Decoder::new(bytes, limits).with_classes(classes);
    let decoded = decoder.value().map_err(not_carried)?;
    // What a packet of version 0 carries may still be AMF3.
    let version = match decoded {
        amf0::Value::Avmplus(_) => Version::Amf3,
        _ => version,
    };
    let mut names = NameBudget::new(MOST_NAME_BYTES_OF_ANSWER);
    let mut answer = read::of_amf0(decoded, &mut names)?;
    let Some(object) = object_in(&mut answer) else {
        return Ok(as_it_was);
    };
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
    write::value(answer, version).map(Found::Value)
}

/// The code of the fault where an answer cannot be given to another message.
const UNREAD: &str = "Replay.Unread";

/// The bytes of an answer with the id of another message in the place of the one that it answered, as a text and in bytes; nothing
/// if that is not found in it, or the other one has another length.
fn readdressed(value: &[u8], old: &str, new: &str) -> Option<Vec<u8>> {
    let mut value = value.to_vec();
    let mut count = replace(&mut value, old.as_bytes(), new.as_bytes())?;
    if let (Ok(old), Ok(new)) = (Uuid::try_parse(old), Uuid::try_parse(new)) {
        count += replace(&mut value, old.as_bytes(), new.as_bytes())?;
    }
    (count > 0).then_some(value)
}

/// How often bytes were there that were replaced; nothing if they are there and the others have another length.
fn replace(value: &mut [u8], old: &[u8], new: &[u8]) -> Option<usize> {
    let (mut count, mut begin) = (0, 0);
    if old.is_empty() {
        return Some(count);
    }
    while let Some(at) = value[begin..]
        .windows(old.len())
        .position(|part| part == old)
    {
        let place = begin + at..begin + at + old.len();
        begin = place.end;
        if old.len() != new.len() {
            return None;
        }
        value[place].copy_from_slice(new);
        count += 1;
    }
    Some(count)
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
