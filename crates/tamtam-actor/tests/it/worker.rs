//! Actors on a thread of their own.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use crate::support::{
    Answers, Drops, Gate, Hold, LONG, Random, SHORT, Soak, Token, hold, panic_on_purpose, until,
    within, within_limit,
};
use tamtam_actor::{
    Actor, Address, AskError, Context, Frame, Here, Overflow, Pool, Quit, Reply, Restart, Spawner,
    Time, Worker,
};

fn send<T: Send>() {}
fn send_and_sync<T: Send + Sync>() {}

#[test]
fn a_worker_and_its_spawners_go_to_any_thread() {
    send_and_sync::<Worker>();
    send_and_sync::<Spawner<Worker>>();
    send::<Quit>();
}

/// Tells on which thread it is.
fn where_am_i(reply: Reply<(ThreadId, Option<String>)>) {
    let current = thread::current();
    reply.send((current.id(), current.name().map(str::to_owned)));
}

#[test]
fn all_actors_of_a_worker_live_on_one_thread_which_has_a_name() {
    within_limit(|| {
        let worker = Worker::builder().name("loader").build().unwrap();
        let one = worker.spawn_fn(|reply, _| where_am_i(reply));
        let other = worker.spawn_fn(|reply, _| where_am_i(reply));
        let (id, name) = one.ask(|reply| reply).unwrap();
        assert_eq!(name.as_deref(), Some("loader"));
        assert_eq!(other.ask(|reply| reply).unwrap(), (id, name));
        assert_ne!(id, thread::current().id());
        let debug = format!("{worker:?}");
        assert!(debug.contains("loader"), "{debug}");
    });
}

#[test]
fn a_name_with_a_zero_byte_is_an_error() {
    assert!(Worker::builder().name("a\0b").build().is_err());
}

/// Neither `Send` nor `Sync`; tells where it was made, used and dropped.
struct Local {
    said: Rc<RefCell<Vec<ThreadId>>>,
    dropped: mpsc::Sender<Vec<ThreadId>>,
}

impl Local {
    fn new(dropped: mpsc::Sender<Vec<ThreadId>>) -> Self {
        let said = Rc::new(RefCell::new(vec![thread::current().id()]));
        Local { said, dropped }
    }
}

impl Actor for Local {
    type Message = Reply<ThreadId>;

    fn handle(&mut self, reply: Reply<ThreadId>, _: &mut Context<Self>) {
        self.said.borrow_mut().push(thread::current().id());
        reply.send(thread::current().id());
    }

    fn stopped(&mut self, _: &mut Context<Self>) {
        self.said.borrow_mut().push(thread::current().id());
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        let mut said = self.said.take();
        said.push(thread::current().id());
        let _ = self.dropped.send(said);
    }
}

/// However it ends: by its worker, by its last address, by being stopped, by somebody who sends meanwhile.
#[test]
fn an_actor_that_is_not_send_is_made_used_and_dropped_on_its_thread() {
    within_limit(|| {
        for end in 0..5 {
            let (sender, dropped) = mpsc::channel();
            let worker = Worker::new();
            let local = worker.spawn_with(|_| Local::new(sender));
            let thread = local.ask(|reply| reply).unwrap();
            assert_ne!(thread, thread::current().id());
            match end {
                0 => drop(worker),
                1 => drop(local),
                2 => local.stop(),
                3 => {
                    worker.quit(Quit::Discard);
                    worker.join();
                }
                _ => {
                    let other = thread::spawn(move || while local.tell(Reply::to(drop)).is_ok() {});
                    drop(worker);
                    other.join().unwrap();
                }
            }
            let said = dropped.recv_timeout(LONG).unwrap();
            assert!(said.len() >= 4, "made, used, stopped, dropped");
            assert!(said.iter().all(|said| *said == thread));
        }
    });
}

