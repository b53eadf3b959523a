//! What SQLite holds in one cell, as a value of a column.

use std::fmt::Write;

use rusqlite::types::ValueRef;

use crate::cell_text;
use crate::database::error::Unfit;
use crate::database::literal;
use crate::{Kind, Value, Zone};

/// How what SQLite holds becomes values of columns.
#[derive(Debug)]
pub(super) struct Reading {
    /// Whether the types were asked for, so that integers count the units of a time; where they were found they do not.
    pub(super) counts_units: bool,
    /// Where a number in a text column is written.
    text: String,
}

impl Reading {
    pub(super) fn new(counts_units: bool) -> Reading {
        Reading {
            counts_units,
            text: String::new(),
        }
    }

    /// Whether an integer goes into a column of this type as it is, if it is not too large.
    #[inline]
    pub(super) fn keeps_integers(&self, kind: &Kind) -> bool {
        self.counts_units || !matches!(kind, Kind::Date | Kind::Time(_) | Kind::Timestamp(..))
    }
}

/// What SQLite holds, as a value of a column of this type.
#[inline]
pub(super) fn value<'a>(
    cell: ValueRef<'a>,
    kind: &Kind,
    reading: &'a mut Reading,
) -> Result<Value<'a>, Unfit> {
    match (cell, kind) {
        (ValueRef::Null, _) => Ok(Value::Null),
        (
            ValueRef::Integer(number),
            Kind::I8
            | Kind::I16
            | Kind::I32
            | Kind::I64
            | Kind::U8
            | Kind::U16
            | Kind::U32
            | Kind::U64,
        ) => Ok(Value::Int(number)),
        (ValueRef::Text(bytes), Kind::Text) => utf8(bytes).map(Value::Text),
        (ValueRef::Blob(bytes) | ValueRef::Text(bytes), Kind::Bytes) => Ok(Value::Bytes(bytes)),
        (ValueRef::Real(number), Kind::F64) => Ok(Value::F64(number)),
        _ => seldom(cell, kind, reading),
    }
}

fn seldom<'a>(
    cell: ValueRef<'a>,
    kind: &Kind,
    reading: &'a mut Reading,
) -> Result<Value<'a>, Unfit> {
    match cell {
        ValueRef::Null => Ok(Value::Null),
        ValueRef::Integer(number) => integer(number, kind, reading),
        ValueRef::Real(number) => real(number, kind, &mut reading.text),
        ValueRef::Text(bytes) => text(utf8(bytes)?, kind),
        ValueRef::Blob(bytes) => match (kind, <[u8; 16]>::try_from(bytes)) {
            (Kind::Uuid, Ok(uuid)) => Ok(Value::Uuid(uuid)),
            _ => Err(Unfit::new(
                format!("of {} bytes", bytes.len()),
                "it is a blob",
            )),
        },
    }
}

fn integer<'a>(number: i64, kind: &Kind, reading: &'a mut Reading) -> Result<Value<'a>, Unfit> {
    let unfit = |reason| Err(Unfit::new(number, reason));
    match kind {
        kind if !reading.keeps_integers(kind) => {
            unfit("it is an integer, and only a schema that is given says what it counts")
        }
        Kind::Bool if number == 0 || number == 1 => Ok(Value::Bool(number == 1)),
        Kind::Bool => unfit("it is neither 0 nor 1"),
        Kind::F64 if (number as f64) as i128 == i128::from(number) => Ok(Value::F64(number as f64)),
        Kind::F32 if (number as f32) as i128 == i128::from(number) => Ok(Value::F32(number as f32)),
        Kind::F64 | Kind::F32 => unfit("it is an integer that no float holds exactly"),
        Kind::Decimal { precision, scale } => {
            let most = literal::power_of_ten((*precision).into());
            let value = literal::power_of_ten((*scale).into())
                .and_then(|factor| i128::from(number).checked_mul(factor));
            match (value, most) {
                (Some(value), Some(most)) if -most < value && value < most => {
                    Ok(Value::Decimal(value))
                }
                _ => unfit("it has too many digits"),
            }
        }
        Kind::Date => match i32::try_from(number) {
            Ok(days) => Ok(Value::Date(days)),
            Err(_) => unfit("it is too many days"),
        },
        Kind::Time(_) => Ok(Value::Time(number)),
        Kind::Timestamp(..) => Ok(Value::Timestamp(number)),
        Kind::Text => Ok(written(number, &mut reading.text)),
        _ => unfit("it is an integer"),
    }
}

fn real<'a>(number: f64, kind: &Kind, buffer: &'a mut String) -> Result<Value<'a>, Unfit> {
    match kind {
        Kind::F32 if f64::from(number as f32) == number || number.is_nan() => {
            Ok(Value::F32(number as f32))
        }
        Kind::F32 => Err(Unfit::new(number, "32 bits do not hold it exactly")),
        // The shortest text that reads as this number: what was meant when it was stored.
        Kind::Decimal { precision, scale } => {
            match cell_text::decimal(number.to_string().as_bytes(), *precision, *scale) {
                Some(value) => Ok(Value::Decimal(value)),
                None => Err(Unfit::new(number, "it has more digits")),
            }
        }
        // As SQLite writes it, with a point.
        Kind::Text => Ok(written(zmij::Buffer::new().format(number), buffer)),
        _ => Err(Unfit::new(number, "it is a number with a point")),
    }
}

fn text<'a>(text: &'a str, kind: &Kind) -> Result<Value<'a>, Unfit> {
    let bytes = text.as_bytes();
    let (value, expected) = match kind {
        Kind::Date => (
            literal::date(bytes).map(Value::Date),
            "it is not written as 2026-11-22",
        ),
        Kind::Time(unit) => (
            cell_text::time(bytes, *unit).map(Value::Time),
            "it is not written as 12:30:59.5, or has more digits",
        ),
        Kind::Timestamp(unit, zone) => (
            cell_text::timestamp(bytes, *unit, zone).map(Value::Timestamp),
            match zone {
                Zone::Local => {
                    "it is not written as 2026-11-22 12:30:59.5 without a zone, or has more digits"
                }
                _ => "it is not written as 2026-11-22T12:30:59.5Z with a zone, or has more digits",
            },
        ),
        Kind::Uuid => (
            cell_text::uuid(bytes).map(Value::Uuid),
            "it is not written as a UUID",
        ),
        Kind::Decimal { precision, scale } => (
            cell_text::decimal(bytes, *precision, *scale).map(Value::Decimal),
            "it is no decimal, or has more digits",
        ),
        _ => (None, "it is text"),
    };
    value.ok_or_else(|| Unfit::new(format!("{text:?}"), expected))
}

fn written(number: impl std::fmt::Display, buffer: &mut String) -> Value<'_> {
    buffer.clear();
    write!(buffer, "{number}").expect("a string takes what is written");
    Value::Text(buffer)
}

#[inline]
fn utf8(bytes: &[u8]) -> Result<&str, Unfit> {
    std::str::from_utf8(bytes).map_err(|error| {
        Unfit::new(
            format!("{:?}", String::from_utf8_lossy(bytes)),
            format!(
                "its text is not valid UTF-8 from byte {} on",
                error.valid_up_to()
            ),
        )
    })
}
