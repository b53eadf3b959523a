//! Actors on a runtime of tokio.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use crate::support::{
    Answers, Drops, Hold, LONG, Soak, hold, panic_on_purpose, until, within, within_limit,
};
use tamtam_actor::{Actor, Address, AskError, Context, EndReason, Overflow, Pool, Reply, Topic};
use tamtam_channel::{after, select};
use tokio::runtime::{Builder, Runtime};

fn runtime(threads: usize) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(threads).build().unwrap()
}

#[test]
fn threads_tasks_and_actors_ask() {
    struct Relay(Address<Reply<u32>>);

    impl Actor for Relay {
        type Message = Reply<u32>;

        fn handle(&mut self, reply: Reply<u32>, cx: &mut Context<Self>) {
            cx.ask(
                &self.0,
                |reply| reply,
                |_, answer, _| reply.send(answer.unwrap() + 1),
            );
        }
    }

    within_limit(|| {
        let runtime = runtime(2);
        let pool = Pool::on_tokio(runtime.handle());
        assert_eq!(pool.threads(), 2);
        let source = pool.spawn_fn(|reply: Reply<u32>, _| reply.send(1));
        let relay = pool.spawn(Relay(source));
        assert_eq!(relay.ask(|reply| reply), Ok(2));
        assert_eq!(runtime.block_on(relay.ask_async(|reply| reply)), Ok(2));
        // The pool is only a way to the runtime.
        drop(pool);
        assert_eq!(relay.ask(|reply| reply), Ok(2));
    });
}

/// The first actor of all that is watched has ended before its end is asked for, and watches another one as it goes.
#[test]
fn an_end_that_is_asked_for_first_when_the_runtime_has_gone_comes() {
    struct Asks(Address<()>);

    impl Actor for Asks {
        type Message = ();

        fn handle(&mut self, (): (), _: &mut Context<Self>) {}
    }

    impl Drop for Asks {
        fn drop(&mut self) {
            drop(self.0.end());
        }
    }

    within_limit(|| {
        let runtime = runtime(1);
        let pool = Pool::on_tokio(runtime.handle());
        let other = pool.spawn_fn(|(): (), _| {});
        let asks = pool.spawn(Asks(other.clone()));
        drop(runtime);
        for actor in [&asks, &other] {
            let ended = actor.end().wait_timeout(LONG);
            assert_eq!(ended.unwrap().reason, EndReason::HomeEnded);
        }
    });
}

/// More than a turn handles, while a task of somebody else's wants its share of the only thread.
#[test]
fn a_flooded_actor_gives_way_to_other_tasks() {
    within_limit(|| {
        let runtime = runtime(1);
        let pool = Pool::on_tokio(runtime.handle());
        let flooded = Arc::new(std::sync::OnceLock::<Address<()>>::new());
        let again = Arc::clone(&flooded);
        let address = pool.spawn_fn(move |(), _| {
            // It is never without mail.
            let _ = again.get().unwrap().tell(());
        });
        flooded.set(address.clone()).unwrap();
        address.tell(()).unwrap();
        let (sender, done) = mpsc::channel();
        let task = async move { sender.send(()).unwrap() };
        drop(runtime.spawn(task));
        done.recv_timeout(LONG).unwrap();
        let other = pool.spawn_fn(|reply: Reply<()>, _| reply.send(()));
        assert_eq!(other.ask(|reply| reply), Ok(()));
        address.stop();
        until(|| address.is_stopped());
    });
}

#[test]
fn messages_arrive_once_and_in_order() {
    const SENDERS: usize = 3;
    const MESSAGES: u32 = 5_000;

    let soak = Soak::rounds(2);
    within(soak.limit(), move || {
        for _ in soak {
            let runtime = runtime(2);
            let pool = Pool::on_tokio(runtime.handle());
            let (sender, done) = mpsc::channel();
            let mut next = [0; SENDERS];
            let actor = pool.spawn_fn(move |(from, number): (usize, u32), _| {
                assert_eq!(number, next[from]);
                next[from] += 1;
                if next == [MESSAGES; SENDERS] {
                    sender.send(()).unwrap();
                }
            });
            thread::scope(|scope| {
                for from in 0..SENDERS {
                    let actor = &actor;
                    scope.spawn(move || {
                        for number in 0..MESSAGES {
                            actor.tell((from, number)).unwrap();
                            if number.is_multiple_of(50) {
                                thread::yield_now();
                            }
                        }
                    });
                }
            });
            done.recv_timeout(LONG).unwrap();
        }
    });
}