#[test]
fn what_was_accepted_before_a_drain_is_handled_and_what_that_leads_to() {
    within_limit(|| {
        for _ in 0..20 {
            let worker = Worker::new();
            let (hold, gate) = hold();
            let mut hold = Some(hold);
            let (sender, handled) = mpsc::channel();
            let last = worker.spawn_fn(move |number: u32, _| sender.send(number).unwrap());
            let next = last.clone();
            let middle = worker.spawn_fn(move |number: u32, _| next.tell(number).unwrap());
            let first = worker.spawn_fn(move |number: u32, _| {
                if let Some(hold) = hold.take() {
                    hold.wait();
                }
                middle.tell(number).unwrap();
            });
            for number in 0..1_000 {
                first.tell(number).unwrap();
            }
            gate.until_entered();
            worker.quit(Quit::Drain);
            gate.open();
            worker.join();
            assert_eq!(handled.iter().collect::<Vec<_>>(), Vec::from_iter(0..1_000));
            for address in [&first, &last] {
                assert_eq!(address.tell(7).unwrap_err().into_inner(), 7);
                assert_eq!(address.lost(), 0);
            }
        }
    });
}

#[test]
fn a_drain_handles_what_is_in_a_limited_mailbox() {
    within_limit(|| {
        let worker = Worker::new();
        let (hold, gate) = hold();
        let mut hold = Some(hold);
        let (sender, handled) = mpsc::channel();
        let spawner = worker.spawner().limited(1_000, Overflow::Fail);
        let limited = spawner.spawn_fn(move |number: u32, _| {
            if let Some(hold) = hold.take() {
                hold.wait();
            }
            sender.send(number).unwrap();
        });
        limited.tell(0).unwrap();
        gate.until_entered();
        for number in 1..1_001 {
            limited.tell(number).unwrap();
        }
        assert!(limited.tell(0).unwrap_err().is_full());
        worker.quit(Quit::Drain);
        gate.open();
        worker.join();
        assert_eq!(handled.iter().count(), 1_001);
    });
}

/// Two actors that send to each other for ever, and another one that is sent to all the time.
#[test]
fn a_drain_ends_though_mail_comes_faster_than_it_is_handled() {
    within_limit(|| {
        let worker = Worker::new();
        let handled = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&handled);
        let slow = worker.spawn_fn(move |_: u64, _| {
            count.fetch_add(1, Ordering::Relaxed);
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_micros(20) {}
        });
        const BEFORE: usize = 1_000;
        for number in 0..BEFORE as u64 {
            slow.tell(number).unwrap();
        }
        let flood = thread::spawn(move || while slow.tell(0).is_ok() {});
        worker.quit(Quit::Drain);
        worker.join();
        flood.join().unwrap();
        assert!(handled.load(Ordering::Relaxed) >= BEFORE);
    });
}

/// An actor whose senders wait, held at its first message, and what it has handled.
fn held_sink(spawner: Spawner) -> (Address<u32>, Gate, Arc<AtomicUsize>) {
    let (hold, gate) = hold();
    let (mut hold, handled) = (Some(hold), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&handled);
    let sink = spawner
        .limited(2, Overflow::Wait)
        .spawn_fn(move |_: u32, _| {
            hold.take().into_iter().for_each(Hold::wait);
            count.fetch_add(1, Ordering::SeqCst);
        });
    sink.tell(0).unwrap();
    gate.until_entered();
    (sink, gate, handled)
}

/// Passes messages on to one whose senders wait, and is muted.
fn passing_on(to: &Address<u32>) -> impl FnMut(u32, &mut Here<u32>) + Send + use<> {
    let to = to.clone();
    move |number, _| to.tell(number).unwrap()
}

/// It counted as one that has nothing to do, and what it had accepted was lost: also where it was sent to only since, by one that was
/// muted itself.
#[test]
fn a_drain_waits_for_those_that_are_muted() {
    const MESSAGES: usize = 50;

    within_limit(|| {
        let pool = Pool::with_threads(1);
        for is_chain in [false, true] {
            let (sink, gate, handled) = held_sink(pool.spawner());
            let worker = Worker::new();
            let mut first = worker.spawn_fn(passing_on(&sink));
            let last = first.clone();
            if is_chain {
                let spawner = worker.spawner().limited(2, Overflow::Wait);
                let second = spawner.spawn_fn(passing_on(&sink));
                first = worker.spawn_fn(passing_on(&second));
            }
            for number in 1..=MESSAGES {
                first.tell(number as u32).unwrap();
            }
            worker.quit(Quit::Drain);
            // Time for a worker to end that does not wait.
            thread::sleep(SHORT);
            assert!(!worker.has_ended());
            gate.open();
            worker.join();
            pool.wait_idle().unwrap();
            assert_eq!(handled.load(Ordering::SeqCst), 1 + MESSAGES);
            assert_eq!((first.lost(), last.lost()), (0, 0));
        }
    });
}

