use super::encode::{delta, pays};
use super::{Codec, Effort, encode};
use crate::kernels::{Word, vectorised};
use crate::packed::Mode;
use crate::packed::bytes::Output;

/// The most entries that are tried, and how many of them are near when they are looked up.
pub(super) const MOST: usize = 1 << 15;
pub(super) const NEAR: usize = 1 << 13;

/// Writes the list as a dictionary, unless it turns out to be none; then nothing is written.
pub(super) fn write<W: Word>(
    offsets: &[W],
    base: u64,
    width: u32,
    expected: usize,
    effort: Effort,
    out: &mut Output<'_>,
) -> bool {
    // As soon as it cannot pay, or the expectation proves wrong, it is given up.
    let most = MOST.min(offsets.len() / 2).min(expected).max(2);
    let range = crate::kernels::mask(width);
    let words = range / 64 + 1;
    let found = if words <= offsets.len() as u64 {
        by_bitmap(offsets, words as usize, most)
    } else {
        // For short lists, order takes more time than it saves.
        let in_order = effort.mode.tries_hard() || offsets.len() >= 4096;
        by_hash(offsets, most, in_order)
    };
    let Some((entries, codes)) = found else {
        return false;
    };
    let start = out.bytes.len();
    out.byte(Codec::Dictionary as u8);
    out.zigzag(base);
    out.varint(entries.len() as u64);
    if !effort.mode.tries_hard() && entries.len() > 4 && entries.is_sorted() {
        // The differences are smaller, and need not be compared with anything.
        delta(&entries, 0, width, effort.inner(), out);
    } else {
        let behind = out.bytes.len();
        encode::<u64>(&entries, effort.inner(), out);
        if effort.mode == Mode::Small && entries.len() > 4 {
            let (own, most) = (out.bytes.len(), out.slack);
            delta(&entries, 0, width, effort.inner(), out);
            out.keep_smaller(behind, own);
            out.slack = most;
        }
    }
    encode(&codes, effort.inner().of_codes(), out);
    pays(start, offsets.len(), width, out)
}

/// The different values, and for each place which of them it is.
type Found = (Vec<u64>, Vec<u16>);

/// By a bitmap of all offsets below 64 times `words`: a value's code is the number of bits set before its own, so that
/// values are in order. `None` if more than `most` occur.
#[inline(never)]
fn by_bitmap<W: Word>(offsets: &[W], words: usize, most: usize) -> Option<Found> {
    let mut bitmap = vec![0_u64; words];
    if vectorised(|| mark(offsets, &mut bitmap)) > most {
        return None;
    }
    let mut entries = Vec::with_capacity(most);
    let mut before = vec![0; words];
    for (index, (before, &word)) in (0..).zip(before.iter_mut().zip(&bitmap)) {
        *before = entries.len() as u16;
        let mut left = word;
        while left != 0 {
            entries.push(index * 64 + u64::from(left.trailing_zeros()));
            left &= left - 1;
        }
    }
    let mut codes = vec![0; offsets.len()];
    vectorised(|| ranks(offsets, &bitmap, &before, &mut codes));
    Some((entries, codes))
}

/// Sets each value's bit, and says how many are set.
#[inline(always)]
fn mark<W: Word>(offsets: &[W], bitmap: &mut [u64]) -> usize {
    for value in offsets {
        let value = value.get();
        bitmap[(value / 64) as usize] |= 1 << (value % 64);
    }
    bitmap.iter().map(|word| word.count_ones() as usize).sum()
}

/// How many bits are set before each value's.
#[inline(always)]
fn ranks<W: Word>(offsets: &[W], bitmap: &[u64], before: &[u16], codes: &mut [u16]) {
    let before = &before[..bitmap.len()];
    for (code, value) in codes.iter_mut().zip(offsets) {
        let index = (value.get() / 64) as usize;
        let below = bitmap[index] & !(u64::MAX << (value.get() % 64));
        *code = before[index] + below.count_ones() as u16;
    }
}

/// By a table of places that a multiplication leads to. `None` if more than `most` values differ.
#[inline(never)]
fn by_hash<W: Word>(offsets: &[W], most: usize, sorted: bool) -> Option<Found> {
    // At most half full, so that a search ends soon.
    let bits = (most * 2).next_power_of_two().trailing_zeros().max(6);
    let last = (1_usize << bits) - 1;
    // A place that holds the first value is that value's, or free: one comparison finds what is there.
    let first = *offsets.first()?;
    let mut table = vec![(first, 0_u16); last + 1];
    let mut entries: Vec<W> = vec![first];
    let mut codes = vec![0_u16; offsets.len()];
    for (code, &value) in codes.iter_mut().zip(offsets) {
        let hash = value.get().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits);
        let mut place = hash as usize;
        *code = loop {
            let (held, code) = table[place];
            if held == value {
                break code;
            }
            if held == first {
                if entries.len() == most {
                    return None;
                }
                let code = entries.len() as u16;
                table[place] = (value, code);
                entries.push(value);
                break code;
            }
            place = (place + 1) & last;
        };
    }
    if sorted {
        in_order(&mut entries, &mut codes);
    }
    Some((entries.into_iter().map(W::get).collect(), codes))
}

/// In order, entries are smaller, and codes keep what order the values had.
fn in_order<W: Word>(entries: &mut [W], codes: &mut [u16]) {
    let mut order: Vec<(W, u16)> = entries.iter().copied().zip(0..).collect();
    order.sort_unstable_by_key(|&(value, _)| value);
    let mut renamed = vec![0_u16; entries.len()];
    for (rank, (entry, &(value, code))) in entries.iter_mut().zip(&order).enumerate() {
        renamed[code as usize] = rank as u16;
        *entry = value;
    }
    codes
        .iter_mut()
        .for_each(|code| *code = renamed[*code as usize]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bitmap_finds_what_a_hash_table_finds() {
        for kinds in [1_u64, 2, 63, 64, 65, 700] {
            for stretch in [1, 7, 64, 300] {
                let offsets: Vec<u32> = (0..5000_u64)
                    .map(|n| (n * n % kinds * stretch) as u32)
                    .collect();
                let words = kinds * stretch / 64 + 1;
                let found = by_bitmap(&offsets, words as usize, 4096);
                assert_eq!(found, by_hash(&offsets, 4096, true), "{kinds} {stretch}");
                let entries = found.map_or(0, |found| found.0.len());
                assert!(by_bitmap(&offsets, words as usize, entries).is_some());
                assert!(by_bitmap(&offsets, words as usize, entries - 1).is_none());
            }
        }
    }
}
