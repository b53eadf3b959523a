//! Timers: what happens later, what is cancelled, and what ends with its actor. By a time that is moved by hand, but
//! for two tests of the system's.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{
    Drops, Hold, LONG, Random, Soak, hold, panic_on_purpose, until, within, within_limit,
};
use tamtam_actor::{Actor, Address, Context, Every, Pool, Reply, TellError, Time, Timer};

const SECOND: Duration = Duration::from_secs(1);

/// What an actor is to do, said by a test.
type Task = Box<dyn FnOnce(&mut Doer, &mut Context<Doer>) + Send>;

/// Does what it is told, and notes what its timers do.
#[derive(Default)]
struct Doer {
    noted: Vec<u32>,
    timer: Option<Timer>,
}

impl Actor for Doer {
    type Message = Task;

    fn handle(&mut self, task: Task, cx: &mut Context<Self>) {
        task(self, cx);
    }
}

/// Lets the doer do something, and waits until it is done. What was due before has had its turn then.
fn with<R: Send + 'static>(
    doer: &Address<Task>,
    task: impl FnOnce(&mut Doer, &mut Context<Doer>) -> R + Send + 'static,
) -> R {
    doer.ask(|reply: Reply<R>| -> Task {
        Box::new(move |doer, cx| {
            let result = task(doer, cx);
            reply.send(result);
        })
    })
    .unwrap()
}

fn noted(doer: &Address<Task>) -> Vec<u32> {
    with(doer, |doer, _| doer.noted.clone())
}

fn note(number: u32) -> impl FnMut(&mut Doer, &mut Context<Doer>) + Send {
    move |doer, _| doer.noted.push(number)
}

fn pool() -> (Pool, Time) {
    let time = Time::manual();
    let pool = Pool::builder()
        .threads(2)
        .time(time.clone())
        .build()
        .unwrap();
    (pool, time)
}

fn doer() -> (Pool, Time, Address<Task>) {
    let (pool, time) = pool();
    let doer = pool.spawn(Doer::default());
    (pool, time, doer)
}

#[test]
fn a_timer_is_never_early_and_comes_in_the_order_of_time() {
    within_limit(|| {
        let (_pool, time, doer) = doer();
        let start = time.now();
        with(&doer, move |_, cx| {
            assert_eq!(cx.now(), start);
            cx.after(3 * SECOND, note(3));
            cx.after(SECOND, note(1));
            cx.after(2 * SECOND, note(2));
            // Of one moment: in the order in which they were set.
            cx.after(3 * SECOND, note(4));
        });
        assert_eq!((time.timers(), time.until_next()), (4, Some(SECOND)));
        assert_eq!(time.advance(SECOND - Duration::from_nanos(1)), 0);
        assert!(noted(&doer).is_empty());
        assert_eq!(time.advance(Duration::from_nanos(1)), 1);
        assert_eq!(noted(&doer), [1]);
        assert_eq!(time.advance(10 * SECOND), 3);
        assert_eq!(noted(&doer), [1, 2, 3, 4]);
        assert_eq!((time.timers(), time.until_next()), (0, None));
        assert_eq!(time.now(), start + 11 * SECOND);
        with(&doer, move |_, cx| {
            assert_eq!(cx.now(), start + 11 * SECOND);
            cx.after(Duration::ZERO, note(5));
            // Centuries are no overflow.
            cx.after(Duration::MAX, note(6));
        });
        assert_eq!(time.advance(Duration::ZERO), 1);
        assert_eq!(noted(&doer), [1, 2, 3, 4, 5]);
        assert_eq!((time.advance(1_000_000 * SECOND), time.timers()), (0, 1));
        assert_eq!(time.until_next(), None);
    });
}

/// What was to be told to an actor that has gone is dropped by the one who moves the time, and a panic in that is no other's.
#[test]
fn a_message_that_panics_when_it_is_dropped_keeps_no_other_timer_from_ringing() {
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic_on_purpose();
        }
    }

    within_limit(|| {
        let (pool, time, doer) = doer();
        let gone = pool.spawn_fn(|bomb: Bomb, _| core::mem::forget(bomb));
        gone.tell_after(SECOND, Bomb);
        gone.stop();
        gone.end().wait();
        with(&doer, |_, cx| {
            cx.after(SECOND, note(1));
        });
        assert_eq!(time.advance(SECOND), 2);
        assert_eq!(noted(&doer), [1]);
    });
}

