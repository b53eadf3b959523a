//! Tasks beside the verbs that bring or take several messages at once, keep room, drop what is too much, or close.

use tamtam_channel::{Builder, Overflow, ReserveTimeoutError, bounded, unbounded};

use crate::asynchronous::hand::{Hand, wakes};
use crate::support::{Flavour, ms, within_limit};

#[test]
fn a_batch_wakes_a_task_that_waits_alone() {
    for flavour in [
        Flavour::Bounded(3),
        Flavour::Bounded(100),
        Flavour::Unbounded,
    ] {
        let (sender, receiver) = flavour.pair();
        let hand = Hand::new();
        let mut future = receiver.recv_async();
        hand.pends(&mut future);
        assert_eq!(sender.send_many([1, 2]), Ok(2));
        assert_eq!(hand.wakes(), 1, "{flavour:?}");
        assert_eq!(hand.ready(&mut future), Ok(1));
        assert_eq!(receiver.try_recv(), Ok(2));
    }
}

#[test]
fn a_batch_wakes_a_task_for_each_message() {
    for flavour in [Flavour::Bounded(100), Flavour::Unbounded] {
        let (sender, receiver) = flavour.pair();
        let hands = Hand::several::<5>();
        let mut futures = [(); 5].map(|()| receiver.recv_async());
        for (hand, future) in hands.iter().zip(&mut futures) {
            hand.pends(future);
        }
        assert_eq!(sender.send_many(0..3), Ok(3));
        assert_eq!(wakes(&hands), [1, 1, 1, 0, 0], "{flavour:?}");
        for number in 0..3 {
            assert_eq!(hands[number].ready(&mut futures[number]), Ok(number));
        }
        assert_eq!(sender.send_many(3..5), Ok(2));
        assert_eq!(wakes(&hands), [1; 5]);
    }
}

#[test]
fn taking_a_batch_wakes_a_sender_for_each_place() {
    let (sender, receiver) = bounded(3);
    sender.send_many(0..3).unwrap();
    let hands = Hand::several::<4>();
    let mut sends = [3, 4, 5, 6].map(|number| sender.send_async(number));
    for (hand, send) in hands.iter().zip(&mut sends) {
        hand.pends(send);
    }
    let mut batch = Vec::new();
    assert_eq!(receiver.recv_many(&mut batch, 3), Ok(3));
    // The first one is not polled on: the others do not wait for it.
    for number in [1, 2] {
        assert_eq!(
            hands[number].wakes(),
            1,
            "it waits for one that may never come"
        );
        hands[number].ready(&mut sends[number]).unwrap();
    }
    hands[0].ready(&mut sends[0]).unwrap();
    hands[3].pends(&mut sends[3]);
    assert_eq!(receiver.drain().collect::<Vec<_>>(), [4, 5, 3]);
    assert!(hands[3].wakes() >= 1);
    hands[3].ready(&mut sends[3]).unwrap();
    assert_eq!(batch, [0, 1, 2]);
}

#[test]
fn room_that_is_given_back_wakes_a_task() {
    let (sender, receiver) = bounded(1);
    let permit = sender.try_reserve().unwrap();
    let hands = Hand::several::<2>();
    let mut reserve = sender.reserve_async();
    let mut send = sender.send_async(2);
    hands[0].pends(&mut reserve);
    hands[1].pends(&mut send);
    drop(permit);
    assert_eq!(wakes(&hands), [1, 0]);
    let permit = hands[0].ready(&mut reserve).unwrap();
    permit.send(1).unwrap();
    assert_eq!(receiver.recv(), Ok(1));
    assert_eq!(wakes(&hands), [1, 1]);
    hands[1].ready(&mut send).unwrap();
    assert_eq!(receiver.recv(), Ok(2));
}

#[test]
fn room_for_one_that_is_gone_goes_to_the_next() {
    let (sender, receiver) = bounded(1);
    sender.send(0).unwrap();
    let hands = Hand::several::<3>();
    let mut gone = sender.reserve_async();
    let mut next = sender.reserve_async();
    let mut send = sender.send_async(2);
    hands[0].pends(&mut gone);
    hands[1].pends(&mut next);
    hands[2].pends(&mut send);
    receiver.recv().unwrap();
    drop(gone);
    assert_eq!(wakes(&hands), [1, 1, 0]);
    // Kept and given back unused.
    drop(hands[1].ready(&mut next).unwrap());
    assert_eq!(wakes(&hands), [1, 1, 1]);
    hands[2].ready(&mut send).unwrap();
    assert_eq!(receiver.recv(), Ok(2));
}

#[test]
#[cfg(not(miri))]
fn waiting_for_room_ends_in_time() {
    let (sender, receiver) = bounded(1);
    sender.send(0).unwrap();
    let late = futures::executor::block_on(sender.reserve_timeout_async(ms(2)));
    assert_eq!(late.err(), Some(ReserveTimeoutError::Timeout));
    receiver.recv().unwrap();
    assert!(sender.try_reserve().is_ok());
}

#[test]
fn a_channel_that_drops_wakes_its_receiver_and_never_waits() {
    for overflow in [Overflow::DropNewest, Overflow::DropOldest] {
        let (sender, receiver) = Builder::new().capacity(2).overflow(overflow).build();
        let hand = Hand::new();
        let mut future = receiver.recv_async();
        hand.pends(&mut future);
        for number in 0..5 {
            hand.ready(&mut sender.send_async(number)).unwrap();
        }
        assert!(hand.wakes() >= 1, "{overflow:?}");
        let first = if overflow == Overflow::DropNewest {
            0
        } else {
            3
        };
        assert_eq!(hand.ready(&mut future), Ok(first));
        assert_eq!(receiver.len(), 1);
        assert_eq!(sender.dropped(), 3);
    }
}

