//! What is counted of one actor.

use core::fmt;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, OnceLock};

use super::ledger::Ledger;
use super::{clock, told};
use crate::id::ActorId;

/// What is counted of one actor, if its home is observed.
///
/// None of it orders anything but itself, so its atomics are not those of the seam. What senders change comes first, and what
/// the thread changes that runs the actor comes last, at least 64 bytes behind it.
#[repr(C)]
pub(crate) struct Record {
    /// Messages that came into the mailbox, less those that others pushed out of it.
    put: AtomicU64,
    lost: AtomicU64,
    id: ActorId,
    type_name: OnceLock<&'static str>,
    name: OnceLock<Arc<str>>,
    message_type: &'static str,
    /// It has its turns on a thread for handlers that may block.
    may_block: bool,
    ledger: Arc<Ledger>,
    /// Messages that were taken out of the mailbox.
    taken: AtomicU64,
    most_queued: AtomicU64,
    turns: AtomicU64,
    turn_nanos: AtomicU64,
    longest_nanos: AtomicU64,
    restarts: AtomicU64,
    /// When the turn began that it is at; 0 if it is at none.
    turn_began: AtomicU64,
}

/// The figures of a record at one time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) handled: u64,
    pub(crate) queued: u64,
    pub(crate) most_queued: u64,
    pub(crate) lost: u64,
    pub(crate) turns: u64,
    pub(crate) turn_nanos: u64,
    pub(crate) longest_nanos: u64,
    pub(crate) restarts: u64,
    pub(crate) turn_began: u64,
}

impl Figures {
    /// How long the turn has lasted that it is at, in nanoseconds; 0 if it is at none.
    pub(crate) fn at_work(&self) -> u64 {
        match self.turn_began {
            0 => 0,
            // One that has just begun is at work, too.
            began => clock::now().saturating_sub(began).max(1),
        }
    }
}

/// Only one thread changes it.
fn add(count: &AtomicU64, more: u64) {
    count.store(count.load(Relaxed).wrapping_add(more), Relaxed);
}

fn raise(most: &AtomicU64, to: u64) {
    if to > most.load(Relaxed) {
        most.store(to, Relaxed);
    }
}

/// A turn of an observed actor, which is measured.
pub(crate) struct MeasuredTurn<'a>(&'a Record);

impl Drop for MeasuredTurn<'_> {
    fn drop(&mut self) {
        let long = self.0.end_turn();
        self.0.tell_of_long_turn(long);
    }
}

impl Record {
    pub(crate) fn new(
        id: ActorId,
        message_type: &'static str,
        ledger: &Arc<Ledger>,
        may_block: bool,
    ) -> Arc<Self> {
        let zero = || AtomicU64::new(0);
        Arc::new(Record {
            put: zero(),
            lost: zero(),
            id,
            type_name: OnceLock::new(),
            name: OnceLock::new(),
            message_type,
            may_block,
            ledger: Arc::clone(ledger),
            taken: zero(),
            most_queued: zero(),
            turns: zero(),
            turn_nanos: zero(),
            longest_nanos: zero(),
            restarts: zero(),
            turn_began: zero(),
        })
    }

    /// The actor is born: from now on those who observe see it.
    pub(crate) fn begin(self: &Arc<Self>, type_name: &'static str) {
        // No other thread sets it.
        let _ = self.type_name.set(type_name);
        self.ledger.add(self);
    }

    /// The actor has ended: what it has done stays in the sums of its home.
    pub(crate) fn end(&self) {
        self.ledger.remove(self);
    }

    // Any thread.

    /// A message has come into the mailbox.
    pub(crate) fn count_put(&self) {
        self.put.fetch_add(1, Relaxed);
    }

    /// A message that has come into the mailbox has gone back to who sent it.
    pub(crate) fn count_taken_back(&self) {
        self.put.fetch_sub(1, Relaxed);
    }

    /// A message was lost.
    pub(crate) fn count_lost(&self) {
        self.lost.fetch_add(1, Relaxed);
        self.ledger.count_lost();
    }

    pub(crate) fn id(&self) -> ActorId {
        self.id
    }

    pub(crate) fn set_name(&self, name: Arc<str>) {
        // No other thread sets it.
        let _ = self.name.set(name);
    }

    pub(crate) fn name(&self) -> Option<&Arc<str>> {
        self.name.get()
    }

    pub(crate) fn type_name(&self) -> &'static str {
        self.type_name.get().copied().unwrap_or_default()
    }

    pub(crate) fn message_type(&self) -> &'static str {
        self.message_type
    }

    pub(crate) fn may_block(&self) -> bool {
        self.may_block
    }

    pub(crate) fn ledger(&self) -> &Arc<Ledger> {
        &self.ledger
    }

    pub(crate) fn figures(&self) -> Figures {
        // SYNC turn-counted: who sees that the actor is at no turn sees the last one counted.
        let turn_began = self.turn_began.load(Acquire);
        // SYNC turn-time: who sees the longest turn sees it in the sum, too.
        let longest_nanos = self.longest_nanos.load(Acquire);
        // What is taken is read first: it grows by what was put before.
        let handled = self.taken.load(Relaxed);
        let queued = self.put.load(Relaxed).saturating_sub(handled);
        Figures {
            handled,
            queued,
            most_queued: self.most_queued.load(Relaxed).max(queued),
            lost: self.lost.load(Relaxed),
            turns: self.turns.load(Relaxed),
            turn_nanos: self.turn_nanos.load(Relaxed),
            longest_nanos,
            restarts: self.restarts.load(Relaxed),
            turn_began,
        }
    }

    // The actor's turn.

    /// A message is about to be handled.
    pub(crate) fn count_taken(&self) {
        add(&self.taken, 1);
    }

    /// Another instance is begun.
    pub(crate) fn count_restart(&self) {
        add(&self.restarts, 1);
    }

    /// Measures a turn until what is returned is dropped, also by a panic.
    pub(crate) fn measure(&self) -> MeasuredTurn<'_> {
        self.begin_turn();
        MeasuredTurn(self)
    }

    pub(crate) fn begin_turn(&self) {
        self.note_queue();
        self.turn_began.store(clock::now(), Relaxed);
    }

    fn note_queue(&self) {
        let queued = self
            .put
            .load(Relaxed)
            .saturating_sub(self.taken.load(Relaxed));
        raise(&self.most_queued, queued);
    }

    /// How many nanoseconds the turn has lasted, if it was a long one: to be told under no lock.
    pub(crate) fn end_turn(&self) -> Option<u64> {
        let began = self.turn_began.load(Relaxed);
        let nanos = clock::now().saturating_sub(began);
        add(&self.turns, 1);
        add(&self.turn_nanos, nanos);
        if nanos > self.longest_nanos.load(Relaxed) {
            // SYNC turn-time
            self.longest_nanos.store(nanos, Release);
        }
        self.note_queue();
        // SYNC turn-counted
        self.turn_began.store(0, Release);
        let is_long = nanos >= self.ledger.long_turn();
        is_long.then(|| {
            self.ledger.count_long_turn();
            nanos
        })
    }

    /// Tells of a turn that was long.
    pub(crate) fn tell_of_long_turn(&self, nanos: Option<u64>) {
        if let Some(nanos) = nanos {
            told::long_turn(self, nanos);
        }
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record")
            .field("id", &self.id)
            .field("type_name", &self.type_name())
            .field("figures", &self.figures())
            .finish_non_exhaustive()
    }
}
