//! A thread's side of a wait: the one word that decides which of several wakers wins.

#[cfg(not(tamtam_loom))]
use core::cell::{Cell, RefCell};
use core::fmt;
use core::ptr;
use core::task::Waker;
use std::time::Instant;

use crate::contain::{contain, or_undo};
use crate::seam::Arc;
#[cfg(not(tamtam_loom))]
use crate::seam::atomic::fence;
use crate::seam::atomic::{AtomicPtr, Ordering};
use crate::waker_place::WakerPlace;
use crate::{Backoff, Futex, Operation, Patience, Scope, SharedWords};

/// No thread has chosen it yet; the thread is awake.
const WAITING: u32 = 0;
/// No thread has chosen it yet; the thread sleeps or is about to.
const PARKED: u32 = 1;
/// The thread gave the wait up.
const ABORTED: u32 = 2;
/// What was waited for is gone.
const DISCONNECTED: u32 = 3;
/// The first of the operations.
const OPERATION: u32 = 4;

/// How a wait ended.
///
/// # Examples
///
/// ```
/// use tamtam_wait::{Context, Operation, Outcome};
///
/// Context::with(|context| {
///     // Chosen for the operation number 3, and awake: there is nothing to wake.
///     assert_eq!(context.select(Operation::new(3)), Some(false));
///     match context.outcome() {
///         Some(Outcome::Selected(operation)) => assert_eq!(operation.index(), 3),
///         other => panic!("{other:?}"),
///     }
/// });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The thread gave up before it was chosen: its deadline passed or it found what it wanted.
    Aborted,
    /// The other side is gone.
    Disconnected,
    /// This operation was chosen.
    Selected(Operation),
}

/// One thread's place in the wait lists: every entry of one wait points to the same context, and
/// the thread that changes its word first decides how the wait ends.
///
/// The idea of one word per blocked thread that all its partners compete for is from
/// crossbeam-channel's select.
///
/// # Examples
///
/// ```
/// use std::sync::mpsc;
/// use tamtam_wait::{Context, Operation, Outcome};
///
/// let (sender, receiver) = mpsc::channel::<Context>();
/// let chooser = std::thread::spawn(move || {
///     let context = receiver.recv().unwrap();
///     if context.select(Operation::new(0)) == Some(true) {
///         context.wake();
///     }
///     // It was chosen before: the first decision counts.
///     assert_eq!(context.select(Operation::new(1)), None);
/// });
/// Context::with(|context| {
///     sender.send(context.clone()).unwrap();
///     assert_eq!(context.park(None), Outcome::Selected(Operation::new(0)));
///     chooser.join().unwrap();
/// });
/// ```
#[derive(Clone)]
pub struct Context(Arc<Choice>);

struct Choice {
    word: Futex,
    /// What the chooser and the chosen exchange; null until the chooser has stored it.
    packet: AtomicPtr<()>,
    /// What wakes the task, if a task waits and not a thread.
    ///
    /// The thread that moves the word from `PARKED` to a decision may take it; the task itself may change it
    /// while the word is `WAITING`, and while no other thread has the context.
    waker: WakerPlace,
    is_task: bool,
}

// SAFETY: the waker is accessed by one thread at a time, as its comment says; a waker may be sent and
// shared. The rest is `Send` and `Sync` by itself.
unsafe impl Send for Choice {}
// SAFETY: the waker is accessed by one thread at a time, as its comment says, and a waker may be shared; the rest is
// atomic.
unsafe impl Sync for Choice {}

#[cfg(not(tamtam_loom))]
thread_local! {
    static SPARE: Cell<Option<Context>> = const { Cell::new(None) };
    /// Contexts for the tasks of this thread; see [`Context::recycle`].
    static SPARE_FOR_TASKS: RefCell<Vec<Context>> = const { RefCell::new(Vec::new()) };
}

/// A thread keeps at most so many contexts for its tasks: 96 bytes each.
#[cfg(not(tamtam_loom))]
const MOST_SPARE: usize = 64;

