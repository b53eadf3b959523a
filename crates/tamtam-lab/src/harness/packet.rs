//! The messages of the `post` experiment, of several sizes.

use crate::Failure;

/// How many bits of a packet's tag hold the number; those above hold the sender.
const NUMBER_BITS: u32 = 48;

/// The number that a sender writes into its last packet.
pub(crate) const END: u64 = (1 << NUMBER_BITS) - 1;

/// A message of the `post` experiment: a tag (sender and number) and as many check words as fill its size.
pub trait Packet: Send + 'static {
    /// Its size, as it appears in variants' names.
    const SIZE: &'static str;

    /// The packet with this number (below 2^48) from this sender (below 2^16).
    fn new(sender: u64, number: u64) -> Self;

    /// Its sender and number; `None` if its words do not fit together.
    fn open(&self) -> Option<(u64, u64)>;
}

pub(super) fn tag(sender: u64, number: u64) -> u64 {
    (sender << NUMBER_BITS) | number
}

pub(super) fn untag(tag: u64) -> (u64, u64) {
    (tag >> NUMBER_BITS, tag & END)
}

/// A word that a damaged tag does not fit: an odd factor spreads every bit upwards.
pub(crate) fn check(tag: u64) -> u64 {
    tag.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// A packet as plain words, which can lie in memory that two processes share, and be written to a socket: the tag first.
impl<const WORDS: usize> Packet for [u64; WORDS] {
    const SIZE: &'static str = match WORDS {
        2 => "16B",
        8 => "64B",
        _ => panic!("a packet has 16 or 64 bytes"),
    };

    fn new(sender: u64, number: u64) -> Self {
        let tag = tag(sender, number);
        let mut words = [check(tag); WORDS];
        words[0] = tag;
        words
    }

    fn open(&self) -> Option<(u64, u64)> {
        let tag = self[0];
        let expected = check(tag);
        let difference = self[1..]
            .iter()
            .fold(0, |difference, word| difference | (word ^ expected));
        (difference == 0).then(|| untag(tag))
    }
}

/// A packet of 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Packet16(pub(crate) [u64; 2]);

impl Packet for Packet16 {
    const SIZE: &'static str = <[u64; 2]>::SIZE;

    fn new(sender: u64, number: u64) -> Self {
        Packet16(Packet::new(sender, number))
    }

    fn open(&self) -> Option<(u64, u64)> {
        self.0.open()
    }
}

#[cfg(test)]
impl Packet16 {
    /// A torn packet: this one's tag with the check word of another.
    pub(crate) fn with_check_of(self, other: &Packet16) -> Self {
        Packet16([self.0[0], other.0[1]])
    }
}

/// A packet of 64 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Packet64(pub(crate) [u64; 8]);

impl Packet for Packet64 {
    const SIZE: &'static str = <[u64; 8]>::SIZE;

    fn new(sender: u64, number: u64) -> Self {
        Packet64(Packet::new(sender, number))
    }

    fn open(&self) -> Option<(u64, u64)> {
        self.0.open()
    }
}

/// The verifier of queues: follows each sender's numbers, and notices the first that is not the one due.
#[derive(Debug)]
pub(crate) struct Sequences {
    due: Vec<u64>,
}

impl Sequences {
    /// For `senders` senders, each of which starts at number 0.
    pub(crate) fn new(senders: usize) -> Self {
        Sequences {
            due: vec![0; senders],
        }
    }

    /// Takes the next packet; says whether it was its sender's last, which is not counted.
    pub(crate) fn accept(&mut self, packet: &impl Packet) -> Result<bool, Failure> {
        let Some((sender, number)) = packet.open() else {
            return Err(Failure::Unverified("a message arrived damaged".to_owned()));
        };
        let Some(due) = self.due.get_mut(sender as usize) else {
            return Err(Failure::Unverified(format!(
                "a message came from the unknown sender {sender}"
            )));
        };
        if number == *due {
            *due += 1;
            return Ok(false);
        }
        if number == END {
            return Ok(true);
        }
        Err(out_of_turn(sender, number, *due))
    }

    /// How many senders there are.
    pub(crate) fn lanes(&self) -> usize {
        self.due.len()
    }

    /// How many messages of `sender` have come.
    pub(crate) fn received(&self, sender: usize) -> u64 {
        self.due[sender]
    }
}

#[cold]
fn out_of_turn(sender: u64, number: u64, due: u64) -> Failure {
    let what = if number > due {
        "lost or overtaken"
    } else {
        "doubled or late"
    };
    Failure::Unverified(format!(
        "sender {sender}: message {number} came where {due} was due ({what})"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_have_the_size_that_they_are_named_after() {
        assert_eq!(size_of::<Packet16>(), 16);
        assert_eq!(size_of::<Packet64>(), 64);
    }

    #[test]
    fn a_damaged_packet_is_noticed() {
        assert_eq!(Packet16::new(3, 77).open(), Some((3, 77)));
        assert_eq!(Packet64::new(3, 77).open(), Some((3, 77)));
        for word in 0..2 {
            let mut small = Packet16::new(3, 77);
            small.0[word] ^= 1;
            assert_eq!(small.open(), None);
        }
        for word in 0..8 {
            let mut large = Packet64::new(3, 77);
            large.0[word] ^= 1 << 40;
            assert_eq!(large.open(), None);
        }
    }

    #[test]
    fn a_lost_doubled_overtaken_or_foreign_message_is_noticed() {
        let reason = |numbers: &[(u64, u64)]| {
            let mut sequences = Sequences::new(2);
            numbers.iter().find_map(|&(sender, number)| {
                sequences.accept(&Packet16::new(sender, number)).err()
            })
        };
        assert_eq!(reason(&[(0, 0), (1, 0), (0, 1), (1, 1), (0, END)]), None);
        for numbers in [
            &[(0, 0), (0, 2)][..],
            &[(0, 0), (0, 0)],
            &[(0, 1), (0, 0)],
            &[(1, 0), (0, 0), (1, 2)],
            &[(2, 0)],
        ] {
            assert!(
                matches!(reason(numbers), Some(Failure::Unverified(_))),
                "{numbers:?}"
            );
        }
    }
}
