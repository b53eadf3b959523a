//! A value of AMF3 as a tree.

use std::sync::Arc;

use super::external::Externalizable;
use super::integer::{MAX_INTEGER, MIN_INTEGER};
use super::traits::Traits;
use crate::DecodeError;
use crate::references::{Tree, Walk};
use crate::weight::Weight;

/// Names and values, in the order in which they are written. A name may come twice.
pub type Properties = Vec<(Arc<str>, Value)>;

/// A value of AMF3: every type of the specification.
///
/// A decoder shares equal texts and traits as far as the bytes do, so that they cost no memory again.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf3::{Value, decode, encode};
///
/// let list = Value::from(vec![Value::Integer(7), "seven".into(), Value::Null]);
/// let bytes = encode(&list)?;
/// assert_eq!(decode(&bytes, Default::default())?, list);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// What was never set.
    Undefined,
    /// Nothing.
    Null,
    /// Yes or no.
    Boolean(bool),
    /// An integer of 29 bits with its sign; one that has more is written as a double.
    Integer(i32),
    /// A number.
    Double(f64),
    /// A text.
    String(Arc<str>),
    /// An XML document of the older kind, as text.
    XmlDocument(Arc<str>),
    /// A point in time, in milliseconds since 1970 in UTC.
    Date(f64),
    /// An array, with or without names.
    Array(Box<Array>),
    /// An object.
    Object(Box<Object>),
    /// An object of an externalizable class.
    Externalizable(Box<Externalizable>),
    /// XML of the newer kind, as text.
    Xml(Arc<str>),
    /// Bytes.
    ByteArray(Vec<u8>),
    /// Integers of 32 bits with a sign.
    VectorInt(Box<Vector<i32>>),
    /// Integers of 32 bits without a sign.
    VectorUint(Box<Vector<u32>>),
    /// Doubles.
    VectorDouble(Box<Vector<f64>>),
    /// Values of one class.
    VectorObject {
        /// The name of the class; `*` for any.
        class: Arc<str>,
        /// The values.
        vector: Box<Vector<Value>>,
    },
    /// Keys of any type with values.
    Dictionary(Box<Dictionary>),
    /// The value with this number: dates, XML, bytes, objects and all that contains values count from 0, in the
    /// order in which they begin.
    Reference(u32),
}

/// An array: values with names, and values without.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf3::{Array, Value, decode, encode};
///
/// let array = Value::Array(Box::new(Array {
///     associative: vec![("colour".into(), "red".into())],
///     dense: vec![Value::Integer(1), Value::Integer(2)],
/// }));
/// assert_eq!(decode(&encode(&array)?, Default::default())?, array);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Array {
    /// Those with a name, which may not be empty.
    pub associative: Properties,
    /// Those without.
    pub dense: Vec<Value>,
}

/// An object.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use tamtam_amf::amf3::{Object, Traits, Value, decode, encode};
///
/// let tile = Object {
///     traits: Arc::new(Traits::sealed("com.example.Tile", ["x"])),
///     sealed: vec![Value::Integer(5)], // one for each member of the traits
///     dynamic: Vec::new(),
/// };
/// let there = decode(&encode(&tile.into())?, Default::default())?;
/// assert_eq!(there.get("x"), Some(&Value::Integer(5)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// What it has in common with others of its class.
    pub traits: Arc<Traits>,
    /// A value for each member that the traits name.
    pub sealed: Vec<Value>,
    /// Other properties, if the traits allow any. A name may not be empty.
    pub dynamic: Properties,
}

/// A vector: values of one type.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf3::{Value, Vector, decode, encode};
///
/// let places = Value::VectorDouble(Box::new(Vector { fixed: true, values: vec![0.5, 1.5] }));
/// assert_eq!(decode(&encode(&places)?, Default::default())?, places);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vector<T> {
    /// Whether its length is fixed for the receiver.
    pub fixed: bool,
    /// The values.
    pub values: Vec<T>,
}

/// Keys of any type with values.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf3::{Dictionary, Value, decode, encode};
///
/// let names = Value::Dictionary(Box::new(Dictionary {
///     weak_keys: false,
///     entries: vec![(Value::Integer(1), "one".into())],
/// }));
/// assert_eq!(decode(&encode(&names)?, Default::default())?, names);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dictionary {
    /// Whether the receiver is to hold the keys weakly.
    pub weak_keys: bool,
    /// Keys and values.
    pub entries: Vec<(Value, Value)>,
}

impl Object {
    /// The property of this name, sealed or dynamic.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        let sealed = self.traits.members.iter().zip(&self.sealed);
        let dynamic = self.dynamic.iter().map(|(name, value)| (name, value));
        sealed
            .chain(dynamic)
            .find(|(known, _)| ***known == *name)
            .map(|(_, value)| value)
    }
}

