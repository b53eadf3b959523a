//! The forms of Flash: what they write is what AMF's own decoders understand, and what other servers write is read.

use std::sync::Arc;

use tamtam_amf::{amf0, amf3, recordset::RecordSet};
use tamtam_rows::encoding::{Amf0Objects, Amf0RecordSet, Amf3Objects};
use tamtam_rows::{
    Column, DecodeError, EncodeError, Encoding, Field, Kind, Limits, Nulls, Rows, Schema, Unit,
    Value, Values, Zone,
};

use crate::support::encoded;

fn decoded(form: &dyn Encoding, bytes: &[u8]) -> Result<Rows, DecodeError> {
    form.decode(bytes, Some(rows().schema()), &Limits::default())
}

/// Two rows, the second all null but for the number.
fn rows() -> Rows {
    let nullable = |name, kind| Field::nullable(name, kind);
    let schema = Schema::new([
        Field::new("n", Kind::I32),
        nullable("text", Kind::Text),
        nullable("is", Kind::Bool),
        nullable("day", Kind::Date),
        nullable("at", Kind::Timestamp(Unit::Second, Zone::Utc)),
        nullable(
            "price",
            Kind::Decimal {
                precision: 6,
                scale: 2,
            },
        ),
        nullable("bytes", Kind::Bytes),
    ])
    .unwrap();
    let second = || Nulls::from_words(vec![0b10], 2).unwrap();
    let bytes = [&b"\0\xff"[..], b""].into_iter().collect();
    let columns = [
        Column::from(vec![-3_i32, 1 << 30]),
        Column::from_iter([Some("up"), None]),
        Column::from(vec![Some(true), None]),
        Column::from(vec![Some(-1_i32), None]),
        Column::from(vec![Some(1_235_908_800_i64), None]),
        Column::from(vec![Some(-1_205_i128), None]),
        Column::with_nulls(Values::Bytes(bytes), second()).unwrap(),
    ];
    Rows::new(schema, columns).unwrap()
}

#[test]
fn amf0_objects_are_what_they_say() {
    let bytes = encoded(&Amf0Objects::TYPED, &rows());
    let amf0::Value::StrictArray(found) = amf0::decode(&bytes, Default::default()).unwrap() else {
        panic!("no array");
    };
    assert_eq!(found.len(), 2);
    let date = |milliseconds| amf0::Value::Date {
        milliseconds,
        time_zone: 0,
    };
    let first = [
        ("n", amf0::Value::Number(-3.0)),
        ("text", "up".into()),
        ("is", true.into()),
        ("day", date(-86_400_000.0)),
        ("at", date(1_235_908_800_000.0)),
        ("price", "-12.05".into()),
        ("bytes", "AP8=".into()),
    ];
    for (name, value) in first {
        assert_eq!(found[0].get(name), Some(&value), "{name}");
    }
    assert_eq!(
        found[1].get("n"),
        Some(&amf0::Value::Number(1_073_741_824.0))
    );
    assert_eq!(found[1].get("price"), Some(&amf0::Value::Null));
    assert_eq!(decoded(&Amf0Objects::TYPED, &bytes).unwrap(), rows());
}

#[test]
fn amf0_texts_are_all_text() {
    let bytes = encoded(&Amf0Objects::TEXTS, &rows());
    let amf0::Value::StrictArray(found) = amf0::decode(&bytes, Default::default()).unwrap() else {
        panic!("no array");
    };
    for (name, text) in [
        ("n", "-3"),
        ("is", "true"),
        ("day", "1969-12-31"),
        ("bytes", "AP8="),
    ] {
        assert_eq!(found[0].get(name), Some(&text.into()), "{name}");
    }
    assert_eq!(found[1].get("text"), Some(&amf0::Value::Null));
    assert_eq!(decoded(&Amf0Objects::TEXTS, &bytes).unwrap(), rows());
}

#[test]
fn a_record_set_is_one() {
    let bytes = encoded(&Amf0RecordSet, &rows());
    let found = RecordSet::decode(&bytes, Default::default()).unwrap();
    assert_eq!(
        found.info.columns,
        ["n", "text", "is", "day", "at", "price", "bytes"]
    );
    assert_eq!(found.info.total, 2);
    assert_eq!(found.rows[0][1], "up".into());
    assert_eq!(found.rows[1][2], amf0::Value::Null);
    assert_eq!(decoded(&Amf0RecordSet, &bytes).unwrap(), rows());
}

#[test]
fn amf3_objects_share_their_traits_and_have_bytes() {
    let bytes = encoded(&Amf3Objects, &rows());
    let amf3::Value::Array(found) = amf3::decode(&bytes, Default::default()).unwrap() else {
        panic!("no array");
    };
    let first = &found.dense[0];
    assert_eq!(first.get("n"), Some(&amf3::Value::Integer(-3)));
    assert_eq!(
        first.get("at"),
        Some(&amf3::Value::Date(1_235_908_800_000.0))
    );
    assert_eq!(
        first.get("bytes"),
        Some(&amf3::Value::ByteArray(vec![0, 255]))
    );
    // Beyond 29 bits it is a double.
    assert_eq!(
        found.dense[1].get("n"),
        Some(&amf3::Value::Double(1_073_741_824.0))
    );
    assert_eq!(bytes.windows(5).filter(|name| name == b"price").count(), 1);
    assert_eq!(decoded(&Amf3Objects, &bytes).unwrap(), rows());
}

