//! Reads AMF3 item by item.

use std::sync::Arc;

use super::event::Event;
use super::external::{Classes, Externalizable, Flags, Form};
use super::integer;
use super::marker::{
    ARRAY, BYTE_ARRAY, DATE, DICTIONARY, DOUBLE, FALSE, INTEGER, NULL, OBJECT, STRING, TRUE,
    UNDEFINED, VECTOR_DOUBLE, VECTOR_INT, VECTOR_OBJECT, VECTOR_UINT, XML, XML_DOCUMENT,
};
use super::traits::Traits;
use super::tree::References;
use crate::input::Input;
use crate::{Cause, DecodeError, Limits, Sharing};

/// What is open, and what it expects.
#[derive(Clone, Copy, Debug)]
pub(super) enum Frame {
    Top,
    /// Names with values; whether a name was read whose value is next. After the names of an array so many values
    /// follow without.
    Names {
        waiting: bool,
        dense: u32,
    },
    /// Values without names; how many are left, and whether names follow.
    Values {
        left: u32,
        names: bool,
    },
    /// Members of an externalizable object that flags name; whether a name was read whose value is next.
    Flags {
        waiting: bool,
    },
    /// What a class of one's own reads.
    Own,
}

/// What an object's traits say.
#[derive(Clone, Debug)]
pub(super) enum Described<'a> {
    Plain {
        traits: Arc<Traits>,
        /// As it was read.
        class: &'a str,
        #[cfg(feature = "serde")]
        members: Vec<&'a str>,
    },
    Externalizable {
        class: &'a str,
        form: Form,
    },
}

/// A text in the table.
#[derive(Clone, Debug)]
pub(super) struct Known<'a> {
    pub(super) text: &'a str,
    /// Made when a tree first needs it, and shared from then on.
    pub(super) shared: Option<Arc<str>>,
}

/// Reads values item by item, without a tree, and trusts nothing.
///
/// Each value that stands alone has tables of its own. After an error a decoder is of no more use.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf3::{Decoder, Event};
///
/// let mut decoder = Decoder::new(b"\x0a\x13\x01\x03x\x04\x05", Default::default());
/// assert_eq!(decoder.next_event()?, Some(Event::BeginObject { traits: 0 }));
/// assert_eq!(&*decoder.traits(0).unwrap().members[0], "x");
/// assert_eq!(decoder.next_event()?, Some(Event::Integer(5)));
/// assert_eq!(decoder.next_event()?, Some(Event::End));
/// assert_eq!(decoder.next_event()?, None);
/// # Ok::<(), tamtam_amf::DecodeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    pub(crate) input: Input<'a>,
    pub(super) frame: Frame,
    pub(super) around: Vec<Frame>,
    /// Values with a place in the table that have begun.
    pub(crate) begun: usize,
    pub(super) strings: Vec<Known<'a>>,
    /// The place of the text that was read last; `None` for the empty one.
    pub(super) last: Option<usize>,
    pub(super) traits: Vec<Described<'a>>,
    classes: Classes,
    /// Those of the externalizable objects that are open.
    flags: Vec<Flags>,
    /// The object that a class of one's own has read last.
    pub(super) taken: Option<Box<Externalizable>>,
    /// Objects of classes of one's own that are open.
    pub(super) own_depth: usize,
    /// The references of the tree that is read, if they are to be replaced.
    pub(crate) references: Option<Box<References>>,
    pub(super) sharing: Sharing,
    /// Whether the tree that is read is to have no references.
    pub(crate) refuses: bool,
    /// Where the value was that was read last; the end of a list of names may have come before it.
    pub(super) started: usize,
    /// Within a value of AMF0, whose values of AMF3 share their tables.
    is_within: bool,
}

