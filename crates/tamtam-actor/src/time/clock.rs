//! The time by which actors live, real or advanced by hand, and the timers that are set on it.

use core::fmt;
use std::sync::{Arc, OnceLock};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use tamtam_wait::seam::Mutex;
use tamtam_wait::seam::atomic::{AtomicBool, Ordering};
use tamtam_wait::{Context, TaskDeadline, contain};

use super::errand::keep_time;
use super::slab::Key;
use super::vigil::{self, TimerLook};
use super::wheel::Wheel;

/// The resolution of timers.
pub(super) const TICK: Duration = Duration::from_millis(1);
/// So many timers are taken out at a time, so that others can set theirs meanwhile.
const BATCH: usize = 64;
/// After so many batches in a row the shared timer thread sees to others first.
const BATCHES: usize = 16;
/// A manual time is moved by no more than so many seconds, in bits: more milliseconds would not fit into 64 bits.
const MOST_SECONDS: u32 = 54;
/// A clock that has nothing to do any more has the shared timer thread come so soon for the last time, and not at
/// once: an actor that sets and cancels one timer after the other does not make an appointment each time.
const NEAR: Duration = Duration::from_secs(1);
/// Where the clock's thread could not be started, it is not attempted again before.
const PAUSE: Duration = Duration::from_millis(1);

/// What happens when a timer is due.
pub(crate) trait Alarm: Send + Sync {
    /// It is due. Only knocks at the actor: this may be the clock's thread.
    fn ring(self: Arc<Self>);

    /// It is not to happen; `false` if it has happened. Drops what it keeps. What is in the wheel goes, too.
    fn cancel(&self) -> bool;

    /// The actor that it belongs to is gone, and its entry in the wheel, too.
    fn die(&self);

    fn is_pending(&self) -> bool;

    fn missed(&self) -> u64;
}

/// The time by which actors live: the system's, or one that is moved by hand.
///
/// Each pool has one, [the system's](Time::system) unless [`PoolBuilder::time`](crate::PoolBuilder::time) says
/// otherwise. It keeps the timers of all actors that live by it, in a hierarchical timing wheel: to set, to cancel
/// and to expire one costs the same with a million others as with none.
///
/// The resolution is a millisecond. No timer is early. One is late by up to a millisecond for the resolution, and
/// by what it takes until the clock's thread and then the actor have their turn. Timers are due in the order of
/// their milliseconds; those of one millisecond in the order in which they were set.
///
/// Clones are the same time.
///
/// # Examples
///
/// A test that does not wait:
///
/// ```
/// use std::sync::mpsc;
/// use std::time::Duration;
/// use tamtam_actor::{Pool, Time};
///
/// let time = Time::manual();
/// let pool = Pool::builder().time(time.clone()).build()?;
/// let (sender, receiver) = mpsc::channel();
/// let actor = pool.spawn_fn(move |word: &str, _| sender.send(word).unwrap());
/// actor.tell_after(Duration::from_secs(3_600), "an hour later");
///
/// time.advance(Duration::from_secs(3_599));
/// assert!(receiver.try_recv().is_err());
/// time.advance(Duration::from_secs(1));
/// assert_eq!(receiver.recv()?, "an hour later");
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone)]
pub struct Time(Arc<Clock>);

struct Clock {
    began: Instant,
    is_manual: bool,
    /// There is an appointment, or was one: for a look without the lock.
    may_have_appointment: AtomicBool,
    state: Mutex<ClockState>,
}

struct ClockState {
    wheel: Wheel<Arc<dyn Alarm>>,
    /// How far a manual time was moved.
    moved: Duration,
    /// When the shared timer thread wakes us, and how to take that back.
    appointment: Option<(u64, TaskDeadline)>,
    /// When no thread could be started for that last.
    failed: Option<Instant>,
    /// The tick until which those sleep at most that look after the timers then.
    known: u64,
}

impl Time {
    fn new(is_manual: bool) -> Self {
        Time(Arc::new(Clock {
            began: Instant::now(),
            is_manual,
            may_have_appointment: AtomicBool::new(false),
            state: Mutex::new(ClockState {
                wheel: Wheel::new(),
                moved: Duration::ZERO,
                appointment: None,
                failed: None,
                known: u64::MAX,
            }),
        }))
    }

