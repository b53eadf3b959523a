//! Many messages at a time through a ring: one compare-and-swap claims places for as many as there is
//! room for, and one taking of the receivers' lock takes as many as are there.

use std::time::Instant;

use tamtam_wait::Wait;
use tamtam_wait::seam::{self, atomic::Ordering};

use super::{BETWEEN_MEETINGS, BITS, FLAG, MEETING, Nothing, Refusal, Ring, SHIFT, Taken};

/// No receiver holds the lock for more messages than this.
const MOST_UNDER_LOCK: usize = if cfg!(tamtam_loom) { 2 } else { 256 };

/// Positions, one after the other, that a sender has claimed and must fill.
#[must_use = "receivers wait for claimed cells to be written"]
pub(crate) struct Claims {
    pub(super) first: usize,
    pub(super) count: usize,
}

impl Claims {
    pub(crate) fn count(&self) -> usize {
        self.count
    }
}

impl<T> Ring<T> {
    /// The position so many steps further; no more steps than a lap has.
    pub(super) fn advance(&self, position: usize, steps: usize) -> usize {
        let index = (position & (self.lap - 1)) >> SHIFT;
        if index + steps < self.cells.len() {
            position + (steps << SHIFT)
        } else {
            let index = index + steps - self.cells.len();
            (position & !(self.lap - 1)).wrapping_add(self.lap) | index << SHIFT
        }
    }

    /// Claims as many positions as there is room for, at most `wanted` and at least one.
    pub(crate) fn claim_many(&self, wanted: usize) -> Result<Claims, Refusal> {
        let mut tail = self.tail.position.load(Ordering::Relaxed);
        loop {
            if tail & BITS != 0 {
                match self.claim_beside_permits(wanted) {
                    Some(claims) => return claims,
                    None => {
                        tail = self.tail.position.load(Ordering::Relaxed);
                        continue;
                    }
                }
            }
            // SYNC head-seen
            let seen = self.tail.head_seen.load(Ordering::Acquire);
            let mut room = self.room(seen, tail);
            if room < wanted {
                // SYNC ring-head: the receiver is done with the cells before it.
                let head = self.head.position.load(Ordering::SeqCst) & !FLAG;
                if head != seen {
                    // SYNC head-seen
                    self.tail.head_seen.store(head, Ordering::Release);
                }
                room = self.room(head, tail);
                if room == 0 {
                    // Full, if the tail is still the one that was compared with this head.
                    let now = self.tail.position.load(Ordering::Relaxed);
                    if now == tail {
                        return Err(Refusal::Full);
                    }
                    tail = now;
                    continue;
                }
            }
            let count = room.min(wanted);
            // Sequentially consistent, as in `claim`. If the tail is the same, nothing was claimed since it
            // was read, and the head can only have made more room.
            match self.tail.position.compare_exchange_weak(
                tail,
                self.advance(tail, count),
                Ordering::SeqCst,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Ok(Claims { first: tail, count }),
                Err(now) => {
                    tail = now;
                    seam::spin_loop();
                }
            }
        }
    }

    /// How many cells are free, by a head and a tail that need not be of one moment: none, if the head
    /// is newer.
    pub(super) fn room(&self, head: usize, tail: usize) -> usize {
        if tail.wrapping_sub(head) > self.lap {
            return 0;
        }
        self.cells.len() - self.distance(head, tail)
    }

    /// Sends as many messages as there is room for, at most `wanted` and at least one, after waiting for room. How many. No user code may run in `message`.
    ///
    /// It is the attempt that writes, as in [`wait_to_send`](Ring::wait_to_send).
    pub(crate) fn wait_to_send_many(
        &self,
        wanted: usize,
        wait: Wait,
        deadline: Option<Instant>,
        mut message: impl FnMut() -> T,
    ) -> Result<usize, Refusal> {
        self.wait_for_room(wait, deadline, || {
            let claims = self.claim_many(wanted)?;
            let count = claims.count();
            self.write_many(claims, &mut message);
            Ok(count)
        })
    }

    /// Fills claimed cells and wakes as many receivers, if they sleep. No user code may run in
    /// `message`.
    pub(crate) fn write_many(&self, claims: Claims, mut message: impl FnMut() -> T) {
        let mut position = claims.first;
        let mut meets = false;
        for _ in 0..claims.count {
            let cell = self.cell(position);
            cell.message.with_mut(|place| {
                // SAFETY: the position was claimed by this thread alone, and the head that allowed the
                // claim says that the cell's last message is out.
                unsafe { (*place).write(message()) };
            });
            // SYNC ring-stamp: the message is written.
            cell.stamp.store(position | FLAG, Ordering::Release);
            meets |= position & MEETING == 0;
            position = self.next(position);
        }
        if meets {
            self.receivers.habit().meet();
        }
        self.receivers.notify_many(claims.count);
    }

    /// Takes messages under one taking of the receivers' lock.
    pub(super) fn take_batch(&self, messages: &mut Vec<T>, room: usize) -> Result<Taken, Nothing> {
        let room = room.min(MOST_UNDER_LOCK);
        debug_assert!(messages.capacity() - messages.len() >= room);
        let (head, _) = self.lock_mail()?;
        let places = messages.spare_capacity_mut();
        let mut count = 0;
        let mut position = head;
        let mut meets = false;
        while count < room {
            let cell = self.cell(position);
            // SYNC ring-stamp. A cell whose position is a lap ahead has the stamp of this lap at most.
            if cell.stamp.load(Ordering::Acquire) != position | FLAG {
                break;
            }
            places[count].write(cell.message.with_mut(|place| {
                // SAFETY: the stamp says that the message of this very position is written, and
                // the lock bit that no other thread takes it.
                unsafe { (*place).assume_init_read() }
            }));
            count += 1;
            meets |= position & MEETING == 0;
            position = self.next(position);
        }
        self.head.pace.count(count);
        let may_have_more = count == room;
        if may_have_more || self.head.pace.is_due(BETWEEN_MEETINGS) {
            self.sample();
        } else {
            self.head.pace.took_all(count);
        }
        // SYNC ring-head: the cells may be written again.
        self.head.position.store(position, Ordering::Release);
        // SAFETY: so many were written behind the vector's end just now.
        unsafe { messages.set_len(messages.len() + count) };
        if meets {
            self.senders.habit().meet();
        }
        self.senders.notify_many(count);
        Ok(Taken {
            count,
            may_have_more,
        })
    }
}
