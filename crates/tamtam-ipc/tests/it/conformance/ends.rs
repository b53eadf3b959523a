//! The end of one side, in order or by a signal, as the other side learns of it.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use futures::executor::block_on;
use tamtam_channel::{
    RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
};

use super::Kind;
use super::verbs::fill;
use crate::other::{Other, half};

const LONG: Duration = Duration::from_secs(60);

pub(super) fn what_was_sent_is_received_after_the_last_sender_has_gone<K: Kind>(path: &str) {
    if let Some(memory) = half("sends") {
        let sender = K::sender(memory);
        let clone = sender.clone();
        K::send(&sender, 1).unwrap();
        drop(sender);
        K::send(&clone, 2).unwrap();
        return;
    }
    let (sender, mut receiver) = K::channel();
    K::send(&sender, 0).unwrap();
    let other = Other::start(path, "sends", K::lend(&sender));
    let clone = sender.clone();
    drop(sender);
    other.ends_well();
    for number in 0..2 {
        assert_eq!(K::recv(&receiver), Ok(number));
    }
    drop(clone);
    assert_eq!(K::recv_timeout(&receiver, LONG), Ok(2));
    // As often as one asks, in every way.
    for _ in 0..2 {
        assert_eq!(K::recv(&receiver), Err(RecvError));
        assert_eq!(K::try_recv(&receiver), Err(TryRecvError::Disconnected));
        let ended = Err(RecvTimeoutError::Disconnected);
        assert_eq!(K::recv_timeout(&receiver, LONG), ended);
        assert_eq!(block_on(K::recv_async(&mut receiver)), Err(RecvError));
        assert!(K::has_message_within(&mut receiver, LONG));
    }
}

pub(super) fn what_is_sent_to_nobody_comes_back<K: Kind>(_: &str) {
    let (sender, receiver) = K::channel();
    K::send(&sender, 0).unwrap();
    assert!(!K::is_closed(&sender));
    drop(receiver);
    // A process that another test begins has a copy of each descriptor for a moment.
    let patience = Instant::now() + LONG;
    while !K::is_closed(&sender) {
        assert!(Instant::now() < patience);
        std::thread::yield_now();
    }
    assert!(K::is_closed(&sender.clone()));
    for number in 1..3 {
        assert_eq!(K::send(&sender, number), Err(SendError(number)));
        let gone = Err(TrySendError::Disconnected(number));
        assert_eq!(K::try_send(&sender, number), gone);
        let gone = Err(SendTimeoutError::Disconnected(number));
        assert_eq!(K::send_timeout(&sender, number, LONG), gone);
        let sent = block_on(K::send_async(&sender, number));
        assert_eq!(sent, Err(SendError(number)));
        assert!(K::has_room_within(&sender, LONG), "there is news");
    }
}

/// Ways to wait for a message, by number.
fn receive<K: Kind>(receiver: &mut K::Receiver, way: usize) -> Result<u64, RecvError> {
    match way {
        0 => K::recv(receiver),
        1 => K::recv_timeout(receiver, LONG).map_err(|error| {
            assert_eq!(error, RecvTimeoutError::Disconnected);
            RecvError
        }),
        2 => block_on(K::recv_async(receiver)),
        _ => {
            assert!(K::has_message_within(receiver, LONG));
            K::try_recv(receiver).map_err(|error| {
                assert_eq!(error, TryRecvError::Disconnected);
                RecvError
            })
        }
    }
}

pub(super) fn a_killed_sender_ends_each_way_to_wait<K: Kind>(path: &str) {
    if let Some(memory) = half("sends") {
        let sender = K::sender(memory);
        K::send(&sender, 1).unwrap();
        loop {
            std::thread::park();
        }
    }
    for way in 0..4 {
        let (sender, mut receiver) = K::channel();
        let mut other = Other::start(path, "sends", K::lend(&sender));
        assert_eq!(K::recv(&receiver), Ok(1));
        // What it has sent before its death is there.
        K::send(&sender, 2).unwrap();
        drop(sender);
        assert_eq!(receive::<K>(&mut receiver, way), Ok(2));
        std::thread::scope(|threads| {
            let waiting = threads.spawn(|| receive::<K>(&mut receiver, way));
            other.kill();
            assert_eq!(waiting.join().unwrap(), Err(RecvError));
        });
    }
}

/// Ways to wait for room, by number.
fn send<K: Kind>(sender: &K::Sender, number: u64, way: usize) -> Result<(), SendError<u64>> {
    match way {
        0 => K::send(sender, number),
        1 => K::send_timeout(sender, number, LONG).map_err(|error| {
            assert_eq!(error, SendTimeoutError::Disconnected(number));
            SendError(number)
        }),
        2 => block_on(K::send_async(sender, number)),
        _ => {
            assert!(K::has_room_within(sender, LONG));
            K::try_send(sender, number).map_err(|error| {
                assert_eq!(error, TrySendError::Disconnected(number));
                SendError(number)
            })
        }
    }
}

pub(super) fn a_killed_receiver_ends_each_way_to_wait<K: Kind>(path: &str) {
    if let Some(memory) = half("receives") {
        let receiver = K::receiver(memory);
        assert_eq!(K::recv(&receiver), Ok(0));
        loop {
            std::thread::park();
        }
    }
    for way in 0..4 {
        let (sender, receiver) = K::channel();
        fill::<K>(&sender);
        let memory = K::hand_over(receiver);
        let mut other = Other::start(path, "receives", memory.as_fd());
        drop(memory);
        // It takes one, so there is room for one, and for no more.
        while K::try_send(&sender, 8).is_err() {
            std::thread::yield_now();
        }
        std::thread::scope(|threads| {
            let waiting = threads.spawn(|| send::<K>(&sender, 9, way));
            other.kill();
            assert_eq!(waiting.join().unwrap(), Err(SendError(9)));
        });
        assert!(K::is_closed(&sender));
    }
}
