//! Adaptive waiting: how long to look again before sleeping, learned from what waiting brought.

use core::cell::Cell;
use core::fmt;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::Wait;
use crate::activity::{Activity, processor};
use crate::futex::has_woken;
use crate::giving_way::switched;
use crate::seam;

/// Pauses that cost no clock reading: a peer on another core answers within them.
const FREE_PAUSES: u32 = 72;
/// Budget by level, in nanoseconds. The top is the order of a wake-up's price: by the ski-rental
/// argument (Karlin, Li, Manasse and Owicki, *Empirical studies of competitive spinning for a
/// shared-memory multiprocessor*, 1991) a thread that spins at most that long before sleeping is never
/// worse than twice the best.
const BUDGET: [u32; 7] = [0, 2_000, 4_000, 8_000, 16_000, 32_000, 50_000];
const TOP: u32 = BUDGET.len() as u32 - 1;
/// The level above the top: its budget has been rewarded so often that an answer that has not come within it is taken for one that an interrupt or a hypervisor
/// holds up, for less than the [price of a wake-up](WAKE).
const TRUST: u32 = TOP + 1;
/// After one of so many rewards at the top the budget is trusted: an answer that comes soon by chance is seldom followed by as many.
const REWARDS_A_TRUST: u32 = 8;
/// A yield that took longer than this lost the core to a thread with much to do: for a slice of the scheduler, of which the shortest is 0.75 ms.
const LOST: Duration = Duration::from_micros(600);
/// A yield that took so long let another thread do something; one that took less may have been held up by itself, on a busy host.
const TAKEN: Duration = Duration::from_micros(5);
/// The price of a wake-up. A wait of a thread that has woken another one before it is for that, too, and may be longer by so much. Two that take turns and have
/// fallen asleep once would otherwise not see that they need not: each answer takes a wake-up longer than it would.
const WAKE: Duration = Duration::from_nanos(BUDGET[TOP as usize] as u64);
/// A sleep this short would have been cheaper awake.
const SHORT_SLEEP: Duration = Duration::from_micros(90);
/// One of so many that were longer, but only by the wake-up of the other thread, for all one knows, is followed by a wait with the largest budget.
const SLEEPS_A_TRIAL: u32 = 32;
/// The most offers of the core in one wait: threads that wait would otherwise pass it around among
/// themselves without end, each of them forgiven the others' time.
const MOST_OFFERS: u32 = 64;
/// The first spell between two offers of the core.
const FIRST_SPELL: Duration = Duration::from_nanos(1_500);
/// One of so many waits beside the peer on one core is a sleep: a thread that wakes goes to a core that is
/// idle, while two that pass one core to each other stay where they are for long. Where there is no other
/// core, a sleep takes hardly more than giving way.
const WAITS_A_SLEEP: u32 = 64;
/// And at one of so many the clock is read.
const WAITS_A_READING: u32 = 16;
/// So many offers are left out after the core was lost, as powers of two: the first time, how much
/// faster it grows with each further time, and the most. A loss costs milliseconds, a thousand times a
/// sleep on a busy core.
const FIRST_SKIPS: u32 = 10;
const MORE_SKIPS: u32 = 6;
const MOST_SKIPS: u32 = 16;
/// A sleep this long, and still short, ended on a core that had been idle: no other thread crowds it any more.
const IDLE_WAKE: Duration = Duration::from_micros(20);
/// One of so many skipped waits is timed, and such a sleep is worth the square of it.
const IDLE_WORTH: u32 = 64;

thread_local! {
    /// The address of the habit of which this thread has said last where it is, [by turns](Habit::meet_by_turns) with others.
    static SAID_AT: Cell<usize> = const { Cell::new(0) };
}

/// Where the peer was met last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// On another core: pausing lets it get on.
    Apart,
    /// On this core: only giving way lets it get on.
    Together,
}

/// What was learned, in one word: level (3 bits), turn (6), place (1), skip exponent (5), skips left (16).
#[derive(Clone, Copy, PartialEq, Eq)]
struct Lesson {
    level: u32,
    /// Counts waits that ended by giving way, and wraps.
    turn: u32,
    place: Place,
    exponent: u32,
    skips: u32,
}

impl Lesson {
    /// Ready to look again for a while.
    const FRESH: Self = Lesson {
        level: TOP - 1,
        turn: 0,
        place: Place::Apart,
        exponent: 0,
        skips: 0,
    };

