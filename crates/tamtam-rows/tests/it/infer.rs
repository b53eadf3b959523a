//! Types are found for what has none, and what was found reads all of it.

use std::io::{self, Read};

use tamtam_rows::encoding::{Text, TextReader};
use tamtam_rows::{DecodeError, Encoding, Field, Kind, Limits, Rows, Schema, Unit, Zone, infer};

fn inferred(text: &str) -> Vec<Field> {
    let schema = infer::text(text.as_bytes(), Text::HEADED, &Limits::default()).unwrap();
    // Whatever was found, it reads all of it.
    Text::HEADED
        .decode(text.as_bytes(), Some(&schema), &Limits::default())
        .unwrap_or_else(|error| panic!("{text:?} as {schema:?}: {error}"));
    schema.fields().to_vec()
}

fn kind(values: &[&str]) -> Kind {
    let fields = inferred(&format!(
        "x,id\n{}",
        values
            .iter()
            .map(|value| format!("{value},1\n"))
            .collect::<String>()
    ));
    assert_eq!(
        fields[0].is_nullable(),
        values.contains(&"") || values.is_empty(),
        "{values:?}"
    );
    fields[0].kind().clone()
}

fn decimal(precision: u8, scale: u8) -> Kind {
    Kind::Decimal { precision, scale }
}

#[test]
fn integers_get_the_smallest_width() {
    let expected: [(&[&str], Kind); 12] = [
        (&["0", "255"], Kind::U8),
        (&["0", "256"], Kind::U16),
        (&["65536", ""], Kind::U32),
        (&["4294967296"], Kind::U64),
        (&["18446744073709551615"], Kind::U64),
        (&["18446744073709551616"], decimal(20, 0)),
        (&["-1", "127"], Kind::I8),
        (&["-1", "128"], Kind::I16),
        (&["-32769"], Kind::I32),
        (&["-1", "2147483648"], Kind::I64),
        (&["-1", "18446744073709551615"], decimal(20, 0)),
        (&["\"5\"", "6"], Kind::U8),
    ];
    for (values, expected) in expected {
        assert_eq!(kind(values), expected, "{values:?}");
    }
}

#[test]
fn other_types_are_known_by_how_they_are_written() {
    let expected: [(&[&str], Kind); 33] = [
        (&["true", "False", "TRUE"], Kind::Bool),
        (&["true", "1"], Kind::Text),
        (&["1.50", "12.00", "-3"], decimal(4, 2)),
        (&["1.5", "12.25"], Kind::F64),
        (&["1.0", "2.0"], Kind::F64),
        (&["1.50", "1e3"], Kind::F64),
        (&["0.1234567890123", "1.0"], Kind::F64),
        (&["0.12345678901234567890"], decimal(21, 20)),
        (&["1.25", "NaN", "-inf"], Kind::F64),
        (&["1", "2", "0.5"], Kind::F64),
        (&["-0"], Kind::F64),
        (&["-0.00", "1.00"], Kind::F64),
        (&["NaN"], Kind::Text),
        (&["nan", "Infinity"], Kind::Text),
        (&["007", "12"], Kind::Text),
        (&["00.5"], Kind::Text),
        (&["0.50", "0"], decimal(3, 2)),
        (&["ff8800", "123456"], Kind::Text),
        (&["1e999"], Kind::Text),
        (&["+49", "5"], Kind::Text),
        (&["1", "x"], Kind::Text),
        (&["1", "\"\""], Kind::Text),
        (&["2024-02-29", "1969-12-31"], Kind::Date),
        (&["2024-02-30"], Kind::Text),
        (
            &["2024-02-29 12:00:00", "2024-02-29T12:00:00.5"],
            Kind::Timestamp(Unit::Millisecond, Zone::Local),
        ),
        (
            &["2024-02-29T12:00:00Z", "2024-02-29T12:00:00.000001+02:00"],
            Kind::Timestamp(Unit::Microsecond, Zone::Utc),
        ),
        (&["2024-02-29T12:00:00Z", "2024-02-29T12:00:00"], Kind::Text),
        (&["2024-02-29", "2024-02-29T12:00:00"], Kind::Text),
        (&["12:30", "-838:59:59"], Kind::Time(Unit::Second)),
        (&["12:30:00.123456789"], Kind::Time(Unit::Nanosecond)),
        (&["00112233-4455-6677-8899-aabbccddeeff"], Kind::Uuid),
        (&[], Kind::Text),
        (&["", ""], Kind::Text),
    ];
    for (values, expected) in expected {
        assert_eq!(kind(values), expected, "{values:?}");
    }
    let long = "9".repeat(39);
    assert_eq!(kind(&[&long]), Kind::Text);
}

