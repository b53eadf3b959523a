//! The threads of a pool: where each finds its next task, and how it sleeps.
//!
//! The README.md of this crate tells the whole; the rules are:
//!
//! - What a thread of the pool makes due is what it does next; what was to be next until then goes to its ring.
//!   After 128 turns in a row the oldest in the ring has its turn, and the injector.
//! - What others make due goes to the injector. A thread takes over its share of what waits there.
//! - A thread whose actors go on and on looks at the injector after a few such turns, and after threads that are stuck.
//! - A sleeper is woken for what comes to the injector, and for the *second* task of a thread: the first one is
//!   the business of the thread that made it due.
//! - A thread that finds nothing steals half of a ring; before it sleeps it registers and looks once more.
//! - While others work, a sleeper looks again by itself after 0.1 ms, 0.2 ms, and so on, and takes away what
//!   a thread would do next that has not come to the end of its turn.

use std::io;
use std::sync::{Arc, Weak};
use std::time::Instant;

use tamtam_wait::seam::atomic::{self, AtomicBool, AtomicUsize, Ordering};
use tamtam_wait::seam::{self, CacheAligned, Mutex};
use tamtam_wait::{Wait, WaitList};

use super::blocking::{BlockingHome, BlockingThreads, is_inside};
use super::stealer::Stealer;
use crate::observe::{Ledger, Observe, WatchedHome, watch};
use crate::task::{AtClose, Home, Remembered, Task, TurnLimits, Unflushed, set_blocking};
use crate::time::{Time, vigil};

mod busy;
mod desk;
mod entering;
mod figures;
mod idle;
mod injector;
#[cfg(all(test, tamtam_loom))]
mod loom_tests;
mod people;
mod search;
mod seat;
mod stand_in;
mod wait;

use busy::Busy;
use desk::{Desk, Desks};
pub(super) use idle::IdleWait;
use idle::IdleWaiters;
use injector::Injector;
use people::{People, Role};
use search::ThreadRound;
use seat::ThreadSeat;
use stand_in::PoolThreads;
use wait::NoTask;

/// So many threads may stand in for blocked ones, unless the builder says otherwise; or 16 for each thread of the pool, if
/// that is more.
const STAND_INS: usize = if cfg!(tamtam_loom) { 0 } else { 256 };
const STAND_INS_OF_EACH: usize = if cfg!(tamtam_loom) { 0 } else { 16 };
/// The limit of a pool's threads, and of those that may stand in for them: far more than systems start.
pub(super) const MOST_THREADS: usize = 1 << 16;

/// What all threads of a pool have in common.
pub(crate) struct Shared {
    desks: Desks,
    threads: usize,
    injector: CacheAligned<Injector>,
    /// Threads that sleep, or are about to.
    idle: WaitList,
    /// Threads that are not.
    busy: Busy,
    /// Who waits until the pool is idle.
    idle_waiters: IdleWaiters,
    /// Threads that sleep, but look again by themselves.
    napping: AtomicUsize,
    ending: AtomicBool,
    /// Actors here that handle no messages until there is room for what they have sent.
    muted: AtomicUsize,
    /// The threads end after those have gone on.
    waits_for_muted: AtomicBool,
    name: String,
    /// By which the actors live; None is the system's.
    time: Option<Time>,
    /// Actors that are watched.
    remembered: Remembered,
    blocking: BlockingThreads,
    pub(super) limits: TurnLimits,
    /// The threads that have a task abandon it.
    halted: CacheAligned<AtomicBool>,
    abandoned: AtomicUsize,
    /// The last thread has ended, and all that it had to see to is done.
    gone: AtomicBool,
    /// The waiters for that.
    last_gone: WaitList,
    people: Mutex<People>,
    blocking_asks: AtomicUsize,
    /// What its actors do, if they are observed.
    pub(super) ledger: Option<Arc<Ledger>>,
}

impl vigil::Sleeper for Shared {
    fn call(&self) {
        self.idle.notify_all();
    }
}

