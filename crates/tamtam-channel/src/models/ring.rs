//! Bounded channels.

use tamtam_wait::seam::{Task, thread};

use super::programs::{
    batch_meets_receivers, batches_in_order, cancelling_meets_sending, close_meets_send,
    closing_meets_sending, sends_in_order, tasks_at_both_ends, two_receivers_double_nothing,
    two_senders_lose_nothing,
};
use super::{model, poll, wide_model};
use crate::{Builder, Overflow, TrySendError, bounded};

#[test]
fn loom_ring_of_one_sends_in_order() {
    sends_in_order(|| bounded(1));
}

#[test]
fn loom_ring_of_two_sends_in_order() {
    sends_in_order(|| bounded(2));
}

#[test]
fn loom_ring_two_senders() {
    two_senders_lose_nothing(|| bounded(1));
}

#[test]
fn loom_ring_two_receivers() {
    two_receivers_double_nothing(|| bounded(2), 2);
}

#[test]
fn loom_ring_closing_meets_sending() {
    closing_meets_sending(|| bounded(1));
}

#[test]
fn loom_ring_close_meets_send() {
    close_meets_send(|| bounded(1));
}

#[test]
fn loom_ring_batch_meets_receivers() {
    batch_meets_receivers(|| bounded(2));
}

#[test]
fn loom_ring_batches_in_order() {
    batches_in_order(|| bounded(2));
}

/// One batch makes room for two senders that may sleep; two batches are claimed at once.
#[test]
fn loom_ring_batch_makes_room_for_two() {
    wide_model(|| {
        let (sender, receiver) = bounded(2);
        sender.send_many([1, 1]).unwrap();
        let givers = [sender.clone(), sender]
            .map(|sender| thread::spawn(move || sender.send_many([1]).unwrap()));
        let mut got = Vec::new();
        assert_eq!(receiver.recv_many(&mut got, 2), Ok(2));
        for giver in givers {
            assert_eq!(giver.join().unwrap(), 1);
        }
        assert_eq!(receiver.try_recv_many(&mut got, 2), Ok(2));
    });
}

/// Two senders displace the oldest while a receiver takes it, and somebody closes: every message is with
/// one of them.
#[test]
fn loom_ring_displacing_meets_receiving() {
    for capacity in [1, 2] {
        model(move || {
            let (sender, receiver) = Builder::new()
                .capacity(capacity)
                .overflow(Overflow::DropOldest)
                .build();
            (0..capacity).for_each(|_| sender.send(Box::new(1)).unwrap());
            let other = sender.clone();
            let giver = thread::spawn(move || {
                let displaced = other.send_reporting(Box::new(1)).unwrap();
                displaced.map_or(0, |message| *message)
            });
            let mine = receiver.try_recv().map_or(0, |message| *message);
            let displaced = sender.send_reporting(Box::new(1)).unwrap();
            let displaced = displaced.map_or(0, |message| *message);
            assert!(sender.len() <= capacity);
            let theirs = giver.join().unwrap();
            assert_eq!(sender.dropped(), displaced + theirs);
            drop(sender);
            let rest = receiver.iter().map(|message| *message).sum::<u64>();
            assert_eq!(mine + displaced + theirs + rest, capacity as u64 + 2);
        });
    }
}

#[test]
fn loom_ring_displacing_meets_close() {
    model(|| {
        let (sender, receiver) = Builder::new()
            .capacity(1)
            .overflow(Overflow::DropOldest)
            .build();
        sender.send(Box::new(1)).unwrap();
        let closer = thread::spawn(move || {
            receiver.close();
            receiver.iter().map(|message| *message).sum::<u64>()
        });
        let mine = match sender.send_reporting(Box::new(1)) {
            Ok(displaced) => displaced.map_or(0, |message| *message),
            Err(error) => *error.0,
        };
        assert_eq!(closer.join().unwrap() + mine, 2);
    });
}

/// A sender is made of a weak one while the last one goes: the receiver gets its message or the end.
#[test]
fn loom_weak_sender_meets_the_end() {
    model(|| {
        let (sender, receiver) = bounded(1);
        let weak = sender.downgrade();
        let maker = thread::spawn(move || weak.upgrade().is_some_and(|made| made.send(1).is_ok()));
        drop(sender);
        assert_eq!(receiver.recv().is_ok(), maker.join().unwrap());
    });
}

#[test]
fn loom_ring_a_full_ring_wakes_its_sender() {
    model(|| {
        let (sender, receiver) = bounded(1);
        sender.send(1).unwrap();
        let giver = thread::spawn(move || sender.send(2).unwrap());
        assert_eq!(receiver.recv(), Ok(1));
        assert_eq!(receiver.recv(), Ok(2));
        giver.join().unwrap();
    });
}

#[test]
fn loom_ring_full_is_never_overwritten() {
    model(|| {
        let (sender, receiver) = bounded(1);
        let other = sender.clone();
        let giver = thread::spawn(move || other.try_send(Box::new(1)).is_ok());
        let mine = match sender.try_send(Box::new(1)) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => false,
            Err(TrySendError::Disconnected(_)) => unreachable!(),
        };
        let theirs = giver.join().unwrap();
        assert!(mine ^ theirs);
        assert_eq!(receiver.len(), 1);
        drop((sender, receiver));
    });
}

#[test]
fn loom_async_ring() {
    tasks_at_both_ends(|| bounded(1));
}

#[test]
fn loom_async_ring_cancelling_meets_sending() {
    cancelling_meets_sending(|| bounded(1));
}

/// Room comes while a task gives up: the thread that waits for room, too, gets it.
#[test]
fn loom_async_ring_cancelling_meets_room() {
    wide_model(|| {
        let (sender, receiver) = bounded(1);
        sender.send(Box::new(0)).unwrap();
        let other = sender.clone();
        let giver = thread::spawn(move || other.send(Box::new(1)).unwrap());
        let taker = thread::spawn(move || {
            let first = *receiver.recv().unwrap();
            (first, receiver)
        });
        let task = Task::new();
        let mut future = sender.send_async(Box::new(2));
        let sent = poll(&mut future, &task).is_ready();
        assert_eq!(future.into_inner().is_none(), sent);
        let (first, receiver) = taker.join().unwrap();
        assert_eq!(first, 0);
        if sent {
            assert!(receiver.recv().is_ok());
        }
        assert!(receiver.recv().is_ok());
        giver.join().unwrap();
    });
}
