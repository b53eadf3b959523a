//! The members of an object that are scalars, read ahead of where their decoder stands.
//!
//! What is something else, or is wrong, is left to the decoder's items, which say so: nothing has been read then.

use std::sync::Arc;

use super::decoder::{Decoder, Frame};
use super::marker::UNDEFINED;
#[cfg(feature = "serde")]
use super::marker::{BOOLEAN, NULL, NUMBER, OBJECT_END, STRING};
use super::scalars::scalar;
use super::value::Value;
use crate::scalar::Scalar;

/// What stands where the next name would be at the end of an object.
#[cfg(feature = "serde")]
const END: [u8; 3] = [0, 0, OBJECT_END];

/// A place among the members of an object, ahead of where its decoder stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MembersAhead<'a> {
    rest: &'a [u8],
    /// Values that were read.
    read: usize,
    /// How many of them the limits admit.
    most: usize,
}

/// The bytes of the name of a member, and what follows it; `None` where none begins.
#[inline(always)]
fn name(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    match usize::from(u16::from_be_bytes(*length)) {
        0 => None,
        length => rest.split_at_checked(length),
    }
}

impl<'a> MembersAhead<'a> {
    /// The next member if its value is a scalar. Its name may be the one that is known, and is that one from now on.
    #[inline(always)]
    pub(super) fn member(&mut self, known: &mut Option<Arc<str>>) -> Option<(Arc<str>, Value)> {
        let mut ahead = *self;
        let (name, rest) = name(ahead.rest)?;
        ahead.rest = rest;
        let is_undefined = rest.first() == Some(&UNDEFINED);
        let value = match ahead.scalar()? {
            Scalar::Null if is_undefined => Value::Undefined,
            Scalar::Null => Value::Null,
            Scalar::Boolean(boolean) => Value::Boolean(boolean),
            Scalar::Number(number) => Value::Number(number),
            Scalar::Text(text) => Value::String(text.into()),
            Scalar::Integer(_) => return None,
        };
        // A name that is known is no bytes to look at once more.
        if known.as_ref().is_none_or(|known| known.as_bytes() != name) {
            *known = Some(std::str::from_utf8(name).ok()?.into());
        }
        *self = ahead;
        Some((known.clone()?, value))
    }

    /// The name of the next member, which may be the expected one; `None` where none is.
    #[cfg(feature = "serde")]
    #[inline]
    pub(crate) fn name(&mut self, expected: Option<&'static str>) -> Option<&'a str> {
        let (name, rest) = name(self.rest)?;
        // A name that is known is no bytes to look at once more.
        let name = match expected {
            Some(expected) if expected.as_bytes() == name => expected,
            _ => std::str::from_utf8(name).ok()?,
        };
        self.rest = rest;
        Some(name)
    }

    /// The next value if it is a scalar.
    #[inline(always)]
    pub(crate) fn scalar(&mut self) -> Option<Scalar<'a>> {
        let (value, rest) = scalar(self.rest)?;
        self.take(value, rest)
    }

    /// Takes a value, which ends where these bytes begin, if the limits admit it.
    #[inline(always)]
    fn take<T>(&mut self, value: T, rest: &'a [u8]) -> Option<T> {
        if self.read == self.most {
            return None;
        }
        self.rest = rest;
        self.read += 1;
        Some(value)
    }

    /// The next value if it is a number.
    #[cfg(feature = "serde")]
    #[inline(always)]
    pub(crate) fn number(&mut self) -> Option<f64> {
        let (&NUMBER, rest) = self.rest.split_first()? else {
            return None;
        };
        let (number, rest) = rest.split_first_chunk()?;
        self.take(f64::from_be_bytes(*number), rest)
    }

    /// The next value if it is a text.
    #[cfg(feature = "serde")]
    #[inline(always)]
    pub(crate) fn text(&mut self) -> Option<&'a str> {
        match scalar(self.rest)? {
            (Scalar::Text(text), rest) => self.take(text, rest),
            _ => None,
        }
    }

    /// The next value if it is a boolean.
    #[cfg(feature = "serde")]
    #[inline(always)]
    pub(crate) fn boolean(&mut self) -> Option<bool> {
        match *self.rest {
            [BOOLEAN, boolean, ref rest @ ..] => self.take(boolean != 0, rest),
            _ => None,
        }
    }

    /// Whether the object ends where the next name would be.
    #[cfg(feature = "serde")]
    #[inline]
    pub(crate) fn is_at_end(&self) -> bool {
        self.rest.starts_with(&END)
    }

    /// Whether the next value is null, which is gone over then; `None` where it may be no scalar.
    #[cfg(feature = "serde")]
    #[inline]
    pub(crate) fn null(&mut self) -> Option<bool> {
        match *self.rest.first()? {
            NULL | UNDEFINED => self.scalar().map(|_| true),
            NUMBER | BOOLEAN | STRING => Some(false),
            _ => None,
        }
    }
}

impl<'a> Decoder<'a> {
    /// The members of an object, where a name is next.
    #[inline]
    pub(crate) fn ahead(&self) -> Option<MembersAhead<'a>> {
        let names = matches!(self.frame, Frame::Named { waiting: false });
        names.then(|| MembersAhead {
            rest: self.input.rest(),
            read: 0,
            most: self.input.admitted(),
        })
    }

    /// Goes to where members were read [ahead](Self::ahead); whether the value of the last name is next.
    #[inline]
    pub(crate) fn catch_up(&mut self, ahead: &MembersAhead<'a>, waiting: bool) {
        let bytes = self.input.left() - ahead.rest.len();
        self.input.advance_by(bytes, ahead.read);
        self.frame = Frame::Named { waiting };
    }

    /// Ends the object whose members were read [ahead](Self::ahead), within another container.
    #[cfg(feature = "serde")]
    #[inline]
    pub(crate) fn end_ahead(&mut self, ahead: &MembersAhead<'a>) -> bool {
        self.catch_up(ahead, false);
        let ends = ahead.is_at_end() && self.around.len() >= 2;
        if ends {
            self.input.skip(END.len());
            self.close();
        }
        ends
    }
}