#[test]
fn an_integer_that_no_double_holds_is_refused() {
    let schema = Schema::new([Field::new("n", Kind::I64)]).unwrap();
    let forms: [&dyn Encoding; 3] = [&Amf0Objects::TYPED, &Amf0RecordSet, &Amf3Objects];
    for form in forms {
        let of = |n: i64| Rows::new(schema.clone(), [Column::from(vec![0, n])]).unwrap();
        for fits in [1 << 53, -(1 << 53)] {
            let bytes = encoded(form, &of(fits));
            let back = form
                .decode(&bytes, Some(&schema), &Limits::default())
                .unwrap();
            assert_eq!(back, of(fits), "{}", form.name());
        }
        for refused in [(1 << 53) + 1, i64::MIN] {
            let error = form.encode(&of(refused), &mut Vec::new()).unwrap_err();
            assert!(
                matches!(&error, EncodeError::Value { row: 1, column, .. } if column == "n"),
                "{error}"
            );
        }
    }
}

fn point(x: f64) -> amf0::Value {
    amf0::Value::EcmaArray(vec![("y".into(), "b".into()), ("x".into(), x.into())])
}

fn points() -> Schema {
    Schema::new([Field::new("x", Kind::U8), Field::nullable("y", Kind::Text)]).unwrap()
}

fn amf0_points(rows: Vec<amf0::Value>) -> Result<Rows, DecodeError> {
    let bytes = amf0::encode(&amf0::Value::StrictArray(rows)).unwrap();
    Amf0Objects::TYPED.decode(&bytes, Some(&points()), &Limits::default())
}

#[test]
fn rows_of_other_servers_are_read() {
    let object = amf0::Value::Object(vec![("x".into(), 2.0.into())]);
    let rows = amf0_points(vec![point(1.0), object]).unwrap();
    assert_eq!(rows.value(0, 1), Value::Text("b"));
    assert_eq!(rows.value(1, 0), Value::Unsigned(2));
    // What is not there is null.
    assert_eq!(rows.value(1, 1), Value::Null);

    // Properties beside the traits, in another order, then members of traits.
    let dynamic = amf3::Object {
        traits: Arc::new(amf3::Traits::dynamic("Point")),
        sealed: vec![],
        dynamic: vec![
            ("y".into(), "b".into()),
            ("x".into(), amf3::Value::Double(1.0)),
        ],
    };
    let sealed = amf3::Object {
        traits: Arc::new(amf3::Traits::sealed("Point", ["x"])),
        sealed: vec![amf3::Value::Integer(2)],
        dynamic: vec![],
    };
    let array = amf3::Value::from(vec![dynamic.into(), sealed.into()]);
    let bytes = amf3::encode(&array).unwrap();
    let found = Amf3Objects
        .decode(&bytes, Some(&points()), &Limits::default())
        .unwrap();
    assert_eq!(found, rows);
}

#[test]
fn what_does_not_fit_the_schema_is_said() {
    let of = |fields: Vec<(&str, amf0::Value)>| {
        let named = fields.into_iter().map(|(name, value)| (name.into(), value));
        let row = amf0::Value::Object(named.collect());
        amf0_points(vec![point(1.0), row]).unwrap_err().to_string()
    };
    assert!(of(vec![("x", 1.0.into()), ("z", 1.0.into())]).contains("\"z\""));
    assert!(of(vec![("y", "b".into())]).contains("row 1 has no \"x\""));
    assert!(of(vec![("x", 1.0.into()), ("x", 1.0.into())]).contains("\"x\" twice"));
    for refused in [256.0, -1.0, 0.5, -0.0, f64::NAN] {
        let said = of(vec![("x", refused.into())]);
        assert!(
            said.contains("column \"x\", row 1, is not of type u8"),
            "{said}"
        );
    }
    assert!(of(vec![("x", "1".into())]).contains("is not of type u8"));
    assert!(of(vec![("x", amf0::Value::StrictArray(vec![]))]).contains("a value of a column"));
    let reference = amf0_points(vec![point(1.0), amf0::Value::Reference(1)]).unwrap_err();
    assert!(
        reference.to_string().contains("an object is expected"),
        "{reference}"
    );
}

#[test]
fn rows_of_a_record_set_have_as_many_values_as_asked_for() {
    let schema = |columns: usize| {
        let fields = (0..columns).map(|index| Field::new(format!("c{index}"), Kind::U8));
        Schema::new(fields).unwrap()
    };
    let rows = |columns: usize| {
        let values = (0..columns).map(|_| Column::from(vec![1_u8, 2]));
        Rows::new(schema(columns), values).unwrap()
    };
    for (written, asked) in [(2, 3), (3, 2), (1, 0), (0, 1)] {
        let bytes = encoded(&Amf0RecordSet, &rows(written));
        let error = Amf0RecordSet
            .decode(&bytes, Some(&schema(asked)), &Limits::default())
            .unwrap_err();
        assert!(matches!(error, DecodeError::Schema { .. }), "{error}");
    }
}

#[test]
fn a_text_that_is_repeated_counts_each_time() {
    let schema = Schema::new([Field::new("t", Kind::Text)]).unwrap();
    let long = "x".repeat(10_000);
    let texts = Column::from_iter(std::iter::repeat_n(long.as_str(), 1_000));
    let rows = Rows::new(schema.clone(), [texts]).unwrap();
    let bytes = encoded(&Amf3Objects, &rows);
    assert!(bytes.len() < 20_000);
    let limits = Limits {
        bytes: 1 << 20,
        ..Limits::default()
    };
    let error = Amf3Objects
        .decode(&bytes, Some(&schema), &limits)
        .unwrap_err();
    assert!(matches!(error, DecodeError::Limit { .. }), "{error}");
    assert_eq!(
        Amf3Objects
            .decode(&bytes, Some(&schema), &Limits::default())
            .unwrap(),
        rows
    );
}
