//! Makes Rust values of items.

use serde::de::{
    DeserializeSeed, EnumAccess, Error as _, IntoDeserializer, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::error::{DeserializeError, Failure};
use super::items::{Begin, Bytes, Container, Item, Items, Text};
use super::mapping::Mapping;
use super::member_name::MemberName;
use super::visit::{visit_number, visit_scalar, visit_values, visit_vector};
use crate::input::CopiedNames;
use crate::scalar::Scalar;
use crate::{Cause, DecodeError};

/// The most values that room is reserved for before they are there.
const MOST_RESERVED: usize = 4_096;

type Result<T, E = Failure> = std::result::Result<T, E>;

/// Makes Rust values of items.
pub(super) struct Deserializer<'m, 'd, 'de> {
    pub(super) mapping: &'m Mapping,
    pub(super) items: Items<'d, 'de>,
    /// An item that was looked at.
    pub(super) next: Option<Item<'de>>,
    met_reference: bool,
    /// The names that maps were given.
    pub(super) names: CopiedNames,
    /// The struct that was asked for last: mostly that of the next object, too.
    last: Option<Asked<'m>>,
}

/// A struct that was asked for.
struct Asked<'m> {
    name: &'static str,
    class: Option<&'m str>,
    /// Traits of AMF3 that are of this class.
    traits: Option<usize>,
}

impl<'m, 'd, 'de> Deserializer<'m, 'd, 'de> {
    /// Of these items, where maps were given such names before.
    pub(super) fn new(mapping: &'m Mapping, items: Items<'d, 'de>, names: CopiedNames) -> Self {
        Self {
            mapping,
            items,
            next: None,
            met_reference: false,
            names,
            last: None,
        }
    }

