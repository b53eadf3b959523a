//! Unbounded channels: a list of blocks.
//!
//! A sender claims a cell by one compare-and-swap on the tail, a word that holds the block's address
//! *and* the offset in it (blocks are aligned so that the low bits of the address are free). So the
//! claim itself tells where to write: no second read that could meet a freed block, and a block that
//! was recycled to the same place under a sender's eyes is still the right one. Receivers take turns
//! by a lock bit in the head, and the receiver that takes a block's last message owns the block: no sender can
//! have business in it any more, since all its cells are written. It is kept for the next time (a few
//! are) or freed: no epochs, no hazard pointers.
//!
//! A cell is written when its stamp equals the block's generation, which grows with each recycling:
//! recycling does not touch the cells, and a receiver never writes one. Generations wrap: a cell that is not
//! written holds the stamp of the generation before, since each of a block's cells is written before the
//! block is recycled, and never an older one.

mod batch;
#[cfg(all(test, not(tamtam_loom)))]
mod tests;

use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};

use tamtam_wait::seam::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use tamtam_wait::seam::{self, CacheAligned, ORIGIN, UnsafeCell};
use tamtam_wait::{Backoff, WaitList};

use super::Nothing;
use super::pace::{LONGEST_INTERVAL, Pace};
use super::queue::{Queue, Taken};
use crate::block::{self, Header};

/// In the tail: closed. In the head: a receiver is at work.
const FLAG: usize = 1;
/// One cell further.
const STEP: usize = 2;
/// Flag and offset: the low bits of a block's address, which are zero.
const MASK: usize = 127;

/// The generation of a fresh block. Builds that are to see the wrap begin with the last one before it.
const FIRST_GENERATION: u32 = if cfg!(tamtam_near_wrap) { u32::MAX } else { 1 };

/// No more than this is kept in spare blocks.
const SPARE_BYTES: usize = 8192;
/// Places for spare blocks.
const SPARE_PLACES: usize = 4;

struct ListCell<T> {
    stamp: AtomicU32,
    message: UnsafeCell<MaybeUninit<T>>,
}

/// What a block of the list begins with.
struct ListLink<T> {
    /// The block that follows; set by the sender that claims this block's last cell, before it is written.
    next: AtomicPtr<ListBlock<T>>,
    /// Cells whose stamp is this are written. Changed only by a block's owner.
    generation: UnsafeCell<u32>,
    /// How many cells lie before this block, since the channel's beginning, from [`ORIGIN`] on; wraps.
    /// Changed only by a block's owner.
    start: UnsafeCell<usize>,
}

type ListBlock<T> = block::Block<ListLink<T>>;

impl<T> Header for ListLink<T> {
    type Cell = ListCell<T>;

    const CELLS: usize = block::cells_of::<ListCell<T>>(4, 62);

    fn new() -> Self {
        ListLink {
            next: AtomicPtr::new(ptr::null_mut()),
            generation: UnsafeCell::new(FIRST_GENERATION),
            start: UnsafeCell::new(ORIGIN),
        }
    }

    fn cell() -> ListCell<T> {
        ListCell {
            stamp: AtomicU32::new(FIRST_GENERATION - 1),
            message: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }
}

impl<T> ListBlock<T> {
    const SPARES: usize = Self::blocks_in(SPARE_BYTES, 0, SPARE_PLACES);

