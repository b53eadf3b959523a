//! Many threads that wait at one channel: each wake-up reaches exactly those it is for.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tamtam_channel::{RecvError, SendError};

use crate::support::{Flavour, LONG, for_every_flavour};

for_every_flavour!(
    as_many_messages_as_waiting_receivers,
    as_many_receives_as_waiting_senders,
    all_waiting_receivers_learn_of_the_end,
    all_waiting_senders_learn_of_the_end,
    one_message_wakes_one,
    waiters_that_give_up_pass_the_wake_up_on,
    sixty_four_threads_of_both_kinds,
);

const MANY: usize = 64;

fn as_many_messages_as_waiting_receivers(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let mut got: Vec<usize> = thread::scope(|scope| {
        let takers: Vec<_> = (0..MANY)
            .map(|_| scope.spawn(|| receiver.recv().unwrap()))
            .collect();
        (0..MANY).for_each(|number| sender.send(number).unwrap());
        takers
            .into_iter()
            .map(|taker| taker.join().unwrap())
            .collect()
    });
    got.sort_unstable();
    assert!(got.into_iter().eq(0..MANY));
}

fn as_many_receives_as_waiting_senders(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let mut got: Vec<usize> = thread::scope(|scope| {
        for number in 0..MANY {
            let sender = &sender;
            scope.spawn(move || sender.send(number).unwrap());
        }
        (0..MANY).map(|_| receiver.recv().unwrap()).collect()
    });
    got.sort_unstable();
    assert!(got.into_iter().eq(0..MANY));
}

fn all_waiting_receivers_learn_of_the_end(flavour: Flavour) {
    let (sender, receiver) = flavour.pair::<u8>();
    thread::scope(|scope| {
        let takers: Vec<_> = (0..MANY).map(|_| scope.spawn(|| receiver.recv())).collect();
        drop(sender);
        for taker in takers {
            assert_eq!(taker.join().unwrap(), Err(RecvError));
        }
    });
}

fn all_waiting_senders_learn_of_the_end(flavour: Flavour) {
    if flavour.capacity().is_none() {
        return;
    }
    let (sender, receiver) = flavour.pair();
    (0..flavour.room()).for_each(|number| sender.send(number).unwrap());
    thread::scope(|scope| {
        let senders: Vec<_> = (0..MANY)
            .map(|number| {
                let sender = &sender;
                scope.spawn(move || (number, sender.send(number)))
            })
            .collect();
        drop(receiver);
        for sender in senders {
            let (number, sent) = sender.join().unwrap();
            assert_eq!(sent, Err(SendError(number)));
        }
    });
}

fn one_message_wakes_one(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let got = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                if receiver.recv().is_ok() {
                    got.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        drop(sender);
    });
    assert_eq!(got.into_inner(), 2);
}

fn waiters_that_give_up_pass_the_wake_up_on(flavour: Flavour) {
    // Some receivers time out at about the moment at which a message comes. Its wake-up must not get lost with them:
    // the patient receiver gets every message that they did not take.
    let (sender, receiver) = flavour.pair();
    let count = 400;
    thread::scope(|scope| {
        let patient = scope.spawn(|| {
            let mut got = 0;
            while receiver.recv_timeout(LONG).is_ok() {
                got += 1;
            }
            got
        });
        let hasty: Vec<_> = (0..3)
            .map(|number| {
                let receiver = receiver.clone();
                scope.spawn(move || {
                    let mut got = 0;
                    loop {
                        match receiver.recv_timeout(std::time::Duration::from_micros(50 * number)) {
                            Ok(_) => got += 1,
                            Err(error) if error.is_disconnected() => return got,
                            Err(_) => {}
                        }
                    }
                })
            })
            .collect();
        for number in 0..count {
            sender.send_timeout(number, LONG).unwrap();
        }
        drop(sender);
        let got: usize = patient.join().unwrap()
            + hasty
                .into_iter()
                .map(|taker| taker.join().unwrap())
                .sum::<usize>();
        assert_eq!(got, count);
    });
}

fn sixty_four_threads_of_both_kinds(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let each = 50;
    let sum: usize = thread::scope(|scope| {
        let takers: Vec<_> = (0..MANY / 2)
            .map(|_| {
                let receiver = receiver.clone();
                scope.spawn(move || (0..each).map(|_| receiver.recv().unwrap()).sum::<usize>())
            })
            .collect();
        for me in 0..MANY / 2 {
            let sender = sender.clone();
            scope.spawn(move || {
                (0..each).for_each(|number| sender.send(me * each + number).unwrap())
            });
        }
        takers.into_iter().map(|taker| taker.join().unwrap()).sum()
    });
    let total = MANY / 2 * each;
    assert_eq!(sum, total * (total - 1) / 2);
    assert!(receiver.is_empty());
}
