//! Packets of remoting: their bytes, which part an error names, and what becomes of damaged ones.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use proptest::prelude::*;

use crate::arbitrary::{amf0_value, amf3_value, mutate, mutations};
use tamtam_amf::amf0::{TypedObject, Value};
use tamtam_amf::packet::{
    Decoder, Encoder, Header, HeaderRef, Message, MessageRef, Packet, PacketDecodeError,
    PacketEncodeError, PacketLimits, Part, Version,
};
use tamtam_amf::{Cause, EncodeError, Limits, amf0, amf3, recordset};

macro_rules! golden {
    ($name:literal) => {
        &include_bytes!(concat!("../golden/pyamf-packet-", $name))[..]
    };
}

fn decode(bytes: &[u8]) -> Result<Packet, PacketDecodeError> {
    Packet::decode(bytes, PacketLimits::default())
}

fn object(items: Vec<(&str, Value)>) -> Value {
    Value::Object(
        items
            .into_iter()
            .map(|(name, value)| (name.into(), value))
            .collect(),
    )
}

fn message(target: &str, response: &str, value: Value) -> Message {
    Message {
        target: target.into(),
        response: response.into(),
        value,
    }
}

/// A packet with a bit of everything, part by part as the specification describes it.
fn by_hand() -> (Packet, Vec<u8>) {
    let bytes = [
        &b"\x00\x03"[..], // version
        b"\x00\x02",      // headers
        b"\x00\x01k\x01\x00\x00\x00\x02\x01\x01",
        b"\x00\x00\x00\x00\x00\x00\x01\x05",
        b"\x00\x02",                                                     // messages
        b"\x00\x03S.f\x00\x02/1",                                        // target and response
        b"\x00\x00\x00\x0b\x0a\x00\x00\x00\x01\x11\x09\x03\x01\x06\x01", // an array of AMF3 in the arguments
        b"\x00\x0b/2/onResult\x00\x04null",
        b"\x00\x00\x00\x04\x02\x00\x01x",
    ]
    .concat();
    let arguments = vec![Value::Avmplus(Box::new(vec!["".into()].into()))];
    let packet = Packet {
        version: Version::Amf3,
        headers: vec![
            Header {
                name: "k".into(),
                must_understand: true,
                value: true.into(),
            },
            Header {
                name: String::new(),
                must_understand: false,
                value: Value::Null,
            },
        ],
        messages: vec![
            message("S.f", "/1", arguments.into()),
            message("/2/onResult", "null", "x".into()),
        ],
    };
    (packet, bytes)
}

#[test]
fn a_packet_has_the_bytes_of_the_specification() {
    let (packet, bytes) = by_hand();
    assert_eq!(decode(&bytes), Ok(packet.clone()));
    assert_eq!(packet.encode(), Ok(bytes));
    let empty = Packet {
        version: Version::Amf0,
        headers: vec![],
        messages: vec![],
    };
    assert_eq!(empty.encode(), Ok(vec![0; 6]));
    assert_eq!(decode(&[0; 6]), Ok(empty));
}

