//! One value of a struct, put into a column.

use serde::Serialize;
use serde::ser::{Impossible, Serializer};

use super::Reason;
use super::growing::{Place, refused};
use crate::Kind;
use crate::encoding::inlet::{Inlet, Refusal, is_held};

/// Puts one value into a column.
pub(super) struct CellWriter<'c> {
    pub(super) place: &'c mut Place,
}

impl CellWriter<'_> {
    #[inline]
    fn put(
        self,
        kind: Kind,
        value: &dyn std::fmt::Debug,
        push: impl FnOnce(&mut Inlet) -> Result<(), Refusal>,
    ) -> Result<(), Reason> {
        let inlet = self.place.inlet(|| kind);
        push(inlet).map_err(|refusal| refused(inlet, refusal, &format!("{value:?}")))
    }

    #[inline]
    fn integer(
        self,
        kind: Kind,
        value: &dyn std::fmt::Debug,
        is_negative: bool,
        magnitude: u64,
    ) -> Result<(), Reason> {
        self.put(kind, value, |inlet| match inlet.kind() {
            Kind::Date | Kind::Time(_) | Kind::Timestamp(..) => {
                inlet.push_count(is_negative, magnitude)
            }
            _ => inlet.push_exact_integer(is_negative, magnitude),
        })
    }

    fn wide_integer(
        self,
        value: &dyn std::fmt::Debug,
        magnitude: u128,
        text: &str,
    ) -> Result<(), Reason> {
        let kind = Kind::Decimal {
            precision: 38,
            scale: 0,
        };
        self.put(kind, value, |inlet| match inlet.kind() {
            Kind::F64 if !is_held(magnitude, f64::MANTISSA_DIGITS) => Err(Refusal::Kind),
            Kind::F32 if !is_held(magnitude, f32::MANTISSA_DIGITS) => Err(Refusal::Kind),
            Kind::F32 | Kind::F64 | Kind::Decimal { .. } => inlet.push_text(text).map(drop),
            _ if inlet.is_integer() => inlet.push_text(text).map(drop),
            _ => Err(Refusal::Kind),
        })
    }
}

const SEVERAL: &str = "holds several values, and a cell of a table holds one; take its fields out, or write it as text";

fn several(what: &str) -> Reason {
    Reason(format!("{what} {SEVERAL}"))
}

const LIST: &str =
    "a list holds several values, and a cell of a table holds one; for bytes, use serde_bytes";

macro_rules! integers {
    ($($function:ident($type:ty) => $kind:ident, $is_negative:expr, $magnitude:expr;)*) => {$(
        #[inline]
        fn $function(self, value: $type) -> Result<(), Reason> {
            self.integer(Kind::$kind, &value, $is_negative(value), $magnitude(value))
        }
    )*};
}

impl Serializer for CellWriter<'_> {
    type Ok = ();
    type Error = Reason;
    type SerializeSeq = Impossible<(), Reason>;
    type SerializeTuple = Impossible<(), Reason>;
    type SerializeTupleStruct = Impossible<(), Reason>;
    type SerializeTupleVariant = Impossible<(), Reason>;
    type SerializeMap = Impossible<(), Reason>;
    type SerializeStruct = Impossible<(), Reason>;
    type SerializeStructVariant = Impossible<(), Reason>;

    fn serialize_bool(self, value: bool) -> Result<(), Reason> {
        self.put(Kind::Bool, &value, |inlet| inlet.push_bool(value))
    }

    integers! {
        serialize_i8(i8) => I8, |value| value < 0, |value: i8| value.unsigned_abs().into();
        serialize_i16(i16) => I16, |value| value < 0, |value: i16| value.unsigned_abs().into();
        serialize_i32(i32) => I32, |value| value < 0, |value: i32| value.unsigned_abs().into();
        serialize_i64(i64) => I64, |value| value < 0, |value: i64| value.unsigned_abs();
        serialize_u8(u8) => U8, |_| false, u64::from;
        serialize_u16(u16) => U16, |_| false, u64::from;
        serialize_u32(u32) => U32, |_| false, u64::from;
        serialize_u64(u64) => U64, |_| false, |value| value;
    }

    fn serialize_i128(self, value: i128) -> Result<(), Reason> {
        self.wide_integer(
            &value,
            value.unsigned_abs(),
            itoa::Buffer::new().format(value),
        )
    }

    fn serialize_u128(self, value: u128) -> Result<(), Reason> {
        self.wide_integer(&value, value, itoa::Buffer::new().format(value))
    }

    fn serialize_f32(self, value: f32) -> Result<(), Reason> {
        self.put(Kind::F32, &value, |inlet| inlet.push_f32(value))
    }

    fn serialize_f64(self, value: f64) -> Result<(), Reason> {
        self.put(Kind::F64, &value, |inlet| inlet.push_f64(value))
    }

    fn serialize_char(self, value: char) -> Result<(), Reason> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<(), Reason> {
        self.put(Kind::Text, &value, |inlet| {
            // Bytes and numbers are not meant by text here.
            if inlet.is_written_as_text() && *inlet.kind() != Kind::Bytes {
                inlet.push_text(value).map(drop)
            } else {
                Err(Refusal::Kind)
            }
        })
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Reason> {
        self.put(Kind::Bytes, &"bytes", |inlet| {
            inlet.push_bytes(value).map(drop)
        })
    }

    fn serialize_none(self) -> Result<(), Reason> {
        self.place.null()
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Reason> {
        self.place.becomes_nullable();
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Reason> {
        self.place.null()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Reason> {
        self.place.null()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Reason> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Reason> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        _: &T,
    ) -> Result<(), Reason> {
        Err(several(&format!("the variant {name}::{variant}")))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Reason> {
        Err(Reason(LIST.into()))
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Reason> {
        Err(Reason(LIST.into()))
    }

    fn serialize_tuple_struct(
        self,
        name: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, Reason> {
        Err(several(name))
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Reason> {
        Err(several(&format!("the variant {name}::{variant}")))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Reason> {
        Err(several("a map"))
    }

    fn serialize_struct(
        self,
        name: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStruct, Reason> {
        Err(several(&format!("the struct {name}")))
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Reason> {
        Err(several(&format!("the variant {name}::{variant}")))
    }
}
