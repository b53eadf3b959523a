//! Tables become record batches of Arrow and come back, and what a table does not have is refused by name.

use std::sync::Arc;

use proptest::prelude::*;
use tamtam_rows::arrow::arrow_array::builder::StringViewBuilder;
use tamtam_rows::arrow::arrow_array::types::{Float16Type, Int8Type, Int32Type, UInt16Type};
use tamtam_rows::arrow::arrow_array::{
    Array, ArrayRef, BinaryViewArray, BooleanArray, Date64Array, Decimal32Array, Decimal64Array,
    DictionaryArray, DurationSecondArray, FixedSizeBinaryArray, Int32Array, LargeBinaryArray,
    LargeStringArray, NullArray, PrimitiveArray, RecordBatch, StringArray, StringViewArray,
    UInt16Array,
};
use tamtam_rows::arrow::arrow_schema::{DataType, Field as ArrowField, Schema as ArrowSchema};
use tamtam_rows::arrow::{schema_from_arrow, schema_to_arrow};
use tamtam_rows::{
    Column, DecodeError, EncodeError, Field, Kind, Limits, Rows, Schema, Unit, Value, Zone,
};

fn batch(column: impl Array + 'static) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable([("it", Arc::new(column) as ArrayRef, true)]).unwrap()
}

fn read(column: impl Array + 'static) -> Rows {
    Rows::from_record_batch(&batch(column), &Limits::default()).unwrap()
}

fn values(rows: &Rows) -> Vec<Value<'_>> {
    (0..rows.len()).map(|row| rows.value(row, 0)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_table_comes_back(rows in crate::any_rows::any_rows()) {
        let batch = rows.to_record_batch().unwrap();
        prop_assert_eq!(&*batch.schema(), &schema_to_arrow(rows.schema()));
        prop_assert_eq!(&schema_from_arrow(&batch.schema()).unwrap(), rows.schema());
        prop_assert_eq!(&Rows::from_record_batch(&batch, &Limits::default()).unwrap(), &rows);
        let again = rows.clone().into_record_batch().unwrap();
        prop_assert_eq!(Rows::from_record_batch(&again, &Limits::default()).unwrap(), rows);
    }

    #[test]
    fn a_part_of_a_batch_is_that_part_of_the_table(rows in crate::any_rows::any_rows(), from in 0_usize..150, to in 0_usize..150) {
        let (from, to) = (from.min(rows.len()), to.min(rows.len()));
        let (from, to) = (from.min(to), from.max(to));
        let batch = rows.to_record_batch().unwrap().slice(from, to - from);
        prop_assert_eq!(Rows::from_record_batch(&batch, &Limits::default()).unwrap(), rows.part(from..to));
    }
}

#[test]
fn arrow_is_told_what_the_columns_are() {
    let zone = Zone::Named("Asia/Tokyo".into());
    let schema = Schema::new([
        Field::new("id", Kind::Uuid),
        Field::nullable("at", Kind::Timestamp(Unit::Millisecond, zone)),
        Field::new("time", Kind::Time(Unit::Second)),
    ])
    .unwrap();
    let arrow = schema_to_arrow(&schema);
    assert_eq!(
        arrow.field(0).metadata().get("ARROW:extension:name"),
        Some(&"arrow.uuid".to_owned())
    );
    assert_eq!(
        arrow.field(1).to_string(),
        "Field { \"at\": nullable Timestamp(ms, \"Asia/Tokyo\") }"
    );
    assert_eq!(arrow.field(2).data_type().to_string(), "Time32(s)");
}

#[test]
fn a_table_without_columns_or_rows_comes_back() {
    for schema in [vec![], vec![Field::nullable("note", Kind::Text)]] {
        let rows = Rows::empty(Schema::new(schema).unwrap());
        let batch = rows.to_record_batch().unwrap();
        assert_eq!(
            Rows::from_record_batch(&batch, &Limits::default()).unwrap(),
            rows
        );
    }
}

#[test]
fn a_time_beyond_a_day_is_refused() {
    let schema = Schema::new([Field::nullable("t", Kind::Time(Unit::Second))]).unwrap();
    for time in [-1, 86_400, i64::MAX] {
        let column = Column::from(vec![None, Some(86_399), Some(time)]);
        let rows = Rows::new(schema.clone(), [column]).unwrap();
        let error = rows.to_record_batch().unwrap_err();
        assert!(
            matches!(&error, EncodeError::Value { row: 2, column, .. } if column == "t"),
            "{error}"
        );
    }
}

