//! Threads for handlers that may block: as many as there are such handlers at work, up to a limit.
//!
//! A thread whose handler waits for an actor keeps its place in the limit. When all do, and one of the actors for which they wait is
//! due here, a further thread is started, which runs such actors only and then ends: so there are as many threads beyond the
//! limit, at most, as actors that are waited for and wait themselves.
//!
//! They have one queue, under a lock: what may block takes its time anyway. A thread that finds nothing there waits for
//! a while, and ends. While the pool ends its other threads stay until nothing is due here, since what comes of it may
//! be for them.
//!
//! A thread whose handler does not come back may be *left behind*. Its place in the limit is free then, and neither the end of the
//! pool nor who waits until it is idle waits for its turn. The turn is told by its number, under the lock: so a thread that
//! has come back, and has begun with something else, is not taken for it. One that comes back later finds itself left behind, and
//! ends.

use core::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use tamtam_wait::seam::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::thread::Shared;
use crate::observe::Ledger;
use crate::task::{AtClose, Home, Left, Task, ThreadTurn, TurnLimits};
use crate::time::Time;

/// How many threads there may be unless the pool's builder is told otherwise.
const USUAL_LIMIT: usize = 256;
/// A thread that has had nothing to do for so long ends.
const IDLE_UNTIL_END: Duration = Duration::from_secs(1);

pub(super) struct BlockingThreads {
    state: Mutex<BlockingState>,
    called: Condvar,
    /// Tasks that are in the queue or have their turn. Sequentially consistent.
    due: AtomicUsize,
    /// Actors live here, or have lived. Who has an address of one has seen it.
    is_used: AtomicBool,
    pub(super) most: usize,
}

#[derive(Default)]
struct BlockingState {
    tasks: VecDeque<BlockingTask>,
    /// Those that have not ended, and some that have.
    workers: Vec<BlockingWorker>,
    /// So many threads there are, and so many of them wait.
    threads: usize,
    idle: usize,
    /// Threads that are in a turn, and not left behind.
    at_work: usize,
    /// Threads whose handlers wait for an actor.
    waiting: usize,
    /// Where the tasks of the actors are for which these wait, and threads of the pool's, once for each thread.
    awaited: Vec<usize>,
    number: usize,
    /// Threads that were left behind and have not come back. Not among those above.
    left_behind: usize,
    ending: bool,
    closed: bool,
    /// The end of the threads is not waited for any more.
    is_left_alone: bool,
}

struct BlockingTask {
    task: Task,
    /// Where the tasks of the actor are to which it belongs, for those who wait for that.
    location: usize,
}

/// A thread that is not left behind.
struct BlockingWorker {
    record: Arc<ThreadRecord>,
    handle: thread::JoinHandle<()>,
}

/// What is known of a thread. Changed under the lock.
struct ThreadRecord {
    number: usize,
    /// One more at the beginning and at the end of each turn: odd during one.
    turn: AtomicU64,
    /// So often its handlers wait for an actor, one within the other.
    waits: AtomicUsize,
    is_left_behind: AtomicBool,
}

impl ThreadRecord {
    fn turn(&self) -> ThreadTurn {
        ThreadTurn {
            thread: self.number,
            turn: self.turn.load(Ordering::Relaxed),
        }
    }

    /// A turn begins, or ends.
    fn note_turn(&self) {
        let turn = self.turn.load(Ordering::Relaxed);
        self.turn.store(turn.wrapping_add(1), Ordering::Relaxed);
    }

    fn is_left_behind(&self) -> bool {
        self.is_left_behind.load(Ordering::Relaxed)
    }
}

thread_local! {
    /// The pool to which this thread belongs.
    static INSIDE: RefCell<Weak<Shared>> = const { RefCell::new(Weak::new()) };
    /// What is known of this thread there.
    static RECORD: RefCell<Option<Arc<ThreadRecord>>> = const { RefCell::new(None) };
    /// The turn in which this thread is.
    static TURN: Cell<Option<ThreadTurn>> = const { Cell::new(None) };
}

/// Whether this thread is one of those for handlers of that pool which may block.
pub(super) fn is_inside(shared: *const Shared) -> bool {
    let inside = INSIDE.try_with(|inside| inside.borrow().as_ptr());
    inside.is_ok_and(|inside| core::ptr::eq(inside, shared))
}

