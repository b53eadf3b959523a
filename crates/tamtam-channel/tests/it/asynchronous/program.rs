//! Random programs of tasks, polled by hand: each future is dropped at any of its polls, ends are cloned and dropped,
//! and others send and receive without waiting. What went in is what came out, is still inside, was dropped with a
//! cancelled send, or was given back. And whenever all that were woken have been polled, nobody waits for what is there.

use std::future::Future;
use std::pin::Pin;
use std::task::Poll;

use tamtam_channel::{Receiver, SendFuture, Sender};

use crate::asynchronous::hand::Hand;
use crate::asynchronous::ledger::{Ledger, Message};
use crate::support::{Flavour, Random, within_limit};

type Boxed<T> = Pin<Box<dyn Future<Output = T>>>;

enum Pending<'a> {
    /// Borrows its end, and can be asked for its message.
    Send(u64, SendFuture<'a, Message>),
    /// Owns its end.
    OwnedSend(u64, Boxed<Result<(), Message>>),
    Receive(Boxed<Option<Message>>),
}

struct Waiting<'a> {
    hand: Hand,
    polled: usize,
    /// How often it had been woken when it was polled last.
    heard: usize,
    pending: Pending<'a>,
}

impl Waiting<'_> {
    fn new(pending: Pending<'_>) -> Waiting<'_> {
        Waiting {
            hand: Hand::new(),
            polled: 0,
            heard: 0,
            pending,
        }
    }

    fn sends(&self) -> bool {
        !matches!(self.pending, Pending::Receive(_))
    }

    fn was_woken(&self) -> bool {
        self.polled == 0 || self.hand.wakes() > self.heard
    }

    /// Polls once; whether it has ended.
    fn poll(&mut self, ledger: &mut Ledger) -> bool {
        self.polled += 1;
        self.heard = self.hand.wakes();
        match &mut self.pending {
            Pending::Send(number, future) => match self.hand.poll(future) {
                Poll::Pending => return false,
                Poll::Ready(Ok(())) => ledger.accept(*number),
                Poll::Ready(Err(error)) => ledger.refuse(error.into_inner()),
            },
            Pending::OwnedSend(number, future) => match self.hand.poll(future) {
                Poll::Pending => return false,
                Poll::Ready(Ok(())) => ledger.accept(*number),
                Poll::Ready(Err(message)) => ledger.refuse(message),
            },
            Pending::Receive(future) => match self.hand.poll(future) {
                Poll::Pending => return false,
                Poll::Ready(Some(message)) => ledger.receive(message),
                Poll::Ready(None) => {}
            },
        }
        true
    }
}

/// Polls those that were woken until nobody is.
fn settle(waiting: &mut Vec<Waiting<'_>>, ledger: &mut Ledger, random: &mut Random) {
    loop {
        let woken: Vec<_> = (0..waiting.len())
            .filter(|index| waiting[*index].was_woken())
            .collect();
        if woken.is_empty() {
            return;
        }
        let index = woken[random.below(woken.len() as u64) as usize];
        if waiting[index].poll(ledger) {
            waiting.swap_remove(index);
        }
    }
}

