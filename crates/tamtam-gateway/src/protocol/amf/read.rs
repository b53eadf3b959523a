//! Values of AMF as values between the protocols.

use tamtam_amf::{amf0, amf3};

use crate::value::Members;
use crate::{Array, Dictionary, Fault, FaultKind, Items, Object, Value, Vector};

/// Bytes of the names that classes give to their objects: AMF3 writes them once and refers to them, a value has a copy of each.
pub(super) struct NameBudget {
    left: usize,
    most: usize,
}

impl NameBudget {
    /// So many bytes at most.
    pub(super) fn new(most: usize) -> NameBudget {
        NameBudget { left: most, most }
    }

    /// A copy of a name.
    fn copy(&mut self, name: &str) -> Result<String, Fault> {
        match self.left.checked_sub(name.len()) {
            Some(left) => {
                self.left = left;
                Ok(name.to_owned())
            }
            None => {
                let most = self.most;
                let reason = format!(
                    "the names of classes and their members take more than {most} bytes, all together"
                );
                Err(Fault::of(FaultKind::TooLarge, reason))
            }
        }
    }
}

/// A value of AMF0, or of AMF3 within it. References were resolved by the decoder.
///
/// # Errors
/// If there are more names than the budget has bytes for.
pub(super) fn of_amf0(value: amf0::Value, names: &mut NameBudget) -> Result<Value, Fault> {
    Ok(match value {
        amf0::Value::Number(number) => Value::Float(number),
        amf0::Value::Boolean(value) => Value::Bool(value),
        amf0::Value::String(text) => Value::Text(text.to_string()),
        amf0::Value::Object(properties) => Value::Map(members0(properties, names)?),
        amf0::Value::Null | amf0::Value::Reference(_) => Value::Null,
        amf0::Value::Undefined | amf0::Value::Unsupported => Value::Undefined,
        amf0::Value::EcmaArray(properties) => Value::from(Array {
            named: members0(properties, names)?,
            list: Vec::new(),
        }),
        amf0::Value::StrictArray(values) => {
            let values = values.into_iter().map(|value| of_amf0(value, names));
            Value::List(values.collect::<Result<_, _>>()?)
        }
        // The zone is to be ignored, says the specification.
        amf0::Value::Date { milliseconds, .. } => Value::Date(milliseconds),
        amf0::Value::XmlDocument(text) => Value::XmlDocument(text.to_string()),
        amf0::Value::TypedObject(object) => Value::from(Object {
            class: object.class.to_string(),
            sealed: 0,
            is_external: false,
            members: members0(object.properties, names)?,
        }),
        amf0::Value::Avmplus(value) => of_amf3(*value, names)?,
    })
}

fn members0(properties: amf0::Properties, names: &mut NameBudget) -> Result<Members, Fault> {
    let properties = properties.into_iter();
    properties
        .map(|(name, value)| Ok((name.to_string(), of_amf0(value, names)?)))
        .collect()
}

fn of_amf3(value: amf3::Value, names: &mut NameBudget) -> Result<Value, Fault> {
    Ok(match value {
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
            let list = list3(array.dense, names)?;
            if array.associative.is_empty() {
                return Ok(Value::List(list));
            }
            let named = members3(array.associative, names)?;
            Value::from(Array { named, list })
        }
        amf3::Value::Object(object) => {
            let of_class = object.traits.members.iter().zip(object.sealed);
            let of_class =
                of_class.map(|(name, value)| Ok((names.copy(name)?, of_amf3(value, names)?)));
            let mut members = of_class.collect::<Result<Members, Fault>>()?;
            let sealed = members.len();
            members.extend(members3(object.dynamic, names)?);
            if object.traits.class.is_empty() {
                return Ok(Value::Map(members));
            }
            Value::from(Object {
                class: names.copy(&object.traits.class)?,
                sealed,
                is_external: false,
                members,
            })
        }
        amf3::Value::Externalizable(object) => Value::from(Object {
            class: names.copy(&object.class)?,
            sealed: 0,
            is_external: true,
            members: members3(object.members, names)?,
        }),
        amf3::Value::VectorInt(vector) => of_vector(vector.fixed, Items::Ints(vector.values)),
        amf3::Value::VectorUint(vector) => of_vector(vector.fixed, Items::Uints(vector.values)),
        amf3::Value::VectorDouble(vector) => of_vector(vector.fixed, Items::Doubles(vector.values)),
        amf3::Value::VectorObject { class, vector } => {
            let items = Items::Objects {
                class: class.to_string(),
                values: list3(vector.values, names)?,
            };
            of_vector(vector.fixed, items)
        }
        amf3::Value::Dictionary(dictionary) => {
            let entries = dictionary.entries.into_iter();
            let entries =
                entries.map(|(key, value)| Ok((of_amf3(key, names)?, of_amf3(value, names)?)));
            Value::from(Dictionary {
                weak_keys: dictionary.weak_keys,
                entries: entries.collect::<Result<_, Fault>>()?,
            })
        }
    })
}

fn list3(values: Vec<amf3::Value>, names: &mut NameBudget) -> Result<Vec<Value>, Fault> {
    let values = values.into_iter().map(|value| of_amf3(value, names));
    values.collect()
}

fn of_vector(fixed: bool, items: Items) -> Value {
    Value::from(Vector { fixed, items })
}

fn members3(properties: amf3::Properties, names: &mut NameBudget) -> Result<Members, Fault> {
    let properties = properties.into_iter();
    properties
        .map(|(name, value)| Ok((name.to_string(), of_amf3(value, names)?)))
        .collect()
}
