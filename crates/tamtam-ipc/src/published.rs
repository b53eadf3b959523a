//! The latest of several values, each in a buffer of its own: the protocol of [`Property`](crate::Property).
//!
//! The state says which buffer holds the latest value, and how many there were. A writer claims a buffer that is not the latest, writes, and makes it
//! the latest in one step. So one that stops or dies half way holds up neither readers nor other writers, and leaves the value as it was.
//!
//! A reader copies the latest buffer and looks whether it was claimed meanwhile, by a count in the buffer's stamp; then it copies again, but not for ever. That is the
//! sequence lock of Linux with a lock for each buffer (Hemminger, 2002; Boehm, *Can Seqlocks Get Along With Programming Language Memory Models?*, 2012,
//! for the fences), in which only a reader that is slower than several writers looks twice.

use std::time::{Duration, Instant};

use tamtam_wait::Backoff;
use tamtam_wait::seam::atomic::{AtomicU64, Ordering, fence};

use crate::claim::{Claim, Lives};

/// The bits of the state that say which buffer.
const INDEX_BITS: u32 = 3;
/// So many copies at most, the last of which some seconds after the first. If each was disturbed, a process writes nonsense, or as many as have buffers set
/// values all the time, each of them faster than it can be copied.
const MOST_COPIES: u32 = if cfg!(any(test, tamtam_loom)) {
    100
} else {
    10_000
};

/// Which of the buffers is the latest. `BUFFERS` is 2 to 8.
#[derive(Debug)]
#[cfg_attr(not(tamtam_loom), repr(C))]
pub(crate) struct Published<const BUFFERS: usize> {
    /// Low: the index of the latest buffer; above: how many values there were, which would wrap after 2^61.
    state: AtomicU64,
    /// One for each buffer. Low half: the claim of the process that writes there; high half: how often it was claimed.
    stamps: [AtomicU64; BUFFERS],
}

/// No copy was whole: what was copied last, of this version, may be of several values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Torn {
    pub(crate) version: u64,
}

/// Why a value was not published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unpublished {
    /// There is this version, and not the expected one.
    Changed(u64),
    /// All buffers but the latest were claimed by processes that live, for as long as was to be waited.
    Crowded,
}

/// A buffer that is being written.
#[derive(Debug)]
struct Claimed {
    index: usize,
    stamp: u64,
}

fn version_of(state: u64) -> u64 {
    state >> INDEX_BITS
}

fn times_claimed(stamp: u64) -> u32 {
    (stamp >> 32) as u32
}

impl<const BUFFERS: usize> Published<BUFFERS> {
    #[cfg(tamtam_loom)]
    pub(crate) fn new() -> Self {
        Published {
            state: AtomicU64::new(0),
            stamps: std::array::from_fn(|_| AtomicU64::new(0)),
        }
    }

    fn index_of(state: u64) -> usize {
        // What another process has written there may be too large.
        (state as usize & ((1 << INDEX_BITS) - 1)) % BUFFERS
    }

    /// How many values there were after the first.
    pub(crate) fn version(&self) -> u64 {
        // SYNC published-state
        version_of(self.state.load(Ordering::SeqCst))
    }

    /// Has the latest value copied, out of the buffer of this index, until a copy was not disturbed. Gives that value's version.
    ///
    /// # Errors
    ///
    /// [`Torn`] if there was no such copy.
    #[inline]
    pub(crate) fn read(&self, mut copy: impl FnMut(usize)) -> Result<u64, Torn> {
        let mut backoff = Backoff::new();
        let mut copies = 0;
        loop {
            // SYNC published-state
            let state = self.state.load(Ordering::SeqCst);
            let index = Self::index_of(state);
            let stamp = self.stamps[index].load(Ordering::SeqCst);
            // The buffer is still the latest, so the stamp is not one of a claim after that.
            let is_latest = self.state.load(Ordering::SeqCst) == state;
            copies += 1;
            let is_last = copies >= MOST_COPIES;
            if is_latest || is_last {
                copy(index);
                // SYNC published-buffer: if anything of a later value was read, its claim is seen.
                fence(Ordering::Acquire);
                let now = self.stamps[index].load(Ordering::SeqCst);
                let version = version_of(state);
                if is_latest && times_claimed(now) == times_claimed(stamp) {
                    return Ok(version);
                }
                if is_last {
                    return Err(Torn { version });
                }
            }
            backoff.pause();
        }
    }