impl<'a> Decoder<'a> {
    /// A decoder of `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8], limits: Limits) -> Self {
        Self {
            is_within: false,
            ..Self::within(Input::new(bytes, limits), &Classes::default())
        }
    }

    /// A decoder of values within a value of AMF0, whose input is lent for each of them.
    pub(crate) fn within(input: Input<'a>, classes: &Classes) -> Self {
        Self {
            input,
            frame: Frame::Top,
            around: Vec::new(),
            begun: 0,
            strings: Vec::new(),
            last: None,
            traits: Vec::new(),
            classes: classes.clone(),
            flags: Vec::new(),
            taken: None,
            own_depth: 0,
            references: None,
            sharing: Sharing::Copy,
            refuses: false,
            started: 0,
            is_within: true,
        }
    }

    /// This decoder with other externalizable classes than those of [Flex](Classes::flex).
    #[must_use]
    pub fn with_classes(mut self, classes: &Classes) -> Self {
        self.classes = classes.clone();
        self
    }

    /// This decoder with another choice of what becomes of shared values in trees.
    #[must_use]
    pub fn with_sharing(self, sharing: Sharing) -> Self {
        Self { sharing, ..self }
    }

    /// The offset of the next item, in bytes.
    #[must_use]
    pub fn position(&self) -> usize {
        self.input.position()
    }

    /// The traits with this number, which [`Event::BeginObject`] names.
    #[must_use]
    pub fn traits(&self, number: usize) -> Option<&Arc<Traits>> {
        match self.traits.get(number)? {
            Described::Plain { traits, .. } => Some(traits),
            Described::Externalizable { .. } => None,
        }
    }

    /// The object that the last item says was read: see [`Event::Externalizable`].
    pub fn take_externalizable(&mut self) -> Option<Externalizable> {
        self.taken.take().map(|object| *object)
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
    /// What is not AMF3, and what exceeds the limits.
    #[inline]
    pub fn next_event(&mut self) -> Result<Option<Event<'a>>, DecodeError> {
        match &mut self.frame {
            Frame::Values {
                left: 0,
                names: false,
            } => return Ok(Some(self.close())),
            Frame::Values {
                left: 0,
                names: true,
            } => {
                self.frame = Frame::Names {
                    waiting: false,
                    dense: 0,
                };
                return self.next_event();
            }
            Frame::Values { left, .. } => {
                *left -= 1;
                self.input.pay();
            }
            Frame::Names { waiting, dense } => {
                *waiting = !*waiting;
                if *waiting {
                    let dense = *dense;
                    let name = self.text()?;
                    if !name.is_empty() {
                        return Ok(Some(Event::Property(name)));
                    }
                    self.frame = Frame::Values {
                        left: dense,
                        names: false,
                    };
                    return self.next_event();
                }
            }
            Frame::Flags { waiting } => {
                *waiting = !*waiting;
                if *waiting {
                    let flags = self.flags.last_mut();
                    return match flags.map(|flags| flags.next_name(&mut self.input)) {
                        Some(Ok(Some(name))) => Ok(Some(Event::Property(name))),
                        Some(Err(error)) => Err(error),
                        Some(Ok(None)) | None => {
                            self.flags.pop();
                            Ok(Some(self.close()))
                        }
                    };
                }
            }
            Frame::Own => {}
            Frame::Top => {
                if !self.is_within {
                    if self.input.left() == 0 {
                        return Ok(None);
                    }
                    self.begun = 0;
                    self.strings.clear();
                    self.traits.clear();
                }
            }
        }
        self.value_event().map(Some)
    }

    /// Whether what is next stands alone.
    pub(crate) fn is_at_top(&self) -> bool {
        matches!(self.frame, Frame::Top)
    }

    pub(super) fn close(&mut self) -> Event<'a> {
        self.frame = self.around.pop().unwrap_or(Frame::Top);
        self.input.leave();
        Event::End
    }

    fn open(&mut self, frame: Frame, start: usize) -> Result<(), DecodeError> {
        self.input.enter(start)?;
        self.around.push(self.frame);
        self.frame = frame;
        Ok(())
    }

    /// The name of the property that was read last, to keep.
    pub(super) fn last_name(&mut self, name: &str) -> Arc<str> {
        match self.frame {
            Frame::Flags { .. } => name.into(),
            _ => self.last_text(),
        }
    }

    /// A text that is written here or referred to.
    fn text(&mut self) -> Result<&'a str, DecodeError> {
        let start = self.input.position();
        let head = integer::read(&mut self.input)?;
        let number = (head >> 1) as usize;
        if head & 1 == 0 {
            return match self.strings.get(number) {
                Some(known) => {
                    let text = known.text;
                    self.last = Some(number);
                    self.input.repeat(text.len(), start)?;
                    Ok(text)
                }
                None => Input::error_at(
                    start,
                    Cause::StringReference {
                        index: number,
                        known: self.strings.len(),
                    },
                ),
            };
        }
        let text = self.input.text(number)?;
        self.learn(text);
        Ok(text)
    }

    /// Takes note of a text that is written here.
    #[inline]
    pub(super) fn learn(&mut self, text: &'a str) {
        if text.is_empty() {
            self.last = None;
        } else {
            self.last = Some(self.strings.len());
            self.strings.push(Known { text, shared: None });
        }
    }

    /// The text that was read last, to keep: made once for each place in the table.
    pub(super) fn last_text(&mut self) -> Arc<str> {
        match self.last.and_then(|last| self.strings.get_mut(last)) {
            Some(known) => Arc::clone(known.shared.get_or_insert_with(|| known.text.into())),
            None => "".into(),
        }
    }

    /// The length at the beginning of a value that has a place in the table, or the place that it refers to.
    fn head(&mut self, start: usize) -> Result<Head, DecodeError> {
        let head = integer::read(&mut self.input)?;
        let rest = head >> 1;
        if head & 1 == 1 {
            self.begun += 1;
            return Ok(Head::Length(rest));
        }
        self.known(rest, start)?;
        Ok(Head::Reference(rest))
    }

    fn known(&self, index: u32, start: usize) -> Result<(), DecodeError> {
        if index as usize >= self.begun {
            return Input::error_at(
                start,
                Cause::Reference {
                    index: index as usize,
                    known: self.begun,
                },
            );
        }
        Ok(())
    }

    #[inline]
    fn value_event(&mut self) -> Result<Event<'a>, DecodeError> {
        self.input.count_value()?;
        let start = self.input.position();
        self.started = start;
        Ok(match self.input.byte()? {
            UNDEFINED => Event::Undefined,
            NULL => Event::Null,
            FALSE => Event::Boolean(false),
            TRUE => Event::Boolean(true),
            INTEGER => Event::Integer(integer::signed(integer::read(&mut self.input)?)),
            DOUBLE => Event::Double(self.input.f64()?),
            STRING => Event::String(self.text()?),
            OBJECT => return self.object(start),
            marker @ XML_DOCUMENT..=DICTIONARY => match self.head(start)? {
                Head::Reference(index) => Event::Reference(index),
                Head::Length(length) => return self.long_value(marker, length, start),
            },
            marker => return Input::error_at(start, Cause::Marker(marker)),
        })
    }

    /// A value that has a place in the table, after its length.
    fn long_value(
        &mut self,
        marker: u8,
        length: u32,
        start: usize,
    ) -> Result<Event<'a>, DecodeError> {
        let count = length as usize;
        Ok(match marker {
            XML_DOCUMENT => Event::XmlDocument(self.input.text(count)?),
            XML => Event::Xml(self.input.text(count)?),
            DATE => Event::Date(self.input.f64()?),
            BYTE_ARRAY => Event::ByteArray(self.input.take(count)?),
            VECTOR_INT => Event::VectorInt {
                fixed: self.input.byte()? != 0,
                bytes: self.input.take(count.saturating_mul(4))?,
            },
            VECTOR_UINT => Event::VectorUint {
                fixed: self.input.byte()? != 0,
                bytes: self.input.take(count.saturating_mul(4))?,
            },
            VECTOR_DOUBLE => Event::VectorDouble {
                fixed: self.input.byte()? != 0,
                bytes: self.input.take(count.saturating_mul(8))?,
            },
            ARRAY => {
                self.input.announce(count, start)?;
                self.open(
                    Frame::Names {
                        waiting: false,
                        dense: length,
                    },
                    start,
                )?;
                Event::BeginArray { dense: length }
            }
            VECTOR_OBJECT => {
                let fixed = self.input.byte()? != 0;
                let class = self.text()?;
                self.open_values(length, start)?;
                Event::BeginVector {
                    class,
                    fixed,
                    length,
                }
            }
            DICTIONARY => {
                // BlazeDS says 2, its marker of false, for keys that are not weak.
                let weak_keys = self.input.byte()? == 1;
                // A length has 28 bits.
                self.open_values(2 * length, start)?;
                Event::BeginDictionary { weak_keys, length }
            }
            marker => return Input::error_at(start, Cause::Marker(marker)),
        })
    }

    fn open_values(&mut self, left: u32, start: usize) -> Result<(), DecodeError> {
        self.input.announce(left as usize, start)?;
        self.open(Frame::Values { left, names: false }, start)
    }

    fn object(&mut self, start: usize) -> Result<Event<'a>, DecodeError> {
        let head = integer::read(&mut self.input)?;
        if head & 0b1 == 0 {
            self.known(head >> 1, start)?;
            return Ok(Event::Reference(head >> 1));
        }
        self.begun += 1;
        let number = if head & 0b10 == 0 {
            let index = (head >> 2) as usize;
            if index >= self.traits.len() {
                return Input::error_at(
                    start,
                    Cause::TraitsReference {
                        index,
                        known: self.traits.len(),
                    },
                );
            }
            index
        } else {
            self.read_traits(head, start)?
        };
        let traits = match &self.traits[number] {
            Described::Plain { traits, .. } => traits,
            Described::Externalizable { class, form } => {
                let (class, form) = (*class, form.clone());
                return self.externalizable(class, form, start);
            }
        };
        let (sealed, dynamic) = (traits.members.len(), traits.dynamic);
        self.input.announce(sealed, start)?;
        self.open(
            Frame::Values {
                // At most 25 bits: see `read_traits`.
                left: u32::try_from(sealed).unwrap_or(u32::MAX),
                names: dynamic,
            },
            start,
        )?;
        Ok(Event::BeginObject { traits: number })
    }

    fn read_traits(&mut self, head: u32, start: usize) -> Result<usize, DecodeError> {
        let class = self.text()?;
        if head & 0b100 != 0 {
            let Some(form) = self.classes.find(class) else {
                let class = class.to_owned();
                return Input::error_at(start, Cause::Externalizable { class });
            };
            self.traits.push(Described::Externalizable { class, form });
            return Ok(self.traits.len() - 1);
        }
        let shared = self.last_text();
        let count = (head >> 4) as usize;
        // Each name takes a byte at least, and so does each value afterwards.
        self.input.announce(2 * count, start)?;
        let mut members = Vec::with_capacity(count);
        #[cfg(feature = "serde")]
        let mut names = Vec::with_capacity(count);
        for _ in 0..count {
            let _name = self.text()?;
            #[cfg(feature = "serde")]
            names.push(_name);
            members.push(self.last_text());
            self.input.pay();
        }
        for _ in 0..count {
            self.input.pay();
        }
        let traits = Traits {
            class: shared,
            dynamic: head & 0b1000 != 0,
            members,
        };
        self.traits.push(Described::Plain {
            traits: Arc::new(traits),
            class,
            #[cfg(feature = "serde")]
            members: names,
        });
        Ok(self.traits.len() - 1)
    }

    fn externalizable(
        &mut self,
        class: &'a str,
        form: Form,
        start: usize,
    ) -> Result<Event<'a>, DecodeError> {
        match form {
            Form::Flags(members) => {
                self.open(Frame::Flags { waiting: false }, start)?;
                self.flags.push(Flags::new(members));
                Ok(Event::BeginExternalizable { class })
            }
            Form::Own(own) => {
                self.open(Frame::Own, start)?;
                self.read_own(class, &own)?;
                self.close();
                Ok(Event::Externalizable)
            }
        }
    }
}

