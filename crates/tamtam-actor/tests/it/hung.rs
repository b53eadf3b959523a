//! Actors that are replaced while a handler does not come back: their mail goes on, their askers hear of it, and the thread that
//! was left behind is counted until it is back.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, ThreadId};
use std::time::Duration;

use crate::support::{
    Answers, Drops, Gate, Hold, LONG, Token, block_on, hold, until, within_limit,
};
use tamtam_actor::observe::Order;
use tamtam_actor::{
    Actor, Address, AskError, Context, DeadLetterWatch, EndReason, Loss, Overflow, Pool,
    Replaceable, Reply, Restart, Spawner, Strategy, Supervision, Time, on_dead_letter,
};

/// What a [`Worker`] is to do.
enum Job {
    /// Note this number.
    Note(u32),
    /// Wait at this gate.
    Hang(Hold),
    /// Wait at this gate, and then answer.
    HangAndAnswer(Hold, Reply<u32>),
    /// Say which instance it is.
    Which(Reply<u32>),
    /// Keep the question.
    Keep(Reply<u32>),
    /// Wait at this gate, and then stop.
    HangAndStop(Hold),
    /// Wait at this gate, and then panic.
    HangAndPanic(Hold),
    Panic,
}

/// What becomes of workers.
#[derive(Clone, Default)]
struct Log {
    notes: Arc<Mutex<Vec<(u32, u32)>>>,
    instances: Arc<AtomicU32>,
    stopped: Arc<AtomicU32>,
    drops: Drops,
    dropped_on: Arc<Mutex<Vec<ThreadId>>>,
    hung_on: Arc<Mutex<Vec<ThreadId>>>,
}

impl Log {
    fn worker(&self) -> Worker {
        Worker {
            number: self.instances.fetch_add(1, Ordering::SeqCst),
            kept: Vec::new(),
            log: self.clone(),
            _token: self.drops.token(),
        }
    }

    fn spawn<B: tamtam_actor::Describes<Job>>(
        &self,
        spawner: Spawner<Replaceable, B>,
    ) -> Address<Job> {
        let log = self.clone();
        spawner.spawn_with(move |_| log.worker())
    }

    /// Which instance noted which number.
    fn notes(&self) -> Vec<(u32, u32)> {
        self.notes.lock().unwrap().clone()
    }
}

struct Worker {
    number: u32,
    kept: Vec<Reply<u32>>,
    log: Log,
    _token: Token,
}

impl Worker {
    fn hang(&self, gate: Hold) {
        self.log
            .hung_on
            .lock()
            .unwrap()
            .push(thread::current().id());
        gate.wait();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let mut dropped_on = self.log.dropped_on.lock().unwrap();
        dropped_on.push(thread::current().id());
    }
}

impl Actor for Worker {
    type Message = Job;

    fn handle(&mut self, job: Job, cx: &mut Context<Self>) {
        match job {
            Job::Note(number) => {
                let mut notes = self.log.notes.lock().unwrap();
                notes.push((self.number, number));
            }
            Job::Hang(gate) => self.hang(gate),
            Job::HangAndAnswer(gate, reply) => {
                self.hang(gate);
                reply.send(7);
            }
            Job::Which(reply) => reply.send(self.number),
            Job::Keep(reply) => self.kept.push(reply),
            Job::HangAndStop(gate) => {
                self.hang(gate);
                cx.stop();
            }
            Job::HangAndPanic(gate) => {
                self.hang(gate);
                crate::support::panic_on_purpose();
            }
            Job::Panic => crate::support::panic_on_purpose(),
        }
    }

    fn stopped(&mut self, _: &mut Context<Self>) {
        self.log.stopped.fetch_add(1, Ordering::SeqCst);
    }
}

fn pool() -> Pool {
    Pool::builder().threads(1).observe(true).build().unwrap()
}

/// Lets the actor hang, and waits until it does.
fn hang(worker: &Address<Job>) -> Gate {
    let (wait, gate) = hold();
    worker.tell(Job::Hang(wait)).unwrap();
    gate.until_entered();
    gate
}

fn which(worker: &Address<Job>) -> u32 {
    worker.ask_timeout(Job::Which, LONG).unwrap()
}

fn left_behind(pool: &Pool) -> usize {
    pool.snapshot().left_behind
}

/// Why a message was lost, the name of the actor, and the type of the message.
type Told = (Loss, Option<Arc<str>>, String);

/// What is lost by this actor, as others are told.
fn letters(of: &Address<Job>) -> (DeadLetterWatch, mpsc::Receiver<Told>) {
    let (sender, receiver) = mpsc::channel();
    let (sender, id) = (Mutex::new(sender), of.id());
    let watch = on_dead_letter(move |letter| {
        if letter.actor == id {
            let told = (
                letter.why,
                letter.name.clone(),
                letter.message_type.to_owned(),
            );
            let _ = sender.lock().unwrap().send(told);
        }
    });
    (watch, receiver)
}

