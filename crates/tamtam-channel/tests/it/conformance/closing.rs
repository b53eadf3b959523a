//! `close` from either side, and weak senders, which do not keep a channel open.

use std::thread;
use std::time::Duration;

use tamtam_channel::{
    Receiver, RecvError, RecvTimeoutError, Select, SendError, SendTimeoutError, Sender,
    TryRecvError, TrySendError, after, at, bounded, never, tick,
};

use crate::support::{Drops, Flavour, LONG, SHORT, for_every_flavour, ms};

for_every_flavour!(
    one_call_closes_and_the_others_say_so,
    no_send_is_accepted_any_more,
    what_is_inside_is_still_received,
    waiting_receivers_wake_up,
    waiting_senders_wake_up_with_their_messages,
    selects_wake_up,
    nobody_meets_on_a_closed_channel,
    a_side_that_is_gone_counts_as_closed,
    what_was_accepted_is_received_when_closing_meets_sending,
    a_weak_sender_does_not_keep_the_channel_open,
    a_weak_sender_makes_senders_while_there_are_any,
    a_weak_sender_of_a_closed_channel_makes_none,
    weak_senders_meet_the_end,
    a_weak_sender_keeps_no_message,
);

/// Each test closes once from either side.
fn from_either_side<T>(flavour: Flavour, test: impl Fn(Sender<T>, Receiver<T>, Closer<T>)) {
    let (sender, receiver) = flavour.pair();
    let closer = Closer::Sending(sender.clone());
    test(sender, receiver, closer);
    let (sender, receiver) = flavour.pair();
    let closer = Closer::Receiving(receiver.clone());
    test(sender, receiver, closer);
}

enum Closer<T> {
    Sending(Sender<T>),
    Receiving(Receiver<T>),
}

impl<T> Closer<T> {
    fn close(&self) -> bool {
        match self {
            Closer::Sending(sender) => sender.close(),
            Closer::Receiving(receiver) => receiver.close(),
        }
    }
}

fn one_call_closes_and_the_others_say_so(flavour: Flavour) {
    from_either_side::<u8>(flavour, |sender, receiver, closer| {
        assert!(!sender.is_closed() && !receiver.is_closed());
        assert!(closer.close());
        assert!(sender.is_closed() && receiver.is_closed());
        assert!(!sender.close() && !receiver.close() && !closer.close());
        assert!(!sender.clone().close() && receiver.clone().is_closed());
    });
    for _ in 0..50 {
        let (sender, receiver) = flavour.pair::<u8>();
        let closed = thread::scope(|scope| {
            let one = scope.spawn(|| sender.close());
            let two = scope.spawn(|| receiver.close());
            [one.join().unwrap(), two.join().unwrap()]
        });
        assert!(closed[0] ^ closed[1]);
    }
}

fn no_send_is_accepted_any_more(flavour: Flavour) {
    from_either_side(flavour, |sender, receiver, closer| {
        (1..flavour.room()).for_each(|number| sender.send(number).unwrap());
        closer.close();
        for sender in [&sender, &sender.clone()] {
            assert_eq!(sender.send(7), Err(SendError(7)));
            assert_eq!(sender.try_send(7), Err(TrySendError::Disconnected(7)));
            assert_eq!(
                sender.send_timeout(7, LONG),
                Err(SendTimeoutError::Disconnected(7))
            );
        }
        let mut select = Select::new();
        select.send(&sender);
        assert_eq!(select.select().send(&sender, 7), Err(SendError(7)));
        assert_eq!(receiver.len(), flavour.room().saturating_sub(1));
    });
}

fn what_is_inside_is_still_received(flavour: Flavour) {
    from_either_side(flavour, |sender, receiver, closer| {
        (0..flavour.room()).for_each(|number| sender.send(number).unwrap());
        closer.close();
        assert!((0..flavour.room()).all(|number| receiver.recv() == Ok(number)));
        assert_eq!(receiver.recv(), Err(RecvError));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        assert_eq!(
            receiver.recv_timeout(LONG),
            Err(RecvTimeoutError::Disconnected)
        );
        assert_eq!(receiver.iter().next(), None);
        drop(sender);
    });
}

fn waiting_receivers_wake_up(flavour: Flavour) {
    from_either_side::<u8>(flavour, |_sender, receiver, closer| {
        let (done, is_done) = bounded(3);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| done.send(receiver.recv()).unwrap());
            }
            assert_eq!(is_done.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
            closer.close();
            for _ in 0..3 {
                assert_eq!(is_done.recv_timeout(LONG), Ok(Err(RecvError)));
            }
        });
    });
}

fn waiting_senders_wake_up_with_their_messages(flavour: Flavour) {
    if flavour.capacity().is_none() {
        return;
    }
    from_either_side(flavour, |sender, receiver, closer| {
        (0..flavour.room()).for_each(|_| sender.send(String::new()).unwrap());
        let (done, is_done) = bounded(3);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| done.send(sender.send("kept".to_owned())).unwrap());
            }
            assert_eq!(is_done.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
            closer.close();
            for _ in 0..3 {
                assert_eq!(
                    is_done.recv_timeout(LONG),
                    Ok(Err(SendError("kept".to_owned())))
                );
            }
        });
        assert_eq!(receiver.len(), flavour.room());
    });
}