#[test]
fn calls_and_answers_of_pyamf_are_understood() {
    let call = decode(golden!("amf0-call")).unwrap();
    assert_eq!(call.version, Version::Amf0);
    assert_eq!(
        call.headers,
        [Header {
            name: "Credentials".into(),
            must_understand: true,
            value: object(vec![
                ("userid", "ada".into()),
                ("password", "secret".into())
            ]),
        }]
    );
    let list = vec!["a set".into(), vec![1.0.into(), "a".into()].into()];
    assert_eq!(
        call.messages,
        [
            message("Tiles.list", "/1", list.into()),
            message(
                "Echo.echo",
                "/2",
                vec![object(vec![("x", 1.5.into())])].into()
            ),
        ]
    );

    let answer = decode(golden!("amf0-answer")).unwrap();
    let result = vec![1.5.into(), "x".into()];
    assert_eq!(
        answer.messages[0],
        message("/1/onResult", "null", result.into())
    );
    let fault = &answer.messages[1];
    assert_eq!(fault.target, "/2/onStatus");
    assert_eq!(fault.value.get("code"), Some(&"Kit.Fault".into()));

    let answer = decode(golden!("amf3-answer")).unwrap();
    assert_eq!(answer.version, Version::Amf3);
    let list = vec![amf3::Value::Integer(1), "x".into(), "x".into()];
    assert_eq!(
        answer.messages[0].value,
        Value::Avmplus(Box::new(list.into()))
    );
    // Its text is written again: the tables of the first message are over.
    let Value::Avmplus(second) = &answer.messages[1].value else {
        panic!("a value of AMF3 was written")
    };
    assert_eq!(second.get("x"), Some(&"x".into()));

    let ping = decode(golden!("amf3-ping")).unwrap();
    let Value::StrictArray(arguments) = &ping.messages[0].value else {
        panic!("arguments are an array")
    };
    let Value::Avmplus(command) = &arguments[0] else {
        panic!("the message of Flex is of AMF3")
    };
    assert_eq!(command.get("operation"), Some(&amf3::Value::Integer(5)));
    let headers = command.get("headers").unwrap();
    assert_eq!(headers.get("DSId"), Some(&"nil".into()));
}

#[test]
fn a_length_is_a_hint_unless_it_is_asked_for() {
    let exact = PacketLimits {
        exact_lengths: true,
        ..PacketLimits::default()
    };
    let (packet, bytes) = by_hand();
    assert_eq!(Packet::decode(&bytes, exact), Ok(packet.clone()));
    let place = bytes.len() - 8;
    for length in [0, 3, 5, u32::MAX - 1] {
        let mut lying = bytes.clone();
        lying[place..place + 4].copy_from_slice(&length.to_be_bytes());
        assert_eq!(decode(&lying), Ok(packet.clone()));
        let refused = Packet::decode(&lying, exact).unwrap_err();
        let part = Part::Message {
            index: 1,
            target: "/2/onResult".into(),
        };
        assert_eq!(refused.part, part);
        assert_eq!(refused.error.position, place + 4);
        let cause = Cause::Length {
            announced: length,
            bytes: 4,
        };
        assert_eq!(refused.error.cause, cause);
    }
    let mut unknown = bytes;
    unknown[place..place + 4].copy_from_slice(&[0xff; 4]);
    assert_eq!(decode(&unknown), Ok(packet.clone()));
    assert_eq!(Packet::decode(&unknown, exact), Ok(packet));
    let mut decoder = Decoder::new(&unknown, exact).unwrap();
    decoder.next_message().unwrap();
    let last = decoder.next_message().unwrap().unwrap();
    assert_eq!(last.length, None);
}

#[test]
fn each_part_has_tables_of_its_own() {
    // Two messages of an array that refers to itself, and in the second to what only the first one has.
    let first = b"\x00\x01a\x00\x01b\xff\xff\xff\xff\x0a\0\0\0\x02\x0a\0\0\0\0\x07\0\x01";
    let second = b"\x00\x01c\x00\x01d\xff\xff\xff\xff\x0a\0\0\0\x01\x07\0\x01";
    let bytes = [&b"\0\0\0\0\0\x02"[..], first, second].concat();
    let error = decode(&bytes).unwrap_err();
    assert_eq!(
        error.part,
        Part::Message {
            index: 1,
            target: "c".into()
        }
    );
    assert_eq!(error.error.cause, Cause::Reference { index: 1, known: 1 });

    // The same of a text of AMF3 that the header has.
    let header = b"\x00\x01h\x00\xff\xff\xff\xff\x11\x06\x03x";
    let message = b"\x00\x01c\x00\x01d\xff\xff\xff\xff\x11\x06\x00";
    let bytes = [&b"\0\x03\0\x01"[..], header, b"\0\x01", message].concat();
    let error = decode(&bytes).unwrap_err();
    assert!(matches!(error.part, Part::Message { index: 0, .. }));
    assert_eq!(
        error.error.cause,
        Cause::StringReference { index: 0, known: 0 }
    );

    // And an encoder writes such a text in each part.
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, Version::Amf3);
    let text = Value::Avmplus(Box::new("text".into()));
    encoder.write_header("h", false, &text).unwrap();
    encoder.write_message("a", "b", &text).unwrap();
    encoder.write_message("c", "d", &text).unwrap();
    assert_eq!(bytes.windows(4).filter(|four| four == b"text").count(), 3);
    assert_eq!(decode(&bytes).unwrap().messages[1].value, text);
}

