//! Every message is accounted for: what was made is what was received, dropped for want of room, or given back;
//! while channels are closed, and ends cloned, dropped and made anew at any moment.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use tamtam_channel::{Builder, Overflow, Receiver, Select, Sender, WeakSender};

use crate::support::{Drops, Flavour, LIMIT, Random, Token, soak, within};

/// One channel's books.
#[derive(Default)]
struct Accounts {
    drops: Drops,
    made: AtomicUsize,
    received: AtomicUsize,
    returned: AtomicUsize,
}

impl Accounts {
    fn make(&self) -> Token {
        self.made.fetch_add(1, Relaxed);
        self.drops.token()
    }

    fn receive(&self, messages: usize) {
        self.received.fetch_add(messages, Relaxed);
    }

    fn take_back(&self, messages: usize) {
        self.returned.fetch_add(messages, Relaxed);
    }

    /// Whatever was not sent is in the error.
    fn settle<E>(&self, sent: Result<(), E>) {
        if sent.is_err() {
            self.take_back(1);
        }
    }
}

fn microseconds(random: &mut Random) -> Duration {
    Duration::from_micros(random.below(60))
}

fn send_at_random(seed: u64, mut sender: Sender<Token>, accounts: &Accounts) {
    let mut random = Random::new(seed);
    let weak: WeakSender<Token> = sender.downgrade();
    for _ in 0..random.below(150) {
        match random.below(12) {
            0 | 1 => {
                accounts.settle(sender.send_timeout(accounts.make(), microseconds(&mut random)))
            }
            2 => accounts.settle(sender.try_send(accounts.make())),
            3 => accounts.settle(sender.send(accounts.make())),
            // What was displaced is counted as dropped.
            4 => accounts.settle(sender.send_reporting(accounts.make()).map(drop)),
            5 => {
                let count = random.below(70) as usize;
                if let Err(error) = sender.send_many((0..count).map(|_| accounts.make())) {
                    accounts.take_back(error.unsent.len());
                }
            }
            6 => {
                if let Ok(permit) = sender.reserve_timeout(microseconds(&mut random)) {
                    accounts.settle(permit.send(accounts.make()));
                }
            }
            7 => {
                let kept = [sender.try_reserve(), sender.try_reserve()];
                accounts.settle(sender.try_send(accounts.make()));
                // One is used and the other one given back.
                if let [Ok(one), _] = kept {
                    accounts.settle(one.send(accounts.make()));
                }
            }
            8 => {
                let mut select = Select::new();
                select.send(&sender);
                if let Ok(selected) = select.select_timeout(microseconds(&mut random)) {
                    accounts.settle(selected.send(&sender, accounts.make()));
                }
            }
            9 => {
                if let Some(made) = weak.upgrade() {
                    accounts.settle(made.try_send(accounts.make()));
                }
            }
            10 => sender = sender.clone(),
            _ if random.below(40) == 0 => {
                sender.close();
            }
            _ => assert!(sender.len() <= sender.capacity().unwrap_or(usize::MAX)),
        }
    }
}

fn receive_at_random(seed: u64, mut receiver: Receiver<Token>, accounts: &Accounts) {
    let mut random = Random::new(seed);
    let mut buffer = Vec::new();
    for _ in 0..random.below(150) {
        match random.below(8) {
            0 => accounts.receive(usize::from(receiver.try_recv().is_ok())),
            1 => accounts.receive(usize::from(
                receiver.recv_timeout(microseconds(&mut random)).is_ok(),
            )),
            2 | 3 => {
                let limit = random.below(300) as usize;
                let taken =
                    receiver.recv_timeout_many(&mut buffer, limit, microseconds(&mut random));
                assert_eq!(taken.unwrap_or(0), buffer.len());
                accounts.receive(buffer.len());
                buffer.clear();
            }
            4 => accounts.receive(receiver.drain().take(random.below(40) as usize).count()),
            5 => {
                let mut select = Select::new();
                select.recv(&receiver);
                if let Ok(selected) = select.select_timeout(microseconds(&mut random)) {
                    accounts.receive(usize::from(selected.recv(&receiver).is_ok()));
                }
            }
            6 => receiver = receiver.clone(),
            _ if random.below(40) == 0 => {
                receiver.close();
            }
            _ => assert!(receiver.high_water() <= receiver.capacity().unwrap_or(usize::MAX)),
        }
    }
}

fn channel(flavour: Flavour, random: &mut Random) -> (Sender<Token>, Receiver<Token>) {
    let overflow = [Overflow::Wait, Overflow::DropNewest, Overflow::DropOldest];
    let builder = Builder::new().overflow(overflow[random.below(3) as usize]);
    let builder = match random.below(2) {
        0 => builder,
        _ => builder.exact_high_water(),
    };
    match flavour.capacity() {
        Some(capacity) => builder.capacity(capacity).build(),
        None => builder.build(),
    }
}

#[test]
fn everything_is_accounted_for() {
    let time = soak(Duration::from_millis(1_000));
    within(time + LIMIT, move || {
        let start = Instant::now();
        let mut random = Random::new(2026);
        while start.elapsed() < time {
            let flavour = Flavour::ALL[random.below(5) as usize];
            let (sender, receiver) = channel(flavour, &mut random);
            let accounts = Accounts::default();
            thread::scope(|scope| {
                let accounts = &accounts;
                let senders: Vec<_> = (0..random.below(3) + 1)
                    .map(|_| {
                        let (seed, sender) = (random.next(), sender.clone());
                        scope.spawn(move || send_at_random(seed, sender, accounts))
                    })
                    .collect();
                for _ in 0..random.below(3) {
                    let (seed, receiver) = (random.next(), receiver.clone());
                    scope.spawn(move || receive_at_random(seed, receiver, accounts));
                }
                // Whoever is left waiting gets its room.
                let weak = sender.downgrade();
                drop(sender);
                accounts.receive(receiver.iter().count());
                assert!(weak.upgrade().is_none());
                senders
                    .into_iter()
                    .for_each(|sender| sender.join().unwrap());
            });
            // What was accepted after the channel was found empty and closed: nothing.
            assert_eq!(receiver.try_iter().count(), 0);
            let made = accounts.made.into_inner();
            let received = accounts.received.into_inner();
            let returned = accounts.returned.into_inner();
            assert_eq!(
                made,
                received + returned + receiver.dropped() as usize,
                "{flavour:?}: {received} received, {returned} given back, {} dropped",
                receiver.dropped()
            );
            drop(receiver);
            assert_eq!(accounts.drops.count(), made);
        }
    });
}
