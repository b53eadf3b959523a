//! Actors that begin again after a panic, in the same mailbox.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{
    Answers, Drops, Hold, LONG, Log, Random, Soak, Token, hold, panic_on_purpose, until, within,
    within_limit,
};
use tamtam_actor::{
    Actor, Address, AskError, Context, Describes, EndReason, Overflow, Pool, Reply, Restart,
    Restarting,
};

struct Worker {
    log: Log,
    instance: u32,
    seen: Vec<u32>,
    _token: Option<Token>,
}

enum Job {
    Note(u32),
    Read(Reply<(u32, Vec<u32>)>),
    Panic,
    PanicAt { _reply: Reply<()> },
    Hold(Hold),
    Finish,
    AskBeforePanic(Address<Reply<()>>),
    HoldForEver(Token),
}

impl Actor for Worker {
    type Message = Job;

    fn started(&mut self, _: &mut Context<Self>) {
        self.log.add(format!("started {}", self.instance));
    }

    fn handle(&mut self, job: Job, cx: &mut Context<Self>) {
        match job {
            Job::Note(number) => self.seen.push(number),
            Job::Read(reply) => reply.send((self.instance, self.seen.clone())),
            Job::Panic | Job::PanicAt { .. } => panic_on_purpose(),
            Job::Hold(hold) => hold.wait(),
            Job::Finish => cx.stop(),
            Job::AskBeforePanic(other) => {
                cx.ask(
                    &other,
                    |reply| reply,
                    |worker, _, _| {
                        worker.log.add("an answer to one who is dead");
                    },
                );
                panic_on_purpose();
            }
            Job::HoldForEver(token) => {
                let future = async move {
                    let _token = token;
                    std::future::pending::<()>().await;
                };
                cx.hold(future, |_, (), _| {});
                panic_on_purpose();
            }
        }
    }

    fn stopped(&mut self, _: &mut Context<Self>) {
        self.log.add(format!("stopped {}", self.instance));
    }
}

/// Instances are numbered from 1.
fn worker<B: Describes<Job>>(spawner: Restarting<Pool, B>, log: &Log) -> Address<Job> {
    let log = log.clone();
    let mut instance = 0;
    spawner.spawn_with(move |_| {
        instance += 1;
        Worker {
            log: log.clone(),
            instance,
            seen: Vec::new(),
            _token: None,
        }
    })
}

/// As often as needed, with a pause that a test does not feel.
fn soon() -> Restart {
    Restart::on_panic().no_limit().backoff(
        Duration::from_micros(50),
        1.0,
        Duration::from_micros(50),
    )
}

fn at_once() -> Restart {
    Restart::on_panic()
        .no_limit()
        .backoff(Duration::ZERO, 1.0, Duration::ZERO)
}

#[test]
fn messages_that_wait_are_for_the_next_instance_in_order() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        for restart in [soon(), at_once()] {
            for limit in [None, Some(1_000)] {
                let log = Log::default();
                let spawner = pool.spawner().limited(limit, Overflow::Fail);
                let actor = worker(spawner.restart(restart.clone()), &log);
                let (wait, gate) = hold();
                actor.tell(Job::Hold(wait)).unwrap();
                gate.until_entered();
                actor.tell(Job::Note(0)).unwrap();
                let answers = Answers::new();
                actor
                    .tell(Job::PanicAt {
                        _reply: answers.reply(),
                    })
                    .unwrap();
                for number in 1..200 {
                    actor.tell(Job::Note(number)).unwrap();
                }
                gate.open();
                let answer = answers.next();
                assert!(matches!(answer, Err(AskError::Panicked(_))), "{answer:?}");
                let (instance, seen) = actor.ask(Job::Read).unwrap();
                assert_eq!(instance, 2);
                assert_eq!(seen, (1..200).collect::<Vec<_>>());
                assert_eq!(actor.lost(), 1, "the message that it panicked at");
                actor.stop();
                assert_eq!(actor.end().wait().reason, EndReason::Stopped);
                assert_eq!(log.lines(), ["started 1", "started 2", "stopped 2"]);
            }
        }
    });
}

