//! The names of a struct's fields, in their order, which a description of its type does not keep.

use std::cell::Cell;

use serde::de::{DeserializeOwned, Deserializer, Visitor};

use super::ReadError;

/// The names of the fields of a type that is read as a struct, from the first on; other names of a field stand beside its own.
pub(crate) fn field_names<T: DeserializeOwned>() -> Option<&'static [&'static str]> {
    let found = Cell::new(None);
    // It is refused as soon as it has said what it wants.
    let _ = T::deserialize(Probe(&found));
    found.get()
}

/// Gives nothing, and notes what was asked for.
struct Probe<'f>(&'f Cell<Option<&'static [&'static str]>>);

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, ReadError> {
        Err(ReadError("nothing is here".into()))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.0.set(Some(fields));
        self.deserialize_any(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::field_names;

    #[derive(serde::Deserialize)]
    #[allow(dead_code, reason = "only their names are of interest")]
    struct Zebra {
        stripes: u8,
        #[serde(rename = "alias")]
        name: String,
    }

    #[test]
    fn fields_are_named_in_their_order() {
        assert_eq!(field_names::<Zebra>(), Some(&["stripes", "alias"][..]));
        assert_eq!(field_names::<(u8, u8)>(), None);
        assert_eq!(field_names::<crate::Value>(), None);
    }
}
