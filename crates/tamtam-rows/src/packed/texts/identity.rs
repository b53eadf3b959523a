//! Telling texts apart by a number that is quick to compare.

/// How long a value may be whose identity is in eight bytes, and in sixteen: the length takes one of them.
const SHORT_BYTES: usize = 7;
const MIDDLE: usize = 15;

/// Which bits of the first sixteen bytes belong to a value of so many bytes.
static OWN: [u128; MIDDLE + 1] = {
    let mut own = [0; MIDDLE + 1];
    let mut length = 1;
    while length <= MIDDLE {
        own[length] = u128::MAX >> (8 * (MIDDLE + 1 - length));
        length += 1;
    }
    own
};

/// A number that tells a value from others: of short ones their bytes and their length, of longer ones a hash.
pub(super) trait Identity: Copy + Default + Eq {
    /// How long values may be.
    const LONGEST_VALUE: usize;
    /// How long values may be whose identity is no hash.
    const EXACT: usize;
    /// Of the value that is there.
    fn of(all: &[u8], start: usize, length: usize) -> Self;
    /// Whether values of this identity may differ.
    fn is_hash(self) -> bool;
    /// Its upper bits are mixed best.
    fn mixed(self) -> u64;
}

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The first bytes of a value, and what follows it, or zero bytes.
#[inline(always)]
fn near<const BYTES: usize>(all: &[u8], start: usize, length: usize) -> [u8; BYTES] {
    match all.get(start..start + BYTES) {
        Some(near) => near.try_into().expect("as many bytes"),
        None => {
            let mut near = [0; BYTES];
            near[..length].copy_from_slice(&all[start..start + length]);
            near
        }
    }
}

/// Values of up to seven bytes.
impl Identity for u64 {
    const LONGEST_VALUE: usize = SHORT_BYTES;
    const EXACT: usize = SHORT_BYTES;

    #[inline(always)]
    fn of(all: &[u8], start: usize, length: usize) -> u64 {
        debug_assert!(length <= SHORT_BYTES);
        let near = u64::from_le_bytes(near(all, start, length));
        near & !(u64::MAX << (8 * length)) | (length as u64) << (8 * SHORT_BYTES)
    }

    #[inline(always)]
    fn is_hash(self) -> bool {
        false
    }

    #[inline(always)]
    fn mixed(self) -> u64 {
        self.wrapping_mul(FACTOR)
    }
}

/// Values of any length. The highest byte is the length, or 255 in the identity of a long one.
impl Identity for u128 {
    const LONGEST_VALUE: usize = usize::MAX;
    const EXACT: usize = MIDDLE;

    #[inline(always)]
    fn of(all: &[u8], start: usize, length: usize) -> u128 {
        if length > MIDDLE {
            let hash = hash(&all[start..start + length]);
            return u128::from(u8::MAX) << 120 | u128::from(hash);
        }
        let near = u128::from_le_bytes(near(all, start, length));
        near & OWN[length] | (length as u128) << 120
    }

    #[inline(always)]
    fn is_hash(self) -> bool {
        (self >> 120) as u8 == u8::MAX
    }

    #[inline(always)]
    fn mixed(self) -> u64 {
        ((self as u64).wrapping_mul(FACTOR) ^ (self >> 64) as u64).wrapping_mul(FACTOR)
    }
}

/// Adds up products of eight bytes each with the next eight, none of which waits for another (the idea of NH: Black,
/// Halevi, Krawczyk, Krovetz, Rogaway, "UMAC", 1999). There are at least sixteen bytes.
#[inline]
fn hash(bytes: &[u8]) -> u64 {
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("8 bytes"));
    let product = |sixteen: &[u8], key: u64| {
        let low = word(&sixteen[..8]) ^ key;
        let high = word(&sixteen[8..]) ^ key.rotate_left(23);
        let product = u128::from(low) * u128::from(high);
        product as u64 ^ (product >> 64) as u64
    };
    let mut key = FACTOR;
    let mut sum = bytes.len() as u64;
    for sixteen in bytes.chunks_exact(16) {
        sum = sum.wrapping_add(product(sixteen, key));
        key = key.wrapping_add(FACTOR);
    }
    // The last sixteen may have been there before, in part.
    sum.wrapping_add(product(&bytes[bytes.len() - 16..], key))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn identities_differ_where_values_do() {
        let all = b"abcdefghijklmnopqrstuvwxyz\0\0abcdefghijklmnopqrstuvwxyz";
        let ranges: Vec<(usize, usize)> = (0..=all.len())
            .flat_map(|start| (0..=20.min(all.len() - start)).map(move |length| (start, length)))
            .collect();
        for &(one, its) in &ranges {
            for &(other, others) in &ranges {
                let equal = all[one..one + its] == all[other..other + others];
                let ids = (u128::of(all, one, its), u128::of(all, other, others));
                assert_eq!(ids.0 == ids.1, equal, "{one} {its}, {other} {others}");
                assert_eq!(ids.0.is_hash(), its > MIDDLE);
                if its.max(others) <= SHORT_BYTES {
                    let short = (u64::of(all, one, its), u64::of(all, other, others));
                    assert_eq!(short.0 == short.1, equal, "{one} {its}, {other} {others}");
                }
            }
        }
    }

    #[test]
    fn each_byte_of_a_long_value_counts() {
        for length in [16, 17, 31, 32, 33, 100, 1000] {
            let mut value = vec![b'a'; length];
            let mut seen = HashMap::from([(u128::of(&value, 0, length), None)]);
            for at in 0..length {
                for byte in [b'b', b'c', 0xff] {
                    value[at] = byte;
                    let before = seen.insert(u128::of(&value, 0, length), Some((at, byte)));
                    assert_eq!(before, None, "{length} {at} {byte}");
                }
                value[at] = b'a';
            }
        }
    }

    #[test]
    fn places_of_small_identities_are_spread() {
        // A quarter full, a table has each value in a place of its own but for some.
        let values: Vec<String> = (0..256).map(|n| format!("{n}")).collect();
        let places = |mixed: &dyn Fn(&str) -> u64| {
            let mut places: Vec<u64> = values.iter().map(|value| mixed(value) >> 54).collect();
            places.sort_unstable();
            places.dedup();
            places.len()
        };
        let short = places(&|value| u64::of(value.as_bytes(), 0, value.len()).mixed());
        let any = places(&|value| u128::of(value.as_bytes(), 0, value.len()).mixed());
        assert!(short > 200 && any > 200, "{short} {any}");
    }
}