/// Nothing makes room for them: an actor that keeps its mail back itself, or the very thread that waits for the end.
#[test]
fn a_drain_does_not_wait_for_room_that_will_not_come() {
    struct Holds;

    impl Actor for Holds {
        type Message = u32;

        fn handle(&mut self, _: u32, cx: &mut Context<Self>) {
            cx.hold(std::future::pending::<()>(), |_, (), _| {});
        }
    }

    within_limit(|| {
        let worker = Worker::new();
        let spawner = worker.spawner().limited(1, Overflow::Wait);
        let holds = spawner.spawn(Holds);
        let muted = worker.spawn_fn(passing_on(&holds));
        let muted_by_that = worker.spawner().limited(1, Overflow::Wait);
        let muted_by_that = muted_by_that.spawn_fn(passing_on(&muted));
        for number in 0..5 {
            let _ = muted_by_that.try_tell(number);
            muted.tell(number).unwrap();
        }
        worker.join();
        assert!(muted.lost() > 0 && holds.lost() > 0);

        let frame = Frame::new();
        let slow = frame.spawner().limited(1, Overflow::Wait);
        let slow = slow.spawn_fn(|_: u32, _| {});
        let worker = Worker::new();
        let muted = worker.spawn_fn(passing_on(&slow));
        for number in 0..5 {
            muted.tell(number).unwrap();
        }
        // The second message mutes it.
        until(|| slow.level().unwrap().queued == 2);
        worker.join();
        assert_eq!(muted.lost(), 3);
    });
}

/// What it had accepted was lost.
#[test]
fn a_drain_waits_for_those_that_are_begun_again() {
    struct Fails {
        handled: Arc<AtomicUsize>,
        begins: bool,
    }

    impl Actor for Fails {
        type Message = u32;

        fn started(&mut self, _: &mut Context<Self>) {
            if !self.begins {
                panic_on_purpose();
            }
        }

        fn handle(&mut self, number: u32, _: &mut Context<Self>) {
            if number.is_multiple_of(10) {
                panic_on_purpose();
            }
            self.handled.fetch_add(1, Ordering::SeqCst);
        }
    }

    within_limit(|| {
        for begins in [true, false] {
            let worker = Worker::new();
            let handled = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&handled);
            let most = Duration::from_millis(1);
            let restart = Restart::on_panic().no_limit().backoff(most, 1.0, most);
            let spawner = worker.spawner().restart(restart);
            let actor = spawner.spawn_with(move |_| Fails {
                handled: Arc::clone(&count),
                begins,
            });
            for number in 0..50 {
                actor.tell(number).unwrap();
            }
            worker.join();
            let handled = handled.load(Ordering::SeqCst) as u64;
            // One that never begins is given up, though it might be begun for ever.
            let expected = if begins { (45, 5) } else { (0, 50) };
            assert_eq!((handled, actor.lost()), expected);
        }
    });
}

#[test]
fn a_drain_ends_though_mail_keeps_coming() {
    within_limit(|| {
        let worker = Worker::new();
        let there = Arc::new(std::sync::OnceLock::<Address<u64>>::new());
        let back = Arc::clone(&there);
        let ping = worker.spawn_fn(move |number: u64, _| {
            if let Some(back) = back.get() {
                let _ = back.tell(number + 1);
            }
        });
        let forth = ping.clone();
        let pong = worker.spawn_fn(move |number: u64, _| drop(forth.tell(number + 1)));
        there.set(pong).unwrap();
        ping.tell(0).unwrap();
        let flooded = worker.spawn_fn(|_: u64, _| {});
        let (begun, has_begun) = mpsc::channel();
        let flood = thread::spawn(move || {
            let mut sent = 0;
            while flooded.tell(sent).is_ok() {
                sent += 1;
                if sent == 1_000 {
                    begun.send(()).unwrap();
                }
            }
        });
        has_begun.recv_timeout(LONG).unwrap();
        worker.quit(Quit::Drain);
        worker.join();
        flood.join().unwrap();
        assert!(ping.is_stopped());
        there.get().unwrap().stop();
    });
}

