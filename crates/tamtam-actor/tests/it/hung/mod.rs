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

mod homes;
mod instances;
mod mail;

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
