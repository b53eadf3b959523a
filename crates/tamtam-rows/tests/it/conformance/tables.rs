//! The tables that every form is tried on.

use tamtam_rows::{Column, Field, Kind, Nulls, Rows, Schema, Unit, Values, Zone};

const UNITS: [Unit; 4] = [
    Unit::Second,
    Unit::Millisecond,
    Unit::Microsecond,
    Unit::Nanosecond,
];

/// A table of one column.
fn one(name: &str, kind: Kind, values: Values) -> Rows {
    Rows::new(
        Schema::new([Field::new(name, kind)]).unwrap(),
        [Column::new(values)],
    )
    .unwrap()
}

/// The table with this number of columns, all without nulls.
fn of(columns: Vec<(&str, Kind, Values)>) -> Rows {
    let fields = columns
        .iter()
        .map(|(name, kind, _)| Field::new(*name, kind.clone()));
    let schema = Schema::new(fields.collect::<Vec<_>>()).unwrap();
    Rows::new(
        schema,
        columns
            .into_iter()
            .map(|(_, _, values)| Column::new(values)),
    )
    .unwrap()
}

const DAY: i64 = 86_400;

/// Texts that some form stumbles over.
pub(crate) fn odd_texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "",
        " ",
        "plain",
        " leading and trailing ",
        "\t",
        "comma, semicolon; tab\t bar|",
        "\"",
        "\"\"",
        "\"quoted\"",
        "quote \" inside",
        "'single'",
        "line\nfeed",
        "carriage\rreturn",
        "both\r\n",
        "\n",
        "\r",
        "\r\n",
        "\u{feff}",
        "\u{feff}mark first",
        "back\\slash \\n \\u0041",
        "null",
        "NULL",
        "true",
        "NaN",
        "0",
        "-1",
        "1e5",
        "2024-02-29",
        "<tag attribute=\"x\">&amp;</tag>",
        "]]>",
        "<![CDATA[ ]]>",
        "&#0; &lt; &unknown;",
        "ä",
        "äöüß",
        "日本語",
        "😀",
        "👩‍👩‍👧‍👦 e\u{301} \u{202e}right to left",
        "\u{10ffff}\u{e000}",
        "\u{85}\u{2028}\u{2029}\u{a0}",
    ]
    .map(String::from)
    .to_vec();
    texts.push("long ".repeat(20_000));
    texts.push("ß".repeat(70_000));
    texts
}

fn decimal(precision: u8, scale: u8, values: &[i128]) -> (Kind, Values) {
    (
        Kind::Decimal { precision, scale },
        Values::I128(values.to_vec()),
    )
}

