//! loom models: every interleaving of small programs over the channels.
//!
//! loom finds the data race where a cell is read before it is written, the message that is lost,
//! doubled or out of order, and the thread that is never woken.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::time::Instant;

use tamtam_wait::seam::{Arc, Task, thread};

use crate::{
    Builder, Event, Overflow, Receiver, RecvError, Select, Sender, Slot, TrySendError, bounded,
    unbounded,
};

type Ends<T> = (Sender<T>, Receiver<T>);

/// Bounds the search where a program has many steps: two switches away from a thread that could go
/// on are enough for every bug that these protocols had while they were written.
fn model(program: impl Fn() + Sync + Send + 'static) {
    bounded_model(2, program);
}

/// For programs of three threads that all may sleep: one such switch, so that they end in seconds.
fn wide_model(program: impl Fn() + Sync + Send + 'static) {
    bounded_model(1, program);
}

fn bounded_model(preemptions: usize, program: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 20_000;
    builder.check(program);
}

fn sends_in_order(ends: fn() -> Ends<Box<u32>>) {
    model(move || {
        let (sender, receiver) = ends();
        let giver = thread::spawn(move || {
            for number in 0..3 {
                sender.send(Box::new(number)).unwrap();
            }
        });
        for number in 0..3 {
            assert_eq!(receiver.recv(), Ok(Box::new(number)));
        }
        assert_eq!(receiver.recv(), Err(RecvError));
        giver.join().unwrap();
    });
}

#[test]
fn loom_ring_of_one_sends_in_order() {
    sends_in_order(|| bounded(1));
}

#[test]
fn loom_ring_of_two_sends_in_order() {
    sends_in_order(|| bounded(2));
}

#[test]
fn loom_list_sends_in_order_across_blocks() {
    sends_in_order(unbounded);
}

#[test]
fn loom_rendezvous_sends_in_order() {
    sends_in_order(|| bounded(0));
}

fn two_senders_lose_nothing(ends: fn() -> Ends<Box<u32>>) {
    wide_model(move || {
        let (sender, receiver) = ends();
        let givers = [sender.clone(), sender]
            .map(|sender| thread::spawn(move || sender.send(Box::new(1)).unwrap()));
        let sum = *receiver.recv().unwrap() + *receiver.recv().unwrap();
        assert_eq!(sum, 2);
        for giver in givers {
            giver.join().unwrap();
        }
        assert_eq!(receiver.recv(), Err(RecvError));
    });
}

#[test]
fn loom_ring_two_senders() {
    two_senders_lose_nothing(|| bounded(1));
}

#[test]
fn loom_list_two_senders() {
    two_senders_lose_nothing(unbounded);
}

#[test]
fn loom_rendezvous_two_senders() {
    two_senders_lose_nothing(|| bounded(0));
}

fn two_receivers_double_nothing(ends: fn() -> Ends<Box<u32>>, messages: u32) {
    wide_model(move || {
        let (sender, receiver) = ends();
        let takers = [receiver.clone(), receiver].map(|receiver| {
            thread::spawn(move || receiver.iter().map(|message| *message).sum::<u32>())
        });
        for _ in 0..messages {
            sender.send(Box::new(1)).unwrap();
        }
        drop(sender);
        let sum = takers
            .map(|taker| taker.join().unwrap())
            .iter()
            .sum::<u32>();
        assert_eq!(sum, messages);
    });
}

#[test]
fn loom_ring_two_receivers() {
    two_receivers_double_nothing(|| bounded(2), 2);
}

/// The two take a block's messages between them, so one of them leaves the block and recycles it.
#[test]
fn loom_list_two_receivers_recycle_a_block() {
    wide_model(|| {
        let (sender, receiver) = unbounded();
        for _ in 0..2 {
            sender.send(Box::new(1)).unwrap();
        }
        let other = receiver.clone();
        let taker = thread::spawn(move || *other.recv().unwrap());
        let giver = thread::spawn(move || {
            for _ in 0..2 {
                sender.send(Box::new(1)).unwrap();
            }
        });
        let sum = *receiver.recv().unwrap() + *receiver.recv().unwrap();
        assert_eq!(sum + taker.join().unwrap(), 3);
        giver.join().unwrap();
        assert_eq!(receiver.recv(), Ok(Box::new(1)));
        assert_eq!(receiver.recv(), Err(RecvError));
    });
}

