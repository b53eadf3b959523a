//! Texts that stand for nulls, types that are told, and what is said about columns that are text.

use tamtam_rows::encoding::{Text, TextReader};
use tamtam_rows::infer::{About, Inferred, Options};
use tamtam_rows::{DecodeError, Field, Kind, Limits, NullTexts, Rows, Value};

fn look(text: &str, options: &Options) -> Inferred {
    options.text(text.as_bytes(), Text::HEADED).unwrap()
}

fn read(text: &str, options: &Options) -> Rows {
    let found = look(text, options);
    TextReader::new(
        text.as_bytes(),
        Text::HEADED,
        &found.schema,
        Limits::default(),
    )
    .unwrap()
    .with_nulls(options.nulls.clone())
    .next_chunk()
    .unwrap()
    .unwrap()
}

fn nulls(texts: &[&str]) -> Options {
    Options {
        nulls: NullTexts::of(texts.iter().copied()),
        ..Options::default()
    }
}

#[test]
fn the_usual_texts_are_nulls_where_the_column_cannot_hold_them() {
    let text = "mass,real,price,day,yes,sex,none\n\
                3750,nan,0.50,2024-02-29,true,MALE,NA\n\
                NA,1.5,NULL,\\N,N/A,NA,\n\
                \"NA\",NA,12.25,None,false,,nan\n";
    let rows = read(text, &Options::default());
    let expected = [
        Field::nullable("mass", Kind::U16),
        Field::nullable("real", Kind::F64),
        Field::nullable(
            "price",
            Kind::Decimal {
                precision: 4,
                scale: 2,
            },
        ),
        Field::nullable("day", Kind::Date),
        Field::nullable("yes", Kind::Bool),
        Field::nullable("sex", Kind::Text),
        Field::nullable("none", Kind::Text),
    ];
    assert_eq!(rows.schema().fields(), expected);
    let is_null = |row: usize| {
        (0..7)
            .map(|column| rows.columns()[column].is_null(row))
            .collect::<Vec<_>>()
    };
    assert_eq!(is_null(0), [false; 7]);
    assert_eq!(is_null(1), [true, false, true, true, true, false, true]);
    assert_eq!(is_null(2), [true, true, false, true, false, true, false]);
    // A float that is not a number is one; a text is a text.
    assert!(matches!(rows.value(0, 1), Value::F64(value) if value.is_nan()));
    assert_eq!(rows.value(1, 5), Value::Text("NA"));
}

#[test]
fn without_any_the_texts_stay_texts() {
    let options = Options {
        nulls: NullTexts::NONE,
        ..Options::default()
    };
    let found = look("n\n1\nNA\n", &options);
    assert_eq!(found.schema.fields(), [Field::new("n", Kind::Text)]);
    assert_eq!(found.remarks.len(), 1);
}

#[test]
fn texts_of_ones_own_are_nulls_everywhere_also_where_they_are_numbers() {
    let text = "n,name\n5,NA\n-999,-999\n\"-999\",\"-999\"\nNA,x\n";
    let rows = read(text, &nulls(&["-999", "NA"]));
    let expected = [
        Field::nullable("n", Kind::U8),
        Field::nullable("name", Kind::Text),
    ];
    assert_eq!(rows.schema().fields(), expected);
    let of = |row| (rows.value(row, 0), rows.value(row, 1));
    assert_eq!(of(0), (Value::Unsigned(5), Value::Null));
    assert_eq!(of(1), (Value::Null, Value::Null));
    assert_eq!(of(2), (Value::Null, Value::Text("-999")));
    assert_eq!(of(3), (Value::Null, Value::Text("x")));
    // The empty text in quotes may be one, too.
    let rows = read("n\n1\n\"\"\n", &nulls(&[""]));
    assert_eq!(rows.value(1, 0), Value::Null);
}

#[test]
fn a_type_that_is_told_is_taken_and_what_does_not_fit_it_is_an_error() {
    let told = |kind: Kind| Options {
        types: vec![("n".into(), kind)],
        ..Options::default()
    };
    assert_eq!(
        read("n\n007\n", &told(Kind::U32)).value(0, 0),
        Value::Unsigned(7)
    );
    assert_eq!(
        read("n\n7\nNA\n", &told(Kind::Text)).value(1, 0),
        Value::Text("NA")
    );
    assert_eq!(
        read("n\n7\nNA\n", &told(Kind::F64)).value(1, 0),
        Value::Null
    );
    let options = told(Kind::U8);
    let text = "n\n1\n\n300\n";
    let schema = look(text, &options).schema;
    assert_eq!(schema.fields(), [Field::nullable("n", Kind::U8)]);
    let mut reader =
        TextReader::new(text.as_bytes(), Text::HEADED, &schema, Limits::default()).unwrap();
    let error = reader.next_chunk().unwrap_err();
    assert!(
        matches!(error, DecodeError::Value { line: Some(4), .. }),
        "{error}"
    );
    let error = options.text(&b"m\n1\n"[..], Text::HEADED).unwrap_err();
    assert!(error.to_string().contains("no column \"n\""), "{error}");
}

