//! A node with room for several messages of one sender (an *unrolled linked list*: Shao, Reppy and Appel, 1994).
//!
//! Only the thread that has made a block puts messages into it, and only while it is the youngest node of its queue: so
//! messages of different senders stay in the order in which they were sent. A word says how many are in it. The
//! sender counts up there, by a locked instruction on a line that is its own; the receiver, which wants to leave a block
//! that is not full, closes it there, unless the sender was quicker.
//!
//! Both know the block for as long as they like; who gives it up last frees it.

use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};

use tamtam_wait::seam::UnsafeCell;
use tamtam_wait::seam::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::node::{Node, memory};

/// How large a block is, in bytes.
#[cfg(not(tamtam_loom))]
const BLOCK_BYTES: usize = 256;
/// A block has room for so many messages at least, or it is none.
const FEWEST_MESSAGES: usize = 4;
/// And for so many at most.
pub(super) const MOST_MESSAGES: usize = 15;

/// In the word: so many messages were put in.
const COUNT: u32 = 0xff;
/// No more are put in.
const CLOSED: u32 = 0x100;
/// The receiver does not need the block any more.
const LEFT: u32 = 0x200;
/// The sender does not.
const RELEASED: u32 = 0x400;
/// Where one thread alone has the block, which it neither closes nor gives up: so many of its messages were taken.
const ONE_TAKEN_OWN: u32 = 0x10000;

/// The beginning of a block; as a [`Node`] does, it begins with the way to the next one.
#[repr(C)]
#[cfg_attr(tamtam_loom, repr(align(64)))]
pub(super) struct Block<M> {
    next: AtomicPtr<Node<M>>,
    state: AtomicU32,
    /// In models these are all; otherwise the rest of the block's memory is.
    slots: [BlockSlot<M>; if cfg!(tamtam_loom) {
        FEWEST_MESSAGES
    } else {
        0
    }],
}

struct BlockSlot<M>(UnsafeCell<MaybeUninit<M>>);

/// The memory of a block.
#[cfg(not(tamtam_loom))]
#[repr(C, align(64))]
struct Space([MaybeUninit<u8>; BLOCK_BYTES]);

/// On multiples of this blocks lie.
#[cfg(not(tamtam_loom))]
pub(super) const BLOCK_ALIGN: usize = align_of::<Space>();
#[cfg(tamtam_loom)]
pub(super) const BLOCK_ALIGN: usize = align_of::<Block<u8>>();
// The queue reads the way to the next node by the pointer with which a block begins, as a node does.
const _: () = assert!(core::mem::offset_of!(Block<u8>, next) == 0);

/// What came of putting a message in.
pub(super) enum Put {
    /// It is in, and there is room for more.
    In,
    /// It is in, and the sender has given the block up: it is full.
    Filled,
    /// The block is closed, and the message is still the sender's.
    Closed,
}

impl<M> Block<M> {
    /// How many messages fit in.
    #[cfg(not(tamtam_loom))]
    pub(super) const ROOM: usize = {
        let slot = if size_of::<M>() == 0 {
            1
        } else {
            size_of::<M>()
        };
        let room = BLOCK_BYTES.saturating_sub(size_of::<Self>()) / slot;
        if room > MOST_MESSAGES {
            MOST_MESSAGES
        } else {
            room
        }
    };
    #[cfg(tamtam_loom)]
    pub(super) const ROOM: usize = FEWEST_MESSAGES;

    /// Whether it is worth the trouble.
    pub(super) const SERVES: bool =
        align_of::<M>() <= align_of::<*const ()>() && Self::ROOM >= FEWEST_MESSAGES;

    /// A block with its first message.
    ///
    /// # Safety
    ///
    /// The message is moved out of there.
    pub(super) unsafe fn new(message: *const M) -> NonNull<Self> {
        let block = Self::memory();
        // SAFETY: fresh memory with room for a block, which no other thread knows.
        unsafe {
            Self::begin(block, 1);
            Self::write(block.as_ptr(), 0, message);
        }
        block
    }

