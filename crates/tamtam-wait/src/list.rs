//! Who waits at an endpoint.

use core::fmt;
use core::task::Waker;
use std::collections::VecDeque;
use std::time::Instant;

use crate::backoff::Backoff;
use crate::lone::{Lone, Ticket};
use crate::seam::atomic::{AtomicU16, AtomicU32, Ordering};
use crate::seam::{self, Mutex};
use crate::{Attention, Context, Habit, Operation, Outcome, Patience, Wait};

/// One thread that waits, with what it waits to do.
///
/// # Examples
///
/// ```
/// use tamtam_wait::{Context, Entry, Operation, WaitQueue};
///
/// Context::with(|context| {
///     let mut queue = WaitQueue::default();
///     queue.register(Entry::new(Operation::new(0), context));
///     // Gave up: it takes its entry out.
///     let entry = queue.unregister(Operation::new(0), context).expect("it was not chosen");
///     assert!(entry.packet.is_null() && entry.context.same(context));
/// });
/// ```
pub struct Entry {
    /// Which of the thread's operations this is.
    pub operation: Operation,
    /// The thread's side of the wait.
    pub context: Context,
    /// What the two sides exchange, for sources that hand over directly.
    pub packet: *mut (),
}

// SAFETY: the packet is an address that only the source which put it here makes use of, under its
// own rules; the rest is `Send` by itself.
unsafe impl Send for Entry {}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("operation", &self.operation)
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}

/// Threads that wait, first come first served, without any synchronisation of its own: for sources
/// that keep it under a lock.
///
/// # Examples
///
/// ```
/// use tamtam_wait::seam::Mutex;
/// use tamtam_wait::{Context, Entry, Operation, WaitQueue};
///
/// let waiters = Mutex::new(WaitQueue::default());
/// Context::with(|context| {
///     waiters.lock().register(Entry::new(Operation::new(0), context));
///     assert_eq!(waiters.lock().waiting(), 1);
///     // What another thread does that has something for one of them.
///     let chosen = waiters.lock().choose(|first| assert!(first.same(context)));
///     let (packet, sleeper) = chosen.expect("one waits");
///     assert!(packet.is_null(), "there is nothing to be exchanged");
///     assert!(context.outcome().is_some());
///     // The lock is free.
///     drop(sleeper);
/// });
/// ```
#[derive(Debug, Default)]
pub struct WaitQueue {
    /// Those who will take or give something: one of them is woken for one thing.
    selectors: VecDeque<Entry>,
    /// Those who only want to hear that there is something: all are woken.
    watchers: Vec<Entry>,
}

