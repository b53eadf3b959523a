//! What the three forms of JSON have in common: how values are written and read, and what their errors say.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, SeqAccess, Visitor};

use super::inlet::{Inlet, Refusal};
use super::names::Names;
use crate::{Column, DecodeError, EncodeError, Field, Kind, Values, cell_text};

/// A text in quotes, with what must be escaped escaped.
pub(super) fn write_text(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("a vector takes all that is written");
}

/// A column to be written.
pub(super) struct Outlet<'a> {
    field: &'a Field,
    column: &'a Column,
    style: Style,
}

#[derive(Clone, Copy)]
enum Style {
    /// Truth values and integers.
    Plain,
    /// Floats, which must be finite.
    Real,
    /// Text, which must be escaped.
    Text,
    /// What is written as text and has nothing to escape.
    Quoted,
}

impl<'a> Outlet<'a> {
    pub(super) fn new(field: &'a Field, column: &'a Column) -> Outlet<'a> {
        let style = match field.kind() {
            Kind::F32 | Kind::F64 => Style::Real,
            Kind::Text => Style::Text,
            Kind::Decimal { .. }
            | Kind::Date
            | Kind::Time(_)
            | Kind::Timestamp(..)
            | Kind::Uuid
            | Kind::Bytes => Style::Quoted,
            _ => Style::Plain,
        };
        Outlet {
            field,
            column,
            style,
        }
    }

    /// The value in a row.
    #[inline]
    pub(super) fn write(
        &self,
        form: &'static str,
        row: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        if self.column.is_null(row) {
            out.extend_from_slice(b"null");
            return Ok(());
        }
        let (values, kind) = (self.column.values(), self.field.kind());
        let result = match (self.style, values) {
            (Style::Text, Values::Text(texts)) => {
                write_text(texts.get(row), out);
                Ok(())
            }
            (Style::Real, Values::F32(values)) if !values[row].is_finite() => Err(NOT_FINITE),
            (Style::Real, Values::F64(values)) if !values[row].is_finite() => Err(NOT_FINITE),
            (Style::Quoted, _) => {
                out.push(b'"');
                let result = cell_text::write(values, kind, row, out);
                out.push(b'"');
                result
            }
            _ => cell_text::write(values, kind, row, out),
        };
        result.map_err(|reason| EncodeError::Value {
            form,
            column: self.field.name().to_owned(),
            row,
            reason: reason.to_owned(),
        })
    }
}

const NOT_FINITE: &str = "JSON has no number for infinity or NaN; use null, text, or a binary form";

/// Reads all of the bytes by this seed. What it found wrong beyond JSON itself is in `failure`.
pub(crate) fn read<'de, S: DeserializeSeed<'de, Value = ()>>(
    form: &'static str,
    bytes: &'de [u8],
    failure: &Failure,
    seed: S,
) -> Result<(), DecodeError> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let result = seed
        .deserialize(&mut deserializer)
        .and_then(|()| deserializer.end());
    match (result, failure.take()) {
        (_, Some(failure)) => Err(failure),
        (Ok(()), None) => Ok(()),
        (Err(error), None) => {
            let at = place(bytes, error.line(), error.column());
            if error.is_eof() {
                return Err(DecodeError::Truncated {
                    form,
                    what: "more JSON",
                    at,
                });
            }
            let mut reason = error.to_string();
            if let Some(end) = reason.rfind(" at line ") {
                reason.truncate(end);
            }
            Err(DecodeError::Malformed { form, at, reason })
        }
    }
}

/// Where a line, counted from 1, has this column.
fn place(bytes: &[u8], line: usize, column: usize) -> u64 {
    let skipped: usize = bytes
        .split_inclusive(|&byte| byte == b'\n')
        .take(line.saturating_sub(1))
        .map(<[u8]>::len)
        .sum();
    (skipped + column).min(bytes.len()) as u64
}

/// Where a failure is kept while serde's errors, which are made of text, carry the news of it.
#[derive(Default)]
pub(crate) struct Failure(std::cell::Cell<Option<DecodeError>>);

impl Failure {
    fn take(&self) -> Option<DecodeError> {
        self.0.take()
    }

