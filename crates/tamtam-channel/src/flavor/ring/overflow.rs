//! What a full ring does with a message if its senders are not to wait.

use tamtam_wait::Backoff;
use tamtam_wait::seam::atomic::Ordering;

use super::{Claim, FLAG, Refusal, Ring, skipped};
use crate::builder::Overflow;

impl<T> Ring<T> {
    /// Whether messages are dropped when there is no room.
    pub(crate) fn drops(&self) -> bool {
        self.overflow != Overflow::Wait
    }

    /// How many messages were dropped, ever.
    pub(crate) fn dropped(&self) -> u64 {
        self.tail.dropped.load(Ordering::Relaxed)
    }

    fn count_dropped(&self) {
        self.tail.dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// Sends into a ring that was full just now, without waiting: what was displaced, or the message
    /// itself if the ring is closed.
    #[cold]
    #[inline(never)]
    pub(crate) fn send_to_full(&self, message: T) -> Result<Option<T>, T> {
        if self.overflow == Overflow::DropNewest {
            self.count_dropped();
            return Ok(Some(message));
        }
        let mut backoff = Backoff::new();
        loop {
            if let Some((claim, oldest)) = self.displace() {
                self.write(claim, message);
                self.count_dropped();
                return Ok(Some(oldest));
            }
            // Room came meanwhile, or somebody is in the middle of sending, receiving or displacing the
            // oldest message.
            match self.claim() {
                Ok(claim) => {
                    self.write(claim, message);
                    return Ok(None);
                }
                Err(Refusal::Closed) => return Err(message),
                Err(Refusal::Full) => backoff.pause(),
            }
        }
    }

    /// Takes the oldest message out of a full ring and claims the position a lap later, whose cell is the
    /// same, in one step: nobody else gets the room, so one message displaces exactly one.
    ///
    /// Between the claim and the new head, the tail is one position more than a lap ahead; whoever
    /// sees that takes the ring for full, which it is.
    fn displace(&self) -> Option<(Claim, T)> {
        let head = self.head.position.load(Ordering::Relaxed);
        let tail = self.tail.position.load(Ordering::Relaxed);
        if head & FLAG != 0 || tail & FLAG != 0 || tail.wrapping_sub(head) != self.lap {
            return None;
        }
        let cell = self.cell(head);
        // SYNC ring-stamp. As in `receive`.
        let stamp = cell.stamp.load(Ordering::Acquire);
        if stamp != head | FLAG {
            if stamp == skipped(head) {
                self.skip(head);
            }
            return None;
        }
        // As in `receive`.
        if self
            .head
            .position
            .compare_exchange(head, head | FLAG, Ordering::SeqCst, Ordering::Relaxed)
            .is_err()
        {
            return None;
        }
        // While the head is locked only a closing can change the tail of a full ring.
        let claimed = self.tail.position.compare_exchange(
            tail,
            self.next(tail),
            Ordering::SeqCst,
            Ordering::Relaxed,
        );
        if claimed.is_err() {
            // SYNC ring-head. Nothing was taken.
            self.head.position.store(head, Ordering::Release);
            return None;
        }
        let oldest = cell.message.with_mut(|place| {
            // SAFETY: the stamp says that the message of this very position is written, and the lock
            // bit that nobody else takes it.
            unsafe { (*place).assume_init_read() }
        });
        // SYNC ring-head: the message is out; what is written into the cell next is ours.
        self.head.position.store(self.next(head), Ordering::Release);
        Some((Claim(tail), oldest))
    }
}
