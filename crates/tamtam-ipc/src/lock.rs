//! A lock in shared memory that is free when its holder dies: the protocol of [`Mutex`](crate::Mutex).
//!
//! The word holds a [`Claim`], by which each process sees whose the lock is and whether that process lives, and a bit that says that a holder has
//! died or panicked and what it guarded may be half changed.
//!
//! ```text
//!   free --take--> held by P --release--> free
//!                    \-- P ends --> held by a dead one --take--> held by Q, abandoned
//! ```
//!
//! A thread that waits sleeps on the bell and on the lives of all other processes. So it wakes when the holder dies; also when one dies that was woken
//! to take the lock and did not get that far, and one that has freed the lock and did not get as far as to ring.

use std::time::Instant;

use tamtam_wait::seam::atomic::{AtomicU32, AtomicU64, Ordering};
use tamtam_wait::{TimedOut, Wait};

use crate::bell::Bell;
use crate::claim::{Claim, Lives};

/// What the lock guards may be half changed.
const IS_ABANDONED: u32 = 1 << 31;
/// So often a look is repeated that finds another word than the one before. Each time another thread has got on, or a process writes nonsense.
const MOST_LOOKS: u32 = 64;

#[derive(Debug)]
#[cfg_attr(not(tamtam_loom), repr(C))]
pub(crate) struct Lock {
    word: AtomicU32,
    /// The holder's thread; 0 before it has said so, and while there is none.
    thread: AtomicU32,
    /// Since when it holds it, by the clock that all processes have.
    since: AtomicU64,
    bell: Bell,
}

/// A lock that was just taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// A holder has left it in the middle of something.
    pub(crate) is_abandoned: bool,
}

/// Who has a lock, as far as it has said.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) claim: Claim,
    pub(crate) thread: u32,
    pub(crate) since: u64,
}

impl Lock {
    #[cfg(tamtam_loom)]
    pub(crate) fn new() -> Self {
        Lock {
            word: AtomicU32::new(0),
            thread: AtomicU32::new(0),
            since: AtomicU64::new(0),
            bell: Bell::new(),
        }
    }

    /// Makes what was filled with zeroes a lock that is free.
    pub(crate) fn prepare(&self) {
        self.bell.prepare();
    }

    /// Another process has come: those who sleep here are to sleep on its life, too.
    pub(crate) fn greet(&self) {
        self.bell.ring();
    }

    /// Takes the lock if it is free, or its holder is dead.
    #[inline]
    pub(crate) fn try_take(&self, lives: &impl Lives) -> Option<Taken> {
        let mut word = self.word.load(Ordering::SeqCst);
        for _ in 0..MOST_LOOKS {
            let abandoned = match Claim::in_word(word) {
                None => word & IS_ABANDONED,
                Some(holder) if lives.is_alive(holder) => return None,
                Some(_) => {
                    self.forget_thread(word);
                    IS_ABANDONED
                }
            };
            let taken = lives.own().bits() | abandoned;
            // SYNC lock
            match self
                .word
                .compare_exchange(word, taken, Ordering::SeqCst, Ordering::SeqCst)
            {
                Ok(_) => {
                    let is_abandoned = abandoned != 0;
                    return Some(Taken { is_abandoned });
                }
                Err(now) => word = now,
            }
        }
        None
    }

    /// Takes away which thread of a dead process has it, before the lock is taken over: in another PID namespace a thread of this process may have that number.
    #[cold]
    fn forget_thread(&self, word: u32) {
        let thread = self.thread.load(Ordering::SeqCst);
        // As long as the word is that of the dead holder, so is the thread.
        if self.word.load(Ordering::SeqCst) == word {
            let _ = self
                .thread
                .compare_exchange(thread, 0, Ordering::SeqCst, Ordering::SeqCst);
        }
    }

    /// Waits until the lock can be taken, and takes it.
    #[cold]
    pub(crate) fn take(
        &self,
        lives: &impl Lives,
        deadline: Option<Instant>,
    ) -> Result<Taken, TimedOut> {
        let mut taken = None;
        let is_taken = || {
            taken = self.try_take(lives);
            taken.is_some()
        };
        let words = || lives.words();
        match self.bell.wait(Wait::Adaptive, deadline, is_taken, words) {
            Ok(()) => taken.ok_or(TimedOut),
            Err(timed_out) => Err(timed_out),
        }
    }

    /// Says which thread has it, and since when. Only for the one that has taken it.
    #[inline]
    pub(crate) fn sign(&self, thread: u32, since: u64) {
        self.since.store(since, Ordering::Relaxed);
        self.thread.store(thread, Ordering::Relaxed);
        // Not when it frees the lock: it may be the next to wait, and is not to take itself for the one that has it then.
        self.bell.meet();
    }

    /// Frees the lock, if it is still this process' one: another one may have written nonsense.
    #[inline]
    pub(crate) fn release(&self, lives: &impl Lives, is_abandoned: bool) {
        self.thread.store(0, Ordering::Relaxed);
        let free = if is_abandoned { IS_ABANDONED } else { 0 };
        let mut word = self.word.load(Ordering::SeqCst);
        // In order no other process writes there meanwhile.
        for _ in 0..MOST_LOOKS {
            if Claim::in_word(word) != Some(lives.own()) {
                break;
            }
            // SYNC lock
            match self
                .word
                .compare_exchange(word, free, Ordering::SeqCst, Ordering::SeqCst)
            {
                Ok(_) => break,
                Err(now) => word = now,
            }
        }
        self.bell.ring_unmet();
    }

