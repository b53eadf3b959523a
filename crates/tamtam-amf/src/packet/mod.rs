//! The packet of remoting: what a Flash or Flex client posts to a gateway, and what comes back.
//!
//! A packet has headers, then messages (*bodies* in older books); each has a value of AMF0. A client whose objects are of
//! AMF3 sends version 3, and the values of AMF3 lie within those of AMF0
//! ([`Value::Avmplus`](crate::amf0::Value::Avmplus)).
//!
//! A message to a service has its method as the target and `/1` as the response, where 1 is the client's number of the
//! call; its value is an array of arguments. The answer has the target `/1/onResult` or `/1/onStatus` and the response
//! `null`.
//!
//! [`Packet`] is a tree. A [`Decoder`] reads and an [`Encoder`] writes part by part, and the values item by item.
//!
//! After section 4 of the *AMF 0 Specification* and section 4.1 of the *AMF 3 Specification* of Adobe Systems.

mod decoder;
mod encoder;
mod error;
mod limits;
mod tree;

pub use decoder::{Decoder, HeaderRef, MessageRef};
pub use encoder::Encoder;
pub use error::{PacketDecodeError, PacketEncodeError, Part};
pub use limits::PacketLimits;
pub use tree::{Header, Message, Packet};

/// The length that says that it is not known.
const UNKNOWN_LENGTH: u32 = u32::MAX;

/// Which format the objects of a client are of. Both versions have the same form: AMF3 lies within AMF0.
///
/// # Examples
///
/// ```
/// use tamtam_amf::packet::{Packet, Version};
///
/// let packet = Packet::decode(&[0, 3, 0, 0, 0, 0], Default::default())?;
/// assert_eq!(packet.version, Version::Amf3); // so the answer is to be in AMF3
/// # Ok::<(), tamtam_amf::packet::PacketDecodeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Version 0: a client that knows AMF0 alone, or prefers it.
    Amf0,
    /// Version 3: a client that knows AMF3, too.
    Amf3,
}

impl Version {
    /// The version as a packet says it.
    #[must_use]
    pub fn number(self) -> u16 {
        match self {
            Version::Amf0 => 0,
            Version::Amf3 => 3,
        }
    }
}