#[test]
fn a_fraction_of_a_millisecond_is_rounded_up() {
    within_limit(|| {
        let (_pool, time, doer) = doer();
        with(&doer, |_, cx| {
            cx.after(Duration::from_micros(1_100), note(1))
        });
        assert_eq!(time.advance(Duration::from_micros(1_999)), 0);
        assert_eq!(time.advance(Duration::from_micros(1)), 1);
        assert_eq!(noted(&doer), [1]);
    });
}

#[test]
fn a_cancelled_timer_never_happens() {
    within_limit(|| {
        let (_pool, time, doer) = doer();
        let drops = Drops::default();
        let token = drops.token();
        let timer = with(&doer, move |_, cx| {
            cx.after(SECOND, move |doer, _| {
                let _token = token;
                doer.noted.push(1);
            })
        });
        assert!(timer.is_pending());
        assert!(timer.cancel());
        // What it kept is gone, and its place in the wheel.
        assert_eq!((drops.count(), time.timers()), (1, 0));
        assert!(!timer.cancel());
        assert!(!timer.is_pending());
        time.advance(2 * SECOND);
        assert!(noted(&doer).is_empty());
    });
}

#[test]
fn it_is_too_late_to_cancel_what_has_happened() {
    within_limit(|| {
        let (_pool, time, doer) = doer();
        let timer = with(&doer, |_, cx| cx.after(SECOND, note(1)));
        time.advance(SECOND);
        assert_eq!(noted(&doer), [1]);
        assert!(!timer.is_pending());
        assert!(!timer.cancel());
    });
}

#[test]
fn a_timer_that_is_dropped_happens() {
    within_limit(|| {
        let (_pool, time, doer) = doer();
        with(&doer, |_, cx| drop(cx.after(SECOND, note(1))));
        time.advance(SECOND);
        assert_eq!(noted(&doer), [1]);
    });
}

/// Keeps the doer in a handler that then does this.
fn busy(
    doer: &Address<Task>,
    then: impl FnOnce(&mut Doer) + Send + 'static,
) -> crate::support::Gate {
    let (wait, gate) = hold();
    let task: Task = Box::new(move |doer, _| {
        Hold::wait(wait);
        then(doer);
    });
    assert!(doer.tell(task).is_ok());
    gate.until_entered();
    gate
}

#[test]
fn cancelled_by_its_actor_it_does_not_happen_even_if_it_has_been_due() {
    within_limit(|| {
        let (_pool, time, doer) = doer();
        let once = with(&doer, |_, cx| cx.after(SECOND, note(1)));
        let again = with(&doer, |_, cx| cx.every(Every::rate(SECOND), note(2)));
        let (timers, kept) = ([once.clone(), again.clone()], [once, again]);
        let gate = busy(&doer, move |_| {
            assert!(timers.iter().all(Timer::is_pending));
            assert!(timers.iter().all(Timer::cancel));
        });
        // Both are on their way.
        assert_eq!(time.advance(SECOND), 2);
        gate.open();
        assert!(noted(&doer).is_empty());
        assert!(!kept.iter().any(Timer::cancel));
        assert_eq!(time.timers(), 0);
    });
}

#[test]
fn a_timer_may_set_and_cancel_timers_itself_too() {
    within_limit(|| {
        let (_pool, time, doer) = doer();
        with(&doer, |doer, cx| {
            doer.timer = Some(cx.every(Every::rate(SECOND), |doer, cx| {
                doer.noted.push(1);
                cx.after(SECOND / 2, note(2));
                if doer.noted.len() >= 5 {
                    let timer = doer.timer.take().unwrap();
                    assert!(timer.is_pending());
                    // It happens, but it would again.
                    assert!(timer.cancel());
                    assert!(!timer.cancel());
                }
            }));
        });
        for _ in 0..20 {
            time.advance(SECOND / 2);
            noted(&doer);
        }
        assert_eq!(noted(&doer), [1, 2, 1, 2, 1, 2]);
        assert_eq!(time.timers(), 0);
    });
}

