//! Lists of integers: what most columns come down to.
//!
//! A list is one byte for its codec, its base, and what the codec needs. Values are the base plus unsigned offsets,
//! all arithmetic modulo 2 to the power of 64. What a codec needs may be lists again: the differences, the dictionary,
//! the lengths of runs. (The idea of such a cascade, and of choosing by a sample, is that of BtrBlocks: Kuschewski,
//! Sauerwein, Alhomssi, Leis, SIGMOD 2023.)

mod choose;
mod decode;
mod dictionary;
mod divisor;
mod encode;
mod exceptions;
mod radix;
mod rival;
mod sample;
mod symbols;

pub(super) use decode::decode;
pub(super) use encode::encode;
pub(super) use exceptions::{Exceptions, read_exceptions};
pub(super) use sample::entropy;
pub(super) use symbols::NANOSECONDS as ENTROPY_NANOSECONDS;

use super::Mode;
use crate::kernels::Word;

/// The codecs of a list of integers, by the byte that names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Codec {
    /// All values equal the base.
    Constant = 0,
    /// The base, and each value a step beyond the one before.
    Sequence = 1,
    /// Offsets of a fixed number of bits.
    Packed = 2,
    /// The same, of offsets divided by a common divisor.
    Scaled = 3,
    /// The first value, and the differences as a list.
    Delta = 4,
    /// Packed, but for some that are wider.
    Patched = 5,
    /// Each value and how often it stands there, as two lists.
    Runs = 6,
    /// Each value once, and which of them it is, as two lists.
    Dictionary = 7,
    /// Offsets below 256 by an entropy coder.
    Symbols = 8,
    /// The magnitudes of offsets by an entropy coder, and the rest of their bits.
    Classes = 9,
    /// Several values at once as one number in mixed radix.
    Radix = 10,
    /// The values themselves, of 1, 2, 4 or 8 bytes, at a multiple of 8.
    Plain = 11,
}

impl Codec {
    const ALL: [Codec; 12] = [
        Codec::Constant,
        Codec::Sequence,
        Codec::Packed,
        Codec::Scaled,
        Codec::Delta,
        Codec::Patched,
        Codec::Runs,
        Codec::Dictionary,
        Codec::Symbols,
        Codec::Classes,
        Codec::Radix,
        Codec::Plain,
    ];

    fn of(byte: u8) -> Option<Codec> {
        Codec::ALL.get(byte as usize).copied()
    }

    fn name(self) -> &'static str {
        match self {
            Codec::Constant => "constant",
            Codec::Sequence => "sequence",
            Codec::Packed => "packed",
            Codec::Scaled => "scaled",
            Codec::Delta => "delta",
            Codec::Patched => "patched",
            Codec::Runs => "runs",
            Codec::Dictionary => "dictionary",
            Codec::Symbols => "symbols",
            Codec::Classes => "classes",
            Codec::Radix => "radix",
            Codec::Plain => "plain",
        }
    }
}

/// How deep lists may lie in lists.
const DEPTH: u8 = 8;
/// How deep those lie that we write, but for what a codec cannot do without.
const DEEP: u8 = 5;

/// What may be done to make a list small.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    pub(super) mode: Mode,
    depth: u8,
    /// How many values the outermost list has that is on the way; 0 before.
    outermost: usize,
    /// Whether its values are places in a dictionary, so that a dictionary of them saves nothing.
    codes: bool,
}

/// Which codecs a list is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choices {
    /// All of them.
    All,
    /// Packed and patched ones.
    Widths,
    /// None but packing.
    One,
}

impl Effort {
    pub(super) fn new(mode: Mode) -> Effort {
        Effort {
            mode,
            depth: 0,
            outermost: 0,
            codes: false,
        }
    }

    /// For a list of so many values.
    fn of_list(self, count: usize) -> Effort {
        Effort {
            outermost: self.outermost.max(count),
            ..self
        }
    }

    /// What a list of so many values is worth. One that is short beside that which it lies in saves next to nothing,
    /// and choosing takes as long for short lists as for others.
    fn choices(self, count: usize) -> Choices {
        if count < 4 {
            Choices::One
        } else if self.mode.tries_hard() || self.depth == 0 {
            Choices::All
        } else if count * 64 < self.outermost {
            Choices::One
        } else if count * 8 < self.outermost {
            Choices::Widths
        } else {
            Choices::All
        }
    }

    /// The same in the mode packed.
    fn packed(self) -> Effort {
        Effort {
            mode: Mode::Packed,
            ..self
        }
    }

    /// For a list inside this one.
    pub(super) fn inner(self) -> Effort {
        Effort {
            depth: self.depth + 1,
            codes: false,
            ..self
        }
    }

    /// For a list of places in a dictionary.
    pub(super) fn of_codes(self) -> Effort {
        Effort {
            codes: true,
            ..self
        }
    }

    /// Whether lists inside this one are allowed.
    fn nests(self) -> bool {
        self.depth + 1 < DEEP
    }

    /// How many bits a list may take by an entropy coder, which would take `bits` without: half as many, since that takes
    /// several times as long as the other codecs, on both sides; and more where a bit is worth the time.
    fn most_by_entropy(self, bits: f64, count: usize) -> f64 {
        let time = self.mode.bits_in(symbols::NANOSECONDS) * count as f64;
        (bits * 0.99 - time).max(bits * 0.5)
    }
}

/// The types that columns of integers have.
pub(super) trait Integer: Word {
    const BYTES: usize;
    /// With its sign.
    fn wide(self) -> u64;
    /// The lowest bits.
    fn narrow(value: u64) -> Self;
    /// Modulo the width.
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn write(self, to: &mut [u8]);
    fn read(from: &[u8]) -> Self;
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl Integer for $type {
            const BYTES: usize = size_of::<$type>();
            #[inline(always)]
            fn wide(self) -> u64 {
                self as i128 as u64
            }
            #[inline(always)]
            fn narrow(value: u64) -> $type {
                value as $type
            }
            #[inline(always)]
            fn plus(self, other: $type) -> $type {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn times(self, other: $type) -> $type {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn write(self, to: &mut [u8]) {
                to.copy_from_slice(&self.to_le_bytes());
            }
            #[inline(always)]
            fn read(from: &[u8]) -> $type {
                <$type>::from_le_bytes(from.try_into().expect("as many bytes as it has"))
            }
        }
    )*};
}
integers!(u8, u16, u32, u64, i8, i16, i32, i64);

#[cfg(test)]
mod tests;
