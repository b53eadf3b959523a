//! Columns of text and of bytes.

use super::Mode;
use super::bytes::{Input, Met, Output, Result};
use super::integers::{self, Effort};
use crate::ends::Ends;
use crate::kernels::{Case, from_hex, to_hex};

/// The lengths as a list of integers, and the bytes.
const LENGTHS: u8 = 0;
/// Values of one length, all hexadecimal digits: numbers, as a list.
const HEX_LOWER: u8 = 1;
const HEX_UPPER: u8 = 2;
/// Values of one length, all decimal digits: numbers, as a list.
const DIGITS: u8 = 3;
/// Each value once, as a list of texts, and which of them it is, as a list of integers.
const DICTIONARY: u8 = 4;
/// How many bytes each value shares with the beginning of the one before, and the rest as a list of texts.
const PREFIXES: u8 = 5;
/// The bytes that occur, the lengths, and which of those bytes stand there, as lists of integers.
const ALPHABET: u8 = 6;
/// Values of one length, one behind the other.
const FIXED: u8 = 7;
/// Where each value begins and the last one ends, in four bytes each, at a multiple of 8; and the bytes.
const OFFSETS: u8 = 8;

/// How deep texts may lie in texts.
const DEPTH: u8 = 3;

fn name(codec: u8) -> &'static str {
    match codec {
        LENGTHS => "lengths",
        HEX_LOWER | HEX_UPPER => "hex",
        DIGITS => "digits",
        DICTIONARY => "text dictionary",
        PREFIXES => "prefixes",
        ALPHABET => "alphabet",
        FIXED => "fixed",
        _ => "offsets",
    }
}

/// Values that lie one behind the other.
#[derive(Clone, Copy)]
pub(super) struct Texts<'a> {
    pub(super) all: &'a [u8],
    pub(super) ends: &'a Ends,
}

impl<'a> Texts<'a> {
    fn len(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    fn get(&self, index: usize) -> &'a [u8] {
        &self.all[self.ends.range(index)]
    }
}

/// Values that are collected.
#[derive(Default)]
struct Collected {
    all: Vec<u8>,
    ends: Ends,
}

impl Collected {
    /// The caller has seen to it that all together are below 4 GiB.
    fn push(&mut self, value: &[u8]) {
        self.ends
            .push(self.all.len(), value.len())
            .expect("below 4 GiB");
        self.all.extend_from_slice(value);
    }

    fn texts(&self) -> Texts<'_> {
        Texts {
            all: &self.all,
            ends: &self.ends,
        }
    }
}

pub(super) fn encode(texts: Texts<'_>, effort: Effort, out: &mut Output<'_>) {
    if effort.mode == Mode::Plain {
        return plain(texts, out);
    }
    nested(texts, effort, 0, out);
}

fn nested(texts: Texts<'_>, effort: Effort, depth: u8, out: &mut Output<'_>) {
    if texts
        .ends
        .width()
        .is_some_and(|width| (1..=16).contains(&width))
        && numbers(texts, effort, out)
    {
        return;
    }
    if depth + 1 < DEPTH && texts.len() >= 8 {
        let sample = Sample::of(texts);
        if sample.repeats(texts) && dictionary(texts, effort, depth, out) {
            return;
        }
        if sample.shares_prefixes() {
            return prefixes(texts, effort, depth, out);
        }
    }
    if texts.all.len() >= 128 && alphabet(texts, effort, out) {
        return;
    }
    lengths(texts, effort, out);
}

fn plain(texts: Texts<'_>, out: &mut Output<'_>) {
    match texts.ends.width() {
        Some(width) => {
            out.byte(FIXED);
            out.varint(width.into());
        }
        None => {
            out.byte(OFFSETS);
            out.align();
            let mut end = 0_u32;
            out.bytes.extend_from_slice(&end.to_le_bytes());
            for length in texts.ends.lengths() {
                end += length;
                out.bytes.extend_from_slice(&end.to_le_bytes());
            }
        }
    }
    out.bytes.extend_from_slice(texts.all);
}

fn write_lengths(texts: Texts<'_>, effort: Effort, out: &mut Output<'_>) {
    match texts.ends.width() {
        Some(width) => integers::encode(&[width].repeat(texts.len().min(1)), effort.inner(), out),
        None => {
            let lengths: Vec<u32> = texts.ends.lengths().collect();
            integers::encode(&lengths, effort.inner(), out);
        }
    }
}

