//! Trees: written item by item, and put together of the items that a decoder reads.

use std::sync::Arc;

use super::decoder::{Decoder, Event};
use super::encoder::{Encoder, length_of};
use super::value::{Properties, TypedObject, Value};
use crate::input::Input;
use crate::references::{Account, References, Walk};
use crate::weight::Weight;
use crate::{Cause, DecodeError, EncodeError, Limits, Sharing, amf3};

/// The bytes of one value.
///
/// # Errors
///
/// A name longer than 65,535 bytes, a text or an array longer than 32 bits can say, a reference to a container that
/// does not begin before it, more than [`MAX_DEPTH`](crate::MAX_DEPTH) containers within each other.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf0::{Value, encode};
///
/// assert_eq!(encode(&Value::from("tam")).unwrap(), b"\x02\0\x03tam");
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
/// What is not AMF0, what exceeds the limits, bytes after the value, a value that contains itself.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf0::{Value, decode};
///
/// assert_eq!(decode(b"\x02\0\x03tam", Default::default()).unwrap(), Value::from("tam"));
///
/// let error = decode(b"\x02\0\x04tam", Default::default()).unwrap_err();
/// assert_eq!(error.to_string(), "at byte 3: the input ends too early: 4 more bytes are needed and 3 are left");
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
            Value::Number(number) => self.write_number(*number),
            Value::Boolean(boolean) => self.write_boolean(*boolean),
            Value::String(text) => self.write_string(text),
            Value::Null => self.write_null(),
            Value::Undefined => self.write_undefined(),
            Value::Unsupported => self.write_unsupported(),
            Value::Reference(index) => self.write_reference(*index),
            Value::XmlDocument(text) => self.write_xml_document(text),
            Value::Date {
                milliseconds,
                time_zone,
            } => self.write_date(*milliseconds, *time_zone),
            Value::Object(properties) => {
                self.begin_object()?;
                self.write_properties(properties)
            }
            Value::EcmaArray(properties) => {
                self.begin_ecma_array(length_of("properties", properties.len())?)?;
                self.write_properties(properties)
            }
            Value::TypedObject(object) => {
                self.begin_typed_object(&object.class)?;
                self.write_properties(&object.properties)
            }
            Value::StrictArray(values) => {
                self.begin_strict_array(length_of("values", values.len())?)?;
                for value in values {
                    self.write_value(value)?;
                }
                self.end()
            }
            Value::Avmplus(value) => self.write_avmplus(value),
        }
    }

    fn write_properties(&mut self, properties: &Properties) -> Result<(), EncodeError> {
        for (name, value) in properties {
            self.property(name)?;
            self.write_value(value)?;
        }
        self.end()
    }
}

/// A container that is being put together.
enum Building {
    Named { kind: Kind, properties: Properties },
    Strict(Vec<Value>),
}

enum Kind {
    Object,
    EcmaArray,
    Typed(Arc<str>),
}

impl Building {
    fn named(kind: Kind, names: &Names) -> Self {
        Building::Named {
            kind,
            properties: Vec::with_capacity(names.count.min(MOST_EXPECTED)),
        }
    }

    fn finish(self) -> Value {
        match self {
            Building::Strict(values) => Value::StrictArray(values),
            Building::Named { kind, properties } => match kind {
                Kind::Object => Value::Object(properties),
                Kind::EcmaArray => Value::EcmaArray(properties),
                Kind::Typed(class) => {
                    Value::TypedObject(Box::new(TypedObject { class, properties }))
                }
            },
        }
    }
}

/// Places for properties that an object may begin with, because the last one had so many: what more it has it pays for.
const MOST_EXPECTED: usize = 16;

/// The class of the last object at a depth, and its names by place: those of the next one are mostly the same, and then they are
/// shared.
#[derive(Default)]
struct Names {
    class: Option<Arc<str>>,
    names: Vec<Option<Arc<str>>>,
    /// How many properties the last one had.
    count: usize,
}

impl Names {
    /// The name that is known for a place, if one is.
    fn at(&mut self, place: usize) -> &mut Option<Arc<str>> {
        if self.names.len() <= place {
            self.names.resize(place + 1, None);
        }
        &mut self.names[place]
    }

    fn get(&mut self, place: usize, name: &str) -> Arc<str> {
        shared(self.at(place).get_or_insert_with(|| name.into()), name)
    }

    fn class(&mut self, class: &str) -> Arc<str> {
        shared(self.class.get_or_insert_with(|| class.into()), class)
    }
}

/// The text that is known, if it is this one; else this one is known from now on.
fn shared(known: &mut Arc<str>, text: &str) -> Arc<str> {
    if **known != *text {
        *known = text.into();
    }
    Arc::clone(known)
}

/// What is known of objects at this depth, from 0 on.
fn at_depth(names: &mut Vec<Names>, depth: usize) -> &mut Names {
    if names.len() <= depth {
        names.resize_with(depth + 1, Names::default);
    }
    &mut names[depth]
}

