//! Where a thread sleeps until another process brings something.
//!
//! A bell is a word that says whether a thread **sleeps**, whether such threads are being **woken**, and how often they were. The thread that waits writes the
//! first, looks once more, and sleeps while the word stays as it was; the one that brings something says so by an exchange in shared memory, and then looks
//! at the word. Both are sequentially consistent, so at least one of the two sees the other. One that finds that others are being woken wakes them, too: the
//! thread that was about to may be stopped. (Within a process the bringing side would be a plain store, by the asymmetric fence of `tamtam-wait`; that does not reach into another
//! process.)
//!
//! Another process can write anything into the word. So it can keep away wake-ups that it was to give, and it can wake a thread that then looks and
//! sleeps on. It can also lead those who sleep there to a word of its own (`FUTEX_REQUEUE`), where no wake-up reaches them. No thread relies on the word for more,
//! and none sleeps longer than [`LONGEST_SLEEP`] without another look.

use std::cell::Cell;
use std::time::{Duration, Instant};

use tamtam_wait::seam::atomic::{AtomicU32, Ordering};
use tamtam_wait::{Futex, Habit, Scope, TimedOut, Wait};

/// A thread sleeps, or is about to.
const SLEEPS: u32 = 1;
/// Threads that slept are being woken, as far as is known: the one that is at it may have been stopped or killed before it has.
const WAKING: u32 = 2;
/// Above, which wraps: how often threads were woken. Without that count, one that is about to sleep would not see that it was woken if another one has
/// come to sleep since.
const ROUND: u32 = 4;

/// What the word holds while those are woken who sleep according to it.
fn waking_after(word: u32) -> u32 {
    ((word & !SLEEPS) | WAKING).wrapping_add(ROUND)
}

/// So many words beside the bell's own may end a sleep.
pub(crate) const MOST_OTHERS: usize = 64;

/// No sleep at words in shared memory is longer: then the thread looks once more. For wake-ups that do not reach it, be it that another process has led it to another
/// word, or that the only sleeper whom the kernel has told of a death has died itself.
pub(crate) const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// No sleep is longer for some seconds after a process has ended. At the end of a process the kernel wakes one sleeper, and that may be a thread of one that
/// has ended just before, and has not left the word yet: it tells no other thread.
pub(crate) const LONGEST_WARY_SLEEP: Duration = Duration::from_millis(10);

thread_local! {
    /// Said by what gives the other words of a sleep, on the thread that is to sleep.
    static IS_WARY: Cell<bool> = const { Cell::new(false) };
}

/// The sleep that this thread is about to begin is to be a short one: see [`LONGEST_WARY_SLEEP`].
#[cfg(not(tamtam_loom))]
pub(crate) fn be_wary() {
    IS_WARY.set(true);
}

/// What this thread was told by [`be_wary`] does not count: it looks at all lives before it sleeps.
pub(crate) fn begin_looks() {
    IS_WARY.set(false);
}

/// How long the sleep that this thread is about to begin lasts at most: short if [`be_wary`] was called since this was asked last.
#[cfg(not(tamtam_loom))]
pub(crate) fn longest_sleep() -> Duration {
    if IS_WARY.take() {
        LONGEST_WARY_SLEEP
    } else {
        LONGEST_SLEEP
    }
}

/// When a sleep ends at the latest that begins now, if that is before the deadline. None does in the models, to which a sleep with an end is one that ends at once: it would hide
/// a wake-up that is missed.
fn latest(deadline: Option<Instant>) -> Option<Instant> {
    #[cfg(tamtam_loom)]
    let latest: Option<Instant> = None;
    #[cfg(not(tamtam_loom))]
    let latest = Some(Instant::now() + longest_sleep());
    latest.filter(|latest| deadline.is_none_or(|deadline| *latest < deadline))
}

/// Where threads sleep that wait for one thing.
#[derive(Debug)]
#[cfg_attr(not(tamtam_loom), repr(C, align(128)))]
pub(crate) struct Bell {
    word: Futex,
    /// What waiting brought, learned by all who wait here. Another process can make it wrong, and so make a thread wait too long awake (by at
    /// most 150 µs) or sleep too soon.
    habit: Habit,
}

impl Bell {
    #[cfg(any(test, tamtam_loom))]
    pub(crate) fn new() -> Self {
        Bell {
            word: Futex::new(0),
            habit: Habit::new(),
        }
    }

    /// Makes what was filled with zeroes a bell at which nothing was learned yet.
    pub(crate) fn prepare(&self) {
        self.habit.reset();
    }

    /// Tells those who wait here on which processor the thread runs that they wait for.
    #[inline]
    pub(crate) fn meet(&self) {
        self.habit.meet_by_turns();
    }

