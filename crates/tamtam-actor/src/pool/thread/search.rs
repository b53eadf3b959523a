//! Where a thread of a pool finds its next task.

use super::*;

impl Shared {
    /// What to do next, if anything is due.
    #[inline]
    pub(super) fn find(&self, desk: &Desk, ring: usize, round: &mut ThreadRound) -> Option<Task> {
        if desk.pace.has_note.load(Ordering::Relaxed)
            && let Some(task) = self.see_to_note(desk, ring, round)
        {
            return Some(task);
        }
        // SAFETY: this thread owns the desk: it works for this pool under this number.
        let next = unsafe { desk.next.take() };
        if round.streak < LONGEST_STREAK {
            if next.is_some() {
                round.streak += 1;
                return next;
            }
            // SAFETY: this thread owns the desk, and with it the desk's ring.
            if let Some(task) = unsafe { desk.ring.pop() } {
                round.streak += STREAK_OF_RING;
                return Some(task);
            }
        }
        round.streak = 0;
        // All others get their turn, too.
        if let Some(next) = next {
            self.append(desk, next);
        }
        self.enter(ring)
            // SAFETY: this thread owns the desk, and with it the desk's ring.
            .or_else(|| unsafe { desk.ring.pop() })
    }

    /// What a thread does before its next turn if there is a note: it may find that turn.
    #[inline(never)]
    fn see_to_note(&self, desk: &Desk, ring: usize, round: &mut ThreadRound) -> Option<Task> {
        let is_more_due = || {
            desk.next.is_full()
                || desk.ring.len() != 0
                || self.injector.length.load(Ordering::Relaxed) != 0
                || self.injector.inject_slot.is_full()
        };
        let was_more_due = is_more_due();
        let is_unflushed = Unflushed::flush_when_through(was_more_due);
        desk.pace.has_note.store(is_unflushed, Ordering::Relaxed);
        if !was_more_due {
            Unflushed::read_answers(|| !is_more_due());
        }
        if desk.pace.was_long.load(Ordering::Relaxed) {
            desk.pace.was_long.store(false, Ordering::Relaxed);
            self.note_long(ring, round);
        }
        if !desk.pace.was_away.load(Ordering::Relaxed) {
            return None;
        }
        desk.pace.was_away.store(false, Ordering::Relaxed);
        let has_queue = self.injector.length.load(Ordering::Relaxed) != 0;
        has_queue.then(|| self.enter_from_queue(ring)).flatten()
    }

    pub(super) fn note_long(&self, ring: usize, round: &mut ThreadRound) {
        round.long += 1;
        if round.long < MOST_LONG {
            return;
        }
        round.long = 0;
        self.look_after_others(ring, round);
        if let Some(task) = self.enter(ring) {
            self.append(self.desk(ring), task);
        }
    }

    /// The desk of a thread, if there is or was one.
    #[inline]
    pub(super) fn used_desk(&self, ring: usize) -> Option<&Desk> {
        match self.desks.get(ring) {
            Some(desk) => Some(desk),
            // One that is being made has nothing on it.
            None => self.spare_desks[ring - self.threads]
                .get()
                .map(|desk| &**desk),
        }
    }

    /// So many desks are in use, or were.
    pub(super) fn count_desks(&self) -> usize {
        self.used.load(Ordering::SeqCst)
    }

    /// All desks that are in use, or were, each with its thread's ring.
    pub(super) fn used_desks(&self) -> impl Iterator<Item = (usize, &Desk)> {
        (0..self.count_desks()).filter_map(|ring| Some((ring, self.used_desk(ring)?)))
    }