#[test]
fn a_fixed_rate_does_not_drift_has_no_bursts_and_counts_what_it_missed() {
    within_limit(|| {
        let (_pool, time, doer) = doer();
        let timer = with(&doer, |_, cx| cx.every(Every::rate(SECOND), note(1)));
        for _ in 0..5 {
            assert_eq!(time.until_next(), Some(SECOND));
            time.advance(SECOND);
            noted(&doer);
        }
        assert_eq!((noted(&doer).len(), timer.missed()), (5, 0));
        // Late by half a period, four times; nothing is lost by that.
        time.advance(SECOND / 2);
        for _ in 0..4 {
            time.advance(SECOND);
            noted(&doer);
            assert_eq!(time.until_next(), Some(SECOND / 2));
        }
        assert_eq!((noted(&doer).len(), timer.missed()), (9, 0));
        // The actor comes too late for three.
        time.advance(7 * SECOND / 2);
        assert_eq!((noted(&doer).len(), timer.missed()), (10, 3));
        assert_eq!(time.until_next(), Some(SECOND));
    });
}

#[test]
fn a_fixed_delay_counts_from_the_end() {
    within_limit(|| {
        let (_pool, time, doer) = doer();
        let (wait, gate) = hold();
        let mut wait = Some(wait);
        let timer = with(&doer, |_, cx| {
            let every = Every::delay(SECOND).starting_in(3 * SECOND);
            cx.every(every, move |doer, _| {
                doer.noted.push(1);
                wait.take().into_iter().for_each(Hold::wait);
            })
        });
        assert_eq!(time.until_next(), Some(3 * SECOND));
        time.advance(3 * SECOND);
        gate.until_entered();
        // While it lasts nothing is due.
        assert_eq!(time.advance(10 * SECOND), 0);
        gate.open();
        assert_eq!(noted(&doer), [1]);
        assert_eq!(time.until_next(), Some(SECOND));
        time.advance(SECOND);
        assert_eq!((noted(&doer), timer.missed()), (vec![1, 1], 0));
    });
}

#[test]
fn timers_end_with_their_actor_at_once() {
    within_limit(|| {
        for panics in [false, true] {
            let (_pool, time, doer) = doer();
            let drops = Drops::default();
            let tokens: Vec<_> = (0..5).map(|_| drops.token()).collect();
            let timers = with(&doer, move |_, cx| {
                let timers: Vec<_> = tokens
                    .into_iter()
                    .enumerate()
                    .map(|(number, token)| {
                        let keep = move |_: &mut Doer, _: &mut Context<Doer>| {
                            let _ = &token;
                            unreachable!("the actor has stopped");
                        };
                        if number % 2 == 0 {
                            cx.after(SECOND, keep)
                        } else {
                            cx.every(Every::rate(SECOND), keep)
                        }
                    })
                    .collect();
                timers
            });
            assert!(timers.iter().all(Timer::is_pending));
            let stops: Task = Box::new(move |_, cx| {
                if panics {
                    panic_on_purpose();
                }
                cx.stop();
            });
            assert!(doer.tell(stops).is_ok());
            until(|| drops.count() == 5 && time.timers() == 0);
            assert!(
                !timers
                    .iter()
                    .any(|timer| timer.is_pending() || timer.cancel())
            );
            assert_eq!(time.advance(2 * SECOND), 0);
        }
    });
}

#[test]
fn a_panic_in_a_timer_ends_the_actor_and_its_timers() {
    within_limit(|| {
        let (_pool, time, doer) = doer();
        let drops = Drops::default();
        let token = drops.token();
        let timers = with(&doer, move |_, cx| {
            [
                cx.after(SECOND, |_, _| panic_on_purpose()),
                // Due when the panic comes, and on its way.
                cx.every(Every::rate(SECOND), move |_, _| {
                    let _ = &token;
                    unreachable!("the actor has stopped");
                }),
            ]
        });
        assert_eq!(time.advance(SECOND), 2);
        until(|| doer.is_stopped() && drops.count() == 1 && time.timers() == 0);
        assert!(!timers.iter().any(Timer::is_pending));
    });
}

