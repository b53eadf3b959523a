//! Whether the table that arrived is the one that was sent.

use tamtam_rows::Rows;

use crate::Failure;

/// Whether the table that arrived is the one that was sent.
pub(super) fn check(arrived: &Rows, sent: &Rows) -> Result<(), Failure> {
    if arrived == sent {
        return Ok(());
    }
    Err(Failure::Unverified(difference(arrived, sent)))
}

/// Where the two tables first differ, in words.
fn difference(arrived: &Rows, sent: &Rows) -> String {
    if arrived.len() != sent.len() {
        return format!("{} rows arrived of {}", arrived.len(), sent.len());
    }
    if arrived.schema() != sent.schema() {
        return "the table arrived with other columns".to_owned();
    }
    for row in 0..sent.len() {
        for (column, field) in sent.schema().fields().iter().enumerate() {
            let (here, there) = (arrived.value(row, column), sent.value(row, column));
            if here != there {
                return format!(
                    "the value in column {}, row {row} arrived as {here:?} instead of {there:?}",
                    field.name()
                );
            }
        }
    }
    "a value that is null, or the sign of a zero, arrived as another one".to_owned()
}
