//! What is chosen, and what ends the wait.

use std::cell::Cell;
use std::collections::VecDeque;
use std::thread;
use std::time::Instant;

use tamtam_channel::{
    RecvError, SendError, after, bounded, never, select, select_biased, tick, unbounded,
};

use crate::select_macro::{FOREVER, SHORT};

#[test]
fn select_chooses_every_ready_arm() {
    let (_sender, a) = (0..3000).fold(unbounded(), |channel, n| {
        channel.0.send(n).unwrap();
        channel
    });
    let b = a.clone();
    let (sink, sunk) = unbounded();
    let mut counts = [0; 3];
    for _ in 0..3000 {
        select! {
            recv(a) -> message => { message.unwrap(); counts[0] += 1 }
            recv(b) -> message => { message.unwrap(); counts[1] += 1 }
            send(sink, ()) -> result => { result.unwrap(); counts[2] += 1 }
        }
    }
    assert_eq!(counts.iter().sum::<usize>(), 3000);
    assert_eq!(
        (3000 - a.len(), sunk.len()),
        (counts[0] + counts[1], counts[2])
    );
    // One thousand each is expected; six hundred is fifteen standard deviations away.
    assert!(counts.iter().all(|&count| count > 600), "{counts:?}");
}

#[test]
fn select_biased_chooses_the_first_ready_arm() {
    let (_sender, ready) = (0..200).fold(unbounded(), |channel, n| {
        channel.0.send(n).unwrap();
        channel
    });
    let silent = never::<i32>();
    for round in 0..100 {
        let first = select_biased! {
            recv(silent) -> _ => unreachable!(),
            recv(ready) -> message => message,
            recv(ready) -> _ => unreachable!(),
            default => unreachable!(),
        };
        let second = select_biased! {
            recv(silent) -> _ => unreachable!(),
            recv(ready) -> message => message,
            recv(ready) -> _ => unreachable!(),
        };
        assert_eq!((first, second), (Ok(2 * round), Ok(2 * round + 1)));
    }
}

#[test]
fn default_only_if_nothing_is_ready() {
    let (sender, receiver) = bounded(1);
    let silent = never::<u32>();
    for round in 0..100 {
        let sent = select! { send(sender, round) -> result => result.is_ok(), default => false };
        assert!(sent);
        let message = select! {
            recv(silent) -> _ => unreachable!(),
            recv(receiver) -> message => message.ok(),
            default => None,
        };
        assert_eq!(message, Some(round));
    }
    drop(sender);
    let closed = select! {
        recv(silent) -> _ => false,
        recv(receiver) -> message => message.is_err(),
        default => false,
    };
    assert!(closed, "a disconnected channel is ready");
}

#[test]
fn timeout_passes_in_full() {
    let (sender, _receiver) = bounded(0);
    let silent = never::<u32>();
    let start = Instant::now();
    select! {
        recv(silent) -> _ => unreachable!(),
        send(sender, 1) -> _ => unreachable!(),
        default(SHORT) => {}
    }
    assert!(start.elapsed() >= SHORT);
}

#[test]
fn a_message_ends_the_wait() {
    let silent = never::<u32>();
    let (sender, receiver) = bounded(0);
    let (answer_sender, answers) = bounded(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..1000 {
                select! {
                    recv(silent) -> _ => unreachable!(),
                    recv(receiver) -> message => assert_eq!(message, Ok(round)),
                }
                select! {
                    recv(silent) -> _ => unreachable!(),
                    send(answer_sender, round) -> result => result.unwrap(),
                    default(FOREVER) => unreachable!(),
                }
            }
        });
        for round in 0..1000 {
            select! { send(sender, round) -> result => result.unwrap() }
            let answer =
                select! { recv(answers) -> message => message, default(FOREVER) => Err(RecvError) };
            assert_eq!(answer, Ok(round));
        }
    });
}

