//! Selecting and asking for readiness, on every flavour.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Flavour, LONG, SHORT, for_every_flavour, ms, until};
use tamtam_channel::{
    ReadyTimeoutError, Receiver, RecvError, RecvTimeoutError, Select, SelectTimeoutError,
    SendError, Sender, TryReadyError, TryRecvError, TrySelectError, bounded,
};

for_every_flavour!(
    nothing_ready,
    a_disconnected_receive_is_ready,
    a_disconnected_send_is_ready,
    a_message_makes_a_receive_ready,
    room_makes_a_send_ready,
    select_waits_for_a_message,
    select_waits_for_a_receiver,
    select_learns_of_the_end,
    ready_waits_for_a_message,
    ready_waits_for_a_receiver,
    ready_learns_of_the_end,
    a_select_that_timed_out_leaves_nothing_behind,
    a_won_select_leaves_nothing_behind_on_the_others,
    the_same_receiver_many_times,
    sending_and_receiving_on_one_channel_at_once,
    a_select_is_used_again,
    what_is_not_selected_is_not_touched,
    a_selected_send_carries_borrowed_and_boxed_messages,
);

/// Fills a bounded channel, so that a send on it would wait.
fn fill<T>(flavour: Flavour, sender: &Sender<T>, message: impl Fn() -> T) {
    (0..flavour.capacity().unwrap_or(0)).for_each(|_| sender.try_send(message()).unwrap());
}

/// A select over one receiver, completed.
fn select_recv<T>(receiver: &Receiver<T>) -> Result<T, RecvError> {
    let mut select = Select::new();
    let index = select.recv(receiver);
    let selected = select.select();
    assert_eq!(selected.index(), index);
    selected.recv(receiver)
}

/// A select over one sender, completed.
fn select_send<T>(sender: &Sender<T>, message: T) -> Result<(), SendError<T>> {
    let mut select = Select::new();
    let index = select.send(sender);
    let selected = select.select();
    assert_eq!(selected.index(), index);
    selected.send(sender, message)
}

fn nothing_ready(flavour: Flavour) {
    let (sender, receiver) = flavour.pair::<u8>();
    let mut select = Select::new();
    select.recv(&receiver);
    if flavour.is_rendezvous() {
        select.send(&sender);
    }
    assert!(matches!(select.try_select(), Err(TrySelectError)));
    assert_eq!(select.try_ready(), Err(TryReadyError));
    let start = Instant::now();
    assert!(matches!(
        select.select_timeout(ms(20)),
        Err(SelectTimeoutError)
    ));
    assert!(start.elapsed() >= ms(20));
    let start = Instant::now();
    assert_eq!(select.ready_timeout(ms(20)), Err(ReadyTimeoutError));
    assert!(start.elapsed() >= ms(20));
    let start = Instant::now();
    assert!(select.select_deadline(start + ms(10)).is_err());
    assert!(start.elapsed() >= ms(10));
    assert_eq!(select.ready_deadline(start), Err(ReadyTimeoutError));
    assert!(select.select_deadline(start).is_err());
    assert!(select.select_timeout(Duration::ZERO).is_err());
    assert_eq!(select.ready_timeout(Duration::ZERO), Err(ReadyTimeoutError));
}

fn a_disconnected_receive_is_ready(flavour: Flavour) {
    let (sender, receiver) = flavour.pair::<u8>();
    drop(sender);
    let mut select = Select::new();
    let index = select.recv(&receiver);
    assert_eq!(select.try_ready(), Ok(index));
    assert_eq!(select.ready(), index);
    assert_eq!(select.ready_timeout(LONG), Ok(index));
    for _ in 0..3 {
        assert_eq!(select.try_select().unwrap().recv(&receiver), Err(RecvError));
        assert_eq!(select.select().recv(&receiver), Err(RecvError));
        assert_eq!(
            select.select_timeout(LONG).unwrap().recv(&receiver),
            Err(RecvError)
        );
        assert_eq!(
            select
                .select_deadline(Instant::now())
                .unwrap()
                .recv(&receiver),
            Err(RecvError)
        );
    }
}

