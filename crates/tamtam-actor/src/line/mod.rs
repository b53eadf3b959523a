//! What is due on one thread: that of a [`Worker`](crate::Worker), or the one that pumps a
//! [`Frame`](crate::Frame).
//!
//! What the thread makes due in its turns goes to a list of its own, without atomics; what others make due comes
//! in through a queue, the inbox, which also says who has to wake the thread: it is a mailbox's queue, with tasks as
//! messages. The thread becomes idle by a last step of its own, and who sends to an idle one hears of it: so a bell is
//! rung once, whether a thread sleeps there or a user's own loop is to be told.
//!
//! A thread that asks question after question brings one task after the other, each to a keeper that has nothing else to
//! do. To a keeper that only waits for such tasks the first one goes through an inject slot, which costs either side less: the bell
//! is rung for each, which goes unheard where none sleeps.
//!
//! An actor that lives here has a seat in the [`Roster`]: so that all are stopped when the thread ends, and dropped on it.
//! The thread ends when the last seat is free: until then it runs what is due, so nothing of an actor that may not
//! leave its thread is ever run or abandoned by another one.

mod keeper;
#[cfg(all(test, tamtam_loom))]
mod loom_tests;
mod pump;
mod resident;
mod roster;
#[cfg(all(test, not(tamtam_loom)))]
mod tests;
mod words;

use core::cell::Cell;
use core::fmt;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use tamtam_wait::seam::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use tamtam_wait::seam::{self, CacheAligned, Mutex, UnsafeCell};
use tamtam_wait::{Wait, WaitList, contain};

use crate::mailbox::{Head, Popped, Seen, Tail};
use crate::observe::{Ledger, Shown, WatchedHome};
use crate::task::{
    DueHere, Home, InjectSlot, Task, ThreadWait, TurnLimits, Unflushed, keep_home, kept_home,
    leave_turns,
};

use crate::time::{Time, elsewhere, vigil};

pub(crate) use pump::Allowed;
use roster::Roster;
pub use words::SharedSource;

/// The list keeps memory for so many tasks when it has become empty.
const MOST_KEPT: usize = 1_024;

/// The thread goes on.
const RUN: u8 = 0;
/// It is to handle what is there, and then end.
const DRAIN: u8 = 1;
/// It is to end.
const DISCARD: u8 = 2;

/// How a [`Worker`](crate::Worker) ends.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Quit, Worker};
///
/// let worker = Worker::new();
/// let (sender, receiver) = std::sync::mpsc::channel();
/// let writer = worker.spawn_fn(move |line: u32, _| sender.send(line).unwrap());
/// for line in 0..10 {
///     writer.tell(line)?;
/// }
/// worker.quit(Quit::Drain); // what was accepted is handled
/// worker.join();
/// assert_eq!(receiver.iter().count(), 10);
/// # Ok::<(), tamtam_actor::TellError<u32>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quit {
    /// What was accepted before is handled first, and what that leads to among the worker's actors, if it comes to
    /// an end within a thousand rounds of turns. An actor that is *muted*, because it has sent more than there
    /// [is room](crate::Overflow::Wait) for, or that pauses before it is [begun again](crate::Restart), is waited for; not one
    /// that was begun ten times in a row and has handled nothing. Mail that an actor keeps back, because it
    /// [holds](crate::Context::hold) for something, is lost and counted, with that of actors here that it mutes.
    Drain,
    /// The message at hand is the last one. The others are counted as lost, and the one who waits for an answer hears
    /// of it.
    Discard,
}

/// What is to be called when something comes to an idle line.
pub(crate) type OnMail = Arc<dyn Fn() + Send + Sync>;

struct Hook {
    call: Mutex<Option<OnMail>>,
    has_call: AtomicBool,
    /// The call is not for what the keeper itself makes due.
    is_for_others: AtomicBool,
    /// There is a call, and it was not made since the line was pumped.
    is_ready: AtomicBool,
}

impl Hook {
    fn new() -> Self {
        Hook {
            call: Mutex::new(None),
            has_call: AtomicBool::new(false),
            is_for_others: AtomicBool::new(false),
            is_ready: AtomicBool::new(false),
        }
    }

    /// The line was pumped, or there is another call: the next that comes is to be told.
    fn make_ready(&self) {
        let has_call = self.has_call.load(Ordering::Relaxed);
        self.is_ready.store(has_call, Ordering::SeqCst);
    }
}