#[test]
fn one_that_panics_too_often_gives_up() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let log = Log::default();
        let restart = at_once().limit(3, Duration::from_secs(3_600));
        let actor = worker(pool.spawner().name("poor").restart(restart), &log);
        for _ in 0..3 {
            actor.tell(Job::Panic).unwrap();
        }
        assert_eq!(actor.ask(Job::Read).unwrap().0, 4);
        let end = actor.end();
        actor.tell(Job::Panic).unwrap();
        let ended = end.wait();
        assert!(
            matches!(ended.reason, EndReason::GaveUp { restarts: 3, .. }),
            "{ended}"
        );
        assert_eq!(ended.name.as_deref(), Some("poor"));
        assert!(actor.tell(Job::Panic).unwrap_err().is_stopped());
        assert_eq!(actor.lost(), 4);
    });
}

#[test]
fn never_is_never() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let log = Log::default();
        let actor = worker(pool.spawner().restart(Restart::never()), &log);
        actor.tell(Job::Panic).unwrap();
        assert!(matches!(actor.end().wait().reason, EndReason::Panicked(_)));
        assert_eq!(log.lines(), ["started 1"]);
    });
}

/// Wish 31 (actix 204, xactor 27).
#[test]
fn what_was_stopped_on_purpose_is_not_begun_again() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        for restart in [Restart::on_panic(), Restart::always()] {
            let log = Log::default();
            let actor = worker(pool.spawner().restart(restart.clone()), &log);
            actor.stop();
            assert_eq!(actor.end().wait().reason, EndReason::Stopped);
            let last = log.lines().pop().unwrap();
            assert_eq!(last, "stopped 1");
            let actor = worker(pool.spawner().restart(restart), &log);
            let end = actor.end();
            drop(actor);
            assert_eq!(end.wait().reason, EndReason::NoAddresses);
        }
        // By itself: not after a panic alone, but always.
        let log = Log::default();
        let actor = worker(pool.spawner().restart(at_once()), &log);
        actor.tell(Job::Finish).unwrap();
        assert_eq!(actor.end().wait().reason, EndReason::Stopped);
        let log = Log::default();
        let actor = worker(pool.spawner().restart(Restart::always().no_limit()), &log);
        actor.tell(Job::Finish).unwrap();
        assert_eq!(actor.ask(Job::Read).unwrap().0, 2);
        assert_eq!(log.lines(), ["started 1", "stopped 1", "started 2"]);
        assert_eq!(actor.lost(), 0);
        actor.stop();
        assert_eq!(actor.end().wait().reason, EndReason::Stopped);
    });
}

#[test]
fn it_can_be_stopped_during_a_pause_and_what_waits_is_counted() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let log = Log::default();
        let hour = Duration::from_secs(3_600);
        let actor = worker(
            pool.spawner()
                .restart(Restart::on_panic().backoff(hour, 1.0, hour)),
            &log,
        );
        let answers = Answers::new();
        actor
            .tell(Job::PanicAt {
                _reply: answers.reply(),
            })
            .unwrap();
        let answer = answers.next();
        assert!(matches!(answer, Err(AskError::Panicked(_))), "{answer:?}");
        actor.tell(Job::Note(1)).unwrap();
        let waiting = Answers::new();
        let reply = waiting.reply();
        actor.tell(Job::Read(reply)).unwrap();
        actor.stop();
        assert_eq!(waiting.next(), Err(AskError::Unanswered));
        assert_eq!(actor.end().wait().reason, EndReason::Stopped);
        assert_eq!(actor.lost(), 3);
        assert_eq!(log.lines(), ["started 1"]);
    });
}

#[test]
fn a_pause_is_as_long_as_said_and_grows() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let log = Log::default();
        let first = Duration::from_millis(10);
        let restart = Restart::on_panic()
            .no_limit()
            .backoff(first, 2.0, Duration::from_millis(30));
        let actor = worker(pool.spawner().restart(restart), &log);
        // 10, 20, 30 and 30 ms: never less.
        for pause in [10, 20, 30, 30] {
            let answers = Answers::new();
            let began = Instant::now();
            actor
                .tell(Job::PanicAt {
                    _reply: answers.reply(),
                })
                .unwrap();
            actor.ask(Job::Read).unwrap();
            assert!(began.elapsed() >= Duration::from_millis(pause));
        }
    });
}