fn a_disconnected_send_is_ready(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    fill(flavour, &sender, || 0);
    drop(receiver);
    let mut select = Select::new();
    let index = select.send(&sender);
    assert_eq!(select.try_ready(), Ok(index));
    assert_eq!(select.ready(), index);
    for message in 1..4 {
        assert_eq!(
            select.try_select().unwrap().send(&sender, message),
            Err(SendError(message))
        );
        assert_eq!(
            select.select().send(&sender, message),
            Err(SendError(message))
        );
    }
}

fn a_message_makes_a_receive_ready(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let (_other_sender, other_receiver) = flavour.pair::<u8>();
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..6 {
                sender.send(number).unwrap();
            }
        });
        let mut select = Select::new();
        select.recv(&other_receiver);
        let index = select.recv(&receiver);
        for number in 0..6 {
            let selected = match number % 3 {
                0 => select.select(),
                1 => select.select_timeout(LONG).unwrap(),
                _ => loop {
                    if let Ok(selected) = select.try_select() {
                        break selected;
                    }
                    thread::yield_now();
                },
            };
            assert_eq!(selected.index(), index);
            assert_eq!(selected.recv(&receiver), Ok(number));
        }
    });
}

fn room_makes_a_send_ready(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    if !flavour.is_rendezvous() {
        let mut select = Select::new();
        let index = select.send(&sender);
        assert_eq!(select.try_ready(), Ok(index));
        for number in 0..flavour.room() {
            let selected = select.try_select().unwrap();
            assert_eq!(selected.index(), index);
            assert_eq!(selected.send(&sender, number), Ok(()));
        }
        if flavour.capacity().is_some() {
            assert!(select.try_select().is_err());
            assert!(select.try_ready().is_err());
        }
        assert!(receiver.try_iter().eq(0..flavour.room()));
        return;
    }
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(receiver.recv(), Ok(5)));
        let mut select = Select::new();
        let index = select.send(&sender);
        until(|| select.try_ready() == Ok(index));
        select.select().send(&sender, 5).unwrap();
    });
}

