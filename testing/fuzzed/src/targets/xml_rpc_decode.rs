//! Any bytes as the form `xml-rpc`: no panic, limits hold, and a table is written and read the same again.

use tamtam_rows::encoding::XmlRpc;

/// Panics where what this file promises does not hold for these bytes.
pub fn run(bytes: &[u8]) {
    crate::forms::decode_as_said(&XmlRpc, bytes);
}
