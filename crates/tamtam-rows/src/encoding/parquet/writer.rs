//! Parquet written part by part.

use std::fmt;
use std::io::Write;

use ::parquet::arrow::ArrowWriter;
use ::parquet::errors::ParquetError;

use super::Parquet;
use crate::error::MORE_DIGITS;
use crate::{EncodeError, Encoding, Kind, Rows, Schema, Values};

/// A row group is closed when it has become so large: its columns wait in memory until then, encoded.
const GROUP: usize = 64 << 20;

/// Writes a Parquet file part by part, so that a table larger than memory passes.
///
/// What was written waits in memory until its row group is full: 1,048,576 rows, or 64 MiB as they are in the file.
///
/// ```
/// use tamtam_rows::encoding::{Parquet, ParquetReader, ParquetWriter};
/// use tamtam_rows::{Column, Field, Kind, Limits, Rows, Schema};
///
/// let schema = Schema::new([Field::new("n", Kind::U32)])?;
/// let mut writer = ParquetWriter::new(Vec::new(), Parquet::ZSTD, &schema)?;
/// for part in 0..10_u32 {
///     let numbers: Vec<u32> = (part * 1000..part * 1000 + 1000).collect();
///     writer.write(&Rows::new(schema.clone(), [Column::from(numbers)])?)?;
/// }
/// let file = writer.finish()?;
/// assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ParquetWriter<W: Write + Send> {
    writer: ArrowWriter<W>,
    form: Parquet,
    schema: Schema,
}

impl<W: Write + Send> fmt::Debug for ParquetWriter<W> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ParquetWriter")
            .field("form", &self.form)
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Begins the file.
    ///
    /// # Errors
    /// If there are no columns, or Parquet has no such column; and if writing fails.
    pub fn new(to: W, form: Parquet, schema: &Schema) -> Result<ParquetWriter<W>, EncodeError> {
        if schema.is_empty() {
            return Err(EncodeError::Unsupported {
                form: form.name(),
                what: "a table without columns".to_owned(),
                reason: "a row group of a Parquet file has at least one".to_owned(),
            });
        }
        let batches = Rows::empty(schema.clone())
            .into_record_batch_as(form.name())?
            .schema();
        let writer = form
            .writer(to, schema, &batches)
            .map_err(|error| failed(form, error))?;
        Ok(ParquetWriter {
            writer,
            form,
            schema: schema.clone(),
        })
    }

    /// Writes more rows.
    ///
    /// # Errors
    /// If they have another schema, hold what Parquet cannot, or writing fails. What was written is of no use then.
    pub fn write(&mut self, rows: &Rows) -> Result<(), EncodeError> {
        if *rows.schema() != self.schema {
            return Err(EncodeError::Unsupported {
                form: self.form.name(),
                what: "rows of another schema than the file has".to_owned(),
                reason: rows.schema().difference(&self.schema),
            });
        }
        check_decimals(self.form, rows)?;
        let batch = rows.clone().into_record_batch_as(self.form.name())?;
        let mut done = self.writer.write(&batch);
        if done.is_ok() && self.writer.in_progress_size() >= GROUP {
            done = self.writer.flush();
        }
        done.map_err(|error| failed(self.form, error))
    }

    /// Writes what waits in memory and the end of the file, and gives back what was written to.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(self) -> Result<W, EncodeError> {
        let form = self.form;
        self.writer
            .into_inner()
            .map_err(|error| failed(form, error))
    }
}

/// Parquet writes a decimal in as many bits as the digits of its type need: of what has more it would keep the lowest.
fn check_decimals(form: Parquet, rows: &Rows) -> Result<(), EncodeError> {
    for (field, column) in rows.schema().fields().iter().zip(rows.columns()) {
        let (Kind::Decimal { precision, .. }, Values::I128(values)) =
            (field.kind(), column.values())
        else {
            continue;
        };
        let beyond = 10_u128.pow((*precision).into());
        if let Some(row) = values
            .iter()
            .position(|value| value.unsigned_abs() >= beyond)
        {
            return Err(EncodeError::Value {
                form: form.name(),
                column: field.name().to_owned(),
                row,
                reason: MORE_DIGITS.to_owned(),
            });
        }
    }
    Ok(())
}

fn failed(form: Parquet, error: ParquetError) -> EncodeError {
    EncodeError::Failed {
        form: form.name(),
        reason: error.to_string(),
    }
}
