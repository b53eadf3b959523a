//! Plain tables read in place: every value is what a decoder makes of it, nothing is copied that need not be, and bytes
//! that are damaged or of another mode are refused.

use proptest::prelude::*;
use tamtam_rows::packed::{self, InPlace, Mode, ROWS_PER_CHUNK, View};
use tamtam_rows::{
    Column, DecodeError, Field, Kind, Limits, Rows, Schema, Unit, Value, Values, Zone,
};

/// Bytes at a multiple of 8, behind `shift` others.
struct Shifted {
    words: Vec<u64>,
    shift: usize,
    length: usize,
}

impl Shifted {
    fn new(bytes: &[u8], shift: usize) -> Shifted {
        let mut words = vec![0_u64; (shift + bytes.len()).div_ceil(8)];
        bytemuck::cast_slice_mut(&mut words)[shift..shift + bytes.len()].copy_from_slice(bytes);
        Shifted {
            words,
            shift,
            length: bytes.len(),
        }
    }

    fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[self.shift..self.shift + self.length]
    }
}

fn encoded(rows: &Rows, mode: Mode) -> Vec<u8> {
    let mut bytes = Vec::new();
    packed::encode(rows, mode, &mut bytes).unwrap();
    bytes
}

/// Equal, a NaN to a NaN and a zero only to one of the same sign.
fn same(one: Value<'_>, other: Value<'_>) -> bool {
    match (one, other) {
        (Value::F32(one), Value::F32(other)) => one.to_bits() == other.to_bits(),
        (Value::F64(one), Value::F64(other)) => one.to_bits() == other.to_bits(),
        _ => one == other,
    }
}

fn check(view: &View<'_>, rows: &Rows) {
    assert_eq!(view.schema(), rows.schema());
    assert_eq!(view.len(), rows.len() as u64);
    assert_eq!(view.is_empty(), rows.is_empty());
    let mut start = 0;
    for chunk in view.chunks() {
        assert_eq!(chunk.columns().len(), rows.schema().len());
        for (index, column) in chunk.columns().iter().enumerate() {
            assert_eq!(column.len(), chunk.len());
            assert_eq!(column.kind(), rows.schema().fields()[index].kind());
            for row in 0..chunk.len() {
                let (found, sent) = (column.value(row), rows.value(start + row, index));
                assert!(same(found, sent), "{found:?} is not {sent:?}");
                let text = match sent {
                    Value::Text(text) => Some(text),
                    _ => None,
                };
                let bytes = match sent {
                    Value::Bytes(bytes) => Some(bytes),
                    _ => None,
                };
                assert_eq!((column.text(row), column.bytes(row)), (text, bytes));
                assert_eq!(column.is_null(row), sent.is_null());
            }
        }
        start += chunk.len();
    }
    assert_eq!(start, rows.len());
}

/// A few columns of every type, with and without nulls.
fn every_type(rows: usize) -> Rows {
    let numbers = || 0..rows as i64;
    let columns = [
        (
            Kind::Bool,
            Values::Bool(numbers().map(|n| n % 3 == 0).collect()),
        ),
        (Kind::I8, Values::I8(numbers().map(|n| n as i8).collect())),
        (
            Kind::I16,
            Values::I16(numbers().map(|n| (n * 7919) as i16).collect()),
        ),
        (
            Kind::I32,
            Values::I32(numbers().map(|n| -n as i32).collect()),
        ),
        (
            Kind::I64,
            Values::I64(numbers().map(|n| i64::MIN + n).collect()),
        ),
        (Kind::U8, Values::U8(numbers().map(|n| n as u8).collect())),
        (
            Kind::U16,
            Values::U16(numbers().map(|n| n as u16).collect()),
        ),
        (
            Kind::U32,
            Values::U32(numbers().map(|n| u32::MAX - n as u32).collect()),
        ),
        (
            Kind::U64,
            Values::U64(numbers().map(|n| u64::MAX - n as u64).collect()),
        ),
        (
            Kind::F32,
            Values::F32(numbers().map(|n| n as f32 / 7.0).collect()),
        ),
        (
            Kind::F64,
            Values::F64(numbers().map(|n| (n as f64).sqrt()).collect()),
        ),
        (
            Kind::Decimal {
                precision: 9,
                scale: 2,
            },
            Values::I128(numbers().map(|n| i128::from(n) * 50).collect()),
        ),
        (
            Kind::Decimal {
                precision: 38,
                scale: 0,
            },
            Values::I128(numbers().map(|n| 10_i128.pow(37) - i128::from(n)).collect()),
        ),
        (
            Kind::Date,
            Values::I32(numbers().map(|n| n as i32).collect()),
        ),
        (
            Kind::Time(Unit::Millisecond),
            Values::I64(numbers().collect()),
        ),
        (
            Kind::Timestamp(Unit::Second, Zone::Named("Asia/Tokyo".into())),
            Values::I64(numbers().collect()),
        ),
        (
            Kind::Uuid,
            Values::Uuid(numbers().map(|n| [n as u8; 16]).collect()),
        ),
        (
            Kind::Text,
            Values::Text(numbers().map(|n| "ä😀b".repeat((n % 4) as usize)).collect()),
        ),
        (
            Kind::Text,
            Values::Text(numbers().map(|n| format!("{n:06x}")).collect()),
        ),
        (
            Kind::Bytes,
            Values::Bytes(numbers().map(|n| vec![0xff; (n % 3) as usize]).collect()),
        ),
    ];
    let nulls = || (0..rows).map(|row| row % 3 == 1).collect();
    let mut fields = Vec::new();
    let mut all = Vec::new();
    for (index, (kind, values)) in columns.into_iter().enumerate() {
        fields.push(Field::new(format!("c{index}"), kind.clone()));
        all.push(Column::new(values.clone()));
        fields.push(Field::nullable(format!("n{index}"), kind));
        all.push(Column::with_nulls(values, nulls()).unwrap());
    }
    Rows::new(Schema::new(fields).unwrap(), all).unwrap()
}

