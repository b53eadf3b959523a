//! Reads a packet part by part.

use super::{PacketDecodeError, PacketLimits, Part, UNKNOWN_LENGTH, Version};
use crate::amf0::{self, Event, Numbering, Value};
use crate::input::Input;
use crate::{Cause, DecodeError, Sharing, amf3};

/// A header, before its value. The name is borrowed from the packet.
///
/// # Examples
///
/// ```
/// use tamtam_amf::packet::{Decoder, HeaderRef};
///
/// let bytes = [0, 0, 0, 1, 0, 1, b'k', 1, 0xff, 0xff, 0xff, 0xff, 5, 0, 0];
/// let mut decoder = Decoder::new(&bytes, Default::default())?;
/// let header = HeaderRef { name: "k", must_understand: true, length: None };
/// assert_eq!(decoder.next_header()?, Some(header));
/// # Ok::<(), tamtam_amf::packet::PacketDecodeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderRef<'a> {
    /// What it is about.
    pub name: &'a str,
    /// Whether a receiver that does not know the name has to refuse the packet.
    pub must_understand: bool,
    /// The bytes of its value as its sender says; `None` if the sender does not know.
    pub length: Option<u32>,
}

/// A message, before its value. Texts are borrowed from the packet.
///
/// # Examples
///
/// ```
/// use tamtam_amf::packet::{Decoder, MessageRef};
///
/// let bytes = b"\0\0\0\0\0\x01\0\x06Echo.f\0\x02/1\0\0\0\x01\x05";
/// let mut decoder = Decoder::new(bytes, Default::default())?;
/// let message = MessageRef { target: "Echo.f", response: "/1", length: Some(1) };
/// assert_eq!(decoder.next_message()?, Some(message));
/// # Ok::<(), tamtam_amf::packet::PacketDecodeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageRef<'a> {
    /// Whom it is for.
    pub target: &'a str,
    /// Where an answer is to go; `null` if there is none.
    pub response: &'a str,
    /// The bytes of its value as its sender says; `None` if the sender does not know.
    pub length: Option<u32>,
}

/// Reads a packet part by part, and the values as trees or item by item; it trusts nothing.
///
/// A value that was not read, or not to its end, is read over by the next call. After an error a decoder is of no
/// more use, unless the error is of a value: then [`pass_value`](Self::pass_value) goes on behind it.
///
/// # Examples
///
/// ```
/// use tamtam_amf::packet::{Decoder, Encoder, Version};
///
/// let mut bytes = Vec::new();
/// let mut encoder = Encoder::new(&mut bytes, Version::Amf0);
/// encoder.write_header("Credentials", false, &"..".into())?;
/// encoder.write_message("Tiles.list", "/1", &vec!["a set".into()].into())?;
///
/// let mut decoder = Decoder::new(&bytes, Default::default())?;
/// while let Some(header) = decoder.next_header()? {
///     assert!(!header.must_understand); // its value is not looked at
/// }
/// while let Some(message) = decoder.next_message()? {
///     assert_eq!((message.target, message.response), ("Tiles.list", "/1"));
///     assert_eq!(decoder.value()?, vec!["a set".into()].into());
/// }
/// decoder.finish()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Decoder<'a> {
    /// Where values are read; what is between them is taken from its input.
    values: amf0::Decoder<'a>,
    limits: PacketLimits,
    version: Version,
    headers: u16,
    headers_read: u16,
    /// `None` until the headers are over.
    messages: Option<u16>,
    messages_read: u16,
    current: Current<'a>,
    /// The value of the part that was read last.
    pending: Option<Pending>,
}

