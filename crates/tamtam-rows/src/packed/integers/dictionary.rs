//! Lists of few different integers: each once, and numbers for them.

use super::choose::is_packed;
use super::encode::{Written, delta, pays};
use super::{Codec, Effort, encode};
use crate::kernels::{Word, packed_bytes, vectorised};
use crate::packed::Mode;
use crate::packed::bytes::Output;

/// The most entries that are tried, and how many of them are near when they are looked up.
pub(super) const MOST_ENTRIES: usize = 1 << 15;
pub(super) const NEAR: usize = 1 << 13;

/// From how many values on entries are in order in each mode: in shorter lists, order takes more time than it saves.
pub(super) const ORDERED_FROM: usize = 4096;

/// Whether entries are found by a bitmap, for offsets up to `range`: they are in order then.
pub(super) fn is_by_bitmap(range: u64, count: usize) -> bool {
    range / 64 < count as u64
}

/// Writes the list as a dictionary, unless it turns out to be none; then nothing is written.
pub(super) fn write<W: Word>(
    offsets: &[W],
    base: u64,
    width: u32,
    expected: usize,
    effort: Effort,
    out: &mut Output<'_>,
) -> Written {
    // As soon as it cannot pay, or the expectation proves wrong, it is given up.
    let most = MOST_ENTRIES.min(offsets.len() / 2).min(expected).max(2);
    let range = crate::kernels::mask(width);
    let found = if is_by_bitmap(range, offsets.len()) {
        by_bitmap(offsets, (range / 64 + 1) as usize, most)
    } else {
        by_hash(offsets, most)
    };
    let Some((mut entries, mut codes)) = found else {
        return Written::No;
    };
    let mut written = Written::Yes;
    let in_order = effort.mode.tries_hard() || offsets.len() >= ORDERED_FROM;
    if in_order && !entries.is_sorted() {
        if effort.mode == Mode::Small && offsets.len() < ORDERED_FROM {
            written = as_they_come(&entries, &codes, effort);
        }
        put_in_order(&mut entries, &mut codes);
    }
    let start = out.bytes.len();
    out.byte(Codec::Dictionary as u8);
    out.zigzag(base);
    out.varint(entries.len() as u64);
    if entries.len() > 4 && entries.is_sorted() {
        // The differences are smaller, and need not be compared with anything, unless they hardly are.
        let (behind, slack) = (out.bytes.len(), out.slack);
        delta(&entries, 0, width, effort.inner(), out);
        let own = out.bytes.len() - behind;
        if effort.mode.tries_hard() && own * 10 > packed_bytes(entries.len(), width) * 9 {
            let most = std::mem::replace(&mut out.slack, slack);
            encode::<u64>(&entries, effort.inner(), out);
            out.keep_smaller(behind, behind + own);
            // The mode packed does not try the second way.
            out.slack = most + own - (out.bytes.len() - behind);
        }
    } else {
        encode::<u64>(&entries, effort.inner(), out);
    }
    encode(&codes, effort.inner().of_codes(), out);
    if pays(start, offsets.len(), width, out) {
        written
    } else {
        Written::No
    }
}

