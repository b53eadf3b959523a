//! Any bytes as the form `json-objects`: no panic, limits hold, and a table is written and read the same again.

use tamtam_rows::encoding::JsonObjects;

/// Panics where what this file promises does not hold for these bytes.
pub fn run(bytes: &[u8]) {
    crate::forms::decode_as_said(&JsonObjects, bytes);
}