#[test]
fn texts_without_names_get_some() {
    let schema = infer::text(&b"1,a\n300,\n"[..], Text::BARE, &Limits::default()).unwrap();
    assert_eq!(
        schema.fields(),
        [
            Field::new("column 1", Kind::U16),
            Field::nullable("column 2", Kind::Text)
        ]
    );
    let nothing = infer::text(io::empty(), Text::HEADED, &Limits::default()).unwrap();
    assert!(nothing.is_empty());
}

#[test]
fn what_is_no_table_is_said() {
    let said = |text: &[u8]| {
        infer::text(text, Text::HEADED, &Limits::default())
            .unwrap_err()
            .to_string()
    };
    assert!(said(b"a,b\n1,2\n1\n").ends_with("at byte 8: row 1 has 1 value, not 2 (line 3)"));
    assert!(said(b"a,b\n1,2,3\n").ends_with("row 0 has 3 values, not 2 (line 2)"));
    // Line breaks inside quotes make more lines than rows; so do empty lines.
    assert!(
        said(b"a,b\r\n\r\n\"1\r\n\n\",2\r1\r\n").ends_with("row 1 has 1 value, not 2 (line 6)")
    );
    assert!(
        said(b"a,b\n1,\"2\n")
            .ends_with("at byte 6: the quote that begins a field is not closed (line 2)")
    );
    assert!(said(b"a\n\xff\n").contains("at byte 2: line 2 is not UTF-8"));
    let narrow = Limits {
        columns: 1,
        ..Limits::default()
    };
    let error = infer::text(&b"a,b\n"[..], Text::HEADED, &narrow).unwrap_err();
    assert!(
        matches!(
            error,
            DecodeError::Limit {
                what: "columns",
                ..
            }
        ),
        "{error}"
    );
    // One row that never ends is not read into memory for ever.
    let few = Limits {
        bytes: 1 << 20,
        ..Limits::default()
    };
    let error = infer::text(io::repeat(b'x'), Text::HEADED, &few).unwrap_err();
    assert!(matches!(error, DecodeError::Limit { .. }), "{error}");
}

/// A reader that brings little at a time.
struct Drops<'a>(&'a [u8]);

impl Read for Drops<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = into.len().min(self.0.len()).min(7);
        into[..length].copy_from_slice(&self.0[..length]);
        self.0 = &self.0[length..];
        Ok(length)
    }
}

/// The error at which a reader of parts ends.
fn first_error(text: &str, schema: &Schema) -> DecodeError {
    let limits = Limits::default();
    let mut reader = TextReader::new(text.as_bytes(), Text::HEADED, schema, limits).unwrap();
    loop {
        match reader.next_chunk() {
            Ok(part) => assert!(part.is_some()),
            Err(error) => break error,
        }
    }
}

