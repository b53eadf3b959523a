//! What one actor of the ring does with a message.

use std::sync::{Arc, Mutex, PoisonError};

use tamtam_channel::Latch;

use super::Parcel;
use super::course::{Course, Kind};

/// What one actor of the ring does with a message: the state that a contender puts into each of its actors.
#[derive(Debug)]
pub struct Station {
    /// Where a parcel that comes here is due.
    due: u32,
    /// How much further the next one is due: one whole round where a token comes back.
    round: u32,
    /// Counted down for each message, if all of them count.
    each: Option<Arc<Latch>>,
    /// What only few stations do.
    office: Option<Box<Office>>,
}

/// What a station does beside passing parcels on.
#[derive(Debug)]
struct Office {
    /// Writes down which parcels came, in their order.
    book: Book,
    /// What becomes of the parcels then.
    fate: Fate,
}

#[derive(Debug)]
enum Fate {
    /// They go on.
    Pass,
    /// They end here, and count down a latch unless every message does.
    End(Option<Arc<Latch>>),
    /// They end here once they have made so many hops.
    EndAfter(u32, Arc<Latch>),
}

/// The parcels that came by, in their order: the number and the hops of each, or `None` of a damaged one.
pub(super) type Entries = Vec<Option<(u32, u32)>>;

/// Entries that a station makes and the experiment reads.
#[derive(Debug, Clone, Default)]
pub(super) struct Book(Arc<Mutex<Entries>>);

impl Book {
    fn enter<const WORDS: usize>(&self, parcel: &Parcel<WORDS>) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.push(parcel.open());
    }

    /// Takes what was entered.
    pub(super) fn take(&self) -> Entries {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Station {
    /// The station at `position` of `course`.
    pub(super) fn new(
        position: usize,
        course: &Course,
        latch: &Arc<Latch>,
        middle: &Book,
        end: &Book,
    ) -> Self {
        let office = |book: &Book, fate| {
            let book = book.clone();
            Some(Box::new(Office { book, fate }))
        };
        let each = (course.kind == Kind::All).then(|| Arc::clone(latch));
        let office = match course.kind {
            Kind::Token if position == course.last_position() => {
                office(end, Fate::EndAfter(course.hops, Arc::clone(latch)))
            }
            Kind::Token => None,
            Kind::Last | Kind::All if position == course.last_position() => {
                let counted = each.is_none().then(|| Arc::clone(latch));
                office(end, Fate::End(counted))
            }
            Kind::Last | Kind::All if position == course.last_entry() => office(middle, Fate::Pass),
            Kind::Last | Kind::All => None,
        };
        Station {
            due: u32::try_from(position).expect("the actors of a ring fit into 32 bits"),
            round: match course.kind {
                Kind::Token => {
                    u32::try_from(course.actors).expect("the actors of a ring fit into 32 bits")
                }
                Kind::Last | Kind::All => 0,
            },
            each,
            office,
        }
    }

    /// Handles a message. What it returns is to be sent to the next actor (the last one's next is the first); `None`
    /// ends the message's way.
    #[inline]
    #[must_use = "a message that is not passed on is lost"]
    pub fn handle<const WORDS: usize>(
        &mut self,
        mut parcel: Parcel<WORDS>,
    ) -> Option<Parcel<WORDS>> {
        parcel.hop(parcel.due() == self.due);
        self.due = self.due.wrapping_add(self.round);
        if let Some(latch) = &self.each {
            latch.count_down();
        }
        match &self.office {
            None => Some(parcel),
            // Told apart by a word, so that the parcel stays in registers: written in parts and read as a whole it would
            // cost every contender some 6 ns.
            Some(office) => office.receive(&parcel).then_some(parcel),
        }
    }
}

impl Office {
    /// Whether the parcel goes on.
    #[cold]
    fn receive<const WORDS: usize>(&self, parcel: &Parcel<WORDS>) -> bool {
        match &self.fate {
            Fate::Pass => {
                self.book.enter(parcel);
                true
            }
            Fate::End(latch) => {
                self.book.enter(parcel);
                if let Some(latch) = latch {
                    latch.count_down();
                }
                false
            }
            // A token that went astray ends at once, since it is not known when it should.
            Fate::EndAfter(hops, latch) => match parcel.open() {
                Some((_, made)) if made < *hops => true,
                _ => {
                    self.book.enter(parcel);
                    latch.count_down();
                    false
                }
            },
        }
    }
}
