//! Everything at once: threads that block, tasks that await and give up, selects, clones and ends that go, on one
//! channel. Each accepted message is received once, in its sender's order.
//!
//! Runs for a moment; `TAMTAM_SOAK_SECONDS` makes it longer.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use futures::executor::block_on;
use tamtam_channel::{Receiver, Select, Sender, never, tick};

use crate::asynchronous::hand::Hand;
use crate::support::{Flavour, LIMIT, LONG, Random, soak, within};

pub(crate) const FRESH: u8 = 0;
pub(crate) const RECEIVED: u8 = 1;
pub(crate) const DROPPED: u8 = 2;

pub(crate) struct Message {
    pub(crate) from: usize,
    pub(crate) number: u64,
    pub(crate) check: Box<u64>,
    pub(crate) fate: Arc<AtomicU8>,
}

impl Drop for Message {
    fn drop(&mut self) {
        let _ = self
            .fate
            .compare_exchange(FRESH, DROPPED, Ordering::SeqCst, Ordering::SeqCst);
    }
}

/// Polls at most so many times, then drops the future.
pub(crate) struct AtMost<F> {
    future: Option<F>,
    polls: u64,
}

pub(crate) fn at_most<F>(polls: u64, future: F) -> AtMost<F> {
    AtMost {
        future: Some(future),
        polls,
    }
}

impl<F: Future + Unpin> Future for AtMost<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(future) = &mut self.future else {
            return Poll::Ready(None);
        };
        match Pin::new(future).poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if self.polls <= 1 => {
                self.future = None;
                Poll::Ready(None)
            }
            Poll::Pending => {
                self.polls -= 1;
                Poll::Pending
            }
        }
    }
}

pub(crate) fn microseconds(random: &mut Random, end: u64) -> Duration {
    Duration::from_micros(random.below(end))
}

pub(crate) fn spin(random: &mut Random) {
    for _ in 0..random.below(300) {
        std::hint::spin_loop();
    }
}

#[derive(Default, Debug, PartialEq, Eq, Clone, Copy)]
pub(crate) struct Tally {
    pub(crate) count: u64,
    mix: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, from: usize, number: u64) {
        self.count += 1;
        self.mix ^= (number + 1)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(from as u32 * 7 + 1);
    }

    pub(crate) fn join(self, other: Tally) -> Tally {
        Tally {
            count: self.count + other.count,
            mix: self.mix ^ other.mix,
        }
    }
}

/// Sends in every way until told to stop, and until something was accepted if there is anybody to receive it; what was
/// accepted.
fn send(me: usize, mut sender: Sender<Message>, stop: &AtomicBool) -> Tally {
    let mut random = Random::new(me as u64 + 1);
    let mut accepted = Tally::default();
    let nothing = never::<u8>();
    let hand = Hand::new();
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) || (accepted.count == 0 && !sender.is_closed()) {
        let fate = Arc::new(AtomicU8::new(FRESH));
        let message = Message {
            from: me,
            number,
            check: Box::new(!number),
            fate: Arc::clone(&fate),
        };
        match random.below(12) {
            0 => drop(sender.send(message)),
            1 => drop(sender.try_send(message)),
            2 => drop(sender.send_timeout(message, microseconds(&mut random, 200))),
            3 => {
                let mut select = Select::new();
                select.recv(&nothing);
                select.send(&sender);
                drop(select.select().send(&sender, message));
            }
            4..6 => drop(block_on(sender.send_async(message))),
            6 => {
                let time = microseconds(&mut random, 200);
                drop(block_on(sender.send_timeout_async(message, time)));
            }
            7 => {
                let polls = 1 + random.below(3);
                drop(block_on(at_most(polls, sender.send_async(message))));
            }
            // Dropped, or asked back, while others are about to choose it.
            8 => {
                let mut future = sender.send_async(message);
                if hand.poll(&mut future).is_pending() {
                    spin(&mut random);
                    if random.below(2) == 0 {
                        let _ = hand.poll(&mut future);
                        spin(&mut random);
                    }
                }
                drop(future.into_inner());
            }
            9 => {
                let mut sink = sender.clone().into_sink();
                block_on(async {
                    if sink.start_send(message).is_ok() && random.below(4) > 0 {
                        let _ = std::future::poll_fn(|context| sink.poll_flush(context)).await;
                    }
                });
            }
            10 => {
                let mut future = sender.send_timeout_async(message, microseconds(&mut random, 50));
                let _ = hand.poll(&mut future);
                spin(&mut random);
                drop(future);
            }
            _ => {
                sender = sender.clone();
                drop(sender.send_timeout(message, LONG));
            }
        }
        // Whatever was not accepted was dropped by now, in one way or the other.
        if fate.load(Ordering::SeqCst) != DROPPED {
            accepted.add(me, number);
        }
        number += 1;
        if sender.capacity().is_none() && sender.len() > 20_000 {
            thread::yield_now();
        }
    }
    accepted
}

