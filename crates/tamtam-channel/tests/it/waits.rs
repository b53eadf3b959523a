//! Every way of waiting, chosen per endpoint, on every flavour: the choice changes the cost, never the outcome.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Flavour, LONG, SHORT, for_every_flavour, ms, within_limit};
use tamtam_channel::{
    RecvError, RecvTimeoutError, Select, SendError, SendTimeoutError, Wait, bounded,
};

const WAITS: [Wait; 4] = [Wait::Adaptive, Wait::Spin, Wait::Yield, Wait::Park];

for_every_flavour!(
    turns_with_every_pair_of_waits,
    timeouts_with_every_wait,
    the_end_reaches_every_wait,
    many_threads_of_mixed_waits,
    select_over_ends_of_mixed_waits,
);

fn turns_with_every_pair_of_waits(flavour: Flavour) {
    for sending in WAITS {
        for receiving in WAITS {
            // A turn by spinning or yielding may cost the time slice of a busy process beside it.
            let sleeps = |wait| matches!(wait, Wait::Adaptive | Wait::Park);
            let count = if sleeps(sending) && sleeps(receiving) {
                500
            } else {
                50
            };
            let ((ask, asked), (answer, answered)) = (flavour.pair(), flavour.pair());
            let (ask, asked) = (ask.with_wait(sending), asked.with_wait(receiving));
            let (answer, answered) = (answer.with_wait(sending), answered.with_wait(receiving));
            thread::scope(|scope| {
                scope.spawn(move || {
                    asked
                        .iter()
                        .for_each(|number: usize| answer.send(number + 1).unwrap())
                });
                for number in 0..count {
                    ask.send(number).unwrap();
                    assert_eq!(
                        answered.recv(),
                        Ok(number + 1),
                        "{sending:?} to {receiving:?}"
                    );
                }
                drop(ask);
            });
        }
    }
}

fn timeouts_with_every_wait(flavour: Flavour) {
    for wait in WAITS {
        let (sender, receiver) = flavour.pair();
        let (sender, receiver) = (sender.with_wait(wait), receiver.with_wait(wait));
        let start = Instant::now();
        assert_eq!(
            receiver.recv_timeout(ms(10)),
            Err(RecvTimeoutError::Timeout)
        );
        assert!(start.elapsed() >= ms(10));
        if flavour.capacity().is_some() {
            (0..flavour.room()).for_each(|number| sender.send(number).unwrap());
            let start = Instant::now();
            assert_eq!(
                sender.send_timeout(7, ms(10)),
                Err(SendTimeoutError::Timeout(7))
            );
            assert!(start.elapsed() >= ms(10));
            assert!(receiver.try_iter().eq(0..flavour.room()));
        }
        thread::scope(|scope| {
            scope.spawn(|| sender.send_timeout(8, LONG).unwrap());
            assert_eq!(receiver.recv_timeout(Duration::MAX), Ok(8));
        });
    }
}

fn the_end_reaches_every_wait(flavour: Flavour) {
    for wait in WAITS {
        let (sender, receiver) = flavour.pair::<u8>();
        let receiver = receiver.with_wait(wait);
        let (done, is_done) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(move || done.send(receiver.recv()).unwrap());
            assert!(is_done.recv_timeout(SHORT).is_err());
            drop(sender);
            assert_eq!(is_done.recv_timeout(LONG), Ok(Err(RecvError)));
        });
        if flavour.capacity().is_some() {
            let (sender, receiver) = flavour.pair();
            let sender = sender.with_wait(wait);
            (0..flavour.room()).for_each(|_| sender.send(0).unwrap());
            let (done, is_done) = mpsc::channel();
            thread::scope(|scope| {
                scope.spawn(move || done.send(sender.send(9)).unwrap());
                assert!(is_done.recv_timeout(SHORT).is_err());
                drop(receiver);
                assert_eq!(is_done.recv_timeout(LONG), Ok(Err(SendError(9))));
            });
        }
    }
}

fn many_threads_of_mixed_waits(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let each = 200;
    let sum: usize = thread::scope(|scope| {
        let takers: Vec<_> = WAITS
            .iter()
            .map(|wait| {
                let receiver = receiver.clone().with_wait(*wait);
                scope.spawn(move || receiver.iter().sum::<usize>())
            })
            .collect();
        for (me, wait) in WAITS.iter().enumerate() {
            let sender = sender.clone().with_wait(*wait);
            scope.spawn(move || {
                (0..each).for_each(|number| sender.send(me * each + number).unwrap())
            });
        }
        drop(sender);
        takers.into_iter().map(|taker| taker.join().unwrap()).sum()
    });
    let total = WAITS.len() * each;
    assert_eq!(sum, total * (total - 1) / 2);
}

fn select_over_ends_of_mixed_waits(flavour: Flavour) {
    let channels: Vec<_> = WAITS
        .iter()
        .map(|wait| {
            let (sender, receiver) = flavour.pair();
            (sender.with_wait(*wait), receiver.with_wait(*wait))
        })
        .collect();
    thread::scope(|scope| {
        for (me, (sender, _)) in channels.iter().enumerate() {
            scope.spawn(move || (0..100).for_each(|number| sender.send((me, number)).unwrap()));
        }
        let mut select = Select::new();
        for (_, receiver) in &channels {
            select.recv(receiver);
        }
        let mut next = [0; WAITS.len()];
        for _ in 0..100 * WAITS.len() {
            let selected = select.select();
            let index = selected.index();
            assert_eq!(selected.recv(&channels[index].1), Ok((index, next[index])));
            next[index] += 1;
        }
    });
}

#[test]
fn adaptive_is_the_default_and_names_are_read_back() {
    assert_eq!(Wait::default(), Wait::Adaptive);
    for wait in WAITS {
        let name = wait.to_string();
        assert_eq!(name, name.to_lowercase());
        assert_eq!(name.parse::<Wait>().ok(), Some(wait));
    }
    assert!("".parse::<Wait>().is_err() && "sometimes".parse::<Wait>().is_err());
}

#[test]
fn a_clone_keeps_the_wait_and_the_channel() {
    within_limit(|| {
        let (sender, receiver) = bounded(1);
        let parking = receiver.clone().with_wait(Wait::Park);
        assert!(parking.same_channel(&receiver) && parking.clone().same_channel(&receiver));
        sender.clone().with_wait(Wait::Yield).send(1).unwrap();
        assert_eq!(parking.clone().recv(), Ok(1));
    });
}
