use super::Texts;
use super::key::Key;
use crate::packed::marks::Marks;

/// Where the values of a sample are marked.
type Seen = Marks<256>;

/// A look at some values.
pub(super) struct Sample {
    size: usize,
    /// How many of them differ, by hashing them to places of a bitmap.
    distinct: usize,
    bytes: usize,
    shared: usize,
    neighbours: usize,
}

impl Sample {
    pub(super) fn of(texts: Texts<'_>) -> Sample {
        let count = texts.len();
        let (stretches, length) = match count {
            0..=64 => (1, count),
            65..=4095 => (8, 8),
            _ => (32, 16),
        };
        let mut sample = Sample {
            size: stretches * length,
            distinct: 0,
            bytes: 0,
            shared: 0,
            neighbours: 0,
        };
        let mut seen = Seen::new();
        for stretch in 0..stretches {
            let start = if stretches == 1 {
                0
            } else {
                (count - length) * stretch / (stretches - 1)
            };
            for index in start..start + length {
                let value = texts.get(index);
                let key = Key::of(texts.all, &texts.ends.range(index));
                let place = key.hash() as usize % Seen::PLACES;
                sample.distinct += usize::from(seen.mark(place));
                sample.bytes += value.len();
                if index > start {
                    sample.shared += shared_prefix(texts.get(index - 1), value);
                    sample.neighbours += 1;
                }
            }
        }
        sample
    }

    /// Whether a dictionary promises to be smaller.
    pub(super) fn repeats(&self, texts: Texts<'_>) -> bool {
        let size = self.size as f64;
        // Some meet in one place by accident.
        let accidents = size * size / (2.0 * Seen::PLACES as f64);
        let pairs = size - self.distinct as f64 - accidents;
        if pairs < 1.0 {
            return false;
        }
        let count = texts.len() as f64;
        let entries = (size * size / (2.0 * pairs)).clamp(self.distinct as f64, count);
        let each = self.bytes as f64 / size + 0.5;
        entries * (each + 0.5) + count * entries.log2() / 8.0 < 0.9 * count * each
    }

    pub(super) fn shares_prefixes(&self) -> bool {
        self.shared >= self.neighbours * 3 && self.shared * 4 >= self.bytes
    }
}

pub(super) fn shared_prefix(one: &[u8], other: &[u8]) -> usize {
    one.iter()
        .zip(other)
        .take_while(|(one, other)| one == other)
        .count()
}

/// Mixes eight bytes at a time by a multiplication.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut state = bytes.len() as u64;
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        state =
            (state ^ u64::from_le_bytes(word.try_into().expect("8 bytes"))).wrapping_mul(FACTOR);
        state ^= state >> 29;
    }
    let mut last = [0; 8];
    let rest = words.remainder();
    last[..rest.len()].copy_from_slice(rest);
    state = (state ^ u64::from_le_bytes(last)).wrapping_mul(FACTOR);
    state ^ state >> 32
}
