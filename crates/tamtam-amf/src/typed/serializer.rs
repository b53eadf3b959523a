//! Writes Rust values by an encoder.

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};

use super::DATE;
use super::error::SerializeError;
use super::key::Key;
use super::mapping::Mapping;
use super::members::MemberNames;
use super::sink::{Sink, exact};

type Result<T = (), E = SerializeError> = std::result::Result<T, E>;

/// Writes Rust values by an encoder.
pub(super) struct Serializer<'s, 'm, S> {
    mapping: &'m Mapping,
    sink: &'s mut S,
    /// The members of the struct that is next.
    members: Vec<&'static str>,
    is_date: bool,
}

impl<'s, 'm, S: Sink> Serializer<'s, 'm, S> {
    pub(super) fn new(mapping: &'m Mapping, sink: &'s mut S) -> Self {
        Self {
            mapping,
            sink,
            members: Vec::new(),
            is_date: false,
        }
    }

    fn whole(&mut self, number: i128) -> Result {
        if let Ok(number) = i32::try_from(number) {
            return Ok(self.sink.integer(number)?);
        }
        match exact(number.unsigned_abs()) {
            Some(double) if number < 0 => Ok(self.sink.number(-double)?),
            Some(double) => Ok(self.sink.number(double)?),
            None => Err(inexact(number)),
        }
    }

    fn begin_struct(&mut self, class: &str) -> Result<Written<'_, 's, 'm, S>> {
        let members = std::mem::take(&mut self.members);
        let sealed = self.sink.begin_struct(class, &members)?;
        Ok(Written {
            to: self,
            members,
            sealed,
            written: 0,
            around: false,
        })
    }
}

/// Writes a value whose members, if it is a struct, are to be known before.
#[inline]
pub(super) fn write<T: Serialize + ?Sized, S: Sink>(
    to: &mut Serializer<'_, '_, S>,
    value: &T,
) -> Result {
    to.members.clear();
    // Whatever is no struct ends this at once.
    let _ = value.serialize(MemberNames(&mut to.members));
    value.serialize(to)
}

/// A container that is being written.
pub(super) struct Written<'t, 's, 'm, S> {
    to: &'t mut Serializer<'s, 'm, S>,
    /// Of a struct.
    members: Vec<&'static str>,
    /// Whether their names are written.
    sealed: bool,
    written: usize,
    /// Whether an object with the name of a variant is around it.
    around: bool,
}

impl<S: Sink> Written<'_, '_, '_, S> {
    #[inline]
    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
        write(self.to, value)
    }

    #[inline]
    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result {
        if !self.sealed {
            self.to.sink.name(name)?;
        } else if self.members.get(self.written) != Some(&name) {
            return Err(SerializeError::Members);
        }
        self.written += 1;
        write(self.to, value)
    }

    fn finish(self) -> Result {
        self.to.sink.end()?;
        if self.around {
            self.to.sink.end()?;
        }
        // The room is used again.
        self.to.members = self.members;
        Ok(())
    }
}

impl<'t, 's, 'm, S: Sink> serde::Serializer for &'t mut Serializer<'s, 'm, S> {
    type Ok = ();
    type Error = SerializeError;
    type SerializeSeq = Written<'t, 's, 'm, S>;
    type SerializeTuple = Written<'t, 's, 'm, S>;
    type SerializeTupleStruct = Written<'t, 's, 'm, S>;
    type SerializeTupleVariant = Written<'t, 's, 'm, S>;
    type SerializeMap = Written<'t, 's, 'm, S>;
    type SerializeStruct = Written<'t, 's, 'm, S>;
    type SerializeStructVariant = Written<'t, 's, 'm, S>;

    fn serialize_bool(self, boolean: bool) -> Result {
        Ok(self.sink.boolean(boolean)?)
    }

    fn serialize_i8(self, number: i8) -> Result {
        Ok(self.sink.integer(number.into())?)
    }

    #[inline]
    fn serialize_i16(self, number: i16) -> Result {
        Ok(self.sink.integer(number.into())?)
    }

    #[inline]
    fn serialize_i32(self, number: i32) -> Result {
        Ok(self.sink.integer(number)?)
    }

    fn serialize_i64(self, number: i64) -> Result {
        self.whole(number.into())
    }

    fn serialize_i128(self, number: i128) -> Result {
        self.whole(number)
    }

    fn serialize_u8(self, number: u8) -> Result {
        Ok(self.sink.integer(number.into())?)
    }

    fn serialize_u16(self, number: u16) -> Result {
        Ok(self.sink.integer(number.into())?)
    }

    fn serialize_u32(self, number: u32) -> Result {
        self.whole(number.into())
    }

