//! Any bytes as a packed table, with checksums as they are and made right: no panic, limits hold, and a table is
//! written and read the same again in each mode.

use crate::forms::{decode_and_back, mend};
use tamtam_rows::encoding;

/// Panics where what this file promises does not hold for these bytes.
pub fn run(bytes: &[u8]) {
    let mut mended = bytes.to_vec();
    mend(&mut mended);
    for name in ["packed", "packed-small", "packed-plain"] {
        let form = encoding::find(name).expect("these forms are always there");
        decode_and_back(form, &mended, None);
    }
    let form = encoding::find("packed").expect("this form is always there");
    decode_and_back(form, bytes, None);
}
