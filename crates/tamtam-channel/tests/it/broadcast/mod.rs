//! Broadcasts: each receiver has each message, or is told what it lost.

mod queries;

use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Instant;

use futures::executor::block_on;

use crate::support::{LONG, Random, SHORT, ms, thread_number, until, until_asleep, within_limit};
use tamtam_channel::broadcast::{
    self, Lag, Receiver, RecvError, RecvTimeoutError, Sender, TryRecvError,
};
use tamtam_channel::{Select, SendError, SendTimeoutError, Slot, TrySendError, select};

fn all<T: Clone>(receiver: &Receiver<T>) -> Vec<T> {
    receiver.try_iter().map(Result::unwrap).collect()
}

#[test]
fn each_receiver_gets_each_message() {
    let (sender, first) = broadcast::bounded(10);
    let second = sender.subscribe(Lag::Wait);
    let third = sender.subscribe(Lag::Lose);
    for number in 0..10 {
        sender.send(number).unwrap();
    }
    for receiver in [&first, &second, &third] {
        assert!(receiver.iter().take(10).map(Result::unwrap).eq(0..10));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    }
    assert!(sender.is_empty());
}

#[test]
fn a_receiver_gets_what_is_sent_after_it_came() {
    let (sender, first) = broadcast::bounded(4);
    sender.send(1).unwrap();
    let late = sender.subscribe(Lag::Wait);
    let same = first.clone();
    sender.send(2).unwrap();
    assert_eq!(
        (all(&first), all(&late), all(&same)),
        (vec![1, 2], vec![2], vec![1, 2])
    );
}

#[test]
fn senders_wait_for_those_who_are_to_be_waited_for() {
    let (sender, receiver) = broadcast::bounded(2);
    let other = sender.subscribe(Lag::Wait);
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    assert!(sender.is_full());
    assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
    assert_eq!(
        sender.send_timeout(3, SHORT),
        Err(SendTimeoutError::Timeout(3))
    );
    assert_eq!(
        sender.send_deadline(3, Instant::now()),
        Err(SendTimeoutError::Timeout(3))
    );
    assert_eq!(
        block_on(sender.send_timeout_async(3, SHORT)),
        Err(SendTimeoutError::Timeout(3))
    );
    assert_eq!(receiver.recv(), Ok(1));
    assert!(sender.is_full(), "the other one has not taken it");
    assert_eq!(other.recv(), Ok(1));
    assert!(!sender.is_full());
    sender.try_send(3).unwrap();
    assert_eq!(all(&receiver), [2, 3]);
}

#[test]
fn those_who_lose_are_told_what_and_how_many() {
    let (sender, patient) = broadcast::bounded(3);
    drop(patient.clone());
    let receiver = patient.with_lag(Lag::Lose);
    assert_eq!(receiver.lag(), Lag::Lose);
    for number in 0..10 {
        sender.send(number).unwrap();
    }
    assert_eq!((sender.len(), receiver.len(), receiver.lost()), (3, 3, 7));
    match receiver.recv() {
        Err(RecvError::Lost(lost)) => {
            assert_eq!((lost.first, lost.count), (0, 7));
            assert_eq!(
                lost.to_string(),
                "the receiver was too slow and lost 7 messages, from number 0 on"
            );
        }
        other => panic!("{other:?}"),
    }
    assert_eq!((all(&receiver), receiver.lost()), (vec![7, 8, 9], 7));
    for number in 10..14 {
        sender.send(number).unwrap();
    }
    let told: Vec<_> = receiver.try_iter().collect();
    assert_eq!(told.iter().filter(|item| item.is_err()).count(), 1);
    assert_eq!(told[1..], [Ok(11), Ok(12), Ok(13)]);
    assert_eq!(receiver.lost(), 8);
}

