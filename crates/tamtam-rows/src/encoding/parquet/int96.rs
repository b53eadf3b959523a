//! Timestamps of 96 bits, as Hive, Impala and older versions of Spark write them: a day, and the nanoseconds of that.
//!
//! Parquet's own reader makes 64 bits of them, in nanoseconds unless it is asked for another unit, and drops the bits that are
//! too many: of dates beyond 1677 to 2262, which stand for "never" in many tables, other ones are left. So they are read twice,
//! as nanoseconds and as milliseconds, which hold every day. Together these say all that was written.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{TimestampMillisecondType, TimestampNanosecondType};
use arrow_array::{Array, ArrayRef, RecordBatch, TimestampMicrosecondArray};
use arrow_schema::{ArrowError, DataType, Fields, Schema as ArrowSchema, TimeUnit};
use parquet::basic::Type;
use parquet::schema::types::SchemaDescriptor;

const NANOSECONDS_OF_MILLISECOND: i64 = 1_000_000;

/// Which columns are of 96 bits.
pub(super) fn columns(described: &SchemaDescriptor) -> Vec<usize> {
    let fields = described.root_schema().get_fields().iter().enumerate();
    fields
        .filter(|(_, field)| field.is_primitive() && field.get_physical_type() == Type::INT96)
        .map(|(index, _)| index)
        .collect()
}

/// The schema with these columns of timestamps in another unit.
pub(super) fn with_unit(arrow: &ArrowSchema, columns: &[usize], unit: TimeUnit) -> ArrowSchema {
    let fields = arrow.fields().iter().enumerate().map(|(index, field)| {
        let field = field.as_ref().clone();
        match field.data_type().clone() {
            DataType::Timestamp(_, zone) if columns.contains(&index) => {
                field.with_data_type(DataType::Timestamp(unit, zone))
            }
            _ => field,
        }
    });
    ArrowSchema::new(fields.collect::<Fields>())
}

/// A timestamp that microseconds do not hold.
pub(super) struct Inexact {
    /// Which column of the batch has it.
    pub(super) column: usize,
    pub(super) row: usize,
    pub(super) nanoseconds: i128,
}

/// The batch with its columns of 96 bits in microseconds. `milliseconds` has these columns alone, of the same rows.
pub(super) fn in_microseconds(
    batch: &RecordBatch,
    milliseconds: &RecordBatch,
    columns: &[usize],
) -> Result<Result<RecordBatch, Inexact>, ArrowError> {
    let mut arrays = batch.columns().to_vec();
    for (&column, milliseconds) in columns.iter().zip(milliseconds.columns()) {
        match joined(&arrays[column], milliseconds) {
            Ok(array) => arrays[column] = array,
            Err((row, nanoseconds)) => {
                return Ok(Err(Inexact {
                    column,
                    row,
                    nanoseconds,
                }));
            }
        }
    }
    let schema = with_unit(&batch.schema(), columns, TimeUnit::Microsecond);
    RecordBatch::try_new(Arc::new(schema), arrays).map(Ok)
}

/// The timestamps in microseconds, or the row and the nanoseconds of one that these do not hold.
fn joined(nanoseconds: &ArrayRef, milliseconds: &ArrayRef) -> Result<ArrayRef, (usize, i128)> {
    let nanoseconds = nanoseconds.as_primitive::<TimestampNanosecondType>();
    let milliseconds = milliseconds.as_primitive::<TimestampMillisecondType>();
    let mut values = Vec::with_capacity(nanoseconds.len());
    for (row, pair) in nanoseconds.iter().zip(milliseconds).enumerate() {
        let (Some(nanoseconds), Some(milliseconds)) = pair else {
            values.push(0);
            continue;
        };
        let whole = milliseconds.wrapping_mul(NANOSECONDS_OF_MILLISECOND);
        // What is left of less than a millisecond: the bits that nanoseconds miss are missing on both sides.
        let rest = nanoseconds.wrapping_sub(whole);
        let exact = milliseconds
            .checked_mul(1000)
            .and_then(|value| value.checked_add(rest / 1000))
            .filter(|_| rest % 1000 == 0);
        match exact {
            Some(value) => values.push(value),
            None => {
                let whole = i128::from(milliseconds) * i128::from(NANOSECONDS_OF_MILLISECOND);
                return Err((row, whole + i128::from(rest)));
            }
        }
    }
    let array = TimestampMicrosecondArray::new(values.into(), nanoseconds.nulls().cloned());
    Ok(Arc::new(array.with_timezone_opt(nanoseconds.timezone())))
}
