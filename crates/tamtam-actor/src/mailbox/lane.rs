//! Messages that an actor gets from the very thread that it lives on: a list that this thread alone knows.
//!
//! Where an actor has all its turns on one thread, most of its messages may come from there, too. While no other thread has sent
//! anything, the queue has nothing: its `last` is null. Then what comes from the actor's own thread is put here, by plain
//! loads and stores. As soon as another thread has sent something, all that comes goes into the queue, until that is empty. So all that lies
//! here was sent before all that lies in the queue, by whomever, and is taken before it.
//!
//! As long as there is something here, the queue's receiver has not begun: so the word is free in which that keeps
//! its place, and the lane's youngest node is noted there. That leads to the oldest one.

use core::cell::Cell;
use core::ptr;

use tamtam_wait::seam::atomic::Ordering;

use super::block::Block;
use super::node::Node;
use super::queue::{BLOCK, Head, block, is_block, next_of, unmarked};
use super::taking::Taking;

/// So many messages lie in nodes of their own, before the next ones share a block.
const ALONE_FIRST: u32 = if cfg!(tamtam_loom) { 1 } else { 4 };

/// How many messages are in a lane.
pub(crate) struct LaneLength(Cell<u32>);

// SAFETY: all that changes it asks its caller to be the thread of the lane; those on others come after the last change.
unsafe impl Sync for LaneLength {}

impl LaneLength {
    pub(crate) fn new() -> Self {
        LaneLength(Cell::new(0))
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> u32 {
        self.0.get()
    }

    /// Whether no more messages can be counted.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.0.get() == u32::MAX
    }
}

impl<M> Head<M> {
    /// Makes a place for a message behind those in the lane, which is counted from now on; the caller puts the message there before it does
    /// anything else.
    ///
    /// # Safety
    ///
    /// The caller is the thread on which this receiver has all its turns. The length is that of this lane, and it is not full. If it is 0 the queue was
    /// just seen to be idle by this thread, which has not taken anything out of it since.
    #[inline(always)]
    pub(crate) unsafe fn place_own(&self, length: &LaneLength) -> *mut M {
        let before = length.0.get();
        length.0.set(before + 1);
        if before == 0 {
            let node = Node::new_own();
            self.current().set(node);
            // SAFETY: it is this thread's.
            return unsafe { Node::place(node) };
        }
        // SAFETY: the lane is this thread's, and it is not empty.
        unsafe { self.place_behind(before) }
    }

    /// # Safety
    ///
    /// As for `place_own`, and so many messages are in the lane, which are some.
    #[inline(always)]
    unsafe fn place_behind(&self, before: u32) -> *mut M {
        let last = self.current().get();
        // SAFETY: what is in the lane is this thread's alone, and alive until it is taken out.
        unsafe {
            if is_block(last) {
                let place = Block::place_own(block(last).as_ptr());
                if !place.is_null() {
                    return place;
                }
            }
            let (new, place) = if before >= ALONE_FIRST && Block::<M>::SERVES {
                let block = Block::new_own().as_ptr();
                let node = block.cast::<Node<M>>().map_addr(|address| address | BLOCK);
                (node, Block::place_own(block))
            } else {
                let node = Node::new_own();
                (node, Node::place(node))
            };
            let link = next_of(unmarked(last));
            // The only one leads nowhere.
            let first = if before == 1 {
                last
            } else {
                link.load(Ordering::Relaxed)
            };
            next_of(unmarked(new)).store(first, Ordering::Relaxed);
            link.store(new, Ordering::Relaxed);
            self.current().set(new);
            place
        }
    }

    /// Takes the oldest message out of the lane, which the caller [takes](Taking::take) before it does anything else.
    ///
    /// # Safety
    ///
    /// The caller is the thread on which this receiver has all its turns, or has the receiver to itself. The length is that of this lane, and
    /// is not 0.
    #[inline(always)]
    pub(crate) unsafe fn take_own(&self, length: &LaneLength) -> Taking<M> {
        let before = length.0.get();
        length.0.set(before - 1);
        let last = self.current().get();
        // SAFETY: what is in the lane is the caller's alone, and alive until it is taken out; each message is taken once.
        unsafe {
            let first = if before == 1 {
                last
            } else {
                next_of(unmarked(last)).load(Ordering::Relaxed)
            };
            if is_block(first) {
                let (message, is_empty) = Block::take_own(block(first).as_ptr());
                if !is_empty {
                    return Taking::new(message);
                }
                self.unlink(first, last);
                return Taking::with_last_of(message, first);
            }
            let message = Node::place(first);
            self.unlink(first, last);
            // As the spare node it stays as it is until the next one is made.
            match Node::keep_own(first) {
                true => Taking::new(message),
                false => Taking::with_last_of(message, first),
            }
        }
    }

    /// # Safety
    ///
    /// These are the oldest and the youngest of the lane, which is the caller's.
    #[inline(always)]
    unsafe fn unlink(&self, first: *mut Node<M>, last: *mut Node<M>) {
        if first == last {
            self.current().set(ptr::null_mut());
            return;
        }
        // SAFETY: both are alive and the caller's.
        unsafe {
            let second = next_of(unmarked(first)).load(Ordering::Relaxed);
            next_of(unmarked(last)).store(second, Ordering::Relaxed);
        }
    }
}