    #[inline(always)]
    fn memory() -> NonNull<Self> {
        #[cfg(not(tamtam_loom))]
        return memory::take::<Space>().cast::<Self>();
        #[cfg(tamtam_loom)]
        memory::take::<Self>()
    }

    /// # Safety
    ///
    /// Fresh memory of a block, which no other thread knows.
    #[inline(always)]
    unsafe fn begin(block: NonNull<Self>, count: u32) {
        let begun = Block {
            next: AtomicPtr::new(ptr::null_mut()),
            state: AtomicU32::new(count),
            #[cfg(not(tamtam_loom))]
            slots: [],
            #[cfg(tamtam_loom)]
            slots: core::array::from_fn(|_| BlockSlot(UnsafeCell::new(MaybeUninit::uninit()))),
        };
        // SAFETY: it is the caller's, and has room for a block.
        unsafe { block.as_ptr().write(begun) };
    }

    /// # Safety
    ///
    /// The block is alive, and `place` is smaller than `ROOM`.
    #[inline(always)]
    unsafe fn slot(this: *mut Self, place: usize) -> *const BlockSlot<M> {
        // SAFETY: the block is alive and `place` is smaller than `ROOM`, says the caller: so the result is in the block's
        // memory.
        unsafe { (&raw const (*this).slots).cast::<BlockSlot<M>>().add(place) }
    }

    /// # Safety
    ///
    /// As for `slot`; the slot is empty, and the caller's. Once the receiver may read it the message is out of where it was.
    #[inline(always)]
    unsafe fn write(this: *mut Self, place: usize, message: *const M) {
        // SAFETY: the block is alive and the slot is the caller's. Outside models the slots have no value to begin with,
        // and need none.
        unsafe { &(*Self::slot(this, place)).0 }
            .with_mut(|slot| unsafe { ptr::copy_nonoverlapping(message, slot.cast(), 1) });
    }

    // ---------------------------------------------------------------------------------- the sender

    /// Puts a message behind the `count` that are in. Sequentially consistent.
    ///
    /// # Safety
    ///
    /// The caller has made the block, has put in so many, and has not given it up. The message is moved out of there, unless
    /// the block is closed.
    #[inline(always)]
    pub(super) unsafe fn put(this: NonNull<Self>, count: usize, message: *const M) -> Put {
        let fills = count + 1 == Self::ROOM;
        let more = (count as u32 + 1) | if fills { RELEASED } else { 0 };
        // SAFETY: the caller has made the block and not given it up, so it is alive; it has put in `count`, which is less
        // than the room; and only the caller puts anything in.
        let done = unsafe {
            Self::write(this.as_ptr(), count, message);
            // SYNC block-state: the message.
            (*this.as_ptr()).state.compare_exchange(
                count as u32,
                more,
                Ordering::SeqCst,
                Ordering::Acquire,
            )
        };
        match done {
            Ok(_) if fills => Put::Filled,
            Ok(_) => Put::In,
            // What was written is not looked for.
            Err(_) => Put::Closed,
        }
    }

    /// The sender needs the block no more.
    ///
    /// # Safety
    ///
    /// The caller has made the block, which is of this type, and has not given it up.
    pub(super) unsafe fn release(this: NonNull<()>) {
        let this = this.cast::<Self>();
        // SYNC block-state: what the receiver did with it.
        // SAFETY: alive by the caller's promise; if the receiver has left it, no other thread has it.
        unsafe {
            let before = (*this.as_ptr()).state.fetch_or(RELEASED, Ordering::AcqRel);
            if before & LEFT != 0 {
                Self::free(this);
            }
        }
    }

    // -------------------------------------------------------------------------------- the receiver

    /// How many messages are in. Sequentially consistent.
    ///
    /// # Safety
    ///
    /// The receiver has not left it.
    #[inline]
    pub(super) unsafe fn count(this: *mut Self) -> u32 {
        // SYNC block-state: the messages.
        // SAFETY: alive by the caller's promise.
        unsafe { &(*this).state }.load(Ordering::SeqCst) & COUNT
    }

