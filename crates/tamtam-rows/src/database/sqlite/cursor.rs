//! The rows of an SQLite query, part by part.

use std::time::{Duration, Instant};
use std::{fmt, mem};

use rusqlite::types::ValueRef;
use rusqlite::{Params, Statement};

use super::cell::{self, Reading};
use super::found::{Declared, Found};
use crate::database::filling::{Filling, Most};
use crate::database::read_times::{Stopwatch, Unwatched, Watch};
use crate::database::{DatabaseError, PART_BYTES, PART_ROWS, ReadTimes, SAMPLE_ROWS};
use crate::{Field, Kind, Rows, Schema, ShapeError};

/// Where the time is told apart, one row in so many is looked at: the clock takes a good part of what a row does.
const LOOKED_AT_ONE_IN: u64 = 16;

/// The rows of an SQLite statement, a part at a time, or all of them.
///
/// It steps through the statement by the crate `rusqlite`, which hands out each value where SQLite keeps it: no value is
/// allocated. (`sqlx`'s own driver gives each row to another thread through a queue and duplicates its values: where we
/// measured both, this was five to six times faster.)
///
/// ```
/// use rusqlite::Connection;
/// use tamtam_rows::database::SqliteCursor;
///
/// let connection = Connection::open_in_memory()?;
/// connection.execute_batch(
///     "create table tiles (slot_number smallint, color char(6));
///      insert into tiles values (1, 'ff8800'), (2, '0088ff')",
/// )?;
/// let mut statement = connection.prepare("select slot_number, color from tiles where slot_number < ?")?;
/// let rows = SqliteCursor::open(&mut statement, [100])?.read_all()?;
///
/// assert_eq!(rows.column("slot_number").unwrap().slice::<i16>().unwrap(), [1, 2]);
/// assert_eq!(rows.column("color").unwrap().texts().unwrap().get(0), "ff8800");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Types
///
/// SQLite keeps any value in any column. What a column was declared as counts as long as the first rows agree:
///
/// | declared | type | if values differ |
/// |---|---|---|
/// | `TINYINT`, `SMALLINT`, `MEDIUMINT`; with `UNSIGNED` | `i8`, `i16`, `i32`; `u8`, `u16`, `u32` | `i64` |
/// | `INT`, `INTEGER`, `BIGINT`; with `UNSIGNED` | `i64`; `u64` | `i64`, `f64`, text |
/// | `BOOLEAN` | bool, for 0 and 1 | `i64` |
/// | `REAL`, `DOUBLE`, `FLOAT` | `f64` | text |
/// | `DECIMAL(p,s)`, `NUMERIC(p,s)` | decimal, if each number is one | `i64`, `f64` |
/// | `DATE`, `TIME`, `DATETIME`, `TIMESTAMP` | date, time, timestamp, if text in ISO 8601 | text, `i64` |
/// | `UUID` | UUID, out of its text or 16 bytes | text, bytes |
/// | `TEXT`, `CHAR(n)` and so on | text | |
/// | `BLOB` | bytes, also out of text | as if nothing was declared, where there is no blob |
/// | nothing, or an expression | `i64`, `f64`, text or bytes, as the values are | text; an error for numbers beside blobs |
///
/// A timestamp is [`Zone::Utc`](crate::Zone::Utc) if its texts end in `Z` or an offset, and otherwise
/// [`Zone::Local`](crate::Zone::Local). A text column takes numbers as their text, `1.0` for a real; that is the only conversion. An integer
/// behind the first rows is no date, time or timestamp, since nothing says whether it counts days, seconds or milliseconds:
/// [`with_schema`](SqliteCursor::with_schema) does.
pub struct SqliteCursor<'statement> {
    rows: rusqlite::Rows<'statement>,
    filling: Filling,
    /// The first rows, which decided about the types, until they are given out: value by value, row by row.
    sample: std::vec::IntoIter<Kept>,
    part_rows: usize,
    reading: Reading,
    is_done: bool,
    /// How long it took to run the statement and to read the sample, until it is told with the first rows.
    opening: Duration,
}

