//! Where the witnesses differ from this crate: each row of the table in its README.

use std::sync::Arc;

use tamtam_amf::amf0::Numbering;
use tamtam_amf::packet::{Header, Message, Packet, PacketLimits, Version};
use tamtam_amf::{Limits, amf0, amf3};

use super::what::of_amf3;
use super::{Who, Witness, amf0_of, amf3_of, packet_of};

/// What a witness has read, where it is of AMF3.
fn read(witness: &mut Witness, value: &amf3::Value) -> Result<String, String> {
    let answer = witness.ask('3', &amf3::encode(value).unwrap());
    answer.map(|(what, _)| what)
}

/// What a witness has written of a value of AMF3.
fn written(witness: &mut Witness, value: &amf3::Value) -> Vec<u8> {
    witness.ask('3', &amf3::encode(value).unwrap()).unwrap().1
}

fn dictionary(key: amf3::Value) -> amf3::Value {
    amf3::Value::Dictionary(Box::new(amf3::Dictionary {
        weak_keys: false,
        entries: vec![(key, 1.into())],
    }))
}

fn packet(arguments: amf0::Value) -> Vec<u8> {
    packet_of_version(Version::Amf0, arguments)
}

fn packet_of_version(version: Version, arguments: amf0::Value) -> Vec<u8> {
    let message = Message {
        target: "Service.method".into(),
        response: "/1".into(),
        value: arguments,
    };
    let packet = Packet {
        version,
        headers: vec![],
        messages: vec![message],
    };
    packet.encode().unwrap()
}

fn list_of(value: amf0::Value) -> Vec<amf0::Value> {
    match value {
        amf0::Value::StrictArray(values) => values,
        other => panic!("{other:?} is no list"),
    }
}

/// The first argument of the message that a witness writes of this one.
fn written_argument(witness: &mut Witness, argument: amf3::Value) -> amf0::Value {
    let argument = amf0::Value::Avmplus(Box::new(argument));
    let (_, written) = witness.ask('p', &packet(vec![argument].into())).unwrap();
    list_of(packet_of(&written).messages.remove(0).value).remove(0)
}

fn array_collection(values: Vec<amf3::Value>) -> amf3::Value {
    amf3::Value::from(amf3::Externalizable {
        class: "flex.messaging.io.ArrayCollection".into(),
        members: vec![("source".into(), values.into())],
    })
}

/// An array of AMF0 with these names.
fn ecma(names: &[&str]) -> amf0::Value {
    let named = names.iter().enumerate();
    let named = named.map(|(place, name)| (Arc::from(*name), f64::from(place as u32).into()));
    amf0::Value::EcmaArray(named.collect())
}

/// An array of AMF3 whose first place has a name, too.
fn twice_at_0() -> amf3::Value {
    amf3::Value::Array(Box::new(amf3::Array {
        associative: vec![("0".into(), "named".into())],
        dense: vec!["dense".into()],
    }))
}

fn empty_object() -> amf3::Value {
    amf3::Value::from(amf3::Object {
        traits: amf3::Traits::dynamic("").into(),
        sealed: vec![],
        dynamic: vec![],
    })
}

/// The length that a packet says of its only message, whose target and response are the usual ones.
fn length_of(packet: &[u8]) -> u32 {
    let place = 6 + 2 + "Service.method".len() + 2 + "/1".len();
    u32::from_be_bytes(packet[place..place + 4].try_into().unwrap())
}

/// Texts, undefined, dates.
fn blazeds_differs_on_texts_and_dates(witness: &mut Witness) {
    // A character beyond the first plane is read in AMF3, and written as six bytes that are not UTF-8.
    let drum = amf3::Value::from("\u{1f941}");
    assert_eq!(read(witness, &drum).unwrap(), "sf09fa581");
    let bytes = written(witness, &drum);
    assert_eq!(bytes, b"\x06\x0d\xed\xa0\xbe\xed\xb5\x81");
    amf3::decode(&bytes, Limits::default()).unwrap_err();
    // In AMF0 it is not read.
    witness
        .ask('0', &amf0::encode(&"\u{1f941}".into()).unwrap())
        .unwrap_err();
    // Undefined becomes null, and milliseconds lose their fraction.
    assert_eq!(written(witness, &amf3::Value::Undefined), [1]);
    let date = written(witness, &amf3::Value::Date(1.5));
    assert_eq!(amf3_of(&date), amf3::Value::Date(1.0));
}

