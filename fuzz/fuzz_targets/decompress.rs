//! Any bytes as a compressed body: no panic, and never more than the limit.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tamtam_rows::{CompressionKind, decompress};

const LIMIT: usize = 1 << 16;

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, bytes)) = bytes.split_first() else {
        return;
    };
    let kinds = CompressionKind::ALL;
    if let Ok(body) = decompress(kinds[usize::from(first) % kinds.len()], bytes, LIMIT) {
        assert!(body.len() <= LIMIT);
    }
});