#[test]
fn a_text_larger_than_a_block_is_read_part_by_part() {
    let mut text = String::from("\u{feff}n,quoted,at\r\n");
    for row in 0..60_000 {
        text += &format!(
            "{row},\"a \"\"{row}\"\",\nsecond line\",2024-02-29T12:00:00.{:03}Z\r\n",
            row % 1_000
        );
    }
    let whole = {
        let schema = infer::text(text.as_bytes(), Text::HEADED, &Limits::default()).unwrap();
        assert_eq!(
            schema.fields(),
            [
                Field::new("n", Kind::U16),
                Field::new("quoted", Kind::Text),
                Field::new("at", Kind::Timestamp(Unit::Millisecond, Zone::Utc)),
            ]
        );
        assert_eq!(
            infer::text(Drops(text.as_bytes()), Text::HEADED, &Limits::default()).unwrap(),
            schema
        );
        Text::HEADED
            .decode(text.as_bytes(), Some(&schema), &Limits::default())
            .unwrap()
    };
    assert_eq!(whole.len(), 60_000);
    let mut reader = TextReader::new(
        Drops(text.as_bytes()),
        Text::HEADED,
        whole.schema(),
        Limits::default(),
    )
    .unwrap();
    let (mut rows, mut parts) = (0, 0);
    while let Some(part) = reader.next_chunk().unwrap() {
        assert_eq!(part, whole.part(rows..rows + part.len()));
        rows += part.len();
        parts += 1;
    }
    assert_eq!(rows, 60_000);
    assert!(parts > 2, "{parts} parts");

    // Errors count from the beginning of all.
    let at = text.len();
    text += "x,y,z\r\n";
    let error = first_error(&text, whole.schema());
    let last_line = text[..at].matches('\n').count() as u64 + 1;
    assert!(last_line > 100_000, "some texts have a line break inside");
    assert!(
        matches!(&error, DecodeError::Value { row: 60_000, line: Some(line), .. } if *line == last_line),
        "{error}, not in line {last_line}"
    );
    text.truncate(at);
    text += "1,2\r\n";
    let error = first_error(&text, whole.schema());
    assert!(
        error.to_string().contains(&format!("at byte {at}")),
        "{error}"
    );
    assert!(
        error.to_string().ends_with(&format!("(line {last_line})")),
        "{error}"
    );
}

#[test]
fn the_limit_on_rows_is_one_on_all_parts() {
    let text = "n\n".to_owned() + &"1\n".repeat(2_000_000);
    let schema = infer::text(text.as_bytes(), Text::HEADED, &Limits::default()).unwrap();
    let limits = Limits {
        rows: 1_500_000,
        ..Limits::default()
    };
    let mut reader = TextReader::new(text.as_bytes(), Text::HEADED, &schema, limits).unwrap();
    let mut rows = 0;
    let error = loop {
        match reader.next_chunk() {
            Ok(part) => rows += part.map_or(0, |part: Rows| part.len()),
            Err(error) => break error,
        }
    };
    assert!(rows > 0 && rows <= 1_500_000);
    assert!(
        matches!(
            error,
            DecodeError::Limit {
                what: "rows",
                declared: 1_500_001,
                ..
            }
        ),
        "{error}"
    );
}

#[cfg(feature = "json")]
mod json {
    use tamtam_rows::Value;

    use super::*;

    fn inferred(text: &str) -> (&'static str, Vec<Field>) {
        let (form, schema) = infer::json(text.as_bytes(), &Limits::default()).unwrap();
        form.decode(text.as_bytes(), Some(&schema), &Limits::default())
            .unwrap_or_else(|error| panic!("{text} as {schema:?}: {error}"));
        (form.name(), schema.fields().to_vec())
    }

