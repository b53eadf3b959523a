//! Reading a value out of its text, as CSV and JSON have it.

use std::str::FromStr;

use base64::Engine;
use base64::alphabet::STANDARD as ALPHABET;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::calendar::days_of;
use crate::{Unit, Zone};

/// An integer of a column.
pub(crate) trait Integer: Copy {
    /// The one of this sign and magnitude, if it is one of these.
    fn of(is_negative: bool, magnitude: u64) -> Option<Self>;
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl Integer for $type {
            #[inline]
            fn of(is_negative: bool, magnitude: u64) -> Option<$type> {
                if is_negative {
                    // At most 2^63 below zero: the difference of zero and that does not wrap.
                    (magnitude <= 1 << 63)
                        .then(|| (magnitude as i64).wrapping_neg())
                        .and_then(|number| number.try_into().ok())
                } else {
                    magnitude.try_into().ok()
                }
            }
        }
    )*};
}
integers! { i8, i16, i32, i64, u8, u16, u32, u64 }

/// Whether it begins with a sign, and what follows.
#[inline]
fn sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    }
}

/// Digits only, at least one.
#[inline]
fn digits(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let mut number = 0_u64;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = if text.len() < 20 {
            number * 10 + u64::from(digit)
        } else {
            number.checked_mul(10)?.checked_add(digit.into())?
        };
    }
    Some(number)
}

/// An integer in decimal, with a sign or without.
#[inline]
pub(crate) fn integer<T: Integer>(text: &[u8]) -> Option<T> {
    let (is_negative, rest) = sign(text);
    T::of(is_negative, digits(rest)?)
}

/// `true` and `false`, also with a capital letter or in capital letters.
pub(crate) fn truth(text: &[u8]) -> Option<bool> {
    match text {
        b"true" | b"True" | b"TRUE" => Some(true),
        b"false" | b"False" | b"FALSE" => Some(false),
        _ => None,
    }
}

/// A float, as Rust reads it: correctly rounded, with an exponent or without, `inf`, `NaN`. A number that is beyond its range
/// is none.
#[inline]
pub(crate) fn real<T: FromStr + Copy + Into<f64>>(text: &str) -> Option<T> {
    let value: T = text.parse().ok()?;
    let is_beyond = value.into().is_infinite() && text.bytes().any(|byte| byte.is_ascii_digit());
    (!is_beyond).then_some(value)
}

