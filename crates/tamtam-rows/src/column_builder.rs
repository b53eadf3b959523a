//! Making a column value by value.

use crate::{Column, Kind, Nulls, ShapeError, Value, Values};

/// Makes a column value by value.
///
/// # Examples
///
/// ```
/// use tamtam_rows::{ColumnBuilder, Kind, Value};
///
/// let mut builder = ColumnBuilder::new(Kind::Text);
/// builder.push(Value::Text("one"))?;
/// builder.push_null();
/// assert!(builder.push(Value::Bool(true)).is_err()); // of another type
/// let column = builder.finish();
/// assert_eq!((column.len(), column.is_null(1)), (2, true));
/// # Ok::<(), tamtam_rows::ShapeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ColumnBuilder {
    kind: Kind,
    values: Values,
    /// From the first null on.
    nulls: Option<Nulls>,
}

impl ColumnBuilder {
    /// For a column of this type.
    pub fn new(kind: Kind) -> ColumnBuilder {
        ColumnBuilder {
            values: Values::new(&kind),
            kind,
            nulls: None,
        }
    }

    /// How many rows there are so far.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no row so far.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// One more row that is null.
    pub fn push_null(&mut self) {
        let before = self.len();
        self.values.push_nothing();
        self.nulls
            .get_or_insert_with(|| Nulls::none(before))
            .push(true);
    }

    /// One more row. An integer fits whatever integer column its value fits, and a column of dates, times or
    /// decimals takes only those.
    ///
    /// # Errors
    /// [`ShapeError::Kind`] if the value is not of the column's type (the column's name is left empty there), and
    /// [`ShapeError::TooLarge`]; the column is as it was.
    #[inline]
    pub fn push(&mut self, value: Value<'_>) -> Result<(), ShapeError> {
        macro_rules! integer {
            ($values:expr, $value:expr) => {
                match $value.try_into() {
                    Ok(fitting) => $values.push(fitting),
                    Err(_) => return Err(self.refused(value)),
                }
            };
        }
        match (&mut self.values, value) {
            (_, Value::Null) => {
                self.push_null();
                return Ok(());
            }
            (Values::Bool(values), Value::Bool(value)) => values.push(value),
            (Values::I32(values), Value::Date(value)) if self.kind == Kind::Date => {
                values.push(value)
            }
            (Values::I64(values), Value::Time(value)) if matches!(self.kind, Kind::Time(_)) => {
                values.push(value)
            }
            (Values::I64(values), Value::Timestamp(value))
                if matches!(self.kind, Kind::Timestamp(..)) =>
            {
                values.push(value);
            }
            (Values::I32(_), Value::Int(_) | Value::Unsigned(_)) if self.kind != Kind::I32 => {
                return Err(self.refused(value));
            }
            (Values::I64(_), Value::Int(_) | Value::Unsigned(_)) if self.kind != Kind::I64 => {
                return Err(self.refused(value));
            }
            (Values::I8(values), Value::Int(number)) => integer!(values, number),
            (Values::I16(values), Value::Int(number)) => integer!(values, number),
            (Values::I32(values), Value::Int(number)) => integer!(values, number),
            (Values::I64(values), Value::Int(number)) => values.push(number),
            (Values::U8(values), Value::Int(number)) => integer!(values, number),
            (Values::U16(values), Value::Int(number)) => integer!(values, number),
            (Values::U32(values), Value::Int(number)) => integer!(values, number),
            (Values::U64(values), Value::Int(number)) => integer!(values, number),
            (Values::I8(values), Value::Unsigned(number)) => integer!(values, number),
            (Values::I16(values), Value::Unsigned(number)) => integer!(values, number),
            (Values::I32(values), Value::Unsigned(number)) => integer!(values, number),
            (Values::I64(values), Value::Unsigned(number)) => integer!(values, number),
            (Values::U8(values), Value::Unsigned(number)) => integer!(values, number),
            (Values::U16(values), Value::Unsigned(number)) => integer!(values, number),
            (Values::U32(values), Value::Unsigned(number)) => integer!(values, number),
            (Values::U64(values), Value::Unsigned(number)) => values.push(number),
            (Values::I128(values), Value::Decimal(value)) => values.push(value),
            (Values::F32(values), Value::F32(value)) => values.push(value),
            (Values::F64(values), Value::F64(value)) => values.push(value),
            (Values::F64(values), Value::F32(value)) => values.push(value.into()),
            (Values::Uuid(values), Value::Uuid(value)) => values.push(value),
            (Values::Text(texts), Value::Text(value)) => texts.push(value)?,
            (Values::Bytes(slices), Value::Bytes(value)) => slices.push(value)?,
            _ => return Err(self.refused(value)),
        }
        if let Some(nulls) = &mut self.nulls {
            nulls.push(false);
        }
        Ok(())
    }

    /// One more row, of the integer that its column keeps: the number itself, days, or units. False, and nothing is
    /// changed, if the column keeps no integers or this one does not fit.
    #[cfg(feature = "sqlite")]
    #[inline]
    pub(crate) fn push_kept(&mut self, number: i64) -> bool {
        macro_rules! fitting {
            ($values:expr) => {
                match number.try_into() {
                    Ok(fitting) => $values.push(fitting),
                    Err(_) => return false,
                }
            };
        }
        match &mut self.values {
            Values::I8(values) => fitting!(values),
            Values::I16(values) => fitting!(values),
            Values::I32(values) => fitting!(values),
            Values::I64(values) => values.push(number),
            Values::U8(values) => fitting!(values),
            Values::U16(values) => fitting!(values),
            Values::U32(values) => fitting!(values),
            Values::U64(values) => fitting!(values),
            _ => return false,
        }
        if let Some(nulls) = &mut self.nulls {
            nulls.push(false);
        }
        true
    }

    /// One more row of text. False, and nothing is changed, if this is no column of text or the text is too large.
    #[cfg(feature = "sqlite")]
    #[inline]
    pub(crate) fn push_text(&mut self, text: &str) -> bool {
        let is_pushed = match &mut self.values {
            Values::Text(texts) => texts.push(text).is_ok(),
            _ => false,
        };
        if let (true, Some(nulls)) = (is_pushed, &mut self.nulls) {
            nulls.push(false);
        }
        is_pushed
    }

    /// Forgets the rows from this one on.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.values.truncate(len);
        if let Some(nulls) = &mut self.nulls {
            nulls.truncate(len);
        }
    }

    fn refused(&self, value: Value<'_>) -> ShapeError {
        let mut given = format!("the value {value:?}");
        if given.len() > 80 {
            let end = (0..=77)
                .rev()
                .find(|&at| given.is_char_boundary(at))
                .unwrap_or(0);
            given.truncate(end);
            given.push_str("...");
        }
        ShapeError::Kind {
            column: String::new(),
            expected: self.kind.clone(),
            given,
        }
    }

    /// The column.
    pub fn finish(self) -> Column {
        Column::of_parts(self.values, self.nulls.filter(|nulls| nulls.count() > 0))
    }
}