    /// The system's monotonic time. All who ask for it share one.
    ///
    /// Without timers it costs nothing. With timers one thread sleeps until the next one is due; it is the same that
    /// wakes futures with a timeout, and it ends when it has had nothing to do for a second. Where there are no
    /// threads no timer is ever due.
    ///
    /// Where that thread cannot be started, since the process may not have another one, the threads of pools, workers and
    /// frames see to the timers when they have nothing else to do, and attempt to start it again; the feature `tracing`
    /// tells of it. A frame whose loop sleeps elsewhere than in [`Frame::wait`](crate::Frame::wait) then has its timers
    /// when it is pumped, and where there are only actors on a Tokio runtime, timers wait for the thread. A forked child has
    /// a clock of its own, which begins with the first timer that is set there, or when a frame is pumped.
    pub fn system() -> Self {
        Self::shared().clone()
    }

    pub(crate) fn shared() -> &'static Self {
        static SYSTEM: OnceLock<Time> = OnceLock::new();
        SYSTEM.get_or_init(|| Time::new(false))
    }

    /// A time of its own that only [`advance`](Time::advance) moves: for tests, simulations and replays.
    pub fn manual() -> Self {
        Self::new(true)
    }

    /// What time it is. A manual time begins with the moment at which it was made.
    #[must_use]
    pub fn now(&self) -> Instant {
        if self.0.is_manual {
            self.0.began + self.0.state.lock().moved
        } else {
            Instant::now()
        }
    }

    /// How many timers are set.
    #[must_use]
    pub fn timers(&self) -> usize {
        self.0.state.lock().wheel.len()
    }

    /// How long it is until the next timer is due, whole milliseconds from the beginning of the time considered; zero
    /// if one is due now. `None` if there is none that would ever be.
    #[must_use]
    pub fn until_next(&self) -> Option<Duration> {
        let mut state = self.0.state.lock();
        let due = state.wheel.first_due()?;
        let passed = self.passed(&state);
        Some(time_of(due)?.saturating_sub(passed))
    }

    /// Moves a manual time, and lets the actors know whose timers are due: how many those are.
    ///
    /// What these do they do in their actors' turns, on their threads; that is not waited for here. It is already the
    /// new time when the first one has its turn, so a timer that repeats at a fixed rate has missed what is in
    /// between. Who wants to see each one moves the time in steps: see [`until_next`](Time::until_next).
    ///
    /// A time that is moved farther than an [`Instant`] can tell, or half a billion years, stays at the last moment before.
    ///
    /// # Panics
    ///
    /// If this is the system's time.
    pub fn advance(&self, duration: Duration) -> usize {
        assert!(
            self.0.is_manual,
            "the system's time cannot be moved by hand"
        );
        {
            let mut state = self.0.state.lock();
            let moved = state.moved.saturating_add(duration);
            state.moved = moved.min(farthest(self.0.began));
        }
        let mut count = 0;
        let mut due = Vec::with_capacity(BATCH);
        while self.take_due(&mut due) {
            count += due.len();
            due.drain(..).for_each(|alarm| alarm.ring());
        }
        count
    }

    /// Sets a timer, for an alarm that knows its key. `None` is never.
    pub(crate) fn set<A: Alarm + 'static>(
        &self,
        due: Option<Instant>,
        repeats: bool,
        owner: Option<Key>,
        alarm: impl FnOnce(Key) -> Arc<A>,
    ) -> Arc<A> {
        let due = self.tick_of(due);
        let mut made = None;
        let mut state = self.0.state.lock();
        state.wheel.insert_with(due, repeats, owner, |key| {
            let alarm = alarm(key);
            made = Some(Arc::clone(&alarm));
            alarm
        });
        let is_earlier = self.appoint(&mut state, due);
        drop(state);
        if is_earlier {
            vigil::call();
        }
        match made {
            Some(alarm) => alarm,
            None => unreachable!("the wheel makes what it keeps"),
        }
    }

    /// Sets a timer that repeats for another time, if it was due and not removed.
    pub(crate) fn set_again(&self, key: Key, due: Option<Instant>) {
        let due = self.tick_of(due);
        let mut state = self.0.state.lock();
        let is_earlier = state.wheel.set_again(key, due) && self.appoint(&mut state, due);
        drop(state);
        if is_earlier {
            vigil::call();
        }
    }

    pub(crate) fn remove(&self, key: Key) {
        let mut state = self.0.state.lock();
        let alarm = state.wheel.remove(key);
        self.come_sooner(&mut state);
        drop(state);
        // With the alarm goes what it keeps, which is the user's.
        drop(alarm);
    }

    fn insert_owner(&self) -> Key {
        self.0.state.lock().wheel.insert_owner()
    }

    /// Lets all timers of an owner die.
    fn remove_owner(&self, owner: Key) {
        loop {
            let mut state = self.0.state.lock();
            let alarm = state.wheel.remove_owned(owner);
            self.come_sooner(&mut state);
            drop(state);
            match alarm {
                // A panic in a drop is the user's, and does not keep the others.
                Some(alarm) => contain(move || alarm.die()),
                None => return,
            };
        }
    }

    /// How long it has been this time.
    fn passed(&self, state: &ClockState) -> Duration {
        if self.0.is_manual {
            state.moved
        } else {
            self.0.began.elapsed()
        }
    }

    /// The first tick that is not before that; `None` is never.
    fn tick_of(&self, due: Option<Instant>) -> u64 {
        due.map_or(u64::MAX, |due| {
            tick_of(due.saturating_duration_since(self.0.began))
        })
    }

    /// Takes timers out that are due; `false` if there was none.
    fn take_due(&self, due: &mut Vec<Arc<dyn Alarm>>) -> bool {
        let mut state = self.0.state.lock();
        // Rounded down, while a timer's tick is rounded up: so none is early.
        let tick = tick_before(self.passed(&state));
        while due.len() < BATCH
            && let Some(alarm) = state.wheel.pop(tick)
        {
            due.push(alarm);
        }
        let is_earlier = due.is_empty()
            && (state.wheel.next()).is_some_and(|next| self.appoint(&mut state, next));
        drop(state);
        if is_earlier {
            vigil::call();
        }
        !due.is_empty()
    }

    /// Sees to it that the clock is woken at this tick or before. `true` if it is not, for want of a thread, and those
    /// that are to look after the timers in its place do not know yet of one so early: they are to be called.
    #[inline]
    fn appoint(&self, state: &mut ClockState, tick: u64) -> bool {
        if self.0.is_manual {
            return false;
        }
        match &state.appointment {
            Some((at, deadline)) if *at <= tick => {
                if deadline.is_kept() {
                    return false;
                }
                // It is lost: with the thread, or with the process that made it.
                let next = state.wheel.next().map_or(tick, |next| next.min(tick));
                self.wake_at(state, next)
            }
            _ => self.wake_at(state, tick),
        }
    }

    #[cold]
    fn wake_at(&self, state: &mut ClockState, tick: u64) -> bool {
        let is_known = vigil::is_by_homes() && state.known <= tick;
        if is_known && (state.failed).is_some_and(|failed| failed.elapsed() < PAUSE) {
            return false;
        }
        // What is due beyond all times is never.
        let due = time_of(tick).and_then(|time| self.0.began.checked_add(time));
        let Some(due) = due else { return false };
        let context = Context::for_task(&Waker::from(Arc::new(Bell(self.clone()))));
        // One that is late comes behind the tasks whose time has come before now.
        let due = due.max(Instant::now());
        let deadline = TaskDeadline::new(due, &context);
        let is_kept = deadline.is_kept();
        state.appointment = Some((tick, deadline));
        self.0.may_have_appointment.store(true, Ordering::Relaxed);
        state.failed = (!is_kept).then(Instant::now);
        if !is_known {
            state.known = tick;
        }
        vigil::by_homes(!is_kept);
        !is_kept && !is_known
    }

    /// Rings what is due, in the place of the clock's thread, and says until when there is nothing to do.
    #[cold]
    pub(super) fn look_after(&self) -> TimerLook {
        let mut has_rung = false;
        let mut due = Vec::with_capacity(BATCH);
        for _ in 0..BATCHES {
            if !self.take_due(&mut due) {
                break;
            }
            has_rung = true;
            due.drain(..).for_each(|alarm| alarm.ring());
        }
        let mut state = self.0.state.lock();
        let next = state.wheel.next();
        state.known = next.unwrap_or(u64::MAX);
        let is_kept = match (next, &state.appointment) {
            (Some(_), Some((_, deadline))) => deadline.is_kept(),
            (Some(_), None) => false,
            (None, _) => true,
        };
        vigil::by_homes(!is_kept);
        let until = next.filter(|_| !is_kept).and_then(time_of);
        TimerLook {
            until: until.and_then(|time| self.0.began.checked_add(time)),
            has_rung,
        }
    }

    /// As [`look_after`](Time::look_after), but for the appointment alone: it may have been that of another process.
    pub(crate) fn keep_appointment(&self) {
        // An appointment of this thread, or of one that has forked this process, is seen; one that another thread makes at this
        // moment is kept by that.
        if !self.0.may_have_appointment.load(Ordering::Relaxed) {
            return;
        }
        let is_earlier = {
            let mut state = self.0.state.lock();
            state.appointment.is_some() && self.appoint(&mut state, u64::MAX)
        };
        if is_earlier {
            vigil::call();
        }
    }

    /// When there is no timer left a far appointment is for nothing, and would keep the thread. A near one takes its
    /// place, which is good for what is set and cancelled until then.
    #[inline]
    fn come_sooner(&self, state: &mut ClockState) {
        if state.wheel.len() == 0
            && let Some((tick, _)) = state.appointment
        {
            let near = self.0.began.elapsed() + NEAR;
            if time_of(tick).is_none_or(|time| time > near + NEAR) {
                self.wake_at(state, tick_of(near));
            }
        }
    }

    /// The shared timer thread has come to the appointment.
    fn wake(&self) {
        keep_time();
        // There is none any more; a new one is made when there is nothing to do.
        let over = {
            let mut state = self.0.state.lock();
            self.0.may_have_appointment.store(false, Ordering::Relaxed);
            state.appointment.take()
        };
        drop(over);
        let mut due = Vec::with_capacity(BATCH);
        for _ in 0..BATCHES {
            if !self.take_due(&mut due) {
                return;
            }
            due.drain(..).for_each(|alarm| alarm.ring());
        }
        // The thread is also that of all tasks that wait with a deadline: those whose time came before now are first.
        let mut state = self.0.state.lock();
        let now = tick_before(self.passed(&state));
        let is_earlier = self.appoint(&mut state, now);
        drop(state);
        if is_earlier {
            vigil::call();
        }
    }
}

