//! All homes of this process, for those who observe.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::ledger::Ledger;
use super::snapshot::HomeSnapshot;

/// A home, as one sees it who observes.
pub(crate) trait WatchedHome: Send + Sync {
    fn look(&self) -> HomeSnapshot;
    /// It has no threads any more; only addresses keep it.
    fn has_closed(&self) -> bool;
    fn ledger(&self) -> Option<&Arc<Ledger>>;
}

// Not of the seam: models do not observe.
static WATCHED: Mutex<Homes> = Mutex::new(Homes {
    next: 1,
    all: Vec::new(),
});

struct Homes {
    next: u64,
    /// With a number each, the oldest first.
    all: Vec<(u64, Weak<dyn WatchedHome>)>,
}

/// Shows a home to those who observe, until it is gone.
pub(crate) fn watch(home: Weak<dyn WatchedHome>) {
    let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    watched.all.retain(|(_, home)| home.strong_count() != 0);
    let number = watched.next;
    watched.next += 1;
    watched.all.push((number, home));
}

/// Those that there are, the oldest first; with a number each that no other one has, or has had.
pub(crate) fn all() -> Vec<(u64, Arc<dyn WatchedHome>)> {
    let watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    let homes = watched.all.iter();
    let mut all: Vec<_> = homes
        .filter_map(|(number, home)| Some((*number, home.upgrade()?)))
        .collect();
    // What is dropped from here on may be the last of a home.
    drop(watched);
    all.retain(|(_, home)| !home.has_closed());
    all
}
