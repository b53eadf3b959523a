//! Room that is kept for a message to come.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use tamtam_channel::{
    ReserveError, ReserveTimeoutError, SendError, TryReserveError, TrySendError, mpsc, spsc,
};

use super::{block_on, counter, for_each_kind};

for_each_kind! {
    fn a_permit_has_no_place_in_the_order(open) {
        let (sender, receiver) = open!(4);
        let first = sender.reserve().unwrap();
        assert_eq!(format!("{first:?}"), "Permit { .. }");
        sender.send(1).unwrap();
        let second = sender.try_reserve().unwrap();
        sender.send(2).unwrap();
        second.send(3).unwrap();
        first.send(4).unwrap();
        assert!(receiver.try_iter().eq(1..=4));
    }

    fn permits_are_no_messages(open) {
        let (sender, receiver) = open!(4);
        let permits = [(); 3].map(|()| sender.reserve().unwrap());
        assert_eq!((sender.len(), receiver.len()), (0, 0));
        assert!(!sender.is_full() && receiver.is_empty());
        assert!(receiver.try_recv().is_err());
        sender.send(1).unwrap();
        drop(permits);
        assert!(sender.send_many(2..=4).is_ok());
        assert!(receiver.try_iter().eq(1..=4));
    }

    fn a_closed_channel_gives_no_permits(open) {
        let (mut sender, receiver) = open!(3);
        sender.send(1).unwrap();
        let permit = sender.reserve().unwrap();
        receiver.close();
        assert_eq!(permit.send(2), Err(SendError(2)));
        assert_eq!(sender.try_reserve().unwrap_err(), TryReserveError::Disconnected);
        assert_eq!(sender.reserve().unwrap_err(), ReserveError::Disconnected);
        assert_eq!(
            sender.reserve_timeout(Duration::ZERO).unwrap_err(),
            ReserveTimeoutError::Disconnected
        );
        assert_eq!(
            sender.reserve_deadline(Instant::now()).unwrap_err(),
            ReserveTimeoutError::Disconnected
        );
        assert_eq!(block_on(sender.reserve_async()).unwrap_err(), ReserveError::Disconnected);
        assert_eq!(
            block_on(sender.reserve_timeout_async(Duration::ZERO)).unwrap_err(),
            ReserveTimeoutError::Disconnected
        );
        assert!(receiver.try_iter().eq([1]));
    }

    fn a_permit_of_a_sender_that_was_closed_gives_its_message_back(open) {
        let (sender, receiver) = open!(3);
        sender.send(1).unwrap();
        let permit = sender.reserve().unwrap();
        sender.close();
        assert_eq!(permit.send(2), Err(SendError(2)));
        assert_eq!(sender.try_reserve().unwrap_err(), TryReserveError::Disconnected);
        assert!(receiver.iter().eq([1]));
    }

    fn an_awaited_permit_sends_and_goes_to_other_threads(open) {
        let (mut sender, receiver) = open!(2);
        thread::scope(|scope| {
            let permit = block_on(sender.reserve_async()).unwrap();
            assert_eq!(format!("{permit:?}"), "ExclusivePermit { .. }");
            scope.spawn(move || permit.send(1).unwrap());
        });
        // Dropped, it keeps nothing.
        drop(block_on(sender.reserve_async()).unwrap());
        drop(block_on(sender.reserve_timeout_async(Duration::ZERO)).unwrap());
        let later = Instant::now() + Duration::from_secs(60);
        let permit = block_on(sender.reserve_deadline_async(later)).unwrap();
        permit.send(2).unwrap();
        let permit = sender.reserve_async();
        drop(permit);
        assert!(receiver.try_iter().eq(1..=2));
        let permit = block_on(sender.reserve_async()).unwrap();
        receiver.close();
        assert_eq!(permit.send(3), Err(SendError(3)));
    }

    fn a_permit_is_of_no_use_to_the_iterator_of_its_sender(open) {
        let (sender, receiver) = open!(4);
        let (kept, dropped) = (sender.reserve().unwrap(), sender.reserve().unwrap());
        let mut permits = vec![kept, dropped];
        // Dropping one in there is fine.
        let sent = sender.send_many((1..=2).inspect(|_| drop(permits.pop())));
        assert_eq!(sent, Ok(2));
        let permit = sender.reserve().unwrap();
        let mut permit = Some(permit);
        let sending = catch_unwind(AssertUnwindSafe(|| {
            sender.send_many((3..=4).inspect(|_| permit.take().unwrap().send(9).unwrap()))
        }));
        assert!(sending.is_err());
        assert!(receiver.try_iter().eq(1..=2));
        // All room is there again.
        assert_eq!(sender.send_many(3..=6), Ok(4));
        assert!(receiver.try_iter().eq(3..=6));
    }

    fn blocks_are_crossed_with_permits_out(open) {
        let (sender, receiver) = open!(700);
        for round in 0..4 {
            let permits: Vec<_> = (0..300).map(|_| sender.reserve().unwrap()).collect();
            for number in 0..400 {
                sender.send((round, number)).unwrap();
            }
            for (permit, number) in permits.into_iter().zip(400..) {
                permit.send((round, number)).unwrap();
            }
            assert!(receiver.try_iter().eq((0..700).map(|number| (round, number))));
        }
    }

    fn every_message_of_a_permit_is_dropped_once(open) {
        let (count, make) = counter();
        let (sender, receiver) = open!(2);
        sender.reserve().unwrap().send(make()).ok().unwrap();
        let permit = sender.reserve().unwrap();
        drop(receiver);
        drop(permit.send(make()));
        drop(sender);
        assert_eq!(count.load(std::sync::atomic::Ordering::SeqCst), 2);
    }
}

