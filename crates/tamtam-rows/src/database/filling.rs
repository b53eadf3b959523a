use super::error::{DatabaseError, Unfit};
use crate::{ColumnBuilder, Rows, Schema, ShapeError, Value};

/// The part of a table that is being read.
#[derive(Debug)]
pub(super) struct Filling {
    schema: Schema,
    columns: Vec<ColumnBuilder>,
    /// Rows in this part.
    rows: usize,
    /// Rows in the parts before it.
    before: u64,
}

impl Filling {
    pub(super) fn new(schema: Schema) -> Filling {
        Filling {
            columns: builders(&schema),
            schema,
            rows: 0,
            before: 0,
        }
    }

    pub(super) fn schema(&self) -> &Schema {
        &self.schema
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
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
                Ok(()) => Ok(()),
                Err(error) => Err(self.refused(column, value, error)),
            },
        }
    }

    /// The column, for values that need no look at its type.
    #[cfg(feature = "sqlite")]
    #[inline]
    pub(super) fn column(&mut self, column: usize) -> &mut ColumnBuilder {
        &mut self.columns[column]
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
        let field = &self.schema.fields()[column];
        DatabaseError::Value {
            column: field.name().to_owned(),
            row: self.before + self.rows as u64,
            value: unfit.value,
            kind: field.kind().clone(),
            reason: unfit.reason,
        }
    }

    /// Forgets the part, whose last row is incomplete.
    pub(super) fn discard(&mut self) {
        self.columns = builders(&self.schema);
        self.rows = 0;
    }

    /// The part; the next one begins behind it.
    pub(super) fn take(&mut self) -> Result<Rows, DatabaseError> {
        let columns = std::mem::replace(&mut self.columns, builders(&self.schema));
        self.before += self.rows as u64;
        self.rows = 0;
        Ok(Rows::new(
            self.schema.clone(),
            columns.into_iter().map(ColumnBuilder::finish),
        )?)
    }
}

fn builders(schema: &Schema) -> Vec<ColumnBuilder> {
    schema
        .fields()
        .iter()
        .map(|field| ColumnBuilder::new(field.kind().clone()))
        .collect()
}
