//! What a packed table that was damaged on its way gives before the error.

use tamtam_rows::packed::{Mode, Reader, Writer, decode};
use tamtam_rows::{Column, Field, Kind, Limits, Rows, Schema};

/// Parts of which each becomes a chunk: one of a single row, whose number is a bit from that of 33, one in which every
/// column is constant, so that any number of rows can be read of it, and others.
fn parts() -> Vec<Rows> {
    let schema = Schema::new([
        Field::new("n", Kind::I32),
        Field::nullable("text", Kind::Text),
    ])
    .unwrap();
    let part = |rows: std::ops::Range<i32>| {
        let texts = rows
            .clone()
            .map(|row| (row % 3 != 1).then_some(["red", "blue", "green"][row as usize % 3]));
        let numbers: Vec<i32> = rows.clone().map(|row| row * row % 23).collect();
        Rows::new(schema.clone(), [Column::from(numbers), texts.collect()]).unwrap()
    };
    let constant = Rows::new(
        schema.clone(),
        [
            Column::from(vec![7; 20]),
            std::iter::repeat_n(Some("red"), 20).collect(),
        ],
    );
    vec![part(0..1), constant.unwrap(), part(1..12), part(12..45)]
}

fn written(parts: &[Rows], mode: Mode) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), parts[0].schema(), mode).unwrap();
    parts.iter().for_each(|part| writer.write(part).unwrap());
    writer.finish().unwrap()
}

#[test]
fn one_flipped_bit_anywhere_never_yields_a_row_that_was_not_written_before_the_error() {
    let parts = parts();
    for mode in [Mode::Packed, Mode::Small, Mode::Plain] {
        let bytes = written(&parts, mode);
        for bit in 0..bytes.len() * 8 {
            let mut bad = bytes.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let what = format!("{mode:?}, bit {bit} of {}", bytes.len() * 8);
            decode(&bad, &Limits::default()).expect_err(&what);
            let Ok(mut reader) = Reader::new(&bad[..], Limits::default()) else {
                continue;
            };
            let mut given = 0;
            loop {
                match reader.next_chunk() {
                    Ok(Some(rows)) => {
                        assert_eq!(Some(&rows), parts.get(given), "{what}");
                        given += 1;
                    }
                    Ok(None) => panic!("{what}: read to the end as if nothing had happened"),
                    Err(_) => break,
                }
            }
        }
    }
}
