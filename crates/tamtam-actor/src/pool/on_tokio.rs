//! Actors on threads that are not ours: those of a runtime of tokio.
//!
//! An actor that is due has a task of tokio's until it has nothing to do; that task is kept for the next one. Tokio decides where and when it goes on; a
//! turn that leaves something goes behind the other tasks, as one that yields does.

use core::cell::Cell;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use super::{Pool, Threads};
use crate::observe::{HomeKind, HomeSnapshot, Ledger, Observe, WatchedHome, watch};
use crate::task::{AtClose, Home, Remembered, RuntimeThread, Task, ThreadWait};

impl Pool {
    /// A pool whose threads are those of a runtime of tokio (feature `tokio`).
    ///
    /// An actor that has mail is a task there, beside all others; its turns are as long as on other pools, and between
    /// them it gives way. No thread of ours is started. A handler that blocks keeps one of the runtime's threads, as
    /// any task that blocks does; [`blocking_asks`](Pool::blocking_asks) does not count here, and no thread stands in. So
    /// [`Address::ask`](crate::Address::ask) of an actor there is refused, with [`AskError::OwnThread`](crate::AskError::OwnThread),
    /// to a task or handler of the same runtime that would leave it no thread: to all of them on a runtime of the current
    /// thread, otherwise to the last one. Ask by [`ask_async`](crate::Address::ask_async) there, or in
    /// `spawn_blocking` or `block_in_place`. So it is with the wait for room in a mailbox, whose message comes back, and with
    /// [`End::wait`](crate::End::wait), which panics; [`tell_async`](crate::Address::tell_async) and the end as a future wait there.
    /// A task that tokio was told not to limit (`unconstrained`) is not noticed.
    ///
    /// A task that has given an actor its turns waits for the next one that is due, here or in another actor of the pool: up to 64 are kept, for as
    /// long as the pool or one of its actors is there, and the runtime counts them as alive.
    ///
    /// Dropping such a pool ends nothing: its actors live on as long as the runtime does. When the runtime is shut down
    /// those stop that are due, that are watched, that [hold](crate::Context::hold) for something, or are to begin again
    /// after a pause; those that are idle stop when a message is sent to them, or when their last address is dropped.
    ///
    /// Its actors are observed as [`observe_all`](crate::observe::observe_all) has it; of the threads nothing is counted.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{Pool, Reply};
    ///
    /// let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// let pool = Pool::on_tokio(runtime.handle());
    /// let doubler = pool.spawn_fn(|(number, reply): (u64, Reply<u64>), _| reply.send(2 * number));
    /// let answer = runtime.block_on(doubler.ask_async(|reply| (21, reply)));
    /// assert_eq!(answer?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn on_tokio(runtime: &Handle) -> Pool {
        let runtime = runtime.clone();
        Pool {
            threads: Threads::Tokio(OnTokio::new(runtime)),
        }
    }
}

pub(super) struct OnTokio {
    runtime: Handle,
    ledger: Option<Arc<Ledger>>,
    /// Who is to be told when the runtime ends.
    remembered: Arc<Remembered>,
    /// The first one who is to be told has that task made.
    has_witness: AtomicBool,
    /// The task that will hear of it.
    witness: OnceLock<AbortHandle>,
    spares: Arc<Spares>,
}

/// So many tasks are kept that have nothing to do, at about 400 bytes each.
const MOST_SPARES: usize = 64;

/// Tasks of tokio's that have had an actor's turns, kept for another one's: to make one costs several times what a wake-up does.
#[derive(Default)]
struct Spares(Mutex<SpareTasks>);

/// All tasks that are kept or were, at most [`MOST_SPARES`].
#[derive(Default)]
struct SpareTasks {
    /// What each of them is to do.
    duties: Vec<Duty>,
    /// Which of them are idle.
    idle: Vec<usize>,
    /// The places of those that have ended.
    vacant: Vec<usize>,
    /// There is nothing left to keep them for.
    is_closed: bool,
}

