//! The latch with and without stripes, on real threads. Its public face is tested in
//! `tests/it/slot_event_latch/latch.rs`; here every count can have stripes, however small.

use std::mem::size_of;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use super::stripes::Stripes;
use super::{LARGE, Latch, number};

/// A small generator of the linear congruential kind, good enough to mix amounts.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Fewer rounds where each step is interpreted.
const fn rounds(usually: u64) -> u64 {
    if cfg!(miri) {
        usually / 400 + 1
    } else {
        usually
    }
}

/// Every kind of latch with the same count: without stripes, with them, and with them as they are
/// where the system has no barrier for all threads.
fn kinds(count: u64) -> [Latch; 3] {
    let full_fences = Stripes::with_fences(false);
    [
        Latch::with_stripes(count, None),
        Latch::striped(count),
        Latch::with_stripes(count, Some(Box::new(full_fences))),
    ]
}

#[test]
fn sizes_are_as_documented() {
    assert_eq!(size_of::<Latch>(), 128);
    assert_eq!(size_of::<Stripes>(), 4352);
    assert!(Latch::new(LARGE - 1).stripes.is_none());
    assert!(Latch::new(LARGE).stripes.is_some());
    assert_eq!(LARGE, 65_536);
}

/// What is counted on a lease leaves alone what all threads share; that is what stripes are for.
#[test]
fn a_thread_counts_on_a_lease_of_its_own() {
    let (stripes, pool) = (Stripes::new(), AtomicU64::new(100_000));
    assert!(stripes.count(&pool, number::current(), 1));
    let left = pool.load(Ordering::Relaxed);
    assert!(left < 99_999, "{left}: no lease was taken");
    for _ in 0..31 {
        assert!(stripes.count(&pool, number::current(), 1));
    }
    assert_eq!(pool.load(Ordering::Relaxed), left);
    assert_eq!(stripes.remaining(&pool), 100_000 - 32);
}

#[test]
fn one_thread_counts_every_count() {
    for count in (1..300)
        .chain([4095, 4096, 4097, 10_000, 100_000])
        .filter(|&n| !cfg!(miri) || n <= 6)
    {
        for latch in kinds(count) {
            for left in (1..=count).rev() {
                if left % 17 == 0 || left < 300 {
                    assert_eq!(latch.remaining(), left);
                }
                assert!(!latch.is_open());
                latch.count_down();
            }
            assert!(latch.is_open());
            assert_eq!(latch.remaining(), 0);
            latch.wait();
        }
    }
}

#[test]
fn counts_by_amounts_are_counted_exactly() {
    let mut random = Random(7);
    for _ in 0..rounds(500) {
        let count = 1 + random.below(rounds(200_000));
        for latch in kinds(count) {
            let mut left = count;
            while left > 0 {
                assert_eq!(latch.remaining(), left);
                assert!(!latch.is_open());
                // Often more than is left, sometimes nothing.
                let by = random.below(20_000);
                latch.count_down_by(by);
                left = left.saturating_sub(by);
            }
            assert!(latch.is_open());
        }
    }
}

#[test]
fn counting_beyond_zero_does_nothing() {
    for latch in kinds(70_000).into_iter().chain(kinds(u64::MAX)) {
        latch.count_down();
        latch.count_down_by(u64::MAX);
        for by in [0, 1, 2, 1 << 63, u64::MAX] {
            assert!(latch.is_open());
            assert_eq!(latch.remaining(), 0);
            latch.count_down_by(by);
            latch.count_down();
        }
        latch.wait();
    }
}

#[test]
fn the_largest_count_is_exact() {
    for latch in kinds(u64::MAX) {
        latch.count_down();
        latch.count_down_by(u64::MAX - 3);
        assert_eq!((latch.remaining(), latch.is_open()), (2, false));
        latch.count_down();
        assert_eq!((latch.remaining(), latch.is_open()), (1, false));
        latch.count_down_by(0);
        assert!(!latch.is_open());
        latch.count_down();
        assert!(latch.is_open());
    }
}