#[test]
fn what_waits_behind_a_hung_handler_is_for_the_next_instance_in_order() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let worker = log.spawn(pool.spawner().replaceable());
        worker.tell(Job::Note(1)).unwrap();
        let gate = hang(&worker);
        for number in 2..1_000 {
            worker.tell(Job::Note(number)).unwrap();
        }
        assert_eq!(left_behind(&pool), 0);
        assert!(worker.replace());
        assert_eq!(left_behind(&pool), 1);
        assert_eq!(which(&worker), 1);
        let expected: Vec<_> = [(0, 1)]
            .into_iter()
            .chain((2..1_000).map(|n| (1, n)))
            .collect();
        assert_eq!(log.notes(), expected);
        assert_eq!(worker.lost(), 1);
        gate.open();
        until(|| left_behind(&pool) == 0);
    });
}

#[test]
fn whoever_asked_the_hung_handler_hears_so_at_once() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let worker = log.spawn(pool.spawner().name("miner").replaceable());
        let (wait, gate) = hold();
        let asker = {
            let worker = worker.clone();
            thread::spawn(move || worker.ask(|reply| Job::HangAndAnswer(wait, reply)))
        };
        gate.until_entered();
        assert!(worker.replace());
        // The handler still hangs.
        let error = asker.join().unwrap().unwrap_err();
        assert_eq!(error, AskError::Hung(worker.id()));
        assert_eq!(error.actor(), Some(worker.id()));
        assert_eq!(error.name().as_deref(), Some("miner"));
        assert!(error.to_string().contains("\"miner\""), "{error}");
        // Its answer comes too late, and to nobody.
        gate.open();
        until(|| left_behind(&pool) == 0);
        assert_eq!(which(&worker), 1);
    });
}

/// Asks in each of the ways that there are; the answers come here.
#[test]
fn all_ways_to_ask_hear_that_there_will_be_no_answer() {
    /// Asks by `Context::ask` or `Context::ask_timeout`.
    struct Asker(Address<Job>);

    impl Actor for Asker {
        type Message = (bool, Hold, Reply<Result<u32, AskError>>);

        fn handle(&mut self, (limited, gate, reply): Self::Message, cx: &mut Context<Self>) {
            let question = |reply| Job::HangAndAnswer(gate, reply);
            let then = |_: &mut Self, answer, _: &mut Context<Self>| reply.send(answer);
            match limited {
                false => cx.ask(&self.0, question, then),
                true => cx.ask_timeout(&self.0, question, LONG, then),
            }
        }
    }

    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let worker = log.spawn(pool.spawner().replaceable());
        let mapped = worker.map(|(gate, reply)| Job::HangAndAnswer(gate, reply));
        let asker = pool.spawn(Asker(worker.clone()));
        let answers = Answers::new();
        let blocking = {
            let worker = worker.clone();
            pool.spawn_fn(move |(gate, reply): (Hold, Reply<_>), _| {
                reply.send(worker.ask(|reply| Job::HangAndAnswer(gate, reply)));
            })
        };
        type Answered<'a> = Box<dyn FnOnce() -> Result<u32, AskError> + 'a>;
        type Way<'a> = &'a dyn Fn(Hold) -> Answered<'a>;
        let ways: [Way<'_>; 7] = [
            &|gate| {
                let future = worker.ask_async(|reply| Job::HangAndAnswer(gate, reply));
                Box::new(move || block_on(future))
            },
            &|gate| {
                let future =
                    worker.ask_timeout_async(|reply| Job::HangAndAnswer(gate, reply), LONG);
                Box::new(move || block_on(future))
            },
            &|gate| {
                let worker = worker.clone();
                let asker = thread::spawn(move || {
                    worker.ask_timeout(|reply| Job::HangAndAnswer(gate, reply), LONG)
                });
                Box::new(move || asker.join().unwrap())
            },
            &|gate| {
                let mapped = mapped.clone();
                let asker = thread::spawn(move || mapped.ask(|reply| (gate, reply)));
                Box::new(move || asker.join().unwrap())
            },
            &|gate| {
                asker.tell((false, gate, answers.reply())).unwrap();
                Box::new(|| answers.next().unwrap())
            },
            &|gate| {
                asker.tell((true, gate, answers.reply())).unwrap();
                Box::new(|| answers.next().unwrap())
            },
            &|gate| {
                blocking.tell((gate, answers.reply())).unwrap();
                Box::new(|| answers.next().unwrap())
            },
        ];
        for (number, ask) in ways.into_iter().enumerate() {
            let (wait, gate) = hold();
            let answer = ask(wait);
            gate.until_entered();
            assert!(worker.replace());
            assert_eq!(answer(), Err(AskError::Hung(worker.id())), "{number}");
            gate.open();
        }
        until(|| left_behind(&pool) == 0);
    });
}

#[test]
fn questions_that_the_instance_has_kept_are_told_too_and_others_are_not() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let worker = log.spawn(pool.spawner().replaceable());
        let kept = worker.ask_async(Job::Keep);
        let answered = worker.ask_async(Job::Which);
        let gate = hang(&worker);
        let waits = worker.ask_async(Job::Which);
        assert!(worker.replace());
        assert_eq!(block_on(kept), Err(AskError::Hung(worker.id())));
        assert_eq!(block_on(answered), Ok(0));
        assert_eq!(block_on(waits), Ok(1));
        assert_eq!(worker.lost(), 1);
        gate.open();
    });
}

