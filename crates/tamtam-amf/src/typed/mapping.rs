//! Which Rust type is which class.

use std::collections::HashMap;

use serde::Serialize;
use serde::de::Deserialize;

use super::deserializer::Deserializer;
use super::error::{DeserializeError, SerializeError};
use super::flatten;
use super::items::Items;
use super::serializer::{Serializer, write};
use crate::input::CopiedNames;
use crate::{Limits, Sharing, amf0, amf3, packet};

/// What was made of items.
struct MadeValue<T> {
    value: Result<T, DeserializeError>,
    met_reference: bool,
    names: CopiedNames,
}

/// Which Rust type is which class, and what becomes of members that a type does not have.
///
/// A type goes by the name that serde knows it by: its own, or that of `#[serde(rename = "..")]`. An object of another class than its
/// type's is refused; one without a class is taken. A type without a class takes all.
///
/// # Examples
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use tamtam_amf::amf3;
/// use tamtam_amf::typed::{Mapping, UnknownMembers};
///
/// #[derive(Serialize, Deserialize, PartialEq, Debug)]
/// struct Circle { radius: f64 }
/// #[derive(Serialize, Deserialize, PartialEq, Debug)]
/// struct Square { side: f64 }
///
/// // Objects of several classes are an enum whose variants have classes.
/// #[derive(Serialize, Deserialize, PartialEq, Debug)]
/// enum Shape { Circle(Circle), Square(Square) }
///
/// let mapping = Mapping::new()
///     .class("Circle", "com.example.Circle")
///     .class("Square", "com.example.Square")
///     .class("Shape::Circle", "com.example.Circle")
///     .class("Shape::Square", "com.example.Square")
///     .unknown_members(UnknownMembers::Refuse);
/// let shapes = [Shape::Circle(Circle { radius: 0.5 }), Shape::Square(Square { side: 2.0 })];
/// let bytes = mapping.to_amf3(&shapes)?;
///
/// let amf3::Value::Array(list) = amf3::decode(&bytes, Default::default())? else { panic!() };
/// let amf3::Value::Object(circle) = &list.dense[0] else { panic!() };
/// assert_eq!(&*circle.traits.class, "com.example.Circle");
/// assert_eq!(mapping.from_amf3::<Vec<Shape>>(&bytes, Default::default())?, shapes);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Mapping {
    classes: HashMap<Box<str>, Box<str>>,
    unknown: UnknownMembers,
    sharing: Sharing,
}

/// What becomes of a member of an object that its type does not have.
///
/// # Examples
///
/// ```
/// use serde::Deserialize;
/// use tamtam_amf::typed::{Mapping, UnknownMembers, from_amf0, to_amf0};
///
/// #[derive(Deserialize)]
/// struct Point { x: f64 }
///
/// let bytes = to_amf0(&std::collections::BTreeMap::from([("x", 1), ("y", 2)]))?;
/// assert_eq!(from_amf0::<Point>(&bytes, Default::default())?.x, 1.0);
///
/// let strict = Mapping::new().unknown_members(UnknownMembers::Refuse);
/// let error = strict.from_amf0::<Point>(&bytes, Default::default()).err().unwrap();
/// assert!(error.to_string().ends_with("unknown field `y`, expected `x`"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownMembers {
    /// It is read over, unless the type says `#[serde(deny_unknown_fields)]`.
    #[default]
    Ignore,
    /// It is an error.
    Refuse,
}

impl Mapping {
    /// Of no types: structs have no class.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Objects of this type have this class. Variants of an enum are types here, `Enum::Variant`: such a variant is the
    /// object itself, which otherwise would be in another one by the variant's name.
    #[must_use]
    pub fn class(mut self, name: &str, class: &str) -> Self {
        self.classes.insert(name.into(), class.into());
        self
    }

    /// What becomes of members that a type does not have.
    #[must_use]
    pub fn unknown_members(self, unknown: UnknownMembers) -> Self {
        Self { unknown, ..self }
    }