    /// Something was brought, by a sequentially consistent exchange: wakes the threads that wait for it.
    #[inline]
    pub(crate) fn ring(&self) {
        self.meet();
        self.ring_unmet();
    }

    /// As [`ring`](Bell::ring), where the one who waits is not to take this thread for the one that it waits for: a thread of its own process, perhaps it itself,
    /// or one that was met already.
    #[inline]
    pub(crate) fn ring_unmet(&self) {
        let word = self.look();
        if word & (SLEEPS | WAKING) != 0 {
            self.wake(word);
        }
    }

    /// Something was brought, by a sequentially consistent exchange: whether a thread sleeps that waits for it, and has to be [woken](Bell::ring).
    #[inline]
    pub(crate) fn has_sleeper(&self) -> bool {
        self.meet();
        self.look() & (SLEEPS | WAKING) != 0
    }

    #[inline]
    fn look(&self) -> u32 {
        // SYNC bell
        tamtam_wait::seam::model_fence();
        self.word.load(Ordering::SeqCst)
    }

    #[cold]
    fn wake(&self, word: u32) {
        let mut waking = word;
        if word & SLEEPS != 0 {
            waking = waking_after(word);
            let rung = self
                .word
                .compare_exchange(word, waking, Ordering::SeqCst, Ordering::SeqCst);
            if let Err(now) = rung {
                // Another thread has rung since. Those that sleep now came after what this one has brought, and have seen it.
                if now & WAKING == 0 {
                    return;
                }
                // But it may have been stopped before it has woken those that slept before.
                waking = now;
            }
        }
        self.word.wake_all(Scope::Shared);
        self.have_woken(waking);
    }

    /// All were woken that slept before the word held this. Nothing is to be said of it where a thread has come to sleep since: the next one that rings wakes
    /// all, whatever stands beside that.
    fn have_woken(&self, waking: u32) {
        if waking & SLEEPS == 0 {
            let awake = waking & !WAKING;
            let _ = self
                .word
                .compare_exchange(waking, awake, Ordering::SeqCst, Ordering::Relaxed);
        }
    }

    /// Wakes the threads that sleep here, whatever the word says of them: for threads of the own process, which are counted in memory that no other one can
    /// write ([`OwnSleepers`]).
    #[cold]
    fn rouse(&self) {
        let word = self.word.load(Ordering::SeqCst);
        let waking = waking_after(word);
        let rung = self
            .word
            .compare_exchange(word, waking, Ordering::SeqCst, Ordering::SeqCst);
        if rung.is_err() {
            // Whatever else was written there, a thread that is about to sleep finds another word than the one that it remembers.
            self.word.fetch_add(ROUND, Ordering::SeqCst);
        }
        self.word.wake_all(Scope::Shared);
        if rung.is_ok() {
            self.have_woken(waking);
        }
    }

    /// The word to sleep on.
    pub(crate) fn word(&self) -> &Futex {
        &self.word
    }

    /// Says that a thread is about to sleep here: what the word holds until it is rung for that.
    pub(crate) fn expect(&self) -> u32 {
        // SYNC bell
        let asleep = self.word.fetch_or(SLEEPS, Ordering::SeqCst) | SLEEPS;
        tamtam_wait::seam::model_fence();
        asleep
    }

    /// Waits until there is something. `others` gives further words that end a sleep, with what they hold while it is to go on: they are asked
    /// for before each sleep, and before the last look.
    ///
    /// # Errors
    ///
    /// [`TimedOut`] once the deadline has passed.
    pub(crate) fn wait<'a, Others>(
        &'a self,
        wait: Wait,
        deadline: Option<Instant>,
        is_there: impl FnMut() -> bool,
        others: impl Fn() -> Others,
    ) -> Result<(), TimedOut>
    where
        Others: Iterator<Item = (&'a Futex, u32, Scope)>,
    {
        self.wait_announced(wait, deadline, || {}, is_there, others)
    }

    /// As [`wait`](Bell::wait); `announce` is called before each sleep, and before the last look.
    pub(crate) fn wait_announced<'a, Others>(
        &'a self,
        wait: Wait,
        deadline: Option<Instant>,
        mut announce: impl FnMut(),
        mut is_there: impl FnMut() -> bool,
        others: impl Fn() -> Others,
    ) -> Result<(), TimedOut>
    where
        Others: Iterator<Item = (&'a Futex, u32, Scope)>,
    {
        loop {
            let mut patience = self.habit.begin(wait, deadline);
            loop {
                if is_there() {
                    patience.rewarded();
                    return Ok(());
                }
                if !patience.look_again() {
                    break;
                }
            }
            loop {
                announce();
                let asleep = self.expect();
                // After the exchange: a process that joins later rings, and one that has joined before is among these words.
                begin_looks();
                let mut words = [(&self.word, asleep, Scope::Shared); MOST_OTHERS + 1];
                let mut count = 1;
                for (place, word) in words[1..].iter_mut().zip(others()) {
                    *place = word;
                    count += 1;
                }
                if is_there() {
                    // Where others sleep here, too, this leaves them to the next who rings: so it stays.
                    return Ok(());
                }
                patience.sleeps();
                let latest = latest(deadline);
                let slept = Futex::wait_any(&words[..count], latest.or(deadline));
                // At the end of a process the kernel wakes one sleeper. That one looks at all lives, which wakes the others, whatever it finds for itself.
                others().for_each(drop);
                if is_there() {
                    patience.woken();
                    return Ok(());
                }
                match slept {
                    Ok(()) => break,
                    Err(timed_out) if latest.is_none() => return Err(timed_out),
                    // Nothing has woken it, so nothing is to come soon: it sleeps on.
                    Err(_) => {}
                }
            }
        }
    }
}

