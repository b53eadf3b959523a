//! Writing lists of texts.

use super::dictionary::Dictionary;
use super::sample::{Repetitions, Sample, shared_prefix};
use super::symbol_table::{self, SymbolTable};
use super::{
    ALPHABET, Collected, DEPTH, DICTIONARY, DIGITS, FIXED, HEX_LOWER, HEX_UPPER, LENGTHS, OFFSETS,
    PREFIXES, SYMBOL_TABLE, Texts,
};
use crate::kernels::{Case, from_hex};
use crate::packed::Mode;
use crate::packed::bytes::Output;
use crate::packed::integers::{self, Effort};

pub(in crate::packed) fn encode(texts: Texts<'_>, effort: Effort, out: &mut Output<'_>) {
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
        if sample.repeats(texts) && dictionary(texts, sample.repetitions(), effort, depth, out) {
            return;
        }
        if sample.shares_prefixes() {
            return prefixes(texts, effort, depth, out);
        }
    }
    let start = out.bytes.len();
    if texts.all.len() >= SYMBOLS_FROM && effort.mode.tries_hard() && symbols(texts, effort, out) {
        // The mode packed has no table of symbols, but an alphabet of few bytes, which may be smaller.
        let behind = out.bytes.len();
        if effort.mode == Mode::Small && alphabet(texts, FEW_LETTERS, effort, out) {
            out.keep_smaller(start, behind);
        }
        return;
    }
    let most = if effort.mode.tries_hard() {
        256
    } else {
        FEW_LETTERS
    };
    if texts.all.len() >= 128 && alphabet(texts, most, effort, out) {
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

/// False, and nothing written, where it turns out not to be worth it.
fn dictionary(
    texts: Texts<'_>,
    expected: Repetitions,
    effort: Effort,
    depth: u8,
    out: &mut Output<'_>,
) -> bool {
    let Some(dictionary) = Dictionary::of(texts, expected) else {
        return false;
    };
    out.byte(DICTIONARY);
    out.varint(dictionary.len() as u64);
    let entries = dictionary.entries(texts);
    nested(entries.texts(), effort, depth + 1, out);
    integers::encode(&dictionary.codes, effort.inner().of_codes(), out);
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

/// In so many bytes a table of symbols may be worth its own.
const SYMBOLS_FROM: usize = 512;
/// What a byte is taken to need longer by a table of symbols than as it is, on both sides together, in nanoseconds.
const SYMBOLS_NANOSECONDS: f64 = 5.0;

/// False, and nothing written, where it is not expected to be smaller than by an alphabet, or turns out so.
fn symbols(texts: Texts<'_>, effort: Effort, out: &mut Output<'_>) -> bool {
    let sample = symbol_table::sample(texts.all);
    let table = SymbolTable::of(&sample);
    let of_sample = table.codes(&sample);
    let total = texts.all.len() as f64;
    // Bits of as many bytes as are like these, whose time is worth some more.
    let worth = |bits: f64, nanoseconds: f64, count: f64| {
        bits * count + effort.mode.bits_in(nanoseconds * count)
    };
    let codes = of_sample.len() as f64 / sample.len() as f64 * total;
    let coded = worth(8.0, 0.0, codes).min(worth(
        entropy_of(&of_sample),
        integers::ENTROPY_NANOSECONDS,
        codes,
    ));
    let expected = coded + worth(0.0, SYMBOLS_NANOSECONDS, total) + 8.0 * table.bytes() as f64;
    let others = worth(8.0, 0.0, total).min(worth(
        entropy_of(&sample),
        integers::ENTROPY_NANOSECONDS,
        total,
    ));
    if expected > others * 0.98 {
        return false;
    }
    let start = out.bytes.len();
    out.byte(SYMBOL_TABLE);
    table.write(out);
    write_lengths(texts, effort, out);
    let behind = out.bytes.len();
    let codes = table.codes(texts.all);
    out.varint(codes.len() as u64);
    integers::encode(&codes, effort.inner(), out);
    if codes.len() > texts.all.len()
        || out.bytes.len() - behind + table.bytes() > texts.all.len() * 9 / 10
    {
        out.bytes.truncate(start);
        return false;
    }
    true
}

fn entropy_of(bytes: &[u8]) -> f64 {
    let mut counts = [0; 256];
    bytes.iter().for_each(|&byte| counts[byte as usize] += 1);
    integers::entropy(&counts)
}

/// The most bytes of an alphabet where time counts.
const FEW_LETTERS: usize = 16;

/// False, and nothing written, where there are more than `most` different bytes.
fn alphabet(texts: Texts<'_>, most: usize, effort: Effort, out: &mut Output<'_>) -> bool {
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
