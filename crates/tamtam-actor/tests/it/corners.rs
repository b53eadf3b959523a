//! Where two features meet: each test is named after what went wrong there once.

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use crate::support::{LONG, hold, panic_on_purpose, until, within_limit};
use tamtam_actor::{
    Actor, Address, Budget, Context, EndReason, Frame, Overflow, Pool, Reply, Restart, Time, Worker,
};

/// What happens soon does so by then; without the wake-up that it is about it would never.
const SOON: Duration = Duration::from_secs(10);

/// A message that leads to another one for ever, in a mailbox that is a queue under a lock.
fn for_ever(number: u64, here: &mut tamtam_actor::Here<u64>) {
    here.address().tell(number + 1).expect("room for one");
}

#[test]
fn a_worker_ends_though_an_actor_with_a_limit_sends_to_itself() {
    within_limit(|| {
        let worker = Worker::new();
        let limited = worker
            .spawner()
            .limited(10, Overflow::Fail)
            .spawn_fn(for_ever);
        let sorted = worker.spawner().priorities(|_: &u64| 0).spawn_fn(for_ever);
        limited.tell(0).unwrap();
        sorted.tell(0).unwrap();
        worker.join();
        assert!(limited.is_stopped() && sorted.is_stopped());
        assert_eq!((limited.lost(), sorted.lost()), (1, 1));
    });
}

#[test]
fn a_round_of_a_pump_is_for_what_was_there_also_in_a_mailbox_with_a_limit() {
    let mut frame = Frame::new();
    let limited = frame
        .spawner()
        .limited(10, Overflow::Fail)
        .spawn_fn(for_ever);
    limited.tell(0).unwrap();
    let pumped = frame.pump(Budget::unlimited());
    assert!((1..=16).contains(&pumped.handled), "{pumped:?}");
    assert!(pumped.left);
}

/// Sends two messages when it ends.
struct LastWords(Address<u32>);

impl Actor for LastWords {
    type Message = ();

    fn handle(&mut self, (): (), cx: &mut Context<Self>) {
        cx.stop();
    }

    fn stopped(&mut self, _: &mut Context<Self>) {
        for number in 0..2 {
            self.0.tell(number).expect("room is waited for, or made");
        }
    }
}

#[test]
fn last_words_to_a_full_mailbox_do_not_block_the_pool_that_would_empty_it() {
    within_limit(|| {
        // More than there are threads and others that stand in for them.
        const SPEAKERS: usize = 60;
        let pool = Pool::with_threads(1);
        let heard = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&heard);
        let (wait, gate) = hold();
        let mut wait = Some(wait);
        let listener = pool
            .spawner()
            .limited(1, Overflow::Wait)
            .spawn_fn(move |_: u32, _| {
                if let Some(wait) = wait.take() {
                    wait.wait();
                }
                count.fetch_add(1, Ordering::Relaxed);
            });
        listener.tell(0).unwrap();
        gate.until_entered();
        let speakers: Vec<_> = (0..SPEAKERS)
            .map(|_| pool.spawn(LastWords(listener.clone())))
            .collect();
        for speaker in &speakers {
            speaker.tell(()).unwrap();
        }
        gate.open();
        until(|| heard.load(Ordering::Relaxed) == 1 + 2 * SPEAKERS);
        assert_eq!(pool.blocking_asks(), 0);
    });
}

/// Belongs to a thread.
struct OfOneThread {
    thread: thread::ThreadId,
    elsewhere: Arc<AtomicBool>,
    _stays: Rc<()>,
}

impl Drop for OfOneThread {
    fn drop(&mut self) {
        if thread::current().id() != self.thread {
            self.elsewhere.store(true, Ordering::Relaxed);
        }
    }
}

impl Actor for OfOneThread {
    type Message = ();

    fn handle(&mut self, (): (), _: &mut Context<Self>) {}
}

#[test]
fn an_actor_for_a_frame_that_is_gone_is_not_dropped_by_another_thread_that_spawns() {
    within_limit(|| {
        let frame = Frame::new();
        let (spawner, handle) = (frame.spawner(), frame.handle());
        drop(frame);
        let elsewhere = Arc::new(AtomicBool::new(false));
        let over = Arc::new(AtomicBool::new(false));
        let other = {
            let over = Arc::clone(&over);
            thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    assert!(handle.spawn_fn(|(): (), _| {}).is_stopped());
                }
            })
        };
        for _ in 0..20_000 {
            let actor = spawner.clone().spawn(OfOneThread {
                thread: thread::current().id(),
                elsewhere: Arc::clone(&elsewhere),
                _stays: Rc::new(()),
            });
            assert!(actor.is_stopped());
        }
        over.store(true, Ordering::Relaxed);
        other.join().unwrap();
        assert!(!elsewhere.load(Ordering::Relaxed));
    });
}

/// Sets a timer for itself, and panics when the time has come, but before its turn has.
struct Forgetful {
    instance: usize,
    time: Time,
    rung: mpsc::Sender<usize>,
}