#[test]
fn a_handler_that_comes_back_does_no_harm_and_its_value_goes_on_its_thread() {
    within_limit(|| {
        let ends: [fn(Hold) -> Job; 3] = [Job::Hang, Job::HangAndStop, Job::HangAndPanic];
        for end in ends {
            let (pool, log) = (pool(), Log::default());
            let worker = log.spawn(pool.spawner().replaceable());
            let (wait, gate) = hold();
            worker.tell(end(wait)).unwrap();
            gate.until_entered();
            assert!(worker.replace());
            assert_eq!(which(&worker), 1);
            assert_eq!(log.drops.count(), 0);
            gate.open();
            until(|| left_behind(&pool) == 0);
            // The value was dropped before the thread was back.
            assert_eq!(log.drops.count(), 1);
            assert_eq!(
                *log.dropped_on.lock().unwrap(),
                *log.hung_on.lock().unwrap()
            );
            assert_eq!(log.stopped.load(Ordering::SeqCst), 0);
            assert_eq!(which(&worker), 1);
            assert_eq!(worker.lost(), 1);
            drop(worker);
            drop(pool);
            assert_eq!(log.drops.count(), 2);
            assert_eq!(log.stopped.load(Ordering::SeqCst), 1);
        }
    });
}

/// What a replaced instance would have gone on with is for nobody.
#[test]
fn nothing_is_gone_on_with_by_an_instance_that_was_replaced() {
    struct Asks(Address<Reply<u32>>, Arc<AtomicU32>);

    impl Actor for Asks {
        type Message = Hold;

        fn handle(&mut self, gate: Hold, cx: &mut Context<Self>) {
            cx.ask(
                &self.0,
                |reply| reply,
                |this, _, _| {
                    this.1.fetch_add(1, Ordering::SeqCst);
                },
            );
            cx.after(Duration::from_millis(1), |this, _| {
                this.1.fetch_add(1, Ordering::SeqCst);
            });
            gate.wait();
        }
    }

    within_limit(|| {
        let time = Time::manual();
        let pool = Pool::builder()
            .threads(1)
            .time(time.clone())
            .build()
            .unwrap();
        let (answered, was_answered) = mpsc::channel();
        let answerer = pool.spawn_fn(move |reply: Reply<u32>, _| {
            reply.send(1);
            answered.send(()).unwrap();
        });
        let count = Arc::new(AtomicU32::new(0));
        let own = Arc::clone(&count);
        let actor = pool
            .spawner()
            .replaceable()
            .spawn_with(move |_| Asks(answerer.clone(), Arc::clone(&own)));
        let (wait, gate) = hold();
        actor.tell(wait).unwrap();
        gate.until_entered();
        was_answered.recv_timeout(LONG).unwrap();
        time.advance(Duration::from_millis(1));
        assert!(actor.replace());
        gate.open();
        until(|| left_behind(&pool) == 0);
        let end = actor.end();
        // Its timer was its own: it does not keep the actor.
        drop(actor);
        assert_eq!(end.wait().reason, EndReason::NoAddresses);
        assert_eq!(count.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn one_that_does_not_hang_can_be_replaced_and_loses_nothing() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let worker = log.spawn(pool.spawner().replaceable());
        for number in 0..100 {
            assert_eq!(which(&worker), number);
            // Until then the handler that has answered may not have returned.
            pool.wait_idle().unwrap();
            assert!(worker.replace());
        }
        assert_eq!(which(&worker), 100);
        assert_eq!(worker.lost(), 0);
        until(|| log.drops.count() == 100 && left_behind(&pool) == 0);
    });
}

#[test]
fn one_that_hangs_again_is_replaced_again() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let worker = log.spawn(pool.spawner().replaceable());
        let gates: Vec<Gate> = (1..=5)
            .map(|times| {
                let gate = hang(&worker);
                assert!(worker.replace());
                assert_eq!(left_behind(&pool), times);
                gate
            })
            .collect();
        assert_eq!((which(&worker), worker.lost()), (5, 5));
        for (back, gate) in gates.into_iter().enumerate() {
            gate.open();
            until(|| left_behind(&pool) == 4 - back);
        }
        assert_eq!(log.drops.count(), 5);
    });
}

#[test]
fn who_replaces_at_the_same_time_replaces_one() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let worker = log.spawn(pool.spawner().replaceable());
        let gate = hang(&worker);
        // Beside another replacement of the idle successor, it may be one more each.
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert!(worker.replace()));
            }
        });
        // One that was replaced while it began comes back by itself.
        until(|| left_behind(&pool) == 1);
        assert_eq!(worker.lost(), 1);
        assert!((1..=4).contains(&which(&worker)));
        gate.open();
    });
}

#[test]
fn an_actor_that_is_not_replaceable_is_not_replaced() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let plain = pool.spawn_blocking(log.worker());
        let gate = hang(&plain);
        assert!(!plain.replace());
        gate.open();
        let worker = log.spawn(pool.spawner().replaceable());
        worker.stop();
        worker.end().wait();
        assert!(!worker.replace());
    });
}

