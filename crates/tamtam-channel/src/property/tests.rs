//! What only the crate itself can see: that values go at once, from wherever they are read, and that
//! records pass from thread to thread.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::hazard::Registry;
use super::{Properties, Property};

/// A value whose drop is noted in a list that all values of a test share.
struct Noted {
    number: usize,
    dropped: Arc<std::sync::Mutex<Vec<usize>>>,
}

#[derive(Clone, Default)]
struct Notes(Arc<std::sync::Mutex<Vec<usize>>>);

impl Notes {
    fn value(&self, number: usize) -> Noted {
        Noted {
            number,
            dropped: self.0.clone(),
        }
    }

    fn dropped(&self) -> Vec<usize> {
        self.0.lock().unwrap().clone()
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        self.dropped.lock().unwrap().push(self.number);
    }
}

/// The slots that somebody uses at this moment, for this property or that was paid for it.
fn slots_in_use() -> usize {
    Registry::new()
        .slots()
        .filter(|slot| !slot.held.load(SeqCst).is_null())
        .count()
}

#[test]
fn an_unread_value_is_dropped_by_the_set() {
    let notes = Notes::default();
    let property = Property::new(notes.value(0));
    let count = if cfg!(miri) { 20 } else { 100 };
    for number in 1..count {
        property.set(notes.value(number));
        assert_eq!(notes.dropped().len(), number);
    }
    drop(property);
    assert_eq!(notes.dropped(), (0..count).collect::<Vec<_>>());
}

#[test]
fn a_value_that_is_read_is_dropped_when_its_last_reader_leaves() {
    let notes = Notes::default();
    let property = Property::new(notes.value(0));
    let (entered, is_in) = mpsc::channel();
    thread::scope(|scope| {
        let leave: Vec<_> = (0..2)
            .map(|_| {
                let (leave, may_leave) = mpsc::channel::<()>();
                let (property, entered) = (&property, entered.clone());
                let reader = scope.spawn(move || {
                    property.read(|value| {
                        entered.send(()).unwrap();
                        may_leave.recv().unwrap();
                        // Replaced twice by now, and still there.
                        assert_eq!(value.number, 0);
                    });
                });
                (leave, reader)
            })
            .collect();
        is_in.recv().unwrap();
        is_in.recv().unwrap();
        property.set(notes.value(1));
        property.set(notes.value(2));
        assert_eq!(notes.dropped(), [1]);
        for (index, (leave, reader)) in leave.into_iter().enumerate() {
            leave.send(()).unwrap();
            reader.join().unwrap();
            // Not before the last one, and without another set.
            assert_eq!(notes.dropped().contains(&0), index == 1);
        }
    });
    assert_eq!(notes.dropped(), [1, 0]);
}

#[test]
fn a_set_within_a_read_leaves_the_value_to_the_read() {
    let notes = Notes::default();
    let property = Property::new(notes.value(0));
    property.read(|outer| {
        property.set(notes.value(1));
        property.read(|inner| {
            property.set(notes.value(2));
            assert_eq!((outer.number, inner.number), (0, 1));
            assert!(notes.dropped().is_empty());
        });
        assert_eq!(notes.dropped(), [1]);
        assert_eq!(outer.number, 0);
    });
    assert_eq!(notes.dropped(), [1, 0]);
    assert_eq!(property.read(|value| value.number), 2);
}

#[test]
fn reads_nest_beyond_the_slots_of_a_record() {
    fn nested(properties: &[Property<usize>], sum: usize) -> usize {
        match properties {
            [] => sum,
            [first, rest @ ..] => first.read(|value| nested(rest, sum + value)),
        }
    }
    fn nested_in_one(property: &Property<usize>, depth: usize) {
        property.read(|&before| {
            property.set(before + 1);
            if depth > 0 {
                nested_in_one(property, depth - 1);
            }
            assert!(property.get() > before);
        });
    }
    let properties: Vec<_> = (0..20).map(Property::new).collect();
    thread::spawn(move || {
        assert_eq!(nested(&properties, 0), (0..20).sum());
        nested_in_one(&properties[0], 10);
        assert_eq!(properties[0].get(), 11);
    })
    .join()
    .unwrap();
}

#[test]
fn a_snapshot_outlives_the_property() {
    let notes = Notes::default();
    let property = Property::new(notes.value(0));
    let snapshot = property.snapshot();
    property.set(notes.value(1));
    assert!(notes.dropped().is_empty());
    let last = property.snapshot();
    drop(property);
    drop(snapshot);
    assert_eq!(notes.dropped(), [0]);
    assert_eq!(last.number, 1);
    drop(last);
    assert_eq!(notes.dropped(), [0, 1]);
}