#[test]
fn parts_are_read_item_by_item_or_not_at_all() {
    let (_, bytes) = by_hand();
    let mut decoder = Decoder::new(&bytes, PacketLimits::default()).unwrap();
    assert_eq!(decoder.version(), Version::Amf3);
    assert_eq!(decoder.next_event(), Ok(None));
    let header = HeaderRef {
        name: "k",
        must_understand: true,
        length: Some(2),
    };
    assert_eq!(decoder.next_header(), Ok(Some(header)));
    assert_eq!(decoder.next_event(), Ok(Some(amf0::Event::Boolean(true))));
    assert_eq!(decoder.next_event(), Ok(None));
    let twice = decoder.value().unwrap_err();
    assert_eq!(twice.error.cause, Cause::NotAValue);
    // The second header is read over, and so is half of an array.
    let first = MessageRef {
        target: "S.f",
        response: "/1",
        length: Some(11),
    };
    assert_eq!(decoder.next_message(), Ok(Some(first)));
    let begun = amf0::Event::BeginStrictArray { length: 1 };
    assert_eq!(decoder.next_event(), Ok(Some(begun)));
    let begun = decoder.value().unwrap_err();
    assert_eq!(begun.error.cause, Cause::NotAValue);
    assert_eq!(
        decoder.next_message().unwrap().unwrap().target,
        "/2/onResult"
    );
    assert_eq!(decoder.value_with_references(), Ok("x".into()));
    assert_eq!(decoder.next_message(), Ok(None));
    assert_eq!(decoder.next_header(), Ok(None));
    assert_eq!(decoder.position(), bytes.len());
    decoder.finish().unwrap();
    // A packet that nobody looks at is checked nevertheless.
    Decoder::new(&bytes, PacketLimits::default())
        .unwrap()
        .finish()
        .unwrap();
}

#[test]
fn limits_hold_for_the_packet_as_a_whole() {
    let (_, bytes) = by_hand();
    let limited = |limits| Packet::decode(&bytes, limits).unwrap_err();
    let few = limited(PacketLimits {
        headers: 1,
        ..PacketLimits::default()
    });
    assert_eq!(
        few.to_string(),
        "at byte 2: 2 headers are more than the limit of 1"
    );
    let few = limited(PacketLimits {
        messages: 1,
        ..PacketLimits::default()
    });
    assert_eq!(few.part, Part::Frame);
    assert!(
        few.to_string()
            .ends_with("2 messages are more than the limit of 1")
    );
    let values = |values| PacketLimits {
        values: Limits {
            values,
            ..Limits::default()
        },
        ..PacketLimits::default()
    };
    // True, null, the array of arguments, what says AMF3, its array, its text, "x".
    assert!(Packet::decode(&bytes, values(7)).is_ok());
    let few = limited(values(6));
    assert!(matches!(few.part, Part::Message { index: 1, .. }), "{few}");
    assert_eq!(few.error.cause, Cause::TooMany { limit: 6 });
    let short = Limits {
        bytes: bytes.len() - 1,
        ..Limits::default()
    };
    let long = limited(PacketLimits {
        values: short,
        ..PacketLimits::default()
    });
    assert_eq!(long.part, Part::Frame);
    assert!(matches!(long.error.cause, Cause::TooLarge { .. }));
}

