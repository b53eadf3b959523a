//! Questions whose answers are awaited for so long and no longer: by actors, tasks and threads, in every home.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{LONG, SHORT, block_on, hold, within_limit};
use tamtam_actor::{
    Actor, Address, AskError, Budget, Context, Frame, Overflow, Pool, Reply, Stepper, Time, Worker,
};

type Answer = Result<u32, AskError>;

/// Asks another one, and tells what came of it.
struct Asker {
    other: Address<Reply<u32>>,
    heard: mpsc::Sender<Answer>,
}

impl Actor for Asker {
    type Message = Duration;

    fn handle(&mut self, patience: Duration, cx: &mut Context<Self>) {
        cx.ask_timeout(
            &self.other,
            |reply| reply,
            patience,
            |this, answer, _| this.heard.send(answer).unwrap(),
        );
    }
}

/// One that gives its replies away.
fn keeper(pool: &Pool) -> (Address<Reply<u32>>, mpsc::Receiver<Reply<u32>>) {
    let (keep, kept) = mpsc::channel();
    (
        pool.spawn_fn(move |reply, _| keep.send(reply).unwrap()),
        kept,
    )
}

#[test]
fn an_actor_hears_the_answer_or_that_the_time_is_over_and_never_both() {
    const PATIENCE: Duration = Duration::from_secs(3);

    within_limit(|| {
        let time = Time::manual();
        let pool = Pool::builder()
            .threads(1)
            .time(time.clone())
            .build()
            .unwrap();
        let (other, kept) = keeper(&pool);
        let (heard, answers) = mpsc::channel();
        let asker = pool.spawn(Asker {
            other: other.clone(),
            heard,
        });
        // In time, and the timer goes with the answer.
        asker.tell(PATIENCE).unwrap();
        let reply = kept.recv_timeout(LONG).unwrap();
        assert!(reply.is_awaited());
        reply.send(1);
        assert_eq!(answers.recv_timeout(LONG), Ok(Ok(1)));
        assert_eq!(time.timers(), 0);
        // Too late.
        asker.tell(PATIENCE).unwrap();
        let reply = kept.recv_timeout(LONG).unwrap();
        time.advance(PATIENCE - Duration::from_millis(1));
        assert!(reply.is_awaited());
        time.advance(Duration::from_millis(2));
        assert_eq!(answers.recv_timeout(LONG), Ok(Err(AskError::TimedOut)));
        assert!(!reply.is_awaited());
        reply.send(2);
        // Dropped, and refused: at once, whatever the patience.
        asker.tell(Duration::MAX).unwrap();
        drop(kept.recv_timeout(LONG).unwrap());
        assert_eq!(answers.recv_timeout(LONG), Ok(Err(AskError::Unanswered)));
        other.stop();
        other.end().wait();
        asker.tell(PATIENCE).unwrap();
        assert_eq!(
            answers.recv_timeout(LONG),
            Ok(Err(AskError::Stopped(other.id())))
        );
        assert_eq!(time.timers(), 0);
        // What was awaited keeps nobody alive any more.
        let end = asker.end();
        drop(asker);
        end.wait();
        assert!(answers.recv().is_err());
    });
}

#[test]
fn an_actor_that_ends_while_it_waits_leaves_nothing_behind() {
    within_limit(|| {
        let time = Time::manual();
        let pool = Pool::builder()
            .threads(1)
            .time(time.clone())
            .build()
            .unwrap();
        let (other, kept) = keeper(&pool);
        let (heard, answers) = mpsc::channel();
        let asker = pool.spawn(Asker { other, heard });
        asker.tell(Duration::from_secs(3)).unwrap();
        let reply = kept.recv_timeout(LONG).unwrap();
        asker.stop();
        asker.end().wait();
        assert_eq!(time.timers(), 0);
        time.advance(Duration::from_secs(4));
        reply.send(1);
        assert!(answers.recv().is_err());
    });
}

