//! Models of the latch: every interleaving of a few counts, with leases of one or two counts and
//! two stripes. Threads 1 and 3 want the same stripe.

use loom::model::Builder;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use super::Latch;

/// Bounds the search: two switches away from a thread that could go on, unless the environment
/// says otherwise. Three take half a minute.
fn model(program: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(2));
    builder.check(program);
}

/// A latch with stripes and, for each counting thread, what it counts and how far it is.
struct Scene {
    latch: Latch,
    /// Written by each thread before its last count, without any ordering of its own.
    traces: [AtomicU64; 4],
    /// Counts begun, without any ordering of its own.
    begun: AtomicU64,
    total: u64,
}

impl Scene {
    fn new(latch: Latch, total: u64) -> Arc<Self> {
        Arc::new(Scene {
            latch,
            traces: core::array::from_fn(|_| AtomicU64::new(0)),
            begun: AtomicU64::new(0),
            total,
        })
    }

    /// Thread `number` counts by these amounts.
    fn count(&self, number: u32, amounts: &[u64]) {
        for &by in amounts {
            self.traces[number as usize].fetch_add(by, Ordering::Relaxed);
            self.begun.fetch_add(by, Ordering::Relaxed);
            self.latch.count_as(number, by);
        }
    }

    /// After the latch was seen open: everything was counted, and every trace is visible.
    fn check_open(&self) {
        assert_eq!(self.latch.remaining(), 0);
        assert_eq!(self.begun.load(Ordering::Relaxed), self.total);
        let traces: u64 = self
            .traces
            .iter()
            .map(|trace| trace.load(Ordering::Relaxed))
            .sum();
        assert_eq!(traces, self.total);
    }
}

/// Starts thread `number`, which counts by these amounts.
fn spawn(scene: &Arc<Scene>, number: u32, amounts: &'static [u64]) -> thread::JoinHandle<()> {
    let scene = scene.clone();
    thread::spawn(move || scene.count(number, amounts))
}

/// Counters with their amounts, and a waiter.
fn counters_and_waiter(amounts: &'static [&'static [u64]]) {
    let total: u64 = amounts.iter().flat_map(|amounts| amounts.iter()).sum();
    model(move || {
        let scene = Scene::new(Latch::striped(total), total);
        let counting: Vec<_> = (1..)
            .zip(amounts)
            .map(|(number, amounts)| spawn(&scene, number, amounts))
            .collect();
        scene.latch.wait();
        scene.check_open();
        counting
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        assert!(scene.latch.is_open());
    });
}

/// Counters that are joined: whatever the interleaving, no count may be lost or made twice.
fn counters_joined(amounts: &'static [&'static [u64]], more: u64) {
    let total: u64 = amounts.iter().flat_map(|amounts| amounts.iter()).sum();
    model(move || {
        let scene = Scene::new(Latch::striped(total + more), total);
        let counting: Vec<_> = (2..)
            .zip(&amounts[1..])
            .map(|(number, amounts)| spawn(&scene, number, amounts))
            .collect();
        scene.count(1, amounts[0]);
        counting
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        assert_eq!(scene.latch.remaining(), more);
        assert_eq!(scene.latch.is_open(), more == 0);
        assert_eq!(scene.begun.load(Ordering::Relaxed), scene.total);
    });
}

#[test]
fn loom_latch_two_counters_and_a_waiter() {
    counters_and_waiter(&[&[1, 1, 1], &[1, 1]]);
}

#[test]
fn loom_latch_without_stripes() {
    model(|| {
        let scene = Scene::new(Latch::new(3), 3);
        let counting = [spawn(&scene, 1, &[1, 1]), spawn(&scene, 2, &[1])];
        scene.latch.wait();
        scene.check_open();
        counting
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn loom_latch_settlement_meets_a_count() {
    // Thread 1 has a lease before thread 2 starts, and uses it while thread 2 settles.
    model(|| {
        let scene = Scene::new(Latch::striped(6), 6);
        scene.count(1, &[1]);
        let other = spawn(&scene, 2, &[1, 1, 1]);
        scene.count(1, &[1, 1]);
        other.join().unwrap();
        assert!(scene.latch.is_open());
        scene.check_open();
    });
}

#[test]
fn loom_latch_nothing_is_lost_before_the_end() {
    counters_joined(&[&[1, 1, 1], &[1, 1]], 1);
    counters_joined(&[&[1, 1], &[1, 1]], 3);
}

#[test]
fn loom_latch_three_counters_and_two_stripes() {
    counters_joined(&[&[1], &[1, 1], &[1, 1]], 0);
    counters_joined(&[&[1, 1], &[1], &[1]], 1);
}

#[test]
fn loom_latch_amounts_are_mixed() {
    counters_and_waiter(&[&[2, 1], &[3, 1]]);
    counters_joined(&[&[1, 3], &[2, 0, 1]], 2);
}

#[test]
fn loom_latch_a_thread_leaves_with_a_lease() {
    model(|| {
        let scene = Scene::new(Latch::striped(7), 7);
        // Both begin with a lease that they do not use up; the first ends, the second sleeps.
        let leaves = spawn(&scene, 2, &[1]);
        let counts = spawn(&scene, 3, &[1]);
        scene.count(1, &[1]);
        leaves.join().unwrap();
        counts.join().unwrap();
        assert_eq!(scene.latch.remaining(), 4);
        scene.count(1, &[1, 1, 1, 1]);
        assert!(scene.latch.is_open());
        scene.check_open();
    });
}

#[test]
fn loom_latch_a_number_passes_to_a_new_thread() {
    model(|| {
        let scene = Scene::new(Latch::striped(6), 6);
        let old_and_new = {
            let scene = scene.clone();
            thread::spawn(move || {
                spawn(&scene, 2, &[1, 1]).join().unwrap();
                scene.count(2, &[1, 1]);
            })
        };
        scene.count(1, &[1, 1]);
        scene.latch.wait();
        scene.check_open();
        old_and_new.join().unwrap();
    });
}

#[test]
fn loom_latch_remaining_is_within_its_bounds() {
    model(|| {
        let scene = Scene::new(Latch::striped(5), 5);
        let counting = [spawn(&scene, 1, &[1, 1, 1]), spawn(&scene, 2, &[1])];
        let left = scene.latch.remaining();
        // What it saw counted has begun.
        assert!(left >= 5 - scene.begun.load(Ordering::Relaxed));
        assert!(!scene.latch.is_open());
        counting
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        assert_eq!(scene.latch.remaining(), 1);
    });
}

#[test]
fn loom_latch_counting_too_much_is_harmless() {
    model(|| {
        let scene = Scene::new(Latch::striped(4), 7);
        let other = spawn(&scene, 2, &[1, 3]);
        scene.count(1, &[2, 1]);
        other.join().unwrap();
        assert!(scene.latch.is_open());
        assert_eq!(scene.latch.remaining(), 0);
    });
}
