//! An item of AMF3, as a decoder reads it.

/// An item of AMF3. Texts and content are borrowed from the input.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf3::{Decoder, Event};
///
/// let mut decoder = Decoder::new(b"\x06\x07red", Default::default());
/// assert_eq!(decoder.next_event()?, Some(Event::String("red")));
/// assert_eq!(decoder.next_event()?, None);
/// # Ok::<(), tamtam_amf::DecodeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// Undefined.
    Undefined,
    /// Null.
    Null,
    /// A boolean.
    Boolean(bool),
    /// An integer of 29 bits with its sign.
    Integer(i32),
    /// A double.
    Double(f64),
    /// A text.
    String(&'a str),
    /// An XML document of the older kind, which was not looked at.
    XmlDocument(&'a str),
    /// A point in time, in milliseconds since 1970 in UTC.
    Date(f64),
    /// XML of the newer kind, which was not looked at.
    Xml(&'a str),
    /// Bytes.
    ByteArray(&'a [u8]),
    /// Integers of 32 bits with a sign.
    VectorInt {
        /// Whether the vector has a fixed length.
        fixed: bool,
        /// Four bytes a value, the highest first.
        bytes: &'a [u8],
    },
    /// Integers of 32 bits without a sign.
    VectorUint {
        /// Whether the vector has a fixed length.
        fixed: bool,
        /// Four bytes a value, the highest first.
        bytes: &'a [u8],
    },
    /// Doubles.
    VectorDouble {
        /// Whether the vector has a fixed length.
        fixed: bool,
        /// Eight bytes a value, the highest first.
        bytes: &'a [u8],
    },
    /// The value with this number, which has begun.
    Reference(u32),
    /// An array begins: [`Property`](Self::Property) and a value for each name, then so many values without a name,
    /// then [`End`](Self::End).
    BeginArray {
        /// Values without a name.
        dense: u32,
    },
    /// An object begins: a value for each sealed member, then, if the traits are dynamic,
    /// [`Property`](Self::Property) and a value for each other, then [`End`](Self::End).
    BeginObject {
        /// The number of its traits, for [`Decoder::traits`](super::Decoder::traits).
        traits: usize,
    },
    /// A vector begins: so many values, then [`End`](Self::End).
    BeginVector {
        /// The class of its values, `*` for any.
        class: &'a str,
        /// Whether the vector has a fixed length.
        fixed: bool,
        /// How many values follow.
        length: u32,
    },
    /// A dictionary begins: a key and a value for each entry, then [`End`](Self::End).
    BeginDictionary {
        /// Whether the receiver is to hold the keys weakly.
        weak_keys: bool,
        /// How many entries follow.
        length: u32,
    },
    /// An object of an externalizable class of Flex begins: [`Property`](Self::Property) and a value for each member
    /// that it has, then [`End`](Self::End).
    BeginExternalizable {
        /// The name of the class.
        class: &'a str,
    },
    /// An object of an externalizable class of one's own, whole, with its references left as they are:
    /// [`Decoder::take_externalizable`](super::Decoder::take_externalizable) has it until the next item is read.
    Externalizable,
    /// The name of a property; its value follows.
    Property(&'a str),
    /// The innermost container ends.
    End,
}
