//! Channels of capacity zero.

use core::task::Poll;
use std::time::Instant;

use tamtam_wait::seam::{Task, thread};

use super::programs::{
    cancelling_meets_sending, close_meets_send, closing_meets_sending, sends_in_order,
    tasks_at_both_ends, two_receivers_double_nothing, two_senders_lose_nothing,
};
use super::{block_on, model, poll, wide_model};
use crate::{Select, bounded};

#[test]
fn loom_rendezvous_sends_in_order() {
    sends_in_order(|| bounded(0));
}

#[test]
fn loom_rendezvous_two_senders() {
    two_senders_lose_nothing(|| bounded(0));
}

#[test]
fn loom_rendezvous_two_receivers() {
    two_receivers_double_nothing(|| bounded(0), 1);
}

#[test]
fn loom_rendezvous_closing_meets_sending() {
    closing_meets_sending(|| bounded(0));
}

#[test]
fn loom_rendezvous_close_meets_send() {
    close_meets_send(|| bounded(0));
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
fn loom_async_rendezvous() {
    tasks_at_both_ends(|| bounded(0));
}

#[test]
fn loom_async_rendezvous_cancelling_meets_sending() {
    cancelling_meets_sending(|| bounded(0));
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
                let back = offer.into_inner();
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

/// A sender that does not wait leaves its message to a task that may be cancelled: the message is received by
/// the task or by the next one, if and only if it was sent.
#[test]
fn loom_async_rendezvous_cancelling_meets_trying_to_send() {
    model(|| {
        let (sender, receiver) = bounded(0);
        let giver = thread::spawn(move || {
            let sent = sender.try_send(Box::new(1)).is_ok();
            (sender, sent)
        });
        let task = Task::new();
        let mut receive = receiver.recv_async();
        let mut received = u32::from(poll(&mut receive, &task).is_ready());
        drop(receive);
        let (_sender, sent) = giver.join().unwrap();
        received += u32::from(receiver.try_recv().is_ok());
        assert_eq!(received, u32::from(sent));
    });
}

/// Of two tasks the one that was told of a message goes: the other one is told, and gets it.
#[test]
fn loom_async_rendezvous_mail_is_passed_on() {
    model(|| {
        let (sender, receiver) = bounded(0);
        let first = Task::new();
        let mut one = receiver.recv_async();
        assert!(poll(&mut one, &first).is_pending());
        let other = receiver.clone();
        let taker = thread::spawn(move || {
            let message = block_on(other.recv_async());
            message.map(|message: Box<u32>| *message)
        });
        assert!(sender.try_send(Box::new(1)).is_ok());
        drop(one);
        assert_eq!(taker.join().unwrap(), Ok(1));
    });
}

/// A receiver that was chosen by a select sleeps until the message has been made, and is woken.
#[test]
fn loom_rendezvous_held_wakes_the_receiver() {
    model(|| {
        let (sender, receiver) = bounded(0);
        let giver = thread::spawn(move || {
            let mut select = Select::new();
            select.send(&sender);
            select.select().send(&sender, Box::new(1)).unwrap();
        });
        assert_eq!(receiver.recv(), Ok(Box::new(1)));
        giver.join().unwrap();
    });
}

/// One task waits and two selects send: it is promised to one of them, and the other one does not sleep on when that is over.
#[test]
fn loom_rendezvous_two_selected_sends_meet_one_task() {
    wide_model(|| {
        let (sender, receiver) = bounded(0);
        let task = Task::new();
        let mut receive = receiver.recv_async();
        assert!(poll(&mut receive, &task).is_pending());
        let givers = [1, 2].map(|number| {
            let sender = sender.clone();
            thread::spawn(move || {
                let mut select = Select::new();
                select.send(&sender);
                select.select().send(&sender, number).unwrap();
            })
        });
        let first: u32 = task.run(|_| poll(&mut receive, &task)).unwrap();
        drop(receive);
        assert_eq!(first + block_on(receiver.recv_async()).unwrap(), 3);
        for giver in givers {
            giver.join().unwrap();
        }
        assert!(receiver.try_recv().is_err());
    });
}
