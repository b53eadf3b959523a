//! Room in a ring that is kept for a message to come.
//!
//! A permit is no position: it has no place in the order and holds up no other sender. It is a number, under a
//! short lock, by which the room of all others is smaller. While there are any, a bit in the tail says so.
//! Setting it changes the tail, so a claim that was about to succeed without knowing of the permit fails
//! and looks again; and a sender that sees it takes the lock before it claims. So while there are none, sending
//! costs nothing more: the bit is tested together with the one that says closed.
//!
//! What holds whenever the lock is free: messages and permits together are no more than the capacity; and
//! the bit is set if and only if there are permits. In a ring whose high-water mark is to be exact it is always
//! set, so that only the senders of such rings ask for it.

use std::time::Instant;

use tamtam_wait::Wait;
use tamtam_wait::seam::{self, atomic::Ordering};

use super::batch::Claims;
use super::{BITS, Claim, FLAG, RESERVED, Refusal, Ring};

impl<T> Ring<T> {
    /// How many messages there is room for beside so many permits, by this tail. The caller holds the
    /// lock of the permits.
    pub(super) fn room_beside(&self, permits: usize, tail: usize) -> usize {
        // SYNC ring-head: the receiver is done with the cells before it.
        let head = self.head.position.load(Ordering::SeqCst) & !FLAG;
        self.room(head, tail & !BITS).saturating_sub(permits)
    }

    /// Claims the next position of a ring that is closed or has permits out.
    #[cold]
    #[inline(never)]
    pub(super) fn claim_with_care(&self) -> Result<Claim, Refusal> {
        // Without permits and open again: then as ever.
        self.claim_many(1).map(|claims| Claim(claims.first))
    }

    /// Claims positions while permits are out: at most `wanted` and at least one. `None` if there are no
    /// permits any more.
    #[cold]
    #[inline(never)]
    pub(super) fn claim_beside_permits(&self, wanted: usize) -> Option<Result<Claims, Refusal>> {
        if self.tail.position.load(Ordering::Relaxed) & FLAG != 0 {
            return Some(Err(Refusal::Closed));
        }
        let permits = self.tail.permits.lock();
        let mut tail = self.tail.position.load(Ordering::SeqCst);
        loop {
            if tail & FLAG != 0 {
                return Some(Err(Refusal::Closed));
            }
            if tail & RESERVED == 0 {
                return None;
            }
            let count = self.room_beside(*permits, tail).min(wanted);
            if count == 0 {
                return Some(Err(Refusal::Full));
            }
            let first = tail & !BITS;
            let end = self.advance(first, count);
            // Sequentially consistent, as in `claim`.
            match self.tail.position.compare_exchange(
                tail,
                end | RESERVED,
                Ordering::SeqCst,
                Ordering::SeqCst,
            ) {
                Ok(_) => {
                    if self.exact {
                        self.look(end);
                    }
                    return Some(Ok(Claims { first, count }));
                }
                // Only a closing can come between.
                Err(now) => tail = now,
            }
        }
    }

    /// Keeps room for one message, if there is any.
    pub(crate) fn reserve(&self) -> Result<(), Refusal> {
        let mut permits = self.tail.permits.lock();
        let mut tail = self.tail.position.load(Ordering::SeqCst);
        loop {
            if tail & FLAG != 0 {
                return Err(Refusal::Closed);
            }
            if self.room_beside(*permits, tail) == 0 {
                // Full, if the tail is still the one that was compared with the head.
                let now = self.tail.position.load(Ordering::SeqCst);
                if now == tail {
                    return Err(Refusal::Full);
                }
                tail = now;
                seam::spin_loop();
                continue;
            }
            if tail & RESERVED != 0 {
                break;
            }
            // From here on claims take the lock. If the tail is the same, the room was not taken.
            match self.tail.position.compare_exchange(
                tail,
                tail | RESERVED,
                Ordering::SeqCst,
                Ordering::SeqCst,
            ) {
                Ok(_) => break,
                Err(now) => {
                    tail = now;
                    seam::spin_loop();
                }
            }
        }
        *permits += 1;
        Ok(())
    }

    pub(crate) fn wait_to_reserve(
        &self,
        wait: Wait,
        deadline: Option<Instant>,
    ) -> Result<(), Refusal> {
        self.wait_for_room(wait, deadline, || self.reserve())
    }

    /// Gives the room of a permit back and wakes one who waits for it.
    pub(crate) fn release(&self) {
        let mut permits = self.tail.permits.lock();
        *permits -= 1;
        if *permits == 0 && !self.exact {
            self.tail.position.fetch_and(!RESERVED, Ordering::SeqCst);
        }
        drop(permits);
        self.senders.notify_one();
    }

    /// Claims the next position for a permit, which is used up, also if the ring is closed.
    pub(crate) fn redeem(&self) -> Result<Claim, Refusal> {
        let mut permits = self.tail.permits.lock();
        *permits -= 1;
        let reserved = if *permits == 0 && !self.exact {
            0
        } else {
            RESERVED
        };
        let mut tail = self.tail.position.load(Ordering::SeqCst);
        loop {
            if tail & FLAG != 0 {
                if reserved == 0 {
                    self.tail.position.fetch_and(!RESERVED, Ordering::SeqCst);
                }
                return Err(Refusal::Closed);
            }
            let first = tail & !BITS;
            // Asked also for the sake of SYNC ring-head: it was the cell's last receiver that made room.
            let room = self.room_beside(*permits, tail);
            debug_assert!(room > 0, "the room of a permit is gone");
            let end = self.next(first);
            match self.tail.position.compare_exchange(
                tail,
                end | reserved,
                Ordering::SeqCst,
                Ordering::SeqCst,
            ) {
                Ok(_) => {
                    if self.exact {
                        self.look(end);
                    }
                    return Ok(Claim(first));
                }
                // Only a closing can come between.
                Err(now) => tail = now,
            }
        }
    }

    /// Whether one who waits for room should look again, while permits are out.
    #[cold]
    #[inline(never)]
    pub(super) fn has_room_beside_permits(&self) -> bool {
        let permits = self.tail.permits.lock();
        let tail = self.tail.position.load(Ordering::SeqCst);
        // Closed meanwhile, or the permits are gone meanwhile.
        tail & BITS != RESERVED || self.room_beside(*permits, tail) > 0
    }
}