    /// Keeps it, and returns what to end the reading with.
    #[cold]
    pub(crate) fn keep<E: de::Error>(&self, failure: DecodeError) -> E {
        self.0.set(Some(failure));
        E::custom("stopped")
    }
}

/// Reads a value into a column. What it brings is the bytes that the value takes beyond the column's width.
pub(super) struct Cell<'c> {
    pub(super) inlet: &'c mut Inlet,
    pub(super) field: &'c Field,
    pub(super) form: &'static str,
    pub(super) row: usize,
    pub(super) failure: &'c Failure,
}

impl Cell<'_> {
    fn taken<E: de::Error>(
        &self,
        result: Result<usize, Refusal>,
        value: impl FnOnce() -> String,
    ) -> Result<usize, E> {
        result.map_err(|refusal| self.refused(refusal, &value()))
    }

    #[cold]
    fn refused<E: de::Error>(&self, refusal: Refusal, value: &str) -> E {
        let failure = super::intake::refused(self.form, self.field, self.row, refusal, value);
        self.failure.keep(failure)
    }
}

impl<'de> DeserializeSeed<'de> for Cell<'_> {
    type Value = usize;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        if *self.field.kind() == Kind::F32 {
            // Rounded once, from the digits to 32 bits.
            deserializer.deserialize_option(self)
        } else {
            deserializer.deserialize_any(self)
        }
    }
}

impl<'de> Visitor<'de> for Cell<'_> {
    type Value = usize;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "a value of type {} in column {:?}, row {}",
            self.field.kind(),
            self.field.name(),
            self.row
        )
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_f32(self)
    }

    fn visit_none<E: de::Error>(self) -> Result<usize, E> {
        self.visit_unit()
    }

    fn visit_unit<E: de::Error>(self) -> Result<usize, E> {
        let result = self.inlet.push_null().map(|()| 0);
        self.taken(result, || "null".into())
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<usize, E> {
        let result = self.inlet.push_bool(value).map(|()| 0);
        self.taken(result, || value.to_string())
    }

    #[inline]
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<usize, E> {
        let result = self
            .inlet
            .push_integer(value < 0, value.unsigned_abs())
            .map(|()| 0);
        self.taken(result, || value.to_string())
    }

    #[inline]
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<usize, E> {
        let result = self.inlet.push_integer(false, value).map(|()| 0);
        self.taken(result, || value.to_string())
    }

    #[inline]
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<usize, E> {
        let result = if *self.field.kind() == Kind::F32 {
            // It was read as a float of 32 bits, which passes through one of 64 unchanged.
            self.inlet.push_f32(value as f32)
        } else {
            self.inlet.push_f64(value)
        };
        self.taken(result.map(|()| 0), || value.to_string())
    }

    #[inline]
    fn visit_str<E: de::Error>(self, text: &str) -> Result<usize, E> {
        let result = if self.inlet.is_written_as_text() {
            self.inlet.push_text(text)
        } else {
            Err(Refusal::Kind)
        };
        self.taken(result, || format!("{text:?}"))
    }
}

/// Fails if there is another element.
pub(super) fn expect_end<'de, A: SeqAccess<'de>>(
    mut sequence: A,
    what: impl FnOnce() -> String,
) -> Result<(), A::Error> {
    match sequence.next_element::<de::IgnoredAny>()? {
        None => Ok(()),
        Some(_) => Err(de::Error::custom(what())),
    }
}

/// Reads a name: which column it is.
pub(super) struct Name<'n, 's> {
    pub(super) names: &'n mut Names<'s>,
    /// The column whose name is most likely.
    pub(super) expected: usize,
    pub(super) form: &'static str,
    pub(super) failure: &'n Failure,
}

impl<'de> DeserializeSeed<'de> for Name<'_, '_> {
    type Value = usize;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name<'_, '_> {
    type Value = usize;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of a column")
    }

    #[inline]
    fn visit_str<E: de::Error>(self, name: &str) -> Result<usize, E> {
        match self.names.find(name, self.expected) {
            Some(index) => Ok(index),
            None => {
                let name: String = name.chars().take(60).collect();
                Err(self.failure.keep(DecodeError::Schema {
                    form: self.form,
                    reason: format!("it has a column {name:?}, which the schema does not have"),
                }))
            }
        }
    }
}
