//! AMF remoting, as Flash's NetConnection and Flex's RemoteObject speak it.

use std::sync::Arc;

use http_body_util::Full;
use tamtam_amf::amf0::{TypedObject, Value as Amf0};
use tamtam_amf::amf3::{
    self, Array, Dictionary, Externalizable, Object, Traits, Value as Amf3, Vector,
};
use tamtam_amf::packet::{Encoder, Header, Message, Packet, PacketEncodeError, Version};
use tamtam_amf::recordset::RecordSet;
use tamtam_gateway::{Caller, Fault, Gateway, Limits, Method, Service};
use uuid::Uuid;

use crate::world::{Running, kit, request, run};

mod refused;

pub(crate) const AMF: &str = "application/x-amf";

pub(crate) fn packet(version: Version, calls: Vec<(&str, Amf0)>) -> Packet {
    let messages = calls
        .into_iter()
        .enumerate()
        .map(|(index, (target, value))| Message {
            target: target.into(),
            response: format!("/{}", index + 1),
            value,
        });
    Packet {
        version,
        headers: Vec::new(),
        messages: messages.collect(),
    }
}

pub(crate) async fn send(server: &Running, packet: &Packet) -> Packet {
    send_to(server, "/amf", packet).await
}

async fn send_to(server: &Running, path: &str, packet: &Packet) -> Packet {
    let answered = server.post(path, AMF, packet.encode().unwrap()).await;
    assert_eq!(
        (answered.status, answered.header("content-type")),
        (200, AMF),
        "{:?}",
        answered.body
    );
    Packet::decode(&answered.body, Default::default()).unwrap()
}

pub(crate) fn in_amf3(value: impl Into<Amf3>) -> Amf0 {
    Amf0::Avmplus(Box::new(value.into()))
}

/// The value of AMF3 in one of AMF0.
pub(crate) fn amf3_in(value: &Amf0) -> &Amf3 {
    match value {
        Amf0::Avmplus(value) => value,
        other => panic!("it is in AMF0: {other:?}"),
    }
}

#[test]
fn every_kind_of_amf0_comes_back_as_it_went() {
    run(|| async {
        let server = Running::of(kit()).await;
        let typed = TypedObject {
            class: "com.example.Tile".into(),
            properties: vec![("x".into(), 1.5.into())],
        };
        let values = [
            Amf0::Number(-0.5),
            Amf0::Number(5.0),
            Amf0::Boolean(true),
            Amf0::from("é\0"),
            Amf0::String("x".repeat(70_000).into()),
            Amf0::Null,
            Amf0::Undefined,
            Amf0::Object(vec![
                ("a".into(), vec![1.0.into()].into()),
                ("a".into(), Amf0::Null),
            ]),
            Amf0::Object(vec![]),
            Amf0::EcmaArray(vec![("0".into(), 1.0.into()), ("name".into(), "x".into())]),
            Amf0::EcmaArray(vec![]),
            Amf0::StrictArray(vec![Amf0::StrictArray(vec![]), Amf0::Null]),
            Amf0::Date {
                milliseconds: -1.0,
                time_zone: 0,
            },
            Amf0::XmlDocument("<a/>".into()),
            Amf0::TypedObject(Box::new(typed)),
        ];
        let calls = values
            .iter()
            .map(|value| ("Echo.echo", vec![value.clone()].into()))
            .collect();
        let answer = send(&server, &packet(Version::Amf0, calls)).await;
        assert_eq!(answer.version, Version::Amf0);
        assert_eq!(answer.messages.len(), values.len());
        for (index, (message, value)) in answer.messages.iter().zip(&values).enumerate() {
            assert_eq!(message.target, format!("/{}/onResult", index + 1));
            assert_eq!(&message.value, value);
        }
    });
}

