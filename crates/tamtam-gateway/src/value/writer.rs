//! What serde writes, as a value.

use std::fmt::Display;

use serde::Serialize;
use serde::ser::{self, Serializer};
use thiserror::Error;

use super::{ClassNames, Members, Object, Value};

/// A Rust value that the protocols cannot carry.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::Value;
///
/// assert_eq!(Value::of(&u128::MAX).unwrap_err().to_string(), "an integer has more than 64 bits");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct WriteError(String);

impl ser::Error for WriteError {
    fn custom<T: Display>(message: T) -> WriteError {
        WriteError(message.to_string())
    }
}

/// Makes a value of what serde writes.
#[derive(Clone, Copy)]
pub(super) struct Writer<'c> {
    /// The types that are classes.
    pub(super) classes: Option<&'c ClassNames>,
}

impl<'c> Writer<'c> {
    fn class_of(self, name: &str) -> Option<&'c str> {
        self.classes?.class_of(name)
    }

    fn class_of_variant(self, name: &str, variant: &str) -> Option<&'c str> {
        self.classes?.class_of_variant(name, variant)
    }

    fn object(self, class: &str, members: Members) -> Value {
        Value::from(Object {
            class: class.to_owned(),
            sealed: members.len(),
            is_external: self.classes.is_some_and(|known| known.is_external(class)),
            members,
        })
    }
}

type Outcome = Result<Value, WriteError>;

impl<'c> Serializer for Writer<'c> {
    type Ok = Value;
    type Error = WriteError;
    type SerializeSeq = ListWriter<'c>;
    type SerializeTuple = ListWriter<'c>;
    type SerializeTupleStruct = ListWriter<'c>;
    type SerializeTupleVariant = ListWriter<'c>;
    type SerializeMap = MapWriter<'c>;
    type SerializeStruct = MapWriter<'c>;
    type SerializeStructVariant = MapWriter<'c>;

    fn serialize_bool(self, value: bool) -> Outcome {
        Ok(Value::Bool(value))
    }

    fn serialize_i8(self, value: i8) -> Outcome {
        Ok(Value::Int(value.into()))
    }

    fn serialize_i16(self, value: i16) -> Outcome {
        Ok(Value::Int(value.into()))
    }

    fn serialize_i32(self, value: i32) -> Outcome {
        Ok(Value::Int(value.into()))
    }

    fn serialize_i64(self, value: i64) -> Outcome {
        Ok(Value::Int(value))
    }

    fn serialize_i128(self, value: i128) -> Outcome {
        let small = i64::try_from(value).map(Value::Int);
        small
            .or_else(|_| u64::try_from(value).map(Value::Unsigned))
            .map_err(|_| too_long())
    }

    fn serialize_u8(self, value: u8) -> Outcome {
        Ok(Value::Int(value.into()))
    }

    fn serialize_u16(self, value: u16) -> Outcome {
        Ok(Value::Int(value.into()))
    }

    fn serialize_u32(self, value: u32) -> Outcome {
        Ok(Value::Int(value.into()))
    }

    fn serialize_u64(self, value: u64) -> Outcome {
        Ok(i64::try_from(value).map_or(Value::Unsigned(value), Value::Int))
    }

    fn serialize_u128(self, value: u128) -> Outcome {
        let value = u64::try_from(value).map_err(|_| too_long())?;
        self.serialize_u64(value)
    }

    fn serialize_f32(self, value: f32) -> Outcome {
        Ok(Value::Float(value.into()))
    }

    fn serialize_f64(self, value: f64) -> Outcome {
        Ok(Value::Float(value))
    }

    fn serialize_char(self, value: char) -> Outcome {
        Ok(Value::Text(value.to_string()))
    }

    fn serialize_str(self, value: &str) -> Outcome {
        Ok(Value::Text(value.to_owned()))
    }

    fn serialize_bytes(self, value: &[u8]) -> Outcome {
        Ok(Value::Bytes(value.to_vec()))
    }

