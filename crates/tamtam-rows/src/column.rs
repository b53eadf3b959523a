//! A column: values of one type one behind the other, and where there are none.

use crate::{Kind, Nulls, ShapeError, Slices, Strings, Value};

/// The values of one column, of whatever type.
///
/// A place that is null holds zero or nothing at all: [`Column::with_nulls`] sees to that.
///
/// # Examples
///
/// ```
/// use tamtam_rows::{Column, Values};
///
/// let column = Column::new(Values::F64(vec![0.5, 1.5]));
/// match column.values() {
///     Values::F64(numbers) => assert_eq!(numbers.iter().sum::<f64>(), 2.0),
///     other => panic!("{} values of another type", other.len()),
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Values {
    /// For [`Kind::Bool`].
    Bool(Vec<bool>),
    /// For [`Kind::I8`].
    I8(Vec<i8>),
    /// For [`Kind::I16`].
    I16(Vec<i16>),
    /// For [`Kind::I32`] and [`Kind::Date`].
    I32(Vec<i32>),
    /// For [`Kind::I64`], [`Kind::Time`] and [`Kind::Timestamp`].
    I64(Vec<i64>),
    /// For [`Kind::Decimal`].
    I128(Vec<i128>),
    /// For [`Kind::U8`].
    U8(Vec<u8>),
    /// For [`Kind::U16`].
    U16(Vec<u16>),
    /// For [`Kind::U32`].
    U32(Vec<u32>),
    /// For [`Kind::U64`].
    U64(Vec<u64>),
    /// For [`Kind::F32`].
    F32(Vec<f32>),
    /// For [`Kind::F64`].
    F64(Vec<f64>),
    /// For [`Kind::Uuid`].
    Uuid(Vec<[u8; 16]>),
    /// For [`Kind::Text`].
    Text(Strings),
    /// For [`Kind::Bytes`].
    Bytes(Slices),
}

/// Does the same with the vector inside, whatever its elements, and something else with text and bytes.
macro_rules! each {
    ($values:expr, $vector:ident => $do:expr, $variable:ident => $other:expr) => {
        match $values {
            Values::Bool($vector) => $do,
            Values::I8($vector) => $do,
            Values::I16($vector) => $do,
            Values::I32($vector) => $do,
            Values::I64($vector) => $do,
            Values::I128($vector) => $do,
            Values::U8($vector) => $do,
            Values::U16($vector) => $do,
            Values::U32($vector) => $do,
            Values::U64($vector) => $do,
            Values::F32($vector) => $do,
            Values::F64($vector) => $do,
            Values::Uuid($vector) => $do,
            Values::Text($variable) => $other,
            Values::Bytes($variable) => $other,
        }
    };
}

