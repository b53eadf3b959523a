//! Messages of Flex that are refused: each is told so under its own id, so that its client knows whose fault it is.

use tamtam_amf::amf0::{TypedObject, Value as Amf0};
use tamtam_amf::amf3::Value as Amf3;
use tamtam_amf::packet::{Header, Packet, Version};
use tamtam_gateway::{Fault, Gateway, Limits, Method, Service, Value, bearer};

use super::{AMF, amf3_in, class_of, flex, in_amf3, packet, send, small_ping};
use crate::amf_classes::{packet3, place3};
use crate::world::{Running, kit, run};

/// A call of Flex, its id before its arguments.
fn remote(id: &str, operation: &str, body: Amf3) -> Amf3 {
    let members = [
        ("messageId", id.into()),
        ("destination", "Odd".into()),
        ("operation", operation.into()),
        ("body", body),
    ];
    vec![flex("RemotingMessage", &members)].into()
}

const ID: &str = "11111111-2222-4333-8444-AAAAAAAAAAAA";

fn calls(values: impl IntoIterator<Item = Amf3>) -> Vec<u8> {
    packet3(1, values.into_iter().map(|value| ("null", value)).collect())
}

/// Posts a packet; the fault's code and the id of each answer, all of which are refusals of Flex.
async fn refused(server: &Running, body: Vec<u8>) -> Vec<(String, Amf3)> {
    let answered = server.post("/amf", AMF, body).await;
    assert_eq!(answered.status, 200, "{:?}", answered.body);
    let packet = Packet::decode(&answered.body, Default::default()).unwrap();
    let messages = packet.messages.iter().enumerate();
    messages
        .map(|(index, message)| {
            assert_eq!(message.target, format!("/{}/onStatus", index + 1));
            code_and_id(&message.value)
        })
        .collect()
}

#[track_caller]
fn code_and_id(value: &Amf0) -> (String, Amf3) {
    let value = amf3_in(value);
    assert_eq!(class_of(value), "flex.messaging.messages.ErrorMessage");
    let Some(Amf3::String(code)) = value.get("faultCode") else {
        panic!("no code: {value:?}");
    };
    (
        code.to_string(),
        value.get("correlationId").unwrap().clone(),
    )
}

fn told(code: &str, ids: &[&str]) -> Vec<(String, Amf3)> {
    ids.iter()
        .map(|id| (code.to_owned(), (*id).into()))
        .collect()
}

/// Methods whose outcomes AMF cannot carry, and one that gives much.
fn gateway() -> Gateway {
    let large = Method::blocking("large", |(): ()| Ok::<u64, Fault>(u64::MAX));
    let detailed = Method::blocking("detailed", |(): ()| {
        Err::<u64, Fault>(Fault::new("Odd.Large", "it is large").detail(Value::Unsigned(u64::MAX)))
    });
    let much = Method::blocking("much", |(): ()| Ok::<String, Fault>("x".repeat(2_000)));
    let service = Service::new("Odd").with(large).with(detailed).with(much);
    kit().service(service)
}

#[test]
fn what_cannot_be_read_within_is_told_under_the_ids_of_all_messages() {
    run(|| async {
        let server = Running::of(gateway()).await;
        // A class that the gateway does not know, in the last message and in the first.
        let (good, bad) = (
            remote("A", "much", Amf3::Null),
            remote("B", "much", place3(1, "x")),
        );
        let body = calls([good.clone(), bad.clone()]);
        assert_eq!(
            refused(&server, body).await,
            told("Client.Malformed", &["A", "B"])
        );
        let body = calls([bad, small_ping(ID, ""), good]);
        let ids = ["B", ID, "A"];
        assert_eq!(refused(&server, body).await, told("Client.Malformed", &ids));
        // Wherever the packet ends, if its object has room for the members that it announces.
        let whole = calls([remote("C", "much", "a text".into())]);
        let end = whole.windows(2).rposition(|two| two == b"\x03C").unwrap() + 2;
        for length in end + 1..whole.len() {
            let answers = refused(&server, whole[..length].to_vec()).await;
            assert_eq!(answers, told("Client.Malformed", &["C"]), "{length}");
        }
        // An id that has not come is none.
        let answers = refused(&server, whole[..end - 1].to_vec()).await;
        assert_eq!(answers[0].1, Amf3::Null);
    });
}

