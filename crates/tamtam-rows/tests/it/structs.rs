//! Structs, tuples and maps of serde are rows of a table, and come back; what is none is refused.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tamtam_rows::{
    Column, Field, Kind, Record, Rows, Schema, StructError, Unit, Value, Zone, record,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Info,
    Warning,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Id(u64);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Every<'a> {
    id: Id,
    flag: bool,
    small: i8,
    #[serde(rename = "other name")]
    renamed: i64,
    single: f32,
    real: f64,
    letter: char,
    level: Level,
    borrowed: &'a str,
    #[serde(with = "serde_bytes")]
    raw: Vec<u8>,
    maybe: Option<u16>,
    note: Option<String>,
    large: i128,
    #[serde(skip)]
    skipped: u8,
    #[serde(default)]
    late: Option<u8>,
}

fn every(n: u64) -> Every<'static> {
    Every {
        id: Id(u64::MAX - n),
        flag: n.is_multiple_of(3),
        small: n as i8 - 64,
        renamed: i64::MIN + n as i64,
        single: n as f32 / 3.0,
        real: n as f64 / 3.0,
        letter: char::from_u32(0x1f600 + n as u32).unwrap(),
        level: if n.is_multiple_of(2) {
            Level::Info
        } else {
            Level::Warning
        },
        borrowed: ["", "one", "two, \"three\""][n as usize % 3],
        raw: vec![n as u8; n as usize % 4],
        maybe: (n > 5).then_some(n as u16),
        note: (n % 4 == 1).then(|| n.to_string()),
        large: i128::from(n) - 40,
        skipped: 0,
        late: None,
    }
}

#[test]
fn structs_become_rows_and_come_back() {
    let structs: Vec<Every<'_>> = (0..100).map(every).collect();
    let rows = Rows::from_serialize(&structs).unwrap();
    assert_eq!(rows.len(), 100);
    let expected = [
        Field::new("id", Kind::U64),
        Field::new("flag", Kind::Bool),
        Field::new("small", Kind::I8),
        Field::new("other name", Kind::I64),
        Field::new("single", Kind::F32),
        Field::new("real", Kind::F64),
        Field::new("letter", Kind::Text),
        Field::new("level", Kind::Text),
        Field::new("borrowed", Kind::Text),
        Field::new("raw", Kind::Bytes),
        Field::nullable("maybe", Kind::U16),
        Field::nullable("note", Kind::Text),
        Field::new(
            "large",
            Kind::Decimal {
                precision: 38,
                scale: 0,
            },
        ),
        // Nothing but nulls.
        Field::nullable("late", Kind::Text),
    ];
    assert_eq!(rows.schema().fields(), expected);
    assert_eq!(rows.value(1, 7), Value::Text("warning"));
    assert_eq!(rows.column("maybe").unwrap().nulls().unwrap().count(), 6);
    let back: Vec<Every<'_>> = rows.deserialize().collect::<Result<_, _>>().unwrap();
    assert_eq!(back, structs);
}

#[test]
fn a_table_of_structs_is_that_of_records() {
    record! {
        #[derive(Clone, Serialize)]
        struct Tile { slot: u16, color: String, turn: Option<i16> }
    }
    let tiles: Vec<Tile> = (0..50)
        .map(|n| Tile {
            slot: n,
            color: format!("{n:06x}"),
            turn: (n % 3 == 0).then_some(-90),
        })
        .collect();
    assert_eq!(
        Rows::from_serialize(&tiles).unwrap(),
        Tile::to_rows(&tiles).unwrap()
    );
}

#[test]
fn tuples_and_lists_are_rows() {
    let tuples = [(1_u8, "a", Some(1.5)), (2, "b", None)];
    let rows = Rows::from_serialize(tuples).unwrap();
    let names: Vec<&str> = rows.schema().fields().iter().map(Field::name).collect();
    assert_eq!(names, ["column 1", "column 2", "column 3"]);
    let back: Vec<(u8, &str, Option<f64>)> = rows.deserialize().collect::<Result<_, _>>().unwrap();
    assert_eq!(back, tuples);
    let lists = vec![vec![1_i32, 2, 3], vec![4, 5, 6]];
    let rows = Rows::from_serialize(&lists).unwrap();
    let back: Vec<Vec<i32>> = rows.deserialize().collect::<Result<_, _>>().unwrap();
    assert_eq!(back, lists);
    let longer = Rows::from_serialize([vec![1_i32], vec![2, 3]]).unwrap_err();
    assert_eq!(
        longer.to_string(),
        "row 1: it has more than the 1 values that the rows before have"
    );
    let error = rows
        .deserialize::<(i32, i32)>()
        .next()
        .unwrap()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "row 0: it has 3 values, and the tuple has 2"
    );
}

