//! Tables of any types at random, for tests of round trips.

use proptest::collection::vec;
use proptest::prelude::*;
use tamtam_rows::{Column, Field, Kind, Rows, Schema, Slices, Strings, Unit, Zone};

/// Up to eight columns of up to 150 rows.
pub(crate) fn any_rows() -> impl Strategy<Value = Rows> {
    (0_usize..150)
        .prop_flat_map(|len| {
            vec((".{0,6}", any_kind()), 1..8).prop_flat_map(move |columns| {
                columns
                    .into_iter()
                    .map(|(name, kind)| any_column(name, kind, len))
                    .collect::<Vec<_>>()
            })
        })
        .prop_map(|columns| {
            let (fields, columns): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
            Rows::new(Schema::new(fields).unwrap(), columns).unwrap()
        })
}

fn any_unit() -> impl Strategy<Value = Unit> {
    prop_oneof![
        Just(Unit::Second),
        Just(Unit::Millisecond),
        Just(Unit::Microsecond),
        Just(Unit::Nanosecond)
    ]
}

fn any_kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::Bool),
        Just(Kind::I8),
        Just(Kind::I16),
        Just(Kind::I32),
        Just(Kind::I64),
        Just(Kind::U8),
        Just(Kind::U16),
        Just(Kind::U32),
        Just(Kind::U64),
        Just(Kind::F32),
        Just(Kind::F64),
        (1_u8..=38, 0_u8..=38).prop_map(|(precision, scale)| Kind::Decimal {
            precision,
            scale: scale.min(precision),
        }),
        Just(Kind::Date),
        any_unit().prop_map(Kind::Time),
        (
            any_unit(),
            prop_oneof![
                Just(Zone::Local),
                Just(Zone::Utc),
                Just(Zone::Named("Europe/Berlin".into())),
                Just(Zone::Named("+02:00".into())),
            ]
        )
            .prop_map(|(unit, zone)| Kind::Timestamp(unit, zone)),
        Just(Kind::Uuid),
        Just(Kind::Text),
        Just(Kind::Bytes),
    ]
}

/// A column that is declared without nulls, declared with them and without any, or with some.
fn any_column(name: String, kind: Kind, len: usize) -> BoxedStrategy<(Field, Column)> {
    macro_rules! column {
        ($value:expr) => {{
            let field = Field::new(name.as_str(), kind.clone());
            let nullable = Field::nullable(name.as_str(), kind.clone());
            let same = nullable.clone();
            prop_oneof![
                vec($value, len).prop_map(move |values| (field.clone(), Column::from(values))),
                vec($value, len).prop_map(move |values| (nullable.clone(), Column::from(values))),
                vec(proptest::option::of($value), len)
                    .prop_map(move |values| (same.clone(), Column::from(values))),
            ]
            .boxed()
        }};
    }
    match kind.clone() {
        Kind::Bool => column!(any::<bool>()),
        Kind::I8 => column!(any::<i8>()),
        Kind::I16 => column!(any::<i16>()),
        Kind::I32 | Kind::Date => column!(any::<i32>()),
        Kind::I64 | Kind::Timestamp(..) => column!(any::<i64>()),
        Kind::U8 => column!(any::<u8>()),
        Kind::U16 => column!(any::<u16>()),
        Kind::U32 => column!(any::<u32>()),
        Kind::U64 => column!(any::<u64>()),
        Kind::F32 => column!(any::<u32>().prop_map(f32::from_bits)),
        Kind::F64 => column!(any::<u64>().prop_map(f64::from_bits)),
        Kind::Decimal { precision, .. } => {
            let most = 10_i128.pow(precision.into()) - 1;
            column!(-most..=most)
        }
        Kind::Time(unit) => column!(0..86_400 * unit.per_second()),
        Kind::Uuid => column!(any::<[u8; 16]>()),
        Kind::Text => {
            let field = Field::nullable(name.as_str(), kind);
            let fixed = Field::new(name.as_str(), Kind::Text);
            prop_oneof![
                vec(proptest::option::of(".{0,9}"), len).prop_map(move |texts| {
                    let texts = texts.iter().map(Option::as_deref);
                    (field.clone(), texts.collect())
                }),
                vec("[0-9a-f]{6}", len).prop_map(move |texts| {
                    let texts: Strings = texts.iter().collect();
                    (fixed.clone(), Column::from(texts))
                }),
            ]
            .boxed()
        }
        Kind::Bytes => {
            let field = Field::new(name.as_str(), kind);
            vec(vec(any::<u8>(), 0..9), len)
                .prop_map(move |values| {
                    let slices: Slices = values.iter().collect();
                    (field.clone(), Column::from(slices))
                })
                .boxed()
        }
        kind => unreachable!("{kind} is not among those above"),
    }
}
