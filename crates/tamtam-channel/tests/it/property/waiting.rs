//! Waiting for a change.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::property::WAITS;
use crate::support::{LONG, SHORT, thread_number, until_asleep, within_limit};
use tamtam_channel::{Event, Property, Select, Wait, WaitTimeoutError, select, unbounded};

#[test]
fn a_change_that_came_already_is_not_waited_for() {
    let property = Property::new('a');
    property.set('b');
    assert_eq!(property.wait_changed(0), 1);
    assert_eq!(property.wait_changed_timeout(0, Duration::ZERO), Ok(1));
    assert_eq!(property.wait_changed_deadline(0, Instant::now()), Ok(1));
    // Any other version will do.
    assert_eq!(property.wait_changed(99), 1);
}

#[test]
fn timeouts_say_so_after_the_time() {
    within_limit(|| {
        for wait in WAITS {
            let property = Property::new(0).with_wait(wait);
            property.set(1);
            let start = Instant::now();
            assert_eq!(
                property.wait_changed_timeout(1, SHORT),
                Err(WaitTimeoutError)
            );
            assert!(start.elapsed() >= SHORT);
            let deadline = Instant::now() + SHORT;
            assert_eq!(
                property.wait_changed_deadline(1, deadline),
                Err(WaitTimeoutError)
            );
            assert!(Instant::now() >= deadline);
        }
    });
}

#[test]
fn every_way_of_setting_wakes_all_who_wait() {
    within_limit(|| {
        for wait in WAITS {
            let property = Property::new(0).with_wait(wait);
            let ways: [&(dyn Fn(u64) + Sync); 4] = [
                &|number| property.set(number),
                &|number| drop(property.replace(number)),
                &|number| assert_eq!(property.update(|_| number), number),
                &|number| assert_eq!(property.compare_and_set(number - 1, number), Ok(number)),
            ];
            let seen: Vec<AtomicU64> = (0..3).map(|_| AtomicU64::new(0)).collect();
            let progress = Event::auto();
            thread::scope(|scope| {
                for mine in &seen {
                    let (property, progress) = (&property, &progress);
                    scope.spawn(move || {
                        let mut version = 0;
                        while version < 4 {
                            version = property.wait_changed(version);
                            assert!(property.get() >= version);
                            mine.store(version, Ordering::SeqCst);
                            progress.set();
                        }
                    });
                }
                for (number, way) in (1..).zip(ways) {
                    way(number);
                    let is_behind = |mine: &AtomicU64| mine.load(Ordering::SeqCst) < number;
                    while seen.iter().any(is_behind) {
                        progress.wait_timeout(LONG).unwrap();
                    }
                }
            });
        }
    });
}

/// A thread that sleeps is woken, also by a change that it does not care for.
#[test]
fn a_sleeper_is_woken_by_each_change() {
    within_limit(|| {
        let property = Property::new(0_u64).with_wait(Wait::Park);
        let (post, inbox) = unbounded();
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut version = 0;
                while version < 50 {
                    post.send(thread_number()).unwrap();
                    version = property.wait_changed(version);
                }
            });
            for number in 1..=50 {
                until_asleep(&[inbox.recv().unwrap()]);
                property.set(number);
            }
        });
    });
}

#[test]
fn a_change_is_selected_among_other_things() {
    within_limit(|| {
        let position = Property::new(0_u64);
        let quit = Event::manual();
        thread::scope(|scope| {
            scope.spawn(|| {
                (1..=1_000).for_each(|next| position.set(next));
                quit.set();
            });
            let (mut version, mut changes, mut latest) = (0, 0, 0);
            loop {
                let moved = position.changed_since(version);
                select! {
                    wait(moved) => {
                        let before = version;
                        version = position.version();
                        assert!(version > before);
                        let now = position.get();
                        assert!(now >= latest && now >= version);
                        latest = now;
                        changes += 1;
                    },
                    wait(quit) => break,
                    default(LONG) => panic!("neither a change nor the end"),
                }
            }
            assert!(changes <= 1_000);
            assert_eq!(position.get(), 1_000);
        });
    });
}

#[test]
fn a_change_can_be_looked_for() {
    let property = Property::new(0);
    let changed = property.changed_since(0);
    let mut select = Select::new();
    let index = select.wait(&changed);
    assert!(select.try_ready().is_err());
    assert!(select.try_select().is_err());
    assert!(select.ready_timeout(SHORT).is_err());
    property.set(1);
    property.set(2);
    assert_eq!(select.try_ready(), Ok(index));
    assert_eq!((changed.version(), changed.changed()), (2, 2));
    // It stays so: nothing is taken.
    for _ in 0..2 {
        let selected = select.select();
        assert_eq!(selected.index(), index);
        selected.wait(&changed);
    }
}

#[test]
fn a_selecting_sleeper_is_woken_in_both_ways() {
    within_limit(|| {
        let property = Property::new(0);
        let (post, inbox) = unbounded();
        thread::scope(|scope| {
            scope.spawn(|| {
                for version in 0..20 {
                    let changed = property.changed_since(version);
                    let mut select = Select::new();
                    select.wait(&changed);
                    post.send(thread_number()).unwrap();
                    if version % 2 == 0 {
                        assert_eq!(select.ready(), 0);
                    } else {
                        select.select().wait(&changed);
                    }
                }
            });
            for number in 1..=20 {
                until_asleep(&[inbox.recv().unwrap()]);
                property.set(number);
            }
        });
    });
}