    fn next_turn(self) -> u32 {
        (self.turn + 1) % WAITS_A_SLEEP
    }

    const fn pack(self) -> u32 {
        self.level
            | self.turn << 3
            | (self.place as u32) << 9
            | self.exponent << 10
            | self.skips << 16
    }

    const fn unpack(word: u32) -> Self {
        Lesson {
            level: word & 0x7,
            turn: word >> 3 & (WAITS_A_SLEEP - 1),
            place: if word >> 9 & 1 == 0 {
                Place::Apart
            } else {
                Place::Together
            },
            exponent: word >> 10 & 0x1F,
            skips: word >> 16,
        }
    }
}

/// What an endpoint has learned about the waits at it: how long looking again paid off, whether the
/// peer shares the core, whether the cores are overcrowded.
///
/// One word, shared by all who wait at the endpoint; a guess, so relaxed reads and writes are good
/// enough and a lost update costs nothing but a moment's misjudgement. It may live in shared memory.
///
/// # Examples
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering::{Acquire, Release}};
/// use tamtam_wait::{Habit, Wait};
///
/// let (habit, done) = (Habit::new(), AtomicBool::new(false));
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         habit.meet(); // On this processor the peer works.
///         done.store(true, Release);
///     });
///     while !done.load(Acquire) {
///         let mut patience = habit.begin(Wait::Adaptive, None);
///         while !done.load(Acquire) && patience.look_again() {}
///         // Here a thread would sleep, on a word that the peer wakes.
///         std::thread::yield_now();
///     }
/// });
/// ```
pub struct Habit {
    word: AtomicU32,
    /// The processor on which something was brought last, plus one; zero if that was not said.
    peer: AtomicU32,
}

impl Default for Habit {
    fn default() -> Self {
        Self::new()
    }
}

impl Habit {
    /// A fresh habit: ready to look again for a while.
    pub const fn new() -> Self {
        Self {
            word: AtomicU32::new(Lesson::FRESH.pack()),
            peer: AtomicU32::new(0),
        }
    }

    /// Makes it a fresh habit, whatever it holds: memory that was just mapped is filled with zeroes.
    pub fn reset(&self) {
        self.word.store(Lesson::FRESH.pack(), Relaxed);
        self.peer.store(0, Relaxed);
    }

    /// Tells those who wait here on which processor this thread runs, if that is news, and counts as
    /// activity of this program there; for those who bring something, now and then.
    #[inline]
    pub fn meet(&self) {
        let here = processor();
        Activity::note_on(here);
        if self.peer.load(Relaxed) != here {
            self.peer.store(here, Relaxed);
        }
    }

    /// As [`meet`](Habit::meet), for one of several who bring something all the time: says where it runs only
    /// if that is not where it said last, or if it has not said so for long. Two on different processors
    /// that correct each other again and again would fight for the cache line.
    #[inline]
    pub fn meet_among_others(&self, said: &Cell<u32>, said_long_ago: bool) {
        let here = processor();
        Activity::note_on(here);
        if said.get() != here || said_long_ago {
            said.set(here);
            if self.peer.load(Relaxed) != here {
                self.peer.store(here, Relaxed);
            }
        }
    }

    /// As [`meet`](Habit::meet), for one that may wait here next: two that bring each other something by turns, and wait for it at one place, both
    /// say where they are. What a thread has said itself it does not take for word of the other one.
    #[inline]
    pub fn meet_by_turns(&self) {
        self.meet();
        SAID_AT.set(self.address());
    }

    fn address(&self) -> usize {
        core::ptr::from_ref(self).addr()
    }

    /// Where the peer is, as far as it said; else where it was met. If this thread was the last to say where it is, that is no news of the peer.
    fn place(&self, lesson: Lesson, here: u32, has_said_last: bool) -> Place {
        match self.peer.load(Relaxed) {
            0 => lesson.place,
            peer if peer == here && has_said_last => lesson.place,
            peer if peer == here => Place::Together,
            _ => Place::Apart,
        }
    }

