//! What the targets of the forms of rows share: the tables that they expect, and what is asked of a form.

use std::sync::LazyLock;

use tamtam_rows::{Column, Encoding, Field, Kind, Limits, Rows, Schema, Unit, Values, Zone};

/// Small enough to be reached.
pub const LIMITS: Limits = Limits {
    bytes: 1 << 20,
    rows: 10_000,
    columns: 64,
};

/// Small tables: one of every type, the article's, one of texts alone; and the first two without rows.
pub fn tables() -> Vec<(&'static str, Rows)> {
    let every = every_type();
    let tiles = tiles();
    vec![
        ("every-type", every.clone()),
        ("tiles", tiles.clone()),
        ("texts", texts()),
        ("every-type-empty", every.part(0..0)),
        ("tiles-empty", tiles.part(0..0)),
    ]
}

/// The columns that the bytes behind this first byte are read as.
pub fn schema(first: u8) -> Schema {
    // Made once: a fuzzer asks often.
    static SCHEMAS: LazyLock<Vec<Schema>> = LazyLock::new(|| {
        let schema = |(_, rows): (_, Rows)| rows.schema().clone();
        tables().into_iter().map(schema).collect()
    });
    SCHEMAS[usize::from(first) % SCHEMAS.len()].clone()
}

fn every_type() -> Rows {
    let nulls = || [false, false, true].into_iter().collect();
    let columns = [
        (Kind::Bool, Values::Bool(vec![true, false, false])),
        (Kind::I8, Values::I8(vec![i8::MIN, 1, 0])),
        (Kind::I32, Values::I32(vec![-70_000, 1, 0])),
        (Kind::I64, Values::I64(vec![i64::MIN, 1, 0])),
        (Kind::U16, Values::U16(vec![u16::MAX, 1, 0])),
        (Kind::U64, Values::U64(vec![i64::MAX as u64, 1, 0])),
        (Kind::F32, Values::F32(vec![0.1, -1e30, 0.0])),
        (Kind::F64, Values::F64(vec![0.1, -1e-300, 0.0])),
        (
            Kind::Decimal {
                precision: 38,
                scale: 2,
            },
            Values::I128(vec![10_i128.pow(38) - 1, -5, 0]),
        ),
        (Kind::Date, Values::I32(vec![19_782, -800_000, 0])),
        (
            Kind::Time(Unit::Microsecond),
            Values::I64(vec![-1, 86_400_000_000, 0]),
        ),
        (
            Kind::Timestamp(Unit::Second, Zone::Local),
            Values::I64(vec![-1, 1_700_000_000, 0]),
        ),
        (
            Kind::Timestamp(Unit::Nanosecond, Zone::Utc),
            Values::I64(vec![-1, 1_700_000_000_123_456_789, 0]),
        ),
        (Kind::Uuid, Values::Uuid(vec![[0x5a; 16], [0; 16], [0; 16]])),
        (
            Kind::Text,
            Values::Text(["a \"b\", ä\r\n<&>", "", ""].into_iter().collect()),
        ),
        (
            Kind::Bytes,
            Values::Bytes([&[0, 255, 7][..], &[], &[]].into_iter().collect()),
        ),
    ];
    let fields = columns
        .iter()
        .enumerate()
        .map(|(index, (kind, _))| Field::nullable(format!("c{index}"), kind.clone()));
    let schema = Schema::new(fields.collect::<Vec<_>>()).expect("the decimal is sound");
    let columns = columns
        .into_iter()
        .map(|(_, values)| Column::with_nulls(values, nulls()).expect("three rows"));
    Rows::new(schema, columns).expect("the columns fit")
}