#[test]
fn what_keeps_a_column_from_being_numbers_is_said() {
    let text = "a,b,c\n1,0.5,x\n\"two\n\",9007199254740993,y\n3,1e3,NA\n4,2,1\n?,1,2\n";
    let found = look(text, &Options::default());
    let said: Vec<String> = found.remarks.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            r#"column "a" is text, and would be u8 but for 2 values such as "two\n", "?" (the first in line 3)"#,
            r#"column "b" is text: no type of numbers has all digits of "9007199254740993" in line 4"#,
            r#"column "c" is text, and so is "NA" in line 5"#,
            r#"column "c" is text, and would be u8 but for 2 values such as "x", "y" (the first in line 2)"#,
        ]
    );
    let found = look("n\n1\nNA\nNA\n", &Options::default());
    assert_eq!(found.remarks[0].about, About::ReadAsNull(Kind::U8));
    assert_eq!(found.remarks[0].count, 2);
    assert_eq!(found.remarks[0].line, 3);
}

#[test]
fn a_part_of_a_text_may_be_enough() {
    let text = "n\n".to_owned() + &"1\n".repeat(2_000_000) + "x\n";
    let options = Options {
        rows: 1_000,
        ..Options::default()
    };
    let found = look(&text, &options);
    assert_eq!(found.schema.fields(), [Field::new("n", Kind::U8)]);
    // What was looked at is read, and holds more rows than were asked for.
    let mut reader = TextReader::new(
        text.as_bytes(),
        Text::HEADED,
        &found.schema,
        Limits::default(),
    )
    .unwrap();
    assert!(reader.next_chunk().unwrap().unwrap().len() > 1_000);
}

#[cfg(feature = "json")]
mod json {
    use tamtam_rows::encoding::JsonReader;

    use super::*;

    fn read(text: &str, options: &Options) -> Result<Rows, DecodeError> {
        let found = options.json(text.as_bytes())?;
        let reader = JsonReader::new(text.as_bytes(), &found.schema, Limits::default())?;
        Ok(reader
            .with_nulls(options.nulls.clone())
            .next_chunk()?
            .unwrap())
    }

    #[test]
    fn texts_for_nulls_and_types_are_those_of_delimited_text() {
        let text = "{\"n\":1,\"s\":\"NA\"}\n{\"n\":\"NA\",\"s\":\"x\"}\n{\"n\":-999,\"s\":\"\"}\n";
        let rows = read(text, &Options::default()).unwrap();
        let expected = [Field::nullable("n", Kind::I16), Field::new("s", Kind::Text)];
        assert_eq!(rows.schema().fields(), expected);
        assert_eq!(rows.value(1, 0), Value::Null);
        let rows = read(text, &nulls(&["NA", "-999"])).unwrap();
        let expected = [
            Field::nullable("n", Kind::U8),
            Field::nullable("s", Kind::Text),
        ];
        assert_eq!(rows.schema().fields(), expected);
        assert_eq!(rows.value(2, 0), Value::Null);
        assert_eq!(rows.value(0, 1), Value::Null);
        let options = Options {
            types: vec![("n".into(), Kind::Text)],
            ..Options::default()
        };
        assert_eq!(
            read(text, &options).unwrap().value(2, 0),
            Value::Text("-999")
        );
    }

    #[test]
    fn remarks_and_errors_name_the_line() {
        let text = "\n{\"n\":1}\n\n{\"n\":\"x\"}\r\n{\"n\":2}\n";
        let found = Options::default().json(text.as_bytes()).unwrap();
        assert_eq!((found.remarks[0].count, found.remarks[0].line), (1, 4));
        let said = |text: &str, kind: Kind| {
            let options = Options {
                types: vec![("n".into(), kind)],
                ..Options::default()
            };
            read(text, &options).unwrap_err().to_string()
        };
        assert!(
            said(text, Kind::U8).contains("row 1 (line 4)"),
            "{}",
            said(text, Kind::U8)
        );
        let nested = said("{\"n\":1}\n{\"n\":{\"m\":2}}\n", Kind::U8);
        assert!(
            nested.contains("nested") && nested.contains("(line 2)"),
            "{nested}"
        );
        let damaged = said("{\"n\":1}\n{\"n\":1}\n{\"n\":tru}\n", Kind::U8);
        assert!(
            damaged.contains("at byte 25") && damaged.ends_with("(line 3)"),
            "{damaged}"
        );
        let damaged = said("[{\"n\":1},\n{\"n\":1},\n{\"n\":tru}]\n", Kind::U8);
        assert!(damaged.ends_with("(line 3)"), "{damaged}");
        let damaged = said("{\"n\":1}\n}\n", Kind::U8);
        assert!(damaged.ends_with("(line 2)"), "{damaged}");
    }
}
