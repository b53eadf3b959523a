//! Channels from the `Builder`: those that drop what they have no room for, and those that do not.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tamtam_channel::{
    Builder, Overflow, Receiver, RecvError, Select, SendError, SendTimeoutError, Sender,
    TryRecvError, TrySendError, Wait, bounded,
};

use crate::support::{Drops, Flavour, LONG, for_every_flavour, until_asleep, within_limit};

for_every_flavour!(
    a_built_channel_is_like_the_others,
    nothing_is_dropped_before_it_is_full,
    the_newest_is_dropped,
    the_oldest_is_dropped,
    every_way_to_send_drops,
    a_dropping_channel_can_be_closed,
    sending_is_always_ready_in_a_select,
    a_waiting_receiver_gets_what_a_dropping_channel_is_sent,
    what_is_displaced_is_dropped_once,
    what_is_displaced_may_use_the_channel,
    senders_and_receivers_conserve_what_is_not_dropped,
);

const DROPPING: [Overflow; 2] = [Overflow::DropNewest, Overflow::DropOldest];

fn builder(flavour: Flavour) -> Builder {
    match flavour.capacity() {
        Some(capacity) => Builder::new().capacity(capacity),
        None => Builder::new(),
    }
}

fn pair<T>(flavour: Flavour, overflow: Overflow) -> (Sender<T>, Receiver<T>) {
    builder(flavour).overflow(overflow).build()
}

/// A channel without a bound drops nothing.
fn can_be_full(flavour: Flavour) -> bool {
    flavour.capacity().is_some()
}

fn a_built_channel_is_like_the_others(flavour: Flavour) {
    for wait in [Wait::Adaptive, Wait::Park, Wait::Yield] {
        let builder = builder(flavour).wait(wait);
        for overflow in [Overflow::Wait, Overflow::default()] {
            let (sender, receiver) = builder.clone().overflow(overflow).build();
            assert_eq!(sender.capacity(), flavour.capacity());
            assert_eq!(receiver.capacity(), flavour.capacity());
            thread::scope(|scope| {
                scope.spawn(|| (0..500).for_each(|number| sender.send(number).unwrap()));
                assert!((0..500).all(|number| receiver.recv() == Ok(number)));
            });
            (0..flavour.room()).for_each(|number| sender.send(number).unwrap());
            if can_be_full(flavour) {
                assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
                assert_eq!(
                    sender.send_timeout(1, Duration::ZERO),
                    Err(SendTimeoutError::Timeout(1))
                );
            }
            assert_eq!((sender.dropped(), receiver.dropped()), (0, 0));
        }
    }
}

fn nothing_is_dropped_before_it_is_full(flavour: Flavour) {
    for overflow in DROPPING {
        let (sender, receiver) = pair(flavour, overflow);
        for number in 0..flavour.room() {
            assert_eq!(sender.send_reporting(number), Ok(None));
            assert_eq!(sender.len(), number + 1);
        }
        assert_eq!(sender.dropped(), 0);
        assert!(receiver.try_iter().eq(0..flavour.room()));
    }
}

fn the_newest_is_dropped(flavour: Flavour) {
    if !can_be_full(flavour) {
        return;
    }
    let (sender, receiver) = pair(flavour, Overflow::DropNewest);
    let room = flavour.room();
    (0..room).for_each(|number| sender.send(number).unwrap());
    for number in 0..5 {
        assert_eq!(
            sender.send_reporting(1000 + number),
            Ok(Some(1000 + number))
        );
        assert_eq!(sender.len(), room);
    }
    assert_eq!((sender.dropped(), receiver.dropped()), (5, 5));
    assert!(receiver.try_iter().eq(0..room));
}

fn the_oldest_is_dropped(flavour: Flavour) {
    if !can_be_full(flavour) {
        return;
    }
    let (sender, receiver) = pair(flavour, Overflow::DropOldest);
    let room = flavour.room();
    (0..room).for_each(|number| sender.send(number).unwrap());
    // Several laps.
    let more = 3 * room + 2;
    for number in room..room + more {
        // With capacity zero there is no older one.
        let displaced = number - room;
        assert_eq!(sender.send_reporting(number), Ok(Some(displaced)));
        assert_eq!((sender.len(), sender.is_full()), (room, true));
    }
    assert_eq!(
        (sender.dropped(), receiver.dropped()),
        (more as u64, more as u64)
    );
    assert!(receiver.try_iter().eq(more..more + room));
}

fn every_way_to_send_drops(flavour: Flavour) {
    if !can_be_full(flavour) {
        return;
    }
    for overflow in DROPPING {
        let (sender, receiver) = pair(flavour, overflow);
        let room = flavour.room();
        (0..room).for_each(|number| sender.send(number).unwrap());
        assert_eq!(sender.send(room), Ok(()));
        assert_eq!(sender.try_send(room + 1), Ok(()));
        assert_eq!(sender.send_timeout(room + 2, Duration::ZERO), Ok(()));
        assert_eq!(sender.send_deadline(room + 3, Instant::now()), Ok(()));
        assert_eq!(sender.send_many(room + 4..2 * room + 50), Ok(room + 46));
        assert_eq!(sender.dropped(), room as u64 + 50);
        let first = match overflow {
            Overflow::DropOldest => room + 50,
            _ => 0,
        };
        assert!(receiver.try_iter().eq(first..first + room));
    }
}

