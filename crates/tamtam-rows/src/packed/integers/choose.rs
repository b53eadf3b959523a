//! Choosing the codec of a list of integers by what a sample says it would cost.

use std::cell::{Cell, OnceCell};

use super::divisor::Divisor;
use super::encode::offsets;
use super::rival::Rival;
use super::sample::{
    FEW_LOOKED_AT, MANY_LOOKED_AT, Sample, Widths, entropy, greatest_common_divisor, mostly_from,
};
use super::symbols::{class_of, table_bits};
use super::{Choices, Effort, Integer, dictionary, radix};
use crate::kernels::{Word, vectorised, width_of};
use crate::packed::Mode;

/// What a list is to be coded with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Choice {
    Packed,
    Delta,
    /// With this many low bits, from so far above the least value on.
    Patched(u32, u64),
    Runs,
    /// With no more entries than this.
    Dictionary(usize),
    Symbols,
    Classes,
    Radix,
}

/// Lists shorter than this are not worth more than packing.
const PACKED_BELOW: usize = 16;

/// From how many values on more of them are looked at.
const LOOKED_AT_FROM: usize = 4096;

/// What a patched list takes besides its values, in bits.
const PATCHED: f64 = 120.0;
/// By how much a second pass must make a list smaller, here and where it is read.
const WORTH_A_PASS: f64 = 1.12;
/// The same of a short list in another one, which takes its time besides.
const WORTH_INSIDE: f64 = 1.25;
/// What runs must save, in bits a value.
const RUN: f64 = 1.0;
/// The share of equal neighbours from which on a sample is taken to show nothing else.
const ALL_EQUAL: f64 = 0.98;

/// Up to this width, values are too narrow for some of them to be outliers.
const NARROW: u32 = 3;

/// What was chosen for a list.
pub(super) struct Chosen<W> {
    pub(super) choice: Choice,
    /// What comes next, should that turn out not to pay.
    pub(super) second: Choice,
    /// What the mode packed would do, if this is the mode small.
    pub(super) rival: Option<Box<Rival>>,
    /// What all offsets from the least value have in common.
    pub(super) divisor: u64,
    /// The offsets divided by it, unless it is 1.
    pub(super) quotients: Vec<W>,
}

/// The codec that promises to be smallest, by a sample. `range` is how far the greatest value lies above the least.
pub(super) fn choose<T: Integer, W: Word>(
    values: &[T],
    min: T,
    range: u64,
    effort: Effort,
) -> Chosen<W> {
    if let Some(choice) = of_little_worth(values, min, range, effort) {
        return Chosen {
            choice,
            second: Choice::Packed,
            rival: None,
            divisor: 1,
            quotients: Vec::new(),
        };
    }
    if values.len() < LOOKED_AT_FROM {
        by_sample::<T, W, FEW_LOOKED_AT>(values, min, range, effort)
    } else {
        by_sample::<T, W, MANY_LOOKED_AT>(values, min, range, effort)
    }
}

/// Whether nothing but packing is chosen for a list.
pub(super) fn is_packed<T: Integer>(values: &[T], min: T, range: u64, effort: Effort) -> bool {
    let effort = effort.of_list(values.len());
    let chosen = choose::<T, u64>(values, min, range, effort);
    chosen.choice == Choice::Packed && chosen.divisor == 1
}

/// What is chosen for a list that is not worth more than packing or patching.
fn of_little_worth<T: Integer>(values: &[T], min: T, range: u64, effort: Effort) -> Option<Choice> {
    match effort.choices(values.len()) {
        Choices::All => None,
        Choices::Widths if values.len() >= PACKED_BELOW && effort.nests() => {
            let mut sample = Sample::<FEW_LOOKED_AT>::EMPTY;
            sample.look_at(values, min);
            Some(by_widths(&sample, values.len(), width_of(range)))
        }
        Choices::Widths | Choices::One => Some(Choice::Packed),
    }
}

/// Packed or patched.
fn by_widths<const MOST: usize>(sample: &Sample<MOST>, count: usize, width: u32) -> Choice {
    if sample.share_from(1 << (width - 1)) > 0.25 {
        return Choice::Packed;
    }
    let (low, bits) = Widths::of(sample.values()).patched(width);
    let patched = (bits * count as f64 + PATCHED) * WORTH_INSIDE;
    if patched < f64::from(width) * count as f64 {
        Choice::Patched(low, 0)
    } else {
        Choice::Packed
    }
}