#[test]
fn an_error_names_the_part() {
    let (_, bytes) = by_hand();
    let part = |length| decode(&bytes[..length]).unwrap_err().part;
    let header = |index, name: &str| Part::Header {
        index,
        name: name.into(),
    };
    let message = |index, target: &str| Part::Message {
        index,
        target: target.into(),
    };
    let ends = [
        (4, Part::Frame),
        (7, header(0, "")),
        (14, header(0, "k")),
        (22, header(1, "")),
        (24, Part::Frame),
        (29, message(0, "")),
        (47, message(0, "S.f")),
        (bytes.len(), message(1, "/2/onResult")),
    ];
    for cut in 0..bytes.len() {
        let error = decode(&bytes[..cut]).unwrap_err();
        assert!(
            matches!(
                error.error.cause,
                Cause::Truncated { .. } | Cause::Announced { .. }
            ),
            "{error}"
        );
        assert!(error.error.position <= cut);
    }
    for (end, expected) in ends {
        assert_eq!(part(end - 1), expected);
    }
    let trailing = [&bytes[..], b"\0"].concat();
    let error = decode(&trailing).unwrap_err();
    assert_eq!(error.part, Part::Frame);
    assert_eq!(error.error.cause, Cause::Trailing { left: 1 });
    // A long name is shown in part.
    let name = "ü".repeat(1_000);
    let mut bytes = Vec::new();
    let error = Encoder::new(&mut bytes, Version::Amf0)
        .write_header(&name, false, &Value::Reference(0))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with(&format!("header 0 (\"{}\"..): ", "ü".repeat(80)))
    );
}

#[test]
fn what_fails_leaves_a_packet_without_it() {
    let mut bytes = b"before".to_vec();
    let mut encoder = Encoder::new(&mut bytes, Version::Amf0);
    let error = |part, error| Err(PacketEncodeError { part, error });
    let header = |index, name: &str| Part::Header {
        index,
        name: name.into(),
    };
    let message = |index| Part::Message {
        index,
        target: "t".into(),
    };
    let none = EncodeError::NotOneValue { written: 0 };
    assert_eq!(
        encoder.header("h", false, |_| Ok(())),
        error(header(0, "h"), none.clone())
    );
    encoder.write_header("h", false, &Value::Null).unwrap();
    assert_eq!(
        encoder.header("i", false, |value| value.begin_object()),
        error(header(1, "i"), EncodeError::StillOpen { open: 1 })
    );
    let twice = |value: &mut amf0::Encoder<'_>| value.write_null().and(value.write_null());
    assert_eq!(
        encoder.message("t", "r", twice),
        error(message(0), EncodeError::NotOneValue { written: 2 })
    );
    encoder.write_message("t", "r", &Value::Null).unwrap();
    assert_eq!(
        encoder.message("t", "r", |value| {
            value.begin_strict_array(1)?;
            value.avmplus(|within| within.write_null().and(within.write_null()))
        }),
        error(message(1), EncodeError::NotOneValue { written: 2 })
    );
    assert_eq!(
        encoder.message("t", "r", |value| value.avmplus(|_| Ok(()))),
        error(message(1), none.clone())
    );
    assert_eq!(
        encoder.message("t", "r", |value| value
            .avmplus(|within| within.begin_array(0))),
        error(message(1), EncodeError::StillOpen { open: 1 })
    );
    assert_eq!(
        encoder.message_bytes("t", "r", |_| Ok(())),
        error(message(1), none)
    );
    let mine = encoder.message_bytes("t", "r", |out| {
        out.extend_from_slice(b"half of it");
        Err(Box::<dyn std::error::Error>::from("no more rows"))
    });
    assert_eq!(mine.unwrap_err().to_string(), "no more rows");
    assert_eq!(
        encoder.write_header("h", false, &Value::Null),
        error(header(1, "h"), EncodeError::HeaderAfterMessage)
    );
    let long = "t".repeat(65_536);
    for (target, response) in [(&*long, "r"), ("t", &*long)] {
        let refused = encoder
            .write_message(target, response, &Value::Null)
            .unwrap_err();
        assert!(matches!(refused.error, EncodeError::NameTooLong { .. }));
    }
    encoder.write_message("last", "r", &true.into()).unwrap();

    let packet = decode(&bytes[6..]).unwrap();
    assert_eq!(packet.headers.len(), 1);
    let targets: Vec<_> = packet
        .messages
        .iter()
        .map(|message| &*message.target)
        .collect();
    assert_eq!(targets, ["t", "last"]);
    assert_eq!(&bytes[..6], b"before");
}

