//! Ends in order: actors that finish what they have accepted, and pools that end with a deadline.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use crate::support::{
    Answers, Hold, LONG, SHORT, Soak, hold, panic_on_purpose, until, within, within_limit,
};
use tamtam_actor::{
    Actor, Address, AskError, Context, EndReason, Frame, Overflow, Pool, Reply, Restart,
};

/// Keeps replies, and may be asked to ask.
struct Worker {
    handled: Arc<AtomicU64>,
    other: Option<Address<Reply<()>>>,
    stopped: Arc<AtomicU64>,
}

enum Job {
    Count,
    Hold(Hold),
    AskOther(Reply<()>),
    FinishYourself,
    Panic,
}

impl Actor for Worker {
    type Message = Job;

    fn handle(&mut self, job: Job, cx: &mut Context<Self>) {
        match job {
            Job::Count => {}
            Job::Hold(hold) => hold.wait(),
            Job::AskOther(reply) => {
                if let Some(other) = &self.other {
                    cx.ask(
                        other,
                        |reply| reply,
                        |_, answer, _| {
                            if answer.is_ok() {
                                reply.send(());
                            }
                        },
                    );
                }
            }
            Job::FinishYourself => cx.finish(),
            Job::Panic => panic_on_purpose(),
        }
        self.handled.fetch_add(1, Ordering::SeqCst);
    }

    fn stopped(&mut self, _: &mut Context<Self>) {
        self.stopped.fetch_add(1, Ordering::SeqCst);
    }
}

#[derive(Default)]
struct Counts {
    handled: Arc<AtomicU64>,
    stopped: Arc<AtomicU64>,
}

impl Counts {
    fn worker(&self) -> Worker {
        Worker {
            handled: Arc::clone(&self.handled),
            other: None,
            stopped: Arc::clone(&self.stopped),
        }
    }

    fn handled(&self) -> u64 {
        self.handled.load(Ordering::SeqCst)
    }

    fn stopped(&self) -> u64 {
        self.stopped.load(Ordering::SeqCst)
    }
}

#[test]
fn one_that_finishes_handles_what_it_has_accepted_and_no_more() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        for limit in [None, Some(5_000)] {
            let counts = Counts::default();
            let spawner = pool.spawner();
            let spawner = spawner.limited(limit, Overflow::Fail);
            let worker = spawner.spawn(counts.worker());
            let (wait, gate) = hold();
            worker.tell(Job::Hold(wait)).unwrap();
            gate.until_entered();
            for _ in 0..1_000 {
                worker.tell(Job::Count).unwrap();
            }
            worker.finish();
            worker.finish();
            gate.open();
            assert_eq!(worker.end().wait().reason, EndReason::Stopped);
            assert_eq!(counts.handled(), 1_001);
            assert_eq!(counts.stopped(), 1);
            assert_eq!(worker.lost(), 0);
            assert!(worker.tell(Job::Count).unwrap_err().is_stopped());
            worker.finish();
        }
        // Nothing to do; and one that has never begun.
        let counts = Counts::default();
        let worker = pool.spawn(counts.worker());
        worker.finish();
        assert_eq!(worker.end().wait().reason, EndReason::Stopped);
        assert_eq!(counts.stopped(), 1);
        // By itself.
        let worker = pool.spawn(counts.worker());
        worker.tell(Job::FinishYourself).unwrap();
        assert_eq!(worker.end().wait().reason, EndReason::Stopped);
    });
}

#[test]
fn one_that_finishes_goes_on_with_what_it_awaits_and_can_be_stopped_meanwhile() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        for is_stopped in [false, true] {
            let kept: Arc<Mutex<Option<Reply<()>>>> = Arc::default();
            let keeper = pool.spawn_fn({
                let kept = Arc::clone(&kept);
                move |reply: Reply<()>, _| *kept.lock().unwrap() = Some(reply)
            });
            let counts = Counts::default();
            let mut worker = counts.worker();
            worker.other = Some(keeper);
            let worker = pool.spawn(worker);
            let answers = Answers::new();
            worker.tell(Job::AskOther(answers.reply())).unwrap();
            worker.finish();
            until(|| kept.lock().unwrap().is_some() && worker.is_stopped());
            assert!(worker.tell(Job::Count).is_err());
            assert!(answers.are_out());
            let reply = kept.lock().unwrap().take().unwrap();
            if is_stopped {
                worker.stop();
                worker.end().wait();
                // What it would have done with the answer lies in the reply.
                drop(reply);
                assert_eq!(answers.next(), Err(AskError::Unanswered));
            } else {
                reply.send(());
                assert_eq!(answers.next(), Ok(()));
            }
            assert_eq!(worker.end().wait().reason, EndReason::Stopped);
            assert_eq!(counts.stopped(), 1);
        }
    });
}