    /// Takes over from a thread that has been at one turn for long. Where all have something to do, no other thread would;
    /// and a thread may be kept by its turn, or not have a core at all.
    #[cold]
    pub(super) fn look_after_others(&self, ring: usize, round: &mut ThreadRound) {
        self.look_after_timers();
        if cfg!(tamtam_loom) || self.count_desks() < 2 {
            return;
        }
        let now = Instant::now();
        if (round.looked_after_others).is_some_and(|looked| now - looked < LOOK_AFTER_OTHERS) {
            return;
        }
        round.looked_after_others = Some(now);
        for (place, desk) in self.used_desks() {
            if round.seen.len() <= place {
                // As if it had had another turn since.
                round.seen.resize(place + 1, usize::MAX);
            }
            let turns = desk.pace.turns.load(Ordering::Relaxed);
            let is_stuck = core::mem::replace(&mut round.seen[place], turns) == turns;
            if !is_stuck || place == ring {
                continue;
            }
            // SAFETY: this thread owns its ring.
            let stolen = unsafe { desk.ring.steal_into(&self.desk(ring).ring) };
            let next = desk.next.is_full().then(|| desk.next.steal()).flatten();
            for task in stolen.into_iter().chain(next) {
                self.append(self.desk(ring), task);
            }
        }
    }

    #[inline(never)]
    pub(super) fn steal(&self, ring: usize) -> Option<Task> {
        let count = self.count_desks();
        let own = self.desk(ring);
        (1..count)
            .filter_map(|distance| self.used_desk((ring + distance) % count))
            // SAFETY: this thread owns its ring, which is empty.
            .find_map(|victim| unsafe { victim.ring.steal_into(&own.ring) })
            .inspect(|_| own.pace.counts.steals.add_one())
    }

    /// Takes what another thread would do next, if that has been at one turn since it was seen last.
    pub(super) fn steal_next(&self, ring: usize, seen: &mut Vec<usize>) -> Option<Task> {
        let mut stolen = None;
        for (place, desk) in self.used_desks() {
            if seen.len() <= place {
                seen.resize(place + 1, 0);
            }
            let turns = desk.pace.turns.load(Ordering::Relaxed);
            let is_long = core::mem::replace(&mut seen[place], turns) == turns;
            if is_long && place != ring && stolen.is_none() && desk.next.is_full() {
                stolen = desk.next.steal();
            }
        }
        stolen.inspect(|_| self.desk(ring).pace.counts.steals.add_one())
    }

    /// Whether anything is due anywhere. Sequentially consistent.
    pub(super) fn has_tasks(&self) -> bool {
        seam::model_fence();
        self.injector.inject_slot.is_full()
            || self.injector.length.load(Ordering::SeqCst) != 0
            || self.has_ring()
    }

    /// As that, or whether anything is on its way into the inject slot, or out of it to a thread that is not counted as busy yet.
    /// Sequentially consistent. A thread that would sleep does not ask this: what is on its way may take long.
    pub(super) fn has_tasks_or_will(&self) -> bool {
        self.has_tasks() || !self.injector.inject_slot.is_free()
    }

    /// Whether anything is due in a ring. Sequentially consistent.
    pub(super) fn has_ring(&self) -> bool {
        self.used_desks().any(|(_, desk)| desk.ring.len() != 0)
    }

    /// As `enter`, for a thread that is not busy.
    #[inline]
    pub(super) fn enter_as_busy(&self, ring: usize) -> Option<Task> {
        // It counts itself as busy when it has claimed the item: the one that has brought it waits for no more than that.
        let task = self.injector.inject_slot.take_after(|| self.busy.begin());
        if task.is_some() {
            self.desk(ring).pace.counts.entered.add_one();
            return task;
        }
        let has_queue = self.injector.length.load(Ordering::Relaxed) != 0;
        has_queue
            .then(|| self.take_as_busy(|| self.enter(ring)))
            .flatten()
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    /// A thread that is looked at twice within a turn is not stuck at it: between two looks there is some time.
    #[test]
    fn others_are_looked_after_now_and_then() {
        let shared = Shared::new(2, String::new(), None);
        let mut round = ThreadRound::default();
        shared.look_after_others(0, &mut round);
        assert!(round.looked_after_others.is_some());
        assert_eq!(round.seen.len(), 2);
        let now = Instant::now();
        let later = now.checked_add(Duration::from_secs(3600));
        round.looked_after_others = later;
        shared.look_after_others(0, &mut round);
        assert_eq!(round.looked_after_others, later, "it was looked just now");
        let before = now.checked_sub(LOOK_AFTER_OTHERS);
        round.looked_after_others = before;
        shared.look_after_others(0, &mut round);
        assert!(round.looked_after_others >= Some(now));
    }
}
