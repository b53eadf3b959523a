//! Reads AMF0 item by item.

use super::marker::{
    AVMPLUS, BOOLEAN, DATE, ECMA_ARRAY, LONG_STRING, MOVIE_CLIP, NULL, NUMBER, OBJECT, OBJECT_END,
    RECORD_SET, REFERENCE, STRICT_ARRAY, STRING, TYPED_OBJECT, UNDEFINED, UNSUPPORTED,
    XML_DOCUMENT,
};
use super::numbering::Numbering;
use crate::input::Input;
use crate::{Cause, DecodeError, Limits, Sharing, amf3};

/// An item of AMF0. Texts are borrowed from the input.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf0::{Decoder, Event};
///
/// let mut decoder = Decoder::new(b"\x03\x00\x01x\x01\x01\x00\x00\x09", Default::default());
/// assert_eq!(decoder.next_event()?, Some(Event::BeginObject));
/// assert_eq!(decoder.next_event()?, Some(Event::Property("x")));
/// assert_eq!(decoder.next_event()?, Some(Event::Boolean(true)));
/// assert_eq!(decoder.next_event()?, Some(Event::End));
/// # Ok::<(), tamtam_amf::DecodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Event<'a> {
    /// A number.
    Number(f64),
    /// A boolean.
    Boolean(bool),
    /// A text, short or long.
    String(&'a str),
    /// Null.
    Null,
    /// Undefined.
    Undefined,
    /// What the sender could not write.
    Unsupported,
    /// The container with this number, which has begun: objects and arrays count from 0 in the order of their
    /// beginnings, and what else [`Numbering`] says.
    Reference(u16),
    /// A point in time: milliseconds since 1970 in UTC, and a time zone in minutes to be ignored.
    Date {
        /// Milliseconds.
        milliseconds: f64,
        /// Minutes.
        time_zone: i16,
    },
    /// An XML document, which was not looked at.
    XmlDocument(&'a str),
    /// An object begins: [`Property`](Self::Property) and a value in turn, then [`End`](Self::End).
    BeginObject,
    /// An object of this class begins; it goes on as an object does.
    BeginTypedObject(&'a str),
    /// An array with names begins; it goes on as an object does.
    BeginEcmaArray {
        /// How many properties the sender said there are: a hint, often wrong.
        announced: u32,
    },
    /// An array begins: so many values, then [`End`](Self::End).
    BeginStrictArray {
        /// How many values follow.
        length: u32,
    },
    /// The name of a property; its value follows.
    Property(&'a str),
    /// The innermost object or array ends.
    End,
    /// A value in AMF3, whole, with its references left as they are.
    Avmplus(Box<amf3::Value>),
}

/// What is open, and what it expects.
#[derive(Clone, Copy, Debug)]
pub(super) enum Frame {
    Top,
    /// An object or an array with names; whether a name was read whose value is next.
    Named {
        waiting: bool,
    },
    /// An array without names; how many values are left.
    Strict {
        left: u32,
    },
}

/// What is next.
enum Start<'a> {
    Value,
    Event(Event<'a>),
    Nothing,
}

/// Reads values item by item, without a tree, and trusts nothing.
///
/// Each value that stands alone has a table of references of its own. After an error a decoder is of no more use.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf0::{Decoder, Event};
///
/// let mut decoder = Decoder::new(b"\x03\0\x01x\x01\x01\0\0\x09", Default::default());
/// assert_eq!(decoder.next_event()?, Some(Event::BeginObject));
/// assert_eq!(decoder.next_event()?, Some(Event::Property("x")));
/// assert_eq!(decoder.next_event()?, Some(Event::Boolean(true)));
/// assert_eq!(decoder.next_event()?, Some(Event::End));
/// assert_eq!(decoder.next_event()?, None);
/// # Ok::<(), tamtam_amf::DecodeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    pub(crate) input: Input<'a>,
    pub(super) frame: Frame,
    pub(super) around: Vec<Frame>,
    /// Values with a number that have begun.
    pub(super) begun: usize,
    /// The tables of the AMF3 within this value.
    amf3: Option<Box<amf3::Decoder<'a>>>,
    classes: amf3::Classes,
    /// References in that AMF3.
    pub(super) amf3_references: Option<Box<amf3::References>>,
    pub(super) sharing: Sharing,
    pub(super) numbering: Numbering,
    /// Whether the tree that is read is to have no references.
    pub(super) refuses: bool,
}

impl<'a> Decoder<'a> {
    /// A decoder of `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8], limits: Limits) -> Self {
        Self {
            input: Input::new(bytes, limits),
            frame: Frame::Top,
            around: Vec::new(),
            begun: 0,
            amf3: None,
            classes: amf3::Classes::default(),
            amf3_references: None,
            sharing: Sharing::Copy,
            numbering: Numbering::Specification,
            refuses: false,
        }
    }

    /// This decoder with another choice of what becomes of shared values in trees.
    #[must_use]
    pub fn with_sharing(self, sharing: Sharing) -> Self {
        Self { sharing, ..self }
    }

    /// This decoder with other externalizable classes in its AMF3 than those of [Flex](amf3::Classes::flex).
    #[must_use]
    pub fn with_classes(mut self, classes: &amf3::Classes) -> Self {
        self.classes = classes.clone();
        self
    }

    /// This decoder for what a sender wrote that counts otherwise.
    #[must_use]
    pub fn with_numbering(self, numbering: Numbering) -> Self {
        Self { numbering, ..self }
    }

    /// The offset of the next item, in bytes.
    #[must_use]
    pub fn position(&self) -> usize {
        self.input.position()
    }

    /// Checks that all bytes were read.
    ///
    /// # Errors
    ///
    /// Bytes are left.
    pub fn finish(self) -> Result<(), DecodeError> {
        match self.input.left() {
            0 => Ok(()),
            left => self.input.error(Cause::Trailing { left }),
        }
    }

    /// The next item; `None` where the input ends after a whole value.
    ///
    /// # Errors
    ///
    /// What is not AMF0, and what exceeds the limits.
    #[inline]
    pub fn next_event(&mut self) -> Result<Option<Event<'a>>, DecodeError> {
        match self.next_start()? {
            Start::Value => self.value_event().map(Some),
            Start::Event(event) => Ok(Some(event)),
            Start::Nothing => Ok(None),
        }
    }

    /// What is next, up to the marker of a value.
    #[inline]
    fn next_start(&mut self) -> Result<Start<'a>, DecodeError> {
        match &mut self.frame {
            Frame::Strict { left: 0 } => return Ok(Start::Event(self.close())),
            Frame::Strict { left } => {
                *left -= 1;
                self.input.pay();
            }
            Frame::Named { waiting } => {
                *waiting = !*waiting;
                if *waiting {
                    let length = self.input.u16()?;
                    if length == 0 && self.input.peek() == Some(OBJECT_END) {
                        self.input.take(1)?;
                        return Ok(Start::Event(self.close()));
                    }
                    let name = self.input.text(usize::from(length))?;
                    return Ok(Start::Event(Event::Property(name)));
                }
            }
            Frame::Top => {
                if self.input.left() == 0 {
                    return Ok(Start::Nothing);
                }
                self.begun = 0;
                self.amf3 = None;
            }
        }
        Ok(Start::Value)
    }

    /// Whether the next item is a value, or the beginning of one.
    pub(super) fn expects_value(&self) -> bool {
        !matches!(
            self.frame,
            Frame::Strict { left: 0 } | Frame::Named { waiting: false }
        )
    }

    /// Goes back to the beginning of a value that stands alone, wherever reading it has ended.
    pub(crate) fn go_back(&mut self, position: usize) {
        self.input.go_back(position);
        self.frame = Frame::Top;
        self.around.clear();
        self.amf3 = None;
        self.amf3_references = None;
    }

    /// Whether what is next stands alone.
    pub(crate) fn is_at_top(&self) -> bool {
        matches!(self.frame, Frame::Top)
    }

    /// Values of AMF3 with a place in its table that have begun.
    pub(super) fn amf3_begun(&self) -> usize {
        self.amf3.as_ref().map_or(0, |decoder| decoder.begun)
    }

    pub(super) fn close(&mut self) -> Event<'a> {
        self.frame = self.around.pop().unwrap_or(Frame::Top);
        self.input.leave();
        Event::End
    }

    fn open(&mut self, frame: Frame, start: usize) -> Result<(), DecodeError> {
        self.input.enter(start)?;
        self.begun += 1;
        self.around.push(self.frame);
        self.frame = frame;
        Ok(())
    }

    fn open_named(&mut self, start: usize) -> Result<(), DecodeError> {
        self.open(Frame::Named { waiting: false }, start)
    }

    #[inline]
    fn value_event(&mut self) -> Result<Event<'a>, DecodeError> {
        self.input.count_value()?;
        let start = self.input.position();
        let input = &mut self.input;
        Ok(match input.byte()? {
            NUMBER => Event::Number(input.f64()?),
            BOOLEAN => Event::Boolean(input.byte()? != 0),
            STRING => {
                let length = input.u16()?;
                Event::String(input.text(usize::from(length))?)
            }
            LONG_STRING => {
                let length = input.u32()?;
                Event::String(input.text(length as usize)?)
            }
            XML_DOCUMENT => {
                self.begun += usize::from(self.numbering.counts_leaves());
                let length = input.u32()?;
                Event::XmlDocument(input.text(length as usize)?)
            }
            NULL => Event::Null,
            UNDEFINED => Event::Undefined,
            UNSUPPORTED => Event::Unsupported,
            REFERENCE => {
                let index = input.u16()?;
                if usize::from(index) >= self.begun {
                    return Input::error_at(
                        start,
                        Cause::Reference {
                            index: usize::from(index),
                            known: self.begun,
                        },
                    );
                }
                Event::Reference(index)
            }
            DATE => {
                self.begun += usize::from(self.numbering.counts_leaves());
                Event::Date {
                    milliseconds: input.f64()?,
                    time_zone: input.i16()?,
                }
            }
            OBJECT => {
                self.open_named(start)?;
                Event::BeginObject
            }
            TYPED_OBJECT => {
                let length = input.u16()?;
                let class = input.text(usize::from(length))?;
                self.open_named(start)?;
                Event::BeginTypedObject(class)
            }
            ECMA_ARRAY => {
                let announced = input.u32()?;
                self.open_named(start)?;
                Event::BeginEcmaArray { announced }
            }
            STRICT_ARRAY => {
                let length = input.u32()?;
                input.announce(length as usize, start)?;
                self.open(Frame::Strict { left: length }, start)?;
                Event::BeginStrictArray { length }
            }
            AVMPLUS => Event::Avmplus(self.avmplus()?),
            OBJECT_END => return Input::error_at(start, Cause::ObjectEnd),
            marker @ (MOVIE_CLIP | RECORD_SET) => {
                return Input::error_at(start, Cause::Reserved(marker));
            }
            marker => return Input::error_at(start, Cause::Marker(marker)),
        })
    }

    /// The decoder of the AMF3 within, at this place.
    fn begin_within(&mut self) -> &mut amf3::Decoder<'a> {
        let decoder = self
            .amf3
            .get_or_insert_with(|| Box::new(amf3::Decoder::within(self.input, &self.classes)));
        decoder.input = self.input;
        decoder
    }

    fn avmplus(&mut self) -> Result<Box<amf3::Value>, DecodeError> {
        let refuses = self.refuses;
        let references = self.amf3_references.take();
        let decoder = self.begin_within();
        decoder.refuses = refuses;
        decoder.references = references;
        let value = decoder.tree();
        let references = decoder.references.take();
        self.input = decoder.input;
        self.amf3_references = references;
        Ok(Box::new(value?))
    }
}