#[test]
fn maps_are_rows_in_whatever_order_and_with_gaps() {
    let map = |entries: &[(&str, i32)]| -> BTreeMap<String, i32> {
        entries
            .iter()
            .map(|&(name, value)| (name.to_owned(), value))
            .collect()
    };
    let maps = [
        map(&[("b", 1)]),
        map(&[("a", 2), ("b", 3)]),
        map(&[("c", 4)]),
    ];
    let rows = Rows::from_serialize(&maps).unwrap();
    let nullable = |name| Field::nullable(name, Kind::I32);
    assert_eq!(
        rows.schema().fields(),
        [nullable("b"), nullable("a"), nullable("c")]
    );
    let back: Vec<BTreeMap<&str, Option<i32>>> =
        rows.deserialize().collect::<Result<_, _>>().unwrap();
    assert_eq!(
        back[0],
        BTreeMap::from([("a", None), ("b", Some(1)), ("c", None)])
    );
    assert_eq!(
        back[2],
        BTreeMap::from([("a", None), ("b", None), ("c", Some(4))])
    );
    let numbered = [BTreeMap::from([(1, 2)])];
    let error = Rows::from_serialize(&numbered).unwrap_err();
    assert_eq!(
        error.to_string(),
        "row 0: the keys of a map must be text, to be the names of columns"
    );
}

#[test]
fn a_schema_may_be_given() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Order {
        price: String,
        day: i32,
        at: &'static str,
        id: String,
        quantity: u64,
    }
    let schema = Schema::new([
        Field::new("quantity", Kind::U8),
        Field::new(
            "price",
            Kind::Decimal {
                precision: 8,
                scale: 2,
            },
        ),
        Field::new("day", Kind::Date),
        Field::new("at", Kind::Timestamp(Unit::Millisecond, Zone::Utc)),
        Field::new("id", Kind::Uuid),
        Field::nullable("coupon", Kind::Text),
    ])
    .unwrap();
    let order = |price: &str, quantity| Order {
        price: price.into(),
        day: 19_782,
        at: "2024-02-29T12:00:00.5Z",
        id: "00112233-4455-6677-8899-aabbccddeeff".into(),
        quantity,
    };
    let rows =
        Rows::from_serialize_with(schema.clone(), [order("12.50", 3), order("-1", 255)]).unwrap();
    assert_eq!(rows.schema(), &schema);
    let found: Vec<Value<'_>> = rows.iter().nth(1).unwrap().values().collect();
    assert_eq!(
        found[..4],
        [
            Value::Unsigned(255),
            Value::Decimal(-100),
            Value::Date(19_782),
            Value::Timestamp(1_709_208_000_500)
        ]
    );
    assert_eq!(found[5], Value::Null);

    #[derive(Debug, PartialEq, Deserialize)]
    struct Back {
        price: String,
        day: i32,
        at: String,
        #[serde(with = "serde_bytes")]
        id: Vec<u8>,
    }
    let back: Back = rows.deserialize().nth(1).unwrap().unwrap();
    assert_eq!(
        (back.price.as_str(), back.day, back.at.as_str()),
        ("-1.00", 19_782, "2024-02-29T12:00:00.500Z")
    );
    assert_eq!(back.id[..3], [0, 0x11, 0x22]);

    let said = |order: Order| {
        Rows::from_serialize_with(schema.clone(), [order])
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        said(order("1", 256)),
        "column \"quantity\", row 0: 256 is not of type u8"
    );
    assert_eq!(
        said(order("1.234", 1)),
        "column \"price\", row 0: \"1.234\" is not of type decimal(8,2)"
    );
    let few = Schema::new([Field::new("quantity", Kind::U8)]).unwrap();
    let error = Rows::from_serialize_with(few, [order("1", 1)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "row 0: it has a field \"price\", which the schema does not have"
    );
    let more = Schema::new([Field::new("a", Kind::U8), Field::new("b", Kind::U8)]).unwrap();
    let error = Rows::from_serialize_with(more, [BTreeMap::from([("a", 1)])]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "row 0: it has no \"b\", a column without nulls"
    );
}

