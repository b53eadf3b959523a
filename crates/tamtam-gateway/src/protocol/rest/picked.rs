//! A range of rows out of a table that comes part by part.

use tamtam_rows::Rows;

use super::RowRange;
use crate::row_stream::{check_size, range_too_large};
use crate::table_form::TableForm;
use crate::{Fault, FaultKind, RowStream};

/// Rows of a range.
#[derive(Debug)]
pub(crate) struct Picked {
    pub(crate) rows: Rows,
    /// The number of rows of the table before them.
    pub(crate) before: usize,
    /// The number of rows of the whole table, where it is known.
    pub(crate) total: Option<usize>,
}

/// The rows of a range. What is not among them is not kept; and if what was looked at takes more than
/// [`MOST_GATHERED_BYTES`](RowStream::MOST_GATHERED_BYTES) when the range is over, the source is stopped, and how many rows there are in all
/// is not known.
///
/// The range is gathered, as which of its rows there are stands before the first of them.
///
/// # Errors
/// If the source fails or takes too long, or the range takes more than that, or is known to have more in the form in which it goes.
pub(crate) async fn pick(
    stream: RowStream,
    range: RowRange,
    form: TableForm,
) -> Result<Picked, Fault> {
    let mut kept = Rows::empty(stream.schema().clone());
    let mut parts = stream.start()?;
    let (mut seen, mut looked_at) = (0, 0);
    let total = loop {
        let Some(part) = parts.next().await? else {
            break Some(seen);
        };
        let wanted = range.within(seen, part.len());
        seen += part.len();
        looked_at += part.memory();
        kept.append(&part.part(wanted))
            .map_err(|error| Fault::of(FaultKind::NotCarried, error.to_string()))?;
        if let RowRange::Last(count) = range
            && kept.len() / 2 > count
        {
            kept = last_of(&kept, count);
        }
        check_size(&kept, form, range_too_large)?;
        if range.ends_before(seen) && looked_at > RowStream::MOST_GATHERED_BYTES {
            break None;
        }
    };
    let (rows, before) = match range {
        RowRange::From(first, _) => (kept, first),
        RowRange::Last(count) => {
            let rows = last_of(&kept, count);
            let before = seen - rows.len();
            (rows, before)
        }
    };
    Ok(Picked {
        rows,
        before,
        total,
    })
}

fn last_of(rows: &Rows, count: usize) -> Rows {
    rows.part(rows.len().saturating_sub(count)..rows.len())
}