fn a_dropping_channel_can_be_closed(flavour: Flavour) {
    for overflow in DROPPING {
        let (sender, receiver) = pair(flavour, overflow);
        (0..flavour.room()).for_each(|number| sender.send(number).unwrap());
        receiver.close();
        assert_eq!(sender.send(7), Err(SendError(7)));
        assert_eq!(sender.try_send(7), Err(TrySendError::Disconnected(7)));
        assert_eq!(sender.send_reporting(7), Err(SendError(7)));
        assert_eq!(
            sender.send_timeout(7, LONG),
            Err(SendTimeoutError::Disconnected(7))
        );
        let error = sender.send_many([7, 8]).unwrap_err();
        assert_eq!((error.sent, error.unsent), (0, vec![7, 8]));
        let mut select = Select::new();
        select.send(&sender);
        assert_eq!(select.select().send(&sender, 7), Err(SendError(7)));
        assert_eq!(sender.dropped(), 0);
        assert!(receiver.try_iter().eq(0..flavour.room()));
        assert_eq!(receiver.recv(), Err(RecvError));
    }
}

fn sending_is_always_ready_in_a_select(flavour: Flavour) {
    for overflow in DROPPING {
        let (sender, receiver) = pair(flavour, overflow);
        for number in 0..2 * flavour.room() + 3 {
            let mut select = Select::new();
            select.send(&sender);
            assert_eq!(select.try_ready(), Ok(0));
            assert_eq!(select.ready(), 0);
            let selected = select.try_select().unwrap();
            // One who takes its time holds up nobody.
            sender.send(number).unwrap();
            selected.send(&sender, number).unwrap();
        }
        let sent = 2 * (2 * flavour.room() + 3);
        assert_eq!(
            sender.dropped() as usize + receiver.try_iter().count(),
            sent
        );
    }
}

fn a_waiting_receiver_gets_what_a_dropping_channel_is_sent(flavour: Flavour) {
    for overflow in DROPPING {
        let (sender, receiver) = pair(flavour, overflow);
        let (ready, is_ready) = bounded(1);
        thread::scope(|scope| {
            let taker = scope.spawn(|| {
                ready.send(crate::support::thread_number()).unwrap();
                receiver.recv_timeout(LONG)
            });
            until_asleep(&[is_ready.recv().unwrap()]);
            assert_eq!(sender.send_reporting("kept"), Ok(None));
            assert_eq!(taker.join().unwrap(), Ok("kept"));
        });
        assert_eq!(sender.dropped(), 0);
    }
}

fn what_is_displaced_is_dropped_once(flavour: Flavour) {
    for overflow in DROPPING {
        let drops = Drops::default();
        let (sender, receiver) = pair(flavour, overflow);
        let count = 3 * flavour.room() + 5;
        for _ in 0..count {
            assert!(sender.send(drops.token()).is_ok());
        }
        assert_eq!(drops.count() as u64, sender.dropped());
        assert_eq!(drops.count() + receiver.len(), count);
        drop(receiver);
        assert_eq!(drops.count(), count);
    }
}

/// Its drop runs outside of everything.
fn what_is_displaced_may_use_the_channel(flavour: Flavour) {
    struct Talkative(Option<Sender<Talkative>>);
    impl Drop for Talkative {
        fn drop(&mut self) {
            if let Some(sender) = self.0.take() {
                assert!(sender.send(Talkative(None)).is_ok());
                assert!(sender.len() <= sender.capacity().unwrap_or(usize::MAX));
            }
        }
    }
    for overflow in DROPPING {
        let (sender, receiver) = pair(flavour, overflow);
        for _ in 0..flavour.room() + 3 {
            assert!(sender.send(Talkative(Some(sender.clone()))).is_ok());
        }
        // What is left holds senders of its own.
        receiver.try_iter().for_each(|mut message| {
            message.0 = None;
        });
    }
}

fn senders_and_receivers_conserve_what_is_not_dropped(flavour: Flavour) {
    for overflow in DROPPING {
        let (sender, receiver) = pair(flavour, overflow);
        let each = 3_000_usize;
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let senders: Vec<_> = (0..3)
                .map(|me| {
                    let sender = sender.clone();
                    scope.spawn(move || {
                        (0..each)
                            .filter_map(|number| sender.send_reporting((me, number)).unwrap())
                            .collect::<Vec<_>>()
                    })
                })
                .collect();
            let taker = scope.spawn(|| {
                let mut got = Vec::new();
                loop {
                    match receiver.try_recv() {
                        Ok(message) => got.push(message),
                        Err(TryRecvError::Disconnected) => break got,
                        Err(TryRecvError::Empty) => thread::yield_now(),
                    }
                }
            });
            let watcher = scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    assert!(receiver.len() <= flavour.capacity().unwrap_or(usize::MAX));
                    thread::yield_now();
                }
            });
            let displaced: Vec<_> = senders
                .into_iter()
                .flat_map(|sender| sender.join().unwrap())
                .collect();
            stop.store(true, Ordering::Relaxed);
            watcher.join().unwrap();
            assert_eq!(sender.dropped(), displaced.len() as u64);
            sender.close();
            let got = taker.join().unwrap();
            for from in 0..3 {
                assert!(
                    got.iter()
                        .filter(|(sender, _)| *sender == from)
                        .is_sorted_by_key(|(_, number)| number)
                );
            }
            let mut all: Vec<_> = got.into_iter().chain(displaced).collect();
            all.sort_unstable();
            assert!(
                all.into_iter()
                    .eq((0..3).flat_map(|me| (0..each).map(move |number| (me, number))))
            );
        });
    }
}

#[test]
fn a_builder_makes_any_number_of_channels() {
    within_limit(|| {
        let builder = Builder::new().capacity(1).overflow(Overflow::DropOldest);
        let (words, first) = builder.build();
        let (numbers, second) = builder.build();
        words.send("one").unwrap();
        numbers.send(2).unwrap();
        assert_eq!((first.recv(), second.recv()), (Ok("one"), Ok(2)));
        assert!(format!("{builder:?}").starts_with("Builder"));
    });
}
