//! Queries whose rows come in parts, from any server.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::{Duration, Instant};
use std::{fmt, mem};

use futures_core::Stream;
use sqlx::query::Query;
use sqlx::{Connection, Database, Execute, Executor, IntoArguments, Row, Statement};

use super::error::Unfit;
use super::filling::{Filling, Most};
use super::read_times::{Stopwatch, Unwatched, Watch};
use super::{DatabaseError, PART_BYTES, PART_ROWS, ReadTimes, SAMPLE_ROWS};
use crate::{Field, Kind, Rows, Schema, ShapeError, Value};

/// A database of `sqlx` whose rows make tables: `sqlx::MySql` and `sqlx::Postgres`.
///
/// # Examples
///
/// ```
/// use sqlx::query::Query;
/// use sqlx::{Connection, Executor, IntoArguments};
/// use tamtam_rows::database::{self, DatabaseError, Source};
///
/// /// How many rows a query has, of any such database.
/// async fn count<'s, 'q: 's, D, C, A>(
///     connection: &'s mut C,
///     query: Query<'q, D, A>,
/// ) -> Result<usize, DatabaseError>
/// where
///     D: Source,
///     C: Connection<Database = D>,
///     A: IntoArguments<'q, D> + Send + 'q,
///     for<'e> &'e mut C: Executor<'e, Database = D>,
/// {
///     Ok(database::fetch(connection, query).await?.len())
/// }
/// ```
pub trait Source: Database + sealed::Mapped {}

pub(super) mod sealed {
    use super::{Database, DatabaseError, Kind, Unfit, Value};

    /// How a database's types and values become ours.
    pub trait Mapped: Database {
        /// The type of a column, with the first rows to decide what the database leaves open.
        #[allow(private_interfaces)]
        fn kind(
            column: &Self::Column,
            index: usize,
            sample: &[Self::Row],
        ) -> Result<Kind, DatabaseError>;

        /// Whether a column's values can be read as this type, which was asked for.
        fn gives(column: &Self::Column, kind: &Kind) -> bool;

        /// The bytes of a row's values as they came.
        fn bytes(row: &Self::Row) -> usize;

        /// A value of a column of this type, which the column gives.
        #[allow(private_interfaces)]
        fn value<'r>(row: &'r Self::Row, index: usize, kind: &Kind) -> Result<Value<'r>, Unfit>;
    }
}

type RowStream<'s, R> = Pin<Box<dyn Stream<Item = Result<R, sqlx::Error>> + Send + 's>>;

