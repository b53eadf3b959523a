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
    let Some((mut entries, mut codes)) = index(offsets, most) else {
        return false;
    };
    // For short lists that takes more time than it saves.
    if effort.mode == Mode::Small || offsets.len() >= 4096 {
        in_order(&mut entries, &mut codes);
    }
    let entries: Vec<u64> = entries.into_iter().map(W::get).collect();
    let start = out.bytes.len();
    out.byte(Codec::Dictionary as u8);
    out.zigzag(base);
    out.varint(entries.len() as u64);
    encode(&entries, effort.inner(), out);
    encode(&codes, effort.inner(), out);
    pays(start, offsets.len(), width, out)
}

/// The different values, and for each place which it is. `None` if there are more than `most`.
fn index<W: Word>(offsets: &[W], most: usize) -> Option<(Vec<W>, Vec<u16>)> {
    // At most half full, so that a search ends soon.
    let bits = (most * 2).next_power_of_two().trailing_zeros().max(6);
    let mut table = vec![(W::of(0), u16::MAX); 1 << bits];
    let mut entries: Vec<W> = Vec::new();
    let mut codes: Vec<u16> = Vec::with_capacity(offsets.len());
    for &value in offsets {
        let mut place = (value.get().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize;
        let code = loop {
            let (held, code) = table[place];
            if held == value && code != u16::MAX {
                break code;
            }
            if code == u16::MAX {
                if entries.len() == most {
                    return None;
                }
                let code = entries.len() as u16;
                table[place] = (value, code);
                entries.push(value);
                break code;
            }
            place = (place + 1) & ((1 << bits) - 1);
        };
        codes.push(code);
    }
    Some((entries, codes))
}

/// In order, entries are smaller, and codes keep what order the values had.
fn in_order<W: Word>(entries: &mut [W], codes: &mut [u16]) {
    let mut order: Vec<u16> = (0..entries.len() as u16).collect();
    order.sort_unstable_by_key(|&code| entries[code as usize]);
    let mut renamed = vec![0_u16; entries.len()];
    for (rank, &code) in order.iter().enumerate() {
        renamed[code as usize] = rank as u16;
    }
    codes
        .iter_mut()
        .for_each(|code| *code = renamed[*code as usize]);
    entries.sort_unstable();
}
