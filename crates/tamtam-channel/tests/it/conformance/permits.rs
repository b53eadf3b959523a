//! Room that is kept for a message to come.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tamtam_channel::{
    Builder, Overflow, RecvTimeoutError, ReserveError, ReserveTimeoutError, Select, SendError,
    TryReserveError, TrySelectError, TrySendError, bounded,
};

use crate::support::{Flavour, LONG, Random, SHORT, for_every_flavour, until_asleep};

for_every_flavour!(
    nothing_can_be_reserved_where_there_is_no_room,
    permits_keep_room_and_give_it_back,
    a_permit_has_no_place_in_the_order,
    room_beside_permits_is_free_for_all,
    batches_keep_to_the_room_beside_permits,
    reserving_waits_for_room,
    a_permit_that_is_dropped_wakes_a_sender,
    closing_refuses_permits,
    a_closed_channel_gives_no_permits,
    a_select_does_not_take_reserved_room,
    a_receiver_that_sleeps_is_not_disturbed_by_permits,
    the_capacity_is_never_exceeded_with_permits_out,
    dropping_channels_respect_permits,
);

/// Permits are about room.
fn has_room(flavour: Flavour) -> bool {
    !flavour.is_rendezvous()
}

/// Rings, where room runs out.
fn has_bounds(flavour: Flavour) -> bool {
    has_room(flavour) && flavour.capacity().is_some()
}

fn nothing_can_be_reserved_where_there_is_no_room(flavour: Flavour) {
    if has_room(flavour) {
        return;
    }
    let (sender, receiver) = flavour.pair::<u8>();
    assert_eq!(
        sender.try_reserve().unwrap_err(),
        TryReserveError::CapacityZero
    );
    assert_eq!(sender.reserve().unwrap_err(), ReserveError::CapacityZero);
    assert_eq!(
        sender.reserve_timeout(LONG).unwrap_err(),
        ReserveTimeoutError::CapacityZero
    );
    assert!(
        ReserveError::CapacityZero
            .to_string()
            .contains("capacity zero")
    );
    drop(receiver);
}

fn permits_keep_room_and_give_it_back(flavour: Flavour) {
    if !has_bounds(flavour) {
        return;
    }
    let room = flavour.room();
    let (sender, receiver) = flavour.pair();
    for round in 0..3 {
        let mut permits: Vec<_> = (0..room).map(|_| sender.try_reserve().unwrap()).collect();
        assert_eq!(sender.try_reserve().unwrap_err(), TryReserveError::Full);
        assert_eq!(sender.try_send(7), Err(TrySendError::Full(7)));
        assert!(sender.send_timeout(7, Duration::ZERO).is_err());
        assert_eq!(
            sender.reserve_timeout(Duration::ZERO).unwrap_err(),
            ReserveTimeoutError::Timeout
        );
        assert_eq!(
            sender.reserve_deadline(Instant::now()).unwrap_err(),
            ReserveTimeoutError::Timeout
        );
        // Permits are no messages.
        assert_eq!((sender.len(), receiver.is_empty()), (0, true));
        drop(permits.pop());
        assert_eq!(sender.try_send(round), Ok(()));
        assert_eq!(sender.try_send(7), Err(TrySendError::Full(7)));
        assert_eq!(receiver.try_recv(), Ok(round));
        drop(permits);
        for number in 0..room {
            assert_eq!(sender.try_send(number), Ok(()));
        }
        assert!(sender.is_full());
        assert_eq!(sender.try_reserve().unwrap_err(), TryReserveError::Full);
        assert!(receiver.try_iter().eq(0..room));
    }
}

fn a_permit_has_no_place_in_the_order(flavour: Flavour) {
    if !has_room(flavour) {
        return;
    }
    let room = flavour.room();
    let (sender, receiver) = flavour.pair();
    let permit = sender.reserve().unwrap();
    assert_eq!(format!("{permit:?}"), "Permit { .. }");
    (1..room).for_each(|number| sender.send(number).unwrap());
    permit.send(room).unwrap();
    assert!(receiver.try_iter().eq(1..=room));
}

fn room_beside_permits_is_free_for_all(flavour: Flavour) {
    if flavour.room() < 2 {
        return;
    }
    let (sender, receiver) = flavour.pair();
    let permit = sender.reserve().unwrap();
    // It is held while thousands of messages pass by it.
    thread::scope(|scope| {
        for _ in 0..2 {
            let sender = sender.clone();
            scope.spawn(move || (0..2_000).for_each(|number| sender.send(number).unwrap()));
        }
        for _ in 0..2 {
            scope.spawn(|| (0..2_000).for_each(|_| _ = receiver.recv().unwrap()));
        }
    });
    assert!(receiver.is_empty());
    permit.send(5).unwrap();
    assert_eq!(receiver.recv(), Ok(5));
}