#[test]
fn a_birth_that_panics_counts_as_a_panic() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let births = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&births);
        let log = Log::default();
        let actor = pool
            .spawner()
            .restart(at_once().limit(5, Duration::from_secs(3_600)))
            .spawn_with(move |_| {
                if count.fetch_add(1, Ordering::SeqCst) < 3 {
                    panic_on_purpose();
                }
                Worker {
                    log: log.clone(),
                    instance: 0,
                    seen: Vec::new(),
                    _token: None,
                }
            });
        assert_eq!(actor.ask(Job::Read), Ok((0, Vec::new())));
        assert_eq!(births.load(Ordering::SeqCst), 4);
        assert_eq!(actor.lost(), 0, "no message was at fault");

        // The first birth waits for the question: an actor that has given up refuses it.
        let (asked, wait_for_the_question) = std::sync::mpsc::channel::<()>();
        let wait_for_the_question = Mutex::new(wait_for_the_question);
        let never = pool
            .spawner()
            .restart(at_once().limit(5, Duration::from_secs(3_600)))
            .spawn_with(move |_: &mut Context<Worker>| -> Worker {
                let _ = wait_for_the_question.lock().unwrap().recv();
                panic_on_purpose()
            });
        let end = never.end();
        let answers = Answers::new();
        never.tell(Job::Read(answers.reply())).unwrap();
        drop(asked);
        assert!(matches!(
            end.wait().reason,
            EndReason::GaveUp { restarts: 5, .. }
        ));
        let answer = answers.next();
        assert!(matches!(answer, Err(AskError::Panicked(_))), "{answer:?}");
    });
}

#[test]
fn what_the_dead_instance_was_to_go_on_with_is_forgotten() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let log = Log::default();
        let actor = worker(pool.spawner().restart(at_once()), &log);
        // A question whose answer comes after the next instance has begun.
        let kept: Arc<Mutex<Option<Reply<()>>>> = Arc::default();
        let keeper = pool.spawn_fn({
            let kept = Arc::clone(&kept);
            move |reply: Reply<()>, _| *kept.lock().unwrap() = Some(reply)
        });
        actor.tell(Job::AskBeforePanic(keeper)).unwrap();
        assert_eq!(actor.ask(Job::Read).unwrap().0, 2);
        until(|| kept.lock().unwrap().is_some());
        kept.lock().unwrap().take().unwrap().send(());
        // A future that is never ready, and would keep messages back.
        let drops = Drops::default();
        actor.tell(Job::HoldForEver(drops.token())).unwrap();
        assert_eq!(actor.ask(Job::Read).unwrap().0, 3);
        assert_eq!(drops.count(), 1);
        assert_eq!(log.lines(), ["started 1", "started 2", "started 3"]);
        // Nothing of it keeps the actor from ending for want of addresses.
        let end = actor.end();
        drop(actor);
        assert_eq!(end.wait().reason, EndReason::NoAddresses);
    });
}

#[test]
fn a_pool_that_ends_during_a_pause_ends_the_actor() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let log = Log::default();
        let hour = Duration::from_secs(3_600);
        let actor = worker(
            pool.spawner()
                .restart(Restart::on_panic().backoff(hour, 1.0, hour)),
            &log,
        );
        let answers = Answers::new();
        let end = actor.end();
        actor
            .tell(Job::PanicAt {
                _reply: answers.reply(),
            })
            .unwrap();
        let answer = answers.next();
        assert!(matches!(answer, Err(AskError::Panicked(_))), "{answer:?}");
        actor.tell(Job::Note(1)).unwrap();
        drop(pool);
        assert_eq!(end.wait().reason, EndReason::HomeEnded);
        assert_eq!(actor.lost(), 2);
    });
}

/// A message of a storm, and what becomes of it.
enum Storm {
    Count,
    Panic,
    Ask(Reply<()>),
}

struct Stormy(Arc<AtomicU64>);

impl Actor for Stormy {
    type Message = Storm;

