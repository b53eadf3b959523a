//! A box whose memory lies in a slab.
//!
//! Actors that are made one after the other lie beside each other, also in memory that was used before. General
//! allocators give small pieces out again in the order in which they came back, last in, first out; a system of ten
//! thousand actors that was made where another one had been ran a fifth slower, since no processor guesses that order.
//!
//! Threads share a few sets of slabs, each under a lock: a piece goes back to where it came from.

use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

/// An owned value, as `Box`.
pub(crate) struct SlabBox<T>(NonNull<T>);

// SAFETY: it owns its value, as a `Box` does.
unsafe impl<T: Send> Send for SlabBox<T> {}

impl<T> SlabBox<T> {
    pub(crate) fn new(value: T) -> Self {
        let place = pieces::take::<T>();
        // SAFETY: fresh memory for a value of this type.
        unsafe { place.write(value) };
        SlabBox(place)
    }

    /// The value's place, for [`from_raw`](SlabBox::from_raw).
    pub(crate) fn into_raw(self) -> NonNull<T> {
        core::mem::ManuallyDrop::new(self).0
    }

    /// # Safety
    ///
    /// It came from [`into_raw`](SlabBox::into_raw) of a box of this type, and is not used otherwise.
    pub(crate) unsafe fn from_raw(place: NonNull<T>) -> Self {
        SlabBox(place)
    }
}

impl<T> Deref for SlabBox<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the value is alive until the box is dropped, and borrowed as the box is.
        unsafe { self.0.as_ref() }
    }
}

impl<T> DerefMut for SlabBox<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the box owns the value, which lives as long as the box; and `self` is borrowed mutably.
        unsafe { self.0.as_mut() }
    }
}

impl<T> Drop for SlabBox<T> {
    fn drop(&mut self) {
        /// Gives the memory back, also if the value's drop panics.
        struct Back<T>(NonNull<T>);

        impl<T> Drop for Back<T> {
            fn drop(&mut self) {
                // SAFETY: it was taken for the value, which is gone.
                unsafe { pieces::give_back(self.0) };
            }
        }

        let _back = Back(self.0);
        // SAFETY: the value is alive, and not used afterwards.
        unsafe { self.0.drop_in_place() };
    }
}

/// Models and Miri look at each allocation on its own.
#[cfg(any(tamtam_loom, miri))]
use super::plain as pieces;

#[cfg(not(any(tamtam_loom, miri)))]
mod pieces {
    use core::ptr::NonNull;
    use std::alloc::Layout;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tamtam_wait::seam::Mutex;

    use crate::memory::plain;
    use crate::memory::slabs::{LEAST_ALIGN, Slabs};

    /// There are slabs for the multiples of 16 bytes up to this one; what is larger is the allocator's business.
    const LARGEST: usize = 256;
    const SIZES: usize = LARGEST / LEAST_ALIGN;
    /// So many threads take memory without meeting each other.
    const MOST_OWNERS: usize = 16;

    /// Slabs for all sizes.
    #[repr(align(64))]
    struct Owner(Mutex<[Slabs; SIZES]>);

    static OWNERS: [Owner; MOST_OWNERS] =
        [const { Owner(Mutex::new(slabs_of_all_sizes())) }; MOST_OWNERS];

    const fn slabs_of_all_sizes() -> [Slabs; SIZES] {
        let mut slabs = [const { Slabs::new(LEAST_ALIGN) }; SIZES];
        let mut place = 0;
        while place < SIZES {
            slabs[place] = Slabs::new((place + 1) * LEAST_ALIGN);
            place += 1;
        }
        slabs
    }

    /// Whose slabs this thread takes from.
    fn owner_here() -> usize {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        thread_local! {
            static OWNER: usize = THREADS.fetch_add(1, Ordering::Relaxed) % MOST_OWNERS;
        }
        OWNER.with(|owner| *owner)
    }

    /// The size of the pieces that are made for this layout, if there are such.
    const fn size_of(layout: Layout) -> Option<usize> {
        if layout.size() == 0 || layout.size() > LARGEST || layout.align() > LEAST_ALIGN {
            return None;
        }
        Some(layout.size().next_multiple_of(LEAST_ALIGN))
    }