#[test]
fn loom_rendezvous_two_receivers() {
    two_receivers_double_nothing(|| bounded(0), 1);
}

/// The receiver goes while a message is being sent: it is either refused or dropped, once.
fn closing_meets_sending(ends: fn() -> Ends<Arc<()>>) {
    model(move || {
        let (sender, receiver) = ends();
        let message = Arc::new(());
        let giver = {
            let message = Arc::clone(&message);
            thread::spawn(move || drop(sender.send(message)))
        };
        drop(receiver);
        giver.join().unwrap();
        // loom's `Arc` checks for leaks at the end; this checks that nothing is left in the channel.
        assert!(Arc::try_unwrap(message).is_ok());
    });
}

#[test]
fn loom_ring_closing_meets_sending() {
    closing_meets_sending(|| bounded(1));
}

#[test]
fn loom_list_closing_meets_sending() {
    closing_meets_sending(unbounded);
}

#[test]
fn loom_rendezvous_closing_meets_sending() {
    closing_meets_sending(|| bounded(0));
}

/// Somebody closes while a message is being sent: it comes back, or it is received.
fn close_meets_send(ends: fn() -> Ends<Box<u32>>) {
    model(move || {
        let (sender, receiver) = ends();
        let giver = thread::spawn(move || {
            (0..2)
                .take_while(|number| sender.send(Box::new(*number)).is_ok())
                .count()
        });
        let closer = receiver.clone();
        let taker = thread::spawn(move || receiver.iter().count());
        closer.close();
        assert_eq!(giver.join().unwrap(), taker.join().unwrap());
    });
}

#[test]
fn loom_ring_close_meets_send() {
    close_meets_send(|| bounded(1));
}

#[test]
fn loom_list_close_meets_send() {
    close_meets_send(unbounded);
}

#[test]
fn loom_rendezvous_close_meets_send() {
    close_meets_send(|| bounded(0));
}

/// A batch of two for two receivers that may sleep: none of them is left asleep.
fn batch_meets_receivers(ends: fn() -> Ends<Box<u32>>) {
    wide_model(move || {
        let (sender, receiver) = ends();
        let other = receiver.clone();
        let taker = thread::spawn(move || *other.recv().unwrap());
        let keeper = sender.clone();
        let giver = thread::spawn(move || {
            assert_eq!(sender.send_many([1, 1].map(Box::new)), Ok(2));
        });
        assert_eq!(*receiver.recv().unwrap(), 1);
        assert_eq!(taker.join().unwrap(), 1);
        giver.join().unwrap();
        // Until here, or the end of the channel would wake whoever was forgotten.
        drop(keeper);
    });
}

#[test]
fn loom_ring_batch_meets_receivers() {
    batch_meets_receivers(|| bounded(2));
}

#[test]
fn loom_list_batch_meets_receivers() {
    batch_meets_receivers(unbounded);
}

/// Batches through a ring that is smaller than they are, or across blocks.
fn batches_in_order(ends: fn() -> Ends<Box<u32>>) {
    model(move || {
        let (sender, receiver) = ends();
        let giver = thread::spawn(move || {
            assert_eq!(sender.send_many((0..3).map(Box::new)), Ok(3));
        });
        let mut got = Vec::new();
        while receiver.recv_many(&mut got, 4).is_ok() {}
        assert!(got.into_iter().map(|number| *number).eq(0..3));
        giver.join().unwrap();
    });
}

#[test]
fn loom_ring_batches_in_order() {
    batches_in_order(|| bounded(2));
}

#[test]
fn loom_list_batches_in_order() {
    batches_in_order(unbounded);
}

/// One batch makes room for two senders that may sleep; two batches are claimed at once.
#[test]
fn loom_ring_batch_makes_room_for_two() {
    wide_model(|| {
        let (sender, receiver) = bounded(2);
        sender.send_many([1, 1]).unwrap();
        let givers = [sender.clone(), sender]
            .map(|sender| thread::spawn(move || sender.send_many([1]).unwrap()));
        let mut got = Vec::new();
        assert_eq!(receiver.recv_many(&mut got, 2), Ok(2));
        for giver in givers {
            assert_eq!(giver.join().unwrap(), 1);
        }
        assert_eq!(receiver.try_recv_many(&mut got, 2), Ok(2));
    });
}

