//! Writes AMF0, item by item or from a tree.

use std::fmt;

use super::bytes::{
    OBJECT_TAIL, array_head, push_boolean, push_date, push_long_text, push_null, push_number,
    push_string,
};
use super::marker::{
    AVMPLUS, ECMA_ARRAY, NUMBER, OBJECT, REFERENCE, TYPED_OBJECT, UNDEFINED, UNSUPPORTED,
    XML_DOCUMENT,
};
use super::numbering::Numbering;
use crate::{EncodeError, MAX_DEPTH, amf3};

/// A name of a property, made ready once for many objects.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf0::Name;
///
/// assert_eq!(Name::new("x").unwrap().as_str(), "x");
/// assert!(Name::new(&"x".repeat(65_536)).is_err());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Name {
    /// Two bytes of length, the text, and the marker of a number, with which the name of a number is one piece.
    bytes: Box<[u8]>,
    text: Box<str>,
}

impl Name {
    /// Makes a name ready.
    ///
    /// # Errors
    ///
    /// A name longer than 65,535 bytes.
    pub fn new(name: &str) -> Result<Self, EncodeError> {
        let mut bytes = Vec::with_capacity(name.len() + 3);
        bytes.extend_from_slice(&name_length(name)?.to_be_bytes());
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(NUMBER);
        Ok(Self {
            bytes: bytes.into(),
            text: name.into(),
        })
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn without_marker(&self) -> &[u8] {
        &self.bytes[..self.bytes.len() - 1]
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Name").field(&self.text).finish()
    }
}

/// What is open, and what it expects.
#[derive(Clone, Copy, Debug)]
enum Frame {
    /// Nothing: the next value stands alone.
    Top,
    /// An object or an array with names; whether a name waits for its value.
    Named { waiting: bool },
    /// An array without names; how many values it still expects.
    Strict { left: u32 },
}

impl Frame {
    /// A value begins within what is open.
    #[inline]
    fn begin_value(&mut self) -> Result<(), EncodeError> {
        match self {
            Frame::Top => Ok(()),
            Frame::Strict { left: 0 } => Err(EncodeError::MoreThanAnnounced),
            Frame::Strict { left } => {
                *left -= 1;
                Ok(())
            }
            Frame::Named { waiting } if *waiting => {
                *waiting = false;
                Ok(())
            }
            Frame::Named { .. } => Err(EncodeError::NoName),
        }
    }
}

/// Writes values at the end of a vector, item by item.
///
/// What would not be AMF0 is refused: a value without a name in an object, another number of values than an array
/// announced, an end where nothing is open. What was written until then stays in the vector.
///
/// Each value that stands alone has a table of references of its own, as each body of a remoting packet has.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf0::{Encoder, Name, Value, decode};
///
/// let (x, y) = (Name::new("x")?, Name::new("y")?);
/// let mut bytes = Vec::new();
/// let mut encoder = Encoder::new(&mut bytes);
/// encoder.begin_strict_array(1_000)?;
/// for row in 0..1_000 {
///     encoder.begin_object()?;
///     encoder.property_number(&x, f64::from(row))?;
///     encoder.property_number(&y, 0.5)?;
///     encoder.end()?;
/// }
/// encoder.end()?;
/// encoder.finish()?;
///
/// let Value::StrictArray(rows) = decode(&bytes, Default::default())? else { panic!() };
/// assert_eq!(rows[999].get("x"), Some(&Value::Number(999.0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Encoder<'out> {
    out: &'out mut Vec<u8>,
    /// The innermost one that is open.
    frame: Frame,
    /// Those around it.
    around: Vec<Frame>,
    /// Values with a number that have begun, for references.
    begun: usize,
    numbering: Numbering,
    /// Values that have begun and stand alone.
    alone: usize,
    amf3: amf3::Tables,
    classes: amf3::Classes,
}

impl<'out> Encoder<'out> {
    /// An encoder that writes at the end of `out`.
    pub fn new(out: &'out mut Vec<u8>) -> Self {
        Self {
            out,
            frame: Frame::Top,
            around: Vec::new(),
            begun: 0,
            numbering: Numbering::Specification,
            alone: 0,
            amf3: amf3::Tables::default(),
            classes: amf3::Classes::default(),
        }
    }

    /// This encoder with other externalizable classes in its AMF3 than those of [Flex](amf3::Classes::flex).
    #[must_use]
    pub fn with_classes(mut self, classes: &amf3::Classes) -> Self {
        self.classes = classes.clone();
        self
    }

