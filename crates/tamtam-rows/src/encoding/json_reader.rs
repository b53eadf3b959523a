use std::fmt;
use std::io::Read;

use super::intake::Intake;
use super::json_blocks::{Block, JsonBlocks, Layout};
use super::{Encoding, JsonColumns, json_arrays, json_objects};
use crate::{DecodeError, Limits, Rows, Schema};

/// Reads JSON part by part, so that a table larger than memory passes: an array of objects, an array of arrays behind one of
/// names, or either without the outer array, one row a line (JSON Lines). Which of them it is, the beginning shows. An
/// object of columns has no rows to divide it at, and is read as a whole.
///
/// ```
/// use tamtam_rows::encoding::JsonReader;
/// use tamtam_rows::{Limits, infer};
///
/// let file = "{\"n\": 1, \"name\": \"one\"}\n{\"n\": 2}\n";
/// let schema = infer::json_parts(file.as_bytes(), &Limits::default())?;
/// let mut reader = JsonReader::new(file.as_bytes(), &schema, Limits::default())?;
/// while let Some(rows) = reader.next_chunk()? {
///     assert_eq!(rows.column("n").unwrap().slice::<u8>().unwrap(), [1, 2]);
/// }
/// # Ok::<(), tamtam_rows::DecodeError>(())
/// ```
pub struct JsonReader<R> {
    blocks: JsonBlocks<R>,
    schema: Schema,
    limits: Limits,
    rows: u64,
    /// Whether rows are arrays, once one was seen.
    are_arrays: Option<bool>,
}

impl<R> fmt::Debug for JsonReader<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("JsonReader")
            .field("schema", &self.schema)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

impl<R: Read> JsonReader<R> {
    /// For a text with these columns. The limit on bytes is one on each part, those on rows and columns are on all.
    ///
    /// # Errors
    /// If the schema has more columns than allowed.
    pub fn new(source: R, schema: &Schema, limits: Limits) -> Result<JsonReader<R>, DecodeError> {
        Intake::new("json", Some(schema), &limits)?;
        Ok(JsonReader {
            blocks: JsonBlocks::new(source, &limits),
            schema: schema.clone(),
            limits,
            rows: 0,
            are_arrays: None,
        })
    }

    /// The columns' names and types.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The next rows: about as many as a megabyte of text holds. `None` behind the last.
    ///
    /// # Errors
    /// As [`decode`](Encoding::decode) of the form that it has; and if reading fails.
    pub fn next_chunk(&mut self) -> Result<Option<Rows>, DecodeError> {
        loop {
            let Some(block) = self.blocks.next()? else {
                return Ok(None);
            };
            let rows = if block.layout == Layout::Columns {
                JsonColumns.decode(block.bytes, Some(&self.schema), &self.limits)
            } else {
                let has_names = self.are_arrays.is_none();
                let are_arrays = *self.are_arrays.get_or_insert_with(|| starts_array(&block));
                let form = if are_arrays {
                    json_arrays::FORM
                } else {
                    json_objects::FORM
                };
                let mut intake = Intake::new(form, Some(&self.schema), &self.limits)?;
                intake.begin_at(self.rows);
                let read = if are_arrays {
                    json_arrays::read_into(&mut intake, block.bytes, has_names)
                } else {
                    json_objects::read_into(&mut intake, block.bytes)
                };
                let behind = intake.rows();
                let rows = read.and_then(|()| intake.finish());
                self.rows = behind;
                rows
            };
            let rows = rows.map_err(|error| block.in_all(error))?;
            if !rows.is_empty() {
                return Ok(Some(rows));
            }
        }
    }
}

/// Whether the first row is an array.
fn starts_array(block: &Block<'_>) -> bool {
    let mut behind = block.bytes.iter().skip(1);
    behind.find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[')
}
