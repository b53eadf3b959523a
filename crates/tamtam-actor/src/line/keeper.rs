//! The keeper's life: turns, waits, and the end.

use tamtam_wait::seam::atomic::Ordering;
use tamtam_wait::{Backoff, seam};

use super::{DRAIN, Line, RUN, words};
use crate::mailbox::Popped;
use crate::task::{Task, Unflushed, give_up_home};

/// When told to drain: what was accepted later, also what handlers send to each other, has so many rounds to come
/// to an end.
const ROUNDS_OF_DRAIN: usize = if cfg!(tamtam_loom) { 2 } else { 1_000 };

impl Line {
    /// Does what is due, and waits for more, while `goes_on`.
    ///
    /// # Safety
    ///
    /// The caller is the keeper.
    pub(super) unsafe fn run_while(&self, mut goes_on: impl FnMut() -> bool) {
        let mut backoff = Backoff::new();
        let mut turns = 0_u32;
        loop {
            // SAFETY: the caller is the keeper, which is what `take_in`, `next`, `is_due`, `look_at_words`, `rest` and `wait` ask for.
            unsafe {
                self.take_in();
                // After it: what we were woken for is seen now, and for what comes later we cannot become idle.
                if !goes_on() {
                    return;
                }
                if let Some(task) = self.next() {
                    task.run();
                    turns = turns.wrapping_add(1);
                    if turns.is_multiple_of(words::TURNS_PER_LOOK) {
                        self.look_at_words();
                    }
                    if Unflushed::is_noted() && !Unflushed::flush_when_through(self.is_due()) {
                        Unflushed::read_answers(|| {
                            self.take_in();
                            !self.look_at_words() && !self.is_due() && goes_on()
                        });
                    }
                    backoff = Backoff::new();
                } else if self.rest() {
                    self.wait(None);
                } else {
                    // A sender is in the middle of bringing something.
                    backoff.pause();
                }
            }
        }
    }

    /// The life of a thread that has nothing else to do, until it is told to quit.
    ///
    /// # Safety
    ///
    /// The caller is the keeper, and stays it.
    pub(crate) unsafe fn work(&self) {
        let entered = self.enter();
        Unflushed::begin_here();
        // SAFETY: the caller is the keeper.
        unsafe { self.run_while(|| self.order() == RUN) };
        if self.order() == DRAIN {
            self.own.draining.set(true);
            self.roster.ask_all_for_a_turn();
            // SAFETY: the caller is the keeper, and has run what was due until it was told to drain.
            unsafe {
                self.run_while(|| self.goes_on_draining());
                for _ in 0..ROUNDS_OF_DRAIN {
                    let due = self.take_in();
                    if self.order() != DRAIN {
                        break;
                    }
                    if due == 0 {
                        if !self.goes_on_draining() {
                            break;
                        }
                        // Muted by what they were sent since.
                        self.run_while(|| self.goes_on_draining());
                        continue;
                    }
                    for _ in 0..due {
                        if let Some(task) = self.next() {
                            task.run();
                        }
                    }
                }
            }
        }
        Unflushed::end();
        drop(entered);
        // SAFETY: the caller is the keeper, and no turn is under way: all above have returned.
        unsafe { self.end() };
    }

    /// Whether an actor here is still to have a turn for what a drain is to see handled, and will have one.
    ///
    /// # Safety
    ///
    /// The caller is the keeper.
    unsafe fn goes_on_draining(&self) -> bool {
        if self.roster.owing() == 0 || self.order() != DRAIN {
            return false;
        }
        // Not the inbox: it was looked at, and is idle only when the keeper rests. One that was brought since has no wait that is open.
        // SAFETY: the caller is the keeper.
        let is_due = unsafe { self.with_due(|due| !due.is_empty()) };
        is_due
            || !self
                .roster
                .are_all_stuck(self.waits_for_room.load(Ordering::Relaxed))
    }

    /// Stops all who live here, and closes the line.
    ///
    /// # Safety
    ///
    /// The caller is the keeper, and no turn is under way.
    pub(crate) unsafe fn end(&self) {
        let entered = self.enter();
        self.roster.stop_all();
        // An actor that was woken up is not due before its sender has brought it; and some are about to be born.
        // SAFETY: the caller is the keeper.
        unsafe { self.run_while(|| !self.roster.close()) };
        drop(entered);
        give_up_home(self.location());
        // From here on nothing comes to the list.
        // SAFETY: the caller is the keeper, and stays it until the store below.
        while let Some(task) = unsafe { self.next() } {
            task.abandon();
        }
        self.keeper.store(0, Ordering::Relaxed);
        // SYNC line-closed: sequentially consistent, for those who look after they have brought something.
        self.closed.store(true, Ordering::SeqCst);
        seam::model_fence();
        // Who finds the inject slot closed tries the inbox, and then finds that the line has closed, too.
        self.entrance
            .inject_slot
            .close()
            .into_iter()
            .for_each(Task::abandon);
        self.abandon_left(true);
    }

    /// Abandons what came to a closed inbox. The keeper waits for those who were about to bring something when it
    /// closed.
    #[cold]
    pub(super) fn abandon_left(&self, is_keeper: bool) {
        let mut backoff = Backoff::new();
        loop {
            let mut left = Vec::new();
            let is_all = {
                let _alone = self.leaving.lock();
                loop {
                    // SAFETY: the line has closed, and this is the holder of the lock.
                    match unsafe { self.own.head.pop(&self.entrance.inbox, &self.own.seen) } {
                        Popped::Message(task) => left.push(task),
                        Popped::Woken => {}
                        Popped::Empty => break,
                    }
                }
                // SAFETY: the line has closed, and this thread holds the lock: no other one is at the head.
                self.entrance.inbox.is_idle() || unsafe { self.own.head.rest(&self.entrance.inbox) }
            };
            left.into_iter().for_each(Task::abandon);
            if is_all || !is_keeper {
                return;
            }
            backoff.pause();
        }
    }
}