    fn serialize_u64(self, number: u64) -> Result {
        self.whole(number.into())
    }

    fn serialize_u128(self, number: u128) -> Result {
        match (i128::try_from(number), exact(number)) {
            (Ok(number), _) => self.whole(number),
            (Err(_), Some(double)) => Ok(self.sink.number(double)?),
            (Err(_), None) => Err(inexact(number)),
        }
    }

    fn serialize_f32(self, number: f32) -> Result {
        self.serialize_f64(number.into())
    }

    #[inline]
    fn serialize_f64(self, number: f64) -> Result {
        if std::mem::take(&mut self.is_date) {
            return Ok(self.sink.date(number)?);
        }
        Ok(self.sink.number(number)?)
    }

    fn serialize_char(self, character: char) -> Result {
        Ok(self.sink.text(character.encode_utf8(&mut [0; 4]))?)
    }

    #[inline]
    fn serialize_str(self, text: &str) -> Result {
        Ok(self.sink.text(text)?)
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result {
        Ok(self.sink.bytes(bytes)?)
    }

    fn serialize_none(self) -> Result {
        Ok(self.sink.null()?)
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result {
        // Its members are known: a name is seen through this.
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result {
        Ok(self.sink.null()?)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result {
        Ok(self.sink.null()?)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result {
        Ok(self.sink.text(variant)?)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result {
        self.is_date = name == DATE;
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result {
        if self.mapping.class_of_variant(name, variant).is_some() {
            return write(self, value);
        }
        self.sink.begin_map()?;
        self.sink.name(variant)?;
        write(self, value)?;
        Ok(self.sink.end()?)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self::SerializeSeq> {
        let length = length.ok_or(SerializeError::UnknownLength)?;
        self.sink.begin_list(length)?;
        Ok(Written {
            to: self,
            members: Vec::new(),
            sealed: false,
            written: 0,
            around: false,
        })
    }

    fn serialize_tuple(self, length: usize) -> Result<Self::SerializeTuple> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        length: usize,
    ) -> Result<Self::SerializeTupleStruct> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeTupleVariant> {
        self.sink.begin_map()?;
        self.sink.name(variant)?;
        let mut written = self.serialize_seq(Some(length))?;
        written.around = true;
        Ok(written)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap> {
        self.sink.begin_map()?;
        Ok(Written {
            to: self,
            members: Vec::new(),
            sealed: false,
            written: 0,
            around: false,
        })
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Self::SerializeStruct> {
        let class = self.mapping.class_of(name).unwrap_or_default();
        self.begin_struct(class)
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant> {
        if let Some(class) = self.mapping.class_of_variant(name, variant) {
            return self.begin_struct(class);
        }
        self.sink.begin_map()?;
        self.sink.name(variant)?;
        let mut written = self.begin_struct("")?;
        written.around = true;
        Ok(written)
    }
}

impl<S: Sink> SerializeSeq for Written<'_, '_, '_, S> {
    type Ok = ();
    type Error = SerializeError;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
        self.value(value)
    }

    fn end(self) -> Result {
        self.finish()
    }
}

impl<S: Sink> SerializeTuple for Written<'_, '_, '_, S> {
    type Ok = ();
    type Error = SerializeError;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
        self.value(value)
    }

    fn end(self) -> Result {
        self.finish()
    }
}

impl<S: Sink> SerializeTupleStruct for Written<'_, '_, '_, S> {
    type Ok = ();
    type Error = SerializeError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
        self.value(value)
    }

    fn end(self) -> Result {
        self.finish()
    }
}

impl<S: Sink> SerializeTupleVariant for Written<'_, '_, '_, S> {
    type Ok = ();
    type Error = SerializeError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
        self.value(value)
    }

    fn end(self) -> Result {
        self.finish()
    }
}

impl<S: Sink> SerializeMap for Written<'_, '_, '_, S> {
    type Ok = ();
    type Error = SerializeError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result {
        key.serialize(Key(&mut *self.to.sink))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
        self.value(value)
    }

    fn end(self) -> Result {
        self.finish()
    }
}

impl<S: Sink> SerializeStruct for Written<'_, '_, '_, S> {
    type Ok = ();
    type Error = SerializeError;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result {
        self.field(name, value)
    }

    fn end(self) -> Result {
        self.finish()
    }
}

impl<S: Sink> SerializeStructVariant for Written<'_, '_, '_, S> {
    type Ok = ();
    type Error = SerializeError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result {
        self.field(name, value)
    }

    fn end(self) -> Result {
        self.finish()
    }
}

fn inexact(number: impl ToString) -> SerializeError {
    SerializeError::Inexact {
        number: number.to_string(),
    }
}