#[test]
fn what_an_actor_is_to_do_once_keeps_it_until_it_is_done_or_cancelled() {
    within_limit(|| {
        let (pool, time, first) = doer();
        let second = pool.spawn(Doer::default());
        let drops = Drops::default();
        let timers = [first, second].map(|doer| {
            let token = drops.token();
            with(&doer, |_, cx| {
                cx.after(SECOND, |_, cx| {
                    // One that sets another one goes on.
                    cx.after(SECOND, move |_, _| drop(token));
                })
            })
        });
        // Both have lost their last address.
        assert!(timers[1].cancel());
        assert_eq!((drops.count(), time.timers()), (1, 1));
        assert_eq!(time.advance(SECOND), 1);
        until(|| time.timers() == 1);
        assert!(!timers[0].is_pending());
        assert_eq!(time.advance(SECOND), 1);
        until(|| drops.count() == 2);
    });
}

#[test]
fn an_actor_ends_with_the_last_timer_that_keeps_it() {
    within_limit(|| {
        for cancelled in [false, true] {
            let (pool, time) = pool();
            let drops = Drops::default();
            let token = drops.token();
            let doer = pool.spawn(Doer::default());
            let timer = with(&doer, move |_, cx| {
                // Kept by the actor, and dropped with it.
                cx.every(Every::rate(1_000 * SECOND), move |_, _| {
                    let _ = &token;
                });
                cx.after(SECOND, |_, _| {})
            });
            let weak = doer.downgrade();
            drop(doer);
            assert!(weak.upgrade().is_some());
            if cancelled {
                assert!(timer.cancel());
            } else {
                time.advance(SECOND);
            }
            until(|| drops.count() == 1 && time.timers() == 0);
            assert!(weak.upgrade().is_none());
        }
    });
}

#[test]
fn timers_of_its_own_that_repeat_do_not_keep_an_actor() {
    within_limit(|| {
        let (_pool, time, doer) = doer();
        let drops = Drops::default();
        let token = drops.token();
        with(&doer, move |_, cx| {
            cx.every(Every::rate(SECOND), move |_, _| {
                let _ = &token;
            });
        });
        drop(doer);
        until(|| drops.count() == 1 && time.timers() == 0);
    });
}

#[test]
fn functions_tell_themselves() {
    within_limit(|| {
        let (pool, time) = pool();
        let (sender, receiver) = mpsc::channel();
        let drops = Drops::default();
        let mut token = Some(drops.token());
        let actor = pool.spawn_fn(move |number: u32, here| {
            sender.send((number, here.now())).unwrap();
            if number == 0 {
                here.tell_after(2 * SECOND, 100);
                let (token, mut count) = (token.take(), 0);
                here.tell_every(Every::rate(SECOND), move || {
                    let _ = &token;
                    count += 1;
                    count
                });
            }
        });
        let start = time.now();
        actor.tell(0).unwrap();
        assert_eq!(receiver.recv_timeout(LONG), Ok((0, start)));
        until(|| time.timers() == 2);
        time.advance(SECOND);
        assert_eq!(receiver.recv_timeout(LONG), Ok((1, start + SECOND)));
        until(|| time.timers() == 2);
        time.advance(SECOND);
        let second = [(); 2].map(|()| receiver.recv_timeout(LONG).unwrap());
        assert_eq!(second.map(|(number, _)| number), [100, 2]);
        // All of them end with it.
        until(|| time.timers() == 1);
        actor.stop();
        until(|| drops.count() == 1 && time.timers() == 0);
    });
}

