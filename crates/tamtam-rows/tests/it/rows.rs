//! Tables are built and read by column, by row and as structs, and what does not fit is refused.

use tamtam_rows::{
    Column, Field, Kind, Nulls, Record, Rows, RowsBuilder, Schema, ShapeError, Strings, Unit,
    Value, Values, Zone, record,
};

fn schema() -> Schema {
    Schema::new([
        Field::new("slot", Kind::U16),
        Field::nullable("name", Kind::Text),
        Field::new("at", Kind::Timestamp(Unit::Millisecond, Zone::Utc)),
    ])
    .unwrap()
}

#[test]
fn rows_come_back_as_they_were_pushed() {
    let mut builder = RowsBuilder::new(schema());
    let pushed = [
        [Value::Unsigned(1), Value::Text("one"), Value::Timestamp(-5)],
        [Value::Int(65_535), Value::Null, Value::Timestamp(i64::MAX)],
    ];
    pushed.iter().for_each(|&row| builder.push(row).unwrap());
    let rows = builder.finish();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows.value(1, 0), Value::Unsigned(65_535));
    let second: Vec<Value> = rows.iter().nth(1).unwrap().values().collect();
    assert_eq!(
        second,
        [
            Value::Unsigned(65_535),
            Value::Null,
            Value::Timestamp(i64::MAX)
        ]
    );
    assert_eq!(
        rows.iter().next_back().unwrap().get("name"),
        Some(Value::Null)
    );
    assert_eq!(
        rows.column("slot").unwrap().slice::<u16>().unwrap(),
        [1, 65_535]
    );
}

#[test]
fn a_row_that_is_refused_leaves_no_trace() {
    let mut builder = RowsBuilder::new(schema());
    builder
        .push([Value::Unsigned(1), Value::Null, Value::Timestamp(0)])
        .unwrap();
    let refused: [&[Value]; 5] = [
        &[Value::Unsigned(65_536), Value::Null, Value::Timestamp(0)],
        &[Value::Unsigned(2), Value::Text("kept?"), Value::Time(0)],
        &[Value::Unsigned(2), Value::Text("kept?"), Value::Null],
        &[Value::Unsigned(2), Value::Text("kept?")],
        &[
            Value::Unsigned(2),
            Value::Null,
            Value::Timestamp(0),
            Value::Null,
        ],
    ];
    for row in refused {
        builder.push(row.iter().copied()).unwrap_err();
    }
    builder
        .push([
            Value::Unsigned(3),
            Value::Text("three"),
            Value::Timestamp(3),
        ])
        .unwrap();
    let rows = builder.finish();
    assert_eq!(rows.column("slot").unwrap().slice::<u16>().unwrap(), [1, 3]);
    assert_eq!(rows.value(1, 1), Value::Text("three"));
    assert_eq!(rows.column("name").unwrap().nulls().unwrap().count(), 1);
}

#[test]
fn errors_name_the_column() {
    let mut builder = RowsBuilder::new(schema());
    let error = builder
        .push([Value::Int(-1), Value::Null, Value::Timestamp(0)])
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"the column "slot" is of type u16; the value Int(-1) does not fit it"#
    );
    let error = builder
        .push([Value::Null, Value::Null, Value::Timestamp(0)])
        .unwrap_err();
    assert!(
        matches!(&error, ShapeError::Null { column, row: 0 } if column == "slot"),
        "{error}"
    );
}

#[test]
fn columns_must_fit_the_schema() {
    let two = Schema::new([Field::new("a", Kind::I16), Field::new("b", Kind::Date)]).unwrap();
    let date = || Column::from(vec![1_i32]);
    assert!(Rows::new(two.clone(), [Column::from(vec![1_i16]), date()]).is_ok());
    let refused = [
        vec![Column::from(vec![1_i16])],
        vec![Column::from(vec![1_i32]), date()],
        vec![Column::from(vec![1_i16, 2]), date()],
        vec![Column::from(vec![None::<i16>]), date()],
    ];
    for columns in refused {
        Rows::new(two.clone(), columns).unwrap_err();
    }
    Schema::new([Field::new(
        "d",
        Kind::Decimal {
            precision: 39,
            scale: 0,
        },
    )])
    .unwrap_err();
}

