//! The time by which actors live, real or advanced by hand, and the timers that are set on it.

use core::fmt;
use core::mem::ManuallyDrop;
use core::ops::Deref;
use std::sync::{Arc, OnceLock};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use tamtam_wait::seam::atomic::{AtomicBool, Ordering};
use tamtam_wait::seam::{Mutex, MutexGuard};
use tamtam_wait::{Context, TaskDeadline, contain};

use super::alarm::{Alarm, AnyAlarm};
use super::errand::keep_time;
use super::slab::Key;
use super::tick::{farthest, tick_before, tick_of, time_of};
use super::vigil::{self, TimerLook};
use super::wheel::Wheel;

/// So many timers are taken out at a time, so that others can set theirs meanwhile.
const BATCH: usize = 64;
/// After so many batches in a row the shared timer thread sees to others first.
const BATCHES: usize = 16;
/// A clock that has nothing to do any more has the shared timer thread come so soon for the last time, and not at
/// once: an actor that sets and cancels one timer after the other does not make an appointment each time.
const NEAR: Duration = Duration::from_secs(1);
/// Where the clock's thread could not be started, it is not attempted again before.
const PAUSE: Duration = Duration::from_millis(1);

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
pub struct Time(ClockRef);

/// A clock, counted, but for that which all share: there are as many of these as there are timers.
struct ClockRef(ManuallyDrop<Arc<Clock>>);

impl Deref for ClockRef {
    type Target = Clock;

    #[inline(always)]
    fn deref(&self) -> &Clock {
        &self.0
    }
}

impl Clone for ClockRef {
    #[inline]
    fn clone(&self) -> Self {
        if !self.is_shared {
            return ClockRef(ManuallyDrop::clone(&self.0));
        }
        // SAFETY: the clock is shared, so its count is never given up: neither here nor by the one that was copied.
        ClockRef(unsafe { core::ptr::read(&raw const self.0) })
    }
}

impl Drop for ClockRef {
    #[inline]
    fn drop(&mut self) {
        if !self.is_shared {
            // SAFETY: it is dropped once, and not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.0) }
        }
    }
}

struct Clock {
    began: Instant,
    is_manual: bool,
    /// It is the system's time, and is never dropped.
    is_shared: bool,
    /// There is an appointment, or was one: for a look without the lock.
    may_have_appointment: AtomicBool,
    state: Mutex<ClockState>,
}

struct ClockState {
    wheel: Wheel<AnyAlarm>,
    /// How far a manual time was moved.
    moved: Duration,
    /// When the shared timer thread wakes us, and how to take that back.
    appointment: Option<(u64, TaskDeadline)>,
    /// When no thread could be started for that last.
    failed: Option<Instant>,
    /// The tick until which those sleep at most that look after the timers then.
    known: u64,
    /// When memory is given back that was not used since, if there is some.
    gives_back: Option<u64>,
}

impl ClockState {
    /// The tick at which there is something to do.
    fn next(&self) -> Option<u64> {
        match (self.wheel.next(), self.gives_back) {
            (Some(due), Some(back)) => Some(due.min(back)),
            (due, back) => due.or(back),
        }
    }
}

impl Time {
    fn new(is_manual: bool, is_shared: bool) -> Self {
        Time(ClockRef(ManuallyDrop::new(Arc::new(Clock {
            began: Instant::now(),
            is_manual,
            is_shared,
            may_have_appointment: AtomicBool::new(false),
            state: Mutex::new(ClockState {
                wheel: Wheel::new(!is_manual),
                moved: Duration::ZERO,
                appointment: None,
                failed: None,
                known: u64::MAX,
                gives_back: None,
            }),
        }))))
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
        SYSTEM.get_or_init(|| Time::new(false, true))
    }

    /// A time of its own that only [`advance`](Time::advance) moves: for tests, simulations and replays.
    pub fn manual() -> Self {
        Self::new(true, false)
    }