impl Values {
    /// No values yet, for a column of this type.
    pub fn new(kind: &Kind) -> Values {
        match kind {
            Kind::Bool => Values::Bool(Vec::new()),
            Kind::I8 => Values::I8(Vec::new()),
            Kind::I16 => Values::I16(Vec::new()),
            Kind::I32 | Kind::Date => Values::I32(Vec::new()),
            Kind::I64 | Kind::Time(_) | Kind::Timestamp(..) => Values::I64(Vec::new()),
            Kind::Decimal { .. } => Values::I128(Vec::new()),
            Kind::U8 => Values::U8(Vec::new()),
            Kind::U16 => Values::U16(Vec::new()),
            Kind::U32 => Values::U32(Vec::new()),
            Kind::U64 => Values::U64(Vec::new()),
            Kind::F32 => Values::F32(Vec::new()),
            Kind::F64 => Values::F64(Vec::new()),
            Kind::Uuid => Values::Uuid(Vec::new()),
            Kind::Text => Values::Text(Strings::new()),
            Kind::Bytes => Values::Bytes(Slices::new()),
        }
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        each!(self, vector => vector.len(), variable => variable.len())
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One more value, of a row that is null: zero, or nothing.
    pub(crate) fn push_nothing(&mut self) {
        match self {
            Values::Bool(values) => values.push(false),
            Values::I8(values) => values.push(0),
            Values::I16(values) => values.push(0),
            Values::I32(values) => values.push(0),
            Values::I64(values) => values.push(0),
            Values::I128(values) => values.push(0),
            Values::U8(values) => values.push(0),
            Values::U16(values) => values.push(0),
            Values::U32(values) => values.push(0),
            Values::U64(values) => values.push(0),
            Values::F32(values) => values.push(0.0),
            Values::F64(values) => values.push(0.0),
            Values::Uuid(values) => values.push([0; 16]),
            // Nothing is added to the text, which therefore stays within its limit.
            Values::Text(texts) => texts.push("").expect("no text is added"),
            Values::Bytes(slices) => slices.push(&[]).expect("no byte is added"),
        }
    }

    /// Forgets the values from this one on.
    pub(crate) fn truncate(&mut self, len: usize) {
        each!(self, vector => vector.truncate(len), variable => variable.truncate(len));
    }

    /// The bytes that the values take in memory.
    pub fn memory(&self) -> usize {
        each!(self, vector => size_of_val(vector.as_slice()), variable => variable.all().len() + variable.ends().memory())
    }

    /// Whether these are the values of a column of this type.
    pub fn fits(&self, kind: &Kind) -> bool {
        matches!(
            (self, kind),
            (Values::Bool(_), Kind::Bool)
                | (Values::I8(_), Kind::I8)
                | (Values::I16(_), Kind::I16)
                | (Values::I32(_), Kind::I32 | Kind::Date)
                | (
                    Values::I64(_),
                    Kind::I64 | Kind::Time(_) | Kind::Timestamp(..)
                )
                | (Values::I128(_), Kind::Decimal { .. })
                | (Values::U8(_), Kind::U8)
                | (Values::U16(_), Kind::U16)
                | (Values::U32(_), Kind::U32)
                | (Values::U64(_), Kind::U64)
                | (Values::F32(_), Kind::F32)
                | (Values::F64(_), Kind::F64)
                | (Values::Uuid(_), Kind::Uuid)
                | (Values::Text(_), Kind::Text)
                | (Values::Bytes(_), Kind::Bytes)
        )
    }

    /// What the elements are called, for errors.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Values::Bool(_) => "bool",
            Values::I8(_) => "i8",
            Values::I16(_) => "i16",
            Values::I32(_) => "i32",
            Values::I64(_) => "i64",
            Values::I128(_) => "i128",
            Values::U8(_) => "u8",
            Values::U16(_) => "u16",
            Values::U32(_) => "u32",
            Values::U64(_) => "u64",
            Values::F32(_) => "f32",
            Values::F64(_) => "f64",
            Values::Uuid(_) => "uuid",
            Values::Text(_) => "text",
            Values::Bytes(_) => "bytes",
        }
    }

    /// The value in a row, as the column's type calls it.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn value(&self, kind: &Kind, row: usize) -> Value<'_> {
        match self {
            Values::Bool(values) => Value::Bool(values[row]),
            Values::I8(values) => Value::Int(values[row].into()),
            Values::I16(values) => Value::Int(values[row].into()),
            Values::I32(values) if *kind == Kind::Date => Value::Date(values[row]),
            Values::I32(values) => Value::Int(values[row].into()),
            Values::I64(values) => match kind {
                Kind::Time(_) => Value::Time(values[row]),
                Kind::Timestamp(..) => Value::Timestamp(values[row]),
                _ => Value::Int(values[row]),
            },
            Values::I128(values) => Value::Decimal(values[row]),
            Values::U8(values) => Value::Unsigned(values[row].into()),
            Values::U16(values) => Value::Unsigned(values[row].into()),
            Values::U32(values) => Value::Unsigned(values[row].into()),
            Values::U64(values) => Value::Unsigned(values[row]),
            Values::F32(values) => Value::F32(values[row]),
            Values::F64(values) => Value::F64(values[row]),
            Values::Uuid(values) => Value::Uuid(values[row]),
            Values::Text(values) => Value::Text(values.get(row)),
            Values::Bytes(values) => Value::Bytes(values.get(row)),
        }
    }
}

