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

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use tamtam_wait::seam::atomic::{self, AtomicBool, AtomicU32, AtomicUsize, Ordering};
use tamtam_wait::seam::{self, CacheAligned, Mutex};
use tamtam_wait::{Wait, WaitList};

use super::blocking::{BlockingHome, BlockingThreads, is_inside};
use super::deque::Deque;
use super::lifo_slot::LifoSlot;
use super::stealer::Stealer;
use crate::observe::{Counts, HomeKind, HomeSnapshot, Ledger, Observe, WatchedHome, told, watch};
use crate::task::{
    AtClose, Home, InjectSlot, Remembered, Task, TurnLimits, Unflushed, set_blocking,
};
use crate::time::{Time, vigil};

mod busy;
mod figures;
mod idle;
mod injector;
#[cfg(all(test, tamtam_loom))]
mod loom_tests;
mod search;
mod stand_in;
mod wait;

use busy::Busy;
pub(super) use idle::IdleWait;
use idle::IdleWaiters;
use stand_in::PoolThreads;

/// So many turns in a row a thread does what it has made due last. Then it looks at the injector, and at what
/// has been due for long.
const LONGEST_STREAK: u32 = 128;
/// A turn of something that has been due for long counts as so many: the injector is looked at after 64.
const STREAK_OF_RING: u32 = 2;
/// After so many turns that had to end before all was done, each of which may have lasted 50 µs, a thread looks at the
/// injector, too.
const MOST_LONG: u32 = 4;
/// So many tasks a thread takes over from the injector at once, at most.
const MOST_ENTERING: usize = 128;
/// How often a thread that always has something to do looks whether another one is stuck.
const LOOK_AFTER_OTHERS: Duration = Duration::from_micros(200);
/// The injector keeps memory for so many tasks when it has become empty.
const MOST_KEPT: usize = 1_024;
/// So many threads may stand in for blocked ones, unless the builder says otherwise; or 16 for each thread of the pool, if
/// that is more.
const STAND_INS: usize = if cfg!(tamtam_loom) { 0 } else { 256 };
const STAND_INS_OF_EACH: usize = if cfg!(tamtam_loom) { 0 } else { 16 };
/// How long a sleeper sleeps at first, and at most, while others work.
const FIRST_NAP: Duration = Duration::from_micros(100);
const LONGEST_NAP: Duration = Duration::from_millis(100);

/// No thread looks around.
const NOT_LOOKING: u32 = 0;
/// A thread does.
const LOOKING: u32 = 1;
/// The one who did has found something that came in from outside. If it is a short turn, it will look again in no time:
/// the thread that answers a question, and then gets the next one.
const BACK_SOON: u32 = 2;
/// So many looks whether it has come back, with so many pauses (of about 0.02 µs) between them: a wake-up that is for
/// nothing costs more than ten times that.
const LOOKS_FOR_RETURN: u32 = if cfg!(tamtam_loom) { 1 } else { 8 };
const PAUSES_A_LOOK: u32 = if cfg!(tamtam_loom) { 0 } else { 3 };

/// What all threads of a pool have in common.
pub(crate) struct Shared {
    /// Of the pool's threads.
    desks: Box<[Desk]>,
    /// Of their stand-ins, each made when it is needed for the first time: a stand-in's ring is counted on from those above.
    spare_desks: Box<[OnceLock<Box<Desk>>]>,
    threads: usize,
    /// So many desks were ever used: those of stand-ins need not be looked at before there are any.
    used: AtomicUsize,
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

/// What is due on one thread.
struct Desk {
    next: CacheAligned<LifoSlot<Task>>,
    ring: Deque<Task>,
    pace: CacheAligned<Pace>,
}

impl Desk {
    fn new() -> Self {
        Desk {
            next: CacheAligned(LifoSlot::new()),
            ring: Deque::new(),
            pace: CacheAligned(Pace {
                turns: AtomicUsize::new(0),
                has_note: AtomicBool::new(false),
                was_long: AtomicBool::new(false),
                was_away: AtomicBool::new(false),
                counts: Counts::default(),
            }),
        }
    }
}

/// How a thread gets on.
struct Pace {
    /// How many turns there were; tells others whether one takes long.
    turns: AtomicUsize,
    /// The thread has something to look at before its next turn: the two below, or what it has [not flushed](Unflushed). For the thread itself.
    has_note: AtomicBool,
    /// The last turn is to be followed by another one of the same actor. For the thread itself, which looks only if `has_note` is set.
    was_long: AtomicBool,
    /// The thread has waited in a handler. As that.
    was_away: AtomicBool,
    counts: Counts,
}

/// What a thread is there for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It is one of the pool's.
    Own,
    /// It stands in for one that waits.
    StandIn,
    /// As that, but for the last one that did not wait: see [`stand_in`].
    Reserve,
}

/// What a thread has done since it has looked around.
#[derive(Default)]
struct ThreadRound {
    /// Turns in a row of what it had made due itself.
    streak: u32,
    /// Turns that were to be followed by another one.
    long: u32,
    looked_after_others: Option<Instant>,
    /// How many turns the others had had then.
    seen: Vec<usize>,
}