    /// # Safety
    ///
    /// The block lives as long as `'a`, and the index is below the number of cells.
    #[inline(always)]
    unsafe fn cell<'a>(block: NonNull<Self>, index: usize) -> &'a ListCell<T> {
        debug_assert!(index < Self::CELLS);
        // SAFETY: the block lives as long as `'a`, the index is below the number of cells, and `allocate` wrote a cell
        // there.
        unsafe { &*Self::place(block, index) }
    }
}

/// A word of block address, offset and flag, taken apart.
fn block_of<T>(word: *mut ListBlock<T>) -> Option<NonNull<ListBlock<T>>> {
    NonNull::new(word.map_addr(|address| address & !MASK))
}

fn offset_of<T>(word: *mut ListBlock<T>) -> usize {
    (word.addr() & MASK) / STEP
}

fn has_flag<T>(word: *mut ListBlock<T>) -> bool {
    word.addr() & FLAG != 0
}

fn without_flag<T>(word: *mut ListBlock<T>) -> *mut ListBlock<T> {
    word.map_addr(|address| address & !FLAG)
}

fn with_flag<T>(word: *mut ListBlock<T>) -> *mut ListBlock<T> {
    word.map_addr(|address| address | FLAG)
}

fn place<T>(block: NonNull<ListBlock<T>>, offset: usize) -> *mut ListBlock<T> {
    block.as_ptr().map_addr(|address| address | (offset * STEP))
}

/// A cell that a sender has claimed and must write.
#[must_use = "receivers wait for a claimed cell to be written"]
pub(crate) struct ListClaim<T> {
    block: NonNull<ListBlock<T>>,
    offset: usize,
}

struct ListHead<T> {
    place: AtomicPtr<ListBlock<T>>,
    /// How many blocks it has left; wraps. Only between two looks of one thread would that matter: there it takes 50,000 years at a block in 100 ns,
    /// seven minutes where a word has 32 bits.
    left: AtomicUsize,
    pace: Pace,
    /// From this offset on a receiver does what it need not do each time.
    landmark: usize,
}

/// A channel without a bound. The first block is allocated by the first message.
pub(crate) struct BlockList<T> {
    tail: CacheAligned<AtomicPtr<ListBlock<T>>>,
    head: CacheAligned<ListHead<T>>,
    /// Discarding was cut short by a panic.
    abandoned: AtomicBool,
    receivers: WaitList,
    /// The first block, for the first receiver.
    first: AtomicPtr<ListBlock<T>>,
    /// Blocks to use again. Put in by the receiver that holds the lock, taken by swaps.
    spares: [AtomicPtr<ListBlock<T>>; SPARE_PLACES],
}

// SAFETY: messages move through the list from one thread to another; a claimed cell belongs to one
// sender, the head's lock bit to one receiver.
unsafe impl<T: Send> Send for BlockList<T> {}
// SAFETY: senders claim cells by atomic steps, and receivers take them under the head's lock bit; messages only move.
unsafe impl<T: Send> Sync for BlockList<T> {}

impl<T> BlockList<T> {
    pub(crate) fn new(exact: bool) -> Self {
        BlockList {
            tail: CacheAligned(AtomicPtr::new(ptr::null_mut())),
            head: CacheAligned(ListHead {
                place: AtomicPtr::new(ptr::null_mut()),
                left: AtomicUsize::new(ORIGIN),
                pace: Pace::new(if exact { 0 } else { LONGEST_INTERVAL }),
                landmark: if exact { 0 } else { ListBlock::<T>::CELLS },
            }),
            abandoned: AtomicBool::new(false),
            receivers: WaitList::new(),
            first: AtomicPtr::new(ptr::null_mut()),
            spares: core::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
        }
    }

    /// Claims the next cell; `None` if the list is closed.
    #[inline]
    pub(crate) fn claim(&self) -> Option<ListClaim<T>> {
        // SYNC list-tail: the block that the word names is initialised.
        let mut tail = self.tail.load(Ordering::Acquire);
        loop {
            if has_flag(tail) {
                return None;
            }
            let offset = offset_of(tail);
            let Some(block) = block_of(tail) else {
                match self.claim_first(1) {
                    Ok(claim) => return Some(claim),
                    Err(now) => {
                        tail = now;
                        continue;
                    }
                }
            };
            if offset + 1 >= ListBlock::<T>::CELLS {
                match self.claim_last(tail, block, offset) {
                    Ok(claim) => return Some(claim),
                    Err(now) => {
                        tail = now;
                        continue;
                    }
                }
            }
            // Sequentially consistent: a receiver that registers and then looks at the tail must
            // see this claim, or we see it among those who wait.
            match self.tail.compare_exchange_weak(
                tail,
                place(block, offset + 1),
                Ordering::SeqCst,
                Ordering::Acquire,
            ) {
                Ok(_) => return Some(ListClaim { block, offset }),
                Err(now) => {
                    tail = now;
                    seam::spin_loop();
                }
            }
        }
    }

