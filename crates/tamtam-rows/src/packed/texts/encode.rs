use super::dictionary::Dictionary;
use super::sample::{Repetitions, Sample, shared_prefix};
use super::{
    ALPHABET, Collected, DEPTH, DICTIONARY, DIGITS, FIXED, HEX_LOWER, HEX_UPPER, LENGTHS, OFFSETS,
    PREFIXES, Texts,
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

/// False, and nothing written, where there are too many different bytes.
fn alphabet(texts: Texts<'_>, effort: Effort, out: &mut Output<'_>) -> bool {
    let most = if effort.mode.tries_hard() { 256 } else { 16 };
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