#[test]
fn replace_and_into_inner_give_the_value_out() {
    let notes = Notes::default();
    let property = Property::new(notes.value(0));
    let old = property.replace(notes.value(1));
    assert_eq!(old.number, 0);
    assert_eq!(Arc::strong_count(&old), 1);
    let last = property.into_inner();
    assert_eq!(last.number, 1);
    assert!(notes.dropped().is_empty());
}

#[test]
fn a_refused_value_comes_back_undropped() {
    let notes = Notes::default();
    let property = Property::new(notes.value(0));
    assert_eq!(property.compare_and_set(0, notes.value(1)).ok(), Some(1));
    assert_eq!(notes.dropped(), [0]);
    let Err(error) = property.compare_and_set(0, notes.value(2)) else {
        panic!("version 0 is gone");
    };
    assert_eq!((error.version, error.value.number), (1, 2));
    assert_eq!(notes.dropped(), [0]);
    drop(error);
    drop(property);
    assert_eq!(notes.dropped(), [0, 2, 1]);
}

#[test]
fn a_panicking_reader_leaves_nothing_behind() {
    let notes = Notes::default();
    let property = Property::new(notes.value(0));
    thread::scope(|scope| {
        scope
            .spawn(|| {
                let result = catch_unwind(AssertUnwindSafe(|| {
                    property.read(|_| {
                        property.set(notes.value(1));
                        property.read(|_| panic!("a reader's panic"))
                    })
                }));
                assert!(result.is_err());
                assert_eq!(notes.dropped(), [0]);
                assert_eq!(property.read(|value| value.number), 1);
                property.set(notes.value(2));
                assert_eq!(notes.dropped(), [0, 1]);
            })
            .join()
            .unwrap();
    });
}

#[test]
fn a_panicking_clone_leaves_nothing_behind() {
    struct Unclonable;
    impl Clone for Unclonable {
        fn clone(&self) -> Self {
            panic!("a clone's panic")
        }
    }
    let property = Property::new((Unclonable, Arc::new(())));
    let shared = property.read(|(_, shared)| shared.clone());
    assert!(catch_unwind(AssertUnwindSafe(|| property.get())).is_err());
    property.set((Unclonable, Arc::new(())));
    assert_eq!(Arc::strong_count(&shared), 1);
}

#[test]
fn a_panicking_drop_harms_only_its_caller() {
    struct Armed(bool);
    impl Drop for Armed {
        fn drop(&mut self) {
            assert!(!self.0, "a drop's panic");
        }
    }
    let property = Property::new(Armed(true));
    // In the writer.
    assert!(catch_unwind(AssertUnwindSafe(|| property.set(Armed(true)))).is_err());
    assert_eq!(property.version(), 1);
    // In the reader that leaves last.
    let in_reader = catch_unwind(AssertUnwindSafe(|| {
        property.read(|_| property.set(Armed(false)));
    }));
    assert!(in_reader.is_err());
    assert_eq!(property.version(), 2);
    property.read(|value| assert!(!value.0));
    property.set(Armed(false));
    assert_eq!(property.version(), 3);
}

#[test]
fn a_drop_may_use_the_property() {
    thread_local! {
        static SEEN: Cell<usize> = const { Cell::new(0) };
    }
    struct Curious(Option<Arc<Property<Curious>>>, usize);
    impl Drop for Curious {
        fn drop(&mut self) {
            if let Some(property) = &self.0 {
                SEEN.set(SEEN.get() + property.read(|value| value.1));
            }
        }
    }
    let property = Arc::new(Property::new(Curious(None, 0)));
    property.set(Curious(Some(property.clone()), 1));
    // Dropped by the writer: sees 2.
    property.set(Curious(Some(property.clone()), 2));
    assert_eq!(SEEN.get(), 2);
    // Dropped by the leaving reader: sees 3.
    property.read(|_| property.set(Curious(None, 3)));
    assert_eq!(SEEN.get(), 5);
}

#[test]
fn threads_that_end_leave_their_record_to_others() {
    let property = Property::new(1_u64);
    let slots = || Registry::new().slots().count();
    thread::scope(|scope| {
        scope.spawn(|| property.get()).join().unwrap();
    });
    let before = slots();
    for _ in 0..50 {
        thread::scope(|scope| {
            scope.spawn(|| property.get()).join().unwrap();
        });
    }
    // Other tests run beside this one, and each of their threads may have made a record; but not as many as these
    // would have made, each with three slots.
    let made = slots() - before;
    assert!(
        made < 50 * 3,
        "{made} slots more after 50 threads, one by one"
    );
}