    /// Claims the channel's very first cells, fewer than a block has, together with their block; else
    /// the tail's new value.
    #[cold]
    fn claim_first(&self, count: usize) -> Result<ListClaim<T>, *mut ListBlock<T>> {
        let block = ListBlock::<T>::allocate();
        // SYNC list-tail
        match self.tail.compare_exchange(
            ptr::null_mut(),
            place(block, count),
            Ordering::SeqCst,
            Ordering::Acquire,
        ) {
            Ok(_) => {
                // SYNC list-first
                self.first.store(block.as_ptr(), Ordering::Release);
                Ok(ListClaim { block, offset: 0 })
            }
            Err(now) => {
                // SAFETY: no thread has seen this block.
                unsafe { ListBlock::free(block) };
                Err(now)
            }
        }
    }

    /// Claims the rest of a block, from this offset to its last cell, and links the next block; else the
    /// tail's new value.
    #[cold]
    #[inline(never)]
    fn claim_last(
        &self,
        tail: *mut ListBlock<T>,
        block: NonNull<ListBlock<T>>,
        offset: usize,
    ) -> Result<ListClaim<T>, *mut ListBlock<T>> {
        if offset == ListBlock::<T>::CELLS {
            // Another sender is about to link the next block.
            let mut backoff = Backoff::new();
            loop {
                backoff.pause();
                // SYNC list-tail
                let now = self.tail.load(Ordering::Acquire);
                if now != tail {
                    return Err(now);
                }
            }
        }
        // Whatever takes time comes before the claim: between the claim and the new tail, all other
        // senders wait.
        let next = self.take_spare().unwrap_or_else(ListBlock::<T>::allocate);
        let full = place(block, ListBlock::<T>::CELLS);
        if let Err(now) =
            self.tail
                .compare_exchange(tail, full, Ordering::SeqCst, Ordering::Acquire)
        {
            self.keep_or_free(next);
            return Err(now);
        }
        // SAFETY: the block is not freed before its last cell, claimed here, is written and read.
        let block_header = unsafe { block.as_ref() };
        // SAFETY: no other thread has seen the next block yet.
        let next_header = unsafe { next.as_ref() };
        let start = block_header.start.with(|start| {
            // SAFETY: written before the block was linked.
            unsafe { *start }
        });
        next_header.start.with_mut(|next_start| {
            // SAFETY: the block is ours until it is linked.
            unsafe { *next_start = start.wrapping_add(ListBlock::<T>::CELLS) }
        });
        next_header.next.store(ptr::null_mut(), Ordering::Relaxed);
        // SYNC list-next
        block_header.next.store(next.as_ptr(), Ordering::Release);
        // Only a closing may come between.
        let mut current = full;
        loop {
            let mut moved = place(next, 0);
            if has_flag(current) {
                moved = with_flag(moved);
            }
            // SYNC list-tail
            match self
                .tail
                .compare_exchange(current, moved, Ordering::SeqCst, Ordering::Relaxed)
            {
                Ok(_) => return Ok(ListClaim { block, offset }),
                Err(now) => current = now,
            }
        }
    }

    /// Writes a claimed cell and wakes a receiver if one sleeps.
    #[inline]
    pub(crate) fn write(&self, claim: ListClaim<T>, message: T) {
        // SAFETY: a block is not freed before all its cells are written and read.
        let header = unsafe { claim.block.as_ref() };
        // SAFETY: the block is not freed before its cells are read, which this one is not; and offsets that are claimed are
        // below the number of cells.
        let cell = unsafe { ListBlock::cell(claim.block, claim.offset) };
        cell.message.with_mut(|place| {
            // SAFETY: the cell is claimed by this thread alone.
            unsafe { (*place).write(message) };
        });
        let generation = header.generation.with(|generation| {
            // SAFETY: changes only while no thread but its owner has the block.
            unsafe { *generation }
        });
        // SYNC list-stamp: the message is written.
        cell.stamp.store(generation, Ordering::Release);
        if claim.offset.is_multiple_of(16) {
            self.receivers.habit().meet();
        }
        self.receivers.notify_one();
    }

    /// Takes the receivers' lock; the head's value before.
    #[inline]
    fn lock(&self) -> Option<*mut ListBlock<T>> {
        let head = self.head.place.load(Ordering::Relaxed);
        // SYNC list-head
        (!has_flag(head)
            && self
                .head
                .place
                .compare_exchange(head, with_flag(head), Ordering::Acquire, Ordering::Relaxed)
                .is_ok())
        .then_some(head)
    }