enum Do {
    Set,
    Panic,
    Tell(mpsc::Sender<()>),
}

impl Actor for Forgetful {
    type Message = Do;

    fn handle(&mut self, what: Do, cx: &mut Context<Self>) {
        match what {
            Do::Set => {
                let set_by = self.instance;
                cx.after(Duration::from_secs(1), move |this, _| {
                    let _ = this.rung.send(set_by);
                });
            }
            Do::Panic => {
                self.time.advance(Duration::from_secs(2));
                panic_on_purpose()
            }
            Do::Tell(there) => drop(there.send(())),
        }
    }
}

#[test]
fn a_timer_of_an_earlier_instance_does_not_call_the_next_one() {
    within_limit(|| {
        let time = Time::manual();
        let pool = Pool::builder()
            .threads(1)
            .time(time.clone())
            .build()
            .unwrap();
        let (rung, rings) = mpsc::channel();
        let mut instance = 0;
        let forgetful = pool
            .spawner()
            .restart(Restart::on_panic().backoff(Duration::ZERO, 1.0, Duration::ZERO))
            .spawn_with(move |_| {
                instance += 1;
                Forgetful {
                    instance,
                    time: time.clone(),
                    rung: rung.clone(),
                }
            });
        forgetful.tell(Do::Set).unwrap();
        forgetful.tell(Do::Panic).unwrap();
        let (here, there) = mpsc::channel();
        forgetful.tell(Do::Tell(here)).unwrap();
        there.recv_timeout(LONG).unwrap();
        assert_eq!(rings.try_recv(), Err(mpsc::TryRecvError::Empty));
    });
}

/// Holds for something that its own timer brings, and is to finish meanwhile.
struct Patient {
    time: Time,
}

impl Actor for Patient {
    type Message = tamtam_actor::Reply<bool>;

    fn handle(&mut self, reply: Self::Message, cx: &mut Context<Self>) {
        let (give_up, given_up) = tamtam_channel::bounded::<()>(1);
        cx.after(Duration::from_secs(1), move |_, _| {
            give_up.try_send(()).expect("somebody holds for it");
        });
        cx.hold(
            async move { given_up.recv_async().await.is_ok() },
            |_, in_time, _| reply.send(in_time),
        );
        cx.finish();
        self.time.advance(Duration::from_secs(2));
    }
}

#[test]
fn the_timer_of_an_actor_that_finishes_still_comes() {
    within_limit(|| {
        let time = Time::manual();
        let pool = Pool::builder()
            .threads(1)
            .time(time.clone())
            .build()
            .unwrap();
        let patient = pool.spawn(Patient { time });
        assert_eq!(patient.ask(|reply| reply), Ok(true));
        until(|| patient.is_stopped());
    });
}

#[test]
fn what_a_stuck_thread_has_made_due_is_done_by_one_that_always_has_something_to_do() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let flood = pool.spawn_fn(|(): (), here: &mut tamtam_actor::Here<()>| {
            // One that was told to stop takes nothing any more.
            let _ = here.address().tell(());
        });
        flood.tell(()).unwrap();
        let (done, all_done) = mpsc::channel();
        let helpers: Vec<_> = (0..3)
            .map(|number| {
                let done = done.clone();
                pool.spawn_fn(move |(): (), _| {
                    let _ = done.send(number);
                })
            })
            .collect();
        // It keeps its thread, which does not know of that, until others have done what it has made due.
        let stuck = pool.spawn_fn(move |reply: tamtam_actor::Reply<usize>, _| {
            for helper in &helpers {
                helper.tell(()).unwrap();
            }
            let done = helpers
                .iter()
                .filter_map(|_| all_done.recv_timeout(LONG).ok());
            reply.send(done.count());
        });
        assert_eq!(stuck.ask(|reply| reply), Ok(3));
        flood.stop();
    });
}

/// Threads that look whether others are stuck are counted, so that one is called where there is none: each time, also when one has
/// looked before and has gone to sleep since.
#[test]
fn what_a_stuck_thread_has_made_due_is_done_by_one_that_sleeps_each_time() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let (done, is_done) = mpsc::channel();
        let helper = pool.spawn_fn(move |(): (), _| {
            let _ = done.send(());
        });
        let stuck = pool.spawn_fn(move |reply: tamtam_actor::Reply<bool>, _| {
            helper.tell(()).unwrap();
            reply.send(is_done.recv_timeout(SOON).is_ok());
        });
        for _ in 0..5 {
            assert_eq!(stuck.ask(|reply| reply), Ok(true));
            // With nothing to do for longer than a thread looks again by itself, all sleep without end.
            thread::sleep(Duration::from_millis(10));
        }
    });
}

