//! Members of AMF0's objects that are scalars are read ahead in trees: they mean what item by item they mean, with the same errors at the
//! same places.

use tamtam_amf::amf0::{Decoder, Event, TypedObject, Value, decode, encode};
use tamtam_amf::{Cause, DecodeError, Limits};

/// A list of objects of every kind, members of which are all that a value can be, in orders that change.
fn rows() -> Value {
    let members = |n: u32| {
        let mut members = vec![
            ("id".into(), Value::Number(n.into())),
            ("name".into(), "grün".into()),
            ("is_whole".into(), Value::Boolean(n.is_multiple_of(2))),
            (["note", "remark"][n as usize % 2].into(), Value::Null),
            ("gone".into(), Value::Undefined),
        ];
        match n % 5 {
            0 => {}
            1 => members.insert(
                2,
                (
                    "inner".into(),
                    Value::Object(vec![("x".into(), 0.5.into())]),
                ),
            ),
            2 => members.insert(
                0,
                (
                    "list".into(),
                    Value::StrictArray(vec!["a".into(), Value::Null]),
                ),
            ),
            3 => {
                let milliseconds = 0.25;
                let time_zone = 0;
                let date = Value::Date {
                    milliseconds,
                    time_zone,
                };
                members.push(("at".into(), date));
                members.push(("id".into(), Value::Unsupported));
            }
            _ => members.push(("empty".into(), Value::EcmaArray(Vec::new()))),
        }
        members
    };
    let rows = (0..15).map(|n| match n % 3 {
        0 => Value::Object(members(n)),
        1 => Value::EcmaArray(members(n)),
        _ => Value::TypedObject(Box::new(TypedObject {
            class: "demo.Row".into(),
            properties: members(n),
        })),
    });
    Value::StrictArray(rows.collect())
}

/// The error that the items have, without a tree.
fn of_events(bytes: &[u8], limits: Limits) -> Result<(), DecodeError> {
    let mut decoder = Decoder::new(bytes, limits);
    let mut depth = 0;
    while let Some(event) = decoder.next_event()? {
        match event {
            Event::BeginObject
            | Event::BeginTypedObject(_)
            | Event::BeginEcmaArray { .. }
            | Event::BeginStrictArray { .. } => depth += 1,
            Event::End => depth -= 1,
            _ => {}
        }
    }
    assert_eq!(depth, 0);
    Ok(())
}

fn of_tree(bytes: &[u8], limits: Limits) -> Result<(), DecodeError> {
    decode(bytes, limits).map(|_| ())
}

#[test]
fn they_are_what_was_written() {
    let bytes = encode(&rows()).unwrap();
    assert_eq!(decode(&bytes, Limits::default()).unwrap(), rows());
    // An object alone, whose end is that of the value.
    let Value::StrictArray(rows) = rows() else {
        panic!("a list")
    };
    for row in rows {
        let bytes = encode(&row).unwrap();
        assert_eq!(decode(&bytes, Limits::default()).unwrap(), row);
    }
}

#[test]
fn what_is_cut_off_is_missed_where_the_items_miss_it() {
    let bytes = encode(&rows()).unwrap();
    for cut in (1..bytes.len()).map(|end| &bytes[..end]) {
        let error = of_tree(cut, Limits::default()).unwrap_err();
        assert_eq!(Err(error), of_events(cut, Limits::default()));
    }
}

#[test]
fn any_other_byte_has_the_same_outcome() {
    let whole = encode(&rows()).unwrap();
    for at in 0..whole.len() {
        for change in [1, 2, 3, 6, 0x0a, 0x7f, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] ^= change;
            let items = of_events(&bytes, Limits::default());
            match of_tree(&bytes, Limits::default()) {
                Ok(()) => assert_eq!(items, Ok(()), "{at}"),
                // More values than one, or one that holds itself.
                Err(error) => assert!(
                    items == Err(error.clone())
                        || matches!(error.cause, Cause::Trailing { .. } | Cause::Cycle { .. }),
                    "{at}: {error:?}, {items:?}"
                ),
            }
        }
    }
}

#[test]
fn limits_are_met_where_the_items_meet_them() {
    let bytes = encode(&rows()).unwrap();
    let usual = Limits::default();
    let of_values = (0..200).map(|values| Limits { values, ..usual });
    let of_depth = (0..5).map(|depth| Limits { depth, ..usual });
    let of_bytes = (0..=bytes.len()).map(|bytes| Limits { bytes, ..usual });
    for (limits, least) in [
        (of_values.collect::<Vec<_>>(), 50),
        (of_depth.collect(), 2),
        (of_bytes.collect(), bytes.len()),
    ] {
        let refused = limits.iter().filter(|&&limits| {
            let items = of_events(&bytes, limits);
            assert_eq!(of_tree(&bytes, limits), items, "{limits:?}");
            items.is_err()
        });
        assert!((least..limits.len()).contains(&refused.count()));
    }
}