#[test]
fn discarding_ends_after_the_message_at_hand_and_tells_of_the_rest() {
    within_limit(|| {
        let worker = Worker::new();
        let (hold, gate) = hold();
        let mut hold = Some(hold);
        let drops = Drops::default();
        let handled = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&handled);
        let actor = worker.spawn_fn(move |_: (Token, Option<Reply<()>>), _| {
            counted.fetch_add(1, Ordering::SeqCst);
            if let Some(hold) = hold.take() {
                hold.wait();
            }
        });
        let answers = Answers::new();
        actor.tell((drops.token(), None)).unwrap();
        gate.until_entered();
        for _ in 0..100 {
            actor.tell((drops.token(), Some(answers.reply()))).unwrap();
        }
        worker.quit(Quit::Drain);
        worker.quit(Quit::Discard);
        assert!(!worker.has_ended());
        gate.open();
        worker.join();
        assert_eq!(handled.load(Ordering::SeqCst), 1);
        assert_eq!(actor.lost(), 100);
        assert_eq!(drops.count(), 101);
        for _ in 0..100 {
            assert_eq!(answers.next(), Err(AskError::Unanswered));
        }
        assert_eq!(
            actor.ask(|reply| (drops.token(), Some(reply))),
            Err(AskError::Stopped(actor.id()))
        );
    });
}

#[test]
fn dropping_a_worker_drains_it_also_on_its_own_thread() {
    within_limit(|| {
        let worker = Worker::new();
        let (sender, handled) = mpsc::channel();
        let drops = Drops::default();
        let token = drops.token();
        let actor = worker.spawn_fn(move |worker: Option<Worker>, _| {
            let _ = &token;
            drop(worker);
            sender.send(()).unwrap();
        });
        for _ in 0..10 {
            actor.tell(None).unwrap();
        }
        actor.tell(Some(worker)).unwrap();
        assert_eq!(handled.iter().count(), 11);
        until(|| actor.is_stopped());
        assert_eq!(drops.count(), 1);
    });
}

#[test]
fn who_is_spawned_when_the_worker_has_ended_is_dropped_and_its_address_says_so() {
    within_limit(|| {
        let worker = Worker::new();
        let spawner = worker.spawner();
        worker.quit(Quit::Discard);
        worker.join();
        let drops = Drops::default();
        let token = drops.token();
        let late = spawner.clone().spawn_fn(move |_: u32, _| {
            let _ = &token;
        });
        assert_eq!(late.tell(5).unwrap_err().into_inner(), 5);
        assert_eq!(drops.count(), 1);
        let token = drops.token();
        let later = spawner.spawn_with::<Local>(move |_| {
            drop(token);
            unreachable!("its thread is gone")
        });
        assert_eq!(later.ask(|reply| reply), Err(AskError::Stopped(later.id())));
        assert_eq!(drops.count(), 2);
    });
}

#[test]
fn a_blocking_ask_within_a_worker_is_an_error_and_not_a_deadlock() {
    within_limit(|| {
        let worker = Worker::new();
        let other = worker.spawn_fn(|reply: Reply<u32>, _| reply.send(1));
        let mapped = other.map(|reply: Reply<u32>| reply);
        let asker = worker.spawn_fn(move |reply: Reply<[Result<u32, AskError>; 3]>, here| {
            let _ = here;
            reply.send([
                other.ask(|reply| reply),
                other.ask_timeout(|reply| reply, LONG),
                mapped.ask(|reply| reply),
            ]);
        });
        let answers = asker.ask(|reply| reply).unwrap();
        assert!(
            answers
                .iter()
                .all(|answer| *answer == Err(AskError::OwnThread))
        );
        let elsewhere = Worker::new();
        let there = elsewhere.spawn_fn(|reply: Reply<u32>, _| reply.send(2));
        let asker = worker.spawn_fn(move |reply: Reply<_>, _| reply.send(there.ask(|reply| reply)));
        assert_eq!(asker.ask(|reply| reply), Ok(Ok(2)));
    });
}

