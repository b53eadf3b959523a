//! Conservation under stress: random operations from many threads on every flavour; nothing lost, nothing doubled,
//! nothing out of order, everything dropped once.
//!
//! Each test runs for about a second; `TAMTAM_SOAK_SECONDS` makes it longer.
//!
//! A program of its own: it is compiled with optimization, and run on one core and beside busy ones.

#[path = "stress/accounts.rs"]
mod accounts;
mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use support::{Drops, Flavour, LIMIT, LONG, Random, Token, soak, within};
use tamtam_channel::{Receiver, Select, Sender, never, tick, unbounded};

/// A message that shows if it was torn, doubled or read after its end.
struct Message {
    from: usize,
    number: u64,
    check: Box<u64>,
    _token: Token,
}

impl Message {
    fn new(from: usize, number: u64, drops: &Drops) -> Self {
        Message {
            from,
            number,
            check: Box::new(!number),
            _token: drops.token(),
        }
    }
}

/// What a thread sent or received: compared at the end.
#[derive(Default, Debug, PartialEq, Eq, Clone, Copy)]
struct Tally {
    count: u64,
    sum: u64,
    mix: u64,
}

impl Tally {
    fn add(&mut self, from: usize, number: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(number);
        // Differs for every message, and depends on neither order nor thread.
        self.mix ^= (number + 1)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(from as u32 * 7 + 1);
    }

    fn join(self, other: Tally) -> Tally {
        Tally {
            count: self.count + other.count,
            sum: self.sum.wrapping_add(other.sum),
            mix: self.mix ^ other.mix,
        }
    }
}

fn microseconds(random: &mut Random, end: u64) -> Duration {
    Duration::from_micros(random.below(end))
}

/// Sends in every way until told to stop, and until something was accepted if there is anybody to receive it. Returns
/// what was accepted.
fn send_at_random(
    me: usize,
    mut sender: Sender<Message>,
    stop: &AtomicBool,
    drops: &Drops,
) -> Tally {
    let mut random = Random::new(me as u64 + 1);
    let mut accepted = Tally::default();
    let mut number = 0;
    let nothing = never::<u8>();
    while !stop.load(Ordering::Relaxed) || (accepted.count == 0 && !sender.is_closed()) {
        let message = Message::new(me, number, drops);
        let sent = match random.below(10) {
            0..3 => sender.send(message).is_ok(),
            3 => sender.try_send(message).is_ok(),
            4 => sender
                .send_timeout(message, microseconds(&mut random, 200))
                .is_ok(),
            5 => sender
                .send_deadline(message, Instant::now() + microseconds(&mut random, 50))
                .is_ok(),
            6 => {
                let mut select = Select::new();
                select.recv(&nothing);
                select.send(&sender);
                select.select().send(&sender, message).is_ok()
            }
            7 => {
                let mut select = Select::new();
                select.send(&sender);
                select.recv(&nothing);
                match select.select_timeout(microseconds(&mut random, 100)) {
                    Ok(selected) => selected.send(&sender, message).is_ok(),
                    Err(_) => false,
                }
            }
            8 => {
                let mut select = Select::new();
                select.send(&sender);
                select.ready_timeout(microseconds(&mut random, 100)).is_ok()
                    && sender.try_send(message).is_ok()
            }
            _ => {
                // The clone goes on, the old one ends.
                sender = sender.clone();
                sender.send_timeout(message, LONG).is_ok()
            }
        };
        if sent {
            accepted.add(me, number);
        }
        number += 1;
        if sender.capacity().is_none() && sender.len() > 20_000 {
            // Without a limit the receivers would never catch up on a loaded machine.
            thread::yield_now();
        }
    }
    accepted
}

