//! What a deserializer mostly meets, read without an item.
//!
//! What is something else, or is wrong, is left to the decoder's items, which say so: nothing has been read then.

use super::decoder::{Decoder, Frame};
use super::marker::{FALSE, NULL, STRING, UNDEFINED};
use super::sealed::{SealedAhead, after_value, plain};
use crate::scalar::Scalar;

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

    /// The values of an object with sealed members alone, of which so many were read: they were announced, and are within the
    /// limits then.
    #[inline]
    pub(crate) fn ahead(&self, read: usize) -> Option<SealedAhead<'a>> {
        let values = matches!(self.frame, Frame::Values { names: false, .. });
        (values && self.input.admits_announced()).then(|| SealedAhead {
            rest: self.input.rest(),
            read,
        })
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
    /// Whether the next value is null, which is gone over then; `None` where it may be no scalar.
    #[inline]
    pub(crate) fn null(&mut self) -> Option<bool> {
        let (&marker, after) = self.rest.split_first()?;
        match marker {
            NULL | UNDEFINED => self.take(true, after),
            FALSE..=STRING => Some(false),
            _ => None,
        }
    }
}
