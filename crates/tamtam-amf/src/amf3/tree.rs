//! Trees: written item by item, and put together of the items that a decoder reads.

use std::sync::Arc;

use super::decoder::Decoder;
use super::encoder::Encoder;
use super::event::Event;
use super::external::Externalizable;
use super::marker::{DOUBLE, FALSE, INTEGER, NULL, STRING, TRUE, UNDEFINED};
use super::traits::Traits;
use super::value::{Array, Dictionary, Object, Properties, Value, Vector};
use crate::input::Input;
use crate::references::{self, Account, Walk};
use crate::weight::Weight;
use crate::{Cause, DecodeError, EncodeError, Limits, Sharing};

/// References to values.
pub(crate) type References = references::References<Value>;

/// The bytes of one value.
///
/// # Errors
///
/// A text, content or container longer than 28 bits can say, an empty name where it would end the list, an object
/// that does not fit its traits, a reference to what does not begin before it, more than [`MAX_DEPTH`](crate::MAX_DEPTH) containers
/// within each other.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf3::{Value, encode};
///
/// assert_eq!(encode(&Value::from("tam")).unwrap(), b"\x06\x07tam");
/// ```
pub fn encode(value: &Value) -> Result<Vec<u8>, EncodeError> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes);
    encoder.write_value(value)?;
    encoder.finish()?;
    Ok(bytes)
}

/// The one value that `bytes` hold, with copies in the places of references.
///
/// # Errors
///
/// What is not AMF3, objects of unknown externalizable classes, what exceeds the limits, bytes after the value, a value that
/// contains itself.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf3::{Value, decode};
///
/// assert_eq!(decode(b"\x06\x07tam", Default::default()).unwrap(), Value::from("tam"));
///
/// let error = decode(b"\x0a\x07\x07tam", Default::default()).unwrap_err();
/// assert!(error.to_string().starts_with("at byte 0: an object of the externalizable class \"tam\""));
/// ```
pub fn decode(bytes: &[u8], limits: Limits) -> Result<Value, DecodeError> {
    let mut decoder = Decoder::new(bytes, limits);
    let value = decoder.value()?;
    decoder.finish()?;
    Ok(value)
}

impl Encoder<'_> {
    /// Writes a value with all that is in it.
    ///
    /// # Errors
    ///
    /// Not the place for a value; see [`encode`].
    pub fn write_value(&mut self, value: &Value) -> Result<(), EncodeError> {
        match value {
            Value::Undefined => self.write_undefined(),
            Value::Null => self.write_null(),
            Value::Boolean(boolean) => self.write_boolean(*boolean),
            Value::Integer(number) => self.write_integer(*number),
            Value::Double(number) => self.write_double(*number),
            Value::String(text) => self.write_string(text),
            Value::XmlDocument(text) => self.write_xml_document(text),
            Value::Xml(text) => self.write_xml(text),
            Value::Date(milliseconds) => self.write_date(*milliseconds),
            Value::ByteArray(bytes) => self.write_byte_array(bytes),
            Value::VectorInt(vector) => self.write_vector_int(vector.fixed, &vector.values),
            Value::VectorUint(vector) => self.write_vector_uint(vector.fixed, &vector.values),
            Value::VectorDouble(vector) => self.write_vector_double(vector.fixed, &vector.values),
            Value::Reference(index) => self.write_reference(*index),
            Value::Array(array) => {
                self.begin_array(array.dense.len())?;
                self.write_properties(&array.associative)?;
                self.write_values(&array.dense)?;
                self.end()
            }
            Value::Object(object) => self.write_object(object),
            Value::Externalizable(object) => self.write_externalizable(object),
            Value::VectorObject { class, vector } => {
                self.begin_vector(class, vector.fixed, vector.values.len())?;
                self.write_values(&vector.values)?;
                self.end()
            }
            Value::Dictionary(dictionary) => {
                self.begin_dictionary(dictionary.weak_keys, dictionary.entries.len())?;
                for (key, value) in &dictionary.entries {
                    self.write_value(key)?;
                    self.write_value(value)?;
                }
                self.end()
            }
        }
    }

    fn write_object(&mut self, object: &Object) -> Result<(), EncodeError> {
        let traits = &object.traits;
        if object.sealed.len() != traits.members.len() {
            return Err(EncodeError::SealedCount {
                given: object.sealed.len(),
                expected: traits.members.len(),
            });
        }
        if !traits.dynamic && !object.dynamic.is_empty() {
            return Err(EncodeError::NotDynamic {
                class: traits.class.to_string(),
            });
        }
        let id = self.define_traits(Arc::clone(traits))?;
        self.begin_object(id)?;
        self.write_values(&object.sealed)?;
        self.write_properties(&object.dynamic)?;
        self.end()
    }

    fn write_values(&mut self, values: &[Value]) -> Result<(), EncodeError> {
        for value in values {
            self.write_value(value)?;
        }
        Ok(())
    }

    fn write_properties(&mut self, properties: &Properties) -> Result<(), EncodeError> {
        for (name, value) in properties {
            self.property(name)?;
            self.write_value(value)?;
        }
        Ok(())
    }
}

