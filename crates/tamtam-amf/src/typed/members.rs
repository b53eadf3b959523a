//! The members of a struct, which its traits name before its values.

use serde::ser::{Impossible, Serialize, SerializeStruct, SerializeStructVariant};

/// The members of a struct, without their values; an error for all else.
pub(super) struct MemberNames<'n>(pub(super) &'n mut Vec<&'static str>);

/// That a value is no struct, or is one whose members are not asked for.
#[derive(Debug, thiserror::Error)]
#[error("no struct")]
pub(super) struct NoStruct;

impl serde::ser::Error for NoStruct {
    fn custom<T: std::fmt::Display>(_: T) -> Self {
        NoStruct
    }
}

impl SerializeStruct for MemberNames<'_> {
    type Ok = ();
    type Error = NoStruct;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        _: &T,
    ) -> Result<(), NoStruct> {
        self.0.push(name);
        Ok(())
    }

    fn end(self) -> Result<(), NoStruct> {
        Ok(())
    }
}

impl SerializeStructVariant for MemberNames<'_> {
    type Ok = ();
    type Error = NoStruct;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        _: &T,
    ) -> Result<(), NoStruct> {
        self.0.push(name);
        Ok(())
    }

    fn end(self) -> Result<(), NoStruct> {
        Ok(())
    }
}

impl serde::Serializer for MemberNames<'_> {
    type Ok = ();
    type Error = NoStruct;
    type SerializeSeq = Impossible<(), NoStruct>;
    type SerializeTuple = Impossible<(), NoStruct>;
    type SerializeTupleStruct = Impossible<(), NoStruct>;
    type SerializeTupleVariant = Impossible<(), NoStruct>;
    type SerializeMap = Impossible<(), NoStruct>;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    refuse! {
        NoStruct;
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
        serialize_f32: f32,
        serialize_f64: f64,
        serialize_char: char,
        serialize_str: &str,
        serialize_bytes: &[u8],
        serialize_unit_struct: &'static str,
    }

    fn serialize_none(self) -> Result<(), NoStruct> {
        Err(NoStruct)
    }

    fn serialize_unit(self) -> Result<(), NoStruct> {
        Err(NoStruct)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NoStruct> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), NoStruct> {
        value.serialize(self)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
    ) -> Result<(), NoStruct> {
        Err(NoStruct)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), NoStruct> {
        Err(NoStruct)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, NoStruct> {
        Err(NoStruct)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, NoStruct> {
        Err(NoStruct)
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, NoStruct> {
        Err(NoStruct)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, NoStruct> {
        Err(NoStruct)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, NoStruct> {
        Err(NoStruct)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, NoStruct> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, NoStruct> {
        Ok(self)
    }
}
