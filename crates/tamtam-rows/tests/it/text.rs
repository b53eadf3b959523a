//! Delimited text: what others write is read, what is written others read, and what cannot be read is said.

use tamtam_rows::encoding::{Text, TextReader};
use tamtam_rows::{
    Column, DecodeError, Encoding, Field, Kind, Limits, Rows, Schema, Unit, Value, Zone,
};

fn decode(form: Text, text: &str, schema: &Schema) -> Result<Rows, DecodeError> {
    form.decode(text.as_bytes(), Some(schema), &Limits::default())
}

fn names() -> Schema {
    Schema::new([
        Field::new("n", Kind::I32),
        Field::nullable("name", Kind::Text),
    ])
    .unwrap()
}

const TEXTS: [&str; 12] = [
    "plain",
    "a,b",
    "\"",
    "\"\"x",
    "x\"y\"",
    "line\nfeed",
    "carriage\rreturn",
    "\r\n",
    " space ",
    "ä😀",
    "\t",
    "'",
];

#[test]
fn the_crate_csv_reads_what_we_write() {
    let rows = Rows::new(
        names(),
        [
            Column::from((0..TEXTS.len() as i32).collect::<Vec<_>>()),
            Column::from_iter(TEXTS),
        ],
    )
    .unwrap();
    let mut bytes = Vec::new();
    Text::default().encode(&rows, &mut bytes).unwrap();
    let mut reader = csv::Reader::from_reader(bytes.as_slice());
    assert_eq!(reader.headers().unwrap(), vec!["n", "name"]);
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), TEXTS.len());
    for (index, (record, text)) in records.iter().zip(TEXTS).enumerate() {
        assert_eq!(record, &vec![index.to_string().as_str(), text]);
    }
}

#[test]
fn we_read_what_the_crate_csv_writes() {
    let styles = [
        csv::QuoteStyle::Necessary,
        csv::QuoteStyle::Always,
        csv::QuoteStyle::NonNumeric,
    ];
    for quotes in styles {
        for end in [
            csv::Terminator::CRLF,
            csv::Terminator::Any(b'\n'),
            csv::Terminator::Any(b'\r'),
        ] {
            let mut writer = csv::WriterBuilder::new()
                .quote_style(quotes)
                .terminator(end)
                .from_writer(Vec::new());
            writer.write_record(["n", "name"]).unwrap();
            for (index, text) in TEXTS.iter().enumerate() {
                writer
                    .write_record([index.to_string().as_str(), text])
                    .unwrap();
            }
            let bytes = writer.into_inner().unwrap();
            let rows = Text::default()
                .decode(&bytes, Some(&names()), &Limits::default())
                .unwrap_or_else(|error| panic!("{quotes:?}, {end:?}: {error}"));
            assert!(
                rows.column("name")
                    .unwrap()
                    .texts()
                    .unwrap()
                    .iter()
                    .eq(TEXTS)
            );
            assert_eq!(rows.len(), TEXTS.len());
        }
    }
}

#[test]
fn the_articles_lines_are_read() {
    let schema = Schema::new([
        Field::new("slot_number", Kind::I16),
        Field::new("x", Kind::I16),
        Field::new("y", Kind::I16),
        Field::new("color", Kind::Text),
        Field::new("rotation", Kind::I16),
    ])
    .unwrap();
    let lines = "1,1099,0,ff8800,270\r\n2,-5,999,0088ff,0\r\n";
    let rows = decode(Text::BARE, lines, &schema).unwrap();
    assert_eq!(
        rows.column("x").unwrap().slice::<i16>().unwrap(),
        [1099, -5]
    );
    assert_eq!(
        rows.column("rotation").unwrap().slice::<i16>().unwrap(),
        [270, 0]
    );
    let mut bytes = Vec::new();
    Text::BARE.encode(&rows, &mut bytes).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), lines.replace('\r', ""));
}

#[test]
fn nulls_differ_from_empty_texts() {
    let rows = decode(Text::default(), "n,name\n1,\n2,\"\"\n3,x", &names()).unwrap();
    let found: Vec<Value> = rows.iter().map(|row| row.value(1)).collect();
    assert_eq!(found, [Value::Null, Value::Text(""), Value::Text("x")]);
    // Where no null may be, an empty field is an empty text.
    let schema = Schema::new([Field::new("a", Kind::Text), Field::new("b", Kind::Text)]).unwrap();
    let rows = decode(Text::BARE, ",\"\"\n", &schema).unwrap();
    assert_eq!(rows.value(0, 0), Value::Text(""));
    // A line alone is a row where the table has one column only.
    let one = Schema::new([Field::nullable("a", Kind::U8)]).unwrap();
    let rows = decode(Text::default(), "a\n\n1\n\n", &one).unwrap();
    let found: Vec<Value> = rows.iter().map(|row| row.value(0)).collect();
    assert_eq!(found, [Value::Null, Value::Unsigned(1), Value::Null]);
}

