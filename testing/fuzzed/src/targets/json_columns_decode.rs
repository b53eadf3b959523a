//! Any bytes as the form `json-columns`: no panic, limits hold, and a table is written and read the same again.

use tamtam_rows::encoding::JsonColumns;

/// Panics where what this file promises does not hold for these bytes.
pub fn run(bytes: &[u8]) {
    crate::forms::decode_as_said(&JsonColumns, bytes);
}