#[test]
fn what_is_null_holds_nothing() {
    let texts: Strings = ["kept", "hidden"].into_iter().collect();
    let column =
        Column::with_nulls(Values::Text(texts), [false, true].into_iter().collect()).unwrap();
    assert_eq!(column.texts().unwrap().get(1), "");
    let column = Column::with_nulls(
        Values::F64(vec![1.5, f64::NAN]),
        [false, true].into_iter().collect(),
    )
    .unwrap();
    assert_eq!(column.slice::<f64>().unwrap(), [1.5, 0.0]);
    Column::with_nulls(Values::U8(vec![1]), Nulls::new()).unwrap_err();
}

#[test]
fn texts_of_one_length_and_of_many_are_equal() {
    let mut grown: Strings = ["ab", "cd", "efg"].into_iter().collect();
    assert_eq!(grown.width(), None);
    assert_eq!(grown.iter().collect::<Vec<_>>(), ["ab", "cd", "efg"]);
    let fixed = Strings::from_fixed("abcd".into(), 2, 2).unwrap();
    assert_eq!(fixed, ["ab", "cd"].into_iter().collect());
    assert_ne!(grown, fixed);
    grown = Strings::from_offsets("abcd".into(), vec![0, 2, 4]).unwrap();
    assert_eq!(grown, fixed);
    // Inside a character, backwards, not to the end.
    Strings::from_fixed("äö".into(), 1, 4).unwrap_err();
    Strings::from_offsets("ä".into(), vec![0, 1, 2]).unwrap_err();
    Strings::from_offsets("ab".into(), vec![0, 2, 1, 2]).unwrap_err();
    Strings::from_offsets("ab".into(), vec![0, 1]).unwrap_err();
}

record! {
    #[derive(Clone, Debug, PartialEq)]
    struct Every {
        flag: bool,
        small: i8,
        large: u64,
        real: f64,
        name: String,
        raw: Vec<u8>,
        id: [u8; 16],
        maybe: Option<i32>,
        note: Option<String>,
    }
}

#[test]
fn structs_become_rows_and_come_back() {
    let records: Vec<Every> = (0..70)
        .map(|n| Every {
            flag: n % 3 == 0,
            small: n as i8 - 50,
            large: u64::MAX - n,
            real: n as f64 / 3.0,
            name: "x".repeat(n as usize % 5),
            raw: vec![n as u8; n as usize % 4],
            id: [n as u8; 16],
            maybe: (n % 2 == 0).then_some(n as i32),
            note: (n % 7 != 0).then(|| n.to_string()),
        })
        .collect();
    let rows = Every::to_rows(&records).unwrap();
    assert_eq!(rows.len(), 70);
    assert!(Every::from_rows(&rows).unwrap().eq(records.iter().cloned()));
    assert!(
        Every::from_rows(&rows.part(60..70))
            .unwrap()
            .eq(records[60..].iter().cloned())
    );
}

record! {
    /// Numbers of which several are gathered at once, between others, and more than fit one word.
    #[derive(Clone, Debug, PartialEq)]
    struct Narrow {
        a: i16,
        alone: u8,
        b: f32,
        c: u16,
        d: i16,
        e: i32,
        f: u32,
        name: String,
        g: i16,
        h: u16,
        i: i16,
        wide: i64,
        j: u32,
    }
}

