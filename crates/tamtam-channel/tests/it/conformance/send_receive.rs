//! Sending and receiving: the plain, `try_`, `_timeout` and `_deadline` forms and what each returns.

use std::panic;
use std::thread;
use std::time::{Duration, Instant};

use tamtam_channel::{
    RecvTimeoutError, SendError, SendTimeoutError, Sender, TryRecvError, TrySendError, bounded,
    unbounded,
};

use crate::support::{Flavour, LONG, SHORT, for_every_flavour, ms, until};

for_every_flavour!(
    one_message_arrives,
    as_many_as_fit_are_sent_without_a_receiver,
    send_waits_while_full,
    recv_waits_while_empty,
    try_send_says_full_and_returns_the_message,
    try_recv_says_empty,
    try_send_meets_a_waiting_receiver,
    try_recv_meets_a_waiting_sender,
    send_timeout_says_timeout_after_the_time,
    recv_timeout_says_timeout_after_the_time,
    send_deadline_in_the_past_still_sends_where_there_is_room,
    recv_deadline_in_the_past_still_receives_what_is_there,
    recv_timeout_of_zero_takes_from_a_waiting_sender,
    send_timeout_of_zero_gives_to_a_waiting_receiver,
    recv_timeout_is_ended_by_a_message,
    send_timeout_is_ended_by_room,
    huge_timeouts_are_no_overflow,
    a_message_after_timeouts_is_not_lost,
    endpoints_are_shared_by_reference,
    endpoints_move_between_threads_with_their_messages,
);

/// Runs `side` on a thread and returns its result, while `here` runs on this one.
fn beside<R: Send>(side: impl FnOnce() -> R + Send, here: impl FnOnce()) -> R {
    thread::scope(|scope| {
        let side = scope.spawn(side);
        here();
        side.join().unwrap()
    })
}

/// Sends until there is no room left.
fn fill(flavour: Flavour, sender: &Sender<usize>) {
    for number in 0..flavour.room() {
        assert_eq!(sender.try_send(number), Ok(()));
    }
}

fn one_message_arrives(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let received = beside(
        || receiver.recv(),
        || assert_eq!(sender.send("a word"), Ok(())),
    );
    assert_eq!(received, Ok("a word"));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
}

fn as_many_as_fit_are_sent_without_a_receiver(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    for round in 0..5 {
        for number in 0..flavour.room() {
            assert_eq!(sender.send(round * 1000 + number), Ok(()));
        }
        if flavour.capacity().is_some() {
            assert_eq!(sender.try_send(7), Err(TrySendError::Full(7)));
        }
        for number in 0..flavour.room() {
            assert_eq!(receiver.recv(), Ok(round * 1000 + number));
        }
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    }
}

