//! Waiting as a task for a property to change.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::time::{Duration, Instant};

use tamtam_wait::{Polled, TaskWait, Token};

use super::timeout::{PollUntil, TimeoutFuture};
use crate::error::WaitTimeoutError;
use crate::{Changed, Property};

/// What [`Property::wait_changed_async`] returns: ready when the version is another one, and then that
/// version or a later one.
///
/// # Cancel safety
///
/// Waiting changes nothing.
///
/// # Examples
///
/// ```
/// # futures::executor::block_on(async {
/// use tamtam_channel::Property;
///
/// let level = Property::new(1);
/// let seen = level.version();
/// level.set(2);
/// let now = level.wait_changed_async(seen).await;
/// assert!(now > seen && level.get() == 2);
/// # });
/// ```
#[must_use = "a future does nothing until it is awaited"]
pub struct ChangedFuture<'a, T> {
    property: &'a Property<T>,
    changed: Changed<'a, T>,
    wait: TaskWait,
}

/// What [`Property::wait_changed_timeout_async`] returns.
///
/// # Cancel safety
///
/// Waiting changes nothing.
pub type ChangedTimeoutFuture<'a, T> = TimeoutFuture<ChangedFuture<'a, T>>;

impl<T> Property<T> {
    /// Waits until the version is not `since` any more, as a task: the version then.
    ///
    /// # Cancel safety
    ///
    /// Waiting changes nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::task::{Context, Poll, Waker};
    /// # fn run<F: Future>(future: F) -> F::Output {
    /// #     let mut future = std::pin::pin!(future);
    /// #     match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
    /// #         Poll::Ready(output) => output,
    /// #         Poll::Pending => panic!("it was to be ready"),
    /// #     }
    /// # }
    /// # run(async {
    /// let speed = tamtam_channel::Property::new(1);
    /// let seen = speed.version();
    /// speed.set(2);
    /// assert_ne!(speed.wait_changed_async(seen).await, seen);
    /// assert_eq!(speed.get(), 2);
    /// # });
    /// ```
    pub fn wait_changed_async(&self, since: u64) -> ChangedFuture<'_, T> {
        ChangedFuture {
            property: self,
            changed: self.changed_since(since),
            wait: TaskWait::new(),
        }
    }

    /// As [`wait_changed_async`](Property::wait_changed_async), but waits at most `timeout` from now. No
    /// runtime's timer is needed.
    ///
    /// # Errors
    ///
    /// [`WaitTimeoutError`] if the value was not set in time.
    pub fn wait_changed_timeout_async(
        &self,
        since: u64,
        timeout: Duration,
    ) -> ChangedTimeoutFuture<'_, T> {
        TimeoutFuture::within(self.wait_changed_async(since), timeout)
    }
}

impl<T> PollUntil for ChangedFuture<'_, T> {
    type Timed = Result<u64, WaitTimeoutError>;

    const TIMED: &'static str = "ChangedTimeoutFuture { .. }";

    fn poll_until(
        &mut self,
        context: &Context<'_>,
        deadline: Option<Instant>,
    ) -> Poll<Self::Timed> {
        let mut token = Token::default();
        self.wait
            .poll(&self.changed, &mut token, context.waker(), deadline)
            .map(|polled| match polled {
                Polled::Begun => Ok(self.property.version()),
                Polled::TimedOut => Err(WaitTimeoutError),
            })
    }
}

impl<T> Future for ChangedFuture<'_, T> {
    type Output = u64;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u64> {
        match self.poll_until(context, None) {
            Poll::Ready(Ok(version)) => Poll::Ready(version),
            Poll::Ready(Err(_)) | Poll::Pending => Poll::Pending,
        }
    }
}

impl<T> Drop for ChangedFuture<'_, T> {
    fn drop(&mut self) {
        self.wait.cancel(&self.changed);
    }
}

opaque!(ChangedFuture<'_, T>);
