//! Where a thread of a pool finds its next task.

use std::time::{Duration, Instant};

use tamtam_wait::seam;
use tamtam_wait::seam::atomic::Ordering;

use super::Shared;
use super::desk::Desk;
use crate::task::{Task, Unflushed};

/// So many turns in a row a thread does what it has made due last. Then it looks at the injector, and at what
/// has been due for long.
const LONGEST_STREAK: u32 = 128;
/// A turn of something that has been due for long counts as so many: the injector is looked at after 64.
const STREAK_OF_RING: u32 = 2;
/// After so many turns that had to end before all was done, each of which may have lasted 50 µs, a thread looks at the
/// injector, too.
const MOST_LONG: u32 = 4;
/// How often a thread that always has something to do looks whether another one is stuck.
const LOOK_AFTER_OTHERS: Duration = Duration::from_micros(200);

/// What a thread has done since it has looked around.
#[derive(Default)]
pub(super) struct ThreadRound {
    /// Turns in a row of what it had made due itself.
    streak: u32,
    /// Turns that were to be followed by another one.
    long: u32,
    looked_after_others: Option<Instant>,
    /// How many turns the others had had then.
    seen: Vec<usize>,
}

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
        let is_more_due =
            || desk.next.is_full() || desk.ring.len() != 0 || self.injector.seems_due();
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
        let has_queue = self.injector.has_queue();
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
            self.append(self.desks.at(ring), task);
        }
    }

    /// Takes over from a thread that has been at one turn for long. Where all have something to do, no other thread would;
    /// and a thread may be kept by its turn, or not have a core at all.
    #[cold]
    pub(super) fn look_after_others(&self, ring: usize, round: &mut ThreadRound) {
        self.look_after_timers();
        if cfg!(tamtam_loom) || self.desks.count_used() < 2 {
            return;
        }
        let now = Instant::now();
        if (round.looked_after_others).is_some_and(|looked| now - looked < LOOK_AFTER_OTHERS) {
            return;
        }
        round.looked_after_others = Some(now);
        for (place, desk) in self.desks.used() {
            if round.seen.len() <= place {
                // As if it had had another turn since.
                round.seen.resize(place + 1, usize::MAX);
            }
            let turns = desk.turns();
            let is_stuck = core::mem::replace(&mut round.seen[place], turns) == turns;
            if !is_stuck || place == ring {
                continue;
            }
            // SAFETY: this thread owns its ring.
            let stolen = unsafe { desk.ring.steal_into(&self.desks.at(ring).ring) };
            let next = desk.next.is_full().then(|| desk.next.steal()).flatten();
            for task in stolen.into_iter().chain(next) {
                self.append(self.desks.at(ring), task);
            }
        }
    }

    #[inline(never)]
    pub(super) fn steal(&self, ring: usize) -> Option<Task> {
        let count = self.desks.count_used();
        let own = self.desks.at(ring);
        (1..count)
            .filter_map(|distance| self.desks.used_at((ring + distance) % count))
            // SAFETY: this thread owns its ring, which is empty.
            .find_map(|victim| unsafe { victim.ring.steal_into(&own.ring) })
            .inspect(|_| own.pace.counts.steals.add_one())
    }

    /// Takes what another thread would do next, if that has been at one turn since it was seen last.
    pub(super) fn steal_next(&self, ring: usize, seen: &mut Vec<usize>) -> Option<Task> {
        let mut stolen = None;
        for (place, desk) in self.desks.used() {
            if seen.len() <= place {
                seen.resize(place + 1, 0);
            }
            let turns = desk.turns();
            let is_long = core::mem::replace(&mut seen[place], turns) == turns;
            if is_long && place != ring && stolen.is_none() && desk.next.is_full() {
                stolen = desk.next.steal();
            }
        }
        stolen.inspect(|_| self.desks.at(ring).pace.counts.steals.add_one())
    }

    /// Whether anything is due anywhere. Sequentially consistent.
    pub(super) fn has_tasks(&self) -> bool {
        seam::model_fence();
        self.injector.is_due() || self.desks.has_ring()
    }

    /// As that, or whether anything is on its way into the inject slot, or out of it to a thread that is not counted as busy yet.
    /// Sequentially consistent. A thread that would sleep does not ask this: what is on its way may take long.
    pub(super) fn has_tasks_or_will(&self) -> bool {
        self.has_tasks() || !self.injector.is_slot_free()
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