fn batches_keep_to_the_room_beside_permits(flavour: Flavour) {
    if flavour.room() < 2 {
        return;
    }
    let (sender, receiver) = flavour.pair();
    let permit = sender.reserve().unwrap();
    let count = 3 * flavour.room();
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(sender.send_many(0..count), Ok(count)));
        let mut got = Vec::new();
        while got.len() < count {
            if flavour.capacity().is_some() {
                assert!(receiver.len() < flavour.room());
            }
            receiver.recv_many(&mut got, 7).unwrap();
        }
        assert!(got.into_iter().eq(0..count));
    });
    permit.send(5).unwrap();
    assert_eq!(receiver.recv(), Ok(5));
}

fn reserving_waits_for_room(flavour: Flavour) {
    if !has_bounds(flavour) {
        return;
    }
    let (sender, receiver) = flavour.pair();
    (0..flavour.room()).for_each(|number| sender.send(number).unwrap());
    let (done, is_done) = bounded(1);
    thread::scope(|scope| {
        scope.spawn(|| {
            let permit = sender.reserve_timeout(LONG).unwrap();
            done.send(()).unwrap();
            permit.send(9).unwrap();
        });
        assert_eq!(is_done.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
        assert_eq!(receiver.recv(), Ok(0));
        assert_eq!(is_done.recv_timeout(LONG), Ok(()));
    });
    assert_eq!(receiver.try_iter().last(), Some(9));
}

fn a_permit_that_is_dropped_wakes_a_sender(flavour: Flavour) {
    if !has_bounds(flavour) {
        return;
    }
    for reserves in [false, true] {
        let (sender, receiver) = flavour.pair();
        let permits: Vec<_> = (0..flavour.room())
            .map(|_| sender.reserve().unwrap())
            .collect();
        let (ready, is_ready) = bounded(1);
        thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                ready.send(crate::support::thread_number()).unwrap();
                if reserves {
                    sender.reserve_timeout(LONG).unwrap().send(1).is_ok()
                } else {
                    sender.send_timeout(1, LONG).is_ok()
                }
            });
            until_asleep(&[is_ready.recv().unwrap()]);
            let mut permits = permits;
            drop(permits.pop());
            assert!(waiter.join().unwrap());
        });
        assert_eq!(receiver.try_recv(), Ok(1));
    }
}

fn closing_refuses_permits(flavour: Flavour) {
    if !has_room(flavour) {
        return;
    }
    let (sender, receiver) = flavour.pair();
    let (one, two) = (sender.reserve().unwrap(), sender.downgrade());
    receiver.close();
    assert_eq!(one.send(1), Err(SendError(1)));
    assert!(two.upgrade().is_none());

    if has_bounds(flavour) {
        let (sender, receiver) = flavour.pair::<u8>();
        let permits: Vec<_> = (0..flavour.room())
            .map(|_| sender.reserve().unwrap())
            .collect();
        let (done, is_done) = bounded(1);
        thread::scope(|scope| {
            scope.spawn(|| done.send(sender.reserve().unwrap_err()).unwrap());
            assert!(is_done.recv_timeout(SHORT).is_err());
            drop(receiver);
            assert_eq!(is_done.recv_timeout(LONG), Ok(ReserveError::Disconnected));
        });
        drop(permits);
    }
}

fn a_closed_channel_gives_no_permits(flavour: Flavour) {
    if !has_room(flavour) {
        return;
    }
    let (sender, receiver) = flavour.pair::<u8>();
    drop(receiver);
    assert_eq!(
        sender.try_reserve().unwrap_err(),
        TryReserveError::Disconnected
    );
    assert_eq!(sender.reserve().unwrap_err(), ReserveError::Disconnected);
    assert_eq!(
        sender.reserve_timeout(LONG).unwrap_err(),
        ReserveTimeoutError::Disconnected
    );
}

fn a_select_does_not_take_reserved_room(flavour: Flavour) {
    if !has_bounds(flavour) {
        return;
    }
    let (sender, receiver) = flavour.pair();
    let permits: Vec<_> = (0..flavour.room())
        .map(|_| sender.reserve().unwrap())
        .collect();
    let mut select = Select::new();
    select.send(&sender);
    assert!(matches!(select.try_select(), Err(TrySelectError)));
    assert!(select.try_ready().is_err());
    assert!(select.ready_timeout(Duration::from_millis(2)).is_err());
    let (done, is_done) = bounded(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut select = Select::new();
            select.send(&sender);
            select.ready();
            done.send(()).unwrap();
            select.select().send(&sender, 1).unwrap();
            done.send(()).unwrap();
        });
        assert!(is_done.recv_timeout(SHORT).is_err());
        drop(permits);
        assert_eq!(is_done.recv_timeout(LONG), Ok(()));
        assert_eq!(is_done.recv_timeout(LONG), Ok(()));
    });
    assert_eq!(receiver.try_recv(), Ok(1));
}

