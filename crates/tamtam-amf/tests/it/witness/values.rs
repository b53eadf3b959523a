//! Values of every kind that a witness knows, and on which it does not differ: where it does, a test of its own says how.
//!
//! In them are places for references, which `ties.rs` ties.

use std::collections::BTreeMap;
use std::mem::discriminant;
use std::sync::Arc;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use tamtam_amf::amf3::{
    Array, Dictionary, Externalizable, MAX_INTEGER, MIN_INTEGER, Object, Traits, Vector,
};
use tamtam_amf::packet::Version;
use tamtam_amf::{amf0, amf3};

use super::Who;
use super::ties::is_numbered;
use super::what::of_amf3;

/// Characters that each format writes alike everywhere: none beyond the first plane, and no zero.
fn text() -> impl Strategy<Value = Arc<str>> + Clone {
    prop_oneof![
        // Those that come again are referred to.
        20 => select(vec!["", "a", "id", "ü"]).prop_map(Arc::from),
        20 => "[a-z ü€\n]{0,12}".prop_map(Arc::from),
        20 => Just(Arc::from("long".repeat(50))),
        // Beyond the length that a string has in AMF0: it is a long string there.
        1 => Just(Arc::from("longer".repeat(12_000)))
    ]
}

fn name() -> impl Strategy<Value = Arc<str>> + Clone {
    prop_oneof![
        // Those that come again, so that traits come again, too.
        select(vec!["a", "id", "ü"]).prop_map(Arc::from),
        "[a-zü€]{1,6}".prop_map(Arc::from)
    ]
}

fn number(who: Who) -> impl Strategy<Value = f64> + Clone {
    use proptest::num::f64::{INFINITE, NEGATIVE, NORMAL, POSITIVE, QUIET_NAN, SUBNORMAL, ZERO};
    let any = NORMAL | SUBNORMAL | ZERO | INFINITE | POSITIVE | NEGATIVE | QUIET_NAN;
    prop_oneof![
        any.prop_map(|number: f64| if number.is_nan() { f64::NAN } else { number }),
        (-1_000_i32..1_000).prop_map(f64::from),
        Just(-0.0),
    ]
    .prop_map(move |number| {
        if who == Who::Py3Amf && number == 0.0 {
            0.0
        } else {
            number
        }
    })
}

/// Milliseconds: whole ones, of the years 1 to 9999; from 1970 on for Py3AMF.
fn milliseconds(who: Who) -> impl Strategy<Value = f64> + Clone {
    let first: i64 = match who {
        Who::BlazeDs => -62_000_000_000_000,
        Who::Py3Amf => 0,
    };
    #[allow(clippy::cast_precision_loss)]
    (first..253_000_000_000_000).prop_map(|milliseconds| milliseconds as f64)
}

fn xml() -> impl Strategy<Value = Arc<str>> + Clone {
    "[a-z]{0,5}".prop_map(|inside| Arc::from(format!("<a b=\"1\">{inside}.</a>")))
}

/// Values under names that are the numbers of their places, mostly with holes between them, and some under other names.
fn sparse<T: Clone + std::fmt::Debug>(
    value: impl Strategy<Value = T> + Clone,
    first: u32,
) -> impl Strategy<Value = Vec<(Arc<str>, T)>> {
    let place = prop_oneof![first..first + 6, first..100_000];
    let numbered = btree_map(place, value.clone(), 1..4);
    (numbered, btree_map(name(), value, 0..2)).prop_map(|(numbered, named)| {
        let numbered = numbered.into_iter();
        let numbered = numbered.map(|(place, value)| (Arc::from(place.to_string()), value));
        numbered.chain(named).collect()
    })
}

/// All of the list, or the numbers of one kind with which it begins if they are three or more: see `blazeds_differs_as_the_table_says`.
fn alike(mut values: Vec<amf3::Value>) -> Vec<amf3::Value> {
    use amf3::Value::{Double, Integer};
    if let Some(first @ (Integer(_) | Double(_))) = values.first() {
        let kind = discriminant(first);
        let alike = values
            .iter()
            .take_while(|value| discriminant(*value) == kind);
        let count = alike.count();
        if count >= 3 {
            values.truncate(count);
        }
    }
    values
}