/// A container that is being put together.
enum Building {
    Array(Array),
    Object(Object),
    Externalizable(Externalizable),
    Vector {
        class: Arc<str>,
        vector: Vector<Value>,
    },
    Dictionary {
        dictionary: Dictionary,
        key: Option<Value>,
    },
}

impl Building {
    fn finish(self) -> Value {
        match self {
            Building::Array(array) => Value::Array(Box::new(array)),
            Building::Object(object) => Value::Object(Box::new(object)),
            Building::Externalizable(object) => Value::Externalizable(Box::new(object)),
            Building::Vector { class, vector } => Value::VectorObject {
                class,
                vector: Box::new(vector),
            },
            Building::Dictionary { dictionary, .. } => Value::Dictionary(Box::new(dictionary)),
        }
    }

    /// Takes in a value; its name, if it has one, came before.
    fn push(&mut self, value: Value, named: bool) {
        let (properties, values) = match self {
            Building::Array(array) => (Some(&mut array.associative), &mut array.dense),
            Building::Object(object) => (Some(&mut object.dynamic), &mut object.sealed),
            Building::Externalizable(object) => {
                if let Some((_, last)) = object.members.last_mut() {
                    *last = value;
                }
                return;
            }
            Building::Vector { vector, .. } => (None, &mut vector.values),
            Building::Dictionary { dictionary, key } => {
                match key.take() {
                    None => *key = Some(value),
                    Some(key) => dictionary.entries.push((key, value)),
                }
                return;
            }
        };
        match properties.and_then(|properties| properties.last_mut()) {
            Some((_, last)) if named => *last = value,
            _ => values.push(value),
        }
    }

    fn properties(&mut self) -> Option<&mut Properties> {
        match self {
            Building::Array(array) => Some(&mut array.associative),
            Building::Object(object) => Some(&mut object.dynamic),
            Building::Externalizable(object) => Some(&mut object.members),
            Building::Vector { .. } | Building::Dictionary { .. } => None,
        }
    }
}

/// The input ends where a value is asked for.
const ENDED: Cause = Cause::Truncated { needed: 1, left: 0 };

/// An object that was read ahead of the events.
enum ReadObject {
    /// It has ended.
    Whole(Box<Object>),
    /// The next of its values is none that can be read ahead.
    Begun(Box<Object>),
    Nothing,
}

/// Integers and doubles out of their bytes.
fn vector<T, const N: usize>(
    fixed: bool,
    bytes: &[u8],
    value: impl Fn([u8; N]) -> T,
) -> Box<Vector<T>> {
    let (chunks, _) = bytes.as_chunks();
    Box::new(Vector {
        fixed,
        values: chunks.iter().map(|chunk| value(*chunk)).collect(),
    })
}

