//! The clock of those who wait without a thread: one thread for all of them.
//!
//! A thread that waits until a deadline sleeps until then by itself. A task cannot, and no runtime's
//! timer is asked for; so the first task that waits with a deadline starts a thread, which keeps all
//! deadlines in a tree, sleeps until the earliest one, and ends when there has been none for a while.

use std::time::Instant;

use crate::Context;

/// The deadline of a task's wait, at which it expires. Dropping this takes it back.
#[derive(Debug)]
#[must_use = "a deadline is taken back when this is dropped"]
pub struct TaskDeadline(Key);

impl TaskDeadline {
    /// Lets the wait of `context` expire at `due`.
    pub fn new(due: Instant, context: &Context) -> Self {
        TaskDeadline(clock::schedule(due, context.clone()))
    }
}

impl Drop for TaskDeadline {
    fn drop(&mut self) {
        clock::cancel(self.0);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    due: Instant,
    number: u64,
}

#[cfg(not(tamtam_loom))]
mod clock {
    use std::collections::BTreeMap;
    use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
    use std::thread;
    use std::time::{Duration, Instant};

    use super::Key;
    use crate::Context;

    /// A clock that has had nothing to do for so long ends its thread.
    const IDLE: Duration = Duration::from_secs(1);

    struct Clock {
        deadlines: BTreeMap<Key, Context>,
        next_number: u64,
        runs: bool,
        /// Until when the thread sleeps, while it does.
        asleep_until: Option<Instant>,
    }

    static CLOCK: Mutex<Clock> = Mutex::new(Clock {
        deadlines: BTreeMap::new(),
        next_number: 0,
        runs: false,
        asleep_until: None,
    });

    /// The thread has to get up earlier than it meant to.
    static EARLIER: Condvar = Condvar::new();

    fn lock() -> MutexGuard<'static, Clock> {
        // No user code runs under the lock, so it is never poisoned half changed.
        CLOCK.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn schedule(due: Instant, context: Context) -> Key {
        let mut clock = lock();
        let key = Key {
            due,
            number: clock.next_number,
        };
        clock.next_number += 1;
        clock.deadlines.insert(key, context);
        if !clock.runs {
            clock.runs = true;
            drop(clock);
            start();
        } else {
            get_up(clock, |asleep_until| due < asleep_until);
        }
        key
    }

    /// Wakes the thread if it sleeps and should do so no longer. Most deadlines are taken back long before
    /// they are due; so it is not woken for each of them, but only if it would oversleep.
    fn get_up(mut clock: MutexGuard<'static, Clock>, now: impl FnOnce(Instant) -> bool) {
        if clock.asleep_until.is_some_and(now) {
            clock.asleep_until = None;
            drop(clock);
            EARLIER.notify_one();
        }
    }

    pub(super) fn cancel(key: Key) {
        let mut clock = lock();
        let context = clock.deadlines.remove(&key);
        if clock.deadlines.is_empty() {
            // A far deadline must not keep the thread when nobody waits for it.
            get_up(clock, |asleep_until| asleep_until > Instant::now() + IDLE);
        } else {
            drop(clock);
        }
        // Outside of the lock: with the context may go the last reference to a waker.
        drop(context);
    }

    /// Starts the thread. Where none is to be had (the system's limit is reached, or there are no
    /// threads at all), deadlines are not kept until one can be started.
    fn start() {
        let started = thread::Builder::new()
            .name("tamtam-timer".to_owned())
            .spawn(run);
        if started.is_err() {
            lock().runs = false;
        }
    }

    fn run() {
        let mut clock = lock();
        let mut idle_since = None;
        loop {
            let now = Instant::now();
            let next = clock.deadlines.first_entry();
            match next {
                Some(first) if first.key().due <= now => {
                    let context = first.remove();
                    idle_since = None;
                    drop(clock);
                    context.expire();
                    drop(context);
                    clock = lock();
                }
                Some(first) => {
                    let due = first.key().due;
                    idle_since = None;
                    clock = sleep(clock, now, due);
                }
                None => {
                    let since = *idle_since.get_or_insert(now);
                    if now >= since + IDLE {
                        clock.runs = false;
                        return;
                    }
                    clock = sleep(clock, now, since + IDLE);
                }
            }
        }
    }

    /// Sleeps until then, or until somebody wants it to get up.
    fn sleep(
        mut clock: MutexGuard<'static, Clock>,
        now: Instant,
        until: Instant,
    ) -> MutexGuard<'static, Clock> {
        clock.asleep_until = Some(until);
        let (mut clock, _) = EARLIER
            .wait_timeout(clock, until - now)
            .unwrap_or_else(PoisonError::into_inner);
        clock.asleep_until = None;
        clock
    }

    #[cfg(all(test, not(miri)))]
    mod tests {
        use super::super::TaskDeadline;
        use super::*;
        use std::sync::Arc;
        use std::sync::atomic::{AtomicUsize, Ordering};
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

        #[test]
        fn deadlines_wake_in_any_order_of_asking_and_those_taken_back_do_not() {
            let count = Arc::new(Count {
                wakes: AtomicUsize::new(0),
                thread: thread::current(),
            });
            let waker = Waker::from(Arc::clone(&count));
            let now = Instant::now();
            let late = Context::for_task(&waker);
            let early = Context::for_task(&waker);
            let never = Context::for_task(&waker);
            let _late = TaskDeadline::new(now + Duration::from_millis(20), &late);
            let _early = TaskDeadline::new(now + Duration::from_millis(5), &early);
            drop(TaskDeadline::new(now + Duration::from_millis(10), &never));
            while late.outcome().is_none() {
                thread::park_timeout(Duration::from_secs(10));
            }
            assert!(now.elapsed() >= Duration::from_millis(20));
            assert_eq!(early.outcome(), Some(crate::Outcome::Aborted));
            assert_eq!(never.outcome(), None);
            while count.wakes.load(Ordering::SeqCst) < 2 {
                thread::park_timeout(Duration::from_secs(10));
            }
            assert_eq!(count.wakes.load(Ordering::SeqCst), 2);
        }
    }
}

/// In a model any time may pass; a deadline that has been set may come at once.
#[cfg(tamtam_loom)]
mod clock {
    use std::time::Instant;

    use super::Key;
    use crate::Context;

    pub(super) fn schedule(due: Instant, _: Context) -> Key {
        Key { due, number: 0 }
    }

    pub(super) fn cancel(_: Key) {}
}
