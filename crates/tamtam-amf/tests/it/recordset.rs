//! The RecordSet of Amfphp: its bytes, and what a reader takes and refuses.

use tamtam_amf::amf0::{TypedObject, Value};
use tamtam_amf::recordset::{Cell, Encoder, RecordSet, ServerInfo, read};
use tamtam_amf::{Cause, EncodeError, Limits, amf0};

fn table() -> RecordSet {
    RecordSet {
        info: ServerInfo {
            total: 5,
            cursor: 2,
            service: "Tiles".into(),
            id: "42".into(),
            version: 1.0,
            columns: vec!["x".into(), "name".into(), "when".into()],
        },
        rows: vec![
            vec![1.0.into(), "ü".into(), Value::Null],
            vec![
                true.into(),
                "".into(),
                Value::Date {
                    milliseconds: 5.0,
                    time_zone: 0,
                },
            ],
        ],
    }
}

fn properties(items: Vec<(&str, Value)>) -> amf0::Properties {
    items
        .into_iter()
        .map(|(name, value)| (name.into(), value))
        .collect()
}

/// As the object that it is.
fn object(info: Vec<(&str, Value)>) -> Value {
    Value::TypedObject(Box::new(TypedObject {
        class: "RecordSet".into(),
        properties: properties(vec![("serverInfo", Value::Object(properties(info)))]),
    }))
}

fn rows(table: &RecordSet) -> Value {
    let rows: Vec<Value> = table.rows.iter().cloned().map(Value::from).collect();
    rows.into()
}

fn names(table: &RecordSet) -> Value {
    let names: Vec<Value> = table
        .info
        .columns
        .iter()
        .map(|name| Value::from(&**name))
        .collect();
    names.into()
}

#[test]
fn a_record_set_is_the_object_that_amfphp_writes() {
    let table = table();
    let bytes = table.encode().unwrap();
    let expected = object(vec![
        ("totalCount", 5.0.into()),
        ("initialData", rows(&table)),
        ("cursor", 2.0.into()),
        ("serviceName", "Tiles".into()),
        ("columnNames", names(&table)),
        ("version", 1.0.into()),
        ("id", "42".into()),
    ]);
    assert_eq!(amf0::decode(&bytes, Limits::default()), Ok(expected));
    assert_eq!(RecordSet::decode(&bytes, Limits::default()), Ok(table));
}

#[test]
fn a_reader_takes_properties_in_any_order_and_those_it_does_not_know() {
    let table = table();
    let value = object(vec![
        ("columnNames", names(&table)),
        (
            "strange",
            Value::Object(properties(vec![("inside", vec![Value::Null].into())])),
        ),
        ("id", Value::Null),
        ("initialData", rows(&table)),
    ]);
    let read = RecordSet::decode(&amf0::encode(&value).unwrap(), Limits::default()).unwrap();
    assert_eq!(read.rows, table.rows);
    assert_eq!(read.info, ServerInfo::whole(["x", "name", "when"], 2));
}

#[test]
fn cells_come_in_order_with_their_places() {
    let bytes = table().encode().unwrap();
    let mut seen = Vec::new();
    let info = read(&bytes, Limits::default(), |row, column, cell| {
        seen.push((row, column, cell))
    });
    assert_eq!(info, Ok(table().info));
    assert_eq!(
        seen,
        [
            (0, 0, Cell::Number(1.0)),
            (0, 1, Cell::String("ü")),
            (0, 2, Cell::Null),
            (1, 0, Cell::Boolean(true)),
            (1, 1, Cell::String("")),
            (1, 2, Cell::Date(5.0)),
        ]
    );
}

