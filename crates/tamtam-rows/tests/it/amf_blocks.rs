//! Record sets of many rows, which are read and written many rows at a time: what is wrong is still said of one.

use tamtam_amf::recordset::{Cell, Encoder, ServerInfo};
use tamtam_rows::encoding::{Amf0Objects, Amf0RecordSet};
use tamtam_rows::{Column, DecodeError, Encoding, Field, Kind, Limits, Rows, Schema};

use crate::support::encoded;

const ROWS: usize = 1_100;

fn decode(bytes: &[u8], schema: &Schema, limits: &Limits) -> Result<Rows, DecodeError> {
    Amf0RecordSet.decode(bytes, Some(schema), limits)
}

/// A table of one column.
fn column(kind: Kind, column: impl Into<Column>) -> Rows {
    let column = column.into();
    let field = match column.nulls() {
        Some(_) => Field::nullable("c", kind),
        None => Field::new("c", kind),
    };
    Rows::new(Schema::new([field]).unwrap(), [column]).unwrap()
}

/// The rows of a record set of one column.
fn cells<'c>(cells: impl ExactSizeIterator<Item = Cell<'c>>) -> Vec<u8> {
    let rows = u32::try_from(cells.len()).unwrap();
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, ServerInfo::whole(["c"], rows), rows).unwrap();
    cells.for_each(|cell| encoder.write_row([cell]).unwrap());
    encoder.finish().unwrap();
    bytes
}

fn numbers<T>(number: impl Fn(usize) -> T) -> Vec<T> {
    (0..ROWS).map(number).collect()
}

#[test]
fn columns_of_every_kind_come_back() {
    let texts = |text: fn(usize) -> String| -> Column {
        let texts: Vec<_> = (0..ROWS).map(text).collect();
        texts.iter().map(String::as_str).collect()
    };
    let decimal = Kind::Decimal {
        precision: 30,
        scale: 2,
    };
    let uuids: Vec<_> = numbers(|row| [row as u8; 16]);
    let tables = [
        column(Kind::Bool, numbers(|row| row % 3 == 0)),
        column(Kind::I8, numbers(|row| (row % 256) as u8 as i8)),
        column(Kind::I16, numbers(|row| row as i16 - 500)),
        column(Kind::I32, numbers(|row| i32::MIN + row as i32)),
        column(Kind::I64, numbers(|row| row as i64 - (1 << 53))),
        column(Kind::U8, numbers(|row| (row % 256) as u8)),
        column(Kind::U16, numbers(|row| u16::MAX - row as u16)),
        column(Kind::U32, numbers(|row| u32::MAX - row as u32)),
        column(Kind::U64, numbers(|row| (1_u64 << 53) - row as u64)),
        column(Kind::F32, numbers(|row| row as f32 * 0.25)),
        column(Kind::F64, numbers(|row| -(row as f64) * 0.1)),
        column(Kind::Date, numbers(|row| row as i32 - 500)),
        column(decimal, numbers(|row| 1_i128 << (row % 90))),
        column(Kind::Uuid, Column::from(uuids)),
        column(Kind::Text, texts(|row| "aäb€𝄞".repeat(row % 5))),
        column(Kind::Text, texts(|row| format!("{row:07}"))),
    ];
    for table in tables {
        for form in [&Amf0RecordSet as &dyn Encoding, &Amf0Objects::TYPED] {
            let bytes = encoded(form, &table);
            let found = form.decode(&bytes, Some(table.schema()), &Limits::default());
            assert_eq!(
                found.unwrap(),
                table,
                "{} {:?}",
                form.name(),
                table.schema()
            );
        }
    }
}

#[test]
fn nulls_come_back_wherever_they_are() {
    let places: [fn(usize) -> bool; 4] = [
        |row| row == ROWS - 1,
        |row| row == 0,
        |row| row % 7 == 3,
        |row| (100..900).contains(&row),
    ];
    for is_null in places {
        let some = |row| (!is_null(row)).then_some(row);
        let texts = numbers(|row| some(row).map(|row| row.to_string()));
        let tables = [
            column(Kind::I16, numbers(|row| some(row).map(|row| row as i16))),
            column(Kind::Bool, numbers(|row| some(row).map(|row| row % 2 == 0))),
            column(Kind::I64, numbers(|row| some(row).map(|row| row as i64))),
            column(
                Kind::Text,
                texts.iter().map(Option::as_deref).collect::<Column>(),
            ),
        ];
        for table in tables {
            let bytes = encoded(&Amf0RecordSet, &table);
            let found = decode(&bytes, table.schema(), &Limits::default());
            assert_eq!(found.unwrap(), table, "{:?}", table.schema());
        }
    }
}

