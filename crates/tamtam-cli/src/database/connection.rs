//! A database that is open.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use rusqlite::{InterruptHandle, OpenFlags};
use sqlx::mysql::MySqlConnectOptions;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor, IntoArguments, MySqlConnection, PgConnection};
use tamtam_rows::database::{DatabaseError, Parts, ReadTimes, Source, SqliteCursor, StreamError};
use tamtam_rows::{Rows, Schema};
use tokio::runtime::Runtime;
use tokio::sync::Notify;

use super::{Taker, Url};

/// How long a server may take to answer the first time, and a file of SQLite may be locked by others.
const LONGEST_CONNECTING: Duration = Duration::from_secs(20);

/// Steps of SQLite's machine from one look whether the query is still wanted to the next: less than a millisecond.
const STEPS_FROM_LOOK_TO_LOOK: i32 = 10_000;

/// A database that is open.
pub struct Database {
    kind: Open,
    /// Ends a query of one that is connected to.
    ended: Arc<Notify>,
}

/// Ends the query of a database from another thread.
#[derive(Clone)]
pub struct QueryInterrupt(InterruptKind);

#[derive(Clone)]
enum InterruptKind {
    /// SQLite itself forgets an interrupt that comes before the first step of a query, so there is a flag beside it.
    Sqlite(Arc<AtomicBool>, Arc<InterruptHandle>),
    Connected(Arc<Notify>),
}

impl QueryInterrupt {
    /// Ends the query that runs, or the next one: it fails. SQLite stops within some thousand steps, and where the query ends by itself before that, ends
    /// the next one that takes as many; so ask for one anew for each query.
    /// MySQL and MariaDB are told to end it, over a connection of its own; where they cannot be told, and with PostgreSQL, the
    /// connection is closed, which the server notices when it next writes to it, PostgreSQL from version 14 on within a second in
    /// any case.
    pub fn interrupt(&self) {
        match &self.0 {
            InterruptKind::Sqlite(is_unwanted, handle) => {
                is_unwanted.store(true, Ordering::Relaxed);
                handle.interrupt();
            }
            InterruptKind::Connected(ended) => ended.notify_one(),
        }
    }
}

impl fmt::Debug for QueryInterrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("QueryInterrupt")
    }
}

enum Open {
    Sqlite(rusqlite::Connection),
    MySql(Runtime, MySqlConnection, Option<Box<KillSwitch>>),
    Postgres(Runtime, PgConnection),
}

/// What ends a query of MySQL or MariaDB: they do not look whether their client is there while they work.
struct KillSwitch {
    /// How to connect once more.
    options: MySqlConnectOptions,
    /// The number of the connection that has the query.
    connection: u64,
}

impl KillSwitch {
    /// Of this connection; nothing where the server gives it no number.
    fn of(
        runtime: &Runtime,
        options: MySqlConnectOptions,
        connection: &mut MySqlConnection,
    ) -> Option<Box<KillSwitch>> {
        let number = sqlx::query_scalar("SELECT CONNECTION_ID()").fetch_one(connection);
        let connection = within(runtime, number).ok()?;
        Some(Box::new(KillSwitch {
            options,
            connection,
        }))
    }

    /// Ends the query that the connection has; its own server is the only one that can refuse, and then it goes on until it next
    /// writes.
    fn kill_query(&self, runtime: &Runtime) {
        let _ = within(runtime, async {
            let mut other = self.options.connect().await?;
            let kill = format!("KILL QUERY {}", self.connection);
            other.execute(&*kill).await?;
            other.close().await
        });
    }
}

/// Why a query gives no more rows.
enum Stopped {
    Failed(anyhow::Error),
    /// Its rows are no longer wanted.
    Unwanted(anyhow::Error),
}

impl From<Stopped> for anyhow::Error {
    fn from(stopped: Stopped) -> anyhow::Error {
        match stopped {
            Stopped::Failed(error) | Stopped::Unwanted(error) => error,
        }
    }
}

impl Database {
    /// Opens one that is there, to read it.
    ///
    /// # Errors
    /// If it cannot be reached, with what to do about it.
    pub fn open(url: &Url) -> Result<Database> {
        match url {
            Url::Sqlite(path) => {
                if !path.exists() {
                    bail!("there is no file {}", path.display());
                }
                // Only this thread uses the connection, which therefore needs no lock of its own.
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                let connection = rusqlite::Connection::open_with_flags(path, flags)
                    .with_context(|| format!("cannot open {}", path.display()))?;
                connection.busy_timeout(LONGEST_CONNECTING)?;
                connection
                    .query_row("select count(*) from sqlite_schema", [], |_| Ok(()))
                    .with_context(|| format!("cannot read {}", path.display()))?;
                Ok(Open::Sqlite(connection).into())
            }
            Url::MySql(_) | Url::Postgres(_) => Database::connect(url),
        }
    }

