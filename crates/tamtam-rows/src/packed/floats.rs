//! Columns of floats.
//!
//! Most floats that people write down are decimal numbers. Where such a number is an integer divided by a power of
//! ten, the integers are kept (Afroozeh, Kuffó, Boncz, "ALP: Adaptive Lossless floating-Point Compression", SIGMOD
//! 2023). Sums, differences and units that were converted miss such a number by little: how far is kept beside the integer, in units
//! of the last place (the idea of FloatMult: Loncaric, Jeppesen, Zinberg, "Pcodec: Better Compression for Numerical
//! Sequences", 2025). Of others, the upper bits are a list of integers, which differ little, and the lower ones are as they are.

use super::Mode;
use super::bytes::{Input, Output, Result};
use super::integers::{self, Effort, Exceptions, read_exceptions};
use super::marks::Marks;
use crate::kernels::{mask, pack, packed_bytes, unpack, vectorised};

/// How many values are scaled at once, if there is no exception among them; a multiple of 8.
const STRETCH: usize = 256;

/// The bits of each value, at a multiple of 8.
pub(super) const PLAIN: u8 = 0;
/// Integers to be divided by a power of ten.
const DECIMAL: u8 = 1;
/// The upper bits as a list of integers, the lower ones packed.
const SPLIT: u8 = 2;
/// All bits as a list of integers.
const BITS: u8 = 3;
/// Integers to be divided by a power of ten, and how many floats lie between each quotient and the value.
const NEAR: u8 = 4;

/// A float of either width.
pub(super) trait Float: Copy + 'static {
    const WIDTH: u32;
    /// The bits in which values that are near each other differ least.
    const UPPER: u32;
    /// Up to here, an integer and how far its quotient is from the value are fewer bits than the value.
    const NEAR_MOST: f64;
    /// From here on a power of ten may be that of digits which an error of calculation has left behind.
    const MANY_DIGITS: usize;
    fn bits(self) -> u64;
    fn of_bits(bits: u64) -> Self;
    fn to_f64(self) -> f64;
    fn of_f64(value: f64) -> Self;
}

impl Float for f64 {
    const WIDTH: u32 = 64;
    const UPPER: u32 = 16;
    const NEAR_MOST: f64 = (1_u64 << 40) as f64;
    const MANY_DIGITS: usize = 9;
    fn bits(self) -> u64 {
        self.to_bits()
    }
    fn of_bits(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
    fn to_f64(self) -> f64 {
        self
    }
    fn of_f64(value: f64) -> f64 {
        value
    }
}

impl Float for f32 {
    const WIDTH: u32 = 32;
    const UPPER: u32 = 12;
    const NEAR_MOST: f64 = (1_u64 << 20) as f64;
    const MANY_DIGITS: usize = 4;
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
    fn of_bits(bits: u64) -> f32 {
        f32::from_bits(bits as u32)
    }
    fn to_f64(self) -> f64 {
        self.into()
    }
    fn of_f64(value: f64) -> f32 {
        value as f32
    }
}

/// Powers of ten that a double holds exactly.
const TENS: [f64; 19] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18,
];
/// Integers up to here are exact in a double.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The integer that gives exactly this value when it is divided by the power of ten.
#[inline(always)]
fn scaled<F: Float>(value: F, ten: f64) -> Option<i64> {
    let wide = value.to_f64();
    let rounded = (wide * ten).round_ties_even();
    // Comparing bits lets no NaN pass, and no zero below zero.
    let integer = rounded as i64;
    (rounded.abs() < EXACT && F::of_f64(integer as f64 / ten).bits() == value.bits())
        .then_some(integer)
}

/// The integers that give exactly these values when they are divided by the power of ten. False if one has none, or
/// one that is too large for this way, which needs no branches and no instructions that few processors have.
#[inline(always)]
fn all_scaled<F: Float>(values: &[F], ten: f64, integers: &mut [i64]) -> bool {
    const MOST_SCALED: f64 = (1_u64 << 50) as f64;
    let mut all = true;
    for (&value, integer) in values.iter().zip(integers) {
        let (wide, sum) = rounding(value, ten);
        let rounded = sum - ROUNDER;
        *integer = sum.to_bits().wrapping_sub(ROUNDER.to_bits()) as i64;
        all &= (wide.abs() < MOST_SCALED) & (F::of_f64(rounded / ten).bits() == value.bits());
    }
    all
}