impl<'statement> SqliteCursor<'statement> {
    /// Runs the statement and reads as many rows as decide about the types of its columns.
    ///
    /// # Errors
    /// [`DatabaseError::Sqlite`] if SQLite refuses, and [`DatabaseError::Value`] for a number among blobs: a column of both has
    /// no type.
    pub fn open(
        statement: &'statement mut Statement<'_>,
        parameters: impl Params,
    ) -> Result<SqliteCursor<'statement>, DatabaseError> {
        let begun = Instant::now();
        let columns: Vec<(String, Declared)> = statement
            .columns()
            .iter()
            .map(|column| (column.name().to_owned(), Declared::new(column.decl_type())))
            .collect();
        let mut found: Vec<Found> = columns
            .iter()
            .map(|(_, declared)| Found::new(declared))
            .collect();
        let mut rows = statement.query(parameters)?;
        let mut sample = Vec::new();
        let mut is_done = true;
        let mut bytes = 0;
        for count in 1.. {
            let Some(row) = rows.next()? else { break };
            for (index, found) in found.iter_mut().enumerate() {
                let value = row.get_ref(index)?;
                found.add(value);
                bytes += size_of::<Kept>() + value.as_bytes().map_or(0, <[u8]>::len);
                sample.push(Kept::new(value));
            }
            // So long texts tell enough by then.
            if count == SAMPLE_ROWS || bytes >= PART_BYTES {
                is_done = false;
                break;
            }
        }
        let fields = columns
            .into_iter()
            .zip(&found)
            .map(|((name, declared), found)| Field::nullable(name, found.kind(&declared)));
        let schema = Schema::new(fields)?;
        let mut reading = Reading::new(false);
        for (index, field) in schema.fields().iter().enumerate() {
            if !found[index].is_mixed() {
                continue;
            }
            let values = sample.iter().skip(index).step_by(schema.len());
            for (row, value) in (0..).zip(values) {
                cell::value(value.get(), field.kind(), &mut reading)
                    .map_err(|unfit| unfit.of(field, row))?;
            }
        }
        Ok(SqliteCursor {
            rows,
            filling: Filling::new(schema),
            sample: sample.into_iter(),
            part_rows: PART_ROWS,
            reading,
            is_done,
            opening: begun.elapsed(),
        })
    }

    /// Runs the statement for rows with this schema, whose columns count, not their names.
    ///
    /// An integer in a column of times or timestamps is taken as its unit counts, and in a column of dates as days.
    ///
    /// # Errors
    /// [`DatabaseError::Sqlite`] if SQLite refuses, and [`DatabaseError::Shape`] if the statement has another number of
    /// columns.
    pub fn with_schema(
        statement: &'statement mut Statement<'_>,
        parameters: impl Params,
        schema: Schema,
    ) -> Result<SqliteCursor<'statement>, DatabaseError> {
        if statement.column_count() != schema.len() {
            return Err(ShapeError::Columns {
                given: statement.column_count(),
                expected: schema.len(),
            }
            .into());
        }
        let begun = Instant::now();
        Ok(SqliteCursor {
            rows: statement.query(parameters)?,
            filling: Filling::new(schema),
            sample: Vec::new().into_iter(),
            part_rows: PART_ROWS,
            reading: Reading::new(true),
            is_done: false,
            opening: begun.elapsed(),
        })
    }

    /// How many rows a part is to have, at least 1; it has fewer if they take [`PART_BYTES`](crate::database::PART_BYTES).
    pub fn part_rows(mut self, rows: usize) -> Self {
        self.part_rows = rows.max(1);
        self
    }

    /// The columns' names and types.
    pub fn schema(&self) -> &Schema {
        self.filling.schema()
    }

    /// The next rows, as many as a part has; the last part may have fewer, and so may one of long texts. `None` behind the
    /// last.
    ///
    /// # Errors
    /// If SQLite fails, or a value does not fit its column's type. What was read is lost then, and nothing more
    /// follows.
    pub fn next_part(&mut self) -> Result<Option<Rows>, DatabaseError> {
        self.part(&mut Unwatched)
    }

    /// As [`next_part`](SqliteCursor::next_part), with how long that took: the first time with what
    /// [`open`](SqliteCursor::open) or [`with_schema`](SqliteCursor::with_schema) took, as the database's.
    ///
    /// # Errors
    /// As [`next_part`](SqliteCursor::next_part).
    pub fn next_part_timed(&mut self) -> Result<Option<(Rows, ReadTimes)>, DatabaseError> {
        let mut watch = Stopwatch::start(LOOKED_AT_ONE_IN);
        let part = self.part(&mut watch)?;
        Ok(part.map(|part| (part, watch.stop_behind(mem::take(&mut self.opening)))))
    }

    fn part(&mut self, watch: &mut impl Watch) -> Result<Option<Rows>, DatabaseError> {
        self.read(Most::part(self.part_rows), watch)
            .inspect_err(|_| {
                self.is_done = true;
                self.sample = Vec::new().into_iter();
                self.filling.discard();
            })
    }

    /// All rows that are left, as one table.
    ///
    /// # Errors
    /// As [`next_part`](SqliteCursor::next_part).
    pub fn read_all(mut self) -> Result<Rows, DatabaseError> {
        self.all(&mut Unwatched)
    }

    /// As [`read_all`](SqliteCursor::read_all), with how long that took; see
    /// [`next_part_timed`](SqliteCursor::next_part_timed).
    ///
    /// # Errors
    /// As [`next_part`](SqliteCursor::next_part).
    pub fn read_all_timed(mut self) -> Result<(Rows, ReadTimes), DatabaseError> {
        let mut watch = Stopwatch::start(LOOKED_AT_ONE_IN);
        let rows = self.all(&mut watch)?;
        Ok((rows, watch.stop_behind(self.opening)))
    }

    fn all(&mut self, watch: &mut impl Watch) -> Result<Rows, DatabaseError> {
        match self.read(Most::EVERYTHING, watch)? {
            Some(rows) => Ok(rows),
            None => Ok(Rows::empty(self.schema().clone())),
        }
    }

    fn read(&mut self, most: Most, watch: &mut impl Watch) -> Result<Option<Rows>, DatabaseError> {
        let schema = self.filling.schema().clone();
        let columns = schema.len();
        while !self.filling.is_full(most) && self.sample.len() > 0 {
            // The cursor has given it before.
            watch.step();
            watch.stepped();
            for (index, value) in self.sample.by_ref().take(columns).enumerate() {
                let kind = schema.fields()[index].kind();
                push(
                    &mut self.filling,
                    index,
                    kind,
                    value.get(),
                    &mut self.reading,
                )?;
            }
            self.filling.end_row();
            watch.filled();
        }
        while !self.is_done && !self.filling.is_full(most) {
            watch.step();
            let row = self.rows.next()?;
            watch.stepped();
            match row {
                Some(row) => {
                    for (index, field) in schema.fields().iter().enumerate() {
                        let cell = row.get_ref(index)?;
                        push(
                            &mut self.filling,
                            index,
                            field.kind(),
                            cell,
                            &mut self.reading,
                        )?;
                    }
                    self.filling.end_row();
                    watch.filled();
                }
                None => self.is_done = true,
            }
        }
        if self.filling.rows() == 0 {
            return Ok(None);
        }
        self.filling.take().map(Some)
    }
}

