//! Futures that are dropped at a bad moment: nothing is lost, and a wake-up that was meant for one that is gone reaches
//! another waiter, whether that is a task or a thread.

use std::sync::Arc;
use std::thread;

use tamtam_channel::{
    Event, Latch, Receiver, Select, Sender, Slot, TryRecvError, bounded, select, unbounded,
};

use crate::asynchronous::hand::{Hand, wakes};
use crate::support::{Drops, Flavour, LONG, thread_number, until_asleep, within_limit};

const QUEUES: [Flavour; 4] = [
    Flavour::Bounded(1),
    Flavour::Bounded(3),
    Flavour::Bounded(100),
    Flavour::Unbounded,
];

/// Which of three waiting tasks is dropped after it was chosen.
fn each_of_three(mut test: impl FnMut(usize)) {
    (0..3).for_each(&mut test);
}

#[test]
fn a_message_for_a_receiver_that_is_gone_wakes_the_next() {
    for flavour in QUEUES {
        each_of_three(|gone| {
            let (sender, receiver) = flavour.pair();
            let hands = Hand::several::<4>();
            let mut futures: Vec<_> = (0..4).map(|_| Some(receiver.recv_async())).collect();
            for (hand, future) in hands.iter().zip(&mut futures) {
                hand.pends(future.as_mut().unwrap());
            }
            // Those before it get what they came for; then it is chosen and goes.
            for before in 0..gone {
                sender.send(before).unwrap();
                let received = hands[before].ready(futures[before].as_mut().unwrap());
                assert_eq!(received, Ok(before));
            }
            sender.send(100).unwrap();
            assert_eq!(hands[gone].wakes(), 1);
            futures[gone] = None;
            assert_eq!(hands[gone + 1].wakes(), 1, "{flavour:?}: nobody was told");
            let received = hands[gone + 1].ready(futures[gone + 1].as_mut().unwrap());
            assert_eq!(received, Ok(100));
        });
    }
}

#[test]
fn several_that_are_gone_pass_the_message_on_to_the_last() {
    for flavour in QUEUES {
        let (sender, receiver) = flavour.pair();
        let hands = Hand::several::<5>();
        let mut futures: Vec<_> = (0..5).map(|_| Some(receiver.recv_async())).collect();
        for (hand, future) in hands.iter().zip(&mut futures) {
            hand.pends(future.as_mut().unwrap());
        }
        sender.send(1).unwrap();
        for future in &mut futures[..4] {
            *future = None;
        }
        assert_eq!(wakes(&hands), [1; 5], "{flavour:?}");
        assert_eq!(hands[4].ready(futures[4].as_mut().unwrap()), Ok(1));
    }
}

#[test]
fn one_that_is_gone_without_a_message_to_pass_on_wakes_nobody() {
    for flavour in QUEUES {
        let (sender, receiver) = flavour.pair();
        let hands = Hand::several::<2>();
        let mut first = receiver.recv_async();
        let mut second = receiver.recv_async();
        hands[0].pends(&mut first);
        hands[1].pends(&mut second);
        sender.send(1).unwrap();
        assert_eq!(receiver.try_recv(), Ok(1));
        drop(first);
        assert_eq!(wakes(&hands), [1, 0], "{flavour:?}");
    }
}

/// Runs `block` on a thread, waits until it sleeps, goes on with `then`, and returns what it came back with.
fn while_asleep<R: Send>(block: impl FnOnce() -> R + Send, then: impl FnOnce()) -> R {
    thread::scope(|scope| {
        let (tell, told) = std::sync::mpsc::channel();
        let blocked = scope.spawn(move || {
            tell.send(thread_number()).unwrap();
            block()
        });
        until_asleep(&[told.recv().unwrap()]);
        then();
        blocked.join().unwrap()
    })
}

#[test]
#[cfg_attr(miri, ignore = "looks at /proc")]
fn a_message_for_a_task_that_is_gone_wakes_a_thread() {
    for flavour in QUEUES {
        within_limit(move || {
            let (sender, receiver) = flavour.pair();
            let hand = Hand::new();
            let mut task = receiver.recv_async();
            hand.pends(&mut task);
            let received = while_asleep(
                || receiver.recv_timeout(LONG),
                || {
                    sender.send(1).unwrap();
                    assert_eq!(hand.wakes(), 1, "the task came first");
                    drop(task);
                },
            );
            assert_eq!(received, Ok(1), "{flavour:?}");
        });
    }
}

