//! Counting down, exactly.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::slot_event_latch::{WAITS, turns, waits_until};
use crate::support::{LONG, Random, ms, within_limit};
use tamtam_channel::{Latch, Wait, WaitTimeoutError};

#[test]
fn opens_at_zero_and_not_before() {
    let latch = Latch::new(3);
    for left in [3, 2, 1] {
        assert_eq!(latch.remaining(), left);
        assert!(!latch.is_open());
        assert_eq!(latch.wait_timeout(Duration::ZERO), Err(WaitTimeoutError));
        latch.count_down();
    }
    assert_eq!(latch.remaining(), 0);
    assert!(latch.is_open());
    latch.wait();
    assert_eq!(latch.wait_timeout(Duration::ZERO), Ok(()));
    assert_eq!(latch.wait_deadline(Instant::now()), Ok(()));
}

#[test]
fn a_latch_of_zero_is_open() {
    let latch = Latch::new(0);
    assert!(latch.is_open());
    assert_eq!(latch.remaining(), 0);
    latch.wait();
}

#[test]
fn counting_beyond_zero_is_harmless() {
    let latch = Latch::new(2);
    latch.count_down_by(u64::MAX);
    for _ in 0..10 {
        assert!(latch.is_open());
        assert_eq!(latch.remaining(), 0);
        latch.wait();
        latch.count_down();
        latch.count_down_by(u64::MAX);
        latch.count_down_by(1 << 63);
    }
    let latch = Latch::new(u64::MAX);
    latch.count_down_by(u64::MAX - 1);
    assert!(!latch.is_open());
    assert_eq!(latch.remaining(), 1);
    latch.count_down_by(0);
    assert_eq!(latch.remaining(), 1);
    latch.count_down_by(2);
    assert!(latch.is_open());
}

#[test]
fn timeouts_say_so_after_the_time() {
    within_limit(|| {
        for wait in WAITS {
            let latch = Latch::new(2).with_wait(wait);
            latch.count_down();
            let start = Instant::now();
            assert_eq!(latch.wait_timeout(ms(15)), Err(WaitTimeoutError));
            assert!(start.elapsed() >= ms(15));
            assert_eq!(latch.wait_deadline(start + ms(30)), Err(WaitTimeoutError));
            assert!(start.elapsed() >= ms(30));
            waits_until(
                || latch.wait_timeout(LONG * 10).unwrap(),
                || latch.count_down(),
            );
            assert_eq!(latch.wait_timeout(Duration::MAX), Ok(()));
        }
    });
}

#[test]
fn releases_all_who_wait() {
    within_limit(|| {
        for wait in WAITS {
            let latch = Latch::new(1).with_wait(wait);
            thread::scope(|scope| {
                for _ in 0..16 {
                    scope.spawn(|| latch.wait());
                }
                latch.count_down();
            });
        }
    });
}

/// `threads` count down by random amounts; nobody may see it open, or pass, before the last count has begun.
fn count_down_together(threads: u64, wait: Wait, by_one: bool) {
    let mut random = Random::new(threads * 31 + u64::from(by_one));
    let amounts: Vec<Vec<u64>> = (0..threads)
        .map(|_| {
            (0..turns(wait, 2_000))
                .map(|_| if by_one { 1 } else { random.below(1_000) })
                .collect()
        })
        .collect();
    let total: u64 = amounts.iter().flatten().sum();
    let latch = Latch::new(total).with_wait(wait);
    let (begun, done) = (AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        let (latch, begun, done) = (&latch, &begun, &done);
        for amounts in amounts {
            scope.spawn(move || {
                for amount in amounts {
                    begun.fetch_add(amount, Ordering::SeqCst);
                    if by_one {
                        latch.count_down();
                    } else {
                        latch.count_down_by(amount);
                    }
                    done.fetch_add(amount, Ordering::SeqCst);
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(move || {
                latch.wait();
                assert_eq!(begun.load(Ordering::SeqCst), total, "opened too early");
            });
        }
        scope.spawn(move || {
            loop {
                let done_before = done.load(Ordering::SeqCst);
                let (left, open) = (latch.remaining(), latch.is_open());
                let begun_after = begun.load(Ordering::SeqCst);
                assert!(
                    left <= total - done_before,
                    "{left} left, but {done_before} of {total} done"
                );
                assert!(
                    left >= total - begun_after,
                    "{left} left, but {begun_after} of {total} begun"
                );
                if open {
                    assert_eq!(begun_after, total, "open too early");
                    break;
                }
                // All counts done and still closed would be a count lost.
                assert!(done_before < total, "never opened");
                thread::yield_now();
            }
        });
    });
    assert!(latch.is_open());
    assert_eq!(latch.remaining(), 0);
}

#[test]
fn exact_for_two_to_eight_threads() {
    within_limit(|| {
        for threads in 2..=8 {
            count_down_together(threads, Wait::Adaptive, true);
            count_down_together(threads, Wait::Adaptive, false);
        }
    });
}

#[test]
fn exact_for_every_way_of_waiting() {
    within_limit(|| {
        for wait in WAITS {
            count_down_together(4, wait, true);
        }
    });
}

#[test]
fn counts_of_a_thread_that_has_ended_count() {
    within_limit(|| {
        // No thread may keep a remainder for itself that would be missing when it has gone.
        let latch = Latch::new(1_001);
        for _ in 0..10 {
            thread::scope(|scope| {
                scope.spawn(|| (0..100).for_each(|_| latch.count_down()));
            });
        }
        assert_eq!(latch.remaining(), 1);
        assert!(!latch.is_open());
        latch.count_down();
        assert!(latch.is_open());
    });
}

#[test]
fn what_was_written_before_the_count_is_seen_after_the_wait() {
    within_limit(|| {
        for _ in 0..200 {
            let latch = Latch::new(3);
            let written = [const { AtomicUsize::new(0) }; 3];
            thread::scope(|scope| {
                for cell in &written {
                    let latch = &latch;
                    scope.spawn(move || {
                        cell.store(1, Ordering::Relaxed);
                        latch.count_down();
                    });
                }
                latch.wait();
                assert!(written.iter().all(|cell| cell.load(Ordering::Relaxed) == 1));
            });
        }
    });
}
