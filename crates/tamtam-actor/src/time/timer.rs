//! A timer that was set: it can be cancelled, and tells how often it was late.

use core::fmt;
use std::sync::Arc;

use super::clock::Alarm;

/// Something that happens later, and that can be cancelled until then.
///
/// Dropping this does **not** cancel it; it may be dropped at once where that is of no interest. It can be cloned, kept in the
/// actor's state, and sent to other threads.
///
/// A timer of an actor, made by [`Context::after`](crate::Context::after) and its like, ends with the actor: at once,
/// with all that it keeps.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_actor::Pool;
///
/// let pool = Pool::new();
/// let actor = pool.spawn_fn(|(): (), _| {});
/// let timer = actor.tell_after(Duration::from_secs(3_600), ());
/// assert!(timer.is_pending());
/// assert!(timer.cancel()); // in time
/// assert!(!timer.is_pending());
/// ```
#[derive(Clone)]
pub struct Timer {
    alarm: Arc<dyn Alarm>,
}

impl Timer {
    pub(crate) fn new(alarm: Arc<dyn Alarm>) -> Self {
        Timer { alarm }
    }

    /// Cancels it; what it keeps is dropped here and now. `true` if that was in time: it has not happened yet and
    /// never will; or, if it repeats, it never will again.
    ///
    /// Called from the actor that it belongs to, this leaves no doubt: nothing of it happens after the return, also
    /// if it has been due already. From another thread it may be happening right now; if it happens once, the
    /// answer is then `false`.
    ///
    /// A message that was sent by [`Address::tell_after`](crate::Address::tell_after) and its like cannot be cancelled
    /// any more once it is in the mailbox.
    pub fn cancel(&self) -> bool {
        self.alarm.cancel()
    }

    /// Whether it can still happen: it has not happened yet, or it repeats; it was not cancelled, and the actor has
    /// not stopped.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.alarm.is_pending()
    }

    /// How often it has not happened that it should have, because the actor came too late: see
    /// [`Every::rate`](crate::Every::rate). Always 0 for what does not repeat at a fixed rate.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.alarm.missed()
    }
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer")
            .field("pending", &self.is_pending())
            .field("missed", &self.missed())
            .finish_non_exhaustive()
    }
}
