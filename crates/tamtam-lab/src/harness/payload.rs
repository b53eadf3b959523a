//! The messages of the experiment `grid`: from eight bytes to sixteen KiB, and two that are allocated.

use crate::Packet;
use crate::harness::packet::{END, Packet64, check, tag, untag};

/// How many bits of a packet of eight bytes are a check of the others.
const CHECK_BITS: u32 = 16;
/// How many bits of it hold the number; those above hold the sender.
const SHORT_NUMBER_BITS: u32 = 40;
/// The number that stands for [`END`] in so many bits.
const SHORT_END: u64 = (1 << SHORT_NUMBER_BITS) - 1;

/// A packet of 8 bytes: a sender below 2^8, a number below 2^40 - 1, and a check of 16 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Packet8(u64);

impl Packet for Packet8 {
    const SIZE: &'static str = "8B";

    fn new(sender: u64, number: u64) -> Self {
        let content = (sender << SHORT_NUMBER_BITS) | number.min(SHORT_END);
        Packet8((content << CHECK_BITS) | (check(content) >> (64 - CHECK_BITS)))
    }

    fn open(&self) -> Option<(u64, u64)> {
        let content = self.0 >> CHECK_BITS;
        let number = match content & SHORT_END {
            SHORT_END => END,
            number => number,
        };
        let fits = check(content) >> (64 - CHECK_BITS) == self.0 & ((1 << CHECK_BITS) - 1);
        fits.then_some((content >> SHORT_NUMBER_BITS, number))
    }
}

/// How many words a cache line has.
const LINE: usize = 8;

/// A packet of `WORDS` words, of which the first is the tag and all others are its check. Every cache line of it is
/// written, and a word of each is looked at when it has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Large<const WORDS: usize>([u64; WORDS]);

impl<const WORDS: usize> Large<WORDS> {
    fn filled(sender: u64, number: u64) -> Self {
        let tag = tag(sender, number);
        let mut words = [check(tag); WORDS];
        words[0] = tag;
        Large(words)
    }

    fn opened(&self) -> Option<(u64, u64)> {
        let expected = check(self.0[0]);
        let lasts = self.0.chunks_exact(LINE).map(|line| line[LINE - 1]);
        let difference = lasts.fold(0, |difference, word| difference | (word ^ expected));
        (difference == 0).then(|| untag(self.0[0]))
    }
}

/// A packet of 1 KiB, by value.
pub type Packet1K = Large<128>;

/// A packet of 16 KiB, by value.
pub type Packet16K = Large<2048>;

impl Packet for Packet1K {
    const SIZE: &'static str = "1KiB";

    fn new(sender: u64, number: u64) -> Self {
        Large::filled(sender, number)
    }

    fn open(&self) -> Option<(u64, u64)> {
        self.opened()
    }
}

impl Packet for Packet16K {
    const SIZE: &'static str = "16KiB";

    fn new(sender: u64, number: u64) -> Self {
        Large::filled(sender, number)
    }

    fn open(&self) -> Option<(u64, u64)> {
        self.opened()
    }
}

/// How many letters a word takes as text: one for each four bits.
const LETTERS: usize = 16;

/// A string of 32 letters, allocated where it is sent and freed where it is received: the tag and its check.
impl Packet for String {
    const SIZE: &'static str = "String";

    fn new(sender: u64, number: u64) -> Self {
        let tag = tag(sender, number);
        let mut text = String::with_capacity(2 * LETTERS);
        for word in [tag, check(tag)] {
            for place in (0..LETTERS).rev() {
                let digit = (word >> (4 * place)) & 0xf;
                text.push(char::from(b'a' + digit as u8));
            }
        }
        text
    }

    fn open(&self) -> Option<(u64, u64)> {
        let word = |letters: &[u8]| {
            letters.iter().try_fold(0, |word: u64, letter| {
                let digit = letter.wrapping_sub(b'a');
                (digit < 16).then(|| (word << 4) | u64::from(digit))
            })
        };
        let letters = self.as_bytes();
        if letters.len() != 2 * LETTERS {
            return None;
        }
        let tag = word(&letters[..LETTERS])?;
        (word(&letters[LETTERS..])? == check(tag)).then(|| untag(tag))
    }
}

/// 64 bytes in a box, allocated where it is sent and freed where it is received.
impl Packet for Box<Packet64> {
    const SIZE: &'static str = "Box";

    fn new(sender: u64, number: u64) -> Self {
        Box::new(Packet64::new(sender, number))
    }

    fn open(&self) -> Option<(u64, u64)> {
        Packet64::open(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trips<P: Packet>() {
        for (sender, number) in [(0, 0), (3, 77), (15, 1 << 39), (7, END)] {
            assert_eq!(
                P::new(sender, number).open(),
                Some((sender, number)),
                "{}",
                P::SIZE
            );
        }
    }

    #[test]
    fn packets_say_what_was_written_into_them() {
        round_trips::<Packet8>();
        round_trips::<Packet1K>();
        round_trips::<Packet16K>();
        round_trips::<String>();
        round_trips::<Box<Packet64>>();
    }

    #[test]
    fn packets_have_the_size_that_they_are_named_after() {
        assert_eq!(size_of::<Packet8>(), 8);
        assert_eq!(size_of::<Packet1K>(), 1024);
        assert_eq!(size_of::<Packet16K>(), 16 * 1024);
    }

    #[test]
    fn a_damaged_packet_is_noticed() {
        for bit in 0..64 {
            let Packet8(word) = Packet8::new(3, 77);
            assert_eq!(Packet8(word ^ (1 << bit)).open(), None, "bit {bit}");
        }
        for word in (LINE - 1..128).step_by(LINE).chain([0]) {
            let mut large = Packet1K::new(3, 77);
            large.0[word] ^= 1 << 40;
            assert_eq!(large.open(), None, "word {word}");
        }
        let text = <String as Packet>::new(3, 77);
        for place in 0..text.len() {
            let mut damaged = text.clone().into_bytes();
            damaged[place] ^= 1;
            assert_eq!(
                String::from_utf8(damaged).unwrap().open(),
                None,
                "letter {place}"
            );
        }
        assert_eq!(text[1..].to_owned().open(), None);
    }
}
