//! Any bytes as a Parquet file: limits hold, and a table is written and read the same again.
//!
//! Arrow's libraries panic on some bytes, which the decoder catches: that is no finding. An abort is, and memory beyond
//! the limits.

use tamtam_rows::encoding::Parquet;
use tamtam_rows::{Encoding, Limits};

const LIMITS: Limits = Limits {
    bytes: 1 << 20,
    rows: 100_000,
    columns: 64,
};

/// Panics where what this file promises does not hold for these bytes.
pub fn run(bytes: &[u8]) {
    let Ok(rows) = Parquet::PLAIN.decode(bytes, None, &LIMITS) else {
        return;
    };
    let mut again = Vec::new();
    // A time may lie beyond a day, which is read but not written.
    if Parquet::PLAIN.encode(&rows, &mut again).is_ok() {
        let read = Parquet::PLAIN.decode(&again, Some(rows.schema()), &Limits::default());
        if read.ok().as_ref() != Some(&rows) {
            eprintln!("what was written does not come back: {rows:?}");
            panic!("what was written does not come back");
        }
    }
}
