//! Models of the latch: every interleaving of a few counts, with leases of one or two counts and
//! two stripes. Threads 1 and 3 want the same stripe.
//!
//! Whatever is to happen at the same time happens in threads that were spawned: loom hardly searches
//! for switches away from the thread that runs the model.

use loom::model::Builder;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use super::Latch;

/// Bounds the search to two switches away from a thread that could go on, unless the environment
/// says otherwise.
fn model(program: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(2));
    builder.check(program);
}

/// A latch and how far each counting thread is.
struct Scene {
    latch: Latch,
    /// What each thread has begun to count, without any ordering of its own.
    traces: [AtomicU64; 4],
    total: u64,
}

impl Scene {
    fn new(latch: Latch, total: u64) -> Arc<Self> {
        Arc::new(Scene {
            latch,
            traces: core::array::from_fn(|_| AtomicU64::new(0)),
            total,
        })
    }

    /// Thread `number` counts by these amounts.
    fn count(&self, number: u32, amounts: &[u64]) {
        let trace = &self.traces[number as usize];
        for &by in amounts {
            trace.store(trace.load(Ordering::Relaxed) + by, Ordering::Relaxed);
            self.latch.count_as(number, by);
        }
    }

    /// What is known here of all counts begun.
    fn begun(&self) -> u64 {
        self.traces
            .iter()
            .map(|trace| trace.load(Ordering::Relaxed))
            .sum()
    }

    /// After the latch was seen open: every count has begun, and what was written before is seen.
    fn check_open(&self) {
        assert_eq!(self.begun(), self.total);
    }
}