    /// The one value.
    pub(super) fn value<T: serde::Deserialize<'de>>(&mut self) -> Result<T, DeserializeError> {
        let value = T::deserialize(&mut *self);
        self.items.settle();
        value.map_err(|error| error.at(self.items.position()))
    }

    /// Whether a value was met that was there before.
    pub(super) fn met_reference(&self) -> bool {
        self.met_reference
    }

    /// The names that maps were given.
    pub(super) fn names(&self) -> CopiedNames {
        self.names
    }

    #[inline]
    pub(super) fn take(&mut self) -> Result<Item<'de>> {
        match self.next.take() {
            Some(item) => Ok(item),
            None => Ok(self.items.next()?),
        }
    }

    #[inline]
    fn peek(&mut self) -> Result<&Item<'de>> {
        if self.next.is_none() {
            self.next = Some(self.items.next()?);
        }
        match &self.next {
            Some(item) => Ok(item),
            None => Err(Failure::custom("there is no value")),
        }
    }

    /// The next value if it is a scalar for which no item has to be made.
    #[inline]
    fn scalar(&mut self) -> Option<Scalar<'de>> {
        match self.next {
            None => self.items.scalar(),
            Some(_) => None,
        }
    }

    /// What is known of a struct.
    #[inline(always)]
    fn asked(&mut self, name: &'static str) -> &mut Asked<'m> {
        let mapping = self.mapping;
        let ask = || Asked {
            name,
            class: mapping.class_of(name),
            traits: None,
        };
        let asked = self.last.get_or_insert_with(ask);
        if !std::ptr::eq(asked.name, name) {
            *asked = ask();
        }
        asked
    }

    fn shared<T>(&mut self, index: usize) -> Result<T> {
        self.met_reference = true;
        Err(DecodeError {
            position: self.items.position(),
            cause: Cause::Shared { index },
        }
        .into())
    }

    /// Any value but a container.
    #[inline]
    fn visit<V: Visitor<'de>>(&mut self, item: Item<'de>, visitor: V) -> Result<V::Value> {
        match item {
            Item::Null => visitor.visit_unit(),
            Item::Boolean(boolean) => visitor.visit_bool(boolean),
            Item::Integer(number) => visitor.visit_i32(number),
            Item::Number(number) => visit_number(number, visitor),
            Item::Date(milliseconds) => visitor.visit_f64(milliseconds),
            Item::Text(Text::Borrowed(text)) => visitor.visit_borrowed_str(text),
            Item::Text(Text::Shared(text)) => visitor.visit_str(&text),
            Item::Bytes(Bytes::Borrowed(bytes)) => visitor.visit_borrowed_bytes(bytes),
            Item::Bytes(Bytes::Owned(bytes)) => visitor.visit_byte_buf(bytes),
            Item::Vector(element, bytes) => visit_vector(element, &bytes, visitor),
            Item::Shared(index) => self.shared(index),
            Item::Begin(begin) => self.visit_container(begin, visitor),
            Item::Name(_) | Item::End => Err(Failure::custom("there is no value")),
        }
    }

    fn visit_container<V: Visitor<'de>>(
        &mut self,
        begin: Begin<'de>,
        visitor: V,
    ) -> Result<V::Value> {
        match begin.kind {
            Container::List => self.visit_list(begin, visitor),
            Container::Array if !matches!(self.peek()?, Item::Name(_)) => {
                self.visit_list(begin, visitor)
            }
            kind => self.visit_named(kind, visitor, None),
        }
    }

    fn visit_list<V: Visitor<'de>>(&mut self, begin: Begin<'de>, visitor: V) -> Result<V::Value> {
        let mut list = List {
            left: begin.length,
            named: begin.kind == Container::EcmaArray,
            place: 0,
            ended: false,
            from: self,
        };
        let value = visitor.visit_seq(&mut list)?;
        if !list.ended {
            list.end()?;
        }
        Ok(value)
    }

    /// A sequence, if it is one by whatever form.
    fn sequence<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        match self.take()? {
            Item::Bytes(bytes) => {
                let bytes = match &bytes {
                    Bytes::Borrowed(bytes) => bytes,
                    Bytes::Owned(bytes) => &bytes[..],
                };
                visit_values(bytes.iter().copied(), visitor)
            }
            Item::Begin(begin)
                if matches!(
                    begin.kind,
                    Container::List | Container::Array | Container::EcmaArray
                ) =>
            {
                self.visit_list(begin, visitor)
            }
            item => self.visit(item, visitor),
        }
    }

    /// An object with its class, or what is taken for one.
    fn object<V: Visitor<'de>>(
        &mut self,
        visitor: V,
        fields: Option<&'static [&'static str]>,
        class: Option<&str>,
    ) -> Result<V::Value> {
        match self.take()? {
            Item::Begin(begin) => {
                if let (Some(expected), Some(found)) = (class, &begin.class)
                    && found.as_str() != expected
                {
                    return Err(Failure::custom(format_args!(
                        "an object of the class {:?}, expected {expected:?}",
                        found.as_str()
                    )));
                }
                let named = match begin.kind {
                    Container::List => matches!(self.peek()?, Item::End),
                    Container::Array => matches!(self.peek()?, Item::Name(_) | Item::End),
                    Container::Object | Container::EcmaArray | Container::Dictionary => true,
                };
                if named {
                    self.visit_named(begin.kind, visitor, fields)
                } else {
                    self.visit_list(begin, visitor)
                }
            }
            item => self.visit(item, visitor),
        }
    }
}

impl<'de> From<Scalar<'de>> for Item<'de> {
    fn from(scalar: Scalar<'de>) -> Self {
        match scalar {
            Scalar::Null => Item::Null,
            Scalar::Boolean(boolean) => Item::Boolean(boolean),
            Scalar::Integer(number) => Item::Integer(number),
            Scalar::Number(number) => Item::Number(number),
            Scalar::Text(text) => Item::Text(Text::Borrowed(text)),
        }
    }
}

