//! Why a table cannot be made, written or read.

use thiserror::Error;

use crate::Kind;

/// Columns or values that do not make a table.
///
/// # Examples
///
/// ```
/// use tamtam_rows::{Column, Field, Kind, Rows, Schema, ShapeError};
///
/// let schema = Schema::new([Field::new("n", Kind::U32)])?;
/// let error = Rows::new(schema, [Column::from(vec![0.5_f64])]).unwrap_err();
/// assert!(matches!(error, ShapeError::Kind { .. }));
/// println!("{error}"); // which column, which type it has, and which it should have
/// # Ok::<(), ShapeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// Another number of columns, or of a row's values, than the schema has.
    #[error("{given} columns were given for a schema of {expected}")]
    Columns {
        /// How many were given.
        given: usize,
        /// How many the schema has.
        expected: usize,
    },
    /// A column longer or shorter than the first.
    #[error("the column {column:?} has {given} rows where the first has {expected}")]
    Length {
        /// Its name.
        column: String,
        /// How many rows it has.
        given: usize,
        /// How many the first has.
        expected: usize,
    },
    /// A value or a column of another type than the schema says.
    #[error("the column {column:?} is of type {expected}; {given} does not fit it")]
    Kind {
        /// Its name.
        column: String,
        /// The type in the schema.
        expected: Kind,
        /// What was given.
        given: String,
    },
    /// A null in a column that holds none.
    #[error(
        "the column {column:?} holds no nulls, and got one in row {row}; declare it with Field::nullable"
    )]
    Null {
        /// Its name.
        column: String,
        /// Which row, from 0.
        row: usize,
    },
    /// A decimal type that cannot be.
    #[error(
        "the column {column:?} cannot be decimal({precision},{scale}): a precision is 1 to 38 and a scale at most that"
    )]
    Decimal {
        /// Its name.
        column: String,
        /// The digits in all.
        precision: u8,
        /// Those behind the point.
        scale: u8,
    },
    /// Text or bytes of one column above 4 GiB.
    #[error("one column's text or bytes would exceed 4 GiB; divide the table into several")]
    TooLarge,
    /// Text that is not UTF-8, or ends of values inside a character.
    #[error("the text of a value is not valid UTF-8 (at byte {at})")]
    Utf8 {
        /// Where the first such byte lies in the column's text.
        at: usize,
    },
    /// Rows of another schema than the table has.
    #[error("the rows have another schema than the table that they are appended to")]
    Schema,
    /// No column has this name.
    #[error("there is no column {0:?}")]
    NoColumn(String),
}

/// A table that a form cannot carry.
///
/// # Examples
///
/// ```
/// use tamtam_rows::packed::{self, Mode};
/// use tamtam_rows::{EncodeError, Rows, Schema};
///
/// fn send(rows: &Rows) -> Result<Vec<u8>, EncodeError> {
///     let mut bytes = Vec::new();
///     packed::encode(rows, Mode::Packed, &mut bytes)?;
///     Ok(bytes)
/// }
///
/// assert!(send(&Rows::empty(Schema::new([])?)).is_ok());
/// # Ok::<(), tamtam_rows::ShapeError>(())
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The form has no way to write this type, or such a table.
    #[error("{form} cannot carry {what}: {reason}")]
    Unsupported {
        /// The form's name.
        form: &'static str,
        /// Which column or which property of the table.
        what: String,
        /// Why, and what would help.
        reason: String,
    },
    /// The form has no way to write this value.
    #[error("{form} cannot carry the value in column {column:?}, row {row}: {reason}")]
    Value {
        /// The form's name.
        form: &'static str,
        /// The column's name.
        column: String,
        /// The row, from 0.
        row: usize,
        /// Why, and what would help.
        reason: String,
    },
    /// The library that writes the form failed.
    #[error("{form} could not be written: {reason}")]
    Failed {
        /// The form's name.
        form: &'static str,
        /// What the library said.
        reason: String,
    },
    /// What it was written to failed.
    #[error("the encoded rows could not be written")]
    Write(#[from] std::io::Error),
}

