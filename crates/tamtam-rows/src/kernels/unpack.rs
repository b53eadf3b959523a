//! Unpacking integers with a fixed number of bits each, with vector instructions where there are any.

use super::{Word, mask, packed_bytes};

/// Reads values of `width` bits, as many as `out` takes. Bits beyond the word's are cut off. Bytes behind those that
/// the values take may be loaded, and mean nothing.
///
/// # Panics
/// If there are fewer bytes than that takes.
pub(crate) fn unpack<W: Word>(bytes: &[u8], width: u32, out: &mut [W]) {
    if width == 0 {
        out.fill(W::of(0));
        return;
    }
    assert!(bytes.len() >= packed_bytes(out.len(), width));
    #[cfg(target_arch = "x86_64")]
    let done = super::x86::unpack(bytes, width, out);
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    portable(&bytes[done * width as usize / 8..], width, &mut out[done..]);
}

pub(super) fn portable<W: Word>(bytes: &[u8], width: u32, out: &mut [W]) {
    let mask = mask(width);
    let whole = bytes.len().saturating_sub(8) * 8;
    let mut at = 0_usize;
    if width <= 57 {
        // A word from the byte in which the value begins holds all of it.
        for place in out.iter_mut() {
            if at >= whole {
                *place = W::of(last(bytes, at, width));
            } else {
                let from = at / 8;
                let word = u64::from_le_bytes(bytes[from..from + 8].try_into().expect("8 bytes"));
                *place = W::of(word >> (at % 8) & mask);
            }
            at += width as usize;
        }
    } else {
        for place in out.iter_mut() {
            *place = W::of(last(bytes, at, width));
            at += width as usize;
        }
    }
}

/// Byte by byte, for what lies near the end or is very wide.
fn last(bytes: &[u8], at: usize, width: u32) -> u64 {
    let mut value = 0_u128;
    let first = at / 8;
    for (index, &byte) in bytes[first..].iter().take(9).enumerate() {
        value |= u128::from(byte) << (8 * index);
    }
    (value >> (at % 8)) as u64 & mask(width)
}

#[cfg(test)]
mod tests {
    use super::super::pack::{pack, pack_offsets, portable as portable_pack};
    use super::super::{mask, packed_bytes};
    use super::*;

    fn values(count: usize, width: u32) -> Vec<u64> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ u64::from(width) ^ count as u64;
        (0..count)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state & mask(width)
            })
            .collect()
    }

    fn each_way<W: Word>() {
        let counts: &[usize] = if cfg!(miri) {
            &[1, 9, 33]
        } else {
            &[0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 100, 1000, 1025]
        };
        for width in 0..=W::BITS {
            for &count in counts {
                let values: Vec<W> = values(count, width).into_iter().map(W::of).collect();
                let mut bytes = vec![0xaa];
                pack(&values, width, &mut bytes);
                assert_eq!(bytes.len(), 1 + packed_bytes(count, width));
                // The fast forms give the same bytes as the portable one.
                if width > 0 {
                    let mut expected = vec![0xaa];
                    portable_pack(&values, W::of(0), width, &mut expected);
                    assert_eq!(bytes, expected, "{count} of {width} bits");
                    // From a base on, even if values then wrap around.
                    for base in [1, u64::MAX, 0x9e37_79b9_7f4a_7c15].map(W::of) {
                        let above: Vec<W> = values
                            .iter()
                            .map(|value| value.less(W::of(base.get().wrapping_neg())))
                            .collect();
                        let mut offsets = vec![0xaa];
                        pack_offsets(&above, base, width, &mut offsets);
                        assert_eq!(offsets, expected, "{count} of {width} bits from {base:?}");
                    }
                }
                let mut back = vec![W::of(u64::MAX); count];
                unpack(&bytes[1..], width, &mut back);
                assert_eq!(back, values, "{count} of {width} bits");
                let mut back = vec![W::of(u64::MAX); count];
                if width > 0 {
                    portable(&bytes[1..], width, &mut back);
                    assert_eq!(back, values, "{count} of {width} bits, portable");
                }
            }
        }
    }

    #[test]
    fn what_was_packed_is_unpacked() {
        each_way::<u8>();
        each_way::<u16>();
        each_way::<u32>();
        each_way::<u64>();
        each_way::<i16>();
        each_way::<i32>();
    }

    #[test]
    fn wide_values_are_cut_to_narrow_words() {
        let mut bytes = Vec::new();
        pack(&values(40, 40), 40, &mut bytes);
        let mut back = [0_u16; 40];
        unpack(&bytes, 40, &mut back);
        assert!(
            back.iter()
                .zip(values(40, 40))
                .all(|(&back, value)| back == value as u16)
        );
    }
}
