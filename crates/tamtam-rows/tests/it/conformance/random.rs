//! Tables at random: each form carries them or refuses them, as what is known of it says.

use proptest::collection::vec;
use proptest::prelude::*;
use tamtam_rows::{Column, Field, Kind, Nulls, Rows, Schema, Unit, Values, Zone, encoding};

use super::round_trip::check;

const ROWS: std::ops::Range<usize> = 0..40;

fn unit() -> impl Strategy<Value = Unit> {
    prop_oneof![
        Just(Unit::Second),
        Just(Unit::Millisecond),
        Just(Unit::Microsecond),
        Just(Unit::Nanosecond)
    ]
}

fn zone() -> impl Strategy<Value = Zone> {
    prop_oneof![
        Just(Zone::Local),
        Just(Zone::Utc),
        Just(Zone::Named("Asia/Tokyo".into()))
    ]
}

/// Small, middling and any.
fn integer() -> impl Strategy<Value = i64> {
    prop_oneof![-3_i64..300, any::<i32>().prop_map(i64::from), any::<i64>()]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,8}",
        "[ -~]{0,20}",
        "[\u{20}-\u{d7ff}\n\r]{0,6}",
        any::<String>()
    ]
}

fn real() -> impl Strategy<Value = f64> {
    prop_oneof![
        (-1_000_000..1_000_000_i64).prop_map(|cents| cents as f64 / 100.0),
        any::<f64>(),
        any::<u64>().prop_map(f64::from_bits)
    ]
}

fn decimal() -> impl Strategy<Value = (u8, u8)> {
    (1_u8..=38).prop_flat_map(|precision| (Just(precision), 0..=precision))
}

fn column(rows: usize) -> impl Strategy<Value = (Kind, Values)> {
    let integers = move || vec(integer(), rows);
    prop_oneof![
        vec(any::<bool>(), rows).prop_map(|all| (Kind::Bool, Values::Bool(all))),
        vec(any::<i8>(), rows).prop_map(|all| (Kind::I8, Values::I8(all))),
        vec(any::<i16>(), rows).prop_map(|all| (Kind::I16, Values::I16(all))),
        vec(any::<i32>(), rows).prop_map(|all| (Kind::I32, Values::I32(all))),
        integers().prop_map(|all| (Kind::I64, Values::I64(all))),
        vec(any::<u8>(), rows).prop_map(|all| (Kind::U8, Values::U8(all))),
        vec(any::<u16>(), rows).prop_map(|all| (Kind::U16, Values::U16(all))),
        vec(any::<u32>(), rows).prop_map(|all| (Kind::U32, Values::U32(all))),
        vec(any::<u64>(), rows).prop_map(|all| (Kind::U64, Values::U64(all))),
        vec(any::<u32>().prop_map(f32::from_bits), rows)
            .prop_map(|all| (Kind::F32, Values::F32(all))),
        vec(real(), rows).prop_map(|all| (Kind::F64, Values::F64(all))),
        (decimal(), vec(any::<i128>(), rows)).prop_map(|((precision, scale), all)| {
            let above = 10_i128.pow(precision.into());
            let all = all.into_iter().map(|value| value % above).collect();
            (Kind::Decimal { precision, scale }, Values::I128(all))
        }),
        vec(any::<i32>(), rows).prop_map(|all| (Kind::Date, Values::I32(all))),
        (unit(), integers()).prop_map(|(unit, all)| (Kind::Time(unit), Values::I64(all))),
        (unit(), zone(), integers())
            .prop_map(|(unit, zone, all)| (Kind::Timestamp(unit, zone), Values::I64(all))),
        vec(any::<[u8; 16]>(), rows).prop_map(|all| (Kind::Uuid, Values::Uuid(all))),
        vec(text(), rows).prop_map(|all| (Kind::Text, Values::Text(all.into_iter().collect()))),
        vec(vec(any::<u8>(), 0..20), rows)
            .prop_map(|all| (Kind::Bytes, Values::Bytes(all.into_iter().collect()))),
    ]
}

fn table() -> impl Strategy<Value = Rows> {
    ROWS.prop_flat_map(|rows| {
        let column = (
            text(),
            column(rows),
            proptest::option::of(vec(any::<bool>(), rows)),
        );
        vec(column, 0..6)
    })
    .prop_map(|columns| {
        let (fields, columns): (Vec<Field>, Vec<Column>) = columns
            .into_iter()
            .map(|(name, (kind, values), nulls)| match nulls {
                None => (Field::new(name, kind), Column::new(values)),
                Some(nulls) => {
                    let nulls: Nulls = nulls.into_iter().collect();
                    (
                        Field::nullable(name, kind),
                        Column::with_nulls(values, nulls).unwrap(),
                    )
                }
            })
            .unzip();
        Rows::new(Schema::new(fields).unwrap(), columns).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_table_comes_back_or_is_refused(rows in table()) {
        for form in encoding::all() {
            check(form, "a table at random", &rows);
        }
    }
}