    /// This encoder for a reader that counts otherwise.
    #[must_use]
    pub fn with_numbering(self, numbering: Numbering) -> Self {
        Self { numbering, ..self }
    }

    /// Checks that nothing is left open.
    ///
    /// # Errors
    ///
    /// Containers that were not ended.
    pub fn finish(self) -> Result<(), EncodeError> {
        match self.around.len() {
            0 => Ok(()),
            open => Err(EncodeError::StillOpen { open }),
        }
    }

    /// Checks that one value was written, whole.
    pub(crate) fn finish_one(self) -> Result<(), EncodeError> {
        let written = self.alone;
        self.finish()?;
        match written {
            1 => Ok(()),
            written => Err(EncodeError::NotOneValue { written }),
        }
    }

    /// A value begins here.
    #[inline]
    fn begin_value(&mut self) -> Result<(), EncodeError> {
        match &mut self.frame {
            Frame::Top => {
                self.begun = 0;
                self.alone += 1;
                self.amf3.clear();
                Ok(())
            }
            frame => frame.begin_value(),
        }
    }

    /// A container begins here.
    #[inline]
    fn open(&mut self, frame: Frame) -> Result<(), EncodeError> {
        if self.around.len() >= MAX_DEPTH {
            return Err(EncodeError::TooDeep { limit: MAX_DEPTH });
        }
        // A copy, so that the frame is not written in parts and then read as a whole, which processors are slow at.
        let mut around = self.frame;
        match around {
            Frame::Top => self.begin_value()?,
            _ => around.begin_value()?,
        }
        self.begun += 1;
        self.around.push(around);
        self.frame = frame;
        Ok(())
    }

    /// Writes a number.
    ///
    /// # Errors
    ///
    /// Not the place for a value; so for each of the `write` and `begin` functions.
    #[inline]
    pub fn write_number(&mut self, number: f64) -> Result<(), EncodeError> {
        self.begin_value()?;
        push_number(self.out, number);
        Ok(())
    }

    /// Writes a boolean.
    ///
    /// # Errors
    ///
    /// Not the place for a value.
    #[inline]
    pub fn write_boolean(&mut self, boolean: bool) -> Result<(), EncodeError> {
        self.begin_value()?;
        push_boolean(self.out, boolean);
        Ok(())
    }

    /// Writes a text: as a string, or from 65,536 bytes on as a long string.
    ///
    /// # Errors
    ///
    /// Not the place for a value; 4 GiB or more.
    #[inline]
    pub fn write_string(&mut self, text: &str) -> Result<(), EncodeError> {
        length_of("bytes of text", text.len())?;
        self.begin_value()?;
        push_string(self.out, text)
    }

    /// Writes null.
    ///
    /// # Errors
    ///
    /// Not the place for a value.
    #[inline]
    pub fn write_null(&mut self) -> Result<(), EncodeError> {
        self.begin_value()?;
        push_null(self.out);
        Ok(())
    }

    /// Writes undefined.
    ///
    /// # Errors
    ///
    /// Not the place for a value.
    pub fn write_undefined(&mut self) -> Result<(), EncodeError> {
        self.write_marker(UNDEFINED)
    }

    /// Writes that something could not be written.
    ///
    /// # Errors
    ///
    /// Not the place for a value.
    pub fn write_unsupported(&mut self) -> Result<(), EncodeError> {
        self.write_marker(UNSUPPORTED)
    }

    fn write_marker(&mut self, marker: u8) -> Result<(), EncodeError> {
        self.begin_value()?;
        self.out.push(marker);
        Ok(())
    }

    /// Writes a point in time: milliseconds since 1970 in UTC, and a time zone in minutes that should be 0.
    ///
    /// # Errors
    ///
    /// Not the place for a value.
    pub fn write_date(&mut self, milliseconds: f64, time_zone: i16) -> Result<(), EncodeError> {
        self.begin_value()?;
        self.begun += usize::from(self.numbering.counts_leaves());
        push_date(self.out, milliseconds, time_zone);
        Ok(())
    }

    /// Writes an XML document, which is not looked at.
    ///
    /// # Errors
    ///
    /// Not the place for a value; 4 GiB or more.
    pub fn write_xml_document(&mut self, text: &str) -> Result<(), EncodeError> {
        let length = length_of("bytes of text", text.len())?;
        self.begin_value()?;
        push_long_text(self.out, XML_DOCUMENT, length, text);
        self.begun += usize::from(self.numbering.counts_leaves());
        Ok(())
    }

