//! Truth values into bits.

/// Up to 64 truth values, the first one in the lowest bit.
#[inline]
pub(crate) fn bits_of(flags: &[bool]) -> u64 {
    let (eights, rest) = flags.as_chunks::<8>();
    let mut bits = 0;
    for (index, eight) in eights.iter().enumerate() {
        bits |= eight_bits(eight) << (8 * index);
    }
    let tail = rest.iter().enumerate();
    let tail = tail.fold(0, |bits, (at, &flag)| bits | u64::from(flag) << at);
    // Where there is no rest, there may be no place for it either.
    bits | tail.checked_shl(8 * eights.len() as u32).unwrap_or(0)
}

/// Each byte is multiplied to its place in the uppermost byte, where no two meet.
#[inline]
fn eight_bits(flags: &[bool; 8]) -> u64 {
    let bytes = u64::from_le_bytes(flags.map(u8::from));
    bytes.wrapping_mul(0x0102_0408_1020_4080) >> 56
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_flag_has_its_bit() {
        for count in 0..=64 {
            for pattern in [0, u64::MAX, 0x9e37_79b9_7f4a_7c15, 1, 1 << 63, !(1 << 31)] {
                let flags: Vec<bool> = (0..count).map(|at| pattern >> at & 1 == 1).collect();
                let expected = pattern & crate::kernels::mask(count);
                assert_eq!(bits_of(&flags), expected, "{count}");
            }
        }
    }
}