    /// Starts a wait in the manner of `wait`, that ends at the deadline at the latest.
    #[inline]
    pub fn begin(&self, wait: Wait, deadline: Option<Instant>) -> Patience<'_> {
        Patience {
            habit: self,
            wait,
            deadline,
            looks: 0,
            rest: Patience::REST,
            stage: Stage::Free,
            started: None,
            read: None,
            next_spell: FIRST_SPELL,
            limit: Duration::ZERO,
            place: Place::Apart,
            contended: false,
            offers: 0,
            has_said_last: false,
            has_woken: false,
            is_crowded: false,
            trusts: false,
        }
    }

    fn lesson(&self) -> Lesson {
        Lesson::unpack(self.word.load(Relaxed))
    }

    fn learn(&self, before: Lesson, after: Lesson) {
        // Reading is free for a line that all threads share; writing is not.
        if before != after {
            self.word.store(after.pack(), Relaxed);
        }
    }
}

impl fmt::Debug for Habit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lesson = self.lesson();
        f.debug_struct("Habit")
            .field("budget_ns", &BUDGET[lesson.level.min(TOP) as usize])
            .field(
                "peer_on_this_core",
                &(self.place(lesson, processor(), false) == Place::Together),
            )
            .field("skips", &lesson.skips)
            .finish()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The first looks, at no cost.
    Free,
    /// Looking again until the spell is over.
    Spell,
    /// The core was offered to others.
    Offered,
}

/// One wait in progress: says after each look whether to look again or to sleep.
///
/// # Examples
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering::Acquire};
/// use tamtam_wait::{Habit, Wait};
///
/// fn waited(mail: &AtomicU32, habit: &Habit) -> bool {
///     let mut patience = habit.begin(Wait::Adaptive, None);
///     loop {
///         if mail.load(Acquire) != 0 {
///             patience.rewarded();
///             return true;
///         }
///         if !patience.look_again() {
///             return false; // time to sleep
///         }
///     }
/// }
/// assert!(waited(&AtomicU32::new(1), &Habit::new()));
/// assert!(!waited(&AtomicU32::new(0), &Habit::new()));
/// ```
pub struct Patience<'a> {
    habit: &'a Habit,
    wait: Wait,
    deadline: Option<Instant>,
    looks: u32,
    rest: u32,
    stage: Stage,
    started: Option<Instant>,
    read: Option<Instant>,
    next_spell: Duration,
    limit: Duration,
    place: Place,
    /// The last offer of the core was taken.
    contended: bool,
    offers: u32,
    /// Of those that say here where they are, this thread was the last, as far as it knows.
    has_said_last: bool,
    /// The thread has woken another one since its last wait.
    has_woken: bool,
    /// Another thread has taken the core.
    is_crowded: bool,
    /// The largest budget has been rewarded again and again.
    trusts: bool,
}

impl fmt::Debug for Patience<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Patience")
            .field("wait", &self.wait)
            .field("stage", &self.stage)
            .field("looks", &self.looks)
            .finish_non_exhaustive()
    }
}