/// Bytes that do not decode to a table.
///
/// # Examples
///
/// ```
/// use tamtam_rows::{DecodeError, Limits, packed};
///
/// let error = packed::decode(b"<html>404", &Limits::default()).unwrap_err();
/// assert!(matches!(error, DecodeError::Malformed { at: 0, .. }));
/// println!("{error}");
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes end where more must follow.
    #[error("{form} ends too early: {what} is missing at byte {at}")]
    Truncated {
        /// The form's name.
        form: &'static str,
        /// What should stand there.
        what: &'static str,
        /// Where, from the beginning of the bytes.
        at: u64,
    },
    /// The bytes are not of this form, or contradict themselves.
    #[error("{form} is damaged or is not {form} at all, at byte {at}: {reason}")]
    Malformed {
        /// The form's name.
        form: &'static str,
        /// Where, as near as can be said.
        at: u64,
        /// What is wrong.
        reason: String,
    },
    /// A checksum does not fit: what was written was changed since.
    #[error(
        "{form}: {what} at byte {at} was damaged on its way (its checksum is {found:08x}, not {expected:08x})"
    )]
    Checksum {
        /// The form's name.
        form: &'static str,
        /// Which part: the schema, or a chunk by its number.
        what: String,
        /// Where that part begins.
        at: u64,
        /// The checksum that stands there.
        expected: u32,
        /// That of what was read.
        found: u32,
    },
    /// A later version of the form than this library knows.
    #[error(
        "{form} of version {found} cannot be read: this library knows versions up to {known}; take a newer one"
    )]
    Version {
        /// The form's name.
        form: &'static str,
        /// The version that stands there.
        found: u32,
        /// The latest that is known.
        known: u32,
    },
    /// The table is larger than the limits allow.
    #[error(
        "{form} declares {declared} {what}, more than the limit of {limit}; raise the limit if its sender is trusted"
    )]
    Limit {
        /// The form's name.
        form: &'static str,
        /// What there is too much of: bytes, rows, columns.
        what: &'static str,
        /// How much was declared or found.
        declared: u64,
        /// The limit that was set.
        limit: u64,
    },
    /// A column that was to be read in place, and is coded.
    #[error(
        "{form}: the column {column:?} is coded in chunk {chunk} and cannot be read in place; \
         write the table in the mode Plain, or decode it"
    )]
    NotPlain {
        /// The form's name.
        form: &'static str,
        /// The column's name.
        column: String,
        /// Which chunk, from 0.
        chunk: u64,
    },
    /// The form does not say which types its columns have.
    #[error("{form} does not say of which types its columns are: give the schema to decode it")]
    NeedsSchema {
        /// The form's name.
        form: &'static str,
    },
    /// A column of a type that a table does not have.
    #[error("{form} holds the column {column:?}, which a table cannot: {reason}")]
    Unsupported {
        /// The form's name.
        form: &'static str,
        /// The column's name.
        column: String,
        /// Of what type it is, and what would help.
        reason: String,
    },
    /// An array or an object where a value should be.
    #[error(
        "{form} is nested: the value of column {column:?} in row {row}{} is an array or an object, and tables are flat; \
         make columns of its parts, or a text of it, first",
        in_line(*.line)
    )]
    Nested {
        /// The form's name.
        form: &'static str,
        /// The column's name.
        column: String,
        /// The row, from 0.
        row: u64,
        /// The line in which the value ends, from 1, where it is known.
        line: Option<u64>,
    },
    /// The table has other columns than were asked for.
    #[error("{form} holds another table than was asked for: {reason}")]
    Schema {
        /// The form's name.
        form: &'static str,
        /// What differs.
        reason: String,
    },
    /// A value that its column's type cannot hold.
    #[error(
        "{form}: the value {value} in column {column:?}, row {row}{}, is not of type {kind}",
        in_line(*.line)
    )]
    Value {
        /// The form's name.
        form: &'static str,
        /// The column's name.
        column: String,
        /// The row, from 0.
        row: usize,
        /// The line in which the value begins, from 1, where the form is made of lines: a line of names, empty lines
        /// and line breaks inside values are counted.
        line: Option<u64>,
        /// The value, shortened.
        value: String,
        /// The type in the schema.
        kind: Kind,
    },
    /// The decoded columns do not make a table.
    #[error("the decoded columns do not make a table")]
    Shape(#[from] ShapeError),
    /// What it was read from failed.
    #[error("the encoded rows could not be read")]
    Read(#[from] std::io::Error),
}

/// What a form says of a decimal of which it would have to drop digits.
#[cfg(any(feature = "parquet", feature = "text"))]
pub(crate) const MORE_DIGITS: &str =
    "it has more digits than its type; declare the column with a higher precision";

fn in_line(line: Option<u64>) -> String {
    line.map_or(String::new(), |line| format!(" (line {line})"))
}

/// `1 value`, `2 values`.
#[cfg(feature = "text")]
pub(crate) fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}