    #[test]
    fn each_shape_is_known() {
        let expected = vec![
            Field::new("n", Kind::I16),
            Field::nullable("at", Kind::Timestamp(Unit::Second, Zone::Utc)),
            Field::new("yes", Kind::Bool),
            Field::new("s", Kind::Text),
        ];
        let objects = r#"[{"n":-1,"at":null,"yes":true,"s":"007"},{"s":"1","yes":false,"n":300,"at":"2024-02-29T12:00:00Z"}]"#;
        assert_eq!(inferred(objects), ("json-objects", expected.clone()));
        let arrays =
            r#"[["n","at","yes","s"],[-1,null,true,"007"],[300,"2024-02-29T12:00:00Z",false,"1"]]"#;
        assert_eq!(inferred(arrays), ("json-arrays", expected.clone()));
        let columns = r#"{"n":[-1,300],"at":[null,"2024-02-29T12:00:00Z"],"yes":[true,false],"s":["007","1"]}"#;
        assert_eq!(inferred(columns), ("json-columns", expected));
        assert_eq!(inferred("[]"), ("json-objects", vec![]));
        assert_eq!(inferred("{}"), ("json-columns", vec![]));
    }

    #[test]
    fn a_text_with_escapes_is_taken_for_what_it_means() {
        let text = r#"[{"day":"2024-02-29","s":"a\"b"},{"day":"2024\u002d03-01","s":"1"}]"#;
        let expected = vec![Field::new("day", Kind::Date), Field::new("s", Kind::Text)];
        assert_eq!(inferred(text), ("json-objects", expected));
    }

    #[test]
    fn columns_may_come_late_and_be_missing() {
        let text = r#"[{"a":1},{"b":2.5,"a":2},{"b":1,"c":18446744073709551615}]"#;
        let expected = vec![
            Field::nullable("a", Kind::U8),
            Field::nullable("b", Kind::F64),
            Field::nullable("c", Kind::U64),
        ];
        assert_eq!(inferred(text), ("json-objects", expected));
    }

    #[test]
    fn what_is_no_table_is_said() {
        let said = |text: &str| match infer::json(text.as_bytes(), &Limits::default()) {
            Ok(_) => panic!("{text} is taken for a table"),
            Err(error) => error.to_string(),
        };
        assert!(said(r#"[{"a":{"b":1}}]"#).starts_with(
            "json is nested: the value of column \"a\" in row 0 (line 1) is an array or an object"
        ));
        assert!(said("[{\"a\":1},\n{\"a\":[1]}]").contains("in row 1 (line 2)"));
        assert!(said("5").contains("expected an array of objects"));
        assert!(said("[1]").contains("expected an object, or the array of names"));
        assert!(said(r#"[["a"],{"a":1}]"#).contains("expected the array of a row"));
        assert!(said(r#"[["a"],[1,2]]"#).ends_with("row 0 has more than 1 value"));
        assert!(said("[{").contains("ends too early"));
    }

    #[test]
    fn a_column_of_mixed_values_is_text_as_they_are_written() {
        let text = r#"[{"a":1,"b":"x"},{"a":"x","b":2.50},{"a":true,"b":null},{"a":-5,"b":12345678901234567890123}]"#;
        let (form, schema) = infer::json(text.as_bytes(), &Limits::default()).unwrap();
        let rows = form
            .decode(text.as_bytes(), Some(&schema), &Limits::default())
            .unwrap();
        let column = |column| {
            (0..4)
                .map(|row| rows.value(row, column))
                .collect::<Vec<_>>()
        };
        let texts = |texts: [&'static str; 4]| texts.map(Value::Text);
        assert_eq!(column(0), texts(["1", "x", "true", "-5"]));
        let expected = [
            Value::Text("x"),
            Value::Text("2.50"),
            Value::Null,
            Value::Text("12345678901234567890123"),
        ];
        assert_eq!(column(1), expected);
    }

    #[test]
    fn values_are_the_same_by_both_ways() {
        let text = r#"[{"d":"12.50"},{"d":"3.25"}]"#;
        let (form, schema) = infer::json(text.as_bytes(), &Limits::default()).unwrap();
        let rows = form
            .decode(text.as_bytes(), Some(&schema), &Limits::default())
            .unwrap();
        assert_eq!(rows.value(0, 0), Value::Text("12.50"));
    }
}
