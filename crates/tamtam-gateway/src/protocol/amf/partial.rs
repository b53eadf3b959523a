//! What is known of a message of Flex whose value as a whole cannot be read: the members that come before what cannot.

use std::ops::Range;

use tamtam_amf::amf0::Numbering;
use tamtam_amf::{Limits, amf0, amf3};

use super::{AVMPLUS, flex};
use crate::value::Members;
use crate::{Object, Value};

/// The members that are kept: by which a message is answered, and what it calls.
const KEPT: [&str; 6] = [
    "messageId",
    "messageIdBytes",
    "clientId",
    "destination",
    "operation",
    "source",
];

/// The beginning of a message of Flex.
#[derive(Debug, Default)]
pub(super) struct Partial {
    class: String,
    members: Members,
    /// Where the values of members are that are others in each call.
    pub(super) of_one_call: Vec<Range<usize>>,
}

impl Partial {
    /// Reads the beginning of a value, as far as it can be read; nothing if it is no message of Flex.
    pub(super) fn read(
        value: &[u8],
        numbering: Numbering,
        limits: Limits,
        classes: &amf3::Classes,
    ) -> Option<Partial> {
        // What is behind may be what is too large.
        let value = value.get(..limits.bytes).unwrap_or(value);
        let mut partial = Partial::default();
        let decoder = amf0::Decoder::new(value, limits).with_numbering(numbering);
        let mut decoder = decoder.with_classes(classes);
        if value.first() == Some(&AVMPLUS) {
            partial.of_amf3(value, 1, limits, classes)?;
        } else {
            let mut first = decoder.next_event().ok()?;
            let at = decoder.position();
            if matches!(first, Some(amf0::Event::BeginStrictArray { length: 1 }))
                && value.get(at) == Some(&AVMPLUS)
            {
                partial.of_amf3(value, at + 1, limits, classes)?;
            } else {
                if matches!(first, Some(amf0::Event::BeginStrictArray { length: 1 })) {
                    first = decoder.next_event().ok()?;
                }
                let Some(amf0::Event::BeginTypedObject(class)) = first else {
                    return None;
                };
                class.clone_into(&mut partial.class);
                partial.of_amf0(&mut decoder);
            }
        }
        flex::is_class(&partial.class).then_some(partial)
    }

    /// The message with its members that are known.
    pub(super) fn into_message(self) -> Value {
        Value::from(Object {
            class: self.class,
            members: self.members,
            ..Object::default()
        })
    }

    /// The members of an object of AMF0 that has begun.
    fn of_amf0(&mut self, decoder: &mut amf0::Decoder<'_>) {
        while let Ok(Some(amf0::Event::Property(name))) = decoder.next_event() {
            let begin = decoder.position();
            let Ok(Some(first)) = decoder.next_event() else {
                return;
            };
            let mut depth = step0(&first);
            while depth > 0 {
                let Ok(Some(event)) = decoder.next_event() else {
                    return;
                };
                depth += step0(&event);
            }
            let value = match first {
                amf0::Event::String(text) => Some(Value::from(text)),
                amf0::Event::Number(number) => Some(Value::Float(number)),
                _ => None,
            };
            self.add(name, begin..decoder.position(), value);
        }
    }

    /// An object of AMF3 at this place, alone or in an array; nothing if it is something else.
    fn of_amf3(
        &mut self,
        value: &[u8],
        at: usize,
        limits: Limits,
        classes: &amf3::Classes,
    ) -> Option<()> {
        let mut decoder = amf3::Decoder::new(value.get(at..)?, limits).with_classes(classes);
        let mut first = decoder.next_event().ok()??;
        if matches!(first, amf3::Event::BeginArray { dense: 1 }) {
            first = decoder.next_event().ok()??;
        }
        let traits = match first {
            amf3::Event::BeginObject { traits } => Some(decoder.traits(traits)?.clone()),
            amf3::Event::BeginExternalizable { class } => {
                class.clone_into(&mut self.class);
                None
            }
            _ => return None,
        };
        if let Some(traits) = &traits {
            self.class = traits.class.to_string();
        }
        let mut sealed = traits.iter().flat_map(|traits| &traits.members);
        loop {
            let name = match sealed.next() {
                Some(name) => name,
                None => match decoder.next_event() {
                    Ok(Some(amf3::Event::Property(name))) => name,
                    _ => return Some(()),
                },
            };
            let begin = at + decoder.position();
            let Ok(Some(first)) = decoder.next_event() else {
                return Some(());
            };
            let mut depth = step3(&first);
            while depth > 0 {
                let Ok(Some(event)) = decoder.next_event() else {
                    return Some(());
                };
                depth += step3(&event);
            }
            let value = match first {
                amf3::Event::String(text) => Some(Value::from(text)),
                amf3::Event::Integer(number) => Some(Value::Int(number.into())),
                amf3::Event::Double(number) => Some(Value::Float(number)),
                amf3::Event::ByteArray(bytes) => Some(Value::Bytes(bytes.to_vec())),
                _ => None,
            };
            self.add(name, begin..at + decoder.position(), value);
        }
    }

    fn add(&mut self, name: &str, place: Range<usize>, value: Option<Value>) {
        if flex::OF_ONE_CALL.contains(&name) {
            self.of_one_call.push(place);
        }
        if let Some(value) = value
            && KEPT.contains(&name)
        {
            self.members.push((name.to_owned(), value));
        }
    }
}

/// How much deeper what comes behind an event lies.
fn step0(event: &amf0::Event<'_>) -> isize {
    use amf0::Event::{BeginEcmaArray, BeginObject, BeginStrictArray, BeginTypedObject, End};
    match event {
        BeginObject | BeginTypedObject(_) | BeginEcmaArray { .. } | BeginStrictArray { .. } => 1,
        End => -1,
        _ => 0,
    }
}

fn step3(event: &amf3::Event<'_>) -> isize {
    use amf3::Event::{
        BeginArray, BeginDictionary, BeginExternalizable, BeginObject, BeginVector, End,
    };
    match event {
        BeginArray { .. }
        | BeginObject { .. }
        | BeginVector { .. }
        | BeginDictionary { .. }
        | BeginExternalizable { .. } => 1,
        End => -1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message (0) with a date, which Flash Player counts (1), an object (2), that object again, and where it goes.
    const FROM_FLASH_PLAYER: &[u8] = b"\x10\0\x27flex.messaging.messages.RemotingMessage\
        \0\x04when\x0b\0\0\0\0\0\0\0\0\0\0\
        \0\x05first\x03\0\0\x09\
        \0\x05again\x07\0\x02\
        \0\x0bdestination\x02\0\x04Sums\0\0\x09";

    #[test]
    fn members_behind_a_reference_are_read_as_the_sender_counts() {
        let destination = |numbering| {
            let classes = amf3::Classes::default();
            let partial = Partial::read(FROM_FLASH_PLAYER, numbering, Limits::default(), &classes);
            let message = partial.unwrap().into_message();
            message.get("destination").cloned()
        };
        assert_eq!(
            destination(Numbering::FlashPlayer),
            Some(Value::from("Sums"))
        );
        // To others value 2 has not begun.
        assert_eq!(destination(Numbering::Specification), None);
    }
}
