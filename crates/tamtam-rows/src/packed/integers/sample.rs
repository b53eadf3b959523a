//! A look at some stretches of a list, from which the cost of each codec is estimated.

use super::Integer;
use super::dictionary::MOST_ENTRIES;
use super::divisor::Divisor;
use crate::kernels::{vectorised, width_of};
use crate::packed::marks::Marks;

/// How many values are looked at in a short list, in four stretches, and in a long one, in 32.
pub(super) const FEW_LOOKED_AT: usize = 64;
pub(super) const MANY_LOOKED_AT: usize = 1024;

/// A look at some stretches of a list, from which the cost of each codec is estimated.
pub(super) struct Sample<const MOST: usize> {
    /// How far values lie above the least; what lies behind the length is nothing.
    values: [u64; MOST],
    len: usize,
    /// From each value to the one behind it, within a stretch.
    differences: [i64; MOST],
    differences_len: usize,
    /// Of neighbours, how many are equal.
    equal: usize,
}

impl<const MOST: usize> Sample<MOST> {
    pub(super) const EMPTY: Sample<MOST> = Sample {
        values: [0; MOST],
        len: 0,
        differences: [0; MOST],
        differences_len: 0,
        equal: 0,
    };

    /// Looks at a list whose least value is `min`, once. (A sample that were returned would be copied.)
    pub(super) fn look_at<T: Integer>(&mut self, values: &[T], min: T) {
        let count = values.len();
        let (stretches, length) = match (count <= MOST, MOST) {
            (true, _) => (1, count),
            (false, FEW_LOOKED_AT) => (4, MOST / 4),
            (false, _) => (32, MOST / 32),
        };
        for stretch in 0..stretches {
            let room = count - length;
            // The last stretch ends where the list ends.
            let start = if stretches == 1 {
                0
            } else {
                room * stretch / (stretches - 1)
            };
            self.add(&values[start..start + length], min);
        }
    }

    fn add<T: Integer>(&mut self, stretch: &[T], min: T) {
        let places = &mut self.values[self.len..self.len + stretch.len()];
        let differences = &mut self.differences[self.differences_len..][..stretch.len() - 1];
        self.equal += vectorised(|| {
            for (place, value) in places.iter_mut().zip(stretch) {
                *place = value.less(min).get();
            }
            let mut equal = 0;
            // Not from the places: what was just stored in vectors cannot be loaded again in others before long.
            let pairs = stretch.iter().zip(&stretch[1..]);
            for (difference, (one, next)) in differences.iter_mut().zip(pairs) {
                let (one, next) = (one.less(min).get(), next.less(min).get());
                *difference = next.wrapping_sub(one) as i64;
                equal += usize::from(one == next);
            }
            equal
        });
        self.len += stretch.len();
        self.differences_len += stretch.len() - 1;
    }

