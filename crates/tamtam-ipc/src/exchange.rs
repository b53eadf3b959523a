//! One place through which values go from process to process: the protocol of [`Slot`](crate::Slot).
//!
//! The word is **empty**, **full**, or says which process is **writing** or **reading**. One that dies while it writes has put nothing; one that dies while
//! it reads has taken nothing.
//!
//! ```text
//!   empty --claim--> writing by P --settle--> full --claim--> reading by Q --settle--> empty
//!     ^--- P ends ------/                      ^--- Q ends ------/
//! ```

use std::time::Instant;

use tamtam_wait::seam::atomic::{AtomicU32, Ordering};
use tamtam_wait::{TimedOut, Wait};

use crate::bell::Bell;
use crate::claim::{Claim, Lives};

const EMPTY: u32 = 0;
const FULL: u32 = 1 << 30;
const WRITING: u32 = 2 << 30;
const READING: u32 = 3 << 30;
/// So often a look is repeated that finds another word than the one before. Each time another thread has got on, or a process writes nonsense.
const MOST_LOOKS: u32 = 64;

#[derive(Debug)]
#[cfg_attr(not(tamtam_loom), repr(C))]
pub(crate) struct Exchange {
    word: AtomicU32,
    putters: Bell,
    takers: Bell,
}

/// What is done with the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// A value is written into the empty place.
    Put,
    /// The value is read, and the place is empty then.
    Take,
}

impl Access {
    fn from(self) -> u32 {
        match self {
            Access::Put => EMPTY,
            Access::Take => FULL,
        }
    }

    fn during(self) -> u32 {
        match self {
            Access::Put => WRITING,
            Access::Take => READING,
        }
    }

    fn after(self) -> u32 {
        match self {
            Access::Put => FULL,
            Access::Take => EMPTY,
        }
    }
}

impl Exchange {
    #[cfg(tamtam_loom)]
    pub(crate) fn new() -> Self {
        Exchange {
            word: AtomicU32::new(EMPTY),
            putters: Bell::new(),
            takers: Bell::new(),
        }
    }

    /// Makes what was filled with zeroes an empty place.
    pub(crate) fn prepare(&self) {
        self.putters.prepare();
        self.takers.prepare();
    }

    /// Another process has come: those who sleep here are to sleep on its life, too.
    pub(crate) fn greet(&self) {
        self.putters.ring();
        self.takers.ring();
    }

    /// What the word means now that the process which is at work there may be dead.
    fn settled(word: u32, lives: &impl Lives) -> u32 {
        let kind = word & !Claim::BITS;
        if kind == EMPTY || kind == FULL {
            return kind;
        }
        match Claim::in_word(word) {
            Some(claim) if lives.is_alive(claim) => word,
            // Nothing was put, or nothing was taken; also where the word is nonsense.
            _ if kind == WRITING => EMPTY,
            _ => FULL,
        }
    }

