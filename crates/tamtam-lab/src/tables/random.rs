//! Numbers without a pattern that are the same everywhere.

/// Numbers that look random and follow from the seed alone: SplitMix64 (Steele, Lea and Flood, *Fast splittable
/// pseudorandom number generators*, 2014). Only the basic operations are used, so that the numbers are the same
/// everywhere.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// 64 random bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A whole number below `end`, each as likely as the others.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(end)) >> 64) as u64
    }

    /// A whole number from `first` to `last`, both among them.
    pub(super) fn between(&mut self, first: i64, last: i64) -> i64 {
        first + self.below((last - first + 1) as u64) as i64
    }

    /// A number from 0 to below 1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True this often of 1.
    pub(super) fn chance(&mut self, of_one: f64) -> bool {
        self.unit() < of_one
    }

    /// One of these.
    pub(super) fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }

    /// About normal, of mean 0 and deviation 1: the sum of twelve even numbers.
    pub(super) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    /// Exponential, of mean 1: by comparisons alone (von Neumann, *Various techniques used in connection with random
    /// digits*, 1951).
    pub(super) fn exponential(&mut self) -> f64 {
        let mut whole = 0.0;
        loop {
            let first = self.unit();
            let mut last = first;
            let mut falling = 1;
            loop {
                let next = self.unit();
                if next > last {
                    break;
                }
                last = next;
                falling += 1;
            }
            if falling % 2 == 1 {
                return whole + first;
            }
            whole += 1.0;
        }
    }

    /// Log-normal, with this median; `spread` is the deviation of the logarithm.
    pub(super) fn log_normal(&mut self, median: f64, spread: f64) -> f64 {
        // The exponential function, near enough for a distribution.
        let mut grown = 1.0 + self.normal() * spread / 1024.0;
        for _ in 0..10 {
            grown *= grown;
        }
        median * grown
    }

    /// At least 1, with a heavy tail: Pareto's distribution with exponent 1.5 or so.
    pub(super) fn pareto(&mut self) -> f64 {
        let even = 1.0 - self.unit();
        1.0 / (even.sqrt() * even.sqrt().sqrt().sqrt())
    }

    /// A random UUID of version 4.
    pub(super) fn uuid(&mut self) -> [u8; 16] {
        let bits = (u128::from(self.bits()) << 64) | u128::from(self.bits());
        let mut uuid = bits.to_be_bytes();
        uuid[6] = 0x40 | (uuid[6] & 0x0f);
        uuid[8] = 0x80 | (uuid[8] & 0x3f);
        uuid
    }
}

/// Which of several, with given weights.
#[derive(Clone, Debug)]
pub(super) struct Weights {
    /// The sum up to and with each.
    sums: Vec<f64>,
}

impl Weights {
    pub(super) fn new(weights: impl IntoIterator<Item = f64>) -> Weights {
        let mut sum = 0.0;
        let sums = weights
            .into_iter()
            .map(|weight| {
                sum += weight;
                sum
            })
            .collect();
        Weights { sums }
    }

    /// The first is the most frequent; the others fall off as Zipf's law says, after the first `flat` of them.
    pub(super) fn zipf(count: usize, flat: f64) -> Weights {
        Weights::new((0..count).map(|rank| 1.0 / (rank as f64 + 1.0 + flat)))
    }

    /// One of them.
    pub(super) fn pick(&self, random: &mut Random) -> usize {
        let all = self.sums.last().copied().unwrap_or(0.0);
        let at = random.unit() * all;
        self.sums
            .partition_point(|&sum| sum <= at)
            .min(self.sums.len().saturating_sub(1))
    }
}
