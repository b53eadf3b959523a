//! Several values as one number: where a range is not a power of two, the shares of a bit that packing wastes are put
//! together.

use super::{Codec, Integer};
use crate::kernels::{Word, pack, unpack, width_of};
use crate::packed::bytes::{Input, Output, Result};

/// What a value is taken to need longer than packed, on both sides together: between a decoder in Rust, with which it was
/// 3.5 ns on a server of 2023, and one in a browser, with which it was about 15.
pub(super) const NANOSECONDS: f64 = 10.0;

/// Most values a group: more save next to nothing, and cost time.
const MOST_A_GROUP: u32 = 16;

/// How many values of a range are put together, and how many bits they then take.
fn group(radix: u64) -> (u32, u32) {
    let mut best = (1, width_of(radix - 1));
    let mut product = u128::from(radix);
    for count in 2..=MOST_A_GROUP {
        product *= u128::from(radix);
        if product > 1 << 64 {
            break;
        }
        let width = width_of((product - 1) as u64);
        if width * best.0 < best.1 * count {
            best = (count, width);
        }
    }
    best
}

/// Bits a value, for offsets up to `range`.
pub(super) fn bits(range: u64) -> f64 {
    match range.checked_add(1) {
        Some(radix) if radix > 1 => {
            let (count, width) = group(radix);
            f64::from(width) / f64::from(count)
        }
        _ => f64::from(width_of(range)),
    }
}

pub(super) fn encode<W: Word>(offsets: &[W], base: u64, out: &mut Output<'_>) -> bool {
    let most = offsets.iter().max().map_or(0, |offset| offset.get());
    let Some(radix) = most.checked_add(1).filter(|&radix| radix > 1) else {
        return false;
    };
    let (count, width) = group(radix);
    if count == 1 {
        return false;
    }
    out.byte(Codec::Radix as u8);
    out.zigzag(base);
    out.varint(radix);
    out.byte(count as u8);
    let groups: Vec<u64> = offsets
        .chunks(count as usize)
        .map(|group| {
            group
                .iter()
                .rev()
                .fold(0, |all, offset| all * radix + offset.get())
        })
        .collect();
    pack(&groups, width, out.bytes);
    true
}

pub(super) fn decode<T: Integer>(input: &mut Input<'_>, count: usize, base: T) -> Result<Vec<T>> {
    let radix = input.varint("a radix")?;
    let group = u32::from(input.byte("the size of a group")?);
    if radix < 2 || group == 0 || group > MOST_A_GROUP {
        return Err(input.malformed("no radix has such groups"));
    }
    let product = (0..group).try_fold(1_u128, |product, _| {
        product
            .checked_mul(u128::from(radix))
            .filter(|&product| product <= 1 << 64)
    });
    let Some(product) = product else {
        return Err(input.malformed("a group in mixed radix of more than 64 bits"));
    };
    let width = width_of((product - 1) as u64);
    let groups = count.div_ceil(group as usize);
    let bytes = input.take(
        crate::kernels::packed_bytes(groups, width),
        "groups in mixed radix",
    )?;
    input.hold(groups as u64 * 8)?;
    let mut numbers = vec![0_u64; groups];
    unpack(bytes, width, &mut numbers);
    let mut values = Vec::with_capacity(groups * group as usize);
    if let Ok(radix) = u32::try_from(radix) {
        // The quotient by a multiplication; see `Reciprocal`.
        let reciprocal = Reciprocal::new(radix);
        for mut number in numbers {
            for _ in 0..group {
                let quotient = reciprocal.divide(number);
                values.push(base.plus(T::narrow(number - quotient * u64::from(radix))));
                number = quotient;
            }
        }
    } else {
        for mut number in numbers {
            for _ in 0..group {
                values.push(base.plus(T::narrow(number % radix)));
                number /= radix;
            }
        }
    }
    values.truncate(count);
    Ok(values)
}

/// Division of numbers of 64 bits by a divisor that stays the same, as a multiplication (Granlund and Montgomery,
/// "Division by Invariant Integers using Multiplication", 1994).
struct Reciprocal {
    factor: u64,
    shift: u32,
}

impl Reciprocal {
    fn new(divisor: u32) -> Reciprocal {
        let shift = u32::BITS - (divisor - 1).leading_zeros();
        // 2^64 * (2^shift - divisor) / divisor + 1: the factor without its 65th bit.
        let factor = ((1_u128 << 64) * ((1_u128 << shift) - u128::from(divisor))
            / u128::from(divisor)
            + 1) as u64;
        Reciprocal { factor, shift }
    }

    #[inline(always)]
    fn divide(&self, number: u64) -> u64 {
        let high = ((u128::from(self.factor) * u128::from(number)) >> 64) as u64;
        (high + ((number - high) >> 1)) >> (self.shift - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_exact() {
        for divisor in [
            2_u32,
            3,
            5,
            7,
            10,
            360,
            1000,
            1100,
            65_535,
            65_536,
            65_537,
            1 << 31,
            u32::MAX - 1,
            u32::MAX,
        ] {
            let reciprocal = Reciprocal::new(divisor);
            let wide = u64::from(divisor);
            let edges = [
                0,
                1,
                wide - 1,
                wide,
                wide + 1,
                2 * wide - 1,
                u64::MAX,
                u64::MAX - 1,
                u64::MAX / wide * wide,
                u64::MAX / wide * wide - 1,
            ];
            let spread = (0..1000_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            for number in edges.into_iter().chain(spread) {
                assert_eq!(
                    reciprocal.divide(number),
                    number / wide,
                    "{number} / {divisor}"
                );
            }
        }
    }

    #[test]
    fn groups_take_little_more_than_they_must() {
        for (radix, most) in [
            (360, 8.58),
            (1000, 10.01),
            (1100, 10.17),
            (3, 1.6),
            (5, 2.34),
        ] {
            assert!(bits(radix - 1) <= most, "{radix}: {}", bits(radix - 1));
        }
        assert_eq!(bits(255), 8.0);
        assert_eq!(bits(u64::MAX), 64.0);
    }
}
