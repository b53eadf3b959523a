//! A table as objects, where a protocol has no tables of its own.

use tamtam_rows::{Kind, Rows, Unit, Value as CellValue};

use crate::json::not_carried;
use crate::{Fault, Object, Value};

/// Milliseconds of a day.
const DAY: f64 = 86_400_000.0;

/// The rows as objects without a class, each when it is asked for. Days and points in time are dates.
///
/// # Errors
/// If a value cannot be read, which no table of ours has.
pub(crate) fn objects_of(rows: &Rows) -> impl Iterator<Item = Result<Object, Fault>> + '_ {
    let dates: Vec<(usize, f64)> = rows
        .schema()
        .fields()
        .iter()
        .enumerate()
        .filter_map(|(column, field)| {
            let milliseconds = match field.kind() {
                Kind::Date => DAY,
                Kind::Timestamp(unit, _) => 1_000.0 / unit_count(*unit),
                _ => return None,
            };
            Some((column, milliseconds))
        })
        .collect();
    let read = rows.deserialize::<Value>().enumerate();
    read.map(move |(row, value)| {
        let Value::Map(mut members) = value.map_err(not_carried)? else {
            return Err(not_carried("a row has no names"));
        };
        for &(column, milliseconds) in &dates {
            let count = match rows.value(row, column) {
                CellValue::Date(days) => f64::from(days),
                CellValue::Timestamp(count) => count as f64,
                _ => continue,
            };
            if let Some((_, value)) = members.get_mut(column) {
                *value = Value::Date(count * milliseconds);
            }
        }
        Ok(Object {
            sealed: members.len(),
            members,
            ..Object::default()
        })
    })
}

fn unit_count(unit: Unit) -> f64 {
    unit.per_second() as f64
}
