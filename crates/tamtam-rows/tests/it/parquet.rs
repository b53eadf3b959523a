//! Tables pass through Parquet files, and files that are damaged or lie about their sizes are refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterVersion};
use proptest::prelude::*;
use tamtam_rows::arrow::arrow_array::{ArrayRef, RecordBatch, StringArray};
use tamtam_rows::encoding::{self, Parquet, ParquetReader, ParquetWriter};
use tamtam_rows::{
    Column, DecodeError, EncodeError, Encoding, Field, Kind, Limits, Rows, Schema, Strings, Unit,
    Value, Zone,
};

use crate::support::encoded;

const FORMS: [Parquet; 2] = [Parquet::PLAIN, Parquet::ZSTD];

fn decoded(bytes: &[u8], limits: &Limits) -> Result<Rows, DecodeError> {
    Parquet::PLAIN.decode(bytes, None, limits)
}

fn rows(count: usize) -> Rows {
    let schema = Schema::new([
        Field::nullable("n", Kind::I64),
        Field::new("text", Kind::Text),
        Field::new("id", Kind::Uuid),
    ])
    .unwrap();
    let numbers: Vec<Option<i64>> = (0..count as i64)
        .map(|n| (n % 5 != 0).then_some(n * n))
        .collect();
    let texts: Strings = (0..count).map(|n| format!("row {}", n % 50)).collect();
    let ids = (0..count as u128)
        .map(u128::to_be_bytes)
        .collect::<Vec<_>>();
    let columns = [
        Column::from(numbers),
        Column::from(texts),
        Column::from(ids),
    ];
    Rows::new(schema, columns).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_table_comes_back(rows in crate::any_rows::any_rows()) {
        for form in FORMS {
            let bytes = encoded(&form, &rows);
            prop_assert_eq!(&form.decode(&bytes, Some(rows.schema()), &Limits::default()).unwrap(), &rows);
        }
    }

    #[test]
    fn no_change_of_the_bytes_makes_a_decoder_panic(rows in crate::any_rows::any_rows(), at in any::<prop::sample::Index>(), to: u8) {
        for form in FORMS {
            let mut bytes = encoded(&form, &rows);
            *at.get_mut(&mut bytes) = to;
            let _ = decoded(&bytes, &Limits { bytes: 1 << 20, rows: 10_000, columns: 100 });
        }
    }
}

#[test]
fn both_forms_are_in_the_list() {
    for form in FORMS {
        assert_eq!(encoding::find(form.name()).unwrap().name(), form.name());
    }
}

#[test]
fn a_table_of_many_parts_comes_back() {
    let rows = rows(150_000);
    for form in FORMS {
        assert_eq!(
            decoded(&encoded(&form, &rows), &Limits::default()).unwrap(),
            rows
        );
    }
}

#[test]
fn a_table_without_columns_is_refused() {
    let rows = Rows::empty(Schema::new([]).unwrap());
    let error = Parquet::PLAIN.encode(&rows, &mut Vec::new()).unwrap_err();
    assert!(matches!(error, EncodeError::Unsupported { .. }));
}

#[test]
fn wherever_a_file_is_cut_off_it_is_noticed() {
    let bytes = encoded(&Parquet::PLAIN, &rows(20));
    for length in 0..bytes.len() {
        decoded(&bytes[..length], &Limits::default()).unwrap_err();
    }
}

#[test]
fn limits_are_checked_before_anything_is_decoded() {
    let schema = Schema::new([Field::new("n", Kind::I64)]).unwrap();
    let zeros = Rows::new(schema, [Column::from(vec![0_i64; 1 << 17])]).unwrap();
    let bytes = encoded(&Parquet::PLAIN, &zeros);
    assert!(bytes.len() < 2_000, "{}", bytes.len());
    for (limits, what) in [
        (
            Limits {
                bytes: (1 << 20) - 1,
                ..Limits::default()
            },
            "bytes",
        ),
        (
            Limits {
                rows: (1 << 17) - 1,
                ..Limits::default()
            },
            "rows",
        ),
        (
            Limits {
                columns: 0,
                ..Limits::default()
            },
            "columns",
        ),
    ] {
        let error = decoded(&bytes, &limits).unwrap_err();
        assert!(
            matches!(&error, DecodeError::Limit { what: found, .. } if *found == what),
            "{error}"
        );
    }
    let exact = Limits {
        bytes: 1 << 20,
        rows: 1 << 17,
        columns: 1,
    };
    assert_eq!(decoded(&bytes, &exact).unwrap(), zeros);
}