    /// Takes the receivers' lock, if there is a block: the head, and the block that it is in.
    #[inline(always)]
    fn lock_block(&self) -> Option<(*mut ListBlock<T>, NonNull<ListBlock<T>>)> {
        let head = self.lock()?;
        if let Some(block) = block_of(head) {
            return Some((head, block));
        }
        // SYNC list-first
        let first = self.first.load(Ordering::Acquire);
        let block = NonNull::new(first);
        if block.is_none() {
            self.unlock(first);
        }
        Some((first, block?))
    }

    /// Gives the receivers' lock back with the head behind this cell.
    #[inline(always)]
    fn advance(&self, block: NonNull<ListBlock<T>>, offset: usize) {
        if offset + 1 < self.head.landmark {
            self.unlock(place(block, offset + 1));
        } else {
            self.pass_landmark(block, offset);
        }
    }

    /// As [`advance`](BlockList::advance), and looks how many messages there are if it is time.
    #[cold]
    #[inline(never)]
    fn pass_landmark(&self, block: NonNull<ListBlock<T>>, offset: usize) {
        if self.head.pace.is_due(ListBlock::<T>::CELLS) {
            self.sample(place(block, offset));
        }
        if offset + 1 < ListBlock::<T>::CELLS {
            self.unlock(place(block, offset + 1));
        } else {
            self.leave(block);
        }
    }

    /// Gives the receivers' lock back with a new head.
    #[inline(always)]
    fn unlock(&self, head: *mut ListBlock<T>) {
        // SYNC list-head
        self.head.place.store(head, Ordering::Release);
    }

    /// The block's last message is out: the head moves to the next one, and the block is recycled.
    #[cold]
    #[inline(never)]
    fn leave(&self, block: NonNull<ListBlock<T>>) {
        // SAFETY: the lock is held, so no other thread leaves the block.
        let header = unsafe { block.as_ref() };
        // SYNC list-next. The next block was linked before the last cell was written.
        let next = header.next.load(Ordering::Acquire);
        header.generation.with_mut(|generation| {
            // SAFETY: all cells are written and read: no other thread has business in this block.
            unsafe { *generation = (*generation).wrapping_add(1) }
        });
        // SYNC list-first: the head will never be null again, and this word is not read any more.
        self.unlock(next);
        // SYNC list-left: before the block is used again.
        self.head.left.fetch_add(1, Ordering::Release);
        self.keep_or_free(block);
    }

    /// The caller owns the block: no other thread has its address.
    fn keep_or_free(&self, block: NonNull<ListBlock<T>>) {
        for spare in &self.spares[..ListBlock::<T>::SPARES] {
            // SYNC list-spare: the block's new generation.
            if spare.load(Ordering::Relaxed).is_null()
                && spare
                    .compare_exchange(
                        ptr::null_mut(),
                        block.as_ptr(),
                        Ordering::Release,
                        Ordering::Relaxed,
                    )
                    .is_ok()
            {
                return;
            }
        }
        // SAFETY: the caller owns the block.
        unsafe { ListBlock::free(block) };
    }

    fn take_spare(&self) -> Option<NonNull<ListBlock<T>>> {
        self.spares[..ListBlock::<T>::SPARES]
            .iter()
            .find_map(|spare| {
                if spare.load(Ordering::Relaxed).is_null() {
                    return None;
                }
                // SYNC list-spare
                NonNull::new(spare.swap(ptr::null_mut(), Ordering::Acquire))
            })
    }

    /// Closes the list for senders; `false` if it was closed. Messages that are in it can still be
    /// received.
    pub(crate) fn close(&self) -> bool {
        let mut tail = self.tail.load(Ordering::Relaxed);
        while let Err(now) = self.tail.compare_exchange_weak(
            tail,
            with_flag(tail),
            Ordering::SeqCst,
            Ordering::Relaxed,
        ) {
            tail = now;
        }
        self.head.pace.note_closed();
        self.receivers.notify_all();
        !has_flag(tail)
    }