/// A decimal with a point or without; digits behind the point that the type does not have must be zeros.
pub(crate) fn decimal(text: &[u8], precision: u8, scale: u8) -> Option<i128> {
    let (is_negative, rest) = sign(text);
    let (whole, fraction) = match rest.iter().position(|&byte| byte == b'.') {
        Some(point) => (&rest[..point], &rest[point + 1..]),
        None => (rest, &[][..]),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (kept, dropped) = fraction.split_at(fraction.len().min(scale.into()));
    if dropped.iter().any(|&byte| byte != b'0') {
        return None;
    }
    let missing = usize::from(scale) - kept.len();
    let significant = whole.len() + usize::from(scale);
    let magnitude = if significant < 20 {
        let mut number = 0_u64;
        for &byte in whole.iter().chain(kept) {
            number = number * 10 + u64::from(digit(byte)?);
        }
        u128::from(number * 10_u64.pow(missing as u32))
    } else {
        let mut number = 0_u128;
        for &byte in whole.iter().chain(kept) {
            number = number.checked_mul(10)?.checked_add(digit(byte)?.into())?;
        }
        number.checked_mul(10_u128.checked_pow(missing as u32)?)?
    };
    if magnitude >= 10_u128.pow(precision.min(38).into()) {
        return None;
    }
    // Below 10^38, therefore within what is signed, too.
    let magnitude = magnitude as i128;
    Some(if is_negative { -magnitude } else { magnitude })
}

#[inline]
fn digit(byte: u8) -> Option<u8> {
    let digit = byte.wrapping_sub(b'0');
    (digit < 10).then_some(digit)
}

/// Exactly two digits at the beginning.
fn two(text: &[u8]) -> Option<u32> {
    let (&tens, &ones) = (text.first()?, text.get(1)?);
    Some(u32::from(digit(tens)?) * 10 + u32::from(digit(ones)?))
}

/// Days since 1970-01-01 of a date: `2024-02-29`, `-0001-12-31`, `+12345-01-01`.
pub(crate) fn date(text: &[u8]) -> Option<i64> {
    let (is_negative, rest) = sign(text);
    let years = rest.len().checked_sub(6)?;
    let (year, rest) = rest.split_at(years);
    let is_signed = years + 6 < text.len();
    // More digits than four are written with a sign, so that the text cannot be taken for another.
    if !(4..=12).contains(&years) || (years > 4 && !is_signed) {
        return None;
    }
    if rest[0] != b'-' || rest[3] != b'-' {
        return None;
    }
    let year = digits(year)? as i64;
    days_of(
        if is_negative { -year } else { year },
        two(&rest[1..])?,
        two(&rest[4..])?,
    )
}

/// Units since midnight, and whether a fraction was there that the unit does not have.
fn clock(text: &[u8], unit: Unit) -> Option<i128> {
    let (whole, fraction) = match text.iter().position(|&byte| byte == b'.') {
        Some(point) => (&text[..point], &text[point + 1..]),
        None => (text, &[][..]),
    };
    if whole.len() < text.len() && fraction.is_empty() {
        return None;
    }
    // The seconds may be missing.
    let (hours, minutes, seconds) = match whole.iter().position(|&byte| byte == b':')? {
        colon if whole.len() == colon + 3 && fraction.is_empty() => {
            (&whole[..colon], two(&whole[colon + 1..])?, 0)
        }
        colon if whole.len() == colon + 6 && whole[colon + 3] == b':' => (
            &whole[..colon],
            two(&whole[colon + 1..])?,
            two(&whole[colon + 4..])?,
        ),
        _ => return None,
    };
    if minutes > 59 || seconds > 59 || hours.len() < 2 {
        return None;
    }
    let (kept, dropped) = fraction.split_at(fraction.len().min(unit.digits()));
    if dropped.iter().any(|&byte| byte != b'0') {
        return None;
    }
    let mut part = 0;
    for &byte in kept {
        part = part * 10 + i64::from(digit(byte)?);
    }
    part *= 10_i64.pow((unit.digits() - kept.len()) as u32);
    let seconds = i128::from(digits(hours)?) * 3_600 + i128::from(minutes * 60 + seconds);
    Some(seconds * i128::from(unit.per_second()) + i128::from(part))
}

/// A time: `12:30`, `-838:59:59`, `00:00:00.000001`. A finer fraction than the unit has must be zeros.
pub(crate) fn time(text: &[u8], unit: Unit) -> Option<i64> {
    let (is_negative, rest) = sign(text);
    let units = clock(rest, unit)?;
    i64::try_from(if is_negative { -units } else { units }).ok()
}

/// A timestamp: a date, `T` or a space, and a time, which unless the zone is local ends with `Z` or an offset such as
/// `+02:00`.
pub(crate) fn timestamp(text: &[u8], unit: Unit, zone: &Zone) -> Option<i64> {
    let middle = text.iter().position(|byte| matches!(byte, b'T' | b' '))?;
    let days = date(&text[..middle])?;
    let rest = &text[middle + 1..];
    let (rest, offset) = match zone {
        Zone::Local => (rest, 0),
        _ => offset(rest)?,
    };
    let units = clock(rest, unit)?;
    let per_second = i128::from(unit.per_second());
    if units >= 86_400 * per_second || rest.get(2) != Some(&b':') {
        return None;
    }
    let units = units + (i128::from(days) * 86_400 - i128::from(offset) * 60) * per_second;
    i64::try_from(units).ok()
}

/// What stands before the offset, and how many minutes it is.
fn offset(text: &[u8]) -> Option<(&[u8], i32)> {
    if let [rest @ .., b'Z' | b'z'] = text {
        return Some((rest, 0));
    }
    let at = text.iter().rposition(|byte| matches!(byte, b'+' | b'-'))?;
    let (rest, offset) = text.split_at(at);
    let minutes = match offset {
        [_, _, _] => 0,
        [_, _, _, b':', minutes @ ..] | [_, _, _, minutes @ ..] if minutes.len() == 2 => {
            two(minutes)?
        }
        _ => return None,
    };
    let hours = two(&offset[1..])?;
    if hours > 23 || minutes > 59 {
        return None;
    }
    let minutes = (hours * 60 + minutes) as i32;
    Some((rest, if offset[0] == b'-' { -minutes } else { minutes }))
}

/// A UUID: 32 hexadecimal digits with hyphens where they belong.
pub(crate) fn uuid(text: &[u8]) -> Option<[u8; 16]> {
    if text.len() != 36 {
        return None;
    }
    let nibble = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    let mut id = [0; 16];
    let mut place = 0;
    for (index, byte) in id.iter_mut().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            if text[place] != b'-' {
                return None;
            }
            place += 1;
        }
        *byte = nibble(text[place])? << 4 | nibble(text[place + 1])?;
        place += 2;
    }
    Some(id)
}