#[test]
fn no_more_parts_are_written_than_a_packet_can_count() {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, Version::Amf0);
    for _ in 0..65_535 {
        encoder.write_message("", "", &Value::Null).unwrap();
    }
    let error = encoder.write_message("", "", &Value::Null).unwrap_err();
    assert!(matches!(
        error.error,
        EncodeError::TooLong { count: 65_536, .. }
    ));
    let limits = PacketLimits {
        messages: 65_535,
        ..PacketLimits::default()
    };
    let packet = Packet::decode(&bytes, limits).unwrap();
    assert_eq!(packet.messages.len(), 65_535);
}

#[test]
fn a_record_set_is_a_message() {
    let info = recordset::ServerInfo::whole(["id"], 1);
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, Version::Amf0);
    encoder
        .message_bytes("/1/onResult", "null", |out| {
            let mut rows = recordset::Encoder::new(out, info.clone(), 1)?;
            rows.write_row([recordset::Cell::Number(5.0)])?;
            rows.finish()?;
            Ok::<_, Box<dyn std::error::Error>>(())
        })
        .unwrap();
    let exact = PacketLimits {
        exact_lengths: true,
        ..PacketLimits::default()
    };
    let packet = Packet::decode(&bytes, exact).unwrap();
    let table = recordset::RecordSet {
        info,
        rows: vec![vec![5.0.into()]],
    };
    let alone = amf0::decode(&table.encode().unwrap(), Limits::default()).unwrap();
    assert_eq!(packet.messages[0].value, alone);
    assert!(
        matches!(&alone, Value::TypedObject(object) if matches!(&**object, TypedObject { class, .. } if &**class == "RecordSet"))
    );
}

#[test]
fn each_flipped_bit_of_real_packets_is_an_error_or_another_packet() {
    let by_hand = by_hand().1;
    for packet in [
        &by_hand[..],
        golden!("amf0-call"),
        golden!("amf0-answer"),
        golden!("amf3-ping"),
        golden!("amf3-answer"),
    ] {
        for cut in 0..packet.len() {
            decode(&packet[..cut]).unwrap_err();
        }
        for bit in 0..8 * packet.len() {
            let mut flipped = packet.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            read(&flipped);
        }
    }
}

/// Small ones, so that they are met.
const LIMITS: PacketLimits = PacketLimits {
    values: Limits {
        bytes: 4_096,
        depth: 12,
        values: 500,
    },
    headers: 8,
    messages: 8,
    exact_lengths: false,
};

/// Whatever these bytes are: no panic; and the packet that they are, if any, is written and read the same again.
fn read(bytes: &[u8]) {
    if let Ok(packet) = Packet::decode(bytes, LIMITS) {
        let written = packet.encode().expect("what was decoded can be written");
        let again = decode(&written).expect("what was written can be read");
        assert_eq!(again.encode().expect("as before"), written);
    }
    if let Ok(mut decoder) = Decoder::new(bytes, LIMITS) {
        while let Ok(Some(_)) = decoder.next_header() {
            let _ = decoder.next_event();
        }
        while let Ok(Some(_)) = decoder.next_message() {
            let _ = decoder.value_with_references();
        }
    }
}

