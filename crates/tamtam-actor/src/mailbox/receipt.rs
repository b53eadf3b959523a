//! Receipts: what is called when all that a sender has put into a mailbox before is done with.
//!
//! A receipt lies in the queue as a node without a message, behind the messages that it is for. The receiver comes to the node when it
//! wants the next message, so those before it were handled, or have made the actor panic, or were lost with the mailbox. What is to be
//! called lies here, under the address of the node: a node keeps its size, and a receiver that meets a node without a message
//! looks here only if there is a receipt at all.
//!
//! Where messages overtake each other, or others take them out than the actor itself, [`Receipts`] lie beside the messages, and are due when those
//! have gone.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tamtam_wait::contain;

/// Called once, on the thread that has the receiver's turn.
pub(crate) type Receipt = Box<dyn FnOnce() + Send>;

/// Under the addresses of their nodes.
static RECEIPTS: Mutex<Option<HashMap<usize, Receipt>>> = Mutex::new(None);
/// How many there are. It is changed under the lock, before the node is in the queue, so a receiver that has got the node from there
/// sees it.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Keeps a receipt for a node that is not in its queue yet.
pub(super) fn keep(node: usize, receipt: Receipt) {
    let mut receipts = RECEIPTS.lock().unwrap_or_else(PoisonError::into_inner);
    receipts.get_or_insert_default().insert(node, receipt);
    COUNT.fetch_add(1, Ordering::Relaxed);
}

/// The receiver has come to a node without a message. Apart, so that what takes messages stays as it is without receipts.
#[cold]
#[inline(never)]
pub(super) fn reached(node: usize) {
    if COUNT.load(Ordering::Relaxed) == 0 {
        return;
    }
    let receipt = {
        let mut receipts = RECEIPTS.lock().unwrap_or_else(PoisonError::into_inner);
        let receipt = receipts
            .as_mut()
            .and_then(|receipts| receipts.remove(&node));
        if receipt.is_some() {
            COUNT.fetch_sub(1, Ordering::Relaxed);
        }
        receipt
    };
    if let Some(receipt) = receipt {
        contain(receipt);
    }
}

/// Receipts of a mailbox whose messages have stamps that rise. Those that are never due, since the mailbox is dropped, are called then.
#[derive(Default)]
pub(super) struct Receipts(VecDeque<(u64, Receipt)>);

impl Receipts {
    /// Keeps one that is due when all messages with lower stamps than this have gone. The stamp is none lower than that of the one before.
    pub(super) fn keep(&mut self, stamp: u64, receipt: Receipt) {
        self.0.push_back((stamp, receipt));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes out what is due when the oldest message has this stamp.
    pub(super) fn due(&mut self, oldest: u64) -> Receipts {
        let count = self.0.partition_point(|(stamp, _)| *stamp <= oldest);
        Receipts(self.0.drain(..count).collect())
    }
}

impl Drop for Receipts {
    fn drop(&mut self) {
        for (_, receipt) in self.0.drain(..) {
            contain(receipt);
        }
    }
}
