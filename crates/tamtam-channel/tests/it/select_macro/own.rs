//! What only Tamtam has: slots, events and latches beside channels, full hygiene, and a hundred arms.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use tamtam_channel::{
    Event, Latch, Receiver, Slot, bounded, never, select, select_biased, unbounded,
};

use crate::select_macro::{FOREVER, SHORT};

fn full<T>(value: T) -> Slot<T> {
    let slot = Slot::new();
    slot.put(value);
    slot
}

mod forms {
    use super::*;

    #[test]
    fn take() {
        let slot = full(5);
        let silent = never::<()>();
        let value = select! {
            recv(silent) -> _ => unreachable!(),
            take(slot) -> value => value,
        };
        assert_eq!(value, 5);
        assert!(slot.is_empty());
        let value = select! {
            take(slot,) -> _ => { unreachable!() }
            take(full((1, 2))) -> (a, mut b) => { b += a; b }
            take(never_filled()) -> _ => unreachable!()
        };
        assert_eq!(value, 3);
    }

    #[test]
    fn put() {
        let slot = Slot::new();
        let silent = never::<()>();
        select! {
            put(slot, 5) => {}
            recv(silent) -> _ => unreachable!(),
        }
        assert_eq!(slot.try_take(), Some(5));
        slot.put(6);
        select! {
            put(slot, 7,) => unreachable!("the slot is full"),
            take(slot) -> value => assert_eq!(value, 6),
        }
        let result = select! {
            recv(silent) -> _ => "nothing",
            put(slot, 8) => "put"
        };
        assert_eq!((result, slot.take()), ("put", 8));
    }

    #[test]
    fn wait() {
        let silent = never::<()>();
        let (manual, auto) = (Event::manual(), Event::auto());
        let latch = Latch::new(2);
        let look = || {
            select! {
                wait(manual) => "manual",
                wait(auto,) => { "auto" }
                wait(latch) => "latch",
                recv(silent) -> _ => unreachable!(),
                default => "nothing"
            }
        };
        assert_eq!(look(), "nothing");
        auto.set();
        assert_eq!(
            (look(), look()),
            ("auto", "nothing"),
            "an auto event resets itself"
        );
        manual.set();
        assert_eq!(
            (look(), look()),
            ("manual", "manual"),
            "a manual event stays set"
        );
        manual.reset();
        latch.count_down();
        assert_eq!(look(), "nothing");
        latch.count_down();
        assert_eq!((look(), look()), ("latch", "latch"));
    }

    #[test]
    fn one_arm() {
        let slot = full(1);
        assert_eq!(select! { take(slot) -> value => value + 1 }, 2);
        select! { put(slot, 3) => {} }
        assert_eq!(select_biased! { take(slot) -> value => value }, 3);
        let event = Event::auto();
        event.set();
        select! { wait(event) => assert!(!event.is_set()) }
        select! { wait(Latch::new(0)) => {} }
    }

    #[test]
    fn one_arm_and_default() {
        let slot = full(1);
        let look = || select! { take(slot) -> value => Some(value), default => None };
        assert_eq!((look(), look()), (Some(1), None));
        let text = String::from("kept");
        slot.put(String::from("in the way").len());
        let kept = select! { put(slot, text.len()) => unreachable!(), default(SHORT) => text };
        assert_eq!(kept, "kept");
        let event = Event::auto();
        let look = || select! { wait(event) => true, default(SHORT) => false };
        event.set();
        assert_eq!((look(), look()), (true, false));
        let start = Instant::now();
        select! { wait(Latch::new(1)) => unreachable!(), default(SHORT) => {} }
        assert!(start.elapsed() >= SHORT);
    }

    #[test]
    fn biased() {
        let (a, b) = (full(1), full(2));
        let event = Event::manual();
        event.set();
        let next = || {
            select_biased! {
                take(a) -> value => value,
                take(b) -> value => value,
                wait(event) => 3,
            }
        };
        assert_eq!([next(), next(), next()], [1, 2, 3]);
    }

    fn never_filled() -> Slot<u8> {
        Slot::new()
    }
}

mod endpoints {
    use super::*;

    #[test]
    fn behind_references_and_pointers() {
        let slot = Arc::new(full(1));
        let locked = Mutex::new(full(2));
        let event = Arc::new(Event::auto());
        let latch = Rc::new(Box::new(Latch::new(1)));
        let mut sum = 0;
        for _ in 0..2 {
            select! {
                take(&slot) -> value => sum += value,
                take(locked.lock().unwrap()) -> value => sum += value,
                wait(event) => unreachable!(),
                wait(&&event) => unreachable!(),
                wait(latch) => unreachable!(),
                wait(Arc::clone(&event)) => unreachable!(),
            }
        }
        assert_eq!(sum, 3);
        event.set();
        select! { wait(&event) => {} wait(latch) => unreachable!() }
        event.set();
        select! { wait(event) => {} }
        latch.count_down();
        select! { wait(*latch) => {} wait(event) => unreachable!() }
        select! { wait(latch) => {} default => unreachable!() }
    }

