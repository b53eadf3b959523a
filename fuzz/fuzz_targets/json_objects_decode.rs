//! Any bytes as the form `json-objects`: no panic, limits hold, and a table is written and read the same again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tamtam_rows::encoding::JsonObjects;

fuzz_target!(|bytes: &[u8]| tamtam_fuzz::decode_as_said(&JsonObjects, bytes));