#[test]
fn one_that_loses_holds_up_nobody_and_one_that_waits_loses_nothing() {
    let (sender, patient) = broadcast::bounded(2);
    let hasty = sender.subscribe(Lag::Lose);
    for number in 0..100 {
        sender.send(number).unwrap();
        assert_eq!(patient.recv(), Ok(number));
    }
    assert_eq!(patient.lost(), 0);
    assert_eq!(hasty.lost(), 98);
    assert!(matches!(hasty.try_recv(), Err(TryRecvError::Lost(_))));
    assert_eq!(all(&hasty), [98, 99]);
}

#[test]
fn the_end_comes_after_the_last_message() {
    let (sender, receiver) = broadcast::bounded(4);
    let second = sender.clone();
    sender.send(1).unwrap();
    drop(sender);
    assert!(!receiver.is_closed());
    drop(second);
    assert!(receiver.is_closed());
    assert_eq!(receiver.recv(), Ok(1));
    assert_eq!(receiver.recv(), Err(RecvError::Disconnected));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    assert_eq!(
        receiver.recv_timeout(LONG),
        Err(RecvTimeoutError::Disconnected)
    );
    assert_eq!(
        block_on(receiver.recv_async()),
        Err(RecvError::Disconnected)
    );
    assert_eq!(receiver.into_iter().next(), None);
}

#[test]
fn closing_ends_sending() {
    let (sender, receiver) = broadcast::bounded(4);
    sender.send(1).unwrap();
    assert!(sender.close());
    assert!(!sender.close());
    assert_eq!(sender.send(2), Err(SendError(2)));
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [Ok(1)]);
}

#[test]
fn without_receivers_a_message_comes_back_until_one_subscribes() {
    let (sender, receiver) = broadcast::bounded(1);
    sender.send(String::from("unread")).unwrap();
    drop(receiver);
    assert!(sender.is_empty(), "what nobody can receive is dropped");
    assert_eq!(sender.receiver_count(), 0);
    assert_eq!(
        sender.send(String::from("back")).unwrap_err().into_inner(),
        "back"
    );
    assert!(
        sender
            .try_send(String::new())
            .unwrap_err()
            .is_disconnected()
    );
    assert_eq!(
        block_on(sender.send_async(String::from("back")))
            .unwrap_err()
            .into_inner(),
        "back"
    );
    let receiver = sender.subscribe(Lag::Wait);
    sender.send(String::from("heard")).unwrap();
    assert_eq!(receiver.recv().unwrap(), "heard");
}

#[test]
fn a_receiver_that_goes_lets_senders_on() {
    within_limit(|| {
        let (sender, slow) = broadcast::bounded(1);
        let other = sender.subscribe(Lag::Lose);
        sender.send(1).unwrap();
        let (start, started) = mpsc::channel();
        let giver = thread::spawn(move || {
            start.send(thread_number()).unwrap();
            sender.send(2)
        });
        until_asleep(&[started.recv().unwrap()]);
        drop(slow);
        assert_eq!(giver.join().unwrap(), Ok(()));
        assert!(other.try_recv().is_err());
        assert_eq!(all(&other), [2]);
    });
}

#[test]
fn the_last_receiver_that_goes_ends_waiting_sends() {
    within_limit(|| {
        let (sender, receiver) = broadcast::bounded(1);
        sender.send(1).unwrap();
        let (start, started) = mpsc::channel();
        let giver = thread::spawn(move || {
            start.send(thread_number()).unwrap();
            sender.send(2)
        });
        until_asleep(&[started.recv().unwrap()]);
        drop(receiver);
        assert_eq!(giver.join().unwrap(), Err(SendError(2)));
    });
}