fn tiles() -> Rows {
    let number = |name| Field::new(name, Kind::I16);
    let schema = Schema::new([
        number("slot_number"),
        number("x"),
        number("y"),
        Field::new("color", Kind::Text),
        number("rotation"),
    ])
    .expect("there is no decimal");
    let columns = [
        Column::from((1..=20_i16).collect::<Vec<_>>()),
        Column::from((1..=20_i16).map(|n| n * 977 % 1_100).collect::<Vec<_>>()),
        Column::from((1..=20_i16).map(|n| n * 631 % 1_000).collect::<Vec<_>>()),
        Column::from(
            (1..=20_u32)
                .map(|n| format!("{:06x}", n * 12_345_678 % 0x100_0000))
                .collect::<tamtam_rows::Strings>(),
        ),
        Column::from((1..=20_i16).map(|n| n % 4 * 90).collect::<Vec<_>>()),
    ];
    Rows::new(schema, columns).expect("the columns fit")
}

fn texts() -> Rows {
    let schema = Schema::new([Field::nullable("t", Kind::Text)]).expect("there is no decimal");
    let texts = [Some("one"), None, Some(""), Some("two\nlines"), None];
    Rows::new(schema, [Column::from_iter(texts)]).expect("the column fits")
}

/// Tables that have codecs of the packed encoding for which the others are too short.
pub fn packed_tables() -> Vec<(&'static str, Rows)> {
    let words = ["counts", "symbols", "which are often", "the table", "of"];
    let line = |n: usize| {
        let word = |place: usize| words[(n * 7919 + 31) / 5_usize.pow(place as u32) % 5];
        format!("{} {} {} {}", word(0), word(1), word(2), n)
    };
    let lines: tamtam_rows::Strings = (0..60).map(line).collect();
    let schema = Schema::new([Field::new("line", Kind::Text)]).expect("there is no decimal");
    let rows = Rows::new(schema, [Column::from(lines)]).expect("the column fits");
    // Floats that are nearly decimals, and a few that are not.
    let degree = |n: i32| {
        let exact = f64::from(n * 7919 % 3600) / 10.0;
        if n % 13 == 4 {
            exact.sqrt()
        } else {
            exact * 1.1 - 17.0
        }
    };
    let degrees: Vec<f64> = (0..60).map(degree).collect();
    let schema = Schema::new([Field::new("degree", Kind::F64)]).expect("there is no decimal");
    let degrees = Rows::new(schema, [Column::from(degrees)]).expect("the column fits");
    vec![("lines", rows), ("degrees", degrees)]
}

/// The table that a form makes of these bytes, if it makes one, is written and read the same again; unless it has what
/// the form cannot carry. The table and what was written of it, if both are there.
pub fn decode_and_back(
    form: &dyn Encoding,
    bytes: &[u8],
    schema: Option<&Schema>,
) -> Option<(Rows, Vec<u8>)> {
    let rows = form.decode(bytes, schema, &LIMITS).ok()?;
    assert!(rows.len() as u64 <= LIMITS.rows);
    assert!(rows.schema().len() <= LIMITS.columns);
    let mut written = Vec::new();
    form.encode(&rows, &mut written).ok()?;
    let again = form
        .decode(&written, schema, &Limits::default())
        .expect("what was written can be read");
    assert_eq!(again, rows);
    Some((rows, written))
}

/// As [`decode_and_back`], with the columns that the first byte says.
pub fn decode_as_said(form: &dyn Encoding, bytes: &[u8]) -> Option<(Rows, Vec<u8>)> {
    let (&first, bytes) = bytes.split_first()?;
    decode_and_back(form, bytes, Some(&schema(first)))
}

/// Makes the checksums of a packed table right, so that the fuzzer gets beyond them.
pub fn mend(bytes: &mut [u8]) {
    let varint = |at: &mut usize, bytes: &[u8]| {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = *bytes.get(*at)?;
            *at += 1;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return usize::try_from(value).ok();
            }
        }
        None
    };
    let mut at = 4;
    let mut walk = || {
        while at < bytes.len() {
            let length = varint(&mut at, bytes)?;
            let start = at.checked_add(4)?;
            let end = start.checked_add(length)?;
            let sum = crc32c::crc32c(bytes.get(start..end)?);
            bytes[at..start].copy_from_slice(&sum.to_le_bytes());
            at = end;
        }
        Some(())
    };
    // It stops where the bytes are no packed table.
    let _ = walk();
}
