//! Objects of AMF3 whose traits were there before are read as a whole: they mean what item by item they mean, with the same errors at
//! the same places.

use std::sync::Arc;

use serde::Deserialize;
use tamtam_amf::amf3::{Array, Decoder, Object, Traits, Value, decode, encode};
use tamtam_amf::typed::{DeserializeError, Mapping, UnknownMembers};
use tamtam_amf::{Cause, DecodeError, Limits};

/// Repeated by references more often than the input is long.
const LONG: &str = "a colour that is called by a long name, so that references to it repeat more bytes than there are in all";

/// A list of objects of two classes, members of which are all that a value can be.
fn rows() -> Value {
    let traits = Arc::new(Traits::sealed(
        "demo.Row",
        ["id", "name", "share", "note", "part", "list"],
    ));
    let small = Arc::new(Traits::sealed("", ["x"]));
    let object = |traits: &Arc<Traits>, sealed: Vec<Value>| {
        Value::Object(Box::new(Object {
            traits: Arc::clone(traits),
            sealed,
            dynamic: Vec::new(),
        }))
    };
    let part = |n: i32| object(&small, vec![Value::Integer(n)]);
    let row = |n: i32| {
        let note = match n % 4 {
            0 => Value::Null,
            1 => Value::Undefined,
            2 => "grün".into(),
            _ => Value::Boolean(n % 3 == 0),
        };
        let list = Value::Array(Box::new(Array {
            dense: (0..n % 3).map(Value::Integer).collect(),
            ..Array::default()
        }));
        let name = [LONG, "", "green"][(n % 3) as usize];
        object(
            &traits,
            vec![
                Value::Integer(-70 * n),
                name.into(),
                Value::Double(f64::from(n) + 0.25),
                note,
                part(n),
                list,
            ],
        )
    };
    let plain = |n: i32| {
        let values = [
            Value::Integer(n),
            LONG.into(),
            0.5.into(),
            Value::Undefined,
            Value::Null,
            Value::Null,
        ];
        object(&traits, values.into())
    };
    // Those that hold others, and many behind each other that hold none.
    let dense = (0..7)
        .map(row)
        .chain((0..5).map(plain))
        .chain((7..9).map(row))
        .chain((0..4).map(plain))
        .collect();
    Value::Array(Box::new(Array {
        associative: vec![
            ("flat".into(), part(1)),
            ("first".into(), plain(1)),
            ("second".into(), plain(2)),
        ],
        dense,
    }))
}

/// The error that the events have, without a tree.
fn of_events(bytes: &[u8], limits: Limits) -> Result<(), DecodeError> {
    let mut decoder = Decoder::new(bytes, limits);
    while decoder.next_event()?.is_some() {}
    Ok(())
}

#[derive(Deserialize, PartialEq, Debug)]
#[allow(dead_code)]
struct Row {
    id: f64,
    name: String,
    share: f64,
    note: Option<Note>,
    part: Option<Small>,
    list: Option<Vec<i32>>,
}

#[derive(Deserialize, PartialEq, Debug)]
struct Small {
    x: i32,
}

#[derive(Deserialize, PartialEq, Debug)]
#[serde(untagged)]
enum Note {
    Text(String),
    Boolean(bool),
}

/// By what is read ahead, and by items alone, as where members are compared with those of the type.
fn of_type(
    bytes: &[u8],
    limits: Limits,
    unknown: UnknownMembers,
) -> Result<Vec<Row>, DeserializeError> {
    Mapping::new()
        .unknown_members(unknown)
        .from_amf3(bytes, limits)
}

/// The list without the objects that have names, as a sequence is.
fn list() -> Vec<u8> {
    let Value::Array(mut array) = rows() else {
        panic!("a list")
    };
    array.associative.clear();
    encode(&Value::Array(array)).unwrap()
}

#[test]
fn they_are_what_was_written() {
    let bytes = encode(&rows()).unwrap();
    assert_eq!(decode(&bytes, Limits::default()).unwrap(), rows());
    let bytes = list();
    let read = of_type(&bytes, Limits::default(), UnknownMembers::Ignore).unwrap();
    assert_eq!(
        read,
        of_type(&bytes, Limits::default(), UnknownMembers::Refuse).unwrap()
    );
    assert_eq!(read[2].note, Some(Note::Text("grün".to_owned())));
    assert_eq!(read[6].part, Some(Small { x: 6 }));
    assert_eq!(read[5].list, Some(vec![0, 1]));
}