/// Two lists of values are equal if they hold the same bits: a NaN equals itself, and the two zeros differ.
impl PartialEq for Values {
    fn eq(&self, other: &Values) -> bool {
        match (self, other) {
            (Values::Bool(mine), Values::Bool(theirs)) => mine == theirs,
            (Values::I8(mine), Values::I8(theirs)) => mine == theirs,
            (Values::I16(mine), Values::I16(theirs)) => mine == theirs,
            (Values::I32(mine), Values::I32(theirs)) => mine == theirs,
            (Values::I64(mine), Values::I64(theirs)) => mine == theirs,
            (Values::I128(mine), Values::I128(theirs)) => mine == theirs,
            (Values::U8(mine), Values::U8(theirs)) => mine == theirs,
            (Values::U16(mine), Values::U16(theirs)) => mine == theirs,
            (Values::U32(mine), Values::U32(theirs)) => mine == theirs,
            (Values::U64(mine), Values::U64(theirs)) => mine == theirs,
            (Values::F32(mine), Values::F32(theirs)) => mine
                .iter()
                .map(|value| value.to_bits())
                .eq(theirs.iter().map(|value| value.to_bits())),
            (Values::F64(mine), Values::F64(theirs)) => mine
                .iter()
                .map(|value| value.to_bits())
                .eq(theirs.iter().map(|value| value.to_bits())),
            (Values::Uuid(mine), Values::Uuid(theirs)) => mine == theirs,
            (Values::Text(mine), Values::Text(theirs)) => mine == theirs,
            (Values::Bytes(mine), Values::Bytes(theirs)) => mine == theirs,
            _ => false,
        }
    }
}

/// The values of one column, and which of them are null.
///
/// # Examples
///
/// ```
/// use tamtam_rows::Column;
///
/// let numbers = Column::from(vec![1_u32, 2, 3]);
/// assert_eq!(numbers.slice::<u32>(), Some(&[1, 2, 3][..]));
///
/// let names = Column::from_iter([Some("one"), None]);
/// assert_eq!(names.texts().unwrap().get(0), "one");
/// assert!(names.is_null(1));
/// ```
#[derive(Clone, Debug)]
pub struct Column {
    values: Values,
    /// Only where there is one.
    nulls: Option<Nulls>,
}

impl PartialEq for Column {
    fn eq(&self, other: &Column) -> bool {
        self.values == other.values && self.nulls == other.nulls
    }
}

impl Column {
    /// A column without nulls.
    pub fn new(values: Values) -> Column {
        Column {
            values,
            nulls: None,
        }
    }

    /// A column in which some rows are null. What stands in their places is replaced by zero, or by nothing.
    ///
    /// # Errors
    /// [`ShapeError::Length`] if there are not as many values as rows.
    pub fn with_nulls(mut values: Values, nulls: Nulls) -> Result<Column, ShapeError> {
        if values.len() != nulls.len() {
            return Err(ShapeError::Length {
                column: String::new(),
                given: values.len(),
                expected: nulls.len(),
            });
        }
        if nulls.count() == 0 {
            return Ok(Column {
                values,
                nulls: None,
            });
        }
        match &mut values {
            Values::Text(texts) => {
                if nulls.rows().any(|row| !texts.get(row).is_empty()) {
                    *texts = (0..texts.len())
                        .map(|row| {
                            if nulls.is_null(row) {
                                ""
                            } else {
                                texts.get(row)
                            }
                        })
                        .collect();
                }
            }
            Values::Bytes(slices) => {
                if nulls.rows().any(|row| !slices.get(row).is_empty()) {
                    *slices = (0..slices.len())
                        .map(|row| {
                            if nulls.is_null(row) {
                                &[]
                            } else {
                                slices.get(row)
                            }
                        })
                        .collect();
                }
            }
            Values::Bool(values) => clear(values, &nulls),
            Values::I8(values) => clear(values, &nulls),
            Values::I16(values) => clear(values, &nulls),
            Values::I32(values) => clear(values, &nulls),
            Values::I64(values) => clear(values, &nulls),
            Values::I128(values) => clear(values, &nulls),
            Values::U8(values) => clear(values, &nulls),
            Values::U16(values) => clear(values, &nulls),
            Values::U32(values) => clear(values, &nulls),
            Values::U64(values) => clear(values, &nulls),
            Values::F32(values) => clear(values, &nulls),
            Values::F64(values) => clear(values, &nulls),
            Values::Uuid(values) => clear(values, &nulls),
        }
        Ok(Column {
            values,
            nulls: Some(nulls),
        })
    }

