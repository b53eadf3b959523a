//! A queue with many senders and one receiver at a time, which also says whose turn it is to wake the receiver.
//!
//! Nodes are linked from the oldest to the youngest; `last` is the youngest. A sender exchanges `last` for
//! its node, and then links the node behind the one that it got: one locked instruction a message, and never
//! a wait (Vyukov's *intrusive MPSC node-based queue*, 2010). In his, a node always stays; here it goes when
//! the receiver has nothing to do: then `last` is null, and the sender that finds it null has woken the receiver up
//! (Pony's runtime keeps a bit for that in its `head`, and Mellor-Crummey and Scott's lock, 1991, has the same
//! two exchanges). So there is no word besides that says whether an actor is idle, and an idle one has no node.
//!
//! The receiver keeps the node whose message it handles, and becomes idle by a step of its own at the very
//! end of its turn: from then on another thread may be the receiver. Between its two steps a sender may be held up; the receiver then sees that a sender has
//! come, but not what with, and has another turn later.
//!
//! A node may be without a message: it wakes the receiver for something that lies elsewhere. Another one has room for
//! several: a [`Block`].

use core::cell::Cell;
use core::mem::{ManuallyDrop, offset_of};
use core::ptr::{self, NonNull};

use tamtam_wait::seam;
use tamtam_wait::seam::atomic::{AtomicPtr, Ordering};

use super::block::{BLOCK_ALIGN, Block, MOST_MESSAGES};
use super::node::{Node, apart};
use super::streak::{self, Streak};

/// Marks the address of a node that has no message.
const EMPTY: usize = 1;
/// Marks the address of a block.
pub(super) const BLOCK: usize = 2;
/// Beside that, in the receiver's hands: so many of its messages were taken. It has the other bits that the alignment of blocks leaves free.
const TAKEN: usize = (BLOCK_ALIGN - 1) & !(EMPTY | BLOCK);
const ONE_TAKEN: usize = 0b100;
const _: () = assert!(TAKEN / ONE_TAKEN >= MOST_MESSAGES);
// The marks need the two lowest bits of a node's address, which its first field's alignment leaves free on all machines.
const _: () = assert!(align_of::<Node<u8>>() > (EMPTY | BLOCK));
// `next_of` reads either by the pointer that both begin with, see `block.rs`.
const _: () = assert!(offset_of!(Node<u8>, next) == 0);

/// The senders' end of a mailbox's queue; together with a [`Head`] it is one. They are apart so that they need
/// not lie on the same cache line.
pub(crate) struct Tail<M> {
    /// The youngest node; null if the receiver is idle.
    last: AtomicPtr<Node<M>>,
    /// The oldest node, if the receiver was idle when it was sent.
    first: AtomicPtr<Node<M>>,
}

/// The receiver's end.
pub(crate) struct Head<M> {
    /// The node whose message was taken last; null at the beginning of what began with an idle receiver. While there are messages in
    /// the lane, the youngest of those: see `lane.rs`.
    current: Cell<*mut Node<M>>,
}

/// How many messages were in the current block when the receiver looked there last. Apart from the [`Head`], with which
/// it belongs together, since it needs a byte.
pub(crate) struct Seen(Cell<u8>);

impl Seen {
    pub(crate) fn new() -> Self {
        Seen(Cell::new(0))
    }
}

// SAFETY: used by one thread at a time, as the receiver's end is.
unsafe impl Sync for Seen {}

/// What a look for the next message brought: where that lies, or itself.
pub(crate) enum Popped<T> {
    /// The next message.
    Message(T),
    /// The receiver was woken; what for lies elsewhere.
    Woken,
    /// There is none, or a sender is in the middle of sending it.
    Empty,
}

// SAFETY: messages move through the queue from one thread to another.
unsafe impl<M: Send> Send for Tail<M> {}
// SAFETY: messages move through the queue from one thread to another; senders share the tail by atomic steps only.
unsafe impl<M: Send> Sync for Tail<M> {}
// SAFETY: messages move through the queue from one thread to another; the head may go to another thread between two uses.
unsafe impl<M: Send> Send for Head<M> {}
// SAFETY: each method at the head asks its caller to be the only thread there, so a shared reference alone reaches nothing.
unsafe impl<M: Send> Sync for Head<M> {}

/// The node without the marks of its sender.
pub(super) fn unmarked<M>(node: *mut Node<M>) -> *mut Node<M> {
    node.map_addr(|address| address & !(EMPTY | BLOCK))
}

pub(super) fn is_block<M>(node: *mut Node<M>) -> bool {
    node.addr() & BLOCK != 0
}

