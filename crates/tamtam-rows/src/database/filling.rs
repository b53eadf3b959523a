//! The part of a table that is being read from a database: it is given away when it is large enough.

use super::PART_BYTES;
use super::error::{DatabaseError, Unfit};
use crate::{ColumnBuilder, Field, Rows, Schema, ShapeError, Value};

/// How much is read before it is given away.
#[derive(Clone, Copy, Debug)]
pub(super) struct Most {
    rows: usize,
    bytes: usize,
}

impl Most {
    /// All there is.
    pub(super) const EVERYTHING: Most = Most {
        rows: usize::MAX,
        bytes: usize::MAX,
    };

    /// A part of so many rows, or of fewer that are very long.
    pub(super) const fn part(rows: usize) -> Most {
        Most {
            rows,
            bytes: PART_BYTES,
        }
    }
}

/// The part of a table that is being read.
#[derive(Debug)]
pub(super) struct Filling {
    schema: Schema,
    columns: Vec<ColumnBuilder>,
    /// Rows in this part.
    rows: usize,
    /// Bytes of its texts and byte strings.
    bytes: usize,
    /// The bytes of a row beside those.
    width: usize,
    /// Rows in the parts before it.
    before: u64,
}

impl Filling {
    pub(super) fn new(schema: Schema) -> Filling {
        Filling {
            columns: builders(&schema),
            width: schema.fields().iter().map(width).sum(),
            schema,
            rows: 0,
            bytes: 0,
            before: 0,
        }
    }

    pub(super) fn schema(&self) -> &Schema {
        &self.schema
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Whether the part has as much as a part may have: so many rows, or so many bytes in memory.
    #[inline]
    pub(super) fn is_full(&self, most: Most) -> bool {
        self.rows >= most.rows || self.bytes + self.rows * self.width >= most.bytes
    }

    /// The next value of the row.
    #[inline]
    pub(super) fn push(&mut self, column: usize, value: Value<'_>) -> Result<(), DatabaseError> {
        match value {
            Value::Null if !self.schema.fields()[column].is_nullable() => {
                Err(DatabaseError::Null {
                    column: self.schema.fields()[column].name().to_owned(),
                    row: self.before + self.rows as u64,
                })
            }
            value => match self.columns[column].push(value) {
                Ok(()) => {
                    self.bytes += match value {
                        Value::Text(text) => text.len(),
                        Value::Bytes(bytes) => bytes.len(),
                        _ => 0,
                    };
                    Ok(())
                }
                Err(error) => Err(self.refused(column, value, error)),
            },
        }
    }

    /// The next value of the row, an integer as its column keeps it; false if it does not fit as it is.
    #[cfg(feature = "sqlite")]
    #[inline]
    pub(super) fn push_kept(&mut self, column: usize, number: i64) -> bool {
        self.columns[column].push_kept(number)
    }

    /// The next value of the row, a text; false if its column keeps none.
    #[cfg(feature = "sqlite")]
    #[inline]
    pub(super) fn push_text(&mut self, column: usize, text: &str) -> bool {
        let is_pushed = self.columns[column].push_text(text);
        if is_pushed {
            self.bytes += text.len();
        }
        is_pushed
    }

    /// The row is complete.
    #[inline]
    pub(super) fn end_row(&mut self) {
        self.rows += 1;
    }

    #[cold]
    fn refused(&self, column: usize, value: Value<'_>, error: ShapeError) -> DatabaseError {
        match error {
            ShapeError::Kind { .. } => {
                let value = match value {
                    Value::Int(number) => number.to_string(),
                    Value::Unsigned(number) => number.to_string(),
                    Value::Text(text) => format!("{text:?}"),
                    other => format!("{other:?}"),
                };
                self.unfit(column, Unfit::new(value, "it is outside of it"))
            }
            error => DatabaseError::Shape(error),
        }
    }

    #[cold]
    pub(super) fn unfit(&self, column: usize, unfit: Unfit) -> DatabaseError {
        let row = self.before + self.rows as u64;
        unfit.of(&self.schema.fields()[column], row)
    }

    /// Forgets the part, whose last row is incomplete.
    pub(super) fn discard(&mut self) {
        self.columns = builders(&self.schema);
        self.rows = 0;
        self.bytes = 0;
    }

    /// The part; the next one begins behind it.
    pub(super) fn take(&mut self) -> Result<Rows, DatabaseError> {
        let columns = std::mem::replace(&mut self.columns, builders(&self.schema));
        self.before += self.rows as u64;
        self.rows = 0;
        self.bytes = 0;
        Ok(Rows::new(
            self.schema.clone(),
            columns.into_iter().map(ColumnBuilder::finish),
        )?)
    }
}

/// The bytes of a value of this column, without those of its text, whose end takes four.
fn width(field: &Field) -> usize {
    field.kind().width().unwrap_or(4)
}

fn builders(schema: &Schema) -> Vec<ColumnBuilder> {
    schema
        .fields()
        .iter()
        .map(|field| ColumnBuilder::new(field.kind().clone()))
        .collect()
}
