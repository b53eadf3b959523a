//! Many objects at a time are what the same objects are one by one.

use tamtam_amf::amf0::{Encoder, Name};
use tamtam_amf::recordset::{Cell, Column, Texts};
use tamtam_amf::{EncodeError, MAX_DEPTH};

const ROWS: usize = 300;

/// The bytes of an array of so many objects.
fn array(rows: usize, write: impl FnOnce(&mut Encoder<'_>) -> Result<(), EncodeError>) -> Vec<u8> {
    let mut bytes = b"before".to_vec();
    let mut encoder = Encoder::new(&mut bytes);
    encoder.begin_strict_array(rows as u32).unwrap();
    write(&mut encoder).unwrap();
    encoder.end().unwrap();
    encoder.finish().unwrap();
    bytes
}

fn write(encoder: &mut Encoder<'_>, cell: Cell<'_>) -> Result<(), EncodeError> {
    match cell {
        Cell::Null => encoder.write_null(),
        Cell::Number(number) => encoder.write_number(number),
        Cell::Boolean(boolean) => encoder.write_boolean(boolean),
        Cell::String(text) => encoder.write_string(text),
        Cell::Date(milliseconds) => encoder.write_date(milliseconds, 0),
    }
}

/// Objects with these names, by columns and one by one.
fn both(names: &[Name], columns: &[Column<'_>], cell: impl Fn(usize, usize) -> Cell<'static>) {
    let by_columns = array(ROWS, |encoder| encoder.write_objects(names, columns));
    let one_by_one = array(ROWS, |encoder| {
        for row in 0..ROWS {
            encoder.begin_object()?;
            for (column, name) in names.iter().enumerate() {
                encoder.property_name(name)?;
                write(encoder, cell(row, column))?;
            }
            encoder.end()?;
        }
        Ok(())
    });
    assert!(
        by_columns == one_by_one,
        "columns named {names:?} make other objects"
    );
}

#[test]
fn objects_by_columns_are_those_that_are_written_one_by_one() {
    let numbers: Vec<i16> = (0..ROWS as i16).map(|row| row - 100).collect();
    let flags: Vec<bool> = (0..ROWS).map(|row| row % 3 == 0).collect();
    let words = [
        "",
        "a",
        "€",
        "äb",
        "abcdefgh",
        "more than thirty-two bytes of a text",
    ];
    let slices: Vec<&str> = (0..ROWS).map(|row| words[row % 7 % 6]).collect();
    let text = slices.concat();
    let mut places = vec![0];
    for slice in &slices {
        places.push(places[places.len() - 1] + slice.len() as u32);
    }
    let texts = Texts::new(&text, &places).unwrap();
    let other = |row: usize| match row % 5 {
        0 => Cell::Null,
        1 => Cell::Date(row as f64),
        2 => Cell::String("a text"),
        3 => Cell::Boolean(true),
        _ => Cell::Number(0.5),
    };
    let others: Vec<Cell<'_>> = (0..ROWS).map(other).collect();
    let cell = |row: usize, column: usize| match column % 5 {
        0 => Cell::Number(numbers[row].into()),
        1 => Cell::Boolean(flags[row]),
        2 | 3 => Cell::String(slices[row]),
        _ => other(row),
    };
    let columns = [
        Column::I16(&numbers),
        Column::Boolean(&flags),
        Column::Texts(texts),
        Column::Text(&slices),
        Column::Any(&others),
    ];
    // What is the same in each object is of each length, and so are the pieces in which it is put.
    for length in 0..70 {
        let name = |column: usize| Name::new(&"n".repeat(length * (column % 2))).unwrap();
        let names: Vec<Name> = (0..5).map(name).collect();
        for first in 0..5 {
            for end in first + 1..=5 {
                both(&names[first..end], &columns[first..end], |row, column| {
                    cell(row, first + column)
                });
            }
        }
    }
}

#[test]
fn columns_that_make_no_objects_are_refused() {
    let names = [Name::new("a").unwrap(), Name::new("b").unwrap()];
    let one = Column::U8(&[1]);
    let two = Column::Text(&["x", "y"]);
    let refused = |columns: &[Column<'_>]| {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes);
        encoder.begin_strict_array(1).unwrap();
        let refused = encoder.write_objects(&names, columns).unwrap_err();
        // Nothing was written or counted.
        encoder.write_objects(&names, &[one, one]).unwrap();
        encoder.end().unwrap();
        encoder.finish().unwrap();
        refused
    };
    assert_eq!(refused(&[one, one, one]), EncodeError::NoName);
    assert_eq!(refused(&[one]), EncodeError::FewerThanAnnounced { left: 1 });
    assert_eq!(
        refused(&[one, two]),
        EncodeError::Uneven { rows: 1, other: 2 }
    );
    assert_eq!(refused(&[two, two]), EncodeError::MoreThanAnnounced);
}

#[test]
fn objects_by_columns_have_their_place_in_an_array() {
    let names = [Name::new("a").unwrap()];
    let column = [Column::U8(&[1])];
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes);
    let refused = encoder.write_objects(&names, &column);
    assert_eq!(refused.unwrap_err(), EncodeError::NoArray);
    encoder.begin_object().unwrap();
    encoder.property("list").unwrap();
    let refused = encoder.write_objects(&names, &column);
    assert_eq!(refused.unwrap_err(), EncodeError::NoArray);
    for _ in 1..MAX_DEPTH - 1 {
        encoder.begin_strict_array(1).unwrap();
    }
    encoder.begin_strict_array(1).unwrap();
    // As many are open as there may be.
    let refused = encoder.write_objects(&names, &column);
    let limit = MAX_DEPTH;
    assert_eq!(refused.unwrap_err(), EncodeError::TooDeep { limit });
}

#[test]
fn objects_by_columns_are_counted_for_references() {
    let names = [Name::new("a").unwrap()];
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes);
    encoder.begin_strict_array(4).unwrap();
    encoder
        .write_objects(&names, &[Column::U8(&[1, 2, 3])])
        .unwrap();
    // The array and three objects.
    let refused = encoder.write_reference(4).unwrap_err();
    assert_eq!(refused, EncodeError::Reference { index: 4, known: 4 });
    encoder.write_reference(3).unwrap();
    encoder.end().unwrap();
    encoder.finish().unwrap();
}

#[test]
fn texts_are_divided_between_characters() {
    assert_eq!(Texts::new("abc", &[1, 1, 3]).unwrap().len(), 2);
    assert!(Texts::new("", &[0]).unwrap().is_empty());
    for places in [&[][..], &[0, 2, 1], &[0, 4], &[2, 1]] {
        assert!(Texts::new("abc", places).is_none(), "{places:?}");
    }
    for places in [[0, 1, 3], [1, 2, 3]] {
        assert!(Texts::new("äb", &places).is_none(), "{places:?}");
    }
    assert!(Texts::new("äb", &[0, 2, 3]).is_some());
}
