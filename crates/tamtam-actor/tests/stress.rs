//! Conservation and order under stress: many senders of every kind, actors that move between threads, actors that are
//! killed and begun again. Nothing lost in silence, nothing doubled, nothing out of order.
//!
//! Each test runs for under a second; `TAMTAM_SOAK_SECONDS` makes it longer.
//!
//! A program of its own: it is compiled with optimization, and run on one core and beside busy ones.

mod support;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use support::{LIMIT, Random, panic_on_purpose, soak_for, within};
use tamtam_actor::{
    Actor, Address, Context, EndReason, Overflow, Pool, Quit, Reply, Restart, Strategy,
    Supervision, Worker,
};

// --------------------------------------------------------------------------------------- order

/// After so many messages to one receiver a sender waits until they are handled, which keeps memory within limits.
const LAP: u64 = 1_000;

enum Parcel {
    /// From that sender, its so-manyth to this receiver.
    Number(usize, u64),
    /// Everything before is handled.
    Flush(Reply<()>),
    /// How many came from each sender; or what was wrong.
    Read(Reply<Result<Vec<u64>, String>>),
}

struct Receiver {
    next: Vec<u64>,
    wrong: Option<String>,
}

impl Receiver {
    fn new(senders: usize) -> Self {
        Receiver {
            next: vec![0; senders],
            wrong: None,
        }
    }
}

impl Actor for Receiver {
    type Message = Parcel;

    fn handle(&mut self, parcel: Parcel, _: &mut Context<Self>) {
        match parcel {
            Parcel::Number(from, number) => {
                let next = &mut self.next[from];
                if *next != number {
                    let next = *next;
                    self.wrong
                        .get_or_insert_with(|| format!("{number} of {from} came for {next}"));
                }
                *next += 1;
            }
            Parcel::Flush(reply) => reply.send(()),
            Parcel::Read(reply) => reply.send(match self.wrong.take() {
                None => Ok(self.next.clone()),
                Some(wrong) => Err(wrong),
            }),
        }
    }
}

/// What a sender has sent, whatever it is.
struct Sending {
    me: usize,
    receivers: Vec<Address<Parcel>>,
    sent: Vec<u64>,
    to: usize,
    random: Random,
}

impl Sending {
    fn new(me: usize, receivers: &[Address<Parcel>]) -> Self {
        Sending {
            me,
            receivers: receivers.to_vec(),
            sent: vec![0; receivers.len()],
            to: me % receivers.len(),
            random: Random::new(me as u64),
        }
    }

    /// Whether it has come to something: until then it goes on, however late it gets a processor.
    fn has_sent(&self) -> bool {
        self.sent.iter().any(|sent| *sent != 0)
    }

    /// Some messages to one receiver. Says whether it is time to wait for it.
    fn burst(&mut self) -> Option<Address<Parcel>> {
        let count = 1 + self.random.below(64);
        let receiver = &self.receivers[self.to];
        let sent = &mut self.sent[self.to];
        let lap = *sent / LAP;
        for _ in 0..count {
            receiver
                .tell(Parcel::Number(self.me, *sent))
                .expect("it lives until all was read");
            *sent += 1;
        }
        let is_lap = *sent / LAP != lap;
        let flushed = is_lap.then(|| receiver.clone());
        self.to = (self.to + 1) % self.receivers.len();
        flushed
    }
}

/// Sends burst after burst in turns of its own, so that it goes from thread to thread.
struct Roamer {
    sending: Sending,
    stop: Arc<AtomicBool>,
    done: mpsc::Sender<(usize, Vec<u64>)>,
}

impl Actor for Roamer {
    type Message = ();

    fn handle(&mut self, (): (), cx: &mut Context<Self>) {
        if self.sending.has_sent() && self.stop.load(Ordering::Relaxed) {
            let sent = core::mem::take(&mut self.sending.sent);
            let _ = self.done.send((self.sending.me, sent));
            return cx.stop();
        }
        match self.sending.burst() {
            None => cx.address().tell(()).expect("it is at work"),
            Some(receiver) => cx.ask(&receiver, Parcel::Flush, |_, flushed, cx| {
                flushed.expect("an answer");
                cx.address().tell(()).expect("it is at work");
            }),
        }
    }
}

