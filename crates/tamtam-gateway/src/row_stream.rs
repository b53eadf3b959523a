//! A table that comes part by part, no faster than its reader takes it.

use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use tamtam_rows::{Rows, Schema};
use thiserror::Error;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::time::timeout_at;
use tracing::Span;

use crate::exchange::{self, Step};
use crate::stream_head::StreamHead;
use crate::table_form::{MOST_BYTES, TableForm};
use crate::{Fault, FaultKind};

/// How many parts may be ready and not yet taken.
const MOST_PARTS_READY: usize = 1;

/// A table that comes part by part: what a database's cursor gives, sent while it is read.
///
/// The source runs on a thread of its own, which has the runtime at hand as a blocking handler has. It waits when the client does not take
/// what is there, and is told when the client has gone; so a table larger than memory passes.
///
/// [`Limits::time`](crate::Limits::time) bounds the call until its first rows are there, and where all of them have to be gathered until
/// the last ones are. A source that may wait for long, as a query does for a lock, watches [`RowSink::closed`] beside that. Where 256 sources of a
/// method have not ended, those whose clients have gone included, the next caller is told that the server is busy.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Fault, RowStream, Service};
/// use tamtam_rows::{Field, Kind, Rows, Schema, Column};
///
/// let numbers = |(count,): (u32,)| -> Result<RowStream, Fault> {
///     let schema = Schema::new([Field::new("n", Kind::U32)]).map_err(|_| Fault::new("Numbers", "no table"))?;
///     Ok(RowStream::new(schema.clone(), move |sink| {
///         for first in (0..count).step_by(1000) {
///             let part: Vec<u32> = (first..count.min(first + 1000)).collect();
///             let rows = Rows::new(schema.clone(), [Column::from(part)]);
///             sink.send(rows.map_err(|error| Fault::new("Numbers", error.to_string()))?)?;
///         }
///         Ok(())
///     }))
/// };
/// let service = Service::new("Numbers").blocking("count", numbers);
/// # drop(service);
/// ```
pub struct RowStream {
    schema: Schema,
    source: Source,
    /// By when the first part has to be there, and all of them where they are gathered.
    pub(crate) deadline: Option<Instant>,
    /// Of the call that gives it: its source is in that, too.
    pub(crate) span: Span,
    /// Among the sources of its method, which this counts with until its thread ends.
    pub(crate) place: Option<OwnedSemaphorePermit>,
}

type Source = Box<dyn FnOnce(RowSink) -> Result<(), Fault> + Send>;

impl RowStream {
    /// How many bytes a table may take that has to be gathered, since its protocol cannot send it in parts: its columns in memory, and what is
    /// written of them. A table of many short rows is larger as text than in memory. As objects of Flex it may take twice as many in memory, which go
    /// as a few of them.
    pub const MOST_GATHERED_BYTES: usize = MOST_BYTES;

    /// A table with these columns, whose parts the source sends.
    pub fn new(
        schema: Schema,
        source: impl FnOnce(RowSink) -> Result<(), Fault> + Send + 'static,
    ) -> RowStream {
        RowStream {
            schema,
            source: Box::new(source),
            deadline: None,
            span: Span::none(),
            place: None,
        }
    }

    /// The columns.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Starts the source, on a thread that is no other's: it waits for its client, and the threads on which the runtime's blocking work is done
    /// are those that write, compress and decompress for all clients. As many sources as there are such threads would end that.
    ///
    /// # Errors
    /// If the system has no thread.
    pub(crate) fn start(self) -> Result<Parts, Fault> {
        let (parts, taken) = mpsc::channel(MOST_PARTS_READY);
        let (end, ended) = oneshot::channel();
        let (source, span, place) = (self.source, self.span, self.place);
        let runtime = Handle::current();
        let run = exchange::belonging(move || {
            let _entered = (runtime.enter(), span.enter());
            let _place = place;
            // A receiver that has gone wants to know nothing more.
            let _ = end.send(source(RowSink { parts }));
        });
        let spawned = thread::Builder::new().name("rows".into()).spawn(run);
        spawned.map_err(|error| {
            tracing::error!(%error, "the source of rows has no thread");
            Fault::busy("the server has too much to do; try again later")
        })?;
        Ok(Parts {
            schema: self.schema,
            taken,
            ended: Some(ended),
            deadline: self.deadline,
            head: None,
        })
    }