impl BlockingThreads {
    pub(super) fn new() -> Self {
        BlockingThreads {
            state: Mutex::new(BlockingState::default()),
            called: Condvar::new(),
            due: AtomicUsize::new(0),
            is_used: AtomicBool::new(false),
            most: USUAL_LIMIT,
        }
    }

    fn lock(&self) -> MutexGuard<'_, BlockingState> {
        // No user code runs under the lock, so it is never poisoned half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.due.load(Ordering::SeqCst) == 0
    }

    /// Whether there are actors that have their turns here, or were.
    fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Relaxed)
    }

    /// So many threads there are now, without those that are left behind.
    pub(super) fn threads(&self) -> usize {
        self.lock().threads
    }

    /// How many threads are in a turn, without those that are left behind.
    pub(super) fn at_work(&self) -> usize {
        self.lock().at_work
    }

    /// So many threads were left behind and have not come back.
    pub(super) fn left_behind(&self) -> usize {
        self.lock().left_behind
    }

    /// Lets the threads end when they have nothing to do, and waits for them, unless this is one of them.
    pub(super) fn end(&self) {
        let this = thread::current().id();
        let workers = {
            let mut state = self.lock();
            state.ending = true;
            self.called.notify_all();
            let is_own = |worker: &BlockingWorker| worker.handle.thread().id() == this;
            let own = usize::from(state.workers.iter().any(is_own));
            // Not by joining them: one may be left behind meanwhile.
            while state.threads > own && !state.is_left_alone {
                let waited = self.called.wait(state);
                state = waited.unwrap_or_else(PoisonError::into_inner);
            }
            core::mem::take(&mut state.workers)
        };
        for BlockingWorker { handle, .. } in workers {
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
        for BlockingTask { task, .. } in tasks {
            task.abandon();
            self.due.fetch_sub(1, Ordering::SeqCst);
        }
        count
    }

    /// The threads are not waited for any more.
    pub(super) fn leave_alone(&self) {
        let workers = {
            let mut state = self.lock();
            state.is_left_alone = true;
            core::mem::take(&mut state.workers)
        };
        drop(workers);
    }

    fn bring(&self, shared: &Arc<Shared>, task: Task, location: usize) {
        let mut state = self.lock();
        if state.closed {
            drop(state);
            return task.abandon();
        }
        self.due.fetch_add(1, Ordering::SeqCst);
        state.tasks.push_back(BlockingTask { task, location });
        if state.tasks.len() <= state.idle || !self.has_place(&state) {
            drop(state);
            self.called.notify_one();
            return;
        }
        self.start_thread(&mut state, shared);
    }

    /// Whether a further thread may be started.
    fn has_place(&self, state: &BlockingState) -> bool {
        state.threads < self.most || self.is_stuck(state)
    }

    /// Leaves the thread behind that is in this turn.
    fn leave_behind(&self, shared: &Arc<Shared>, turn: ThreadTurn) -> Left {
        let mut state = self.lock();
        let is_it = |worker: &BlockingWorker| worker.record.turn() == turn;
        let Some(place) = state.workers.iter().position(is_it) else {
            return Left::Over;
        };
        if state.left_behind >= self.most {
            return Left::Refused;
        }
        // Its end is not waited for any more.
        let BlockingWorker { record, handle } = state.workers.swap_remove(place);
        drop(handle);
        record.is_left_behind.store(true, Ordering::Relaxed);
        state.left_behind += 1;
        state.at_work -= 1;
        state.threads -= 1;
        state.waiting -= usize::from(record.waits.load(Ordering::Relaxed) != 0);
        if state.tasks.len() > state.idle && self.has_place(&state) {
            self.start_thread(&mut state, shared);
        }
        drop(state);
        let shared = Arc::clone(shared);
        Left::Behind(Box::new(move || {
            let blocking = shared.blocking_threads();
            blocking.called.notify_all();
            blocking.note_done(&shared);
        }))
    }

    /// What was due has had its turn, or is not waited for any more. Called under no lock: a thread may wait for it.
    fn note_done(&self, shared: &Shared) {
        if self.due.fetch_sub(1, Ordering::SeqCst) == 1 {
            shared.note_unblocked();
        }
    }

    /// Whether an actor is due that is waited for, and all threads that there may be wait.
    fn is_stuck(&self, state: &BlockingState) -> bool {
        state.threads >= self.most
            && state.waiting >= state.threads
            && state.next_awaited().is_some()
    }

    fn start_thread(&self, state: &mut BlockingState, shared: &Arc<Shared>) {
        state.threads += 1;
        state.number += 1;
        let name = format!("{}-b{}", shared.name(), state.number);
        let own = Arc::clone(shared);
        let record = Arc::new(ThreadRecord {
            number: state.number,
            turn: AtomicU64::new(0),
            waits: AtomicUsize::new(0),
            is_left_behind: AtomicBool::new(false),
        });
        let kept = Arc::clone(&record);
        let started = thread::Builder::new()
            .name(name)
            .spawn(move || own.blocking_threads().work(&own, &kept));
        state.workers.retain(|worker| !worker.handle.is_finished());
        match started {
            Ok(handle) => state.workers.push(BlockingWorker { record, handle }),
            // The others have to do; without any it waits for the next attempt.
            Err(_) => state.threads -= 1,
        }
    }

    /// The next task for a thread that has none.
    fn take(&self, state: &mut BlockingState) -> Option<Task> {
        if state.threads <= self.most {
            return state.tasks.pop_front().map(|due| due.task);
        }
        let place = state.next_awaited()?;
        state.tasks.remove(place).map(|due| due.task)
    }

    /// A handler waits, and its thread with it: one of these threads, or of the pool's.
    fn begin_wait(
        &self,
        shared: &Arc<Shared>,
        awaited: Option<usize>,
        inside: Option<&ThreadRecord>,
    ) {
        let mut state = self.lock();
        if let Some(record) = inside {
            let before = record.waits.fetch_add(1, Ordering::Relaxed);
            state.waiting += usize::from(before == 0 && !record.is_left_behind());
        }
        state.awaited.extend(awaited);
        if self.is_stuck(&state) {
            self.start_thread(&mut state, shared);
        }
    }

    fn end_wait(&self, awaited: Option<usize>, inside: Option<&ThreadRecord>) {
        let mut state = self.lock();
        if let Some(record) = inside {
            let before = record.waits.fetch_sub(1, Ordering::Relaxed);
            state.waiting -= usize::from(before == 1 && !record.is_left_behind());
        }
        let place = (state.awaited.iter()).position(|other| Some(*other) == awaited);
        if let Some(place) = place {
            state.awaited.swap_remove(place);
        }
    }

    fn work(&self, shared: &Arc<Shared>, record: &Arc<ThreadRecord>) {
        INSIDE.set(Arc::downgrade(shared));
        RECORD.set(Some(Arc::clone(record)));
        let mut state = self.lock();
        loop {
            if let Some(task) = self.take(&mut state) {
                record.note_turn();
                state.at_work += 1;
                drop(state);
                TURN.set(Some(record.turn()));
                task.run();
                TURN.set(None);
                state = self.lock();
                record.note_turn();
                if record.is_left_behind() {
                    // It was counted as done, and as gone, then.
                    state.left_behind -= 1;
                    break;
                }
                state.at_work -= 1;
                if self.due.fetch_sub(1, Ordering::SeqCst) == 1 {
                    drop(state);
                    shared.note_unblocked();
                    state = self.lock();
                }
                continue;
            }
            // Beyond the limit a thread is there for those who wait only.
            if state.ending || state.threads > self.most {
                break;
            }
            state.idle += 1;
            let (waited, timeout) = self
                .called
                .wait_timeout(state, IDLE_UNTIL_END)
                .unwrap_or_else(PoisonError::into_inner);
            state = waited;
            state.idle -= 1;
            if timeout.timed_out() && state.tasks.is_empty() {
                break;
            }
        }
        if !record.is_left_behind() {
            state.threads -= 1;
        }
        let ends = state.ending;
        drop(state);
        if ends {
            // The thread that ends the pool may wait for the last one.
            self.called.notify_all();
        }
        RECORD.set(None);
        INSIDE.set(Weak::new());
    }
}

