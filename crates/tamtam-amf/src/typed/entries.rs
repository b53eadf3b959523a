//! The members of an object or an array with names, as a map or a struct takes them.

use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, Visitor};

use super::deserializer::Deserializer;
use super::error::Failure;
use super::items::{Container, Item, Text};
use super::member_name::MemberName;
use crate::DecodeError;
use crate::amf0::Member;

type Result<T, E = Failure> = std::result::Result<T, E>;

impl<'de> Deserializer<'_, '_, 'de> {
    #[inline]
    pub(super) fn visit_named<V: Visitor<'de>>(
        &mut self,
        kind: Container,
        visitor: V,
        fields: Option<&'static [&'static str]>,
    ) -> Result<V::Value> {
        let mut members = Entries::of(self, kind, fields);
        let value = visitor.visit_map(&mut members)?;
        members.end()?;
        Ok(value)
    }
}

/// The members of a map.
pub(super) struct Entries<'f, 'm, 'd, 'de> {
    pub(super) from: &'f mut Deserializer<'m, 'd, 'de>,
    kind: Container,
    /// Those that a type has, if that is known.
    fields: &'static [&'static str],
    /// Whether others are refused.
    refuses: bool,
    /// How many names were read: mostly they come in the order of the type.
    pub(super) place: usize,
    /// Values of an array without a name.
    dense: usize,
    pub(super) ended: bool,
}

impl<'f, 'm, 'd, 'de> Entries<'f, 'm, 'd, 'de> {
    #[inline]
    pub(super) fn of(
        from: &'f mut Deserializer<'m, 'd, 'de>,
        kind: Container,
        fields: Option<&'static [&'static str]>,
    ) -> Self {
        Self {
            kind,
            refuses: fields.is_some() && from.mapping.refuses_unknown(),
            fields: fields.unwrap_or_default(),
            place: 0,
            dense: 0,
            ended: false,
            from,
        }
    }

    /// Reads over what is left.
    #[inline]
    pub(super) fn end(&mut self) -> Result<()> {
        while !self.ended {
            self.next_entry::<IgnoredAny, IgnoredAny>()?;
        }
        Ok(())
    }

    #[inline]
    fn key<K: DeserializeSeed<'de>>(
        &mut self,
        name: Text<'de>,
        seed: K,
    ) -> Result<Option<K::Value>> {
        // A map keeps a copy of each; a struct knows its own.
        if self.fields.is_empty() {
            let counted = self.from.names.add(name.as_str().len());
            counted.map_err(|cause| DecodeError {
                position: self.from.items.position(),
                cause,
            })?;
        }
        if self.refuses && !self.fields.contains(&name.as_str()) {
            return Err(Failure::unknown_field(name.as_str(), self.fields));
        }
        seed.deserialize(MemberName(name)).map(Some)
    }
}

impl<'de> MapAccess<'de> for Entries<'_, '_, '_, 'de> {
    type Error = Failure;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        if self.ended {
            return Ok(None);
        }
        if self.from.next.is_none() {
            let expected = self.fields.get(self.place).copied();
            self.place += 1;
            match self.from.items.member(expected) {
                Some(Member::Name(name)) => return self.key(Text::Borrowed(name), seed),
                Some(Member::End) => {
                    self.ended = true;
                    return Ok(None);
                }
                None => {}
            }
        }
        let name = match self.from.take()? {
            Item::End => {
                self.ended = true;
                return Ok(None);
            }
            Item::Name(name) => name,
            item => {
                self.from.next = Some(item);
                if self.kind == Container::Dictionary {
                    return seed.deserialize(&mut *self.from).map(Some);
                }
                self.dense += 1;
                Text::Shared((self.dense - 1).to_string().into())
            }
        };
        self.key(name, seed)
    }

    #[inline]
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        seed.deserialize(&mut *self.from)
    }
}
