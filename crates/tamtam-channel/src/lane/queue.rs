//! One lane: a queue with one sender and one receiver.
//!
//! Messages lie one behind the other in blocks; the sender writes one, then says how many it has sent by
//! a plain store, and the receiver says how many it has received in the same way. Each keeps its place in
//! its own hands and looks at the other's count only when the one it saw last does not suffice (the cached
//! index is from Lee, Bu and Chandranmenon, *MCRingBuffer*, 2009). A block that has been read goes back to
//! the sender through a few places that one side fills and the other one empties, again by plain stores.
//! So a lane has no read-modify-write at all; waking is the business of the two wait lists.

use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};
use std::cell::Cell;

use tamtam_wait::seam::atomic::{self, AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use tamtam_wait::seam::{self, CacheAligned, ORIGIN, UnsafeCell};
use tamtam_wait::{Attention, WaitList};

use crate::block::{self, Header};

/// No more than this is kept in blocks on their way back to the sender, but for one.
const SPARE_BYTES: usize = 32_768;
/// Places for such blocks: so many small ones are kept.
const SPARE_PLACES: usize = if cfg!(tamtam_loom) { 1 } else { 16 };
/// In a lane with room for so many messages, a sender that found it full waits until there is
/// [much](Lane::much) room.
const ROOMY: usize = if cfg!(tamtam_loom) { 4 } else { 256 };
/// This much room is enough, however much the lane has.
const ROOM_ENOUGH: usize = 1024;

type LaneCell<T> = UnsafeCell<MaybeUninit<T>>;

/// What a block of a lane begins with.
pub(super) struct LaneLink<T> {
    /// The block that follows, written before the first message in it is announced.
    next: AtomicPtr<LaneBlock<T>>,
}

pub(super) type LaneBlock<T> = block::Block<LaneLink<T>>;

impl<T> Header for LaneLink<T> {
    type Cell = LaneCell<T>;

    const CELLS: usize = block::cells_of::<LaneCell<T>>(8, 256);

    fn new() -> Self {
        LaneLink {
            next: AtomicPtr::new(ptr::null_mut()),
        }
    }

    fn cell() -> LaneCell<T> {
        // Nothing that would have to be written into memory.
        UnsafeCell::new(MaybeUninit::uninit())
    }
}

impl<T> LaneBlock<T> {
    /// How many blocks are kept. One of any size: with it the two sides go on without an allocation.
    const SPARES: usize = Self::blocks_in(SPARE_BYTES, 1, SPARE_PLACES);
}

/// Where one side of a lane stands. Kept by that side alone.
pub(super) struct Cursor<T> {
    block: Cell<*mut LaneBlock<T>>,
    /// The next cell in the block, and the end of its cells; the same if a block has to be fetched first.
    next: Cell<*const LaneCell<T>>,
    end: Cell<*const LaneCell<T>>,
    /// How many messages have gone past this side since [`ORIGIN`]; wraps.
    count: Cell<usize>,
    /// Where this side has to look at the other one's count again: for the receiver what the sender had sent
    /// when it looked last, for the sender the count with which the lane is full.
    limit: Cell<usize>,
}

impl<T> Default for Cursor<T> {
    fn default() -> Self {
        Cursor {
            block: Cell::new(ptr::null_mut()),
            next: Cell::new(ptr::null()),
            end: Cell::new(ptr::null()),
            count: Cell::new(ORIGIN),
            limit: Cell::new(ORIGIN),
        }
    }
}

impl<T> Cursor<T> {
    pub(super) fn count(&self) -> usize {
        self.count.get()
    }

    /// Changes places with another lane's cursor.
    pub(super) fn swap(&self, other: &Cursor<T>) {
        self.block.swap(&other.block);
        self.next.swap(&other.next);
        self.end.swap(&other.end);
        self.count.swap(&other.count);
        self.limit.swap(&other.limit);
    }

    /// As far as is known, this side can go so many messages further.
    #[inline(always)]
    pub(super) fn ahead(&self) -> usize {
        self.limit.get().wrapping_sub(self.count.get())
    }

    /// Whether this side has to look before it goes on.
    #[inline(always)]
    pub(super) fn is_at_limit(&self) -> bool {
        self.limit.get() == self.count.get()
    }

    /// Lets this side look before it goes on.
    pub(super) fn forget(&self) {
        self.limit.set(self.count.get());
    }

    /// Lets this side look one message earlier. It is not at its limit.
    pub(super) fn shorten(&self) {
        self.limit.set(self.limit.get().wrapping_sub(1));
    }

    /// Lets this side go one message further than it was allowed to.
    pub(super) fn lengthen(&self) {
        self.limit.set(self.limit.get().wrapping_add(1));
    }

    /// Whether the block has no further cell.
    #[inline(always)]
    pub(super) fn is_block_over(&self) -> bool {
        ptr::eq(self.next.get(), self.end.get())
    }

    /// How many cells are left in the block.
    #[inline(always)]
    fn left_in_block(&self) -> usize {
        (self.end.get().addr() - self.next.get().addr()) / LaneBlock::<T>::STRIDE
    }

    fn enter(&self, block: NonNull<LaneBlock<T>>) {
        self.block.set(block.as_ptr());
        // SAFETY: the block is alive; its end is just behind its last cell.
        unsafe {
            self.next.set(LaneBlock::place(block, 0));
            self.end.set(LaneBlock::place(block, LaneBlock::<T>::CELLS));
        }
    }

    /// Goes so many cells further in the block.
    ///
    /// # Safety
    ///
    /// The block has them.
    #[inline(always)]
    unsafe fn pass(&self, cells: usize) {
        // SAFETY: the block has so many cells behind this one, says the caller.
        self.next
            .set(unsafe { self.next.get().byte_add(cells * LaneBlock::<T>::STRIDE) });
        self.count.set(self.count.get().wrapping_add(cells));
    }
}

struct Sent<T> {
    count: AtomicUsize,
    /// The first block, written before the first message is announced.
    first: AtomicPtr<LaneBlock<T>>,
    /// No sender is left.
    finished: AtomicBool,
}

struct Received {
    count: AtomicUsize,
    /// Whether the sender, which waits for room, wants to be looked for.
    attention: Attention,
}

/// What the receiver leaves when it goes.
struct Rest<T> {
    block: *mut LaneBlock<T>,
    next: *const LaneCell<T>,
    abandoned: bool,
}

/// A queue with one sender and one receiver.
pub(super) struct Lane<T> {
    sent: CacheAligned<Sent<T>>,
    received: CacheAligned<Received>,
    spares: CacheAligned<[AtomicPtr<LaneBlock<T>>; SPARE_PLACES]>,
    /// The sender, while it waits for room.
    pub(super) senders: WaitList,
    /// How many messages fit.
    capacity: usize,
    rest: UnsafeCell<Rest<T>>,
}

// SAFETY: messages move through the lane from one thread to another; the counts say which side each cell
// belongs to.
unsafe impl<T: Send> Send for Lane<T> {}
// SAFETY: messages only move, and the counts say which side each cell belongs to. Methods that take a cursor are called by
// its owner only.
unsafe impl<T: Send> Sync for Lane<T> {}

impl<T> Lane<T> {
    pub(super) fn new(capacity: usize) -> Self {
        Lane {
            sent: CacheAligned(Sent {
                count: AtomicUsize::new(ORIGIN),
                first: AtomicPtr::new(ptr::null_mut()),
                finished: AtomicBool::new(false),
            }),
            received: CacheAligned(Received {
                count: AtomicUsize::new(ORIGIN),
                attention: Attention::new(),
            }),
            spares: CacheAligned(core::array::from_fn(|_| AtomicPtr::new(ptr::null_mut()))),
            senders: WaitList::single(),
            capacity,
            rest: UnsafeCell::new(Rest {
                block: ptr::null_mut(),
                next: ptr::null(),
                abandoned: false,
            }),
        }
    }

    /// How many messages are in the lane.
    pub(super) fn len(&self) -> usize {
        // The count that may not be ahead of the other one comes first.
        let received = self.received.count.load(Ordering::SeqCst);
        let sent = self.sent.count.load(Ordering::SeqCst);
        sent.wrapping_sub(received)
    }

    /// Whether the sender wants to be told of room.
    pub(super) fn attention(&self) -> &Attention {
        &self.received.attention
    }

    /// Tells a sender that waits of the room that there is.
    #[inline(always)]
    pub(super) fn tell_of_room(&self) {
        // Whether the sender has heard that the channel is closed is not the receiver's business.
        let _ = self.senders.notify_after_store(&self.received.attention);
    }

    /// How much room a sender waits for that has found the lane full; `None` if any room is good enough.
    pub(super) fn much(&self) -> Option<usize> {
        (ROOMY..usize::MAX)
            .contains(&self.capacity)
            .then(|| (self.capacity / 2).min(ROOM_ENOUGH))
    }

    /// Tells a sender that waits for [much](Lane::much) room, and asked for no attention, once there is so
    /// much. The receiver does that from time to time.
    fn tell_of_much_room(&self) {
        if self.much().is_some_and(|much| {
            // The fence goes before the look for a sender: it has registered, and then looks at the count.
            atomic::fence(Ordering::SeqCst);
            !self.senders.is_empty() && self.capacity.wrapping_sub(self.len()) >= much
        }) {
            self.senders.notify_one();
        }
    }

    // ------------------------------------------------------------------------------- the sender

    /// Lets the cache lines that a send will write be on their way while the receiver's count is looked at:
    /// the next cell, which is the sender's alone whether there is room or not, and the count.
    #[inline]
    pub(super) fn prepare(&self, tail: &Cursor<T>) {
        #[cfg(not(any(miri, tamtam_loom)))]
        if size_of::<T>() > 0 && !tail.is_block_over() {
            // SAFETY: the cell is in the sender's block, holds no message, and has a byte.
            unsafe { tail.next.get().cast::<u8>().cast_mut().write(0) };
        }
        // The same count once more.
        self.announce(tail);
    }

    /// Looks how much room there is, where so many messages fit. Sequentially consistent: this is the
    /// sender's second look, too.
    pub(super) fn look_for_room(&self, tail: &Cursor<T>, fit: usize) -> bool {
        seam::model_fence();
        let received = self.received.count.load(Ordering::SeqCst);
        tail.limit.set(received.wrapping_add(fit));
        !tail.is_at_limit()
    }

    /// Writes a message behind the last one. The receiver does not see it before it is
    /// [announced](Lane::announce).
    #[inline(always)]
    pub(super) fn write(&self, tail: &Cursor<T>, message: T) {
        if tail.is_block_over() {
            self.append_block(tail);
        }
        // SAFETY: the cell is in the block that was entered; nothing is announced there, so the receiver
        // keeps away.
        unsafe {
            (*tail.next.get()).with_mut(|place| (*place).write(message));
            tail.pass(1);
        }
    }

    /// Writes messages behind the last one, as many as the iterator yields and fit into the block, at most
    /// `limit` and those that there is room for. How many; zero only if the iterator has ended.
    ///
    /// The iterator must not get hold of the sender; what it has yielded is written, also if it panics.
    #[inline(always)]
    pub(super) fn write_many(
        &self,
        tail: &Cursor<T>,
        messages: &mut impl Iterator<Item = T>,
        limit: usize,
    ) -> usize {
        struct Written<'a, T> {
            tail: &'a Cursor<T>,
            count: usize,
        }

        impl<T> Drop for Written<'_, T> {
            fn drop(&mut self) {
                // SAFETY: so many cells were there to be written.
                unsafe { self.tail.pass(self.count) };
            }
        }

        if tail.is_block_over() {
            self.append_block(tail);
        }
        let limit = limit.min(tail.ahead()).min(tail.left_in_block());
        let first = tail.next.get();
        let mut written = Written { tail, count: 0 };
        while written.count < limit {
            let Some(message) = messages.next() else {
                break;
            };
            // SAFETY: the cells up to `limit` are the sender's, and lie in this block: it has so many left.
            unsafe {
                let cell = first.byte_add(written.count * LaneBlock::<T>::STRIDE);
                (*cell).with_mut(|place| (*place).write(message));
            }
            written.count += 1;
        }
        written.count
    }

    /// Lets the receiver see all that was written.
    #[inline(always)]
    pub(super) fn announce(&self, tail: &Cursor<T>) {
        // SYNC lane-sent: the messages, and the blocks that they are in.
        self.sent.count.store(tail.count.get(), Ordering::Release);
    }

    /// How many messages were written and not [announced](Lane::announce).
    pub(super) fn unannounced(&self, tail: &Cursor<T>) -> usize {
        // Only this side writes the count.
        tail.count
            .get()
            .wrapping_sub(self.sent.count.load(Ordering::Relaxed))
    }

    #[cold]
    #[inline(never)]
    fn append_block(&self, tail: &Cursor<T>) {
        let spare = self.spares[..LaneBlock::<T>::SPARES]
            .iter()
            .find_map(|spare| {
                // SYNC lane-spare: the receiver is done with it.
                let block = NonNull::new(spare.load(Ordering::Acquire))?;
                spare.store(ptr::null_mut(), Ordering::Relaxed);
                Some(block)
            });
        let block = spare.unwrap_or_else(LaneBlock::allocate);
        // SAFETY: fresh or given back: it is in the sender's hands alone.
        unsafe { block.as_ref() }
            .next
            .store(ptr::null_mut(), Ordering::Relaxed);
        match NonNull::new(tail.block.get()) {
            None => self.sent.first.store(block.as_ptr(), Ordering::Relaxed),
            Some(last) => {
                // SAFETY: the receiver does not leave a block before its follower is announced.
                unsafe { last.as_ref() }
                    .next
                    .store(block.as_ptr(), Ordering::Relaxed);
            }
        }
        tail.enter(block);
    }

    /// Takes back the message that was written last, if the receiver has not got it.
    ///
    /// Only while the receiver takes messages one by one, each
    /// under the same lock as this.
    pub(super) fn take_back(&self, tail: &Cursor<T>) -> Option<T> {
        // The lock's order holds for the receiver's count.
        if self.received.count.load(Ordering::Relaxed) == tail.count.get() {
            return None;
        }
        let block = NonNull::new(tail.block.get())?;
        // SAFETY: the sender's block is alive.
        if ptr::eq(tail.next.get(), unsafe { LaneBlock::place(block, 0) }) {
            return None;
        }
        // SAFETY: the cell before is in the same block; the receiver has not received its message, and under
        // the lock it will not.
        unsafe {
            tail.next
                .set(tail.next.get().byte_sub(LaneBlock::<T>::STRIDE));
            tail.count.set(tail.count.get().wrapping_sub(1));
            self.sent.count.store(tail.count.get(), Ordering::Relaxed);
            Some(Self::read(tail.next.get()))
        }
    }

    /// No message will come any more.
    pub(super) fn finish(&self) {
        // SYNC lane-finished
        self.sent.finished.store(true, Ordering::Release);
    }

    // ----------------------------------------------------------------------------- the receiver

    /// Whether the sender is gone and all that it has sent was received.
    pub(super) fn is_over(&self) -> bool {
        // In this order: a sender sends nothing after it has finished.
        self.is_finished() && self.len() == 0
    }

    /// Whether the sender is gone. What it has sent can still be received.
    pub(super) fn is_finished(&self) -> bool {
        // SYNC lane-finished
        self.sent.finished.load(Ordering::Acquire)
    }

    /// Looks for messages; at most `most` are to be received before the next look.
    #[inline(always)]
    pub(super) fn look(&self, head: &Cursor<T>, most: usize) -> bool {
        // SYNC lane-sent
        let sent = self.sent.count.load(Ordering::Acquire);
        let ahead = sent.wrapping_sub(head.count.get()).min(most);
        head.limit.set(head.count.get().wrapping_add(ahead));
        ahead != 0
    }

    /// The receiver's second look. Sequentially consistent.
    pub(super) fn has_mail(&self, head: &Cursor<T>) -> bool {
        seam::model_fence();
        self.sent.count.load(Ordering::SeqCst) != head.count.get()
    }

    /// Takes the next message, into what is made of it at its place. The caller has seen that there is one, and what it makes is no
    /// user's code.
    ///
    /// # Safety
    ///
    /// [`ahead`](Cursor::ahead) is not zero, and the sender cannot take the message back.
    #[inline(always)]
    pub(super) unsafe fn take<R>(&self, head: &Cursor<T>, received: impl FnOnce(T) -> R) -> R {
        if head.is_block_over() {
            self.next_block(head);
        }
        // SAFETY: the message is announced, by the caller's promise, and was not received yet.
        let message = unsafe {
            let message = received(Self::read(head.next.get()));
            head.pass(1);
            message
        };
        // SYNC lane-received. The cell is not written again before its block has gone back, so this
        // order serves those who are woken, not the message.
        self.received
            .count
            .store(head.count.get(), Ordering::Release);
        message
    }

    /// Takes messages that lie one behind the other, at most `limit`, to the end of `buffer`, which has
    /// room for them. How many.
    ///
    /// # Safety
    ///
    /// [`ahead`](Cursor::ahead) is not zero, `limit` neither, and the sender cannot take messages back.
    pub(super) unsafe fn take_many(
        &self,
        head: &Cursor<T>,
        buffer: &mut Vec<T>,
        limit: usize,
    ) -> usize {
        if head.is_block_over() {
            self.next_block(head);
        }
        let many = head
            .ahead()
            .min(limit)
            .min(head.left_in_block())
            .min(buffer.capacity() - buffer.len());
        let first = head.next.get();
        #[cfg(not(tamtam_loom))]
        // SAFETY: so many are announced and lie here; the buffer has room; both are memory of messages,
        // and the cells are the receiver's until it says that they were received.
        unsafe {
            ptr::copy_nonoverlapping(
                first.cast::<T>(),
                buffer.as_mut_ptr().add(buffer.len()),
                many,
            );
            buffer.set_len(buffer.len() + many);
        }
        #[cfg(tamtam_loom)]
        for offset in 0..many {
            // SAFETY: so many messages lie ahead in this block, and they are the receiver's to take.
            buffer.push(unsafe { Self::read(first.byte_add(offset * LaneBlock::<T>::STRIDE)) });
        }
        // SAFETY: the block has so many cells left.
        unsafe { head.pass(many) };
        // SYNC lane-received
        self.received
            .count
            .store(head.count.get(), Ordering::Release);
        many
    }

    /// # Safety
    ///
    /// The cell is alive, a message lies in it, and it is the caller's to take.
    #[inline(always)]
    unsafe fn read(cell: *const LaneCell<T>) -> T {
        // SAFETY: the cell is alive, a message lies in it, and it is the caller's to take.
        unsafe { (*cell).with_mut(|place| (*place).assume_init_read()) }
    }

    #[cold]
    #[inline(never)]
    fn next_block(&self, head: &Cursor<T>) {
        self.tell_of_much_room();
        // SYNC lane-sent: a receiver that sees a message sees the block that it is in.
        let next = match NonNull::new(head.block.get()) {
            None => self.sent.first.load(Ordering::Relaxed),
            Some(read) => {
                // SAFETY: it is alive until it is given back.
                let next = unsafe { read.as_ref() }.next.load(Ordering::Relaxed);
                self.give_back(read);
                next
            }
        };
        match NonNull::new(next) {
            Some(next) => head.enter(next),
            None => unreachable!("a message was announced in a block that is not linked"),
        }
    }

    fn give_back(&self, block: NonNull<LaneBlock<T>>) {
        for spare in &self.spares[..LaneBlock::<T>::SPARES] {
            // Only this side fills a place, so one that is empty stays so.
            if spare.load(Ordering::Relaxed).is_null() {
                // SYNC lane-spare
                spare.store(block.as_ptr(), Ordering::Release);
                return;
            }
        }
        // SAFETY: all of its messages are out, and the sender has gone on to another block.
        unsafe { LaneBlock::free(block) };
    }

    /// The receiver goes: notes where it stood, for the thread that drops the lane, and whether the messages that
    /// are left are to be leaked.
    pub(super) fn leave(&self, head: &Cursor<T>, abandoned: bool) {
        self.rest.with_mut(|rest| {
            // SAFETY: only the receiver writes this, once, and only `drop` reads it.
            unsafe {
                *rest = Rest {
                    block: head.block.get(),
                    next: head.next.get(),
                    abandoned,
                };
            }
        });
    }
}

