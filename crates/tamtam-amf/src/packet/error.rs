//! Why a packet could not be read or written, and which part of it.

use std::fmt;

use thiserror::Error;

use crate::{DecodeError, EncodeError};

/// A part of a packet. Headers and messages count from 0.
///
/// # Examples
///
/// ```
/// use tamtam_amf::packet::{Packet, Part};
///
/// let bytes = [0, 0, 0, 1, 0, 1, b'k', 0, 0, 0, 0, 1, 0x7f]; // a header whose value has a marker that is none
/// let error = Packet::decode(&bytes, Default::default()).unwrap_err();
/// assert_eq!(error.part, Part::Header { index: 0, name: "k".into() });
/// assert_eq!(error.to_string(), "header 0 (\"k\"): at byte 12: 0x7f is no marker of a type");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// What is around headers and messages: the version, how many there are.
    Frame,
    /// A header.
    Header {
        /// Its place.
        index: usize,
        /// Its name, as far as it was read.
        name: String,
    },
    /// A message.
    Message {
        /// Its place.
        index: usize,
        /// Its target, as far as it was read.
        target: String,
    },
}

/// The most characters of a name that an error shows.
const MOST_SHOWN: usize = 80;

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, index, name) = match self {
            Part::Frame => return Ok(()),
            Part::Header { index, name } => ("header", index, name),
            Part::Message { index, target } => ("message", index, target),
        };
        let end = name.char_indices().nth(MOST_SHOWN);
        let shown = end.map_or(&**name, |(end, _)| &name[..end]);
        let more = if end.is_some() { ".." } else { "" };
        write!(f, "{kind} {index} ({shown:?}{more}): ")
    }
}

/// Why bytes are not a packet, and where.
///
/// # Examples
///
/// ```
/// use tamtam_amf::Cause;
/// use tamtam_amf::packet::{Packet, Part};
///
/// let error = Packet::decode(&[0, 9], Default::default()).unwrap_err();
/// assert_eq!((error.part, error.error.cause), (Part::Frame, Cause::Version(9)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{part}{error}")]
pub struct PacketDecodeError {
    /// The part that could not be read.
    pub part: Part,
    /// What is wrong; its position counts from the beginning of the packet.
    #[source]
    pub error: DecodeError,
}

/// Why a part was not written. What was written before it is still a packet.
///
/// # Examples
///
/// ```
/// use tamtam_amf::packet::{Encoder, Version};
///
/// let mut bytes = Vec::new();
/// let mut encoder = Encoder::new(&mut bytes, Version::Amf0);
/// let error = encoder.message("/1/onResult", "null", |_| Ok(())).unwrap_err();
/// assert_eq!(error.to_string(), "message 0 (\"/1/onResult\"): 0 values were written where one has its place");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{part}{error}")]
pub struct PacketEncodeError {
    /// The part that was not written.
    pub part: Part,
    /// What is wrong.
    #[source]
    pub error: EncodeError,
}
