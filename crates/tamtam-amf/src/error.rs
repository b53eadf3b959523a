//! Why a value could not be written or read.

use thiserror::Error;

/// Why bytes are not a value, and where.
///
/// # Examples
///
/// ```
/// use tamtam_amf::Cause;
/// use tamtam_amf::amf0::decode;
///
/// let error = decode(b"\x00\x3f", Default::default()).unwrap_err(); // a number that ends too early
/// assert!(matches!(error.cause, Cause::Truncated { .. }));
/// println!("{error}"); // what is wrong, and at which byte
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("at byte {position}: {cause}")]
pub struct DecodeError {
    /// The offset in the input, in bytes, of what could not be read.
    pub position: usize,
    /// What is wrong there.
    #[source]
    pub cause: Cause,
}

/// What is wrong with input.
///
/// # Examples
///
/// ```
/// use tamtam_amf::Cause;
/// use tamtam_amf::amf0::decode;
///
/// let error = decode(b"\x7f", Default::default()).unwrap_err();
/// assert_eq!((error.position, error.cause), (0, Cause::Marker(0x7f)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Cause {
    /// The input ends within a value.
    #[error("the input ends too early: {needed} more bytes are needed and {left} are left")]
    Truncated {
        /// Bytes that the next item takes.
        needed: usize,
        /// Bytes that are there.
        left: usize,
    },
    /// More values are announced than the rest of the input can hold.
    #[error("{announced} values are announced, which {left} bytes cannot hold")]
    Announced {
        /// The count that the input states.
        announced: usize,
        /// Bytes that are left for them.
        left: usize,
    },
    /// No type has this marker.
    #[error("{0:#04x} is no marker of a type")]
    Marker(u8),
    /// The specification reserves this marker and says nothing of what follows it.
    #[error(
        "the marker {0:#04x} is reserved by the specification: nothing is known of what follows it"
    )]
    Reserved(u8),
    /// The end of an object where none is open.
    #[error("the end of an object where a value is expected")]
    ObjectEnd,
    /// A text is not UTF-8.
    #[error("a text is not UTF-8")]
    Utf8,
    /// An object asks a class of the application how it is read.
    #[error(
        "an object of the externalizable class {class:?} has a form that only this class knows: add it to the decoder's \
         classes, or let the sender send a plain object or array"
    )]
    Externalizable {
        /// The name of the class.
        class: String,
    },
    /// An externalizable class has read what it does not take.
    #[error("an object of the class {class:?} is refused: {reason}")]
    Refused {
        /// The name of the class.
        class: String,
        /// What is wrong, by its [`ExternalInput::refuse`](crate::amf3::ExternalInput::refuse).
        reason: String,
    },
    /// A flag of a message of Flex that no version of Flex has.
    #[error("a message has bit {bit} of byte {byte} of its flags, which no message of Flex has")]
    Flag {
        /// The byte, from 0.
        byte: usize,
        /// The bit, from 0, the lowest.
        bit: usize,
    },
    /// A reference to a value that has not begun.
    #[error("a reference to value {index}, where {known} are known")]
    Reference {
        /// The place in the table of objects, from 0.
        index: usize,
        /// Entries of the table so far.
        known: usize,
    },
    /// A reference to a string that was not there.
    #[error("a reference to string {index}, where {known} are known")]
    StringReference {
        /// The place in the table of strings, from 0.
        index: usize,
        /// Entries of the table so far.
        known: usize,
    },
    /// A reference to traits that were not there.
    #[error("a reference to traits {index}, where {known} are known")]
    TraitsReference {
        /// The place in the table of traits, from 0.
        index: usize,
        /// Entries of the table so far.
        known: usize,
    },
    /// A value contains itself, which a tree cannot show.
    #[error(
        "value {index} contains itself, which a tree cannot show; `value_with_references` leaves references as they are"
    )]
    Cycle {
        /// The place in the table of objects, from 0.
        index: usize,
    },
    /// A value is there more than once, and that was not to be.
    #[error("value {index} is referred to, and shared values are refused")]
    Shared {
        /// The place in the table of objects, from 0.
        index: usize,
    },
    /// A reference leads out of the part that is decoded.
    #[error("a reference to value {index}, which began before the part that is decoded here")]
    Outside {
        /// The place in the table of objects, from 0.
        index: usize,
    },
    /// The input is longer than the limit.
    #[error("the input has {bytes} bytes, more than the limit of {limit}")]
    TooLarge {
        /// Bytes of the input.
        bytes: usize,
        /// [`Limits::bytes`](crate::Limits::bytes).
        limit: usize,
    },
    /// References repeat more bytes than the limit.
    #[error("references repeat more bytes than the limit of {limit}")]
    Repeated {
        /// [`Limits::bytes`](crate::Limits::bytes).
        limit: usize,
    },
    /// Nested too deeply.
    #[error("nested deeper than the limit of {limit} containers")]
    TooDeep {
        /// [`Limits::depth`](crate::Limits::depth), or [`MAX_DEPTH`](crate::MAX_DEPTH) if that is less.
        limit: usize,
    },
    /// Too many values.
    #[error("more values than the limit of {limit}")]
    TooMany {
        /// [`Limits::values`](crate::Limits::values).
        limit: usize,
    },
    /// Bytes after the value.
    #[error("{left} bytes are left after the value")]
    Trailing {
        /// How many.
        left: usize,
    },
    /// A value was asked for where a property's name comes, or the end of a container.
    #[error(
        "a value was asked for where a property or the end of its container comes: read that by `next_event` first"
    )]
    NotAValue,
    /// A value is right, and not what this form has in its place.
    #[error("{expected} is expected here")]
    Unexpected {
        /// What the form has here.
        expected: &'static str,
    },
    /// A packet of a version that is not known.
    #[error("version {0} of packets is not known: there are 0 and 3")]
    Version(u16),
    /// A packet has more parts of a kind than the limit.
    #[error("{count} {what} are more than the limit of {limit}")]
    TooManyParts {
        /// Headers or messages.
        what: &'static str,
        /// How many the packet announces.
        count: usize,
        /// [`PacketLimits::headers`](crate::packet::PacketLimits::headers) or
        /// [`PacketLimits::messages`](crate::packet::PacketLimits::messages).
        limit: usize,
    },
    /// A part of a packet is not as long as it says.
    #[error("the value has {bytes} bytes, where {announced} were announced")]
    Length {
        /// Bytes that the part states.
        announced: u32,
        /// Bytes of its value.
        bytes: usize,
    },
    /// A value is to be passed over, and nothing says where it ends.
    #[error("the sender does not say how long the value is, and only what reads it finds its end")]
    UnknownLength,
    /// A part of the form did not come.
    #[error("there is no {0:?}")]
    Missing(&'static str),
}