impl Context {
    /// Runs `wait` with a context that is ready for a new wait.
    ///
    /// The thread's own context is reused where there is one: not within another wait of the same
    /// thread, nor while its thread-local values are being dropped.
    pub fn with<R>(wait: impl FnOnce(&Context) -> R) -> R {
        #[cfg(not(tamtam_loom))]
        {
            let context = SPARE
                .try_with(Cell::take)
                .ok()
                .flatten()
                .unwrap_or_else(|| Context::fresh(false));
            context.reset();
            let result = wait(&context);
            let _ = SPARE.try_with(|spare| spare.set(Some(context)));
            result
        }
        #[cfg(tamtam_loom)]
        {
            wait(&Context::fresh(false))
        }
    }

    fn fresh(is_task: bool) -> Self {
        Context(Arc::new(Choice {
            word: Futex::new(WAITING),
            packet: AtomicPtr::new(ptr::null_mut()),
            waker: WakerPlace::new(),
            is_task,
        }))
    }

    /// A context for a task, which counts as asleep from the beginning: the thread that chooses it wakes it
    /// by `waker`.
    #[must_use]
    pub fn for_task(waker: &Waker) -> Self {
        #[cfg(not(tamtam_loom))]
        let context = SPARE_FOR_TASKS
            .try_with(|spare| spare.try_borrow_mut().ok()?.pop())
            .ok()
            .flatten()
            .unwrap_or_else(|| Context::fresh(true));
        #[cfg(tamtam_loom)]
        let context = Context::fresh(true);
        // A waker's clone is user code: it runs before anything depends on it.
        let waker = waker.clone();
        context.0.waker.with_mut(|place| {
            // SAFETY: no other thread has this context.
            unsafe { *place = Some(waker) }
        });
        context.0.word.store(PARKED, Ordering::Relaxed);
        context
    }

    /// Keeps the context of a task's wait that is over for another one, if no other thread has it.
    ///
    /// No entry of it may be listed any more.
    pub fn recycle(self) {
        #[cfg(not(tamtam_loom))]
        {
            // A thread that has chosen this one may still be about to wake it: then the context is that thread's.
            if Arc::strong_count(&self.0) != 1 {
                return;
            }
            // What other threads did before they gave up their shares comes before what follows. `Arc::get_mut` would rule out weak references, too, by a
            // locked instruction; there are none.
            fence(Ordering::Acquire);
            self.0.packet.store(ptr::null_mut(), Ordering::Relaxed);
            let waker = self.0.waker.with_mut(|place| {
                // SAFETY: no other thread has this context: this is the only reference, and weak ones are never made.
                unsafe { (*place).take() }
            });
            let _ = SPARE_FOR_TASKS.try_with(|spare| {
                if let Ok(mut spare) = spare.try_borrow_mut()
                    && spare.len() < MOST_SPARE
                {
                    spare.push(self);
                }
            });
            contain(|| drop(waker));
        }
    }

    /// The task waits on, unless it has been chosen meanwhile.
    fn park_again(&self) -> Result<u32, u32> {
        // SYNC waker
        self.0
            .word
            .compare_exchange(WAITING, PARKED, Ordering::Release, Ordering::Relaxed)
    }

    /// A task was polled while it waits: how the wait has ended, if it has; else the thread that chooses it
    /// from now on wakes `waker`.
    pub fn renew(&self, waker: &Waker) -> Option<Outcome> {
        if let Some(outcome) = self.outcome() {
            return Some(outcome);
        }
        // While the word says that the task is awake no thread wakes it, so the waker is the task's own.
        // SYNC waker
        if self
            .0
            .word
            .compare_exchange(PARKED, WAITING, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            return self.outcome();
        }
        let same = self.0.waker.with(|place| {
            // SAFETY: the word is `WAITING`, and only the task itself moves it on to `PARKED`.
            unsafe { (*place).as_ref() }.is_some_and(|current| current.will_wake(waker))
        });
        let replaced = if same {
            None
        } else {
            // A clone is user code, which may panic: then the waker that is there stays.
            let waker = or_undo(|| waker.clone(), || _ = self.park_again());
            self.0.waker.with_mut(|place| {
                // SAFETY: the word is `WAITING`, and only the task itself moves it on to `PARKED`.
                unsafe { (*place).replace(waker) }
            })
        };
        // SYNC waker
        let parked = self.park_again();
        contain(|| drop(replaced));
        match parked {
            Ok(_) => None,
            Err(_) => self.outcome(),
        }
    }