    /// All of it as one table, which goes in this form.
    ///
    /// # Errors
    /// If the source fails or takes too long, or the table takes more than [`MOST_GATHERED_BYTES`](RowStream::MOST_GATHERED_BYTES), or is known to
    /// have more in this form.
    pub(crate) async fn gather(self, form: TableForm) -> Result<Rows, Fault> {
        let mut all = Rows::empty(self.schema.clone());
        let mut parts = self.start()?;
        while let Some(part) = parts.next().await? {
            all.append(&part)
                .map_err(|error| Fault::of(FaultKind::NotCarried, error.to_string()))?;
            check_size(&all, form, table_too_large)?;
        }
        exchange::known(|| exchange::Source::of_table(&all));
        Ok(all)
    }
}

/// What is told where so many rows have more bytes than all of them may.
pub(crate) type TooLarge = fn(TableForm, usize) -> Fault;

/// Whether rows that are gathered may take so much memory, and what they have in the form in which they go.
///
/// # Errors
/// If they take more, by [`MOST_GATHERED_BYTES`](RowStream::MOST_GATHERED_BYTES), or are known to have more.
pub(crate) fn check_size(
    gathered: &Rows,
    form: TableForm,
    too_large: TooLarge,
) -> Result<(), Fault> {
    if gathered.memory() > RowStream::MOST_GATHERED_BYTES {
        return Err(too_large(TableForm::Columns, gathered.len()));
    }
    if form.least_bytes(gathered) > form.most_bytes() {
        return Err(too_large(form, gathered.len()));
    }
    Ok(())
}

/// What is told of a table that has too many bytes where it goes as a whole.
pub(crate) fn table_too_large(form: TableForm, rows: usize) -> Fault {
    let (most, words) = (form.most_bytes() >> 20, form.words());
    let reason = format!(
        "the table has more than {most} MiB {words}, where it has to be there as a whole: {rows} of its rows do; ask for it by URL, which sends it \
         part by part in every form but MessagePack, or for a range of its rows"
    );
    Fault::of(FaultKind::NotCarried, reason)
}

/// What is told of a range of rows that has too many bytes.
pub(crate) fn range_too_large(form: TableForm, rows: usize) -> Fault {
    let (most, words) = (form.most_bytes() >> 20, form.words());
    let reason = format!(
        "the range of rows has more than {most} MiB {words}: {rows} of them do; ask for a shorter one, or for the whole table, which comes part by part"
    );
    Fault::of(FaultKind::NotCarried, reason)
}

/// Writes rows by some at a time, so that those that have too many bytes are not written to their end: `write` puts some of them behind what is
/// there.
///
/// # Errors
/// If they have more bytes than the form may have, or cannot be written.
pub(crate) fn write_gathered(
    rows: &Rows,
    form: TableForm,
    too_large: TooLarge,
    out: &mut Vec<u8>,
    mut write: impl FnMut(&Rows, &mut Vec<u8>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let before = out.len();
    let of_row = (rows.memory() / rows.len().max(1)).max(1);
    let at_a_time = (WRITTEN_BYTES / of_row).clamp(1, WRITTEN_ROWS);
    let mut first = 0;
    while first < rows.len() {
        let last = rows.len().min(first + at_a_time);
        if last - first == rows.len() {
            write(rows, out)?;
        } else {
            write(&rows.part(first..last), out)?;
        }
        if out.len() - before > form.most_bytes() {
            return Err(too_large(form, last));
        }
        first = last;
    }
    Ok(())
}

/// How many rows are written at a time, and how many bytes in memory these take about.
const WRITTEN_ROWS: usize = 4_096;
const WRITTEN_BYTES: usize = 256 << 10;

impl fmt::Debug for RowStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RowStream({} columns)", self.schema.len())
    }
}

/// Takes the parts of a table from its source.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Fault, RowSink};
/// use tamtam_rows::Rows;
///
/// /// Sends one table after the other, until the client has gone.
/// fn send_all(tables: Vec<Rows>, sink: RowSink) -> Result<(), Fault> {
///     for table in tables {
///         sink.send(table)?;
///     }
///     Ok(())
/// }
/// # let _ = send_all;
/// ```
#[derive(Debug)]
pub struct RowSink {
    parts: mpsc::Sender<Rows>,
}

impl RowSink {
    /// Sends a part, and waits until there is room for it.
    ///
    /// # Errors
    /// If the client has gone. The source ends then.
    pub fn send(&self, part: Rows) -> Result<(), ClientGone> {
        self.parts.blocking_send(part).map_err(|_| ClientGone)
    }

    /// Whether the client has gone.
    pub fn is_closed(&self) -> bool {
        self.parts.is_closed()
    }

