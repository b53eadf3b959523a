//! Tokio's runtime of one thread as an executor of the lab.

use std::panic::resume_unwind;

use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinError, JoinHandle};

use super::{Executor, Failure};

/// A current-thread runtime of tokio, with the tasks spawned on it.
#[derive(Debug)]
pub(crate) struct Tokio;

impl Executor for Tokio {
    const WORD: &'static str = "async";

    fn run_pair<T, U>(
        near: impl Future<Output = Result<T, Failure>> + Send + 'static,
        far: impl Future<Output = U> + Send + 'static,
    ) -> Result<(T, U), Failure>
    where
        T: Send + 'static,
        U: Send + 'static,
    {
        runtime().block_on(async {
            let far = tokio::spawn(far);
            let near = join(tokio::spawn(near)).await?;
            Ok((near, join(far).await))
        })
    }
}

impl Tokio {
    /// Runs one task to its end, on a runtime of its own in the calling thread.
    pub(crate) fn run<U: Send + 'static>(task: impl Future<Output = U> + Send + 'static) -> U {
        runtime().block_on(async { join(tokio::spawn(task)).await })
    }
}

/// A current-thread runtime, without timers and sockets.
pub(crate) fn runtime() -> Runtime {
    Builder::new_current_thread()
        .build()
        .expect("a runtime without timers and sockets needs nothing of the system")
}

/// The task's output; its panic goes on here.
async fn join<U>(task: JoinHandle<U>) -> U {
    task.await
        .map_err(JoinError::into_panic)
        .unwrap_or_else(|panic| resume_unwind(panic))
}
