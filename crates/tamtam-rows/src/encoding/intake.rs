//! Where the decoders of row by row forms put their values: columns of known types, within limits.

use super::inlet::{Inlet, Refusal};
#[cfg(feature = "json")]
use crate::Kind;
use crate::{Column, DecodeError, Field, Limits, NullTexts, Rows, Schema, ShapeError};

static NO_NULLS: NullTexts = NullTexts::NONE;

/// A table that grows row by row, or column by column.
pub(super) struct Intake<'a> {
    form: &'static str,
    schema: &'a Schema,
    limits: &'a Limits,
    /// Texts that stand for nulls.
    pub(super) nulls: &'a NullTexts,
    pub(super) columns: Vec<Inlet>,
    rows: u64,
    /// How many there were in parts before this one.
    before: u64,
    /// The bytes of a row but for what is in text and bytes.
    a_row: u64,
    /// Those of text and bytes.
    variable: u64,
}

impl<'a> Intake<'a> {
    pub(super) fn new(
        form: &'static str,
        schema: Option<&'a Schema>,
        limits: &'a Limits,
    ) -> Result<Intake<'a>, DecodeError> {
        let schema = schema.ok_or(DecodeError::NeedsSchema { form })?;
        let columns: Vec<Inlet> = schema.fields().iter().map(Inlet::new).collect();
        if columns.len() > limits.columns {
            return Err(DecodeError::Limit {
                form,
                what: "columns",
                declared: columns.len() as u64,
                limit: limits.columns as u64,
            });
        }
        let width = |field: &Field| field.kind().width().unwrap_or(4) as u64;
        Ok(Intake {
            form,
            schema,
            limits,
            nulls: &NO_NULLS,
            columns,
            rows: 0,
            before: 0,
            a_row: schema.fields().iter().map(width).sum(),
            variable: 0,
        })
    }

    /// With these texts for nulls.
    pub(super) fn with_nulls(self, nulls: &'a NullTexts) -> Intake<'a> {
        Intake { nulls, ..self }
    }

    /// From now on values of JSON are taken as they are written, where they may be something else than texts in a column
    /// of text, or texts that stand for nulls.
    #[cfg(feature = "json")]
    pub(super) fn take_raw(&mut self) {
        let is_everywhere = self.nulls.is_everywhere();
        for column in &mut self.columns {
            if is_everywhere || *column.kind() == Kind::Text {
                column.take_raw();
            }
        }
    }

    #[cfg(feature = "json")]
    pub(super) fn wants_raw(&self) -> bool {
        self.columns.iter().any(Inlet::wants_raw)
    }

    #[cfg(feature = "json")]
    pub(super) fn has_texts(&self) -> bool {
        self.columns
            .iter()
            .any(|column| *column.kind() == Kind::Text)
    }

    pub(super) fn schema(&self) -> &'a Schema {
        self.schema
    }

    /// So many rows came in parts before this one.
    pub(super) fn begin_at(&mut self, rows: u64) {
        self.rows = rows;
        self.before = rows;
    }

    /// How many rows there are: the number of the row that is being read.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// So many bytes of text more.
    #[inline]
    pub(super) fn add_variable(&mut self, bytes: usize) {
        self.variable += bytes as u64;
    }

    /// One more row is whole.
    #[inline]
    pub(super) fn end_row(&mut self) -> Result<(), DecodeError> {
        self.rows += 1;
        let bytes = (self.rows - self.before) * self.a_row + self.variable;
        if self.rows > self.limits.rows {
            return Err(self.above("rows", self.rows, self.limits.rows));
        }
        if bytes > self.limits.bytes {
            return Err(self.above("bytes", bytes, self.limits.bytes));
        }
        Ok(())
    }

    /// So many more rows are whole, with so many bytes of text, if they are within the limits: nothing is changed otherwise.
    #[cfg(feature = "amf")]
    pub(super) fn end_rows(&mut self, rows: usize, variable: usize) -> bool {
        let (rows, variable) = (self.rows + rows as u64, self.variable + variable as u64);
        let bytes = (rows - self.before) * self.a_row + variable;
        let fits = rows <= self.limits.rows && bytes <= self.limits.bytes;
        if fits {
            (self.rows, self.variable) = (rows, variable);
        }
        fits
    }

    #[cold]
    fn above(&self, what: &'static str, declared: u64, limit: u64) -> DecodeError {
        DecodeError::Limit {
            form: self.form,
            what,
            declared,
            limit,
        }
    }

    /// The error that says which value in which column was refused, in the row that is being read.
    #[cold]
    pub(super) fn refused(&self, column: usize, refusal: Refusal, value: &str) -> DecodeError {
        refused(
            self.form,
            &self.schema.fields()[column],
            self.rows as usize,
            refusal,
            value,
        )
    }

    /// The table.
    pub(super) fn finish(self) -> Result<Rows, DecodeError> {
        let columns = self
            .columns
            .into_iter()
            .map(Inlet::finish)
            .collect::<Result<Vec<Column>, ShapeError>>()?;
        Ok(Rows::new(self.schema.clone(), columns)?)
    }
}

/// The error for a value that a column does not take.
#[cold]
pub(super) fn refused(
    form: &'static str,
    field: &Field,
    row: usize,
    refusal: Refusal,
    value: &str,
) -> DecodeError {
    match refusal {
        Refusal::TooLarge => DecodeError::Shape(ShapeError::TooLarge),
        Refusal::Kind => {
            const SHOWN: usize = 60;
            let mut value: String = value.to_owned();
            if value.len() > SHOWN {
                let end = (0..=SHOWN).rev().find(|&at| value.is_char_boundary(at));
                value.truncate(end.unwrap_or(0));
                value.push_str("...");
            }
            DecodeError::Value {
                form,
                column: field.name().to_owned(),
                row,
                line: None,
                value,
                kind: field.kind().clone(),
            }
        }
    }
}