fn packet() -> impl Strategy<Value = Packet> {
    let value = || {
        prop_oneof![
            amf0_value(),
            amf3_value().prop_map(|value| Value::Avmplus(Box::new(value)))
        ]
    };
    let header =
        ("\\PC{0,8}", any::<bool>(), value()).prop_map(|(name, must_understand, value)| Header {
            name,
            must_understand,
            value,
        });
    let message = ("\\PC{0,8}", "\\PC{0,8}", value())
        .prop_map(|(target, response, value)| message(&target, &response, value));
    (
        prop_oneof![Just(Version::Amf0), Just(Version::Amf3)],
        proptest::collection::vec(header, 0..3),
        proptest::collection::vec(message, 0..4),
    )
        .prop_map(|(version, headers, messages)| Packet {
            version,
            headers,
            messages,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn packets_come_back(packet in packet()) {
        let exact = PacketLimits { exact_lengths: true, ..PacketLimits::default() };
        let bytes = packet.encode()?;
        prop_assert_eq!(Packet::decode(&bytes, exact)?, packet);
    }

    #[test]
    fn every_end_of_a_packet_that_comes_too_early_is_an_error(packet in packet(), cut in any::<usize>()) {
        let bytes = packet.encode()?;
        prop_assert!(decode(&bytes[..cut % bytes.len()]).is_err());
    }

    #[test]
    fn mutated_packets_do_no_harm(packet in packet(), mutations in mutations()) {
        read(&mutate(packet.encode()?, &mutations));
    }
}

#[test]
fn a_value_that_cannot_be_read_is_passed_over_by_its_length() {
    // An object of an externalizable class in an array in an object, and bytes that only the class knows.
    let unread = b"\x03\0\x01a\x0a\0\0\0\x02\x11\x0a\x07\x09Gems\x7f\x7f\x05\0\0\x09";
    let packet = |lengths: [u32; 3]| {
        let mut bytes = b"\0\x03\0\x01\0\x01k\0".to_vec();
        bytes.extend(lengths[0].to_be_bytes());
        bytes.extend(unread);
        bytes.extend(b"\0\x03");
        for (target, length, value) in [
            ("S.a", lengths[1], &unread[..]),
            ("S.b", 1, b"\x05"),
            ("S.c", lengths[2], &unread[..]),
        ] {
            bytes.extend(b"\0\x03");
            bytes.extend(target.as_bytes());
            bytes.extend(b"\0\x02/1");
            bytes.extend(length.to_be_bytes());
            bytes.extend(value);
        }
        bytes
    };
    let known = unread.len() as u32;
    for last in [known, u32::MAX] {
        let bytes = packet([known, known, last]);
        let mut decoder = Decoder::new(&bytes, PacketLimits::default()).unwrap();
        decoder.next_header().unwrap();
        // Before it is read, after it was begun, and after that has failed.
        assert_eq!(decoder.pass_value().unwrap(), unread);
        assert_eq!(decoder.next_message().unwrap().unwrap().target, "S.a");
        let error = decoder.value().unwrap_err();
        assert!(matches!(error.error.cause, Cause::Externalizable { .. }));
        assert_eq!(decoder.pass_value().unwrap(), unread);
        let again = decoder.pass_value().unwrap_err();
        assert_eq!(again.error.cause, Cause::NotAValue);
        assert_eq!(decoder.next_message().unwrap().unwrap().target, "S.b");
        assert_eq!(decoder.value().unwrap(), Value::Null);
        assert_eq!(decoder.next_message().unwrap().unwrap().target, "S.c");
        while decoder.next_event().is_ok() {}
        assert_eq!(decoder.pass_value().unwrap(), unread);
        decoder.finish().unwrap();
    }
    // Of one that is not the last nothing says where it ends.
    let bytes = packet([u32::MAX, known, known]);
    let mut decoder = Decoder::new(&bytes, PacketLimits::default()).unwrap();
    decoder.next_header().unwrap();
    let error = decoder.pass_value().unwrap_err();
    assert_eq!(error.error.cause, Cause::UnknownLength);
    let bytes = packet([known, u32::MAX, known]);
    let mut decoder = Decoder::new(&bytes, PacketLimits::default()).unwrap();
    decoder.next_header().unwrap();
    decoder.pass_value().unwrap();
    decoder.next_message().unwrap();
    let error = decoder.pass_value().unwrap_err();
    assert_eq!(error.error.cause, Cause::UnknownLength);
    assert!(
        error.to_string().starts_with("message 0 (\"S.a\")"),
        "{error}"
    );
    // What is said to be longer than the packet is not there.
    let bytes = packet([known, known, known + 1]);
    let mut decoder = Decoder::new(&bytes, PacketLimits::default()).unwrap();
    decoder.next_header().unwrap();
    decoder.pass_value().unwrap();
    for _ in 0..3 {
        decoder.next_message().unwrap();
        let _ = decoder.value();
        let passed = decoder.pass_value();
        if let Err(error) = passed {
            assert!(matches!(
                error.error.cause,
                Cause::NotAValue | Cause::Truncated { .. }
            ));
        }
    }
}

#[test]
fn values_that_are_passed_over_count_for_what_was_read_of_them() {
    let mut bytes = b"\0\0\0\0\0\x10".to_vec();
    for _ in 0..16 {
        // Three nulls, and a marker that is none.
        bytes.extend(b"\0\x01a\0\x01b\0\0\0\x09\x0a\0\0\0\x04\x05\x05\x05\x7f");
    }
    let limits = PacketLimits {
        values: Limits {
            values: 20,
            depth: 1,
            ..Limits::default()
        },
        ..PacketLimits::default()
    };
    let mut decoder = Decoder::new(&bytes, limits).unwrap();
    let mut causes = Vec::new();
    while decoder.next_message().unwrap().is_some() {
        causes.push(decoder.value().unwrap_err().error.cause);
        decoder.pass_value().unwrap();
    }
    assert_eq!(causes[..4], vec![Cause::Marker(0x7f); 4][..], "{causes:?}");
    assert_eq!(causes[15], Cause::TooMany { limit: 20 });
}

/// What a future gives that waits for nothing.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits"),
    }
}

