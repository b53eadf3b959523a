//! One operation of a wait over several sources, and what it keeps between its beginning and its end.

use core::fmt;
use core::mem::{MaybeUninit, align_of, size_of};

/// The index of one operation among those that a thread waits for at once.
///
/// # Examples
///
/// ```
/// use tamtam_wait::Operation;
///
/// // The third of what a thread waits for at once.
/// assert_eq!(Operation::new(2).index(), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation(u32);

impl Operation {
    /// The operation with this index, below 2³² − 4.
    #[inline]
    pub const fn new(index: u32) -> Self {
        Self(index)
    }

    /// The index.
    #[inline]
    pub const fn index(self) -> u32 {
        self.0
    }
}

const WORDS: usize = 8;

/// What an operation that was begun and not yet finished keeps: a few words of its source's choice.
///
/// A source writes what it needs (a claimed position, a partner's packet, the message itself if it
/// fits) and takes it out again when the operation is finished.
///
/// # Examples
///
/// ```
/// use tamtam_wait::Token;
///
/// let mut token = Token::default();
/// token.put((7_u32, "claimed"));
/// // SAFETY: the token holds what was put into it just now, which is of this type, and it is taken once.
/// let (position, state) = unsafe { token.take::<(u32, &str)>() };
/// assert_eq!((position, state), (7, "claimed"));
/// ```
pub struct Token {
    words: [MaybeUninit<u64>; WORDS],
}

impl Default for Token {
    fn default() -> Self {
        Self {
            words: [MaybeUninit::uninit(); WORDS],
        }
    }
}

impl Token {
    const fn fits<T>() -> bool {
        size_of::<T>() <= WORDS * 8 && align_of::<T>() <= 8
    }

    /// Keeps a value: inline up to 64 bytes, boxed beyond.
    #[inline]
    pub fn put<T>(&mut self, value: T) {
        let place = self.words.as_mut_ptr();
        if Self::fits::<T>() {
            // SAFETY: size and alignment fit, as just checked.
            unsafe { place.cast::<T>().write(value) }
        } else {
            // SAFETY: a pointer fits into the words, which are aligned for one.
            unsafe { place.cast::<*mut T>().write(Box::into_raw(Box::new(value))) }
        }
    }

    /// Takes the value out again.
    ///
    /// # Safety
    ///
    /// The last [`put`](Token::put) was of the same type `T`, and this value was not taken since.
    #[inline]
    pub unsafe fn take<T>(&mut self) -> T {
        let place = self.words.as_mut_ptr();
        if Self::fits::<T>() {
            // SAFETY: by the caller's promise a `T` was written here.
            unsafe { place.cast::<T>().read() }
        } else {
            // SAFETY: by the caller's promise a boxed `T` was left here.
            unsafe { *Box::from_raw(place.cast::<*mut T>().read()) }
        }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_token_keeps_small_and_large_values() {
        let mut token = Token::default();
        token.put([7_u64; 8]);
        // SAFETY: an array of eight was put in just now.
        assert_eq!(unsafe { token.take::<[u64; 8]>() }, [7; 8]);
        token.put([1_u8; 1000]);
        // SAFETY: an array of a thousand was put in just now.
        assert_eq!(unsafe { token.take::<[u8; 1000]>() }, [1; 1000]);
        token.put(String::from("boxed or not, it is dropped once"));
        // SAFETY: a string was put in just now.
        assert!(unsafe { token.take::<String>() }.starts_with("boxed"));
    }

    #[test]
    fn a_token_keeps_inline_what_fits_into_eight_words() {
        #[repr(align(16))]
        struct Aligned;
        assert!(Token::fits::<[u8; 64]>() && Token::fits::<[u64; 8]>() && Token::fits::<()>());
        assert!(!Token::fits::<[u8; 65]>() && !Token::fits::<[u64; 9]>());
        assert!(!Token::fits::<Aligned>());
    }
}