#[test]
fn narrow_numbers_of_structs_come_to_their_columns() {
    let mut seed = 1_u64;
    let mut next = || {
        seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) ^ 0x1234_5678;
        seed
    };
    let all: Vec<Narrow> = (0..700)
        .map(|n| Narrow {
            a: next() as i16,
            alone: next() as u8,
            b: f32::from_bits(next() as u32 & 0x7f7f_ffff),
            c: next() as u16,
            d: next() as i16,
            e: next() as i32,
            f: next() as u32,
            name: n.to_string(),
            g: next() as i16,
            h: next() as u16,
            i: next() as i16,
            wide: next() as i64,
            j: next() as u32,
        })
        .collect();
    for count in (0..35).chain([255, 256, 257, 512, 700]) {
        let records = &all[..count];
        let rows = Narrow::to_rows(records).unwrap();
        macro_rules! is_there {
            ($($field:ident: $type:ty),*) => {$(
                let found = rows.column(stringify!($field)).unwrap().slice::<$type>().unwrap();
                assert!(
                    found.iter().eq(records.iter().map(|record| &record.$field)),
                    "{} of {count}", stringify!($field)
                );
            )*};
        }
        is_there!(
            a: i16, alone: u8, b: f32, c: u16, d: i16, e: i32, f: u32, g: i16, h: u16, i: i16, wide: i64, j: u32
        );
        assert!(
            Narrow::from_rows(&rows)
                .unwrap()
                .eq(records.iter().cloned())
        );
    }
}

#[test]
fn a_struct_is_not_read_from_another_table() {
    let rows = Rows::empty(schema());
    assert_eq!(
        Every::from_rows(&rows).err(),
        Some(ShapeError::NoColumn("flag".into()))
    );
}

record! {
    #[derive(Clone, Debug, PartialEq)]
    struct Named {
        name: String,
        raw: Vec<u8>,
    }
}

#[test]
fn texts_of_one_length_are_kept_like_all_others() {
    let named = |name: &str| Named {
        name: name.to_owned(),
        raw: name.as_bytes().to_vec(),
    };
    for names in [
        vec![],
        vec!["", ""],
        vec!["ab", "ä", "cd"],
        vec!["ab", "cd", "efg"],
        vec!["0123456789abcdef", "fedcba9876543210"],
        vec!["0123456789abcdefg", "gfedcba9876543210"],
    ] {
        let records: Vec<Named> = names.iter().map(|name| named(name)).collect();
        let rows = Named::to_rows(&records).unwrap();
        assert!(Named::from_rows(&rows).unwrap().eq(records));
        assert!(
            rows.column("name")
                .unwrap()
                .texts()
                .unwrap()
                .iter()
                .eq(names)
        );
    }
}

record! {
    struct Nothing {}
}

#[test]
fn a_struct_without_fields_is_a_table_without_columns() {
    let rows = Nothing::to_rows(&[Nothing {}]).unwrap();
    assert_eq!((rows.len(), rows.columns().len()), (0, 0));
}

#[test]
fn more_empty_values_than_ends_can_be_counted_take_no_other() {
    let count = 1 << 32;
    let mut texts = Strings::from_fixed(String::new(), 0, count).unwrap();
    texts.push("").unwrap();
    assert!(matches!(texts.push("a"), Err(ShapeError::TooLarge)));
    assert_eq!(texts.len(), count + 1);
}

record! {
    #[derive(Debug, PartialEq)]
    struct Token {
        r#type: u16,
        r#fn: Option<String>,
        n: u16,
    }
}

#[test]
fn a_field_with_a_raw_name_is_a_column_without_its_mark() {
    let schema = Schema::new([
        Field::new("type", Kind::U16),
        Field::nullable("fn", Kind::Text),
        Field::new("n", Kind::U16),
    ])
    .unwrap();
    assert_eq!(Token::schema(), schema);
    let tokens = [
        Token {
            r#type: 1,
            r#fn: Some("one".into()),
            n: 2,
        },
        Token {
            r#type: 3,
            r#fn: None,
            n: 4,
        },
    ];
    let rows = Token::to_rows(&tokens).unwrap();
    assert_eq!(rows.column("type").unwrap().slice::<u16>().unwrap(), [1, 3]);
    assert!(Token::from_rows(&rows).unwrap().eq(tokens));
}
