//! What becomes of values that are there more than once.

/// What becomes of a value that is there more than once, where a decoder makes a tree or a Rust value of it: objects that refer to
/// the same object, and those that contain themselves.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf0::{Decoder, Value};
/// use tamtam_amf::{Limits, Sharing};
///
/// let twice = b"\x0a\0\0\0\x02\x0a\0\0\0\0\x07\0\x01"; // an array of an empty array and of the same one
/// let read = |sharing| Decoder::new(twice, Limits::default()).with_sharing(sharing).value();
/// let empty = Value::from(vec![]);
/// assert_eq!(read(Sharing::Copy)?, vec![empty.clone(), empty.clone()].into());
/// assert_eq!(read(Sharing::Keep)?, vec![empty, Value::Reference(1)].into());
/// assert!(read(Sharing::Refuse).is_err());
/// # Ok::<(), tamtam_amf::DecodeError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// A copy for each place, paid from the limits; what contains itself is an error.
    #[default]
    Copy,
    /// References as they are. An encoder writes them back.
    Keep,
    /// An error.
    Refuse,
}
