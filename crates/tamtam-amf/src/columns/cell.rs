//! A cell of a table, and its bytes.

use crate::EncodeError;
use crate::amf0::{push_boolean, push_date, push_null, push_number, push_string};
use crate::scalar::Scalar;

/// A cell of a RecordSet. Texts are borrowed.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf0::Value;
/// use tamtam_amf::recordset::Cell;
///
/// assert_eq!(Value::from(Cell::String("red")), Value::from("red"));
/// assert_eq!(Value::from(Cell::Null), Value::Null);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Nothing; undefined is read as that, too.
    Null,
    /// A number; the format has doubles alone.
    Number(f64),
    /// Yes or no.
    Boolean(bool),
    /// A text; an XML document is read as that, too.
    String(&'a str),
    /// A point in time, in milliseconds since 1970 in UTC.
    Date(f64),
}

impl From<f64> for Cell<'_> {
    fn from(number: f64) -> Self {
        Cell::Number(number)
    }
}

impl From<bool> for Cell<'_> {
    fn from(boolean: bool) -> Self {
        Cell::Boolean(boolean)
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Cell::String(text)
    }
}

impl<'a> From<Scalar<'a>> for Cell<'a> {
    #[inline]
    fn from(scalar: Scalar<'a>) -> Self {
        match scalar {
            Scalar::Null => Cell::Null,
            Scalar::Boolean(boolean) => Cell::Boolean(boolean),
            Scalar::Integer(number) => Cell::Number(number.into()),
            Scalar::Number(number) => Cell::Number(number),
            Scalar::Text(text) => Cell::String(text),
        }
    }
}

/// Writes a cell, whose place was checked.
#[inline(always)]
pub(crate) fn write(out: &mut Vec<u8>, cell: Cell<'_>) -> Result<(), EncodeError> {
    if let Cell::Number(number) = cell {
        push_number(out, number);
        return Ok(());
    }
    write_other(out, cell)
}

#[inline(never)]
fn write_other(out: &mut Vec<u8>, cell: Cell<'_>) -> Result<(), EncodeError> {
    match cell {
        Cell::Number(number) => push_number(out, number),
        Cell::String(text) => push_string(out, text)?,
        Cell::Null => push_null(out),
        Cell::Boolean(boolean) => push_boolean(out, boolean),
        Cell::Date(milliseconds) => push_date(out, milliseconds, 0),
    }
    Ok(())
}