/// Dictionaries.
fn blazeds_differs_on_dictionaries(witness: &mut Witness) {
    // Keys of a dictionary are not null; that they are not weak is said by 2.
    read(witness, &dictionary(amf3::Value::Null)).unwrap_err();
    let bytes = written(witness, &dictionary(5.into()));
    assert_eq!(bytes[..3], [0x11, 3, 2]);
    assert_eq!(amf3_of(&bytes), dictionary(5.into()));
    // Keys of a dictionary with the same in them are one.
    let twice = amf3::Value::Dictionary(Box::new(amf3::Dictionary {
        weak_keys: false,
        entries: vec![(empty_object(), 1.into()), (empty_object(), 2.into())],
    }));
    let what = read(witness, &twice).unwrap();
    assert_eq!(what.matches('=').count(), 1, "{what}");
    // A key that holds the dictionary is not found any more, and what it stands for is lost.
    let around = amf3::Value::from(amf3::Object {
        traits: amf3::Traits::dynamic("").into(),
        sealed: vec![],
        dynamic: vec![("own".into(), amf3::Value::Reference(0))],
    });
    let around = dictionary(around);
    let what = read(witness, &around).unwrap();
    assert_eq!(what, of_amf3(&around, Who::BlazeDs));
    let again = amf3_of(&written(witness, &around));
    assert_eq!(of_amf3(&again, Who::BlazeDs), "<{;6f776e=^1}=n>");
}

/// Vectors and arrays.
fn blazeds_differs_on_arrays(witness: &mut Witness) {
    // Where it prefers vectors it looks at three values of a list, and takes all for numbers if those are.
    let mut vectors = |values: Vec<amf3::Value>| {
        let vector = amf3::Value::VectorObject {
            class: "".into(),
            vector: Box::new(amf3::Vector {
                fixed: false,
                values,
            }),
        };
        witness.ask('v', &amf3::encode(&vector).unwrap())
    };
    let error = vectors(vec![1.into(), 2.into(), 3.into(), "4".into()]).unwrap_err();
    assert!(error.contains("ClassCastException"), "{error}");
    let error = vectors(vec![1.5.into(), 2.5.into(), 3.5.into(), 4.into()]).unwrap_err();
    assert!(error.contains("ClassCastException"), "{error}");
    vectors(vec![1.into(), 2.into(), "3".into(), "4".into()]).unwrap();
    // The class of a vector is not kept: its own is a name of Java's.
    let (_, written) = vectors(vec!["1".into()]).unwrap();
    let amf3::Value::VectorObject { class, .. } = amf3_of(&written) else {
        panic!("a vector was written")
    };
    assert_eq!(&*class, "java.lang.String");
    // A value without a name takes the place of one that has the name of that place.
    let what = read(witness, &twice_at_0()).unwrap();
    assert_eq!(what, "{;30=s64656e7365}");
    // What is named "length" is no value of an array with names.
    let (what, _) = witness
        .ask('0', &amf0::encode(&ecma(&["length", "0"])).unwrap())
        .unwrap();
    assert_eq!(what, "{;30=d3ff0000000000000}");
}

/// Packets, references of AMF0, and AMF0 for what AMF0 does not know.
fn blazeds_differs_on_packets(witness: &mut Witness) {
    // Each value in a packet is said to have 1 byte.
    let (_, written) = witness.ask('p', &packet(vec![5.0.into()].into())).unwrap();
    assert_eq!(length_of(&written), 1);
    // Arguments are an array like any other.
    let shared = vec![vec![].into(), amf0::Value::Reference(1)].into();
    let (what, _) = witness.ask('p', &packet(shared)).unwrap();
    assert!(what.ends_with("=[[],[]])"), "{what}");
    // Only containers have a place in the table of AMF0.
    let date = amf0::Value::Date {
        milliseconds: 1.0,
        time_zone: 0,
    };
    let list = amf0::Value::from(vec![date, vec![].into(), amf0::Value::Reference(1)]);
    let (what, _) = witness.ask('0', &amf0::encode(&list).unwrap()).unwrap();
    assert!(what.ends_with(",[],[]]"), "{what}");
    // In AMF0 bytes become numbers, dictionaries objects, and what is of Flex an object of its class.
    let bytes = written_argument(witness, amf3::Value::ByteArray(vec![7, 8]));
    assert_eq!(bytes, vec![7.0.into(), 8.0.into()].into());
    let object = written_argument(witness, dictionary("a".into()));
    let named = vec![("a".into(), 1.0.into())];
    assert_eq!(object, amf0::Value::Object(named));
    let list = written_argument(witness, array_collection(vec![]));
    let amf0::Value::TypedObject(list) = list else {
        panic!("{list:?} has no class")
    };
    assert_eq!(&*list.class, "flex.messaging.io.ArrayCollection");
    let proxy = amf3::Value::from(amf3::Externalizable {
        class: "flex.messaging.io.ObjectProxy".into(),
        members: vec![("object".into(), empty_object())],
    });
    let object = written_argument(witness, proxy);
    let amf0::Value::TypedObject(object) = object else {
        panic!("{object:?} has no class")
    };
    assert_eq!(&*object.class, "flex.messaging.io.ObjectProxy");
}