/// The block that this node is.
pub(super) fn block<M>(node: *mut Node<M>) -> NonNull<Block<M>> {
    // SAFETY: a marked node is a pointer of a block, which is not null; only its marks are taken off.
    unsafe { NonNull::new_unchecked(node.map_addr(|address| address & !(BLOCK | TAKEN)).cast()) }
}

/// How many messages were taken out of the block that this node is.
fn taken<M>(node: *mut Node<M>) -> u32 {
    ((node.addr() & TAKEN) / ONE_TAKEN) as u32
}

/// The block as its sender has marked it.
fn as_sent<M>(block: *mut Node<M>) -> *mut Node<M> {
    block.map_addr(|address| address & !TAKEN)
}

/// The way from a node, a block too, to the one behind it.
///
/// # Safety
///
/// The node is alive as long as this is used.
pub(super) unsafe fn next_of<'a, M>(unmarked: *mut Node<M>) -> &'a AtomicPtr<Node<M>> {
    // SAFETY: the node is alive as long as the result is used, says the caller; and a block, too, begins with this.
    unsafe { &(*unmarked).next }
}

impl<M> Tail<M> {
    pub(crate) fn new() -> Self {
        Tail {
            last: AtomicPtr::new(ptr::null_mut()),
            first: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Appends a message. `true`: the receiver was idle, and the caller has to see to it that it gets a turn.
    ///
    /// Sequentially consistent.
    #[inline(always)]
    #[must_use = "whoever wakes the receiver has to give it a turn"]
    pub(crate) fn push(&self, message: M) -> bool {
        self.append(Node::new(Some(message)).as_ptr())
    }

    /// As `push`; messages of one thread that find the receiver at work again and again lie together.
    #[inline(always)]
    #[must_use = "whoever wakes the receiver has to give it a turn"]
    pub(crate) fn push_in_streak(&self, message: M) -> bool {
        self.push_on(self.has_streak(), message)
    }

    /// As `push_in_streak`, where it is known whether there [is a streak](Tail::has_streak) here.
    #[inline(always)]
    #[must_use = "whoever wakes the receiver has to give it a turn"]
    pub(crate) fn push_on(&self, has_streak: bool, message: M) -> bool {
        #[cfg(not(tamtam_loom))]
        if Block::<M>::SERVES {
            // SAFETY: this thread's, which lives, and runs nothing else meanwhile.
            let streak = unsafe { streak::own().as_ref() };
            return self.push_of_known(streak, has_streak, message);
        }
        // All threads of a model have the same thread-local values.
        let _ = has_streak;
        self.push(message)
    }

    /// Whether this thread has sent its last message here, among those that came into a queue.
    #[inline(always)]
    pub(crate) fn has_streak(&self) -> bool {
        #[cfg(not(tamtam_loom))]
        if Block::<M>::SERVES {
            // SAFETY: this thread's, which lives, and runs nothing else meanwhile.
            return unsafe { streak::own().as_ref() }.is_of(self);
        }
        false
    }

    /// As `push`; puts the message into the block of this streak, if it has one here. Otherwise it comes back.
    #[inline(always)]
    pub(crate) fn push_into_block(&self, streak: &Streak, message: M) -> Result<(), M> {
        if !streak.is_in_block_of(self) {
            return Err(message);
        }
        let message = ManuallyDrop::new(message);
        // SAFETY: if it is moved, it is not used any more.
        match unsafe { self.put_into_block(streak, &raw const *message) } {
            true => Ok(()),
            false => Err(ManuallyDrop::into_inner(message)),
        }
    }

    /// Puts a message into the block of this streak, if the last message of that went here, and the block takes it.
    ///
    /// # Safety
    ///
    /// If so, `true`, the message was moved out of there.
    #[inline(always)]
    unsafe fn put_into_block(&self, streak: &Streak, message: *const M) -> bool {
        // Others may send now, as they may at the next step: then the messages come in one order or the other. Who sent
        // before us, so that we know of it, is seen here.
        let youngest = || unmarked(self.last.load(Ordering::Relaxed)).cast();
        // SAFETY: by the caller's promise, of a message that is moved.
        let is_in = unsafe { streak.put(message, youngest) };
        if is_in {
            seam::model_fence();
        }
        is_in
    }

    /// As `push_in_streak`, for another streak than the thread's.
    #[inline]
    #[must_use = "whoever wakes the receiver has to give it a turn"]
    pub(crate) fn push_in_streak_of(&self, streak: &Streak, message: M) -> bool {
        #[cfg(not(tamtam_loom))]
        if !Block::<M>::SERVES {
            return self.push(message);
        }
        self.push_of(streak, message)
    }

    /// As `push`, for the thread of this streak.
    #[inline(always)]
    #[must_use = "whoever wakes the receiver has to give it a turn"]
    pub(super) fn push_of(&self, streak: &Streak, message: M) -> bool {
        self.push_of_known(streak, streak.is_of(self), message)
    }

    #[inline(always)]
    fn push_of_known(&self, streak: &Streak, goes_on: bool, message: M) -> bool {
        // So that there is nothing to be dropped should a call panic: it would have to lie in memory for that.
        let message = ManuallyDrop::new(message);
        if !goes_on {
            streak.begin(self);
        } else if streak.is_for_blocks() {
            // Only here: one that lies in a node of its own comes there without having been in memory before.
            let message = apart(message);
            // SAFETY: if it is moved, it is not used any more.
            if unsafe { self.put_into_block(streak, &raw const *message) } {
                return false;
            }
            // SAFETY: the block has not taken the message, so it is still there to be moved; it is not used any more
            // afterwards.
            return unsafe { self.push_otherwise(streak, &raw const *message) };
        }
        let has_woken = self.push(ManuallyDrop::into_inner(message));
        streak.note_alone(has_woken);
        has_woken
    }

    /// Begins a block, or a streak.
    ///
    /// # Safety
    ///
    /// The message is moved out of there.
    #[inline(never)]
    unsafe fn push_otherwise(&self, streak: &Streak, message: *const M) -> bool {
        if !streak.end_block() && streak::is_ended_in_time() {
            // SAFETY: the message is there, and is moved out by this.
            let block = unsafe { Block::new(message) };
            streak.begin_block(block);
            let node = block.as_ptr().cast::<Node<M>>();
            return self.append(node.map_addr(|address| address | BLOCK));
        }
        // SAFETY: the message is there, was not moved into a block, and is not used any more.
        let has_woken = self.push(unsafe { ptr::read(message) });
        streak.note_alone(has_woken);
        has_woken
    }

    /// Wakes the receiver for something that lies elsewhere. `true`: as for `push`.
    #[inline(never)]
    #[must_use = "whoever wakes the receiver has to give it a turn"]
    pub(crate) fn wake(&self) -> bool {
        let node = Node::new(None).as_ptr();
        self.append(node.map_addr(|address| address | EMPTY))
    }

    /// Appends what is to be called when the receiver has come so far. `true`: as for `push`.
    #[cfg(feature = "serde")]
    #[must_use = "whoever wakes the receiver has to give it a turn"]
    pub(crate) fn push_receipt(&self, receipt: super::Receipt) -> bool {
        let node = Node::new(None).as_ptr();
        // Before the receiver can come to it.
        super::receipt::keep(node.addr(), receipt);
        self.append(node.map_addr(|address| address | EMPTY))
    }

    #[inline(always)]
    fn append(&self, node: *mut Node<M>) -> bool {
        // SYNC queue-last: orders the senders, and hands the receiver's role from the one who was it to the one
        // who wakes it.
        let before = unmarked(self.last.swap(node, Ordering::SeqCst));
        if before.is_null() {
            // SYNC queue-link: the message.
            self.first.store(node, Ordering::Release);
            return true;
        }
        // SAFETY: the receiver frees no node before its successor is linked, unless it has changed `last` from it
        // to null, and then it is not got out of there any more.
        unsafe { next_of(before) }.store(node, Ordering::Release);
        // Between the first step and the sender's look whether the actor has closed. Not before the second step: that
        // has to do without.
        seam::model_fence();
        false
    }
}

impl<M> Tail<M> {
    /// Whether the receiver is idle, as far as this thread has seen.
    #[inline(always)]
    pub(crate) fn seems_idle(&self) -> bool {
        self.last.load(Ordering::Relaxed).is_null()
    }

    /// Whether the receiver is idle, and was not woken. Sequentially consistent.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        seam::model_fence();
        self.last.load(Ordering::SeqCst).is_null()
    }
}

/// Which message was the youngest at some time; for comparing only.
#[derive(Clone, Copy)]
pub(crate) struct Mark(usize);

impl<M> Tail<M> {
    /// Marks the youngest message.
    #[inline]
    pub(crate) fn mark(&self) -> Mark {
        Mark(self.last.load(Ordering::Relaxed).addr())
    }
}

impl<M> Head<M> {
    pub(crate) fn new() -> Self {
        Head {
            current: Cell::new(ptr::null_mut()),
        }
    }