impl<'de> serde::Deserializer<'de> for &mut Deserializer<'_, '_, 'de> {
    type Error = Failure;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if let Some(scalar) = self.scalar() {
            return visit_scalar(scalar, visitor);
        }
        let item = self.take()?;
        self.visit(item, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string unit unit_struct identifier
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_any(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_any(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.scalar() {
            Some(Scalar::Null) => return visitor.visit_none(),
            Some(scalar) => {
                self.next = Some(scalar.into());
                return visitor.visit_some(self);
            }
            None => {}
        }
        if let Item::Null = self.peek()? {
            self.next = None;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.sequence(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.sequence(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.sequence(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.object(visitor, None, None)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let asked = self.asked(name);
        let (class, mut traits) = (asked.class, asked.traits);
        if self.next.is_none()
            && let Some(ahead) = self.items.object_ahead(class, &mut traits)
        {
            if let Some(asked) = &mut self.last {
                asked.traits = traits;
            }
            return self.visit_object(ahead, visitor, fields);
        }
        self.object(visitor, Some(fields), class)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let mapping = self.mapping;
        let begin = match self.take()? {
            Item::Begin(begin) => begin,
            Item::Text(text) => {
                let variant: serde::de::value::StrDeserializer<'_, Failure> =
                    text.as_str().into_deserializer();
                return visitor.visit_enum(variant);
            }
            item => return self.visit(item, visitor),
        };
        let class = begin.class.as_ref().map(Text::as_str);
        let by_class = class.and_then(|class| {
            let is = |variant: &&&str| mapping.class_of_variant(name, variant) == Some(class);
            variants.iter().find(is)
        });
        if let Some(variant) = by_class {
            // The object is the content.
            self.next = Some(Item::Begin(begin));
            return visitor.visit_enum(Variant {
                name: Text::Borrowed(variant),
                from: self,
            });
        }
        let Item::Name(variant) = self.take()? else {
            let found = Unexpected::Other("a container without the name of a variant");
            return Err(Failure::invalid_type(found, &visitor));
        };
        let value = visitor.visit_enum(Variant {
            name: variant,
            from: &mut *self,
        })?;
        match self.take()? {
            Item::End => Ok(value),
            _ => Err(Failure::custom(
                "an object with more members than the one of a variant",
            )),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let mut open = 0_usize;
        loop {
            match self.take()? {
                Item::Begin(_) => open += 1,
                Item::End if open == 0 => {
                    return Err(Failure::custom("there is no value"));
                }
                Item::End => open -= 1,
                Item::Name(_) => continue,
                _ => {}
            }
            if open == 0 {
                return visitor.visit_unit();
            }
        }
    }
}

/// The values of a sequence.
struct List<'f, 'm, 'd, 'de> {
    from: &'f mut Deserializer<'m, 'd, 'de>,
    left: Option<usize>,
    /// Whether each value has its number for a name.
    named: bool,
    place: usize,
    ended: bool,
}

impl List<'_, '_, '_, '_> {
    #[inline]
    fn count(&mut self) {
        self.place += 1;
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(1);
        }
    }

    /// Reads the end, which must come next: what the type has left is not dropped.
    fn end(&mut self) -> Result<()> {
        let taken = self.place;
        while self.next_element::<serde::de::IgnoredAny>()?.is_some() {}
        if self.place == taken {
            return Ok(());
        }
        let expected = format!("a sequence of {taken} values");
        Err(Failure::invalid_length(self.place, &expected.as_str()))
    }
}

impl<'de> SeqAccess<'de> for List<'_, '_, '_, 'de> {
    type Error = Failure;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        if self.ended {
            return Ok(None);
        }
        if !self.named && self.from.next.is_none() && self.from.items.has_more() {
            self.count();
            return seed.deserialize(&mut *self.from).map(Some);
        }
        match self.from.take()? {
            Item::End => {
                self.ended = true;
                return Ok(None);
            }
            Item::Name(name) => {
                let place = self.place;
                if !self.named || name.as_str().parse() != Ok(place) {
                    return Err(Failure::custom(format_args!(
                        "an array with the name {:?} at the place {place} of a sequence",
                        name.as_str()
                    )));
                }
            }
            item => self.from.next = Some(item),
        }
        self.count();
        seed.deserialize(&mut *self.from).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        self.left.map(|left| left.min(MOST_RESERVED))
    }
}

/// A variant of an enum that has a content.
struct Variant<'f, 'm, 'd, 'de> {
    from: &'f mut Deserializer<'m, 'd, 'de>,
    name: Text<'de>,
}

impl<'f, 'm, 'd, 'de> EnumAccess<'de> for Variant<'f, 'm, 'd, 'de> {
    type Error = Failure;
    type Variant = &'f mut Deserializer<'m, 'd, 'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self::Variant)> {
        let variant = seed.deserialize(MemberName(self.name))?;
        Ok((variant, self.from))
    }
}

impl<'de> VariantAccess<'de> for &mut Deserializer<'_, '_, 'de> {
    type Error = Failure;

    fn unit_variant(self) -> Result<()> {
        // Null, or an object of a class that has no members of its own.
        serde::Deserialize::deserialize(self).map(|serde::de::IgnoredAny| ())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.sequence(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.object(visitor, Some(fields), None)
    }
}
