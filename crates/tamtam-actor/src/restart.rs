//! Whether and when an actor is begun again, and what begins it.

use core::fmt;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::actor::Actor;
use crate::cell::{AnyActor, Call, System};
use crate::context::Context;
use crate::ended::EndReason;
use crate::time::{Alarm, Key, Time};

/// After what an actor is begun again, how often, and how soon: see [`Spawner::restart`](crate::Spawner::restart).
///
/// Unless said otherwise it is begun again up to 10 times within 10 seconds, the first time after a pause of 1 ms,
/// then of 2 ms, 4 ms and so on up to 1 second; after 10 seconds without a restart the pause is 1 ms again.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_actor::Restart;
///
/// let restart = Restart::on_panic()
///     .limit(5, Duration::from_secs(60))
///     .backoff(Duration::from_millis(10), 2.0, Duration::from_secs(5));
/// # let _ = restart;
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Restart {
    when: When,
    limit: Option<u32>,
    within: Duration,
    first: Duration,
    factor: f64,
    most: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Never,
    Panic,
    /// Also after it has stopped itself.
    Always,
}

impl Restart {
    fn when(when: When) -> Self {
        Restart {
            when,
            limit: Some(10),
            within: Duration::from_secs(10),
            first: Duration::from_millis(1),
            factor: 2.0,
            most: Duration::from_secs(1),
        }
    }

    /// Never: a panic ends the actor.
    pub fn never() -> Self {
        Self::when(When::Never)
    }

    /// After a panic. An actor that is stopped, by whomever, is not begun again, nor one without addresses.
    pub fn on_panic() -> Self {
        Self::when(When::Panic)
    }

    /// After a panic, and after it has stopped itself by [`Context::stop`]. An actor that is stopped through an address
    /// is not begun again, nor one without addresses.
    pub fn always() -> Self {
        Self::when(When::Always)
    }

    /// At most so many restarts within so much time; one more, and the actor ends with [`EndReason::GaveUp`].
    pub fn limit(mut self, restarts: u32, within: Duration) -> Self {
        self.limit = Some(restarts);
        self.within = within;
        self
    }

    /// As often as needed.
    pub fn no_limit(mut self) -> Self {
        self.limit = None;
        self
    }

    /// The pause before the first restart, by what it grows with each one, and how long it is at most. No pause at all
    /// is [`Duration::ZERO`] for the first.
    ///
    /// Messages wait in the mailbox during a pause, and the actor can be stopped.
    pub fn backoff(mut self, first: Duration, factor: f64, most: Duration) -> Self {
        self.first = first;
        self.factor = factor;
        self.most = most;
        self
    }

    /// The pause before a restart that comes after so many others.
    fn pause(&self, others: u32) -> Duration {
        if self.first.is_zero() {
            // However often: it would be no number times a factor beyond all numbers.
            return Duration::ZERO;
        }
        let seconds =
            self.first.as_secs_f64() * self.factor.powi(i32::try_from(others).unwrap_or(i32::MAX));
        // What is no time at all, or too long for one, is the longest.
        Duration::try_from_secs_f64(seconds).map_or(self.most, |pause| pause.min(self.most))
    }
}

impl Default for Restart {
    fn default() -> Self {
        Self::on_panic()
    }
}

/// What becomes of an actor that has panicked, or stopped itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Decision {
    /// It is begun again, after this pause.
    Again(Duration),
    /// It waits to be told to begin again.
    Wait,
    /// It ends.
    End(EndReason),
}

/// Who decides whether an actor is begun again. Clones decide together.
#[derive(Clone)]
pub(crate) enum Policy {
    /// It does by itself.
    Own(Arc<Mutex<Restarts>>),
    /// A supervisor, which is told of each panic and then tells the actor.
    Reported(Arc<dyn Fn(EndReason) + Send + Sync>),
}

impl Policy {
    /// The actor decides by itself, as that says.
    pub(crate) fn own(restart: Restart) -> Self {
        Policy::Own(Arc::new(Mutex::new(Restarts::new(restart))))
    }

    /// What becomes of an actor that ends for this reason.
    pub(crate) fn decide(&self, why: EndReason, now: Instant) -> Decision {
        match self {
            // Nothing panics under the lock.
            Policy::Own(restarts) => restarts
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .decide(why, now),
            Policy::Reported(_) => Decision::Wait,
        }
    }

    /// Whether an actor that has stopped itself is begun again.
    pub(crate) fn restarts_after_stop(&self) -> bool {
        match self {
            Policy::Own(restarts) => restarts
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .restarts_after_stop(),
            Policy::Reported(_) => false,
        }
    }
}

