//! A channel's receiving end on its way to another process, in a message or under a name, until that has it: what sends sees a receiver meanwhile.

#[cfg(feature = "link")]
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::shared::{AWAY, ReceivingEnd, Shared};
use crate::ring::Ring;

/// A receiving end that is on its way: senders wait for the process that takes it.
#[derive(Debug)]
pub(crate) struct AwayReceiver {
    shared: Arc<Shared>,
}

impl AwayReceiver {
    /// Of this end, which receives no more unless it comes back; `None` if it does not receive.
    pub(crate) fn of(end: &ReceivingEnd) -> Option<Self> {
        let shared = Arc::clone(&end.shared);
        if !shared.role.lend(shared.occupant()) {
            return None;
        }
        shared.state.fetch_or(AWAY, Ordering::Relaxed);
        Some(AwayReceiver { shared })
    }
}

#[cfg(feature = "link")]
impl AsFd for AwayReceiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.memory()
    }
}

impl Drop for AwayReceiver {
    fn drop(&mut self) {
        if self.shared.role.take_back(self.shared.occupant()) {
            self.shared.state.fetch_and(!AWAY, Ordering::Relaxed);
            // If no process receives now, senders are told.
            self.shared.control().senders.ring();
        }
    }
}