fn run(flavour: Flavour, seed: u64, steps: usize) {
    let mut random = Random::new(seed);
    let mut ledger = Ledger::default();
    let (first_sender, first_receiver) = flavour.pair::<Message>();
    // These live as long as the futures that borrow them; in some programs there are none, so that the channel can close.
    let borrowed: Option<Sender<Message>> = seed.is_multiple_of(2).then(|| first_sender.clone());
    let watcher = first_receiver.clone();
    let mut watcher = (seed % 4 < 2).then_some(watcher);
    let mut senders: Vec<Sender<Message>> = vec![first_sender];
    let mut receivers: Vec<Receiver<Message>> = vec![first_receiver];
    let mut waiting: Vec<Waiting<'_>> = Vec::new();
    for _ in 0..steps {
        let any = |random: &mut Random, count: usize| random.below(count as u64) as usize;
        match random.below(20) {
            // A future is made; it is polled now or later.
            0..4 => {
                if !senders.is_empty() {
                    let sender = &senders[any(&mut random, senders.len())];
                    let message = ledger.message();
                    let number = message.number;
                    let pending = match &borrowed {
                        Some(sender) if random.below(2) == 0 => {
                            Pending::Send(number, sender.send_async(message))
                        }
                        _ => {
                            let sender = sender.clone();
                            Pending::OwnedSend(
                                number,
                                Box::pin(async move {
                                    let sent = sender.send_async(message).await;
                                    sent.map_err(|error| error.into_inner())
                                }),
                            )
                        }
                    };
                    waiting.push(Waiting::new(pending));
                }
            }
            4..8 => {
                if !receivers.is_empty() {
                    let receiver = receivers[any(&mut random, receivers.len())].clone();
                    waiting.push(Waiting::new(Pending::Receive(if random.below(4) == 0 {
                        let mut stream = receiver.into_stream();
                        Box::pin(std::future::poll_fn(move |context| {
                            stream.poll_next(context)
                        }))
                    } else {
                        Box::pin(async move { receiver.recv_async().await.ok() })
                    })));
                }
            }
            // A poll, with or without a cause.
            8..13 => {
                if !waiting.is_empty() {
                    let index = any(&mut random, waiting.len());
                    if waiting[index].poll(&mut ledger) {
                        waiting.swap_remove(index);
                    }
                }
            }
            // Dropped at whatever poll it has come to, woken or not.
            13..15 => {
                if !waiting.is_empty() {
                    let index = any(&mut random, waiting.len());
                    match waiting.swap_remove(index).pending {
                        Pending::Send(number, future) if random.below(2) == 0 => {
                            match future.into_inner() {
                                Some(message) => ledger.refuse(message),
                                None => ledger.accept(number),
                            }
                        }
                        pending => drop(pending),
                    }
                }
            }
            15 => {
                if !senders.is_empty() {
                    let index = any(&mut random, senders.len());
                    let message = ledger.message();
                    let number = message.number;
                    match senders[index].try_send(message) {
                        Ok(()) => ledger.accept(number),
                        Err(error) => ledger.refuse(error.into_inner()),
                    }
                }
            }
            16 => {
                if !receivers.is_empty() {
                    let index = any(&mut random, receivers.len());
                    if let Ok(message) = receivers[index].try_recv() {
                        ledger.receive(message);
                    }
                }
            }
            17 => {
                if !senders.is_empty() && senders.len() < 4 {
                    senders.push(senders[0].clone());
                } else if !receivers.is_empty() && receivers.len() < 4 {
                    receivers.push(receivers[0].clone());
                }
            }
            18 => match random.below(8) {
                0 if !senders.is_empty() => drop(senders.swap_remove(0)),
                1 if !receivers.is_empty() => drop(receivers.swap_remove(0)),
                2 => watcher = None,
                _ => {}
            },
            _ => {
                settle(&mut waiting, &mut ledger, &mut random);
                let receives = waiting.iter().any(|waiting| !waiting.sends());
                let sends = waiting.iter().any(Waiting::sends);
                if let Some(watcher) = watcher.as_ref().or(receivers.first()) {
                    if receives {
                        assert!(watcher.is_empty(), "a receiver waits for what is there");
                        assert!(!sends, "a receiver and a sender wait for each other");
                    }
                    if sends && !flavour.is_rendezvous() {
                        assert!(watcher.is_full(), "a sender waits for room that is there");
                    }
                }
            }
        }
    }
    settle(&mut waiting, &mut ledger, &mut random);
    if random.below(2) == 0 {
        // Its messages are received to the last, so all that was accepted was received.
        let receiver = watcher.as_ref().or(receivers.first()).cloned();
        waiting.retain(Waiting::sends);
        settle(&mut waiting, &mut ledger, &mut random);
        if let Some(receiver) = receiver {
            while let Ok(message) = receiver.try_recv() {
                ledger.receive(message);
                settle(&mut waiting, &mut ledger, &mut random);
            }
            assert!(waiting.is_empty(), "a sender was forgotten");
            for number in ledger.accepted.keys() {
                assert!(ledger.received.contains(number), "{number} was lost");
            }
        }
    }
    drop(waiting);
    drop((senders, receivers, watcher, borrowed));
    ledger.check_order();
    ledger.check_fates();
}

fn programs(flavour: Flavour) {
    within_limit(move || {
        let (seeds, steps) = if cfg!(miri) { (6, 120) } else { (400, 300) };
        let first = std::env::var("TAMTAM_SEED").map_or(0, |seed| seed.parse().unwrap());
        for seed in first..first + seeds {
            let program = std::panic::AssertUnwindSafe(|| run(flavour, seed, steps));
            if let Err(panic) = std::panic::catch_unwind(program) {
                eprintln!("{flavour:?} with TAMTAM_SEED={seed}");
                std::panic::resume_unwind(panic);
            }
        }
    });
}

#[test]
fn a_rendezvous_conserves() {
    programs(Flavour::Bounded(0));
}

#[test]
fn a_ring_of_one_conserves() {
    programs(Flavour::Bounded(1));
}

#[test]
fn a_ring_of_three_conserves() {
    programs(Flavour::Bounded(3));
}

#[test]
fn a_list_conserves() {
    programs(Flavour::Unbounded);
}