fn selects_wake_up(flavour: Flavour) {
    from_either_side::<u8>(flavour, |_sender, receiver, closer| {
        let (done, is_done) = bounded(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut select = Select::new();
                select.recv(&receiver);
                done.send(select.select().recv(&receiver)).unwrap();
            });
            scope.spawn(|| {
                let mut select = Select::new();
                select.recv(&receiver);
                select.ready();
                done.send(receiver.recv()).unwrap();
            });
            assert_eq!(is_done.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
            closer.close();
            for _ in 0..2 {
                assert_eq!(is_done.recv_timeout(LONG), Ok(Err(RecvError)));
            }
        });
    });
}

/// With capacity zero two selects that come after the end must not find each other.
fn nobody_meets_on_a_closed_channel(flavour: Flavour) {
    from_either_side(flavour, |sender, receiver, closer| {
        closer.close();
        thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..200 {
                    let mut select = Select::new();
                    select.send(&sender);
                    assert_eq!(
                        select.select().send(&sender, number),
                        Err(SendError(number))
                    );
                }
            });
            scope.spawn(|| {
                for _ in 0..200 {
                    let mut select = Select::new();
                    select.recv(&receiver);
                    assert_eq!(select.select().recv(&receiver), Err(RecvError));
                }
            });
        });
    });
}

fn a_side_that_is_gone_counts_as_closed(flavour: Flavour) {
    let (sender, receiver) = flavour.pair::<u8>();
    drop(receiver);
    assert!(sender.is_closed());
    assert!(!sender.close());
    let (sender, receiver) = flavour.pair::<u8>();
    drop(sender);
    assert!(receiver.is_closed());
    assert!(!receiver.close());
}

fn what_was_accepted_is_received_when_closing_meets_sending(flavour: Flavour) {
    for round in 0..100 {
        let (sender, receiver) = flavour.pair();
        let (accepted, received) = thread::scope(|scope| {
            let senders: Vec<_> = (0..2)
                .map(|_| {
                    scope.spawn(|| {
                        let send = |number: &u32| {
                            // Without a limit a queue would grow as long as the one who closes has no core.
                            if sender.len() > 200 {
                                thread::yield_now();
                            }
                            sender.send(*number).is_ok()
                        };
                        (0_u32..).take_while(send).count()
                    })
                })
                .collect();
            let taker = scope.spawn(|| receiver.iter().count());
            // Each time the others may have a time slice each.
            for _ in 0..round % 10 {
                thread::yield_now();
            }
            receiver.close();
            let accepted: usize = senders.into_iter().map(|one| one.join().unwrap()).sum();
            (accepted, taker.join().unwrap())
        });
        assert_eq!(accepted, received);
        assert!(receiver.is_empty());
    }
}

fn a_weak_sender_does_not_keep_the_channel_open(flavour: Flavour) {
    let (sender, receiver) = flavour.pair::<u8>();
    let weak = sender.downgrade();
    let another = weak.clone();
    let (done, is_done) = bounded(1);
    thread::scope(|scope| {
        scope.spawn(|| done.send(receiver.recv()).unwrap());
        assert_eq!(is_done.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
        drop(sender);
        assert_eq!(is_done.recv_timeout(LONG), Ok(Err(RecvError)));
    });
    assert!(weak.upgrade().is_none());
    assert!(another.upgrade().is_none());
    assert_eq!(format!("{weak:?}"), "WeakSender { .. }");
}

fn a_weak_sender_makes_senders_while_there_are_any(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let weak = sender.downgrade();
    let second = weak.upgrade().expect("a sender exists");
    assert!(second.same_channel(&sender));
    drop(sender);
    // The one that was made keeps the channel open.
    let third = weak.upgrade().expect("a sender exists");
    thread::scope(|scope| {
        scope.spawn(|| {
            second.send(1).unwrap();
            third.send(2).unwrap();
        });
        assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
    });
    drop(second);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    drop(third);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    assert!(weak.upgrade().is_none());
}

fn a_weak_sender_of_a_closed_channel_makes_none(flavour: Flavour) {
    from_either_side::<u8>(flavour, |sender, _receiver, closer| {
        let weak = sender.downgrade();
        closer.close();
        assert!(weak.upgrade().is_none());
    });
    let (sender, receiver) = flavour.pair::<u8>();
    let weak = sender.downgrade();
    drop(receiver);
    assert!(weak.upgrade().is_none());
}

/// A sender that is made while the last one goes either keeps the channel open or is not made.
fn weak_senders_meet_the_end(flavour: Flavour) {
    for _ in 0..100 {
        let (sender, receiver) = flavour.pair();
        let weak = sender.downgrade();
        thread::scope(|scope| {
            scope.spawn(move || drop(sender));
            let made = scope.spawn(move || {
                weak.upgrade()
                    .map(|sender| sender.send_timeout(1, LONG).is_ok())
            });
            let received = receiver.recv();
            match made.join().unwrap() {
                Some(sent) => assert!(sent && received == Ok(1)),
                None => assert_eq!(received, Err(RecvError)),
            }
        });
    }
}

fn a_weak_sender_keeps_no_message(flavour: Flavour) {
    let drops = Drops::default();
    let (sender, receiver) = flavour.pair();
    let weak = sender.downgrade();
    for _ in 0..flavour.room() {
        assert!(sender.send(drops.token()).is_ok());
    }
    drop(sender);
    drop(receiver);
    assert_eq!(drops.count(), flavour.room());
    drop(weak);
}

#[test]
fn timers_cannot_be_closed() {
    let timers = [
        after(ms(1)),
        at(std::time::Instant::now()),
        tick(Duration::from_millis(1)),
        never(),
    ];
    for timer in &timers {
        assert!(!timer.close());
        assert!(!timer.is_closed());
    }
    for timer in &timers[..3] {
        assert!(timer.recv_timeout(LONG).is_ok());
    }
}
