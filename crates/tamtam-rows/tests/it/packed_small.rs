//! The mode small is never larger than the mode packed, column by column.

use proptest::prelude::*;
use tamtam_rows::packed::{self, Mode};
use tamtam_rows::{Column, Field, Kind, Limits, Rows, Schema};

/// The bytes of each column.
fn sizes(rows: &Rows, mode: Mode) -> Vec<u64> {
    let mut bytes = Vec::new();
    packed::encode(rows, mode, &mut bytes).unwrap();
    let inspection = packed::inspect(&bytes, &Limits::NONE).unwrap();
    inspection
        .columns
        .iter()
        .map(|column| column.bytes)
        .collect()
}

fn check(rows: &Rows) {
    let (packed, small) = (sizes(rows, Mode::Packed), sizes(rows, Mode::Small));
    for ((field, _), (packed, small)) in rows.fields().zip(packed.into_iter().zip(small)) {
        assert!(small <= packed, "{field:?}: {small} bytes, packed {packed}");
    }
}

fn mixed(n: u64) -> u64 {
    let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
}

/// Columns where what codecs take lies close together: skewed, nearly sorted, with runs and outliers of any share.
#[test]
fn no_column_is_larger_in_the_mode_small() {
    for count in [5, 40, 300, 1500, 5000_u64] {
        let mut fields = Vec::new();
        let mut columns = Vec::new();
        for shape in 0..160_u64 {
            let (kinds, run, rare) = (2 + mixed(shape) % 90, 1 + shape % 7, 2 + shape % 31);
            let mut sum = 0;
            let values = (0..count).map(|row| {
                let random = mixed(shape * 7919 + row / run);
                let value = match shape % 4 {
                    0 => random % kinds,
                    1 => (random % kinds) * (random >> 9 & 1) * (random >> 11 & 1),
                    2 => u64::from((random | 1 << 40).trailing_zeros()) * kinds,
                    _ => {
                        sum += random % kinds;
                        sum
                    }
                };
                let is_outlier = mixed(random).is_multiple_of(rare * rare);
                value as i64 + if is_outlier { 100_000 } else { 0 }
            });
            let values: Vec<i64> = values.collect();
            if shape % 3 == 0 {
                fields.push(Field::new(format!("{shape}"), Kind::F64));
                let tenths = values.iter().map(|&value| value as f64 / 10.0);
                columns.push(Column::from(tenths.collect::<Vec<_>>()));
            } else {
                fields.push(Field::new(format!("{shape}"), Kind::I64));
                columns.push(Column::from(values));
            }
        }
        let rows = Rows::new(Schema::new(fields).unwrap(), columns).unwrap();
        check(&rows);
        let mut bytes = Vec::new();
        packed::encode(&rows, Mode::Small, &mut bytes).unwrap();
        assert_eq!(packed::decode(&bytes, &Limits::default()).unwrap(), rows);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_column_of_any_table_is_larger_in_the_mode_small(rows in crate::any_rows::any_rows()) {
        check(&rows);
    }
}
