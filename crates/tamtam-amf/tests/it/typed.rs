//! Rust types to and from both formats: what each is written as, what each is read from, and that reading item by item
//! means what the tree means.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use tamtam_amf::amf3::{Array, Classes, Dictionary, Externalizable, Object, Traits, Vector};
use tamtam_amf::typed::{
    Date, DeserializeError, Mapping, SerializeError, UnknownMembers, from_amf0, from_amf3, to_amf0,
    to_amf3,
};
use tamtam_amf::{Cause, Limits, MAX_DEPTH, Sharing, amf0, amf3, packet};

use crate::typed_any::Any;

#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
pub(crate) struct Everything {
    yes: bool,
    small: i8,
    large: u64,
    half: f32,
    text: String,
    letter: char,
    nothing: Option<u8>,
    something: Option<String>,
    unit: (),
    list: Vec<i16>,
    pair: (u8, String),
    map: BTreeMap<u32, bool>,
    inside: Inside,
    many: Vec<Inside>,
    when: Date,
    kinds: Vec<Kind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<u8>,
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Inside {
    x: f64,
    y: i32,
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
enum Kind {
    Unit,
    New(Inside),
    Tuple(u8, u8),
    Struct { a: u8 },
}

fn everything() -> Everything {
    let inside = |x| Inside { x, y: -7 };
    Everything {
        yes: true,
        small: -5,
        large: 1 << 60,
        half: 0.5,
        text: "ü".into(),
        letter: 'z',
        nothing: None,
        something: Some("s".into()),
        unit: (),
        list: vec![1, -2, 300],
        pair: (1, "p".into()),
        map: [(5, true), (6, false)].into(),
        inside: inside(-0.0),
        many: vec![inside(1.0), inside(f64::INFINITY)],
        when: Date(-1.5),
        kinds: vec![
            Kind::Unit,
            Kind::New(inside(2.0)),
            Kind::Tuple(1, 2),
            Kind::Struct { a: 3 },
        ],
        skipped: None,
    }
}

fn old<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, DeserializeError> {
    from_amf0(bytes, Limits::default())
}

fn new<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, DeserializeError> {
    from_amf3(bytes, Limits::default())
}

#[test]
fn every_kind_of_type_comes_back() {
    let value = everything();
    let bytes = to_amf0(&value).unwrap();
    assert_eq!(old::<Everything>(&bytes), Ok(value.clone()));
    let bytes = to_amf3(&value).unwrap();
    assert_eq!(new::<Everything>(&bytes), Ok(value.clone()));
    let skipped = Everything {
        skipped: Some(5),
        ..value
    };
    let both = (&skipped, everything());
    let bytes = to_amf3(&both).unwrap();
    let back: (Everything, Everything) = new(&bytes).unwrap();
    assert_eq!(back, (skipped.clone(), everything()));
}

#[test]
fn types_are_written_as_the_values_of_the_formats() {
    #[derive(Serialize)]
    struct Row {
        id: u8,
        name: &'static str,
    }
    let rows = [Row { id: 1, name: "a" }, Row { id: 2, name: "a" }];
    let mapping = Mapping::new().class("Row", "demo.Row");
    let object = |id: f64| {
        let properties = vec![("id".into(), id.into()), ("name".into(), "a".into())];
        amf0::Value::TypedObject(Box::new(amf0::TypedObject {
            class: "demo.Row".into(),
            properties,
        }))
    };
    let tree = amf0::Value::from(vec![object(1.0), object(2.0)]);
    assert_eq!(mapping.to_amf0(&rows), Ok(amf0::encode(&tree).unwrap()));
    let traits = std::sync::Arc::new(Traits::sealed("demo.Row", ["id", "name"]));
    let object = |id: i32| {
        amf3::Value::from(Object {
            traits: traits.clone(),
            sealed: vec![id.into(), "a".into()],
            dynamic: vec![],
        })
    };
    let tree = amf3::Value::from(vec![object(1), object(2)]);
    assert_eq!(mapping.to_amf3(&rows), Ok(amf3::encode(&tree).unwrap()));

    // Bytes and dates; an integer of more than 29 bits.
    struct Bytes;
    impl Serialize for Bytes {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_bytes(&[1, 2])
        }
    }
    assert_eq!(to_amf3(&Bytes).unwrap(), [0x0c, 5, 1, 2]);
    assert_eq!(to_amf0(&Bytes).unwrap(), [0x11, 0x0c, 5, 1, 2]);
    assert_eq!(to_amf0(&Date(0.0)).unwrap()[0], 0x0b);
    assert_eq!(to_amf3(&(1_u32 << 28)).unwrap()[0], 5);
    assert_eq!(to_amf3(&-1_i64).unwrap()[0], 4);
    assert_eq!(
        to_amf3(&BTreeMap::from([('x', 1)])).unwrap(),
        b"\x0a\x0b\x01\x03x\x04\x01\x01"
    );
}

#[test]
fn what_cannot_be_written_says_so() {
    let inexact = (1_u64 << 53) + 1;
    let error = to_amf0(&inexact).unwrap_err();
    assert_eq!(
        error,
        SerializeError::Inexact {
            number: inexact.to_string()
        }
    );
    assert!(to_amf3(&(inexact - 2)).is_ok());
    assert!(to_amf3(&i64::MIN).is_ok());
    assert!(matches!(
        to_amf3(&i64::MAX),
        Err(SerializeError::Inexact { .. })
    ));
    let keys = HashMap::from([(Some(Date(0.0)).map(|_| [1_u8]), 1)]);
    assert_eq!(to_amf3(&keys), Err(SerializeError::Key));
    struct Filtered;
    impl Serialize for Filtered {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq([1, 2, 3].iter().filter(|number| **number > 1))
        }
    }
    assert_eq!(to_amf0(&Filtered), Err(SerializeError::UnknownLength));
    let empty = BTreeMap::from([("", 1)]);
    assert!(matches!(to_amf3(&empty), Err(SerializeError::Encode(_))));
}

