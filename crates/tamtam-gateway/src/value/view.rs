//! A value as serde writes it, for JSON and MessagePack.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use super::{Items, Members, Value, to_iso};

/// A value as serde writes it. Formats for people get texts for what they do not have; others get bytes as bytes.
pub(crate) struct View<'v>(pub(crate) &'v Value);

impl Serialize for View<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null | Value::Undefined => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Int(value) => serializer.serialize_i64(*value),
            Value::Unsigned(value) => serializer.serialize_u64(*value),
            Value::Float(value) => serializer.serialize_f64(*value),
            Value::Text(text) | Value::Xml(text) | Value::XmlDocument(text) => {
                serializer.serialize_str(text)
            }
            Value::Date(milliseconds) => match to_iso(*milliseconds) {
                Some(text) => serializer.serialize_str(&text),
                None => serializer.serialize_unit(),
            },
            Value::Bytes(bytes) if serializer.is_human_readable() => {
                serializer.serialize_str(&STANDARD.encode(bytes))
            }
            Value::Bytes(bytes) => serializer.serialize_bytes(bytes),
            Value::List(values) => serializer.collect_seq(values.iter().map(View)),
            Value::Array(array) => {
                let length = array.named.len() + array.list.len();
                let mut map = serializer.serialize_map(Some(length))?;
                for (name, value) in &array.named {
                    map.serialize_entry(name, &View(value))?;
                }
                for (index, value) in array.list.iter().enumerate() {
                    map.serialize_entry(&index.to_string(), &View(value))?;
                }
                map.end()
            }
            Value::Map(members) => view_members(members, serializer),
            Value::Object(object) => match object.wrapped() {
                Some(inner) => View(inner).serialize(serializer),
                None => view_members(&object.members, serializer),
            },
            Value::Vector(vector) => match &vector.items {
                Items::Ints(values) => serializer.collect_seq(values),
                Items::Uints(values) => serializer.collect_seq(values),
                Items::Doubles(values) => serializer.collect_seq(values),
                Items::Objects { values, .. } => serializer.collect_seq(values.iter().map(View)),
            },
            Value::Dictionary(dictionary) => {
                let entries = dictionary.entries.iter();
                serializer.collect_seq(entries.map(|(key, value)| (View(key), View(value))))
            }
            Value::Rows(rows) => {
                let mut list = serializer.serialize_seq(Some(rows.len()))?;
                for row in rows.deserialize::<Value>() {
                    let row = row.map_err(serde::ser::Error::custom)?;
                    list.serialize_element(&View(&row))?;
                }
                list.end()
            }
        }
    }
}

fn view_members<S: Serializer>(members: &Members, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(members.iter().map(|(name, value)| (name, View(value))))
}
