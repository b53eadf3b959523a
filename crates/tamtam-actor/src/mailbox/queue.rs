//! A queue with many senders and one receiver at a time, which also says whose turn it is to wake the receiver.
//!
//! Nodes are linked from the oldest to the youngest; `last` is the youngest. A sender exchanges `last` for
//! its node, and then links the node behind the one that it got: one locked instruction a message, and never
//! a wait (Vyukov's *intrusive MPSC node-based queue*, 2010). In his, a node always stays; here it goes when
//! the receiver has nothing to do: then `last` is null, and whoever finds it null has woken the receiver up
//! (Pony's runtime keeps a bit for that in its `head`, and Mellor-Crummey and Scott's lock, 1991, has the same
//! two exchanges). So there is no word besides that says whether an actor is idle, and an idle one has no node.
//!
//! The receiver keeps the node whose message it handles, and becomes idle by a step of its own at the very
//! end of its turn: from then on another thread may be the receiver. Between its two steps a sender may be held up; the receiver then sees that somebody has
//! come, but not what with, and has another turn later.
//!
//! A node may be without a message: it wakes the receiver for something that lies elsewhere.

use core::cell::Cell;
use core::ptr;

use tamtam_wait::seam;
use tamtam_wait::seam::atomic::{AtomicPtr, Ordering};

use super::node::Node;

/// Marks the address of a node that has no message.
const EMPTY: usize = 1;

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
    /// The node whose message was taken last; null at the beginning of what began with an idle receiver.
    current: Cell<*mut Node<M>>,
}

/// What a look for the next message brought.
pub(crate) enum Popped<M> {
    /// The next message.
    Message(M),
    /// The receiver was woken; what for lies elsewhere.
    Woken,
    /// There is none, or a sender is in the middle of sending it.
    Empty,
}

// SAFETY: messages move through the queue from one thread to another.
unsafe impl<M: Send> Send for Tail<M> {}
// SAFETY: as above.
unsafe impl<M: Send> Sync for Tail<M> {}
// SAFETY: as above; and the receiver's end is used by one thread at a time, by the promise that its caller makes.
unsafe impl<M: Send> Send for Head<M> {}
// SAFETY: as above.
unsafe impl<M: Send> Sync for Head<M> {}

fn unmarked<M>(node: *mut Node<M>) -> *mut Node<M> {
    node.map_addr(|address| address & !EMPTY)
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

    /// Wakes the receiver for something that lies elsewhere. `true`: as for `push`.
    #[must_use = "whoever wakes the receiver has to give it a turn"]
    pub(crate) fn wake(&self) -> bool {
        let node = Node::new(None).as_ptr();
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
        // to null, and then nobody gets it out of there any more.
        unsafe { &*before }.next.store(node, Ordering::Release);
        // Between the first step and the sender's look whether the actor has closed. Not before the second step: that
        // has to do without.
        seam::model_fence();
        false
    }
}

impl<M> Tail<M> {
    /// Whether the receiver is idle, and nobody has woken it. Sequentially consistent.
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

    /// Whether the message that was taken last is the marked one.
    #[inline]
    pub(crate) fn is_at(&self, mark: Mark) -> bool {
        self.current.get().addr() == mark.0
    }

    /// Takes the next message.
    ///
    /// # Safety
    ///
    /// This is the head of that tail. The caller is the receiver: it is the one who was told by `push` or
    /// `wake` that the receiver was idle, or was made the receiver by it; and it has not become idle since.
    #[inline]
    pub(crate) unsafe fn pop(&self, tail: &Tail<M>) -> Popped<M> {
        let current = self.current.get();
        let next = if current.is_null() {
            // SYNC queue-link
            let first = tail.first.load(Ordering::Acquire);
            if first.is_null() {
                return Popped::Empty;
            }
            // Nobody writes there again before we are idle.
            tail.first.store(ptr::null_mut(), Ordering::Relaxed);
            first
        } else {
            // SYNC queue-link
            // SAFETY: the node is ours until it is freed below.
            let next = unsafe { &*unmarked(current) }.next.load(Ordering::Acquire);
            if next.is_null() {
                return Popped::Empty;
            }
            // SAFETY: its message is out, and its successor is linked.
            unsafe { Node::free(unmarked(current)) };
            next
        };
        self.current.set(next);
        if next.addr() & EMPTY != 0 {
            return Popped::Woken;
        }
        // SAFETY: linked, so its message is there; we are the only receiver.
        Popped::Message(unsafe { Node::take(next) })
    }

    /// Becomes idle, unless somebody has come: `true` if so, and then another thread may be the receiver
    /// already, and nothing of the receiver's may be touched any more.
    ///
    /// # Safety
    ///
    /// As for [`pop`](Head::pop).
    #[inline]
    pub(crate) unsafe fn rest(&self, tail: &Tail<M>) -> bool {
        let current = self.current.get();
        if current.is_null() {
            // Whoever woke us is about to say what for.
            return false;
        }
        self.current.set(ptr::null_mut());
        // SYNC queue-last
        let rested = tail.last.compare_exchange(
            current,
            ptr::null_mut(),
            Ordering::SeqCst,
            Ordering::Relaxed,
        );
        if rested.is_err() {
            self.current.set(current);
            return false;
        }
        // SAFETY: its message is out, and nobody can reach it any more.
        unsafe { Node::free(unmarked(current)) };
        true
    }

    /// Whether nobody has sent anything behind the message that was taken last. Sequentially consistent.
    pub(crate) fn has_reached_end(&self, tail: &Tail<M>) -> bool {
        tail.last.load(Ordering::SeqCst) == self.current.get()
    }

    /// Takes what is left, for the last one who has both ends: also what nobody was woken for.
    ///
    /// # Safety
    ///
    /// As for [`pop`](Head::pop), but for the wake-up; nobody sends meanwhile, nor ever again.
    pub(crate) unsafe fn take_left(&self, tail: &Tail<M>) -> Option<M> {
        loop {
            // SAFETY: by the caller's promise.
            match unsafe { self.pop(tail) } {
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
            // SAFETY: by the caller's promise.
            unsafe { Node::free(unmarked(current)) };
        }
    }
}
