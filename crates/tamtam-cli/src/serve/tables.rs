//! Tables and queries of a database, served as they are.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use anyhow::{Result, anyhow, bail};
use tamtam_gateway::{Fault, Gateway, Method, RowStream, Service, Work};
use tamtam_rows::database::ReadTimes;
use tamtam_rows::{Rows, Schema};

use super::arguments::ServeArguments;
use crate::database::{Database, Taker, Url};

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
        service =
            service.with(method(table, url.clone(), sql)?.about(format!("All rows of {table}.")));
    }
    if !arguments.tables.is_empty() {
        gateway = gateway.service(service);
    }
    if let Some(sql) = &arguments.query {
        let rows = method("rows", url, sql.clone())?.about("The rows of the query.");
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
fn method(name: &str, url: Url, sql: String) -> Result<Method> {
    // What is wrong is better said to who starts the server than to each client.
    drop(begin(&url, &sql, false)?);
    let method = Method::blocking(name, move |(): ()| {
        // What the database says stays here: it may name hosts and files.
        let (schema, parts) = begin(&url, &sql, Work::is_timed()).map_err(|_| failed())?;
        Ok(RowStream::new(schema, move |sink| {
            for part in parts {
                let (part, times) = part.map_err(|()| failed())?;
                Work::Cursor.took(times.cursor);
                Work::Rows.took(times.rows);
                sink.send(part)?;
            }
            Ok(())
        }))
    });
    Ok(method.safe())
}

fn failed() -> Fault {
    Fault::new("Tables.Failed", "the rows could not be read")
}

/// Each part with how long it took, if that is asked for.
type QueryParts = Receiver<Result<(Rows, ReadTimes), ()>>;

/// Starts a query on a thread of its own: its columns, and its rows part by part. Once the parts are dropped the query ends.
fn begin(url: &Url, sql: &str, is_timed: bool) -> Result<(Schema, QueryParts)> {
    let (url, sql) = (url.clone(), sql.to_owned());
    let (columns, begun) = sync_channel(1);
    // A part is handed over when it is wanted.
    let (parts, taken) = sync_channel(0);
    thread::Builder::new().name("rows".into()).spawn(move || {
        let mut forward = Forward {
            columns: columns.clone(),
            parts: parts.clone(),
            is_begun: false,
            is_timed,
            times: ReadTimes::default(),
        };
        let streamed =
            Database::open(&url).and_then(|mut database| database.stream(&sql, None, &mut forward));
        if let Err(error) = streamed {
            // A receiver that has gone has ended the query itself.
            if forward.is_begun {
                let _ = parts.send(Err(()));
            } else {
                let _ = columns.send(Err(error));
            }
        }
    })?;
    let schema = begun
        .recv()
        .unwrap_or_else(|_| Err(anyhow!("the query gives no columns")))?;
    Ok((schema, taken))
}

/// Gives the rows of a query to another thread.
struct Forward {
    columns: SyncSender<Result<Schema>>,
    parts: SyncSender<Result<(Rows, ReadTimes), ()>>,
    is_begun: bool,
    is_timed: bool,
    /// Of the next part.
    times: ReadTimes,
}

impl Taker for Forward {
    fn begin(&mut self, schema: &Schema) -> Result<()> {
        self.is_begun = true;
        Ok(self.columns.send(Ok(schema.clone()))?)
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