/// Senders on threads, on the pool, on another pool and on workers; receivers on the pool and on workers.
fn order_on(threads: usize) {
    const EACH: usize = 6;
    const PLAIN: usize = 2;
    const SENDERS: usize = 3 * EACH + PLAIN;
    within(LIMIT + soak_for(Duration::ZERO), move || {
        let pool = Pool::with_threads(threads);
        let other = Pool::with_threads(2);
        let workers = [Worker::new(), Worker::new()];
        let receiver = || Receiver::new(SENDERS);
        let receivers = [
            pool.spawn(receiver()),
            pool.spawn(receiver()),
            pool.spawner()
                .limited(100, Overflow::Wait)
                .spawn(receiver()),
            workers[0].spawn(receiver()),
            workers[1]
                .spawner()
                .limited(100, Overflow::Wait)
                .spawn(receiver()),
        ];
        let stop = Arc::new(AtomicBool::new(false));
        let (done, all_done) = mpsc::channel();
        for me in 0..3 * EACH {
            let roamer = Roamer {
                sending: Sending::new(me, &receivers),
                stop: Arc::clone(&stop),
                done: done.clone(),
            };
            let address = match me % 3 {
                0 => pool.spawn(roamer),
                1 => other.spawn(roamer),
                _ => workers[me / 3 % 2].spawn(roamer),
            };
            address.tell(()).unwrap();
        }
        let plain: Vec<_> = (3 * EACH..SENDERS)
            .map(|me| {
                let mut sending = Sending::new(me, &receivers);
                let (stop, done) = (Arc::clone(&stop), done.clone());
                thread::spawn(move || {
                    while !sending.has_sent() || !stop.load(Ordering::Relaxed) {
                        if let Some(receiver) = sending.burst() {
                            receiver.ask(Parcel::Flush).expect("an answer");
                        }
                    }
                    let _ = done.send((me, sending.sent));
                })
            })
            .collect();
        drop(done);
        let began = Instant::now();
        thread::sleep(soak_for(Duration::from_millis(400)));
        stop.store(true, Ordering::Relaxed);
        let mut sent = vec![Vec::new(); SENDERS];
        for (me, of_one) in all_done {
            sent[me] = of_one;
        }
        for plain in plain {
            plain.join().unwrap();
        }
        let mut all = 0;
        for (number, receiver) in receivers.iter().enumerate() {
            let came = receiver.ask(Parcel::Read).expect("an answer");
            let came = came.unwrap_or_else(|wrong| panic!("receiver {number}: {wrong}"));
            let expected: Vec<u64> = sent.iter().map(|of_one| of_one[number]).collect();
            assert_eq!(came, expected, "receiver {number}");
            all += came.iter().sum::<u64>();
            assert_eq!(receiver.lost(), 0);
        }
        // Everybody has come to something.
        assert!(sent.iter().all(|of_one| of_one.iter().sum::<u64>() != 0));
        println!(
            "{all} messages in order, {threads} threads, {:?}",
            began.elapsed()
        );
    });
}

#[test]
fn order_holds_on_a_pool_of_two_threads() {
    order_on(2);
}

#[test]
fn order_holds_on_a_pool_of_four_threads() {
    order_on(4);
}

#[test]
fn order_holds_on_a_pool_of_sixteen_threads() {
    order_on(16);
}

// --------------------------------------------------------------------------------------- storms

/// Handles, panics, stops, as it is told.
struct Target {
    handled: Arc<AtomicU64>,
}

#[derive(Clone, Copy)]
enum Blow {
    None,
    Panic,
    Stop,
}

impl Actor for Target {
    type Message = Blow;

    fn handle(&mut self, blow: Blow, cx: &mut Context<Self>) {
        match blow {
            Blow::Panic => panic_on_purpose(),
            Blow::Stop => cx.stop(),
            Blow::None => {}
        }
        self.handled.fetch_add(1, Ordering::Relaxed);
    }
}

/// Where targets live; those that are gone are made anew.
struct Field {
    pool: Pool,
    workers: Mutex<Vec<Worker>>,
    handled: Arc<AtomicU64>,
    /// All that there ever were.
    all: Mutex<Vec<Address<Blow>>>,
}

impl Field {
    fn target(&self, random: &mut Random) -> Address<Blow> {
        let handled = Arc::clone(&self.handled);
        let birth = move |_: &mut Context<Target>| Target {
            handled: Arc::clone(&handled),
        };
        let pause = Duration::from_micros(random.below(2) * 200);
        let restart = Restart::on_panic().no_limit().backoff(pause, 1.0, pause);
        let overflow = [Overflow::Fail, Overflow::Wait, Overflow::DropOldest];
        let overflow = overflow[random.below(3) as usize];
        let address = match random.below(4) {
            0 => self.pool.spawner().restart(restart).spawn_with(birth),
            1 => {
                let spawner = self.pool.spawner().limited(8, overflow);
                spawner.restart(restart).spawn_with(birth)
            }
            2 => {
                let target = Target {
                    handled: Arc::clone(&self.handled),
                };
                self.pool.spawn(target)
            }
            _ => {
                let workers = self.workers.lock().unwrap();
                let worker = &workers[random.below(workers.len() as u64) as usize];
                let spawner = worker.spawner().limited(8, overflow);
                spawner.restart(restart).spawn_with(birth)
            }
        };
        self.all.lock().unwrap().push(address.clone());
        address
    }
}

