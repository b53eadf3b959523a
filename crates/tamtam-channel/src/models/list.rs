//! Unbounded channels.

use tamtam_wait::seam::thread;

use super::programs::{
    batch_meets_receivers, batches_in_order, cancelling_meets_sending, close_meets_send,
    closing_meets_sending, sends_in_order, tasks_at_both_ends, two_senders_lose_nothing,
};
use super::wide_model;
use crate::{RecvError, unbounded};

#[test]
fn loom_list_sends_in_order_across_blocks() {
    sends_in_order(unbounded);
}

#[test]
fn loom_list_two_senders() {
    two_senders_lose_nothing(unbounded);
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
fn loom_list_closing_meets_sending() {
    closing_meets_sending(unbounded);
}

#[test]
fn loom_list_close_meets_send() {
    close_meets_send(unbounded);
}

#[test]
fn loom_list_batch_meets_receivers() {
    batch_meets_receivers(unbounded);
}

#[test]
fn loom_list_batches_in_order() {
    batches_in_order(unbounded);
}

#[test]
fn loom_async_list() {
    tasks_at_both_ends(unbounded);
}

#[test]
fn loom_async_list_cancelling_meets_sending() {
    cancelling_meets_sending(unbounded);
}