    /// The wait's deadline has passed: gives it up for the one who waits, and wakes it.
    pub fn expire(&self) {
        if self.decide(ABORTED) == Some(true) {
            self.wake();
        }
    }

    /// Makes the context ready for a new wait. No entry of an earlier wait may be listed any more.
    pub fn reset(&self) {
        self.0.word.store(WAITING, Ordering::Relaxed);
        self.0.packet.store(ptr::null_mut(), Ordering::Relaxed);
    }

    /// Whether a task waits, and not a thread.
    #[inline]
    pub fn is_task(&self) -> bool {
        self.0.is_task
    }

    /// Tells this wait from others of the same time; hardly ever do two have the same.
    pub(crate) fn identity(&self) -> u16 {
        (core::ptr::from_ref::<Choice>(&self.0).addr() >> 4) as u16
    }

    /// Whether both are the same wait.
    #[inline]
    pub fn same(&self, other: &Context) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Chooses an operation for the thread. `Some(asleep)` if this call was the one that decided;
    /// if the thread is asleep, the caller must [`wake`](Context::wake) it.
    #[must_use = "a chosen thread that sleeps must be woken"]
    pub fn select(&self, operation: Operation) -> Option<bool> {
        self.decide(OPERATION + operation.index())
    }

    /// Tells the thread that the other side is gone; else as [`select`](Context::select).
    #[must_use = "a chosen thread that sleeps must be woken"]
    pub fn disconnect(&self) -> Option<bool> {
        self.decide(DISCONNECTED)
    }

    /// The thread itself gives up. `false` if another thread was faster.
    pub fn abort(&self) -> bool {
        self.decide(ABORTED).is_some()
    }

    fn decide(&self, decision: u32) -> Option<bool> {
        let mut current = self.0.word.load(Ordering::Relaxed);
        while current == WAITING || current == PARKED {
            // SYNC context: what the chooser did before is seen by the thread that was chosen.
            // SYNC waker: the waker that a task has left is seen by the chooser.
            match self.0.word.compare_exchange_weak(
                current,
                decision,
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(current == PARKED),
                Err(now) => current = now,
            }
        }
        None
    }

    /// Ends the sleep of a thread or task that was chosen while it slept. If a waker panics, that is
    /// none of the caller's business: it goes on.
    ///
    /// Only for the one who has chosen it, and once.
    pub fn wake(&self) {
        let waits_as_task = self.0.waker.with(|place| {
            // SAFETY: the thread that chose it asleep is the only one to access the waker.
            unsafe { (*place).is_some() }
        });
        if waits_as_task {
            let waker = self.0.waker.with_mut(|place| {
                // SAFETY: this thread has chosen the one that slept, so it alone accesses the waker. Taking it leaves
                // nothing that would outlive the task.
                unsafe { (*place).take() }
            });
            if let Some(waker) = waker {
                contain(|| waker.wake());
            }
        } else {
            self.0.word.wake_one(Scope::Private);
        }
    }

    /// Leaves the packet for the thread that this caller has chosen.
    pub fn leave_packet(&self, packet: *mut ()) {
        // SYNC packet
        self.0.packet.store(packet, Ordering::Release);
    }

    /// Takes the packet that the chooser leaves; it is there or about to be.
    pub fn packet(&self) -> *mut () {
        let mut backoff = Backoff::new();
        loop {
            // SYNC packet
            let packet = self.0.packet.load(Ordering::Acquire);
            if !packet.is_null() {
                return packet;
            }
            backoff.pause();
        }
    }

    /// How the wait ended, if it has.
    #[inline]
    pub fn outcome(&self) -> Option<Outcome> {
        // SYNC context
        match self.0.word.load(Ordering::Acquire) {
            WAITING | PARKED => None,
            ABORTED => Some(Outcome::Aborted),
            DISCONNECTED => Some(Outcome::Disconnected),
            operation => Some(Outcome::Selected(Operation::new(operation - OPERATION))),
        }
    }

