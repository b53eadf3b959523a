//! Who receives from a channel: one word, which says that no process does, which one does, or with whose message the receiving end is on its
//! way.
//!
//! ```text
//!   none --attach--> P receives --drop--> none
//!                        |    \--hand_over--> on its way --attach--> Q receives
//!                        |
//!                        \--lent to a message of P--> sent by P --attach, by who reads it--> Q receives
//!                                                        \--the message was not sent, or not read--> P receives, or none
//! ```
//!
//! An end that was lent is still there, in the message, until that is dropped: which of the two is last, the end or what is lent of it, is not
//! known. Each says first that it is gone, and looks then what the word says.

use tamtam_wait::seam::atomic::{AtomicBool, AtomicU64, Ordering};

/// No process receives, and sends fail. It is what new memory says.
pub(crate) const NONE: u64 = 0;
/// The receiving end is on its way to another process, and sends wait for it.
pub(crate) const ON_ITS_WAY: u64 = 1;
/// The low bits of the word where a party receives; its place and the count of its stay lie above.
const RECEIVES: u64 = 2;
/// The low bits where the end is in a message of a party.
const SENT: u64 = 3;
/// Between the place and the count: which of the ends that the party has had. It may get one back, in a message, before it knows that the one that
/// it has sent was read.
const SERIAL_SHIFT: u32 = 14;
const SERIALS: u64 = 1 << 18;
const SERIAL: u64 = (SERIALS - 1) << SERIAL_SHIFT;

/// What the word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Occupant {
    None,
    OnItsWay,
    /// The party in this place, which was freed so often before.
    Receives(u32, u32),
    /// The receiving end is in a message of that party.
    Sent(u32, u32),
}

fn of_party(kind: u64, place: u32, count: u32) -> u64 {
    u64::from(count) << 32 | u64::from(place) << 8 | kind
}

impl Occupant {
    pub(crate) fn word(self) -> u64 {
        match self {
            Occupant::None => NONE,
            Occupant::OnItsWay => ON_ITS_WAY,
            Occupant::Receives(place, count) => of_party(RECEIVES, place, count),
            Occupant::Sent(place, count) => of_party(SENT, place, count),
        }
    }

    /// What another process may have written; what cannot be is none.
    pub(crate) fn of(word: u64) -> Self {
        let (place, count) = ((word >> 8 & 0x3F) as u32, (word >> 32) as u32);
        let occupant = match word & 0xFF {
            ON_ITS_WAY => Occupant::OnItsWay,
            RECEIVES => Occupant::Receives(place, count),
            SENT => Occupant::Sent(place, count),
            _ => Occupant::None,
        };
        let without = match occupant {
            Occupant::Receives(..) | Occupant::Sent(..) => word & !SERIAL,
            Occupant::None | Occupant::OnItsWay => word,
        };
        if occupant.word() == without {
            occupant
        } else {
            Occupant::None
        }
    }
}

/// What this process, a party of the channel, has of its receiving end.
#[derive(Debug)]
pub(crate) struct Role {
    place: u32,
    count: u32,
    serial: u64,
    has_end: AtomicBool,
}

impl Role {
    /// Of this party; the serial number is another one for each end, or for some hundred thousand of them.
    pub(crate) fn new(place: u32, count: u32, serial: u64) -> Self {
        Role {
            place,
            count,
            serial: (serial % SERIALS) << SERIAL_SHIFT,
            has_end: AtomicBool::new(false),
        }
    }

    fn receives(&self) -> u64 {
        Occupant::Receives(self.place, self.count).word() | self.serial
    }

    fn sent(&self) -> u64 {
        Occupant::Sent(self.place, self.count).word() | self.serial
    }

    /// This process receives, in new memory.
    pub(crate) fn begin(&self, word: &AtomicU64) {
        self.has_end.store(true, Ordering::SeqCst);
        word.store(self.receives(), Ordering::SeqCst);
    }

    /// This process receives from now on, if no other one does that lives; it asks so often at most.
    pub(crate) fn occupy(
        &self,
        word: &AtomicU64,
        is_alive: impl Fn(u32, u32) -> bool,
        most: usize,
    ) -> bool {
        let mut now = word.load(Ordering::SeqCst);
        for _ in 0..most {
            if let Occupant::Receives(place, count) = Occupant::of(now)
                && is_alive(place, count)
            {
                return false;
            }
            // SYNC occupant
            match word.compare_exchange(now, self.receives(), Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => {
                    self.has_end.store(true, Ordering::SeqCst);
                    return true;
                }
                Err(other) => now = other,
            }
        }
        false
    }

    /// The end goes into a message; `false` if it does not receive any more.
    pub(crate) fn lend(&self, word: &AtomicU64) -> bool {
        let ordering = Ordering::SeqCst;
        word.compare_exchange(self.receives(), self.sent(), ordering, ordering)
            .is_ok()
    }

    /// What was lent is given back, unless another process receives by now; then it receives here again if the end is still there. Whether it is
    /// here.
    pub(crate) fn take_back(&self, word: &AtomicU64) -> bool {
        let ordering = Ordering::SeqCst;
        // SYNC occupant
        let is_back = word
            .compare_exchange(self.sent(), self.receives(), ordering, ordering)
            .is_ok();
        // The end may have gone meanwhile, and have found that it was sent.
        if is_back && !self.has_end.load(ordering) {
            self.leave_word(word, NONE);
        }
        is_back
    }

