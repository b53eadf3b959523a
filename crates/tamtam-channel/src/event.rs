//! A flag that threads and tasks wait for: it lets one of them pass, or stays open for all.

use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};
use std::time::{Duration, Instant};

use tamtam_wait::seam::atomic::{AtomicU64, Ordering};
use tamtam_wait::seam::{self};
use tamtam_wait::{Context, Operation, Source, Token, Wait, WaitList};

use crate::error::WaitTimeoutError;

/// In a manual event's state: it is set. The generation stands above.
const SET: u64 = 1;
/// In an auto event's state: one thread that waits. The permits stand below.
const WAITING: u64 = 1 << 32;
/// The permits of an auto event.
const PERMITS: u64 = WAITING - 1;

/// How many permits an auto event has at most: one for each thread that waits, and one for the next to come.
fn most_permits(waiting: u64) -> u64 {
    waiting + 1
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Manual,
    Auto,
}

/// Something that threads wait for until it happens.
///
/// - [`Event::manual`] stays set until it is [reset](Event::reset) and lets all pass meanwhile.
///   A thread or task that waits when it is set gets past, even if it is reset right afterwards.
/// - [`Event::auto`] lets one thread pass for each [`set`](Event::set) and resets itself. A set beyond
///   those that wait stays for the next one to come; setting it again before that changes nothing.
///
/// An event is 72 bytes and allocates nothing while no thread sleeps at it.
///
/// # Ordering
///
/// What a thread did before `set` is visible to the thread that got past by it.
///
/// # Examples
///
/// A gate for several threads:
///
/// ```
/// use tamtam_channel::Event;
///
/// let gate = Event::manual();
/// std::thread::scope(|threads| {
///     for _ in 0..3 {
///         threads.spawn(|| gate.wait());
///     }
///     gate.set();
/// });
/// ```
///
/// One at a time:
///
/// ```
/// use tamtam_channel::Event;
///
/// let turn = Event::auto();
/// turn.set();
/// assert!(turn.try_wait());
/// assert!(!turn.try_wait());
/// ```
pub struct Event {
    state: AtomicU64,
    waiters: WaitList,
    kind: Kind,
    wait: Wait,
}

// No user code runs while an event is half changed.
impl UnwindSafe for Event {}
impl RefUnwindSafe for Event {}

impl Event {
    fn new(kind: Kind) -> Self {
        Event {
            state: AtomicU64::new(0),
            waiters: WaitList::new(),
            kind,
            wait: Wait::Adaptive,
        }
    }

    /// An event that stays set until it is reset. Not set at first.
    #[must_use]
    pub fn manual() -> Self {
        Self::new(Kind::Manual)
    }

    /// An event that resets itself when one thread has got past. Not set at first.
    #[must_use]
    pub fn auto() -> Self {
        Self::new(Kind::Auto)
    }

    /// The same event, waiting in another way.
    #[must_use]
    pub fn with_wait(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }

    /// Sets the event: lets all pass (manual), or one thread (auto).
    pub fn set(&self) {
        self.waiters.habit().meet_by_turns();
        match self.kind {
            Kind::Manual => {
                if self.change(|state| (state & SET == 0).then(|| (state | SET).wrapping_add(2))) {
                    self.waiters.notify_all();
                }
            }
            Kind::Auto => {
                if self.change(|state| {
                    (state & PERMITS < most_permits(state / WAITING)).then_some(state + 1)
                }) {
                    self.waiters.notify_one();
                }
            }
        }
    }

    /// Resets the event: a thread that comes from now on has to wait until it is set again. Those that wait already
    /// keep what it was set for them. In an auto event that is one turn for each set; who comes before the thread that was woken for it takes
    /// it, as without a reset, and that one waits on.
    pub fn reset(&self) {
        match self.kind {
            Kind::Manual => self.change(|state| (state & SET != 0).then_some(state & !SET)),
            // Permits that are on their way to threads that wait already stay theirs.
            Kind::Auto => self.change(|state| {
                let waiting = state / WAITING;
                (state & PERMITS > waiting).then_some(waiting * WAITING + waiting)
            }),
        };
    }

    /// Changes the state until it succeeds or there is nothing to change.
    #[inline]
    fn change(&self, next: impl Fn(u64) -> Option<u64>) -> bool {
        // SYNC event: sequentially consistent for the sake of those who register and then look;
        // acquire and release for what threads did before and do after.
        self.state
            .fetch_update(Ordering::SeqCst, Ordering::Acquire, next)
            .is_ok()
    }

    /// Whether a thread that came now would get past.
    pub fn is_set(&self) -> bool {
        seam::model_fence();
        // SYNC event
        let state = self.state.load(Ordering::SeqCst);
        match self.kind {
            Kind::Manual => state & SET != 0,
            Kind::Auto => state & PERMITS != 0,
        }
    }