    /// Where the message lies that is in this place, which the caller takes out.
    ///
    /// # Safety
    ///
    /// As for `count`, which was larger than `place`; it is not taken twice.
    #[inline(always)]
    pub(super) unsafe fn message(this: *mut Self, place: u32) -> *const M {
        // SAFETY: the block counted more messages than `place`, so the slot is written, and no other thread reads it.
        unsafe { &(*Self::slot(this, place as usize)).0 }.with_mut(|slot| slot.cast::<M>())
    }

    /// Sees to it that there are never more than `count` messages in; `false` if there are already.
    ///
    /// # Safety
    ///
    /// As for `count`.
    #[inline]
    pub(super) unsafe fn close(this: *mut Self, count: u32) -> bool {
        // SAFETY: alive by the caller's promise.
        let state = unsafe { &(*this).state };
        let mut before = state.load(Ordering::Acquire);
        loop {
            if before & COUNT != count {
                return false;
            }
            if before & (CLOSED | RELEASED) != 0 {
                return true;
            }
            // SYNC block-state
            match state.compare_exchange(
                before,
                before | CLOSED,
                Ordering::SeqCst,
                Ordering::Acquire,
            ) {
                Ok(_) => return true,
                Err(now) => before = now,
            }
        }
    }

    /// The receiver needs the block no more.
    ///
    /// # Safety
    ///
    /// As for `count`, for the last time; the block is closed, its messages are out, and no thread is going to look for
    /// the next node in it.
    #[inline]
    pub(super) unsafe fn leave(this: NonNull<Self>) {
        // SAFETY: alive by the caller's promise; if the sender has released it, no other thread has it.
        unsafe {
            let state = &(*this.as_ptr()).state;
            // SYNC block-state: what the sender did with it.
            if state.load(Ordering::Acquire) & RELEASED != 0
                || state.fetch_or(LEFT, Ordering::AcqRel) & RELEASED != 0
            {
                Self::free(this);
            }
        }
    }

    // ------------------------------------------------------------------------------- one thread alone

    /// An empty block.
    pub(super) fn new_own() -> NonNull<Self> {
        let block = Self::memory();
        // SAFETY: fresh memory with room for a block, which no other thread knows.
        unsafe { Self::begin(block, 0) };
        block
    }

    /// A place behind the messages that are in, for one that is counted from now on; null if there is no room.
    ///
    /// # Safety
    ///
    /// No other thread knows the block, which is alive.
    #[inline(always)]
    pub(super) unsafe fn place_own(this: *mut Self) -> *mut M {
        // SAFETY: alive and this thread's alone, by the caller's promise; the place is below the room.
        unsafe {
            let state = (*this).state.load(Ordering::Relaxed);
            let count = (state & COUNT) as usize;
            if count >= Self::ROOM {
                return ptr::null_mut();
            }
            (*this).state.store(state + 1, Ordering::Relaxed);
            (*Self::slot(this, count)).0.with_mut(<*mut _>::cast)
        }
    }

    /// Where the oldest message is, which the caller takes out, and whether it is the last one.
    ///
    /// # Safety
    ///
    /// No other thread knows the block, which has a message.
    #[inline(always)]
    pub(super) unsafe fn take_own(this: *mut Self) -> (*const M, bool) {
        // SAFETY: alive and this thread's alone, by the caller's promise; of the messages in it so many were taken.
        unsafe {
            let state = (*this).state.load(Ordering::Relaxed);
            let taken = state / ONE_TAKEN_OWN;
            (*this)
                .state
                .store(state + ONE_TAKEN_OWN, Ordering::Relaxed);
            let slot = &(*Self::slot(this, taken as usize)).0;
            (slot.with(<*const _>::cast), taken + 1 == state & COUNT)
        }
    }

    /// # Safety
    ///
    /// No other thread has it, and its messages are out.
    #[inline]
    pub(super) unsafe fn free(this: NonNull<Self>) {
        // SAFETY: no other thread has the block, and its messages are out. Nothing in a block needs a drop, but loom counts
        // what it tracks.
        unsafe {
            ptr::drop_in_place(this.as_ptr());
            #[cfg(not(tamtam_loom))]
            memory::give_back(this.cast::<Space>());
            #[cfg(tamtam_loom)]
            memory::give_back(this);
        }
    }
}
