//! Each codec of integers holds what it is given, and is chosen where it should be.

use super::*;
use crate::Limits;
use crate::kernels::packed_bytes;
use crate::packed::bytes::{Input, Output};
use proptest::prelude::*;

fn coded<T: Integer>(values: &[T], mode: Mode) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(
        values,
        Effort::new(mode),
        &mut Output {
            bytes: &mut bytes,
            origin: 5,
            slack: 0,
        },
    );
    let mut input = Input::new(&bytes, 5, &Limits::default());
    let back: Vec<T> = decode(&mut input, values.len(), 0).unwrap();
    assert_eq!(back, values, "{mode:?}");
    assert_eq!(input.left(), 0);
    bytes
}

fn each_mode<T: Integer>(values: &[T]) {
    for mode in [Mode::Packed, Mode::Small, Mode::Plain] {
        coded(values, mode);
    }
}

fn mixed(index: u64) -> u64 {
    let mut state = index
        .wrapping_add(0x9e37_79b9_7f4a_7c15)
        .wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state ^= state >> 27;
    state.wrapping_mul(0x94d0_49bb_1331_11eb) ^ state >> 31
}

/// The codec, and those inside.
fn codecs<T: Integer>(values: &[T], mode: Mode) -> Vec<&'static str> {
    let bytes = coded(values, mode);
    let mut input = Input::new(&bytes, 5, &Limits::default());
    input.met = Some(Vec::new());
    decode::<T>(&mut input, values.len(), 0).unwrap();
    input
        .met
        .unwrap()
        .into_iter()
        .map(|met| met.codec)
        .collect()
}

#[test]
fn short_lists_and_extremes_come_back() {
    each_mode::<i16>(&[]);
    each_mode(&[i64::MIN]);
    each_mode(&[i64::MIN, i64::MAX]);
    each_mode(&[i64::MIN, i64::MAX, 0, -1, 1]);
    each_mode(&[u64::MAX, 0, u64::MAX, 1]);
    each_mode(&[i8::MIN, i8::MAX]);
    each_mode(&[u16::MAX; 100]);
    for count in 1..200_u64 {
        each_mode(&(0..count).map(|n| mixed(n) as i64).collect::<Vec<_>>());
        each_mode(
            &(0..count)
                .map(|n| mixed(n) as u8 as i16)
                .collect::<Vec<_>>(),
        );
    }
}

#[test]
fn each_shape_gets_its_codec() {
    let packed = Mode::Packed;
    assert_eq!(codecs(&[7_i32; 1000], packed), ["constant"]);
    let sequence: Vec<i16> = (-500..500).collect();
    assert_eq!(codecs(&sequence, packed), ["sequence"]);
    assert!(coded(&sequence, packed).len() <= 4);
    let uniform: Vec<i16> = (0..1000).map(|n| (mixed(n) % 1100) as i16).collect();
    assert_eq!(codecs(&uniform, packed), ["packed"]);
    assert_eq!(codecs(&uniform, Mode::Small), ["radix"]);
    assert_eq!(codecs(&uniform, Mode::Plain), ["plain"]);
    let quarters: Vec<i16> = (0..1000).map(|n| (mixed(n) % 4) as i16 * 90).collect();
    assert_eq!(codecs(&quarters, packed), ["scaled", "packed"]);
    let runs: Vec<u32> = (0..10_000).map(|n| mixed(n / 300) as u32).collect();
    assert_eq!(codecs(&runs, packed)[0], "runs");
    let few: Vec<u64> = (0..5000).map(|n| mixed(mixed(n) % 50)).collect();
    assert_eq!(codecs(&few, packed)[0], "dictionary");
    // Of a narrow range, too, in which they are looked up otherwise.
    let few: Vec<u16> = (0..5000)
        .map(|n| mixed(mixed(n) % 50) as u16 % 10_000)
        .collect();
    assert_eq!(codecs(&few, packed)[0], "dictionary");
    let mut outliers: Vec<u64> = (0..5000).map(|n| mixed(n) % 200).collect();
    outliers[777] = 1 << 50;
    outliers[778] = 1 << 51;
    assert!(coded(&outliers, packed).len() < 5200);
    let mut time = 1_700_000_000_000;
    let times: Vec<i64> = (0..5000)
        .map(|n| {
            time += 9_990 + (mixed(n) % 20) as i64;
            time
        })
        .collect();
    assert_eq!(codecs(&times, packed)[0], "delta");
    assert!(coded(&times, packed).len() < 5000 * 5 / 8 + 40);
    let skewed: Vec<u16> = (0..5000)
        .map(|n| {
            if mixed(n).is_multiple_of(20) {
                (mixed(n) >> 32) as u16 % 5
            } else {
                9
            }
        })
        .collect();
    assert!(codecs(&skewed, Mode::Small).contains(&"symbols"));
    assert!(!codecs(&skewed, packed).contains(&"symbols"));
    let heavy: Vec<u64> = (0..5000)
        .map(|n| 1_u64 << (mixed(n) % 8 + mixed(n * 7) % 8 + mixed(n * 31) % 8))
        .map(|scale| scale + scale / 3)
        .collect();
    assert!(coded(&heavy, packed).len() < 5000 * 24 / 8);
}

