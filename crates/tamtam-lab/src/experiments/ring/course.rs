//! What is sent round the ring of article D, and what counts it.

use super::station::Entries;
use crate::{Failure, Variant};

/// What is sent round a ring, and what counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Course {
    pub(super) actors: usize,
    /// How many messages enter: message 0 at actor 0, message 1 at actor 1, and so on.
    pub(super) messages: usize,
    pub(super) kind: Kind,
    /// How many actors handle a message of the kind `Token` before it ends.
    pub(super) hops: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The last actor counts a latch down for each message that it drops.
    Last,
    /// Every actor counts one latch down for each message that it handles, as in the article.
    All,
    /// One message, which the last actor passes on to the first.
    Token,
}

/// Article D's.
const ACTORS: usize = 10_000;
/// Article D's.
const MESSAGES: usize = 500;

impl Course {
    /// The course of a variant: by its count, which is how many messages are handled in all, and its extra word.
    pub(super) fn of(variant: &Variant) -> Self {
        let extra = variant.extra.as_deref().unwrap_or_default();
        let course = match extra {
            "token" => Course {
                actors: ACTORS,
                messages: 1,
                kind: Kind::Token,
                hops: u32::try_from(variant.count).expect("a token's hops fit into 32 bits"),
            },
            "million" => Course::row(1_000_000, 5, Kind::Last),
            "all" => Course::row(ACTORS, MESSAGES, Kind::All),
            _ => Course::row(ACTORS, MESSAGES, Kind::Last),
        };
        debug_assert_eq!(course.handled(), variant.count);
        course
    }

    /// Messages that pass along a row of actors.
    pub(super) const fn row(actors: usize, messages: usize, kind: Kind) -> Self {
        Course {
            actors,
            messages,
            kind,
            hops: 0,
        }
    }

    /// How many messages are handled in all.
    pub(super) const fn handled(&self) -> u64 {
        match self.kind {
            Kind::Token => self.hops as u64,
            Kind::Last | Kind::All => {
                let (actors, messages) = (self.actors as u64, self.messages as u64);
                actors * messages - messages * (messages - 1) / 2
            }
        }
    }

    /// How often the latch is counted down.
    pub(super) fn counts(&self) -> u64 {
        match self.kind {
            Kind::All => self.handled(),
            Kind::Last => self.messages as u64,
            Kind::Token => 1,
        }
    }

    /// The position of the actor at which messages end.
    pub(super) fn last_position(&self) -> usize {
        match self.kind {
            Kind::Token => (self.hops as usize - 1) % self.actors,
            Kind::Last | Kind::All => self.actors - 1,
        }
    }

    /// The position of the last actor at which a message enters: behind it nothing overtakes.
    pub(super) fn last_entry(&self) -> usize {
        self.messages - 1
    }

    /// Whether what came to the last actor (`end`), and before that to the last entry (`middle`), is what was sent.
    pub(super) fn verify(&self, middle: &Entries, end: &Entries) -> Result<(), Failure> {
        let unverified = |reason: String| Err(Failure::Unverified(reason));
        if end.len() != self.messages {
            return unverified(format!(
                "{} messages came to the last actor where {} were due",
                end.len(),
                self.messages
            ));
        }
        let mut came = vec![false; self.messages];
        let mut handled = 0;
        for entry in end {
            let Some((number, hops)) = *entry else {
                return unverified("a message came damaged, or out of its way".to_owned());
            };
            let due = match self.kind {
                Kind::Token => self.hops,
                // A number out of range is refused below.
                Kind::Last | Kind::All => (self.actors as u32).wrapping_sub(number),
            };
            if hops != due {
                return unverified(format!(
                    "message {number} was handled {hops} times where {due} were due"
                ));
            }
            match came.get_mut(number as usize) {
                Some(came @ false) => *came = true,
                Some(true) => return unverified(format!("message {number} came twice")),
                None => return unverified(format!("message {number} was never sent")),
            }
            handled += u64::from(hops);
        }
        if handled != self.handled() {
            return unverified(format!(
                "{handled} messages were handled where {} were due",
                self.handled()
            ));
        }
        // Behind the last entry each actor hears from one other only, so nothing may overtake.
        let numbers = |entries: &Entries| -> Vec<Option<u32>> {
            entries
                .iter()
                .map(|entry| entry.map(|(number, _)| number))
                .collect()
        };
        if self.kind != Kind::Token
            && self.last_entry() != self.last_position()
            && numbers(middle) != numbers(end)
        {
            return unverified("messages of one sender overtook each other".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Placement;

    fn course(count: u64, extra: &str) -> Course {
        Course::of(&Variant::new(count, Placement::Free).with_extra(extra))
    }

    #[test]
    fn the_articles_ring_handles_its_messages() {
        assert_eq!(Course::row(10_000, 500, Kind::Last).handled(), 4_875_250);
        // Counted one by one.
        let handled: u64 = (0..500).map(|entry| 10_000 - entry).sum();
        assert_eq!(handled, 4_875_250);
        assert_eq!(Course::row(1_000_000, 5, Kind::Last).handled(), 4_999_990);
    }

    #[test]
    fn a_latch_is_counted_as_the_variant_says() {
        assert_eq!(course(4_875_250, "last").counts(), 500);
        assert_eq!(course(4_875_250, "40B").counts(), 500);
        assert_eq!(course(4_875_250, "all").counts(), 4_875_250);
        assert_eq!(course(1_000_000, "token").counts(), 1);
        assert_eq!(course(4_999_990, "million").counts(), 5);
    }

    #[test]
    fn what_is_not_as_sent_is_refused() {
        let course = Course::row(10, 3, Kind::Last);
        let sound = vec![Some((1, 9)), Some((0, 10)), Some((2, 8))];
        assert_eq!(course.verify(&sound, &sound), Ok(()));
        let mut cases: Vec<(Entries, &str)> = vec![
            (sound[..2].to_vec(), "2 messages came"),
            ([&sound[..], &sound[..1]].concat(), "4 messages came"),
        ];
        for (entry, reason) in [
            (Some((0, 10)), "came twice"),
            (Some((2, 7)), "handled 7 times where 8"),
            (Some((4, 6)), "never sent"),
            (None, "damaged"),
        ] {
            cases.push((vec![sound[0], sound[1], entry], reason));
        }
        cases.push((vec![sound[1], sound[0], sound[2]], "overtook"));
        for (end, expected) in cases {
            match course.verify(&sound, &end) {
                Err(Failure::Unverified(reason)) => {
                    assert!(reason.contains(expected), "{end:?}: {reason}");
                }
                outcome => panic!("{end:?}: {outcome:?}"),
            }
        }
    }
}
