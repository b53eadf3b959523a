//! Every message is dropped exactly once, whichever way it goes.

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use tamtam_channel::broadcast::{self, Lag};

use crate::support::{
    Drops, Flavour, LONG, Random, for_every_flavour, thread_number, until_asleep, within_limit,
};

for_every_flavour!(
    received_messages_belong_to_the_receiver,
    queued_messages_go_with_the_channel,
    queued_messages_go_with_the_channel_sender_last,
    a_ring_that_wrapped_around_drops_what_it_holds,
    refused_messages_come_back_undropped,
    a_sender_gone_in_mid_wait_drops_nothing,
    random_traffic_drops_each_message_once,
    a_panicking_drop_is_not_repeated,
    unread_messages_of_racing_ends_are_dropped_once,
);

fn received_messages_belong_to_the_receiver(flavour: Flavour) {
    let drops = Drops::default();
    let (sender, receiver) = flavour.pair();
    for _ in 0..3 {
        (0..flavour.room()).for_each(|_| sender.send(drops.token()).unwrap());
        let before = drops.count();
        let received: Vec<_> = receiver.try_iter().collect();
        assert_eq!(received.len(), flavour.room());
        assert_eq!(drops.count(), before);
        drop(received);
        assert_eq!(drops.count(), before + flavour.room());
    }
    let before = drops.count();
    drop((sender, receiver));
    assert_eq!(drops.count(), before);
}

fn queued_messages_go_with_the_channel(flavour: Flavour) {
    let drops = Drops::default();
    let (sender, receiver) = flavour.pair();
    (0..flavour.room()).for_each(|_| sender.send(drops.token()).unwrap());
    drop(sender);
    assert_eq!(drops.count(), 0, "the receiver may still ask for them");
    drop(receiver);
    assert_eq!(drops.count(), flavour.room());
}

fn queued_messages_go_with_the_channel_sender_last(flavour: Flavour) {
    let drops = Drops::default();
    let (sender, receiver) = flavour.pair();
    (0..flavour.room()).for_each(|_| sender.send(drops.token()).unwrap());
    drop(receiver);
    drop(sender);
    assert_eq!(drops.count(), flavour.room());
}

fn a_ring_that_wrapped_around_drops_what_it_holds(flavour: Flavour) {
    let room = flavour.room();
    for shift in [1, room / 2, room, room + 1, 2 * room] {
        let drops = Drops::default();
        let (sender, receiver) = flavour.pair();
        if room == 0 {
            return;
        }
        for _ in 0..shift {
            sender.send(drops.token()).unwrap();
            receiver.recv().unwrap();
        }
        for held in [1, room / 2 + 1, room] {
            (0..held).for_each(|_| sender.send(drops.token()).unwrap());
            assert_eq!(receiver.try_iter().count(), held);
        }
        let before = drops.count();
        let held = room / 2 + 1;
        (0..held).for_each(|_| sender.send(drops.token()).unwrap());
        drop(receiver);
        drop(sender);
        assert_eq!(drops.count(), before + held, "shift {shift}");
    }
}

fn refused_messages_come_back_undropped(flavour: Flavour) {
    let drops = Drops::default();
    let (sender, receiver) = flavour.pair();
    (0..flavour.room()).for_each(|_| sender.send(drops.token()).unwrap());
    let mut refused = Vec::new();
    if flavour.capacity().is_some() {
        refused.push(sender.try_send(drops.token()).unwrap_err().into_inner());
        refused.push(
            sender
                .send_timeout(drops.token(), Duration::from_millis(1))
                .unwrap_err()
                .into_inner(),
        );
        assert_eq!(drops.count(), 0);
    }
    drop(receiver);
    let before = drops.count();
    refused.push(sender.send(drops.token()).unwrap_err().into_inner());
    refused.push(sender.try_send(drops.token()).unwrap_err().into_inner());
    refused.push(
        sender
            .send_timeout(drops.token(), Duration::ZERO)
            .unwrap_err()
            .into_inner(),
    );
    assert_eq!(drops.count(), before);
    drop(sender);
    assert_eq!(drops.count(), flavour.room());
    let count = refused.len();
    drop(refused);
    assert_eq!(drops.count(), flavour.room() + count);
}

fn a_sender_gone_in_mid_wait_drops_nothing(flavour: Flavour) {
    // Sends that wait when the receiver goes: every message is either returned or was queued and dropped.
    for _ in 0..20 {
        let drops = Drops::default();
        let (sender, receiver) = flavour.pair();
        let waiting = 4;
        let returned: usize = thread::scope(|scope| {
            let senders: Vec<_> = (0..waiting)
                .map(|_| {
                    let (sender, drops) = (sender.clone(), drops.clone());
                    scope.spawn(move || {
                        let mut returned = 0;
                        for _ in 0..flavour.room() + 5 {
                            if let Err(error) = sender.send(drops.token()) {
                                let before = error.into_inner();
                                returned += 1;
                                drop(before);
                            }
                        }
                        returned
                    })
                })
                .collect();
            let first = receiver.recv();
            assert!(first.is_ok());
            drop(receiver);
            senders
                .into_iter()
                .map(|sender| sender.join().unwrap())
                .sum()
        });
        drop(sender);
        let sent = waiting * (flavour.room() + 5);
        assert!(returned < sent);
        assert_eq!(drops.count(), sent);
    }
}