#[test]
fn a_panic_ends_one_actor_and_no_task() {
    within_limit(|| {
        let runtime = runtime(1);
        let pool = Pool::on_tokio(runtime.handle());
        let sick = pool.spawn_fn(|_: Reply<()>, _| panic_on_purpose());
        let well = pool.spawn_fn(|reply: Reply<u32>, _| reply.send(3));
        let answer = sick.ask(|reply| reply);
        assert!(matches!(answer, Err(AskError::Panicked(_))), "{answer:?}");
        assert_eq!(well.ask(|reply| reply), Ok(3));
    });
}

#[test]
fn who_is_due_or_sent_to_when_the_runtime_ends_stops_and_askers_hear_of_it() {
    within_limit(|| {
        let runtime = runtime(1);
        let pool = Pool::on_tokio(runtime.handle());
        let drops = Drops::default();
        let handled = Arc::new(AtomicUsize::new(0));
        let (hold, gate) = hold();
        let mut hold = Some(hold);
        let busy = pool.spawn_fn(move |(): (), _| {
            if let Some(hold) = hold.take() {
                hold.wait();
            }
        });
        busy.tell(()).unwrap();
        gate.until_entered();
        let actor = || {
            let (token, handled) = (drops.token(), Arc::clone(&handled));
            pool.spawn_fn(move |_: Reply<()>, _| {
                let _ = &token;
                handled.fetch_add(1, Ordering::SeqCst);
            })
        };
        let (due, idle) = (actor(), actor());
        let answers = Answers::new();
        due.tell(answers.reply()).unwrap();
        let ending = thread::spawn(move || drop(runtime));
        // The runtime's only thread is in a handler; its end begins meanwhile, or after.
        gate.open();
        ending.join().unwrap();
        assert_eq!(answers.next(), Err(AskError::Unanswered));
        drop(idle.tell(answers.reply()));
        assert_eq!(answers.next(), Err(AskError::Unanswered));
        assert_eq!(idle.lost(), 1);
        assert!(idle.is_stopped());
        assert!(idle.tell(answers.reply()).unwrap_err().is_stopped());
        assert_eq!(handled.load(Ordering::SeqCst) + due.lost() as usize, 1);
        drop(due);
        until(|| drops.count() == 2);
    });
}

/// Keeps its mail back for ever.
struct HoldsForEver;

impl Actor for HoldsForEver {
    type Message = ();

    fn handle(&mut self, (): (), cx: &mut Context<Self>) {
        cx.hold(std::future::pending::<()>(), |_, (), _| {});
    }
}

#[test]
fn who_is_watched_or_keeps_mail_back_ends_with_the_runtime() {
    within_limit(|| {
        let runtime = runtime(2);
        let pool = Pool::on_tokio(runtime.handle());
        let idle = pool.spawn_fn(|(): (), _| {});
        let mut end = idle.end();
        let holding = pool.spawn(HoldsForEver);
        for _ in 0..3 {
            holding.tell(()).unwrap();
        }
        let mut end_of_holding = holding.end();
        drop(runtime);
        for end in [&mut end, &mut end_of_holding] {
            let ended = end.wait_timeout(LONG).expect("it is told");
            assert_eq!(ended.reason, EndReason::HomeEnded);
        }
        // Two or three: the runtime may have ended before the first one had its turn.
        assert!((2..=3).contains(&holding.lost()));
        assert!(idle.is_stopped());
        // What is watched now has ended, too.
        let late = pool.spawn_fn(|(): (), _| {});
        assert!(late.end().wait_timeout(LONG).is_some());
    });
}

/// The news of the end found them in their turn, which went on as if nothing had happened, and was their last one.
#[test]
fn who_is_in_a_handler_while_its_runtime_ends_ends_with_it() {
    struct Busy {
        hold: Option<Hold>,
        keeps_mail_back: bool,
    }

    impl Actor for Busy {
        type Message = ();

        fn handle(&mut self, (): (), cx: &mut Context<Self>) {
            if let Some(hold) = self.hold.take() {
                hold.wait();
            }
            if self.keeps_mail_back {
                cx.hold(std::future::pending::<()>(), |_, (), _| {});
            }
        }
    }

    for keeps_mail_back in [false, true] {
        within_limit(move || {
            let runtime = runtime(2);
            let pool = Pool::on_tokio(runtime.handle());
            let (hold, gate) = hold();
            let busy = pool.spawn(Busy {
                hold: Some(hold),
                keeps_mail_back,
            });
            for _ in 0..2 {
                busy.tell(()).unwrap();
            }
            gate.until_entered();
            let mut end = busy.end();
            let idle = pool.spawn_fn(|(): (), _| {});
            let mut end_of_idle = idle.end();
            // The other thread of the runtime ends what is left. Those that are watched are told in this order.
            runtime.shutdown_background();
            let ended = end_of_idle.wait_timeout(LONG).expect("it is told");
            assert_eq!(ended.reason, EndReason::HomeEnded);
            assert!(!busy.is_stopped());
            gate.open();
            let ended = end.wait_timeout(LONG).expect("it is told");
            assert_eq!(ended.reason, EndReason::HomeEnded);
        });
    }
}