    /// What is null must hold zero or nothing, and there must be a null, if there are any nulls.
    pub(crate) fn of_parts(values: Values, nulls: Option<Nulls>) -> Column {
        Column { values, nulls }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The values; those of null rows are zero, or nothing.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Which rows are null; `None` if no row is.
    pub fn nulls(&self) -> Option<&Nulls> {
        self.nulls.as_ref()
    }

    /// Whether a row is null.
    ///
    /// # Panics
    /// If there is a null in the column and no such row.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// The values as a slice, if they are of this type. [`Date`](Kind::Date) is `i32`, times and timestamps are
    /// `i64`, decimals `i128`.
    pub fn slice<T: Element>(&self) -> Option<&[T]> {
        T::slice_of(&self.values)
    }

    /// The values, if they are text.
    pub fn texts(&self) -> Option<&Strings> {
        match &self.values {
            Values::Text(texts) => Some(texts),
            _ => None,
        }
    }

    /// The values, if they are bytes.
    pub fn slices(&self) -> Option<&Slices> {
        match &self.values {
            Values::Bytes(slices) => Some(slices),
            _ => None,
        }
    }

    /// The value in a row of a column of this type.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn value(&self, kind: &Kind, row: usize) -> Value<'_> {
        if self.is_null(row) {
            Value::Null
        } else {
            self.values.value(kind, row)
        }
    }

    /// The bytes that it takes in memory.
    pub fn memory(&self) -> usize {
        self.values.memory()
            + self
                .nulls
                .as_ref()
                .map_or(0, |nulls| nulls.words().len() * 8)
    }

    /// Takes it apart.
    pub fn into_parts(self) -> (Values, Option<Nulls>) {
        (self.values, self.nulls)
    }

    /// Appends the rows of another column of the same type.
    pub(crate) fn append(&mut self, other: &Column) -> Result<(), ShapeError> {
        let before = self.len();
        match (&mut self.values, &other.values) {
            (Values::Bool(mine), Values::Bool(theirs)) => mine.extend_from_slice(theirs),
            (Values::I8(mine), Values::I8(theirs)) => mine.extend_from_slice(theirs),
            (Values::I16(mine), Values::I16(theirs)) => mine.extend_from_slice(theirs),
            (Values::I32(mine), Values::I32(theirs)) => mine.extend_from_slice(theirs),
            (Values::I64(mine), Values::I64(theirs)) => mine.extend_from_slice(theirs),
            (Values::I128(mine), Values::I128(theirs)) => mine.extend_from_slice(theirs),
            (Values::U8(mine), Values::U8(theirs)) => mine.extend_from_slice(theirs),
            (Values::U16(mine), Values::U16(theirs)) => mine.extend_from_slice(theirs),
            (Values::U32(mine), Values::U32(theirs)) => mine.extend_from_slice(theirs),
            (Values::U64(mine), Values::U64(theirs)) => mine.extend_from_slice(theirs),
            (Values::F32(mine), Values::F32(theirs)) => mine.extend_from_slice(theirs),
            (Values::F64(mine), Values::F64(theirs)) => mine.extend_from_slice(theirs),
            (Values::Uuid(mine), Values::Uuid(theirs)) => mine.extend_from_slice(theirs),
            (Values::Text(mine), Values::Text(theirs)) => mine.append(theirs)?,
            (Values::Bytes(mine), Values::Bytes(theirs)) => mine.append(theirs)?,
            _ => unreachable!("columns of one schema are of one type"),
        }
        match (&mut self.nulls, &other.nulls) {
            (None, None) => {}
            (mine, theirs) => {
                let mine = mine.get_or_insert_with(|| Nulls::none(before));
                match theirs {
                    Some(theirs) => mine.append(theirs),
                    None => mine.push_none(other.len()),
                }
            }
        }
        Ok(())
    }