#[test]
fn one_that_panics_while_it_finishes_goes_on_if_it_is_begun_again() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let counts = Arc::new(Counts::default());
        let worker = {
            let counts = Arc::clone(&counts);
            pool.spawner()
                .restart(Restart::on_panic())
                .spawn_with(move |_| counts.worker())
        };
        let (wait, gate) = hold();
        worker.tell(Job::Hold(wait)).unwrap();
        gate.until_entered();
        worker.tell(Job::Panic).unwrap();
        worker.tell(Job::Count).unwrap();
        worker.finish();
        gate.open();
        assert_eq!(worker.end().wait().reason, EndReason::Stopped);
        assert_eq!(counts.handled(), 2);
        assert_eq!(worker.lost(), 1);
    });
}

/// Senders beside one that finishes: each message is handled, comes back, or is counted.
#[test]
fn finishing_beside_senders_loses_nothing_in_silence() {
    let rounds = Soak::rounds(if cfg!(debug_assertions) { 100 } else { 500 });
    within(rounds.limit(), move || {
        let pool = Pool::with_threads(2);
        for round in rounds {
            let counts = Counts::default();
            let spawner = pool.spawner();
            let limit = (round % 2 != 0).then_some(16);
            let spawner = spawner.limited(limit, Overflow::Fail);
            let worker = spawner.spawn(counts.worker());
            let accepted = AtomicU64::new(0);
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        for _ in 0..200 {
                            match worker.tell(Job::Count) {
                                Ok(()) => _ = accepted.fetch_add(1, Ordering::SeqCst),
                                Err(error) if error.is_stopped() => break,
                                Err(_) => thread::yield_now(),
                            }
                        }
                    });
                }
                scope.spawn(|| worker.finish());
            });
            worker.end().wait();
            let accepted = accepted.into_inner();
            until(|| counts.handled() + worker.lost() == accepted);
        }
    });
}

/// Keeps a pool busy for ever: it sends itself another message with each one.
fn restless(pool: &Pool) -> Address<u64> {
    pool.spawn_fn(|number: u64, here| {
        let _ = here.address().tell(number + 1);
    })
}

#[test]
fn a_pool_that_has_finished_in_time_says_so() {
    within_limit(|| {
        for threads in [1, 2, 3] {
            let pool = Pool::with_threads(threads);
            let counts = Counts::default();
            let workers: Vec<_> = (0..50).map(|_| pool.spawn(counts.worker())).collect();
            for worker in workers.iter().cycle().take(5_000) {
                worker.tell(Job::Count).unwrap();
            }
            let shutdown = pool.shutdown_timeout(LONG);
            assert!(shutdown.finished, "{shutdown:?}");
            assert_eq!((shutdown.abandoned, shutdown.at_work), (0, 0));
            assert_eq!(counts.handled(), 5_000);
        }
    });
}

#[test]
fn a_pool_that_loses_what_an_actor_kept_back_has_not_finished() {
    struct Holding(mpsc::Sender<()>);

    impl Actor for Holding {
        type Message = ();

        fn handle(&mut self, (): (), cx: &mut Context<Self>) {
            cx.hold(core::future::pending::<()>(), |_, (), _| {});
            self.0.send(()).unwrap();
        }
    }

    within_limit(|| {
        for kept_back in [0, 3] {
            let pool = Pool::with_threads(2);
            let (sender, receiver) = mpsc::channel();
            let holding = [(); 2].map(|()| pool.spawn(Holding(sender.clone())));
            for actor in &holding {
                actor.tell(()).unwrap();
                receiver.recv_timeout(LONG).unwrap();
            }
            for _ in 0..kept_back {
                holding[0].tell(()).unwrap();
            }
            let shutdown = pool.shutdown_timeout(LONG);
            assert_eq!(shutdown.finished, kept_back == 0, "{shutdown:?}");
            let ended_with_mail = usize::from(kept_back != 0);
            assert_eq!((shutdown.abandoned, shutdown.at_work), (ended_with_mail, 0));
            assert_eq!(holding.each_ref().map(Address::lost), [kept_back, 0]);
            assert!(holding.iter().all(Address::is_stopped));
        }
    });
}

