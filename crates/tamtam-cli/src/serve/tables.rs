//! Tables and queries of a database, served as they are.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Result, anyhow, bail};
use tamtam_channel::{Receiver, Sender, bounded};
use tamtam_gateway::{ClientGone, Fault, Gateway, Method, RowSink, RowStream, Service, Work};
use tamtam_rows::database::ReadTimes;
use tamtam_rows::{Rows, Schema};
use tokio::runtime::Handle;

use super::arguments::ServeArguments;
use crate::database::{Database, QueryInterrupt, Taker, Url};

/// Adds a service with a method for each table, and one for the query.
///
/// # Errors
/// If the database cannot be opened, or a query fails.
pub(super) fn services(
    mut gateway: Gateway,
    text: &str,
    arguments: &ServeArguments,
) -> Result<Gateway> {
    let url = Url::parse(text)?;
    let mut service = Service::new("Tables").about("Tables of a database.");
    for table in &arguments.tables {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if table.is_empty() || !table.chars().all(is_name) {
            bail!(
                "{table:?} cannot be the name of a method, which is made of letters, digits and _: take --query"
            );
        }
        let sql = format!("SELECT * FROM {}", quoted(&url, table));
        service = service.with(
            method(table, "Tables", url.clone(), sql)?.about(format!("All rows of {table}.")),
        );
    }
    if !arguments.tables.is_empty() {
        gateway = gateway.service(service);
    }
    if let Some(sql) = &arguments.query {
        let rows = method("rows", "Query", url, sql.clone())?.about("The rows of the query.");
        gateway = gateway.service(
            Service::new("Query")
                .about("A query of a database.")
                .with(rows),
        );
    }
    Ok(gateway)
}

/// Each database has signs of its own around names.
fn quoted(url: &Url, name: &str) -> String {
    match url {
        Url::MySql(_) => format!("`{name}`"),
        Url::Sqlite(_) | Url::Postgres(_) => format!("\"{name}\""),
    }
}

/// A method that gives the rows of a query, which is tried first.
fn method(name: &str, service: &str, url: Url, sql: String) -> Result<Method> {
    // What is wrong is better said to the operator than to each client.
    Query::start(&url, &sql, false)?.columns_now()?;
    let served = Arc::new(ServedQuery {
        name: format!("{service}.{name}"),
        url,
        sql,
    });
    let method = Method::new(name, move |(): ()| Arc::clone(&served).rows());
    Ok(method.safe())
}

/// A query that is served.
struct ServedQuery {
    name: String,
    url: Url,
    sql: String,
}

impl ServedQuery {
    /// Its rows, as they come.
    async fn rows(self: Arc<Self>) -> Result<RowStream, Fault> {
        let begun = Query::start(&self.url, &self.sql, Work::is_timed());
        let mut query = begun.map_err(|error| self.failed(&error))?;
        let columns = query.columns().await;
        let schema = columns.map_err(|error| self.failed(&error))?;
        Ok(RowStream::new(schema, move |sink| {
            let runtime = Handle::current();
            while let Some(part) = runtime.block_on(query.part(&sink))? {
                let (part, times) = part.map_err(|error| self.failed(&error))?;
                Work::Cursor.took(times.cursor);
                Work::Rows.took(times.rows);
                sink.send(part)?;
            }
            Ok(())
        }))
    }

    /// What the database says stays here: it may name hosts and files.
    fn failed(&self, error: &anyhow::Error) -> Fault {
        tracing::error!(
            method = self.name,
            error = format!("{error:#}"),
            "the rows could not be read"
        );
        Fault::new("Tables.Failed", "the rows could not be read")
    }
}

/// Some rows with how long they took, if that is asked for, or why there are no more.
type QueryPart = Result<(Rows, ReadTimes)>;

/// A query on a thread of its own. It ends when this is dropped, whatever it waits for.
struct Query {
    columns: Receiver<Result<Schema>>,
    parts: Receiver<QueryPart>,
    _guard: QueryGuard,
}

