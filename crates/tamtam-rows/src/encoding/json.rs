//! What the three forms of JSON have in common: how values are written and read, and what their errors say.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::inlet::{Inlet, Refusal, Taking};
use super::intake::Intake;
use super::names::Names;
use crate::shortened::shortened;
use crate::{Column, DecodeError, EncodeError, Field, Kind, NullTexts, Rows, Values, cell_text};

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
    /// Truth values, integers and decimals.
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
            Kind::Date | Kind::Time(_) | Kind::Timestamp(..) | Kind::Uuid | Kind::Bytes => {
                Style::Quoted
            }
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
        (result, Some(mut failure)) => {
            if let (
                DecodeError::Value { line, .. } | DecodeError::Nested { line, .. },
                Err(error),
            ) = (&mut failure, result)
            {
                *line = Some(error.line() as u64).filter(|&line| line > 0);
            }
            Err(failure)
        }
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

/// The error for an array or an object where a value should be.
#[cold]
pub(crate) fn nested(form: &'static str, column: &str, row: u64) -> DecodeError {
    DecodeError::Nested {
        form,
        column: column.to_owned(),
        row,
        line: None,
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
    pub(super) nulls: &'c NullTexts,
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

    /// A value as it is written, with all its digits.
    fn raw<E: de::Error>(self, text: &str) -> Result<usize, E> {
        match text.as_bytes() {
            [b'n', ..] => self.visit_unit(),
            [b't', ..] => self.visit_bool(true),
            [b'f', ..] => self.visit_bool(false),
            [b'{' | b'[', ..] => Err(self.nested()),
            [b'"', inside @ .., b'"'] if !inside.contains(&b'\\') => {
                self.visit_str(&text[1..text.len() - 1])
            }
            [b'"', ..] => {
                let text: String = serde_json::from_str(text).map_err(E::custom)?;
                self.visit_str(&text)
            }
            _ if self.is_null_everywhere(text) => self.visit_unit(),
            // Digits would be Base64, too.
            _ if *self.field.kind() == Kind::Bytes => Err(self.refused(Refusal::Kind, text)),
            _ => {
                let result = self.inlet.push_text(text);
                self.taken(result, || text.to_owned())
            }
        }
    }

    /// An integer that the column does not hold as one.
    #[cold]
    fn other_integer<E: de::Error>(self, value: impl itoa::Integer) -> Result<usize, E> {
        let mut buffer = itoa::Buffer::new();
        let text = buffer.format(value);
        let result = if *self.field.kind() == Kind::Text {
            self.inlet.push_text(text)
        } else {
            Err(Refusal::Kind)
        };
        self.taken(result, || text.to_owned())
    }

    fn is_null_everywhere(&self, text: &str) -> bool {
        self.nulls.is_everywhere() && self.inlet.is_nullable() && self.nulls.contains(text)
    }

    #[cold]
    fn nested<E: de::Error>(&self) -> E {
        let error = nested(self.form, self.field.name(), self.row as u64);
        self.failure.keep(error)
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
        match self.inlet.taking() {
            Taking::Any => deserializer.deserialize_any(self),
            Taking::Raw => {
                let text = <&RawValue>::deserialize(deserializer)?.get();
                self.raw(text)
            }
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

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<usize, A::Error> {
        Err(self.nested())
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<usize, A::Error> {
        Err(self.nested())
    }

    fn visit_unit<E: de::Error>(self) -> Result<usize, E> {
        let result = self.inlet.push_null().map(|()| 0);
        self.taken(result, || "null".into())
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<usize, E> {
        // Text takes whatever stands there, as in delimited text.
        let result = if *self.field.kind() == Kind::Text {
            self.inlet.push_text(if value { "true" } else { "false" })
        } else {
            self.inlet.push_bool(value).map(|()| 0)
        };
        self.taken(result, || value.to_string())
    }

    #[inline]
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<usize, E> {
        let result = self.inlet.push_integer(value < 0, value.unsigned_abs());
        if result.is_err() {
            return self.other_integer(value);
        }
        Ok(0)
    }

    #[inline]
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<usize, E> {
        let result = self.inlet.push_integer(false, value);
        if result.is_err() {
            return self.other_integer(value);
        }
        Ok(0)
    }

    #[inline]
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<usize, E> {
        if *self.field.kind() == Kind::Text {
            // Its digits are needed, which are gone.
            self.inlet.want_raw();
        }
        let result = self.inlet.push_f64(value).map(|()| 0);
        self.taken(result, || value.to_string())
    }

    #[inline]
    fn visit_str<E: de::Error>(self, text: &str) -> Result<usize, E> {
        if self.is_null_everywhere(text) {
            return self.visit_unit();
        }
        let result = if self.inlet.is_written_as_text() {
            self.inlet.push_text(text)
        } else {
            Err(Refusal::Kind)
        };
        if matches!(result, Err(Refusal::Kind))
            && self.inlet.is_nullable()
            && self.nulls.contains(text)
        {
            return self.visit_unit();
        }
        self.taken(result, || format!("{text:?}"))
    }
}

/// Reads JSON into columns, from row `before` on: their rows, and how many there are then. Numbers in columns of text are
/// met seldom; where one is that is no integer, or may be one that no float holds, everything is read again so that texts have
/// all their digits, and `is_raw` says that for what follows.
pub(super) fn take_in<'a>(
    intake: impl Fn() -> Result<Intake<'a>, DecodeError>,
    is_raw: &mut bool,
    read: impl Fn(&mut Intake<'a>) -> Result<(), DecodeError>,
) -> Result<(Rows, u64), DecodeError> {
    loop {
        let mut intake = intake()?;
        if *is_raw {
            intake.take_raw();
        }
        match read(&mut intake) {
            Ok(()) => {
                let rows = intake.rows();
                return Ok((intake.finish()?, rows));
            }
            Err(_) if !*is_raw && intake.wants_raw() => *is_raw = true,
            // A number beyond all floats is no error where it is taken as text.
            Err(DecodeError::Malformed { .. }) if !*is_raw && intake.has_texts() => *is_raw = true,
            Err(error) => return Err(error),
        }
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
                let name = shortened(name);
                Err(self.failure.keep(DecodeError::Schema {
                    form: self.form,
                    reason: format!("it has a column {name:?}, which the schema does not have"),
                }))
            }
        }
    }
}
