//! Homes with one thread, as one sees them who observes.

use core::time::Duration;
use std::sync::{Arc, Weak};

use super::{HomeKind, HomeSnapshot, Ledger, Observe, Watched, watch};
use crate::worker::WorkerBuilder;

/// A worker or a frame that is observed; others are not seen. Whoever has the home has this, so it goes with it.
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
        let watched: Weak<dyn Watched> = Arc::downgrade(&shown) as _;
        watch(watched);
        Some(shown)
    }
}

impl Watched for Shown {
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

impl WorkerBuilder {
    /// Whether to count what each actor does, and to show this worker to [`observe::snapshot`](super::snapshot()): see
    /// [`observe`](crate::observe).
    ///
    /// If it is not said, it is as [`observe_all`](super::observe_all) has it: by default, no.
    pub fn observe(mut self, actors: bool) -> Self {
        self.observe.actors = Some(actors);
        self
    }

    /// From which time on a turn of an observed actor is long: it is counted, and told of with the feature `tracing`.
    /// By default, 10 ms.
    pub fn long_turn(mut self, time: Duration) -> Self {
        self.observe.long_turn = time;
        self
    }
}