/// Where tasks come in from elsewhere: what is touched with each of them, on one cache line.
struct LineEntrance {
    inbox: Tail<Task>,
    /// Not used where there is a hook, which is to be called once for all that comes.
    inject_slot: InjectSlot<Task>,
}

impl LineEntrance {
    /// Whether nothing has come, as far as this thread has seen.
    #[inline(always)]
    fn seems_empty(&self) -> bool {
        !self.inject_slot.is_full() && self.inbox.seems_idle()
    }

    /// Whether nothing has come. Sequentially consistent.
    #[inline]
    fn is_empty(&self) -> bool {
        !self.inject_slot.is_full() && self.inbox.is_idle()
    }
}

/// Tasks for one thread, its keeper.
pub(crate) struct Line {
    entrance: CacheAligned<LineEntrance>,
    /// The keeper sleeps here.
    bell: WaitList,
    wait: Wait,
    /// The time by which its actors live; none is the system's.
    time: Option<Time>,
    /// Where the keeper has a loop of its own that has to be told.
    hook: Option<Hook>,
    /// The keeper's [`token`]; 0 before there is one and after its end.
    keeper: AtomicUsize,
    order: AtomicU8,
    /// A drain waits for those that are muted: not where the thread that waits for its end might have to make the room.
    waits_for_room: AtomicBool,
    /// The keeper has ended: what comes is abandoned by the one who brings it.
    closed: AtomicBool,
    /// Who takes out what came to a closed inbox.
    leaving: Mutex<()>,
    roster: Roster,
    /// Where what its actors do is written down, if they are observed.
    ledger: Option<Arc<Ledger>>,
    own: CacheAligned<KeeperOwn>,
}

/// What the keeper alone uses, in its turns and between them.
struct KeeperOwn {
    head: Head<Task>,
    seen: Seen,
    due: DueHere,
    /// Messages, and answers, that were handled here.
    handled: Cell<u64>,
    /// What a listener has handled in this turn beside the message that it had it for.
    beside: Cell<u32>,
    /// So many may be handled in a turn.
    allowance: Cell<u32>,
    draining: Cell<bool>,
    /// What listeners wait for in memory of several processes.
    listed: words::Listed,
}

// SAFETY: used by the keeper alone, as the methods of `Line` that do so ask for; and the head, after the line has closed,
// by those who hold the lock `leaving`.
unsafe impl Sync for KeeperOwn {}

thread_local! {
    /// The line that this thread is in the turns of.
    static HERE: Cell<*const Line> = const { Cell::new(core::ptr::null()) };
    /// Somewhere in this thread's own memory.
    static TOKEN: u8 = const { 0 };
}

/// Tells this thread from the others that run.
fn token() -> usize {
    TOKEN.with(|token| core::ptr::from_ref(token).addr())
}

/// What this thread was in the turns of before.
struct Entered(*const Line);

impl Drop for Entered {
    fn drop(&mut self) {
        HERE.set(self.0);
        // SAFETY: that one is in the middle of a turn, so it is still there.
        match unsafe { self.0.as_ref() } {
            Some(before) => before.keep_home_in_turns(),
            None => leave_turns(),
        }
    }
}

impl Line {
    /// A line without a keeper, who comes later.
    pub(crate) fn new(wait: Wait, has_hook: bool, time: Option<Time>) -> Self {
        Line {
            time,
            entrance: CacheAligned(LineEntrance {
                inbox: Tail::new(),
                inject_slot: InjectSlot::new(),
            }),
            bell: WaitList::single(),
            wait,
            hook: has_hook.then(Hook::new),
            keeper: AtomicUsize::new(0),
            order: AtomicU8::new(RUN),
            waits_for_room: AtomicBool::new(true),
            closed: AtomicBool::new(false),
            leaving: Mutex::new(()),
            roster: Roster::new(),
            ledger: None,
            own: CacheAligned(KeeperOwn {
                head: Head::new(),
                seen: Seen::new(),
                due: UnsafeCell::new(VecDeque::new()),
                handled: Cell::new(0),
                beside: Cell::new(0),
                allowance: Cell::new(TurnLimits::USUAL.messages),
                draining: Cell::new(false),
                listed: UnsafeCell::new(Vec::new()),
            }),
        }
    }