enum Duty {
    /// It is at work, or has ended.
    Other,
    /// It waits, to be woken by this.
    Idle(Waker),
    /// It is to give this one its turns.
    Due(Task),
}

impl Spares {
    fn lock(&self) -> MutexGuard<'_, SpareTasks> {
        // No user code runs under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a kept task give this one its turns; it comes back if none is idle.
    fn give(&self, task: Task) -> Result<(), Task> {
        let mut kept = self.lock();
        let Some(place) = kept.idle.pop() else {
            drop(kept);
            return Err(task);
        };
        let duty = core::mem::replace(&mut kept.duties[place], Duty::Due(task));
        drop(kept);
        if let Duty::Idle(waker) = duty {
            waker.wake();
        }
        Ok(())
    }

    /// Keeps a task that has nothing to do, is woken by `waker`, and has this place if it was kept before. Whether it is kept.
    fn keep(&self, place: &mut Option<usize>, waker: &Waker) -> bool {
        let waker = waker.clone();
        let mut kept = self.lock();
        if kept.is_closed {
            return false;
        }
        let place = match *place {
            Some(place) => place,
            None => {
                let new = match kept.vacant.pop() {
                    Some(vacant) => vacant,
                    None if kept.duties.len() < MOST_SPARES => {
                        kept.duties.push(Duty::Other);
                        kept.duties.len() - 1
                    }
                    None => return false,
                };
                *place.insert(new)
            }
        };
        kept.duties[place] = Duty::Idle(waker);
        kept.idle.push(place);
        true
    }

    /// What the kept task at this place is to do now: a task's turns, or to end, or nothing.
    fn next(&self, place: usize) -> NextDuty {
        let mut kept = self.lock();
        if matches!(kept.duties[place], Duty::Idle(_)) {
            return NextDuty::Nothing;
        }
        match core::mem::replace(&mut kept.duties[place], Duty::Other) {
            Duty::Due(task) => NextDuty::Turn(task),
            Duty::Idle(_) | Duty::Other => NextDuty::End,
        }
    }

    /// The task that was kept at this place has ended; what it was still to do.
    fn leave(&self, place: usize) -> Option<Task> {
        let mut kept = self.lock();
        kept.idle.retain(|idle| *idle != place);
        kept.vacant.push(place);
        let duty = core::mem::replace(&mut kept.duties[place], Duty::Other);
        drop(kept);
        match duty {
            Duty::Due(task) => Some(task),
            Duty::Idle(_) | Duty::Other => None,
        }
    }

    /// Lets all that are kept end.
    fn close(&self) {
        let mut kept = self.lock();
        kept.is_closed = true;
        let idle = core::mem::take(&mut kept.idle);
        let duties: Vec<Duty> = idle
            .into_iter()
            .map(|place| core::mem::replace(&mut kept.duties[place], Duty::Other))
            .collect();
        drop(kept);
        for duty in duties {
            if let Duty::Idle(waker) = duty {
                waker.wake();
            }
        }
    }
}

impl Drop for OnTokio {
    fn drop(&mut self) {
        self.spares.close();
        if let Some(witness) = self.witness.get() {
            // There is no actor left that it could tell.
            witness.abort();
        }
    }
}

/// A task that does nothing, until it is dropped: when the runtime ends, or the pool with its actors has gone.
struct Witness(Arc<Remembered>);

impl Drop for Witness {
    fn drop(&mut self) {
        let _ = self.0.close();
    }
}

impl OnTokio {
    fn new(runtime: Handle) -> Arc<Self> {
        let ledger = Observe::default().ledger("tokio");
        let tokio = Arc::new(OnTokio {
            runtime,
            ledger,
            remembered: Arc::new(Remembered::new()),
            has_witness: AtomicBool::new(false),
            witness: OnceLock::new(),
            spares: Arc::default(),
        });
        if tokio.ledger.is_some() {
            let watched: Weak<dyn WatchedHome> = Arc::downgrade(&tokio) as _;
            watch(watched);
        }
        tokio
    }

    pub(super) fn threads(&self) -> usize {
        self.runtime.metrics().num_workers()
    }
}