    /// Some of its rows, copied.
    pub(crate) fn part(&self, range: std::ops::Range<usize>) -> Column {
        let values = match &self.values {
            Values::Bool(values) => Values::Bool(values[range.clone()].to_vec()),
            Values::I8(values) => Values::I8(values[range.clone()].to_vec()),
            Values::I16(values) => Values::I16(values[range.clone()].to_vec()),
            Values::I32(values) => Values::I32(values[range.clone()].to_vec()),
            Values::I64(values) => Values::I64(values[range.clone()].to_vec()),
            Values::I128(values) => Values::I128(values[range.clone()].to_vec()),
            Values::U8(values) => Values::U8(values[range.clone()].to_vec()),
            Values::U16(values) => Values::U16(values[range.clone()].to_vec()),
            Values::U32(values) => Values::U32(values[range.clone()].to_vec()),
            Values::U64(values) => Values::U64(values[range.clone()].to_vec()),
            Values::F32(values) => Values::F32(values[range.clone()].to_vec()),
            Values::F64(values) => Values::F64(values[range.clone()].to_vec()),
            Values::Uuid(values) => Values::Uuid(values[range.clone()].to_vec()),
            Values::Text(texts) => Values::Text(range.clone().map(|row| texts.get(row)).collect()),
            Values::Bytes(slices) => {
                Values::Bytes(range.clone().map(|row| slices.get(row)).collect())
            }
        };
        let nulls = self
            .nulls
            .as_ref()
            .map(|nulls| nulls.slice(range))
            .filter(|nulls| nulls.count() > 0);
        Column { values, nulls }
    }
}

fn clear<T: Copy + Default>(values: &mut [T], nulls: &Nulls) {
    for row in nulls.rows() {
        values[row] = T::default();
    }
}

/// A type whose values lie one beside the other in a column.
///
/// # Examples
///
/// ```
/// use tamtam_rows::{Column, Element};
///
/// /// The largest number of a column whose type the caller knows.
/// fn most<T: Element + Ord>(column: &Column) -> Option<T> {
///     column.slice::<T>()?.iter().copied().max()
/// }
///
/// let column = Column::from(vec![3_i16, 7, 5]);
/// assert_eq!(most::<i16>(&column), Some(7));
/// assert_eq!(most::<u64>(&column), None); // these are no u64
/// ```
pub trait Element: Copy + sealed::Sealed {
    /// The values, if they are of this type.
    fn slice_of(values: &Values) -> Option<&[Self]>;
    /// Values of this type.
    fn into_values(values: Vec<Self>) -> Values;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($type:ty => $variant:ident),*) => {$(
        impl sealed::Sealed for $type {}
        impl Element for $type {
            fn slice_of(values: &Values) -> Option<&[$type]> {
                match values {
                    Values::$variant(values) => Some(values),
                    _ => None,
                }
            }
            fn into_values(values: Vec<$type>) -> Values {
                Values::$variant(values)
            }
        }
    )*};
}
elements! {
    bool => Bool, i8 => I8, i16 => I16, i32 => I32, i64 => I64, i128 => I128,
    u8 => U8, u16 => U16, u32 => U32, u64 => U64, f32 => F32, f64 => F64, [u8; 16] => Uuid
}

impl<T: Element> From<Vec<T>> for Column {
    fn from(values: Vec<T>) -> Column {
        Column::new(T::into_values(values))
    }
}

impl<T: Element + Default> From<Vec<Option<T>>> for Column {
    fn from(values: Vec<Option<T>>) -> Column {
        let nulls: Nulls = values.iter().map(Option::is_none).collect();
        let values = values.into_iter().map(Option::unwrap_or_default).collect();
        Column {
            values: T::into_values(values),
            nulls: (nulls.count() > 0).then_some(nulls),
        }
    }
}

impl From<Strings> for Column {
    fn from(texts: Strings) -> Column {
        Column::new(Values::Text(texts))
    }
}

impl From<Slices> for Column {
    fn from(slices: Slices) -> Column {
        Column::new(Values::Bytes(slices))
    }
}

impl<'a> FromIterator<&'a str> for Column {
    fn from_iter<I: IntoIterator<Item = &'a str>>(iter: I) -> Column {
        Column::from(iter.into_iter().collect::<Strings>())
    }
}

impl<'a> FromIterator<Option<&'a str>> for Column {
    fn from_iter<I: IntoIterator<Item = Option<&'a str>>>(iter: I) -> Column {
        let mut nulls = Nulls::new();
        let texts: Strings = iter
            .into_iter()
            .map(|text| {
                nulls.push(text.is_none());
                text.unwrap_or_default()
            })
            .collect();
        Column {
            values: Values::Text(texts),
            nulls: (nulls.count() > 0).then_some(nulls),
        }
    }
}
