//! Types found for any delimited text read all of it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tamtam_fuzz::LIMITS;
use tamtam_rows::encoding::Text;
use tamtam_rows::{DecodeError, Encoding, infer};

fuzz_target!(|bytes: &[u8]| {
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
});
