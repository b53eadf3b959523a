//! One place, handed over.

use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::slot_event_latch::{WAITS, turns, waits_until};
use crate::support::{Drops, LONG, Random, Token, ms, soak, within_limit};
use tamtam_channel::{PutTimeoutError, Slot, TakeTimeoutError, TryPutError, WaitTimeoutError};

#[test]
fn one_value_goes_in_and_out() {
    let slot = Slot::new();
    assert!(slot.is_empty() && !slot.is_full());
    assert_eq!(slot.try_take(), None);
    slot.put(1);
    assert!(slot.is_full() && !slot.is_empty());
    assert_eq!(slot.try_put(2), Err(TryPutError(2)));
    assert_eq!(slot.take(), 1);
    assert!(slot.is_empty());
    assert_eq!(slot.try_put(3), Ok(()));
    assert_eq!(slot.try_take(), Some(3));
    assert_eq!(slot.try_take(), None);
}

#[test]
fn replace_returns_the_unread_value_and_never_waits() {
    let slot = Slot::new();
    assert_eq!(slot.replace(1), None);
    assert_eq!(slot.replace(2), Some(1));
    assert_eq!(slot.replace(3), Some(2));
    assert_eq!(slot.take(), 3);
    assert_eq!(slot.replace(4), None);
    assert_eq!(slot.try_take(), Some(4));
}

#[test]
fn put_waits_while_full_and_take_while_empty() {
    within_limit(|| {
        for wait in WAITS {
            let slot = Slot::new().with_wait(wait);
            waits_until(|| assert_eq!(slot.take(), 1), || slot.put(1));
            slot.put(2);
            waits_until(|| slot.put(3), || assert_eq!(slot.take(), 2));
            assert_eq!(slot.take(), 3);
            // A taker is also woken by replace and by try_put.
            waits_until(
                || assert_eq!(slot.take(), 4),
                || assert_eq!(slot.replace(4), None),
            );
            waits_until(|| assert_eq!(slot.take(), 5), || slot.try_put(5).unwrap());
            // A putter is also woken by try_take.
            slot.put(6);
            waits_until(|| slot.put(7), || assert_eq!(slot.try_take(), Some(6)));
            assert_eq!(slot.take(), 7);
        }
    });
}

#[test]
fn timeouts_say_so_after_the_time_and_return_the_value() {
    within_limit(|| {
        for wait in WAITS {
            let slot = Slot::new().with_wait(wait);
            let start = Instant::now();
            assert_eq!(slot.take_timeout(ms(15)), Err(TakeTimeoutError));
            assert!(start.elapsed() >= ms(15));
            assert_eq!(slot.take_deadline(start + ms(30)), Err(TakeTimeoutError));
            assert!(start.elapsed() >= ms(30));
            assert_eq!(slot.take_timeout(Duration::ZERO), Err(TakeTimeoutError));
            assert_eq!(slot.take_deadline(start), Err(TakeTimeoutError));

            assert_eq!(slot.put_timeout("first", Duration::ZERO), Ok(()));
            let start = Instant::now();
            assert_eq!(
                slot.put_timeout("second", ms(15)),
                Err(PutTimeoutError("second"))
            );
            assert!(start.elapsed() >= ms(15));
            assert_eq!(
                slot.put_deadline("third", start + ms(30)),
                Err(PutTimeoutError("third"))
            );
            assert!(start.elapsed() >= ms(30));
            assert_eq!(
                slot.put_timeout("fourth", Duration::ZERO),
                Err(PutTimeoutError("fourth"))
            );
            assert_eq!(
                slot.put_deadline("fifth", start).unwrap_err().into_inner(),
                "fifth"
            );

            // What is possible at once is done, however late it is.
            assert_eq!(slot.take_deadline(start), Ok("first"));
            assert_eq!(slot.put_deadline("sixth", start), Ok(()));
            assert_eq!(slot.take_timeout(Duration::ZERO), Ok("sixth"));
        }
    });
}

