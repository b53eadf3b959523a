//! The clock of those who wait without a thread: one thread for all of them.
//!
//! A thread that waits until a deadline sleeps until then by itself. A task cannot, and no runtime's
//! timer is asked for; so the first task that waits with a deadline starts a thread, which keeps all
//! deadlines in a heap, sleeps until the earliest one, and ends when there has been none for a while.
//!
//! It wakes the tasks itself, with no lock held: to hand each over to another thread would cost more than what an
//! executor's waker does. So a waker that takes long makes late what is due behind it.
//!
//! Two things can take the thread away. A process may not get another one: then tasks with deadlines wake
//! themselves, a little later each time, and each such poll looks at its own deadline and attempts to start
//! the thread again. And a forked child has a copy of the deadlines without the thread, and perhaps with
//! their lock held by it: so the child has a clock of its own, and each task that is polled there enters its
//! deadline anew. Not those that are not polled: their wakers belong to a runtime whose threads are not there
//! either.

use core::task::Waker;
use std::time::Instant;

use crate::Context;
use crate::contain::contain;

#[cfg(not(tamtam_loom))]
mod deadlines;

/// The deadline of a task's wait, at which it expires. Dropping this takes it back.
///
/// # Examples
///
/// ```
/// use std::task::{Wake, Waker};
/// use std::sync::Arc;
/// use std::time::{Duration, Instant};
/// use tamtam_wait::{Context, Outcome, TaskDeadline};
///
/// struct Bell(std::thread::Thread);
///
/// impl Wake for Bell {
///     fn wake(self: Arc<Self>) {
///         self.0.unpark();
///     }
/// }
///
/// let waker = Waker::from(Arc::new(Bell(std::thread::current())));
/// let context = Context::for_task(&waker);
/// let mut deadline = TaskDeadline::for_task(Instant::now() + Duration::from_millis(2), &context, &waker);
/// // As a future that is polled when it is woken.
/// while !deadline.attend(&context, &waker) && context.outcome().is_none() {
///     std::thread::park_timeout(Duration::from_millis(100));
/// }
/// assert_eq!(context.outcome(), Some(Outcome::Aborted));
/// ```
#[derive(Debug)]
#[must_use = "a deadline is taken back when this is dropped"]
pub struct TaskDeadline {
    due: Instant,
    entry: clock::Entry,
}

impl TaskDeadline {
    /// Lets the wait of `context` expire at `due`.
    ///
    /// Where no thread can be started it does so late: when one can be, and another deadline is set.
    pub fn new(due: Instant, context: &Context) -> Self {
        TaskDeadline {
            due,
            entry: clock::schedule(due, context.clone()),
        }
    }

    /// As [`new`](TaskDeadline::new), for a wait that [attends](TaskDeadline::attend) to it whenever it is
    /// polled. Then it expires soon after its time wherever its task is polled when it is woken.
    pub fn for_task(due: Instant, context: &Context, waker: &Waker) -> Self {
        let deadline = TaskDeadline::new(due, context);
        if !clock::has_thread() {
            contain(|| waker.wake_by_ref());
        }
        deadline
    }

    #[cfg(all(test, not(tamtam_loom)))]
    pub(crate) fn due(&self) -> Instant {
        self.due
    }

    /// Whether a thread of this process looks after it, as far as is known: none does in a forked child of the process in
    /// which it was set, nor where no thread could be started. Then it comes only if its task
    /// [attends](TaskDeadline::attend) to it, or when a thread can be started again.
    #[must_use]
    #[inline]
    pub fn is_kept(&self) -> bool {
        clock::is_kept(&self.entry)
    }

    /// The task was polled while it waits: `true` if the wait is over, since the deadline has passed or the
    /// task was chosen meanwhile.
    ///
    /// # Blocking
    ///
    /// For a millisecond if there is no thread for the clock and none can be started; the task is woken
    /// then, so that it comes again.
    pub fn attend(&mut self, context: &Context, waker: &Waker) -> bool {
        if self.due <= Instant::now() {
            context.abort();
            return true;
        }
        if clock::is_foreign(&self.entry) {
            self.entry = clock::schedule(self.due, context.clone());
        }
        if !clock::has_thread() && !clock::attempt_again() {
            contain(|| waker.wake_by_ref());
        }
        false
    }
}

impl Drop for TaskDeadline {
    fn drop(&mut self) {
        clock::cancel(&self.entry);
    }
}

#[cfg(not(tamtam_loom))]
mod clock {
    use std::ptr;
    use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
    use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
    use std::thread;
    use std::time::{Duration, Instant};

