//! Arrow's record batches as rows.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ByteArrayType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, GenericByteArray, RecordBatch};
use arrow_buffer::{ArrowNativeType, NullBuffer};
use arrow_schema::{DataType, Schema as ArrowSchema, TimeUnit};

use super::types::schema_from;
use crate::ends::Ends;
use crate::{Column, DecodeError, Kind, Limits, Nulls, Rows, Schema, ShapeError, Slices, Strings};
use crate::{Field, Values};

const DAY_MILLISECONDS: i64 = 86_400_000;

impl Rows {
    /// The table in a record batch of Arrow. The values are copied.
    ///
    /// # Errors
    /// [`DecodeError::Unsupported`] for a column of a type that a table does not have, and [`DecodeError::Limit`].
    pub fn from_record_batch(batch: &RecordBatch, limits: &Limits) -> Result<Rows, DecodeError> {
        let mut gathering = Gathering::new("arrow", &batch.schema(), limits)?;
        gathering.append(batch)?;
        gathering.finish()
    }
}

/// Makes one table of record batches, within limits.
pub(crate) struct Gathering {
    form: &'static str,
    limits: Limits,
    /// Of the table's memory.
    bytes: u64,
    rows: u64,
    /// How many rows lie in parts before this table.
    before: u64,
    schema: Schema,
    columns: Vec<Gathered>,
}

impl Gathering {
    pub(crate) fn new(
        form: &'static str,
        schema: &ArrowSchema,
        limits: &Limits,
    ) -> Result<Gathering, DecodeError> {
        if schema.fields().len() > limits.columns {
            return Err(DecodeError::Limit {
                form,
                what: "columns",
                declared: schema.fields().len() as u64,
                limit: limits.columns as u64,
            });
        }
        let schema = schema_from(form, schema)?;
        Ok(Gathering::of_schema(form, schema, limits))
    }

    pub(crate) fn of_schema(form: &'static str, schema: Schema, limits: &Limits) -> Gathering {
        Gathering {
            form,
            limits: *limits,
            bytes: 0,
            rows: 0,
            before: 0,
            columns: schema
                .fields()
                .iter()
                .map(|field| Gathered::new(field, limits.bytes))
                .collect(),
            schema,
        }
    }

    /// So many rows came in parts before this table: errors count them, limits do not.
    #[cfg(feature = "parquet")]
    pub(crate) fn begin_at(&mut self, rows: u64) {
        self.before = rows;
    }

    /// How many rows there are so far, with those of the parts before.
    #[cfg(feature = "parquet")]
    pub(crate) fn rows(&self) -> u64 {
        self.before + self.rows
    }

