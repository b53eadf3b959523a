//! Structs, tuples and maps of serde as rows of a table, and back.

mod cell_reader;
mod cell_writer;
mod growing;
mod row_reader;
mod row_writer;

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Rows, Schema, ShapeError};
use growing::Growing;
use row_reader::{Plan, RowReader};
use row_writer::RowWriter;

/// A value that is no row of the table, or a row that is no such value.
///
/// # Examples
///
/// ```
/// use tamtam_rows::{Rows, StructError};
///
/// #[derive(serde::Serialize)]
/// struct Old { slot: u16 }
/// #[derive(Debug, serde::Deserialize)]
/// struct New { #[allow(dead_code)] slot: u8 }
///
/// let rows = Rows::from_serialize([Old { slot: 7 }, Old { slot: 700 }])?;
/// let read: Vec<Result<New, StructError>> = rows.deserialize().collect();
/// assert!(read[0].is_ok());
/// match &read[1] {
///     Err(StructError::Cell { column, row, .. }) => assert_eq!((column.as_str(), *row), ("slot", 1)),
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), StructError>(())
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StructError {
    /// A value in a row does not fit its column, or the field that it is for.
    #[error("column {column:?}, row {row}: {reason}")]
    Cell {
        /// The column's name.
        column: String,
        /// The row, from 0.
        row: usize,
        /// What does not fit.
        reason: String,
    },
    /// A row as a whole does not fit.
    #[error("row {row}: {reason}")]
    Row {
        /// The row, from 0.
        row: usize,
        /// What does not fit.
        reason: String,
    },
    /// The values do not make a table.
    #[error(transparent)]
    Shape(#[from] ShapeError),
}

/// What is wrong, in words; which row and column it is about is added on the way out.
#[derive(Debug)]
struct Reason(String);

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Reason {}

impl serde::ser::Error for Reason {
    fn custom<T: fmt::Display>(message: T) -> Reason {
        Reason(message.to_string())
    }
}

impl serde::de::Error for Reason {
    fn custom<T: fmt::Display>(message: T) -> Reason {
        Reason(message.to_string())
    }
}

impl Rows {
    /// A table of structs, tuples or maps, whose columns are found by looking at them.
    ///
    /// The fields of a struct and the keys of a map, which must be text, are the columns' names; those of a tuple are
    /// `column 1`, `column 2` and so on. `Option`s make columns that may hold nulls, and so does a key or a field that
    /// is missing in some rows. A variant without fields is the text of its name. What holds several values, such as
    /// a struct in a struct or a list, is refused; bytes are taken from `serde_bytes`. A column in which every value
    /// is null is one of text.
    ///
    /// ```
    /// use tamtam_rows::{Field, Kind, Rows};
    ///
    /// #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    /// struct Tile<'a> {
    ///     slot: u16,
    ///     color: &'a str,
    ///     turn: Option<i16>,
    /// }
    ///
    /// let tiles = [Tile { slot: 1, color: "ff8800", turn: None }, Tile { slot: 2, color: "0088ff", turn: Some(90) }];
    /// let rows = Rows::from_serialize(&tiles)?;
    /// assert_eq!(rows.schema().fields()[2], Field::nullable("turn", Kind::I16));
    ///
    /// let back: Vec<Tile> = rows.deserialize().collect::<Result<_, _>>()?;
    /// assert_eq!(back, tiles);
    /// # Ok::<(), tamtam_rows::StructError>(())
    /// ```
    ///
    /// # Errors
    /// If a value is no struct, tuple or map, or one of its fields holds several values, or is of another type than in
    /// the rows before.
    pub fn from_serialize<T: Serialize>(
        values: impl IntoIterator<Item = T>,
    ) -> Result<Rows, StructError> {
        collect(Growing::inferred(), values)
    }

    /// A table with these columns of structs, tuples or maps.
    ///
    /// As [`from_serialize`](Rows::from_serialize), and beyond that: integers are taken for days and units of dates and
    /// times, and so are texts in ISO 8601, as the types of `chrono` and `jiff` write themselves; texts are taken for
    /// decimals and UUIDs, 16 bytes for a UUID. A column of floats takes integers that a float holds exactly. Values of tuples
    /// belong to the columns from left to right.
    ///
    /// # Errors
    /// If a value does not fit its column, has no column, or is missing where no null may be.
    pub fn from_serialize_with<T: Serialize>(
        schema: Schema,
        values: impl IntoIterator<Item = T>,
    ) -> Result<Rows, StructError> {
        collect(Growing::with(schema), values)
    }

    /// Each row as a struct, a tuple or a map. Text and bytes may be borrowed from the table.
    ///
    /// Columns that a struct has no field for are left out; a field without a column is an error, unless it has a
    /// default. A tuple takes the columns from left to right, all of them. Dates, times, timestamps, decimals and UUIDs
    /// are read as their text, or into integers as what they count in their column's unit. Integers are read into floats that
    /// hold them exactly.
    ///
    /// # Errors
    /// Each element: if the row does not fit.
    pub fn deserialize<'a, T: Deserialize<'a> + 'a>(
        &'a self,
    ) -> impl Iterator<Item = Result<T, StructError>> + 'a {
        let mut plan = Plan::default();
        (0..self.len()).map(move |row| {
            plan.failed_at = None;
            let reader = RowReader {
                rows: self,
                row,
                plan: &mut plan,
            };
            T::deserialize(reader).map_err(|Reason(reason)| match plan.failed_at {
                Some(column) => StructError::Cell {
                    column: self.schema().fields()[column].name().to_owned(),
                    row,
                    reason,
                },
                None => StructError::Row { row, reason },
            })
        })
    }
}

fn collect<T: Serialize>(
    mut growing: Growing,
    values: impl IntoIterator<Item = T>,
) -> Result<Rows, StructError> {
    for value in values {
        let row = growing.rows();
        let result = value
            .serialize(RowWriter {
                growing: &mut growing,
            })
            .and_then(|()| growing.end_row());
        result.map_err(|Reason(reason)| match growing.failed_at() {
            Some(column) => StructError::Cell {
                column,
                row,
                reason,
            },
            None => StructError::Row { row, reason },
        })?;
    }
    growing.finish()
}
