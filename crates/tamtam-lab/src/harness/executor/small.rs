//! The smallest executor: it polls the tasks of one thread, and parks.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use super::{Executor, Failure};

/// The smallest executor that can run two tasks: a flag for each, and a thread that sleeps while neither is raised.
///
/// It costs next to nothing, so that what remains is the price of the way itself.
#[derive(Debug)]
pub(crate) struct Small;

impl Executor for Small {
    const WORD: &'static str = "async-small";

    fn run_pair<T, U>(
        near: impl Future<Output = Result<T, Failure>> + Send + 'static,
        far: impl Future<Output = U> + Send + 'static,
    ) -> Result<(T, U), Failure>
    where
        T: Send + 'static,
        U: Send + 'static,
    {
        let (near, far) = (pin!(near), pin!(far));
        let (mut near, mut far) = (Task::new(near), Task::new(far));
        loop {
            let polled = near.poll() | far.poll();
            match (near.output.take(), far.output.take()) {
                (Some(Err(failure)), _) => return Err(failure),
                (Some(Ok(near)), Some(far)) => return Ok((near, far)),
                // Put back until the other one has ended too.
                (first, second) => (near.output, far.output) = (first, second),
            }
            if !polled {
                // Returns at once if a flag was raised since it was looked at: each wake leaves a token.
                thread::park();
            }
        }
    }
}

/// A task in its place.
struct Task<'a, F: Future> {
    future: Pin<&'a mut F>,
    flag: Arc<Flag>,
    waker: Waker,
    ended: bool,
    output: Option<F::Output>,
}

impl<'a, F: Future> Task<'a, F> {
    fn new(future: Pin<&'a mut F>) -> Self {
        let flag = Arc::new(Flag {
            raised: AtomicBool::new(true),
            thread: thread::current(),
        });
        Task {
            future,
            waker: Waker::from(Arc::clone(&flag)),
            flag,
            ended: false,
            output: None,
        }
    }

    /// Polls the task if its flag is raised; says whether it was.
    fn poll(&mut self) -> bool {
        // Acquire: what was done before the flag was raised is to be seen. Lowered before the poll, so that a wake in
        // the middle of it counts.
        if self.ended || !self.flag.raised.swap(false, Ordering::Acquire) {
            return false;
        }
        if let Poll::Ready(output) = self
            .future
            .as_mut()
            .poll(&mut Context::from_waker(&self.waker))
        {
            self.ended = true;
            self.output = Some(output);
        }
        true
    }
}

/// What a task's waker raises.
struct Flag {
    raised: AtomicBool,
    thread: Thread,
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.raised.swap(true, Ordering::Release) {
            self.thread.unpark();
        }
    }
}
