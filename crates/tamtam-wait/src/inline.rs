//! A value of any type in a few words: in them if it fits, else in a box of its own.

use core::fmt;
use core::mem::{MaybeUninit, align_of, size_of};

/// Room for one value of whatever type fits into so many words, or for a pointer to its box. It does not know whether it holds
/// one, or of which type: its owner does.
///
/// # Examples
///
/// ```
/// use tamtam_wait::Inline;
///
/// let mut place = Inline::<2>::new();
/// // A string is three words long, so it is in a box; a number is not.
/// assert!(!Inline::<2>::fits::<String>() && Inline::<2>::fits::<u64>());
/// place.put(String::from("hello"));
/// // SAFETY: a string was put in just now.
/// assert_eq!(unsafe { place.take::<String>() }, "hello");
/// ```
pub struct Inline<const WORDS: usize> {
    words: [MaybeUninit<u64>; WORDS],
}

impl<const WORDS: usize> Inline<WORDS> {
    /// Room with nothing inside.
    pub const fn new() -> Self {
        const { assert!(WORDS > 0, "a pointer must fit") };
        Self {
            words: [MaybeUninit::uninit(); WORDS],
        }
    }

    /// Whether a value of this type needs no box.
    pub const fn fits<T>() -> bool {
        size_of::<T>() <= WORDS * size_of::<u64>() && align_of::<T>() <= align_of::<u64>()
    }

    /// Puts a value in. What is inside before is forgotten.
    #[inline]
    pub fn put<T>(&mut self, value: T) {
        let place = self.words.as_mut_ptr();
        if const { Self::fits::<T>() } {
            // SAFETY: the words have room for a `T` and are aligned for one.
            unsafe { place.cast::<T>().write(value) }
        } else {
            // SAFETY: a pointer fits into the words, which are aligned for one.
            unsafe { place.cast::<*mut T>().write(Box::into_raw(Box::new(value))) }
        }
    }

    /// The value inside.
    ///
    /// # Safety
    ///
    /// The last [`put`](Inline::put) was of the same type `T`, and its value was not taken since.
    #[inline]
    pub unsafe fn get<T>(&self) -> &T {
        let place = self.words.as_ptr();
        if const { Self::fits::<T>() } {
            // SAFETY: a `T` was written here, and is still here, says the caller.
            unsafe { &*place.cast::<T>() }
        } else {
            // SAFETY: a `T` does not fit, so a pointer out of its box was written here, whose value is still there, says the
            // caller.
            unsafe { &**place.cast::<*const T>() }
        }
    }

    /// Drops the value inside.
    ///
    /// # Safety
    ///
    /// The last [`put`](Inline::put) was of the same type `T`, and its value was not taken since.
    #[inline]
    pub unsafe fn drop<T>(&mut self) {
        if const { Self::fits::<T>() } {
            // SAFETY: a `T` was written here, and is dropped once, says the caller.
            unsafe { self.words.as_mut_ptr().cast::<T>().drop_in_place() }
        } else {
            // SAFETY: the caller has a `T` in here, which nothing uses afterwards.
            drop(unsafe { self.take::<T>() });
        }
    }

    /// Takes the value out.
    ///
    /// # Safety
    ///
    /// The last [`put`](Inline::put) was of the same type `T`, and its value was not taken since.
    #[inline]
    pub unsafe fn take<T>(&mut self) -> T {
        let place = self.words.as_mut_ptr();
        if const { Self::fits::<T>() } {
            // SAFETY: a `T` was written here, and is read once, says the caller.
            unsafe { place.cast::<T>().read() }
        } else {
            // SAFETY: a `T` does not fit, so a pointer out of its box was written here, and is read once, says the caller.
            unsafe { *Box::from_raw(place.cast::<*mut T>().read()) }
        }
    }
}

impl<const WORDS: usize> Default for Inline<WORDS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const WORDS: usize> fmt::Debug for Inline<WORDS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Inline(..)")
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_values_come_back() {
        let mut place = Inline::<8>::new();
        place.put([7_u64; 8]);
        // SAFETY: an array of eight was put in just now.
        assert_eq!(unsafe { place.get::<[u64; 8]>() }, &[7; 8]);
        // SAFETY: an array of eight was put in just now.
        assert_eq!(unsafe { place.take::<[u64; 8]>() }, [7; 8]);
        place.put([1_u8; 1000]);
        // SAFETY: an array of a thousand was put in just now.
        assert_eq!(unsafe { place.get::<[u8; 1000]>() }, &[1; 1000]);
        // SAFETY: an array of a thousand was put in just now.
        assert_eq!(unsafe { place.take::<[u8; 1000]>() }, [1; 1000]);
        place.put(String::from("boxed or not, it is dropped once"));
        // SAFETY: a string was put in just now.
        assert!(unsafe { place.take::<String>() }.starts_with("boxed"));
    }

    #[test]
    fn small_and_large_values_are_dropped_in_place() {
        let mut place = Inline::<2>::new();
        let text = std::sync::Arc::<str>::from("counted");
        place.put(text.clone());
        // SAFETY: such an `Arc` was put in just now.
        unsafe { place.drop::<std::sync::Arc<str>>() };
        place.put([text.clone(), text.clone()]);
        assert_eq!(std::sync::Arc::strong_count(&text), 3);
        // SAFETY: two of them were put in just now.
        unsafe { place.drop::<[std::sync::Arc<str>; 2]>() };
        assert_eq!(std::sync::Arc::strong_count(&text), 1);
    }

    #[test]
    fn what_is_inside_is_not_shown() {
        assert_eq!(format!("{:?}", Inline::<8>::new()), "Inline(..)");
        let token = crate::Token::default();
        assert_eq!(format!("{token:?}"), "Token(..)");
    }

    #[test]
    fn what_fits_into_the_words_needs_no_box() {
        #[repr(align(16))]
        struct Aligned;
        type Eight = Inline<8>;
        assert!(Eight::fits::<[u8; 64]>() && Eight::fits::<[u64; 8]>() && Eight::fits::<()>());
        assert!(!Eight::fits::<[u8; 65]>() && !Eight::fits::<[u64; 9]>());
        assert!(!Eight::fits::<Aligned>());
        assert!(Inline::<5>::fits::<[u64; 5]>() && !Inline::<5>::fits::<[u64; 6]>());
    }
}
