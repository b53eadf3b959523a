//! What all forms of a table have in common.

use crate::{DecodeError, EncodeError, Limits, Rows, Schema};

/// A form that a table can take as bytes.
pub trait Encoding: Send + Sync {
    /// Its name: lower case, words joined by a hyphen.
    fn name(&self) -> &'static str;

    /// Whether the bytes say of themselves what the columns are called and of which types they are. Those that do not
    /// are decoded with the schema that [`decode`](Encoding::decode) is given.
    fn describes_itself(&self) -> bool;

    /// Writes a table behind what is in `out`.
    ///
    /// # Errors
    /// If the form cannot carry the table; what is in `out` behind its former end is then of no use.
    fn encode(&self, rows: &Rows, out: &mut Vec<u8>) -> Result<(), EncodeError>;

    /// The table in these bytes. A schema, where given, is what the table must have.
    ///
    /// # Errors
    /// If the bytes are damaged, exceed the limits, or hold another table; and
    /// [`DecodeError::NeedsSchema`] if none is given and the form needs one.
    fn decode(
        &self,
        bytes: &[u8],
        schema: Option<&Schema>,
        limits: &Limits,
    ) -> Result<Rows, DecodeError>;
}