#[test]
fn every_kind_of_amf3_comes_back_as_it_went() {
    run(|| async {
        let server = Running::of(kit()).await;
        let object = |traits: Traits, sealed: Vec<Amf3>, dynamic: amf3::Properties| {
            Amf3::from(Object {
                traits: Arc::new(traits),
                sealed,
                dynamic,
            })
        };
        let mixed = Traits {
            dynamic: true,
            ..Traits::sealed("com.example.Mixed", ["x"])
        };
        let values = [
            Amf3::Integer(-7),
            Amf3::Double(5.0),
            Amf3::Double(1e300),
            Amf3::Boolean(false),
            Amf3::from("text"),
            Amf3::Null,
            Amf3::Undefined,
            Amf3::Date(1_000.5),
            Amf3::Xml("<a/>".into()),
            Amf3::XmlDocument("<b/>".into()),
            Amf3::ByteArray(vec![0, 255]),
            Amf3::Array(Box::default()),
            Amf3::from(vec![Amf3::Integer(1), Amf3::Null]),
            Amf3::Array(Box::new(Array {
                associative: vec![("a".into(), Amf3::Null)],
                dense: vec![Amf3::Integer(1)],
            })),
            object(
                Traits::dynamic(""),
                vec![],
                vec![("a".into(), Amf3::Integer(1))],
            ),
            object(
                Traits::sealed("com.example.Tile", ["x"]),
                vec![Amf3::Integer(1)],
                vec![],
            ),
            object(
                mixed,
                vec![Amf3::Integer(1)],
                vec![("y".into(), Amf3::Integer(2))],
            ),
            object(
                Traits::dynamic("com.example.Dynamic"),
                vec![],
                vec![("y".into(), Amf3::Integer(2))],
            ),
            Amf3::VectorInt(Box::new(Vector {
                fixed: true,
                values: vec![-1, i32::MAX],
            })),
            Amf3::VectorUint(Box::new(Vector {
                fixed: false,
                values: vec![u32::MAX],
            })),
            Amf3::VectorDouble(Box::new(Vector {
                fixed: false,
                values: vec![0.5],
            })),
            Amf3::VectorObject {
                class: "com.example.Tile".into(),
                vector: Box::new(Vector {
                    fixed: false,
                    values: vec![Amf3::Null],
                }),
            },
            Amf3::Dictionary(Box::new(Dictionary {
                weak_keys: true,
                entries: vec![(Amf3::Integer(1), "one".into())],
            })),
            Amf3::from(Externalizable {
                class: "flex.messaging.io.ArrayCollection".into(),
                members: vec![("source".into(), vec![Amf3::Integer(1)].into())],
            }),
        ];
        // Ruffle sends arguments as AMF0, others the whole array as AMF3, others each argument.
        let calls = values
            .iter()
            .map(|value| ("Echo.echo", vec![in_amf3(value.clone())].into()))
            .collect();
        let answer = send(&server, &packet(Version::Amf3, calls)).await;
        assert_eq!(answer.version, Version::Amf3);
        for (message, value) in answer.messages.iter().zip(&values) {
            assert_eq!(amf3_in(&message.value), value);
        }
        let whole = packet(
            Version::Amf3,
            vec![("Echo/echo", in_amf3(vec![Amf3::Integer(5)]))],
        );
        assert_eq!(
            amf3_in(&send(&server, &whole).await.messages[0].value),
            &Amf3::Integer(5)
        );
        let plain = packet(
            Version::Amf3,
            vec![("Echo.echo", vec![Amf0::Number(5.0)].into())],
        );
        assert_eq!(
            amf3_in(&send(&server, &plain).await.messages[0].value),
            &Amf3::Double(5.0)
        );
    });
}

