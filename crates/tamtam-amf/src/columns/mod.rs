//! Rows out of columns: what is the same in each row is written for many rows at a time, and then the cells of a column, one below
//! the other, into places that were counted before.

mod cell;
mod layout;
mod objects;
mod texts;

pub use cell::Cell;
pub(crate) use cell::write;
pub(crate) use layout::Layout;
pub use texts::Texts;

use crate::EncodeError;
use crate::amf0::{BOOLEAN, BOOLEAN_BYTES, NUMBER, NUMBER_BYTES};

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
    /// Texts that lie one behind the other, which takes less time.
    Texts(Texts<'a>),
    /// Whatever cells there are, which takes longer.
    Any(&'a [Cell<'a>]),
}

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
            Column::Texts($cells) => $work,
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

    /// The marker before each cell, if they have the same.
    fn marker(&self) -> Option<u8> {
        match self {
            Column::Boolean(_) => Some(BOOLEAN),
            Column::Text(_) | Column::Texts(_) | Column::Any(_) => None,
            _ => Some(NUMBER),
        }
    }

    /// The bytes that each cell takes behind its marker, if all take the same.
    fn width(&self) -> Option<usize> {
        match self {
            Column::Boolean(_) => Some(BOOLEAN_BYTES - 1),
            Column::Text(_) | Column::Texts(_) | Column::Any(_) => None,
            _ => Some(NUMBER_BYTES - 1),
        }
    }
}

/// How many rows these columns make.
///
/// # Errors
///
/// Columns of different lengths.
pub(crate) fn count_rows(columns: &[Column<'_>]) -> Result<usize, EncodeError> {
    let rows = columns.first().map_or(0, Column::len);
    match columns.iter().find(|column| column.len() != rows) {
        None => Ok(rows),
        Some(other) => Err(EncodeError::Uneven {
            rows,
            other: other.len(),
        }),
    }
}
