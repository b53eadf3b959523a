//! Threads for handlers that may block: as many as there are such handlers at work, up to a limit.
//!
//! They have one queue, under a lock: what may block takes its time anyway. A thread that finds nothing there waits for
//! a while, and ends. While the pool ends its other threads stay until nothing is due here, since what comes of it may
//! be for them.

use core::cell::Cell;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use tamtam_wait::seam::atomic::{AtomicUsize, Ordering};

use super::thread::Shared;
use crate::cell::Place;
use crate::home::{Home, Task, TurnLimits};
use crate::observe::Ledger;
use crate::time::Time;

/// So many threads there may be unless somebody says otherwise.
const MOST: usize = 256;
/// A thread that has had nothing to do for so long ends.
const IDLE: Duration = Duration::from_secs(1);

pub(super) struct Blocking {
    state: Mutex<State>,
    called: Condvar,
    /// Tasks that are in the queue or have their turn. Sequentially consistent.
    due: AtomicUsize,
    pub(super) most: usize,
}

#[derive(Default)]
struct State {
    tasks: VecDeque<Task>,
    handles: Vec<thread::JoinHandle<()>>,
    /// So many threads there are, and so many of them wait.
    threads: usize,
    idle: usize,
    number: usize,
    ending: bool,
    closed: bool,
}

thread_local! {
    /// The pool to which this thread belongs.
    static INSIDE: Cell<*const Shared> = const { Cell::new(core::ptr::null()) };
}

/// Whether this thread is one of those for handlers of that pool which may block.
pub(super) fn is_inside(shared: *const Shared) -> bool {
    core::ptr::eq(INSIDE.get(), shared)
}

impl Blocking {
    pub(super) fn new() -> Self {
        Blocking {
            state: Mutex::new(State::default()),
            called: Condvar::new(),
            due: AtomicUsize::new(0),
            most: MOST,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No user code runs under the lock, so it is never poisoned half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.due.load(Ordering::SeqCst) == 0
    }

    /// So many threads there are now.
    pub(super) fn threads(&self) -> usize {
        self.lock().threads
    }

    /// Lets the threads end when they have nothing to do, and waits for them, unless this is one of them.
    pub(super) fn end(&self) {
        let handles = {
            let mut state = self.lock();
            state.ending = true;
            core::mem::take(&mut state.handles)
        };
        self.called.notify_all();
        let this = thread::current().id();
        for handle in handles {
            if handle.thread().id() != this {
                // Turns catch what actors do; a thread ends by itself.
                let _ = handle.join();
            }
        }
        self.close();
    }

    /// No more turns: what is due is abandoned; how much that is. Threads that are at work are left alone.
    pub(super) fn close(&self) -> usize {
        let tasks = {
            let mut state = self.lock();
            state.ending = true;
            state.closed = true;
            core::mem::take(&mut state.tasks)
        };
        self.called.notify_all();
        let count = tasks.len();
        for task in tasks {
            task.abandon();
            self.due.fetch_sub(1, Ordering::SeqCst);
        }
        count
    }

    /// The threads are not waited for any more.
    pub(super) fn leave_alone(&self) {
        drop(core::mem::take(&mut self.lock().handles));
    }

    fn bring(&self, shared: &Arc<Shared>, task: Task) {
        let mut state = self.lock();
        if state.closed {
            drop(state);
            return task.abandon();
        }
        self.due.fetch_add(1, Ordering::SeqCst);
        state.tasks.push_back(task);
        if state.tasks.len() <= state.idle || state.threads >= self.most {
            drop(state);
            self.called.notify_one();
            return;
        }
        state.threads += 1;
        state.number += 1;
        let name = format!("{}-b{}", shared.name(), state.number);
        let own = Arc::clone(shared);
        let started = thread::Builder::new()
            .name(name)
            .spawn(move || own.blocking_threads().work(&own));
        state.handles.retain(|handle| !handle.is_finished());
        match started {
            Ok(handle) => state.handles.push(handle),
            // The others have to do; without any it waits for the next attempt.
            Err(_) => state.threads -= 1,
        }
    }

    fn work(&self, shared: &Arc<Shared>) {
        INSIDE.set(Arc::as_ptr(shared));
        let mut state = self.lock();
        loop {
            if let Some(task) = state.tasks.pop_front() {
                drop(state);
                task.run();
                if self.due.fetch_sub(1, Ordering::SeqCst) == 1 {
                    shared.note_unblocked();
                }
                state = self.lock();
                continue;
            }
            if state.ending {
                break;
            }
            state.idle += 1;
            let (waited, timeout) = self
                .called
                .wait_timeout(state, IDLE)
                .unwrap_or_else(PoisonError::into_inner);
            state = waited;
            state.idle -= 1;
            if timeout.timed_out() && state.tasks.is_empty() {
                break;
            }
        }
        state.threads -= 1;
        drop(state);
        INSIDE.set(core::ptr::null());
    }
}

/// Where actors live whose handlers may block.
pub(super) struct BlockingHome(pub(super) Arc<Shared>);

impl Home for BlockingHome {
    fn turn_limits(&self) -> TurnLimits {
        self.0.turn_limits()
    }

    fn ledger(&self) -> Option<&Arc<Ledger>> {
        self.0.ledger.as_ref()
    }

    fn is_for_blocking(&self) -> bool {
        true
    }

    fn schedule(&self, task: Task) {
        self.0.blocking_threads().bring(&self.0, task);
    }

    fn schedule_or_refuse(&self, task: Task) -> Result<(), Task> {
        if self.0.refuses() {
            return Err(task);
        }
        self.schedule(task);
        Ok(())
    }

    fn has_closed(&self) -> bool {
        self.0.blocking_threads().lock().closed
    }

    fn schedule_again(&self, task: Task) {
        self.schedule(task);
    }

    fn remember(&self, place: Weak<dyn Place>) {
        self.0.remember(place);
    }

    fn time(&self) -> &Time {
        self.0.time()
    }
}