fn by_sample<T: Integer, W: Word, const MOST: usize>(
    values: &[T],
    min: T,
    range: u64,
    effort: Effort,
) -> Chosen<W> {
    let mut sample = Sample::<MOST>::EMPTY;
    sample.look_at(values, min);
    let (divisor, quotients) = divide(values, min, &mut sample).unwrap_or((1, Vec::new()));
    let findings = Findings::new(&sample, values.len(), range / divisor);
    let (choice, second) = cheapest(&findings, effort);
    let rival = match effort.mode {
        Mode::Small => Some(rival(
            values,
            min,
            range,
            divisor,
            &findings,
            effort.packed(),
        )),
        _ => None,
    };
    Chosen {
        choice,
        second,
        rival,
        divisor,
        quotients,
    }
}

/// What the mode packed would do, by the same sample.
#[inline(never)]
fn rival<T: Integer, const MOST: usize>(
    values: &[T],
    min: T,
    range: u64,
    divisor: u64,
    findings: &Findings<'_, MOST>,
    effort: Effort,
) -> Box<Rival> {
    let (choices, by) = match of_little_worth(values, min, range, effort) {
        Some(choice) => ([choice, Choice::Packed], 1),
        None => (cheapest(findings, effort).into(), divisor),
    };
    Box::new(Rival {
        choices,
        count: values.len(),
        range,
        divisor: by,
        is_divided_alike: by == divisor,
    })
}

/// What a sample tells of a list, each part found once, when it is first asked for: both modes ask for much the same.
struct Findings<'a, const MOST: usize> {
    sample: &'a Sample<MOST>,
    /// How many values the list has, and how far the greatest lies above the least.
    count: usize,
    range: u64,
    widths: OnceCell<Widths>,
    patched: OnceCell<(u64, u32, f64)>,
    delta_bits: OnceCell<f64>,
    distinct: Cell<Distinct>,
    most_distinct: OnceCell<usize>,
    entropy: OnceCell<(Choice, f64)>,
}

/// How many values differ.
#[derive(Clone, Copy)]
enum Distinct {
    Unknown,
    AtLeast(f64),
    About(f64),
}

