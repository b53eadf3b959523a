//! One value of a table.

/// One value of a table, borrowed from its column.
///
/// What a number means is said by the column's [`Kind`](crate::Kind): the scale of a decimal, the unit of a time.
///
/// # Examples
///
/// ```
/// use tamtam_rows::{Column, Kind, Value};
///
/// let column = Column::from(vec![Some(7_i32), None]);
/// assert_eq!(column.value(&Kind::I32, 0), Value::Int(7));
/// assert!(column.value(&Kind::I32, 1).is_null());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// No value.
    Null,
    /// True or false.
    Bool(bool),
    /// A signed integer of any width.
    Int(i64),
    /// An unsigned integer of any width.
    Unsigned(u64),
    /// A number of 32 bits.
    F32(f32),
    /// A number of 64 bits.
    F64(f64),
    /// A decimal's digits as one integer; the column says how many stand behind the point.
    Decimal(i128),
    /// Days since 1970-01-01.
    Date(i32),
    /// Units since midnight.
    Time(i64),
    /// Units since 1970-01-01 00:00:00.
    Timestamp(i64),
    /// The bytes of a UUID.
    Uuid([u8; 16]),
    /// Text.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
}

impl Value<'_> {
    /// Whether there is no value.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }
}
