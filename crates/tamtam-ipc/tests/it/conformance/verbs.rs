//! Sends and receives, one by one and in batches, and waits for both.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use tamtam_channel::{RecvError, RecvTimeoutError, SendTimeoutError, TryRecvError, TrySendError};

use super::Kind;
use crate::other::{Other, half};

const SOON: Duration = Duration::from_millis(10);
const LONG: Duration = Duration::from_secs(60);
const MESSAGES: u64 = 2_000;

pub(super) fn another_process_sends_in_order<K: Kind>(path: &str) {
    if let Some(memory) = half("sends") {
        let sender = K::sender(memory);
        for number in 0..MESSAGES {
            match number % 4 {
                0 => K::send(&sender, number).unwrap(),
                1 => K::send_timeout(&sender, number, LONG).unwrap(),
                2 => K::send_deadline(&sender, number, Instant::now() + LONG).unwrap(),
                _ => {
                    while K::try_send(&sender, number).is_err() {
                        std::thread::yield_now();
                    }
                }
            }
        }
        return;
    }
    let (sender, receiver) = K::channel();
    let other = Other::start(path, "sends", K::lend(&sender));
    for number in 0..MESSAGES {
        let received = match number % 5 {
            0 => K::recv(&receiver).unwrap(),
            1 => K::recv_timeout(&receiver, LONG).unwrap(),
            2 => K::recv_deadline(&receiver, Instant::now() + LONG).unwrap(),
            _ => loop {
                match K::try_recv(&receiver) {
                    Ok(number) => break number,
                    Err(error) => assert_eq!(error, TryRecvError::Empty),
                }
                std::thread::yield_now();
            },
        };
        assert_eq!(received, number);
    }
    other.ends_well();
    assert_eq!(K::try_recv(&receiver), Err(TryRecvError::Empty));
    assert_eq!(K::len(&receiver), 0);
}

pub(super) fn another_process_receives_in_order<K: Kind>(path: &str) {
    if let Some(memory) = half("receives") {
        let receiver = K::receiver(memory);
        for number in 0..MESSAGES {
            assert_eq!(K::recv(&receiver), Ok(number));
        }
        assert!(K::recv(&receiver).is_err(), "the sender has gone");
        return;
    }
    let (sender, receiver) = K::channel();
    // One before it is handed over, and others while it is on its way.
    K::send(&sender, 0).unwrap();
    let memory = K::hand_over(receiver);
    K::send(&sender, 1).unwrap();
    assert!(!K::is_closed(&sender));
    let other = Other::start(path, "receives", memory.as_fd());
    drop(memory);
    for number in 2..MESSAGES {
        K::send(&sender, number).unwrap();
    }
    drop(sender);
    other.ends_well();
}

pub(super) fn each_sender_keeps_its_order<K: Kind>(path: &str) {
    const SENDERS: u64 = 4;
    const EACH: u64 = 500;
    let send_all = |sender: &K::Sender, of: u64| {
        for number in 0..EACH {
            K::send(sender, of * EACH + number).unwrap();
        }
    };
    for of in 0..2 {
        if let Some(memory) = half(&of.to_string()) {
            return send_all(&K::sender(memory), of);
        }
    }
    let (sender, receiver) = K::channel();
    let others = [0, 1].map(|of| Other::start(path, &of.to_string(), K::lend(&sender)));
    let mut next = [0; SENDERS as usize];
    std::thread::scope(|threads| {
        for of in 2..SENDERS {
            let sender = sender.clone();
            threads.spawn(move || send_all(&sender, of));
        }
        for _ in 0..SENDERS * EACH {
            let number = K::recv(&receiver).unwrap();
            let next = &mut next[(number / EACH) as usize];
            assert_eq!(number % EACH, *next);
            *next += 1;
        }
    });
    assert_eq!(next, [EACH; SENDERS as usize]);
    others.into_iter().for_each(Other::ends_well);
    drop(sender);
    // A process that another test begins has a copy of each descriptor for a moment.
    assert_eq!(K::recv(&receiver), Err(RecvError));
}

/// Sends until there is no room: how many.
pub(super) fn fill<K: Kind>(sender: &K::Sender) -> u64 {
    let mut sent = 0;
    loop {
        match K::try_send(sender, sent) {
            Ok(()) => sent += 1,
            Err(error) => {
                assert_eq!(error, TrySendError::Full(sent));
                return sent;
            }
        }
        assert!(sent < 100_000, "it is bounded");
    }
}

pub(super) fn what_finds_no_room_comes_back<K: Kind>(_: &str) {
    let (sender, receiver) = K::channel();
    let room = fill::<K>(&sender);
    assert!(room > 0);
    assert_eq!(K::len(&receiver) as u64, room);
    let late = K::send_timeout(&sender, 77, Duration::ZERO);
    assert_eq!(late, Err(SendTimeoutError::Timeout(77)));
    let late = K::send_deadline(&sender, 78, Instant::now());
    assert_eq!(late, Err(SendTimeoutError::Timeout(78)));
    // Nothing of what came back has taken a place.
    for number in 0..room {
        assert_eq!(K::recv(&receiver), Ok(number));
    }
    assert_eq!(K::try_recv(&receiver), Err(TryRecvError::Empty));
    assert_eq!(fill::<K>(&sender), room);
}

