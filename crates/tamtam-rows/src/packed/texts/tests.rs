//! Each codec of texts holds what it is given, and is chosen where it should be.

use super::*;
use crate::packed::Mode;
use crate::packed::bytes::{Input, Output};
use crate::packed::integers::Effort;
use crate::{Limits, Strings};
use proptest::prelude::*;

fn coded(texts: &Strings, mode: Mode) -> Vec<u8> {
    let mut bytes = Vec::new();
    let list = Texts {
        all: texts.all().as_bytes(),
        ends: texts.ends(),
    };
    encode(
        list,
        Effort::new(mode),
        &mut Output {
            bytes: &mut bytes,
            origin: 2,
            slack: 0,
        },
    );
    let mut input = Input::new(&bytes, 2, &Limits::default());
    let (all, ends) = decode(&mut input, texts.len()).unwrap();
    assert_eq!(String::from_utf8(all).unwrap(), texts.all(), "{mode:?}");
    assert!(ends == *texts.ends(), "{mode:?} {bytes:?}");
    assert_eq!(input.left(), 0);
    bytes
}

fn each_mode(values: &[impl AsRef<str>]) -> Vec<u8> {
    let texts: Strings = values.iter().map(AsRef::as_ref).collect();
    coded(&texts, Mode::Plain);
    coded(&texts, Mode::Small);
    coded(&texts, Mode::Packed)
}

fn samples() -> Vec<Vec<String>> {
    let numbered = |form: &dyn Fn(u32) -> String| (0..500).map(form).collect::<Vec<_>>();
    vec![
        vec![],
        vec![String::new()],
        vec!["ä".into(); 3],
        numbered(&|_| String::new()),
        numbered(&|n| format!("{:06x}", n.wrapping_mul(0x9e37_79b9) >> 8)),
        numbered(&|n| format!("{:08X}", n.wrapping_mul(0x9e37_79b9))),
        numbered(&|n| format!("{:016x}", u64::from(n).wrapping_mul(0x9e37_79b9_7f4a_7c15))),
        numbered(&|n| format!("{:05}", n * 131 % 99_991)),
        numbered(&|n| format!("{:016}", u64::from(n) * 1_234_567_891)),
        numbered(&|n| ["red", "green", "blue", ""][n as usize * 7 % 4].into()),
        numbered(&|n| format!("/var/lib/tamtam/rows/{:05}/part-{}", n / 10, n % 10)),
        numbered(&|n| format!("+49 30 {}-{}", n * 7919, n % 13)),
        numbered(&|n| {
            format!(
                "Grüße {} 🥁 {}",
                n.wrapping_mul(0x9e37_79b9),
                "x".repeat(n as usize % 9)
            )
        }),
    ]
}

#[test]
fn each_shape_comes_back() {
    for values in samples() {
        each_mode(&values);
    }
}

#[test]
fn hexadecimal_digits_take_four_bits() {
    let colors: Vec<String> = (0..1000_u32)
        .map(|n| format!("{:06x}", n.wrapping_mul(0x9e37_79b9) >> 8))
        .collect();
    assert!(each_mode(&colors).len() < 3010);
    let few: Vec<&str> = (0..1000_usize).map(|n| &*colors[n * n % 13]).collect();
    assert!(each_mode(&few).len() < 1000 / 2 + 80);
}

#[test]
fn damaged_texts_are_errors_and_never_panics() {
    for values in samples() {
        let texts: Strings = values.iter().take(60).collect();
        for mode in [Mode::Packed, Mode::Small, Mode::Plain] {
            let bytes = coded(&texts, mode);
            for cut in 0..bytes.len() {
                assert!(
                    decode(
                        &mut Input::new(&bytes[..cut], 2, &Limits::default()),
                        texts.len()
                    )
                    .is_err()
                );
            }
            for bit in 0..bytes.len().min(600) * 8 {
                let mut bad = bytes.clone();
                bad[bit / 8] ^= 1 << (bit % 8);
                let _ = decode(
                    &mut Input::new(
                        &bad,
                        2,
                        &Limits {
                            bytes: 1 << 20,
                            ..Limits::default()
                        },
                    ),
                    texts.len(),
                );
            }
        }
    }
}

#[test]
fn a_short_dictionary_does_not_grow_beyond_the_limit() {
    let long = "x".repeat(100_000);
    let texts: Strings = (0..60_000)
        .map(|n| if n % 2 == 0 { &*long } else { "" })
        .take(2000)
        .collect();
    let mut bytes = Vec::new();
    let list = Texts {
        all: texts.all().as_bytes(),
        ends: texts.ends(),
    };
    encode(
        list,
        Effort::new(Mode::Packed),
        &mut Output {
            bytes: &mut bytes,
            origin: 0,
            slack: 0,
        },
    );
    assert!(bytes.len() < 110_000);
    let limits = Limits {
        bytes: 10_000_000,
        ..Limits::default()
    };
    let error = decode(&mut Input::new(&bytes, 0, &limits), 2000)
        .err()
        .unwrap();
    assert!(
        matches!(
            error,
            crate::DecodeError::Limit {
                limit: 10_000_000,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn lists_that_take_no_bytes_are_bounded_however_they_are_nested() {
    const TOTAL: u64 = 1_000_000;
    let mut bytes = Vec::new();
    let mut out = Output {
        bytes: &mut bytes,
        origin: 0,
        slack: 0,
    };
    let constant = |value: u64, out: &mut Output<'_>| {
        out.byte(0);
        out.zigzag(value);
    };
    out.byte(ALPHABET);
    out.byte(0);
    out.byte(b'a');
    constant(TOTAL, &mut out);
    // Patched ones of no width, in which every value is an exception, whose upper bits are such a list again.
    for _ in 0..6 {
        out.byte(5);
        out.zigzag(0);
        out.byte(0);
        out.varint(TOTAL);
        constant(0, &mut out);
    }
    constant(0, &mut out);
    assert!(bytes.len() < 100);
    let limits = Limits {
        bytes: TOTAL,
        ..Limits::default()
    };
    let error = decode(&mut Input::new(&bytes, 0, &limits), 1)
        .err()
        .unwrap();
    assert!(
        matches!(error, crate::DecodeError::Limit { what, .. } if what.contains("inside others")),
        "{error}"
    );
    // As many without lists in lists are fine.
    let mut flat = bytes[..bytes.len() - 6 * 8 - 2].to_vec();
    flat.extend([0, 0]);
    let (all, _) = decode(&mut Input::new(&flat, 0, &limits), 1).unwrap();
    assert_eq!(all, vec![b'a'; TOTAL as usize]);
}

proptest! {
    #[test]
    fn any_texts_come_back(values in prop::collection::vec(".{0,12}", 0..60), picks in prop::collection::vec(any::<prop::sample::Index>(), 0..300)) {
        each_mode(&values);
        if !values.is_empty() {
            let repeated: Vec<&String> = picks.iter().map(|pick| pick.get(&values)).collect();
            each_mode(&repeated);
        }
    }
}