#[test]
fn each_tick_is_seen_by_who_moves_the_time_in_steps() {
    within_limit(|| {
        let (_pool, time, doer) = doer();
        let (start, end) = (time.now(), time.now() + 60 * SECOND);
        let timers = with(&doer, |_, cx| {
            [
                cx.every(Every::rate(SECOND), note(1)),
                cx.every(Every::rate(7 * SECOND), note(7)),
            ]
        });
        while let Some(step) = time.until_next().filter(|step| time.now() + *step <= end) {
            time.advance(step);
            noted(&doer);
        }
        assert_eq!(time.now(), start + 60 * SECOND);
        let noted = noted(&doer);
        let count = |kind| noted.iter().filter(|noted| **noted == kind).count();
        assert_eq!((count(1), count(7)), (60, 8));
        assert!(timers.iter().all(|timer| timer.missed() == 0));
    });
}

#[test]
#[should_panic(expected = "moved by hand")]
fn the_systems_time_cannot_be_moved() {
    Time::system().advance(SECOND);
}

#[test]
fn each_timer_either_happens_or_is_cancelled() {
    let soak = Soak::rounds(20);
    within(soak.limit(), move || {
        for round in soak {
            let (pool, time) = pool();
            let happened = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&happened);
            let doer = pool.spawn(Doer::default());
            let actor = pool.spawn_fn(move |(): (), _| {
                count.fetch_add(1, Ordering::SeqCst);
            });
            let mut random = Random::new(round as u64);
            let timers: Vec<_> = (0..1_000)
                .map(|_| {
                    let delay = Duration::from_millis(random.below(200));
                    if random.below(2) == 0 {
                        return actor.tell_after(delay, ());
                    }
                    let count = Arc::clone(&happened);
                    with(&doer, move |_, cx| {
                        cx.after(delay, move |_, _| {
                            count.fetch_add(1, Ordering::SeqCst);
                        })
                    })
                })
                .collect();
            let mover = {
                let time = time.clone();
                thread::spawn(move || {
                    (0..200)
                        .map(|_| time.advance(SECOND / 1_000))
                        .sum::<usize>()
                })
            };
            let cancelled = timers
                .iter()
                .filter(|_| random.below(2) == 0)
                .filter(|timer| timer.cancel());
            let cancelled = cancelled.count();
            // Some of those that were due were cancelled on their way.
            assert!(mover.join().unwrap() >= 1_000 - cancelled);
            until(|| happened.load(Ordering::SeqCst) == 1_000 - cancelled);
            assert_eq!(time.timers(), 0);
            assert!(
                !timers
                    .iter()
                    .any(|timer| timer.is_pending() || timer.cancel())
            );
            assert_eq!(
                (happened.load(Ordering::SeqCst), actor.lost()),
                (1_000 - cancelled, 0)
            );
        }
    });
}

#[test]
fn actors_stop_while_their_timers_are_due() {
    let soak = Soak::rounds(200);
    within(soak.limit(), move || {
        let (pool, time) = pool();
        let drops = Drops::default();
        let mut made = 0;
        for _ in soak {
            let doer = pool.spawn(Doer::default());
            made += 40;
            let tokens: Vec<_> = (0..20).map(|_| drops.token()).collect();
            with(&doer, move |_, cx| {
                for (delay, token) in (1..).zip(tokens) {
                    cx.after(Duration::from_millis(delay), move |_, _| drop(token));
                }
            });
            for delay in 1..=20 {
                let token = drops.token();
                let task: Task = Box::new(move |_, _| drop(token));
                doer.tell_after(Duration::from_millis(delay), task);
            }
            let mover = {
                let time = time.clone();
                thread::spawn(move || {
                    for _ in 0..20 {
                        time.advance(Duration::from_millis(1));
                    }
                })
            };
            doer.stop();
            mover.join().unwrap();
        }
        until(|| drops.count() == made && time.timers() == 0);
    });
}