/// The bit in the tail that says there are permits must not look like mail.
fn a_receiver_that_sleeps_is_not_disturbed_by_permits(flavour: Flavour) {
    if !has_room(flavour) {
        return;
    }
    let (sender, receiver) = flavour.pair();
    let (ready, is_ready) = bounded(1);
    thread::scope(|scope| {
        let taker = scope.spawn(|| {
            ready.send(crate::support::thread_number()).unwrap();
            receiver.recv_timeout(LONG)
        });
        let permit = sender.reserve().unwrap();
        assert!(receiver.is_empty());
        // It would stay awake otherwise.
        until_asleep(&[is_ready.recv().unwrap()]);
        permit.send("here").unwrap();
        assert_eq!(taker.join().unwrap(), Ok("here"));
    });
}

/// All ways to send and to reserve at once: never more messages than room, nor permits, and nothing lost.
fn the_capacity_is_never_exceeded_with_permits_out(flavour: Flavour) {
    if !has_room(flavour) {
        return;
    }
    let (sender, receiver) = flavour.pair();
    let stop = AtomicBool::new(false);
    let most = flavour.capacity().unwrap_or(usize::MAX);
    let accepted = AtomicUsize::new(0);
    let permits_out = AtomicUsize::new(0);
    thread::scope(|scope| {
        for me in 0..4 {
            let sender = sender.clone();
            let (stop, accepted, permits_out) = (&stop, &accepted, &permits_out);
            scope.spawn(move || {
                let mut random = Random::new(me);
                while !stop.load(Ordering::Relaxed) {
                    let sent = match random.below(6) {
                        0 => usize::from(sender.try_send(1).is_ok()),
                        1 => usize::from(
                            sender
                                .send_timeout(1, Duration::from_micros(random.below(100)))
                                .is_ok(),
                        ),
                        2 => sender.send_many([1; 3]).unwrap(),
                        kind => {
                            let patience = Duration::from_micros(random.below(100));
                            let Ok(permit) = sender.reserve_timeout(patience) else {
                                continue;
                            };
                            permits_out.fetch_add(1, Ordering::SeqCst);
                            if random.below(4) == 0 {
                                thread::yield_now();
                            }
                            // No longer counted when its room may be given to another one.
                            permits_out.fetch_sub(1, Ordering::SeqCst);
                            if kind == 3 {
                                drop(permit);
                                0
                            } else {
                                permit.send(1).unwrap();
                                1
                            }
                        }
                    };
                    accepted.fetch_add(sent, Ordering::Relaxed);
                    if sender.len() > 10_000 {
                        thread::yield_now();
                    }
                }
            });
        }
        drop(sender);
        let takers: Vec<_> = (0..2)
            .map(|_| {
                let receiver = receiver.clone();
                scope.spawn(move || {
                    let mut got = 0;
                    let mut buffer = Vec::new();
                    while let Ok(taken) = receiver.recv_many(&mut buffer, 3) {
                        got += taken;
                        buffer.clear();
                    }
                    got
                })
            })
            .collect();
        let end = Instant::now() + Duration::from_millis(150);
        while Instant::now() < end {
            let out = permits_out.load(Ordering::SeqCst);
            let held = receiver.len();
            assert!(held <= most, "{held} messages");
            assert!(out <= most, "{out} permits");
            thread::yield_now();
        }
        stop.store(true, Ordering::Relaxed);
        let got: usize = takers.into_iter().map(|taker| taker.join().unwrap()).sum();
        assert_eq!(got, accepted.load(Ordering::Relaxed));
    });
}

fn dropping_channels_respect_permits(flavour: Flavour) {
    if !has_bounds(flavour) {
        return;
    }
    let room = flavour.room();
    for overflow in [Overflow::DropNewest, Overflow::DropOldest] {
        let (sender, receiver) = Builder::new().capacity(room).overflow(overflow).build();
        let permit = sender.reserve().unwrap();
        let displaced: Vec<_> = (0..room + 3)
            .filter_map(|number| sender.send_reporting(number).unwrap())
            .collect();
        // One place less; with none left the new message goes in any case.
        let expected: Vec<_> = match overflow {
            Overflow::DropOldest if room > 1 => (0..4).collect(),
            _ => (room - 1..room + 3).collect(),
        };
        assert_eq!(displaced, expected);
        assert_eq!((sender.dropped(), sender.len()), (4, room - 1));
        permit.send(1000).unwrap();
        assert_eq!((sender.dropped(), sender.len()), (4, room));
        let got: Vec<_> = receiver.try_iter().collect();
        assert_eq!((got.len(), got[room - 1]), (room, 1000));
        // And without permits it is as before.
        sender.send_many(0..2 * room).unwrap();
        assert_eq!(sender.dropped() as usize, 4 + room);
    }
}