#[test]
#[cfg_attr(miri, ignore = "looks at /proc")]
fn a_message_for_a_task_that_is_gone_wakes_a_select() {
    for flavour in QUEUES {
        within_limit(move || {
            let (sender, receiver) = flavour.pair();
            let hand = Hand::new();
            let mut task = receiver.recv_async();
            hand.pends(&mut task);
            let received = while_asleep(
                || {
                    let mut select = Select::new();
                    select.recv(&receiver);
                    let selected = select.select_timeout(LONG).unwrap();
                    selected.recv(&receiver)
                },
                || {
                    sender.send(1).unwrap();
                    drop(task);
                },
            );
            assert_eq!(received, Ok(1), "{flavour:?}");
        });
    }
}

#[test]
fn room_for_a_sender_that_is_gone_wakes_the_next() {
    each_of_three(|gone| {
        let (sender, receiver) = bounded(1);
        sender.send(99).unwrap();
        let hands = Hand::several::<4>();
        let mut futures: Vec<_> = (0..4).map(|n| Some(sender.send_async(n))).collect();
        for (hand, future) in hands.iter().zip(&mut futures) {
            hand.pends(future.as_mut().unwrap());
        }
        for before in 0..gone {
            receiver.recv().unwrap();
            hands[before]
                .ready(futures[before].as_mut().unwrap())
                .unwrap();
        }
        receiver.recv().unwrap();
        assert_eq!(hands[gone].wakes(), 1);
        let back = futures[gone].take().unwrap().into_inner();
        assert_eq!(back, Some(gone));
        assert_eq!(hands[gone + 1].wakes(), 1, "nobody was told");
        hands[gone + 1]
            .ready(futures[gone + 1].as_mut().unwrap())
            .unwrap();
        assert_eq!(receiver.recv(), Ok(gone + 1));
    });
}

#[test]
#[cfg_attr(miri, ignore = "looks at /proc")]
fn room_for_a_task_that_is_gone_wakes_a_thread() {
    within_limit(|| {
        let (sender, receiver) = bounded(1);
        sender.send(0).unwrap();
        let hand = Hand::new();
        let mut task = sender.send_async(1);
        hand.pends(&mut task);
        let sent = while_asleep(
            || sender.send_timeout(2, LONG),
            || {
                assert_eq!(receiver.recv(), Ok(0));
                assert_eq!(hand.wakes(), 1, "the task came first");
                drop(task);
            },
        );
        assert_eq!(sent, Ok(()));
        assert_eq!(receiver.recv(), Ok(2));
    });
}

#[test]
#[cfg_attr(miri, ignore = "looks at /proc")]
fn room_for_a_thread_and_a_task_reaches_both() {
    within_limit(|| {
        // The thread stands in front: the task's room comes by way of it.
        let (sender, receiver) = bounded(2);
        sender.send(0).unwrap();
        sender.send(0).unwrap();
        let hand = Hand::new();
        let mut task = sender.send_async(1);
        let sent = while_asleep(
            || sender.send_timeout(2, LONG),
            || {
                hand.pends(&mut task);
                receiver.recv().unwrap();
                receiver.recv().unwrap();
            },
        );
        assert_eq!(sent, Ok(()));
        hand.until_woken(1);
        hand.ready(&mut task).unwrap();
    });
}

#[test]
fn a_value_for_a_taker_that_is_gone_wakes_the_next() {
    each_of_three(|gone| {
        let slot = Slot::new();
        let hands = Hand::several::<4>();
        let mut futures: Vec<_> = (0..4).map(|_| Some(slot.take_async())).collect();
        for (hand, future) in hands.iter().zip(&mut futures) {
            hand.pends(future.as_mut().unwrap());
        }
        for before in 0..gone {
            slot.put(before);
            hands[before].ready(futures[before].as_mut().unwrap());
        }
        slot.put(100);
        futures[gone] = None;
        assert_eq!(hands[gone + 1].wakes(), 1, "nobody was told");
        assert_eq!(
            hands[gone + 1].ready(futures[gone + 1].as_mut().unwrap()),
            100
        );
    });
}

