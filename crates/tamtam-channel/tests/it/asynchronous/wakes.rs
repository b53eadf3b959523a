//! How often a task is woken: once for what it came for, and not for what others came for.

use tamtam_channel::{Event, Latch, Slot, bounded, unbounded};

use crate::asynchronous::hand::{Hand, wakes};
use crate::support::Flavour;

const QUEUES: [Flavour; 4] = [
    Flavour::Bounded(1),
    Flavour::Bounded(3),
    Flavour::Bounded(100),
    Flavour::Unbounded,
];

#[test]
fn what_is_there_already_wakes_nobody() {
    for flavour in QUEUES {
        let (sender, receiver) = flavour.pair();
        let hand = Hand::new();
        hand.ready(&mut sender.send_async(1)).unwrap();
        assert_eq!(hand.ready(&mut receiver.recv_async()), Ok(1));
        assert_eq!(hand.wakes(), 0);
    }
}

#[test]
fn one_message_wakes_the_task_that_waits_longest() {
    for flavour in QUEUES {
        let (sender, receiver) = flavour.pair();
        let hands = Hand::several::<4>();
        let mut futures = [(); 4].map(|()| receiver.recv_async());
        for (hand, future) in hands.iter().zip(&mut futures) {
            hand.pends(future);
        }
        let mut expected = vec![0; 4];
        for (number, future) in futures.iter_mut().enumerate() {
            sender.send(number).unwrap();
            expected[number] = 1;
            assert_eq!(wakes(&hands), expected, "{flavour:?}");
            assert_eq!(hands[number].ready(future), Ok(number));
        }
        assert_eq!(wakes(&hands), [1; 4]);
    }
}

#[test]
fn messages_in_a_row_wake_one_task_each() {
    for flavour in [
        Flavour::Bounded(3),
        Flavour::Bounded(100),
        Flavour::Unbounded,
    ] {
        let (sender, receiver) = flavour.pair();
        let hands = Hand::several::<4>();
        let mut futures = [(); 4].map(|()| receiver.recv_async());
        for (hand, future) in hands.iter().zip(&mut futures) {
            hand.pends(future);
        }
        for number in 0..3 {
            sender.send(number).unwrap();
        }
        assert_eq!(wakes(&hands), [1, 1, 1, 0]);
        // In any order of polling, each finds one.
        let mut received: Vec<_> = [2, 0, 1]
            .map(|index| hands[index].ready(&mut futures[index]).unwrap())
            .into();
        received.sort_unstable();
        assert_eq!(received, [0, 1, 2]);
        hands[3].pends(&mut futures[3]);
        assert_eq!(wakes(&hands), [1, 1, 1, 0]);
    }
}

#[test]
fn polls_without_a_cause_neither_wake_nor_lose_the_place() {
    for flavour in QUEUES {
        let (sender, receiver) = flavour.pair();
        let hands = Hand::several::<2>();
        let (mut first, mut second) = (receiver.recv_async(), receiver.recv_async());
        for _ in 0..5 {
            hands[0].pends(&mut first);
            hands[1].pends(&mut second);
        }
        sender.send(1).unwrap();
        assert_eq!(wakes(&hands), [1, 0], "{flavour:?}");
        assert_eq!(hands[0].ready(&mut first), Ok(1));
        hands[1].pends(&mut second);
        sender.send(2).unwrap();
        assert_eq!(wakes(&hands), [1, 1]);
    }
}

#[test]
fn a_task_that_is_late_is_woken_again_only_for_another_message() {
    for flavour in QUEUES {
        let (sender, receiver) = flavour.pair();
        let hand = Hand::new();
        let mut future = receiver.recv_async();
        hand.pends(&mut future);
        sender.send(1).unwrap();
        // Somebody else was faster.
        assert_eq!(receiver.try_recv(), Ok(1));
        hand.pends(&mut future);
        assert_eq!(hand.wakes(), 1);
        sender.send(2).unwrap();
        assert_eq!(hand.wakes(), 2);
        assert_eq!(hand.ready(&mut future), Ok(2));
    }
}

#[test]
fn one_place_wakes_one_sender() {
    let (sender, receiver) = bounded(1);
    sender.send(0).unwrap();
    let hands = Hand::several::<3>();
    let mut futures = [1, 2, 3].map(|number| sender.send_async(number));
    for (hand, future) in hands.iter().zip(&mut futures) {
        hand.pends(future);
    }
    let mut expected = vec![0; 3];
    for number in 0..3 {
        assert_eq!(receiver.recv(), Ok(number));
        expected[number] = 1;
        assert_eq!(wakes(&hands), expected);
        hands[number].ready(&mut futures[number]).unwrap();
        assert_eq!(wakes(&hands), expected);
    }
}

