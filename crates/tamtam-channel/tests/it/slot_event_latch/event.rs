//! Manual and auto-reset events.

use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::slot_event_latch::{WAITS, turns, waits_until};
use crate::support::{LONG, SHORT, ms, thread_number, until, until_asleep, within_limit};
use tamtam_channel::{Event, Latch, Wait, WaitTimeoutError};

#[test]
fn a_manual_event_stays_set() {
    let event = Event::manual();
    assert!(!event.is_set() && !event.try_wait());
    event.set();
    event.set();
    for _ in 0..3 {
        assert!(event.is_set() && event.try_wait());
        event.wait();
        assert_eq!(event.wait_timeout(Duration::ZERO), Ok(()));
    }
    event.reset();
    assert!(!event.is_set() && !event.try_wait());
    event.reset();
    assert_eq!(event.wait_timeout(Duration::ZERO), Err(WaitTimeoutError));
}

#[test]
fn an_auto_event_resets_itself_after_one() {
    let event = Event::auto();
    assert!(!event.is_set() && !event.try_wait());
    event.set();
    assert!(event.is_set());
    assert!(event.is_set(), "a look does not reset");
    event.wait();
    assert!(!event.is_set());
    // Nobody waits between the two: it is one event.
    event.set();
    event.set();
    assert!(event.try_wait());
    assert!(!event.try_wait());
    event.set();
    event.reset();
    assert_eq!(event.wait_timeout(Duration::ZERO), Err(WaitTimeoutError));
    event.set();
    assert_eq!(event.wait_deadline(Instant::now()), Ok(()));
    assert!(!event.is_set());
}

#[test]
fn timeouts_say_so_after_the_time() {
    within_limit(|| {
        for wait in WAITS {
            for event in [
                Event::manual().with_wait(wait),
                Event::auto().with_wait(wait),
            ] {
                let start = Instant::now();
                assert_eq!(event.wait_timeout(ms(15)), Err(WaitTimeoutError));
                assert!(start.elapsed() >= ms(15));
                assert_eq!(event.wait_deadline(start + ms(30)), Err(WaitTimeoutError));
                assert!(start.elapsed() >= ms(30));
                assert_eq!(event.wait_deadline(start), Err(WaitTimeoutError));
                waits_until(|| event.wait_timeout(LONG * 10).unwrap(), || event.set());
                event.reset();
                waits_until(
                    || event.wait_timeout(Duration::MAX).unwrap(),
                    || event.set(),
                );
                event.reset();
                waits_until(|| event.wait(), || event.set());
            }
        }
    });
}

#[test]
fn a_manual_event_releases_all() {
    within_limit(|| {
        for wait in WAITS {
            let event = Event::manual().with_wait(wait);
            thread::scope(|scope| {
                for _ in 0..16 {
                    scope.spawn(|| event.wait());
                }
                event.set();
            });
            assert!(event.is_set());
        }
    });
}

#[test]
fn set_then_reset_at_once_releases_all_who_waited() {
    within_limit(|| {
        for _ in 0..20 {
            let event = Event::manual().with_wait(Wait::Park);
            let (about_to, announced) = mpsc::channel();
            thread::scope(|scope| {
                for _ in 0..8 {
                    let (event, about_to) = (&event, about_to.clone());
                    scope.spawn(move || {
                        about_to.send(thread_number()).unwrap();
                        event.wait();
                    });
                }
                let waiting: Vec<u64> = announced.iter().take(8).collect();
                until_asleep(&waiting);
                event.set();
                event.reset();
                // The scope ends only when all eight have been released.
            });
            assert!(!event.is_set());
        }
    });
}

#[test]
fn who_comes_after_the_reset_waits() {
    within_limit(|| {
        let event = Event::manual();
        event.set();
        event.reset();
        assert_eq!(event.wait_timeout(SHORT), Err(WaitTimeoutError));
        waits_until(|| event.wait(), || event.set());
    });
}

#[test]
fn an_auto_event_releases_exactly_one_per_set() {
    within_limit(|| {
        for wait in WAITS {
            let event = Event::auto().with_wait(wait);
            let (released, is_released) = mpsc::channel();
            thread::scope(|scope| {
                for me in 0..8 {
                    let (event, released) = (&event, released.clone());
                    scope.spawn(move || {
                        event.wait();
                        released.send(me).unwrap();
                    });
                }
                for _ in 0..8 {
                    event.set();
                    assert!(
                        is_released.recv_timeout(LONG).is_ok(),
                        "a set released nobody"
                    );
                    assert_eq!(
                        is_released.recv_timeout(ms(3)),
                        Err(mpsc::RecvTimeoutError::Timeout)
                    );
                }
            });
            assert!(!event.is_set());
        }
    });
}

#[test]
fn auto_events_hand_a_turn_around() {
    within_limit(|| {
        for wait in WAITS {
            // Strict turns through two events, with plain data beside them.
            let (ping, pong) = (Event::auto().with_wait(wait), Event::auto().with_wait(wait));
            let shared = AtomicUsize::new(0);
            let count = turns(wait, 10_000);
            thread::scope(|scope| {
                scope.spawn(|| {
                    for number in 0..count {
                        ping.wait();
                        assert_eq!(shared.load(Ordering::Relaxed), 2 * number + 1);
                        shared.store(2 * number + 2, Ordering::Relaxed);
                        pong.set();
                    }
                });
                for number in 0..count {
                    shared.store(2 * number + 1, Ordering::Relaxed);
                    ping.set();
                    pong.wait();
                    assert_eq!(shared.load(Ordering::Relaxed), 2 * number + 2);
                }
            });
        }
    });
}

#[test]
fn an_auto_event_is_a_lock_for_many() {
    within_limit(|| {
        // Whoever passes holds the only permit; at most one may be inside.
        let event = Event::auto();
        event.set();
        let (inside, passed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for number in 0..500 {
                        match number % 3 {
                            0 => event.wait(),
                            1 => event.wait_timeout(LONG).unwrap(),
                            _ => until(|| {
                                event.try_wait()
                                    || event.wait_timeout(Duration::from_micros(10)).is_ok()
                            }),
                        }
                        assert_eq!(
                            inside.fetch_add(1, Ordering::SeqCst),
                            0,
                            "two were released by one set"
                        );
                        passed.fetch_add(1, Ordering::SeqCst);
                        inside.fetch_sub(1, Ordering::SeqCst);
                        event.set();
                    }
                });
            }
        });
        assert_eq!(passed.into_inner(), 8 * 500);
        assert!(event.try_wait() && !event.is_set());
    });
}

#[test]
fn traits() {
    fn shared<T: Send + Sync + UnwindSafe + RefUnwindSafe + std::fmt::Debug>() {}
    shared::<Event>();
    shared::<Latch>();
    assert!(format!("{:?}", Event::manual()).contains("Event"));
    assert!(format!("{:?}", Latch::new(1)).contains("Latch"));
}