impl Shared {
    pub(super) fn start(
        threads: usize,
        name: String,
        time: Option<Time>,
        adapt: impl FnOnce(&mut Self),
    ) -> io::Result<Arc<Self>> {
        set_blocking(&PoolThreads);
        let mut shared = Self::new(threads, name, time);
        adapt(&mut shared);
        let shared = Arc::new(shared);
        for ring in 0..threads {
            if let Err(error) = shared.start_thread(ring, Role::Own) {
                (ring..threads).for_each(|_| shared.rest());
                shared.end();
                return Err(error);
            }
        }
        let watched: Weak<dyn WatchedHome> = Arc::downgrade(&shared) as _;
        watch(watched);
        let sleeper: Weak<dyn vigil::Sleeper> = Arc::downgrade(&shared) as _;
        vigil::enlist(sleeper);
        Ok(shared)
    }

    /// Its actors are observed as that says.
    pub(super) fn observe(&mut self, observe: Observe) {
        self.ledger = observe.ledger(&self.name);
    }

    /// All that the threads have in common, without threads.
    fn new(threads: usize, name: String, time: Option<Time>) -> Self {
        let mut shared = Shared {
            desks: Desks::new(threads),
            threads,
            injector: CacheAligned(Injector::new()),
            idle: WaitList::chained(),
            busy: Busy::new(threads),
            idle_waiters: IdleWaiters::new(),
            napping: AtomicUsize::new(0),
            ending: AtomicBool::new(false),
            muted: AtomicUsize::new(0),
            waits_for_muted: AtomicBool::new(false),
            name,
            time,
            remembered: Remembered::new(),
            blocking: BlockingThreads::new(),
            limits: TurnLimits::USUAL,
            halted: CacheAligned(AtomicBool::new(false)),
            abandoned: AtomicUsize::new(0),
            gone: AtomicBool::new(false),
            last_gone: WaitList::new(),
            people: Mutex::new(People::default()),
            blocking_asks: AtomicUsize::new(0),
            ledger: None,
        };
        shared.allow_stand_ins(STAND_INS.max(threads.saturating_mul(STAND_INS_OF_EACH)));
        shared
    }

    /// So many threads may stand in at once, at most [`MOST_THREADS`].
    pub(super) fn allow_stand_ins(&mut self, most: usize) {
        let rings = self.desks.allow_spare(most.min(MOST_THREADS));
        self.people.lock().free_rings = rings.collect();
    }

    fn start_thread(self: &Arc<Self>, ring: usize, role: Role) -> io::Result<()> {
        let shared = Arc::clone(self);
        let mut people = self.people.lock();
        let handle = std::thread::Builder::new()
            .name(format!("{}-{ring}", self.name))
            .spawn(move || shared.work(ring, role))?;
        people.forget_ended();
        people.handles.push(handle);
        people.alive += 1;
        Ok(())
    }

    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    pub(super) fn blocking_asks(&self) -> usize {
        self.blocking_asks.load(Ordering::Relaxed)
    }

    /// Lets the threads end when nothing is due any more, and waits for them, unless this is one of them.
    pub(super) fn end(&self) {
        self.ending.store(true, Ordering::SeqCst);
        self.idle.notify_all();
        if self.is_one_of_us() {
            return;
        }
        loop {
            // Meanwhile some of them may have got others to stand in for them.
            let handles = core::mem::take(&mut self.people.lock().handles);
            if handles.is_empty() {
                // What is due there is done, or the threads would not have ended.
                return self.blocking.end();
            }
            for handle in handles {
                // Turns catch what actors do; a thread ends by itself.
                let _ = handle.join();
            }
        }
    }

    /// As `end`, but waits no longer than until the deadline, and until then for those that are muted, too: `true` if all
    /// threads have ended.
    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    pub(super) fn end_until(&self, deadline: Option<Instant>) -> bool {
        let is_one_of_us = self.is_one_of_us();
        if !is_one_of_us {
            self.waits_for_muted.store(true, Ordering::SeqCst);
        }
        self.ending.store(true, Ordering::SeqCst);
        self.idle.notify_all();
        if is_one_of_us {
            return false;
        }
        // SYNC pool-gone
        let has_ended = || self.gone.load(Ordering::SeqCst);
        let attempt = |_| has_ended().then_some(());
        self.last_gone
            .wait_until(Wait::Park, deadline, attempt, has_ended)
            .is_some()
    }

