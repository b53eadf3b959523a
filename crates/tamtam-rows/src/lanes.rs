//! Narrow fields of structs, gathered several at once.
//!
//! Fields of one width lie beside one another in a struct, so that one load has several of them. To read them so, and
//! then to divide what was read by columns in registers, takes a third of the time that a pass for each field takes.

use crate::kernels::{LANES_OF_16, LANES_OF_32, split_16, split_32};

/// Where a field of a struct lies in a word of 64 bits, together with others of its width.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// How many bits the field has: 16 or 32, or 0 if it is gathered alone.
    bits: u32,
    /// The field that is the first in this word.
    word: usize,
    /// How many fields of this word come before it.
    index: usize,
    /// How many fields the word has.
    used: usize,
}

impl Lane {
    /// The lanes of fields that have so many bits each, or 0.
    pub const fn all<const FIELDS: usize>(bits: [u32; FIELDS]) -> [Lane; FIELDS] {
        let mut lanes = [Lane {
            bits: 0,
            word: 0,
            index: 0,
            used: 0,
        }; FIELDS];
        let mut field = 0;
        while field < FIELDS {
            // The last field before it that has its width.
            let mut before = field;
            while before > 0 && (before == field || bits[before] != bits[field]) {
                before -= 1;
            }
            let is_next = field > before
                && bits[before] == bits[field]
                && (lanes[before].index + 1) as u32 * bits[field] < u64::BITS;
            lanes[field] = Lane {
                bits: bits[field],
                word: if is_next { lanes[before].word } else { field },
                index: if is_next { lanes[before].index + 1 } else { 0 },
                used: 0,
            };
            field += 1;
        }
        // How many fields a word has is known at its last one.
        while field > 0 {
            field -= 1;
            let first = lanes[field].word;
            if lanes[first].used == 0 {
                lanes[first].used = lanes[field].index + 1;
            }
        }
        while field < FIELDS {
            lanes[field].used = lanes[lanes[field].word].used;
            if lanes[field].used < 2 {
                lanes[field].bits = 0;
            }
            field += 1;
        }
        lanes
    }

    /// Whether the field is gathered together with others.
    #[inline(always)]
    pub const fn is_shared(self) -> bool {
        self.bits > 0
    }

    /// The field that is the first in its word.
    #[inline(always)]
    pub const fn word(self) -> usize {
        self.word
    }

    /// Its bits at their place in a word; nothing in the others.
    #[inline(always)]
    pub const fn of(self, word: usize, bits: u64) -> u64 {
        if self.is_shared() && self.word == word {
            bits << (self.bits * self.index as u32)
        } else {
            0
        }
    }
}

/// Columns of narrow fields that were gathered together and not yet taken.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Lanes {
    sixteen: [Vec<u16>; LANES_OF_16],
    thirty_two: [Vec<u32>; LANES_OF_32],
}

impl Lanes {
    /// Gathers the fields of one word, if `field` is the first of them.
    #[inline(always)]
    pub fn gather<R>(&mut self, lane: Lane, field: usize, records: &[R], word: impl Fn(&R) -> u64) {
        if !lane.is_shared() || lane.word != field {
            return;
        }
        self.make_room(lane, records.len());
        let mut words = [0; 128];
        for block in records.chunks(words.len()) {
            for (place, record) in words.iter_mut().zip(block) {
                *place = word(record);
            }
            self.split(lane, &words[..block.len()]);
        }
    }

    fn make_room(&mut self, lane: Lane, count: usize) {
        if lane.bits == 16 {
            self.sixteen = Default::default();
            let used = &mut self.sixteen[..lane.used];
            used.iter_mut().for_each(|list| list.reserve_exact(count));
        } else {
            self.thirty_two = Default::default();
            let used = &mut self.thirty_two[..lane.used];
            used.iter_mut().for_each(|list| list.reserve_exact(count));
        }
    }

    fn split(&mut self, lane: Lane, words: &[u64]) {
        if lane.bits == 16 {
            split_16(words, &mut self.sixteen, lane.used);
        } else {
            split_32(words, &mut self.thirty_two, lane.used);
        }
    }

    /// What was gathered for a field of 16 bits.
    pub(crate) fn take_16(&mut self, lane: Lane) -> Vec<u16> {
        std::mem::take(&mut self.sixteen[lane.index])
    }

    /// What was gathered for a field of 32 bits.
    pub(crate) fn take_32(&mut self, lane: Lane) -> Vec<u32> {
        std::mem::take(&mut self.thirty_two[lane.index])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<const FIELDS: usize>(bits: [u32; FIELDS]) -> [Option<(usize, usize)>; FIELDS] {
        Lane::all(bits).map(|lane| lane.is_shared().then_some((lane.word, lane.index)))
    }

    #[test]
    fn fields_share_words_with_others_of_their_width() {
        assert_eq!(found([]), []);
        assert_eq!(found([16]), [None]);
        assert_eq!(found([0, 0]), [None, None]);
        assert_eq!(
            found([32, 16, 0, 32, 16]),
            [Some((0, 0)), Some((1, 0)), None, Some((0, 1)), Some((1, 1))]
        );
        // A word has four of 16 bits, and one that would be alone in the next is gathered alone.
        assert_eq!(
            found([16; 5]),
            [Some((0, 0)), Some((0, 1)), Some((0, 2)), Some((0, 3)), None]
        );
        assert_eq!(
            found([32, 32, 16, 32, 32]),
            [Some((0, 0)), Some((0, 1)), None, Some((3, 0)), Some((3, 1))]
        );
    }
}