/// The rows of a query of `sqlx`, a part at a time.
///
/// ```no_run
/// // It asks a server, which the tests of this documentation do not start.
/// use sqlx::{Connection, MySqlConnection};
/// use tamtam_rows::database::{DatabaseError, Parts};
///
/// # async fn read() -> Result<(), DatabaseError> {
/// let mut connection = MySqlConnection::connect("mysql://localhost/board").await?;
/// let query = sqlx::query("SELECT slot_number, color FROM tiles WHERE set_id = ?").bind(1);
/// let mut parts = Parts::open(&mut connection, query).await?;
/// while let Some(rows) = parts.next_part().await? {
///     println!("{} rows of {:?}", rows.len(), rows.schema());
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Types
///
/// | MySQL, MariaDB | type |
/// |---|---|
/// | `TINYINT` to `BIGINT`, `UNSIGNED` or not; `MEDIUMINT` | integers of 8 to 64 bits; of 32 |
/// | `TINYINT(1)`, which is `BOOLEAN` | bool, if the first rows hold 0 and 1 only; else an integer |
/// | `BIT(n)`; `YEAR` | `u64`; `u16` |
/// | `FLOAT`, `DOUBLE`; `DECIMAL` | `f32`, `f64`; decimal of 38 digits, with the scale that the first rows have |
/// | `DATE`, `TIME` | date, time in microseconds. MySQL's zero date is null, a date with a zero in it an error |
/// | `DATETIME`; `TIMESTAMP` | timestamp in microseconds, local; in universal time (`sqlx` sets that for a connection) |
/// | `CHAR`, `TEXT`, `ENUM`, `SET`, `JSON`; `BINARY`, `BLOB`, `GEOMETRY` | text; bytes |
/// | text with a binary collation, as MariaDB's `JSON` is | bytes, since `sqlx` cannot tell; text if the schema says so, or `CONVERT(.. USING utf8mb4)` |
///
/// | PostgreSQL | type |
/// |---|---|
/// | `boolean`; `smallint`, `integer`, `bigint`; `oid` | bool; integers of 16 to 64 bits; `u32` |
/// | `real`, `double precision`; `numeric` | `f32`, `f64`; decimal of 38 digits, with the scale that the first rows have |
/// | `date`; `time`; `timestamp`; `timestamptz` | in microseconds, the last in universal time. `infinity` is an error |
/// | `text`, `varchar`, `char`, `name`, enums, `json`, `jsonb`; `bytea`; `uuid` | text; bytes; UUID |
/// | all others: arrays, `interval`, `money`, … | an error, which says to convert them in the query |
pub struct Parts<'s, DB: Source> {
    stream: RowStream<'s, DB::Row>,
    filling: Filling,
    /// The first rows, which decided about the types, until they are given out.
    sample: std::vec::IntoIter<DB::Row>,
    part_rows: usize,
    /// Whether each row may have other columns than the one before.
    checks_each: bool,
    is_done: bool,
    /// How long it took to run the query and to read the sample, until it is told with the first rows.
    opening: Duration,
}

impl<'s, DB: Source> Parts<'s, DB> {
    /// Runs a query, and reads as many rows as decide about the types of its columns.
    ///
    /// # Cancel safety
    /// What was read is lost with the future.
    ///
    /// # Errors
    /// If the database refuses, or a column is of a type that rows do not have.
    pub async fn open<'q: 's, C, A>(
        connection: &'s mut C,
        query: Query<'q, DB, A>,
    ) -> Result<Parts<'s, DB>, DatabaseError>
    where
        C: Connection<Database = DB>,
        A: IntoArguments<'q, DB> + Send + 'q,
        for<'e> &'e mut C: Executor<'e, Database = DB>,
    {
        let begun = Instant::now();
        // Asked first, since a query without rows says nothing of its columns later.
        let statement = connection.prepare(query.sql()).await?;
        let stream = query.fetch(connection);
        Parts::begin(begun, stream, statement.columns(), None, false).await
    }

    /// Runs a query for rows with this schema, whose columns count, not their names. A value that does not fit is an
    /// error.
    ///
    /// # Cancel safety
    /// What was read is lost with the future.
    ///
    /// # Errors
    /// If the database refuses, or the query has another number of columns.
    pub async fn with_schema<'q: 's, C, A>(
        connection: &'s mut C,
        query: Query<'q, DB, A>,
        schema: Schema,
    ) -> Result<Parts<'s, DB>, DatabaseError>
    where
        C: Connection<Database = DB>,
        A: IntoArguments<'q, DB> + Send + 'q,
        for<'e> &'e mut C: Executor<'e, Database = DB>,
    {
        let begun = Instant::now();
        let statement = connection.prepare(query.sql()).await?;
        let stream = query.fetch(connection);
        Parts::begin(begun, stream, statement.columns(), Some(schema), false).await
    }