/// The last moment to which a time that began then can be moved, from its beginning.
fn farthest(began: Instant) -> Duration {
    (0..MOST_SECONDS).rev().fold(Duration::ZERO, |far, bit| {
        let farther = far + Duration::from_secs(1 << bit);
        match began.checked_add(farther) {
            Some(_) => farther,
            None => far,
        }
    })
}

/// The last tick that is not after that, from the beginning.
fn tick_before(time: Duration) -> u64 {
    time.as_secs() * 1_000 + u64::from(time.subsec_millis())
}

/// The first tick that is not before that, from the beginning.
fn tick_of(time: Duration) -> u64 {
    let within = time.subsec_nanos().div_ceil(TICK.subsec_nanos());
    time.as_secs()
        .saturating_mul(1_000)
        .saturating_add(u64::from(within))
}

/// When a tick is, from the beginning; `None` is never.
fn time_of(tick: u64) -> Option<Duration> {
    (tick != u64::MAX).then(|| Duration::from_millis(tick))
}

/// What the shared timer thread wakes.
struct Bell(Time);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.wake();
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Time")
            .field("manual", &self.0.is_manual)
            .field("timers", &self.timers())
            .finish_non_exhaustive()
    }
}

/// The timers of an actor, which die when this is dropped.
pub(crate) struct Timers {
    time: Time,
    owner: Key,
}