#[test]
fn the_last_receiver_of_a_message_gets_it_without_a_clone() {
    struct Counted(Arc<AtomicUsize>);
    impl Clone for Counted {
        fn clone(&self) -> Self {
            self.0.fetch_add(1, Ordering::Relaxed);
            Counted(Arc::clone(&self.0))
        }
    }
    let clones = Arc::new(AtomicUsize::new(0));
    let (sender, first) = broadcast::bounded(1);
    let second = first.clone();
    sender.send(Counted(Arc::clone(&clones))).unwrap();
    drop(first.recv().ok());
    assert_eq!(clones.load(Ordering::Relaxed), 1);
    drop(second.recv().ok());
    assert_eq!(clones.load(Ordering::Relaxed), 1);
}

#[test]
fn a_message_that_panics_when_cloned_harms_no_other() {
    #[derive(Debug)]
    struct Brittle;
    impl Clone for Brittle {
        fn clone(&self) -> Self {
            panic!("as this test wants it")
        }
    }
    let (sender, first) = broadcast::bounded(1);
    let second = first.clone();
    sender.send(Brittle).unwrap();
    panic::catch_unwind(panic::AssertUnwindSafe(|| first.recv())).unwrap_err();
    assert!(second.recv().is_ok(), "the last one needs no clone");
    assert!(sender.is_empty());
    sender.send(Brittle).unwrap();
}

#[test]
fn select_waits_for_receivers() {
    within_limit(|| {
        let (sender, receiver) = broadcast::bounded(1);
        let never = Slot::<u8>::new();
        thread::scope(|scope| {
            scope.spawn(|| sender.send(1).unwrap());
            let got = select! {
                wait(receiver) => receiver.try_recv(),
                take(never) -> _ => unreachable!("nothing was put"),
            };
            assert_eq!(got, Ok(1));
        });
        select! {
            wait(receiver) => unreachable!("nothing was sent"),
            default(ms(1)) => {}
        }
        sender.close();
        let mut select = Select::new();
        let index = select.wait(&receiver);
        assert_eq!(select.ready(), index);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    });
}

#[test]
fn a_future_that_is_given_up_takes_and_sends_nothing() {
    let (sender, receiver) = broadcast::bounded(1);
    assert_eq!(
        block_on(receiver.recv_timeout_async(ms(1))),
        Err(RecvTimeoutError::Timeout)
    );
    drop(receiver.recv_async());
    sender.send(1).unwrap();
    assert_eq!(sender.send_async(2).into_inner(), Some(2));
    drop(sender.send_async(3));
    assert_eq!(all(&receiver), [1]);
}

#[cfg(feature = "futures")]
#[test]
fn a_stream_brings_messages_and_losses() {
    use futures::StreamExt;

    let (sender, receiver) = broadcast::bounded(2);
    let receiver = receiver.with_lag(Lag::Lose);
    for number in 0..3 {
        sender.send(number).unwrap();
    }
    drop(sender);
    let mut items = block_on(receiver.into_stream().collect::<Vec<_>>());
    assert_eq!(items.remove(0).unwrap_err().count, 1);
    assert_eq!(items, [Ok(1), Ok(2)]);
}

#[test]
fn a_receiver_may_be_shared() {
    within_limit(|| {
        let (sender, receiver) = broadcast::bounded(4);
        let whole = receiver.clone();
        thread::scope(|scope| {
            let shares =
                [(); 3].map(|()| scope.spawn(|| receiver.iter().map(Result::unwrap).sum::<u64>()));
            let all = scope.spawn(|| whole.iter().map(Result::unwrap).sum::<u64>());
            for number in 1..=1_000 {
                sender.send(number).unwrap();
            }
            drop(sender);
            let shared: u64 = shares.map(|share| share.join().unwrap()).iter().sum();
            assert_eq!((shared, all.join().unwrap()), (500_500, 500_500));
        });
    });
}

#[test]
fn a_capacity_of_zero_is_refused() {
    let panic = panic::catch_unwind(|| broadcast::bounded::<u8>(0)).unwrap_err();
    let text = panic.downcast::<&str>().unwrap();
    assert!(text.contains("capacity"), "{text}");
}

