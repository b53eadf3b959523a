//! Types found for any delimited text read all of it.

use crate::forms::LIMITS;
use tamtam_rows::encoding::Text;
use tamtam_rows::{DecodeError, Encoding, infer};

/// Panics where what this file promises does not hold for these bytes.
pub fn run(bytes: &[u8]) {
    let form = Text {
        delimiter: infer::delimiter(bytes),
        ..Text::HEADED
    };
    if let Ok(schema) = infer::text(bytes, form, &LIMITS) {
        match form.decode(bytes, Some(&schema), &LIMITS) {
            Ok(_) | Err(DecodeError::Limit { .. }) => {}
            Err(error) => panic!("{schema:?}: {error}"),
        }
    }
}
