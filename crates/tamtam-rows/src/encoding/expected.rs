//! The check that a self-describing form holds the columns that were asked for.

use crate::{DecodeError, Rows, Schema};

/// The rows, if they are what was asked for.
pub(super) fn expected(
    form: &'static str,
    rows: Rows,
    schema: Option<&Schema>,
) -> Result<Rows, DecodeError> {
    match schema {
        Some(schema) if schema != rows.schema() => Err(DecodeError::Schema {
            form,
            reason: rows.schema().difference(schema),
        }),
        _ => Ok(rows),
    }
}
