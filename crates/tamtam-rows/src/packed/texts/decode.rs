//! Reading lists of texts.

use super::symbol_table::Symbols;
use super::{
    ALPHABET, Collected, DEPTH, DICTIONARY, DIGITS, FIXED, HEX_LOWER, HEX_UPPER, LENGTHS, OFFSETS,
    PREFIXES, SYMBOL_TABLE, name,
};
use crate::ends::Ends;
use crate::kernels::{Case, to_hex};
use crate::packed::bytes::{Input, Met, Result};
use crate::packed::integers;

/// Reads as many values; their bytes, and where each ends.
pub(in crate::packed) fn decode(input: &mut Input<'_>, count: usize) -> Result<(Vec<u8>, Ends)> {
    let decoded = nested_decode(input, count, 0)?;
    Ok((decoded.all, decoded.ends))
}

/// Reads as many values of text; whether it is UTF-8, the caller finds out, unless there are only digits.
pub(in crate::packed) fn decode_text(input: &mut Input<'_>, count: usize) -> Result<(Bytes, Ends)> {
    coded(input, 0, |input, codec| match codec {
        HEX_LOWER | HEX_UPPER => {
            hex(input, codec, count).map(|(text, ends)| (Bytes::Ascii(text), ends))
        }
        _ => body(input, codec, count, 0).map(|decoded| (Bytes::Any(decoded.all), decoded.ends)),
    })
}

/// What text was found to be while it was read.
pub(in crate::packed) enum Bytes {
    Ascii(String),
    Any(Vec<u8>),
}

fn nested_decode(input: &mut Input<'_>, count: usize, depth: u8) -> Result<Collected> {
    if depth >= DEPTH {
        return Err(input.malformed(format!("texts nested deeper than {DEPTH}")));
    }
    coded(input, depth, |input, codec| {
        body(input, codec, count, depth)
    })
}