struct Relay(Address<Reply<u32>>);

impl Actor for Relay {
    type Message = Reply<u32>;

    fn handle(&mut self, reply: Reply<u32>, cx: &mut Context<Self>) {
        cx.ask(
            &self.0,
            |reply| reply,
            |_, answer, _| {
                if let Ok(answer) = answer {
                    reply.send(answer + 1);
                }
            },
        );
    }
}

#[test]
fn actors_ask_each_other_within_a_worker_and_across() {
    within_limit(|| {
        let (one, other, pool) = (Worker::new(), Worker::new(), Pool::with_threads(1));
        let source = one.spawn_fn(|reply: Reply<u32>, _| reply.send(0));
        let relay = one.spawn(Relay(source));
        let relay = other.spawn(Relay(relay));
        let relay = pool.spawn(Relay(relay));
        let relay = one.spawn(Relay(relay));
        assert_eq!(relay.ask(|reply| reply), Ok(4));
    });
}

#[test]
fn a_panic_ends_one_actor_and_neither_the_others_nor_the_worker() {
    within_limit(|| {
        let worker = Worker::new();
        let sick = worker.spawn_fn(|_: Reply<()>, _| panic_on_purpose());
        let well = worker.spawn_fn(|reply: Reply<u32>, _| reply.send(3));
        let answer = sick.ask(|reply| reply);
        assert!(matches!(answer, Err(AskError::Panicked(_))), "{answer:?}");
        assert_eq!(well.ask(|reply| reply), Ok(3));
        until(|| sick.is_stopped());
    });
}

#[test]
fn an_idle_actor_without_addresses_leaves_its_seat() {
    within_limit(|| {
        let worker = Worker::new();
        let drops = Drops::default();
        for _ in 0..10 {
            let actors: Vec<_> = (0..1_000)
                .map(|_| {
                    let token = drops.token();
                    worker.spawn_fn(move |_: (), _| {
                        let _ = &token;
                    })
                })
                .collect();
            drop(actors);
        }
        until(|| drops.count() == 10_000);
        let line = format!("{worker:?}");
        until(|| format!("{worker:?}").contains("actors: 0"));
        drop(line);
    });
}

/// Several threads send to several actors of a worker, at random pauses: each message arrives once and in order.
#[test]
fn messages_of_each_sender_arrive_once_and_in_order() {
    const SENDERS: usize = 3;
    const ACTORS: usize = 3;
    const MESSAGES: u32 = 3_000;

    let soak = Soak::rounds(2);
    within(soak.limit(), move || {
        for round in soak {
            let worker = Worker::new();
            let (sender, ends) = mpsc::channel();
            let actors: Vec<Address<(usize, u32)>> = (0..ACTORS)
                .map(|_| {
                    let mut expected = [0; SENDERS];
                    let sender = sender.clone();
                    worker.spawn_fn(move |(from, number): (usize, u32), _| {
                        assert_eq!(number, expected[from]);
                        expected[from] += 1;
                        if expected == [MESSAGES; SENDERS] {
                            sender.send(()).unwrap();
                        }
                    })
                })
                .collect();
            thread::scope(|scope| {
                for from in 0..SENDERS {
                    let actors = &actors;
                    scope.spawn(move || {
                        let mut random = Random::new((round * SENDERS + from) as u64);
                        for number in 0..MESSAGES {
                            for actor in actors {
                                actor.tell((from, number)).unwrap();
                            }
                            match random.below(1_000) {
                                0 => thread::sleep(Duration::from_micros(100)),
                                1..20 => thread::yield_now(),
                                _ => {}
                            }
                        }
                    });
                }
            });
            for _ in 0..ACTORS {
                ends.recv_timeout(LONG).unwrap();
            }
        }
    });
}