    /// Writes a reference to a container: objects and arrays count from 0, in the order in which they begin.
    ///
    /// # Errors
    ///
    /// Not the place for a value; a container that has not begun.
    pub fn write_reference(&mut self, index: u16) -> Result<(), EncodeError> {
        if matches!(self.frame, Frame::Top) || usize::from(index) >= self.begun {
            return Err(EncodeError::Reference {
                index: usize::from(index),
                known: if matches!(self.frame, Frame::Top) {
                    0
                } else {
                    self.begun
                },
            });
        }
        self.begin_value()?;
        self.out.push(REFERENCE);
        self.out.extend_from_slice(&index.to_be_bytes());
        Ok(())
    }

    /// Begins an object: then for each property its name and its value, then [`end`](Self::end).
    ///
    /// # Errors
    ///
    /// Not the place for a value; more than [`MAX_DEPTH`] containers within each other. So for all that begin.
    #[inline]
    pub fn begin_object(&mut self) -> Result<(), EncodeError> {
        self.open(Frame::Named { waiting: false })?;
        self.out.push(OBJECT);
        Ok(())
    }

    /// Begins an object with a class; it goes on as an [object](Self::begin_object) does.
    ///
    /// # Errors
    ///
    /// As an object; a name of the class longer than 65,535 bytes.
    pub fn begin_typed_object(&mut self, class: &str) -> Result<(), EncodeError> {
        let length = name_length(class)?;
        self.open(Frame::Named { waiting: false })?;
        self.out.push(TYPED_OBJECT);
        self.out.extend_from_slice(&length.to_be_bytes());
        self.out.extend_from_slice(class.as_bytes());
        Ok(())
    }

    /// Begins an array with names; it goes on as an [object](Self::begin_object) does. `announced` is the number of
    /// properties, a hint that readers may ignore.
    ///
    /// # Errors
    ///
    /// As an object.
    pub fn begin_ecma_array(&mut self, announced: u32) -> Result<(), EncodeError> {
        self.open(Frame::Named { waiting: false })?;
        self.out.push(ECMA_ARRAY);
        self.out.extend_from_slice(&announced.to_be_bytes());
        Ok(())
    }

    /// Begins an array of `length` values: these follow, then [`end`](Self::end).
    ///
    /// # Errors
    ///
    /// As an object.
    #[inline]
    pub fn begin_strict_array(&mut self, length: u32) -> Result<(), EncodeError> {
        self.open(Frame::Strict { left: length })?;
        self.out.extend_from_slice(&array_head(length));
        Ok(())
    }

    /// Writes the head of an array whose values the caller counts and writes to [`out`](Self::out).
    #[inline]
    pub(crate) fn write_array_head(&mut self, length: u32) -> Result<(), EncodeError> {
        self.begin_value()?;
        self.begun += 1;
        self.out.extend_from_slice(&array_head(length));
        Ok(())
    }

    /// Takes note of so many arrays or objects within an array, which the caller counts and writes to [`out`](Self::out), whole.
    pub(crate) fn begin_containers(&mut self, count: u32) -> Result<(), EncodeError> {
        let Frame::Strict { left } = &mut self.frame else {
            return Err(EncodeError::NoArray);
        };
        if self.around.len() >= MAX_DEPTH {
            return Err(EncodeError::TooDeep { limit: MAX_DEPTH });
        }
        *left = left
            .checked_sub(count)
            .ok_or(EncodeError::MoreThanAnnounced)?;
        self.begun += count as usize;
        Ok(())
    }

    /// Where the bytes go.
    #[inline]
    pub(crate) fn out(&mut self) -> &mut Vec<u8> {
        self.out
    }

    #[inline]
    fn expect_name(&mut self) -> Result<(), EncodeError> {
        match &mut self.frame {
            Frame::Named { waiting } if !*waiting => {
                *waiting = true;
                Ok(())
            }
            _ => Err(EncodeError::NameNotExpected),
        }
    }

    /// Writes the name of a property; its value follows.
    ///
    /// # Errors
    ///
    /// Not in an object or an array with names; longer than 65,535 bytes.
    pub fn property(&mut self, name: &str) -> Result<(), EncodeError> {
        let length = name_length(name)?;
        self.expect_name()?;
        self.out.reserve(2 + name.len());
        self.out.extend_from_slice(&length.to_be_bytes());
        self.out.extend_from_slice(name.as_bytes());
        Ok(())
    }