fn random_traffic_drops_each_message_once(flavour: Flavour) {
    let mut random = Random::new(flavour.room() as u64 + 1);
    for _ in 0..30 {
        let drops = Drops::default();
        let (sender, receiver) = flavour.pair();
        let (first, second) = (random.below(200) as usize, random.below(50) as usize);
        thread::scope(|scope| {
            let (sender, receiver) = (&sender, &receiver);
            let drops = &drops;
            scope.spawn(move || {
                (0..first).for_each(|number| sender.send(drops.numbered(number)).unwrap())
            });
            for number in 0..first {
                assert_eq!(receiver.recv().unwrap().number, number);
            }
        });
        assert_eq!(drops.count(), first);
        let held = second.min(flavour.room());
        (0..held).for_each(|number| sender.send(drops.numbered(number)).unwrap());
        assert_eq!(drops.count(), first);
        if random.below(2) == 0 {
            drop(sender);
            drop(receiver);
        } else {
            drop(receiver);
            drop(sender);
        }
        assert_eq!(drops.count(), first + held);
    }
}

/// A message whose drop panics when it is the chosen one.
struct Bomb {
    drops: Arc<AtomicUsize>,
    armed: bool,
}

impl Drop for Bomb {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Ordering::SeqCst);
        if self.armed && !thread::panicking() {
            panic!("this drop panics on purpose");
        }
    }
}

fn a_panicking_drop_is_not_repeated(flavour: Flavour) {
    let count = flavour.room().min(10);
    for armed in 0..count {
        for sender_last in [false, true] {
            let drops = Arc::new(AtomicUsize::new(0));
            let (sender, receiver) = flavour.pair();
            for number in 0..count {
                sender
                    .send(Bomb {
                        drops: drops.clone(),
                        armed: number == armed,
                    })
                    .unwrap();
            }
            let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
                if sender_last {
                    drop(receiver);
                    drop(sender);
                } else {
                    drop(sender);
                    drop(receiver);
                }
            }));
            assert!(outcome.is_err(), "the panic of a drop is not hidden");
            let dropped = drops.load(Ordering::SeqCst);
            // What lies behind the one that panicked may be leaked, but nothing is dropped twice.
            assert!(
                dropped > armed && dropped <= count,
                "{dropped} drops of {count}, armed {armed}"
            );
        }
    }
}

fn unread_messages_of_racing_ends_are_dropped_once(flavour: Flavour) {
    for round in 0..100 {
        let drops = Drops::default();
        let (sender, receiver) = flavour.pair();
        let count = 20;
        thread::scope(|scope| {
            for _ in 0..2 {
                let (sender, drops) = (sender.clone(), drops.clone());
                scope.spawn(move || {
                    for _ in 0..count {
                        let _ = sender.send(drops.token());
                    }
                });
            }
            drop(sender);
            for _ in 0..round % (2 * count) {
                receiver.recv().unwrap();
            }
            drop(receiver);
        });
        assert_eq!(drops.count(), 2 * count);
    }
}

/// A message that panics when it is dropped, if it is told to.
#[derive(Clone)]
struct Displaced(bool);

impl Drop for Displaced {
    fn drop(&mut self) {
        assert!(!self.0, "a drop panics on purpose");
    }
}

#[test]
#[cfg_attr(miri, ignore = "looks at /proc")]
fn a_displaced_message_that_panics_leaves_the_one_that_is_sent_to_a_waiting_receiver() {
    within_limit(|| {
        let (sender, receiver) = broadcast::bounded(1);
        let _slow = sender.subscribe(Lag::Lose);
        let quick = receiver.with_lag(Lag::Lose);
        assert!(sender.send(Displaced(true)).is_ok());
        std::mem::forget(quick.try_recv());
        let (tell, told) = mpsc::channel();
        let waits = thread::spawn(move || {
            tell.send(thread_number()).unwrap();
            quick.recv_timeout(LONG).is_ok()
        });
        until_asleep(&[told.recv().unwrap()]);
        panic::catch_unwind(AssertUnwindSafe(|| sender.send(Displaced(false)).is_ok()))
            .unwrap_err();
        assert!(waits.join().unwrap(), "it was not woken");
    });
}

/// The first panic is the caller's; what lies behind is leaked, since another one would end the program.
#[test]
fn messages_of_a_broadcast_that_panic_when_they_are_dropped_panic_once() {
    let drops = Arc::new(AtomicUsize::new(0));
    let (sender, receiver) = broadcast::bounded(3);
    for _ in 0..3 {
        let bomb = Bomb {
            drops: Arc::clone(&drops),
            armed: true,
        };
        assert!(sender.send(bomb).is_ok());
    }
    panic::catch_unwind(AssertUnwindSafe(|| drop(receiver))).unwrap_err();
    assert!(sender.is_empty());
    drop(sender);
    assert_eq!(drops.load(Ordering::SeqCst), 1);
}