/// Receives in every way until the channel has ended. Returns what was received.
fn receive_at_random(me: usize, senders: usize, mut receiver: Receiver<Message>) -> Tally {
    let mut random = Random::new(me as u64 + 1_000);
    let mut received = Tally::default();
    let mut last = vec![None; senders];
    let ticker = tick(Duration::from_micros(300));
    let mut take = |message: Message| {
        assert_eq!(*message.check, !message.number, "a torn message");
        assert!(
            last[message.from] < Some(message.number),
            "{} after {:?}",
            message.number,
            last[message.from]
        );
        last[message.from] = Some(message.number);
        received.add(message.from, message.number);
    };
    loop {
        match random.below(9) {
            0..3 => match receiver.recv() {
                Ok(message) => take(message),
                Err(_) => break,
            },
            3 => match receiver.try_recv() {
                Ok(message) => take(message),
                Err(error) if error.is_disconnected() => break,
                Err(_) => {}
            },
            4 => match receiver.recv_timeout(microseconds(&mut random, 200)) {
                Ok(message) => take(message),
                Err(error) if error.is_disconnected() => break,
                Err(_) => {}
            },
            5 => {
                let mut select = Select::new();
                let channel = select.recv(&receiver);
                select.recv(&ticker);
                let selected = select.select();
                if selected.index() == channel {
                    match selected.recv(&receiver) {
                        Ok(message) => take(message),
                        Err(_) => break,
                    }
                } else {
                    selected.recv(&ticker).unwrap();
                }
            }
            6 => {
                let mut select = Select::new();
                select.recv(&receiver);
                if let Ok(selected) = select.select_timeout(microseconds(&mut random, 100)) {
                    match selected.recv(&receiver) {
                        Ok(message) => take(message),
                        Err(_) => break,
                    }
                }
            }
            7 => receiver
                .iter()
                .take(random.below(20) as usize)
                .for_each(&mut take),
            _ => {
                receiver = receiver.clone();
                receiver
                    .try_iter()
                    .take(random.below(20) as usize)
                    .for_each(&mut take);
            }
        }
    }
    received
}

/// `senders` and `receivers` threads at random on one channel, for the given time.
fn conserve(flavour: Flavour, senders: usize, receivers: usize, time: Duration) {
    within(time + LIMIT, move || {
        let drops = Drops::default();
        let (sender, receiver) = flavour.pair();
        let stop = AtomicBool::new(false);
        let (sent, received) = thread::scope(|scope| {
            let (stop, drops) = (&stop, &drops);
            let sending: Vec<_> = (0..senders)
                .map(|me| {
                    let sender = sender.clone();
                    scope.spawn(move || send_at_random(me, sender, stop, drops))
                })
                .collect();
            drop(sender);
            let receiving: Vec<_> = (0..receivers)
                .map(|me| {
                    let receiver = receiver.clone();
                    scope.spawn(move || receive_at_random(me, senders, receiver))
                })
                .collect();
            drop(receiver);
            thread::park_timeout(time);
            stop.store(true, Ordering::Relaxed);
            let add = |all: Vec<thread::ScopedJoinHandle<'_, Tally>>| {
                all.into_iter()
                    .map(|one| one.join().unwrap())
                    .fold(Tally::default(), Tally::join)
            };
            (add(sending), add(receiving))
        });
        assert!(sent.count > 0, "nothing was sent");
        assert_eq!(
            sent, received,
            "{flavour:?}: what was accepted is not what was received"
        );
        assert!(drops.count() as u64 >= sent.count);
    });
}

/// The time of each test below; they share a second or so among the mixes of threads.
fn share() -> Duration {
    soak(Duration::from_millis(1_000)) / 4
}

/// Several mixes of threads, one after the other.
fn conserve_all(flavour: Flavour) {
    for (senders, receivers) in [(1, 1), (4, 4), (6, 1), (1, 6)] {
        conserve(flavour, senders, receivers, share());
    }
}

#[test]
fn bounded_0_conserves() {
    conserve_all(Flavour::Bounded(0));
}

#[test]
fn bounded_1_conserves() {
    conserve_all(Flavour::Bounded(1));
}

#[test]
fn bounded_2_conserves() {
    conserve_all(Flavour::Bounded(2));
}

#[test]
fn bounded_100_conserves() {
    conserve_all(Flavour::Bounded(100));
}

#[test]
fn unbounded_conserves() {
    conserve_all(Flavour::Unbounded);
}