pub(super) fn a_timed_call_ends_in_time<K: Kind>(_: &str) {
    let (sender, receiver) = K::channel();
    let lasts = |call: &mut dyn FnMut()| {
        let began = Instant::now();
        call();
        let passed = began.elapsed();
        assert!(passed >= SOON && passed < LONG, "{passed:?}");
    };
    let late = Err(RecvTimeoutError::Timeout);
    lasts(&mut || assert_eq!(K::recv_timeout(&receiver, SOON), late));
    lasts(&mut || {
        let deadline = Instant::now() + SOON;
        assert_eq!(K::recv_deadline(&receiver, deadline), late);
    });
    let room = fill::<K>(&sender);
    lasts(&mut || {
        let sent = K::send_timeout(&sender, 8, SOON);
        assert_eq!(sent, Err(SendTimeoutError::Timeout(8)));
    });
    lasts(&mut || {
        let sent = K::send_deadline(&sender, 9, Instant::now() + SOON);
        assert_eq!(sent, Err(SendTimeoutError::Timeout(9)));
    });
    // What is there is received also after its time, and a time beyond the clock's end is none.
    let past = Instant::now();
    assert_eq!(K::recv_deadline(&receiver, past), Ok(0));
    for number in 1..room {
        let received = K::recv_timeout(&receiver, Duration::MAX);
        assert_eq!(received, Ok(number));
    }
    K::send_timeout(&sender, 5, Duration::MAX).unwrap();
    assert_eq!(K::recv_timeout(&receiver, Duration::ZERO), Ok(5));
}

/// More than the channel holds, in both directions, and what an end leaves of a batch.
pub(super) fn a_batch_is_as_its_messages<K: Kind>(path: &str) {
    if let Some(memory) = half("sends") {
        let sender = K::sender(memory);
        let sent = K::send_many(&sender, &mut (0..MESSAGES));
        assert_eq!(sent, Some(Ok(MESSAGES as usize)));
        // Until all has come, so that the end is not what wakes the receiver.
        return drop(std::io::read_to_string(std::io::stdin()));
    }
    let (sender, receiver) = K::channel();
    if K::send_many(&sender, &mut (0..0)).is_none() {
        return;
    }
    let mut numbers = Vec::new();
    assert_eq!(K::recv_many(&receiver, &mut numbers, 0), Some(Ok(0)));
    let empty = Some(Err(TryRecvError::Empty));
    assert_eq!(K::try_recv_many(&receiver, &mut numbers, 9), empty);
    let mut other = Other::start(path, "sends", K::lend(&sender));
    while (numbers.len() as u64) < MESSAGES {
        let before = numbers.len();
        let limit = 1 + before % 9;
        let count = K::recv_many(&receiver, &mut numbers, limit);
        let count = count.unwrap().unwrap();
        assert!((1..=limit).contains(&count));
        assert_eq!(numbers.len(), before + count);
    }
    assert!(numbers.drain(..).eq(0..MESSAGES));
    other.kill();
    other.wait();

    let room = fill::<K>(&sender) as usize;
    assert_eq!(
        K::try_recv_many(&receiver, &mut numbers, usize::MAX),
        Some(Ok(room))
    );
    numbers.clear();
    std::thread::scope(|threads| {
        let sender = &sender;
        let sending = threads.spawn(|| K::send_many(sender, &mut (0..MESSAGES)));
        assert_eq!(K::recv(&receiver), Ok(0));
        drop(receiver);
        let (sent, unsent) = sending.join().unwrap().unwrap().unwrap_err();
        // One was received, and at most so many were there.
        assert!((1..=1 + room).contains(&sent), "{sent} were sent");
        assert_eq!(unsent, sent as u64);
    });
    let none = K::send_many(&sender, &mut (7..9));
    assert_eq!(none, Some(Err((0, 7))));
}

pub(super) fn a_select_waits_for_messages_and_for_room<K: Kind>(path: &str) {
    const ROUNDS: u64 = 200;
    if let Some(memory) = half("sends") {
        let sender = K::sender(memory);
        for number in 0..ROUNDS {
            assert!(K::has_room_within(&sender, LONG));
            K::try_send(&sender, number).unwrap();
        }
        return drop(std::io::read_to_string(std::io::stdin()));
    }
    let (sender, mut receiver) = K::channel();
    assert!(!K::has_message_within(&mut receiver, SOON));
    assert!(K::has_room_within(&sender, Duration::ZERO));
    let room = fill::<K>(&sender);
    assert!(!K::has_room_within(&sender, SOON));
    for number in 0..room {
        assert!(K::has_message_within(&mut receiver, Duration::ZERO));
        assert_eq!(K::try_recv(&receiver), Ok(number));
    }
    assert!(K::has_room_within(&sender, LONG));
    let _other = Other::start(path, "sends", K::lend(&sender));
    for number in 0..ROUNDS {
        assert!(K::has_message_within(&mut receiver, LONG));
        assert_eq!(K::try_recv(&receiver), Ok(number));
    }
    assert!(!K::has_message_within(&mut receiver, SOON));
    let waiting = std::thread::scope(|threads| {
        let waiting = threads.spawn(|| K::has_message_within(&mut receiver, LONG));
        K::send(&sender, 5).unwrap();
        waiting.join().unwrap()
    });
    assert!(waiting);
}