fn send_waits_while_full(flavour: Flavour) {
    if flavour.capacity().is_none() {
        return;
    }
    let (sender, receiver) = flavour.pair();
    fill(flavour, &sender);
    let (done, is_done) = bounded::<()>(1);
    thread::scope(|scope| {
        scope.spawn(|| {
            sender.send(999).unwrap();
            done.send(()).unwrap();
        });
        assert_eq!(is_done.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
        if flavour.is_rendezvous() {
            assert_eq!(receiver.recv(), Ok(999));
            assert_eq!(is_done.recv_timeout(LONG), Ok(()));
        } else {
            assert_eq!(receiver.recv(), Ok(0));
            assert_eq!(is_done.recv_timeout(LONG), Ok(()));
            for number in 1..flavour.room() {
                assert_eq!(receiver.recv(), Ok(number));
            }
            assert_eq!(receiver.recv(), Ok(999));
        }
    });
}

fn recv_waits_while_empty(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let (done, is_done) = unbounded();
    thread::scope(|scope| {
        scope.spawn(|| done.send(receiver.recv()).unwrap());
        assert_eq!(is_done.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
        sender.send(5).unwrap();
        assert_eq!(is_done.recv_timeout(LONG), Ok(Ok(5)));
    });
}

fn try_send_says_full_and_returns_the_message(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    fill(flavour, &sender);
    match flavour {
        Flavour::Bounded(_) => {
            for _ in 0..3 {
                assert_eq!(sender.try_send(42), Err(TrySendError::Full(42)));
            }
        }
        Flavour::Unbounded => assert_eq!(sender.try_send(42), Ok(())),
    }
    assert_eq!(
        receiver.try_iter().take(flavour.room()).count(),
        flavour.room()
    );
}

fn try_recv_says_empty(flavour: Flavour) {
    let (sender, receiver) = flavour.pair::<u8>();
    for _ in 0..3 {
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    }
    drop(sender);
}

fn try_send_meets_a_waiting_receiver(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let received = beside(|| receiver.recv(), || until(|| sender.try_send(1).is_ok()));
    assert_eq!(received, Ok(1));
}

fn try_recv_meets_a_waiting_sender(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let sent = beside(|| sender.send(1), || until(|| receiver.try_recv() == Ok(1)));
    assert_eq!(sent, Ok(()));
}

fn send_timeout_says_timeout_after_the_time(flavour: Flavour) {
    if flavour.capacity().is_none() {
        let (sender, receiver) = flavour.pair();
        assert_eq!(sender.send_timeout(1, Duration::ZERO), Ok(()));
        assert_eq!(receiver.recv(), Ok(1));
        return;
    }
    let (sender, receiver) = flavour.pair();
    fill(flavour, &sender);

    let start = Instant::now();
    assert_eq!(
        sender.send_timeout(3, ms(30)),
        Err(SendTimeoutError::Timeout(3))
    );
    assert!(start.elapsed() >= ms(30));

    let start = Instant::now();
    assert_eq!(
        sender.send_deadline(4, start + ms(30)),
        Err(SendTimeoutError::Timeout(4))
    );
    assert!(start.elapsed() >= ms(30));

    assert_eq!(
        sender.send_timeout(5, Duration::ZERO),
        Err(SendTimeoutError::Timeout(5))
    );
    assert_eq!(
        sender.send_deadline(6, start),
        Err(SendTimeoutError::Timeout(6))
    );
    assert_eq!(receiver.try_iter().count(), flavour.room());
}

fn recv_timeout_says_timeout_after_the_time(flavour: Flavour) {
    let (sender, receiver) = flavour.pair::<u8>();

    let start = Instant::now();
    assert_eq!(
        receiver.recv_timeout(ms(30)),
        Err(RecvTimeoutError::Timeout)
    );
    assert!(start.elapsed() >= ms(30));

    let start = Instant::now();
    assert_eq!(
        receiver.recv_deadline(start + ms(30)),
        Err(RecvTimeoutError::Timeout)
    );
    assert!(start.elapsed() >= ms(30));

    assert_eq!(
        receiver.recv_timeout(Duration::ZERO),
        Err(RecvTimeoutError::Timeout)
    );
    assert_eq!(
        receiver.recv_deadline(start),
        Err(RecvTimeoutError::Timeout)
    );
    drop(sender);
}

fn send_deadline_in_the_past_still_sends_where_there_is_room(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let past = Instant::now();
    for number in 0..flavour.room() {
        if number % 2 == 0 {
            assert_eq!(sender.send_deadline(number, past), Ok(()));
        } else {
            assert_eq!(sender.send_timeout(number, Duration::ZERO), Ok(()));
        }
    }
    assert!(receiver.try_iter().eq(0..flavour.room()));
}

fn recv_deadline_in_the_past_still_receives_what_is_there(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let past = Instant::now();
    fill(flavour, &sender);
    for number in 0..flavour.room() {
        if number % 2 == 0 {
            assert_eq!(receiver.recv_deadline(past), Ok(number));
        } else {
            assert_eq!(receiver.recv_timeout(Duration::ZERO), Ok(number));
        }
    }
    assert_eq!(receiver.recv_deadline(past), Err(RecvTimeoutError::Timeout));
}

fn recv_timeout_of_zero_takes_from_a_waiting_sender(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let sent = beside(
        || sender.send(8),
        || until(|| receiver.recv_timeout(Duration::ZERO) == Ok(8)),
    );
    assert_eq!(sent, Ok(()));
}

fn send_timeout_of_zero_gives_to_a_waiting_receiver(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let received = beside(
        || receiver.recv(),
        || until(|| sender.send_timeout(8, Duration::ZERO).is_ok()),
    );
    assert_eq!(received, Ok(8));
}

fn recv_timeout_is_ended_by_a_message(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let sent = beside(
        || {
            let first = sender.send(1);
            thread::yield_now();
            (first, sender.send(2))
        },
        || {
            assert_eq!(receiver.recv_timeout(LONG), Ok(1));
            assert_eq!(receiver.recv_deadline(Instant::now() + LONG), Ok(2));
        },
    );
    assert_eq!(sent, (Ok(()), Ok(())));
}

fn send_timeout_is_ended_by_room(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let count = flavour.room() + 20;
    let received = beside(
        || receiver.iter().take(count).collect::<Vec<_>>(),
        || {
            for number in 0..count {
                if number % 2 == 0 {
                    assert_eq!(sender.send_timeout(number, LONG), Ok(()));
                } else {
                    assert_eq!(sender.send_deadline(number, Instant::now() + LONG), Ok(()));
                }
            }
        },
    );
    assert!(received.into_iter().eq(0..count));
}

fn huge_timeouts_are_no_overflow(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let received = beside(
        || {
            (
                receiver.recv_timeout(Duration::MAX),
                receiver.recv_timeout(Duration::from_secs(u64::MAX / 4)),
            )
        },
        || {
            assert_eq!(sender.send_timeout(1, Duration::MAX), Ok(()));
            assert_eq!(
                sender.send_timeout(2, Duration::from_secs(u64::MAX)),
                Ok(())
            );
        },
    );
    assert_eq!(received, (Ok(1), Ok(2)));
    drop(receiver);
    assert_eq!(
        sender.send_timeout(3, Duration::MAX),
        Err(SendTimeoutError::Disconnected(3))
    );
}

fn a_message_after_timeouts_is_not_lost(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    for number in 0..50 {
        // An expired wait must leave nothing behind that could swallow or answer a later operation.
        assert_eq!(
            receiver.recv_timeout(Duration::from_micros(50)),
            Err(RecvTimeoutError::Timeout)
        );
        if flavour.is_rendezvous() {
            assert_eq!(
                sender.send_timeout(number, Duration::from_micros(50)),
                Err(SendTimeoutError::Timeout(number)),
                "an expired receive took a message"
            );
            assert_eq!(
                receiver.try_recv(),
                Err(TryRecvError::Empty),
                "an expired send left its message"
            );
        }
        let received = beside(
            || receiver.recv_timeout(LONG),
            || assert_eq!(sender.send_timeout(number, LONG), Ok(())),
        );
        assert_eq!(received, Ok(number));
    }
}

fn endpoints_are_shared_by_reference(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let sum: i32 = thread::scope(|scope| {
        let takers: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| receiver.recv().unwrap() + receiver.recv().unwrap()))
            .collect();
        for number in 1..=3 {
            let sender = &sender;
            scope.spawn(move || {
                sender.send(number).unwrap();
                sender.send(number * 10).unwrap();
            });
        }
        takers.into_iter().map(|taker| taker.join().unwrap()).sum()
    });
    assert_eq!(sum, 66);
}

