//! A column of a plain table, used where it lies.

use std::borrow::Cow;

use crate::{Kind, Value};

/// The values of one column in one chunk of a [`View`](super::View).
///
/// # Examples
///
/// ```
/// use tamtam_rows::packed::{self, Mode, View};
/// use tamtam_rows::{Column, Field, Kind, Limits, Rows, Schema};
///
/// let schema = Schema::new([Field::new("n", Kind::U16)])?;
/// let rows = Rows::new(schema, [Column::from(vec![7_u16, 8])])?;
/// let mut bytes = Vec::new();
/// packed::encode(&rows, Mode::Plain, &mut bytes)?;
/// let view = View::new(&bytes, &Limits::default())?;
/// for chunk in view.chunks() {
///     let column = chunk.column("n").expect("it has one column");
///     assert_eq!((column.kind(), column.len()), (&Kind::U16, 2));
///     assert_eq!(column.slice::<u16>(), Some(&[7, 8][..]));
///     // It holds no other type.
///     assert_eq!(column.slice::<u32>(), None);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ViewColumn<'a> {
    pub(super) kind: Kind,
    pub(super) rows: usize,
    /// One bit a row, the first in the lowest bit of the first byte; set for null. Only where there are nulls.
    pub(super) nulls: Option<&'a [u8]>,
    pub(super) values: Plain<'a>,
}

