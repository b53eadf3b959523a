use crate::kernels::{Word, width_of};

/// A look at some stretches of a list, from which the cost of each codec is estimated.
pub(super) struct Sample {
    values: Vec<u64>,
    /// Where stretches begin, other than the first.
    pub(super) differences: Vec<i64>,
    /// Of neighbours, how many are equal.
    equal: usize,
}

impl Sample {
    pub(super) fn of<W: Word>(offsets: &[W]) -> Sample {
        let count = offsets.len();
        let (stretches, length) = match count {
            0..=64 => (1, count),
            65..=4095 => (4, 16),
            _ => (32, 32),
        };
        let mut values = Vec::with_capacity(stretches * length);
        let mut differences = Vec::with_capacity(stretches * length);
        let mut equal = 0;
        for stretch in 0..stretches {
            let room = count - length;
            // The last stretch ends where the list ends.
            let start = if stretches == 1 {
                0
            } else {
                room * stretch / (stretches - 1)
            };
            let part = &offsets[start..start + length];
            values.extend(part.iter().map(|offset| offset.get()));
            differences.extend(
                part.windows(2)
                    .map(|pair| pair[1].get().wrapping_sub(pair[0].get()) as i64),
            );
            equal += part.windows(2).filter(|pair| pair[0] == pair[1]).count();
        }
        Sample {
            values,
            differences,
            equal,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    pub(super) fn values(&self) -> &[u64] {
        &self.values
    }

    /// Divides each value, which must be possible.
    pub(super) fn divide(&mut self, divisor: u64) {
        self.values.iter_mut().for_each(|value| *value /= divisor);
        self.differences
            .iter_mut()
            .for_each(|difference| *difference /= divisor as i64);
    }

    /// The greatest common divisor of the values; 0 if all are 0.
    pub(super) fn divisor(&self) -> u64 {
        let mut common = 0;
        for &value in &self.values {
            common = greatest_common_divisor(common, value);
            if common == 1 {
                break;
            }
        }
        common
    }

    /// The share of neighbours that are equal.
    pub(super) fn equal_share(&self) -> f64 {
        self.equal as f64 / self.differences.len().max(1) as f64
    }

    /// How many different values the whole list would have if each were as likely.
    pub(super) fn distinct(&self) -> f64 {
        let distinct = if self.values.len() <= 64 {
            distinct::<64>(&self.values)
        } else {
            distinct::<1024>(&self.values)
        };
        let size = self.values.len() as f64;
        // Of n draws from d values, n² / 2d pairs are expected to be equal.
        let pairs = size - distinct as f64;
        if pairs < 2.0 + size / 100.0 {
            f64::INFINITY
        } else {
            (size * size / (2.0 * pairs)).max(distinct as f64)
        }
    }
}

/// How many values differ, by hashing them to places of a bitmap. It takes some for equal that are not: of 64 one in
/// every second list, of 1,024 eight.
fn distinct<const WORDS: usize>(values: &[u64]) -> usize {
    let mut seen = [0_u64; WORDS];
    let mut distinct = 0;
    for &value in values {
        let place = value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (58 - WORDS.trailing_zeros());
        let word = &mut seen[place as usize / 64];
        distinct += usize::from(*word >> (place % 64) & 1 == 0);
        *word |= 1 << (place % 64);
    }
    distinct
}

/// For each width, how many values have it.
pub(super) struct Widths {
    counts: [u32; 65],
    total: u32,
}

impl Widths {
    pub(super) fn of(values: impl Iterator<Item = u64>) -> Widths {
        let mut widths = Widths {
            counts: [0; 65],
            total: 0,
        };
        for value in values {
            widths.counts[width_of(value) as usize] += 1;
            widths.total += 1;
        }
        widths
    }

    /// The width of the low bits that makes patching cheapest, and the bits a value then.
    pub(super) fn patched(&self, widest: u32) -> (u32, f64) {
        let mut best = (widest, f64::from(widest));
        let mut wider = 0;
        for low in (0..widest).rev() {
            wider += self.counts[low as usize + 1];
            let share = f64::from(wider) / f64::from(self.total.max(1));
            if share > 0.25 {
                break;
            }
            // An exception costs its higher bits, and a gap of as many bits as there are values between two.
            let gap = if share > 0.0 {
                (1.0 / share).log2() + 1.5
            } else {
                0.0
            };
            let bits = f64::from(low) + share * (f64::from(widest - low) + gap);
            if bits < best.1 {
                best = (low, bits);
            }
        }
        best
    }
}

pub(super) fn greatest_common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other != 0 {
        // Dividing narrow numbers takes a fraction of the time.
        let rest = match (u32::try_from(one), u32::try_from(other)) {
            (Ok(one), Ok(other)) => u64::from(one % other),
            _ => one % other,
        };
        (one, other) = (other, rest);
    }
    one
}

/// Bits a symbol of the best code for symbols that are as frequent as these, corrected for what a sample misses
/// (Miller, 1955).
pub(super) fn entropy(counts: &[u32]) -> f64 {
    let total: u32 = counts.iter().sum();
    let all = f64::from(total.max(1));
    let mut bits = 0.0;
    let mut kinds = 0;
    for &count in counts.iter().filter(|&&count| count > 0) {
        let share = f64::from(count) / all;
        bits -= share * share.log2();
        kinds += 1;
    }
    bits + f64::from(kinds - 1) / (2.0 * all * std::f64::consts::LN_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_values_are_nearly_all_told_apart() {
        for kinds in [1, 2, 10, 60, 500, 1000_u64] {
            let values: Vec<u64> = (0..1024_u64).map(|n| (n * 7919 % kinds) << 40).collect();
            let found = distinct::<1024>(&values) as u64;
            assert!(
                (kinds - kinds.min(16)..=kinds).contains(&found),
                "{found} of {kinds}"
            );
        }
        let values: Vec<u64> = (0..64).map(|n| n * n).collect();
        assert!((60..=64).contains(&distinct::<64>(&values)));
    }
}
