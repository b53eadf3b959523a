//! A flag that threads of several processes wait for: the protocol of [`Event`](crate::Event).

use std::time::Instant;

use tamtam_wait::seam::atomic::{AtomicU64, Ordering};
use tamtam_wait::{TimedOut, Wait};

use crate::bell::Bell;
use crate::claim::Lives;

/// It is set. How often it was set stands above, which wraps after 2^63.
const SET: u64 = 1;

#[derive(Debug)]
#[cfg_attr(not(tamtam_loom), repr(C))]
pub(crate) struct Flag {
    state: AtomicU64,
    bell: Bell,
}

impl Flag {
    #[cfg(tamtam_loom)]
    pub(crate) fn new() -> Self {
        Flag {
            state: AtomicU64::new(0),
            bell: Bell::new(),
        }
    }

    /// Makes what was filled with zeroes a flag that is not set.
    pub(crate) fn prepare(&self) {
        self.bell.prepare();
    }

    /// Another process has come: those who sleep here are to sleep on its life, too.
    pub(crate) fn greet(&self) {
        self.bell.ring();
    }

    fn change(&self, next: impl Fn(u64) -> Option<u64>) -> bool {
        // SYNC flag
        self.state
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, next)
            .is_ok()
    }

    pub(crate) fn set(&self) {
        self.change(|state| (state & SET == 0).then(|| (state | SET).wrapping_add(2)));
        // Also if it was set: the one that has set it may have died before it could wake the others.
        self.bell.ring();
    }

    pub(crate) fn reset(&self) {
        self.change(|state| (state & SET != 0).then_some(state & !SET));
    }

    pub(crate) fn is_set(&self) -> bool {
        // SYNC flag
        self.state.load(Ordering::SeqCst) & SET != 0
    }

    /// Takes the flag down if it is up.
    pub(crate) fn try_take(&self) -> bool {
        self.change(|state| (state & SET != 0).then_some(state & !SET))
    }

    /// Where those sleep who wait for it.
    #[cfg(not(tamtam_loom))]
    pub(crate) fn bell(&self) -> &Bell {
        &self.bell
    }

    /// How often it was set.
    pub(crate) fn times_set(&self) -> u64 {
        // SYNC flag
        self.state.load(Ordering::SeqCst) >> 1
    }

    /// Whether it is up, or was since it was set so often.
    pub(crate) fn was_set_since(&self, before: u64) -> bool {
        // SYNC flag
        let state = self.state.load(Ordering::SeqCst);
        state & SET != 0 || state >> 1 != before
    }

    /// Waits until it is up, and takes it down.
    pub(crate) fn take(
        &self,
        lives: &impl Lives,
        wait: Wait,
        deadline: Option<Instant>,
    ) -> Result<(), TimedOut> {
        let is_taken = || self.try_take();
        let words = || lives.words();
        self.bell.wait(wait, deadline, is_taken, words)
    }

    /// Waits until it is up, or was since.
    pub(crate) fn wait(
        &self,
        lives: &impl Lives,
        wait: Wait,
        deadline: Option<Instant>,
    ) -> Result<(), TimedOut> {
        let before = self.times_set();
        let was_set = || self.was_set_since(before);
        let words = || lives.words();
        self.bell.wait(wait, deadline, was_set, words)
    }
}

#[cfg(all(test, tamtam_loom))]
mod loom_tests {
    use super::*;
    use crate::claim::models::Process;
    use tamtam_wait::seam::{Arc, thread};

    fn model(program: impl Fn() + Send + Sync + 'static) {
        let mut bounded = loom::model::Builder::new();
        bounded.preemption_bound = Some(3);
        bounded.check(program);
    }

    /// All that wait get past, also if it is reset right after it was set.
    #[test]
    fn loom_all_get_past_a_flag_that_stays() {
        model(|| {
            let flag = Arc::new(Flag::new());
            let [first, second, _] = Process::three();
            let setter = {
                let flag = Arc::clone(&flag);
                thread::spawn(move || flag.set())
            };
            let waiter = {
                let flag = Arc::clone(&flag);
                thread::spawn(move || flag.wait(&first, Wait::Adaptive, None).unwrap())
            };
            flag.wait(&second, Wait::Adaptive, None).unwrap();
            waiter.join().unwrap();
            setter.join().unwrap();
            flag.reset();
            assert!(!flag.is_set());
        });
    }

    /// Two that wait, and a flag for each: none sleeps on while it is up.
    #[test]
    fn loom_one_gets_past_for_each_flag() {
        model(|| {
            let flag = Arc::new(Flag::new());
            let [first, second, _] = Process::three();
            let waiter = {
                let flag = Arc::clone(&flag);
                thread::spawn(move || {
                    flag.take(&first, Wait::Adaptive, None).unwrap();
                    flag.set();
                })
            };
            flag.set();
            flag.take(&second, Wait::Adaptive, None).unwrap();
            if !flag.is_set() {
                flag.set();
            }
            waiter.join().unwrap();
            assert!(flag.try_take());
            assert!(!flag.is_set());
        });
    }
}