/// Each table with what is tried by it.
pub(crate) fn all() -> Vec<(String, Rows)> {
    let mut tables: Vec<(String, Rows)> = Vec::new();
    let mut add = |about: &str, rows: Rows| tables.push((about.to_owned(), rows));

    // Integers, each alone at its ends, and around what varies in length in some form.
    add(
        "booleans",
        one("b", Kind::Bool, Values::Bool(vec![true, false, true])),
    );
    add(
        "small integers",
        of(vec![
            ("i8", Kind::I8, Values::I8(vec![i8::MIN, -1, 0, 1, i8::MAX])),
            (
                "i16",
                Kind::I16,
                Values::I16(vec![i16::MIN, -129, 0, 128, i16::MAX]),
            ),
            (
                "i32",
                Kind::I32,
                Values::I32(vec![i32::MIN, -32_769, 0, 32_768, i32::MAX]),
            ),
            ("u8", Kind::U8, Values::U8(vec![0, 1, 127, 128, u8::MAX])),
            (
                "u16",
                Kind::U16,
                Values::U16(vec![0, 255, 256, 32_768, u16::MAX]),
            ),
            (
                "u32",
                Kind::U32,
                Values::U32(vec![0, 65_535, 65_536, 1 << 31, u32::MAX]),
            ),
        ]),
    );
    add(
        "integers of 53 bits",
        of(vec![
            (
                "i64",
                Kind::I64,
                Values::I64(vec![
                    -(1 << 53),
                    1 << 53,
                    1 << 28,
                    (1 << 28) - 1,
                    -(1 << 28) - 1,
                ]),
            ),
            (
                "u64",
                Kind::U64,
                Values::U64(vec![0, 1 << 53, 1 << 29, (1 << 32) - 1, 1 << 32]),
            ),
        ]),
    );
    add(
        "integers of 64 bits",
        of(vec![
            (
                "i64",
                Kind::I64,
                Values::I64(vec![i64::MIN, i64::MIN + 1, (1 << 53) + 1, i64::MAX]),
            ),
            (
                "u64",
                Kind::U64,
                Values::U64(vec![0, (1 << 53) + 1, i64::MAX as u64 - 1, i64::MAX as u64]),
            ),
        ]),
    );
    add(
        "unsigned integers above 63 bits",
        one("u64", Kind::U64, Values::U64(vec![u64::MAX, 1 << 63])),
    );

    // Floats.
    add(
        "finite floats",
        of(vec![
            (
                "f32",
                Kind::F32,
                Values::F32(vec![
                    0.0,
                    1.0,
                    -1.5,
                    0.1,
                    f32::MIN,
                    f32::MAX,
                    f32::MIN_POSITIVE,
                    f32::from_bits(1),
                    f32::from_bits(0x007f_ffff),
                    16_777_216.0,
                    3.402_823e38,
                    1.0 / 3.0,
                ]),
            ),
            (
                "f64",
                Kind::F64,
                Values::F64(vec![
                    0.0,
                    1.0,
                    -1.5,
                    0.1,
                    f64::MIN,
                    f64::MAX,
                    f64::MIN_POSITIVE,
                    f64::from_bits(1),
                    f64::from_bits(0x000f_ffff_ffff_ffff),
                    9_007_199_254_740_993.0,
                    2.225_073_858_507_201e-308,
                    1.0 / 3.0,
                ]),
            ),
        ]),
    );
    add(
        "f32 zero below zero",
        one("f32", Kind::F32, Values::F32(vec![-0.0, 0.0])),
    );
    add(
        "f64 zero below zero",
        one("f64", Kind::F64, Values::F64(vec![-0.0, 0.0])),
    );
    for (about, f32, f64) in [
        ("infinity", f32::INFINITY, f64::INFINITY),
        ("infinity below zero", f32::NEG_INFINITY, f64::NEG_INFINITY),
        ("not a number", f32::NAN, f64::NAN),
        ("not a number, negative", -f32::NAN, -f64::NAN),
        (
            "not a number, with a payload",
            f32::from_bits(0x7fc0_1234),
            f64::from_bits(0x7ff8_0000_dead_beef),
        ),
        (
            "not a number, signalling",
            f32::from_bits(0x7f80_0001),
            f64::from_bits(0x7ff0_0000_0000_0001),
        ),
    ] {
        add(
            &format!("f32 {about}"),
            one("f32", Kind::F32, Values::F32(vec![1.0, f32])),
        );
        add(
            &format!("f64 {about}"),
            one("f64", Kind::F64, Values::F64(vec![1.0, f64])),
        );
    }

    // Decimals.
    let largest = 10_i128.pow(38) - 1;
    for (about, (kind, values)) in [
        (
            "whole decimals of 38 digits",
            decimal(38, 0, &[0, 1, -1, largest, -largest]),
        ),
        (
            "decimals of 38 digits behind the point",
            decimal(38, 38, &[0, 1, -1, largest, -largest]),
        ),
        (
            "decimals of 38 digits, 10 behind the point",
            decimal(38, 10, &[0, 7, -7, largest, -largest, 10_i128.pow(10)]),
        ),
        (
            "prices",
            decimal(10, 2, &[0, 1, -1, 99, 100, -100, 9_999_999_999]),
        ),
        ("a digit", decimal(1, 0, &[-9, 0, 9])),
        ("a digit behind the point", decimal(1, 1, &[-9, 0, 9])),
        (
            "decimals of 18 and more digits",
            decimal(
                20,
                4,
                &[i64::MAX as i128, i64::MAX as i128 + 1, i64::MIN as i128],
            ),
        ),
    ] {
        add(about, one("d", kind, values));
    }

    // Dates and times.
    add(
        "dates",
        one(
            "date",
            Kind::Date,
            Values::I32(vec![
                0, -1, 1, 19_782,  // 2024-02-29
                -25_508, // 1900-02-28
                -719_162, -719_163, -719_528, -719_529, // the years 1, 0 and -1
                2_932_896, 2_932_897, // the years 9999 and 10000
                10_957, 47_540,
            ]),
        ),
    );
    add(
        "the first and the last date",
        one("date", Kind::Date, Values::I32(vec![i32::MIN, i32::MAX])),
    );
    for unit in UNITS {
        let second = unit.per_second();
        add(
            &format!("times of a day in {unit}"),
            one(
                "time",
                Kind::Time(unit),
                Values::I64(vec![
                    0,
                    1,
                    12 * 3_600 * second + second / 2,
                    DAY * second - 1,
                ]),
            ),
        );
        add(
            &format!("times in {unit}"),
            one(
                "time",
                Kind::Time(unit),
                Values::I64(vec![
                    0,
                    1,
                    -1,
                    DAY * second - 1,
                    DAY * second,
                    -(838 * 3_600 + 59 * 60 + 59) * second,
                    12 * 3_600 * second + second / 2,
                ]),
            ),
        );
        let moments = vec![
            0,
            1,
            -1,
            1_700_000_000 * second + second - 1,
            -(DAY * second),
            -(DAY * second) - 1,
            951_782_400 * second, // 2000-02-29
        ];
        for (about, zone) in [
            ("without a zone", Zone::Local),
            ("in UTC", Zone::Utc),
            ("in a zone", Zone::Named("Europe/Berlin".into())),
            ("at an offset", Zone::Named("+02:00".into())),
        ] {
            add(
                &format!("timestamps in {unit} {about}"),
                one(
                    "at",
                    Kind::Timestamp(unit, zone),
                    Values::I64(moments.clone()),
                ),
            );
        }
        let ends = Values::I64(vec![i64::MIN, i64::MIN + 1, i64::MAX]);
        add(
            &format!("the longest times in {unit}"),
            one("time", Kind::Time(unit), ends.clone()),
        );
        add(
            &format!("the first and last timestamps in {unit} without a zone"),
            one("at", Kind::Timestamp(unit, Zone::Local), ends.clone()),
        );
        add(
            &format!("the first and last timestamps in {unit} in UTC"),
            one("at", Kind::Timestamp(unit, Zone::Utc), ends),
        );
    }

    // Identifiers, text, bytes.
    add(
        "identifiers",
        one(
            "id",
            Kind::Uuid,
            Values::Uuid(vec![
                [0; 16],
                [255; 16],
                std::array::from_fn(|at| at as u8 * 17),
            ]),
        ),
    );
    for text in odd_texts() {
        let about: String = text.chars().take(30).collect();
        add(
            &format!("the text {about:?}"),
            one(
                "t",
                Kind::Text,
                Values::Text([&text, &text].into_iter().collect()),
            ),
        );
    }
    add(
        "all texts",
        one(
            "t",
            Kind::Text,
            Values::Text(odd_texts().into_iter().collect()),
        ),
    );
    for control in [
        "\0", "a\0b", "\u{1}", "\u{1f}", "\u{8}", "\u{fffe}", "\u{ffff}",
    ] {
        add(
            &format!("the control character {control:?}"),
            one(
                "t",
                Kind::Text,
                Values::Text([control, ""].into_iter().collect()),
            ),
        );
    }
    add(
        "texts of one length",
        one(
            "t",
            Kind::Text,
            Values::Text(["ff8800", "0088ff", "00ff00"].into_iter().collect()),
        ),
    );
    let every_byte: Vec<u8> = (0..=255).collect();
    let byte_strings: Vec<&[u8]> = vec![
        &[],
        &[0],
        &[255],
        b"text",
        &every_byte,
        b"\"",
        b"\n",
        b",",
        &[0xff, 0xfe],
        &[1, 2],
        &[1, 2, 3],
    ];
    add(
        "bytes",
        one(
            "raw",
            Kind::Bytes,
            Values::Bytes(byte_strings.into_iter().collect()),
        ),
    );
    add(
        "long bytes",
        one(
            "raw",
            Kind::Bytes,
            Values::Bytes([every_byte.repeat(300), Vec::new()].into_iter().collect()),
        ),
    );

    // Nulls: everywhere, in one column alone, of each type.
    for every in [1, 2, 3] {
        add(
            &format!("each type, with one null in {every}"),
            each_kind(100, Some(every)),
        );
    }
    add(
        "each type, with no null where some could be",
        each_kind(100, Some(1_000)),
    );
    add("each type, without nulls", each_kind(100, None));
    add("one row of each type", each_kind(1, None));
    add("one row of nulls", each_kind(1, Some(1)));
    for (field, column) in each_kind(70, Some(3)).fields() {
        add(
            &format!("nulls among {}", field.kind()),
            Rows::new(Schema::new([field.clone()]).unwrap(), [column.clone()]).unwrap(),
        );
    }
    let texts = Schema::new([Field::nullable("t", Kind::Text)]).unwrap();
    for column in [
        vec![None],
        vec![Some("")],
        vec![Some(""), None],
        vec![None, Some("")],
        vec![None, None, Some(""), Some("null"), None],
    ] {
        let about = format!("nulls beside empty texts: {column:?}");
        add(
            &about,
            Rows::new(texts.clone(), [Column::from_iter(column)]).unwrap(),
        );
    }

    // Shapes.
    add("no column at all", Rows::empty(Schema::new([]).unwrap()));
    add("no rows", Rows::empty(each_kind(1, None).schema().clone()));
    add(
        "no rows, nulls allowed",
        Rows::empty(each_kind(1, Some(1)).schema().clone()),
    );
    let number = |value: u16| Values::U16(vec![value]);
    add(
        "two columns of one name",
        of(vec![
            ("id", Kind::U16, number(1)),
            ("name", Kind::U16, number(2)),
            ("id", Kind::U16, number(3)),
        ]),
    );
    add(
        "odd names",
        of(vec![
            ("", Kind::U16, number(1)),
            (" ", Kind::U16, number(2)),
            ("with, comma", Kind::U16, number(3)),
            ("with \"quotes\"", Kind::U16, number(4)),
            ("line\nfeed\r", Kind::U16, number(5)),
            ("größe 日本 😀", Kind::U16, number(6)),
            ("<b>&amp;</b>", Kind::U16, number(7)),
            ("a.b[0]", Kind::U16, number(8)),
            ("1", Kind::U16, number(9)),
            ("__proto__", Kind::U16, number(10)),
        ]),
    );
    add(
        "a name that begins with a mark",
        one("\u{feff}n", Kind::U16, number(1)),
    );
    add("a name of nothing", one("", Kind::U16, number(1)));
    add(
        "a name with a control character",
        one("a\0b", Kind::U16, number(1)),
    );
    add("a long name", one(&"n".repeat(5_000), Kind::U16, number(1)));
    let names: Vec<String> = (0..300).map(|column| format!("column {column}")).collect();
    add(
        "300 columns",
        of(names
            .iter()
            .enumerate()
            .map(|(index, name)| {
                let values = (0..5).map(|row| (index * row) as i32 - 300).collect();
                (name.as_str(), Kind::I32, Values::I32(values))
            })
            .collect()),
    );
    add("70,000 rows", many_rows());
    tables
}

