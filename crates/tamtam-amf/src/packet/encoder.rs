//! Writes a packet part by part.

use super::{PacketEncodeError, Part, UNKNOWN_LENGTH, Version};
use crate::amf0::{self, Numbering, Value, name_length};
use crate::{EncodeError, amf3};

/// Bytes of the number of headers, and of that of messages.
const COUNT_BYTES: usize = 2;

/// Writes a packet at the end of a vector, part by part: headers, then messages.
///
/// What is written is a whole packet at any time: nothing has to be closed. A part that fails leaves no trace, so that
/// the message which says so can follow.
///
/// # Examples
///
/// ```
/// use tamtam_amf::packet::{Encoder, Packet, Version};
///
/// let mut bytes = Vec::new();
/// let mut encoder = Encoder::new(&mut bytes, Version::Amf0);
/// encoder.message("/1/onResult", "null", |value| {
///     value.begin_strict_array(1_000)?;
///     for row in 0..1_000 {
///         value.write_number(f64::from(row))?;
///     }
///     value.end()
/// })?;
/// encoder.write_message("/2/onResult", "null", &"done".into())?;
///
/// let packet = Packet::decode(&bytes, Default::default())?;
/// assert_eq!(packet.messages[1].value, "done".into());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Encoder<'out> {
    out: &'out mut Vec<u8>,
    /// Where the number of headers is.
    headers_at: usize,
    headers: u16,
    /// Where the number of messages is: at the end until the first of them is written.
    messages_at: usize,
    messages: u16,
    classes: amf3::Classes,
    numbering: Numbering,
}

impl<'out> Encoder<'out> {
    /// An encoder that writes at the end of `out`: at first a packet without headers and messages.
    pub fn new(out: &'out mut Vec<u8>, version: Version) -> Self {
        out.extend_from_slice(&version.number().to_be_bytes());
        let headers_at = out.len();
        out.extend_from_slice(&[0; 2 * COUNT_BYTES]);
        Self {
            out,
            headers_at,
            headers: 0,
            messages_at: headers_at + COUNT_BYTES,
            messages: 0,
            classes: amf3::Classes::default(),
            numbering: Numbering::Specification,
        }
    }

    /// This encoder for a reader that counts otherwise.
    #[must_use]
    pub fn with_numbering(self, numbering: Numbering) -> Self {
        Self { numbering, ..self }
    }

    /// This encoder with other externalizable classes in AMF3 than those of [Flex](amf3::Classes::flex).
    #[must_use]
    pub fn with_classes(mut self, classes: &amf3::Classes) -> Self {
        self.classes = classes.clone();
        self
    }

    /// How many bytes were written behind which this began, and by it.
    pub fn bytes(&self) -> usize {
        self.out.len()
    }

    /// Has room for so many bytes more, so that what was written does not move when they come.
    pub fn reserve(&mut self, bytes: usize) {
        self.out.reserve(bytes);
    }

    /// Writes a header from a tree.
    ///
    /// # Errors
    ///
    /// As [`header`](Self::header); what [`amf0::encode`] refuses.
    pub fn write_header(
        &mut self,
        name: &str,
        must_understand: bool,
        value: &Value,
    ) -> Result<(), PacketEncodeError> {
        self.header(name, must_understand, |encoder| encoder.write_value(value))
    }

