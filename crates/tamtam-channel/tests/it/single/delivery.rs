use std::thread;
use std::time::{Duration, Instant};

use tamtam_channel::{RecvTimeoutError, SendTimeoutError, TryRecvError, TrySendError, mpsc, spsc};

use super::{block_on, for_each_kind};

for_each_kind! {
    fn messages_arrive_in_order(open) {
        let (sender, receiver) = open!(7);
        let sends = thread::spawn(move || (0..10_000).for_each(|number| sender.send(number).unwrap()));
        for number in 0..10_000 {
            assert_eq!(receiver.recv(), Ok(number));
        }
        assert!(receiver.recv().is_err());
        sends.join().unwrap();
    }

    fn messages_without_a_size_are_counted(open) {
        let (sender, receiver) = open!(1000);
        for _ in 0..1000 {
            sender.send(()).unwrap();
        }
        assert_eq!(receiver.len(), 1000);
        drop(sender);
        assert_eq!(receiver.iter().count(), 1000);
    }

    fn large_and_aligned_messages(open) {
        #[repr(align(256))]
        #[derive(Clone, PartialEq, Debug)]
        struct Large([u64; 500]);
        let (sender, receiver) = open!(50);
        for number in 0..50 {
            sender.send(Large([number; 500])).unwrap();
        }
        for number in 0..50 {
            let large = receiver.recv().unwrap();
            assert_eq!(large, Large([number; 500]));
            assert_eq!(std::ptr::from_ref(&large).addr() % 256, 0);
        }
    }

    fn an_empty_channel_says_so(open) {
        let (sender, receiver) = open!(1);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        assert!(receiver.is_empty() && sender.is_empty() && !receiver.is_closed());
        let patience = Duration::from_millis(5);
        let start = Instant::now();
        assert_eq!(receiver.recv_timeout(patience), Err(RecvTimeoutError::Timeout));
        assert_eq!(receiver.recv_deadline(start), Err(RecvTimeoutError::Timeout));
        assert!(start.elapsed() >= patience);
        sender.send(1).unwrap();
        assert_eq!((sender.len(), receiver.len()), (1, 1));
        assert_eq!(receiver.recv_timeout(patience), Ok(1));
        drop(sender);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        assert_eq!(receiver.recv_timeout(patience), Err(RecvTimeoutError::Disconnected));
    }

    fn ends_may_move_between_threads_in_the_middle(open) {
        let (sender, receiver) = open!(600);
        let (sender, receiver) = thread::spawn(move || {
            (0..300).for_each(|number| sender.send(number).unwrap());
            (sender, receiver)
        }).join().unwrap();
        (300..600).for_each(|number| sender.send(number).unwrap());
        drop(sender);
        assert!(receiver.into_iter().eq(0..600));
    }

    fn a_stream_starts_and_stops_many_times(open) {
        // So that senders and receiver want attention and stop wanting it, over and over.
        let (sender, receiver) = open!(64);
        let (back, returned) = spsc::bounded(1);
        let worker = thread::spawn(move || {
            for burst in 0..30 {
                (0..5000).for_each(|number| sender.send((burst, number)).unwrap());
                returned.recv().unwrap();
            }
        });
        for burst in 0..30 {
            (0..5000).for_each(|number| assert_eq!(receiver.recv(), Ok((burst, number))));
            back.send(()).unwrap();
        }
        worker.join().unwrap();
    }
}

#[test]
fn a_full_lane_refuses_and_waits() {
    let (sender, receiver) = spsc::bounded(2);
    assert_eq!(sender.capacity(), Some(2));
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    assert!(sender.is_full());
    assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
    assert_eq!(
        sender.send_timeout(3, Duration::from_millis(5)),
        Err(SendTimeoutError::Timeout(3))
    );
    let sends = thread::spawn(move || sender.send(3));
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(sends.join().unwrap(), Ok(()));
}

#[test]
fn a_sender_of_a_large_lane_goes_on_when_its_receiver_waits_for_that() {
    // A large lane's sender likes to wait until there is much room; a receiver that makes room for one message and
    // then waits for what the sender does next must not wait for ever.
    let (sender, receiver) = spsc::bounded(10_000);
    sender.send_many(0..10_000).unwrap();
    let (sent, has_sent) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for number in 10_000..10_020 {
            sender.send(number).unwrap();
            sent.send(()).unwrap();
        }
    });
    for number in 0..20 {
        assert_eq!(receiver.recv(), Ok(number));
        has_sent.recv().unwrap();
    }
    assert!(receiver.iter().eq(20..10_020));
}