#[test]
fn a_restart_without_a_pause_has_none_however_often() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let fragile = pool
            .spawner()
            .restart(
                Restart::on_panic()
                    .no_limit()
                    .backoff(Duration::ZERO, 2.0, 10 * LONG),
            )
            .spawn_with(|_| Fragile);
        // So often that the factor is beyond all numbers.
        for _ in 0..1_100 {
            fragile.tell(None).unwrap();
        }
        assert_eq!(fragile.ask_timeout(Some, LONG), Ok(()));
    });
}

/// Panics unless it is asked.
struct Fragile;

impl Actor for Fragile {
    type Message = Option<tamtam_actor::Reply<()>>;

    fn handle(&mut self, reply: Self::Message, _: &mut Context<Self>) {
        match reply {
            Some(reply) => reply.send(()),
            None => panic_on_purpose(),
        }
    }
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
fn mail_that_is_kept_back_is_lost_with_the_pool_and_not_in_silence() {
    within_limit(|| {
        let time = Time::manual();
        let pool = Pool::builder().threads(2).time(time).build().unwrap();
        let holding = pool.spawn(HoldsForEver);
        let waited_for = pool
            .spawner()
            .limited(2, Overflow::Wait)
            .spawn(HoldsForEver);
        // That time does not pass.
        let pausing = pool
            .spawner()
            .restart(Restart::on_panic().backoff(LONG, 1.0, LONG))
            .spawn_with(|_| Fragile);
        let blocking = pool.spawn_blocking(HoldsForEver);
        for _ in 0..3 {
            holding.tell(()).unwrap();
            blocking.tell(()).unwrap();
            pausing.tell(None).unwrap();
        }
        waited_for.tell(()).unwrap();
        let waits = waited_for.clone();
        // It fills the mailbox, and waits for room.
        let sender = thread::spawn(move || (0..4).filter(|_| waits.tell(()).is_ok()).count());
        until(|| waited_for.level().is_some_and(|level| level.queued == 2));
        until(|| pausing.lost() == 1);
        drop(pool);
        let accepted = 1 + sender.join().unwrap();
        for actor in [&holding, &waited_for, &blocking] {
            assert!(actor.is_stopped());
        }
        assert!(pausing.is_stopped());
        assert_eq!((holding.lost(), blocking.lost(), pausing.lost()), (2, 2, 3));
        assert_eq!(waited_for.lost() as usize, accepted - 1);
    });
}

/// A key whose drop panics on the thread of the test.
#[derive(PartialEq, Eq, Hash)]
struct TouchyKey(u32, thread::ThreadId);

impl Drop for TouchyKey {
    fn drop(&mut self) {
        if thread::current().id() == self.1 {
            panic_on_purpose();
        }
    }
}

#[test]
fn a_panic_in_the_drop_of_a_key_gives_no_place_back_twice() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (wait, gate) = hold();
        let mut wait = Some(wait);
        let here = thread::current().id();
        let actor = pool
            .spawner()
            .limited(2, Overflow::Fail)
            .latest_by(move |number: &u32| TouchyKey(number % 10, here))
            .spawn_fn(move |_: u32, _| {
                if let Some(wait) = wait.take() {
                    wait.wait();
                }
            });
        actor.tell(0).unwrap();
        gate.until_entered();
        // In two steps: a place first, then the message.
        let mapped = actor.map(|number: u32| number);
        mapped.tell(1).unwrap();
        mapped.tell(11).unwrap();
        mapped.tell(2).unwrap();
        assert!(mapped.tell(3).is_err_and(|error| error.is_full()));
        assert_eq!(actor.level().map(|level| level.queued), Some(2));
        gate.open();
        until(|| actor.level().is_some_and(|level| level.queued == 0));
        assert_eq!(actor.lost(), 1);
    });
}

#[test]
fn the_end_of_an_idle_actor_that_may_block_is_told_when_its_pool_ends() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let blocking = pool.spawn_blocking(Fragile);
        assert_eq!(blocking.ask(Some), Ok(()));
        let mut end = blocking.end();
        drop(pool);
        let ended = end.wait_timeout(LONG).expect("it is told");
        assert_eq!(ended.reason, EndReason::HomeEnded);
    });
}

/// It panicked, or the process was aborted for want of memory.
#[test]
fn a_pool_with_more_threads_than_there_may_be_is_an_error_and_stand_ins_are_capped() {
    for threads in [65_537, usize::MAX] {
        let refused = Pool::builder().threads(threads).build();
        assert_eq!(
            refused.unwrap_err().kind(),
            std::io::ErrorKind::InvalidInput
        );
    }
    for most in [u32::MAX as usize, usize::MAX] {
        let pool = Pool::builder().threads(1).stand_ins(most).build().unwrap();
        let echo = pool.spawn_fn(|reply: Reply<u32>, _| reply.send(1));
        let asker = pool.spawn_fn(move |reply: Reply<_>, _| reply.send(echo.ask(|reply| reply)));
        assert_eq!(asker.ask(|reply| reply), Ok(Ok(1)));
    }
}