#[test]
fn timed_waits_are_ended_by_their_event() {
    within_limit(|| {
        for wait in WAITS {
            let slot = Slot::new().with_wait(wait);
            waits_until(
                || assert_eq!(slot.take_timeout(LONG * 10), Ok(1)),
                || slot.put(1),
            );
            slot.put(2);
            waits_until(
                || slot.put_timeout(3, Duration::MAX).unwrap(),
                || assert_eq!(slot.take(), 2),
            );
            waits_until(
                || slot.put_deadline(4, Instant::now() + LONG).unwrap(),
                || assert_eq!(slot.take(), 3),
            );
            assert_eq!(slot.take_timeout(Duration::MAX), Ok(4));
        }
    });
}

#[test]
fn an_expired_wait_leaves_nothing_behind() {
    within_limit(|| {
        let slot = Slot::new();
        for number in 0..100 {
            assert!(slot.take_timeout(Duration::from_micros(20)).is_err());
            slot.put(number);
            assert!(slot.put_timeout(1_000, Duration::from_micros(20)).is_err());
            thread::scope(|scope| {
                scope.spawn(|| slot.put(number + 1));
                assert_eq!(slot.take(), number);
                assert_eq!(slot.take(), number + 1);
            });
        }
    });
}

#[test]
fn values_are_dropped_once() {
    let drops = Drops::default();
    let slot = Slot::new();
    slot.put(drops.token());
    drop(slot.take());
    assert_eq!(drops.count(), 1);
    slot.put(drops.token());
    drop(slot.try_put(drops.token()));
    assert_eq!(drops.count(), 2);
    drop(slot.replace(drops.token()));
    assert_eq!(drops.count(), 3);
    drop(slot.put_timeout(drops.token(), Duration::ZERO));
    assert_eq!(drops.count(), 4);
    drop(slot);
    assert_eq!(drops.count(), 5);
    drop(Slot::<Token>::new());
    assert_eq!(drops.count(), 5);
}

#[test]
fn strict_turns_between_two_threads() {
    within_limit(|| {
        for wait in WAITS {
            let (question, answer) = (Slot::new().with_wait(wait), Slot::new().with_wait(wait));
            let count = turns(wait, 20_000);
            thread::scope(|scope| {
                scope.spawn(|| {
                    for number in 0..count {
                        assert_eq!(question.take(), number);
                        answer.put(number * 2);
                    }
                });
                for number in 0..count {
                    question.put(number);
                    assert_eq!(answer.take(), number * 2);
                }
            });
            assert!(question.is_empty() && answer.is_empty());
        }
    });
}

#[test]
fn values_of_one_putter_come_in_order() {
    within_limit(|| {
        let slot = Slot::new();
        thread::scope(|scope| {
            scope.spawn(|| (0..20_000).for_each(|number| slot.put(number)));
            (0..20_000).for_each(|number| assert_eq!(slot.take(), number));
        });
    });
}

#[test]
fn eight_putters_and_eight_takers_exchange_each_value_once() {
    within_limit(|| {
        for wait in WAITS {
            let slot = Slot::new().with_wait(wait);
            let (each, many) = (turns(wait, 2_000), 8);
            let mut taken: Vec<usize> = thread::scope(|scope| {
                let takers: Vec<_> = (0..many)
                    .map(|_| scope.spawn(|| (0..each).map(|_| slot.take()).collect::<Vec<_>>()))
                    .collect();
                for me in 0..many {
                    let slot = &slot;
                    scope.spawn(move || (0..each).for_each(|number| slot.put(me * each + number)));
                }
                takers
                    .into_iter()
                    .flat_map(|taker| taker.join().unwrap())
                    .collect()
            });
            taken.sort_unstable();
            assert!(taken.into_iter().eq(0..many * each), "{wait:?}");
            assert!(slot.is_empty());
        }
    });
}

