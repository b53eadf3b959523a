//! Values of every kind that a witness knows, and on which it does not differ: where it does, a test of its own says how.

use std::mem::discriminant;
use std::sync::Arc;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use tamtam_amf::amf3::{
    Array, Dictionary, Externalizable, MAX_INTEGER, MIN_INTEGER, Object, Traits, Vector,
};
use tamtam_amf::{amf0, amf3};

use super::Who;

/// Characters that each format writes alike everywhere: none beyond the first plane, and no zero.
fn text() -> impl Strategy<Value = Arc<str>> + Clone {
    prop_oneof![
        "[a-z ü€\n]{0,12}".prop_map(Arc::from),
        Just(Arc::from("long".repeat(50)))
    ]
}

fn name() -> impl Strategy<Value = Arc<str>> + Clone {
    "[a-zü€]{1,6}".prop_map(Arc::from)
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

/// Values of AMF0; with those of XML, which Py3AMF cannot write in AMF3, or without.
pub(super) fn amf0_known(who: Who, with_xml: bool) -> BoxedStrategy<amf0::Value> {
    use amf0::{TypedObject, Value};
    let leaf = prop_oneof![
        number(who).prop_map(Value::Number),
        any::<bool>().prop_map(Value::Boolean),
        text().prop_map(Value::String),
        Just(Value::Null),
        Just(Value::Undefined),
        xml().prop_map(move |xml| if with_xml {
            Value::XmlDocument(xml)
        } else {
            Value::Null
        }),
        milliseconds(who).prop_map(|milliseconds| Value::Date {
            milliseconds,
            time_zone: 0
        }),
    ];
    let tree = leaf.prop_recursive(4, 30, 5, |inner| {
        let properties = || {
            btree_map(name(), inner.clone(), 0..4)
                .prop_map(|map| map.into_iter().collect::<Vec<_>>())
        };
        prop_oneof![
            properties().prop_map(Value::Object),
            // One without names comes back from Py3AMF as an array without.
            properties().prop_filter_map("it has names", |properties| {
                (!properties.is_empty()).then_some(Value::EcmaArray(properties))
            }),
            properties().prop_map(|properties| Value::TypedObject(Box::new(TypedObject {
                class: "demo.Tile".into(),
                properties
            }))),
            vec(inner.clone(), 0..5).prop_map(Value::StrictArray),
        ]
    });
    let within = amf3_known(who, true).prop_map(|value| Value::Avmplus(Box::new(value)));
    match who {
        Who::BlazeDs => prop_oneof![4 => tree, 1 => within].boxed(),
        Who::Py3Amf => tree.boxed(),
    }
}

/// Values of AMF3; without those of which AMF0 knows nothing, which BlazeDS writes as something else there.
pub(super) fn amf3_known(who: Who, within_amf0: bool) -> BoxedStrategy<amf3::Value> {
    use amf3::Value;
    fn vector<T: std::fmt::Debug>(
        values: impl Strategy<Value = T>,
    ) -> impl Strategy<Value = Box<Vector<T>>> {
        (any::<bool>(), vec(values, 0..5))
            .prop_map(|(fixed, values)| Box::new(Vector { fixed, values }))
    }
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
    let leaf = match (who, within_amf0) {
        (Who::BlazeDs, true) => prop_oneof![6 => common, 1 => texts, 1 => vectors].boxed(),
        (Who::BlazeDs, false) => {
            prop_oneof![6 => common, 1 => texts, 1 => vectors, 1 => bytes].boxed()
        }
        (Who::Py3Amf, _) => prop_oneof![6 => common, 1 => bytes].boxed(),
    };
    leaf.prop_recursive(4, 30, 5, move |inner| {
        let properties = || {
            btree_map(name(), inner.clone(), 0..4)
                .prop_map(|map| map.into_iter().collect::<Vec<_>>())
        };
        let list = || vec(inner.clone(), 0..5).prop_map(|values| alike(values).into());
        let object = |class: &'static str| {
            (properties(), any::<usize>()).prop_map(move |(mut members, cut)| {
                let dynamic = members.split_off(cut % (members.len() + 1));
                let (names, sealed) = members.into_iter().unzip();
                Value::from(Object {
                    traits: Arc::new(Traits {
                        class: class.into(),
                        dynamic: true,
                        members: names,
                    }),
                    sealed,
                    dynamic,
                })
            })
        };
        let held = |class: &'static str, member: &'static str| {
            move |value| {
                Value::from(Externalizable {
                    class: class.into(),
                    members: vec![(member.into(), value)],
                })
            }
        };
        let common = prop_oneof![
            list(),
            (
                btree_map(name(), inner.clone(), 1..4),
                vec(inner.clone(), 0..4)
            )
                .prop_map(|(map, dense)| Value::Array(Box::new(Array {
                    associative: map.into_iter().collect(),
                    dense
                }))),
            object(""),
            object("demo.Tile"),
            list().prop_map(held("flex.messaging.io.ArrayCollection", "source")),
            object("").prop_map(held("flex.messaging.io.ObjectProxy", "object")),
        ];
        let objects = vector(inner.clone()).prop_map(|vector| Value::VectorObject {
            class: "".into(),
            vector: Box::new(Vector {
                fixed: vector.fixed,
                values: alike(vector.values),
            }),
        });
        // Neither key nor value can be null there.
        let dictionary = btree_map(name(), 0..100, 0..4).prop_map(|map| {
            let entry = |(name, value)| (Value::String(name), Value::Integer(value));
            Value::Dictionary(Box::new(Dictionary {
                weak_keys: false,
                entries: map.into_iter().map(entry).collect(),
            }))
        });
        match (who, within_amf0) {
            (Who::BlazeDs, true) => prop_oneof![6 => common, 1 => objects].boxed(),
            (Who::BlazeDs, false) => {
                prop_oneof![6 => common, 1 => objects, 1 => dictionary].boxed()
            }
            (Who::Py3Amf, _) => common.boxed(),
        }
    })
    .boxed()
}
