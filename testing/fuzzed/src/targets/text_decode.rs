//! Any bytes as delimited text: no panic, limits hold, a table is written and read the same again, and whoever reads
//! part by part reads the same.

use crate::forms::{LIMITS, decode_and_back, schema};
use tamtam_rows::Encoding;
use tamtam_rows::encoding::{Text, TextReader};

/// Panics where what this file promises does not hold for these bytes.
pub fn run(bytes: &[u8]) {
    let Some((&first, bytes)) = bytes.split_first() else {
        return;
    };
    let schema = schema(first);
    let form = Text {
        header: first < 128,
        delimiter: if first & 64 == 0 { b',' } else { b';' },
    };
    decode_and_back(&form, bytes, Some(&schema));
    let mut reader =
        TextReader::new(bytes, form, &schema, LIMITS).expect("the limits allow these columns");
    let mut parts = Vec::new();
    let end = loop {
        match reader.next_chunk() {
            Ok(Some(rows)) => parts.push(rows),
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    match (form.decode(bytes, Some(&schema), &LIMITS), end) {
        (Ok(rows), Ok(())) => {
            assert_eq!(
                rows.len(),
                parts.iter().map(|part| part.len()).sum::<usize>()
            );
            // A text of this size is one part.
            if let [part] = &parts[..] {
                assert_eq!(*part, rows);
            }
        }
        (Err(_), Err(_)) => {}
        (whole, parts) => panic!("whole: {whole:?}; part by part: {parts:?}"),
    }
}