#[test]
fn an_actor_begins_soon_after_its_birth() {
    struct Beginning(mpsc::Sender<&'static str>);

    impl Actor for Beginning {
        type Message = ();

        fn started(&mut self, cx: &mut Context<Self>) {
            self.0.send("started").unwrap();
            cx.after(Duration::ZERO, |this, _| this.0.send("due").unwrap());
        }

        fn handle(&mut self, (): (), _: &mut Context<Self>) {}
    }

    within_limit(|| {
        let runtime = runtime(2);
        let pool = Pool::on_tokio(runtime.handle());
        let (sender, said) = mpsc::channel();
        let _address = pool.spawn(Beginning(sender));
        assert_eq!(said.recv_timeout(LONG), Ok("started"));
        assert_eq!(said.recv_timeout(LONG), Ok("due"));
    });
}

/// Nobody would answer: the runtime's only thread is the one that would wait.
#[test]
fn a_task_of_a_runtime_with_one_thread_is_refused_instead_of_waiting_for_itself() {
    within(LONG, || {
        let runtime = Builder::new_current_thread().build().unwrap();
        let pool = Pool::on_tokio(runtime.handle());
        let echo = pool.spawn_fn(|reply: Reply<u32>, _| reply.send(1));
        let asks = echo.clone();
        let (answers, later) = runtime.block_on(async move {
            let root = asks.ask(|reply| reply);
            let own = asks.clone();
            let task = runtime_task(async move { own.ask_timeout(|reply| reply, LONG) }).await;
            // What the task is allowed to do in one go is as before.
            assert!(tokio::task::coop::has_budget_remaining());
            // A thread for what blocks is none of those that answer.
            let elsewhere = asks.clone();
            let blocking = tokio::task::spawn_blocking(move || elsewhere.ask(|reply| reply));
            ([root, task], blocking.await.unwrap())
        });
        assert_eq!(
            answers,
            [Err(AskError::OwnThread), Err(AskError::OwnThread)]
        );
        assert_eq!(later, Ok(1));
        // One that has entered the runtime polls no tasks: it waits, and nothing is refused.
        let _entered = runtime.enter();
        let short = echo.ask_timeout(|reply| reply, Duration::from_millis(1));
        assert_eq!(short, Err(AskError::TimedOut));
    });
}

fn runtime_task<T: Send + 'static>(
    task: impl Future<Output = T> + Send + 'static,
) -> impl Future<Output = T> {
    let handle = tokio::spawn(task);
    async move { handle.await.unwrap() }
}

/// A handler is a task, too; and so is the end that it would wait for.
#[test]
fn a_handler_on_a_runtime_with_one_thread_is_refused() {
    within(LONG, || {
        let runtime = Builder::new_current_thread().build().unwrap();
        let pool = Pool::on_tokio(runtime.handle());
        let echo = pool.spawn_fn(|reply: Reply<u32>, _| reply.send(1));
        let relay = pool.spawn_fn(move |reply: Reply<Result<u32, AskError>>, _| {
            reply.send(echo.ask(|reply| reply));
        });
        let answer = runtime.block_on(relay.ask_async(|reply| reply));
        assert_eq!(answer, Ok(Err(AskError::OwnThread)));
    });
}

/// Of two threads one may wait for an actor; not both.
#[test]
fn the_last_thread_of_a_runtime_does_not_wait() {
    within(LONG, || {
        let runtime = runtime(2);
        let pool = Pool::on_tokio(runtime.handle());
        let (hold, gate) = hold();
        let mut hold = Some(hold);
        let (first, answered) = mpsc::channel();
        let kept = pool.spawn_fn(move |reply: Reply<u32>, _| {
            // Answered from elsewhere, so that the actor's own turn keeps no thread.
            let hold = hold.take();
            thread::spawn(move || {
                hold.into_iter().for_each(Hold::wait);
                reply.send(1);
            });
        });
        let asks = kept.clone();
        drop(runtime.spawn(async move { first.send(asks.ask(|reply| reply)).unwrap() }));
        gate.until_entered();
        // One of the two waits. So the other one may not.
        let asks = kept.clone();
        let second = runtime.spawn(async move { asks.ask(|reply| reply) });
        assert_eq!(runtime.block_on(second).unwrap(), Err(AskError::OwnThread));
        gate.open();
        assert_eq!(answered.recv_timeout(LONG), Ok(Ok(1)));
        // It is not counted any more.
        let third = runtime.spawn(async move { kept.ask(|reply| reply) });
        assert_eq!(runtime.block_on(third).unwrap(), Ok(1));
    });
}