    /// Sleeps until another thread decides, or until the deadline.
    pub fn park(&self, deadline: Option<Instant>) -> Outcome {
        // From here on a chooser must wake this thread. If this fails, it was chosen already.
        let _ = self
            .0
            .word
            .compare_exchange(WAITING, PARKED, Ordering::Relaxed, Ordering::Relaxed);
        loop {
            if let Some(outcome) = self.outcome() {
                return outcome;
            }
            if self.0.word.wait(PARKED, deadline, Scope::Private).is_err() {
                self.abort();
            }
        }
    }

    /// As [`park`](Context::park), at these words, too: one that holds something else ends the wait as the deadline does. Then the thread looks itself.
    ///
    /// Woken by a word or chosen by another thread: both may be at the same time, and then it is chosen.
    pub fn park_at(&self, words: SharedWords<'_>, deadline: Option<Instant>) -> Outcome {
        if words.is_empty() {
            return self.park(deadline);
        }
        let deadline = words.latest(deadline);
        let mut all = words.words;
        all.insert(0, (&self.0.word, PARKED, Scope::Private));
        // From here on a chooser must wake this thread. If this fails, it was chosen already.
        let _ = self
            .0
            .word
            .compare_exchange(WAITING, PARKED, Ordering::Relaxed, Ordering::Relaxed);
        loop {
            if let Some(outcome) = self.outcome() {
                return outcome;
            }
            let others = &all[1..];
            let is_changed = others
                .iter()
                .any(|(word, expected, _)| word.load(Ordering::SeqCst) != *expected);
            if is_changed || Futex::wait_any(&all, deadline).is_err() {
                self.abort();
            }
        }
    }

