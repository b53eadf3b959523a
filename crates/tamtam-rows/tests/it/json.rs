//! JSON: what others write is read, what is written is JSON, and what cannot be read is said.

use tamtam_rows::encoding::{JsonArrays, JsonColumns, JsonObjects, JsonReader};
use tamtam_rows::{
    Column, DecodeError, Encoding, Field, Kind, Limits, NullTexts, Rows, Schema, Unit, Value, Zone,
};

use crate::support::all_values;

fn schema() -> Schema {
    Schema::new([
        Field::new("n", Kind::I64),
        Field::nullable("name", Kind::Text),
        Field::nullable("real", Kind::F32),
    ])
    .unwrap()
}

fn decode(form: &dyn Encoding, text: &str, schema: &Schema) -> Result<Rows, DecodeError> {
    form.decode(text.as_bytes(), Some(schema), &Limits::default())
}

fn rows() -> Rows {
    Rows::new(
        schema(),
        [
            Column::from(vec![i64::MIN, 9_007_199_254_740_993]),
            Column::from_iter([Some("a \"b\"\n\u{1} ä"), None]),
            Column::from(vec![Some(0.1_f32), None]),
        ],
    )
    .unwrap()
}

#[test]
fn what_is_written_is_json() {
    let expected = serde_json::json!({
        "arrays": [["n", "name", "real"], [i64::MIN, "a \"b\"\n\u{1} ä", 0.1], [9_007_199_254_740_993_i64, null, null]],
        "objects": [
            {"n": i64::MIN, "name": "a \"b\"\n\u{1} ä", "real": 0.1},
            {"n": 9_007_199_254_740_993_i64, "name": null, "real": null},
        ],
        "columns": {
            "n": [i64::MIN, 9_007_199_254_740_993_i64],
            "name": ["a \"b\"\n\u{1} ä", null],
            "real": [0.1, null],
        },
    });
    let forms: [(&str, &dyn Encoding); 3] = [
        ("arrays", &JsonArrays),
        ("objects", &JsonObjects),
        ("columns", &JsonColumns),
    ];
    for (name, form) in forms {
        let mut bytes = Vec::new();
        form.encode(&rows(), &mut bytes).unwrap();
        let found: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(found, expected[name], "{name}");
        let spaced = serde_json::to_string_pretty(&found).unwrap();
        assert_eq!(decode(form, &spaced, &schema()).unwrap(), rows(), "{name}");
    }
}

