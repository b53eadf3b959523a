//! Rows one by one, without a copy.

use crate::{Rows, Value};

/// Goes through a table row by row. Made by [`Rows::iter`].
///
/// # Examples
///
/// ```
/// use tamtam_rows::{Column, Field, Kind, Rows, Schema, Value};
///
/// let schema = Schema::new([Field::new("n", Kind::U8)])?;
/// let rows = Rows::new(schema, [Column::from(vec![1_u8, 2, 3])])?;
/// let last = rows.iter().next_back().unwrap(); // from either end
/// assert_eq!((last.index(), last.value(0)), (2, Value::Unsigned(3)));
/// assert_eq!(rows.iter().nth(1).unwrap().index(), 1);
/// # Ok::<(), tamtam_rows::ShapeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    rows: &'a Rows,
    next: usize,
    end: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(rows: &'a Rows) -> Cursor<'a> {
        Cursor {
            rows,
            next: 0,
            end: rows.len(),
        }
    }
}

impl<'a> Iterator for Cursor<'a> {
    type Item = Row<'a>;

    fn next(&mut self) -> Option<Row<'a>> {
        self.nth(0)
    }

    fn nth(&mut self, skipped: usize) -> Option<Row<'a>> {
        let row = self.next.checked_add(skipped).filter(|&row| row < self.end);
        self.next = row.map_or(self.end, |row| row + 1);
        row.map(|row| Row {
            rows: self.rows,
            row,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.end - self.next;
        (left, Some(left))
    }
}

impl DoubleEndedIterator for Cursor<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.next == self.end {
            return None;
        }
        self.end -= 1;
        Some(Row {
            rows: self.rows,
            row: self.end,
        })
    }
}

impl ExactSizeIterator for Cursor<'_> {}
impl std::iter::FusedIterator for Cursor<'_> {}

/// One row of a table.
///
/// # Examples
///
/// ```
/// use tamtam_rows::{Column, Field, Kind, Rows, Schema, Value};
///
/// let schema = Schema::new([Field::new("n", Kind::U8), Field::new("name", Kind::Text)])?;
/// let rows = Rows::new(schema, [Column::from(vec![1_u8]), Column::from_iter(["one"])])?;
/// let row = rows.iter().next().unwrap();
/// assert_eq!(row.get("name"), Some(Value::Text("one")));
/// assert!(row.values().eq([Value::Unsigned(1), Value::Text("one")]));
/// # Ok::<(), tamtam_rows::ShapeError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    rows: &'a Rows,
    row: usize,
}

impl<'a> Row<'a> {
    /// Which row it is, from 0.
    pub fn index(&self) -> usize {
        self.row
    }

    /// The table that it is a row of.
    pub fn rows(&self) -> &'a Rows {
        self.rows
    }

    /// The value in a column, counted from 0.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn value(&self, column: usize) -> Value<'a> {
        self.rows.value(self.row, column)
    }

    /// The value in the first column of this name.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.rows
            .schema()
            .index_of(name)
            .map(|column| self.value(column))
    }

    /// Its values from left to right.
    pub fn values(&self) -> impl ExactSizeIterator<Item = Value<'a>> + use<'a> {
        let Row { rows, row } = *self;
        (0..rows.schema().len()).map(move |column| rows.value(row, column))
    }
}