/// What a task has made due lies where no other worker looks, while its own one waits for that.
#[test]
fn a_task_that_waits_for_room_or_an_end_leaves_the_turn_to_other_threads() {
    fn told<T: Send + 'static>(runtime: &Runtime, wait: impl FnOnce() -> T + Send + 'static) -> T {
        let (sender, told) = mpsc::channel();
        drop(runtime.spawn(async move { sender.send(wait()).unwrap() }));
        told.recv_timeout(LONG)
            .expect("another thread gives the actor its turn")
    }

    within(2 * LONG, || {
        for threads in [2, 4] {
            let runtime = runtime(threads);
            let pool = Pool::on_tokio(runtime.handle());
            let spawner = || pool.spawner().limited(1, Overflow::Wait);
            let sink = spawner().spawn_fn(|_: u32, _| {});
            let to = sink.clone();
            let all = told(&runtime, move || (0..100).all(|n| to.tell(n).is_ok()));
            assert!(all, "the messages came back");
            let to = sink.map(|n: u64| n as u32);
            let all = told(&runtime, move || (0..100).all(|n| to.tell(n).is_ok()));
            assert!(all, "the messages came back");
            let to = sink.clone();
            let all = move || (0..100).all(|n| to.tell_timeout(n, LONG).is_ok());
            assert!(told(&runtime, all), "the messages came back");

            let topic = Topic::new();
            let subscription = topic.feed().subscribe(&sink);
            let publish = move || (0..100).all(|n| topic.publish(n).is_ok());
            assert!(told(&runtime, publish), "the messages came back");
            assert_eq!(subscription.dropped(), 0);

            // The question waits for room, and the thread for the answer: it is one thread.
            let asked = spawner().spawn_fn(|reply: Reply<u32>, _| reply.send(1));
            let ask = move || {
                asked.tell(Reply::to(drop)).unwrap();
                asked.ask(|reply| reply)
            };
            assert_eq!(told(&runtime, ask), Ok(1));

            let asked = pool.spawn_fn(|reply: Reply<u32>, _| reply.send(1));
            let ask = move || {
                let answer = asked.ask_pending(|reply| reply).unwrap();
                let timeout = after(LONG);
                select! {
                    wait(answer) => answer.try_take(),
                    recv(timeout) -> _ => None,
                }
            };
            assert_eq!(told(&runtime, ask), Some(Ok(1)));

            for timeout in [None, Some(LONG)] {
                let actor = pool.spawn_fn(|_: u32, _| {});
                let end = move || {
                    let mut end = actor.end();
                    actor.stop();
                    match timeout {
                        None => end.wait().reason,
                        Some(timeout) => end.wait_timeout(timeout).unwrap().reason,
                    }
                };
                assert_eq!(told(&runtime, end), EndReason::Stopped);
            }
        }
    });
}

/// As who asks, it would wait for itself.
#[test]
fn the_last_thread_of_a_runtime_waits_for_no_room_and_no_end() {
    within(LONG, || {
        let runtime = runtime(1);
        let pool = Pool::on_tokio(runtime.handle());
        let sink = pool
            .spawner()
            .limited(1, Overflow::Wait)
            .spawn_fn(|_: u32, _| {});
        let refused = runtime.block_on(runtime.spawn(async move {
            sink.tell(1).unwrap();
            let timed = sink.tell_timeout(2, LONG).unwrap_err();
            let mapped = sink.map(|n: u64| n as u32).tell(3).unwrap_err();
            [
                sink.tell(4).unwrap_err().is_full(),
                timed.is_full(),
                mapped.is_full(),
            ]
        }));
        assert_eq!(refused.unwrap(), [true; 3]);
        let actor = pool.spawn_fn(|_: u32, _| {});
        let ended = runtime.block_on(runtime.spawn(async move { actor.end().wait().reason }));
        assert!(ended.unwrap_err().is_panic());
    });

    // Of two threads one may wait, whichever is the first one; not both.
    within(LONG, || {
        let runtime = runtime(2);
        let pool = Pool::on_tokio(runtime.handle());
        for _ in 0..20 {
            let gate = Arc::new(std::sync::Barrier::new(2));
            let tasks = [(); 2].map(|()| {
                let (actor, gate) = (pool.spawn_fn(|_: u32, _| {}), Arc::clone(&gate));
                runtime.spawn(async move {
                    let end = actor.end();
                    gate.wait();
                    drop(actor);
                    end.wait().reason
                })
            });
            let ends = tasks.map(|task| runtime.block_on(task));
            assert!(ends.iter().any(Result::is_ok), "{ends:?}");
        }
        let sink = pool
            .spawner()
            .limited(1, Overflow::Wait)
            .spawn_fn(|_: u32, _| {});
        let tasks = [(); 2].map(|()| {
            let sink = sink.clone();
            runtime.spawn(async move { (0..10_000).filter(|n| sink.tell(*n).is_ok()).count() })
        });
        let accepted: usize = tasks
            .map(|task| runtime.block_on(task).unwrap())
            .iter()
            .sum();
        assert!(accepted > 0);
    });
}

