//! What a call asks, in bytes that are the same whenever the same is asked.

use crate::value::Members;
use crate::{Items, Value};

/// What a call asks: a kind, a name, arguments. Two keys are equal if the arguments are: a number is the same as an integer and
/// as a double, and members of an object have no order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key(Box<[u8]>);

impl Key {
    pub(super) fn new(kind: &str, name: &str, arguments: &Value) -> Key {
        let mut out = Vec::new();
        text(b'K', kind, &mut out);
        text(b'N', name, &mut out);
        value(arguments, &mut out);
        Key(out.into())
    }

    /// Of a request that is taken as it is: its parts.
    pub(super) fn of_parts(parts: &[&[u8]]) -> Key {
        let mut out = Vec::new();
        parts.iter().for_each(|part| bytes(b'P', part, &mut out));
        Key(out.into())
    }
}

fn value(asked: &Value, out: &mut Vec<u8>) {
    match asked {
        Value::Null => out.push(b'n'),
        Value::Undefined => out.push(b'u'),
        Value::Bool(value) => out.extend([b'?', u8::from(*value)]),
        Value::Int(value) => integer((*value).into(), out),
        Value::Unsigned(value) => integer((*value).into(), out),
        Value::Float(value) if value.fract() == 0.0 && value.abs() < 1e18 => {
            integer(*value as i128, out);
        }
        Value::Float(value) => {
            out.push(b'f');
            out.extend(value.to_bits().to_be_bytes());
        }
        Value::Text(value) => text(b't', value, out),
        Value::Xml(value) | Value::XmlDocument(value) => text(b'x', value, out),
        Value::Date(milliseconds) => {
            out.push(b'd');
            out.extend(milliseconds.to_bits().to_be_bytes());
        }
        Value::Bytes(value) => bytes(b'b', value, out),
        Value::List(values) => list(values, out),
        Value::Array(array) if array.named.is_empty() => list(&array.list, out),
        Value::Array(array) => {
            members(b'a', &array.named, out);
            list(&array.list, out);
        }
        Value::Map(named) => members(b'm', named, out),
        Value::Object(object) => {
            text(b'o', &object.class, out);
            members(b'm', &object.members, out);
        }
        Value::Vector(vector) => {
            out.push(b'v');
            match &vector.items {
                Items::Ints(values) => {
                    numbers(values.iter().map(|&item| Value::Int(item.into())), out);
                }
                Items::Uints(values) => {
                    numbers(values.iter().map(|&item| Value::Int(item.into())), out);
                }
                Items::Doubles(values) => {
                    numbers(values.iter().map(|&item| Value::Float(item)), out);
                }
                Items::Objects { class, values } => {
                    text(b'o', class, out);
                    list(values, out);
                }
            }
        }
        Value::Dictionary(dictionary) => {
            let entries = dictionary.entries.iter().map(|(key, found)| {
                let mut entry = Vec::new();
                value(key, &mut entry);
                value(found, &mut entry);
                entry
            });
            sorted(b'k', entries.collect(), out);
        }
        // No request holds one.
        Value::Rows(_) => text(b'r', &asked.to_json(), out),
    }
}

fn integer(value: i128, out: &mut Vec<u8>) {
    out.push(b'i');
    out.extend(value.to_be_bytes());
}

fn text(mark: u8, value: &str, out: &mut Vec<u8>) {
    bytes(mark, value.as_bytes(), out);
}

fn bytes(mark: u8, value: &[u8], out: &mut Vec<u8>) {
    out.push(mark);
    out.extend((value.len() as u64).to_be_bytes());
    out.extend_from_slice(value);
}

fn list(values: &[Value], out: &mut Vec<u8>) {
    out.push(b'l');
    out.extend((values.len() as u64).to_be_bytes());
    values.iter().for_each(|item| value(item, out));
}

fn numbers(values: impl Iterator<Item = Value>, out: &mut Vec<u8>) {
    list(&values.collect::<Vec<_>>(), out);
}

fn members(mark: u8, named: &Members, out: &mut Vec<u8>) {
    let entries = named.iter().map(|(name, found)| {
        let mut entry = Vec::new();
        text(b't', name, &mut entry);
        value(found, &mut entry);
        entry
    });
    sorted(mark, entries.collect(), out);
}

fn sorted(mark: u8, mut entries: Vec<Vec<u8>>, out: &mut Vec<u8>) {
    entries.sort_unstable();
    out.push(mark);
    out.extend((entries.len() as u64).to_be_bytes());
    entries
        .iter()
        .for_each(|entry| out.extend_from_slice(entry));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Object;

    #[test]
    fn the_same_arguments_have_the_same_key_and_others_another_one() {
        let key = |value: Value| Key::new("amf", "Tiles.list", &value);
        let map =
            |names: [&str; 2]| Value::Map(names.map(|name| (name.into(), Value::Int(1))).into());
        assert_eq!(key(Value::Float(5.0)), key(Value::Int(5)));
        assert_eq!(key(map(["a", "b"])), key(map(["b", "a"])));
        let different = [
            Value::Null,
            Value::Undefined,
            Value::Int(1),
            Value::Float(1.5),
            Value::Bool(true),
            Value::from("1"),
            Value::Bytes(b"1".to_vec()),
            Value::Date(1.0),
            Value::List(vec![Value::List(vec![]), Value::Int(1)]),
            Value::List(vec![Value::List(vec![Value::Int(1)])]),
            map(["a", "b"]),
            Value::from(Object {
                class: "Tile".into(),
                members: vec![("a".into(), Value::Int(1)), ("b".into(), Value::Int(1))],
                ..Object::default()
            }),
        ];
        for (index, one) in different.iter().enumerate() {
            for other in &different[index + 1..] {
                assert_ne!(key(one.clone()), key(other.clone()), "{one:?}, {other:?}");
            }
        }
        assert_ne!(
            Key::new("amf", "ab", &Value::from("c")),
            Key::new("amf", "a", &Value::from("bc"))
        );
    }
}