#[test]
fn a_fault_is_told_to_on_status_and_calls_behind_it_are_answered() {
    run(|| async {
        let server = Running::of(kit()).await;
        let mut calls = packet(
            Version::Amf0,
            vec![
                ("Tiles.list", vec!["none".into()].into()),
                ("Kit.panic", Amf0::StrictArray(vec![])),
                ("Echo.echo", vec!["not heard".into()].into()),
                ("Sums.add", vec![40.0.into(), 2.0.into()].into()),
            ],
        );
        calls.messages[2].response = "null".into();
        let answer = send(&server, &calls).await;
        let targets: Vec<&str> = answer
            .messages
            .iter()
            .map(|message| &*message.target)
            .collect();
        assert_eq!(targets, ["/1/onStatus", "/2/onStatus", "/4/onResult"]);
        let member = |index: usize, name| answer.messages[index].value.get(name).cloned();
        assert_eq!(member(0, "code"), Some("Tiles.NoSet".into()));
        assert_eq!(
            member(0, "description"),
            Some("there is no such set".into())
        );
        assert_eq!(member(0, "detail"), Some("none".into()));
        assert_eq!(member(0, "level"), Some("error".into()));
        assert_eq!(member(1, "description"), Some("the method failed".into()));
        assert_eq!(member(2, "sum"), Some(42.0.into()));
    });
}

#[test]
fn a_table_is_a_record_set_or_objects_as_the_client_chooses() {
    run(|| async {
        let server = Running::of(kit()).await;
        let list = |version| {
            packet(
                version,
                vec![("Tiles.list", vec!["palette".into(), 5.0.into()].into())],
            )
        };
        let value = async |version, path| {
            send_to(&server, path, &list(version))
                .await
                .messages
                .remove(0)
                .value
        };

        for (version, path) in [
            (Version::Amf0, "/amf"),
            (Version::Amf3, "/amf?rows=recordset"),
        ] {
            let usual = value(version, path).await;
            let bytes = tamtam_amf::amf0::encode(&usual).unwrap();
            let table = RecordSet::decode(&bytes, Default::default()).unwrap();
            assert_eq!(table.info.columns.len(), 2, "{table:?}");
            assert_eq!(table.rows[3], [3.0.into(), "0088ff".into()]);
            assert_eq!(table.rows[4], [4.0.into(), Amf0::Null]);
        }
        let Amf0::StrictArray(objects) = value(Version::Amf0, "/amf?rows=objects").await else {
            panic!("it is no array");
        };
        assert_eq!(
            (objects.len(), objects[3].get("color")),
            (5, Some(&"0088ff".into()))
        );
        let answer = value(Version::Amf3, "/amf").await;
        let Amf3::Array(array) = amf3_in(&answer) else {
            panic!("it is no array");
        };
        assert_eq!(
            (array.dense.len(), array.dense[3].get("slot")),
            (5, Some(&Amf3::Integer(3)))
        );
    });
}

#[test]
fn credentials_come_in_a_header_and_one_that_is_not_understood_fails() {
    run(|| async {
        let check = |caller: &Caller| match caller.credentials() {
            Some(("ada", "secret")) => Ok(()),
            _ => Err(Fault::unauthenticated("who are you?")),
        };
        let open = Method::new("open", |(): ()| async { Ok(1) });
        let server = Running::of(
            Gateway::new()
                .service(Service::new("Kit").with(open))
                .authorize(check),
        )
        .await;
        let mut call = packet(Version::Amf0, vec![("Kit.open", Amf0::StrictArray(vec![]))]);
        let refused = send(&server, &call).await;
        assert_eq!(
            refused.messages[0].value.get("code"),
            Some(&"Client.Authentication".into())
        );
        call.headers.push(Header {
            name: "Credentials".into(),
            must_understand: true,
            value: Amf0::Object(vec![
                ("userid".into(), "ada".into()),
                ("password".into(), "secret".into()),
            ]),
        });
        assert_eq!(send(&server, &call).await.messages[0].value, 1.0.into());
        call.headers.push(Header {
            name: "Unknown".into(),
            must_understand: false,
            value: Amf0::Null,
        });
        assert_eq!(send(&server, &call).await.messages[0].value, 1.0.into());
        call.headers[1].must_understand = true;
        assert_eq!(send(&server, &call).await.messages[0].target, "/1/onStatus");
    });
}

