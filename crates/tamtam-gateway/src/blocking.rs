//! The threads on which handlers block.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// So many there may be of all methods together, those of calls that were given up included.
const MOST_THREADS: usize = 1_024;

/// After so long without work a thread ends.
const LONGEST_IDLE: Duration = Duration::from_secs(10);

/// The threads of this process on which handlers block.
pub(crate) static THREADS: Threads = Threads::new(MOST_THREADS, LONGEST_IDLE);

/// Threads for handlers that block. They are none of the runtime's: on those bodies are unpacked, and answers are written and compressed, for
/// all clients, and a handler that hangs keeps its thread for ever.
#[derive(Debug)]
pub(crate) struct Threads {
    most: usize,
    longest_idle: Duration,
    state: Mutex<State>,
    /// Told when there is work.
    came: Condvar,
}

struct State {
    /// Never more than there are threads without work.
    waiting: VecDeque<Handling>,
    idle: usize,
    all: usize,
}

type Handling = Box<dyn FnOnce() + Send>;

/// As many threads are at work as there may be, or the system has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoThread;

impl Threads {
    const fn new(most: usize, longest_idle: Duration) -> Threads {
        Threads {
            most,
            longest_idle,
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                idle: 0,
                all: 0,
            }),
            came: Condvar::new(),
        }
    }

    /// Begins work at once: on a thread that has none, or on a new one.
    ///
    /// # Errors
    /// If there is no thread for it. It is dropped then.
    pub(crate) fn begin(
        &'static self,
        work: impl FnOnce() + Send + 'static,
    ) -> Result<(), NoThread> {
        let work: Handling = Box::new(work);
        let mut state = self.state();
        if state.idle > state.waiting.len() {
            state.waiting.push_back(work);
            drop(state);
            self.came.notify_one();
            return Ok(());
        }
        if state.all >= self.most {
            // What is dropped is the user's: not under the lock.
            drop(state);
            return Err(NoThread);
        }
        state.all += 1;
        drop(state);
        let builder = thread::Builder::new().name("blocking".into());
        let spawned = builder.spawn(move || self.serve(work));
        spawned.map(drop).map_err(|error| {
            self.state().all -= 1;
            tracing::error!(%error, "a handler that blocks has no thread");
            NoThread
        })
    }

    /// Works until there has been nothing to do for long.
    fn serve(&self, work: Handling) {
        let mut next = Some(work);
        while let Some(work) = next {
            // A handler's panic is told to its caller; what its answer does when no one takes it may panic, too.
            if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
                tracing::error!("what a handler gave panicked when it was dropped");
                std::mem::forget(panic);
            }
            next = self.next();
        }
    }

    fn next(&self) -> Option<Handling> {
        let mut state = self.state();
        state.idle += 1;
        let is_idle = |state: &mut State| state.waiting.is_empty();
        let waited = self
            .came
            .wait_timeout_while(state, self.longest_idle, is_idle);
        (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.idle -= 1;
        let next = state.waiting.pop_front();
        if next.is_none() {
            state.all -= 1;
        }
        next
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "State({} of {} idle)", self.idle, self.all)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread::ThreadId;

    use super::*;

    const LONG: Duration = Duration::from_secs(3_600);

    fn threads(most: usize, longest_idle: Duration) -> &'static Threads {
        Box::leak(Box::new(Threads::new(most, longest_idle)))
    }

    /// Waits until this holds of the threads.
    fn until(threads: &Threads, holds: impl Fn(&State) -> bool) {
        while !holds(&threads.state()) {
            thread::yield_now();
        }
    }

    #[test]
    fn what_hangs_keeps_its_thread_and_where_all_hang_it_is_told_at_once() {
        let threads = threads(3, LONG);
        let (release, released) = channel::<()>();
        let released = std::sync::Arc::new(Mutex::new(released));
        for _ in 0..3 {
            let released = std::sync::Arc::clone(&released);
            let hang = move || {
                let _ = released.lock().unwrap().recv();
            };
            assert_eq!(threads.begin(hang), Ok(()));
        }
        assert_eq!(threads.begin(|| ()), Err(NoThread));
        drop(release);
        until(threads, |state| state.idle == 3);
        assert_eq!(threads.begin(|| ()), Ok(()));
    }

    #[test]
    fn a_thread_without_work_takes_the_next_and_ends_after_a_while() {
        let one_after_the_other = |longest_idle| {
            let threads = threads(1, longest_idle);
            let (told, tells) = channel::<ThreadId>();
            let (first, second) = (told.clone(), told);
            let tell = |told: std::sync::mpsc::Sender<ThreadId>| {
                move || told.send(thread::current().id()).unwrap()
            };
            threads.begin(tell(first)).unwrap();
            let before = tells.recv().unwrap();
            // Whether it waits still, or has ended.
            while threads.begin(tell(second.clone())).is_err() {
                thread::yield_now();
            }
            (before, tells.recv().unwrap(), threads)
        };
        let (first, second, threads) = one_after_the_other(LONG);
        assert_eq!(first, second);
        until(threads, |state| (state.idle, state.all) == (1, 1));
        let (_, _, threads) = one_after_the_other(Duration::ZERO);
        until(threads, |state| (state.idle, state.all) == (0, 0));
    }

    #[test]
    fn a_thread_outlives_what_panics() {
        struct Panics;
        impl Drop for Panics {
            fn drop(&mut self) {
                panic!("it is dropped");
            }
        }
        let threads = threads(1, LONG);
        let panics = Panics;
        threads.begin(move || drop(panics)).unwrap();
        until(threads, |state| state.idle == 1);
        let (told, tells) = channel();
        threads.begin(move || told.send(()).unwrap()).unwrap();
        tells.recv().unwrap();
    }

    #[test]
    fn all_that_is_begun_is_done() {
        let threads = threads(4, Duration::from_micros(10));
        let (told, tells) = channel();
        for number in 0..2_000 {
            loop {
                let told = told.clone();
                if threads.begin(move || told.send(number).unwrap()).is_ok() {
                    break;
                }
                thread::yield_now();
            }
        }
        let mut done: Vec<u32> = tells.iter().take(2_000).collect();
        done.sort_unstable();
        assert!(done.into_iter().eq(0..2_000));
        until(threads, |state| state.all == 0);
    }
}
