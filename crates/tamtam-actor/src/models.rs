//! What models of actors share, those of other crates among them: how they are run, and a home whose tasks are run by the thread that asks it to.

use core::sync::atomic::Ordering::Relaxed;
use std::collections::VecDeque;
use std::sync::Arc;

use tamtam_wait::seam::{self, Mutex};

use crate::spawner::Spawner;
use crate::task::{Home, Left, Task, ThreadTurn};
use crate::time::Time;

/// How deep models without a depth of their own usually go.
const USUAL_PREEMPTIONS: usize = 2;

/// Runs a model with so many preemptions at most. Where `LOOM_MAX_PREEMPTIONS` says more than the usual two, so many more.
pub fn model(preemptions: usize, program: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    let all = builder.preemption_bound.unwrap_or(USUAL_PREEMPTIONS);
    builder.preemption_bound = Some(preemptions + all.saturating_sub(USUAL_PREEMPTIONS));
    // Where a thread looks more often, on no path in vain, than loom takes for one that spins: five messages in several pumps are 1,050.
    builder.max_branches = 2_000;
    builder.check(program);
}

/// A future that is ready once it is opened.
#[cfg(test)]
#[derive(Clone)]
pub(crate) struct Gate(Arc<Mutex<(bool, Option<core::task::Waker>)>>);

#[cfg(test)]
impl Gate {
    pub(crate) fn new() -> Self {
        Gate(Arc::new(Mutex::new((false, None))))
    }

    pub(crate) fn open(&self) {
        let waker = {
            let mut inner = self.0.lock();
            inner.0 = true;
            inner.1.take()
        };
        waker.into_iter().for_each(core::task::Waker::wake);
    }
}

#[cfg(test)]
impl Future for Gate {
    type Output = ();

    fn poll(
        self: core::pin::Pin<&mut Self>,
        cx: &mut core::task::Context<'_>,
    ) -> core::task::Poll<()> {
        let mut inner = self.0.lock();
        if inner.0 {
            return core::task::Poll::Ready(());
        }
        inner.1 = Some(cx.waker().clone());
        core::task::Poll::Pending
    }
}

/// A home that keeps what is due in one queue, and has a time of its own.
///
/// Each thread of a model, once it has done what it came for, runs what is there: so what was scheduled has run when all
/// threads are through, if it was scheduled at all.
pub struct ModelHome {
    due: Mutex<DueTasks>,
    /// By which its actors live.
    pub time: Time,
    /// Messages come back. Not loom's: it is set before threads are.
    pub refuses: core::sync::atomic::AtomicBool,
}

struct DueTasks {
    tasks: VecDeque<Task>,
    closed: bool,
}

impl core::fmt::Debug for ModelHome {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ModelHome").finish_non_exhaustive()
    }
}

impl ModelHome {
    /// One without tasks, at the beginning of its time.
    pub fn new() -> Arc<Self> {
        Arc::new(ModelHome {
            due: Mutex::new(DueTasks {
                tasks: VecDeque::new(),
                closed: false,
            }),
            time: Time::manual(),
            refuses: core::sync::atomic::AtomicBool::new(false),
        })
    }

    /// Actors whose turns it has.
    pub fn spawner(self: &Arc<Self>) -> Spawner {
        Spawner::on(Arc::clone(self) as Arc<dyn Home>)
    }

    /// Runs what is due, on this thread.
    pub fn run(&self) {
        loop {
            let task = self.due.lock().tasks.pop_front();
            match task {
                Some(task) => task.run(),
                None => return,
            }
        }
    }

    /// Runs nothing more.
    pub fn close(&self) {
        let left = {
            let mut due = self.due.lock();
            due.closed = true;
            core::mem::take(&mut due.tasks)
        };
        left.into_iter().for_each(Task::abandon);
    }
}

impl Home for ModelHome {
    fn schedule(&self, task: Task) {
        let mut due = self.due.lock();
        if due.closed {
            drop(due);
            task.abandon();
        } else {
            due.tasks.push_back(task);
        }
    }

    fn schedule_or_refuse(&self, task: Task) -> Result<(), Task> {
        if self.refuses.load(Relaxed) {
            return Err(task);
        }
        self.schedule(task);
        Ok(())
    }

    fn schedule_again(&self, task: Task) {
        self.schedule(task);
        // Perhaps for the sake of a thread that is in the middle of sending.
        seam::yield_now();
    }

    fn time(&self) -> &Time {
        &self.time
    }

    /// Each of its threads can be left behind.
    fn turn_here(&self) -> Option<ThreadTurn> {
        Some(ThreadTurn { thread: 0, turn: 1 })
    }

    fn leave_behind(&self, _: ThreadTurn) -> Left {
        Left::Behind(Box::new(|| {}))
    }
}