/// A thread's number and what it counts.
type Part = (u32, &'static [u64]);

fn spawn(scene: &Arc<Scene>, (number, amounts): Part) -> thread::JoinHandle<()> {
    let scene = scene.clone();
    thread::spawn(move || scene.count(number, amounts))
}

fn spawn_all(scene: &Arc<Scene>, parts: &'static [Part]) -> Vec<thread::JoinHandle<()>> {
    parts.iter().map(|&part| spawn(scene, part)).collect()
}

fn join_all(threads: Vec<thread::JoinHandle<()>>) {
    for thread in threads {
        thread.join().unwrap();
    }
}

fn sum(parts: &[Part]) -> u64 {
    parts.iter().flat_map(|(_, amounts)| amounts.iter()).sum()
}

/// Counters with their amounts, and a waiter.
fn counters_and_waiter(parts: &'static [Part]) {
    let total = sum(parts);
    model(move || {
        let scene = Scene::new(Latch::striped(total), total);
        let counting = spawn_all(&scene, parts);
        scene.latch.wait();
        scene.check_open();
        join_all(counting);
        assert!(scene.latch.is_open());
    });
}

/// Counters, and one who looks once and never waits.
///
/// Waking somebody takes a fence that exists in the models only, and which would make everything
/// visible that any thread did before its last fence: only who merely looks can tell whether the
/// counts themselves publish what was done before them.
///
/// Thread 1 has made one count before the others start. `switches` bounds the search.
fn counters_and_observer(switches: usize, parts: &'static [Part]) {
    let total = 1 + sum(parts);
    let mut builder = Builder::new();
    builder.preemption_bound = Some(switches);
    builder.check(move || {
        let scene = Scene::new(Latch::striped(total), total);
        scene.count(1, &[1]);
        let mut threads = spawn_all(&scene, parts);
        let observed = scene.clone();
        threads.push(thread::spawn(move || {
            if observed.latch.is_open() {
                observed.check_open();
            }
        }));
        join_all(threads);
        assert!(scene.latch.is_open());
    });
}

/// Counters that are joined: whatever the interleaving, no count may be lost or made twice.
fn counters_joined(parts: &'static [Part], more: u64) {
    let total = sum(parts);
    model(move || {
        let scene = Scene::new(Latch::striped(total + more), total);
        join_all(spawn_all(&scene, parts));
        assert_eq!(scene.latch.remaining(), more);
        assert_eq!(scene.latch.is_open(), more == 0);
        assert_eq!(scene.begun(), scene.total);
    });
}

#[test]
fn loom_latch_two_counters_and_a_waiter() {
    counters_and_waiter(&[(1, &[1, 1, 1]), (2, &[1, 1])]);
}

#[test]
fn loom_latch_counters_and_an_observer() {
    counters_and_observer(2, &[(1, &[1, 1]), (2, &[1, 1])]);
}

#[test]
fn loom_latch_a_count_in_the_pool_and_an_observer() {
    // Thread 3 finds its stripe taken.
    counters_and_observer(2, &[(1, &[1, 1]), (3, &[1])]);
}

#[test]
fn loom_latch_a_settler_that_counts_nothing() {
    // So that another thread may open the latch before the settler is done.
    counters_and_observer(1, &[(1, &[1]), (2, &[0]), (3, &[1])]);
}

#[test]
fn loom_latch_without_stripes() {
    model(|| {
        let scene = Scene::new(Latch::new(3), 3);
        let counting = spawn_all(&scene, &[(1, &[1, 1]), (2, &[1])]);
        scene.latch.wait();
        scene.check_open();
        join_all(counting);
    });
}

#[test]
fn loom_latch_settlement_meets_a_count() {
    // Thread 1 has a lease before thread 2 starts, and uses it while thread 2 settles.
    model(|| {
        let scene = Scene::new(Latch::striped(6), 6);
        scene.count(1, &[1]);
        join_all(spawn_all(&scene, &[(1, &[1, 1]), (2, &[1, 1, 1])]));
        assert!(scene.latch.is_open());
        scene.check_open();
    });
}

#[test]
fn loom_latch_nothing_is_lost_before_the_end() {
    counters_joined(&[(1, &[1, 1, 1]), (2, &[1, 1])], 1);
    counters_joined(&[(1, &[1, 1]), (2, &[1, 1])], 3);
}

#[test]
fn loom_latch_three_counters_and_two_stripes() {
    counters_joined(&[(1, &[1]), (2, &[1]), (3, &[1, 1])], 0);
    counters_joined(&[(1, &[1, 1]), (2, &[1]), (3, &[1])], 1);
}

#[test]
fn loom_latch_amounts_are_mixed() {
    counters_and_waiter(&[(1, &[2, 1]), (2, &[3, 1])]);
    counters_joined(&[(1, &[1, 3]), (2, &[2, 0, 1])], 2);
}

#[test]
fn loom_latch_a_thread_leaves_with_a_lease() {
    model(|| {
        let scene = Scene::new(Latch::striped(7), 7);
        // All begin with what they do not use up, one after the other or together, and end.
        join_all(spawn_all(&scene, &[(1, &[1]), (2, &[1]), (3, &[1])]));
        assert_eq!(scene.latch.remaining(), 4);
        assert!(!scene.latch.is_open());
        // Another thread has the leases of those that have ended counted out.
        spawn(&scene, (3, &[1, 1, 1, 1])).join().unwrap();
        assert!(scene.latch.is_open());
        scene.check_open();
    });
}

#[test]
fn loom_latch_a_number_passes_to_a_new_thread() {
    model(|| {
        let scene = Scene::new(Latch::striped(6), 6);
        let heirs = scene.clone();
        let old_and_new = thread::spawn(move || {
            spawn(&heirs, (2, &[1, 1])).join().unwrap();
            heirs.count(2, &[1, 1]);
        });
        let other = spawn(&scene, (1, &[1, 1]));
        scene.latch.wait();
        scene.check_open();
        join_all(vec![old_and_new, other]);
    });
}

#[test]
fn loom_latch_remaining_is_within_its_bounds() {
    model(|| {
        let scene = Scene::new(Latch::striped(5), 5);
        let mut threads = spawn_all(&scene, &[(1, &[1, 1, 1]), (2, &[1])]);
        let looking = scene.clone();
        threads.push(thread::spawn(move || {
            let left = looking.latch.remaining();
            // What it saw counted has begun.
            assert!(left >= 5 - looking.begun());
            assert!(!looking.latch.is_open());
        }));
        join_all(threads);
        assert_eq!(scene.latch.remaining(), 1);
    });
}

#[test]
fn loom_latch_counting_too_much_is_harmless() {
    model(|| {
        let scene = Scene::new(Latch::striped(4), 7);
        join_all(spawn_all(&scene, &[(1, &[2, 1]), (2, &[1, 3])]));
        assert!(scene.latch.is_open());
        assert_eq!(scene.latch.remaining(), 0);
    });
}
