//! Threads for handlers that may block: as many as there are such handlers at work, up to a limit.
//!
//! A thread whose handler waits for an actor keeps its place in the limit. When all do, and one of the actors for which they wait is
//! due here, a further thread is started, which runs such actors only and then ends: so there are as many threads beyond the
//! limit, at most, as actors that are waited for and wait themselves.
//!
//! They have one queue, under a lock: what may block takes its time anyway. A thread that finds nothing there waits for
//! a while, and ends. While the pool ends its other threads stay until nothing is due here, since what comes of it may
//! be for them.

use core::cell::RefCell;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use tamtam_wait::seam::atomic::{AtomicUsize, Ordering};

use super::thread::Shared;
use crate::observe::Ledger;
use crate::task::{AtClose, Home, Task, TurnLimits};
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
    /// Threads whose handlers wait for an actor.
    waiting: usize,
    /// Where the tasks of the actors are for which these wait, and threads of the pool's, once for each thread.
    awaited: Vec<usize>,
    number: usize,
    ending: bool,
    closed: bool,
}

thread_local! {
    /// The pool to which this thread belongs.
    static INSIDE: RefCell<Weak<Shared>> = const { RefCell::new(Weak::new()) };
}

/// Whether this thread is one of those for handlers of that pool which may block.
pub(super) fn is_inside(shared: *const Shared) -> bool {
    let inside = INSIDE.try_with(|inside| inside.borrow().as_ptr());
    inside.is_ok_and(|inside| core::ptr::eq(inside, shared))
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
        let has_place = state.threads < self.most || self.is_stuck(&state);
        if state.tasks.len() <= state.idle || !has_place {
            drop(state);
            self.called.notify_one();
            return;
        }
        self.start_thread(&mut state, shared);
    }

    /// Whether an actor is due that is waited for, and all threads that there may be wait.
    fn is_stuck(&self, state: &State) -> bool {
        state.threads >= self.most
            && state.waiting >= state.threads
            && state.next_awaited().is_some()
    }

    fn start_thread(&self, state: &mut State, shared: &Arc<Shared>) {
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

    /// The next task for a thread that has none.
    fn take(&self, state: &mut State) -> Option<Task> {
        if state.threads <= self.most {
            return state.tasks.pop_front();
        }
        let place = state.next_awaited()?;
        state.tasks.remove(place)
    }

    /// A handler waits, and its thread with it: one of these threads, or of the pool's.
    fn begin_wait(&self, shared: &Arc<Shared>, awaited: Option<usize>, is_inside: bool) {
        let mut state = self.lock();
        state.waiting += usize::from(is_inside);
        state.awaited.extend(awaited);
        if self.is_stuck(&state) {
            self.start_thread(&mut state, shared);
        }
    }

    fn end_wait(&self, awaited: Option<usize>, is_inside: bool) {
        let mut state = self.lock();
        state.waiting -= usize::from(is_inside);
        let place = (state.awaited.iter()).position(|other| Some(*other) == awaited);
        if let Some(place) = place {
            state.awaited.swap_remove(place);
        }
    }

    fn work(&self, shared: &Arc<Shared>) {
        INSIDE.set(Arc::downgrade(shared));
        let mut state = self.lock();
        loop {
            if let Some(task) = self.take(&mut state) {
                drop(state);
                task.run();
                if self.due.fetch_sub(1, Ordering::SeqCst) == 1 {
                    shared.note_unblocked();
                }
                state = self.lock();
                continue;
            }
            // Beyond the limit a thread is there for those who wait only.
            if state.ending || state.threads > self.most {
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
        INSIDE.set(Weak::new());
    }
}

impl State {
    /// The place in the queue of the first task of an actor that is waited for.
    fn next_awaited(&self) -> Option<usize> {
        self.tasks
            .iter()
            .position(|task| self.awaited.contains(&task.location()))
    }
}

/// A thread whose handler waits for an actor that may have its turns here, for as long as that takes; also if the wait panics.
pub(super) struct Waiter {
    shared: Arc<Shared>,
    awaited: Option<usize>,
    /// It is one of those for handlers that may block.
    is_inside: bool,
}

impl Waiter {
    /// `None` if this is no thread for handlers that may block. `awaited` is where the actor's tasks are, if that is known.
    pub(super) fn begin(awaited: Option<usize>) -> Option<Self> {
        let shared = INSIDE
            .try_with(|inside| inside.borrow().upgrade())
            .ok()
            .flatten()?;
        Some(Self::at(&shared, awaited, true))
    }

    /// This is a thread of the pool's own, whose handler has sent something to that actor. `None` if it is not here.
    pub(super) fn of_pool(shared: &Arc<Shared>, awaited: usize) -> Option<Self> {
        // One that is here is due, or at work.
        let may_be_here = !shared.blocking_threads().is_idle();
        may_be_here.then(|| Self::at(shared, Some(awaited), false))
    }

    fn at(shared: &Arc<Shared>, awaited: Option<usize>, is_inside: bool) -> Self {
        let blocking = shared.blocking_threads();
        blocking.begin_wait(shared, awaited, is_inside);
        Waiter {
            shared: Arc::clone(shared),
            awaited,
            is_inside,
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let blocking = self.shared.blocking_threads();
        blocking.end_wait(self.awaited, self.is_inside);
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

    fn remember(&self, place: Weak<dyn AtClose>) {
        self.0.remember(place);
    }

    fn time(&self) -> &Time {
        self.0.time()
    }
}
