//! Files that PyArrow and DuckDB wrote are read as they were meant. `golden/README.md` says where they come from.

use std::path::PathBuf;

use tamtam_rows::encoding::{ArrowIpc, Parquet, ParquetReader};
use tamtam_rows::{
    Column, DecodeError, Encoding, Field, Kind, Limits, Rows, Schema, Slices, Unit, Value, Zone,
};

const ROWS: i32 = 40;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name)
}

fn parquet(name: &str) -> Result<Rows, DecodeError> {
    Parquet::PLAIN.decode(
        &std::fs::read(path(name)).unwrap(),
        None,
        &Limits::default(),
    )
}

fn arrow_ipc(name: &str) -> Result<Rows, DecodeError> {
    ArrowIpc::PLAIN.decode(
        &std::fs::read(path(name)).unwrap(),
        None,
        &Limits::default(),
    )
}

/// Every seventh is null.
fn some<T>(value: impl Fn(i32) -> T) -> Vec<Option<T>> {
    (0..ROWS)
        .map(|row| (row % 7 != 3).then(|| value(row)))
        .collect()
}

fn all<T>(value: impl Fn(i32) -> T) -> Vec<T> {
    (0..ROWS).map(value).collect()
}

/// The table that was given to PyArrow.
fn table() -> Rows {
    let noon = 1_235_908_800_i64;
    let texts = some(|row| format!("été {}", row % 4));
    let colours = some(|row| ["red", "green", "blue"][row as usize % 3]);
    let slices: Slices = all(|row| [row as u8, 255 - row as u8]).iter().collect();
    let columns = [
        ("bool", Kind::Bool, Column::from(all(|row| row % 3 == 0))),
        ("i8", Kind::I8, Column::from(all(|row| (row - 20) as i8))),
        ("i32", Kind::I32, Column::from(some(|row| row * 1_000))),
        (
            "u64",
            Kind::U64,
            Column::from(all(|row| (row as u64) << 56)),
        ),
        (
            "f64",
            Kind::F64,
            Column::from(some(|row| f64::from(row) / 8.0)),
        ),
        (
            "decimal",
            Kind::Decimal {
                precision: 10,
                scale: 2,
            },
            Column::from(some(i128::from)),
        ),
        ("date", Kind::Date, Column::from(all(|row| row - 10))),
        (
            "time",
            Kind::Time(Unit::Microsecond),
            Column::from(all(|row| i64::from(row) * 1_000_000 + 500)),
        ),
        (
            "utc",
            Kind::Timestamp(Unit::Millisecond, Zone::Utc),
            Column::from(some(|row| (noon + i64::from(row)) * 1_000)),
        ),
        (
            "local",
            Kind::Timestamp(Unit::Microsecond, Zone::Local),
            Column::from(all(|row| (noon + i64::from(row)) * 1_000_000)),
        ),
        (
            "text",
            Kind::Text,
            texts.iter().map(Option::as_deref).collect(),
        ),
        ("colour", Kind::Text, colours.into_iter().collect()),
        ("bytes", Kind::Bytes, Column::from(slices)),
    ];
    let fields = columns
        .iter()
        .map(|(name, kind, _)| Field::nullable(*name, kind.clone()));
    let schema = Schema::new(fields).unwrap();
    Rows::new(schema, columns.map(|(_, _, column)| column)).unwrap()
}

#[test]
fn pyarrows_streams_are_read() {
    assert_eq!(arrow_ipc("pyarrow.arrows").unwrap(), table());
    assert_eq!(arrow_ipc("pyarrow-zstd.arrows").unwrap(), table());
    let error = arrow_ipc("pyarrow-lz4.arrows").unwrap_err().to_string();
    assert!(error.contains("LZ4_FRAME"), "{error}");
}

#[test]
fn pyarrows_files_are_read() {
    assert_eq!(parquet("pyarrow-snappy.parquet").unwrap(), table());
    assert_eq!(parquet("pyarrow-v2-delta-zstd.parquet").unwrap(), table());
}

#[test]
fn a_file_is_read_part_by_part() {
    let mut reader =
        ParquetReader::open(path("pyarrow-v2-delta-zstd.parquet"), Limits::default()).unwrap();
    assert_eq!(reader.rows(), 40);
    assert_eq!(reader.schema(), table().schema());
    for rows in [0..16, 16..32, 32..40] {
        assert_eq!(reader.next_part().unwrap().unwrap(), table().part(rows));
    }
    assert!(reader.next_part().unwrap().is_none());
}

#[test]
fn duckdbs_uuids_are_uuids() {
    let rows = parquet("duckdb-uuid.parquet").unwrap();
    let kinds: Vec<String> = rows
        .schema()
        .fields()
        .iter()
        .map(|field| field.kind().to_string())
        .collect();
    assert_eq!(
        kinds,
        ["i32", "uuid", "text", "decimal(18,3)", "timestamp(us)"]
    );
    assert_eq!(rows.len(), 30);
    let id = 0x1234_5678_9abc_4def_8123_0000_0000_0007_u128;
    let row: Vec<Value> = rows.iter().nth(7).unwrap().values().collect();
    assert_eq!(
        row,
        [
            Value::Int(7),
            Value::Uuid(id.to_be_bytes()),
            Value::Text("row 1"),
            Value::Decimal(7_000),
            Value::Timestamp((1_235_908_800 + 7 * 3_600) * 1_000_000),
        ]
    );
    assert_eq!(rows.value(5, 2), Value::Null);
}

#[test]
fn what_is_not_read_is_said() {
    let said = |name: &str| parquet(name).unwrap_err().to_string();
    let gzip = said("pyarrow-gzip.parquet");
    assert!(gzip.contains("compressed by GZIP"), "{gzip}");
    let nested = said("pyarrow-nested.parquet");
    assert!(
        nested.contains("\"nested\"") && nested.contains("List"),
        "{nested}"
    );
    let prefixes = said("pyarrow-prefixes.parquet");
    assert!(prefixes.contains("without limits"), "{prefixes}");
    let mut trusted = ParquetReader::open(path("pyarrow-prefixes.parquet"), Limits::NONE).unwrap();
    let part = trusted.next_part().unwrap().unwrap();
    assert_eq!(part.column("text"), table().column("text"));
}
