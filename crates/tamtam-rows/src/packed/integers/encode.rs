use super::choose::{Choice, choose};
use super::{Codec, Effort, Exceptions, Integer, dictionary, radix, symbols};
use crate::kernels::{Word, mask, pack, packed_bytes, vectorised, width_of};
use crate::packed::Mode;
use crate::packed::bytes::Output;

/// Writes a list of integers with the codec that suits it.
pub(in crate::packed) fn encode<T: Integer>(values: &[T], effort: Effort, out: &mut Output<'_>) {
    if effort.mode == Mode::Plain && effort.depth == 0 {
        return plain(values, out);
    }
    let Some((&first, &last)) = values.first().zip(values.last()) else {
        return constant(0, out);
    };
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
    if let Some(step) = step_of(values, first, last) {
        out.byte(Codec::Sequence as u8);
        out.zigzag(first.wide());
        out.zigzag(step);
        return;
    }
    let base = min.wide();
    let range = max.wide().wrapping_sub(base);
    if range <= u16::MAX.into() {
        list(offsets::<T, u16>(values, base), base, range, effort, out);
    } else if range <= u32::MAX.into() {
        list(offsets::<T, u32>(values, base), base, range, effort, out);
    } else {
        list(offsets::<T, u64>(values, base), base, range, effort, out);
    }
}

fn offsets<T: Integer, W: Word>(values: &[T], base: u64) -> Vec<W> {
    vectorised(|| {
        values
            .iter()
            .map(|value| W::of(value.wide().wrapping_sub(base)))
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
    values
        .windows(2)
        .all(|pair| pair[0].wide().wrapping_add(step) == pair[1].wide())
        .then_some(step)
}

/// What was chosen may turn out not to be possible; packing always is.
fn list<W: Word>(mut offsets: Vec<W>, base: u64, range: u64, effort: Effort, out: &mut Output<'_>) {
    let (choice, divisor) = choose(&mut offsets, range, effort);
    let width = width_of(range / divisor);
    if divisor == 1 {
        return coded(&offsets, choice, base, width, effort, out);
    }
    // The offsets were divided already, and lie as a list of their own inside a scaled one.
    out.byte(Codec::Scaled as u8);
    out.zigzag(base);
    out.varint(divisor);
    if effort.nests() {
        coded(&offsets, choice, 0, width, effort.inner(), out);
    } else {
        packed(&offsets, 0, width, out);
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

fn coded<W: Word>(
    offsets: &[W],
    choice: Choice,
    base: u64,
    width: u32,
    effort: Effort,
    out: &mut Output<'_>,
) {
    let done = match choice {
        Choice::Packed => false,
        Choice::Delta => {
            delta(offsets, base, effort, out);
            true
        }
        Choice::Patched(low) => {
            patched(offsets, base, low, effort, out);
            true
        }
        Choice::Runs => {
            runs(offsets, base, effort, out);
            true
        }
        Choice::Dictionary(entries) => {
            dictionary::write(offsets, base, width, entries, effort, out)
        }
        Choice::Symbols => symbols::encode_symbols(offsets, base, width, effort, out),
        Choice::Classes => symbols::encode_classes(offsets, base, width, effort, out),
        Choice::Radix => radix::encode(offsets, base, out),
    };
    if !done {
        packed(offsets, base, width, out);
    }
}

fn packed<W: Word>(offsets: &[W], base: u64, width: u32, out: &mut Output<'_>) {
    out.byte(Codec::Packed as u8);
    out.zigzag(base);
    out.byte(width as u8);
    pack(offsets, width, out.bytes);
}

fn delta<W: Word>(offsets: &[W], base: u64, effort: Effort, out: &mut Output<'_>) {
    out.byte(Codec::Delta as u8);
    out.zigzag(base.wrapping_add(offsets[0].get()));
    let differences: Vec<i64> = offsets
        .windows(2)
        .map(|pair| pair[1].get().wrapping_sub(pair[0].get()) as i64)
        .collect();
    encode(&differences, effort.inner(), out);
}

fn patched<W: Word>(offsets: &[W], base: u64, low: u32, effort: Effort, out: &mut Output<'_>) {
    out.byte(Codec::Patched as u8);
    out.zigzag(base);
    let mut exceptions = Exceptions::default();
    let mask = mask(low);
    let lows: Vec<W> = offsets
        .iter()
        .enumerate()
        .map(|(row, offset)| {
            let offset = offset.get();
            if offset > mask {
                exceptions.push(row, offset >> low);
            }
            W::of(offset & mask)
        })
        .collect();
    out.byte(low as u8);
    pack(&lows, low, out.bytes);
    exceptions.write(effort, out);
}

fn runs<W: Word>(offsets: &[W], base: u64, effort: Effort, out: &mut Output<'_>) {
    out.byte(Codec::Runs as u8);
    out.zigzag(base);
    let mut values: Vec<u64> = Vec::new();
    let mut lengths: Vec<u32> = Vec::new();
    for same in offsets.chunk_by(|one, other| one == other) {
        values.push(same[0].get());
        // A run has at least one; what is kept is how many more.
        lengths.push((same.len() - 1) as u32);
    }
    out.varint(values.len() as u64);
    encode(&values, effort.inner(), out);
    encode(&lengths, effort.inner(), out);
}
