//! Ends in order: actors that finish what they have accepted, and pools that end with a deadline.

mod support;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use support::{Answers, Hold, Soak, hold, panic_on_purpose, until, within, within_limit};
use tamtam_actor::{Actor, Address, AskError, Context, EndReason, Overflow, Pool, Reply, Restart};

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
            let spawner = match limit {
                Some(limit) => spawner.limited(limit, Overflow::Fail),
                None => spawner,
            };
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
            let spawner = match round % 2 {
                0 => spawner,
                _ => spawner.limited(16, Overflow::Fail),
            };
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
            until(|| counts.handled() + u64::from(worker.lost()) == accepted);
        }
    });
}
