//! No digit is lost in silence: a type that was found for texts holds each of them, or they stay text.

use tamtam_rows::encoding::Text;
use tamtam_rows::{Encoding, Kind, Limits, Rows, Value, infer};

fn read(values: &[&str]) -> Rows {
    let lines: String = values.iter().map(|value| format!("{value},1\n")).collect();
    let text = format!("x,id\n{lines}");
    let schema = infer::text(text.as_bytes(), Text::HEADED, &Limits::default()).unwrap();
    Text::HEADED
        .decode(text.as_bytes(), Some(&schema), &Limits::default())
        .unwrap_or_else(|error| panic!("{text:?} as {schema:?}: {error}"))
}

fn kind(values: &[&str]) -> Kind {
    read(values).schema().fields()[0].kind().clone()
}

fn decimal(precision: u8, scale: u8) -> Kind {
    Kind::Decimal { precision, scale }
}

#[test]
fn an_integer_beyond_the_digits_of_a_float_beside_a_fraction_is_a_decimal() {
    let rows = read(&["9007199254740993", "0.5"]);
    assert_eq!(*rows.schema().fields()[0].kind(), decimal(17, 1));
    assert_eq!(rows.value(0, 0), Value::Decimal(90_071_992_547_409_930));
    // One less is a float, too.
    assert_eq!(kind(&["9007199254740992", "0.5"]), Kind::F64);
    assert_eq!(kind(&["9007199254740993", "0.5", "0.125"]), decimal(19, 3));
}

#[test]
fn what_no_number_holds_stays_text() {
    let long = "9".repeat(39);
    let fraction = format!("0.{}", "1234567890".repeat(4));
    let cases: [&[&str]; 9] = [
        &["9007199254740993", "1e3"],
        &["9007199254740993", "NaN"],
        &["9007199254740993", "-0"],
        &[&long, "0.5"],
        &[&fraction],
        &["1e-400", "1"],
        &["1e400", "1"],
        &["007e2", "1"],
        &["1.00000000000000000000001", "1e0"],
    ];
    for values in cases {
        let rows = read(values);
        assert_eq!(*rows.schema().fields()[0].kind(), Kind::Text, "{values:?}");
        for (row, value) in values.iter().enumerate() {
            assert_eq!(rows.value(row, 0), Value::Text(value));
        }
    }
}

#[test]
fn a_float_that_was_written_with_all_its_digits_is_a_float() {
    // The shortest that mean the same, those of %.17g, and those of an integer that is exact.
    for values in [
        ["0.1", "0.30000000000000004"],
        ["0.10000000000000001", "0.5"],
        ["4.9406564584124654e-324", "1.7976931348623157e308"],
        ["1180591620717411303424", "1e0"],
        ["5e-324", "2.2250738585072014E-308"],
        [".5", "5."],
        ["-0.0", "1"],
        [
            "100000000000000000000000e-23",
            "0.00000000000000000000000000001",
        ],
    ] {
        assert_eq!(kind(&values), Kind::F64, "{values:?}");
    }
}

#[test]
fn a_time_finer_than_a_nanosecond_stays_text() {
    assert_eq!(kind(&["2024-02-29T12:00:00.1234567891Z"]), Kind::Text);
    assert_eq!(kind(&["12:00:00.1234567891"]), Kind::Text);
    // Too far away for nanoseconds, which another row has.
    let values = ["9999-12-31T00:00:00", "2024-02-29T12:00:00.123456789"];
    assert_eq!(kind(&values), Kind::Text);
}

#[cfg(feature = "json")]
mod json {
    use super::*;

    fn read(values: &[&str]) -> Rows {
        let text = format!(r#"{{"x":[{}]}}"#, values.join(","));
        let (form, schema) = infer::json(text.as_bytes(), &Limits::default()).unwrap();
        form.decode(text.as_bytes(), Some(&schema), &Limits::default())
            .unwrap_or_else(|error| panic!("{text:?} as {schema:?}: {error}"))
    }

    #[test]
    fn integers_of_23_digits_keep_them() {
        let rows = read(&["12345678901234567890123", "1"]);
        assert_eq!(*rows.schema().fields()[0].kind(), decimal(23, 0));
        assert_eq!(
            rows.value(0, 0),
            Value::Decimal(12_345_678_901_234_567_890_123)
        );
        let rows = read(&["-12345678901234567890123", "0.5"]);
        assert_eq!(
            rows.value(0, 0),
            Value::Decimal(-123_456_789_012_345_678_901_230)
        );
        let rows = read(&["0.12345678901234567890123", "1e0"]);
        assert_eq!(rows.value(0, 0), Value::Text("0.12345678901234567890123"));
    }
}