fn lengths(texts: Texts<'_>, effort: Effort, out: &mut Output<'_>) {
    out.byte(LENGTHS);
    write_lengths(texts, effort, out);
    out.bytes.extend_from_slice(texts.all);
}

/// Values of one length that are all digits.
fn numbers(texts: Texts<'_>, effort: Effort, out: &mut Output<'_>) -> bool {
    let width = texts.ends.width().expect("the caller has looked") as usize;
    if texts.len() == 0 {
        return false;
    }
    let looks_decimal = texts.all.iter().take(64).all(u8::is_ascii_digit);
    if looks_decimal && let Some(values) = decimals(texts.all, width) {
        out.byte(DIGITS);
        out.byte(width as u8);
        integers::encode(&values, effort.inner(), out);
        return true;
    }
    let start = out.bytes.len();
    let case = if width <= 8 {
        let mut values: Vec<u32> = Vec::new();
        let case = from_hex(texts.all, width, &mut values);
        head(case, width, out);
        case.inspect(|_| integers::encode(&values, effort.inner(), out))
    } else {
        let mut values: Vec<u64> = Vec::new();
        let case = from_hex(texts.all, width, &mut values);
        head(case, width, out);
        case.inspect(|_| integers::encode(&values, effort.inner(), out))
    };
    debug_assert!(case.is_some() || out.bytes.len() == start);
    case.is_some()
}

fn head(case: Option<Case>, width: usize, out: &mut Output<'_>) {
    if let Some(case) = case {
        out.byte(if case == Case::Lower {
            HEX_LOWER
        } else {
            HEX_UPPER
        });
        out.byte(width as u8);
    }
}

fn decimals(all: &[u8], width: usize) -> Option<Vec<u64>> {
    all.chunks_exact(width)
        .map(|value| {
            value.iter().try_fold(0_u64, |number, &byte| {
                byte.is_ascii_digit()
                    .then(|| number * 10 + u64::from(byte - b'0'))
            })
        })
        .collect()
}

/// A look at some values.
struct Sample {
    hashes: Vec<u64>,
    bytes: usize,
    shared: usize,
    neighbours: usize,
}

impl Sample {
    fn of(texts: Texts<'_>) -> Sample {
        let count = texts.len();
        let (stretches, length) = match count {
            0..=64 => (1, count),
            65..=4095 => (8, 8),
            _ => (64, 16),
        };
        let mut sample = Sample {
            hashes: Vec::new(),
            bytes: 0,
            shared: 0,
            neighbours: 0,
        };
        for stretch in 0..stretches {
            let start = if stretches == 1 {
                0
            } else {
                (count - length) * stretch / (stretches - 1)
            };
            for index in start..start + length {
                let value = texts.get(index);
                sample.hashes.push(hash(value));
                sample.bytes += value.len();
                if index > start {
                    sample.shared += shared_prefix(texts.get(index - 1), value);
                    sample.neighbours += 1;
                }
            }
        }
        sample.hashes.sort_unstable();
        sample
    }

    /// Whether a dictionary promises to be smaller.
    fn repeats(&self, texts: Texts<'_>) -> bool {
        let size = self.hashes.len() as f64;
        let mut distinct = self.hashes.clone();
        distinct.dedup();
        let pairs = size - distinct.len() as f64;
        if pairs < 1.0 {
            return false;
        }
        let count = texts.len() as f64;
        let entries = (size * size / (2.0 * pairs)).clamp(distinct.len() as f64, count);
        let each = self.bytes as f64 / size + 0.5;
        entries * (each + 0.5) + count * entries.log2() / 8.0 < 0.9 * count * each
    }

    fn shares_prefixes(&self) -> bool {
        self.shared >= self.neighbours * 3 && self.shared * 4 >= self.bytes
    }
}

fn shared_prefix(one: &[u8], other: &[u8]) -> usize {
    one.iter()
        .zip(other)
        .take_while(|(one, other)| one == other)
        .count()
}

/// Mixes eight bytes at a time by a multiplication.
fn hash(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut state = bytes.len() as u64;
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        state =
            (state ^ u64::from_le_bytes(word.try_into().expect("8 bytes"))).wrapping_mul(FACTOR);
        state ^= state >> 29;
    }
    let mut last = [0; 8];
    let rest = words.remainder();
    last[..rest.len()].copy_from_slice(rest);
    state = (state ^ u64::from_le_bytes(last)).wrapping_mul(FACTOR);
    state ^ state >> 32
}