/// As RFC 4648 has it; the padding may be missing.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &ALPHABET,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Bytes in Base64, into a buffer that is emptied first. Whether they were.
pub(crate) fn bytes(text: &[u8], into: &mut Vec<u8>) -> bool {
    into.clear();
    BASE64.decode_vec(text, into).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_end_where_their_type_ends() {
        assert_eq!(integer::<i8>(b"-128"), Some(-128));
        assert_eq!(integer::<i8>(b"-129"), None);
        assert_eq!(integer::<u64>(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(integer::<u64>(b"18446744073709551616"), None);
        assert_eq!(integer::<i64>(b"-9223372036854775808"), Some(i64::MIN));
        assert_eq!(integer::<i64>(b"-9223372036854775809"), None);
        assert_eq!(integer::<u8>(b"-0"), Some(0));
        assert_eq!(integer::<u8>(b"-1"), None);
        for not_one in ["", "-", "+", "1 ", " 1", "1.0", "0x1", "--1", "1_000"] {
            assert_eq!(integer::<i32>(not_one.as_bytes()), None, "{not_one}");
        }
    }

    #[test]
    fn decimals_keep_every_digit() {
        assert_eq!(decimal(b"-12.5", 10, 2), Some(-1250));
        assert_eq!(decimal(b".5", 10, 2), Some(50));
        assert_eq!(decimal(b"5.", 10, 2), Some(500));
        assert_eq!(decimal(b"5.1200", 10, 2), Some(512));
        assert_eq!(decimal(b"5.123", 10, 2), None);
        assert_eq!(decimal(b"1000", 5, 2), None);
        assert_eq!(decimal(b".", 5, 2), None);
        assert_eq!(decimal(b"1e3", 5, 0), None);
        let nines = "9".repeat(38);
        assert_eq!(decimal(nines.as_bytes(), 38, 0), Some(10_i128.pow(38) - 1));
        assert_eq!(decimal(format!("{nines}9").as_bytes(), 38, 0), None);
        assert_eq!(decimal("9".repeat(60).as_bytes(), 38, 0), None);
    }

    #[test]
    fn timestamps_are_points_in_time() {
        let utc = |text: &str| timestamp(text.as_bytes(), Unit::Second, &Zone::Utc);
        assert_eq!(utc("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(utc("1970-01-01 02:00:00+02:00"), Some(0));
        assert_eq!(utc("1969-12-31T20:30:00-0330"), Some(0));
        assert_eq!(utc("1970-01-01T02:00+02"), Some(0));
        assert_eq!(utc("1970-01-01T00:00:00"), None);
        assert_eq!(utc("1970-01-01T24:00:00Z"), None);
        assert_eq!(utc("1970-01-01T00:00:60Z"), None);
        assert_eq!(utc("1970-01-01T00:00:00.5Z"), None);
        assert_eq!(utc("1970-02-30T00:00:00Z"), None);
        let local = |text: &str| timestamp(text.as_bytes(), Unit::Millisecond, &Zone::Local);
        assert_eq!(local("1970-01-01 00:00:01.5"), Some(1_500));
        assert_eq!(local("1970-01-01T00:00:00Z"), None);
        assert_eq!(local("1970-01-01"), None);
    }

    #[test]
    fn times_may_be_negative_and_beyond_a_day() {
        assert_eq!(time(b"-838:59:59", Unit::Second), Some(-3_020_399));
        assert_eq!(time(b"00:00:00.000001", Unit::Microsecond), Some(1));
        assert_eq!(time(b"00:00:00.0000010", Unit::Microsecond), Some(1));
        assert_eq!(time(b"00:00:00.0000015", Unit::Microsecond), None);
        for not_one in [
            "",
            ":",
            "1:00:00",
            "00:60:00",
            "00:00:60",
            "00:00:00.",
            "00:0:00",
            "00:00.5",
        ] {
            assert_eq!(time(not_one.as_bytes(), Unit::Second), None, "{not_one}");
        }
    }

    #[test]
    fn dates_of_five_digits_have_a_sign() {
        assert_eq!(date(b"1970-01-02"), Some(1));
        assert_eq!(date(b"+10000-01-01"), Some(2_932_897));
        assert_eq!(date(b"10000-01-01"), None);
        for not_one in [
            "",
            "1970-1-1",
            "70-01-01",
            "1970/01/01",
            "19700101",
            "1970-01-01x",
            "+-970-01-01",
        ] {
            assert_eq!(date(not_one.as_bytes()), None, "{not_one}");
        }
    }

    #[test]
    fn identifiers_have_their_hyphens() {
        let text = b"00112233-4455-6677-8899-aAbBcCdDeEfF";
        assert_eq!(uuid(text).unwrap()[..4], [0, 0x11, 0x22, 0x33]);
        assert_eq!(uuid(&text[..35]), None);
        assert_eq!(uuid(b"00112233445566778899aabbccddeeff"), None);
        assert_eq!(uuid(b"0011223344-55-6677-8899-aabbccddeeff"), None);
    }
}
