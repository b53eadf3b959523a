//! Packed tables that lie in `tests/golden/packed`, each with what it holds as JSON: this library must read them for
//! ever, and readers in other languages (`clients/web`) are tested with them.
//!
//! `TAMTAM_WRITE_GOLDEN=1 cargo test -p tamtam-rows --test it packed_golden` writes them anew: for a new table, or a new
//! version of the format. The bytes of a table that is there may otherwise differ from what is written today.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

use tamtam_rows::packed::{self, Mode, Writer};
use tamtam_rows::{Column, Field, Kind, Limits, Rows, Schema, Slices, Unit, Value, Zone};

const MODES: [(&str, Mode); 3] = [
    ("packed", Mode::Packed),
    ("small", Mode::Small),
    ("plain", Mode::Plain),
];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/packed")
}

/// Numbers that look random and are the same each time (Steele, Lea, Flood: SplitMix64, 2014).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

#[derive(Default)]
struct Table {
    fields: Vec<Field>,
    columns: Vec<Column>,
}

impl Table {
    fn with(mut self, name: &str, kind: Kind, column: impl Into<Column>) -> Table {
        let column = column.into();
        self.fields.push(match column.nulls() {
            None => Field::new(name, kind),
            Some(_) => Field::nullable(name, kind),
        });
        self.columns.push(column);
        self
    }

    fn rows(self) -> Rows {
        Rows::new(Schema::new(self.fields).unwrap(), self.columns).unwrap()
    }
}

/// Every type with its extremes, and nulls.
fn kinds() -> Rows {
    let day = 86_400_000_i64;
    let times = vec![
        Some(0_i64),
        Some(-1),
        Some(day),
        None,
        Some(i64::MIN),
        Some(i64::MAX),
    ];
    let bytes: [&[u8]; 6] = [b"", b"\0", b"\xff\xfe", b"", b"any bytes", &[7; 40]];
    let uuids = [
        [0_u8; 16],
        [255; 16],
        *b"sixteen letters!",
        [0; 16],
        [1; 16],
        [0x9a; 16],
    ];
    let digits = 99_999_999_999_999_999_999_999_999_999_999_999_999_i128;
    Table::default()
        .with(
            "bool",
            Kind::Bool,
            vec![
                Some(true),
                Some(false),
                None,
                Some(true),
                Some(true),
                Some(false),
            ],
        )
        .with("i8", Kind::I8, vec![i8::MIN, -1, 0, 1, 7, i8::MAX])
        .with("i16", Kind::I16, vec![i16::MIN, -1, 0, 1, 7, i16::MAX])
        .with("i32", Kind::I32, vec![i32::MIN, -1, 0, 1, 7, i32::MAX])
        .with("i64", Kind::I64, vec![i64::MIN, -1, 0, 1, 7, i64::MAX])
        .with(
            "exact",
            Kind::I64,
            vec![-(1_i64 << 53) + 1, -1, 0, 1, 7, (1 << 53) - 1],
        )
        .with("u8", Kind::U8, vec![0_u8, 1, 2, 3, 7, u8::MAX])
        .with("u16", Kind::U16, vec![0_u16, 1, 2, 3, 7, u16::MAX])
        .with("u32", Kind::U32, vec![0_u32, 1, 2, 3, 7, u32::MAX])
        .with("u64", Kind::U64, vec![0_u64, 1, 2, 3, 7, u64::MAX])
        .with(
            "f32",
            Kind::F32,
            vec![0.0_f32, -0.0, f32::NAN, f32::INFINITY, 1.5e-45, -0.1],
        )
        .with(
            "f64",
            Kind::F64,
            vec![0.0_f64, -0.0, f64::NAN, f64::NEG_INFINITY, 5e-324, -0.1],
        )
        .with(
            "price",
            Kind::Decimal {
                precision: 9,
                scale: 2,
            },
            vec![
                Some(0_i128),
                Some(-1),
                None,
                Some(1250),
                Some(-99),
                Some(999_999_999),
            ],
        )
        .with(
            "digits",
            Kind::Decimal {
                precision: 38,
                scale: 38,
            },
            vec![
                Some(digits),
                Some(-digits),
                None,
                Some(0),
                Some(1),
                Some(-1),
            ],
        )
        .with(
            "whole",
            Kind::Decimal {
                precision: 20,
                scale: 0,
            },
            vec![1_i128, 2, 3, 4, 5, -6],
        )
        .with(
            "date",
            Kind::Date,
            vec![
                Some(0_i32),
                Some(-1),
                None,
                Some(20_000),
                Some(i32::MIN),
                Some(i32::MAX),
            ],
        )
        .with(
            "time",
            Kind::Time(Unit::Second),
            vec![0_i64, 1, -1, 86_399, 100_000, 7],
        )
        .with("time_us", Kind::Time(Unit::Microsecond), times.clone())
        .with(
            "at",
            Kind::Timestamp(Unit::Millisecond, Zone::Utc),
            vec![0_i64, -1, 1_700_000_000_000, 4_102_444_800_000, 1, 2],
        )
        .with(
            "on_a_wall",
            Kind::Timestamp(Unit::Microsecond, Zone::Local),
            times,
        )
        .with(
            "in_berlin",
            Kind::Timestamp(Unit::Nanosecond, Zone::Named("Europe/Berlin".into())),
            vec![1_700_000_000_000_000_001_i64, 0, 1, 2, 3, 4],
        )
        .with("uuid", Kind::Uuid, uuids.to_vec())
        .with(
            "uuid_or_none",
            Kind::Uuid,
            uuids.map(|uuid| (uuid[0] != 0).then_some(uuid)).to_vec(),
        )
        .with(
            "text",
            Kind::Text,
            [
                "",
                "ascii",
                "Grüße, 🥁!",
                "\u{feff}\0\"',\r\n",
                "漢字",
                "e\u{301}",
            ]
            .into_iter()
            .collect::<Column>(),
        )
        .with(
            "text_or_none",
            Kind::Text,
            [None, Some(""), Some("a"), None, Some("ß"), None]
                .into_iter()
                .collect::<Column>(),
        )
        .with("bytes", Kind::Bytes, bytes.into_iter().collect::<Slices>())
        .with("", Kind::U8, vec![None, None, None, None, None, None::<u8>])
        .with("text", Kind::I8, vec![1_i8, 2, 3, 4, 5, 6])
        .with("größe \"x\"", Kind::I8, vec![0_i8; 6])
        .with("__proto__", Kind::I8, vec![9_i8; 6])
        .rows()
}