impl Timers {
    pub(crate) fn new(time: &Time) -> Self {
        Timers {
            time: time.clone(),
            owner: time.insert_owner(),
        }
    }

    pub(crate) fn owner(&self) -> Key {
        self.owner
    }
}

impl Drop for Timers {
    fn drop(&mut self) {
        self.time.remove_owner(self.owner);
    }
}

#[cfg(all(test, not(any(tamtam_loom, miri))))]
mod tests {
    use std::thread;

    use super::*;

    /// A timer that is due again as soon as it has rung.
    struct Restless {
        time: Time,
        key: Key,
    }

    impl Alarm for Restless {
        fn ring(self: Arc<Self>) {
            self.time.set_again(self.key, Some(self.time.0.began));
        }

        fn cancel(&self) -> bool {
            true
        }

        fn die(&self) {}

        fn is_pending(&self) -> bool {
            true
        }

        fn missed(&self) -> u64 {
            0
        }
    }

    struct Unpark(thread::Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    #[test]
    fn a_timer_that_is_always_due_leaves_the_timer_thread_to_others() {
        let time = Time::new(false);
        let own = time.clone();
        let restless = time.set(Some(time.0.began), true, None, |key| {
            Arc::new(Restless { time: own, key })
        });
        let context = Context::for_task(&Waker::from(Arc::new(Unpark(thread::current()))));
        let began = Instant::now();
        let deadline = TaskDeadline::new(began + Duration::from_millis(20), &context);
        while context.outcome().is_none() && began.elapsed() < Duration::from_secs(10) {
            thread::park_timeout(Duration::from_secs(1));
        }
        // The alarm keeps the time in which it is set.
        time.remove(restless.key);
        assert!(context.outcome().is_some(), "the thread did not come");
        drop(deadline);
    }
}