#[test]
fn a_turn_that_lasts_too_long_is_replaced_by_the_time_of_its_home() {
    within_limit(|| {
        let time = Time::manual();
        let (pool, log) = (
            Pool::builder()
                .threads(1)
                .time(time.clone())
                .build()
                .unwrap(),
            Log::default(),
        );
        let limit = Duration::from_secs(10);
        let worker = log.spawn(pool.spawner().replaceable().replace_after(limit));
        assert_eq!(which(&worker), 0);
        // A turn that began later than the timer was set for.
        time.advance(Duration::from_secs(6));
        let gate = hang(&worker);
        let waits = worker.ask_async(Job::Which);
        time.advance(Duration::from_secs(9));
        assert_eq!(left_behind(&pool), 0);
        time.advance(Duration::from_secs(1));
        assert_eq!(block_on(waits), Ok(1));
        assert_eq!(left_behind(&pool), 1);
        // Its successor is looked after, too.
        let other = hang(&worker);
        time.advance(Duration::from_secs(20));
        time.advance(Duration::from_secs(20));
        assert_eq!(which(&worker), 2);
        gate.open();
        other.open();
        until(|| left_behind(&pool) == 0);
        drop(worker);
        until(|| log.drops.count() == 3);
        until(|| time.timers() == 0);
    });
}

#[test]
fn a_turn_that_lasts_too_long_is_replaced_by_the_systems_time() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let limit = Duration::from_millis(10);
        let worker = log.spawn(pool.spawner().replaceable().replace_after(limit));
        let (wait, gate) = hold();
        let answer = worker.ask(|reply| Job::HangAndAnswer(wait, reply));
        assert_eq!(answer, Err(AskError::Hung(worker.id())));
        assert_eq!(left_behind(&pool), 1);
        gate.open();
    });
}

#[test]
fn one_that_hangs_at_birth_or_at_its_end_is_replaced() {
    struct Hangs {
        at_birth: Option<Hold>,
        at_end: Option<Hold>,
        number: u32,
    }

    impl Actor for Hangs {
        type Message = Reply<u32>;

        fn started(&mut self, _: &mut Context<Self>) {
            self.at_birth.take().into_iter().for_each(Hold::wait);
        }

        fn handle(&mut self, reply: Reply<u32>, _: &mut Context<Self>) {
            reply.send(self.number);
        }

        fn stopped(&mut self, _: &mut Context<Self>) {
            self.at_end.take().into_iter().for_each(Hold::wait);
        }
    }

    within_limit(|| {
        let pool = pool();
        let ((born, birth), (ended, end)) = (hold(), hold());
        let (mut at_birth, mut at_end, mut number) = (Some(born), Some(ended), 0);
        let actor = pool.spawner().replaceable().spawn_with(move |_| {
            number += 1;
            Hangs {
                at_birth: at_birth.take(),
                // The second one.
                at_end: (number == 2).then(|| at_end.take()).flatten(),
                number,
            }
        });
        birth.until_entered();
        let waits = actor.ask_async(|reply| reply);
        assert!(actor.replace());
        assert_eq!(block_on(waits), Ok(2));
        actor.stop();
        end.until_entered();
        let ending = actor.end();
        assert!(actor.replace());
        assert_eq!(ending.wait().reason, EndReason::Stopped);
        assert_eq!(left_behind(&pool), 2);
        birth.open();
        end.open();
        until(|| left_behind(&pool) == 0);
    });
}

#[test]
fn one_whose_birth_does_not_come_back_cannot_be_made_again() {
    within_limit(|| {
        let pool = pool();
        let (wait, gate) = hold();
        let mut wait = Some(wait);
        let log = Log::default();
        let own = log.clone();
        let worker = pool.spawner().replaceable().spawn_with(move |_| {
            wait.take().into_iter().for_each(Hold::wait);
            own.worker()
        });
        gate.until_entered();
        assert!(worker.replace());
        let EndReason::Panicked(message) = worker.end().wait().reason else {
            panic!("it ended otherwise");
        };
        assert!(
            message.contains("not come back from its birth"),
            "{message}"
        );
        gate.open();
        until(|| left_behind(&pool) == 0);
        assert_eq!(log.drops.count(), 1);
    });
}

#[test]
fn to_be_stopped_waits_for_the_handler_unless_it_is_replaced() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let worker = log.spawn(pool.spawner().replaceable());
        let gate = hang(&worker);
        worker.tell(Job::Note(1)).unwrap();
        worker.stop();
        let mut end = worker.end();
        assert!(end.wait_timeout(crate::support::SHORT).is_none());
        assert!(worker.replace());
        // No other instance follows.
        assert_eq!(end.wait().reason, EndReason::Stopped);
        assert_eq!(worker.lost(), 2);
        assert!(worker.is_stopped() && !worker.replace());
        gate.open();
        until(|| left_behind(&pool) == 0);
        assert_eq!(log.instances.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn one_that_finishes_handles_what_it_has_accepted_also_if_it_is_replaced() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let worker = log.spawn(pool.spawner().replaceable());
        let gate = hang(&worker);
        for number in 0..100 {
            worker.tell(Job::Note(number)).unwrap();
        }
        worker.finish();
        until(|| worker.tell(Job::Note(1_000)).is_err());
        assert!(worker.replace());
        assert_eq!(worker.end().wait().reason, EndReason::Stopped);
        let notes: Vec<u32> = log.notes().into_iter().map(|(_, number)| number).collect();
        // Those that came while it was told to finish are handled or refused.
        assert!(notes.len() >= 100 && notes[..100].iter().copied().eq(0..100));
        assert_eq!(worker.lost(), 1);
        assert_eq!(log.stopped.load(Ordering::SeqCst), 1);
        gate.open();
    });
}