    /// The rows of a stream that is already there, such as that of `sqlx::query(..).fetch(&pool)`. Without rows it has
    /// no columns either: nothing says what they would be.
    ///
    /// # Cancel safety
    /// What was read is lost with the future.
    ///
    /// # Errors
    /// If the database fails, or a column is of a type that rows do not have.
    pub async fn from_stream(
        stream: impl Stream<Item = Result<DB::Row, sqlx::Error>> + Send + 's,
    ) -> Result<Parts<'s, DB>, DatabaseError> {
        // It may be of several statements, whose rows differ.
        Parts::begin(Instant::now(), Box::pin(stream), &[], None, true).await
    }

    async fn begin(
        begun: Instant,
        mut stream: RowStream<'s, DB::Row>,
        prepared: &[DB::Column],
        schema: Option<Schema>,
        checks_each: bool,
    ) -> Result<Parts<'s, DB>, DatabaseError> {
        let mut sample = Vec::new();
        let mut bytes = 0;
        let mut is_done = false;
        // Where the types are given, one row tells whether its columns fit.
        let most = if schema.is_some() { 1 } else { SAMPLE_ROWS };
        while !is_done && sample.len() < most && bytes < PART_BYTES {
            match next(&mut stream).await? {
                Some(row) => {
                    bytes += DB::bytes(&row);
                    sample.push(row);
                }
                None => is_done = true,
            }
        }
        let columns = sample.first().map_or(prepared, Row::columns);
        let schema = match schema {
            Some(schema) => {
                check::<DB>(&schema, columns)?;
                schema
            }
            None => {
                let mut fields = Vec::with_capacity(columns.len());
                for (index, column) in columns.iter().enumerate() {
                    let kind = DB::kind(column, index, &sample)?;
                    fields.push(Field::nullable(sqlx::Column::name(column), kind));
                }
                Schema::new(fields)?
            }
        };
        Ok(Parts {
            stream,
            filling: Filling::new(schema),
            sample: sample.into_iter(),
            part_rows: PART_ROWS,
            checks_each,
            is_done,
            opening: begun.elapsed(),
        })
    }

    /// How many rows a part is to have, at least 1; it has fewer if they take [`PART_BYTES`](super::PART_BYTES).
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
    /// # Cancel safety
    /// Nothing is lost: the next call goes on where this one was.
    ///
    /// # Errors
    /// If the connection breaks, or a value does not fit its column's type. What was read is lost then, and nothing
    /// more follows.
    pub async fn next_part(&mut self) -> Result<Option<Rows>, DatabaseError> {
        self.part(&mut Unwatched).await
    }

    /// As [`next_part`](Parts::next_part), with how long that took: the first time with what [`open`](Parts::open) and the like
    /// took, as the database's.
    ///
    /// # Cancel safety
    /// As [`next_part`](Parts::next_part).
    ///
    /// # Errors
    /// As [`next_part`](Parts::next_part).
    pub async fn next_part_timed(&mut self) -> Result<Option<(Rows, ReadTimes)>, DatabaseError> {
        let mut watch = Stopwatch::start(1);
        let part = self.part(&mut watch).await?;
        Ok(part.map(|part| (part, watch.stop_behind(mem::take(&mut self.opening)))))
    }

    async fn part(&mut self, watch: &mut impl Watch) -> Result<Option<Rows>, DatabaseError> {
        let result = self.read(Most::part(self.part_rows), watch).await;
        if result.is_err() {
            self.is_done = true;
            self.sample = Vec::new().into_iter();
            self.filling.discard();
        }
        result
    }

    /// All rows that are left, as one table.
    ///
    /// # Cancel safety
    /// What was read is lost with the future.
    ///
    /// # Errors
    /// As [`next_part`](Parts::next_part).
    pub async fn read_all(mut self) -> Result<Rows, DatabaseError> {
        self.all(&mut Unwatched).await
    }

    /// As [`read_all`](Parts::read_all), with how long that took; see [`next_part_timed`](Parts::next_part_timed).
    ///
    /// # Cancel safety
    /// As [`read_all`](Parts::read_all).
    ///
    /// # Errors
    /// As [`next_part`](Parts::next_part).
    pub async fn read_all_timed(mut self) -> Result<(Rows, ReadTimes), DatabaseError> {
        let mut watch = Stopwatch::start(1);
        let rows = self.all(&mut watch).await?;
        Ok((rows, watch.stop_behind(self.opening)))
    }

    async fn all(&mut self, watch: &mut impl Watch) -> Result<Rows, DatabaseError> {
        match self.read(Most::EVERYTHING, watch).await? {
            Some(rows) => Ok(rows),
            None => Ok(Rows::empty(self.schema().clone())),
        }
    }

    async fn read(
        &mut self,
        most: Most,
        watch: &mut impl Watch,
    ) -> Result<Option<Rows>, DatabaseError> {
        while !self.filling.is_full(most) {
            watch.step();
            let row = match self.sample.next() {
                Some(row) => row,
                None if self.is_done => break,
                None => match next(&mut self.stream).await? {
                    Some(row) => row,
                    None => {
                        self.is_done = true;
                        watch.stepped();
                        break;
                    }
                },
            };
            watch.stepped();
            if self.checks_each {
                check::<DB>(self.filling.schema(), row.columns())?;
            }
            push::<DB>(&mut self.filling, &row)?;
            watch.filled();
        }
        if self.filling.rows() == 0 {
            return Ok(None);
        }
        self.filling.take().map(Some)
    }
}