    pub(super) fn differences(&self) -> &[i64] {
        &self.differences[..self.differences_len]
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn values(&self) -> &[u64] {
        &self.values[..self.len]
    }

    /// Divides each value, which must be possible.
    pub(super) fn divide(&mut self, divisor: u64) {
        let divisor = Divisor::new(divisor);
        for value in &mut self.values[..self.len] {
            *value = divisor.quotient(*value);
        }
        for difference in &mut self.differences[..self.differences_len] {
            *difference = divisor.signed_quotient(*difference);
        }
    }

    /// The greatest common divisor of the values; 0 if all are 0.
    pub(super) fn divisor(&self) -> u64 {
        // Mostly a few tell that there is none.
        let (few, left) = self.values().split_at(self.len.min(8));
        let mut common = 0;
        for &value in few {
            common = greatest_common_divisor(common, value);
            if common == 1 {
                return 1;
            }
        }
        let mut left = left.iter();
        while common != 1
            && let Some(&value) = left.next()
        {
            common = greatest_common_divisor(common, value);
            if common > 1 {
                // Most of the others are multiples, too.
                let divisor = Divisor::new(common);
                let multiples = left.clone().take_while(|&&value| divisor.divides(value));
                let multiples = multiples.count();
                left = left.as_slice()[multiples..].iter();
            }
        }
        common
    }

    /// The share of neighbours that are equal.
    pub(super) fn equal_share(&self) -> f64 {
        self.equal as f64 / self.differences_len.max(1) as f64
    }

    /// The share of the values that are at least so much.
    pub(super) fn share_from(&self, least: u64) -> f64 {
        share_from(self.values(), least)
    }

    /// Whether three of four differences are nearer to zero than that.
    pub(super) fn is_near(&self, limit: u64) -> bool {
        let differences = self.differences();
        let near = vectorised(|| {
            let is_near = |difference: &i64| difference.wrapping_add(limit as i64) as u64;
            differences
                .iter()
                .map(|difference| u64::from(is_near(difference) < 2 * limit))
                .sum::<u64>()
        });
        near * 4 >= differences.len() as u64 * 3
    }

    /// How many different values the whole list of `count` has at most, as far as the sample tells, if it would have
    /// `even`ly distributed ones that many: where some are frequent, those that the sample has once stand for as many
    /// as the root of what it stands for, or more (Charikar, Chaudhuri, Motwani, Narasayya, "Towards Estimation Error Guarantees for
    /// Distinct Values", PODS 2000).
    pub(super) fn most_distinct(&self, count: usize, even: f64) -> usize {
        let factor = (count as f64 / self.len.max(1) as f64).sqrt();
        let least = (even * 6.0) as usize + 32;
        // As many as any sample of this length could tell, or as are tried at all.
        if least as f64 > 4.0 * self.len as f64 * factor || least >= (count / 2).min(MOST_ENTRIES) {
            return least;
        }
        let mut once = Different::<MOST>::default();
        let mut again = Different::<MOST>::default();
        for value in self.values() {
            let before = once.count;
            once.look_at(std::iter::once(value));
            if once.count == before {
                again.look_at(std::iter::once(value));
            }
        }
        let alone = (once.count - again.count) as f64;
        let skewed = alone * factor + again.count as f64;
        least.max((skewed * 4.0) as usize + 32)
    }

    /// How many different values the whole list would have if each were as likely. Without bound if so many as a part
    /// of the sample has are too many already.
    pub(super) fn distinct(&self, too_many: impl FnOnce(f64) -> bool) -> f64 {
        let values = self.values();
        // Where not even a part has two that are equal, there are too many.
        let part = if MOST == FEW_LOOKED_AT { 2 } else { 4 };
        let mut different = Different::<MOST>::default();
        let looked_at = values.len().div_ceil(part);
        different.look_at(values.iter().step_by(part));
        let least = different.count;
        if least == looked_at || too_many(least as f64) {
            return f64::INFINITY;
        }
        for other in 1..part {
            different.look_at(values.iter().skip(other).step_by(part));
        }
        let distinct = different.count;
        let size = self.len as f64;
        // Of n draws from d values, n² / 2d pairs are expected to be equal.
        let pairs = size - distinct as f64;
        if pairs < 2.0 + size / 100.0 {
            f64::INFINITY
        } else {
            (size * size / (2.0 * pairs)).max(distinct as f64)
        }
    }
}

/// The share of the values that are at least so much.
fn share_from(values: &[u64], least: u64) -> f64 {
    let count = vectorised(|| {
        values
            .iter()
            .map(|&value| u64::from(value >= least))
            .sum::<u64>()
    });
    count as f64 / values.len().max(1) as f64
}

/// Whether more than nine of ten values are at least so much. Six of them mostly tell that it is not so.
#[inline]
pub(super) fn mostly_from(values: &[u64], least: u64) -> bool {
    let step = values.len() / 6;
    if step == 0 {
        return false;
    }
    let few = [0, step, 2 * step, 3 * step, 4 * step, 5 * step];
    let below = few.map(|place| u32::from(values[place] < least));
    below.iter().sum::<u32>() < 2 && share_from(values, least) > 0.9
}

/// How many values differ, by hashing them to places of a bitmap. It takes some for equal that are not: of 64 one in
/// every second list, of 1,024 eight.
#[derive(Default)]
struct Different<const WORDS: usize> {
    seen: Marks<WORDS>,
    count: usize,
}

impl<const WORDS: usize> Different<WORDS> {
    fn look_at<'a>(&mut self, values: impl Iterator<Item = &'a u64>) {
        for value in values {
            let place = value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (58 - WORDS.trailing_zeros());
            self.count += usize::from(self.seen.mark(place as usize));
        }
    }
}

/// For each width, how many values have it.
pub(super) struct Widths {
    counts: [u32; 65],
    total: u32,
}

