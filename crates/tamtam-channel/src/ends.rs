//! How many senders and receivers a channel has.

use core::ops::Deref;

use tamtam_wait::seam::atomic::{AtomicUsize, Ordering};

/// More ends than this are a leak, and would in the end overflow the count.
const MOST_ENDS: usize = isize::MAX as usize;

/// A channel with the counts of its ends. The memory is shared by `Arc`; the counts say when a side
/// is gone.
pub(crate) struct Ends<C> {
    senders: AtomicUsize,
    receivers: AtomicUsize,
    channel: C,
}

impl<C> Ends<C> {
    /// A channel with one sender and one receiver.
    pub(crate) fn new(channel: C) -> Self {
        Ends {
            senders: AtomicUsize::new(1),
            receivers: AtomicUsize::new(1),
            channel,
        }
    }

    pub(crate) fn add_sender(&self) {
        add(&self.senders);
    }

    /// One more sender, unless the last one is gone: then `false`.
    pub(crate) fn add_sender_if_any(&self) -> bool {
        let mut senders = self.senders.load(Ordering::Relaxed);
        while senders != 0 {
            match self.senders.compare_exchange_weak(
                senders,
                senders + 1,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(now) => senders = now,
            }
        }
        false
    }

    pub(crate) fn add_receiver(&self) {
        add(&self.receivers);
    }

    /// `true` if this was the last sender.
    pub(crate) fn remove_sender(&self) -> bool {
        self.senders.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// `true` if this was the last receiver.
    pub(crate) fn remove_receiver(&self) -> bool {
        self.receivers.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

fn add(count: &AtomicUsize) {
    if count.fetch_add(1, Ordering::Relaxed) > MOST_ENDS {
        // Only by leaking clones can one get here, and a panic could be caught and repeated.
        std::process::abort();
    }
}

impl<C> Deref for Ends<C> {
    type Target = C;
    #[inline(always)]
    fn deref(&self) -> &C {
        &self.channel
    }
}