impl BlockingState {
    /// The place in the queue of the first task of an actor that is waited for.
    fn next_awaited(&self) -> Option<usize> {
        self.tasks
            .iter()
            .position(|due| self.awaited.contains(&due.location))
    }
}

/// A thread whose handler waits for an actor that may have its turns here, for as long as that takes; also if the wait panics.
pub(super) struct BlockedThread {
    shared: Arc<Shared>,
    awaited: Option<usize>,
    /// It is one of those for handlers that may block.
    inside: Option<Arc<ThreadRecord>>,
}

impl BlockedThread {
    /// `None` if this is no thread for handlers that may block. `awaited` is where the actor's tasks are, if that is known.
    pub(super) fn begin(awaited: Option<usize>) -> Option<Self> {
        let shared = INSIDE
            .try_with(|inside| inside.borrow().upgrade())
            .ok()
            .flatten()?;
        let record = RECORD.try_with(|record| record.borrow().clone());
        Some(Self::at(&shared, awaited, record.ok().flatten()))
    }

    /// This is a thread of the pool's own, whose handler has sent something to that actor. `None` if no actor is here. One that is need not be
    /// due: it may keep its mail back until something else comes.
    pub(super) fn of_pool(shared: &Arc<Shared>, awaited: usize) -> Option<Self> {
        let may_be_here = shared.blocking_threads().is_used();
        may_be_here.then(|| Self::at(shared, Some(awaited), None))
    }

