//! What became of the messages of a random program.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

const FRESH: u8 = 0;
const RECEIVED: u8 = 1;
const DROPPED: u8 = 2;

/// A message whose end is noted: with a receiver, or anywhere else.
pub(crate) struct Message {
    pub(crate) number: u64,
    fate: Arc<AtomicU8>,
}

impl Drop for Message {
    fn drop(&mut self) {
        // Only if it was not received.
        let _ = self
            .fate
            .compare_exchange(FRESH, DROPPED, Ordering::SeqCst, Ordering::SeqCst);
    }
}

/// What became of all messages of a program.
///
/// Messages are numbered in the order in which they were made.
#[derive(Default)]
pub(crate) struct Ledger {
    fates: Vec<Arc<AtomicU8>>,
    /// Those whose send returned without an error, each with the number of the first message made afterwards.
    pub(crate) accepted: BTreeMap<u64, u64>,
    /// Those that came back.
    refused: Vec<u64>,
    pub(crate) received: Vec<u64>,
}

impl Ledger {
    pub(crate) fn message(&mut self) -> Message {
        let fate = Arc::new(AtomicU8::new(FRESH));
        let number = self.next();
        self.fates.push(Arc::clone(&fate));
        Message { number, fate }
    }

    fn next(&self) -> u64 {
        self.fates.len() as u64
    }

    pub(crate) fn accept(&mut self, number: u64) {
        self.accepted.insert(number, self.next());
    }

    pub(crate) fn receive(&mut self, message: Message) {
        let before = message.fate.swap(RECEIVED, Ordering::SeqCst);
        assert_eq!(before, FRESH, "received twice, or after it was dropped");
        self.received.push(message.number);
    }

    pub(crate) fn refuse(&mut self, message: Message) {
        let before = message.fate.swap(DROPPED, Ordering::SeqCst);
        assert_eq!(before, FRESH, "given back after it was received");
        self.refused.push(message.number);
    }

    /// At the end, when the channel is gone: each message was received, came back, or was dropped.
    pub(crate) fn check_fates(&self) {
        let fate = |number: u64| self.fates[number as usize].load(Ordering::SeqCst);
        for number in 0..self.next() {
            assert_ne!(fate(number), FRESH, "{number} has leaked");
        }
        for number in &self.refused {
            assert_eq!(fate(*number), DROPPED);
        }
    }

    /// What was sent before another one was made is received before it, whoever sent the two.
    pub(crate) fn check_order(&self) {
        for (position, late) in self.received.iter().enumerate() {
            for later in &self.received[position..] {
                let sent = self.accepted.get(later).copied();
                assert!(
                    sent.is_none_or(|sent| sent > *late),
                    "{late} before {later}"
                );
            }
        }
    }
}
