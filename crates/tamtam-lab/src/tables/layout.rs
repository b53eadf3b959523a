//! Putting a table together column by column.

use tamtam_rows::{Column, Field, Kind, Rows, Schema, ShapeError};

/// Puts a table together column by column.
#[derive(Debug, Default)]
pub(super) struct Layout {
    fields: Vec<Field>,
    columns: Vec<Column>,
}

impl Layout {
    /// One more column, without nulls.
    pub(super) fn with(mut self, name: &str, kind: Kind, column: impl Into<Column>) -> Layout {
        self.fields.push(Field::new(name, kind));
        self.columns.push(column.into());
        self
    }

    /// One more column that may hold nulls.
    pub(super) fn with_nulls(
        mut self,
        name: &str,
        kind: Kind,
        column: impl Into<Column>,
    ) -> Layout {
        self.fields.push(Field::nullable(name, kind));
        self.columns.push(column.into());
        self
    }

    /// The table.
    pub(super) fn rows(self) -> Result<Rows, ShapeError> {
        Rows::new(Schema::new(self.fields)?, self.columns)
    }
}
