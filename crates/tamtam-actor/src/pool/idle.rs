//! Waiting until a pool is idle.

use core::error::Error;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::time::{Duration, Instant};

use super::thread::IdleWait;
use super::{Pool, Threads};
use crate::task::while_blocked;

impl Pool {
    /// Waits until the pool is idle: no actor of it has mail that it could handle, none is in a handler, and no thread has
    /// anything to do; neither its own nor those [for handlers that may block](Pool::spawn_blocking).
    ///
    /// So what was sent before the call is handled then, and all that came of it in this pool, also if actors asked each
    /// other. Only where another thread is in the middle of sending to the same actor at that moment, mail of both may have its turn
    /// when that call has returned. It says nothing of what has not come yet: timers that are pending, futures that an actor
    /// [pipes](crate::Context::pipe) or [holds](crate::Context::hold) for, mail that it keeps back meanwhile, answers of
    /// actors elsewhere, pauses before a restart, and senders outside. A pool with a timer that repeats becomes idle between
    /// two of its times, and in a pool that is never idle this waits for ever.
    ///
    /// # Blocking
    ///
    /// Until it is.
    ///
    /// # Errors
    ///
    /// [`WaitIdleError::OwnThread`] in a handler of this very pool, which is not idle as long as that waits; await
    /// [`wait_idle_async`](Pool::wait_idle_async) by [`Context::pipe`](crate::Context::pipe) there.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering};
    /// use std::sync::Arc;
    /// use tamtam_actor::Pool;
    ///
    /// let pool = Pool::new();
    /// let sum = Arc::new(AtomicU64::new(0));
    /// let total = Arc::clone(&sum);
    /// let adder = pool.spawn_fn(move |number: u64, _| {
    ///     total.fetch_add(number, Ordering::Relaxed);
    /// });
    /// for number in 1..=100 {
    ///     adder.tell(number)?;
    /// }
    /// pool.wait_idle()?;
    /// assert_eq!(sum.load(Ordering::Relaxed), 5_050);
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    pub fn wait_idle(&self) -> Result<(), WaitIdleError> {
        self.wait_idle_until(None)
    }

    /// As [`wait_idle`](Pool::wait_idle), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// As [`wait_idle`](Pool::wait_idle), and [`WaitIdleError::TimedOut`].
    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    pub fn wait_idle_timeout(&self, timeout: Duration) -> Result<(), WaitIdleError> {
        self.wait_idle_until(Instant::now().checked_add(timeout))
    }

    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    fn wait_idle_until(&self, deadline: Option<Instant>) -> Result<(), WaitIdleError> {
        // With the feature `tokio` there are others.
        #[allow(irrefutable_let_patterns)]
        let Threads::Own(shared) = &self.threads else {
            return Err(WaitIdleError::NotCounted);
        };
        if shared.is_one_of_us() {
            return Err(WaitIdleError::OwnThread);
        }
        let wait = IdleWait::begin(shared);
        if while_blocked(|| wait.wait_until(deadline)) {
            Ok(())
        } else {
            Err(WaitIdleError::TimedOut)
        }
    }

    /// As [`wait_idle`](Pool::wait_idle), for async code, and for handlers of the pool itself. It counts from this call on, and
    /// keeps nothing of the pool from ending: a pool that has ended is idle.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future forgets the wait, and nothing else.
    pub fn wait_idle_async(&self) -> WaitIdle {
        let wait = match &self.threads {
            Threads::Own(shared) => Ok(IdleWait::begin(shared)),
            #[cfg(feature = "tokio")]
            Threads::Tokio(_) => Err(WaitIdleError::NotCounted),
        };
        WaitIdle(Box::pin(async move {
            wait?.awaited().await;
            Ok(())
        }))
    }
}

/// A future that is ready when a pool is idle: see [`Pool::wait_idle_async`].
///
/// # Examples
///
/// ```
/// use std::task::{Context, Waker};
/// use tamtam_actor::Pool;
///
/// let pool = Pool::new();
/// let actor = pool.spawn_fn(|_: u32, _| {});
/// actor.tell(1)?;
/// let mut idle = std::pin::pin!(pool.wait_idle_async());
/// // A frame loop looks once in each frame; a task awaits it.
/// let mut context = Context::from_waker(Waker::noop());
/// while idle.as_mut().poll(&mut context).is_pending() {
///     std::thread::yield_now();
/// }
/// # Ok::<(), tamtam_actor::TellError<u32>>(())
/// ```
#[must_use = "futures do nothing unless they are polled"]
pub struct WaitIdle(Pin<Box<dyn Future<Output = Result<(), WaitIdleError>> + Send>>);

impl Future for WaitIdle {
    type Output = Result<(), WaitIdleError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(context)
    }
}

impl fmt::Debug for WaitIdle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitIdle").finish_non_exhaustive()
    }
}

/// Why a wait for an idle pool has ended without one: see [`Pool::wait_idle`].
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_actor::{Pool, WaitIdleError};
///
/// let pool = Pool::new();
/// let (release, released) = std::sync::mpsc::channel::<()>();
/// let actor = pool.spawn_fn(move |(): (), _| drop(released.recv()));
/// actor.tell(())?;
/// assert_eq!(pool.wait_idle_timeout(Duration::from_millis(5)), Err(WaitIdleError::TimedOut));
/// drop(release);
/// pool.wait_idle()?;
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WaitIdleError {
    /// This is a thread of the pool, in a handler: the pool would never be idle.
    OwnThread,
    /// It was not idle until then.
    TimedOut,
    /// The threads are those of a runtime, [which counts for itself](crate::Pool::on_tokio) what is due there.
    NotCounted,
}

impl fmt::Display for WaitIdleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WaitIdleError::OwnThread => {
                "this handler keeps the pool busy, which would never be idle; await `wait_idle_async` by `Context::pipe`"
            }
            WaitIdleError::TimedOut => "the pool was not idle in time",
            WaitIdleError::NotCounted => "a pool on the threads of a runtime does not know when it is idle",
        })
    }
}

impl Error for WaitIdleError {}
