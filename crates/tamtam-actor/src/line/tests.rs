//! Workers and frames, small enough for Miri.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use crate::task::Flushes;
use crate::{Actor, Budget, Context, Frame, Overflow, Quit, Reply, Restart, Worker};

/// Belongs to one thread, and knows what it has added.
struct Sum(Rc<Cell<u32>>);

enum Job {
    Add(u32),
    Read(Reply<u32>),
}

impl Actor for Sum {
    type Message = Job;

    fn handle(&mut self, job: Job, _: &mut Context<Self>) {
        match job {
            Job::Add(number) => self.0.set(self.0.get() + number),
            Job::Read(reply) => reply.send(self.0.get()),
        }
    }
}

/// Runs `test` on a thread of its own and fails, instead of hanging, when it does not come to its end.
fn within_limit(test: impl FnOnce() + Send + 'static) {
    tamtam_testing::within(Duration::from_secs(120), test);
}

#[test]
fn a_worker_takes_from_two_threads_and_drains() {
    within_limit(|| {
        let worker = Worker::new();
        let sum = worker.spawn_with(|_| Sum(Rc::default()));
        let others = [1, 2].map(|number| {
            let sum = sum.clone();
            thread::spawn(move || (0..3).for_each(|_| sum.tell(Job::Add(number)).unwrap()))
        });
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(sum.ask(Job::Read), Ok(9));
        sum.tell(Job::Add(1)).unwrap();
        worker.quit(Quit::Drain);
        worker.join();
        assert_eq!((sum.is_stopped(), sum.lost()), (true, 0));
    });
}

#[test]
fn a_frame_pumps_and_ends_beside_senders() {
    within_limit(|| {
        let mut frame = Frame::new();
        let total = Rc::new(Cell::new(0));
        let sum = frame.spawn(Sum(Rc::clone(&total)));
        let (spawner, handle) = (frame.spawner(), frame.handle());
        let sender = {
            let sum = sum.clone();
            thread::spawn(move || (0..4).filter(|_| sum.tell(Job::Add(1)).is_ok()).count())
        };
        frame.pump(Budget::messages(2));
        drop(frame);
        let accepted = sender.join().unwrap();
        assert_eq!(u64::from(total.get()) + sum.lost(), accepted as u64);
        // A message that comes late is dropped on the thread that brings it.
        let other = thread::spawn(move || handle.spawn_fn(|(): (), _| {}).is_stopped());
        let late = spawner.spawn(Sum(Rc::clone(&total)));
        assert!(late.is_stopped() && other.join().unwrap());
        assert_eq!(Rc::strong_count(&total), 1);
    });
}

/// Holds for an answer, floods somebody, panics: what parks an actor, and what gives it another turn.
struct Busy {
    sum: crate::Address<Job>,
}

enum Order {
    Hold(Reply<u32>),
    Flood(u32),
    Panic,
}

impl Actor for Busy {
    type Message = Order;

    fn handle(&mut self, order: Order, cx: &mut Context<Self>) {
        match order {
            Order::Hold(reply) => {
                let sum = self.sum.ask_async(Job::Read);
                cx.hold(sum, move |busy, sum, cx| {
                    cx.ask(&busy.sum, Job::Read, move |_, again, _| {
                        reply.send(sum.unwrap() + again.unwrap());
                    });
                });
            }
            Order::Flood(count) => {
                (0..count).for_each(|_| self.sum.tell(Job::Add(1)).unwrap());
            }
            Order::Panic => std::panic::resume_unwind(Box::new("on purpose")),
        }
    }
}

#[test]
fn an_actor_holds_is_muted_is_begun_again_and_finishes() {
    within_limit(|| {
        let (worker, other) = (Worker::new(), Worker::new());
        let sum = other
            .spawner()
            .limited(2, Overflow::Wait)
            .spawn_with(|_| Sum(Rc::default()));
        let restart = Restart::on_panic().backoff(Duration::ZERO, 1.0, Duration::ZERO);
        let busy = {
            let sum = sum.clone();
            let spawner = worker.spawner().restart(restart);
            spawner.spawn_with(move |_| Busy { sum: sum.clone() })
        };
        busy.tell(Order::Flood(6)).unwrap();
        busy.tell(Order::Panic).unwrap();
        assert_eq!(busy.ask(Order::Hold), Ok(12));
        let end = busy.end();
        busy.finish();
        end.wait();
        assert_eq!((busy.lost(), sum.lost()), (1, 0));
    });
}

#[test]
fn what_a_turn_of_a_worker_leaves_is_flushed_once_behind_it() {
    within_limit(|| {
        let (worker, flushes) = (Worker::new(), Arc::new(Flushes::default()));
        let writer = worker.spawn_fn(flushes.leaver());
        let seen = Arc::clone(&flushes);
        let reader = worker.spawn_fn(move |reply: Reply<usize>, _| reply.send(seen.count()));
        for round in 1..=3 {
            writer.tell(()).unwrap();
            // It comes behind that, and is no part of the batch when it has slept.
            while reader.ask(|reply| reply) != Ok(round) {
                thread::yield_now();
            }
        }
        drop((writer, reader, worker));
        assert_eq!(flushes.count(), 3);
    });
}

#[test]
fn what_is_left_by_a_worker_is_flushed_before_a_handler_waits() {
    within_limit(|| {
        let [worker, other] = [Worker::new(), Worker::new()];
        let flushes = Arc::new(Flushes::default());
        let asked = other.spawn_fn(flushes.answerer());
        let asker = worker.spawn_fn(flushes.asker(asked));
        assert_eq!(asker.ask(|reply| reply), Ok(1));
    });
}

#[test]
fn what_is_left_by_a_worker_is_flushed_also_where_there_is_always_more_due() {
    within_limit(|| {
        let (worker, flushes) = (Worker::new(), Arc::new(Flushes::default()));
        let (say, said) = mpsc::channel();
        let restless = worker.spawn_fn(flushes.restless(say));
        restless.tell(true).unwrap();
        said.recv().unwrap();
    });
}

#[test]
fn what_is_left_by_a_worker_is_flushed_when_it_ends() {
    within_limit(|| {
        let (worker, flushes) = (Worker::new(), Arc::new(Flushes::default()));
        let writer = worker.spawn_fn(flushes.leaver());
        writer.tell(()).unwrap();
        worker.quit(Quit::Drain);
        worker.join();
        assert_eq!(flushes.count(), 1);
    });
}

crate::task::answer_tests! {
    a_worker_reads_what_its_turns_have_asked_when_it_has_nothing_else_to_do
    a_worker_leaves_answers_to_others_as_soon_as_it_has_something_else_to_do
    Worker::new()
}