/// Values at their full width: where they lie, or copied from there.
#[derive(Clone, Debug)]
pub(super) enum Plain<'a> {
    /// One bit a row.
    Bool(&'a [u8]),
    I8(Cow<'a, [i8]>),
    I16(Cow<'a, [i16]>),
    I32(Cow<'a, [i32]>),
    I64(Cow<'a, [i64]>),
    U8(Cow<'a, [u8]>),
    U16(Cow<'a, [u16]>),
    U32(Cow<'a, [u32]>),
    U64(Cow<'a, [u64]>),
    F32(Cow<'a, [f32]>),
    F64(Cow<'a, [f64]>),
    /// UUIDs, and decimals of 128 bits, little-endian: they may lie anywhere.
    Sixteen(&'a [[u8; 16]]),
    Text(&'a str, Places<'a>),
    Bytes(&'a [u8], Places<'a>),
}

/// Where each value of text or bytes lies.
#[derive(Clone, Debug)]
pub(super) enum Places<'a> {
    /// All values have this length.
    Fixed(usize),
    /// Where each value begins, and the last one ends.
    Each(Cow<'a, [u32]>),
}

impl Places<'_> {
    fn range(&self, row: usize) -> std::ops::Range<usize> {
        match self {
            Places::Fixed(width) => row * width..(row + 1) * width,
            Places::Each(offsets) => offsets[row] as usize..offsets[row + 1] as usize,
        }
    }
}

impl<'a> ViewColumn<'a> {
    /// How many rows there are: at least one.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// The type of its values.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Which rows are null: one bit a row, the first in the lowest bit of the first byte. `None` if no row is.
    pub fn nulls(&self) -> Option<&'a [u8]> {
        self.nulls
    }

    /// Whether a row is null.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        self.nulls.is_some_and(|bits| bit(bits, row))
    }

    /// The values as a slice, if they are of this type. [`Date`](Kind::Date) is `i32`, times and timestamps are `i64`,
    /// and so are decimals of which all in the chunk fit; others are `[u8; 16]`, the little-endian bytes of an `i128`. What
    /// stands in a row that is null is not specified.
    #[inline]
    pub fn slice<T: InPlace>(&self) -> Option<&[T]> {
        T::slice_of(self)
    }

    /// Truth values: one bit a row, the first in the lowest bit of the first byte. `None` if they are no truth values.
    pub fn bits(&self) -> Option<&'a [u8]> {
        match self.values {
            Plain::Bool(bits) => Some(bits),
            _ => None,
        }
    }

    /// The text in a row; `None` if it is null, or the column is not one of text.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn text(&self, row: usize) -> Option<&'a str> {
        match &self.values {
            Plain::Text(text, places) if !self.is_null(row) => Some(&text[places.range(row)]),
            _ => None,
        }
    }

    /// The bytes in a row; `None` if it is null, or the column is not one of bytes.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn bytes(&self, row: usize) -> Option<&'a [u8]> {
        match &self.values {
            Plain::Bytes(bytes, places) if !self.is_null(row) => Some(&bytes[places.range(row)]),
            _ => None,
        }
    }

    /// The value in a row, as the column's type calls it.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn value(&self, row: usize) -> Value<'a> {
        if self.is_null(row) {
            return Value::Null;
        }
        match &self.values {
            Plain::Bool(bits) => Value::Bool(bit(bits, row)),
            Plain::I8(values) => Value::Int(values[row].into()),
            Plain::I16(values) => Value::Int(values[row].into()),
            Plain::I32(values) if self.kind == Kind::Date => Value::Date(values[row]),
            Plain::I32(values) => Value::Int(values[row].into()),
            Plain::I64(values) => match self.kind {
                Kind::Time(_) => Value::Time(values[row]),
                Kind::Timestamp(..) => Value::Timestamp(values[row]),
                Kind::Decimal { .. } => Value::Decimal(values[row].into()),
                _ => Value::Int(values[row]),
            },
            Plain::U8(values) => Value::Unsigned(values[row].into()),
            Plain::U16(values) => Value::Unsigned(values[row].into()),
            Plain::U32(values) => Value::Unsigned(values[row].into()),
            Plain::U64(values) => Value::Unsigned(values[row]),
            Plain::F32(values) => Value::F32(values[row]),
            Plain::F64(values) => Value::F64(values[row]),
            Plain::Sixteen(values) if self.kind == Kind::Uuid => Value::Uuid(values[row]),
            Plain::Sixteen(values) => Value::Decimal(i128::from_le_bytes(values[row])),
            Plain::Text(text, places) => Value::Text(&text[places.range(row)]),
            Plain::Bytes(bytes, places) => Value::Bytes(&bytes[places.range(row)]),
        }
    }

    pub(super) fn is_in_place(&self) -> bool {
        macro_rules! lies {
            ($values:expr) => {
                matches!($values, Cow::Borrowed(_))
            };
        }
        match &self.values {
            Plain::I8(values) => lies!(values),
            Plain::I16(values) => lies!(values),
            Plain::I32(values) => lies!(values),
            Plain::I64(values) => lies!(values),
            Plain::U8(values) => lies!(values),
            Plain::U16(values) => lies!(values),
            Plain::U32(values) => lies!(values),
            Plain::U64(values) => lies!(values),
            Plain::F32(values) => lies!(values),
            Plain::F64(values) => lies!(values),
            Plain::Text(_, Places::Each(offsets)) | Plain::Bytes(_, Places::Each(offsets)) => {
                lies!(offsets)
            }
            Plain::Bool(_) | Plain::Sixteen(_) | Plain::Text(..) | Plain::Bytes(..) => true,
        }
    }
}

fn bit(bits: &[u8], row: usize) -> bool {
    bits[row / 8] >> (row % 8) & 1 == 1
}

/// A type whose values lie in a plain table as they do in memory.
///
/// # Examples
///
/// ```
/// use tamtam_rows::packed::{self, InPlace, Mode, View};
/// use tamtam_rows::{Column, Field, Kind, Limits, Rows, Schema};
///
/// /// The largest value of a column, whatever its type.
/// fn largest<T: InPlace + PartialOrd>(view: &View, name: &str) -> Option<T> {
///     let mut largest = None;
///     for chunk in view.chunks() {
///         for &value in chunk.column(name)?.slice::<T>()? {
///             largest = largest.filter(|most| *most >= value).or(Some(value));
///         }
///     }
///     largest
/// }
///
/// let schema = Schema::new([Field::new("n", Kind::U16)])?;
/// let rows = Rows::new(schema, [Column::from(vec![7_u16, 9, 8])])?;
/// let mut bytes = Vec::new();
/// packed::encode(&rows, Mode::Plain, &mut bytes)?;
/// assert_eq!(largest::<u16>(&View::new(&bytes, &Limits::default())?, "n"), Some(9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait InPlace: Copy + sealed::Sealed {
    /// The values of a column, if they are of this type.
    fn slice_of<'v>(column: &'v ViewColumn<'_>) -> Option<&'v [Self]>;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! in_place {
    ($($type:ty => $variant:ident),*) => {$(
        impl sealed::Sealed for $type {}
        impl InPlace for $type {
            #[inline]
            fn slice_of<'v>(column: &'v ViewColumn<'_>) -> Option<&'v [$type]> {
                match &column.values {
                    Plain::$variant(values) => Some(values),
                    _ => None,
                }
            }
        }
    )*};
}
in_place! {
    i8 => I8, i16 => I16, i32 => I32, i64 => I64, u8 => U8, u16 => U16, u32 => U32, u64 => U64,
    f32 => F32, f64 => F64, [u8; 16] => Sixteen
}