    /// What becomes of references to values: [`Sharing::Keep`] refuses them, too, for no type can show them.
    #[must_use]
    pub fn sharing(self, sharing: Sharing) -> Self {
        Self { sharing, ..self }
    }

    pub(super) fn class_of(&self, name: &str) -> Option<&str> {
        if self.classes.is_empty() {
            return None;
        }
        self.classes.get(name).map(|class| &**class)
    }

    pub(super) fn class_of_variant(&self, name: &str, variant: &str) -> Option<&str> {
        if self.classes.is_empty() {
            return None;
        }
        self.class_of(&format!("{name}::{variant}"))
    }

    pub(super) fn refuses_unknown(&self) -> bool {
        self.unknown == UnknownMembers::Refuse
    }

    /// The one value of AMF0 that `bytes` hold.
    ///
    /// # Errors
    ///
    /// See [`from_amf0`](super::from_amf0).
    pub fn from_amf0<'de, T: Deserialize<'de>>(
        &self,
        bytes: &'de [u8],
        limits: Limits,
    ) -> Result<T, DeserializeError> {
        let mut decoder = amf0::Decoder::new(bytes, limits);
        let value = self.read_amf0(&mut decoder)?;
        decoder.finish()?;
        Ok(value)
    }

    /// The one value of AMF3 that `bytes` hold.
    ///
    /// # Errors
    ///
    /// See [`from_amf3`](super::from_amf3).
    pub fn from_amf3<'de, T: Deserialize<'de>>(
        &self,
        bytes: &'de [u8],
        limits: Limits,
    ) -> Result<T, DeserializeError> {
        let mut decoder = amf3::Decoder::new(bytes, limits);
        let value = self.read_amf3(&mut decoder)?;
        decoder.finish()?;
        Ok(value)
    }

    /// The next value of a decoder of AMF0.
    ///
    /// # Errors
    ///
    /// See [`from_amf0`](super::from_amf0); there is no value where the decoder stands. It stands there still, so that
    /// the value can be read as something else.
    pub fn read_amf0<'de, T: Deserialize<'de>>(
        &self,
        decoder: &mut amf0::Decoder<'de>,
    ) -> Result<T, DeserializeError> {
        decoder.forget();
        let before = decoder.clone();
        let names = decoder.input.names();
        let mut read = self.read(Items::of_amf0(decoder), names);
        if read.met_reference && self.sharing == Sharing::Copy {
            *decoder = before.clone();
            let tree = match decoder.copied() {
                Ok(tree) => tree,
                Err(error) => {
                    *decoder = before;
                    return Err(error.into());
                }
            };
            let items = Items::of_tree(flatten::amf0(tree), decoder.position());
            read = self.read(items, names);
        }
        decoder.input.set_names(read.names);
        if read.value.is_err() {
            *decoder = before;
        }
        read.value
    }

    /// The next value of a decoder of AMF3.
    ///
    /// # Errors
    ///
    /// See [`from_amf3`](super::from_amf3); there is no value where the decoder stands. It stands there still, so that
    /// the value can be read as something else.
    pub fn read_amf3<'de, T: Deserialize<'de>>(
        &self,
        decoder: &mut amf3::Decoder<'de>,
    ) -> Result<T, DeserializeError> {
        decoder.forget();
        let before = decoder.clone();
        let names = decoder.input.names();
        let mut read = self.read(Items::of_amf3(decoder), names);
        if read.met_reference && self.sharing == Sharing::Copy {
            *decoder = before.clone();
            let tree = match decoder.copied() {
                Ok(tree) => tree,
                Err(error) => {
                    *decoder = before;
                    return Err(error.into());
                }
            };
            let items = Items::of_tree(flatten::amf3(tree), decoder.position());
            read = self.read(items, names);
        }
        decoder.input.set_names(read.names);
        if read.value.is_err() {
            *decoder = before;
        }
        read.value
    }