/// How many threads of this process sleep at a bell, or are about to, in memory of its own. By that this process wakes them itself, where the bell's word
/// says nothing: another process has taken the bit away and was stopped or killed before it could wake them, or it lies.
#[derive(Debug)]
pub(crate) struct OwnSleepers(AtomicU32);

/// A wait of one thread, which is counted from its first sleep on.
struct Counted<'a> {
    sleepers: &'a OwnSleepers,
    is_counted: Cell<bool>,
}

impl Counted<'_> {
    fn count(&self) {
        if !self.is_counted.replace(true) {
            // SYNC own-sleepers
            self.sleepers.0.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        if self.is_counted.get() {
            self.sleepers.0.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl OwnSleepers {
    pub(crate) fn new() -> Self {
        OwnSleepers(AtomicU32::new(0))
    }

    /// As [`Bell::wait_announced`], of a thread that others of this process may have to [wake](OwnSleepers::wake).
    pub(crate) fn wait_at<'a, Others>(
        &self,
        bell: &'a Bell,
        wait: Wait,
        deadline: Option<Instant>,
        mut announce: impl FnMut(),
        is_there: impl FnMut() -> bool,
        others: impl Fn() -> Others,
    ) -> Result<(), TimedOut>
    where
        Others: Iterator<Item = (&'a Futex, u32, Scope)>,
    {
        let counted = Counted {
            sleepers: self,
            is_counted: Cell::new(false),
        };
        let announce = || {
            counted.count();
            announce();
        };
        bell.wait_announced(wait, deadline, announce, is_there, others)
    }

    /// Wakes those of them that sleep at the bell. What they are to see was written before, by a sequentially consistent exchange.
    #[inline]
    pub(crate) fn wake(&self, bell: &Bell) {
        // SYNC own-sleepers
        tamtam_wait::seam::model_fence();
        if self.0.load(Ordering::SeqCst) != 0 {
            bell.rouse();
        }
    }
}

#[cfg(all(test, tamtam_loom))]
mod loom_tests {
    use super::*;
    use tamtam_wait::seam::{Arc, thread};
    use tamtam_wait::{Context, Operation, SharedWords, WaitList};

    /// What a thread waits for that selects: something of another process, and something of its own.
    struct Model {
        bell: Bell,
        of_processes: AtomicU32,
        list: WaitList,
        of_threads: AtomicU32,
    }

    impl Model {
        fn new() -> Arc<Self> {
            Arc::new(Model {
                bell: Bell::new(),
                of_processes: AtomicU32::new(0),
                list: WaitList::new(),
                of_threads: AtomicU32::new(0),
            })
        }

        fn brought(&self) -> (bool, bool) {
            let is_there = |word: &AtomicU32| word.load(Ordering::SeqCst) != 0;
            (is_there(&self.of_processes), is_there(&self.of_threads))
        }

        fn bring_by_process(&self) {
            self.of_processes.swap(1, Ordering::SeqCst);
            self.bell.ring();
        }

        /// Waits until processes have brought `count`, as a thread that waits for nothing else.
        fn wait_for(&self, count: u32) {
            let is_there = || self.of_processes.load(Ordering::SeqCst) >= count;
            let waited = self.bell.wait(Wait::Park, None, is_there, std::iter::empty);
            waited.unwrap();
        }

        fn bring_by_thread(&self) {
            self.of_threads.swap(1, Ordering::SeqCst);
            self.list.notify_all();
        }

        /// As a select sleeps: it enters the list, takes the bell's word, looks once more, and sleeps at both.
        fn wait_until(&self, is_over: impl Fn((bool, bool)) -> bool) {
            while !is_over(self.brought()) {
                Context::with(|context| {
                    self.list.register(Operation::new(0), context);
                    let mut words = SharedWords::new();
                    words.push(self.bell.word(), self.bell.expect());
                    if is_over(self.brought()) {
                        context.abort();
                    }
                    context.park_at(words, None);
                    self.list.unregister(Operation::new(0), context);
                });
            }
        }
    }

    fn model(program: impl Fn() + Send + Sync + 'static) {
        let mut bounded = loom::model::Builder::new();
        bounded.preemption_bound = Some(2);
        bounded.check(program);
    }

    #[test]
    fn loom_a_ring_ends_a_sleep_at_several_words() {
        model(|| {
            let model = Model::new();
            let bringing = {
                let model = Arc::clone(&model);
                thread::spawn(move || model.bring_by_process())
            };
            model.wait_until(|(of_processes, _)| of_processes);
            bringing.join().unwrap();
        });
    }

    #[test]
    fn loom_a_choice_ends_a_sleep_at_several_words() {
        model(|| {
            let model = Model::new();
            let bringing = {
                let model = Arc::clone(&model);
                thread::spawn(move || model.bring_by_thread())
            };
            model.wait_until(|(_, of_threads)| of_threads);
            bringing.join().unwrap();
        });
    }

    /// Both come, in whatever order; the one does not hide the other.
    #[test]
    fn loom_a_ring_and_a_choice_both_reach_one_that_selects() {
        model(|| {
            let model = Model::new();
            let by_process = {
                let model = Arc::clone(&model);
                thread::spawn(move || model.bring_by_process())
            };
            let by_thread = {
                let model = Arc::clone(&model);
                thread::spawn(move || model.bring_by_thread())
            };
            model.wait_until(|brought| brought == (true, true));
            by_process.join().unwrap();
            by_thread.join().unwrap();
        });
    }

    /// What a process does that is to wake those who sleep, and is stopped or killed before it has.
    fn is_stopped_in_a_wake_up(bell: &Bell) {
        let word = bell.look();
        if word & SLEEPS != 0 {
            let waking = waking_after(word);
            let _ = bell
                .word
                .compare_exchange(word, waking, Ordering::SeqCst, Ordering::SeqCst);
        }
    }

    /// What a process brings reaches one that waits, though another process was stopped as it was about to wake that; and again.
    #[test]
    fn loom_a_ring_reaches_whom_a_stopped_process_was_to_wake() {
        model(|| {
            let model = Model::new();
            let stopped = {
                let model = Arc::clone(&model);
                thread::spawn(move || is_stopped_in_a_wake_up(&model.bell))
            };
            let bringing = {
                let model = Arc::clone(&model);
                thread::spawn(move || {
                    for _ in 0..2 {
                        model.of_processes.fetch_add(1, Ordering::SeqCst);
                        model.bell.ring();
                    }
                })
            };
            for count in 1..=2 {
                model.wait_for(count);
            }
            stopped.join().unwrap();
            bringing.join().unwrap();
        });
    }

    /// Both who sleep are woken, though one process was stopped before it has woken any, and another one rings for one of them after that.
    #[test]
    fn loom_a_ring_reaches_all_whom_a_stopped_process_was_to_wake() {
        model(|| {
            let model = Model::new();
            let sleeping = {
                let model = Arc::clone(&model);
                thread::spawn(move || model.wait_for(1))
            };
            let ringing = {
                let model = Arc::clone(&model);
                thread::spawn(move || {
                    is_stopped_in_a_wake_up(&model.bell);
                    model.bring_by_process();
                })
            };
            model.wait_for(1);
            sleeping.join().unwrap();
            ringing.join().unwrap();
        });
    }

    /// A thread is woken by one of its own process, though another process has taken the bit away before and has died, or writes what it likes.
    #[test]
    fn loom_the_own_process_wakes_whatever_stands_in_the_word() {
        let lies: fn(&Bell) = |bell| bell.word.store(0, Ordering::SeqCst);
        for other in [is_stopped_in_a_wake_up, lies] {
            model(move || {
                let seat = Arc::new((Bell::new(), OwnSleepers::new(), AtomicU32::new(0)));
                let lying = {
                    let seat = Arc::clone(&seat);
                    thread::spawn(move || other(&seat.0))
                };
                let waking = {
                    let seat = Arc::clone(&seat);
                    thread::spawn(move || {
                        let (bell, sleepers, is_over) = &*seat;
                        is_over.swap(1, Ordering::SeqCst);
                        sleepers.wake(bell);
                    })
                };
                let (bell, sleepers, is_over) = &*seat;
                let is_there = || is_over.load(Ordering::SeqCst) != 0;
                sleepers
                    .wait_at(bell, Wait::Park, None, || {}, is_there, std::iter::empty)
                    .unwrap();
                lying.join().unwrap();
                waking.join().unwrap();
            });
        }
    }
}
