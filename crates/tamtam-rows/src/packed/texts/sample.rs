use super::Texts;

/// A look at some values.
pub(super) struct Sample {
    hashes: Vec<u64>,
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
            _ => (64, 16),
        };
        let mut sample = Sample {
            hashes: Vec::new(),
            bytes: 0,
            shared: 0,
            neighbours: 0,
        };
        for stretch in 0..stretches {
            let start = if stretches == 1 {
                0
            } else {
                (count - length) * stretch / (stretches - 1)
            };
            for index in start..start + length {
                let value = texts.get(index);
                sample.hashes.push(hash(value));
                sample.bytes += value.len();
                if index > start {
                    sample.shared += shared_prefix(texts.get(index - 1), value);
                    sample.neighbours += 1;
                }
            }
        }
        sample.hashes.sort_unstable();
        sample
    }

    /// Whether a dictionary promises to be smaller.
    pub(super) fn repeats(&self, texts: Texts<'_>) -> bool {
        let size = self.hashes.len() as f64;
        let mut distinct = self.hashes.clone();
        distinct.dedup();
        let pairs = size - distinct.len() as f64;
        if pairs < 1.0 {
            return false;
        }
        let count = texts.len() as f64;
        let entries = (size * size / (2.0 * pairs)).clamp(distinct.len() as f64, count);
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