    fn handle(&mut self, message: Storm, _: &mut Context<Self>) {
        match message {
            Storm::Panic => panic_on_purpose(),
            Storm::Count => {}
            Storm::Ask(reply) => reply.send(()),
        }
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Threads tell and ask actors that panic now and then, begin again, give up or are stopped: what was accepted is
/// handled or counted, and whoever asked hears.
#[test]
fn kill_and_restart_storms_lose_nothing_in_silence() {
    let rounds = Soak::rounds(if cfg!(debug_assertions) { 40 } else { 200 });
    within(rounds.limit(), move || {
        for round in rounds {
            let pool = Pool::with_threads(1 + round % 3);
            let handled = Arc::new(AtomicU64::new(0));
            let actors: Vec<_> = (0..20)
                .map(|number| {
                    let handled = Arc::clone(&handled);
                    let limit = (number % 3 == 0).then_some(10);
                    let spawner = pool.spawner().limited(limit, Overflow::Fail);
                    let restart = match number % 4 {
                        0 => soon(),
                        1 => at_once(),
                        2 => at_once().limit(10, Duration::from_secs(60)),
                        _ => soon().limit(30, Duration::from_secs(60)),
                    };
                    spawner
                        .restart(restart)
                        .spawn_with(move |_| Stormy(Arc::clone(&handled)))
                })
                .collect();
            let (accepted, asked) = (AtomicU64::new(0), AtomicU64::new(0));
            let answered = Arc::new(AtomicU64::new(0));
            thread::scope(|scope| {
                for teller in 0..3 {
                    let (actors, accepted, asked, answered) =
                        (&actors, &accepted, &asked, &answered);
                    scope.spawn(move || {
                        let mut random = Random::new((round * 3 + teller) as u64);
                        for _ in 0..1_000 {
                            let actor = &actors[random.below(20) as usize];
                            let message = match random.below(30) {
                                0 => Storm::Panic,
                                1..10 => {
                                    asked.fetch_add(1, Ordering::SeqCst);
                                    let answered = Arc::clone(answered);
                                    Storm::Ask(Reply::to(move |_| {
                                        answered.fetch_add(1, Ordering::SeqCst);
                                    }))
                                }
                                _ => Storm::Count,
                            };
                            if actor.tell(message).is_ok() {
                                accepted.fetch_add(1, Ordering::SeqCst);
                            }
                        }
                    });
                }
                scope.spawn(|| {
                    for actor in actors.iter().take(5) {
                        actor.stop();
                        thread::yield_now();
                    }
                });
            });
            let lost = || {
                let lost = actors.iter().map(|actor| actor.lost());
                lost.sum::<u64>()
            };
            let accepted = accepted.into_inner();
            until(|| handled.load(Ordering::SeqCst) + lost() >= accepted);
            pool.shutdown();
            assert_eq!(handled.load(Ordering::SeqCst) + lost(), accepted);
            assert_eq!(answered.load(Ordering::SeqCst), asked.into_inner());
        }
    });
}

#[test]
fn a_stop_that_comes_with_a_panic_is_not_lost() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        for _ in Soak::rounds(50) {
            let log = Log::default();
            let (told, tells) = mpsc::channel::<()>();
            /// Panics in a continuation, while its stop is already known.
            struct Fragile(Address<Reply<()>>, mpsc::Sender<()>);
            enum Poke {
                Ask,
                Hold(Hold),
            }
            impl Actor for Fragile {
                type Message = Poke;
                fn handle(&mut self, poke: Poke, cx: &mut Context<Self>) {
                    match poke {
                        Poke::Ask => cx.ask(
                            &self.0,
                            |reply| reply,
                            |this, _, _| {
                                let _ = this.1.send(());
                                panic_on_purpose()
                            },
                        ),
                        Poke::Hold(hold) => hold.wait(),
                    }
                }
            }
            let kept: Arc<Mutex<Option<Reply<()>>>> = Arc::default();
            let keeper = pool.spawn_fn({
                let kept = Arc::clone(&kept);
                move |reply: Reply<()>, _| *kept.lock().unwrap() = Some(reply)
            });
            let fragile = pool
                .spawner()
                .restart(at_once())
                .spawn_with(move |_| Fragile(keeper.clone(), told.clone()));
            fragile.tell(Poke::Ask).unwrap();
            until(|| kept.lock().unwrap().is_some());
            let (wait, gate) = hold();
            fragile.tell(Poke::Hold(wait)).unwrap();
            gate.until_entered();
            // Both are there when the handler returns: first the answer, then the stop.
            kept.lock().unwrap().take().unwrap().send(());
            fragile.stop();
            gate.open();
            tells.recv_timeout(LONG).unwrap();
            assert_eq!(fragile.end().wait().reason, EndReason::Stopped);
            drop(log);
        }
    });
}
