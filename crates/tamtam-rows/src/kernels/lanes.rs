//! Numbers that lie beside one another in words of 64 bits, apart.

use super::vectorised;

/// How many numbers of 16 bits a word has.
pub(crate) const LANES_OF_16: usize = 4;
/// How many numbers of 32 bits a word has.
pub(crate) const LANES_OF_32: usize = 2;

/// Appends the first number of each word to the first list, the second one to the second, and so on, the lowest bits
/// being the first. Only the first so many lists are written.
pub(crate) fn split_16(words: &[u64], lists: &mut [Vec<u16>; LANES_OF_16], used: usize) {
    #[cfg(target_arch = "x86_64")]
    let done = super::x86::split_16(words, lists, used);
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    for (lane, list) in lists.iter_mut().enumerate().take(used) {
        list.extend(
            words[done..]
                .iter()
                .map(|word| (word >> (16 * lane)) as u16),
        );
    }
}

/// The same of numbers of 32 bits.
pub(crate) fn split_32(words: &[u64], lists: &mut [Vec<u32>; LANES_OF_32], used: usize) {
    for (lane, list) in lists.iter_mut().enumerate().take(used) {
        vectorised(|| list.extend(words.iter().map(|word| (word >> (32 * lane)) as u32)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_comes_to_its_list() {
        for count in (0..70).chain([255, 256, 1000]) {
            let words: Vec<u64> = (1..=count)
                .map(|n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15))
                .collect();
            for used in 0..=LANES_OF_16 {
                let mut lists = [const { Vec::new() }; LANES_OF_16];
                lists[0].push(7);
                split_16(&words, &mut lists, used);
                for (lane, list) in lists.iter_mut().enumerate() {
                    if lane == 0 {
                        assert_eq!(list.remove(0), 7);
                    }
                    let numbers = words.iter().map(|word| (word >> (16 * lane)) as u16);
                    let expected: Vec<u16> = numbers.filter(|_| lane < used).collect();
                    assert_eq!(*list, expected, "{count} words, list {lane} of {used}");
                }
            }
            for used in 0..=LANES_OF_32 {
                let mut lists = [const { Vec::new() }; LANES_OF_32];
                split_32(&words, &mut lists, used);
                for (lane, list) in lists.iter().enumerate() {
                    let numbers = words.iter().map(|word| (word >> (32 * lane)) as u32);
                    let expected: Vec<u32> = numbers.filter(|_| lane < used).collect();
                    assert_eq!(*list, expected, "{count} words, list {lane} of {used}");
                }
            }
        }
    }
}
