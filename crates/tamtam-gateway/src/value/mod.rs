//! A value between the protocols: whatever one of them can say.

mod classes;
mod date;
mod probe;
mod reader;
mod received;
mod shortened;
mod view;
mod writer;

use tamtam_rows::Rows;

pub(crate) use classes::ClassNames;
pub(crate) use date::{from_compact_iso, to_compact_iso, to_iso};
pub(crate) use probe::field_names;
pub use reader::ReadError;
use reader::read;
pub(crate) use reader::{Reading, read_arguments};
pub(crate) use received::{Budget, Within};
pub(crate) use shortened::shortened;
pub(crate) use view::View;
pub use writer::WriteError;

/// Names and values, in the order in which they came. A name may come twice.
pub type Members = Vec<(String, Value)>;

/// A value between the protocols: whatever one of them can say.
///
/// A method that takes and gives one gets it as the client sent it: an echo gives the same class and the same form of
/// array back, in every protocol that has them. What a protocol does not have becomes what comes next to it: in JSON a
/// date is text, and an object of a class is an object.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::Value;
///
/// #[derive(serde::Serialize)]
/// struct Tile { slot: u16, color: &'static str }
///
/// let tile = Value::of(&Tile { slot: 7, color: "ff8800" })?;
/// assert_eq!(tile.get("slot"), Some(&Value::Int(7)));
/// assert_eq!(tile.to_json(), r#"{"slot":7,"color":"ff8800"}"#);
/// # Ok::<(), tamtam_gateway::WriteError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// Nothing.
    #[default]
    Null,
    /// What was never set; in most protocols nothing.
    Undefined,
    /// Yes or no.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer of 2^63 or more.
    Unsigned(u64),
    /// A number.
    Float(f64),
    /// A text.
    Text(String),
    /// XML, as text.
    Xml(String),
    /// XML of Flash's older kind, as text.
    XmlDocument(String),
    /// A point in time, in milliseconds since 1970 in UTC.
    Date(f64),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list.
    List(Vec<Value>),
    /// A list with names, as Flash has it: an associative array.
    Array(Box<Array>),
    /// Names and values.
    Map(Members),
    /// Names and values of a class.
    Object(Box<Object>),
    /// Values of one type.
    Vector(Box<Vector>),
    /// Keys of any type with values.
    Dictionary(Box<Dictionary>),
    /// A table.
    Rows(Box<Rows>),
}

/// A list with names.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Array, Value};
///
/// let array = Array { named: vec![("color".into(), Value::from("red"))], list: vec![Value::Int(1)] };
/// // JSON has no such lists.
/// assert_eq!(Value::from(array).to_json(), r#"{"color":"red","0":1}"#);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Array {
    /// The values that have a name.
    pub named: Members,
    /// The others.
    pub list: Vec<Value>,
}

/// Names and values of a class.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Object, Value};
///
/// let tile = Object { class: "com.example.Tile".into(), members: vec![("x".into(), Value::Int(5))], ..Object::default() };
/// assert_eq!(Value::from(tile).to_json(), r#"{"x":5}"#);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object {
    /// The class's name.
    pub class: String,
    /// How many of the members, counted from the first, the class itself has; the others were added to this object.
    pub sealed: usize,
    /// Whether the class writes itself, as `flex.messaging.io.ArrayCollection` does.
    pub is_external: bool,
    /// Names and values.
    pub members: Members,
}

/// Values of one type, as Flash has them.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Value, Vector, Items};
///
/// let places = Vector { fixed: false, items: Items::Doubles(vec![0.5, 1.5]) };
/// assert_eq!(Value::from(places).to_json(), "[0.5,1.5]");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    /// Whether its length is fixed for the receiver.
    pub fixed: bool,
    /// The values.
    pub items: Items,
}

/// The values of a [`Vector`].
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Items, Value};
///
/// let of_a_class = Items::Objects { class: "*".into(), values: vec![Value::Null] };
/// assert_ne!(of_a_class, Items::Ints(vec![0]));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Items {
    /// Integers of 32 bits with a sign.
    Ints(Vec<i32>),
    /// Integers of 32 bits without a sign.
    Uints(Vec<u32>),
    /// Doubles.
    Doubles(Vec<f64>),
    /// Values of one class.
    Objects {
        /// The class's name; `*` for any.
        class: String,
        /// The values.
        values: Vec<Value>,
    },
}