    /// Writes the name of a property that was made ready; its value follows.
    ///
    /// # Errors
    ///
    /// Not in an object or an array with names.
    #[inline]
    pub fn property_name(&mut self, name: &Name) -> Result<(), EncodeError> {
        self.expect_name()?;
        self.out.extend_from_slice(name.without_marker());
        Ok(())
    }

    /// Writes the name of a property that was made ready, and a number: faster than one after the other.
    ///
    /// # Errors
    ///
    /// Not in an object or an array with names.
    #[inline]
    pub fn property_number(&mut self, name: &Name, number: f64) -> Result<(), EncodeError> {
        if !matches!(self.frame, Frame::Named { waiting: false }) {
            return Err(EncodeError::NameNotExpected);
        }
        self.out.reserve(name.bytes.len() + 8);
        self.out.extend_from_slice(&name.bytes);
        self.out.extend_from_slice(&number.to_be_bytes());
        Ok(())
    }

    /// Writes the name of a property that was made ready, and a text.
    ///
    /// # Errors
    ///
    /// Not in an object or an array with names; 4 GiB or more.
    #[inline]
    pub fn property_string(&mut self, name: &Name, text: &str) -> Result<(), EncodeError> {
        self.property_name(name)?;
        self.write_string(text)
    }

    /// Ends the innermost object or array.
    ///
    /// # Errors
    ///
    /// Nothing is open; a name waits for its value; an array has fewer values than it announced.
    #[inline]
    pub fn end(&mut self) -> Result<(), EncodeError> {
        match self.frame {
            Frame::Strict { left: 0 } => {}
            Frame::Named { waiting: false } => self.out.extend_from_slice(&OBJECT_TAIL),
            Frame::Strict { left } => {
                return Err(EncodeError::FewerThanAnnounced {
                    left: left as usize,
                });
            }
            Frame::Named { waiting: true } => {
                return Err(EncodeError::FewerThanAnnounced { left: 1 });
            }
            Frame::Top => return Err(EncodeError::NothingOpen),
        }
        self.frame = self.around.pop().unwrap_or(Frame::Top);
        Ok(())
    }

    /// Writes a value in AMF3. All of them within one value of AMF0 share AMF3's tables.
    ///
    /// # Errors
    ///
    /// Not the place for a value; what the encoder of AMF3 refuses.
    pub fn write_avmplus(&mut self, value: &amf3::Value) -> Result<(), EncodeError> {
        self.avmplus(|encoder| encoder.write_value(value))
    }

    /// Writes a value in AMF3 item by item: `write` has to write one value, whole.
    ///
    /// # Errors
    ///
    /// Not the place for a value; what `write` returns; another number of values than one.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_amf::{amf0, amf3};
    ///
    /// let mut bytes = Vec::new();
    /// let mut encoder = amf0::Encoder::new(&mut bytes);
    /// encoder.begin_strict_array(1)?;
    /// encoder.avmplus(|within| within.write_integer(5))?;
    /// encoder.end()?;
    /// encoder.finish()?;
    ///
    /// let five = amf0::Value::Avmplus(Box::new(amf3::Value::Integer(5)));
    /// assert_eq!(amf0::decode(&bytes, Default::default())?, vec![five].into());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn avmplus(
        &mut self,
        write: impl FnOnce(&mut amf3::Encoder<'_>) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        self.begin_value()?;
        self.out.push(AVMPLUS);
        let tables = std::mem::take(&mut self.amf3);
        let classes = self.classes.clone();
        let mut encoder = amf3::Encoder::within(self.out, tables, classes, self.around.len());
        let written = write(&mut encoder);
        let (tables, whole) = encoder.finish_one();
        self.amf3 = tables;
        written.and(whole)
    }
}

#[inline]
pub(crate) fn name_length(name: &str) -> Result<u16, EncodeError> {
    u16::try_from(name.len()).map_err(|_| EncodeError::NameTooLong {
        bytes: name.len(),
        limit: usize::from(u16::MAX),
    })
}

pub(crate) fn length_of(what: &'static str, count: usize) -> Result<u32, EncodeError> {
    u32::try_from(count).map_err(|_| EncodeError::TooLong {
        what,
        count,
        limit: u32::MAX as usize,
    })
}
