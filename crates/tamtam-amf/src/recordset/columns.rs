//! Rows out of columns: each column is written for many rows at a time, one cell below the other, into places that were
//! counted before.

use std::ops::Range;

use super::Cell;
use super::encoder::write;
use crate::EncodeError;
use crate::amf0::{
    ARRAY_HEAD_BYTES, BOOLEAN_BYTES, NUMBER_BYTES, put_boolean, put_number, put_string,
    string_bytes,
};

/// The cells of a column, one below the other.
///
/// Integers are written as doubles, which hold all of these: the format has no other numbers.
///
/// # Examples
///
/// ```
/// use tamtam_amf::recordset::{Column, Encoder, RecordSet, ServerInfo};
///
/// let mut bytes = Vec::new();
/// let mut encoder = Encoder::new(&mut bytes, ServerInfo::whole(["id", "colour"], 3), 3)?;
/// encoder.write_columns(&[Column::U16(&[1, 2, 3]), Column::Text(&["red", "green", "blue"])])?;
/// encoder.finish()?;
///
/// let table = RecordSet::decode(&bytes, Default::default())?;
/// assert_eq!(table.rows[1], [2.0.into(), "green".into()]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Column<'a> {
    /// Yes or no.
    Boolean(&'a [bool]),
    /// Integers of 8 bits.
    I8(&'a [i8]),
    /// Integers of 16 bits.
    I16(&'a [i16]),
    /// Integers of 32 bits.
    I32(&'a [i32]),
    /// Integers of 8 bits without a sign.
    U8(&'a [u8]),
    /// Integers of 16 bits without a sign.
    U16(&'a [u16]),
    /// Integers of 32 bits without a sign.
    U32(&'a [u32]),
    /// Numbers.
    Number(&'a [f64]),
    /// Texts.
    Text(&'a [&'a str]),
    /// Whatever cells there are, which takes longer.
    Any(&'a [Cell<'a>]),
}

/// How many rows are written together: their places lie on the stack, and their bytes mostly in the nearest cache.
const ROWS_TOGETHER: usize = 128;

/// Does the same with the cells of whatever column it is.
macro_rules! each {
    ($column:expr, $cells:ident => $work:expr) => {
        match $column {
            Column::Boolean($cells) => $work,
            Column::I8($cells) => $work,
            Column::I16($cells) => $work,
            Column::I32($cells) => $work,
            Column::U8($cells) => $work,
            Column::U16($cells) => $work,
            Column::U32($cells) => $work,
            Column::Number($cells) => $work,
            Column::Text($cells) => $work,
            Column::Any($cells) => $work,
        }
    };
}

impl Column<'_> {
    /// How many cells there are.
    pub fn len(&self) -> usize {
        each!(self, cells => cells.len())
    }

    /// Whether there is no cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes that each cell takes, where all take the same.
    fn width(&self) -> Option<usize> {
        match self {
            Column::Boolean(_) => Some(BOOLEAN_BYTES),
            Column::Text(_) | Column::Any(_) => None,
            _ => Some(NUMBER_BYTES),
        }
    }
}

/// Writes rows of columns. It is kept from block to block.
#[derive(Debug, Default)]
struct RowWriter {
    /// Cells of columns of any kind, as they are written.
    cells: Vec<u8>,
    /// Where each of them ends.
    ends: Vec<usize>,
}

/// Writes the rows that these columns make, which are of one length and as many as the head says.
pub(super) fn write_rows(
    columns: &[Column<'_>],
    head: [u8; ARRAY_HEAD_BYTES],
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let rows = columns.first().map_or(0, Column::len);
    let same = head.len() + columns.iter().filter_map(Column::width).sum::<usize>();
    let mut writer = RowWriter::default();
    for first in (0..rows).step_by(ROWS_TOGETHER) {
        let block = first..rows.min(first + ROWS_TOGETHER);
        writer.write(columns, block, head, same, out)?;
    }
    Ok(())
}

impl RowWriter {
    /// Writes some rows, of which each takes `same` bytes and what its cells of changing length take.
    fn write(
        &mut self,
        columns: &[Column<'_>],
        rows: Range<usize>,
        head: [u8; ARRAY_HEAD_BYTES],
        same: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let mut places = [same; ROWS_TOGETHER];
        let places = &mut places[..rows.len()];
        self.add_lengths(columns, rows.clone(), places)?;
        let mut end = out.len();
        for place in &mut *places {
            let bytes = *place;
            *place = end;
            end += bytes;
        }
        out.resize(end, 0);
        for place in &mut *places {
            out[*place..][..head.len()].copy_from_slice(&head);
            *place += head.len();
        }
        let mut any = Any {
            cells: &self.cells,
            ends: &self.ends,
            begin: 0,
        };
        for column in columns {
            match column {
                Column::Boolean(cells) => {
                    for (place, &cell) in places.iter_mut().zip(&cells[rows.clone()]) {
                        put_boolean(out, place, cell);
                    }
                }
                Column::I8(cells) => put_numbers(&cells[rows.clone()], places, out),
                Column::I16(cells) => put_numbers(&cells[rows.clone()], places, out),
                Column::I32(cells) => put_numbers(&cells[rows.clone()], places, out),
                Column::U8(cells) => put_numbers(&cells[rows.clone()], places, out),
                Column::U16(cells) => put_numbers(&cells[rows.clone()], places, out),
                Column::U32(cells) => put_numbers(&cells[rows.clone()], places, out),
                Column::Number(cells) => put_numbers(&cells[rows.clone()], places, out),
                Column::Text(cells) => {
                    for (place, cell) in places.iter_mut().zip(&cells[rows.clone()]) {
                        put_string(out, place, cell);
                    }
                }
                Column::Any(_) => any.put(places, out),
            }
        }
        Ok(())
    }

    /// Adds the bytes of cells of changing length to those of their rows, and writes the cells of any kind, which are put
    /// into the rows later.
    fn add_lengths(
        &mut self,
        columns: &[Column<'_>],
        rows: Range<usize>,
        lengths: &mut [usize],
    ) -> Result<(), EncodeError> {
        self.cells.clear();
        self.ends.clear();
        for column in columns {
            match column {
                Column::Text(cells) => {
                    for (length, cell) in lengths.iter_mut().zip(&cells[rows.clone()]) {
                        *length += string_bytes(cell)?;
                    }
                }
                Column::Any(cells) => {
                    for (length, &cell) in lengths.iter_mut().zip(&cells[rows.clone()]) {
                        let begin = self.cells.len();
                        write(&mut self.cells, cell)?;
                        self.ends.push(self.cells.len());
                        *length += self.cells.len() - begin;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

#[inline]
fn put_numbers<T: Copy + Into<f64>>(cells: &[T], places: &mut [usize], out: &mut [u8]) {
    for (place, &cell) in places.iter_mut().zip(cells) {
        put_number(out, place, cell.into());
    }
}

/// Cells that are written and still to be put into their rows.
struct Any<'b> {
    cells: &'b [u8],
    ends: &'b [usize],
    /// Where the first of them begins.
    begin: usize,
}

impl Any<'_> {
    /// Puts the next column's.
    fn put(&mut self, places: &mut [usize], out: &mut [u8]) {
        let (ends, others) = self.ends.split_at(places.len());
        for (place, &end) in places.iter_mut().zip(ends) {
            let cell = &self.cells[self.begin..end];
            out[*place..][..cell.len()].copy_from_slice(cell);
            *place += cell.len();
            self.begin = end;
        }
        self.ends = others;
    }
}
