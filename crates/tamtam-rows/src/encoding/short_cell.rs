//! Cells of text so short that they fit into a word.

use std::ops::Range;

use crate::Strings;
use crate::ends::Ends;
use crate::kernels::{Loops, vectorised};

/// A cell of at most seven bytes with the delimiter behind it, in a word: the bytes in the order in which they are written, the first
/// one lowest, and in the word's highest byte how many they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShortCell(u64);

/// So many bytes fit.
const MOST_BYTES: usize = 7;
/// Where the number of bytes is.
const COUNT: u32 = 56;
/// So many bits are the length of a cell that does not fit, and those between them and the number of bytes its place: no number has
/// so many digits, and no block so much memory.
const LENGTH: u32 = 16;
/// Where the bytes are.
const TEXT: u64 = u64::MAX >> 8;

impl ShortCell {
    /// No cell: what there is to write does not fit.
    pub(super) const NONE: ShortCell = ShortCell(0);

    /// A cell that does not fit, and is at this place of the bytes that were spelled.
    #[inline]
    pub(super) fn elsewhere(place: Range<usize>) -> ShortCell {
        ShortCell((place.start as u64) << LENGTH | place.len() as u64)
    }

    /// Where a cell is that does not fit: nowhere, if it was not spelled.
    #[inline]
    pub(super) fn place(self) -> Range<usize> {
        let start = (self.0 >> LENGTH) as usize;
        start..start + (self.0 % (1 << LENGTH)) as usize
    }

    /// A cell without text.
    pub(super) fn empty(delimiter: u8) -> ShortCell {
        ShortCell(u64::from(delimiter) | 1 << COUNT)
    }

    /// The bytes, and how many of them are the cell's: none, if it has no word.
    #[inline(always)]
    pub(super) fn bytes(self) -> ([u8; 8], usize) {
        (self.0.to_le_bytes(), (self.0 >> COUNT) as usize)
    }
}

/// So many integers become cells together, each with 16 bits as far as these suffice: the loops over them stay loops, for vectors.
pub(super) const LANES: usize = 64;
/// Of fewer, so many.
const FEWER_LANES: usize = 16;
/// So few are sooner done one by one.
const ONE_BY_ONE: usize = 3;

/// Makes cells of integers in decimal.
pub(super) fn of_integers<N: Integer>(values: &[N], cells: &mut [ShortCell], delimiter: u8) {
    vectorised(Integers {
        values,
        cells,
        delimiter,
    });
}

struct Integers<'a, N> {
    values: &'a [N],
    cells: &'a mut [ShortCell],
    delimiter: u8,
}

impl<N: Integer> Loops for Integers<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (cells, last_cells) = self.cells.as_chunks_mut::<LANES>();
        let (values, last_values) = self.values.as_chunks();
        for (values, cells) in values.iter().zip(cells) {
            of_lanes(values, cells, self.delimiter);
        }
        let some = last_values.len();
        if some > 2 * FEWER_LANES {
            of_padded::<N, LANES>(last_values, last_cells, self.delimiter);
        } else if some > ONE_BY_ONE {
            let values = last_values.chunks(FEWER_LANES);
            for (values, cells) in values.zip(last_cells.chunks_mut(FEWER_LANES)) {
                of_padded::<N, FEWER_LANES>(values, cells, self.delimiter);
            }
        } else {
            for (value, cell) in last_values.iter().zip(last_cells) {
                let mut cells = [ShortCell::NONE];
                of_lanes(&[*value], &mut cells, self.delimiter);
                [*cell] = cells;
            }
        }
    }
}

/// Of fewer integers than there are lanes.
#[inline(always)]
fn of_padded<N: Integer, const AT_ONCE: usize>(
    values: &[N],
    cells: &mut [ShortCell],
    delimiter: u8,
) {
    let (mut padded, mut made) = ([N::default(); AT_ONCE], [ShortCell::NONE; AT_ONCE]);
    padded[..values.len()].copy_from_slice(values);
    of_lanes(&padded, &mut made, delimiter);
    cells.copy_from_slice(&made[..cells.len()]);
}

