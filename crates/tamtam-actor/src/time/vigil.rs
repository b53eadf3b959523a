//! Timers where the clock has no thread: those that give actors their turns look after them.
//!
//! A process may not get another thread. Then the threads of pools, workers and frames ring what is due themselves, each
//! before it sleeps, and sleep no longer than until the next timer. A thread that sets one that is earlier calls the sleepers.
//! Each look attempts to start the clock's thread again; when there is one, the others look no more.
//!
//! What is looked at while all is well is one word that never changes.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

use super::Time;
use crate::observe::told;

/// Timers are set, and the clock has no thread that would keep them. Changed under the lock of the system's time.
static BY_HOMES: AtomicBool = AtomicBool::new(false);

/// So often an earlier timer was set meanwhile.
static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Those that may sleep while timers are theirs to look after.
static SLEEPERS: Mutex<Vec<Weak<dyn Sleeper>>> = Mutex::new(Vec::new());

/// Where actors have their turns on threads that sleep.
pub(crate) trait Sleeper: Send + Sync {
    /// Has each thread that sleeps look whether there is something new.
    fn call(&self);
}

/// What a look after the timers brought.
pub(crate) struct TimerLook {
    /// When the next one is due, if that is for this thread to see.
    pub(crate) until: Option<Instant>,
    /// Some were due: their actors are.
    pub(crate) has_rung: bool,
}

/// It is called from now on, until it is gone.
pub(crate) fn enlist(sleeper: Weak<dyn Sleeper>) {
    let mut sleepers = SLEEPERS.lock().unwrap_or_else(PoisonError::into_inner);
    if sleepers.len() == sleepers.capacity() {
        sleepers.retain(|sleeper| sleeper.strong_count() != 0);
        let few = sleepers.len().max(8);
        sleepers.reserve(few);
    }
    sleepers.push(sleeper);
}

/// Changes when sleepers are to look again.
#[inline]
pub(crate) fn calls() -> usize {
    CALLS.load(Ordering::SeqCst)
}

/// Rings what is due, if that is left to the threads of actors. They call this before they sleep.
#[inline]
pub(crate) fn attend() -> TimerLook {
    if BY_HOMES.load(Ordering::SeqCst) {
        return Time::shared().look_after();
    }
    TimerLook {
        until: None,
        has_rung: false,
    }
}

pub(super) fn is_by_homes() -> bool {
    BY_HOMES.load(Ordering::SeqCst)
}

/// For the holder of the lock of the system's time.
pub(super) fn by_homes(is_by_homes: bool) {
    BY_HOMES.store(is_by_homes, Ordering::SeqCst);
}

/// A timer was set that no thread keeps, and that is earlier than the others. Not under a lock.
#[cold]
pub(super) fn call() {
    // A thread that sleeps after this sees it before.
    CALLS.fetch_add(1, Ordering::SeqCst);
    let sleepers: Vec<Arc<dyn Sleeper>> = {
        let sleepers = SLEEPERS.lock().unwrap_or_else(PoisonError::into_inner);
        sleepers.iter().filter_map(Weak::upgrade).collect()
    };
    sleepers.iter().for_each(|sleeper| sleeper.call());
    told::clock_without_thread();
}
