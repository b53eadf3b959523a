//! A deadline for any future of this crate.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::time::{Duration, Instant};

/// A future that can be polled with a deadline, too.
///
/// Public only as a bound: it cannot be named outside of this crate.
pub trait PollUntil: Unpin {
    /// What comes of it if there is a deadline.
    type Timed;

    /// How it is shown if it has a deadline.
    const TIMED: &'static str;

    /// As [`poll`](Future::poll), but ready with an error when the deadline has passed. Without a deadline
    /// it never says that the time is over.
    fn poll_until(&mut self, context: &Context<'_>, deadline: Option<Instant>)
    -> Poll<Self::Timed>;
}

/// One of this crate's futures with a deadline: ready when that is, or when the time is over.
///
/// The methods whose names end in `_timeout_async` and `_deadline_async` return it. No runtime's timer is
/// needed: one thread keeps the deadlines of the whole program, and calls the wakers of those that have come. A waker
/// that takes long makes those behind it late.
///
/// # Cancel safety
///
/// As for the future without a deadline, and running out of time does no more than dropping it.
///
/// # Examples
///
/// ```
/// # futures::executor::block_on(async {
/// use std::time::Duration;
/// use tamtam_channel::RecvTimeoutError;
///
/// let (sender, receiver) = tamtam_channel::bounded::<u32>(1);
/// let answer = receiver.recv_timeout_async(Duration::from_millis(5)).await;
/// assert_eq!(answer, Err(RecvTimeoutError::Timeout));
/// # drop(sender);
/// # });
/// ```
#[must_use = "a future does nothing until it is awaited"]
pub struct TimeoutFuture<F> {
    pub(crate) future: F,
    deadline: Option<Instant>,
}

impl<F> TimeoutFuture<F> {
    /// Until this moment.
    pub(crate) fn until(future: F, deadline: Instant) -> Self {
        TimeoutFuture {
            future,
            deadline: Some(deadline),
        }
    }

    /// For so long from now; without an end if that is beyond what the clock can tell.
    pub(crate) fn within(future: F, timeout: Duration) -> Self {
        TimeoutFuture {
            future,
            deadline: Instant::now().checked_add(timeout),
        }
    }
}

impl<F: PollUntil> Future for TimeoutFuture<F> {
    type Output = F::Timed;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Timed> {
        let deadline = self.deadline;
        self.future.poll_until(context, deadline)
    }
}

impl<F: PollUntil> fmt::Debug for TimeoutFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(F::TIMED)
    }
}