/// A double beyond 2^52 has no digits behind the point, so that adding this rounds, and its lowest bits are then the integer's.
const ROUNDER: f64 = (3_u64 << 51) as f64;

/// The value times the power of ten, and the sum of that and the rounder.
#[inline(always)]
fn rounding<F: Float>(value: F, ten: f64) -> (f64, f64) {
    let wide = value.to_f64() * ten;
    (wide, wide + ROUNDER)
}

/// So many floats a value may be away from a quotient that is near it.
const NEAR_BY: u64 = 1 << 10;

/// The integer that gives nearly this value when it is divided by the power of ten, and how many floats that is below the
/// value.
#[inline(always)]
fn near<F: Float>(value: F, ten: f64) -> Option<(i64, i32)> {
    let rounded = (value.to_f64() * ten).round_ties_even();
    let integer = rounded as i64;
    let quotient = F::of_f64(integer as f64 / ten);
    // Bits of floats of one sign are in the order of their values. Of different signs, and of no number, they are far apart.
    let difference = value.bits().wrapping_sub(quotient.bits()) as i64;
    (rounded.abs() < F::NEAR_MOST && difference.unsigned_abs() <= NEAR_BY)
        .then_some((integer, difference as i32))
}

/// The same for all of these values. False if there is no such integer for one of them.
#[inline(always)]
fn all_near<F: Float>(
    values: &[F],
    ten: f64,
    integers: &mut [i64],
    differences: &mut [i32],
) -> bool {
    let mut all = true;
    for ((&value, integer), difference) in values.iter().zip(integers).zip(differences) {
        let (wide, sum) = rounding(value, ten);
        let quotient = F::of_f64((sum - ROUNDER) / ten);
        *integer = sum.to_bits().wrapping_sub(ROUNDER.to_bits()) as i64;
        let apart = value.bits().wrapping_sub(quotient.bits());
        *difference = apart as i32;
        let is_near = apart.wrapping_add(NEAR_BY) <= 2 * NEAR_BY;
        all &= (wide.abs() < F::NEAR_MOST) & is_near;
    }
    all
}

pub(super) fn encode<F: Float>(values: &[F], effort: Effort, out: &mut Output<'_>) {
    if effort.mode == Mode::Plain {
        return plain(values, out);
    }
    let sample: Vec<F> = match values.len() {
        0..=64 => values.to_vec(),
        count => values.iter().step_by(count / 64).copied().collect(),
    };
    if values.is_empty() || sample.iter().all(|value| value.bits() == sample[0].bits()) {
        let bits: Vec<u64> = values.iter().map(|value| value.bits()).collect();
        out.byte(BITS);
        return integers::encode(&bits, effort, out);
    }
    let (start, slack) = (out.bytes.len(), out.slack);
    let found = decimals(values, &sample, effort, out);
    let behind = out.bytes.len();
    // What the mode packed takes for them at most: the mode small tries what that one may try.
    let most = behind - start + out.slack - slack;
    // A dictionary of decimals is found with them, but not where they are none, or are so nearly, or by accident.
    let is_odd = found != Some(DECIMAL) || most > values.len() * F::WIDTH as usize / 16;
    if is_odd && repeats(values) && whole(values, effort, out) {
        if found.is_some() {
            out.keep_smaller(start, behind);
        }
        return;
    }
    if found.is_none() {
        split(values, effort, out);
    } else if most > values.len() * F::WIDTH as usize / 8 {
        split(values, effort, out);
        out.keep_smaller(start, behind);
    }
}

/// Decimals, exactly or nearly: says which. Nothing is written where they are none.
fn decimals<F: Float>(
    values: &[F],
    sample: &[F],
    effort: Effort,
    out: &mut Output<'_>,
) -> Option<u8> {
    let exact = exponent_of(sample, |value, ten| scaled(value, ten).is_some());
    if let Some(exponent) = exact.filter(|&exponent| exponent < F::MANY_DIGITS)
        && decimal(values, exponent, effort, out)
    {
        return Some(DECIMAL);
    }
    let nearly = exponent_of(sample, |value, ten| near(value, ten).is_some());
    if let Some(exponent) = nearly
        && exact.is_none_or(|exact| exact < F::MANY_DIGITS || exponent + 2 < exact)
        && near_decimal(values, exponent, effort, out)
    {
        return Some(NEAR);
    }
    let exponent = exact.filter(|&exponent| exponent >= F::MANY_DIGITS)?;
    decimal(values, exponent, effort, out).then_some(DECIMAL)
}