    /// Where the receiver keeps its place.
    #[inline(always)]
    pub(super) fn current(&self) -> &Cell<*mut Node<M>> {
        &self.current
    }

    /// Whether the message that was taken last is the marked one; or lies in one block with it, which has no others now.
    #[inline]
    pub(crate) fn is_at(&self, mark: Mark) -> bool {
        let current = self.current.get();
        if is_block(current) {
            return current.addr() & !TAKEN == mark.0 && Self::has_emptied(current);
        }
        current.addr() == mark.0
    }

    /// Whether all messages are out that are in the current block.
    fn has_emptied(current: *mut Node<M>) -> bool {
        // SAFETY: it is left when the next one is the current one.
        taken(current) == unsafe { Block::count(block(current).as_ptr()) }
    }

    /// Where the next message of the current block lies, if there is one: until the next one is looked for.
    ///
    /// # Safety
    ///
    /// The caller is the receiver, and `current` is the current node, and a block.
    #[inline(always)]
    unsafe fn find_in(&self, seen: &Seen, current: *mut Node<M>) -> Option<*const M> {
        let (block, taken) = (block(current).as_ptr(), taken(current));
        // Not for each message: perhaps the sender writes there.
        if taken >= u32::from(seen.0.get()) {
            // SAFETY: the block is left when the next one is the current one.
            let count = unsafe { Block::count(block) };
            seen.0.set(count as u8);
            if taken == count {
                return None;
            }
        }
        self.current
            .set(current.map_addr(|address| address + ONE_TAKEN));
        // SAFETY: the block is the receiver's until it is left, `taken` is below its count, and each message is taken once.
        Some(unsafe { Block::message(block, taken) })
    }

