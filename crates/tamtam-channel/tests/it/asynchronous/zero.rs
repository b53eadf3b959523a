//! Capacity zero, and a task that receives: senders that cannot wait until it is polled.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::asynchronous::hand::{Hand, wakes};
use crate::support::{Drops, thread_number, until_asleep, within_limit};
use tamtam_channel::{Builder, Overflow, Select, SendError, TryRecvError, TrySendError, bounded};

#[test]
fn a_task_receives_from_a_dropping_channel_of_capacity_zero() {
    for overflow in [Overflow::DropNewest, Overflow::DropOldest] {
        let (sender, receiver) = Builder::new().capacity(0).overflow(overflow).build();
        let hand = Hand::new();
        let mut receive = receiver.recv_async();
        hand.pends(&mut receive);
        sender.send(1).unwrap();
        assert_eq!((sender.dropped(), hand.wakes()), (0, 1));
        // Only one was waited for.
        sender.send(2).unwrap();
        assert_eq!(sender.dropped(), 1);
        assert_eq!(hand.ready(&mut receive), Ok(1));
    }
}

#[test]
fn try_send_reaches_a_waiting_task() {
    let (sender, receiver) = bounded(0);
    let hand = Hand::new();
    assert!(sender.try_send(0).unwrap_err().is_full());
    let mut receive = receiver.recv_async();
    hand.pends(&mut receive);
    assert_eq!(sender.try_send(1), Ok(()));
    assert!(sender.try_send(2).unwrap_err().is_full());
    assert_eq!(hand.ready(&mut receive), Ok(1));
    assert!(sender.try_send(3).unwrap_err().is_full());
}

#[test]
fn a_deadline_that_is_over_is_time_enough_for_a_waiting_task() {
    let (sender, receiver) = bounded(0);
    let [first, second, sending] = Hand::several();
    let (mut one, mut two) = (receiver.recv_async(), receiver.recv_async());
    first.pends(&mut one);
    second.pends(&mut two);
    let past = Instant::now();
    sender.send_deadline(1, past).unwrap();
    sending
        .ready(&mut sender.send_deadline_async(2, past))
        .unwrap();
    assert!(
        sender
            .send_timeout(3, Duration::ZERO)
            .unwrap_err()
            .is_timeout()
    );
    assert_eq!(first.ready(&mut one), Ok(1));
    assert_eq!(second.ready(&mut two), Ok(2));
}

#[test]
fn a_cancelled_task_leaves_its_message_to_the_next_one() {
    let (sender, receiver) = bounded(0);
    let hands: [Hand; 3] = Hand::several();
    let (mut one, mut two) = (receiver.recv_async(), receiver.recv_async());
    hands[0].pends(&mut one);
    hands[1].pends(&mut two);
    sender.try_send(1).unwrap();
    drop(one);
    assert_eq!(wakes(&hands), [1, 1, 0]);
    drop(two);
    // Nobody waits now; what was sent is still there, for any receiver.
    assert_eq!(receiver.drain().count(), 1);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));

    let mut three = receiver.recv_async();
    hands[2].pends(&mut three);
    sender.try_send(2).unwrap();
    drop(three);
    assert_eq!(receiver.recv(), Ok(2));
}

#[test]
fn what_was_sent_first_is_received_first_whoever_receives() {
    let (sender, receiver) = bounded(0);
    let [first, second] = Hand::several();
    let (mut one, mut two) = (receiver.recv_async(), receiver.recv_async());
    first.pends(&mut one);
    second.pends(&mut two);
    sender.try_send(1).unwrap();
    sender.try_send(2).unwrap();
    let mut select = Select::new();
    let index = select.recv(&receiver);
    let operation = select.select();
    assert_eq!(operation.index(), index);
    assert_eq!(operation.recv(&receiver), Ok(1));
    assert_eq!(first.ready(&mut one), Ok(2));
    second.pends(&mut two);
}

#[test]
fn a_selected_send_reaches_a_waiting_task() {
    let (sender, receiver) = bounded(0);
    let hand = Hand::new();
    let mut select = Select::new();
    select.send(&sender);
    assert!(select.try_select().is_err() && select.try_ready().is_err());
    let mut receive = receiver.recv_async();
    hand.pends(&mut receive);
    assert_eq!(select.try_ready(), Ok(0));
    let operation = select.select();
    assert_eq!(hand.wakes(), 0);
    operation.send(&sender, 1).unwrap();
    assert_eq!(hand.wakes(), 1);
    assert_eq!(hand.ready(&mut receive), Ok(1));
    drop(receive);

    // The task goes between the choice and the message, which the next receiver gets.
    let mut receive = receiver.recv_async();
    hand.pends(&mut receive);
    let mut select = Select::new();
    select.send(&sender);
    let operation = select.select();
    drop(receive);
    operation.send(&sender, 2).unwrap();
    assert_eq!(receiver.try_recv(), Ok(2));

    // All receivers go.
    let mut receive = receiver.recv_async();
    hand.pends(&mut receive);
    let mut select = Select::new();
    select.send(&sender);
    let operation = select.select();
    drop(receive);
    drop(receiver);
    assert_eq!(operation.send(&sender, 3), Err(SendError(3)));
}

