//! Where this thread works.

use core::cell::{Cell, RefCell};
use std::sync::{Arc, Weak};

use tamtam_wait::seam::atomic::Ordering;

use super::Shared;
use super::desk::Desk;

thread_local! {
    /// The pool that this thread works for.
    static POOL: RefCell<Weak<Shared>> = const { RefCell::new(Weak::new()) };
    /// The same, for a quick look.
    static SEAT: Cell<ThreadSeat> = const { Cell::new(ThreadSeat::NONE) };
}

/// Where a thread works. A thread that turns actors looks here with each message, so the desk is looked up once.
#[derive(Clone, Copy)]
pub(super) struct ThreadSeat {
    /// Null if this is no thread of a pool.
    shared: *const Shared,
    /// That of this thread there.
    desk: *const Desk,
    ring: usize,
}

impl ThreadSeat {
    const NONE: Self = ThreadSeat {
        shared: core::ptr::null(),
        desk: core::ptr::null(),
        ring: 0,
    };

    /// That of this thread.
    #[inline(always)]
    pub(super) fn here() -> Self {
        SEAT.get()
    }

    /// This thread works there from now on.
    pub(super) fn take(shared: &Arc<Shared>, ring: usize) {
        POOL.set(Arc::downgrade(shared));
        SEAT.set(ThreadSeat {
            shared: Arc::as_ptr(shared),
            desk: shared.desks.at(ring),
            ring,
        });
    }

    /// This thread works for no pool any more. What becomes due from now on does not come to its desk, where it would not be found.
    pub(super) fn leave() {
        SEAT.set(ThreadSeat::NONE);
        POOL.set(Weak::new());
    }

    /// Has what the work makes due come in as from outside, not to the desk of this thread.
    pub(super) fn away_from<R>(work: impl FnOnce() -> R) -> R {
        let seat = SEAT.replace(ThreadSeat::NONE);
        let result = work();
        SEAT.set(seat);
        result
    }

    /// The pool that this thread works for.
    pub(super) fn pool() -> Option<Arc<Shared>> {
        POOL.try_with(|pool| pool.borrow().upgrade()).ok().flatten()
    }

    /// The ring of this thread.
    pub(super) fn ring(self) -> usize {
        self.ring
    }

    /// Whether this is a thread of that pool.
    #[inline(always)]
    pub(super) fn is_at(self, shared: &Shared) -> bool {
        core::ptr::eq(self.shared, shared)
    }

    /// The desk of this thread, if it works for this pool.
    #[inline(always)]
    pub(super) fn desk_at(self, shared: &Shared) -> Option<&Desk> {
        // SAFETY: a seat is set by a thread that keeps what is shared until it has left the seat, and the desk is a part of
        // that: neither the slice of desks nor the box of a spare one is replaced before `shared` is dropped.
        self.is_at(shared).then(|| unsafe { &*self.desk })
    }

    /// Has this thread look at what it has not flushed before its next turn; `false` if it is at no turn of a pool.
    pub(super) fn note_unflushed() -> bool {
        let seat = SEAT.get();
        if seat.shared.is_null() {
            return false;
        }
        // SAFETY: a seat is set by a thread that keeps what is shared until it has left the seat, and the desk is a part of that.
        let desk = unsafe { &*seat.desk };
        desk.pace.has_note.store(true, Ordering::Relaxed);
        true
    }
}