/// Runs `waits` on a thread, checks that it does wait, then runs `ends` and waits for its end.
fn waits_until(waits: impl FnOnce() + Send, ends: impl FnOnce()) {
    let (done, is_done) = bounded::<()>(1);
    thread::scope(|scope| {
        scope.spawn(|| {
            waits();
            done.send(()).unwrap();
        });
        assert_eq!(is_done.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
        ends();
        assert_eq!(is_done.recv_timeout(LONG), Ok(()));
    });
}

fn select_waits_for_a_message(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    waits_until(
        || assert_eq!(select_recv(&receiver), Ok(5)),
        || sender.send(5).unwrap(),
    );
}

fn select_waits_for_a_receiver(flavour: Flavour) {
    if flavour.capacity().is_none() {
        return;
    }
    let (sender, receiver) = flavour.pair();
    fill(flavour, &sender, || 0);
    waits_until(
        || assert_eq!(select_send(&sender, 5), Ok(())),
        || {
            for _ in 0..flavour.room() {
                assert_eq!(receiver.recv(), Ok(0));
            }
            assert_eq!(receiver.recv(), Ok(5));
        },
    );
}

fn select_learns_of_the_end(flavour: Flavour) {
    let (sender, receiver) = flavour.pair::<u8>();
    let (_keep, other) = flavour.pair::<u8>();
    waits_until(
        || {
            let mut select = Select::new();
            select.recv(&other);
            let index = select.recv(&receiver);
            let selected = select.select();
            assert_eq!(selected.index(), index);
            assert_eq!(selected.recv(&receiver), Err(RecvError));
        },
        || drop(sender),
    );
    if flavour.capacity().is_some() {
        let (sender, receiver) = flavour.pair();
        fill(flavour, &sender, || "filling".to_owned());
        waits_until(
            || {
                assert_eq!(
                    select_send(&sender, "kept".to_owned()),
                    Err(SendError("kept".to_owned()))
                )
            },
            || drop(receiver),
        );
    }
}

fn ready_waits_for_a_message(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    waits_until(
        || {
            let mut select = Select::new();
            let index = select.recv(&receiver);
            loop {
                assert_eq!(select.ready(), index);
                // Ready may be said too often: the operation itself decides.
                match receiver.try_recv() {
                    Ok(message) => break assert_eq!(message, 5),
                    Err(error) => assert_eq!(error, TryRecvError::Empty),
                }
            }
        },
        || sender.send(5).unwrap(),
    );
}

fn ready_waits_for_a_receiver(flavour: Flavour) {
    if flavour.capacity().is_none() {
        return;
    }
    let (sender, receiver) = flavour.pair();
    fill(flavour, &sender, || 0);
    waits_until(
        || {
            let mut select = Select::new();
            let index = select.send(&sender);
            loop {
                assert_eq!(select.ready_timeout(LONG), Ok(index));
                match sender.try_send(5) {
                    Ok(()) => break,
                    Err(error) => assert!(error.is_full()),
                }
            }
        },
        || {
            for _ in 0..flavour.room() {
                assert_eq!(receiver.recv(), Ok(0));
            }
            assert_eq!(receiver.recv(), Ok(5));
        },
    );
}

fn ready_learns_of_the_end(flavour: Flavour) {
    let (sender, receiver) = flavour.pair::<u8>();
    waits_until(
        || {
            let mut select = Select::new();
            select.recv(&receiver);
            loop {
                select.ready();
                match receiver.try_recv() {
                    Err(TryRecvError::Disconnected) => break,
                    other => assert_eq!(other, Err(TryRecvError::Empty)),
                }
            }
        },
        || drop(sender),
    );
}

fn a_select_that_timed_out_leaves_nothing_behind(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    for number in 0..50 {
        let mut select = Select::new();
        select.recv(&receiver);
        if flavour.is_rendezvous() {
            select.send(&sender);
        }
        assert!(select.select_timeout(Duration::from_micros(20)).is_err());
        assert!(select.ready_timeout(Duration::from_micros(20)).is_err());
        if flavour.is_rendezvous() {
            assert!(
                sender.try_send(1).is_err(),
                "met a receiver that had given up"
            );
            assert!(
                receiver.try_recv().is_err(),
                "met a sender that had given up"
            );
        }
        thread::scope(|scope| {
            scope.spawn(|| sender.send_timeout(number, LONG).unwrap());
            assert_eq!(receiver.recv_timeout(LONG), Ok(number));
        });
    }
}

fn a_won_select_leaves_nothing_behind_on_the_others(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let (other_sender, other_receiver) = flavour.pair();
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..200 {
                sender.send(number).unwrap();
                // The select has won with the message above; what comes on the other is still for the receiver below.
                other_sender.send(number).unwrap();
            }
        });
        for number in 0..200 {
            let mut select = Select::new();
            let index = select.recv(&receiver);
            select.recv(&other_receiver);
            // The other cannot come before this one.
            let selected = select.select();
            if selected.index() == index {
                assert_eq!(selected.recv(&receiver), Ok(number));
                assert_eq!(other_receiver.recv(), Ok(number));
            } else {
                assert_eq!(selected.recv(&other_receiver), Ok(number));
                assert_eq!(receiver.recv(), Ok(number));
            }
        }
    });
}

fn the_same_receiver_many_times(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let count = 3_000;
    thread::scope(|scope| {
        scope.spawn(|| (0..count).for_each(|number| sender.send(number).unwrap()));
        let mut select = Select::new();
        for expected in 0..4 {
            assert_eq!(select.recv(&receiver), expected);
        }
        for number in 0..count {
            let selected = select.select();
            assert!(selected.index() < 4);
            assert_eq!(selected.recv(&receiver), Ok(number));
        }
        assert!(select.try_select().is_err());
    });
    // And one sender several times.
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut select = Select::new();
            (0..3).for_each(|_| _ = select.send(&sender));
            (0..count).for_each(|number| select.select().send(&sender, number).unwrap());
        });
        (0..count).for_each(|number| assert_eq!(receiver.recv(), Ok(number)));
    });
}

