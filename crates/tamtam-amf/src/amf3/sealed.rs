//! Objects whose traits were there before: their values are read ahead, so long as they are scalars.
//!
//! What is something else, or is wrong, is left to the decoder's events, which say so: nothing has been read then.

use super::decoder::{Decoder, Described, Frame};
use super::integer;
use super::marker::{DOUBLE, FALSE, INTEGER, NULL, OBJECT, STRING, TRUE, UNDEFINED};
use crate::scalar::Scalar;

/// An object that is next: its traits were there before, and it is within the limits with all values that it announces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// The number of its traits.
    pub(crate) traits: usize,
    /// How many members are sealed.
    pub(crate) sealed: usize,
    /// Whether there may be others.
    pub(crate) dynamic: bool,
    /// Bytes before its values.
    head: usize,
}

/// A place among the values of an object that has sealed members alone, ahead of where its decoder stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SealedAhead<'a> {
    pub(super) rest: &'a [u8],
    /// Values that were read, of all that the object has.
    pub(crate) read: usize,
}

impl<'a> Decoder<'a> {
    /// The object that is next within a container, if its traits were there before and it is of this class, or of none. It
    /// has not begun. The traits of this number are known to be of that class.
    #[inline(always)]
    pub(crate) fn find_object(&self, class: Option<&str>, known: Option<usize>) -> Option<Found> {
        let (_, announced) = after_value(self.frame)?;
        let rest = self.input.rest();
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
        if known != Some(number) && class.is_some_and(|class| class != *found && !found.is_empty())
        {
            return None;
        }
        let (sealed, dynamic) = (traits.members.len(), traits.dynamic);
        let head = rest.len() - after.len();
        let fits =
            self.input.admits_announced() && self.input.admits_container(head, announced, sealed);
        fits.then_some(Found {
            traits: number,
            sealed,
            dynamic,
            head,
        })
    }

    /// Begins the object that was [found](Self::find_object).
    pub(crate) fn begin_found(&mut self, found: &Found) {
        let Some((around, announced)) = after_value(self.frame) else {
            return;
        };
        self.started = self.input.position();
        self.input.open(found.head, announced, found.sealed);
        self.begun += 1;
        self.around.push(around);
        self.frame = Frame::Values {
            // At most 25 bits: see `read_traits`.
            left: found.sealed as u32,
            names: found.dynamic,
        };
    }

    /// The values of the object that was [found](Self::find_object): they are within the limits with it.
    #[inline(always)]
    pub(crate) fn values_of(&self, found: &Found) -> SealedAhead<'a> {
        SealedAhead {
            rest: &self.input.rest()[found.head..],
            read: 0,
        }
    }

    /// Goes over the object that was [found](Self::find_object), all values of which were read ahead.
    #[inline(always)]
    pub(crate) fn pass_found(&mut self, sealed: usize, ahead: &SealedAhead<'a>) -> bool {
        let Some((around, announced)) = after_value(self.frame) else {
            return false;
        };
        let bytes = self.input.left() - ahead.rest.len();
        self.input.pass_container(bytes, announced, sealed);
        self.begun += 1;
        self.frame = around;
        true
    }

    /// Goes to where so many values were read [ahead](Self::ahead).
    #[inline]
    pub(crate) fn catch_up(&mut self, ahead: &SealedAhead<'a>, values: usize) {
        if let Frame::Values { left, .. } = &mut self.frame {
            *left -= values as u32;
            let bytes = self.input.left() - ahead.rest.len();
            self.input.advance(bytes, values);
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
            self.last = Some(length);
            return Some((text, after));
        }
        let (text, after) = after.split_at_checked(length)?;
        let text = std::str::from_utf8(text).ok()?;
        self.learn(text);
        Some((text, after))
    }
}

impl<'a> SealedAhead<'a> {
    /// Takes a value, which ends where these bytes begin.
    #[inline(always)]
    pub(super) fn take<T>(&mut self, value: T, after: &'a [u8]) -> Option<T> {
        self.rest = after;
        self.read += 1;
        Some(value)
    }

    /// The marker that is next.
    #[inline(always)]
    pub(super) fn marker(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// What follows this marker, if it is next.
    #[inline(always)]
    pub(super) fn after(&self, marker: u8) -> Option<&'a [u8]> {
        match self.rest.split_first() {
            Some((&found, after)) if found == marker => Some(after),
            _ => None,
        }
    }

    /// The next value if it is a scalar, but no text.
    #[inline(always)]
    pub(crate) fn plain(&mut self) -> Option<Scalar<'a>> {
        let (&marker, after) = self.rest.split_first()?;
        let (value, after) = plain(marker, after)?;
        self.take(value, after)
    }

    /// The next value if it is a text.
    #[inline(always)]
    pub(crate) fn text(&mut self, decoder: &mut Decoder<'a>) -> Option<&'a str> {
        let (text, after) = decoder.text_ahead(self.after(STRING)?)?;
        self.take(text, after)
    }

    /// The next value if it is an integer.
    #[inline(always)]
    pub(crate) fn integer(&mut self) -> Option<i32> {
        let (number, after) = integer::split(self.after(INTEGER)?)?;
        self.take(integer::signed(number), after)
    }

    /// The next value if it is a double.
    #[inline(always)]
    pub(crate) fn double(&mut self) -> Option<f64> {
        let (number, after) = self.after(DOUBLE)?.split_first_chunk()?;
        self.take(f64::from_be_bytes(*number), after)
    }

    /// The next value if it is a boolean.
    #[inline(always)]
    pub(crate) fn boolean(&mut self) -> Option<bool> {
        match self.rest.split_first()? {
            (&FALSE, after) => self.take(false, after),
            (&TRUE, after) => self.take(true, after),
            _ => None,
        }
    }
}

/// The scalar of this marker, but a text, and what follows it.
#[inline(always)]
pub(super) fn plain(marker: u8, after: &[u8]) -> Option<(Scalar<'_>, &[u8])> {
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
pub(super) fn after_value(frame: Frame) -> Option<(Frame, bool)> {
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