    fn serialize_none(self) -> Outcome {
        Ok(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Outcome {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Outcome {
        Ok(Value::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Outcome {
        Ok(Value::Null)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Outcome {
        Ok(Value::Text(variant.to_owned()))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Outcome {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Outcome {
        let class = self.class_of_variant(name, variant);
        Ok(match (class, value.serialize(self)?) {
            // The variant is the object itself.
            (Some(class), Value::Map(members)) => self.object(class, members),
            (Some(class), Value::Object(object)) => self.object(class, object.members),
            (_, value) => of_variant(variant, value),
        })
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<ListWriter<'c>, WriteError> {
        Ok(ListWriter {
            writer: self,
            values: Vec::with_capacity(length.unwrap_or_default().min(MOST_RESERVED)),
            variant: None,
        })
    }

    fn serialize_tuple(self, length: usize) -> Result<ListWriter<'c>, WriteError> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        length: usize,
    ) -> Result<ListWriter<'c>, WriteError> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<ListWriter<'c>, WriteError> {
        let list = self.serialize_seq(Some(length))?;
        Ok(ListWriter {
            variant: Some(variant),
            ..list
        })
    }

    fn serialize_map(self, length: Option<usize>) -> Result<MapWriter<'c>, WriteError> {
        Ok(MapWriter {
            writer: self,
            members: Vec::with_capacity(length.unwrap_or_default().min(MOST_RESERVED)),
            key: None,
            class: None,
            variant: None,
        })
    }

    fn serialize_struct(
        self,
        name: &'static str,
        length: usize,
    ) -> Result<MapWriter<'c>, WriteError> {
        let map = self.serialize_map(Some(length))?;
        Ok(MapWriter {
            class: self.class_of(name),
            ..map
        })
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<MapWriter<'c>, WriteError> {
        let map = self.serialize_map(Some(length))?;
        let class = self.class_of_variant(name, variant);
        Ok(MapWriter {
            class,
            variant: class.is_none().then_some(variant),
            ..map
        })
    }
}

/// For how many values room is reserved before they come, at most.
const MOST_RESERVED: usize = 4_096;

fn too_long() -> WriteError {
    WriteError("an integer has more than 64 bits".into())
}

fn of_variant(variant: &str, value: Value) -> Value {
    Value::Map(vec![(variant.to_owned(), value)])
}

/// Gathers a list.
pub(super) struct ListWriter<'c> {
    writer: Writer<'c>,
    values: Vec<Value>,
    variant: Option<&'static str>,
}

impl ListWriter<'_> {
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        self.values.push(value.serialize(self.writer)?);
        Ok(())
    }

    fn done(self) -> Outcome {
        let list = Value::List(self.values);
        Ok(match self.variant {
            Some(variant) => of_variant(variant, list),
            None => list,
        })
    }
}

macro_rules! lists {
    ($($kind:ident: $push:ident),+) => {$(
        impl ser::$kind for ListWriter<'_> {
            type Ok = Value;
            type Error = WriteError;

            fn $push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
                self.push(value)
            }

            fn end(self) -> Outcome {
                self.done()
            }
        }
    )+};
}

lists!(
    SerializeSeq: serialize_element,
    SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field
);

/// Gathers names and values.
pub(super) struct MapWriter<'c> {
    writer: Writer<'c>,
    members: Members,
    key: Option<String>,
    class: Option<&'c str>,
    variant: Option<&'static str>,
}

impl MapWriter<'_> {
    fn push<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), WriteError> {
        self.members
            .push((name.to_owned(), value.serialize(self.writer)?));
        Ok(())
    }

    fn done(self) -> Outcome {
        let map = match self.class {
            Some(class) => self.writer.object(class, self.members),
            None => Value::Map(self.members),
        };
        Ok(match self.variant {
            Some(variant) => of_variant(variant, map),
            None => map,
        })
    }
}

impl ser::SerializeMap for MapWriter<'_> {
    type Ok = Value;
    type Error = WriteError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), WriteError> {
        self.key = Some(match key.serialize(self.writer)? {
            Value::Text(text) => text,
            Value::Int(number) => number.to_string(),
            Value::Unsigned(number) => number.to_string(),
            other => {
                let reason = format!(
                    "the key of a map is {}; keys are texts or integers",
                    other.noun()
                );
                return Err(WriteError(reason));
            }
        });
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        let key = self.key.take().unwrap_or_default();
        self.members.push((key, value.serialize(self.writer)?));
        Ok(())
    }

    fn end(self) -> Outcome {
        self.done()
    }
}

macro_rules! structs {
    ($($kind:ident),+) => {$(
        impl ser::$kind for MapWriter<'_> {
            type Ok = Value;
            type Error = WriteError;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), WriteError> {
                self.push(name, value)
            }

            fn end(self) -> Outcome {
                self.done()
            }
        }
    )+};
}

structs!(SerializeStruct, SerializeStructVariant);
