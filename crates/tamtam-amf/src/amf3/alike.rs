//! Objects that are alike, one behind the other in a list: the decoder goes over them at once, when they end.

use super::decoder::{Decoder, Frame};
use super::integer;
use super::marker::OBJECT;
use super::sealed::SealedAhead;

/// A place among the values of a list, ahead of where its decoder stands, behind an object that had sealed members alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alike<'a> {
    rest: &'a [u8],
    /// The number of their traits, and how many members these have.
    pub(crate) traits: usize,
    sealed: usize,
    /// Those that were gone over, and the values that are left in the list.
    passed: usize,
    left: usize,
    /// What the decoder would have when it stood here: values that are announced and not read, and how many more the limits admit.
    owed: usize,
    room: usize,
}

impl<'a> Alike<'a> {
    /// Whether a value is left in the list.
    #[inline]
    pub(crate) fn has_more(&self) -> bool {
        self.left > 0
    }

    /// The values of the next one, if it is alike and within the limits.
    #[inline(always)]
    pub(crate) fn next(&self) -> Option<SealedAhead<'a>> {
        let (&OBJECT, after) = self.rest.split_first()? else {
            return None;
        };
        let (head, rest) = integer::split(after)?;
        // As for a container that stands alone: see `Input::admits_container`.
        let fits = head & 0b11 == 0b01
            && (head >> 2) as usize == self.traits
            && self.left > 0
            && self.sealed <= rest.len().saturating_sub(self.owed - 1)
            && self.sealed <= self.room;
        fits.then_some(SealedAhead { rest, read: 0 })
    }

    /// Goes over the [next](Self::next) one, all values of which were read.
    #[inline(always)]
    pub(crate) fn pass(&mut self, place: &SealedAhead<'a>) {
        self.rest = place.rest;
        self.passed += 1;
        self.left -= 1;
        self.owed -= 1;
        self.room -= self.sealed;
    }
}

impl<'a> Decoder<'a> {
    /// Behind an object of these traits with so many sealed members, if values are left in its list.
    pub(crate) fn alike(&self, traits: usize, sealed: usize) -> Option<Alike<'a>> {
        let Frame::Values { left, names: false } = self.frame else {
            return None;
        };
        let (owed, room) = self.input.announced()?;
        (left > 0).then(|| Alike {
            rest: self.input.rest(),
            traits,
            sealed,
            passed: 0,
            left: left as usize,
            owed,
            room,
        })
    }

    /// Goes over those that were read ahead.
    pub(crate) fn pass_alike(&mut self, alike: &Alike<'a>) {
        if let Frame::Values { left, .. } = &mut self.frame {
            *left -= alike.passed as u32;
            let bytes = self.input.left() - alike.rest.len();
            self.input
                .pass_containers(alike.passed, alike.sealed, bytes);
            self.begun += alike.passed;
        }
    }
}