/// What became of the turn that this thread is in.
enum TaskPlace {
    /// It is in none.
    None,
    /// It is in one.
    Turn,
    /// That one has left something.
    Again(Task),
}

thread_local! {
    static PLACE: Cell<TaskPlace> = const { Cell::new(TaskPlace::None) };
}

impl WatchedHome for OnTokio {
    fn look(&self) -> HomeSnapshot {
        let threads = self.threads();
        HomeSnapshot::by_actors(HomeKind::Pool, "tokio", threads, self.ledger.as_deref())
    }

    fn has_closed(&self) -> bool {
        false
    }

    fn ledger(&self) -> Option<&Arc<Ledger>> {
        self.ledger.as_ref()
    }
}

impl Home for OnTokio {
    fn ledger(&self) -> Option<&Arc<Ledger>> {
        self.ledger.as_ref()
    }

    fn begin_wait(&self) -> Option<ThreadWait> {
        match RuntimeThread::new(&self.runtime) {
            RuntimeThread::Stranger => Some(ThreadWait::PLAIN),
            RuntimeThread::Worker(blocked) => Some(ThreadWait::of(blocked)),
            RuntimeThread::Last => None,
        }
    }

    fn schedule(&self, task: Task) {
        if let Err(task) = self.spares.give(task) {
            let turns = Turns {
                task: Some(task),
                place: None,
                spares: Arc::clone(&self.spares),
            };
            // A runtime that has been shut down drops it at once.
            drop(self.runtime.spawn(turns));
        }
    }

    fn remember(&self, place: Weak<dyn AtClose>) {
        self.remembered.add(place);
        if self.has_witness.swap(true, Ordering::Relaxed) {
            return;
        }
        let witness = Witness(Arc::clone(&self.remembered));
        // A runtime that has been shut down drops it at once, and actors end that may come here, too.
        let task = self.runtime.spawn(async move {
            let _witness = witness;
            core::future::pending::<()>().await;
        });
        let _ = self.witness.set(task.abort_handle());
    }

    fn schedule_again(&self, task: Task) {
        match PLACE.replace(TaskPlace::None) {
            TaskPlace::Turn => PLACE.set(TaskPlace::Again(task)),
            other => {
                PLACE.set(other);
                self.schedule(task);
            }
        }
    }
}

/// An actor's turns, from the one for which it was woken to the one that leaves nothing; then perhaps another one's.
struct Turns {
    /// What was left of its last turn, or is to have its first one.
    task: Option<Task>,
    /// Where it is kept, if it was before.
    place: Option<usize>,
    spares: Arc<Spares>,
}

impl Turns {
    /// Whose turn it is.
    fn next(&mut self) -> NextDuty {
        match (self.task.take(), self.place) {
            (Some(task), _) => NextDuty::Turn(task),
            (None, Some(place)) => self.spares.next(place),
            (None, None) => NextDuty::End,
        }
    }
}

/// What a task of tokio's is to do next.
enum NextDuty {
    Turn(Task),
    Nothing,
    End,
}

impl Future for Turns {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let task = match self.next() {
            NextDuty::Turn(task) => task,
            NextDuty::Nothing => return Poll::Pending,
            NextDuty::End => return Poll::Ready(()),
        };
        let before = PLACE.replace(TaskPlace::Turn);
        // What an actor does wrong ends there.
        task.run();
        match PLACE.replace(before) {
            TaskPlace::Again(task) => {
                self.task = Some(task);
                context.waker().wake_by_ref();
                Poll::Pending
            }
            TaskPlace::None | TaskPlace::Turn => {
                let this = &mut *self;
                if this.spares.keep(&mut this.place, context.waker()) {
                    Poll::Pending
                } else {
                    Poll::Ready(())
                }
            }
        }
    }
}

impl Drop for Turns {
    fn drop(&mut self) {
        let given = self.place.and_then(|place| self.spares.leave(place));
        if let Some(task) = self.task.take().or(given) {
            // The runtime has ended.
            task.abandon();
        }
    }
}