    /// The words of the head and then of the tail, which say of the same place that it is the same; `None` if the head has left a block
    /// meanwhile, which may then be the one that the tail is in, used again. `between` is done between the two looks.
    #[inline(always)]
    fn ends(&self, between: impl FnOnce()) -> Option<(*mut ListBlock<T>, *mut ListBlock<T>)> {
        // SYNC list-left: what sees that a block was left sees no head in it.
        let left = self.head.left.load(Ordering::Acquire);
        // Head first: if the tail is not ahead of it, the list was empty then.
        let head = self.head.place.load(Ordering::SeqCst);
        between();
        let tail = self.tail.load(Ordering::SeqCst);
        // SYNC list-left: what sees the tail in a block that is used again sees that it was left.
        (self.head.left.load(Ordering::Acquire) == left).then_some((head, tail))
    }

    /// How many messages there are behind this head; the caller holds the receivers' lock.
    fn length_from(&self, head: *mut ListBlock<T>) -> usize {
        // SYNC list-tail. While the lock is held no block is freed, so both may be read.
        let tail = self.tail.load(Ordering::Acquire);
        // SAFETY: the blocks of the head and of the tail live while the receivers' lock is held.
        unsafe { Self::position(tail).wrapping_sub(Self::position(head)) }
    }

    /// How many cells lie before this word's, since the channel's beginning, from [`ORIGIN`] on; wraps.
    ///
    /// # Safety
    ///
    /// The receivers' lock is held, and the word is the head or the tail, whose blocks live meanwhile.
    unsafe fn position(word: *mut ListBlock<T>) -> usize {
        block_of(word).map_or(ORIGIN, |block| {
            // SAFETY: by the caller's promise the block lives.
            let block = unsafe { block.as_ref() };
            // SAFETY: written before the block was linked, and not again before it is recycled.
            let start = block.start.with(|start| unsafe { *start });
            start.wrapping_add(offset_of(word))
        })
    }

    /// Looks how many messages there are behind this head, for the high-water mark; the caller holds the
    /// receivers' lock.
    fn sample(&self, head: *mut ListBlock<T>) {
        self.head.pace.saw(self.length_from(head));
    }
}

impl<T> BlockList<T> {
    /// Why nothing was taken, after this look at both ends.
    #[inline]
    fn nothing_at(&self, ends: Option<(*mut ListBlock<T>, *mut ListBlock<T>)>) -> Nothing {
        match ends {
            // A receiver is at work, too, where the head has its flag.
            Some((head, tail)) if without_flag(tail) == head => {
                if has_flag(tail) {
                    Nothing::Closed
                } else {
                    Nothing::Empty
                }
            }
            _ => Nothing::Busy,
        }
    }

    /// Takes the receivers' lock if the oldest message is there to be taken: its block and offset.
    #[inline(always)]
    fn lock_mail(&self) -> Option<(NonNull<ListBlock<T>>, usize)> {
        let (head, block) = self.lock_block()?;
        let offset = offset_of(head);
        // SAFETY: the head's block lives while the lock is held; offsets in the head are below the
        // number of cells, since the head moves on to the next block at once.
        let (header, cell) = unsafe { (block.as_ref(), ListBlock::cell(block, offset)) };
        let generation = header.generation.with(|generation| {
            // SAFETY: changes only while no thread but its owner has the block.
            unsafe { *generation }
        });
        // SYNC list-stamp
        if cell.stamp.load(Ordering::Acquire) != generation {
            self.unlock(head);
            return None;
        }
        Some((block, offset))
    }

    /// Takes the message at the head, which goes on behind it. Its only local of the message's size is the result: so it is that place
    /// into which the message is copied.
    ///
    /// # Safety
    ///
    /// [`lock_mail`](Self::lock_mail) has returned this block and offset.
    #[inline(always)]
    unsafe fn take_locked<R>(
        &self,
        block: NonNull<ListBlock<T>>,
        offset: usize,
        received: impl FnOnce(T) -> R,
    ) -> R {
        // SAFETY: the head's block lives while the lock is held, and the offset is that of its head.
        let cell = unsafe { ListBlock::cell(block, offset) };
        let message = cell.message.with_mut(|place| {
            // SAFETY: the stamp says that it is written, and the lock that no other thread takes it.
            received(unsafe { (*place).assume_init_read() })
        });
        self.head.pace.count(1);
        self.advance(block, offset);
        message
    }
}

impl<T> Queue for BlockList<T> {
    type Message = T;