    /// Opens one to write to it; a file of SQLite is made if it is not there.
    pub(super) fn open_or_make(url: &Url) -> Result<Database> {
        match url {
            Url::Sqlite(path) => {
                let connection = rusqlite::Connection::open(path)
                    .with_context(|| format!("cannot make {}", path.display()))?;
                connection.busy_timeout(LONGEST_CONNECTING * 3)?;
                Ok(Open::Sqlite(connection).into())
            }
            Url::MySql(_) | Url::Postgres(_) => Database::connect(url),
        }
    }

    fn connect(url: &Url) -> Result<Database> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let advice =
            "cannot connect to the database: is it running, and are user and password right?";
        Ok(match url {
            Url::MySql(url) => {
                let options: MySqlConnectOptions =
                    url.parse().context("this is no URL of MySQL")?;
                let options = options.disable_statement_logging();
                let mut connection = within(&runtime, options.connect()).context(advice)?;
                let switch = KillSwitch::of(&runtime, options, &mut connection);
                Open::MySql(runtime, connection, switch).into()
            }
            Url::Postgres(url) => {
                let options: PgConnectOptions =
                    url.parse().context("this is no URL of PostgreSQL")?;
                let options = options.disable_statement_logging();
                let mut connection = within(&runtime, options.connect()).context(advice)?;
                let looked_after = async {
                    let sql = "SET client_connection_check_interval = '1s'";
                    match connection.execute(sql).await {
                        // An older server does not know it; its queries end when they next write.
                        Ok(_) | Err(sqlx::Error::Database(_)) => Ok(()),
                        Err(error) => Err(error),
                    }
                };
                within(&runtime, looked_after).context(advice)?;
                Open::Postgres(runtime, connection).into()
            }
            Url::Sqlite(_) => bail!("a file of SQLite is opened, not connected to"),
        })
    }

    /// What ends a query of it from another thread. With SQLite only what was asked for last does so for sure.
    pub fn interrupt(&self) -> QueryInterrupt {
        QueryInterrupt(match &self.kind {
            Open::Sqlite(connection) => {
                let is_unwanted = Arc::new(AtomicBool::new(false));
                let asked = Arc::clone(&is_unwanted);
                let look = move || asked.swap(false, Ordering::Relaxed);
                connection.progress_handler(STEPS_FROM_LOOK_TO_LOOK, Some(look));
                let handle = Arc::new(connection.get_interrupt_handle());
                InterruptKind::Sqlite(is_unwanted, handle)
            }
            Open::MySql(..) | Open::Postgres(..) => {
                InterruptKind::Connected(Arc::clone(&self.ended))
            }
        })
    }

    /// Runs a query, and gives its rows away, a part at a time. Those of SQLite are taken on a thread of their own while
    /// the next ones are read. A schema, where given, says which types the columns have.
    ///
    /// # Errors
    /// If the query fails or is interrupted, a value does not fit its column, or the taker fails.
    pub fn stream(
        &mut self,
        sql: &str,
        schema: Option<Schema>,
        taker: &mut dyn Taker,
    ) -> Result<()> {
        let ended = &self.ended;
        match &mut self.kind {
            Open::Sqlite(connection) => {
                let mut statement = connection.prepare(sql).context("the query failed")?;
                if statement.parameter_count() > 0 {
                    bail!("the query has parameters; write their values into it");
                }
                if statement.column_count() == 0 {
                    bail!("the query gives no columns: it has to be a SELECT");
                }
                let mut cursor = match schema {
                    Some(schema) => SqliteCursor::with_schema(&mut statement, [], schema)?,
                    None => SqliteCursor::open(&mut statement, [])?,
                };
                taker.begin(cursor.schema())?;
                if taker.is_timed() {
                    while let Some((part, times)) = cursor.next_part_timed()? {
                        taker.took(times);
                        taker.take(part)?;
                    }
                    return Ok(());
                }
                match cursor.hand_over(|part| taker.take(part)) {
                    Ok(_) => Ok(()),
                    Err(StreamError::Sink(error)) => Err(error),
                    Err(StreamError::Database(error)) => Err(error.into()),
                }
            }
            Open::MySql(runtime, connection, switch) => {
                let passing = pass(connection, sqlx::query(sql), schema, taker);
                let result = runtime.block_on(unless(ended, passing));
                if let (Err(Stopped::Unwanted(_)), Some(switch)) = (&result, switch) {
                    switch.kill_query(runtime);
                }
                Ok(result?)
            }
            Open::Postgres(runtime, connection) => {
                let passing = pass(connection, sqlx::query(sql), schema, taker);
                Ok(runtime.block_on(unless(ended, passing))?)
            }
        }
    }

    /// All rows of a query, as one table, and how long they took.
    ///
    /// # Errors
    /// As [`stream`](Database::stream).
    pub(crate) fn rows_timed(
        &mut self,
        sql: &str,
        schema: Option<Schema>,
    ) -> Result<(Rows, ReadTimes)> {
        match &mut self.kind {
            Open::Sqlite(connection) => {
                let mut statement = connection.prepare_cached(sql).context("the query failed")?;
                let cursor = match schema {
                    Some(schema) => SqliteCursor::with_schema(&mut statement, [], schema)?,
                    None => SqliteCursor::open(&mut statement, [])?,
                };
                Ok(cursor.read_all_timed()?)
            }
            Open::MySql(runtime, connection, _) => {
                runtime.block_on(all_timed(connection, sqlx::query(sql), schema))
            }
            Open::Postgres(runtime, connection) => {
                runtime.block_on(all_timed(connection, sqlx::query(sql), schema))
            }
        }
    }

    /// All rows of a query, as one table.
    ///
    /// # Errors
    /// As [`stream`](Database::stream).
    pub fn rows(&mut self, sql: &str, schema: Option<Schema>) -> Result<Rows> {
        if let Open::Sqlite(connection) = &mut self.kind {
            // At once: a thread would cost more than the rows of a small table.
            let mut statement = connection.prepare_cached(sql).context("the query failed")?;
            let cursor = match schema {
                Some(schema) => SqliteCursor::with_schema(&mut statement, [], schema)?,
                None => SqliteCursor::open(&mut statement, [])?,
            };
            return Ok(cursor.read_all()?);
        }
        match &mut self.kind {
            Open::MySql(runtime, connection, _) => {
                runtime.block_on(all(connection, sqlx::query(sql), schema))
            }
            Open::Postgres(runtime, connection) => {
                runtime.block_on(all(connection, sqlx::query(sql), schema))
            }
            Open::Sqlite(_) => unreachable!("returned above"),
        }
    }

    /// Runs statements without an answer.
    pub(super) fn execute(&mut self, sql: &str) -> Result<()> {
        match &mut self.kind {
            Open::Sqlite(connection) => connection.execute_batch(sql)?,
            Open::MySql(runtime, connection, _) => {
                runtime.block_on(connection.execute(sql))?;
            }
            Open::Postgres(runtime, connection) => {
                runtime.block_on(connection.execute(sql))?;
            }
        }
        Ok(())
    }
}

