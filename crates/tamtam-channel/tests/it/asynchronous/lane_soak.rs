//! Everything at once, as in `soak`, at the ends that have one owner each: senders that block, await, reserve, send
//! batches, give up, and hand over to others; one receiver that does everything a receiver can. Each accepted message is
//! received once, in its lane's order.
//!
//! Runs for a moment; `TAMTAM_SOAK_SECONDS` makes it longer.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use futures::executor::block_on;
use tamtam_channel::mpsc::{self, LaneSender, Many, Receiver};
use tamtam_channel::spsc::{self, Single};
use tamtam_channel::{Select, after};

use crate::asynchronous::hand::Hand;
use crate::asynchronous::soak::{
    DROPPED, FRESH, Message, RECEIVED, Tally, at_most, microseconds, spin, time,
};
use crate::support::{LIMIT, LONG, Random, within};

/// More messages than this in a lane without a bound, and its sender waits for the receiver.
const MUCH: usize = 1_000;

/// A sender that leaves its lane for another one leaves no more messages than this.
const FEW: usize = 20;

/// Whether a sender can have another one beside it.
trait Kind: Sized + 'static {
    fn another(
        sender: &LaneSender<Message, Self>,
        weakly: bool,
    ) -> Option<LaneSender<Message, Self>>;
}

impl Kind for Single {
    fn another(_: &LaneSender<Message, Self>, _: bool) -> Option<LaneSender<Message, Self>> {
        None
    }
}

impl Kind for Many {
    fn another(
        sender: &LaneSender<Message, Self>,
        weakly: bool,
    ) -> Option<LaneSender<Message, Self>> {
        if weakly {
            sender.downgrade().upgrade()
        } else {
            Some(sender.clone())
        }
    }
}

/// The messages of one lane after the other, and which of them were accepted.
struct Made<'a> {
    lanes: &'a AtomicUsize,
    lane: usize,
    number: u64,
    /// Of those that nothing is known of yet.
    fates: Vec<(u64, Arc<AtomicU8>)>,
    accepted: Tally,
}

impl Made<'_> {
    fn message(&mut self) -> Message {
        let fate = Arc::new(AtomicU8::new(FRESH));
        let number = self.number;
        self.number += 1;
        self.fates.push((number, Arc::clone(&fate)));
        Message {
            from: self.lane,
            number,
            check: Box::new(!number),
            fate,
        }
    }

    /// Whatever was not accepted was dropped by now, in one way or the other.
    fn settle(&mut self) {
        for (number, fate) in self.fates.drain(..) {
            if fate.load(Ordering::SeqCst) != DROPPED {
                self.accepted.add(self.lane, number);
            }
        }
    }

    fn open_lane(&mut self) {
        self.lane = self.lanes.fetch_add(1, Ordering::Relaxed);
        self.number = 0;
    }
}

/// Sends in every way until told to stop; what was accepted.
fn send<K: Kind>(
    seed: u64,
    mut sender: LaneSender<Message, K>,
    lanes: &AtomicUsize,
    stop: &AtomicBool,
) -> Tally {
    let mut random = Random::new(seed);
    let hand = Hand::new();
    let mut made = Made {
        lanes,
        lane: 0,
        number: 0,
        fates: Vec::new(),
        accepted: Tally::default(),
    };
    made.open_lane();
    while !stop.load(Ordering::Relaxed) || (made.accepted.count == 0 && !sender.is_closed()) {
        match random.below(14) {
            0 => drop(sender.send(made.message())),
            1 => drop(sender.try_send(made.message())),
            2 => drop(sender.send_timeout(made.message(), microseconds(&mut random, 200))),
            3 => {
                let end = sender.selectable();
                let late = after(microseconds(&mut random, 200));
                let mut select = Select::new();
                let room = select.wait(&end);
                select.recv(&late);
                if select.ready() == room {
                    drop(end.try_send(made.message()));
                }
            }
            4..6 => drop(block_on(sender.send_async(made.message()))),
            6 => {
                let time = microseconds(&mut random, 200);
                drop(block_on(sender.send_timeout_async(made.message(), time)));
            }
            7 => {
                let polls = 1 + random.below(3);
                drop(block_on(at_most(polls, sender.send_async(made.message()))));
            }
            // Dropped, or asked back, while the receiver makes room.
            8 => {
                let mut future = sender.send_async(made.message());
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
                let mut sink = sender.sink();
                block_on(async {
                    if sink.start_send(made.message()).is_ok() && random.below(4) > 0 {
                        let _ = poll_fn(|context| sink.poll_flush(context)).await;
                    }
                });
            }
            10 => {
                let reserved = block_on(at_most(1 + random.below(3), sender.reserve_async()));
                if let Some(Ok(permit)) = reserved {
                    spin(&mut random);
                    if random.below(4) > 0 {
                        drop(permit.send(made.message()));
                    }
                }
            }
            11 => {
                let permit = sender.reserve_timeout(microseconds(&mut random, 200));
                drop(sender.try_send(made.message()));
                if let Ok(permit) = permit
                    && random.below(4) > 0
                {
                    drop(permit.send(made.message()));
                }
            }
            12 => {
                let many = random.below(40);
                let messages: Vec<_> = (0..many).map(|_| made.message()).collect();
                drop(sender.send_many(messages));
            }
            _ => {
                if sender.len() < FEW
                    && let Some(another) = K::another(&sender, random.below(2) == 0)
                {
                    made.settle();
                    sender = another;
                    made.open_lane();
                }
                drop(sender.send_timeout(made.message(), LONG));
            }
        }
        made.settle();
        // What is left in the end is to be received in no time.
        while sender.len() > MUCH && !sender.is_closed() && !stop.load(Ordering::Relaxed) {
            thread::yield_now();
        }
    }
    made.accepted
}