    /// Takes the next message.
    ///
    /// # Safety
    ///
    /// As for `find`.
    #[inline]
    pub(crate) unsafe fn pop(&self, tail: &Tail<M>, seen: &Seen) -> Popped<M> {
        // SAFETY: what `find` asks for is what the caller promises; what it has found is taken at once.
        unsafe {
            match self.find(tail, seen) {
                Popped::Message(message) => Popped::Message(ptr::read(message)),
                Popped::Woken => Popped::Woken,
                Popped::Empty => Popped::Empty,
            }
        }
    }

    /// Where the next message lies, which the caller takes out before it does anything else here.
    ///
    /// # Safety
    ///
    /// This is the head of that tail. The caller is the receiver: it is the one who was told by `push` or
    /// `wake` that the receiver was idle, or was made the receiver by it; and it has not become idle since.
    #[inline]
    pub(crate) unsafe fn find(&self, tail: &Tail<M>, seen: &Seen) -> Popped<*const M> {
        let current = self.current.get();
        let next = if current.is_null() {
            // SYNC queue-link
            let first = tail.first.load(Ordering::Acquire);
            if first.is_null() {
                return Popped::Empty;
            }
            // Nothing is written there again before the receiver is idle.
            tail.first.store(ptr::null_mut(), Ordering::Relaxed);
            first
        } else if is_block(current) {
            // SAFETY: the caller is the receiver, and `current` is the current node, and a block.
            match unsafe { self.find_behind_block(seen, current) } {
                Ok(next) => next,
                Err(found) => return found,
            }
        } else {
            let node = unmarked(current);
            // SYNC queue-link
            // SAFETY: the node is ours until it is freed below.
            let next = unsafe { next_of(node) }.load(Ordering::Acquire);
            if next.is_null() {
                return Popped::Empty;
            }
            // SAFETY: its message is out, and its successor is linked.
            unsafe { Node::free(node) };
            next
        };
        self.current.set(next);
        if next.addr() & (EMPTY | BLOCK) == 0 {
            // SAFETY: linked, so its message is there; we are the only receiver.
            return Popped::Message(unsafe { Node::place(next) });
        }
        if !is_block(next) {
            #[cfg(feature = "serde")]
            super::receipt::reached(unmarked(next).addr());
            return Popped::Woken;
        }
        seen.0.set(0);
        // SAFETY: it is the current node, and was linked with its first message.
        match unsafe { self.find_in(seen, next) } {
            Some(message) => Popped::Message(message),
            None => unreachable!("a block without a message"),
        }
    }

