//! Values between the protocols as values of AMF.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tamtam_amf::packet::Version;
use tamtam_amf::{amf0, amf3};
use tamtam_rows::Rows;

use crate::json::not_carried;
use crate::table::objects_of;
use crate::{Fault, Items, Members, Value};

/// Beyond this not every integer is a double.
const EXACT: u64 = 1 << 53;

/// The value in the version that was asked for: in version 3 as AMF3 within AMF0.
///
/// # Errors
/// If no double is the integer.
pub(super) fn value(value: Value, version: Version) -> Result<amf0::Value, Fault> {
    match version {
        Version::Amf0 => to_amf0(value),
        Version::Amf3 => to_amf3(value).map(|value| amf0::Value::Avmplus(Box::new(value))),
    }
}

fn to_amf0(value: Value) -> Result<amf0::Value, Fault> {
    Ok(match value {
        Value::Null => amf0::Value::Null,
        Value::Undefined => amf0::Value::Undefined,
        Value::Bool(value) => amf0::Value::Boolean(value),
        Value::Int(value) => amf0::Value::Number(double(value.unsigned_abs(), value < 0)?),
        Value::Unsigned(value) => amf0::Value::Number(double(value, false)?),
        Value::Float(value) => amf0::Value::Number(value),
        Value::Text(text) => amf0::Value::String(text.into()),
        Value::Xml(text) | Value::XmlDocument(text) => amf0::Value::XmlDocument(text.into()),
        Value::Date(milliseconds) => amf0::Value::Date {
            milliseconds,
            time_zone: 0,
        },
        // AMF0 has no bytes.
        Value::Bytes(bytes) => amf0::Value::String(STANDARD.encode(bytes).into()),
        Value::List(values) => list0(values)?,
        Value::Array(array) => {
            let listed = array.list.into_iter().enumerate();
            let listed = listed.map(|(index, value)| (index.to_string(), value));
            amf0::Value::EcmaArray(properties0(
                array.named.into_iter().chain(listed).collect(),
            )?)
        }
        Value::Map(members) => amf0::Value::Object(properties0(members)?),
        Value::Object(object) => match object.into_wrapped() {
            Ok(inner) => to_amf0(inner)?,
            Err(object) if object.class.is_empty() => {
                amf0::Value::Object(properties0(object.members)?)
            }
            Err(object) => amf0::Value::TypedObject(Box::new(amf0::TypedObject {
                class: object.class.into(),
                properties: properties0(object.members)?,
            })),
        },
        Value::Vector(vector) => match vector.items {
            Items::Ints(values) => list0(
                values
                    .into_iter()
                    .map(|value| Value::Int(value.into()))
                    .collect(),
            )?,
            Items::Uints(values) => list0(
                values
                    .into_iter()
                    .map(|value| Value::Int(value.into()))
                    .collect(),
            )?,
            Items::Doubles(values) => list0(values.into_iter().map(Value::Float).collect())?,
            Items::Objects { values, .. } => list0(values)?,
        },
        Value::Dictionary(dictionary) => {
            let pairs = dictionary.entries.into_iter();
            list0(
                pairs
                    .map(|(key, value)| Value::List(vec![key, value]))
                    .collect(),
            )?
        }
        Value::Rows(rows) => rows0(&rows)?,
    })
}

/// A table row by row, so that no more of it is there twice. All of them share the names.
fn rows0(rows: &Rows) -> Result<amf0::Value, Fault> {
    let names = names_of(rows);
    let mut objects = Vec::with_capacity(rows.len());
    for object in objects_of(rows) {
        let members = object?.members;
        let mut properties = amf0::Properties::with_capacity(members.len());
        for (name, (_, value)) in names.iter().zip(members) {
            properties.push((Arc::clone(name), to_amf0(value)?));
        }
        objects.push(amf0::Value::Object(properties));
    }
    Ok(amf0::Value::StrictArray(objects))
}

fn names_of(rows: &Rows) -> Vec<Arc<str>> {
    let fields = rows.schema().fields().iter();
    fields.map(|field| field.name().into()).collect()
}

fn list0(values: Vec<Value>) -> Result<amf0::Value, Fault> {
    let values: Result<_, _> = values.into_iter().map(to_amf0).collect();
    Ok(amf0::Value::StrictArray(values?))
}

fn properties0(members: Members) -> Result<amf0::Properties, Fault> {
    let members = members.into_iter();
    members
        .map(|(name, value)| Ok((name.into(), to_amf0(value)?)))
        .collect()
}