    #[test]
    fn the_value_is_evaluated_only_when_chosen() {
        let slot = full(String::from("first"));
        let evaluated = Cell::new(0);
        let note = |text: String| {
            evaluated.set(evaluated.get() + 1);
            text
        };
        let second = String::from("second");
        let second = select! {
            put(slot, note(second)) => unreachable!(),
            default => second,
        };
        assert_eq!((evaluated.get(), slot.take().as_str()), (0, "first"));
        select! { put(slot, note(second)) => {} }
        assert_eq!((evaluated.get(), slot.take().as_str()), (1, "second"));
    }

    #[test]
    fn bodies_may_drop_and_replace_them() {
        let mut slot = full(vec![1]);
        let event = Event::auto();
        select! {
            take(slot) -> value => {
                slot = full(value);
                drop(event);
            }
            wait(event) => { drop(slot); unreachable!() }
        }
        select! { take(slot) -> value => { drop(slot); assert_eq!(value, [1]); } }
    }

    #[test]
    fn types_follow_from_use() {
        let (slot, other) = (Slot::new(), Slot::new());
        select! {
            put(slot, Default::default()) => {}
            take(other) -> value => { let _: u8 = value; }
        }
        let value: u16 = slot.take();
        assert_eq!(value, 0);
    }
}

mod between_threads {
    use super::*;

    #[test]
    fn strict_turns_through_slots() {
        let (there, back) = (Slot::new(), Slot::new());
        let stop = Event::manual();
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut expected = 0;
                loop {
                    select! {
                        take(there) -> value => {
                            assert_eq!(value, expected);
                            expected += 1;
                            select! {
                                put(back, value) => {}
                                wait(stop) => unreachable!("it is not over yet"),
                            }
                        }
                        wait(stop) => break,
                    }
                }
                assert_eq!(expected, 1000);
            });
            for turn in 0..1000u32 {
                select! { put(there, turn) => {} default(FOREVER) => unreachable!() }
                let answer =
                    select! { take(back) -> value => Some(value), default(FOREVER) => None };
                assert_eq!(answer, Some(turn));
            }
            stop.set();
        });
    }

    #[test]
    fn an_auto_event_releases_one_select_each_time() {
        const ROUNDS: usize = 500;
        let (event, stop) = (Event::auto(), Event::manual());
        let (sender, passed) = unbounded();
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    loop {
                        select_biased! {
                            wait(event) => sender.send(()).unwrap(),
                            wait(stop) => break,
                        }
                    }
                });
            }
            for _ in 0..ROUNDS {
                event.set();
                passed.recv_timeout(FOREVER).unwrap();
            }
            stop.set();
        });
        assert!(passed.is_empty(), "no set released two");
    }

    #[test]
    fn a_latch_opens_for_every_select() {
        let latch = Latch::new(100);
        let silent: Receiver<()> = never();
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    select! {
                        wait(latch) => assert_eq!(latch.remaining(), 0),
                        recv(silent) -> _ => unreachable!(),
                        default(FOREVER) => unreachable!(),
                    }
                });
            }
            (0..100).for_each(|_| latch.count_down());
        });
    }

    #[test]
    fn nothing_is_lost_between_all_kinds() {
        const EACH: u64 = 2000;
        let (sender, receiver) = bounded(0);
        let slot = Slot::new();
        let finished = Latch::new(2);
        let sum = thread::scope(|scope| {
            for producer in 0..2 {
                let (sender, slot, finished) = (&sender, &slot, &finished);
                scope.spawn(move || {
                    for n in 0..EACH {
                        let value = producer * EACH + n;
                        select! {
                            send(sender, value) -> result => result.unwrap(),
                            put(slot, value) => {}
                        }
                    }
                    finished.count_down();
                });
            }
            let mut sum = 0;
            loop {
                select_biased! {
                    recv(receiver) -> message => sum += message.unwrap(),
                    take(slot) -> value => sum += value,
                    wait(finished) => break sum,
                }
            }
        });
        // The last value may still lie in the slot: the latch opens when it has been put, not when it is taken.
        assert_eq!(sum + slot.try_take().unwrap_or(0), (0..2 * EACH).sum());
    }
}

/// crossbeam's macro does not compile where the caller has his own `Some` or `None`.
mod hygiene {
    use super::*;

