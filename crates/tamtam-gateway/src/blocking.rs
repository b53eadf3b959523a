//! The threads on which handlers block.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// So many handlers may be at work, of all methods together, those of calls that were given up included.
const MOST_AT_WORK: usize = 1_024;

/// After so long without work a thread ends.
const LONGEST_IDLE: Duration = Duration::from_secs(10);

/// The threads of this process on which handlers block.
pub(crate) static THREADS: Threads = Threads::new(MOST_AT_WORK, LONGEST_IDLE);

/// Threads for handlers that block. They are none of the runtime's: on those bodies are unpacked, and answers are written and compressed, for
/// all clients, and a handler that hangs keeps its thread for ever.
///
/// A handler that is done has no place any more before its answer is told: a client that calls again when it has that would find none. A thread that
/// tells an answer is one beyond the limit, for as long as that takes.
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
    at_work: usize,
}

type Handling = Box<dyn FnOnce() + Send>;

/// As many handlers are at work as may be, or the system has no thread.
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
                at_work: 0,
            }),
            came: Condvar::new(),
        }
    }

    /// Begins work at once: on a thread that has none, or on a new one. What comes of it is told when its place is free. What is given back then,
    /// since no one takes it, is dropped at a place of its own: what is the user's may hang there, too.
    ///
    /// # Errors
    /// If there is no thread for it. It is dropped then.
    pub(crate) fn begin<T>(
        &'static self,
        work: impl FnOnce() -> T + Send + 'static,
        tell: impl FnOnce(T) -> Result<(), T> + Send + 'static,
    ) -> Result<(), NoThread> {
        let mut state = self.state();
        if state.at_work >= self.most {
            // What is dropped is the user's: not under the lock.
            drop(state);
            return Err(NoThread);
        }
        state.at_work += 1;
        let place = Place(self);
        let work: Handling = Box::new(move || {
            let done = work();
            drop(place);
            if let Err(not_taken) = tell(done) {
                let _place = self.take_place();
                drop(not_taken);
            }
        });
        if state.idle > state.waiting.len() {
            state.waiting.push_back(work);
            drop(state);
            self.came.notify_one();
            return Ok(());
        }
        drop(state);
        let builder = thread::Builder::new().name("blocking".into());
        let spawned = builder.spawn(move || self.serve(work));
        spawned.map(drop).map_err(|error| {
            tracing::error!(%error, "a handler that blocks has no thread");
            NoThread
        })
    }

    /// Beyond the limit, if it must be.
    fn take_place(&'static self) -> Place {
        self.state().at_work += 1;
        Place(self)
    }

    /// Works until there has been nothing to do for long.
    fn serve(&self, work: Handling) {
        let mut next = Some(work);
        while let Some(work) = next {
            // A handler's panic is told to its caller; what its answer does when it is dropped may panic, too.
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
        state.waiting.pop_front()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "State({} at work, {} idle)", self.at_work, self.idle)
    }
}

/// One of the places for handlers at work, until it is dropped.
struct Place(&'static Threads);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.state().at_work -= 1;
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
            assert_eq!(threads.begin(hang, Ok), Ok(()));
        }
        assert_eq!(threads.begin(|| (), Ok), Err(NoThread));
        drop(release);
        until(threads, |state| state.idle == 3);
        assert_eq!(threads.begin(|| (), Ok), Ok(()));
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
            threads.begin(tell(first), Ok).unwrap();
            let before = tells.recv().unwrap();
            if longest_idle == LONG {
                until(threads, |state| state.idle == 1);
            }
            // Whether it waits still, or has ended.
            while threads.begin(tell(second.clone()), Ok).is_err() {
                thread::yield_now();
            }
            (before, tells.recv().unwrap(), threads)
        };
        let (first, second, threads) = one_after_the_other(LONG);
        assert_eq!(first, second);
        until(threads, |state| (state.idle, state.at_work) == (1, 0));
        let (_, _, threads) = one_after_the_other(Duration::ZERO);
        until(threads, |state| (state.idle, state.at_work) == (0, 0));
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
        // As if no one took it.
        threads.begin(move || panics, Err).unwrap();
        until(threads, |state| (state.idle, state.at_work) == (1, 0));
        let (told, tells) = channel();
        threads.begin(move || told.send(()).unwrap(), Ok).unwrap();
        tells.recv().unwrap();
    }

    #[test]
    fn a_handler_that_is_done_has_no_place_while_its_answer_is_told() {
        let threads = threads(1, LONG);
        let (told, tells) = channel();
        // As a client that calls again once it has the answer.
        let tell = move |number: u32| {
            let begun = threads.begin(move || number + 1, |_| Ok(()));
            told.send(begun).unwrap();
            Ok(())
        };
        threads.begin(|| 1, tell).unwrap();
        assert_eq!(tells.recv(), Ok(Ok(())));
    }

    #[test]
    fn an_answer_that_no_one_takes_has_a_place_until_it_is_dropped() {
        struct Hangs(std::sync::mpsc::Receiver<()>);
        impl Drop for Hangs {
            fn drop(&mut self) {
                let _ = self.0.recv();
            }
        }
        let threads = threads(1, LONG);
        let (release, released) = channel();
        let (told, tells) = channel();
        let not_taken = move |hangs| {
            told.send(()).unwrap();
            Err(hangs)
        };
        threads.begin(|| Hangs(released), not_taken).unwrap();
        tells.recv().unwrap();
        until(threads, |state| state.at_work == 1);
        assert_eq!(threads.begin(|| (), Ok), Err(NoThread));
        drop(release);
        until(threads, |state| (state.idle, state.at_work) == (1, 0));
        assert_eq!(threads.begin(|| (), Ok), Ok(()));
    }

    #[test]
    fn all_that_is_begun_is_done() {
        let threads = threads(4, Duration::from_micros(10));
        let (told, tells) = channel();
        for number in 0..2_000 {
            loop {
                let told = told.clone();
                if threads
                    .begin(move || told.send(number).unwrap(), Ok)
                    .is_ok()
                {
                    break;
                }
                thread::yield_now();
            }
        }
        let mut done: Vec<u32> = tells.iter().take(2_000).collect();
        done.sort_unstable();
        assert!(done.into_iter().eq(0..2_000));
        until(threads, |state| (state.idle, state.at_work) == (0, 0));
    }
}
