//! A value as serde reads it: out of any format that says of itself what it holds, and out of another value as it is.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::Value;

/// By this name a reader of ours knows that a [`Value`] is asked for.
pub(super) const ANY: &str = "tamtam_gateway::Value";

thread_local! {
    /// A value on its way from a reader of ours to the visitor that it calls at once.
    static ON_ITS_WAY: Cell<Option<Value>> = const { Cell::new(None) };
}

/// Gives a visitor that asked for [`ANY`] the value as it is: dates, bytes and classes, for which serde has no words.
pub(super) fn hand_over<'de, V: Visitor<'de>, E: Error>(
    value: Value,
    visitor: V,
) -> Result<V::Value, E> {
    ON_ITS_WAY.set(Some(value));
    let result = visitor.visit_unit();
    // A type of the user may have the same name, and another visitor.
    ON_ITS_WAY.take();
    result
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_newtype_struct(ANY, Whatever(None))
    }
}

impl JsonSchema for Value {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Any".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::from(true)
    }
}

/// How much a value from outside may hold.
#[derive(Debug)]
pub(crate) struct Budget {
    values: Cell<usize>,
    depth: usize,
    exceeded: Cell<Option<&'static str>>,
}

impl Budget {
    /// So many values at most, so deep in each other.
    pub(crate) fn new(values: usize, depth: usize) -> Budget {
        Budget {
            values: Cell::new(values),
            depth,
            exceeded: Cell::new(None),
        }
    }

    /// What was exceeded.
    pub(crate) fn exceeded(&self) -> Option<&'static str> {
        self.exceeded.get()
    }

    /// Takes room for one value that lies so deep.
    pub(crate) fn take(&self, depth: usize) -> Result<(), &'static str> {
        let left = self.values.get();
        let reason = if depth > self.depth {
            "values lie too deep in each other"
        } else if left == 0 {
            "there are too many values"
        } else {
            self.values.set(left - 1);
            return Ok(());
        };
        self.exceeded.set(Some(reason));
        Err(reason)
    }
}

/// Reads a value within a budget.
pub(crate) struct Within<'b> {
    pub(crate) budget: &'b Budget,
    pub(crate) depth: usize,
}

impl<'de> DeserializeSeed<'de> for Within<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.budget.take(self.depth).map_err(D::Error::custom)?;
        deserializer.deserialize_any(Whatever(Some(self)))
    }
}

/// Takes whatever comes; within a budget, if there is one.
struct Whatever<'b>(Option<Within<'b>>);

impl<'b> Whatever<'b> {
    fn inner(&self) -> Inner<'b> {
        Inner(self.0.as_ref().map(|within| Within {
            budget: within.budget,
            depth: within.depth + 1,
        }))
    }
}

/// Reads what lies in a value.
struct Inner<'b>(Option<Within<'b>>);

impl<'de> DeserializeSeed<'de> for Inner<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        match self.0 {
            Some(within) => within.deserialize(deserializer),
            None => Value::deserialize(deserializer),
        }
    }
}

impl<'de> Visitor<'de> for Whatever<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<Value, D::Error> {
        inner.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(i64::try_from(value).map_or(Value::Unsigned(value), Value::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::Text(value))
    }

    fn visit_bytes<E>(self, value: &[u8]) -> Result<Value, E> {
        Ok(Value::Bytes(value.to_vec()))
    }

    fn visit_byte_buf<E>(self, value: Vec<u8>) -> Result<Value, E> {
        Ok(Value::Bytes(value))
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Value, D::Error> {
        inner.deserialize_any(self)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(ON_ITS_WAY.take().unwrap_or(Value::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(self.inner())? {
            values.push(value);
        }
        Ok(Value::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Vec::new();
        while let Some(name) = map.next_key()? {
            members.push((name, map.next_value_seed(self.inner())?));
        }
        Ok(Value::Map(members))
    }
}