#[test]
fn what_was_accepted_in_a_storm_was_handled_or_is_counted_as_lost() {
    const TARGETS: usize = 8;
    const SENDERS: u64 = 3;
    let duration = soak_for(Duration::from_millis(400));
    within(LIMIT + duration, move || {
        let handled = Arc::new(AtomicU64::new(0));
        let field = Arc::new(Field {
            pool: Pool::with_threads(3),
            workers: Mutex::new(vec![Worker::new(), Worker::new()]),
            handled: Arc::clone(&handled),
            all: Mutex::default(),
        });
        let mut random = Random::new(99);
        let targets: Arc<Vec<_>> = Arc::new(
            (0..TARGETS)
                .map(|_| Mutex::new(field.target(&mut random)))
                .collect(),
        );
        let stop = Arc::new(AtomicBool::new(false));
        let senders: Vec<_> = (0..SENDERS)
            .map(|me| {
                let (targets, stop) = (Arc::clone(&targets), Arc::clone(&stop));
                thread::spawn(move || {
                    let mut random = Random::new(me);
                    let mut accepted = 0_u64;
                    while !stop.load(Ordering::Relaxed) {
                        let target = &targets[random.below(TARGETS as u64) as usize];
                        let target = target.lock().unwrap().clone();
                        for _ in 0..random.below(20) {
                            let blow = match random.below(200) {
                                0 => Blow::Stop,
                                1..4 => Blow::Panic,
                                _ => Blow::None,
                            };
                            accepted += u64::from(target.tell(blow).is_ok());
                        }
                    }
                    accepted
                })
            })
            .collect();
        let end = Instant::now() + duration;
        let mut rounds = 0_u64;
        while Instant::now() < end || rounds < 10 {
            rounds += 1;
            let target = &targets[random.below(TARGETS as u64) as usize];
            let old = target.lock().unwrap().clone();
            match random.below(10) {
                // The last one to have it forgets it.
                0 => {}
                1..4 => old.finish(),
                4 => {
                    let gone = {
                        let mut workers = field.workers.lock().unwrap();
                        let place = random.below(2) as usize;
                        core::mem::replace(&mut workers[place], Worker::new())
                    };
                    gone.quit(if random.below(2) == 0 {
                        Quit::Drain
                    } else {
                        Quit::Discard
                    });
                    gone.join();
                }
                _ => old.stop(),
            }
            let new = field.target(&mut random);
            *target.lock().unwrap() = new;
            thread::yield_now();
        }
        stop.store(true, Ordering::Relaxed);
        let accepted: u64 = senders
            .into_iter()
            .map(|sender| sender.join().unwrap())
            .sum();
        let all = core::mem::take(&mut *field.all.lock().unwrap());
        let mut lost = 0;
        for target in &all {
            target.stop();
            target.end().wait();
            lost += target.lost();
        }
        let handled = handled.load(Ordering::Relaxed);
        println!(
            "{accepted} accepted by {} actors, {handled} handled, {lost} lost",
            all.len()
        );
        assert_eq!(accepted, handled + lost);
        assert!(handled != 0 && lost != 0);
    });
}

// --------------------------------------------------------------------------------- supervision

/// A supervisor began as soon as it was spawned, and a child that failed before it knew its supervisor told of that in vain: on one core nearly at
/// once, else once in thousands of rounds.
#[test]
fn a_child_that_fails_while_its_supervisor_is_started_is_heard_of() {
    within(LIMIT, || {
        let pool = Pool::with_threads(1);
        let end = Instant::now() + soak_for(Duration::from_millis(100));
        while Instant::now() < end {
            let mut tree = Supervision::new(Strategy::OneForOne).limit(0, LIMIT);
            let _never = tree.child("never", pool.spawner(), |_| -> Target {
                panic_on_purpose()
            });
            let supervisor = tree.start(pool.spawner());
            let ended = supervisor.end().wait();
            assert!(matches!(
                ended.reason,
                EndReason::GaveUp { restarts: 0, .. }
            ));
        }
    });
}
