//! The runtime on which tokio's tasks run, and the actors of those who use it.

use std::time::Duration;

use tamtam_channel::Latch;
use tokio::runtime::{Builder, Runtime};

/// One with as many workers as there are to be threads; with one thread the calling one, while it waits.
#[derive(Debug)]
pub(crate) struct TokioRuntime {
    runtime: Runtime,
    in_caller: bool,
}

impl TokioRuntime {
    /// As tokio advises: a current-thread runtime for one thread, otherwise one that steals work.
    pub(crate) fn new(threads: usize) -> Self {
        if threads == 1 {
            let runtime = Builder::new_current_thread().build();
            TokioRuntime {
                runtime: runtime.expect("a runtime without timers needs nothing"),
                in_caller: true,
            }
        } else {
            TokioRuntime::with_workers(threads)
        }
    }

    /// One whose tasks run on threads of its own.
    pub(crate) fn with_workers(threads: usize) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(threads).build();
        TokioRuntime {
            runtime: runtime.expect("a runtime needs its threads only"),
            in_caller: false,
        }
    }

    /// The runtime itself.
    pub(crate) fn get(&self) -> &Runtime {
        &self.runtime
    }

    /// Waits for `latch`, and runs the tasks if nobody else does.
    pub(crate) fn wait(&self, latch: &Latch, patience: Duration) {
        if self.in_caller {
            // Without a time limit: the experiment's own ends a run in which something is missing.
            self.runtime.block_on(latch.wait_async());
        } else {
            // Whether it is open is seen by the experiment.
            let _ = latch.wait_timeout(patience);
        }
    }
}