#[test]
fn a_value_that_does_not_fit_is_named_with_its_row() {
    let wrong = [
        (Kind::I16, Cell::Number(32_768.0)),
        (Kind::I16, Cell::Number(0.5)),
        (Kind::I16, Cell::Number(-0.0)),
        (Kind::I32, Cell::Number(f64::NAN)),
        (Kind::U8, Cell::Number(-1.0)),
        (Kind::U32, Cell::Number(4_294_967_296.0)),
        // The integer of 32 bits that these have in their lowest bits is another one.
        (Kind::I32, Cell::Number(1.5 * (1_u64 << 52) as f64 + 7.0)),
        (Kind::U32, Cell::Number(9_007_199_254_740_993.0)),
        (Kind::I64, Cell::Number(f64::INFINITY)),
        (Kind::U16, Cell::Null),
        (Kind::U16, Cell::String("7")),
        (Kind::U16, Cell::Boolean(true)),
    ];
    for (kind, cell) in wrong {
        for row in [0, 127, 128, 700] {
            let bytes = cells((0..ROWS).map(|other| match other == row {
                true => cell,
                false => Cell::Number(1.0),
            }));
            let schema = Schema::new([Field::new("c", kind.clone())]).unwrap();
            match decode(&bytes, &schema, &Limits::default()) {
                Err(DecodeError::Value {
                    column, row: found, ..
                }) => assert_eq!((&*column, found), ("c", row), "{kind} of {cell:?}"),
                other => panic!("{kind} of {cell:?}: {other:?}"),
            }
        }
    }
}

#[test]
fn a_null_in_texts_that_have_none_is_named_with_its_row() {
    let bytes = cells((0..ROWS).map(|row| match row == 500 {
        true => Cell::Null,
        false => Cell::String("x"),
    }));
    let schema = Schema::new([Field::new("c", Kind::Text)]).unwrap();
    let error = decode(&bytes, &schema, &Limits::default()).unwrap_err();
    assert!(
        matches!(error, DecodeError::Value { row: 500, .. }),
        "{error}"
    );
}

/// Two texts that are none by themselves are one when they lie one behind the other.
#[test]
fn a_character_that_is_divided_between_two_texts_is_refused() {
    let whole = cells((0..ROWS).map(|_| Cell::String("ab")));
    let schema = Schema::new([Field::new("c", Kind::Text)]).unwrap();
    assert_eq!(
        decode(&whole, &schema, &Limits::default()).unwrap().len(),
        ROWS
    );
    let texts: Vec<_> = whole
        .windows(2)
        .enumerate()
        .filter_map(|(at, pair)| (pair == b"ab").then_some(at))
        .collect();
    assert_eq!(texts.len(), ROWS);
    let mut divided = whole;
    // The two bytes of an umlaut.
    divided[texts[600] + 1] = 0xc3;
    divided[texts[601]] = 0xa4;
    let error = decode(&divided, &schema, &Limits::default()).unwrap_err();
    assert!(error.to_string().contains("UTF-8"), "{error}");
    assert!(
        error.to_string().contains(&(texts[600] + 1).to_string()),
        "{error}"
    );
}

#[test]
fn limits_are_exceeded_at_the_same_row() {
    let table = column(Kind::Text, Column::from_iter((0..ROWS).map(|_| "0123456")));
    let bytes = encoded(&Amf0RecordSet, &table);
    for most in [0, 1, 127, 128, 600, ROWS as u64 - 1] {
        let limits = Limits {
            rows: most,
            ..Limits::default()
        };
        let declared = match decode(&bytes, table.schema(), &limits).unwrap_err() {
            DecodeError::Limit {
                what: "rows",
                declared,
                ..
            } => declared,
            other => panic!("{other}"),
        };
        assert_eq!(declared, most + 1);
    }
    // Four bytes for the place of each text, and seven of its own.
    let all = ROWS as u64 * 11;
    for (bytes_allowed, is_enough) in [(all, true), (all - 1, false), (5_000, false)] {
        let limits = Limits {
            bytes: bytes_allowed,
            ..Limits::default()
        };
        let found = decode(&bytes, table.schema(), &limits);
        match found {
            Ok(found) => assert!(is_enough && found == table),
            Err(DecodeError::Limit {
                what: "bytes",
                declared,
                ..
            }) => assert_eq!(
                (is_enough, declared),
                (false, (bytes_allowed / 11 + 1) * 11),
                "{bytes_allowed}"
            ),
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn a_long_text_among_short_ones_comes_back() {
    let long = "y".repeat(70_000);
    let texts = (0..ROWS).map(|row| if row == 300 { long.as_str() } else { "x" });
    let table = column(Kind::Text, Column::from_iter(texts));
    let bytes = encoded(&Amf0RecordSet, &table);
    let found = decode(&bytes, table.schema(), &Limits::default()).unwrap();
    assert_eq!(found, table);
}