fn to_amf3(value: Value) -> Result<amf3::Value, Fault> {
    Ok(match value {
        Value::Null => amf3::Value::Null,
        Value::Undefined => amf3::Value::Undefined,
        Value::Bool(value) => amf3::Value::Boolean(value),
        Value::Int(value) => match i32::try_from(value) {
            // As a double where it has more than 29 bits.
            Ok(value) => amf3::Value::from(value),
            Err(_) => amf3::Value::Double(double(value.unsigned_abs(), value < 0)?),
        },
        Value::Unsigned(value) => amf3::Value::Double(double(value, false)?),
        Value::Float(value) => amf3::Value::Double(value),
        Value::Text(text) => amf3::Value::String(text.into()),
        Value::Xml(text) => amf3::Value::Xml(text.into()),
        Value::XmlDocument(text) => amf3::Value::XmlDocument(text.into()),
        Value::Date(milliseconds) => amf3::Value::Date(milliseconds),
        Value::Bytes(bytes) => amf3::Value::ByteArray(bytes),
        Value::List(values) => array3(Vec::new(), values)?,
        Value::Array(array) => array3(array.named, array.list)?,
        Value::Map(members) => object3("", 0, members)?,
        Value::Object(object) if object.is_external => amf3::Value::from(amf3::Externalizable {
            class: object.class.into(),
            members: properties3(object.members)?,
        }),
        Value::Object(object) => object3(&object.class, object.sealed, object.members)?,
        Value::Vector(vector) => {
            let fixed = vector.fixed;
            match vector.items {
                Items::Ints(values) => {
                    amf3::Value::VectorInt(Box::new(amf3::Vector { fixed, values }))
                }
                Items::Uints(values) => {
                    amf3::Value::VectorUint(Box::new(amf3::Vector { fixed, values }))
                }
                Items::Doubles(values) => {
                    amf3::Value::VectorDouble(Box::new(amf3::Vector { fixed, values }))
                }
                Items::Objects { class, values } => amf3::Value::VectorObject {
                    class: class.into(),
                    vector: Box::new(amf3::Vector {
                        fixed,
                        values: list3(values)?,
                    }),
                },
            }
        }
        Value::Dictionary(dictionary) => {
            let entries = dictionary.entries.into_iter();
            let entries: Result<_, Fault> = entries
                .map(|(key, value)| Ok((to_amf3(key)?, to_amf3(value)?)))
                .collect();
            amf3::Value::Dictionary(Box::new(amf3::Dictionary {
                weak_keys: dictionary.weak_keys,
                entries: entries?,
            }))
        }
        Value::Rows(rows) => rows3(&rows)?,
    })
}

/// As in AMF0.
fn rows3(rows: &Rows) -> Result<amf3::Value, Fault> {
    let members = names_of(rows);
    let traits = Arc::new(amf3::Traits {
        class: "".into(),
        dynamic: members.is_empty(),
        members,
    });
    let mut dense = Vec::with_capacity(rows.len());
    for object in objects_of(rows) {
        let members = object?.members;
        // With no more room than they take, since there are many.
        let mut sealed = Vec::with_capacity(members.len());
        for (_, value) in members {
            sealed.push(to_amf3(value)?);
        }
        dense.push(amf3::Value::from(amf3::Object {
            traits: Arc::clone(&traits),
            sealed,
            dynamic: Vec::new(),
        }));
    }
    Ok(amf3::Value::Array(Box::new(amf3::Array {
        associative: Vec::new(),
        dense,
    })))
}

fn array3(named: Members, list: Vec<Value>) -> Result<amf3::Value, Fault> {
    // The empty name ends the names; such a value has no place.
    let named = named
        .into_iter()
        .filter(|(name, _)| !name.is_empty())
        .collect();
    Ok(amf3::Value::Array(Box::new(amf3::Array {
        associative: properties3(named)?,
        dense: list3(list)?,
    })))
}

fn list3(values: Vec<Value>) -> Result<Vec<amf3::Value>, Fault> {
    values.into_iter().map(to_amf3).collect()
}

fn object3(class: &str, sealed: usize, mut members: Members) -> Result<amf3::Value, Fault> {
    let added = members.split_off(sealed.min(members.len()));
    let added: Members = added
        .into_iter()
        .filter(|(name, _)| !name.is_empty())
        .collect();
    let (names, values): (Vec<Arc<str>>, Vec<Value>) = members
        .into_iter()
        .map(|(name, value)| (name.into(), value))
        .unzip();
    let traits = amf3::Traits {
        class: class.into(),
        dynamic: names.is_empty() || !added.is_empty(),
        members: names,
    };
    Ok(amf3::Value::from(amf3::Object {
        traits: Arc::new(traits),
        sealed: list3(values)?,
        dynamic: properties3(added)?,
    }))
}

fn properties3(members: Members) -> Result<amf3::Properties, Fault> {
    let members = members.into_iter();
    members
        .map(|(name, value)| Ok((name.into(), to_amf3(value)?)))
        .collect()
}

/// The double that is this integer.
fn double(magnitude: u64, is_negative: bool) -> Result<f64, Fault> {
    if magnitude > EXACT {
        return Err(not_carried(format!(
            "AMF's numbers are doubles, and none is the integer {}{magnitude}; send it as text",
            if is_negative { "-" } else { "" }
        )));
    }
    let number = magnitude as f64;
    Ok(if is_negative { -number } else { number })
}