#[test]
fn without_addresses_it_ends_when_it_has_handled_what_it_was_sent() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        for is_replaced in [false, true] {
            let worker = log.spawn(pool.spawner().replaceable());
            let gate = hang(&worker);
            let before = log.notes().len();
            for number in 0..100 {
                worker.tell(Job::Note(number)).unwrap();
            }
            if is_replaced {
                assert!(worker.replace());
            }
            let end = worker.end();
            drop(worker);
            if !is_replaced {
                gate.open();
            }
            assert_eq!(end.wait().reason, EndReason::NoAddresses);
            assert_eq!(log.notes().len(), before + 100);
        }
    });
}

/// An actor's own address, its number and its name are those that others know.
#[test]
fn an_instance_is_the_actor_to_itself_and_to_others() {
    struct Own;

    enum Ask {
        Address(Reply<Address<Ask>>),
        Id(Reply<(tamtam_actor::ActorId, Option<Arc<str>>)>),
        Itself(Reply<bool>),
        Hang(Hold),
        Told(Reply<()>),
    }

    impl Actor for Own {
        type Message = Ask;

        fn handle(&mut self, ask: Ask, cx: &mut Context<Self>) {
            match ask {
                Ask::Address(reply) => reply.send(cx.address()),
                Ask::Id(reply) => reply.send((cx.id(), cx.name())),
                Ask::Itself(reply) => {
                    let asked = cx.address().ask(Ask::Told);
                    reply.send(matches!(asked, Err(AskError::Cycle(_))));
                }
                Ask::Hang(gate) => gate.wait(),
                Ask::Told(reply) => reply.send(()),
            }
        }
    }

    within_limit(|| {
        let pool = pool();
        let actor = pool
            .spawner()
            .name("self")
            .replaceable()
            .spawn_with(|_| Own);
        let own = actor.ask(Ask::Address).unwrap();
        assert_eq!(own.id(), actor.id());
        assert_eq!(
            actor.ask(Ask::Id),
            Ok((actor.id(), Some(Arc::from("self"))))
        );
        assert_eq!(actor.name().as_deref(), Some("self"));
        assert_eq!(actor.ask(Ask::Itself), Ok(true));
        // An address from one instance is good for the next.
        let (wait, gate) = hold();
        own.tell(Ask::Hang(wait)).unwrap();
        gate.until_entered();
        assert!(own.replace());
        assert_eq!(own.ask(Ask::Told), Ok(()));
        assert_eq!(actor.downgrade().upgrade().unwrap().id(), own.id());
        gate.open();
    });
}

#[test]
fn a_panic_ends_it_or_begins_it_again_as_its_restart_says() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let worker = log.spawn(pool.spawner().replaceable());
        worker.tell(Job::Panic).unwrap();
        assert!(worker.end().wait().reason.is_abnormal());
        assert_eq!(worker.lost(), 1);

        let own = log.clone();
        let restart =
            Restart::on_panic()
                .limit(2, LONG)
                .backoff(Duration::ZERO, 1.0, Duration::ZERO);
        let worker =
            (pool.spawner().replaceable().restart(restart)).spawn_with(move |_| own.worker());
        let first = which(&worker);
        worker.tell(Job::Panic).unwrap();
        assert_eq!(which(&worker), first + 1);
        let gate = hang(&worker);
        assert!(worker.replace());
        assert_eq!(which(&worker), first + 2);
        worker.tell(Job::Panic).unwrap();
        assert_eq!(which(&worker), first + 3);
        // The limit is of all instances together, and to be replaced is no restart.
        worker.tell(Job::Panic).unwrap();
        let reason = worker.end().wait().reason;
        assert!(
            matches!(reason, EndReason::GaveUp { restarts: 2, .. }),
            "{reason}"
        );
        assert_eq!(worker.lost(), 4);
        gate.open();
    });
}

#[test]
fn a_supervisor_hears_of_it_as_of_a_panic() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let beside = Log::default();
        let mut tree = Supervision::new(Strategy::OneForAll).limit(2, LONG);
        let (own, other) = (log.clone(), beside.clone());
        let worker = tree.child("hangs", pool.spawner().replaceable(), move |_| own.worker());
        let sibling = tree.child("beside", pool.spawner(), move |_| other.worker());
        let supervisor = tree.start(pool.spawner());
        assert_eq!((which(&worker), which(&sibling)), (0, 0));
        let mut gates = Vec::new();
        for round in 1..=2 {
            gates.push(hang(&worker));
            worker.tell(Job::Note(round)).unwrap();
            assert!(worker.replace());
            assert_eq!(which(&worker), round);
            until(|| supervisor.restarts() == u64::from(round));
            // With its sibling, and what waited is not lost.
            until(|| which(&sibling) == round);
        }
        assert_eq!(log.notes(), [(1, 1), (2, 2)]);
        assert_eq!(worker.lost(), 2);
        // Once more is too often.
        gates.push(hang(&worker));
        assert!(worker.replace());
        let reason = supervisor.end().wait().reason;
        assert!(
            matches!(reason, EndReason::GaveUp { restarts: 2, .. }),
            "{reason}"
        );
        assert!(reason.to_string().contains("not come back"), "{reason}");
        gates.into_iter().for_each(Gate::open);
    });
}