#[test]
fn the_place_for_a_putter_that_is_gone_wakes_the_next() {
    each_of_three(|gone| {
        let slot = Slot::from(99);
        let hands = Hand::several::<4>();
        let mut futures: Vec<_> = (0..4).map(|n| Some(slot.put_async(n))).collect();
        for (hand, future) in hands.iter().zip(&mut futures) {
            hand.pends(future.as_mut().unwrap());
        }
        for before in 0..gone {
            assert!(slot.try_take().is_some());
            hands[before].ready(futures[before].as_mut().unwrap());
        }
        assert!(slot.try_take().is_some());
        assert_eq!(futures[gone].take().unwrap().into_value(), Some(gone));
        assert_eq!(hands[gone + 1].wakes(), 1, "nobody was told");
        hands[gone + 1].ready(futures[gone + 1].as_mut().unwrap());
        assert_eq!(slot.try_take(), Some(gone + 1));
    });
}

#[test]
fn a_turn_for_one_that_is_gone_lets_the_next_pass() {
    each_of_three(|gone| {
        let event = Event::auto();
        let hands = Hand::several::<4>();
        let mut futures: Vec<_> = (0..4).map(|_| Some(event.wait_async())).collect();
        for (hand, future) in hands.iter().zip(&mut futures) {
            hand.pends(future.as_mut().unwrap());
        }
        for before in 0..gone {
            event.set();
            hands[before].ready(futures[before].as_mut().unwrap());
        }
        event.set();
        futures[gone] = None;
        assert_eq!(hands[gone + 1].wakes(), 1, "nobody was told");
        hands[gone + 1].ready(futures[gone + 1].as_mut().unwrap());
        assert!(!event.is_set());
    });
}

#[test]
fn a_turn_that_nobody_waits_for_any_more_stays_for_the_next_to_come() {
    let event = Event::auto();
    let hands = Hand::several::<3>();
    let mut waits = [(); 3].map(|()| event.wait_async());
    for (hand, wait) in hands.iter().zip(&mut waits) {
        hand.pends(wait);
    }
    event.set();
    event.set();
    drop(waits);
    assert!(event.try_wait());
    assert!(!event.try_wait());
    // Waiting in vain leaves no trace: setting twice is still setting once.
    event.set();
    event.set();
    assert!(event.try_wait());
    assert!(!event.try_wait());
}

/// Whether the task that waits has been polled when the event is set again makes no difference.
#[test]
fn a_second_set_beside_a_task_that_waits_lets_the_next_to_come_pass() {
    for sets in 2..5 {
        let event = Event::auto();
        let hand = Hand::new();
        let mut wait = event.wait_async();
        hand.pends(&mut wait);
        (0..sets).for_each(|_| event.set());
        hand.ready(&mut wait);
        assert!(event.try_wait(), "{sets} sets have let one pass");
        assert!(!event.try_wait());
    }
}

/// Two sets for two tasks, one of which goes, before or after the other one passes.
#[test]
fn a_turn_of_a_task_that_is_gone_lets_another_one_pass_whenever_it_goes() {
    for passes_first in [true, false] {
        let event = Event::auto();
        let hands = Hand::several::<2>();
        let (mut stays, mut goes) = (event.wait_async(), event.wait_async());
        hands[0].pends(&mut stays);
        hands[1].pends(&mut goes);
        event.set();
        event.set();
        if passes_first {
            hands[0].ready(&mut stays);
            drop(goes);
        } else {
            drop(goes);
            hands[0].ready(&mut stays);
        }
        assert!(event.try_wait(), "passes first: {passes_first}");
        assert!(!event.try_wait());
    }
}

/// A reset takes back what is for the next to come, and not the turns of those that wait.
#[test]
fn a_reset_leaves_the_turns_of_tasks_that_wait() {
    let event = Event::auto();
    let hands = Hand::several::<2>();
    let (mut one, mut other) = (event.wait_async(), event.wait_async());
    hands[0].pends(&mut one);
    hands[1].pends(&mut other);
    (0..3).for_each(|_| event.set());
    event.reset();
    hands[0].ready(&mut one);
    hands[1].ready(&mut other);
    assert!(!event.try_wait());
}