/// Columns that each codec suits.
fn codecs(count: usize) -> Rows {
    let mut numbers = Numbers(1);
    let mut list = |value: &mut dyn FnMut(&mut Numbers, usize) -> i64| -> Vec<i64> {
        (0..count).map(|row| value(&mut numbers, row)).collect()
    };
    let narrow =
        |values: &[i64]| -> Vec<i16> { values.iter().map(|&value| value as i16).collect() };
    let constant = narrow(&list(&mut |_, _| 7));
    let sequence = list(&mut |_, row| 1000 - 3 * row as i64);
    let packed = list(&mut |numbers, _| numbers.below(1100) as i64 - 50);
    let wide = list(&mut |numbers, _| numbers.next() as i64);
    let scaled = list(&mut |numbers, _| 90 * numbers.below(1000) as i64 + 5);
    let mut time = 1_700_000_000_000;
    let delta = list(&mut |numbers, _| {
        time += numbers.below(50) as i64;
        time
    });
    let patched = list(&mut |numbers, row| {
        if row % 50 == 3 {
            numbers.next() as i64 >> 10
        } else {
            numbers.below(60) as i64
        }
    });
    let runs = list(&mut |_, row| (row / 40 * 7919 % 1000) as i64);
    let places: Vec<i64> = list(&mut |numbers, _| numbers.next() as i64 >> 24)
        .into_iter()
        .take(9)
        .collect();
    let dictionary = list(&mut |numbers, _| places[numbers.below(9) as usize % places.len()]);
    let symbols = list(&mut |numbers, _| numbers.next().trailing_zeros().min(20).into());
    let classes = list(&mut |numbers, _| {
        let bits = numbers.below(6) * numbers.below(6);
        (numbers.next() & ((1 << bits) - 1)) as i64
    });
    let below = list(&mut |numbers, row| {
        let outlier = if row % 90 == 17 { -30_000 } else { 0 };
        outlier + numbers.below(20) as i64
    });
    let prices = list(&mut |numbers, _| 10_000 + numbers.below(5000) as i64);
    let odd = [f64::NAN, 1.0 / 3.0, -0.0, f64::INFINITY];
    let decimal: Vec<f64> = prices
        .iter()
        .enumerate()
        .map(|(row, &price)| {
            if row % 70 == 9 {
                odd[row / 70 % 4]
            } else {
                price as f64 / 100.0
            }
        })
        .collect();
    let split: Vec<f64> = prices.iter().map(|&price| 1.0 / price as f64).collect();
    let few: Vec<f64> = prices
        .iter()
        .map(|&price| [0.1_f64.sqrt(), 2.0_f64.sqrt()][price as usize % 2])
        .collect();
    let text = |of: &dyn Fn(u64) -> String| -> Column {
        prices
            .iter()
            .map(|&price| of(price as u64))
            .collect::<Vec<_>>()
            .iter()
            .map(String::as_str)
            .collect()
    };
    let mixed = |price: u64| price.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let maybe: Column = prices
        .iter()
        .map(|&price| (price % 7 != 0).then(|| format!("{:06x}", mixed(price as u64) >> 40)))
        .collect::<Vec<_>>()
        .iter()
        .map(Option::as_deref)
        .collect();
    let words: Column = prices
        .iter()
        .map(|&price| {
            (price % 3 != 0).then_some(
                ["red", "grün", "a longer value of some letters"][price as usize % 11 % 3],
            )
        })
        .collect();
    Table::default()
        .with("constant", Kind::I16, constant)
        .with(
            "sequence",
            Kind::I32,
            sequence
                .iter()
                .map(|&value| value as i32)
                .collect::<Vec<_>>(),
        )
        .with("packed", Kind::I16, narrow(&packed))
        .with("wide", Kind::I64, wide)
        .with(
            "scaled",
            Kind::U32,
            scaled.iter().map(|&value| value as u32).collect::<Vec<_>>(),
        )
        .with(
            "delta",
            Kind::Timestamp(Unit::Millisecond, Zone::Utc),
            delta,
        )
        .with("patched", Kind::I64, patched)
        .with("below", Kind::I16, narrow(&below))
        .with(
            "below_32",
            Kind::I32,
            below
                .iter()
                .map(|&value| value as i32 * 9973)
                .collect::<Vec<_>>(),
        )
        .with("below_64", Kind::I64, below)
        .with(
            "runs",
            Kind::U16,
            runs.iter().map(|&value| value as u16).collect::<Vec<_>>(),
        )
        .with("dictionary", Kind::I64, dictionary)
        .with(
            "symbols",
            Kind::U8,
            symbols.iter().map(|&value| value as u8).collect::<Vec<_>>(),
        )
        .with("symbols_64", Kind::I64, symbols)
        .with(
            "classes",
            Kind::U32,
            classes
                .iter()
                .map(|&value| value as u32)
                .collect::<Vec<_>>(),
        )
        .with("classes_64", Kind::I64, classes)
        .with("decimal_f64", Kind::F64, decimal.clone())
        .with(
            "decimal_f32",
            Kind::F32,
            decimal
                .iter()
                .map(|&value| value as f32)
                .collect::<Vec<_>>(),
        )
        .with("split_f64", Kind::F64, split.clone())
        .with(
            "split_f32",
            Kind::F32,
            split.iter().map(|&value| value as f32).collect::<Vec<_>>(),
        )
        .with("few_f64", Kind::F64, few)
        .with(
            "bool",
            Kind::Bool,
            prices
                .iter()
                .map(|price| price % 2 == 0)
                .collect::<Vec<_>>(),
        )
        .with(
            "rare",
            Kind::Bool,
            prices
                .iter()
                .map(|price| price % 60 == 0)
                .collect::<Vec<_>>(),
        )
        .with(
            "usual",
            Kind::Bool,
            prices
                .iter()
                .map(|price| price % 60 != 0)
                .collect::<Vec<_>>(),
        )
        .with(
            "some",
            Kind::I32,
            prices
                .iter()
                .map(|&price| (price % 3 != 0).then_some(price as i32))
                .collect::<Vec<_>>(),
        )
        .with(
            "hex",
            Kind::Text,
            text(&|price| format!("{:06x}", mixed(price) >> 40)),
        )
        .with(
            "hex_upper",
            Kind::Text,
            text(&|price| format!("{:08X}", mixed(price) >> 32)),
        )
        .with(
            "hex_wide",
            Kind::Text,
            text(&|price| format!("{:013x}", mixed(price) >> 12)),
        )
        .with("hex_or_none", Kind::Text, maybe)
        .with(
            "digits",
            Kind::Text,
            text(&|price| format!("{:09}", mixed(price) % 999_999_937)),
        )
        .with("words", Kind::Text, words)
        .with(
            "prefixes",
            Kind::Text,
            text(&|price| {
                format!(
                    "/var/lib/tamtam/rows/{:05}/part-{}",
                    price / 10,
                    mixed(price) % 97
                )
            }),
        )
        .with(
            "alphabet",
            Kind::Text,
            text(&|price| format!("+49 30 {}-{}", mixed(price) % 100_003, price % 13)),
        )
        .with(
            "lengths",
            Kind::Text,
            text(&|price| {
                format!(
                    "Grüße {} 🥁 {}",
                    mixed(price) % 100_003,
                    &"abcdefghij"[..price as usize % 9]
                )
            }),
        )
        .with(
            "symbol_table",
            Kind::Text,
            text(&|price| {
                let words = ["counts", "symbols", "über", "which are often", "the table"];
                let word = |shift: u64| words[(mixed(price) >> shift) as usize % words.len()];
                format!(
                    "{} {} {}, {} {}",
                    word(7),
                    word(17),
                    word(27),
                    word(37),
                    mixed(price) % 97
                )
            }),
        )
        .with(
            "uuid",
            Kind::Uuid,
            prices
                .iter()
                .map(|&price| {
                    ((u128::from(mixed(price as u64)) << 64) | u128::from(mixed(price as u64 + 1)))
                        .to_le_bytes()
                })
                .collect::<Vec<_>>(),
        )
        .rows()
}

