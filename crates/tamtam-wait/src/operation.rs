//! One operation of a wait over several sources, and what it keeps between its beginning and its end.

use core::fmt;

use crate::inline::Inline;

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
#[derive(Default)]
pub struct Token(Inline<8>);

impl Token {
    /// Keeps a value: inline up to 64 bytes, boxed beyond.
    #[inline]
    pub fn put<T>(&mut self, value: T) {
        self.0.put(value);
    }

    /// Takes the value out again.
    ///
    /// # Safety
    ///
    /// The last [`put`](Token::put) was of the same type `T`, and this value was not taken since.
    #[inline]
    pub unsafe fn take<T>(&mut self) -> T {
        // SAFETY: the last value that was put in is a `T`, and was not taken since, says the caller.
        unsafe { self.0.take() }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}
