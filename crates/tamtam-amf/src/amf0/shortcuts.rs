//! What a deserializer mostly meets, read without an item: scalars, objects of the expected class, and the names of their members.
//!
//! What is something else, or is wrong, is left to the decoder's items, which say so: nothing has been read then.

use super::decoder::{Decoder, Frame};
use super::marker::{OBJECT, OBJECT_END, TYPED_OBJECT};
use super::scalars::scalar;
use crate::scalar::Scalar;

/// A name of a member, or the end of its object.
pub(crate) enum Member<'a> {
    Name(&'a str),
    End,
}

impl<'a> Decoder<'a> {
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