pub(crate) fn flex(class: &str, members: &[(&str, Amf3)]) -> Amf3 {
    let names = members.iter().map(|(name, _)| *name);
    Amf3::from(Object {
        traits: Arc::new(Traits::sealed(
            &format!("flex.messaging.messages.{class}"),
            names,
        )),
        sealed: members.iter().map(|(_, value)| value.clone()).collect(),
        dynamic: vec![],
    })
}

/// A ping as Flex writes it to a server that takes small messages, with more in its body.
pub(crate) fn small_ping(id: &str, body: &str) -> Amf3 {
    let id = Uuid::parse_str(id).unwrap();
    let message = Externalizable {
        class: "DSC".into(),
        members: vec![
            (
                "messageIdBytes".into(),
                Amf3::ByteArray(id.as_bytes().to_vec()),
            ),
            ("body".into(), body.into()),
            ("operation".into(), 5.into()),
        ],
    };
    vec![message.into()].into()
}

pub(crate) fn class_of(value: &Amf3) -> &str {
    match value {
        Amf3::Object(object) => &object.traits.class,
        other => panic!("no object: {other:?}"),
    }
}

pub(crate) fn headers(session: &str) -> Amf3 {
    Amf3::from(Object {
        traits: Arc::new(Traits::dynamic("")),
        sealed: vec![],
        dynamic: vec![("DSId".into(), session.into())],
    })
}

#[test]
fn a_remote_object_of_flex_pings_logs_in_and_calls() {
    run(|| async {
        let check = |caller: &Caller| match caller.credentials() {
            Some(("ada", "secret")) => Ok(()),
            _ => Err(Fault::unauthenticated("who are you?")),
        };
        let server = Running::of(kit().authorize(check)).await;
        let say = async |message: Amf3| {
            let answer = send(
                &server,
                &packet(Version::Amf3, vec![("null", vec![in_amf3(message)].into())]),
            )
            .await;
            let message = &answer.messages[0];
            (message.target.clone(), amf3_in(&message.value).clone())
        };
        let ping = flex(
            "CommandMessage",
            &[
                ("operation", 5.into()),
                ("messageId", "A".into()),
                ("headers", headers("nil")),
            ],
        );
        let (target, pong) = say(ping).await;
        assert_eq!(
            (&*target, class_of(&pong)),
            ("/1/onResult", "flex.messaging.messages.AcknowledgeMessage")
        );
        assert_eq!(pong.get("correlationId"), Some(&"A".into()));
        let first = pong
            .get("headers")
            .and_then(|headers| headers.get("DSId"))
            .cloned()
            .unwrap();

        let call = |session: &Amf3, method: &str, arguments: Vec<Amf3>| {
            let Amf3::String(session) = session else {
                panic!("{session:?}")
            };
            flex(
                "RemotingMessage",
                &[
                    ("destination", "Sums".into()),
                    ("operation", method.into()),
                    ("source", Amf3::Null),
                    ("body", arguments.into()),
                    ("messageId", "B".into()),
                    ("headers", headers(session)),
                ],
            )
        };
        let (target, refused) = say(call(&first, "add", vec![1.into(), 2.into()])).await;
        assert_eq!(
            (&*target, class_of(&refused)),
            ("/1/onStatus", "flex.messaging.messages.ErrorMessage")
        );
        assert_eq!(
            refused.get("faultCode"),
            Some(&"Client.Authentication".into())
        );

        // `ada:wrong` and `ada:secret`.
        let login = |body: &str| {
            flex(
                "CommandMessage",
                &[
                    ("operation", 8.into()),
                    ("messageId", "C".into()),
                    ("body", body.into()),
                ],
            )
        };
        let (target, _) = say(login("YWRhOndyb25n")).await;
        assert_eq!(target, "/1/onStatus");
        let (target, welcome) = say(login("YWRhOnNlY3JldA==")).await;
        assert_eq!(
            (&*target, welcome.get("body")),
            ("/1/onResult", Some(&"success".into()))
        );
        let session = welcome
            .get("headers")
            .and_then(|headers| headers.get("DSId"))
            .cloned()
            .unwrap();
        assert_ne!(session, first);

        let (_, answer) = say(call(&session, "add", vec![40.into(), 2.into()])).await;
        assert_eq!(
            answer.get("body").and_then(|body| body.get("sum")),
            Some(&Amf3::Integer(42))
        );
        assert_eq!(answer.get("correlationId"), Some(&"B".into()));
        let (_, fault) = say(call(&session, "none", vec![])).await;
        assert_eq!(fault.get("faultCode"), Some(&"Client.NoMethod".into()));
        let (_, fault) = say(call(&session, "add", vec![Amf3::Double(9e15), 1.into()])).await;
        assert_eq!(
            fault.get("body").and_then(|body| body.get("sum")),
            Some(&Amf3::Double(9e15 + 1.0)),
            "{fault:?}"
        );

        let Amf3::String(known) = &session else {
            panic!()
        };
        let logout = flex(
            "CommandMessage",
            &[
                ("operation", 9.into()),
                ("messageId", "D".into()),
                ("headers", headers(known)),
            ],
        );
        assert_eq!(say(logout).await.0, "/1/onResult");
        assert_eq!(
            say(call(&session, "add", vec![1.into(), 2.into()])).await.0,
            "/1/onStatus"
        );
    });
}

