//! A value as a type that serde reads.

use std::fmt::Display;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::value::{SeqDeserializer, StrDeserializer};
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess,
    VariantAccess, Visitor,
};
use thiserror::Error;

use super::received::{ANY, hand_over};
use super::shortened::shortened;
use super::{Array, ClassNames, Items, Members, Value, to_iso};

/// A value that is not of the type that was asked for.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::Value;
///
/// let error = Value::from("seven").to::<u8>().unwrap_err();
/// assert_eq!(error.to_string(), r#"invalid type: string "seven", expected u8"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ReadError(pub(super) String);

impl de::Error for ReadError {
    fn custom<T: Display>(message: T) -> ReadError {
        ReadError(message.to_string())
    }
}

/// How much a reader makes of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'c> {
    /// A text may be the number or the truth value that it spells: in the query of a URL there is nothing else.
    pub(crate) of_texts: bool,
    /// The types that are classes.
    pub(crate) classes: Option<&'c ClassNames>,
}

impl Reading<'_> {
    /// A text is a text, and an object is whatever its members are.
    pub(crate) const STRICT: Reading<'static> = Reading {
        of_texts: false,
        classes: None,
    };
}

/// The largest double below which each integer is one.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A type out of a value.
pub(crate) fn read<T: DeserializeOwned>(
    value: Value,
    reading: Reading<'_>,
) -> Result<T, ReadError> {
    T::deserialize(Reader { value, reading })
}

/// A type out of the arguments of a call: as [`read`], but a name that no field has is an error.
pub(crate) fn read_arguments<T: DeserializeOwned>(
    value: Value,
    reading: Reading<'_>,
) -> Result<T, ReadError> {
    T::deserialize(ArgumentsReader(Reader { value, reading }))
}

/// Reads the arguments of a call.
struct ArgumentsReader<'c>(Reader<'c>);

impl<'de> Deserializer<'de> for ArgumentsReader<'_> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.0.deserialize_any(visitor)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let count = match &self.0.value {
            Value::List(values) => values.len(),
            Value::Map(members) => members.len(),
            _ => 0,
        };
        if count > 0 {
            return Err(ReadError(format!(
                "{count} came, and the method takes none"
            )));
        }
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.0.deserialize_newtype_struct(name, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        if let Value::Map(members) = &self.0.value
            && let Some((unknown, _)) = members.iter().find(|(name, _)| !fields.contains(&&**name))
        {
            let unknown = shortened(unknown);
            let known = fields.join(", ");
            return Err(ReadError(format!(
                "there is no {unknown:?} among them: {known}"
            )));
        }
        self.0.deserialize_struct(name, fields, visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match &self.0.value {
            Value::List(values) if values.len() == length => self.0.deserialize_any(visitor),
            Value::List(values) => {
                let count = values.len();
                Err(ReadError(format!(
                    "{count} came, and the method takes {length}"
                )))
            }
            _ => Err(ReadError("the method takes them by their places".into())),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit_struct seq tuple_struct map enum identifier ignored_any
    }
}

/// Reads a value.
struct Reader<'c> {
    value: Value,
    reading: Reading<'c>,
}

impl<'c> Reader<'c> {
    /// The same, with the number that a text spells in place of the text, where texts may spell numbers.
    fn into_number(self) -> Reader<'c> {
        let value = match self.value {
            Value::Text(text) if self.reading.of_texts => number_in(text),
            Value::Float(number) if number.fract() == 0.0 && number.abs() <= EXACT => {
                Value::Int(number as i64)
            }
            other => other,
        };
        Reader {
            value,
            reading: self.reading,
        }
    }
}

/// Whether the names of a list are its places, from 0 on.
fn is_numbered(array: &Array) -> bool {
    let mut named = array.named.iter().enumerate();
    named.all(|(place, (name, _))| name.parse() == Ok(place))
}

fn number_in(text: String) -> Value {
    if let Ok(number) = text.parse::<i64>() {
        Value::Int(number)
    } else if let Ok(number) = text.parse::<u64>() {
        Value::Unsigned(number)
    } else if let Ok(number) = text.parse::<f64>() {
        Value::Float(number)
    } else {
        Value::Text(text)
    }
}