    /// Begins to put or take, if the place is empty or full. The one that has begun touches the value, and then [`settle`](Exchange::settle)s.
    pub(crate) fn try_claim(&self, access: Access, lives: &impl Lives) -> bool {
        let mut word = self.word.load(Ordering::SeqCst);
        for _ in 0..MOST_LOOKS {
            if Self::settled(word, lives) != access.from() {
                return false;
            }
            let claimed = access.during() | lives.own().bits();
            // SYNC exchange
            match self
                .word
                .compare_exchange(word, claimed, Ordering::SeqCst, Ordering::SeqCst)
            {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Where those sleep who wait for it.
    pub(crate) fn bell(&self, access: Access) -> &Bell {
        match access {
            Access::Put => &self.putters,
            Access::Take => &self.takers,
        }
    }

    /// Whether the place could be claimed now.
    #[cfg(not(tamtam_loom))]
    pub(crate) fn is_claimable(&self, access: Access, lives: &impl Lives) -> bool {
        // SYNC exchange
        Self::settled(self.word.load(Ordering::SeqCst), lives) == access.from()
    }

    /// Waits until the place can be claimed.
    pub(crate) fn claim(
        &self,
        access: Access,
        lives: &impl Lives,
        wait: Wait,
        deadline: Option<Instant>,
    ) -> Result<(), TimedOut> {
        let is_claimed = || self.try_claim(access, lives);
        self.bell(access)
            .wait(wait, deadline, is_claimed, || lives.words())
    }

    /// What was begun is done.
    pub(crate) fn settle(&self, access: Access, lives: &impl Lives) {
        let claimed = access.during() | lives.own().bits();
        // If another process has written something else there, that stays.
        // SYNC exchange
        let _ =
            self.word
                .compare_exchange(claimed, access.after(), Ordering::SeqCst, Ordering::SeqCst);
        match access {
            Access::Put => self.takers.ring(),
            Access::Take => self.putters.ring(),
        }
    }

    /// Whether a value is there. One that is being written is not there yet, and one that is being read is there still.
    pub(crate) fn is_full(&self, lives: &impl Lives) -> bool {
        let word = Self::settled(self.word.load(Ordering::SeqCst), lives);
        matches!(word & !Claim::BITS, FULL | READING)
    }
}

#[cfg(all(test, tamtam_loom))]
mod loom_tests {
    use super::*;
    use crate::claim::models::Process;
    use tamtam_wait::seam::{Arc, UnsafeCell, thread};

    struct Model {
        exchange: Exchange,
        value: UnsafeCell<u32>,
    }

    // SAFETY: the value is touched by the one that has claimed the place, as the models show.
    unsafe impl Send for Model {}
    // SAFETY: the value is touched by the one that has claimed the place, as the models show.
    unsafe impl Sync for Model {}

    impl Model {
        fn new() -> Arc<Self> {
            Arc::new(Model {
                exchange: Exchange::new(),
                value: UnsafeCell::new(0),
            })
        }

        fn put(&self, process: &Process, value: u32) {
            self.exchange
                .claim(Access::Put, process, Wait::Adaptive, None)
                .unwrap();
            // SAFETY: the place was claimed.
            self.value.with_mut(|it| unsafe { *it = value });
            self.exchange.settle(Access::Put, process);
        }

        fn take(&self, process: &Process) -> u32 {
            self.exchange
                .claim(Access::Take, process, Wait::Adaptive, None)
                .unwrap();
            // SAFETY: the place was claimed.
            let value = self.value.with(|it| unsafe { *it });
            self.exchange.settle(Access::Take, process);
            value
        }
    }

    fn model(program: impl Fn() + Send + Sync + 'static) {
        let mut bounded = loom::model::Builder::new();
        bounded.preemption_bound = Some(3);
        bounded.check(program);
    }

    /// Each value comes once and in order, and no side sleeps past the other.
    #[test]
    fn loom_values_come_once() {
        model(|| {
            let model = Model::new();
            let [first, second, _] = Process::three();
            let putter = {
                let model = Arc::clone(&model);
                thread::spawn(move || (1..=2).for_each(|value| model.put(&first, value)))
            };
            assert_eq!(model.take(&second), 1);
            assert_eq!(model.take(&second), 2);
            putter.join().unwrap();
        });
    }

    /// A process that dies while it writes has put nothing; while it reads, taken nothing. Either way the place can be used.
    #[test]
    fn loom_what_a_dead_one_began_is_undone() {
        model(|| {
            let model = Model::new();
            let [dying, other, own] = Process::three();
            model.put(&other, 7);
            let victim = {
                let model = Arc::clone(&model);
                thread::spawn(move || {
                    let reads = model.exchange.try_claim(Access::Take, &dying);
                    let writes = !reads && model.exchange.try_claim(Access::Put, &dying);
                    if writes {
                        // SAFETY: the place was claimed.
                        model.value.with_mut(|it| unsafe { *it = 0 });
                    }
                    dying.ends();
                })
            };
            let mut taken = None;
            if model.exchange.try_claim(Access::Take, &own) {
                // SAFETY: the place was claimed.
                taken = Some(model.value.with(|it| unsafe { *it }));
                model.exchange.settle(Access::Take, &own);
            }
            victim.join().unwrap();
            if taken.is_none() {
                taken = Some(model.take(&own));
            }
            assert_eq!(taken, Some(7));
            assert!(!model.exchange.is_full(&own));
            model.put(&own, 8);
            assert_eq!(model.take(&own), 8);
        });
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_takes_three_pairs_of_lines() {
        assert_eq!(size_of::<Exchange>(), 384);
    }
}