    /// The end is gone, and leaves this.
    pub(crate) fn leave(&self, word: &AtomicU64, leaves: u64) {
        self.has_end.store(false, Ordering::SeqCst);
        self.leave_word(word, leaves);
    }

    fn leave_word(&self, word: &AtomicU64, leaves: u64) {
        let ordering = Ordering::SeqCst;
        let _ = word.compare_exchange(self.receives(), leaves, ordering, ordering);
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_an_occupant_only_as_it_was_written() {
        for occupant in [
            Occupant::None,
            Occupant::OnItsWay,
            Occupant::Receives(63, u32::MAX),
            Occupant::Sent(0, 0),
            Occupant::Sent(63, 5),
        ] {
            assert_eq!(Occupant::of(occupant.word()), occupant);
        }
        for word in [
            4,
            1 << 3 | RECEIVES,
            1 << 14 | ON_ITS_WAY,
            1 << 32 | ON_ITS_WAY,
        ] {
            assert_eq!(Occupant::of(word), Occupant::None);
        }
    }

    #[test]
    fn an_end_that_comes_back_is_another_one_than_that_which_was_sent() {
        let word = AtomicU64::new(NONE);
        // Of one process, which has one place for all channels of an arena.
        let (sent, back) = (Role::new(3, 1, 7), Role::new(3, 1, 8 + SERIALS));
        let is_of_process = |word: &AtomicU64| {
            let occupant = Occupant::of(word.load(Ordering::SeqCst));
            matches!(occupant, Occupant::Receives(3, 1) | Occupant::Sent(3, 1))
        };
        sent.begin(&word);
        assert!(sent.lend(&word));
        assert!(back.occupy(&word, |_, _| true, 64));
        assert!(is_of_process(&word));
        assert!(back.lend(&word));
        assert!(is_of_process(&word));
        // Only now this process hears that the first message was read.
        assert!(!sent.take_back(&word));
        sent.leave(&word, NONE);
        assert!(is_of_process(&word));
        assert!(back.take_back(&word));
        back.leave(&word, NONE);
        assert_eq!(word.load(Ordering::SeqCst), NONE);
    }

    #[test]
    fn an_end_that_was_sent_is_received_by_who_reads_it_or_comes_back() {
        let word = AtomicU64::new(NONE);
        let (here, there) = (Role::new(3, 1, 0), Role::new(4, 1, 0));
        let all_live = |_, _| true;
        here.begin(&word);
        assert!(!there.occupy(&word, all_live, 64));
        assert!(here.lend(&word));
        assert!(!here.lend(&word), "it is lent once");
        // It is not sent.
        assert!(here.take_back(&word));
        assert_eq!(
            Occupant::of(word.load(Ordering::SeqCst)),
            Occupant::Receives(3, 1)
        );
        // It is, and the message is dropped there.
        assert!(here.lend(&word));
        here.leave(&word, NONE);
        assert_eq!(
            Occupant::of(word.load(Ordering::SeqCst)),
            Occupant::Sent(3, 1)
        );
        assert!(here.take_back(&word));
        assert_eq!(word.load(Ordering::SeqCst), NONE);
        // It is read there.
        here.begin(&word);
        assert!(here.lend(&word));
        here.leave(&word, NONE);
        assert!(there.occupy(&word, all_live, 64));
        assert!(!here.take_back(&word));
        assert_eq!(
            Occupant::of(word.load(Ordering::SeqCst)),
            Occupant::Receives(4, 1)
        );
    }
}

#[cfg(all(test, tamtam_loom))]
mod loom_models {
    use super::*;
    use tamtam_wait::seam::thread;

    struct Model {
        word: AtomicU64,
        here: Role,
        there: Role,
    }

    fn lent() -> loom::sync::Arc<Model> {
        let model = Model {
            word: AtomicU64::new(NONE),
            here: Role::new(0, 0, 0),
            there: Role::new(1, 0, 0),
        };
        model.here.begin(&model.word);
        assert!(model.here.lend(&model.word));
        loom::sync::Arc::new(model)
    }

    #[test]
    fn loom_no_process_receives_when_the_end_and_what_was_lent_of_it_are_gone() {
        loom::model(|| {
            let model = lent();
            let end = loom::sync::Arc::clone(&model);
            let end = thread::spawn(move || end.here.leave(&end.word, NONE));
            model.here.take_back(&model.word);
            end.join().unwrap();
            assert_eq!(model.word.load(Ordering::SeqCst), NONE);
        });
    }

    #[test]
    fn loom_who_reads_the_message_receives_whenever_the_end_goes() {
        loom::model(|| {
            let model = lent();
            let end = loom::sync::Arc::clone(&model);
            let end = thread::spawn(move || end.here.leave(&end.word, NONE));
            // The other process reads it, and says so.
            let reader = loom::sync::Arc::clone(&model);
            let reader = thread::spawn(move || {
                assert!(reader.there.occupy(&reader.word, |_, _| true, 64));
                assert!(!reader.here.take_back(&reader.word));
            });
            end.join().unwrap();
            reader.join().unwrap();
            let occupant = Occupant::of(model.word.load(Ordering::SeqCst));
            assert_eq!(occupant, Occupant::Receives(1, 0));
        });
    }
}