#[test]
fn what_is_no_record_set_is_refused() {
    let cause = |value: Value| {
        let bytes = amf0::encode(&value).unwrap();
        RecordSet::decode(&bytes, Limits::default())
            .unwrap_err()
            .cause
    };
    let table = table();
    let data = || ("initialData", rows(&table));
    let columns = || ("columnNames", names(&table));
    assert!(matches!(cause(Value::Null), Cause::Unexpected { .. }));
    assert!(matches!(
        cause(Value::Object(vec![])),
        Cause::Unexpected { .. }
    ));
    assert_eq!(
        cause(object(vec![columns()])),
        Cause::Missing("initialData")
    );
    assert_eq!(cause(object(vec![data()])), Cause::Missing("columnNames"));
    let no_info = Value::TypedObject(Box::new(TypedObject {
        class: "RecordSet".into(),
        properties: vec![],
    }));
    assert_eq!(cause(no_info), Cause::Missing("serverInfo"));
    for wrong in [
        vec![("columnNames", vec!["x".into()].into()), data()],
        vec![columns(), ("initialData", vec![Value::Null].into())],
        vec![
            columns(),
            (
                "initialData",
                vec![vec![Value::Object(vec![])].into()].into(),
            ),
        ],
        vec![
            columns(),
            (
                "initialData",
                vec![vec![Value::Null].into(), vec![].into()].into(),
            ),
        ],
        vec![columns(), data(), ("totalCount", 0.5.into())],
        vec![columns(), data(), ("totalCount", (-1.0).into())],
        vec![columns(), data(), ("id", 5.0.into())],
    ] {
        let value = object(wrong);
        assert!(
            matches!(cause(value.clone()), Cause::Unexpected { .. }),
            "{value:?}"
        );
    }
    let whole = table.encode().unwrap();
    for length in 0..whole.len() {
        let cut = RecordSet::decode(&whole[..length], Limits::default());
        assert!(cut.is_err(), "cut to {length} of {} bytes", whole.len());
    }
}

#[test]
fn what_is_no_table_is_not_written() {
    let mut long = table();
    long.rows[1].push(Value::Null);
    assert_eq!(long.encode(), Err(EncodeError::MoreThanAnnounced));
    let mut short = table();
    short.rows[0].pop();
    assert_eq!(
        short.encode(),
        Err(EncodeError::FewerThanAnnounced { left: 1 })
    );
    let mut nested = table();
    nested.rows[0][0] = vec![].into();
    assert_eq!(nested.encode(), Err(EncodeError::NotACell));
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, ServerInfo::whole(["x"], 1), 1).unwrap();
    assert_eq!(
        encoder.write_cell(Cell::Null),
        Err(EncodeError::NothingOpen)
    );
    assert_eq!(encoder.end_row(), Err(EncodeError::NothingOpen));
    encoder.begin_row().unwrap();
    assert_eq!(encoder.begin_row(), Err(EncodeError::NotACell));
    assert_eq!(encoder.finish(), Err(EncodeError::StillOpen { open: 1 }));
    let encoder = Encoder::new(&mut bytes, ServerInfo::whole(["x"], 1), 1).unwrap();
    assert_eq!(
        encoder.finish(),
        Err(EncodeError::FewerThanAnnounced { left: 1 })
    );
}

/// Rows of every kind of cell at every place, so that runs of plain ones begin and end anywhere.
fn mixed() -> RecordSet {
    let date = |milliseconds| Value::Date {
        milliseconds,
        time_zone: 0,
    };
    let kinds: [Value; 7] = [
        1.5.into(),
        "short".into(),
        Value::Null,
        true.into(),
        date(-1.0),
        "a text that is longer than any short one".into(),
        "".into(),
    ];
    let rows = (0..2 * kinds.len()).map(|row| {
        let cell = |column: usize| {
            if row < kinds.len() {
                kinds[(row + column) % kinds.len()].clone()
            } else {
                // Rows without a date among those with one.
                Value::from((row * column) as f64)
            }
        };
        (0..4).map(cell).collect()
    });
    RecordSet {
        info: ServerInfo::whole(["a", "b", "c", "d"], 14),
        rows: rows.collect(),
    }
}