impl Widths {
    pub(super) fn of(values: &[u64]) -> Widths {
        // Four tables, so that equal neighbours do not wait for one another.
        let mut tables = [[0_u32; 65]; 4];
        let (fours, rest) = values.as_chunks::<4>();
        vectorised(|| {
            for four in fours {
                for (table, &value) in tables.iter_mut().zip(four) {
                    table[width_of(value) as usize] += 1;
                }
            }
        });
        for &value in rest {
            tables[0][width_of(value) as usize] += 1;
        }
        let counts = std::array::from_fn(|width| tables.iter().map(|table| table[width]).sum());
        Widths {
            counts,
            total: counts.iter().sum(),
        }
    }

    /// What an entropy coder takes for a value at least: telling its width alone, and the bits that it leaves as they
    /// are if values are `direct`ly symbols, or not.
    pub(super) fn entropy_at_least(&self, direct: bool) -> f64 {
        let rest = |(width, &count): (usize, &u32)| match width {
            5.. if !direct => count as usize * (width - 3),
            _ => 0,
        };
        let rest: usize = self.counts.iter().enumerate().map(rest).sum();
        plain_entropy(&self.counts) + rest as f64 / f64::from(self.total.max(1))
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

/// The greatest number that divides both; that of 0 and another one is the other one. One division makes both as small
/// as the lesser; from there on, subtracting and shifting takes half the time of more divisions (Stein, 1967).
pub(super) fn greatest_common_divisor(one: u64, other: u64) -> u64 {
    let (least, most) = (one.min(other), one.max(other));
    if least == 0 {
        return most;
    }
    // Dividing narrow numbers takes a fraction of the time.
    let rest = match (u32::try_from(most), u32::try_from(least)) {
        (Ok(most), Ok(least)) => u64::from(most % least),
        _ => most % least,
    };
    if rest == 0 {
        return least;
    }
    let twos = (least | rest).trailing_zeros();
    let mut one = least >> least.trailing_zeros();
    let mut other = rest >> rest.trailing_zeros();
    while one != other {
        // The difference of two odd numbers is even.
        let difference = one.abs_diff(other);
        one = one.min(other);
        other = difference >> difference.trailing_zeros();
    }
    one << twos
}

/// Bits a symbol of the best code for symbols that are as frequent as these, corrected for what a sample misses
/// (Miller, 1955).
pub(in crate::packed) fn entropy(counts: &[u32]) -> f64 {
    let all: u32 = counts.iter().sum();
    let kinds = counts.iter().filter(|&&count| count > 0).count();
    let missed = (kinds as f64 - 1.0) / (2.0 * f64::from(all.max(1)) * std::f64::consts::LN_2);
    plain_entropy(counts) + missed
}

fn plain_entropy(counts: &[u32]) -> f64 {
    let all = f64::from(counts.iter().sum::<u32>().max(1));
    let shares = counts.iter().filter(|&&count| count > 0);
    shares.fold(0.0, |bits, &count| {
        let share = f64::from(count) / all;
        bits - share * share.log2()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_divisors_are_those_of_euclid() {
        fn by_divisions(one: u64, other: u64) -> u64 {
            if other == 0 {
                one
            } else {
                by_divisions(other, one % other)
            }
        }
        let mixed = (1..200_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (n % 64));
        let powers = (0..64).map(|bit| 1 << bit);
        let round = (1..40).map(|n| n * 360_000);
        let others = [0, 3, u64::MAX, u64::MAX - 1, u32::MAX.into(), 1 << 32];
        let all: Vec<u64> = mixed.chain(powers).chain(round).chain(others).collect();
        for &one in &all {
            for &other in &all {
                let found = greatest_common_divisor(one, other);
                assert_eq!(found, by_divisions(one, other), "{one} {other}");
            }
        }
    }

    #[test]
    fn different_values_are_nearly_all_told_apart() {
        for kinds in [1, 2, 10, 60, 500, 1000_u64] {
            let values: Vec<u64> = (0..1024_u64).map(|n| (n * 7919 % kinds) << 40).collect();
            let mut different = Different::<1024>::default();
            different.look_at(values.iter());
            let found = different.count as u64;
            assert!(
                (kinds - kinds.min(16)..=kinds).contains(&found),
                "{found} of {kinds}"
            );
        }
        let values: Vec<u64> = (0..64).map(|n| n * n).collect();
        let mut different = Different::<64>::default();
        different.look_at(values.iter());
        assert!((60..=64).contains(&different.count));
    }
}
