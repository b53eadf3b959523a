//! The end of a pool: what was done by its deadline, and what was not.

use std::time::{Duration, Instant};

use super::{Pool, Threads};

/// How a pool has ended: see [`Pool::shutdown_timeout`].
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_actor::Pool;
///
/// let pool = Pool::new();
/// let actor = pool.spawn_fn(|_: u32, _| {});
/// actor.tell(1)?;
/// let shutdown = pool.shutdown_timeout(Duration::from_secs(10));
/// assert!(shutdown.finished);
/// assert_eq!((shutdown.abandoned, shutdown.at_work), (0, 0));
/// # Ok::<(), tamtam_actor::TellError<u32>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shutdown {
    /// All that was due was done in time, and nothing was abandoned.
    pub finished: bool,
    /// So often an actor was ended that had something to do, or had kept mail back because it [holds](crate::Context::hold) for
    /// something, is to begin again after a pause, or was muted until the deadline. What lay in their mailboxes is counted by
    /// [`Address::lost`](crate::Address::lost), and those who wait for an answer to it have got an error.
    pub abandoned: usize,
    /// So many threads had not come back from a handler. They end when they do.
    pub at_work: usize,
    /// So many threads had been left behind by actors that were [replaced](crate::Address::replace). The pool has not waited for
    /// them; they end when they come back.
    pub left_behind: usize,
}

/// So long threads have to come back after the deadline.
const GRACE: Duration = Duration::from_millis(100);

impl Pool {
    /// As [`shutdown`](Pool::shutdown), but with a deadline, until which it also waits for actors that are muted, since there
    /// [is no room](crate::Overflow::Wait) for what they have sent: they go on when there is. From then on no actor gets a turn any more, those at work end
    /// theirs after a few messages at most, and all that have something to do end with
    /// [`EndReason::HomeEnded`](crate::EndReason::HomeEnded).
    ///
    /// # Blocking
    ///
    /// Until all is done, or until the deadline and then 0.1 s for the threads to come back. From one of its own threads
    /// it only tells them to end, and says that it has not finished.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tamtam_actor::Pool;
    ///
    /// let pool = Pool::new();
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let actor = pool.spawn_fn(move |number: u32, _| sender.send(number).unwrap());
    /// actor.tell(1)?;
    /// let shutdown = pool.shutdown_timeout(Duration::from_secs(10));
    /// assert!(shutdown.finished);
    /// assert_eq!(receiver.recv(), Ok(1));
    /// # Ok::<(), tamtam_actor::TellError<u32>>(())
    /// ```
    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    pub fn shutdown_timeout(self, timeout: Duration) -> Shutdown {
        // With the feature `tokio` there are others.
        #[allow(irrefutable_let_patterns)]
        let Threads::Own(shared) = &self.threads else {
            // They are not ours to end.
            return Shutdown {
                finished: false,
                abandoned: 0,
                at_work: 0,
                left_behind: 0,
            };
        };
        let deadline = Instant::now().checked_add(timeout);
        let finished = shared.end_until(deadline);
        if !finished && !shared.is_one_of_us() {
            shared.halt();
            shared.end_until(Instant::now().checked_add(GRACE));
            shared.leave_alone();
        }
        // First: if none is at work, then the last one that left has counted what it abandoned.
        let at_work = shared.at_work();
        let abandoned = shared.abandoned();
        Shutdown {
            finished: finished && abandoned == 0,
            abandoned,
            at_work,
            left_behind: shared.blocking_threads().left_behind(),
        }
    }
}
