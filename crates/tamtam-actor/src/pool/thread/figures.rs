//! What a pool shows to those who look at it.

use std::sync::Arc;

use super::Shared;
use super::desk::Desk;
use crate::observe::{HomeKind, HomeSnapshot, Ledger, WatchedHome};

impl WatchedHome for Shared {
    fn look(&self) -> HomeSnapshot {
        let sum = |of: &dyn Fn(&Desk) -> u64| self.desks.made().map(of).sum();
        let (stand_ins, blocked) = {
            let people = self.people.lock();
            (people.stand_ins, people.blocked)
        };
        // A thread that is blocked counts as busy.
        let idle_threads =
            (self.threads + stand_ins).saturating_sub(self.busy.count().max(blocked));
        HomeSnapshot {
            kind: HomeKind::Pool,
            name: self.name.clone(),
            threads: self.threads,
            stand_ins,
            blocking_threads: self.blocking.threads(),
            left_behind: self.blocking.left_behind(),
            idle_threads,
            due: self.injector.len() + self.desks.used().map(|(_, desk)| desk.due()).sum::<usize>(),
            turns: sum(&|desk| desk.turns() as u64),
            steals: sum(&|desk| desk.pace.counts.steals.get()),
            sleeps: sum(&|desk| desk.pace.counts.sleeps.get()),
            entered: sum(&|desk| desk.pace.counts.entered.get()),
            blocking_asks: self.blocking_asks() as u64,
            actors: self.ledger.as_ref().map(|ledger| ledger.sums().into()),
        }
    }

    fn has_closed(&self) -> bool {
        self.injector.is_closed()
    }

    fn ledger(&self) -> Option<&Arc<Ledger>> {
        self.ledger.as_ref()
    }
}