/// What it does not know, texts, numbers, dates.
fn py3amf_differs_on_values(witness: &mut Witness) {
    // Vectors are not known, and a dictionary is read as something else.
    let vector = amf3::Value::VectorInt(Box::default());
    let error = read(witness, &vector).unwrap_err();
    assert!(error.contains("Unknown data type"), "{error}");
    let other = read(witness, &dictionary(5.into())).unwrap();
    assert_ne!(other, of_amf3(&dictionary(5.into()), Who::Py3Amf));
    // XML that it writes counts as a text, to which texts after it refer.
    let list: amf3::Value = vec![
        amf3::Value::Xml("<a>.</a>".into()),
        "a".into(),
        "b".into(),
        "a".into(),
    ]
    .into();
    let again = amf3::decode(&written(witness, &list), Limits::default());
    assert_ne!(
        again.map(|list| of_amf3(&list, Who::Py3Amf)),
        Ok(of_amf3(&list, Who::Py3Amf))
    );
    // Milliseconds come back as seconds times a thousand, which is another double.
    let date = amf3::Value::Date(69_591_186_719_833.0);
    assert_ne!(amf3_of(&written(witness, &date)), date);
    // Minus zero becomes zero.
    let zero = amf0::encode(&(-0.0).into()).unwrap();
    let (what, _) = witness.ask('0', &zero).unwrap();
    assert_eq!(what, "d0000000000000000");
    // A date before 1970 that is no whole second is read, and written as another one.
    let date = written(witness, &amf3::Value::Date(-1_500.0));
    assert_eq!(amf3_of(&date), amf3::Value::Date(-2_500.0));
}

/// What is of Flex.
fn py3amf_differs_on_flex(witness: &mut Witness) {
    // A small message whose number is a text cannot be written.
    let message = amf3::Externalizable {
        class: "DSK".into(),
        members: vec![("messageId".into(), "m".into())],
    };
    read(witness, &message.into()).unwrap_err();
    // One whose body is 0, false or an empty text is written without it.
    let message = |body: amf3::Value| {
        amf3::Value::from(amf3::Externalizable {
            class: "DSK".into(),
            members: vec![("body".into(), body)],
        })
    };
    for body in [0.into(), false.into(), "".into()] {
        let again = amf3_of(&written(witness, &message(body)));
        assert_eq!(again.get("body"), None);
    }
    let body = amf3::Value::from("a");
    let again = amf3_of(&written(witness, &message(body.clone())));
    assert_eq!(again.get("body"), Some(&body));
    // The newer list of Flex is not known.
    let list = amf3::Externalizable {
        class: "flex.messaging.io.ArrayList".into(),
        members: vec![("source".into(), vec![].into())],
    };
    let error = read(witness, &list.into()).unwrap_err();
    assert!(error.contains("flex.messaging.io.ArrayList"), "{error}");
    // In AMF0 bytes and what is of Flex are written in AMF3.
    for value in [amf3::Value::ByteArray(vec![7, 8]), array_collection(vec![])] {
        let written = written_argument(witness, value.clone());
        assert_eq!(written, amf0::Value::Avmplus(Box::new(value)));
    }
}