#[test]
#[cfg_attr(miri, ignore = "looks at /proc")]
fn a_turn_of_a_select_that_went_another_way_lets_another_one_pass() {
    within_limit(|| {
        for _ in 0..20 {
            let event = Event::auto();
            let (sender, receiver) = unbounded();
            let hand = Hand::new();
            let mut task = event.wait_async();
            hand.pends(&mut task);
            let received = while_asleep(
                || {
                    select! {
                        recv(receiver) -> message => message.is_ok(),
                        wait(event) => false,
                    }
                },
                || {
                    sender.send(1).unwrap();
                    event.set();
                    event.set();
                },
            );
            assert!(received, "the message came first");
            hand.ready(&mut task);
            assert!(event.try_wait(), "two sets have let one pass");
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "looks at /proc")]
fn a_turn_for_a_task_that_is_gone_lets_a_thread_pass() {
    within_limit(|| {
        let event = Event::auto();
        let hand = Hand::new();
        let mut task = event.wait_async();
        hand.pends(&mut task);
        let passed = while_asleep(
            || event.wait_timeout(LONG),
            || {
                event.set();
                assert_eq!(hand.wakes(), 1, "the task came first");
                drop(task);
            },
        );
        assert_eq!(passed, Ok(()));
    });
}

#[test]
fn a_wait_for_a_latch_may_be_dropped_at_any_time() {
    let latch = Latch::new(1);
    let hands = Hand::several::<3>();
    let mut waits: Vec<_> = (0..3).map(|_| Some(latch.wait_async())).collect();
    for (hand, wait) in hands.iter().zip(&mut waits) {
        hand.pends(wait.as_mut().unwrap());
    }
    waits[1] = None;
    latch.count_down();
    waits[0] = None;
    assert_eq!(wakes(&hands), [1, 0, 1]);
    hands[2].ready(waits[2].as_mut().unwrap());
}

#[test]
fn a_cancelled_receive_takes_nothing() {
    for flavour in Flavour::ALL {
        let (sender, receiver) = flavour.pair();
        let hand = Hand::new();
        drop(receiver.recv_async());
        let mut polled = receiver.recv_async();
        hand.pends(&mut polled);
        let giver = Hand::new();
        let mut send = sender.send_async(5);
        let sent = giver.poll(&mut send);
        assert_eq!(sent.is_pending(), flavour.is_rendezvous());
        // Told of it, and gone.
        assert_eq!(hand.wakes(), 1);
        drop(polled);
        assert_eq!(receiver.try_recv(), Ok(5), "{flavour:?}");
        if sent.is_pending() {
            giver.ready(&mut send).unwrap();
        }
    }
}

#[test]
fn a_cancelled_send_is_either_sent_or_dropped() {
    for flavour in [
        Flavour::Bounded(0),
        Flavour::Bounded(1),
        Flavour::Bounded(3),
    ] {
        let drops = Drops::default();
        let (sender, receiver) = flavour.pair();
        for _ in 0..flavour.room() {
            sender.send(drops.token()).unwrap();
        }
        let hand = Hand::new();
        // Never polled.
        drop(sender.send_async(drops.token()));
        assert_eq!(drops.count(), 1);
        // Polled and waiting.
        let mut waiting = sender.send_async(drops.token());
        hand.pends(&mut waiting);
        drop(waiting);
        assert_eq!(drops.count(), 2);
        // Polled, waiting, and asked back.
        let mut waiting = sender.send_async(drops.token());
        hand.pends(&mut waiting);
        assert!(waiting.into_inner().is_some());
        assert_eq!(drops.count(), 3);
        assert_eq!(receiver.try_iter().count(), flavour.room(), "{flavour:?}");
        assert_eq!(drops.count(), 3 + flavour.room());
    }
}

/// With capacity zero the message may be out of the sender's hands before its task runs again.
#[test]
fn an_offer_that_was_taken_is_sent_though_its_future_is_dropped() {
    let drops = Drops::default();
    let (sender, receiver) = bounded(0);
    let hand = Hand::new();
    let mut offer = sender.send_async(drops.numbered(1));
    hand.pends(&mut offer);
    let received = receiver.try_recv().ok().unwrap();
    assert_eq!(received.number, 1);
    drop(offer);
    assert_eq!(drops.count(), 0);
    let mut offer = sender.send_async(drops.numbered(2));
    hand.pends(&mut offer);
    drop(receiver.try_recv());
    assert!(offer.into_inner().is_none(), "it was sent");
    assert_eq!(drops.count(), 1);
    drop(received);
    assert_eq!(drops.count(), 2);
    assert!(matches!(receiver.try_recv(), Err(TryRecvError::Empty)));
}

/// A stream or sink that is dropped while it waits, owning its end.
#[test]
fn streams_and_sinks_pass_their_wake_ups_on() {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    for flavour in QUEUES {
        let (sender, receiver): (Sender<u8>, Receiver<u8>) = flavour.pair();
        let hand = Hand::new();
        let mut stream = receiver.clone().into_stream();
        assert!(stream.poll_next(&mut context).is_pending());
        let mut next = receiver.recv_async();
        hand.pends(&mut next);
        sender.send(1).unwrap();
        assert_eq!(hand.wakes(), 0);
        drop(stream);
        assert_eq!(hand.wakes(), 1, "{flavour:?}");
        assert_eq!(hand.ready(&mut next), Ok(1));
    }
    let (sender, receiver) = bounded(1);
    let hand = Hand::new();
    let mut sink = sender.clone().into_sink();
    sink.start_send(1).unwrap();
    sink.start_send(2).unwrap();
    assert!(sink.poll_flush(&mut context).is_pending());
    let mut send = sender.send_async(3);
    hand.pends(&mut send);
    assert_eq!(receiver.recv(), Ok(1));
    drop(sink);
    assert_eq!(hand.wakes(), 1);
    hand.ready(&mut send).unwrap();
    assert_eq!(receiver.recv(), Ok(3));
}

/// Chosen on one thread and dropped on another, again and again: the message always ends up with the one that stays.
#[test]
fn dropping_races_with_being_chosen() {
    let rounds = if cfg!(miri) { 20 } else { 3_000 };
    for flavour in QUEUES {
        within_limit(move || {
            let (sender, receiver) = flavour.pair();
            let (go, start) = bounded::<()>(1);
            thread::scope(|scope| {
                scope.spawn(move || {
                    for round in 0..rounds {
                        start.recv().unwrap();
                        sender.send(round).unwrap();
                    }
                });
                let hands = Hand::several::<2>();
                for round in 0..rounds {
                    let mut goes = receiver.recv_async();
                    let mut stays = receiver.recv_async();
                    hands[0].pends(&mut goes);
                    hands[1].pends(&mut stays);
                    let before = hands[1].wakes();
                    go.send(()).unwrap();
                    for _ in 0..round % 64 {
                        std::hint::spin_loop();
                    }
                    drop(goes);
                    hands[1].until_woken(before + 1);
                    assert_eq!(hands[1].ready(&mut stays), Ok(round), "{flavour:?}");
                }
            });
        });
    }
}

/// As above for senders: room comes while the first of two is dropped.
#[test]
fn dropping_a_sender_races_with_room() {
    let rounds = if cfg!(miri) { 20 } else { 3_000 };
    within_limit(move || {
        let (sender, receiver) = bounded(1);
        let (go, start) = bounded::<()>(1);
        thread::scope(|scope| {
            let receiver = &receiver;
            scope.spawn(move || {
                for _ in 0..rounds {
                    start.recv().unwrap();
                    receiver.recv().unwrap();
                }
            });
            let hands = Hand::several::<2>();
            sender.send(0).unwrap();
            for round in 0..rounds {
                let mut goes = sender.send_async(round);
                let mut stays = sender.send_async(round);
                hands[0].pends(&mut goes);
                hands[1].pends(&mut stays);
                let before = hands[1].wakes();
                go.send(()).unwrap();
                for _ in 0..round % 64 {
                    std::hint::spin_loop();
                }
                assert!(goes.into_inner().is_some());
                hands[1].until_woken(before + 1);
                hands[1].ready(&mut stays).unwrap();
            }
        });
    });
}

/// As above for an offer: it is taken or given back, and both sides agree.
#[test]
fn dropping_an_offer_races_with_its_being_taken() {
    let rounds = if cfg!(miri) { 20 } else { 3_000 };
    within_limit(move || {
        let (sender, receiver) = bounded(0);
        let (go, start) = bounded::<()>(1);
        let (tell, told) = bounded(1);
        thread::scope(|scope| {
            scope.spawn(move || {
                for _ in 0..rounds {
                    start.recv().unwrap();
                    tell.send(receiver.try_recv().ok()).unwrap();
                }
            });
            let hand = Hand::new();
            for round in 0..rounds {
                let message = Arc::new(round);
                let mut offer = sender.send_async(Arc::clone(&message));
                hand.pends(&mut offer);
                go.send(()).unwrap();
                for _ in 0..round % 64 {
                    std::hint::spin_loop();
                }
                let back = offer.into_inner();
                let taken = told.recv().unwrap();
                assert_eq!(back.is_some(), taken.is_none());
                drop((back, taken));
                assert_eq!(Arc::strong_count(&message), 1);
            }
        });
    });
}
