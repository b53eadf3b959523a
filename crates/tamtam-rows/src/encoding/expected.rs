use crate::{DecodeError, Rows, Schema};

/// The rows, if they are what was asked for.
pub(super) fn expected(
    form: &'static str,
    rows: Rows,
    schema: Option<&Schema>,
) -> Result<Rows, DecodeError> {
    match schema.and_then(|schema| difference(rows.schema(), schema)) {
        None => Ok(rows),
        Some(reason) => Err(DecodeError::Schema { form, reason }),
    }
}

fn difference(found: &Schema, asked: &Schema) -> Option<String> {
    if found.len() != asked.len() {
        return Some(format!("{} columns, not {}", found.len(), asked.len()));
    }
    let mut pairs = found.fields().iter().zip(asked.fields()).enumerate();
    let (index, (found, asked)) = pairs.find(|(_, (found, asked))| found != asked)?;
    let may = |nullable| if nullable { "may" } else { "may not" };
    Some(if found.name() != asked.name() {
        format!(
            "column {index} is called {:?}, not {:?}",
            found.name(),
            asked.name()
        )
    } else if found.kind() != asked.kind() {
        format!(
            "the column {:?} is of type {}, not {}",
            found.name(),
            found.kind(),
            asked.kind()
        )
    } else {
        format!(
            "the column {:?} {} hold nulls, where it {} by the schema that was asked for",
            found.name(),
            may(found.is_nullable()),
            may(asked.is_nullable())
        )
    })
}
