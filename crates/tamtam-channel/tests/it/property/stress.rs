//! Readers and writers at full speed: nothing torn, nothing stale, nothing leaked.
//!
//! Each test runs for about half a second; `TAMTAM_SOAK_SECONDS` makes it longer.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Drops, LIMIT, Random, Token, soak, within};
use tamtam_channel::Property;

/// A value that shows if it was torn or read after its end.
struct Checked {
    writer: usize,
    number: u64,
    words: [u64; 14],
    heap: Box<u64>,
    _token: Token,
}

impl Checked {
    fn new(writer: usize, number: u64, drops: &Drops) -> Self {
        Checked {
            writer,
            number,
            words: core::array::from_fn(|index| number.wrapping_mul(index as u64 + 3)),
            heap: Box::new(!number),
            _token: drops.token(),
        }
    }

    fn check(&self) -> (usize, u64) {
        assert_eq!(*self.heap, !self.number, "a value that is gone");
        for (index, word) in self.words.iter().enumerate() {
            let expected = self.number.wrapping_mul(index as u64 + 3);
            assert_eq!(*word, expected, "a torn value");
        }
        (self.writer, self.number)
    }
}

impl Drop for Checked {
    fn drop(&mut self) {
        // A reader that comes too late sees it.
        self.words = [u64::MAX; 14];
        *self.heap = self.number;
    }
}

struct Scene {
    properties: [Property<Checked>; 2],
    /// The last number that each writer has set, stored after the set.
    published: [AtomicU64; 2],
    drops: Drops,
    made: AtomicU64,
    stop: AtomicBool,
}

impl Scene {
    /// Each writer has a property of its own, so that its numbers only grow.
    fn write(&self, writer: usize, pace: impl Fn(&mut Random)) {
        let mut random = Random::new(writer as u64 + 1);
        let property = &self.properties[writer];
        let mut number = 0;
        while !self.stop.load(Ordering::Relaxed) {
            number += 1;
            self.made.fetch_add(1, Ordering::Relaxed);
            let value = Checked::new(writer, number, &self.drops);
            match random.below(8) {
                0 => assert_eq!(property.replace(value).check(), (writer, number - 1)),
                1 => {
                    let expected = property.version();
                    assert!(property.compare_and_set(expected, value).is_ok());
                }
                2 => {
                    // Within a read of the value that it replaces.
                    property.read(|old| {
                        property.set(value);
                        assert_eq!(old.check(), (writer, number - 1));
                    });
                }
                _ => property.set(value),
            }
            self.published[writer].store(number, Ordering::Release);
            pace(&mut random);
        }
    }

    fn read(&self, seed: u64) -> u64 {
        let mut random = Random::new(seed + 100);
        let mut last = [0; 2];
        let mut kept = Vec::new();
        let mut reads = 0;
        // At least once: on a loaded machine a thread may come to it only when the time is over.
        while reads == 0 || !self.stop.load(Ordering::Relaxed) {
            let index = random.below(2) as usize;
            let property = &self.properties[index];
            let published = self.published[index].load(Ordering::Acquire);
            let number = match random.below(16) {
                0 => {
                    let value = property.snapshot();
                    let number = value.check().1;
                    kept.push(value);
                    if kept.len() > 8 {
                        kept.swap_remove(random.below(8) as usize).check();
                    }
                    number
                }
                1 => {
                    let (version, value) = property.versioned();
                    assert!(value.number >= version);
                    value.check().1
                }
                2 => property.read(|outer| {
                    let other = &self.properties[1 - index];
                    other.read(|inner| assert_eq!(inner.check().0, 1 - index));
                    let again = property.read(|inner| inner.check().1);
                    assert!(again >= outer.number);
                    outer.check().1
                }),
                3 => {
                    let before = property.version();
                    let changed = property.wait_changed_timeout(before, Duration::from_micros(20));
                    assert!(changed.is_ok_and(|version| version > before) || changed.is_err());
                    property.read(|value| value.check().1)
                }
                4 => property.read(|value| {
                    thread::yield_now();
                    value.check().1
                }),
                _ => property.read(|value| {
                    assert_eq!(value.writer, index);
                    value.check().1
                }),
            };
            assert!(number >= published, "stale: {number} after {published}");
            assert!(number >= last[index], "backwards: {number}");
            last[index] = number;
            reads += 1;
        }
        reads
    }
}

fn run(readers: u64, pace: fn(&mut Random)) {
    let time = soak(Duration::from_millis(500));
    within(LIMIT + time, move || {
        let drops = Drops::default();
        let scene = Scene {
            properties: [0, 1].map(|writer| Property::new(Checked::new(writer, 0, &drops))),
            published: [AtomicU64::new(0), AtomicU64::new(0)],
            made: AtomicU64::new(2),
            stop: AtomicBool::new(false),
            drops: drops.clone(),
        };
        thread::scope(|scope| {
            for writer in 0..2 {
                let scene = &scene;
                scope.spawn(move || scene.write(writer, pace));
            }
            let reading: Vec<_> = (0..readers)
                .map(|seed| {
                    let scene = &scene;
                    scope.spawn(move || scene.read(seed))
                })
                .collect();
            let start = Instant::now();
            while start.elapsed() < time {
                // Threads that come and go, with records of their own.
                thread::scope(|brief| {
                    brief.spawn(|| scene.properties[0].read(Checked::check));
                });
                thread::yield_now();
            }
            scene.stop.store(true, Ordering::Relaxed);
            let reads: u64 = reading
                .into_iter()
                .map(|reader| reader.join().unwrap())
                .sum();
            assert!(reads > 0);
        });
        // Read when the writers have ended, too: each may be in the middle of a last one when it is told to stop.
        let made = scene.made.load(Ordering::Relaxed);
        // The latest two are left, for the moment.
        let deadline = Instant::now() + LIMIT;
        while scene.drops.count() as u64 != made - 2 {
            assert!(Instant::now() < deadline, "values were left behind");
            thread::yield_now();
        }
        drop(scene);
        assert_eq!(drops.count() as u64, made);
    });
}

#[test]
fn writers_at_full_speed() {
    run(2, |_| ());
}

#[test]
fn writers_that_give_way() {
    run(3, |_| thread::yield_now());
}

/// Sets about a millisecond apart: the mode changes all the time.
#[test]
fn writers_on_the_verge_of_being_seldom() {
    run(2, |random| {
        let pause = Duration::from_micros(500 + random.below(1_000));
        let start = Instant::now();
        while start.elapsed() < pause {
            thread::yield_now();
        }
    });
}

/// All threads on one processor, where a reader is interrupted anywhere.
#[test]
#[cfg(target_os = "linux")]
fn on_one_core() {
    thread::spawn(|| {
        let mut cores = rustix::thread::sched_getaffinity(None).unwrap();
        let first = (0..rustix::thread::CpuSet::MAX_CPU)
            .find(|&core| cores.is_set(core))
            .unwrap();
        cores.clear();
        cores.set(first);
        rustix::thread::sched_setaffinity(None, &cores).unwrap();
        // Threads begin where the one is that starts them.
        run(3, |_| ());
        run(2, |_| thread::yield_now());
    })
    .join()
    .unwrap();
}