impl From<Open> for Database {
    fn from(kind: Open) -> Database {
        Database {
            kind,
            ended: Arc::default(),
        }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            Open::Sqlite(_) => "Database(SQLite)",
            Open::MySql(..) => "Database(MySQL)",
            Open::Postgres(..) => "Database(PostgreSQL)",
        })
    }
}

fn within<T>(runtime: &Runtime, work: impl Future<Output = sqlx::Result<T>>) -> Result<T> {
    runtime.block_on(async {
        match tokio::time::timeout(LONGEST_CONNECTING, work).await {
            Ok(result) => Ok(result?),
            Err(_) => bail!(
                "it did not answer within {} s",
                LONGEST_CONNECTING.as_secs()
            ),
        }
    })
}

/// The query, unless it is ended before.
async fn unless(
    ended: &Notify,
    query: impl Future<Output = Result<(), Stopped>>,
) -> Result<(), Stopped> {
    tokio::select! {
        result = query => result,
        () = ended.notified() => Err(Stopped::Unwanted(anyhow!("the query was ended"))),
    }
}

async fn begun<'s, 'q: 's, DB, C, A>(
    connection: &'s mut C,
    query: sqlx::query::Query<'q, DB, A>,
    schema: Option<Schema>,
) -> Result<Parts<'s, DB>>
where
    DB: Source,
    C: Connection<Database = DB>,
    A: IntoArguments<'q, DB> + Send + 'q,
    for<'e> &'e mut C: Executor<'e, Database = DB>,
{
    let parts = match schema {
        Some(schema) => Parts::with_schema(connection, query, schema).await?,
        None => Parts::open(connection, query).await?,
    };
    if parts.schema().is_empty() {
        bail!("the query gives no columns: it has to be a SELECT");
    }
    Ok(parts)
}

