//! Writing lists of integers.

use super::choose::{Choice, Chosen, choose};
use super::exceptions::gaps;
use super::{Codec, Effort, Exceptions, Integer, dictionary, radix, symbols};
use crate::kernels::{Word, mask, pack, pack_offsets, packed_bytes, unequal, vectorised, width_of};
use crate::packed::Mode;
use crate::packed::bytes::Output;

/// Writes a list of integers with the codec that suits it.
pub(in crate::packed) fn encode<T: Integer>(values: &[T], effort: Effort, out: &mut Output<'_>) {
    let effort = effort.of_list(values.len());
    if effort.mode == Mode::Plain && effort.depth == 0 {
        return plain(values, out);
    }
    let Some((&first, &last)) = values.first().zip(values.last()) else {
        return constant(0, out);
    };
    if let Some(step) = step_of(values, first, last) {
        if step == 0 {
            return constant(first.wide(), out);
        }
        out.byte(Codec::Sequence as u8);
        out.zigzag(first.wide());
        out.zigzag(step);
        return;
    }
    let (min, max) = vectorised(|| {
        let (mut min, mut max) = (first, first);
        for &value in values {
            min = min.min(value);
            max = max.max(value);
        }
        (min, max)
    });
    if min == max {
        return constant(first.wide(), out);
    }
    let range = max.less(min).get();
    if range <= u16::MAX.into() {
        list::<T, u16>(values, min, range, effort, out);
    } else if range <= u32::MAX.into() {
        list::<T, u32>(values, min, range, effort, out);
    } else {
        list::<T, u64>(values, min, range, effort, out);
    }
}

/// How far each value lies above the least.
pub(super) fn offsets<T: Integer, W: Word>(values: &[T], min: T) -> Vec<W> {
    vectorised(|| {
        values
            .iter()
            .map(|value| W::of(value.less(min).get()))
            .collect()
    })
}

fn constant(value: u64, out: &mut Output<'_>) {
    out.byte(Codec::Constant as u8);
    out.zigzag(value);
}

fn plain<T: Integer>(values: &[T], out: &mut Output<'_>) {
    out.byte(Codec::Plain as u8);
    out.byte(T::BYTES as u8);
    out.align();
    let start = out.bytes.len();
    out.bytes.resize(start + values.len() * T::BYTES, 0);
    for (place, value) in out.bytes[start..].chunks_exact_mut(T::BYTES).zip(values) {
        value.write(place);
    }
}

/// The step between all values, if they have one.
fn step_of<T: Integer>(values: &[T], first: T, last: T) -> Option<u64> {
    if values.len() < 3 {
        return None;
    }
    let step = values[1].wide().wrapping_sub(first.wide());
    let span = step.wrapping_mul(values.len() as u64 - 1);
    if first.wide().wrapping_add(span) != last.wide() {
        return None;
    }
    let narrow = T::narrow(step);
    let follow = |values: &[T]| {
        vectorised(|| {
            let pairs = values.iter().zip(&values[1..]);
            pairs.fold(true, |all, (one, next)| all & (next.less(*one) == narrow))
        })
    };
    (follow(&values[..values.len().min(32)]) && follow(values)).then_some(step)
}

fn list<T: Integer, W: Integer>(
    values: &[T],
    min: T,
    range: u64,
    effort: Effort,
    out: &mut Output<'_>,
) {
    let (start, slack) = (out.bytes.len(), out.slack);
    let Chosen {
        choice,
        second,
        rival,
        divisor,
        quotients,
    } = choose::<T, W>(values, min, range, effort);
    let list = List {
        values,
        min,
        range,
        divisor,
        quotients: &quotients,
    };
    let written = list.write([choice, second], effort, out);
    if let Some(rival) = rival {
        let size = out.bytes.len() - start;
        if rival.may_be_smaller(written, size, out.slack - slack) {
            let divisor = rival.divisor;
            let list = List { divisor, ..list };
            list.write(rival.choices, effort.packed(), out);
            out.keep_smaller(start, start + size);
        }
        out.slack = slack + rival.most().saturating_sub(out.bytes.len() - start);
    }
}

/// A list, and how far its values lie above the least, divided by what all have in common, if that is more than 1.
#[derive(Clone, Copy)]
struct List<'a, T, W> {
    values: &'a [T],
    min: T,
    range: u64,
    divisor: u64,
    quotients: &'a [W],
}

