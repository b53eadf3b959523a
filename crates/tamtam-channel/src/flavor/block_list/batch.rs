//! Many messages at a time through a list of blocks: one compare-and-swap claims cells up to the end of a
//! block, and one taking of the receivers' lock takes what is there up to the end of a block.

use tamtam_wait::seam::{self, atomic::Ordering};

use super::{
    BlockList, ListBlock, ListClaim, Nothing, Taken, block_of, has_flag, offset_of, place,
};

/// Cells, one after the other, that a sender has claimed and must write.
#[must_use = "receivers wait for claimed cells to be written"]
pub(crate) struct ListClaims<T> {
    first: ListClaim<T>,
    count: usize,
}

impl<T> ListClaims<T> {
    pub(crate) fn count(&self) -> usize {
        self.count
    }
}

impl<T> BlockList<T> {
    /// Claims cells, at most `wanted` and at least one; `None` if the list is closed.
    pub(crate) fn claim_many(&self, wanted: usize) -> Option<ListClaims<T>> {
        let cells = ListBlock::<T>::CELLS;
        // SYNC list-tail
        let mut tail = self.tail.load(Ordering::Acquire);
        loop {
            if has_flag(tail) {
                return None;
            }
            let offset = offset_of(tail);
            let now = if let Some(block) = block_of(tail) {
                if offset + wanted >= cells {
                    match self.claim_last(tail, block, offset) {
                        Ok(claim) => {
                            return Some(ListClaims {
                                first: claim,
                                count: cells - offset,
                            });
                        }
                        Err(now) => now,
                    }
                } else {
                    // Sequentially consistent, as in `claim`.
                    match self.tail.compare_exchange_weak(
                        tail,
                        place(block, offset + wanted),
                        Ordering::SeqCst,
                        Ordering::Acquire,
                    ) {
                        Ok(_) => {
                            return Some(ListClaims {
                                first: ListClaim { block, offset },
                                count: wanted,
                            });
                        }
                        Err(now) => {
                            seam::spin_loop();
                            now
                        }
                    }
                }
            } else {
                let count = wanted.min(cells - 1);
                match self.claim_first(count) {
                    Ok(claim) => {
                        return Some(ListClaims {
                            first: claim,
                            count,
                        });
                    }
                    Err(now) => now,
                }
            };
            tail = now;
        }
    }

    /// Writes claimed cells and wakes as many receivers, if they sleep. No user code may run in
    /// `message`.
    pub(crate) fn write_many(&self, claims: ListClaims<T>, mut message: impl FnMut() -> T) {
        let ListClaims { first, count } = claims;
        let ListClaim { block, offset } = first;
        // SAFETY: a block is not freed before all its cells are written and read.
        let header = unsafe { block.as_ref() };
        let generation = header.generation.with(|generation| {
            // SAFETY: changes only while no thread but its owner has the block.
            unsafe { *generation }
        });
        for offset in offset..offset + count {
            // SAFETY: the block is not freed before all its cells are written and read, and at least this one is not
            // written yet. Offsets that are claimed are
            // below the number of cells.
            let cell = unsafe { ListBlock::cell(block, offset) };
            cell.message.with_mut(|place| {
                // SAFETY: the cell is claimed by this thread alone.
                unsafe { (*place).write(message()) };
            });
            // SYNC list-stamp: the message is written.
            cell.stamp.store(generation, Ordering::Release);
        }
        // As often as each sixteenth message would.
        if has_sixteenth(offset, count) {
            self.receivers.habit().meet();
        }
        self.receivers.notify_many(count);
    }

    /// Takes messages under one taking of the receivers' lock.
    pub(super) fn take_batch(&self, messages: &mut Vec<T>, room: usize) -> Result<Taken, Nothing> {
        debug_assert!(messages.capacity() - messages.len() >= room);
        let (head, block) = self.lock_block().ok_or(Nothing::Busy)?;
        // SAFETY: the head's block lives while the lock is held.
        let header = unsafe { block.as_ref() };
        let generation = header.generation.with(|generation| {
            // SAFETY: changes only while no thread but its owner has the block.
            unsafe { *generation }
        });
        let places = messages.spare_capacity_mut();
        let mut count = 0;
        let mut offset = offset_of(head);
        while count < room && offset < ListBlock::<T>::CELLS {
            // SAFETY: the receiver's lock keeps the block, and the offset is below the number of cells.
            let cell = unsafe { ListBlock::cell(block, offset) };
            // SYNC list-stamp
            if cell.stamp.load(Ordering::Acquire) != generation {
                break;
            }
            places[count].write(cell.message.with_mut(|place| {
                // SAFETY: the stamp says that it is written, and the lock that no other thread takes it.
                unsafe { (*place).assume_init_read() }
            }));
            count += 1;
            offset += 1;
        }
        self.head.pace.count(count);
        let may_have_more = count == room || offset == ListBlock::<T>::CELLS;
        if may_have_more || self.head.pace.is_due(ListBlock::<T>::CELLS) {
            self.sample(head);
        } else {
            self.head.pace.took_all(count);
        }
        if offset < ListBlock::<T>::CELLS {
            self.unlock(place(block, offset));
        } else {
            self.leave(block);
        }
        // SAFETY: so many were written behind the vector's end just now.
        unsafe { messages.set_len(messages.len() + count) };
        if count == 0 {
            return Err(Nothing::Busy);
        }
        Ok(Taken {
            count,
            may_have_more,
        })
    }
}

/// Whether one of the cells whose offset is a multiple of sixteen is among `count` of them from `first` on.
fn has_sixteenth(first: usize, count: usize) -> bool {
    first.next_multiple_of(16) < first + count
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::has_sixteenth;

    #[test]
    #[cfg_attr(miri, ignore = "it only computes")]
    fn a_batch_says_where_it_comes_from_as_often_as_each_sixteenth_message_would() {
        for first in 0..64 {
            for count in 0..64 {
                let one_by_one = (first..first + count).any(|offset| offset % 16 == 0);
                assert_eq!(has_sixteenth(first, count), one_by_one, "{first}, {count}");
            }
        }
    }
}