/// As integers, days and units of time are counts.
#[test]
fn a_column_of_time_takes_what_it_counts() {
    #[derive(Clone, Copy, Serialize)]
    struct Counts {
        day: i64,
        time: u64,
        at: i64,
    }
    let schema = Schema::new([
        Field::new("day", Kind::Date),
        Field::new("time", Kind::Time(Unit::Millisecond)),
        Field::new("at", Kind::Timestamp(Unit::Second, Zone::Utc)),
    ])
    .unwrap();
    let counts = Counts {
        day: -1,
        time: 3_600_000,
        at: -86_400,
    };
    let rows = Rows::from_serialize_with(schema.clone(), [counts]).unwrap();
    let found: Vec<Value<'_>> = rows.iter().next().unwrap().values().collect();
    assert_eq!(
        found,
        [
            Value::Date(-1),
            Value::Time(3_600_000),
            Value::Timestamp(-86_400)
        ]
    );
    let far = Counts {
        day: 1 << 31,
        ..counts
    };
    let error = Rows::from_serialize_with(schema, [far]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "column \"day\", row 0: 2147483648 is not of type date"
    );
}

#[test]
fn what_holds_several_values_is_refused() {
    #[derive(Serialize)]
    struct Outer<T> {
        inner: T,
    }
    #[derive(Serialize)]
    struct Inner {
        n: u8,
    }
    #[derive(Serialize)]
    enum Shape {
        Circle(f64),
        Square { side: f64 },
    }
    fn said<T: Serialize>(inner: T) -> String {
        Rows::from_serialize([Outer { inner }])
            .unwrap_err()
            .to_string()
    }
    let several = "holds several values, and a cell of a table holds one; take its fields out, or write it as text";
    assert_eq!(
        said(Inner { n: 1 }),
        format!("column \"inner\", row 0: the struct Inner {several}")
    );
    assert_eq!(
        said(Shape::Circle(1.0)),
        format!("column \"inner\", row 0: the variant Shape::Circle {several}")
    );
    assert_eq!(
        said(Shape::Square { side: 1.0 }),
        format!("column \"inner\", row 0: the variant Shape::Square {several}")
    );
    assert_eq!(
        said(vec![1_u8]),
        "column \"inner\", row 0: a list holds several values, and a cell of a table holds one; for bytes, use serde_bytes"
    );
    assert_eq!(
        said(BTreeMap::from([(1, 2)])),
        format!("column \"inner\", row 0: a map {several}")
    );
    let error = Rows::from_serialize([5_u8]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "row 0: an integer is no row; a struct, a tuple or a map is"
    );
    assert!(matches!(
        Rows::from_serialize([()]),
        Err(StructError::Row { row: 0, .. })
    ));
}

#[test]
fn what_does_not_fit_a_struct_is_said() {
    let schema =
        Schema::new([Field::new("n", Kind::I32), Field::nullable("s", Kind::Text)]).unwrap();
    let rows = Rows::new(
        schema,
        [
            Column::from(vec![300_i32, 1]),
            Column::from_iter([Some("x"), None]),
        ],
    )
    .unwrap();

    #[derive(Debug, Deserialize)]
    struct Narrow {
        #[allow(dead_code, reason = "it is only read")]
        n: u8,
    }
    let mut results = rows.deserialize::<Narrow>();
    assert_eq!(
        results.next().unwrap().unwrap_err().to_string(),
        "column \"n\", row 0: invalid value: integer `300`, expected u8"
    );
    // The next row is none the worse for it.
    assert_eq!(results.next().unwrap().unwrap().n, 1);

    #[derive(Debug, Deserialize)]
    struct Strict {
        #[allow(dead_code, reason = "it is only read")]
        s: String,
    }
    let mut results = rows.deserialize::<Strict>();
    assert_eq!(results.next().unwrap().unwrap().s, "x");
    let error = results.next().unwrap().unwrap_err().to_string();
    assert!(
        error.starts_with("column \"s\", row 1: invalid type: unit value"),
        "{error}"
    );

    #[derive(Debug, Deserialize)]
    struct Missing {
        #[allow(dead_code, reason = "it is never there")]
        m: u8,
    }
    let error = rows.deserialize::<Missing>().next().unwrap().unwrap_err();
    assert_eq!(error.to_string(), "row 0: missing field `m`");
}