    /// The value of the header or message that a decoder of packets has read last.
    ///
    /// # Errors
    ///
    /// See [`from_amf0`](super::from_amf0); the value was read already, or begun. If the type is not made of it, it can be
    /// read as something else, or is read over.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_amf::packet::{Decoder, Encoder, Version};
    /// use tamtam_amf::typed::Mapping;
    ///
    /// let mapping = Mapping::new();
    /// let mut bytes = Vec::new();
    /// let mut packet = Encoder::new(&mut bytes, Version::Amf0);
    /// packet.message_bytes("Tiles.list", "/1", |out| -> Result<(), Box<dyn std::error::Error>> {
    ///     Ok(out.extend(mapping.to_amf0(&("a set", 5))?))
    /// })?;
    ///
    /// let mut packet = Decoder::new(&bytes, Default::default())?;
    /// packet.next_message()?;
    /// assert_eq!(mapping.read_packet::<(String, u8)>(&mut packet)?, ("a set".into(), 5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_packet<'de, T: Deserialize<'de>>(
        &self,
        packet: &mut packet::Decoder<'de>,
    ) -> Result<T, DeserializeError> {
        let mut value = None;
        packet.read_value(|decoder| {
            let read = self.read_amf0(decoder);
            let ended = match &read {
                Err(DeserializeError::Decode(error)) => Err(error.clone()),
                read => Ok(read.is_ok()),
            };
            value = Some(read);
            ended
        })?;
        match value {
            Some(value) => value,
            None => Err(serde::de::Error::custom("there is no value")),
        }
    }

    /// The value of these items; maps were given such names before.
    fn read<'de, T: Deserialize<'de>>(
        &self,
        items: Items<'_, 'de>,
        names: CopiedNames,
    ) -> MadeValue<T> {
        let mut deserializer = Deserializer::new(self, items, names);
        let value = deserializer.value();
        MadeValue {
            value,
            met_reference: deserializer.met_reference(),
            names: deserializer.names(),
        }
    }

    /// The bytes of a value in AMF0.
    ///
    /// # Errors
    ///
    /// See [`to_amf0`](super::to_amf0).
    pub fn to_amf0<T: Serialize + ?Sized>(&self, value: &T) -> Result<Vec<u8>, SerializeError> {
        let mut bytes = Vec::new();
        let mut encoder = amf0::Encoder::new(&mut bytes);
        self.write_amf0(&mut encoder, value)?;
        encoder.finish()?;
        Ok(bytes)
    }

    /// The bytes of a value in AMF3.
    ///
    /// # Errors
    ///
    /// See [`to_amf3`](super::to_amf3).
    pub fn to_amf3<T: Serialize + ?Sized>(&self, value: &T) -> Result<Vec<u8>, SerializeError> {
        let mut bytes = Vec::new();
        let mut encoder = amf3::Encoder::new(&mut bytes);
        self.write_amf3(&mut encoder, value)?;
        encoder.finish()?;
        Ok(bytes)
    }

    /// Writes a value by an encoder of AMF0.
    ///
    /// # Errors
    ///
    /// See [`to_amf0`](super::to_amf0); not the place for a value.
    pub fn write_amf0<T: Serialize + ?Sized>(
        &self,
        encoder: &mut amf0::Encoder<'_>,
        value: &T,
    ) -> Result<(), SerializeError> {
        write(&mut Serializer::new(self, encoder), value)
    }

    /// Writes a value by an encoder of AMF3.
    ///
    /// # Errors
    ///
    /// See [`to_amf3`](super::to_amf3); not the place for a value.
    pub fn write_amf3<T: Serialize + ?Sized>(
        &self,
        encoder: &mut amf3::Encoder<'_>,
        value: &T,
    ) -> Result<(), SerializeError> {
        write(&mut Serializer::new(self, encoder), value)
    }
}