/// What is next, where the items of AMF3 are read one by one as well.
#[cfg(feature = "serde")]
pub(crate) enum Streamed<'a> {
    Event(Event<'a>),
    /// A value of AMF3, whose items [`Decoder::within`] reads until [`Decoder::within_ended`].
    Within,
    Nothing,
}

#[cfg(feature = "serde")]
impl<'a> Decoder<'a> {
    pub(crate) fn next_streamed(&mut self) -> Result<Streamed<'a>, DecodeError> {
        match self.next_start()? {
            Start::Event(event) => return Ok(Streamed::Event(event)),
            Start::Nothing => return Ok(Streamed::Nothing),
            Start::Value => {}
        }
        if self.input.peek() != Some(AVMPLUS) {
            return self.value_event().map(Streamed::Event);
        }
        self.input.count_value()?;
        self.input.byte()?;
        self.begin_within();
        Ok(Streamed::Within)
    }

    pub(crate) fn within(&mut self) -> Option<&mut amf3::Decoder<'a>> {
        self.amf3.as_deref_mut()
    }

    pub(crate) fn within_position(&self) -> usize {
        let within = self.amf3.as_ref();
        within.map_or_else(|| self.position(), |within| within.position())
    }

    /// Whether the value of AMF3 has ended; then what follows is read here.
    pub(crate) fn within_ended(&mut self) -> bool {
        match &self.amf3 {
            Some(within) if within.is_at_top() => {
                self.input = within.input;
                true
            }
            _ => false,
        }
    }

    /// Forgets the tables of the value before, if the next one stands alone.
    pub(crate) fn forget(&mut self) {
        if self.is_at_top() {
            self.amf3 = None;
        }
    }
}
