//! What the actors of a round say when they are done, each once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tamtam_channel::Latch;

use crate::Failure;

/// What the actors of a round say when they are done, each once.
#[derive(Debug)]
pub(super) struct Tally {
    /// Counted down by each.
    latch: Latch,
    operations: AtomicU64,
    /// What was wrong first.
    fault: Mutex<Option<String>>,
}

impl Tally {
    /// One for `reporters` actors.
    pub(super) fn new(reporters: u64) -> Self {
        Tally {
            latch: Latch::new(reporters),
            operations: AtomicU64::new(0),
            fault: Mutex::new(None),
        }
    }

    /// Opens when all have said so.
    pub(super) fn latch(&self) -> &Latch {
        &self.latch
    }

    /// An actor is done, and has seen so many operations.
    pub(super) fn done(&self, operations: u64) {
        // The latch orders it before the look at the sum.
        self.operations.fetch_add(operations, Ordering::Relaxed);
        self.latch.count_down();
    }

    /// Something came that was not due. The round goes on if it can.
    #[cold]
    pub(super) fn fault(&self, what: String) {
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        fault.get_or_insert(what);
    }

    /// Whether all were done in time.
    pub(super) fn all_done(&self, patience: Duration) -> Result<(), Failure> {
        if self.latch.is_open() {
            return Ok(());
        }
        let missing = format!(
            "{} actors were not done after {patience:?}",
            self.latch.remaining()
        );
        Err(Failure::Unverified(self.first_fault().unwrap_or(missing)))
    }

    /// Whether as many operations were done as were due, and nothing came out of turn.
    pub(super) fn verify(&self, due: u64) -> Result<(), Failure> {
        if let Some(fault) = self.first_fault() {
            return Err(Failure::Unverified(fault));
        }
        let done = self.operations.load(Ordering::Relaxed);
        if done != due {
            return Err(Failure::Unverified(format!(
                "{done} operations were done where {due} were due"
            )));
        }
        Ok(())
    }

    fn first_fault(&self) -> Option<String> {
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        fault.take()
    }
}
