//! How numbers are spread in hash tables.

use core::hash::Hasher;

/// Hashes numbers that this side has counted, or mixed already: no other side chooses what is in the table, so they need not be mixed well.
#[derive(Debug, Default)]
#[doc(hidden)]
#[cfg_attr(
    not(feature = "serde"),
    expect(
        unreachable_pub,
        reason = "a part of what links use, and there are none"
    )
)]
pub struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(self.0 ^ u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // The golden ratio spreads them over the high bits (Knuth, *The Art of Computer Programming*, 6.4), and the low ones get those, too: of numbers that are
        // far apart, such as the questions of one seat of a link, they are the same.
        let spread = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = spread ^ (spread >> 32);
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use core::hash::{BuildHasher, BuildHasherDefault};
    use std::collections::BTreeSet;

    use super::*;

    /// A table takes seven bits from the top, and places from the bottom.
    #[test]
    #[cfg_attr(miri, ignore = "it only computes")]
    fn numbers_are_spread_however_far_apart_they_are() {
        let hasher = BuildHasherDefault::<NumberHasher>::new();
        for (distance, least) in [
            (1_u64, 600),
            (16, 400),
            (4_096, 400),
            (1 << 20, 400),
            (1 << 32, 400),
        ] {
            let hashes: Vec<u64> = (1..=1024)
                .map(|number: u64| hasher.hash_one(number * distance))
                .collect();
            let top: BTreeSet<u64> = hashes.iter().map(|hash| hash >> 57).collect();
            let bottom: BTreeSet<u64> = hashes.iter().map(|hash| hash & 1023).collect();
            assert_eq!(top.len(), 128, "{distance}");
            assert!(bottom.len() > least, "{} of {distance}", bottom.len());
        }
    }
}
