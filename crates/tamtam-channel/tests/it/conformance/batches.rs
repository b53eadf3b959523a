//! Many messages at a time: `send_many`, the `_many` forms of receiving, and `drain`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use tamtam_channel::{
    RecvError, RecvTimeoutError, SendManyError, TryRecvError, after, bounded, never, unbounded,
};

use crate::support::{
    Drops, Flavour, LONG, SHORT, Token, for_every_flavour, ms, until, until_asleep,
};

for_every_flavour!(
    a_batch_arrives_whole_and_in_order,
    a_batch_larger_than_the_room_waits_for_it,
    batches_of_all_sizes_and_kinds_of_message,
    several_threads_with_batches_lose_nothing,
    a_limit_is_kept_and_the_rest_stays,
    a_limit_of_zero_returns_at_once,
    an_empty_channel_has_no_batch,
    a_batch_waits_for_its_first_message,
    a_batch_sent_wakes_many_receivers,
    a_batch_received_wakes_many_senders,
    what_could_not_be_sent_comes_back,
    closing_a_waiting_batch_gives_the_rest_back,
    an_iterator_that_panics_loses_only_what_it_gave,
    drain_brings_what_was_there,
    drain_leaves_what_it_was_not_asked_for,
    every_message_of_a_batch_is_dropped_once,
);

fn a_batch_arrives_whole_and_in_order(flavour: Flavour) {
    for count in [0, 1, 2, 31, 32, 33, 100, 1000] {
        let (sender, receiver) = flavour.pair();
        let mut got = Vec::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(sender.send_many(0..count), Ok(count));
                sender.close();
            });
            while let Ok(taken) = receiver.recv_many(&mut got, 77) {
                assert!(taken > 0 && taken <= 77);
            }
        });
        assert!(got.into_iter().eq(0..count));
    }
}

/// A portion has at most 256 messages; a batch is all that is there.
#[test]
fn a_batch_of_several_portions_is_all_that_is_there() {
    for (sender, receiver) in [bounded(1_000), unbounded()] {
        assert_eq!(sender.send_many(0..1_000), Ok(1_000));
        let mut got = Vec::new();
        assert_eq!(receiver.try_recv_many(&mut got, 5_000), Ok(1_000));
        assert!(got.into_iter().eq(0..1_000));
    }
}

fn a_batch_larger_than_the_room_waits_for_it(flavour: Flavour) {
    if flavour.capacity().is_none() {
        return;
    }
    let (sender, receiver) = flavour.pair();
    let count = 3 * flavour.room() + 5;
    let (done, is_done) = bounded(1);
    thread::scope(|scope| {
        scope.spawn(|| done.send(sender.send_many(0..count)).unwrap());
        until(|| receiver.len() == flavour.room());
        assert_eq!(is_done.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
        assert_eq!(receiver.len(), flavour.room());
        assert!((0..count).all(|number| receiver.recv() == Ok(number)));
        assert_eq!(is_done.recv_timeout(LONG), Ok(Ok(count)));
    });
}

fn batches_of_all_sizes_and_kinds_of_message(flavour: Flavour) {
    fn run<T: PartialEq + Send + Sync>(flavour: Flavour, make: impl Fn(usize) -> T + Sync) {
        let (sender, receiver) = flavour.pair();
        let total = 600;
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut next = 0;
                for size in (0..).take_while(|size| size * (size + 1) / 2 < total) {
                    let end = (next + size).min(total);
                    assert_eq!(sender.send_many((next..end).map(&make)), Ok(end - next));
                    next = end;
                }
                sender.send_many((next..total).map(&make)).unwrap();
            });
            let mut next = 0;
            let mut size = 1;
            while next < total {
                let mut got = Vec::new();
                let taken = receiver.recv_many(&mut got, size).unwrap();
                assert_eq!(taken, got.len());
                for message in got {
                    assert!(message == make(next));
                    next += 1;
                }
                // Single ones in between, too.
                if next < total {
                    assert!(receiver.recv().unwrap() == make(next));
                    next += 1;
                }
                size = size % 40 + 3;
            }
        });
        assert!(receiver.is_empty());
    }
    run(flavour, |_| ());
    run(flavour, |number| number as u8);
    run(flavour, |number| number.to_string());
    run(flavour, |number| [number; 40]);
    run(flavour, |number| [number as u64; 300]);
}