/// More rows than fit a chunk or 16 bits.
fn many_rows() -> Rows {
    const ROWS: u32 = 70_000;
    let schema = Schema::new([
        Field::new("n", Kind::U32),
        Field::nullable("x", Kind::I16),
        Field::new("color", Kind::Text),
        Field::new("real", Kind::F64),
    ])
    .unwrap();
    let scattered = |row: u32| row.wrapping_mul(2_654_435_761);
    let columns = [
        Column::from((0..ROWS).collect::<Vec<_>>()),
        Column::from(
            (0..ROWS)
                .map(|row| (row % 1_000 != 7).then_some((scattered(row) >> 20) as i16))
                .collect::<Vec<_>>(),
        ),
        Column::from(
            (0..ROWS)
                .map(|row| format!("{:06x}", scattered(row) >> 8))
                .collect::<tamtam_rows::Strings>(),
        ),
        Column::from(
            (0..ROWS)
                .map(|row| f64::from(scattered(row)) / 1_000.0)
                .collect::<Vec<_>>(),
        ),
    ];
    Rows::new(schema, columns).unwrap()
}

/// A table with a column of each type, whose values every form can carry. Where `null_every` is given, each so
/// manieth value is null, in each column at another row.
pub(crate) fn each_kind(rows: usize, null_every: Option<usize>) -> Rows {
    let numbers = 0..rows as i64;
    let ints = |most: i64| numbers.clone().map(move |n| (n * 7_919) % most - most / 2);
    let mut columns: Vec<(Kind, Values)> = vec![
        (
            Kind::Bool,
            Values::Bool(numbers.clone().map(|n| n % 3 == 0).collect()),
        ),
        (Kind::I8, Values::I8(ints(200).map(|n| n as i8).collect())),
        (
            Kind::I16,
            Values::I16(ints(60_000).map(|n| n as i16).collect()),
        ),
        (
            Kind::I32,
            Values::I32(ints(1 << 31).map(|n| n as i32).collect()),
        ),
        (Kind::I64, Values::I64(ints(1 << 40).collect())),
        (
            Kind::U8,
            Values::U8(numbers.clone().map(|n| n as u8).collect()),
        ),
        (
            Kind::U16,
            Values::U16(numbers.clone().map(|n| (n * 600) as u16).collect()),
        ),
        (
            Kind::U32,
            Values::U32(
                numbers
                    .clone()
                    .map(|n| (n as u32).wrapping_mul(40_000_000))
                    .collect(),
            ),
        ),
        (
            Kind::U64,
            Values::U64(numbers.clone().map(|n| n as u64 * 90_000_000_000).collect()),
        ),
        (
            Kind::F32,
            Values::F32(numbers.clone().map(|n| n as f32 * 0.1 - 3.0).collect()),
        ),
        (
            Kind::F64,
            Values::F64(numbers.clone().map(|n| n as f64 / 3.0 - 5.0).collect()),
        ),
        decimal(12, 3, &ints(1 << 30).map(i128::from).collect::<Vec<_>>()),
        (
            Kind::Date,
            Values::I32(ints(100_000).map(|n| n as i32).collect()),
        ),
        (
            Kind::Uuid,
            Values::Uuid(numbers.clone().map(|n| [n as u8; 16]).collect()),
        ),
        (
            Kind::Text,
            Values::Text(
                numbers
                    .clone()
                    .map(|n| "tamtam, ä\"".repeat(n as usize % 4))
                    .collect(),
            ),
        ),
        (
            Kind::Bytes,
            Values::Bytes(
                numbers
                    .clone()
                    .map(|n| vec![n as u8 ^ 0xf0; n as usize % 5])
                    .collect(),
            ),
        ),
    ];
    for unit in UNITS {
        let moments = || Values::I64(ints(1 << 30).map(|n| n * unit.per_second() / 777).collect());
        // Within a day: the plain tables are for every form.
        let day = 86_400 * unit.per_second();
        let times = ints(1 << 50).map(|n| n.rem_euclid(day)).collect();
        columns.push((Kind::Time(unit), Values::I64(times)));
        columns.push((Kind::Timestamp(unit, Zone::Local), moments()));
        columns.push((Kind::Timestamp(unit, Zone::Utc), moments()));
        columns.push((
            Kind::Timestamp(unit, Zone::Named("America/New_York".into())),
            moments(),
        ));
    }
    let (fields, columns): (Vec<Field>, Vec<Column>) = columns
        .into_iter()
        .enumerate()
        .map(|(index, (kind, values))| {
            let name = format!("{kind} {index}");
            match null_every {
                None => (Field::new(name, kind), Column::new(values)),
                Some(every) => {
                    let nulls: Nulls = (0..rows)
                        .map(|row| (row + index + 1) % every == 0)
                        .collect();
                    (
                        Field::nullable(name, kind),
                        Column::with_nulls(values, nulls).unwrap(),
                    )
                }
            }
        })
        .unzip();
    Rows::new(Schema::new(fields).unwrap(), columns).unwrap()
}