impl<'a, const MOST: usize> Findings<'a, MOST> {
    fn new(sample: &'a Sample<MOST>, count: usize, range: u64) -> Findings<'a, MOST> {
        Findings {
            sample,
            count,
            range,
            widths: OnceCell::new(),
            patched: OnceCell::new(),
            delta_bits: OnceCell::new(),
            distinct: Cell::new(Distinct::Unknown),
            most_distinct: OnceCell::new(),
            entropy: OnceCell::new(),
        }
    }

    fn width(&self) -> u32 {
        width_of(self.range)
    }

    fn widths(&self) -> &Widths {
        self.widths.get_or_init(|| Widths::of(self.sample.values()))
    }

    /// From which value on, and with how many low bits, patching is cheapest, and the bits a value then.
    fn patched(&self) -> (u64, u32, f64) {
        *self.patched.get_or_init(|| {
            let (sample, width) = (self.sample, self.width());
            // Where many values are as wide as the widest, there is nothing to patch.
            if width > NARROW && mostly_from(sample.values(), self.range / 2) {
                above_outliers::<MOST>(sample.values(), self.range)
            } else if sample.share_from(1 << (width - 1)) > 0.25 {
                (0, width, f64::from(width))
            } else {
                let (low, bits) = self.widths().patched(width);
                (0, low, bits)
            }
        })
    }

    fn delta_bits(&self) -> f64 {
        *self
            .delta_bits
            .get_or_init(|| delta_bits(self.sample, self.width()))
    }

    /// How many values differ, or without bound where so many as a part of the sample shows are too many.
    fn distinct(&self, too_many: impl Fn(f64) -> bool) -> f64 {
        match self.distinct.get() {
            Distinct::About(distinct) => return distinct,
            Distinct::AtLeast(least) if too_many(least) => return f64::INFINITY,
            _ => {}
        }
        let mut least = f64::INFINITY;
        let mut gives_up = false;
        let distinct = self.sample.distinct(|part| {
            least = part;
            gives_up = too_many(part);
            gives_up
        });
        self.distinct.set(if gives_up {
            Distinct::AtLeast(least)
        } else {
            Distinct::About(distinct)
        });
        distinct
    }

    fn most_distinct(&self, even: usize) -> usize {
        *self
            .most_distinct
            .get_or_init(|| self.sample.most_distinct(self.count, even as f64))
    }

    /// That of the two ways to use the entropy coder which fits the range, and the bits that it takes.
    fn entropy(&self) -> (Choice, f64) {
        *self.entropy.get_or_init(|| {
            let mut counts = [0_u32; 256];
            let mut rest = 0_u64;
            let values = self.sample.values();
            let choice = if self.range < 256 {
                for &value in values {
                    counts[value as usize] += 1;
                }
                Choice::Symbols
            } else {
                for &value in values {
                    let (class, bits) = class_of(value);
                    counts[class as usize] += 1;
                    rest += u64::from(bits);
                }
                Choice::Classes
            };
            let bits = entropy(&counts) + rest as f64 / values.len() as f64;
            (choice, bits * self.count as f64 + table_bits(&counts))
        })
    }
}

fn cheapest<const MOST: usize>(findings: &Findings<'_, MOST>, effort: Effort) -> (Choice, Choice) {
    let (count, width) = (findings.count, findings.width());
    let tries_hard = effort.mode.tries_hard();
    if count < PACKED_BELOW {
        return (Choice::Packed, Choice::Packed);
    }
    let cost = |bits: f64, fixed: f64| bits * count as f64 + fixed;
    let plainly = cost(width.into(), 0.0);
    let mut best = (Choice::Packed, plainly);
    let mut second = Choice::Packed;
    let mut offer = |best: &mut (Choice, f64), choice, cost: f64| {
        if cost < best.1 {
            second = best.0;
            *best = (choice, cost);
        }
    };
    let mut runs = f64::INFINITY;
    if effort.nests() {
        let (from, low, bits) = findings.patched();
        // What is saved must be worth the second pass, here and where it is read.
        let worth = if tries_hard { 1.02 } else { WORTH_A_PASS };
        offer(
            &mut best,
            Choice::Patched(low, from),
            cost(bits, PATCHED) * worth,
        );
        let equal = findings.sample.equal_share();
        // Where all neighbours are equal but a few, which the sample does not show, their differences are no better.
        if equal < ALL_EQUAL {
            offer(
                &mut best,
                Choice::Delta,
                cost(findings.delta_bits(), 60.0) * worth.min(1.06),
            );
        }
        if equal > 0.3 {
            let length = (1.0 / (1.0 - equal).max(1e-3)).log2() + 1.0;
            let bits = (1.0 - equal) * (f64::from(width) + length);
            runs = cost(bits, 100.0) * worth;
            // Values and lengths are lists of their own, and to repeat the values takes time on the other side.
            let paid = if tries_hard {
                runs
            } else {
                // Long runs are repeated at once.
                cost(bits + RUN * (8.0 * (1.0 - equal)).min(1.0), 100.0)
            };
            offer(&mut best, Choice::Runs, paid);
        }
        if width > 2 && !effort.codes {
            let cost = |distinct: f64| {
                let codes = distinct.max(2.0).log2().ceil();
                // Many entries are not in the nearest cache.
                let worth = if distinct > dictionary::NEAR as f64 {
                    worth.max(1.04)
                } else {
                    1.04
                };
                cost(codes, distinct * f64::from(width) + 80.0) * worth
            };
            let distinct = findings.distinct(|least| cost(least) >= best.1);
            if distinct < count as f64 / 2.0 && distinct <= dictionary::MOST_ENTRIES as f64 {
                offer(
                    &mut best,
                    Choice::Dictionary(distinct as usize),
                    cost(distinct),
                );
            }
        }
    }
    // Where runs would be small, the entropy coder, which takes yet more time, must save as much as beside them.
    let most = effort.most_by_entropy(best.1.min(runs), count);
    if let Some((choice, cost)) = by_entropy(findings, most, effort)
        && cost < most
    {
        let before = best.0;
        best = (before, f64::INFINITY);
        offer(&mut best, choice, cost);
    }
    if tries_hard {
        let bits = radix::bits(findings.range) + effort.mode.bits_in(radix::NANOSECONDS);
        offer(&mut best, Choice::Radix, cost(bits, 8.0));
    }
    // How many entries there are at most takes longer to tell than about how many.
    let bounded = |choice| match choice {
        Choice::Dictionary(entries) => Choice::Dictionary(findings.most_distinct(entries)),
        other => other,
    };
    (bounded(best.0), bounded(second))
}

/// Bits a value of the differences, packed or patched; without bound where most of them are not below the values.
fn delta_bits<const MOST: usize>(sample: &Sample<MOST>, width: u32) -> f64 {
    if !sample.is_near(1_u64 << width.saturating_sub(2).min(62)) {
        return f64::INFINITY;
    }
    let differences = sample.differences();
    let Some(&first) = differences.first() else {
        return f64::INFINITY;
    };
    let (least, most) = vectorised(|| {
        let bounds = |(least, most): (i64, i64), &difference: &i64| {
            (least.min(difference), most.max(difference))
        };
        differences.iter().fold((first, first), bounds)
    });
    let range = most.wrapping_sub(least) as u64;
    if range == 0 {
        return 0.0;
    }
    let packed = f64::from(width_of(range));
    let mut offsets = [0; MOST];
    let offsets = &mut offsets[..differences.len()];
    vectorised(|| {
        for (offset, difference) in offsets.iter_mut().zip(differences) {
            *offset = difference.wrapping_sub(least) as u64;
        }
    });
    let width = width_of(range);
    let (_, patched) = Widths::of(offsets).patched(width);
    let best = packed.min(patched);
    if width > NARROW && mostly_from(offsets, range / 2) {
        return best.min(above_outliers::<MOST>(offsets, range).2);
    }
    best
}

/// From which value on, and with how many low bits, patching is cheapest where few values lie far below the others, and
/// the bits a value then.
fn above_outliers<const MOST: usize>(values: &[u64], range: u64) -> (u64, u32, f64) {
    let mut place = [0; MOST];
    let place = &mut place[..values.len()];
    let mut best = (0, width_of(range), f64::from(width_of(range)));
    for below in [0, values.len() / 64, values.len() / 16] {
        place.copy_from_slice(values);
        let (_, &mut from, others) = place.select_nth_unstable(below);
        others
            .iter_mut()
            .for_each(|value| *value = value.wrapping_sub(from));
        let (low, bits) = Widths::of(others).patched(width_of(range - from));
        // An outlier that no sample shows is still there. Its gap and its upper part are lists of their own.
        let share = (below as f64).max(0.5) / values.len() as f64;
        let bits = bits + share * ((1.0 / share).log2() + 12.0);
        if bits < best.2 {
            best = (from, low, bits);
        }
    }
    best
}

/// The entropy coder, where the sample is large enough to tell and it may take less than `most`.
fn by_entropy<const MOST: usize>(
    findings: &Findings<'_, MOST>,
    most: f64,
    effort: Effort,
) -> Option<(Choice, f64)> {
    if findings.count < 256 || !effort.nests() {
        return None;
    }
    let is_direct = findings.range < 256;
    if !effort.mode.tries_hard() {
        // A small sample sees each of many values once or never, and tells nothing.
        if findings.sample.len() < 256 && (!is_direct || findings.range >= 16) {
            return None;
        }
        // Where it must save much, the widths alone mostly tell that it does not.
        let least = findings.widths().entropy_at_least(is_direct);
        if least * findings.count as f64 >= most {
            return None;
        }
    }
    Some(findings.entropy())
}

/// What all offsets have in common, if anything, and the offsets divided by it.
fn divide<T: Integer, W: Word, const MOST: usize>(
    values: &[T],
    min: T,
    sample: &mut Sample<MOST>,
) -> Option<(u64, Vec<W>)> {
    let mut divisor = sample.divisor();
    if divisor <= 1 {
        return None;
    }
    let offsets: Vec<W> = offsets(values, min);
    while divisor > 1 {
        match quotients(&offsets, divisor) {
            Ok(quotients) => {
                sample.divide(divisor);
                return Some((divisor, quotients));
            }
            // Others have less in common than those of the sample.
            Err(other) => divisor = greatest_common_divisor(divisor, other),
        }
    }
    None
}

/// All quotients, or an offset that is no multiple.
fn quotients<W: Word>(offsets: &[W], divisor: u64) -> Result<Vec<W>, u64> {
    if W::BITS > 32 || divisor > u64::from(u32::MAX) {
        let divisor = Divisor::new(divisor);
        let is_other = |offset: &&W| !divisor.divides(offset.get());
        return match offsets.iter().find(is_other) {
            Some(other) => Err(other.get()),
            None => Ok(offsets
                .iter()
                .map(|offset| W::of(divisor.quotient(offset.get())))
                .collect()),
        };
    }
    // For multiples below 2^32 this product's upper half is the exact quotient, and for others no factor.
    let inverse = (1_u64 << 32).div_ceil(divisor);
    let quotient = |offset: &W| (offset.get() * inverse) >> 32;
    let quotients: Vec<W> = vectorised(|| {
        offsets
            .iter()
            .map(|offset| W::of(quotient(offset)))
            .collect()
    });
    let all = vectorised(|| {
        let mut differs = 0;
        for (offset, quotient) in offsets.iter().zip(&quotients) {
            differs |= quotient.get().wrapping_mul(divisor) ^ offset.get();
        }
        differs == 0
    });
    if all {
        return Ok(quotients);
    }
    let other = offsets
        .iter()
        .find(|&offset| quotient(offset).wrapping_mul(divisor) != offset.get());
    Err(other.map_or(1, |other| other.get()))
}
