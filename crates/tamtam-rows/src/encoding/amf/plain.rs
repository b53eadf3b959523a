//! Columns whose values are cells of AMF0 as they are, written many rows at a time.

use std::ops::Range;

use tamtam_amf::recordset::{Cell, Column as Cells, Texts};

use crate::{Column, Field, Kind, Nulls, Rows, Values};

/// How many rows are collected at a time, so that what is collected lies in a near cache.
const ROWS_AT_ONCE: usize = 512;

/// A table of which no number is too large, and nothing becomes text.
pub(super) struct PlainTable<'a> {
    columns: Vec<PlainColumn<'a>>,
    rows: usize,
}

impl<'a> PlainTable<'a> {
    /// The table, if it is such.
    pub(super) fn of(rows: &'a Rows) -> Option<Self> {
        let columns: Option<_> = rows
            .fields()
            .map(|(field, column)| PlainColumn::of(field, column))
            .collect();
        Some(PlainTable {
            columns: columns?,
            rows: rows.len(),
        })
    }

    /// Gives all rows on, some at a time.
    pub(super) fn write<E>(
        &self,
        mut write: impl FnMut(&[Cells<'_>]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rooms = vec![Room::default(); self.columns.len()];
        for first in (0..self.rows).step_by(ROWS_AT_ONCE) {
            let block = first..self.rows.min(first + ROWS_AT_ONCE);
            let cells: Vec<_> = self
                .columns
                .iter()
                .zip(&mut rooms)
                .map(|(column, room)| column.cells(block.clone(), room))
                .collect();
            write(&cells)?;
        }
        Ok(())
    }
}

/// A column of such a table.
struct PlainColumn<'a> {
    values: &'a Values,
    nulls: Option<&'a Nulls>,
}

impl<'a> PlainColumn<'a> {
    fn of(field: &Field, column: &'a Column) -> Option<Self> {
        let is_plain = match column.values() {
            Values::Bool(_)
            | Values::I8(_)
            | Values::I16(_)
            | Values::U8(_)
            | Values::U16(_)
            | Values::U32(_)
            | Values::F64(_)
            | Values::Text(_) => true,
            // Its numbers may be days.
            Values::I32(_) => field.kind() == &Kind::I32,
            _ => false,
        };
        is_plain.then(|| PlainColumn {
            values: column.values(),
            nulls: column.nulls(),
        })
    }

    fn is_null(&self, row: usize) -> bool {
        self.nulls.is_some_and(|nulls| nulls.is_null(row))
    }

    fn cell(&self, row: usize) -> Cell<'a> {
        if self.is_null(row) {
            return Cell::Null;
        }
        match self.values {
            Values::Bool(values) => Cell::Boolean(values[row]),
            Values::I8(values) => Cell::Number(values[row].into()),
            Values::I16(values) => Cell::Number(values[row].into()),
            Values::I32(values) => Cell::Number(values[row].into()),
            Values::U8(values) => Cell::Number(values[row].into()),
            Values::U16(values) => Cell::Number(values[row].into()),
            Values::U32(values) => Cell::Number(values[row].into()),
            Values::F64(values) => Cell::Number(values[row]),
            Values::Text(texts) => Cell::String(texts.get(row)),
            _ => unreachable!("such a column is not plain"),
        }
    }

    /// The cells of some rows, with room for those that have to be collected.
    fn cells<'c>(&self, rows: Range<usize>, room: &'c mut Room<'a>) -> Cells<'c>
    where
        'a: 'c,
    {
        if self.nulls.is_some() {
            room.cells.clear();
            room.cells.extend(rows.map(|row| self.cell(row)));
            return Cells::Any(&room.cells);
        }
        match self.values {
            Values::Bool(values) => Cells::Boolean(&values[rows]),
            Values::I8(values) => Cells::I8(&values[rows]),
            Values::I16(values) => Cells::I16(&values[rows]),
            Values::I32(values) => Cells::I32(&values[rows]),
            Values::U8(values) => Cells::U8(&values[rows]),
            Values::U16(values) => Cells::U16(&values[rows]),
            Values::U32(values) => Cells::U32(&values[rows]),
            Values::F64(values) => Cells::Number(&values[rows]),
            Values::Text(texts) => {
                room.places.resize(rows.len() + 1, 0);
                let places = texts.ends().starts(rows.start, &mut room.places);
                let texts = Texts::new(texts.all(), places);
                Cells::Texts(texts.expect("a column of texts is divided into texts"))
            }
            _ => unreachable!("such a column is not plain"),
        }
    }
}

/// Cells of one column that do not lie one behind the other as they are.
#[derive(Clone, Default)]
struct Room<'a> {
    cells: Vec<Cell<'a>>,
    /// Where texts begin and end.
    places: Vec<u32>,
}