#[test]
fn a_supervisor_that_waits_for_a_hung_child_goes_on_when_that_is_replaced() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let mut tree = Supervision::new(Strategy::OneForAll).limit(10, LONG);
        let (own, other) = (log.clone(), Log::default());
        let worker = tree.child("hangs", pool.spawner().replaceable(), move |_| own.worker());
        let sibling = tree.child("panics", pool.spawner(), move |_| other.worker());
        let supervisor = tree.start(pool.spawner());
        let gate = hang(&worker);
        // All are to begin again, and the one that hangs cannot pause.
        sibling.tell(Job::Panic).unwrap();
        until(|| supervisor.restarts() == 1);
        assert!(worker.replace());
        assert_eq!(which(&sibling), 1);
        assert_eq!(which(&worker), 1);
        assert_eq!(supervisor.restarts(), 1);
        gate.open();
        supervisor.shutdown();
        supervisor.end().wait();
    });
}

#[test]
fn a_tree_that_is_shut_down_leaves_a_hung_child_behind() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let own = log.clone();
        let mut tree = Supervision::new(Strategy::OneForOne).deadline(crate::support::SHORT);
        let worker = tree.child("hangs", pool.spawner().replaceable(), move |_| own.worker());
        let supervisor = tree.start(pool.spawner());
        let (wait, gate) = hold();
        let question = worker.ask_async(|reply| Job::HangAndAnswer(wait, reply));
        gate.until_entered();
        supervisor.shutdown();
        supervisor.end().wait();
        assert_eq!(block_on(question), Err(AskError::Hung(worker.id())));
        assert_eq!(worker.end().wait().reason, EndReason::Stopped);
        assert_eq!(left_behind(&pool), 1);
        gate.open();
    });
}

#[test]
fn the_end_of_a_pool_does_not_wait_for_a_thread_that_was_left_behind() {
    within_limit(|| {
        let log = Log::default();
        for is_told in [false, true] {
            let pool = pool();
            let worker = log.spawn(pool.spawner().replaceable());
            let gate = hang(&worker);
            worker.tell(Job::Note(1)).unwrap();
            assert!(worker.replace());
            pool.wait_idle().unwrap();
            if is_told {
                let shutdown = pool.shutdown_timeout(LONG);
                assert!(shutdown.finished);
                assert_eq!((shutdown.at_work, shutdown.left_behind), (0, 1));
            } else {
                drop(pool);
            }
            assert_eq!(worker.lost(), 1);
            let before = log.drops.count();
            gate.open();
            // It comes back to a pool that has ended.
            until(|| log.drops.count() > before);
        }
        assert_eq!(log.notes().len(), 2);
    });
}

#[test]
fn a_pool_that_ends_beside_a_hung_handler_ends_when_that_is_replaced() {
    within_limit(|| {
        let log = Log::default();
        let pool = pool();
        let worker = log.spawn(pool.spawner().replaceable());
        let gate = hang(&worker);
        worker.tell(Job::Note(1)).unwrap();
        let (ended, has_ended) = mpsc::channel();
        let ending = thread::spawn(move || {
            drop(pool);
            ended.send(()).unwrap();
        });
        assert!(has_ended.recv_timeout(crate::support::SHORT).is_err());
        assert!(worker.replace());
        ending.join().unwrap();
        assert_eq!(log.notes(), [(1, 1)]);
        gate.open();
        until(|| log.drops.count() == 2);
    });
}

#[test]
fn a_pool_that_is_ended_at_its_deadline_says_what_hangs() {
    within_limit(|| {
        let log = Log::default();
        let pool = pool();
        let (hangs, left) = (
            log.spawn(pool.spawner().replaceable()),
            log.spawn(pool.spawner().replaceable()),
        );
        let (gate, other) = (hang(&hangs), hang(&left));
        hangs.tell(Job::Note(1)).unwrap();
        assert!(left.replace());
        let shutdown = pool.shutdown_timeout(crate::support::SHORT);
        assert!(!shutdown.finished);
        assert_eq!((shutdown.at_work, shutdown.left_behind), (1, 1));
        assert_eq!(hangs.end().wait().reason, EndReason::HomeEnded);
        assert_eq!(hangs.lost(), 1);
        gate.open();
        other.open();
        until(|| log.drops.count() >= 2);
    });
}

#[test]
fn threads_that_were_left_behind_keep_no_place_but_there_is_a_limit_for_them() {
    within_limit(|| {
        let pool = Pool::builder()
            .threads(1)
            .blocking_threads(2)
            .build()
            .unwrap();
        let log = Log::default();
        let workers: Vec<_> = (0..3)
            .map(|_| log.spawn(pool.spawner().replaceable()))
            .collect();
        let gates: Vec<Gate> = workers[..2].iter().map(hang).collect();
        // All threads hang: the third one has none, until another is left behind.
        let waits = workers[2].ask_async(Job::Which);
        assert!(workers[0].replace());
        assert!(block_on(waits).is_ok());
        assert!(workers[1].replace());
        assert!(
            workers
                .iter()
                .all(|worker| worker.ask_timeout(Job::Which, LONG).is_ok())
        );
        // There are as many as there may be.
        let third = hang(&workers[2]);
        assert!(!workers[2].replace());
        assert_eq!(left_behind(&pool), 2);
        assert_eq!(workers[2].lost(), 0);
        for gate in gates {
            gate.open();
        }
        until(|| left_behind(&pool) < 2);
        assert!(workers[2].replace());
        third.open();
        until(|| left_behind(&pool) == 0);
        assert_eq!(log.drops.count(), 3);
    });
}