    /// Ready when the client has gone, or there is no time left for its rows. A source that waits for something else for long waits for this,
    /// too; it has a thread of its own, and the runtime at hand.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_gateway::{ClientGone, Fault, RowSink};
    /// use tamtam_rows::Rows;
    /// use tokio::runtime::Handle;
    /// use tokio::sync::mpsc;
    ///
    /// /// Sends what another task finds, until the client has gone; the task finds out by the end of its channel.
    /// fn send_found(mut found: mpsc::Receiver<Rows>, sink: RowSink) -> Result<(), Fault> {
    ///     let next = async |found: &mut mpsc::Receiver<Rows>| {
    ///         tokio::select! {
    ///             rows = found.recv() => Ok(rows),
    ///             () = sink.closed() => Err(ClientGone),
    ///         }
    ///     };
    ///     while let Some(rows) = Handle::current().block_on(next(&mut found))? {
    ///         sink.send(rows)?;
    ///     }
    ///     Ok(())
    /// }
    /// # let _ = send_found;
    /// ```
    pub async fn closed(&self) {
        self.parts.closed().await;
    }
}

/// The client that wanted the rows has gone: nothing is left to do.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{ClientGone, Fault, FaultKind};
///
/// assert_eq!(Fault::from(ClientGone).kind(), FaultKind::Unavailable);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the client has gone; end the query")]
pub struct ClientGone;

impl From<ClientGone> for Fault {
    fn from(gone: ClientGone) -> Fault {
        Fault::of(FaultKind::Unavailable, gone.to_string())
    }
}

/// The parts of a table that has begun.
pub(crate) struct Parts {
    pub(crate) schema: Schema,
    taken: mpsc::Receiver<Rows>,
    ended: Option<oneshot::Receiver<Result<(), Fault>>>,
    /// By when the next part has to be there, or the end.
    pub(crate) deadline: Option<Instant>,
    /// Keeps the first rows, where they are looked at.
    head: Option<Arc<StreamHead>>,
}

impl Parts {
    /// What keeps the first rows, if these are to be looked at when the table has gone. Asked for before the first part.
    pub(crate) fn head(&mut self) -> Option<Arc<StreamHead>> {
        self.head = exchange::stream_head();
        self.head.clone()
    }

    /// Whether a part is there that need not be waited for.
    pub(crate) fn is_at_hand(&self) -> bool {
        !self.taken.is_empty()
    }

    /// The next part; nothing behind the last one. A task that stops waiting for it loses nothing, and may wait again.
    ///
    /// # Errors
    /// If the source failed, or it is too late.
    pub(crate) async fn next(&mut self) -> Result<Option<Rows>, Fault> {
        // The method is at work until its last row is there.
        let begun = exchange::begin();
        let part = match self.deadline {
            Some(deadline) => timeout_at(deadline.into(), self.wait())
                .await
                .unwrap_or_else(|_| Err(Fault::timed_out())),
            None => self.wait().await,
        };
        exchange::end(Step::Call, begun);
        if let (Some(head), Ok(Some(part))) = (&self.head, &part) {
            head.take(part);
        }
        part
    }

    async fn wait(&mut self) -> Result<Option<Rows>, Fault> {
        if let Some(part) = self.taken.recv().await {
            return Ok(Some(part));
        }
        let Some(ended) = &mut self.ended else {
            return Ok(None);
        };
        let end = ended.await;
        self.ended = None;
        match end {
            Ok(result) => result.map(|()| None),
            Err(_) => Err(Fault::of(
                FaultKind::Internal,
                "the source of the rows panicked",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc as std_mpsc;

    use futures_util::FutureExt;
    use tamtam_rows::{Field, Kind};

    use super::*;

    #[test]
    fn who_stops_waiting_for_a_part_is_told_how_the_source_ended_all_the_same() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let schema = Schema::new([Field::new("n", Kind::U8)]).unwrap();
            let (end, ended) = std_mpsc::channel::<()>();
            let mut parts = RowStream::new(schema, move |sink| {
                drop(sink);
                ended.recv().unwrap();
                Err(Fault::new("Kit.Broken", "the cursor broke"))
            })
            .start()
            .unwrap();
            while !parts.taken.is_closed() {
                tokio::task::yield_now().await;
            }
            // No part comes any more, and the source has not ended.
            for _ in 0..2 {
                assert!(parts.next().now_or_never().is_none());
            }
            end.send(()).unwrap();
            assert_eq!(parts.next().await.unwrap_err().code(), "Kit.Broken");
            assert_eq!(parts.next().await, Ok(None));
        });
    }
}
