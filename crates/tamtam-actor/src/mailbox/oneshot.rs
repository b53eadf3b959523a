//! Where a thread that has asked finds the answer.
//!
//! Two know a oneshot: the thread that waits, and the holder of the question. Each leaves it once, and the last one
//! frees it. A thread that has got its answer keeps the oneshot for its next question, for the memory, for the
//! cache line, and for what was learned about waiting there: how soon answers come, and from which core.

use core::marker::PhantomData;
use core::ptr::NonNull;
#[cfg(feature = "serde")]
use core::task::Waker;
use std::time::Instant;

use tamtam_wait::seam::atomic::{AtomicBool, Ordering};
use tamtam_wait::seam::{self, UnsafeCell};
#[cfg(feature = "serde")]
use tamtam_wait::{Context, Operation, Source, TaskWait, Token};
use tamtam_wait::{Inline, Wait, WaitList};

/// Larger answers lie in a box of their own, so that all oneshots are alike.
type Words = Inline<5>;

/// What the two sides touch with each answer comes first, on one cache line.
#[repr(C, align(64))]
struct Oneshot {
    words: UnsafeCell<Words>,
    /// How to drop what is inside, if it was never taken.
    discard: UnsafeCell<unsafe fn(*mut Words)>,
    full: AtomicBool,
    /// The filler is a link's: the value comes over that.
    #[cfg(feature = "serde")]
    is_lent: AtomicBool,
    /// One of the two does not come back.
    left: AtomicBool,
    takers: WaitList,
}

impl Oneshot {
    fn allocate() -> NonNull<Self> {
        NonNull::from(Box::leak(Box::new(Oneshot {
            words: UnsafeCell::new(Words::new()),
            discard: UnsafeCell::new(|_| {}),
            full: AtomicBool::new(false),
            #[cfg(feature = "serde")]
            is_lent: AtomicBool::new(false),
            left: AtomicBool::new(false),
            takers: WaitList::single(),
        })))
    }

    /// Whether the filler is a link's, as far as this thread knows.
    fn is_lent(&self) -> bool {
        #[cfg(feature = "serde")]
        return self.is_lent.load(Ordering::Relaxed);
        #[cfg(not(feature = "serde"))]
        return false;
    }

    /// One of the two leaves; the second one frees it.
    ///
    /// # Safety
    ///
    /// The caller is one of the two, and does not use it afterwards.
    #[inline]
    unsafe fn leave(this: NonNull<Self>) {
        // SYNC oneshot-left: what the first one did.
        // SAFETY: it lives until both have left.
        if unsafe { this.as_ref() }.left.swap(true, Ordering::AcqRel) {
            // SAFETY: both ends have left, so no other thread has it, or ever will.
            unsafe { Self::free(this) };
        }
    }

    /// # Safety
    ///
    /// No other thread has it, or ever will.
    #[cold]
    unsafe fn free(this: NonNull<Self>) {
        // SAFETY: no other thread has it, or ever will; and it was made as a box.
        let this = unsafe { Box::from_raw(this.as_ptr()) };
        if this.full.load(Ordering::Relaxed) {
            // SAFETY: no other thread has it.
            let discard = this.discard.with(|discard| unsafe { *discard });
            // SAFETY: it is full, and the function came with what is inside.
            this.words.with_mut(|words| unsafe { discard(words) });
        }
    }
}

/// For a thread that has something else to wait for as well. Beginning takes nothing: the value is the taker's.
#[cfg(feature = "serde")]
impl Source for Oneshot {
    fn try_begin(&self, _: &mut Token) -> bool {
        // SYNC oneshot-full
        self.full.load(Ordering::Acquire)
    }

    fn register(&self, operation: Operation, context: &Context) -> bool {
        self.takers.register(operation, context);
        self.looks_ready()
    }

    fn unregister(&self, operation: Operation, context: &Context) {
        self.takers.unregister(operation, context);
    }

    fn is_ready(&self) -> bool {
        // SYNC oneshot-full
        self.full.load(Ordering::Acquire)
    }

    fn watch(&self, operation: Operation, context: &Context) -> bool {
        self.takers.watch(operation, context);
        self.looks_ready()
    }

    fn unwatch(&self, operation: Operation, context: &Context) {
        self.takers.unwatch(operation, context);
    }

    fn list(&self) -> Option<&WaitList> {
        Some(&self.takers)
    }