/// Short lives: ends are dropped at any moment, and what was made is dropped once, whoever held it.
#[test]
fn short_lived_channels_drop_everything_once() {
    let time = soak(Duration::from_millis(1_000));
    within(time + LIMIT, move || {
        let start = Instant::now();
        let mut random = Random::new(77);
        while start.elapsed() < time {
            let flavour = Flavour::ALL[random.below(5) as usize];
            let drops = Drops::default();
            let (sender, receiver) = flavour.pair();
            let (senders, receivers) = (random.below(3) + 1, random.below(3) + 1);
            let made: usize = thread::scope(|scope| {
                let drops = &drops;
                let mut sending = Vec::new();
                for me in 0..senders {
                    let (sender, count) = (sender.clone(), random.below(60) as usize);
                    sending.push(scope.spawn(move || {
                        for number in 0..count {
                            let message = Message::new(me as usize, number as u64, drops);
                            // Refusals come back and are dropped here.
                            let _ = match number % 3 {
                                0 => sender.send(message).map_err(|error| error.into_inner()),
                                1 => sender.try_send(message).map_err(|error| error.into_inner()),
                                _ => {
                                    let mut select = Select::new();
                                    select.send(&sender);
                                    select
                                        .select()
                                        .send(&sender, message)
                                        .map_err(|error| error.into_inner())
                                }
                            };
                        }
                        count
                    }));
                }
                drop(sender);
                for _ in 0..receivers {
                    let (receiver, count) = (receiver.clone(), random.below(60) as usize);
                    scope.spawn(move || {
                        for number in 0..count {
                            let got = match number % 3 {
                                0 => receiver.recv().ok(),
                                1 => receiver.recv_timeout(Duration::from_micros(50)).ok(),
                                _ => {
                                    let mut select = Select::new();
                                    select.recv(&receiver);
                                    select.select().recv(&receiver).ok()
                                }
                            };
                            if let Some(message) = got {
                                assert_eq!(*message.check, !message.number);
                            }
                        }
                    });
                }
                drop(receiver);
                sending.into_iter().map(|one| one.join().unwrap()).sum()
            });
            assert_eq!(drops.count(), made, "{flavour:?}");
        }
    });
}

/// A line of stages, each of which selects between its input and a clock, and each of another flavour.
#[test]
fn a_line_of_channels_passes_everything_on() {
    let time = soak(Duration::from_millis(1_000));
    within(time + LIMIT, move || {
        let drops = Drops::default();
        let (first, mut input) = Flavour::Bounded(2).pair::<Message>();
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let (stop, drops) = (&stop, &drops);
            let source = scope.spawn(move || send_at_random(0, first, stop, drops));
            for flavour in Flavour::ALL {
                let (output, next) = flavour.pair();
                let from = std::mem::replace(&mut input, next);
                scope.spawn(move || {
                    let ticker = tick(Duration::from_micros(700));
                    loop {
                        let mut select = Select::new();
                        let channel = select.recv(&from);
                        select.recv(&ticker);
                        let selected = select.select();
                        if selected.index() != channel {
                            selected.recv(&ticker).unwrap();
                            continue;
                        }
                        match selected.recv(&from) {
                            Ok(message) => output.send(message).unwrap(),
                            Err(_) => break,
                        }
                    }
                });
            }
            let sink = scope.spawn(move || receive_at_random(0, 1, input));
            thread::park_timeout(time);
            stop.store(true, Ordering::Relaxed);
            assert_eq!(source.join().unwrap(), sink.join().unwrap());
        });
    });
}

/// Work goes out to workers and results come back, with ends made and dropped all the time.
#[test]
fn workers_come_and_go() {
    let time = soak(Duration::from_millis(1_000));
    within(time + LIMIT, move || {
        let start = Instant::now();
        let mut rounds = 0_u64;
        while start.elapsed() < time {
            let flavour = Flavour::ALL[rounds as usize % 5];
            let (work, to_do) = flavour.pair::<(u64, Sender<u64>)>();
            let (answer, answers) = unbounded();
            thread::scope(|scope| {
                for _ in 0..3 {
                    let to_do = to_do.clone();
                    scope.spawn(move || {
                        for (number, answer) in to_do {
                            answer.send(number * number).unwrap();
                        }
                    });
                }
                drop(to_do);
                (0..100).for_each(|number| work.send((number, answer.clone())).unwrap());
                drop((work, answer));
                assert_eq!(
                    answers.iter().sum::<u64>(),
                    (0..100).map(|number| number * number).sum()
                );
            });
            rounds += 1;
        }
        assert!(rounds > 0);
    });
}