async fn next<R>(stream: &mut RowStream<'_, R>) -> Result<Option<R>, DatabaseError> {
    let next = poll_fn(|context| stream.as_mut().poll_next(context)).await;
    next.transpose().map_err(DatabaseError::Query)
}

/// Whether rows with these columns fit the schema.
fn check<DB: Source>(schema: &Schema, columns: &[DB::Column]) -> Result<(), DatabaseError> {
    if schema.len() != columns.len() {
        return Err(ShapeError::Columns {
            given: columns.len(),
            expected: schema.len(),
        }
        .into());
    }
    for (field, column) in schema.fields().iter().zip(columns) {
        if !DB::gives(column, field.kind()) {
            return Err(DatabaseError::Unsupported {
                column: field.name().to_owned(),
                database_type: sqlx::TypeInfo::name(sqlx::Column::type_info(column)).to_owned(),
                kind: format!("as {}", field.kind()),
                advice: "convert it in the query (CAST), or give its own type in the schema",
            });
        }
    }
    Ok(())
}

pub(super) fn is_integer(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::I8 | Kind::I16 | Kind::I32 | Kind::I64 | Kind::U8 | Kind::U16 | Kind::U32 | Kind::U64
    )
}

fn push<DB: Source>(
    filling: &mut Filling,
    row: &<DB as Database>::Row,
) -> Result<(), DatabaseError> {
    let schema = filling.schema().clone();
    for (index, field) in schema.fields().iter().enumerate() {
        match DB::value(row, index, field.kind()) {
            Ok(value) => filling.push(index, value)?,
            Err(unfit) => return Err(filling.unfit(index, unfit)),
        }
    }
    filling.end_row();
    Ok(())
}

impl<DB: Source> fmt::Debug for Parts<'_, DB> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts")
            .field("schema", self.filling.schema())
            .field("part_rows", &self.part_rows)
            .finish_non_exhaustive()
    }
}

/// All rows of a query, as one table. See [`Parts`] for the types.
///
/// ```no_run
/// // It asks a server, which the tests of this documentation do not start.
/// use sqlx::{Connection, PgConnection};
///
/// # async fn read() -> Result<(), Box<dyn std::error::Error>> {
/// let mut connection = PgConnection::connect("postgres://localhost/board").await?;
/// let rows = tamtam_rows::database::fetch(
///     &mut connection,
///     sqlx::query("SELECT slot_number, color FROM tiles WHERE set_id = $1").bind(1),
/// )
/// .await?;
/// # Ok(())
/// # }
/// ```
///
/// # Cancel safety
/// What was read is lost with the future.
///
/// # Errors
/// As [`Parts::open`] and [`Parts::next_part`].
pub async fn fetch<'s, 'q: 's, DB, C, A>(
    connection: &'s mut C,
    query: Query<'q, DB, A>,
) -> Result<Rows, DatabaseError>
where
    DB: Source,
    C: Connection<Database = DB>,
    A: IntoArguments<'q, DB> + Send + 'q,
    for<'e> &'e mut C: Executor<'e, Database = DB>,
{
    Parts::open(connection, query).await?.read_all().await
}
