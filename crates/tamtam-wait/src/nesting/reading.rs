//! A format that is read from, with a count of levels.

use core::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};

use super::Level;

/// Something of serde's, at a level of the value that is read: what it hands out is, too.
pub(super) struct CountedInput<'a, T> {
    inner: T,
    level: Level<'a>,
}

impl<'a, T> CountedInput<'a, T> {
    #[inline]
    pub(super) fn new(inner: T, level: Level<'a>) -> Self {
        CountedInput { inner, level }
    }

    #[inline]
    fn around<U>(&self, inner: U) -> CountedInput<'a, U> {
        CountedInput::new(inner, self.level)
    }
}

macro_rules! deserializes {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {$(
        #[inline]
        fn $name<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            let visitor = self.around(visitor);
            self.inner.$name($($argument,)* visitor)
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for CountedInput<'_, D> {
    type Error = D::Error;

    deserializes! {
        deserialize_any();
        deserialize_bool();
        deserialize_i8();
        deserialize_i16();
        deserialize_i32();
        deserialize_i64();
        deserialize_i128();
        deserialize_u8();
        deserialize_u16();
        deserialize_u32();
        deserialize_u64();
        deserialize_u128();
        deserialize_f32();
        deserialize_f64();
        deserialize_char();
        deserialize_str();
        deserialize_string();
        deserialize_bytes();
        deserialize_byte_buf();
        deserialize_option();
        deserialize_unit();
        deserialize_unit_struct(name: &'static str);
        deserialize_newtype_struct(name: &'static str);
        deserialize_seq();
        deserialize_tuple(len: usize);
        deserialize_tuple_struct(name: &'static str, len: usize);
        deserialize_map();
        deserialize_struct(name: &'static str, fields: &'static [&'static str]);
        deserialize_enum(name: &'static str, variants: &'static [&'static str]);
        deserialize_identifier();
        deserialize_ignored_any();
    }

    #[inline]
    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

macro_rules! visits {
    ($($name:ident($type:ty);)*) => {$(
        #[inline]
        fn $name<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.inner.$name(value)
        }
    )*};
}

/// Every level of a value comes by here, also where the format says what it is.
impl<'de, V: Visitor<'de>> Visitor<'de> for CountedInput<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    visits! {
        visit_bool(bool);
        visit_i8(i8);
        visit_i16(i16);
        visit_i32(i32);
        visit_i64(i64);
        visit_i128(i128);
        visit_u8(u8);
        visit_u16(u16);
        visit_u32(u32);
        visit_u64(u64);
        visit_u128(u128);
        visit_f32(f32);
        visit_f64(f64);
        visit_char(char);
        visit_str(&str);
        visit_borrowed_str(&'de str);
        visit_string(String);
        visit_bytes(&[u8]);
        visit_borrowed_bytes(&'de [u8]);
        visit_byte_buf(Vec<u8>);
    }

    #[inline]
    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    #[inline]
    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_unit()
    }

    #[inline]
    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        let inner = self.around(inner);
        self.inner.visit_newtype_struct(inner)
    }

    #[inline]
    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        let below = self.level.below().map_err(D::Error::custom)?;
        self.inner.visit_some(CountedInput::new(inner, below))
    }

    #[inline]
    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        let below = self.level.below().map_err(A::Error::custom)?;
        self.inner.visit_seq(CountedInput::new(items, below))
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        let below = self.level.below().map_err(A::Error::custom)?;
        self.inner.visit_map(CountedInput::new(entries, below))
    }

    #[inline]
    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.level.below().map_err(A::Error::custom)?;
        let variant = self.around(variant);
        self.inner.visit_enum(variant)
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for CountedInput<'_, S> {
    type Value = S::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        let deserializer = self.around(deserializer);
        self.inner.deserialize(deserializer)
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for CountedInput<'_, A> {
    type Error = A::Error;

    #[inline]
    fn next_element_seed<T>(&mut self, seed: T) -> Result<Option<T::Value>, A::Error>
    where
        T: DeserializeSeed<'de>,
    {
        let seed = self.around(seed);
        self.inner.next_element_seed(seed)
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for CountedInput<'_, A> {
    type Error = A::Error;

    #[inline]
    fn next_key_seed<K>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error>
    where
        K: DeserializeSeed<'de>,
    {
        let seed = self.around(seed);
        self.inner.next_key_seed(seed)
    }

    #[inline]
    fn next_value_seed<T>(&mut self, seed: T) -> Result<T::Value, A::Error>
    where
        T: DeserializeSeed<'de>,
    {
        let seed = self.around(seed);
        self.inner.next_value_seed(seed)
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

/// At the level of the enum: that there may be one below was seen to by `visit_enum`.
impl<'de, 'a, A: EnumAccess<'de>> EnumAccess<'de> for CountedInput<'a, A> {
    type Error = A::Error;
    type Variant = CountedInput<'a, A::Variant>;

    #[inline]
    fn variant_seed<T>(self, seed: T) -> Result<(T::Value, Self::Variant), A::Error>
    where
        T: DeserializeSeed<'de>,
    {
        let (value, variant) = self.inner.variant_seed(seed)?;
        Ok((value, CountedInput::new(variant, self.level)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for CountedInput<'_, A> {
    type Error = A::Error;

    #[inline]
    fn unit_variant(self) -> Result<(), A::Error> {
        self.inner.unit_variant()
    }

    #[inline]
    fn newtype_variant_seed<T>(self, seed: T) -> Result<T::Value, A::Error>
    where
        T: DeserializeSeed<'de>,
    {
        let below = self.level.below().map_err(A::Error::custom)?;
        self.inner
            .newtype_variant_seed(CountedInput::new(seed, below))
    }

    /// The fields are below the enum, and not below a tuple that is below it.
    #[inline]
    fn tuple_variant<V>(self, len: usize, visitor: V) -> Result<V::Value, A::Error>
    where
        V: Visitor<'de>,
    {
        let visitor = self.around(visitor);
        self.inner.tuple_variant(len, visitor)
    }

    #[inline]
    fn struct_variant<V>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error>
    where
        V: Visitor<'de>,
    {
        let visitor = self.around(visitor);
        self.inner.struct_variant(fields, visitor)
    }
}