/// A handler that hangs because it waits for another actor counts as one that waits: not any more, once it is left behind.
#[test]
fn a_thread_that_waits_is_left_behind_like_any_other() {
    within_limit(|| {
        let pool = Pool::builder()
            .threads(1)
            .blocking_threads(1)
            .build()
            .unwrap();
        let (kept, replies) = mpsc::channel();
        let silent = pool.spawn_fn(move |reply: Reply<u32>, _| kept.send(reply).unwrap());
        let asker = {
            let silent = silent.clone();
            move |reply: Reply<bool>| reply.send(silent.ask(|reply| reply).is_ok())
        };
        struct Asks<F>(F);

        impl<F: Fn(Reply<bool>) + Send + 'static> Actor for Asks<F> {
            type Message = Option<Reply<bool>>;

            fn handle(&mut self, reply: Option<Reply<bool>>, _: &mut Context<Self>) {
                if let Some(reply) = reply {
                    (self.0)(reply);
                }
            }
        }

        let actor = pool
            .spawner()
            .replaceable()
            .spawn_with(move |_| Asks(asker.clone()));
        let answer = actor.ask_async(Some);
        let reply = replies.recv_timeout(LONG).unwrap();
        assert!(actor.replace());
        assert_eq!(block_on(answer), Err(AskError::Hung(actor.id())));
        // The limit of one thread holds for those that are left.
        let echo = (pool.spawner().blocking()).spawn_fn(|reply: Reply<u32>, _| reply.send(1));
        assert_eq!(echo.ask_timeout(|reply| reply, LONG), Ok(1));
        assert!(pool.snapshot().blocking_threads <= 1);
        reply.send(1);
        until(|| left_behind(&pool) == 0);
        assert_eq!(echo.ask_timeout(|reply| reply, LONG), Ok(1));
    });
}

/// One that may block asks one that can be replaced, beyond the limit of threads: it has its turn as others have.
#[test]
fn one_that_is_asked_by_the_last_thread_has_a_turn_beyond_the_limit() {
    within_limit(|| {
        let pool = Pool::builder()
            .threads(1)
            .blocking_threads(1)
            .build()
            .unwrap();
        let worker = Log::default().spawn(pool.spawner().replaceable());
        let asker =
            pool.spawner()
                .blocking()
                .spawn_fn(move |reply: Reply<Result<u32, AskError>>, _| {
                    reply.send(worker.ask(Job::Which))
                });
        assert_eq!(asker.ask_timeout(|reply| reply, LONG), Ok(Ok(0)));
    });
}

#[test]
fn limits_and_rules_of_the_mailbox_hold_while_it_hangs() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let full = log.spawn(pool.spawner().limited(2, Overflow::Fail).replaceable());
        let gate = hang(&full);
        full.tell(Job::Note(1)).unwrap();
        full.tell(Job::Note(2)).unwrap();
        let refused = full.tell(Job::Note(3)).unwrap_err();
        assert!(refused.is_full() && matches!(refused.into_inner(), Job::Note(3)));
        let level = full.level().unwrap();
        assert_eq!((level.queued, level.capacity), (2, Some(2)));
        assert!(full.replace());
        until(|| full.level().unwrap().queued == 0);
        assert_eq!(which(&full), 1);
        gate.open();

        // A sender that waits for room gets it from the next instance.
        let waits = log.spawn(pool.spawner().limited(1, Overflow::Wait).replaceable());
        let gate = hang(&waits);
        waits.tell(Job::Note(4)).unwrap();
        let sender = {
            let waits = waits.clone();
            thread::spawn(move || waits.tell(Job::Note(5)))
        };
        assert!(waits.replace());
        sender.join().unwrap().unwrap();
        which(&waits);
        gate.open();

        let (undelivered, came) = mpsc::channel();
        let undelivered = Mutex::new(undelivered);
        let latest = pool
            .spawner()
            .latest_by(|job: &Job| match job {
                Job::Note(number) => number % 10,
                _ => 1_000,
            })
            .undelivered(move |job, why| {
                if let Job::Note(number) = job {
                    undelivered.lock().unwrap().send((number, why)).unwrap();
                }
            });
        let latest = log.spawn(latest.replaceable());
        let gate = hang(&latest);
        for number in [11, 12, 21] {
            latest.tell(Job::Note(number)).unwrap();
        }
        assert_eq!(came.try_recv(), Ok((11, Loss::Replaced)));
        assert!(latest.replace());
        let number = which(&latest);
        let notes: Vec<u32> = log.notes().iter().map(|note| note.1).collect();
        assert_eq!(notes, [1, 2, 4, 5, 21, 12]);
        assert_ne!(number, 0);
        gate.open();
    });
}