#[test]
fn types_may_not_change_on_the_way() {
    let error =
        Rows::from_serialize([vec![Some(1_i16)], vec![None], vec![Some(2)]]).map(|rows| rows.len());
    assert_eq!(error.unwrap(), 3);
    #[derive(Serialize)]
    #[serde(untagged)]
    enum Any {
        Number(i32),
        Text(&'static str),
    }
    let error = Rows::from_serialize([[Any::Number(1)], [Any::Text("x")]]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "column \"column 1\", row 1: \"x\" is not of type i32"
    );
    let none: [(); 0] = [];
    assert!(Rows::from_serialize(none).unwrap().schema().is_empty());
}

#[test]
fn an_integer_that_no_float_holds_is_refused_by_a_column_of_floats_and_a_field() {
    fn read<'a, T: Deserialize<'a> + 'a>(rows: &'a Rows) -> Result<Vec<T>, StructError> {
        rows.deserialize().collect()
    }
    let table = |kind: Kind| Schema::new([Field::new("a", kind)]).unwrap();
    let written = |kind, value| Rows::from_serialize_with(table(kind), [(value,)]);
    for (held, beyond) in [
        (1_i128 << 53, (1_i128 << 53) + 1),
        (-(1 << 62), i128::from(i64::MIN) + 1),
        (1 << 100, (1 << 100) + 1),
    ] {
        assert_eq!(
            written(Kind::F64, held).unwrap().value(0, 0),
            Value::F64(held as f64)
        );
        let error = written(Kind::F64, beyond).unwrap_err().to_string();
        assert!(
            error.contains(&format!("{beyond} is not of type f64")),
            "{error}"
        );
        let (Ok(held), Ok(beyond)) = (i64::try_from(held), i64::try_from(beyond)) else {
            continue;
        };
        let written = |value| Rows::from_serialize_with(table(Kind::F64), [(value,)]);
        assert_eq!(written(held).unwrap().value(0, 0), Value::F64(held as f64));
        assert!(written(beyond).is_err());
        let numbers =
            |value: i64| Rows::new(table(Kind::I64), [Column::from(vec![value])]).unwrap();
        assert_eq!(read::<(f64,)>(&numbers(held)).unwrap(), [(held as f64,)]);
        let error = read::<(f64,)>(&numbers(beyond)).unwrap_err().to_string();
        assert!(error.contains(&beyond.to_string()), "{error}");
        assert!(read::<(Option<f64>,)>(&numbers(beyond)).is_err());
    }
    assert_eq!(
        written(Kind::F32, 1 << 24).unwrap().value(0, 0),
        Value::F32(16_777_216.0)
    );
    assert!(written(Kind::F32, (1 << 24) + 1).is_err());
    assert!(Rows::from_serialize_with(table(Kind::F32), [(16_777_217_u32,)]).is_err());
    let numbers = Rows::new(table(Kind::U32), [Column::from(vec![16_777_217_u32])]).unwrap();
    assert!(read::<(f32,)>(&numbers).is_err());
    assert_eq!(read::<(f64,)>(&numbers).unwrap(), [(16_777_217.0,)]);
}

#[test]
fn an_integer_of_128_bits_is_no_text_and_no_bytes() {
    for kind in [Kind::Text, Kind::Bytes, Kind::Bool, Kind::Date] {
        let schema = Schema::new([Field::new("a", kind.clone())]).unwrap();
        let error = Rows::from_serialize_with(schema.clone(), [(1234_i128,)]).unwrap_err();
        assert!(
            error.to_string().contains("1234 is not of type"),
            "{kind}: {error}"
        );
        assert!(Rows::from_serialize_with(schema, [(1_u128,)]).is_err());
    }
    for kind in [Kind::I16, Kind::U64, Kind::F32] {
        let schema = Schema::new([Field::new("a", kind)]).unwrap();
        assert!(Rows::from_serialize_with(schema, [(1234_i128,)]).is_ok());
    }
}
