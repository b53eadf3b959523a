//! Homes with one thread, as one sees them who observes.

use std::sync::{Arc, Weak};

use super::{HomeKind, HomeSnapshot, Ledger, Observe, WatchedHome, watch};

/// A worker or a frame that is observed; others are not seen. The home has this, so it goes with it.
#[derive(Debug)]
pub(crate) struct Shown {
    kind: HomeKind,
    ledger: Arc<Ledger>,
}

impl Shown {
    /// `None` if what is done there is not observed.
    pub(crate) fn new(kind: HomeKind, name: &str, observe: Observe) -> Option<Arc<Self>> {
        let ledger = observe.ledger(name)?;
        let shown = Arc::new(Shown { kind, ledger });
        let watched: Weak<dyn WatchedHome> = Arc::downgrade(&shown) as _;
        watch(watched);
        Some(shown)
    }
}

impl WatchedHome for Shown {
    fn look(&self) -> HomeSnapshot {
        HomeSnapshot::by_actors(self.kind, self.ledger.home(), 1, Some(&self.ledger))
    }

    fn has_closed(&self) -> bool {
        false
    }

    fn ledger(&self) -> Option<&Arc<Ledger>> {
        Some(&self.ledger)
    }
}