impl Value {
    /// The property of this name: of an object, externalizable or not, or an array with names.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_amf::amf3::{Object, Traits, Value};
    ///
    /// let point = Value::from(Object {
    ///     traits: Traits::sealed("", ["x"]).into(),
    ///     sealed: vec![Value::Integer(1)],
    ///     dynamic: vec![],
    /// });
    /// assert_eq!(point.get("x"), Some(&Value::Integer(1)));
    /// assert_eq!(point.get("y"), None);
    /// ```
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Object(object) => object.get(name),
            Value::Externalizable(object) => object.get(name),
            Value::Array(array) => array
                .associative
                .iter()
                .find(|(known, _)| &**known == name)
                .map(|(_, value)| value),
            _ => None,
        }
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Value::Double(number)
    }
}

/// As an integer, or as a double if it has more than 29 bits.
impl From<i32> for Value {
    fn from(number: i32) -> Self {
        if (MIN_INTEGER..=MAX_INTEGER).contains(&number) {
            Value::Integer(number)
        } else {
            Value::Double(f64::from(number))
        }
    }
}

impl From<Externalizable> for Value {
    fn from(object: Externalizable) -> Self {
        Value::Externalizable(Box::new(object))
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

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Value::Object(Box::new(object))
    }
}

impl From<Vec<Value>> for Value {
    fn from(dense: Vec<Value>) -> Self {
        Value::Array(Box::new(Array {
            associative: Vec::new(),
            dense,
        }))
    }
}

fn add_properties(weight: &mut Weight, properties: &Properties) {
    for (name, value) in properties {
        weight.bytes += name.len();
        weight.add(value.weight());
    }
}

fn add_values(weight: &mut Weight, values: &[Value]) {
    for value in values {
        weight.add(value.weight());
    }
}

impl Tree for Value {
    fn reference(&self) -> Option<usize> {
        match self {
            Value::Reference(index) => Some(*index as usize),
            _ => None,
        }
    }

    fn is_numbered(&self, _: bool) -> bool {
        !matches!(
            self,
            Value::Undefined
                | Value::Null
                | Value::Boolean(_)
                | Value::Integer(_)
                | Value::Double(_)
                | Value::String(_)
                | Value::Reference(_)
        )
    }

    fn is_container(&self) -> bool {
        matches!(
            self,
            Value::Array(_)
                | Value::Object(_)
                | Value::Externalizable(_)
                | Value::VectorObject { .. }
                | Value::Dictionary(_)
        )
    }

    fn weight(&self) -> Weight {
        let mut weight = Weight::default();
        match self {
            Value::String(text) | Value::XmlDocument(text) | Value::Xml(text) => {
                weight.bytes = text.len()
            }
            Value::ByteArray(bytes) => weight.bytes = bytes.len(),
            Value::VectorInt(vector) => weight.bytes = 4 * vector.values.len(),
            Value::VectorUint(vector) => weight.bytes = 4 * vector.values.len(),
            Value::VectorDouble(vector) => weight.bytes = 8 * vector.values.len(),
            Value::VectorObject { class, vector } => {
                weight.bytes = class.len();
                add_values(&mut weight, &vector.values);
            }
            Value::Array(array) => {
                add_properties(&mut weight, &array.associative);
                add_values(&mut weight, &array.dense);
            }
            Value::Object(object) => {
                add_values(&mut weight, &object.sealed);
                add_properties(&mut weight, &object.dynamic);
            }
            Value::Externalizable(object) => {
                weight.bytes = object.class.len();
                add_properties(&mut weight, &object.members);
            }
            Value::Dictionary(dictionary) => {
                for (key, value) in &dictionary.entries {
                    weight.add(key.weight());
                    weight.add(value.weight());
                }
            }
            _ => {}
        }
        weight.values += 1;
        weight.height += usize::from(self.is_container());
        weight
    }

    fn walk_inside(&mut self, walk: &mut Walk<'_, Self>) -> Result<(), DecodeError> {
        let (properties, values) = match self {
            Value::Array(array) => {
                // Names come first in an array, and last in an object.
                for (_, value) in &mut array.associative {
                    walk.walk(value)?;
                }
                (None, &mut array.dense)
            }
            Value::Object(object) => (Some(&mut object.dynamic), &mut object.sealed),
            Value::Externalizable(object) => {
                for (_, value) in &mut object.members {
                    walk.walk(value)?;
                }
                return Ok(());
            }
            Value::VectorObject { vector, .. } => (None, &mut vector.values),
            Value::Dictionary(dictionary) => {
                for (key, value) in &mut dictionary.entries {
                    walk.walk(key)?;
                    walk.walk(value)?;
                }
                return Ok(());
            }
            _ => return Ok(()),
        };
        for value in values {
            walk.walk(value)?;
        }
        for (_, value) in properties.into_iter().flatten() {
            walk.walk(value)?;
        }
        Ok(())
    }
}