impl Query {
    /// Starts it: its columns come, and its rows part by part.
    fn start(url: &Url, sql: &str, is_timed: bool) -> Result<Query> {
        let (url, sql) = (url.clone(), sql.to_owned());
        let (columns, begun) = bounded(1);
        // A part is handed over when it is wanted.
        let (parts, taken) = bounded(0);
        let guard = QueryGuard::default();
        let progress = Arc::clone(&guard.0);
        thread::Builder::new().name("query".into()).spawn(move || {
            let mut forward = Forward {
                columns: columns.clone(),
                parts: parts.clone(),
                is_begun: false,
                is_timed,
                times: ReadTimes::default(),
            };
            let streamed = Database::open(&url).and_then(|mut database| {
                Progress::begin(&progress, database.interrupt())?;
                database.stream(&sql, None, &mut forward)
            });
            if let Err(error) = streamed {
                // A receiver that has gone has ended the query itself.
                if forward.is_begun {
                    let _ = parts.send(Err(error));
                } else {
                    let _ = columns.send(Err(error));
                }
            }
        })?;
        Ok(Query {
            columns: begun,
            parts: taken,
            _guard: guard,
        })
    }

    fn columns_now(&self) -> Result<Schema> {
        self.columns.recv().unwrap_or_else(|_| no_columns())
    }

    async fn columns(&mut self) -> Result<Schema> {
        let columns = self.columns.recv_async().await;
        columns.unwrap_or_else(|_| no_columns())
    }

    /// The next rows; nothing behind the last ones.
    ///
    /// # Errors
    /// If the client has gone before they came.
    async fn part(&mut self, sink: &RowSink) -> Result<Option<QueryPart>, ClientGone> {
        tokio::select! {
            part = self.parts.recv_async() => Ok(part.ok()),
            () = sink.closed() => Err(ClientGone),
        }
    }
}

fn no_columns() -> Result<Schema> {
    Err(anyhow!("the query gives no columns"))
}

/// Ends a query when it is dropped.
#[derive(Default)]
struct QueryGuard(Arc<Mutex<Progress>>);

/// How far a query is.
#[derive(Default)]
enum Progress {
    #[default]
    Opening,
    Running(QueryInterrupt),
    /// Its rows are no longer wanted.
    Ended,
}

impl Progress {
    /// The database is open.
    ///
    /// # Errors
    /// If the rows are no longer wanted.
    fn begin(progress: &Mutex<Progress>, interrupt: QueryInterrupt) -> Result<()> {
        let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*progress, Progress::Ended) {
            bail!("the client has gone");
        }
        *progress = Progress::Running(interrupt);
        Ok(())
    }
}

impl Drop for QueryGuard {
    fn drop(&mut self) {
        let mut progress = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Progress::Running(interrupt) = std::mem::replace(&mut *progress, Progress::Ended) {
            interrupt.interrupt();
        }
    }
}

/// Gives the rows of a query to another thread.
struct Forward {
    columns: Sender<Result<Schema>>,
    parts: Sender<QueryPart>,
    is_begun: bool,
    is_timed: bool,
    /// Of the next part.
    times: ReadTimes,
}

impl Taker for Forward {
    fn begin(&mut self, schema: &Schema) -> Result<()> {
        self.is_begun = true;
        let begun = self.columns.send(Ok(schema.clone()));
        begun.map_err(|_| anyhow!("the client has gone"))
    }

    fn take(&mut self, part: Rows) -> Result<()> {
        self.parts
            .send(Ok((part, std::mem::take(&mut self.times))))
            .map_err(|_| anyhow!("the client has gone"))
    }

    fn is_timed(&self) -> bool {
        self.is_timed
    }

    fn took(&mut self, times: ReadTimes) {
        self.times = times;
    }
}
