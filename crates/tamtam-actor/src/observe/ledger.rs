//! What is counted of the actors of one home.

use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::record::Record;
use super::{Observe, clock};
use crate::id::{ActorId, ActorTable};

/// The records lie on so many shelves, so that births and ends on several threads seldom meet.
const SHELVES: usize = 16;

/// The records of all actors of an observed home, and the sums of those that have ended.
pub(crate) struct Ledger {
    home: String,
    /// Nanoseconds.
    long_turn: u64,
    lost: AtomicU64,
    long_turns: AtomicU64,
    shelves: [Mutex<RecordShelf>; SHELVES],
}

#[derive(Default)]
struct RecordShelf {
    living: ActorTable<Arc<Record>>,
    /// Of those that have ended.
    past: Sums,
    born: u64,
}

/// What all actors of a home have done together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) born: u64,
    pub(crate) living: u64,
    pub(crate) handled: u64,
    pub(crate) queued: u64,
    pub(crate) turns: u64,
    /// Actors that are at a turn, without those that may block.
    pub(crate) at_work: u64,
    /// Those of them whose turn is long already.
    pub(crate) in_long_turn: u64,
    pub(crate) lost: u64,
    pub(crate) turn_nanos: u64,
    pub(crate) restarts: u64,
    pub(crate) long_turns: u64,
}

impl Ledger {
    pub(crate) fn new(home: &str, observe: Observe) -> Arc<Self> {
        Arc::new(Ledger {
            home: home.to_owned(),
            long_turn: clock::nanos(observe.long_turn),
            lost: AtomicU64::new(0),
            long_turns: AtomicU64::new(0),
            shelves: Default::default(),
        })
    }

    /// The name of the home.
    pub(crate) fn home(&self) -> &str {
        &self.home
    }

    pub(super) fn long_turn(&self) -> u64 {
        self.long_turn
    }

    pub(super) fn count_lost(&self) {
        self.lost.fetch_add(1, Relaxed);
    }

    pub(super) fn count_long_turn(&self) {
        self.long_turns.fetch_add(1, Relaxed);
    }

    fn shelf(&self, id: ActorId) -> MutexGuard<'_, RecordShelf> {
        // Nothing panics while it is locked.
        let place = (id.get() % SHELVES as u64) as usize;
        self.shelves[place]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, record: &Arc<Record>) {
        let mut shelf = self.shelf(record.id());
        shelf.born += 1;
        shelf.living.insert(record.id(), Arc::clone(record));
    }

    /// An actor has ended: what it has done stays in the sums.
    pub(crate) fn remove(&self, record: &Record) {
        let mut shelf = self.shelf(record.id());
        let gone = shelf.living.take(record.id());
        if gone.is_some() {
            let figures = record.figures();
            shelf.past.handled += figures.handled;
            shelf.past.turns += figures.turns;
            shelf.past.turn_nanos += figures.turn_nanos;
            shelf.past.restarts += figures.restarts;
        }
        drop(shelf);
        drop(gone);
    }

    /// Shows all records, under the lock of a shelf each: `look` is ours, and quick.
    pub(crate) fn visit(&self, mut look: impl FnMut(&Arc<Record>)) {
        for shelf in &self.shelves {
            let shelf = shelf.lock().unwrap_or_else(PoisonError::into_inner);
            shelf.living.values().for_each(&mut look);
        }
    }

    pub(crate) fn sums(&self) -> Sums {
        let mut sums = Sums {
            lost: self.lost.load(Relaxed),
            long_turns: self.long_turns.load(Relaxed),
            ..Sums::default()
        };
        let now = clock::now();
        for shelf in &self.shelves {
            let shelf = shelf.lock().unwrap_or_else(PoisonError::into_inner);
            sums.born += shelf.born;
            sums.living += shelf.living.len() as u64;
            sums.handled += shelf.past.handled;
            sums.turns += shelf.past.turns;
            sums.turn_nanos += shelf.past.turn_nanos;
            sums.restarts += shelf.past.restarts;
            for record in shelf.living.values() {
                let figures = record.figures();
                sums.handled += figures.handled;
                sums.queued += figures.queued;
                sums.turns += figures.turns;
                if figures.turn_began != 0 && !record.may_block() {
                    sums.at_work += 1;
                    let lasts = now.saturating_sub(figures.turn_began);
                    sums.in_long_turn += u64::from(lasts >= self.long_turn);
                }
                sums.turn_nanos += figures.turn_nanos;
                sums.restarts += figures.restarts;
            }
        }
        sums
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger")
            .field("home", &self.home)
            .finish_non_exhaustive()
    }
}