#[test]
fn the_systems_time_is_never_early() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let doer = pool.spawn(Doer::default());
        let (sender, receiver) = mpsc::channel();
        let start = Instant::now();
        with(&doer, move |_, cx| {
            for delay in [30, 1, 10, 0, 20] {
                let sender = sender.clone();
                let delay = Duration::from_millis(delay);
                let due = cx.now() + delay;
                cx.after(delay, move |_, cx| sender.send((due, cx.now())).unwrap());
            }
        });
        // In which order says nothing: this thread may have been held up between two of them.
        for _ in 0..5 {
            let (due, now) = receiver.recv_timeout(LONG).unwrap();
            assert!(start <= due && due <= now);
        }
        assert!(receiver.recv_timeout(crate::support::SHORT).is_err());
    });
}

#[test]
fn what_ends_by_a_timer_ends_on_another_thread_than_the_clocks() {
    struct Told(mpsc::Sender<Option<String>>);

    impl Drop for Told {
        fn drop(&mut self) {
            let name = thread::current().name().map(str::to_owned);
            let _ = self.0.send(name);
        }
    }

    within_limit(|| {
        // The pool is gone when the timer is due, so it is the clock that finds out.
        let mut delay = Duration::from_millis(50);
        let (actor, receiver) = loop {
            let (sender, receiver) = mpsc::channel();
            let pool = Pool::with_threads(1);
            let told = Told(sender.clone());
            let actor = pool.spawn_fn(move |_: Told, _| {
                let _ = &told;
            });
            let timer = actor.tell_after(delay, Told(sender));
            drop(pool);
            if timer.is_pending() {
                break (actor, receiver);
            }
            // It was due before the pool had gone: this thread, or the pool's, had no core.
            delay *= 2;
            assert!(delay < LONG / 2, "the actor is idle, not stopped");
        };
        for _ in 0..2 {
            let name = receiver.recv_timeout(LONG).unwrap();
            assert_eq!(name.as_deref(), Some("tamtam-errand"));
        }
        let refused = actor.tell_timeout(Told(mpsc::channel().0), SECOND);
        let refused: TellError<Told> = refused.unwrap_err();
        assert!(refused.is_stopped());
        drop(refused.into_inner());
        assert_eq!(actor.lost(), 1);
    });
}

#[test]
fn what_comes_later_to_an_actor_as_it_stops_is_not_dropped_by_the_clock() {
    struct OnItsWay(mpsc::Sender<Option<String>>);

    impl Drop for OnItsWay {
        fn drop(&mut self) {
            let name = thread::current().name().map(str::to_owned);
            let _ = self.0.send(name);
        }
    }

    const MESSAGES: usize = 20;
    within_limit(|| {
        let pool = Pool::with_threads(1);
        for _ in 0..if cfg!(debug_assertions) { 30 } else { 100 } {
            let (sender, receiver) = mpsc::channel();
            let actor = pool.spawn_fn(move |_: OnItsWay, cx| cx.stop());
            for message in 0..MESSAGES {
                // About as many are due before it stops, while it does, and afterwards.
                let delay = Duration::from_millis(1 + message as u64 / 8);
                actor.tell_after(delay, OnItsWay(sender.clone()));
            }
            drop(sender);
            for _ in 0..MESSAGES {
                let name = receiver.recv_timeout(LONG).unwrap();
                assert_ne!(name.as_deref(), Some("tamtam-timer"));
            }
        }
    });
}

#[test]
fn a_time_that_is_moved_as_far_as_possible_goes_on() {
    within_limit(|| {
        let (pool, time) = pool();
        let doer = pool.spawn(Doer::default());
        with(&doer, |doer, cx| {
            doer.timer = Some(cx.every(Every::rate(SECOND), note(1)));
            cx.after(Duration::MAX, note(2));
        });
        let began = time.now();
        assert_eq!(time.advance(Duration::MAX), 1);
        let end = time.now();
        assert!(end > began + 1_000_000 * SECOND);
        assert_eq!(noted(&doer), [1]);
        // It cannot be moved any more.
        time.advance(SECOND);
        assert_eq!(time.now(), end);
        with(&doer, |_, cx| cx.after(SECOND, note(3)));
        time.advance(Duration::MAX);
        assert_eq!(noted(&doer)[0], 1);
        assert_ne!(time.until_next(), Some(Duration::ZERO));
    });
}