    /// Whether it goes on by itself.
    pub(crate) fn is_system(&self) -> bool {
        !self.0.is_manual
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
            due.drain(..).for_each(DueAlarm::ring);
        }
        count
    }

    /// Sets a timer for that moment. `None` is never.
    pub(crate) fn set(&self, due: Option<Instant>, owner: Option<Key>, alarm: impl Alarm) -> Key {
        let due = self.tick_of(due);
        self.insert(self.0.state.lock(), due, owner, alarm)
    }

    /// Sets a timer for the moment that is so far away.
    pub(crate) fn set_after(&self, delay: Duration, owner: Option<Key>, alarm: impl Alarm) -> Key {
        // Not under the lock, if that may be.
        let passed = (!self.0.is_manual).then(|| self.0.began.elapsed());
        let state = self.0.state.lock();
        let due = passed.unwrap_or(state.moved).checked_add(delay);
        self.insert(state, due.map_or(u64::MAX, tick_of), owner, alarm)
    }

    #[inline(always)]
    fn insert(
        &self,
        mut state: MutexGuard<'_, ClockState>,
        due: u64,
        owner: Option<Key>,
        alarm: impl Alarm,
    ) -> Key {
        let key = state.wheel.insert(due, owner, |entry| entry.put(alarm));
        let is_earlier = self.appoint(&mut state, due);
        drop(state);
        if is_earlier {
            vigil::call();
        }
        key
    }

    /// It happens from now on, in the turn of its actor: what is to happen, unless it was removed.
    pub(crate) fn begin(&self, key: Key) -> Option<AnyAlarm> {
        let mut state = self.0.state.lock();
        state.wheel.begin(key, |alarm| {
            let stays = alarm.repeats();
            alarm.is_some().then(|| (alarm.take(), stays))
        })
    }

    /// Sets a timer that repeats for another time, if it was not removed while it happened.
    pub(crate) fn set_again(&self, key: Key, due: Option<Instant>, alarm: impl Alarm) {
        let due = self.tick_of(due);
        // What it keeps is the user's, and is not dropped under the lock.
        let mut alarm = Some(alarm);
        let mut state = self.0.state.lock();
        let is_set = state.wheel.set_again(key, due, |entry| {
            if let Some(alarm) = alarm.take() {
                entry.put(alarm);
            }
        });
        let is_earlier = is_set && self.appoint(&mut state, due);
        drop(state);
        if is_earlier {
            vigil::call();
        }
    }

    /// Removes a timer; `false` if it is over. What it keeps is dropped.
    pub(crate) fn remove(&self, key: Key) -> bool {
        self.take(key, &mut AnyAlarm::default())
    }

    /// Removes a timer, which is over then; `false` if it was over before. `alarm` is then what it was to do, or none while it
    /// happens.
    pub(crate) fn take(&self, key: Key, alarm: &mut AnyAlarm) -> bool {
        let mut state = self.0.state.lock();
        let is_found = state.wheel.remove(key, |entry| *alarm = entry.take());
        self.come_sooner(&mut state);
        is_found
    }

    /// Whether a timer is still to happen, and its actor has not stopped.
    pub(crate) fn is_pending(&self, key: Key) -> bool {
        let state = self.0.state.lock();
        state.wheel.get(key).is_some_and(AnyAlarm::is_open)
    }

    fn insert_owner(&self) -> Key {
        self.0.state.lock().wheel.insert_owner()
    }

    /// Lets all timers of an owner die.
    fn remove_owner(&self, owner: Key) {
        loop {
            let mut alarm = AnyAlarm::default();
            let mut state = self.0.state.lock();
            let was_left = state
                .wheel
                .remove_owned(owner, |entry| alarm = entry.take());
            self.come_sooner(&mut state);
            drop(state);
            if !was_left {
                return;
            }
            // A panic in a drop is the user's, and does not keep the others.
            contain(move || alarm.die());
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
    fn take_due(&self, due: &mut Vec<DueAlarm>) -> bool {
        let mut state = self.0.state.lock();
        // Rounded down, while a timer's tick is rounded up: so none is early.
        let tick = tick_before(self.passed(&state));
        while due.len() < BATCH
            && state.wheel.pop(tick, |key, entry| {
                let knock = entry.knock();
                let stays = knock.is_some();
                let alarm = knock.unwrap_or_else(|| entry.take());
                due.push(DueAlarm { key, alarm });
                stays
            })
        {}
        let is_earlier =
            due.is_empty() && (state.next()).is_some_and(|next| self.appoint(&mut state, next));
        self.see_to_spares(&mut state);
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
                let next = state.next().map_or(tick, |next| next.min(tick));
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
            due.drain(..).for_each(DueAlarm::ring);
        }
        self.give_back();
        let mut state = self.0.state.lock();
        let next = state.next();
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
        self.see_to_spares(state);
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
        self.give_back();
        let mut due = Vec::with_capacity(BATCH);
        for _ in 0..BATCHES {
            if !self.take_due(&mut due) {
                return;
            }
            due.drain(..).for_each(DueAlarm::ring);
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

mod spare;

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

/// What rings for a timer that is due.
struct DueAlarm {
    key: Key,
    alarm: AnyAlarm,
}

impl DueAlarm {
    /// Where the actor is gone what it was to get is dropped: a panic in that is no reason why others should not ring.
    #[inline]
    fn ring(self) {
        contain(move || self.alarm.ring(self.key));
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
    struct Restless(Arc<RestlessState>);

    struct RestlessState {
        time: Time,
        is_over: AtomicBool,
    }

    impl Alarm for Restless {
        fn ring(self, _: Key) {
            if !self.0.is_over.load(Ordering::Relaxed) {
                let time = self.0.time.clone();
                time.set(Some(time.0.began), None, self);
            }
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
        let time = Time::new(false, false);
        let restless = Arc::new(RestlessState {
            time: time.clone(),
            is_over: AtomicBool::new(false),
        });
        time.set(Some(time.0.began), None, Restless(Arc::clone(&restless)));
        let context = Context::for_task(&Waker::from(Arc::new(Unpark(thread::current()))));
        let began = Instant::now();
        let deadline = TaskDeadline::new(began + Duration::from_millis(20), &context);
        while context.outcome().is_none() && began.elapsed() < Duration::from_secs(10) {
            thread::park_timeout(Duration::from_secs(1));
        }
        // The alarm keeps the time in which it is set.
        restless.is_over.store(true, Ordering::Relaxed);
        assert!(context.outcome().is_some(), "the thread did not come");
        drop(deadline);
    }

    struct Silent;

    impl Alarm for Silent {}

    #[test]
    fn a_far_appointment_for_nothing_gives_way_to_a_near_one_and_others_stay() {
        let time = Time::new(false, false);
        let appointed = || {
            let state = time.0.state.lock();
            let (tick, _) = state.appointment.as_ref().expect("it waits for something");
            time_of(*tick).expect("it is to come")
        };
        let hour = Duration::from_secs(3_600);
        let far = time.set_after(hour, None, Silent);
        let soon = time.set_after(hour / 2, None, Silent);
        assert!(time.remove(soon));
        assert!(appointed() >= hour / 2 && appointed() <= time.0.began.elapsed() + hour);
        assert!(time.remove(far));
        assert!(appointed() <= time.0.began.elapsed() + NEAR + Duration::from_millis(1));
        // What was near enough is not changed for each timer that is set and cancelled.
        let before = appointed();
        let next = time.set_after(2 * NEAR, None, Silent);
        assert!(time.remove(next));
        assert_eq!(appointed(), before);
    }
}
