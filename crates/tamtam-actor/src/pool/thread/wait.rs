//! How a thread of a pool waits for its next task: what wakes it, and what it looks after meanwhile.

use core::cell::Cell;
use std::time::{Duration, Instant};

use tamtam_wait::Wait;
use tamtam_wait::seam::atomic::Ordering;

use super::Shared;
use super::people::Role;
use super::seat::ThreadSeat;
use crate::pool::stealer::Stealer;
use crate::task::{Task, Unflushed};
use crate::time::vigil;

/// How long a sleeper sleeps at first, and at most, while others work.
const FIRST_NAP: Duration = Duration::from_micros(100);
const LONGEST_NAP: Duration = Duration::from_millis(100);
/// How long a stand-in sleeps without a task until it looks whether it is superfluous.
pub(super) const KEPT_ASLEEP: Duration = if cfg!(tamtam_loom) {
    // A model has no clock.
    Duration::ZERO
} else if cfg!(test) {
    Duration::from_millis(100)
} else {
    Duration::from_secs(5)
};

/// Why a thread has no next task.
pub(super) enum NoTask {
    /// The pool is at its end.
    End,
    /// The thread stood in for another one, and has resigned. It is counted as busy.
    Resigned,
}

/// What a look around brought.
enum FoundTurn {
    Task(Task),
    /// A thread has begun to work.
    Call,
    /// The pool is at its end.
    End,
}

/// How long a thread without work sleeps until it looks again after those that work.
struct Nap<'a> {
    shared: &'a Shared,
    length: Duration,
    /// It was called to look at those that work, and will soon be called again: so it goes on for a while.
    was_called: bool,
    /// It is one of those that will look, as `napping` has it.
    is_counted: Cell<bool>,
}

impl<'a> Nap<'a> {
    fn new(shared: &'a Shared) -> Self {
        Nap {
            shared,
            length: FIRST_NAP,
            was_called: false,
            is_counted: Cell::new(false),
        }
    }

    /// Before a sleep: when it is over, if it is a nap.
    fn begin(&mut self) -> Option<Instant> {
        if self.shared.busy.count() != 0 {
            self.count();
        } else if self.length == LONGEST_NAP || !self.was_called {
            self.end();
        }
        // In a model it has to be a wake-up that brings a thread to its work.
        let is_nap = self.is_counted.get() && !cfg!(tamtam_loom);
        let deadline = is_nap.then(|| Instant::now() + self.length);
        self.length = (self.length * 2).min(LONGEST_NAP);
        deadline
    }

