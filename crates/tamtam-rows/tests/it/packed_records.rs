//! Structs become packed bytes at once as they do by way of a table.

use proptest::collection::vec;
use proptest::prelude::*;
use tamtam_rows::packed::{self, Mode, ROWS_PER_CHUNK, Writer};
use tamtam_rows::{EncodeError, Limits, Record, Rows, Schema, ShapeError, record};

record! {
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Every {
        flag: bool,
        i_8: i8,
        i_16: i16,
        i_32: i32,
        i_64: i64,
        name: String,
        u_8: u8,
        u_16: u16,
        u_32: u32,
        u_64: u64,
        f_32: f32,
        f_64: f64,
        raw: Vec<u8>,
        id: [u8; 16],
        maybe_flag: Option<bool>,
        maybe_16: Option<i16>,
        maybe_64: Option<u64>,
        maybe_real: Option<f64>,
        maybe_name: Option<String>,
        maybe_raw: Option<Vec<u8>>,
        maybe_id: Option<[u8; 16]>,
    }
}

const MODES: [Mode; 4] = [
    Mode::Packed,
    Mode::Small,
    Mode::Plain,
    Mode::Link(100_000_000),
];

/// Both ways, and by a writer in pieces of this many records.
fn compare(records: &[Every], mode: Mode, piece: usize) {
    let rows = Every::to_rows(records).unwrap();
    // Something lies before it: what is aligned must be so from where the table begins.
    let mut by_table = vec![7; 3];
    packed::encode(&rows, mode, &mut by_table).unwrap();
    let mut at_once = vec![7; 3];
    packed::encode_records(records, mode, &mut at_once).unwrap();
    assert!(at_once == by_table, "{} records, {mode:?}", records.len());

    let mut by_tables = Writer::new(Vec::new(), rows.schema(), mode).unwrap();
    let mut by_records = Writer::new(Vec::new(), &Every::schema(), mode).unwrap();
    for records in records.chunks(piece) {
        by_tables.write(&Every::to_rows(records).unwrap()).unwrap();
        by_records.write_records(records).unwrap();
    }
    assert_eq!(by_records.rows(), records.len() as u64);
    assert!(by_records.finish().unwrap() == by_tables.finish().unwrap());

    let there = packed::decode(&at_once[3..], &Limits::NONE).unwrap();
    assert!(there == rows, "{} records, {mode:?}", records.len());
    assert!(
        Every::from_rows(&there)
            .unwrap()
            .eq(records.iter().cloned())
    );
}

/// Extremes, and anything between.
fn any_record() -> impl Strategy<Value = Every> {
    let number = || {
        prop_oneof![
            Just(0_u64),
            Just(u64::MAX),
            Just(1 << 63),
            Just(0x8000_8000_8000_8080),
            0..1000_u64,
            any::<u64>()
        ]
    };
    let real = || {
        prop_oneof![
            Just(f64::MIN),
            Just(f64::INFINITY),
            Just(-0.0),
            (-1000..1000_i32).prop_map(|n| f64::from(n) / 100.0),
            any::<f64>().prop_filter("it equals itself", |real| !real.is_nan())
        ]
    };
    let name = || {
        prop_oneof![
            "[0-9a-f]{6}",
            "[a-z]{0,3}",
            "\\PC{0,4}",
            Just("ä\u{1f600}\0".to_owned())
        ]
    };
    let raw = || vec(any::<u8>(), 0..5);
    let optional = (
        any::<Option<bool>>(),
        any::<Option<i16>>(),
        proptest::option::of(number()),
        proptest::option::of(real()),
        proptest::option::of(name()),
        proptest::option::of(raw()),
        any::<Option<[u8; 16]>>(),
    );
    (number(), real(), name(), raw(), any::<[u8; 16]>(), optional).prop_map(
        |(number, real, name, raw, id, optional)| Every {
            flag: number % 3 == 0,
            i_8: number as i8,
            i_16: (number >> 8) as i16,
            i_32: (number >> 16) as i32,
            i_64: number as i64,
            name,
            u_8: number as u8,
            u_16: number as u16,
            u_32: number as u32,
            u_64: number,
            f_32: real as f32,
            f_64: real,
            raw,
            id,
            maybe_flag: optional.0,
            maybe_16: optional.1,
            maybe_64: optional.2,
            maybe_real: optional.3,
            maybe_name: optional.4,
            maybe_raw: optional.5,
            maybe_id: optional.6,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn records_become_the_bytes_of_their_table(records in vec(any_record(), 0..300), piece in 1_usize..200) {
        for mode in MODES {
            compare(&records, mode, piece);
        }
    }
}

#[test]
fn records_of_several_chunks_become_the_bytes_of_their_table() {
    // In the first chunk all names have one length and nothing is null; in the last ones neither is so.
    let records: Vec<Every> = (0..2 * ROWS_PER_CHUNK + 5)
        .map(|n| Every {
            i_16: n as i16,
            u_16: (n * 7 % 1000) as u16,
            name: format!("{:06x}", n * 40_503 % 0xff_ffff),
            maybe_64: Some(n as u64),
            maybe_name: (n < ROWS_PER_CHUNK || n % 3 == 0).then(|| "x".repeat(n % 4)),
            ..Every::default()
        })
        .map(|mut record| {
            if usize::try_from(record.maybe_64.unwrap()).unwrap() > ROWS_PER_CHUNK + 1000 {
                record.name.push('ü');
                record.maybe_64 = None;
            }
            record
        })
        .collect();
    for mode in [Mode::Packed, Mode::Plain] {
        compare(&records, mode, 50_000);
    }
}

/// Says that it has other columns than it has.
struct Untrue;

impl Record for Untrue {
    type Columns<'a> = ();

    fn schema() -> Schema {
        Every::schema()
    }

    fn to_rows(_: &[Untrue]) -> Result<Rows, ShapeError> {
        Ok(Rows::empty(Schema::new([])?))
    }

    fn columns(_: &Rows) -> Result<(), ShapeError> {
        Ok(())
    }

    fn read((): &(), _: usize) -> Untrue {
        Untrue
    }
}

#[test]
fn records_that_are_of_another_schema_than_they_say_are_refused() {
    let mut bytes = Vec::new();
    let error = packed::encode_records(&[Untrue], Mode::Packed, &mut bytes).unwrap_err();
    assert!(matches!(error, EncodeError::Unsupported { .. }), "{error}");
    let mut writer = Writer::new(Vec::new(), &Untrue::schema(), Mode::Packed).unwrap();
    writer.write_records(&[Untrue]).unwrap_err();
}
