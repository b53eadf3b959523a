//! Waiting as a task for an event, a latch, or whatever else is waitable.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::time::{Duration, Instant};

use tamtam_wait::{Polled, TaskWait, Token};

use super::timeout::{PollUntil, TimeoutFuture};
use crate::error::WaitTimeoutError;
use crate::select::Waitable;
use crate::{Event, Latch, Slot};

/// What [`Event::wait_async`] and [`Latch::wait_async`] return: ready when one may pass.
///
/// # Cancel safety
///
/// Dropping it takes nothing: an auto event that was set for it lets another one pass.
///
/// # Examples
///
/// ```
/// # futures::executor::block_on(async {
/// use tamtam_channel::Latch;
///
/// let loaded = Latch::new(2);
/// loaded.count_down();
/// loaded.count_down();
/// loaded.wait_async().await;
/// assert!(loaded.is_open());
/// # });
/// ```
#[must_use = "a future does nothing until it is awaited"]
pub struct WaitFuture<'a, W: Waitable> {
    waited: &'a W,
    wait: TaskWait,
    /// What the [`mark`](tamtam_wait::Source::mark) was when the wait began; zero before that, and if there is none.
    mark: u64,
}

/// What `wait_timeout_async` and `wait_deadline_async` return.
///
/// # Cancel safety
///
/// As for [`WaitFuture`].
pub type WaitTimeoutFuture<'a, W> = TimeoutFuture<WaitFuture<'a, W>>;

impl<'a, W: Waitable> WaitFuture<'a, W> {
    pub(crate) fn new(waited: &'a W) -> Self {
        WaitFuture {
            waited,
            wait: TaskWait::new(),
            mark: 0,
        }
    }
}

impl Event {
    /// Waits until the event is set, as a task.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future takes nothing: see [`WaitFuture`].
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
    /// let event = tamtam_channel::Event::auto();
    /// event.set();
    /// event.wait_async().await;
    /// assert!(!event.is_set());
    /// # });
    /// ```
    pub fn wait_async(&self) -> WaitFuture<'_, Event> {
        WaitFuture::new(self)
    }

    /// As [`wait_async`](Event::wait_async), but waits at most `timeout` from now.
    ///
    /// # Errors
    ///
    /// [`WaitTimeoutError`] if the event was not set in time.
    pub fn wait_timeout_async(&self, timeout: Duration) -> WaitTimeoutFuture<'_, Event> {
        TimeoutFuture::within(self.wait_async(), timeout)
    }
}

impl Latch {
    /// Waits until the latch is open, as a task.
    ///
    /// # Cancel safety
    ///
    /// Waiting changes nothing.
    pub fn wait_async(&self) -> WaitFuture<'_, Latch> {
        WaitFuture::new(self)
    }

    /// As [`wait_async`](Latch::wait_async), but waits at most `timeout` from now.
    ///
    /// # Errors
    ///
    /// [`WaitTimeoutError`] if counts were still missing then.
    pub fn wait_timeout_async(&self, timeout: Duration) -> WaitTimeoutFuture<'_, Latch> {
        TimeoutFuture::within(self.wait_async(), timeout)
    }
}

impl<W: Waitable> Future for WaitFuture<'_, W> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.poll_until(context, None).map(|_| ())
    }
}

impl<W: Waitable> PollUntil for WaitFuture<'_, W> {
    type Timed = Result<(), WaitTimeoutError>;

    const TIMED: &'static str = "WaitTimeoutFuture { .. }";

    fn poll_until(
        &mut self,
        context: &Context<'_>,
        deadline: Option<Instant>,
    ) -> Poll<Self::Timed> {
        if self.mark == 0 {
            self.mark = self.waited.mark();
        }
        let mut token = Token::default();
        let polled = self
            .wait
            .poll(self.waited, &mut token, context.waker(), deadline);
        if polled == Poll::Ready(Polled::Begun) {
            return Poll::Ready(Ok(()));
        }
        if self.mark != 0 && self.waited.mark() != self.mark {
            // It was set before the task stood in the list, and is reset already.
            self.wait.cancel(self.waited);
            return Poll::Ready(Ok(()));
        }
        polled.map(|_| Err(WaitTimeoutError))
    }
}

