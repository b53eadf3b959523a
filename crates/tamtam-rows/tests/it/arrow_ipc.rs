//! Tables pass through Arrow's stream format, and bytes that are not such a stream are refused before they cost memory.

use std::sync::Arc;

use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use proptest::prelude::*;
use tamtam_rows::arrow::arrow_array::types::Int32Type;
use tamtam_rows::arrow::arrow_array::{
    ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringViewArray,
};
use tamtam_rows::encoding::{self, ArrowIpc};
use tamtam_rows::{Column, DecodeError, Encoding, Field, Kind, Limits, Rows, Schema, Value};

use crate::support::encoded;

const FORMS: [ArrowIpc; 2] = [ArrowIpc::PLAIN, ArrowIpc::ZSTD];

fn decoded(bytes: &[u8]) -> Result<Rows, DecodeError> {
    ArrowIpc::PLAIN.decode(bytes, None, &Limits::default())
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
    let texts: Vec<String> = (0..count).map(|n| format!("row {n}")).collect();
    let columns = [
        Column::from(numbers),
        texts.iter().map(String::as_str).collect(),
        Column::from(vec![[7; 16]; count]),
    ];
    Rows::new(schema, columns).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

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
            let _ = form.decode(&bytes, None, &Limits { bytes: 1 << 20, rows: 10_000, columns: 100 });
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
fn zstd_makes_it_smaller() {
    let rows = rows(5_000);
    assert!(encoded(&ArrowIpc::ZSTD, &rows).len() * 3 < encoded(&ArrowIpc::PLAIN, &rows).len());
}

#[test]
fn wherever_a_stream_is_cut_off_it_is_noticed() {
    for form in FORMS {
        let bytes = encoded(&form, &rows(20));
        for length in 0..bytes.len() {
            let error = form
                .decode(&bytes[..length], None, &Limits::default())
                .unwrap_err();
            assert!(
                matches!(error, DecodeError::Truncated { .. }),
                "{length} of {}: {error}",
                bytes.len()
            );
        }
        decoded(&[bytes, vec![0]].concat()).unwrap_err();
    }
}

#[test]
fn many_batches_and_dictionaries_are_one_table() {
    let batch = |keys: Vec<Option<i32>>, texts: Vec<&str>| {
        let texts = Arc::new(tamtam_rows::arrow::arrow_array::StringArray::from(texts));
        let column = DictionaryArray::<Int32Type>::new(Int32Array::from(keys), texts);
        RecordBatch::try_from_iter_with_nullable([("t", Arc::new(column) as ArrayRef, true)])
            .unwrap()
    };
    let first = batch(vec![Some(0), None, Some(1)], vec!["a", "b"]);
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, &first.schema()).unwrap();
    writer.write(&first).unwrap();
    writer.write(&batch(vec![Some(0)], vec!["c"])).unwrap();
    writer.finish().unwrap();
    let rows = decoded(&bytes).unwrap();
    let values: Vec<Value> = (0..4).map(|row| rows.value(row, 0)).collect();
    let [a, b, c] = ["a", "b", "c"].map(Value::Text);
    assert_eq!(values, [a, Value::Null, b, c]);
}

#[test]
fn views_beside_other_columns_are_read() {
    let views = |n: i32| {
        let texts =
            (0..n).map(|n| (n % 3 != 1).then(|| format!("{n} is longer than twelve bytes")));
        Arc::new(StringViewArray::from_iter(texts)) as ArrayRef
    };
    let numbers = Arc::new(Int32Array::from_iter(
        (0..100).map(|n| (n % 2 == 0).then_some(n)),
    ));
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("a", views(100), true),
        ("n", numbers as ArrayRef, true),
        ("b", views(100), true),
    ])
    .unwrap();
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let rows = decoded(&bytes).unwrap();
    assert_eq!(
        rows,
        Rows::from_record_batch(&batch, &Limits::default()).unwrap()
    );
    assert_eq!(
        rows.value(2, 2),
        Value::Text("2 is longer than twelve bytes")
    );
    assert_eq!(rows.value(1, 1), Value::Null);
}

#[test]
fn limits_are_checked_before_anything_is_decoded() {
    // A megabyte of zeros, compressed to nearly nothing.
    let schema = Schema::new([Field::new("n", Kind::I64)]).unwrap();
    let zeros = Rows::new(schema, [Column::from(vec![0_i64; 1 << 17])]).unwrap();
    let bytes = encoded(&ArrowIpc::ZSTD, &zeros);
    assert!(bytes.len() < 2_000);
    for (limits, what) in [
        (
            Limits {
                bytes: 1 << 18,
                ..Limits::default()
            },
            "bytes of buffers",
        ),
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
        let error = ArrowIpc::ZSTD.decode(&bytes, None, &limits).unwrap_err();
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
    assert_eq!(ArrowIpc::ZSTD.decode(&bytes, None, &exact).unwrap(), zeros);
}

#[test]
fn a_size_that_is_a_lie_costs_nothing() {
    let bytes = encoded(&ArrowIpc::ZSTD, &rows(1_000));
    let plain = 8_000_i64.to_le_bytes();
    let at = bytes
        .windows(8)
        .position(|window| window == plain)
        .expect("the size of the numbers before compression");
    for lie in [i64::MAX, i64::MIN, -2, 1 << 40] {
        let mut changed = bytes.clone();
        changed[at..at + 8].copy_from_slice(&lie.to_le_bytes());
        decoded(&changed).unwrap_err();
    }
    for lie in [7_999_i64, 8_001, 80_000] {
        let mut changed = bytes.clone();
        changed[at..at + 8].copy_from_slice(&lie.to_le_bytes());
        let error = decoded(&changed).unwrap_err();
        assert!(matches!(error, DecodeError::Malformed { .. }), "{error}");
    }
}

#[test]
fn what_is_not_read_is_said() {
    let batch = rows(3).to_record_batch().unwrap();
    let mut file = Vec::new();
    let mut writer = FileWriter::try_new(&mut file, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    let said = |bytes: &[u8]| decoded(bytes).unwrap_err().to_string();
    assert!(said(&file).contains("stream format"), "{}", said(&file));
    assert!(said(b"hello, world").contains("ends too early"));

    let other = Schema::new([Field::new("n", Kind::I64)]).unwrap();
    let error = ArrowIpc::PLAIN
        .decode(
            &encoded(&ArrowIpc::PLAIN, &rows(3)),
            Some(&other),
            &Limits::default(),
        )
        .unwrap_err();
    assert!(error.to_string().contains("3 columns, not 1"), "{error}");
}

#[test]
fn the_old_framing_is_read() {
    let batch = rows(3).to_record_batch().unwrap();
    let options = IpcWriteOptions::try_new(8, true, arrow_ipc::MetadataVersion::V4).unwrap();
    let mut bytes = Vec::new();
    let mut writer =
        StreamWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    assert_eq!(decoded(&bytes).unwrap(), rows(3));
}
