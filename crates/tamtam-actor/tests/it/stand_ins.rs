//! Handlers that wait on threads of a pool, more than there are threads: others stand in, up to a limit, and then the handlers
//! get an error.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::support::{Answers, LONG, hold, within_limit};
use tamtam_actor::{Actor, Address, AskError, Context, NoThread, Overflow, Pool, Reply};
use tamtam_channel::Receiver;

type Question = Reply<Result<u64, AskError>>;

/// So many actors, each of which asks the same other one of their pool when it is asked.
fn askers(pool: &Pool, count: usize) -> Vec<Address<Question>> {
    let answerer = pool
        .spawner()
        .name("answerer")
        .spawn_fn(|reply: Reply<u64>, _| reply.send(1));
    (0..count)
        .map(|_| {
            let answerer = answerer.clone();
            pool.spawn_fn(move |reply: Question, _| reply.send(answerer.ask(|reply| reply)))
        })
        .collect()
}

/// Asks all at once; the answers.
fn ask_all(askers: &[Address<Question>]) -> Vec<Result<u64, AskError>> {
    let answers = Answers::new();
    for asker in askers {
        asker.tell(answers.reply()).unwrap();
    }
    (0..askers.len()).map(|_| answers.next().unwrap()).collect()
}

fn all_are_answered(threads: usize, count: usize) {
    within_limit(move || {
        let pool = Pool::with_threads(threads);
        let askers = askers(&pool, count);
        assert!(ask_all(&askers).iter().all(|answer| *answer == Ok(1)));
        // It ends.
        drop(pool);
    });
}

#[test]
fn a_hundred_actors_that_ask_one_of_their_pool_are_answered() {
    all_are_answered(2, 100);
}

#[test]
fn a_thousand_actors_that_ask_one_of_their_pool_are_answered() {
    all_are_answered(2, 1_000);
    all_are_answered(1, 1_000);
}

#[test]
fn ten_thousand_actors_that_ask_one_of_their_pool_are_answered() {
    all_are_answered(2, 10_000);
}

#[test]
fn with_few_stand_ins_actors_that_ask_one_of_their_pool_are_answered() {
    within_limit(|| {
        for stand_ins in [1, 2, 5] {
            let pool = Pool::builder()
                .threads(2)
                .stand_ins(stand_ins)
                .build()
                .unwrap();
            let askers = askers(&pool, 1_000);
            for answer in ask_all(&askers) {
                // Where the limit is one's own it may be in the way.
                assert!(matches!(answer, Ok(1) | Err(AskError::NoThread(_))));
            }
        }
    });
}

#[test]
fn without_stand_ins_the_asker_gets_an_error_that_says_who_waits_for_whom() {
    within_limit(|| {
        let pool = Pool::builder()
            .threads(1)
            .name("one")
            .stand_ins(0)
            .build()
            .unwrap();
        let askers = askers(&pool, 1);
        let answer = askers[0].ask(|reply| reply).unwrap();
        let Err(AskError::NoThread(starved)) = &answer else {
            panic!("{answer:?}");
        };
        let starved: &NoThread = starved;
        assert_eq!((starved.pool(), starved.stand_ins()), ("one", 0));
        assert_ne!(starved.asked(), askers[0].id());
        let text = answer.unwrap_err().to_string();
        let id = askers[0].id().to_string();
        for part in [&*id, "\"answerer\"", "\"one\"", "Context::ask", "stand_ins"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    });
}

/// An actor that has another one answer what it is asked, which takes no thread.
struct Relay(Address<Reply<u64>>);

impl Actor for Relay {
    type Message = Reply<u64>;

    fn handle(&mut self, reply: Reply<u64>, cx: &mut Context<Self>) {
        let answered = |_: &mut Self, answer: Result<u64, AskError>, _: &mut Context<Self>| {
            reply.send(answer.unwrap());
        };
        cx.ask(&self.0, |reply| reply, answered);
    }
}

/// The reserve runs what is waited for; what that makes due lies on the reserve's own desk, where no other thread is left to find it.
#[test]
fn what_the_reserve_makes_due_has_its_turn() {
    within_limit(|| {
        for (threads, askers) in [(1, 1), (1, 10), (2, 20)] {
            let builder = Pool::builder().threads(threads).stand_ins(1);
            let pool = builder.build().unwrap();
            let answerer = pool.spawn_fn(|reply: Reply<u64>, _| reply.send(1));
            let relay = pool.spawn(Relay(answerer));
            let askers: Vec<_> = (0..askers)
                .map(|_| {
                    let relay = relay.clone();
                    pool.spawn_fn(move |reply: Question, _| reply.send(relay.ask(|reply| reply)))
                })
                .collect();
            for answer in ask_all(&askers) {
                // Where the limit is one's own it may be in the way.
                let is_expected = match answer {
                    Err(AskError::NoThread(_)) => askers.len() > 1,
                    answer => answer == Ok(1),
                };
                assert!(is_expected);
            }
        }
    });
}

/// Actors each of which asks the next one, and adds one to the answer.
fn chain(pool: &Pool, length: usize) -> Address<Question> {
    let mut chain = pool.spawn_fn(|reply: Question, _| reply.send(Ok(0)));
    for _ in 0..length {
        let next = chain;
        chain = pool.spawn_fn(move |reply: Question, _| {
            let answer = next.ask(|reply| reply).and_then(|answer| answer);
            reply.send(answer.map(|number| number + 1));
        });
    }
    chain
}

#[test]
fn two_hundred_asks_one_within_the_other_are_answered_on_one_thread() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        assert_eq!(chain(&pool, 200).ask(|reply| reply), Ok(Ok(200)));
    });
}