fn several_threads_with_batches_lose_nothing(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let each = 2_000;
    let mut got: Vec<(usize, usize)> = thread::scope(|scope| {
        for me in 0..3 {
            let sender = sender.clone();
            scope.spawn(move || {
                let mut numbers = 0..each;
                // Of very different sizes.
                for size in (1..60).cycle() {
                    let sent = sender.send_many(numbers.by_ref().take(size).map(|n| (me, n)));
                    if sent.unwrap() == 0 {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let takers: Vec<_> = (0..3)
            .map(|me| {
                let receiver = receiver.clone();
                scope.spawn(move || {
                    let mut got = Vec::new();
                    while receiver.recv_many(&mut got, 10 + 100 * me).is_ok() {}
                    // One receiver gets what one sender sent in the order sent.
                    for from in 0..3 {
                        assert!(
                            got.iter()
                                .filter(|(sender, _)| *sender == from)
                                .is_sorted_by_key(|(_, number)| number)
                        );
                    }
                    got
                })
            })
            .collect();
        takers
            .into_iter()
            .flat_map(|taker| taker.join().unwrap())
            .collect()
    });
    got.sort_unstable();
    assert!(
        got.into_iter()
            .eq((0..3).flat_map(|me| (0..each).map(move |number| (me, number))))
    );
}

fn a_limit_is_kept_and_the_rest_stays(flavour: Flavour) {
    let room = flavour.room();
    let (sender, receiver) = flavour.pair();
    sender.send_many(0..room).unwrap();
    let mut got = vec![usize::MAX];
    let mut left = room;
    for limit in [1, 1, 3, 50, 7] {
        let expected = left.min(limit);
        let result = match limit {
            3 => receiver
                .recv_timeout_many(&mut got, limit, Duration::ZERO)
                .ok(),
            7 => receiver
                .recv_deadline_many(&mut got, limit, Instant::now())
                .ok(),
            _ => receiver.try_recv_many(&mut got, limit).ok(),
        };
        assert_eq!(result, (expected > 0).then_some(expected));
        left -= expected;
        assert_eq!(receiver.len(), left);
    }
    if left > 0 {
        assert_eq!(receiver.recv_many(&mut got, usize::MAX), Ok(left));
    }
    // What was in the buffer stays before the rest.
    assert_eq!(got[0], usize::MAX);
    assert!(got[1..].iter().copied().eq(0..room));
}

fn a_limit_of_zero_returns_at_once(flavour: Flavour) {
    let (sender, receiver) = flavour.pair::<u8>();
    for _ in 0..2 {
        let mut got = Vec::new();
        assert_eq!(receiver.recv_many(&mut got, 0), Ok(0));
        assert_eq!(receiver.try_recv_many(&mut got, 0), Ok(0));
        assert_eq!(receiver.recv_timeout_many(&mut got, 0, LONG), Ok(0));
        assert_eq!(
            receiver.recv_deadline_many(&mut got, 0, Instant::now()),
            Ok(0)
        );
        assert_eq!(sender.send_many([]), Ok(0));
        sender.close();
    }
}

fn an_empty_channel_has_no_batch(flavour: Flavour) {
    let (sender, receiver) = flavour.pair::<u8>();
    let mut got = Vec::new();
    let start = Instant::now();
    assert_eq!(
        receiver.try_recv_many(&mut got, 5),
        Err(TryRecvError::Empty)
    );
    assert_eq!(
        receiver.recv_timeout_many(&mut got, 5, SHORT),
        Err(RecvTimeoutError::Timeout)
    );
    assert!(start.elapsed() >= SHORT);
    assert_eq!(
        receiver.recv_deadline_many(&mut got, 5, Instant::now()),
        Err(RecvTimeoutError::Timeout)
    );
    drop(sender);
    assert_eq!(receiver.recv_many(&mut got, 5), Err(RecvError));
    assert_eq!(
        receiver.try_recv_many(&mut got, 5),
        Err(TryRecvError::Disconnected)
    );
    assert_eq!(
        receiver.recv_timeout_many(&mut got, 5, LONG),
        Err(RecvTimeoutError::Disconnected)
    );
}

fn a_batch_waits_for_its_first_message(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let (done, is_done) = bounded(1);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut got = Vec::new();
            let result = receiver.recv_timeout_many(&mut got, 100, LONG);
            done.send((result, got)).unwrap();
        });
        assert!(is_done.recv_timeout(SHORT).is_err());
        sender.send(5).unwrap();
        assert_eq!(is_done.recv_timeout(LONG), Ok((Ok(1), vec![5])));
    });
}

/// One batch, as many messages as receivers that sleep: each of them gets one, and nothing else happens
/// that could wake them.
fn a_batch_sent_wakes_many_receivers(flavour: Flavour) {
    let count = 8;
    let (sender, receiver) = flavour.pair();
    let (ready, is_ready) = bounded(count);
    let (done, is_done) = bounded(count);
    thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| {
                ready.send(crate::support::thread_number()).unwrap();
                done.send(receiver.recv_timeout(LONG)).unwrap();
            });
        }
        let threads: Vec<_> = is_ready.iter().take(count).collect();
        until_asleep(&threads);
        sender.send_many(0..count).unwrap();
        let mut got: Vec<_> = is_done.iter().take(count).map(Result::unwrap).collect();
        got.sort_unstable();
        assert!(got.into_iter().eq(0..count));
    });
}

