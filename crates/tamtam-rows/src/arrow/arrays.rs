//! Rows as Arrow's arrays and record batches.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, FixedSizeBinaryArray,
    Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, LargeBinaryArray,
    LargeStringArray, RecordBatch, RecordBatchOptions, StringArray, Time32MillisecondArray,
    Time32SecondArray, Time64MicrosecondArray, Time64NanosecondArray, TimestampMicrosecondArray,
    TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray, UInt8Array,
    UInt16Array, UInt32Array, UInt64Array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Schema as ArrowSchema};

use super::types::field_to_arrow;
use crate::ends::Ends;
use crate::{Column, EncodeError, Field, Kind, Nulls, Rows, Unit, Values};

impl Rows {
    /// The same table as a record batch of Arrow. The values are copied; [`Rows::into_record_batch`] hands most of
    /// them over.
    ///
    /// # Errors
    /// [`EncodeError::Value`] for a time that is negative or not below 24 hours, which Arrow's times cannot hold.
    pub fn to_record_batch(&self) -> Result<RecordBatch, EncodeError> {
        self.clone().into_record_batch()
    }

    /// This table as a record batch of Arrow. Only truth values, times in seconds and milliseconds, and nulls are
    /// copied.
    ///
    /// # Errors
    /// As of [`Rows::to_record_batch`].
    pub fn into_record_batch(self) -> Result<RecordBatch, EncodeError> {
        self.into_record_batch_as("arrow")
    }

    pub(crate) fn into_record_batch_as(
        self,
        form: &'static str,
    ) -> Result<RecordBatch, EncodeError> {
        let len = self.len();
        let (schema, columns) = self.into_columns();
        let mut fields = Vec::with_capacity(schema.len());
        let mut arrays = Vec::with_capacity(schema.len());
        for (field, column) in schema.fields().iter().zip(columns) {
            let array = array(form, field, column)?;
            let large = matches!(
                array.data_type(),
                DataType::LargeUtf8 | DataType::LargeBinary
            );
            fields.push(field_to_arrow(field, large));
            arrays.push(array);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(len));
        RecordBatch::try_new_with_options(Arc::new(ArrowSchema::new(fields)), arrays, &options)
            .map_err(|error| failed(form, &error))
    }
}

impl TryFrom<Rows> for RecordBatch {
    type Error = EncodeError;

    /// As [`Rows::into_record_batch`].
    fn try_from(rows: Rows) -> Result<RecordBatch, EncodeError> {
        rows.into_record_batch()
    }
}

