//! Which values of AMF0 references can mean.

/// Which values have a number, by which references mean them.
///
/// Both count alike where there is neither a date nor XML before what is referred to.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf0::{Decoder, Numbering, Value};
///
/// // As Flash Player sends it: an array (0) of a date (1), an empty object (2), and that object.
/// let bytes = b"\x0a\0\0\0\x03\x0b\0\0\0\0\0\0\0\0\0\0\x03\0\0\x09\x07\0\x02";
/// let mut decoder = Decoder::new(bytes, Default::default()).with_numbering(Numbering::FlashPlayer);
/// let Value::StrictArray(values) = decoder.value()? else { panic!() };
/// assert_eq!(values[2], Value::Object(vec![]));
/// # Ok::<(), tamtam_amf::DecodeError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbering {
    /// Objects and arrays, as the specification says, and as servers count: Amfphp, BlazeDS, and Py3AMF what it
    /// writes; what that reads it counts as Flash Player.
    #[default]
    Specification,
    /// Dates and XML documents as well, as Flash Player counts.
    FlashPlayer,
}

impl Numbering {
    /// Whether dates and XML documents have a number.
    pub(crate) fn counts_leaves(self) -> bool {
        self == Numbering::FlashPlayer
    }
}