/// False, and nothing written, where it turns out not to be worth it.
fn dictionary(texts: Texts<'_>, effort: Effort, depth: u8, out: &mut Output<'_>) -> bool {
    let most = (texts.len() / 2).clamp(1, 1 << 16);
    let size = (most * 2).next_power_of_two();
    let mut table = vec![u32::MAX; size];
    let mut entries = Collected::default();
    let mut codes: Vec<u32> = Vec::with_capacity(texts.len());
    // Values made so that they meet in one place must not cost time without end.
    let mut patience = texts.len() * 16;
    let mut before: &[u8] = &[];
    for index in 0..texts.len() {
        let value = texts.get(index);
        if index > 0 && value == before {
            codes.push(codes[index - 1]);
            continue;
        }
        before = value;
        let mut place = hash(value) as usize & (size - 1);
        let code = loop {
            let code = table[place];
            if code == u32::MAX {
                let code = entries.ends.len();
                if code == most || entries.all.len() + value.len() > texts.all.len() / 2 + 64 {
                    return false;
                }
                entries.push(value);
                table[place] = code as u32;
                break code as u32;
            }
            if entries.texts().get(code as usize) == value {
                break code;
            }
            patience -= 1;
            if patience == 0 {
                return false;
            }
            place = (place + 1) & (size - 1);
        };
        codes.push(code);
    }
    out.byte(DICTIONARY);
    out.varint(entries.ends.len() as u64);
    nested(entries.texts(), effort, depth + 1, out);
    integers::encode(&codes, effort.inner(), out);
    true
}

fn prefixes(texts: Texts<'_>, effort: Effort, depth: u8, out: &mut Output<'_>) {
    let mut before: &[u8] = &[];
    let mut shared: Vec<u32> = Vec::with_capacity(texts.len());
    let mut rest = Collected::default();
    for index in 0..texts.len() {
        let value = texts.get(index);
        let same = shared_prefix(before, value);
        shared.push(same as u32);
        rest.push(&value[same..]);
        before = value;
    }
    out.byte(PREFIXES);
    integers::encode(&shared, effort.inner(), out);
    nested(rest.texts(), effort, depth + 1, out);
}

/// False, and nothing written, where there are too many different bytes.
fn alphabet(texts: Texts<'_>, effort: Effort, out: &mut Output<'_>) -> bool {
    let most = if effort.mode == Mode::Small { 256 } else { 16 };
    let mut place = [u8::MAX; 256];
    let mut occurs = [false; 256];
    for part in texts.all.chunks(256) {
        part.iter().for_each(|&byte| occurs[byte as usize] = true);
        if occurs.iter().filter(|&&occurs| occurs).count() > most {
            return false;
        }
    }
    let bytes: Vec<u8> = (0..=255).filter(|&byte| occurs[byte as usize]).collect();
    for (index, &byte) in bytes.iter().enumerate() {
        place[byte as usize] = index as u8;
    }
    let symbols: Vec<u8> = texts.all.iter().map(|&byte| place[byte as usize]).collect();
    let start = out.bytes.len();
    out.byte(ALPHABET);
    out.byte((bytes.len() - 1) as u8);
    out.bytes.extend_from_slice(&bytes);
    write_lengths(texts, effort, out);
    let behind = out.bytes.len();
    integers::encode(&symbols, effort.inner(), out);
    if out.bytes.len() - behind + bytes.len() > texts.all.len() * 9 / 10 {
        out.bytes.truncate(start);
        return false;
    }
    true
}

/// Reads as many values; their bytes, and where each ends.
pub(super) fn decode(input: &mut Input<'_>, count: usize) -> Result<(Vec<u8>, Ends)> {
    let decoded = nested_decode(input, count, 0)?;
    Ok((decoded.all, decoded.ends))
}

/// Reads as many values of text; whether it is UTF-8, the caller finds out, unless there are only digits.
pub(super) fn decode_text(input: &mut Input<'_>, count: usize) -> Result<(Bytes, Ends)> {
    coded(input, 0, |input, codec| match codec {
        HEX_LOWER | HEX_UPPER => {
            hex(input, codec, count).map(|(text, ends)| (Bytes::Ascii(text), ends))
        }
        _ => body(input, codec, count, 0).map(|decoded| (Bytes::Any(decoded.all), decoded.ends)),
    })
}

/// What text was found to be while it was read.
pub(super) enum Bytes {
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
    let decoded = read(input, codec)?;
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

#[cfg(test)]
mod tests {
    use super::*;
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
}
