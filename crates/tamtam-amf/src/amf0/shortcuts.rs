//! What a deserializer mostly meets, read without an item: scalars, objects of the expected class, and the members of these.
//!
//! What is something else, or is wrong, is left to the decoder's items, which say so: nothing has been read then.

use super::decoder::{Decoder, Frame};
use super::marker::{BOOLEAN, NULL, NUMBER, OBJECT, OBJECT_END, STRING, TYPED_OBJECT, UNDEFINED};
use super::scalars::scalar;
use crate::scalar::Scalar;

/// A name of a member, or the end of its object.
pub(crate) enum Member<'a> {
    Name(&'a str),
    End,
}

/// What stands where the next name would be at the end of an object.
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

impl<'a> MembersAhead<'a> {
    /// The name of the next member, which may be the expected one; `None` where none is.
    #[inline]
    pub(crate) fn name(&mut self, expected: Option<&'static str>) -> Option<&'a str> {
        let (length, rest) = self.rest.split_first_chunk()?;
        let length = usize::from(u16::from_be_bytes(*length));
        if length == 0 {
            return None;
        }
        let (name, rest) = rest.split_at_checked(length)?;
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
    #[inline(always)]
    pub(crate) fn number(&mut self) -> Option<f64> {
        let (&NUMBER, rest) = self.rest.split_first()? else {
            return None;
        };
        let (number, rest) = rest.split_first_chunk()?;
        self.take(f64::from_be_bytes(*number), rest)
    }

    /// The next value if it is a text.
    #[inline(always)]
    pub(crate) fn text(&mut self) -> Option<&'a str> {
        match scalar(self.rest)? {
            (Scalar::Text(text), rest) => self.take(text, rest),
            _ => None,
        }
    }

    /// The next value if it is a boolean.
    #[inline(always)]
    pub(crate) fn boolean(&mut self) -> Option<bool> {
        match *self.rest {
            [BOOLEAN, boolean, ref rest @ ..] => self.take(boolean != 0, rest),
            _ => None,
        }
    }

    /// Whether the object ends where the next name would be.
    #[inline]
    pub(crate) fn is_at_end(&self) -> bool {
        self.rest.starts_with(&END)
    }

    /// Whether the next value is null, which is gone over then; `None` where it may be no scalar.
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

    /// The scalar that is next within an object or an array.
    #[inline]
    pub(crate) fn next_scalar(&mut self) -> Option<Scalar<'a>> {
        let rest = self.input.rest();
        match &mut self.frame {
            Frame::Strict { left } if *left > 0 && self.input.admits_announced() => {
                let (value, after) = scalar(rest)?;
                *left -= 1;
                self.input.advance(rest.len() - after.len(), 1);
                Some(value)
            }
            Frame::Named { waiting } if *waiting && self.input.admits_one() => {
                let (value, after) = scalar(rest)?;
                *waiting = false;
                self.input.advance_one(rest.len() - after.len());
                Some(value)
            }
            _ => None,
        }
    }

    /// Whether a value is next in an array.
    #[inline]
    pub(crate) fn has_more(&self) -> bool {
        matches!(self.frame, Frame::Strict { left } if left > 0)
    }

    /// Begins the object that is next within an object or an array, if it is of this class, or of none.
    #[inline]
    pub(crate) fn next_object(&mut self, class: Option<&str>) -> bool {
        let rest = self.input.rest();
        let taken = match rest.first() {
            Some(&OBJECT) => 1,
            Some(&TYPED_OBJECT) => match has_class(&rest[1..], class) {
                Some(taken) => 1 + taken,
                None => return false,
            },
            _ => return false,
        };
        let (around, announced) = match self.frame {
            Frame::Strict { left } if left > 0 => (Frame::Strict { left: left - 1 }, true),
            Frame::Named { waiting: true } => (Frame::Named { waiting: false }, false),
            _ => return false,
        };
        if !self.input.admits_announced() || !self.input.admits_container(taken, announced, 0) {
            return false;
        }
        self.input.open(taken, announced, 0);
        self.begun += 1;
        self.around.push(around);
        self.frame = Frame::Named { waiting: false };
        true
    }

    /// The next member of an object, which may be the expected one.
    #[inline]
    pub(crate) fn next_member(&mut self, expected: Option<&'static str>) -> Option<Member<'a>> {
        let Frame::Named { waiting } = &mut self.frame else {
            return None;
        };
        if *waiting {
            return None;
        }
        let (length, rest) = self.input.rest().split_first_chunk()?;
        let length = usize::from(u16::from_be_bytes(*length));
        if length == 0 && rest.first() == Some(&OBJECT_END) {
            if self.around.len() < 2 {
                return None;
            }
            self.input.skip(3);
            self.close();
            return Some(Member::End);
        }
        let name = rest.get(..length)?;
        // A name that is known is no bytes to look at once more.
        let name = match expected {
            Some(expected) if expected.as_bytes() == name => expected,
            _ => std::str::from_utf8(name).ok()?,
        };
        *waiting = true;
        self.input.skip(2 + length);
        Some(Member::Name(name))
    }
}

/// Whether bytes begin with the name of this class, or of any if none is asked for; how many these are.
#[inline]
fn has_class(bytes: &[u8], class: Option<&str>) -> Option<usize> {
    let (length, rest) = bytes.split_first_chunk()?;
    let length = usize::from(u16::from_be_bytes(*length));
    let found = rest.get(..length)?;
    let fits = match class {
        Some(class) => found == class.as_bytes(),
        None => std::str::from_utf8(found).is_ok(),
    };
    fits.then_some(2 + length)
}
