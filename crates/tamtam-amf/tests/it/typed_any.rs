//! That reading Rust types item by item means what the tree means.

use std::fmt;

use proptest::prelude::*;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use tamtam_amf::typed::{DeserializeError, from_amf0, from_amf3};
use tamtam_amf::{Limits, amf0, amf3};

use crate::arbitrary::{amf0_value, amf3_value, mutate, mutations};
use crate::typed::Everything;

fn from_old<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, DeserializeError> {
    from_amf0(bytes, Limits::default())
}

fn from_new<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, DeserializeError> {
    from_amf3(bytes, Limits::default())
}

/// Any value, as it comes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Any {
    Null,
    Boolean(bool),
    Whole(i128),
    /// As bits, so that one that is no number is equal to itself.
    Number(u64),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Any>),
    Map(Vec<(Any, Any)>),
}

impl<'de> Deserialize<'de> for Any {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyVisitor;
        impl<'de> Visitor<'de> for AnyVisitor {
            type Value = Any;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            fn visit_unit<E>(self) -> Result<Any, E> {
                Ok(Any::Null)
            }
            fn visit_bool<E>(self, boolean: bool) -> Result<Any, E> {
                Ok(Any::Boolean(boolean))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Any, E> {
                Ok(Any::Whole(number.into()))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Any, E> {
                Ok(Any::Whole(number.into()))
            }
            fn visit_f64<E>(self, number: f64) -> Result<Any, E> {
                Ok(Any::Number(number.to_bits()))
            }
            fn visit_str<E>(self, text: &str) -> Result<Any, E> {
                Ok(Any::Text(text.into()))
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Any, E> {
                Ok(Any::Bytes(bytes.into()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Any, A::Error> {
                let mut list = Vec::new();
                while let Some(value) = seq.next_element()? {
                    list.push(value);
                }
                Ok(Any::List(list))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Any, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Any::Map(entries))
            }
        }
        deserializer.deserialize_any(AnyVisitor)
    }
}

fn number(number: f64) -> Any {
    let whole = number.fract() == 0.0 && !(number == 0.0 && number.is_sign_negative());
    if whole && (-(2_f64.powi(63))..2_f64.powi(64)).contains(&number) {
        #[allow(clippy::cast_possible_truncation)]
        return Any::Whole(number as i128);
    }
    Any::Number(number.to_bits())
}

fn of_amf0(value: &amf0::Value) -> Any {
    use amf0::Value;
    let map = |properties: &amf0::Properties| {
        let entry = |name: &str, value| (Any::Text(name.into()), of_amf0(value));
        Any::Map(
            properties
                .iter()
                .map(|(name, value)| entry(name, value))
                .collect(),
        )
    };
    match value {
        Value::Number(value) => number(*value),
        Value::Boolean(boolean) => Any::Boolean(*boolean),
        Value::String(text) | Value::XmlDocument(text) => Any::Text(text.to_string()),
        Value::Object(properties) | Value::EcmaArray(properties) => map(properties),
        Value::TypedObject(object) => map(&object.properties),
        Value::Null | Value::Undefined | Value::Unsupported => Any::Null,
        Value::StrictArray(values) => Any::List(values.iter().map(of_amf0).collect()),
        Value::Date { milliseconds, .. } => Any::Number(milliseconds.to_bits()),
        Value::Avmplus(value) => of_amf3(value),
        Value::Reference(_) => panic!("references were replaced"),
    }
}

fn of_amf3(value: &amf3::Value) -> Any {
    use amf3::Value;
    let entries = |properties: &amf3::Properties| -> Vec<(Any, Any)> {
        let entry = |name: &str, value| (Any::Text(name.into()), of_amf3(value));
        properties
            .iter()
            .map(|(name, value)| entry(name, value))
            .collect()
    };
    let list = |values: &[Value]| Any::List(values.iter().map(of_amf3).collect());
    match value {
        Value::Undefined | Value::Null => Any::Null,
        Value::Boolean(boolean) => Any::Boolean(*boolean),
        Value::Integer(number) => Any::Whole((*number).into()),
        Value::Double(value) => number(*value),
        Value::String(text) | Value::XmlDocument(text) | Value::Xml(text) => {
            Any::Text(text.to_string())
        }
        Value::Date(milliseconds) => Any::Number(milliseconds.to_bits()),
        Value::Array(array) if array.associative.is_empty() => list(&array.dense),
        Value::Array(array) => {
            let mut map = entries(&array.associative);
            for (place, value) in array.dense.iter().enumerate() {
                map.push((Any::Text(place.to_string()), of_amf3(value)));
            }
            Any::Map(map)
        }
        Value::Object(object) => {
            let names = object
                .traits
                .members
                .iter()
                .map(|name| Any::Text(name.to_string()));
            let mut map: Vec<_> = names.zip(object.sealed.iter().map(of_amf3)).collect();
            map.extend(entries(&object.dynamic));
            Any::Map(map)
        }
        Value::Externalizable(object) if object.class.contains('.') => {
            of_amf3(&object.members[0].1)
        }
        Value::Externalizable(object) => Any::Map(entries(&object.members)),
        Value::ByteArray(bytes) => Any::Bytes(bytes.clone()),
        Value::VectorInt(ints) => Any::List(
            ints.values
                .iter()
                .map(|value| Any::Whole((*value).into()))
                .collect(),
        ),
        Value::VectorUint(uints) => Any::List(
            uints
                .values
                .iter()
                .map(|value| Any::Whole((*value).into()))
                .collect(),
        ),
        Value::VectorDouble(doubles) => Any::List(
            doubles
                .values
                .iter()
                .map(|value| Any::Number(value.to_bits()))
                .collect(),
        ),
        Value::VectorObject { vector, .. } => list(&vector.values),
        Value::Dictionary(dictionary) => {
            let entry = |(key, value): &(Value, Value)| (of_amf3(key), of_amf3(value));
            Any::Map(dictionary.entries.iter().map(entry).collect())
        }
        Value::Reference(_) => panic!("references were replaced"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn items_of_amf0_mean_what_the_tree_means(value in amf0_value()) {
        let bytes = amf0::encode(&value)?;
        prop_assert_eq!(from_old::<Any>(&bytes)?, of_amf0(&value));
        from_old::<serde::de::IgnoredAny>(&bytes)?;
    }

    #[test]
    fn items_of_amf3_mean_what_the_tree_means(value in amf3_value()) {
        let bytes = amf3::encode(&value)?;
        prop_assert_eq!(from_new::<Any>(&bytes)?, of_amf3(&value));
        from_new::<serde::de::IgnoredAny>(&bytes)?;
    }

    #[test]
    fn mutated_amf0_means_what_the_tree_means(value in amf0_value(), mutations in mutations()) {
        let bytes = mutate(amf0::encode(&value)?, &mutations);
        let tree = amf0::decode(&bytes, Limits::default());
        prop_assert_eq!(from_old::<Any>(&bytes).ok(), tree.ok().map(|tree| of_amf0(&tree)));
        let _ = from_old::<Everything>(&bytes);
    }

    #[test]
    fn mutated_amf3_means_what_the_tree_means(value in amf3_value(), mutations in mutations()) {
        let bytes = mutate(amf3::encode(&value)?, &mutations);
        let tree = amf3::decode(&bytes, Limits::default());
        prop_assert_eq!(from_new::<Any>(&bytes).ok(), tree.ok().map(|tree| of_amf3(&tree)));
        let _ = from_new::<Everything>(&bytes);
    }
}