#[test]
fn rows_of_any_cells_come_back() {
    let table = mixed();
    let bytes = table.encode().unwrap();
    assert_eq!(RecordSet::decode(&bytes, Limits::default()), Ok(table));
}

#[test]
fn texts_of_every_length_are_what_they_are_as_values() {
    for length in (0..40).chain([65_534, 65_535, 65_536]) {
        let text: String = ('a'..='z').cycle().take(length).collect();
        let mut cells = Vec::new();
        let mut encoder = Encoder::new(&mut cells, ServerInfo::whole(["text"], 1), 1).unwrap();
        encoder.write_row([Cell::String(&text)]).unwrap();
        encoder.finish().unwrap();
        let value = amf0::encode(&Value::from(&*text)).unwrap();
        assert!(cells.windows(value.len()).any(|part| part == value));
        assert_eq!(
            amf0::decode(&value, Limits::default()),
            Ok(Value::from(&*text))
        );
    }
}

#[test]
fn a_reader_of_rows_finds_wrong_what_a_decoder_of_values_does() {
    let bytes = mixed().encode().unwrap();
    let read = |bytes: &[u8], limits| RecordSet::decode(bytes, limits).map(|_| ());
    let decode = |bytes: &[u8], limits| amf0::decode(bytes, limits).map(|_| ());
    for end in 0..bytes.len() {
        // Where a value is missing, one knows what comes and the other how many bytes.
        let error = read(&bytes[..end], Limits::default()).unwrap_err();
        let known = decode(&bytes[..end], Limits::default()).unwrap_err();
        assert_eq!(error.position, known.position, "{error} {known}");
    }
    for bytes_allowed in [bytes.len() - 1, bytes.len()] {
        let limits = Limits {
            bytes: bytes_allowed,
            ..Limits::default()
        };
        assert_eq!(read(&bytes, limits), decode(&bytes, limits));
    }
    for values in 0..100 {
        let limits = Limits {
            values,
            ..Limits::default()
        };
        assert_eq!(read(&bytes, limits), decode(&bytes, limits), "{values}");
    }
    for depth in 0..6 {
        let limits = Limits {
            depth,
            ..Limits::default()
        };
        assert_eq!(read(&bytes, limits), decode(&bytes, limits), "{depth}");
    }
    for place in 0..bytes.len() {
        for bit in 0..8 {
            let mut bytes = bytes.clone();
            bytes[place] ^= 1 << bit;
            if let Err(known) = decode(&bytes, Limits::default()) {
                // It may have met before that what is no table.
                let error = read(&bytes, Limits::default()).unwrap_err();
                let unlike = matches!(error.cause, Cause::Unexpected { .. } | Cause::Missing(_));
                assert!(error == known || unlike, "{error}, and {known}");
            }
        }
    }
}

#[test]
fn an_encoder_counts_the_cells_of_a_row() {
    let info = || ServerInfo::whole(["a", "b"], 1);
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, info(), 1).unwrap();
    let three = [Cell::Null; 3];
    assert_eq!(
        encoder.write_row(three),
        Err(EncodeError::MoreThanAnnounced)
    );
    let mut encoder = Encoder::new(&mut bytes, info(), 1).unwrap();
    assert_eq!(
        encoder.write_row([Cell::Null]),
        Err(EncodeError::FewerThanAnnounced { left: 1 })
    );
    assert_eq!(encoder.write_cell(Cell::Null), Ok(()));
    assert_eq!(
        encoder.write_cell(Cell::Null),
        Err(EncodeError::MoreThanAnnounced)
    );
    assert_eq!(encoder.end_row(), Ok(()));
    assert_eq!(
        encoder.write_cell(Cell::Null),
        Err(EncodeError::NothingOpen)
    );
    assert_eq!(encoder.begin_row(), Err(EncodeError::MoreThanAnnounced));
}