/// Workers that end while others send and spawn: what was accepted is handled, or counted as lost, and every actor is
/// dropped on its thread.
#[test]
fn nothing_is_lost_in_silence_when_workers_end() {
    struct Counter {
        thread: ThreadId,
        handled: Arc<AtomicUsize>,
        _stays: Rc<()>,
        _token: Token,
    }

    impl Actor for Counter {
        type Message = ();

        fn handle(&mut self, (): (), _: &mut Context<Self>) {
            self.handled.fetch_add(1, Ordering::SeqCst);
        }
    }

    impl Drop for Counter {
        fn drop(&mut self) {
            if self.thread != thread::current().id() {
                // A panic here would be contained.
                self.handled.fetch_add(1 << 32, Ordering::SeqCst);
            }
        }
    }

    let soak = Soak::rounds(100);
    within(soak.limit(), move || {
        for round in soak {
            let drops = Drops::default();
            let worker = Worker::new();
            let mut born = 0;
            thread::scope(|scope| {
                let threads: Vec<_> = (0..2)
                    .map(|_| {
                        let (spawner, drops) = (worker.spawner(), drops.clone());
                        scope.spawn(move || {
                            let mut born = 0;
                            loop {
                                let handled = Arc::new(AtomicUsize::new(0));
                                let (counted, token) = (Arc::clone(&handled), drops.token());
                                born += 1;
                                let counter = spawner.clone().spawn_with(move |_| Counter {
                                    thread: thread::current().id(),
                                    handled: counted,
                                    _stays: Rc::new(()),
                                    _token: token,
                                });
                                let mut accepted = 0;
                                for _ in 0..20 {
                                    accepted += usize::from(counter.tell(()).is_ok());
                                }
                                counter.stop();
                                until(|| drops.count() != 0 && Arc::strong_count(&handled) == 1);
                                // Late senders have all come, since they are this thread.
                                until(|| {
                                    handled.load(Ordering::SeqCst) + counter.lost() as usize
                                        == accepted
                                });
                                if accepted == 0 {
                                    return born;
                                }
                            }
                        })
                    })
                    .collect();
                if round.is_multiple_of(2) {
                    thread::yield_now();
                }
                worker.quit(if round.is_multiple_of(3) {
                    Quit::Discard
                } else {
                    Quit::Drain
                });
                worker.join();
                born = threads
                    .into_iter()
                    .map(|thread| thread.join().unwrap())
                    .sum();
            });
            assert_eq!(drops.count(), born);
        }
    });
}

/// It keeps its messages back for something that never comes: a drain waits neither for that nor for them.
#[test]
fn an_actor_that_holds_does_not_keep_a_drain() {
    struct Holder;

    impl Actor for Holder {
        type Message = Option<Reply<()>>;

        fn handle(&mut self, reply: Option<Reply<()>>, cx: &mut Context<Self>) {
            if reply.is_none() {
                cx.hold(std::future::pending(), |_, (), _| {
                    unreachable!("it never ends")
                });
            }
        }
    }

    within_limit(|| {
        let worker = Worker::new();
        let holder = worker.spawn(Holder);
        holder.tell(None).unwrap();
        let answers = Answers::new();
        holder.tell(Some(answers.reply())).unwrap();
        worker.join();
        assert_eq!(answers.next(), Err(AskError::Unanswered));
        assert_eq!(holder.lost(), 1);
    });
}

/// Messages to the actors of a worker come by the time that it was given.
#[test]
fn a_worker_may_have_a_time_of_its_own() {
    within_limit(|| {
        let time = Time::manual();
        let worker = Worker::builder().time(time.clone()).build().unwrap();
        let (sender, arrived) = mpsc::channel();
        let actor = worker.spawn_fn(move |number: u32, _| sender.send(number).unwrap());
        let century = Duration::from_secs(100 * 365 * 24 * 3_600);
        drop(actor.tell_after(century, 1));
        actor.tell(0).unwrap();
        assert_eq!(arrived.recv_timeout(LONG), Ok(0));
        time.advance(century);
        assert_eq!(arrived.recv_timeout(LONG), Ok(1));
    });
}