    #[inline]
    fn receive_as<R>(&self, received: impl FnOnce(T) -> R, otherwise: impl FnOnce() -> R) -> R {
        match self.lock_mail() {
            // SAFETY: the head is locked, and the message of its cell is written.
            Some((block, offset)) => unsafe { self.take_locked(block, offset, received) },
            None => otherwise(),
        }
    }

    fn receive_many(&self, messages: &mut Vec<T>, room: usize) -> Result<Taken, Nothing> {
        self.take_batch(messages, room)
    }

    fn why_nothing(&self) -> Nothing {
        self.nothing_at(self.ends(|| ()))
    }

    fn len(&self) -> usize {
        let mut backoff = Backoff::new();
        let head = loop {
            match self.lock() {
                Some(head) => break head,
                None => backoff.pause(),
            }
        };
        let length = self.length_from(head);
        self.unlock(head);
        length
    }

    fn has_mail(&self) -> bool {
        seam::model_fence();
        // A closed tail counts, too.
        self.ends(|| ())
            .is_none_or(|(head, tail)| tail != without_flag(head))
    }

    fn is_empty(&self) -> bool {
        loop {
            if let Some((head, tail)) = self.ends(|| ()) {
                return without_flag(tail) == without_flag(head);
            }
            seam::spin_loop();
        }
    }

    fn is_closed(&self) -> bool {
        has_flag(self.tail.load(Ordering::SeqCst))
    }

    fn empty_since(&self) -> Option<u64> {
        // A block that was recycled may have the tail at the same word again, so it is the position that counts; and for that the block has to live.
        let head = self.lock()?;
        seam::model_fence();
        // A closed tail is no head.
        let is_empty = self.tail.load(Ordering::SeqCst) == head;
        // SAFETY: the lock is held, and this is the head.
        let since = is_empty.then(|| unsafe { Self::position(head) } as u64);
        self.unlock(head);
        since
    }

    fn receivers(&self) -> &WaitList {
        &self.receivers
    }

    fn pace(&self) -> &Pace {
        &self.head.pace
    }

    fn abandoned(&self) -> &AtomicBool {
        &self.abandoned
    }
}

impl<T> Drop for BlockList<T> {
    fn drop(&mut self) {
        // No other thread is left. A cell that was claimed and never written is passed over.
        let abandoned = self.abandoned.load(Ordering::Relaxed);
        let tail = without_flag(self.tail.load(Ordering::Relaxed));
        let mut head = without_flag(self.head.place.load(Ordering::Relaxed));
        if head.is_null() {
            head = self.first.load(Ordering::Relaxed);
        }
        while head != tail {
            let Some(block) = block_of(head) else { break };
            let offset = offset_of(head);
            // SAFETY: the blocks from the head to the tail are ours alone now.
            let (header, cell) = unsafe { (block.as_ref(), ListBlock::cell(block, offset)) };
            // SAFETY: no other thread has the block, so nothing changes its generation.
            let generation = header.generation.with(|generation| unsafe { *generation });
            let written = !abandoned && cell.stamp.load(Ordering::Relaxed) == generation;
            let message = written.then(|| {
                cell.message.with_mut(|place| {
                    // SAFETY: the stamp says that it is written, and it was not received.
                    unsafe { (*place).assume_init_read() }
                })
            });
            if offset + 1 < ListBlock::<T>::CELLS {
                head = place(block, offset + 1);
            } else {
                head = header.next.load(Ordering::Relaxed);
                // SAFETY: its last message is out.
                unsafe { ListBlock::free(block) };
            }
            // First the head, so that a panic in a message's drop leaves nothing to drop twice.
            self.head.place.store(head, Ordering::Relaxed);
            drop(message);
        }
        if let Some(block) = block_of(head) {
            // SAFETY: the last block; its messages are out.
            unsafe { ListBlock::free(block) };
        }
        while let Some(block) = self.take_spare() {
            // SAFETY: spare blocks have no messages.
            unsafe { ListBlock::free(block) };
        }
    }
}