    /// No more turns: what is due is abandoned.
    pub(super) fn halt(&self) {
        self.halted.store(true, Ordering::SeqCst);
        let abandoned = self.blocking.close();
        self.abandoned.fetch_add(abandoned, Ordering::Relaxed);
        self.idle.notify_all();
    }

    /// The threads are not waited for any more.
    pub(super) fn leave_alone(&self) {
        drop(core::mem::take(&mut self.people.lock().handles));
        self.blocking.leave_alone();
    }

    pub(super) fn abandoned(&self) -> usize {
        self.abandoned.load(Ordering::Relaxed)
    }

    /// How many threads have not come back from a handler, or have not ended. The last one is left until it has counted what it abandoned.
    pub(super) fn at_work(&self) -> usize {
        // SYNC pool-gone
        let is_one_leaving = !self.gone.load(Ordering::SeqCst);
        let alive = self.people.lock().alive;
        alive.max(usize::from(is_one_leaving))
            + if self.is_halted() {
                self.blocking.at_work()
            } else {
                0
            }
    }

    fn is_halted(&self) -> bool {
        self.halted.load(Ordering::SeqCst)
    }

    /// Whether this thread is one of the pool's.
    pub(super) fn is_one_of_us(&self) -> bool {
        ThreadSeat::here().is_at(self) || is_inside(self)
    }

    /// Whether messages of the actor at work on this thread are not accepted any more.
    pub(super) fn refuses(&self) -> bool {
        self.ending.load(Ordering::Relaxed) && !self.is_one_of_us()
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn blocking_threads(&self) -> &BlockingThreads {
        &self.blocking
    }

    pub(super) fn blocking_mut(&mut self) -> &mut BlockingThreads {
        &mut self.blocking
    }

    /// Nothing is due any more for those handlers that may block.
    pub(super) fn note_unblocked(&self) {
        if self.ending.load(Ordering::SeqCst) {
            // A thread may wait for just this.
            self.idle.notify_all();
        }
        self.tell_if_idle();
    }

    // -------------------------------------------------------------------------- the threads' life

    fn work(self: Arc<Self>, ring: usize, role: Role) {
        ThreadSeat::take(&self, ring);
        Unflushed::begin(ThreadSeat::note_unflushed);
        let has_resigned = match role {
            Role::Own | Role::StandIn => self.take_turns(ring, role),
            Role::Reserve => self.serve_as_reserve(ring),
        };
        // What that makes due lies on the desk: before one that has resigned hands that over.
        Unflushed::end();
        if has_resigned {
            self.hand_over(ring);
        }
        ThreadSeat::leave();
        self.leave(ring, role, has_resigned);
    }

    /// Runs what is due until the pool ends, or a stand-in is superfluous: `true` if it has resigned for that. Then it is counted as busy, and
    /// there may be something on its desk.
    fn take_turns(&self, ring: usize, role: Role) -> bool {
        let mut round = ThreadRound::default();
        let mut stealer = Stealer::default();
        let desk = self.desks.at(ring);
        loop {
            let task = match self.find(desk, ring, &mut round) {
                Some(task) => task,
                None => match self.wait(ring, role, &mut stealer) {
                    Ok(task) => task,
                    Err(NoTask::End) => return false,
                    Err(NoTask::Resigned) => return true,
                },
            };
            let turns = self.run(desk, task);
            if role == Role::StandIn && turns.is_multiple_of(16) && self.resign(role) {
                return true;
            }
        }
    }

    /// Gives a task its turn; how many turns this thread has had.
    #[inline(always)]
    fn run(&self, desk: &Desk, task: Task) -> usize {
        if self.halted.load(Ordering::Relaxed) {
            self.abandoned.fetch_add(1, Ordering::Relaxed);
            task.abandon();
        } else {
            task.run();
        }
        desk.count_turn()
    }

    /// Whether the threads may end: they are to, and none works that might make something due.
    fn is_over(&self) -> bool {
        if !self.ending.load(Ordering::SeqCst) {
            return false;
        }
        let look = self.busy.look();
        look.is_none()
            // Before the last look: what comes of them is seen then.
            && (!self.awaits_muted() && self.blocking.is_idle() || self.is_halted())
            && !self.has_tasks_or_will()
            // What goes on because there is room may have been taken in between, and be muted again.
            && (self.busy.look() == look && !self.awaits_muted() || self.is_halted())
    }

    /// Whether the threads stay for an actor that will go on when there is room for what it has sent.
    fn awaits_muted(&self) -> bool {
        seam::model_fence();
        self.waits_for_muted.load(Ordering::SeqCst) && self.muted.load(Ordering::SeqCst) != 0
    }

    /// A thread ends; the last one closes the injector.
    fn leave(&self, ring: usize, role: Role, has_resigned: bool) {
        let is_last = {
            let mut people = self.people.lock();
            let is_last = people.leave(ring, role, has_resigned);
            if role != Role::Own {
                self.desks
                    .note_unused(people.rings_in_use(self.desks.count_used()));
            }
            is_last
        };
        if is_last {
            self.injector.close().for_each(Task::abandon);
            // What was due there is done. Before those who are to be told: some of them live there.
            let abandoned = self.blocking.close();
            let abandoned = abandoned + self.remembered.close();
            self.abandoned.fetch_add(abandoned, Ordering::Relaxed);
            // SYNC pool-gone: what was abandoned.
            self.gone.store(true, Ordering::SeqCst);
            self.last_gone.notify_all();
            self.tell_if_idle();
        }
    }
}

impl Home for Shared {
    #[inline]
    fn schedule(&self, task: Task) {
        let Some(desk) = ThreadSeat::here().desk_at(self) else {
            return self.bring(task);
        };
        // SAFETY: this thread owns the desk: it works for this pool under this number.
        if let Some(older) = unsafe { desk.next.put(task) } {
            self.append(desk, older);
        } else if self.napping.load(Ordering::SeqCst) == 0 {
            // This turn may take long, and all others may have gone to sleep when none worked.
            self.call_one();
        }
    }