    /// Memory for a value.
    pub(super) fn take<T>() -> NonNull<T> {
        let Some(size) = (const { size_of(Layout::new::<T>()) }) else {
            return plain::take();
        };
        let mut piece = [core::ptr::null_mut()];
        let owner = owner_here();
        OWNERS[owner].0.lock()[size / LEAST_ALIGN - 1].take(&mut piece, owner);
        NonNull::new(piece[0].cast()).expect("slabs give memory or end the program")
    }

    /// Takes the memory of a value back.
    ///
    /// # Safety
    ///
    /// It came from [`take`] of the same type, and is not used any more.
    pub(super) unsafe fn give_back<T>(place: NonNull<T>) {
        let Some(size) = (const { size_of(Layout::new::<T>()) }) else {
            // SAFETY: the memory came from `plain::take`, as that of each type without a size does, and is not used any
            // more.
            return unsafe { plain::give_back(place) };
        };
        let piece = place.as_ptr().cast();
        // SAFETY: the piece came from `take`, so it is of this size, and from the slabs of the owner that is asked for.
        unsafe {
            let owner = Slabs::owner(piece, size);
            OWNERS[owner].0.lock()[size / LEAST_ALIGN - 1].give_back(&[piece]);
        }
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use std::cell::Cell;
    use std::fmt::Debug;
    use std::thread;

    use super::*;

    /// Sizes with slabs, without, and none at all; alignments above that of slabs.
    #[test]
    fn a_value_is_kept_and_dropped_once() {
        #[derive(Debug, PartialEq)]
        #[repr(align(128))]
        struct Aligned(u8);

        fn check<T: Debug + PartialEq>(make: impl Fn() -> T) {
            let many = if cfg!(miri) { 3 } else { 200 };
            let boxes: Vec<_> = (0..many).map(|_| SlabBox::new(make())).collect();
            for boxed in &boxes {
                assert_eq!(**boxed, make());
                assert!((&raw const **boxed).is_aligned());
            }
        }

        check(|| ());
        check(|| 7_u8);
        check(|| [3_u64; 14]);
        check(|| vec![String::from("kept")]);
        check(|| [9_u8; 256]);
        check(|| [9_u8; 257]);
        check(|| Aligned(5));
    }

    #[test]
    fn a_place_becomes_a_box_again() {
        let place = SlabBox::new(vec![1, 2, 3]).into_raw();
        // SAFETY: it is the one from above.
        let boxed = unsafe { SlabBox::from_raw(place) };
        assert_eq!(*boxed, [1, 2, 3]);
    }

    #[test]
    fn a_drop_that_panics_loses_no_memory() {
        struct Panics<'a>(&'a Cell<u32>, [u64; 8]);

        impl Drop for Panics<'_> {
            fn drop(&mut self) {
                self.0.set(self.0.get() + 1);
                panic!("on purpose");
            }
        }

        let (drops, times) = (Cell::new(0), if cfg!(miri) { 2 } else { 100 });
        for _ in 0..times {
            let boxed = SlabBox::new(Panics(&drops, [1; 8]));
            assert_eq!(boxed.1, [1; 8]);
            let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(boxed)));
            assert!(dropped.is_err());
        }
        assert_eq!(drops.get(), times);
    }

    /// Many threads take, and drop what others took.
    #[test]
    fn pieces_come_back_from_other_threads() {
        let (rounds, each) = if cfg!(miri) { (2, 20) } else { (50, 500) };
        let mut kept: Vec<Vec<SlabBox<[u64; 13]>>> = (0..4).map(|_| Vec::new()).collect();
        for round in 0..rounds {
            kept.rotate_left(1);
            thread::scope(|scope| {
                for (number, kept) in kept.iter_mut().enumerate() {
                    scope.spawn(move || {
                        for boxed in kept.drain(..) {
                            assert!(boxed.iter().all(|word| *word == boxed[0]));
                        }
                        kept.extend(
                            (0..each).map(|value| SlabBox::new([value + number as u64; 13])),
                        );
                    });
                }
            });
            assert_eq!(
                kept.iter().map(Vec::len).sum::<usize>() as u64,
                4 * each,
                "round {round}"
            );
        }
    }
}