/// Values of AMF0 for a witness that writes them in the format of that version: Py3AMF cannot write all of them in AMF3.
pub(super) fn amf0_known(who: Who, version: Version) -> BoxedStrategy<amf0::Value> {
    use amf0::{TypedObject, Value};
    let writes_all = who == Who::BlazeDs || version == Version::Amf0;
    let leaf = prop_oneof![
        number(who).prop_map(Value::Number),
        any::<bool>().prop_map(Value::Boolean),
        text().prop_map(Value::String),
        Just(Value::Null),
        Just(Value::Undefined),
        xml().prop_map(move |xml| if writes_all {
            Value::XmlDocument(xml)
        } else {
            Value::Null
        }),
        milliseconds(who).prop_map(|milliseconds| Value::Date {
            milliseconds,
            time_zone: 0
        }),
        any::<u16>().prop_map(Value::Reference),
    ];
    let within = amf3_known(who, true).prop_map(|value| Value::Avmplus(Box::new(value)));
    let leaf = match who {
        Who::BlazeDs => prop_oneof![15 => leaf, 1 => within.clone()].boxed(),
        Who::Py3Amf => leaf.boxed(),
    };
    let tree = leaf.prop_recursive(4, 30, 5, move |inner| {
        let properties = || {
            btree_map(name(), inner.clone(), 0..4)
                .prop_map(|map| map.into_iter().collect::<Vec<_>>())
        };
        let common = prop_oneof![
            properties().prop_map(Value::Object),
            // One without names comes back from Py3AMF as an array without, if it writes AMF3.
            properties().prop_map(move |properties| if writes_all || !properties.is_empty() {
                Value::EcmaArray(properties)
            } else {
                Value::Object(properties)
            }),
            properties().prop_map(|properties| Value::TypedObject(Box::new(TypedObject {
                class: "demo.Tile".into(),
                properties
            }))),
            vec(inner.clone(), 0..5).prop_map(Value::StrictArray),
        ];
        let sparse = sparse(inner.clone(), 0).prop_map(Value::EcmaArray);
        if writes_all {
            prop_oneof![4 => common, 1 => sparse].boxed()
        } else {
            common.boxed()
        }
    });
    match who {
        Who::BlazeDs => prop_oneof![4 => tree, 1 => within].boxed(),
        Who::Py3Amf => tree.boxed(),
    }
}

fn vector<T: std::fmt::Debug>(
    values: impl Strategy<Value = T>,
) -> impl Strategy<Value = Box<Vector<T>>> {
    (any::<bool>(), vec(values, 0..5))
        .prop_map(|(fixed, values)| Box::new(Vector { fixed, values }))
}

/// Values of AMF3; without those of which AMF0 knows nothing, which BlazeDS writes as something else there.
pub(super) fn amf3_known(who: Who, within_amf0: bool) -> BoxedStrategy<amf3::Value> {
    use amf3::Value;
    let leaf = leaf(who, within_amf0);
    let key = key(who, leaf.clone());
    let leaf = prop_oneof![7 => leaf, 2 => any::<u32>().prop_map(Value::Reference)];
    leaf.prop_recursive(4, 30, 5, move |inner| {
        let common = containers(inner.clone());
        let objects = (select(vec!["", "*", "demo.Tile"]), vector(inner.clone())).prop_map(
            |(class, vector)| Value::VectorObject {
                class: class.into(),
                vector: Box::new(Vector {
                    fixed: vector.fixed,
                    values: alike(vector.values),
                }),
            },
        );
        let list = vec(inner.clone(), 0..5).prop_map(|values| alike(values).into());
        let array_list = list.prop_map(held("flex.messaging.io.ArrayList", "source"));
        match (who, within_amf0) {
            (Who::BlazeDs, true) => prop_oneof![6 => common, 1 => objects, 1 => array_list].boxed(),
            (Who::BlazeDs, false) => {
                let dictionary = dictionary(key.clone(), inner);
                prop_oneof![6 => common, 1 => objects, 1 => array_list, 1 => dictionary].boxed()
            }
            (Who::Py3Amf, _) => common.boxed(),
        }
    })
    .boxed()
}

/// Values that contain no others.
fn leaf(who: Who, within_amf0: bool) -> BoxedStrategy<amf3::Value> {
    use amf3::Value;
    let common = prop_oneof![
        Just(Value::Undefined),
        Just(Value::Null),
        any::<bool>().prop_map(Value::Boolean),
        (MIN_INTEGER..=MAX_INTEGER).prop_map(Value::Integer),
        (-200..200).prop_map(Value::Integer),
        number(who).prop_map(Value::Double),
        text().prop_map(Value::String),
        milliseconds(who).prop_map(Value::Date),
    ];
    let bytes = vec(any::<u8>(), 0..20).prop_map(Value::ByteArray);
    let texts = prop_oneof![
        xml().prop_map(Value::Xml),
        xml().prop_map(Value::XmlDocument)
    ];
    let vectors = prop_oneof![
        vector(any::<i32>()).prop_map(Value::VectorInt),
        vector(any::<u32>()).prop_map(Value::VectorUint),
        vector(number(who)).prop_map(Value::VectorDouble),
    ];
    match (who, within_amf0) {
        (Who::BlazeDs, true) => prop_oneof![6 => common, 1 => texts, 1 => vectors].boxed(),
        (Who::BlazeDs, false) => {
            prop_oneof![6 => common, 1 => texts, 1 => vectors, 1 => bytes].boxed()
        }
        (Who::Py3Amf, _) => prop_oneof![6 => common, 1 => bytes].boxed(),
    }
}

