//! Types found for any JSON: no panic, and what they do not read is a value of another type than those before it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tamtam_fuzz::LIMITS;
use tamtam_rows::{DecodeError, infer};

fuzz_target!(|bytes: &[u8]| {
    if let Ok((form, schema)) = infer::json(bytes, &LIMITS) {
        match form.decode(bytes, Some(&schema), &LIMITS) {
            Ok(_) => {}
            // Numbers beside texts; a name twice; columns of different lengths.
            Err(
                DecodeError::Value { .. }
                | DecodeError::Limit { .. }
                | DecodeError::Schema { .. }
                | DecodeError::Malformed { .. },
            ) => {}
            Err(error) => panic!("{schema:?}: {error}"),
        }
    }
});
