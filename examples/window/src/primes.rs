//! A sieve that goes on where it was: the segmented sieve of Eratosthenes.

/// So many numbers are looked at in one go. As bytes they fit into a core's cache.
const SEGMENT: u64 = 1 << 16;

/// Brings the primes up to a number, one segment after the other.
#[derive(Debug)]
pub(crate) struct Sieve {
    /// The primes up to the root of the last number.
    small: Vec<u64>,
    /// The first number that was not looked at.
    next: u64,
    last: u64,
}

impl Sieve {
    pub(crate) fn new(up_to: u64) -> Self {
        let root = up_to.isqrt();
        let mut small: Vec<u64> = Vec::new();
        for number in 2..=root {
            let is_prime = small
                .iter()
                .take_while(|prime| **prime * **prime <= number)
                .all(|prime| number % prime != 0);
            if is_prime {
                small.push(number);
            }
        }
        Sieve {
            small,
            next: 2,
            last: up_to,
        }
    }

    /// The primes of the next segment, and the last number that was looked at; `None` at the end.
    pub(crate) fn next_segment(&mut self) -> Option<(Vec<u64>, u64)> {
        if self.next > self.last {
            return None;
        }
        let first = self.next;
        let last = self.last.min(first + SEGMENT - 1);
        let mut is_composite = vec![false; (last - first + 1) as usize];
        for &prime in &self.small {
            let mut multiple = (prime * prime).max(first.next_multiple_of(prime));
            while multiple <= last {
                is_composite[(multiple - first) as usize] = true;
                multiple += prime;
            }
        }
        self.next = last + 1;
        let primes = (first..=last)
            .zip(is_composite)
            .filter(|(_, is_composite)| !is_composite)
            .map(|(number, _)| number)
            .collect();
        Some((primes, last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn primes(up_to: u64) -> Vec<u64> {
        let mut sieve = Sieve::new(up_to);
        let mut all = Vec::new();
        while let Some((primes, _)) = sieve.next_segment() {
            all.extend(primes);
        }
        all
    }

    #[test]
    fn small_primes_are_found() {
        assert_eq!(primes(1), []);
        assert_eq!(primes(2), [2]);
        assert_eq!(primes(30), [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]);
    }

    #[test]
    fn segments_join_without_a_gap() {
        // The numbers of primes up to a million and to the end of a segment are well known.
        assert_eq!(primes(1_000_000).len(), 78_498);
        assert_eq!(primes(SEGMENT).len(), 6_542);
        assert_eq!(primes(SEGMENT + 1).len(), 6_543);
    }
}