macro_rules! numbers {
    ($($method:ident),+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
            self.into_number().deserialize_any(visitor)
        }
    )+};
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let reading = self.reading;
        match self.value {
            Value::Null | Value::Undefined => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Int(value) => visitor.visit_i64(value),
            Value::Unsigned(value) => visitor.visit_u64(value),
            Value::Float(value) => visitor.visit_f64(value),
            Value::Text(text) | Value::Xml(text) | Value::XmlDocument(text) => {
                visitor.visit_string(text)
            }
            Value::Date(milliseconds) => match to_iso(milliseconds) {
                Some(text) => visitor.visit_string(text),
                None => visitor.visit_unit(),
            },
            Value::Bytes(bytes) => visitor.visit_byte_buf(bytes),
            Value::List(values) => read_list(values, reading, visitor),
            Value::Array(array) if array.named.is_empty() => {
                read_list(array.list, reading, visitor)
            }
            Value::Array(array) => {
                let list = array.list.into_iter().enumerate();
                let listed = list.map(|(index, value)| (index.to_string(), value));
                let members = array.named.into_iter().chain(listed).collect();
                read_members(members, reading, visitor)
            }
            Value::Map(members) => read_members(members, reading, visitor),
            Value::Object(object) => match object.into_wrapped() {
                Ok(value) => Reader { value, reading }.deserialize_any(visitor),
                Err(object) => read_members(object.members, reading, visitor),
            },
            Value::Vector(vector) => match vector.items {
                Items::Ints(values) => read_items(values, visitor),
                Items::Uints(values) => read_items(values, visitor),
                Items::Doubles(values) => read_items(values, visitor),
                Items::Objects { values, .. } => read_list(values, reading, visitor),
            },
            Value::Dictionary(dictionary) => {
                let pairs = dictionary.entries.into_iter();
                let pairs = pairs.map(|(key, value)| Value::List(vec![key, value]));
                read_list(pairs.collect(), reading, visitor)
            }
            Value::Rows(rows) => {
                let rows: Result<Vec<Value>, _> = rows.deserialize().collect();
                let rows = rows.map_err(de::Error::custom)?;
                read_list(rows, reading, visitor)
            }
        }
    }

    numbers!(
        deserialize_i8,
        deserialize_i16,
        deserialize_i32,
        deserialize_i64,
        deserialize_i128,
        deserialize_u8,
        deserialize_u16,
        deserialize_u32,
        deserialize_u64,
        deserialize_u128
    );

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            Value::Date(milliseconds) => visitor.visit_f64(milliseconds),
            Value::Float(number) => visitor.visit_f64(number),
            _ => self.into_number().deserialize_any(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.value {
            Value::Text(text) if self.reading.of_texts => match &**text {
                "true" | "1" => visitor.visit_bool(true),
                "false" | "0" => visitor.visit_bool(false),
                _ => self.deserialize_any(visitor),
            },
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_byte_buf(visitor)
    }

    /// Where the protocol has no bytes they come as Base64.
    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            Value::Text(text) => match STANDARD.decode(&text) {
                Ok(bytes) => visitor.visit_byte_buf(bytes),
                Err(_) => Err(ReadError(
                    "bytes were expected, as Base64 where they come as text".into(),
                )),
            },
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        if self.value.is_nothing() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.value {
            // A call without arguments.
            Value::List(values) if values.is_empty() => visitor.visit_unit(),
            Value::Map(members) if members.is_empty() => visitor.visit_unit(),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        if name == ANY {
            return hand_over(self.value, visitor);
        }
        visitor.visit_newtype_struct(self)
    }

    /// A list is the struct's fields from the first on: arguments by their places. Those that are missing may have a
    /// default.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        if let Value::Object(object) = &self.value
            && let Some(class) = self.reading.classes.and_then(|known| known.class_of(name))
            && !matches!(&*object.class, "" | "Object")
            && object.class != class
        {
            let other = shortened(&object.class);
            let reason = format!("an object of the class {other:?} came in place of a {class}");
            return Err(ReadError(reason));
        }
        match self.value {
            Value::List(values) => {
                if values.len() > fields.len() {
                    return Err(ReadError(format!(
                        "{} values came for {} fields ({})",
                        values.len(),
                        fields.len(),
                        fields.join(", ")
                    )));
                }
                let names = fields.iter().map(|&name| name.to_owned());
                read_members(names.zip(values).collect(), self.reading, visitor)
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let reading = self.reading;
        let noun = self.value.noun();
        let of_class = match (&self.value, reading.classes) {
            (Value::Object(object), Some(known)) => variants
                .iter()
                .find(|variant| known.class_of_variant(name, variant) == Some(&object.class)),
            _ => None,
        };
        let (variant, inside) = match self.value {
            // The variant is the object itself, which its struct may know by another class.
            Value::Object(object) if of_class.is_some() => {
                let variant = of_class.map(|&variant| variant.to_owned());
                (variant, Some(Value::Map(object.members)))
            }
            Value::Text(variant) => (Some(variant), None),
            Value::Map(members) if members.len() == 1 => members.into_iter().next().unzip(),
            _ => (None, None),
        };
        let variant = variant.ok_or_else(|| {
            ReadError(format!(
                "{noun} is no variant: that is a text, or an object of one member"
            ))
        })?;
        let inside = inside.map(|value| Reader { value, reading });
        visitor.visit_enum(Variant { variant, inside })
    }

    /// Flash sends some lists with their places as names.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            Value::Array(array) if is_numbered(&array) => {
                let values = array.named.into_iter().map(|(_, value)| value);
                read_list(values.chain(array.list).collect(), self.reading, visitor)
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        char str string tuple tuple_struct map identifier
    }
}