#[test]
fn capacity_is_exact() {
    for capacity in [1, 2, 3, 127, 128, 129, 1000] {
        let (sender, receiver) = spsc::bounded(capacity);
        for round in 0..3 {
            let sent = (0..).take_while(|_| sender.try_send(round).is_ok()).count();
            assert_eq!(sent, capacity);
            assert_eq!(receiver.try_iter().count(), capacity);
        }
    }
}

#[test]
fn each_sender_has_its_own_room() {
    let (sender, receiver) = mpsc::bounded(2);
    let other = sender.clone();
    for sender in [&sender, &other] {
        sender.send(0).unwrap();
        sender.send(0).unwrap();
        assert!(sender.try_send(0).is_err());
    }
    assert_eq!(receiver.len(), 4);
    assert_eq!(receiver.drain().count(), 4);
}

#[test]
fn every_sender_gets_its_turn() {
    let (sender, receiver) = mpsc::unbounded();
    let others: Vec<_> = (1..4).map(|_| sender.clone()).collect();
    for (name, sender) in std::iter::once(&sender).chain(&others).enumerate() {
        sender.send_many(std::iter::repeat_n(name, 1000)).unwrap();
    }
    // Long before the first sender's messages are all out, the others' have begun.
    let first: Vec<_> = receiver.drain().take(1100).collect();
    for name in 0..4 {
        assert!(first.contains(&name));
    }
}

#[test]
fn lanes_come_and_go() {
    let (sender, receiver) = mpsc::unbounded();
    let mut sum = 0;
    for round in 0..1000 {
        let other = sender.clone();
        other.send(round).unwrap();
        drop(other);
        sum += receiver.recv().unwrap();
    }
    assert_eq!(sum, 499_500);
    drop(sender);
    assert!(receiver.recv().is_err());
}

/// A lane that was opened while the receiver gave up all others was not found by it: it looked into none.
#[test]
fn a_relay_of_senders_is_received_to_its_end() {
    let handovers = if cfg!(miri) { 50 } else { 5_000 };
    let (sender, receiver) = mpsc::unbounded();
    let sends = thread::spawn(move || {
        let mut pair = (sender.clone(), sender);
        for number in 0..handovers {
            pair.0.send(number).unwrap();
            pair = (pair.1.clone(), pair.1.clone());
        }
    });
    let mut received = 0;
    while let Ok(number) = receiver.recv() {
        assert!(number < handovers);
        received += 1;
    }
    assert_eq!(received, handovers);
    sends.join().unwrap();
}

#[test]
fn the_last_sender_may_be_any() {
    let (sender, receiver) = mpsc::unbounded();
    let other = sender.clone();
    drop(sender);
    let third = other.clone();
    drop(other);
    third.send("still there").unwrap();
    assert_eq!(receiver.recv(), Ok("still there"));
    let waits = thread::spawn(move || receiver.recv());
    drop(third);
    assert!(waits.join().unwrap().is_err());
}

/// One sender has sent much before the other one sends: its message comes behind 256 of the first at most, however they are received.
#[test]
fn a_sender_waits_for_no_more_than_a_turn_of_another_one() {
    type Receive = fn(&mut mpsc::Receiver<bool>, &mut Vec<bool>, usize);
    let receives: [(&str, Receive); 4] = [
        ("recv", |receiver, all, _| {
            all.push(receiver.recv().unwrap())
        }),
        ("try_recv_many", |receiver, all, limit| {
            receiver.try_recv_many(all, limit).unwrap();
        }),
        ("recv_many", |receiver, all, limit| {
            receiver.recv_many(all, limit).unwrap();
        }),
        ("recv_many_async", |receiver, all, limit| {
            block_on(receiver.recv_many_async(all, limit)).unwrap();
        }),
    ];
    for (name, receive) in receives {
        for limit in [1, 100, 256, 300, 10_000] {
            for begins_with_other in [false, true] {
                let (first, mut receiver) = mpsc::unbounded();
                let other = first.clone();
                // The turn of the one or of the other when much is there.
                let mut senders = [&first, &other];
                if begins_with_other {
                    senders.reverse();
                }
                for sender in senders {
                    sender.send(false).unwrap();
                    receiver.recv().unwrap();
                }
                (0..20_000).for_each(|_| first.send(false).unwrap());
                other.send(true).unwrap();
                let mut all = Vec::new();
                while !all.contains(&true) {
                    receive(&mut receiver, &mut all, limit);
                }
                let before = all.iter().position(|&is_of_other| is_of_other).unwrap();
                assert!(before <= 256, "{name}, at most {limit}: behind {before}");
            }
        }
    }
}