#[test]
fn a_table_in_a_message_of_flex_is_an_array_of_objects() {
    run(|| async {
        let server = Running::of(kit()).await;
        let body = vec![Amf3::from("palette"), 3.into()];
        let message = flex(
            "RemotingMessage",
            &[
                ("destination", "Tiles".into()),
                ("operation", "list".into()),
                ("body", body.into()),
            ],
        );
        let answer = send(
            &server,
            &packet(Version::Amf3, vec![("null", vec![in_amf3(message)].into())]),
        )
        .await;
        let Some(Amf3::Array(rows)) = amf3_in(&answer.messages[0].value).get("body") else {
            panic!("no array: {answer:?}");
        };
        assert_eq!(rows.dense.len(), 3);
        assert_eq!(rows.dense[1].get("color"), Some(&"0088ff".into()));
    });
}

#[test]
fn what_is_no_packet_or_too_much_is_told_to_each_call_whose_place_is_known() {
    run(|| async {
        let limits = Limits {
            batch: 2,
            depth: 8,
            values: 1_000,
            ..Limits::default()
        };
        let server = Running::of(kit().limits(limits)).await;
        let mut deep = Amf0::Null;
        for _ in 0..20 {
            deep = vec![deep].into();
        }
        let echo = |value: Amf0| ("Echo.echo", vec![value].into());
        let many = packet(
            Version::Amf0,
            vec![echo(1.0.into()), echo(1.0.into()), echo(1.0.into())],
        );
        let wide = packet(Version::Amf0, vec![echo(vec![Amf0::Null; 2_000].into())]);
        let whole = packet(Version::Amf3, vec![echo(1.0.into())])
            .encode()
            .unwrap();
        // Where the answers of a packet go is known up to its last value, whatever that is.
        let mut second = packet(Version::Amf0, vec![echo(1.0.into()), echo(2.0.into())]);
        second.headers.push(Header {
            name: "known".into(),
            must_understand: false,
            value: vec![Amf0::from("x")].into(),
        });
        second.messages.last_mut().unwrap().response = "null".into();
        let mut second = second.encode().unwrap();
        second.pop();
        for (bytes, word) in [
            (
                packet(Version::Amf0, vec![echo(deep)]).encode().unwrap(),
                "deep",
            ),
            (wide.encode().unwrap(), "values"),
            (whole[..whole.len() - 1].to_vec(), "packet"),
            (second, "packet"),
        ] {
            let version = if bytes[1] == 0 {
                Version::Amf0
            } else {
                Version::Amf3
            };
            let answered = server.post("/amf", AMF, bytes).await;
            assert_eq!(
                (answered.status, answered.header("content-type")),
                (200, AMF)
            );
            let told = Packet::decode(&answered.body, Default::default()).unwrap();
            assert_eq!((told.version, told.messages.len()), (version, 1), "{word}");
            assert_eq!(told.messages[0].target, "/1/onStatus", "{word}");
            let said = format!("{:?}", told.messages[0].value);
            assert!(
                said.contains("Client.Malformed") && said.contains(word),
                "{word}: {said}"
            );
        }
        // Where not all of them are known, or there are too many, a status ends them all.
        let damaged = {
            let mut bytes = packet(Version::Amf0, vec![echo(1.0.into()), echo(2.0.into())])
                .encode()
                .unwrap();
            let at = bytes.windows(4).position(|four| four == b"echo").unwrap();
            // The first one's value is none, and does not say how long it is.
            let value = at + 4 + 4;
            bytes[value..value + 5].copy_from_slice(&[0xff, 0xff, 0xff, 0xff, 0x3f]);
            bytes
        };
        for (bytes, word) in [
            (many.encode().unwrap(), "messages"),
            (damaged, "packet"),
            (vec![0, 7, 0, 0], "version"),
            (vec![], "packet"),
        ] {
            let answered = server.post("/amf", AMF, bytes).await;
            assert_eq!(answered.status, 400, "{word}");
            assert!(
                answered.text().contains(word),
                "{word}: {}",
                answered.text()
            );
        }
    });
}