/// The asker lives in each home in turn.
#[test]
fn the_time_is_over_in_every_home() {
    fn check(name: &str, spawn: impl FnOnce(Asker) -> Address<Duration>, run: impl Fn()) {
        let pool = Pool::with_threads(1);
        let (other, kept) = keeper(&pool);
        let (heard, answers) = mpsc::channel();
        let asker = spawn(Asker { other, heard });
        let began = Instant::now();
        asker.tell(SHORT).unwrap();
        let answer = loop {
            run();
            match answers.try_recv() {
                Ok(answer) => break answer,
                Err(mpsc::TryRecvError::Empty) => thread::yield_now(),
                Err(error) => panic!("in {name}: {error}"),
            }
        };
        assert_eq!(answer, Err(AskError::TimedOut), "in {name}");
        assert!(began.elapsed() >= SHORT, "in {name}");
        assert!(!kept.recv_timeout(LONG).unwrap().is_awaited(), "in {name}");
    }

    within_limit(|| {
        let pool = Pool::with_threads(2);
        check("a pool", |asker| pool.spawn(asker), || {});
        check(
            "threads that block",
            |asker| pool.spawn_blocking(asker),
            || {},
        );
        let worker = Worker::new();
        check("a worker", |asker| worker.spawn(asker), || {});
        let frame = std::cell::RefCell::new(Frame::new());
        check(
            "a frame",
            |asker| frame.borrow().spawn(asker),
            || {
                frame.borrow_mut().pump(Budget::unlimited());
            },
        );
        let stepper = Stepper::with_seed(1);
        let time = stepper.time();
        check(
            "a stepper",
            |asker| stepper.spawn(asker),
            || {
                stepper.run_steps(100);
                time.advance(Duration::from_millis(1));
                thread::sleep(Duration::from_millis(1));
            },
        );
    });
}

#[test]
fn a_task_hears_the_answer_or_that_the_time_is_over() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (other, kept) = keeper(&pool);
        let asked = other.ask_timeout_async(|reply| reply, LONG);
        kept.recv_timeout(LONG).unwrap().send(1);
        assert_eq!(block_on(asked), Ok(1));
        // Also through a mapped address, and through a call.
        let mapped = other.map(|reply: Reply<u32>| reply);
        let began = Instant::now();
        let asked = mapped.ask_timeout_async(|reply| reply, SHORT);
        assert_eq!(block_on(asked), Err(AskError::TimedOut));
        assert!(began.elapsed() >= SHORT);
        assert!(!kept.recv_timeout(LONG).unwrap().is_awaited());
        let (wait, gate) = hold();
        let mut wait = Some(wait);
        let slow = pool.comm(move |number: u32| {
            wait.take().into_iter().for_each(crate::support::Hold::wait);
            number
        });
        let asked = slow.ask_timeout_async(1, SHORT);
        gate.until_entered();
        assert_eq!(block_on(asked), Err(AskError::TimedOut));
        assert_eq!(slow.ask_timeout(2, SHORT), Err(AskError::TimedOut));
        gate.open();
        assert_eq!(block_on(slow.ask_timeout_async(3, LONG)), Ok(3));
    });
}

/// The time counts from the call on, whatever is waited for.
#[test]
fn a_task_that_finds_no_room_in_time_has_not_asked() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (wait, gate) = hold();
        let mut wait = Some(wait);
        let other =
            pool.spawner()
                .limited(1, Overflow::Wait)
                .spawn_fn(move |reply: Reply<u32>, _| {
                    wait.take().into_iter().for_each(crate::support::Hold::wait);
                    reply.send(1);
                });
        let first = other.ask_async(|reply| reply);
        gate.until_entered();
        let second = other.ask_async(|reply| reply);
        let third = other.ask_timeout_async(|reply| reply, SHORT);
        assert_eq!(block_on(third), Err(AskError::Full(other.id())));
        let fourth = other.ask_timeout_async(|reply| reply, LONG);
        gate.open();
        assert_eq!(block_on(fourth), Ok(1));
        assert_eq!((block_on(first), block_on(second)), (Ok(1), Ok(1)));
        assert_eq!(other.level().unwrap().queued, 0);
    });
}