    /// Writes a header: `write` has to write one value, whole.
    ///
    /// # Errors
    ///
    /// A message was written before, a name longer than 65,535 bytes, more than 65,535 headers, what `write` returns,
    /// another number of values than one.
    pub fn header(
        &mut self,
        name: &str,
        must_understand: bool,
        write: impl FnOnce(&mut amf0::Encoder<'_>) -> Result<(), EncodeError>,
    ) -> Result<(), PacketEncodeError> {
        let error = |error, index| PacketEncodeError {
            part: Part::Header {
                index: usize::from(index),
                name: name.into(),
            },
            error,
        };
        let index = self.headers;
        if self.messages > 0 {
            return Err(error(EncodeError::HeaderAfterMessage, index));
        }
        let count = one_more("headers", index).map_err(|e| error(e, index))?;
        let length = name_length(name).map_err(|e| error(e, index))?;
        // The number of messages, 0 until now, goes after this header.
        self.out.truncate(self.messages_at);
        self.text(length, name);
        self.out.push(u8::from(must_understand));
        let start = self.begin_value();
        let written = self.one_value(write);
        if written.is_ok() {
            self.end_value(start);
            self.messages_at = self.out.len();
            self.headers = count;
            self.set(self.headers_at, count);
        } else {
            self.out.truncate(self.messages_at);
        }
        self.out.extend_from_slice(&[0; COUNT_BYTES]);
        written.map_err(|e| error(e, index))
    }

    /// Writes a message from a tree.
    ///
    /// # Errors
    ///
    /// As [`message`](Self::message); what [`amf0::encode`] refuses.
    pub fn write_message(
        &mut self,
        target: &str,
        response: &str,
        value: &Value,
    ) -> Result<(), PacketEncodeError> {
        self.message(target, response, |encoder| encoder.write_value(value))
    }

    /// Writes a message: `write` has to write one value, whole.
    ///
    /// # Errors
    ///
    /// A target or response longer than 65,535 bytes, more than 65,535 messages, what `write` returns, another number of
    /// values than one.
    pub fn message(
        &mut self,
        target: &str,
        response: &str,
        write: impl FnOnce(&mut amf0::Encoder<'_>) -> Result<(), EncodeError>,
    ) -> Result<(), PacketEncodeError> {
        let part = self.message_part(target);
        let whole = self.out.len();
        let written = self
            .begin_message(target, response)
            .and_then(|begun| self.one_value(write).map(|()| begun));
        match written {
            Ok(begun) => {
                self.end_message(begun);
                Ok(())
            }
            Err(error) => {
                self.out.truncate(whole);
                Err(PacketEncodeError { part, error })
            }
        }
    }

    /// Writes a message whose value is made elsewhere: `write` has to append the bytes of one value of AMF0, for instance
    /// by a [`recordset::Encoder`](crate::recordset::Encoder), and to leave what is there before it.
    ///
    /// What is appended is not looked at.
    ///
    /// # Errors
    ///
    /// As [`message`](Self::message), but what `write` returns; nothing was appended.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_amf::packet::{Encoder, PacketEncodeError, Version};
    /// use tamtam_amf::recordset::{self, Cell, ServerInfo};
    ///
    /// let mut bytes = Vec::new();
    /// let mut encoder = Encoder::new(&mut bytes, Version::Amf0);
    /// encoder.message_bytes("/1/onResult", "null", |out| {
    ///     let mut rows = recordset::Encoder::new(out, ServerInfo::whole(["id"], 1), 1)?;
    ///     rows.write_row([Cell::Number(5.0)])?;
    ///     rows.finish()?;
    ///     Ok::<_, Box<dyn std::error::Error>>(())
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn message_bytes<E: From<PacketEncodeError>>(
        &mut self,
        target: &str,
        response: &str,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (whole, begun) = self.begin_bytes(target, response)?;
        let written = write(self.out);
        self.end_bytes(target, whole, begun, written)
    }

    /// As [`message_bytes`](Self::message_bytes), where the value is made over a while. What makes it may take the vector away, as to another
    /// thread, if it is back with what was there before it when that is ready.
    ///
    /// # Cancel safety
    ///
    /// What is in the vector is no packet where this is dropped before it is ready.
    ///
    /// # Errors
    ///
    /// As [`message_bytes`](Self::message_bytes).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::future::ready;
    /// use tamtam_amf::packet::{Encoder, PacketEncodeError, Version};
    ///
    /// async fn answer(encoder: &mut Encoder<'_>) -> Result<(), PacketEncodeError> {
    ///     let write = async |out: &mut Vec<u8>| {
    ///         let mut away = std::mem::take(out);
    ///         // The marker of null.
    ///         away.push(ready(5).await);
    ///         *out = away;
    ///         Ok(())
    ///     };
    ///     encoder.message_bytes_async("/1/onResult", "null", write).await
    /// }
    /// # let mut bytes = Vec::new();
    /// # let mut encoder = Encoder::new(&mut bytes, Version::Amf0);
    /// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    /// # let answered = std::pin::pin!(answer(&mut encoder)).poll(&mut context);
    /// # assert_eq!(answered, std::task::Poll::Ready(Ok(())));
    /// # let packet = tamtam_amf::packet::Packet::decode(&bytes, Default::default())?;
    /// # assert_eq!(packet.messages[0].value, tamtam_amf::amf0::Value::Null);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn message_bytes_async<E: From<PacketEncodeError>>(
        &mut self,
        target: &str,
        response: &str,
        write: impl AsyncFnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (whole, begun) = self.begin_bytes(target, response)?;
        let written = write(self.out).await;
        self.end_bytes(target, whole, begun, written)
    }

    /// Begins a message whose value is made elsewhere; how many bytes there were before it.
    fn begin_bytes(
        &mut self,
        target: &str,
        response: &str,
    ) -> Result<(usize, Begun), PacketEncodeError> {
        let whole = self.out.len();
        let begun = self.begin_message(target, response);
        let begun = begun.map_err(|error| PacketEncodeError {
            part: self.message_part(target),
            error,
        })?;
        Ok((whole, begun))
    }

    /// Ends it, unless its value was not made.
    fn end_bytes<E: From<PacketEncodeError>>(
        &mut self,
        target: &str,
        whole: usize,
        begun: Begun,
        written: Result<(), E>,
    ) -> Result<(), E> {
        let written = written.and_then(|()| match self.out.len() > begun.start {
            true => Ok(()),
            false => Err(E::from(PacketEncodeError {
                part: self.message_part(target),
                error: EncodeError::NotOneValue { written: 0 },
            })),
        });
        match written {
            Ok(()) => self.end_message(begun),
            Err(_) => self.out.truncate(whole),
        }
        written
    }

    fn message_part(&self, target: &str) -> Part {
        Part::Message {
            index: usize::from(self.messages),
            target: target.into(),
        }
    }

    fn begin_message(&mut self, target: &str, response: &str) -> Result<Begun, EncodeError> {
        let count = one_more("messages", self.messages)?;
        let target_length = name_length(target)?;
        let response_length = name_length(response)?;
        self.text(target_length, target);
        self.text(response_length, response);
        let start = self.begin_value();
        Ok(Begun { start, count })
    }

    fn end_message(&mut self, begun: Begun) {
        self.end_value(begun.start);
        self.messages = begun.count;
        self.set(self.messages_at, begun.count);
    }

    fn one_value(
        &mut self,
        write: impl FnOnce(&mut amf0::Encoder<'_>) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        let mut encoder = amf0::Encoder::new(self.out)
            .with_classes(&self.classes)
            .with_numbering(self.numbering);
        write(&mut encoder)?;
        encoder.finish_one()
    }

    fn text(&mut self, length: u16, text: &str) {
        self.out.extend_from_slice(&length.to_be_bytes());
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Leaves room for the length of a value; where the value starts.
    fn begin_value(&mut self) -> usize {
        self.out.extend_from_slice(&UNKNOWN_LENGTH.to_be_bytes());
        self.out.len()
    }

    /// Says how long the value is that started there; one of 4 GiB or more stays unknown.
    fn end_value(&mut self, start: usize) {
        let length = u32::try_from(self.out.len() - start).unwrap_or(UNKNOWN_LENGTH);
        self.out[start - 4..start].copy_from_slice(&length.to_be_bytes());
    }

    fn set(&mut self, place: usize, count: u16) {
        self.out[place..place + COUNT_BYTES].copy_from_slice(&count.to_be_bytes());
    }
}

/// A message whose value is being written.
struct Begun {
    /// Where its value starts.
    start: usize,
    /// How many messages there are with it.
    count: u16,
}

fn one_more(what: &'static str, count: u16) -> Result<u16, EncodeError> {
    count.checked_add(1).ok_or(EncodeError::TooLong {
        what,
        count: usize::from(count) + 1,
        limit: usize::from(u16::MAX),
    })
}