impl<W: Waitable> Drop for WaitFuture<'_, W> {
    fn drop(&mut self) {
        self.wait.cancel(self.waited);
    }
}

opaque!(WaitFuture<'_, W: Waitable>);

/// What [`Slot::take_async`] returns: ready when a value is there.
///
/// # Cancel safety
///
/// Dropping it takes no value.
///
/// # Examples
///
/// ```
/// # futures::executor::block_on(async {
/// use tamtam_channel::Slot;
///
/// let newest = Slot::new();
/// newest.replace("frame 7");
/// newest.replace("frame 8");
/// assert_eq!(newest.take_async().await, "frame 8");
/// # });
/// ```
#[must_use = "a future does nothing until it is awaited"]
pub struct TakeFuture<'a, T> {
    slot: &'a Slot<T>,
    wait: TaskWait,
}

/// What [`Slot::put_async`] returns: ready when the value is in the slot.
///
/// # Cancel safety
///
/// Dropping it drops the value, which was not put. [`into_value`](PutFuture::into_value) gives it back.
///
/// # Examples
///
/// ```
/// use std::task::{Context, Waker};
/// use tamtam_channel::Slot;
///
/// let slot = Slot::new();
/// slot.put("first");
/// let mut putting = slot.put_async("second");
/// // It waits until the first is taken; giving up gives the value back.
/// let mut context = Context::from_waker(Waker::noop());
/// assert!(std::pin::Pin::new(&mut putting).poll(&mut context).is_pending());
/// assert_eq!(putting.into_value(), Some("second"));
/// ```
#[must_use = "a future does nothing until it is awaited"]
pub struct PutFuture<'a, T> {
    slot: &'a Slot<T>,
    value: Option<T>,
    wait: TaskWait,
}

impl<T> Slot<T> {
    /// Takes the value out, awaiting one.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future takes no value.
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
    /// let slot = tamtam_channel::Slot::new();
    /// slot.put_async("here").await;
    /// assert_eq!(slot.take_async().await, "here");
    /// # });
    /// ```
    pub fn take_async(&self) -> TakeFuture<'_, T> {
        TakeFuture {
            slot: self,
            wait: TaskWait::new(),
        }
    }

    /// Puts a value in, awaiting an empty slot.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is ready drops the value unput; see [`PutFuture`].
    pub fn put_async(&self, value: T) -> PutFuture<'_, T> {
        PutFuture {
            slot: self,
            value: Some(value),
            wait: TaskWait::new(),
        }
    }
}

impl<T> Future for TakeFuture<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let slot = self.slot;
        let polled =
            self.wait
                .poll_attempting(slot.taking::<false>(), context.waker(), None, |_| {
                    slot.try_take()
                });
        polled.map(|taken| taken.unwrap_or_else(unlimited))
    }
}

/// The result of a wait whose time cannot be over.
fn unlimited<R>() -> R {
    unreachable!("a wait without a deadline has ended with nothing")
}

impl<T> Drop for TakeFuture<'_, T> {
    fn drop(&mut self) {
        self.wait.cancel(self.slot.taking::<false>());
    }
}

impl<T> PutFuture<'_, T> {
    /// Gives the putting up; the value, unless it was put.
    #[must_use = "the value is dropped with this"]
    pub fn into_value(mut self) -> Option<T> {
        self.value.take()
    }
}

// The value is moved by value and never pinned.
impl<T> Unpin for PutFuture<'_, T> {}

impl<T> Future for PutFuture<'_, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        assert!(self.value.is_some(), "a put was polled after it had ended");
        let PutFuture { slot, value, wait } = &mut *self;
        wait.poll_attempting(slot.putting::<false>(), context.waker(), None, |_| {
            slot.try_put_from(value).then_some(())
        })
        .map(|put| put.unwrap_or_else(unlimited))
    }
}

impl<T> Drop for PutFuture<'_, T> {
    fn drop(&mut self) {
        self.wait.cancel(self.slot.putting::<false>());
    }
}

opaque!(TakeFuture<'_, T>);
opaque!(PutFuture<'_, T>);