    /// Who has it, if that process lives.
    pub(crate) fn held(&self, lives: &impl Lives) -> Option<Held> {
        let claim = Claim::in_word(self.word.load(Ordering::SeqCst))?;
        let held = Held {
            claim,
            thread: self.thread.load(Ordering::Relaxed),
            since: self.since.load(Ordering::Relaxed),
        };
        lives.is_alive(claim).then_some(held)
    }

    /// Whether this thread has it.
    pub(crate) fn is_held_by(&self, lives: &impl Lives, thread: u32) -> bool {
        // The thread has written its number itself, and takes it away before it frees the lock. What a dead process has left there was taken away before the
        // word became this process' one, and so before this look.
        Claim::in_word(self.word.load(Ordering::SeqCst)) == Some(lives.own())
            && self.thread.load(Ordering::Relaxed) == thread
    }
}

#[cfg(all(test, tamtam_loom))]
mod loom_tests {
    use super::*;
    use crate::claim::models::Process;
    use tamtam_wait::seam::{Arc, UnsafeCell, thread};

    struct Model {
        lock: Lock,
        guarded: UnsafeCell<u32>,
    }

    // SAFETY: what the lock guards is touched by its holder only, as the models show.
    unsafe impl Send for Model {}
    // SAFETY: what the lock guards is touched by its holder only, as the models show.
    unsafe impl Sync for Model {}

    impl Model {
        fn new() -> Arc<Self> {
            Arc::new(Model {
                lock: Lock::new(),
                guarded: UnsafeCell::new(0),
            })
        }

        fn count_up(&self) {
            // SAFETY: the caller has taken the lock.
            self.guarded.with_mut(|count| unsafe { *count += 1 });
        }
    }

    fn model(program: impl Fn() + Send + Sync + 'static) {
        let mut bounded = loom::model::Builder::new();
        bounded.preemption_bound = Some(3);
        bounded.check(program);
    }

    /// No two have it at once, and no thread sleeps on while it is free.
    #[test]
    fn loom_one_at_a_time_and_none_is_left_asleep() {
        model(|| {
            let model = Model::new();
            let [first, second, third] = Process::three();
            let threads = [first, second].map(|process| {
                let model = Arc::clone(&model);
                thread::spawn(move || {
                    assert_eq!(
                        model.lock.take(&process, None),
                        Ok(Taken {
                            is_abandoned: false
                        })
                    );
                    model.count_up();
                    model.lock.release(&process, false);
                })
            });
            for thread in threads {
                thread.join().unwrap();
            }
            assert!(model.lock.try_take(&third).is_some());
            // SAFETY: the lock was taken just now.
            assert_eq!(model.guarded.with(|count| unsafe { *count }), 2);
        });
    }

    /// The lock of a dead process goes to one of two, which learns of it; the other one to take it learns so, too, until it is put in order.
    #[test]
    fn loom_what_a_dead_one_held_is_taken_over_once() {
        model(|| {
            let model = Model::new();
            let [dying, other, own] = Process::three();
            let victim = {
                let (model, dying) = (Arc::clone(&model), dying);
                thread::spawn(move || {
                    let has_it = model.lock.try_take(&dying).is_some();
                    if has_it {
                        model.count_up();
                    }
                    dying.ends();
                    has_it
                })
            };
            let rival = {
                let model = Arc::clone(&model);
                thread::spawn(move || {
                    let taken = model.lock.try_take(&other)?;
                    model.count_up();
                    model.lock.release(&other, taken.is_abandoned);
                    Some(taken.is_abandoned)
                })
            };
            let had_it = victim.join().unwrap();
            let taken = model.lock.try_take(&own);
            if let Some(taken) = taken {
                model.count_up();
                model.lock.release(&own, taken.is_abandoned);
            }
            let rival = rival.join().unwrap();
            // Each finds it held by a living one, or gets it.
            let abandoned = [rival, taken.map(|taken| taken.is_abandoned)];
            let seen = abandoned.contains(&Some(true));
            assert!(had_it || !seen);
            let last = model.lock.try_take(&own).unwrap();
            assert_eq!(last.is_abandoned, had_it);
        });
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_lock_takes_two_pairs_of_lines() {
        assert_eq!(size_of::<Lock>(), 256);
    }

    /// What one process knows of the others: they are dead.
    struct LastOfAll(Claim);

    impl Lives for LastOfAll {
        fn own(&self) -> Claim {
            self.0
        }

        fn is_alive(&self, claim: Claim) -> bool {
            claim == self.0
        }

        fn words(&self) -> impl Iterator<Item = (&tamtam_wait::Futex, u32, tamtam_wait::Scope)> {
            std::iter::empty()
        }
    }

    /// Threads of two PID namespaces have one number. The one in which it was killed had the lock; the other has not taken it yet, but a thread beside it has.
    #[test]
    fn the_thread_that_a_dead_process_has_signed_with_is_none_of_the_next_holders() {
        const THREAD: u32 = 7;
        let lock = Lock {
            word: AtomicU32::new(0),
            thread: AtomicU32::new(0),
            since: AtomicU64::new(0),
            bell: Bell::new(),
        };
        let [dying, own] = [1, 2].map(|place| LastOfAll(Claim::new(place, 0)));
        assert!(lock.try_take(&dying).is_some());
        lock.sign(THREAD, 1);
        assert!(lock.is_held_by(&dying, THREAD));
        let taken = lock.try_take(&own).expect("its holder is dead");
        assert!(taken.is_abandoned);
        assert!(!lock.is_held_by(&own, THREAD), "it has not signed yet");
        assert_eq!(lock.held(&own).map(|held| held.thread), Some(0));
        lock.sign(THREAD + 1, 2);
        assert!(!lock.is_held_by(&own, THREAD) && lock.is_held_by(&own, THREAD + 1));
    }
}
