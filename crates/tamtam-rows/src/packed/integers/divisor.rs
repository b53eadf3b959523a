//! Division by a number that is known only when the program runs, by one multiplication.

/// A number that others are divided by, if they are multiples of it: one multiplication each, instead of a division
/// (Granlund, Montgomery, "Division by Invariant Integers using Multiplication", 1994).
#[derive(Clone, Copy, Debug)]
pub(super) struct Divisor {
    /// What the odd part is to be multiplied with to give 1.
    inverse: u64,
    /// How often 2 is in it.
    twos: u32,
    /// The greatest quotient.
    most: u64,
}

impl Divisor {
    /// `divisor` is not 0.
    pub(super) fn new(divisor: u64) -> Divisor {
        let twos = divisor.trailing_zeros();
        let odd = divisor >> twos;
        // Each step doubles how many of the lowest bits are right; of an odd number itself, three are.
        let mut inverse = odd;
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        }
        Divisor {
            inverse,
            twos,
            most: u64::MAX / divisor,
        }
    }

    /// What a multiple is divided; of other numbers, something that is no quotient.
    #[inline(always)]
    pub(super) fn quotient(self, value: u64) -> u64 {
        value.wrapping_mul(self.inverse).rotate_right(self.twos)
    }

    #[inline(always)]
    pub(super) fn divides(self, value: u64) -> bool {
        self.quotient(value) <= self.most
    }

    /// What a multiple with a sign is divided.
    #[inline(always)]
    pub(super) fn signed_quotient(self, value: i64) -> i64 {
        (value >> self.twos).wrapping_mul(self.inverse as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_are_told_from_others_and_divided() {
        let numbers = |divisor: u64| {
            let around = (0..200).map(move |n: u64| n.wrapping_mul(divisor));
            let last = u64::MAX / divisor * divisor;
            let mixed = (0..200).map(|n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            around.chain([last, u64::MAX, 1 << 63]).chain(mixed)
        };
        for divisor in (1..400).chain([1000, 1 << 20, 90 << 32, 1 << 63, u64::MAX]) {
            let by = Divisor::new(divisor);
            for number in numbers(divisor).flat_map(|n| [n, n.wrapping_add(1)]) {
                assert_eq!(
                    by.divides(number),
                    number.is_multiple_of(divisor),
                    "{number} {divisor}"
                );
                if by.divides(number) {
                    assert_eq!(by.quotient(number), number / divisor);
                }
            }
            if let Ok(divisor) = i32::try_from(divisor) {
                let divisor = i64::from(divisor);
                for factor in [0, 1, -1, 7, -1000, i64::from(i32::MAX), i64::from(i32::MIN)] {
                    assert_eq!(by.signed_quotient(factor * divisor), factor);
                }
            }
        }
    }
}
