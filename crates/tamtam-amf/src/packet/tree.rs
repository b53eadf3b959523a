//! A packet as a tree.

use super::{
    Decoder, Encoder, HeaderRef, MessageRef, PacketDecodeError, PacketEncodeError, PacketLimits,
    Version,
};
use crate::amf0::Value;

/// A packet with all that is in it.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf0::Value;
/// use tamtam_amf::packet::{Message, Packet, Version};
///
/// let call = Packet {
///     version: Version::Amf0,
///     headers: vec![],
///     messages: vec![Message {
///         target: "Tiles.list".into(),
///         response: "/1".into(),
///         value: vec![Value::from("a set")].into(), // the arguments
///     }],
/// };
/// let bytes = call.encode()?;
/// assert_eq!(Packet::decode(&bytes, Default::default())?, call);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    /// Which format the client's objects are of.
    pub version: Version,
    /// What is said of all messages.
    pub headers: Vec<Header>,
    /// Calls, or answers.
    pub messages: Vec<Message>,
}

/// What is said of all messages of a packet.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf0::Value;
/// use tamtam_amf::packet::Header;
///
/// let credentials = Header {
///     name: "Credentials".into(),
///     must_understand: false,
///     value: Value::Object(vec![("userid".into(), "ada".into()), ("password".into(), "..".into())]),
/// };
/// assert_eq!(credentials.value.get("userid"), Some(&"ada".into()));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// What it is about.
    pub name: String,
    /// Whether a receiver that does not know the name has to refuse the packet.
    pub must_understand: bool,
    /// What it says.
    pub value: Value,
}

/// A call, or an answer.
///
/// # Examples
///
/// ```
/// use tamtam_amf::packet::Message;
///
/// let answer = Message { target: "/1/onResult".into(), response: "null".into(), value: 5.0.into() };
/// assert_eq!(answer.target.strip_suffix("/onResult"), Some("/1"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Whom it is for: of a call the service and the method, of an answer the call's response and `/onResult` or
    /// `/onStatus`.
    pub target: String,
    /// Where an answer is to go; `null` if there is none.
    pub response: String,
    /// Of a call the arguments, in an array; of an answer the result.
    pub value: Value,
}

impl Packet {
    /// The packet that `bytes` hold, with copies in the places of references.
    ///
    /// # Errors
    ///
    /// What is not a packet, what exceeds the limits, bytes after the packet, a value that contains itself.
    pub fn decode(bytes: &[u8], limits: PacketLimits) -> Result<Self, PacketDecodeError> {
        let mut decoder = Decoder::new(bytes, limits)?;
        let mut packet = Packet {
            version: decoder.version(),
            headers: Vec::new(),
            messages: Vec::new(),
        };
        while let Some(HeaderRef {
            name,
            must_understand,
            ..
        }) = decoder.next_header()?
        {
            packet.headers.push(Header {
                name: name.into(),
                must_understand,
                value: decoder.value()?,
            });
        }
        while let Some(MessageRef {
            target, response, ..
        }) = decoder.next_message()?
        {
            packet.messages.push(Message {
                target: target.into(),
                response: response.into(),
                value: decoder.value()?,
            });
        }
        decoder.finish()?;
        Ok(packet)
    }

    /// The bytes of this packet.
    ///
    /// # Errors
    ///
    /// A name, target or response longer than 65,535 bytes, more than 65,535 headers or messages, what cannot be written
    /// of a value: see [`amf0::encode`](crate::amf0::encode).
    pub fn encode(&self) -> Result<Vec<u8>, PacketEncodeError> {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, self.version);
        for header in &self.headers {
            encoder.write_header(&header.name, header.must_understand, &header.value)?;
        }
        for message in &self.messages {
            encoder.write_message(&message.target, &message.response, &message.value)?;
        }
        Ok(bytes)
    }
}
