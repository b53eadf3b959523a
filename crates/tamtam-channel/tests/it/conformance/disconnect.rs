//! Disconnecting: from either side, with and without messages left, while others wait.

use std::thread;
use std::time::{Duration, Instant};

use tamtam_channel::{
    RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError, bounded,
};

use crate::support::{Flavour, LONG, SHORT, for_every_flavour};

for_every_flavour!(
    every_send_fails_without_receivers,
    every_receive_fails_without_senders,
    what_was_sent_is_still_received,
    disconnected_outranks_full,
    the_last_sender_counts,
    the_last_receiver_counts,
    a_waiting_receiver_is_woken,
    a_waiting_sender_is_woken_and_keeps_its_message,
    a_waiter_with_a_deadline_is_woken,
    receivers_drain_together_after_the_end,
    dropping_both_ends_at_once,
    a_clone_of_a_disconnected_end_is_disconnected,
);

fn every_send_fails_without_receivers(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    drop(receiver);
    for number in 0..3 {
        assert_eq!(sender.send(number), Err(SendError(number)));
        assert_eq!(
            sender.try_send(number),
            Err(TrySendError::Disconnected(number))
        );
        assert_eq!(
            sender.send_timeout(number, LONG),
            Err(SendTimeoutError::Disconnected(number))
        );
        assert_eq!(
            sender.send_timeout(number, Duration::ZERO),
            Err(SendTimeoutError::Disconnected(number))
        );
        assert_eq!(
            sender.send_deadline(number, Instant::now() + LONG),
            Err(SendTimeoutError::Disconnected(number))
        );
        assert_eq!(
            sender.send_deadline(number, Instant::now()),
            Err(SendTimeoutError::Disconnected(number))
        );
    }
}

fn every_receive_fails_without_senders(flavour: Flavour) {
    let (sender, receiver) = flavour.pair::<u8>();
    drop(sender);
    for _ in 0..3 {
        assert_eq!(receiver.recv(), Err(RecvError));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        assert_eq!(
            receiver.recv_timeout(LONG),
            Err(RecvTimeoutError::Disconnected)
        );
        assert_eq!(
            receiver.recv_timeout(Duration::ZERO),
            Err(RecvTimeoutError::Disconnected)
        );
        assert_eq!(
            receiver.recv_deadline(Instant::now() + LONG),
            Err(RecvTimeoutError::Disconnected)
        );
        assert_eq!(
            receiver.recv_deadline(Instant::now()),
            Err(RecvTimeoutError::Disconnected)
        );
    }
}

fn what_was_sent_is_still_received(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    (0..flavour.room()).for_each(|number| sender.send(number).unwrap());
    drop(sender);
    assert_eq!(receiver.len(), flavour.room());
    for number in 0..flavour.room() {
        // Each form of receive takes its turn.
        match number % 3 {
            0 => assert_eq!(receiver.recv(), Ok(number)),
            1 => assert_eq!(receiver.try_recv(), Ok(number)),
            _ => assert_eq!(receiver.recv_timeout(Duration::ZERO), Ok(number)),
        }
    }
    assert_eq!(receiver.recv(), Err(RecvError));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    assert!(receiver.is_empty());
}

fn disconnected_outranks_full(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    (0..flavour.room()).for_each(|number| sender.send(number).unwrap());
    drop(receiver);
    assert_eq!(sender.try_send(5), Err(TrySendError::Disconnected(5)));
    assert_eq!(
        sender.send_timeout(6, LONG),
        Err(SendTimeoutError::Disconnected(6))
    );
    assert_eq!(sender.send(7), Err(SendError(7)));
}

fn the_last_sender_counts(flavour: Flavour) {
    let (sender, receiver) = flavour.pair::<u8>();
    let clones: Vec<_> = (0..10).map(|_| sender.clone()).collect();
    drop(sender);
    for clone in clones {
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        drop(clone);
    }
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
}

