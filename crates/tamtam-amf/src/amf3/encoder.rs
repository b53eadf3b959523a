//! Writes AMF3, item by item or from a tree.

use std::sync::Arc;

use super::external::Classes;
use super::integer::{self, MAX_INTEGER, MAX_LENGTH, MIN_INTEGER, check_name, length_of};
use super::marker::{
    ARRAY, BYTE_ARRAY, DATE, DICTIONARY, DOUBLE, FALSE, INTEGER, NULL, OBJECT, STRING, TRUE,
    UNDEFINED, VECTOR_OBJECT, XML, XML_DOCUMENT,
};
use super::tables::{EMPTY, MAX_TRAITS, Tables};
use super::traits::{Traits, TraitsId};
use crate::{EncodeError, MAX_DEPTH};

/// What is open, and what it expects.
#[derive(Clone, Copy, Debug)]
pub(super) enum Frame {
    /// Nothing: the next value stands alone.
    Top,
    /// The names of an array, before its values; whether a name waits for its value.
    Names { waiting: bool, dense: u32 },
    /// An object: sealed values that it still expects; whether it may have others, and one waits for its value.
    Object {
        sealed: u32,
        dynamic: bool,
        waiting: bool,
    },
    /// Values without names; how many are still expected.
    Values { left: u32 },
    /// What an externalizable class writes.
    External,
}

/// Writes values at the end of a vector, item by item, and refers to texts and traits that it wrote before.
///
/// What would not be AMF3 is refused, as by [`amf0::Encoder`](crate::amf0::Encoder). What was written until then
/// stays in the vector.
///
/// Each value that stands alone has tables of its own, as for `ByteArray.writeObject` of Flash.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf3::{Encoder, Traits, Value, decode};
///
/// let mut bytes = Vec::new();
/// let mut encoder = Encoder::new(&mut bytes);
/// let row = encoder.define_traits(Traits::sealed("", ["id", "colour"]))?;
/// encoder.begin_array(1_000)?;
/// for id in 0..1_000 {
///     encoder.begin_object(row)?;
///     encoder.write_integer(id)?;
///     encoder.write_string("red")?;
///     encoder.end()?;
/// }
/// encoder.end()?;
/// encoder.finish()?;
///
/// let Value::Array(rows) = decode(&bytes, Default::default())? else { panic!() };
/// assert_eq!(rows.dense[999].get("id"), Some(&Value::Integer(999)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Encoder<'out> {
    pub(super) out: &'out mut Vec<u8>,
    /// The innermost one that is open.
    pub(super) frame: Frame,
    /// Those around it.
    around: Vec<Frame>,
    pub(super) tables: Tables,
    pub(super) classes: Classes,
    /// Objects of classes of one's own that are open.
    pub(super) own_depth: usize,
    /// Values that have begun and stand alone.
    alone: usize,
    /// Within a value of AMF0: how many containers are open there. The tables are then AMF0's to clear.
    within: Option<usize>,
}

impl<'out> Encoder<'out> {
    /// An encoder that writes at the end of `out`.
    pub fn new(out: &'out mut Vec<u8>) -> Self {
        Self {
            out,
            frame: Frame::Top,
            around: Vec::new(),
            tables: Tables::default(),
            classes: Classes::default(),
            own_depth: 0,
            alone: 0,
            within: None,
        }
    }

    /// This encoder with other externalizable classes than those of [Flex](Classes::flex).
    #[must_use]
    pub fn with_classes(mut self, classes: &Classes) -> Self {
        self.classes = classes.clone();
        self
    }

    /// An encoder of one value within a value of AMF0.
    pub(crate) fn within(
        out: &'out mut Vec<u8>,
        tables: Tables,
        classes: Classes,
        depth: usize,
    ) -> Self {
        Self {
            tables,
            classes,
            within: Some(depth),
            ..Self::new(out)
        }
    }