/// Arrays with names.
fn py3amf_differs_on_arrays(witness: &mut Witness) {
    // Both values of one place are kept.
    let what = read(witness, &twice_at_0()).unwrap();
    assert_eq!(what, "{;30=s64656e7365,30=s6e616d6564}");
    // What Python takes for a whole number is one, if it is the name of a value in an array of AMF0.
    let (what, _) = witness
        .ask('0', &amf0::encode(&ecma(&["007", "1_0"])).unwrap())
        .unwrap();
    assert_eq!(what, "{;3130=d3ff0000000000000,37=d0000000000000000}");
    // In AMF3 it writes the values of such an array as if there were no holes, or not at all.
    let version = Version::Amf3;
    let holes = packet_of_version(version, vec![ecma(&["0", "2"])].into());
    let (what, written) = witness.ask('p', &holes).unwrap();
    assert!(
        what.ends_with("=[{;30=d0000000000000000,32=d3ff0000000000000}])"),
        "{what}"
    );
    let dense = amf3::Value::from(vec![0.into(), 1.into()]);
    let written = Packet::decode(&written, PacketLimits::default()).unwrap();
    let dense = vec![amf0::Value::Avmplus(Box::new(dense))];
    assert_eq!(written.messages[0].value, dense.into());
    let late = packet_of_version(version, vec![ecma(&["5"])].into());
    let error = witness.ask('p', &late).unwrap_err();
    assert!(error.contains("KeyError"), "{error}");
}

/// Packets, and references of AMF0.
fn py3amf_differs_on_packets(witness: &mut Witness) {
    // Each value in a packet is said to have 0 bytes.
    let (_, written) = witness.ask('p', &packet(vec![5.0.into()].into())).unwrap();
    assert_eq!(length_of(&written), 0);
    // The array of arguments has no place in the table of references.
    let shared = vec![vec![].into(), amf0::Value::Reference(0)].into();
    let (what, _) = witness.ask('p', &packet(shared)).unwrap();
    assert!(what.ends_with("=[[],[]])"), "{what}");
    // Dates and XML of AMF0 have a place in the table of what it reads, and none in that of what it writes.
    let date = amf0::Value::Date {
        milliseconds: 1.0,
        time_zone: 0,
    };
    let list = amf0::Value::from(vec![date, vec![].into(), amf0::Value::Reference(2)]);
    let mut bytes = Vec::new();
    let mut encoder = amf0::Encoder::new(&mut bytes).with_numbering(Numbering::FlashPlayer);
    encoder.write_value(&list).unwrap();
    encoder.finish().unwrap();
    let (what, written) = witness.ask('0', &bytes).unwrap();
    assert!(what.ends_with(",[],[]]"), "{what}");
    assert_eq!(list_of(amf0_of(&written))[2], amf0::Value::Reference(1));
    // What it writes in AMF3 within AMF0 has a place in the table of AMF0, but not if it reads it.
    let bytes = amf0::Value::Avmplus(Box::new(amf3::Value::ByteArray(vec![1])));
    let list = vec![bytes, vec![].into(), amf0::Value::Reference(0)];
    let (what, written) = witness.ask('p', &packet(list.into())).unwrap();
    assert!(what.ends_with("=[b01,[],[]])"), "{what}");
    let written = packet_of(&written).messages.remove(0).value;
    assert_eq!(list_of(written)[2], amf0::Value::Reference(1));
    // All headers of a packet share a table.
    let header = |name: &str, value: amf0::Value| Header {
        name: name.into(),
        must_understand: false,
        value,
    };
    let shared = vec![vec![].into(), amf0::Value::Reference(1)].into();
    let packet = Packet {
        version: Version::Amf0,
        headers: vec![header("a", vec![5.0.into()].into()), header("b", shared)],
        messages: vec![],
    };
    let (what, _) = witness.ask('p', &packet.encode().unwrap()).unwrap();
    assert_eq!(what, "P0(61?[d4014000000000000])(62?[[],^0])");
}

#[test]
#[ignore = "asks BlazeDS"]
fn blazeds_differs_as_the_table_says() {
    let witness = &mut Witness::call(Who::BlazeDs);
    blazeds_differs_on_texts_and_dates(witness);
    blazeds_differs_on_dictionaries(witness);
    blazeds_differs_on_arrays(witness);
    blazeds_differs_on_packets(witness);
}

#[test]
#[ignore = "asks Py3AMF"]
fn py3amf_differs_as_the_table_says() {
    let witness = &mut Witness::call(Who::Py3Amf);
    py3amf_differs_on_values(witness);
    py3amf_differs_on_flex(witness);
    py3amf_differs_on_arrays(witness);
    py3amf_differs_on_packets(witness);
}