/// Receives in every way until the channel has ended; what was received.
fn receive(me: usize, senders: usize, mut receiver: Receiver<Message>) -> Tally {
    let mut random = Random::new(me as u64 + 1_000);
    let mut received = Tally::default();
    let mut last = vec![None; senders];
    let ticker = tick(Duration::from_micros(300));
    let hand = Hand::new();
    let mut take = |message: Message| {
        assert_eq!(*message.check, !message.number, "a torn message");
        let before = message.fate.swap(RECEIVED, Ordering::SeqCst);
        assert_eq!(before, FRESH, "received twice, or after it was dropped");
        assert!(last[message.from] < Some(message.number), "out of order");
        last[message.from] = Some(message.number);
        received.add(message.from, message.number);
    };
    loop {
        let ended = match random.below(11) {
            0 => receiver.recv().map(&mut take).is_err(),
            1 => match receiver.try_recv() {
                Ok(message) => {
                    take(message);
                    false
                }
                Err(error) => error.is_disconnected(),
            },
            2 => match receiver.recv_timeout(microseconds(&mut random, 200)) {
                Ok(message) => {
                    take(message);
                    false
                }
                Err(error) => error.is_disconnected(),
            },
            3 => {
                let mut select = Select::new();
                let channel = select.recv(&receiver);
                select.recv(&ticker);
                let selected = select.select();
                if selected.index() == channel {
                    selected.recv(&receiver).map(&mut take).is_err()
                } else {
                    selected.recv(&ticker).is_err()
                }
            }
            4..6 => block_on(receiver.recv_async()).map(&mut take).is_err(),
            6 => match block_on(receiver.recv_timeout_async(microseconds(&mut random, 200))) {
                Ok(message) => {
                    take(message);
                    false
                }
                Err(error) => error.is_disconnected(),
            },
            7 => {
                let polls = 1 + random.below(3);
                match block_on(at_most(polls, receiver.recv_async())) {
                    Some(result) => result.map(&mut take).is_err(),
                    None => false,
                }
            }
            8 => {
                let mut future = receiver.recv_async();
                let mut ended = false;
                for _ in 0..=random.below(2) {
                    if let Poll::Ready(result) = hand.poll(&mut future) {
                        ended = result.map(&mut take).is_err();
                        break;
                    }
                    spin(&mut random);
                }
                ended
            }
            9 => {
                let mut stream = receiver.stream();
                let mut ended = false;
                for _ in 0..random.below(20) {
                    let next = pin!(std::future::poll_fn(|context| stream.poll_next(context)));
                    match block_on(at_most(2, next)) {
                        Some(Some(message)) => take(message),
                        Some(None) => {
                            ended = true;
                            break;
                        }
                        None => break,
                    }
                }
                ended
            }
            _ => {
                receiver = receiver.clone();
                let some = random.below(20) as usize;
                receiver.try_iter().take(some).for_each(&mut take);
                false
            }
        };
        if ended {
            return received;
        }
    }
}

fn conserve(flavour: Flavour, senders: usize, receivers: usize, time: Duration) {
    within(LIMIT + time, move || {
        let stop = AtomicBool::new(false);
        let (sender, receiver) = flavour.pair();
        let (accepted, received) = thread::scope(|scope| {
            let sending: Vec<_> = (0..senders)
                .map(|me| {
                    let (sender, stop) = (sender.clone(), &stop);
                    scope.spawn(move || send(me, sender, stop))
                })
                .collect();
            let receiving: Vec<_> = (0..receivers)
                .map(|me| {
                    let receiver = receiver.clone();
                    scope.spawn(move || receive(me, senders, receiver))
                })
                .collect();
            drop((sender, receiver));
            let start = Instant::now();
            while start.elapsed() < time && !receiving.iter().any(|thread| thread.is_finished()) {
                thread::sleep(Duration::from_millis(5).min(time));
            }
            stop.store(true, Ordering::Relaxed);
            let join = |all: Vec<thread::ScopedJoinHandle<'_, Tally>>| {
                all.into_iter()
                    .map(|thread| thread.join().unwrap())
                    .fold(Tally::default(), Tally::join)
            };
            (join(sending), join(receiving))
        });
        assert_eq!(accepted, received);
        assert!(received.count > 0);
    });
}

/// The receivers go first: what is left goes with them, and every send ends.
fn receivers_go(flavour: Flavour, time: Duration) {
    within(LIMIT + time, move || {
        let start = Instant::now();
        let mut seed = 0;
        while start.elapsed() < time {
            seed += 1;
            let (sender, receiver) = flavour.pair();
            let stop = AtomicBool::new(false);
            thread::scope(|scope| {
                for me in 0..2 {
                    let (sender, stop) = (sender.clone(), &stop);
                    scope.spawn(move || send(me + 2 * seed, sender, stop));
                }
                drop(sender);
                let mut random = Random::new(seed as u64);
                for _ in 0..random.below(200) {
                    let _ = block_on(receiver.recv_timeout_async(microseconds(&mut random, 500)));
                }
                drop(receiver);
                stop.store(true, Ordering::Relaxed);
            });
        }
    });
}

pub(crate) fn time() -> Duration {
    let moment = if cfg!(miri) { 3_000 } else { 300 };
    soak(Duration::from_millis(moment)) / 4
}

#[test]
fn a_rendezvous_conserves() {
    conserve(Flavour::Bounded(0), 2, 2, time());
    receivers_go(Flavour::Bounded(0), time() / 4);
}

#[test]
fn a_ring_of_one_conserves() {
    conserve(Flavour::Bounded(1), 3, 2, time());
    receivers_go(Flavour::Bounded(1), time() / 4);
}

#[test]
fn a_ring_of_three_conserves() {
    conserve(Flavour::Bounded(3), 2, 3, time());
    receivers_go(Flavour::Bounded(3), time() / 4);
}

#[test]
fn a_list_conserves() {
    conserve(Flavour::Unbounded, 2, 2, time());
    receivers_go(Flavour::Unbounded, time() / 4);
}