    #[test]
    #[allow(non_upper_case_globals, dead_code)]
    fn types_and_constants_of_the_caller() {
        enum Mine {
            Ok,
            Err,
            Some,
            None,
        }
        #[allow(unused_imports)]
        use Mine::*;
        struct Result;
        struct Option;
        struct Select;
        struct Receiver;
        struct Sender;
        struct Duration;
        trait Drop {}
        mod core {}
        mod std {}

        let silent = never::<i32>();
        select! { recv(silent) -> _ => unreachable!(), default => {} }
        select! { recv(silent) -> _ => unreachable!(), default(SHORT) => {} }
        select! { recv(silent) -> _ => unreachable!(), recv(silent) -> _ => unreachable!(), default => {} }
        let (sender, receiver) = bounded(1);
        select! { recv(silent) -> _ => unreachable!(), send(sender, 1) -> _ => {} }
        select! { recv(receiver) -> message => assert!(message.is_ok()) }
    }

    mod without_prelude {
        #![no_implicit_prelude]

        #[::core::prelude::v1::test]
        fn all_forms() {
            let (sender, receiver) = ::tamtam_channel::bounded(1);
            ::tamtam_channel::select! {
                send(sender, 1) -> result => ::core::assert!(result.is_ok()),
                recv(receiver) -> _ => ::core::unreachable!(),
            }
            ::tamtam_channel::select! {
                recv(receiver) -> message => ::core::assert!(message.is_ok()),
                default => ::core::unreachable!(),
            }
            ::tamtam_channel::select_biased! {
                recv(receiver) -> _ => ::core::unreachable!(),
                default(::core::time::Duration::from_millis(1)) => {}
            }
            ::tamtam_channel::select_biased! {
                recv(receiver) -> _ => ::core::unreachable!(),
                recv(receiver) -> _ => ::core::unreachable!(),
                default(::core::time::Duration::from_millis(1)) => {}
            }
        }
    }
}

/// Several times the number of arms that others stop at.
#[test]
fn a_hundred_arms() {
    let (sender, receiver) = unbounded();
    let silent = never::<u32>();
    macro_rules! hundred {
        ([$($arm:tt)*] $($last:tt)*) => { hundred!(@ten [$($arm)* $($arm)* $($arm)* $($arm)* $($arm)*] $($last)*) };
        (@ten [$($arm:tt)*] $($last:tt)*) => {
            select! {
                $($arm)* $($arm)* $($arm)* $($arm)* $($arm)* $($arm)* $($arm)* $($arm)* $($arm)* $($arm)*
                $($arm)* $($arm)* $($arm)* $($arm)* $($arm)* $($arm)* $($arm)* $($arm)* $($arm)* $($arm)*
                $($last)*
            }
        };
    }
    sender.send(7).unwrap();
    let value = hundred!([recv(silent) -> _ => 0,] recv(receiver) -> message => message.unwrap(),);
    assert_eq!(value, 7);
    let value =
        hundred!([recv(silent) -> _ => 0,] send(sender, 8) -> result => { result.unwrap(); 1 });
    assert_eq!((value, receiver.recv()), (1, Ok(8)));
}

mod changed {
    use super::*;
    use tamtam_channel::{Property, Select};

    #[test]
    fn tells_the_version_and_wakes() {
        let property = Arc::new(Property::new(1));
        let (silent, seen) = (never::<()>(), property.version());
        select! {
            changed(property, seen) -> _ => unreachable!("it was not set"),
            default => {}
        }
        let setter = {
            let property = Arc::clone(&property);
            thread::spawn(move || property.set(2))
        };
        let version = select! {
            recv(silent) -> _ => unreachable!(),
            changed(property, seen) -> version => version,
        };
        assert_eq!((version, property.get()), (property.version(), 2));
        setter.join().unwrap();
        // One arm alone, a block, a reference, and what a call makes.
        let again = select! { changed(&property, seen,) -> version => { version } };
        assert_eq!(again, version);
        select! {
            changed(Property::new(0), 7) -> version => assert_eq!(version, 0),
            default => unreachable!("a version that it never had"),
        }
        select! {
            changed(property, version) -> _ => unreachable!("nothing since"),
            default(SHORT) => {}
        }
    }

    #[test]
    fn in_a_list_of_operations() {
        let properties: Vec<_> = (0..8).map(Property::new).collect();
        let seen: Vec<_> = properties.iter().map(Property::version).collect();
        properties[5].set(50);
        let changes: Vec<_> = properties
            .iter()
            .zip(seen)
            .map(|(property, seen)| property.changed_since(seen))
            .collect();
        let mut select = Select::new();
        for changed in &changes {
            select.changed(changed);
        }
        let operation = select.select();
        assert_eq!(operation.index(), 5);
        assert_eq!(operation.changed(&changes[5]), properties[5].version());
    }
}
