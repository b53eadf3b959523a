//! JSON: values from outside, within limits, and answers without a step between.

use serde::de::DeserializeSeed;
use tamtam_rows::encoding::JsonObjects;
use tamtam_rows::{Encoding, Rows};

use crate::content_type::ContentType;
pub(crate) use crate::fault::not_carried;
use crate::row_stream::{TooLarge, table_too_large, write_gathered};
use crate::table_form::TableForm;
use crate::value::{Budget, View, Within};
use crate::{Answer, Fault, FaultKind, Limits, Value};

/// The value in a text.
///
/// # Errors
/// If it is no JSON, or exceeds the limits.
pub(crate) fn read(bytes: &[u8], limits: &Limits) -> Result<Value, Fault> {
    read_within(bytes, limits, |within, source| within.deserialize(source))
}

/// A text on its way into values.
pub(crate) type Source<'de> = serde_json::Deserializer<serde_json::de::StrRead<'de>>;

/// What is made of a text, within the limits.
///
/// # Errors
/// If it is refused, it is no JSON, or it exceeds the limits.
pub(crate) fn read_within<'de, T>(
    bytes: &'de [u8],
    limits: &Limits,
    make: impl FnOnce(Within<'_>, &mut Source<'de>) -> serde_json::Result<T>,
) -> Result<T, Fault> {
    // Once, and not each text in it.
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let reason = format!("the request is no JSON: {error}");
        Fault::of(FaultKind::Malformed, reason)
    })?;
    let budget = Budget::new(limits.values, limits.depth);
    let mut source = serde_json::Deserializer::from_str(text);
    let within = Within {
        budget: &budget,
        depth: 0,
    };
    let value = make(within, &mut source).and_then(|value| source.end().map(|()| value));
    value.map_err(|error| match budget.exceeded() {
        Some(reason) => Fault::of(FaultKind::TooLarge, reason),
        None => Fault::of(
            FaultKind::Malformed,
            format!("the request is no JSON: {error}"),
        ),
    })
}

/// Writes an answer behind what is in `out`. A table is an array of objects.
///
/// # Errors
/// If JSON cannot carry it; `out` is then as it was.
pub(crate) async fn write_answer(answer: Answer, out: &mut Vec<u8>) -> Result<(), Fault> {
    let before = out.len();
    let written = match answer {
        Answer::Typed(typed) => typed.write_json(out),
        Answer::Value(Value::Rows(rows)) => write_rows(&rows, out),
        Answer::Value(value) => write_value(&value, out),
        Answer::Rows(rows) => write_rows(&rows, out),
        Answer::Cached(table) => table.write(ContentType::Json.name(), out, write_rows),
        Answer::Stream(stream) => match stream.gather(TableForm::Json).await {
            Ok(rows) => write_gathered_rows(&rows, table_too_large, out),
            Err(fault) => Err(fault),
        },
    };
    if written.is_err() {
        out.truncate(before);
    }
    written
}

pub(crate) fn write_value(value: &Value, out: &mut Vec<u8>) -> Result<(), Fault> {
    serde_json::to_writer(&mut *out, &View(value)).map_err(not_carried)
}

pub(crate) fn write_rows(rows: &Rows, out: &mut Vec<u8>) -> Result<(), Fault> {
    JsonObjects.encode(rows, out).map_err(not_carried)
}

/// Writes a table that was gathered, as the whole one would be.
///
/// # Errors
/// If JSON cannot carry it, or it has too many bytes.
pub(crate) fn write_gathered_rows(
    rows: &Rows,
    too_large: TooLarge,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    if rows.is_empty() {
        return write_rows(rows, out);
    }
    let before = out.len();
    write_gathered(rows, TableForm::Json, too_large, out, |some, out| {
        let at = out.len();
        write_rows(some, out)?;
        // One array of all: what began a further one divides them.
        if at > before {
            out[at] = b',';
        }
        out.pop();
        Ok(())
    })?;
    out.push(b']');
    Ok(())
}