    fn turn_limits(&self) -> TurnLimits {
        self.limits
    }

    #[inline]
    fn schedule_or_refuse(&self, task: Task) -> Result<(), Task> {
        if !ThreadSeat::here().is_at(self) && self.refuses() {
            return Err(task);
        }
        self.schedule(task);
        Ok(())
    }

    fn has_closed(&self) -> bool {
        self.injector.is_closed()
    }

    fn blocking(self: Arc<Self>) -> Option<Arc<dyn Home>> {
        Some(Arc::new(BlockingHome::new(self)))
    }

    fn remember(&self, place: Weak<dyn AtClose>) {
        self.remembered.add(place);
    }

    fn note_muted(&self) {
        self.muted.fetch_add(1, Ordering::SeqCst);
    }

    fn note_unmuted(&self) {
        let was_last = self.muted.fetch_sub(1, Ordering::SeqCst) == 1;
        seam::model_fence();
        if was_last && self.ending.load(Ordering::SeqCst) {
            // A thread may wait for just this.
            self.idle.notify_all();
        }
    }

    fn ledger(&self) -> Option<&Arc<Ledger>> {
        self.ledger.as_ref()
    }

    fn schedule_again(&self, task: Task) {
        match ThreadSeat::here().desk_at(self) {
            Some(desk) => {
                desk.note(|pace| &pace.was_long);
                self.append(desk, task);
            }
            None => self.bring(task),
        }
    }

    fn time(&self) -> &Time {
        self.time.as_ref().unwrap_or_else(|| Time::shared())
    }
}

impl Shared {
    /// Puts a task behind the others of this thread, and wakes another one if that is more than it can do at once.
    fn append(&self, desk: &Desk, task: Task) {
        // SAFETY: this thread owns the desk.
        match unsafe { desk.ring.push(task) } {
            Ok(()) => {
                if desk.due() >= 2 {
                    // A thread that is about to sleep registers and then looks into the rings.
                    atomic::fence(Ordering::SeqCst);
                    self.call_one();
                }
            }
            Err(task) => self.bring(task),
        }
    }
}