/// An object of a class of Flex that is what it holds.
fn held(class: &'static str, member: &'static str) -> impl Fn(amf3::Value) -> amf3::Value {
    move |value| {
        amf3::Value::from(Externalizable {
            class: class.into(),
            members: vec![(member.into(), value)],
        })
    }
}

/// Values that contain others, of the kinds that both witnesses know.
fn containers(inner: BoxedStrategy<amf3::Value>) -> BoxedStrategy<amf3::Value> {
    use amf3::Value;
    let properties = || {
        btree_map(name(), inner.clone(), 0..4).prop_map(|map| map.into_iter().collect::<Vec<_>>())
    };
    let list = || vec(inner.clone(), 0..5).prop_map(|values| alike(values).into());
    let object = |class: &'static str| {
        (properties(), any::<usize>(), any::<bool>()).prop_map(
            move |(mut members, cut, is_dynamic)| {
                let dynamic = if is_dynamic {
                    members.split_off(cut % (members.len() + 1))
                } else {
                    Vec::new()
                };
                let (names, sealed) = members.into_iter().unzip();
                Value::from(Object {
                    traits: Arc::new(Traits {
                        class: class.into(),
                        dynamic: is_dynamic,
                        members: names,
                    }),
                    sealed,
                    dynamic,
                })
            },
        )
    };
    let array = |(associative, dense): (BTreeMap<_, _>, _)| {
        Value::Array(Box::new(Array {
            associative: associative.into_iter().collect(),
            dense,
        }))
    };
    let sparse = vec(inner.clone(), 0..4).prop_flat_map({
        let inner = inner.clone();
        move |dense| {
            let first = u32::try_from(dense.len()).expect("it is small");
            let array = move |associative| {
                let dense = dense.clone();
                Value::Array(Box::new(Array { associative, dense }))
            };
            sparse(inner.clone(), first).prop_map(array)
        }
    });
    prop_oneof![
        list(),
        (
            btree_map(name(), inner.clone(), 1..4),
            vec(inner.clone(), 0..4)
        )
            .prop_map(array),
        sparse,
        object(""),
        object("demo.Tile"),
        list().prop_map(held("flex.messaging.io.ArrayCollection", "source")),
        object("").prop_map(held("flex.messaging.io.ObjectProxy", "object")),
    ]
    .boxed()
}

/// Keys of a dictionary: values of any kind but null, small ones, without references.
fn key(who: Who, leaf: BoxedStrategy<amf3::Value>) -> BoxedStrategy<amf3::Value> {
    leaf.prop_recursive(2, 6, 3, containers)
        .prop_map(move |key| {
            if of_amf3(&key, who) == "n" {
                amf3::Value::Boolean(false)
            } else {
                key
            }
        })
        .boxed()
}

/// A dictionary, one key of which may be a reference; without null, neither as a key nor as a value.
fn dictionary(
    key: impl Strategy<Value = amf3::Value> + Clone,
    value: impl Strategy<Value = amf3::Value> + Clone,
) -> impl Strategy<Value = amf3::Value> {
    use amf3::Value;
    let first = (any::<u32>().prop_map(Value::Reference), value.clone());
    let others = vec((key, value), 0..4);
    let first = proptest::option::weighted(0.3, first);
    (any::<bool>(), first, others).prop_map(|(weak_keys, first, others)| {
        // BlazeDS looks for a key by what is in it, whatever its class.
        let alike = |key: &Value| of_amf3(key, Who::BlazeDs).replace("{64656d6f2e54696c65;", "{;");
        let mut known = BTreeMap::new();
        for (key, value) in others {
            // The reference may mean something like the other keys, if these are not plain, or become `true`.
            if first.is_none() || !is_numbered(&key) && key != Value::Boolean(true) {
                known.entry(alike(&key)).or_insert((key, value));
            }
        }
        let entries = first.into_iter().chain(known.into_values());
        let entries = entries.map(|(key, value)| match value {
            Value::Null | Value::Undefined => (key, Value::Boolean(false)),
            value => (key, value),
        });
        Value::Dictionary(Box::new(Dictionary {
            weak_keys,
            entries: entries.collect(),
        }))
    })
}
