//! What takes the rows of a query.

use anyhow::Result;
#[cfg(feature = "databases")]
use tamtam_rows::database::ReadTimes;
use tamtam_rows::{Rows, Schema};

/// What takes the rows of a query.
pub trait Taker: Send {
    /// The columns, before any row.
    ///
    /// # Errors
    /// Ends the query.
    fn begin(&mut self, schema: &Schema) -> Result<()>;

    /// The next rows.
    ///
    /// # Errors
    /// Ends the query.
    fn take(&mut self, part: Rows) -> Result<()>;

    /// Whether it wants to know how long the rows took: then [`took`](Taker::took) comes before each [`take`](Taker::take).
    #[cfg(feature = "databases")]
    fn is_timed(&self) -> bool {
        false
    }

    /// How long the next part took.
    #[cfg(feature = "databases")]
    fn took(&mut self, _times: ReadTimes) {}
}