#[test]
fn what_is_lost_is_told_with_the_name_and_the_type_of_the_message() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let worker = log.spawn(pool.spawner().name("miner").replaceable());
        let (_watch, letters) = letters(&worker);
        let gate = hang(&worker);
        worker.tell(Job::Note(1)).unwrap();
        assert!(worker.replace());
        let (why, name, message_type) = letters.recv_timeout(LONG).unwrap();
        assert_eq!((why, name.as_deref()), (Loss::Hung, Some("miner")));
        assert!(message_type.ends_with("Job"), "{message_type}");
        which(&worker);
        // Nothing else was lost.
        assert!(letters.try_recv().is_err());
        let other = hang(&worker);
        worker.tell(Job::Note(2)).unwrap();
        worker.stop();
        other.open();
        worker.end().wait();
        let (why, name, message_type) = letters.recv_timeout(LONG).unwrap();
        assert_eq!((why, name.as_deref()), (Loss::Stopped, Some("miner")));
        assert!(message_type.ends_with("Job"), "{message_type}");
        gate.open();
    });
}

#[test]
fn it_is_observed_as_one_actor() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let worker = log.spawn(pool.spawner().name("miner").replaceable());
        for number in 0..10 {
            worker.tell(Job::Note(number)).unwrap();
        }
        let gate = hang(&worker);
        let look = || {
            let mut actors = pool.busiest(10, Order::Handled);
            assert_eq!(actors.len(), 1);
            actors.remove(0)
        };
        let seen = look();
        assert_eq!(
            (seen.id, seen.name.as_deref()),
            (worker.id(), Some("miner"))
        );
        assert!(seen.type_name.ends_with("Worker") && seen.message_type.ends_with("Job"));
        assert!(seen.may_block);
        assert_eq!((seen.handled, seen.restarts), (11, 0));
        assert!(seen.at_work.is_some());
        assert!(worker.replace());
        which(&worker);
        until(|| look().at_work.is_none());
        let seen = look();
        assert_eq!((seen.handled, seen.restarts, seen.lost), (12, 1, 1));
        let turns = seen.turns;
        gate.open();
        until(|| left_behind(&pool) == 0);
        // What the old instance did after that is not counted as this actor's.
        let seen = look();
        assert_eq!((seen.turns, seen.at_work), (turns, None));
        let totals = pool.snapshot().actors.unwrap();
        assert_eq!((totals.born, totals.living, totals.queued), (1, 1, 0));
    });
}

#[test]
fn a_message_that_is_told_later_comes_to_the_instance_of_that_time() {
    within_limit(|| {
        let time = Time::manual();
        let pool = Pool::builder()
            .threads(1)
            .time(time.clone())
            .build()
            .unwrap();
        let log = Log::default();
        let worker = log.spawn(pool.spawner().replaceable());
        worker.tell_after(Duration::from_secs(1), Job::Note(1));
        let gate = hang(&worker);
        time.advance(Duration::from_secs(1));
        assert!(worker.replace());
        until(|| log.notes() == [(1, 1)]);
        gate.open();
    });
}

/// Random replacements beside senders: what was accepted is handled once, in each sender's order, or is counted.
#[test]
fn replacements_beside_senders_lose_what_was_at_hand_and_nothing_else() {
    const SENDERS: u32 = 3;
    const EACH: u32 = 2_000;

    struct Notes(Arc<Mutex<Vec<u32>>>);

    impl Actor for Notes {
        type Message = u32;

        fn handle(&mut self, number: u32, _: &mut Context<Self>) {
            self.0.lock().unwrap().push(number);
            thread::yield_now();
        }
    }

    within_limit(|| {
        let pool = Pool::builder()
            .threads(2)
            .blocking_threads(8)
            .build()
            .unwrap();
        let notes = Arc::new(Mutex::new(Vec::new()));
        let own = Arc::clone(&notes);
        let actor = pool
            .spawner()
            .replaceable()
            .spawn_with(move |_| Notes(Arc::clone(&own)));
        let replaced = thread::scope(|scope| {
            let senders: Vec<_> = (0..SENDERS)
                .map(|sender| {
                    let actor = actor.clone();
                    scope.spawn(move || {
                        for number in 0..EACH {
                            actor.tell(sender * EACH + number).unwrap();
                        }
                    })
                })
                .collect();
            let mut replaced = 0_u64;
            // On a loaded machine the senders may be done before this thread has its first turn.
            let is_at_work = || notes.lock().unwrap().len() < (SENDERS * EACH) as usize;
            while senders.iter().any(|sender| !sender.is_finished())
                || (replaced == 0 && is_at_work())
            {
                replaced += u64::from(actor.replace());
                thread::yield_now();
            }
            replaced
        });
        let end = actor.end();
        actor.finish();
        end.wait();
        assert!(replaced > 0 && actor.lost() <= replaced);
        let mut notes = core::mem::take(&mut *notes.lock().unwrap());
        // A message that was at hand counts as lost, though its handler may have come to its end.
        let handled = notes.len() as u64;
        let all = u64::from(SENDERS * EACH);
        assert!(
            handled <= all && handled + actor.lost() >= all,
            "{handled} + {}",
            actor.lost()
        );
        notes.sort_unstable();
        notes.dedup();
        assert_eq!(notes.len() as u64, handled, "none twice");
        until(|| left_behind(&pool) == 0);
    });
}