/// One batch makes room for as many senders as sleep.
fn a_batch_received_wakes_many_senders(flavour: Flavour) {
    let room = flavour.room();
    if flavour.capacity().is_none() || flavour.is_rendezvous() {
        return;
    }
    let (sender, receiver) = flavour.pair();
    sender.send_many(0..room).unwrap();
    let (ready, is_ready) = bounded(room);
    let count = room.min(8);
    thread::scope(|scope| {
        let senders: Vec<_> = (0..count)
            .map(|_| {
                scope.spawn(|| {
                    ready.send(crate::support::thread_number()).unwrap();
                    sender.send_timeout(room, LONG)
                })
            })
            .collect();
        let threads: Vec<_> = is_ready.iter().take(count).collect();
        until_asleep(&threads);
        let mut got = Vec::new();
        assert_eq!(receiver.try_recv_many(&mut got, room), Ok(room));
        for sender in senders {
            assert_eq!(sender.join().unwrap(), Ok(()));
        }
        assert_eq!(receiver.len(), count);
    });
}

fn what_could_not_be_sent_comes_back(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    drop(receiver);
    let mut numbers = 0..100;
    let SendManyError { sent, unsent } = sender.send_many(numbers.by_ref()).unwrap_err();
    assert_eq!(sent, 0);
    assert!(!unsent.is_empty());
    assert!(unsent.into_iter().chain(numbers).eq(0..100));

    let error = sender.send_many([7]).unwrap_err();
    assert_eq!(format!("{error:?}"), "SendManyError { sent: 0, unsent: 1 }");
    assert_eq!(error.to_string(), "sending on a disconnected channel");
    assert_eq!(error.into_inner(), [7]);
}

fn closing_a_waiting_batch_gives_the_rest_back(flavour: Flavour) {
    if flavour.capacity().is_none() {
        return;
    }
    let (sender, receiver) = flavour.pair();
    let (done, is_done) = bounded(1);
    let count = flavour.room() + 40;
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut numbers = 0..count;
            let result = sender.send_many(numbers.by_ref());
            done.send((result, numbers)).unwrap();
        });
        assert!(is_done.recv_timeout(SHORT).is_err());
        let mut got = vec![receiver.recv().unwrap()];
        receiver.close();
        let (result, rest) = is_done.recv_timeout(LONG).unwrap();
        let error = result.unwrap_err();
        got.extend(receiver.try_iter());
        assert_eq!(got.len(), error.sent);
        assert!(got.into_iter().chain(error.unsent).chain(rest).eq(0..count));
    });
}

