//! The values that AMF has, and what the types of a table are among them.

use crate::encoding::inlet::{Inlet, Refusal};
use crate::{EncodeError, Field, Kind, Rows, Unit, Values, cell_text};

/// The largest number of which a double holds each integer up to it.
const EXACT: i64 = 1 << 53;
/// Milliseconds in a day.
const DAY: i64 = 86_400_000;
/// The dates of AMF are those of ECMAScript: within 100,000,000 days of 1970-01-01.
const LATEST: i64 = 100_000_000 * DAY;

const INEXACT: &str = "its numbers are doubles, exact up to 2^53 only; make the column text";
const FAR: &str = "its dates lie within 100,000,000 days of 1970; make the column an integer";

/// A value of AMF.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell<'a> {
    Null,
    Bool(bool),
    /// One that a double holds.
    Integer(i64),
    Number(f64),
    /// Milliseconds since 1970-01-01 in coordinated universal time.
    Date(f64),
    Text(&'a str),
    /// Only of AMF3.
    Bytes(&'a [u8]),
}

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// As AMF0 has them, without bytes.
    Amf0,
    /// As AMF3 has them.
    Amf3,
    /// All as text.
    Text,
}

impl<'a> Cell<'a> {
    /// The value in a row of a column, which is not null. What becomes text is put into `scratch`.
    #[inline]
    pub(super) fn of(
        form: &'static str,
        style: Style,
        field: &Field,
        values: &'a Values,
        row: usize,
        scratch: &'a mut Vec<u8>,
    ) -> Result<Cell<'a>, EncodeError> {
        if let Values::Text(texts) = values {
            return Ok(Cell::Text(texts.get(row)));
        }
        if style == Style::Text {
            return text(form, field, values, row, scratch);
        }
        let cell = match values {
            Values::Bool(values) => Ok(Cell::Bool(values[row])),
            Values::I8(values) => Ok(Cell::Integer(values[row].into())),
            Values::I16(values) => Ok(Cell::Integer(values[row].into())),
            Values::I32(values) => match field.kind() {
                Kind::Date => date(values[row].into(), DAY),
                _ => Ok(Cell::Integer(values[row].into())),
            },
            Values::I64(numbers) => match field.kind() {
                Kind::Timestamp(Unit::Second, _) => date(numbers[row], 1_000),
                Kind::Timestamp(Unit::Millisecond, _) => date(numbers[row], 1),
                Kind::Time(_) | Kind::Timestamp(..) => {
                    return text(form, field, values, row, scratch);
                }
                _ => integer(numbers[row]),
            },
            Values::U8(values) => Ok(Cell::Integer(values[row].into())),
            Values::U16(values) => Ok(Cell::Integer(values[row].into())),
            Values::U32(values) => Ok(Cell::Integer(values[row].into())),
            Values::U64(values) => i64::try_from(values[row])
                .map_err(|_| INEXACT)
                .and_then(integer),
            Values::F32(values) => Ok(Cell::Number(widen(values[row]))),
            Values::F64(values) => Ok(Cell::Number(values[row])),
            Values::Bytes(slices) if style == Style::Amf3 => Ok(Cell::Bytes(slices.get(row))),
            Values::I128(_) | Values::Uuid(_) | Values::Bytes(_) | Values::Text(_) => {
                return text(form, field, values, row, scratch);
            }
        };
        cell.map_err(|reason| refused(form, field, row, reason))
    }

    /// Puts it behind what is in a column. The bytes that it takes there beyond the column's width.
    #[inline]
    pub(super) fn put(
        self,
        style: Style,
        field: &Field,
        inlet: &mut Inlet,
    ) -> Result<usize, Refusal> {
        match (self, field.kind()) {
            (Cell::Text(text), Kind::Text) => return inlet.push_string(text),
            (Cell::Null, _) => inlet.push_null(),
            (Cell::Text(text), kind) if style == Style::Text || is_text(style, kind) => {
                return inlet.push_text(text);
            }
            (Cell::Bytes(bytes), Kind::Bytes) => return inlet.push_bytes(bytes),
            (Cell::Bool(value), Kind::Bool) => inlet.push_bool(value),
            (Cell::Number(value), Kind::F64) => inlet.push_f64(value),
            (Cell::Number(value), Kind::F32) => inlet.push_f32(narrow(value)?),
            (Cell::Integer(value), Kind::F64) => inlet.push_f64(value as f64),
            (Cell::Integer(value), Kind::F32) => inlet.push_f32(narrow(value as f64)?),
            (Cell::Integer(value), _) if inlet.is_integer() => {
                inlet.push_integer(value < 0, value.unsigned_abs())
            }
            (Cell::Number(value), _) if inlet.push_exact(value) => Ok(()),
            (Cell::Number(value), _) if inlet.is_integer() => {
                let value = whole(value)?;
                inlet.push_integer(value < 0, value.unsigned_abs())
            }
            (Cell::Date(time), kind) => {
                let each = match kind {
                    Kind::Date => DAY,
                    Kind::Timestamp(Unit::Second, _) => 1_000,
                    Kind::Timestamp(Unit::Millisecond, _) => 1,
                    _ => return Err(Refusal::Kind),
                };
                let time = whole(time)?;
                if time % each != 0 || !(-LATEST..=LATEST).contains(&time) {
                    return Err(Refusal::Kind);
                }
                inlet.push_count(time < 0, (time / each).unsigned_abs())
            }
            _ => Err(Refusal::Kind),
        }
        .map(|()| 0)
    }
}