#[test]
fn every_layout_of_text_is_read() {
    let texts = [
        Some("up"),
        None,
        Some(""),
        Some("far beyond twelve bytes"),
        Some("up"),
    ];
    let expected: Vec<Value> = texts
        .iter()
        .map(|text| text.map_or(Value::Null, Value::Text))
        .collect();
    let layouts: [RecordBatch; 5] = [
        batch(StringArray::from_iter(texts)),
        batch(LargeStringArray::from_iter(texts)),
        batch(StringViewArray::from_iter(texts)),
        batch(texts.into_iter().collect::<DictionaryArray<Int8Type>>()),
        batch(DictionaryArray::<Int32Type>::new(
            Int32Array::from(vec![Some(2), None, Some(1), Some(3), Some(2)]),
            Arc::new(StringViewArray::from_iter([
                texts[1], texts[2], texts[0], texts[3],
            ])),
        )),
    ];
    for layout in layouts {
        let rows = Rows::from_record_batch(&layout, &Limits::default()).unwrap();
        assert_eq!(rows.schema().fields()[0].kind(), &Kind::Text);
        assert_eq!(values(&rows), expected, "{:?}", layout.schema());
    }
}

#[test]
fn every_layout_of_bytes_is_read() {
    let slices: [Option<&[u8]>; 3] = [Some(b"\x00\xff"), None, Some(b"ab")];
    let expected = [Value::Bytes(b"\x00\xff"), Value::Null, Value::Bytes(b"ab")];
    let fixed =
        FixedSizeBinaryArray::try_from_sparse_iter_with_size(slices.into_iter(), 2).unwrap();
    for rows in [
        read(LargeBinaryArray::from_iter(slices)),
        read(BinaryViewArray::from_iter(slices)),
        read(fixed),
    ] {
        assert_eq!(values(&rows), expected);
    }
}

#[test]
fn narrower_types_are_widened() {
    let halves = read(PrimitiveArray::<Float16Type>::from_iter(
        [1.5_f32, -0.25].map(|value| Some(<Float16Type as tamtam_rows::arrow::arrow_array::ArrowPrimitiveType>::Native::from_f32(value))),
    ));
    assert_eq!(values(&halves), [Value::F32(1.5), Value::F32(-0.25)]);

    let cents = Decimal32Array::from(vec![1_234])
        .with_precision_and_scale(6, 2)
        .unwrap();
    assert_eq!(values(&read(cents)), [Value::Decimal(1_234)]);
    let cents = Decimal64Array::from(vec![-1_234])
        .with_precision_and_scale(12, 2)
        .unwrap();
    let rows = read(cents);
    assert_eq!(values(&rows), [Value::Decimal(-1_234)]);
    assert_eq!(
        rows.schema().fields()[0].kind(),
        &Kind::Decimal {
            precision: 12,
            scale: 2
        }
    );

    let days = read(Date64Array::from(vec![Some(-86_400_000), None, Some(0)]));
    assert_eq!(
        values(&days),
        [Value::Date(-1), Value::Null, Value::Date(0)]
    );
    let part = batch(Date64Array::from(vec![0, 1]));
    assert!(matches!(
        Rows::from_record_batch(&part, &Limits::default()).unwrap_err(),
        DecodeError::Value { row: 1, .. }
    ));
}

#[test]
fn dictionaries_of_other_types_are_read() {
    let numbers = DictionaryArray::<UInt16Type>::new(
        UInt16Array::from(vec![Some(1), None, Some(0), Some(1)]),
        Arc::new(Int32Array::from(vec![Some(7), None])),
    );
    let rows = read(numbers);
    assert_eq!(
        values(&rows),
        [Value::Null, Value::Null, Value::Int(7), Value::Null]
    );
    let none = DictionaryArray::<UInt16Type>::new(
        UInt16Array::from(vec![None, None]),
        Arc::new(Int32Array::from(Vec::<i32>::new())),
    );
    assert_eq!(values(&read(none)), [Value::Null, Value::Null]);
}

