//! Polling by hand, with a waker that counts.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Instant;

use crate::support::LONG;

struct Count {
    wakes: AtomicUsize,
    thread: Thread,
}

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.wakes.fetch_add(1, Ordering::SeqCst);
        self.thread.unpark();
    }
}

/// A task that is polled when the test says so, and counts how often it is woken.
pub(crate) struct Hand {
    count: Arc<Count>,
    waker: Waker,
}

impl Hand {
    pub(crate) fn new() -> Self {
        let count = Arc::new(Count {
            wakes: AtomicUsize::new(0),
            thread: thread::current(),
        });
        Hand {
            waker: Waker::from(Arc::clone(&count)),
            count,
        }
    }

    /// So many, one for each task.
    pub(crate) fn several<const N: usize>() -> [Hand; N] {
        std::array::from_fn(|_| Hand::new())
    }

    pub(crate) fn poll<F: Future + Unpin>(&self, future: &mut F) -> Poll<F::Output> {
        Pin::new(future).poll(&mut Context::from_waker(&self.waker))
    }

    /// Polls once and insists that it is pending.
    pub(crate) fn pends<F: Future + Unpin>(&self, future: &mut F) {
        assert!(self.poll(future).is_pending(), "ready too early");
    }

    /// Polls once and insists that it is ready.
    pub(crate) fn ready<F: Future + Unpin>(&self, future: &mut F) -> F::Output {
        match self.poll(future) {
            Poll::Ready(output) => output,
            Poll::Pending => panic!("not ready"),
        }
    }

    /// How often this task was woken.
    pub(crate) fn wakes(&self) -> usize {
        self.count.wakes.load(Ordering::SeqCst)
    }

    /// How many wakers of this task there are, apart from its own.
    pub(crate) fn wakers_about(&self) -> usize {
        Arc::strong_count(&self.count) - 2
    }

    /// Sleeps until this task was woken so many times. Only for the thread that made it.
    pub(crate) fn until_woken(&self, times: usize) {
        let start = Instant::now();
        while self.wakes() < times {
            assert!(start.elapsed() < LONG, "never woken");
            thread::park_timeout(LONG);
        }
    }
}

/// How often all of these were woken.
pub(crate) fn wakes(hands: &[Hand]) -> Vec<usize> {
    hands.iter().map(Hand::wakes).collect()
}