#[test]
fn mail_outlives_closing_and_is_dropped_with_the_last_receiver() {
    let drops = Drops::default();
    let (sender, receiver) = bounded(0);
    let [first, second] = Hand::several();
    let mut one = receiver.recv_async();
    let mut two = receiver.recv_async();
    first.pends(&mut one);
    second.pends(&mut two);
    assert!(sender.try_send(drops.numbered(1)).is_ok());
    assert!(sender.try_send(drops.numbered(2)).is_ok());
    sender.close();
    assert_eq!(
        first.ready(&mut one).map(|token| token.number).ok(),
        Some(1)
    );
    drop((one, two));
    assert_eq!(drops.count(), 1);
    drop(receiver);
    assert_eq!(drops.count(), 2);
    drop(sender);
}

/// The first panic is the caller's; what lies behind is leaked, since another one would end the program.
#[test]
fn mail_that_panics_when_it_is_dropped_panics_once() {
    struct Bomb(Arc<AtomicUsize>);

    impl Drop for Bomb {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
            panic!("a drop panics on purpose");
        }
    }

    let drops = Arc::new(AtomicUsize::new(0));
    let (sender, receiver) = bounded(0);
    let hands = Hand::several::<3>();
    let mut receives = [(); 3].map(|()| receiver.recv_async());
    for (hand, receive) in hands.iter().zip(&mut receives) {
        hand.pends(receive);
    }
    for _ in &hands {
        assert!(sender.try_send(Bomb(Arc::clone(&drops))).is_ok());
    }
    drop(receives);
    catch_unwind(AssertUnwindSafe(|| drop(receiver))).unwrap_err();
    drop(sender);
    assert_eq!(drops.load(Ordering::SeqCst), 1);
}

#[test]
fn a_blocking_sender_still_waits_until_the_task_has_the_message() {
    let (sender, receiver) = bounded(0);
    let hand = Hand::new();
    let mut receive = receiver.recv_async();
    hand.pends(&mut receive);
    let message = Arc::new(());
    let sent = Arc::clone(&message);
    let giver = thread::spawn(move || sender.send(sent));
    hand.until_woken(1);
    assert!(!giver.is_finished());
    assert!(hand.ready(&mut receive).is_ok());
    giver.join().unwrap().unwrap();
    assert_eq!(Arc::strong_count(&message), 1);
}

/// The message of a selected operation is for a task that waits; no other one is accepted for the same task.
#[test]
fn selected_sends_of_capacity_zero_are_no_more_than_tasks_wait() {
    let (sender, receiver) = bounded(0);
    let hands = Hand::several::<2>();
    let mut receives = [(); 2].map(|()| receiver.recv_async());
    let mut selects = [(); 3].map(|()| {
        let mut select = Select::new();
        select.send(&sender);
        select
    });
    hands[0].pends(&mut receives[0]);
    let [one, two, three] = &mut selects;
    let first = one.try_select().expect("a task waits");
    assert!(two.try_select().is_err() && two.try_ready().is_err());
    assert_eq!(sender.try_send(9), Err(TrySendError::Full(9)));
    // Another task, another place.
    hands[1].pends(&mut receives[1]);
    assert_eq!(two.try_ready(), Ok(0));
    let second = two.try_select().expect("two tasks wait");
    assert!(three.try_select().is_err());
    // Dropped without a message, it gives its place back.
    catch_unwind(AssertUnwindSafe(|| drop(first))).unwrap_err();
    let third = three.try_select().expect("a task waits for nobody else");
    second.send(&sender, 2).unwrap();
    third.send(&sender, 3).unwrap();
    assert_eq!(hands[0].ready(&mut receives[0]), Ok(2));
    assert_eq!(hands[1].ready(&mut receives[1]), Ok(3));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
}

/// A select that sleeps because the task was promised to another one hears of it when that gives up.
#[test]
#[cfg_attr(miri, ignore = "looks at /proc")]
fn a_selected_send_that_is_dropped_leaves_its_task_to_a_select_that_sleeps() {
    within_limit(|| {
        let (sender, receiver) = bounded(0);
        let hand = Hand::new();
        let mut receive = receiver.recv_async();
        hand.pends(&mut receive);
        let mut select = Select::new();
        select.send(&sender);
        let operation = select.try_select().expect("a task waits");
        let other = sender.clone();
        let (tell, told) = mpsc::channel();
        let sleeps = thread::spawn(move || {
            tell.send(thread_number()).unwrap();
            let mut select = Select::new();
            select.send(&other);
            select.select().send(&other, 7)
        });
        until_asleep(&[told.recv().unwrap()]);
        catch_unwind(AssertUnwindSafe(|| drop(operation))).unwrap_err();
        hand.until_woken(1);
        assert_eq!(hand.ready(&mut receive), Ok(7));
        assert_eq!(sleeps.join().unwrap(), Ok(()));
    });
}
