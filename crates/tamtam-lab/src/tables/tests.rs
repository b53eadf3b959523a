//! The tables hold what their documentation says.

use std::collections::HashMap;

use tamtam_rows::{Rows, Value};

use super::{ALL, find};

fn table(name: &str, count: usize) -> Rows {
    find(name).unwrap().rows(count).unwrap()
}

/// The bytes a row that no encoding can spare if it is told how the columns are distributed.
fn entropy(rows: &Rows) -> f64 {
    let bits: f64 = (0..rows.schema().len())
        .filter(|&column| rows.schema().fields()[column].name() != "slot_number")
        .map(|column| {
            let mut counts: HashMap<String, usize> = HashMap::new();
            for row in rows {
                *counts
                    .entry(format!("{:?}", row.value(column)))
                    .or_default() += 1;
            }
            // What is drawn from more values than there are rows is not seen in the counts: colours of 24 bits.
            if counts.len() > rows.len() / 10 {
                return 24.0;
            }
            counts
                .values()
                .map(|&count| {
                    let share = count as f64 / rows.len() as f64;
                    -share * share.log2()
                })
                .sum()
        })
        .sum();
    bits / 8.0
}

#[test]
fn the_articles_tables_hold_as_much_information_as_is_said() {
    for (name, bytes) in [("random", 6.57), ("palette", 3.51), ("rotation", 5.76)] {
        let found = entropy(&table(name, 100_000));
        assert!((found - bytes).abs() < 0.01, "{name}: {found}");
    }
}

#[test]
fn the_articles_text_takes_as_many_bytes_as_is_said() {
    let rows = table("random", 1_000);
    let mut bytes = 0;
    for row in &rows {
        for value in row.values() {
            bytes += 1 + match value {
                Value::Int(number) => number.to_string().len(),
                Value::Text(text) => text.len(),
                other => panic!("{other:?} in the article's table"),
            };
        }
    }
    let a_row = bytes as f64 / 1_000.0;
    assert!((a_row - 22.5).abs() < 0.1, "{a_row}");
}

#[test]
fn a_palette_has_64_colours_and_quarter_turns() {
    let rows = table("palette", 10_000);
    let colors = rows.column("color").unwrap().texts().unwrap();
    let different: std::collections::HashSet<&str> = colors.iter().collect();
    assert_eq!(different.len(), 64);
    assert!(colors.iter().all(|color| {
        color.len() == 6
            && color
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    }));
    let turns = rows.column("rotation").unwrap().slice::<i16>().unwrap();
    assert!(turns.iter().all(|turn| [0, 90, 180, 270].contains(turn)));
}

#[test]
fn slots_are_counted_beyond_16_bits() {
    let small = table("random", 32_767);
    let large = table("random", 32_768);
    assert_eq!(small.value(32_766, 0), Value::Int(32_767));
    assert!(
        small
            .column("slot_number")
            .unwrap()
            .slice::<i16>()
            .is_some()
    );
    assert_eq!(large.value(32_767, 0), Value::Int(32_768));
    assert!(
        large
            .column("slot_number")
            .unwrap()
            .slice::<i32>()
            .is_some()
    );
}

#[test]
fn every_table_has_the_rows_asked_for_and_the_same_ones_each_time() {
    for table in ALL {
        let rows = table.rows(3_000).unwrap();
        assert_eq!(rows.len(), 3_000, "{}", table.name);
        assert_eq!(rows.schema().len() as u64, table.columns, "{}", table.name);
        assert_eq!(table.rows(0).unwrap().len(), 0, "{}", table.name);
        let fewer = table.rows(700).unwrap();
        assert_eq!(rows.part(0..700), fewer, "{}", table.name);
    }
}

/// The tables are those of the figures that are published: a change of a generator is seen here.
#[test]
fn the_tables_are_those_of_before() {
    let found: Vec<(&str, u64)> = ALL
        .iter()
        .map(|table| (table.name, digest(&table.rows(1_000).unwrap())))
        .collect();
    assert_eq!(found, DIGESTS);
}

/// FNV-1a over every value, written out.
fn digest(rows: &Rows) -> u64 {
    let mut digest = 0xcbf2_9ce4_8422_2325_u64;
    for row in rows {
        for value in row.values() {
            let written = match value {
                Value::F32(number) => format!("{:08x}", number.to_bits()),
                Value::F64(number) => format!("{:016x}", number.to_bits()),
                other => format!("{other:?}"),
            };
            for byte in written.bytes() {
                digest = (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        }
    }
    digest
}

const DIGESTS: [(&str, u64); 10] = [
    ("random", 0x1234_9a96_294c_dd26),
    ("palette", 0xbaf7_cfc7_1c58_3c72),
    ("rotation", 0x1222_4898_8056_2c23),
    ("logs", 0x4938_5155_12c8_ba38),
    ("sensors", 0xf97d_838f_c1fd_b37a),
    ("orders", 0x1da8_0853_784b_fb4f),
    ("survey", 0x4638_651b_44bd_263a),
    ("prices", 0x5976_b601_fab6_6de4),
    ("people", 0x5e60_ce14_2480_4dc8),
    ("events", 0x7be1_d14d_8a9b_f28f),
];