/// Reads the codec and what follows, and notes what was met.
fn coded<T>(
    input: &mut Input<'_>,
    depth: u8,
    read: impl FnOnce(&mut Input<'_>, u8) -> Result<T>,
) -> Result<T> {
    let codec = input.byte("how text is coded")?;
    let before = input.left() + 1;
    let place = input.met.as_mut().map(|met| {
        met.push(Met {
            depth,
            codec: name(codec),
            bytes: 0,
        });
        met.len() - 1
    });
    let held = input.held();
    let decoded = read(input, codec)?;
    input.release_to(held);
    let after = input.left();
    if let (Some(place), Some(met)) = (place, &mut input.met) {
        met[place].bytes = before - after;
    }
    Ok(decoded)
}

/// Values that are hexadecimal digits.
fn hex(input: &mut Input<'_>, codec: u8, count: usize) -> Result<(String, Ends)> {
    let case = if codec == HEX_LOWER {
        Case::Lower
    } else {
        Case::Upper
    };
    let width = width(input, count)?;
    let text = if width <= 8 {
        to_hex(&integers::decode::<u32>(input, count, 1)?, width, case)
    } else {
        to_hex(&integers::decode::<u64>(input, count, 1)?, width, case)
    };
    Ok((
        text,
        Ends::Fixed {
            width: width as u32,
            count,
        },
    ))
}

fn body(input: &mut Input<'_>, codec: u8, count: usize, depth: u8) -> Result<Collected> {
    match codec {
        LENGTHS => {
            let (ends, total) = read_lengths(input, count)?;
            let all = input.take(total, "text")?.to_vec();
            input.reserve(total as u64)?;
            Ok(Collected { all, ends })
        }
        HEX_LOWER | HEX_UPPER => {
            let (text, ends) = hex(input, codec, count)?;
            Ok(Collected {
                all: text.into_bytes(),
                ends,
            })
        }
        DIGITS => {
            let width = width(input, count)?;
            let values: Vec<u64> = integers::decode(input, count, 1)?;
            let mut all = vec![0; width * count];
            for (place, mut value) in all.chunks_exact_mut(width).zip(values) {
                for digit in place.iter_mut().rev() {
                    *digit = b'0' + (value % 10) as u8;
                    value /= 10;
                }
            }
            Ok(Collected {
                all,
                ends: Ends::Fixed {
                    width: width as u32,
                    count,
                },
            })
        }
        DICTIONARY => {
            let kinds = input.count(count, "the number of entries of a dictionary")?;
            let entries = nested_decode(input, kinds, depth + 1)?;
            let codes: Vec<u32> = integers::decode(input, count, 1)?;
            from_dictionary(input, &entries, &codes)
        }
        PREFIXES => {
            let shared: Vec<u32> = integers::decode(input, count, 1)?;
            let rest = nested_decode(input, count, depth + 1)?;
            from_prefixes(input, &shared, &rest)
        }
        ALPHABET => {
            let kinds = usize::from(input.byte("the size of an alphabet")?) + 1;
            let bytes = input.take(kinds, "an alphabet")?;
            let (ends, total) = read_lengths(input, count)?;
            // A constant list of integers takes no bytes, however long it is: the limit is what stops it.
            input.reserve(total as u64)?;
            let mut all: Vec<u8> = integers::decode(input, total, 1)?;
            if all.iter().any(|&symbol| usize::from(symbol) >= kinds) {
                return Err(input.malformed("a byte beyond the alphabet's end"));
            }
            all.iter_mut()
                .for_each(|symbol| *symbol = bytes[usize::from(*symbol)]);
            Ok(Collected { all, ends })
        }
        SYMBOL_TABLE => {
            let symbols = Symbols::read(input)?;
            let (ends, total) = read_lengths(input, count)?;
            // Both lists may take no bytes, however long they are: the limit is what stops them.
            input.reserve(total as u64)?;
            let codes = input.count(total, "the number of codes")?;
            let codes: Vec<u8> = integers::decode(input, codes, 1)?;
            match symbols.all(&codes, total) {
                Some(all) => Ok(Collected { all, ends }),
                None => Err(input.malformed("codes that stand for other bytes than there are")),
            }
        }
        FIXED => {
            let width = input.count(u32::MAX as usize, "the length of values")?;
            let total = within(input, width as u64 * count as u64)?;
            let all = input.take(total, "text")?.to_vec();
            input.reserve(total as u64)?;
            Ok(Collected {
                all,
                ends: Ends::Fixed {
                    width: width as u32,
                    count,
                },
            })
        }
        OFFSETS => {
            input.align()?;
            let offsets: Vec<u32> = input
                .take(
                    (count + 1).saturating_mul(4),
                    "the places where values begin",
                )?
                .chunks_exact(4)
                .map(|bytes| u32::from_le_bytes(bytes.try_into().expect("4 bytes")))
                .collect();
            let total = offsets[count] as usize;
            let all = input.take(total, "text")?.to_vec();
            input.reserve(total as u64 + count as u64 * 4)?;
            match Ends::from_offsets(offsets, total) {
                Some(ends) => Ok(Collected { all, ends }),
                None => Err(input.malformed("values that end before they begin")),
            }
        }
        other => Err(input.malformed(format!("no coding of text is numbered {other}"))),
    }
}

/// The length of values that are digits; all of them together are within the limits.
fn width(input: &mut Input<'_>, count: usize) -> Result<usize> {
    let width = usize::from(input.byte("the number of digits")?);
    if !(1..=16).contains(&width) {
        return Err(input.malformed(format!("values of {width} digits")));
    }
    let total = within(input, width as u64 * count as u64)?;
    input.reserve(total as u64)?;
    Ok(width)
}

fn within(input: &Input<'_>, total: u64) -> Result<usize> {
    if total > u32::MAX.into() {
        return Err(input.malformed("a column's text of more than 4 GiB"));
    }
    Ok(total as usize)
}

/// Where values end, and how long all are together. Lengths that are all equal are kept as one.
fn read_lengths(input: &mut Input<'_>, count: usize) -> Result<(Ends, usize)> {
    let lengths: Vec<u32> = integers::decode(input, count, 1)?;
    let first = lengths.first().copied().unwrap_or(0);
    if lengths.iter().all(|&length| length == first) {
        let total = within(input, u64::from(first) * count as u64)?;
        return Ok((
            Ends::Fixed {
                width: first,
                count,
            },
            total,
        ));
    }
    let total = within(input, lengths.iter().map(|&length| u64::from(length)).sum())?;
    Ok((ends_of(lengths), total))
}

/// The sum of the lengths is known to fit 32 bits.
fn ends_of(lengths: Vec<u32>) -> Ends {
    let mut offsets = Vec::with_capacity(lengths.len() + 1);
    let mut end = 0;
    offsets.push(end);
    offsets.extend(lengths.into_iter().map(|length| {
        end += length;
        end
    }));
    Ends::Each(offsets)
}

fn from_dictionary(input: &mut Input<'_>, entries: &Collected, codes: &[u32]) -> Result<Collected> {
    let kinds = entries.ends.len();
    if codes
        .iter()
        .max()
        .is_some_and(|&most| most as usize >= kinds)
    {
        return Err(input.malformed("a code beyond the dictionary's end"));
    }
    let texts = entries.texts();
    if let Some(width) = entries.ends.width() {
        let total = within(input, u64::from(width) * codes.len() as u64)?;
        input.reserve(total as u64)?;
        let width = width as usize;
        let mut all = Vec::with_capacity(total);
        for &code in codes {
            all.extend_from_slice(&texts.all[code as usize * width..(code as usize + 1) * width]);
        }
        return Ok(Collected {
            all,
            ends: Ends::Fixed {
                width: width as u32,
                count: codes.len(),
            },
        });
    }
    let lengths: Vec<u32> = entries.ends.lengths().collect();
    let total = codes
        .iter()
        .map(|&code| u64::from(lengths[code as usize]))
        .sum();
    let total = within(input, total)?;
    input.reserve(total as u64 + codes.len() as u64 * 4)?;
    let mut all = Vec::with_capacity(total);
    let mut offsets = Vec::with_capacity(codes.len() + 1);
    offsets.push(0);
    for &code in codes {
        all.extend_from_slice(texts.get(code as usize));
        offsets.push(all.len() as u32);
    }
    Ok(Collected {
        all,
        ends: Ends::Each(offsets),
    })
}

fn from_prefixes(input: &mut Input<'_>, shared: &[u32], rest: &Collected) -> Result<Collected> {
    let texts = rest.texts();
    let total =
        shared.iter().map(|&shared| u64::from(shared)).sum::<u64>() + texts.all.len() as u64;
    let total = within(input, total)?;
    input.reserve(total as u64)?;
    let mut all: Vec<u8> = Vec::with_capacity(total);
    let mut offsets = Vec::with_capacity(shared.len() + 1);
    offsets.push(0);
    let mut before = 0..0;
    for (index, &same) in shared.iter().enumerate() {
        if same as usize > before.len() {
            return Err(input.malformed("a value that shares more than the one before has"));
        }
        let start = all.len();
        all.extend_from_within(before.start..before.start + same as usize);
        all.extend_from_slice(texts.get(index));
        offsets.push(all.len() as u32);
        before = start..all.len();
    }
    Ok(Collected {
        all,
        ends: Ends::Each(offsets),
    })
}