#[test]
fn a_message_of_flex_that_cannot_be_read_is_told_so_in_its_form() {
    run(|| async {
        let server = Running::of(kit()).await;
        let message = flex("RemotingMessage", &[("operation", "echo".into())]);
        let call = packet(Version::Amf3, vec![("null", in_amf3(vec![message]))]);
        let mut bytes = call.encode().unwrap();
        bytes.pop();
        let answered = server.post("/amf", AMF, bytes).await;
        let told = Packet::decode(&answered.body, Default::default()).unwrap();
        assert_eq!(told.messages[0].target, "/1/onStatus");
        let error = amf3_in(&told.messages[0].value);
        assert_eq!(class_of(error), "flex.messaging.messages.ErrorMessage");
        assert_eq!(error.get("faultCode"), Some(&"Client.Malformed".into()));
    });
}

/// Objects of one class, whose name and member's name stand in the packet once.
fn of_one_class(name: &str, objects: usize) -> Packet {
    let traits = Arc::new(Traits::sealed(name, [name]));
    let object = || {
        Amf3::from(Object {
            traits: Arc::clone(&traits),
            sealed: vec![Amf3::Null],
            dynamic: Vec::new(),
        })
    };
    let objects: Vec<_> = (0..objects).map(|_| object()).collect();
    packet(
        Version::Amf3,
        vec![("Echo.echo", vec![in_amf3(objects)].into())],
    )
}

#[test]
fn the_names_of_a_class_are_copied_within_the_limit_of_a_body() {
    run(|| async {
        let limits = Limits {
            body_bytes: 64 << 10,
            ..Limits::default()
        };
        let server = Running::of(kit().limits(limits)).await;
        // 8 KiB and some bytes for each object, which would take 80 MiB.
        let bomb = of_one_class(&"n".repeat(4 << 10), 10_000).encode().unwrap();
        assert!(bomb.len() < 64 << 10);
        let answered = server.post("/amf", AMF, bomb).await;
        let told = Packet::decode(&answered.body, Default::default()).unwrap();
        let value = amf3_in(&told.messages[0].value);
        assert_eq!(value.get("code"), Some(&"Client.TooLarge".into()));
        assert!(format!("{value:?}").contains("65536 bytes"), "{value:?}");
        let many = of_one_class("n", 10_000);
        let answer = send(&server, &many).await;
        assert_eq!(vec![answer.messages[0].value.clone()], {
            let Amf0::StrictArray(values) = &many.messages[0].value else {
                panic!("a list of arguments");
            };
            values.clone()
        });
    });
}