// Where room runs out.
for_each_kind! {
    fn permits_keep_room_and_give_it_back(open) {
        let (sender, receiver) = open!(3);
        if sender.capacity().is_none() {
            return;
        }
        for round in 0..3 {
            let mut permits: Vec<_> = (0..3).map(|_| sender.try_reserve().unwrap()).collect();
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
            drop(permits.pop());
            assert_eq!(sender.try_send(round), Ok(()));
            assert_eq!(sender.try_send(7), Err(TrySendError::Full(7)));
            assert_eq!(receiver.try_recv(), Ok(round));
            drop(permits);
            for number in 0..3 {
                assert_eq!(sender.try_send(number), Ok(()));
            }
            assert!(sender.is_full());
            assert_eq!(sender.try_reserve().unwrap_err(), TryReserveError::Full);
            assert!(receiver.try_iter().eq(0..3));
        }
    }

    fn a_permit_is_held_while_messages_pass_by(open) {
        let (sender, receiver) = open!(3);
        if sender.capacity().is_none() {
            return;
        }
        let permit = sender.reserve().unwrap();
        thread::scope(|scope| {
            let receives = scope.spawn(|| {
                let receiver = receiver;
                for number in 0..3_000 {
                    assert_eq!(receiver.recv(), Ok(number));
                    assert!(receiver.len() <= 3);
                }
                receiver
            });
            (0..2_000).for_each(|number| sender.send(number).unwrap());
            assert_eq!(sender.send_many(2_000..2_999), Ok(999));
            permit.send(2_999).unwrap();
            let receiver = receives.join().unwrap();
            assert!(receiver.is_empty());
        });
        assert!(sender.send_many(0..3).is_err());
    }

    fn reserving_waits_for_room(open) {
        let (sender, receiver) = open!(3);
        if sender.capacity().is_none() {
            return;
        }
        assert_eq!(sender.send_many(0..3), Ok(3));
        let receives = thread::spawn(move || {
            assert!(receiver.iter().take(103).eq(0..103));
        });
        for number in 3..103 {
            sender.reserve().unwrap().send(number).unwrap();
        }
        drop(sender);
        receives.join().unwrap();
    }

    fn reserving_as_a_task_waits_for_room(open) {
        let (mut sender, receiver) = open!(3);
        if sender.capacity().is_none() {
            return;
        }
        assert_eq!(sender.send_many(0..3), Ok(3));
        let mut context = Context::from_waker(Waker::noop());
        let mut waiting = sender.reserve_async();
        assert!(Pin::new(&mut waiting).poll(&mut context).is_pending());
        drop(waiting);
        assert_eq!(
            block_on(sender.reserve_timeout_async(Duration::from_millis(5))).unwrap_err(),
            ReserveTimeoutError::Timeout
        );
        let mut waiting = sender.reserve_async();
        assert!(Pin::new(&mut waiting).poll(&mut context).is_pending());
        assert_eq!(receiver.recv(), Ok(0));
        let Poll::Ready(permit) = Pin::new(&mut waiting).poll(&mut context) else {
            panic!("there is room");
        };
        permit.unwrap().send(3).unwrap();
        drop(waiting);
        let receives = thread::spawn(move || assert!(receiver.iter().take(102).eq(1..103)));
        block_on(async {
            for number in 4..103 {
                sender.reserve_async().await.unwrap().send(number).unwrap();
            }
        });
        drop(sender);
        receives.join().unwrap();
    }

    fn a_leaked_permit_keeps_its_room(open) {
        let (sender, receiver) = open!(3);
        if sender.capacity().is_none() {
            return;
        }
        std::mem::forget(sender.reserve().unwrap());
        assert_eq!(sender.try_send(1), Ok(()));
        assert_eq!(sender.try_send(2), Ok(()));
        assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
        assert!(receiver.try_iter().eq(1..=2));
    }

    fn a_receiver_that_goes_ends_the_wait_for_room(open) {
        let (sender, receiver) = open!(3);
        if sender.capacity().is_none() {
            return;
        }
        sender.send(1).unwrap();
        let permits = [(); 2].map(|()| sender.reserve().unwrap());
        thread::scope(|scope| {
            scope.spawn(move || drop(receiver));
            // Only this end could give the room back, and it is busy waiting.
            assert_eq!(sender.reserve().unwrap_err(), ReserveError::Disconnected);
        });
        drop(permits);
    }

    fn the_receiver_sees_that_all_is_full(open) {
        let (sender, receiver) = open!(3);
        if sender.capacity().is_none() {
            return;
        }
        assert!(!receiver.is_full());
        assert_eq!(sender.send_many(0..3), Ok(3));
        assert!(receiver.is_full() && sender.is_full());
        drop(sender);
        assert_eq!(receiver.try_iter().count(), 3);
        assert!(!receiver.is_full());
    }
}

