//! JSON: values from outside, within limits, and answers without a step between.

use serde::de::DeserializeSeed;
use tamtam_rows::encoding::JsonObjects;
use tamtam_rows::{Encoding, Rows};

use crate::content_type::ContentType;
pub(crate) use crate::fault::not_carried;
use crate::heavy_work::{is_large, is_large_anew, written};
use crate::row_stream::{table_too_large, write_gathered};
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
    value.map_err(
        |error| match budget.exceeded().or_else(|| too_deep(&error)) {
            Some(reason) => Fault::of(FaultKind::TooLarge, reason),
            None => Fault::of(
                FaultKind::Malformed,
                format!("the request is no JSON: {error}"),
            ),
        },
    )
}

/// Why a text is refused that lies deeper than the reader of JSON goes, though the limits would let it.
fn too_deep(error: &serde_json::Error) -> Option<&'static str> {
    // It has no kind of its own.
    let is_too_deep = error.is_syntax() && error.to_string().starts_with("recursion limit");
    is_too_deep.then_some("values lie too deep in each other")
}

/// Writes an answer behind what is in `out`. A table is an array of objects, and is written beside the sockets if it is large.
///
/// # Errors
/// If JSON cannot carry it; `out` is then as it was.
pub(crate) async fn write_answer(answer: Answer, out: &mut Vec<u8>) -> Result<(), Fault> {
    let before = out.len();
    let result = match answer {
        Answer::Typed(typed) => typed.write_json(out),
        Answer::Value(Value::Rows(rows)) => write_table(*rows, out).await,
        Answer::Value(value) => write_value(&value, out),
        Answer::Rows(rows) => write_table(rows, out).await,
        Answer::Cached(table) => {
            let form = ContentType::Json.name();
            let is_large = is_large_anew(&table, form, TableForm::Json);
            written(is_large, out, move |out| table.write(form, out, write_rows)).await
        }
        Answer::Stream(stream) => match stream.gather(TableForm::Json).await {
            Ok(rows) => {
                let is_large = is_large(&rows, TableForm::Json);
                written(is_large, out, move |out| write_gathered_rows(&rows, out)).await
            }
            Err(fault) => Err(fault),
        },
    };
    if result.is_err() {
        out.truncate(before);
    }
    result
}

async fn write_table(rows: Rows, out: &mut Vec<u8>) -> Result<(), Fault> {
    let is_large = is_large(&rows, TableForm::Json);
    written(is_large, out, move |out| write_rows(&rows, out)).await
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
fn write_gathered_rows(rows: &Rows, out: &mut Vec<u8>) -> Result<(), Fault> {
    let mut array = ObjectArray::default();
    write_gathered(rows, TableForm::Json, table_too_large, out, |some, out| {
        array.write(some, out)
    })?;
    array.finish(out);
    Ok(())
}

/// One array of objects, written by some of a table's rows at a time.
#[derive(Debug, Default)]
pub(crate) struct ObjectArray {
    /// Objects were written.
    is_begun: bool,
}

impl ObjectArray {
    /// Writes these rows behind those before.
    ///
    /// # Errors
    /// If JSON cannot carry them.
    pub(crate) fn write(&mut self, rows: &Rows, out: &mut Vec<u8>) -> Result<(), Fault> {
        if rows.is_empty() {
            return Ok(());
        }
        let begin = out.len();
        write_rows(rows, out)?;
        // What began an array of their own divides them from those before, and what ended it may not be the end.
        if self.is_begun {
            out[begin] = b',';
        }
        out.pop();
        self.is_begun = true;
        Ok(())
    }

    /// Ends the array.
    pub(crate) fn finish(self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.is_begun { b"]" } else { b"[]" });
    }
}