    /// Gets past if the event is set (and resets it, if it is an auto event); never waits.
    #[must_use = "an auto event may have been reset by this"]
    pub fn try_wait(&self) -> bool {
        match self.kind {
            Kind::Manual => self.is_set(),
            Kind::Auto => {
                // SYNC event
                self.state.load(Ordering::Relaxed) & PERMITS != 0
                    && self.change(|state| (state & PERMITS != 0).then(|| state - 1))
            }
        }
    }

    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    /// Waits until the event is set.
    ///
    /// # Blocking
    ///
    /// For as long as it is not set.
    pub fn wait(&self) {
        self.wait_until(None);
    }

    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    /// As [`wait`](Event::wait), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`WaitTimeoutError`] if the event was not set in time.
    pub fn wait_timeout(&self, timeout: Duration) -> Result<(), WaitTimeoutError> {
        let passed = self.wait_until(Instant::now().checked_add(timeout));
        passed.then_some(()).ok_or(WaitTimeoutError)
    }

    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    /// As [`wait`](Event::wait), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// [`WaitTimeoutError`] if the event was not set in time.
    pub fn wait_deadline(&self, deadline: Instant) -> Result<(), WaitTimeoutError> {
        let passed = self.wait_until(Some(deadline));
        passed.then_some(()).ok_or(WaitTimeoutError)
    }

    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    fn wait_until(&self, deadline: Option<Instant>) -> bool {
        match self.kind {
            Kind::Manual => {
                // SYNC event
                let before = self.state.load(Ordering::Acquire);
                // Set now, or set since: a later reset does not hold up who waited already.
                let passed = || {
                    seam::model_fence();
                    let now = self.state.load(Ordering::SeqCst);
                    now & SET != 0 || now >> 1 != before >> 1
                };
                before & SET != 0
                    || self
                        .waiters
                        .wait_until(self.wait, deadline, |_| passed().then_some(()), passed)
                        .is_some()
            }
            Kind::Auto => {
                if self.try_wait() {
                    return true;
                }
                // Counted as waiting from now on, so that a permit is kept for this thread.
                // SYNC event
                self.state.fetch_add(WAITING, Ordering::SeqCst);
                let passed = self
                    .waiters
                    .wait_until(
                        self.wait,
                        deadline,
                        |_| self.pass_as_waiter().then_some(()),
                        || self.is_set(),
                    )
                    .is_some();
                if !passed {
                    self.stop_waiting();
                }
                passed
            }
        }
    }

    /// An auto event: a thread that is counted as waiting takes a permit.
    fn pass_as_waiter(&self) -> bool {
        // SYNC event
        self.state.load(Ordering::Relaxed) & PERMITS != 0
            && self.change(|state| (state & PERMITS != 0).then(|| state - 1 - WAITING))
    }

    /// An auto event: a thread that is counted as waiting gives up. The permit that was kept for it goes to
    /// another one that waits, or stays for the next to come; a second one of these is gone.
    fn stop_waiting(&self) {
        self.change(|state| {
            let waiting = state / WAITING - 1;
            let permits = (state & PERMITS).min(most_permits(waiting));
            Some(waiting * WAITING + permits)
        });
    }

    fn counts_waiters(&self) -> bool {
        self.kind == Kind::Auto
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("kind", &self.kind)
            .field("set", &self.is_set())
            .field("wait", &self.wait)
            .finish_non_exhaustive()
    }
}

impl Source for Event {
    fn try_begin(&self, _: &mut Token) -> bool {
        self.try_wait()
    }

    fn register(&self, operation: Operation, context: &Context) -> bool {
        if self.counts_waiters() {
            // SYNC event
            self.state.fetch_add(WAITING, Ordering::SeqCst);
        }
        self.waiters.register(operation, context);
        self.is_set()
    }

    fn unregister(&self, operation: Operation, context: &Context) {
        self.waiters.unregister(operation, context);
        if self.counts_waiters() {
            self.stop_waiting();
        }
    }

    fn accept(&self, _: &mut Token, _: &Context) -> bool {
        // A manual event selects by being set, and may have been reset since. Who waited before it was set sees that by its mark; one that came
        // after the reset has to wait.
        if self.kind == Kind::Manual {
            return self.is_set();
        }
        let passed = self.pass_as_waiter();
        if !passed {
            self.stop_waiting();
        }
        passed
    }

    fn decline(&self, _: &Context) {
        if self.counts_waiters() {
            self.stop_waiting();
            self.waiters.decline(|| self.is_set());
        }
    }

    unsafe fn abandon(&self, _: &mut Token) {
        // The permit that was taken goes to the next one.
        if self.kind == Kind::Auto {
            self.set();
        }
    }

    fn mark(&self) -> u64 {
        match self.kind {
            // The generation, and never zero.
            Kind::Manual => {
                seam::model_fence();
                // SYNC event
                self.state.load(Ordering::SeqCst) | SET
            }
            Kind::Auto => 0,
        }
    }

    fn is_ready(&self) -> bool {
        self.is_set()
    }

    fn unready_since(&self) -> Option<u64> {
        match self.kind {
            Kind::Manual => {
                seam::model_fence();
                // SYNC event: it is another generation once it was set.
                let state = self.state.load(Ordering::SeqCst);
                (state & SET == 0).then_some(state)
            }
            // Permits come and go, and leave nothing behind.
            Kind::Auto => None,
        }
    }

    fn watch(&self, operation: Operation, context: &Context) -> bool {
        self.waiters.watch(operation, context);
        self.is_set()
    }

    fn unwatch(&self, operation: Operation, context: &Context) {
        self.waiters.unwatch(operation, context);
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    use core::pin::pin;
    use core::task::Waker;

    #[test]
    fn the_late_word_of_a_set_lets_no_one_pass_who_came_after_the_reset() {
        let event = Event::manual();
        // As `set` does, but for its word to those who wait, which comes below.
        assert!(event.change(|state| Some((state | SET).wrapping_add(2))));
        event.reset();
        let mut wait = pin!(event.wait_async());
        let mut context = core::task::Context::from_waker(Waker::noop());
        assert!(wait.as_mut().poll(&mut context).is_pending());
        event.waiters.notify_all();
        assert!(wait.as_mut().poll(&mut context).is_pending());
        // Who waited before passes, though it is reset again.
        event.set();
        event.reset();
        assert!(wait.as_mut().poll(&mut context).is_ready());
    }
}
