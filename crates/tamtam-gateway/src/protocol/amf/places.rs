//! Where the answers of a packet go that is not read: to its places faults can be told.

use hyper::HeaderMap;
use tamtam_amf::amf0::{self, Numbering};
use tamtam_amf::amf3::Classes;
use tamtam_amf::packet::{Encoder, Version};

use super::partial::Partial;
use super::{flash, flex, packet_limits, wanted, write_fault, write_flex};
use crate::gateway::{Gateway, Shared};
use crate::{Fault, Value};

/// The packet that tells this fault to each call of a packet; nothing where there is none, or not all places are known: a call that is told nothing
/// would wait for ever, where a status of HTTP ends all of them.
pub(crate) fn refusal(
    begin: &[u8],
    headers: &HeaderMap,
    shared: &Shared,
    fault: &Fault,
) -> Option<Vec<u8>> {
    let numbering = flash::numbering_of(headers);
    let (version, places) = places(begin, numbering, &shared.gateway)?;
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, version);
    for AnswerPlace { response, message } in places {
        let written = match message {
            Some(message) => {
                let failed = flex::failed(&message, fault);
                write_flex(&mut encoder, &response, &message, failed, version)
            }
            None => write_fault(&mut encoder, &response, fault, version),
        };
        written.ok()?;
    }
    Some(out)
}

/// Where an answer goes.
struct AnswerPlace {
    response: String,
    /// A message of Flex, as far as it is known.
    message: Option<Value>,
}

/// The version and the places, those of calls that want an answer.
fn places(
    begin: &[u8],
    numbering: Numbering,
    gateway: &Gateway,
) -> Option<(Version, Vec<AnswerPlace>)> {
    let mut bytes = Bytes {
        left: begin,
        numbering,
        limits: packet_limits(&gateway.limits).values,
        classes: gateway.amf_classes.external(),
    };
    let version = match bytes.u16()? {
        0 => Version::Amf0,
        3 => Version::Amf3,
        _ => return None,
    };
    for _ in 0..bytes.u16()? {
        bytes.text()?;
        bytes.take(1)?;
        bytes.value()?;
    }
    let count = bytes.u16()?;
    if usize::from(count) > gateway.limits.batch {
        return None;
    }
    let mut places = Vec::new();
    for number in 1..=count {
        let (target, response) = (bytes.text()?, bytes.text()?);
        // What the last one holds may be what is wrong, or may not have come.
        let value = match number < count {
            true => bytes.value()?,
            false => bytes.rest_of_value(),
        };
        let Some(response) = wanted(response).ok()? else {
            continue;
        };
        // Flex's messages are for no target.
        let message = match Partial::read(value, numbering, bytes.limits, bytes.classes) {
            Some(partial) => Some(partial.into_message()),
            None => (target == "null").then_some(Value::Null),
        };
        places.push(AnswerPlace { response, message });
    }
    (!places.is_empty()).then_some((version, places))
}

/// What is left of the beginning of a packet.
struct Bytes<'b> {
    left: &'b [u8],
    numbering: Numbering,
    limits: tamtam_amf::Limits,
    classes: &'b Classes,
}

/// The sender does not know how long the value is.
const UNKNOWN: u32 = u32::MAX;

impl<'b> Bytes<'b> {
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, left) = self.left.split_at_checked(count)?;
        self.left = left;
        Some(taken)
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<&'b str> {
        let length = self.u16()?;
        str::from_utf8(self.take(length.into())?).ok()
    }

    fn length(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    /// The bytes of a value with its length before it.
    fn value(&mut self) -> Option<&'b [u8]> {
        let length = match self.length()? {
            UNKNOWN => {
                let begin = self.left.get(..self.limits.bytes).unwrap_or(self.left);
                let mut decoder = amf0::Decoder::new(begin, self.limits)
                    .with_numbering(self.numbering)
                    .with_classes(self.classes);
                decoder.value().ok()?;
                decoder.position()
            }
            length => usize::try_from(length).ok()?,
        };
        self.take(length)
    }

    /// What there is of the last value.
    fn rest_of_value(&mut self) -> &'b [u8] {
        match self.length() {
            Some(length) => {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                self.left.get(..length).unwrap_or(self.left)
            }
            None => &[],
        }
    }
}