/// How often an actor was begun again.
pub(crate) struct Restarts {
    restart: Restart,
    /// When, in the time that counts. As many as there may be at most.
    recent: VecDeque<Instant>,
    /// The last one, and how many there were in a row without a longer time in between.
    last: Option<Instant>,
    streak: u32,
}

impl Restarts {
    fn new(restart: Restart) -> Self {
        Restarts {
            restart,
            recent: VecDeque::new(),
            last: None,
            streak: 0,
        }
    }

    fn restarts_after_stop(&self) -> bool {
        self.restart.when == When::Always
    }

    fn decide(&mut self, why: EndReason, now: Instant) -> Decision {
        if self.restart.when == When::Never {
            return Decision::End(why);
        }
        let within = self.restart.within;
        let is_over = |then: &Instant| now.saturating_duration_since(*then) > within;
        if self.last.as_ref().is_none_or(is_over) {
            self.streak = 0;
        }
        while self.recent.front().is_some_and(is_over) {
            self.recent.pop_front();
        }
        if let Some(limit) = self.restart.limit {
            if self.recent.len() >= limit as usize {
                return Decision::End(gave_up(limit, &why));
            }
            self.recent.push_back(now);
        }
        let pause = self.restart.pause(self.streak);
        self.last = Some(now);
        self.streak = self.streak.saturating_add(1);
        Decision::Again(pause)
    }
}

/// Why an actor ends that may not be begun again.
pub(crate) fn gave_up(restarts: u32, why: &EndReason) -> EndReason {
    let message = match why {
        EndReason::Panicked(message) | EndReason::GaveUp { message, .. } => Arc::clone(message),
        other => Arc::from(other.to_string()),
    };
    EndReason::GaveUp { restarts, message }
}

/// Makes an actor where it is to live.
pub(crate) type Birth<A> = Box<dyn Bear<A>>;

/// Makes an actor, once or several times.
pub trait Bear<A: Actor>: Send {
    /// `None` if it cannot be made again.
    fn bear(&mut self, context: &mut Context<A>) -> Option<A>;

    /// What is only there if the actor can be made again.
    fn again(&mut self) -> Option<&mut Again> {
        None
    }
}

/// Whether, and when, an actor is made again.
pub struct Again {
    pub(crate) policy: Policy,
    /// Until when it pauses.
    pub(crate) pause: Option<Pause>,
    /// To be called when it has been made.
    pub(crate) when_born: Option<Call>,
}

impl fmt::Debug for Again {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Again").finish_non_exhaustive()
    }
}

/// An actor that is made once.
pub(crate) struct Once<F>(pub(crate) Option<F>);

impl<A, F> Bear<A> for Once<F>
where
    A: Actor,
    F: FnOnce(&mut Context<A>) -> A + Send,
{
    fn bear(&mut self, context: &mut Context<A>) -> Option<A> {
        Some(self.0.take()?(context))
    }
}

/// An actor that is made again.
pub(crate) struct Born<F> {
    birth: F,
    again: Again,
}

impl<F> Born<F> {
    pub(crate) fn new(birth: F, policy: Policy) -> Self {
        Born {
            birth,
            again: Again::new(policy),
        }
    }
}

impl Again {
    pub(crate) fn new(policy: Policy) -> Self {
        Again {
            policy,
            pause: None,
            when_born: None,
        }
    }
}

impl<A, F> Bear<A> for Born<F>
where
    A: Actor,
    F: FnMut(&mut Context<A>) -> A + Send,
{
    fn bear(&mut self, context: &mut Context<A>) -> Option<A> {
        Some((self.birth)(context))
    }

    fn again(&mut self) -> Option<&mut Again> {
        Some(&mut self.again)
    }
}

/// A pause before an actor is begun again. It is over when this is dropped.
pub(crate) struct Pause {
    time: Time,
    key: Key,
}

/// What tells an actor that its pause is over.
struct RestartPause(Weak<dyn AnyActor>);

impl Pause {
    pub(crate) fn new(place: &Arc<dyn AnyActor>, time: &Time, pause: Duration) -> Self {
        let key = time.set_after(pause, None, RestartPause(Arc::downgrade(place)));
        Pause {
            time: time.clone(),
            key,
        }
    }

    /// Whether it ends without a thread that moves the time.
    pub(crate) fn is_by_system(&self) -> bool {
        self.time.is_system()
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        self.time.remove(self.key);
    }
}

impl Alarm for RestartPause {
    fn ring(self, _: Key) {
        if let Some(place) = self.0.upgrade() {
            place.send(System::Resume(None));
        }
    }
}