/// `threads` count by random amounts below `limit`, `rounds` times each; nobody may see the latch
/// open before the last count has begun, nor `remaining` out of its bounds.
fn count_together(threads: u64, rounds: u64, limit: u64, seed: u64) {
    let mut random = Random(seed);
    let amounts: Vec<Vec<u64>> = (0..threads)
        .map(|_| {
            let uneven = 1 + random.below(rounds);
            (0..uneven)
                .map(|_| random.below(limit))
                .chain([1])
                .collect()
        })
        .collect();
    let total: u64 = amounts.iter().flatten().sum();
    for latch in kinds(total) {
        let start = Barrier::new(threads as usize);
        let (begun, done) = (AtomicU64::new(0), AtomicU64::new(0));
        let watching = AtomicBool::new(true);
        thread::scope(|scope| {
            let (latch, start) = (&latch, &start);
            let (begun, done, watching) = (&begun, &done, &watching);
            let counting: Vec<_> = amounts
                .iter()
                .map(|amounts| {
                    scope.spawn(move || {
                        start.wait();
                        for &by in amounts {
                            // Relaxed: only the latch makes the last of these visible.
                            begun.fetch_add(by, Ordering::Relaxed);
                            match by {
                                1 => latch.count_down(),
                                _ => latch.count_down_by(by),
                            }
                            done.fetch_add(by, Ordering::Release);
                        }
                    })
                })
                .collect();
            scope.spawn(move || {
                latch.wait();
                assert_eq!(begun.load(Ordering::Relaxed), total, "passed too early");
            });
            scope.spawn(move || {
                while watching.load(Ordering::Acquire) {
                    if latch.is_open() {
                        assert_eq!(begun.load(Ordering::Relaxed), total, "open too early");
                    }
                    let before = done.load(Ordering::Acquire);
                    let left = latch.remaining();
                    let after = begun.load(Ordering::Relaxed);
                    assert!(
                        left <= total - before,
                        "{left} left, {before} of {total} done"
                    );
                    assert!(
                        left >= total - after,
                        "{left} left, {after} of {total} begun"
                    );
                    thread::yield_now();
                }
            });
            counting
                .into_iter()
                .for_each(|thread| thread.join().unwrap());
            assert!(latch.is_open(), "{} left of {total}", latch.remaining());
            watching.store(false, Ordering::Release);
        });
        assert_eq!(latch.remaining(), 0);
    }
}

#[test]
fn opens_exactly_for_one_to_eight_threads() {
    // Under Miri each number of threads takes seconds.
    for threads in (1..=8_u64).filter(|n| !cfg!(miri) || *n == 3) {
        // By one, or nothing; by few; by more than a lease.
        count_together(threads, rounds(20_000), 2, threads);
        count_together(threads, rounds(5_000), 50, threads + 8);
        count_together(threads, rounds(2_000), 10_000, threads + 16);
    }
}

#[test]
fn opens_exactly_when_the_end_is_all_there_is() {
    // The settlement races with counts most of all where leases are short.
    for seed in 0..rounds(300) {
        count_together(2 + seed % 3, rounds(400) + 50, 3, seed);
    }
}

#[test]
fn more_threads_than_stripes() {
    let most = if cfg!(miri) { 10 } else { 100 };
    count_together(40, rounds(500), most, 40);
}

#[test]
fn a_dead_threads_lease_is_returned() {
    for round in 0..rounds(200) {
        let mut random = Random(round);
        let least = if cfg!(miri) { 300 } else { 1_000 };
        let count = least + random.below(rounds(200_000));
        let latch = Latch::striped(count);
        let mut left = count;
        while left > 0 {
            // One to four threads at a time that count a little and end; most leave a lease behind.
            let shares: Vec<u64> = (0..1 + random.below(4))
                .map(|_| {
                    let share = random.below(left / 3 + 2).min(left).min(3_000);
                    left -= share;
                    share
                })
                .collect();
            thread::scope(|scope| {
                for share in shares {
                    let latch = &latch;
                    scope.spawn(move || (0..share).for_each(|_| latch.count_down()));
                }
            });
            assert_eq!((latch.remaining(), latch.is_open()), (left, left == 0));
        }
    }
}