    fn looks_ready(&self) -> bool {
        seam::model_fence();
        // SYNC oneshot-full
        self.full.load(Ordering::SeqCst)
    }
}

/// A oneshot for one value, empty: its two sides.
pub(crate) fn oneshot<T>() -> (Filler<T>, Taker<T>) {
    let place = kept::take().unwrap_or_else(Oneshot::allocate);
    (
        Filler {
            place,
            value: PhantomData,
        },
        Taker {
            place,
            value: PhantomData,
        },
    )
}

/// The side that brings the value, or leaves without.
pub(crate) struct Filler<T> {
    place: NonNull<Oneshot>,
    value: PhantomData<T>,
}

/// The side that waits for it.
pub(crate) struct Taker<T> {
    place: NonNull<Oneshot>,
    value: PhantomData<T>,
}

// SAFETY: it brings a value to another thread, wherever it is itself.
unsafe impl<T: Send> Send for Filler<T> {}
// SAFETY: by reference it only looks whether a thread or task waits.
unsafe impl<T: Send> Sync for Filler<T> {}

impl<T> Filler<T> {
    /// Whether the other one is still there.
    pub(crate) fn is_awaited(&self) -> bool {
        // SAFETY: it lives until we have left, too.
        !unsafe { self.place.as_ref() }.left.load(Ordering::Relaxed)
    }

    /// A link has it from now on.
    #[cfg(feature = "serde")]
    pub(crate) fn note_lent(&self) {
        // SAFETY: it lives until we have left, too.
        let place = unsafe { self.place.as_ref() };
        // For the thread that lends it, which is the taker's.
        place.is_lent.store(true, Ordering::Relaxed);
    }

    /// Brings the value, and wakes the one who waits for it.
    pub(crate) fn fill(self, value: T) {
        // SAFETY: the place lives until both ends have left, and this one has not.
        let place = unsafe { self.place.as_ref() };
        // SAFETY: the other end does not read there before it is full, and only this end fills it.
        place.words.with_mut(|words| unsafe { (*words).put(value) });
        place.discard.with_mut(|discard| {
            // SAFETY: the other end does not look at it before it is full, and only this end fills it; the function reads
            // what was written above.
            unsafe { *discard = |words| drop((*words).take::<T>()) };
        });
        // SYNC oneshot-full. Sequentially consistent, because it must be seen by one who registers as a waiter and
        // looks once more.
        place.full.swap(true, Ordering::SeqCst);
        seam::model_fence();
        // What comes over a link may be read by the thread that waits for it, which is not to take itself for the other side.
        if !place.is_lent() {
            place.takers.habit().meet();
        }
        place.takers.notify_one();
    }
}

impl<T> Drop for Filler<T> {
    fn drop(&mut self) {
        // SAFETY: nothing is used after a drop.
        unsafe { Oneshot::leave(self.place) };
    }
}

impl<T> Taker<T> {
    /// Whether the value is there.
    #[cfg(feature = "serde")]
    pub(crate) fn is_full(&self) -> bool {
        // SAFETY: it lives until we have left, too.
        // SYNC oneshot-full
        unsafe { self.place.as_ref() }.full.load(Ordering::Acquire)
    }

    /// Whether a link has the filler, as far as this thread knows.
    #[cfg(feature = "serde")]
    pub(crate) fn is_lent(&self) -> bool {
        // SAFETY: it lives until we have left, too.
        unsafe { self.place.as_ref() }.is_lent()
    }

    /// As `is_full`; if it is not, the waker is woken once it is. The wait is to be [cancelled](Taker::cancel) before the value is taken.
    #[cfg(feature = "serde")]
    pub(crate) fn poll(&self, wait: &mut TaskWait, waker: &Waker) -> bool {
        // SAFETY: it lives until we have left, too.
        let place = unsafe { self.place.as_ref() };
        wait.poll(place, &mut Token::default(), waker, None)
            .is_ready()
    }

    /// Ends what `poll` has begun.
    #[cfg(feature = "serde")]
    pub(crate) fn cancel(&self, wait: &mut TaskWait) {
        // SAFETY: it lives until we have left, too.
        wait.cancel(unsafe { self.place.as_ref() });
    }