impl<T: Integer, W: Integer> List<'_, T, W> {
    /// Writes the list with the first of the codecs that pays, and says which.
    fn write(
        self,
        choices: [Choice; 2],
        effort: Effort,
        out: &mut Output<'_>,
    ) -> (Choice, Written) {
        let base = self.min.wide();
        let width = width_of(self.range / self.divisor);
        let fits = T::BITS == 16 || T::BITS == 32 || W::BITS == T::BITS;
        if self.divisor == 1 && choices[0] == Choice::Packed && fits {
            packed(self.values, self.min, base, width, out);
        } else if self.divisor == 1 {
            let offsets = offsets::<T, W>(self.values, self.min);
            return coded(&offsets, choices, base, width, effort, out);
        } else {
            // What was divided lies as a list of its own inside a scaled one.
            out.byte(Codec::Scaled as u8);
            out.zigzag(base);
            out.varint(self.divisor);
            if effort.nests() {
                return coded(self.quotients, choices, 0, width, effort.inner(), out);
            }
            packed(self.quotients, W::of(0), 0, width, out);
        }
        (Choice::Packed, Written::Yes)
    }
}

/// Whether what was written from `start` on is smaller than packing would be; otherwise it is taken back.
pub(super) fn pays(start: usize, count: usize, width: u32, out: &mut Output<'_>) -> bool {
    if out.bytes.len() - start < packed_bytes(count, width) {
        return true;
    }
    out.bytes.truncate(start);
    false
}

/// What became of a list that was to be written by a codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// Nothing, since it is not possible, or packing is smaller.
    No,
    /// It was written.
    Yes,
    /// It was written, in an order of which the mode packed makes none, and without which it may be smaller.
    Reordered,
}

/// What was chosen may turn out not to be possible; packing always is. Says what was taken.
fn coded<W: Integer>(
    offsets: &[W],
    choices: [Choice; 2],
    base: u64,
    width: u32,
    effort: Effort,
    out: &mut Output<'_>,
) -> (Choice, Written) {
    let slack = out.slack;
    for choice in choices {
        out.slack = slack;
        match coded_by(offsets, choice, base, width, effort, out) {
            Written::No => {}
            written => return (choice, written),
        }
    }
    out.slack = slack;
    packed(offsets, W::of(0), base, width, out);
    (Choice::Packed, Written::Yes)
}

fn coded_by<W: Integer>(
    offsets: &[W],
    choice: Choice,
    base: u64,
    width: u32,
    effort: Effort,
    out: &mut Output<'_>,
) -> Written {
    let start = out.bytes.len();
    let is_written = match choice {
        Choice::Packed => false,
        Choice::Delta => {
            delta(offsets, base, width, effort, out);
            pays(start, offsets.len(), width, out)
        }
        Choice::Patched(low, 0) => {
            patched(offsets, base, low, effort, out);
            pays(start, offsets.len(), width, out)
        }
        Choice::Patched(low, from) => {
            // What lies below is above all others where numbers begin again.
            let offsets: Vec<u64> = vectorised(|| {
                let offsets = offsets.iter();
                offsets
                    .map(|offset| offset.get().wrapping_sub(from))
                    .collect()
            });
            patched(&offsets, base.wrapping_add(from), low, effort, out);
            pays(start, offsets.len(), width, out)
        }
        Choice::Runs => {
            runs(offsets, base, effort, out);
            pays(start, offsets.len(), width, out)
        }
        Choice::Dictionary(entries) => {
            return dictionary::write(offsets, base, width, entries, effort, out);
        }
        Choice::Symbols => symbols::encode_symbols(offsets, base, width, effort, out),
        Choice::Classes => symbols::encode_classes(offsets, base, width, effort, out),
        Choice::Radix => {
            radix::encode(offsets, base, out) && pays(start, offsets.len(), width, out)
        }
    };
    if is_written {
        Written::Yes
    } else {
        Written::No
    }
}

/// What is packed is how far values lie above the least of them.
fn packed<W: Word>(values: &[W], min: W, base: u64, width: u32, out: &mut Output<'_>) {
    out.byte(Codec::Packed as u8);
    out.zigzag(base);
    out.byte(width as u8);
    pack_offsets(values, min, width, out.bytes);
}