    use super::deadlines::Deadlines;
    use crate::{Context, process};

    /// A clock that has had nothing to do for so long ends its thread; sooner where a test waits for that.
    const IDLE: Duration = Duration::from_millis(if cfg!(test) { 50 } else { 1_000 });

    /// Where no thread can be started, a poll of a task with a deadline takes so long, if none has just done so.
    const PAUSE: Duration = Duration::from_millis(1);

    /// A deadline's place in a clock.
    #[derive(Debug)]
    pub(super) struct Entry {
        clock: &'static Clock,
        number: u64,
        place: u32,
    }

    #[derive(Debug)]
    struct Kept {
        deadlines: Deadlines,
        runs: bool,
        /// Until when the thread sleeps, while it does.
        asleep_until: Option<Instant>,
        /// When starting a thread was attempted last, and failed.
        failed: Option<Instant>,
    }

    #[derive(Debug)]
    struct Clock {
        /// It is of no use to any other process.
        process: u32,
        kept: Mutex<Kept>,
        /// The thread has to get up earlier than it meant to.
        earlier: Condvar,
        /// The thread could not be started.
        is_without_thread: AtomicBool,
    }

    /// This process' clock, or that of the process that it was forked from. Never freed.
    static CURRENT: AtomicPtr<Clock> = AtomicPtr::new(ptr::null_mut());

