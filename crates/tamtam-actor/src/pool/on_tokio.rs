//! Actors on threads that are not ours: those of a runtime of tokio.
//!
//! An actor that is due is a task of tokio's until it has nothing to do. Tokio decides where and when it goes on; a
//! turn that leaves something goes behind the other tasks, as one that yields does.

use core::cell::Cell;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::{Arc, Weak};

use tamtam_wait::seam::atomic::{AtomicBool, Ordering};
use tokio::runtime::Handle;

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
    /// `spawn_blocking` or `block_in_place`. A task that tokio was told not to limit (`unconstrained`) is not noticed.
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
    /// There is a subscriber that will hear of it.
    is_waited_for: AtomicBool,
}

/// A task that does nothing, until the runtime ends and drops it.
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
            is_waited_for: AtomicBool::new(false),
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

    fn is_on_this_thread(&self) -> bool {
        matches!(RuntimeThread::new(&self.runtime), RuntimeThread::Last)
    }

    fn begin_wait(&self) -> Option<ThreadWait> {
        match RuntimeThread::new(&self.runtime) {
            RuntimeThread::Stranger => Some(ThreadWait::PLAIN),
            RuntimeThread::Worker(blocked) => Some(ThreadWait::of(blocked)),
            RuntimeThread::Last => None,
        }
    }

    fn schedule(&self, task: Task) {
        // A runtime that has been shut down drops it at once.
        drop(self.runtime.spawn(Turns(Some(task))));
    }

    fn remember(&self, place: Weak<dyn AtClose>) {
        self.remembered.add(place);
        if !self.is_waited_for.swap(true, Ordering::Relaxed) {
            let witness = Witness(Arc::clone(&self.remembered));
            drop(self.runtime.spawn(async move {
                let _witness = witness;
                core::future::pending::<()>().await;
            }));
        }
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

/// An actor's turns, from the one for which it was woken to the one that leaves nothing.
struct Turns(Option<Task>);

impl Future for Turns {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(task) = self.0.take() else {
            return Poll::Ready(());
        };
        let before = PLACE.replace(TaskPlace::Turn);
        // What an actor does wrong ends there.
        task.run();
        match PLACE.replace(before) {
            TaskPlace::Again(task) => {
                self.0 = Some(task);
                context.waker().wake_by_ref();
                Poll::Pending
            }
            TaskPlace::None | TaskPlace::Turn => Poll::Ready(()),
        }
    }
}

impl Drop for Turns {
    fn drop(&mut self) {
        if let Some(task) = self.0.take() {
            // The runtime has ended.
            task.abandon();
        }
    }
}
