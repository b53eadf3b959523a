//! MessagePack: what others write is read, and what cannot be read is said.

use tamtam_rows::encoding::MessagePack;
use tamtam_rows::{Column, DecodeError, Encoding, Field, Kind, Limits, Rows, Schema, Value};

use crate::support::all_values;

fn schema() -> Schema {
    Schema::new([Field::new("n", Kind::I32), Field::nullable("v", Kind::F64)]).unwrap()
}

fn decode(bytes: &[u8]) -> Result<Rows, DecodeError> {
    MessagePack.decode(bytes, Some(&schema()), &Limits::default())
}

#[test]
fn integers_take_the_fewest_bytes() {
    let schema = Schema::new([Field::new("n", Kind::I64)]).unwrap();
    let values = [
        0,
        127,
        128,
        256,
        65_536,
        1 << 32,
        -1,
        -32,
        -33,
        -129,
        -32_769,
        i64::MIN,
    ];
    let rows = Rows::new(schema, [Column::from(values.to_vec())]).unwrap();
    let mut bytes = Vec::new();
    MessagePack.encode(&rows, &mut bytes).unwrap();
    let expected: &[&[u8]] = &[
        b"\x9d\x91\xa1n",
        b"\x91\x00",
        b"\x91\x7f",
        b"\x91\xcc\x80",
        b"\x91\xcd\x01\x00",
        b"\x91\xce\x00\x01\x00\x00",
        b"\x91\xcf\x00\x00\x00\x01\x00\x00\x00\x00",
        b"\x91\xff",
        b"\x91\xe0",
        b"\x91\xd0\xdf",
        b"\x91\xd1\xff\x7f",
        b"\x91\xd2\xff\xff\x7f\xff",
        b"\x91\xd3\x80\x00\x00\x00\x00\x00\x00\x00",
    ];
    assert_eq!(bytes, expected.concat());
}

#[test]
fn longer_markers_than_needed_are_taken() {
    // Lengths and numbers in the widest form that MessagePack has for them.
    let bytes = b"\xdd\x00\x00\x00\x03\xdc\x00\x02\xd9\x01n\xdb\x00\x00\x00\x01v\
        \x92\xd3\x00\x00\x00\x00\x00\x00\x00\x05\xca\x3f\x80\x00\x00\
        \xdc\x00\x02\xcf\x00\x00\x00\x00\x00\x00\x00\x06\x07";
    let rows = decode(bytes).unwrap();
    assert_eq!(
        all_values(&rows),
        [
            Value::Int(5),
            Value::F64(1.0),
            Value::Int(6),
            Value::F64(7.0)
        ]
    );
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    let expected: [(&[u8], &str); 9] = [
        (
            b"",
            "message-pack ends too early: a value is missing at byte 0",
        ),
        (
            b"\xc0",
            "message-pack is damaged or is not message-pack at all, at byte 0: Null stands where the array of names and rows is expected",
        ),
        (
            b"\x90",
            "message-pack is damaged or is not message-pack at all, at byte 1: the array of names is missing",
        ),
        (
            b"\x91\x91\xa1n",
            "message-pack holds another table than was asked for: it has 1 columns, not 2",
        ),
        (
            b"\x91\x92\xa1n\xa1w",
            "message-pack holds another table than was asked for: column 1 is called \"w\", not \"v\"",
        ),
        (
            b"\x92\x92\xa1n\xa1v\x91\x01",
            "message-pack is damaged or is not message-pack at all, at byte 7: row 0 has 1 values, not 2",
        ),
        (
            b"\x92\x92\xa1n\xa1v\x92\xa11\xc0",
            "message-pack: the value of marker FixStr(1) in column \"n\", row 0, is not of type i32",
        ),
        (
            b"\x91\x92\xa1n\xa1v\x00",
            "message-pack is damaged or is not message-pack at all, at byte 6: more bytes follow",
        ),
        (
            b"\xdd\xff\xff\xff\xff\x92\xa1n\xa1v",
            "message-pack declares 4294967294 rows, more than the limit of 100000000; raise the limit if its sender is trusted",
        ),
    ];
    for (bytes, expected) in expected {
        assert_eq!(
            decode(bytes).unwrap_err().to_string(),
            expected,
            "{bytes:?}"
        );
    }
}

#[test]
fn an_integer_that_no_float_holds_is_refused_by_a_column_of_floats() {
    let decoded = |kind: Kind, integer: i64| {
        // [["a"], [integer]]
        let mut bytes = vec![0x92, 0x91, 0xa1, b'a', 0x91, 0xd3];
        bytes.extend_from_slice(&integer.to_be_bytes());
        let schema = Schema::new([Field::new("a", kind)]).unwrap();
        MessagePack.decode(&bytes, Some(&schema), &Limits::default())
    };
    for integer in [0, 1 << 53, -(1 << 53), i64::MIN, 12_000_000_000_000_000] {
        assert_eq!(
            decoded(Kind::F64, integer).unwrap().value(0, 0),
            Value::F64(integer as f64)
        );
    }
    for integer in [(1 << 53) + 1, -(1 << 53) - 1, i64::MAX] {
        let error = decoded(Kind::F64, integer).unwrap_err();
        assert!(
            matches!(error, DecodeError::Value { row: 0, .. }),
            "{error}"
        );
    }
    assert_eq!(
        decoded(Kind::F32, 1 << 24).unwrap().value(0, 0),
        Value::F32(16_777_216.0)
    );
    assert!(decoded(Kind::F32, (1 << 24) + 1).is_err());
}
