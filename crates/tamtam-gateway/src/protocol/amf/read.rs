//! Values of AMF as values between the protocols.

use tamtam_amf::{amf0, amf3};

use crate::value::Members;
use crate::{Array, Dictionary, Items, Object, Value, Vector};

/// A value of AMF0, or of AMF3 within it. References were resolved by the decoder.
pub(super) fn of_amf0(value: amf0::Value) -> Value {
    match value {
        amf0::Value::Number(number) => Value::Float(number),
        amf0::Value::Boolean(value) => Value::Bool(value),
        amf0::Value::String(text) => Value::Text(text.to_string()),
        amf0::Value::Object(properties) => Value::Map(members0(properties)),
        amf0::Value::Null | amf0::Value::Reference(_) => Value::Null,
        amf0::Value::Undefined | amf0::Value::Unsupported => Value::Undefined,
        amf0::Value::EcmaArray(properties) => Value::from(Array {
            named: members0(properties),
            list: Vec::new(),
        }),
        amf0::Value::StrictArray(values) => Value::List(values.into_iter().map(of_amf0).collect()),
        // The zone is to be ignored, says the specification.
        amf0::Value::Date { milliseconds, .. } => Value::Date(milliseconds),
        amf0::Value::XmlDocument(text) => Value::XmlDocument(text.to_string()),
        amf0::Value::TypedObject(object) => Value::from(Object {
            class: object.class.to_string(),
            sealed: 0,
            is_external: false,
            members: members0(object.properties),
        }),
        amf0::Value::Avmplus(value) => of_amf3(*value),
    }
}

fn members0(properties: amf0::Properties) -> Members {
    let properties = properties.into_iter();
    properties
        .map(|(name, value)| (name.to_string(), of_amf0(value)))
        .collect()
}

fn of_amf3(value: amf3::Value) -> Value {
    match value {
        amf3::Value::Undefined => Value::Undefined,
        amf3::Value::Null | amf3::Value::Reference(_) => Value::Null,
        amf3::Value::Boolean(value) => Value::Bool(value),
        amf3::Value::Integer(number) => Value::Int(number.into()),
        amf3::Value::Double(number) => Value::Float(number),
        amf3::Value::String(text) => Value::Text(text.to_string()),
        amf3::Value::XmlDocument(text) => Value::XmlDocument(text.to_string()),
        amf3::Value::Xml(text) => Value::Xml(text.to_string()),
        amf3::Value::Date(milliseconds) => Value::Date(milliseconds),
        amf3::Value::ByteArray(bytes) => Value::Bytes(bytes),
        amf3::Value::Array(array) => {
            let list = array.dense.into_iter().map(of_amf3).collect();
            if array.associative.is_empty() {
                return Value::List(list);
            }
            let named = members3(array.associative);
            Value::from(Array { named, list })
        }
        amf3::Value::Object(object) => {
            let names = object.traits.members.iter().map(|name| name.to_string());
            let mut members: Members = names.zip(object.sealed.into_iter().map(of_amf3)).collect();
            let sealed = members.len();
            members.extend(members3(object.dynamic));
            if object.traits.class.is_empty() {
                return Value::Map(members);
            }
            Value::from(Object {
                class: object.traits.class.to_string(),
                sealed,
                is_external: false,
                members,
            })
        }
        amf3::Value::Externalizable(object) => Value::from(Object {
            class: object.class.to_string(),
            sealed: 0,
            is_external: true,
            members: members3(object.members),
        }),
        amf3::Value::VectorInt(vector) => of_vector(vector.fixed, Items::Ints(vector.values)),
        amf3::Value::VectorUint(vector) => of_vector(vector.fixed, Items::Uints(vector.values)),
        amf3::Value::VectorDouble(vector) => of_vector(vector.fixed, Items::Doubles(vector.values)),
        amf3::Value::VectorObject { class, vector } => {
            let items = Items::Objects {
                class: class.to_string(),
                values: vector.values.into_iter().map(of_amf3).collect(),
            };
            of_vector(vector.fixed, items)
        }
        amf3::Value::Dictionary(dictionary) => {
            let entries = dictionary.entries.into_iter();
            Value::from(Dictionary {
                weak_keys: dictionary.weak_keys,
                entries: entries
                    .map(|(key, value)| (of_amf3(key), of_amf3(value)))
                    .collect(),
            })
        }
    }
}

fn of_vector(fixed: bool, items: Items) -> Value {
    Value::from(Vector { fixed, items })
}

fn members3(properties: amf3::Properties) -> Members {
    let properties = properties.into_iter();
    properties
        .map(|(name, value)| (name.to_string(), of_amf3(value)))
        .collect()
}
