//! What shows that each message of a round arrived once, at one of several receivers, and in its sender's order.

use crate::harness::packet::{END, check};
use crate::{Failure, Packet};

/// What one receiver has seen of a round.
#[derive(Debug)]
pub(super) struct Seen {
    /// For each sender the number that is due, or, where other receivers take part, the least that may come.
    due: Vec<u64>,
    /// How many messages of each sender came, and the sum of what their numbers are spread to.
    counts: Vec<(u64, u64)>,
    /// Whether this is the only receiver, so that no number may be left out.
    alone: bool,
    /// How often each sender has marked its end here. Of several receivers one may get marks that another one has not got.
    ends: Vec<usize>,
}

impl Seen {
    /// Before a round in which each of `senders` begins at the number `first` and marks its end once for each of
    /// `receivers`.
    pub(super) fn before(first: u64, senders: usize, receivers: usize) -> Self {
        Seen {
            due: vec![first; senders],
            counts: vec![(0, 0); senders],
            alone: receivers == 1,
            ends: vec![0; senders],
        }
    }

    /// Takes the next message; says whether more are to come.
    pub(super) fn accept(&mut self, packet: &impl Packet) -> Result<bool, Failure> {
        let Some((sender, number)) = packet.open() else {
            return Err(Failure::Unverified("a message arrived damaged".to_owned()));
        };
        let Some(due) = self.due.get_mut(sender as usize) else {
            return Err(Failure::Unverified(format!(
                "a message came from the unknown sender {sender}"
            )));
        };
        if number == END {
            let ends = &mut self.ends[sender as usize];
            *ends += 1;
            if self.alone && *ends > 1 {
                return Err(Failure::Unverified(format!(
                    "sender {sender} has marked its end twice"
                )));
            }
            return Ok(self.ends.iter().sum::<usize>() < self.ends.len());
        }
        if number < *due || (self.alone && number > *due) {
            return Err(Failure::Unverified(format!(
                "sender {sender}: message {number} came where {due} was due"
            )));
        }
        *due = number + 1;
        let (count, sum) = &mut self.counts[sender as usize];
        *count += 1;
        *sum = sum.wrapping_add(check(number));
        Ok(true)
    }
}

/// Whether the receivers have together seen the numbers from `first` of each sender, `share` of them, each once, and its end once for each of them.
pub(super) fn all_came(seen: &[Seen], first: u64, share: u64) -> Result<(), Failure> {
    let sum = (first..first + share).fold(0_u64, |sum, number| sum.wrapping_add(check(number)));
    let senders = seen.first().map_or(0, |seen| seen.counts.len());
    for sender in 0..senders {
        let (mut came, mut found) = (0, 0_u64);
        for (count, sum) in seen.iter().map(|seen| seen.counts[sender]) {
            came += count;
            found = found.wrapping_add(sum);
        }
        if came != share {
            return Err(Failure::Unverified(format!(
                "sender {sender} sent {share} messages and {came} came"
            )));
        }
        let ends: usize = seen.iter().map(|seen| seen.ends[sender]).sum();
        if ends != seen.len() {
            return Err(Failure::Unverified(format!(
                "sender {sender} marked its end {} times and {ends} marks came",
                seen.len()
            )));
        }
        if found != sum {
            return Err(Failure::Unverified(format!(
                "of sender {sender} some message came twice and another not at all"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Packet8;

    fn seen(receivers: usize, numbers: &[u64]) -> Result<Seen, Failure> {
        let mut seen = Seen::before(10, 1, receivers);
        for &number in numbers {
            assert!(seen.accept(&Packet8::new(0, number))?);
        }
        assert!(!seen.accept(&Packet8::new(0, END))?);
        Ok(seen)
    }

    #[test]
    fn one_receiver_sees_all_in_their_order() {
        let all = seen(1, &[10, 11, 12]).unwrap();
        assert_eq!(all_came(&[all], 10, 3), Ok(()));
        assert!(all_came(&[seen(1, &[10, 11]).unwrap()], 10, 3).is_err());
        for numbers in [&[10, 12][..], &[11], &[10, 10], &[9]] {
            assert!(seen(1, numbers).is_err(), "{numbers:?}");
        }
    }

    #[test]
    fn several_receivers_see_all_together() {
        let several = |parts: [&[u64]; 2]| {
            let seen = parts.map(|part| seen(2, part).unwrap());
            all_came(&seen, 10, 4)
        };
        assert_eq!(several([&[10, 13], &[11, 12]]), Ok(()));
        assert_eq!(several([&[], &[10, 11, 12, 13]]), Ok(()));
        let twice = several([&[10, 12], &[11, 12]]).unwrap_err();
        assert!(twice.to_string().contains("twice"), "{twice}");
        assert!(several([&[10, 12], &[11]]).is_err());
        assert!(seen(2, &[11, 10]).is_err(), "an order turned round");
    }

    /// It was taken for that of another sender, whose messages could come behind it.
    #[test]
    fn a_second_end_of_one_sender_is_noticed() {
        let mut seen = Seen::before(0, 2, 1);
        assert_eq!(seen.accept(&Packet8::new(0, END)), Ok(true));
        let twice = seen.accept(&Packet8::new(0, END)).unwrap_err();
        assert!(twice.to_string().contains("its end twice"), "{twice}");
        let mut seen = Seen::before(0, 2, 1);
        assert_eq!(seen.accept(&Packet8::new(1, END)), Ok(true));
        assert_eq!(seen.accept(&Packet8::new(0, END)), Ok(false));
    }

    #[test]
    fn the_ends_of_each_sender_come_once_for_each_receiver_at_whichever() {
        let both = |ends: [[u64; 2]; 2]| {
            let seen = ends.map(|senders| {
                let mut seen = Seen::before(0, 2, 2);
                assert_eq!(seen.accept(&Packet8::new(senders[0], END)), Ok(true));
                assert_eq!(seen.accept(&Packet8::new(senders[1], END)), Ok(false));
                seen
            });
            all_came(&seen, 0, 0)
        };
        assert_eq!(both([[0, 1], [1, 0]]), Ok(()));
        assert_eq!(both([[0, 0], [1, 1]]), Ok(()));
        let thrice = both([[0, 0], [0, 1]]).unwrap_err();
        assert!(thrice.to_string().contains("3 marks came"), "{thrice}");
    }

    #[test]
    fn a_foreign_sender_is_noticed() {
        let mut seen = Seen::before(0, 1, 1);
        assert!(seen.accept(&Packet8::new(1, 0)).is_err());
    }
}