#[test]
fn marks_empty_lines_and_other_delimiters_are_taken() {
    let text = "\u{feff}n;name\r\n\r\n1;\"a;b\"\r\n\r\n2;c,d\r\n\r\n";
    let form = Text {
        delimiter: b';',
        ..Text::default()
    };
    let rows = decode(form, text, &names()).unwrap();
    assert!(
        rows.column("name")
            .unwrap()
            .texts()
            .unwrap()
            .iter()
            .eq(["a;b", "c,d"])
    );
    let mut bytes = Vec::new();
    form.encode(&rows, &mut bytes).unwrap();
    assert_eq!(bytes, b"n;name\n1;\"a;b\"\n2;c,d\n");
    let tabs = Text {
        delimiter: b'\t',
        ..Text::default()
    };
    tabs.encode(&rows, &mut bytes).unwrap();
    let digit = Text {
        delimiter: b'1',
        ..Text::default()
    };
    digit.encode(&rows, &mut Vec::new()).unwrap_err();
    decode(digit, "n1name", &names()).unwrap_err();
}

#[test]
fn values_are_written_as_people_write_them() {
    let schema = Schema::new([
        Field::new("yes", Kind::Bool),
        Field::new(
            "price",
            Kind::Decimal {
                precision: 10,
                scale: 2,
            },
        ),
        Field::new("day", Kind::Date),
        Field::new("long", Kind::Time(Unit::Second)),
        Field::new("at", Kind::Timestamp(Unit::Millisecond, Zone::Utc)),
        Field::new("wall", Kind::Timestamp(Unit::Second, Zone::Local)),
        Field::new("id", Kind::Uuid),
        Field::new("raw", Kind::Bytes),
        Field::new("real", Kind::F64),
        Field::new("single", Kind::F32),
    ])
    .unwrap();
    let line = "true,-0.05,2024-02-29,-838:59:59,1969-12-31T23:59:59.999Z,2000-01-01T00:00:00,\
                00112233-4455-6677-8899-aabbccddeeff,AP8=,0.1,16777216.0\n";
    let rows = decode(Text::BARE, line, &schema).unwrap();
    let found: Vec<Value> = rows.iter().next().unwrap().values().collect();
    assert_eq!(
        found[..4],
        [
            Value::Bool(true),
            Value::Decimal(-5),
            Value::Date(19_782),
            Value::Time(-3_020_399)
        ]
    );
    assert_eq!(
        found[4..6],
        [Value::Timestamp(-1), Value::Timestamp(946_684_800)]
    );
    assert_eq!(
        found[7..],
        [
            Value::Bytes(&[0, 255]),
            Value::F64(0.1),
            Value::F32(16_777_216.0)
        ]
    );
    let mut bytes = Vec::new();
    Text::BARE.encode(&rows, &mut bytes).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), line);
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    let said = |text: &str| {
        decode(Text::default(), text, &names())
            .unwrap_err()
            .to_string()
    };
    let expected = [
        (
            "",
            "text ends too early: the line of names is missing at byte 0",
        ),
        (
            "n\n",
            "text holds another table than was asked for: it has 1 column, not 2",
        ),
        (
            "n,name,more\n",
            "text holds another table than was asked for: it has more than 2 columns",
        ),
        (
            "n,nome\n",
            "text holds another table than was asked for: column 1 is called \"nome\", not \"name\"",
        ),
        (
            "n,name\nx,y\n",
            "text: the value x in column \"n\", row 0 (line 2), is not of type i32",
        ),
        (
            "n,name\n1,a\n2147483648,b",
            "text: the value 2147483648 in column \"n\", row 1 (line 3), is not of type i32",
        ),
        (
            "n,name\n,a\n",
            "text: the value  in column \"n\", row 0 (line 2), is not of type i32",
        ),
        (
            "\u{feff}n,name\r\n\r\n1,\"a\nb\rc\"\r\n2,\"\r\n\"\r\r\n\"\"\"\n\",d\r\n",
            "text: the value \"\n in column \"n\", row 2 (line 9), is not of type i32",
        ),
        (
            "n,name\n1\n",
            "text is damaged or is not text at all, at byte 7: row 0 has 1 value, not 2 (line 2)",
        ),
        (
            "n,name\n1,a,b\n",
            "text is damaged or is not text at all, at byte 7: row 0 has more than 2 values (line 2)",
        ),
        (
            "n,name\n1,\"a",
            "text is damaged or is not text at all, at byte 9: the quote that begins a field is not closed (line 2)",
        ),
        (
            "n,name\n1,\"a\"b\n",
            "text is damaged or is not text at all, at byte 12: text follows the closing quote of a field (line 2)",
        ),
    ];
    for (text, expected) in expected {
        assert_eq!(said(text), expected, "{text:?}");
    }
    let error = Text::default().decode(b"n,name\n1,\xff\n", Some(&names()), &Limits::default());
    assert_eq!(
        error.unwrap_err().to_string(),
        "text is damaged or is not text at all, at byte 9: line 2 is not UTF-8; convert it"
    );
}