#[test]
fn numbers_are_what_is_asked_for() {
    let number = |number: f64| amf0::encode(&number.into()).unwrap();
    assert_eq!(old::<u8>(&number(255.0)), Ok(255));
    assert!(old::<u8>(&number(256.0)).is_err());
    assert!(old::<u8>(&number(0.5)).is_err());
    assert!(old::<u8>(&number(f64::NAN)).is_err());
    assert_eq!(old::<u64>(&number(1.5e19)), Ok(15_000_000_000_000_000_000));
    assert!(old::<u64>(&number(2e19)).is_err());
    assert_eq!(old::<i64>(&number(-(2_f64.powi(63)))), Ok(i64::MIN));
    assert!(old::<i64>(&number(2_f64.powi(63))).is_err());
    let zero: f64 = old(&number(-0.0)).unwrap();
    assert!(zero == 0.0 && zero.is_sign_negative());
    assert_eq!(old::<f64>(&number(2e19)), Ok(2e19));
    assert_eq!(new::<f64>(b"\x04\x05"), Ok(5.0));
    assert_eq!(new::<Option<u8>>(b"\x00"), Ok(None));
    assert_eq!(old::<Option<Option<u8>>>(&number(5.0)), Ok(Some(Some(5))));
}

#[test]
fn texts_are_borrowed_from_the_bytes() {
    #[derive(Deserialize, PartialEq, Debug)]
    struct Named<'a> {
        name: &'a str,
        again: &'a str,
    }
    let named = Named {
        name: "text",
        again: "text",
    };
    let map = BTreeMap::from([("again", "text"), ("name", "text")]);
    assert_eq!(
        old::<Named<'_>>(&to_amf0(&map).unwrap()).as_ref(),
        Ok(&named)
    );
    assert_eq!(
        new::<Named<'_>>(&to_amf3(&map).unwrap()).as_ref(),
        Ok(&named)
    );
    assert_eq!(new::<&[u8]>(b"\x0c\x05ab"), Ok(&b"ab"[..]));
}