    /// Writes a value by `write` into the buffer of the index that it gets, and makes it the latest: if the version is still the expected one. Gives
    /// the value's version.
    ///
    /// Waits, in short naps, while all buffers but the latest are claimed by processes that live: for so long at most, if that is said.
    ///
    /// # Errors
    ///
    /// [`Unpublished`]: nothing was changed.
    #[inline]
    pub(crate) fn publish(
        &self,
        lives: &impl Lives,
        expected: Option<u64>,
        longest: Option<Duration>,
        write: impl FnOnce(usize),
    ) -> Result<u64, Unpublished> {
        let claimed = self.claim(lives, longest).ok_or(Unpublished::Crowded)?;
        write(claimed.index);
        let mut state = self.state.load(Ordering::SeqCst);
        let outcome = loop {
            let version = version_of(state);
            if expected.is_some_and(|expected| expected != version) {
                break Err(Unpublished::Changed(version));
            }
            let version = version.wrapping_add(1) & (u64::MAX >> INDEX_BITS);
            let new = version << INDEX_BITS | claimed.index as u64;
            // SYNC published-state
            match self
                .state
                .compare_exchange(state, new, Ordering::SeqCst, Ordering::SeqCst)
            {
                Ok(_) => break Ok(version),
                Err(now) => state = now,
            }
        };
        self.free(claimed);
        outcome
    }

    /// Claims a buffer that is not the latest, the next ones first: what was the latest before is left in peace for its readers as long as can be.
    /// `None` if there was none for so long.
    fn claim(&self, lives: &impl Lives, longest: Option<Duration>) -> Option<Claimed> {
        let mut backoff = Backoff::new();
        let mut begun = None;
        loop {
            let latest = Self::index_of(self.state.load(Ordering::SeqCst));
            for step in 1..BUFFERS {
                let index = (latest + step) % BUFFERS;
                let claimed = self.try_claim(index, lives);
                if claimed.is_some() {
                    return claimed;
                }
            }
            if let Some(longest) = longest
                && begun.get_or_insert_with(Instant::now).elapsed() >= longest
            {
                return None;
            }
            backoff.pause();
        }
    }

    fn try_claim(&self, index: usize, lives: &impl Lives) -> Option<Claimed> {
        let word = &self.stamps[index];
        let before = word.load(Ordering::SeqCst);
        if Claim::in_word(before as u32).is_some_and(|claim| lives.is_alive(claim)) {
            return None;
        }
        let times = u64::from(times_claimed(before).wrapping_add(1));
        let stamp = times << 32 | u64::from(lives.own().bits());
        // SYNC published-buffer
        word.compare_exchange(before, stamp, Ordering::SeqCst, Ordering::SeqCst)
            .ok()?;
        fence(Ordering::Release);
        let claimed = Claimed { index, stamp };
        // From now on no other writer makes it the latest.
        if Self::index_of(self.state.load(Ordering::SeqCst)) == index {
            self.free(claimed);
            return None;
        }
        Some(claimed)
    }

    fn free(&self, claimed: Claimed) {
        let Claimed { index, stamp } = claimed;
        let free = stamp >> 32 << 32;
        // If another process has written something else there, that stays.
        let _ =
            self.stamps[index].compare_exchange(stamp, free, Ordering::SeqCst, Ordering::SeqCst);
    }
}

#[cfg(all(test, tamtam_loom))]
mod loom_tests {
    use super::*;
    use crate::claim::models::Process;
    use tamtam_wait::seam::atomic::{AtomicU32, Ordering::Relaxed};
    use tamtam_wait::seam::{Arc, thread};