#[test]
fn each_type_is_read_in_place() {
    for count in [0, 1, 2, 9, 200] {
        let rows = every_type(count);
        let bytes = Shifted::new(&encoded(&rows, Mode::Plain), 0);
        let view = View::new(bytes.bytes(), &Limits::default()).unwrap();
        check(&view, &rows);
        assert_eq!(view.is_in_place(), cfg!(target_endian = "little"));
    }
}

#[test]
fn bytes_that_are_not_aligned_give_the_same_values() {
    let rows = every_type(50);
    let encoded = encoded(&rows, Mode::Plain);
    for shift in 1..8 {
        let bytes = Shifted::new(&encoded, shift);
        let view = View::new(bytes.bytes(), &Limits::default()).unwrap();
        check(&view, &rows);
        assert!(!view.is_in_place());
    }
    // What is copied is within the limit on bytes.
    let bytes = Shifted::new(&encoded, 1);
    let columns = rows.schema().len() as u64;
    let few = Limits {
        bytes: columns * 200,
        ..Limits::default()
    };
    let error = View::new(bytes.bytes(), &few).unwrap_err();
    assert!(
        matches!(error, DecodeError::Limit { what: "bytes", .. }),
        "{error}"
    );
    View::new(Shifted::new(&encoded, 0).bytes(), &few).unwrap();
}

/// The values of a column, which must lie inside these bytes.
fn joined<T: InPlace>(view: &View<'_>, name: &str, bytes: &[u8]) -> Vec<T> {
    let mut all = Vec::new();
    for chunk in view.chunks() {
        let values = chunk.column(name).unwrap().slice::<T>().unwrap();
        assert!(
            bytes.as_ptr_range().contains(&values.as_ptr().cast()),
            "they were copied"
        );
        all.extend_from_slice(values);
    }
    all
}

#[test]
#[cfg(target_endian = "little")]
fn slices_lie_in_the_bytes_chunk_by_chunk() {
    let count = ROWS_PER_CHUNK + 5;
    let schema = Schema::new([
        Field::new("n", Kind::U16),
        Field::new("x", Kind::F64),
        Field::new("id", Kind::Uuid),
        Field::nullable("is", Kind::Bool),
        Field::new(
            "price",
            Kind::Decimal {
                precision: 5,
                scale: 2,
            },
        ),
    ])
    .unwrap();
    let numbers: Vec<u16> = (0..count).map(|row| (row % 60_000) as u16).collect();
    let reals: Vec<f64> = (0..count).map(|row| row as f64 / 3.0).collect();
    let ids: Vec<[u8; 16]> = (0..count).map(|row| [row as u8; 16]).collect();
    let is: Vec<Option<bool>> = (0..count)
        .map(|row| (row % 5 > 0).then_some(row % 2 == 0))
        .collect();
    let prices: Vec<i128> = (0..count).map(|row| row as i128 % 100_000).collect();
    let columns = [
        Column::from(numbers.clone()),
        Column::from(reals.clone()),
        Column::from(ids.clone()),
        Column::from(is.clone()),
        Column::from(prices.clone()),
    ];
    let rows = Rows::new(schema, columns).unwrap();
    let held = Shifted::new(&encoded(&rows, Mode::Plain), 0);
    let bytes = held.bytes();
    let view = View::new(bytes, &Limits::default()).unwrap();
    let lengths: Vec<usize> = view.chunks().map(|chunk| chunk.len()).collect();
    assert_eq!(lengths, [ROWS_PER_CHUNK, 5]);
    assert_eq!(joined::<u16>(&view, "n", bytes), numbers);
    assert_eq!(joined::<f64>(&view, "x", bytes), reals);
    assert_eq!(joined::<[u8; 16]>(&view, "id", bytes), ids);
    let narrow = joined::<i64>(&view, "price", bytes);
    assert!(narrow.into_iter().map(i128::from).eq(prices));
    let last = view.chunks().nth(1).unwrap();
    let truth = last.column("is").unwrap();
    let bit = |bits: &[u8], row: usize| bits[0] >> row & 1 == 1;
    for row in 0..5 {
        let sent = is[ROWS_PER_CHUNK + row];
        assert_eq!(bit(truth.nulls().unwrap(), row), sent.is_none());
        assert_eq!(bit(truth.bits().unwrap(), row), sent.unwrap_or_default());
    }
    // Another type than the column has, and no such column.
    assert!(last.column("n").unwrap().slice::<i16>().is_none());
    assert!(last.column("x").unwrap().bits().is_none());
    assert!(last.column("none").is_none());
    let first = view.chunks().next().unwrap();
    assert!(first.column("n").unwrap().nulls().is_none());
}