/// A thread or task that was chosen; dropping this wakes it if it slept.
///
/// Wake-ups are system calls, and what wakes a task, or is dropped with its last share, is user code: so they come after the list's lock is
/// released.
///
/// # Examples
///
/// ```
/// use tamtam_wait::seam::Mutex;
/// use tamtam_wait::{Context, Entry, Operation, WaitQueue};
///
/// let waiters = Mutex::new(WaitQueue::default());
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         Context::with(|context| {
///             waiters.lock().register(Entry::new(Operation::new(0), context));
///             context.park(None);
///         });
///     });
///     let sleeper = loop {
///         let chosen = waiters.lock().choose(|_| {});
///         match chosen {
///             Some((_, sleeper)) => break sleeper,
///             None => std::thread::yield_now(),
///         }
///     };
///     // The lock is free: the thread is woken if it slept.
///     drop(sleeper);
/// });
/// ```
#[must_use = "the thread must be woken after the lock is released"]
#[derive(Debug)]
pub struct Sleeper {
    context: Context,
    is_asleep: bool,
}

impl Sleeper {
    /// Of an entry that is in the list no more; none if another decision was faster. Then the waiter has its own share of the context until it has been to
    /// the list, so that nothing is dropped here but a count.
    fn chosen(entry: Entry) -> Option<Self> {
        let is_asleep = entry.context.select(entry.operation)?;
        Some(Sleeper {
            context: entry.context,
            is_asleep,
        })
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        if self.is_asleep {
            self.context.wake();
        }
    }
}

impl WaitQueue {
    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.selectors.len() + self.watchers.len()
    }

    /// Whether no thread waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a thread that will take or give something.
    pub fn register(&mut self, entry: Entry) {
        self.selectors.push_back(entry);
    }

    /// Adds a thread that wants to hear of readiness.
    pub fn watch(&mut self, entry: Entry) {
        self.watchers.push(entry);
    }

    /// Removes a thread's entry, if it is still there.
    pub fn unregister(&mut self, operation: Operation, context: &Context) -> Option<Entry> {
        let is_its = |place: &usize| {
            let entry = &self.selectors[*place];
            entry.operation == operation && entry.context.same(context)
        };
        // From both ends: those that wait mostly give up in the order in which they came, or in the reverse one, and then are
        // found at once, however many there are.
        let last = self.selectors.len().checked_sub(1)?;
        let place = (0..=last / 2)
            .flat_map(|step| [step, last - step])
            .find(is_its)?;
        self.selectors.remove(place)
    }

    /// Removes a watcher's entry, if it is still there.
    pub fn unwatch(&mut self, operation: Operation, context: &Context) {
        let is_its = |entry: &Entry| entry.operation == operation && entry.context.same(context);
        if let Some(place) = self.watchers.iter().rposition(is_its) {
            self.watchers.remove(place);
        }
    }

    /// Chooses the first thread that no other thread has chosen yet: its packet, and what wakes it after the list's lock is released. `note` is told of
    /// each thread just before that tries to choose it.
    pub fn choose(&mut self, mut note: impl FnMut(&Context)) -> Option<(*mut (), Sleeper)> {
        let mut position = 0;
        while let Some(entry) = self.selectors.get(position) {
            note(&entry.context);
            let chosen = entry.context.select(entry.operation);
            if chosen.is_none() && !entry.packet.is_null() {
                // Decided elsewhere. The packet is the thread's own: it will come to fetch it.
                position += 1;
                continue;
            }
            // Chosen now or by another source earlier: either way it waits no more.
            let entry = self.selectors.remove(position)?;
            if let Some(is_asleep) = chosen {
                if !entry.packet.is_null() {
                    entry.context.leave_packet(entry.packet);
                }
                let context = entry.context;
                return Some((entry.packet, Sleeper { context, is_asleep }));
            }
        }
        None
    }

    /// How many threads wait to take or give something and were not chosen yet.
    pub fn waiting(&self) -> usize {
        let undecided = |entry: &&Entry| entry.context.outcome().is_none();
        self.selectors.iter().filter(undecided).count()
    }

    /// Whether a thread other than `own` waits that no thread has chosen yet.
    pub fn has_other(&self, own: &Context) -> bool {
        self.selectors
            .iter()
            .any(|entry| !entry.context.same(own) && entry.context.outcome().is_none())
    }

    /// Whether any thread waits that no thread has chosen yet.
    pub fn has_any(&self) -> bool {
        self.has_more_than(0)
    }

    /// Whether more than so many threads wait that no thread has chosen yet.
    pub fn has_more_than(&self, count: usize) -> bool {
        let undecided = |entry: &&Entry| entry.context.outcome().is_none();
        self.selectors.iter().filter(undecided).nth(count).is_some()
    }

    /// Whether any thread only wants to hear of readiness.
    pub fn has_watchers(&self) -> bool {
        !self.watchers.is_empty()
    }

    /// Tells all watchers that there is something.
    pub fn tell_watchers(&mut self, sleepers: &mut Vec<Sleeper>) {
        sleepers.extend(self.watchers.drain(..).filter_map(Sleeper::chosen));
    }

    /// Tells all who wait to look again.
    pub fn tell_all(&mut self, sleepers: &mut Vec<Sleeper>) {
        sleepers.extend(self.selectors.drain(..).filter_map(Sleeper::chosen));
        self.tell_watchers(sleepers);
    }

    /// Tells all who wait that the other side is gone. The selectors' entries stay, so that each
    /// thread finds its own, with its packet, when it comes to remove it.
    pub fn disconnect(&mut self, sleepers: &mut Vec<Sleeper>) {
        for entry in &self.selectors {
            if entry.context.disconnect() == Some(true) {
                sleepers.push(Sleeper {
                    context: entry.context.clone(),
                    is_asleep: true,
                });
            }
        }
        self.tell_watchers(sleepers);
    }
}

/// Threads that wait at an endpoint, and what was learned about waiting there.
///
/// Those who bring something call [`notify_one`](WaitList::notify_one) after every message: one
/// load of a word that is not written while no thread sleeps. The protocol is in the crate's README.
///
/// # Examples
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
/// use tamtam_wait::{Wait, WaitList};
///
/// let (mail, waiters) = (AtomicU32::new(0), WaitList::new());
/// let take = || (mail.swap(0, SeqCst) != 0).then_some("mail");
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         mail.store(1, SeqCst);
///         waiters.notify_one();
///     });
///     // Looks a while, then registers, looks once more, and sleeps.
///     let got = waiters.wait_until(Wait::Adaptive, None, |_| take(), || mail.load(SeqCst) != 0);
///     assert_eq!(got, Some("mail"));
/// });
/// ```
pub struct WaitList {
    /// The entries in the queue, each worth [`ENTRY`], with [`NONE_TO_WAKE`] and [`WATCHED`]; written under the queue's lock.
    pending: AtomicU32,
    /// In a chained list: the identity of the last thread or task that was to be chosen, written before it can know of that. If another one takes itself for
    /// it, it passes on once too often.
    last_task: AtomicU16,
    /// A task that waits alone. It came before those in the queue. In a chained list, too: what is woken here is on the way of none of them.
    pub(crate) lone: Lone,
    habit: Habit,
    /// Whether one wake-up at a time is enough.
    chained: bool,
    /// Whether only one thread or task ever waits here.
    single: bool,
    queue: Mutex<WaitersPlace>,
}

/// In `pending`: there are entries, and yet none is to be woken now.
const NONE_TO_WAKE: u32 = 1;
/// In `pending`: of the entries one at least only watches.
const WATCHED: u32 = 2;
/// What an entry counts in `pending`.
const ENTRY: u32 = 4;

/// Those who wait; allocated by the first that waits here. Lists go in a hundred places of a program, so they are dropped by one
/// function, and not by a copy of it at each of them.
struct WaitersPlace(Option<Box<Waiters>>);

impl Drop for WaitersPlace {
    #[inline]
    fn drop(&mut self) {
        #[cold]
        #[inline(never)]
        fn drop_waiters(waiters: Box<Waiters>) {
            drop(waiters);
        }

        if let Some(waiters) = self.0.take() {
            drop_waiters(waiters);
        }
    }
}

#[derive(Debug, Default)]
struct Waiters {
    queue: WaitQueue,
    /// In a chained list: a thread was chosen and has not arrived yet.
    on_its_way: bool,
}

impl Default for WaitList {
    fn default() -> Self {
        Self::new()
    }
}

impl WaitList {
    /// An empty list.
    pub fn new() -> Self {
        Self {
            pending: AtomicU32::new(0),
            last_task: AtomicU16::new(0),
            lone: Lone::new(),
            habit: Habit::new(),
            chained: false,
            single: false,
            queue: Mutex::new(WaitersPlace(None)),
        }
    }

    /// An empty list in which one thread at a time is on its way: while a chosen thread has not
    /// arrived, no other one is chosen; when it has got what it came for and there is more, it chooses
    /// the next one.
    ///
    /// For those who wait for room. Room comes one place at a time from a thread that has better things
    /// to do than to wake another one for each of them; and a late one only finds more of it. Not for
    /// those who wait for messages: each of them should be on its way to a thread at once.
    ///
    /// A thread that was chosen comes; a task may never be polled again, or not before another one of
    /// the same list has got on. So none waits for a task to arrive: each place chooses another one, and
    /// the last one that was chosen passes on.
    pub fn chained() -> Self {
        Self {
            chained: true,
            ..Self::new()
        }
    }

    /// An empty list for an end that has one owner: never do two wait here at once. There may be others whose futures were leaked as they waited; so all in it
    /// are told of one thing.
    pub fn single() -> Self {
        Self {
            single: true,
            ..Self::new()
        }
    }

    /// What was learned about waiting here.
    #[inline]
    pub fn habit(&self) -> &Habit {
        &self.habit
    }

    /// Adds a thread that will take or give something.
    ///
    /// The thread must look once more *after* this and before it sleeps.
    pub fn register(&self, operation: Operation, context: &Context) {
        if self.single {
            self.lone.forget();
        }
        self.change(|waiters| waiters.queue.register(Entry::new(operation, context)));
    }

    /// Adds a thread that wants to hear of readiness. It, too, must look once more.
    pub fn watch(&self, operation: Operation, context: &Context) {
        self.change(|waiters| waiters.queue.watch(Entry::new(operation, context)));
    }

    /// Removes a thread's entry, if it is still there.
    pub fn unregister(&self, operation: Operation, context: &Context) {
        let entry = self.lessen(|waiters| waiters.queue.unregister(operation, context));
        drop(entry);
    }

    /// Removes a watcher's entry, if it is still there.
    pub fn unwatch(&self, operation: Operation, context: &Context) {
        self.lessen(|waiters| waiters.queue.unwatch(operation, context));
    }

    /// Attempts something until it succeeds or the deadline passes; between two attempts it looks
    /// again for a while and then sleeps here.
    ///
    /// An attempt is told whether to be *thorough*: the first one of each spell of looking is, and one
    /// of sixteen after that; the others may leave out what costs other threads' cache lines.
    ///
    /// `ready` is the second look: sequentially consistent, and true whenever a thorough attempt
    /// might succeed. At least one attempt is made after the deadline has passed.
    pub fn wait_until<R>(
        &self,
        wait: Wait,
        deadline: Option<Instant>,
        attempt: impl FnMut(bool) -> Option<R>,
        ready: impl Fn() -> bool,
    ) -> Option<R> {
        self.wait_resting_until(Patience::REST, wait, deadline, attempt, ready)
    }

    /// As [`wait_until`](WaitList::wait_until), with another number of pauses between two looks.
    pub fn wait_resting_until<R>(
        &self,
        rest: u32,
        wait: Wait,
        deadline: Option<Instant>,
        mut attempt: impl FnMut(bool) -> Option<R>,
        ready: impl Fn() -> bool,
    ) -> Option<R> {
        const {
            assert!(
                crate::CAN_BLOCK,
                "this call would block, and without threads nobody could end that: use its `try_` or \
                 `_async` form"
            );
        }
        let mut backoff = Backoff::new();
        loop {
            let mut patience = self.habit.begin(wait, deadline).resting(rest);
            let mut looks = 0_u32;
            loop {
                if let Some(result) = attempt(looks.is_multiple_of(16)) {
                    patience.rewarded();
                    return Some(result);
                }
                looks = looks.wrapping_add(1);
                if !patience.look_again() {
                    break;
                }
            }
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                return attempt(true);
            }
            if ready() {
                // There is something to take, and another thread is in the middle of a step.
                backoff.pause();
                continue;
            }
            patience.sleeps();
            if self.sleep(deadline, &ready) {
                patience.woken();
                // The step that was waited for before is over.
                backoff = Backoff::new();
                if self.chained {
                    self.arrive();
                    if let Some(result) = attempt(true) {
                        self.pass_on(&ready);
                        return Some(result);
                    }
                }
            }
        }
    }

    /// A chosen thread has arrived: the next one may be chosen. To be called before it attempts what
    /// it was chosen for.
    pub fn arrive(&self) {
        if self.chained {
            self.change(|waiters| waiters.on_its_way = false);
        }
    }

    /// As [`arrive`](WaitList::arrive), for a thread or a task: whether it is to pass on.
    pub fn arrive_as(&self, context: &Context) -> bool {
        if context.is_task() {
            // SYNC context: its own identity was written before it was chosen. Another one is that of a waiter that was to be chosen later.
            self.last_task.load(Ordering::Relaxed) == context.identity()
        } else {
            self.arrive();
            true
        }
    }

    /// A chosen thread has got what it came for: if there is more, the next one is chosen, since those
    /// who brought it may have seen that a thread was on the way.
    pub fn pass_on(&self, ready: impl Fn() -> bool) {
        if self.chained && ready() {
            self.notify_one();
        }
    }

    /// A chosen task does not come: the next one is chosen if there is something to come for.
    pub fn decline(&self, ready: impl Fn() -> bool) {
        if ready() {
            self.notify_one();
        }
    }

    /// Sleeps until this thread is notified (`true`), until it is ready by itself, or until
    /// the deadline.
    #[cold]
    fn sleep(&self, deadline: Option<Instant>, ready: &dyn Fn() -> bool) -> bool {
        const ONLY: Operation = Operation::new(0);
        if self.single {
            // A task of the same owner: it comes for its place again, as this thread may wait in vain.
            self.lone.notify();
        }
        Context::with(|context| {
            self.register(ONLY, context);
            if ready() {
                // A notification that has come meanwhile meant a message that this thread is about to see.
                context.abort();
                if cfg!(tamtam_loom) {
                    // Another thread may be in the middle of a step that this one would look at for ever.
                    seam::yield_now();
                }
            }
            let outcome = context.park(deadline);
            if outcome == Outcome::Aborted {
                self.unregister(ONLY, context);
            }
            outcome != Outcome::Aborted
        })
    }

    /// Changes who waits; from now on, in the order of all that is sequentially consistent, more may have to be woken.
    fn change<R>(&self, change: impl FnOnce(&mut Waiters) -> R) -> R {
        // SYNC pending: sequentially consistent, and so is the look that follows a registration.
        self.change_until(Ordering::SeqCst, change)
    }

    /// As `change`, where none is to be woken that was not before: who sees that late looks into the queue in vain.
    fn lessen<R>(&self, change: impl FnOnce(&mut Waiters) -> R) -> R {
        self.change_until(Ordering::Relaxed, change)
    }

    fn change_until<R>(&self, seen: Ordering, change: impl FnOnce(&mut Waiters) -> R) -> R {
        let mut queue = self.queue.lock();
        let waiters = queue.0.get_or_insert_default();
        let result = change(waiters);
        let mut pending = waiters.queue.len() as u32 * ENTRY;
        if waiters.queue.has_watchers() {
            pending |= WATCHED;
        } else if pending != 0 && waiters.on_its_way {
            pending |= NONE_TO_WAKE;
        }
        self.pending.store(pending, seen);
        drop(queue);
        if seen == Ordering::SeqCst {
            seam::model_fence();
        }
        result
    }

    /// Wakes one thread that waits to take or give, and all that watch.
    ///
    /// The caller has just made a sequentially consistent change that a registered thread's second
    /// look would see.
    #[inline]
    pub fn notify_one(&self) {
        seam::model_fence();
        // SYNC pending
        let pending = self.pending.load(Ordering::SeqCst);
        if pending != 0 || self.lone.is_listed() {
            self.notify_waiters(pending);
        }
    }

    /// Wakes the task that waits alone, and all that watch, if there is such a task.
    #[inline]
    fn notify_lone(&self) -> bool {
        let woken = self.lone.notify();
        if woken && self.pending.load(Ordering::SeqCst) & WATCHED != 0 {
            self.tell_watchers();
        }
        woken
    }

    #[inline(never)]
    fn notify_waiters(&self, pending: u32) {
        if !self.notify_lone() && pending != 0 && pending & NONE_TO_WAKE == 0 {
            self.wake_one();
        }
    }

    /// As [`notify_one`](WaitList::notify_one), for so many things that were brought at once: wakes
    /// as many threads and tasks. In a chained list one thread is enough, as ever.
    #[inline]
    pub fn notify_many(&self, count: usize) {
        seam::model_fence();
        // SYNC pending
        let pending = self.pending.load(Ordering::SeqCst);
        let mut left = count;
        // Who waits alone came before those in the queue.
        if self.lone.notify() {
            left = left.saturating_sub(1);
        }
        if pending != 0 && pending & NONE_TO_WAKE == 0 {
            self.wake_many(left);
        }
    }

    #[cold]
    #[inline(never)]
    fn wake_many(&self, count: usize) {
        if self.single {
            return self.wake_all();
        }
        let (mut watchers, mut chosen) = (Vec::new(), Vec::new());
        self.lessen(|waiters| {
            waiters.queue.tell_watchers(&mut watchers);
            chosen.extend(core::iter::from_fn(|| self.choose(waiters)).take(count));
        });
        drop(chosen);
        drop(watchers);
    }

    #[cold]
    #[inline(never)]
    fn tell_watchers(&self) {
        let mut sleepers = Vec::new();
        self.lessen(|waiters| waiters.queue.tell_watchers(&mut sleepers));
        drop(sleepers);
    }

    /// As [`notify_one`](WaitList::notify_one), for those whose change was a plain release store: `true`
    /// if the endpoint is [closed](Attention::close). See [`Attention`].
    #[inline(always)]
    #[must_use = "a message that was stored after the end was closed must be taken back"]
    pub fn notify_after_store(&self, attention: &Attention) -> bool {
        attention.is_wanted() && self.attend(attention)
    }

    #[inline(never)]
    fn attend(&self, attention: &Attention) -> bool {
        // A task that is seen to wait needs no fence: choosing it is one.
        if !self.notify_lone() {
            seam::atomic::fence(Ordering::SeqCst);
            self.notify_one();
        }
        attention.is_closed()
    }

    /// Whether no waiter has registered.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pending.load(Ordering::Relaxed) == 0
    }

    /// Lists a task in the place for one, if no other waiter is here.
    #[inline]
    pub(crate) fn list_alone(&self, waker: &Waker) -> Option<Ticket> {
        if self.pending.load(Ordering::Relaxed) != 0 {
            return None;
        }
        if self.single {
            self.lone.list_only(waker)
        } else {
            self.lone.list(waker)
        }
    }

    /// Chooses the next one, unless a thread is on its way that will see to it.
    fn choose(&self, waiters: &mut Waiters) -> Option<Sleeper> {
        if waiters.on_its_way {
            return None;
        }
        // A waiter that is noted and then not chosen was decided elsewhere, and is out of the queue: none of a list has a packet. If all were, the queue is empty,
        // and the last task has no one to pass on to; a waiter that registers later looks itself.
        let chosen = waiters.queue.choose(|context| {
            if self.chained {
                self.last_task.store(context.identity(), Ordering::Relaxed);
            }
        });
        let (_, sleeper) = chosen?;
        waiters.on_its_way = self.chained && !sleeper.context.is_task();
        Some(sleeper)
    }

    #[cold]
    #[inline(never)]
    fn wake_one(&self) {
        if self.single {
            return self.wake_all();
        }
        let mut sleepers = Vec::new();
        let chosen = self.lessen(|waiters| {
            waiters.queue.tell_watchers(&mut sleepers);
            self.choose(waiters)
        });
        drop(chosen);
        drop(sleepers);
    }

    /// Tells every thread to look again: the endpoint was closed, or something came for all.
    pub fn notify_all(&self) {
        seam::model_fence();
        self.lone.notify();
        // SYNC pending
        if self.pending.load(Ordering::SeqCst) != 0 {
            self.wake_all();
        }
    }

    /// Tells all in the queue, as is also done where there is one owner and something for one: of several the others were leaked, each with a deadline, and
    /// which of them waits cannot be told.
    #[cold]
    #[inline(never)]
    fn wake_all(&self) {
        let mut sleepers = Vec::new();
        self.lessen(|waiters| waiters.queue.tell_all(&mut sleepers));
        drop(sleepers);
    }
}

impl Entry {
    /// An entry without a packet.
    pub fn new(operation: Operation, context: &Context) -> Self {
        Entry {
            operation,
            context: context.clone(),
            packet: core::ptr::null_mut(),
        }
    }
}

impl fmt::Debug for WaitList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitList")
            .field("lone_task", &self.lone.is_listed())
            .field("pending", &self.pending.load(Ordering::Relaxed))
            .field("habit", &self.habit)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests;