#[test]
fn damaged_lists_are_errors_and_never_panics() {
    let shapes: [Vec<i64>; 7] = [
        (0..300).map(|n| (mixed(n) % 1100) as i64).collect(),
        (0..300).map(|n| (mixed(n) % 4 * 90) as i64).collect(),
        (0..600).map(|n| mixed(n / 40) as i64).collect(),
        (0..600).map(|n| mixed(mixed(n) % 20) as i64).collect(),
        (0..600)
            .map(|n| {
                i64::from(mixed(n).is_multiple_of(30)) * 5 + i64::from(mixed(n).is_multiple_of(7))
            })
            .collect(),
        (0..600).map(|n| (n * n) as i64).collect(),
        (0..600)
            .map(|n| (mixed(n) % 8) as i64 + if n % 91 == 0 { 1 << 40 } else { 0 })
            .collect(),
    ];
    for values in shapes {
        for mode in [Mode::Packed, Mode::Small, Mode::Plain] {
            let bytes = coded(&values, mode);
            for cut in 0..bytes.len() {
                decode::<i64>(
                    &mut Input::new(&bytes[..cut], 5, &Limits::default()),
                    values.len(),
                    0,
                )
                .unwrap_err();
            }
            // Not a multiple of 8: each bit of a byte has its turn, and long lists are not tried at each of theirs.
            let step = (bytes.len() * 8).div_ceil(4_000) | 1;
            for bit in (0..bytes.len() * 8).step_by(step) {
                let mut bad = bytes.clone();
                bad[bit / 8] ^= 1 << (bit % 8);
                let _ = decode::<i64>(
                    &mut Input::new(&bad, 5, &Limits::default()),
                    values.len(),
                    0,
                );
                let _ = decode::<u16>(
                    &mut Input::new(&bad, 5, &Limits::default()),
                    values.len() / 2,
                    0,
                );
            }
        }
    }
}

#[test]
fn nesting_ends_somewhere() {
    let bytes = [4, 0].repeat(100_000);
    let mut input = Input::new(&bytes, 0, &Limits::default());
    let error = decode::<i64>(&mut input, 100, 0).unwrap_err();
    assert!(error.to_string().contains("deeper"), "{error}");
}

