//! What the guide's page "The packed encoding" shows is what the encoder writes.

use std::path::PathBuf;

use tamtam_rows::packed::{Mode, decode, encode};
use tamtam_rows::{Column, Field, Kind, Limits, Rows, Schema};

/// The table that the page takes apart.
fn table() -> Rows {
    let schema = Schema::new([
        Field::new("n", Kind::U16),
        Field::nullable("name", Kind::Text),
    ]);
    let names = [Some("ant"), None, Some("ox"), Some("bee")];
    Rows::new(
        schema.unwrap(),
        [
            Column::from(vec![10_u16, 11, 13, 14]),
            names.into_iter().collect(),
        ],
    )
    .unwrap()
}

/// The bytes on the left of the page's annotated file.
fn annotated() -> Vec<u8> {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/rows/packed.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, behind) = page.split_once("## A file, byte by byte").unwrap();
    let (_, block) = behind.split_once("```text\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let bytes = block.lines().flat_map(|line| {
        // Two spaces end the bytes of a line.
        let bytes = line.split("  ").next().unwrap();
        bytes
            .split(' ')
            .map(|byte| u8::from_str_radix(byte, 16).unwrap())
    });
    bytes.collect()
}

#[test]
fn the_annotated_file_is_what_the_encoder_writes() {
    let rows = table();
    let mut bytes = Vec::new();
    encode(&rows, Mode::Packed, &mut bytes).unwrap();
    let page = annotated();
    assert_eq!(page, bytes, "the encoder writes {bytes:02x?}");
    assert_eq!(decode(&page, &Limits::default()).unwrap(), rows);
}