    fn at(shared: &Arc<Shared>, awaited: Option<usize>, inside: Option<Arc<ThreadRecord>>) -> Self {
        let blocking = shared.blocking_threads();
        blocking.begin_wait(shared, awaited, inside.as_deref());
        BlockedThread {
            shared: Arc::clone(shared),
            awaited,
            inside,
        }
    }
}

impl Drop for BlockedThread {
    fn drop(&mut self) {
        let blocking = self.shared.blocking_threads();
        blocking.end_wait(self.awaited, self.inside.as_deref());
    }
}

/// Where actors live whose handlers may block.
pub(super) struct BlockingHome {
    shared: Arc<Shared>,
    /// Where those tasks are in whose place the tasks here have their turns, if that is said.
    stands_for: Option<usize>,
}

impl BlockingHome {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let blocking = shared.blocking_threads();
        blocking.is_used.store(true, Ordering::Relaxed);
        BlockingHome {
            shared,
            stands_for: None,
        }
    }
}

impl Home for BlockingHome {
    fn turn_limits(&self) -> TurnLimits {
        self.shared.turn_limits()
    }

    fn ledger(&self) -> Option<&Arc<Ledger>> {
        self.shared.ledger.as_ref()
    }

    fn is_for_blocking(&self) -> bool {
        true
    }

    fn schedule(&self, task: Task) {
        let location = self.stands_for.unwrap_or_else(|| task.location());
        (self.shared.blocking_threads()).bring(&self.shared, task, location);
    }

    fn standing_for(&self, location: usize) -> Option<Arc<dyn Home>> {
        Some(Arc::new(BlockingHome {
            shared: Arc::clone(&self.shared),
            stands_for: Some(location),
        }))
    }

    fn turn_here(&self) -> Option<ThreadTurn> {
        if !is_inside(Arc::as_ptr(&self.shared)) {
            return None;
        }
        TURN.try_with(Cell::get).ok().flatten()
    }

    fn leave_behind(&self, turn: ThreadTurn) -> Left {
        (self.shared.blocking_threads()).leave_behind(&self.shared, turn)
    }

    fn schedule_or_refuse(&self, task: Task) -> Result<(), Task> {
        if self.shared.refuses() {
            return Err(task);
        }
        self.schedule(task);
        Ok(())
    }

    fn has_closed(&self) -> bool {
        self.shared.blocking_threads().lock().closed
    }

    fn schedule_again(&self, task: Task) {
        self.schedule(task);
    }

    fn remember(&self, place: Weak<dyn AtClose>) {
        self.shared.remember(place);
    }

    fn note_muted(&self) {
        self.shared.note_muted();
    }

    fn note_unmuted(&self) {
        self.shared.note_unmuted();
    }

    fn time(&self) -> &Time {
        self.shared.time()
    }
}
