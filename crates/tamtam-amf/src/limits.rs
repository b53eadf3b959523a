//! What a decoder accepts before it gives up.

/// The deepest nesting that is ever written or read, in containers, whatever [`Limits::depth`] says: a tree of
/// this depth is built, copied, compared and dropped within the two mebibytes of a thread's stack.
pub const MAX_DEPTH: usize = 512;

/// What a decoder accepts before it gives up with an error, so that input from anywhere costs a bounded amount of
/// memory and time.
///
/// The defaults suit a request from a stranger. For tables of a million rows raise [`bytes`](Self::bytes) and
/// [`values`](Self::values).
///
/// # Examples
///
/// ```
/// use tamtam_amf::{Limits, amf0};
///
/// let limits = Limits { depth: 2, ..Limits::default() };
/// let three_arrays = b"\x0a\0\0\0\x01\x0a\0\0\0\x01\x0a\0\0\0\0";
/// let error = amf0::decode(three_arrays, limits).unwrap_err();
/// assert_eq!(error.to_string(), "at byte 10: nested deeper than the limit of 2 containers");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of input, and apart from that the bytes of text and content that references repeat; apart from both, the names that
    /// maps of Rust are given: a class writes those of its members once, and each object has them. Default: 16 MiB.
    pub bytes: usize,
    /// Containers within each other; at most [`MAX_DEPTH`]. Default: 128.
    pub depth: usize,
    /// Values, those included that references repeat. In memory a value takes about 32 bytes, and its name in
    /// an object 16 more. Default: 1,048,576.
    pub values: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 16 << 20,
            depth: 128,
            values: 1 << 20,
        }
    }
}