/// How the mode packed, which would leave these entries as they come, would write them and their codes: if as packed lists, in
/// no less than they take in order.
fn as_they_come(entries: &[u64], codes: &[u16], effort: Effort) -> Written {
    let effort = effort.packed().inner();
    let last = entries.len() as u64 - 1;
    let (least, most) = (entries.iter().min(), entries.iter().max());
    let range = most.zip(least).map_or(0, |(most, least)| most - least);
    let is_packed = is_packed(codes, 0, last, effort.of_codes())
        && is_packed(entries, least.copied().unwrap_or(0), range, effort);
    if is_packed {
        Written::Yes
    } else {
        Written::Reordered
    }
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

/// What the hash multiplies by: 2^64 divided by the golden ratio (Fibonacci hashing, Knuth).
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// How many places of a table are looked at in vain for each value, on average, before it is given up: of values that were not
/// chosen to meet there, less than one is.
const VAIN_LOOKS_A_VALUE: usize = 16;

/// By a table of places that a multiplication leads to, in the order in which values come. `None` if more than `most` differ, or
/// so many lead to the same places that it would take long.
#[inline(never)]
fn by_hash<W: Word>(offsets: &[W], most: usize) -> Option<Found> {
    // At most half full, so that a search ends soon.
    let bits = (most * 2).next_power_of_two().trailing_zeros().max(6);
    let last = (1_usize << bits) - 1;
    // A place that holds the first value is that value's, or free: one comparison finds what is there.
    let first = *offsets.first()?;
    let mut table = vec![(first, 0_u16); last + 1];
    let mut entries: Vec<W> = vec![first];
    let mut codes = vec![0_u16; offsets.len()];
    let mut patience = offsets.len() * VAIN_LOOKS_A_VALUE;
    for (code, &value) in codes.iter_mut().zip(offsets) {
        let hash = value.get().wrapping_mul(FACTOR) >> (64 - bits);
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
            patience = patience.checked_sub(1)?;
            place = (place + 1) & last;
        };
    }
    Some((entries.into_iter().map(W::get).collect(), codes))
}

/// In order, entries are smaller, and codes keep what order the values had.
fn put_in_order(entries: &mut [u64], codes: &mut [u16]) {
    let mut order: Vec<(u64, u16)> = entries.iter().copied().zip(0..).collect();
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
    fn values_that_are_chosen_to_meet_in_one_place_are_given_up() {
        // The number by which a product with the hash's factor becomes the other one again.
        let inverse = (0..6).fold(FACTOR, |inverse, _| {
            inverse.wrapping_mul(2_u64.wrapping_sub(FACTOR.wrapping_mul(inverse)))
        });
        assert_eq!(inverse.wrapping_mul(FACTOR), 1);
        let kinds = 12_000;
        let meeting: Vec<u64> = (0..65_536)
            .map(|row| inverse.wrapping_mul(row * 7 % kinds))
            .collect();
        assert!(by_hash(&meeting, MOST_ENTRIES).is_none());
        let scattered: Vec<u64> = (0..65_536).map(|row| row * 7 % kinds).collect();
        let (entries, codes) = by_hash(&scattered, MOST_ENTRIES).unwrap();
        assert_eq!(entries.len(), kinds as usize);
        assert!(
            codes
                .iter()
                .zip(&scattered)
                .all(|(&code, &value)| entries[usize::from(code)] == value)
        );
        // As few of them as lead to short searches are a dictionary.
        let few: Vec<u64> = meeting
            .iter()
            .map(|value| value.wrapping_mul(FACTOR) % 16)
            .map(|value| inverse.wrapping_mul(value))
            .collect();
        assert_eq!(by_hash(&few, MOST_ENTRIES).unwrap().0.len(), 16);
    }

    #[test]
    fn a_bitmap_finds_what_a_hash_table_finds() {
        for kinds in [1_u64, 2, 63, 64, 65, 700] {
            for stretch in [1, 7, 64, 300] {
                let offsets: Vec<u32> = (0..5000_u64)
                    .map(|n| (n * n % kinds * stretch) as u32)
                    .collect();
                let words = kinds * stretch / 64 + 1;
                let found = by_bitmap(&offsets, words as usize, 4096);
                let (mut by_hash, mut codes) = by_hash(&offsets, 4096).unwrap();
                put_in_order(&mut by_hash, &mut codes);
                assert_eq!(found, Some((by_hash, codes)), "{kinds} {stretch}");
                let entries = found.map_or(0, |found| found.0.len());
                assert!(by_bitmap(&offsets, words as usize, entries).is_some());
                assert!(by_bitmap(&offsets, words as usize, entries - 1).is_none());
            }
        }
    }
}
