//! Models of the property: every interleaving of a few reads and sets.
//!
//! Each value is a cell that its readers read and its drop writes, so that loom finds a drop that
//! comes too early, or without the reader's doings being visible to it; and it counts its drops, so
//! that the model finds one that comes too late. Both fences are full ones here: what the light one
//! relies on is the subject of the store buffer machine in `tests/it/property/store_buffers.rs`.
//!
//! Whatever is to happen at the same time happens in threads that were spawned: loom hardly searches
//! for switches away from the thread that runs the model.

use loom::model::Builder;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;
use tamtam_wait::seam::UnsafeCell;

use super::hazard::Registry;
use super::pace::Pace;
use super::{Properties, Property};
use crate::{Event, Select};

/// Bounds the search to three switches away from a thread that could go on.
fn model(program: impl Fn() + Sync + Send + 'static) {
    bounded_model(3, program);
}

/// For programs of three threads: two such switches, so that they end in seconds.
fn wide_model(program: impl Fn() + Sync + Send + 'static) {
    bounded_model(2, program);
}

fn bounded_model(preemptions: usize, program: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 20_000;
    builder.check(program);
}

/// Each replacement comes a short time after the one before, or a long time, in every order.
const PLANS: [&[bool]; 4] = [
    &[false, false],
    &[true, true],
    &[false, true],
    &[true, false],
];

/// How many values have been dropped; no part of the model, since it is there to be checked alone.
type Drops = std::sync::Arc<std::sync::atomic::AtomicUsize>;

fn count(drops: &Drops) -> usize {
    drops.load(std::sync::atomic::Ordering::SeqCst)
}

struct Value {
    number: UnsafeCell<u32>,
    drops: Drops,
}

// SAFETY: the cell is written by the drop alone; whether readers are gone then is what the models
// find out.
unsafe impl Sync for Value {}

impl Value {
    fn number(&self) -> u32 {
        // SAFETY: this reads while loom watches: it reports an access that is not ordered before the drop.
        self.number.with(|number| unsafe { *number })
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        // SAFETY: nobody else can see a value that is being dropped, or loom reports it.
        self.number.with_mut(|number| unsafe { *number = u32::MAX });
        self.drops.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }
}

/// A property whose values have the numbers 0, 1 and 2.
struct Scene {
    property: Property<Value>,
    registry: Registry,
    drops: Drops,
    /// All are made before the threads start, since addresses decide what happens: a program in which
    /// a value gets, or does not get, the address of an earlier one is another one each time.
    values: std::sync::Mutex<[Option<Arc<Value>>; 3]>,
}

impl Scene {
    fn new(plan: &'static [bool]) -> Arc<Self> {
        Arc::new(Self::in_registry(plan, Registry::new()))
    }

    fn in_registry(plan: &'static [bool], registry: Registry) -> Self {
        let drops = Drops::default();
        let value = |number| Value {
            number: UnsafeCell::new(number),
            drops: drops.clone(),
        };
        Scene {
            values: std::sync::Mutex::new([
                None,
                Some(Arc::new(value(1))),
                Some(Arc::new(value(2))),
            ]),
            property: Property::with(value(0), Pace::planned(plan), registry.clone()),
            registry,
            drops,
        }
    }

    fn value(&self, number: u32) -> Arc<Value> {
        self.values.lock().unwrap()[number as usize].take().unwrap()
    }

    fn set(&self, number: u32) {
        drop(self.property.publish(self.value(number), None));
    }

    fn get(&self) -> u32 {
        self.property.read(Value::number)
    }

    /// When all threads are done: the latest value is there, and all others were dropped.
    fn check(&self, sets: u32) {
        assert_eq!(self.property.version(), u64::from(sets));
        assert_eq!(count(&self.drops), sets as usize);
        assert_ne!(self.get(), u32::MAX);
        self.registry.assert_empty();
    }
}

fn spawn(scene: &Arc<Scene>, work: fn(&Scene)) -> thread::JoinHandle<()> {
    let scene = scene.clone();
    thread::spawn(move || work(&scene))
}

