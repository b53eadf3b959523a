//! Tables and queries of a database, served as they are.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Result, anyhow, bail};
use tamtam_channel::{Receiver, Sender, bounded};
use tamtam_gateway::{ClientGone, Fault, Gateway, Method, RowSink, RowStream, Service, Work};
use tamtam_rows::database::ReadTimes;
use tamtam_rows::{Rows, Schema};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::arguments::ServeArguments;
use crate::database::{Database, QueryInterrupt, Taker, Url};

/// So many queries of one method have a thread and a connection of the database, those whose clients have left included: one that is
/// still being connected to, or waits for a lock, is not ended by that.
const MOST_QUERIES: usize = 256;

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
    Query::start(&url, &sql, false, None)?.columns_now()?;
    let served = Arc::new(ServedQuery {
        name: format!("{service}.{name}"),
        url,
        sql,
        places: Arc::new(Semaphore::new(MOST_QUERIES)),
    });
    let method = Method::new(name, move |(): ()| Arc::clone(&served).rows());
    Ok(method.safe())
}

/// A query that is served.
struct ServedQuery {
    name: String,
    url: Url,
    sql: String,
    places: Arc<Semaphore>,
}

impl ServedQuery {
    /// Its rows, as they come.
    async fn rows(self: Arc<Self>) -> Result<RowStream, Fault> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        let place = place.map_err(|_| {
            Fault::busy("too many queries of this method have not ended; try again later")
        })?;
        let begun = Query::start(&self.url, &self.sql, Work::is_timed(), Some(place));
        let mut query = begun.map_err(|error| self.failed(&error))?;
        let columns = query.columns().await;
        let schema = columns.map_err(|error| self.failed(&error))?;
        Ok(RowStream::new(schema, move |sink| {
            let runtime = Handle::current();
            loop {
                let part = runtime.block_on(query.part(&sink))?;
                let Some((part, times)) = part.map_err(|error| self.failed(&error))? else {
                    return Ok(());
                };
                Work::Cursor.took(times.cursor);
                Work::Rows.took(times.rows);
                sink.send(part)?;
            }
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

/// Some rows with how long they took, if that is asked for; nothing behind the last ones; or why there are no more.
type QueryPart = Result<Option<(Rows, ReadTimes)>>;

/// A query on a thread of its own. It ends when this is dropped, whatever it waits for, but for its connection, or another's lock on a file of
/// SQLite: these have 20 s each.
struct Query {
    columns: Receiver<Result<Schema>>,
    parts: Receiver<QueryPart>,
    _guard: QueryGuard,
}

impl Query {
    /// Starts it: its columns come, and its rows part by part. Its place is given back when it has ended.
    fn start(
        url: &Url,
        sql: &str,
        is_timed: bool,
        place: Option<OwnedSemaphorePermit>,
    ) -> Result<Query> {
        let (url, sql) = (url.clone(), sql.to_owned());
        Query::of(is_timed, move |progress, forward| {
            // Behind the connection: what is declared first is dropped last.
            let _place = place;
            let mut database = Database::open(&url)?;
            Progress::begin(progress, database.interrupt())?;
            database.stream(&sql, None, forward)
        })
    }

    /// One whose rows this gives away.
    fn of(
        is_timed: bool,
        give: impl FnOnce(&Mutex<Progress>, &mut Forward) -> Result<()> + Send + 'static,
    ) -> Result<Query> {
        let (columns, begun) = bounded(1);
        // A part is handed over when it is wanted.
        let (parts, taken) = bounded(0);
        let guard = QueryGuard::default();
        let progress = Arc::clone(&guard.0);
        thread::Builder::new().name("query".into()).spawn(move || {
            let mut forward = Forward {
                columns,
                parts,
                is_begun: false,
                is_timed,
                times: ReadTimes::default(),
            };
            let given = give(&progress, &mut forward);
            // A receiver that has gone has ended the query itself.
            match given {
                Err(error) if !forward.is_begun => drop(forward.columns.send(Err(error))),
                // That it was all is said, so that a thread that panics does not say it.
                given => drop(forward.parts.send(given.map(|()| None))),
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

    /// The next rows.
    ///
    /// # Errors
    /// If the client has gone before they came.
    async fn part(&mut self, sink: &RowSink) -> Result<QueryPart, ClientGone> {
        tokio::select! {
            part = self.next_part() => Ok(part),
            () = sink.closed() => Err(ClientGone),
        }
    }

    async fn next_part(&mut self) -> QueryPart {
        let part = self.parts.recv_async().await;
        part.unwrap_or_else(|_| Err(anyhow!("the query broke off")))
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
            .send(Ok(Some((part, std::mem::take(&mut self.times)))))
            .map_err(|_| anyhow!("the client has gone"))
    }

    fn is_timed(&self) -> bool {
        self.is_timed
    }

    fn took(&mut self, times: ReadTimes) {
        self.times = times;
    }
}

#[cfg(test)]
mod tests {
    use tamtam_rows::{Column, Field, Kind};

    use super::*;

    /// A query that gives one row, and then does this.
    fn query_of_one(then: impl FnOnce() -> Result<()> + Send + 'static) -> Query {
        let query = Query::of(false, |_, forward| {
            let schema = Schema::new([Field::new("n", Kind::U8)])?;
            forward.begin(&schema)?;
            forward.take(Rows::new(schema, [Column::from(vec![7_u8])])?)?;
            then()
        });
        query.unwrap()
    }

    #[test]
    fn a_query_whose_thread_panics_has_no_end_in_order() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut whole = query_of_one(|| Ok(()));
            whole.columns().await.unwrap();
            assert!(whole.next_part().await.unwrap().is_some());
            assert!(whole.next_part().await.unwrap().is_none());

            let mut broken = query_of_one(|| panic!("of the test"));
            broken.columns().await.unwrap();
            assert!(broken.next_part().await.unwrap().is_some());
            let error = broken.next_part().await.unwrap_err().to_string();
            assert_eq!(error, "the query broke off");
        });
    }
}
