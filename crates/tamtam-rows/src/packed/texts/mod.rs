//! Columns of text and of bytes.

mod decode;
mod dictionary;
mod encode;
mod identity;
mod sample;
mod symbol_table;
#[cfg(test)]
mod tests;

pub(super) use decode::{Bytes, decode, decode_text};
pub(super) use encode::encode;

use crate::ends::Ends;

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
pub(super) const FIXED: u8 = 7;
/// Where each value begins and the last one ends, in four bytes each, at a multiple of 8; and the bytes.
pub(super) const OFFSETS: u8 = 8;

/// Symbols of up to eight bytes, the lengths, and which of the symbols stand there, as lists of integers.
const SYMBOL_TABLE: u8 = 9;

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
        SYMBOL_TABLE => "symbol table",
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
