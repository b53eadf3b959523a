//! The parts of a query handed to a function, one after the other.

use std::sync::mpsc::sync_channel;
use std::thread;

use thiserror::Error;

use super::SqliteCursor;
use crate::Rows;
use crate::database::DatabaseError;

/// Why rows did not get from the database to where they were to go.
///
/// # Examples
///
/// ```
/// use std::io;
/// use tamtam_rows::database::{SqliteCursor, StreamError};
///
/// let connection = rusqlite::Connection::open_in_memory()?;
/// let mut statement = connection.prepare("select 1 as n")?;
/// let full = |_| Err(io::Error::from(io::ErrorKind::StorageFull));
/// match SqliteCursor::open(&mut statement, [])?.hand_over(full) {
///     Err(StreamError::Sink(error)) => assert_eq!(error.kind(), io::ErrorKind::StorageFull),
///     other => panic!("{:?}", other.map(drop)),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Error)]
pub enum StreamError<E> {
    /// They did not come out.
    #[error("the rows could not be read")]
    Database(#[source] DatabaseError),
    /// What takes them failed.
    #[error("the rows could not be passed on")]
    Sink(#[source] E),
}

impl SqliteCursor<'_> {
    /// Gives each part to a sink, which works on a thread of its own while this one reads the next. Returns how many
    /// rows there were.
    ///
    /// At most three parts are in memory: the one being read, one that waits, and the sink's.
    ///
    /// # Blocking
    /// Until the last part is through.
    ///
    /// # Panics
    /// If the sink does.
    ///
    /// # Errors
    /// The first that occurs on either side; the other one ends then, too.
    ///
    /// # Examples
    /// ```
    /// use tamtam_rows::database::SqliteCursor;
    ///
    /// let connection = rusqlite::Connection::open_in_memory()?;
    /// connection.execute_batch("create table numbers (n int)")?;
    /// let mut insert = connection.prepare("insert into numbers values (?)")?;
    /// for n in 0..100 {
    ///     insert.execute([n])?;
    /// }
    /// let mut statement = connection.prepare("select n from numbers")?;
    /// let mut parts = Vec::new();
    /// let rows = SqliteCursor::open(&mut statement, [])?
    ///     .part_rows(30)
    ///     .hand_over(|part| Ok::<_, std::io::Error>(parts.push(part.len())))?;
    ///
    /// assert_eq!((rows, parts), (100, vec![30, 30, 30, 10]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hand_over<E: Send>(
        mut self,
        mut sink: impl FnMut(Rows) -> Result<(), E> + Send,
    ) -> Result<u64, StreamError<E>> {
        thread::scope(|scope| {
            let (sender, receiver) = sync_channel::<Rows>(1);
            let sinking = scope.spawn(move || receiver.into_iter().try_for_each(&mut sink));
            let mut rows = 0;
            let read = loop {
                match self.next_part() {
                    Ok(Some(part)) => {
                        rows += part.len() as u64;
                        // A sink that failed has hung up.
                        if sender.send(part).is_err() {
                            break Ok(rows);
                        }
                    }
                    Ok(None) => break Ok(rows),
                    Err(error) => break Err(error),
                }
            };
            drop(sender);
            match sinking.join() {
                Ok(Ok(())) => read.map_err(StreamError::Database),
                Ok(Err(error)) => Err(StreamError::Sink(error)),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }
}