fn an_iterator_that_panics_loses_only_what_it_gave(flavour: Flavour) {
    if flavour.is_rendezvous() {
        return;
    }
    let drops = Drops::default();
    let (sender, receiver) = flavour.pair::<Token>();
    let result = catch_unwind(AssertUnwindSafe(|| {
        sender.send_many((0..5).map(|number| {
            assert!(number < 3, "as the test wants it");
            drops.numbered(number)
        }))
    }));
    assert!(result.is_err());
    assert_eq!(drops.count() + receiver.len(), 3);
    // And the channel works as before.
    let before = receiver.len();
    assert!(sender.try_send(drops.numbered(9)).is_ok());
    assert_eq!(receiver.try_iter().count(), before + 1);
}

fn drain_brings_what_was_there(flavour: Flavour) {
    let room = flavour.room();
    let (sender, receiver) = flavour.pair();
    assert_eq!(receiver.drain().next(), None);
    sender.send_many(0..room).unwrap();
    let mut drain = receiver.drain();
    assert_eq!(drain.size_hint(), (0, Some(room)));
    for number in 0..room {
        assert_eq!(drain.next(), Some(number));
        // What comes meanwhile is for the next one.
        sender.send(room + number).unwrap();
    }
    assert_eq!((drain.next(), drain.next()), (None, None));
    assert_eq!(format!("{drain:?}"), "Drain { .. }");
    assert!(receiver.drain().eq(room..2 * room));
    drop(sender);
    assert_eq!(receiver.drain().count(), 0);
}

fn drain_leaves_what_it_was_not_asked_for(flavour: Flavour) {
    let room = flavour.room();
    let (sender, receiver) = flavour.pair();
    sender.send_many(0..room).unwrap();
    let taken: Vec<_> = receiver.drain().take(room / 2).collect();
    assert!(taken.into_iter().eq(0..room / 2));
    assert_eq!(receiver.drain().take(0).count(), 0);
    let mut drain = receiver.drain();
    // Somebody else takes some of it.
    assert_eq!(receiver.try_iter().count(), room - room / 2);
    assert_eq!(drain.next(), None);
    assert_eq!(drain.size_hint(), (0, Some(0)));
}

fn every_message_of_a_batch_is_dropped_once(flavour: Flavour) {
    let drops = Drops::default();
    let room = flavour.room();
    let (sender, receiver) = flavour.pair();
    assert!(sender.send_many((0..room).map(|_| drops.token())).is_ok());
    assert_eq!(drops.count(), 0);
    let mut got = Vec::new();
    if room > 1 {
        assert_eq!(receiver.recv_many(&mut got, room / 2), Ok(room / 2));
    }
    assert_eq!(drops.count(), 0);
    drop(got);
    assert_eq!(drops.count(), room / 2);
    drop(receiver);
    assert_eq!(drops.count(), room);
    let error = sender.send_many((0..3).map(|_| drops.token()));
    assert!(error.is_err());
    drop(error);
    assert_eq!(drops.count(), room + 3);
}

#[test]
fn a_rendezvous_drains_the_senders_that_wait() {
    let (sender, receiver) = bounded(0);
    let (ready, is_ready) = bounded(4);
    thread::scope(|scope| {
        for number in 0..4 {
            let (sender, ready) = (sender.clone(), ready.clone());
            scope.spawn(move || {
                ready.send(crate::support::thread_number()).unwrap();
                sender.send_many([number, number]).unwrap();
            });
        }
        until_asleep(&is_ready.iter().take(4).collect::<Vec<_>>());
        let mut got: Vec<_> = receiver.drain().collect();
        assert_eq!(got.len(), 4);
        got.extend(receiver.iter().take(4));
        got.sort_unstable();
        assert_eq!(got, [0, 0, 1, 1, 2, 2, 3, 3]);
    });
}

#[test]
fn timers_have_batches_of_one() {
    let timer = after(ms(1));
    let mut got = Vec::new();
    assert_eq!(timer.recv_many(&mut got, 10), Ok(1));
    assert_eq!(timer.try_recv_many(&mut got, 10), Err(TryRecvError::Empty));
    assert_eq!(
        never::<u8>().recv_timeout_many(&mut Vec::new(), 10, ms(1)),
        Err(RecvTimeoutError::Timeout)
    );
    let timer = after(Duration::ZERO);
    assert_eq!(timer.drain().count(), 1);
}