#[test]
fn closing_wakes_the_tasks_of_both_sides() {
    for by_sender in [false, true] {
        for flavour in Flavour::ALL {
            let (sender, receiver) = flavour.pair::<usize>();
            let close = || {
                if by_sender {
                    sender.close()
                } else {
                    receiver.close()
                }
            };
            let hands = Hand::several::<2>();
            if flavour == Flavour::Bounded(0) || flavour == Flavour::Bounded(1) {
                (0..flavour.room()).for_each(|number| sender.send(number).unwrap());
                let mut sends = [sender.send_async(7), sender.send_async(8)];
                hands[0].pends(&mut sends[0]);
                hands[1].pends(&mut sends[1]);
                assert!(close());
                assert_eq!(wakes(&hands), [1, 1]);
                for (hand, send) in hands.iter().zip(&mut sends) {
                    assert!(hand.ready(send).is_err());
                }
                assert_eq!(receiver.try_iter().count(), flavour.room());
            } else {
                let mut receives = [receiver.recv_async(), receiver.recv_async()];
                hands[0].pends(&mut receives[0]);
                hands[1].pends(&mut receives[1]);
                assert!(close());
                assert_eq!(wakes(&hands), [1, 1], "{flavour:?}");
                for (hand, receive) in hands.iter().zip(&mut receives) {
                    assert!(hand.ready(receive).is_err());
                }
            }
        }
    }
}

/// The waker of a task that waits alone, and then one that waits in line, when a weak sender is all that is left.
#[test]
fn a_weak_sender_does_not_keep_a_task_waiting() {
    let (sender, receiver) = unbounded::<u8>();
    let weak = sender.downgrade();
    let hands = Hand::several::<2>();
    let mut receives = [receiver.recv_async(), receiver.recv_async()];
    hands[0].pends(&mut receives[0]);
    hands[1].pends(&mut receives[1]);
    drop(sender);
    assert_eq!(wakes(&hands), [1, 1]);
    assert!(hands[0].ready(&mut receives[0]).is_err());
    assert!(hands[1].ready(&mut receives[1]).is_err());
    assert!(weak.upgrade().is_none());
}

#[test]
fn a_task_receives_many_and_a_cancelled_one_takes_none() {
    for flavour in Flavour::ALL {
        let (sender, receiver) = flavour.pair();
        let hand = Hand::new();
        let mut buffer = vec![0];
        assert_eq!(
            hand.ready(&mut receiver.recv_many_async(&mut buffer, 0)),
            Ok(0)
        );
        let mut future = receiver.recv_many_async(&mut buffer, 3);
        hand.pends(&mut future);
        if flavour.is_rendezvous() {
            sender.try_send(1).unwrap();
        } else {
            assert!(sender.send_many(1..=flavour.room().min(4)).is_ok());
        }
        assert_eq!(hand.wakes(), 1, "{flavour:?}");
        // Woken, and gone before it was polled.
        drop(future);
        assert_eq!(buffer, [0]);
        let there = flavour.room().clamp(1, 4);
        let taken = hand.ready(&mut receiver.recv_many_async(&mut buffer, 3));
        assert_eq!(taken, Ok(there.min(3)), "{flavour:?}");
        assert!(buffer.iter().copied().eq(0..=there.min(3)));
        _ = receiver.try_recv();

        let mut future = receiver.recv_many_async(&mut buffer, 3);
        hand.pends(&mut future);
        sender.try_send(9).unwrap();
        assert_eq!(hand.ready(&mut future), Ok(1));
        drop(future);
        assert_eq!(buffer.last(), Some(&9));
        let timed = receiver.recv_timeout_many_async(&mut buffer, 3, ms(1));
        assert!(futures::executor::block_on(timed).unwrap_err().is_timeout());
        let mut future = receiver.recv_many_async(&mut buffer, 3);
        hand.pends(&mut future);
        drop(sender);
        assert!(hand.ready(&mut future).is_err());
    }
}

#[test]
fn a_task_receives_many_from_lanes() {
    within_limit(|| {
        use tamtam_channel::{mpsc, spsc};

        let hand = Hand::new();
        let (sender, mut receiver) = spsc::bounded(8);
        let mut buffer = Vec::new();
        let mut future = receiver.recv_many_async(&mut buffer, 3);
        hand.pends(&mut future);
        sender.send_many(0..5).unwrap();
        drop(future);
        assert_eq!(
            hand.ready(&mut receiver.recv_many_async(&mut buffer, 3)),
            Ok(3)
        );
        assert_eq!(
            hand.ready(&mut receiver.recv_many_async(&mut buffer, 3)),
            Ok(2)
        );
        assert_eq!(buffer, [0, 1, 2, 3, 4]);
        drop(sender);
        assert!(
            hand.ready(&mut receiver.recv_many_async(&mut buffer, 3))
                .is_err()
        );

        let (sender, mut receiver) = mpsc::unbounded();
        let other = sender.clone();
        let mut buffer = Vec::new();
        let mut future = receiver.recv_many_async(&mut buffer, 100);
        hand.pends(&mut future);
        sender.send(1).unwrap();
        other.send(1).unwrap();
        let mut taken = hand.ready(&mut future).unwrap();
        drop(future);
        while taken < 2 {
            taken += hand
                .ready(&mut receiver.recv_many_async(&mut buffer, 100))
                .unwrap();
        }
        assert_eq!(buffer, [1, 1]);
        let timed = receiver.recv_timeout_many_async(&mut buffer, 3, ms(1));
        assert!(futures::executor::block_on(timed).unwrap_err().is_timeout());
    });
}
