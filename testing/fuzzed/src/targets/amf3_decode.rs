//! Any bytes as AMF3: no panic, no more memory than the limits allow, and what they mean is written and read the same
//! again, also the other way round; types are made of them as trees are.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;
use tamtam_amf::amf3::{
    Array, Classes, Decoder, Dictionary, Encoder, Object, Properties, Traits, Value, Vector,
    decode, encode,
};
use tamtam_amf::typed::{Mapping, UnknownMembers, from_amf3};
use tamtam_amf::{Cause, Limits};

/// Small enough for references to reach them.
const LIMITS: Limits = Limits {
    bytes: 1 << 20,
    depth: 128,
    values: 1 << 16,
};

/// What a deserializer makes of objects without items in between.
#[derive(Deserialize, Debug)]
#[allow(dead_code)]
struct Row {
    x: f64,
    name: Option<String>,
    rows: Vec<Row>,
}

/// The value with each number, boolean and flag the other way round: a reader that takes one for another, or always for the same,
/// reads both alike, and then one of them is not what was written.
fn turned(value: &Value) -> Value {
    let all = |values: &[Value]| values.iter().map(turned).collect::<Vec<_>>();
    let named = |properties: &Properties| {
        let properties = properties.iter();
        properties
            .map(|(name, value)| (Arc::clone(name), turned(value)))
            .collect()
    };
    match value {
        Value::Boolean(boolean) => Value::Boolean(!boolean),
        Value::Integer(number) => Value::Integer(!number),
        Value::Double(number) => Value::Double(-number),
        Value::Date(milliseconds) => Value::Date(-milliseconds),
        Value::VectorInt(vector) => Value::VectorInt(turned_vector(vector, |number| !number)),
        Value::VectorUint(vector) => Value::VectorUint(turned_vector(vector, |number| !number)),
        Value::VectorDouble(vector) => Value::VectorDouble(turned_vector(vector, |number| -number)),
        Value::VectorObject { class, vector } => Value::VectorObject {
            class: Arc::clone(class),
            vector: Box::new(Vector {
                fixed: !vector.fixed,
                values: all(&vector.values),
            }),
        },
        Value::Array(array) => Value::Array(Box::new(Array {
            associative: named(&array.associative),
            dense: all(&array.dense),
        })),
        Value::Object(object) => Value::Object(Box::new(Object {
            traits: Arc::new(Traits {
                // An object that has properties beside its members needs it.
                dynamic: !object.traits.dynamic || !object.dynamic.is_empty(),
                ..Traits::clone(&object.traits)
            }),
            sealed: all(&object.sealed),
            dynamic: named(&object.dynamic),
        })),
        Value::Dictionary(dictionary) => {
            let entries = dictionary.entries.iter();
            Value::Dictionary(Box::new(Dictionary {
                weak_keys: !dictionary.weak_keys,
                entries: entries
                    .map(|(key, value)| (turned(key), turned(value)))
                    .collect(),
            }))
        }
        other => other.clone(),
    }
}

fn turned_vector<T: Copy>(vector: &Vector<T>, turn: impl Fn(T) -> T) -> Box<Vector<T>> {
    Box::new(Vector {
        fixed: !vector.fixed,
        values: vector.values.iter().map(|value| turn(*value)).collect(),
    })
}

/// Types are made of numbers as the tree has them.
fn check_vectors(bytes: &[u8], value: &Value) {
    match value {
        Value::VectorInt(vector) => {
            let made = from_amf3::<Vec<i32>>(bytes, LIMITS).expect("integers");
            assert_eq!(made, vector.values);
        }
        Value::VectorUint(vector) => {
            let made = from_amf3::<Vec<u32>>(bytes, LIMITS).expect("integers");
            assert_eq!(made, vector.values);
        }
        Value::VectorDouble(vector) => {
            let made = from_amf3::<Vec<f64>>(bytes, LIMITS).expect("numbers");
            let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&made), bits(&vector.values));
        }
        _ => {}
    }
}

/// Panics where what this file promises does not hold for these bytes.
pub fn run(bytes: &[u8]) {
    let rows = from_amf3::<Vec<Row>>(bytes, LIMITS);
    if rows.is_ok()
        && let Err(error) = decode(bytes, LIMITS)
    {
        // What a type leaves out may be a reference, which a tree has a copy of.
        let is_of_copies = matches!(
            error.cause,
            Cause::Cycle { .. }
                | Cause::Repeated { .. }
                | Cause::TooMany { .. }
                | Cause::TooDeep { .. }
        );
        assert!(is_of_copies, "what is a type is a tree: {error}");
    }
    // Where each name is looked at the members are read one by one, and mean the same.
    let strict = Mapping::new().unknown_members(UnknownMembers::Refuse);
    if let Ok(slowly) = strict.from_amf3::<Vec<Row>>(bytes, LIMITS) {
        let rows = rows.expect("members that are all known are ignored nowhere");
        assert_eq!(format!("{rows:?}"), format!("{slowly:?}"));
    }
    let _ = from_amf3::<BTreeMap<String, (f64, Vec<u8>)>>(bytes, LIMITS);
    if let Ok(value) = decode(bytes, LIMITS) {
        from_amf3::<IgnoredAny>(bytes, LIMITS).expect("what is a tree has items");
        let written = encode(&value).expect("what was decoded can be written");
        let again = decode(&written, Limits::default()).expect("what was written can be read");
        assert_eq!(encode(&again).expect("as before"), written);
        let written = encode(&turned(&value)).expect("it can be written as well");
        let again = decode(&written, Limits::default()).expect("what was written can be read");
        assert_eq!(encode(&again).expect("as before"), written);
        check_vectors(bytes, &value);
    }
    if let Ok(value) = Decoder::new(bytes, LIMITS).value_with_references() {
        let written = encode(&value).expect("what was decoded can be written");
        let again = Decoder::new(&written, Limits::default()).value_with_references();
        assert_eq!(
            encode(&again.expect("what was written can be read")).expect("as before"),
            written
        );
    }
    // With a class whose objects are four bytes and a value.
    let classes = Classes::flex().with(
        "Mine",
        |input| {
            let number = i32::from_be_bytes(input.array()?);
            input.set("number", number.into())?;
            input.value("value")
        },
        |object, encoder| {
            encoder.write_raw(&[0; 4])?;
            encoder.write_value(object.get("value").expect("it was read"))
        },
    );
    let read = Decoder::new(bytes, LIMITS).with_classes(&classes).value();
    if let Ok(value) = read {
        let mut written = Vec::new();
        let mut encoder = Encoder::new(&mut written).with_classes(&classes);
        encoder
            .write_value(&value)
            .expect("what was decoded can be written");
        let mut decoder = Decoder::new(&written, Limits::default()).with_classes(&classes);
        decoder.value().expect("what was written can be read");
    }
    let mut decoder = Decoder::new(bytes, LIMITS).with_classes(&classes);
    while let Ok(Some(_)) = decoder.next_event() {}
}
