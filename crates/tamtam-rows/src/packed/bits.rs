//! Lists of bits: columns of booleans, and which rows are null.
//!
//! They are packed to bytes, the first in the lowest bit, and the bytes are a list of integers. Where few bits differ
//! from the others, what is kept is where they stand.

use super::Mode;
use super::bytes::{Input, Output, Result};
use super::integers::{self, Effort};

/// The bytes, as a list of integers.
pub(super) const BYTES: u8 = 0;
/// Where the ones stand: how many there are, and how many zeros lie before each, as a list.
const ONES: u8 = 1;
/// The same for the zeros.
const ZEROS: u8 = 2;

/// Writes as many bits, which lie in words of 64.
pub(super) fn encode(words: &[u64], count: usize, effort: Effort, out: &mut Output<'_>) {
    let ones: usize = words.iter().map(|word| word.count_ones() as usize).sum();
    let zeros = count - ones;
    let rare = ones.min(zeros);
    // A place takes some 6 bits or more, a bit of a bitmap one.
    if effort.mode != Mode::Plain && count >= 64 && rare * 12 < count {
        let (kind, flip) = if ones <= zeros {
            (ONES, 0)
        } else {
            (ZEROS, u64::MAX)
        };
        out.byte(kind);
        out.varint(rare as u64);
        let gaps = gaps(words, count, flip);
        debug_assert_eq!(gaps.len(), rare);
        return integers::encode(&gaps, effort.inner(), out);
    }
    out.byte(BYTES);
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.truncate(count.div_ceil(8));
    // Plain bitmaps are aligned as plain values are.
    let effort = if effort.mode == Mode::Plain {
        effort
    } else {
        effort.inner()
    };
    integers::encode(&bytes, effort, out);
}

/// How many bits that are not set lie before each that is, after flipping.
fn gaps(words: &[u64], count: usize, flip: u64) -> Vec<u32> {
    let mut gaps = Vec::new();
    let mut behind = 0;
    for (index, &word) in words.iter().enumerate() {
        let mut left = word ^ flip;
        let bits = count - index * 64;
        if bits < 64 {
            left &= (1 << bits) - 1;
        }
        while left != 0 {
            let at = index * 64 + left.trailing_zeros() as usize;
            gaps.push((at - behind) as u32);
            behind = at + 1;
            left &= left - 1;
        }
    }
    gaps
}

/// Reads as many bits into words of 64.
pub(super) fn decode(input: &mut Input<'_>, count: usize) -> Result<Vec<u64>> {
    input.reserve(count.div_ceil(8) as u64)?;
    match input.byte("how bits are coded")? {
        BYTES => {
            let bytes: Vec<u8> = integers::decode(input, count.div_ceil(8), 1)?;
            let mut words: Vec<u64> = bytes
                .chunks(8)
                .map(|bytes| {
                    let mut word = [0; 8];
                    word[..bytes.len()].copy_from_slice(bytes);
                    u64::from_le_bytes(word)
                })
                .collect();
            // Bits behind the last one mean nothing.
            if let Some(last) = words.last_mut().filter(|_| !count.is_multiple_of(64)) {
                *last &= (1 << (count % 64)) - 1;
            }
            Ok(words)
        }
        kind @ (ONES | ZEROS) => {
            let rare = input.count(count, "the number of places")?;
            let gaps: Vec<u32> = integers::decode(input, rare, 1)?;
            let mut words = vec![0_u64; count.div_ceil(64)];
            let mut at = 0_usize;
            for gap in gaps {
                at += gap as usize;
                if at >= count {
                    return Err(input.malformed("a place beyond the last bit"));
                }
                words[at / 64] |= 1 << (at % 64);
                at += 1;
            }
            if kind == ZEROS {
                words.iter_mut().for_each(|word| *word = !*word);
                if let Some(last) = words.last_mut().filter(|_| !count.is_multiple_of(64)) {
                    *last &= (1 << (count % 64)) - 1;
                }
            }
            Ok(words)
        }
        other => Err(input.malformed(format!("no coding of bits is numbered {other}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    #[test]
    fn bits_come_back_from_each_coding() {
        for count in [0_usize, 1, 7, 8, 63, 64, 65, 128, 1000] {
            for period in [1_usize, 2, 3, 20, 100, 100_000] {
                for flip in [false, true] {
                    for mode in [Mode::Packed, Mode::Small, Mode::Plain] {
                        let mut words = vec![0_u64; count.div_ceil(64)];
                        for at in (0..count).filter(|at| (at % period == 0) != flip) {
                            words[at / 64] |= 1 << (at % 64);
                        }
                        let mut bytes = Vec::new();
                        encode(
                            &words,
                            count,
                            Effort::new(mode),
                            &mut Output {
                                bytes: &mut bytes,
                                origin: 1,
                                slack: 0,
                            },
                        );
                        let mut input = Input::new(&bytes, 1, &Limits::default());
                        assert_eq!(
                            decode(&mut input, count).unwrap(),
                            words,
                            "{count} {period} {flip} {mode:?}"
                        );
                        assert_eq!(input.left(), 0);
                    }
                }
            }
        }
    }
}