    /// A line whose actors are observed, if there is an observer to whom they are shown.
    pub(crate) fn shown(mut self, shown: Option<&Shown>) -> Self {
        self.ledger = shown.and_then(WatchedHome::ledger).cloned();
        self
    }

    /// This thread is the keeper from now on, until it [ends](Line::end) the line, which stays where it is.
    pub(crate) fn keep(&self) {
        self.keeper.store(token(), Ordering::Relaxed);
        keep_home(self.location(), core::ptr::null());
    }

    /// This thread, which keeps it, is in the turns of this home.
    fn keep_home_in_turns(&self) {
        // In models everything comes in through the inbox.
        let due = if cfg!(tamtam_loom) {
            core::ptr::null()
        } else {
            &raw const self.own.due
        };
        keep_home(self.location(), due);
    }

    /// Where this home lies.
    fn location(&self) -> *const () {
        core::ptr::from_ref(self).cast()
    }

    /// Whether this thread is the keeper.
    pub(crate) fn is_kept_here(&self) -> bool {
        self.keeper.load(Ordering::Relaxed) == token()
    }

    /// Whether the keeper has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// For a listener: whether it may handle one message more in this turn, which is then counted. `most`: where no line
    /// says how many.
    pub(crate) fn one_more(beside: u32, most: u32) -> bool {
        let here = HERE.get();
        if here.is_null() {
            return beside < most;
        }
        // SAFETY: this thread is in the turns of that line, and is its keeper.
        let own = unsafe { &(*here).own };
        let is_allowed = own.beside.get() + 1 < own.allowance.get();
        own.beside.set(own.beside.get() + u32::from(is_allowed));
        is_allowed
    }

    /// What this thread makes due from now on is due on its own list.
    fn enter(&self) -> Entered {
        // All threads of a model have the same thread-local values: there, everything comes in through the inbox.
        let here = if cfg!(tamtam_loom) {
            core::ptr::null()
        } else {
            core::ptr::from_ref(self)
        };
        self.keep_home_in_turns();
        Entered(HERE.replace(here))
    }

    // ------------------------------------------------------------------------------- from outside

    /// Brings a task from elsewhere.
    fn bring(&self, task: Task) {
        let task = match self.hook {
            // The thread that closes the inject slot abandons what is inside.
            None => match self.entrance.inject_slot.put(task) {
                Ok(()) => return self.ring(),
                Err(task) => task,
            },
            Some(_) => task,
        };
        let is_woken = self.entrance.inbox.push(task);
        self.brought(is_woken);
    }

    /// Wakes the keeper up for something that lies elsewhere.
    fn nudge(&self) {
        if !self.is_closed() {
            let is_woken = self.entrance.inbox.wake();
            self.brought(is_woken);
        }
    }

    /// Something has come to the inbox.
    #[inline]
    fn brought(&self, is_woken: bool) {
        seam::model_fence();
        // SYNC line-closed: either this sender sees that it has closed, or the keeper sees what it brought. No nudge is
        // left out: a task may have come behind it.
        if self.closed.load(Ordering::SeqCst) {
            self.abandon_left(false);
        } else if is_woken {
            self.ring();
        }
    }

    /// Tells the keeper that something has come. For the one who found it idle.
    fn ring(&self) {
        self.bell.habit().meet();
        self.bell.notify_one();
        self.tell_hook();
    }

    fn tell_hook(&self) {
        let Some(hook) = &self.hook else { return };
        // SYNC line-hook: sequentially consistent, behind what has come: either this sender sees the new call, or the keeper who has
        // said it sees what has come.
        if !hook.is_ready.load(Ordering::SeqCst) {
            return;
        }
        let call = {
            let call = hook.call.lock();
            let is_ready = hook.is_ready.swap(false, Ordering::SeqCst);
            call.clone().filter(|_| is_ready)
        };
        if let Some(call) = call {
            // It is the user's: for what a timer has sent it is not called on the clock's thread. With it goes perhaps the last of it.
            elsewhere(call, |call| {
                contain(move || call());
            });
        }
    }

