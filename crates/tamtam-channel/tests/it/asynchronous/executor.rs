//! The executors that the tests run on. Nothing of them is needed by the channels.

use std::future::Future;
use std::pin::Pin;
use std::thread;

use futures::executor::{LocalPool, block_on};
use futures::future::join_all;
use futures::task::LocalSpawnExt;

pub(crate) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A future as a task of its own.
pub(crate) fn task(future: impl Future<Output = ()> + Send + 'static) -> Task {
    Box::pin(future)
}

/// Ways to run several tasks at once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Executor {
    /// All in one future, which is blocked on.
    Joined,
    /// Each on a thread of its own.
    Threads,
    /// In a pool of one thread.
    Local,
    /// tokio on this thread, with neither its timer nor its I/O.
    TokioCurrent,
    /// tokio on several threads, with neither its timer nor its I/O.
    TokioMulti,
}

impl Executor {
    pub(crate) const ALL: [Executor; 5] = [
        Executor::Joined,
        Executor::Threads,
        Executor::Local,
        Executor::TokioCurrent,
        Executor::TokioMulti,
    ];

    /// Runs all tasks until each has ended.
    pub(crate) fn run(self, tasks: Vec<Task>) {
        match self {
            Executor::Joined => drop(block_on(join_all(tasks))),
            Executor::Threads => {
                thread::scope(|scope| {
                    for task in tasks {
                        scope.spawn(|| block_on(task));
                    }
                });
            }
            Executor::Local => {
                let mut pool = LocalPool::new();
                for task in tasks {
                    pool.spawner().spawn_local(task).unwrap();
                }
                pool.run();
            }
            Executor::TokioCurrent => {
                tokio_run(tokio::runtime::Builder::new_current_thread(), tasks);
            }
            Executor::TokioMulti => {
                let mut builder = tokio::runtime::Builder::new_multi_thread();
                builder.worker_threads(2);
                tokio_run(builder, tasks);
            }
        }
    }

    /// Runs a single task to its end.
    pub(crate) fn run_one(self, future: impl Future<Output = ()> + Send + 'static) {
        self.run(vec![task(future)]);
    }
}

fn tokio_run(mut builder: tokio::runtime::Builder, tasks: Vec<Task>) {
    builder.build().unwrap().block_on(async {
        let handles: Vec<_> = tasks.into_iter().map(tokio::spawn).collect();
        for handle in handles {
            handle.await.unwrap();
        }
    });
}