impl<T> Drop for Lane<T> {
    fn drop(&mut self) {
        // No other thread is left; what is still here was sent when the receiver had gone already.
        let (block, next, abandoned) = self.rest.with(|rest| {
            // SAFETY: the lane is being dropped, so no other thread has it.
            let rest = unsafe { &*rest };
            (rest.block, rest.next, rest.abandoned)
        });
        let head = Cursor::default();
        if let Some(block) = NonNull::new(block) {
            head.enter(block);
            head.next.set(next);
        }
        head.count.set(self.received.count.load(Ordering::Relaxed));
        let freeing = Freeing {
            lane: self,
            head: &head,
        };
        while !abandoned && freeing.lane.look(freeing.head, usize::MAX) {
            // SAFETY: seen just now, and no sender is left.
            drop(unsafe { freeing.lane.take(freeing.head, |message| message) });
        }
    }
}

/// Frees the blocks of a lane, also if the drop of a message panics; those behind it are leaked then.
struct Freeing<'a, T> {
    lane: &'a Lane<T>,
    head: &'a Cursor<T>,
}

impl<T> Drop for Freeing<'_, T> {
    fn drop(&mut self) {
        let mut block = self.head.block.get();
        if block.is_null() {
            block = self.lane.sent.first.load(Ordering::Relaxed);
        }
        while let Some(this) = NonNull::new(block) {
            // SAFETY: the lane is being dropped; the blocks from here to the sender's are linked, and in no
            // other place.
            unsafe {
                block = this.as_ref().next.load(Ordering::Relaxed);
                LaneBlock::free(this);
            }
        }
        for spare in self.lane.spares.iter() {
            if let Some(block) = NonNull::new(spare.load(Ordering::Relaxed)) {
                // SAFETY: spare blocks are in no list and hold no message.
                unsafe { LaneBlock::free(block) };
            }
        }
    }
}
