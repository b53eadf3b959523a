//! Where a thread of a pool finds its next task, and how it sleeps.

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

    /// Rings timers that are due, if there is no other thread for that. What they make due comes in as from outside.
    fn look_after_timers(&self) -> Option<Instant> {
        let seat = SEAT.replace(ThreadSeat::NONE);
        let look = vigil::attend();
        SEAT.set(seat);
        look.until
    }

    /// Waits for something to do; `None` if the pool is at its end.
    #[inline(never)]
    pub(super) fn wait(&self, ring: usize, stealer: &mut Stealer) -> Option<Task> {
        self.rest();
        stealer.learn(self.desk(ring).pace.turns.load(Ordering::Relaxed));
        let mut nap = FIRST_NAP;
        let mut seen = Vec::new();
        // Who was called to look at those who work will soon be called again, so it goes on for a while.
        let mut was_called = false;
        let naps = core::cell::Cell::new(false);
        let end_nap = || {
            if naps.replace(false) {
                self.napping.fetch_sub(1, Ordering::SeqCst);
            }
        };
        loop {
            if self.busy.count() != 0 {
                if !naps.replace(true) {
                    self.napping.fetch_add(1, Ordering::SeqCst);
                }
            } else if nap == LONGEST_NAP || !was_called {
                end_nap();
            }
            // In a model it has to be a wake-up that brings a thread to its work.
            let deadline = (naps.get() && !cfg!(tamtam_loom)).then(|| Instant::now() + nap);
            let calls = vigil::calls();
            let deadline = match self.look_after_timers() {
                Some(until) => Some(deadline.map_or(until, |deadline| deadline.min(until))),
                None => deadline,
            };
            let is_called = || vigil::calls() != calls;
            nap = (nap * 2).min(LONGEST_NAP);
            // A thread works, and none would look whether that takes long.
            let is_missed = || {
                !naps.get() && self.busy.count() != 0 && self.napping.load(Ordering::SeqCst) == 0
            };
            let attempt = |thorough: bool| {
                let task = self.enter_as_busy(ring).or_else(|| {
                    // Between looks at the injector; these take cache lines from those who work.
                    let may_steal = thorough && stealer.may_steal() && self.has_ring();
                    may_steal
                        .then(|| self.take_as_busy(|| self.steal(ring)))
                        .flatten()
                });
                match task {
                    Some(task) => Some(FoundTurn::Task(task)),
                    None if self.is_over() => Some(FoundTurn::End),
                    None if is_missed() => {
                        // Counted at once, so that not all who sleep come for this.
                        naps.set(true);
                        self.napping.fetch_add(1, Ordering::SeqCst);
                        Some(FoundTurn::Call)
                    }
                    None if is_called() => Some(FoundTurn::Call),
                    None => {
                        // What was due when the last turn ended, another thread has taken.
                        Unflushed::flush_all();
                        None
                    }
                }
            };
            let watches = self.injector.watched.swap(LOOKING, Ordering::SeqCst) != LOOKING;
            let wait = if watches { Wait::Adaptive } else { Wait::Park };
            let ready = || {
                self.desk(ring).pace.counts.sleeps.add_one();
                if watches {
                    // About to sleep. A thread that still sees that this one looks has made something due before
                    // this, which is seen now.
                    self.injector.watched.store(NOT_LOOKING, Ordering::SeqCst);
                }
                self.has_tasks() || self.is_over() || is_missed() || is_called()
            };
            #[cfg(not(all(target_family = "wasm", not(target_feature = "atomics"))))]
            let found = self.idle.wait_until(wait, deadline, attempt, ready);
            // No thread of a pool starts there: `PoolBuilder::build` says so.
            #[cfg(all(target_family = "wasm", not(target_feature = "atomics")))]
            let found = {
                let _ = (wait, deadline, ready);
                let mut attempt = attempt;
                attempt(true)
            };
            if watches {
                let next = match found {
                    Some(FoundTurn::Task(_)) => BACK_SOON,
                    _ => NOT_LOOKING,
                };
                self.injector.watched.store(next, Ordering::SeqCst);
            }
            let task = match found {
                Some(FoundTurn::Task(task)) => {
                    stealer.note(self.desk(ring).pace.turns.load(Ordering::Relaxed));
                    task
                }
                None => match self.take_as_busy(|| self.steal_next(ring, &mut seen)) {
                    Some(task) => task,
                    None => continue,
                },
                Some(FoundTurn::Call) => {
                    was_called = true;
                    nap = FIRST_NAP;
                    continue;
                }
                Some(FoundTurn::End) => {
                    end_nap();
                    // The others may be waiting for just this.
                    self.idle.notify_all();
                    return None;
                }
            };
            end_nap();
            if watches && self.has_tasks() {
                // More came while this thread looked, and none was woken for it.
                self.idle.notify_one();
            }
            return Some(task);
        }
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
    fn has_ring(&self) -> bool {
        self.used_desks().any(|(_, desk)| desk.ring.len() != 0)
    }

    /// As `enter`, for a thread that is not busy.
    #[inline]
    fn enter_as_busy(&self, ring: usize) -> Option<Task> {
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