fn written(column: StringArray, properties: WriterProperties) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter([("t", Arc::new(column) as ArrayRef)]).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn limits_hold_for_what_a_dictionary_repeats() {
    let long = "x".repeat(20_000);
    let bytes = written(
        StringArray::from(vec![long.as_str(); 2_000]),
        WriterProperties::builder().build(),
    );
    assert!(bytes.len() < 100_000);
    let limits = Limits {
        bytes: 1 << 20,
        ..Limits::default()
    };
    let error = decoded(&bytes, &limits).unwrap_err();
    assert!(
        matches!(
            error,
            DecodeError::Limit {
                what: "bytes",
                declared: 40_008_000,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn limits_hold_for_what_a_page_becomes() {
    let long = "x".repeat(10_000_000);
    let zstd = Compression::ZSTD(ZstdLevel::try_new(3).unwrap());
    let bytes = written(
        StringArray::from(vec![long.as_str()]),
        WriterProperties::builder()
            .set_compression(zstd)
            .set_dictionary_enabled(false)
            .set_column_index_truncate_length(Some(8))
            .set_statistics_enabled(parquet::file::properties::EnabledStatistics::None)
            .build(),
    );
    assert!(bytes.len() < 10_000, "{}", bytes.len());
    let limits = Limits {
        bytes: 1 << 20,
        ..Limits::default()
    };
    let error = decoded(&bytes, &limits).unwrap_err();
    assert!(
        matches!(
            error,
            DecodeError::Limit {
                what: "bytes of pages in a row group",
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_size_that_is_a_lie_costs_nothing() {
    // 4,000 bytes of numbers: a data page whose sizes stand in its header as variable-length numbers.
    let schema = Schema::new([Field::new("n", Kind::I64)]).unwrap();
    let numbers: Vec<i64> = (0..500).map(|n| n * 0x0123_4567_89ab).collect();
    let rows = Rows::new(schema, [Column::from(numbers)]).unwrap();
    let batch = rows.to_record_batch().unwrap();
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).unwrap()))
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    assert_eq!(decoded(&bytes, &Limits::default()).unwrap(), rows);

    // 4,000 as a signed number in zigzag: 8,000 is 0xc0 0x3e. The type of the page stands before it.
    let header = [0x15, 0x00, 0x15, 0xc0, 0x3e];
    let at = bytes
        .windows(5)
        .position(|window| window == header)
        .unwrap();
    for lie in [[0xff, 0x7f], [0xbf, 0x3e], [0xc2, 0x3e], [0x80, 0x00]] {
        let mut changed = bytes.clone();
        changed[at + 3..at + 5].copy_from_slice(&lie);
        match decoded(&changed, &Limits::default()) {
            Err(DecodeError::Malformed { .. }) => {}
            other => panic!("{lie:?}: {:?}", other.map(|rows| rows.len())),
        }
    }
}

#[test]
fn texts_written_as_lengths_are_read() {
    let texts: Vec<String> = (0..3_000)
        .map(|n| format!("text number {}", n * n))
        .collect();
    let bytes = written(
        StringArray::from(texts.clone()),
        WriterProperties::builder()
            .set_writer_version(WriterVersion::PARQUET_2_0)
            .set_dictionary_enabled(false)
            .set_encoding(parquet::basic::Encoding::DELTA_LENGTH_BYTE_ARRAY)
            .build(),
    );
    let rows = decoded(&bytes, &Limits::default()).unwrap();
    assert_eq!(
        rows.column("t").unwrap().texts().unwrap(),
        &texts.iter().collect::<Strings>()
    );
}

#[test]
fn a_part_stays_within_the_limits_of_a_file_that_does_not() {
    let rows = rows(10_000);
    let file = tempfile(&encoded(&Parquet::ZSTD, &rows));
    let limits = Limits {
        bytes: 200_000,
        ..Limits::default()
    };
    let mut reader = ParquetReader::open(&file.0, limits).unwrap();
    assert_eq!(reader.rows(), 10_000);
    let mut at = 0;
    while let Some(part) = reader.next_part().unwrap() {
        assert!(part.memory() <= 200_000);
        assert_eq!(part, rows.part(at..at + part.len()));
        at += part.len();
    }
    assert_eq!(at, 10_000);
}

#[test]
fn what_is_no_parquet_file_is_said() {
    let said = |bytes: &[u8]| decoded(bytes, &Limits::default()).unwrap_err().to_string();
    assert!(said(b"").contains("ends too early"));
    assert!(said(b"a,b,c\n1,2,3\n").contains("no Parquet file"));
    assert!(said(b"PAR1\xff\xff\xff\x7fPAR1").contains("longer than it"));
    let missing = ParquetReader::open("no/such/file.parquet", Limits::default()).unwrap_err();
    assert!(matches!(missing, DecodeError::Read(_)));
}

/// A file that is removed at the end.
struct TemporaryFile(std::path::PathBuf);

fn tempfile(bytes: &[u8]) -> TemporaryFile {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("tamtam-rows-{}-{count}.parquet", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, bytes).unwrap();
    TemporaryFile(path)
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn what_is_written_part_by_part_is_one_table() {
    const GROUP: usize = 1 << 20;
    let schema = Schema::new([Field::new("n", Kind::U32)]).unwrap();
    let numbers = |from: usize, to: usize| {
        let numbers: Vec<u32> = (from as u32..to as u32).collect();
        Rows::new(schema.clone(), [Column::from(numbers)]).unwrap()
    };
    let mut writer = ParquetWriter::new(Vec::new(), Parquet::ZSTD, &schema).unwrap();
    let ends = [0, 1, 1, 70_000, GROUP - 1, GROUP + 9];
    for pair in ends.windows(2) {
        writer.write(&numbers(pair[0], pair[1])).unwrap();
    }
    let error = writer.write(&rows(1)).unwrap_err();
    assert!(matches!(error, EncodeError::Unsupported { .. }), "{error}");
    let bytes = writer.finish().unwrap();
    let whole = decoded(&bytes, &Limits::default()).unwrap();
    assert_eq!(whole, numbers(0, GROUP + 9));
    let metadata = parquet::file::metadata::ParquetMetaDataReader::new()
        .parse_and_finish(&bytes::Bytes::from(bytes))
        .unwrap();
    let groups: Vec<i64> = metadata
        .row_groups()
        .iter()
        .map(|group| group.num_rows())
        .collect();
    assert_eq!(groups, [GROUP as i64, 9]);
}

#[test]
fn a_large_row_group_is_closed_before_it_is_full() {
    let schema = Schema::new([Field::new("bytes", Kind::Bytes)]).unwrap();
    // 1 MiB that no dictionary makes smaller.
    let part = |number: u32| {
        let value: Vec<u8> = (0..1_u32 << 18)
            .flat_map(|at| (at.wrapping_mul(0x9e37_79b9) ^ number).to_le_bytes())
            .collect();
        let values: tamtam_rows::Slices = [value].into_iter().collect();
        Rows::new(schema.clone(), [Column::from(values)]).unwrap()
    };
    let mut writer = ParquetWriter::new(Vec::new(), Parquet::PLAIN, &schema).unwrap();
    for number in 0..70 {
        writer.write(&part(number)).unwrap();
    }
    let bytes = bytes::Bytes::from(writer.finish().unwrap());
    let metadata = parquet::file::metadata::ParquetMetaDataReader::new()
        .parse_and_finish(&bytes)
        .unwrap();
    assert_eq!(metadata.num_row_groups(), 2);
    let last = decoded(&bytes, &Limits::default()).unwrap().part(69..70);
    assert_eq!(last, part(69));
}

#[test]
fn a_decimal_of_more_digits_than_its_type_is_refused_by_its_row() {
    for (precision, beyond) in [
        (9_u8, 10_i128.pow(9)),
        (18, 10_i128.pow(20)),
        (38, i128::MIN),
    ] {
        let kind = Kind::Decimal {
            precision,
            scale: 2,
        };
        let schema = Schema::new([Field::nullable("d", kind)]).unwrap();
        let largest = 10_i128.pow(precision.into()) - 1;
        let table = |last| {
            let values = vec![Some(largest), Some(-largest), None, Some(last)];
            Rows::new(schema.clone(), [Column::from(values)]).unwrap()
        };
        for form in FORMS {
            let mut bytes = Vec::new();
            let error = form.encode(&table(beyond), &mut bytes).unwrap_err();
            let EncodeError::Value {
                column,
                row,
                reason,
                ..
            } = error
            else {
                panic!("{error}")
            };
            assert_eq!((column.as_str(), row), ("d", 3));
            assert!(reason.contains("more digits than its type"), "{reason}");
            let rows = table(0);
            assert_eq!(
                decoded(&encoded(&form, &rows), &Limits::default()).unwrap(),
                rows
            );
        }
    }
}

/// A file with a column of timestamps of 96 bits: of days from 1970-01-01, and the nanoseconds of the day.
fn with_int96(values: &[Option<(i32, u64)>]) -> Vec<u8> {
    use parquet::data_type::{Int96, Int96Type};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    const JULIAN_DAY_OF_1970: i32 = 2_440_588;
    let message = "message m { required int32 n; optional int96 at; }";
    let schema = Arc::new(parse_message_type(message).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap();
    // Two groups, so that the rows of the second are counted on.
    for values in [&[][..], values] {
        let mut group = writer.next_row_group().unwrap();
        let numbers: Vec<i32> = (0..values.len() as i32).collect();
        let mut column = group.next_column().unwrap().unwrap();
        let typed = column.typed::<parquet::data_type::Int32Type>();
        typed.write_batch(&numbers, None, None).unwrap();
        column.close().unwrap();
        let there: Vec<Int96> = values
            .iter()
            .flatten()
            .map(|&(day, nanoseconds)| {
                let mut value = Int96::new();
                let day = day.wrapping_add(JULIAN_DAY_OF_1970) as u32;
                value.set_data(nanoseconds as u32, (nanoseconds >> 32) as u32, day);
                value
            })
            .collect();
        let levels: Vec<i16> = values
            .iter()
            .map(|value| i16::from(value.is_some()))
            .collect();
        let mut column = group.next_column().unwrap().unwrap();
        let typed = column.typed::<Int96Type>();
        typed.write_batch(&there, Some(&levels), None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

#[test]
fn timestamps_of_96_bits_are_of_any_year_or_refused() {
    const DAY: i64 = 86_400_000_000;
    // 1970-01-01, 9999-12-31, 0001-01-01, 2026-11-29 at its last microsecond; and the first and last day that are held.
    let days = [0, 2_932_896, -719_162, 20_786, -106_751_991, 106_751_990];
    let last = 86_399_999_999_u64;
    let values: Vec<Option<(i32, u64)>> = days
        .iter()
        .map(|&day| Some((day, last * 1000)))
        .chain([None, Some((-1, 1_000))])
        .collect();
    let rows = decoded(&with_int96(&values), &Limits::default()).unwrap();
    let kind = Kind::Timestamp(Unit::Microsecond, Zone::Local);
    assert_eq!(rows.schema().fields()[1].kind(), &kind);
    let expected = days
        .iter()
        .map(|&day| Value::Timestamp(i64::from(day) * DAY + last as i64))
        .chain([Value::Null, Value::Timestamp(1 - DAY)]);
    assert!((0..rows.len()).map(|row| rows.value(row, 1)).eq(expected));
    assert_eq!(rows.column("n").unwrap().slice::<i32>().unwrap().len(), 8);

    for (day, nanoseconds) in [
        (0, 1),
        (2_932_896, 999),
        (106_751_991, last * 1000),
        (i32::MAX, 0),
        (-106_751_992, 0),
    ] {
        let bytes = with_int96(&[Some((0, 0)), None, Some((day, nanoseconds))]);
        let error = decoded(&bytes, &Limits::default()).unwrap_err();
        let DecodeError::Value {
            column, row, value, ..
        } = &error
        else {
            panic!("{error}")
        };
        assert_eq!((column.as_str(), *row), ("at", 2));
        // Of the days, 32 bits are there from the Julian day 0 on.
        let day = i128::from(day.wrapping_add(2_440_588)) - 2_440_588;
        let expected = day * i128::from(DAY) * 1000 + i128::from(nanoseconds);
        assert_eq!(*value, format!("{expected} ns"));
    }
}

#[test]
fn a_tree_of_columns_that_would_end_the_process_is_refused() {
    // Groups of one column each, one in the other; and a group of more columns than there can be.
    let deep: Vec<u8> = b"\x35\x00\x18\x01n\x15\x02\x00".repeat(2_000_000);
    let wide = b"\x35\x00\x18\x01n\x15\xfe\xff\xff\xff\x0f\x00".to_vec();
    for (elements, count) in [(deep, [0x80, 0x89, 0x7a]), (wide, [0x81, 0x80, 0x00])] {
        let description = [&[0x15, 0x04, 0x19, 0xfc][..], &count, &elements].concat();
        let length = (description.len() as u32).to_le_bytes();
        let file = [b"PAR1", &description[..], &length, b"PAR1"].concat();
        let error = decoded(&file, &Limits::default()).unwrap_err();
        assert!(matches!(error, DecodeError::Malformed { .. }), "{error}");
        assert!(error.to_string().contains("group"), "{error}");
    }
}

#[test]
fn an_error_in_a_part_names_the_row_of_the_file() {
    let mut values = vec![Some((0, 0)); 65_540];
    values[65_538] = Some((0, 1));
    let file = tempfile(&with_int96(&values));
    let mut reader = ParquetReader::open(&file.0, Limits::default()).unwrap();
    assert_eq!(reader.next_part().unwrap().unwrap().len(), 65_536);
    let error = reader.next_part().unwrap_err();
    assert!(
        matches!(error, DecodeError::Value { row: 65_538, .. }),
        "{error}"
    );
}