#[test]
fn a_read_while_the_thread_is_ending() {
    struct AtEnd {
        property: Arc<Property<Vec<u8>>>,
        report: mpsc::Sender<Vec<u8>>,
    }
    impl Drop for AtEnd {
        fn drop(&mut self) {
            let property = &self.property;
            let seen = property.read(|outer| {
                property.set(vec![4, 5, 6]);
                property.read(|inner| [outer.as_slice(), inner.as_slice()].concat())
            });
            self.report.send(seen).unwrap();
        }
    }
    thread_local! {
        static AT_END: RefCell<Option<AtEnd>> = const { RefCell::new(None) };
    }
    // The destructor runs before the one that gives the record back, or after it.
    for reads_first in [true, false] {
        let property = Arc::new(Property::new(vec![1, 2, 3]));
        let (report, reported) = mpsc::channel();
        let shared = property.clone();
        thread::spawn(move || {
            if reads_first {
                assert_eq!(shared.get().len(), 3);
            }
            AT_END.set(Some(AtEnd {
                property: shared.clone(),
                report,
            }));
            assert_eq!(shared.get().len(), 3);
        })
        .join()
        .unwrap();
        assert_eq!(reported.recv().unwrap(), [1, 2, 3, 4, 5, 6]);
        assert_eq!(property.get(), [4, 5, 6]);
    }
}

#[test]
fn values_of_any_size_and_alignment() {
    #[derive(Clone, Debug, PartialEq)]
    #[repr(align(256))]
    struct Wide([u8; 300]);

    let nothing = Property::new(());
    nothing.read(|()| {
        nothing.set(());
        nothing.set(());
    });
    assert_eq!(nothing.version(), 2);

    let wide = Property::new(Wide([1; 300]));
    wide.read(|outer| {
        assert_eq!(core::ptr::from_ref(outer).addr() % 256, 0);
        wide.set(Wide([2; 300]));
        assert_eq!(*outer, Wide([1; 300]));
    });
    assert_eq!(wide.get(), Wide([2; 300]));

    let texts = Property::<Vec<String>>::default();
    texts.update(|texts| [texts.as_slice(), &["one".to_owned()]].concat());
    assert_eq!(*texts.into_inner(), ["one"]);
}

/// Values of several properties and types, which the allocator puts where others were a moment ago.
#[test]
fn addresses_pass_from_one_property_to_another() {
    // Miri takes long.
    let (count, least) = if cfg!(miri) { (12, 6) } else { (20_000, 20) };
    let stop = AtomicBool::new(false);
    let reads = AtomicUsize::new(0);
    let numbers = Property::new(Box::new(0_u64));
    let texts = Property::new(String::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(SeqCst) {
                    let number = numbers.get();
                    let text = texts.get();
                    assert!(text.is_empty() || text.parse::<u64>().is_ok());
                    numbers.read(|outer| texts.read(|_| assert!(**outer >= *number)));
                    reads.fetch_add(1, SeqCst);
                }
            });
        }
        let mut number = 0;
        while number < count || reads.load(SeqCst) < least {
            number += 1;
            numbers.set(Box::new(number));
            texts.set(number.to_string());
        }
        stop.store(true, SeqCst);
    });
    assert_eq!(texts.get(), numbers.get().to_string());
}

#[test]
fn no_slot_stays_in_use() {
    // Alone in its process's registry only when the other tests have ended; so it looks until
    // there is a moment without any.
    let property = Property::new(String::from("x"));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..if cfg!(miri) { 8 } else { 50 } {
                    assert!(!property.get().is_empty());
                    property.set(String::from("y"));
                }
            });
        }
    });
    let start = Instant::now();
    while slots_in_use() > 0 {
        assert!(start.elapsed() < Duration::from_secs(60));
        thread::yield_now();
    }
}

#[test]
fn a_removed_property_is_dropped_under_no_lock() {
    struct Asks(Arc<Properties>);
    impl Drop for Asks {
        fn drop(&mut self) {
            assert!(!self.0.contains("asks"));
            let _ = self.0.set("was here", true);
        }
    }
    let properties = Arc::new(Properties::new());
    properties.set("asks", Asks(properties.clone())).unwrap();
    assert!(properties.remove("asks"));
    assert_eq!(properties.get("was here"), Ok(true));
    // A value of the wrong type, too.
    properties.set("number", 1).unwrap();
    assert!(properties.set("number", Asks(properties.clone())).is_err());
    drop(properties.property_or("number", 2).unwrap());
    assert_eq!(properties.get("number"), Ok(1));
}