/// How a receiver of the run below receives.
fn receive(way: u64, receiver: &Receiver<(u64, u64)>) -> Result<(u64, u64), RecvError> {
    let timed = |error| match error {
        RecvTimeoutError::Lost(lost) => RecvError::Lost(lost),
        RecvTimeoutError::Disconnected => RecvError::Disconnected,
        RecvTimeoutError::Timeout => panic!("no message for a minute"),
    };
    match way {
        0 => receiver.recv(),
        1 => receiver.recv_timeout(LONG).map_err(timed),
        2 => block_on(receiver.recv_async()),
        3 => block_on(receiver.recv_timeout_async(LONG)).map_err(timed),
        4 => {
            select! {
                wait(receiver) => {}
                wait(receiver) => {}
            }
            receiver.try_recv().map_err(|error| match error {
                TryRecvError::Lost(lost) => RecvError::Lost(lost),
                TryRecvError::Disconnected => RecvError::Disconnected,
                TryRecvError::Empty => panic!("ready, and nothing there"),
            })
        }
        _ => receiver
            .iter()
            .next()
            .map_or(Err(RecvError::Disconnected), |item| {
                item.map_err(RecvError::Lost)
            }),
    }
}

fn send(way: u64, sender: &Sender<(u64, u64)>, message: (u64, u64)) {
    match way {
        0 => sender.send(message).unwrap(),
        1 => sender.send_timeout(message, LONG).unwrap(),
        2 => block_on(sender.send_async(message)).unwrap(),
        _ => until(|| sender.try_send(message).is_ok()),
    }
}

/// Senders and receivers in all ways, some of which lose, some of which come later or go before the end.
#[test]
fn everybody_hears_the_same() {
    const MESSAGES: u64 = 300;
    within_limit(|| {
        for capacity in [1, 2, 16] {
            let (sender, first) = broadcast::bounded(capacity);
            thread::scope(|scope| {
                let heard: Vec<_> = (0..6)
                    .map(|way| {
                        let lag = if way % 3 == 2 { Lag::Lose } else { Lag::Wait };
                        let receiver = first.clone().with_lag(lag);
                        scope.spawn(move || {
                            let (mut heard, mut lost) = (Vec::new(), 0);
                            loop {
                                match receive(way, &receiver) {
                                    Ok(message) => heard.push(message),
                                    Err(RecvError::Lost(gap)) => {
                                        assert_eq!(gap.first, heard.len() as u64 + lost);
                                        lost += gap.count;
                                    }
                                    Err(RecvError::Disconnected) => break,
                                }
                            }
                            assert_eq!(receiver.lost(), lost);
                            (lag, heard, lost)
                        })
                    })
                    .collect();
                drop(first);
                for from in 0..4 {
                    let sender = sender.clone();
                    scope.spawn(move || {
                        let mut random = Random::new(from);
                        for number in 0..MESSAGES {
                            send(from, &sender, (from, number));
                            if random.below(50) == 0 {
                                // Comes and goes.
                                let passing = sender.subscribe(Lag::Wait);
                                _ = passing.try_recv();
                            }
                        }
                    });
                }
                drop(sender);
                let heard: Vec<_> = heard.into_iter().map(|one| one.join().unwrap()).collect();
                let whole = &heard[0].1;
                for from in 0..4 {
                    let numbers = whole.iter().filter(|(who, _)| *who == from);
                    assert!(numbers.map(|(_, number)| *number).eq(0..MESSAGES));
                }
                for (lag, messages, lost) in &heard {
                    assert_eq!(messages.len() as u64 + lost, 4 * MESSAGES);
                    match lag {
                        Lag::Wait => assert_eq!(messages, whole, "in the same order"),
                        // A part of it, in the same order.
                        _ => {
                            let mut rest = whole.iter();
                            assert!(messages.iter().all(|one| rest.any(|other| other == one)));
                        }
                    }
                }
            });
        }
    });
}