async fn pass<'s, 'q: 's, DB, C, A>(
    connection: &'s mut C,
    query: sqlx::query::Query<'q, DB, A>,
    schema: Option<Schema>,
    taker: &mut dyn Taker,
) -> Result<(), Stopped>
where
    DB: Source,
    C: Connection<Database = DB>,
    A: IntoArguments<'q, DB> + Send + 'q,
    for<'e> &'e mut C: Executor<'e, Database = DB>,
{
    let failed = |error: DatabaseError| Stopped::Failed(error.into());
    let mut parts = begun(connection, query, schema)
        .await
        .map_err(Stopped::Failed)?;
    taker.begin(parts.schema()).map_err(Stopped::Unwanted)?;
    if taker.is_timed() {
        while let Some((part, times)) = parts.next_part_timed().await.map_err(failed)? {
            taker.took(times);
            taker.take(part).map_err(Stopped::Unwanted)?;
        }
        return Ok(());
    }
    while let Some(part) = parts.next_part().await.map_err(failed)? {
        taker.take(part).map_err(Stopped::Unwanted)?;
    }
    Ok(())
}

async fn all<'s, 'q: 's, DB, C, A>(
    connection: &'s mut C,
    query: sqlx::query::Query<'q, DB, A>,
    schema: Option<Schema>,
) -> Result<Rows>
where
    DB: Source,
    C: Connection<Database = DB>,
    A: IntoArguments<'q, DB> + Send + 'q,
    for<'e> &'e mut C: Executor<'e, Database = DB>,
{
    Ok(begun(connection, query, schema).await?.read_all().await?)
}

async fn all_timed<'s, 'q: 's, DB, C, A>(
    connection: &'s mut C,
    query: sqlx::query::Query<'q, DB, A>,
    schema: Option<Schema>,
) -> Result<(Rows, ReadTimes)>
where
    DB: Source,
    C: Connection<Database = DB>,
    A: IntoArguments<'q, DB> + Send + 'q,
    for<'e> &'e mut C: Executor<'e, Database = DB>,
{
    let parts = begun(connection, query, schema).await?;
    Ok(parts.read_all_timed().await?)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    /// Takes nothing.
    struct NoRows;

    impl Taker for NoRows {
        fn begin(&mut self, _: &Schema) -> Result<()> {
            Ok(())
        }

        fn take(&mut self, _: Rows) -> Result<()> {
            bail!("no rows are wanted")
        }
    }

    /// How many queries with this mark the server works on.
    fn at_work(database: &mut Database, mark: &str) -> u64 {
        // The mark in two parts, so that this query does not have it.
        let (begin, end) = mark.split_at(mark.len() / 2);
        let sql = format!(
            "SELECT COUNT(*) AS n FROM information_schema.processlist WHERE info LIKE CONCAT('%', '{begin}', '{end}', '%')"
        );
        let rows = database.rows(&sql, None).expect("the server tells");
        match rows.value(0, 0) {
            tamtam_rows::Value::Int(count) => count as u64,
            tamtam_rows::Value::Unsigned(count) => count,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn sqlite_ends_a_query_that_is_not_wanted_before_its_first_step() {
        tamtam_testing::within(Duration::from_secs(120), || {
            let file = tempfile::NamedTempFile::new().unwrap();
            rusqlite::Connection::open(file.path())
                .unwrap()
                .execute_batch("create table none (n integer)")
                .unwrap();
            let mut database = Database::open(&Url::Sqlite(file.path().into())).unwrap();
            database.interrupt().interrupt();
            // It gives one row, after longer than this test may take.
            let sql = "with recursive c(n) as (select 1 union all select n + 1 from c where n < 1e12) select count(*) as n from c";
            let error = database.rows(sql, None).unwrap_err();
            assert!(format!("{error:#}").contains("interrupted"), "{error:#}");
            // The next one is another's.
            assert_eq!(database.rows("select 1 as n", None).unwrap().len(), 1);
        });
    }

    #[test]
    #[ignore = "asks the server in TAMTAM_MYSQL_URL"]
    fn mysql_ends_a_query_whose_rows_are_no_longer_wanted() {
        tamtam_testing::within(Duration::from_secs(120), || {
            let url = std::env::var("TAMTAM_MYSQL_URL").expect("TAMTAM_MYSQL_URL");
            let url = Url::parse(&url).unwrap();
            let mark = format!("mark_of_{}", std::process::id());
            // It works for longer than this test may take, and does not look at its connection meanwhile.
            let sql = format!("SELECT BENCHMARK(1000000000000, SHA2('x', 512)) AS n /* {mark} */");
            let (tell, told) = mpsc::channel();
            let of_query = url.clone();
            let query = thread::spawn(move || {
                let mut database = Database::open(&of_query).unwrap();
                tell.send(database.interrupt()).unwrap();
                database.stream(&sql, None, &mut NoRows)
            });
            let mut other = Database::open(&url).unwrap();
            let interrupt = told.recv().unwrap();
            while at_work(&mut other, &mark) == 0 {
                thread::yield_now();
            }
            interrupt.interrupt();
            let error = query.join().unwrap().unwrap_err();
            assert_eq!(error.to_string(), "the query was ended");
            while at_work(&mut other, &mark) > 0 {
                thread::yield_now();
            }
        });
    }
}
