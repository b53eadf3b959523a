use std::ops::Range;

use super::sample::hash;

/// How many bytes a key holds.
const WHOLE: usize = 16;

/// What tells values apart at the cost of comparing two numbers: short ones as they are, of longer ones a hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Key {
    bytes: u128,
    length: usize,
}

impl Key {
    /// Of the value that lies there.
    #[inline]
    pub(super) fn of(all: &[u8], range: &Range<usize>) -> Key {
        let length = range.len();
        if length > WHOLE {
            let bytes = hash(&all[range.clone()]).into();
            return Key { bytes, length };
        }
        let bytes = match all.get(range.start..range.start + WHOLE) {
            Some(near) => {
                let near = u128::from_le_bytes(near.try_into().expect("16 bytes"));
                let beyond = 8 * (WHOLE - length) as u32;
                near.checked_shl(beyond).map_or(0, |own| own >> beyond)
            }
            None => {
                let mut near = [0; WHOLE];
                near[..length].copy_from_slice(&all[range.clone()]);
                u128::from_le_bytes(near)
            }
        };
        Key { bytes, length }
    }

    /// Whether equal keys are of equal values.
    #[inline]
    pub(super) fn is_whole(&self) -> bool {
        self.length <= WHOLE
    }

    #[inline]
    pub(super) fn hash(&self) -> u64 {
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        let low = (self.bytes as u64 ^ self.length as u64).wrapping_mul(FACTOR);
        let high = ((self.bytes >> 64) as u64 ^ low >> 32).wrapping_mul(FACTOR);
        (low ^ high) >> 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ_where_values_do() {
        let all = b"abcdefghijklmnopqrstuvwxyz\0\0abcdefghijklmnopqrstuvwxyz";
        let ranges: Vec<Range<usize>> = (0..all.len())
            .flat_map(|start| (start..=all.len().min(start + 20)).map(move |end| start..end))
            .collect();
        for one in &ranges {
            for other in &ranges {
                let equal = all[one.clone()] == all[other.clone()];
                let (one, other) = (Key::of(all, one), Key::of(all, other));
                assert_eq!(one == other, equal, "{one:?} {other:?}");
                assert!(!equal || one.hash() == other.hash());
            }
        }
    }
}