#[test]
fn what_was_put_was_taken_or_returned() {
    within_limit(|| {
        // All ways of putting and taking at once; `made` holds what was handed over and not returned.
        let slot = Slot::new();
        let drops = Drops::default();
        let (made, taken) = (AtomicU64::new(0), AtomicU64::new(0));
        let (made_sum, taken_sum) = (AtomicU64::new(0), AtomicU64::new(0));
        let end = Instant::now() + soak(ms(700));
        let putting = AtomicUsize::new(4);
        thread::scope(|scope| {
            let (slot, drops, putting) = (&slot, &drops, &putting);
            let (made, taken, made_sum, taken_sum) = (&made, &taken, &made_sum, &taken_sum);
            for me in 0..4 {
                scope.spawn(move || {
                    let mut random = Random::new(me + 1);
                    // Longer on a machine so loaded that nothing was handed over by then.
                    while Instant::now() < end || taken.load(Ordering::SeqCst) == 0 {
                        let number = random.below(1 << 30);
                        let value = (number, Box::new(!number), drops.token());
                        let handed = match random.below(4) {
                            0 => slot.try_put(value).is_ok(),
                            1 => slot
                                .put_timeout(value, Duration::from_micros(random.below(100)))
                                .is_ok(),
                            2 => {
                                if let Some((unread, check, _)) = slot.replace(value) {
                                    assert_eq!(*check, !unread);
                                    made.fetch_sub(1, Ordering::SeqCst);
                                    made_sum.fetch_sub(unread, Ordering::SeqCst);
                                }
                                true
                            }
                            _ => slot.put_timeout(value, LONG).is_ok(),
                        };
                        if handed {
                            made.fetch_add(1, Ordering::SeqCst);
                            made_sum.fetch_add(number, Ordering::SeqCst);
                        }
                    }
                    putting.fetch_sub(1, Ordering::SeqCst);
                });
            }
            for me in 0..4 {
                scope.spawn(move || {
                    let mut random = Random::new(me + 100);
                    loop {
                        let ending = putting.load(Ordering::SeqCst) == 0;
                        let value = match random.below(3) {
                            0 => slot.try_take(),
                            1 => slot
                                .take_timeout(Duration::from_micros(random.below(100)))
                                .ok(),
                            _ => slot.take_timeout(ms(5)).ok(),
                        };
                        match value {
                            Some((number, check, _)) => {
                                assert_eq!(*check, !number);
                                taken.fetch_add(1, Ordering::SeqCst);
                                taken_sum.fetch_add(number, Ordering::SeqCst);
                            }
                            None if ending => break,
                            None => {}
                        }
                    }
                });
            }
        });
        assert!(slot.is_empty());
        assert!(taken.load(Ordering::SeqCst) > 0);
        assert_eq!(made.into_inner(), taken.into_inner());
        assert_eq!(made_sum.into_inner(), taken_sum.into_inner());
    });
}

#[test]
fn unusual_values() {
    #[repr(align(128))]
    struct Aligned([u8; 4096]);

    let slot = Slot::new();
    slot.put(());
    assert!(slot.is_full());
    assert_eq!(slot.take_timeout(LONG), Ok(()));

    let slot = Slot::new();
    slot.put(Aligned([7; 4096]));
    let value = slot.take();
    assert_eq!(std::ptr::from_ref(&value).addr() % 128, 0);
    assert!(value.0.iter().all(|byte| *byte == 7));

    let text = String::from("borrowed");
    let slot = Slot::<&str>::new();
    slot.put(&text);
    assert_eq!(slot.take(), "borrowed");

    let slot: Slot<Box<dyn Fn() -> u8 + Send>> = Slot::default();
    slot.put(Box::new(|| 9));
    assert_eq!(slot.take()(), 9);
}

#[test]
fn traits() {
    fn shared<T: Send + Sync + UnwindSafe + RefUnwindSafe>() {}
    fn debug<T: std::fmt::Debug>() {}
    struct Opaque(#[expect(dead_code)] std::cell::Cell<u8>);
    shared::<Slot<u8>>();
    shared::<Slot<Opaque>>();
    shared::<Arc<Slot<Opaque>>>();
    debug::<Slot<Opaque>>();
    debug::<Slot<Rc<u8>>>();
    assert!(format!("{:?}", Slot::<Opaque>::new()).starts_with("Slot"));
    assert!(!format!("{:?}", TryPutError(Opaque(0.into()))).is_empty());
    assert!(!format!("{:?}", PutTimeoutError(Opaque(0.into()))).is_empty());
    let errors: Vec<Box<dyn std::error::Error + Send + Sync>> = vec![
        TryPutError(1).into(),
        PutTimeoutError(1).into(),
        TakeTimeoutError.into(),
        WaitTimeoutError.into(),
    ];
    assert!(errors.iter().all(|error| !error.to_string().is_empty()));
}
