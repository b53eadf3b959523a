//! Questions and their answers.

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{
    Answers, Hold, LONG, SHORT, Soak, block_on, hold, until, within, within_limit,
};
use tamtam_actor::{Actor, Address, AskError, Context, Overflow, Pool, Reply};

enum Question {
    Double(u64, Reply<u64>),
    Drop(Reply<u64>),
    Keep(Reply<u64>, mpsc::Sender<Reply<u64>>),
    Hold(Hold),
}

fn answer(question: Question) {
    match question {
        Question::Double(number, reply) => reply.send(2 * number),
        Question::Drop(reply) => drop(reply),
        Question::Keep(reply, keeper) => keeper.send(reply).unwrap(),
        Question::Hold(hold) => hold.wait(),
    }
}

fn answerer(pool: &Pool) -> Address<Question> {
    pool.spawn_fn(|question, _| answer(question))
}

#[test]
fn a_question_is_answered_or_dropped() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let actor = answerer(&pool);
        for number in 0..1_000 {
            assert_eq!(
                actor.ask(|reply| Question::Double(number, reply)),
                Ok(2 * number)
            );
        }
        assert_eq!(actor.ask(Question::Drop), Err(AskError::Unanswered));
        let asked = actor.ask_timeout(|reply| Question::Double(4, reply), LONG);
        assert_eq!(asked, Ok(8));
        let asked = actor.ask_timeout(Question::Drop, LONG);
        assert_eq!(asked, Err(AskError::Unanswered));
        assert_eq!(pool.blocking_asks(), 0);
    });
}

#[test]
fn a_question_to_a_full_or_stopped_actor_is_refused() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let actor = pool
            .spawner()
            .limited(1, Overflow::Fail)
            .spawn_fn(|question, _| answer(question));
        let (wait, gate) = hold();
        actor.tell(Question::Hold(wait)).unwrap();
        gate.until_entered();
        let answers = Answers::new();
        actor.tell(Question::Drop(answers.reply())).unwrap();
        assert_eq!(actor.ask(Question::Drop), Err(AskError::Full(actor.id())));
        let asked = actor.ask_timeout(Question::Drop, LONG);
        assert_eq!(asked, Err(AskError::Full(actor.id())));
        assert_eq!(
            block_on(actor.ask_async(Question::Drop)),
            Err(AskError::Full(actor.id()))
        );
        actor.stop();
        gate.open();
        assert_eq!(answers.next(), Err(AskError::Unanswered));
        until(|| actor.is_stopped());
        assert_eq!(
            actor.ask(Question::Drop),
            Err(AskError::Stopped(actor.id()))
        );
        assert_eq!(
            block_on(actor.ask_async(Question::Drop)),
            Err(AskError::Stopped(actor.id()))
        );
    });
}

#[test]
fn a_question_may_time_out_and_its_reply_knows() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let actor = answerer(&pool);
        let (keep, kept) = mpsc::channel();
        let began = Instant::now();
        let asked = actor.ask_timeout(|reply| Question::Keep(reply, keep.clone()), SHORT);
        assert_eq!(asked, Err(AskError::TimedOut));
        assert!(began.elapsed() >= SHORT);
        let reply = kept.recv_timeout(LONG).unwrap();
        assert!(!reply.is_awaited());
        reply.send(3);

        let asked = actor.ask_async(|reply| Question::Keep(reply, keep.clone()));
        let reply = kept.recv_timeout(LONG).unwrap();
        assert!(reply.is_awaited());
        drop(asked);
        assert!(!reply.is_awaited());
        drop(reply);
        assert_eq!(actor.ask(|reply| Question::Double(1, reply)), Ok(2));
    });
}

#[test]
fn a_question_is_awaited_without_a_runtime() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let actor = answerer(&pool);
        for number in 0..500 {
            let asked = actor.ask_async(|reply| Question::Double(number, reply));
            assert_eq!(block_on(asked), Ok(2 * number));
        }
        let asked = actor.ask_async(Question::Drop);
        assert_eq!(block_on(asked), Err(AskError::Unanswered));
    });
}

#[test]
fn a_reply_may_be_kept_and_answered_later_by_another_thread() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let actor = answerer(&pool);
        let (keep, kept) = mpsc::channel::<Reply<u64>>();
        thread::scope(|scope| {
            scope.spawn(move || {
                for (number, reply) in (0..10).zip(kept) {
                    assert!(reply.is_awaited());
                    if number < 9 {
                        reply.send(number);
                    }
                }
            });
            for number in 0..10 {
                let question = |reply| Question::Keep(reply, keep.clone());
                let asked = match number % 2 {
                    0 => actor.ask(question),
                    _ => block_on(actor.ask_async(question)),
                };
                let expected = if number < 9 {
                    Ok(number)
                } else {
                    Err(AskError::Unanswered)
                };
                assert_eq!(asked, expected);
            }
        });
    });
}

/// Asks others by `Context::ask`.
struct Asker {
    is_in_call: bool,
}

enum Order {
    Ask(Address<Question>, bool, Wanted),
}

type Wanted = mpsc::Sender<Result<u64, AskError>>;

impl Actor for Asker {
    type Message = Order;

    fn handle(&mut self, order: Order, cx: &mut Context<Self>) {
        let Order::Ask(whom, is_dropped, sender) = order;
        self.is_in_call = true;
        let question = move |reply| match is_dropped {
            true => Question::Drop(reply),
            false => Question::Double(5, reply),
        };
        cx.ask(&whom, question, move |this, answer, _| {
            assert!(!this.is_in_call, "not within the call");
            sender.send(answer).unwrap();
        });
        self.is_in_call = false;
    }
}

