//! The name of a member as what a type asks for.

use serde::de::value::BytesDeserializer;
use serde::de::{IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::error::Failure;
use super::items::Text;

type Result<T, E = Failure> = std::result::Result<T, E>;

/// The name of a member, which may be asked for as a number or a boolean.
pub(super) struct MemberName<N>(pub(super) N);

/// Where the letters of a name are.
pub(super) trait Letters<'de> {
    fn as_str(&self) -> &str;
    fn visit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value>;
}

impl<'de> Letters<'de> for &'de str {
    #[inline]
    fn as_str(&self) -> &str {
        self
    }

    #[inline]
    fn visit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_borrowed_str(self)
    }
}

impl<'de> Letters<'de> for Text<'de> {
    fn as_str(&self) -> &str {
        self.as_str()
    }

    #[inline]
    fn visit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self {
            Text::Borrowed(text) => visitor.visit_borrowed_str(text),
            Text::Shared(text) => visitor.visit_str(&text),
        }
    }
}

macro_rules! deserialize_parsed {
    ($($method:ident $visit:ident)*) => { $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            match self.0.as_str().parse() {
                Ok(value) => visitor.$visit(value),
                Err(_) => self.deserialize_any(visitor),
            }
        }
    )* };
}

impl<'de, N: Letters<'de>> serde::Deserializer<'de> for MemberName<N> {
    type Error = Failure;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.0.visit(visitor)
    }

    deserialize_parsed! {
        deserialize_bool visit_bool
        deserialize_i8 visit_i8
        deserialize_i16 visit_i16
        deserialize_i32 visit_i32
        deserialize_i64 visit_i64
        deserialize_i128 visit_i128
        deserialize_u8 visit_u8
        deserialize_u16 visit_u16
        deserialize_u32 visit_u32
        deserialize_u64 visit_u64
        deserialize_u128 visit_u128
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let variant: serde::de::value::StrDeserializer<'_, Failure> =
            self.0.as_str().into_deserializer();
        visitor.visit_enum(variant)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        BytesDeserializer::new(self.0.as_str().as_bytes()).deserialize_bytes(visitor)
    }

    forward_to_deserialize_any! {
        f32 f64 char str string byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}
