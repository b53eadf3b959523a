//! A table: typed columns of one length.

use crate::cursor::Cursor;
use crate::{Column, Field, Schema, ShapeError, Value};

/// A table: columns of equal length, with names and types.
///
/// ```
/// use tamtam_rows::{Column, Field, Kind, Rows, Schema, Value};
///
/// let schema = Schema::new([Field::new("x", Kind::I16), Field::nullable("note", Kind::Text)])?;
/// let rows = Rows::new(schema, [Column::from(vec![7_i16, -7]), Column::from_iter([Some("up"), None])])?;
///
/// assert_eq!(rows.column("x").unwrap().slice::<i16>().unwrap(), [7, -7]);
/// assert_eq!(rows.value(1, 1), Value::Null);
/// # Ok::<(), tamtam_rows::ShapeError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    schema: Schema,
    columns: Vec<Column>,
    len: usize,
}

impl Rows {
    /// A table of these columns, in the schema's order. A table without columns has no rows.
    ///
    /// # Errors
    /// If the columns are not as many as the schema has, differ in length, have other types, or hold nulls where
    /// the schema has none.
    pub fn new(
        schema: Schema,
        columns: impl IntoIterator<Item = Column>,
    ) -> Result<Rows, ShapeError> {
        let columns: Vec<Column> = columns.into_iter().collect();
        if columns.len() != schema.len() {
            return Err(ShapeError::Columns {
                given: columns.len(),
                expected: schema.len(),
            });
        }
        let len = columns.first().map_or(0, Column::len);
        for (field, column) in schema.fields().iter().zip(&columns) {
            check(field, column, len)?;
        }
        Ok(Rows {
            schema,
            columns,
            len,
        })
    }

    /// A table without rows.
    pub fn empty(schema: Schema) -> Rows {
        let columns = schema
            .fields()
            .iter()
            .map(|field| Column::new(crate::Values::new(field.kind())))
            .collect();
        Rows {
            schema,
            columns,
            len: 0,
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The columns' names and types.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The columns, from left to right.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The first column of this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.schema.index_of(name).map(|index| &self.columns[index])
    }

    /// Each column with its name and type.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&Field, &Column)> + '_ {
        self.schema.fields().iter().zip(&self.columns)
    }

    /// One value.
    ///
    /// # Panics
    /// If there is no such row or column.
    #[inline]
    pub fn value(&self, row: usize, column: usize) -> Value<'_> {
        self.columns[column].value(self.schema.fields()[column].kind(), row)
    }

    /// Row by row.
    pub fn iter(&self) -> Cursor<'_> {
        Cursor::new(self)
    }

    /// Some of the rows, copied.
    ///
    /// # Panics
    /// If there are not so many rows.
    pub fn part(&self, range: std::ops::Range<usize>) -> Rows {
        assert!(
            range.start <= range.end && range.end <= self.len,
            "rows {range:?} of {}",
            self.len
        );
        Rows {
            schema: self.schema.clone(),
            columns: self
                .columns
                .iter()
                .map(|column| column.part(range.clone()))
                .collect(),
            len: range.len(),
        }
    }

    /// Appends the rows of another table with the same schema.
    ///
    /// # Errors
    /// If its schema differs, or a column's text would exceed 4 GiB; in the latter case the table is of no use.
    pub fn append(&mut self, other: &Rows) -> Result<(), ShapeError> {
        if self.schema != other.schema {
            return Err(ShapeError::Schema);
        }
        for (mine, theirs) in self.columns.iter_mut().zip(&other.columns) {
            mine.append(theirs)?;
        }
        self.len += other.len;
        Ok(())
    }

    /// The bytes that the columns take in memory.
    pub fn memory(&self) -> usize {
        self.columns.iter().map(Column::memory).sum()
    }

    /// Takes it apart.
    pub fn into_columns(self) -> (Schema, Vec<Column>) {
        (self.schema, self.columns)
    }
}

impl<'a> IntoIterator for &'a Rows {
    type Item = crate::Row<'a>;
    type IntoIter = Cursor<'a>;

    fn into_iter(self) -> Cursor<'a> {
        self.iter()
    }
}

fn check(field: &Field, column: &Column, len: usize) -> Result<(), ShapeError> {
    let name = || field.name().to_owned();
    if !column.values().fits(field.kind()) {
        return Err(ShapeError::Kind {
            column: name(),
            expected: field.kind().clone(),
            given: format!("a column of {}", column.values().name()),
        });
    }
    if column.len() != len {
        return Err(ShapeError::Length {
            column: name(),
            given: column.len(),
            expected: len,
        });
    }
    match column.nulls().and_then(|nulls| nulls.rows().next()) {
        Some(row) if !field.is_nullable() => Err(ShapeError::Null {
            column: name(),
            row,
        }),
        _ => Ok(()),
    }
}