/// All without a branch and a table, so that no lane waits for others. A loop over all lanes for each step: so the compiler makes vectors of them.
#[inline(always)]
fn of_lanes<N: Integer, const AT_ONCE: usize>(
    values: &[N; AT_ONCE],
    cells: &mut [ShortCell; AT_ONCE],
    delimiter: u8,
) {
    let (mut high, mut low, mut minus) = ([0; AT_ONCE], [0; AT_ONCE], [0; AT_ONCE]);
    for lane in 0..AT_ONCE {
        (high[lane], low[lane]) = values[lane].split();
        minus[lane] = u16::from(values[lane].is_negative()) * u16::from(b'-');
    }
    let mut pairs = [[0; AT_ONCE]; 3];
    for lane in 0..AT_ONCE {
        let hundreds = product(low[lane], 5_243) >> 3;
        pairs[0][lane] = two_digits(high[lane]);
        pairs[1][lane] = two_digits(hundreds);
        pairs[2][lane] = two_digits(low[lane] - hundreds * 100);
    }
    let (mut zeros, mut count) = ([0; AT_ONCE], [0; AT_ONCE]);
    for lane in 0..AT_ONCE {
        let (high, low) = (high[lane] as i16, low[lane] as i16);
        let above = |size: i16, most: i16| u16::from(size > most);
        let is_long = above(high, 0);
        // Where there are more than four digits, the lower ones are all there.
        let low = low | (is_long.wrapping_neg() >> 1) as i16;
        let digits =
            1 + above(low, 9) + above(low, 99) + above(low, 999) + is_long + above(high, 9);
        let bytes = u16::from(minus[lane] > 0) + digits + 1;
        let fits = above(100, high) & above(MOST_BYTES as i16 + 1, bytes as i16);
        zeros[lane] = 6 - digits;
        count[lane] = bytes & fits.wrapping_neg();
    }
    for lane in 0..AT_ONCE {
        let digits = u64::from(pairs[0][lane])
            | u64::from(pairs[1][lane]) << 16
            | u64::from(pairs[2][lane]) << 32;
        let ended = digits | 0x3030_3030_3030 | u64::from(delimiter) << 48;
        let unsigned = ended >> (8 * zeros[lane]);
        // A place for the sign: its byte has the bit of the value 8.
        let minus = u64::from(minus[lane]);
        let text = unsigned << (minus & 8) | minus;
        cells[lane] = ShortCell(text & TEXT | u64::from(count[lane]) << COUNT);
    }
}

/// The upper half of a product.
#[inline(always)]
fn product(one: u16, other: u16) -> u16 {
    ((u32::from(one) * u32::from(other)) >> 16) as u16
}

/// The digits of a number below a hundred as numbers, the first one in the lower byte.
#[inline(always)]
fn two_digits(value: u16) -> u16 {
    let tens = (value * 103) >> 10;
    tens | (value - tens * 10) << 8
}

/// An integer of a column.
pub(super) trait Integer: Copy + Default {
    fn is_negative(self) -> bool;
    /// How many times 10,000 its size is, and what is left; 100 times, if it has more than six digits.
    fn split(self) -> (u16, u16);
}

macro_rules! integers {
    ($($type:ty: $size:expr, $split:path;)*) => {$(
        impl Integer for $type {
            #[inline(always)]
            fn is_negative(self) -> bool {
                #[allow(unused_comparisons)]
                { self < 0 }
            }

            #[inline(always)]
            fn split(self) -> (u16, u16) {
                $split($size(self))
            }
        }
    )*};
}
integers! {
    i8: |value: i8| value.unsigned_abs().into(), split_narrow;
    i16: i16::unsigned_abs, split_narrow;
    i32: |value: i32| value.unsigned_abs().min(1_000_000), split_wide;
    i64: |value: i64| value.unsigned_abs().min(1_000_000) as u32, split_wide;
    u8: u16::from, split_narrow;
    u16: |value: u16| value, split_narrow;
    u32: |value: u32| value.min(1_000_000), split_wide;
    u64: |value: u64| value.min(1_000_000) as u32, split_wide;
}

/// Of a size of 16 bits.
#[inline(always)]
fn split_narrow(size: u16) -> (u16, u16) {
    let high = product(size >> 4, 6_711) >> 6;
    (high, size - high * 10_000)
}

/// Of a size of up to a million.
#[inline(always)]
fn split_wide(size: u32) -> (u16, u16) {
    let high = ((u64::from(size) * 429_497) >> 32) as u32;
    (high as u16, (size - high * 10_000) as u16)
}

/// Makes cells of truth values.
pub(super) fn of_truths(values: &[bool], cells: &mut [ShortCell], delimiter: u8) {
    let [no, yes] = [&b"false"[..], b"true"].map(|text| of_text(text, 0, text.len(), delimiter));
    for (cell, &value) in cells.iter_mut().zip(values) {
        *cell = if value { yes } else { no };
    }
}

/// Makes cells of the texts from the `first` on, of which none needs quotes but for being empty.
pub(super) fn of_texts(texts: &Strings, first: usize, cells: &mut [ShortCell], delimiter: u8) {
    let all = texts.all().as_bytes();
    match texts.ends() {
        Ends::Fixed { width, .. } => {
            let width = *width as usize;
            for (row, cell) in (first..).zip(cells) {
                *cell = of_text(all, row * width, width, delimiter);
            }
        }
        Ends::Each(offsets) => {
            let offsets = &offsets[first..=first + cells.len()];
            for (place, cell) in offsets.windows(2).zip(cells) {
                let (start, end) = (place[0] as usize, place[1] as usize);
                *cell = of_text(all, start, end - start, delimiter);
            }
        }
    }
}

