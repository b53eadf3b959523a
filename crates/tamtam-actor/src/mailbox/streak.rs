//! What a thread sends to one mailbox, message after message.

use core::cell::Cell;
#[cfg(not(tamtam_loom))]
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};

use super::block::{Block, Put};
use super::queue::Tail;

/// So many messages in a row have to find the receiver at work, before the next ones share a block.
const ALONE_FIRST: u32 = if cfg!(tamtam_loom) { 0 } else { 4 };
/// As many at most, where blocks did not serve.
const MOST_ALONE: u32 = 256;

/// The mailbox to which a thread has sent its last message, and the block that lies there for the next ones.
pub(crate) struct Streak {
    /// Compared only: it may be gone.
    tail: Cell<*const ()>,
    /// So many messages came to the mailbox without waking the receiver, since the last block ended badly.
    length: Cell<u32>,
    /// So many it takes.
    needed: Cell<u32>,
    /// How many messages are in the block.
    filled: Cell<u32>,
    /// This thread's, of the type that the mailbox has; null if there is none.
    block: Cell<*mut ()>,
    /// Gives up the block.
    release: Cell<unsafe fn(NonNull<()>)>,
}

impl Streak {
    pub(crate) const fn new() -> Self {
        Streak {
            tail: Cell::new(ptr::null()),
            length: Cell::new(0),
            needed: Cell::new(ALONE_FIRST),
            filled: Cell::new(0),
            block: Cell::new(ptr::null_mut()),
            release: Cell::new(|_| {}),
        }
    }

    /// The next message goes to this mailbox, where the last one did not go.
    #[inline(always)]
    pub(super) fn begin<M>(&self, tail: &Tail<M>) {
        self.tail.set(ptr::from_ref(tail).cast());
        self.length.set(0);
        if !self.block.get().is_null() {
            self.end_block();
        }
    }

    /// Whether the last message went to this mailbox.
    #[inline(always)]
    pub(super) fn is_of<M>(&self, tail: &Tail<M>) -> bool {
        ptr::eq(self.tail.get(), ptr::from_ref(tail).cast())
    }

    /// Whether there is a block in this mailbox.
    #[inline(always)]
    pub(super) fn is_in_block_of<M>(&self, tail: &Tail<M>) -> bool {
        !self.block.get().is_null() && ptr::eq(self.tail.get(), ptr::from_ref(tail).cast())
    }

    /// Whether there is a block, or one is to be begun.
    #[inline(always)]
    pub(super) fn is_for_blocks(&self) -> bool {
        !self.block.get().is_null() || self.length.get() >= self.needed.get()
    }

    /// Puts a message behind the last one in the block, if there is a block, it is the `youngest` node of the mailbox to
    /// which the last message went, and the receiver has not closed it.
    ///
    /// # Safety
    ///
    /// If so, the message was moved out of there.
    #[inline(always)]
    pub(super) unsafe fn put<M>(
        &self,
        message: *const M,
        youngest: impl FnOnce() -> *mut (),
    ) -> bool {
        let Some(block) = NonNull::new(self.block.get()) else {
            return false;
        };
        if youngest() != block.as_ptr() {
            return false;
        }
        let filled = self.filled.get();
        // SAFETY: the block is this thread's; it was made for the mailbox at this address, and if that was another one,
        // of another type, it cannot be the youngest node in this one. The message: by the caller's promise.
        match unsafe { Block::put(block.cast(), filled as usize, message) } {
            Put::In => self.filled.set(filled + 1),
            Put::Filled => {
                self.block.set(ptr::null_mut());
                self.needed.set(ALONE_FIRST);
            }
            Put::Closed => return false,
        }
        true
    }

    /// A message lies in a node of its own.
    #[inline(always)]
    pub(super) fn note_alone(&self, has_woken: bool) {
        if has_woken {
            // It was not busy: the next one is the first again.
            self.tail.set(ptr::null());
            self.length.set(0);
        } else {
            self.length.set(self.length.get() + 1);
        }
    }

    /// A block lies in the mailbox, with one message.
    #[inline(always)]
    pub(super) fn begin_block<M>(&self, block: NonNull<Block<M>>) {
        self.filled.set(1);
        self.release.set(Block::<M>::release);
        self.block.set(block.as_ptr().cast());
    }

    /// The block is not to be used any more, before it was full; `false` if there is none.
    #[cold]
    #[inline(never)]
    pub(super) fn end_block(&self) -> bool {
        let Some(block) = NonNull::new(self.block.replace(ptr::null_mut())) else {
            return false;
        };
        // Where several send, or the receiver keeps up, a block gets few messages and wastes memory.
        self.needed.set(MOST_ALONE.min(2 * self.needed.get()));
        self.length.set(0);
        // SAFETY: the block was this thread's, and of this type.
        unsafe { (self.release.get())(block) };
        true
    }
}

impl Drop for Streak {
    fn drop(&mut self) {
        self.end_block();
    }
}

#[cfg(not(tamtam_loom))]
thread_local! {
    /// Without a destructor, so that each message finds it without a look whether that has run.
    static STREAK: ManuallyDrop<Streak> = const { ManuallyDrop::new(Streak::new()) };
    static END: EndOfThread = const { EndOfThread };
}

/// Gives up the thread's last block.
#[cfg(not(tamtam_loom))]
struct EndOfThread;

#[cfg(not(tamtam_loom))]
impl Drop for EndOfThread {
    fn drop(&mut self) {
        STREAK.with(|streak| streak.end_block());
    }
}

/// This thread's, to be used there and then.
#[cfg(not(tamtam_loom))]
#[inline(always)]
pub(super) fn own() -> NonNull<Streak> {
    STREAK.with(|streak| NonNull::from(&**streak))
}

/// Whether a block that this thread begins now is given up when the thread ends.
pub(super) fn is_ended_in_time() -> bool {
    // All threads of a model have the same thread-local values, and streaks of their own.
    #[cfg(tamtam_loom)]
    return true;
    #[cfg(not(tamtam_loom))]
    END.try_with(|_| ()).is_ok()
}