fn join_all(threads: impl IntoIterator<Item = thread::JoinHandle<()>>) {
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Runs these threads with each plan, and checks at the end.
fn threads(bound: usize, sets: u32, works: &'static [fn(&Scene)]) {
    for plan in PLANS {
        bounded_model(bound, move || {
            let scene = Scene::new(plan);
            join_all(
                works
                    .iter()
                    .map(|work| spawn(&scene, *work))
                    .collect::<Vec<_>>(),
            );
            scene.check(sets);
        });
    }
}

fn two_sets(scene: &Scene) {
    scene.set(1);
    scene.set(2);
}

fn one_read(scene: &Scene) {
    assert!(scene.get() <= 2);
}

fn two_reads(scene: &Scene) {
    let first = scene.get();
    let second = scene.get();
    assert!(first <= second && second <= 2);
}

#[test]
fn loom_property_reads_and_sets() {
    // Three: both sides may look for one share at the same time.
    threads(3, 2, &[two_sets, two_reads]);
}

#[test]
fn loom_property_two_readers_of_one_value() {
    threads(2, 2, &[two_sets, one_read, two_reads]);
}

#[test]
fn loom_property_two_writers() {
    threads(
        2,
        2,
        &[|scene| scene.set(1), |scene| scene.set(2), one_read],
    );
}

#[test]
fn loom_property_snapshot() {
    threads(
        2,
        2,
        &[two_sets, |scene| {
            let snapshot = scene.property.snapshot();
            let number = snapshot.number();
            assert!(scene.get() >= number);
            assert_eq!(snapshot.number(), number);
        }],
    );
}

#[test]
fn loom_property_a_set_within_a_read() {
    threads(
        2,
        2,
        &[
            |scene| scene.set(1),
            |scene| {
                scene.property.read(|value| {
                    let outer = value.number();
                    scene.set(2);
                    assert!(scene.get() > 0);
                    assert_eq!(value.number(), outer);
                });
            },
        ],
    );
}

#[test]
fn loom_property_calms_down() {
    threads(
        2,
        2,
        &[two_sets, |scene| {
            scene.get();
            scene.property.published.calm_down();
            scene.get();
        }],
    );
    threads(
        2,
        2,
        &[two_sets, two_reads, |scene| {
            scene.property.published.calm_down();
        }],
    );
}

/// Two properties whose readers use the same slots.
#[test]
fn loom_property_beside_another_one() {
    for (plan, other_plan) in [
        (PLANS[0], PLANS[0]),
        (PLANS[1], PLANS[1]),
        (PLANS[0], PLANS[1]),
        (PLANS[1], PLANS[0]),
    ] {
        wide_model(move || {
            let registry = Registry::new();
            let one = Arc::new(Scene::in_registry(plan, registry.clone()));
            let other = Arc::new(Scene::in_registry(other_plan, registry));
            let (to_one, to_other) = (one.clone(), other.clone());
            join_all([
                thread::spawn({
                    let (one, other) = (one.clone(), other.clone());
                    move || {
                        let first = one.get();
                        other.get();
                        assert!(one.get() >= first);
                    }
                }),
                thread::spawn(move || to_one.set(1)),
                thread::spawn(move || to_other.set(1)),
            ]);
            one.check(1);
            other.check(1);
        });
    }
}

/// Who knows that a set has returned never sees an older value.
#[test]
fn loom_property_is_never_stale() {
    for plan in PLANS {
        model(move || {
            let scene = Scene::new(plan);
            let done = Arc::new(AtomicBool::new(false));
            let writer = {
                let (scene, done) = (scene.clone(), done.clone());
                thread::spawn(move || {
                    scene.set(1);
                    done.store(true, Ordering::Release);
                    scene.set(2);
                })
            };
            let reader = {
                let scene = scene.clone();
                thread::spawn(move || {
                    let is_done = done.load(Ordering::Acquire);
                    let (version, value) = scene.property.versioned();
                    assert!(u64::from(value.number()) >= version);
                    assert!(!is_done || version >= 1);
                })
            };
            join_all([writer, reader]);
            scene.check(2);
        });
    }
}

/// Who learns of a version alone, without reading the value, sees what was done before it was set.
#[test]
fn loom_property_a_version_publishes() {
    struct Beside(UnsafeCell<u32>);
    // SAFETY: written before the set, and read after the version was seen; whether that is enough is
    // what the model finds out.
    unsafe impl Sync for Beside {}
    for plan in [PLANS[0], PLANS[1]] {
        model(move || {
            let scene = Scene::new(plan);
            let beside = Arc::new(Beside(UnsafeCell::new(0)));
            let writer = {
                let (scene, beside) = (scene.clone(), beside.clone());
                thread::spawn(move || {
                    // SAFETY: nobody reads it before the version is 1.
                    beside.0.with_mut(|number| unsafe { *number = 7 });
                    scene.set(1);
                })
            };
            let reader = {
                let scene = scene.clone();
                thread::spawn(move || {
                    if scene.property.version() == 1 {
                        // SAFETY: nobody writes it after that.
                        assert_eq!(beside.0.with(|number| unsafe { *number }), 7);
                    }
                })
            };
            join_all([writer, reader]);
            scene.check(1);
        });
    }
}

#[test]
fn loom_property_wait_changed_meets_sets() {
    for plan in [PLANS[0], PLANS[1]] {
        model(move || {
            let scene = Scene::new(plan);
            let writer = spawn(&scene, two_sets);
            let waiter = spawn(&scene, |scene| {
                let mut seen = 0;
                while seen < 2 {
                    let next = scene.property.wait_changed(seen);
                    assert!(next > seen);
                    assert!(u64::from(scene.get()) >= next);
                    seen = next;
                }
            });
            join_all([writer, waiter]);
            scene.check(2);
        });
    }
}

#[test]
fn loom_property_a_change_is_selected() {
    model(|| {
        let scene = Scene::new(&[false]);
        let writer = spawn(&scene, |scene| scene.set(1));
        let waiter = spawn(&scene, |scene| {
            let never = Event::manual();
            let changed = scene.property.changed_since(0);
            let mut select = Select::new_biased();
            select.wait(&never);
            let change = select.wait(&changed);
            let selected = select.select();
            assert_eq!(selected.index(), change);
            selected.wait(&changed);
            assert_eq!(scene.get(), 1);
        });
        join_all([writer, waiter]);
        scene.check(1);
    });
}

#[test]
fn loom_property_one_compare_and_set_wins() {
    for plan in [PLANS[0], PLANS[1]] {
        model(move || {
            let scene = Scene::new(plan);
            let contenders: Vec<_> = [1, 2]
                .into_iter()
                .map(|number| {
                    let scene = scene.clone();
                    thread::spawn(move || {
                        match scene.property.publish(scene.value(number), Some(0)) {
                            Ok(replaced) => {
                                assert_eq!(replaced.version, 1);
                                drop(replaced);
                                assert_eq!(scene.get(), number);
                                true
                            }
                            Err(refused) => {
                                assert_eq!((refused.version, refused.new.number()), (1, number));
                                assert_ne!(scene.get(), number);
                                false
                            }
                        }
                    })
                })
                .collect();
            let won = contenders
                .into_iter()
                .map(|contender| contender.join().unwrap())
                .filter(|&won| won)
                .count();
            assert_eq!(won, 1);
            // The first value, and the one that was refused.
            assert_eq!(count(&scene.drops), 2);
            assert_eq!(scene.property.version(), 1);
            scene.registry.assert_empty();
        });
    }
}

#[test]
fn loom_property_no_update_is_lost() {
    for plan in [PLANS[0], PLANS[1]] {
        model(move || {
            let property = Arc::new(Property::with(0_u32, Pace::planned(plan), Registry::new()));
            // Keeps each value's address from being used again, see `Scene::values`.
            let kept = Arc::new(std::sync::Mutex::new(Vec::new()));
            let updaters = [0, 1].map(|_| {
                let (property, kept) = (property.clone(), kept.clone());
                thread::spawn(move || {
                    property.update(|number| {
                        let base = property.snapshot();
                        kept.lock().unwrap().push(base);
                        number + 1
                    });
                })
            });
            join_all(updaters);
            assert_eq!(property.get(), 2);
            assert_eq!(property.version(), 2);
        });
    }
}

#[test]
fn loom_properties_wait_for_meets_set() {
    model(|| {
        let properties = Arc::new(Properties::new());
        let setter = {
            let properties = properties.clone();
            thread::spawn(move || properties.set("name", 7_u32).unwrap())
        };
        let waiter = {
            let properties = properties.clone();
            thread::spawn(move || assert_eq!(properties.wait_for::<u32>("name").unwrap().get(), 7))
        };
        join_all([setter, waiter]);
        assert_eq!(properties.get("name"), Ok(7_u32));
    });
}