/// A permit is taken while another thread sends into the last room: one of them gets it.
#[test]
fn loom_permit_meets_send() {
    model(|| {
        let (sender, receiver) = bounded(1);
        let other = sender.clone();
        let giver = thread::spawn(move || other.try_send(Box::new(1)).is_ok());
        let mine = sender.try_reserve().map(|permit| permit.send(Box::new(1)));
        let theirs = giver.join().unwrap();
        assert!(mine.is_ok() ^ theirs);
        assert!(mine.is_err() || mine == Ok(Ok(())));
        assert_eq!(receiver.len(), 1);
        assert_eq!(receiver.recv(), Ok(Box::new(1)));
    });
}

/// A permit that is held, a sender that fills the rest, a receiver that makes room again.
#[test]
fn loom_permit_is_held_beside_messages() {
    wide_model(|| {
        let (sender, receiver) = bounded(2);
        let permit = sender.try_reserve().unwrap();
        let other = sender.clone();
        let giver = thread::spawn(move || {
            other.send(Box::new(1)).unwrap();
            other.send(Box::new(2)).unwrap();
        });
        let taker = thread::spawn(move || receiver.iter().map(|number| *number).sum::<u32>());
        permit.send(Box::new(4)).unwrap();
        giver.join().unwrap();
        drop(sender);
        assert_eq!(taker.join().unwrap(), 7);
    });
}

/// A sender waits for the room of a permit that is dropped.
#[test]
fn loom_permit_that_is_dropped_wakes_a_sender() {
    model(|| {
        let (sender, receiver) = bounded(1);
        let permit = sender.try_reserve().unwrap();
        let other = sender.clone();
        let giver = thread::spawn(move || other.send(1).unwrap());
        drop(permit);
        giver.join().unwrap();
        assert_eq!(receiver.try_recv(), Ok(1));
    });
}

/// One of two permits is dropped while the other one stays: the bit stays, too.
#[test]
fn loom_one_of_two_permits_wakes_a_sender() {
    model(|| {
        let (sender, receiver) = bounded(2);
        let permit = sender.try_reserve().unwrap();
        let kept = sender.try_reserve().unwrap();
        let other = sender.clone();
        let giver = thread::spawn(move || other.reserve().unwrap().send(1).unwrap());
        drop(permit);
        giver.join().unwrap();
        assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
        kept.send(3).unwrap();
        assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(1), Ok(3)));
    });
}

/// A permit is used while the channel is closed and drained: accepted means received.
#[test]
fn loom_permit_meets_close() {
    model(|| {
        let (sender, receiver) = bounded(1);
        let giver = thread::spawn(move || {
            let permit = sender.try_reserve().ok()?;
            permit.send(Box::new(1)).ok()
        });
        receiver.close();
        let received = receiver.recv().ok();
        assert_eq!(received.is_some(), giver.join().unwrap().is_some());
    });
}

/// Two senders displace the oldest while a receiver takes it, and somebody closes: every message is with
/// one of them.
#[test]
fn loom_ring_displacing_meets_receiving() {
    for capacity in [1, 2] {
        model(move || {
            let (sender, receiver) = Builder::new()
                .capacity(capacity)
                .overflow(Overflow::DropOldest)
                .build();
            (0..capacity).for_each(|_| sender.send(Box::new(1)).unwrap());
            let other = sender.clone();
            let giver = thread::spawn(move || {
                let displaced = other.send_reporting(Box::new(1)).unwrap();
                displaced.map_or(0, |message| *message)
            });
            let mine = receiver.try_recv().map_or(0, |message| *message);
            let displaced = sender.send_reporting(Box::new(1)).unwrap();
            let displaced = displaced.map_or(0, |message| *message);
            assert!(sender.len() <= capacity);
            let theirs = giver.join().unwrap();
            assert_eq!(sender.dropped(), displaced + theirs);
            drop(sender);
            let rest = receiver.iter().map(|message| *message).sum::<u64>();
            assert_eq!(mine + displaced + theirs + rest, capacity as u64 + 2);
        });
    }
}

#[test]
fn loom_ring_displacing_meets_close() {
    model(|| {
        let (sender, receiver) = Builder::new()
            .capacity(1)
            .overflow(Overflow::DropOldest)
            .build();
        sender.send(Box::new(1)).unwrap();
        let closer = thread::spawn(move || {
            receiver.close();
            receiver.iter().map(|message| *message).sum::<u64>()
        });
        let mine = match sender.send_reporting(Box::new(1)) {
            Ok(displaced) => displaced.map_or(0, |message| *message),
            Err(error) => *error.0,
        };
        assert_eq!(closer.join().unwrap() + mine, 2);
    });
}

