//! Where two lists differ.

use super::{Word, bits_of, vectorised};

/// A bit for each pair of values, set where they differ; the first is the lowest of the first word. Both lists have the
/// same length.
pub(crate) fn unequal<W: Word>(ones: &[W], others: &[W]) -> Vec<u64> {
    assert_eq!(ones.len(), others.len());
    let mut words = Vec::with_capacity(ones.len().div_ceil(64));
    #[cfg(target_arch = "x86_64")]
    super::x86::unequal(ones, others, &mut words);
    let done = words.len() * 64;
    portable(&ones[done..], &others[done..], &mut words);
    words
}

fn portable<W: Word>(ones: &[W], others: &[W], words: &mut Vec<u64>) {
    for (ones, others) in ones.chunks(64).zip(others.chunks(64)) {
        let mut flags = [false; 64];
        vectorised(|| {
            for (flag, (one, other)) in flags.iter_mut().zip(ones.iter().zip(others)) {
                *flag = one != other;
            }
        });
        words.push(bits_of(&flags));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_say_the_same<W: Word>() {
        for count in [0, 1, 63, 64, 65, 127, 128, 200, 1000] {
            for period in [1, 2, 3, 17, 64, 5000] {
                let value = |n: usize| W::of((n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
                let ones: Vec<W> = (0..count).map(value).collect();
                // The highest bit alone, the lowest alone, or all.
                let change = |n: usize| match n / period % 3 {
                    0 => W::of(1),
                    1 => W::of(1 << (W::BITS - 1)),
                    _ => W::of(u64::MAX),
                };
                let differs = |n: &usize| n.is_multiple_of(period);
                let others: Vec<W> = (0..count)
                    .map(|n| match differs(&n) {
                        true => W::of(value(n).get() ^ change(n).get()),
                        false => value(n),
                    })
                    .collect();
                let mut expected = vec![0; count.div_ceil(64)];
                for row in (0..count).filter(differs) {
                    expected[row / 64] |= 1 << (row % 64);
                }
                let mut slowly = Vec::new();
                portable(&ones, &others, &mut slowly);
                assert_eq!(slowly, expected, "{count} {period}");
                assert_eq!(unequal(&ones, &others), expected, "{count} {period}");
            }
        }
    }

    #[test]
    fn bits_are_set_where_values_differ() {
        all_say_the_same::<u8>();
        all_say_the_same::<u16>();
        all_say_the_same::<u32>();
        all_say_the_same::<u64>();
        all_say_the_same::<i32>();
    }
}