#[test]
fn asks_within_each_other_beyond_the_limit_end_with_an_error() {
    within_limit(|| {
        for (threads, stand_ins) in [(1, 0), (1, 3), (2, 2)] {
            let builder = Pool::builder().threads(threads).stand_ins(stand_ins);
            let pool = builder.build().unwrap();
            // One thread answers.
            let most = threads + stand_ins - 1;
            assert_eq!(chain(&pool, most).ask(|reply| reply), Ok(Ok(most as u64)));
            let answer = chain(&pool, most + 1).ask(|reply| reply).unwrap();
            assert!(matches!(answer, Err(AskError::NoThread(_))), "{answer:?}");
            // All are back.
            assert_eq!(chain(&pool, most).ask(|reply| reply), Ok(Ok(most as u64)));
        }
    });
}

#[test]
fn an_ask_to_an_actor_elsewhere_waits_with_the_last_thread() {
    within_limit(|| {
        let elsewhere = Pool::with_threads(1);
        let (wait, gate) = hold();
        let mut wait = Some(wait);
        let slow = elsewhere.spawn_fn(move |reply: Reply<u64>, _| {
            if let Some(wait) = wait.take() {
                wait.wait();
            }
            reply.send(7);
        });
        let pool = Pool::builder().threads(1).stand_ins(0).build().unwrap();
        let asker = pool.spawn_fn(move |reply: Question, _| reply.send(slow.ask(|reply| reply)));
        let other = pool.spawn_fn(|reply: Reply<()>, _| reply.send(()));
        let answers = Answers::new();
        asker.tell(answers.reply()).unwrap();
        gate.until_entered();
        // It is due, but no thread of the pool waits for it.
        let done = Answers::new();
        other.tell(done.reply()).unwrap();
        // Longer than the last thread waits before it looks whether it is in the way.
        thread::sleep(Duration::from_millis(300));
        assert!(answers.are_out());
        gate.open();
        assert_eq!(answers.next(), Ok(Ok(7)));
        assert_eq!(done.next(), Ok(()));
    });
}

#[test]
fn a_wait_for_room_that_the_last_thread_would_have_to_make_gives_the_message_back() {
    within_limit(|| {
        let pool = Pool::builder().threads(1).stand_ins(0).build().unwrap();
        let full = pool
            .spawner()
            .limited(1, Overflow::Wait)
            .spawn_fn(|_: u32, _| {});
        let (sender, told) = mpsc::channel();
        let teller = pool.spawn_fn(move |(): (), _| {
            full.tell_timeout(1, LONG).unwrap();
            let refused = full.tell_timeout(2, 10 * LONG);
            sender
                .send(refused.is_err_and(|error| error.is_full()))
                .unwrap();
        });
        teller.tell(()).unwrap();
        assert_eq!(told.recv_timeout(LONG), Ok(true));
    });
}

#[test]
fn a_wait_for_an_end_that_needs_the_last_thread_panics() {
    within_limit(|| {
        let pool = Pool::builder().threads(1).stand_ins(0).build().unwrap();
        let other = pool.spawn_fn(|_: u32, _| {});
        let waiter = pool.spawn_fn(move |(): (), _| {
            other.tell(1).unwrap();
            other.stop();
            other.end().wait();
        });
        let end = waiter.end();
        waiter.tell(()).unwrap();
        let reason = end.wait().reason.to_string();
        assert!(reason.contains("stand_ins"), "{reason}");
    });
}

#[test]
fn a_pool_whose_handlers_all_wait_ends_when_it_is_dropped() {
    within_limit(|| {
        let pool = Pool::builder().threads(2).stand_ins(1).build().unwrap();
        let askers = askers(&pool, 500);
        let answers = Answers::new();
        for asker in &askers {
            asker.tell(answers.reply()).unwrap();
        }
        drop(pool);
        for _ in &askers {
            answers.next().unwrap().ok();
        }
    });
}