/// A sender is made of a weak one while the last one goes: the receiver gets its message or the end.
#[test]
fn loom_weak_sender_meets_the_end() {
    model(|| {
        let (sender, receiver) = bounded(1);
        let weak = sender.downgrade();
        let maker = thread::spawn(move || weak.upgrade().is_some_and(|made| made.send(1).is_ok()));
        drop(sender);
        assert_eq!(receiver.recv().is_ok(), maker.join().unwrap());
    });
}

/// A sender that gives up and a receiver that comes: the message is with exactly one of them.
#[test]
fn loom_rendezvous_timeout_meets_receiver() {
    model(|| {
        let (sender, receiver) = bounded(0);
        let past = Instant::now();
        let giver = thread::spawn(move || sender.send_deadline(7, past).is_ok());
        let received = receiver.try_recv().is_ok();
        assert_eq!(giver.join().unwrap(), received);
    });
}

#[test]
fn loom_ring_a_full_ring_wakes_its_sender() {
    model(|| {
        let (sender, receiver) = bounded(1);
        sender.send(1).unwrap();
        let giver = thread::spawn(move || sender.send(2).unwrap());
        assert_eq!(receiver.recv(), Ok(1));
        assert_eq!(receiver.recv(), Ok(2));
        giver.join().unwrap();
    });
}

#[test]
fn loom_ring_full_is_never_overwritten() {
    model(|| {
        let (sender, receiver) = bounded(1);
        let other = sender.clone();
        let giver = thread::spawn(move || other.try_send(Box::new(1)).is_ok());
        let mine = match sender.try_send(Box::new(1)) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => false,
            Err(TrySendError::Disconnected(_)) => unreachable!(),
        };
        let theirs = giver.join().unwrap();
        assert!(mine ^ theirs);
        assert_eq!(receiver.len(), 1);
        drop((sender, receiver));
    });
}

/// A selecting thread is woken by either channel and takes what it was woken for.
fn select_takes_from_both(ends: fn() -> Ends<u32>) {
    model(move || {
        let (one, first) = ends();
        let (two, second) = ends();
        let givers = [one, two].map(|sender| thread::spawn(move || sender.send(1).unwrap()));
        let mut got = [0; 2];
        for _ in 0..2 {
            let mut select = Select::new_biased();
            if got[0] == 0 {
                select.recv(&first);
            }
            if got[1] == 0 {
                select.recv(&second);
            }
            let operation = select.select();
            if got[0] == 0 && operation.index() == 0 {
                got[0] += operation.recv(&first).unwrap();
            } else {
                got[1] += operation.recv(&second).unwrap();
            }
        }
        assert_eq!(got, [1, 1]);
        for giver in givers {
            giver.join().unwrap();
        }
    });
}

#[test]
fn loom_select_on_rings() {
    select_takes_from_both(|| bounded(1));
}

#[test]
fn loom_select_on_lists() {
    select_takes_from_both(unbounded);
}

#[test]
fn loom_select_on_rendezvous() {
    select_takes_from_both(|| bounded(0));
}

/// Two selects meet on a channel of capacity zero.
#[test]
fn loom_select_meets_select() {
    model(|| {
        let (sender, receiver) = bounded(0);
        let giver = thread::spawn(move || {
            let mut select = Select::new();
            select.send(&sender);
            select.select().send(&sender, Box::new(5)).unwrap();
        });
        let mut select = Select::new();
        select.recv(&receiver);
        assert_eq!(select.select().recv(&receiver), Ok(Box::new(5)));
        giver.join().unwrap();
    });
}

/// A thread that waits for two things is told by one and leaves the other to whoever waits there.
#[test]
fn loom_select_does_not_keep_what_it_did_not_take() {
    wide_model(|| {
        let (one, first) = bounded(1);
        let (two, second) = bounded(1);
        let rival = second.clone();
        let waiter = thread::spawn(move || rival.recv().is_ok());
        let selector = thread::spawn(move || {
            let mut select = Select::new_biased();
            select.recv(&first);
            select.recv(&second);
            let operation = select.select();
            match operation.index() {
                0 => operation.recv(&first).map(|()| true),
                _ => operation.recv(&second).map(|()| false),
            }
        });
        one.send(()).unwrap();
        two.send(()).unwrap();
        if let Ok(false) = selector.join().unwrap() {
            // The selector took the rival's message: this one is the rival's.
            two.send(()).unwrap();
        }
        assert!(waiter.join().unwrap());
    });
}