fn read_list<'de, V: Visitor<'de>>(
    values: Vec<Value>,
    reading: Reading<'_>,
    visitor: V,
) -> Result<V::Value, ReadError> {
    let values = values.into_iter().map(|value| Reader { value, reading });
    let mut list = SeqDeserializer::new(values);
    let result = visitor.visit_seq(&mut list)?;
    list.end()?;
    Ok(result)
}

fn read_items<'de, T, V>(items: Vec<T>, visitor: V) -> Result<V::Value, ReadError>
where
    T: IntoDeserializer<'de, ReadError>,
    V: Visitor<'de>,
{
    let mut list = SeqDeserializer::new(items.into_iter());
    let result = visitor.visit_seq(&mut list)?;
    list.end()?;
    Ok(result)
}

fn read_members<'de, V: Visitor<'de>>(
    members: Members,
    reading: Reading<'_>,
    visitor: V,
) -> Result<V::Value, ReadError> {
    visitor.visit_map(MembersReader {
        members: members.into_iter(),
        value: None,
        reading,
    })
}

impl<'de, 'c> IntoDeserializer<'de, ReadError> for Reader<'c> {
    type Deserializer = Reader<'c>;

    fn into_deserializer(self) -> Reader<'c> {
        self
    }
}

/// Gives names and values one by one. The error of a value says which one it is.
struct MembersReader<'c> {
    members: std::vec::IntoIter<(String, Value)>,
    value: Option<(String, Value)>,
    reading: Reading<'c>,
}

impl<'de> MapAccess<'de> for MembersReader<'_> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ReadError> {
        self.value = self.members.next();
        let Some((name, _)) = &self.value else {
            return Ok(None);
        };
        seed.deserialize(StrDeserializer::new(name)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, ReadError> {
        let (name, value) = self.value.take().unwrap_or_default();
        let reader = Reader {
            value,
            reading: self.reading,
        };
        seed.deserialize(reader)
            .map_err(|ReadError(reason)| ReadError(format!("{name}: {reason}")))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.members.len())
    }
}

/// One variant of an enum.
struct Variant<'c> {
    variant: String,
    inside: Option<Reader<'c>>,
}

impl<'de, 'c> EnumAccess<'de> for Variant<'c> {
    type Error = ReadError;
    type Variant = Inside<'c>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Inside<'c>), ReadError> {
        let variant = seed.deserialize(StrDeserializer::<ReadError>::new(&self.variant))?;
        Ok((variant, Inside(self.inside)))
    }
}

/// What a variant holds.
struct Inside<'c>(Option<Reader<'c>>);

impl<'c> Inside<'c> {
    fn reader(self) -> Result<Reader<'c>, ReadError> {
        self.0
            .ok_or_else(|| ReadError("the variant holds something, which is missing".into()))
    }
}

impl<'de> VariantAccess<'de> for Inside<'_> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        match self.0 {
            None => Ok(()),
            Some(reader) if reader.value.is_nothing() => Ok(()),
            Some(_) => Err(ReadError("the variant holds nothing".into())),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, ReadError> {
        seed.deserialize(self.reader()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, ReadError> {
        self.reader()?.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.reader()?.deserialize_struct("", fields, visitor)
    }
}
