//! Order and exactness under concurrency: FIFO, each message once, `len` and the `try_` forms consistent.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tamtam_channel::{TryRecvError, bounded};

use crate::support::{Flavour, Random, for_every_flavour, until};

for_every_flavour!(
    one_sender_one_receiver_in_order,
    first_in_first_out_over_all_senders,
    first_in_first_out_between_threads,
    four_senders_four_receivers_each_message_once_in_order,
    two_way_traffic,
    a_completed_send_is_seen_by_try_recv,
    a_completed_receive_is_seen_by_try_send,
    len_stays_between_what_is_certain_and_what_is_possible,
    the_end_comes_after_the_last_message,
    unread_and_received_add_up_when_the_receiver_goes_early,
);

/// Enough to wrap rings and cross blocks many times, few enough for one loaded core.
const COUNT: usize = 10_000;

fn one_sender_one_receiver_in_order(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    thread::scope(|scope| {
        scope.spawn(move || (0..COUNT).for_each(|number| sender.send(number).unwrap()));
        for number in 0..COUNT {
            assert_eq!(receiver.recv(), Ok(number));
        }
        assert!(receiver.recv().is_err());
    });
}

fn first_in_first_out_over_all_senders(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let senders: Vec<_> = (0..7).map(|_| sender.clone()).collect();
    let mut random = Random::new(3);
    let (mut next_sent, mut next_received) = (0, 0);
    for _ in 0..2_000 {
        if next_sent - next_received < flavour.room() && random.below(5) < 3 {
            senders[random.below(7) as usize].send(next_sent).unwrap();
            next_sent += 1;
        } else if next_received < next_sent {
            assert_eq!(receiver.recv(), Ok(next_received));
            next_received += 1;
        }
    }
    assert!(receiver.try_iter().eq(next_received..next_sent));
}

fn first_in_first_out_between_threads(flavour: Flavour) {
    if flavour.is_rendezvous() {
        return;
    }
    // A token goes around: the next thread sends only after the send before it has returned.
    let (sender, receiver) = flavour.pair();
    let turn = AtomicUsize::new(0);
    let rounds = 300;
    thread::scope(|scope| {
        for me in 0..3 {
            let (sender, turn) = (sender.clone(), &turn);
            scope.spawn(move || {
                for round in 0..rounds {
                    let my_turn = round * 3 + me;
                    until(|| turn.load(Ordering::Acquire) == my_turn);
                    sender.send(my_turn).unwrap();
                    turn.store(my_turn + 1, Ordering::Release);
                }
            });
        }
        for number in 0..rounds * 3 {
            assert_eq!(receiver.recv(), Ok(number));
        }
    });
}

fn four_senders_four_receivers_each_message_once_in_order(flavour: Flavour) {
    let (sender, receiver) = flavour.pair::<(usize, usize)>();
    let per_sender = COUNT / 4;
    let received: Vec<Vec<(usize, usize)>> = thread::scope(|scope| {
        for me in 0..4 {
            let sender = sender.clone();
            scope.spawn(move || {
                (0..per_sender).for_each(|number| sender.send((me, number)).unwrap())
            });
        }
        drop(sender);
        let takers: Vec<_> = (0..4)
            .map(|_| {
                let receiver = receiver.clone();
                scope.spawn(move || receiver.iter().collect())
            })
            .collect();
        takers
            .into_iter()
            .map(|taker| taker.join().unwrap())
            .collect()
    });
    let mut seen = vec![vec![false; per_sender]; 4];
    for of_one_receiver in received {
        let mut last = [None; 4];
        for (from, number) in of_one_receiver {
            assert!(
                last[from] < Some(number),
                "sender {from}: {number} after {:?}",
                last[from]
            );
            last[from] = Some(number);
            assert!(
                !std::mem::replace(&mut seen[from][number], true),
                "twice: {number} of {from}"
            );
        }
    }
    assert!(
        seen.into_iter().flatten().all(|seen| seen),
        "a message was lost"
    );
}

fn two_way_traffic(flavour: Flavour) {
    let (ask, asked) = flavour.pair::<usize>();
    let (answer, answered) = flavour.pair();
    thread::scope(|scope| {
        scope.spawn(move || {
            for number in asked {
                answer.send(number * 2).unwrap();
            }
        });
        for number in 0..2_000 {
            ask.send(number).unwrap();
            assert_eq!(answered.recv(), Ok(number * 2));
        }
        drop(ask);
    });
}