    /// Tells deadlines of the same moment apart, also beside those of a process that this one was forked from.
    static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);

    fn current() -> &'static Clock {
        // SYNC clock: it is initialised.
        let seen = CURRENT.load(Ordering::Acquire);
        // SAFETY: a clock is never freed once it is there.
        match unsafe { seen.as_ref() } {
            Some(clock) if clock.is_ours() => clock,
            _ => begin(seen),
        }
    }

    /// Begins this process' clock, unless another thread was faster.
    #[cold]
    fn begin(seen: *mut Clock) -> &'static Clock {
        let fresh = Box::into_raw(Box::new(Clock {
            process: process::current(),
            kept: Mutex::new(Kept {
                deadlines: Deadlines::new(),
                runs: false,
                asleep_until: None,
                failed: None,
            }),
            earlier: Condvar::new(),
            is_without_thread: AtomicBool::new(false),
        }));
        // SYNC clock
        match CURRENT.compare_exchange(seen, fresh, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: made just now, and never freed from here on.
            Ok(_) => unsafe { &*fresh },
            Err(now) => {
                // SAFETY: made just now, and its address was not given away.
                drop(unsafe { Box::from_raw(fresh) });
                // SAFETY: a clock is never freed once it is there.
                unsafe { &*now }
            }
        }
    }

    impl Clock {
        fn is_ours(&self) -> bool {
            self.process == process::current()
        }

        fn lock(&self) -> MutexGuard<'_, Kept> {
            // No user code runs under the lock, so it is never poisoned half changed.
            self.kept.lock().unwrap_or_else(PoisonError::into_inner)
        }

        /// Wakes the thread if it sleeps and should do so no longer. Most deadlines are taken back long before
        /// they are due; so it is not woken for each of them, but only if it would oversleep.
        fn get_up(&self, mut kept: MutexGuard<'_, Kept>, now: impl FnOnce(Instant) -> bool) {
            if kept.asleep_until.is_some_and(now) {
                kept.asleep_until = None;
                drop(kept);
                self.earlier.notify_one();
            }
        }

        /// Starts the thread. Where none is to be had (the system's limit is reached, or there are no threads at
        /// all), this is noted, and tasks look after their deadlines themselves.
        fn start(&'static self) -> bool {
            let started = thread::Builder::new()
                .name("tamtam-timer".to_owned())
                .spawn(|| self.run())
                .is_ok();
            if !started {
                let mut kept = self.lock();
                kept.runs = false;
                kept.failed = Some(Instant::now());
                // Under the lock, as the thread's own word: so the later one holds.
                self.is_without_thread.store(true, Ordering::Relaxed);
            }
            started
        }
    }

    pub(super) fn schedule(due: Instant, context: Context) -> Entry {
        let clock = current();
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        let mut kept = clock.lock();
        let place = kept.deadlines.insert(due, number, context);
        if !kept.runs {
            kept.runs = true;
            drop(kept);
            clock.start();
        } else {
            clock.get_up(kept, |asleep_until| due < asleep_until);
        }
        Entry {
            clock,
            number,
            place,
        }
    }

    pub(super) fn cancel(entry: &Entry) {
        let Entry {
            clock,
            number,
            place,
        } = *entry;
        if !clock.is_ours() {
            // A fork's copy, whose lock may be held for ever.
            return;
        }
        let mut kept = clock.lock();
        let context = kept.deadlines.take(place, number);
        if kept.deadlines.is_empty() {
            // A far deadline must not keep the thread when no task waits for it.
            clock.get_up(kept, |asleep_until| asleep_until > Instant::now() + IDLE);
        } else {
            drop(kept);
        }
        // Outside of the lock: with the context may go the last reference to a waker.
        drop(context);
    }

    /// Whether it is in the clock of a process that this one was forked from.
    pub(super) fn is_foreign(entry: &Entry) -> bool {
        !entry.clock.is_ours()
    }

    /// Whether it is in this process' clock, and nothing has kept that from having a thread.
    #[inline]
    pub(super) fn is_kept(entry: &Entry) -> bool {
        entry.clock.is_ours() && !entry.clock.is_without_thread.load(Ordering::Relaxed)
    }

    /// Whether nothing has kept the clock from having a thread.
    pub(super) fn has_thread() -> bool {
        !current().is_without_thread.load(Ordering::Relaxed)
    }

    /// Attempts once more to start the thread, and pauses if that fails; not more often than so many polls
    /// need that come one after the other.
    #[cold]
    pub(super) fn attempt_again() -> bool {
        let clock = current();
        let mut kept = clock.lock();
        if kept.runs {
            return true;
        }
        let now = Instant::now();
        if kept.failed.is_some_and(|failed| now < failed + 2 * PAUSE) {
            drop(kept);
            // Where there are several that come again and again, one of them has just paused.
            thread::yield_now();
            return false;
        }
        kept.runs = true;
        drop(kept);
        clock.start() || {
            thread::sleep(PAUSE);
            false
        }
    }

    impl Clock {
        fn run(&self) {
            let mut kept = self.lock();
            self.is_without_thread.store(false, Ordering::Relaxed);
            let mut idle_since = None;
            loop {
                let now = Instant::now();
                if let Some(context) = kept.deadlines.take_due(now) {
                    idle_since = None;
                    drop(kept);
                    context.expire();
                    drop(context);
                    kept = self.lock();
                    continue;
                }
                match kept.deadlines.first() {
                    Some(due) => {
                        idle_since = None;
                        kept = self.sleep(kept, now, due);
                    }
                    None => {
                        let since = *idle_since.get_or_insert(now);
                        if now >= since + IDLE {
                            kept.runs = false;
                            return;
                        }
                        kept = self.sleep(kept, now, since + IDLE);
                    }
                }
            }
        }

        /// Sleeps until then, or until it is told to get up.
        fn sleep<'a>(
            &'a self,
            mut kept: MutexGuard<'a, Kept>,
            now: Instant,
            until: Instant,
        ) -> MutexGuard<'a, Kept> {
            kept.asleep_until = Some(until);
            let (mut kept, _) = self
                .earlier
                .wait_timeout(kept, until - now)
                .unwrap_or_else(PoisonError::into_inner);
            kept.asleep_until = None;
            kept
        }
    }

    #[cfg(all(test, not(miri)))]
    mod tests {
        use super::super::TaskDeadline;
        use super::*;
        use std::sync::Arc;
        use std::sync::atomic::AtomicUsize;
        use std::task::{Wake, Waker};

        struct Count {
            wakes: AtomicUsize,
            thread: thread::Thread,
        }

        impl Wake for Count {
            fn wake(self: Arc<Self>) {
                self.wakes.fetch_add(1, Ordering::SeqCst);
                self.thread.unpark();
            }
        }

        /// Each test has the clock for itself.
        static ALONE: Mutex<()> = Mutex::new(());

        #[test]
        fn a_clock_that_sleeps_for_long_gets_up_for_an_earlier_deadline() {
            let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
            let count = Arc::new(Count {
                wakes: AtomicUsize::new(0),
                thread: thread::current(),
            });
            let waker = Waker::from(Arc::clone(&count));
            let began = Instant::now();
            let hour = Duration::from_secs(3600);
            let late = Context::for_task(&waker);
            let _late = TaskDeadline::new(began + hour, &late);
            // Not only until it would end for want of anything to do, when it was idle before.
            while current()
                .lock()
                .asleep_until
                .is_none_or(|until| until < began + hour)
            {
                assert!(began.elapsed() < hour / 60, "the clock does not sleep");
                thread::yield_now();
            }
            let early = Context::for_task(&waker);
            let _early = TaskDeadline::new(began + Duration::from_millis(20), &early);
            while early.outcome().is_none() {
                assert!(began.elapsed() < hour / 60, "the clock has not got up");
                thread::park_timeout(Duration::from_millis(100));
            }
            assert_eq!(late.outcome(), None);
        }

        #[test]
        fn deadlines_wake_in_any_order_of_asking_and_those_taken_back_do_not() {
            let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
            let count = Arc::new(Count {
                wakes: AtomicUsize::new(0),
                thread: thread::current(),
            });
            let waker = Waker::from(Arc::clone(&count));
            let now = Instant::now();
            let late = Context::for_task(&waker);
            let early = Context::for_task(&waker);
            let never = Context::for_task(&waker);
            let _late = TaskDeadline::new(now + Duration::from_millis(400), &late);
            let _early = TaskDeadline::new(now + Duration::from_millis(5), &early);
            drop(TaskDeadline::new(now + Duration::from_millis(200), &never));
            while late.outcome().is_none() {
                thread::park_timeout(Duration::from_secs(10));
            }
            assert!(now.elapsed() >= Duration::from_millis(400));
            assert_eq!(early.outcome(), Some(crate::Outcome::Aborted));
            assert_eq!(never.outcome(), None);
            while count.wakes.load(Ordering::SeqCst) < 2 {
                thread::park_timeout(Duration::from_secs(10));
            }
            assert_eq!(count.wakes.load(Ordering::SeqCst), 2);
        }

        #[test]
        fn a_deadline_is_kept_by_the_thread_of_its_process() {
            let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
            let count = Arc::new(Count {
                wakes: AtomicUsize::new(0),
                thread: thread::current(),
            });
            let waker = Waker::from(Arc::clone(&count));
            let context = Context::for_task(&waker);
            let due = Instant::now() + Duration::from_secs(3600);
            let mut deadline = TaskDeadline::for_task(due, &context, &waker);
            assert!(deadline.is_kept() && !is_foreign(&deadline.entry));
            // So a poll leaves it to the thread, and the task need not come again by itself.
            assert!(!deadline.attend(&context, &waker));
            assert_eq!(context.outcome(), None);
            assert_eq!(count.wakes.load(Ordering::SeqCst), 0);
            let Entry { number, place, .. } = deadline.entry;
            assert!(current().lock().deadlines.has(place, number));
            drop(deadline);
            assert!(!current().lock().deadlines.has(place, number));
        }

        #[test]
        fn a_poll_after_the_deadline_ends_the_wait() {
            let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
            let context = Context::for_task(Waker::noop());
            let far = Instant::now() + Duration::from_secs(3600);
            let mut deadline = TaskDeadline::new(far, &context);
            deadline.due = Instant::now();
            assert!(deadline.attend(&context, Waker::noop()));
            assert_eq!(context.outcome(), Some(crate::Outcome::Aborted));
            deadline.due = far;
        }

        /// It has nothing to do for a while, and ends; the next deadline starts another one.
        #[test]
        fn a_thread_without_deadlines_ends_though_it_slept_for_long() {
            let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
            let began = Instant::now();
            let hour = Duration::from_secs(3600);
            let context = Context::for_task(Waker::noop());
            let deadline = TaskDeadline::new(began + hour, &context);
            while current()
                .lock()
                .asleep_until
                .is_none_or(|until| until < began + hour)
            {
                assert!(began.elapsed() < hour / 60, "the clock does not sleep");
                thread::yield_now();
            }
            let idle = Instant::now();
            drop(deadline);
            while current().lock().runs {
                assert!(began.elapsed() < hour / 60, "the clock does not end");
                thread::park_timeout(Duration::from_millis(5));
            }
            assert!(idle.elapsed() >= IDLE / 2, "it ended at once");
            let again = Context::for_task(Waker::noop());
            let _again = TaskDeadline::new(Instant::now(), &again);
            while again.outcome().is_none() {
                assert!(
                    began.elapsed() < hour / 60,
                    "the clock does not begin again"
                );
                thread::yield_now();
            }
        }
    }
}

/// In a model any time may pass; a deadline that has been set may come at once.
#[cfg(tamtam_loom)]
mod clock {
    use std::time::Instant;

    use crate::Context;

    #[derive(Debug)]
    pub(super) struct Entry;

    pub(super) fn schedule(_: Instant, _: Context) -> Entry {
        Entry
    }

    pub(super) fn cancel(_: &Entry) {}

    pub(super) fn is_foreign(_: &Entry) -> bool {
        false
    }

    pub(super) fn is_kept(_: &Entry) -> bool {
        true
    }

    pub(super) fn has_thread() -> bool {
        true
    }

    pub(super) fn attempt_again() -> bool {
        true
    }
}