#[test]
fn a_number_beyond_the_range_of_a_float_is_not_infinity() {
    let decoded = |kind: Kind, text: &str| {
        let schema = Schema::new([Field::new("x", kind)]).unwrap();
        Text::BARE.decode(text.as_bytes(), Some(&schema), &Limits::default())
    };
    for (kind, text) in [
        (Kind::F64, "1e999"),
        (Kind::F64, "-1e309"),
        (Kind::F32, "1e39"),
        (Kind::F32, "-3.5e38"),
    ] {
        let error = decoded(kind.clone(), text).unwrap_err();
        assert!(
            matches!(&error, DecodeError::Value { value, .. } if value == text),
            "{error}"
        );
    }
    assert_eq!(
        decoded(Kind::F32, "3.4028235e38").unwrap().value(0, 0),
        Value::F32(f32::MAX)
    );
    assert_eq!(
        decoded(Kind::F64, "1e-999").unwrap().value(0, 0),
        Value::F64(0.0)
    );
    for text in ["inf", "-inf", "Infinity", "-infinity"] {
        let rows = decoded(Kind::F64, text).unwrap();
        assert!(
            matches!(rows.value(0, 0), Value::F64(value) if value.is_infinite()),
            "{text}"
        );
    }
}

/// All rows of a text that is read part by part.
fn in_parts(text: &[u8], schema: &Schema, limits: Limits) -> Result<usize, DecodeError> {
    let mut reader = TextReader::new(text, Text::HEADED, schema, limits)?;
    let mut rows = 0;
    while let Some(part) = reader.next_chunk()? {
        rows += part.len();
    }
    Ok(rows)
}

#[test]
fn a_byte_order_mark_before_a_quoted_name_is_no_part_of_the_field() {
    let mut text = b"\xef\xbb\xbf\"a,\"\"\",b\n".to_vec();
    (0..300_000).for_each(|row| text.extend_from_slice(format!("{row},x\n").as_bytes()));
    let fields = [Field::new("a,\"", Kind::U32), Field::new("b", Kind::Text)];
    let schema = Schema::new(fields).unwrap();
    // Two blocks are more than it may take at once.
    let limits = Limits {
        bytes: 2 << 20,
        ..Limits::default()
    };
    assert!(text.len() as u64 > limits.bytes);
    assert_eq!(in_parts(&text, &schema, limits).unwrap(), 300_000);
}

#[test]
fn a_carriage_return_alone_ends_a_row_of_a_text_in_parts() {
    let schema = Schema::new([Field::new("a", Kind::U32)]).unwrap();
    let limits = Limits {
        bytes: 4 << 20,
        ..Limits::default()
    };
    // A carriage return is the last byte of a block, with and without a line feed behind it.
    for (ending, name) in [
        ("\r", "a"),
        ("\r", "\"a\""),
        ("\r\n", "a"),
        ("\r\n", "\"a\""),
    ] {
        let count = 1_500_000;
        let mut text = format!("{name}{ending}");
        (0..count).for_each(|row| text.push_str(&format!("{}{ending}", row % 1000)));
        assert!(text.len() as u64 > limits.bytes);
        assert_eq!(in_parts(text.as_bytes(), &schema, limits).unwrap(), count);
    }
    // A return within quotes is text; an error says its line.
    let text = format!("a\r{}\"1\r\"\rx\r", "7\r".repeat(600_000));
    let schema = Schema::new([Field::new("a", Kind::Text)]).unwrap();
    assert_eq!(in_parts(text.as_bytes(), &schema, limits).unwrap(), 600_002);
    let schema = Schema::new([Field::new("a", Kind::U32)]).unwrap();
    let error = in_parts(text.as_bytes(), &schema, limits).unwrap_err();
    assert!(
        matches!(
            error,
            DecodeError::Value {
                line: Some(600_002),
                ..
            }
        ),
        "{error}"
    );
}