#[test]
fn other_modes_are_refused_by_name() {
    let schema = Schema::new([
        Field::nullable("plain", Kind::U8),
        Field::new("n", Kind::U32),
    ]);
    let rows = Rows::new(
        schema.unwrap(),
        [
            Column::from(vec![Some(1_u8), None, Some(200)]),
            Column::from(vec![1_u32, 2, 4]),
        ],
    )
    .unwrap();
    for mode in [Mode::Packed, Mode::Small] {
        let error = View::new(&encoded(&rows, mode), &Limits::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "packed: the column \"plain\" is coded in chunk 0 and cannot be read in place; \
             write the table in the mode Plain, or decode it"
        );
    }
    let error = View::new(b"n,name\n", &Limits::default()).unwrap_err();
    assert!(matches!(error, DecodeError::Malformed { .. }), "{error}");
}

/// Opens what may be damaged. If that goes well, a decoder finds the same table.
fn open(bytes: &[u8], about: &str) {
    let Ok(view) = View::new(bytes, &Limits::default()) else {
        return;
    };
    let rows = packed::decode(bytes, &Limits::default());
    check(
        &view,
        &rows.unwrap_or_else(|error| panic!("{about}: {error}")),
    );
}

/// Where the body of the first chunk begins.
fn body(bytes: &[u8]) -> usize {
    let (mut at, mut length, mut shift) = (4, 0, 0);
    loop {
        length |= usize::from(bytes[at] & 127) << shift;
        shift += 7;
        at += 1;
        if bytes[at - 1] < 128 {
            break;
        }
    }
    // Checksum and schema; the length of the chunk, in five bytes, and its checksum.
    at + 4 + length + 5 + 4
}

#[test]
fn cut_and_changed_bytes_do_no_harm() {
    let whole = encoded(&every_type(3), Mode::Plain);
    for length in 0..whole.len() {
        View::new(&whole[..length], &Limits::default()).unwrap_err();
    }
    View::new(&[&whole[..], b"x"].concat(), &Limits::default()).unwrap_err();
    // Its checksum tells any change of one byte.
    for at in 0..whole.len() {
        for change in [1, 128] {
            let mut bytes = whole.clone();
            bytes[at] ^= change;
            open(&bytes, &format!("byte {at} changed by {change}"));
        }
    }
    // Beyond the checksum.
    let start = body(&whole);
    // The end: its length and its checksum, no rows, and how many there were.
    let end = whole.len() - 7;
    let mut accepted = 0;
    for at in start..end {
        for change in [1, 8, 128, 255] {
            let mut bytes = whole.clone();
            bytes[at] ^= change;
            let checksum = crc32c::crc32c(&bytes[start..end]);
            bytes[start - 4..start].copy_from_slice(&checksum.to_le_bytes());
            open(
                &bytes,
                &format!("byte {at} of the body changed by {change}"),
            );
            accepted += usize::from(View::new(&bytes, &Limits::default()).is_ok());
        }
    }
    // Values may be any; so the checksum was right.
    assert!(accepted > 1_000, "{accepted}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_table_is_read_in_place(rows in crate::any_rows::any_rows(), shift in 0_usize..8) {
        let bytes = Shifted::new(&encoded(&rows, Mode::Plain), shift);
        let view = View::new(bytes.bytes(), &Limits::default()).unwrap();
        check(&view, &rows);
    }
}
