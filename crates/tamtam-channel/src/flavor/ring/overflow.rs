//! What a full ring does with a message if its senders are not to wait.

use tamtam_wait::Backoff;
use tamtam_wait::seam::atomic::Ordering;

use super::{BITS, Claim, FLAG, RESERVED, Refusal, Ring};
use crate::overflow::Overflow;

impl<T> Ring<T> {
    /// Whether messages are dropped when there is no room.
    pub(crate) fn drops(&self) -> bool {
        self.overflow.drops()
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
        match self.overflow {
            Overflow::DropNewest => {
                self.count_dropped();
                return Ok(Some(message));
            }
            Overflow::DropOldest => {}
            Overflow::Wait => unreachable!("who may not wait asks whether the ring drops"),
        }
        let mut backoff = Backoff::new();
        loop {
            match self.displace() {
                Displacement::Done(claim, oldest) => {
                    self.write(claim, message);
                    self.count_dropped();
                    return Ok(Some(oldest));
                }
                Displacement::NothingThere => {
                    self.count_dropped();
                    return Ok(Some(message));
                }
                Displacement::NotNow => {}
            }
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

    /// Takes the oldest message out of a full ring and claims the next position, in one step: no other thread
    /// gets the room, so one message displaces exactly one.
    fn displace(&self) -> Displacement<T> {
        let tail = self.tail.position.load(Ordering::Relaxed);
        if tail & RESERVED != 0 {
            return self.displace_beside_permits();
        }
        let head = self.head.position.load(Ordering::Relaxed);
        if (head | tail) & FLAG != 0 || tail.wrapping_sub(head) != self.lap {
            return Displacement::NotNow;
        }
        self.exchange(head, tail)
    }

    /// A ring is full, too, if the room that is left is kept by permits.
    #[cold]
    fn displace_beside_permits(&self) -> Displacement<T> {
        let permits = self.tail.permits.lock();
        let tail = self.tail.position.load(Ordering::SeqCst);
        let head = self.head.position.load(Ordering::SeqCst);
        if tail & BITS != RESERVED || head & FLAG != 0 {
            return Displacement::NotNow;
        }
        let held = self.distance(head, tail & !BITS);
        if held + *permits < self.cells.len() {
            Displacement::NotNow
        } else if held == 0 {
            Displacement::NothingThere
        } else {
            self.exchange(head, tail)
        }
    }

    /// Takes the message at this head, claims the position of this tail, and moves both on; unless
    /// another thread has changed one of them. The head is not locked, and the tail not closed; as long as
    /// the head stays, only a closing can change the tail.
    ///
    /// In a ring full of messages both are the same cell, and between the claim and the new head the tail
    /// is one position more than a lap ahead; a sender that sees that takes the ring for full, which it is.
    fn exchange(&self, head: usize, tail: usize) -> Displacement<T> {
        let cell = self.cell(head);
        // SYNC ring-stamp. As in `lock_mail`. Another sender may be in the middle of writing it; but it was not
        // given up: in a channel that drops, no select claims anything.
        if cell.stamp.load(Ordering::Acquire) != head | FLAG {
            return Displacement::NotNow;
        }
        if !self.lock_head(head) {
            return Displacement::NotNow;
        }
        let position = tail & !BITS;
        let claimed = self.tail.position.compare_exchange(
            tail,
            self.next(position) | (tail & RESERVED),
            Ordering::SeqCst,
            Ordering::Relaxed,
        );
        if claimed.is_err() {
            // SYNC ring-head. Nothing was taken.
            self.head.position.store(head, Ordering::Release);
            return Displacement::NotNow;
        }
        let oldest = cell.message.with_mut(|place| {
            // SAFETY: the stamp says that the message of this very position is written, and the lock
            // bit that no other thread takes it.
            unsafe { (*place).assume_init_read() }
        });
        // SYNC ring-head: the message is out. What is written into the claimed cell next is ours.
        self.head.position.store(self.next(head), Ordering::Release);
        Displacement::Done(Claim(position), oldest)
    }
}

/// What came of the attempt to displace the oldest message.
enum Displacement<T> {
    /// The position is claimed, and the oldest message is out.
    Done(Claim, T),
    /// Permits keep all the room, and there is no message.
    NothingThere,
    /// The ring is not full or is closed, or another thread is in the middle of sending, receiving or displacing
    /// the oldest message.
    NotNow,
}