/// The part that is read.
#[derive(Clone, Copy, Debug)]
enum Current<'a> {
    Frame,
    Header { index: u16, name: &'a str },
    Message { index: u16, target: &'a str },
}

/// A value that is not read to its end.
#[derive(Clone, Copy, Debug)]
struct Pending {
    begun: bool,
    start: usize,
    length: Option<u32>,
}

impl<'a> Decoder<'a> {
    /// A decoder of the packet that `bytes` hold.
    ///
    /// # Errors
    ///
    /// More bytes than the limit, another version than 0 and 3, more headers than the limit.
    pub fn new(bytes: &'a [u8], limits: PacketLimits) -> Result<Self, PacketDecodeError> {
        let mut decoder = Self {
            values: amf0::Decoder::new(bytes, limits.values),
            limits,
            version: Version::Amf0,
            headers: 0,
            headers_read: 0,
            messages: None,
            messages_read: 0,
            current: Current::Frame,
            pending: None,
        };
        match decoder.begin() {
            Ok(()) => Ok(decoder),
            Err(error) => Err(decoder.error(error)),
        }
    }

    fn begin(&mut self) -> Result<(), DecodeError> {
        let input = &mut self.values.input;
        input.check_bytes()?;
        self.version = match input.u16()? {
            0 => Version::Amf0,
            3 => Version::Amf3,
            other => return Input::error_at(0, Cause::Version(other)),
        };
        self.headers = self.count("headers", self.limits.headers)?;
        Ok(())
    }

    fn count(&mut self, what: &'static str, limit: usize) -> Result<u16, DecodeError> {
        let start = self.values.input.position();
        let announced = self.values.input.u16()?;
        let count = usize::from(announced);
        if count > limit {
            return Input::error_at(start, Cause::TooManyParts { what, count, limit });
        }
        Ok(announced)
    }

    /// This decoder with other externalizable classes in AMF3 than those of [Flex](amf3::Classes::flex).
    #[must_use]
    pub fn with_classes(mut self, classes: &amf3::Classes) -> Self {
        self.values = self.values.with_classes(classes);
        self
    }

    /// This decoder with another choice of what becomes of shared values in trees.
    #[must_use]
    pub fn with_sharing(mut self, sharing: Sharing) -> Self {
        self.values = self.values.with_sharing(sharing);
        self
    }

    /// This decoder for what a sender wrote that counts otherwise.
    #[must_use]
    pub fn with_numbering(mut self, numbering: Numbering) -> Self {
        self.values = self.values.with_numbering(numbering);
        self
    }

    /// Which format the client's objects are of.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// The offset in the packet, in bytes, of what is read next.
    #[must_use]
    pub fn position(&self) -> usize {
        self.values.position()
    }

    /// The next header; `None` after the last.
    ///
    /// # Errors
    ///
    /// What is not a packet, and what exceeds the limits, also in a value that is read over.
    pub fn next_header(&mut self) -> Result<Option<HeaderRef<'a>>, PacketDecodeError> {
        self.skip_value()?;
        if self.headers_read == self.headers {
            return Ok(None);
        }
        self.current = Current::Header {
            index: self.headers_read,
            name: "",
        };
        self.headers_read += 1;
        self.header().map(Some).map_err(|e| self.error(e))
    }

    fn header(&mut self) -> Result<HeaderRef<'a>, DecodeError> {
        let name = self.text()?;
        if let Current::Header { name: known, .. } = &mut self.current {
            *known = name;
        }
        Ok(HeaderRef {
            name,
            must_understand: self.values.input.byte()? != 0,
            length: self.begin_value()?,
        })
    }

    /// The next message; `None` after the last. Headers that were not read are read over.
    ///
    /// # Errors
    ///
    /// What is not a packet, and what exceeds the limits, also in what is read over.
    pub fn next_message(&mut self) -> Result<Option<MessageRef<'a>>, PacketDecodeError> {
        while self.next_header()?.is_some() {}
        let messages = match self.messages {
            Some(known) => known,
            None => {
                self.current = Current::Frame;
                let count = self.count("messages", self.limits.messages);
                let count = count.map_err(|e| self.error(e))?;
                self.messages = Some(count);
                count
            }
        };
        if self.messages_read == messages {
            return Ok(None);
        }
        self.current = Current::Message {
            index: self.messages_read,
            target: "",
        };
        self.messages_read += 1;
        self.message().map(Some).map_err(|e| self.error(e))
    }

    fn message(&mut self) -> Result<MessageRef<'a>, DecodeError> {
        let target = self.text()?;
        if let Current::Message { target: known, .. } = &mut self.current {
            *known = target;
        }
        Ok(MessageRef {
            target,
            response: self.text()?,
            length: self.begin_value()?,
        })
    }

    fn text(&mut self) -> Result<&'a str, DecodeError> {
        let length = self.values.input.u16()?;
        self.values.input.text(usize::from(length))
    }

    fn begin_value(&mut self) -> Result<Option<u32>, DecodeError> {
        let length = self.values.input.u32()?;
        let length = (length != UNKNOWN_LENGTH).then_some(length);
        self.pending = Some(Pending {
            begun: false,
            start: self.values.position(),
            length,
        });
        Ok(length)
    }

    /// The value of the header or message that was read last, as a tree with copies in the places of references.
    ///
    /// # Errors
    ///
    /// What is not AMF0, what exceeds the limits, a value that contains itself; the value was read already, or begun.
    pub fn value(&mut self) -> Result<Value, PacketDecodeError> {
        self.whole(amf0::Decoder::value)
    }

    /// As [`value`](Self::value), with [`Value::Reference`] where a reference is.
    ///
    /// # Errors
    ///
    /// What is not AMF0, what exceeds the limits; the value was read already, or begun.
    pub fn value_with_references(&mut self) -> Result<Value, PacketDecodeError> {
        self.whole(amf0::Decoder::value_with_references)
    }

    /// Has the value of the part that was read last read; whether it was, or else is left for another try.
    #[cfg(feature = "serde")]
    pub(crate) fn read_value(
        &mut self,
        read: impl FnOnce(&mut amf0::Decoder<'a>) -> Result<bool, DecodeError>,
    ) -> Result<(), PacketDecodeError> {
        let ended = match self.pending {
            Some(Pending { begun: false, .. }) => match read(&mut self.values) {
                Ok(true) => self.end_value(),
                Ok(false) => Ok(()),
                Err(error) => Err(error),
            },
            _ => self.values.input.error(Cause::NotAValue),
        };
        ended.map_err(|e| self.error(e))
    }

    fn whole(
        &mut self,
        read: impl FnOnce(&mut amf0::Decoder<'a>) -> Result<Value, DecodeError>,
    ) -> Result<Value, PacketDecodeError> {
        let value = match self.pending {
            Some(Pending { begun: false, .. }) => {
                read(&mut self.values).and_then(|value| self.end_value().map(|()| value))
            }
            _ => self.values.input.error(Cause::NotAValue),
        };
        value.map_err(|e| self.error(e))
    }

    /// The next item of the value of the header or message that was read last; `None` after its end.
    ///
    /// # Errors
    ///
    /// What is not AMF0, and what exceeds the limits.
    #[inline]
    pub fn next_event(&mut self) -> Result<Option<Event<'a>>, PacketDecodeError> {
        self.event().map_err(|e| self.error(e))
    }

    #[inline]
    fn event(&mut self) -> Result<Option<Event<'a>>, DecodeError> {
        let Some(pending) = &mut self.pending else {
            return Ok(None);
        };
        pending.begun = true;
        let event = match self.values.next_event()? {
            None => {
                let ended = Cause::Truncated { needed: 1, left: 0 };
                return self.values.input.error(ended);
            }
            event => event,
        };
        if self.values.is_at_top() {
            self.end_value()?;
        }
        Ok(event)
    }

    /// Reads over what is left of a value.
    fn skip_value(&mut self) -> Result<(), PacketDecodeError> {
        while self.pending.is_some() {
            self.next_event()?;
        }
        Ok(())
    }

    /// Passes over the value of the header or message that was read last, and gives its bytes: as many as its sender says, or
    /// those up to the end of the packet, if the sender does not know and it is the value of the last message.
    ///
    /// It is for values that cannot be read: it goes also where reading the value has failed, or has begun. The bytes are not
    /// looked at, and count for no limit.
    ///
    /// # Errors
    ///
    /// Fewer bytes are left than its sender says; another part follows, and the sender does not know how many bytes there are;
    /// the value was read already.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_amf::packet::Decoder;
    ///
    /// // A value of a type that is not known, and null.
    /// let bytes = b"\0\0\0\0\0\x02\0\x01a\0\x02/1\0\0\0\x02\x7f\0\0\x01b\0\x02/2\0\0\0\x01\x05";
    /// let mut decoder = Decoder::new(bytes, Default::default())?;
    /// decoder.next_message()?;
    /// assert!(decoder.value().is_err());
    /// assert_eq!(decoder.pass_value()?, b"\x7f\0");
    /// assert_eq!(decoder.next_message()?.map(|message| message.target), Some("b"));
    /// # Ok::<(), tamtam_amf::packet::PacketDecodeError>(())
    /// ```
    pub fn pass_value(&mut self) -> Result<&'a [u8], PacketDecodeError> {
        self.pass().map_err(|e| self.error(e))
    }

    fn pass(&mut self) -> Result<&'a [u8], DecodeError> {
        let Some(Pending { start, length, .. }) = self.pending else {
            return self.values.input.error(Cause::NotAValue);
        };
        self.values.go_back(start);
        let is_last = self.messages == Some(self.messages_read);
        let length = match length {
            Some(announced) => announced as usize,
            None if is_last => self.values.input.left(),
            None => return Input::error_at(start, Cause::UnknownLength),
        };
        let bytes = self.values.input.take(length)?;
        self.pending = None;
        Ok(bytes)
    }

    fn end_value(&mut self) -> Result<(), DecodeError> {
        let Some(Pending { start, length, .. }) = self.pending.take() else {
            return Ok(());
        };
        let bytes = self.values.position() - start;
        match length {
            Some(announced) if self.limits.exact_lengths && announced as usize != bytes => {
                Input::error_at(start, Cause::Length { announced, bytes })
            }
            _ => Ok(()),
        }
    }

    /// Checks that the packet ends where its bytes do. What was not read is read over.
    ///
    /// # Errors
    ///
    /// What is not a packet, what exceeds the limits, bytes after the packet.
    pub fn finish(mut self) -> Result<(), PacketDecodeError> {
        while self.next_message()?.is_some() {}
        self.current = Current::Frame;
        match self.values.input.left() {
            0 => Ok(()),
            left => {
                let trailing = self.values.input.error(Cause::Trailing { left });
                trailing.map_err(|e| self.error(e))
            }
        }
    }

    fn error(&self, error: DecodeError) -> PacketDecodeError {
        let part = match self.current {
            Current::Frame => Part::Frame,
            Current::Header { index, name } => Part::Header {
                index: usize::from(index),
                name: name.into(),
            },
            Current::Message { index, target } => Part::Message {
                index: usize::from(index),
                target: target.into(),
            },
        };
        PacketDecodeError { part, error }
    }
}
