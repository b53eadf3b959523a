//! Writes the keys of maps as names.

use serde::ser::{Impossible, Serialize};

use super::error::SerializeError;
use super::sink::Sink;

type Result<T = (), E = SerializeError> = std::result::Result<T, E>;

/// Writes a key of a map as a name.
pub(super) struct Key<'s, S>(pub(super) &'s mut S);

macro_rules! key_by_text {
    ($($method:ident: $argument:ty),* $(,)?) => { $(
        fn $method(self, key: $argument) -> Result {
            Ok(self.0.name(&key.to_string())?)
        }
    )* };
}

impl<S: Sink> serde::Serializer for Key<'_, S> {
    type Ok = ();
    type Error = SerializeError;
    type SerializeSeq = Impossible<(), SerializeError>;
    type SerializeTuple = Impossible<(), SerializeError>;
    type SerializeTupleStruct = Impossible<(), SerializeError>;
    type SerializeTupleVariant = Impossible<(), SerializeError>;
    type SerializeMap = Impossible<(), SerializeError>;
    type SerializeStruct = Impossible<(), SerializeError>;
    type SerializeStructVariant = Impossible<(), SerializeError>;

    key_by_text! {
        serialize_bool: bool,
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_i128: i128,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_u128: u128,
        serialize_char: char,
    }

    refuse! {
        SerializeError::Key;
        serialize_f32: f32,
        serialize_f64: f64,
        serialize_bytes: &[u8],
        serialize_unit_struct: &'static str,
    }

    fn serialize_str(self, text: &str) -> Result {
        Ok(self.0.name(text)?)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result {
        Ok(self.0.name(variant)?)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, key: &T) -> Result {
        key.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, key: &T) -> Result {
        key.serialize(self)
    }

    fn serialize_none(self) -> Result {
        Err(SerializeError::Key)
    }

    fn serialize_unit(self) -> Result {
        Err(SerializeError::Key)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result {
        Err(SerializeError::Key)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq> {
        Err(SerializeError::Key)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple> {
        Err(SerializeError::Key)
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct> {
        Err(SerializeError::Key)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant> {
        Err(SerializeError::Key)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap> {
        Err(SerializeError::Key)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct> {
        Err(SerializeError::Key)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant> {
        Err(SerializeError::Key)
    }
}
