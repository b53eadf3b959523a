//! A timer that was set: it can be cancelled, and tells how often it was late.

use core::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::clock::Time;
use super::slab::Key;

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
    kind: TimerKind,
}

#[derive(Clone)]
enum TimerKind {
    Once { time: Time, key: Key },
    Repeats(Arc<RepeatedTimer>),
}

struct RepeatedTimer {
    time: Time,
    key: Key,
    missed: Missed,
}

/// How often a timer that repeats was left out. Kept by the timer and by what it is for.
#[derive(Clone, Default)]
pub(crate) struct Missed(Arc<AtomicU64>);

impl Missed {
    pub(crate) fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }
}

impl Timer {
    /// One that happens once.
    #[inline]
    pub(crate) fn once(time: Time, key: Key) -> Self {
        Timer {
            kind: TimerKind::Once { time, key },
        }
    }

    /// One that repeats.
    pub(crate) fn repeats(time: Time, key: Key, missed: Missed) -> Self {
        Timer {
            kind: TimerKind::Repeats(Arc::new(RepeatedTimer { time, key, missed })),
        }
    }

    #[inline]
    fn parts(&self) -> (&Time, Key) {
        match &self.kind {
            TimerKind::Once { time, key } => (time, *key),
            TimerKind::Repeats(timer) => (&timer.time, timer.key),
        }
    }

    /// Cancels it; what it keeps is dropped here and now. `true` if that was in time: it has not happened yet and
    /// never will; or, if it repeats, it never will again.
    ///
    /// Called from the actor that it belongs to, this leaves no doubt: nothing of it happens after the return, also
    /// if it has been due already. From another thread it may be happening right now: if it happens once, the
    /// answer is then `false`; if it repeats, this is its last time, which may end after the return, and what it
    /// keeps is dropped then.
    ///
    /// A message that was sent by [`Address::tell_after`](crate::Address::tell_after) and its like cannot be cancelled
    /// any more once it is in the mailbox.
    pub fn cancel(&self) -> bool {
        let (time, key) = self.parts();
        time.remove(key)
    }

    /// Whether it can still happen: it has not happened yet, or it repeats; it was not cancelled, and the actor has
    /// not stopped.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        let (time, key) = self.parts();
        time.is_pending(key)
    }

    /// How often it has not happened that it should have, because the actor came too late: see
    /// [`Every::rate`](crate::Every::rate). Always 0 for what does not repeat at a fixed rate.
    #[must_use]
    pub fn missed(&self) -> u64 {
        match &self.kind {
            TimerKind::Once { .. } => 0,
            TimerKind::Repeats(timer) => timer.missed.0.load(Ordering::Relaxed),
        }
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