    /// The tables, and whether one value was written, whole.
    pub(crate) fn finish_one(self) -> (Tables, Result<(), EncodeError>) {
        let whole = match (self.around.len(), self.alone) {
            (0, 1) => Ok(()),
            (0, written) => Err(EncodeError::NotOneValue { written }),
            (open, _) => Err(EncodeError::StillOpen { open }),
        };
        (self.tables, whole)
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

    /// A value begins here.
    #[inline]
    fn begin_value(&mut self) -> Result<(), EncodeError> {
        match &mut self.frame {
            Frame::Values { left: 0 } => Err(EncodeError::MoreThanAnnounced),
            Frame::Values { left } => {
                *left -= 1;
                Ok(())
            }
            Frame::Object {
                sealed: 0,
                dynamic,
                waiting,
            } => match (std::mem::take(waiting), *dynamic) {
                (true, _) => Ok(()),
                (false, true) => Err(EncodeError::NoName),
                (false, false) => Err(EncodeError::MoreThanAnnounced),
            },
            Frame::Object { sealed, .. } => {
                *sealed -= 1;
                Ok(())
            }
            Frame::Names { waiting, .. } if *waiting => {
                *waiting = false;
                Ok(())
            }
            Frame::External => Ok(()),
            Frame::Names { dense: 0, .. } => Err(EncodeError::MoreThanAnnounced),
            Frame::Names { dense, .. } => {
                self.frame = Frame::Values { left: *dense - 1 };
                self.out.push(EMPTY);
                Ok(())
            }
            Frame::Top => {
                self.alone += 1;
                if self.within.is_none() {
                    self.tables.clear();
                }
                Ok(())
            }
        }
    }

    /// A container begins here.
    pub(super) fn open(&mut self, marker: u8, frame: Frame) -> Result<(), EncodeError> {
        if self.around.len() + self.within.unwrap_or(0) >= MAX_DEPTH {
            return Err(EncodeError::TooDeep { limit: MAX_DEPTH });
        }
        self.begin_referable(marker)?;
        self.around.push(self.frame);
        self.frame = frame;
        Ok(())
    }

    /// A value that can be referred to begins here.
    pub(super) fn begin_referable(&mut self, marker: u8) -> Result<(), EncodeError> {
        self.begin_value()?;
        self.tables.values.push(marker);
        self.out.push(marker);
        Ok(())
    }

    fn write_marker(&mut self, marker: u8) -> Result<(), EncodeError> {
        self.begin_value()?;
        self.out.push(marker);
        Ok(())
    }

    /// Writes a length that was checked, with the bit that tells it from a reference.
    pub(super) fn write_length(&mut self, length: u32) {
        integer::write(self.out, length << 1 | 1);
    }

    /// Writes a text whose length was checked, or refers to it if it was written before.
    #[inline]
    fn write_text(&mut self, text: &str) {
        self.tables.write_text(text, self.out);
    }

    /// Writes undefined.
    ///
    /// # Errors
    ///
    /// Not the place for a value; so for each of the `write` and `begin` functions.
    pub fn write_undefined(&mut self) -> Result<(), EncodeError> {
        self.write_marker(UNDEFINED)
    }

    /// Writes null.
    ///
    /// # Errors
    ///
    /// Not the place for a value.
    pub fn write_null(&mut self) -> Result<(), EncodeError> {
        self.write_marker(NULL)
    }

    /// Writes a boolean.
    ///
    /// # Errors
    ///
    /// Not the place for a value.
    #[inline]
    pub fn write_boolean(&mut self, boolean: bool) -> Result<(), EncodeError> {
        self.write_marker(if boolean { TRUE } else { FALSE })
    }

    /// Writes an integer, or a double if it is not within [`MIN_INTEGER`] and [`MAX_INTEGER`].
    ///
    /// # Errors
    ///
    /// Not the place for a value.
    #[inline]
    pub fn write_integer(&mut self, number: i32) -> Result<(), EncodeError> {
        if !(MIN_INTEGER..=MAX_INTEGER).contains(&number) {
            return self.write_double(f64::from(number));
        }
        self.begin_value()?;
        match u8::try_from(number) {
            Ok(byte @ 0..0x80) => self.out.extend_from_slice(&[INTEGER, byte]),
            _ => {
                self.out.push(INTEGER);
                integer::write(self.out, number.cast_unsigned());
            }
        }
        Ok(())
    }

    /// Writes a number as a double.
    ///
    /// # Errors
    ///
    /// Not the place for a value.
    #[inline]
    pub fn write_double(&mut self, number: f64) -> Result<(), EncodeError> {
        self.begin_value()?;
        let mut bytes = [DOUBLE; 9];
        bytes[1..].copy_from_slice(&number.to_be_bytes());
        self.out.extend_from_slice(&bytes);
        Ok(())
    }

    /// Writes a text, or refers to it if it was written before.
    ///
    /// # Errors
    ///
    /// Not the place for a value; 256 MiB or more.
    #[inline]
    pub fn write_string(&mut self, text: &str) -> Result<(), EncodeError> {
        length_of("bytes of text", text.len())?;
        self.write_marker(STRING)?;
        self.write_text(text);
        Ok(())
    }

    /// Writes an XML document of the older kind, which is not looked at.
    ///
    /// # Errors
    ///
    /// Not the place for a value; 256 MiB or more.
    pub fn write_xml_document(&mut self, text: &str) -> Result<(), EncodeError> {
        self.write_content(XML_DOCUMENT, text.as_bytes())
    }

    /// Writes XML of the newer kind, which is not looked at.
    ///
    /// # Errors
    ///
    /// Not the place for a value; 256 MiB or more.
    pub fn write_xml(&mut self, text: &str) -> Result<(), EncodeError> {
        self.write_content(XML, text.as_bytes())
    }

    /// Writes bytes.
    ///
    /// # Errors
    ///
    /// Not the place for a value; 256 MiB or more.
    pub fn write_byte_array(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.write_content(BYTE_ARRAY, bytes)
    }

    fn write_content(&mut self, marker: u8, content: &[u8]) -> Result<(), EncodeError> {
        let length = length_of("bytes", content.len())?;
        self.begin_referable(marker)?;
        self.write_length(length);
        self.out.extend_from_slice(content);
        Ok(())
    }

    /// Writes a point in time, in milliseconds since 1970 in UTC.
    ///
    /// # Errors
    ///
    /// Not the place for a value.
    pub fn write_date(&mut self, milliseconds: f64) -> Result<(), EncodeError> {
        self.begin_referable(DATE)?;
        self.out.push(1);
        self.out.extend_from_slice(&milliseconds.to_be_bytes());
        Ok(())
    }

    /// Writes a reference to a value: dates, XML, bytes, objects and all that contains values count from 0, in the
    /// order in which they begin.
    ///
    /// # Errors
    ///
    /// Not the place for a value; a value that has not begun.
    pub fn write_reference(&mut self, index: u32) -> Result<(), EncodeError> {
        let forgotten = matches!(self.frame, Frame::Top) && self.within.is_none();
        let known = if forgotten {
            0
        } else {
            self.tables.values.len()
        };
        if index as usize >= known.min(MAX_LENGTH + 1) {
            return Err(EncodeError::Reference {
                index: index as usize,
                known,
            });
        }
        self.write_marker(self.tables.values[index as usize])?;
        integer::write(self.out, index << 1);
        Ok(())
    }

    /// Begins an array of `length` values: first, if there are any, [names](Self::property) each with a value,
    /// which `length` does not count, then the values, then [`end`](Self::end).
    ///
    /// # Errors
    ///
    /// Not the place for a value; more than 2²⁸ − 1 values; more than [`MAX_DEPTH`] containers within each other. So
    /// for all that begin.
    pub fn begin_array(&mut self, length: usize) -> Result<(), EncodeError> {
        let dense = length_of("values", length)?;
        self.open(
            ARRAY,
            Frame::Names {
                waiting: false,
                dense,
            },
        )?;
        self.write_length(dense);
        Ok(())
    }

    /// Begins an object: a value for each sealed member, in the order of the traits, then, if these allow it,
    /// [names](Self::property) each with a value, then [`end`](Self::end).
    ///
    /// # Errors
    ///
    /// As an array; traits that this encoder does not know.
    #[inline]
    pub fn begin_object(&mut self, traits: TraitsId) -> Result<(), EncodeError> {
        let Some(defined) = self.tables.defined.get(traits.0) else {
            return Err(EncodeError::UnknownTraits);
        };
        // Checked when they were defined.
        let sealed = u32::try_from(defined.traits.members.len()).unwrap_or(0);
        let frame = Frame::Object {
            sealed,
            dynamic: defined.traits.dynamic,
            waiting: false,
        };
        self.open(OBJECT, frame)?;
        // Not earlier: where an object stands alone, the tables were just cleared.
        match self.tables.defined[traits.0].place {
            Some(place) => integer::write(self.out, place << 2 | 0b01),
            None => self.write_traits(traits, sealed),
        }
        Ok(())
    }

    fn write_traits(&mut self, traits: TraitsId, sealed: u32) {
        let known = Arc::clone(&self.tables.defined[traits.0].traits);
        integer::write(
            self.out,
            sealed << 4 | u32::from(known.dynamic) << 3 | 0b0011,
        );
        self.write_text(&known.class);
        for member in &known.members {
            self.write_text(member);
        }
        if self.tables.traits <= MAX_TRAITS {
            self.tables.defined[traits.0].place = Some(self.tables.traits);
        }
        self.tables.traits = self.tables.traits.saturating_add(1);
    }

    /// Containers that are open.
    pub(super) fn open_containers(&self) -> usize {
        self.around.len()
    }

    /// Begins an object without a class and without sealed members: [names](Self::property) each with a value, then
    /// [`end`](Self::end).
    ///
    /// # Errors
    ///
    /// As an array.
    pub fn begin_anonymous_object(&mut self) -> Result<(), EncodeError> {
        let traits = match self.tables.anonymous {
            Some(known) => known,
            None => self.define_traits(Traits::dynamic(""))?,
        };
        self.tables.anonymous = Some(traits);
        self.begin_object(traits)
    }

    /// Begins a vector of `length` values of a class, `*` for any: the values, then [`end`](Self::end).
    ///
    /// # Errors
    ///
    /// As an array; a name of 256 MiB or more.
    pub fn begin_vector(
        &mut self,
        class: &str,
        fixed: bool,
        length: usize,
    ) -> Result<(), EncodeError> {
        let left = length_of("values", length)?;
        check_name(class)?;
        self.open(VECTOR_OBJECT, Frame::Values { left })?;
        self.write_length(left);
        self.out.push(u8::from(fixed));
        self.write_text(class);
        Ok(())
    }

    /// Begins a dictionary of `length` entries: a key and a value for each, then [`end`](Self::end).
    ///
    /// # Errors
    ///
    /// As an array.
    pub fn begin_dictionary(&mut self, weak_keys: bool, length: usize) -> Result<(), EncodeError> {
        let entries = length_of("entries", length)?;
        self.open(DICTIONARY, Frame::Values { left: 2 * entries })?;
        self.write_length(entries);
        self.out.push(u8::from(weak_keys));
        Ok(())
    }

    /// Writes the name of a property; its value follows.
    ///
    /// # Errors
    ///
    /// Not among the names of an array, nor in an object whose sealed values are written and that may have others;
    /// empty; 256 MiB or longer.
    pub fn property(&mut self, name: &str) -> Result<(), EncodeError> {
        check_name(name)?;
        if name.is_empty() {
            return Err(EncodeError::EmptyName);
        }
        match &mut self.frame {
            Frame::Names { waiting, .. }
            | Frame::Object {
                sealed: 0,
                dynamic: true,
                waiting,
            } if !*waiting => *waiting = true,
            _ => return Err(EncodeError::NameNotExpected),
        }
        self.write_text(name);
        Ok(())
    }

    /// Ends the innermost container.
    ///
    /// # Errors
    ///
    /// Nothing is open; a name waits for its value; there are fewer values than were announced.
    #[inline]
    pub fn end(&mut self) -> Result<(), EncodeError> {
        let left = match self.frame {
            Frame::Values { left }
            | Frame::Object {
                sealed: left @ 1.., ..
            } => left,
            Frame::Names { waiting: true, .. } | Frame::Object { waiting: true, .. } => 1,
            Frame::Names { dense, .. } => {
                if dense == 0 {
                    self.out.push(EMPTY);
                }
                dense
            }
            Frame::Object { dynamic, .. } => {
                if dynamic {
                    self.out.push(EMPTY);
                }
                0
            }
            Frame::External => 0,
            Frame::Top => return Err(EncodeError::NothingOpen),
        };
        if left > 0 {
            return Err(EncodeError::FewerThanAnnounced {
                left: left as usize,
            });
        }
        self.frame = self.around.pop().unwrap_or(Frame::Top);
        Ok(())
    }
}