proptest! {
    #[test]
    fn any_list_comes_back(values in prop::collection::vec(any::<i64>(), 0..300), shift in 0_u32..63, repeat in 1_usize..20) {
        let values: Vec<i64> = values.iter().flat_map(|value| std::iter::repeat_n(value >> shift, repeat)).collect();
        each_mode(&values);
        each_mode(&values.iter().map(|&value| value as i32).collect::<Vec<_>>());
        each_mode(&values.iter().map(|&value| value as u8).collect::<Vec<_>>());
    }

    #[test]
    fn any_walk_comes_back(steps in prop::collection::vec(-50_i64..1000, 0..3000)) {
        let mut at = 0_i64;
        let values: Vec<i64> = steps.iter().map(|step| { at = at.wrapping_add(*step); at }).collect();
        each_mode(&values);
    }

    #[test]
    fn any_bytes_are_values_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200), count in 0_usize..400) {
        let mut input = Input::new(&bytes, 0, &Limits::default());
        let _ = decode::<u32>(&mut input, count, 0);
    }
}

#[test]
fn long_runs_are_no_differences_of_differences() {
    // Months and days of a year's rows, as they come: each sample sees equal neighbours only, or nearly so.
    let months: Vec<u8> = (0..60_000_u32)
        .map(|row| (row / 25_000) as u8 + 1)
        .collect();
    let days: Vec<u8> = (0..60_000_u32)
        .map(|row| (row / 900 % 31) as u8 + 1)
        .collect();
    for mode in [Mode::Packed, Mode::Small] {
        assert!(coded(&months, mode).len() < 40, "{mode:?}");
        assert!(coded(&days, mode).len() < 200, "{mode:?}");
    }
}

#[test]
fn nothing_is_larger_than_packed() {
    // Steps that come again at different places: what a sample sees of their differences is small, and others are not.
    for period in [13, 100, 1000] {
        let values: Vec<i32> = (0..20_000_u64)
            .map(|row| (row % period * period) as i32 + (mixed(row / period) % 5_000_000) as i32)
            .collect();
        let packed = packed_bytes(values.len(), 23) + 8;
        for mode in [Mode::Packed, Mode::Small] {
            assert!(coded(&values, mode).len() <= packed, "{mode:?} {period}");
        }
    }
}

#[test]
fn a_few_values_far_below_the_others_are_exceptions() {
    // Places on one chromosome after the other: rising, but where the next one begins.
    let places: Vec<u32> = (0..50_000_u64)
        .map(|row| (row % 9000 * 20_000 + mixed(row) % 16_384) as u32)
        .collect();
    for mode in [Mode::Packed, Mode::Small] {
        assert!(
            coded(&places, mode).len() < packed_bytes(places.len(), 17),
            "{mode:?}"
        );
    }
    let mut below: Vec<i64> = (0..50_000)
        .map(|row| (mixed(row) % 16_000) as i64)
        .collect();
    for row in [7, 11_111, 30_000] {
        below[row] = i64::MIN + row as i64;
    }
    each_mode(&below);
    let length = coded(&below, Mode::Packed).len();
    assert!(
        length < packed_bytes(below.len(), 16),
        "{length} {:?}",
        codecs(&below, Mode::Packed)
    );
    let narrow: Vec<u8> = (0..5000)
        .map(|row| {
            if row == 7 {
                0
            } else {
                250 + (mixed(row) % 4) as u8
            }
        })
        .collect();
    each_mode(&narrow);
    assert!(coded(&narrow, Mode::Packed).len() < packed_bytes(narrow.len(), 2) + 40);
}

#[test]
fn a_dictionary_is_found_where_some_values_are_frequent() {
    // Half of the rows have one of ten values, the others one of 5,000: a sample takes them for fewer.
    let values: Vec<i64> = (0..40_000)
        .map(|row| mixed(mixed(row) % if row % 2 == 0 { 10 } else { 5000 }) as i64 >> 24)
        .collect();
    for mode in [Mode::Packed, Mode::Small] {
        assert!(
            coded(&values, mode).len() < packed_bytes(40_000, 13) + 5000 * 5 + 200,
            "{mode:?}"
        );
    }
}
