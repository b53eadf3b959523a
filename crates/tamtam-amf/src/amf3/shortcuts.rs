//! What a deserializer mostly meets, read without an item: scalars, and objects whose traits were there before.
//!
//! What is something else, or is wrong, is left to the decoder's items, which say so: nothing has been read then.

use super::decoder::{Decoder, Described, Frame, Known};
use super::integer;
use super::marker::{DOUBLE, FALSE, INTEGER, NULL, OBJECT, STRING, TRUE, UNDEFINED};
use crate::scalar::Scalar;

/// The traits of an object that has begun.
pub(crate) struct Opened<'a> {
    pub(crate) traits: usize,
    /// How many members are sealed.
    pub(crate) sealed: usize,
    /// Their values, if there are no others.
    pub(crate) ahead: Option<SealedAhead<'a>>,
}

/// A place among the values of an object that has sealed members alone, ahead of where its decoder stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SealedAhead<'a> {
    rest: &'a [u8],
    /// Values that were read.
    read: usize,
}

impl<'a> Decoder<'a> {
    /// The scalar that is next within a container.
    #[inline]
    pub(crate) fn next_scalar(&mut self) -> Option<Scalar<'a>> {
        let (frame, announced) = after_value(self.frame)?;
        if !self.input.admits_announced() {
            return None;
        }
        let rest = self.input.rest();
        let (&marker, after) = rest.split_first()?;
        let (value, after) = match marker {
            STRING => {
                let (text, after) = self.text_ahead(after)?;
                (Scalar::Text(text), after)
            }
            marker => plain(marker, after)?,
        };
        if !self.input.pass(rest.len() - after.len(), announced) {
            return None;
        }
        self.frame = frame;
        Some(value)
    }

    /// Whether a value without a name is next.
    #[inline]
    pub(crate) fn has_more(&self) -> bool {
        matches!(self.frame, Frame::Values { left, names: false } if left > 0)
    }

    /// Begins the object that is next within a container, if its traits were there before and it is of this class, or of
    /// none.
    #[inline]
    pub(crate) fn next_object(&mut self, class: Option<&str>) -> Option<Opened<'a>> {
        let (around, announced) = after_value(self.frame)?;
        let (start, rest) = (self.input.position(), self.input.rest());
        let (&OBJECT, after) = rest.split_first()? else {
            return None;
        };
        let (head, after) = integer::split(after)?;
        if head & 0b11 != 0b01 {
            return None;
        }
        let number = (head >> 2) as usize;
        let Described::Plain {
            traits,
            class: found,
            ..
        } = self.traits.get(number)?
        else {
            return None;
        };
        if class.is_some_and(|class| class != *found && !found.is_empty()) {
            return None;
        }
        let (sealed, dynamic) = (traits.members.len(), traits.dynamic);
        let left = u32::try_from(sealed).ok()?;
        let bytes = rest.len() - after.len();
        if !self.input.admits_announced() || !self.input.open(bytes, announced, sealed) {
            return None;
        }
        self.begun += 1;
        self.started = start;
        self.around.push(around);
        self.frame = Frame::Values {
            left,
            names: dynamic,
        };
        Some(Opened {
            traits: number,
            sealed,
            ahead: (!dynamic).then_some(SealedAhead {
                rest: after,
                read: 0,
            }),
        })
    }

    /// The values of an object with sealed members alone: they were announced, and are within the limits then.
    #[inline]
    pub(crate) fn ahead(&self) -> Option<SealedAhead<'a>> {
        let values = matches!(self.frame, Frame::Values { names: false, .. });
        (values && self.input.admits_announced()).then(|| SealedAhead {
            rest: self.input.rest(),
            read: 0,
        })
    }

    /// Goes to where values were read [ahead](Self::ahead).
    #[inline]
    pub(crate) fn catch_up(&mut self, ahead: &SealedAhead<'a>) {
        if let Frame::Values { left, .. } = &mut self.frame {
            *left -= ahead.read as u32;
            let bytes = self.input.left() - ahead.rest.len();
            self.input.advance(bytes, ahead.read);
        }
    }

    /// The text after the marker of a value that is read ahead, and what follows it.
    #[inline(never)]
    pub(crate) fn text_ahead(&mut self, bytes: &'a [u8]) -> Option<(&'a str, &'a [u8])> {
        let (head, after) = integer::split(bytes)?;
        let length = (head >> 1) as usize;
        if head & 1 == 0 {
            let text = self.strings.get(length)?.text;
            self.input.repeat(text.len(), 0).ok()?;
            return Some((text, after));
        }
        let (text, after) = after.split_at_checked(length)?;
        let text = std::str::from_utf8(text).ok()?;
        if !text.is_empty() {
            self.strings.push(Known { text, shared: None });
        }
        Some((text, after))
    }

    /// Ends a container within another one, if it has no more values.
    #[inline]
    pub(crate) fn next_end(&mut self) -> bool {
        let ends = matches!(
            self.frame,
            Frame::Values {
                left: 0,
                names: false
            }
        );
        if !ends || self.around.len() < 2 {
            return false;
        }
        self.close();
        true
    }
}

impl<'a> SealedAhead<'a> {
    /// The next value if it is a scalar.
    #[inline(always)]
    pub(crate) fn scalar(
        &mut self,
        text: impl FnOnce(&'a [u8]) -> Option<(&'a str, &'a [u8])>,
    ) -> Option<Scalar<'a>> {
        let (&marker, after) = self.rest.split_first()?;
        let (value, after) = match marker {
            STRING => {
                let (text, after) = text(after)?;
                (Scalar::Text(text), after)
            }
            marker => plain(marker, after)?,
        };
        self.rest = after;
        self.read += 1;
        Some(value)
    }

    /// The next value if it is an integer.
    #[inline(always)]
    pub(crate) fn integer(&mut self) -> Option<i32> {
        let (&INTEGER, after) = self.rest.split_first()? else {
            return None;
        };
        let (number, after) = integer::split(after)?;
        self.rest = after;
        self.read += 1;
        Some(integer::signed(number))
    }

    /// Whether the next value is null, which is gone over then; `None` where it may be no scalar.
    #[inline]
    pub(crate) fn null(&mut self) -> Option<bool> {
        let (&marker, after) = self.rest.split_first()?;
        match marker {
            NULL | UNDEFINED => {
                self.rest = after;
                self.read += 1;
                Some(true)
            }
            FALSE..=STRING => Some(false),
            _ => None,
        }
    }
}

/// The scalar of this marker, but a text, and what follows it.
#[inline(always)]
fn plain(marker: u8, after: &[u8]) -> Option<(Scalar<'_>, &[u8])> {
    Some(match marker {
        INTEGER => {
            let (number, after) = integer::split(after)?;
            (Scalar::Integer(integer::signed(number)), after)
        }
        DOUBLE => {
            let (number, after) = after.split_first_chunk()?;
            (Scalar::Number(f64::from_be_bytes(*number)), after)
        }
        NULL | UNDEFINED => (Scalar::Null, after),
        FALSE => (Scalar::Boolean(false), after),
        TRUE => (Scalar::Boolean(true), after),
        _ => return None,
    })
}

/// The frame after a value that stands in this one, and whether it was announced; `None` where no value can be next.
#[inline]
fn after_value(frame: Frame) -> Option<(Frame, bool)> {
    match frame {
        Frame::Values { left, names } => {
            let left = left.checked_sub(1)?;
            Some((Frame::Values { left, names }, true))
        }
        Frame::Names {
            waiting: true,
            dense,
        } => {
            let waiting = false;
            Some((Frame::Names { waiting, dense }, false))
        }
        _ => None,
    }
}
