//! Objects of externalizable classes: those of Flex byte by byte, those of a program by its functions.

use std::sync::Arc;

use tamtam_amf::amf3::{
    Classes, Decoder, Encoder, Event, Externalizable, MAX_OWN_DEPTH, Object, Traits, Value, decode,
    encode,
};
use tamtam_amf::packet::{self, Version};
use tamtam_amf::{Cause, DecodeError, EncodeError, Limits, MAX_DEPTH, amf0};

fn object(class: &str, members: Vec<(&str, Value)>) -> Value {
    Value::from(Externalizable {
        class: class.into(),
        members: members
            .into_iter()
            .map(|(name, value)| (name.into(), value))
            .collect(),
    })
}

fn read(bytes: &[u8]) -> Result<Value, DecodeError> {
    decode(bytes, Limits::default())
}

#[test]
fn collections_have_one_value() {
    let list: Value = vec![Value::Integer(1)].into();
    for (class, member) in [
        ("flex.messaging.io.ArrayCollection", "source"),
        ("flex.messaging.io.ArrayList", "source"),
        ("flex.messaging.io.ObjectProxy", "object"),
    ] {
        let length = u8::try_from(class.len()).unwrap() << 1 | 1;
        let bytes = [
            &[0x0a, 0x07, length][..],
            class.as_bytes(),
            b"\x09\x03\x01\x04\x01",
        ]
        .concat();
        let value = object(class, vec![(member, list.clone())]);
        assert_eq!(encode(&value), Ok(bytes.clone()));
        assert_eq!(read(&bytes), Ok(value));
        let other = object(class, vec![("other", list.clone())]);
        assert!(matches!(encode(&other), Err(EncodeError::Member { .. })));
        let none = object(class, vec![]);
        let written = EncodeError::NotOneValue { written: 0 };
        assert_eq!(encode(&none), Err(written));
    }
}

#[test]
fn small_messages_have_what_their_flags_say() {
    // BODY and HAS_NEXT; CLIENT_ID_BYTES; CORRELATION_ID; none of an AcknowledgeMessage.
    let bytes = b"\x0a\x07\x07DSK\x81\x01\x06\x03b\x0c\x05\x01\x02\x01\x06\x03c\x00";
    let acknowledge = object(
        "DSK",
        vec![
            ("body", "b".into()),
            ("clientIdBytes", Value::ByteArray(vec![1, 2])),
            ("correlationId", "c".into()),
        ],
    );
    assert_eq!(read(bytes), Ok(acknowledge.clone()));
    assert_eq!(encode(&acknowledge).unwrap(), bytes);

    // Nothing but the operation 5 of a CommandMessage, which is a ping.
    let bytes = b"\x0a\x07\x07DSC\x00\x00\x01\x04\x05";
    let ping = object("DSC", vec![("operation", Value::Integer(5))]);
    assert_eq!(read(bytes), Ok(ping.clone()));
    assert_eq!(encode(&ping).unwrap(), bytes);

    // All of an AsyncMessage.
    let all = [
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
    let values = vec![Value::Null; 11];
    let members = all.into_iter().zip(values.clone()).collect();
    let bytes = b"\x0a\x07\x07DSA\xff\x03\x01\x01\x01\x01\x01\x01\x01\x01\x01\x03\x01\x01";
    assert_eq!(read(bytes), Ok(object("DSA", members)));
    // In whatever order they are given.
    let members = all.into_iter().rev().zip(values).collect();
    assert_eq!(encode(&object("DSA", members)).unwrap(), bytes);

    let twice = object("DSA", vec![("body", Value::Null), ("body", Value::Null)]);
    assert!(matches!(encode(&twice), Err(EncodeError::Member { member, .. }) if member == "body"));
    let other = object("DSA", vec![("operation", Value::Null)]);
    assert!(matches!(encode(&other), Err(EncodeError::Member { .. })));
}

#[test]
fn flags_that_no_message_has_are_refused() {
    for (flags, byte, bit) in [
        (&b"\x80\x04"[..], 1, 2),
        (b"\x80\x80\x01", 2, 0),
        (b"\x80\x80\x80\x80\x80\x00", 4, 0),
    ] {
        let bytes = [b"\x0a\x07\x07DSA", flags, b"\x01\x00\x01\x01\x01"].concat();
        let error = read(&bytes).unwrap_err();
        assert_eq!(error.cause, Cause::Flag { byte, bit });
    }
    // More bytes than are needed, all without flags.
    let padded = read(b"\x0a\x07\x07DSA\x80\x80\x00\x80\x00");
    assert_eq!(padded, Ok(object("DSA", vec![])));
}

#[test]
fn what_is_unknown_is_an_error_that_names_the_class() {
    let bytes = b"\x0a\x07\x09Mine\x01";
    let error = read(bytes).unwrap_err();
    assert!(error.to_string().contains("\"Mine\""), "{error}");
    let error = encode(&object("Mine", vec![])).unwrap_err();
    assert!(error.to_string().contains("\"Mine\""), "{error}");
    let list = encode(&object(
        "flex.messaging.io.ArrayList",
        vec![("source", Value::Null)],
    ))
    .unwrap();
    let none = Decoder::new(&list, Limits::default())
        .with_classes(&Classes::none())
        .value();
    assert!(matches!(
        none.unwrap_err().cause,
        Cause::Externalizable { .. }
    ));
}

/// A number of four bytes, a text by `writeUTF`, and a value.
fn classes() -> Classes {
    Classes::flex().with(
        "Mine",
        |input| {
            let number = i32::from_be_bytes(input.array()?);
            if number < 0 {
                return Err(input.refuse("a number below 0"));
            }
            input.set("number", number.into())?;
            let text = input.text()?;
            input.set("text", text.into())?;
            input.value("value")?;
            if input.get("value") == Some(&Value::Undefined) {
                return input.set("value", Value::Date(0.0));
            }
            Ok(())
        },
        |object, encoder| {
            let (Some(Value::Integer(number)), Some(Value::String(text)), Some(value)) = (
                object.get("number"),
                object.get("text"),
                object.get("value"),
            ) else {
                return Err(EncodeError::Refused("a number, a text, a value".into()));
            };
            encoder.write_raw(&number.to_be_bytes())?;
            let length = u16::try_from(text.len()).expect("texts here are short");
            encoder.write_raw(&length.to_be_bytes())?;
            encoder.write_raw(text.as_bytes())?;
            encoder.write_value(value)
        },
    )
}

fn mine(value: Value) -> Value {
    object(
        "Mine",
        vec![("number", 7.into()), ("text", "ü".into()), ("value", value)],
    )
}

fn encode_mine(value: &Value) -> Result<Vec<u8>, EncodeError> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes).with_classes(&classes());
    encoder.write_value(value)?;
    encoder.finish()?;
    Ok(bytes)
}

