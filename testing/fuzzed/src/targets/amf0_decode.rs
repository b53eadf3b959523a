//! Any bytes as AMF0: no panic, no more memory than the limits allow, and what they mean is written and read the same
//! again.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use tamtam_amf::amf0::{Decoder, decode, encode};
use tamtam_amf::typed::from_amf0;
use tamtam_amf::{Limits, recordset};

/// Small enough for references to reach them.
const LIMITS: Limits = Limits {
    bytes: 1 << 20,
    depth: 128,
    values: 1 << 16,
};

/// What a deserializer makes of objects without items in between.
#[derive(serde::Deserialize)]
#[allow(dead_code)]
struct Row {
    x: f64,
    name: Option<String>,
    rows: Vec<Row>,
}

/// Panics where what this file promises does not hold for these bytes.
pub fn run(bytes: &[u8]) {
    if from_amf0::<Vec<Row>>(bytes, LIMITS).is_ok() {
        decode(bytes, LIMITS).expect("what is a type is a tree");
    }
    let _ = from_amf0::<BTreeMap<String, (f64, Vec<u8>)>>(bytes, LIMITS);
    if let Ok(value) = decode(bytes, LIMITS) {
        from_amf0::<IgnoredAny>(bytes, LIMITS).expect("what is a tree has items");
        let written = encode(&value).expect("what was decoded can be written");
        let again = decode(&written, Limits::default()).expect("what was written can be read");
        assert_eq!(encode(&again).expect("as before"), written);
    }
    if let Ok(value) = Decoder::new(bytes, LIMITS).value_with_references() {
        let written = encode(&value).expect("what was decoded can be written");
        let again = Decoder::new(&written, Limits::default()).value_with_references();
        assert_eq!(
            encode(&again.expect("what was written can be read")).expect("as before"),
            written
        );
    }
    let mut decoder = Decoder::new(bytes, LIMITS);
    while let Ok(Some(_)) = decoder.next_event() {}
    if let Ok(table) = recordset::RecordSet::decode(bytes, LIMITS) {
        let written = table.encode().expect("what was decoded can be written");
        let again = recordset::RecordSet::decode(&written, Limits::default())
            .expect("what was written can be read");
        assert_eq!(again.encode().expect("as before"), written);
    }
}
