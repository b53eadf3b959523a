//! Any bytes as a plain table that is read in place, with checksums as they are and made right: no panic, and what is
//! opened is decoded to the same values.

use crate::forms::{LIMITS, mend};
use tamtam_rows::Limits;
use tamtam_rows::packed::{self, View};

fn check(bytes: &[u8]) {
    let Ok(view) = View::new(bytes, &LIMITS) else {
        return;
    };
    let rows = packed::decode(bytes, &Limits::default()).expect("what was opened can be decoded");
    assert_eq!(view.schema(), rows.schema());
    assert_eq!(view.len(), rows.len() as u64);
    let mut row = 0;
    for chunk in view.chunks() {
        for at in 0..chunk.len() {
            for (index, column) in chunk.columns().iter().enumerate() {
                // As text, in which a NaN equals itself.
                let (here, there) = (column.value(at), rows.value(row, index));
                assert_eq!(format!("{here:?}"), format!("{there:?}"));
            }
            row += 1;
        }
    }
}

/// Panics where what this file promises does not hold for these bytes.
pub fn run(bytes: &[u8]) {
    check(bytes);
    let mut mended = bytes.to_vec();
    mend(&mut mended);
    check(&mended);
}
