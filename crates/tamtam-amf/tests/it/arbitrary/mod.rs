//! Values that nobody thought of.

#![allow(
    dead_code,
    reason = "each test that includes this file uses a part of it"
)]

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use tamtam_amf::amf3::{
    Array, Dictionary, Externalizable, MAX_INTEGER, MIN_INTEGER, Object, Traits, Vector,
};
use tamtam_amf::{amf0, amf3};

fn text() -> impl Strategy<Value = Arc<str>> {
    prop_oneof![
        // Few, so that they come again and are referred to.
        proptest::sample::select(vec!["", "a", "id", "colour", "ü", "\u{1f941}"])
            .prop_map(Arc::from),
        "\\PC{0,12}".prop_map(Arc::from),
        Just(Arc::from("long".repeat(50))),
    ]
}

fn name() -> impl Strategy<Value = Arc<str>> {
    prop_oneof![
        proptest::sample::select(vec!["a", "id", "colour", "ü"]).prop_map(Arc::from),
        "\\PC{1,12}".prop_map(Arc::from),
    ]
}

fn number() -> impl Strategy<Value = f64> {
    use proptest::num::f64::{INFINITE, NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    NORMAL | SUBNORMAL | ZERO | INFINITE | POSITIVE | NEGATIVE
}

pub(crate) fn amf0_value() -> impl Strategy<Value = amf0::Value> {
    use amf0::{TypedObject, Value};
    let leaf = prop_oneof![
        number().prop_map(Value::Number),
        any::<bool>().prop_map(Value::Boolean),
        text().prop_map(Value::String),
        Just(Value::Null),
        Just(Value::Undefined),
        Just(Value::Unsupported),
        text().prop_map(Value::XmlDocument),
        (number(), any::<i16>()).prop_map(|(milliseconds, time_zone)| Value::Date {
            milliseconds,
            time_zone
        }),
        amf3_value().prop_map(|value| Value::Avmplus(Box::new(value))),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        let properties = || vec((text(), inner.clone()), 0..5);
        prop_oneof![
            properties().prop_map(Value::Object),
            properties().prop_map(Value::EcmaArray),
            (text(), properties()).prop_map(|(class, properties)| Value::TypedObject(Box::new(
                TypedObject { class, properties }
            ))),
            vec(inner.clone(), 0..6).prop_map(Value::StrictArray),
        ]
    })
}

pub(crate) fn amf3_value() -> impl Strategy<Value = amf3::Value> {
    use amf3::Value;
    fn vector<T: std::fmt::Debug>(
        values: impl Strategy<Value = T>,
    ) -> impl Strategy<Value = Box<Vector<T>>> {
        (any::<bool>(), vec(values, 0..6))
            .prop_map(|(fixed, values)| Box::new(Vector { fixed, values }))
    }
    let leaf = prop_oneof![
        Just(Value::Undefined),
        Just(Value::Null),
        any::<bool>().prop_map(Value::Boolean),
        (MIN_INTEGER..=MAX_INTEGER).prop_map(Value::Integer),
        (-200..200).prop_map(Value::Integer),
        number().prop_map(Value::Double),
        text().prop_map(Value::String),
        text().prop_map(Value::XmlDocument),
        number().prop_map(Value::Date),
        text().prop_map(Value::Xml),
        vec(any::<u8>(), 0..20).prop_map(Value::ByteArray),
        vector(any::<i32>()).prop_map(Value::VectorInt),
        vector(any::<u32>()).prop_map(Value::VectorUint),
        vector(number()).prop_map(Value::VectorDouble),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        let properties = || vec((name(), inner.clone()), 0..4);
        prop_oneof![
            (properties(), vec(inner.clone(), 0..6)).prop_map(|(associative, dense)| Value::Array(
                Box::new(Array { associative, dense })
            )),
            (
                text(),
                any::<bool>(),
                vec((text(), inner.clone()), 0..4),
                properties()
            )
                .prop_map(|(class, dynamic, members, properties)| {
                    let (members, sealed) = members.into_iter().unzip();
                    Value::from(Object {
                        traits: Arc::new(Traits {
                            class,
                            dynamic,
                            members,
                        }),
                        sealed,
                        dynamic: if dynamic { properties } else { Vec::new() },
                    })
                }),
            externalizable(inner.clone()),
            (text(), vector(inner.clone()))
                .prop_map(|(class, vector)| Value::VectorObject { class, vector }),
            (any::<bool>(), vec((inner.clone(), inner.clone()), 0..4)).prop_map(
                |(weak_keys, entries)| {
                    Value::Dictionary(Box::new(Dictionary { weak_keys, entries }))
                }
            ),
        ]
    })
}

/// An object of a class of Flex, its members in the order in which they are written.
fn externalizable(
    value: impl Strategy<Value = amf3::Value> + Clone,
) -> impl Strategy<Value = amf3::Value> {
    let one = proptest::sample::select(vec![
        ("flex.messaging.io.ArrayCollection", &["source"][..]),
        ("flex.messaging.io.ArrayList", &["source"]),
        ("flex.messaging.io.ObjectProxy", &["object"]),
    ])
    .prop_map(|(class, members)| (class, members.to_vec()));
    let message = |class, last: Option<&'static str>| {
        let mut members = vec![
            "body",
            "clientId",
            "destination",
            "headers",
            "messageId",
            "timestamp",
            "timeToLive",
            "clientIdBytes",
            "messageIdBytes",
            "correlationId",
            "correlationIdBytes",
        ];
        members.extend(last);
        proptest::sample::subsequence(members, 0..11).prop_map(move |members| (class, members))
    };
    prop_oneof![
        one,
        message("DSK", None),
        message("DSA", None),
        message("DSC", Some("operation"))
    ]
    .prop_flat_map(move |(class, members)| {
        vec(value.clone(), members.len()).prop_map(move |values| {
            let names = members.iter().map(|name| Arc::from(*name));
            amf3::Value::from(Externalizable {
                class: class.into(),
                members: names.zip(values).collect(),
            })
        })
    })
}

/// Changes to bytes: overwritten, cut out, put in, cut off.
#[derive(Clone, Debug)]
pub(crate) enum Mutation {
    Set(usize, u8),
    Remove(usize),
    Insert(usize, u8),
    Truncate(usize),
}

pub(crate) fn mutations() -> impl Strategy<Value = Vec<Mutation>> {
    // Markers and small lengths do more harm than any byte.
    let byte = || prop_oneof![0_u8..0x14, any::<u8>()];
    vec(
        prop_oneof![
            4 => (any::<usize>(), byte()).prop_map(|(place, byte)| Mutation::Set(place, byte)),
            2 => any::<usize>().prop_map(Mutation::Remove),
            2 => (any::<usize>(), byte()).prop_map(|(place, byte)| Mutation::Insert(place, byte)),
            1 => any::<usize>().prop_map(Mutation::Truncate),
        ],
        0..6,
    )
}

pub(crate) fn mutate(mut bytes: Vec<u8>, mutations: &[Mutation]) -> Vec<u8> {
    for mutation in mutations {
        let length = bytes.len();
        match *mutation {
            Mutation::Insert(place, byte) => bytes.insert(place % (length + 1), byte),
            _ if length == 0 => {}
            Mutation::Set(place, byte) => bytes[place % length] = byte,
            Mutation::Remove(place) => {
                bytes.remove(place % length);
            }
            Mutation::Truncate(place) => bytes.truncate(place % length),
        }
    }
    bytes
}
