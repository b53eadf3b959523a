//! A format that is written to, with a count of levels.

use core::fmt;

use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::Level;

/// Something of serde's, at a level of the value that is written: what it hands out is, too.
pub(super) struct CountedOutput<'a, T> {
    inner: T,
    level: Level<'a>,
}

impl<'a, T> CountedOutput<'a, T> {
    #[inline]
    pub(super) fn new(inner: T, level: Level<'a>) -> Self {
        CountedOutput { inner, level }
    }

    #[inline]
    fn around<U>(&self, inner: U) -> CountedOutput<'a, U> {
        CountedOutput::new(inner, self.level)
    }
}

/// A value in another one.
impl<T: Serialize + ?Sized> Serialize for CountedOutput<'_, &T> {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.inner.serialize(self.around(serializer))
    }
}

macro_rules! serializes {
    ($($name:ident($type:ty);)*) => {$(
        #[inline]
        fn $name(self, value: $type) -> Result<S::Ok, S::Error> {
            self.inner.$name(value)
        }
    )*};
}

/// What has other values in it.
macro_rules! opens {
    ($($name:ident($($argument:ident: $type:ty),*) -> $compound:ident;)*) => {$(
        #[inline]
        fn $name(self, $($argument: $type),*) -> Result<Self::$compound, S::Error> {
            let level = self.level.below().map_err(S::Error::custom)?;
            Ok(CountedOutput::new(self.inner.$name($($argument),*)?, level))
        }
    )*};
}

impl<'a, S: Serializer> Serializer for CountedOutput<'a, S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = CountedOutput<'a, S::SerializeSeq>;
    type SerializeTuple = CountedOutput<'a, S::SerializeTuple>;
    type SerializeTupleStruct = CountedOutput<'a, S::SerializeTupleStruct>;
    type SerializeTupleVariant = CountedOutput<'a, S::SerializeTupleVariant>;
    type SerializeMap = CountedOutput<'a, S::SerializeMap>;
    type SerializeStruct = CountedOutput<'a, S::SerializeStruct>;
    type SerializeStructVariant = CountedOutput<'a, S::SerializeStructVariant>;

    serializes! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_i128(i128);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_u128(u128);
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_char(char);
        serialize_str(&str);
        serialize_bytes(&[u8]);
        serialize_unit_struct(&'static str);
    }

    opens! {
        serialize_seq(len: Option<usize>) -> SerializeSeq;
        serialize_tuple(len: usize) -> SerializeTuple;
        serialize_tuple_struct(name: &'static str, len: usize) -> SerializeTupleStruct;
        serialize_tuple_variant(name: &'static str, index: u32, variant: &'static str, len: usize) -> SerializeTupleVariant;
        serialize_map(len: Option<usize>) -> SerializeMap;
        serialize_struct(name: &'static str, len: usize) -> SerializeStruct;
        serialize_struct_variant(name: &'static str, index: u32, variant: &'static str, len: usize) -> SerializeStructVariant;
    }

    #[inline]
    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.inner.serialize_none()
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        let below = self.level.below().map_err(S::Error::custom)?;
        self.inner.serialize_some(&CountedOutput::new(value, below))
    }

    #[inline]
    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.inner.serialize_unit()
    }

    #[inline]
    fn serialize_unit_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<S::Ok, S::Error> {
        self.level.below().map_err(S::Error::custom)?;
        self.inner.serialize_unit_variant(name, index, variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let value = self.around(value);
        self.inner.serialize_newtype_struct(name, &value)
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let below = self.level.below().map_err(S::Error::custom)?;
        let value = CountedOutput::new(value, below);
        self.inner
            .serialize_newtype_variant(name, index, variant, &value)
    }

    #[inline]
    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.inner.collect_str(value)
    }

    #[inline]
    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

macro_rules! items {
    ($($of:ident: $name:ident;)*) => {$(
        impl<S: $of> $of for CountedOutput<'_, S> {
            type Ok = S::Ok;
            type Error = S::Error;

            #[inline]
            fn $name<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
                let value = self.around(value);
                self.inner.$name(&value)
            }

            #[inline]
            fn end(self) -> Result<S::Ok, S::Error> {
                self.inner.end()
            }
        }
    )*};
}

items! {
    SerializeSeq: serialize_element;
    SerializeTuple: serialize_element;
    SerializeTupleStruct: serialize_field;
    SerializeTupleVariant: serialize_field;
}

macro_rules! fields {
    ($($of:ident)*) => {$(
        impl<S: $of> $of for CountedOutput<'_, S> {
            type Ok = S::Ok;
            type Error = S::Error;

            #[inline]
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), S::Error> {
                let value = self.around(value);
                self.inner.serialize_field(key, &value)
            }

            #[inline]
            fn skip_field(&mut self, key: &'static str) -> Result<(), S::Error> {
                self.inner.skip_field(key)
            }

            #[inline]
            fn end(self) -> Result<S::Ok, S::Error> {
                self.inner.end()
            }
        }
    )*};
}

fields!(SerializeStruct SerializeStructVariant);

impl<S: SerializeMap> SerializeMap for CountedOutput<'_, S> {
    type Ok = S::Ok;
    type Error = S::Error;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), S::Error> {
        let key = self.around(key);
        self.inner.serialize_key(&key)
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
        let value = self.around(value);
        self.inner.serialize_value(&value)
    }

    #[inline]
    fn serialize_entry<K, V>(&mut self, key: &K, value: &V) -> Result<(), S::Error>
    where
        K: Serialize + ?Sized,
        V: Serialize + ?Sized,
    {
        let (key, value) = (self.around(key), self.around(value));
        self.inner.serialize_entry(&key, &value)
    }

    #[inline]
    fn end(self) -> Result<S::Ok, S::Error> {
        self.inner.end()
    }
}