pub(super) fn delta<W: Word>(
    offsets: &[W],
    base: u64,
    width: u32,
    effort: Effort,
    out: &mut Output<'_>,
) {
    out.byte(Codec::Delta as u8);
    out.zigzag(base.wrapping_add(offsets[0].get()));
    // Where no offset has the highest bit of 32, no difference takes more.
    if W::BITS == 16 || W::BITS == 32 && width < 32 {
        encode(&differences::<W, i32>(offsets), effort.inner(), out);
    } else {
        encode(&differences::<W, i64>(offsets), effort.inner(), out);
    }
}

fn differences<W: Word, T: Integer>(offsets: &[W]) -> Vec<T> {
    vectorised(|| {
        let pairs = offsets.iter().zip(&offsets[1..]);
        pairs
            .map(|(one, next)| T::narrow(next.get().wrapping_sub(one.get())))
            .collect()
    })
}

fn patched<W: Integer>(offsets: &[W], base: u64, low: u32, effort: Effort, out: &mut Output<'_>) {
    out.byte(Codec::Patched as u8);
    out.zigzag(base);
    let mask = mask(low);
    let lows: Vec<W> = vectorised(|| {
        let lows = offsets.iter().map(|offset| offset.get() & mask);
        lows.map(W::of).collect()
    });
    let rows = rows_of_unequal(offsets, &lows);
    out.byte(low as u8);
    pack(&lows, low, out.bytes);
    let uppers = rows.iter().map(|&row| offsets[row as usize].get());
    if W::BITS == 64 {
        // With a sign, parts that are nearly 2 to the power of 64 are small.
        let parts: Vec<i64> = uppers.map(|offset| offset as i64 >> low).collect();
        Exceptions::of(&rows, parts).write(effort, out);
    } else {
        let parts: Vec<W> = uppers.map(|offset| W::of(offset >> low)).collect();
        Exceptions::of(&rows, parts).write(effort, out);
    }
}

fn runs<W: Integer>(offsets: &[W], base: u64, effort: Effort, out: &mut Output<'_>) {
    out.byte(Codec::Runs as u8);
    out.zigzag(base);
    // The last row of each run: the next one has another value, or there is none.
    let mut lasts = rows_of_unequal(&offsets[..offsets.len() - 1], &offsets[1..]);
    lasts.push(offsets.len() as u32 - 1);
    let values: Vec<W> = lasts.iter().map(|&last| offsets[last as usize]).collect();
    out.varint(values.len() as u64);
    encode(&values, effort.inner(), out);
    // A run has at least one; what is kept is how many more.
    encode(&gaps(&lasts), effort.inner(), out);
}

/// The rows in which two lists differ. A chunk has fewer than 2^32 rows, and so has what lies in it.
fn rows_of_unequal<W: Word>(ones: &[W], others: &[W]) -> Vec<u32> {
    let words = unequal(ones, others);
    let mut rows = Vec::new();
    vectorised(|| places(&words, &mut rows));
    rows
}

/// How many places are found at once.
const AT_ONCE: usize = 8;

/// Where bits are set. Several places are written at once, so that no branch depends on each bit; what was too much is
/// overwritten (the way of simdjson: Langdale, Lemire, "Parsing Gigabytes of JSON per Second", 2019).
#[inline(always)]
fn places(words: &[u64], places: &mut Vec<u32>) {
    let count: usize = words.iter().map(|word| word.count_ones() as usize).sum();
    places.resize(count + AT_ONCE, 0);
    let mut behind = 0;
    for (index, &word) in words.iter().enumerate() {
        let mut left = word;
        let end = behind + word.count_ones() as usize;
        while behind < end {
            for place in &mut places[behind..behind + AT_ONCE] {
                *place = index as u32 * 64 + left.trailing_zeros();
                left &= left.wrapping_sub(1);
            }
            behind += AT_ONCE;
        }
        behind = end;
    }
    places.truncate(count);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_those_that_differ() {
        for count in [1, 2, 63, 64, 65, 200] {
            for period in [1, 2, 3, 9, 70, 1000] {
                let values: Vec<u16> = (0..count).map(|n| n % period).collect();
                let least: Vec<u16> = values.iter().map(|&value| value.max(1)).collect();
                let expected: Vec<u32> = (0..count.into())
                    .filter(|row| row % u32::from(period) == 0)
                    .collect();
                assert_eq!(
                    rows_of_unequal(&values, &least),
                    expected,
                    "{count} {period}"
                );
            }
        }
    }
}
