//! A message on its way out of a mailbox, where it lies until its handler has it.
//!
//! It is moved once, into the hands of the one who handles it, and by the parts that are asked for. A message that is put into an enum
//! and out again is copied as a whole after it was written in parts, which a processor waits for.

use core::ptr;

use super::block::Block;
use super::node::Node;
use super::queue::{block, is_block};

/// Where a message lies that is taken out, and what goes with it.
pub(crate) struct Taking<M> {
    message: *const M,
    emptied: Emptied<M>,
}

/// What held a message and is to be freed when that is out; null if nothing is.
pub(crate) struct Emptied<M>(*mut Node<M>);

impl<M> Taking<M> {
    /// A message that lies in something that stays.
    #[inline(always)]
    pub(crate) fn new(message: *const M) -> Self {
        Taking {
            message,
            emptied: Emptied(ptr::null_mut()),
        }
    }

    /// A message with which goes the node, or block, that it lies in.
    ///
    /// # Safety
    ///
    /// The node is the caller's alone, its messages are out but this one, and no other one leads to it.
    #[inline(always)]
    pub(super) unsafe fn with_last_of(message: *const M, emptied: *mut Node<M>) -> Self {
        let emptied = Emptied(emptied);
        Taking { message, emptied }
    }

    /// The message, and what is to be dropped after it was moved on.
    ///
    /// # Safety
    ///
    /// The message is this thread's, lies where it was found, and is taken once.
    #[inline(always)]
    pub(crate) unsafe fn take(self) -> (M, Emptied<M>) {
        // SAFETY: the message is there by the caller's promise, and taken once.
        (unsafe { ptr::read(self.message) }, self.emptied)
    }
}

impl<M> Drop for Emptied<M> {
    #[inline(always)]
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: what there is was the caller's alone of the one who made it, and its messages are out.
            unsafe { free(self.0) };
        }
    }
}

/// # Safety
///
/// A node or block of a lane, whose messages are out, and which no other one leads to.
#[inline(never)]
unsafe fn free<M>(emptied: *mut Node<M>) {
    // SAFETY: it is the caller's alone, and its messages are out.
    unsafe {
        if is_block(emptied) {
            Block::free(block(emptied));
        } else {
            Node::free(emptied);
        }
    }
}
