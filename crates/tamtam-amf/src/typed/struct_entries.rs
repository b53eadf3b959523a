//! Structs of objects, whose members are read without a look at what is around each of them.

use serde::de::{DeserializeSeed, MapAccess, Visitor};

use super::ahead::ReadAhead;
use super::deserializer::Deserializer;
use super::entries::Entries;
use super::error::Failure;
use super::items::{Ahead, Container};
use super::member_name::MemberName;
use super::visit::visit_scalar;
use crate::scalar::Scalar;

type Result<T, E = Failure> = std::result::Result<T, E>;

impl<'de> Deserializer<'_, '_, 'de> {
    /// An object that is read ahead, or has begun.
    #[inline(always)]
    pub(super) fn visit_object<V: Visitor<'de>>(
        &mut self,
        ahead: Ahead<'de>,
        visitor: V,
        fields: &'static [&'static str],
    ) -> Result<V::Value> {
        match ahead {
            Ahead::Amf3(members) => self.visit_ahead(members, visitor, fields),
            Ahead::Amf0(members) => self.visit_ahead(members, visitor, fields),
            Ahead::Nothing => self.visit_named(Container::Object, visitor, Some(fields)),
        }
    }

    #[inline(always)]
    fn visit_ahead<V: Visitor<'de>, A: ReadAhead<'de>>(
        &mut self,
        ahead: A,
        visitor: V,
        fields: &'static [&'static str],
    ) -> Result<V::Value> {
        let mut members = StructEntries {
            from: self,
            fields,
            ahead,
            place: 0,
            ended: false,
        };
        if fields.is_empty() || members.from.mapping.refuses_unknown() {
            // Each name is counted, or compared with those of the type.
            members.leave();
        }
        let value = visitor.visit_map(&mut members);
        if !members.ahead.is_left() {
            members.leave();
        }
        let value = value?;
        if !members.ended {
            members.end()?;
        }
        Ok(value)
    }
}

/// The members of an object.
struct StructEntries<'f, 'm, 'd, 'de, A> {
    from: &'f mut Deserializer<'m, 'd, 'de>,
    fields: &'static [&'static str],
    ahead: A,
    /// How many names were read by what reads where nothing is read ahead.
    place: usize,
    ended: bool,
}

impl<'m, 'd, 'de, A: ReadAhead<'de>> StructEntries<'_, 'm, 'd, 'de, A> {
    /// Leaves what follows the last value to the deserializer.
    #[cold]
    fn leave(&mut self) {
        self.ahead.leave(&mut self.from.items, false);
    }

    /// What reads where nothing is read ahead.
    fn entries(&mut self) -> Entries<'_, 'm, 'd, 'de> {
        let mut entries = Entries::of(self.from, Container::Object, Some(self.fields));
        entries.place = self.place;
        entries.ended = self.ended;
        entries
    }

    /// Reads over what is left.
    #[cold]
    fn end(&mut self) -> Result<()> {
        self.entries().end()
    }

    /// Has the deserializer read a value, and goes on after it.
    fn detour<T>(
        &mut self,
        read: impl FnOnce(&mut Deserializer<'m, 'd, 'de>) -> Result<T>,
    ) -> Result<T> {
        let was_ahead = !self.ahead.is_left();
        self.ahead.leave(&mut self.from.items, true);
        let value = read(self.from)?;
        if was_ahead && self.from.next.is_none() {
            self.ahead.resume(&mut self.from.items);
        }
        Ok(value)
    }

    #[inline(always)]
    fn scalar(&mut self) -> Option<Scalar<'de>> {
        self.ahead.scalar(&mut self.from.items)
    }

    #[inline(always)]
    fn text(&mut self) -> Option<&'de str> {
        self.ahead.text(&mut self.from.items)
    }

    #[inline(always)]
    fn integer(&mut self) -> Option<Scalar<'de>> {
        self.ahead.integer()
    }

    #[inline(always)]
    fn double(&mut self) -> Option<f64> {
        self.ahead.double()
    }

    #[inline(always)]
    fn boolean(&mut self) -> Option<bool> {
        self.ahead.boolean()
    }

    #[cold]
    fn next_entry_key<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        self.leave();
        let mut entries = self.entries();
        let key = entries.next_key_seed(seed);
        let (place, ended) = (entries.place, entries.ended);
        (self.place, self.ended) = (place, ended);
        key
    }
}

impl<'de, A: ReadAhead<'de>> MapAccess<'de> for StructEntries<'_, '_, '_, 'de, A> {
    type Error = Failure;

    #[inline(always)]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        if let Some(name) = self.ahead.name(self.fields) {
            return seed.deserialize(MemberName(name)).map(Some);
        }
        if self.ahead.end(&mut self.from.items) {
            self.ended = true;
            return Ok(None);
        }
        self.next_entry_key(seed)
    }

    #[inline(always)]
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        seed.deserialize(Value(self))
    }
}

/// The value of a member.
struct Value<'s, 'f, 'm, 'd, 'de, A>(&'s mut StructEntries<'f, 'm, 'd, 'de, A>);

macro_rules! by_detour {
    ($($method:ident($($argument:ident: $type:ty),*))*) => { $(
        fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value> {
            self.0.detour(|from| from.$method($($argument,)* visitor))
        }
    )* };
}

macro_rules! by {
    ($kind:ident: $($method:ident)*) => { $(
        #[inline(always)]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            match self.0.$kind() {
                Some(value) => visit!($kind, value, visitor),
                None => self.any(visitor),
            }
        }
    )* };
}

/// Gives a visitor what was read of this kind.
macro_rules! visit {
    (double, $value:ident, $visitor:ident) => {
        $visitor.visit_f64($value)
    };
    (boolean, $value:ident, $visitor:ident) => {
        $visitor.visit_bool($value)
    };
    (text, $value:ident, $visitor:ident) => {
        $visitor.visit_borrowed_str($value)
    };
    ($kind:ident, $value:ident, $visitor:ident) => {
        visit_scalar($value, $visitor)
    };
}

impl<'de, A: ReadAhead<'de>> Value<'_, '_, '_, '_, 'de, A> {
    /// What is not of the kind that was looked for first.
    #[inline(never)]
    fn any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0.scalar() {
            Some(scalar) => visit_scalar(scalar, visitor),
            None => self
                .0
                .detour(|from| serde::Deserializer::deserialize_any(from, visitor)),
        }
    }
}

impl<'de, A: ReadAhead<'de>> serde::Deserializer<'de> for Value<'_, '_, '_, '_, 'de, A> {
    type Error = Failure;

    by! { integer: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128 }
    by! { integer: deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 }
    by! { double: deserialize_f32 deserialize_f64 }
    by! { boolean: deserialize_bool }
    by! { text: deserialize_str deserialize_string deserialize_char deserialize_identifier }
    by! { scalar: deserialize_any deserialize_unit }

    by_detour! {
        deserialize_bytes()
        deserialize_byte_buf()
        deserialize_seq()
        deserialize_map()
        deserialize_unit_struct(name: &'static str)
        deserialize_tuple(length: usize)
        deserialize_tuple_struct(name: &'static str, length: usize)
        deserialize_struct(name: &'static str, fields: &'static [&'static str])
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0.ahead.null() {
            Some(true) => visitor.visit_none(),
            Some(false) => visitor.visit_some(self),
            None => self.0.detour(|from| from.deserialize_option(visitor)),
        }
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0.scalar() {
            Some(_) => visitor.visit_unit(),
            None => self.0.detour(|from| from.deserialize_ignored_any(visitor)),
        }
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }
}
