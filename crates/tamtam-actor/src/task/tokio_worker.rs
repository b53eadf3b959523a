//! Which threads of a runtime wait for actors that the runtime has to give their turns.
//!
//! A runtime starts no thread for one of its workers that waits. So the last one that does not wait may not begin to: on
//! a runtime with one worker no task may.
//!
//! Whether a thread polls a task can be told by the budget that tokio gives each task for one poll: a thread of
//! `spawn_blocking`, one in `block_in_place`, and one that has merely entered the runtime have none.

use core::cell::Cell;
use core::task::{Context, Poll, Waker};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::runtime::{Handle, Id, RuntimeFlavor};
use tokio::task::{self, coop};

/// The most that tokio lets a task do in one poll.
const BUDGET: usize = 128;

/// So many workers of a runtime wait. A runtime of which none does is not listed.
static BLOCKED: Mutex<Vec<(Id, usize)>> = Mutex::new(Vec::new());

fn lock() -> MutexGuard<'static, Vec<(Id, usize)>> {
    // No user code runs under the lock.
    BLOCKED.lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    /// The runtime among whose workers this thread is counted as one that waits.
    static COUNTED_FOR: Cell<Option<Id>> = const { Cell::new(None) };
}

/// A worker of a runtime that waits for an actor there. It belongs to its thread.
pub(crate) struct BlockedWorker {
    runtime: Handle,
    /// There if this wait is the one that is counted: a wait within another one keeps no further thread.
    #[expect(dead_code, reason = "kept until it is dropped")]
    count: Option<WorkerCount>,
}

/// A worker that is counted as one that waits, for as long as this lives.
struct WorkerCount {
    runtime: Id,
    /// What the thread was counted for before.
    before: Option<Id>,
}

/// What a thread is to a runtime, if it is about to wait.
pub(crate) enum RuntimeThread {
    /// It polls no tasks there.
    Stranger,
    /// It is one of its workers, and others are left.
    Worker(BlockedWorker),
    /// It is the last one.
    Last,
}

impl RuntimeThread {
    pub(crate) fn new(runtime: &Handle) -> Self {
        if !is_worker(runtime) {
            return RuntimeThread::Stranger;
        }
        let (id, workers) = (runtime.id(), runtime.metrics().num_workers());
        let counted_for = COUNTED_FOR.get();
        if counted_for == Some(id) {
            return RuntimeThread::Worker(BlockedWorker {
                runtime: runtime.clone(),
                count: None,
            });
        }
        let mut blocked = lock();
        let place = blocked.iter().position(|(other, _)| *other == id);
        let count = place.map_or(0, |place| blocked[place].1);
        if count + 1 >= workers {
            return RuntimeThread::Last;
        }
        match place {
            Some(place) => blocked[place].1 += 1,
            None => blocked.push((id, 1)),
        }
        COUNTED_FOR.set(Some(id));
        RuntimeThread::Worker(BlockedWorker {
            runtime: runtime.clone(),
            count: Some(WorkerCount {
                runtime: id,
                before: counted_for,
            }),
        })
    }
}

impl BlockedWorker {
    /// What this worker would do next is for the others. What a task spawns lies in a slot from which no other worker
    /// takes it; one more task puts it into the local queue.
    pub(crate) fn leave_work_to_others(&self) {
        drop(self.runtime.spawn(async {}));
    }
}

impl Drop for WorkerCount {
    fn drop(&mut self) {
        COUNTED_FOR.set(self.before);
        let mut blocked = lock();
        if let Some(place) = blocked.iter().position(|(id, _)| *id == self.runtime) {
            blocked[place].1 -= 1;
            if blocked[place].1 == 0 {
                blocked.swap_remove(place);
            }
        }
    }
}

/// Whether this thread polls tasks of that runtime.
fn is_worker(runtime: &Handle) -> bool {
    let Ok(here) = Handle::try_current() else {
        return false;
    };
    // What `block_on` waits for is polled by a worker only where that is the thread that calls it.
    here.id() == runtime.id()
        && (task::try_id().is_some() || here.runtime_flavor() == RuntimeFlavor::CurrentThread)
        && has_budget()
}

/// Whether what this thread does is limited by a budget. It is left as it was.
fn has_budget() -> bool {
    let mut context = Context::from_waker(Waker::noop());
    let mut taken = Vec::with_capacity(BUDGET);
    let is_used_up =
        |context: &mut Context<'_>, taken: &mut Vec<_>| match coop::poll_proceed(context) {
            Poll::Ready(part) => {
                taken.push(part);
                false
            }
            Poll::Pending => true,
        };
    let is_limited = (0..=BUDGET).any(|_| is_used_up(&mut context, &mut taken));
    // Each gives back what was there before it.
    while let Some(part) = taken.pop() {
        drop(part);
    }
    is_limited
}
