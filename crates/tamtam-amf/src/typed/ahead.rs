//! The members of an object, read ahead of where the items stand.
//!
//! What is no scalar, or is wrong, is left to the items, which go to that place first: nothing of it has been read then.

use std::rc::Rc;

use super::items::Items;
use crate::scalar::Scalar;
use crate::{amf0, amf3};

/// The members of an object that are read ahead, a name and a value in turn. Nothing is next where they are left to the items.
pub(super) trait ReadAhead<'de> {
    /// The name of the next member, which may be the one of the fields that has its place.
    fn name(&mut self, fields: &'static [&'static str]) -> Option<&'de str>;
    /// The next value if it is a scalar.
    fn scalar(&mut self, items: &mut Items<'_, 'de>) -> Option<Scalar<'de>>;
    /// The next value if it is a text.
    fn text(&mut self, items: &mut Items<'_, 'de>) -> Option<&'de str>;
    /// The next value if it is what the format has for integers.
    fn integer(&mut self) -> Option<Scalar<'de>>;
    /// The next value if it is a double.
    fn double(&mut self) -> Option<f64>;
    /// The next value if it is a boolean.
    fn boolean(&mut self) -> Option<bool>;
    /// Whether the next value is null, which is gone over then; `None` where it may be no scalar.
    fn null(&mut self) -> Option<bool>;
    /// Whether the object ends here, and has been ended.
    fn end(&mut self, items: &mut Items<'_, 'de>) -> bool;
    /// Whether what follows is left to the items.
    fn is_left(&self) -> bool;
    /// Leaves what follows to the items: the value of the last name, or else what follows the last value.
    fn leave(&mut self, items: &mut Items<'_, 'de>, at_value: bool);
    /// Goes on after a value that the items have read.
    fn resume(&mut self, items: &mut Items<'_, 'de>);
}

/// The members of an object of AMF0, which has begun.
#[derive(Debug)]
pub(super) struct MembersOfAmf0<'de> {
    place: amf0::MembersAhead<'de>,
    /// How many names were read: mostly they come in the order of the type.
    names: usize,
    next: Next,
}

/// What is next in AMF0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Name,
    Value,
    /// Nothing: it is left to the items.
    Left,
}

impl<'de> MembersOfAmf0<'de> {
    pub(super) fn new(place: amf0::MembersAhead<'de>) -> Self {
        Self {
            place,
            names: 0,
            next: Next::Name,
        }
    }

    #[inline(always)]
    fn value<T>(
        &mut self,
        read: impl FnOnce(&mut amf0::MembersAhead<'de>) -> Option<T>,
    ) -> Option<T> {
        if self.next != Next::Value {
            return None;
        }
        let value = read(&mut self.place)?;
        self.next = Next::Name;
        Some(value)
    }
}

impl<'de> ReadAhead<'de> for MembersOfAmf0<'de> {
    #[inline(always)]
    fn name(&mut self, fields: &'static [&'static str]) -> Option<&'de str> {
        if self.next != Next::Name {
            return None;
        }
        let name = self.place.name(fields.get(self.names).copied())?;
        self.names += 1;
        self.next = Next::Value;
        Some(name)
    }

    #[inline(always)]
    fn scalar(&mut self, _: &mut Items<'_, 'de>) -> Option<Scalar<'de>> {
        self.value(amf0::MembersAhead::scalar)
    }

    #[inline(always)]
    fn text(&mut self, _: &mut Items<'_, 'de>) -> Option<&'de str> {
        self.value(amf0::MembersAhead::text)
    }

    #[inline(always)]
    fn integer(&mut self) -> Option<Scalar<'de>> {
        self.double().map(Scalar::Number)
    }

    #[inline(always)]
    fn double(&mut self) -> Option<f64> {
        self.value(amf0::MembersAhead::number)
    }

    #[inline(always)]
    fn boolean(&mut self) -> Option<bool> {
        self.value(amf0::MembersAhead::boolean)
    }

    #[inline]
    fn null(&mut self) -> Option<bool> {
        if self.next != Next::Value {
            return None;
        }
        let null = self.place.null()?;
        if null {
            self.next = Next::Name;
        }
        Some(null)
    }

    #[inline]
    fn end(&mut self, items: &mut Items<'_, 'de>) -> bool {
        if self.next != Next::Name {
            return false;
        }
        self.next = Next::Left;
        items.end_amf0(&self.place)
    }

    #[inline(always)]
    fn is_left(&self) -> bool {
        self.next == Next::Left
    }

    #[cold]
    fn leave(&mut self, items: &mut Items<'_, 'de>, _: bool) {
        if !self.is_left() {
            let at_value = self.next == Next::Value;
            self.next = Next::Left;
            items.catch_up_amf0(&self.place, at_value);
        }
    }

    fn resume(&mut self, items: &mut Items<'_, 'de>) {
        if let Some(place) = items.ahead_in_amf0() {
            self.place = place;
            self.next = Next::Name;
        }
    }
}