fn sending_and_receiving_on_one_channel_at_once(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    if flavour.is_rendezvous() {
        // Alone, a thread cannot meet itself.
        let mut select = Select::new();
        select.send(&sender);
        select.recv(&receiver);
        assert!(select.try_select().is_err());
        assert!(select.select_timeout(SHORT).is_err());
    }
    // Two threads do the same: each operation has its counterpart, on the other thread if it is a rendezvous.
    let (sent, received) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (sum_sent, sum_received) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let rounds = 2_000;
    thread::scope(|scope| {
        for me in 0..2 {
            let (sender, receiver) = (&sender, &receiver);
            let (sent, received, sum_sent, sum_received) =
                (&sent, &received, &sum_sent, &sum_received);
            scope.spawn(move || {
                for round in 0..rounds {
                    let mut select = Select::new();
                    let send = select.send(sender);
                    select.recv(receiver);
                    // With an odd operation at the end nobody may be left to meet.
                    let Ok(selected) = select.select_timeout(ms(200)) else {
                        break;
                    };
                    if selected.index() == send {
                        let message = me * rounds + round;
                        selected.send(sender, message).unwrap();
                        sent.fetch_add(1, Ordering::SeqCst);
                        sum_sent.fetch_add(message, Ordering::SeqCst);
                    } else {
                        let message = selected.recv(receiver).unwrap();
                        if flavour.is_rendezvous() {
                            assert_eq!(message / rounds, 1 - me, "a thread met itself");
                        }
                        received.fetch_add(1, Ordering::SeqCst);
                        sum_received.fetch_add(message, Ordering::SeqCst);
                    }
                }
            });
        }
    });
    for message in receiver.try_iter() {
        received.fetch_add(1, Ordering::SeqCst);
        sum_received.fetch_add(message, Ordering::SeqCst);
    }
    assert_eq!(sent.into_inner(), received.into_inner());
    assert_eq!(sum_sent.into_inner(), sum_received.into_inner());
}

fn a_select_is_used_again(flavour: Flavour) {
    let (first_sender, first) = flavour.pair();
    let (second_sender, second) = flavour.pair();
    let count = 500;
    thread::scope(|scope| {
        scope.spawn(|| (0..count).for_each(|number| first_sender.send(number).unwrap()));
        scope.spawn(|| (0..count).for_each(|number| second_sender.send(number).unwrap()));
        let mut select = Select::new();
        select.recv(&first);
        select.recv(&second);
        let mut next = [0, 0];
        for _ in 0..2 * count {
            let selected = select.select();
            let index = selected.index();
            assert_eq!(selected.recv([&first, &second][index]), Ok(next[index]));
            next[index] += 1;
        }
        assert_eq!(next, [count, count]);
        assert!(select.try_select().is_err());
    });
}

fn what_is_not_selected_is_not_touched(flavour: Flavour) {
    if flavour.is_rendezvous() {
        return;
    }
    let channels: Vec<_> = (0..5).map(|_| flavour.pair()).collect();
    for (number, (sender, _)) in channels.iter().enumerate() {
        sender.send(number).unwrap();
    }
    for left in (0..5).rev() {
        let mut select = Select::new();
        for (_, receiver) in &channels {
            select.recv(receiver);
        }
        let selected = select.select();
        let index = selected.index();
        assert_eq!(selected.recv(&channels[index].1), Ok(index));
        assert_eq!(
            channels
                .iter()
                .map(|(_, receiver)| receiver.len())
                .sum::<usize>(),
            left
        );
    }
}

fn a_selected_send_carries_borrowed_and_boxed_messages(flavour: Flavour) {
    let text = String::from("borrowed");
    let (sender, receiver) = flavour.pair::<(&str, Box<[usize; 100]>)>();
    thread::scope(|scope| {
        scope.spawn(|| select_send(&sender, (&text, Box::new([7; 100]))).unwrap());
        let (word, numbers) = select_recv(&receiver).unwrap();
        assert_eq!((word, numbers[99]), ("borrowed", 7));
    });
}
