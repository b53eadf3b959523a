//! Hexadecimal digits of one fixed number, as text has them, to numbers and back.

use super::Word;

/// Whether digits above nine are `a` to `f` or `A` to `F`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Lower,
    Upper,
}

const ONES: u64 = 0x0101_0101_0101_0101;

/// Reads values of `digits` hexadecimal digits, 1 to 16 (at most what a word holds), all in one case. `None` as soon
/// as one is something else; otherwise the case, which is `Lower` if there is no letter at all.
pub(crate) fn from_hex<W: Word>(text: &[u8], digits: usize, out: &mut Vec<W>) -> Option<Case> {
    debug_assert!(
        digits >= 1 && digits <= W::BITS as usize / 4 && text.len().is_multiple_of(digits)
    );
    let letter = text.iter().find(|byte| byte.is_ascii_alphabetic());
    let case = if letter.is_some_and(u8::is_ascii_uppercase) {
        Case::Upper
    } else {
        Case::Lower
    };
    let bit = if case == Case::Upper { 0x00 } else { 0x20 };
    out.clear();
    out.reserve(text.len() / digits);
    #[cfg(target_arch = "x86_64")]
    if case == Case::Lower && digits == 6 {
        let done = super::x86::from_hex_6(text, out)?;
        return rest(&text[done * 6..], digits, bit, out).then_some(case);
    }
    rest(text, digits, bit, out).then_some(case)
}

fn rest<W: Word>(text: &[u8], digits: usize, bit: u8, out: &mut Vec<W>) -> bool {
    for value in text.chunks_exact(digits) {
        let mut number = 0_u64;
        for &byte in value {
            let nibble = match byte {
                b'0'..=b'9' => byte - b'0',
                _ if (b'a'..=b'f').contains(&(byte | 0x20)) && byte & 0x20 == bit => {
                    (byte | 0x20) - b'a' + 10
                }
                _ => return false,
            };
            number = number << 4 | u64::from(nibble);
        }
        out.push(W::of(number));
    }
    true
}

/// Each value as `digits` hexadecimal digits, one behind the other. Digits that a value has beyond those are cut off.
pub(crate) fn to_hex<W: Word>(values: &[W], digits: usize, case: Case) -> String {
    let mut text = Vec::new();
    write_hex(values, digits, case, &mut text);
    debug_assert!(text.is_ascii());
    // SAFETY: `write_hex` writes digits and letters only, and cuts off what it wrote beyond them.
    unsafe { String::from_utf8_unchecked(text) }
}

fn write_hex<W: Word>(values: &[W], digits: usize, case: Case, text: &mut Vec<u8>) {
    debug_assert!((1..=16).contains(&digits));
    let start = text.len();
    // Eight digits are stored at once, so that the last may need room behind the end.
    text.resize(start + values.len() * digits + 8, 0);
    let out = &mut text[start..];
    let letter = ONES
        * u64::from(if case == Case::Lower {
            b'a' - b'0' - 10
        } else {
            b'A' - b'0' - 10
        });
    #[cfg(target_arch = "x86_64")]
    let done = if digits == 6 && case == Case::Lower {
        super::x86::to_hex_6(values, out)
    } else {
        0
    };
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    for (index, value) in values.iter().enumerate().skip(done) {
        let value = value.get();
        let at = index * digits;
        if digits > 8 {
            let high = spread(value >> 32, letter) >> (8 * (16 - digits));
            out[at..at + 8].copy_from_slice(&high.to_le_bytes());
            out[at + digits - 8..at + digits]
                .copy_from_slice(&spread(value & 0xffff_ffff, letter).to_le_bytes());
        } else {
            let all = spread(value & 0xffff_ffff, letter) >> (8 * (8 - digits));
            out[at..at + 8].copy_from_slice(&all.to_le_bytes());
        }
    }
    text.truncate(start + values.len() * digits);
}

/// The eight digits of a number of 32 bits, the first in the lowest byte.
#[inline(always)]
fn spread(value: u64, letter: u64) -> u64 {
    let halves = (value | value << 16) & 0x0000_ffff_0000_ffff;
    let bytes = (halves | halves << 8) & 0x00ff_00ff_00ff_00ff;
    let nibbles = ((bytes | bytes << 4) & (0x0f * ONES)).swap_bytes();
    let is_letter = (nibbles + 6 * ONES) >> 4 & ONES;
    nibbles + 0x30 * ONES + is_letter * (letter & 0xff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_come_back() {
        for digits in 1..=16 {
            for count in [0, 1, 2, 3, 4, 5, 8, 9, 17, 100] {
                let values: Vec<u64> = (0..count)
                    .map(|index: u64| {
                        index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - 4 * digits as u32)
                    })
                    .collect();
                for case in [Case::Lower, Case::Upper] {
                    let text = to_hex(&values, digits, case);
                    let expected: String = values
                        .iter()
                        .map(|value| match case {
                            Case::Lower => format!("{value:0digits$x}"),
                            Case::Upper => format!("{value:0digits$X}"),
                        })
                        .collect();
                    assert_eq!(text, expected, "{digits} digits");
                    let mut back = vec![7_u64];
                    let found = from_hex(text.as_bytes(), digits, &mut back);
                    assert_eq!(back, values);
                    let letters = expected.bytes().any(|byte| byte.is_ascii_alphabetic());
                    assert_eq!(found, Some(if letters { case } else { Case::Lower }));
                    if digits <= 8 {
                        let mut narrow: Vec<u32> = Vec::new();
                        from_hex(text.as_bytes(), digits, &mut narrow).unwrap();
                        assert!(
                            narrow
                                .iter()
                                .zip(&values)
                                .all(|(&narrow, &value)| u64::from(narrow) == value)
                        );
                        assert_eq!(to_hex(&narrow, digits, case), text);
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_no_digit_is_noticed_wherever_it_stands() {
        let text = "0123456789abcdef".repeat(30);
        for byte in [
            b'g',
            b'G',
            b'A',
            b'/',
            b':',
            b'`',
            b'@',
            b' ',
            0,
            0x80,
            0xff,
            b'0' | 0x80,
        ] {
            for at in 0..text.len() {
                let mut bad = text.clone().into_bytes();
                bad[at] = byte;
                let mut out: Vec<u32> = Vec::new();
                // An upper-case letter among the first makes the lower-case ones the wrong ones.
                assert_eq!(from_hex(&bad, 6, &mut out), None, "{byte:02x} at {at}");
            }
        }
    }
}
