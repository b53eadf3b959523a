//! One row of a table, as serde's deserializers want it.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::Reason;
use super::cell_reader::CellReader;
use crate::Rows;

/// What is kept from row to row.
#[derive(Default)]
pub(super) struct Plan {
    /// The columns that the struct has fields for, once that is known.
    columns: Option<Vec<usize>>,
    /// The column that was being read.
    pub(super) failed_at: Option<usize>,
}

/// Gives one row as a value.
pub(super) struct RowReader<'de, 'p> {
    pub(super) rows: &'de Rows,
    pub(super) row: usize,
    pub(super) plan: &'p mut Plan,
}

impl<'de> Deserializer<'de> for RowReader<'de, '_> {
    type Error = Reason;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Reason> {
        let columns: Vec<usize> = (0..self.rows.schema().len()).collect();
        visitor.visit_map(Fields {
            row: self,
            columns: &columns,
            next: 0,
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Reason> {
        let columns = self.plan.columns.take().unwrap_or_else(|| {
            let all = self.rows.schema().fields().iter().enumerate();
            all.filter(|(_, field)| fields.contains(&field.name()))
                .map(|(index, _)| index)
                .collect()
        });
        let result = visitor.visit_map(Fields {
            row: RowReader {
                rows: self.rows,
                row: self.row,
                plan: &mut *self.plan,
            },
            columns: &columns,
            next: 0,
        });
        self.plan.columns = Some(columns);
        result
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Reason> {
        visitor.visit_seq(Places { row: self, next: 0 })
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Reason> {
        let columns = self.rows.schema().len();
        if length != columns {
            let reason = format!("it has {columns} values, and the tuple has {length}");
            return Err(Reason(reason));
        }
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Reason> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Reason> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Reason> {
        visitor.visit_some(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct map enum identifier ignored_any
    }
}

/// The values of a row with their names.
struct Fields<'de, 'p, 'c> {
    row: RowReader<'de, 'p>,
    columns: &'c [usize],
    /// Which of these columns comes next.
    next: usize,
}

impl<'de> MapAccess<'de> for Fields<'de, '_, '_> {
    type Error = Reason;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Reason> {
        self.row.plan.failed_at = None;
        let Some(&column) = self.columns.get(self.next) else {
            return Ok(None);
        };
        let name = self.row.rows.schema().fields()[column].name();
        seed.deserialize(BorrowedStrDeserializer::new(name))
            .map(Some)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Reason> {
        let Some(&column) = self.columns.get(self.next) else {
            return Err(Reason::custom("a value was asked for behind the last"));
        };
        self.next += 1;
        self.row.plan.failed_at = Some(column);
        seed.deserialize(CellReader::new(self.row.rows, self.row.row, column))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.columns.len() - self.next)
    }
}

/// The values of a row from left to right.
struct Places<'de, 'p> {
    row: RowReader<'de, 'p>,
    next: usize,
}

impl<'de> SeqAccess<'de> for Places<'de, '_> {
    type Error = Reason;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Reason> {
        self.row.plan.failed_at = None;
        if self.next == self.row.rows.schema().len() {
            return Ok(None);
        }
        let column = self.next;
        self.next += 1;
        self.row.plan.failed_at = Some(column);
        seed.deserialize(CellReader::new(self.row.rows, self.row.row, column))
            .map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.row.rows.schema().len() - self.next)
    }
}