#[test]
fn loom_slot_hands_over_in_turns() {
    model(|| {
        let slot = Arc::new(Slot::<Box<u32>>::new());
        let giver = {
            let slot = Arc::clone(&slot);
            thread::spawn(move || {
                slot.put(Box::new(1));
                slot.put(Box::new(2));
            })
        };
        assert_eq!(*slot.take(), 1);
        assert_eq!(*slot.take(), 2);
        giver.join().unwrap();
    });
}

#[test]
fn loom_slot_two_takers() {
    wide_model(|| {
        let slot = Arc::new(Slot::<Box<u32>>::new());
        let takers = [(); 2].map(|()| {
            let slot = Arc::clone(&slot);
            thread::spawn(move || *slot.take())
        });
        slot.put(Box::new(1));
        slot.put(Box::new(1));
        for taker in takers {
            assert_eq!(taker.join().unwrap(), 1);
        }
    });
}

#[test]
fn loom_slot_replace_meets_take() {
    model(|| {
        let slot = Arc::new(Slot::<Box<u32>>::new());
        let taker = {
            let slot = Arc::clone(&slot);
            thread::spawn(move || *slot.take())
        };
        slot.put(Box::new(1));
        let unread = slot.replace(Box::new(2));
        let taken = taker.join().unwrap();
        match unread {
            Some(unread) => assert_eq!((*unread, taken), (1, 2)),
            None => assert_eq!((taken, slot.try_take().map(|left| *left)), (1, Some(2))),
        }
    });
}

/// One that gives up and one that does not: a permit is never lost between them.
#[test]
fn loom_auto_event_releases_one_for_each_set() {
    model(|| {
        let event = Arc::new(Event::auto());
        let past = Instant::now();
        let hasty = {
            let event = Arc::clone(&event);
            thread::spawn(move || event.wait_deadline(past).is_ok())
        };
        let patient = {
            let event = Arc::clone(&event);
            thread::spawn(move || event.wait())
        };
        event.set();
        if hasty.join().unwrap() {
            event.set();
        }
        patient.join().unwrap();
        assert!(!event.try_wait());
    });
}

/// A select that is registered when the event is set gets past, though it is reset at once.
#[test]
fn loom_manual_event_releases_who_waits() {
    model(|| {
        let event = Arc::new(Event::manual());
        let waiter = {
            let event = Arc::clone(&event);
            thread::spawn(move || {
                let mut select = Select::new();
                select.wait(&*event);
                select.select().wait(&*event);
            })
        };
        event.set();
        event.reset();
        event.set();
        waiter.join().unwrap();
        assert!(event.is_set());
    });
}

fn poll<F: Future + Unpin>(future: &mut F, task: &Task) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(task.waker()))
}

fn block_on<F: Future + Unpin>(mut future: F) -> F::Output {
    let task = Task::new();
    task.run(|_| poll(&mut future, &task))
}

/// A task at each end, each on a thread of its own.
fn tasks_at_both_ends(ends: fn() -> Ends<Box<u32>>) {
    model(move || {
        let (sender, receiver) = ends();
        let giver = thread::spawn(move || {
            for number in 0..2 {
                block_on(sender.send_async(Box::new(number))).unwrap();
            }
        });
        for number in 0..2 {
            assert_eq!(block_on(receiver.recv_async()), Ok(Box::new(number)));
        }
        assert_eq!(block_on(receiver.recv_async()), Err(RecvError));
        giver.join().unwrap();
    });
}

#[test]
fn loom_async_ring() {
    tasks_at_both_ends(|| bounded(1));
}

#[test]
fn loom_async_list() {
    tasks_at_both_ends(unbounded);
}

#[test]
fn loom_async_rendezvous() {
    tasks_at_both_ends(|| bounded(0));
}