fn array(form: &'static str, field: &Field, column: Column) -> Result<ArrayRef, EncodeError> {
    let (values, nulls) = column.into_parts();
    let nulls = nulls.as_ref().map(null_buffer);
    macro_rules! plain {
        ($array:ty, $values:expr) => {
            Arc::new(<$array>::new(ScalarBuffer::from($values), nulls))
        };
    }
    Ok(match (values, field.kind()) {
        (Values::Bool(values), _) => {
            Arc::new(BooleanArray::new(BooleanBuffer::from(values), nulls))
        }
        (Values::I8(values), _) => plain!(Int8Array, values),
        (Values::I16(values), _) => plain!(Int16Array, values),
        (Values::I32(values), Kind::Date) => plain!(Date32Array, values),
        (Values::I32(values), _) => plain!(Int32Array, values),
        (Values::I64(values), Kind::Time(unit)) => {
            check_times(form, field, &values, *unit)?;
            match unit {
                // Each value was found to lie within a day.
                Unit::Second => plain!(Time32SecondArray, narrow(&values)),
                Unit::Millisecond => plain!(Time32MillisecondArray, narrow(&values)),
                Unit::Microsecond => plain!(Time64MicrosecondArray, values),
                Unit::Nanosecond => plain!(Time64NanosecondArray, values),
            }
        }
        (Values::I64(values), Kind::Timestamp(unit, _)) => {
            let DataType::Timestamp(_, zone) = field_to_arrow(field, false).data_type().clone()
            else {
                unreachable!("a timestamp is one in Arrow, too")
            };
            let values = ScalarBuffer::from(values);
            match unit {
                Unit::Second => {
                    Arc::new(TimestampSecondArray::new(values, nulls).with_timezone_opt(zone))
                }
                Unit::Millisecond => {
                    Arc::new(TimestampMillisecondArray::new(values, nulls).with_timezone_opt(zone))
                }
                Unit::Microsecond => {
                    Arc::new(TimestampMicrosecondArray::new(values, nulls).with_timezone_opt(zone))
                }
                Unit::Nanosecond => {
                    Arc::new(TimestampNanosecondArray::new(values, nulls).with_timezone_opt(zone))
                }
            }
        }
        (Values::I64(values), _) => plain!(Int64Array, values),
        (Values::I128(values), kind) => {
            let Kind::Decimal { precision, scale } = *kind else {
                unreachable!("the table was checked when it was made")
            };
            let decimals = Decimal128Array::new(ScalarBuffer::from(values), nulls)
                .with_precision_and_scale(precision, scale as i8)
                .map_err(|error| failed(form, &error))?;
            Arc::new(decimals)
        }
        (Values::U8(values), _) => plain!(UInt8Array, values),
        (Values::U16(values), _) => plain!(UInt16Array, values),
        (Values::U32(values), _) => plain!(UInt32Array, values),
        (Values::U64(values), _) => plain!(UInt64Array, values),
        (Values::F32(values), _) => plain!(Float32Array, values),
        (Values::F64(values), _) => plain!(Float64Array, values),
        (Values::Uuid(values), _) => {
            let bytes = Buffer::from_vec(values.into_flattened());
            Arc::new(
                FixedSizeBinaryArray::try_new(16, bytes, nulls)
                    .map_err(|error| failed(form, &error))?,
            )
        }
        (Values::Text(texts), _) => {
            let (text, ends) = texts.into_parts();
            let bytes = Buffer::from_vec(text.into_bytes());
            match offsets(ends, bytes.len()) {
                Offsets::Small(offsets) => {
                    StringArray::try_new(offsets, bytes, nulls).map(|array| Arc::new(array) as _)
                }
                Offsets::Large(offsets) => LargeStringArray::try_new(offsets, bytes, nulls)
                    .map(|array| Arc::new(array) as _),
            }
            .map_err(|error| failed(form, &error))?
        }
        (Values::Bytes(slices), _) => {
            let (bytes, ends) = slices.into_parts();
            let bytes = Buffer::from_vec(bytes);
            match offsets(ends, bytes.len()) {
                Offsets::Small(offsets) => {
                    BinaryArray::try_new(offsets, bytes, nulls).map(|array| Arc::new(array) as _)
                }
                Offsets::Large(offsets) => LargeBinaryArray::try_new(offsets, bytes, nulls)
                    .map(|array| Arc::new(array) as _),
            }
            .map_err(|error| failed(form, &error))?
        }
    })
}

/// Arrow marks what is there, where we mark what is not.
fn null_buffer(nulls: &Nulls) -> NullBuffer {
    let words: Vec<u64> = nulls.words().iter().map(|word| (!word).to_le()).collect();
    NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(words), 0, nulls.len()))
}

/// A place that is null holds zero, which is a time of the day.
fn check_times(
    form: &'static str,
    field: &Field,
    values: &[i64],
    unit: Unit,
) -> Result<(), EncodeError> {
    let day = 86_400 * unit.per_second();
    match values.iter().position(|value| !(0..day).contains(value)) {
        None => Ok(()),
        Some(row) => Err(EncodeError::Value {
            form,
            column: field.name().to_owned(),
            row,
            reason: format!(
                "a time of Arrow lies within one day, and this one is {} {unit}; declare the column as i64",
                values[row]
            ),
        }),
    }
}

fn narrow(values: &[i64]) -> Vec<i32> {
    values.iter().map(|&value| value as i32).collect()
}

enum Offsets {
    Small(OffsetBuffer<i32>),
    Large(OffsetBuffer<i64>),
}

fn offsets(ends: Ends, bytes: usize) -> Offsets {
    let small = bytes <= i32::MAX as usize;
    match ends {
        Ends::Fixed { width, count } if small => {
            let offsets: Vec<i32> = (0..=count)
                .map(|index| (index * width as usize) as i32)
                .collect();
            Offsets::Small(OffsetBuffer::new(offsets.into()))
        }
        Ends::Fixed { width, count } => {
            let offsets: Vec<i64> = (0..=count as i64)
                .map(|index| index * i64::from(width))
                .collect();
            Offsets::Large(OffsetBuffer::new(offsets.into()))
        }
        Ends::Each(ends) if small => {
            let offsets: Vec<i32> = ends.into_iter().map(|end| end as i32).collect();
            Offsets::Small(OffsetBuffer::new(offsets.into()))
        }
        Ends::Each(ends) => {
            let offsets: Vec<i64> = ends.into_iter().map(i64::from).collect();
            Offsets::Large(OffsetBuffer::new(offsets.into()))
        }
    }
}

fn failed(form: &'static str, error: &ArrowError) -> EncodeError {
    EncodeError::Failed {
        form,
        reason: error.to_string(),
    }
}