/// The members of an object of AMF3 that has sealed members alone: its traits name them all, and its values are what follows.
/// So long as each is a scalar the object does not begin, and then is gone over as a whole.
#[derive(Debug)]
pub(super) struct MembersOfAmf3<'de> {
    traits: usize,
    names: Rc<[&'de str]>,
    /// As many values as names were read, or one less within a member.
    place: amf3::SealedAhead<'de>,
    /// How many values the decoder has gone over, if the object has begun.
    begun: Option<usize>,
}

/// So many values were read where the members are left to the items: no object has as many.
const LEFT: usize = usize::MAX;

impl<'de> MembersOfAmf3<'de> {
    #[inline(always)]
    pub(super) fn new(traits: usize, names: Rc<[&'de str]>, place: amf3::SealedAhead<'de>) -> Self {
        Self {
            traits,
            names,
            place,
            begun: None,
        }
    }

    #[inline(always)]
    fn value<T>(
        &mut self,
        read: impl FnOnce(&mut amf3::SealedAhead<'de>) -> Option<T>,
    ) -> Option<T> {
        match self.place.read < self.names.len() {
            true => read(&mut self.place),
            false => None,
        }
    }
}

impl<'de> ReadAhead<'de> for MembersOfAmf3<'de> {
    #[inline(always)]
    fn name(&mut self, _: &'static [&'static str]) -> Option<&'de str> {
        self.names.get(self.place.read).copied()
    }

    #[inline(always)]
    fn scalar(&mut self, items: &mut Items<'_, 'de>) -> Option<Scalar<'de>> {
        if let Some(text) = self.text(items) {
            return Some(Scalar::Text(text));
        }
        self.value(amf3::SealedAhead::plain)
    }

    #[inline(always)]
    fn text(&mut self, items: &mut Items<'_, 'de>) -> Option<&'de str> {
        self.value(|place| place.text(items.decoder()?))
    }

    #[inline(always)]
    fn integer(&mut self) -> Option<Scalar<'de>> {
        self.value(amf3::SealedAhead::integer).map(Scalar::Integer)
    }

    #[inline(always)]
    fn double(&mut self) -> Option<f64> {
        self.value(amf3::SealedAhead::double)
    }

    #[inline(always)]
    fn boolean(&mut self) -> Option<bool> {
        self.value(amf3::SealedAhead::boolean)
    }

    #[inline]
    fn null(&mut self) -> Option<bool> {
        self.value(amf3::SealedAhead::null)
    }

    #[inline(always)]
    fn end(&mut self, items: &mut Items<'_, 'de>) -> bool {
        if self.place.read != self.names.len() {
            return false;
        }
        if self.begun.is_none() {
            self.place.read = LEFT;
            return items.pass_amf3(self.traits, &self.names, &self.place);
        }
        self.leave(items, false);
        items.end_amf3()
    }

    #[inline(always)]
    fn is_left(&self) -> bool {
        self.place.read == LEFT
    }

    #[cold]
    fn leave(&mut self, items: &mut Items<'_, 'de>, at_value: bool) {
        if self.is_left() {
            return;
        }
        let read = self.place.read;
        let before = match self.begun {
            Some(before) => before,
            None => {
                items.begin_amf3();
                0
            }
        };
        let at_value = at_value && read < self.names.len();
        items.catch_up_amf3(&self.place, read - before, at_value);
        self.begun = Some(read);
        self.place.read = LEFT;
    }

    fn resume(&mut self, items: &mut Items<'_, 'de>) {
        let read = self.begun.map_or(0, |before| before + 1);
        if let Some(place) = items.ahead_in_amf3(read) {
            self.place = place;
            self.begun = Some(read);
        }
    }
}
