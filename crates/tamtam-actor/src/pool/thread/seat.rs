//! Where this thread works.

use core::cell::{Cell, RefCell};
use std::sync::{Arc, Weak};

use tamtam_wait::seam::atomic::Ordering;

use super::Shared;
use super::desk::Desk;

thread_local! {
    /// The pool that this thread works for, and the ring that it has there, for as long as it does.
    static POOL: RefCell<(Weak<Shared>, usize)> = const { RefCell::new((Weak::new(), 0)) };
    /// The same, for a quick look; none while the thread is [away](ThreadSeat::away_from).
    static SEAT: Cell<ThreadSeat> = const { Cell::new(ThreadSeat::NONE) };
}

/// Where a thread works. A thread that turns actors looks here with each message, so the desk is looked up once.
#[derive(Clone, Copy)]
pub(super) struct ThreadSeat {
    /// Null if this is no thread of a pool.
    shared: *const Shared,
    /// That of this thread there.
    desk: *const Desk,
}

impl ThreadSeat {
    const NONE: Self = ThreadSeat {
        shared: core::ptr::null(),
        desk: core::ptr::null(),
    };

    /// That of this thread.
    #[inline(always)]
    pub(super) fn here() -> Self {
        SEAT.get()
    }

    /// This thread works there from now on.
    pub(super) fn take(shared: &Arc<Shared>, ring: usize) {
        POOL.set((Arc::downgrade(shared), ring));
        SEAT.set(ThreadSeat {
            shared: Arc::as_ptr(shared),
            desk: shared.desks.at(ring),
        });
    }

    /// This thread works for no pool any more. What becomes due from now on does not come to its desk, where it would not be found.
    pub(super) fn leave() {
        SEAT.set(ThreadSeat::NONE);
        POOL.set((Weak::new(), 0));
    }

    /// Has what the work makes due come in as from outside, not to the desk of this thread.
    pub(super) fn away_from<R>(work: impl FnOnce() -> R) -> R {
        struct Back(ThreadSeat);

        impl Drop for Back {
            fn drop(&mut self) {
                SEAT.set(self.0);
            }
        }

        let _back = Back(SEAT.replace(ThreadSeat::NONE));
        work()
    }

    /// The pool that this thread works for, and its ring there, also while the thread is away from its seat.
    pub(super) fn pool() -> Option<(Arc<Shared>, usize)> {
        let look = |pool: &RefCell<(Weak<Shared>, usize)>| {
            let (shared, ring) = &*pool.borrow();
            Some((shared.upgrade()?, *ring))
        };
        POOL.try_with(look).ok().flatten()
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

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    /// Otherwise one that waits meanwhile would take what lies on the desk of the first thread.
    #[test]
    fn a_thread_that_is_away_from_its_seat_keeps_its_ring() {
        let shared = Arc::new(Shared::new(4, String::new(), None));
        ThreadSeat::take(&shared, 3);
        let ring = || ThreadSeat::pool().map(|(_, ring)| ring);
        assert_eq!(ring(), Some(3));
        ThreadSeat::away_from(|| {
            assert!(!ThreadSeat::here().is_at(&shared));
            assert_eq!(ring(), Some(3));
        });
        assert!(ThreadSeat::here().is_at(&shared));
        let panics = std::panic::catch_unwind(|| ThreadSeat::away_from(|| panic!("on purpose")));
        assert!(panics.is_err() && ThreadSeat::here().is_at(&shared));
        ThreadSeat::leave();
        assert_eq!(ring(), None);
    }
}
