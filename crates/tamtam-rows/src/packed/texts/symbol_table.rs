//! A table of symbols of one to eight bytes that occur often, each of which takes one byte (Boncz, Neumann, Leis, "FSST:
//! Fast Random Access String Compression", VLDB 2020). The table is found in rounds: with that of the round before, what
//! stands beside one another in a sample is counted, and the symbols and pairs of them that cover most are the next table.
//!
//! Values are coded all at once, since they are read all at once: a symbol may begin in one and end in the next.

use std::cmp::Reverse;
use std::ops::RangeInclusive;

use crate::packed::bytes::{Input, Output, Result};

/// The most symbols that a table has.
const MOST_SYMBOLS: usize = 255;
/// The code behind this one is a byte itself.
pub(super) const ESCAPE: u8 = 255;
/// The longest symbol, in bytes.
const LONGEST_SYMBOL: usize = 8;

/// How many bytes are looked at to find the table: an eighth, but within these bounds, in stretches from all over.
const SAMPLED: RangeInclusive<usize> = 1 << 11..=1 << 14;
const STRETCHES: usize = 32;
/// Of how much of the sample each round counts, in 128ths. The last one makes no new symbols.
const ROUNDS: [usize; 4] = [24, 56, 92, 128];

/// Where symbols of three bytes and more are found, by a hash of three, and those of two.
const PLACES: usize = 1 << 10;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Symbol {
    /// Its bytes, the first one lowest, and zeros.
    bytes: u64,
    /// How many they are; 0 for none.
    length: u8,
    code: u8,
}

impl Symbol {
    fn of_byte(byte: u8) -> Symbol {
        Symbol {
            bytes: byte.into(),
            length: 1,
            code: 0,
        }
    }

    /// One behind the other, if that is not too long.
    fn and(self, other: Symbol) -> Option<Symbol> {
        let length = self.length + other.length;
        (usize::from(length) <= LONGEST_SYMBOL).then(|| Symbol {
            bytes: self.bytes | other.bytes << (8 * u32::from(self.length)),
            length,
            code: 0,
        })
    }
}

/// Those of the bytes of a word that a symbol of a length has.
#[inline(always)]
fn own(word: u64, length: u8) -> u64 {
    word & (u64::MAX >> ((64 - 8 * u32::from(length)) & 63))
}

