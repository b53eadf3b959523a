//! What several of the tests do with a table.

use tamtam_rows::{Encoding, Rows};

/// The table in this form.
pub(crate) fn encoded(form: &dyn Encoding, rows: &Rows) -> Vec<u8> {
    let mut bytes = Vec::new();
    form.encode(rows, &mut bytes).unwrap();
    bytes
}

/// The values of all rows, one row behind the other.
#[cfg(any(feature = "json", feature = "message-pack"))]
pub(crate) fn all_values(rows: &Rows) -> Vec<tamtam_rows::Value<'_>> {
    rows.iter()
        .flat_map(|row| row.values().collect::<Vec<_>>())
        .collect()
}