/// Where tasks come in from outside. What either side looks at with each task is on one cache line.
#[repr(C)]
struct Injector {
    /// The way in for one that finds no others waiting.
    inject_slot: InjectSlot<Task>,
    /// One of those that have nothing to do stays awake for a while, and the others sleep at once: as long as
    /// it looks no thread needs to be woken. `NOT_LOOKING`, `LOOKING`, or `BACK_SOON`.
    watched: AtomicU32,
    /// No thread is left. Changed under the lock.
    closed: AtomicBool,
    /// How many there are in the queue; for a look without the lock.
    length: AtomicUsize,
    tasks: Mutex<VecDeque<Task>>,
}

#[derive(Default)]
struct People {
    /// The pool's threads, to be joined.
    handles: Vec<std::thread::JoinHandle<()>>,
    /// Rings of stand-ins that no thread has.
    free_rings: Vec<usize>,
    /// Threads that are blocked, and those that stand in.
    blocked: usize,
    stand_ins: usize,
    /// Stand-ins that take no task any more, and have not ended.
    resigned: usize,
    /// How often a thread was blocked: the last one of all to be blocked knows by it that it still is the last one.
    blocks: u64,
    /// Where the tasks of those actors are for which blocked threads wait, once for each of these.
    awaited: Vec<usize>,
    /// Threads that have not ended.
    alive: usize,
}

impl People {
    /// So many threads may take a task now, or will when they are through with theirs.
    fn at_large(&self) -> usize {
        self.alive.saturating_sub(self.resigned + self.blocked)
    }
}

thread_local! {
    /// The pool that this thread works for.
    static POOL: core::cell::RefCell<Weak<Shared>> =
        const { core::cell::RefCell::new(Weak::new()) };
    /// The same, for a quick look.
    static SEAT: core::cell::Cell<ThreadSeat> = const { core::cell::Cell::new(ThreadSeat::NONE) };
}

/// Where a thread works. A thread that turns actors looks here with each message, so the desk is looked up once.
#[derive(Clone, Copy)]
struct ThreadSeat {
    /// Null if this is no thread of a pool.
    shared: *const Shared,
    /// That of this thread there.
    desk: *const Desk,
    ring: usize,
}

impl ThreadSeat {
    const NONE: Self = ThreadSeat {
        shared: core::ptr::null(),
        desk: core::ptr::null(),
        ring: 0,
    };

    /// The desk of this thread, if it works for this pool.
    #[inline(always)]
    fn desk_at(self, shared: &Shared) -> Option<&Desk> {
        // SAFETY: a seat is set by a thread that keeps what is shared until it has left the seat, and the desk is a part of
        // that: neither the slice of desks nor the box of a spare one is replaced before `shared` is dropped.
        core::ptr::eq(self.shared, shared).then(|| unsafe { &*self.desk })
    }
}

/// Has this thread look at what it has not flushed before its next turn; `false` if it is at no turn of a pool.
fn note_unflushed() -> bool {
    let seat = SEAT.get();
    if seat.shared.is_null() {
        return false;
    }
    // SAFETY: a seat is set by a thread that keeps what is shared until it has left the seat, and the desk is a part of that.
    let desk = unsafe { &*seat.desk };
    desk.pace.has_note.store(true, Ordering::Relaxed);
    true
}

impl vigil::Sleeper for Shared {
    fn call(&self) {
        self.idle.notify_all();
    }
}

/// What a look around brought.
enum FoundTurn {
    Task(Task),
    /// A thread has begun to work.
    Call,
    /// The pool is at its end.
    End,
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
            desks: (0..threads).map(|_| Desk::new()).collect(),
            spare_desks: Box::default(),
            threads,
            used: AtomicUsize::new(threads),
            injector: CacheAligned(Injector {
                inject_slot: InjectSlot::new(),
                watched: AtomicU32::new(NOT_LOOKING),
                closed: AtomicBool::new(false),
                length: AtomicUsize::new(0),
                tasks: Mutex::new(VecDeque::new()),
            }),
            idle: WaitList::chained(),
            busy: Busy::new(threads),
            idle_waiters: IdleWaiters::new(),
            napping: AtomicUsize::new(0),
            ending: AtomicBool::new(false),
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

    /// So many threads may stand in at once.
    pub(super) fn allow_stand_ins(&mut self, most: usize) {
        self.spare_desks = (0..most).map(|_| OnceLock::new()).collect();
        self.people.lock().free_rings = (self.threads..self.threads + most).rev().collect();
    }

    /// The desk of a thread.
    #[inline(always)]
    fn desk(&self, ring: usize) -> &Desk {
        match self.desks.get(ring) {
            Some(desk) => desk,
            None => self.spare_desk(ring),
        }
    }

    #[cold]
    #[inline(never)]
    fn spare_desk(&self, ring: usize) -> &Desk {
        self.spare_desks[ring - self.threads].get_or_init(|| Box::new(Desk::new()))
    }