    /// Says what is called when something comes to the idle line; it is called now if something is there. If it is for others, it is
    /// not called for what the keeper makes due between turns.
    ///
    /// # Safety
    ///
    /// The caller is the keeper.
    pub(crate) unsafe fn set_hook(&self, call: Option<OnMail>, is_for_others: bool) {
        let Some(hook) = &self.hook else { return };
        let before = {
            let mut now = hook.call.lock();
            hook.has_call.store(call.is_some(), Ordering::Relaxed);
            hook.is_for_others.store(is_for_others, Ordering::Relaxed);
            // SYNC line-hook
            hook.make_ready();
            core::mem::replace(&mut *now, call)
        };
        contain(|| drop(before));
        seam::model_fence();
        // SAFETY: the caller is the keeper.
        if unsafe { self.is_due() } {
            self.tell_hook();
        }
    }

    /// The thread is to drain, and this one waits for its end.
    pub(crate) fn drain_for_join(&self) {
        if !kept_home().is_null() {
            // SYNC line-order
            self.waits_for_room.store(false, Ordering::Relaxed);
        }
        self.quit(Quit::Drain);
    }

    /// The thread is to end.
    pub(crate) fn quit(&self, how: Quit) {
        let order = match how {
            Quit::Drain => DRAIN,
            Quit::Discard => DISCARD,
        };
        // SYNC line-order: what was accepted before.
        self.order.fetch_max(order, Ordering::SeqCst);
        if how == Quit::Discard {
            // So that the actor that is at it handles no other message.
            self.roster.stop_all();
        }
        self.nudge();
    }

    fn order(&self) -> u8 {
        // SYNC line-order
        self.order.load(Ordering::Acquire)
    }

    // ------------------------------------------------------------------------------- the keeper

    /// # Safety
    ///
    /// The caller is the keeper.
    unsafe fn with_due<R>(&self, change: impl FnOnce(&mut VecDeque<Task>) -> R) -> R {
        self.own.due.with_mut(|due| {
            // SAFETY: the keeper alone uses it, and no `change` runs anything that would come here again.
            change(unsafe { &mut *due })
        })
    }

    /// Puts what came in behind what is due, and says how much is.
    ///
    /// # Safety
    ///
    /// The caller is the keeper.
    #[inline(always)]
    unsafe fn take_in(&self) -> usize {
        // SAFETY: the caller is the keeper, the only thread at the head and at what is due.
        unsafe {
            if !self.entrance.seems_empty() {
                self.take_in_what_came();
            }
            self.with_due(|due| due.len())
        }
    }

    /// # Safety
    ///
    /// As for `take_in`.
    #[inline(never)]
    unsafe fn take_in_what_came(&self) {
        // SAFETY: the caller is the keeper, the only thread at the head and at what is due.
        unsafe {
            self.with_due(|due| {
                if let Some(task) = self.entrance.inject_slot.take() {
                    due.push_back(task);
                }
                // What comes just now is seen before the keeper becomes idle.
                while !self.entrance.inbox.seems_idle() {
                    match self.own.head.pop(&self.entrance.inbox, &self.own.seen) {
                        Popped::Message(task) => due.push_back(task),
                        Popped::Woken => {}
                        Popped::Empty => break,
                    }
                }
            });
        }
    }

    /// What to do next.
    ///
    /// # Safety
    ///
    /// The caller is the keeper.
    unsafe fn next(&self) -> Option<Task> {
        let mut grown = VecDeque::new();
        // SAFETY: the caller is the keeper, the only thread at what is due.
        let next = unsafe {
            self.with_due(|due| {
                let next = due.pop_front();
                if next.is_none() && due.capacity() > MOST_KEPT {
                    // The memory of a rush is given back.
                    core::mem::swap(due, &mut grown);
                }
                next
            })
        };
        drop(grown);
        next
    }

    /// Makes something due from between turns: no other thread has to be woken, but the loop may have to be told.
    ///
    /// # Safety
    ///
    /// The caller is the keeper.
    unsafe fn make_due(&self, task: Task) {
        // SAFETY: the caller is the keeper, the only thread at what is due.
        let was_empty = unsafe {
            self.with_due(|due| {
                due.push_back(task);
                due.len() == 1
            })
        };
        let is_for_others = |hook: &Hook| hook.is_for_others.load(Ordering::Relaxed);
        if was_empty && !self.hook.as_ref().is_some_and(is_for_others) {
            self.tell_hook();
        }
    }