    fn count(&self) {
        if !self.is_counted.replace(true) {
            self.shared.napping.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Whether it was the last one of those that look.
    fn end(&self) -> bool {
        self.is_counted.replace(false) && self.shared.napping.fetch_sub(1, Ordering::SeqCst) == 1
    }

    /// Whether a thread works, and none would look whether that takes long.
    fn is_missed(&self) -> bool {
        !self.is_counted.get()
            && self.shared.busy.count() != 0
            && self.shared.napping.load(Ordering::SeqCst) == 0
    }

    fn note_call(&mut self) {
        self.was_called = true;
        self.length = FIRST_NAP;
    }
}

impl Shared {
    /// Waits for something to do.
    #[inline(never)]
    pub(super) fn wait(
        &self,
        ring: usize,
        role: Role,
        stealer: &mut Stealer,
    ) -> Result<Task, NoTask> {
        self.rest();
        stealer.learn(self.desks.at(ring).turns());
        let mut nap = Nap::new(self);
        let mut seen = Vec::new();
        let mut kept_until = (role != Role::Own).then(|| Instant::now() + KEPT_ASLEEP);
        loop {
            let nap_until = nap.begin();
            let calls = vigil::calls();
            let timers_until = self.look_after_timers();
            let deadlines = [nap_until, timers_until, kept_until];
            let deadline = deadlines.into_iter().flatten().min();
            let watches = self.injector.begin_look();
            let found = self.look_and_sleep(ring, stealer, &nap, calls, watches, deadline);
            if watches {
                match found {
                    Some(FoundTurn::Task(_)) => self.injector.end_look_with_task(),
                    _ => self.injector.end_look(),
                }
            }
            let task = match found {
                Some(FoundTurn::Task(task)) => {
                    stealer.note(self.desks.at(ring).turns());
                    task
                }
                None => match self.take_as_busy(|| self.steal_next(ring, &mut seen)) {
                    Some(task) => task,
                    None if kept_until.is_some_and(|until| until <= Instant::now()) => {
                        self.busy.begin();
                        if self.resign(role) {
                            // Another one looks after those that work. And what has come while this thread looked around, none was woken for.
                            if nap.end() || self.has_tasks() {
                                self.idle.notify_one();
                            }
                            return Err(NoTask::Resigned);
                        }
                        self.rest();
                        kept_until = Some(Instant::now() + KEPT_ASLEEP);
                        continue;
                    }
                    None => continue,
                },
                Some(FoundTurn::Call) => {
                    nap.note_call();
                    continue;
                }
                Some(FoundTurn::End) => {
                    nap.end();
                    // The others may be waiting for just this.
                    self.idle.notify_all();
                    return Err(NoTask::End);
                }
            };
            let was_lookout = nap.end();
            // More came while this thread looked, and none was woken for it; or others work, and none looks any more whether that takes
            // long. This one is busy, too.
            if watches && self.has_tasks() || was_lookout && self.busy.count() > 1 {
                self.idle.notify_one();
            }
            return Ok(task);
        }
    }

    /// Rings timers that are due, if there is no other thread for that. What they make due comes in as from outside.
    pub(super) fn look_after_timers(&self) -> Option<Instant> {
        ThreadSeat::away_from(vigil::attend).until
    }

    /// One that watches looks around for a while, and is then to be woken as the others; `None` if the deadline was first.
    #[inline]
    fn look_and_sleep(
        &self,
        ring: usize,
        stealer: &mut Stealer,
        nap: &Nap<'_>,
        calls: usize,
        watches: bool,
        deadline: Option<Instant>,
    ) -> Option<FoundTurn> {
        let attempt = |is_thorough| self.look_once(ring, stealer, nap, calls, is_thorough);
        #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
        {
            let wait = if watches { Wait::Adaptive } else { Wait::Park };
            let ready = || {
                self.desks.at(ring).pace.counts.sleeps.add_one();
                if watches {
                    // About to sleep.
                    self.injector.end_look();
                }
                self.has_tasks() || self.is_over() || nap.is_missed() || vigil::calls() != calls
            };
            self.idle.wait_until(wait, deadline, attempt, ready)
        }
        // No thread of a pool starts there: `PoolBuilder::build` says so.
        #[cfg(not(any(not(target_family = "wasm"), target_feature = "atomics")))]
        {
            let _ = (watches, deadline);
            let mut attempt = attempt;
            attempt(true)
        }
    }

    /// Takes a task from outside, or a stolen one if the look is thorough: such looks take cache lines from those that work.
    #[inline]
    fn look_once(
        &self,
        ring: usize,
        stealer: &mut Stealer,
        nap: &Nap<'_>,
        calls: usize,
        is_thorough: bool,
    ) -> Option<FoundTurn> {
        let task = self.enter_as_busy(ring).or_else(|| {
            let may_steal = is_thorough && stealer.may_steal() && self.desks.has_ring();
            may_steal
                .then(|| self.take_as_busy(|| self.steal(ring)))
                .flatten()
        });
        match task {
            Some(task) => Some(FoundTurn::Task(task)),
            None if self.is_over() => Some(FoundTurn::End),
            None if nap.is_missed() => {
                // Counted at once, so that not all who sleep come for this.
                nap.count();
                Some(FoundTurn::Call)
            }
            None if vigil::calls() != calls => Some(FoundTurn::Call),
            None => {
                // What was due when the last turn ended, another thread has taken.
                Unflushed::flush_all();
                None
            }
        }
    }
}