/// Keys of any type with values.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Dictionary, Value};
///
/// let names = Dictionary { weak_keys: false, entries: vec![(Value::Int(1), Value::from("one"))] };
/// // JSON's keys are texts; the pairs keep what these are.
/// assert_eq!(Value::from(names).to_json(), r#"[[1,"one"]]"#);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dictionary {
    /// Whether the receiver is to hold the keys weakly.
    pub weak_keys: bool,
    /// Keys and values.
    pub entries: Vec<(Value, Value)>,
}

impl Object {
    /// The one value that an object only wraps, as Flex's collections and proxies do; otherwise the object.
    pub(crate) fn into_wrapped(mut self) -> Result<Value, Object> {
        if self.wrapped().is_none() {
            return Err(self);
        }
        match self.members.pop() {
            Some((_, value)) => Ok(value),
            None => Err(self),
        }
    }

    /// The one value that an object only wraps.
    pub(crate) fn wrapped(&self) -> Option<&Value> {
        match &*self.members {
            [(name, value)] if self.is_external && matches!(&**name, "source" | "object") => {
                Some(value)
            }
            _ => None,
        }
    }
}

impl Value {
    /// The value of a type that serde writes.
    ///
    /// # Errors
    /// If the type refuses, a key is no text, or an integer has more than 64 bits.
    pub fn of(value: &(impl serde::Serialize + ?Sized)) -> Result<Value, WriteError> {
        value.serialize(writer::Writer { classes: None })
    }

    /// The same; a struct of a class is an object of it.
    pub(crate) fn of_classes(
        value: &(impl serde::Serialize + ?Sized),
        classes: &ClassNames,
    ) -> Result<Value, WriteError> {
        let classes = Some(classes);
        value.serialize(writer::Writer { classes })
    }

    /// A type that serde reads out of the value.
    ///
    /// A number without a fraction is taken for an integer, since some clients have no others.
    ///
    /// # Errors
    /// If the value is none of that type.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_gateway::Value;
    ///
    /// let numbers: Vec<u8> = Value::from(vec![Value::Float(1.0), Value::Int(2)]).to()?;
    /// assert_eq!(numbers, [1, 2]);
    /// # Ok::<(), tamtam_gateway::ReadError>(())
    /// ```
    pub fn to<T: serde::de::DeserializeOwned>(self) -> Result<T, ReadError> {
        read(self, Reading::STRICT)
    }

    /// The member of this name: of a map, an object or an array with names.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let members = match self {
            Value::Map(members) => members,
            Value::Object(object) => &object.members,
            Value::Array(array) => &array.named,
            _ => return None,
        };
        members
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    /// The value in JSON. Dates are ISO 8601, bytes Base64; a number that JSON does not have is `null`.
    pub fn to_json(&self) -> String {
        // Writing to memory does not fail, and a view refuses nothing.
        serde_json::to_string(&View(self)).unwrap_or_default()
    }

    /// Whether there is nothing.
    pub fn is_nothing(&self) -> bool {
        matches!(self, Value::Null | Value::Undefined)
    }

    /// What it is, for errors.
    pub(crate) fn noun(&self) -> &'static str {
        match self {
            Value::Null | Value::Undefined => "nothing",
            Value::Bool(_) => "a truth value",
            Value::Int(_) | Value::Unsigned(_) | Value::Float(_) => "a number",
            Value::Text(_) => "a text",
            Value::Xml(_) | Value::XmlDocument(_) => "XML",
            Value::Date(_) => "a date",
            Value::Bytes(_) => "bytes",
            Value::List(_) | Value::Array(_) | Value::Vector(_) => "a list",
            Value::Map(_) | Value::Object(_) => "an object",
            Value::Dictionary(_) => "a dictionary",
            Value::Rows(_) => "a table",
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Int(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Float(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::Text(value)
    }
}

impl From<Vec<Value>> for Value {
    fn from(value: Vec<Value>) -> Value {
        Value::List(value)
    }
}

impl From<Array> for Value {
    fn from(value: Array) -> Value {
        Value::Array(Box::new(value))
    }
}

impl From<Object> for Value {
    fn from(value: Object) -> Value {
        Value::Object(Box::new(value))
    }
}

impl From<Vector> for Value {
    fn from(value: Vector) -> Value {
        Value::Vector(Box::new(value))
    }
}

impl From<Dictionary> for Value {
    fn from(value: Dictionary) -> Value {
        Value::Dictionary(Box::new(value))
    }
}

impl From<Rows> for Value {
    fn from(value: Rows) -> Value {
        Value::Rows(Box::new(value))
    }
}