#[inline(always)]
fn place_of(word: u64, bytes: u32) -> usize {
    let few = word << (64 - 8 * bytes);
    (few.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize % PLACES
}

/// A code in the lower byte, and how many bytes it stands for in the upper one.
type Found = u16;
const NOT_FOUND: Found = 1 << 8 | ESCAPE as u16;

pub(super) struct SymbolTable {
    /// By length; the place of each is its code.
    symbols: Vec<Symbol>,
    /// What a byte leads to.
    single: [Found; 256],
    /// Two bytes, and what they lead to in the upper half.
    pairs: Vec<u32>,
    long: Vec<Symbol>,
}

impl SymbolTable {
    /// Of symbols, of which the first are the more important.
    fn new(candidates: impl IntoIterator<Item = Symbol>) -> SymbolTable {
        let mut long = vec![Symbol::default(); PLACES];
        // What is found there for two zero bytes is that there is no symbol.
        let mut pairs = vec![u32::from(NOT_FOUND) << 16; PLACES];
        let mut symbols = Vec::with_capacity(MOST_SYMBOLS);
        for symbol in candidates {
            // Of those that meet in one place, the first stays.
            if symbol.length > 2 {
                let place = &mut long[place_of(symbol.bytes, 3)];
                if place.length > 0 {
                    continue;
                }
                *place = symbol;
            } else if symbol.length == 2 {
                let place = &mut pairs[place_of(symbol.bytes, 2)];
                if *place != u32::from(NOT_FOUND) << 16 {
                    continue;
                }
                *place = symbol.bytes as u32;
            }
            symbols.push(symbol);
            if symbols.len() == MOST_SYMBOLS {
                break;
            }
        }
        symbols.sort_by_key(|symbol| symbol.length);
        let mut single = [NOT_FOUND; 256];
        for (code, symbol) in symbols.iter_mut().enumerate() {
            symbol.code = code as u8;
            let found = u16::from(symbol.length) << 8 | code as u16;
            match symbol.length {
                1 => single[symbol.bytes as usize] = found,
                2 => {
                    let pair = u32::from(found) << 16 | symbol.bytes as u32;
                    pairs[place_of(symbol.bytes, 2)] = pair;
                }
                _ => long[place_of(symbol.bytes, 3)] = *symbol,
            }
        }
        SymbolTable {
            symbols,
            single,
            pairs,
            long,
        }
    }

    /// The table that suits the bytes of this sample.
    pub(super) fn of(sample: &[u8]) -> SymbolTable {
        let mut counts = Counts::new(sample.len());
        let mut table = SymbolTable::new([]);
        for of_128 in ROUNDS {
            counts.count(&table, &sample[..sample.len() * of_128 / 128]);
            table = counts.best(&table, of_128 < 128);
        }
        table
    }

    /// The code for the beginning of these eight bytes, and how many of them it stands for.
    #[inline(always)]
    fn find(&self, word: u64) -> Found {
        let long = &self.long[place_of(word, 3)];
        if long.length > 0 && own(word, long.length) == long.bytes {
            return u16::from(long.length) << 8 | u16::from(long.code);
        }
        let pair = self.pairs[place_of(word, 2)];
        let single = self.single[(word & 0xff) as usize];
        let is_pair = pair as u16 == word as u16 && pair >> 16 != u32::from(NOT_FOUND);
        if is_pair { (pair >> 16) as u16 } else { single }
    }

    /// The same where fewer bytes are left than a symbol may have.
    fn find_last(&self, left: &[u8]) -> Found {
        let mut word = [0; LONGEST_SYMBOL];
        word[..left.len()].copy_from_slice(left);
        let found = self.find(u64::from_le_bytes(word));
        if usize::from(found >> 8) <= left.len() {
            found
        } else {
            NOT_FOUND
        }
    }

    /// The codes of all bytes.
    pub(super) fn codes(&self, all: &[u8]) -> Vec<u8> {
        const BLOCK: usize = 2048;
        let mut codes = Vec::with_capacity(all.len() / 2 + 16);
        let mut block = [0; 2 * BLOCK + 2];
        let mut at = 0;
        while at < all.len() {
            let mut behind = 0;
            while behind < BLOCK && at < all.len() {
                let found = match all[at..].first_chunk() {
                    Some(word) => self.find(u64::from_le_bytes(*word)),
                    None => self.find_last(&all[at..]),
                };
                let code = found as u8;
                // The byte behind the code stays there if the code is an escape.
                block[behind] = code;
                block[behind + 1] = all[at];
                behind += 1 + usize::from(code == ESCAPE);
                at += usize::from(found >> 8);
            }
            codes.extend_from_slice(&block[..behind]);
        }
        codes
    }

    /// How many bytes the table takes.
    pub(super) fn bytes(&self) -> usize {
        let bytes = self.symbols.iter().map(|symbol| usize::from(symbol.length));
        LONGEST_SYMBOL + bytes.sum::<usize>()
    }

    /// How many symbols there are of each length, and their bytes.
    pub(super) fn write(&self, out: &mut Output<'_>) {
        for length in 1..=LONGEST_SYMBOL as u8 {
            let of_length = |symbol: &&Symbol| symbol.length == length;
            out.byte(self.symbols.iter().filter(of_length).count() as u8);
        }
        for symbol in &self.symbols {
            let bytes = symbol.bytes.to_le_bytes();
            out.bytes
                .extend_from_slice(&bytes[..usize::from(symbol.length)]);
        }
    }
}

/// Some stretches from all over, in an order in which the first ones are from all over, too.
pub(super) fn sample(all: &[u8]) -> Vec<u8> {
    let size = (all.len() / 8).clamp(*SAMPLED.start(), *SAMPLED.end());
    if all.len() <= size {
        return all.to_vec();
    }
    let length = size / STRETCHES;
    let room = all.len() - length;
    let mut sample = Vec::with_capacity(STRETCHES * length);
    for stretch in (0..STRETCHES).map(|n| n * 11 % STRETCHES) {
        let start = room / (STRETCHES - 1) * stretch;
        sample.extend_from_slice(&all[start..start + length]);
    }
    sample
}

/// Codes, and behind them the bytes that have none.
const CODES: usize = 512;

/// How often a symbol stands in a sample, and how often one behind another one.
struct Counts {
    single: [u32; CODES],
    /// Two codes, and how often they stand side by side, at a place that they are hashed to or behind it; 0 where there
    /// are none. At most three quarters full: later pairs are not counted.
    pairs: Vec<(u32, u32)>,
    room: usize,
    /// How often a pair must have been met to be a candidate.
    least: u32,
}

impl Counts {
    /// For a sample of so many bytes.
    fn new(sample: usize) -> Counts {
        let size = sample.next_power_of_two().max(64);
        Counts {
            single: [0; CODES],
            pairs: vec![(0, 0); size],
            room: 0,
            least: 2,
        }
    }

    #[inline(always)]
    fn pair(&mut self, before: usize, behind: usize) {
        let both = (before * CODES + behind) as u32;
        let last = self.pairs.len() - 1;
        let mut place = (both.wrapping_mul(0x9e37_79b1) >> 8) as usize & last;
        loop {
            let pair = &mut self.pairs[place];
            if pair.1 == 0 {
                if self.room > 0 {
                    self.room -= 1;
                    *pair = (both, 1);
                }
                return;
            }
            if pair.0 == both {
                pair.1 += 1;
                return;
            }
            place = (place + 1) & last;
        }
    }

    fn count(&mut self, table: &SymbolTable, sample: &[u8]) {
        self.single = [0; CODES];
        self.pairs.fill((0, 0));
        self.room = self.pairs.len() / 4 * 3;
        self.least = 2 + sample.len() as u32 / 4096;
        let mut before = None;
        let mut at = 0;
        while at < sample.len() {
            let found = match sample[at..].first_chunk() {
                Some(word) => table.find(u64::from_le_bytes(*word)),
                None => table.find_last(&sample[at..]),
            };
            let byte = 256 + usize::from(sample[at]);
            let (code, length) = (found as u8, usize::from(found >> 8));
            let code = if code == ESCAPE { byte } else { code.into() };
            self.single[code] += 1;
            if let Some(before) = before {
                self.pair(before, code);
            }
            // What a longer symbol begins with may be worth more alone.
            if length > 1 {
                self.single[byte] += 1;
                if let Some(before) = before {
                    self.pair(before, byte);
                }
            }
            before = Some(code);
            at += length;
        }
    }

    /// The symbols that cover most of what was counted.
    fn best(&self, table: &SymbolTable, makes_new: bool) -> SymbolTable {
        let symbol = |code: usize| match code.checked_sub(256) {
            Some(byte) => Symbol::of_byte(byte as u8),
            None => table.symbols[code],
        };
        let mut candidates = Candidates::default();
        for (code, &count) in self.single.iter().enumerate() {
            // In the end, a symbol must be worth its bytes in the table.
            if count > if makes_new { 0 } else { 2 } {
                let symbol = symbol(code);
                // Without a symbol, a byte takes two.
                let weight = match symbol.length {
                    1 => 8,
                    length => length.into(),
                };
                candidates.add(symbol, count * weight);
            }
        }
        if makes_new {
            for &(both, count) in &self.pairs {
                let (before, behind) = (both as usize / CODES, both as usize % CODES);
                if count >= self.least
                    && let Some(both) = symbol(before).and(symbol(behind))
                {
                    candidates.add(both, count * u32::from(both.length));
                }
            }
        }
        SymbolTable::new(candidates.best())
    }
}

/// Symbols, and how many bytes each would cover: one that is made of several pairs is there once.
#[derive(Default)]
struct Candidates {
    all: Vec<(Symbol, u32)>,
    /// For each place that a symbol is hashed to, or behind it, which candidate it is, from 1 on. At most half full.
    places: Vec<u16>,
}

impl Candidates {
    fn add(&mut self, symbol: Symbol, gain: u32) {
        if self.all.len() * 2 >= self.places.len() {
            let size = (self.places.len() * 2).max(PLACES);
            self.places = vec![0; size];
            for index in 0..self.all.len() {
                let place = self.place(self.all[index].0);
                self.places[place] = index as u16 + 1;
            }
        }
        let place = self.place(symbol);
        match self.places[place].checked_sub(1) {
            Some(index) => self.all[usize::from(index)].1 += gain,
            None if self.all.len() < usize::from(u16::MAX) => {
                self.all.push((symbol, gain));
                self.places[place] = self.all.len() as u16;
            }
            None => {}
        }
    }

    /// Where a symbol is, or would be.
    fn place(&self, symbol: Symbol) -> usize {
        let last = self.places.len() - 1;
        let mixed = (symbol.bytes ^ u64::from(symbol.length)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut place = (mixed >> 40) as usize & last;
        while let Some(index) = self.places[place].checked_sub(1) {
            let (other, _) = self.all[usize::from(index)];
            if other.bytes == symbol.bytes && other.length == symbol.length {
                break;
            }
            place = (place + 1) & last;
        }
        place
    }

    /// Those that cover most, in that order; longer ones before others.
    fn best(mut self) -> impl Iterator<Item = Symbol> {
        let by_gain = |&(symbol, gain): &(Symbol, u32)| {
            let order = u64::from(gain) << 8 | u64::from(symbol.length);
            (Reverse(order), symbol.bytes)
        };
        // More than those that may be symbols need not be in order.
        if self.all.len() > 2 * MOST_SYMBOLS {
            self.all
                .select_nth_unstable_by_key(2 * MOST_SYMBOLS, by_gain);
            self.all.truncate(2 * MOST_SYMBOLS);
        }
        self.all.sort_unstable_by_key(by_gain);
        self.all.into_iter().map(|(symbol, _)| symbol)
    }
}

/// What codes stand for.
pub(super) struct Symbols {
    bytes: [[u8; LONGEST_SYMBOL]; 256],
    /// None for codes that stand for nothing.
    lengths: [u8; 256],
}

impl Symbols {
    pub(super) fn read(input: &mut Input<'_>) -> Result<Symbols> {
        let counts = input.take(LONGEST_SYMBOL, "how many symbols there are")?;
        if counts
            .iter()
            .map(|&count| usize::from(count))
            .sum::<usize>()
            > MOST_SYMBOLS
        {
            return Err(input.malformed(format!("a table of more than {MOST_SYMBOLS} symbols")));
        }
        let mut symbols = Symbols {
            bytes: [[0; LONGEST_SYMBOL]; 256],
            lengths: [0; 256],
        };
        let mut code = 0;
        for (length, &count) in (1..).zip(counts) {
            for _ in 0..count {
                let bytes = input.take(length, "a symbol")?;
                symbols.bytes[code][..length].copy_from_slice(bytes);
                symbols.lengths[code] = length as u8;
                code += 1;
            }
        }
        Ok(symbols)
    }

    /// The bytes that codes stand for, if they are so many.
    pub(super) fn all(&self, codes: &[u8], total: usize) -> Option<Vec<u8>> {
        // Eight bytes are written each time.
        let mut all = vec![0; total + LONGEST_SYMBOL];
        let mut at = 0;
        let mut codes = codes.iter();
        while let Some(&code) = codes.next() {
            let place: &mut [u8; LONGEST_SYMBOL] = all.get_mut(at..)?.first_chunk_mut()?;
            if code == ESCAPE {
                place[0] = *codes.next()?;
                at += 1;
                continue;
            }
            *place = self.bytes[usize::from(code)];
            let length = self.lengths[usize::from(code)];
            if length == 0 {
                return None;
            }
            at += usize::from(length);
        }
        all.truncate(total);
        (at == total).then_some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;
    use proptest::prelude::*;

    fn comes_back(all: &[u8]) -> usize {
        let table = SymbolTable::of(&sample(all));
        let codes = table.codes(all);
        let mut bytes = Vec::new();
        table.write(&mut Output {
            bytes: &mut bytes,
            origin: 0,
            slack: 0,
        });
        assert_eq!(bytes.len(), table.bytes());
        let mut input = Input::new(&bytes, 0, &Limits::default());
        let symbols = Symbols::read(&mut input).unwrap();
        assert_eq!(input.left(), 0);
        assert!(
            symbols
                .all(&codes, all.len())
                .is_some_and(|back| back == all)
        );
        for wrong in [all.len() + 1, all.len().wrapping_sub(1)] {
            if wrong < usize::MAX {
                assert_eq!(symbols.all(&codes, wrong), None);
            }
        }
        bytes.len() + codes.len()
    }

    #[test]
    fn text_takes_less_than_half() {
        let words = [
            "the ", "table ", "of ", "symbols ", "that ", "occur ", "often, ",
        ];
        let text: String = (0..5000_usize).map(|n| words[n * n % 7919 % 7]).collect();
        assert!(comes_back(text.as_bytes()) * 3 < text.len());
        let urls: String = (0..2000_u32)
            .map(|n| {
                format!(
                    "https://example.org/items/{}?page=1",
                    n.wrapping_mul(0x9e37_79b9)
                )
            })
            .collect();
        assert!(comes_back(urls.as_bytes()) * 2 < urls.len());
    }

    #[test]
    fn odd_bytes_come_back() {
        comes_back(b"");
        comes_back(b"a");
        comes_back(&[0; 1000]);
        comes_back(&[255; 1000]);
        comes_back(&[0, 255].repeat(500));
        let all: Vec<u8> = (0..=255).collect();
        comes_back(&all.repeat(3));
        for length in 0..40 {
            comes_back(&b"abcabcabdabcabcabcabxabcabcabcabcabcabcy"[..length]);
        }
    }

    #[test]
    fn codes_that_stand_for_nothing_and_escapes_of_nothing_are_refused() {
        let bytes = [1, 0, 0, 0, 0, 0, 0, 0, b'a'];
        let symbols = Symbols::read(&mut Input::new(&bytes, 0, &Limits::default())).unwrap();
        assert_eq!(symbols.all(&[0, ESCAPE, b'x', 0], 3).unwrap(), b"axa");
        assert_eq!(symbols.all(&[1], 0), None);
        assert_eq!(symbols.all(&[1], 1), None);
        assert_eq!(symbols.all(&[0, ESCAPE], 1), None);
        assert_eq!(symbols.all(&[0; 100], 1), None);
        let many = [100, 100, 100, 0, 0, 0, 0, 0];
        assert!(Symbols::read(&mut Input::new(&many, 0, &Limits::default())).is_err());
    }

    proptest! {
        // Each learns a table of its own, which takes longest.
        #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn any_bytes_come_back(parts in prop::collection::vec("[a-d]{1,6}|\\PC{0,4}", 0..400)) {
            comes_back(parts.concat().as_bytes());
        }
    }
}
