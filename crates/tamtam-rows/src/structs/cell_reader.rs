//! One value of a table, as serde's deserializers want it.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{Deserializer, Error, Visitor};
use serde::forward_to_deserialize_any;

use super::Reason;
use crate::encoding::inlet::is_held;
use crate::{Column, Kind, Rows, Values, cell_text};

/// Gives one value of a table.
pub(super) struct CellReader<'de> {
    column: &'de Column,
    kind: &'de Kind,
    row: usize,
}

impl<'de> CellReader<'de> {
    #[inline]
    pub(super) fn new(rows: &'de Rows, row: usize, column: usize) -> CellReader<'de> {
        CellReader {
            column: &rows.columns()[column],
            kind: rows.schema().fields()[column].kind(),
            row,
        }
    }

    /// Its text, for what has a notation of its own.
    fn text<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Reason> {
        let mut text = Vec::with_capacity(40);
        cell_text::write(self.column.values(), self.kind, self.row, &mut text)
            .map_err(|reason| Reason(reason.to_owned()))?;
        match std::str::from_utf8(&text) {
            Ok(text) => visitor.visit_str(text),
            Err(error) => Err(Reason(error.to_string())),
        }
    }

    /// What it counts, if it is a date, a time or a whole decimal; otherwise as it is.
    fn number<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Reason> {
        if self.column.is_null(self.row) {
            return visitor.visit_unit();
        }
        match (self.column.values(), self.kind) {
            (Values::I32(values), Kind::Date) => visitor.visit_i32(values[self.row]),
            (Values::I64(values), Kind::Time(_) | Kind::Timestamp(..)) => {
                visitor.visit_i64(values[self.row])
            }
            (Values::I128(values), Kind::Decimal { scale: 0, .. }) => {
                let value = values[self.row];
                match (i64::try_from(value), u64::try_from(value)) {
                    (Ok(value), _) => visitor.visit_i64(value),
                    (_, Ok(value)) => visitor.visit_u64(value),
                    _ => visitor.visit_i128(value),
                }
            }
            _ => self.deserialize_any(visitor),
        }
    }

    /// As it is, if it is a float, or an integer that one of so many binary digits holds: serde itself would round it.
    #[inline]
    fn float<V: Visitor<'de>>(self, digits: u32, visitor: V) -> Result<V::Value, Reason> {
        let integer = match self.column.values() {
            Values::F32(_) | Values::F64(_) => None,
            Values::I32(values) => Some(values[self.row].into()),
            Values::U32(values) => Some(values[self.row].into()),
            Values::I64(values) => Some(values[self.row].into()),
            Values::U64(values) => Some(values[self.row].into()),
            _ => None,
        };
        match integer {
            Some(integer) if !is_held(i128::unsigned_abs(integer), digits) => Err(Reason(format!(
                "the integer {integer} has more digits than the float that it is to be"
            ))),
            _ => self.deserialize_any(visitor),
        }
    }
}

macro_rules! numbers {
    ($($function:ident)*) => {$(
        #[inline]
        fn $function<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Reason> {
            self.number(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for CellReader<'de> {
    type Error = Reason;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Reason> {
        if self.column.is_null(self.row) {
            return visitor.visit_unit();
        }
        let row = self.row;
        match self.column.values() {
            Values::Bool(values) => visitor.visit_bool(values[row]),
            Values::I8(values) => visitor.visit_i8(values[row]),
            Values::I16(values) => visitor.visit_i16(values[row]),
            Values::I32(values) if *self.kind == Kind::I32 => visitor.visit_i32(values[row]),
            Values::I64(values) if *self.kind == Kind::I64 => visitor.visit_i64(values[row]),
            Values::U8(values) => visitor.visit_u8(values[row]),
            Values::U16(values) => visitor.visit_u16(values[row]),
            Values::U32(values) => visitor.visit_u32(values[row]),
            Values::U64(values) => visitor.visit_u64(values[row]),
            Values::F32(values) => visitor.visit_f32(values[row]),
            Values::F64(values) => visitor.visit_f64(values[row]),
            Values::Text(texts) => visitor.visit_borrowed_str(texts.get(row)),
            Values::Bytes(slices) => visitor.visit_borrowed_bytes(slices.get(row)),
            Values::I32(_) | Values::I64(_) | Values::I128(_) | Values::Uuid(_) => {
                self.text(visitor)
            }
        }
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
    }

    #[inline]
    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Reason> {
        self.float(f32::MANTISSA_DIGITS, visitor)
    }

    #[inline]
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Reason> {
        self.float(f64::MANTISSA_DIGITS, visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Reason> {
        match self.column.values() {
            Values::Uuid(values) if !self.column.is_null(self.row) => {
                visitor.visit_borrowed_bytes(&values[self.row])
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Reason> {
        self.deserialize_bytes(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Reason> {
        if self.column.is_null(self.row) {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Reason> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Reason> {
        match self.column.texts() {
            Some(texts) if !self.column.is_null(self.row) => {
                let name = texts.get(self.row);
                visitor.visit_enum(BorrowedStrDeserializer::new(name))
            }
            _ => Err(Reason::custom("a variant is read from its name, a text")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Reason> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool char str string unit unit_struct seq tuple tuple_struct map struct identifier
    }
}