fn endpoints_move_between_threads_with_their_messages(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let count = flavour.room();
    let sender = thread::spawn(move || {
        (0..count).for_each(|number| sender.send(number).unwrap());
        sender
    })
    .join()
    .unwrap();
    let receiver = thread::spawn(move || {
        assert!((0..count).all(|number| receiver.recv() == Ok(number)));
        receiver
    })
    .join()
    .unwrap();
    drop(receiver);
    assert_eq!(sender.send(5), Err(SendError(5)));
}

#[test]
fn a_capacity_that_cannot_be_allocated_panics() {
    for capacity in [usize::MAX, usize::MAX / 2 + 1, isize::MAX as usize] {
        assert!(
            panic::catch_unwind(|| bounded::<u64>(capacity)).is_err(),
            "bounded({capacity})"
        );
    }
}

#[test]
fn odd_capacities_are_exact() {
    for capacity in [
        1, 2, 3, 5, 7, 31, 32, 33, 63, 64, 65, 1000, 1023, 1024, 1025,
    ] {
        let (sender, receiver) = bounded(capacity);
        // Three rounds go past the end of any ring.
        for round in 0..3 {
            for number in 0..capacity {
                assert_eq!(
                    sender.try_send((round, number)),
                    Ok(()),
                    "capacity {capacity}"
                );
            }
            assert!(sender.try_send((9, 9)).is_err(), "capacity {capacity}");
            for number in 0..capacity {
                assert_eq!(
                    receiver.try_recv(),
                    Ok((round, number)),
                    "capacity {capacity}"
                );
            }
        }
    }
}
