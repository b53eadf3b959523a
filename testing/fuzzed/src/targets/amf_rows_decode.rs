//! Any bytes as a table in each form of AMF: no panic, limits hold, and a table is written and read the same again.
//!
//! The first byte says which form.

use tamtam_rows::encoding::{Amf0Objects, Amf0RecordSet, Amf3Objects};
use tamtam_rows::{Encoding, Field, Kind, Limits, Schema, Unit, Zone};

const LIMITS: Limits = Limits {
    bytes: 1 << 20,
    rows: 100_000,
    columns: 64,
};

/// Panics where what this file promises does not hold for these bytes.
pub fn run(bytes: &[u8]) {
    let Some((which, bytes)) = bytes.split_first() else {
        return;
    };
    let forms: [&dyn Encoding; 4] = [
        &Amf0Objects::TYPED,
        &Amf0Objects::TEXTS,
        &Amf0RecordSet,
        &Amf3Objects,
    ];
    let form = forms[usize::from(*which) % forms.len()];
    let schema = Schema::new([
        Field::new("n", Kind::I16),
        Field::nullable("t", Kind::Text),
        Field::nullable("f", Kind::F32),
        Field::nullable("d", Kind::Timestamp(Unit::Second, Zone::Utc)),
        Field::nullable("b", Kind::Bytes),
    ])
    .expect("there is no decimal among them");
    let Ok(rows) = form.decode(bytes, Some(&schema), &LIMITS) else {
        return;
    };
    assert!(rows.len() as u64 <= LIMITS.rows);
    let mut again = Vec::new();
    // A text cannot carry each number that is none.
    if form.encode(&rows, &mut again).is_ok() {
        let read = form.decode(&again, Some(&schema), &Limits::default());
        assert_eq!(read.expect("what was written can be read"), rows);
    }
}