#[test]
fn disconnection_ends_the_wait() {
    for wait_for_send in [false, true] {
        let silent = never::<u32>();
        let (sender, receiver) = bounded::<u32>(0);
        let (full, unread) = bounded::<u32>(0);
        // Which of these two is not dropped below lives until the thread has ended.
        let (mut sender, mut unread) = (Some(sender), Some(unread));
        let (ready_sender, ready) = bounded(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                ready_sender.send(()).unwrap();
                select! {
                    recv(silent) -> _ => unreachable!(),
                    recv(receiver) -> message => assert_eq!((message, wait_for_send), (Err(RecvError), false)),
                    send(full, 1) -> result => assert_eq!((result, wait_for_send), (Err(SendError(1)), true)),
                }
            });
            ready.recv().unwrap();
            if wait_for_send {
                unread = None;
            } else {
                sender = None;
            }
        });
    }
}

#[test]
fn two_selects_meet_and_nothing_is_lost_or_doubled() {
    const EACH: u64 = 2000;
    let (left_sender, left) = bounded::<u64>(0);
    let (right_sender, right) = bounded::<u64>(1);
    let totals: Vec<(u64, u64)> = thread::scope(|scope| {
        let producers = (0..2).map(|producer| {
            let (left_sender, right_sender) = (left_sender.clone(), right_sender.clone());
            scope.spawn(move || {
                for n in 0..EACH {
                    let value = producer * EACH + n;
                    select! {
                        send(left_sender, value) -> result => result.unwrap(),
                        send(right_sender, value) -> result => result.unwrap(),
                    }
                }
            })
        });
        let producers: Vec<_> = producers.collect();
        let consumers = (0..2).map(|_| {
            let (left, right) = (left.clone(), right.clone());
            scope.spawn(move || {
                let (mut open, mut count, mut sum) = ([true; 2], 0, 0);
                while open != [false; 2] {
                    let message = select! {
                        recv(if open[0] { left.clone() } else { never() }) -> message => {
                            open[0] = message.is_ok();
                            message
                        }
                        recv(if open[1] { right.clone() } else { never() }) -> message => {
                            open[1] = message.is_ok();
                            message
                        }
                    };
                    if let Ok(value) = message {
                        count += 1;
                        sum += value;
                    }
                }
                (count, sum)
            })
        });
        let consumers: Vec<_> = consumers.collect();
        producers
            .into_iter()
            .for_each(|producer| producer.join().unwrap());
        drop((left_sender, right_sender));
        consumers
            .into_iter()
            .map(|consumer| consumer.join().unwrap())
            .collect()
    });
    let total = totals
        .iter()
        .fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
    assert_eq!(total, (2 * EACH, (0..2 * EACH).sum()));
}

#[test]
fn a_relay_that_stores_what_it_cannot_pass_on() {
    let (sender, input) = unbounded();
    let (output, receiver) = bounded(1);
    let relay = thread::spawn(move || {
        let mut input = Some(input);
        let mut stored = VecDeque::new();
        while input.is_some() || !stored.is_empty() {
            let silent = never();
            let nowhere = bounded(0);
            select! {
                recv(input.as_ref().unwrap_or(&silent)) -> message => match message {
                    Ok(value) => stored.push_back(value),
                    Err(RecvError) => input = None,
                },
                send(if stored.is_empty() { &nowhere.0 } else { &output }, stored.pop_front().unwrap()) -> result => {
                    result.unwrap();
                }
            }
        }
    });
    (0..500).for_each(|n| sender.send(n).unwrap());
    drop(sender);
    assert!(receiver.iter().eq(0..500));
    relay.join().unwrap();
}

#[test]
fn timers() {
    let ticks = tick(SHORT);
    let deadline = after(FOREVER);
    let seen = Cell::new(0);
    while seen.get() < 3 {
        select! {
            recv(ticks) -> _ => seen.set(seen.get() + 1),
            recv(deadline) -> _ => unreachable!(),
        }
    }
    assert_eq!(seen.get(), 3);
}
