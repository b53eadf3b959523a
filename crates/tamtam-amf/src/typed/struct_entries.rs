//! Structs of objects, whose members are read without a look at what is around each of them.
//!
//! What is no scalar, or is wrong, is left to the deserializer, which goes to that place first: nothing of it has been read then.

use serde::de::{DeserializeSeed, MapAccess, Visitor};

use super::deserializer::Deserializer;
use super::entries::Entries;
use super::error::Failure;
use super::items::{Ahead, Container};
use super::member_name::MemberName;
use super::visit::visit_scalar;
use crate::scalar::Scalar;

type Result<T, E = Failure> = std::result::Result<T, E>;

impl<'de> Deserializer<'_, '_, 'de> {
    /// An object that has begun.
    #[inline]
    pub(super) fn visit_object<V: Visitor<'de>>(
        &mut self,
        ahead: Ahead<'de>,
        visitor: V,
        fields: &'static [&'static str],
    ) -> Result<V::Value> {
        let entries = Entries::of(self, Container::Object, Some(fields));
        let is_ahead = entries.takes_any_name() && !matches!(ahead, Ahead::Nothing);
        let mut members = StructEntries {
            entries,
            fields,
            ahead,
            names: 0,
            next: if is_ahead { Next::Name } else { Next::Left },
        };
        let value = visitor.visit_map(&mut members);
        members.catch_up();
        let value = value?;
        members.entries.end()?;
        Ok(value)
    }
}

/// The members of an object.
struct StructEntries<'f, 'm, 'd, 'de> {
    /// What reads where nothing is read ahead.
    entries: Entries<'f, 'm, 'd, 'de>,
    fields: &'static [&'static str],
    ahead: Ahead<'de>,
    /// How many names were read ahead: mostly they come in the order of the type.
    names: usize,
    next: Next,
}

/// What is read ahead next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Name,
    Value,
    /// Nothing: it is left to the deserializer.
    Left,
}

impl<'de> StructEntries<'_, '_, '_, 'de> {
    /// Leaves what follows to the deserializer.
    #[inline]
    fn catch_up(&mut self) {
        if self.next != Next::Left {
            let waiting = self.next == Next::Value;
            self.next = Next::Left;
            let items = &mut self.entries.from.items;
            items.catch_up(&self.ahead, self.names, waiting);
        }
    }

    /// Has the deserializer read a value, and goes on after it.
    fn detour<T>(
        &mut self,
        read: impl FnOnce(&mut Deserializer<'_, '_, 'de>) -> Result<T>,
    ) -> Result<T> {
        let was_ahead = self.next != Next::Left;
        self.catch_up();
        let value = read(self.entries.from)?;
        let from = &mut *self.entries.from;
        if was_ahead && from.next.is_none() && from.items.go_ahead(&mut self.ahead, self.names) {
            self.next = Next::Name;
        }
        Ok(value)
    }

    #[inline(always)]
    fn name(&mut self) -> Option<&'de str> {
        if self.next != Next::Name {
            return None;
        }
        let name = match &mut self.ahead {
            Ahead::Amf3(names, _) => *names.get(self.names)?,
            Ahead::Amf0(ahead) => ahead.name(self.fields.get(self.names).copied())?,
            Ahead::Nothing => return None,
        };
        self.names += 1;
        self.next = Next::Value;
        Some(name)
    }

    /// Whether the object ends here, and has been ended.
    #[inline]
    fn ends(&mut self) -> bool {
        if self.next != Next::Name {
            return false;
        }
        self.next = Next::Left;
        let items = &mut self.entries.from.items;
        self.entries.ended = items.end_ahead(&self.ahead, self.names);
        self.entries.ended
    }

    #[cold]
    fn next_entry_key<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        self.catch_up();
        self.entries.next_key_seed(seed)
    }

    #[inline(always)]
    fn scalar(&mut self) -> Option<Scalar<'de>> {
        if self.next != Next::Value {
            return None;
        }
        let scalar = self.entries.from.items.scalar_ahead(&mut self.ahead)?;
        self.next = Next::Name;
        Some(scalar)
    }

    /// The next value if it is what the format has for integers.
    #[inline(always)]
    fn number(&mut self) -> Option<Scalar<'de>> {
        if self.next != Next::Value {
            return None;
        }
        let number = match &mut self.ahead {
            Ahead::Amf3(_, ahead) => Scalar::Integer(ahead.integer()?),
            Ahead::Amf0(ahead) => Scalar::Number(ahead.number()?),
            Ahead::Nothing => return None,
        };
        self.next = Next::Name;
        Some(number)
    }

    /// Whether the next value is null, which is gone over then; `None` where that is left to the deserializer.
    #[inline]
    fn null(&mut self) -> Option<bool> {
        if self.next != Next::Value {
            return None;
        }
        let null = match &mut self.ahead {
            Ahead::Amf3(_, ahead) => ahead.null()?,
            Ahead::Amf0(ahead) => ahead.null()?,
            Ahead::Nothing => return None,
        };
        if null {
            self.next = Next::Name;
        }
        Some(null)
    }
}

impl<'de> MapAccess<'de> for StructEntries<'_, '_, '_, 'de> {
    type Error = Failure;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        match self.name() {
            Some(name) => seed.deserialize(MemberName(name)).map(Some),
            None if self.ends() => Ok(None),
            None => self.next_entry_key(seed),
        }
    }

    #[inline]
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        seed.deserialize(Value(self))
    }
}

/// The value of a member.
struct Value<'s, 'f, 'm, 'd, 'de>(&'s mut StructEntries<'f, 'm, 'd, 'de>);

macro_rules! by_detour {
    ($($method:ident($($argument:ident: $type:ty),*))*) => { $(
        fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value> {
            self.0.detour(|from| from.$method($($argument,)* visitor))
        }
    )* };
}

macro_rules! by {
    ($next:ident: $($method:ident)*) => { $(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            match self.0.$next() {
                Some(value) => visit_scalar(value, visitor),
                None => self.any(visitor),
            }
        }
    )* };
}

impl<'de> Value<'_, '_, '_, '_, 'de> {
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

impl<'de> serde::Deserializer<'de> for Value<'_, '_, '_, '_, 'de> {
    type Error = Failure;

    by! { number: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128 }
    by! { number: deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 }
    by! { scalar: deserialize_any deserialize_bool deserialize_f32 deserialize_f64 deserialize_char deserialize_str }
    by! { scalar: deserialize_string deserialize_unit deserialize_identifier }

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
        match self.0.null() {
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