#[test]
fn a_message_that_is_made_over_a_while_is_as_one_that_is_made_at_once() {
    let null = [5];
    let mut at_once = Vec::new();
    let mut encoder = Encoder::new(&mut at_once, Version::Amf0);
    for target in ["a", "b"] {
        let write = |out: &mut Vec<u8>| {
            out.extend_from_slice(&null);
            Ok::<_, PacketEncodeError>(())
        };
        encoder.message_bytes(target, "r", write).unwrap();
    }
    let mut slowly = Vec::new();
    let mut encoder = Encoder::new(&mut slowly, Version::Amf0);
    for target in ["a", "b"] {
        let broken = async |out: &mut Vec<u8>| {
            out.extend_from_slice(b"half of it");
            Err(Box::<dyn std::error::Error>::from("no more rows"))
        };
        let broken = now(encoder.message_bytes_async(target, "r", broken));
        assert_eq!(broken.unwrap_err().to_string(), "no more rows");
        let nothing = async |_: &mut Vec<u8>| Ok::<_, PacketEncodeError>(());
        let nothing = now(encoder.message_bytes_async(target, "r", nothing));
        let none = EncodeError::NotOneValue { written: 0 };
        assert_eq!(nothing.unwrap_err().error, none);
        let write = async |out: &mut Vec<u8>| {
            let mut away = std::mem::take(out);
            away.extend_from_slice(&null);
            *out = away;
            Ok::<_, PacketEncodeError>(())
        };
        now(encoder.message_bytes_async(target, "r", write)).unwrap();
    }
    assert_eq!(slowly, at_once);
}