    /// Looks again as long as `patience` lasts, then sleeps; for waits whose end is announced in
    /// the context alone.
    pub fn wait(&self, patience: &mut Patience<'_>, deadline: Option<Instant>) -> Outcome {
        loop {
            if let Some(outcome) = self.outcome() {
                patience.rewarded();
                return outcome;
            }
            if !patience.look_again() {
                break;
            }
        }
        patience.sleeps();
        let outcome = self.park(deadline);
        if outcome != Outcome::Aborted {
            patience.woken();
        }
        outcome
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("outcome", &self.outcome())
            .finish()
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;
    use crate::contain::{counted, uncloneable};

    const SECOND: Operation = Operation::new(1);

    #[test]
    fn a_wait_is_decided_once() {
        type Decide = fn(&Context) -> Option<bool>;
        let ways: [(Decide, Outcome); 3] = [
            (|context| context.select(SECOND), Outcome::Selected(SECOND)),
            (Context::disconnect, Outcome::Disconnected),
            (|context| context.abort().then_some(false), Outcome::Aborted),
        ];
        for (decide, outcome) in ways {
            Context::with(|context| {
                assert_eq!(context.outcome(), None);
                // It is awake, so it needs no wake-up.
                assert_eq!(decide(context), Some(false));
                for (again, _) in ways {
                    assert_eq!(again(context), None);
                }
                assert_eq!(context.outcome(), Some(outcome));
                let shown = format!("Context {{ outcome: {:?} }}", Some(outcome));
                assert_eq!(format!("{context:?}"), shown);
                assert_eq!(context.park(None), outcome);
                context.reset();
                assert_eq!(context.outcome(), None);
                assert!(context.abort());
            });
            // The same one is ready for another wait.
            Context::with(|context| assert_eq!(context.outcome(), None));
        }
    }

    #[test]
    fn a_task_counts_as_asleep_and_is_woken_once() {
        let (count, waker) = counted::waker();
        let context = Context::for_task(&waker);
        assert!(context.is_task());
        assert_eq!(context.select(SECOND), Some(true));
        assert_eq!(count.wakes(), 0);
        context.wake();
        assert_eq!(count.wakes(), 1);
        // Nothing of the waker is left.
        drop(waker);
        assert_eq!(std::sync::Arc::strong_count(&count), 1);
        Context::with(|context| assert!(!context.is_task()));
    }

    #[test]
    fn an_expired_wait_wakes_its_task_unless_it_was_decided_before() {
        let (count, waker) = counted::waker();
        let context = Context::for_task(&waker);
        context.expire();
        assert_eq!(context.outcome(), Some(Outcome::Aborted));
        assert_eq!(count.wakes(), 1);
        context.expire();
        assert_eq!(count.wakes(), 1);

        let context = Context::for_task(&waker);
        assert_eq!(context.disconnect(), Some(true));
        context.expire();
        assert_eq!(context.outcome(), Some(Outcome::Disconnected));
        assert_eq!(count.wakes(), 1);
    }

    #[test]
    fn the_waker_of_the_last_poll_is_called() {
        let ((old, old_waker), (new, new_waker)) = (counted::waker(), counted::waker());
        let context = Context::for_task(&old_waker);
        assert_eq!(context.renew(&old_waker), None);
        assert_eq!(context.renew(&new_waker), None);
        // The old one is not kept.
        drop(old_waker);
        assert_eq!(std::sync::Arc::strong_count(&old), 1);
        assert_eq!(context.select(SECOND), Some(true));
        context.wake();
        assert_eq!((old.wakes(), new.wakes()), (0, 1));
        assert_eq!(context.renew(&new_waker), Some(Outcome::Selected(SECOND)));
    }

    #[test]
    fn a_context_of_a_task_is_used_again_and_keeps_nothing_of_it() {
        let (count, waker) = counted::waker();
        let context = Context::for_task(&waker);
        let shared = context.clone();
        let identity = context.identity();
        context.leave_packet(core::ptr::dangling_mut::<u64>().cast());
        assert!(context.abort());
        // Another one has it: it is not used again.
        context.recycle();
        let fresh = Context::for_task(&waker);
        assert!(!fresh.same(&shared) && shared.same(&shared.clone()));
        drop(fresh);
        shared.recycle();
        drop(waker);
        assert_eq!(std::sync::Arc::strong_count(&count), 1);
        let again = Context::for_task(Waker::noop());
        assert_eq!(again.identity(), identity);
        assert_eq!(again.outcome(), None);
        assert!(again.0.packet.load(Ordering::SeqCst).is_null());
    }

    #[test]
    fn a_thread_keeps_so_many_contexts_for_its_tasks_and_no_more() {
        let contexts: Vec<_> = (0..MOST_SPARE + 9)
            .map(|_| Context::for_task(Waker::noop()))
            .collect();
        for context in contexts {
            context.recycle();
        }
        assert_eq!(SPARE_FOR_TASKS.with_borrow(Vec::len), MOST_SPARE);
    }

    #[test]
    fn a_task_whose_new_waker_cannot_be_cloned_is_woken_by_the_old_one() {
        let (count, waker) = counted::waker();
        let context = Context::for_task(&waker);
        assert!(uncloneable::panics(|other| context.renew(other)));
        assert_eq!(context.outcome(), None);
        assert_eq!(context.select(SECOND), Some(true));
        context.wake();
        assert_eq!(count.wakes(), 1);
        assert!(uncloneable::panics(Context::for_task));
    }

    #[test]
    fn each_way_of_waiting_ends_at_the_deadline() {
        let habit = crate::Habit::new();
        for wait in crate::Wait::ALL {
            Context::with(|context| {
                let deadline = Some(Instant::now() + std::time::Duration::from_millis(2));
                let mut patience = habit.begin(wait, deadline);
                assert_eq!(context.wait(&mut patience, deadline), Outcome::Aborted);
                assert!(Some(Instant::now()) >= deadline);
            });
        }
    }

    #[test]
    fn a_wait_that_was_given_up_at_its_deadline_was_no_short_sleep() {
        let habit = crate::Habit::impatient();
        let wait = |context: &Context| {
            let mut patience = habit.begin(crate::Wait::Adaptive, None);
            context.wait(&mut patience, Some(Instant::now()))
        };
        Context::with(|context| assert_eq!(wait(context), Outcome::Aborted));
        assert!(habit.is_impatient());
        // What was decided before it looked is no sleep at all.
        Context::with(|context| {
            assert_eq!(context.select(SECOND), Some(false));
            assert_eq!(wait(context), Outcome::Selected(SECOND));
        });
        assert!(habit.is_impatient());
    }
}
