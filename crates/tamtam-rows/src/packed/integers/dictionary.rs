use super::encode::pays;
use super::{Codec, Effort, encode};
use crate::kernels::Word;
use crate::packed::Mode;
use crate::packed::bytes::Output;

/// The most entries that are tried.
pub(super) const MOST: usize = 1 << 13;

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
    let most = MOST.min(offsets.len() / 2).min(expected * 3 + 32).max(2);
    let range = crate::kernels::mask(width) as usize;
    let found = if range < offsets.len() * 4 && range <= u16::MAX.into() {
        by_table(offsets, range, most)
    } else {
        // For short lists, order takes more time than it saves.
        let in_order = effort.mode == Mode::Small || offsets.len() >= 4096;
        by_hash(offsets, most, in_order)
    };
    let Some((entries, codes)) = found else {
        return false;
    };
    let start = out.bytes.len();
    out.byte(Codec::Dictionary as u8);
    out.zigzag(base);
    out.varint(entries.len() as u64);
    encode::<u64>(&entries, effort.inner(), out);
    encode(&codes, effort.inner(), out);
    pays(start, offsets.len(), width, out)
}

/// The different values, and for each place which of them it is.
type Found = (Vec<u64>, Vec<u16>);

/// By a table of all offsets up to `range`; the values are in order then. `None` if more than `most` occur.
fn by_table<W: Word>(offsets: &[W], range: usize, most: usize) -> Option<Found> {
    let mut table = vec![u16::MAX; range + 1];
    let mut count = 0;
    for part in offsets.chunks(1024) {
        for value in part {
            let place = &mut table[value.get() as usize];
            count += usize::from(*place != 0);
            *place = 0;
        }
        if count > most {
            return None;
        }
    }
    let mut entries = Vec::with_capacity(count);
    for (value, code) in table.iter_mut().enumerate() {
        if *code == 0 {
            *code = entries.len() as u16;
            entries.push(value as u64);
        }
    }
    let codes = offsets
        .iter()
        .map(|value| table[value.get() as usize])
        .collect();
    Some((entries, codes))
}

/// By a table of places that a multiplication leads to. `None` if more than `most` values differ.
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