#[test]
fn what_is_cut_off_is_missed_where_the_events_miss_it() {
    let bytes = encode(&rows()).unwrap();
    for cut in &(1..bytes.len())
        .map(|end| &bytes[..end])
        .collect::<Vec<_>>()
    {
        let expected = of_events(cut, Limits::default()).unwrap_err();
        assert_eq!(decode(cut, Limits::default()).unwrap_err(), expected);
    }
    let bytes = list();
    for cut in (1..bytes.len()).map(|end| &bytes[..end]) {
        let read = of_type(cut, Limits::default(), UnknownMembers::Ignore);
        assert_eq!(
            read,
            of_type(cut, Limits::default(), UnknownMembers::Refuse)
        );
        assert!(read.is_err());
    }
}

#[test]
fn any_other_byte_has_the_same_outcome() {
    for bytes in [encode(&rows()).unwrap(), list()] {
        for at in 0..bytes.len() {
            for change in [1, 2, 3, 6, 0x0a, 0x7f, 0x80, 0xff] {
                let mut bytes = bytes.clone();
                bytes[at] ^= change;
                match (
                    decode(&bytes, Limits::default()),
                    of_events(&bytes, Limits::default()),
                ) {
                    (Ok(_), events) => assert_eq!(events, Ok(())),
                    // More values than one, or one that holds itself.
                    (Err(_), Ok(())) => {}
                    (Err(tree), Err(events)) => {
                        assert!(
                            tree == events
                                || matches!(
                                    tree.cause,
                                    Cause::Trailing { .. } | Cause::Cycle { .. }
                                ),
                            "{at}: {tree:?}, {events:?}"
                        )
                    }
                }
                let read = of_type(&bytes, Limits::default(), UnknownMembers::Ignore);
                let slowly = of_type(&bytes, Limits::default(), UnknownMembers::Refuse);
                // One whose traits were changed has a member that the other may not have.
                let is_unknown = format!("{slowly:?}").contains("unknown field");
                assert!(is_unknown || read == slowly, "{at}: {read:?}, {slowly:?}");
            }
        }
    }
}

#[test]
fn limits_are_met_where_the_events_meet_them() {
    let bytes = encode(&rows()).unwrap();
    let mut refused = 0;
    for values in 0..200 {
        let limits = Limits {
            values,
            ..Limits::default()
        };
        let expected = of_events(&bytes, limits);
        refused += usize::from(expected.is_err());
        assert_eq!(
            decode(&bytes, limits).map(|_| ()),
            expected,
            "{values} values"
        );
        let read = of_type(&list(), limits, UnknownMembers::Ignore);
        assert_eq!(
            read,
            of_type(&list(), limits, UnknownMembers::Refuse),
            "{values} values"
        );
    }
    assert!(0 < refused && refused < 200);
    for depth in 0..5 {
        let limits = Limits {
            depth,
            ..Limits::default()
        };
        assert_eq!(
            decode(&bytes, limits).map(|_| ()),
            of_events(&bytes, limits),
            "depth {depth}"
        );
        let read = of_type(&list(), limits, UnknownMembers::Ignore);
        assert_eq!(
            read,
            of_type(&list(), limits, UnknownMembers::Refuse),
            "depth {depth}"
        );
        assert_eq!(read.is_ok(), depth >= 3);
    }
    // The bytes that are read, and those that references repeat.
    for limit in 0..4 * bytes.len() {
        let limits = Limits {
            bytes: limit,
            ..Limits::default()
        };
        assert_eq!(
            decode(&bytes, limits).map(|_| ()),
            of_events(&bytes, limits),
            "{limit} bytes"
        );
        let read = of_type(&list(), limits, UnknownMembers::Ignore);
        assert_eq!(
            read,
            of_type(&list(), limits, UnknownMembers::Refuse),
            "{limit} bytes"
        );
    }
}

/// A row that is refused when it is whole.
#[derive(Deserialize, PartialEq, Debug)]
#[serde(try_from = "Row")]
struct Picked(Row);

impl TryFrom<Row> for Picked {
    type Error = String;

    fn try_from(row: Row) -> Result<Self, String> {
        match row.id {
            3.0 => Err("the third is refused".to_owned()),
            _ => Ok(Self(row)),
        }
    }
}

#[test]
fn an_object_that_is_refused_ends_where_the_error_is() {
    let Value::Array(mut array) = rows() else {
        panic!("a list")
    };
    array.associative.clear();
    // Those that hold no others.
    array.dense.drain(..7);
    let bytes = encode(&Value::Array(array)).unwrap();
    let read = |unknown| {
        let mapping = Mapping::new().unknown_members(unknown);
        let read = mapping.from_amf3::<Vec<Picked>>(&bytes, Limits::default());
        read.unwrap_err()
    };
    let error = read(UnknownMembers::Ignore);
    assert!(
        error.to_string().ends_with("the third is refused"),
        "{error}"
    );
    assert_eq!(error, read(UnknownMembers::Refuse));
}