/// Of an `mpsc` each sender has its own room.
#[test]
fn a_sender_keeps_no_room_of_others() {
    let (sender, receiver) = mpsc::bounded(3);
    let other = sender.clone();
    let permits = [(); 3].map(|()| other.reserve().unwrap());
    assert_eq!(other.try_send(0), Err(TrySendError::Full(0)));
    assert_eq!(sender.send_many(0..3), Ok(3));
    assert_eq!(sender.try_reserve().unwrap_err(), TryReserveError::Full);
    for (permit, number) in permits.into_iter().zip(3..) {
        permit.send(number).unwrap();
    }
    let mut received: Vec<_> = receiver.try_iter().collect();
    received.sort_unstable();
    assert_eq!(received, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_receiver_is_full_when_no_sender_has_room() {
    let (sender, receiver) = mpsc::bounded(2);
    assert_eq!(sender.send_many(0..2), Ok(2));
    assert!(receiver.is_full());
    let other = sender.clone();
    assert!(!receiver.is_full());
    assert_eq!(other.send_many(0..2), Ok(2));
    assert!(receiver.is_full());
    receiver.recv().unwrap();
    assert!(!receiver.is_full());
    let (sender, receiver) = spsc::unbounded();
    assert_eq!(sender.send_many(0..100), Ok(100));
    assert!(!receiver.is_full());
}