fn plain<F: Float>(values: &[F], out: &mut Output<'_>) {
    out.byte(PLAIN);
    out.align();
    out.bytes.reserve(values.len() * F::WIDTH as usize / 8);
    for value in values {
        out.bytes
            .extend_from_slice(&value.bits().to_le_bytes()[..F::WIDTH as usize / 8]);
    }
}

/// The least power of ten with which nearly all of the sample become integers.
fn exponent_of<F: Float>(sample: &[F], becomes: impl Fn(F, f64) -> bool) -> Option<usize> {
    let allowed = sample.len() / 12;
    (0..TENS.len()).find(|&exponent| {
        let ten = TENS[exponent];
        let mut failures = 0;
        sample.iter().all(|&value| {
            failures += usize::from(!becomes(value, ten));
            failures <= allowed
        })
    })
}

/// How many values are looked at to tell whether they repeat.
const LOOKED_AT: usize = 1024;

/// Whether a dictionary of the bits of all values promises to take less than half of them.
fn repeats<F: Float>(values: &[F]) -> bool {
    let step = values.len().div_ceil(LOOKED_AT).max(1);
    let mut seen = Marks::<LOOKED_AT>::default();
    let (mut size, mut distinct) = (0_usize, 0_usize);
    for value in values.iter().step_by(step) {
        let mixed = value.bits().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = (mixed ^ mixed >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
        distinct += usize::from(seen.mark(place as usize % Marks::<LOOKED_AT>::PLACES));
        size += 1;
    }
    let pairs = (size - distinct) as f64;
    if pairs < 2.0 + size as f64 / 100.0 {
        return false;
    }
    let count = values.len() as f64;
    let width = f64::from(F::WIDTH);
    let entries = ((size * size) as f64 / (2.0 * pairs)).clamp(distinct as f64, count);
    entries * width + count * entries.log2() < 0.5 * width * count
}

/// All bits as a list of integers. False, and nothing written, where they take more than half of what they are.
fn whole<F: Float>(values: &[F], effort: Effort, out: &mut Output<'_>) -> bool {
    let start = out.bytes.len();
    let bits: Vec<u64> = values.iter().map(|value| value.bits()).collect();
    out.byte(BITS);
    integers::encode(&bits, effort, out);
    if out.bytes.len() - start > values.len() * F::WIDTH as usize / 16 {
        out.bytes.truncate(start);
        return false;
    }
    true
}

/// False, and nothing written, where that would not be smaller.
fn decimal<F: Float>(values: &[F], exponent: usize, effort: Effort, out: &mut Output<'_>) -> bool {
    let ten = TENS[exponent];
    let (mut rows, mut wrong) = (Vec::new(), Vec::new());
    let mut last = 0;
    let mut integers: Vec<i64> = vec![0; values.len()];
    let parts = values.chunks(STRETCH).zip(integers.chunks_mut(STRETCH));
    for (stretch, (values, integers)) in parts.enumerate() {
        if vectorised(|| all_scaled(values, ten, integers)) {
            last = integers[integers.len() - 1];
            continue;
        }
        for (row, (&value, integer)) in values.iter().zip(integers).enumerate() {
            match scaled(value, ten) {
                Some(found) => last = found,
                // In its place stands what is there before it, which costs least.
                None => {
                    rows.push((stretch * STRETCH + row) as u32);
                    wrong.push(value.bits());
                }
            }
            *integer = last;
        }
    }
    if rows.len() * 6 > values.len() {
        return false;
    }
    let start = out.bytes.len();
    out.byte(DECIMAL);
    out.byte(exponent as u8);
    integers::encode(&integers, effort.inner(), out);
    Exceptions::of(&rows, wrong).write(effort, out);
    if out.bytes.len() - start > values.len() * F::WIDTH as usize / 8 {
        out.bytes.truncate(start);
        return false;
    }
    true
}

/// Integers to be divided by a power of ten, and how far the quotients are away. False, and nothing written, where that would not be
/// smaller.
fn near_decimal<F: Float>(
    values: &[F],
    exponent: usize,
    effort: Effort,
    out: &mut Output<'_>,
) -> bool {
    let ten = TENS[exponent];
    let (mut rows, mut wrong) = (Vec::new(), Vec::new());
    let mut last = 0;
    let mut integers: Vec<i64> = vec![0; values.len()];
    let mut differences: Vec<i32> = vec![0; values.len()];
    let stretches = integers
        .chunks_mut(STRETCH)
        .zip(differences.chunks_mut(STRETCH));
    for (stretch, (values, (integers, differences))) in
        values.chunks(STRETCH).zip(stretches).enumerate()
    {
        if vectorised(|| all_near(values, ten, integers, differences)) {
            last = integers[integers.len() - 1];
            continue;
        }
        let places = integers.iter_mut().zip(differences);
        for (row, (&value, (integer, difference))) in values.iter().zip(places).enumerate() {
            (last, *difference) = near(value, ten).unwrap_or_else(|| {
                rows.push((stretch * STRETCH + row) as u32);
                wrong.push(value.bits());
                (last, 0)
            });
            *integer = last;
        }
    }
    if rows.len() * 6 > values.len() {
        return false;
    }
    let start = out.bytes.len();
    out.byte(NEAR);
    out.byte(exponent as u8);
    integers::encode(&integers, effort.inner(), out);
    integers::encode(&differences, effort.inner(), out);
    Exceptions::of(&rows, wrong).write(effort, out);
    if out.bytes.len() - start > values.len() * F::WIDTH as usize / 8 {
        out.bytes.truncate(start);
        return false;
    }
    true
}

fn split<F: Float>(values: &[F], effort: Effort, out: &mut Output<'_>) {
    let lower = F::WIDTH - F::UPPER;
    let uppers: Vec<u16> = values
        .iter()
        .map(|value| (value.bits() >> lower) as u16)
        .collect();
    out.byte(SPLIT);
    out.byte(lower as u8);
    integers::encode(&uppers, effort.inner(), out);
    // A stretch takes whole bytes, so that they lie one behind the other as if packed at once.
    let mut lowers = [0_u64; STRETCH];
    for values in values.chunks(STRETCH) {
        for (place, value) in lowers.iter_mut().zip(values) {
            *place = value.bits() & mask(lower);
        }
        pack(&lowers[..values.len()], lower, out.bytes);
    }
}

pub(super) fn decode<F: Float>(input: &mut Input<'_>, count: usize) -> Result<Vec<F>> {
    input.reserve((count as u64) * u64::from(F::WIDTH / 8))?;
    match input.byte("how floats are coded")? {
        PLAIN => {
            input.align()?;
            let bytes = F::WIDTH as usize / 8;
            let length = count
                .checked_mul(bytes)
                .ok_or_else(|| input.malformed("too many values"))?;
            Ok(input
                .take(length, "plain floats")?
                .chunks_exact(bytes)
                .map(|bytes| {
                    let mut word = [0; 8];
                    word[..bytes.len()].copy_from_slice(bytes);
                    F::of_bits(u64::from_le_bytes(word))
                })
                .collect())
        }
        DECIMAL => {
            let ten = power_of_ten(input)?;
            let integers: Vec<i64> = integers::decode(input, count, 1)?;
            let mut values: Vec<F> = integers
                .into_iter()
                .map(|integer| F::of_f64(integer as f64 / ten))
                .collect();
            read_exceptions(input, 1, &mut values, |value, bits| {
                *value = F::of_bits(bits)
            })?;
            Ok(values)
        }
        SPLIT => {
            let lower = u32::from(input.byte("the number of lower bits")?);
            if lower >= F::WIDTH {
                return Err(input.malformed(format!("{lower} lower bits of {}", F::WIDTH)));
            }
            let uppers: Vec<u64> = integers::decode(input, count, 1)?;
            let bytes = input.take(packed_bytes(count, lower), "lower bits")?;
            let mut lowers = vec![0_u64; count];
            unpack(bytes, lower, &mut lowers);
            Ok(uppers
                .into_iter()
                .zip(lowers)
                .map(|(upper, low)| F::of_bits(upper << lower | low))
                .collect())
        }
        NEAR => {
            let ten = power_of_ten(input)?;
            let integers: Vec<i64> = integers::decode(input, count, 1)?;
            let differences: Vec<i32> = integers::decode(input, count, 1)?;
            let pairs = integers.into_iter().zip(differences);
            let mut values: Vec<F> = pairs
                .map(|(integer, difference)| {
                    let quotient = F::of_f64(integer as f64 / ten);
                    F::of_bits(quotient.bits().wrapping_add(i64::from(difference) as u64))
                })
                .collect();
            read_exceptions(input, 1, &mut values, |value, bits| {
                *value = F::of_bits(bits)
            })?;
            Ok(values)
        }
        BITS => {
            let bits: Vec<u64> = integers::decode(input, count, 1)?;
            Ok(bits.into_iter().map(F::of_bits).collect())
        }
        other => Err(input.malformed(format!("no coding of floats is numbered {other}"))),
    }
}

fn power_of_ten(input: &mut Input<'_>) -> Result<f64> {
    let exponent = input.byte("the power of ten")?;
    let ten = TENS.get(usize::from(exponent)).copied();
    ten.ok_or_else(|| input.malformed(format!("a power of ten of {exponent}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;
    use proptest::prelude::*;

    fn comes_back<F: Float>(values: &[F]) -> usize {
        let mut packed = 0;
        for mode in [Mode::Small, Mode::Plain, Mode::Packed] {
            let mut bytes = Vec::new();
            encode(
                values,
                Effort::new(mode),
                &mut Output {
                    bytes: &mut bytes,
                    origin: 3,
                    slack: 0,
                },
            );
            let mut input = Input::new(&bytes, 3, &Limits::default());
            let back: Vec<F> = decode(&mut input, values.len()).unwrap();
            assert!(
                back.iter()
                    .map(|value| value.bits())
                    .eq(values.iter().map(|value| value.bits()))
            );
            assert_eq!(input.left(), 0);
            packed = bytes.len();
        }
        packed
    }

    fn exact<F: Float>(sample: &[F]) -> Option<usize> {
        exponent_of(sample, |value, ten| scaled(value, ten).is_some())
    }

    #[test]
    fn the_power_of_ten_is_the_least_that_makes_integers_of_nearly_all() {
        let cents: Vec<f64> = (1..=24).map(|number| f64::from(number) / 100.0).collect();
        assert_eq!(exact(&[1.0, -7.0, 2_000_000.0]), Some(0));
        assert_eq!(exact(&[1.5, 2.0]), Some(1));
        assert_eq!(exact(&cents), Some(2));
        assert_eq!(exact(&[0.001, 5.0, 1.25]), Some(3));
        assert_eq!(exact(&[1.5_f32, 0.25]), Some(2));
        assert_eq!(exact(&[f64::MAX; 24]), None);
        // One of twelve may be something else.
        for (others, exponent) in [(1, Some(2)), (2, Some(2)), (3, None)] {
            let mut mixed = cents.clone();
            mixed[..others].fill(f64::MAX);
            assert_eq!(exact(&mixed), exponent, "{others}");
        }
    }

    #[test]
    fn odd_floats_come_back() {
        let odd = [
            0.0,
            -0.0,
            f64::NAN,
            -f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MIN_POSITIVE / 3.0,
            f64::MAX,
            0.1,
        ];
        comes_back::<f64>(&[]);
        comes_back(&[-0.0_f64; 100]);
        comes_back(&odd);
        let among: Vec<f64> = (0..1000)
            .map(|n| {
                if n % 40 == 7 {
                    odd[n / 40 % 9]
                } else {
                    n as f64 / 4.0
                }
            })
            .collect();
        comes_back(&among);
        comes_back(&among.iter().map(|&value| value as f32).collect::<Vec<_>>());
    }

    /// What the mode packed takes for each value, by which coding.
    fn packed<F: Float>(values: &[F]) -> (u8, f64) {
        let mut bytes = Vec::new();
        let mut out = Output {
            bytes: &mut bytes,
            origin: 0,
            slack: 0,
        };
        encode(values, Effort::new(Mode::Packed), &mut out);
        comes_back(values);
        (bytes[0], bytes.len() as f64 * 8.0 / values.len() as f64)
    }

    #[test]
    fn decimals_that_were_calculated_become_integers_and_small_differences() {
        let exact: Vec<f64> = (0..4000_u64)
            .map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / 1e5)
            .collect();
        let (how, bits) = packed(&exact);
        assert_eq!(how, DECIMAL);
        let missed: Vec<f64> = exact
            .iter()
            .map(|value| value * 1.1 * 0.9 * (1.0 / 0.99))
            .collect();
        let (how, more) = packed(&missed);
        assert_eq!(how, NEAR);
        assert!(more < bits + 3.0, "{bits}, {more}");
        // Some digits more than others have, which the error of a sum leaves, are none.
        let shifted: Vec<f64> = exact.iter().map(|value| value % 1.0 + 5.7).collect();
        assert_eq!(packed(&shifted).0, NEAR);
        let narrow: Vec<f32> = (0..4000_u64)
            .map(|n| ((n * 7919 % 4001) as f32 / 10.0).sqrt().powi(2))
            .collect();
        assert_eq!(packed(&narrow).0, NEAR);
        // Below zero, as well; and what repeats is in a dictionary all the same.
        let below: Vec<f64> = missed.iter().map(|value| -value).collect();
        assert_eq!(packed(&below).0, NEAR);
        let few: Vec<f64> = (0..4000).map(|n| missed[n * n % 7]).collect();
        assert_eq!(packed(&few).0, BITS);
        // One in ten is no decimal.
        let mixed: Vec<f64> = (0..4000)
            .map(|n| {
                if n % 10 == 3 {
                    (n as f64).sqrt()
                } else {
                    missed[n]
                }
            })
            .collect();
        assert_eq!(packed(&mixed).0, NEAR);
        let none: Vec<f64> = (1..4000).map(|n| f64::from(n).sqrt()).collect();
        assert_eq!(packed(&none).0, SPLIT);
    }

    #[test]
    fn decimals_become_integers() {
        let prices: Vec<f64> = (0..4000_u64)
            .map(|n| (10_000 + n * 7919 % 1000) as f64 / 100.0)
            .collect();
        assert!(comes_back(&prices) < 4000 * 10 / 8 + 40);
        let narrow: Vec<f32> = prices.iter().map(|&price| price as f32).collect();
        assert!(comes_back(&narrow) < 4000 * 10 / 8 + 40);
        let full: Vec<f64> = (1..4000_u64).map(|n| 20.0 + 1.0 / n as f64).collect();
        assert!(comes_back(&full) < 4000 * 7);
    }

    #[test]
    fn floats_that_repeat_take_codes() {
        // Shares that no few digits give, of 2,000, some of them frequent.
        let share = |n: u64| 1.0 / (3.0 + n as f64);
        let mixed = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let shares: Vec<f64> = (0..30_000)
            .map(|n| share(mixed(n) % if n % 3 == 0 { 5 } else { 2000 }))
            .collect();
        assert!(comes_back(&shares) < 30_000 * 11 / 8 + 2000 * 8 + 100);
        // Nearly all zero: exceptions take less than codes.
        let rare: Vec<f64> = (0..30_000)
            .map(|n| {
                if n % 100 == 7 {
                    share(mixed(n) % 50)
                } else {
                    0.0
                }
            })
            .collect();
        assert!(comes_back(&rare) < 3000);
    }

    proptest! {
        #[test]
        fn any_floats_come_back(bits in prop::collection::vec(any::<u64>(), 0..200), decimals in prop::collection::vec(-100_000_i64..100_000, 0..200), scale in 0_i32..6) {
            comes_back(&bits.iter().map(|&bits| f64::from_bits(bits)).collect::<Vec<_>>());
            comes_back(&bits.iter().map(|&bits| f32::from_bits(bits as u32)).collect::<Vec<_>>());
            let scaled: Vec<f64> = decimals.iter().map(|&value| value as f64 / 10_f64.powi(scale)).collect();
            comes_back(&scaled);
            let mut both = scaled;
            both.extend(bits.iter().take(10).map(|&bits| f64::from_bits(bits)));
            comes_back(&both);
        }
    }
}
