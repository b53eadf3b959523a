//! Making a table row by row.

use crate::{ColumnBuilder, Rows, Schema, ShapeError, Value};

/// Makes a table row by row.
///
/// ```
/// use tamtam_rows::{Field, Kind, RowsBuilder, Schema, Value};
///
/// let schema = Schema::new([Field::new("n", Kind::U32), Field::new("name", Kind::Text)])?;
/// let mut builder = RowsBuilder::new(schema);
/// builder.push([Value::Unsigned(1), Value::Text("one")])?;
/// builder.push([Value::Unsigned(2), Value::Text("two")])?;
/// assert_eq!(builder.finish().len(), 2);
/// # Ok::<(), tamtam_rows::ShapeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RowsBuilder {
    schema: Schema,
    columns: Vec<ColumnBuilder>,
}

impl RowsBuilder {
    /// For a table with these columns.
    pub fn new(schema: Schema) -> RowsBuilder {
        let columns = schema
            .fields()
            .iter()
            .map(|field| ColumnBuilder::new(field.kind().clone()))
            .collect();
        RowsBuilder { schema, columns }
    }

    /// How many rows there are so far.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, ColumnBuilder::len)
    }

    /// Whether there is no row so far.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The columns' names and types.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// One more row, its values from left to right.
    ///
    /// # Errors
    /// If the values are not as many as the columns, one is of another type, or null where the schema has no
    /// nulls. The row is then not in the table; the builder takes further ones.
    pub fn push<'v>(
        &mut self,
        values: impl IntoIterator<Item = Value<'v>>,
    ) -> Result<(), ShapeError> {
        let row = self.len();
        let mut values = values.into_iter();
        let mut pushed = 0;
        let mut failure = None;
        for (field, column) in self.schema.fields().iter().zip(&mut self.columns) {
            let result = match values.next() {
                None => Err(ShapeError::Columns {
                    given: pushed,
                    expected: self.schema.len(),
                }),
                Some(Value::Null) if !field.is_nullable() => Err(ShapeError::Null {
                    column: field.name().to_owned(),
                    row,
                }),
                Some(value) => column
                    .push(value)
                    .map_err(|error| error.of_column(field.name())),
            };
            if let Err(error) = result {
                failure = Some(error);
                break;
            }
            pushed += 1;
        }
        if failure.is_none() && values.next().is_some() {
            let given = self.schema.len() + 1 + values.count();
            failure = Some(ShapeError::Columns {
                given,
                expected: self.schema.len(),
            });
        }
        match failure {
            None => Ok(()),
            Some(error) => {
                for column in &mut self.columns[..pushed] {
                    column.truncate(row);
                }
                Err(error)
            }
        }
    }

    /// The table; the builder is as new, for the next one.
    pub fn take(&mut self) -> Rows {
        std::mem::replace(self, RowsBuilder::new(self.schema.clone())).finish()
    }

    /// The table.
    pub fn finish(self) -> Rows {
        let columns = self.columns.into_iter().map(ColumnBuilder::finish);
        Rows::new(self.schema, columns).expect("each row was checked when it came")
    }
}

impl ShapeError {
    /// The same error with the name of the column, which the column itself does not know.
    fn of_column(self, name: &str) -> ShapeError {
        match self {
            ShapeError::Kind {
                expected, given, ..
            } => ShapeError::Kind {
                column: name.to_owned(),
                expected,
                given,
            },
            other => other,
        }
    }
}