/// Of `count` of the bytes.
#[inline(always)]
fn of_text(all: &[u8], start: usize, count: usize, delimiter: u8) -> ShortCell {
    if count == 0 {
        let text = u64::from_le_bytes([b'"', b'"', delimiter, 0, 0, 0, 0, 3]);
        return ShortCell(text);
    }
    if count >= MOST_BYTES {
        return ShortCell::NONE;
    }
    let word = match all[start..].first_chunk() {
        Some(chunk) => u64::from_le_bytes(*chunk) & !(u64::MAX << (8 * count)),
        None => {
            let mut chunk = [0; 8];
            chunk[..count].copy_from_slice(&all[start..start + count]);
            u64::from_le_bytes(chunk)
        }
    };
    ShortCell(word | u64::from(delimiter) << (8 * count) | (count as u64 + 1) << COUNT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(cell: ShortCell) -> Option<String> {
        let (bytes, length) = cell.bytes();
        let text = String::from_utf8(bytes[..length].to_vec()).unwrap();
        (length > 0).then_some(text)
    }

    fn integers<N: Integer + ToString>(values: impl IntoIterator<Item = N>) {
        let values: Vec<_> = values.into_iter().collect();
        let mut cells = vec![ShortCell::NONE; values.len()];
        of_integers(&values, &mut cells, b';');
        for (value, cell) in values.iter().zip(cells) {
            let expected = value.to_string();
            let fits = expected.len() < MOST_BYTES;
            assert_eq!(text(cell), fits.then_some(expected + ";"));
        }
    }

    #[test]
    fn each_integer_that_fits_is_as_the_standard_library_writes_it() {
        integers(i8::MIN..=i8::MAX);
        integers(u8::MIN..=u8::MAX);
        integers(i16::MIN..=i16::MAX);
        integers(u16::MIN..=u16::MAX);
        integers(-1_000_100..1_000_100_i32);
        integers(0..1_000_100_u32);
    }

    #[test]
    fn integers_that_do_not_fit_are_none() {
        let powers = (0..64).map(|power| 1_u64 << power);
        let tens = (0..20).map(|power| 10_u64.pow(power));
        let sizes = powers.chain(tens).chain((0..u64::MAX).step_by(1 << 52));
        let values = sizes.flat_map(|size| [size.wrapping_sub(1), size, size + 1]);
        let values: Vec<_> = values.chain([u64::MAX]).collect();
        integers(values.iter().map(|value| *value as i64));
        integers(values.iter().map(|value| (*value as i64).wrapping_neg()));
        integers(values.iter().map(|value| *value as i32));
        integers(values.iter().map(|value| (*value as i32).wrapping_neg()));
        integers(values.iter().map(|value| *value as u32));
        integers(values);
    }

    #[test]
    fn there_may_be_any_number_of_integers() {
        for count in 0..3 * LANES as i16 {
            integers(100 - count..100);
            integers((0..i64::from(count)).map(|value| value * 30_000 - 70_000));
        }
    }

    #[test]
    fn truth_values_are_words() {
        let mut cells = [ShortCell::NONE; 2];
        of_truths(&[true, false], &mut cells, b'\n');
        let texts = cells.map(|cell| text(cell).unwrap());
        assert_eq!(texts, ["true\n", "false\n"]);
        assert_eq!(text(ShortCell::empty(b',')).unwrap(), ",");
    }

    #[test]
    fn a_cell_that_does_not_fit_says_where_it_is() {
        for place in [0..1, 5..70, 1 << 39..(1 << 39) + 65_535] {
            let cell = ShortCell::elsewhere(place.clone());
            assert_eq!((text(cell), cell.place()), (None, place));
        }
    }

    fn texts(texts: &[&str]) {
        let column: Strings = texts.iter().copied().collect();
        for first in 0..=texts.len() {
            let mut cells = vec![ShortCell::NONE; texts.len() - first];
            of_texts(&column, first, &mut cells, b',');
            for (expected, cell) in texts[first..].iter().zip(cells) {
                let expected = if expected.is_empty() {
                    "\"\""
                } else {
                    expected
                };
                let fits = expected.len() < MOST_BYTES;
                assert_eq!(text(cell), fits.then_some(format!("{expected},")));
            }
        }
    }

    #[test]
    fn each_text_that_fits_is_whole_wherever_it_lies() {
        let all = "abcdefghijklmnop";
        for length in 0..=all.len() {
            let text = &all[..length];
            texts(&[text]);
            texts(&[text; 5]);
            texts(&[text, "x", "", text, "yz", text]);
            texts(&[text, text, "0123456789", ""]);
        }
    }
}
