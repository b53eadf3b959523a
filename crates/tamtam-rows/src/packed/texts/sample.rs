//! A look at some texts, from which the codec is chosen.

use super::Texts;
use super::identity::Identity;
use crate::packed::marks::Marks;

/// Where the values of a sample are marked.
type Seen = Marks<256>;

/// How many stretches of a long list are looked at.
const MOST_STRETCHES: usize = 32;

/// A look at some values.
pub(super) struct Sample {
    size: usize,
    /// How many of them differ, by hashing them to places of a bitmap.
    distinct: usize,
    bytes: usize,
    /// The bytes of those that are compared with their neighbours.
    compared: usize,
    shared: usize,
    neighbours: usize,
}

/// How often a value was there before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repetitions {
    /// Among so many values from all over a list.
    pub(super) among: usize,
    /// About so many times.
    pub(super) count: f64,
}

impl Sample {
    pub(super) fn of(texts: Texts<'_>) -> Sample {
        let count = texts.len();
        let (stretches, length) = match count {
            0..=64 => (1, count),
            65..=4095 => (8, 8),
            _ => (MOST_STRETCHES, 16),
        };
        let mut sample = Sample {
            size: stretches * length,
            distinct: 0,
            bytes: 0,
            compared: 0,
            shared: 0,
            neighbours: 0,
        };
        let mut seen = Seen::default();
        for stretch in 0..stretches {
            let start = if stretches == 1 {
                0
            } else {
                (count - length) * stretch / (stretches - 1)
            };
            let mut before = None;
            for index in start..start + length {
                let range = texts.ends.range(index);
                let identity = u128::of(texts.all, range.start, range.len());
                let place = (identity.mixed() >> 32) as usize % Seen::PLACES;
                sample.distinct += usize::from(seen.mark(place));
                sample.bytes += range.len();
                // Of many stretches, every fourth tells whether neighbours begin alike.
                if stretches == MOST_STRETCHES && stretch % 4 != 0 {
                    continue;
                }
                let value = &texts.all[range];
                sample.compared += value.len();
                if let Some(before) = before.replace(value) {
                    sample.shared += shared_prefix(before, value);
                    sample.neighbours += 1;
                }
            }
        }
        sample
    }

    pub(super) fn repetitions(&self) -> Repetitions {
        let size = self.size as f64;
        // Some meet in one place by accident.
        let accidents = size * size / (2.0 * Seen::PLACES as f64);
        Repetitions {
            among: self.size,
            count: size - self.distinct as f64 - accidents,
        }
    }

    /// Whether a dictionary promises to be smaller.
    pub(super) fn repeats(&self, texts: Texts<'_>) -> bool {
        let size = self.size as f64;
        let pairs = self.repetitions().count;
        if pairs < 1.0 {
            return false;
        }
        let count = texts.len() as f64;
        let entries = (size * size / (2.0 * pairs)).clamp(self.distinct as f64, count);
        let each = self.bytes as f64 / size + 0.5;
        entries * (each + 0.5) + count * entries.log2() / 8.0 < 0.9 * count * each
    }

    pub(super) fn shares_prefixes(&self) -> bool {
        self.shared >= self.neighbours * 3 && self.shared * 4 >= self.compared
    }
}

pub(super) fn shared_prefix(one: &[u8], other: &[u8]) -> usize {
    let eights = one.as_chunks::<8>().0.iter().zip(other.as_chunks::<8>().0);
    for (index, (one, other)) in eights.enumerate() {
        let differ = u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other);
        if differ != 0 {
            return index * 8 + differ.trailing_zeros() as usize / 8;
        }
    }
    let whole = one.len().min(other.len()) / 8 * 8;
    let rest = one[whole..].iter().zip(&other[whole..]);
    whole + rest.take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::shared_prefix;

    #[test]
    fn prefixes_end_where_values_differ() {
        let value: Vec<u8> = (0..40).collect();
        for length in 0..=value.len() {
            for at in 0..length {
                let mut other = value.clone();
                other[at] ^= 0x80;
                assert_eq!(shared_prefix(&value[..length], &other), at);
                assert_eq!(shared_prefix(&other, &value[..length]), at);
            }
            assert_eq!(shared_prefix(&value[..length], &value), length);
            assert_eq!(shared_prefix(&value, &value[..length]), length);
        }
    }
}
