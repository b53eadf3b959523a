//! Cells of text so short that they fit into a word.

use std::ops::Range;

/// A cell of at most seven bytes with the delimiter behind it, in a word: the bytes in the order in which they are written, the first
/// one lowest, and in the word's highest byte how many they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShortCell(u64);

/// So many bytes fit.
const MOST_BYTES: usize = 7;
/// Where the number of bytes is.
const COUNT: u32 = 56;

impl ShortCell {
    /// No cell: what there is to write does not fit.
    pub(super) const NONE: ShortCell = ShortCell(0);

    /// These bytes, if they fit.
    pub(super) fn of(bytes: &[u8], delimiter: u8) -> ShortCell {
        ShortCell::of_part(bytes, 0..bytes.len(), delimiter)
    }

    /// A part of these bytes, if it fits.
    #[inline]
    pub(super) fn of_part(all: &[u8], part: Range<usize>, delimiter: u8) -> ShortCell {
        let count = part.len();
        if count >= MOST_BYTES {
            return ShortCell::NONE;
        }
        let word = match all[part.start..].first_chunk() {
            Some(chunk) => u64::from_le_bytes(*chunk) & !(u64::MAX << (8 * count)),
            None => {
                let mut chunk = [0; 8];
                chunk[..count].copy_from_slice(&all[part]);
                u64::from_le_bytes(chunk)
            }
        };
        ShortCell::new(word, count as u64, delimiter)
    }

    /// Text of `count` bytes.
    #[inline(always)]
    fn new(text: u64, count: u64, delimiter: u8) -> ShortCell {
        ShortCell(text | u64::from(delimiter) << (8 * count) | (count + 1) << COUNT)
    }

    /// An integer in decimal, if it fits.
    #[inline(always)]
    pub(super) fn of_unsigned(value: u64, delimiter: u8) -> ShortCell {
        ShortCell::of_integer(value, false, delimiter)
    }

    /// An integer in decimal, if it fits.
    #[inline(always)]
    pub(super) fn of_signed(value: i64, delimiter: u8) -> ShortCell {
        ShortCell::of_integer(value.unsigned_abs(), value < 0, delimiter)
    }

    /// All without a branch and a table, so that the cells of several values are made at once.
    #[inline(always)]
    fn of_integer(size: u64, is_negative: bool, delimiter: u8) -> ShortCell {
        let sign = u64::from(is_negative);
        let above = |most: u64| u64::from(size > most);
        let zeros = 5 - above(9) - above(99) - above(999) - above(9_999) - above(99_999);
        let count = 6 - zeros + sign;
        let digits = six_digits(size & u64::from(u32::MAX)) >> (8 * zeros);
        let text = digits << (8 * sign) | (sign * u64::from(b'-'));
        let ShortCell(word) = ShortCell::new(text, count, delimiter);
        let fits = size < 1_000_000 && count < MOST_BYTES as u64;
        ShortCell(word & u64::from(fits).wrapping_neg())
    }

    /// The bytes, and how many of them are the cell's.
    #[inline]
    pub(super) fn bytes(self) -> Option<([u8; 8], usize)> {
        (self != ShortCell::NONE).then(|| (self.0.to_le_bytes(), (self.0 >> COUNT) as usize))
    }
}

/// Six digits of a number below a million, the first one in the lowest byte: of any other number of 32 bits six bytes.
#[inline(always)]
fn six_digits(value: u64) -> u64 {
    // Three digits each in two halves of the word; then each digit of both at once. A product with the inverse of a power of ten, rounded
    // up, has that power's quotient above the point for numbers as small as these. What it makes of others is not used.
    let thousands = (value * 274_877_907) >> 38;
    let halves = thousands | (value - thousands * 1_000) << 32;
    let hundreds = ((halves * 41) >> 12) & 0x0000_000f_0000_000f;
    let rest = halves.wrapping_sub(hundreds * 100);
    let tens = (rest.wrapping_mul(103) >> 10) & 0x0000_000f_0000_000f;
    let ones = rest.wrapping_sub(tens * 10);
    let digits = hundreds | tens << 8 | ones << 16;
    (digits & 0xff_ffff | (digits >> 32) << 24) | 0x3030_3030_3030
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(cell: ShortCell) -> Option<String> {
        let (bytes, length) = cell.bytes()?;
        Some(String::from_utf8(bytes[..length].to_vec()).unwrap())
    }

    #[test]
    fn each_integer_that_fits_is_as_the_standard_library_writes_it() {
        for value in -100_100..1_000_100 {
            let expected = format!("{value}");
            let expected = (expected.len() <= 6).then(|| expected + ";");
            assert_eq!(text(ShortCell::of_signed(value, b';')), expected);
            if let Ok(value) = value.try_into() {
                assert_eq!(text(ShortCell::of_unsigned(value, b';')), expected);
            }
        }
        let large = (1_000_000..i64::from(u32::MAX))
            .step_by(9_999)
            .flat_map(|value| [value, value << 32]);
        for value in large.chain([i64::MIN, i64::MIN + 1, i64::MAX, -(1 << 32), 1 << 32]) {
            assert_eq!(ShortCell::of_signed(value, b';'), ShortCell::NONE);
            assert_eq!(ShortCell::of_unsigned(value as u64, b';'), ShortCell::NONE);
        }
    }

    #[test]
    fn each_part_that_fits_is_whole_wherever_it_lies() {
        let all = b"abcdefghijklmnop";
        for start in 0..=all.len() {
            for end in start..=all.len() {
                let mut expected = String::from_utf8(all[start..end].to_vec()).unwrap();
                expected.push(',');
                let expected = (expected.len() <= MOST_BYTES).then_some(expected);
                assert_eq!(text(ShortCell::of_part(all, start..end, b',')), expected);
            }
        }
    }
}
