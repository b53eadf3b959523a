//! Reading lists of integers.

use super::{Codec, DEPTH, Integer, radix, read_exceptions, symbols};
use crate::kernels::{Word, packed_bytes, unpack, vectorised};
use crate::packed::bytes::{Input, Met, Result};

/// Reads a list of as many integers.
pub(in crate::packed) fn decode<T: Integer>(
    input: &mut Input<'_>,
    count: usize,
    depth: u8,
) -> Result<Vec<T>> {
    if depth >= DEPTH {
        return Err(input.malformed(format!("lists nested deeper than {DEPTH}")));
    }
    let byte = input.byte("a codec")?;
    let Some(codec) = Codec::of(byte) else {
        return Err(input.malformed(format!("no codec of integers is numbered {byte}")));
    };
    let before = input.left() + 1;
    let place = input.met.as_mut().map(|met| {
        met.push(Met {
            depth,
            codec: codec.name(),
            bytes: 0,
        });
        met.len() - 1
    });
    // A list inside another is gone when that is read, and may take no bytes, however long it is.
    let bytes = (count as u64).saturating_mul(T::BYTES as u64);
    if depth == 0 {
        input.reserve(bytes)?;
    } else {
        input.hold(bytes)?;
    }
    let held = input.held();
    let values = body(input, codec, count, depth)?;
    input.release_to(held);
    let after = input.left();
    if let (Some(place), Some(met)) = (place, &mut input.met) {
        met[place].bytes = before - after;
    }
    Ok(values)
}

fn body<T: Integer>(
    input: &mut Input<'_>,
    codec: Codec,
    count: usize,
    depth: u8,
) -> Result<Vec<T>> {
    if codec == Codec::Plain {
        return plain(input, count);
    }
    let wide = input.zigzag("the base of a list")?;
    let base = T::narrow(wide);
    match codec {
        Codec::Plain => unreachable!("returned above"),
        Codec::Constant => Ok(vec![base; count]),
        Codec::Sequence => {
            let step = T::narrow(input.zigzag("the step of a sequence")?);
            Ok((0..count as u64)
                .map(|index| base.plus(step.times(T::narrow(index))))
                .collect())
        }
        Codec::Packed => {
            let (bytes, width) = bits(input, count)?;
            Ok(offsets(bytes, width, count, base))
        }
        Codec::Scaled => {
            let divisor = T::narrow(input.varint("a divisor")?);
            let mut values: Vec<T> = decode(input, count, depth + 1)?;
            values
                .iter_mut()
                .for_each(|value| *value = base.plus(value.times(divisor)));
            Ok(values)
        }
        Codec::Delta => {
            if count == 0 {
                return Err(input.malformed("differences of no values"));
            }
            let differences: Vec<T> = decode(input, count - 1, depth + 1)?;
            let mut values = Vec::with_capacity(count);
            let mut value = base;
            values.push(value);
            values.extend(differences.into_iter().map(|difference| {
                value = value.plus(difference);
                value
            }));
            Ok(values)
        }
        Codec::Patched => patched(input, count, base, depth),
        Codec::Runs => runs(input, count, base, depth),
        Codec::Dictionary => {
            let kinds = input.count(count, "the number of entries of a dictionary")?;
            let mut entries: Vec<T> = decode(input, kinds, depth + 1)?;
            entries
                .iter_mut()
                .for_each(|entry| *entry = base.plus(*entry));
            let codes: Vec<u16> = decode(input, count, depth + 1)?;
            if codes
                .iter()
                .max()
                .is_some_and(|&most| usize::from(most) >= kinds)
            {
                return Err(input.malformed("a code beyond the dictionary's end"));
            }
            Ok(codes
                .into_iter()
                .map(|code| entries[usize::from(code)])
                .collect())
        }
        Codec::Symbols => symbols::decode_symbols(input, count, base, depth),
        Codec::Classes => symbols::decode_classes(input, count, base, depth),
        Codec::Radix => radix::decode(input, count, base),
    }
}

/// The bytes of as many packed offsets and all behind them, and their width.
fn bits<'a>(input: &mut Input<'a>, count: usize) -> Result<(&'a [u8], u32)> {
    let width = u32::from(input.byte("a width")?);
    if width > 64 {
        return Err(input.malformed(format!("a width of {width} bits")));
    }
    Ok((
        input.take_with_rest(packed_bytes(count, width), "packed offsets")?,
        width,
    ))
}

/// The base plus each packed offset. Offsets wider than the type are cut: arithmetic is modulo its width.
fn offsets<T: Integer>(bytes: &[u8], width: u32, count: usize, base: T) -> Vec<T> {
    match (width, T::BYTES) {
        (0..=16, 1 | 2) => blocks::<T, u16>(bytes, width, count, base),
        (0..=32, _) => blocks::<T, u32>(bytes, width, count, base),
        _ => blocks::<T, u64>(bytes, width, count, base),
    }
}

/// Unpacks block by block, so that what is done with the offsets finds them in the nearest cache.
fn blocks<T: Integer, W: Word>(bytes: &[u8], width: u32, count: usize, base: T) -> Vec<T> {
    const BLOCK: usize = 1024;
    let mut offsets = [W::of(0); BLOCK];
    let mut values = Vec::with_capacity(count);
    let mut from = 0;
    while from < count {
        let offsets = &mut offsets[..BLOCK.min(count - from)];
        unpack(&bytes[from / 8 * width as usize..], width, offsets);
        vectorised(|| {
            values.extend(
                offsets
                    .iter()
                    .map(|offset| base.plus(T::narrow(offset.get()))),
            )
        });
        from += offsets.len();
    }
    values
}

fn plain<T: Integer>(input: &mut Input<'_>, count: usize) -> Result<Vec<T>> {
    let size = input.byte("the size of plain values")?;
    if usize::from(size) != T::BYTES {
        return Err(input.malformed(format!(
            "plain values of {size} bytes where {} belong",
            T::BYTES
        )));
    }
    input.align()?;
    let length = count
        .checked_mul(T::BYTES)
        .ok_or_else(|| input.malformed("too many values"))?;
    Ok(input
        .take(length, "plain values")?
        .chunks_exact(T::BYTES)
        .map(T::read)
        .collect())
}

fn patched<T: Integer>(input: &mut Input<'_>, count: usize, base: T, depth: u8) -> Result<Vec<T>> {
    let (bytes, width) = bits(input, count)?;
    let mut values = offsets(bytes, width, count, base);
    read_exceptions(input, depth + 1, &mut values, |value, high| {
        let high = if width < 64 { high << width } else { 0 };
        *value = value.plus(T::narrow(high));
    })?;
    Ok(values)
}

fn runs<T: Integer>(input: &mut Input<'_>, count: usize, base: T, depth: u8) -> Result<Vec<T>> {
    let runs = input.count(count, "the number of runs")?;
    let each: Vec<T> = decode(input, runs, depth + 1)?;
    let lengths: Vec<u32> = decode(input, runs, depth + 1)?;
    let mut values = Vec::with_capacity(count);
    for (value, length) in each.into_iter().zip(lengths) {
        let length = length as usize + 1;
        if length > count - values.len() {
            return Err(input.malformed("runs longer than the list"));
        }
        values.resize(values.len() + length, base.plus(value));
    }
    if values.len() != count {
        return Err(input.malformed("runs shorter than the list"));
    }
    Ok(values)
}
