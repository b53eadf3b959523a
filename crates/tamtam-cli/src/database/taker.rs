//! What takes the rows of a query.

use anyhow::Result;
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
}