/// So many actors that may block, each of which asks the same other one, which may block, too.
fn blocking_askers_are_answered(most: usize, count: usize) {
    within_limit(move || {
        let pool = Pool::builder()
            .threads(1)
            .blocking_threads(most)
            .build()
            .unwrap();
        let answerer = pool
            .spawner()
            .blocking()
            .spawn_fn(|reply: Reply<u64>, _| reply.send(1));
        let askers: Vec<_> = (0..count)
            .map(|_| {
                let answerer = answerer.clone();
                pool.spawner()
                    .blocking()
                    .spawn_fn(move |reply: Question, _| reply.send(answerer.ask(|reply| reply)))
            })
            .collect();
        for _ in 0..3 {
            assert!(ask_all(&askers).iter().all(|answer| *answer == Ok(1)));
            // The limit holds for all but the one that was waited for.
            assert!(pool.snapshot().blocking_threads <= most + 1);
        }
        drop(pool);
    });
}

#[test]
fn handlers_that_may_block_and_ask_one_of_their_kind_are_answered_beyond_the_limit_of_threads() {
    blocking_askers_are_answered(1, 2);
    blocking_askers_are_answered(4, 100);
    blocking_askers_are_answered(32, 300);
}

#[test]
fn asks_within_each_other_of_actors_that_may_block_are_answered_beyond_the_limit_of_threads() {
    within_limit(|| {
        let pool = Pool::builder()
            .threads(1)
            .blocking_threads(2)
            .build()
            .unwrap();
        let spawner = pool.spawner().blocking();
        let mut chain = spawner
            .clone()
            .spawn_fn(|reply: Question, _| reply.send(Ok(0)));
        for _ in 0..20 {
            let next = chain;
            chain = spawner.clone().spawn_fn(move |reply: Question, _| {
                let answer = next.ask(|reply| reply).and_then(|answer| answer);
                reply.send(answer.map(|number| number + 1));
            });
        }
        assert_eq!(chain.ask(|reply| reply), Ok(Ok(20)));
        drop(pool);
    });
}

#[test]
fn asks_to_and_fro_between_handlers_that_may_block_and_others_are_answered_beyond_the_limit_of_threads()
 {
    within_limit(|| {
        let pool = Pool::builder()
            .threads(1)
            .blocking_threads(1)
            .build()
            .unwrap();
        let mut chain = pool.spawn_fn(|reply: Question, _| reply.send(Ok(0)));
        for place in 0..10 {
            let next = chain;
            let spawner = match place % 2 {
                0 => pool.spawner().blocking(),
                _ => pool.spawner(),
            };
            chain = spawner.spawn_fn(move |reply: Question, _| {
                let answer = next.ask(|reply| reply).and_then(|answer| answer);
                reply.send(answer.map(|number| number + 1));
            });
        }
        assert_eq!(chain.ask(|reply| reply), Ok(Ok(10)));
        drop(pool);
    });
}

/// The thread that asks is one of the pool's, and nothing was due for handlers that may block when it asked: the actor that it asks keeps its mail back.
#[test]
fn an_actor_that_goes_on_with_its_mail_is_known_to_be_awaited() {
    enum Step {
        Park(Receiver<()>),
        Ask(Question),
    }

    struct Parked;

    impl Actor for Parked {
        type Message = Step;

        fn handle(&mut self, step: Step, cx: &mut Context<Self>) {
            match step {
                Step::Park(go_on) => {
                    cx.hold(async move { go_on.recv_async().await }, |_, result, _| {
                        result.unwrap()
                    });
                }
                Step::Ask(reply) => reply.send(Ok(1)),
            }
        }
    }

    within_limit(|| {
        let pool = Pool::builder()
            .threads(1)
            .blocking_threads(1)
            .build()
            .unwrap();
        let (go_on, goes_on) = tamtam_channel::bounded(1);
        let parked = pool.spawner().blocking().spawn(Parked);
        parked.tell(Step::Park(goes_on)).unwrap();
        pool.wait_idle().unwrap();
        let answers = Answers::new();
        let first = pool.spawn_fn(move |reply: Question, _| {
            reply.send(parked.ask(Step::Ask).and_then(|answer| answer));
        });
        first.tell(answers.reply()).unwrap();
        while pool.blocking_asks() == 0 {
            thread::yield_now();
        }
        // It has the only thread for handlers that may block, and waits for the first one.
        let (note, noted) = mpsc::channel();
        let second = pool
            .spawner()
            .blocking()
            .spawn_fn(move |reply: Question, _| {
                note.send(()).unwrap();
                reply.send(first.ask(|reply| reply).and_then(|answer| answer));
            });
        second.tell(answers.reply()).unwrap();
        noted.recv().unwrap();
        go_on.send(()).unwrap();
        for _ in 0..2 {
            assert_eq!(answers.next().unwrap(), Ok(1));
        }
    });
}