fn a_completed_send_is_seen_by_try_recv(flavour: Flavour) {
    if flavour.is_rendezvous() {
        return;
    }
    // Two senders, one receiver: when more sends have returned than were received, `Empty` is a lie,
    // also while the other sender is in the midst of its send.
    let (sender, receiver) = flavour.pair();
    let completed = AtomicUsize::new(0);
    let per_sender = 3_000;
    thread::scope(|scope| {
        for _ in 0..2 {
            let (sender, completed) = (&sender, &completed);
            scope.spawn(move || {
                for number in 0..per_sender {
                    sender.send(number).unwrap();
                    completed.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let mut received = 0;
        while received < 2 * per_sender {
            let certain = completed.load(Ordering::SeqCst) > received;
            match receiver.try_recv() {
                Ok(_) => received += 1,
                Err(TryRecvError::Empty) if !certain => thread::yield_now(),
                Err(error) => panic!("{error:?} though a send had completed"),
            }
        }
    });
}

fn a_completed_receive_is_seen_by_try_send(flavour: Flavour) {
    let Some(capacity @ 1..) = flavour.capacity() else {
        return;
    };
    let (sender, receiver) = flavour.pair();
    let completed = AtomicUsize::new(0);
    let count = 5_000;
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..count {
                assert_eq!(receiver.recv(), Ok(number));
                completed.fetch_add(1, Ordering::SeqCst);
            }
        });
        let mut sent = 0;
        while sent < count {
            let certain = sent - completed.load(Ordering::SeqCst) < capacity;
            match sender.try_send(sent) {
                Ok(()) => sent += 1,
                Err(error) if error.is_full() && !certain => thread::yield_now(),
                Err(error) => panic!("{error:?} though a receive had completed"),
            }
        }
    });
}

fn len_stays_between_what_is_certain_and_what_is_possible(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let [send_begun, send_done, receive_begun, receive_done] = [const { AtomicUsize::new(0) }; 4];
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..COUNT / 2 {
                send_begun.fetch_add(1, Ordering::SeqCst);
                sender.send(number).unwrap();
                send_done.fetch_add(1, Ordering::SeqCst);
            }
        });
        scope.spawn(|| {
            for number in 0..COUNT / 2 {
                receive_begun.fetch_add(1, Ordering::SeqCst);
                assert_eq!(receiver.recv(), Ok(number));
                receive_done.fetch_add(1, Ordering::SeqCst);
            }
        });
        while receive_done.load(Ordering::SeqCst) < COUNT / 2 {
            let (sent_before, received_before) = (
                send_done.load(Ordering::SeqCst),
                receive_done.load(Ordering::SeqCst),
            );
            let len = sender.len();
            let (sent_after, received_after) = (
                send_begun.load(Ordering::SeqCst),
                receive_begun.load(Ordering::SeqCst),
            );
            assert!(
                len <= flavour.capacity().unwrap_or(usize::MAX),
                "len {len} above the capacity"
            );
            if !flavour.is_rendezvous() {
                assert!(
                    len >= sent_before.saturating_sub(received_after),
                    "len {len} too small"
                );
            }
            assert!(len <= sent_after - received_before, "len {len} too large");
            thread::yield_now();
        }
    });
    assert_eq!((sender.len(), receiver.len()), (0, 0));
}

fn the_end_comes_after_the_last_message(flavour: Flavour) {
    // The sender goes at once after its last send; nobody may see the end before the message.
    for number in 0..300 {
        let (sender, receiver) = flavour.pair();
        thread::scope(|scope| {
            scope.spawn(move || {
                sender.send(number).unwrap();
                drop(sender);
            });
            if number % 2 == 0 {
                assert_eq!(receiver.recv(), Ok(number));
            } else {
                let mut received = Err(TryRecvError::Empty);
                until(|| {
                    received = receiver.try_recv();
                    received != Err(TryRecvError::Empty)
                });
                assert_eq!(received, Ok(number));
            }
            assert!(receiver.recv().is_err());
        });
    }
}

fn unread_and_received_add_up_when_the_receiver_goes_early(flavour: Flavour) {
    for round in 0..50 {
        let (sender, receiver) = flavour.pair();
        let (report, reported) = bounded(1);
        thread::scope(|scope| {
            scope.spawn(move || {
                let accepted = (0..500)
                    .take_while(|number| sender.send(*number).is_ok())
                    .count();
                report.send(accepted).unwrap();
            });
            let received = receiver.iter().take(round * 7).count();
            drop(receiver);
            let accepted = reported.recv().unwrap();
            assert!(accepted >= received);
            if let Some(capacity) = flavour.capacity() {
                assert!(
                    accepted <= received + capacity,
                    "{accepted} accepted, {received} received"
                );
            }
        });
    }
}