#[test]
fn what_others_write_has_other_forms() {
    let value = |value: &amf3::Value| amf3::encode(value).unwrap();
    let ints = vec![1_i32, -2];
    let vector = amf3::Value::VectorInt(Box::new(Vector {
        fixed: true,
        values: ints.clone(),
    }));
    assert_eq!(new(&value(&vector)), Ok(ints));
    let vector = amf3::Value::VectorUint(Box::new(Vector {
        fixed: true,
        values: vec![u32::MAX],
    }));
    assert_eq!(new(&value(&vector)), Ok(vec![u32::MAX]));
    let vector = amf3::Value::VectorDouble(Box::new(Vector {
        fixed: true,
        values: vec![0.5],
    }));
    assert_eq!(new(&value(&vector)), Ok(vec![0.5]));
    let inside = amf3::Value::from(Object {
        traits: Traits::sealed("Other", ["y"]).into(),
        sealed: vec![5.into()],
        dynamic: vec![],
    });
    let vector = amf3::Value::VectorObject {
        class: "Other".into(),
        vector: Box::new(Vector {
            fixed: false,
            values: vec![inside],
        }),
    };
    let maps = vec![BTreeMap::from([("y".to_owned(), 5)])];
    assert_eq!(new(&value(&vector)), Ok(maps));
    let dictionary = amf3::Value::Dictionary(Box::new(Dictionary {
        weak_keys: false,
        entries: vec![(5.into(), "five".into())],
    }));
    let map = BTreeMap::from([(5, "five".to_owned())]);
    assert_eq!(new(&value(&dictionary)), Ok(map));
    assert_eq!(new(b"\x0c\x05\x01\x02"), Ok(vec![1_u8, 2]));
    for class in [
        "flex.messaging.io.ArrayCollection",
        "flex.messaging.io.ObjectProxy",
    ] {
        let member = if class.ends_with("Proxy") {
            "object"
        } else {
            "source"
        };
        let nested = |inner| {
            amf3::Value::from(Externalizable {
                class: class.into(),
                members: vec![(member.into(), inner)],
            })
        };
        let list = nested(nested(vec![1.into(), 2.into()].into()));
        let lists: amf3::Value = vec![list.clone(), nested(5.into()), list].into();
        let read: (Vec<u8>, u8, Vec<u8>) = new(&value(&lists)).unwrap();
        assert_eq!(read, (vec![1, 2], 5, vec![1, 2]));
    }
    let message = amf3::Value::from(Externalizable {
        class: "DSC".into(),
        members: vec![("body".into(), "b".into()), ("operation".into(), 5.into())],
    });
    #[derive(Deserialize, PartialEq, Debug)]
    struct Command {
        operation: u8,
    }
    assert_eq!(new(&value(&message)), Ok(Command { operation: 5 }));

    // An empty array of PHP, an array with names, one with both.
    assert_eq!(old(b"\x0a\0\0\0\0"), Ok(BTreeMap::<String, u8>::new()));
    assert_eq!(new(b"\x09\x01\x01"), Ok(BTreeMap::<String, u8>::new()));
    let list = b"\x08\0\0\0\x05\0\x010\x02\0\x01a\0\x011\x02\0\x01b\0\0\x09";
    assert_eq!(old(list), Ok(vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!(old(list), Ok(BTreeMap::from([(0, "a"), (1, "b")])));
    let sparse = b"\x08\0\0\0\x05\0\x011\x05\0\0\x09";
    assert!(old::<Vec<Option<u8>>>(sparse).is_err());
    let mixed = amf3::Value::Array(Box::new(Array {
        associative: vec![("x".into(), 1.into())],
        dense: vec![2.into()],
    }));
    let map = BTreeMap::from([("0".to_owned(), 2), ("x".to_owned(), 1)]);
    assert_eq!(new(&value(&mixed)), Ok(map));
    assert!(new::<Vec<u8>>(&value(&mixed)).is_err());
}

#[test]
fn amf3_within_amf0_is_read_by_its_items() {
    let traits = std::sync::Arc::new(Traits {
        dynamic: true,
        ..Traits::sealed("Inside", ["x"])
    });
    let object = || {
        let object = amf3::Value::from(Object {
            traits: traits.clone(),
            sealed: vec![0.5.into()],
            dynamic: vec![("y".into(), 7.into())],
        });
        amf0::Value::Avmplus(Box::new(object))
    };
    let tree: amf0::Value = vec![object(), "x".into(), object(), 5.0.into()].into();
    let bytes = amf0::encode(&tree).unwrap();
    let inside = Inside { x: 0.5, y: 7 };
    let read: (Inside, &str, Inside, u8) = old(&bytes).unwrap();
    assert_eq!(read, (inside.clone(), "x", inside, 5));
    let alone = amf0::encode(&amf0::Value::Avmplus(Box::new(5.into()))).unwrap();
    assert_eq!(old(&alone), Ok(5));
    for cut in 0..bytes.len() {
        old::<(Inside, &str, Inside, u8)>(&bytes[..cut]).unwrap_err();
    }
}

#[test]
fn a_class_is_that_of_its_type() {
    let mapping = Mapping::new().class("Inside", "demo.Inside");
    let inside = Inside { x: 0.5, y: 1 };
    let (old, new) = (
        mapping.to_amf0(&inside).unwrap(),
        mapping.to_amf3(&inside).unwrap(),
    );
    assert_eq!(
        mapping.from_amf0(&old, Limits::default()),
        Ok(inside.clone())
    );
    assert_eq!(
        mapping.from_amf3(&new, Limits::default()),
        Ok(inside.clone())
    );
    // A type without a class takes it, and one with a class takes an object without.
    assert_eq!(from_amf3(&new, Limits::default()), Ok(inside.clone()));
    let plain = to_amf3(&inside).unwrap();
    assert_eq!(mapping.from_amf3(&plain, Limits::default()), Ok(inside));
    let other = Mapping::new().class("Inside", "demo.Other");
    let error = other
        .from_amf3::<Inside>(&new, Limits::default())
        .unwrap_err();
    let said = "an object of the class \"demo.Inside\", expected \"demo.Other\"";
    assert!(error.to_string().ends_with(said), "{error}");
    assert!(other.from_amf0::<Inside>(&old, Limits::default()).is_err());

    // Variants.
    let mapping = Mapping::new()
        .class("Kind::New", "demo.New")
        .class("Inside", "demo.New")
        .class("Kind::Struct", "demo.Struct");
    let kinds = everything().kinds;
    for kind in kinds {
        let bytes = mapping.to_amf3(&kind).unwrap();
        assert_eq!(
            mapping.from_amf3(&bytes, Limits::default()),
            Ok(kind.clone())
        );
        let bytes = mapping.to_amf0(&kind).unwrap();
        assert_eq!(mapping.from_amf0(&bytes, Limits::default()), Ok(kind));
    }
}

#[test]
fn unknown_members_are_ignored_or_refused() {
    let map = to_amf3(&BTreeMap::from([("x", 1), ("y", 2), ("z", 3)])).unwrap();
    assert_eq!(new(&map), Ok(Inside { x: 1.0, y: 2 }));
    let strict = Mapping::new().unknown_members(UnknownMembers::Refuse);
    let error = strict
        .from_amf3::<Inside>(&map, Limits::default())
        .unwrap_err();
    assert!(error.to_string().contains("unknown field `z`"), "{error}");
    let nested = to_amf0(&Kind::Struct { a: 1 }).unwrap();
    assert_eq!(
        strict.from_amf0(&nested, Limits::default()),
        Ok(Kind::Struct { a: 1 })
    );
}

#[test]
fn shared_values_are_copied_or_refused() {
    let refuse = Mapping::new().sharing(Sharing::Refuse);
    // A date twice; the same within AMF0; an object of AMF0 twice.
    let dates: amf3::Value = vec![amf3::Value::Date(5.0), amf3::Value::Reference(1)].into();
    let new_bytes = amf3::encode(&dates).unwrap();
    assert_eq!(new(&new_bytes), Ok((Date(5.0), Date(5.0))));
    let error = refuse.from_amf3::<(Date, Date)>(&new_bytes, Limits::default());
    let DeserializeError::Decode(error) = error.unwrap_err() else {
        panic!("this is a shared value")
    };
    assert_eq!(error.cause, Cause::Shared { index: 1 });
    let within = amf0::encode(&amf0::Value::Avmplus(Box::new(dates))).unwrap();
    assert_eq!(old(&within), Ok((Date(5.0), Date(5.0))));
    let object = amf0::Value::Object(vec![("x".into(), 1.0.into()), ("y".into(), 2.0.into())]);
    let twice: amf0::Value = vec![object, amf0::Value::Reference(1)].into();
    let old_bytes = amf0::encode(&twice).unwrap();
    let inside = Inside { x: 1.0, y: 2 };
    assert_eq!(old(&old_bytes), Ok((inside.clone(), inside)));
    assert!(
        refuse
            .from_amf0::<(Inside, Inside)>(&old_bytes, Limits::default())
            .is_err()
    );
    let cycle = amf3::encode(&vec![amf3::Value::Reference(0)].into()).unwrap();
    let error = new::<Any>(&cycle).unwrap_err();
    assert!(error.to_string().contains("contains itself"), "{error}");

    // The choice for trees.
    let tree = |sharing| {
        amf3::Decoder::new(&new_bytes, Limits::default())
            .with_sharing(sharing)
            .value()
    };
    let date = amf3::Value::Date(5.0);
    assert_eq!(
        tree(Sharing::Copy),
        Ok(vec![date.clone(), date.clone()].into())
    );
    assert_eq!(
        tree(Sharing::Keep),
        Ok(vec![date, amf3::Value::Reference(1)].into())
    );
    assert_eq!(
        tree(Sharing::Refuse).unwrap_err().cause,
        Cause::Shared { index: 1 }
    );
    let within = amf0::Decoder::new(&within, Limits::default())
        .with_sharing(Sharing::Refuse)
        .value();
    assert_eq!(within.unwrap_err().cause, Cause::Shared { index: 1 });
}

#[test]
fn a_value_that_is_another_type_can_be_read_again() {
    let mut bytes = Vec::new();
    let mut packet = packet::Encoder::new(&mut bytes, packet::Version::Amf3);
    let text = amf0::Value::Avmplus(Box::new(vec!["a".into(), 5.into()].into()));
    packet.write_message("first", "/1", &text).unwrap();
    packet.write_message("second", "/2", &5.0.into()).unwrap();
    let mapping = Mapping::new();
    let mut packet = packet::Decoder::new(&bytes, Default::default()).unwrap();
    packet.next_message().unwrap();
    mapping.read_packet::<Vec<u8>>(&mut packet).unwrap_err();
    assert_eq!(
        mapping.read_packet::<(String, u8)>(&mut packet),
        Ok(("a".into(), 5))
    );
    let twice = mapping
        .read_packet::<(String, u8)>(&mut packet)
        .unwrap_err();
    assert!(matches!(twice, DeserializeError::Packet(_)));
    packet.next_message().unwrap();
    mapping.read_packet::<String>(&mut packet).unwrap_err();
    // Or not at all.
    assert_eq!(packet.next_message(), Ok(None));
    packet.finish().unwrap();
}

#[test]
fn values_are_read_one_after_the_other() {
    let bytes = [to_amf3("text").unwrap(), to_amf3(&("text", 5)).unwrap()].concat();
    let mapping = Mapping::new();
    let mut decoder = amf3::Decoder::new(&bytes, Limits::default());
    assert_eq!(mapping.read_amf3(&mut decoder), Ok("text".to_owned()));
    assert_eq!(mapping.read_amf3(&mut decoder), Ok(("text".to_owned(), 5)));
    assert!(mapping.read_amf3::<Any>(&mut decoder).is_err());
    // In the midst of an array, and by an encoder.
    let mut bytes = Vec::new();
    let mut encoder = amf0::Encoder::new(&mut bytes);
    encoder.begin_strict_array(2).unwrap();
    mapping
        .write_amf0(&mut encoder, &Inside { x: 1.0, y: 2 })
        .unwrap();
    mapping.write_amf0(&mut encoder, &"after").unwrap();
    encoder.end().unwrap();
    encoder.finish().unwrap();
    let mut decoder = amf0::Decoder::new(&bytes, Limits::default());
    decoder.next_event().unwrap();
    assert_eq!(mapping.read_amf0(&mut decoder), Ok(Inside { x: 1.0, y: 2 }));
    assert_eq!(mapping.read_amf0(&mut decoder), Ok("after"));
    assert!(mapping.read_amf0::<Any>(&mut decoder).is_err());
}

#[test]
fn a_class_of_ones_own_is_a_map() {
    let classes = Classes::flex().with(
        "Mine",
        |input| {
            let number = input.array::<1>()?[0];
            input.set("number", i32::from(number).into())?;
            input.value("list")
        },
        |_, _| Ok(()),
    );
    let bytes = b"\x09\x05\x01\x0a\x07\x09Mine\x07\x09\x03\x01\x03\x04\x05";
    let mut decoder = amf3::Decoder::new(bytes, Limits::default()).with_classes(&classes);
    #[derive(Deserialize, PartialEq, Debug)]
    struct Mine {
        number: u8,
        list: Vec<bool>,
    }
    let mine = Mine {
        number: 7,
        list: vec![true],
    };
    assert_eq!(Mapping::new().read_amf3(&mut decoder), Ok((mine, 5)));
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| {
        let mut bytes = b"\x09\x03\x01".repeat(depth - 1);
        bytes.extend(b"\x09\x01\x01");
        bytes
    };
    let deep = Limits {
        depth: MAX_DEPTH,
        ..Limits::default()
    };
    let check = move || {
        from_amf3::<Any>(&nested(128), deep).unwrap();
        let error = from_amf3::<Any>(&nested(129), deep).unwrap_err();
        assert!(error.to_string().contains("the limit of 128"), "{error}");
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    thread.spawn(check).unwrap().join().unwrap();
}

/// Objects of one class with a member whose name has so many bytes.
fn objects_of_a_class(objects: usize, name: usize) -> Vec<u8> {
    let number = |number: usize| {
        let number = u32::try_from(number).unwrap();
        assert!(number < 1 << 21);
        let seven = |shift: u32| (number >> shift & 0x7F) as u8;
        [seven(14) | 0x80, seven(7) | 0x80, seven(0)]
    };
    let mut bytes = vec![0x09];
    bytes.extend(number(objects << 1 | 1));
    bytes.push(0x01);
    // A class without a name and with one member, which is null; the others refer to it.
    bytes.extend([0x0A, 0x13, 0x01]);
    bytes.extend(number(name << 1 | 1));
    bytes.extend(vec![b'n'; name]);
    bytes.push(0x01);
    for _ in 1..objects {
        bytes.extend([0x0A, 0x01, 0x01]);
    }
    bytes
}

#[test]
fn the_names_of_a_class_are_copied_into_maps_within_the_limit_of_bytes() {
    type Maps = Vec<HashMap<String, ()>>;
    let limits = Limits {
        bytes: 100_000,
        ..Limits::default()
    };
    let refused = |read: Result<Maps, DeserializeError>| match read {
        Err(DeserializeError::Decode(error)) => error.cause == Cause::Repeated { limit: 100_000 },
        _ => false,
    };
    let just = objects_of_a_class(100, 1_000);
    let too_many = objects_of_a_class(101, 1_000);
    let read: Maps = tamtam_amf::typed::from_amf3(&just, limits).unwrap();
    assert_eq!(read.len(), 100);
    assert!(refused(tamtam_amf::typed::from_amf3(&too_many, limits)));
    // Within AMF0, and where a tree is made first since one is there twice.
    let within = |bytes: &[u8]| [&[0x11], bytes].concat();
    assert!(tamtam_amf::typed::from_amf0::<Maps>(&within(&just), limits).is_ok());
    assert!(refused(tamtam_amf::typed::from_amf0(
        &within(&too_many),
        limits
    )));
    let shared = |objects| {
        let mut bytes = objects_of_a_class(objects, 1_000);
        // In place of the last one, the second.
        bytes.truncate(bytes.len() - 3);
        bytes.extend([0x0A, 0x04]);
        bytes
    };
    let read: Maps = tamtam_amf::typed::from_amf3(&shared(100), limits).unwrap();
    assert_eq!(read.len(), 100);
    assert!(refused(tamtam_amf::typed::from_amf3(&shared(101), limits)));
    // Those of all values that a decoder reads count together.
    let twice = [just.clone(), just].concat();
    let mut decoder = amf3::Decoder::new(&twice, limits);
    let mapping = Mapping::new();
    assert!(mapping.read_amf3::<Maps>(&mut decoder).is_ok());
    assert!(refused(mapping.read_amf3(&mut decoder)));
    // A struct knows the names of its members.
    #[derive(Deserialize)]
    struct Nothing {}
    #[derive(Deserialize)]
    struct Named {
        #[serde(default)]
        other: u8,
    }
    let read: Vec<Named> = tamtam_amf::typed::from_amf3(&too_many, limits).unwrap();
    assert!(read.iter().all(|named| named.other == 0));
    let read: Vec<Nothing> =
        tamtam_amf::typed::from_amf3(&objects_of_a_class(9, 9), limits).unwrap();
    assert_eq!(read.len(), 9);
}

#[test]
fn integers_of_128_bits_are_doubles_where_these_hold_them() {
    let double = |bytes: Vec<u8>| f64::from_be_bytes(bytes[1..].try_into().unwrap());
    for exact in [
        i128::MIN,
        -(1 << 64),
        -(1 << 53),
        1 << 53,
        1 << 126,
        ((1 << 53) - 1) << 74,
    ] {
        assert_eq!(double(to_amf3(&exact).unwrap()), exact as f64, "{exact}");
    }
    assert_eq!(double(to_amf3(&(1_u128 << 127)).unwrap()), 2_f64.powi(127));
    let inexact = |written: Result<_, SerializeError>, number: String| {
        assert_eq!(written, Err(SerializeError::Inexact { number }));
    };
    for number in [
        i128::MAX,
        i128::MAX - 1,
        i128::MIN + 1,
        (1 << 53) + 1,
        -(1 << 53) - 1,
    ] {
        inexact(to_amf3(&number), number.to_string());
        inexact(to_amf0(&number), number.to_string());
    }
    for number in [u128::MAX, (1 << 127) + 1] {
        inexact(to_amf3(&number), number.to_string());
    }
}

#[test]
fn a_sequence_that_is_longer_than_its_type_is_an_error() {
    #[derive(Debug, Deserialize)]
    struct Pair(#[allow(dead_code)] i32, #[allow(dead_code)] i32);
    fn refused<T: serde::de::DeserializeOwned + std::fmt::Debug>(bytes: &[Vec<u8>; 2]) {
        for error in [
            from_amf3::<T>(&bytes[0], Default::default()).unwrap_err(),
            from_amf0::<T>(&bytes[1], Default::default()).unwrap_err(),
        ] {
            assert!(error.to_string().contains("invalid length 3"), "{error}");
        }
    }
    let three = [to_amf3(&[1, 2, 3]).unwrap(), to_amf0(&[1, 2, 3]).unwrap()];
    refused::<(i32, i32)>(&three);
    refused::<[i32; 2]>(&three);
    refused::<Pair>(&three);
    assert_eq!(
        from_amf3::<(i32, i32, i32)>(&three[0], Default::default()),
        Ok((1, 2, 3))
    );
    // A byte array, and a vector of integers of AMF3.
    let bytes = [vec![0x0c, 7, 1, 2, 3], vec![0x11, 0x0c, 7, 1, 2, 3]];
    refused::<(u8, u8)>(&bytes);
    assert_eq!(
        from_amf3::<[u8; 3]>(&bytes[0], Default::default()),
        Ok([1, 2, 3])
    );
    let vector = vec![0x0d, 7, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3];
    refused::<[i32; 2]>(&[vector.clone(), [vec![0x11], vector].concat()]);
}

#[test]
fn a_decoder_stands_where_it_stood_when_a_value_that_contains_itself_is_refused() {
    let mapping = Mapping::new();
    // A dynamic object whose only member is the object; then a text.
    let in_amf0 = b"\x03\x00\x01a\x07\x00\x00\x00\x00\x09\x02\x00\x02ok";
    let mut decoder = amf0::Decoder::new(in_amf0, Limits::default());
    assert!(mapping.read_amf0::<Any>(&mut decoder).is_err());
    assert_eq!(decoder.position(), 0);
    decoder.value_with_references().unwrap();
    assert_eq!(mapping.read_amf0(&mut decoder), Ok("ok"));

    let in_amf3 = b"\x0a\x0b\x01\x03a\x0a\x00\x01\x06\x05ok";
    let mut decoder = amf3::Decoder::new(in_amf3, Limits::default());
    assert!(mapping.read_amf3::<Any>(&mut decoder).is_err());
    assert_eq!(decoder.position(), 0);
    decoder.value_with_references().unwrap();
    assert_eq!(mapping.read_amf3(&mut decoder), Ok("ok".to_owned()));
}