#[test]
fn other_writers_are_understood() {
    // Names in any order, escaped; what is missing is null.
    let text = r#" [ {"real": 1, "n": 5}, {"\u006eame": "\u00e4\ud83d\ude00\/", "n": -5, "real": 2.5e1} ] "#;
    let rows = decode(&JsonObjects, text, &schema()).unwrap();
    assert_eq!(
        all_values(&rows),
        [
            Value::Int(5),
            Value::Null,
            Value::F32(1.0),
            Value::Int(-5),
            Value::Text("ä😀/"),
            Value::F32(25.0)
        ]
    );
    // Numbers are taken where decimals are expected.
    let decimals = Schema::new([Field::new(
        "d",
        Kind::Decimal {
            precision: 6,
            scale: 2,
        },
    )])
    .unwrap();
    let rows = decode(&JsonColumns, r#"{"d": [12, "12.5", -1, 0.07]}"#, &decimals).unwrap();
    assert_eq!(
        rows.column("d").unwrap().slice::<i128>().unwrap(),
        [1200, 1250, -100, 7]
    );
    let mut bytes = Vec::new();
    JsonColumns.encode(&rows, &mut bytes).unwrap();
    assert_eq!(bytes, br#"{"d":[12.00,12.50,-1.00,0.07]}"#);
    decode(&JsonColumns, r#"{"d": [10000]}"#, &decimals).unwrap_err();
    decode(&JsonColumns, r#"{"d": [12.555]}"#, &decimals).unwrap_err();
    let moments =
        Schema::new([Field::new("at", Kind::Timestamp(Unit::Second, Zone::Utc))]).unwrap();
    let rows = decode(
        &JsonColumns,
        r#"{"at": ["1970-01-01T01:00:00+01:00"]}"#,
        &moments,
    )
    .unwrap();
    assert_eq!(rows.value(0, 0), Value::Timestamp(0));
}

#[test]
fn floats_are_rounded_once() {
    // Half way between two floats of 32 bits, and a little more than a float of 64 bits can tell.
    let text = r#"{"real": [1.000000059604644775390625, 1.00000005960464477539062500000001]}"#;
    let schema = Schema::new([Field::new("real", Kind::F32)]).unwrap();
    let rows = decode(&JsonColumns, text, &schema).unwrap();
    let found = rows.column("real").unwrap().slice::<f32>().unwrap();
    assert_eq!(found, [1.0, 1.000_000_1]);
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    let objects = |text: &str| {
        decode(&JsonObjects, text, &schema())
            .unwrap_err()
            .to_string()
    };
    let expected = [
        (
            "",
            "json-objects ends too early: more JSON is missing at byte 0",
        ),
        (
            r#"[{"n":1}"#,
            "json-objects ends too early: more JSON is missing at byte 8",
        ),
        (
            r#"[{"n":1}] x"#,
            "json-objects is damaged or is not json-objects at all, at byte 11: trailing characters",
        ),
        (
            r#"{"n":1}"#,
            "json-objects is damaged or is not json-objects at all, at byte 0: invalid type: map, expected an array of rows",
        ),
        (
            r#"[{"n":"1"}]"#,
            r#"json-objects: the value "1" in column "n", row 0 (line 1), is not of type i64"#,
        ),
        (
            r#"[{"n":1},{"n":9223372036854775808}]"#,
            r#"json-objects: the value 9223372036854775808 in column "n", row 1 (line 1), is not of type i64"#,
        ),
        (
            r#"[{"n":null}]"#,
            r#"json-objects: the value null in column "n", row 0 (line 1), is not of type i64"#,
        ),
        (
            r#"[{"n":1,"m":2}]"#,
            r#"json-objects holds another table than was asked for: it has a column "m", which the schema does not have"#,
        ),
        (
            r#"[{"name":"x"}]"#,
            r#"json-objects holds another table than was asked for: row 0 has no "n", a column without nulls"#,
        ),
        (
            r#"[{"n":1,"n":2}]"#,
            r#"json-objects is damaged or is not json-objects at all, at byte 11: row 0 has "n" twice"#,
        ),
        (
            "[{\"n\":1},\n\n{\"n\":[1]}]",
            "json-objects is nested: the value of column \"n\" in row 1 (line 3) is an array or an object, and tables are flat; make columns of its parts, or a text of it, first",
        ),
    ];
    for (text, expected) in expected {
        assert_eq!(objects(text), expected, "{text}");
    }
    let arrays = |text: &str| {
        decode(&JsonArrays, text, &schema())
            .unwrap_err()
            .to_string()
    };
    assert!(arrays("[]").ends_with("the array of names is missing"));
    assert!(arrays(r#"[["n"]]"#).ends_with("it has 1 column, not 3"));
    assert!(arrays(r#"[["n","name","real","x"]]"#).ends_with("it has more than 3 columns"));
    assert!(arrays(r#"[["n","name","real"],[1,null]]"#).ends_with("row 0 has 2 values, not 3"));
    assert!(
        arrays(r#"[["n","name","real"],[1,null,1,1]]"#).ends_with("row 0 has more than 3 values")
    );
    let columns = |text: &str| {
        decode(&JsonColumns, text, &schema())
            .unwrap_err()
            .to_string()
    };
    assert!(columns(r#"{"n":[1],"name":[]}"#).ends_with("has 0 rows where the first has 1"));
    assert!(columns(r#"{"n":[1],"n":[2]}"#).ends_with("is there twice"));
    assert!(columns(r#"{"n":[1]}"#).ends_with(r#"it has no column "name""#));
}

#[test]
fn what_has_no_number_is_refused() {
    let schema = Schema::new([Field::new("real", Kind::F64)]).unwrap();
    let rows = Rows::new(schema, [Column::from(vec![1.0, f64::NAN])]).unwrap();
    let error = JsonArrays.encode(&rows, &mut Vec::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "json-arrays cannot carry the value in column \"real\", row 1: JSON has no number for infinity or NaN; \
         use null, text, or a binary form"
    );
}

#[test]
fn a_number_beyond_all_floats_is_text_where_a_text_may_be() {
    let text = r#"[{"n": 1E400, "name": 1E400}]"#;
    let texts = Schema::new([
        Field::new("n", Kind::Text),
        Field::nullable("name", Kind::Text),
    ])
    .unwrap();
    let forms: [(&dyn Encoding, &str); 3] = [
        (&JsonObjects, text),
        (&JsonArrays, r#"[["n", "name"], [1E400, 1E400]]"#),
        (&JsonColumns, r#"{"n": [1E400], "name": [1E400]}"#),
    ];
    for (form, text) in forms {
        let rows = decode(form, text, &texts).unwrap();
        assert_eq!(rows.value(0, 0), Value::Text("1E400"));
    }
    let (_, schema) = tamtam_rows::infer::json(text.as_bytes(), &Limits::default()).unwrap();
    assert_eq!(decode(&JsonObjects, text, &schema).unwrap().len(), 1);
    let damaged = r#"[{"n": 1E400, "name": x}]"#;
    let error = decode(&JsonObjects, damaged, &texts)
        .unwrap_err()
        .to_string();
    assert!(error.contains("at byte 23: expected value"), "{error}");
}

#[test]
fn a_text_for_null_is_one_in_a_column_of_floats_of_32_bits() {
    let schema = Schema::new([Field::nullable("real", Kind::F32)]).unwrap();
    let text = r#"[{"real": "n/a"}, {"real": 0.1}, {"real": null}, {"real": -2}]"#;
    let reader = JsonReader::new(text.as_bytes(), &schema, Limits::default()).unwrap();
    let mut reader = reader.with_nulls(NullTexts::of(["n/a"]));
    let rows = reader.next_chunk().unwrap().unwrap();
    let found: Vec<_> = (0..4).map(|row| rows.value(row, 0)).collect();
    assert_eq!(
        found,
        [Value::Null, Value::F32(0.1), Value::Null, Value::F32(-2.0)]
    );
    let error = decode(&JsonObjects, r#"[{"real": 1e39}]"#, &schema).unwrap_err();
    assert!(matches!(error, DecodeError::Value { .. }), "{error}");
}
