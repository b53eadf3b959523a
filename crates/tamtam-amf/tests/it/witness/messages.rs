//! The small messages of Flex, with whatever members.

use proptest::prelude::*;
use tamtam_amf::amf3;

use super::ties::tied_amf3;
use super::values::amf3_known;
use super::what::of_amf3;
use super::{Who, Witness, amf3_of, some};

/// Shows small messages whose ids are texts, or bytes, where they are not both.
fn agree_on_small_messages(who: Who) {
    let mut witness = Witness::call(who);
    for message in some(&message(who)) {
        let bytes = amf3::encode(&message).unwrap();
        let (what, written) = witness
            .ask('3', &bytes)
            .unwrap_or_else(|e| panic!("{e}{message:?}"));
        assert_eq!(what, of_amf3(&message, who), "{message:?}");
        let again = amf3_of(&written);
        assert_eq!(of_amf3(&again, who), what, "{message:?}");
    }
}

/// A small message with some of its members. Py3AMF cannot write ids that are texts, and takes what is empty for nothing.
fn message(who: Who) -> impl Strategy<Value = amf3::Value> {
    let kind = proptest::sample::select(vec!["DSK", "DSA", "DSC"]);
    let id = move |name: &'static str| {
        let bytes = any::<[u8; 16]>();
        let bytes = bytes
            .prop_map(move |bytes| (format!("{name}Bytes"), amf3::Value::ByteArray(bytes.into())));
        let text = "[a-z]{1,9}".prop_map(move |text| (name.to_owned(), amf3::Value::from(&*text)));
        match who {
            Who::BlazeDs => prop_oneof![bytes, text].boxed(),
            Who::Py3Amf => bytes.boxed(),
        }
    };
    let body = amf3_known(who, false).prop_map(|value| ("body".to_owned(), vec![value].into()));
    let headers = amf3_known(who, false).prop_map(|value| {
        let headers = amf3::Object {
            traits: amf3::Traits::dynamic("").into(),
            sealed: vec![],
            dynamic: vec![("DSId".into(), value)],
        };
        ("headers".to_owned(), amf3::Value::from(headers))
    });
    let destination =
        "[a-z]{1,9}".prop_map(|text| ("destination".to_owned(), amf3::Value::from(&*text)));
    let time = |name: &'static str| {
        (1_i32..i32::MAX).prop_map(move |time| {
            (
                name.to_owned(),
                amf3::Value::Double(f64::from(time) * 1000.0),
            )
        })
    };
    let optional = |member| proptest::option::of(member).boxed();
    // An id and a time both make up where they are missing.
    let members = vec![
        optional(body.boxed()),
        optional(id("clientId")),
        optional(destination.boxed()),
        optional(headers.boxed()),
        id("messageId").prop_map(Some).boxed(),
        time("timestamp").prop_map(Some).boxed(),
        optional(time("timeToLive").boxed()),
        optional(id("correlationId")),
    ];
    (kind, members, 1_i32..1000).prop_map(|(class, members, operation)| {
        let mut members: Vec<_> = members.into_iter().flatten().collect();
        // In the order in which they are written: ids of bytes come after all others of their class.
        members.sort_by_key(|(name, _)| (name.starts_with("correlation"), name.ends_with("Bytes")));
        if class == "DSC" {
            members.push(("operation".to_owned(), amf3::Value::Integer(operation)));
        }
        let members = members
            .into_iter()
            .map(|(name, value)| (name.into(), value));
        tied_amf3(amf3::Value::from(amf3::Externalizable {
            class: class.into(),
            members: members.collect(),
        }))
    })
}

#[test]
#[ignore = "asks BlazeDS"]
fn blazeds_agrees_on_small_messages() {
    agree_on_small_messages(Who::BlazeDs);
}

#[test]
#[ignore = "asks Py3AMF"]
fn py3amf_agrees_on_small_messages() {
    agree_on_small_messages(Who::Py3Amf);
}
