//! Where the answers of a packet go that is not read: to its places faults can be told.

use tamtam_amf::amf0;
use tamtam_amf::packet::{Encoder, Version};

use super::{flex, packet_limits, wanted, write_fault, write_flex};
use crate::{Fault, Limits, Value};

/// The packet that tells this fault to each call of a packet; nothing where there is none, or not all places are known: a call that is told nothing
/// would wait for ever, where a status of HTTP ends all of them.
pub(crate) fn refusal(begin: &[u8], limits: &Limits, fault: &Fault) -> Option<Vec<u8>> {
    let (version, places) = places(begin, limits)?;
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, version);
    for AnswerPlace { response, is_flex } in places {
        let written = if is_flex {
            let response_message = flex::failed(&Value::Null, fault);
            write_flex(&mut encoder, &response, response_message, version)
        } else {
            write_fault(&mut encoder, &response, fault, version)
        };
        written.ok()?;
    }
    Some(out)
}

/// Where an answer goes.
struct AnswerPlace {
    response: String,
    /// Flex's messages are for no target.
    is_flex: bool,
}

/// The version and the places, those of calls that want an answer.
fn places(begin: &[u8], limits: &Limits) -> Option<(Version, Vec<AnswerPlace>)> {
    let mut bytes = Bytes {
        left: begin,
        limits,
    };
    let version = match bytes.u16()? {
        0 => Version::Amf0,
        3 => Version::Amf3,
        _ => return None,
    };
    for _ in 0..bytes.u16()? {
        bytes.text()?;
        bytes.take(1)?;
        bytes.pass_value()?;
    }
    let count = bytes.u16()?;
    if usize::from(count) > limits.batch {
        return None;
    }
    let mut places = Vec::new();
    for number in 1..=count {
        let (target, response) = (bytes.text()?, bytes.text()?);
        if let Some(response) = wanted(response).ok()? {
            let is_flex = target == "null";
            places.push(AnswerPlace { response, is_flex });
        }
        // What the last one holds may be what is wrong, or may not have come.
        if number < count {
            bytes.pass_value()?;
        }
    }
    (!places.is_empty()).then_some((version, places))
}

/// What is left of the beginning of a packet.
struct Bytes<'b> {
    left: &'b [u8],
    limits: &'b Limits,
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

    /// Passes over a value with its length before it.
    fn pass_value(&mut self) -> Option<()> {
        let length = u32::from_be_bytes(self.take(4)?.try_into().ok()?);
        if length == UNKNOWN {
            let limits = packet_limits(self.limits).values;
            let mut decoder = amf0::Decoder::new(self.left, limits);
            decoder.value().ok()?;
            self.take(decoder.position())?;
        } else {
            self.take(usize::try_from(length).ok()?)?;
        }
        Some(())
    }
}