/// Floats that miss a decimal number by as much as calculating costs, and a few that are far from any.
fn floats() -> Rows {
    let mut numbers = Numbers(2);
    let odd = [f64::NAN, -0.0, 1.0 / 3.0, f64::MAX];
    let degrees: Vec<f64> = (0..300)
        .map(|row| match row % 60 {
            59 => odd[row / 60 % 4],
            _ => {
                let tenths = numbers.below(3600) as f64 - 1800.0;
                (tenths + numbers.below(3) as f64 * 0.1) / 10.0 + 0.7
            }
        })
        .collect();
    let fahrenheit = degrees.iter().map(|&value| (value * 1.8) as f32);
    let fahrenheit: Vec<f32> = fahrenheit.map(|value| value + 32.0).collect();
    let nullable = degrees.iter().enumerate();
    let nullable = nullable.map(|(row, &value)| (row % 7 != 3).then_some(value * 1.1));
    let nullable: Vec<Option<f64>> = nullable.collect();
    Table::default()
        .with("near", Kind::F64, degrees.clone())
        .with("near narrow", Kind::F32, fahrenheit)
        .with("near or null", Kind::F64, nullable)
        .rows()
}

fn tables() -> Vec<(String, Vec<Rows>, Mode)> {
    MODES
        .into_iter()
        .flat_map(|(name, mode)| {
            [
                (format!("kinds-{name}"), vec![kinds()], mode),
                (format!("codecs-{name}"), vec![codecs(300)], mode),
                (format!("empty-{name}"), vec![kinds().part(0..0)], mode),
                (format!("floats-{name}"), vec![floats()], mode),
                // The parts differ in what their columns hold, so that each is packed in another way.
                (
                    format!("chunks-{name}"),
                    vec![codecs(40), codecs(3), codecs(90).part(30..90)],
                    mode,
                ),
            ]
        })
        .collect()
}