fn decode_mine(bytes: &[u8]) -> Result<Value, DecodeError> {
    let mut decoder = Decoder::new(bytes, Limits::default()).with_classes(&classes());
    let value = decoder.value()?;
    decoder.finish()?;
    Ok(value)
}

#[test]
fn a_class_of_ones_own_is_read_and_written_by_its_functions() {
    let bytes = b"\x0a\x07\x09Mine\x00\x00\x00\x07\x00\x02\xc3\xbc\x01";
    assert_eq!(decode_mine(bytes), Ok(mine(Value::Null)));
    assert_eq!(encode_mine(&mine(Value::Null)).unwrap(), bytes);
    for cut in 0..bytes.len() {
        decode_mine(&bytes[..cut]).unwrap_err();
    }
    // The traits are written once, and shared with those of other classes.
    let row: Arc<_> = Traits::sealed("Row", ["x"]).into();
    let row = Value::from(Object {
        traits: row,
        sealed: vec![mine(Value::Null)],
        dynamic: vec![],
    });
    let list: Value = vec![mine(mine(Value::Null)), row.clone(), row].into();
    let bytes = encode_mine(&list).unwrap();
    assert_eq!(bytes.windows(4).filter(|four| four == b"Mine").count(), 1);
    assert_eq!(decode_mine(&bytes), Ok(list.clone()));
    // Within AMF0, and within a packet.
    let old = amf0::Value::Avmplus(Box::new(list));
    let mut bytes = Vec::new();
    let mut packet = packet::Encoder::new(&mut bytes, Version::Amf3).with_classes(&classes());
    packet.write_message("t", "/1", &old).unwrap();
    let mut packet = packet::Decoder::new(&bytes, Default::default())
        .unwrap()
        .with_classes(&classes());
    packet.next_message().unwrap();
    assert_eq!(packet.value(), Ok(old));

    let error = decode_mine(b"\x0a\x07\x09Mine\xff\x00\x00\x07").unwrap_err();
    assert_eq!(error.position, 11);
    let refused = "an object of the class \"Mine\" is refused: a number below 0";
    assert_eq!(error.cause.to_string(), refused);
    // What has a place in the table of references has to be read.
    let error = decode_mine(b"\x0a\x07\x09Mine\x00\x00\x00\x07\x00\x00\x00").unwrap_err();
    assert!(matches!(error.cause, Cause::Refused { .. }));
    let error = encode_mine(&object("Mine", vec![])).unwrap_err();
    assert_eq!(error.to_string(), "a number, a text, a value");
}