/// About how many bytes the values of a table take in AMF0, and some bytes more.
pub(super) fn bytes_of_cells(rows: &Rows) -> usize {
    let bytes = rows.columns().iter().map(|column| match column.values() {
        Values::Text(texts) => 3 * rows.len() + texts.all().len(),
        _ => 9 * rows.len(),
    });
    512 + bytes.sum::<usize>()
}

/// Whether values of this type are written as text.
pub(super) fn is_text(style: Style, kind: &Kind) -> bool {
    match kind {
        Kind::Text
        | Kind::Decimal { .. }
        | Kind::Uuid
        | Kind::Time(_)
        | Kind::Timestamp(Unit::Microsecond | Unit::Nanosecond, _) => true,
        Kind::Bytes => style == Style::Amf0,
        _ => false,
    }
}

#[inline]
fn integer<'a>(value: i64) -> Result<Cell<'a>, &'static str> {
    match value.unsigned_abs() <= EXACT.unsigned_abs() {
        true => Ok(Cell::Integer(value)),
        false => Err(INEXACT),
    }
}

#[inline]
fn date<'a>(count: i64, milliseconds: i64) -> Result<Cell<'a>, &'static str> {
    match count.checked_mul(milliseconds) {
        Some(time) if (-LATEST..=LATEST).contains(&time) => Ok(Cell::Date(time as f64)),
        _ => Err(FAR),
    }
}

/// The text of a value that is none.
fn text<'a>(
    form: &'static str,
    field: &Field,
    values: &Values,
    row: usize,
    scratch: &'a mut Vec<u8>,
) -> Result<Cell<'a>, EncodeError> {
    scratch.clear();
    cell_text::write(values, field.kind(), row, scratch)
        .map_err(|reason| refused(form, field, row, reason))?;
    std::str::from_utf8(scratch)
        .map(Cell::Text)
        .map_err(|_| refused(form, field, row, "its text is not UTF-8"))
}

#[cold]
fn refused(form: &'static str, field: &Field, row: usize, reason: &str) -> EncodeError {
    EncodeError::Value {
        form,
        column: field.name().to_owned(),
        row,
        reason: reason.to_owned(),
    }
}

/// The integer that a double is.
#[inline]
fn whole(value: f64) -> Result<i64, Refusal> {
    let integer = value as i64;
    let is_same = (integer as f64).to_bits() == value.to_bits();
    match is_same && integer.unsigned_abs() <= EXACT.unsigned_abs() {
        true => Ok(integer),
        false => Err(Refusal::Kind),
    }
}

const HIDDEN: u32 = f64::MANTISSA_DIGITS - f32::MANTISSA_DIGITS;

/// What is not a number keeps its bits, which a conversion need not.
#[inline]
fn widen(value: f32) -> f64 {
    if !value.is_nan() {
        return value.into();
    }
    let bits = u64::from(value.to_bits());
    f64::from_bits((bits >> 31) << 63 | 0x7ff << 52 | (bits & 0x7f_ffff) << HIDDEN)
}

/// The other way, if nothing is lost.
#[inline]
fn narrow(value: f64) -> Result<f32, Refusal> {
    let narrowed = if value.is_nan() {
        let bits = value.to_bits();
        f32::from_bits(
            ((bits >> 63) as u32) << 31 | 0xff << 23 | (bits >> HIDDEN) as u32 & 0x7f_ffff,
        )
    } else {
        value as f32
    };
    match widen(narrowed).to_bits() == value.to_bits() {
        true => Ok(narrowed),
        false => Err(Refusal::Kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_float_keeps_its_bits_on_its_way_through_a_double() {
        let bits = [
            0_u32,
            0x8000_0000,
            1,
            0x0080_0000,
            0x7f7f_ffff,
            0x7f80_0000,
            0xff80_0000,
            // Not numbers: quiet, negative with something to tell, signalling.
            0x7fc0_0000,
            0xffc1_2345,
            0x7f80_0001,
        ];
        for bits in bits {
            let back = narrow(widen(f32::from_bits(bits))).unwrap();
            assert_eq!(back.to_bits(), bits, "{bits:#x}");
        }
    }

    #[test]
    fn a_double_that_is_no_float_is_refused() {
        for value in [0.1, 1e300, f64::from_bits(0x7ff0_0000_0000_0001)] {
            narrow(value).unwrap_err();
        }
    }

    #[test]
    fn integers_are_whole_and_exact() {
        assert_eq!(whole(-9_007_199_254_740_992.0).unwrap(), -EXACT);
        for value in [0.5, -0.0, f64::NAN, f64::INFINITY, 9_007_199_254_740_994.0] {
            whole(value).unwrap_err();
        }
    }
}
