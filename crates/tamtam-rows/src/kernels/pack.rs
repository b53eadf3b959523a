//! Packing integers with a fixed number of bits each.

use super::{Word, packed_bytes, vectorised, width_of};

/// How many bytes behind the packed ones may be written to, so that whole words can be stored without looking.
const SLACK: usize = 16;

/// Appends `values` to `out`, `width` bits each. Values must fit the width.
pub(crate) fn pack<W: Word>(values: &[W], width: u32, out: &mut Vec<u8>) {
    pack_offsets(values, W::of(0), width, out);
}

/// Appends what each value is above `base` to `out`, `width` bits each, which must be enough.
pub(crate) fn pack_offsets<W: Word>(values: &[W], base: W, width: u32, out: &mut Vec<u8>) {
    debug_assert!(
        values
            .iter()
            .all(|value| width_of(value.less(base).get()) <= width)
    );
    if width == 0 {
        return;
    }
    out.reserve(packed_bytes(values.len(), width) + SLACK);
    if W::BITS == 64 && width <= u32::BITS {
        return narrowed(values, base, width, out);
    }
    #[cfg(target_arch = "x86_64")]
    let done = super::x86::pack(values, base, width, out);
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    portable(&values[done..], base, width, out);
}

/// As words of half the width, which are packed several at once.
fn narrowed<W: Word>(values: &[W], base: W, width: u32, out: &mut Vec<u8>) {
    // So many take whole bytes of any width.
    const BLOCK: usize = 512;
    let mut words = [0_u32; BLOCK];
    for block in values.chunks(BLOCK) {
        let words = &mut words[..block.len()];
        vectorised(|| {
            for (word, value) in words.iter_mut().zip(block) {
                *word = value.less(base).get() as u32;
            }
        });
        pack_offsets::<u32>(words, 0, width, out);
    }
}

pub(super) fn portable<W: Word>(values: &[W], base: W, width: u32, out: &mut Vec<u8>) {
    if values.is_empty() {
        return;
    }
    let start = out.len();
    let end = start + packed_bytes(values.len(), width);
    out.resize(end + SLACK, 0);
    let bytes = &mut out[start..];
    if width.is_multiple_of(8) {
        // Whole bytes: each value's word is stored where it belongs, and what is too much of it overwritten.
        let step = width as usize / 8;
        for (index, value) in values.iter().enumerate() {
            let at = index * step;
            bytes[at..at + 8].copy_from_slice(&value.less(base).get().to_le_bytes());
        }
    } else {
        bit_by_bit(values, base, width, bytes);
    }
    out.truncate(end);
}

fn bit_by_bit<W: Word>(values: &[W], base: W, width: u32, bytes: &mut [u8]) {
    let mut held = 0_u64;
    let mut count = 0;
    let mut at = 0;
    for value in values {
        let value = value.less(base).get();
        held |= value << count;
        count += width;
        if count >= 64 {
            bytes[at..at + 8].copy_from_slice(&held.to_le_bytes());
            at += 8;
            count -= 64;
            held = if count == 0 {
                0
            } else {
                value >> (width - count)
            };
        }
    }
    if count > 0 {
        bytes[at..at + 8].copy_from_slice(&held.to_le_bytes());
    }
}