#[test]
fn nothing_is_called_where_an_answer_has_no_place() {
    run(|| async {
        let called = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let told = Arc::clone(&called);
        let method = Method::new("call", move |(): ()| {
            told.store(true, std::sync::atomic::Ordering::Relaxed);
            async { Ok(()) }
        });
        let gateway = Gateway::new().service(Service::new("Kit").with(method));
        let server = Running::of(gateway).await;
        let mut calls = packet(
            Version::Amf0,
            vec![("Kit.call", Amf0::Null), ("Kit.call", Amf0::Null)],
        );
        // `/onResult` has no room behind it, which is found when the answer is written.
        calls.messages[1].response = "r".repeat(65_530);
        let answered = server.post("/amf", AMF, calls.encode().unwrap()).await;
        assert_eq!(answered.status, 400);
        assert!(answered.text().contains("65,535"), "{}", answered.text());
        assert!(!called.load(std::sync::atomic::Ordering::Relaxed));
    });
}

/// The arguments (0): a list (1) of a date, which Flash Player counts (2), an object (3), and references to 2 and 3: as Flash
/// Player counts the date and the object, as others the object and nothing.
pub(crate) fn with_references() -> Vec<u8> {
    let value =
        b"\x0a\0\0\0\x01\x0a\0\0\0\x03\x0b\0\0\0\0\0\0\0\0\0\0\x03\0\x01x\x01\x01\0\0\x09\x07\0";
    let mut bytes = Vec::new();
    Encoder::new(&mut bytes, Version::Amf0)
        .message_bytes("Echo.echo", "/1", |out| -> Result<(), PacketEncodeError> {
            out.extend_from_slice(value);
            out.push(2);
            Ok(())
        })
        .unwrap();
    bytes
}

#[test]
fn references_are_counted_as_flash_player_does_where_that_asks() {
    run(|| async {
        let server = Running::of(kit()).await;
        let date = Amf0::Date {
            milliseconds: 0.0,
            time_zone: 0,
        };
        let object = Amf0::Object(vec![("x".into(), true.into())]);
        let last = async |headers: &[(&str, &str)]| {
            let mut request = request("POST", "/amf").header("content-type", AMF);
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let body = Full::new(with_references().into());
            let answered = server.send(request.body(body).unwrap()).await;
            let packet = Packet::decode(&answered.body, Default::default()).unwrap();
            let Amf0::StrictArray(values) = &packet.messages[0].value else {
                panic!("{packet:?}");
            };
            assert_eq!(values[..2], [date.clone(), object.clone()]);
            values[2].clone()
        };
        let chrome = "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/80.0";
        let air =
            "Mozilla/5.0 (Windows; U; en-US) AppleWebKit/533.19.4 (KHTML, like Gecko) AdobeAIR/3.1";
        for flash in [
            ("x-flash-version", "11,2,202,235"),
            ("User-Agent", "Shockwave Flash"),
            ("User-Agent", air),
            ("X-Requested-With", "ShockwaveFlash/32.0.0.171"),
            ("Referer", "http://example.com/Main.SWF?v=5/"),
        ] {
            assert_eq!(last(&[flash]).await, date, "{flash:?}");
        }
        // Ruffle, Py3AMF, BlazeDS.
        for others in [
            &[
                ("User-Agent", chrome),
                ("Referer", "http://example.com/play?file=a.swf"),
            ][..],
            &[("User-Agent", "Py3AMF/0.9.1"), ("Referer", "swf")],
            &[("X-Requested-With", "XMLHttpRequest")],
            &[],
        ] {
            assert_eq!(last(others).await, object, "{others:?}");
        }
    });
}