fn encoded(parts: &[Rows], mode: Mode) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), parts[0].schema(), mode).unwrap();
    for part in parts {
        writer.write(part).unwrap();
    }
    writer.finish().unwrap()
}

fn quoted(text: &str) -> String {
    let mut json = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => {
                json.push('\\');
                json.push(letter);
            }
            ..=' ' | '\u{feff}' if letter != ' ' => {
                write!(json, "\\u{:04x}", letter as u32).unwrap()
            }
            _ => json.push(letter),
        }
    }
    json.push('"');
    json
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Names, types, and each column's values: numbers as text, floats as their bits, bytes as hexadecimal digits.
fn json(rows: &Rows) -> String {
    let columns: Vec<String> = rows
        .fields()
        .map(|(field, column)| {
            let values: Vec<String> = (0..rows.len())
                .map(|row| match column.value(field.kind(), row) {
                    Value::Null => "null".into(),
                    Value::Bool(bit) => bit.to_string(),
                    Value::Int(number) | Value::Time(number) | Value::Timestamp(number) => {
                        quoted(&number.to_string())
                    }
                    Value::Unsigned(number) => quoted(&number.to_string()),
                    Value::Date(number) => quoted(&number.to_string()),
                    Value::Decimal(number) => quoted(&number.to_string()),
                    Value::F32(number) => quoted(&format!("{:08x}", number.to_bits())),
                    Value::F64(number) => quoted(&format!("{:016x}", number.to_bits())),
                    Value::Uuid(bytes) => quoted(&hex(&bytes)),
                    Value::Bytes(bytes) => quoted(&hex(bytes)),
                    Value::Text(text) => quoted(text),
                    other => panic!("{other:?} is not in the golden tables"),
                })
                .collect();
            format!(
                "{{\"name\":{},\"kind\":{},\"nullable\":{},\"values\":[{}]}}",
                quoted(field.name()),
                quoted(&field.kind().to_string()),
                field.is_nullable(),
                values.join(",")
            )
        })
        .collect();
    format!("[\n{}\n]\n", columns.join(",\n"))
}