    /// Finds the next message of the current block; or the next node, with the block given back.
    ///
    /// # Safety
    ///
    /// As for `find`, and `current` is the current node, and a block.
    #[inline(always)]
    unsafe fn find_behind_block(
        &self,
        seen: &Seen,
        current: *mut Node<M>,
    ) -> Result<*mut Node<M>, Popped<*const M>> {
        // SAFETY: the caller is the receiver, and `current` is a block, which is the receiver's until it is left.
        unsafe {
            if let Some(message) = self.find_in(seen, current) {
                return Err(Popped::Message(message));
            }
            // SYNC queue-link
            let next = next_of(block(current).as_ptr().cast()).load(Ordering::Acquire);
            if next.is_null() {
                return Err(Popped::Empty);
            }
            // Its sender puts nothing more in once another node is the youngest, or is just at it, or has been since our look.
            if !Block::close(block(current).as_ptr(), taken(current)) {
                return match self.find_in(seen, current) {
                    Some(message) => Err(Popped::Message(message)),
                    None => unreachable!("a block that has more"),
                };
            }
            Block::leave(block(current));
            Ok(next)
        }
    }

    /// Becomes idle, unless a message has come: `true` if idle, and then another thread may be the receiver
    /// already, and nothing of the receiver's may be touched any more.
    ///
    /// # Safety
    ///
    /// As for [`pop`](Head::pop).
    #[inline]
    pub(crate) unsafe fn rest(&self, tail: &Tail<M>) -> bool {
        let current = self.current.get();
        if current.is_null() {
            // The sender that woke this receiver is about to say what for.
            return false;
        }
        if is_block(current) {
            // SAFETY: the caller is the receiver, and `current` is the current node, and a block.
            return unsafe { self.rest_after_block(tail, current) };
        }
        if !self.let_go(tail, current, current) {
            return false;
        }
        // SAFETY: its message is out, and no thread can reach it any more.
        unsafe { Node::free(unmarked(current)) };
        true
    }

    /// The step by which the receiver becomes idle; `false`, and nothing changed, if the current node, `sent` as its sender
    /// has marked it, is not the youngest any more.
    #[inline(always)]
    fn let_go(&self, tail: &Tail<M>, current: *mut Node<M>, sent: *mut Node<M>) -> bool {
        // Before it: behind it, another one may be the receiver.
        self.current.set(ptr::null_mut());
        // SYNC queue-last
        let done =
            tail.last
                .compare_exchange(sent, ptr::null_mut(), Ordering::SeqCst, Ordering::Relaxed);
        if done.is_err() {
            self.current.set(current);
        }
        done.is_ok()
    }

    /// As `rest`, where the current node is a block.
    ///
    /// # Safety
    ///
    /// As for `rest`.
    #[inline(never)]
    unsafe fn rest_after_block(&self, tail: &Tail<M>, current: *mut Node<M>) -> bool {
        // SAFETY: it is the current node, so it was not left.
        if !unsafe { Block::close(block(current).as_ptr(), taken(current)) } {
            return false;
        }
        if !self.let_go(tail, current, as_sent(current)) {
            return false;
        }
        // SAFETY: its messages are out, and no thread can reach it any more, but its sender.
        unsafe { Block::leave(block(current)) };
        true
    }

    /// Whether nothing was sent behind the message that was taken last. Sequentially consistent.
    pub(crate) fn has_reached_end(&self, tail: &Tail<M>) -> bool {
        let current = self.current.get();
        let last = tail.last.load(Ordering::SeqCst);
        if is_block(current) {
            return last == as_sent(current) && Self::has_emptied(current);
        }
        last == current
    }

    /// Takes what is left, for the last one who has both ends: also what has woken no receiver.
    ///
    /// # Safety
    ///
    /// As for [`pop`](Head::pop), but for the wake-up; nothing is sent meanwhile, nor ever again.
    pub(crate) unsafe fn take_left(&self, tail: &Tail<M>, seen: &Seen) -> Option<M> {
        loop {
            // SAFETY: the caller has both ends, so it is the receiver, and nothing is sent meanwhile.
            match unsafe { self.pop(tail, seen) } {
                Popped::Message(message) => return Some(message),
                Popped::Woken => {}
                Popped::Empty => return None,
            }
        }
    }

    /// Frees the node that stays in the queue of a receiver that never became idle.
    ///
    /// # Safety
    ///
    /// As for [`take_left`](Head::take_left); and that has said that nothing is left. The queue is not used
    /// afterwards.
    pub(crate) unsafe fn free(&self, _: &Tail<M>) {
        let current = self.current.replace(ptr::null_mut());
        if !current.is_null() {
            // SAFETY: nothing is left in the queue and no thread has an end of it, so the current node is the last one, and
            // the caller's.
            unsafe {
                if is_block(current) {
                    let all = Block::close(block(current).as_ptr(), taken(current));
                    debug_assert!(all, "all messages are out, and nobody sends");
                    Block::leave(block(current));
                } else {
                    Node::free(unmarked(current));
                }
            }
        }
    }
}