/// It was lost, though the pool said that all was done.
#[test]
fn a_pool_with_a_deadline_waits_for_room_for_what_its_actors_have_sent() {
    within_limit(|| {
        let elsewhere = Pool::with_threads(1);
        for (is_blocking, threads) in [(false, 1), (false, 2), (true, 1)] {
            let (wait, gate) = hold();
            let (mut wait, handled) = (Some(wait), Arc::new(AtomicU64::new(0)));
            let count = Arc::clone(&handled);
            let spawner = elsewhere.spawner().limited(2, Overflow::Wait);
            let sink = spawner.spawn_fn(move |_: u32, _| {
                wait.take().into_iter().for_each(Hold::wait);
                count.fetch_add(1, Ordering::SeqCst);
            });
            sink.tell(0).unwrap();
            gate.until_entered();
            let pool = Pool::with_threads(threads);
            let to = sink.clone();
            let mut spawner = pool.spawner();
            if is_blocking {
                spawner = spawner.blocking();
            }
            let actor = spawner.spawn_fn(move |number: u32, _| to.tell(number).unwrap());
            for number in 1..=50 {
                actor.tell(number).unwrap();
            }
            until(|| sink.level().unwrap().queued == 3);
            let end = actor.end();
            let ending = thread::spawn(move || pool.shutdown_timeout(LONG));
            // Time for a pool to end that does not wait.
            thread::sleep(SHORT);
            assert!(!actor.is_stopped() && !ending.is_finished());
            gate.open();
            let shutdown = ending.join().unwrap();
            assert!(shutdown.finished, "{shutdown:?}");
            assert_eq!(end.wait().reason, EndReason::HomeEnded);
            elsewhere.wait_idle().unwrap();
            assert_eq!((handled.load(Ordering::SeqCst), actor.lost()), (51, 0));
        }
    });
}

/// Nothing was told of it, and it lay there for ever.
#[test]
fn what_a_muted_actor_had_accepted_is_lost_and_told_when_its_pool_ends_before_there_is_room() {
    within_limit(|| {
        let frame = Frame::new();
        for has_deadline in [true, false] {
            let spawner = frame.spawner().limited(1, Overflow::Wait);
            let never = spawner.spawn_fn(|_: u32, _| {});
            let pool = Pool::with_threads(2);
            let to = never.clone();
            let actor = pool.spawn_fn(move |number: u32, _| to.tell(number).unwrap());
            for number in 0..5 {
                actor.tell(number).unwrap();
            }
            until(|| never.level().unwrap().queued == 2);
            // It is not watched: a pool tells those that are.
            if has_deadline {
                let shutdown = pool.shutdown_timeout(Duration::from_millis(10));
                assert!(!shutdown.finished);
                // The last thread that leaves counts it, and may not have come to that.
                assert!(shutdown.abandoned == 1 || shutdown.at_work > 0);
            } else {
                drop(pool);
            }
            assert_eq!(actor.end().wait().reason, EndReason::HomeEnded);
            assert_eq!((actor.is_stopped(), actor.lost()), (true, 3));
        }
    });
}

#[test]
fn a_pool_that_never_finishes_is_ended_at_its_deadline() {
    within_limit(|| {
        for threads in [1, 2] {
            let pool = Pool::with_threads(threads);
            let actor = restless(&pool);
            actor.tell(0).unwrap();
            let end = actor.end();
            let shutdown = pool.shutdown_timeout(Duration::from_millis(10));
            assert!(!shutdown.finished);
            assert!(shutdown.abandoned >= 1 || shutdown.at_work >= 1);
            assert_eq!(end.wait().reason, EndReason::HomeEnded);
            until(|| actor.lost() >= 1);
            assert!(actor.tell(0).is_err());
        }
    });
}

#[test]
fn a_handler_that_does_not_come_back_does_not_keep_the_shutdown() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let counts = Counts::default();
        let worker = pool.spawn(counts.worker());
        let (wait, gate) = hold();
        worker.tell(Job::Hold(wait)).unwrap();
        gate.until_entered();
        worker.tell(Job::Count).unwrap();
        let shutdown = pool.shutdown_timeout(Duration::from_millis(1));
        assert!(!shutdown.finished);
        assert!(shutdown.at_work >= 1);
        let end = worker.end();
        gate.open();
        // It handles what its turn had come to, and the rest is counted.
        drop(worker);
        end.wait();
    });
}