/// How a value with a place in the table begins.
enum Head {
    Length(u32),
    Reference(u32),
}

#[cfg(feature = "serde")]
impl<'a> Decoder<'a> {
    /// The name of a sealed member.
    #[inline]
    pub(crate) fn member(&self, traits: usize, place: usize) -> Option<&'a str> {
        match self.traits.get(traits)? {
            Described::Plain { members, .. } => members.get(place).copied(),
            Described::Externalizable { .. } => None,
        }
    }

    /// The names of the sealed members.
    pub(crate) fn members(&self, traits: usize) -> Option<&[&'a str]> {
        match self.traits.get(traits)? {
            Described::Plain { members, .. } => Some(members),
            Described::Externalizable { .. } => None,
        }
    }

    /// How many members are sealed, and the class.
    pub(crate) fn described(&self, traits: usize) -> (usize, &'a str) {
        match self.traits.get(traits) {
            Some(Described::Plain { members, class, .. }) => (members.len(), class),
            Some(Described::Externalizable { class, .. }) => (0, class),
            None => (0, ""),
        }
    }

    /// Forgets the tables of the value before, if the next one stands alone.
    pub(crate) fn forget(&mut self) {
        if self.is_at_top() && !self.is_within {
            self.strings.clear();
            self.traits.clear();
        }
    }
}
