//! What a method gives back, whatever protocol carries it.

use std::fmt;

use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use tamtam_rows::Rows;

use crate::exchange::{self, Source};
use crate::table_form::TableForm;
use crate::value::ClassNames;
use crate::{CachedRows, Fault, RowStream, Typed, Value};

/// What a method gives back, before a protocol writes it.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Answer, IntoAnswer, Value};
///
/// // What serde writes is not written before the protocol is known.
/// assert!(matches!(vec![1, 2].into_answer(), Answer::Typed(_)));
/// assert!(matches!(Value::Int(1).into_answer(), Answer::Value(Value::Int(1))));
/// ```
#[non_exhaustive]
pub enum Answer {
    /// A table, which each protocol writes in a form for tables.
    Rows(Rows),
    /// A table that many calls get.
    Cached(CachedRows),
    /// A table that comes part by part.
    Stream(RowStream),
    /// A value.
    Value(Value),
    /// What serde writes: JSON without a step between.
    Typed(Typed),
}

impl Answer {
    /// The answer as a value, for protocols that do not write it directly. A table that comes part by part is gathered,
    /// up to as many bytes in memory as [`RowStream::MOST_GATHERED_BYTES`]; what is made of it may be larger.
    ///
    /// # Errors
    /// If serde writes what no protocol carries, the table is too large, or its source fails.
    pub async fn into_value(self) -> Result<Value, Fault> {
        match self {
            Answer::Value(value) => Ok(value),
            Answer::Rows(rows) => Ok(rows.into()),
            Answer::Cached(table) => Ok(table.rows().clone().into()),
            Answer::Stream(stream) => Ok(stream.gather(TableForm::Columns).await?.into()),
            Answer::Typed(typed) => known(typed.to_value()?),
        }
    }

    /// The same; a struct of a class is an object of it, and a table is gathered for a form in which each row is an object in memory.
    pub(crate) async fn into_objects(self, classes: &ClassNames) -> Result<Value, Fault> {
        match self {
            Answer::Typed(typed) => known(typed.to_objects(classes)?),
            Answer::Stream(stream) => Ok(stream.gather(TableForm::Tree).await?.into()),
            other => other.into_value().await,
        }
    }
}

/// What serde has written, which is looked at where the answer is.
fn known(value: Value) -> Result<Value, Fault> {
    exchange::known(|| Source::Value(value.clone()));
    Ok(value)
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Rows(rows) => write!(f, "Answer({} rows)", rows.len()),
            Answer::Cached(table) => write!(f, "Answer({} rows, kept)", table.rows().len()),
            Answer::Stream(_) => f.write_str("Answer(rows, part by part)"),
            Answer::Value(value) => write!(f, "Answer({value:?})"),
            Answer::Typed(_) => f.write_str("Answer(of serde)"),
        }
    }
}

/// What a handler may give back: what serde writes, a [`Value`], a table ([`Rows`]), one that many calls get
/// ([`CachedRows`]), or one that comes part by part ([`RowStream`]).
///
/// `Way` tells these apart for the compiler; it is never written.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Fault, Method, Value};
///
/// let typed = Method::blocking("typed", |(): ()| Ok::<Vec<u8>, Fault>(vec![1, 2]));
/// let value = Method::blocking("value", |(): ()| Ok::<Value, Fault>(Value::Date(0.0)));
/// # drop((typed, value));
/// ```
pub trait IntoAnswer<Way>: Send + 'static {
    /// The answer.
    fn into_answer(self) -> Answer;

    /// The type of it, in JSON Schema.
    fn schema(generator: &mut SchemaGenerator) -> schemars::Schema;
}

/// The way of what serde writes.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{BySerde, IntoAnswer};
///
/// fn written_by_serde(_: &impl IntoAnswer<BySerde>) {}
/// written_by_serde(&"a text");
/// ```
#[derive(Debug)]
pub struct BySerde;

/// The way of what a protocol gets as it is.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{AsItIs, IntoAnswer, Value};
///
/// fn taken_as_it_is(_: &impl IntoAnswer<AsItIs>) {}
/// taken_as_it_is(&Value::Undefined);
/// ```
#[derive(Debug)]
pub struct AsItIs;

impl<T: Serialize + JsonSchema + Send + 'static> IntoAnswer<BySerde> for T {
    fn into_answer(self) -> Answer {
        Answer::Typed(Typed::new(self))
    }

    fn schema(generator: &mut SchemaGenerator) -> schemars::Schema {
        generator.subschema_for::<T>()
    }
}

impl IntoAnswer<AsItIs> for Rows {
    fn into_answer(self) -> Answer {
        Answer::Rows(self)
    }

    fn schema(_: &mut SchemaGenerator) -> schemars::Schema {
        table_schema()
    }
}

impl IntoAnswer<AsItIs> for CachedRows {
    fn into_answer(self) -> Answer {
        Answer::Cached(self)
    }

    fn schema(_: &mut SchemaGenerator) -> schemars::Schema {
        table_schema()
    }
}

impl IntoAnswer<AsItIs> for RowStream {
    fn into_answer(self) -> Answer {
        Answer::Stream(self)
    }

    fn schema(_: &mut SchemaGenerator) -> schemars::Schema {
        table_schema()
    }
}

impl IntoAnswer<AsItIs> for Value {
    fn into_answer(self) -> Answer {
        Answer::Value(self)
    }

    fn schema(generator: &mut SchemaGenerator) -> schemars::Schema {
        generator.subschema_for::<Value>()
    }
}

fn table_schema() -> schemars::Schema {
    schemars::json_schema!({
        "type": "array",
        "items": { "type": "object" },
        "description": "A table: rows with their columns by name."
    })
}