#[test]
fn golden_tables_are_read_as_what_they_were() {
    if env::var_os("TAMTAM_WRITE_GOLDEN").is_some() {
        fs::create_dir_all(folder()).unwrap();
        for (name, parts, mode) in tables() {
            fs::write(folder().join(format!("{name}.rows")), encoded(&parts, mode)).unwrap();
            let mut all = parts[0].clone();
            parts[1..].iter().for_each(|part| all.append(part).unwrap());
            // What a table holds does not depend on how it is packed.
            let what = name.split('-').next().unwrap();
            fs::write(folder().join(format!("{what}.json")), json(&all)).unwrap();
        }
    }
    let mut found = 0;
    for (name, parts, _) in tables() {
        let bytes = fs::read(folder().join(format!("{name}.rows"))).unwrap();
        let rows = packed::decode(&bytes, &Limits::default()).unwrap();
        let what = name.split('-').next().unwrap();
        assert_eq!(
            json(&rows),
            fs::read_to_string(folder().join(format!("{what}.json"))).unwrap(),
            "{name}"
        );
        assert_eq!(rows.schema(), parts[0].schema(), "{name}");
        found += 1;
    }
    let files = fs::read_dir(folder())
        .unwrap()
        .filter(|file| {
            file.as_ref()
                .unwrap()
                .path()
                .extension()
                .is_some_and(|extension| extension == "rows")
        })
        .count();
    assert_eq!(files, found, "a golden table that no test reads");
}

#[test]
fn each_codec_is_in_a_golden_table() {
    let mut met = BTreeSet::new();
    for (name, _, _) in tables() {
        let bytes = fs::read(folder().join(format!("{name}.rows"))).unwrap();
        for column in packed::inspect(&bytes, &Limits::default()).unwrap().columns {
            for (codecs, _) in column.codecs {
                met.extend(
                    codecs
                        .split(['(', ')', ','])
                        .map(|codec| codec.trim().to_string()),
                );
            }
        }
    }
    for codec in [
        "constant",
        "sequence",
        "packed",
        "scaled",
        "delta",
        "patched",
        "runs",
        "dictionary",
        "symbols",
        "classes",
        "radix",
        "plain",
        "lengths",
        "hex",
        "digits",
        "text dictionary",
        "prefixes",
        "alphabet",
        "fixed",
        "offsets",
        "symbol table",
        "nulls",
    ] {
        assert!(
            met.contains(codec),
            "{codec} is in none of them; there are {met:?}"
        );
    }
}