#[test]
fn references_lead_into_externalizable_objects_and_out_of_them() {
    // An array (0) of an object of mine (1) that has a date (2); that date; that object.
    let list: Value = vec![
        mine(Value::Date(5.0)),
        Value::Reference(2),
        Value::Reference(1),
    ]
    .into();
    let bytes = encode_mine(&list).unwrap();
    let whole: Value = vec![
        mine(Value::Date(5.0)),
        Value::Date(5.0),
        mine(Value::Date(5.0)),
    ]
    .into();
    assert_eq!(decode_mine(&bytes), Ok(whole));
    let mut decoder = Decoder::new(&bytes, Limits::default()).with_classes(&classes());
    assert_eq!(decoder.value_with_references(), Ok(list));

    // The same of a message of Flex, and one that contains itself.
    let message = |value| object("DSK", vec![("body", value), ("timestamp", 1.into())]);
    let list: Value = vec![message(Value::Date(5.0)), Value::Reference(2)].into();
    let whole: Value = vec![message(Value::Date(5.0)), Value::Date(5.0)].into();
    assert_eq!(read(&encode(&list).unwrap()), Ok(whole));
    let cycle = encode(&message(Value::Reference(0))).unwrap();
    assert_eq!(read(&cycle).unwrap_err().cause, Cause::Cycle { index: 0 });
    let cycle = encode_mine(&mine(Value::Reference(0))).unwrap();
    let error = decode_mine(&cycle).unwrap_err();
    assert_eq!(error.cause, Cause::Cycle { index: 0 });
}

#[test]
fn items_of_a_class_of_flex_come_one_by_one_and_one_of_ones_own_as_a_whole() {
    let list: Value = vec![
        object("DSC", vec![("operation", 5.into())]),
        mine(true.into()),
    ]
    .into();
    let bytes = encode_mine(&list).unwrap();
    let mut decoder = Decoder::new(&bytes, Limits::default()).with_classes(&classes());
    let mut items = Vec::new();
    let mut own = None;
    while let Some(event) = decoder.next_event().unwrap() {
        items.push(event);
        own = own.or(decoder.take_externalizable());
    }
    assert_eq!(
        items,
        [
            Event::BeginArray { dense: 2 },
            Event::BeginExternalizable { class: "DSC" },
            Event::Property("operation"),
            Event::Integer(5),
            Event::End,
            Event::Externalizable,
            Event::End
        ]
    );
    assert_eq!(own.map(Value::from), Some(mine(true.into())));
}

#[test]
fn an_encoder_keeps_the_order_of_externalizable_objects() {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes);
    assert_eq!(encoder.write_raw(&[1]), Err(EncodeError::NotExternalizable));
    encoder.begin_externalizable("C").unwrap();
    assert_eq!(encoder.property("x"), Err(EncodeError::NameNotExpected));
    encoder.write_raw(&[1]).unwrap();
    encoder.begin_array(0).unwrap();
    assert_eq!(encoder.write_raw(&[1]), Err(EncodeError::NotExternalizable));
    encoder.end().unwrap();
    encoder.end().unwrap();
    encoder.finish().unwrap();
    assert_eq!(bytes, b"\x0a\x07\x03C\x01\x09\x01\x01");

    type Write = fn(&mut Encoder<'_>) -> Result<(), EncodeError>;
    let ends: [(Write, EncodeError); 2] = [
        (|encoder| encoder.end(), EncodeError::NothingOpen),
        (
            |encoder| encoder.begin_array(0),
            EncodeError::StillOpen { open: 1 },
        ),
    ];
    for (write, error) in ends {
        let classes = Classes::none().with("C", |_| Ok(()), move |_, encoder| write(encoder));
        let mut encoder = Encoder::new(&mut bytes).with_classes(&classes);
        assert_eq!(encoder.write_value(&object("C", vec![])), Err(error));
    }
}

#[test]
fn a_class_is_replaced_by_one_of_its_name() {
    let classes = Classes::flex().with("DSK", |input| input.value("all"), |_, _| Ok(()));
    let mut decoder =
        Decoder::new(b"\x0a\x07\x07DSK\x04\x05", Limits::default()).with_classes(&classes);
    assert_eq!(decoder.value(), Ok(object("DSK", vec![("all", 5.into())])));
    assert_eq!(
        format!("{classes:?}"),
        r#"Classes { flex: true, own: ["DSK"] }"#
    );
}

#[test]
fn nesting_is_bounded_through_functions_too() {
    let nested = |depth: usize| {
        let mut bytes = b"\x0a\x07\x09Mine".to_vec();
        let body = b"\x00\x00\x00\x07\x00\x00";
        bytes.extend(body);
        for _ in 1..depth {
            bytes.extend(b"\x0a\x01");
            bytes.extend(body);
        }
        bytes.push(1);
        bytes
    };
    let deep = Limits {
        depth: MAX_DEPTH,
        ..Limits::default()
    };
    let read = move |depth| {
        Decoder::new(&nested(depth), deep)
            .with_classes(&classes())
            .value()
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let check = move || {
        let mut value = read(MAX_OWN_DEPTH).unwrap();
        let bytes = encode_mine(&value).unwrap();
        assert_eq!(decode_mine(&bytes), Ok(value.clone()));
        let too_deep = Cause::TooDeep {
            limit: MAX_OWN_DEPTH,
        };
        assert_eq!(read(MAX_OWN_DEPTH + 1).unwrap_err().cause, too_deep);
        value = mine(value);
        let too_deep = EncodeError::TooDeep {
            limit: MAX_OWN_DEPTH,
        };
        assert_eq!(encode_mine(&value), Err(too_deep));
    };
    thread.spawn(check).unwrap().join().unwrap();
}