impl Decoder<'_> {
    /// The next value as a tree, with copies in the places of references, unless
    /// [something else](Self::with_sharing) was chosen. Copies count towards the limits, and what is copied once more.
    ///
    /// # Errors
    ///
    /// What is not AMF3, objects of unknown externalizable classes, what exceeds the limits, a value that contains itself, a
    /// reference to what began before this value; a reference, if these are refused.
    pub fn value(&mut self) -> Result<Value, DecodeError> {
        match self.sharing {
            Sharing::Copy => self.copied(),
            Sharing::Keep => self.value_with_references(),
            Sharing::Refuse => {
                self.refuses = true;
                let value = self.tree();
                self.refuses = false;
                value
            }
        }
    }

    /// The next value as a tree, with copies in the places of references.
    pub(crate) fn copied(&mut self) -> Result<Value, DecodeError> {
        let first = if self.is_at_top() { 0 } else { self.begun };
        self.references = Some(Box::new(References::from(first)));
        let tree = self.tree();
        let references = self.references.take();
        let mut value = tree?;
        if let Some(mut references) = references.filter(|references| !references.is_empty()) {
            resolve(&mut value, &mut references, &mut self.input, 0)?;
        }
        Ok(value)
    }

    /// The next value as a tree, with [`Value::Reference`] where a reference is: also of what contains itself.
    /// An encoder writes such a tree back as it was.
    ///
    /// # Errors
    ///
    /// What is not AMF3, objects of unknown externalizable classes, what exceeds the limits.
    pub fn value_with_references(&mut self) -> Result<Value, DecodeError> {
        self.tree()
    }

    /// The next value; its references are noted if they are to be replaced.
    pub(crate) fn tree(&mut self) -> Result<Value, DecodeError> {
        let mut open: Vec<Building> = Vec::new();
        // Whether the next value has a name, for each that is open.
        let mut named: Vec<bool> = Vec::new();
        loop {
            let position = self.input.position();
            let value = match self.object_ahead() {
                ReadObject::Whole(object) => Value::Object(object),
                ReadObject::Begun(object) => {
                    open.push(Building::Object(*object));
                    named.push(false);
                    continue;
                }
                ReadObject::Nothing => match self.next_event()?.ok_or(DecodeError {
                    position,
                    cause: ENDED,
                })? {
                    Event::Undefined => Value::Undefined,
                    Event::Null => Value::Null,
                    Event::Boolean(boolean) => Value::Boolean(boolean),
                    Event::Integer(number) => Value::Integer(number),
                    Event::Double(number) => Value::Double(number),
                    Event::String(_) => Value::String(self.last_text()),
                    Event::XmlDocument(text) => Value::XmlDocument(text.into()),
                    Event::Xml(text) => Value::Xml(text.into()),
                    Event::Date(milliseconds) => Value::Date(milliseconds),
                    Event::ByteArray(bytes) => Value::ByteArray(bytes.into()),
                    Event::VectorInt { fixed, bytes } => {
                        Value::VectorInt(vector(fixed, bytes, i32::from_be_bytes))
                    }
                    Event::VectorUint { fixed, bytes } => {
                        Value::VectorUint(vector(fixed, bytes, u32::from_be_bytes))
                    }
                    Event::VectorDouble { fixed, bytes } => {
                        Value::VectorDouble(vector(fixed, bytes, f64::from_be_bytes))
                    }
                    Event::Reference(index) => {
                        if self.refuses {
                            let index = index as usize;
                            return Input::error_at(self.started, Cause::Shared { index });
                        }
                        if let Some(references) = &mut self.references {
                            references.note(self.started, index as usize)?;
                        }
                        Value::Reference(index)
                    }
                    Event::End => {
                        named.pop();
                        match open.pop() {
                            Some(building) => building.finish(),
                            None => return Input::error_at(position, Cause::NotAValue),
                        }
                    }
                    Event::Externalizable => match self.take_externalizable() {
                        Some(object) => Value::from(object),
                        None => return Input::error_at(position, Cause::NotAValue),
                    },
                    Event::Property(name) => {
                        let name = self.last_name(name);
                        let (Some(properties), Some(named)) = (
                            open.last_mut().and_then(Building::properties),
                            named.last_mut(),
                        ) else {
                            return Input::error_at(position, Cause::NotAValue);
                        };
                        properties.push((name, Value::Undefined));
                        *named = true;
                        continue;
                    }
                    begins => {
                        open.push(self.begin(begins));
                        named.push(false);
                        continue;
                    }
                },
            };
            match (open.last_mut(), named.last_mut()) {
                (Some(building), Some(named)) => building.push(value, std::mem::take(named)),
                _ => return Ok(value),
            }
        }
    }

    /// The object that is next within a container, if its traits were there before and it has sealed members alone.
    #[inline]
    fn object_ahead(&mut self) -> ReadObject {
        let Some(found) = self.find_object(None, None).filter(|found| !found.dynamic) else {
            return ReadObject::Nothing;
        };
        let Some(traits) = self.traits(found.traits).map(Arc::clone) else {
            return ReadObject::Nothing;
        };
        let mut place = self.values_of(&found);
        let mut object = Box::new(Object {
            traits,
            sealed: Vec::with_capacity(found.sealed),
            dynamic: Vec::new(),
        });
        while object.sealed.len() < found.sealed {
            let value = match place.marker() {
                Some(DOUBLE) => place.double().map(Value::Double),
                Some(STRING) => place.text(self).map(|_| Value::String(self.last_text())),
                Some(INTEGER) => place.integer().map(Value::Integer),
                Some(TRUE | FALSE) => place.boolean().map(Value::Boolean),
                Some(NULL) => place.plain().map(|_| Value::Null),
                Some(UNDEFINED) => place.plain().map(|_| Value::Undefined),
                _ => None,
            };
            match value {
                Some(value) => object.sealed.push(value),
                None => {
                    self.begin_found(&found);
                    self.catch_up(&place, object.sealed.len());
                    return ReadObject::Begun(object);
                }
            }
        }
        self.pass_found(found.sealed, &place);
        ReadObject::Whole(object)
    }

    /// The container that begins. The input can pay for the room that is reserved: see `Input::announce`.
    fn begin(&mut self, event: Event<'_>) -> Building {
        match event {
            Event::BeginObject { traits } => {
                let traits = self
                    .traits(traits)
                    .map_or_else(|| Arc::new(Traits::dynamic("")), Arc::clone);
                Building::Object(Object {
                    sealed: Vec::with_capacity(traits.members.len()),
                    dynamic: Vec::new(),
                    traits,
                })
            }
            Event::BeginExternalizable { class } => Building::Externalizable(Externalizable {
                class: class.into(),
                members: Vec::new(),
            }),
            Event::BeginVector { fixed, length, .. } => Building::Vector {
                class: self.last_text(),
                vector: Vector {
                    fixed,
                    values: Vec::with_capacity(length as usize),
                },
            },
            Event::BeginDictionary { weak_keys, length } => Building::Dictionary {
                dictionary: Dictionary {
                    weak_keys,
                    entries: Vec::with_capacity(length as usize),
                },
                key: None,
            },
            Event::BeginArray { dense } => Building::Array(Array {
                associative: Vec::new(),
                dense: Vec::with_capacity(dense as usize),
            }),
            // All others are values by themselves.
            _ => Building::Array(Array::default()),
        }
    }
}

/// Replaces the references in a tree that has `depth` containers around it.
pub(crate) fn resolve(
    value: &mut Value,
    references: &mut References,
    input: &mut Input<'_>,
    depth: usize,
) -> Result<(), DecodeError> {
    let mut walk = Walk {
        references,
        account: &mut Copies { input },
        depth,
    };
    walk.walk(value)
}

/// Copies are paid from the decoder's limits.
struct Copies<'i, 'a> {
    input: &'i mut Input<'a>,
}

impl Account for Copies<'_, '_> {
    fn pay(&mut self, weight: &Weight, depth: usize, position: usize) -> Result<(), DecodeError> {
        self.input.repeat_value(weight, depth, position)
    }

    fn walk_foreign(&mut self, _: &mut Value, _: usize) -> Result<(), DecodeError> {
        Ok(())
    }
}