    /// Becomes idle, unless something is due, or a sender is about to bring something.
    ///
    /// # Safety
    ///
    /// The caller is the keeper.
    unsafe fn rest(&self) -> bool {
        // SAFETY: the caller is the keeper, the only thread at the head and at what is due.
        unsafe {
            self.with_due(|due| due.is_empty())
                && (self.entrance.inbox.is_idle() || self.own.head.rest(&self.entrance.inbox))
        }
    }

    /// Whether something is due here or about to be.
    ///
    /// # Safety
    ///
    /// The caller is the keeper.
    pub(crate) unsafe fn is_due(&self) -> bool {
        // SAFETY: the caller is the keeper, the only thread at what is due.
        !self.entrance.is_empty() || unsafe { self.with_due(|due| !due.is_empty()) }
    }

    /// Sleeps until something comes: `false` if nothing does before the deadline. The keeper is idle.
    ///
    /// # Safety
    ///
    /// The caller is the keeper.
    pub(crate) unsafe fn wait(&self, deadline: Option<Instant>) -> bool {
        // SAFETY: this is the keeper. What a timer has led to on this thread is due on the keeper's own list.
        let has_come = || unsafe { self.is_due() };
        #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
        loop {
            let calls = vigil::calls();
            let look = vigil::attend();
            Unflushed::flush_all();
            if look.has_rung {
                return true;
            }
            let until = match (deadline, look.until) {
                (Some(deadline), Some(until)) => Some(deadline.min(until)),
                (deadline, until) => deadline.or(until),
            };
            let is_over = || has_come() || vigil::calls() != calls;
            // SAFETY: this is the keeper, between turns.
            if unsafe { self.wait_at_words(until, is_over) } {
                if has_come() {
                    return true;
                }
                if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                    return false;
                }
                continue;
            }
            let attempt = |_| is_over().then(has_come);
            match self.bell.wait_until(self.wait, until, attempt, is_over) {
                Some(true) => return true,
                None if until == deadline => return false,
                // It is for the timers that it has woken up.
                Some(false) | None => {}
            }
        }
        // There is no sender that could bring anything.
        #[cfg(not(any(not(target_family = "wasm"), target_feature = "atomics")))]
        {
            let _ = (deadline, self.wait);
            has_come()
        }
    }
}

impl vigil::Sleeper for Line {
    fn call(&self) {
        self.bell.notify_one();
    }
}

impl Home for Line {
    fn ledger(&self) -> Option<&Arc<Ledger>> {
        self.ledger.as_ref()
    }

    fn turn_limits(&self) -> TurnLimits {
        match self.hook {
            None => TurnLimits::USUAL,
            // A pump looks at the clock itself.
            Some(_) => TurnLimits {
                micros: u32::MAX,
                ..TurnLimits::USUAL
            },
        }
    }

    #[inline]
    fn schedule(&self, task: Task) {
        if core::ptr::eq(HERE.get(), self) {
            // SAFETY: only the keeper is in the turns of a line.
            unsafe { self.with_due(|due| due.push_back(task)) };
        } else if self.is_kept_here() && !cfg!(tamtam_loom) {
            // SAFETY: this is the keeper, between turns. The threads of a model cannot be told apart: see `enter`.
            unsafe { self.make_due(task) };
        } else {
            self.bring(task);
        }
    }

    fn schedule_again(&self, task: Task) {
        self.schedule(task);
    }

    fn begins_all(&self) -> bool {
        self.hook.is_some()
    }

    fn begin_wait(&self) -> Option<ThreadWait> {
        (!self.is_kept_here()).then_some(ThreadWait::PLAIN)
    }

    fn time(&self) -> &Time {
        self.time.as_ref().unwrap_or_else(|| Time::shared())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        // A task that is due has a share of its line; so there is nothing in here but what woke a keeper, unless it has
        // something due that is no actor.
        // SAFETY: the line is being dropped, so no other thread has it.
        unsafe {
            while let Some(task) = self
                .own
                .head
                .take_left(&self.entrance.inbox, &self.own.seen)
            {
                task.abandon();
            }
            self.own.head.free(&self.entrance.inbox);
            self.entrance
                .inject_slot
                .take()
                .into_iter()
                .for_each(Task::abandon);
            while let Some(task) = self.next() {
                task.abandon();
            }
        }
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line")
            .field("closed", &self.closed.load(Ordering::Relaxed))
            .field("actors", &self.roster.taken())
            .finish_non_exhaustive()
    }
}