/// Receives in every way until the channel has ended; what was received.
fn receive(mut receiver: Receiver<Message>) -> Tally {
    let mut random = Random::new(1_000);
    let mut received = Tally::default();
    let mut last = HashMap::new();
    let hand = Hand::new();
    let mut take = |message: Message| {
        assert_eq!(*message.check, !message.number, "a torn message");
        let before = message.fate.swap(RECEIVED, Ordering::SeqCst);
        assert_eq!(before, FRESH, "received twice, or after it was dropped");
        let earlier = last.insert(message.from, message.number);
        assert!(earlier < Some(message.number), "out of order");
        received.add(message.from, message.number);
    };
    loop {
        let ended = match random.below(12) {
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
                let end = receiver.selectable();
                let late = after(microseconds(&mut random, 200));
                let mut select = Select::new();
                let message = select.wait(&end);
                select.recv(&late);
                if select.ready() == message {
                    match end.try_recv() {
                        Ok(message) => {
                            take(message);
                            false
                        }
                        Err(error) => error.is_disconnected(),
                    }
                } else {
                    false
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
                    let next = Box::pin(poll_fn(|context| stream.poll_next(context)));
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
            10 => {
                let mut buffer = Vec::new();
                let limit = 1 + random.below(300) as usize;
                let result = receiver.recv_many(&mut buffer, limit);
                buffer.into_iter().for_each(&mut take);
                result.is_err()
            }
            _ => {
                let some = random.below(20) as usize;
                receiver.drain().take(some).for_each(&mut take);
                false
            }
        };
        if ended {
            return received;
        }
    }
}

/// The senders stop first: all that they sent is received.
fn conserve<K: Kind>(
    (sender, receiver): (LaneSender<Message, K>, Receiver<Message>),
    senders: usize,
    time: Duration,
) {
    within(LIMIT + time, move || {
        let (stop, lanes) = (AtomicBool::new(false), AtomicUsize::new(0));
        let (accepted, received) = thread::scope(|scope| {
            let mut all = vec![sender];
            while all.len() < senders {
                all.extend(K::another(&all[0], false));
            }
            let sending: Vec<_> = (1..)
                .zip(all)
                .map(|(seed, sender)| {
                    let (stop, lanes) = (&stop, &lanes);
                    scope.spawn(move || send(seed, sender, lanes, stop))
                })
                .collect();
            let receiving = scope.spawn(move || receive(receiver));
            let start = Instant::now();
            while start.elapsed() < time && !receiving.is_finished() {
                thread::sleep(Duration::from_millis(5).min(time));
            }
            stop.store(true, Ordering::Relaxed);
            let accepted = sending
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .fold(Tally::default(), Tally::join);
            (accepted, receiving.join().unwrap())
        });
        assert_eq!(accepted, received);
        assert!(received.count > 0);
    });
}

/// The receiver goes first, or closes and then receives what is left: every send ends.
fn receiver_goes<K: Kind>(
    open: fn() -> (LaneSender<Message, K>, Receiver<Message>),
    senders: usize,
    time: Duration,
) {
    within(LIMIT + time, move || {
        let start = Instant::now();
        let mut seed = 0;
        while seed == 0 || start.elapsed() < time {
            seed += 1;
            let (stop, lanes) = (AtomicBool::new(false), AtomicUsize::new(0));
            thread::scope(|scope| {
                let (sender, mut receiver) = open();
                let mut all = vec![sender];
                while all.len() < senders {
                    all.extend(K::another(&all[0], false));
                }
                let sending: Vec<_> = (1..)
                    .zip(all)
                    .map(|(me, sender)| {
                        let (stop, lanes) = (&stop, &lanes);
                        scope.spawn(move || send(10 * seed + me, sender, lanes, stop))
                    })
                    .collect();
                let mut random = Random::new(seed);
                let mut received = Tally::default();
                let mut take = |message: Message| {
                    let before = message.fate.swap(RECEIVED, Ordering::SeqCst);
                    assert_eq!(before, FRESH, "received twice, or after it was dropped");
                    received.add(message.from, message.number);
                };
                for _ in 0..random.below(200) {
                    let time = microseconds(&mut random, 500);
                    let result = block_on(receiver.recv_timeout_async(time));
                    result.into_iter().for_each(&mut take);
                }
                if seed % 2 == 0 {
                    drop(receiver);
                    stop.store(true, Ordering::Relaxed);
                } else {
                    receiver.close();
                    stop.store(true, Ordering::Relaxed);
                    let mut accepted = Tally::default();
                    for thread in sending {
                        accepted = accepted.join(thread.join().unwrap());
                    }
                    receiver.iter().for_each(&mut take);
                    assert_eq!(accepted, received);
                }
            });
        }
    });
}

#[test]
fn an_spsc_of_three_conserves() {
    conserve(spsc::bounded(3), 1, time());
    receiver_goes(|| spsc::bounded(3), 1, time() / 4);
}

#[test]
fn an_unbounded_spsc_conserves() {
    conserve(spsc::unbounded(), 1, time());
    receiver_goes(spsc::unbounded, 1, time() / 4);
}

#[test]
fn an_mpsc_of_one_conserves() {
    conserve(mpsc::bounded(1), 3, time());
    receiver_goes(|| mpsc::bounded(1), 2, time() / 4);
}

/// Large enough for a sender to wait for more room than it needs.
#[test]
fn an_mpsc_of_three_hundred_conserves() {
    conserve(mpsc::bounded(300), 2, time());
    receiver_goes(|| mpsc::bounded(300), 2, time() / 4);
}

#[test]
fn an_unbounded_mpsc_conserves() {
    conserve(mpsc::unbounded(), 3, time());
    receiver_goes(mpsc::unbounded, 2, time() / 4);
}
