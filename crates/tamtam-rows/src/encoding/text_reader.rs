//! Delimited text read part by part.

use std::io::Read;

use super::intake::Intake;
use super::text::{Fields, Start, Text};
use super::text_blocks::Blocks;
use crate::{DecodeError, Limits, NullTexts, Rows, Schema};

/// Reads delimited text part by part, so that a table larger than memory passes.
///
/// ```
/// use tamtam_rows::encoding::{Text, TextReader};
/// use tamtam_rows::{Limits, infer};
///
/// let file = "n,name\n1,one\n2,two\n";
/// let schema = infer::text(file.as_bytes(), Text::HEADED, &Limits::default())?;
/// let mut reader = TextReader::new(file.as_bytes(), Text::HEADED, &schema, Limits::default())?;
/// while let Some(rows) = reader.next_chunk()? {
///     assert_eq!(rows.column("n").unwrap().slice::<u8>().unwrap(), [1, 2]);
/// }
/// # Ok::<(), tamtam_rows::DecodeError>(())
/// ```
pub struct TextReader<R> {
    blocks: Blocks<R>,
    form: Text,
    schema: Schema,
    limits: Limits,
    nulls: NullTexts,
    rows: u64,
    has_begun: bool,
}

impl<R> std::fmt::Debug for TextReader<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextReader")
            .field("form", &self.form)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

impl<R: Read> TextReader<R> {
    /// For a text with these columns. The limit on bytes is one on each part, those on rows and columns are on all.
    ///
    /// # Errors
    /// If the schema has more columns than allowed.
    pub fn new(
        source: R,
        form: Text,
        schema: &Schema,
        limits: Limits,
    ) -> Result<TextReader<R>, DecodeError> {
        Intake::new(super::Encoding::name(&form), Some(schema), &limits)?;
        Ok(TextReader {
            blocks: Blocks::new(source, form, &limits),
            form,
            schema: schema.clone(),
            limits,
            nulls: NullTexts::NONE,
            rows: 0,
            has_begun: false,
        })
    }

    /// With these texts for nulls, in columns that may hold nulls: those by which the columns' types were found.
    #[must_use]
    pub fn with_nulls(mut self, nulls: NullTexts) -> TextReader<R> {
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
    /// As [`decode`](crate::Encoding::decode) of [`Text`]; and if reading fails.
    pub fn next_chunk(&mut self) -> Result<Option<Rows>, DecodeError> {
        loop {
            let name = super::Encoding::name(&self.form);
            let (block, start) = match self.blocks.next()? {
                Some(block) => block,
                // The line of names must be there.
                None if !self.has_begun && self.form.header => (&[][..], Start::OF_ALL),
                None => return Ok(None),
            };
            let mut fields = Fields::new(self.form, block, start)?;
            if !std::mem::replace(&mut self.has_begun, true) && self.form.header {
                fields.header(&self.schema)?;
            }
            let intake = Intake::new(name, Some(&self.schema), &self.limits)?;
            let mut intake = intake.with_nulls(&self.nulls);
            intake.begin_at(self.rows);
            fields.rows(&mut intake)?;
            self.rows = intake.rows();
            let rows = intake.finish()?;
            if !rows.is_empty() {
                return Ok(Some(rows));
            }
        }
    }
}