    fn start_thread(self: &Arc<Self>, ring: usize, role: Role) -> io::Result<()> {
        let shared = Arc::clone(self);
        self.used.fetch_max(ring + 1, Ordering::SeqCst);
        let mut people = self.people.lock();
        let handle = std::thread::Builder::new()
            .name(format!("{}-{ring}", self.name))
            .spawn(move || shared.work(ring, role))?;
        people.handles.retain(|handle| !handle.is_finished());
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

    /// As `end`, but waits no longer than until the deadline: `true` if all threads have ended.
    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    pub(super) fn end_until(&self, deadline: Option<Instant>) -> bool {
        self.ending.store(true, Ordering::SeqCst);
        self.idle.notify_all();
        if self.is_one_of_us() {
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

    /// How many threads have not come back from a handler, or have not ended.
    pub(super) fn at_work(&self) -> usize {
        self.people.lock().alive
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
        SEAT.get().shared == core::ptr::from_ref(self) || is_inside(self)
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
        POOL.set(Arc::downgrade(&self));
        SEAT.set(ThreadSeat {
            shared: Arc::as_ptr(&self),
            desk: self.desk(ring),
            ring,
        });
        Unflushed::begin(note_unflushed);
        let has_resigned = match role {
            Role::Own | Role::StandIn => self.take_turns(ring, role),
            Role::Reserve => self.serve_as_reserve(ring),
        };
        Unflushed::end();
        // What becomes due from now on does not come to this thread's desk, where it would not be found.
        SEAT.set(ThreadSeat::NONE);
        POOL.set(Weak::new());
        self.leave(ring, role, has_resigned);
    }

    /// Runs what is due until the pool ends, or a stand-in is superfluous: `true` if it has resigned for that.
    fn take_turns(&self, ring: usize, role: Role) -> bool {
        let mut round = ThreadRound::default();
        let mut stealer = Stealer::default();
        let desk = self.desk(ring);
        loop {
            let task = match self.find(desk, ring, &mut round) {
                Some(task) => task,
                None => match self.wait(ring, &mut stealer) {
                    Some(task) => task,
                    None => return false,
                },
            };
            let turns = self.run(desk, task);
            if role == Role::StandIn && turns.is_multiple_of(16) && self.resign() {
                self.hand_over(ring);
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
        Self::count_turn(desk)
    }

    #[inline(always)]
    fn count_turn(desk: &Desk) -> usize {
        let count = &desk.pace.turns;
        // Only this thread writes it.
        let turns = count.load(Ordering::Relaxed).wrapping_add(1);
        count.store(turns, Ordering::Relaxed);
        turns
    }

    /// Whether the threads may end: they are to, and none works that might make something due.
    fn is_over(&self) -> bool {
        self.ending.load(Ordering::SeqCst)
            && self.busy.count() == 0
            // Before the last look: what comes of them is seen then.
            && (self.blocking.is_idle() || self.is_halted())
            && !self.has_tasks()
    }

    /// A thread ends; the last one closes the injector.
    fn leave(&self, ring: usize, role: Role, has_resigned: bool) {
        let mut people = self.people.lock();
        people.alive -= 1;
        people.resigned -= usize::from(has_resigned);
        if role != Role::Own {
            people.stand_ins -= usize::from(!has_resigned);
            people.free_rings.push(ring);
        }
        let is_last = people.alive == 0;
        drop(people);
        if is_last {
            let left = {
                let mut tasks = self.injector.tasks.lock();
                self.injector.closed.store(true, Ordering::SeqCst);
                core::mem::take(&mut *tasks)
            };
            // Who finds the inject slot closed tries the queue, and finds that closed, too.
            let last = self.injector.inject_slot.close();
            last.into_iter().chain(left).for_each(Task::abandon);
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
        let Some(desk) = SEAT.get().desk_at(self) else {
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
        if !core::ptr::eq(SEAT.get().shared, self) && self.refuses() {
            return Err(task);
        }
        self.schedule(task);
        Ok(())
    }

    fn has_closed(&self) -> bool {
        self.injector.closed.load(Ordering::SeqCst)
    }

    fn blocking(self: Arc<Self>) -> Option<Arc<dyn Home>> {
        Some(Arc::new(BlockingHome::new(self)))
    }

    fn remember(&self, place: Weak<dyn AtClose>) {
        self.remembered.add(place);
    }

    fn ledger(&self) -> Option<&Arc<Ledger>> {
        self.ledger.as_ref()
    }

    fn schedule_again(&self, task: Task) {
        match SEAT.get().desk_at(self) {
            Some(desk) => {
                desk.pace.was_long.store(true, Ordering::Relaxed);
                desk.pace.has_note.store(true, Ordering::Relaxed);
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
                if desk.ring.len() + usize::from(desk.next.is_full()) >= 2 {
                    // A thread that is about to sleep registers and then looks into the rings.
                    atomic::fence(Ordering::SeqCst);
                    self.call_one();
                }
            }
            Err(task) => self.bring(task),
        }
    }
}