#[test]
fn a_sleeping_threads_lease_is_returned() {
    let total = 1_000 + rounds(100_000);
    let latch = Latch::striped(total);
    let (leased, end) = (Barrier::new(9), Barrier::new(9));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                latch.count_down();
                leased.wait();
                end.wait();
                // Here the phase is over in which this stripe counts.
                latch.count_down();
            });
        }
        leased.wait();
        for left in (0..total - 8).rev() {
            assert!(!latch.is_open());
            latch.count_down();
            if left % 1_000 == 0 {
                assert_eq!(latch.remaining(), left);
            }
        }
        assert!(latch.is_open());
        end.wait();
    });
    assert!(latch.is_open());
    assert_eq!(latch.remaining(), 0);
}

#[test]
fn thread_locals_may_count_when_they_are_dropped() {
    struct CountsWhenDropped(Arc<Latch>);
    impl Drop for CountsWhenDropped {
        fn drop(&mut self) {
            self.0.count_down();
        }
    }
    thread_local! {
        static EARLY: std::cell::RefCell<Option<CountsWhenDropped>> = const { std::cell::RefCell::new(None) };
        static LATE: std::cell::RefCell<Option<CountsWhenDropped>> = const { std::cell::RefCell::new(None) };
    }
    // Once with the thread's number dropped before, once after the counting value.
    let latch = Arc::new(Latch::striped(3 * rounds(300)));
    for _ in 0..rounds(300) {
        let latch = latch.clone();
        thread::spawn(move || {
            EARLY.set(Some(CountsWhenDropped(latch.clone())));
            latch.count_down();
            LATE.set(Some(CountsWhenDropped(latch)));
        })
        .join()
        .unwrap();
    }
    assert!(latch.is_open());
    assert_eq!(latch.remaining(), 0);
}

#[test]
fn writes_before_a_count_are_seen_after_the_wait() {
    let count = if cfg!(miri) { 50 } else { 200 };
    for _ in 0..rounds(500) {
        let latch = Latch::striped(3 * count);
        let written = [const { AtomicU64::new(0) }; 3];
        thread::scope(|scope| {
            for cell in &written {
                let latch = &latch;
                scope.spawn(move || {
                    for number in 1..=count {
                        cell.store(number, Ordering::Relaxed);
                        latch.count_down();
                    }
                });
            }
            latch.wait();
            assert!(
                written
                    .iter()
                    .all(|cell| cell.load(Ordering::Relaxed) == count)
            );
        });
    }
}

#[test]
fn timeouts_end_after_their_time_and_not_before() {
    for latch in kinds(5) {
        latch.count_down_by(4);
        let start = Instant::now();
        let time = Duration::from_millis(10);
        assert!(latch.wait_timeout(time).is_err());
        assert!(start.elapsed() >= time);
        assert!(latch.wait_deadline(start + 2 * time).is_err());
        assert!(start.elapsed() >= 2 * time);
        assert!(latch.wait_deadline(start).is_err());
        latch.count_down();
        assert!(latch.wait_timeout(Duration::MAX).is_ok());
        assert!(latch.wait_timeout(Duration::ZERO).is_ok());
        assert!(latch.wait_deadline(start).is_ok());
    }
}

#[test]
fn it_can_be_sent_shared_and_printed() {
    fn shared<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe + Unpin>() {}
    shared::<Latch>();
    for latch in kinds(12) {
        latch.count_down_by(2);
        assert!(format!("{latch:?}").contains("remaining: 10"));
    }
}
