//! Types found for any JSON: no panic, and what they do not read is a value of another type than those before it.

use crate::forms::LIMITS;
use tamtam_rows::encoding::JsonReader;
use tamtam_rows::{DecodeError, Rows, Schema, infer};

/// What is read part by part, as lines of other rows, too, is what was read as a whole, if it was.
fn in_parts(bytes: &[u8], schema: &Schema, whole: Option<&Rows>) {
    let Ok(mut reader) = JsonReader::new(bytes, schema, LIMITS) else {
        return;
    };
    let mut row = 0;
    loop {
        let part = match reader.next_chunk() {
            Ok(Some(part)) => part,
            Ok(None) => break,
            Err(error) => {
                assert!(whole.is_none(), "{error}");
                return;
            }
        };
        if let Some(whole) = whole {
            assert!(part == whole.part(row..row + part.len()));
        }
        row += part.len();
    }
    assert!(whole.is_none_or(|whole| whole.len() == row));
}

/// Panics where what this file promises does not hold for these bytes.
pub fn run(bytes: &[u8]) {
    if let Ok((form, schema)) = infer::json(bytes, &LIMITS) {
        match form.decode(bytes, Some(&schema), &LIMITS) {
            Ok(rows) => {
                let found = infer::json_parts(bytes, &LIMITS).expect("it was read as a whole");
                assert_eq!(found, schema);
                in_parts(bytes, &schema, Some(&rows));
            }
            // Numbers beside texts; a name twice; columns of different lengths.
            Err(
                DecodeError::Value { .. }
                | DecodeError::Limit { .. }
                | DecodeError::Schema { .. }
                | DecodeError::Malformed { .. },
            ) => {}
            Err(error) => panic!("{schema:?}: {error}"),
        }
    } else if let Ok(schema) = infer::json_parts(bytes, &LIMITS) {
        in_parts(bytes, &schema, None);
    }
}