    /// Values of two words, which are to be alike.
    struct Model<const BUFFERS: usize> {
        published: Published<BUFFERS>,
        buffers: [[AtomicU32; 2]; BUFFERS],
    }

    impl<const BUFFERS: usize> Model<BUFFERS> {
        fn new() -> Arc<Self> {
            Arc::new(Model {
                published: Published::new(),
                buffers: std::array::from_fn(|_| [AtomicU32::new(0), AtomicU32::new(0)]),
            })
        }

        fn write(&self, index: usize, value: u32) {
            self.buffers[index][0].store(value, Relaxed);
            self.buffers[index][1].store(value, Relaxed);
        }

        fn read(&self) -> (u64, u32) {
            let mut seen = (0, 0);
            let version = self.published.read(|index| {
                let [first, second] = &self.buffers[index];
                seen = (first.load(Relaxed), second.load(Relaxed));
            });
            let version = version.expect("it is disturbed twice at most");
            assert_eq!(seen.0, seen.1);
            (version, seen.0)
        }
    }

    fn model(program: impl Fn() + Send + Sync + 'static) {
        let mut bounded = loom::model::Builder::new();
        bounded.preemption_bound = Some(3);
        bounded.check(program);
    }

    /// A reader sees whole values, and never an older one after a later one, while its buffer is written over.
    #[test]
    fn loom_no_value_is_torn() {
        model(|| {
            let model = Model::<2>::new();
            let [writing, _, _] = Process::three();
            let reader = {
                let model = Arc::clone(&model);
                thread::spawn(move || {
                    let first = model.read();
                    assert_eq!(first.0, u64::from(first.1));
                })
            };
            for value in 1..=2 {
                let publish = |index| model.write(index, value);
                let published = model.published.publish(&writing, None, None, publish);
                published.unwrap();
            }
            reader.join().unwrap();
            assert_eq!(model.read(), (2, 2));
        });
    }

    /// Two writers: each value counts, one that expects a version that is gone is refused, and one that dies half way leaves the value as it was.
    #[test]
    fn loom_writers_count_and_a_dead_one_leaves_what_was() {
        model(|| {
            let model = Model::<3>::new();
            let [dying, other, own] = Process::three();
            let victim = {
                let model = Arc::clone(&model);
                thread::spawn(move || {
                    let claimed = model.published.claim(&dying, None).unwrap();
                    model.buffers[claimed.index][0].store(9, Relaxed);
                    dying.ends();
                })
            };
            let publish = |index| model.write(index, 1);
            let published = model.published.publish(&own, Some(0), None, publish);
            assert_eq!(published, Ok(1));
            assert_eq!(model.read(), (1, 1));
            victim.join().unwrap();
            let publish = |index| model.write(index, 2);
            let published = model.published.publish(&other, Some(0), None, publish);
            assert_eq!(published, Err(Unpublished::Changed(1)));
            for value in 2..=4 {
                let publish = |index| model.write(index, value);
                let published = model.published.publish(&other, None, None, publish);
                published.unwrap();
            }
            assert_eq!(model.read(), (4, 4));
        });
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_published_value_takes_a_word_and_one_for_each_buffer() {
        assert_eq!(size_of::<Published<8>>(), 72);
        assert_eq!(size_of::<Published<4>>(), 40);
    }

    #[test]
    fn a_copy_that_was_disturbed_each_time_is_no_value() {
        let published = Published::<4> {
            state: AtomicU64::new(0),
            stamps: std::array::from_fn(|_| AtomicU64::new(0)),
        };
        let mut copies = 0;
        let disturb = |index: usize| {
            copies += 1;
            published.stamps[index].fetch_add(1 << 32, Ordering::SeqCst);
        };
        assert_eq!(published.read(disturb), Err(Torn { version: 0 }));
        assert_eq!(copies, MOST_COPIES);
        // The last one may be whole, too.
        let mut copies = 0;
        let disturb = |index: usize| {
            copies += 1;
            if copies < MOST_COPIES {
                published.stamps[index].fetch_add(1 << 32, Ordering::SeqCst);
            }
        };
        assert_eq!(published.read(disturb), Ok(0));
    }
}