#[test]
fn places_in_a_row_wake_a_sender_each_in_the_end() {
    let (sender, receiver) = bounded(3);
    for _ in 0..3 {
        sender.send(0).unwrap();
    }
    let hands = Hand::several::<4>();
    let mut futures = [1, 2, 3, 4].map(|number| sender.send_async(number));
    for (hand, future) in hands.iter().zip(&mut futures) {
        hand.pends(future);
    }
    for _ in 0..3 {
        receiver.recv().unwrap();
    }
    assert_eq!(hands[0].wakes(), 1);
    for (hand, future) in hands.iter().zip(&mut futures).take(3) {
        assert_eq!(hand.wakes(), 1);
        hand.ready(future).unwrap();
    }
    assert_eq!(wakes(&hands), [1, 1, 1, 0]);
    hands[3].pends(&mut futures[3]);
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn an_offer_taken_from_its_hands_wakes_its_sender_once() {
    let (sender, receiver) = bounded(0);
    let hands = Hand::several::<3>();
    let mut futures = [0, 1, 2].map(|number| sender.send_async(number));
    for (hand, future) in hands.iter().zip(&mut futures) {
        hand.pends(future);
    }
    let mut expected = vec![0; 3];
    for number in 0..3 {
        assert_eq!(receiver.try_recv(), Ok(number));
        expected[number] = 1;
        assert_eq!(wakes(&hands), expected);
        hands[number].ready(&mut futures[number]).unwrap();
    }
    assert_eq!(wakes(&hands), [1; 3]);
}

/// A task is only told that a sender has come and takes the message when it is polled, so all that wait are told.
#[test]
fn an_offer_tells_each_task_that_waits_for_one_once() {
    let (sender, receiver) = bounded(0);
    let hands = Hand::several::<3>();
    let mut futures = [(); 3].map(|()| receiver.recv_async());
    for (hand, future) in hands.iter().zip(&mut futures) {
        hand.pends(future);
    }
    let giver = Hand::new();
    let mut offer = sender.send_async(1);
    giver.pends(&mut offer);
    assert_eq!(wakes(&hands), [1; 3]);
    assert_eq!(giver.wakes(), 0);
    assert_eq!(hands[1].ready(&mut futures[1]), Ok(1));
    assert_eq!(giver.wakes(), 1);
    giver.ready(&mut offer).unwrap();
    hands[0].pends(&mut futures[0]);
    hands[2].pends(&mut futures[2]);
    assert_eq!(wakes(&hands), [1; 3]);
}

#[test]
fn the_end_of_a_channel_wakes_each_task_once() {
    for flavour in [Flavour::Bounded(0), Flavour::Bounded(1), Flavour::Unbounded] {
        let (sender, receiver) = flavour.pair::<u8>();
        let hands = Hand::several::<3>();
        let mut futures = [(); 3].map(|()| receiver.recv_async());
        for (hand, future) in hands.iter().zip(&mut futures) {
            hand.pends(future);
        }
        drop(sender);
        assert_eq!(wakes(&hands), [1; 3], "{flavour:?}");
        for (hand, future) in hands.iter().zip(&mut futures) {
            assert!(hand.ready(future).is_err());
        }
        assert_eq!(wakes(&hands), [1; 3]);
    }
    for capacity in [0, 1] {
        let (sender, receiver) = bounded(capacity);
        for _ in 0..capacity {
            sender.send(9).unwrap();
        }
        let hands = Hand::several::<3>();
        let mut futures = [0, 1, 2].map(|number| sender.send_async(number));
        for (hand, future) in hands.iter().zip(&mut futures) {
            hand.pends(future);
        }
        drop(receiver);
        assert_eq!(wakes(&hands), [1; 3]);
        for (number, future) in futures.iter_mut().enumerate() {
            assert_eq!(hands[number].ready(future).unwrap_err().0, number);
        }
        assert_eq!(wakes(&hands), [1; 3]);
    }
}

#[test]
fn slots_wake_one_task_for_a_value_and_one_for_its_place() {
    let slot = Slot::new();
    let takers = Hand::several::<2>();
    let mut takes = [slot.take_async(), slot.take_async()];
    takers[0].pends(&mut takes[0]);
    takers[1].pends(&mut takes[1]);
    slot.put(1);
    assert_eq!(wakes(&takers), [1, 0]);
    let putters = Hand::several::<2>();
    let mut puts = [slot.put_async(2), slot.put_async(3)];
    putters[0].pends(&mut puts[0]);
    putters[1].pends(&mut puts[1]);
    assert_eq!(takers[0].ready(&mut takes[0]), 1);
    assert_eq!(wakes(&putters), [1, 0]);
    putters[0].ready(&mut puts[0]);
    assert_eq!(wakes(&takers), [1, 1]);
    assert_eq!(takers[1].ready(&mut takes[1]), 2);
    assert_eq!(wakes(&putters), [1, 1]);
    putters[1].ready(&mut puts[1]);
    assert_eq!(slot.try_take(), Some(3));
    assert_eq!((wakes(&takers), wakes(&putters)), (vec![1, 1], vec![1, 1]));
}

#[test]
fn an_auto_event_wakes_one_and_a_manual_one_all() {
    let auto = Event::auto();
    let hands = Hand::several::<3>();
    let mut waits = [(); 3].map(|()| auto.wait_async());
    for (hand, wait) in hands.iter().zip(&mut waits) {
        hand.pends(wait);
    }
    auto.set();
    assert_eq!(wakes(&hands), [1, 0, 0]);
    auto.set();
    assert_eq!(wakes(&hands), [1, 1, 0]);
    hands[1].ready(&mut waits[1]);
    hands[0].ready(&mut waits[0]);
    hands[2].pends(&mut waits[2]);
    assert!(!auto.is_set());

    let manual = Event::manual();
    let hands = Hand::several::<3>();
    let mut waits = [(); 3].map(|()| manual.wait_async());
    for (hand, wait) in hands.iter().zip(&mut waits) {
        hand.pends(wait);
    }
    manual.set();
    // Whoever waited when it was set gets past.
    manual.reset();
    assert_eq!(wakes(&hands), [1; 3]);
    for (hand, wait) in hands.iter().zip(&mut waits) {
        hand.ready(wait);
    }
    hands[0].pends(&mut manual.wait_async());
}

#[test]
fn a_latch_wakes_all_at_its_last_count() {
    let latch = Latch::new(2);
    let hands = Hand::several::<3>();
    let mut waits = [(); 3].map(|()| latch.wait_async());
    for (hand, wait) in hands.iter().zip(&mut waits) {
        hand.pends(wait);
    }
    latch.count_down();
    assert_eq!(wakes(&hands), [0; 3]);
    latch.count_down();
    assert_eq!(wakes(&hands), [1; 3]);
    for (hand, wait) in hands.iter().zip(&mut waits) {
        hand.ready(wait);
    }
}

#[test]
fn who_was_cancelled_is_not_woken_any_more() {
    for flavour in QUEUES {
        let (sender, receiver) = flavour.pair();
        let hands = Hand::several::<3>();
        let mut futures = [(); 3].map(|()| Some(receiver.recv_async()));
        for (hand, future) in hands.iter().zip(&mut futures) {
            hand.pends(future.as_mut().unwrap());
        }
        futures[0] = None;
        futures[1] = None;
        sender.send(1).unwrap();
        assert_eq!(wakes(&hands), [0, 0, 1], "{flavour:?}");
        assert_eq!(hands[2].ready(futures[2].as_mut().unwrap()), Ok(1));
        assert_eq!(hands[0].wakers_about(), 0);
        assert_eq!(hands[1].wakers_about(), 0);
    }
}

/// A channel may keep the waker of the last task that waited alone at an end, for the next time; not more.
#[test]
fn at_most_one_waker_stays_after_the_wait() {
    let (sender, receiver) = unbounded();
    let hands = Hand::several::<5>();
    let mut futures = [(); 5].map(|()| receiver.recv_async());
    for (hand, future) in hands.iter().zip(&mut futures) {
        hand.pends(future);
    }
    for number in 0..5 {
        sender.send(number).unwrap();
    }
    for (hand, future) in hands.iter().zip(&mut futures) {
        hand.ready(future).unwrap();
    }
    drop(futures);
    let kept: usize = hands.iter().map(Hand::wakers_about).sum();
    assert!(kept <= 1, "{kept} wakers are kept");
    drop((sender, receiver));
    assert!(hands.iter().all(|hand| hand.wakers_about() == 0));
}