impl fmt::Debug for SqliteCursor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteCursor")
            .field("schema", self.filling.schema())
            .field("part_rows", &self.part_rows)
            .finish_non_exhaustive()
    }
}

#[inline]
fn push(
    filling: &mut Filling,
    index: usize,
    kind: &Kind,
    cell: ValueRef<'_>,
    reading: &mut Reading,
) -> Result<(), DatabaseError> {
    // Nearly all values are of these two sorts and fit; what does not is looked at again.
    let is_pushed = match cell {
        ValueRef::Integer(number) if reading.keeps_integers(kind) => {
            filling.push_kept(index, number)
        }
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => filling.push_text(index, text),
            Err(_) => false,
        },
        _ => false,
    };
    if is_pushed {
        return Ok(());
    }
    push_seldom(filling, index, kind, cell, reading)
}

#[inline(never)]
fn push_seldom(
    filling: &mut Filling,
    index: usize,
    kind: &Kind,
    cell: ValueRef<'_>,
    reading: &mut Reading,
) -> Result<(), DatabaseError> {
    match cell::value(cell, kind, reading) {
        Ok(value) => filling.push(index, value),
        Err(unfit) => Err(filling.unfit(index, unfit)),
    }
}

/// A value that was read ahead. Unlike rusqlite's own, it holds text that is not UTF-8, too, of which the error is to
/// speak.
#[derive(Debug)]
enum Kept {
    Null,
    Integer(i64),
    Real(f64),
    Text(Vec<u8>),
    Blob(Vec<u8>),
}

impl Kept {
    fn new(value: ValueRef<'_>) -> Kept {
        match value {
            ValueRef::Null => Kept::Null,
            ValueRef::Integer(number) => Kept::Integer(number),
            ValueRef::Real(number) => Kept::Real(number),
            ValueRef::Text(text) => Kept::Text(text.to_vec()),
            ValueRef::Blob(bytes) => Kept::Blob(bytes.to_vec()),
        }
    }

    fn get(&self) -> ValueRef<'_> {
        match self {
            Kept::Null => ValueRef::Null,
            Kept::Integer(number) => ValueRef::Integer(*number),
            Kept::Real(number) => ValueRef::Real(*number),
            Kept::Text(text) => ValueRef::Text(text),
            Kept::Blob(bytes) => ValueRef::Blob(bytes),
        }
    }
}
