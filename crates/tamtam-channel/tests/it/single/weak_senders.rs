//! Senders of an `mpsc` that do not keep it open.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tamtam_channel::{RecvError, SendError, TryRecvError, mpsc};

use super::counter;

fn assert_shared<T: Send + Sync + Clone + std::fmt::Debug>(_: &T) {}

#[test]
fn an_upgraded_sender_is_a_sender_like_any_other() {
    for (sender, receiver) in [mpsc::bounded(2), mpsc::unbounded()] {
        let weak = sender.downgrade();
        assert_shared(&weak);
        assert_eq!(format!("{weak:?}"), "WeakSender { .. }");
        let other = weak.clone().upgrade().unwrap();
        assert!(other.same_channel(&sender));
        assert_eq!(other.capacity(), sender.capacity());
        sender.send(1).unwrap();
        other.send(2).unwrap();
        drop(sender);
        // It keeps the channel open as the first one did.
        let third = weak.upgrade().unwrap();
        drop(other);
        third.send(3).unwrap();
        let mut received: Vec<_> = receiver.try_iter().collect();
        received.sort_unstable();
        assert_eq!(received, [1, 2, 3]);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        drop(third);
        assert_eq!(receiver.recv(), Err(RecvError));
        assert!(weak.upgrade().is_none());
    }
}

#[test]
fn a_weak_sender_does_not_keep_the_channel_open() {
    let (sender, receiver) = mpsc::unbounded();
    let weak = sender.downgrade();
    sender.send(1).unwrap();
    let receives = thread::spawn(move || receiver.iter().sum::<i32>());
    drop(sender);
    assert_eq!(receives.join().unwrap(), 1);
    assert!(weak.upgrade().is_none());
}

#[test]
fn nobody_gets_a_sender_of_a_closed_channel() {
    let (sender, receiver) = mpsc::unbounded();
    let weak = sender.downgrade();
    receiver.close();
    assert!(weak.upgrade().is_none());
    assert_eq!(sender.send(1), Err(SendError(1)));

    let (sender, receiver) = mpsc::unbounded::<u8>();
    let weak = sender.downgrade();
    drop(receiver);
    assert!(weak.upgrade().is_none());
    drop(sender);

    let (sender, receiver) = mpsc::unbounded::<u8>();
    let weak = sender.downgrade();
    assert!(sender.close());
    assert!(weak.upgrade().is_none());
    assert_eq!(receiver.recv(), Err(RecvError));
}

#[test]
fn a_weak_sender_keeps_no_message() {
    let (count, make) = counter();
    let (sender, receiver) = mpsc::unbounded();
    let weak = sender.downgrade();
    for _ in 0..10 {
        sender.send(make()).ok().unwrap();
        weak.upgrade().unwrap().send(make()).ok().unwrap();
    }
    drop(receiver);
    assert_eq!(count.load(Ordering::SeqCst), 20);
    drop((sender, weak));
    assert_eq!(count.load(Ordering::SeqCst), 20);
}

/// Upgrades race with the last sender's going: whoever got a sender is heard, and then comes the end.
#[test]
fn upgrading_races_with_the_end() {
    let rounds = if cfg!(miri) { 20 } else { 500 };
    for round in 0..rounds {
        let (sender, receiver) = mpsc::unbounded();
        let weak = sender.downgrade();
        let sent = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                let (sent, weak) = (&sent, &weak);
                scope.spawn(move || {
                    for _ in 0..20 {
                        let Some(sender) = weak.upgrade() else {
                            return;
                        };
                        sent.fetch_add(1, Ordering::SeqCst);
                        sender.send(round).unwrap();
                    }
                });
            }
            scope.spawn(move || sender.send(round).unwrap());
            let received = receiver
                .iter()
                .inspect(|message| assert_eq!(*message, round));
            let received = received.count();
            assert!(weak.upgrade().is_none(), "it has ended, and lives");
            assert_eq!(received, 1 + sent.load(Ordering::SeqCst));
        });
    }
}
