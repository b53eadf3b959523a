//! Integers of 29 bits in one to four bytes: seven bits a byte while the highest says that more follow, and all eight
//! of a fourth.

use crate::input::Input;
use crate::{DecodeError, EncodeError};

/// The least integer; what is less goes as a double.
pub const MIN_INTEGER: i32 = -(1 << 28);
/// The greatest integer; what is greater goes as a double.
pub const MAX_INTEGER: i32 = (1 << 28) - 1;
/// The greatest unsigned integer: of 29 bits.
pub(crate) const MAX_UNSIGNED: u32 = (1 << 29) - 1;

/// The greatest length and the greatest place in a table: 29 bits but the one that tells them apart.
pub(crate) const MAX_LENGTH: usize = (1 << 28) - 1;

/// Writes the lowest 29 bits.
#[inline]
pub(crate) fn write(out: &mut Vec<u8>, number: u32) {
    // Few bits of a byte, by design: the cut is meant.
    #[allow(clippy::cast_possible_truncation)]
    let part = |shift: u32| (number >> shift) as u8;
    match number & MAX_UNSIGNED {
        0..0x80 => out.push(part(0)),
        0x80..0x4000 => out.extend_from_slice(&[part(7) | 0x80, part(0) & 0x7f]),
        0x4000..0x20_0000 => {
            out.extend_from_slice(&[part(14) | 0x80, part(7) | 0x80, part(0) & 0x7f])
        }
        _ => out.extend_from_slice(&[part(22) | 0x80, part(15) | 0x80, part(8) | 0x80, part(0)]),
    }
}

/// Reads 29 bits.
#[inline]
pub(crate) fn read(input: &mut Input<'_>) -> Result<u32, DecodeError> {
    let mut number = 0;
    for _ in 0..3 {
        let byte = input.byte()?;
        number = number << 7 | u32::from(byte & 0x7f);
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Ok(number << 8 | u32::from(input.byte()?))
}

/// The 29 bits that bytes begin with, and what follows them.
#[inline(always)]
pub(crate) fn split(bytes: &[u8]) -> Option<(u32, &[u8])> {
    match *bytes {
        [byte @ 0..0x80, ref rest @ ..] => Some((byte.into(), rest)),
        [high, low @ 0..0x80, ref rest @ ..] => {
            Some((u32::from(high & 0x7f) << 7 | u32::from(low), rest))
        }
        _ => split_long(bytes),
    }
}

#[inline(never)]
fn split_long(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let part = |byte: u8| u32::from(byte & 0x7f);
    let (&[first, second, third], rest) = bytes.split_first_chunk()?;
    let number = part(first) << 14 | part(second) << 7 | part(third);
    if third < 0x80 {
        return Some((number, rest));
    }
    let (&last, rest) = rest.split_first()?;
    Some((number << 8 | u32::from(last), rest))
}

/// The integer with a sign that 29 bits mean.
#[inline]
pub(crate) fn signed(bits: u32) -> i32 {
    (bits << 3).cast_signed() >> 3
}

/// A length as the format can say it.
pub(super) fn length_of(what: &'static str, count: usize) -> Result<u32, EncodeError> {
    match u32::try_from(count) {
        Ok(length) if count <= MAX_LENGTH => Ok(length),
        _ => Err(EncodeError::TooLong {
            what,
            count,
            limit: MAX_LENGTH,
        }),
    }
}

/// Whether the format can say the length of a name.
pub(super) fn check_name(name: &str) -> Result<(), EncodeError> {
    if name.len() > MAX_LENGTH {
        return Err(EncodeError::NameTooLong {
            bytes: name.len(),
            limit: MAX_LENGTH,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    fn bytes_of(number: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut bytes, number);
        bytes
    }

    #[test]
    fn integers_take_the_bytes_of_the_specification() {
        assert_eq!(bytes_of(0), [0]);
        assert_eq!(bytes_of(0x7f), [0x7f]);
        assert_eq!(bytes_of(0x80), [0x81, 0]);
        assert_eq!(bytes_of(0x3fff), [0xff, 0x7f]);
        assert_eq!(bytes_of(0x4000), [0x81, 0x80, 0]);
        assert_eq!(bytes_of(0x1f_ffff), [0xff, 0xff, 0x7f]);
        assert_eq!(bytes_of(0x20_0000), [0x80, 0xc0, 0x80, 0]);
        assert_eq!(bytes_of(MAX_UNSIGNED), [0xff, 0xff, 0xff, 0xff]);
        assert_eq!(bytes_of((-1_i32).cast_unsigned()), [0xff, 0xff, 0xff, 0xff]);
    }

    #[test]
    fn integers_come_back() {
        let near_the_steps = [7, 14, 21, 28, 29].map(|bits| 1_u32 << bits);
        for number in near_the_steps
            .into_iter()
            .flat_map(|step| step - 3..step + 3)
        {
            if number <= MAX_UNSIGNED {
                let bytes = bytes_of(number);
                let mut input = Input::new(&bytes, Limits::default());
                assert_eq!(read(&mut input), Ok(number));
                assert_eq!(input.left(), 0);
            }
        }
        for number in [MIN_INTEGER, -1, 0, 1, MAX_INTEGER] {
            let bytes = bytes_of(number.cast_unsigned());
            let mut input = Input::new(&bytes, Limits::default());
            assert_eq!(read(&mut input).map(signed), Ok(number));
        }
    }
}