    /// Waits for the value, until the deadline if there is one.
    pub(crate) fn take(self, deadline: Option<Instant>) -> Option<T> {
        // SAFETY: it lives until we have left, too.
        let place = unsafe { self.place.as_ref() };
        place.takers.wait_until(
            Wait::Adaptive,
            deadline,
            // SYNC oneshot-full
            |_| place.full.load(Ordering::Acquire).then_some(()),
            || {
                seam::model_fence();
                place.full.load(Ordering::SeqCst)
            },
        )?;
        // SAFETY: it is full, so the other one is done with it; it is read once.
        let value = place.words.with_mut(|words| unsafe { (*words).take() });
        place.full.store(false, Ordering::Relaxed);
        #[cfg(feature = "serde")]
        place.is_lent.store(false, Ordering::Relaxed);
        if kept::keep(self.place) {
            core::mem::forget(self);
        }
        Some(value)
    }
}

impl<T> Drop for Taker<T> {
    fn drop(&mut self) {
        // SAFETY: nothing is used after a drop.
        unsafe { Oneshot::leave(self.place) };
    }
}

#[cfg(not(any(tamtam_loom, miri)))]
mod kept {
    use core::cell::Cell;
    use core::ptr::NonNull;

    use super::{Oneshot, Ordering};

    /// One to use while the other side of another one is about to leave it, and one to spare.
    const MOST_KEPT: usize = 3;

    /// Empty oneshots of this thread, which the other side leaves, or has left.
    struct Kept([Cell<Option<NonNull<Oneshot>>>; MOST_KEPT]);

    thread_local! {
        static KEPT: Kept = const { Kept([const { Cell::new(None) }; MOST_KEPT]) };
    }

    impl Drop for Kept {
        fn drop(&mut self) {
            for place in self.0.iter().filter_map(Cell::take) {
                // SAFETY: this thread is one of the two.
                unsafe { Oneshot::leave(place) };
            }
        }
    }

    /// One that no other thread knows any more.
    #[inline]
    pub(super) fn take() -> Option<NonNull<Oneshot>> {
        KEPT.try_with(|kept| {
            kept.0.iter().find_map(|kept| {
                let place = kept.get()?;
                // SAFETY: this thread has not left it.
                let left = &unsafe { place.as_ref() }.left;
                // SYNC oneshot-left: what the other one did.
                left.load(Ordering::Acquire).then(|| {
                    kept.set(None);
                    left.store(false, Ordering::Relaxed);
                    place
                })
            })
        })
        .ok()
        .flatten()
    }

    /// Keeps one that this thread has emptied; `false` if there are enough, or the thread is ending.
    #[inline]
    pub(super) fn keep(place: NonNull<Oneshot>) -> bool {
        KEPT.try_with(|kept| {
            let free = kept.0.iter().find(|kept| kept.get().is_none());
            free.inspect(|free| free.set(Some(place))).is_some()
        })
        .unwrap_or(false)
    }
}

#[cfg(any(tamtam_loom, miri))]
mod kept {
    //! Models and Miri look at each one by itself; all threads of a model have the same thread-local values.

    use core::ptr::NonNull;

    use super::Oneshot;

    pub(super) fn take() -> Option<NonNull<Oneshot>> {
        None
    }

    pub(super) fn keep(_: NonNull<Oneshot>) -> bool {
        false
    }
}

// Miri says of no thread where it runs.
#[cfg(all(test, feature = "serde", not(tamtam_loom), not(miri)))]
mod tests {
    use super::*;

    /// Whether the thread that has filled a oneshot is taken for one on this processor, of one that a link has or not.
    fn is_met_here(is_lent: bool) -> bool {
        let (filler, taker) = oneshot();
        // SAFETY: it lives until the taker has left.
        let place = unsafe { taker.place.as_ref() };
        if is_lent {
            filler.note_lent();
        }
        filler.fill(7);
        let habit = format!("{:?}", place.takers.habit());
        assert_eq!(taker.take(None), Some(7));
        habit.contains("peer_on_this_core: true")
    }

    #[test]
    fn a_thread_that_reads_its_own_answer_off_a_link_does_not_take_itself_for_the_peer() {
        // Of a new thread, which has kept no oneshot that has met another one.
        let is_never_met = std::thread::spawn(|| (0..100).all(|_| !is_met_here(true)));
        assert!(is_never_met.join().unwrap());
        // Otherwise it is met; but it may be moved to another processor before it looks.
        assert!((0..1_000).any(|_| is_met_here(false)));
    }
}