impl Decoder<'_> {
    /// The next value as a tree, with copies in the places of references, unless
    /// [something else](Self::with_sharing) was chosen. Copies count towards the limits, and what is copied once more.
    ///
    /// # Errors
    ///
    /// What is not AMF0, what exceeds the limits, a value that contains itself, a reference to what began before this
    /// value; a reference, if these are refused.
    pub fn value(&mut self) -> Result<Value, DecodeError> {
        match self.sharing {
            Sharing::Copy => self.copied(),
            Sharing::Keep => self.value_with_references(),
            Sharing::Refuse => {
                self.refuses = true;
                let value = self.tree(None);
                self.refuses = false;
                value
            }
        }
    }

    /// The next value as a tree, with copies in the places of references.
    pub(crate) fn copied(&mut self) -> Result<Value, DecodeError> {
        // Alone it has tables of its own; within a container it may refer to what began before, which is not known.
        let (first, first_in_amf3) = if self.is_at_top() {
            (0, 0)
        } else {
            (self.begun, self.amf3_begun())
        };
        let mut references = References::from(first);
        references.leaves = self.numbering.counts_leaves();
        self.amf3_references = Some(Box::new(amf3::References::from(first_in_amf3)));
        let tree = self.tree(Some(&mut references));
        let in_amf3 = self.amf3_references.take();
        let mut value = tree?;
        let Some(mut in_amf3) = in_amf3 else {
            return Ok(value);
        };
        if !references.is_empty() || !in_amf3.is_empty() {
            let mut account = Copies {
                input: &mut self.input,
                in_amf3: &mut in_amf3,
            };
            let mut walk = Walk {
                references: &mut references,
                account: &mut account,
                depth: 0,
            };
            walk.walk(&mut value)?;
        }
        Ok(value)
    }

    /// The next value as a tree, with [`Value::Reference`] where a reference is: also of what contains itself.
    /// An encoder writes such a tree back as it was.
    ///
    /// # Errors
    ///
    /// What is not AMF0, what exceeds the limits.
    pub fn value_with_references(&mut self) -> Result<Value, DecodeError> {
        self.tree(None)
    }

    /// Reads the members that are next of an object whose values are scalars.
    fn scalar_members(&mut self, properties: &mut Properties, names: &mut Names) {
        let Some(mut ahead) = self.ahead() else {
            return;
        };
        let before = properties.len();
        while let Some(member) = ahead.member(names.at(properties.len())) {
            properties.push(member);
        }
        if properties.len() > before {
            self.catch_up(&ahead, false);
        }
    }

    fn tree(
        &mut self,
        mut references: Option<&mut References<Value>>,
    ) -> Result<Value, DecodeError> {
        if !self.expects_value() {
            return self.input.error(Cause::NotAValue);
        }
        let mut open: Vec<Building> = Vec::new();
        // By depth, so that objects within objects leave each other's names alone.
        let mut names: Vec<Names> = Vec::new();
        loop {
            let depth = open.len();
            if let Some(Building::Named { properties, .. }) = open.last_mut() {
                self.scalar_members(properties, &mut names[depth - 1]);
            }
            let position = self.input.position();
            let Some(event) = self.next_event()? else {
                return self.input.error(Cause::Truncated { needed: 1, left: 0 });
            };
            let value = match event {
                Event::Number(number) => Value::Number(number),
                Event::Boolean(boolean) => Value::Boolean(boolean),
                Event::String(text) => Value::String(text.into()),
                Event::Null => Value::Null,
                Event::Undefined => Value::Undefined,
                Event::Unsupported => Value::Unsupported,
                Event::Reference(index) => {
                    if self.refuses {
                        let index = usize::from(index);
                        return Input::error_at(position, Cause::Shared { index });
                    }
                    if let Some(references) = &mut references {
                        references.note(position, usize::from(index))?;
                    }
                    Value::Reference(index)
                }
                Event::Date {
                    milliseconds,
                    time_zone,
                } => Value::Date {
                    milliseconds,
                    time_zone,
                },
                Event::XmlDocument(text) => Value::XmlDocument(text.into()),
                Event::Avmplus(value) => Value::Avmplus(value),
                Event::BeginObject => {
                    let names = at_depth(&mut names, open.len());
                    open.push(Building::named(Kind::Object, names));
                    continue;
                }
                Event::BeginEcmaArray { .. } => {
                    let names = at_depth(&mut names, open.len());
                    open.push(Building::named(Kind::EcmaArray, names));
                    continue;
                }
                Event::BeginTypedObject(class) => {
                    let names = at_depth(&mut names, open.len());
                    let kind = Kind::Typed(names.class(class));
                    open.push(Building::named(kind, names));
                    continue;
                }
                Event::BeginStrictArray { length } => {
                    // The input can pay for that: see `Input::announce`.
                    open.push(Building::Strict(Vec::with_capacity(length as usize)));
                    continue;
                }
                Event::Property(name) => {
                    let depth = open.len();
                    if let Some(Building::Named { properties, .. }) = open.last_mut() {
                        let name = names[depth - 1].get(properties.len(), name);
                        properties.push((name, Value::Undefined));
                    }
                    continue;
                }
                Event::End => match open.pop() {
                    Some(building) => {
                        if let Building::Named { properties, .. } = &building {
                            names[open.len()].count = properties.len();
                        }
                        building.finish()
                    }
                    None => return Input::error_at(position, Cause::NotAValue),
                },
            };
            match open.last_mut() {
                None => return Ok(value),
                Some(Building::Strict(values)) => values.push(value),
                Some(Building::Named { properties, .. }) => {
                    if let Some((_, last)) = properties.last_mut() {
                        *last = value;
                    }
                }
            }
        }
    }
}

/// Copies are paid from the decoder's limits; AMF3 within has references of its own.
struct Copies<'i, 'a> {
    input: &'i mut Input<'a>,
    in_amf3: &'i mut amf3::References,
}

impl Account for Copies<'_, '_> {
    fn pay(&mut self, weight: &Weight, depth: usize, position: usize) -> Result<(), DecodeError> {
        self.input.repeat_value(weight, depth, position)
    }

    fn walk_foreign(&mut self, value: &mut amf3::Value, depth: usize) -> Result<(), DecodeError> {
        amf3::resolve(value, self.in_amf3, self.input, depth)
    }
}