#[test]
fn while_a_pool_ends_messages_from_outside_come_back_and_those_from_inside_are_handled() {
    within_limit(|| {
        for is_blocking in [false, true] {
            let pool = Pool::with_threads(2);
            let counts = Counts::default();
            let last = pool.spawn(counts.worker());
            let idle = pool.spawn(counts.worker());
            // Also the actor that was told in vain from outside before.
            let both = [last.clone(), idle.clone()];
            let spawner = pool.spawner();
            let spawner = if is_blocking {
                spawner.blocking()
            } else {
                spawner
            };
            let first = spawner.spawn_fn(move |hold: Hold, _| {
                hold.wait();
                for actor in &both {
                    actor.tell(Job::Count).unwrap();
                }
            });
            let (wait, gate) = hold();
            first.tell(wait).unwrap();
            gate.until_entered();
            thread::scope(|scope| {
                scope.spawn(|| pool.shutdown());
                // From some moment on it is refused, and comes back, unless there is something to do already.
                let mut accepted = 0;
                until(|| match idle.tell(Job::Count) {
                    Ok(()) => {
                        accepted += 1;
                        until(|| counts.handled() == accepted);
                        false
                    }
                    Err(error) => {
                        assert!(error.is_stopped());
                        assert!(matches!(error.into_inner(), Job::Count));
                        true
                    }
                });
                gate.open();
                until(|| counts.handled() == accepted + 2);
            });
            assert_eq!(last.lost() + idle.lost(), 0);
        }
    });
}

#[test]
fn handlers_that_block_have_threads_of_their_own() {
    within_limit(|| {
        let pool = Pool::builder()
            .threads(1)
            .blocking_threads(40)
            .build()
            .unwrap();
        // All at once, and the pool's one thread is free.
        let gates: Vec<_> = (0..40)
            .map(|_| {
                let blocker = pool
                    .spawner()
                    .blocking()
                    .spawn_fn(|hold: Hold, _| hold.wait());
                let (wait, gate) = hold();
                blocker.tell(wait).unwrap();
                (gate, blocker)
            })
            .collect();
        for (gate, _) in &gates {
            gate.until_entered();
        }
        let echo = pool.spawn_fn(|reply: Reply<u8>, _| reply.send(1));
        assert_eq!(echo.ask(|reply| reply), Ok(1));
        // One more has to wait.
        let late = pool.spawn_blocking(Counts::default().worker());
        let (wait, gate) = hold();
        late.tell(Job::Hold(wait)).unwrap();
        gates.into_iter().for_each(|(gate, _)| gate.open());
        gate.until_entered();
        gate.open();
        pool.shutdown();
        assert_eq!(late.lost(), 0);
    });
}

#[test]
fn order_is_kept_where_handlers_may_block() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let (sender, receiver) = std::sync::mpsc::channel();
        let actors: Vec<_> = (0..10)
            .map(|actor| {
                let sender = sender.clone();
                let spawner = pool.spawner().blocking();
                spawner.spawn_fn(move |number: u32, _| sender.send((actor, number)).unwrap())
            })
            .collect();
        for number in 0..2_000 {
            for actor in &actors {
                actor.tell(number).unwrap();
            }
        }
        pool.shutdown();
        drop(actors);
        drop(sender);
        let mut next = [0; 10];
        for (actor, number) in receiver {
            assert_eq!(number, next[actor as usize]);
            next[actor as usize] += 1;
        }
        assert_eq!(next, [2_000; 10]);
    });
}

#[test]
fn a_turn_is_as_long_as_the_builder_says() {
    within_limit(|| {
        // With one message a turn, two that are busy take turns strictly.
        let pool = Pool::builder()
            .threads(1)
            .turn(1, Duration::from_secs(1))
            .build()
            .unwrap();
        let log: Arc<Mutex<Vec<u32>>> = Arc::default();
        let actors = [1, 2].map(|name| {
            let log = Arc::clone(&log);
            pool.spawn_fn(move |(): (), _| log.lock().unwrap().push(name))
        });
        let teller = pool.spawn_fn(move |(): (), _| {
            for _ in 0..10 {
                for actor in &actors {
                    actor.tell(()).unwrap();
                }
            }
        });
        teller.tell(()).unwrap();
        pool.shutdown();
        let log = log.lock().unwrap();
        assert_eq!(log.len(), 20);
        let longest = log.chunk_by(|a, b| a == b).map(<[u32]>::len).max();
        assert!(longest <= Some(2), "{log:?}");
    });
}
