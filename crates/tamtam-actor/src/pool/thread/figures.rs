//! What a pool shows to those who look at it.

use super::*;

impl WatchedHome for Shared {
    fn look(&self) -> HomeSnapshot {
        let sum = |of: &dyn Fn(&Desk) -> u64| self.used_desks().map(|(_, desk)| of(desk)).sum();
        let (stand_ins, blocked) = {
            let people = self.people.lock();
            (people.stand_ins, people.blocked)
        };
        // A thread that is blocked counts as busy.
        let idle_threads =
            (self.threads + stand_ins).saturating_sub(self.busy.count().max(blocked));
        let due = |desk: &Desk| desk.ring.len() + usize::from(desk.next.is_full());
        HomeSnapshot {
            kind: HomeKind::Pool,
            name: self.name.clone(),
            threads: self.threads,
            stand_ins,
            blocking_threads: self.blocking.threads(),
            left_behind: self.blocking.left_behind(),
            idle_threads,
            due: usize::from(self.injector.inject_slot.is_full())
                + self.injector.length.load(Ordering::Relaxed)
                + self.used_desks().map(|(_, desk)| due(desk)).sum::<usize>(),
            turns: sum(&|desk| desk.pace.turns.load(Ordering::Relaxed) as u64),
            steals: sum(&|desk| desk.pace.counts.steals.get()),
            sleeps: sum(&|desk| desk.pace.counts.sleeps.get()),
            entered: sum(&|desk| desk.pace.counts.entered.get()),
            blocking_asks: self.blocking_asks() as u64,
            actors: self.ledger.as_ref().map(|ledger| ledger.sums().into()),
        }
    }

    fn has_closed(&self) -> bool {
        self.injector.closed.load(Ordering::Relaxed)
    }

    fn ledger(&self) -> Option<&Arc<Ledger>> {
        self.ledger.as_ref()
    }
}