#[test]
fn a_message_in_amf0_is_told_under_its_id() {
    run(|| async {
        let server = Running::of(gateway()).await;
        let object = TypedObject {
            class: "flex.messaging.messages.RemotingMessage".into(),
            properties: vec![
                (
                    "headers".into(),
                    Amf0::Object(vec![("a".into(), vec![1.0.into()].into())]),
                ),
                ("messageId".into(), "A".into()),
                ("body".into(), "odd".into()),
            ],
        };
        for is_alone in [true, false] {
            let object = Amf0::TypedObject(Box::new(object.clone()));
            let value = if is_alone {
                object
            } else {
                vec![object].into()
            };
            let mut body = packet(Version::Amf0, vec![("null", value)])
                .encode()
                .unwrap();
            let at = body.windows(3).position(|text| text == b"odd").unwrap() - 3;
            // A marker that is none.
            body[at] = 0x7f;
            let answered = server.post("/amf", AMF, body).await;
            let answer = Packet::decode(&answered.body, Default::default()).unwrap();
            let id = answer.messages[0].value.get("correlationId");
            assert_eq!(id, Some(&"A".into()), "{answer:?}");
        }
    });
}

#[test]
fn what_is_too_large_or_too_much_is_told_under_its_id() {
    run(|| async {
        let limits = Limits {
            body_bytes: 10_000,
            values: 50,
            ..Limits::default()
        };
        let server = Running::of(gateway().limits(limits)).await;
        let long = "x".repeat(12_000);
        let body = calls([small_ping(ID, ""), remote("B", "much", (&*long).into())]);
        assert_eq!(
            refused(&server, body).await,
            told("Client.TooLarge", &[ID, "B"])
        );
        let many = vec![Amf3::Null; 60];
        let body = calls([remote("A", "much", many.into())]);
        assert_eq!(
            refused(&server, body).await,
            told("Client.Malformed", &["A"])
        );
        // Where there is too much to do, less is read.
        let limits = Limits {
            requests_of_client: 0,
            ..Limits::default()
        };
        let server = Running::of(gateway().limits(limits)).await;
        let long = "x".repeat(100_000);
        let both = [
            remote("A", "much", Amf3::Null),
            remote("B", "much", (&*long).into()),
        ];
        let answers = refused(&server, calls(both)).await;
        assert_eq!(answers, told("Server.Busy", &["A", "B"]));
        let answers = refused(&server, calls([small_ping(ID, "")])).await;
        assert_eq!(answers, told("Server.Busy", &[ID]));
    });
}

#[test]
fn who_may_not_call_is_told_under_the_id_and_so_is_a_header_that_is_not_known() {
    run(|| async {
        let server = Running::of(gateway().authorize(bearer("let me in"))).await;
        let body = calls([remote("A", "much", Amf3::Null)]);
        assert_eq!(
            refused(&server, body).await,
            told("Client.Authentication", &["A"])
        );
        let server = Running::of(gateway()).await;
        let mut odd = packet(
            Version::Amf3,
            vec![("null", in_amf3(remote("A", "much", Amf3::Null)))],
        );
        odd.headers.push(Header {
            name: "Odd".into(),
            must_understand: true,
            value: Amf0::Null,
        });
        let body = odd.encode().unwrap();
        assert_eq!(
            refused(&server, body).await,
            told("Client.Malformed", &["A"])
        );
    });
}

#[test]
fn what_amf_cannot_carry_is_told_under_the_id_and_a_fault_without_its_detail() {
    run(|| async {
        let limits = Limits {
            batch_bytes: 2_000,
            ..Limits::default()
        };
        let server = Running::of(gateway().limits(limits)).await;
        let none = || Vec::<Amf3>::new().into();
        let all = [
            remote("A", "large", none()),
            remote("B", "detailed", none()),
            remote("C", "much", none()),
            remote("D", "much", none()),
        ];
        let messages = all.map(|message| ("null", in_amf3(message)));
        let answer = send(&server, &packet(Version::Amf3, messages.into())).await;
        let refused = |index: usize| code_and_id(&answer.messages[index].value);
        assert_eq!(refused(0).1, "A".into());
        assert_eq!(refused(1), ("Odd.Large".into(), "B".into()));
        assert_eq!(answer.messages[2].target, "/3/onResult");
        // There is no room for a fourth.
        assert_eq!(refused(3).1, "D".into());
    });
}