#[test]
fn what_a_table_does_not_have_is_named() {
    let list = DataType::List(Arc::new(ArrowField::new("item", DataType::Int8, true)));
    for (data_type, shown) in [
        (list, "List"),
        (
            DataType::Duration(tamtam_rows::arrow::arrow_schema::TimeUnit::Second),
            "Duration(s)",
        ),
        (DataType::Decimal128(5, -2), "Decimal128(5, -2)"),
        (DataType::Decimal256(50, 2), "Decimal256(50, 2)"),
        (DataType::FixedSizeBinary(-1), "FixedSizeBinary(-1)"),
        (DataType::Null, "Null"),
    ] {
        let schema = ArrowSchema::new(vec![
            ArrowField::new("kept", DataType::Int8, true),
            ArrowField::new("odd", data_type, true),
        ]);
        let error = schema_from_arrow(&schema).unwrap_err();
        assert!(matches!(&error, DecodeError::Unsupported { column, .. } if column == "odd"));
        assert!(error.to_string().contains(shown), "{error}");
    }
    Rows::from_record_batch(
        &batch(DurationSecondArray::from(vec![1])),
        &Limits::default(),
    )
    .unwrap_err();
    Rows::from_record_batch(&batch(NullArray::new(3)), &Limits::default()).unwrap_err();
}

#[test]
fn limits_hold_for_what_a_dictionary_repeats() {
    let long = "x".repeat(10_000);
    let texts = DictionaryArray::<Int32Type>::new(
        Int32Array::from(vec![0; 1_000]),
        Arc::new(StringArray::from(vec![long.as_str()])),
    );
    let limits = Limits {
        bytes: 1 << 20,
        ..Limits::default()
    };
    let error = Rows::from_record_batch(&batch(texts), &limits).unwrap_err();
    assert!(
        matches!(
            error,
            DecodeError::Limit {
                what: "bytes",
                declared: 10_004_000,
                ..
            }
        ),
        "{error}"
    );

    let truths = batch(BooleanArray::from(vec![true; 11]));
    let limits = Limits {
        rows: 10,
        ..Limits::default()
    };
    assert!(matches!(
        Rows::from_record_batch(&truths, &limits).unwrap_err(),
        DecodeError::Limit {
            what: "rows",
            declared: 11,
            limit: 10,
            ..
        }
    ));
    let limits = Limits {
        columns: 0,
        ..Limits::default()
    };
    assert!(matches!(
        Rows::from_record_batch(&truths, &limits).unwrap_err(),
        DecodeError::Limit {
            what: "columns",
            ..
        }
    ));
}

#[test]
fn nulls_where_a_schema_has_none_are_refused() {
    // Arrow itself refuses them in a column of its own, but not in the values of a dictionary.
    let keys = Int32Array::from(vec![0]);
    let column = DictionaryArray::<Int32Type>::new(keys, Arc::new(Int32Array::from(vec![None])));
    let field = ArrowField::new("n", column.data_type().clone(), false);
    let schema = Arc::new(ArrowSchema::new(vec![field]));
    let batch = RecordBatch::try_new(schema, vec![Arc::new(column)]).unwrap();
    assert!(matches!(
        Rows::from_record_batch(&batch, &Limits::default()).unwrap_err(),
        DecodeError::Shape(_)
    ));
}

#[test]
fn a_date_in_a_dictionary_is_refused_only_where_a_row_has_it() {
    const DAY: i64 = 86_400_000;
    let days = Arc::new(Date64Array::from(vec![1, 3 * DAY, -DAY]));
    let dictionary = |keys: Vec<Option<i32>>| {
        DictionaryArray::<Int32Type>::new(Int32Array::from(keys), days.clone())
    };
    let rows = read(dictionary(vec![Some(1), None, Some(2)]));
    assert_eq!(
        values(&rows),
        [Value::Date(3), Value::Null, Value::Date(-1)]
    );
    let batch = batch(dictionary(vec![Some(1), Some(2), Some(1), Some(0)]));
    let error = Rows::from_record_batch(&batch, &Limits::default()).unwrap_err();
    assert!(
        matches!(error, DecodeError::Value { row: 3, .. }),
        "{error}"
    );
}

#[test]
fn a_dictionary_that_would_take_more_than_the_limit_is_refused() {
    // Many texts that are the same bytes.
    let mut texts = StringViewBuilder::new();
    let block = texts.append_block(vec![b'x'; 1 << 20].into());
    (0..100).for_each(|_| texts.try_append_view(block, 0, 1 << 20).unwrap());
    let keys = Int32Array::from(vec![0]);
    let column = DictionaryArray::<Int32Type>::new(keys, Arc::new(texts.finish()));
    let limits = Limits {
        bytes: 2 << 20,
        ..Limits::default()
    };
    let error = Rows::from_record_batch(&batch(column), &limits).unwrap_err();
    assert!(
        matches!(
            error,
            DecodeError::Limit {
                what: "bytes of a dictionary",
                ..
            }
        ),
        "{error}"
    );
}
