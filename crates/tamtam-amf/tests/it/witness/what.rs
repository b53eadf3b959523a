//! What a value is, in the words of the witnesses.

use tamtam_amf::packet::{Packet, Version};
use tamtam_amf::{amf0, amf3};

use super::{Who, hexadecimal};

fn text(text: &str) -> String {
    hexadecimal(text.as_bytes())
}

fn bits(number: f64) -> String {
    let number = if number.is_nan() { f64::NAN } else { number };
    format!("{:016x}", number.to_bits())
}

/// A date: to the millisecond for Py3AMF, which counts in seconds.
fn date(milliseconds: f64, who: Who) -> String {
    format!(
        "D{}",
        bits(match who {
            Who::BlazeDs => milliseconds,
            Who::Py3Amf => milliseconds.round(),
        })
    )
}

fn undefined(who: Who) -> String {
    match who {
        Who::BlazeDs => "n".into(),
        Who::Py3Amf => "u".into(),
    }
}

fn list(values: impl Iterator<Item = String>) -> String {
    format!("[{}]", values.collect::<Vec<_>>().join(","))
}

fn object(class: &str, entries: impl Iterator<Item = (String, String)>) -> String {
    let mut entries: Vec<_> = entries
        .map(|(name, value)| format!("{}={value}", text(&name)))
        .collect();
    entries.sort();
    format!("{{{};{}}}", text(class), entries.join(","))
}

pub(super) fn of_amf0(value: &amf0::Value, who: Who) -> String {
    use amf0::Value;
    let entries = |properties: &amf0::Properties| -> Vec<(String, String)> {
        let entry = |name: &str, value| (name.to_owned(), of_amf0(value, who));
        properties
            .iter()
            .map(|(name, value)| entry(name, value))
            .collect()
    };
    match value {
        Value::Null => "n".into(),
        Value::Undefined | Value::Unsupported => undefined(who),
        Value::Boolean(boolean) => if *boolean { "t" } else { "f" }.into(),
        Value::Number(number) => format!("d{}", bits(*number)),
        Value::String(value) => format!("s{}", text(value)),
        Value::XmlDocument(value) => format!("x{}", text(value)),
        Value::Date { milliseconds, .. } => date(*milliseconds, who),
        Value::StrictArray(values) => list(values.iter().map(|value| of_amf0(value, who))),
        Value::Object(properties) | Value::EcmaArray(properties) => {
            object("", entries(properties).into_iter())
        }
        // A collection is what it holds.
        Value::TypedObject(typed) if &*typed.class == "flex.messaging.io.ArrayCollection" => {
            of_amf0(&typed.properties[0].1, who)
        }
        Value::TypedObject(typed) if &*typed.class == "flex.messaging.io.ObjectProxy" => {
            object("", entries(&typed.properties).into_iter())
        }
        Value::TypedObject(typed) => object(&typed.class, entries(&typed.properties).into_iter()),
        Value::Avmplus(value) => of_amf3(value, who),
        Value::Reference(_) => panic!("references were replaced"),
    }
}

pub(super) fn of_amf3(value: &amf3::Value, who: Who) -> String {
    use amf3::Value;
    let of = |value: &Value| of_amf3(value, who);
    let entries = |properties: &amf3::Properties| -> Vec<(String, String)> {
        properties
            .iter()
            .map(|(name, value)| (name.to_string(), of(value)))
            .collect()
    };
    let number = |number: f64| format!("d{}", bits(number));
    match value {
        Value::Null => "n".into(),
        Value::Undefined => undefined(who),
        Value::Boolean(boolean) => if *boolean { "t" } else { "f" }.into(),
        Value::Integer(value) => number(f64::from(*value)),
        Value::Double(value) => number(*value),
        Value::String(value) => format!("s{}", text(value)),
        Value::XmlDocument(value) | Value::Xml(value) => format!("x{}", text(value)),
        Value::Date(milliseconds) => date(*milliseconds, who),
        Value::ByteArray(bytes) => format!("b{}", hexadecimal(bytes)),
        Value::Array(array) if array.associative.is_empty() => list(array.dense.iter().map(of)),
        Value::Array(array) => {
            let dense = array.dense.iter().enumerate();
            let dense = dense.map(|(place, value)| (place.to_string(), of(value)));
            object("", entries(&array.associative).into_iter().chain(dense))
        }
        Value::Object(value) => {
            let names = value.traits.members.iter().map(ToString::to_string);
            let sealed = names.zip(value.sealed.iter().map(of));
            object(&value.traits.class, sealed.chain(entries(&value.dynamic)))
        }
        // A collection is what it holds.
        Value::Externalizable(value) if value.class.contains('.') => of(&value.members[0].1),
        Value::Externalizable(value) => object(&value.class, entries(&value.members).into_iter()),
        Value::VectorInt(vector) => {
            list(vector.values.iter().map(|value| number(f64::from(*value))))
        }
        Value::VectorUint(vector) => {
            list(vector.values.iter().map(|value| number(f64::from(*value))))
        }
        Value::VectorDouble(vector) => list(vector.values.iter().map(|value| number(*value))),
        Value::VectorObject { vector, .. } => list(vector.values.iter().map(of)),
        Value::Dictionary(dictionary) => {
            let entry = |(key, value): &(Value, Value)| format!("{}={}", of(key), of(value));
            let mut entries: Vec<_> = dictionary.entries.iter().map(entry).collect();
            entries.sort();
            format!("<{}>", entries.join(","))
        }
        Value::Reference(_) => panic!("references were replaced"),
    }
}

pub(super) fn of_packet(packet: &Packet, who: Who) -> String {
    let mut what = match packet.version {
        Version::Amf0 => "P0".to_owned(),
        Version::Amf3 => "P3".to_owned(),
    };
    for header in &packet.headers {
        let mark = if header.must_understand { '!' } else { '?' };
        what += &format!(
            "({}{mark}{})",
            text(&header.name),
            of_amf0(&header.value, who)
        );
    }
    for message in &packet.messages {
        let (target, response) = (text(&message.target), text(&message.response));
        what += &format!("({target}:{response}={})", of_amf0(&message.value, who));
    }
    what
}