#[test]
fn a_continuation_has_a_turn_of_its_own_with_an_answer_or_an_error() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let asker = pool.spawn(Asker { is_in_call: false });
        let ask = |whom: &Address<Question>, is_dropped| {
            let (sender, receiver) = mpsc::channel();
            asker
                .tell(Order::Ask(whom.clone(), is_dropped, sender))
                .unwrap();
            receiver.recv_timeout(LONG).expect("the continuation")
        };
        let good = answerer(&pool);
        assert_eq!(ask(&good, false), Ok(10));
        assert_eq!(ask(&good, true), Err(AskError::Unanswered));
        good.stop();
        until(|| good.is_stopped());
        assert_eq!(ask(&good, false), Err(AskError::Stopped(good.id())));

        let elsewhere = Pool::with_threads(1);
        let full = elsewhere
            .spawner()
            .limited(1, Overflow::Fail)
            .spawn_fn(|question, _| answer(question));
        let (wait, gate) = hold();
        full.tell(Question::Hold(wait)).unwrap();
        gate.until_entered();
        let answers = Answers::new();
        full.tell(Question::Drop(answers.reply())).unwrap();
        assert_eq!(ask(&full, false), Err(AskError::Full(full.id())));
        gate.open();
    });
}

#[test]
fn actors_that_ask_each_other_in_a_circle_do_not_wait_for_each_other() {
    // Wish 24 (xtra 13, kameo 87): A asks B, which asks A before it answers.
    struct Peer {
        other: Option<Address<Talk>>,
    }

    enum Talk {
        Meet(Address<Talk>),
        Ask(u32, Reply<u32>),
    }

    impl Actor for Peer {
        type Message = Talk;

        fn handle(&mut self, talk: Talk, cx: &mut Context<Self>) {
            match talk {
                Talk::Meet(other) => self.other = Some(other),
                Talk::Ask(0, reply) => reply.send(0),
                Talk::Ask(depth, reply) => {
                    let other = self.other.as_ref().expect("they have met");
                    cx.ask(
                        other,
                        |reply| Talk::Ask(depth - 1, reply),
                        move |_, answer, _| reply.send(answer.unwrap() + 1),
                    );
                }
            }
        }
    }

    within_limit(|| {
        for threads in [1, 2] {
            let pool = Pool::with_threads(threads);
            let one = pool.spawn(Peer { other: None });
            let two = pool.spawn(Peer { other: None });
            one.tell(Talk::Meet(two.clone())).unwrap();
            two.tell(Talk::Meet(one.clone())).unwrap();
            for depth in [0, 1, 2, 3, 1_000] {
                assert_eq!(one.ask(|reply| Talk::Ask(depth, reply)), Ok(depth));
            }
            assert_eq!(pool.blocking_asks(), 0);
            one.stop();
            two.stop();
        }
    });
}

/// A chain of actors each of which asks the next one and waits for the answer on its thread.
fn blocking_chain(pool: &Pool, length: u64) -> Address<Reply<u64>> {
    let mut chain = pool.spawn_fn(|reply: Reply<u64>, _| reply.send(0));
    for _ in 0..length {
        let next = chain;
        chain = pool.spawn_fn(move |reply: Reply<u64>, _| {
            reply.send(next.ask(|reply| reply).unwrap() + 1);
        });
    }
    chain
}

#[test]
fn blocking_asks_on_a_pool_thread_work_and_are_counted() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let mut asks = 0;
        for length in [1, 3, 16, 2, 16] {
            let chain = blocking_chain(&pool, length);
            assert_eq!(chain.ask(|reply| reply), Ok(length));
            asks += length as usize;
            assert_eq!(pool.blocking_asks(), asks);
        }
        assert_eq!(pool.threads(), 1);
    });
}

/// So long the last thread that waits goes on, before it gives up for all of them.
const BEFORE_GIVING_UP: Duration = Duration::from_millis(200);

#[test]
fn a_blocking_ask_that_times_out_ends_also_beyond_the_limit_of_stand_ins() {
    within_limit(|| {
        loop {
            let pool = Pool::builder().threads(1).stand_ins(16).build().unwrap();
            let chain = blocking_chain(&pool, 16);
            let last = pool.spawn_fn(move |reply: Reply<(bool, Duration)>, _| {
                // All 17 threads wait in the end; not long enough for one of them to give up.
                let begun = Instant::now();
                let asked = chain.ask_timeout(|reply| reply, Duration::from_millis(50));
                reply.send((asked == Err(AskError::TimedOut), begun.elapsed()));
            });
            let (has_timed_out, took) = last.ask(|reply| reply).unwrap();
            // With its thread back the others get their answers, and the pool can end.
            pool.shutdown();
            if has_timed_out {
                break;
            }
            // A busy machine has kept this thread from its time until another one gave up.
            assert!(took >= BEFORE_GIVING_UP, "{took:?}");
        }
    });
}

#[test]
fn blocked_threads_always_have_somebody_to_stand_in() {
    let rounds = Soak::rounds(if cfg!(debug_assertions) { 100 } else { 500 });
    within(rounds.limit(), move || {
        let pool = Arc::new(Pool::with_threads(1));
        let busy = pool.spawn_fn(|reply: Reply<u64>, _| reply.send(0));
        for _ in rounds {
            thread::scope(|scope| {
                for length in 1..4 {
                    let chain = blocking_chain(&pool, length);
                    let busy = &busy;
                    scope.spawn(move || {
                        for _ in 0..10 {
                            // Turns in between, at which those who stand in look whether they may go.
                            assert_eq!(busy.ask(|reply| reply), Ok(0));
                            assert_eq!(chain.ask(|reply| reply), Ok(length));
                        }
                    });
                }
            });
        }
    });
}