/// A task that gives up while a message comes leaves it to the thread that waits, too.
fn cancelling_meets_sending(ends: fn() -> Ends<Box<u32>>) {
    wide_model(move || {
        let (sender, receiver) = ends();
        let other = receiver.clone();
        let taker = thread::spawn(move || other.recv().is_ok());
        let giver = thread::spawn(move || {
            sender.send(Box::new(1)).unwrap();
            sender
        });
        let task = Task::new();
        let mut future = receiver.recv_async();
        let received = poll(&mut future, &task).is_ready();
        drop(future);
        if received {
            let sender = giver.join().unwrap();
            sender.send(Box::new(2)).unwrap();
        }
        assert!(taker.join().unwrap());
    });
}

#[test]
fn loom_async_ring_cancelling_meets_sending() {
    cancelling_meets_sending(|| bounded(1));
}

#[test]
fn loom_async_list_cancelling_meets_sending() {
    cancelling_meets_sending(unbounded);
}

#[test]
fn loom_async_rendezvous_cancelling_meets_sending() {
    cancelling_meets_sending(|| bounded(0));
}

/// Room comes while a task gives up: the thread that waits for room, too, gets it.
#[test]
fn loom_async_ring_cancelling_meets_room() {
    wide_model(|| {
        let (sender, receiver) = bounded(1);
        sender.send(Box::new(0)).unwrap();
        let other = sender.clone();
        let giver = thread::spawn(move || other.send(Box::new(1)).unwrap());
        let taker = thread::spawn(move || {
            let first = *receiver.recv().unwrap();
            (first, receiver)
        });
        let task = Task::new();
        let mut future = sender.send_async(Box::new(2));
        let sent = poll(&mut future, &task).is_ready();
        assert_eq!(future.into_message().is_none(), sent);
        let (first, receiver) = taker.join().unwrap();
        assert_eq!(first, 0);
        if sent {
            assert!(receiver.recv().is_ok());
        }
        assert!(receiver.recv().is_ok());
        giver.join().unwrap();
    });
}

/// An offer is taken or given back, and both sides agree.
#[test]
fn loom_async_offer_cancelling_meets_receiving() {
    model(|| {
        let (sender, receiver) = bounded(0);
        let taker = thread::spawn(move || receiver.try_recv().is_ok());
        let task = Task::new();
        let mut offer = sender.send_async(Box::new(1));
        match poll(&mut offer, &task) {
            Poll::Pending => {
                let back = offer.into_message();
                assert_eq!(back.is_none(), taker.join().unwrap());
            }
            // The receiver is gone already.
            Poll::Ready(sent) => {
                assert!(sent.is_err());
                assert!(!taker.join().unwrap());
            }
        }
    });
}

/// An offer is taken while its task is polled by another waker.
#[test]
fn loom_async_offer_renewing_meets_receiving() {
    model(|| {
        let (sender, receiver) = bounded::<Box<u32>>(0);
        let taker = thread::spawn(move || *receiver.recv().unwrap());
        let (first, second) = (Task::new(), Task::new());
        let mut offer = sender.send_async(Box::new(1));
        let sent = match poll(&mut offer, &first) {
            Poll::Ready(sent) => sent,
            Poll::Pending => second.run(|_| poll(&mut offer, &second)),
        };
        sent.unwrap();
        assert_eq!(taker.join().unwrap(), 1);
    });
}

/// A task that gives up leaves the permit to the thread that waits, too.
#[test]
fn loom_async_auto_event_cancelling_meets_setting() {
    model(|| {
        let event = Arc::new(Event::auto());
        let patient = {
            let event = Arc::clone(&event);
            thread::spawn(move || event.wait())
        };
        let setter = {
            let event = Arc::clone(&event);
            thread::spawn(move || event.set())
        };
        let task = Task::new();
        let mut wait = event.wait_async();
        let passed = poll(&mut wait, &task).is_ready();
        drop(wait);
        if passed {
            event.set();
        }
        patient.join().unwrap();
        setter.join().unwrap();
    });
}

#[test]
fn loom_async_slot_hands_over_in_turns() {
    model(|| {
        let slot = Arc::new(Slot::<Box<u32>>::new());
        let giver = {
            let slot = Arc::clone(&slot);
            thread::spawn(move || {
                block_on(slot.put_async(Box::new(1)));
                block_on(slot.put_async(Box::new(2)));
            })
        };
        assert_eq!(*block_on(slot.take_async()), 1);
        assert_eq!(*block_on(slot.take_async()), 2);
        giver.join().unwrap();
    });
}