    /// Puts a batch, of the same schema, behind those before it.
    pub(crate) fn append(&mut self, batch: &RecordBatch) -> Result<(), DecodeError> {
        self.rows = self.rows.saturating_add(batch.num_rows() as u64);
        if self.rows > self.limits.rows {
            return Err(self.limit("rows", self.rows, self.limits.rows));
        }
        // Dictionaries that are kept are beside the table, and as large as the limit together: many columns may have the same one.
        let mut kept = 0_u64;
        for (index, array) in batch.columns().iter().enumerate() {
            let field = &self.schema.fields()[index];
            let column = &mut self.columns[index];
            let memory = column.memory(self.form, field, array.as_ref())?;
            self.bytes = self.bytes.saturating_add(memory);
            if self.bytes > self.limits.bytes {
                return Err(self.limit("bytes", self.bytes, self.limits.bytes));
            }
            let column = &mut self.columns[index];
            column.append(self.form, field, array.as_ref(), self.before)?;
            let dictionary = column.dictionary.as_ref().map_or(0, |it| it.bytes);
            if kept.saturating_add(dictionary) > self.limits.bytes {
                column.dictionary = None;
            } else {
                kept += dictionary;
            }
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<Rows, DecodeError> {
        let columns = self.columns.into_iter().map(Gathered::finish);
        Ok(Rows::new(
            self.schema,
            columns.collect::<Result<Vec<_>, _>>()?,
        )?)
    }

    fn limit(&self, what: &'static str, declared: u64, limit: u64) -> DecodeError {
        DecodeError::Limit {
            form: self.form,
            what,
            declared,
            limit,
        }
    }
}

/// The bytes that the values of an array without a dictionary will take in a table.
fn memory(kind: &Kind, array: &dyn Array) -> u64 {
    let rows = array.len() as u64;
    if let Some(width) = kind.width() {
        return rows.saturating_mul(width as u64);
    }
    let lengths: u64 = match array.data_type() {
        DataType::Utf8 => joined_length(array.as_string::<i32>()),
        DataType::LargeUtf8 => joined_length(array.as_string::<i64>()),
        DataType::Binary => joined_length(array.as_binary::<i32>()),
        DataType::LargeBinary => joined_length(array.as_binary::<i64>()),
        DataType::Utf8View => array.as_string_view().lengths().map(u64::from).sum(),
        DataType::BinaryView => array.as_binary_view().lengths().map(u64::from).sum(),
        DataType::FixedSizeBinary(width) => rows.saturating_mul(u64::try_from(*width).unwrap_or(0)),
        _ => 0,
    };
    // And where each ends.
    lengths.saturating_add(rows.saturating_mul(4))
}

fn joined_length<T: ByteArrayType>(array: &GenericByteArray<T>) -> u64 {
    let offsets = array.value_offsets();
    (offsets[array.len()].as_usize() - offsets[0].as_usize()) as u64
}

/// A column on its way.
struct Gathered {
    held: Held,
    nulls: Nulls,
    /// The dictionary of the last batch, if it had one.
    dictionary: Option<Converted>,
    /// How many bytes a dictionary may take: its texts may be views of the same bytes.
    most_of_dictionary: u64,
}

/// A dictionary as the column holds values. Most batches of a stream have that of the one before.
struct Converted {
    array: ArrayRef,
    held: Held,
    /// What it takes.
    bytes: u64,
}

enum Held {
    Fixed(Values),
    Text(Slices),
    Bytes(Slices),
}

impl Gathered {
    fn new(field: &Field, most_of_dictionary: u64) -> Gathered {
        let held = match field.kind() {
            Kind::Text => Held::Text(Slices::new()),
            Kind::Bytes => Held::Bytes(Slices::new()),
            kind => Held::Fixed(Values::new(kind)),
        };
        Gathered {
            held,
            nulls: Nulls::new(),
            dictionary: None,
            most_of_dictionary,
        }
    }

    /// The bytes that the values of an array will take in a table: those of a dictionary count as often as they occur.
    fn memory(
        &mut self,
        form: &'static str,
        field: &Field,
        array: &dyn Array,
    ) -> Result<u64, DecodeError> {
        if !matches!(array.data_type(), DataType::Dictionary(..)) || field.kind().width().is_some()
        {
            return Ok(memory(field.kind(), array));
        }
        let rows = array.len() as u64;
        let dictionary = array.as_any_dictionary();
        let lengths: u64 = match &self.look_up(form, field, dictionary.values())?.held {
            Held::Text(slices) | Held::Bytes(slices) if !slices.is_empty() => {
                let keys = dictionary.normalized_keys();
                keys.iter().map(|&key| slices.get(key).len() as u64).sum()
            }
            _ => 0,
        };
        Ok(lengths.saturating_add(rows.saturating_mul(4)))
    }

    /// A dictionary as the column holds values.
    fn look_up(
        &mut self,
        form: &'static str,
        field: &Field,
        array: &ArrayRef,
    ) -> Result<&Converted, DecodeError> {
        let is_known = |known: &Converted| known.array.to_data().ptr_eq(&array.to_data());
        let dictionary = match self.dictionary.take().filter(is_known) {
            Some(known) => known,
            None => {
                let bytes = memory(field.kind(), array.as_ref());
                if bytes > self.most_of_dictionary {
                    return Err(DecodeError::Limit {
                        form,
                        what: "bytes of a dictionary",
                        declared: bytes,
                        limit: self.most_of_dictionary,
                    });
                }
                let mut values = Gathered::new(field, self.most_of_dictionary);
                values.append(form, field, array.as_ref(), 0)?;
                Converted {
                    array: array.clone(),
                    held: values.held,
                    bytes,
                }
            }
        };
        Ok(self.dictionary.insert(dictionary))
    }

    /// Puts an array behind those before it; so many rows lie in parts before the table.
    fn append(
        &mut self,
        form: &'static str,
        field: &Field,
        array: &dyn Array,
        parts_before: u64,
    ) -> Result<(), DecodeError> {
        let before = parts_before as usize + self.nulls.len();
        let nulls = array.logical_nulls();
        let is_null = |row| nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        let push_day = |days: &mut Vec<i32>, row: usize, milliseconds: i64| {
            match i32::try_from(milliseconds / DAY_MILLISECONDS) {
                _ if is_null(row) => days.push(0),
                Ok(day) if milliseconds % DAY_MILLISECONDS == 0 => days.push(day),
                _ => {
                    return Err(DecodeError::Value {
                        form,
                        column: field.name().to_owned(),
                        row: before + row,
                        line: None,
                        value: format!("{milliseconds} milliseconds"),
                        kind: Kind::Date,
                    });
                }
            }
            Ok(())
        };
        let appended = match (&mut self.held, array.data_type()) {
            (held, DataType::Dictionary(..)) => {
                let dictionary = array.as_any_dictionary();
                let keys = match dictionary.values().is_empty() {
                    // Then each row is null.
                    true => vec![0; array.len()],
                    false => dictionary.normalized_keys(),
                };
                match (held, dictionary.values().data_type()) {
                    // One that is no day is an error only where a row has it.
                    (Held::Fixed(Values::I32(days)), DataType::Date64) => {
                        let values = dictionary.values().as_primitive::<Date64Type>().values();
                        for (row, &key) in keys.iter().enumerate() {
                            push_day(days, row, values.get(key).copied().unwrap_or(0))?;
                        }
                        true
                    }
                    _ => {
                        self.look_up(form, field, dictionary.values())?;
                        match &self.dictionary {
                            Some(dictionary) => self
                                .held
                                .take(&dictionary.held, &keys, is_null)
                                .map_err(DecodeError::Shape)?,
                            None => false,
                        }
                    }
                }
            }
            (Held::Fixed(Values::I32(days)), DataType::Date64) => {
                let values = array.as_primitive::<Date64Type>().values();
                for (row, &value) in values.iter().enumerate() {
                    push_day(days, row, value)?;
                }
                true
            }
            (Held::Fixed(values), _) => append_fixed(values, array),
            (Held::Text(slices) | Held::Bytes(slices), _) => append_variable(slices, array)?,
        };
        if !appended {
            return Err(DecodeError::Schema {
                form,
                reason: format!(
                    "a batch holds values of the type {} in the column {:?}, which is of type {}",
                    array.data_type(),
                    field.name(),
                    field.kind()
                ),
            });
        }
        append_nulls(&mut self.nulls, nulls.as_ref(), array.len());
        Ok(())
    }

    fn finish(self) -> Result<Column, DecodeError> {
        let values = match self.held {
            Held::Fixed(values) => values,
            Held::Text(slices) => {
                let (bytes, ends) = slices.into_parts();
                Values::Text(Strings::from_bytes(bytes, ends)?)
            }
            Held::Bytes(slices) => Values::Bytes(slices),
        };
        Ok(Column::with_nulls(values, self.nulls)?)
    }
}

/// Whether the array is of a type that such values come from.
fn append_fixed(values: &mut Values, array: &dyn Array) -> bool {
    macro_rules! same {
        ($values:expr, $type:ty) => {
            $values.extend_from_slice(array.as_primitive::<$type>().values())
        };
    }
    macro_rules! wider {
        ($values:expr, $type:ty, $widened:expr) => {
            $values.extend(array.as_primitive::<$type>().values().iter().map($widened))
        };
    }
    match (values, array.data_type()) {
        (Values::Bool(values), DataType::Boolean) => {
            values.extend(array.as_boolean().values().iter());
        }
        (Values::I8(values), DataType::Int8) => same!(values, Int8Type),
        (Values::I16(values), DataType::Int16) => same!(values, Int16Type),
        (Values::I32(values), DataType::Int32) => same!(values, Int32Type),
        (Values::I32(values), DataType::Date32) => same!(values, Date32Type),
        (Values::I64(values), DataType::Int64) => same!(values, Int64Type),
        (Values::I64(values), DataType::Time32(TimeUnit::Second)) => {
            wider!(values, Time32SecondType, |&value| i64::from(value))
        }
        (Values::I64(values), DataType::Time32(TimeUnit::Millisecond)) => {
            wider!(values, Time32MillisecondType, |&value| i64::from(value))
        }
        (Values::I64(values), DataType::Time64(TimeUnit::Microsecond)) => {
            same!(values, Time64MicrosecondType)
        }
        (Values::I64(values), DataType::Time64(TimeUnit::Nanosecond)) => {
            same!(values, Time64NanosecondType)
        }
        (Values::I64(values), DataType::Timestamp(unit, _)) => match unit {
            TimeUnit::Second => same!(values, TimestampSecondType),
            TimeUnit::Millisecond => same!(values, TimestampMillisecondType),
            TimeUnit::Microsecond => same!(values, TimestampMicrosecondType),
            TimeUnit::Nanosecond => same!(values, TimestampNanosecondType),
        },
        (Values::I128(values), DataType::Decimal32(..)) => {
            wider!(values, Decimal32Type, |&value| i128::from(value))
        }
        (Values::I128(values), DataType::Decimal64(..)) => {
            wider!(values, Decimal64Type, |&value| i128::from(value))
        }
        (Values::I128(values), DataType::Decimal128(..)) => same!(values, Decimal128Type),
        (Values::U8(values), DataType::UInt8) => same!(values, UInt8Type),
        (Values::U16(values), DataType::UInt16) => same!(values, UInt16Type),
        (Values::U32(values), DataType::UInt32) => same!(values, UInt32Type),
        (Values::U64(values), DataType::UInt64) => same!(values, UInt64Type),
        (Values::F32(values), DataType::Float16) => {
            wider!(values, Float16Type, |value| value.to_f32())
        }
        (Values::F32(values), DataType::Float32) => same!(values, Float32Type),
        (Values::F64(values), DataType::Float64) => same!(values, Float64Type),
        (Values::Uuid(values), DataType::FixedSizeBinary(16)) => {
            let bytes = array.as_fixed_size_binary();
            values.extend((0..bytes.len()).map(|row| {
                let mut uuid = [0; 16];
                uuid.copy_from_slice(bytes.value(row));
                uuid
            }));
        }
        _ => return false,
    }
    true
}

impl Held {
    /// Puts what the keys name behind what is held. Whether both are of one type.
    fn take(
        &mut self,
        dictionary: &Held,
        keys: &[usize],
        is_null: impl Fn(usize) -> bool,
    ) -> Result<bool, ShapeError> {
        match (self, dictionary) {
            (Held::Fixed(values), Held::Fixed(dictionary)) => {
                macro_rules! each {
                    ($($variant:ident),*) => {
                        match (values, dictionary) {
                            $((Values::$variant(values), Values::$variant(dictionary)) => {
                                values.extend(keys.iter().enumerate().map(|(row, &key)| {
                                    if is_null(row) { Default::default() } else { dictionary[key] }
                                }));
                            })*
                            _ => return Ok(false),
                        }
                    };
                }
                each!(
                    Bool, I8, I16, I32, I64, I128, U8, U16, U32, U64, F32, F64, Uuid
                );
            }
            (Held::Text(slices), Held::Text(dictionary))
            | (Held::Bytes(slices), Held::Bytes(dictionary)) => {
                for (row, &key) in keys.iter().enumerate() {
                    slices.push(if is_null(row) {
                        &[]
                    } else {
                        dictionary.get(key)
                    })?;
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Puts the texts or bytes of an array behind those before. Whether the array has such.
fn append_variable(slices: &mut Slices, array: &dyn Array) -> Result<bool, ShapeError> {
    match array.data_type() {
        DataType::Utf8 => append_joined(slices, array.as_string::<i32>())?,
        DataType::LargeUtf8 => append_joined(slices, array.as_string::<i64>())?,
        DataType::Binary => append_joined(slices, array.as_binary::<i32>())?,
        DataType::LargeBinary => append_joined(slices, array.as_binary::<i64>())?,
        DataType::Utf8View => {
            let views = array.as_string_view();
            (0..views.len()).try_for_each(|row| slices.push(views.value(row).as_bytes()))?;
        }
        DataType::BinaryView => {
            let views = array.as_binary_view();
            (0..views.len()).try_for_each(|row| slices.push(views.value(row)))?;
        }
        DataType::FixedSizeBinary(_) => {
            let fixed = array.as_fixed_size_binary();
            (0..fixed.len()).try_for_each(|row| slices.push(fixed.value(row)))?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn append_joined<T: ByteArrayType>(
    slices: &mut Slices,
    array: &GenericByteArray<T>,
) -> Result<(), ShapeError> {
    let offsets = array.value_offsets();
    let (first, last) = (offsets[0].as_usize(), offsets[array.len()].as_usize());
    u32::try_from(last - first).map_err(|_| ShapeError::TooLarge)?;
    // None is above the last, which fits.
    let ends = offsets.iter().map(|end| (end.as_usize() - first) as u32);
    let ends = Ends::of_offsets(ends.collect());
    slices.append_parts(&array.value_data()[first..last], ends)
}

/// Puts what an array says of nulls behind what is known of the rows before.
fn append_nulls(nulls: &mut Nulls, array: Option<&NullBuffer>, count: usize) {
    let Some(array) = array else {
        nulls.push_none(count);
        return;
    };
    let mut left = count;
    for valid in array.inner().bit_chunks().iter_padded() {
        if left == 0 {
            break;
        }
        let rows = left.min(64);
        nulls.push_rows(!valid, rows);
        left -= rows;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int32Type;
    use arrow_array::{DictionaryArray, Int32Array, StringArray};
    use arrow_schema::Field as ArrowField;

    use super::*;

    #[test]
    fn a_dictionary_that_comes_with_every_batch_is_converted_once() {
        let batch = |texts: &ArrayRef, keys: Vec<i32>| {
            let keys = Int32Array::from(keys);
            let column = DictionaryArray::<Int32Type>::new(keys, texts.clone());
            let field = ArrowField::new("name", column.data_type().clone(), false);
            let schema = Arc::new(ArrowSchema::new(vec![field]));
            RecordBatch::try_new(schema, vec![Arc::new(column)]).unwrap()
        };
        let texts = |texts: &[&str]| -> ArrayRef { Arc::new(StringArray::from(texts.to_vec())) };
        let (one, other) = (texts(&["red", "blue"]), texts(&["red", "green"]));
        let first = batch(&one, vec![1]);
        let mut gathering = Gathering::new("arrow", &first.schema(), &Limits::default()).unwrap();
        gathering.append(&first).unwrap();
        // What is kept is not what the array holds: where it is used, the array was not looked at again.
        let kept = gathering.columns[0].dictionary.as_mut().unwrap();
        let mut slices = Slices::new();
        for text in ["RED", "BLUE"] {
            slices.push(text.as_bytes()).unwrap();
        }
        kept.held = Held::Text(slices);
        gathering.append(&batch(&one, vec![0, 1])).unwrap();
        gathering.append(&batch(&other, vec![1])).unwrap();
        let rows = gathering.finish().unwrap();
        let found: Vec<_> = (0..rows.len()).map(|row| rows.value(row, 0)).collect();
        let expected = ["blue", "RED", "BLUE", "green"].map(crate::Value::Text);
        assert_eq!(found, expected);
    }

    #[test]
    fn dictionaries_of_many_columns_are_kept_within_the_limit_together() {
        const COLUMNS: usize = 10;

        let text = "x".repeat(1000);
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["", &text]));
        let column = || -> ArrayRef {
            let keys = Int32Array::from(vec![0]);
            Arc::new(DictionaryArray::<Int32Type>::new(keys, texts.clone()))
        };
        let field =
            |index| ArrowField::new(format!("{index}"), column().data_type().clone(), false);
        let schema = Arc::new(ArrowSchema::new(
            (0..COLUMNS).map(field).collect::<Vec<_>>(),
        ));
        let columns = (0..COLUMNS).map(|_| column()).collect();
        let batch = RecordBatch::try_new(schema.clone(), columns).unwrap();
        let limits = Limits {
            bytes: 2500,
            ..Limits::default()
        };
        let mut gathering = Gathering::new("arrow", &schema, &limits).unwrap();
        for _ in 0..2 {
            gathering.append(&batch).unwrap();
            let kept = gathering.columns.iter();
            let kept = kept.filter(|column| column.dictionary.is_some()).count();
            assert_eq!(kept, 2);
        }
        let rows = gathering.finish().unwrap();
        assert_eq!(rows.value(1, COLUMNS - 1), crate::Value::Text(""));
    }
}
