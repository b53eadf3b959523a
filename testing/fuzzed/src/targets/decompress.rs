//! Any bytes as a compressed body: no panic, and never more than the limit.

use tamtam_rows::{CompressionKind, decompress};

const LIMIT: usize = 1 << 16;

/// Panics where what this file promises does not hold for these bytes.
pub fn run(bytes: &[u8]) {
    let Some((&first, bytes)) = bytes.split_first() else {
        return;
    };
    let kinds = CompressionKind::ALL;
    if let Ok(body) = decompress(kinds[usize::from(first) % kinds.len()], bytes, LIMIT) {
        assert!(body.len() <= LIMIT);
    }
}
