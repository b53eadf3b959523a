//! JSON read part by part: an array of rows, or one row a line.

use std::fmt;
use std::io::Read;

use super::intake::Intake;
use super::json::take_in;
use super::json_blocks::{Block, JsonBlocks, Layout};
use super::{json_arrays, json_columns, json_objects};
use crate::{DecodeError, Limits, NullTexts, Rows, Schema};

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
    nulls: NullTexts,
    /// Whether values are taken as they are written.
    is_raw: bool,
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
            nulls: NullTexts::NONE,
            is_raw: false,
        })
    }

    /// With these texts for nulls, in columns that may hold nulls: those by which the columns' types were found.
    #[must_use]
    pub fn with_nulls(mut self, nulls: NullTexts) -> JsonReader<R> {
        self.is_raw |= nulls.is_everywhere();
        self.nulls = nulls;
        self
    }

    /// The columns' names and types.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The next rows: about as many as a megabyte of text holds. `None` behind the last.
    ///
    /// # Errors
    /// As [`decode`](crate::Encoding::decode) of the form that it has; and if reading fails.
    pub fn next_chunk(&mut self) -> Result<Option<Rows>, DecodeError> {
        loop {
            let Some(block) = self.blocks.next()? else {
                return Ok(None);
            };
            let is_columns = block.layout == Layout::Columns;
            let has_names = self.are_arrays.is_none();
            let are_arrays =
                !is_columns && *self.are_arrays.get_or_insert_with(|| starts_array(&block));
            let form = match (is_columns, are_arrays) {
                (true, _) => json_columns::FORM,
                (_, true) => json_arrays::FORM,
                (_, false) => json_objects::FORM,
            };
            let intake = || {
                let intake = Intake::new(form, Some(&self.schema), &self.limits)?;
                let mut intake = intake.with_nulls(&self.nulls);
                intake.begin_at(self.rows);
                Ok(intake)
            };
            let read = |intake: &mut Intake<'_>| match (is_columns, are_arrays) {
                (true, _) => json_columns::read_into(intake, block.bytes, &self.limits),
                (_, true) => json_arrays::read_into(intake, block.bytes, has_names),
                (_, false) => json_objects::read_into(intake, block.bytes),
            };
            let taken = take_in(intake, &mut self.is_raw, read);
            let (rows, behind) = taken.map_err(|error| block.in_all(error))?;
            self.rows = behind;
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
