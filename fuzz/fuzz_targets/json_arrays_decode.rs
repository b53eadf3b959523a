//! Any bytes as the form `json-arrays`: no panic, limits hold, and a table is written and read the same again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tamtam_rows::encoding::JsonArrays;

fuzz_target!(|bytes: &[u8]| tamtam_fuzz::decode_as_said(&JsonArrays, bytes));
