//! A value of AMF0 as a tree.

use std::sync::Arc;

use crate::amf3;
use crate::references::{Tree, Walk};
use crate::weight::Weight;
use crate::{DecodeError, amf0};

/// Names and values, in the order in which they are written. A name may come twice.
pub type Properties = Vec<(Arc<str>, Value)>;

/// A value of AMF0: every type of the specification but the two that it reserves.
///
/// A decoder shares equal names of neighbouring objects, so that they cost no memory again.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf0::{Value, decode, encode};
///
/// let point = Value::Object(vec![("x".into(), 0.5.into()), ("label".into(), "here".into())]);
/// let bytes = encode(&point)?;
/// let there = decode(&bytes, Default::default())?;
/// assert_eq!(there, point);
/// assert_eq!(there.get("x"), Some(&Value::Number(0.5)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number; the format has doubles alone.
    Number(f64),
    /// Yes or no.
    Boolean(bool),
    /// A text. From 65,536 bytes on it is written as a long string.
    String(Arc<str>),
    /// An object without a class.
    Object(Properties),
    /// Nothing.
    Null,
    /// What was never set.
    Undefined,
    /// The container with this number: objects and arrays count from 0, in the order in which they begin.
    Reference(u16),
    /// An array with names.
    EcmaArray(Properties),
    /// An array without names.
    StrictArray(Vec<Value>),
    /// A point in time.
    Date {
        /// Milliseconds since 1970 in UTC.
        milliseconds: f64,
        /// Minutes; the specification asks for 0 and for ignoring anything else.
        time_zone: i16,
    },
    /// What the sender could not write.
    Unsupported,
    /// An XML document, as text.
    XmlDocument(Arc<str>),
    /// An object with a class.
    TypedObject(Box<TypedObject>),
    /// A value in AMF3.
    Avmplus(Box<amf3::Value>),
}

/// An object with a class.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf0::{TypedObject, Value, decode, encode};
///
/// let tile = Value::TypedObject(Box::new(TypedObject {
///     class: "com.example.Tile".into(),
///     properties: vec![("x".into(), 1.0.into())],
/// }));
/// assert_eq!(decode(&encode(&tile)?, Default::default())?, tile);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TypedObject {
    /// The name of the class.
    pub class: Arc<str>,
    /// Names and values.
    pub properties: Properties,
}

impl Value {
    /// The property of this name, the first one if there are several: of an object, typed or not, or an array with
    /// names.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_amf::amf0::Value;
    ///
    /// let point = Value::Object(vec![("x".into(), Value::Number(1.0))]);
    /// assert_eq!(point.get("x"), Some(&Value::Number(1.0)));
    /// assert_eq!(point.get("y"), None);
    /// ```
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        let properties = match self {
            Value::Object(properties) | Value::EcmaArray(properties) => properties,
            Value::TypedObject(object) => &object.properties,
            _ => return None,
        };
        properties
            .iter()
            .find(|(known, _)| &**known == name)
            .map(|(_, value)| value)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Value::Number(number)
    }
}

impl From<bool> for Value {
    fn from(boolean: bool) -> Self {
        Value::Boolean(boolean)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::String(text.into())
    }
}

impl From<Vec<Value>> for Value {
    fn from(values: Vec<Value>) -> Self {
        Value::StrictArray(values)
    }
}

fn add_properties(weight: &mut Weight, properties: &Properties) {
    for (name, value) in properties {
        weight.bytes += name.len();
        weight.add(value.weight());
    }
}

impl Tree for Value {
    fn reference(&self) -> Option<usize> {
        match self {
            Value::Reference(index) => Some(usize::from(*index)),
            _ => None,
        }
    }

    fn is_numbered(&self, leaves: bool) -> bool {
        let leaf = matches!(self, Value::Date { .. } | Value::XmlDocument(_));
        self.is_container() || leaves && leaf
    }

    fn is_container(&self) -> bool {
        matches!(
            self,
            Value::Object(_) | Value::EcmaArray(_) | Value::StrictArray(_) | Value::TypedObject(_)
        )
    }

    fn weight(&self) -> Weight {
        let mut weight = Weight::default();
        match self {
            Value::String(text) | Value::XmlDocument(text) => weight.bytes = text.len(),
            Value::Object(properties) | Value::EcmaArray(properties) => {
                add_properties(&mut weight, properties)
            }
            Value::TypedObject(object) => {
                weight.bytes = object.class.len();
                add_properties(&mut weight, &object.properties);
            }
            Value::StrictArray(values) => {
                for value in values {
                    weight.add(value.weight());
                }
            }
            Value::Avmplus(value) => weight = value.weight(),
            _ => {}
        }
        weight.values += 1;
        weight.height += usize::from(self.is_container());
        weight
    }

    fn walk_inside(&mut self, walk: &mut Walk<'_, Self>) -> Result<(), DecodeError> {
        let properties: &mut amf0::Properties = match self {
            Value::Object(properties) | Value::EcmaArray(properties) => properties,
            Value::TypedObject(object) => &mut object.properties,
            Value::StrictArray(values) => {
                for value in values {
                    walk.walk(value)?;
                }
                return Ok(());
            }
            Value::Avmplus(value) => return walk.account.walk_foreign(value, walk.depth),
            _ => return Ok(()),
        };
        for (_, value) in properties {
            walk.walk(value)?;
        }
        Ok(())
    }
}
