//! Writing a value as text, as CSV and JSON have it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::calendar::date_of;
use crate::error::MORE_DIGITS;
use crate::{Kind, Unit, Values, Zone};

/// Appends the text of the value in a row. What is text itself is appended as it is.
///
/// # Errors
/// A float that is not a number with other bits than `NAN` has, which no text tells apart; and a decimal with more
/// digits than its type has. Why, in words.
#[inline]
pub(crate) fn write(
    values: &Values,
    kind: &Kind,
    row: usize,
    out: &mut Vec<u8>,
) -> Result<(), &'static str> {
    match values {
        Values::Bool(values) => {
            let text: &[u8] = if values[row] { b"true" } else { b"false" };
            out.extend_from_slice(text);
        }
        Values::I8(values) => write_integer(values[row], out),
        Values::I16(values) => write_integer(values[row], out),
        Values::I32(values) if *kind == Kind::Date => write_date(values[row].into(), out),
        Values::I32(values) => write_integer(values[row], out),
        Values::I64(values) => match kind {
            Kind::Time(unit) => write_time(values[row], *unit, out),
            Kind::Timestamp(unit, zone) => write_timestamp(values[row], *unit, zone, out),
            _ => write_integer(values[row], out),
        },
        Values::U8(values) => write_integer(values[row], out),
        Values::U16(values) => write_integer(values[row], out),
        Values::U32(values) => write_integer(values[row], out),
        Values::U64(values) => write_integer(values[row], out),
        Values::I128(values) => {
            let (precision, scale) = match kind {
                Kind::Decimal { precision, scale } => (*precision, *scale),
                _ => (38, 0),
            };
            return write_decimal(values[row], precision, scale, out);
        }
        Values::F32(values) => return write_real(values[row], out),
        Values::F64(values) => return write_real(values[row], out),
        Values::Uuid(values) => write_uuid(&values[row], out),
        Values::Text(texts) => out.extend_from_slice(texts.get(row).as_bytes()),
        Values::Bytes(slices) => write_bytes(slices.get(row), out),
    }
    Ok(())
}

fn write_integer(value: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// A float of either width.
trait Real: zmij::Float + Copy {
    /// `Some` of the text if it is no finite number; `None` if it is one.
    fn not_finite(self) -> Option<Result<&'static [u8], &'static str>>;
}

macro_rules! reals {
    ($($type:ty),*) => {$(
        impl Real for $type {
            #[inline]
            fn not_finite(self) -> Option<Result<&'static [u8], &'static str>> {
                if self.is_finite() {
                    return None;
                }
                Some(if self == <$type>::INFINITY {
                    Ok(b"inf")
                } else if self == <$type>::NEG_INFINITY {
                    Ok(b"-inf")
                } else if self.to_bits() == <$type>::NAN.to_bits() {
                    Ok(b"NaN")
                } else {
                    Err("text cannot tell this NaN from others; replace it by NAN, or use a binary form")
                })
            }
        }
    )*};
}
reals! { f32, f64 }

/// The fewest digits that are read back as the same bits; `inf`, `-inf` and `NaN`.
#[inline]
fn write_real(value: impl Real, out: &mut Vec<u8>) -> Result<(), &'static str> {
    match value.not_finite() {
        None => out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes()),
        Some(text) => out.extend_from_slice(text?),
    }
    Ok(())
}

fn write_decimal(
    value: i128,
    precision: u8,
    scale: u8,
    out: &mut Vec<u8>,
) -> Result<(), &'static str> {
    let magnitude = value.unsigned_abs();
    if magnitude >= 10_u128.pow(precision.into()) {
        return Err(MORE_DIGITS);
    }
    if value < 0 {
        out.push(b'-');
    }
    let mut buffer = itoa::Buffer::new();
    let scale = usize::from(scale);
    // Most decimals fit 64 bits, whose division is many times faster.
    let digits = match u64::try_from(magnitude) {
        Ok(small) => buffer.format(small),
        Err(_) => buffer.format(magnitude),
    };
    if scale == 0 {
        out.extend_from_slice(digits.as_bytes());
    } else if let Some(whole) = digits.len().checked_sub(scale).filter(|&whole| whole > 0) {
        out.extend_from_slice(&digits.as_bytes()[..whole]);
        out.push(b'.');
        out.extend_from_slice(&digits.as_bytes()[whole..]);
    } else {
        out.extend_from_slice(b"0.");
        out.resize(out.len() + scale - digits.len(), b'0');
        out.extend_from_slice(digits.as_bytes());
    }
    Ok(())
}

/// Two digits; `number` is below 100.
fn write_two(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(&[b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]);
}

fn write_date(days: i64, out: &mut Vec<u8>) {
    let (year, month, day) = date_of(days);
    if (0..=9_999).contains(&year) {
        write_two(year as u64 / 100, out);
        write_two(year as u64 % 100, out);
    } else {
        out.push(if year < 0 { b'-' } else { b'+' });
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(year.unsigned_abs());
        out.resize(out.len() + 4_usize.saturating_sub(digits.len()), b'0');
        out.extend_from_slice(digits.as_bytes());
    }
    out.push(b'-');
    write_two(month.into(), out);
    out.push(b'-');
    write_two(day.into(), out);
}

/// Hours, which may have more than two digits, minutes, seconds, and the fraction that the unit has.
fn write_clock(units: u64, unit: Unit, out: &mut Vec<u8>) {
    let per_second = unit.per_second() as u64;
    let (seconds, mut fraction) = (units / per_second, units % per_second);
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    if hours < 100 {
        write_two(hours, out);
    } else {
        write_integer(hours, out);
    }
    out.push(b':');
    write_two(minutes, out);
    out.push(b':');
    write_two(seconds % 60, out);
    let digits = unit.digits();
    if digits > 0 {
        let mut text = *b".000000000";
        for place in (1..=digits).rev() {
            text[place] = b'0' + (fraction % 10) as u8;
            fraction /= 10;
        }
        out.extend_from_slice(&text[..=digits]);
    }
}

fn write_time(units: i64, unit: Unit, out: &mut Vec<u8>) {
    if units < 0 {
        out.push(b'-');
    }
    write_clock(units.unsigned_abs(), unit, out);
}

fn write_timestamp(units: i64, unit: Unit, zone: &Zone, out: &mut Vec<u8>) {
    let a_day = 86_400 * unit.per_second();
    write_date(units.div_euclid(a_day), out);
    out.push(b'T');
    write_clock(units.rem_euclid(a_day) as u64, unit, out);
    // One in a named zone counts in coordinated universal time, too.
    if *zone != Zone::Local {
        out.push(b'Z');
    }
}

fn write_uuid(id: &[u8; 16], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [b'-'; 36];
    let mut place = 0;
    for (index, byte) in id.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            place += 1;
        }
        text[place] = DIGITS[usize::from(byte >> 4)];
        text[place + 1] = DIGITS[usize::from(byte & 15)];
        place += 2;
    }
    out.extend_from_slice(&text);
}

pub(crate) fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    let written = STANDARD
        .encode_slice(bytes, &mut out[start..])
        .expect("there is room for four characters for each three bytes");
    out.truncate(start + written);
}
