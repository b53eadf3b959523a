//! The latest value, its versions, and who may do what meanwhile.

use std::cell::Cell;
use std::error::Error;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::support::{Drops, within_limit};
use tamtam_channel::{Changed, CompareAndSetError, Event, Properties, Property};

#[test]
fn the_latest_value_is_read_in_each_way() {
    let property = Property::new(String::from("one"));
    assert_eq!(property.get(), "one");
    assert_eq!(property.read(String::len), 3);
    let snapshot = property.snapshot();
    property.set(String::from("three"));
    assert_eq!(*snapshot, "one");
    assert_eq!(property.get(), "three");
    assert_eq!(*property.replace(String::from("four")), "three");
    let (version, value) = property.versioned();
    assert_eq!((version, value.as_str()), (2, "four"));
    drop(value);
    assert_eq!(
        Arc::into_inner(property.into_inner()).as_deref(),
        Some("four")
    );
}

#[test]
fn it_begins_with_a_value() {
    assert_eq!(Property::<u32>::default().get(), 0);
    assert_eq!(Property::from('x').get(), 'x');
    assert_eq!(Property::from('x').version(), 0);
}

#[test]
fn the_version_counts_the_sets() {
    let property = Property::new(0);
    for number in 1..=100 {
        property.set(number);
        assert_eq!(property.version(), number);
    }
    assert_eq!(property.compare_and_set(100, 7), Ok(101));
    assert_eq!(property.update(|number| number * 2), 102);
    assert_eq!((property.version(), property.get()), (102, 14));
}

#[test]
fn compare_and_set_asks_for_the_version_and_gives_the_value_back() {
    let property = Property::new(Cell::new(1).into_inner());
    assert_eq!(property.compare_and_set(0, 2), Ok(1));
    let error = property.compare_and_set(0, 3).unwrap_err();
    assert_eq!(
        error,
        CompareAndSetError {
            version: 1,
            value: 3
        }
    );
    assert_eq!(
        error.to_string(),
        "the property was set by somebody else and has version 1 now"
    );
    // What is not `Debug` is shown all the same.
    let nothing = Property::new(Drops::default().token());
    let error = nothing.compare_and_set(9, Drops::default().token());
    assert_eq!(
        format!("{:?}", error.err().unwrap()),
        "CompareAndSetError { version: 0, .. }"
    );
    let boxed: Box<dyn Error + Send + Sync> = Box::new(property.compare_and_set(0, 3).unwrap_err());
    assert!(boxed.downcast::<CompareAndSetError<i32>>().is_ok());
}

#[test]
fn no_update_is_lost() {
    within_limit(|| {
        const THREADS: u64 = 4;
        const UPDATES: u64 = 2_000;
        let property = Property::new((0_u64, String::from("0")));
        let asked = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for _ in 0..UPDATES {
                        property.update(|(number, text)| {
                            asked.fetch_add(1, Ordering::Relaxed);
                            assert_eq!(number.to_string(), *text);
                            (number + 1, (number + 1).to_string())
                        });
                    }
                });
            }
        });
        assert_eq!(property.get().0, THREADS * UPDATES);
        assert_eq!(property.version(), THREADS * UPDATES);
        assert!(asked.load(Ordering::Relaxed) as u64 >= THREADS * UPDATES);
    });
}

/// The closure of `update` runs under no lock.
#[test]
fn an_update_may_use_the_property() {
    let property = Property::new(1);
    let mut asked = 0;
    property.update(|&number| {
        asked += 1;
        if asked == 1 {
            // In between, another value: this update begins again with that.
            property.set(10);
        }
        number + 1
    });
    assert_eq!((asked, property.get()), (2, 11));
}

#[test]
fn an_update_that_panics_changes_nothing() {
    let property = Property::new(String::from("as before"));
    let result = std::panic::catch_unwind(|| property.update(|_| panic!("an update's panic")));
    assert!(result.is_err());
    assert_eq!(
        (property.version(), property.get().as_str()),
        (0, "as before")
    );
    property.set(String::from("usable"));
    assert_eq!(property.get(), "usable");
}

/// A writer goes on although a reader holds the value that it replaces, and the one before.
#[test]
fn writers_never_wait_for_readers() {
    within_limit(|| {
        let drops = Drops::default();
        let property = Property::new(drops.numbered(0));
        let (in_first, in_second, leave) = (Event::manual(), Event::manual(), Event::manual());
        let read_until_told = |number: usize, entered: &Event| {
            property.read(|value| {
                assert_eq!(value.number, number);
                entered.set();
                leave.wait();
                assert_eq!(value.number, number);
            });
        };
        thread::scope(|scope| {
            scope.spawn(|| read_until_told(0, &in_first));
            in_first.wait();
            property.set(drops.numbered(1));
            scope.spawn(|| read_until_told(1, &in_second));
            in_second.wait();
            for number in 2..1_000 {
                property.set(drops.numbered(number));
                assert_eq!(property.read(|value| value.number), number);
            }
            // All but the two that are read, and the latest.
            assert_eq!(drops.count(), 997);
            leave.set();
        });
        assert_eq!(drops.count(), 999);
    });
}

#[test]
fn values_may_borrow_and_need_not_be_static() {
    let text = String::from("borrowed");
    let property = Property::new(text.as_str());
    property.set(&text[2..]);
    assert_eq!(property.get(), "rrowed");
}

#[test]
fn what_is_not_shared_may_be_neither_send_nor_sync() {
    let property = Property::new(Rc::new(1));
    property.read(|outer| {
        property.set(Rc::new(2));
        assert_eq!(**outer, 1);
    });
    assert_eq!(*property.get(), 2);
}

#[test]
fn traits() {
    fn shared<T: Send + Sync + UnwindSafe + RefUnwindSafe + Unpin>(_: &T) {}
    let property = Property::new(5);
    shared(&property);
    shared(&property.changed_since(0));
    shared(&Properties::new());
    fn copied<T: Copy>(_: T) {}
    let changed: Changed<'_, i32> = property.changed_since(3);
    copied(changed);
    assert_eq!(changed.since(), 3);
    assert_eq!(
        format!("{property:?}"),
        "Property { version: 0, wait: Adaptive, .. }"
    );
    assert_eq!(format!("{changed:?}"), "Changed { since: 3, version: 0 }");
}
