//! Memory as the allocator gives it, a piece at a time.

use core::ptr::NonNull;

/// Memory for a value.
pub(crate) fn take<T>() -> NonNull<T> {
    NonNull::from(Box::leak(Box::<T>::new_uninit())).cast()
}

/// Takes the memory of a value back.
///
/// # Safety
///
/// It came from [`take`] of the same type, and is not used any more.
pub(crate) unsafe fn give_back<T>(place: NonNull<T>) {
    // SAFETY: the memory came out of a box of this type in `take`, and is not used any more.
    drop(unsafe { Box::from_raw(place.cast::<core::mem::MaybeUninit<T>>().as_ptr()) });
}