impl Patience<'_> {
    /// Pauses between two looks, unless told otherwise: about 0.1 µs. More often takes the cache line
    /// from the one who is about to write it, and makes the answer later instead of sooner.
    pub const REST: u32 = 6;

    /// The same wait with another number of pauses between two looks.
    #[must_use]
    pub fn resting(mut self, pauses: u32) -> Self {
        self.rest = pauses;
        self
    }

    #[inline]
    fn pause(&self) {
        for _ in 0..self.rest {
            seam::spin_loop();
        }
    }

    /// Waits a moment after a look in vain. `true`: look again. `false`: sleep, or give up if the
    /// deadline has passed.
    #[inline]
    pub fn look_again(&mut self) -> bool {
        if cfg!(tamtam_loom) {
            // Models sleep at once, unless they may not. No giving way before a sleep: the others would
            // run on first, and whether the sleeper is missed would never be tried.
            let stays_awake =
                matches!(self.wait, Wait::Spin | Wait::Yield) && self.deadline.is_none();
            if stays_awake {
                seam::yield_now();
            }
            return stays_awake;
        }
        // Who waits awake for minutes looks more often than can be counted; only the rhythm matters then.
        self.looks = self.looks.wrapping_add(1);
        match self.wait {
            Wait::Park => false,
            Wait::Adaptive => {
                if self.stage == Stage::Free
                    && self.looks > 1
                    && self.looks.saturating_mul(self.rest) <= FREE_PAUSES
                {
                    self.pause();
                    return true;
                }
                self.adapt()
            }
            Wait::Spin => {
                self.pause();
                if self.looks.is_multiple_of(512) {
                    seam::yield_now();
                    return !self.overdue();
                }
                !(self.looks.is_multiple_of(16) && self.overdue())
            }
            Wait::Yield => {
                seam::yield_now();
                !self.overdue()
            }
        }
    }

    fn overdue(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| deadline <= Instant::now())
    }

    fn adapt(&mut self) -> bool {
        match self.stage {
            // The first look in vain.
            Stage::Free if self.looks == 1 => {
                self.has_woken = has_woken();
                let lesson = self.habit.lesson();
                if lesson.level == 0 {
                    return false;
                }
                let here = processor();
                Activity::note_on(here);
                self.has_said_last = SAID_AT.get() == self.habit.address();
                self.place = self.habit.place(lesson, here, self.has_said_last);
                if self.place == Place::Together {
                    if lesson.skips > 0 || lesson.turn == 0 {
                        return false;
                    }
                    // Two who take turns on one core need no clock, as long as no third thread comes
                    // between: a look at the clock now and then tells.
                    if lesson.exponent == 0 && !lesson.turn.is_multiple_of(WAITS_A_READING) {
                        seam::yield_now();
                        self.stage = Stage::Offered;
                        return true;
                    }
                    self.open(lesson);
                    return self.offer();
                }
                self.pause();
                true
            }
            Stage::Free => {
                let lesson = self.habit.lesson();
                self.open(lesson);
                self.stage = Stage::Spell;
                true
            }
            Stage::Spell => {
                self.pause();
                let now = Instant::now();
                if now - self.read.unwrap_or(now) < self.next_spell {
                    return true;
                }
                self.read = Some(now);
                if self.spent(now) {
                    return self.exhausted();
                }
                if !self.contended {
                    self.next_spell *= 2;
                }
                let lesson = self.habit.lesson();
                if lesson.skips > 0 {
                    // No offers for now: they go to a stranger.
                    let skips = lesson.skips - 1;
                    self.habit.learn(lesson, Lesson { skips, ..lesson });
                    return true;
                }
                self.offer()
            }
            Stage::Offered => {
                // The offer was made in vain: no thread that took the core brought the message.
                if self.started.is_none() {
                    self.open(self.habit.lesson());
                    return self.offer();
                }
                let now = self.read.unwrap_or_else(Instant::now);
                if self.spent(now) {
                    return self.exhausted();
                }
                if self.place == Place::Together {
                    return self.offer();
                }
                self.stage = Stage::Spell;
                true
            }
        }
    }

    /// The time since the last reading was spent by others of this program on this core: it does not
    /// count as waiting.
    fn forgive(&mut self, away: Duration) {
        if let Some(started) = &mut self.started {
            *started += away;
        }
    }

    fn open(&mut self, lesson: Lesson) {
        let now = Instant::now();
        self.started = Some(now);
        self.read = Some(now);
        self.limit = Duration::from_nanos(u64::from(BUDGET[lesson.level.min(TOP) as usize]));
        self.trusts = lesson.level == TRUST;
    }

    /// How much longer than the budget the wait may be: for another thread to wake up, and for an answer that is held up. Not where other threads want the core.
    fn beyond_budget(&self) -> Duration {
        match self.is_crowded {
            true => Duration::ZERO,
            false => WAKE * (u32::from(self.has_woken) + u32::from(self.trusts)),
        }
    }

    /// Whether the largest budget is tried after the sleep, which was short but for the other thread's wake-up. Now and then, and at random: the clock is that, in
    /// its last digits.
    fn is_followed_by_a_trial(&self, slept: Duration) -> bool {
        self.may_be_short(slept) && slept.subsec_nanos().is_multiple_of(SLEEPS_A_TRIAL)
    }

    /// Whether a sleep is short, or would have been if another thread, which this one has woken, had been awake.
    fn may_be_short(&self, slept: Duration) -> bool {
        let is_for_a_wake = self.has_woken && !self.is_crowded;
        slept < SHORT_SLEEP + WAKE * u32::from(is_for_a_wake)
    }

    fn spent(&self, now: Instant) -> bool {
        self.offers >= MOST_OFFERS
            || self.deadline.is_some_and(|deadline| deadline <= now)
            || self.started.is_some_and(|started| {
                now.saturating_duration_since(started) >= self.limit + self.beyond_budget()
            })
    }

    /// Offers the core to others and sees from the clock what became of the offer.
    fn offer(&mut self) -> bool {
        let before = self.read.unwrap_or_else(Instant::now);
        let here = Activity::here();
        self.offers += 1;
        seam::yield_now();
        let after = Instant::now();
        self.read = Some(after);
        self.stage = Stage::Offered;
        let away = after - before;
        self.came_back(away, switched(away), || here.was_ours(away));
        true
    }

    /// An offer of the core is over, after the time `away`, in which another thread ran if it `switched`, one of ours or a stranger.
    fn came_back(&mut self, away: Duration, switched: bool, was_ours: impl FnOnce() -> bool) {
        self.contended = switched;
        self.is_crowded |= away >= TAKEN;
        if !switched {
            // No other thread wanted the core, so the peer is on another one.
            self.place = Place::Apart;
        } else if away <= LOST {
            self.forgive(away);
            // Another thread ran here. Unless the peer has said where it is, it was the peer.
            if self.habit.peer.load(Relaxed) == 0 || self.has_said_last {
                self.place = Place::Together;
            }
        } else if was_ours() {
            // Many of this program's own threads share the core, and they got on with their work.
            // Nothing is learned about the peer from that.
            self.forgive(away);
        } else {
            // A stranger with a lot to do took the core for its slice: on such a machine a sleeper is
            // served sooner than one who gives way, since waking up pre-empts.
            let before = self.habit.lesson();
            let exponent = (before.exponent + MORE_SKIPS).clamp(FIRST_SKIPS, MOST_SKIPS);
            self.habit.learn(
                before,
                Lesson {
                    exponent,
                    skips: (1 << exponent) - 1,
                    ..before
                },
            );
        }
    }

    fn exhausted(&self) -> bool {
        if self.contended {
            // The peer may not have had a core to answer on: that says nothing about its speed.
            return false;
        }
        let before = self.habit.lesson();
        self.habit.learn(
            before,
            Lesson {
                level: before.level.saturating_sub(1),
                ..before
            },
        );
        false
    }

    /// What was waited for came while awake.
    #[inline]
    pub fn rewarded(&self) {
        if self.wait == Wait::Adaptive && self.looks > 0 && !cfg!(tamtam_loom) {
            self.praise();
        }
    }

    fn praise(&self) {
        let before = self.habit.lesson();
        let mut after = before;
        if self.stage == Stage::Offered {
            after.place = self.place;
            after.turn = before.next_turn();
            if before.skips == 0 {
                // Giving way pays again, for all one knows; it takes a while to be sure.
                after.exponent = before.exponent.saturating_sub(1);
            }
        } else {
            after.place = Place::Apart;
        }
        // How often a thread has looked is no round number: that is chance enough.
        after.level = match before.level {
            TOP if !self.looks.is_multiple_of(REWARDS_A_TRUST) => TOP,
            level => (level + 1).min(TRUST),
        };
        self.habit.learn(before, after);
    }

    /// Notes when a sleep begins: call it just before sleeping.
    #[inline]
    pub fn sleeps(&mut self) {
        if self.wait == Wait::Adaptive && self.started.is_none() && !cfg!(tamtam_loom) {
            // While sleeping at once is the rule, a look at the clock now and then is enough.
            if self.habit.lesson().skips.is_multiple_of(IDLE_WORTH) {
                self.started = Some(Instant::now());
            }
        }
    }

    /// What was waited for came while asleep.
    #[inline]
    pub fn woken(&self) {
        if self.wait != Wait::Adaptive || cfg!(tamtam_loom) {
            return;
        }
        self.woken_after(self.started.map(|started| started.elapsed()));
    }

    /// As [`woken`](Patience::woken), after a sleep of that length, if it was timed.
    fn woken_after(&self, slept: Option<Duration>) {
        let before = self.habit.lesson();
        let mut after = before;
        let short = slept.is_some_and(|slept| slept < SHORT_SLEEP);
        if self.place == Place::Together && before.turn == 0 {
            after.turn = before.next_turn();
        }
        if before.skips > 0 {
            let idle = slept.is_some_and(|slept| slept > IDLE_WAKE && self.may_be_short(slept));
            after.skips =
                before
                    .skips
                    .saturating_sub(if idle { IDLE_WORTH * IDLE_WORTH } else { 1 });
        } else if short {
            after.level = (before.level + 2).min(TOP).max(before.level);
        } else if slept.is_some_and(|slept| self.is_followed_by_a_trial(slept)) {
            after.level = TOP;
        }
        self.habit.learn(before, after);
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests;