/// Why a value was not written. What the output holds then is a fragment.
///
/// # Examples
///
/// ```
/// use tamtam_amf::EncodeError;
/// use tamtam_amf::amf0::Encoder;
///
/// let mut bytes = Vec::new();
/// let mut encoder = Encoder::new(&mut bytes);
/// encoder.begin_object()?;
/// let error = encoder.write_null().unwrap_err(); // a value of an object needs a name before it
/// assert!(matches!(error, EncodeError::NoName));
/// # Ok::<(), EncodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A name is longer than its length field can say.
    #[error("a name of {bytes} bytes is longer than the {limit} that the format allows")]
    NameTooLong {
        /// Bytes of the name.
        bytes: usize,
        /// The format's limit.
        limit: usize,
    },
    /// A name is empty where the format takes the empty name for the end of the list.
    #[error("an empty name cannot be written here: it would end the list of names")]
    EmptyName,
    /// More bytes or values than a length field can say.
    #[error("{count} {what} are more than the {limit} that the format allows")]
    TooLong {
        /// What is counted.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// The format's limit.
        limit: usize,
    },
    /// A value in an object without a name before it.
    #[error("a value in an object needs a name first: call `property` before it")]
    NoName,
    /// A name where there is no object, or after another name.
    #[error(
        "a name is not expected here: names stand in objects and associative arrays, one before each value"
    )]
    NameNotExpected,
    /// More values than were announced.
    #[error("a container was given more values than it announced")]
    MoreThanAnnounced,
    /// Fewer values than were announced.
    #[error("a container ends with {left} values fewer than it announced")]
    FewerThanAnnounced {
        /// How many are missing.
        left: usize,
    },
    /// Rows that are not within an array without names.
    #[error("rows are written together only within an array without names")]
    NoArray,
    /// Columns of one table that have different lengths.
    #[error(
        "a column has {other} cells beside one that has {rows}: columns of a table are of one length"
    )]
    Uneven {
        /// Cells of the first column.
        rows: usize,
        /// Cells of another one.
        other: usize,
    },
    /// A header of a packet that has a message already.
    #[error("a header comes too late: headers stand before all messages of a packet")]
    HeaderAfterMessage,
    /// Another number of values than the one that has its place here.
    #[error("{written} values were written where one has its place")]
    NotOneValue {
        /// How many.
        written: usize,
    },
    /// Nothing is open that could end.
    #[error("there is no open container that could end")]
    NothingOpen,
    /// Containers are open at the end.
    #[error("{open} containers are still open: call `end` for each")]
    StillOpen {
        /// How many.
        open: usize,
    },
    /// Nested too deeply.
    #[error("nested deeper than the limit of {limit} containers")]
    TooDeep {
        /// [`MAX_DEPTH`](crate::MAX_DEPTH).
        limit: usize,
    },
    /// A reference to a value that has not begun.
    #[error("a reference to value {index}, where {known} have begun")]
    Reference {
        /// The place in the table of objects, from 0.
        index: usize,
        /// How many have begun.
        known: usize,
    },
    /// An object's values do not fit its traits.
    #[error("an object has {given} sealed values, and its traits name {expected}")]
    SealedCount {
        /// Values of the object.
        given: usize,
        /// Members that the traits name.
        expected: usize,
    },
    /// A property that the traits do not allow.
    #[error(
        "an object of the class {class:?} is not dynamic: it has no properties but those of its traits"
    )]
    NotDynamic {
        /// The name of the class.
        class: String,
    },
    /// An object of an externalizable class that is not known.
    #[error(
        "the externalizable class {class:?} is not known here: add it to the encoder's classes"
    )]
    Externalizable {
        /// The name of the class.
        class: String,
    },
    /// A member of an externalizable object that its class does not have, or a second one of its name.
    #[error("an object of the class {class:?} has no member {member:?}, or not twice")]
    Member {
        /// The name of the class.
        class: String,
        /// The name of the member.
        member: String,
    },
    /// Bytes outside of an externalizable object.
    #[error("bytes are written as they are only directly in an object of an externalizable class")]
    NotExternalizable,
    /// What a class refuses to write, in its own words.
    #[error("{0}")]
    Refused(String),
    /// A value in a row of a RecordSet that is no cell.
    #[error(
        "a cell of a RecordSet is a number, a text, a boolean, a date or null, not an object, an array or a reference"
    )]
    NotACell,
    /// Traits of another encoder.
    #[error("these traits were not defined by this encoder")]
    UnknownTraits,
}