/// Its threads are not ours to leave behind.
#[test]
fn an_actor_in_a_turn_is_not_replaced_and_one_in_no_turn_is() {
    struct Waits(u32);

    impl Actor for Waits {
        type Message = (Option<Hold>, Reply<u32>);

        fn handle(&mut self, (gate, reply): Self::Message, _: &mut Context<Self>) {
            gate.into_iter().for_each(Hold::wait);
            reply.send(self.0);
        }
    }

    within_limit(|| {
        let runtime = runtime(2);
        let pool = Pool::on_tokio(runtime.handle());
        let mut number = 0;
        let actor = pool.spawner().replaceable().spawn_with(move |_| {
            number += 1;
            Waits(number)
        });
        let (wait, gate) = hold();
        let answers = Answers::new();
        actor.tell((Some(wait), answers.reply())).unwrap();
        gate.until_entered();
        assert!(!actor.replace());
        gate.open();
        assert_eq!(answers.next(), Ok(1));
        // As soon as its turn has ended.
        until(|| actor.replace());
        assert!(actor.ask(|reply| (None, reply)).unwrap() >= 2);
        assert_eq!(actor.lost(), 0);
    });
}

/// Tasks are kept for the next turns, so many at most, and end with the pool and its actors.
#[test]
fn tasks_are_kept_for_other_turns_and_not_for_ever() {
    within_limit(|| {
        let runtime = runtime(2);
        let alive = || runtime.metrics().num_alive_tasks();
        let pool = Pool::on_tokio(runtime.handle());
        let actor = pool.spawn_fn(|reply: Reply<u32>, _| reply.send(1));
        for _ in 0..100 {
            assert_eq!(actor.ask(|reply| reply), Ok(1));
        }
        // A turn may begin before the tasks of those before are there again: one on each thread.
        assert!((1..=3).contains(&alive()), "{}", alive());

        // More actors are due at once than tasks are kept.
        let gate = Arc::new(std::sync::Barrier::new(2));
        let others: Vec<_> = (0..500_u32)
            .map(|number| pool.spawn_fn(move |reply: Reply<u32>, _| reply.send(number)))
            .collect();
        let waiting = Arc::clone(&gate);
        let block = pool.spawn_fn(move |reply: Reply<u32>, _| {
            waiting.wait();
            reply.send(0);
        });
        let (sent, answers) = mpsc::channel();
        let all = [&block, &block].into_iter().chain(&others);
        for address in all {
            let sent = sent.clone();
            let to = move |answer: Result<u32, AskError>| sent.send(answer.unwrap()).unwrap();
            address.tell(Reply::to(to)).unwrap();
        }
        gate.wait();
        gate.wait();
        let sum: u32 = (0..502).map(|_| answers.recv_timeout(LONG).unwrap()).sum();
        assert_eq!(sum, (0..500_u32).sum::<u32>());
        until(|| alive() <= 64);
        assert_eq!(actor.ask(|reply| reply), Ok(1));

        drop((pool, actor, block, others));
        until(|| alive() == 0);
    });
}

/// One for each pool was left, until the runtime ended.
#[test]
fn a_pool_and_its_actors_leave_no_task_behind() {
    within_limit(|| {
        let runtime = runtime(1);
        for _ in 0..100 {
            let pool = Pool::on_tokio(runtime.handle());
            let actor = pool.spawn_fn(|_: u32, _| {});
            let end = actor.end();
            drop((actor, pool));
            assert_eq!(end.wait().reason, EndReason::NoAddresses);
        }
        until(|| runtime.metrics().num_alive_tasks() == 0);
    });
}