fn the_last_receiver_counts(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    (0..flavour.room()).for_each(|number| sender.send(number).unwrap());
    let clones: Vec<_> = (0..10).map(|_| receiver.clone()).collect();
    drop(receiver);
    for clone in clones {
        if flavour.capacity().is_some() {
            assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
        } else {
            assert_eq!(sender.try_send(1), Ok(()));
        }
        drop(clone);
    }
    assert_eq!(sender.try_send(1), Err(TrySendError::Disconnected(1)));
}

fn a_waiting_receiver_is_woken(flavour: Flavour) {
    for pause in [Duration::ZERO, SHORT] {
        let (sender, receiver) = flavour.pair::<u8>();
        let (done, is_done) = bounded(1);
        thread::scope(|scope| {
            scope.spawn(|| done.send(receiver.recv()).unwrap());
            assert_eq!(is_done.recv_timeout(pause), Err(RecvTimeoutError::Timeout));
            drop(sender);
            assert_eq!(is_done.recv_timeout(LONG), Ok(Err(RecvError)));
        });
    }
}

fn a_waiting_sender_is_woken_and_keeps_its_message(flavour: Flavour) {
    if flavour.capacity().is_none() {
        return;
    }
    for pause in [Duration::ZERO, SHORT] {
        let (sender, receiver) = flavour.pair();
        (0..flavour.room()).for_each(|number| sender.send(number.to_string()).unwrap());
        let (done, is_done) = bounded(1);
        thread::scope(|scope| {
            scope.spawn(|| done.send(sender.send("kept".to_owned())).unwrap());
            assert_eq!(is_done.recv_timeout(pause), Err(RecvTimeoutError::Timeout));
            drop(receiver);
            assert_eq!(
                is_done.recv_timeout(LONG),
                Ok(Err(SendError("kept".to_owned())))
            );
        });
    }
}

fn a_waiter_with_a_deadline_is_woken(flavour: Flavour) {
    let (sender, receiver) = flavour.pair::<u8>();
    let (done, is_done) = bounded(1);
    thread::scope(|scope| {
        scope.spawn(|| done.send(receiver.recv_timeout(LONG * 10)).unwrap());
        assert_eq!(is_done.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
        drop(sender);
        assert_eq!(
            is_done.recv_timeout(LONG),
            Ok(Err(RecvTimeoutError::Disconnected))
        );
    });

    if flavour.capacity().is_some() {
        let (sender, receiver) = flavour.pair();
        (0..flavour.room()).for_each(|_| sender.send(0).unwrap());
        let (done, is_done) = bounded(1);
        thread::scope(|scope| {
            scope.spawn(|| done.send(sender.send_timeout(9, LONG * 10)).unwrap());
            assert_eq!(is_done.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
            drop(receiver);
            assert_eq!(
                is_done.recv_timeout(LONG),
                Ok(Err(SendTimeoutError::Disconnected(9)))
            );
        });
    }
}

fn receivers_drain_together_after_the_end(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    (0..flavour.room()).for_each(|number| sender.send(number).unwrap());
    drop(sender);
    let mut all: Vec<usize> = thread::scope(|scope| {
        let takers: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| receiver.iter().collect::<Vec<_>>()))
            .collect();
        takers
            .into_iter()
            .flat_map(|taker| taker.join().unwrap())
            .collect()
    });
    all.sort_unstable();
    assert!(all.into_iter().eq(0..flavour.room()));
}

fn dropping_both_ends_at_once(flavour: Flavour) {
    for round in 0..200 {
        let (sender, receiver) = flavour.pair();
        thread::scope(|scope| {
            scope.spawn(move || {
                if round % 2 == 0 {
                    let _ = sender.try_send(round);
                }
                drop(sender);
            });
            scope.spawn(move || drop(receiver));
        });
    }
}

fn a_clone_of_a_disconnected_end_is_disconnected(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    drop(receiver);
    assert_eq!(sender.clone().send(1), Err(SendError(1)));
    let (sender, receiver) = flavour.pair::<u8>();
    drop(sender);
    assert_eq!(receiver.clone().recv(), Err(RecvError));
}
